#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""irix_live.py BUILD [WORD]: programs for IRIX on the emulated processors.

Those of examples/irix, built for mips64, count themselves under tally count.
"""
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


@t.named("elsewhere it is the host's counters, or EINVAL")
def host():
    done = t.run(t.build / "examples/irix_example")
    if done.returncode == 0:
        assert number(done.stdout, "data cache") > 0, done
    else:
        t.equal(done.returncode, 22, done.stderr)


t.main()
