#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally record of code that a program makes while it runs: record_made.py BUILD

test/guest/jit.c says how often each function is called; each has two
instructions.
"""
import json
import pathlib
import tempfile

import tallytest as t

MACHINES = {"x86_64": "host-model", "sparc64": "ultrasparc-t2",
            "mips64": "r10000", "mips64el": "r10000",
            "aarch64": "host-model", "riscv64": "host-model"}

folder = None


@t.once
def record(isa, told):
    """Records the program once; returns the record's path."""
    path = folder / f"{isa}.{told}.data"
    done = t.run(t.tally(), "record", "-q", "-m", MACHINES[isa], "-e",
                 "instructions", "-o", path, "--", t.guest(f"jit.{isa}"),
                 "map" if told == "map" else folder)
    map_of = pathlib.Path(f"/tmp/perf-{done.stdout.strip()}.map")
    if told == "map":
        map_of.unlink()
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return path


def recorded(isa, told):
    """Returns what each line of made code has of instructions, by function."""
    done = t.run(t.tally(), "report", "-j", "--by", "function,line",
                 record(isa, told))
    t.equal((done.returncode, done.stderr), (0, ""), "report")
    found = json.loads(done.stdout)
    event = found["events"][0]["name"]
    return {(row["keys"]["function"], row["keys"]["file"], row["keys"]["line"]):
            row["values"][event] for row in found["rows"]
            if row["keys"]["function"] in ("first", "second", "third")}


def rows(counts):
    """The counts without the source's names and lines."""
    sums = {}
    for (function, _, _), count in counts.items():
        sums[function] = sums.get(function, 0) + count
    return sums


def cases(isa):
    @t.named(f"{isa}: functions and lines of a jitdump, overwritten and moved")
    def _():
        counts = recorded(isa, "dump")
        t.equal(counts, {("first", "first.src", 3): 1000,
                         ("first", "first.src", 4): 1000,
                         ("second", "second.src", 7): 4000,
                         ("third", None, None): 1000},
                "instructions by function and line")

    @t.named(f"{isa}: a jitdump is no image of the program")
    def _():
        path = record(isa, "dump")
        done = t.run(t.tally(), "diff", path, path)
        t.equal(done.returncode, 0, f"status; {done.stderr!r}")
        t.equal("jit-" in done.stdout + done.stderr, False, "a word on it")

    @t.named(f"{isa}: functions of /tmp/perf-PID.map")
    def _():
        # The map has no code bytes: of two functions at one address the one
        # that was told last has all counts.
        t.equal(rows(recorded(isa, "map")), {"second": 6000},
                "instructions by function")


def main():
    global folder
    for isa in MACHINES:
        cases(isa)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        t.main()


main()
