# SPDX-License-Identifier: MIT
"""Holds tally's models against arithmetic, published counts and latencies, this
host's clock, perf and cachegrind: the script behind `tally validate`, which
checks the options, hands them over, and writes what the script prints.

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

if sys.version_info < (3, 11):
    print("tally validate: Python 3.11 or later is needed, and python3 is "
          + sys.version.split()[0], file=sys.stderr)
    sys.exit(125)

import clock
import counts
import geometry
import latencies
import shares
from ledger import written
from tools import (HERE, MODEL, USAGE, Failed, Missing, counted,
                   nearest_machine, processor, processor_fields)

PARTS = (counts, clock, shares, latencies, geometry)


def options():
    parser = argparse.ArgumentParser(prog="tally validate", add_help=False)
    parser.add_argument("--tally", required=True)
    parser.add_argument("--part", default="a,b,c,d,e")
    parser.add_argument("--machine")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--format", default="text")
    parser.add_argument("--programs")
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--guests", type=pathlib.Path,
                        default=HERE.parent / "guests")
    parser.add_argument("--deterministic", type=pathlib.Path)
    args = parser.parse_args()
    args.programs = args.programs.split(",") if args.programs else None
    args.guests = args.guests.resolve()
    # The machine of the parts that compare with this host.
    args.host_machine, args.host_says = (
        (args.machine, f"{args.machine} was asked for") if args.machine
        else nearest_machine(processor_fields()))
    return args


def fail(status, text):
    print(f"tally validate: {text}", file=sys.stderr)
    sys.exit(status)


def check(args, modules):
    """Refuses what would fail with each program."""
    names = set().union(*(module.known(args) for module in modules))
    unknown = sorted(set(args.programs or ()) - names)
    if unknown:
        fail(2, f"no part {args.part} has a program {', '.join(unknown)}; "
             f"there are {', '.join(sorted(names)) or 'none'}")
    for sets in ([], args.set) if args.set else ():
        try:
            counted(args, args.host_machine, ("cycles",), ["true"],
                    [*MODEL, *sets], refused=USAGE)
        except Missing as missing:
            # Without --set the part says why it is skipped.
            if sets:
                fail(2, f"--set: {missing}")
            break


def measured(args, modules):
    """The parts of the ledger, one after the other."""
    parts = []
    for module in modules:
        print(f"tally validate: part {module.LETTER}", file=sys.stderr, flush=True)
        parts.append(module.measure(args))
    return parts


ASKING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def end(number, _frame):
    """Ends the command, which removes the folder of the run. The signal may come
    twice, from the terminal and from tally: the second changes nothing."""
    for asking in ASKING:
        signal.signal(asking, signal.SIG_IGN)
    sys.exit(128 + number)


def main():
    for asking in ASKING:
        # As nohup and shells have it, which let a command ignore a signal.
        if signal.getsignal(asking) != signal.SIG_IGN:
            signal.signal(asking, end)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    args = options()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    modules = [m for m in PARTS if m.LETTER in args.part.split(",")]
    try:
        with tempfile.TemporaryDirectory(prefix="tally-validate-") as folder:
            args.folder = pathlib.Path(folder)
            check(args, modules)
            parts = measured(args, modules)
    except Failed as failed:
        fail(125, str(failed))
    except OSError as error:
        fail(125, f"{error.filename or 'a file of the run'}: {error.strerror}")
    text = written(parts, args.format,
                   {"processor": processor(processor_fields()),
                    "machine": args.host_machine})
    try:
        with sys.stdout as out:
            out.write(text)
    except OSError as error:
        fail(125, f"cannot write the ledger: {error.strerror}")


if __name__ == "__main__":
    main()
