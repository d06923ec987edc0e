#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hardware prefetchers and replacements: hardware_prefetch.py BUILD [WORD]

What test/guest/why.c misses follows from arithmetic: ten passes over 64 pages of 64
lines, and a list in an order far from that of addresses, of as many lines; here in an
L1 data cache of 512 lines and an L2 of 2048.
"""
import tallytest as t

GEOMETRY = {"l1d.size": "32K", "l1d.ways": 8, "l1d.line": 64, "l2.size": "128K",
            "l2.ways": 8, "l2.line": 64}
PASSES, PAGES, LINES = 10, 64, 64
NONE = "prefetchers bring in lines that no access misses; {}: l1d.prefetch=none"


def options(**sets):
    """The options of a machine; `l1d_prefetch` stands for l1d.prefetch."""
    named = {key.replace("_", ".", 1): value for key, value in sets.items()}
    return ["-m", "host-model", *(word for key, value in
                                  {**GEOMETRY, **named}.items()
                                  for word in ("--set", f"{key}={value}"))]


def count(data, words, *events, **sets):
    return t.count([*options(**sets), "--filter", f"data={data}", "-e",
                    ",".join(events)], t.guest("why.x86_64"), *words)


LEVEL = ("L1-dcache-load-misses", "l1d-prefetcher-lines",
         "l1d-prefetcher-useful")


def walk(wanted, sets):
    """Of each pass so many of its 4096 lines are missed."""
    c = count("lines", ("loop", PAGES * LINES), *LEVEL, **sets)
    brought = PASSES * (PAGES * LINES - wanted)
    t.equal(tuple(c[e] for e in LEVEL), (PASSES * wanted, brought, brought))


WALKS = [
    ("next", {}, PAGES),
    ("next", {"l1d_prefetch_distance": 2}, 2 * PAGES),
    ("adjacent", {}, PAGES * LINES // 2),
    # Three lines of a pass, and one of each further page.
    ("stride", {}, 3 + PAGES - 1),
    ("stream", {}, 3 * PAGES),
    ("stream", {"l1d_prefetch_degree": 4, "l1d_replacement": "plru"}, 3 * PAGES),
    ("stream", {"l1d_prefetch_distance": 8}, 10 * PAGES),
]
for kind, sets, wanted in WALKS:
    t.case(f"a walk with {kind} {sets}", walk, wanted,
           {"l1d_prefetch": kind, **sets})


@t.named("a walk without a prefetcher")
def plain_walk():
    c = count("lines", ("loop", PAGES * LINES), LEVEL[0])
    t.equal(c[LEVEL[0]], PASSES * PAGES * LINES)


@t.named("no prefetcher of runs or strides saves misses of a pointer chase")
def chase():
    for kind in ("none", "stride", "stream"):
        c = count("nodes", ("chase",), LEVEL[0], l1d_prefetch=kind)
        t.equal(c[LEVEL[0]], 3 * 4096, kind)


@t.named("the L2's prefetcher sees what the L1 data cache lacks")
def second_level():
    c = count("lines", ("loop", PAGES * LINES), LEVEL[0], "l2-load-misses",
              l2_prefetch="stream")
    t.equal((c[LEVEL[0]], c["l2-load-misses"]),
            (PASSES * PAGES * LINES, PASSES * 3 * PAGES))


@t.named("passes over 9 lines of each set of 8 ways, by replacement")
def replacement():
    """An L1 data cache of 64 sets of 8 ways, and passes over 576 lines. Misses with
    plru depend on the lines before: of an empty set they are 82, as in test/cache.c,
    and 90 only if no line hits."""
    misses = {kind: count("lines", ("loop", 576), LEVEL[0],
                          l1d_replacement=kind)[LEVEL[0]]
              for kind in ("lru", "fifo", "plru")}
    t.equal((misses["lru"], misses["fifo"]), (64 * 90, 64 * 90))
    assert 64 * 82 <= misses["plru"] < 64 * 90, misses


@t.named("random replacement repeats")
def random():
    first, second = (count("lines", ("loop", 576), LEVEL[0],
                           l1d_replacement="random")[LEVEL[0]]
                     for _ in range(2))
    t.equal(first, second)
    assert 576 < first < 5760, first


@t.named("machines without prefetchers say so")
def idle():
    c = t.count(["-m", "host-model", "-e", "l1d-prefetcher-lines,"
                 "l2-prefetcher-useful,LLC-prefetch-misses"],
                t.guest("why.x86_64"), "pair")
    events = {e["name"]: e for e in c.json["events"]}
    for name, word in (("l1d-prefetcher-lines", "l1d.prefetch"),
                       ("l2-prefetcher-useful", "l2.prefetch"),
                       ("LLC-prefetch-misses", "l2.prefetch")):
        t.equal((events[name]["fidelity"], events[name]["value"]), ("idle", 0),
                name)
        t.contains(events[name]["reason"], word)


@t.named("classes of misses are idle beside prefetchers")
def classes():
    c = t.count([*options(l2_prefetch="next"), "-e", "capacity-misses"],
                t.guest("why.x86_64"), "pair")
    t.contains(c.json["events"][0]["reason"], "l2.prefetch")


@t.named("memory, at, teach and record --why refuse prefetchers in one line")
def refused():
    for what, words in (("--objects, --why and --locks", ("memory",)),
                        ("--objects, --why and --locks", ("record", "--why")),
                        ("tally teach", ("teach",)),
                        ("tally at", ("at", "--miss", "1"))):
        done = t.run(t.tally(), *words, *options(l1d_prefetch="next"), "--",
                     t.guest("why.x86_64"), "pair")
        t.equal(done.returncode, 2, words)
        t.contains(done.stderr, NONE.format(what))
        t.equal(len(done.stderr.splitlines()), 1, done.stderr)


@t.named("threads that take turns count the same with prefetchers")
def threads():
    def run():
        c = t.count(["--clean-env", "--quantum", "10000",
                     *options(l1d_prefetch="stream", l2_prefetch="next"), "-e",
                     "hitm,invalidations,l2-prefetcher-lines," +
                     ",".join(LEVEL)], t.guest("sharers.x86_64"), "line", 4, 500)
        return {e["name"]: e["value"] for e in c.json["events"]}
    first = run()
    t.same(first, run())
    assert first["invalidations"] > 0 and first["l1d-prefetcher-lines"] > 0, first


t.main()
