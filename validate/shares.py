# SPDX-License-Identifier: MIT
"""Part c: shares of the cycles by function, beside `perf record -e cpu-clock`.

perf samples by the clock, so it needs no counters of the processor: the event is
cpu-clock:u, as tally counts user mode alone. Each program runs under perf until
enough samples are there; what is left to chance is about half a point at 4,000.
The programs need symbols: the kernels are compiled here with -fno-inline, so that
their work stands in several functions; those of Debian are stripped.
"""

import collections
import json
import math
import pathlib
import re

from clock import build, lacking, whole_programs
from ledger import Part, Row, Table
from tools import ENVIRONMENT, MODEL, Missing, countable, need, run, wanted

LETTER = "c"
TITLE = "Shares of functions and perf's samples"

SAMPLES = 4000
RUNS_MOST = 100
# Nanoseconds between samples; prime, so that no loop runs in step with them.
PERIOD = 100271
# Functions with a smaller share in both are left out, per cent.
LEAST = 2.0
AIM = 5.0
PART = re.compile(r"\.(isra|part|constprop|cold)\b.*")
KERNELS = ("matrix-tiles", "fft", "sort", "bodies", "json", "allocations",
           "tree", "histogram", "bytecode")


def known(args):
    """The names of all programs."""
    return {*KERNELS, *(name for name, _ in whole_programs(args))}


def programs(args, part):
    """Of each program with symbols its name and words."""
    kernels = build(args, "clock-functions", "-fno-inline", "-g")
    rows = [(name, [kernels, name, "counted"]) for name in KERNELS
            if wanted(args, name)]
    for name, words in whole_programs(args):
        if not wanted(args, name):
            continue
        why = (lacking(args, words) if name in ("bzip2", "lua", "sqlite") else
               "the program that Debian installs has no symbols")
        if why is None:
            rows.append((name, words))
        else:
            part.skip(name, why)
    return rows


def aliases(program):
    """Of each name of a function that has several, the first of them: perf and
    tally choose each its own."""
    names = collections.defaultdict(list)
    for line in run([need("nm"), "--defined-only", program]).splitlines():
        address, kind, name = line.split(None, 2)
        if kind in "tTwWi":
            names[address].append(plain(name))
    return {name: min(group) for group in names.values() for name in group}


def plain(name):
    """A function's name without what compilers add to that of a part."""
    return PART.sub("", name)


def renamed(counts, names):
    out = collections.Counter()
    for name, count in counts.items():
        out[names.get(name, name)] += count
    return out


def perf_runs(args, words, runs):
    """perf's samples by function, of so many runs of a program, one behind the
    other in a shell, whose own samples are left out."""
    perf, data = need("perf"), args.folder / "perf.data"
    loop = 'n=$1; shift; while [ $n -gt 0 ]; do n=$((n - 1)); "$@"; done'
    run([perf, "record", "-q", "-N", "-e", "cpu-clock:u", "-c", PERIOD, "-o", data,
         "--", "sh", "-c", loop, "sh", runs, *words], env=ENVIRONMENT)
    found, command = collections.Counter(), pathlib.Path(words[0]).name[:15]
    for line in run([perf, "script", "-i", data, "-F",
                     "comm,ip,sym"]).splitlines():
        fields = line.split()
        if len(fields) > 2 and fields[0] == command:
            found[plain(fields[2])] += 1
    return found


def sampled(args, words):
    """perf's samples by function, of as many runs as give enough."""
    found = perf_runs(args, words, 1)
    first = sum(found.values())
    if first == 0:
        raise Missing("perf record took no samples")
    if first < SAMPLES:
        runs = min(RUNS_MOST, math.ceil(SAMPLES / first) - 1)
        found += perf_runs(args, words, runs)
    return found


def recorded(args, words):
    """The modelled cycles by function."""
    data = args.folder / "shares.data"
    run([args.tally, "record", "-q", "-o", data, "-m", args.host_machine,
         *(w for s in [*MODEL, *args.set] for w in ("--set", s)),
         "-e", "cycles", "--", *words], env=ENVIRONMENT)
    rows = json.loads(run([args.tally, "report", "-i", data, "-j", "--by",
                           "function", "--no-inline"]))["rows"]
    found = collections.Counter()
    for row in rows:
        found[plain(row["keys"]["function"] or "[unknown]")] += next(
            iter(row["values"].values()))
    return found


def percents(counts):
    total = sum(counts.values()) or 1
    return {name: 100 * n / total for name, n in counts.items()}


def compare(args, part, name, words):
    """Adds the rows of a program; returns its line of the table."""
    names = aliases(words[0])
    samples = renamed(sampled(args, words), names)
    theirs = percents(samples)
    ours = percents(renamed(recorded(args, words), names))
    number = sum(samples.values())
    rows = [Row(name, args.host_machine, f"share of {f}", ours.get(f, 0),
                theirs.get(f, 0), "perf record -e cpu-clock:u", unit="%")
            for f in sorted(set(ours) | set(theirs))
            if max(ours.get(f, 0), theirs.get(f, 0)) >= LEAST]
    rows.sort(key=lambda r: -abs(r.error))
    part.rows += rows
    worst = rows[0]
    chance = 50 / math.sqrt(number)
    return (name, str(len(rows)), f"{number:,}", f"{chance:.1f}",
            str(sum(abs(r.error) <= AIM for r in rows)),
            f"{worst.figure.removeprefix('share of ')}: {worst.ours:.1f} % for "
            f"{worst.reference:.1f} %", f"{worst.error:+.1f}")


def measure(args):
    part = Part(LETTER, TITLE)
    lines = []
    try:
        need("perf")
        countable(args)
        listed = programs(args, part)
    except Missing as missing:
        part.skip("all", str(missing))
        return part
    for name, words in listed:
        try:
            lines.append(compare(args, part, name, words))
        except Missing as missing:
            part.skip(name, str(missing))
    if not lines:
        return part
    within = sum(abs(row.error) <= AIM for row in part.rows)
    part.notes.append(f"{args.host_says}; its cycles are estimated; --set "
                      + " --set ".join([*MODEL, *args.set])
                      + f". Of functions with {LEAST:.0f} % or more on either side "
                      f"{within} of {len(part.rows)} are within {AIM:.0f} points, "
                      "which is the aim.")
    part.tables.append(Table(
        ("program", "functions", "samples", "chance, points",
         f"within {AIM:.0f} points", "largest difference, tally for perf",
         "points"), lines))
    largest = sorted(part.rows, key=lambda r: -abs(r.error))[:10]
    part.tables.append(Table(
        ("program", "function", "tally", "perf", "points"),
        [(r.program, r.figure.removeprefix("share of "), f"{r.ours:.1f} %",
          f"{r.reference:.1f} %", f"{r.error:+.1f}") for r in largest],
        "The largest differences:"))
    return part
