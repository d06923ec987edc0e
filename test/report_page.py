#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally report --html: report_page.py BUILD [WORD]

The page in a real browser: what it draws and shows is what tally report and
tally annotate say, by mouse and by keyboard.
"""
import base64
import json
import os
import pathlib
import re
import tempfile
import zlib

import recordfile
import tallytest as t
from browser import Page

EVENTS = "instructions,branches,cache-misses,branch-misses,cycles"
STEADY = ["-m", "host-model", "--clean-env"]

folder = None


def words():
    return [t.guest("words.x86_64"), t.source("CONTRIBUTING.md")]


@t.once
def record(name, program, *options):
    """Records a program once; returns the record's path."""
    path = folder / f"{name}.data"
    done = t.run(t.tally(), "record", "-q", "-o", path, *options, "--",
                 *program)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return path


def record_words():
    return record("words", tuple(words()), *STEADY, "-e", EVENTS)


def record_forged(name, names, paths, counts, extra=None, events=None):
    """A record of made code: see recordfile.Record."""
    forged = recordfile.Record(events or [recordfile.event("instructions")],
                               names)
    forged.paths, forged.counts = paths, counts
    forged.extra = extra or forged.extra
    return forged.write(folder / f"{name}.data")


@t.once
def page(path, *options):
    """Writes the page of a record once; returns the page's path."""
    out = path.with_suffix(".".join(["", *map(str, options), "html"]).replace(
        "/", "_"))
    done = t.run(t.tally(), "report", "--html", out, *options, path)
    t.equal((done.returncode, done.stdout), (0, ""), done.stderr)
    return out


def report(path, *options):
    done = t.run(t.tally(), "report", "-j", "-e", "all", *options, path)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return json.loads(done.stdout)


class Shown(Page):
    """The page of a record."""

    def table(self, name):
        """The texts of a table's rows, and of the lines below it."""
        return [self.rows(name), self.rows(name, "tfoot")]

    def choose_event(self, number):
        self.choose("#event", number)
        self.settle()

    def dark(self, dark):
        """Waits also until the graph is drawn in these colours."""
        super().dark(dark)
        self.wait(f"graph.look.dark === {json.dumps(dark)}")
        self.settle()

    def settle(self):
        """Waits until the page has done what was asked of it."""
        self.run("return new Promise(done => setTimeout(() => "
                 "requestAnimationFrame(() => setTimeout(done))));")
        self.wait("document.body.getAttribute('aria-busy') === 'false'")

    def boxes(self):
        """What the graph has drawn: label, function, row, x, width, value."""
        return self.value(
            "graph.boxes.map(b => [b.frame.label, b.frame.function, b.row,"
            " b.x, b.width, String(b.frame.value)])")

    def click_box(self, label):
        """Clicks into the middle of a box."""
        x, row, width = next((b[3], b[2], b[4]) for b in self.boxes()
                             if b[0] == label)
        top = self.value(f"graph.top({row})")
        self.point("#graph", x + width / 2, top + 9)


def number(text):
    return int(text.replace(",", ""))


def costs(b, event):
    """What the page has of an event: total, elsewhere, and of each function
    its own and its inclusive count, by name, image and file."""
    total, elsewhere, rows = b.run(
        "return costsOf(arguments[0], -1).then(c => [String(c.total),"
        " String(c.elsewhere), functions.all.filter(f => f.number !== "
        "functions.unknown).map(f => [f.name, f.image, f.file,"
        " String(c.ofFunction[f.number]), String(c.withCalls[f.number])])]);",
        event)
    found = {(name, image, file): (int(own), int(inclusive))
             for name, image, file, own, inclusive in rows
             if (own, inclusive) != ("0", "0")}
    return int(total), int(elsewhere), found


def wanted_costs(found, name):
    """The same of a report. An unknown function has its image's name."""
    rows = {}
    for row in found["rows"]:
        keys, own = row["keys"], row["values"][name]
        inclusive = row.get("inclusive", row["values"])[name]
        image = keys["image"] or ""
        function = keys["function"] or (
            f"(no symbols in {image.rpartition('/')[2]})" if image
            else "(code of no file)")
        if (own, inclusive) != (0, 0):
            rows[function, image, keys["function_file"] or ""] = own, inclusive
    return rows


def same_sums(b, path):
    """Compares all events, and adds them up."""
    found = report(path)
    for i, event in enumerate(found["events"]):
        total, elsewhere, rows = costs(b, i)
        t.equal((total, elsewhere), (event["total"], event["elsewhere"]),
                event["name"])
        wanted = wanted_costs(found, event["name"])
        if "inclusive" not in found["rows"][0]:
            # Then the page shows none either.
            rows = {key: (own, own) for key, (own, _) in rows.items() if own}
        t.same(rows, wanted, event["name"])
        t.equal(sum(own for own, _ in rows.values()) + elsewhere, total,
                event["name"])
        # What is drawn at the top of the tree is all of it, too.
        inclusive = b.run(
            "return costsOf(arguments[0], -1).then(c => tree.roots.map(n => "
            "String(c.inclusive[n])));", i)
        t.equal(sum(map(int, inclusive)) + elsewhere, total, event["name"])


@t.named("the sums of a program are those of tally report, to the digit")
def sums_words():
    with Shown(page(record_words())) as b:
        same_sums(b, record_words())


@t.named("the sums of threads, together and apart")
def sums_threads():
    path = record("crew", (t.guest("crew.sparc64"), "3"), "-m",
                  "ultrasparc-t2", "-e", "All_instr,DC_miss,Idle_strands")
    threads = report(path, "--by", "thread")
    with Shown(page(path)) as b:
        same_sums(b, path)
        names = b.value("[...document.getElementById('thread').options].map("
                        "o => o.textContent)")
        t.equal(len(names), 1 + len(threads["rows"]))
        of = b.value("head.threads.map(t => t.thread)")
        wanted = {row["keys"]["thread"]: row["values"]["All_instr"]
                  for row in threads["rows"]}
        b.choose("#thread", 1)
        b.settle()
        t.contains(b.text("standing"), f"{wanted[of[1]]:,}")
        t.equal(number(b.table("functions")[1][-1][1]), wanted[of[1]])


@t.named("a program without callers has a flat graph, and the page says why")
def flat():
    path = record("flat", tuple(words()), *STEADY, "-e", EVENTS,
                  "--no-callers")
    with Shown(page(path)) as b:
        same_sums(b, path)
        t.contains(b.text("graph-note"), "has no callers (tally record "
                                         "--no-callers)")
        head = b.run("return [...document.querySelectorAll("
                     "'#functions thead button')].map(e => e.textContent);")
        assert "incl." not in head and "self" in head, head
    with Shown(page(record_words())) as b:
        t.equal(b.text("graph-note"), "")


def colours(b):
    """How many colours the canvas has."""
    return b.run(
        "const c = document.getElementById('graph'), copy = document."
        "createElement('canvas'), seen = new Set();"
        "copy.width = c.width; copy.height = c.height;"
        "const d = copy.getContext('2d', {willReadFrequently: true});"
        "d.drawImage(c, 0, 0);"
        "const data = d.getImageData(0, 0, c.width, c.height).data;"
        "for (let i = 0; i < data.length; i += 4)"
        " if (data[i + 3] === 255) seen.add(data[i] << 16 | data[i + 1] << 8 |"
        " data[i + 2]); return [...seen];")


@t.named("the graph is drawn: boxes as wide as their counts, in colours")
def drawn():
    with Shown(page(record_words())) as b:
        boxes = b.boxes()
        label, _, row, x, width, value = boxes[0]
        t.equal((label, row, x), ("all", 0, 0))
        total = report(record_words())["events"][0]["total"]
        t.equal(int(value), total)
        main = next(box for box in boxes if box[0] == "main")
        assert abs(main[4] - width * int(main[5]) / total) < .01, main
        assert len(boxes) > 20, boxes
        t.contains(b.text("status"), f"all: {total:,} instructions (100.0 %)")
        light = colours(b)
        assert len(light) > 5, light
        b.dark(True)
        dark = colours(b)
        assert len(dark) > 5 and set(light) != set(dark), dark
        b.dark(False)
        t.equal(sorted(colours(b)), sorted(light), "light again")
        b.choose("#colour", "rate")
        b.choose_event(2)
        assert set(colours(b)) != set(light)
        t.contains(b.text("legend"), "cache-misses per 1000 instructions: ")


def contrast(a, b):
    """The contrast of two colours (WCAG 2, relative luminance)."""
    def luminance(colour):
        parts = [(colour >> shift & 255) / 255 for shift in (16, 8, 0)]
        linear = [p / 12.92 if p <= .04045 else ((p + .055) / 1.055) ** 2.4
                  for p in parts]
        return sum(f * p for f, p in zip((.2126, .7152, .0722), linear))
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + .05) / (low + .05)


@t.named("text can be read on every colour, light and dark")
def readable():
    with Shown(page(record_words())) as b:
        for dark in (False, True):
            b.dark(dark)
            backs = b.run(
                "const dark = arguments[0], canvas = document.createElement("
                "'canvas').getContext('2d', {willReadFrequently: true}), out = [];"
                "const add = colour => { canvas.fillStyle = colour; "
                "canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData("
                "0, 0, 1, 1).data; out.push(d[0] << 16 | d[1] << 8 | d[2]); };"
                "for (let hue = 0; hue < 360; hue++) for (let s = 0; s < 3; "
                "s++) add(shade(hue, dark, s));"
                "for (let r = -1; r <= 1; r += .1) add(rateColour(r, dark));"
                "add(noFunction(dark)); return out;", dark)
            look = b.value("lookOf(false)")
            ink = int(look["ink"][1:], 16)
            worst = min(contrast(ink, back) for back in backs)
            assert worst >= 4.5, (dark, worst)
            found = int(look["found"][1:], 16)
            on = {"#fff": 0xffffff}.get(look["onFound"]) or int(
                look["onFound"][1:], 16)
            assert contrast(found, on) >= 4.5, look
            # Cells with the deepest heat, and soft text.
            pairs = b.run(
                "const s = getComputedStyle(document.documentElement);"
                "const canvas = document.createElement('canvas').getContext("
                "'2d', {willReadFrequently: true}); const rgb = colour => { canvas.fillStyle = colour;"
                "canvas.fillRect(0, 0, 1, 1); const d = canvas.getImageData("
                "0, 0, 1, 1).data; return d[0] << 16 | d[1] << 8 | d[2]; };"
                "const v = name => s.getPropertyValue(name).trim();"
                "return [[rgb(v('--ink')), rgb(`color-mix(in srgb, "
                "${v('--rank')} ${HEAT_MOST}%, ${v('--paper')})`)],"
                "[rgb(v('--soft')), rgb(v('--paper'))],"
                "[rgb(v('--bar')), rgb(v('--paper'))]];")
            for ink, back in pairs:
                assert contrast(ink, back) >= 4.5, (dark, hex(ink), hex(back))


@t.named("a click zooms, Escape and the button go back")
def zoom():
    with Shown(page(record_words())) as b:
        before = b.boxes()
        wide = before[0][4]
        b.click_box("print_words")
        boxes = {box[0]: box for box in b.boxes()}
        t.equal(boxes["print_words"][3:5], [0, wide])
        # The callers stay above it, over the whole width.
        t.equal((boxes["main"][4], boxes["all"][4]), (wide, wide))
        assert "read_words" not in boxes
        t.contains(b.text("status"), "print_words (inlined): ")
        b.press("Escape")
        t.equal(b.value("graph.focus.label"), "main")
        b.click("#reset")
        t.equal(b.boxes(), before)
        # The zoom stays where the event changes.
        b.click_box("read_words")
        b.choose_event(1)
        t.equal(b.value("graph.focus.label"), "read_words")


def inclusive_of(path, name, event):
    return next(row["inclusive"][event] for row in report(path)["rows"]
                if row["keys"]["function"] == name)


@t.named("a search marks functions and says their part")
def search():
    with Shown(page(record_words())) as b:
        plain = colours(b)
        total = report(record_words())["events"][0]["total"]
        b.write("#search", "Print_Wo")
        b.settle()
        part = inclusive_of(record_words(), "print_words", "instructions")
        t.equal(b.text("found"), f"1 function and what they call: {part:,} "
                                 f"({100 * part / total:.1f} %)")
        assert set(colours(b)) != set(plain)
        b.clear("#search")
        b.write("#search", "no such function")
        b.settle()
        t.equal(b.text("found"),
                "0 functions and what they call: 0 (0.0 %)")
        b.click("#reset")
        t.equal((b.text("found"), sorted(colours(b))), ("", sorted(plain)))
        # Everything is below one of these, and counts once.
        b.write("#search", "start")
        b.settle()
        t.contains(b.text("found"), f": {total:,} (100.0 %)")


@t.named("inverted: functions by their own costs, then their callers")
def inverted():
    found = report(record_words())
    with Shown(page(record_words())) as b:
        b.choose("#view", "inverted")
        b.settle()
        rows = b.value("kidsOf(graph.root).map(k => [k.label, "
                       "String(k.value), String(k.self)])")
        wanted = sorted(
            (row["values"]["instructions"] for row in found["rows"]
             if row["values"]["instructions"]), reverse=True)
        t.equal([int(value) for _, value, _ in rows], wanted)
        t.equal([own for _, _, own in rows], [value for _, value, _ in rows])
        callers = report(record_words(), "--by", "function,caller")
        name = "__strcmp_avx2"
        parts = b.run(
            "return kidsOf(kidsOf(graph.root).find(k => k.label === "
            "arguments[0])).map(k => [k.label, String(k.value)]);", name)
        t.equal({caller: int(value) for caller, value in parts},
                {row["keys"]["caller"]: row["values"]["instructions"]
                 for row in callers["rows"]
                 if row["keys"]["function"] == name})
        drawn = [box[0] for box in b.boxes()]
        assert name in drawn and "msort_with_tmp.part.0" in drawn, drawn
        b.choose("#view", "up")
        b.settle()
        t.equal(b.value("graph.top(0)"),
                b.value("graph.height - 1 - ROW"), "the root is below")


@t.named("the table sorts, filters and adds up, for as many events as ticked")
def table():
    found = report(record_words())
    total = found["events"][0]["total"]
    with Shown(page(record_words())) as b:
        rows, foot = b.table("functions")
        own = [number(row[3]) for row in rows]
        t.equal(own, sorted(own, reverse=True))
        t.equal((sum(own), [number(line[1]) for line in foot]),
                (total, [total, 0, total]))
        press = ("document.querySelectorAll('#functions thead button')"
                 "[arguments[0]].click();")
        b.run(press, 3)
        up = [number(row[3]) for row in b.table("functions")[0]]
        t.equal(up, sorted(own), "upwards")
        b.run(press, 0)
        names = [row[0] for row in b.table("functions")[0]]
        t.equal(names, b.run(
            "return arguments[0].slice().sort((a, b) => a.localeCompare(b, "
            "'en', {numeric: true}));", names))
        t.equal(sorted(names), sorted(row[0] for row in rows))
        t.equal(b.run("return [...document.querySelectorAll('#functions "
                      "[aria-sort]')].map(e => e.textContent + "
                      "e.getAttribute('aria-sort'));"),
                ["functionascending"])
        b.run(press, 5)
        calls = [number(row[5]) for row in b.table("functions")[0]]
        t.equal(calls, sorted(calls, reverse=True), "inclusive")
        b.write("#function-filter", "read_w")
        rows, foot = b.table("functions")
        t.equal([row[0] for row in rows], ["read_words"])
        t.equal((foot[0][0], foot[0][1]), ("1 function", rows[0][3]))
        b.clear("#function-filter")
        # The fifth event is not shown until its box is ticked.
        before = len(b.table("functions")[1][-1])
        b.run("document.querySelectorAll('#column-boxes input')[4].click();")
        b.settle()
        assert len(b.table("functions")[1][-1]) > before
        last = b.table("functions")[1][-1]
        t.equal(number(last[-4]), found["events"][4]["total"])


@t.named("another event is shown everywhere, with what is known of it")
def event():
    found = report(record_words())
    with Shown(page(record_words())) as b:
        for i in (4, 3):
            b.choose_event(i)
            e = found["events"][i]
            t.contains(b.text("standing"), f"{e['total']:,}")
            t.contains(b.text("standing"),
                       f"{e['standing']}; elsewhere {e['elsewhere']:,}")
            t.contains(b.text("status"), f"{e['total']:,} {e['asked']} ")
            t.equal(int(b.boxes()[0][5]), e["total"])
            own = [number(row[3]) for row in b.table("functions")[0]]
            t.equal(own, sorted(own, reverse=True))
            t.equal(sum(own) + e["elsewhere"], e["total"])


@t.named("what is asked for last is shown, however quickly")
def quickly():
    found = report(record_words())
    with Shown(page(record_words())) as b:
        b.run("for (let i = 0; i < 20; i++) for (const n of [4, 1, 3, 0, 2])"
              " chooseEvent(n);")
        b.settle()
        e = found["events"][2]
        t.contains(b.text("standing"), f"{e['total']:,} {e['asked']}, ")
        t.equal(int(b.boxes()[0][5]), e["total"])
        t.equal(number(b.table("functions")[1][-1][1]), e["total"])
        b.run("for (const f of functions.all) openSource(f.number);")
        b.settle()
        t.equal(b.text("code-title"), b.value(
            "functions.all[functions.all.length - 1].name"))


def annotated(path, name):
    done = t.run(t.tally(), "annotate", "-j", "--asm", "-i", path, name)
    t.equal(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)["annotations"][0]


def compare_source(b, path, name):
    """The counts of lines and instructions are those of tally annotate."""
    wanted = annotated(path, name)
    b.run("openSource(functions.all.find(f => f.name === arguments[0]).number"
          ");", name)
    b.wait(f"document.getElementById('code-title').textContent === "
           f"{json.dumps(name)} && document.querySelector('#code tbody tr')")
    b.settle()
    columns = b.value("code.events.length")
    asked = b.value("code.events.map(n => head.events[n].asked)")
    rows = b.table("code")[0]
    lines = {}
    for row in rows:
        if len(row) == columns + 2 and row[columns].isdigit() and \
                row[0] not in ("", "-"):
            lines[int(row[columns])] = (
                [number(cell) for cell in row[:columns]], row[-1])
    for line in wanted["lines"]:
        if line["line"] == 0:
            continue
        counts, text = lines.pop(line["line"])
        t.equal(counts, [line["values"][e] for e in asked], line["text"])
        t.equal(text.rstrip(), (line["text"] or "").replace(
            "\t", " " * 8).rstrip())
    t.equal(lines, {}, "more lines")
    return wanted, asked, rows


@t.named("source lines and instructions are those of tally annotate")
def source():
    path = record_words()
    with Shown(page(path)) as b:
        wanted, asked, rows = compare_source(b, path, "read_words")
        # What lies in a sum is in the note.
        for e in asked:
            t.contains(b.text("code-note"), f"{wanted['totals'][e]:,} {e} ")
        b.click("#assembly")
        insns = b.table("code")[0]
        columns = len(asked)
        shown = sorted(row[-1].split(maxsplit=1) for row in insns
                       if len(row) == columns + 2 and row[columns] == "" and
                       re.match(r"^ *[0-9a-f]+  ", row[-1]))
        t.equal(shown, sorted([i["address"][2:], i["text"]]
                              for i in wanted["instructions"]))
        heat = b.run("return [...document.querySelectorAll('#code td.heat')]"
                     ".map(e => e.style.getPropertyValue('--heat'));")
        assert "50.0%" in heat and len(heat) > 10, heat
        t.equal(b.value("document.activeElement.id"), "assembly")
        # Code without lines shows its instructions.
        b.run("openSource(functions.all.find(f => f.name === 'main').number);")
        b.settle()
        t.equal(b.text("code-title"), "main")


@t.named("a source that is gone is said to be, and --source finds it")
def moved_source():
    with tempfile.TemporaryDirectory() as d:
        place = pathlib.Path(d)
        (place / "old").mkdir()
        program = place / "program"
        (place / "old" / "prog.c").write_text(
            "static int\nadd(int n)\n{\n    int sum = 0;\n"
            "    for (int i = 0; i < n; i++)\n        sum += i;\n"
            "    if (n > 99)\n        sum = 1;\n    return sum;\n}\n"
            "int\nmain(int argc, char **argv)\n{\n    (void)argv;\n"
            "    return add(argc + 7) > 3 ? 0 : 1;\n}\n")
        done = t.run("cc", "-g", "-O0", "-static", "-o", program,
                     place / "old" / "prog.c")
        if done.returncode != 0:
            raise t.Skip(f"no compiler: {done.stderr[:100]}")
        (place / "old").rename(place / "new")
        path = place / "moved.data"
        done = t.run(t.tally(), "record", "-q", "-o", path, "-m", "host-model",
                     "-e", "instructions", "--", program)
        t.equal(done.returncode, 0, done.stderr)
        for options, said in (((), "could not be read"), (
                ("--source", f"{place}/old={place}/new"), "sum += i;")):
            out = place / "page.html"
            done = t.run(t.tally(), "report", "--html", out, *options, path)
            t.equal(done.returncode, 0, done.stderr)
            with Shown(out) as b:
                b.run("openSource(functions.all.find(f => f.name === 'add')"
                      ".number);")
                b.wait("document.querySelector('#code tbody tr')")
                t.contains(b.text("code"), said)
                never = b.run("return [...document.querySelectorAll("
                              "'#code tr.never td.number')].map(e => "
                              "e.textContent);")
                t.equal(never, ["8"], "lines that never ran")


@t.named("by keyboard alone: walk, zoom, search, source, and back")
def keyboard():
    with Shown(page(record_words())) as b:
        for _ in range(30):
            if b.value("document.activeElement.id") == "graph":
                break
            b.press("Tab")
        t.equal(b.value("document.activeElement.id"), "graph")
        assert b.value("getComputedStyle(document.activeElement).outlineStyle"
                       ) != "none"
        cursor = "graph.cursor.label"
        b.press("ArrowDown", "ArrowDown")
        t.equal(b.value(cursor), "__libc_start_main")
        b.press("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight")
        t.equal(b.value(cursor), "print_words")
        t.contains(b.text("status"), "print_words (inlined): ")
        b.press("Enter")
        t.equal(b.value("graph.focus.label"), "print_words")
        b.press("ArrowLeft")
        t.equal(b.value(cursor), "read_words")
        b.press("Home")
        # What is beside the zoomed function takes its place.
        t.equal((b.value(cursor), b.value("graph.focus.label")),
                ("all", "read_words"))
        b.press("Escape", "Escape", "Escape", "Escape", "Escape")
        t.equal(b.value("graph.focus.label"), "all")
        b.press("/")
        t.equal(b.value("document.activeElement.id"), "search")
        b.press(*"msort", "Enter")
        t.equal(b.value("document.activeElement.id"), "graph")
        b.press("n")
        t.contains(b.value(cursor), "msort")
        b.press("Home", "N")
        t.contains(b.value(cursor), "msort")
        b.press("s")
        b.wait("document.activeElement.id === 'code-title'")
        t.contains(b.text("code-title"), "msort")
        b.press("Tab", "Tab", "Enter")
        t.equal(b.value("document.activeElement.id"), "graph")
        # Each part has a name for who does not see it.
        names = b.run(
            "return [...document.querySelectorAll('section')].map(s => "
            "document.getElementById(s.getAttribute('aria-labelledby'))"
            ".textContent);")
        t.equal(names[:2], ["Calls", "Functions"])


@t.named("objects, and whose accesses missed them, are those of the report")
def objects():
    path = record("objects", (t.guest("objects.dyn.x86_64"), "heap"),
                  "--objects", "-m", "montecito", "-e", "L1D_READ_MISSES.ALL")
    found = report(path, "--by", "object")
    both = report(path, "--by", "object,function")
    name = found["events"][0]["name"]
    with Shown(page(path)) as b:
        same_sums(b, path)
        rows, foot = b.table("objects")
        t.equal({row[0]: number(row[3]) for row in rows},
                {row["keys"]["object"]: row["values"][name]
                 for row in found["rows"]})
        t.equal(number(foot[-1][1]), found["events"][0]["total"])
        t.equal(sum(number(line[1]) for line in foot[:2]),
                found["events"][0]["total"])
        first = rows[0][0]
        b.run("document.querySelector('#objects tbody button').click();")
        b.wait("document.querySelector('#users tbody tr')")
        users, _ = b.table("users")
        t.equal({row[0]: number(row[2]) for row in users},
                {row["keys"]["function"]: row["values"][name]
                 for row in both["rows"] if row["keys"]["object"] == first})
        t.contains(b.text("users-title"), first)
    with Shown(page(record_words())) as b:
        assert b.value("document.getElementById('objects-part').hidden")


HUGE = [("main", 2 ** 60 + 1), ("worker", 2 ** 61 + 3), ("less", -5),
        ("tail", 2 ** 53 + 1)]


@t.named("counts above 2^53, and below 0, keep every digit")
def huge():
    path = record_forged(
        "huge", [name for name, _ in HUGE], [(0, 1), (1, 2)],
        {(0, 0): [10, HUGE[0][1]], (1, 1): [20, HUGE[1][1]],
         (2, 2): [30, HUGE[2][1]], (2, 3): [1, HUGE[3][1]]}, [0, 7],
        [recordfile.event("instructions"), recordfile.event("huge")])
    with Shown(page(path)) as b:
        same_sums(b, path)
        b.choose_event(1)
        t.contains(b.text("standing"),
                   f"{sum(v for _, v in HUGE) + 7:,} huge, exact; elsewhere 7")
        rows, foot = b.table("functions")
        t.equal({row[0]: number(row[3]) for row in rows}, dict(HUGE))
        t.equal([number(line[1]) for line in foot],
                [sum(v for _, v in HUGE), 7, sum(v for _, v in HUGE) + 7])
        b.choose("#view", "inverted")
        b.settle()
        t.equal(b.value("kidsOf(graph.root).map(k => String(k.value))"),
                [str(v) for v in sorted([v for _, v in HUGE] + [7],
                                        reverse=True)])
        compare = b.run("openSource(1); return codeCounts(1).then(c => "
                        "[...c].map(String));")
        t.equal(compare, [str(v) for _, v in HUGE])
    edge = record_forged(
        "edge", ["main"], [], {(0, 0): [2 ** 52 - 1]},
        events=[recordfile.event("instructions")])
    with Shown(page(edge)) as b:
        same_sums(b, edge)
        t.equal(b.value("head.events[0].big"), False)


NASTY = [b"</script><script>window.hit = 1</script>", b"<img src=x onerror="
         b"'window.hit=1'>", b"\xff\xfe bad \x01\x1b[31m bytes",
         "\u202eright to left\u2066".encode(), b"\"quotes' & &amp; ]]>",
         b"<!--<script>", b"@DATA@ @STYLE@ @SCRIPT@", b"\\x41 line\nend",
         "caf\u00e9 \U0001f600".encode()]
SHOWN = ["</script><script>window.hit = 1</script>",
         "<img src=x onerror='window.hit=1'>",
         "\\xff\\xfe bad \\x01\\x1b[31m bytes",
         "\\u{202e}right to left\\u{2066}", "\"quotes' & &amp; ]]>",
         "<!--<script>", "@DATA@ @STYLE@ @SCRIPT@", "\\\\x41 line\\x0aend",
         "caf\u00e9 \U0001f600"]


@t.named("names and sources of strangers neither break the page nor run")
def hostile():
    forged = recordfile.Record(
        [recordfile.event("instructions", brief="</script><b>brief"),
         recordfile.event("</script><i>x", standing="<b>exact")],
        NASTY, ["</script><script>window.hit=1</script>", "\u202eargument"])
    forged.paths = [(i, 1 + i) for i in range(len(NASTY) - 1)]
    forged.counts = {(i, i): [10 + i, 1] for i in range(len(NASTY))}
    path = forged.write(folder / "nasty.data")
    with Shown(page(path)) as b:
        t.equal(b.value("window.hit === undefined"), True)
        t.equal(b.value("document.querySelectorAll('img, b, iframe, a')"
                        ".length"), 0)
        t.equal(sorted(row[0] for row in b.table("functions")[0]),
                sorted(SHOWN))
        labels = [box[0] for box in b.boxes()]
        t.equal([label for label in labels if label in SHOWN], SHOWN)
        t.equal(b.value("document.title"),
                "</script><script>window.hit=1</script> \\u{202e}argument "
                "\u2014 tally report")
        b.choose_event(1)
        b.run("openSource(1);")
        b.wait(f"document.getElementById('code-title').textContent === "
               f"{json.dumps(SHOWN[1])}")
        t.equal(b.value("window.hit === undefined"), True)


@t.named("a source with ends of scripts and control bytes is shown as text")
def hostile_source():
    with tempfile.TemporaryDirectory() as d:
        place = pathlib.Path(d) / "<" / "script>"
        place.mkdir(parents=True)
        source = place / "a&'.c"
        source.write_bytes(
            b"/* </script><script>window.hit = 1</script> */\n"
            b"int main(void)\n"
            b"{ /* \xff\xe2\x80\xae\x01 */\n\treturn 0; /* <img src=x onerror=window.hit=1> */\n}\n")
        program = pathlib.Path(d) / "program"
        done = t.run("cc", "-g", "-O0", "-static", "-o", program, source)
        if done.returncode != 0:
            raise t.Skip(f"no compiler: {done.stderr[:100]}")
        path, out = pathlib.Path(d) / "x.data", pathlib.Path(d) / "x.html"
        done = t.run(t.tally(), "record", "-q", "-o", path, "-m", "host-model",
                     "-e", "instructions", "--", program)
        t.equal(done.returncode, 0, done.stderr)
        done = t.run(t.tally(), "report", "--html", out, path)
        t.equal((done.returncode, done.stderr), (0, ""))
        with Shown(out) as b:
            b.run("openSource(functions.all.find(f => f.name === 'main')"
                  ".number);")
            b.wait("document.querySelector('#code tbody tr')")
            text = b.text("code")
            t.contains(text, "{ /* \\xff\\u{202e}\\x01 */")
            t.contains(text, "        return 0; /* <img src=x onerror="
                             "window.hit=1> */")
            t.contains(text, "</script>/a&'.c:")
            t.equal(b.value("window.hit === undefined"), True)
            t.equal(b.value("document.querySelectorAll('img').length"), 0)


@t.named("a browser without DecompressionStream shows the same")
def no_streams():
    text = page(record_words()).read_text()
    old = folder / "old.html"
    old.write_text(text.replace("<head>", "<head><script>delete window."
                                "DecompressionStream; delete Uint8Array."
                                "fromBase64;</script>", 1))
    with Shown(old) as b:
        t.equal(b.value("typeof DecompressionStream"), "undefined")
        same_sums(b, record_words())
        compare_source(b, record_words(), "read_words")


def sections(text):
    """The sections of a page, unpacked by Python."""
    return {name: zlib.decompress(base64.b64decode(data)) for name, data in
            re.findall(r'<script type="text/plain" id="data-([^"]*)">\n'
                       r'([^<]*)</script>', text)}


@t.named("the page is one file that names no other, and forbids the network")
def alone():
    text = page(record_words()).read_text()
    t.equal(re.findall(r"(?:src|href)\s*=|url\(|@import|fetch\(|import\(|"
                       r"XMLHttp|WebSocket|eval\(|innerHTML", text), [])
    t.equal(re.findall(r"[a-z]+://[^\"' ]*", text), [])
    t.contains(text, "default-src 'none'; style-src 'unsafe-inline'; "
                     "script-src 'unsafe-inline'")
    found = sections(text)
    events = len(report(record_words())["events"])
    t.equal(sum(name.startswith("values-") for name in found), events)
    t.contains(found["texts"].decode().split("\n"), "read_words")
    # Equal records give equal pages.
    again = folder / "again.html"
    t.run(t.tally(), "report", "--html", again, record_words())
    t.equal(again.read_text(), text)


@t.named("-e chooses the events of the page")
def chosen_events():
    with Shown(page(record_words(), "-e", "branch-misses,cycles")) as b:
        t.equal(b.value("head.events.map(e => e.asked)"),
                ["branch-misses", "cycles"])
        rate = b.value("document.querySelector('#colour [value=rate]')"
                       ".disabled")
        t.equal(rate, True, "no rate without instructions")
        t.contains(b.text("colour"), "the page has no event of instructions")


@t.named("a record that is cut short says so")
def cut_short():
    whole = record_words().read_bytes()
    path = folder / "cut.data"
    path.write_bytes(whole[:-200])
    out = folder / "cut.html"
    done = t.run(t.tally(), "report", "--html", out, path)
    t.equal(done.returncode, 0, done.stderr)
    with Shown(out) as b:
        t.contains(b.text("notes"), "The record is cut short")
        same_sums(b, path)


@t.named("paper: light colours, and no buttons")
def paper():
    with Shown(page(record_words())) as b:
        b.dark(True)
        b.run("addEventListener('beforeprint', () => setTimeout(() => 0));")
        data = b.command("Page.printToPDF", printBackground=True)["data"]
        assert base64.b64decode(data).startswith(b"%PDF"), data[:20]
        b.command("Emulation.setEmulatedMedia", media="print", features=[])
        b.wait("matchMedia('print').matches")
        t.equal(b.value("getComputedStyle(document.getElementById('reset'))"
                        ".display"), "none")
        t.equal(b.value("getComputedStyle(document.documentElement)"
                        ".getPropertyValue('--paper').trim()"), "#fff")


@t.named("what does not go with --html is refused in one line")
def refused():
    path = record_words()
    out = folder / "refused.html"
    for options, said in (
            (["--top", "3"], "--top does not go with --html"),
            (["--by", "line"], "--by does not go with --html"),
            (["-j"], "--json does not go with --html"),
            (["-x", ";"], "--field-separator does not go with --html"),
            (["-o", "x"], "--output does not go with --html"),
            (["--source", "nothing"], "--source takes OLD=NEW"),
            (["-e", "nothing"], "there is no event 'nothing'")):
        done = t.run(t.tally(), "report", "--html", out, *options, path)
        t.equal((done.returncode, done.stdout), (2, ""), str(options))
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1)
        assert not out.exists()
    for options, said in (
            (["--html", ""], "--html takes a file's name"),
            (["--source", "a=b"], "--source goes with --html"),
            (["--html", str(path)], "would replace the record itself"),
            (["--html", str(folder / "no" / "page")], "No such file")):
        done = t.run(t.tally(), "report", *options, path)
        t.equal((done.returncode, done.stdout), (2, ""), str(options))
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1)


@t.named("a disk that is full: one line, and the old page stays")
def full():
    done = t.run(t.tally(), "report", "--html", "/dev/full", record_words())
    t.equal((done.returncode, done.stdout), (125, ""))
    t.equal(done.stderr, "tally: cannot write /dev/full: No space left on "
                         "device\n")
    damaged = bytearray(record_words().read_bytes())
    damaged[len(damaged) // 2] ^= 4
    path, out = folder / "damaged.data", folder / "kept.html"
    path.write_bytes(damaged)
    out.write_text("old")
    done = t.run(t.tally(), "report", "--html", out, path)
    t.equal((done.returncode, done.stdout, out.read_text()), (125, "", "old"))


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
