#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally curve on whole programs: curves.py BUILD [WORD]

One run has the misses of many runs of tally count, each of another size.
"""
import csv
import io
import json
import re
import tempfile
import xml.etree.ElementTree

import kernels
import tallytest as t

LINE = 64


def arrays():
    return [t.guest("arrays.x86_64")]


def bzip2():
    return [t.guest("bzip2.x86_64"), "-9kc", *kernels.BZIP2]


def curve(*words, machine="host-model"):
    return t.run(t.tally(), "curve", "-m", machine, "--clean-env", "-o", "-",
                 *words)


def points(*words, **how):
    """The misses by size and ways (0: full associativity)."""
    done = curve("-j", *words, **how)
    t.equal(done.returncode, 0, done.stderr)
    # What the program writes comes first.
    report = json.loads(done.stdout[done.stdout.rindex('{\n  "schema"'):])
    return {(p["size"], p["ways"] or 0): p["misses"]
            for p in report["points"]}, report


def counted(sets, events, program):
    options = ["-m", "host-model", "--clean-env", "-e", ",".join(events)]
    for pair in sets:
        options += ["--set", pair]
    return sum(e["value"] for e in t.count(options, *program).json["events"])


def many_geometries():
    """A kernel in 73 geometries of the L1D: of one set, and of more."""
    lines = [2**i for i in range(9)] + [3 * 2**i for i in range(7)]
    sizes = ",".join(str(n * LINE) for n in sorted(lines))
    ways = ",".join(map(str, sorted(n for n in lines if n <= 64)))
    ours, _ = points("--sizes", sizes, "--", *arrays())
    of_sets, report = points("--sizes", sizes, "--ways", ways, "--", *arrays())
    # 64 sets and more cannot have 3 x 64 ways' sizes: those are named.
    t.contains(report["left_out"], "64 of 2 ways")
    ours.update({key: n for key, n in of_sets.items()})
    sweep = t.run(t.tally(), "sweep", "-m", "host-model", "--clean-env",
                  "--set", f"l1d.size={sizes}", "--set",
                  "l1d.ways=" + ",".join(map(str, sorted(lines))), "-e",
                  "L1-dcache-load-misses,L1-dcache-store-misses", "--format",
                  "json", "--", *arrays())
    compared = 0
    for point in json.loads(sweep.stdout)["points"]:
        if not point["possible"]:
            continue
        size = point["set"]["l1d.size"]
        size = int(size[:-1]) * 1024 if size[-1] == "K" else int(size)
        ways = int(point["set"]["l1d.ways"])
        wanted = sum(e["value"] for e in point["events"])
        full = size == ways * LINE
        if full:
            t.equal(ours[size, 0], wanted, f"{size} bytes")
        if ways <= 64:
            t.equal(ours[size, ways], wanted, f"{size} bytes, {ways} ways")
        compared += 1
    t.equal(compared, 73, "geometries")


# Levels: sizes, ways, events, and the settings of one size.
LEVELS = {
    "l1d": ("4K,24K,256K", "12", ["L1-dcache-load-misses",
                                  "L1-dcache-store-misses"]),
    "l1i": ("1K,2K", "2", ["L1-icache-load-misses"]),
    "l2": ("16K,64K", "8", ["l2-load-misses", "l2-store-misses",
                            "l2-fetch-misses"]),
    "l3": ("128K,256K", "16", ["cache-misses"]),
    "dtlb": ("16,100", "4", ["dTLB-load-misses", "dTLB-store-misses"]),
    "itlb": ("4,8", "2", ["iTLB-load-misses"]),
}
IN_FRONT = {"l3": ["l2.size=16K", "l2.ways=4"]}


def settings(level, size, ways):
    if level.endswith("tlb"):
        return [f"{level}.entries={size}", f"{level}.ways={ways}",
                f"{level}.replacement=lru"]
    return [f"{level}.size={size}", f"{level}.ways={ways or size // LINE}",
            *IN_FRONT.get(level, [])]


def real(level):
    """bzip2 in some sizes of a level, and in some of the fewest sets."""
    sizes, ways, events = LEVELS[level]
    options = ["--level", level]
    for pair in IN_FRONT.get(level, []):
        options += ["--set", pair]
    ours, _ = points(*options, "--sizes", sizes, "--", *bzip2())
    sets, _ = points(*options, "--ways", ways, "--", *bzip2())
    ours.update(sorted(sets.items())[:2])
    for (size, of), misses in ours.items():
        t.equal(misses, counted(settings(level, size, of), events, bzip2()),
                f"{level} of {size}, {of} ways")


def walk():
    """Two passes load 64 KB, 1,024 lines: each load of a line misses in less,
    and only the first time in more."""
    misses, report = points("--sizes", "4K..256K", "--", *arrays())
    few, many = misses[128 * 1024, 0], misses[32 * 1024, 0]
    assert 1000 < many - few < 1100, misses
    t.equal(report["first_touches"], misses[256 * 1024, 0], "first touches")


def sampled():
    """The exact misses of bzip2 lie in the intervals of samples."""
    exact, _ = points("--sizes", "32K..4M", "--", *bzip2())
    for share in ("1/2", "1/4", "1/16"):
        done, report = points("--sample", share, "--sizes", "32K..4M", "--",
                              *bzip2())
        t.equal(report["standing"], "estimated", share)
        inside = [p["at_least"] <= exact[p["size"], 0] <= p["at_most"]
                  for p in report["points"] if p["at_most"] is not None]
        assert len(inside) > 20, (share, inside)
        assert inside.count(False) <= len(inside) // 10, (share, inside)
        t.equal(done.keys(), exact.keys(), "sizes")


def through():
    """Stores of an UltraSPARC T2 pass its L1D: the loads are its accesses, and
    but for atomics, which take a line out, misses are those of tally count."""
    program = [t.guest("arrays.sparc64")]
    misses, report = points("--sizes", "64K", "--", *program,
                            machine="ultrasparc-t2")
    c = t.count(["-m", "ultrasparc-t2", "--clean-env", "-e",
                 "L1-dcache-load-misses,L1-dcache-loads", "--set",
                 "l1d.size=64K", "--set", "l1d.ways=4096", "--set",
                 "l1d.replacement=lru"], *program)
    theirs = {e["asked"]: e["value"] for e in c.json["events"]}
    assert 0 <= report["accesses"] - theirs["L1-dcache-loads"] < 50, report
    assert 0 <= (theirs["L1-dcache-load-misses"] - misses[65536, 0]) < 50, (
        misses, theirs)


def threads():
    """Two threads in turns have a core each, or two strands of one; no core
    takes a line from another."""
    program = [t.guest("crew.x86_64")]
    for more in ([], ["cores=1", "strands=2", "place.threads=pack"]):
        pairs = ["l1d.coherence=none", *more]
        options = [word for pair in pairs for word in ("--set", pair)]
        misses, report = points(*options, "--sizes", "4K,64K", "--", *program)
        t.contains(" ".join(report["notes"]), "threads ran in turns")
        sets, _ = points(*options, "--ways", "2", "--sizes", "4K", "--",
                         *program)
        for (size, ways), n in {**misses, **sets}.items():
            t.equal(n, counted([*settings("l1d", size, ways), *pairs],
                               LEVELS["l1d"][2], program),
                    f"{size} bytes, {ways} ways, {more}")
        code, _ = points(*options, "--level", "l1i", "--sizes", "1K", "--",
                         *program)
        t.equal(code[1024, 0],
                counted([*settings("l1i", 1024, 0), *pairs],
                        LEVELS["l1i"][2], program), f"code, {more}")


def processes():
    """A child of a fork counts on, with empty caches; and a program that it
    executes."""
    program = [t.guest("forker.x86_64"), "fork", t.guest("hello.x86_64")]
    misses, report = points("--sizes", "64K", "--", *program)
    t.equal(misses[65536, 0],
            counted(settings("l1d", 65536, 0), LEVELS["l1d"][2], program),
            "misses of all processes")
    t.contains(" ".join(report["notes"]), "process")


def names(part):
    return tuple(part["keys"].values())


# What parts are asked of: options and program. The parts of each add up.
DYNAMIC = ["uses.dyn.x86_64"]
ADDED = (
    (["--by", "object"], DYNAMIC),
    (["--by", "function"], DYNAMIC),
    (["--by", "line"], DYNAMIC),
    (["--by", "function,object"], DYNAMIC),
    (["--by", "object", "--ways", "2,4,8"], DYNAMIC),
    (["--by", "function", "--ways", "1,3,64"], DYNAMIC),
    (["--by", "object", "--sample", "1/4"], DYNAMIC),
    (["--by", "object", "--level", "l2", "--sizes", "16K..1M"], DYNAMIC),
    (["--by", "function", "--level", "l3", "--sizes", "256K,1M"], DYNAMIC),
    (["--by", "object", "--level", "dtlb", "--sizes", "2..64"], DYNAMIC),
    (["--by", "function", "--level", "l1i", "--sizes", "1K..64K"], DYNAMIC),
    (["--by", "image", "--level", "itlb", "--sizes", "1..16"], DYNAMIC),
    (["--by", "object", "--sizes", "64,128,4K"], ["arrays.x86_64"]),
    (["--by", "function"], ["crew.x86_64"]),
    (["--by", "object"], ["crew.x86_64"]),
    (["--by", "function"], ["forker.x86_64", "fork", "hello.x86_64"]),
    (["--by", "function", "-m", "ultrasparc-t2"], ["arrays.sparc64"]),
)


def by_csv(options, program):
    """The sums over the parts by size and ways, from a spreadsheet."""
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        machine = [] if "-m" in options else ["-m", "host-model"]
        done = t.run(t.tally(), "curve", *machine, "--clean-env", "--format",
                     "csv", "-o", f"{folder}/x.csv", *options, "--", *program)
        t.equal(done.returncode, 0, done.stderr)
        with open(f"{folder}/x.csv", encoding="utf-8") as table:
            for r in csv.DictReader(table):
                key = (int(r.get("bytes") or r["entries"]),
                       0 if r["ways"] == "full" else int(r["ways"]))
                sums[key] = sums.get(key, 0) + int(r["misses"])
    return sums


def sums():
    """At each size the parts add up to the whole, and first touches do."""
    for options, words in ADDED:
        program = [t.guest(w) if "." in w else w for w in words]
        whole, report = points(*options, "--", *program)
        t.equal(report["by"], options[1].split(","), "keys")
        assert len(report["parts"]) > 1, (options, report["parts"])
        for i, point in enumerate(report["points"]):
            t.equal(sum(p["misses"][i] for p in report["parts"]),
                    point["misses"], f"{options}, {point}")
        if report["first_touches"] is not None:
            t.equal(sum(p["first_touches"] for p in report["parts"]),
                    report["first_touches"], f"{options}, first touches")
        t.equal(by_csv(options, program), whole, f"{options}, CSV")


def recorded(key, pairs, program, events):
    """What tally report says of one size, by a key; and what is elsewhere."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/x.data"
        words = ["--objects"] if key == "object" else ["--no-callers"]
        for pair in pairs:
            words += ["--set", pair]
        done = t.run(t.tally(), "record", "-q", "-m", "host-model",
                     "--clean-env", "-e", ",".join(events), *words, "-o", path,
                     "--", *program)
        t.equal(done.returncode, 0, done.stderr)
        done = t.run(t.tally(), "report", "-i", path, "--by", key, "--json")
        t.equal(done.returncode, 0, done.stderr)
    report = json.loads(done.stdout)
    rows = {}
    for row in report["rows"]:
        name = row["keys"][key]
        rows[name] = rows.get(name, 0) + sum(row["values"].values())
    return rows, sum(e["elsewhere"] for e in report["events"])


def as_one_stack(rows):
    """Parts without those that miss nothing, and all stacks as one: before a
    program's first call tally record asks which function's frame the data are
    in a moment later than tally curve, when its queue is full."""
    kept = {}
    for name, count in rows.items():
        if name.startswith("stack") or name == "anonymous memory":
            name = "stack"
        if count:
            kept[name] = kept.get(name, 0) + count
    return kept


def parts_of_records():
    """Parts are the rows of records of single sizes, to the digit."""
    program = [t.guest("uses.dyn.x86_64")]
    for key in ("object", "function"):
        for level, ways in (("l1d", 0), ("l1d", 12), ("l2", 0)):
            sizes, _, events = LEVELS[level]
            options = ["--level", level, "--sizes", sizes, "--by", key]
            if ways:
                options += ["--ways", str(ways)]
            _, report = points(*options, "--", *program)
            for i, point in enumerate(report["points"]):
                ours = {}
                rows, elsewhere = recorded(
                    key, settings(level, point["size"], ways), program, events)
                for part in report["parts"]:
                    name = part["keys"][key]
                    # tally report --json has no name in place of a lack, and
                    # the file of a name that comes twice apart.
                    if name.startswith("(no symbols"):
                        name = None
                    elif name not in rows and name.endswith(")"):
                        name = name.rsplit(" (", 1)[0]
                    ours[name] = ours.get(name, 0) + part["misses"][i]
                if elsewhere:
                    rows["(elsewhere)"] = elsewhere
                if key == "object":
                    # tally report leaves out events that are of no data.
                    ours.pop("(no object)", None)
                    ours, rows = as_one_stack(ours), as_one_stack(rows)
                ours = {n: c for n, c in ours.items() if c}
                t.equal(ours.items() - rows.items(),
                        rows.items() - ours.items(),
                        f"{level}, {key}, {point}")


def parts_in_words():
    """An array that is loaded twice needs a cache of its size."""
    done = curve("--by", "object", "--sizes", "4K..256K", "--", *arrays())
    found = re.search(r"^  (.*) needs (\d+)K: its misses fall from ([0-9,]+) at "
                      r"\d+K to ([0-9,]+), of which ([0-9,]+) are first touches$",
                      done.stdout, re.M)
    assert found, done.stdout
    assert 64 <= int(found[2]) <= 80, found
    t.contains(done.stdout, "(all)")
    t.contains(done.stdout, "misses by object at")
    few = curve("--by", "line", "--top", "1", "--sizes", "4K", "--",
                *arrays()).stdout
    assert re.search(r"\(\d+ more\)$", few, re.M), few


def parts_of_traces():
    """A trace with objects has the parts of the program's own run; one without
    says so in one line."""
    program = t.guest("uses.dyn.x86_64")
    with tempfile.TemporaryDirectory() as folder:
        for words in ([], ["--objects"]):
            path = f"{folder}/{len(words)}.trace"
            done = t.run(t.tally(), "trace", "record", "-q", "--clean-env",
                         *words, "-o", path, "--", program)
            t.equal(done.returncode, 0, done.stderr)
            for key in ("object", "function"):
                done = t.run(t.tally(), "curve", "-m", "host-model", "-j",
                             "-o", "-", "--by", key, "--", path)
                if key == "object" and not words:
                    t.equal(done.returncode, 2, done.stderr)
                    t.contains(done.stderr, "trace record --objects")
                    t.equal(done.stderr.count("\n"), 1, done.stderr)
                    continue
                t.equal(done.returncode, 0, done.stderr)
                report = json.loads(done.stdout)
                for i, point in enumerate(report["points"]):
                    t.equal(sum(p["misses"][i] for p in report["parts"]),
                            point["misses"], f"{key}, {point}")
                if key == "object":
                    _, live = points("--by", key, "--", program)
                    t.equal([(names(p), p["misses"]) for p in live["parts"]],
                            [(names(p), p["misses"]) for p in report["parts"]],
                            "live and trace")


def pages():
    """A page is one file without links, and goes without the other forms."""
    with tempfile.TemporaryDirectory() as folder:
        page = f"{folder}/x.html"
        done = curve("--html", page, "--", *arrays())
        t.equal(done.returncode, 2, done.stderr)
        t.contains(done.stderr, "--output does not go with --html")
        done = t.run(t.tally(), "curve", "--html", page, "--by", "function",
                     "--", *arrays())
        t.equal((done.returncode, done.stderr), (0, ""))
        text = open(page, encoding="utf-8").read()
        for word in ("http://", "https://", "src=", "href="):
            t.equal(text.replace("http://www.w3.org/2000/svg", "").count(word),
                    0, word)
        for path, status in (("/dev/full", 125), ("/nonesuch/x", 2)):
            done = t.run(t.tally(), "curve", "--html", path, "--", *arrays())
            t.equal(done.returncode, status, done.stderr)
            t.contains(done.stderr, path)
        done = t.run(t.tally(), "sweep", "--html", page, "--set",
                     "l1d.size=8K,16K", "-e", "L1-dcache-load-misses", "--",
                     *arrays())
        t.equal((done.returncode, done.stdout), (0, ""), done.stderr)


def failures():
    """The status of the program is tally's."""
    done = curve("--sizes", "64K", "--", t.guest("crash.x86_64"),
                 "segv")
    assert done.returncode > 128, done
    t.contains(done.stdout, "64K")
    done = curve("--", "./nonesuch")
    t.equal(done.returncode, 127, done.stderr)


def refused():
    """Bad input is told in one line."""
    for words, wanted in (
            (["--level", "l4"], "l1d, l1i, l2, l3, dtlb or itlb"),
            (["--sizes", "1M..4K"], "begins above its end"),
            (["--sizes", "x"], "LOW..HIGH"),
            (["--sizes", "100"], "whole lines of 64 bytes"),
            (["--sizes", ""], "--sizes takes"),
            (["--sizes", "64..64M+64"], "values"),
            (["--sizes", "4K", "--ways", "3"], "power of two of sets"),
            (["--ways", "0"], "1 to 64"),
            (["--ways", "4,,8"], "1 to 64"),
            (["--ways", "4,4"], "twice"),
            (["--sample", "64"], "as 1/64"),
            (["--sample", "1/1"], "1/2 to 1/65536"),
            (["--sample", "1/64", "--ways", "8"], "--sample and --ways"),
            (["--format", "xml"], "text, csv, json or svg"),
            (["--by", "thread"], "--by takes object, function"),
            (["--by", "object,object"], "each once"),
            (["--by", ""], "--by takes"),
            (["--by", "object", "--level", "l1i"], "no data object"),
            (["--top", "3"], "--top goes with --by"),
            (["--by", "object", "--top", "x"], "--top takes a number"),
            (["--parallel"], "in no order"),
            (["--set", "layout=1"], "layout"),
            (["--set", "l1d.prefetch=next"], "prefetch"),
            (["--level", "dtlb", "--set", "tlb.huge=always"],
             "pages of two sizes"),
            (["--level", "l2", "--set", "l2.size=0", "--set", "l3.size=0"],
             "has none"),
            (["--ways", "64", "--sizes", "4K..64G"], "lists of")):
        done = curve(*words, "--", *arrays())
        t.equal(done.returncode, 2, f"{words}: {done.stderr}")
        t.contains(done.stderr, wanted)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
    done = curve()
    t.equal(done.returncode, 2, done.stderr)
    done = t.run(t.tally(), "curve", "-m", "host", "--", *arrays())
    t.contains(done.stderr, "leave -m host away")


def forms():
    """A spreadsheet has each size; a plot is XML with a dot for each count."""
    words = ["--sizes", "4K..16K", "--", *arrays()]
    rows = list(csv.DictReader(io.StringIO(
        curve("--format", "csv", *words).stdout)))
    exact, _ = points(*words)
    t.equal({(int(r["bytes"]), 0): int(r["misses"]) for r in rows}, exact,
            "misses")
    t.equal({r["standing"] for r in rows}, {"modelled"}, "standings")
    for more, dots, label in (([], 17, "4K"), (["--ways", "4,8"], 6, "ways=4"),
                              (["--sample", "1/2"], 48, "misses=at most")):
        done = curve("--format", "svg", *more, *words, "<&>")
        root = xml.etree.ElementTree.fromstring(done.stdout)
        names = [e.tag.split("}")[1] for e in root.iter()]
        t.equal(names.count("circle"), dots, f"dots {more}")
        texts = [e.text for e in root.iter() if e.tag.endswith("}text")]
        assert label in texts, f"{label} is not in {texts}"
    t.contains(curve("--set", "l1d.size=8K", "--set", "l1d.ways=8",
                     *words).stdout,
               "with the 8K of the machine")
    for path, status in (("/dev/full", 125), ("/nonesuch/x", 2)):
        done = t.run(t.tally(), "curve", "-m", "host-model", "-o", path,
                     *words)
        t.equal(done.returncode, status, done.stderr)
        t.contains(done.stderr, path)


t.case("73 geometries from two runs", many_geometries)
for name in LEVELS:
    t.case(f"bzip2 on the {name}", real, name)
t.case("misses that follow from arithmetic", walk)
t.case("samples", sampled)
t.case("stores that go through", through)
t.case("threads", threads)
t.case("processes", processes)
t.case("parts add up", sums)
t.case("parts and records of single sizes", parts_of_records)
t.case("parts in words", parts_in_words)
t.case("parts of traces", parts_of_traces)
t.case("pages", pages)
t.case("programs that fail", failures)
t.case("bad input", refused)
t.case("forms", forms)
t.main()
