#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns data/ into the const C tables of src/table/table.h, those of
src/pmu/table.h, which hold what the register models need, and the C of
src/table/signals.h: conditions and derived signals.

  gen_tables.py DATA TABLES_H TABLES_C SIGNALS_C PMU_H PMU_C [DEPFILE]
                                                    writes the files
  gen_tables.py --machine NAME DATA                 prints the C of one machine

Machines are sorted by name; signals, parameters and
events keep the order of their file. Bad data ends the run with one line that
names the file and the row, and nothing is written.
"""
import argparse
import pathlib
import sys

from catalogue import c_code, pmu_code, signal_code
from catalogue.generic import Generics
from catalogue.machine import claim, load_machine
from catalogue.model import check_ident, load_params
from catalogue.row import BadData, write_changed
from catalogue.signals import Signals


def load(root):
    """Returns signals, parameters, generic names and machines of a data folder,
    all checked."""
    params = load_params(root)
    signals = Signals(root, params)
    generics = Generics(root)
    names = sorted(p.name for p in root.glob("machines/*") if p.is_dir())
    machines, taken, seen = [], {}, {"COUNT"}
    if not names:
        raise BadData("data/machines: there is no machine")
    for name in names:
        machine, file = load_machine(root, name, signals.rows, params,
                                     generics)
        check_ident(file, seen, name)
        claim(file, taken, [name] + machine["aliases"])
        machines.append(machine)
    generics.done()
    return signals, params, generics, machines


def in_order(machines):
    """Returns the machines by name, but each behind its base, whose events its
    own are."""
    return sorted(machines, key=lambda m: (m["base"] or m["name"],
                                           bool(m["base"]), m["name"]))


def read_paths(root):
    """Returns the files and folders that the result depends on. A folder
    changes when a file comes."""
    yield from pathlib.Path(__file__).parent.glob("catalogue/*.py")
    yield from root.rglob("*.toml")
    yield from (p for p in [root, *root.rglob("*")] if p.is_dir())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", help="print the C of this one only")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("outputs", type=pathlib.Path, nargs="*")
    args = parser.parse_args()
    try:
        signals, params, generics, machines = load(args.data)
    except BadData as e:
        sys.exit(str(e).replace("\n", " "))
    if args.machine:
        rows = [m for m in machines if m["name"] == args.machine]
        if not rows:
            parser.error(f"no machine {args.machine}")
        print("\n".join(sum(map(c_code.code_machine, rows), []) +
                        c_code.code_machines(rows)), end="")
        return
    if len(args.outputs) not in (5, 6):
        parser.error("five files to write are needed: TABLES_H TABLES_C "
                     "SIGNALS_C PMU_H PMU_C")
    *written, pmu_h, pmu_c = args.outputs[:5]
    tables_h, tables_c, signals_c = written
    depfile = args.outputs[5:]
    machines = in_order(machines)
    write_changed(tables_h,
                  c_code.header(signals, params, generics, machines))
    write_changed(tables_c, c_code.code(params, generics, machines))
    write_changed(signals_c, signal_code.code(signals))
    write_changed(pmu_h, pmu_code.header(machines))
    write_changed(pmu_c, pmu_code.code(machines))
    if depfile:
        paths = " ".join(str(p).replace(" ", "\\ ")
                         for p in sorted(read_paths(args.data)))
        depfile[0].write_text(f"{tables_h} {tables_c} {signals_c} {pmu_h} "
                              f"{pmu_c}: {paths}\n")


if __name__ == "__main__":
    main()
