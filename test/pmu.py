#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The register models' rules: pmu.py BUILD [WORD]

Runs the scripts of test/pmu/ with tally pmu, one process a file; each section,
which begins with "#:" and the rules it tests, is a case.
"""
import functools
import json
import threading

import tallytest as t


class Script:
    """A script and what tally says of its lines."""

    def __init__(self, path):
        self.path = path
        self.lines = path.read_text().splitlines()
        self.lock = threading.Lock()

    def sections(self):
        """(title, first line, last line) of each; lines count from 1."""
        heads = [i + 1 for i, line in enumerate(self.lines)
                 if line.startswith("#:")]
        ends = [head - 1 for head in heads[1:]] + [len(self.lines)]
        return [(self.lines[head - 1][2:].strip(), head, end)
                for head, end in zip(heads, ends)]

    @functools.cached_property
    def run(self):
        return t.run(t.tally(), "pmu", "--format", "json", self.path,
                     timeout=120)

    @functools.cached_property
    def results(self):
        """line number: what was told of it."""
        told = {}
        for text in self.run.stdout.splitlines():
            result = json.loads(text)
            told.setdefault(result["line"], []).append(result)
        return told

    @functools.cached_property
    def commands(self):
        """Numbers of the lines that have results: no comments, rows of values,
        or lines of a loop itself."""
        numbers, in_rows = set(), False
        for number, line in enumerate(self.lines, 1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            if not in_rows and words[0] not in ("for", "do", "end"):
                numbers.add(number)
            if words[0] == "for":
                in_rows = words[-1] == "in"
            elif words[0] == "do":
                in_rows = False
        return numbers

    def fault(self, number):
        """What is wrong with a line, or None."""
        text = self.lines[number - 1]
        where = f"{self.path.name}:{number}: {text.strip()}"
        results = self.results.get(number)
        if not results and number in self.commands:
            return (f"{where}\n  not reached; status {self.run.returncode} "
                    f"{self.run.stderr[-500:]}")
        for r in results or []:
            row = f"{r['row']}: " if "row" in r else ""
            if "error" in r:
                return f"{where}\n  {row}{r['error']}"
            if not r.get("met", True):
                return f"{where}\n  {row}{r['result']}, not {r['expected']}"
        return None

    def check(self, head, end):
        with self.lock:
            self.results
        first = next(iter(self.sections()))[1]
        numbers = [*range(1, first), *range(head, end + 1)]
        faults = [f for f in map(self.fault, numbers) if f]
        if faults:
            raise AssertionError("\n".join(faults[:20]))
        if not any("expected" in r for n in numbers if n >= head
                   for r in self.results.get(n, [])):
            raise AssertionError(f"{self.path.name}:{head}: expects nothing")


for path in sorted((t.ROOT / "test" / "pmu").glob("*.pmu")):
    script = Script(path)
    for title, head, end in script.sections():
        t.case(f"{path.stem}:{head}: {title}", script.check, head, end)

if __name__ == "__main__":
    t.main()
