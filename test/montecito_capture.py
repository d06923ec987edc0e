#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Montecito's monitor captures of whole programs: montecito_capture.py BUILD

test/guest/pattern.c goes over places at known distances, from a multiple of 16
MB on; with "x" it jumps from one to the next. So the addresses that the event
address registers, the trace buffer and the IP-EAR hold are arithmetic, and so
are the level that serves each and its latency (Table 2-8).
"""
import collections

import tallytest as t

UNIT = 16 << 20
L2, L3, MEMORY = 5, 14, 180
# Pages that make no misses of their own.
PAGES = ["--set", "tlb.page=1M", "--set", "dtlb.first=512"]


def sample(options, kind, step, count, rounds, program="pattern.x86_64"):
    return t.count(["-m", "montecito", *options], t.guest(program), kind,
                   str(step), str(count), str(rounds))


def records(c, **wanted):
    return [r for r in c.json["sampled"]["records"]
            if all(r.get(k) == v for k, v in wanted.items())]


def main_ones(found):
    """Those of the instruction that has most of them: of the loop, not of the
    return behind it."""
    by = collections.Counter(r["instruction"] for r in found)
    return [r for r in found if r["instruction"] == by.most_common(1)[0][0]]


def number(text):
    return int(text, 16)


def check_places(found, step, count):
    """They are among the places, and not always the same; where these begin."""
    first = min(found) // UNIT * UNIT
    for address in found:
        place, rest = divmod(address - first, step)
        assert rest == 0 and place < count, f"{address:#x} is no place"
    assert len(set(found)) >= min(count, len(found)) // 4, "few places"
    return first


LOADS = [
    # kind, step, count, rounds, served, latency; 1: but in the first round
    ("r", 128, 256, 5, "L2", L2, 1),
    ("r", 128, 8192, 5, "L3", L3, 1),
    ("r", 128, 110000, 2, "memory", MEMORY, 0),
    ("f", 128, 1024, 5, "L2", L2 + 1, 1),
    ("f", 128, 8192, 5, "L3", L3 + 1, 1),
    ("a", 128, 1024, 5, "L2", L2, 0),
    # Each waits for the store before it, as long as for memory.
    ("b", 128, 110000, 2, "memory", MEMORY, 0),
]


def loads(kind, step, count, rounds, served, latency, cold):
    """A load each 7 clocks at most is captured: rule R262; those of the L2 are
    nearer to each other."""
    name = {"r": "loads", "f": "floats", "a": "atomics", "b": "back"}[kind]
    c = sample(["--ear", "load-latency=4", "--period", "1", *PAGES], kind,
               step, count, rounds)
    own = main_ones(records(c, function=name))
    got = [r for r in own if r["served"] == served and r["latency"] == latency]
    if served == "L2":
        assert (rounds - 1) * count // 3 < len(got) <= rounds * count, len(got)
    else:
        t.equal(len(got), (rounds - cold) * count, "captured")
    check_places([number(r["address"]) for r in got], step, count)
    for r in got:
        t.equal(r["registers"]["PMD32"], r["address"], "PMD32")
        t.equal(number(r["registers"]["PMD33"]), 1 << 14 | latency, "PMD33")
        pmd36 = number(r["registers"]["PMD36"])
        t.equal(pmd36 & 8, 8, "PMD36.vl")
        t.equal((pmd36 >> 5 << 5) + (pmd36 >> 2 & 1) * 16,
                number(r["instruction"]) >> 4 << 4, "bundle")
    others = {r["latency"] for r in own} - {latency}
    assert others <= {MEMORY, MEMORY + 1}, f"latencies {others}"


for row in LOADS:
    t.case("loads served by {4}: {0} {1} {2}".format(*row), loads, *row)


@t.named("a threshold lets only slower loads through, each event counts")
def threshold():
    count = {}
    for cycles in (4, 16, 64, 256):
        c = sample(["--ear", f"load-latency={cycles}", "--period", "1",
                    *PAGES], "r", 128, 8192, 4)
        count[cycles] = c["DATA_EAR_EVENTS"]
        latencies = [r["latency"] for r in records(c)]
        t.equal(len(latencies), count[cycles], "records")
        assert all(n >= cycles for n in latencies), min(latencies)
    t.equal(count[16], count[64], "none between the L3 and memory")
    t.equal(count[256], 0, "none slower than memory")
    assert count[4] - count[16] >= 3 * 8192, f"{count}"


@t.named("one sample for a period of events")
def period():
    for n in (1, 7, 101, 1000):
        c = sample(["--ear", "load-latency=64", "--period", str(n), *PAGES],
                   "r", 128, 200000, 2)
        t.equal(len(records(c)) + c.json["sampled"]["lost"],
                c["DATA_EAR_EVENTS"] // n, f"period {n}")
        t.equal(c.json["sampled"]["lost"] > 0, n == 1, "no room for all")
        t.equal(c.json["sampled"]["period"], n, "period")


@t.named("the data TLB's misses: by the second one, by the walker")
def dtlb():
    count, rounds = 100, 5
    c = sample(["--ear", "dtlb", "--period", "1"], "r", 16384, count, rounds)
    own = main_ones(records(c, function="loads"))
    by = collections.Counter(r["served"] for r in own)
    t.equal(by["page walk"], count, "pages seen first")
    t.equal(by["L2 TLB"], (rounds - 1) * count, "more than the first holds")
    check_places([number(r["address"]) for r in own], 16384, count)
    for r in own:
        status = {"L2 TLB": 1, "page walk": 2}[r["served"]]
        t.equal(number(r["registers"]["PMD33"]) >> 14, status, "stat")


@t.named("instruction fetches: lines and their latencies")
def fetches():
    count, rounds = 8192, 4
    c = sample(["--ear", "fetch-latency=8", "--period", "1", *PAGES,
                "--set", "prefetch.lines=0"], "x", 256, count, rounds)
    # Not of the program's file: its pieces without a function are below.
    own = [r for r in records(c, function=None)
           if number(r["instruction"]) > UNIT]
    # The stores that wrote the code have left it in the L3.
    t.equal(collections.Counter(r["latency"] for r in own),
            {L3: rounds * count}, "latencies")
    places = [number(r["instruction"]) for r in own]
    check_places(places, 256, count)
    for r in own:
        pmd34 = number(r["registers"]["PMD34"])
        t.equal(pmd34 & 3, 1, "stat")
        t.equal(pmd34 >> 5, number(r["instruction"]) >> 5, "line")
        t.equal(number(r["registers"]["PMD35"]), r["latency"], "PMD35")
    t.equal(len(records(c)), c["L1I_EAR_EVENTS"], "records")


def chain(entries, block=16):
    """Each goes on where the one before has ended, in blocks of this size."""
    pairs = list(zip(entries[::2], entries[1::2]))
    for source, target in pairs:
        t.equal((source["source"], target["source"]), (True, False), "kinds")
    for before, after in zip(pairs, pairs[1:]):
        on = number(after[0]["address"]) - number(before[1]["address"])
        assert 0 <= on < block, f"{on} further on"
    return [(number(s["address"]), number(e["address"])) for s, e in pairs]


@t.named("the trace buffer replays a chain of jumps")
def trace():
    step, count = 64, 4000
    c = sample(["--etb", "16", "--period", "10001"], "x", step, count, 20)
    # An odd period freezes between a source and its target.
    inner = [r for r in records(c, function=None) if not r["ended"]]
    assert len(inner) >= 14, f"{len(inner)} samples"
    for r in inner:
        entries = r["entries"]
        if not entries[0]["source"]:
            entries = entries[1:-1]
        for source, target in chain(entries):
            t.equal(target - source, step, "distance")
        t.equal([e["register"] for e in r["entries"]],
                [f"PMD{48 + (number(r['registers']['PMD38']) + i) % 16}"
                 for i in range(16)], "oldest first")
    t.equal(len(records(c)), c["ETB_EVENT"] // 10001, "samples")


@t.named("the trace buffer holds a thread's last branches in the end")
def trace_end():
    c = t.count(["-m", "montecito", "--etb", "16"], t.guest("hello.x86_64"))
    (r,) = records(c)
    t.equal(r["ended"], True, "ended")
    chain(r["entries"], 256)
    few = t.count(["-m", "montecito", "--etb", "4"], t.guest("hello.x86_64"))
    t.equal(records(few)[0]["entries"], r["entries"][-4:], "the last four")


@t.named("the IP-EAR holds what retired around an overflow")
def retired():
    step, count = 64, 4000
    c = sample(["--ip-ear", "0", "--period", "10007"], "x", step, count, 20)
    inner = records(c, function=None)
    assert len(inner) >= 7, f"{len(inner)} samples"
    for r in inner:
        places = [number(e["address"]) for e in r["entries"]]
        t.equal(len(places), 16, "entries")
        at = number(r["instruction"])
        # The last names the one before that which overflowed, or itself.
        assert at - places[-1] in (0, step), f"{at:#x} and {places[-1]:#x}"
        for before, after in zip(places[:-1], places[1:-1]):
            t.equal(after - before, step, "distance")


@t.named("the IP-EAR goes on for its delay after a slow load")
def delayed():
    c = sample(["--ear", "load-latency=64", "--ip-ear", "40", *PAGES], "r",
               128, 200000, 2)
    inner = records(c, function="loads")
    t.equal(len(inner) > 3000, True, "samples")
    for r in inner[1:]:
        loads_at = number(r["instruction"]) >> 4 << 4
        t.equal({number(e["address"]) for e in r["entries"]} >= {loads_at},
                True, "the load is among them")


@t.named("sampling changes no count")
def unchanged():
    plain = t.count(["-m", "montecito", "-e", "all"], t.guest("words.x86_64"),
                    t.source("LICENSES", "MIT.txt"))
    own = {"DATA_EAR_EVENTS", "ETB_EVENT", "L1I_EAR_EVENTS", "ear_latency"}
    for what in (["--ear", "load-latency=4"], ["--etb", "8"],
                 ["--ip-ear", "3"]):
        c = t.count(["-m", "montecito", "-e", "all", *what],
                    t.guest("words.x86_64"),
                    t.source("LICENSES", "MIT.txt"))
        t.same({e: n for e, n in c.values.items() if e not in own},
               {e: n for e, n in plain.values.items() if e not in own}, what[0])
    t.equal(plain["ETB_EVENT"], 0, "not asked for")


@t.named("guests of each instruction set, repeatably")
def architectures():
    for arch in ("sparc64", "mips64", "x86_64"):
        def run():
            c = t.count(["-m", "montecito", "--etb", "16", "--ear",
                         "load-latency=8", "--period", "11"],
                        t.guest(f"arrays.{arch}"))
            return c.json["sampled"]["records"]
        got = run()
        assert got and all(r["latency"] >= 8 for r in got), arch
        t.equal(run(), got, f"{arch} again")


@t.named("each thread has a monitor of its own, and a child of fork")
def threads():
    c = t.count(["-m", "montecito", "--etb", "2"], t.guest("threads.x86_64"),
                "3", "1000")
    ends = [r["thread"] for r in records(c, ended=True)]
    t.equal(sorted(ends), list(range(len(ends))), "threads")
    assert len(ends) >= 3, f"{ends}"
    c = t.Count(["-m", "montecito", "--etb", "2"],
                [t.guest("forker.x86_64"), "fork"])
    ends = [r["process"] for r in records(c, ended=True)]
    assert len(ends) >= 2 and sorted(ends) == list(range(len(ends))), f"{ends}"


REFUSED = [
    (["--ear", "load-latency=65"], "takes latencies of 4, 8, 16, 32, 64"),
    (["--ear", "alat"], "ALAT"),
    (["--ear", "stores"], "--ear takes"),
    (["--ear", "dtlb", "--ear", "itlb"], "'itlb' is a second --ear"),
    (["--etb", "2", "--etb", "4"], "'4' is a second --etb"),
    (["--ip-ear", "0", "--ip-ear", "9"], "'9' is a second --ip-ear"),
    (["--etb", "17"], "1 to 16"),
    (["--ip-ear", "256"], "0 to 255"),
    (["--ip-ear", "1", "--etb", "2"], "same registers"),
    (["--period", "5"], "--period is of"),
    (["--etb", "2", "--period", "0"], f"1 to {1 << 46} events"),
    (["--etb", "2", "-x", ","], "CSV"),
    (["--etb", "2", "-r", "2"], "-r"),
    (["--etb", "2", "--hardware"], "--hardware"),
    (["--etb", "2", "--filter", "data=main"], "--filter data="),
    (["--etb", "2", "-m", "sparc-t4", "--foreign"], "sparc-t4 has no event address"),
]


@t.named("what cannot be captured is refused, and why")
def refused():
    for words, why in REFUSED:
        done = t.run(t.tally(), "count", "-m", "montecito", *words, "--",
                     t.guest("hello.x86_64"))
        t.equal(done.returncode, 2, f"{words}: {done.stderr}")
        t.contains(done.stderr, why)


t.main()
