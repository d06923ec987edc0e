#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Exports in the programs that read them: export_readers.py BUILD [WORD]

go tool pprof and speedscope show the digits of tally report: self and inclusive
counts of each function, by caller and by the function that it was copied into.
"""
import base64
import collections
import json
import os
import pathlib
import re
import shutil
import tempfile

import record_help
import tallytest as t
from browser import Browser

EVENTS = {"host-model": "instructions,branches,L1-dcache-load-misses",
          "ultrasparc-t2": "All_instr,Dcache_misses,cycles"}

folder = None


def cplusplus():
    return record_help.cplusplus(folder / "program.x86_64")


def lua():
    return record_help.lua("x86_64")


def words():
    return record_help.words("sparc64")


PROGRAMS = {cplusplus: "host-model", lua: "host-model",
            words: "ultrasparc-t2"}


class Recorded:
    """A record, and what tally report says of the record."""

    def __init__(self, program):
        self.path = folder / f"{program.__name__}.data"
        machine = PROGRAMS[program]
        done = t.run(t.tally(), "record", "-q", "-m", machine, "-e",
                     EVENTS[machine], "-o", self.path, "--", *program())
        assert self.path.exists(), done.stderr
        found = self.report("function")
        self.totals = {e["name"]: e["total"] for e in found["events"]}
        self.elsewhere = {e["name"]: e["elsewhere"] for e in found["events"]}

    def report(self, *keys):
        done = t.run(t.tally(), "report", "-j", "--by", ",".join(keys),
                     self.path)
        t.equal(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def export(self, form):
        file = self.path.with_suffix("." + form)
        done = t.run(t.tally(), "export", "--as", form, "-i", self.path, "-o",
                     file)
        t.equal(done.returncode, 0, done.stderr)
        return file


@t.once
def record(program):
    return Recorded(program)


def name_of(row):
    """The name that exports give to a row's function."""
    keys = row["keys"]
    return keys["function"] or f"[{pathlib.Path(keys['image']).name}]"


def self_and_inclusive(rows, event):
    """{function: own count} and {function: inclusive count} of the functions
    whose name no other has: two of one name have calls in common."""
    own, inclusive = collections.Counter(), {}
    names = collections.Counter(map(name_of, rows))
    for row in rows:
        name = name_of(row)
        own[name] += row["values"][event]
        if names[name] == 1:
            inclusive[name] = row["inclusive"][event]
    return own, inclusive


# go tool pprof --------------------------------------------------------------


def pprof(*words):
    """What pprof says, with names as they are in the file."""
    if shutil.which("go") is None:
        raise t.Skip("go is missing")
    done = t.run("go", "tool", "pprof", "-symbolize=none", "-unit=count",
                 "-nodecount=9999999", "-nodefraction=0", "-edgefraction=0",
                 *words, env=os.environ | {"HOME": str(folder), "TZ": "UTC"})
    if "no such tool" in done.stderr:
        raise t.Skip("go has no pprof")
    t.equal(done.returncode, 0, done.stderr)
    return done.stdout


def plain(name):
    """A name without what pprof says of copies behind it."""
    return re.sub(r" \((partial-)?inline\)$", "", name)


def pprof_functions(program):
    """-top has the counts of each function, and the total."""
    recorded = record(program)
    rows = recorded.report("function")["rows"]
    for event, total in recorded.totals.items():
        shown = pprof("-top", f"-sample_index={event}",
                      recorded.export("pprof"))
        t.contains(shown, f"Type: {event}\n")
        t.contains(shown, f" of {total} total")
        flat, cum = collections.Counter(), {}
        for match in re.finditer(
                r"^ *(-?\d+) +\S+ +\S+ +(-?\d+) +\S+  (.+)$", shown,
                re.MULTILINE):
            flat[plain(match[3])] += int(match[1])
            cum[plain(match[3])] = int(match[2])
        t.equal(flat.total(), total, f"sum of {event}")
        own, inclusive = self_and_inclusive(rows, event)
        if recorded.elsewhere[event]:
            own["(elsewhere)"] = recorded.elsewhere[event]
        t.same(+flat, +own, f"{event} of each function")
        t.same({name: cum.get(name, 0) for name in inclusive}, inclusive,
               f"{event} with what each function calls")


def traces(shown):
    """(count, functions, innermost first) of each sample."""
    for sample in re.split(r"^-+\+-+$", shown, flags=re.MULTILINE)[1:]:
        head = re.search(r"^ *(-?\d+)   (.+(?:\n {13}.+)*)", sample,
                         re.MULTILINE)
        if head:
            yield int(head[1]), [plain(line.strip())
                                 for line in head[2].split("\n")]


def pprof_callers(program):
    """-traces has the counts of each function by the function that called or
    holds the copy."""
    recorded = record(program)
    rows = recorded.report("function", "caller")["rows"]
    for event, total in recorded.totals.items():
        shown = pprof("-traces", f"-sample_index={event}",
                      recorded.export("pprof"))
        found = collections.Counter()
        for count, stack in traces(shown):
            caller = stack[1] if len(stack) > 1 else "(no caller)"
            found[stack[0], caller] += count
        t.equal(found.total(), total, f"sum of {event}")
        wanted = collections.Counter()
        for row in rows:
            caller = row["keys"]["caller"]
            wanted[name_of(row), caller] += row["values"][event]
        if recorded.elsewhere[event]:
            wanted["(elsewhere)", "(no caller)"] = recorded.elsewhere[event]
        t.same(+found, +wanted, f"{event} of each function by caller")


# speedscope -----------------------------------------------------------------

# The tables that speedscope shows or hides: of each its rows, of each row the
# texts of its cells.
TABLES = """\
[...document.querySelectorAll('table')].map(table =>
    [...table.querySelectorAll('tr')].map(row =>
        [...row.children].map(cell => cell.textContent)))
"""
# Only rows in the window are in the table of functions. WebGL draws in no window
# that is higher than 8,192.
WINDOW = "--window-size=1400,8000"


def weight(text):
    """The number of "1,234 (5.6%)"."""
    return int(text.split(" ")[0].replace(",", ""))


class Viewer(Browser):
    """speedscope with an imported file, as the command `speedscope FILE` opens
    the file: by a script."""

    def __init__(self, file):
        page = t.build / "speedscope/package/dist/release/index.html"
        if not page.exists():
            raise t.Skip("there is no speedscope: scripts/fetch-speedscope "
                         f"{t.build}/speedscope says why")
        script = file.with_suffix(".js")
        data = base64.b64encode(file.read_bytes()).decode()
        script.write_text("speedscope.loadFileFromBase64("
                          f"{json.dumps(file.name)}, {json.dumps(data)})")
        super().__init__(WINDOW)
        try:
            self.open(page, f"#localProfilePath={script}&view=sandwich")
            self.wait("/\\(1\\/\\d+\\)|Something went wrong/.test("
                      "document.body.innerText)")
        except BaseException:
            self.stop()
            raise

    def shown(self):
        """The name of the profile that is shown: the bar has "name (1/6)"."""
        return re.search(r"^(.+) \(\d+/\d+\)$",
                         self.value("document.body.innerText"),
                         re.MULTILINE)[1]

    def next_profile(self):
        before = self.shown()
        self.press("n")
        t.wait_for("the next profile", lambda: self.shown() != before)

    def profiles(self):
        """{name: total weight} of the list of profiles."""
        head, *rows = self.value(TABLES)[0]
        t.equal(head, ["#", "Name", "Total Weight"])
        return {name: weight(total) for _, name, total in rows}

    def functions(self):
        """(own count, inclusive count, name) of each row of the table of
        functions."""
        *_, head, rows = self.value(TABLES)
        t.equal(head, [["Total", "Self", "Symbol Name"]])
        return [(weight(own), weight(total), name)
                for total, own, name in rows]

    def errors(self):
        """What is on the console, but for what speedscope says of an import
        and Chromium of drawing without a graphics card."""
        return [line for line in self.complaints()
                if not re.search(r'"speedscope v|"Importing as speedscope|'
                                 r'"import: |WebGL initialized|GPU stall|'
                                 r"software WebGL has been deprecated", line)]


def speedscope(program):
    """The profiles have the totals of the threads, and each function its
    counts."""
    recorded = record(program)
    threads = {}
    for row in recorded.report("thread")["rows"]:
        threads[row["keys"]["thread"]] = row["values"]
    rows = recorded.report("function", "thread")["rows"]
    with Viewer(recorded.export("speedscope")) as viewer:
        t.equal(viewer.errors(), [], "on the console")
        profiles = viewer.profiles()
        found = collections.defaultdict(int)
        for number, (name, total) in enumerate(profiles.items()):
            event, _, thread = re.fullmatch(
                r"(.+): (.+), thread (\d+)", name).groups()
            t.equal(total, threads[int(thread)][event], name)
            found[event] += total
            if number > 0:
                viewer.next_profile()
            t.equal(viewer.shown(), name)
            compare_functions(viewer.functions(), total, event, [
                row for row in rows if row["keys"]["thread"] == int(thread)])
        t.equal(dict(found), recorded.totals)
        t.equal(viewer.errors(), [], "on the console")


def compare_functions(shown, total, event, rows):
    """The functions that are shown, largest own counts first, have the report's
    counts. All are shown but those that have no room."""
    own, inclusive = self_and_inclusive(rows, event)
    names = collections.Counter(name for _, _, name in shown)
    assert shown, f"no function has {event}"
    if len(shown) < 300:
        t.equal(sum(count for count, _, _ in shown), total, event)
    for count, with_calls, name in shown:
        if names[name] == 1 and name in inclusive:
            t.equal((count, with_calls), (own[name], inclusive[name]),
                    f"{event}: {name}")


def add_cases():
    for program in PROGRAMS:
        name = program.__name__
        t.case(f"pprof: functions of {name}", pprof_functions, program)
        t.case(f"pprof: callers of {name}", pprof_callers, program)
    for program in (cplusplus, lua):
        t.case(f"speedscope: {program.__name__}", speedscope, program)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main(add_cases)
