#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally curve --html and tally sweep --html: curve_page.py BUILD [WORD]

The page in a real browser: its values are those of --format json, and it is read
and its lines are switched by mouse and by keyboard.
"""
import json
import pathlib
import tempfile

import tallytest as t
from browser import Page

folder = None

OPTIONS = ["-m", "host-model", "--clean-env", "--sizes", "4K..256K"]


def program():
    return t.guest("arrays.x86_64")


def run(*words):
    done = t.run(t.tally(), *words, "--", program())
    t.equal(done.returncode, 0, done.stderr)
    return done


@t.once
def made(*words):
    """A page, and the JSON of the same."""
    page = folder / f"{'.'.join(words).replace('/', '-')}.html"
    run("curve", *OPTIONS, *words, "--html", page)
    found = run("curve", *OPTIONS, *words, "-j", "-o", "-")
    return page, json.loads(found.stdout[found.stdout.index('{\n  "schema"'):])


def by_function():
    return made("--by", "function")


@t.named("values of the page are those of --format json")
def same():
    for words in (("--by", "function"), ("--by", "function,line"), (),
                  ("--sample", "1/4"), ("--by", "object", "--ways", "2,4")):
        page, report = made(*words)
        with Page(page) as b:
            charts = b.value("shown.charts")
            wanted = [[p["misses"] for p in report["points"]
                       if (p["ways"] or 0) == ways]
                      for ways in dict.fromkeys(p["ways"] or 0
                                                for p in report["points"])]
            t.equal([c["lines"][0]["ys"] for c in charts], wanted, words)
            if "parts" not in report:
                continue
            parts = [sum((c["lines"][i + 1]["ys"] for c in charts), [])
                     for i in range(len(report["parts"]))]
            t.equal(parts, [p["misses"] for p in report["parts"]], words)
            t.equal(b.value("shown.charts[0].lines.slice(1).map(l => l.name)"),
                    ["  ".join(p["keys"].values()) for p in report["parts"]])


@t.named("ways without parts are lines of one chart")
def ways():
    page, report = made("--ways", "2,8")
    with Page(page) as b:
        lines = b.value("shown.charts[0].lines")
        t.equal([line["name"] for line in lines], ["2 ways", "8 ways"])
        t.equal([n for line in lines for n in line["ys"] if n is not None],
                [p["misses"] for p in report["points"]])


@t.named("keys and the mouse read the curve")
def reading():
    page, report = by_function()
    sizes = [p["size"] for p in report["points"]]
    with Page(page) as b:
        b.run("document.getElementById('plot').focus();")
        b.press("Home")
        t.contains(b.text("chosen"),
                   f"size 4K: all {report['points'][0]['misses']:,}")
        b.press("ArrowRight")
        t.equal(b.value("at"), 1)
        b.press("ArrowLeft", "ArrowLeft")
        t.equal(b.value("at"), 0)
        b.run("document.getElementById('plot').dispatchEvent("
              "new KeyboardEvent('keydown', {key: 'End'}));")
        t.equal(b.value("at"), len(sizes) - 1)
        width = b.value("byId('plot').getBoundingClientRect().width")
        b.point("#plot", width / 2, 100)
        assert 0 < b.value("at") < len(sizes) - 1
        rows = b.rows("lines")
        t.equal(rows[0][0], "all")
        t.equal(rows[0][1],
                f"{report['points'][b.value('at')]['misses']:,}")


@t.named("lines are switched on and off, stacked and found")
def lines():
    page, report = by_function()
    count = 1 + len(report["parts"])
    with Page(page) as b:
        polylines = "document.querySelectorAll('#plot polyline').length"
        t.equal(b.value(polylines), min(count, 9))
        b.click("#none")
        t.equal(b.value(polylines), 0)
        t.contains(b.text("chosen"), "no line is drawn")
        b.click("#every")
        t.equal(b.value(polylines), count)
        b.click("#lines tbody tr:nth-child(2) input")
        t.equal(b.value(polylines), count - 1)
        t.equal(b.value("document.activeElement.dataset.line"), "1")
        b.press(" ")
        t.equal(b.value(polylines), count)
        b.click("#stacked")
        t.equal(b.value("document.querySelectorAll('#plot .band').length"),
                count - 1)
        b.click("#stacked")
        b.write("#search", report["parts"][0]["keys"]["function"])
        assert 1 <= len(b.rows("lines")) < count
        b.clear("#search")
        b.choose("#unit", "1")
        assert "%" in b.text("chosen"), b.text("chosen")
        b.choose("#scale", "linear")
        t.equal(b.value(polylines), count)


@t.named("knees are marked where the JSON has them")
def knees():
    page, report = by_function()
    with Page(page) as b:
        b.click("#every")
        marked = b.value("document.querySelectorAll('#plot .knee').length")
        t.equal(marked, 1 + sum(p["needs"][0] is not None
                                for p in report["parts"]))


@t.named("it fits a telephone, and a dark system")
def narrow():
    page, _ = by_function()
    with Page(page, "--window-size=500,900") as b:
        b.narrow()
        b.wait("byId('plot').viewBox.baseVal.width < 400")
        t.equal(b.value("document.documentElement.scrollWidth <= innerWidth"),
                True)
        b.dark(True)
        b.dark(False)


@t.named("names of a program do no harm")
def hostile():
    page = folder / "<img src=x onerror=fail()>&amp;.html"
    done = t.run(t.tally(), "curve", *OPTIONS, "--html", page, "--", program(),
                 "<script>x</script>")
    t.equal(done.returncode, 0, done.stderr)
    with Page(page) as b:
        t.contains(b.text("about"), "<script>x</script>")
        t.equal(b.value("document.scripts.length"), 2)


@t.named("a sweep is shown by the same page")
def sweep():
    page = folder / "sweep.html"
    words = ["sweep", "-m", "host-model", "--clean-env", "--set",
             "l1d.size=8K..32K", "--set", "l1d.ways=2,8", "-e",
             "L1-dcache-load-misses,instructions"]
    run(*words, "--html", page)
    report = json.loads(run(*words, "--format", "json").stdout)
    with Page(page) as b:
        charts = b.value("shown.charts")
        t.equal([c["name"] for c in charts],
                ["L1-dcache-load-misses", "instructions"])
        for number, chart in enumerate(charts):
            t.equal(chart["labels"], ["8K", "16K", "32K"])
            for line in chart["lines"]:
                wanted = [p["events"][number]["value"]
                          for p in report["points"]
                          if line["name"] == f"l1d.ways={p['set']['l1d.ways']}"]
                t.equal(line["ys"], wanted, line["name"])
        b.choose("#chart", "1")
        t.equal(b.value("chart.name"), "instructions")


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
