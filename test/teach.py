#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally teach: teach.py BUILD [WORD]

The steps of kernels whose sets, counters and cycles follow from arithmetic; what
steps add up to is what tally count has; what cannot be told is refused in one line.
"""
import collections
import itertools
import json
import pathlib
import struct
import tempfile

import tallytest as t

WHY = [o for s in ("size=32K", "ways=8", "line=64")
       for o in ("--set", f"l1d.{s}")]

folder = None
number = itertools.count()


def teach(*words, **how):
    return t.run(t.tally(), "teach", *words, **how)


def cache(size, ways, line=16):
    return [o for s in (f"size={size}", f"ways={ways}", f"line={line}")
            for o in ("--set", f"l1d.{s}")]


def document(*words):
    """The JSON of steps."""
    path = folder / f"{next(number)}.json"
    done = teach("--json", "-o", path, *words)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return json.loads(path.read_text())


def lab(lines, name="a.trace"):
    """A trace of the cache lab, as text."""
    path = folder / f"{next(number)}-{name}"
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def steps_of(lines, *options):
    return document(*options, lab(lines))["steps"]


def set_of(places):
    """The lines of a set, without empty places."""
    return [p["line"] for p in places if p is not None]


@t.named("two lines that share a set of one line drive each other out")
def direct_mapped():
    """16 sets of one line of 16 bytes: 0x10 and 0x110 are in set 1."""
    found = document(*cache(256, 1), lab([" L 10,4", " L 110,4"] * 3))
    level = found["level"]
    t.equal((level["sets"], level["ways"], level["set_bits"],
             level["offset_bits"]), (16, 1, 4, 4))
    t.equal(found["imported"], "cachelab")
    t.equal(len(found["steps"]), 6)
    for i, s in enumerate(found["steps"]):
        own, other = (0x10, 0x110) if i % 2 == 0 else (0x110, 0x10)
        t.equal((s["tag"], s["set"], s["offset"]), (own >> 8, 1, 0))
        t.equal((s["hit"], s["class"]),
                (False, "first touch" if i < 2 else "conflict"), i)
        t.equal(set_of(s["before"]), [other] if i > 0 else [])
        t.equal(set_of(s["after"]), [own])
        t.equal(s["evicted"], other if i > 0 else None)
        if i >= 2:
            t.contains(s["reason"], f"step {i} drove the line out")


@t.named("a set of two lines keeps the one that was used last")
def least_recent():
    """A B A C B: C drives out B, as A was used since; B then drives out A."""
    a, b, c = 0x0, 0x100, 0x200
    found = steps_of([f" L {x:x},1" for x in (a, b, a, c, b)], *cache(512, 2))
    t.equal([s["hit"] for s in found], [False, False, True, False, False])
    t.equal([set_of(s["after"]) for s in found],
            [[a], [b, a], [a, b], [c, a], [b, c]])
    t.equal([s["evicted"] for s in found], [None, None, None, b, a])
    t.contains(found[2]["reason"], "step 1 used the line last")


@t.named("a cache that forgets the oldest line forgets one that is in use")
def first_in():
    a, b, c = 0x0, 0x100, 0x200
    found = document("--set", "l1d.replacement=fifo", *cache(512, 2),
                     lab([f" L {x:x},1" for x in (a, b, a, c)]))
    t.equal(found["level"]["order"], "age")
    t.equal([s["evicted"] for s in found["steps"]], [None, None, None, a])


@t.named("a capacity miss is one that a fully associative cache has too")
def capacity():
    """4 lines in all, in 4 sets; 5 lines one after the other, twice: the LRU
    distance of each is 5, more than 4."""
    found = steps_of([f" L {16 * (i % 5):x},1" for i in range(10)],
                     *cache(64, 1))
    t.equal([s["class"] for s in found[:5]], ["first touch"] * 5)
    # Lines 0 and 4 share set 0; 1 to 3 have a set of their own.
    t.equal([s["hit"] for s in found[5:]], [False, True, True, True, False])
    t.equal([s["class"] for s in found[5:]],
            ["capacity", None, None, None, "capacity"])


@t.named("an access that crosses lines is a step for each; a modify is two")
def split():
    """As the cache lab has it sizes do not count: a lackey file has them."""
    source = lab(["I  1000,4", " L 1e,4", " S 10,1", " M 20,1"], "x.lackey")
    path = folder / "split.trace"
    done = t.run(t.tally(), "trace", "import", "--as", "lackey", "-o", path,
                 source)
    t.equal(done.returncode, 0, done.stderr)
    found = document(*cache(256, 1), path)["steps"]
    t.equal([(s["kind"], s["address"], s["second"], s["line"], s["offset"],
              s["hit"]) for s in found],
            [("load", 0x1e, False, 0x10, 14, False),
             ("load", 0x1e, True, 0x20, 0, False),
             ("store", 0x10, False, 0x10, 0, True),
             ("load", 0x20, False, 0x20, 0, True),
             ("store", 0x20, False, 0x20, 0, True)])


@t.named("the state after a step is the one before the set's next step")
def chained():
    found = document("--in", "go_by_columns", "--steps", 2000, *WHY,
                     t.guest("why.x86_64"), "columns")["steps"]
    last = {}
    for s in found:
        if s["set"] in last:
            t.equal(s["before"], last[s["set"]])
        last[s["set"]] = s["after"]
        t.equal(s["hit"], s["line"] in set_of(s["before"]))
        assert s["line"] in set_of(s["after"])


@t.named("a matrix by columns: 16 lines go through a set of 8")
def columns():
    """test/at.py has the arithmetic: 16 rows of 4 KB share a set, and 8 columns
    a line."""
    found = document("--in", "go_by_columns", *WHY, t.guest("why.x86_64"),
                     "columns")
    loads = [s for s in found["steps"] if s["kind"] == "load" and not s["hit"]]
    first = loads[0]["address"]
    for n, s in enumerate(loads[:500]):
        column, row = n // 16, n % 16
        t.equal(s["address"], first + 4096 * row + 8 * column)
        t.equal(s["class"], "conflict" if column % 8 else "first touch")
        if column % 8:
            t.equal(s["evicted"], (s["line"] - 8 * 4096 if row >= 8 else
                                   s["line"] + 8 * 4096), n)
    place = found["places"][loads[0]["place"]]
    t.equal(place["function"], "go_by_columns")
    t.equal(pathlib.Path(place["file"]).name, "why.c")
    assert place["source"] and place["text"], place


@t.named("all steps of a run have the misses that tally count has")
def whole():
    """Of machines with stores that allocate and that go through, of the L1 data
    cache and of the L2; loads alone."""
    for program, machine, level, settings, event in (
            ("splits.x86_64", "host-model", "l1d", WHY, "L1-dcache-load-misses"),
            ("access.x86_64", "montecito", "l1d", ["--foreign"],
             "L1-dcache-load-misses"),
            ("chase_ways.sparc64", "ultrasparc-t2", "l1d", [], "DC_miss"),
            ("chase_ways.sparc64", "ultrasparc-t2", "l2", [], "L2_dmiss_ld")):
        settings = ["-m", machine, *settings, "--clean-env"]
        done = t.run(t.tally(), "count", *settings, "-j", "-o",
                     folder / "count.json", "-e", event, "--", t.guest(program))
        t.equal(done.returncode, 0, done.stderr)
        counted = json.loads((folder / "count.json").read_text())
        found = document("--level", level, "--steps", 20000, *settings,
                         t.guest(program))
        t.equal(found["part"]["ended"], "program")
        t.equal(sum(s["hit"] is False and s["kind"] == "load"
                    for s in found["steps"]), counted["events"][0]["value"],
                f"{event} of {program} on {machine}")


@t.named("stores that go through the L1 data cache have neither hit nor miss")
def through():
    """test/guest/access.c: half of the accesses are stores."""
    found = document("-m", "montecito", "--foreign", "--clean-env", "--steps",
                     20000, t.guest("access.x86_64"))["steps"]
    for s in found:
        t.equal(s["hit"] is None, s["kind"] == "store")


@t.named("the L2 is asked for what misses the L1 data cache alone")
def behind():
    settings = [*cache(1024, 1, 64), "--set", "l2.size=4K", "--set",
                "l2.ways=2"]
    lines = [" L 40,1", " L 42,1", " L 440,1", " L 40,1"]
    found = document("--level", "l2", "-m", "ci-1", *settings, lab(lines))
    t.equal(found["level"]["name"], "l2")
    t.equal([(s["address"], s["hit"]) for s in found["steps"]],
            [(0x40, False), (0x440, False), (0x40, True)])


# Branches

def champsim(directions):
    """A trace with a branch at 0x1000 that goes as `directions` say, T and N,
    and its target at 0x2000, from which a jump leads back."""
    def record(pc, kind=None, taken=0):
        reads = {"conditional": (26, 25), "jump": (26,)}.get(kind, ())
        writes = (26,) if kind else ()
        return struct.pack("<QBB2B4B2Q4Q", pc, kind is not None, taken,
                           *(writes + (0, 0))[:2], *(reads + (0,) * 4)[:4],
                           0, 0, 0, 0, 0, 0)
    whole = b""
    for way in directions:
        whole += record(0x1000, "conditional", way == "T")
        at = 0x2000 if way == "T" else 0x1004
        whole += record(at) + record(at + 4, "jump", 1)
    source = folder / f"{next(number)}.champsim"
    source.write_bytes(whole + record(0x1000))
    path = source.with_suffix(".trace")
    done = t.run(t.tally(), "trace", "import", "--as", "champsim", "-o", path,
                 source)
    t.equal(done.returncode, 0, done.stderr)
    return path


def branches(directions, *options):
    found = document("--branches", "-m", "ci-1", *options, champsim(directions))
    return [s for s in found["steps"]
            if found["places"][s["place"]]["address"] == 0x1000]


@t.named("a counter of two bits on a loop that goes TTNTTN")
def counter():
    """It begins weakly not taken (1), goes up at T and down at N, from 0 to 3,
    and predicts taken from 2 on."""
    way = "TTN" * 6
    found = branches(way, "--set", "branch.predictor=bimodal")
    t.equal(len(found), len(way))
    value, history = 1, ""
    for s, went in zip(found, way):
        after = min(3, value + 1) if went == "T" else max(0, value - 1)
        t.equal((s["before"], s["after"]), (value, after))
        t.equal((s["predicted"], s["taken"]), (value >= 2, went == "T"))
        t.equal(s["wrong"], (value >= 2) != (went == "T"))
        assert s["history"].endswith(history[-16:]), (s["history"], history)
        value, history = after, history + went
    t.equal(len({s["index"] for s in found}), 1)
    # From the third round on one of three is wrong: T of 2, T of 3, N of 3.
    t.equal([s["wrong"] for s in found[6:9]], [False, False, True])


@t.named("gshare has a counter for each history, and learns TTNTTN")
def gshare():
    found = branches("TTN" * 20, "--set", "branch.predictor=gshare", "--set",
                     "branch.history=4", "--set", "branch.entries=64")
    t.equal([s["wrong"] for s in found[-12:]], [False] * 12)
    by_history = collections.defaultdict(set)
    for s in found:
        by_history[s["history"][-4:]].add(s["index"])
    t.equal({len(v) for v in by_history.values()}, {1})
    t.equal(len(set.union(*by_history.values())), len(by_history))


@t.named("a perceptron predicts by its sum, TAGE by an entry")
def longer():
    found = branches("TTN" * 40, "--set", "branch.predictor=perceptron")
    for s in found:
        t.equal(s["predicted"], s["sum"] >= 0)
    t.equal([s["wrong"] for s in found[-6:]], [False] * 6)
    found = branches("TTN" * 40, "--set", "branch.predictor=tage", "--set",
                     "branch.history=10")
    t.equal([s["wrong"] for s in found[-6:]], [False] * 6)
    assert any(s["table"] > 0 for s in found)
    for s in found:
        if s["table"] == 0:
            t.equal(s["predicted"], s["before"] >= 2)
            moved = s["after"] - s["before"]
            t.equal(moved, 0 if s["before"] == (3 if s["taken"] else 0) else
                    1 if s["taken"] else -1)


@t.named("wrong predictions of all branches are those that tally count has")
def all_branches():
    path = champsim("TNNTTTNTN" * 30)
    settings = ["-m", "ci-1", "--set", "branch.predictor=bimodal"]
    done = t.run(t.tally(), "count", *settings, "-j", "-o",
                 folder / "count.json", "-e", "branch-misses", path)
    t.equal(done.returncode, 0, done.stderr)
    counted = json.loads((folder / "count.json").read_text())
    found = document("--branches", *settings, path)
    t.equal(sum(s["wrong"] for s in found["steps"]),
            counted["events"][0]["value"])


# Bubbles

@t.named("cycles of the steps add up to those of the run")
def bubbles():
    """Of a whole run on Montecito, by each cause."""
    program = t.guest("bundles.x86_64")
    settings = ["-m", "montecito", "--clean-env", "--foreign"]
    found = document("--bubbles", "--steps", 20000, *settings, program)
    if found["part"]["ended"] != "program":
        raise t.Skip("the program has more blocks than a page")
    done = t.run(t.tally(), "count", *settings, "--accounting", "-j", "-o",
                 folder / "count.json", "--", program)
    t.equal(done.returncode, 0, done.stderr)
    whole = json.loads((folder / "count.json").read_text())[
        "accounting"]["lines"][0]["value"]
    t.equal(round(sum(s["cycles"] for s in found["steps"])), round(whole))
    for s in found["steps"]:
        t.equal(round(sum(p["cycles"] for p in s["parts"]), 6),
                round(s["cycles"], 6))
        assert all(p["instruction"] < s["instructions"] for p in s["parts"])


# Parts of a run

@t.named("--from, --to, --skip, --instructions and --steps bound the steps")
def parts():
    why = [*WHY, "--clean-env"]
    whole = document("--from", "main", *why, t.guest("why.x86_64"), "columns")
    first = whole["part"]["first_instruction"]
    t.equal((whole["part"]["ended"], len(whole["steps"])), ("steps", 1000))
    t.equal(whole["steps"][0]["instruction"] >= first, True)
    some = document("--from", "main", "--steps", 7, *why,
                    t.guest("why.x86_64"), "columns")
    t.equal(some["steps"], whole["steps"][:7])
    later = document("--skip", first - 1, "--steps", 7, *why,
                     t.guest("why.x86_64"), "columns")
    t.equal([s["address"] for s in later["steps"]],
            [s["address"] for s in some["steps"]])
    short = document("--from", "main", "--instructions", 40, *why,
                     t.guest("why.x86_64"), "columns")
    t.equal(short["part"]["ended"], "instructions")
    t.equal(short["steps"], whole["steps"][:len(short["steps"])])
    to = document("--from", "main", "--to", "go_by_columns", *why, "--steps",
                  20000, t.guest("why.x86_64"), "columns")
    assert to["part"]["ended"] in ("to", "steps"), to["part"]


@t.named("a trace of a program has the steps of the program")
def replayed():
    path = folder / "why.trace"
    why = [t.guest("why.x86_64"), "columns"]
    done = t.run(t.tally(), "trace", "record", "-q", "-o", path, "--clean-env",
                 "--", *why)
    t.equal(done.returncode, 0, done.stderr)
    options = ["--in", "go_by_columns", "--steps", 300, *WHY]
    live = document(*options, "--clean-env", *why)
    again = document(*options, path)
    t.equal((live["replayed"], again["replayed"]), (False, True))
    t.equal([(s["address"], s["hit"]) for s in again["steps"]],
            [(s["address"], s["hit"]) for s in live["steps"]])
    t.equal(again["places"][again["steps"][0]["place"]]["function"],
            "go_by_columns")


# What is refused

@t.named("what cannot be told is refused in one line, and nothing is written")
def refused():
    out = folder / "no.html"
    good = lab([" L 10,1"])
    empty = lab([])
    for words, status, said in (
            (("--level", "l9", good), 2, "--level 'l9': l1d, l2, l3"),
            (("--level", "l2", "-m", "ci-1", "--set", "l2.size=0", "--set",
              "l3.size=0", good), 2, "no L2"),
            (("--branches", good), 2, "does not say which instructions are "
                                      "branches"),
            (("--bubbles", good), 2, "does not have what the instructions"),
            (("--from", "main", good), 2, "has no functions and lines"),
            (("--steps", "0", good), 2, "a number from 1 to 20000"),
            (("--steps", "20001", good), 2, "a number from 1 to 20000"),
            (("--skip", "x", good), 2, "a number from 1 to 9223372036854775807"),
            (("--level", "l1d", "--branches", good), 2, "one kind of steps"),
            (("--format", "pdf", good), 2, "pdf"),
            (("-m", "host", good), 2, "-m host"),
            (("-m", "nothing", good), 2, "nothing"),
            (("--from", "a", "--skip", "1", good), 2, "--from and --skip"),
            (("--in", "a", "--line", "a.c:1", good), 2, "--in and --line"),
            (("--skip", "10", good), 1, "ended before the steps"),
            ((empty,), 2, "and no trace"),
            ((folder / "none",), 127, ""),
            ((), 2, "a program or a trace is expected"),
            ((good, "x"), 2, "leave x away")):
        done = teach("-o", out, *words)
        t.equal((done.returncode, done.stdout), (status, ""),
                f"{words}: {done.stderr}")
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        assert not out.exists(), words


@t.named("a trace with a line that cannot be, or that is no trace, is refused")
def bad_traces():
    out = folder / "no.html"
    for lines, said in (([" L 10,1", " X 20"], "2"), ([" L 10,1", "?"], "2"),
                        (["hello"], "is no program, as it is not executable, and no "
                                    "trace"), ([" L 10"], "and no trace")):
        done = teach("-o", out, lab(lines))
        t.equal((done.returncode, done.stdout), (2, ""), done.stderr)
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        assert not out.exists()


@t.named("an output that cannot be written is told; a page that was stays")
def outputs():
    good = lab([" L 10,1"])
    done = teach("-o", folder / "none" / "x.html", good)
    t.equal((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)
    done = teach("-o", "/dev/full", good)
    t.equal((done.returncode, done.stderr.count("\n")), (125, 1), done.stderr)
    kept = folder / "kept.html"
    kept.write_text("as it was")
    done = teach("--level", "l9", "-o", kept, good)
    t.equal((done.returncode, kept.read_text()), (2, "as it was"))


@t.named("without -o the page is teach.html, and JSON goes to standard error")
def names():
    place = folder / "names"
    place.mkdir()
    good = lab([" L 10,1"])
    done = teach(good, cwd=place)
    t.equal((done.returncode, done.stdout, done.stderr),
            (0, "", "tally: 1 step: teach.html\n"))
    t.contains((place / "teach.html").read_text(), "<title>tally teach</title>")
    done = teach("--json", good, cwd=place)
    t.equal((done.returncode, done.stdout), (0, ""))
    t.equal(json.loads(done.stderr)["what"], "sets")
    t.equal([p.name for p in place.iterdir()], ["teach.html"])


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
