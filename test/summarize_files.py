#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally summarize --html and --xlsx: summarize_files.py BUILD [WORD]"""
import html as html_module
import json
import os
import re
import shutil
import tempfile
import zipfile

import tallytest as t
from browser import chromium
from summarize_help import (document, Dump, metrics, near, sample, series,
                            sheets, summarize, workbook)


# The page.

def page(*options, text=None):
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/page.html"
        done = summarize("--html", path, *options, text=text)
        t.equal(done.stdout, "", "stdout")
        t.equal(os.listdir(folder), ["page.html"], "files")
        with open(path, encoding="utf-8") as file:
            return file.read()


def page_data(text):
    return json.loads(re.search(
        r'<script type="application/json" id="data">(.*)</script>', text)[1])


@t.named("--html: one file that names no other, with the numbers of -j")
def html():
    text = page(sample("t2.csv"))
    t.equal(re.findall(r"(?:src|href|url|import|fetch)\s*[=(]", text), [])
    t.equal(set(re.findall(r"https?://[^\"' ]*", text)),
            {"http://www.w3.org/2000/svg"})
    got = page_data(text)
    traces = {tr["name"]: tr for tr in got.pop("traces")}
    t.equal(len(traces), 41, "cycles, 38 events, 2 user words")
    t.equal(len(traces["cycles"]["points"]), 2 * 38)
    t.equal(traces["Load_instr"]["points"][1], 14361004)
    for cell in got["cells"]:
        for s in cell["series"]:
            t.equal(sum(s.pop("bins")), s["n"], "bins")
    t.equal(got, document(sample("t2.csv")), "data")


@t.named("--html: what names a call cannot end the script")
def html_names():
    with tempfile.TemporaryDirectory() as folder:
        places = f"{folder}/places.txt"
        with open(places, "w") as file:
            file.write("18236 </script><b>\\\"'&\n")
        text = page("--locations", places, sample("t1.csv"))
    t.equal(text.count("</script>"), 2)
    t.equal(page_data(text)["cells"][0]["start"]["place"],
            "</script><b>\\\"'&")


@t.named("--html: a long dump makes a page of a megabyte or two")
def html_long():
    text = []
    for cpu in range(64):
        dump = Dump(cpu)
        for i in range(2000):
            dump.interval(1000 + i % 7, 500 + i, i, (0x100, 1 << i % 8))
        text.append(dump.text())
    whole = page("--by", "thread", text="".join(text))
    assert len(whole) < 8 << 20, len(whole)
    trace = page_data(whole)["traces"][0]
    # Evenly spaced, from the first on.
    step = trace["stride"]
    assert step > 1 and trace["points"][1] == 1000
    t.equal(trace["points"][3], 1000 + step % 7)


CATCH = """<head><script>
window.faults = [];
addEventListener("error", e => faults.push(e.message));
console.error = console.warn = (...words) => faults.push(words.join(" "));
</script>"""
PROBE = """<script>
const column = n => [...document.querySelectorAll(
  `#table tbody tr td:nth-child(${n})`)].map(e => e.textContent);
const press = n => document.querySelectorAll("#table th button")[n - 1].click();
const found = { before: column(4) };
press(4); found.up = column(4);
press(4); found.down = column(4);
press(2); found.names = column(2);
const filter = document.getElementById("filter");
filter.value = "DC_m";
filter.dispatchEvent(new Event("input"));
found.filtered = [...document.querySelectorAll("#table tbody tr")]
  .filter(e => !e.hidden).length;
found.lines = document.querySelectorAll("#timeline polyline").length;
found.bars = document.querySelectorAll("#histogram rect").length;
found.cells = document.querySelectorAll("#compared rect").length;
const select = document.getElementById("series");
select.value = "IC_miss";
select.dispatchEvent(new Event("change"));
found.event = document.querySelectorAll("#timeline circle").length;
found.metrics = document.querySelectorAll("#metrics tbody tr").length;
found.title = document.getElementById("title").textContent;
found.faults = faults;
const result = document.createElement("pre");
result.id = "result";
result.textContent = JSON.stringify(found);
document.body.append(result);
</script></body>"""


# Reads the line below the title.
ABOUT = """<script>
const result = document.createElement("pre");
result.id = "result";
result.textContent = JSON.stringify(document.getElementById("about").textContent);
document.body.append(result);
</script></body>"""


def drawn(text, probe):
    """What `probe` finds in the page of `text`, in a browser."""
    program = chromium()
    text = text.replace("<head>", CATCH, 1).replace("</body>", probe, 1)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/page.html"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = t.run(program, "--headless", "--no-sandbox", "--disable-gpu",
                     f"--user-data-dir={folder}/profile", "--dump-dom",
                     f"file://{path}", timeout=120)
    found = re.search(r'<pre id="result">(.*?)</pre>', done.stdout)
    assert found, f"no result: {done.stderr[-500:]}"
    return json.loads(html_module.unescape(found[1]))


@t.named("--html in a browser: it draws, sorts, and has nothing to complain of")
def html_drawn():
    got = drawn(page("--freq", "1.2G", sample("t1.csv")), PROBE)
    t.equal(got["faults"], [], "complaints")
    t.equal(got["title"], "ultrasparc-t1: 7 intervals")
    values = [float(v.replace(",", "")) for v in got["up"]]
    t.equal(values, sorted(values), "up")
    t.equal(sorted(got["before"]), sorted(got["up"]), "rows")
    t.equal(got["down"][0], max(got["up"], key=lambda v: float(
        v.replace(",", ""))), "down")
    t.equal(got["names"], sorted(got["names"], key=str.lower), "names")
    t.equal((got["filtered"], got["lines"], got["bars"], got["cells"]),
            (1, 1, 32, 1))
    t.equal((got["event"], got["metrics"] > 10), (1, True))


@t.named("--html in a browser: the line below the title ends with what it has")
def html_about():
    for options, wanted in (
            (("-m", "host-model"), "15 records of 1 dump"),
            (("-m", "ultrasparc-t1", "--freq", "1.2G"),
             "15 records of 1 dump; clock = 1200000000 (given), "
             "pkts is user word 1, l1_miss_latency = 22 (assumed), "
             "l2_miss_latency = 108 (assumed)")):
        t.equal(drawn(page(*options, sample("t1.csv")), ABOUT), wanted)


# The workbook.


def columns(cells, first):
    """{name in the first column: [values of the columns from `first` on]}"""
    rows = {}
    for place, (_, value) in cells.items():
        letter, row = re.fullmatch(r"([A-Z]+)(\d+)", place).groups()
        rows.setdefault(int(row), {})[letter] = value
    return {row["A"]: [v for k, v in sorted(row.items()) if k >= first]
            for row in rows.values() if "A" in row}


def check_analysis(rows, cells):
    """The rows of the second sheet against the metrics of -j."""
    count = 0
    for n, cell in enumerate(cells):
        for name, wanted in metrics(cell).items():
            if name not in rows:
                t.equal(wanted, None, name)
            elif wanted is None:
                t.equal(rows[name][n], "", name)
            else:
                near(float(rows[name][n]), wanted, 7)
                count += 1
    assert count > 15, count


def two_threads():
    """Cpus 2 and 7; the second as the first, but its ids."""
    text = open(sample("t2.csv")).read()
    return text + re.sub(r"(?m)^2,", "7,", text).replace(",30d40,", ",40d40,")


OPTIONS = ["--by", "thread", "--skip", "1", "--freq", "1.4G"]


@t.named("--xlsx: two sheets, a column a thread, formulas over the first")
def xlsx():
    text = two_threads()
    with tempfile.TemporaryDirectory() as folder:
        got = sheets(workbook(folder, *OPTIONS, text=text))
    t.equal(list(got), ["Output from profile script", "Analysis"])
    out = columns(got["Output from profile script"], "B")
    t.equal(out["CPUid"], ["2", "7"])
    t.equal(list(out)[:4], ["CPUid", "Cycles", "Store_instr",
                            "L2_instr_misses"])
    t.equal(out["Load_instr"], ["14361004"] * 2)
    cells = document(*OPTIONS, text=text)["cells"]
    near(float(out["Cycles"][0]), series(cells[0])["cycles"]["mean"], 7)
    check_analysis(columns(got["Analysis"], "C"), cells)
    written = [c for c in got["Analysis"].values() if c[0]]
    assert len(written) > 40, len(written)
    assert all("COUNT(" in f or f.startswith("'Output") for f, _ in written)


def without_values(path, target):
    """A copy in which no formula has a value yet."""
    with zipfile.ZipFile(path) as book, zipfile.ZipFile(target, "w") as copy:
        for name in book.namelist():
            text = book.read(name)
            if "worksheets" in name:
                text = re.sub(rb"(</f>)<v>[^<]*</v>", rb"\1", text)
            copy.writestr(name, text)


@t.named("--xlsx recalculated by LibreOffice: the numbers of -j")
def xlsx_recalculated():
    office = os.environ.get("SOFFICE") or shutil.which("soffice")
    if office is None:
        raise t.Skip("there is no LibreOffice; SOFFICE names one")
    text = two_threads()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/in")
        bare = f"{folder}/bare.xlsx"
        without_values(workbook(f"{folder}/in", *OPTIONS, text=text), bare)
        t.equal({v for f, v in sheets(bare)["Analysis"].values() if f}, {""})
        done = t.run(office, f"-env:UserInstallation=file://{folder}/profile",
                     "--headless", "--convert-to", "xlsx", "--outdir",
                     f"{folder}/out", bare, timeout=180)
        assert os.path.exists(f"{folder}/out/bare.xlsx"), done.stderr
        got = sheets(f"{folder}/out/bare.xlsx")
    check_analysis(columns(got["Analysis"], "C"),
                   document(*OPTIONS, text=text)["cells"])


t.main()
