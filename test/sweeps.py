#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally sweep on whole programs: sweeps.py BUILD [WORD]

Each point of a sweep has the counts of tally count with the same settings.
"""
import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree

import tallytest as t


def hello():
    return t.guest("hello.x86_64")


def arrays():
    return t.guest("arrays.x86_64")


def sweep(*words, **how):
    return t.run(t.tally(), "sweep", "--clean-env", *words, **how)


def counted(machine, sets, events, program):
    options = ["-m", machine, "--clean-env", "-e", ",".join(events)]
    for pair in sets:
        options += ["--set", pair]
    report = t.count(options, program)
    return {e["asked"]: (e["value"], e["fidelity"])
            for e in report.json["events"]}


def equal_to_count():
    """The same counts as one by one, on two machines."""
    events = ["instructions", "L1-dcache-load-misses", "cycles"]
    done = sweep("-m", "zen4,host-model", "--set", "l1d.size=4K..16K", "--set",
                 "l1d.ways=2,4", "-e", ",".join(events), "--format", "json",
                 "--", arrays())
    t.equal(done.returncode, 0, done.stderr)
    points = json.loads(done.stdout)["points"]
    t.equal(len(points), 12, "points")
    for point in points:
        chosen = dict(point["set"])
        machine = chosen.pop("machine")
        sets = [f"{k}={v}" for k, v in chosen.items()]
        theirs = counted(machine, sets, events, arrays())
        ours = {e["name"]: (e["value"], e["standing"]) for e in point["events"]}
        t.equal(ours, theirs, f"{machine} {sets}")


def arithmetic():
    """Two passes load 64 KB, 1,024 lines: both miss in a small cache, and in one
    that holds all the first alone."""
    done = sweep("-m", "host-model", "--set", "l1d.size=16K..256K", "-e",
                 "L1-dcache-load-misses", "--format", "csv", "--", arrays())
    t.equal(done.returncode, 0, done.stderr)
    misses = [int(row["L1-dcache-load-misses"])
              for row in csv.DictReader(io.StringIO(done.stdout))]
    t.equal(len(misses), 5, "points")
    for few, many in ((misses[4], misses[0]), (misses[3], misses[1])):
        assert 1024 <= few < 1400 and 1000 < many - few < 1100, misses


def impossible():
    """What the machine cannot be set to is named with the reason."""
    done = sweep("-m", "zen4", "--set", "l1d.ways=3,8", "-e", "instructions",
                 "--format", "json", "--", hello())
    t.equal(done.returncode, 0, done.stderr)
    first, second = json.loads(done.stdout)["points"]
    t.equal((first["possible"], first["exit"], first["events"]),
            (False, None, []), "3 ways")
    t.contains(first["reason"], "l1d.size=32K: with l1d.ways=3")
    t.equal((second["possible"], second["reason"]), (True, None), "8 ways")
    done = sweep("-m", "zen4", "--set", "l1d.ways=3,8", "-e", "instructions",
                 "--", hello())
    t.contains(done.stdout, "1 run, machine=zen4; the machine cannot be set to "
                            "1 more")


def idle():
    """Where an event cannot count, the first lines say why."""
    done = sweep("-m", "zen4", "--set", "strands=1", "-e",
                 "stall-issue,instructions", "--", hello())
    t.contains(done.stdout, "stall-issue: no count\n    idle in all runs: no "
                            "strands share a pipeline")
    done = sweep("-m", "zen4", "--set", "tlb.walk=0,4", "-e", "walk-reads",
                 "--format", "json", "--", hello())
    first, second = (p["events"][0] for p in json.loads(done.stdout)["points"])
    t.equal((first["value"], first["standing"]), (None, "idle"), "no walks")
    t.contains(first["reason"], "no table is walked")
    t.equal(second["standing"], "modelled", "walks")


def failures():
    done = sweep("-m", "zen4", "--set", "l1d.ways=4,8", "-e", "instructions",
                 "--", t.guest("crash.x86_64"), "segv")
    t.equal(done.returncode, 1, "status of killed programs")
    t.contains(done.stdout, "the program was killed by SIGSEGV")
    done = sweep("-m", "zen4", "-e", "instructions", "--", "/bin/false")
    t.equal(done.returncode, 0, "status of a program that ends with 1")
    t.contains(done.stdout, "ended with another status than 0 in 1 run")


def refused():
    for words, status, says in (
            ((), 2, "a program is missing"),
            (("-m", "nope", "--", hello()), 2, "unknown machine 'nope'"),
            (("-m", "zen4,sparc-t4", "--", hello()), 2, "--foreign"),
            (("--set", "l1d.sizes=1,2", "--", hello()), 2,
             "l1d.sizes: unknown parameter; did you mean l1d.size?"),
            (("--set", "l1d.size=4K..1K", "--", hello()), 2,
             "the range begins above its end"),
            (("--set", "l1d.ways=3", "--", hello()), 2, "with l1d.ways=3"),
            (("--set", "l1d.ways=3,5", "--", hello()), 2,
             "can be set to none of the 2 combinations; of the first: l1d.size"),
            (("--set", "machine=zen4", "--", hello()), 2, "-m names machines"),
            (("-e", "nope", "--", hello()), 2, "unknown event 'nope'"),
            (("-e", "cycles,cycles", "--", hello()), 2, "names an event twice"),
            (("--jobs", "0", "--", hello()), 2, "--jobs takes 1 to 1024"),
            (("--format", "xml", "--", hello()), 2, "xml"),
            (("--quantum", "x", "--", hello()), 2, "--quantum takes"),
            (("-o", "/nonesuch/x", "--", hello()), 2, "/nonesuch/x"),
            (("--state", "/nonesuch/x", "--", hello()), 2, "/nonesuch/x"),
            (("--state", hello(), "--", hello()), 2, "Not a directory"),
            (("--", "/nonesuch"), 127, "No such file")):
        done = sweep(*words)
        t.equal(done.returncode, status, f"{words}: {done.stderr!r}")
        t.equal(len(done.stderr.splitlines()), 1, f"lines of {done.stderr!r}")
        t.equal(done.stdout, "", "stdout")
        t.contains(done.stderr, says)


def goes_on():
    """A sweep that a signal ends goes on where it was; another is refused."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "state")
        words = ["--state", folder, "--jobs", "1", "-m", "zen4", "--set",
                 "l1d.ways=1,2,4,8", "--set", "l1d.size=8K..64K", "-e",
                 "L1-dcache-load-misses", "--format", "csv"]
        out = pathlib.Path(name, "out")
        process = subprocess.Popen(
            [t.tally(), "sweep", "--clean-env", *words, "-o", out, "--",
             arrays()], stderr=subprocess.PIPE, text=True)
        while len(list(folder.glob("0*.json"))) < 2:
            assert process.poll() is None, process.stderr.read()
            time.sleep(.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        t.equal(process.returncode, 130, "status")
        t.contains(said, "ended by SIGINT after")
        assert not out.exists(), "the report is there"
        done = sweep(*words, "--", arrays())
        t.equal(done.returncode, 0, done.stderr)
        t.contains(done.stderr, "of 16 runs are done already")
        t.equal(done.stdout, sweep(*words[4:], "--", arrays()).stdout,
                "the same as in one")
        for other, says in ((["-m", "zen3"], "other values"),
                            (["-e", "cycles"], "other events"),
                            (["--cpus", "2"], "other options")):
            done = sweep(*words, *other, "--", arrays())
            t.equal(done.returncode, 2, done.stderr)
            t.contains(done.stderr, says)
        done = sweep(*words, "--", arrays(), "x")
        t.contains(done.stderr, "another program, or of other arguments")
        # What somebody has written over a report is counted anew.
        whole = folder / "0003.json"
        for text in ("", "{}", "[1,", '{"status": {"exit": 0}}'):
            whole.write_text(text)
            done = sweep(*words, "--", arrays())
            t.equal(done.returncode, 0, done.stderr)
            t.contains(done.stderr, "15 of 16 runs are done already")
        # So is the report of another point, of another machine, of no event.
        other = json.loads((folder / "0002.json").read_text())
        whole.write_text(json.dumps(other))
        done = sweep(*words, "--", arrays())
        t.contains(done.stderr, "15 of 16 runs are done already")
        whole.unlink()
        os.mkfifo(whole)
        done = sweep(*words, "--", arrays())
        t.contains(done.stderr, "15 of 16 runs are done already")
        (folder / "sweep.json").rename(folder / "kept")
        done = sweep(*words, "--", arrays())
        t.equal(done.returncode, 2, done.stderr)
        t.contains(done.stderr, "has reports and no sweep.json")
        (folder / "sweep.json").write_text("{")
        done = sweep(*words, "--", arrays())
        t.equal(done.returncode, 2, done.stderr)
        t.contains(done.stderr, "cannot be read")


def plotted():
    """A plot is XML, has a line for each combination, and a dot for each
    count."""
    done = sweep("-m", "zen4", "--set", "l1d.size=4K..64K", "--set",
                 "l1d.ways=2,4", "-e", "cycles,L1-dcache-load-misses",
                 "--format", "svg", "--", hello(), "<&>")
    t.equal(done.returncode, 0, done.stderr)
    root = xml.etree.ElementTree.fromstring(done.stdout)
    names = [e.tag.split("}")[1] for e in root.iter()]
    t.equal(names.count("circle"), 20, "dots")
    texts = [e.text for e in root.iter() if e.tag.endswith("}text")]
    for text in ("cycles", "L1-dcache-load-misses", "4K", "64K", "l1d.ways=2",
                 f"{hello()} <&>"):
        assert text in texts, f"{text} is not in {texts}"


def unwritable():
    done = sweep("-m", "zen4", "-e", "instructions", "-o", "/dev/full", "--",
                 hello())
    t.equal(done.returncode, 125, done.stderr)
    t.contains(done.stderr, "/dev/full")
    done = sweep("-m", "zen4", "-e", "instructions", "--", hello(),
                 env={**os.environ, "TMPDIR": "/nonesuch"})
    t.equal(done.returncode, 1, done.stderr)
    t.contains(done.stdout, "TMPDIR")


t.case("the counts of tally count", equal_to_count)
t.case("misses that follow from arithmetic", arithmetic)
t.case("impossible settings", impossible)
t.case("idle events", idle)
t.case("programs that fail", failures)
t.case("bad input", refused)
t.case("a sweep that goes on", goes_on)
t.case("a plot", plotted)
t.case("nowhere to write", unwritable)
t.main()
