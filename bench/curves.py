#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""curves.py --tally FILE --guests DIR: what the parts of a curve cost.

Draws curves of bzip2 -9 and Lua for x86-64 with and without parts (tally curve
--by), of the L1 data cache and the L2. All of a workload take turns; printed are
medians of user time, and their ratios to the curve without parts.
BENCH_FORMAT=markdown prints tables for pages.
"""

import argparse
import os
import resource
import statistics
import subprocess
import tempfile
from pathlib import Path

import bench
import machines

# What both forms of a curve have: its options.
CURVES = {
    "L1D": [],
    "L1D, 8 ways": ["--ways", "8"],
    "L1D, 1/64": ["--sample", "1/64"],
    "L2": ["--level", "l2"],
}
# Parts, and the aim of their time over that of the curve.
PARTS = {"function": 1.5, "object": 1.5}


def user_time(words):
    """Runs a command; returns the user seconds that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def curve_row(args, title, name, program):
    forms = {"curve": [], **{part: ["--by", part] for part in PARTS}}
    times = {form: [] for form in forms}
    for _ in range(args.runs):
        for form, options in forms.items():
            times[form].append(user_time(
                [args.tally, "curve", "-m", "host-model", "-o", os.devnull,
                 *CURVES[name], *options, "--", *program]))
    whole = statistics.median(times["curve"])
    return [title, name, f"{whole:.2f}",
            *(f"{statistics.median(times[part]) / whole:.2f}"
              for part in PARTS)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=os.path.abspath, required=True)
    parser.add_argument("--guests", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--size", type=int, default=machines.INPUT_SIZE,
                        help="bytes that bzip2 packs")
    args = parser.parse_args()
    rows = [["workload", "curve", "curve s",
             *(f"by {part} / curve ({aim})" for part, aim in PARTS.items())]]
    script = str(bench.ROOT / "bench" / "lua" / "bench.lua")
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as folder:
        data = os.path.join(folder, "input")
        bench.write_input(data, args.size)
        for title, words in (("bzip2", ["-9", "-c", data]),
                             ("lua", [script, machines.LUA_SCALE])):
            program = [str((args.guests / f"{title}.x86_64").resolve()), *words]
            for name in CURVES:
                rows.append(curve_row(args, title, name, program))
    show = bench.printer()
    show(rows)


if __name__ == "__main__":
    main()
