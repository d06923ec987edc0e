#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Switches between the threads of Montecito's cores: montecito_threads.py BUILD

The schedule itself is test/switch.c's; here is what must hold of any program,
and what a parameter or a program's hints move.
"""
import tallytest as t

CAUSES = ("L3MISS", "TIMER", "HINT", "LP")
STALLS = [4 << n for n in range(11)]
EVENTS = [f"THREAD_SWITCH_EVENTS.{c}" for c in (*CAUSES, "ALL", "MISSED")]
EVENTS += ["THREAD_SWITCH_CYCLE.TOTAL", "THREAD_SWITCH_CYCLE.ALL_GATED",
           "THREAD_SWITCH_GATED.ALL"]
EVENTS += [f"THREAD_SWITCH_STALL.GTE_{n}" for n in STALLS]
MISSES = ["L3_MISSES", "CPU_OP_CYCLES.ALL"]


def count(*program, sets=(), cost=15):
    words = [w for s in sets for w in ("--set", s)]
    c = t.count(["-m", "montecito", *words, "-e", ",".join(EVENTS + MISSES)],
                *program)
    n = {e.removeprefix("THREAD_SWITCH_"): v for e, v in c.values.items()}
    t.equal(sum(n[f"EVENTS.{e}"] for e in CAUSES), n["EVENTS.ALL"], "causes")
    t.equal(n["CYCLE.TOTAL"], cost * n["EVENTS.ALL"], "cycles")
    stalls = [n[f"STALL.GTE_{k}"] for k in STALLS]
    t.equal(stalls, sorted(stalls, reverse=True), "stalls")
    assert stalls[0] <= n["EVENTS.L3MISS"] + n["EVENTS.TIMER"], f"{n}"
    # A miss is one event, its return another.
    l3 = n["EVENTS.L3MISS"] + n["EVENTS.MISSED"]
    assert l3 <= 2 * n["L3_MISSES"], f"{l3} events of {n['L3_MISSES']} misses"
    # What is held back is a chance missed, while another switch is under way.
    assert n["GATED.ALL"] <= n["EVENTS.MISSED"], f"{n}"
    gated = n["GATED.ALL"] * cost
    assert n["GATED.ALL"] <= n["CYCLE.ALL_GATED"] <= gated, f"{n}"
    return n


@t.named("a thread alone is never switched")
def alone():
    for program in (["words.x86_64", t.source("LICENSES", "MIT.txt")],
                    ["pattern.x86_64", "r", "128", "200000", "2"],
                    ["yields.x86_64", "0", "9", "9"],
                    ["yields.x86_64", "0", "9", "9", "pause"]):
        n = count(t.guest(program[0]), *program[1:])
        t.equal({e: v for e, v in n.items() if e.startswith("EVENTS") and v},
                {}, program[0])


@t.named("two threads on cores of their own are not, either")
def spread():
    n = count(t.guest("threads.x86_64"), "1", "100000",
              sets=["place.threads=spread"])
    t.equal(n["EVENTS.ALL"] + n["EVENTS.MISSED"], 0, "events")


@t.named("the first of two to end halts")
def halt():
    # meet.c: a thread that starts late would take the strand of one that ended.
    for threads, cores in ((1, 1), (3, 2)):
        n = count(t.guest("meet.x86_64"), str(threads), "1000000")
        t.equal(n["EVENTS.LP"], cores, f"{threads} threads")
        assert n["EVENTS.L3MISS"] > 0, f"{n}"


@t.named("a quantum ends a thread's turn, none without one")
def quantum():
    program = [t.guest("meet.x86_64"), "3", "8000000"]
    by = {q: count(*program, sets=[f"time.quantum={q}"])["EVENTS.TIMER"]
          for q in (0, 20000, 40000)}
    t.equal(by[0], 0, "without")
    assert by[40000] > 20, f"{by}"
    assert 1.8 < by[20000] / by[40000] < 2.2, f"{by}"


@t.named("a switch costs what the parameter says")
def cost():
    n = count(t.guest("threads.x86_64"), "1", "1000000",
              sets=["time.switch=40"], cost=40)
    assert n["CYCLE.TOTAL"] > 0, "none"
    n = count(t.guest("threads.x86_64"), "1", "1000000",
              sets=["time.switch=0"], cost=0)
    t.equal(n["EVENTS.ALL"], 0, "no switches")


# M08
@t.named("sched_yield and pauses are hints, while there is another thread")
def hints():
    for arch, how in (("x86_64", []), ("sparc64", []), ("x86_64", ["pause"]),
                      ("sparc64", ["pause"]), ("mips64", ["pause"]),
                      ("mips64el", ["pause"])):
        times = 400
        n = count(t.guest(f"yields.{arch}"), "3", str(times), "2000", *how,
                  sets=["time.quantum=0"])
        # The third and second thread share a core; the first has main beside.
        assert times < n["EVENTS.HINT"] <= 3 * times, f"{arch} {how}: {n}"


@t.named("threads that miss hide each other's waits")
def misses():
    n = count(t.guest("turns.x86_64"), "w", "2000", sets=["time.quantum=0"])
    assert n["EVENTS.L3MISS"] > 20, f"{n}"
    # A line comes later than a switch takes, so only a time-out holds it back.
    t.equal(n["GATED.ALL"], 0, "gated")


@t.named("a time-out holds back what a line that comes just then would switch")
def gated():
    # The way of test_gated() in test/switch.c over and over: 9 cycles each. How
    # the threads start and end differs from run to run, by 12 misses of 25,000,
    # and with that the first and the last switches: 47 cycles at most in 2,500
    # runs of the schedule with other counts of this size.
    n = count(t.guest("turns.x86_64"), "w", "300", sets=[
        "time.quantum=80", "l2.size=8K", "l3.size=96K"])
    assert n["GATED.ALL"] > n["EVENTS.L3MISS"] * 9 / 10 > 9000, f"{n}"
    off = abs(n["CYCLE.ALL_GATED"] - 9 * n["GATED.ALL"])
    assert off < n["GATED.ALL"] * 9 / 100, f"{n}"


@t.named("a quantum shorter than a switch lets a thread run for a cycle")
def short_quantum():
    n = count(t.guest("turns.x86_64"), "w", "20",
              sets=["time.quantum=3"])
    assert n["EVENTS.TIMER"] > n["EVENTS.L3MISS"], f"{n}"


@t.named("two threads have pages of their own, and lines in common")
def pages():
    tlbs = ("L1ITLB_INSERTS_HPW", "L2DTLB_MISSES")
    apart, shared = (
        t.count(["-m", "montecito", "--set", f"tlb.threads={how}", "-e",
                 ",".join((*tlbs, "L2D_MISSES"))],
                t.guest("threads.x86_64"), "1", "50")
        for how in ("apart", "shared"))
    for event in tlbs:
        assert apart[event] > shared[event] + 1, f"{apart[event]} {event}"
    assert abs(apart["L2D_MISSES"] - shared["L2D_MISSES"]) < 16, "lines"


t.main()
