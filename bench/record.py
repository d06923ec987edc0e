#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record.py --tally FILE --guests DIR: what it costs to record by instruction.

Runs bzip2 -9 and Lua on each machine under `tally count` and `tally record` of
the same events, by default those that are counted without -e, and on x86-64
with cachegrind's counts under both and under cachegrind. All of a workload take
turns; printed are medians of user time and ratios of medians, and the size of
the record. BENCH_FORMAT=markdown prints tables for pages.
"""

import argparse
import os
import platform
import shutil
import statistics
import tempfile
from pathlib import Path

import bench
import machines

AIM = 1.15  # record / count
AIM_OF_CACHEGRIND = 0.65  # record / cachegrind, of cachegrind's counts


def command(args, verb, output, machine, options, program):
    return [
        args.tally, verb, "-q", "-o", output, "-m", machine, *options, "--",
        *program,
    ]  # fmt: skip


def measured(args, title, commands):
    """Returns {name: median seconds}, all taken in turns."""
    times = {name: [] for name in commands}
    for turn in range(args.runs):
        for name, words in commands.items():
            bench.progress(
                f"bench: {title}, run {turn + 1} of {args.runs}: {name}"
            )
            times[name].append(bench.run(words)[0])
    bench.progress("")
    return {name: statistics.median(t) for name, t in times.items()}


def machine_row(args, title, isa, machine, program, folder):
    record = os.path.join(folder, "tally.data")
    options = ["--foreign"] if machine == "montecito" else []
    medians = measured(args, f"{title}, {machine}", {
        "count": command(args, "count", os.devnull, machine, options, program),
        "record": command(args, "record", record, machine, options, program),
    })
    return [
        machine, f"{title}, {isa}", f"{medians['count']:.2f}",
        f"{medians['record']:.2f}",
        f"{medians['record'] / medians['count']:.2f}", f"{AIM}",
        f"{os.path.getsize(record) / 1e3:.0f}",
    ]  # fmt: skip


def cachegrind_row(args, title, program, folder):
    record = os.path.join(folder, "tally.data")
    options = [word for pair in bench.GEOMETRY for word in ("--set", pair)]
    options += ["-e", bench.CACHEGRIND_EVENTS]
    medians = measured(args, f"{title}, cachegrind's counts", {
        "record": command(
            args, "record", record, "host-model", options, program
        ),
        "cachegrind": [
            args.valgrind, "-q", "--tool=cachegrind", "--cache-sim=yes",
            "--branch-sim=yes",
            "--cachegrind-out-file=" + os.path.join(folder, "cachegrind"),
            *bench.CACHEGRIND, *program,
        ],
    })  # fmt: skip
    return [
        title, f"{medians['record']:.2f}", f"{medians['cachegrind']:.2f}",
        f"{medians['record'] / medians['cachegrind']:.2f}",
        f"{AIM_OF_CACHEGRIND}",
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=os.path.abspath, required=True)
    parser.add_argument("--guests", type=os.path.abspath, required=True)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    args.valgrind = shutil.which("valgrind")
    guests = Path(args.guests)
    show = bench.print_text
    if os.environ.get("BENCH_FORMAT") == "markdown":
        show = bench.print_markdown
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as folder:
        data = os.path.join(folder, "input")
        bench.write_input(data, machines.INPUT_SIZE)
        script = str(bench.ROOT / "bench" / "lua" / "bench.lua")
        workloads = (
            ("bzip2", ["-9", "-c", data]),
            ("lua", [script, machines.LUA_SCALE]),
        )
        rows = [[
            "machine", "workload", "count s", "record s", "ratio", "aim",
            "record KB",
        ]]  # fmt: skip
        for isa, names in machines.machines(args.tally).items():
            for name in names:
                for title, words in workloads:
                    program = [str(guests / f"{title}.{isa}"), *words]
                    rows.append(machine_row(
                        args, title, isa, name, program, folder
                    ))
        show(rows)
        if platform.machine() == "x86_64" and args.valgrind:
            print()
            rows = [["cachegrind's counts", "record s", "cachegrind s",
                     "ratio", "aim"]]
            for title, words in workloads:
                program = [str(guests / f"{title}.x86_64"), *words]
                rows.append(cachegrind_row(args, title, program, folder))
            show(rows)


if __name__ == "__main__":
    main()
