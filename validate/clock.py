# SPDX-License-Identifier: MIT
"""Part b: modelled cycles beside native user time.

Programs of kernels/clock.c take their own time, without start-up; others are whole,
without what page faults and an empty program take, both measured in the same
minute. The cycles of the clock are the program's time, the least of --times runs in
each of two rounds, times the frequency that 1,000 dependent additions show. The
native run is restricted to the instruction sets of the emulated processor where
glibc chooses by them. A program whose least times of the two rounds differ by more
than 5 % is listed and not scored.

Programs are in two halves, by their names' digests. No value was fitted to a
program, but list-l1, list-l2 and list-memory walk a list as that did which the
times of the caches are from.
"""

import hashlib
import os
import re
import subprocess
import sys

from ledger import Part, Row, Table, summary
from tools import (ENVIRONMENT, KERNELS, MODEL, Failed, Missing, compiled,
                   countable, counted, need, run, sink, wanted)

LETTER = "b"
TITLE = "Modelled cycles and this host's clock"

APART = 0.05
# Two variants of one work, the quicker behind the slower.
PAIRS = (("matrix-naive", "matrix-tiles"), ("matrix-naive", "matrix-rows"),
         ("join-chained", "join-free"), ("list-l2", "list-l1"),
         ("branches-random", "branches-sorted"), ("by-columns", "by-rows"),
         ("one-sum", "four-sums"), ("triad-memory", "triad-l2"),
         ("list-memory", "list-l2"), ("divisors", "divisions"),
         ("tree", "sort"), ("bytecode", "crc"))

LUA = """local t = {}
for i = 1, 60000 do t[i] = (i * 7919) % 1000003 end
table.sort(t)
local s, w = 0, {}
for i = 1, #t do s = s + t[i] * i % 7 end
for i = 1, 20000 do w[#w + 1] = tostring(i * 31 % 997) end
print(s, #table.concat(w))
"""
PYTHON = """import json
d = [{'a': i, 'b': str(i * 7), 'c': [i, i + 1]} for i in range(6000)]
x = json.loads(json.dumps(d))
print(sum(len(e['b']) for e in x), len(sorted(json.dumps(d)[:50000])))
"""
SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 20000)
insert into t select i, 'row ' || (i * 7919 % 10007), i * 0.5 from n;
create index by_b on t(b);
select count(*), sum(c) from t where b like 'row 1%';
select b, count(*) from t group by b order by 2 desc, 1 limit 5;
"""


def build(args, name="clock", *options):
    """The program of kernels/clock.c, under a name."""
    return compiled("gcc", args.folder / name, "clock.c", "-O2", "-std=gnu17",
                    "-D_GNU_SOURCE", "-static", *options, "-lm")


def whole_programs(args):
    """Of each program that is measured whole its name and its words."""
    folder = args.folder
    (folder / "lines").write_text("".join(
        f"{i * 7919 % 1000003} word{i % 977}\n" for i in range(60000)))
    (folder / "lua").write_text(LUA)
    (folder / "python").write_text(PYTHON)
    (folder / "sql").write_text(SQL)
    text, lines = folder / "text", folder / "lines"
    for source in sorted((args.guests / "source").glob("sqlite*/sqlite3.c")):
        text.write_bytes(source.read_bytes()[:500000])
    return (
        ("bzip2", [args.guests / "bzip2.x86_64", "-9", "-c", text]),
        ("lua", [args.guests / "lua.x86_64", folder / "lua"]),
        ("sqlite", [args.guests / "sqlite.x86_64", ":memory:",
                    f".read {folder / 'sql'}"]),
        ("gzip", ["gzip", "-c", text]),
        ("xz", ["xz", "-1", "-T1", "-c", text]),
        ("python3", ["python3", "-S", "-E", folder / "python"]),
        ("sort -n", ["sort", "--parallel=1", "-n", lines]),
        ("grep", ["grep", "-cE", "(1[0-9]*7 word[0-9]*3|99.*5)", lines]),
        ("awk", ["awk", "{s[$2] += $1} END {for (k in s) n += s[k]; print n}",
                 lines]),
        ("perl", ["perl", "-e", "my %h; for my $i (1..60000) "
                  "{$h{$i % 5003} .= $i if $i % 3} print scalar(keys %h)"]))


def lacking(args, words):
    """What a program of whole_programs() lacks here, or None."""
    if isinstance(words[0], str):
        try:
            need(words[0])
        except Missing as missing:
            return str(missing)
    elif not words[0].exists():
        return (f"no {words[0]}: scripts/build-guests makes it, and --guests "
                "takes its folder")
    if args.folder / "text" in words and not (args.folder / "text").exists():
        return (f"no source of SQLite in {args.guests}/source to compress: "
                "scripts/build-guests brings it")
    return None


def known(args):
    """The names of all programs, those of kernels/clock.c by its table."""
    kernels = re.findall(r'^    \{"([\w-]+)", \w+\},$',
                         (KERNELS / "clock.c").read_text(), re.MULTILINE)
    return {*kernels, *(name for name, _ in whole_programs(args))}


def programs(args, clock, part):
    """Of each program its name, its words, and whether it takes its own time."""
    rows = [(name, [clock, name], True)
            for name in run([clock, "--list"]).split()]
    rows += [(name, words, False) for name, words in whole_programs(args)]
    kept = []
    for row in [row for row in rows if wanted(args, row[0])]:
        why = None if row[2] else lacking(args, row[1])
        if why is None:
            kept.append(row)
        else:
            part.skip(row[0], why)
    return kept


def host(clock):
    """Cycles in a nanosecond, and the nanoseconds of a page fault, now."""
    words = run([clock, "recursion"]).splitlines()[1].split()
    return 1000 / float(words[2]), float(words[3])


def whole(args, words):
    """Nanoseconds of processor time of a program, and its page faults."""
    with sink(args, words) as output, subprocess.Popen(
            [str(w) for w in words], env=ENVIRONMENT, stdout=output,
            stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise Failed(f"{words[0]} ended with status {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e9, usage.ru_minflt


def native(args, clock, words, own):
    """The cycles of the clock that a program takes, in each run, least first."""
    found = []
    for _ in range(args.times):
        if own:
            took, faults, thousand, fault = map(
                float, run(words, env=ENVIRONMENT).splitlines()[1].split())
            found.append((took - faults * fault) * 1000 / thousand)
        else:
            rate, fault = host(clock)
            took, faults = whole(args, words)
            empty, some = whole(args, ["true"])
            found.append((took - empty - (faults - some) * fault) * rate)
    return sorted(found)


def second_half(name):
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def modelled(args, words, own, sets):
    """Instructions and cycles under tally."""
    return counted(args, args.host_machine, ("instructions", "cycles"),
                   [*words, *(["counted"] if own else [])], sets)


def compare(args, part, listed, rounds):
    """The rows of the part's first table; the ratios of model and clock with the
    model and with time.model=sum, of what is scored."""
    ratios, plain, rows = {}, {}, []
    for name, words, own in listed:
        try:
            count, ours = modelled(args, words, own, [*MODEL, *args.set])
            _, added = modelled(args, words, own,
                                [*MODEL, *args.set, "time.model=sum"])
        except Missing as missing:
            part.skip(name, str(missing))
            continue
        least = [r[name][0] for r in rounds]
        cycles = min(least)
        runs = sorted(c for r in rounds for c in r[name])
        spread = runs[len(runs) // 2] / cycles - 1
        apart = max(least) / cycles - 1
        half = "second" if second_half(name) else "first"
        scored = apart <= APART
        part.rows.append(Row(name, args.host_machine, "cycles", ours, cycles,
                             "this host's clock", scored=scored,
                             note=f"{half} half; rounds apart by "
                             f"{100 * apart:.1f} %"))
        if scored:
            ratios[name], plain[name] = ours / cycles, added / cycles
        rows.append((name, half, f"{count / 1e6:.1f}", f"{count / cycles:.2f}",
                     f"{count / ours:.2f}", f"{ours / cycles:.2f}",
                     f"{added / cycles:.2f}", f"{100 * spread:.0f} %",
                     f"{100 * apart:.1f} %" + ("" if scored
                                               else ", not scored")))
        print(f"tally validate: {name}: {ours / cycles:.2f}", file=sys.stderr,
              flush=True)
    return rows, ratios, plain


def tables(rows, ratios, plain):
    yield Table(("program", "half", "M instructions", "a cycle, clock",
                 "a cycle, model", "cycles, model / clock", "with sum", "spread",
                 "rounds apart"), rows)
    yield Table(("programs", "number", "median error", "worst"), [
        summary("second half", [r - 1 for n, r in ratios.items()
                                if second_half(n)]),
        summary("first half", [r - 1 for n, r in ratios.items()
                               if not second_half(n)]),
        summary("all", [r - 1 for r in ratios.values()]),
        summary("all, with time.model=sum", [r - 1 for r in plain.values()])])
    pairs = [(f"{a} / {b}", f"{ratios[a] / ratios[b]:.2f}",
              f"{plain[a] / plain[b]:.2f}")
             for a, b in PAIRS if a in ratios and b in ratios]
    if pairs:
        yield Table(("two variants", "ratio, model / clock", "with sum"), pairs)


def measure(args):
    part = Part(LETTER, TITLE)
    try:
        countable(args)
        clock = build(args)
        listed = programs(args, clock, part)
        # Two rounds over all programs, so that minutes lie between the runs of
        # one.
        rounds = [{name: native(args, clock, words, own)
                   for name, words, own in listed} for _ in range(2)]
        rate, _ = host(clock)
    except Missing as missing:
        part.skip("all", str(missing))
        return part
    part.notes.append(
        f"{args.host_says}; its cycles are estimated; {rate:.2f} GHz by a chain of additions; the least of "
        f"{args.times} runs in each of two rounds. --set "
        + " --set ".join([*MODEL, *args.set]))
    found = compare(args, part, listed, rounds)
    if found[0]:
        part.tables += tables(*found)
    return part
