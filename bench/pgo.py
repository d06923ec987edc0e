#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pgo.py --tally FILE --guests DIR: how much a profile of tally speeds up.

Builds bzip2, Lua and SQLite with clang: plain, with a profile of an
instrumented build (-fprofile-generate), and with a profile that llvm-profgen
makes of the exact branches of tally (tally record --branches, tally export --as
brstack, -fprofile-sample-use). Both are trained on the same input, which is
another one than that which is timed. Prints medians of native user time of runs
that take turns, what each profile gains over the plain build, which part of the
instrumented gain tally's profile has, and the spread: what a second copy of
the plain build gains. The second table does not depend on the host: how many
instructions and taken branches fewer each build has on the training input, as
tally counts them. BENCH_FORMAT=markdown prints the tables for pages.
"""

import argparse
import bz2
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import bench

AIM = 0.75
FLAGS = ["-O2", "-g", "-w", "-fdebug-info-for-profiling",
         "-funique-internal-linkage-names"]  # fmt: skip
# Lets the compiler work out the counts of blocks that lines do not tell.
INFERENCE = ["-mllvm", "-sample-profile-use-profi"]
FORMS = ["plain", "again", "instrumented", "tally"]

SQL = """
create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < {rows})
insert into t select i, 'row ' || (i * 7919 % 10007), i * 0.5 from n;
create index by_b on t(b);
select count(*), sum(c) from t where b like 'row 1%';
select b, count(*) from t group by b order by 2 desc, 1 limit 5;
select sum(x.a * y.c) from t x join t y on x.b = y.b where x.a < {rows} / 20;
update t set c = c + 1 where a % 3 = 0;
delete from t where a % 5 = 0;
select count(*), max(length(b)), sum(c) from t;
"""


def sql(rows):
    return SQL.format(rows=rows)


class Program:
    """A program that is built and timed: its sources, and the arguments of the
    runs that train a profile and of the runs that are timed."""

    def __init__(self, name, sources, flags, train, timed):
        self.name, self.sources, self.flags = name, sources, flags
        self.train, self.timed = train, timed


def programs(sources, folder):
    train, timed = folder / "train", folder / "timed"
    bench.write_input(str(timed), 6_000_000)
    data = timed.read_bytes()
    train.write_bytes(data[:400_000])
    timed.write_bytes(data[400_000:])
    for path in (train, timed):
        packed = bz2.compress(path.read_bytes())
        path.with_suffix(".bz2").write_bytes(packed)
    bzip2 = sources / "bzip2-1.0.8"
    lua = sources / "lua-5.4.4"
    sqlite = sources / "sqlite-3.40.1.c"
    script = str(bench.ROOT / "bench" / "lua" / "bench.lua")
    return [
        Program(
            "bzip2",
            [bzip2 / f"{name}.c" for name in (
                "blocksort", "huffman", "crctable", "randtable", "compress",
                "decompress", "bzlib", "bzip2")],
            ["-D_FILE_OFFSET_BITS=64"],
            [["-9c", str(train)], ["-dc", f"{train}.bz2"]],
            [["-9c", str(timed)], ["-dc", f"{timed}.bz2"]],
        ),
        Program(
            "Lua",
            [path for path in sorted((lua / "src").glob("*.c"))
             if path.name != "luac.c"],
            ["-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX", "-Dluai_makeseed(L)=0u",
             "-lm"],
            [[script, "2"]], [[script, "150"]],
        ),
        Program(
            "SQLite",
            [sqlite / "sqlite3.c", sqlite / "shell.c"],
            ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-lm"],
            [[":memory:", sql(2000)]], [[":memory:", sql(400000)]],
        ),
    ]  # fmt: skip


def do(*words, **how):
    """Runs a command that must end well; its standard error."""
    done = subprocess.run([str(word) for word in words],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace",
                          **how)  # fmt: skip
    if done.returncode != 0:
        bench.fail(f"{words[0]}: status {done.returncode}: {done.stderr}")
    return done.stderr


def tool(name):
    """A program of LLVM; Debian has some under their versions' names alone."""
    found = [str(path) for path in Path("/usr/lib").glob(f"llvm-*/bin/{name}")]
    path = shutil.which(name) or (sorted(found)[-1] if found else None)
    if path is None:
        bench.fail(f"{name} is missing")
    return path


def compile_program(program, out, *flags):
    bench.progress(f"bench: {program.name}: {out.name}")
    do("clang", *FLAGS, *flags, "-o", out, *program.sources, *program.flags)


def build(args, program, folder):
    """Builds the program in each form: {form: path}."""
    paths = {form: folder / f"{program.name}.{form}" for form in FORMS}
    compile_program(program, paths["plain"])
    shutil.copy2(paths["plain"], paths["again"])

    counting = folder / f"{program.name}.counting"
    merged = folder / "merged.profdata"
    compile_program(program, counting, "-fprofile-generate")
    raw = [folder / f"{i}.profraw" for i in range(len(program.train))]
    for path, words in zip(raw, program.train):
        do(counting, *words,
           env=os.environ | {"LLVM_PROFILE_FILE": str(path)})
    do(tool("llvm-profdata"), "merge", "-o", merged, *raw)
    compile_program(program, paths["instrumented"], f"-fprofile-use={merged}")

    record, stacks, profile = (folder / name for name in
                               ("tally.data", "brstack", "profile"))
    text = b""
    for words in program.train:
        do(args.tally, "record", "-q", "--branches", "--no-callers", "-m",
           "host-model", "-e", "instructions", "-o", record, "--",
           paths["plain"], *words)
        do(args.tally, "export", "--as", "brstack", "-i", record, "-o", stacks)
        text += stacks.read_bytes()
    stacks.write_bytes(text)
    do(tool("llvm-profgen"), f"--perfscript={stacks}",
       f"--binary={paths['plain']}", f"--output={profile}")
    compile_program(program, paths["tally"],
                    f"-fprofile-sample-use={profile}", *INFERENCE)
    return paths


def check(program, paths):
    """All forms print the same."""
    for words in program.train:
        printed = {form: subprocess.run([path, *words],
                                        capture_output=True).stdout
                   for form, path in paths.items()}  # fmt: skip
        for form, text in printed.items():
            if text != printed["plain"]:
                bench.fail(f"{program.name}: {form} prints something else")


def counts(args, program, path):
    """(instructions, taken branches) of the training."""
    sums = [0, 0]
    for words in program.train:
        done = do(args.tally, "count", "-q", "-j", "-m", "host-model", "-e",
                  "instructions,taken-branches", "--", path, *words)
        for i, event in enumerate(json.loads(done)["events"]):
            sums[i] += event["value"]
    return sums


def gains(program_values):
    """What each form gains over the plain one, and which part of the gain of
    the instrumented one tally's has."""
    plain = program_values["plain"]
    gain = {form: 1 - value / plain for form, value in program_values.items()}
    part = gain["tally"] / gain["instrumented"] \
        if gain["instrumented"] > 0 else None
    return gain, part


def shown_part(part):
    return ["none to have", "-"] if part is None else \
        [f"{part:.0%}", "yes" if part >= AIM else "no"]


def time_row(args, program, paths):
    times = {form: [] for form in FORMS}
    for turn in range(args.runs):
        bench.progress(
            f"bench: {program.name}, run {turn + 1} of {args.runs}"
        )
        for form in FORMS:
            times[form].append(sum(
                bench.run([str(paths[form]), *words])[0]
                for words in program.timed
            ))
    bench.progress("")
    medians = {form: statistics.median(t) for form, t in times.items()}
    gain, part = gains(medians)
    return [
        program.name, f"{medians['plain']:.2f}", f"{gain['again']:+.1%}",
        f"{gain['instrumented']:+.1%}", f"{gain['tally']:+.1%}",
        *shown_part(part),
    ]  # fmt: skip


def count_row(args, program, paths):
    row = [program.name]
    values = {form: counts(args, program, path)
              for form, path in paths.items() if form != "again"}
    for i in range(2):
        gain, part = gains({form: v[i] for form, v in values.items()})
        row += [f"{gain['instrumented']:.1%}", f"{gain['tally']:.1%}",
                shown_part(part)[0]]  # fmt: skip
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=os.path.abspath, required=True)
    parser.add_argument("--guests", type=os.path.abspath, required=True)
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--only", help="build and time this program alone")
    args = parser.parse_args()
    if platform.machine() != "x86_64" or shutil.which("clang") is None:
        print("profiles for clang: no clang for x86-64 here")
        sys.exit(77)
    show = bench.printer()
    times = [["program", "plain s", "plain again", "instrumented", "tally",
              "part of the gain", f"at least {AIM:.0%}"]]
    fewer = [["program", "fewer instructions: instrumented", "tally", "part",
              "fewer taken branches: instrumented", "tally", "part"]]
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as name:
        for program in programs(Path(args.guests) / "source", Path(name)):
            if args.only and program.name not in args.only.split(","):
                continue
            paths = build(args, program, Path(name))
            check(program, paths)
            fewer.append(count_row(args, program, paths))
            times.append(time_row(args, program, paths))
    bench.print_heading(args.runs, " runs in turn")
    show(times)
    print()
    show(fewer)


if __name__ == "__main__":
    main()
