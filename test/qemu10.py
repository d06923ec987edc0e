#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""qemu10.py BUILD [WORD]: the QEMU that scripts/setup qemu builds counts what the
qemu-user of PATH counts, and the same each time.

With $TALLY_QEMU, or where the folder of scripts/setup has that QEMU; else skipped.
TAP.
"""
import os
import pathlib
import sys

import tallytest as t
from live_help import ARCHES, INSTRUCTIONS, at_arch, g
from record_help import bzip2, lua, words

VDSO = {"x86_64", "aarch64", "riscv64"}  # of them QEMU 10 has one, and 7.2 none
# Programs without a C library, whose memory is their own alone.
BARE = {"x86_64": ("rep", "splits", "vectors", "access"),
        "aarch64": ("access",)}
# Programs whose exact counts depend on no address; the second ones use strings and
# the heap, which the C library's search for a vDSO has moved.
PLAIN = {name: lambda isa, name=name: [g(name, isa)]
         for name in ("hello", "regions", "arrays")}
HEAP = {"words": words, "bzip2": bzip2}


def built():
    """The folder of the QEMU that scripts/setup builds, or None."""
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    folder = os.environ.get("TALLY_QEMU") or pathlib.Path(cache, "tally/qemu")
    return folder if pathlib.Path(folder, "tally-qemu").exists() else None


FOLDER = built()


def counted(folder, program, *options, events="all"):
    env = {k: v for k, v in os.environ.items() if k != "TALLY_QEMU"}
    if folder is None:  # the one of PATH, whatever else there is
        env |= {"XDG_CACHE_HOME": "/nonexistent"}
    else:
        env |= {"TALLY_QEMU": str(folder)}
    try:
        c = t.Count(["-e", events, "--clean-env", *options], program, env=env)
    except AssertionError as error:
        if folder is None and "qemu" in str(error):
            raise t.Skip("PATH has no qemu-user with plugins") from None
        raise
    return c


def exact(c):
    """The exact counts; the others follow from where memory is, too."""
    return {e["name"]: e["value"] for e in c.json["events"]
            if e["fidelity"] == "exact"}


def both(program, *options):
    """A run under each QEMU, with the same output and status."""
    theirs = counted(None, program, *options)
    ours = counted(FOLDER, program, *options)
    t.equal(ours.stdout, theirs.stdout, f"{program}: stdout")
    t.equal(ours.status, theirs.status, f"{program}: status")
    return ours, theirs


def bare(isa, name):
    ours, theirs = both([g(name, isa)])
    t.same(ours.values, theirs.values, f"{name}, this QEMU and that of PATH")


@at_arch("a C program's exact counts are those of PATH's QEMU")
def plain(isa):
    # The C library of a static program looks for a vDSO before main().
    span = ["--from", "main"] if isa in VDSO else []
    programs = PLAIN if isa in VDSO else PLAIN | HEAP
    for name, program in programs.items():
        ours, theirs = both(program(isa), *span)
        assert len(exact(ours)) > 5, exact(ours)
        t.same(exact(ours), exact(theirs),
               f"{name}, this QEMU and that of PATH")


@at_arch("all events of whole programs are the same each time")
def repeats(isa):
    for program in ([g("hello", isa)], lua(isa),
                    [g("together", isa), "locks", 4, 50],
                    [g("together", isa), "barrier", 5, 40]):
        runs = [counted(FOLDER, program) for _ in range(3)]
        for run in runs[1:]:
            t.same(runs[0].values, run.values, f"{program[0]}, two runs")
        t.equal({e["fidelity"] for e in runs[0].json["events"]} & {"varies"},
                set(), f"{program[0]}")


@at_arch("instructions do not depend on the events that are counted")
def alone(isa):
    event = INSTRUCTIONS[isa]
    for program in (lua(isa), [g("together", isa), "locks", 4, 50]):
        whole = counted(FOLDER, program)
        one = counted(FOLDER, program, events=event)
        t.equal(one[event], whole[event], program[0])


@t.named("tally doctor says that threads take turns and registers are read")
def doctor():
    done = t.run(t.tally(), "doctor",
                 env=os.environ | {"TALLY_QEMU": str(FOLDER)})
    for isa in ARCHES:
        t.contains(done.stdout, f"  ok     {isa} programs: {FOLDER}/qemu-{isa}\n"
                   "         QEMU 10.0.13, plugin interface 4 or later: "
                   "threads take turns; registers are read\n")


for arch, names in BARE.items():
    for guest in names:
        t.case(f"{arch}: {guest} counts what it counts under PATH's QEMU",
               bare, arch, guest)

if FOLDER is None:
    print("1..0 # SKIP no QEMU that scripts/setup qemu has built")
    sys.exit()
t.main()
