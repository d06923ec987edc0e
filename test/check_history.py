#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally check --history: check_history.py BUILD [WORD]

Folders of reports are made here, so that what moved follows from their numbers.
One report is of tally check itself.
"""
import json
import os
import pathlib
import shutil
import tempfile

import tallytest as t
from browser import Page

HOSTILE = '</script><img src=x onerror=alert(1)>"&\u202e'

folder = None


def history(*words, status=0):
    done = t.run(t.tally(), "check", *words)
    t.equal(done.returncode, status, f"status: {done.stderr}{done.stdout}")
    return done


def measure(name, median, spread=0, verdict="same"):
    return {"name": name, "verdict": verdict,
            "now": {"median": median, "least": median - spread,
                    "most": median + spread}}


def benchmark(name, *measures, key="ci-1 x86_64 model-1", status="passed",
              reason=None):
    return {"benchmark": name, "key": key, "status": status, "reason": reason,
            "measures": list(measures)}


def write(place, label, day, *benchmarks):
    place.mkdir(exist_ok=True)
    (place / f"{label}.json").write_text(json.dumps({
        "schema": 1, "tally": "1", "time": f"2026-01-{day:02}T12:00:00Z",
        "results": list(benchmarks)}))


@t.once
def moved():
    """Five reports. cost of b/2: 1,000, 1,004 (layouts differ as much), 1,100,
    then another key with 700, and 700; that of b/10 falls from 200 to 100 on day
    4; b/2 fails on day 6. Files are named against the order of time."""
    place = folder / "moved"
    for day, label, costs, key in (
            (1, "z", (1000, 200), "k"), (2, "y", (1004, 200), "k"),
            (3, "x", (1100, 200), "k"), (4, "w", (700, 100), "l"),
            (5, "v", (700, 100), "l")):
        write(place, label, day,
              benchmark("b/10", measure("instructions", 50),
                        measure("cost", costs[1])),
              benchmark("b/2", measure("instructions", 5000),
                        measure("cost", costs[0], 3, "hard" if day == 3
                                else "same"), key=key))
    write(place, "a", 6, benchmark("b/10", measure("instructions", 50),
                                   measure("cost", 100)),
          benchmark("b/2", key=None, status="failed",
                    reason="was killed by SIGSEGV"))
    return place


@t.named("the text: what moved, the latest first; first and last; what failed")
def text():
    done = history("--history", moved())
    t.equal(done.stderr, "", "stderr")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    t.equal(lines, [
        "6 reports of 2 benchmarks, from 2026-01-01 z to 2026-01-06 a", "",
        "what moved by more than layouts differ, the latest first",
        "-50.00 % cost of b/10 2026-01-04 w",
        "+9.56 % cost of b/2 2026-01-03 x", "",
        "first last change",
        "5,000 5,000 +0.00 % instructions of b/2 counted in another way before",
        "700 700 +0.00 % cost of b/2 counted in another way before",
        "50 50 +0.00 % instructions of b/10",
        "200 100 -50.00 % cost of b/10", "",
        "what could not be counted, the latest first",
        "2026-01-06 a b/2 failed: was killed by SIGSEGV"], "text")


@t.named("files that are no report are named and left out")
def left_out():
    place = folder / "left-out"
    shutil.copytree(moved(), place)
    good = json.loads((place / "z.json").read_text())
    faults = {
        "no.json": ("{", "is no JSON"),
        "baseline.json": ('{"schema": 1, "benchmarks": {}}', "is no report of"),
        "schema.json": (json.dumps({**good, "schema": 2}), "another version"),
        "time.json": (json.dumps({**good, "time": "yesterday"}),
                      "does not say when"),
        "range.json": (json.dumps({**good, "results": [benchmark(
            "b", measure("cost", 5, -1))]}), "is damaged"),
        "huge.json": (json.dumps({**good, "results": [benchmark(
            "b", measure("cost", 1 << 70))]}), "is no JSON"),
        "twice.json": ('{"schema": 1, "schema": 1}', "is no JSON")}
    for name, (content, _) in faults.items():
        (place / name).write_text(content)
    for name, make in (("folder.json", os.mkdir), ("fifo.json", os.mkfifo)):
        make(place / name)
        faults[name] = (None, "is no file")
    (place / "other.txt").write_text("{")
    done = history("--history", place)
    t.equal(done.stdout, history("--history", moved()).stdout, "text")
    lines = sorted(done.stderr.splitlines())
    t.equal(len(lines), len(faults), done.stderr)
    for name, (_, said) in faults.items():
        line = next(line for line in lines if f"/{name} " in line)
        t.contains(line, said)
        t.contains(line, "; it is left out")


@t.named("what is asked for wrongly: 2, in one line")
def wrong():
    (folder / "empty").mkdir()
    for words, said in (
            (("--history", folder / "none"), "cannot read the folder"),
            (("--history", folder / "empty"), "has no report"),
            (("--html", "x"), "--html is the page of --history"),
            (("--history", moved(), "--update"), "counts and compares nothing"),
            (("--history", moved(), "name"), "counts and compares nothing"),
            (("--history", moved(), "--", "true"), "counts and compares nothing"),
            (("--history", moved(), "--html", folder / "no" / "x"), "No such")):
        done = history(*words, status=2)
        t.equal((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        t.contains(done.stderr, said)


def drawn(place):
    """The path of the page of a folder."""
    out = place.with_suffix(".html")
    done = history("--history", place, "--html", out)
    t.equal((done.stdout, done.stderr), ("", ""), "said")
    return out


@t.named("the page: what moved, curves by measure, points by the keyboard")
def page():
    with Page(drawn(moved())) as b:
        t.equal(b.text("about"), "6 reports of 2 benchmarks, from 2026-01-01 z "
                                 "to 2026-01-06 a")
        rows = sorted(b.rows("moves"))
        t.equal(rows, [["2026-01-03 x", "b/2", "cost", "1,004", "1,100",
                        "+9.56 %"],
                       ["2026-01-04 w", "b/10", "cost", "200", "100",
                        "−50.00 %"]], "what moved")
        t.equal(b.rows("lapses"), [["2026-01-06 a", "b/2", "failed",
                                    "was killed by SIGSEGV"]], "what failed")
        curves = "[...document.querySelectorAll('.curve')]"
        t.equal(b.value(curves + ".map(c => [c.querySelector('span').textContent,"
                        " c.querySelectorAll('polyline').length, "
                        "c.querySelectorAll('circle.moved').length, "
                        "c.querySelectorAll('circle').length])"),
                [["b/2", 2, 1, 5], ["b/10", 1, 1, 6]], "curves of the cost")
        # The least of b/2 is the lowest point drawn, the most the highest.
        b.run("document.querySelector('.curve svg').focus();")
        t.contains(b.text("chosen"), "b/2, 2026-01-05 v: cost 700, layouts 697 "
                                     "to 703; +0.00 % since 2026-01-04 w")
        b.press("Home")
        t.equal(b.text("chosen"), "b/2, 2026-01-01 z: cost 1,000, layouts 997 to "
                                  "1,003")
        b.press("ArrowRight")
        t.contains(b.text("chosen"), "+0.40 % since 2026-01-01 z, no more than "
                                     "layouts differ")
        b.press("ArrowRight")
        t.contains(b.text("chosen"), "beyond a hard limit of its baseline")
        b.press("ArrowRight")
        t.contains(b.text("chosen"), "counted in another way than before")
        b.run("const m = document.getElementById('measure'); m.value = "
              "'instructions'; m.dispatchEvent(new Event('change'));"
              "const s = document.getElementById('search'); s.value = '10';"
              "s.dispatchEvent(new Event('input'));")
        t.equal(b.value(curves + ".map(c => c.textContent.slice(0, 4))"),
                ["b/10"], "curves that are left")


@t.named("a median is drawn at its height, between the least and the most")
def heights():
    with Page(drawn(moved())) as b:
        found = b.run(
            "const box = s => document.querySelector('.curve ' + s)"
            ".getBBox(); const d = s => [box(s).y, box(s).y + box(s).height];"
            "return [d('.band'), d('.line'), [...document.querySelectorAll("
            "'.curve circle')].slice(0, 3).map(c => Number(c.getAttribute('cy')"
            "))];")
        (top, bottom), (line_top, line_bottom), at = found
        assert top < line_top < line_bottom < bottom, found
        # 1,000, 1,004 and 1,100 in the same scale: the first run of b/2.
        t.equal(round((at[0] - at[2]) / (at[0] - at[1])), 25, "scale")


@t.named("hostile names are text, on the page and at a terminal")
def hostile():
    place = folder / "hostile"
    for day in (1, 2):
        write(place, f"{day}", day, benchmark(
            HOSTILE, measure(HOSTILE, 100 * day)),
            benchmark("\x1b[31m", status="failed", reason="\x1b]0;x\x07"))
    done = history("--history", place)
    assert "\x1b" not in done.stdout and "\u202e" not in done.stdout
    with Page(drawn(place)) as b:
        t.equal(b.value("document.querySelectorAll('img').length"), 0, "images")
        t.contains(b.rows("moves")[0][1], "</script><img")


@t.named("reports of tally check are read")
def real():
    place = folder / "real"
    place.mkdir()
    program = folder / "prog"
    source = folder / "prog.c"
    source.write_text("int main(void) { return 0; }\n")
    t.run("gcc", "-o", program, source, check=True)
    for name in ("1", "2"):
        history("-q", "--layouts", 1, "--baseline", folder / "none.json",
                "--format", "json", "-o", place / f"{name}.json", "--", program,
                status=4)
    done = history("--history", place)
    t.contains(done.stdout, "2 reports of 1 benchmark, from 2")
    t.contains(done.stdout, "nothing moved by more than layouts differ")
    t.contains(done.stdout, "instructions of prog")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    t.main()
