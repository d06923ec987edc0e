#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally count --accounting: accounting.py BUILD [WORD]

On each machine that has one, of real programs: the parts of a line are the
line, its numbers are those of the events that it names, and the three forms say
the same. On Montecito the cycles that retire are those that the thresholds of
IA64_INST_RETIRED tell, and the latency is what 4.11.2 makes of its counts.
"""
import csv
import io

import tallytest as t
from programs import PROGRAMS

t.cases.clear()  # of programs.py

MACHINES = sorted(
    path.parent.name for path in t.ROOT.glob("data/machines/*/accounting.toml")
    if path.parent.name != "fake")
WITH = {"r10000": ["r10000-rev2"], "ultrasparc-t2": ["ultrasparc-t2plus"]}
ISA = dict.fromkeys(("host-model", "montecito", "skylake", "icelake", "zen2",
                     "zen3", "zen4", "zen5"), "x86_64")
ISA |= dict.fromkeys(("neoverse-n1", "neoverse-v1", "cortex-a72"), "aarch64")
ISA["sifive-u74"] = "riscv64"
THRESHOLDS = range(1, 6)
COLUMNS = 9


def isa_of(machine):
    return ISA.get(machine, "mips64" if machine[0] == "r" else "sparc64")


def command(machine, program, *words):
    return [t.tally(), "count", "-m", machine, "--accounting", *words, "--",
            t.guest(f"{program}.{isa_of(machine)}"), *PROGRAMS[program]]


def lines_of(count):
    return {line["name"]: line for line in count.json["accounting"]["lines"]}


def account(machine, program, *words):
    return t.count(["-m", machine, "--accounting", *words],
                   t.guest(f"{program}.{isa_of(machine)}"), *PROGRAMS[program])


def close(got, wanted, what):
    """JSON has nine digits."""
    assert abs(got - wanted) < 1e-6 * max(wanted, 1), f"{what}: {got}, {wanted}"


def parts_add_up(lines):
    """But for a line whose parts are all idle: it is not divided."""
    wholes = {line["of"] for line in lines.values()
              if line["fidelity"] != "idle"} - {None}
    for whole in wholes:
        t.equal(sum(line["value"] for line in lines.values()
                    if line["of"] == whole), lines[whole]["value"], whole)
    assert "cycles" in wholes, "nothing is part of the cycles"


def names_events(machine, program, lines):
    """A line with one event is that event's count."""
    events = {line["formula"]: line["value"] for line in lines.values()
              if " " not in line["formula"] and line["formula"][0] != "@"}
    c = account(machine, program, "-e", ",".join(events))
    t.same({e: c[e] for e in events}, events, "events and lines")
    t.equal(len(c.json["events"]), len(events), "events beside the accounting")


def check(machine, program):
    c = account(machine, program)
    lines = lines_of(c)
    t.equal(c.json["events"], [], "events that nobody asked for")
    parts_add_up(lines)
    names_events(machine, program, lines)
    whole = lines["cycles"]["value"]
    assert whole > 0, "no cycles"
    for name, line in lines.items():
        if line["unit"] == "cycles":
            close(line["percent"], 100 * line["value"] / whole, name)
        assert line["fidelity"] != "idle" or "reason" in line, name


def check_forms(machine):
    lines = lines_of(account(machine, "lua"))
    rows = csv.reader(io.StringIO(t.run(
        *command(machine, "lua", "-x,"), check=True).stderr))
    values = {row[2]: row for row in rows}
    t.equal(sorted(values), sorted(f"accounting/{n}" for n in lines), "names")
    text = t.run(*command(machine, "lua"), check=True).stderr
    for name, line in lines.items():
        row = values[f"accounting/{name}"]
        t.equal(len(row), COLUMNS, "columns")
        close(float(row[0]), line["value"], name)
        t.equal(row[1], line["unit"], "unit")
        t.equal(row[7], line["fidelity"], "fidelity")
        t.equal(row[8], row[2], "own name")
        t.contains(text, line["brief"])
        if line["fidelity"] != "idle" and line["unit"] == "cycles":
            t.contains(text, f"{line['value']:,}")


@t.named("montecito: cycles that retire, and the latency of memory")
def montecito():
    thresholds = [f"IA64_INST_RETIRED.THIS:thr={n}" for n in THRESHOLDS]
    queue = ["SI_RQ_LIVE_REQ_HI", "SI_RQ_LIVE_REQ_LO.SELF"]  # the first: idle
    reads = [f"ER_MEM_READ_OUT_{n}" for n in ("HI", "LO")]
    c = account("montecito", "bzip2", "-e", ",".join(
        ["IA64_INST_RETIRED.THIS", *thresholds, *queue, *reads,
         "BUS_MEM_READ.ALL.SELF"]))
    lines = lines_of(c)
    t.equal(lines["retire"]["value"], c["IA64_INST_RETIRED.THIS"] -
            sum(c[e] for e in thresholds), "cycles that retire")
    spent = 8 * (c[reads[0]] - c[queue[0]]) + c[reads[1]] - c[queue[1]]
    close(lines["memory_latency"]["value"],
          spent / c["BUS_MEM_READ.ALL.SELF"], "latency")
    t.equal(lines["memory_latency"]["percent"], None, "share of a latency")
    assert lines["branch"]["value"] > 0 and lines["execution"]["value"] > 0


@t.named("montecito: no count depends on whether the first data TLB runs")
def first_tlb():
    """Only its own misses need it."""
    events = ["CPU_OP_CYCLES.ALL", "BACK_END_BUBBLE.ALL", "L2DTLB_MISSES",
              "BE_L1D_FPU_BUBBLE.L1D_HPW", "L1D_READ_MISSES.ALL", "L3_MISSES"]
    first = ["L1DTLB_TRANSFER"]
    for program in PROGRAMS:
        run = [t.guest(f"{program}.x86_64"), *PROGRAMS[program]]
        without, with_it = (
            t.count(["-m", "montecito", "-e", ",".join(names)], *run)
            for names in (events, events + first))
        t.same({e: without[e] for e in events}, {e: with_it[e] for e in events})
        assert with_it[first[0]] > 0, program


@t.named("montecito: each metric of what counts has a value")
def metrics():
    """But for those that ask for what a count does not know."""
    names = [name for name, row in
             t.table("machines", "montecito", "metrics.toml")["metric"].items()
             if name not in ("bus_clocks", "bus_data_share")]
    # Without a word that the program of one thread is not spread.
    small = ["-q", "-M", ",".join(names), "--set", "l3.size=384K",
             "--place", "spread"]
    runs = [t.count(["-m", "montecito", *small], t.guest(f"{program}.x86_64"),
                    *words) for program, *words in
            (("bzip2", *PROGRAMS["bzip2"]), ("turns", "rw", "150"))]
    for i, name in enumerate(names):
        found = [run.json["metrics"][i] for run in runs]
        t.equal([m["name"] for m in found], [name, name], "order")
        assert any(m["value"] is not None or m["fidelity"] == "idle"
                   for m in found), f"{name}: no value: {found}"


def add_cases():
    for machine in MACHINES:
        t.case(f"{machine}: text, CSV and JSON", check_forms, machine)
        for each in (machine, *WITH.get(machine, [])):
            for program in PROGRAMS:
                t.case(f"{each}: {program} adds up", check, each, program)


if __name__ == "__main__":
    t.main(add_cases)
