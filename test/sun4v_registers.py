#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""sun4v_registers.py TALLY: the 90 registers of the Victoria Falls performance
register API as `tally list registers` knows them, against the address algebra
of the document (rules V01, V02, V04, V07 and V08). Reports TAP."""

import json
import subprocess
import sys

PORTS = {"LPU_A": 1, "LPU_B": 3, "LPU_C": 5, "LPU_D": 7, "GPD": 9, "ASU": 0xb}


def registers(tally):
    done = subprocess.run(
        [tally, "list", "registers", "-m", "ultrasparc-t2plus", "-j"],
        stdout=subprocess.PIPE, check=True)
    rows = json.loads(done.stdout)["registers"]
    return {r["number"]: r for r in rows if r.get("number", -1) >= 0}


# V01 V04 V07: number, name, local and global address.
def controllers():
    for node in range(4):
        for mcu in range(2):
            for pic, name in enumerate(("PCR", "PIC")):
                low = mcu << 12 | 0x400 + 8 * pic
                yield (2 + 4 * node + 2 * mcu + pic,
                       f"NODE{node}_MCU{mcu}_{name}",
                       0x84 << 32 | low, 0xd0 + 4 * node << 32 | low)


# V02 V07 V08: the local address is Zambezi[15:0] behind 0x81.3000, the global
# one has the fields of sections 2.4 to 2.6.
def hubs():
    number = 18
    for z in range(4):
        for block, port in PORTS.items():
            for i, name in enumerate(("PCR", "PIC0", "PIC1")):
                yield (number, f"ZAM{z}_{block}_{name}",
                       0x81_3000_0000 | port << 12 | 8 * i,
                       0xe1 + 4 * z << 32 | 0x3000_0000 | port << 14 |
                       z << 12 | 8 * i)
                number += 1


def address(row, key):
    value = row.get(key)
    return int(value, 0) if isinstance(value, str) else value


def check(rows, wanted):
    for number, name, local, everywhere in wanted:
        row = rows.get(number, {})
        seen = (row.get("name"), address(row, "local_address"),
                address(row, "global_address"))
        if seen != (name, local, everywhere):
            yield f"{number}: {seen}, not {name} {local:#x} {everywhere:#x}"


def main():
    rows = registers(sys.argv[1])
    tests = [
        ("V02 the numbers are 0 to 89",
         [] if sorted(rows) == list(range(90)) else [str(sorted(rows))]),
        ("V01 V04 V07 memory controllers", list(check(rows, controllers()))),
        ("V02 V07 V08 Zambezi", list(check(rows, hubs()))),
    ]
    print(f"1..{len(tests)}")
    for i, (name, faults) in enumerate(tests, 1):
        print(f"{'not ' if faults else ''}ok {i} {name}")
        for fault in faults:
            print(f"# {fault}")


main()
