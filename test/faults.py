#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each call of tally that may fail, fails in turn: faults.py BUILD [WORD]

A command runs again and again; in run N the N-th call of one function fails
(test/fault/fail.c). Whatever fails: tally is not killed and does not hang, says
on stderr what failed in at most two lines, ends with 125 (or 2, or 126 where it
could not look at the program), and leaves no file behind; or it got along
without the call, and then counts what it counts else.

TALLY_FAULTS=all tries every call; without it each function's calls are sampled,
about CALLS of them: the first ones and then ever more apart.
"""
import json
import os
import pathlib
import tempfile

import tallytest as t

FUNCTIONS = ("malloc", "open", "read", "write", "mmap", "pipe", "fork",
             "rename", "perf_event_open")
CALLS = 12
# Statuses of tally's own failures.
OURS = {125, 2, 126, 127}


def count_model(folder):
    return ["count", "-m", "ultrasparc-t2", "-j", "-o", f"{folder}/report",
            "-e", "All_instr,Dcache_misses", "--", t.guest("hello.sparc64")]


def count_csv(folder):
    return ["count", "-x,", "-M", "ipc", "-o", f"{folder}/report", "-m",
            "host-model", "--per-process", "--clean-env", "--",
            t.guest("forker.x86_64"), "fork"]


def count_host(folder):
    return ["count", "-m", "host", "-j", "-o", f"{folder}/report", "-e",
            "task-clock:u,page-faults:u", "--", "true"]


def perfex(folder):
    return ["perfex", "-e", "15", "-m", "r12000", "-o", f"{folder}/report",
            t.guest("hello.mips64")]


def summarize(folder):
    return ["summarize", "-j", t.source("test", "dump", "t2.csv")]


def pmu(folder):
    return ["pmu", "-m", "sparc-t4", "--format", "json",
            t.source("test", "pmu", "console.pmu")]


def tables(folder):
    return ["show", "-v", "montecito"]


def plan(folder):
    return ["plan", "-j", "-m", "montecito", "L1D_READS_SET0", "L2D_MISSES"]


COMMANDS = (count_model, count_csv, count_host, perfex, summarize, pmu, tables,
            plan)


def values(text):
    """What a report counted; the text itself if it counts nothing."""
    try:
        events = json.loads(text)["events"]
    except (ValueError, KeyError, TypeError):
        return None
    return [(e["name"], e.get("value")) for e in events
            if e.get("fidelity") == "exact"]


class Attempt:
    """One run of a command, where a call fails."""

    def __init__(self, command, function, number):
        with tempfile.TemporaryDirectory() as folder:
            failed = f"{folder}/failed"
            where = f"{folder}/out"
            os.mkdir(where)
            env = dict(os.environ, TALLY_FAIL=f"{function}:{number}:{failed}",
                       LD_PRELOAD=str(t.build / "test/fault/fail-calls.so"))
            done = t.run(t.tally(), *command(where), env=env)
            self.failed = os.path.exists(failed)
            self.files = sorted(os.listdir(where))
            report = pathlib.Path(where, "report")
            self.report = report.read_text() if report.exists() else None
        self.status, self.stdout = done.returncode, done.stdout
        self.stderr = [line for line in done.stderr.splitlines()
                       if not line.startswith("tally: progress")]

    def fault(self, good):
        """What is wrong, or None."""
        if self.status < 0:
            return f"killed by signal {-self.status}: {self.stderr}"
        if set(self.files) - {"report"}:
            return f"left behind: {self.files}"
        if self.status in OURS:
            if not self.stderr:
                return f"status {self.status} without a word"
            if len(self.stderr) > 2:
                return f"{len(self.stderr)} lines: {self.stderr}"
            return None
        if self.status != good.status:
            return f"status {self.status}: {self.stderr}"
        for mine, other in ((self.report, good.report),
                            (self.stdout, good.stdout)):
            if values(mine) != values(other):
                return f"counted {values(mine)}, not {values(other)}"
        return None


def numbers():
    """Which calls fail."""
    number, step = 1, 1
    while True:
        yield number
        if os.environ.get("TALLY_FAULTS") != "all" and number >= CALLS:
            step = max(step + 1, number // 3)
        number += step


def fail_in_turn(command, function):
    good = Attempt(command, "none", 1)
    assert good.status not in OURS, good.stderr
    faults, tried = [], 0
    for number in numbers():
        attempt = Attempt(command, function, number)
        if not attempt.failed:
            break
        tried += 1
        fault = attempt.fault(good)
        if fault:
            faults.append(f"{function} {number}: {fault}")
    print(f"# {command.__name__} {function}: {tried} tried", flush=True)
    if faults:
        raise AssertionError("\n".join(faults[:20]))


for each in COMMANDS:
    for name in FUNCTIONS:
        t.case(f"{each.__name__}: {name} fails", fail_in_turn, each, name)

if __name__ == "__main__":
    t.main()
