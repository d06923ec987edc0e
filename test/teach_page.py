#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The page of tally teach: teach_page.py BUILD [WORD]

In a real browser: the page shows the steps that tally teach --json has, steps,
plays and jumps by mouse and by keyboard, and fits a narrow window.
"""
import json
import pathlib
import tempfile

import tallytest as t
from browser import Page

CACHE = [o for s in ("size=256", "ways=1", "line=16")
         for o in ("--set", f"l1d.{s}")]
LINES = [" L 10,4", " L 20,4", " S 14,1", " L 110,4", " L 10,1", " L 24,1",
         " L 110,4"]

folder = None


@t.once
def source():
    path = folder / "yi.trace"
    path.write_text("".join(f"{line}\n" for line in LINES))
    return path


@t.once
def sets():
    """The page of a trace of the cache lab, and its steps."""
    return made("sets", *CACHE, source())


@t.once
def branches():
    return made("branches", "--branches", "--set", "branch.predictor=bimodal",
                "--in", "go_by_columns", t.guest("why.x86_64"), "columns")


@t.once
def bubbles():
    return made("bubbles", "--bubbles", "--in", "go_by_columns", "--steps",
                "200", t.guest("why.x86_64"), "columns")


def made(name, *words):
    """A page and the document of the same steps."""
    page, document = folder / f"{name}.html", folder / f"{name}.json"
    words = ("--clean-env", *words) if "trace" not in str(words[-1]) else words
    for form in (("-o", page), ("--json", "-o", document)):
        done = t.run(t.tally(), "teach", *form, *words)
        t.equal((done.returncode, done.stdout), (0, ""), done.stderr)
    return page, json.loads(document.read_text())


def step_of(b):
    return int(b.value("document.getElementById('number').value"))


@t.named("the page shows each step as the document has it")
def shown():
    page, found = sets()
    with Page(page) as b:
        t.contains(b.text("about"), "16 sets of 1 line, lines of 16 bytes")
        t.contains(b.text("part"), f"{len(LINES)} steps from the start")
        for n, s in enumerate(found["steps"], 1):
            t.equal(step_of(b), n)
            said = b.text("said")
            t.contains(said, f"Step {n}. ")
            t.contains(said, f"0x{s['address']:x}")
            t.contains(said, "hit" if s["hit"] else f"{s['class']} miss")
            parts = b.run("return [...document.querySelectorAll('.address b')]"
                          ".map(b => b.textContent);")
            t.equal(parts, [f"0x{s[k]:x}" for k in ("tag", "set", "offset")])
            row = b.run("return [...document.querySelectorAll('.places tbody "
                        "td')].map(td => td.textContent.split(' ')[0]);")
            t.equal(row, [f"0x{p['line']:x}" if p else "empty"
                          for side in zip(s["before"], s["after"])
                          for p in side])
            t.equal(b.value("document.querySelectorAll('#list tr[aria-current]'"
                            ").length"), 1)
            b.click("#step") if n < len(LINES) else None
        t.equal(b.value("document.getElementById('step').disabled"), True)
        sums = dict(b.run(
            "return [...document.querySelectorAll('#sums tr')].map(r => "
            "[...r.children].map(c => c.textContent));"))
        t.equal(int(sums["misses"]),
                sum(s["hit"] is False for s in found["steps"]))


@t.named("keys step, jump to misses and conflicts, forward and back")
def keys():
    page, found = sets()
    misses = [n for n, s in enumerate(found["steps"], 1) if not s["hit"]]
    conflicts = [n for n, s in enumerate(found["steps"], 1)
                 if s["class"] == "conflict"]
    t.equal(conflicts, [5, 7])
    with Page(page) as b:
        b.press("ArrowRight", "ArrowRight", "ArrowLeft")
        t.equal(step_of(b), 2)
        b.press("Home")
        for n in conflicts:
            b.press("c")
            t.equal(step_of(b), n)
        b.press("c")
        t.contains(b.text("said"), "There is no")
        b.press("Home")
        for n in misses[1:]:
            b.press("m")
            t.equal(step_of(b), n)
        b.run("document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'M', "
              "shiftKey: true, bubbles: true}));")
        t.equal(step_of(b), misses[-2])


@t.named("play goes from step to step, pauses, and stops at the end")
def plays():
    page, _ = sets()
    with Page(page) as b:
        b.run("document.getElementById('speed').value = '20';")
        b.click("#play")
        t.equal(b.text("play"), "pause")
        b.wait(f"document.getElementById('number').value === '{len(LINES)}'")
        b.wait("document.getElementById('play').textContent === 'play'")
        b.click("#first")
        t.equal(step_of(b), 1)
        # A clock that never ticks: pausing does not race with the steps.
        b.run("window.setInterval = () => 1;")
        b.click("#play")
        t.equal(b.text("play"), "pause")
        b.click("#play")
        t.equal(b.text("play"), "play")


@t.named("one set alone can be played, and a step be chosen by number")
def one_set():
    page, found = sets()
    of_two = [n for n, s in enumerate(found["steps"], 1) if s["set"] == 2]
    with Page(page) as b:
        b.run("document.querySelectorAll('#sets .one')[2].click();")
        seen = [step_of(b)]
        while not b.value("document.getElementById('step').disabled"):
            b.click("#step")
            seen.append(step_of(b))
        t.equal(seen, of_two)
        b.run("const e = document.getElementById('set'); e.value = ''; "
              "e.dispatchEvent(new Event('change'));")
        b.run("const e = document.getElementById('number'); e.value = '4'; "
              "e.dispatchEvent(new Event('change'));")
        t.contains(b.text("said"), "Step 4. ")


@t.named("branches: the counter before and after, and wrong predictions")
def predicts():
    page, found = branches()
    wrong = [n for n, s in enumerate(found["steps"], 1) if s["wrong"]]
    with Page(page) as b:
        t.contains(b.text("about"), "direction predictor bimodal")
        for n in wrong[:3]:
            if n > 1:
                b.press("m")
            s = found["steps"][n - 1]
            t.equal(step_of(b), n)
            t.contains(b.text("said"), "wrong")
            states = b.run(
                "return ['before', 'after'].map(name => [...document."
                "querySelectorAll('.states div')].findIndex(d => d.classList."
                "contains(name)));")
            t.equal(states, [s["before"], s["after"]])


@t.named("bubbles: the cycles of each instruction, and their causes")
def waits():
    page, found = bubbles()
    with Page(page) as b:
        first = found["steps"][0]
        t.equal(b.value("document.querySelectorAll('.code-rows tbody tr')"
                        ".length"), first["instructions"])
        b.press("m")
        n = step_of(b)
        t.contains(b.text("said"), "bubble")
        cycles = sum(s["cycles"] for s in found["steps"][:n])
        sums = dict(b.run("return [...document.querySelectorAll('#sums tr')]"
                          ".map(r => [...r.children].map(c => c.textContent));"))
        t.equal(float(sums["cycles"].replace(",", "")), round(cycles, 3))


@t.named("nothing is wider than a narrow window")
def fits():
    for page, _ in (sets(), branches(), bubbles()):
        with Page(page) as b:
            b.narrow()
            b.press("ArrowRight")
            t.equal(b.value("document.documentElement.scrollWidth"), 380, page)
            t.equal(b.value(
                "[...document.querySelectorAll('.player button')].filter("
                "e => e.getBoundingClientRect().right > 380).length"), 0)


@t.named("names of foreign origin are shown, and never read as HTML")
def hostile():
    place = folder / "<" / "script><img src=x onerror=hit()>"
    place.mkdir(parents=True)
    path = place / "pro\x1bgram\u202e.trace"
    path.write_text(" L 10,1\n")
    out = folder / "nasty.html"
    done = t.run(t.tally(), "teach", *CACHE, "-o", out, path)
    t.equal((done.returncode, done.stdout), (0, ""), done.stderr)
    with Page(out) as b:
        t.equal(b.value("document.querySelectorAll('img, iframe, a').length"),
                0)
        t.contains(b.text("about"), "pro\\x1bgram\\u{202e}.trace")


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
