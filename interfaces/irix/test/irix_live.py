#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""irix_live.py BUILD [WORD]: programs for IRIX on the emulated processors.

Those of ../examples, built for mips64, count themselves under tally count.
"""
import os
import re

import tallytest as t

# body.h: four rounds over 1 MiB, a line of 32 bytes each.
ROUNDS, LINES = 4, (1 << 20) // 32
NEAR = 2000  # what a call, and a cold start, add at most


def run(machine, name, *words, env=()):
    done = t.run("env", *env, t.tally(), "count", "-m", machine, "-e", "15",
                 "-o", "/dev/null", t.guest(f"irix_{name}.mips64"), *words)
    return done


def number(text, name):
    return int(re.search(rf"^{name} misses: (\d+)$", text, re.M)[1])


@t.named("the page's example counts its own misses, as it is meant")
def example():
    done = run("r10000", "example")
    t.equal(done.returncode, 0, done.stderr)
    misses = number(done.stdout, "data cache")
    assert 0 <= misses - ROUNDS * LINES < NEAR, misses
    assert 0 < number(done.stdout, "instruction cache") < NEAR, done.stdout


@t.named("as it stands event 25 reads 0: no loop meets it")
def literal():
    for machine in ("r10000", "r12000"):
        done = run(machine, "example_literal")
        t.equal(done.returncode, 0, done.stderr)
        t.equal(number(done.stdout, "data cache"), 0, machine)
        assert 0 < number(done.stdout, "instruction cache") < NEAR, machine


@t.named("on the R12000 an event's index is its number")
def r12000():
    done = run("r12000", "example", "r12000")
    t.equal(done.returncode, 0, done.stderr)
    assert number(done.stdout, "TLB") >= 0, done.stdout
    # Event 25 at its index, but with the number of counter 1 of the R10000.
    done = run("r12000", "example")
    t.equal(done.returncode, 22, done.stdout)
    t.contains(done.stderr, "failed to acquire counters: Invalid argument")


@t.named("libperfex: exact counts, the same each time; the environment wins")
def perfex():
    done = [run("r10000", "selfperfex", 15, 19) for _ in range(2)]
    t.equal(done[0].returncode, 0, done[0].stderr)
    t.equal(done[0].stderr, done[1].stderr)
    stores = int(re.search(r"^19 Graduated stores\.+ *(\d+)$", done[0].stderr,
                           re.M)[1])
    assert 0 <= stores - ROUNDS * (1 << 20) // 32 < NEAR, stores
    other = run("r10000", "selfperfex", 15, 19, env=["T5_EVENT0=9"])
    assert other.stderr.startswith(" 9 Primary instruction cache"), other
    same = run("r10000", "selfperfex", 9, 15)
    t.equal(same.returncode, 22)
    t.contains(same.stderr, "conflicting counters")


@t.named("an event without a model is EINVAL")
def idle():
    done = run("r10000", "selfperfex", 8, 17)
    t.equal(done.returncode, 22, done.stderr)


def lines(machine, name):
    """What irixNAME prints; root, since it asks for kernel mode."""
    done = t.run(t.tally(), "count", "-m", machine, "-e", "15", "-o",
                 "/dev/null", t.guest(f"irix{name}.mips64"))
    t.equal(done.returncode, 0, done.stderr)
    return done.stdout.splitlines()


def on_both(name):
    """A decorator: a case for each processor."""
    def add(function):
        for machine in ("r10000", "r12000"):
            t.case(f"{machine}: {name}", function, machine)
        return function
    return add


@on_both("a parent starts, reads, changes and releases its child's counters")
def child(machine):
    first, *rest = lines(machine, "child")
    small, large = map(int, first.split())
    # 4000 turns more of three instructions; what the calls take is the same.
    t.equal(large - small, 12000)
    assert 3000 < small < 3200, small
    t.equal(rest, ["generations 0 0", f"control {15 << 5 | 8} 0", "changed 1",
                   "kept 0", "released 0", "after 0", "gone 1 -1", "ended 1"])


@on_both("EBUSY and EPERM between two processes")
def busy(machine):
    if os.geteuid() != 0:
        raise t.Skip("only root has kernel mode")
    t.equal(lines(machine, "busy"), [
        "child 1", "kernel mode while it counts: -16", "and then: 1",
        "child in system mode: -16", "kernel mode again: -16",
        "change of another: -22", "after the release: 1", "two starts: 1",
        "stranger: open -13 start -1 read -1 kernel -1 system -1 release -1"])


@on_both("system mode: lost counters have a new generation; every strand, "
         "every process")
def system(machine):
    if os.geteuid() != 0:
        raise t.Skip("only root has kernel mode")
    t.equal(lines(machine, "system"), [
        "user mode alone: -22", "system mode: 1", "lost 1 generation 1",
        "children 30000", "cpu 1 1", "sum 1 generations 1", "no cpu 0 0",
        f"control 0 {15 << 5 | 10}", "changed 1", "released 0", "kept 0",
        "not given back 1"])


@on_both("a child's counts are its parent's after a wait, or PIOCSAVECCNTRS "
         "without one")
def save(machine):
    t.equal(lines(machine, "save"),
            ["forgotten 0", "saved 1 15000", "awaited 1"])


@on_both("a signal at a threshold: its handler reads and starts anew; a "
         "child's parent asks for it")
def signal(machine):
    signals, readings, *rest = lines(machine, "signal")
    t.equal(signals, "signals 50 later 0")
    _, beyond, spread = readings.split()
    # Each reading is as far behind the threshold as the handler is long.
    assert int(beyond) < 3000 and int(spread) < 8, readings
    # No signals there, EINVAL; to all but root EPERM.
    error = 22 if os.geteuid() == 0 else 1
    t.equal(rest, ["child 100", f"in system mode -{error}"])


@on_both("a threshold from another process comes while one forks")
def forks(machine):
    t.equal(lines(machine, "forks"), ["40"])


@on_both("prusage has the system calls that the machine has seen")
def usage(machine):
    t.equal(lines(machine, "usage"), ["17 calls 7 reads 10 writes"])


@on_both("HWPERF_PROFENABLE: a bucket for each threshold")
def profile(machine):
    t.equal(lines(machine, "profile"),
            ["200 in all 1 in the loop 0 elsewhere 0 later",
             "bad 1 1 1 goes on 1 good 1 gone 1"])


@on_both("no free descriptor and another user: what counts is still read")
def limits(machine):
    if os.geteuid() != 0:
        raise t.Skip("only root has another user")
    t.equal(lines(machine, "limits"),
            ["child 1 born 1 thread 1 again 1"] * 2 + ["system 1"] * 2)


@on_both("counters go on in the program that a process executes")
def executed(machine):
    first, *rest = lines(machine, "exec")
    small, large = map(int, first.split())
    t.equal(large - small, 12000)
    t.equal(rest, ["generation 0", "closed 0 1"])


@t.named("elsewhere it is the host's counters, or EINVAL")
def host():
    done = t.run(t.build / "interfaces/irix/irix_example")
    if done.returncode == 0:
        assert number(done.stdout, "data cache") > 0, done
    else:
        t.equal(done.returncode, 22, done.stderr)


t.main()
