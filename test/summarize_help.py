# SPDX-License-Identifier: MIT
"""What the tests of tally summarize share: dumps, made up and sampled, and what
the command says of them."""
import json
import os
import zipfile
from xml.etree import ElementTree

import tallytest as t

START = "TEJA_PROFILE_DUMP_START,ver1.1\n"
HEADER = "CPUID,ID,Type,Cycles,PC,Grp,Evt_Hi,Evt_Lo,Overflow,User Data\n"
END = "TEJA_PROFILE_DUMP_END\n"


def sample(name):
    return t.source("test", "dump", name)


def summarize(*options, text=None, status=0, **how):
    if text is None:
        done = t.run(t.tally(), "summarize", *options, **how)
    else:
        done = t.run(t.tally(), "summarize", *options, "-", stdin=None,
                     input=text, **how)
    t.equal(done.returncode, status, f"status; {done.stderr!r}")
    return done


def document(*options, **how):
    return json.loads(summarize("-j", *options, **how).stdout)


def series(cell):
    return {s["name"]: s for s in cell["series"]}


def metrics(cell):
    return {m["name"]: m["value"] for m in cell["metrics"]}


def near(got, wanted, digits=5):
    if abs(got - wanted) > abs(wanted) * 10 ** -digits:
        raise AssertionError(f"{got}, not {wanted}")


class Dump:
    """Records of one cpu, written as the document has them."""

    def __init__(self, cpu=4, clock=0x4cf2eb9ce4):
        self.cpu, self.clock, self.lines = cpu, clock, []

    def interval(self, cycles, hi, lo, codes=(0x100, 1), words=(), start=0x18236,
                 overflow=0, cost=2692):
        self.lines.append(f"{self.cpu:x},{start:x},1,{self.clock:x},521f08,1,"
                          f"{codes[0]:x},{codes[1]:x}\n")
        self.clock += cycles
        user = "".join(f",{w:x}" for w in words)
        self.lines.append(f"{self.cpu:x},3a2f,2,{self.clock:x},5128f0,1,"
                          f"{hi:x},{lo:x},{overflow:x}{user}\n")
        self.clock += cost

    def text(self):
        return START + HEADER + "".join(self.lines) + END


MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def workbook(folder, *options, text=None):
    path = f"{folder}/book.xlsx"
    done = t.run(t.tally(), "summarize", "--xlsx", path, *options,
                 *(["-"] if text else []), stdin=None, input=text or "")
    if "is built with libxlsxwriter" in done.stderr:
        raise t.Skip("tally is built without libxlsxwriter")
    t.equal((done.returncode, done.stdout), (0, ""), done.stderr)
    t.equal(os.listdir(folder), ["book.xlsx"], "files")
    return path


def sheets(path):
    """{name: {place: (formula or None, value)}}"""
    with zipfile.ZipFile(path) as book:
        def tree(name):
            return ElementTree.fromstring(book.read(name))
        strings = ["".join(si.itertext()) for si in tree("xl/sharedStrings.xml")]
        names = [s.get("name") for s in tree("xl/workbook.xml").iter(
            MAIN + "sheet")]
        found = {}
        for number, name in enumerate(names, 1):
            cells = {}
            for c in tree(f"xl/worksheets/sheet{number}.xml").iter(MAIN + "c"):
                formula, value = c.find(MAIN + "f"), c.find(MAIN + "v")
                value = "" if value is None else value.text or ""
                if c.get("t") == "s":
                    value = strings[int(value)]
                cells[c.get("r")] = (None if formula is None else formula.text,
                                     value)
            found[name] = cells
    return found
