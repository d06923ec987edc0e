#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""blocks.py --tally FILE --floor FILE --guests DIR: what each block costs.

Runs a program of 1.2 million blocks, each executed four times
(test/guest/blocks.c), under plain QEMU, under an empty plugin (bench/floor.c)
and under tally with all events of a machine, in turns. Printed are, for each
machine, the bytes that a block takes beyond those that it takes of plain QEMU,
and how many times plain's time, user and system, the run takes: medians, beside
the aims. Memory is the peak of a run less that of a run of 60 blocks.
"""

import argparse
import os
import resource
import statistics
from pathlib import Path

import bench

MACHINES = [
    ("ultrasparc-t2", "sparc64"), ("r10000", "mips64"),
    ("host-model", "x86_64"), ("montecito", "x86_64"),
]  # fmt: skip
FEW = 60  # blocks
TIMES = "4"  # executions of each
AIM_BYTES = 400
AIM_RATIO = 1.6


def run(command):
    """Returns the seconds of user and system, and the peak bytes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    _, peak = bench.run(command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime - before.ru_utime
    return seconds + after.ru_stime - before.ru_stime, peak * 1024


def commands(args, machine, isa):
    """Returns {way: the beginning of its command line}."""
    qemu = [bench.tool(f"qemu-{isa}")]
    return {
        "plain": qemu,
        "floor": [*qemu, "-plugin", args.floor],
        "tally": [args.tally, "count", "-q", "-o", os.devnull, "-m", machine,
                  "-e", "all", "--"],
    }  # fmt: skip


def row(args, machine, isa):
    guest = str(args.guests / f"blocks.{isa}")
    ways = commands(args, machine, isa)
    times = {way: [] for way in ways}
    sizes = {way: [] for way in ways}
    for turn in range(args.runs):
        for way, command in ways.items():
            bench.progress(f"bench: blocks, {machine}, run {turn + 1}: {way}")
            _, least = run([*command, guest, str(FEW), TIMES])
            seconds, peak = run([*command, guest, str(args.blocks), TIMES])
            times[way].append(seconds)
            sizes[way].append(peak - least)
    bench.progress("")
    seconds = {way: statistics.median(times[way]) for way in ways}
    size = {way: statistics.median(sizes[way]) / args.blocks for way in ways}
    return [
        machine, isa, f"{size['plain']:.0f}",
        f"{size['tally'] - size['plain']:.0f}", str(AIM_BYTES),
        f"{seconds['plain']:.2f}", f"{seconds['tally']:.2f}",
        f"{seconds['floor'] / seconds['plain']:.2f}",
        f"{seconds['tally'] / seconds['plain']:.2f}", str(AIM_RATIO),
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=os.path.abspath, required=True)
    parser.add_argument("--floor", type=os.path.abspath, required=True)
    parser.add_argument("--guests", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--blocks", type=int, default=1_200_000)
    parser.add_argument("--only", help="a machine")
    args = parser.parse_args()
    show = bench.printer()
    bench.print_heading(
        args.runs, f"; {args.blocks} blocks, {TIMES} executions of each"
    )
    head = [
        "machine", "guest", "plain B", "tally's B", "aim", "plain s", "tally s",
        "floor x", "tally x", "aim",
    ]  # fmt: skip
    rows = [
        row(args, machine, isa)
        for machine, isa in MACHINES
        if args.only in (None, machine)
    ]
    show([head, *rows])


if __name__ == "__main__":
    main()
