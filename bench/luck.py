#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""luck.py --tally FILE --guests DIR: what tally check takes for a change.

Builds bzip2, Lua and SQLite once, and holds relinks of the same objects to the
baseline of the first: functions in another order, code and data of random size
between them, objects in another order, a path of another length. Each is the
same work, so a status of 3 is a false alarm. Then it injects changes into
functions with at least 1 % of all instructions: work worth 0.5 % of the
instructions, and accesses whose addresses alone differ, worth 3 % of the cost;
these are to be found, with the function. Prints a table of tries, alarms and
what was found; --relinks and --injected say how many of each in all, --seed how
they are drawn. BENCH_FORMAT=markdown prints the table for pages.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

LIMITS = ["--hard", "instructions=0.2", "--hard", "cost=1"]
# What a load costs on ci-1 beyond one that hits: of a line that the program has
# not asked for before, and of one that the L2 has. The table of injected loads
# has so many bytes, more than the L1 data cache and less than the L2.
FIRST_COST, L2_COST = 12 + 35 + 200, 12
TABLE = 1 << 18
LINES = TABLE // 64
KINDS = "relinked", "0.5 % more work", "3 % more cost by addresses"

SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 1500)
insert into t select i, 'row ' || (i * 7919 % 10007), i * 0.5 from n;
create index by_b on t(b);
select count(*), sum(c) from t where b like 'row 1%';
select b, count(*) from t group by b order by 2 desc, 1 limit 5;
update t set c = c + 1 where a % 3 = 0;
select count(*), max(length(b)), sum(c) from t;
"""
LUA = """local t, words = {}, {}
for i = 1, 20000 do t[i % 5000] = (t[(i * 7) % 5000] or 0) + i end
for i = 1, 1000 do words[#words + 1] = string.format("%d-x", i * 7919 % 997) end
local n = 0
for w in table.concat(words, " "):gmatch("%d+") do n = n + tonumber(w) end
print(#t, n)
"""


def run(*words, **how):
    return subprocess.run([str(w) for w in words], check=True,
                          capture_output=True, **how)


class Program:
    """One of the programs: its assembly, and how it is run."""

    def __init__(self, name, sources, flags, arguments):
        self.name, self.sources, self.flags = name, sources, flags
        self.arguments = arguments

    def compile(self, folder):
        """Assembly and objects with a section for each function and datum."""
        self.folder = folder / self.name
        self.folder.mkdir()
        self.objects = []
        for source in self.sources:
            assembly = self.folder / (source.stem + ".s")
            run("gcc", "-O2", "-w", "-g1", "-ffunction-sections",
                "-fdata-sections", *self.flags, "-S", "-o", assembly, source)
            self.objects.append(self.assemble(assembly))

    def assemble(self, assembly, name=None):
        made = (name or assembly).with_suffix(".o")
        run("gcc", "-c", "-o", made, assembly)
        return made

    def sections(self):
        names = set()
        for made in self.objects:
            text = run("readelf", "-SW", made, text=True).stdout
            names |= set(re.findall(r"(\.(?:text|data|bss|rodata)\.\S+)", text))
        return sorted(names)

    def link(self, chance, objects=None):
        """Links in an order and with gaps that the chance draws; None: in the
        order of the sources. Returns the program."""
        place = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        objects = list(objects or self.objects)
        options = []
        if chance:
            place /= "x" * chance.randrange(1, 200)
            place.mkdir()
            pads = "\n".join(
                f'.section .{kind}.pad{n},"{flags}",@{holds}\n.zero {size}'
                for n, (kind, flags, holds, size) in enumerate(
                    (*row, chance.randrange(1, 2000)) for row in
                    chance.choices((("text", "ax", "progbits"),
                                    ("data", "aw", "progbits"),
                                    ("bss", "aw", "nobits")), k=30)))
            (place / "pad.s").write_text(pads + "\n")
            objects.append(self.assemble(place / "pad.s"))
            order = self.sections() + re.findall(r"\.\w+\.pad\d+", pads)
            chance.shuffle(order)
            chance.shuffle(objects)
            (place / "order").write_text("\n".join(order) + "\n")
            options = ["-fuse-ld=gold",
                       f"-Wl,--section-ordering-file={place / 'order'}"]
        program = place / self.name
        run("gcc", "-o", program, *options, *objects, "-lm")
        return program


class Check:
    """tally check with a baseline for each build that stands for the first."""

    def __init__(self, tally, layouts):
        self.tally, self.layouts = tally, layouts

    def __call__(self, program, built, baseline, *options):
        done = subprocess.run(
            [self.tally, "check", "-q", "-j", "1", "--layouts",
             str(self.layouts), "--baseline", str(baseline), "--format", "json",
             *LIMITS, *options, "--", str(built), *program.arguments],
            capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3):
            sys.exit(f"tally check: {done.returncode}: {done.stderr}"
                     f"{done.stdout}")
        return done.returncode, json.loads(done.stdout)["results"][0]


def profile(tally, program, built):
    """Of each function with at least 1 % of the instructions: how often it is
    called, and the totals of instructions and cost."""
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder) / "r"
        run(tally, "record", "-q", "--clean-env", "-m", "ci-1", "-e",
            "instructions,cycles", "-o", record, "--", built,
            *program.arguments)
        functions = json.loads(run(tally, "report", record, "--by",
                                   "function,image", "--no-inline", "--format",
                                   "json").stdout)
        places = json.loads(run(tally, "report", record, "--by",
                                "instruction,function,image", "--no-inline",
                                "--format", "json").stdout)
    return functions, places


def share(tally, program, built):
    """The functions of the program to inject into: name, calls; and totals."""
    functions, places = profile(tally, program, built)
    totals = [event["total"] for event in functions["events"]]
    assembly = "".join(path.read_text()
                       for path in program.folder.glob("*.s"))
    first = {}
    for row in places["rows"]:
        keys = row["keys"]
        if keys.get("image", "").endswith("/" + program.name):
            name, offset = keys.get("function"), int(keys["offset"], 0)
            if name not in first or offset < first[name][0]:
                first[name] = offset, row["values"]["instructions"]
    found = []
    for row in functions["rows"]:
        name = row["keys"].get("function")
        if (row["values"]["instructions"] >= totals[0] / 100
                and name in first and first[name][1] > 0
                and re.search(rf"^{re.escape(name)}:$", assembly, re.M)):
            found.append((name, first[name][1]))
    return found, totals


def work(count):
    """Code that executes so many instructions and changes nothing."""
    if count < 12:
        return "\tnop\n" * count
    turns = (count - 3) // 2
    return (f"\tpushq %rcx\n\tmovl ${turns}, %ecx\n.Linjected:\n\tdecl %ecx\n"
            "\tjne .Linjected\n\tpopq %rcx\n")


def loads(misses, calls):
    """Code that loads a byte of a table: so often from the next line in so many
    calls; 0: always from the same."""
    step = round((1 << 24) * misses / calls)
    return ("\tpushq %rax\n\tpushq %rcx\n\tmovq injected_calls(%rip), %rax\n"
            "\tincq injected_calls(%rip)\n"
            f"\timulq ${step}, %rax\n\tshrq $24, %rax\n\tshlq $6, %rax\n"
            f"\tandl ${TABLE - 1}, %eax\n"
            "\tleaq injected_table(%rip), %rcx\n\tmovb (%rcx,%rax), %al\n"
            "\tpopq %rcx\n\tpopq %rax\n")


DATA = (f"\n.local injected_calls\n.comm injected_calls,8,8\n"
        f".local injected_table\n.comm injected_table,{TABLE},64\n")


def inject(program, function, code, name):
    """Objects of the program with code at the entry of a function."""
    objects = []
    for source, made in zip(program.sources, program.objects):
        assembly = program.folder / (source.stem + ".s")
        text = assembly.read_text()
        changed = re.sub(rf"^{re.escape(function)}:$",
                         lambda found: found.group(0) + "\n" + code, text,
                         count=1, flags=re.M)
        if changed == text:
            objects.append(made)
            continue
        changed += DATA if "injected_calls" in code else ""
        own = program.folder / f"{name}.s"
        own.write_text(changed)
        objects.append(program.assemble(own))
        own.unlink()
    return objects


class Tries:
    """What became of the tries of one kind."""

    def __init__(self, program, kind, count):
        self.label, self.count = f"{program.name}, {kind}", count
        self.tries = self.alarms = self.named = 0
        self.changes = []

    def add(self, status, found, named=False):
        """Takes a result of the check, and says now and then how far it is."""
        self.tries += 1
        self.alarms += status == 3
        self.named += named
        self.changes.append([m["change_percent"]
                             for m in found["measures"][:2]])
        if self.tries % 25 == 0 or self.tries == self.count:
            print(f"{self.label}: {self.tries} of {self.count}, "
                  f"{self.alarms} alarms", file=sys.stderr, flush=True)


def relinks(check, program, baseline, count, chance):
    result = Tries(program, KINDS[0], count)
    for _ in range(count):
        built = program.link(random.Random(chance.random()))
        status, found = check(program, built, baseline)
        built.unlink()
        result.add(status, found)
    return result


def misses_for(cost):
    """So many loads are to miss for a cost, the first of each line more
    dearly."""
    return (cost / FIRST_COST if cost < LINES * FIRST_COST else
            LINES + (cost - LINES * FIRST_COST) / L2_COST)


def injections(check, program, kind, count, chance, places, totals, baseline):
    result = Tries(program, KINDS[1 if kind == "work" else 2], count)
    misses = misses_for(0.03 * totals[1])
    if kind == "places":
        # A function that is called less often cannot miss so often.
        places = [(name, calls) for name, calls in places if calls >= misses]
    for n in range(count if places else 0):
        function, calls = chance.choice(places)
        name = f"injected{n}-{kind}"
        if kind == "work":
            wanted = max(1, round(0.005 * totals[0] / calls))
            objects = inject(program, function, work(wanted), name)
            reference = baseline
        else:
            before = program.link(None, inject(program, function,
                                               loads(0, calls), name + "a"))
            reference = program.folder / f"{name}.json"
            check(program, before, reference, "--update")
            objects = inject(program, function, loads(misses, calls),
                             name)
        built = program.link(random.Random(chance.random()), objects)
        status, found = check(program, built, reference)
        rose = [f["name"] for f in found["functions"]
                if f["cost"] > f["cost_baseline"]
                or f["instructions"] > f["instructions_baseline"]]
        result.add(status, found, rose[:1] == [function])
    return result


def spread(changes, measure):
    values = sorted(c[measure] for c in changes)
    return (f"{values[0]:+.2f} to {values[-1]:+.2f} %"
            if values else "-")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", type=pathlib.Path, required=True)
    parser.add_argument("--guests", type=pathlib.Path, required=True)
    parser.add_argument("--relinks", type=int, default=1000)
    parser.add_argument("--injected", type=int, default=400)
    parser.add_argument("--layouts", type=int, default=9)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--programs", default="bzip2,lua,sqlite",
                        help="which programs, with commas between them")
    parser.add_argument("--strict", action="store_true",
                        help="end with status 1 for an alarm at the same work, "
                        "a change that is not found, or one without its function")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    args = parser.parse_args()
    source = args.guests.resolve() / "source"
    check = Check(args.tally.resolve(), args.layouts)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "lua.lua").write_text(LUA)
        (folder / "sql").write_text(SQL)
        text = folder / "text"
        text.write_bytes((source / "lua-5.4.4/src/lvm.c").read_bytes())
        bzip2 = source / "bzip2-1.0.8"
        programs = [
            Program("bzip2", [bzip2 / f"{n}.c" for n in (
                "blocksort", "huffman", "crctable", "randtable", "compress",
                "decompress", "bzlib", "bzip2")], [],
                ["-9", "-c", str(text)]),
            Program("lua", [p for p in sorted(
                (source / "lua-5.4.4/src").glob("*.c")) if p.stem != "luac"],
                ["-DLUA_COMPAT_5_3", "-DLUA_USE_POSIX",
                 "-Dluai_makeseed(L)=0u"], [str(folder / "lua.lua")]),
            Program("sqlite", [source / "sqlite-3.40.1.c" / n
                               for n in ("sqlite3.c", "shell.c")],
                    ["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
                    [":memory:", f".read {folder / 'sql'}"]),
        ]
        wanted = args.programs.split(",")
        programs = [p for p in programs if p.name in wanted]
        if len(programs) != len(wanted):
            parser.error(f"--programs {args.programs}: there are bzip2, lua and "
                         "sqlite")
        rows = []

        def try_all(program, number):
            chance = random.Random(f"{args.seed} {program.name}")
            part = [args.relinks, args.injected, args.injected]
            count = len(programs)
            part = [n // count + (number < n % count) for n in part]
            program.compile(folder)
            first = program.link(None)
            baseline = program.folder / "baseline.json"
            check(program, first, baseline, "--update")
            places, totals = share(args.tally.resolve(), program, first)
            return [
                relinks(check, program, baseline, part[0], chance),
                injections(check, program, "work", part[1], chance, places,
                           totals, baseline),
                injections(check, program, "places", part[2], chance, places,
                           totals, baseline)]

        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            done = list(pool.map(try_all, programs, range(len(programs))))
        for program, results in zip(programs, done):
            for kind, r in zip(KINDS, results):
                rows.append((program.name, kind, r.tries, r.alarms,
                             r.named if kind != KINDS[0] else "",
                             spread(r.changes, 0), spread(r.changes, 1)))
    report(rows)
    wrong = sum(r.alarms if kind == 0 else 2 * r.tries - r.alarms - r.named
                for results in done for kind, r in enumerate(results))
    return 1 if args.strict and wrong > 0 else 0


def report(rows):
    heads = ("program", "change", "tries", "alarms", "function first",
             "instructions", "cost")
    if os.environ.get("BENCH_FORMAT") == "markdown":
        print("| " + " | ".join(heads) + " |\n|" + "---|" * len(heads))
        for row in rows:
            print("| " + " | ".join(str(v) for v in row) + " |")
        return
    for row in (heads, *rows):
        print(f"{row[0]:8} {row[1]:27} {row[2]!s:>6} {row[3]!s:>7} "
              f"{row[4]!s:>15}  {row[5]:22} {row[6]}")


if __name__ == "__main__":
    sys.exit(main())
