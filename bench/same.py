#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""same.py --tally FILE --with FILE --guests DIR: whether two builds count the same.

Counts all events of bzip2, busybox, Lua and SQLite on each machine that has a model,
with the build --tally and with the build --with, an older one. Says of each machine
which events differ, and the ratio of the builds' user times: of --runs runs that take
turns, the medians. An event that one build lacks is left out. Ends with 1 if a count
differs. --machine NAME: that machine alone, as often as it is given. --size N: the
input is a text N times over, so that runs take longer.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = ROOT / "LICENSES" / "GPL-2.0-or-later.txt"
AWK = "{ n += NF; seen[tolower($1)]++ } END { print NR, n, length(seen) }"
LUA = """
local words, n = {}, 0
for line in io.lines('@INPUT@') do
  for w in line:gmatch('%a+') do words[w] = (words[w] or 0) + 1 end
end
for _, count in pairs(words) do n = n + count end
print(n)
"""
SQL = """
CREATE TABLE word(id INTEGER PRIMARY KEY, name TEXT, size INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 999)
INSERT INTO word SELECT i, printf('word%04d', (i * 7919) % 1009), i % 97 FROM n;
CREATE INDEX by_name ON word(name);
SELECT size, count(*) FROM word GROUP BY size ORDER BY 2 DESC, 1 LIMIT 3;
"""
# @INPUT@ stands for the name of the input.
PROGRAMS = {
    "bzip2": ["-9c", "@INPUT@"],
    "busybox": ["awk", AWK, "@INPUT@"],
    "lua": ["-e", LUA],
    "sqlite": ["-batch", "-init", "/dev/null", ":memory:", SQL],
}


def machines(tally):
    """Returns {machine: its architectures} of the machines that have a model."""
    done = subprocess.run([tally, "list", "machines", "-j"], check=True,
                          stdout=subprocess.PIPE)
    return {m["name"]: m["isas"] or ["x86_64"]
            for m in json.loads(done.stdout)["machines"] if m["model"]}


def count(tally, machine, program):
    """Returns the counts by event, summed over strands, and the user time in
    seconds."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "counts")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run(
            [tally, "count", "-q", "--clean-env", "-o", report, "--format", "json",
             "-m", machine, "-e", "all", "--", *program], check=True,
            stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        counts = {}
        for strand in json.loads(report.read_text())["strands"]:
            for event, value in strand["events"].items():
                if isinstance(value, (int, float)):
                    counts[event] = counts.get(event, 0) + value
    return counts, spent


def compare(args, machine, name, program):
    """Prints a line for a program on a machine. Returns the medians of the user
    times, and whether all counts are equal."""
    times = {"new": [], "old": []}
    for _ in range(args.runs):
        old, spent = count(args.old, machine, program)
        times["old"].append(spent)
        new, spent = count(args.tally, machine, program)
        times["new"].append(spent)
    shared = [event for event in old if event in new]
    differ = [event for event in shared if old[event] != new[event]]
    new_time, old_time = (statistics.median(times[key]) for key in ("new", "old"))
    print(f"{machine:18} {name:17} {len(shared) - len(differ):4} of {len(shared):4} "
          f"events equal   {new_time:6.2f} s, {new_time / old_time:5.3f} of before",
          flush=True)
    for event in differ:
        print(f"    {event}: {old[event]} before, {new[event]} now")
    if not shared:
        sys.exit(f"{machine}, {name}: no event to compare")
    return new_time, old_time, not differ


def run(args, text):
    """Compares on all machines. Returns whether all counts are equal."""
    before = machines(args.old)
    sums, equal = [0, 0], True
    for machine, isas in machines(args.tally).items():
        if machine not in before or args.machine and machine not in args.machine:
            continue
        mine = [0, 0]
        for isa in isas:
            for name, words in PROGRAMS.items():
                file = args.guests / f"{name}.{isa}"
                if args.program and name not in args.program or not file.exists():
                    continue
                new, old, same = compare(args, machine, f"{name}.{isa}",
                                         [str(file), *(w.replace("@INPUT@", text)
                                                       for w in words)])
                equal = equal and same
                mine = [mine[0] + new, mine[1] + old]
        if mine[1]:
            print(f"{machine:18} {'all':17} {'':24} {mine[0]:6.2f} s, "
                  f"{mine[0] / mine[1]:5.3f} of before")
        sums = [sums[0] + mine[0], sums[1] + mine[1]]
    print(f"sum of all machines: {sums[0] / sums[1]:5.3f} of before; counts "
          f"{'are equal' if equal else 'differ'}")
    return equal


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", required=True)
    parser.add_argument("--with", required=True, dest="old")
    parser.add_argument("--guests", required=True, type=Path)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--machine", action="append")
    parser.add_argument("--program", action="append")
    args = parser.parse_args()
    with tempfile.NamedTemporaryFile("w") as text:
        text.write(TEXT.read_text() * args.size)
        text.flush()
        sys.exit(not run(args, text.name))


main()
