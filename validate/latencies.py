# SPDX-License-Identifier: MIT
"""Part d: latencies that were published, beside a list walked on the model.

Each row of latencies.toml is a walk of kernels/walk.c whose elements lie so that it
misses exactly the levels that the row means. Two runs differ by their steps alone,
so that the cycles between them are those of the steps. A walk `from` which the
row's is measured is taken off: what a miss costs, where that is what was published.
"""

import functools
import tomllib

from ledger import Part, Row, Table, plain_table, summary
from tools import HERE, Missing, at_once, compiled, counted

LETTER = "d"
TITLE = "Published latencies"

# Thousands of steps of the two runs.
STEPS = (4, 20)


def known(_args):
    """The names of programs that --programs can choose: none."""
    return set()


def cycles_of_step(args, row, walk):
    """The cycles of one step of a walk: (stride, lines)."""
    program = args.folder / f"walk.{row['isa']}"
    few, many = (counted(args, row["machine"], ("cycles",),
                         [program, *map(str, walk), str(steps)],
                         row.get("set", []))[0] for steps in STEPS)
    return (many - few) / (1000 * (STEPS[1] - STEPS[0]))


def measured(args, row):
    """A row of the ledger, or what is missing for it."""
    try:
        ours = cycles_of_step(args, row, row["walk"])
        if "from" in row:
            ours -= cycles_of_step(args, row, row["from"])
    except Missing as missing:
        return str(missing)
    note = "circular" if row.get("circular") else row.get("note", "")
    return Row("list walk", row["machine"], row["figure"], round(ours, 2),
               row["reference"], row["source"], unit="cycles", note=note,
               scored=not row.get("circular"))


def build(args, part, rows):
    """Compiles the kernel for each architecture; returns the rows that can run."""
    lacking = {}
    for isa in sorted({row["isa"] for row in rows}):
        try:
            compiled(f"{isa}-linux-gnu-gcc", args.folder / f"walk.{isa}", "walk.c",
                     "-O2", "-std=gnu17", "-D_GNU_SOURCE", "-static")
        except Missing as missing:
            lacking[isa] = str(missing)
    for machine, isa in dict.fromkeys((row["machine"], row["isa"])
                                      for row in rows):
        if isa in lacking:
            part.skip(machine, lacking[isa])
    return [row for row in rows if row["isa"] not in lacking]


def measure(args):
    part = Part(LETTER, TITLE)
    with open(HERE / "latencies.toml", "rb") as file:
        facts = tomllib.load(file)
    mine = [row for row in facts["row"]
            if args.machine in (None, row["machine"])]
    rows = build(args, part, mine)
    for row, found in zip(rows, at_once(functools.partial(measured, args), rows)):
        if isinstance(found, str):
            part.skip(f"{row['machine']}: {row['figure']}", found)
        else:
            part.rows.append(found)
    part.incomparable = [(f"{n['machine']}: {n['figure']}", n["why"])
                         for n in facts["incomparable"]
                         if args.machine in (None, *n["machine"].split(", "))]
    part.notes.append("Cycles, estimated, of a step of a walk that misses just the "
                      "levels meant. Circular: the machine's own parameter is from this "
                      "source, so that the row checks the model's arithmetic and "
                      "not the chip.")
    if part.rows:
        part.tables.append(plain_table(part.rows))
        errors = [row.error for row in part.rows if row.scored]
        part.tables.append(Table(
            ("latencies", "number", "median error", "worst"),
            [summary("not circular", errors),
             summary("circular", [row.error for row in part.rows
                                  if not row.scored])]))
    return part
