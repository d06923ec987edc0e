#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sharers.py BUILD: lines that the threads of test/guest/sharers.c take from each
other on host-model, in turns (tally count --quantum)."""
import tallytest as t
from live_help import g

EVENTS = ("coherence-misses", "coherence-load-misses", "false-sharing-misses",
          "hitm-loads", "upgrade-misses", "invalidations",
          "L1-dcache-load-misses", "L1-dcache-store-misses")
# The threads and the C library share a few lines more than the program says.
MORE = 25


def counted(*words, events=EVENTS):
    c = t.Count(["-m", "host-model", "-e", ",".join(events), "--clean-env",
                 "--quantum", 100000],
                (g("sharers", "x86_64"), *words))
    t.equal(c.status, 0, f"status; stderr: {c.stderr}")
    return {e["name"]: e["value"] for e in c.json["events"]}


def near(value, wanted, what, more=MORE):
    assert wanted - more <= value <= wanted + more, (what, value, wanted)


@t.named("a word that is handed over is missed once each time")
def flag():
    """Each of 2 x 2,000 hand-overs is one load that finds the line modified by
    the other, and one store that ends the other's copy. All bytes that are read
    were written by the other."""
    runs = [counted("flag", 2, 2000) for _ in range(2)]
    t.same(runs[0], runs[1], "two runs")
    for name in ("coherence-misses", "coherence-load-misses", "hitm-loads",
                 "upgrade-misses", "invalidations"):
        near(runs[0][name], 4000, name)
    near(runs[0]["false-sharing-misses"], 0, "false sharing")


@t.named("counters in one line are shared falsely, counters apart not at all")
def counters():
    """4 threads add 1,000 times each, by turns. In one line each addition but
    the first of a thread is a miss."""
    shared = {what: counted(what, 4, 1000) for what in ("line", "own", "same")}
    for name in ("coherence-load-misses", "hitm-loads", "upgrade-misses",
                 "invalidations"):
        near(shared["line"][name], 4000, f"one line, {name}", 2 * MORE)
        near(shared["own"][name], 0, f"a line each, {name}", 2 * MORE)
        near(shared["same"][name], 4000, f"one counter, {name}", 2 * MORE)
    near(shared["line"]["false-sharing-misses"], 4000, "one line")
    near(shared["own"]["false-sharing-misses"], 0, "a line each")
    near(shared["same"]["false-sharing-misses"], 0, "one counter")


@t.named("misses do not depend on the events that are counted beside them")
def alone():
    every = counted("line", 4, 500)
    for name in ("L1-dcache-load-misses", "L1-dcache-store-misses"):
        only = counted("line", 4, 500, events=(name,))
        t.equal(only[name], every[name], name)


@t.named("the classes of misses add up to the misses of the L1 data cache")
def classes():
    """arrays loads 1,024 lines twice, and stores to 1,024 others, in a cache of
    512 lines: the C library adds a few of each."""
    names = [f"{c}-{k}-misses" for c in ("coherence", "first-touch", "capacity",
                                         "conflict") for k in ("load", "store")]
    totals = ("L1-dcache-load-misses", "L1-dcache-store-misses")
    settings = [o for s in ("size=32K", "ways=8", "line=64")
                for o in ("--set", f"l1d.{s}")]
    for words in (("arrays",), ("sharers", "line", 4, 500)):
        c = t.Count(["-m", "host-model", "-e", ",".join(names + list(totals)),
                     "--clean-env", "--quantum", 100000, *settings],
                    (g(words[0], "x86_64"), *words[1:]))
        t.equal(c.status, 0, c.stderr)
        n = {e["name"]: e["value"] for e in c.json["events"]}
        for kind, total in zip(("load", "store"), totals):
            t.equal(sum(v for name, v in n.items() if f"-{kind}-misses" in name
                        and name not in totals), n[total], f"{words} {kind}s")
        if words[0] == "arrays":
            near(n["first-touch-load-misses"], 1024, "first loads", 400)
            near(n["capacity-load-misses"], 1024, "capacity", 100)
            near(n["first-touch-store-misses"], 1024, "first stores", 400)


@t.named("without coherence no line is lost, and the events say why")
def switched_off():
    c = t.Count(["-m", "host-model", "-e", "coherence-misses,"
                 "L1-dcache-load-misses", "--clean-env", "--quantum", 100000,
                 "--set", "l1d.coherence=none"],
                (g("sharers", "x86_64"), "line", 4, 500))
    t.equal(c.status, 0, c.stderr)
    events = {e["name"]: e for e in c.json["events"]}
    t.equal(events["coherence-misses"]["fidelity"], "idle", "fidelity")
    assert events["L1-dcache-load-misses"]["value"] < 1000, events


t.main()
