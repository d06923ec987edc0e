#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""virtual_time.py BUILD: the clock and the processors that a program sees whose
threads take turns (tally count): both repeat, and waits end at their time."""
import os

import tallytest as t
from live_help import INSTRUCTIONS, at_arch, g

# The calls of test/guest/clocks.c that wait, in the order of their times.
WAITS = (("nanosleep", 10), ("sigtimedwait", 15), ("ppoll", 20), ("clock_nanosleep", 30),
         ("futex", 40), ("pthread_cond_timedwait", 50), ("poll", 60),
         ("sem_timedwait", 70), ("epoll_wait", 80), ("select", 90))
# 2000-01-01.
CLEAN_DATE = 946684800


def run(arch, *words, options=()):
    """What clocks prints, as lists of words, and the count of instructions."""
    c = t.count(["-e", INSTRUCTIONS[arch], "--clean-env", *options],
                g("clocks", arch), *words)
    event, = c.json["events"]
    return [line.split() for line in c.stdout.splitlines()], event


@at_arch("a nanosecond passes with each instruction")
def passes(arch):
    (((less,),), few), (((more,),), many) = (
        run(arch, "loop", turns) for turns in (2000, 5000))
    t.equal(int(more) - int(less), many["value"] - few["value"])


@t.named("the processor's own counter tells the program's clock, each time the same")
def ticks():
    turns = 50000
    first, event = run("x86_64", "ticks", turns)
    t.equal(event["fidelity"], "exact")
    for begin, end in first:
        # Each thread runs the loop, of four instructions or so, and the other
        # thread may have turns meanwhile.
        passed = int(end) - int(begin)
        assert 3 * turns < passed <= event["value"], first
    t.equal(run("x86_64", "ticks", turns)[0], first, "a second run")


@t.named("the processor's own counter does not depend on the events")
def ticks_of_events():
    told = {event: t.count(["-e", event, "--clean-env"],
                           g("clocks", "x86_64"), "ticks", 500).stdout
            for event in ("instructions", "L1-dcache-load-misses",
                          "branch-misses", "cycles", "all")}
    for event, lines in told.items():
        t.equal(lines, told["instructions"], event)


@at_arch("waits end at their time, in its order, and counts stay exact")
def waits(arch):
    lines, event = run(arch, "waits")
    t.equal(tuple((name, int(ms)) for name, ms in lines), WAITS)
    t.equal(event["fidelity"], "exact")
    t.equal(run(arch, "waits")[1]["value"], event["value"], "a second run")


@at_arch("of those that wait on one word each ends at its time")
def one_word(arch):
    lines, event = run(arch, "word", 6)
    wanted = [[str(ms), "Connection", "timed", "out", str(ms)]
              for ms in range(1, 7)]
    t.equal(lines, wanted + [["0", "woken", "11"]])
    t.equal(event["fidelity"], "exact")


@t.named("a wait does not end by the host's clock")
def late():
    """The model takes longer for the loop than the wait of a second lasts on
    the host, were the host's clock to end the wait; in the program's time it is
    0.1 s."""
    lines, event = run("x86_64", "late", 15, options=["--accounting"])
    t.equal([line[0] for line in lines], ["woken"])
    assert int(lines[0][1]) < 1000, lines
    t.equal(event["fidelity"], "exact")


@at_arch("a wait for a file that another thread writes to finds the file")
def files(arch):
    """The model takes longer for the loop than the waits of 20 ms last on the
    host; in the program's time the loop takes less."""
    lines, event = run(arch, "files", 2, options=["--accounting"])
    t.equal(lines, [[call, "1", "1"]
                    for call in ("poll", "ppoll", "select", "epoll_wait")])
    t.equal(event["fidelity"], "exact")


@at_arch("who finds that another thread has used what came waits on to its time")
def rivals(arch):
    """As above; the host's clock has ended both waits before the byte comes. The
    kernel may tell both of it: who finds nothing waits again then."""
    lines, _ = run(arch, "rivals", 2, options=["--accounting"])
    t.equal([line[0] for line in lines], ["found", "none"])
    assert int(lines[1][1]) >= 20, lines


@at_arch("a wait for a signal ends by the signal, or at its time")
def signals(arch):
    """The model takes longer for the loop than the wait of 500 ms lasts on the
    host; in the program's time the loop takes less."""
    lines, event = run(arch, "await", 8, options=["--accounting"])
    t.equal([line[0] for line in lines], ["signal", "none"])
    (_, first), (_, second) = lines
    assert int(first) < 500, lines
    t.equal(int(second), int(first) + 20, "the second wait")
    t.equal(event["fidelity"], "exact")


@at_arch("a signal to one thread ends no sleep of another before its time")
def strikes(arch):
    """The host's clock ends the sleeps all the while."""
    lines, event = run(arch, "strikes", 1000)
    t.equal(lines, [["0"]])
    t.equal(event["fidelity"], "exact")
    t.equal(run(arch, "strikes", 1000)[1]["value"], event["value"],
            "a second run")


@at_arch("waits for queues of messages end at their time")
def queues(arch):
    lines, event = run(arch, "queue")
    if lines == [["none"]]:
        raise t.Skip("this kernel has no queues of messages")
    t.equal(lines, [["Connection", "timed", "out", "10"],
                    ["Connection", "timed", "out", "20"], ["message", "30"]])
    t.equal(event["fidelity"], "exact")


@at_arch("time goes on once the first thread has ended")
def outlive(arch):
    lines, event = run(arch, "outlive")
    t.equal(lines, [["alone", "20"], ["alone", "40"]])
    t.equal(event["fidelity"], "exact")


@t.named("a mutex with priority inheritance is waited for")
def inherit():
    """The kernel writes the owner's number in the host's order of bytes: such
    mutexes do not work under QEMU where the guest has the other."""
    for arch in ("x86_64", "mips64el"):
        lines, _ = run(arch, "inherit")
        t.equal(lines, [["late", "30"], ["locked", "60"]], arch)


@at_arch("another thread's signal ends a wait, and counts stay exact")
def interrupted(arch):
    lines, event = run(arch, "signal")
    t.equal(lines, [["interrupted", "50"]])
    t.equal(event["fidelity"], "exact")
    t.equal(run(arch, "signal")[1]["value"], event["value"], "a second run")


def ends(arch, *words):
    """The JSON of a count of clocks, and what the count says below its table."""
    options = ["-e", INSTRUCTIONS[arch], "--clean-env"]
    program = (g("clocks", arch), *words)
    return (t.count([*options, "--per-process"], *program).json,
            t.run(t.tally(), "count", *options, "--", *program).stderr)


@at_arch("a timer that is looked at without waiting makes counts vary")
def polled_timer(arch):
    report, text = ends(arch, "poll")
    t.equal(report["events"][0]["fidelity"], "varies")
    t.equal(report["processes"][0]["outside_wakes"], 1)
    assert "1 wait or timer ended by the host's clock" in text, text


@at_arch("time passes while the only thread that is awake waits")
def beats(arch):
    lines, event = run(arch, "beat")
    t.equal(lines, [["1"]])
    t.equal(event["fidelity"], "varies")


@at_arch("the processor clock of another thread goes by its instructions")
def clock_of_thread(arch):
    first, second = (run(arch, "work")[1] for _ in range(2))
    t.equal(first["fidelity"], "exact")
    t.equal(first["value"], second["value"])


@at_arch("processes that share memory make counts vary")
def shared_memory(arch):
    t.equal(run(arch, "parent")[1]["fidelity"], "varies")


@at_arch("input that another program writes is told")
def piped_input(arch):
    words = [t.tally(), "count", "-e", INSTRUCTIONS[arch], "--clean-env", "--",
             g("clocks", arch), "input"]
    reader, writer = os.pipe()
    os.write(writer, b"x" * 1000)
    os.close(writer)
    with open(reader, "rb") as pipe:
        done = t.run(*words, stdin=pipe)
    assert "counts repeat but for what depends on how its input comes\n" in \
        done.stderr, done.stderr
    done = t.run(*words)
    assert "counts repeat\n" in done.stderr, done.stderr


@at_arch("what a program of threads asks of the system is told")
def asked(arch):
    report, text = ends(arch, "asks")
    t.equal(report["events"][0]["fidelity"], "exact")
    t.equal(report["processes"][0]["asked"], ["process_number", "system"])
    assert ("counts repeat but for what depends on its process number and the "
            "system's memory and load\n") in text, text
    # pthread_kill() asks for the number to send a signal to a thread by.
    for words in ("usage", "signal"):
        report, text = ends(arch, words)
        t.equal(report["processes"][0]["asked"], [], words)
        assert "counts repeat\n" in text, text


@at_arch("a timer is set to a time of the program's clock")
def timer(arch):
    """The host's clock ends it, later on a busy host."""
    lines, _ = run(arch, "timer")
    t.equal([name for name, _ in lines], ["timer"])
    assert int(lines[0][1]) >= 15, lines


@at_arch("processor time is what the process and its threads ran")
def usage(arch):
    lines, event = run(arch, "usage")
    said = {name: int(ns) for name, ns in lines}
    assert said["rusage"] <= said["thread"] < said["rusage"] + 20000, said
    assert said["thread"] < said["process"] <= event["value"], (said, event)


@at_arch("a child and what it executes go on with the time of their parent")
def executes(arch):
    lines, _ = run(arch, "executes")
    t.equal([(name, int(ms)) for name, ms in lines],
            [("parent", 0), ("child", 20), ("executed", 40)])


@at_arch("the date is fixed with --clean-env, else the host's")
def dates(arch):
    lines, _ = run(arch, "dates")
    t.equal(lines, [[str(CLEAN_DATE)] * 3])
    done = t.run(t.tally(), "count", "-o", os.devnull, "--", g("clocks", arch),
                 "dates")
    one, *others = map(int, done.stdout.split())
    t.equal(others, [one] * 2)
    assert one > CLEAN_DATE, one


@at_arch("a program sees the processors that --cpus names")
def processors(arch):
    for options, count in (((), 4), (("--cpus", "1"), 1), (("--cpus", 12), 12)):
        lines, _ = run(arch, "processors", options=options)
        t.equal(lines[:3], [["online", str(count)], ["configured", str(count)],
                            ["allowed", str(count)]])
        assert all(0 <= int(cpu) < count and node == "0"
                   for _, cpu, node in lines[3:]), lines


@at_arch("a thread sees the processors that it chose")
def affinity(arch):
    lines, _ = run(arch, "affinity")
    t.equal(lines, [["before", "4"], ["set", "0"], ["after", "2", "2", "1"],
                    ["none", "-1"], ["first", "4"]])


@t.named("--parallel shows the host's clock and processors")
def parallel():
    done = t.run(t.tally(), "count", "-o", os.devnull, "--parallel", "--",
                 g("clocks", "x86_64"), "processors")
    t.contains(done.stdout, f"allowed {len(os.sched_getaffinity(0))}\n")


@t.named("options that do not go together are refused, and numbers that are none")
def refused():
    for command in (["count"], ["record", "-o", os.devnull], ["perfex"]):
        for options, text in (
                (["--cpus", "0"], "--cpus takes 1 to 64 processors, not '0'"),
                (["--cpus", "65"], "--cpus takes 1 to 64 processors, not '65'"),
                (["--cpus", "four"],
                 "--cpus takes 1 to 64 processors, not 'four'"),
                (["--parallel", "--cpus", "2"],
                 "--parallel shows this host's processors; it does not go with "
                 "--cpus '2'"),
                (["--cpus", "2", "--parallel"],
                 "--cpus needs threads that take turns; it does not go with "
                 "'--parallel'"),
                (["--quantum", "5", "--parallel"],
                 "--quantum gives threads turns; it does not go with "
                 "'--parallel'"),
                (["--parallel", "--quantum", "5"],
                 "--parallel has no turns; it does not go with --quantum '5'")):
            done = t.run(t.tally(), *command, *options, "--", "true")
            t.equal(done.returncode, 2, f"{command} {options}")
            t.contains(done.stderr, text)
            t.equal(done.stderr.count("\n"), 1, done.stderr)


t.main()
