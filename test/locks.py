#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally locks and tally record --locks: locks.py BUILD [WORD]

test/guest/deadlocks.c has threads whose waits never end.

The waits of test/guest/holders.c follow from arithmetic: a unit of work is a loop of
N rounds, 2 N instructions, which host-model issues 4 in a cycle; so with N = 20,000 a
unit takes 10,000 cycles, beside the few that threads take to begin and to call.
"""
import contextlib
import csv
import io
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import tempfile
import time

import recordfile
import tallytest as t

UNIT = 10000
N = 2 * UNIT
# Cycles that threads take to begin, and to call the library: with misses of the
# caches as they come to its code for the first time.
SLACK = 8000
# As much as that, and the start of the thread.
START = 30000

folder = None


def locks(*words, **how):
    """Runs tally locks."""
    return t.run(t.tally(), "locks", *words, **how)


@t.once
def found(kind, *options, status=0):
    """The JSON of a kind of the guest, and of a second run."""
    texts = []
    for i in range(2):
        path = folder / f"{kind}{i}{len(options)}.json"
        done = locks("--clean-env", "-j", "-o", path, *options, "--",
                     t.guest("holders.x86_64"), kind, N)
        t.equal(done.returncode, status, f"status; {done.stderr!r}")
        texts.append(path.read_text())
    t.equal(texts[0] == texts[1], True, "two runs write the same")
    document = json.loads(texts[0])
    adds_up(document)
    return document


def adds_up(d):
    """Threads' time is the whole, waits are their locks', and locks the
    threads'."""
    states = ("running", "waiting", "waiting_other", "spinning")
    for state in states:
        t.equal(sum(row[state] for row in d["threads"]), d[state], state)
    for row in d["threads"]:
        t.equal(row["begin"] + sum(row[s] for s in states), row["end"], "end")
        mine = [s for s in d["stretches"]
                if (s["process"], s["thread"]) == (row["process"], row["thread"])]
        for state in states[1:]:
            t.equal(sum(s[state] for s in mine), row[state],
                    f"stretches of {state}")
        for before, s in zip([None, *mine], mine):
            t.equal(row["begin"] <= s["begin"] < s["end"] <= row["end"] and
                    sum(s[state] for state in states[1:]) <=
                    s["end"] - s["begin"], True, f"a stretch: {s}")
            t.equal(before is None or before["end"] <= s["begin"], True,
                    f"stretches in order: {before}, {s}")
    for lock in d["locks"]:
        for what in ("count", "time"):
            t.equal(sum(w[what] for w in lock["waits"]), lock[what], what)
        t.equal(max(w["longest"] for w in lock["waits"]), lock["longest"],
                "longest")
        t.equal(len({w["thread"] for w in lock["waits"]}), lock["threads"],
                "threads")
    by = {"futex": "waiting", "spin": "spinning"}
    for state in ("waiting", "waiting_other", "spinning"):
        t.equal(sum(k["time"] for k in d["locks"]
                    if by.get(k["ended_by"], "waiting_other") == state),
                d[state], f"locks of {state}")


@t.named("when threads waited: one stretch a wait, until the last comes")
def stretches():
    d = found("barrier")
    lock = d["locks"].index(of_class(d, "barrier")[0])
    mine = [s for s in d["stretches"] if s["lock"] == lock]
    t.equal([(s["thread"], s["count"]) for s in mine], [(1, 1), (2, 1)])
    begin = {row["thread"]: row["begin"] for row in d["threads"]}
    for s, units in zip(mine, (10, 20)):
        near(s["begin"], begin[s["thread"]] + units * UNIT, "begin", START)
        t.equal(s["end"] - s["begin"], s["waiting"], "all of it at the lock")
    t.equal(mine[0]["end"], mine[1]["end"], "both go on at once")


@t.named("more waits than the record has room for: their sums stay whole")
def merged():
    out = folder / "merged.json"
    turns = 20000  # of two threads: 40,000 waits
    done = locks("--clean-env", "-j", "-o", out, "--",
                 t.guest("turns.x86_64"), "w", turns)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    d = json.loads(out.read_text())
    adds_up(d)
    t.equal(d["partial"], False)
    counts = [s["count"] for s in d["stretches"]]
    t.equal(len(counts) <= 32768 and max(counts) > 1, True, f"{len(counts)}")
    # A wait of no length is in no stretch.
    t.equal(sum(counts) > 32768, True, f"waits: {sum(counts)}")


def near(value, cycles, what, slack=SLACK):
    t.equal(abs(value - cycles) <= slack, True, f"{what}: {value}, not {cycles}")


def of_class(d, name):
    return [k for k in d["locks"] if k["class"] == name]


@t.named("a mutex that is held for 10 units: who waited, and who held it")
def mutex():
    d = found("mutex")
    (lock,) = of_class(d, "mutex")
    t.equal(lock["name"], "queue_lock in holders.x86_64", "name")
    t.equal((lock["threads"], lock["count"]), (1, 1), "waits")
    near(lock["time"], 10 * UNIT, "wait")
    (wait,) = lock["waits"]
    t.equal((wait["thread"], wait["waker"]), (2, 1), "threads")
    t.equal(wait["at"].startswith("waiter (holders.c:"), True, wait["at"])
    t.equal(wait["waker_at"].startswith("drain (holders.c:"), True,
            wait["waker_at"])
    t.equal(" <- holder (holders.c:" in wait["waker_at"], True, "caller")
    near(d["threads"][1]["running"], 10 * UNIT, "the holder runs", START)
    near(d["threads"][2]["running"], UNIT, "the waiter runs", START)
    (text,) = [f["text"] for f in d["findings"]
               if d["locks"][f["lock"]] is lock]
    for part in ("mutex at queue_lock in holders.x86_64 (0x", "1 thread waited",
                 "100 % of that until thread 1 let it go in drain",
                 "hold it for less, or split it"):
        t.equal(part in text, True, f"{part} in {text}")


@t.named("two wait for the mutex: the time is due to who held it, not to who came last")
def queue():
    """Thread 2 waits 10 units for thread 1, thread 3 one more for thread 2."""
    d = found("queue")
    (lock,) = of_class(d, "mutex")
    t.equal((lock["threads"], lock["count"]), (2, 2), "waits")
    near(lock["time"], 21 * UNIT, "waits")
    near(lock["longest"], 11 * UNIT, "the longest wait, in whole")
    waits = {(w["thread"], w["waker"]): w for w in lock["waits"]}
    t.equal({k: w["count"] for k, w in waits.items()},
            {(2, 1): 1, (3, 1): 0, (3, 2): 1}, "who ended each wait")
    for key, units in {(2, 1): 10, (3, 1): 10, (3, 2): 1}.items():
        near(waits[key]["time"], units * UNIT, f"thread {key[0]} for {key[1]}")
    t.equal(waits[3, 1]["waker_at"].startswith("drain (holders.c:"), True,
            waits[3, 1]["waker_at"])
    (text,) = [f["text"] for f in d["findings"]
               if d["locks"][f["lock"]] is lock]
    t.equal("95 % of that until thread 1 let it go in drain" in text, True, text)
    (mine,) = [s for s in d["stretches"] if s["thread"] == 3 and s["waiting"]]
    t.equal((mine["count"], mine["waiting"]),
            (1, waits[3, 1]["time"] + waits[3, 2]["time"]), "one stretch")


@t.named("two wait for items: each until its own, which nobody held before")
def posts():
    """Thread 3 makes an item after 10 units, thread 4 one after 30: both run at
    once, as the clocks of threads have it."""
    (lock,) = of_class(found("posts"), "semaphore")
    waits = {(w["thread"], w["waker"]): w for w in lock["waits"]}
    t.equal({k: w["count"] for k, w in waits.items()}, {(1, 3): 1, (2, 4): 1},
            "who ended each wait")
    for key, units in {(1, 3): 10, (2, 4): 30}.items():
        near(waits[key]["time"], units * UNIT, f"thread {key[0]} for {key[1]}")


@t.named("a barrier: threads of 10 and 20 units wait for the one of 40")
def barrier():
    (lock,) = of_class(found("barrier"), "barrier")
    t.equal(lock["name"], "meeting in holders.x86_64", "name")
    waits = {w["thread"]: w for w in lock["waits"]}
    t.equal(sorted(waits), [1, 2], "who waited")
    near(waits[1]["time"], 30 * UNIT, "the one of 10")
    near(waits[2]["time"], 20 * UNIT, "the one of 20")
    t.equal({w["waker"] for w in waits.values()}, {3}, "who came last")


@t.named("a condition: two threads have every other turn of one unit")
def condition():
    d = found("condition")
    (lock,) = of_class(d, "condition")
    t.equal(lock["name"], "turn_cond in holders.x86_64", "name")
    pairs = {(w["thread"], w["waker"]) for w in lock["waits"]}
    t.equal(pairs, {(1, 2), (2, 1)}, "who woke whom")
    for wait in lock["waits"]:
        near(wait["time"], wait["count"] * UNIT, "one unit a wait")
    near(d["threads"][1]["running"], 10 * UNIT, "ten turns", START)


@t.named("a semaphore: five items, of two units each")
def semaphore():
    (lock,) = of_class(found("semaphore"), "semaphore")
    t.equal((lock["name"], lock["count"]), ("items in holders.x86_64", 5),
            "lock")
    near(lock["time"], 10 * UNIT, "wait")
    near(lock["longest"], 2 * UNIT, "longest")
    t.equal({w["waker"] for w in lock["waits"]}, {2}, "waker")


@t.named("a loop that spins for 10 units")
def spin():
    d = found("spin")
    near(d["threads"][2]["spinning"], 10 * UNIT, "spinning")
    t.equal(d["threads"][1]["spinning"], 0, "the other one spins")
    (spot,) = [k for k in d["locks"] if k["ended_by"] == "spin"]
    t.equal("spins (holders.c:" in spot["name"], True, spot["name"])
    t.equal({w["waker"] for w in spot["waits"]}, {1}, "behind whom")


@t.named("a join is no finding, and waits for as long as the thread works")
def join():
    d = found("join")
    (lock,) = of_class(d, "join")
    t.equal(lock["name"], "the end of thread 1", "name")
    near(lock["time"], 10 * UNIT, "wait")
    t.equal(d["findings"], [], "findings")


@t.named("sleep: 20 ms are 60,000,000 cycles of a clock of 3 GHz")
def sleep():
    d = found("sleep", "--set", "clock=3G")
    (spot,) = d["locks"]
    t.equal((spot["ended_by"], spot["time"]), ("time", 60_000_000), "sleep")
    t.equal("main (holders.c:" in spot["name"], True, spot["name"])


@t.named("a program without threads, and one that waits for nothing, say so")
def alone():
    d = found("alone")
    t.equal((d["locks"], d["findings"], len(d["threads"])), ([], [], 1), "rows")
    t.equal(d["running"], d["elapsed"], "it runs all the time")
    done = locks("--", t.guest("holders.x86_64"), "alone", N)
    t.contains(done.stderr, "None: no wait has ended")


def symbols(program):
    """The functions of a program: addresses, sizes and names."""
    lines = t.run("nm", "-S", "--defined-only", program).stdout.splitlines()
    rows = [line.split() for line in lines]
    return [(int(r[0], 16), int(r[1], 16), r[3]) for r in rows if len(r) == 4]


def names_of(at, program, known):
    """What the frames of a place are, by the symbols that the program had."""
    names = []
    for word in at.split(" <- "):
        match = re.fullmatch(re.escape(program.name) + r"\+0x([0-9a-f]+)", word)
        assert match, at
        address = int(match[1], 16)
        names.append(next(n for first, size, n in known
                          if first <= address < first + size))
    return names


@t.named("where no symbol covers a place, its file and address are said")
def stripped():
    """A function of the stripped program is none of the library that called it, nor
    the nearest one with a name."""
    source = t.source("test", "guest", "holders.c")
    for name, options in (("bare", ()), ("exporting", ("-rdynamic",)),
                          ("static", ("-static",))):
        whole, program = folder / f"{name}.whole", folder / name
        t.equal(t.run("gcc", "-O1", "-fno-optimize-sibling-calls", "-pthread",
                      *options, "-o", whole, source).returncode, 0)
        t.equal(t.run("strip", "-o", program, whole).returncode, 0)
        known = symbols(whole)
        path = folder / f"{name}.json"
        done = locks("--clean-env", "-j", "-o", path, "--", program, "mutex", N)
        t.equal(done.returncode, 0, done.stderr)
        waits = [w for k in json.loads(path.read_text())["locks"]
                 for w in k["waits"] if w["thread"] == 2]
        t.equal(len(waits), 1, "waits of the second thread")
        at = waits[0]["at"]
        if name == "exporting":  # all of its functions have names but static ones
            at = at.split(" <- ")[0]
        names = names_of(at, program, known)
        t.equal(names[-1] if name == "static" else names[0], "waiter", at)


@t.named("a forked child has threads and locks of its own")
def forked():
    path = folder / "fork.json"
    done = locks("--clean-env", "-j", "-o", path, "--",
                 t.guest("holders.x86_64"), "fork", N)
    t.equal(done.returncode, 0, done.stderr)
    d = json.loads(path.read_text())
    adds_up(d)
    t.equal([(r["process"], r["thread"]) for r in d["threads"]],
            [(0, 0), (1, 0), (1, 1), (1, 2)], "threads")
    (lock,) = of_class(d, "mutex")
    t.equal(lock["process"], 1, "process")
    near(lock["time"], 10 * UNIT, "wait")
    (spot,) = [k for k in d["locks"] if k["ended_by"] == "outside"]
    t.equal(spot["process"], 0, "the parent waits for the child")
    t.equal(d["repeats"], False, "repeats")
    begins = {(r["process"], r["thread"]): r["begin"] for r in d["threads"]}
    t.equal(begins[1, 0] > 0, True, "the child goes on with the parent's time")


@t.named("a program that dies of a signal leaves what it had until then")
def killed():
    d = found("killed", status=134)
    t.equal(len(d["threads"]), 2, "threads")
    near(d["threads"][0]["running"] - found("alone")["running"], 10 * UNIT,
         "the first thread works, and begins another", START)


# What tally says as soon as no thread can go on.
STUCK = re.compile(r"tally: (all \d+ threads|the only thread) of process (\d+) "
                   r"waits?, and none is left to let another go on; Ctrl-C")


@contextlib.contextmanager
def waiting(kind, out, n=N, command=("locks",)):
    """tally locks, or another command, of a kind of deadlocks.c, with its JSON in
    `out`; its standard input is a pipe, its streams are lines."""
    process = subprocess.Popen(
        [str(w) for w in (t.tally(), *command, "--clean-env",
                          *([] if command[0] == "record" else ["-j"]), "-o", out,
                          "--", t.guest("deadlocks.x86_64"), kind, n)],
        text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=os.setpgrp)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


def stuck(kind, n=N):
    """What stuck_once() has, once for each kind and N."""
    return stuck_once(kind, n)


@t.once
def stuck_once(kind, n):
    """The line that says that no thread can go on, and the JSON of a run that
    SIGINT ends then."""
    out = folder / f"{kind}{n}.json"
    with waiting(kind, out, n) as process:
        line = process.stderr.readline()
        t.equal(STUCK.match(line) is not None, True, line)
        process.send_signal(signal.SIGINT)
        t.equal(process.wait(), 128 + signal.SIGINT, "status")
        t.equal(process.stderr.read(), "", "the line comes once")
    document = json.loads(out.read_text())
    adds_up(document)
    return line, document


def kinds(d):
    return [f["kind"] for f in d["findings"] if f["kind"] != "waits"]


def waits_of(d):
    """Of each thread that waits: class, name, holder."""
    return {u["thread"]: (u["class"], u["name"], u["holder"])
            for u in d["unended"]}


FIRST, SECOND = ("first_lock in deadlocks.x86_64",
                 "second_lock in deadlocks.x86_64")


@t.named("two mutexes in opposite order: a deadlock, with who holds what, where")
def deadlock():
    line, d = stuck("order")
    t.equal("all 3 threads" in line, True, line)
    t.equal(waits_of(d), {0: ("join", "the end of thread 1", 1),
                          1: ("mutex", SECOND, 2), 2: ("mutex", FIRST, 1)},
            "waits")
    t.equal(kinds(d), ["deadlock"], "findings")
    found = d["findings"][0]
    t.equal((found["lock"], found["time"]), (None, None), "of no lock")
    t.equal([d["unended"][i]["thread"] for i in found["unended"]], [1, 2],
            "circle")
    address = {u["thread"]: u["address"] for u in d["unended"]}
    t.equal(re.sub(r"deadlocks\.c:\d+", "deadlocks.c:N", found["text"]),
            "deadlock: thread 1 waits in take (deadlocks.c:N) for mutex "
            f"{SECOND} (0x{address[1]:x}), which thread 2 holds; thread 2 waits "
            f"in take (deadlocks.c:N) for mutex {FIRST} (0x{address[2]:x}), "
            "which thread 1 holds: have all threads take these locks in the "
            "same order", "text")
    at = {u["thread"]: u["at"] for u in d["unended"]}
    for thread, function in ((1, "up"), (2, "down")):
        t.equal(f" <- {function} (deadlocks.c:" in at[thread], True, at[thread])
    for lock in d["locks"]:
        t.equal(lock["class"] != "mutex", True, "no mutex was waited for to the "
                                                "end")


@t.named("a wait that has not ended begins when its thread has worked")
def since():
    begins = [{u["thread"]: u["since"] for u in stuck("order", n)[1]["unended"]}
              for n in (N, 3 * N)]
    for thread in (1, 2):
        near(begins[1][thread] - begins[0][thread], 2 * UNIT, "2 units later",
             100)
    for u in stuck("order")[1]["unended"]:
        t.equal(u["time"], max(begins[0].values()) - u["since"], "time so far")


@t.named("threads that wait for each other's ends in a ring")
def ring():
    line, d = stuck("ring")
    t.equal("all 3 threads" in line, True, "the first thread has ended")
    t.equal(kinds(d), ["deadlock"], "findings")
    t.equal(waits_of(d), {n: ("join", f"the end of thread {n % 3 + 1}",
                              n % 3 + 1) for n in (1, 2, 3)}, "waits")


@t.named("a condition that nobody signals: all wait, and nobody is accused")
def never_signalled():
    line, d = stuck("condition")
    t.equal("all 2 threads" in line, True, line)
    t.equal(kinds(d), ["standstill"], "findings")
    t.equal(waits_of(d), {0: ("join", "the end of thread 1", 1),
                          1: ("condition", "never in deadlocks.x86_64", None)},
            "waits")
    t.equal(d["findings"][0]["text"].startswith(
        "both threads wait, and none is left to let another go on: thread 0 "
        "waits in run (deadlocks.c:"), True, d["findings"][0]["text"])


@t.named("the only thread takes a mutex that it holds itself")
def itself():
    line, d = stuck("self")
    t.equal("the only thread" in line, True, line)
    t.equal(kinds(d), ["deadlock"], "findings")
    t.equal(waits_of(d), {0: ("mutex", FIRST, 0)}, "waits")
    t.equal("which it holds itself" in d["findings"][0]["text"], True, "text")
    t.equal(d["repeats"], False, "a signal ended it")


@t.named("a mutex whose holder has ended")
def kept():
    d = stuck("kept")[1]
    t.equal(kinds(d), ["abandoned"], "findings")
    (wait,) = d["unended"]
    t.equal((wait["holder"], wait["holder_ended"]), (None, True), "holder")
    t.equal("which a thread holds that has ended" in d["findings"][0]["text"],
            True, "text")


@t.named("a program that is killed leaves its waits, too")
def killed_waiting():
    out = folder / "killed.json"
    with waiting("order", out) as process:
        pid = int(STUCK.match(process.stderr.readline())[2])
        os.kill(pid, signal.SIGKILL)
        t.equal(process.wait(), 128 + signal.SIGKILL, "status")
    d = json.loads(out.read_text())
    t.equal(kinds(d), ["deadlock"], "findings")
    t.equal(waits_of(d), waits_of(stuck("order")[1]), "waits")


def is_reading(pid):
    """Whether a thread of the process or of one of its children is in read(0)."""
    number = {"x86_64": 0, "aarch64": 63}[platform.machine()]
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(ProcessLookupError, FileNotFoundError):
            if (task / "syscall").read_text().startswith(f"{number} 0x0 "):
                return True
            if any(map(is_reading, (task / "children").read_text().split())):
                return True
    return False


def sleeper_in_futex(pid):
    """The process among the children of a process, and theirs, whose first thread
    is in futex(); None: none is."""
    number = {"x86_64": 202, "aarch64": 98}[platform.machine()]
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        call = pathlib.Path(f"/proc/{child}/syscall").read_text()
        if call.startswith(f"{number} "):
            return int(child)
        if (found := sleeper_in_futex(child)) is not None:
            return found
    return None


@t.named("tally count and tally memory say it too, and name tally locks")
def others_say_it():
    for command in (("count", "-m", "host-model", "-e", "instructions"),
                    ("memory",)):
        out = folder / f"{command[0]}.json"
        with waiting("order", out, command=command) as process:
            line = process.stderr.readline()
            t.equal(STUCK.match(line) is not None, True, line)
            t.contains(line, "; tally locks shows who waits for whom\n")
            process.send_signal(signal.SIGINT)
            t.equal(process.wait(), 128 + signal.SIGINT, "status")
            t.equal(process.stderr.read(), "", "the line comes once")
        t.equal("schema" in json.loads(out.read_text()), True, "the report")
        with waiting("input", out, command=command) as process:
            t.equal(process.stdout.readline(), "reading\n", "output")
            process.send_signal(signal.SIGINT)
            t.equal(process.stderr.read(), "", "waits for input")


@t.named("the end of a wait by the signal that ends the program is not told beside it")
def ended_by_signal():
    for kind in ("order", "condition", "ring", "self"):
        out = folder / f"{kind}-ended.json"
        with waiting(kind, out, command=("count", "-m", "host-model", "-e",
                                         "instructions", "--per-process")) as process:
            line = process.stderr.readline()
            t.equal(STUCK.match(line) is not None, True, line)
            process.send_signal(signal.SIGINT)
            t.equal(process.wait(), 128 + signal.SIGINT, "status")
        d = json.loads(out.read_text())
        t.equal((d["ended_from_outside"], d["signals_handled"]), (True, 0), kind)
        t.equal([p["outside_wakes"] for p in d["processes"]], [0], kind)


@t.named("a wait that a signal from outside ended is told where the handler ends the program")
def ended_by_handler():
    out = folder / "handler-ended.json"
    with waiting("handler", out, command=("count", "-m", "host-model", "-e",
                                          "instructions", "--per-process")) as process:
        t.equal(process.stderr.readline(), "waits\n")
        process.send_signal(signal.SIGTERM)
        t.equal(process.wait(), 0, "status")
    d = json.loads(out.read_text())
    t.equal([p["outside_wakes"] for p in d["processes"]], [1])
    t.equal(d["events"][0]["fidelity"], "varies")


@t.named("count, memory and record say it of a program of one thread")
def others_say_it_of_one():
    for command in (("count", "-m", "host-model", "-e", "instructions"),
                    ("memory",), ("record", "-e", "instructions")):
        out = folder / f"{command[0]}-one"
        with waiting("self", out, command=command) as process:
            line = process.stderr.readline()
            t.equal(STUCK.match(line) is not None, True, line)
            t.contains(line, "the only thread")
            process.send_signal(signal.SIGINT)
            t.equal(process.wait(), 128 + signal.SIGINT, "status")


@t.named("a program of one thread that waits for its handler is in no deadlock")
def waits_for_handler():
    """Whether it is the kernel says once the thread sleeps."""
    for command in (("count", "-m", "host-model", "-e", "instructions"),
                    ("locks",)):
        out = folder / "handler.json"
        with waiting("signal", out, command=command) as process:
            t.equal(process.stdout.readline(), "waiting\n", "output")
            while (pid := sleeper_in_futex(process.pid)) is None:
                time.sleep(0.01)
            os.kill(pid, signal.SIGUSR1)
            t.equal(process.wait(), 0, "status")
            t.equal(process.stderr.read(), "", f"{command}: no line")


@t.named("a program that waits for input is in no deadlock")
def waits_for_input():
    out = folder / "input.json"
    with waiting("input", out) as process:
        t.equal(process.stdout.readline(), "reading\n", "output")
        while process.poll() is None and not is_reading(process.pid):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        t.equal(process.wait(), 128 + signal.SIGINT, "status")
        t.equal(process.stderr.read(), "", "no line of a deadlock")
    d = json.loads(out.read_text())
    t.equal(kinds(d), [], "findings")
    (reads,) = [u for u in d["unended"] if u["thread"] == 1]
    t.equal((reads["waits_for"], reads["class"]), ("outside", None), "the read")
    t.equal("reads (deadlocks.c:" in reads["at"], True, reads["at"])
    with waiting("input", out) as process:
        process.communicate("a line\n")
        t.equal(process.returncode, 0, "status")
    d = json.loads(out.read_text())
    t.equal((kinds(d), d["unended"]), ([], []), "it goes on")


@t.named("a program that waits for a timer or a child is in no deadlock")
def waits_for_signal():
    for kind in ("alarm", "child"):
        out = folder / f"{kind}.json"
        with waiting(kind, out) as process:
            said = process.communicate("")[1]
            t.equal((process.returncode, said), (0, ""), kind)
        t.equal(kinds(json.loads(out.read_text())), [], kind)


@t.named("exit() while a thread waits: the wait is told, and is no finding")
def pool():
    path, out = folder / "pool.data", folder / "pool.json"
    done = locks("--clean-env", "--record", path, "-j", "-o", out, "--",
                 t.guest("deadlocks.x86_64"), "pool", N)
    t.equal((done.returncode, done.stderr), (0, ""), "status")
    d = json.loads(out.read_text())
    t.equal(kinds(d), [], "findings")
    t.equal(waits_of(d), {1: ("condition", "never in deadlocks.x86_64", None)},
            "waits")
    rows = list(csv.DictReader(io.StringIO(
        locks("-i", path, "--format", "csv").stdout)))
    t.equal([(r["thread"], r["class"], r["name"], int(r["since"]),
              int(r["time"]), r["holder"])
             for r in rows if r["ended_by"] == "nothing"],
            [("1", "condition", "never in deadlocks.x86_64",
              d["unended"][0]["since"], d["unended"][0]["time"], "")], "csv")
    text = locks("-i", path).stdout
    t.equal("Waits that had not ended" in text and
            "waits in   hopes (deadlocks.c:" in text, True, text)


@t.named("a record from before waits that had not ended were kept still opens")
def old_record():
    old = recordfile.Record([recordfile.event("cycles")], ["main"])
    old.head["locks"] = True
    old.counts[0, 0] = [100]
    number = recordfile.varint
    rows = b"".join(map(number, (1, 0, 1, 0, 0, 5, 0)))
    path = folder / "old.data"
    path.write_bytes(old.bytes([old.set() +
                                [recordfile.chunk(b"LOCK", rows)]]))
    done = locks("-i", path, "-j")
    t.equal((done.returncode, done.stderr), (0, ""), "status")
    d = json.loads(done.stdout)
    t.equal((d["unended"], d["threads"][0]["begin"]), ([], 5), "what it has")


@t.named("--cpus changes no time of a program that does not ask")
def processors():
    t.equal(found("barrier", "--cpus", 2)["threads"],
            found("barrier", "--cpus", 8)["threads"], "threads")


@t.named("a record says the same as the run, and its cycles are the threads'")
def recorded():
    path = folder / "kept.data"
    out = folder / "kept.json"
    done = locks("--clean-env", "-j", "-o", out, "--record", path, "--",
                 t.guest("holders.x86_64"), "mutex", N)
    t.equal(done.returncode, 0, done.stderr)
    t.equal(locks("-i", path, "-j").stdout, out.read_text(), "the report")
    report = json.loads(t.run(t.tally(), "report", "-j", "--by", "thread", "-i",
                              path, "-e", "cycles").stdout)
    t.equal(report["events"][0]["total"],
            json.loads(out.read_text())["running"], "cycles")
    rows = list(csv.DictReader(io.StringIO(
        locks("-i", path, "--format", "csv").stdout)))
    d = json.loads(out.read_text())
    t.equal([(r["name"], int(r["count"]), int(r["time"])) for r in rows],
            [(k["name"], k["count"], k["time"]) for k in d["locks"]], "csv")
    text = locks("-i", path).stdout
    t.equal("waited in  waiter (holders.c:" in text, True, text)


@t.named("what cannot be is refused in one line")
def refused():
    plain = folder / "plain.data"
    t.run(t.tally(), "record", "-q", "-o", plain, "--",
          t.guest("hello.x86_64"), check=True)
    program = ("--", t.guest("holders.x86_64"), "alone")
    for words, part in (
            (("-i", plain), "does not say what threads wait for"),
            (("--parallel", *program), "tally locks: there is no --parallel: "),
            (("-m", "montecito", "--foreign", *program), "no event 'cycles'"),
            (("--record", folder / "x"), "needs a program"),
            (("-i", plain, *program), "runs no program")):
        done = locks(*words)
        t.equal(done.returncode, 2, f"status of {words}")
        t.equal(part in done.stderr, True, done.stderr)
        t.equal(done.stderr.count("\n"), 1, done.stderr)


@t.named("a record that is cut short is read as far as it goes")
def cut():
    path = folder / "cut.data"
    t.run(t.tally(), "record", "-q", "--locks", "-m", "host-model", "-o", path,
          "--", t.guest("holders.x86_64"), "mutex", N, check=True)
    whole = path.read_bytes()
    for part in (4, 3, 2):
        path.write_bytes(whole[:len(whole) * (part - 1) // part])
        done = locks("-i", path, "-j")
        t.equal(done.returncode in (0, 2, 125), True, done.stderr)
        t.equal(done.stderr != "", True, "a warning")


def main():
    global folder
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        t.main()


main()
