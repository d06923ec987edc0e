#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""predictors.py --tally FILE --guests DIR: what predictors of directions miss.

Everyday programs of this system, each run once for each kind of predictor, of 64
Kbit each: wrong predictions of a thousand instructions beside gshare, perceptrons
and TAGE, and their geometric mean. The counts are modelled and repeat, but for
programs of the system of another version. BENCH_FORMAT=markdown prints the table
for pages.
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import bench
import luck

COUNTERS = 32768  # of two bits
KINDS = {"gshare": 15, "perceptron": 32, "tage": 130}
PYTHON = """import json
data = [{'a': i, 'b': str(i)} for i in range(1500)]
print(len(json.loads(json.dumps(data))))
print(sorted(range(3000), key=lambda x: -x * 7919 % 1009)[:10])
"""


def programs(args, folder):
    """Names and command lines of the programs that there are."""
    source = args.guests / "source/lua-5.4.4/src/lvm.c"
    (folder / "sql").write_text(luck.SQL)
    (folder / "program.py").write_text(PYTHON)
    (folder / "program.lua").write_text(luck.LUA)
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], check=True,
                         capture_output=True, text=True).stdout.strip()
    # Through cpp, so that cc1 has nothing to find.
    (folder / "lvm.i").write_bytes(subprocess.run(
        ["gcc", "-E", "-P", source], check=True, capture_output=True).stdout)
    rows = {
        "bzip2": ["bzip2", "-kc", source],
        "xz": ["xz", "-kc", "-T1", source],
        "gzip": ["gzip", "-kc", source],
        "Lua": [args.guests / "lua.x86_64", folder / "program.lua"],
        "SQLite": ["sqlite3", ":memory:", f".read {folder / 'sql'}"],
        "python3": ["/usr/bin/python3", "-I", "-S", folder / "program.py"],
        "cc1": [cc1, "-quiet", "-O1", folder / "lvm.i", "-o", os.devnull],
        "sort": ["sort", source],
    }
    return {name: list(map(str, words)) for name, words in rows.items()
            if shutil.which(str(words[0]))}


def count(args, words, report):
    """Instructions, and wrong predictions of each kind: gshare is the first
    predictor, the others stand beside it. `report`: a file to write."""
    found = {}
    for kind in list(KINDS)[1:]:
        sets = {"branch.entries": COUNTERS, "branch.history": KINDS["gshare"],
                "second.kind": kind, "second.entries": COUNTERS,
                "second.history": KINDS[kind]}
        subprocess.run(
            [args.tally, "count", "-q", "--clean-env", "-m", "host-model",
             *(w for key, value in sets.items()
               for w in ("--set", f"{key}={value}")),
             "-e", "instructions,branch-misses,second-branch-misses", "-j",
             "-o", report, "--", *words], check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        events = {e["name"]: e["value"]
                  for e in json.loads(report.read_text())["events"]}
        found["instructions"] = events["instructions"]
        found["gshare"] = events["branch-misses"]
        found[kind] = events["second-branch-misses"]
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=Path, required=True)
    parser.add_argument("--guests", type=Path, required=True)
    args = parser.parse_args()
    args.tally, args.guests = args.tally.resolve(), args.guests.resolve()
    others = list(KINDS)[1:]
    heads = ["program", "M instructions", "gshare, of 1,000",
             *(f"{kind} / gshare" for kind in others)]
    rows, logs = [], {kind: [] for kind in others}
    with tempfile.TemporaryDirectory() as name:
        for program, words in programs(args, Path(name)).items():
            bench.progress(f"bench: {program}")
            n = count(args, words, Path(name) / "report")
            ratios = [n[kind] / n["gshare"] for kind in others]
            for kind, ratio in zip(others, ratios):
                logs[kind].append(math.log(ratio))
            rows.append([program, f"{n['instructions'] / 1e6:.1f}",
                         f"{1000 * n['gshare'] / n['instructions']:.2f}",
                         *(f"{ratio:.3f}" for ratio in ratios)])
    bench.progress("")
    rows.append(["geometric mean", "", "",
                 *(f"{math.exp(sum(l) / len(l)):.3f}" for l in logs.values())])
    if os.environ.get("BENCH_FORMAT") == "markdown":
        print("| " + " | ".join(heads) + " |\n|---" + "|--:" * (len(heads) - 1)
              + "|")
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    for row in (heads, *rows):
        print(f"{row[0]:16}" + "".join(f"{cell:>22}" for cell in row[1:]))


if __name__ == "__main__":
    main()
