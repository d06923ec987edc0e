#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally memory and tally record --why: memory.py BUILD [WORD]

What test/guest/why.c and sharers.c miss, and why, follows from arithmetic: here in
an L1 data cache of 512 lines of 64 bytes, 8 of which share a set.
"""
import csv
import io
import itertools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import tallytest as t

SETTINGS = [o for s in ("size=32K", "ways=8", "line=64")
            for o in ("--set", f"l1d.{s}")]
SMALL = ["--set", "l1d.size=4K", "--set", "l1d.ways=1"]
TURNS = ["--clean-env", "--quantum", 100000]
CLASSES = ("coherence", "first_touch", "capacity", "conflict")
EVENTS = [f"{c}-{k}-misses" for c in ("coherence", "false-sharing",
                                      "first-touch", "capacity", "conflict")
          for k in ("load", "store")]
EVENTS += [f"L1-dcache-{w}" for w in ("loads", "stores", "load-misses",
                                      "store-misses")]

folder = None
number = itertools.count()


def memory(*words, settings=SETTINGS, **how):
    """Runs tally memory."""
    return t.run(t.tally(), "memory", *settings, *words, **how)


def why(*words, program="why", options=(), settings=SETTINGS, status=0):
    """The JSON of tally memory for a program."""
    path = folder / f"{next(number)}.json"
    done = memory("-j", "-o", path, *options, "--",
                  t.guest(f"{program}.x86_64"), *words, settings=settings)
    t.equal(done.returncode, status, f"status; {done.stderr!r}")
    t.equal(done.stderr, "", "stderr")
    return json.loads(path.read_text())


@t.once
def shared(what, threads, turns):
    return why(what, threads, turns, program="sharers", options=TURNS)


@t.once
def recorded(*words):
    """The path of a record of the guest why."""
    path = folder / f"{'.'.join(words)}.data"
    done = t.run(t.tally(), "record", "-q", "--why", "-m", "host-model",
                 *SETTINGS, "-o", path, "--", t.guest("why.x86_64"), *words)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return path


def named(found, name, program="why"):
    """The object of a variable of the program."""
    return next(o for o in found["objects"]
                if o["name"] == f"{name} in {program}.x86_64")


def marked(mark):
    """The number of the line of why.c that has `LINE mark`."""
    text = pathlib.Path(t.source("test", "guest", "why.c")).read_text()
    return next(i for i, line in enumerate(text.splitlines(), 1)
                if f"/* LINE {mark} */" in line)


def row(found, mark, function):
    """The row of a line of why.c."""
    return next(r for r in found["lines"] if r["function"] == function and
                r["file"].endswith("why.c") and r["line"] == marked(mark))


def counts_of(thing, *names):
    return tuple(thing["counts"][f"{name}_misses"] for name in names)


def driven(thing):
    """What drove the lines of an object out."""
    return {(d["by"], d["function"], d["line"]):
            (d["capacity_misses"], d["conflict_misses"])
            for d in thing["driven_out"]}


def adds_up(found):
    """Classes are the misses, objects and lines are the whole, and what drove
    lines out, sets and threads are their classes."""
    for thing in (found, *found["objects"], *found["lines"]):
        n = thing["counts"]
        t.equal(sum(n[f"{c}_misses"] for c in CLASSES),
                n["load_misses"] + n["store_misses"], "classes")
    for rows in (found["objects"], found["lines"]):
        for name, value in found["counts"].items():
            if "misses" in name or rows is found["objects"]:
                t.equal(sum(r["counts"][name] for r in rows), value, name)
    # No object has what an instruction counts and does not access, as under a
    # mask: no program here has such.
    for o in found["objects"]:
        if o["name"] == "(no object)":
            t.equal((o["counts"]["loads"], o["counts"]["stores"]), (0, 0), o["name"])
    for o in found["objects"]:
        n = o["counts"]
        for kind in ("capacity", "conflict"):
            t.equal(sum(d[f"{kind}_misses"] for d in o["driven_out"]),
                    n[f"{kind}_misses"], f"{o['name']} {kind}")
        t.equal(sum(o["conflict_misses_by_set"]), n["conflict_misses"], "sets")
        t.equal(sum(s["coherence_misses"] for s in o["shared"]),
                n["coherence_misses"], f"{o['name']} shared")
        t.equal(sum(s["false_sharing_misses"] for s in o["shared"]),
                n["false_sharing_misses"], f"{o['name']} shared falsely")
    for name in ("reuse", "conflict_misses_by_set"):
        t.equal(sum(found[name]),
                sum(sum(o[name]) for o in found["objects"]), name)


def findings(found):
    return {(f["object"], f["kind"]): f for f in found["findings"]}


def events_of(count):
    """The events that a count of the report is the sum of."""
    name = count.replace("_", "-")
    return ([f"L1-dcache-{name}"] if name.startswith(("load", "store")) else
            [name.replace("-misses", f"-{k}-misses") for k in ("load", "store")])


@t.named("the counts are those of the events without reasons, to the digit")
def counted():
    for words, options in ((("why", "columns"), ()), (("why", "chase"), ()),
                           (("sharers", "line", 4, 500), TURNS)):
        options = ("--clean-env", *options)
        found = why(*words[1:], program=words[0], options=options)
        adds_up(found)
        path = folder / f"{next(number)}.data"
        program = (t.guest(f"{words[0]}.x86_64"), *words[1:])
        done = t.run(t.tally(), "record", "-q", "--objects=all", "-m",
                     "host-model", "-e", ",".join(EVENTS), *options, *SETTINGS,
                     "-o", path, "--", *program)
        t.equal(done.returncode, 0, done.stderr)
        report = json.loads(t.run(t.tally(), "report", "-j", "-i", path, "-e",
                                  "all", "--by", "object").stdout)
        totals = {e["name"]: e["total"] for e in report["events"]}
        rows = {r["keys"]["object"]: r for r in report["rows"]}
        c = t.Count(["-m", "host-model", "-e", ",".join(EVENTS), *options,
                     *SETTINGS], program)
        for name, value in found["counts"].items():
            events = events_of(name)
            t.equal(value, sum(totals[e] for e in events), f"{words} {name}")
            # A recording puts LD_PRELOAD in the environment, which is read.
            assert abs(value - sum(c[e] for e in events)) < 250, (words, name)
        for o in found["objects"]:
            if o["name"] not in rows or o["name"] == "(no object)":
                continue
            keys, values = (rows[o["name"]][w] for w in ("keys", "values"))
            t.equal((o["counts"]["loads"], o["counts"]["stores"],
                     o["bytes_fetched"], o["bytes_used"]),
                    tuple(keys[w] for w in ("loads", "stores", "fetched_bytes",
                                            "touched_bytes")), o["name"])
            for name in o["counts"]:
                if name not in ("loads", "stores"):
                    t.equal(o["counts"][name],
                            sum(values[e] for e in events_of(name)),
                            f"{o['name']} {name}")


@t.named("a matrix by columns drives itself out of each set")
def columns():
    """16 rows, 4 KB apart: the 16 lines of 8 columns share one set of 8 lines. 1,024
    first touches, and 16 x 512 loads that all miss."""
    found = why("columns")
    adds_up(found)
    matrix = named(found, "matrix")
    t.equal(matrix["kind"], "variable")
    t.equal((matrix["counts"]["loads"], matrix["counts"]["stores"]), (8192, 0))
    t.equal(counts_of(matrix, "load", "store", "first_touch", "conflict",
                      "capacity", "coherence"), (8192, 0, 1024, 7168, 0, 0))
    t.equal(matrix["conflict_misses_by_set"], 64 * [112])
    t.equal(driven(matrix), {("matrix in why.x86_64", "go_by_columns",
                              marked("columns")): (0, 7168)})
    t.equal((matrix["bytes_fetched"], matrix["bytes_used"]),
            (8192 * 64, 8192 * 8))
    # 15 others in between: from 8 to 15.
    t.equal(matrix["reuse"], [0, 0, 0, 0, 7168])
    line = row(found, "columns", "go_by_columns")
    t.equal((line["addresses"], line["stride"]), ("strided", 4096))
    t.equal(counts_of(line, "load", "conflict"), (8192, 7168))
    kinds = findings(found)
    for kind, misses in (("conflict", 7168), ("first-touch", 1024)):
        t.equal(kinds["matrix in why.x86_64", kind]["misses"], misses, kind)
    t.contains(kinds["matrix in why.x86_64", "conflict"]["text"],
               "100 % of them were driven out by itself in go_by_columns")
    # Little is used because lines leave before: that is no finding of its own.
    assert ("matrix in why.x86_64", "sparse-lines") not in kinds, kinds


@t.named("two arrays of the same sets drive each other out")
def pair():
    """A line a set: each array's line is driven out by the other's, 7 times each."""
    found = why("pair", settings=SMALL)
    adds_up(found)
    for name, other in (("left", "right"), ("right", "left")):
        o = named(found, name)
        t.equal(counts_of(o, "load", "first_touch", "conflict", "capacity"),
                (512, 64, 448, 0), name)
        t.equal(driven(o), {(f"{other} in why.x86_64", "take_turns",
                             marked(other)): (0, 448)})
        t.equal(o["reuse"], [0, 448], name)
        line = row(found, name, "take_turns")
        t.equal((line["addresses"], line["stride"]), ("sequential", 8))
        t.contains(findings(found)[o["name"], "conflict"]["text"],
                   f"driven out by {other} in why.x86_64 in take_turns")


@t.named("a list is a pointer chase, and misses capacity")
def chase():
    """Each set has 64 lines of the list, of which the making drives all but 8 out."""
    found = why("chase")
    adds_up(found)
    nodes = named(found, "nodes")
    t.equal(counts_of(nodes, "load", "store", "first_touch", "capacity",
                      "conflict"), (3 * 4096, 4096, 4096, 3 * 4096, 0))
    name = "nodes in why.x86_64"
    lines = driven(nodes)
    made = sum(n[0] for (by, function, line), n in lines.items()
               if line == marked("make") or function == "make_list")
    t.equal(made, 64 * 56, "driven out by the making")
    t.equal({by for by, _, _ in lines}, {name})
    t.equal(nodes["reuse"], 12 * [0] + [3 * 4096])
    line = row(found, "follow", "chase")
    t.equal((line["addresses"], line["stride"]), ("pointer chase", None))
    text = findings(found)[name, "capacity"]["text"]
    t.contains(text, "a cache of 256 KiB would have 9 of 10 of them")
    t.contains(findings(found)[name, "sparse-lines"]["text"], "12 % of")
    for size, misses in ((256, 0), (128, 3 * 4096)):
        found = why("chase", settings=["--set", f"l1d.size={size}K", "--set",
                                       f"l1d.ways={size * 2}"])
        t.equal(counts_of(named(found, "nodes"), "capacity"), (misses,), size)


@t.named("a list whose values are loaded before its next is a pointer chase")
def values():
    found = why("values")
    adds_up(found)
    nodes = named(found, "nodes")
    line = row(found, "value", "add_values")
    t.equal(counts_of(line, "load", "capacity"), (3 * 4096, 3 * 4096))
    t.equal((line["addresses"], line["stride"]), ("pointer chase", None))
    for name, value in nodes["worst_line"].items():
        t.equal(value, {k: v for k, v in line[name].items() if "misses" in k}
                if name == "counts" else line[name], name)
    text = findings(found)["nodes in why.x86_64", "capacity"]["text"]
    t.contains(text, f"75 % of its misses are in add_values (why.c:"
                     f"{marked('value')}), pointer chase: put what follows each "
                     "other side by side")


# What objects.c does in each function, with the stride.
PATTERNS = {"transposed": ("strided", 1024), "stride": ("sequential", 64),
            "look_up": ("strided", -12928), "walk": ("pointer chase", None)}


def patterns(isa):
    """How addresses follow each other is the program's affair: an architecture
    that makes each address in the register that it loads chases no pointer."""
    path = folder / f"{next(number)}.json"
    done = memory("-j", "-o", path, "-m", "host-model", "--foreign", "--",
                  t.guest(f"objects.{isa}"))
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    lines = json.loads(path.read_text())["lines"]
    for function, pattern in PATTERNS.items():
        first = next(r for r in lines if r["function"] == function)
        t.equal((first["addresses"], first["stride"]), pattern, function)


for isa in t.isas():
    t.case(f"how addresses follow each other, {isa}", patterns, isa)


@t.named("a loop over N lines comes back after N - 1 others")
def loop():
    for lines in (2, 3, 4, 5, 400, 512, 513, 40000):
        found = why("loop", lines)
        adds_up(found)
        o = named(found, "lines")
        power = (lines - 1).bit_length()
        t.equal(o["reuse"], power * [0] + [9 * lines], lines)
        t.equal(counts_of(o, "first_touch", "coherence", "conflict"),
                (lines, 0, 0), lines)
        # Of 513 lines, one set has 9.
        missed = {513: 0, 40000: 9 * 40000}.get(lines, 0)
        if lines == 513:
            t.equal(counts_of(o, "capacity"), (9 * 9,))
        else:
            t.equal(counts_of(o, "capacity"), (missed,), lines)


@t.named("hits of a cache of 768 lines are no capacity misses of a smaller one")
def reach():
    """Lines come back after 599 others, which hit, and after 2,099, which miss."""
    found = why("mixed", settings=["--set", "l1d.size=48K", "--set",
                                   "l1d.ways=12", "--set", "l1d.line=64"])
    o = named(found, "lines")
    t.equal(o["reuse"], 10 * [0] + [300 * 600, 0, 9 * 2100])
    t.equal(counts_of(o, "first_touch", "capacity"), (2100, 9 * 2100))
    t.contains(findings(found)[o["name"], "capacity"]["text"],
               "a cache of 256 KiB would have 9 of 10 of them")


@t.named("false sharing: two threads, their words, and no true sharing")
def false_sharing():
    found = shared("line", 2, 1000)
    adds_up(found)
    o = named(found, "shared", "sharers")
    n = o["counts"]
    t.equal(n["false_sharing_misses"], n["coherence_misses"])
    assert 1990 <= n["coherence_misses"] <= 2000, n
    rows = {(s["thread"], s["stored_by"]): s for s in o["shared"]}
    t.equal(set(rows), {(1, 2), (2, 1)})
    for (thread, other), s in rows.items():
        t.equal((s["process"], s["lines"]), (0, 1))
        t.equal(s["bytes"], list(range(8 * (thread - 1), 8 * thread)))
        t.equal(s["stored_bytes"], list(range(8 * (other - 1), 8 * other)))
        assert s["coherence_misses"] >= 990, s
        t.equal(s["first_line_address"] % 64, 0)
    finding = findings(found)[o["name"], "false-sharing"]
    t.equal(finding["misses"], n["false_sharing_misses"])
    t.contains(finding["text"], "50 % of them are thread ")
    t.contains(finding["text"], ", stored to are bytes ")
    for at in (0, 8):
        t.contains(finding["text"], f" of shared.counters[{at}] (sharers.c:")
    t.contains(finding["text"], "put what different threads store to 64 bytes "
               "apart")
    for kind in ("sharing", "sparse-lines"):
        assert (o["name"], kind) not in findings(found), found["findings"]


@t.named("true sharing: one word")
def true_sharing():
    for what, turns in (("same", 1000), ("flag", 1000)):
        found = shared(what, 2, turns)
        adds_up(found)
        o = named(found, "shared", "sharers")
        t.equal(counts_of(o, "false_sharing"), (0,))
        assert 1990 <= o["counts"]["coherence_misses"] <= 2000, o["counts"]
        for s in o["shared"]:
            t.equal((s["bytes"], s["stored_bytes"]),
                    (list(range(8)), list(range(8))), what)
        t.contains(findings(found)[o["name"], "sharing"]["text"],
                   "hand over less often")


@t.named("a lock beside what it protects is shared, and not to be put apart")
def lock():
    """Who holds the lock misses what the other has tried to set, which is false
    sharing; who gets the lock misses what the other has set."""
    found = shared("lock", 2, 1000)
    adds_up(found)
    o = named(found, "locked", "sharers")
    n = o["counts"]
    assert n["false_sharing_misses"] > 900, n
    finding = findings(found)[o["name"], "sharing"]
    t.equal(finding["misses"], n["coherence_misses"])
    t.contains(finding["text"], "hand over less often")
    assert re.search(r"bytes 0, 8-15 of locked\.held \(sharers\.c:\d+\), "
                     r"locked\.sum \(sharers\.c:\d+\)", finding["text"]), finding
    for kind in ("false-sharing", "sparse-lines"):
        assert (o["name"], kind) not in findings(found), found["findings"]


def shares(what, name, kind, others=()):
    """How many misses the finding of a kind is about, of a variable of the program;
    it has findings of no other kind but `others`."""
    found = shared(what, 4, 1000)
    adds_up(found)
    kinds = findings(found)
    for other in {"sharing", "false-sharing", "sparse-lines"} - {kind, *others}:
        assert (f"{name} in sharers.x86_64", other) not in kinds, kinds
    finding = kinds[f"{name} in sharers.x86_64", kind]
    t.equal("bytes apart" in finding["text"], kind == "false-sharing",
            finding["text"])
    return finding, named(found, name, "sharers")


@t.named("a mutex is shared, whatever word of it is read first")
def mutexes():
    """Who takes a mutex reads its kind first, which nobody stores to, and misses for
    it; then the word that all store to. A line for itself changes nothing."""
    for what, name in (("mutex", "mutex"), ("guarded", "guarded")):
        finding, o = shares(what, name, "sharing")
        n = o["counts"]
        t.equal(finding["misses"], n["coherence_misses"])
        assert n["false_sharing_misses"] > 0.9 * n["coherence_misses"], n
        used = sum(s["used_misses"] for s in o["shared"])
        # The last misses of each thread may be used by none after them.
        assert n["false_sharing_misses"] - used <= 8, (n, used)
        t.contains(finding["text"], "true sharing")
    finding, o = shares("mutex", "protected", "sharing")
    t.equal(o["counts"]["false_sharing_misses"], 0)


@t.named("two locks in one line: parting helps where it takes most misses away")
def two_locks():
    """Of two threads, each has a lock for itself: all is false sharing. Of four, who
    takes a lock uses what its other user has stored to, though the two threads of
    the other lock have taken the line in between."""
    found = shared("pairs", 2, 1000)
    o = named(found, "pairs", "sharers")
    n = o["counts"]
    t.equal(n["false_sharing_misses"], n["coherence_misses"])
    t.equal({s["used_misses"] for s in o["shared"]}, {0})
    finding = findings(found)[o["name"], "false-sharing"]
    t.equal(finding["misses"], n["coherence_misses"])
    finding, o = shares("pairs", "pairs", "sharing")
    t.equal(finding["misses"], o["counts"]["coherence_misses"])


@t.named("counters behind a word that all read are to be put apart")
def headed():
    """The misses are for the word, which nobody stores to; no thread uses a counter
    of another."""
    finding, o = shares("headed", "headed", "false-sharing")
    n = o["counts"]
    assert n["coherence_misses"] >= 3900, n
    assert finding["misses"] >= n["coherence_misses"] - 8, (finding, n)


def started(isa):
    """A dynamic program that prints a line: the loader's misses are no finding, and
    the tables have them. A larger one has findings of its own alone."""
    path = folder / f"{next(number)}.json"
    words = ("-m", "host-model", "--foreign", "--")
    done = memory("-j", "-o", path, *words, t.guest(f"hello.dyn.{isa}"))
    t.equal(done.returncode, 0, done.stderr)
    found = json.loads(path.read_text())
    adds_up(found)
    t.equal(found["findings"], [])
    loaders = [o for o in found["objects"] if re.search(
        r" (of|in) ld(-linux[^/]*|64)?\.so\.\d$", o["name"])]
    assert loaders, [o["name"] for o in found["objects"]]
    misses = sum(found["counts"][f"{k}_misses"] for k in ("load", "store"))
    own = sum(o["counts"][f"{k}_misses"] for o in loaders
              for k in ("load", "store"))
    assert own <= found["loader_misses"] <= misses, found["loader_misses"]
    assert found["loader_misses"] > misses / 2, (found["loader_misses"], misses)
    done = memory(*words, t.guest(f"hello.dyn.{isa}"))
    t.contains(done.stderr, f" Findings\n {found['loader_misses']:,} misses "
               f"({100 * found['loader_misses'] / misses:.0f} %) are of the start "
               "by the dynamic loader, not of the program\n nothing of the program "
               "itself stands out\n")
    done = memory("-j", "-o", path, *words, t.guest(f"objects.dyn.{isa}"))
    t.equal(done.returncode, 0, done.stderr)
    found = json.loads(path.read_text())
    names = [f["object"] for f in found["findings"]]
    assert any("objects.dyn" in n or "main" in n for n in names), names
    assert not set(names) & {o["name"] for o in loaders}, names


for isa in t.isas():
    t.case(f"the dynamic loader's start is no finding, {isa}", started, isa)


@t.named("turns of thousands of accesses hide no false sharing")
def busy():
    """Two million loads and stores each to lines that change hands with each turn,
    which is at less than 1 of 1,000 of them."""
    found = shared("busy", 2, 1000000)
    o = named(found, "shared", "sharers")
    n = o["counts"]
    t.equal(n["loads"] >= 2000000 and n["stores"] == 2000000, True, n)
    finding = found["findings"][0]
    t.equal((finding["object"], finding["kind"]), (o["name"], "false-sharing"))
    assert 64 <= finding["misses"] < 4000, finding
    t.contains(finding["text"], "threads that run at once may take its lines "
               f"from each other at each of its {n['loads'] + n['stores']:,} "
               "accesses")


def in_turns(what, threads, turns, quantum):
    """The report of a short run."""
    return why(what, threads, turns, program="sharers",
               options=("--clean-env", "--quantum", quantum))


@t.named("few misses that come with most turns are false sharing")
def steady():
    """A thread adds 10,000 times in 6 or more turns of 10,000 instructions, and
    misses at the first addition of each turn but its first."""
    for threads, turns, quantum in ((2, 10000, 10000), (4, 1000, 1000)):
        found = in_turns("busy", threads, turns, quantum)
        adds_up(found)
        finding = found["findings"][0]
        t.equal((finding["object"], finding["kind"]),
                ("shared in sharers.x86_64", "false-sharing"))
        assert 8 <= finding["misses"] < 64, finding
        had = {r["thread"]: r["turns"] for r in found["turns"]}
        t.equal(finding["turns"]["turns"],
                sum(had[i] for i in range(1, threads + 1)))
        # The first two turns of a thread: before it adds, and as it begins to.
        assert (finding["turns"]["turns"] - 2 * threads
                <= finding["turns"]["misses"] <= finding["turns"]["turns"]), had
        assert finding["turns"]["instructions"] < 20, finding
        t.contains(finding["text"], "threads took its lines over "
                   f"{finding['turns']['misses']} times in "
                   f"{finding['turns']['turns']} turns, on average "
                   f"{finding['turns']['instructions']} instructions after a turn "
                   "began; ")
        t.contains(finding["text"], "; with shorter turns, as by --quantum 1000, it "
                   "may show more: put what different threads store to")


@t.named("when in a turn a line comes over is exact, and misses are the same")
def turn_instructions():
    found = in_turns("busy", 2, 10000, 10000)
    o = named(found, "shared", "sharers")
    finding = found["findings"][0]
    ran = sum(s["turn_instructions"] for s in o["shared"] if s["thread"] != 0)
    misses = sum(s["coherence_misses"] for s in o["shared"] if s["thread"] != 0)
    assert 1 <= ran / misses < 20, (ran, misses)
    # Who misses in the middle of its turn does so after half of the turn.
    o = named(in_turns("rare", 2, 200, 10000), "shared", "sharers")
    ran = sum(s["turn_instructions"] for s in o["shared"] if s["thread"] != 0)
    misses = sum(s["coherence_misses"] for s in o["shared"] if s["thread"] != 0)
    assert 1000 < ran / misses < 10000, (ran, misses)
    t.equal(found["turns"], sorted(found["turns"], key=lambda r: r["thread"]))


@t.named("what is handed over rarely or on purpose is no false sharing")
def not_steady():
    for what, threads, turns, quantum in (
            ("rare", 2, 30, 10000), ("rare", 4, 15, 10000),
            ("own", 4, 6000, 1000), ("same", 3, 30, 1000), ("flag", 2, 20, 1000),
            ("lock", 2, 30, 1000), ("mutex", 4, 100, 1000),
            ("guarded", 4, 100, 1000), ("pairs", 4, 100, 1000)):
        kinds = {f["kind"] for f in in_turns(what, threads, turns,
                                             quantum)["findings"]}
        assert "false-sharing" not in kinds, (what, kinds)


@t.named("threads that have few turns are said to have few")
def few_turns():
    for quantum, few in ((10000, True), (1000, False)):
        done = memory("--clean-env", "--quantum", quantum, "--",
                      t.guest("sharers.x86_64"), "busy", 4, 1000)
        t.equal(re.search(r"\n Findings\n threads had [12] turns? each at most: what "
                          r"they share shows more\n with shorter turns, as by "
                          r"--quantum 1000\n 1\. ", done.stderr) is not None, few,
                done.stderr)


def trial(found, name, kind, program="why"):
    """What --what-if has found for a finding: misses before and after, and how data
    were moved."""
    tried = findings(found)[f"{name} in {program}.x86_64", kind]["what_if"]
    return (tried["misses_before"], tried["misses_after"],
            (tried["every"], tried["gap"]))


@t.named("what would be saved by rows that are a line longer")
def longer_rows():
    """16 rows of 4,160 bytes: 8 lines of a column share no set with the other 8, so
    that only first touches are left of the matrix."""
    found = why("columns", options=("--what-if",))
    before, after, moves = trial(found, "matrix", "conflict")
    t.equal(moves, (4096, 64))
    # Rows need not begin with a line, and a row with a gap may need one more.
    assert 7168 - 32 <= before - after <= 7168, (before, after)
    for f in found["findings"]:
        if f["kind"] not in ("conflict", "false-sharing"):
            t.equal(f["what_if"], None, f)
    done = memory("--what-if", "--", t.guest("why.x86_64"), "columns")
    t.equal(done.stdout, "done\n", "the program's output, once")
    t.contains(re.sub(r"\n +", " ", done.stderr),
               "; tried: with a gap of 64 bytes after each 4,096 bytes, "
               f"{before - after:,} of the program's")


def table_rows(text, heading):
    """The lines of a table of the text under its two lines of headings."""
    part = text.split(f" {heading}\n")[1].split("\n\n")[0]
    return [l.split() for l in part.splitlines()[1:] if l[:14].strip()]


@t.named("a part that is not 0 is not said to be 0 %")
def small_parts():
    """Of 300 threads that take one lock, no two have a large part."""
    for command in ("memory", "locks"):
        done = t.run(t.tally(), command, "--clean-env", "--quantum", 500, "--",
                     t.guest("together.x86_64"), "locks", 300, 3)
        t.equal(done.returncode, 0, done.stderr)
        text = done.stderr.split("Findings")[1].split("\n\n")[0]
        text = re.sub(r"\n +", " ", text)
        t.contains(text, "% of ")
        assert "; 0 % of " not in text, text


@t.named("tables that have rows of many objects have the most misses first")
def ordered():
    words = ("--top", 0, *TURNS, "--", t.guest("sharers.x86_64"), "headed", 3, 200)
    for settings, heading in ((SETTINGS, "Lines that threads take from each other"),
                              (SMALL, "What drove out the lines that were missed")):
        done = memory(*words, settings=settings)
        t.equal(done.returncode, 0, done.stderr)
        first = 2 if "drove" in heading else 1
        misses = [sum(int(n.replace(",", "")) for n in line[:first])
                  for line in table_rows(done.stderr, heading)]
        assert len(misses) > 2, done.stderr
        t.equal(misses, sorted(misses, reverse=True), heading)


@t.named("a load that stands in two blocks has one row of steps")
def heads():
    """Of the load's 999 steps 500 are of 4096 bytes, between blocks or not."""
    found = why(program="heads", options=("--what-if",),
                settings=[*SMALL, "--set", "l1d.line=64"])
    adds_up(found)
    t.equal([(r["addresses"], r["stride"]) for r in found["lines"]],
            [("strided", 4096)])
    before, after, moves = trial(found, "words", "conflict", "heads")
    t.equal((before, after, moves), (1000, 4, (4096, 64)))


@t.named("what would be saved by arrays that begin at other sets")
def further_on():
    """Two arrays that a cache of one way has in the same lines: every load misses,
    and without that one of 8."""
    found = why("pair", options=("--what-if",),
                settings=[*SMALL, "--set", "l1d.line=64"])
    for name in ("left", "right"):
        before, after, moves = trial(found, name, "conflict")
        t.equal(moves, (None, 2048))
        assert abs(before - after - 2 * (512 - 64)) < 20, (before, after)


def parted(what, threads, turns):
    """The trial of false sharing of `shared`, or of another variable, and the
    finding."""
    name = {"pairs": "pairs", "headed": "headed"}.get(what, "shared")
    found = why(what, threads, turns, program="sharers",
                options=(*TURNS, "--what-if"))
    finding = findings(found)[f"{name} in sharers.x86_64", "false-sharing"]
    return finding["what_if"], finding, named(found, name, "sharers")


@t.named("what would be saved by bytes of threads in lines of their own")
def words_apart():
    """Each thread's counter has a line for itself, and the other words of the line
    stay together: the sum at the end asks for a line more for each thread. So the
    answer is right for short runs too."""
    for threads, turns in ((4, 1000), (8, 100), (4, 100), (2, 1000)):
        tried, finding, o = parted("line", threads, turns)
        t.equal((tried["every"], tried["gap"]), (None, None))
        part, = tried["parts"]
        address = o["shared"][0]["first_line_address"]
        t.equal((part["first_line_address"], part["lines"]), (address, 1))
        t.equal(part["apart"], [list(range(8 * i, 8 * i + 8))
                                for i in range(threads)])
        before, after = tried["misses_before"], tried["misses_after"]
        gone = finding["misses"] - threads
        assert gone - 8 <= before - after <= gone + 8, (tried, finding["misses"])
        less = (tried["coherence_misses_before"]
                - tried["coherence_misses_after"])
        assert less >= finding["misses"] - 8, (tried, finding["misses"])
        t.equal(tried["helps"], True)
        t.contains(finding["text"], ": put what different threads")
        t.contains(finding["text"], "; tried: with each thread's bytes of 1 line "
                   "in a line for themselves, the program has "
                   f"{tried['coherence_misses_after']:,} coherence misses in place "
                   f"of {tried['coherence_misses_before']:,}, and "
                   f"{before - after:,} of the program's {before:,} misses go away")


@t.named("bytes that nobody stores to stay together")
def parts():
    """Locks of two threads; and counters behind a word that all read."""
    tried, _, _ = parted("pairs", 2, 200)
    t.equal(tried["parts"][0]["apart"], [[0], [1]])
    tried, _, _ = parted("headed", 4, 200)
    t.equal(tried["parts"][0]["apart"], [list(range(8 * i, 8 * i + 8))
                                         for i in range(1, 5)])
    t.equal(tried["helps"], True)


@t.named("a trial that makes it worse says so, and nothing is advised")
def vain():
    """In a cache of four lines, the counters drive out what their threads use."""
    found = why("headed", 4, 30, program="sharers",
                options=(*TURNS, "--what-if"),
                settings=["--set", "l1d.size=256", "--set", "l1d.ways=1",
                          "--set", "l1d.line=64"])
    finding = findings(found)["headed in sharers.x86_64", "false-sharing"]
    tried = finding["what_if"]
    before, after = tried["misses_before"], tried["misses_after"]
    assert after > before - finding["misses"] // 10, tried
    assert tried["coherence_misses_after"] < 8, tried
    t.equal(tried["helps"], False)
    t.contains(finding["text"], f", and {after:,} misses in place of {before:,} of "
               "the program, which does not help")
    assert ": put what" not in finding["text"], finding["text"]


@t.named("--move takes bytes of lines apart, and a record says so")
def lines_moved():
    numbers = named(shared("line", 2, 1000), "shared", "sharers")["numbers"]
    address = named(shared("line", 2, 1000), "shared",
                    "sharers")["shared"][0]["first_line_address"]
    path = folder / "parted.data"
    words = [f"64:{address:#x}-{address + 63:#x}=0-7/8-15:{numbers[0]}"]
    done = t.run(t.tally(), "record", "-q", "--why", "--move", *words, "-m",
                 "host-model", *SETTINGS, *TURNS, "-o", path, "--",
                 t.guest("sharers.x86_64"), "line", 2, 1000)
    t.equal((done.returncode, done.stderr), (0, ""))
    done = t.run(t.tally(), "memory", "-i", path, "-j")
    t.equal(done.returncode, 0, done.stderr)
    o = named(json.loads(done.stdout), "shared", "sharers")
    t.equal(o["counts"]["false_sharing_misses"], 0)
    for wrong in ("64:0-3f:1", "64:0x0-0x3f=8-70:1", "64:0x0-0x3e=8-15:1",
                  "64:0x0-0x3f=15-8:1", "64:0x40-0x3f=8-15:1", "48:0-2f=1:1",
                  "64:0x40-0x7f=1,0x0-0x3f=1:1", "64:0x0-0x3f=8-15",
                  "64:0x0-0x3f=:1", "0:0x0-0x3f=1:1", "64:0x0-0x3f=1/:1"):
        done = t.run(t.tally(), "record", "--why", "--move", wrong, "--",
                     t.guest("why.x86_64"), "columns")
        t.equal(done.returncode, 2, wrong)
        t.contains(done.stderr, f"--move '{wrong}': EVERY:GAP:OBJECTS is expected")


def untried(*words):
    """The findings that --what-if does not try, of a run: reasons and texts by
    kind of the object."""
    path = folder / "untried.json"
    memory("--what-if", "-j", "-o", path, *words)
    found = json.loads(path.read_text())
    objects = {o["name"]: o["kind"] for o in found["objects"]}
    rows = [(objects[f["object"]], f["what_if"], f["text"])
            for f in found["findings"] if f["what_if"] is not None]
    for _, tried, text in rows:
        if not tried["tried"]:
            t.equal(sorted(tried), ["reason", "tried"], "members")
            t.equal(text.endswith(f"; not tried: {tried['reason']}"), True, text)
    return [(kind, tried["reason"]) for kind, tried, _ in rows
            if not tried["tried"]]


@t.named("a finding that cannot be tried says why")
def cannot_be_tried():
    program = t.guest("why.x86_64")
    others = ("the data are of a program that the first one, such as a shell, "
              "forked or executed; start that program itself")
    for words in ((program, "fork"), (program, "exec"),
                  ("/bin/sh", "-c", f"{program} columns; exit 0")):
        t.equal(untried("--", *words), [("variable", others)], str(words))
    t.equal(untried("--", program, "killed"),
            [("variable", "the program did not end by itself")], "killed")
    stacks = untried("--set", "l1d.size=1K", "--set", "l1d.ways=1", "--",
                     t.guest("words.x86_64"))
    t.equal(set(stacks), {("stack", "it is on a stack, whose frames follow each "
                           "other")}, "stacks")
    for f in why("columns")["findings"]:
        t.equal(f["what_if"], None, "nothing was asked for")


@t.named("--move says which numbers no object has")
def unmoved():
    numbers = named(why("columns"), "matrix", "why")["numbers"]
    for objects, said in (
            ((999999,), "number 999999: nothing was moved"),
            ((999998, 999999), "numbers 999998, 999999: nothing was moved"),
            ((numbers[0], 999999), "number 999999: only the others were moved"),
            (numbers, None)):
        done = t.run(t.tally(), "record", "-q", "--why", "--move",
                     f"4096:64:{','.join(map(str, objects))}", "-m",
                     "host-model", "-o", folder / "moved.data", "--",
                     t.guest("why.x86_64"), "columns")
        t.equal(done.returncode, 0, done.stderr)
        t.equal(done.stderr, "" if said is None else
                f"tally record: --move: no object of the program has the {said}; "
                "'numbers' in tally memory --json has an object's\n", objects)


@t.named("what reads its input is tried with the same input")
def read_again():
    path = folder / "input"
    path.write_text("columns")
    script = f"read form; exec {t.guest('why.x86_64')} $form"
    with open(path, encoding="utf-8") as read:
        done = memory("--what-if", "-j", "--", "/bin/sh", "-c", script,
                      stdin=read)
    t.equal(done.returncode, 0, done.stderr)


@t.named("an atomic of a threaded program is a load and a store")
def atomics():
    o = named(why(2, 2000, program="share"), "counter", "share")
    t.equal((o["counts"]["loads"], o["counts"]["stores"]), (4001, 4000))


@t.named("counters in lines of their own are not shared")
def padded():
    found = shared("own", 4, 1000)
    adds_up(found)
    o = named(found, "shared", "sharers")
    t.equal(counts_of(o, "coherence"), (0,))
    t.equal(o["shared"], [])
    assert not [f for f in found["findings"] if "shar" in f["kind"]], (
        found["findings"])


@t.named("misses of less than 1 of 1,000 accesses are no finding")
def few():
    found = shared("own", 2, 100000)
    counts = found["counts"]
    assert 1000 * sum(counts_of(found, "load", "store")) < (
        counts["loads"] + counts["stores"]), counts
    t.equal(found["findings"], [])
    done = memory("--top", 1, "--", t.guest("sharers.x86_64"), "own", 2, 100000)
    t.contains(done.stderr, "nothing stands out: no object has misses of one "
                            "class in more than 1 of 1,000\n accesses\n")


@t.named("8 threads that take turns: two runs say the same")
def repeats():
    runs = [why("line", 8, 200, program="sharers", options=TURNS)
            for _ in range(2)]
    adds_up(runs[0])
    for name in runs[0]:
        assert runs[0][name] == runs[1][name], name
    t.equal(runs[0]["repeats"], True)


@t.named("threads side by side: JSON says that another run may differ")
def beside():
    kept = folder / "beside.data"
    found = why("line", 2, 10, program="sharers",
                options=("--parallel", "--record", kept))
    t.equal(found["repeats"], False)
    done = t.run(t.tally(), "report", "-j", "-i", kept)
    t.equal(json.loads(done.stdout)["repeats"], False, "report")
    done = t.run(t.tally(), "report", "-j", "-i", recorded("columns"))
    t.equal(json.loads(done.stdout)["repeats"], True, "report")


@t.named("a record says the same as the run, from a file and from a pipe")
def records():
    found = why("columns")
    path = recorded("columns")
    again = json.loads(t.run(t.tally(), "memory", "-i", path, "-j").stdout)
    assert again == found, "the record says otherwise"
    with open(path, "rb") as file:
        piped = t.run(t.tally(), "memory", "-i", "-", "--json", stdin=file)
    t.equal((piped.returncode, piped.stderr), (0, ""))
    assert json.loads(piped.stdout) == found, "the pipe says otherwise"
    kept = folder / "kept.data"
    done = memory("-j", "-o", folder / "kept.json", "--record", kept, "--",
                  t.guest("why.x86_64"), "columns")
    t.equal((done.returncode, done.stdout, done.stderr), (0, "done\n", ""))
    assert json.loads((folder / "kept.json").read_text()) == found
    shutil.copy(kept, folder / "tally.data")
    done = t.run(t.tally(), "memory", "-j", cwd=folder)
    assert json.loads(done.stdout) == found, "tally.data says otherwise"
    done = t.run(t.tally(), "report", "--by", "object", "-i", kept)
    t.equal(done.returncode, 0, done.stderr)


@t.named("the report of a run goes to stderr, and with -o to a file")
def places():
    done = memory("--", t.guest("why.x86_64"), "columns")
    t.equal((done.returncode, done.stdout), (0, "done\n"))
    path = folder / "report.txt"
    written = memory("-o", path, "--", t.guest("why.x86_64"), "columns")
    t.equal((written.stdout, written.stderr), ("done\n", ""))
    assert path.read_text() == done.stderr, written.stderr
    from_record = t.run(t.tally(), "memory", "-i", recorded("columns"))
    t.equal(from_record.stderr, "")
    assert from_record.stdout == done.stderr, from_record.stdout


@t.named("the text has the figures")
def text():
    out = t.run(t.tally(), "memory", "-i", recorded("columns")).stdout
    for wanted in ("Why data missed the L1 data cache of host-model: 32 KiB, "
                   "8 ways, lines of 64 bytes",
                   "matrix in why.x86_64: 7,168 conflict misses",
                   "strided +4096", "go_by_columns (why.c:",
                   "matrix in why.x86_64  <-  itself in go_by_columns",
                   "9 of 10 conflict misses are in 58 of 64 sets",
                   "< 1 KiB"):
        t.contains(re.sub(r"\s*\n\s+", " ", out) if "conflict misses" in wanted
                   else out, wanted)


@t.named("a record that is cut short is called partial")
def cut():
    path = folder / "cut.data"
    path.write_bytes(recorded("columns").read_bytes()[:-1])
    done = t.run(t.tally(), "memory", "-i", path)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stdout, ", partial\n the record is cut short\n")
    found = json.loads(t.run(t.tally(), "memory", "-j", "-i", path).stdout)
    t.equal((found["standing"], found["cut"]), ("partial", True))


@t.named("with --parallel the text says that another run differs")
def parallel():
    done = memory("--parallel", "--", t.guest("sharers.x86_64"), "line", 2, 1000)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "side by side: another run may differ")


@t.named("--top bounds tables, and 0 shows all rows")
def top():
    path = recorded("columns")
    rows = {n: t.run(t.tally(), "memory", "-i", path, "--top", n).stdout
            for n in ("0", "1", "10")}
    assert "more; --top 0 shows all" in rows["1"], rows["1"]
    assert "more; --top 0" not in rows["0"], rows["0"]
    sizes = [len(rows[n].splitlines()) for n in ("1", "10", "0")]
    t.equal(sizes, sorted(sizes))
    done = t.run(t.tally(), "memory", "-i", path, "--top", "x")
    t.equal((done.returncode, done.stdout), (2, ""))
    t.equal(done.stderr.count("\n"), 1, done.stderr)
    t.contains(done.stderr, "0 for all")


@t.named("CSV: a row for each object")
def table():
    found = why("columns")
    path = recorded("columns")
    for options, separator in ((("--format", "csv"), ","), (("-x", ";"), ";"),
                               (("-x", "\\t"), "\t")):
        done = t.run(t.tally(), "memory", "-i", path, *options)
        t.equal(done.returncode, 0, done.stderr)
        rows = list(csv.DictReader(io.StringIO(done.stdout),
                                   delimiter=separator))
        t.equal(len(rows), len(found["objects"]))
        for r, o in zip(rows, found["objects"]):
            t.equal((r["object"], int(r["conflict_misses"]),
                     int(r["bytes_used"])),
                    (o["name"], o["counts"]["conflict_misses"],
                     o["bytes_used"]))


@t.named("the program's exit status is passed on")
def status():
    for options in ((), ("--record", folder / "status.data")):
        for wanted in (1, 2, 7, 125, 127):
            done = memory(*options, "--", t.guest("why.x86_64"), "status",
                          wanted)
            t.equal(done.returncode, wanted)
            t.contains(done.stderr, "matrix in why.x86_64")
    done = memory("--", t.guest("why.x86_64"), "killed")
    t.equal(done.returncode, 137)
    t.contains(done.stderr, "\n the program was killed by SIGKILL\n")
    found = why("killed", status=137)
    t.equal(counts_of(named(found, "matrix"), "conflict"), (7168,))
    adds_up(found)


@t.named("what cannot run says so in one line, and leaves no report")
def missing():
    old = folder / "old.data"
    shutil.copy(recorded("columns"), old)
    for words, wanted in ((("--", folder / "none"), 127),
                          (("--", "/etc/passwd"), 126),
                          (("--record", old, "--", folder / "none"), 127),
                          (("--record", old, "--level", "l5",
                            "--", t.guest("why.x86_64")), 2),
                          (("--record", folder / "no" / "x", "--",
                            t.guest("why.x86_64")), 2),
                          (("--from", "none", "--", t.guest("why.x86_64")), 2)):
        done = memory(*words, settings=[])
        t.equal((done.returncode, done.stdout), (wanted, ""), done.stderr)
        t.equal(done.stderr.count("\n"), 1, done.stderr)


# An L1 data cache that has none of the lines of a matrix's column again; and the
# cache of SETTINGS behind it.
TINY = [o for s in ("l1d.size=4K", "l1d.ways=1", "l1d.line=64")
        for o in ("--set", s)]


def behind(*levels):
    """Settings of caches, from the L2 on: the last is that of SETTINGS."""
    sizes = {level: ("4K", 1) for level in levels[:-1]}
    sizes[levels[-1]] = ("32K", 8)
    words = [f"{level}.{key}={value}" for level, (size, ways) in sizes.items()
             for key, value in (("size", size), ("ways", ways), ("line", 64))]
    return [*TINY, *(o for w in words for o in ("--set", w))]


@t.named("the L2, the L3 and the L4 miss what the L1 data cache would")
def levels():
    """What comes through tiny caches in front is all that the program loads of the
    matrix, so that a cache behind them has the misses that columns() has."""
    for names in (("l2",), ("l2", "l3"), ("l2", "l3", "l4")):
        found = why("columns", options=("--level", names[-1]),
                    settings=behind(*names))
        adds_up(found)
        t.equal((found["level"], found["cache_bytes"], found["cache_ways"],
                 found["cache_line"]), (names[-1], 32768, 8, 64))
        assert "l1d_bytes" not in found
        matrix = named(found, "matrix")
        t.equal(counts_of(matrix, "load", "store", "first_touch", "conflict",
                          "capacity", "coherence"), (8192, 0, 1024, 7168, 0, 0))
        t.equal(matrix["conflict_misses_by_set"], 64 * [112])
        t.equal(matrix["reuse"], [0, 0, 0, 0, 7168])
        t.equal(driven(matrix), {("matrix in why.x86_64", "go_by_columns",
                                  marked("columns")): (0, 7168)})
        t.equal((matrix["bytes_fetched"], matrix["bytes_used"]),
                (8192 * 64, 8192 * 8))
        t.equal(findings(found)[matrix["name"], "conflict"]["misses"], 7168)


@t.named("an L3 that fills from victims has the misses of both together")
def exclusive():
    """The 16 lines that columns() has in a set: one is in the L2, and the L3 has a
    way for each other, or lacks one. Taking in each line, it lacks one too."""
    for fill, ways, misses in (("victims", 15, 1024), ("victims", 14, 8192),
                               ("misses", 15, 8192), ("misses", 16, 1024)):
        sizes = [f"l3.fill={fill}", f"l3.ways={ways}", f"l3.size={4 * ways}K"]
        found = why("columns", options=("--level", "l3"),
                    settings=[*behind("l2", "l3"),
                              *(o for s in sizes for o in ("--set", s))])
        adds_up(found)
        matrix = named(found, "matrix")
        t.equal(counts_of(matrix, "load", "store", "first_touch", "conflict",
                          "capacity", "coherence"),
                (misses, 0, 1024, misses - 1024, 0, 0), f"{fill} {ways}")
        if misses > 1024:
            t.equal(driven(matrix), {("matrix in why.x86_64", "go_by_columns",
                                      marked("columns")): (0, 7168)})
            t.equal(matrix["conflict_misses_by_set"], 64 * [112])


@t.named("the L2s of cores lose the lines that their L1 data caches lose")
def shared_behind():
    l2 = ["--set", "l2.shared=core", "--set", "l2.line=64"]
    for what in ("line", "same"):
        one = why(what, 2, 500, program="sharers", options=TURNS,
                  settings=[*SETTINGS, *l2])
        two = why(what, 2, 500, program="sharers",
                  options=[*TURNS, "--level", "l2"], settings=[*SETTINGS, *l2])
        adds_up(two)
        a, b = (named(f, "shared", "sharers") for f in (one, two))
        assert a["counts"]["coherence_misses"] >= 990, a["counts"]
        for key in ("coherence_misses", "false_sharing_misses"):
            t.equal(a["counts"][key], b["counts"][key], key)
        t.equal(a["shared"], b["shared"])


# Of each machine: its program's instruction set, levels, and what `columns` misses
# there of the matrix (misses, first touches, conflict misses), as arithmetic says:
# 64 KB of 16 rows, 4 KB apart, read by columns of 8 bytes. Lines of 16, 32 or 64
# bytes have 2, 4 or 8 numbers; 16 rows are more than the ways of a set.
MACHINES = (
    ("ultrasparc-t1", "sparc64", {"l1d": (8192, 4096, 4096),
                                  "l2": (1024, 1024, 0)}),
    ("ultrasparc-t2", "sparc64", {"l1d": (8192, 4096, 4096),
                                  "l2": (1024, 1024, 0)}),
    ("ultrasparc-t2plus", "sparc64", {"l1d": (8192, 4096, 4096),
                                      "l2": (1024, 1024, 0)}),
    ("sparc-t4", "sparc64", {"l1d": (8192, 2048, 6144),
                             "l2": (2048, 2048, 0), "l3": (1024, 1024, 0)}),
    ("r10000", "mips64", {"l1d": (8192, 2048, 6144), "l2": (512, 512, 0)}),
    ("r12000", "mips64", {"l1d": (8192, 2048, 6144), "l2": (512, 512, 0)}),
    ("montecito", "x86_64", {"l1d": (8192, 1024, 7168), "l2": (512, 512, 0),
                             "l3": (512, 512, 0)}),
)


@t.named("each machine's levels miss what arithmetic says")
def machines():
    for machine, isa, levels in MACHINES:
        # As tally count has the misses; a recording changes the environment.
        counted = {"l1d": "L1-dcache-load-misses",
                   max(levels): "LLC-load-misses"}
        for level, expected in levels.items():
            path = folder / f"{next(number)}.json"
            words = ["-m", machine, "--clean-env",
                     *(["--foreign"] if isa == "x86_64" else [])]
            program = [t.guest(f"why.{isa}"), "columns"]
            done = memory("-j", "-o", path, "--level", level, *words, "--",
                          *program, settings=())
            t.equal((done.returncode, done.stderr), (0, ""), machine)
            found = json.loads(path.read_text())
            adds_up(found)
            matrix = next(o for o in found["objects"]
                          if o["name"] == f"matrix in why.{isa}")
            t.equal(counts_of(matrix, "load", "first_touch", "conflict"),
                    expected, f"{machine} {level}")
            t.equal(counts_of(matrix, "store", "capacity", "coherence"),
                    (0, 0, 0), f"{machine} {level}")
            if machine != "montecito" and level in counted:
                c = t.Count([*words, "-e", counted[level]], program)
                misses = sum(e["value"] for e in c.json["events"])
                assert abs(found["counts"]["load_misses"] - misses) < 10, (
                    machine, level, misses)


@t.named("nodes take lines from each other's L2s, cores on a bus of each other")
def other_coherence():
    for machine, isa, level in (("ultrasparc-t2plus", "sparc64", "l2"),
                                ("sparc-t4", "sparc64", "l2"),
                                ("montecito", "x86_64", "l3")):
        path = folder / f"{next(number)}.json"
        done = memory("-j", "-o", path, "--level", level, "-m", machine,
                      "--foreign", *TURNS, "--set", "place.threads=spread",
                      "--", t.guest(f"sharers.{isa}"), "line", 2, 500,
                      settings=())
        t.equal((done.returncode, done.stderr), (0, ""), machine)
        found = json.loads(path.read_text())
        adds_up(found)
        o = next(o for o in found["objects"]
                 if o["name"] == f"shared in sharers.{isa}")
        rows = {(s["thread"], s["stored_by"]): s for s in o["shared"]}
        for thread, other in ((1, 2), (2, 1)):
            s = rows[thread, other]
            assert s["false_sharing_misses"] >= 490, (machine, s)
            # The counters begin a line of 64 bytes, which may be half of one.
            t.equal([b % 64 for b in s["bytes"]],
                    list(range(8 * (thread - 1), 8 * thread)))
            t.equal([b % 64 for b in s["stored_bytes"]],
                    list(range(8 * (other - 1), 8 * other)))


@t.named("levels that are not there are refused in one line")
def refused():
    program = t.guest("why.x86_64")
    for words, said in ((("-m", "fake", "--foreign", "--level", "l3"),
                         "--level l3: the machine has no L3"),
                        (("--level", "l5"), "--level l5: the machine has no L5"),
                        (("--level", "l1i"), "--level 'l1i': l1d, l2, l3"),
                        (("--level", "stack"), "--level 'stack': l1d, l2, l3")):
        for command in (("memory",), ("record", "--why")):
            done = t.run(t.tally(), *command, *words,
                         *([] if "-m" in words else ["-m", "host-model"]),
                         "--", program, "columns", cwd=folder)
            t.equal((done.returncode, done.stdout), (2, ""), done.stderr)
            t.equal(done.stderr.count("\n"), 1, done.stderr)
            t.contains(done.stderr, said)
    for words, said in ((("memory", "--what-if", "--level", "l2"),
                         "--what-if tries the L1 data cache alone"),
                        (("record", "-m", "host-model", "--why", "--level", "l2",
                          "--move", "4096:64:1"),
                         "--move moves data for the L1 data cache of host-model"),
                        (("record", "--level", "l2"), "needs --why")):
        done = t.run(t.tally(), *words, "--", program, "columns", cwd=folder)
        t.equal((done.returncode, done.stdout), (2, ""), done.stderr)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        t.contains(done.stderr, said)


@t.named("a function that the program lacks ends each command with status 2")
def no_function():
    for command in (("count",), ("record",), ("memory",), ("locks",)):
        for option in ("--from=nosuch", "--to=nosuch", "--filter=code=nosuch"):
            done = t.run(t.tally(), *command, option, "--",
                         t.guest("why.x86_64"), "columns", cwd=folder)
            t.equal((done.returncode, done.stdout), (2, ""),
                    f"{command} {option}: {done.stderr!r}")
            t.equal(done.stderr.count("\n"), 1, done.stderr)
            t.contains(done.stderr, "no function 'nosuch'")


@t.named("what recording refuses begins with the command that was typed")
def typed():
    for command in ("record", "memory", "locks"):
        for words in (("--skip", "x"), ("--filter", "data=x"),
                      ("--quantum", 0)):
            done = t.run(t.tally(), command, *words, "--",
                         t.guest("why.x86_64"), "columns", cwd=folder)
            t.equal((done.returncode, done.stdout), (2, ""), done.stderr)
            t.equal(done.stderr.startswith(f"tally {command}: --"), True,
                    done.stderr)
            t.equal(done.stderr.count("\n"), 1, done.stderr)


@t.named("command lines and records that do not fit are refused in one line")
def usage():
    program = t.guest("why.x86_64")
    plain = folder / "plain.data"
    t.equal(t.run(t.tally(), "record", "-q", "-m", "host-model", "-o", plain,
                  "--", program, "columns").returncode, 0)
    for words, said in (
            (("-i", plain), f"{plain} does not say why data missed: record it "
             "with tally record --why"),
            (("-i", plain, "--", program), "and runs no program"),
            (("-i", plain, "-i", plain), "one record is read"),
            (("-m", "host-model"), "--machine needs a program to run"),
            (("--set", "l1d.size=32K"), "--set needs a program to run"),
            (("--record", "x"), "--record needs a program to run"),
            (("--what-if",), "--what-if needs a program to run"),
            (("--record", "", "--", program), "takes a file's name"),
            (("--format", "xml", "--", program), "xml"),
            (("-m", "none", "--", program), "none")):
        done = t.run(t.tally(), "memory", *words, cwd=folder)
        t.equal((done.returncode, done.stdout), (2, ""), done.stderr)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        t.contains(done.stderr, said)
    done = t.run(t.tally(), "record", "--why", "--no-callers", "--", program,
                 cwd=folder)
    t.equal(done.returncode, 2)
    t.contains(done.stderr, "--why tells heap blocks")


@t.named("a report is not written over its record, nor after a run for nothing")
def outputs():
    program = t.guest("why.x86_64")
    path = folder / "over.data"
    shutil.copy(recorded("columns"), path)
    link = folder / "over.link"
    link.symlink_to(path)
    before = path.read_bytes()
    kept = folder / "never.data"
    pipe = folder / "pipe"
    os.mkfifo(pipe)
    for words, said in ((("-i", path, "-o", link), "replace the record itself"),
                        (("--record", kept, "-o", kept, "--", program),
                         "replace the record itself"),
                        (("--record", f"{folder}/./never.data", "-o", kept,
                          "--", program), "replace the record itself"),
                        (("--record", path, "-o", link, "--", program),
                         "replace the record itself"),
                        (("--record", pipe, "--", program), "takes a regular file"),
                        (("--record", "-", "--", program), "takes a regular file"),
                        (("-o", folder / "no" / "x", "--", program),
                         "No such file"),
                        (("-o", folder, "--", program), "Is a directory")):
        done = t.run(t.tally(), "memory", *words)
        t.equal((done.returncode, done.stdout), (2, ""), done.stderr)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        t.contains(done.stderr, said)
    t.equal(path.read_bytes(), before)
    assert not kept.exists(), "a record was written"


@t.named("a report that cannot be written is no success")
def unwritten():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = t.run(t.tally(), "memory", "-i", recorded("columns"),
                     stdout=full, stderr=subprocess.DEVNULL)
        t.equal(done.returncode, 125)
        done = memory("--", t.guest("why.x86_64"), "columns", stdout=subprocess.DEVNULL,
                      stderr=full)
        t.equal(done.returncode, 125)


@t.named("a forked child and a program that is executed")
def processes():
    """The child's caches are cold, and its reasons its own."""
    for form in ("fork", "exec"):
        found = why(form, options=TURNS)
        adds_up(found)
        matrix = named(found, "matrix")
        t.equal(counts_of(matrix, "load", "first_touch", "conflict"),
                (8192, 1024, 7168), form)
        t.equal(matrix["conflict_misses_by_set"], 64 * [112], form)
        t.equal(driven(matrix), {("matrix in why.x86_64", "go_by_columns",
                                  marked("columns")): (0, 7168)}, form)
        line = row(found, "columns", "go_by_columns")
        t.equal((line["addresses"], line["stride"]), ("strided", 4096), form)


@t.named("the machine is host-model, also for programs of other processors")
def foreign():
    program = t.guest("why.sparc64")
    done = memory("--", program, "columns", settings=[])
    t.equal((done.returncode, done.stdout), (2, ""))
    t.equal(done.stderr.count("\n"), 1, done.stderr)
    t.contains(done.stderr, "host-model runs x86_64; --foreign runs it")
    path = folder / f"{next(number)}.json"
    done = memory("-j", "-o", path, "--foreign", "--", program, "columns")
    t.equal((done.returncode, done.stdout), (0, "done\n"), done.stderr)
    found = json.loads(path.read_text())
    adds_up(found)
    matrix = next(o for o in found["objects"]
                  if o["name"] == "matrix in why.sparc64")
    t.equal(counts_of(matrix, "load", "first_touch", "conflict"),
            (8192, 1024, 7168))
    t.equal((matrix["bytes_used"], matrix["reuse"]),
            (8192 * 8, [0, 0, 0, 0, 7168]))


@t.named("objects have each instruction once, in however many pieces it comes")
def whole():
    found = why(program="states", options=["--clean-env"])
    adds_up(found)
    sums = {o["name"]: (o["counts"]["loads"], o["counts"]["stores"])
            for o in found["objects"] if "states" in o["name"]}
    t.equal(sums, {"legacy in states.x86_64": (100, 100),
                   "state in states.x86_64": (200, 100),
                   "left in states.x86_64": (0, 1),
                   "right in states.x86_64": (0, 0),
                   "other data of states.x86_64": (0, 0)})
    patterns = {o["worst_line"]["addresses"] for o in found["objects"]
                if o["name"].startswith(("legacy", "state "))}
    t.equal(patterns, {"same address"})
    path = folder / f"{next(number)}.json"
    done = memory("-m", "sparc-t4", "-j", "-o", path, "--clean-env", "--",
                  t.guest("bulk_loads.sparc64"), settings=[])
    t.equal((done.returncode, done.stderr), (0, ""))
    adds_up(json.loads(path.read_text()))


@t.named("with a victim cache the classes still add up")
def victim():
    found = why("pair", settings=[*SMALL, "--set", "l1d.victim=4"])
    n = found["counts"]
    t.equal(sum(n[f"{c}_misses"] for c in CLASSES),
            n["load_misses"] + n["store_misses"])
    t.equal(counts_of(named(found, "left"), "conflict"), (0,))


def main():
    global folder
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        t.main()


main()
