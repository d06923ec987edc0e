#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""examples/toycpu says what its arithmetic says, and doc/pmu.md shows the
example as it is. Takes the program and the source root; reports TAP."""

import pathlib
import subprocess
import sys

PERIOD, INSTRUCTIONS, LOOP = 1000, 3500, 7


def expected():
    for last in range(PERIOD - 1, INSTRUCTIONS, PERIOD):
        yield f"interrupt at {0x1000 + last % LOOP * 4:#x}, counters 0x1"
    loads = -(-INSTRUCTIONS // 3)
    yield f"{INSTRUCTIONS % PERIOD} instructions since, {loads} loads"


def report(number, name, got, wanted):
    print(f"{'' if got == wanted else 'not '}ok {number} {name}")
    if got != wanted:
        print("# got", repr(got))
        print("# wanted", repr(wanted))


def main():
    root = pathlib.Path(sys.argv[2])
    print("1..2")
    done = subprocess.run([sys.argv[1]], capture_output=True, text=True)
    report(1, "toycpu", (done.returncode, done.stdout.splitlines()),
           (0, list(expected())))
    source = (root / "examples" / "toycpu.c").read_text().splitlines()
    shown = [line[4:] for line in (root / "doc" / "pmu.md").read_text()
             .splitlines() if line.startswith("    ") or not line]
    at = shown.index(source[0]) if source[0] in shown else 0
    report(2, "the guide's example is toycpu.c",
           shown[at:at + len(source)], source)


main()
