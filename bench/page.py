#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""page.py --tally FILE --guests DIR: report and page of a large record.

Records the C compiler of this host, with callers, on sources of Lua, one
process after the other, until the record is as large as the aim says; then
times tally report and tally report --html (user time), and how long the page takes in Chromium
until it can be used (the page itself says so; no time of the processor, so
that a busy host makes it longer). All medians. BENCH_FORMAT=markdown prints
tables for pages.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import bench

sys.path.insert(0, str(bench.ROOT / "test"))
import browser  # noqa: E402
import tallytest  # noqa: E402

SIZE = 50e6  # bytes of the record
AIM = 3  # seconds until its page can be used
REPORT_AIM = 1  # seconds of tally report
SOURCES = ["lvm.c", "lstrlib.c", "lparser.c", "ltable.c", "ldebug.c"]
READY = "document.documentElement.dataset.ready"


def compiler():
    """The part of gcc that does the work, which no driver starts then."""
    done = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True,
                          capture_output=True, text=True)
    return done.stdout.strip()


def record(args, folder, count):
    """Records the compiler on the first sources."""
    path = os.path.join(folder, "tally.data")
    source = Path(args.guests) / "source" / "lua-5.4.4" / "src"
    lines = []
    for name in SOURCES[:count]:
        plain = os.path.join(folder, name + ".i")
        subprocess.run(["gcc", "-E", "-O2", "-o", plain, source / name],
                       check=True)
        lines.append(f"{compiler()} -O2 -quiet {plain} -o /dev/null")
    bench.progress(f"bench: recording the compiler on {count} sources")
    subprocess.run([args.tally, "record", "-q", "-m", "host-model", "-o", path,
                    "--", "sh", "-c", "\n".join([*lines, "exit 0"])],
                   check=True)
    bench.progress("")
    return path


def opened(page):
    """Seconds from the page's begin until it can be used."""
    with browser.Browser("--window-size=1400,1000") as b:
        b.open(page)
        return float(b.wait(READY)) / 1000


def measured(args, path, folder):
    page = os.path.join(folder, "page.html")
    reporting, writing, opening = [], [], []
    for turn in range(args.runs):
        bench.progress(f"bench: the page, run {turn + 1} of {args.runs}")
        words = [args.tally, "report", path]
        reporting.append(bench.run(words)[0])
        words = [args.tally, "report", "--html", page, path]
        writing.append(bench.run(words)[0])
        opening.append(opened(page))
    bench.progress("")
    return [
        f"{os.path.getsize(path) / 1e6:.1f}",
        f"{os.path.getsize(page) / 1e6:.1f}",
        f"{statistics.median(reporting):.2f}",
        f"{statistics.median(writing):.1f}",
        f"{statistics.median(opening):.2f}",
    ]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=os.path.abspath, required=True)
    parser.add_argument("--guests", type=os.path.abspath, required=True)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--record", help="a record to take in place of one "
                                         "that is made")
    args = parser.parse_args()
    show = bench.printer()
    rows = [["record MB", "page MB", f"report s ({REPORT_AIM})", "write s", f"open s ({AIM})"]]
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as folder:
        try:
            browser.chromium()
        except tallytest.Skip as reason:
            bench.fail(reason)
        if args.record is None and shutil.which("gcc") is None:
            bench.fail("there is no gcc to be recorded")
        path = args.record
        count = 2
        while path is None or (args.record is None and count < len(SOURCES)
                               and os.path.getsize(path) < SIZE):
            count += 1
            path = record(args, folder, count)
        rows.append(measured(args, path, folder))
        show(rows)


if __name__ == "__main__":
    main()
