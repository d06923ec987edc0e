#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally phases on whole programs: phases.py BUILD [WORD]

A program whose phases follow from arithmetic; intervals that add up to the
counts of tally count; SimPoint's files, read back.
"""
import csv
import io
import json
import pathlib
import shutil
import tempfile
import xml.etree.ElementTree

import kernels
import tallytest as t

folder = tempfile.TemporaryDirectory(prefix="tally-phases-")
here = pathlib.Path(folder.name)
STRETCH = 100000  # instructions of a stretch of alternate.S


def phases(*words):
    return t.run(t.tally(), "phases", "--clean-env", "-o", "-", *words)


def found(*words, status=0):
    done = phases("-j", *words)
    t.equal(done.returncode, status, done.stderr)
    # What the program writes comes first.
    report = json.loads(done.stdout[done.stdout.rindex('{\n  "schema"'):])
    whole = sum(i["instructions"] for i in report["intervals"])
    t.equal(whole, report["instructions"], "instructions of all intervals")
    t.equal(sum(p["instructions"] for p in report["phases"]), whole,
            "instructions of all phases")
    t.equal(sum(p["intervals"] for p in report["phases"]),
            len(report["intervals"]), "intervals of all phases")
    at = 0
    for interval in report["intervals"]:
        t.equal(interval["start"], at, "start")
        at += interval["instructions"]
    for number, phase in enumerate(report["phases"], 1):
        t.equal(phase["phase"], number, "number")
        point = report["intervals"][phase["point"]["interval"]]
        t.equal(point["phase"], number, "phase of a point")
        t.equal(point["start"], phase["point"]["start"], "start of a point")
    return report


def alternate():
    return [t.guest("alternate.x86_64")]


def instructions(*program):
    c = t.Count(["--clean-env", "-e", "instructions"], program)
    return c.json["events"][0]["value"]


def borders():
    """Two loops in turns: two phases, each stretch where it begins."""
    for length in (100000, 50000, 10000, 5000, 2000):
        report = found("--interval", str(length), "--", *alternate())
        t.equal(report["interval"], length, "interval")
        t.equal(report["standing"], "exact", "standing")
        t.equal(report["varies"], False, "varies")
        t.equal(report["instructions"], 10 * STRETCH + 3, "instructions")
        starts = {}
        before = None
        for i in report["intervals"]:
            if i["phase"] != before:
                starts[i["start"]] = i["phase"]
            before = i["phase"]
        starts.pop(10 * STRETCH, None)  # the last three instructions
        t.equal(starts, {n * STRETCH: 1 + n % 2 for n in range(10)},
                f"stretches, intervals of {length}")
        one, two = report["phases"]
        t.equal([one["functions"][0]["function"],
                 two["functions"][0]["function"]], ["first", "second"],
                "functions")
        t.equal(two["stretches"], 5, "stretches")
    # Without an option, intervals of 100,000 at first.
    t.equal(found("--", *alternate())["interval"], 100000, "usual interval")


def starts():
    """An interval begins with the block that has the instruction at a multiple
    of the length: each block of the loops has 4 or 5 instructions."""
    for length in (1000, 1777, 33333):
        report = found("--interval", str(length), "--", *alternate())
        for number, i in enumerate(report["intervals"]):
            assert 0 <= number * length - i["start"] < 5, (number, i)


def blocks(path):
    """The lines of a file of basic-block vectors."""
    vectors = []
    for line in path.read_text().splitlines():
        assert line[0] == "T" and line[-1] == " ", line
        vector = {}
        for word in line[1:].split():
            assert word[0] == ":", line
            block, count = map(int, word[1:].split(":"))
            assert block > 0 and count > 0 and block not in vector, line
            vector[block] = count
        vectors.append(vector)
    return vectors


def simpoints():
    """SimPoint's files say what the report says."""
    prefix = here / "alternate"
    report = found("--interval", "10k", "--simpoints", str(prefix), "--",
                   *alternate())
    vectors = blocks(prefix.with_suffix(".bb"))
    t.equal([sum(v.values()) for v in vectors],
            [i["instructions"] for i in report["intervals"]], "vectors")
    # The loops' own blocks: 4 K - 4 and 5 L - 5 in five stretches each, and
    # what the first iterations have behind the blocks in front of them.
    whole = {}
    for v in vectors:
        for block, count in v.items():
            whole[block] = whole.get(block, 0) + count
    t.equal(sorted(whole.values())[-2:], [5 * 5 * 19998, 5 * 4 * 24998],
            "the loops")
    points = [list(map(int, line.split())) for line in
              prefix.with_suffix(".simpoints").read_text().splitlines()]
    t.equal(points, [[p["point"]["interval"], n]
                     for n, p in enumerate(report["phases"])], "points")
    weights = [line.split() for line in
               prefix.with_suffix(".weights").read_text().splitlines()]
    t.equal([int(n) for _, n in weights], [0, 1], "phases of the weights")
    for (weight, _), phase in zip(weights, report["phases"]):
        assert abs(float(weight) - phase["share"]) < 1e-8, (weight, phase)


def real(arch):
    """bzip2: as many instructions as tally count has, the same each time."""
    program = [t.guest(f"bzip2.{arch}"), "-9kc", *kernels.BZIP2]
    words = ["--interval", "1M", "--", *program]
    report = found(*words)
    # The event of the R10000 counts some multiplications twice.
    more = instructions(*program) - report["instructions"]
    assert more == 0 or (arch == "mips64" and 0 < more < 100), more
    t.equal(report["lost"], 0, "lost")
    assert len(report["phases"]) > 2, report["phases"]
    names = {f["function"] for p in report["phases"] for f in p["functions"]}
    assert "generateMTFValues" in names or "mainSort" in names, names
    t.equal(found(*words), report, "another run")


def doubling():
    """Intervals get longer as the program does, and all have one length."""
    report = found("--", t.guest("lua.x86_64"),
                   str(t.ROOT / "bench/lua/bench.lua"))
    length = report["interval"]
    assert length in [100000 << n for n in range(1, 10)], length
    assert 1024 <= len(report["intervals"]) <= 2049, len(report["intervals"])
    for number, i in enumerate(report["intervals"]):
        assert 0 <= number * length - i["start"] < 200, (number, i)


def threads():
    """Threads in turns: all instructions, the same each time."""
    program = [t.guest("crew.x86_64")]
    report = found("--interval", "20k", "--", *program)
    t.equal(report["instructions"], instructions(*program), "instructions")
    t.contains(" ".join(report["notes"]), "threads ran in turns")
    t.equal(found("--interval", "20k", "--", *program), report, "another run")


def processes():
    """The program with the most instructions, of several."""
    program = [t.guest("forker.x86_64"), "fork", t.guest("hello.x86_64")]
    report = found("--interval", "5000", "--", *program)
    t.equal(report["process"], program[2], "process")
    t.equal(report["all_instructions"], instructions(*program), "all")
    assert report["instructions"] < report["all_instructions"], report
    done = phases("--interval", "5000", "--", *program)
    t.contains(done.stdout, "instructions of all programs")
    t.contains(done.stdout, f"  {program[2]}, run by {program[0]} fork ")


def killed():
    """A program that a signal kills has all its instructions in intervals."""
    program = [t.guest("crash.x86_64"), "segv"]
    report = found("--interval", "5000", "-e", "instructions", "--", *program,
                   status=139)
    t.equal(report["instructions"], instructions(*program), "instructions")
    for i in report["intervals"]:
        t.equal(i["counts"], [i["instructions"]], "instructions")
    t.equal(report["standing"], "estimated", "standing")
    t.equal(phases("--", "./nonesuch").returncode, 127, "no such program")


EVENTS = "cycles,instructions,L1-dcache-load-misses,branch-misses"


def events(interval, name, *rest, near=0):
    """Events of intervals and phases add up to those of tally count. `near`: the
    part by which these may differ, as the caches of several threads see the end
    of an interval."""
    program = [t.guest(name), *rest]
    words = ["-m", "host-model"]
    report = found(*words, "--interval", interval, "-e", EVENTS, "--",
                   *program)
    c = t.Count([*words, "--clean-env", "-e", EVENTS], program)
    wanted = [e["value"] for e in c.json["events"]]
    t.equal([e["event"] for e in report["events"]], EVENTS.split(","), "names")
    t.equal([e["standing"] for e in report["events"]],
            [e["fidelity"] for e in c.json["events"]], "standings")
    whole = [e["count"] for e in report["events"]]
    for got, theirs in zip(whole, wanted):
        assert abs(got - theirs) <= near * theirs, (whole, wanted)
    spans = [i["counts"] for i in report["intervals"]]
    t.equal([sum(s[n] for s in spans) for n in range(4)], whole, "intervals")
    for n, event in enumerate(report["events"]):
        t.equal(sum(p["counts"][event["event"]] for p in report["phases"]),
                event["count"], event["event"])
        points = sum(spans[p["point"]["interval"]][n] * p["instructions"] /
                     p["point"]["instructions"] for p in report["phases"])
        assert abs(points - event["by_points"]) < 1e-6 * (1 + points), event
    for span, i in zip(spans, report["intervals"]):
        t.equal(span[1], i["instructions"], "instructions of an interval")
    return report


def kernel_events():
    """In alternate.S an instruction counter and a branch's misses are known:
    the loops' ends are mispredicted, whole stretches within the loops none."""
    report = events("10000", "alternate.x86_64")
    for i in report["intervals"][1:9]:
        t.equal(i["counts"][3], 0, "mispredicted within the first stretch")
    text = phases("-m", "host-model", "--interval", "10k", "-e", EVENTS, "--",
                  *alternate()).stdout
    t.contains(text, "per 1,000 instructions:")
    t.contains(text, "instructions exact")


def traces():
    """A trace has the phases of the run that it is of."""
    path = here / "alternate.tallytrace"
    done = t.run(t.tally(), "trace", "record", "--clean-env", "-o", path, "--",
                 *alternate())
    t.equal(done.returncode, 0, done.stderr)
    words = ["--interval", "10k"]
    live = found(*words, "--", *alternate())
    done = t.run(t.tally(), "phases", "-j", "-o", "-", *words, path)
    t.equal(done.returncode, 0, done.stderr)
    replayed = json.loads(done.stdout)
    for part in ("phases", "intervals", "instructions", "standing"):
        t.equal(replayed[part], live[part], part)
    # What a trace that is cut lacks is no part of what is exact.
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    done = t.run(t.tally(), "phases", "-j", "-o", "-", *words, path)
    t.equal(done.returncode, 0, done.stderr)
    cut = json.loads(done.stdout)
    t.equal(cut["standing"], "partial", "standing")
    t.contains(" ".join(cut["notes"]), "what the trace lacks")


def dynamic_traces():
    """The trace of a dynamic program names the files that it ran code of, and
    so has the functions and the phases of the live run."""
    program = here / "program"
    shutil.copy(t.guest("hello.dyn.x86_64"), program)
    path = here / "dynamic.tallytrace"
    done = t.run(t.tally(), "trace", "record", "-q", "--clean-env", "-o", path,
                 "--", program)
    t.equal(done.returncode, 0, done.stderr)
    live = found("--interval", "5000", "--", program)
    replay = [t.tally(), "phases", "--interval", "5000", "-j", "-o", "-", path]
    done = t.run(*replay)
    t.equal((done.returncode, done.stderr), (0, ""), "replay")
    t.equal(json.loads(done.stdout)["phases"], live["phases"], "phases")
    files = {f["file"] for p in live["phases"] for f in p["functions"]}
    assert any("/lib" in f for f in files if f is not None), files
    # Another file in the program's place has other functions.
    shutil.copy(t.guest("alternate.x86_64"), program)
    t.contains(t.run(*replay).stderr, f"{program} is not the file that ran")


def forms():
    """A spreadsheet has each interval; a plot is XML with a bar for each
    stretch and a circle for each point."""
    words = ["--interval", "10k", "--", *alternate()]
    report = found(*words)
    rows = list(csv.DictReader(io.StringIO(
        phases("--format", "csv", *words).stdout)))
    t.equal([(int(r["start"]), int(r["instructions"]), int(r["phase"]))
             for r in rows],
            [(i["start"], i["instructions"], i["phase"])
             for i in report["intervals"]], "rows")
    t.equal([int(r["interval"]) for r in rows if r["point"] == "yes"],
            sorted(p["point"]["interval"] for p in report["phases"]), "points")
    t.equal({r["standing"] for r in rows}, {"exact"}, "standings")
    done = phases("--format", "svg", *words, "<&>")
    root = xml.etree.ElementTree.fromstring(done.stdout)
    bars = [e for e in root.iter() if e.get("class") == "stretch"]
    t.equal(len(bars), sum(p["stretches"] for p in report["phases"]), "bars")
    t.equal(sum(e.tag.endswith("circle") for e in root.iter()), 2, "points")
    text = phases(*words).stdout
    t.contains(text.splitlines()[0], "2 phases; 50 % of the instructions")
    t.contains(text, "111111122222221111111222222211111")
    one = found("--most", "1", *words)
    t.equal(len(one["phases"]), 1, "--most 1")
    for path, status in (("/dev/full", 125), ("/nonesuch/x", 2)):
        done = t.run(t.tally(), "phases", "-o", path, *words)
        t.equal(done.returncode, status, done.stderr)
        t.contains(done.stderr, path)
    done = phases("--simpoints", "/nonesuch/x", *words)
    t.equal(done.returncode, 2, done.stderr)
    t.contains(done.stderr, "/nonesuch/x.bb")
    prefix = here / "clash"
    for path in (f"{prefix}.bb", f"{here}/./clash.weights"):
        done = t.run(t.tally(), "phases", "--simpoints", prefix, "-o", path,
                     *words)
        t.equal(done.returncode, 2, done.stderr)
        t.contains(done.stderr, "-o and --simpoints are both to write")
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        t.equal(list(here.glob("clash*")), [], "files")


def refused():
    """Bad input has one line that says what is wrong."""
    for words, wanted in (
            (["--interval", "999"], "1000 to 2G"),
            (["--interval", "3G"], "1000 to 2G"),
            (["--interval", "10m"], "as 10M"),
            (["--interval", "M"], "as 10M"),
            (["--interval", "1.5k"], "a whole number"),
            (["--interval", "-5"], "as 10M"),
            (["--interval", ""], "as 10M"),
            (["--interval", "99999999999999999999G"], "1000 to 2G"),
            (["--most", "0"], "1 to 30"),
            (["--most", "31"], "1 to 30"),
            (["--simpoints", ""], "--simpoints takes"),
            (["--format", "xml"], "text, csv, json or svg"),
            (["-e", "nonesuch"], "nonesuch"),
            (["-m", "host-model", "-e", "task-clock"], "task-clock"),
            (["--parallel"], "no interval is the same")):
        done = phases(*words, "--", *alternate())
        t.equal(done.returncode, 2, f"{words}: {done.stderr}")
        t.contains(done.stderr, wanted)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
    t.equal(phases().returncode, 2, "no program")
    done = phases("-m", "host", "--", *alternate())
    t.contains(done.stderr, "leave -m host away")


t.case("two loops in turns", borders)
t.case("where intervals begin", starts)
t.case("SimPoint's files", simpoints)
for architecture in ("x86_64", "aarch64", "riscv64", "mips64", "sparc64"):
    t.case(f"bzip2 for {architecture}", real, architecture)
t.case("intervals that get longer", doubling)
t.case("threads", threads)
t.case("several processes", processes)
t.case("programs that fail", killed)
t.case("events of a kernel", kernel_events)
t.case("events of bzip2", events, "1M", "bzip2.x86_64", "-9kc",
       *kernels.BZIP2)
t.case("events of threads",
       lambda: events("20000", "crew.x86_64", near=0.001))
t.case("a trace", traces)
t.case("a trace of a dynamic program", dynamic_traces)
t.case("forms", forms)
t.case("bad input", refused)
t.main()
