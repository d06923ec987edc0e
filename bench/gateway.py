#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gateway.py --tally FILE --guests DIR: what it costs a program to read its
counters (test/guest/gateway/readcost.c), beside the aims.

Runs take turns, so that a slow minute falls on all; of each number the least
is printed. Under plain QEMU an update reads the host's clock and no events.
"""
import argparse
import os
import subprocess
from pathlib import Path

ROUNDS = 5
LIVE_NS, LATE_NS, UPDATE_NS = 10, 300, 60

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
        plain = run([f"qemu-{guest}", program])
        got |= {f"plain {name}": ns for name, ns in plain.items()}
        for name, ns in got.items():
            least[name] = min(ns, least.get(name, ns))
    return least


def report(guest, ns):
    print(f"{guest}: nanoseconds a reading")
    live = ns["live"] - ns["empty"]
    update = ns["update"] - ns["plain update"]
    print(f"  live value, one load                {live:7.1f}   aim {LIVE_NS}")
    print(f"  handle, live values                 {ns['handle']:7.1f}")
    print(f"  handle that asks                    {ns['late']:7.1f}   "
          f"aim {LATE_NS}")
    print(f"  update, two events and cycles       {ns['update']:7.1f}")
    print(f"    over one of plain QEMU            {update:7.1f}   "
          f"aim {UPDATE_NS}")
    print(f"  doorbell alone                      {ns['call']:7.1f}")
    print(f"    over a call of plain QEMU         "
          f"{ns['call'] - ns['plain call']:7.1f}")
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
