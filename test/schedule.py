#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""schedule.py BUILD: threads that run in turns (tally count --quantum) count the
same in each run, whatever they do with each other; what time or another process
decides is told."""
import json
import re

import tallytest as t
from live_help import INSTRUCTIONS, at_arch, g

# What the threads of test/guest/together.c do with each other.
WORKS = (("locks", 8, 200), ("spin", 2, 500), ("exchange", 2, 30), ("requeue", 6, 60), ("pipe", 4, 200),
         ("readers", 9, 40), ("barrier", 5, 40), ("yield", 3, 100), ("sleep", 3, 20),
         ("signal", 6, 40), ("timed", 11, 20))


def counted(arch, *words, events="all", quantum=1000, options=()):
    c = t.Count(["-e", events, "--clean-env", "--quantum", quantum, *options],
                (g("together", arch), *words))
    t.equal(c.status, 0, f"status; stderr: {c.stderr}")
    return c


def values(c):
    return {e["name"]: e["value"] for e in c.json["events"]}


@at_arch("threads that run in turns count the same each time")
def repeats(arch):
    for work in WORKS:
        runs = [values(counted(arch, *work)) for _ in range(3)]
        t.same(runs[0], runs[1], f"{work}, first and second run")
        t.same(runs[0], runs[2], f"{work}, first and third run")


@at_arch("reports without the host's fields are the same each time")
def same_reports(arch):
    texts = []
    for _ in range(2):
        done = t.run(t.tally(), "count", "-j", "--no-host-fields",
                     "--clean-env", "--per-process", "-r", "2", "--table",
                     "--", g("together", arch), "locks", 64, 20)
        t.equal(done.returncode, 0, done.stderr)
        texts.append(done.stderr)
    t.equal(texts[0], texts[1], "two reports")
    for field in ("pid", "parent", "wall_s", "user_s", "sys_s", "enabled"):
        assert f'"{field}"' not in texts[0], field
    assert '"running": false' in texts[0], "a thread that runs"
    t.equal(len(json.loads(texts[0])["strands"]), 65, "threads")


@at_arch("instructions do not depend on the events that are counted")
def alone(arch):
    event = INSTRUCTIONS[arch]
    for work in WORKS:
        one = counted(arch, *work, events=event)
        t.equal(values(one)[event], values(counted(arch, *work))[event],
                f"{work}")


@at_arch("misses and cycles do not depend on the events that are counted")
def misses_alone(arch):
    """Stores of other threads take lines, whether that is asked or not. On
    R10000 they do where an event of the L2 or of the bus is asked."""
    if arch.startswith("mips"):
        raise t.Skip("they do, doc/models/r10000.md")
    for work in WORKS:
        whole = {e["asked"]: e["value"] for e in counted(
            arch, *work, events="cycles,L1-dcache-load-misses,all").json["events"]}
        for event in ("cycles", "L1-dcache-load-misses"):
            one, = counted(arch, *work, events=event).json["events"]
            t.equal(one["value"], whole[event], f"{work}: {event}")


@at_arch("counts of threads in turns are exact, and a line says so")
def told(arch):
    event = INSTRUCTIONS[arch]
    c = counted(arch, "locks", 3, 50, events=event,
                options=["--per-process"])
    t.equal({e["fidelity"] for e in c.json["events"]}, {"exact"}, "fidelity")
    process, = c.json["processes"]
    t.equal((process["quantum"], process["outside_wakes"]), (1000, 0), "turns")
    done = t.run(t.tally(), "count", "-e", event, "--quantum", 1000, "--",
                 g("together", arch), "locks", 3, 50)
    assert re.search(r"[34] threads ran in turns of 1000 instructions: counts "
                     r"repeat\n", done.stderr), done.stderr


@at_arch("a wait that another process ends is told")
def outside(arch):
    c = counted(arch, "fork", 3, 2, events=INSTRUCTIONS[arch],
                options=["--per-process"])
    assert c.json["processes"][0]["outside_wakes"] > 0, c.json["processes"]
    t.equal({e["fidelity"] for e in c.json["events"]}, {"varies"})


@at_arch("whether a child has ended when it is asked for is told")
def asked_child(arch):
    """The child may end before another thread takes the turn of who waits."""
    for _ in range(5):
        c = t.Count(["-e", INSTRUCTIONS[arch], "--clean-env"],
                    (g("crowd", arch), "/nonexistent"))
        t.equal({e["fidelity"] for e in c.json["events"]}, {"varies"})


@t.named("a thousand threads take turns")
def many():
    runs = [values(counted("x86_64", "locks", 1000, 3, events="instructions",
                           quantum=10000)) for _ in range(2)]
    t.same(runs[0], runs[1], "1,000 threads")


@t.named("a thread that spins is passed over")
def spins():
    """Each hand-over would take a turn of 1,000,000 instructions otherwise."""
    for arch, what in (("x86_64", "spin"), ("x86_64", "exchange"),
                       ("sparc64", "exchange")):
        c = counted(arch, what, 2, 500, events=INSTRUCTIONS[arch],
                    quantum=1000000)
        (count,) = values(c).values()
        assert count < 10000000, (arch, what, count)


@t.named("a thread that adds to a word in a loop is not passed over")
def adds():
    """Four threads have a few turns each: lines go from one to another as often.
    A round of the loop is of three instructions."""
    c = counted("x86_64", "add", 4, 100000, events="coherence-misses",
                quantum=100000)
    assert values(c)["coherence-misses"] < 1000, values(c)


def walked(arch, n, unit):
    """Instructions and cycles of the threads of paces: who counts, and who
    walks meanwhile."""
    c = t.count(["-e", "instructions,cycles", "--clean-env", "--per-thread",
                 "--quantum", 10000, "--schedule", unit], g("paces", arch), n)
    return [[s["asked"][e] for e in ("instructions", "cycles")]
            for s in sorted(c.json["strands"], key=lambda s: s["thread"])]


@at_arch("turns of instructions and of cycles give threads as many of them")
def units(arch):
    """The longer run has 1,000,000 turns of a loop more: the walker gets as
    many instructions more, or cycles, to a turn or two and what steps last in
    which turns end."""
    for place, unit in enumerate(("instructions", "cycles")):
        short, long = (walked(arch, n, unit) for n in (1000000, 2000000))
        counter, walker = (b[place] - a[place] for a, b in zip(short, long))
        assert counter >= 500000, (unit, counter)
        assert abs(counter - walker) <= 20000 + counter / 100, \
            (unit, counter, walker)


@at_arch("turns of cycles do not depend on the events that are counted")
def cycles_alone(arch):
    event = INSTRUCTIONS[arch]
    by_cycles = ["--schedule", "cycles"]
    for work in WORKS:
        runs = [counted(arch, *work, options=by_cycles) for _ in range(2)]
        t.same(values(runs[0]), values(runs[1]), f"{work}, two runs")
        one = counted(arch, *work, events=event, options=by_cycles)
        t.equal(values(one)[event], values(runs[0])[event], f"{work}")


@t.named("turns of cycles are told, and refused where they cannot be")
def cycles_told():
    program = g("together", "x86_64")
    done = t.run(t.tally(), "count", "-m", "zen4", "-e", "instructions",
                 "--schedule", "cycles", "--", program, "locks", 3, 50)
    assert re.search(r"threads ran in turns of 100000 modelled cycles: counts "
                     r"repeat\n", done.stderr), done.stderr
    c = counted("x86_64", "fork", 3, 2, options=["--schedule", "cycles",
                                                 "--per-process"])
    t.equal({p["schedule"] for p in c.json["processes"]}, {"cycles"})
    for words, says in (
            (["--schedule", "time"], "takes 'instructions' or 'cycles', not"),
            (["--schedule", "cycles", "--parallel"],
             "--schedule gives threads turns; it does not go with"),
            (["--parallel", "--schedule", "cycles"],
             "--parallel has no turns; it does not go with --schedule"),
            (["--schedule", "cycles", "--filter", "main"],
             "it does not go with --filter")):
        done = t.run(t.tally(), "count", "-m", "zen4", "-e", "instructions",
                     *words, "--", program, "locks", 3, 50)
        t.equal(done.returncode, 2, f"{words}: {done.stderr}")
        t.contains(done.stderr, says)


@t.named("--quantum refuses what is no number of instructions")
def refused():
    for command in (["count"], ["record", "-o", "/dev/null"]):
        for value in ("0", "-1", "many", "", "10k", "1000000001"):
            done = t.run(t.tally(), *command, "--quantum", value, "--", "true")
            t.equal(done.returncode, 2, f"{command} {value!r}")
            t.contains(done.stderr, "--quantum takes 1 to 1000000000 "
                                    "instructions, or cycles with --schedule "
                                    "cycles, not")
            t.equal(done.stderr.count("\n"), 1, done.stderr)


t.main()
