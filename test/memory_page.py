#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally memory --html: memory_page.py BUILD [WORD]

The page in a real browser: its values are those of tally memory --json, and it
filters, searches and sorts by mouse and by keyboard.
"""
import json
import pathlib
import tempfile

import tallytest as t
from browser import Page

SETTINGS = [o for s in ("size=32K", "ways=8", "line=64")
            for o in ("--set", f"l1d.{s}")]
CLASSES = ("coherence", "false_sharing", "first_touch", "capacity", "conflict")

folder = None


@t.once
def record(program, *words):
    """The path of a record of a guest."""
    path = folder / f"{program}.{'.'.join(words)}.data"
    done = t.run(t.tally(), "record", "-q", "--why", "-m", "host-model",
                 *SETTINGS, "--clean-env", "--quantum", 100000, "-o", path,
                 "--", t.guest(f"{program}.x86_64"), *words)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return path


def shared():
    return record("sharers", "line", "2", "1000")


def guarded():
    """Counters under a mutex of the C library, in its line: what is missed for the
    mutex's kind is false, and then the thread uses what others have stored to."""
    return record("sharers", "guarded", "4", "300")


def columns():
    return record("why", "columns")


def page(path):
    out = path.with_suffix(".html")
    done = t.run(t.tally(), "memory", "-i", path, "--html", out)
    t.equal((done.returncode, done.stdout, done.stderr), (0, "", ""))
    return out


def report(path):
    done = t.run(t.tally(), "memory", "-i", path, "--json")
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return json.loads(done.stdout)


def misses(counts):
    return counts["load_misses"] + counts["store_misses"]


def shown_number(n):
    return "-" if n == 0 else f"{n:,}"


@t.named("values of the page are those of --json")
def same():
    for path in (shared(), columns()):
        found = report(path)
        with Page(page(path)) as b:
            t.equal(b.value("[...Array(9).keys()].map(n => countOf(memory.counts,"
                            " n))"), list(found["counts"].values()))
            objects = b.value(
                "memory.objects.map(o => [o.name, o.kind, o.counts, o.fetched,"
                " o.used, o.reuse, o.sets])")
            for row, o in zip(objects, found["objects"], strict=True):
                counts = list(o["counts"].values())
                while counts and counts[-1] == 0:
                    counts.pop()
                t.equal(row, [o["name"], o["kind"], counts,
                              o["bytes_fetched"], o["bytes_used"], o["reuse"],
                              o["conflict_misses_by_set"]])
            t.equal(b.value("memory.sets"), found["conflict_misses_by_set"])
            t.equal(b.value("memory.reuse"), found["reuse"])
            t.equal(b.value("memory.findings.map(f => [f.kind, f.misses, f.text,"
                            " nameOf(f.object)])"),
                    [[f["kind"], f["misses"], f["text"], f["object"]]
                     for f in found["findings"]])
            t.equal(b.value(
                "memory.driven.map(d => [nameOf(d[0]), nameOf(d[1]), memory."
                "texts[d[2]], memory.texts[d[3]], d[5], d[6]])"),
                [[o["name"], d["by"], d["function"], d["file"],
                  d["capacity_misses"], d["conflict_misses"]]
                 for o in found["objects"] for d in o["driven_out"]])
            t.equal(b.value("memory.lines.map(l => [l.function, l.file, "
                            "l.addresses, l.stride])"),
                    [[line["function"], line["file"], line["addresses"],
                      line["stride"]] for line in found["lines"]])
            t.contains(b.text("sum"), f"{misses(found['counts']):,} misses "
                                      "(modelled)")


@t.named("what is drawn: findings, objects with classes, sets")
def drawn():
    found = report(columns())
    wanted = [o for o in found["objects"] if misses(o["counts"]) > 0]
    with Page(page(columns())) as b:
        rows = b.rows("objects")
        t.equal(len(rows), len(wanted))
        for row, o in zip(rows, wanted):
            c = {n: o["counts"][f"{n}_misses"] for n in CLASSES}
            c["coherence"] -= c["false_sharing"]
            t.equal(row[3], f"{misses(o['counts']):,}")
            t.equal(row[5:10], [shown_number(c[n]) for n in CLASSES])
        t.equal(b.value("document.querySelectorAll('#findings button').length"),
                len(found["findings"]))
        # A pixel of the first row of the map is coloured where a set has misses.
        sets = found["conflict_misses_by_set"]
        painted = b.value(
            "[...document.querySelector('#sets canvas').getContext('2d')."
            "getImageData(0, 0, head.set_count, 1).data]"
            ".filter((_, i) => i % 4 === 3).map(a => a > 0)")
        t.equal(painted, [n > 0 for n in sets] + [False] * (
            len(painted) - len(sets)))
        b.run("document.querySelector('#sets canvas').focus();")
        b.press("ArrowRight", "ArrowRight")
        t.contains(b.text("sets-status"), f"set 2: {sets[2]:,} conflict misses")
        before = b.value("heatColour(1, 100)")
        b.dark(True)
        assert b.value("heatColour(1, 100)") != before


@t.named("accesses below the table of objects are together those of the program")
def foot():
    found = report(columns())
    with Page(page(columns())) as b:
        rows = b.rows("objects", "tfoot")
    t.equal([row[0].split(" ", 1)[1] for row in rows],
            ["objects with misses", "objects without misses"])
    accesses = sum(int(row[8].replace(",", "")) for row in rows)
    t.equal(accesses, found["counts"]["loads"] + found["counts"]["stores"])


@t.named("a window of 1400 pixels shows the whole table and the whole map of sets")
def wide():
    with Page(page(columns())) as b:
        b.narrow(1400)
        for name in ("objects", "sets"):
            t.equal(b.value(f"(box => box.scrollWidth - box.clientWidth)("
                            f"document.getElementById('{name}').parentElement)"),
                    0, name)
        # A name that has no room ends with dots.
        ends = b.value("['#objects tbody button.name', '.set-row button'].map(s => "
                       "getComputedStyle(document.querySelector(s)).textOverflow)")
        t.equal(ends, ["ellipsis", "ellipsis"])


@t.named("the button below the map of sets says how many objects it shows")
def more_sets():
    with Page(page(columns())) as b:
        for objects, text in ((2, "show 1 more object"), (3, "show 2 more objects"),
                              (102, "show 100 of 101 more objects")):
            b.run("const o = memory.objects.find(o => countOf(o.counts, CONFLICT) > 0);"
                  "memory.objects = Array(arguments[0]).fill(o);"
                  "rowsOfSets = 1; chosen.object = -1; showSets();", objects)
            t.equal(b.text("sets-more"), text)


@t.named("lines that threads take: the matrix, and the bytes")
def strip():
    found = report(shared())
    name = "shared in sharers.x86_64"
    pairs = next(o for o in found["objects"] if o["name"] == name)["shared"]
    with Page(page(shared())) as b:
        b.click("#findings button")
        t.contains(b.text("chosen-name"), name)
        t.equal(len(b.rows("shared")), len(pairs))
        for pair in pairs:
            b.run("[...document.querySelectorAll('#threads td button')].find("
                  "b => b.getAttribute('aria-label').startsWith(arguments[0]))"
                  ".click();", f"thread {pair['thread']} missed ")
            t.contains(b.text("threads"), f"{pair['coherence_misses']:,}")
            marks = b.run(
                "return ['asked', 'stored', 'both'].map(name => [...document."
                "querySelectorAll(`#strip .bytes:not(.rule) .${name}`)].map("
                "cell => Number(cell.title.split(' ')[1])));")
            t.equal(marks, [pair["bytes"], pair["stored_bytes"],
                            sorted(set(pair["bytes"]) &
                                   set(pair["stored_bytes"]))])


@t.named("false misses after which the thread used what others stored to")
def then_used():
    for path in (guarded(), shared()):
        found = report(path)
        rows = {(o["name"], s["thread"], s["stored_by"]): s
                for o in found["objects"] for s in o["shared"]}
        with Page(page(path)) as b:
            heads = b.run("return [...document.querySelectorAll('#shared thead "
                          "tr:last-child th')].map(h => h.textContent);")
            t.contains(" ".join(heads), "then used")
            shown = b.rows("shared")
            t.equal(len(shown), len(rows))
            for row in shown:
                s = rows[row[0], int(row[3]), int(row[4])]
                t.equal(row[5:8], [f"{s[name]:,}" for name in (
                    "coherence_misses", "false_sharing_misses", "used_misses")])
            worst = max(rows.values(), key=lambda s: s["coherence_misses"])
            t.contains(b.text("strip"), f"; after {worst['used_misses']:,} of the "
                       "false ones the thread used what others had stored to")
        name = "guarded" if path == guarded() else "shared"
        t.equal(any(s["used_misses"] > 0 for (o, _, _), s in rows.items()
                    if o == f"{name} in sharers.x86_64"), path == guarded())


@t.named("lines in front of the findings: the loader's start, and few turns")
def in_front():
    path = folder / "hello.data"
    done = t.run(t.tally(), "record", "-q", "--why", "-m", "host-model",
                 "--foreign", "-o", path, "--", t.guest("hello.dyn.x86_64"))
    t.equal(done.returncode, 0, done.stderr)
    found = report(path)
    loader, all_misses = found["loader_misses"], misses(found["counts"])
    with Page(page(path)) as b:
        t.equal(b.text("findings-loader"),
                f"{loader:,} misses "
                f"({b.value(f'percent({loader}, {all_misses})')}) "
                "are of the start by the dynamic loader, not of the program.")
        t.equal(b.value("document.getElementById('findings-turns').hidden"), True)
        t.equal(b.text("findings-note"),
                "Nothing of the program itself stands out.")
    with Page(page(record("sharers", "busy", "4", "1000"))) as b:
        t.equal(b.value("document.getElementById('findings-loader').hidden"), True)
        assert b.text("findings-turns").startswith("Threads had "), b.text(
            "findings-turns")


@t.named("the keyboard chooses, searches and goes back; a heading sorts")
def keyboard():
    with Page(page(columns())) as b:
        name = b.value("nameOf(memory.findings[0].object)")
        all_driven = [(o["name"], d["by"])
                      for o in report(columns())["objects"]
                      for d in o["driven_out"]]
        every = len(b.rows("driven"))
        t.equal(every, len(all_driven))
        b.run("document.querySelector('#findings button').focus();")
        b.press("Enter")
        t.equal(b.text("chosen-name"), f"Shown: {name}")
        t.equal(b.value("document.querySelectorAll('#objects tr.on').length"), 1)
        t.equal(len(b.rows("driven")), sum(name in pair for pair in all_driven))
        other = b.value("nameOf(1)")
        b.run("document.querySelector('#objects tbody tr:nth-child(2) button')"
              ".click();")
        t.equal(b.text("chosen-name"), f"Shown: {other}")
        t.equal(len(b.rows("driven")),
                sum(other in pair for pair in all_driven))
        b.press("Escape")
        t.equal(b.value("document.getElementById('chosen').hidden"), True)
        t.equal(len(b.rows("driven")), every)
        b.press("/")
        b.press(*name[:6])
        assert all(name[:6].lower() in row[0].lower() or
                   name[:6].lower() in row[2].lower()
                   for row in b.rows("objects")), b.rows("objects")
        b.press("Escape")
        b.run("const e = document.getElementById('search'); e.value = '';"
              "e.dispatchEvent(new Event('input'));")
        b.run("document.querySelector('#objects thead button').click();")
        names = [row[0] for row in b.rows("objects")]
        t.equal(names, b.run(
            "return [...arguments[0]].sort((a, b) => a.localeCompare(b, 'en',"
            " { numeric: true }));", names))


@t.named("lines of source have their text")
def source():
    lines = report(columns())["lines"]
    with Page(page(columns())) as b:
        texts = b.value("memory.lines.map(l => l.text)")
        t.equal([row[3] for row in b.rows("lines")],
                [text or "" for text in texts[:200]])
        for line, text in zip(lines, texts, strict=True):
            path = line["file"] and pathlib.Path(line["file"])
            if path and path.name == "why.c" and path.is_file():
                wanted = path.read_text().splitlines()[line["line"] - 1]
                t.equal(text, wanted.strip(" \t").replace("\t", " "))
            elif not path or not path.exists():
                t.equal(text, None)


@t.named("names and sources of strangers neither break the page nor run")
def hostile():
    place = folder / "<" / "script><img src=x onerror=hit()>"
    place.mkdir(parents=True)
    code = place / "a&'.c"
    code.write_bytes(
        b"static char big[1 << 20];\n"
        b"int main(void) {\n"
        b"for (int i = 0; i < 1 << 20; i += 64) big[i]++; "
        b"/* </script><script>window.hit=1</script> \xff\xe2\x80\xae\x01 */\n"
        b"return 0; }\n")
    program = place / "pro\x1bgram\u202e"
    done = t.run("cc", "-g", "-O0", "-o", program, code)
    if done.returncode != 0:
        raise t.Skip(f"no compiler: {done.stderr[:100]}")
    out = folder / "nasty.html"
    done = t.run(t.tally(), "memory", *SETTINGS, "--html", out, "--", program,
                 "</script><script>window.hit=1</script>")
    t.equal((done.returncode, done.stdout), (0, ""), done.stderr)
    with Page(out) as b:
        t.equal(b.value("window.hit === undefined"), True)
        t.equal(b.value("document.querySelectorAll('img, b, iframe, a')"
                        ".length"), 0)
        t.contains(b.text("title"), "</script><script>window.hit=1</script>")
        t.contains(b.text("title"), "pro\\x1bgram\\u{202e}")
        texts = b.value("memory.lines.map(l => l.text || '')")
        assert any("</script><script>window.hit=1</script> \\xff\\u{202e}\\x01"
                   in text for text in texts), texts


@t.named("what does not go with a page is refused; the file stays whole")
def refused():
    path = columns()
    for words, said in (
            (("--json",), "--json does not go with --html"),
            (("--top", "3"), "--top does not go with --html"),
            (("-o", folder / "x"), "--output does not go with --html")):
        done = t.run(t.tally(), "memory", "-i", path, "--html",
                     folder / "no.html", *words)
        t.equal((done.returncode, done.stdout), (2, ""))
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1)
    assert not (folder / "no.html").exists()
    for words in (("--html", folder / "none" / "x.html"), ("--html", path),
                  ("--html", ""), ("--source", "a=b")):
        done = t.run(t.tally(), "memory", "-i", path, *words)
        t.equal((done.returncode, done.stdout), (2, ""), words)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
    done = t.run(t.tally(), "memory", "-i", path, "--html", "/dev/full")
    t.equal((done.returncode, done.stdout), (125, ""))
    t.equal(done.stderr.count("\n"), 1, done.stderr)


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
