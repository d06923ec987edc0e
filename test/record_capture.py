#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Montecito's monitor captures, by instruction: record_capture.py BUILD

The captures of all instructions add up to the captures of tally count.
test/guest/pattern.c says where they must be: its loop makes each
access at one instruction, at places at known distances, and Table 2-8 has the
latency of the level that serves it. A taken branch makes two entries in the
trace buffer.
"""
import json
import pathlib
import tempfile

import tallytest as t
from record_help import bzip2, lua

L2, L3, MEMORY = 5, 14, 180
EARS = ("load-latency=4", "load-latency=64", "dtlb", "fetch-latency=32", "itlb")
CAPTURES = ("DATA_EAR_EVENTS", "L1I_EAR_EVENTS", "ETB_EVENT", "ear_latency")


def report(folder, program, options, *how):
    """Records a program on Montecito; returns the report in JSON."""
    path = pathlib.Path(folder) / "tally.data"
    done = t.run(t.tally(), "record", "-q", "-m", "montecito", "-o", path,
                 *options, "--", *program, cwd=folder)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    shown = t.run(t.tally(), "report", "-i", path, "-j", *how)
    t.equal(shown.returncode, 0, f"status of report; {shown.stderr!r}")
    return json.loads(shown.stdout)


def pattern(*arguments):
    return [t.guest("pattern.x86_64"), *map(str, arguments)]


def everything(choose, *options):
    """All events and what is captured: as in tally count, none elsewhere."""
    program = choose("x86_64")
    with tempfile.TemporaryDirectory() as name:
        found = report(name, program, ["--clean-env", "-e", "all", *options])
        counted = t.run(t.tally(), "count", "-j", "--clean-env", "-m",
                        "montecito", "-e", "all", *options, "--", *program,
                        cwd=name)
    theirs = {e["name"]: e["value"]
              for e in json.loads(counted.stderr)["events"]}
    for event in found["events"]:
        t.equal(event["total"], theirs[event["name"]],
                f"total of {event['name']}")
        rows = sum(r["values"][event["name"]] for r in found["rows"])
        t.equal(rows + event["elsewhere"], event["total"],
                f"sum of {event['name']}")
        if event["name"] in CAPTURES or event["standing"] in ("exact",
                                                              "modelled"):
            t.equal(event["elsewhere"], 0, f"{event['name']} elsewhere")
    asked = "ETB_EVENT" if "--etb" in options else "DATA_EAR_EVENTS" \
        if options[1].startswith(("load", "dtlb")) else "L1I_EAR_EVENTS"
    for name in CAPTURES[:3]:
        t.equal(theirs[name] > 0, name == asked, f"{name} captured")


for choose in (bzip2, lua):
    for ear in EARS:
        t.case(f"{choose.__name__}: --ear {ear}", everything, choose,
               "--ear", ear)
    t.case(f"{choose.__name__}: --etb", everything, choose, "--etb", "16")


def levels(served, latency, step, count, rounds):
    """All captures of the loop are at its load, on one object; each has the
    latency of its level, but for the first round, which is memory's."""
    program = pattern("r", step, count, rounds)
    with tempfile.TemporaryDirectory() as name:
        found = report(name, program, [
            "--ear", "load-latency=4", "--objects", "--set", "tlb.page=1M",
            "--set", "dtlb.first=512"],
            "--by", "function,instruction,object", "--match", "loads")
    hottest = found["rows"][0]["values"]
    n, cycles = hottest["DATA_EAR_EVENTS"], hottest["ear_latency"]
    t.equal(cycles - n * latency, count * (MEMORY - latency),
            f"cycles of {n} captures")
    assert rounds * count * 0.4 < n <= rounds * count, f"{n} captures"
    others = sum(r["values"]["DATA_EAR_EVENTS"] for r in found["rows"][1:])
    assert others < 10, f"{others} captures elsewhere in the function"


t.case("latencies of the L2, at the load that waits", levels, "L2", L2, 128,
       256, 5)
t.case("latencies of the L3, at the load that waits", levels, "L3", L3, 128,
       8192, 5)


@t.named("a taken branch makes two entries of the trace buffer")
def entries():
    with tempfile.TemporaryDirectory() as name:
        found = report(name, lua("x86_64"),
                       ["--etb", "1", "-e", "ETB_EVENT,PAPI_BR_TKN"],
                       "--by", "instruction")
    assert len(found["rows"]) > 500, len(found["rows"])
    for row in found["rows"]:
        entries, taken = row["values"].values()
        t.equal(entries, 2 * taken, f"entries at {row['keys']}")


@t.named("threads capture apart")
def threads():
    with tempfile.TemporaryDirectory() as name:
        found = report(name, [t.guest("threads.x86_64"), "8", "2000"],
                       ["--ear", "load-latency=4"], "--by", "thread")
    t.equal(len(found["rows"]), 9, "threads")
    for event in found["events"]:
        t.equal(event["elsewhere"], 0, f"{event['name']} elsewhere")


@t.named("without -e the events of what is captured are recorded")
def defaults():
    wanted = {"load-latency=8": ["DATA_EAR_EVENTS", "ear_latency"],
              "fetch-latency=4": ["L1I_EAR_EVENTS", "ear_latency"],
              "dtlb": ["DATA_EAR_EVENTS"], "itlb": ["L1I_EAR_EVENTS"]}
    with tempfile.TemporaryDirectory() as name:
        for ear, events in wanted.items():
            found = report(name, [t.guest("hello.x86_64")], ["--ear", ear])
            t.equal([e["name"] for e in found["events"]], events, ear)
        found = report(name, [t.guest("hello.x86_64")], ["--etb", "4"])
        t.equal([e["name"] for e in found["events"]], ["ETB_EVENT"], "--etb")
        found = report(name, [t.guest("hello.x86_64")],
                       ["--ear", "load-latency=4", "--etb", "4"])
        t.equal([e["name"] for e in found["events"]],
                ["DATA_EAR_EVENTS", "ear_latency", "ETB_EVENT"], "both")


def refused(options, words):
    with tempfile.TemporaryDirectory() as name:
        done = t.run(t.tally(), "record", *options, "--",
                     t.guest("hello.x86_64"), cwd=name)
        t.equal(done.returncode, 2, f"status; {done.stderr!r}")
        t.equal(len(done.stderr.splitlines()), 1, f"lines of {done.stderr!r}")
        t.equal(list(pathlib.Path(name).iterdir()), [], "files")
    t.contains(done.stderr, words)


for options, words in (
        (["--ear", "dtlb"], "has no event address registers"),
        (["-m", "r10000", "--foreign", "--etb", "1"], "no trace buffer"),
        (["-m", "montecito", "--ear", "loads"], "'loads'"),
        (["-m", "montecito", "--ear", "dtlb", "--ear", "itlb"], "second"),
        (["-m", "montecito", "--etb", "17"], "'17'")):
    t.case(f"refused: {' '.join(options)}", refused, options, words)

t.main()
