#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""validate.py --tally FILE --guests DIR [-m MACHINE]: modelled against real time.

Runs programs on this host and under tally, and prints for each how many cycles the
model has for one of the clock. Programs of bench/clock take their own time, without
start-up; others are whole, without what page faults and an empty program take, both
measured in the same minute. The cycles of the clock are its time, the least of
--times runs, times the frequency that 1,000 dependent additions show. The native run
is restricted to the instruction sets of the emulated processor where glibc chooses by
them. --set changes parameters, as those that this host was measured to have.

Programs are in two halves, by the order of their names' digests: nothing was fitted to
the second. VALIDATE_FORMAT=markdown prints the tables for the page.
"""

import argparse
import hashlib
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

# What glibc and OpenSSL may not choose, as QEMU's processor lacks it.
ENVIRONMENT = dict(
    os.environ, LC_ALL="C", PERL_HASH_SEED="0", PYTHONHASHSEED="0",
    OPENSSL_ia32cap=":~0x20000000",
    GLIBC_TUNABLES="glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ,"
                   "-AVX512CD,-ERMS,-FSRM")
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


def programs(args, folder):
    """Of each program its name, its words, and whether it takes its own time."""
    clock = folder / "programs"
    subprocess.run(["gcc", "-O2", "-std=gnu17", "-D_GNU_SOURCE", "-static",
                    "-o", clock, args.source / "clock" / "programs.c", "-lm"],
                   check=True)
    names = subprocess.run([clock, "--list"], check=True, text=True,
                           capture_output=True).stdout.split()
    rows = [(name, [clock, name], True) for name in names]
    text = next((args.guests / "source").glob("sqlite*/sqlite3.c")).read_bytes()
    (folder / "text").write_bytes(text[:500000])
    (folder / "lines").write_text("".join(
        f"{i * 7919 % 1000003} word{i % 977}\n" for i in range(60000)))
    (folder / "lua").write_text(LUA)
    (folder / "python").write_text(PYTHON)
    (folder / "sql").write_text(SQL)
    text, lines = folder / "text", folder / "lines"
    rows += [(name, words, False) for name, words in (
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
                  "{$h{$i % 5003} .= $i if $i % 3} print scalar(keys %h)"]))]
    wanted = args.programs.split(",") if args.programs else None
    return clock, [r for r in rows if wanted is None or r[0] in wanted]


def host(clock):
    """Cycles in a nanosecond, and the nanoseconds of a page fault, now."""
    done = subprocess.run([clock, "recursion"], check=True, text=True,
                          capture_output=True)
    words = done.stdout.splitlines()[1].split()
    return 1000 / float(words[2]), float(words[3])


def whole(words):
    """Nanoseconds of processor time of a program, and its page faults."""
    with subprocess.Popen([str(w) for w in words], env=ENVIRONMENT,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{words[0]}: status {child.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1e9, usage.ru_minflt


def native(clock, words, own, times):
    """The cycles of the clock that a program takes, and their spread."""
    found = []
    for _ in range(times):
        if own:
            done = subprocess.run(words, check=True, text=True,
                                  capture_output=True, env=ENVIRONMENT)
            took, faults, thousand, fault = map(
                float, done.stdout.splitlines()[1].split())
            found.append((took - faults * fault) * 1000 / thousand)
        else:
            rate, fault = host(clock)
            took, faults = whole(words)
            empty, some = whole(["true"])
            found.append((took - empty - (faults - some) * fault) * rate)
    found.sort()
    return found[0], found[len(found) // 2] / found[0] - 1


def modelled(args, words, own, sets):
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run(
            [args.tally, "count", "-m", args.machine, "-e",
             "instructions,cycles", "--format", "json", "-o", out.name,
             *(w for s in sets for w in ("--set", s)), "--",
             *(str(w) for w in words), *(["counted"] if own else [])],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env=ENVIRONMENT)
        events = json.load(open(out.name, encoding="utf-8"))["events"]
    return [e["value"] for e in events]


def second_half(name):
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def print_table(heads, rows):
    if os.environ.get("VALIDATE_FORMAT") == "markdown":
        print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
        for row in rows:
            print("| " + " | ".join(row) + " |")
        return
    widths = [max(len(r[i]) for r in (heads, *rows)) for i in range(len(heads))]
    for row in (heads, *rows):
        print("  ".join(v.ljust(w) for v, w in zip(row, widths)).rstrip())


def summary(name, ratios):
    errors = sorted(abs(r - 1) for r in ratios)
    return (name, str(len(errors)), f"{100 * statistics.median(errors):.0f} %",
            f"{100 * errors[-1]:.0f} %") if errors else (name, "0", "-", "-")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=pathlib.Path, required=True)
    parser.add_argument("--guests", type=pathlib.Path, required=True)
    parser.add_argument("-m", "--machine", default="ci-1")
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--programs", help="names, with commas between them")
    args = parser.parse_args()
    args.source = pathlib.Path(__file__).resolve().parent
    args.guests = args.guests.resolve()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ratios, plain, rows = {}, {}, []
    with tempfile.TemporaryDirectory() as folder:
        clock, listed = programs(args, pathlib.Path(folder))
        for name, words, own in listed:
            cycles, spread = native(clock, words, own, args.times)
            count, ours = modelled(args, words, own, args.set)
            _, added = modelled(args, words, own,
                                [*args.set, "time.model=sum"])
            ratios[name], plain[name] = ours / cycles, added / cycles
            rows.append((name, "second" if second_half(name) else "first",
                         f"{count / 1e6:.1f}", f"{count / cycles:.2f}",
                         f"{count / ours:.2f}", f"{ours / cycles:.2f}",
                         f"{added / cycles:.2f}", f"{100 * spread:.0f} %"))
            print(f"{name}: {ours / cycles:.2f}", file=sys.stderr, flush=True)
    print_table(("program", "half", "M instructions", "a cycle, clock",
                 "a cycle, model", "cycles, model / clock", "with sum",
                 "spread"), rows)
    print()
    print_table(("programs", "number", "median error", "worst"), [
        summary("second half", [r for n, r in ratios.items() if second_half(n)]),
        summary("first half",
                [r for n, r in ratios.items() if not second_half(n)]),
        summary("all", ratios.values()),
        summary("all, with time.model=sum", plain.values())])
    pairs = [(f"{a} / {b}", f"{ratios[a] / ratios[b]:.2f}",
              f"{plain[a] / plain[b]:.2f}")
             for a, b in PAIRS if a in ratios and b in ratios]
    print()
    print_table(("two variants", "ratio, model / clock", "with sum"), pairs)


if __name__ == "__main__":
    main()
