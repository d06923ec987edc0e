#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""machines.py --tally FILE --floor FILE --guests DIR: what each machine costs.

Runs bzip2 -9 and Lua, built for each instruction set, with the whole model of
each machine that has it, as `tally list machines` says; beside plain QEMU and
an empty plugin (bench/floor.c). All of a workload take turns, so that a slow
minute falls on all of them: user time, medians, ratios of medians.
BENCH_FORMAT=markdown prints tables for the README.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

import bench

INPUT_SIZE = 1_000_000  # bytes for bzip2
LUA_SCALE = "8"

# The most that the whole model may take, in times of the floor.
AIMS = {
    "ultrasparc-t1": 2.2, "ultrasparc-t2": 2.2, "r10000": 2.2,
    "r10000-rev2": 2.2, "r12000": 2.2, "sparc-t4": 2.8,
    "ultrasparc-t2plus": 2.8, "montecito": 3.5,
}  # fmt: skip

# A second row of a machine: title, events and aim.
PARTS = {
    "montecito": (
        "basic, stall and L1",
        "CPU_OP_CYCLES,IA64_INST_RETIRED,NOPS_RETIRED,BACK_END_BUBBLE.ALL,"
        "BE_EXE_BUBBLE.ALL,BE_FLUSH_BUBBLE.ALL,BE_L1D_FPU_BUBBLE.ALL,"
        "BE_RSE_BUBBLE.ALL,L1D_READS_SET0,L1D_READ_MISSES.ALL,L1I_READS,"
        "L2I_DEMAND_READS",
        2.2,
    ),
}


def machines(tally):
    """Returns {instruction set: the machines that have it}."""
    done = subprocess.run(
        [tally, "list", "machines", "-j"], check=True, stdout=subprocess.PIPE
    )
    by_isa = {}
    for machine in json.loads(done.stdout)["machines"]:
        # A machine without an instruction set of its own runs x86-64 programs.
        isas = machine["isas"] or ["x86_64"]
        for isa in isas if machine["model"] else []:
            by_isa.setdefault(isa, []).append(machine["name"])
    return by_isa


def selections(names):
    """Yields title, machine, events and aim of each row of these machines."""
    for name in names:
        yield name, name, "all", AIMS.get(name)
        if name in PARTS:
            title, events, aim = PARTS[name]
            yield f"{name}: {title}", name, events, aim


def count(args, machine, events, command):
    return [
        args.tally, "count", "-q", "-o", os.devnull, "-m", machine,
        "-e", events, "--", *command,
    ]  # fmt: skip


def commands(args, isa, rows, program):
    """Returns {title: command line}, in the order of the turns."""
    qemu = [bench.tool(f"qemu-{isa}"), "-seed", "1"]
    if isa == "x86_64":
        qemu += ["-cpu", bench.CPU]
    return {
        "plain": qemu + program,
        "floor": [*qemu, "-plugin", args.floor, *program],
        **{
            title: count(args, machine, events, program)
            for title, machine, events, _ in rows
        },
    }


def workload_rows(args, title, isa, names, program):
    times = {}
    rows = list(selections(names))
    for turn in range(args.runs):
        for name, command in commands(args, isa, rows, program).items():
            bench.progress(
                f"bench: {title}, {isa}, run {turn + 1} of {args.runs}: {name}"
            )
            times.setdefault(name, []).append(bench.run(command)[0])
    bench.progress("")
    medians = {name: statistics.median(t) for name, t in times.items()}
    for name, _, _, aim in rows:
        yield [
            name,
            f"{title}, {isa}",
            *(f"{medians[key]:.2f}" for key in ("plain", "floor", name)),
            f"{medians[name] / medians['plain']:.2f}",
            f"{medians[name] / medians['floor']:.2f}",
            f"{aim:.1f}" if aim else "",
        ]


def costs(args, by_isa, data):
    script = str(bench.ROOT / "bench" / "lua" / "bench.lua")
    yield [
        "machine", "workload", "plain s", "floor s", "model s", "x plain",
        "x floor", "aim",
    ]  # fmt: skip
    for isa, names in by_isa.items():
        for title, words in (
            ("bzip2", ["-9", "-c", data]),
            ("lua", [script, LUA_SCALE]),
        ):
            program = [str(args.guests / f"{title}.{isa}"), *words]
            yield from workload_rows(args, title, isa, names, program)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=os.path.abspath, required=True)
    parser.add_argument("--floor", type=os.path.abspath, required=True)
    parser.add_argument("--guests", type=os.path.abspath, required=True)
    parser.add_argument("--runs", type=int, default=5)
    args = parser.parse_args()
    args.guests = Path(args.guests)
    by_isa = machines(args.tally)
    show = bench.printer()
    bench.print_heading(
        args.runs,
        f"; bzip2 of {INPUT_SIZE / 1e6:g} MB, Lua at scale {LUA_SCALE}",
    )
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as folder:
        data = os.path.join(folder, "input")
        bench.write_input(data, INPUT_SIZE)
        show(list(costs(args, by_isa, data)))


if __name__ == "__main__":
    main()
