#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""hierarchy.py --tally FILE --guests DIR: what replacement and prefetchers change.

Runs the everyday programs of predictors.py, the longest left out, on a host-model
with caches of stated sizes. One table has, for each replacement policy, how many
loads miss the L2 and the L3, divided by how many miss with LRU. Another table has,
for each prefetcher of the L1 data cache and of the L2, its coverage and accuracy.
Coverage is the share of lines that came in and were used, among these lines and the
loads that still miss. Accuracy is the share of the lines that came in which were
used. The counts are modelled and repeat; programs of the system may be of another
version elsewhere, and then count differently. BENCH_FORMAT=markdown prints the
tables for pages.
"""

import argparse
import json
import math
import os
import subprocess
import tempfile
from pathlib import Path

import bench
import predictors

GEOMETRY = {
    "l1i.size": "32K", "l1i.ways": 8, "l1d.size": "32K", "l1d.ways": 8,
    "l2.size": "256K", "l2.ways": 8, "l3.size": "512K", "l3.ways": 16,
}  # fmt: skip
TOO_LONG = {"cc1", "xz"}
REPLACEMENTS = ("lru", "plru", "srrip", "random", "fifo")
PREFETCHERS = {
    "l1d": {"next": {}, "stride": {}, "stream": {}},
    "l2": {"adjacent": {}, "stream": {"l2.prefetch_degree": 2,
                                      "l2.prefetch_distance": 4}},
}
MISSES = {"l1d": "L1-dcache-load-misses", "l2": "l2-load-misses"}


def count(args, words, report, sets, events):
    """The counts of a program on a machine."""
    subprocess.run(
        [args.tally, "count", "-q", "--clean-env", "-m", "host-model",
         *(w for key, value in {**GEOMETRY, **sets}.items()
           for w in ("--set", f"{key}={value}")),
         "-e", ",".join(events), "-j", "-o", report, "--", *words],
        check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return {e["name"]: e["value"]
            for e in json.loads(report.read_text())["events"]}


def replacements(args, words, report):
    """The misses of loads of L2 and L3 of each replacement, beside LRU's."""
    events = ("instructions", "l2-load-misses", "LLC-load-misses")
    counts = [count(args, words, report,
                    {"l2.replacement": kind, "l3.replacement": kind}, events)
              for kind in REPLACEMENTS]
    lru = counts[0]
    return lru, [[n[event] / lru[event] if lru[event] else math.nan
                  for event in events[1:]] for n in counts[1:]]


def prefetchers(args, words, report):
    """Coverage and accuracy of each prefetcher."""
    for level, kinds in PREFETCHERS.items():
        for kind, sets in kinds.items():
            n = count(args, words, report,
                      {f"{level}.prefetch": kind, **sets},
                      (MISSES[level], f"{level}-prefetcher-lines",
                       f"{level}-prefetcher-useful"))
            useful = n[f"{level}-prefetcher-useful"]
            lines = n[f"{level}-prefetcher-lines"]
            yield (useful / (useful + n[MISSES[level]]),
                   useful / lines if lines else math.nan)


def table(heads, rows):
    if os.environ.get("BENCH_FORMAT") == "markdown":
        print("| " + " | ".join(heads) + " |\n|---" + "|--:" * (len(heads) - 1)
              + "|")
        for row in rows:
            print("| " + " | ".join(row) + " |")
    else:
        for row in (heads, *rows):
            print(f"{row[0]:16}" + "".join(f"{cell:>20}" for cell in row[1:]))
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=Path, required=True)
    parser.add_argument("--guests", type=Path, required=True)
    args = parser.parse_args()
    args.tally, args.guests = args.tally.resolve(), args.guests.resolve()
    replaced, fetched = [], []
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "report"
        for program, words in predictors.programs(args, Path(name)).items():
            if program in TOO_LONG:
                continue
            bench.progress(f"bench: {program}")
            lru, ratios = replacements(args, words, report)
            thousand = lru["instructions"] / 1000
            replaced.append(
                [program, f"{lru['instructions'] / 1e6:.1f}",
                 f"{lru['l2-load-misses'] / thousand:.2f}, "
                 f"{lru['LLC-load-misses'] / thousand:.2f}",
                 *(", ".join(f"{r:.3f}" for r in pair) for pair in ratios)])
            fetched.append([program, *(
                f"{100 * cover:.0f} %, {100 * right:.0f} %"
                for cover, right in prefetchers(args, words, report))])
    bench.progress("")
    table(["program", "M instructions", "lru, of 1,000: L2, L3",
           *(f"{kind} / lru" for kind in REPLACEMENTS[1:])], replaced)
    table(["program", *(f"{level} {kind}" for level, kinds in
                        PREFETCHERS.items() for kind in kinds)], fetched)


if __name__ == "__main__":
    main()
