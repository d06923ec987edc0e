#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally locks --html: locks_page.py BUILD [WORD]

The page in a real browser: its values are those of tally locks --json, what is
drawn follows from the guest's arithmetic (test/locks.py), and mouse and keyboard
choose, move and search.
"""
import json
import pathlib
import signal
import subprocess
import tempfile

import tallytest as t
from browser import Page

N = 20000  # a unit of work is 10,000 cycles

folder = None


@t.once
def record(kind, program="holders", *words):
    """The path of a record of a guest."""
    path = folder / f"{program}-{kind}.data"
    done = t.run(t.tally(), "record", "-q", "--locks", "--clean-env", "-o", path,
                 "--", t.guest(f"{program}.x86_64"), kind, *words or (N,))
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return path


def page(path):
    out = path.with_suffix(".html")
    done = t.run(t.tally(), "locks", "-i", path, "--html", out)
    t.equal((done.returncode, done.stdout, done.stderr), (0, "", ""))
    return out


def report(path):
    done = t.run(t.tally(), "locks", "-i", path, "--json")
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return json.loads(done.stdout)


@t.named("values of the page are those of --json")
def same():
    for path in (record("barrier"), record("mutex"), record("spin")):
        found = report(path)
        states = ("running", "waiting", "waiting_other", "spinning")
        with Page(page(path)) as b:
            t.equal(b.value("report.threads.map(t => [t.process, t.thread, t.maker,"
                            " t.begin, t.end, ...t.time, t.waits])"),
                    [[r["process"], r["thread"], r["maker"], r["begin"], r["end"],
                      *(r[s] for s in states), r["waits"]]
                     for r in found["threads"]])
            t.equal(b.value("report.locks.map(k => [k.ended_by, k.name, k.count,"
                            " k.time, k.longest, k.threads])"),
                    [[k["ended_by"], k["name"], k["count"], k["time"],
                      k["longest"], k["threads"]] for k in found["locks"]])
            t.equal(b.value("report.locks.map(k => k.waits)"),
                    [[[w["thread"], w["at"], -1 if w["waker"] is None
                       else w["waker"], w["waker_at"], w["count"], w["time"],
                       w["longest"]] for w in k["waits"]]
                     for k in found["locks"]])
            t.equal(b.value("report.stretches.map(s => [s[1], s[2], s[3], s[4],"
                            " s[5], s[6], s[7]])"),
                    [[s["begin"], s["end"], s["count"], *(s[x] for x in states[1:]),
                      -1 if s["lock"] is None else s["lock"]]
                     for s in found["stretches"]])
            t.equal(b.value("report.findings.map(f => f.text)"),
                    [f["text"] for f in found["findings"]])
            t.contains(b.text("sum"), f"{found['elapsed']:,} cycles")
            t.equal(len(b.rows("locks")), len(found["locks"]))
            t.equal(len(b.rows("threads")), len(found["threads"]))


# What a pixel of the drawing shows, at a height of its thread's row from 0 (the
# top) to 1.
COLOUR = """
const row = timeline.threads.findIndex(r => r.name === arguments[0]);
const ratio = window.devicePixelRatio || 1;
const top = row * timeline.height + 2, height = timeline.height - 3;
const copy = document.createElement('canvas');
[copy.width, copy.height] = [timeline.canvas.width, timeline.canvas.height];
const pen = copy.getContext('2d', { willReadFrequently: true });
pen.drawImage(timeline.canvas, 0, 0);
const [r, g, b] = pen.getImageData(
  Math.round(timeline.xOf(arguments[1]) * ratio),
  Math.round((top + arguments[2] * (height - 1)) * ratio), 1, 1).data;
const hex = '#' + [r, g, b].map(n => n.toString(16).padStart(2, '0')).join('');
return Object.keys(timeline.colours).find(k => timeline.colours[k] === hex) || hex;
"""


@t.named("what is drawn of a barrier: threads run, then wait for the last")
def drawn():
    found = report(record("barrier"))
    with Page(page(record("barrier"))) as b:
        for row in found["threads"][1:]:
            name = f"thread {row['thread']}"
            waits = [s for s in found["stretches"]
                     if s["thread"] == row["thread"]
                     and s["end"] - s["begin"] > 50000]
            for s in waits:
                t.equal(b.run(COLOUR, name, (s["begin"] + s["end"]) / 2, .5),
                        "--lock", f"{name} waits")
            first = waits[0]["begin"] if waits else row["end"]
            t.equal(b.run(COLOUR, name, (row["begin"] + first) / 2, .5),
                    "--running", f"{name} runs")
        # A part of a wait alone fills the drawing.
        s = max(found["stretches"], key=lambda s: s["waiting"])
        b.run("timeline.show(arguments[0], arguments[1]);", s["begin"] + 100,
              s["end"] - 100)
        for part in (.1, .9):
            cycle = s["begin"] + part * (s["end"] - s["begin"])
            t.equal(b.run(COLOUR, f"thread {s['thread']}", cycle, .5), "--lock")


@t.named("waits that are merged: a column's height is the part of its time")
def merged():
    path = record("w", "turns", 20000)
    found = report(path)
    with Page(page(path)) as b:
        t.contains(b.text("time-note"), "too closely to be kept one by one")
        row = found["threads"][1]
        whole = row["end"] - row["begin"]
        part = row["waiting_other"] / whole
        middle = row["begin"] + whole / 2
        name = f"thread {row['thread']}"
        for height, colour in ((1 - part / 2, "--other"),
                               ((1 - part) / 2, "--running")):
            t.equal(b.run(COLOUR, name, middle, height), colour,
                    f"{part} of the time")


@t.named("a deadlock: waits to the end are drawn, and told")
def deadlock():
    path = folder / "deadlock.data"
    process = subprocess.Popen(
        [str(w) for w in (t.tally(), "record", "--locks", "--clean-env", "-o", path,
                          "--", t.guest("deadlocks.x86_64"), "order")],
        text=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    with process:
        t.contains(process.stderr.readline(), "none is left to let another go on")
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert path.exists(), said
    found = report(path)
    with Page(page(path)) as b:
        t.equal(len(b.rows("unended")), len(found["unended"]))
        u = next(u for u in found["unended"] if u["holder"] is not None)
        last = max(row["end"] for row in found["threads"])
        name = f"thread {u['thread']}"
        if last - u["since"] > last / 100:
            t.equal(b.run(COLOUR, name, (u["since"] + last) / 2, .5),
                    "--unended")
        t.equal(b.value("document.querySelector('#findings button span').textContent"),
                "deadlock")


@t.named("mouse and keyboard choose a lock, move, and go back")
def keyboard():
    found = report(record("mutex"))
    lock = next(k for k in found["locks"] if k["class"] == "mutex")
    number = found["locks"].index(lock)
    every = sum(len(k["waits"]) for k in found["locks"])
    with Page(page(record("mutex"))) as b:
        t.equal(len(b.rows("waits")), every)
        b.click("#findings button")
        t.contains(b.text("chosen-name"), lock["name"])
        t.equal(len(b.rows("waits")), len(lock["waits"]))
        t.equal(b.value("timeline.lock"), number)
        b.press("Escape")
        t.equal(b.value("timeline.lock"), -1)
        t.equal(len(b.rows("waits")), every)
        s = next(s for s in found["stretches"] if s["lock"] == number)
        b.run("document.getElementById('time').focus();")
        row = b.run("return timeline.threads.findIndex(r => r.name === "
                    "arguments[0]);", f"thread {s['thread']}")
        b.press(*["ArrowDown"] * row)
        b.run("timeline.at = -1;")
        b.press("ArrowRight")
        text = b.text("time-status")
        t.contains(text, f"thread {s['thread']}, cycles {s['begin']:,}")
        t.contains(text, "until thread 1 let it go in drain")
        b.press("Enter")
        t.equal(b.value("timeline.lock"), number)
        before = b.value("timeline.to - timeline.from")
        b.press("+")
        t.equal(b.value("timeline.to - timeline.from") < before, True)
        b.press("0")
        t.equal(b.value("timeline.to - timeline.from"), before)
        b.press("Escape", "/")
        b.press(*lock["name"][:6])
        assert all(lock["name"][:6] in row[0] for row in b.rows("locks"))


@t.named("a narrow window shows all of the page without moving it aside")
def narrow():
    with Page(page(record("barrier"))) as b:
        b.narrow(scale=2)
        b.wait("timeline.canvas.width === 2 * document.querySelector("
               "'.time-box').clientWidth")
        t.equal(b.value("document.documentElement.scrollWidth"), 380)
        t.equal(b.value("timeline.width > 250"), True)


@t.named("names of strangers neither break the page nor run")
def hostile():
    place = folder / "<" / "script><script>window.hit=1<"
    place.mkdir(parents=True)
    program = place / "script>"
    done = t.run("cp", t.guest("holders.x86_64"), program)
    t.equal(done.returncode, 0, done.stderr)
    out = folder / "nasty.html"
    done = t.run(t.tally(), "locks", "--html", out, "--", program, "mutex", N)
    t.equal((done.returncode, done.stdout), (0, ""), done.stderr)
    with Page(out) as b:
        t.equal(b.value("window.hit === undefined"), True)
        t.contains(b.text("title"), "</script><script>window.hit=1</script>")


@t.named("what does not go with a page is refused; the file stays whole")
def refused():
    path = record("barrier")
    for words, said in (
            (("--json",), "--json does not go with --html"),
            (("--top", "3"), "--top does not go with --html"),
            (("-o", folder / "x"), "--output does not go with --html")):
        done = t.run(t.tally(), "locks", "-i", path, "--html",
                     folder / "no.html", *words)
        t.equal((done.returncode, done.stdout), (2, ""))
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1)
    assert not (folder / "no.html").exists()
    for words in (("--html", folder / "none" / "x.html"), ("--html", path),
                  ("--html", "")):
        done = t.run(t.tally(), "locks", "-i", path, *words)
        t.equal((done.returncode, done.stdout), (2, ""), words)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
    done = t.run(t.tally(), "locks", "-i", path, "--html", "/dev/full")
    t.equal((done.returncode, done.stdout), (125, ""))
    t.equal(done.stderr.count("\n"), 1, done.stderr)


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
