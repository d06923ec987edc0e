#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gateway.py --tally FILE --guests DIR: what it costs a program to read its
counters (test/guest/gateway/readcost.c), beside the aims.

Runs take turns, so that a slow minute falls on all; of each number the least
is printed. The doorbell's is what it takes over a system call that there is
not under plain QEMU.
"""
import argparse
import os
import subprocess
from pathlib import Path

ROUNDS = 5
LIVE_NS, DOORBELL_NS = 10, 300

# guest: machine, an event that is kept current, one that is not
GUESTS = {
    "sparc64": ("ultrasparc-t2", "All_instr", "L2_load_misses"),
    "mips64": ("r10000", "completed_instructions", "Cycles"),
    "mips64el": ("r10000", "completed_instructions", "Cycles"),
    "x86_64": ("host-model", "instructions", "cycles"),
}


def run(command):
    done = subprocess.run([str(word) for word in command], check=True,
                          capture_output=True, text=True)
    return {name: float(ns)
            for name, ns in (line.split() for line in done.stdout.splitlines())}


def measure(args, guest):
    machine, quick, late = GUESTS[guest]
    program = Path(args.guests, f"readcost.{guest}")
    least = {}
    for _ in range(ROUNDS):
        got = run([args.tally, "count", "-q", "-o", os.devnull, "-m", machine,
                   "-e", quick, "--", program, quick, late])
        got["plain"] = run([f"qemu-{guest}", program])["call"]
        for name, ns in got.items():
            least[name] = min(ns, least.get(name, ns))
    return least


def report(guest, ns):
    print(f"{guest}: nanoseconds a reading")
    live = ns["live"] - ns["empty"]
    bell = ns["late"] - ns["plain"]
    print(f"  live value, one load                {live:7.1f}   aim {LIVE_NS}")
    print(f"  handle, live values                 {ns['handle']:7.1f}")
    print(f"  handle, doorbell                    {ns['late']:7.1f}")
    print(f"    over a call of plain QEMU         {bell:7.1f}   "
          f"aim {DOORBELL_NS}")
    print(f"  doorbell alone over that            "
          f"{ns['call'] - ns['plain']:7.1f}")
    if "register" in ns:
        print(f"  register of the monitor             {ns['register']:7.1f}")
    if "instruction" in ns:
        print(f"  rd %pic, by the shim                {ns['instruction']:7.1f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tally", required=True)
    parser.add_argument("--guests", required=True)
    args = parser.parse_args()
    for guest in GUESTS:
        if Path(args.guests, f"readcost.{guest}").exists():
            report(guest, measure(args, guest))


main()
