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
import errno
import os
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
    parser.add_argument("--output")
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


def replaces(path):
    """Whether a ledger takes the place of the file: not so of a device or pipe."""
    return not os.path.exists(path) or os.path.isfile(path)


def beside(path):
    """A new file in the folder of another; the caller removes it."""
    return tempfile.NamedTemporaryFile("w", encoding="utf-8", delete=False,
                                       dir=os.path.dirname(os.path.realpath(path)),
                                       prefix=".tally-validate-")


def write(path, text):
    """Writes a file whole or not at all: what was there stays until the new
    text is on the disk."""
    if not replaces(path):
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        return
    out = beside(path)
    try:
        with out:
            out.write(text)
            out.flush()
            os.fsync(out.fileno())
        if os.path.exists(path):
            mode = os.stat(path).st_mode & 0o7777
        else:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        os.chmod(out.name, mode)
        os.replace(out.name, os.path.realpath(path))
    except BaseException:
        pathlib.Path(out.name).unlink(missing_ok=True)
        raise


def check_output(path):
    """Refuses an output that cannot be written, and leaves nothing behind."""
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if os.path.exists(path) and not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        if replaces(path):
            out = beside(path)
            os.unlink(out.name)
            out.close()
    except OSError as error:
        fail(125, f"cannot write {path}: {error.strerror}")


def check(args, modules):
    """Refuses what would fail at the end, or with each program."""
    if args.output:
        check_output(args.output)
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


def main():
    # The folder of the run goes, however the command ends.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(128 + signal.SIGINT))
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
        if args.output:
            write(args.output, text)
        else:
            with sys.stdout as out:
                out.write(text)
    except OSError as error:
        fail(125, f"cannot write the ledger: {error.strerror}")


if __name__ == "__main__":
    main()
