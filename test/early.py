#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Blocks that are left before their end: early.py BUILD [WORD]

Their counts are not exact, and no report may say so.
"""
import csv
import io

import tallytest as t
from live_help import INSTRUCTIONS, at_arch, g

FAULTS = 20


def check(event, program, blocks):
    """All forms of a report say what the count of `event` is worth."""
    standing = "estimated" if blocks else "exact"
    c = t.Count(["-e", event], program)
    t.equal(c.json["blocks_left_early"], blocks, "blocks")
    t.equal({e["fidelity"] for e in c.json["events"]}, {standing}, "JSON")
    command = [t.tally(), "count", *t.modelled(program[0]), "-e", event]
    done = t.run(*command, "-x,", "--", *program)
    rows = [row for row in csv.reader(io.StringIO(done.stderr))
            if event in row]
    t.equal([standing in row for row in rows], [True], "CSV")
    text = t.run(*command, "--", *program).stderr
    noun = "block of code was" if blocks == 1 else "blocks of code were"
    line = (f"  {blocks} {noun} left before the end, by a signal that an "
            "instruction raised or a write to the block's own page: counts may "
            f"be off by up to {blocks * 512} instructions or accesses to memory\n")
    t.equal(line in text, blocks > 0, f"the line in {text}")
    return c


def faults(arch, mode, blocks):
    check(INSTRUCTIONS[arch], [g("fault", arch), mode, FAULTS], blocks)


for name, mode in (("signals that a handler catches", "catch"),
                   ("a handler that was a function before", "known"),
                   ("children that a signal ends", "child"),
                   ("children that waitid() tells of", "waitid"),
                   ("children whose ends nobody asks for", "unasked")):
    at_arch(name, mode, FAULTS)(faults)
at_arch("no block is left early", "none", 0)(faults)


@at_arch("the program's own death by SIGSEGV")
def death(arch):
    check(INSTRUCTIONS[arch], [g("crash", arch), "segv"], 1)


@at_arch("death by a signal that no instruction raised")
def abort(arch):
    check(INSTRUCTIONS[arch], [g("crash", arch), "abort"], 0)


def signalled(arch, mode, standing, line):
    """Whether a timer chose when signals came."""
    event = INSTRUCTIONS[arch]
    program = [g("signalled", arch), mode]
    c = t.Count(["-e", event], program)
    t.equal({e["fidelity"] for e in c.json["events"]}, {standing}, "JSON")
    text = t.run(t.tally(), "count", *t.modelled(program[0]), "-e", event, "--",
                 *program).stderr
    t.equal("when it came" in text or "when they came" in text, standing == "varies",
            f"the line in {text}")
    t.contains(text, line)


for mode, standing, line in (
        ("timer", "varies", "3 signals of a timer or from outside were handled"),
        ("pause", "exact", ""), ("raise", "exact", ""), ("abort", "exact", ""),
        ("ask", "varies", "3 signals of a timer or from outside were handled"),
        ("spin", "exact", "counts repeat\n"),
        ("read", "exact", "counts repeat\n"),
        ("beside", "varies", "of a timer or from outside"),
        ("alarm", "varies", "of a timer or from outside ended the program")):
    at_arch(f"signals: {mode}", mode, standing, line)(signalled)


@t.named("x86_64: a block that writes to its own code")
def own_code():
    c = check("instructions", [g("own_code", "x86_64")], 50)
    # Of a processor: 304.
    assert abs(c["instructions"] - 304) <= 50 * 512, c["instructions"]


@t.named("x86_64: a write to its own code, with the caches modelled")
def own_code_data():
    c = t.Count(["-d"], [g("own_code", "x86_64")])
    t.equal(c.json["blocks_left_early"], 50, "blocks")
    t.equal({e["fidelity"] for e in c.json["events"]} - {"idle"},
            {"estimated"}, "JSON")


t.main()
