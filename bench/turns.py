#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""turns.py --tally FILE --guests DIR: what threads cost on each machine.

The same work (test/guest/crew.c sorts 64 times) is done by 2, 8 and 64 threads with an
array each that take turns, with the default quantum and with turns of 1,000
instructions, and by a program of one thread that has as many arrays. Times are the
processor time, user's and the system's, of all that runs; ratios are to the program of
one thread with the same events. Then eight threads
run side by side (--parallel) on two host cores and on one: wall time, and processor
time, which an otherwise busy host does not stretch.

The configurations of a machine take turns; printed are medians and ratios of
medians. BENCH_FORMAT=markdown prints tables for pages.
"""

import argparse
import os
import statistics
import subprocess
import time
from pathlib import Path

import bench
import machines

SORTS = 64
THREADS = (2, 8, 64)
QUANTA = {"default": [], "1,000": ["--quantum", "1000"]}
EVENTS = ("instructions", "all")
AIM = 1.25  # the most that the default quantum may take, in times of one thread
AIM_OF_PARALLEL = 0.7  # two cores' share of the wall time of one


def command(args, isa, machine, events, threads, options, arrays=1):
    """Counts sorts by so many threads; by one, which is the program's only one, where
    there are 0."""
    return [
        args.tally, "count", "-q", "-o", os.devnull, "-m", machine,
        "-e", events, *options, "--", str(args.guests / f"crew.{isa}"),
        str(threads), str(SORTS // max(threads, arrays)), str(arrays),
    ]  # fmt: skip


def timed(words, cpus):
    """Returns the (wall, processor) seconds of a command on these cpus."""
    old = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        before, start = os.times(), time.monotonic()
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
        wall, after = time.monotonic() - start, os.times()
        return wall, sum(
            getattr(after, key) - getattr(before, key)
            for key in ("children_user", "children_system")
        )
    finally:
        os.sched_setaffinity(0, old)


def medians(args, title, runs):
    """Runs {key: (command, cpus)} in turns. Returns the medians of wall and of
    processor seconds, two of {key: seconds}."""
    times = {key: [] for key in runs}
    for turn in range(args.runs):
        for key, (words, cpus) in runs.items():
            bench.progress(
                f"bench: threads, {title}, run {turn + 1} of {args.runs}: {key}"
            )
            times[key].append(timed(words, cpus))
    bench.progress("")
    return [
        {key: statistics.median(t[i] for t in times[key]) for key in times}
        for i in range(2)
    ]


def turns(args, selected, cpus):
    yield [
        "machine", "guest", "events", "quantum", "one thread, 8 arrays s",
        *(f"{n} threads" for n in THREADS), "aim",
    ]  # fmt: skip
    for isa, machine in selected:
        for events in EVENTS:
            runs = {
                ("one", n): (command(args, isa, machine, events, 0, [], n), cpus)
                for n in THREADS
            }
            for quantum, options in QUANTA.items():
                for n in THREADS:
                    runs[quantum, n] = (
                        command(args, isa, machine, events, n, options), cpus
                    )  # fmt: skip
            spent = medians(args, f"{machine}, {events}", runs)[1]
            for quantum in QUANTA:
                yield [
                    machine, isa, events, quantum, f"{spent['one', 8]:.2f}",
                    *(f"{spent[quantum, n] / spent['one', n]:.2f}" for n in THREADS),
                    f"{AIM}" if quantum == "default" else "",
                ]  # fmt: skip


def parallel(args, selected, cpus):
    yield [
        "machine", "guest", "one core s", "two cores s", "wall ratio", "aim",
        "cpu ratio",
    ]  # fmt: skip
    for isa, machine in selected if len(cpus) == 2 else []:
        words = command(args, isa, machine, "all", 8, ["--parallel"])
        wall, spent = medians(
            args, machine, {"one": (words, cpus[:1]), "two": (words, cpus)}
        )
        yield [
            machine, isa, f"{wall['one']:.2f}", f"{wall['two']:.2f}",
            f"{wall['two'] / wall['one']:.2f}", f"{AIM_OF_PARALLEL}",
            f"{spent['two'] / spent['one']:.2f}",
        ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=os.path.abspath, required=True)
    parser.add_argument("--guests", type=os.path.abspath, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--machines", help="these alone, with commas between")
    parser.add_argument("--only", choices=("turns", "parallel"))
    args = parser.parse_args()
    args.guests = Path(args.guests)
    selected = [
        (isa, name)
        for isa, names in machines.machines(args.tally).items()
        for name in names
        if not args.machines or name in args.machines.split(",")
    ]
    show = bench.printer()
    cpus = sorted(os.sched_getaffinity(0))[:2]
    bench.print_heading(args.runs)
    if args.only != "parallel":
        show(list(turns(args, selected, cpus)))
        print()
    if args.only != "turns":
        show(list(parallel(args, selected, cpus)))


if __name__ == "__main__":
    main()
