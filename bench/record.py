#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""record.py --tally FILE --guests DIR: what it costs to record by instruction.

Runs bzip2 -9 and Lua on each machine under `tally count` and `tally record` of
the same events, those that are counted without -e: without callers, with them,
with objects and with all accesses to these; and on x86-64 with the counts of cachegrind and callgrind
under those. All of a workload take turns; printed are medians of user time and ratios of medians, and the size of
the record. On x86-64 also the memory that a Python program takes over plain
QEMU, for each distinct instruction. BENCH_FORMAT=markdown prints tables for pages.
"""

import argparse
import os
import platform
import shutil
import subprocess
import statistics
import tempfile
from pathlib import Path

import bench
import machines

# The options of each form of a record, and the aim of its time over count's.
FORMS = {
    "no callers": (["--no-callers"], 1.15),
    "callers": ([], 1.4),
    "objects": (["--objects"], 1.8),
    "all accesses": (["--objects=all"], 3),
}
# Other programs that tell the same counts by place: their tool, the options of
# the record that does so, and the aim of its time over theirs.
OTHERS = {
    "cachegrind": (["--no-callers"], 0.65),
    "callgrind": ([], 0.3),
}


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
    commands = {"count": command(args, "count", os.devnull, machine, options,
                                 program)}  # fmt: skip
    for form, (more, _) in FORMS.items():
        commands[form] = command(
            args, "record", record, machine, options + more, program
        )
    medians = measured(args, f"{title}, {machine}", commands)
    ratios = [f"{medians[form] / medians['count']:.2f}" for form in FORMS]
    # The last that ran has objects.
    return [
        machine, f"{title}, {isa}", f"{medians['count']:.2f}", *ratios,
        f"{os.path.getsize(record) / 1e3:.0f}",
    ]  # fmt: skip


def other_row(args, title, tool, program, folder):
    record = os.path.join(folder, "tally.data")
    more, aim = OTHERS[tool]
    options = [word for pair in bench.GEOMETRY for word in ("--set", pair)]
    options += [*more, "-e", bench.CACHEGRIND_EVENTS]
    medians = measured(args, f"{title}, {tool}'s counts", {
        "record": command(
            args, "record", record, "host-model", options, program
        ),
        tool: [
            args.valgrind, "-q", f"--tool={tool}", "--cache-sim=yes",
            "--branch-sim=yes",
            f"--{tool}-out-file=" + os.path.join(folder, tool),
            *bench.CACHEGRIND, *program,
        ],
    })  # fmt: skip
    return [
        tool, title, f"{medians['record']:.2f}", f"{medians[tool]:.2f}",
        f"{medians['record'] / medians[tool]:.2f}", f"{aim}",
    ]  # fmt: skip


SYSTEM_PYTHON = "/usr/bin/python3"
# A program with many instructions that run few times.
PYTHON = ["-c", "import argparse, asyncio, csv, decimal, difflib, email, json,"
          " logging, tarfile, unittest, xml.dom.minidom"]
FOUR_EVENTS = ("instructions,branch-misses,L1-dcache-load-misses,"
               "L1-icache-load-misses")


def memory_rows(args, python, folder):
    """Bytes for each distinct instruction over plain QEMU, of which are to be at
    most 64 of a record: four events, one thread, no callers."""
    record = os.path.join(folder, "tally.data")
    program = [python, *PYTHON]
    ways = {
        "plain": [shutil.which("qemu-x86_64"), *program],
        "count": command(args, "count", os.devnull, "host-model",
                         ["-e", FOUR_EVENTS], program),
        "record": command(args, "record", record, "host-model",
                          ["--no-callers", "-e", FOUR_EVENTS], program),
    }  # fmt: skip
    peaks = {name: [] for name in ways}
    for _ in range(args.runs):
        for name, words in ways.items():
            peaks[name].append(bench.run(words)[1])
    medians = {name: statistics.median(kib) for name, kib in peaks.items()}
    shown = subprocess.run(
        [args.tally, "report", "--by", "instruction", "--format", "csv", "-e",
         "instructions", record],
        capture_output=True, check=True)  # fmt: skip
    count = shown.stdout.count(b"\n") - 2  # the heading, and the total
    rows = [["memory", "instructions", "MiB over plain", "bytes each"]]
    for name in ("count", "record"):
        over = medians[name] - medians["plain"]
        rows.append([name, f"{count}", f"{over / 1024:.1f}",
                     f"{over * 1024 / count:.0f}"])
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=os.path.abspath, required=True)
    parser.add_argument("--guests", type=os.path.abspath, required=True)
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    args.valgrind = shutil.which("valgrind")
    guests = Path(args.guests)
    show = bench.printer()
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as folder:
        data = os.path.join(folder, "input")
        bench.write_input(data, machines.INPUT_SIZE)
        script = str(bench.ROOT / "bench" / "lua" / "bench.lua")
        workloads = (
            ("bzip2", ["-9", "-c", data]),
            ("lua", [script, machines.LUA_SCALE]),
        )
        rows = [[
            "machine", "workload", "count s",
            *(f"{form} / count ({aim})" for form, (_, aim) in FORMS.items()),
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
            rows = [["counts of", "workload", "record s", "its s", "ratio",
                     "aim"]]
            for title, words in workloads:
                program = [str(guests / f"{title}.x86_64"), *words]
                for tool in OTHERS:
                    rows.append(other_row(args, title, tool, program, folder))
            show(rows)
        if platform.machine() == "x86_64" and os.path.exists(SYSTEM_PYTHON):
            print()
            show(memory_rows(args, SYSTEM_PYTHON, folder))


if __name__ == "__main__":
    main()
