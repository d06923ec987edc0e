#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""check.py --tally FILE --guests DIR: what tally check takes beside its single runs.

Ten benchmarks of SQLite, each a script of up to 30 million instructions, in nine
layouts: wall time of `tally check`, which runs the first layout twice and so makes 100
runs, beside 90 single runs of `tally count` and of `tally record --no-callers` with the
same events on the same machine, and of cachegrind with caches and branches where valgrind
is. As many run at the same time as there are processors. All take turns; printed are
medians, and ratios of medians.
"""

import argparse
import concurrent.futures
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import bench

LAYOUTS = 9
EVENTS = "instructions,cycles,L1-dcache-loads,L1-dcache-stores"
ROWS = ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n "
        "WHERE i<{}) ")
TABLE = ("CREATE TABLE t(a INTEGER, b TEXT, c INTEGER); " + ROWS.format(4000) +
         "INSERT INTO t SELECT i, 'name' || (i*7919%4001), i*31%977 FROM n; ")
# What each benchmark does after its table is made.
SCRIPTS = {
    "insert": TABLE,
    "index": TABLE + "CREATE INDEX b ON t(b);",
    "lookup": TABLE + "CREATE INDEX a ON t(a); " + ROWS.format(1500) +
              "SELECT sum(c) FROM n JOIN t ON t.a = n.i;",
    "sort": TABLE + "SELECT count(*) FROM (SELECT * FROM t ORDER BY b, c);",
    "group": TABLE + "SELECT c, count(*), max(b) FROM t GROUP BY c LIMIT 3;",
    "like": TABLE + "SELECT count(*) FROM t WHERE b LIKE '%99%';",
    "update": TABLE + "UPDATE t SET c = c + 1 WHERE a % 3 = 0;",
    "delete": TABLE + "DELETE FROM t WHERE a % 2 = 0;",
    "window": TABLE + "SELECT sum(s) FROM (SELECT sum(c) OVER "
              "(ORDER BY a ROWS 5 PRECEDING) s FROM t WHERE a < 2000);",
    "json": ROWS.format(1500) + "SELECT sum(json_extract('{\"a\":[1,' || i || "
            "',3]}', '$.a[1]')) FROM n;",
}


def build(folder, source):
    program = folder / "sqlite"
    subprocess.run(
        ["gcc", "-O2", "-w", "-g1", "-DSQLITE_THREADSAFE=0",
         "-DSQLITE_OMIT_LOAD_EXTENSION", "-o", program,
         *(source / "sqlite-3.40.1.c" / name
           for name in ("sqlite3.c", "shell.c")), "-lm"], check=True)
    for name, text in SCRIPTS.items():
        (folder / f"{name}.sql").write_text(text + "\n")
    (folder / "names").write_text("\n".join(SCRIPTS) + "\n")
    (folder / "tally.toml").write_text(f"""layouts = {LAYOUTS}
[benchmark.sqlite]
names = ["cat", "names"]
command = ["./sqlite", ":memory:", ".read {{}}.sql"]
""")


def single(args, folder, verb, output):
    """The command lines of all single runs, but for what record writes."""
    return [[args.tally, verb, *options, "-q", "--clean-env", "-m", "ci-1",
             "--set", f"layout={layout}", "-e", EVENTS, "-o", output, "--",
             folder / "sqlite", ":memory:", f".read {name}.sql"]
            for name in SCRIPTS for layout in range(1, LAYOUTS + 1)
            for options in ([["--no-callers"]] if verb == "record" else [[]])]


def run_all(commands, folder, jobs):
    """The wall seconds of commands, so many at the same time."""
    def one(number):
        words = [word.replace("@", str(number))
                 for word in map(str, commands[number])]
        subprocess.run(words, cwd=folder, check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)

    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, range(len(commands))))
    return time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=Path, required=True)
    parser.add_argument("--guests", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    args.tally = args.tally.resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        build(folder, args.guests.resolve() / "source")
        ways = {
            "tally check, 100 runs": [
                [args.tally, "check", "-q", "--update", "-j", args.jobs]],
            "tally count, 90 runs": single(args, folder, "count", os.devnull),
            "tally record, 90 runs": single(args, folder, "record",
                                            folder / "@.data"),
        }
        valgrind = shutil.which("valgrind")
        if valgrind:
            ways["cachegrind, 90 runs"] = [
                [valgrind, "-q", "--tool=cachegrind", "--cache-sim=yes",
                 "--branch-sim=yes", f"--cachegrind-out-file={os.devnull}",
                 folder / "sqlite", ":memory:", f".read {name}.sql"]
                for name in SCRIPTS for _ in range(LAYOUTS)]
        times = {way: [] for way in ways}
        for turn in range(args.runs):
            for way, commands in ways.items():
                bench.progress(f"bench: run {turn + 1} of {args.runs}: {way}")
                times[way].append(run_all(commands, folder, args.jobs))
        bench.progress("")
        medians = {way: statistics.median(t) for way, t in times.items()}
        first = medians["tally check, 100 runs"]
        print(f"{'':24}{'wall s':>8}{'check over it':>15}")
        for way, seconds in medians.items():
            print(f"{way:24}{seconds:8.1f}{first / seconds:15.2f}")


if __name__ == "__main__":
    main()
