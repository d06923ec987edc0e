#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose threads meet on the lines of several L2s: cores.py BUILD

Two threads take turns with one line (test/guest/turns.c), so that all but the
first turn find it with the other. Beside those turns, which arithmetic counts,
the threads share a few lines of the C library: at most SOME.
"""
import tallytest as t

T4 = "sparc-t4"
SPREAD = ["--set", "place.threads=spread"]
TURNS = 1500  # of each thread
SOME = 60
SNOOPS = ("Instruction_cache_snoop_invalidations",
          "Data_cache_snoop_invalidations", "L1_cache_snoop_invalidations")
INVALIDATIONS = (*SNOOPS, "Instruction_cache_invalidations",
                 "Instruction_cache_eviction_invalidations",
                 "Data_cache_invalidations",
                 "Data_cache_eviction_invalidations",
                 "Any_L1_cache_invalidation")
C2C = "Store_L2_local_C2C"
EXTERNAL = (12, 13, 28, 29, 31)


def count(machine, events, *program, sets=()):
    c = t.count(["-m", machine, *sets, "-e", ",".join(map(str, events))],
                *program)
    if set(INVALIDATIONS) <= set(events):
        both = [sum(c[f"{what}_cache_{why}_invalidations"]
                    for why in ("snoop", "eviction"))
                for what in ("Instruction", "Data")]
        t.equal([c["Instruction_cache_invalidations"],
                 c["Data_cache_invalidations"], c["Any_L1_cache_invalidation"]],
                [*both, sum(both)], "for either reason")
    return c


def near(count, wanted, what):
    assert wanted - 1 <= count <= wanted + SOME, f"{what}: {count}"


def turns(machine, kind, events, isa="sparc64", sets=()):
    return count(machine, events, t.guest(f"turns.{isa}"), kind, str(TURNS),
                 sets=sets)


@t.named("T4: stores of two cores by turns come from the other's L2")
def t4_writers():
    c = turns(T4, "w", [*INVALIDATIONS, C2C], sets=SPREAD)
    near(c[C2C], 2 * TURNS, C2C)
    for event in SNOOPS:
        near(c[event], 0, event)


@t.named("T4: a store takes the line out of the L1 of the core that read it")
def t4_readers():
    c = turns(T4, "rw", [*INVALIDATIONS, C2C], sets=SPREAD)
    near(c[C2C], 0, C2C)
    for event in SNOOPS:
        near(c[event], 0 if "Instruction" in event else 2 * TURNS, event)
    code, data = (c[f"{what}_cache_snoop_invalidations"]
                  for what in ("Instruction", "Data"))
    t.equal(c["L1_cache_snoop_invalidations"], code + data, "of both L1s")


@t.named("T4: threads of one core take nothing from each other")
def t4_one_core():
    for kind in ("w", "rw"):
        c = turns(T4, kind, [*INVALIDATIONS, C2C])
        for event in (*SNOOPS, C2C):
            t.equal(c[event], 0, event)


@t.named("T4: each miss of a store is served by L3, memory or another L2")
def t4_served():
    parts = ("Store_hits_in_L3", C2C, "Stores_to_local_memory")
    c = count(T4, [*parts, "L2_store_misses"], t.guest("share.sparc64"), "8",
              "20000", sets=SPREAD)
    t.equal(sum(c[e] for e in parts), c["L2_store_misses"], "all")
    assert c[C2C] >= 7, "the threads never met"


def number(machine, c, event):
    for name, row in t.table("machines", machine,
                             "events.toml")["event"].items():
        if row.get("number") == event:
            return c[name]
    raise AssertionError(f"no event {event}")


def mips_turns(machine, isa, kind, wanted):
    c = turns(machine, kind, EXTERNAL, isa)
    for event, per_turn in zip(EXTERNAL, wanted):
        got = number(machine, c, event)
        # Of the library's lines one may count 3.
        low, high = (2 * TURNS - 1) * per_turn, 2 * TURNS * per_turn + 3 * SOME
        assert low <= got <= high, f"event {event}: {got}"


# Of each turn: interventions, invalidations, their states' sums, event 31.
TURN = {"w": (0, 1, 0, 3, 0), "rw": (1, 1, 3, 1, 1)}
for machine, isa in (("r10000", "mips64"), ("r10000", "mips64el"),
                     ("r12000", "mips64"), ("r12000", "mips64el")):
    for kind, wanted in TURN.items():
        if machine == "r12000" and kind == "rw":
            wanted = (*wanted[:4], 2)
        t.case(f"{machine}, {isa}: {kind} by turns", mips_turns, machine, isa,
               kind, wanted)


@t.named("a single thread meets nobody")
def alone():
    for machine, events, isa in (
            (T4, (*SNOOPS, C2C), "sparc64"),
            ("r10000", EXTERNAL, "mips64"),
            ("r12000", EXTERNAL[:4], "mips64el")):
        c = count(machine, events, t.guest(f"words.{isa}"),
                  t.source("LICENSE"))
        for row in c.json["events"]:
            t.equal((c[row["name"]], row["fidelity"]), (0, "modelled"),
                    str(row))


t.main()
