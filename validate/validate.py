#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds tally's models against arithmetic, published counts and latencies, this
host's clock, perf and cachegrind: the script behind `tally validate`, which
checks the options and hands them over.

Each part is a file: counts.py (a), clock.py (b), shares.py (c), latencies.py (d)
and geometry.py (e). What a part needs and does not find is listed as skipped, with
what mends it.
"""

import argparse
import pathlib
import resource
import signal
import sys
import tempfile

import clock
import counts
import geometry
import latencies
import shares
from ledger import written
from tools import HERE, nearest_machine, processor

PARTS = (counts, clock, shares, latencies, geometry)


def options():
    parser = argparse.ArgumentParser(prog="tally validate", add_help=False)
    parser.add_argument("--tally", required=True)
    parser.add_argument("--part", default="a,b,c,d,e")
    parser.add_argument("--machine")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--format", default="text")
    parser.add_argument("--output")
    parser.add_argument("--programs")
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--guests", type=pathlib.Path,
                        default=HERE.parent / "guests")
    parser.add_argument("--deterministic", type=pathlib.Path)
    args = parser.parse_args()
    args.programs = args.programs.split(",") if args.programs else None
    args.known = set()
    args.guests = args.guests.resolve()
    # The machine of the parts that compare with this host.
    args.host_machine, args.host_says = (
        (args.machine, f"{args.machine} was asked for") if args.machine
        else nearest_machine())
    return args


def main():
    # Ended as other commands are, without a traceback.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    args = options()
    try:
        out = open(args.output, "w") if args.output else sys.stdout
    except OSError as error:
        print(f"tally validate: cannot write {args.output}: {error.strerror}",
              file=sys.stderr)
        sys.exit(125)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    parts = []
    with tempfile.TemporaryDirectory(prefix="tally-validate-") as folder:
        args.folder = pathlib.Path(folder)
        for module in PARTS:
            if module.LETTER in args.part.split(","):
                print(f"tally validate: part {module.LETTER}", file=sys.stderr,
                      flush=True)
                parts.append(module.measure(args))
    try:
        with out:
            out.write(written(parts, args.format,
                              {"processor": processor()[0],
                               "machine": args.host_machine}))
    except OSError as error:
        print(f"tally validate: cannot write the ledger: {error.strerror}",
              file=sys.stderr)
        sys.exit(125)
    unknown = sorted(set(args.programs or ()) - args.known)
    if unknown:
        print(f"tally validate: no part {args.part} has a program "
              f"{', '.join(unknown)}; there are "
              f"{', '.join(sorted(args.known)) or 'none'}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
