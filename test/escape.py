# SPDX-License-Identifier: MIT
"""Names that a stranger chose, in every form of report: escape.py BUILD [WORD]

What is printed for a terminal has no control characters, CSV is one cell a
field, JSON keeps two names apart, and a workbook and a page are well formed."""
import csv
import io
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unicodedata
import zipfile
from html.parser import HTMLParser
from xml.etree import ElementTree

import tallytest as t
from summarize_help import Dump

# An escape sequence, C1, a newline, what turns text, and no UTF-8.
NAME = b"p\x1b[31m\xc2\x9b2J\n\xe2\x80\xae\xff"
LINE = r"p\x1b[31m\u{9b}2J\x0a\u{202e}\xff"
JSON = "p\x1b[31m\x9b2J\n\u202e" r"\xff"
CELL = "p\\x1b[31m\\u{9b}2J\n\u202e" r"\xff"
TURNS = "LRE RLE LRO RLO PDF LRI RLI FSI PDI".split()


def run(*words, folder=None, text=b"", env=None):
    """A command on bytes: its status, stdout and stderr."""
    done = subprocess.run([t.tally(), *words], input=text, cwd=folder, env=env,
                          capture_output=True, timeout=60 * t.MINUTES)
    return done.returncode, done.stdout, done.stderr


def harmless(data):
    """The text of bytes for a terminal, which must have lines alone."""
    text = data.decode()
    for c in text.replace("\n", ""):
        assert (unicodedata.category(c) not in ("Cc", "Zl", "Zp") and
                unicodedata.bidirectional(c) not in TURNS), ascii(text)
    return text


def copy(folder, name):
    """A program of that name; it does little."""
    path = os.path.join(os.fsencode(folder), name)
    with open(t.guest("args.x86_64"), "rb") as program:
        data = program.read()
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, 0o755)
    return path


def count(folder, *words):
    """Counts on a model, from the folder; the report."""
    got = pathlib.Path(folder, "report")
    status, _, said = run("count", "-m", "host-model", "-e", "instructions",
                          "-o", str(got), *words, folder=folder)
    t.equal(status, 0, said)
    return got.read_bytes()


@t.named("a program's name: text")
def program_text():
    with tempfile.TemporaryDirectory() as folder:
        path = copy(folder, NAME)
        for options in ([], ["--per-thread"], ["--per-process"],
                        ["--from", "main"], ["--filter", "code=main"]):
            text = harmless(count(folder, *options, "--", path))
            assert LINE in text or LINE.replace("\\x0a", " ") in text, text
        status, out, said = run("perfex", "-a", path, folder=folder)
        t.equal(status, 0, said)
        t.contains(harmless(said), LINE)


@t.named("a program's name: JSON, in which two names stay two")
def program_json():
    names = [b"a\xfe", b"a\xff", b"a\\xff", b"a\\\\xff", NAME]
    with tempfile.TemporaryDirectory() as folder:
        got = [json.loads(count(folder, "-j", "--per-process", "--",
                                copy(folder, name))) for name in names]
    shown = [g["program"].rpartition("/")[2] for g in got]
    t.equal(shown, ["a\\xfe", "a\\xff", "a\\\\xff", "a\\\\\\\\xff", JSON])
    t.equal([os.path.basename(g["processes"][0]["program"]) for g in got],
            shown)
    t.equal([os.path.basename(g["strands"][0]["program"]) for g in got], shown)


@t.named("a program's name: CSV")
def program_csv():
    with tempfile.TemporaryDirectory() as folder:
        for separator in ",;|\t":
            text = count(folder, "-x", separator, "--per-process", "--",
                         copy(folder, NAME + separator.encode() + b'"'))
            rows = list(csv.reader(io.StringIO(text.decode(), newline=""),
                                   delimiter=separator))
            t.equal(os.path.basename(rows[-1][0]), CELL + separator + '"')
            t.equal(len({len(row) for row in rows}), 1, rows)


@t.named("a program that dies, and one that is not there")
def program_trouble():
    with tempfile.TemporaryDirectory() as folder:
        for words in (["count"], ["doctor"], ["perfex", "-a"], ["profile"],
                      ["count", "-m", "host"], []):
            status, out, said = run(*words, b"./" + NAME, folder=folder)
            assert status not in (0, 1), status
            harmless(out)
            t.contains(harmless(said), LINE)
        pathlib.Path(os.fsdecode(os.path.join(folder.encode(), NAME))
                     ).write_text("not a program")
        os.chmod(os.path.join(folder.encode(), NAME), 0o755)
        for words in (["count"], ["doctor"]):
            _, out, said = run(*words, b"./" + NAME, folder=folder)
            harmless(out + said)
        os.unlink(os.path.join(folder.encode(), NAME))
        path = copy(folder, NAME)
        status, out, said = run("doctor", path, folder=folder)
        t.contains(harmless(out), LINE)


WORDS = [["count", "--from", NAME, "true"], ["count", "-e", NAME, "true"],
         ["count", "-m", NAME, "true"], ["count", b"--" + NAME, "true"],
         ["count", b"-\x1b", "true"], ["count", "-o", b"/none/" + NAME, "true"],
         ["list", NAME], ["list", "events", "-m", "r10000", NAME],
         ["show", NAME], ["encode", "-m", "r10000", NAME],
         ["decode", "-m", "r10000", NAME], ["plan", "-m", "r10000", NAME],
         ["pmu", "-m", NAME], ["pmu", NAME], ["summarize", NAME],
         ["summarize", "--format", NAME, "x"], ["help", NAME], [NAME],
         ["diff", NAME, NAME], ["diff", "--by", NAME, "a", "b"],
         ["export", NAME], ["export", "--as", NAME],
         ["export", "--as", "folded", "-i", NAME],
         ["perfex", b"-" + NAME, "true"], ["profile", "-p", NAME, "true"]]


@t.named("a wrong word on the command line")
def wrong_words():
    for words in WORDS:
        status, out, said = run(*words)
        assert status != 0, words
        harmless(out)
        assert harmless(said).startswith("tally"), said


@t.named("a function's name, that --from names")
def function():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "p")
        program = pathlib.Path(t.guest("regions.x86_64")).read_bytes()
        path.write_bytes(program.replace(b"\0warmup\0", b"\0\x1b[31m\xff\0"))
        path.chmod(0o755)
        text = harmless(count(folder, "--from", b"\x1b[31m\xff", "--", path))
        t.contains(text, "--from \\x1b[31m\\xff\n")
        got = json.loads(count(folder, "-j", "--from", b"\x1b[31m\xff", "--",
                               path))
        t.equal(got["counted"], {"from": "\x1b[31m\\xff"})


LINES = [b"write PCR \x1b[31m", b"\xff\xfe 1", b"read \xc2\x9bPCR",
         b"read PCR = \xe2\x80\xae\xff", b"machine \xff", b"load \x1b[2J\xff"]


@t.named("pmu: lines of a script")
def pmu_lines():
    status, out, said = run("pmu", "-m", "ultrasparc-t2",
                            text=b"\n".join(LINES) + b"\n")
    t.equal(status, 1)
    harmless(out)
    t.equal(len(harmless(said).splitlines()), len(LINES), said)


@t.named("pmu: lines of a script, as JSON, a line each")
def pmu_json():
    status, out, _ = run("pmu", "-j", "-m", "ultrasparc-t2",
                         text=b"\n".join(LINES) + b"\n")
    t.equal(status, 1)
    got = [json.loads(line) for line in out.decode().splitlines()]
    t.equal([g["line"] for g in got], list(range(1, len(LINES) + 1)))


# What calls' places may be, and what a cell of a table shows of them.
PLACES = [
    (b"=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
    (b"+1+cmd", "'+1+cmd"), (b"-2+3", "'-2+3"), (b"@SUM(1)", "'@SUM(1)"),
    (b"'=1", "''=1"), (b"'tis", "'tis"),
    (b"</script><script>alert(1)</script><!--",
     "</script><script>alert(1)</script><!--"),
    (b"<b>&amp;\"'", "<b>&amp;\"'"),
    (b"f\xff(\"a\")", 'f\\xff("a")'), (b"f\xfe(\"a\")", 'f\\xfe("a")'),
    (b"\xc2\x9b31m\xef\xbf\xbf", "\\u{9b}31m\\u{ffff}"),
    (b"na\xc3\xafve", "na\u00efve"), (b"\xe2\x80\xae", "\u202e"),
]


def summarize(folder, *options):
    """tally summarize by region, of a dump with a call for each place."""
    dump = Dump()
    for n in range(len(PLACES)):
        dump.interval(1000 + n, 10, 20, start=0x20000 + n)
    pathlib.Path(folder, "dump.csv").write_text(dump.text())
    pathlib.Path(folder, "places").write_bytes(b"".join(
        b"%x %s\n" % (0x20000 + n, place)
        for n, (place, _) in enumerate(PLACES)))
    status, out, said = run("summarize", "--by", "region", "--locations",
                            "places", *options, "dump.csv", folder=folder)
    if b"is built with libxlsxwriter" in said:
        raise t.Skip("tally is built without libxlsxwriter")
    t.equal(status, 0, said)
    harmless(said)
    return out


@t.named("summarize: text")
def summarize_text():
    with tempfile.TemporaryDirectory() as folder:
        harmless(summarize(folder))


@t.named("summarize: CSV that a spreadsheet takes for no formula")
def summarize_csv():
    with tempfile.TemporaryDirectory() as folder:
        text = summarize(folder, "--format", "csv").decode()
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert all(None not in row for row in rows), rows
    t.equal({row["start"] for row in rows}, {shown for _, shown in PLACES})


@t.named("summarize: JSON")
def summarize_json():
    with tempfile.TemporaryDirectory() as folder:
        got = json.loads(summarize(folder, "-j"))
    places = {cell["start"]["place"] for cell in got["cells"]}
    t.equal(len(places), len(PLACES))
    for name in ("=cmd|' /C calc'!A0", 'f\\xff("a")', "\x9b31m\uffff"):
        assert name in places, places


@t.named("summarize: a workbook of well-formed XML, its names no formulas")
def summarize_xlsx():
    main = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with tempfile.TemporaryDirectory() as folder:
        summarize(folder, "--xlsx", "book.xlsx")
        with zipfile.ZipFile(f"{folder}/book.xlsx") as book:
            parts = {name: ElementTree.fromstring(book.read(name))
                     for name in book.namelist() if name.endswith(".xml")}
        strings = ["".join(s.itertext()) for s in
                   parts["xl/sharedStrings.xml"]]
        for _, shown in PLACES:
            plain = re.sub("^'(?='*[=+@-])", "", shown)
            assert any(s.startswith(plain + " to ") for s in strings), (
                plain, strings)
        for name, part in parts.items():
            for formula in part.iter(main + "f"):
                assert "cmd" not in formula.text, formula.text
        values = [v.text for c in parts["xl/worksheets/sheet2.xml"].iter(
            main + "c") if c.find(main + "f") is not None
            for v in c.iter(main + "v")]
        assert any((v or "").startswith("</script>") for v in values), values
        try:
            import openpyxl
        except ImportError:
            return
        sheet = openpyxl.load_workbook(f"{folder}/book.xlsx").worksheets[0]
        kinds = {cell.data_type for cell in sheet[1] if cell.value}
        t.equal(kinds, {"s"})


class Page(HTMLParser):
    """The elements of a page, and the text of the one that holds the data."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.inside, self.tags, self.data = 0, False, set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.scripts += tag == "script"
        self.tags.add(tag)
        self.inside = dict(attributes).get("id") == "data"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        self.data += data if self.inside else ""


@t.named("summarize: a page whose data ends no script")
def summarize_html():
    with tempfile.TemporaryDirectory() as folder:
        summarize(folder, "--html", "page.html")
        page = Page(pathlib.Path(folder, "page.html").read_text())
    t.equal(page.scripts, 2)
    assert "b" not in page.tags, page.tags
    places = {c["start"]["place"] for c in json.loads(page.data)["cells"]}
    t.equal(len(places), len(PLACES))
    # What the page shows it sets as text, never as markup.
    source = pathlib.Path(t.source("src", "report", "summary.html")).read_text()
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML",
                "document.write", "eval("):
        assert way not in source, way


t.main()
