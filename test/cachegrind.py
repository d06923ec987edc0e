#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally against Valgrind's cachegrind: cachegrind.py BUILD [WORD]

Three real x86-64 programs on host-model with cachegrind's geometry. Within
0.1 % or 50 counts agree: instructions (REP iterations counted, as cachegrind
does), L1I misses, L1D misses of reads and of writes, and the last level's
misses. And in bzip2's and Lua's own files tally record tells the same
instructions of each line, and of each function with more than 1,000 misses of
the L1D as many within 1 %. For this both must run the same code at the same
places, under the conditions that validate/geometry.py states.

Different by definition, and not compared: reads and writes (to cachegrind an
update of memory is a read only, to tally a read and a write; a vector comes
from QEMU in pieces of 8 bytes; Valgrind makes a read of a bit test of
registers, as it goes through memory there). Different and small: libc's start-up, which
asks CPUID in loops and scans the environment (some thousand instructions and
about 20 lines of code); a REP instruction whose count is 0 is one more
iteration to cachegrind.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import tallytest as t

sys.path.append(t.source("validate"))
import geometry

LUA = """
local t, s = {}, 0
for i = 1, 4000 do t[i] = tostring(i * 7 % 10007) end
for i = 1, #t do s = s + #t[i] + (t[i] < "5" and 1 or 0) end
local u = {}
for i = 1, #t do u[t[i]] = (u[t[i]] or 0) + 1 end
for i = 1, 200000 do s = s + (u[t[i % 4000 + 1]] or 0) * 0.5 end
local c = table.concat(t, ","):gsub("1", "2")
print(s, #c, c:find("9999"))
"""
LUA_FILES = re.compile(r"l[a-z]+\.[ch]")
BZIP2_FILES = ("blocksort.c", "bzip2.c", "bzlib.c", "bzlib_private.h",
               "compress.c", "crctable.c", "decompress.c", "huffman.c",
               "randtable.c")
STACK = """
local n = 0
for word in io.open("/proc/self/stat"):read("a"):gmatch("%S+") do
    n = n + 1
    if n == 28 then print(word) end
end
"""


def text_file(folder):
    licence = pathlib.Path(t.source("LICENSES", "GPL-2.0-or-later.txt"))
    path = folder / "text"
    path.write_text(licence.read_text() * 5)
    return str(path)


def words(folder):
    return [t.guest("words.x86_64"), text_file(folder)]


def bzip2(folder):
    return [t.guest("bzip2.x86_64"), "-9kc", text_file(folder)]


def lua(folder):
    path = folder / "script"
    path.write_text(LUA)
    return [t.guest("lua.x86_64"), str(path)]


@t.once
def tally_environment():
    return geometry.tally_environment()


def tally_stack(folder):
    """Where in its page tally lets every program's stack begin."""
    script = folder / "stack"
    script.write_text(STACK)
    c = t.count(["-e", "instructions"], t.guest("lua.x86_64"), script,
                env=tally_environment())
    return int(c.stdout) % geometry.PAGE


def run_tally(program):
    events = [e for names in geometry.PAIRS.values() for e in names]
    options = [w for g in geometry.GEOMETRY for w in ("--set", g)]
    return t.count(["-m", "host-model", *options, "-e", ",".join(events)],
                   *program, env=tally_environment())


def close(ours, theirs):
    return abs(ours - theirs) <= max(50, theirs / 1000)


def compare(choose):
    if t.run("sh", "-c", "command -v valgrind").returncode != 0:
        raise t.Skip("no valgrind")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = choose(folder)
        pad = geometry.find_pad(program, tally_stack(folder))
        theirs = geometry.by_cachegrind(folder, program, pad)
        ours = run_tally(program)
    table = {name: (sum(ours[e] for e in events), theirs[name])
             for name, events in geometry.PAIRS.items()}
    wrong = [f"{name}: tally {x}, cachegrind {y}"
             for name, (x, y) in table.items() if not close(x, y)]
    if os.environ.get("VERBOSE"):
        print(f"# {table}")
    assert not wrong, "; ".join(wrong)


def read_profile(out):
    """The counts of a file of cachegrind: of each line by (file's name, line),
    and of each function by name."""
    lines, functions, events = {}, {}, []
    for text in out.read_text().splitlines():
        key, _, value = text.partition("=")
        if text.startswith("events: "):
            events = text.split()[1:]
        elif key in ("fl", "fi", "fe"):
            file = value.rpartition("/")[2]
        elif key == "fn":
            function = value
        elif text[:1].isdigit():
            line, *counts = map(int, text.split())
            for table, place in ((lines, (file, line)), (functions, function)):
                row = table.setdefault(place, dict.fromkeys(events, 0))
                for event, count in zip(events, counts):
                    row[event] += count
    return lines, functions


def report(record, *options):
    done = t.run(t.tally(), "report", "-i", record, "-j", *options)
    t.equal(done.returncode, 0, f"status of report; {done.stderr!r}")
    return json.loads(done.stdout)["rows"]


def sums_by(rows, place):
    """The values of report's rows, summed by place(keys of the row)."""
    out = {}
    for row in rows:
        sums = out.setdefault(place(row["keys"]), {})
        for event, value in row["values"].items():
            sums[event] = sums.get(event, 0) + value
    return out


def record_tally(folder, program):
    events = [e for names in geometry.PAIRS.values() for e in names]
    options = [w for g in geometry.GEOMETRY for w in ("--set", g)]
    path = folder / "tally.data"
    done = subprocess.run(
        [t.tally(), "record", "-q", "-o", path, "-m", "host-model", *options,
         "-e", ",".join(events), "--", *program], env=tally_environment(),
        capture_output=True)
    t.equal(done.returncode, 0, f"status of record; {done.stderr!r}")
    return path


def base(path):
    return (path or "").rpartition("/")[2]


def compare_places(choose, own):
    """In the program's own files (`own`: a file of them all) each line has the
    instructions that cachegrind counts there, and each function with more than
    1,000 misses of the L1D has as many within 1 %."""
    if t.run("sh", "-c", "command -v valgrind").returncode != 0:
        raise t.Skip("no valgrind")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = choose(folder)
        pad = geometry.find_pad(program, tally_stack(folder))
        geometry.by_cachegrind(folder, program, pad)
        lines, functions = read_profile(folder / "cachegrind.out")
        record = record_tally(folder, program)
        ours = sums_by(report(record, "--by", "file,line"),
                       lambda k: (base(k["file"]), k["line"]))
        of_functions = sums_by(
            report(record, "--by", "function", "--no-inline"),
            lambda k: k["function"])
    wrong, compared = [], 0
    for place, theirs in lines.items():
        if not own(place[0]):
            continue
        row = ours.get(place, {})
        mine = sum(row.get(e, 0) for e in geometry.PAIRS["Ir"])
        compared += 1
        if mine != theirs["Ir"]:
            wrong.append(f"{place[0]}:{place[1]}: instructions {mine}, "
                         f"cachegrind {theirs['Ir']}")
    for function, theirs in functions.items():
        for name in ("D1mr", "D1mw"):
            if theirs[name] <= 1000 or function not in of_functions:
                continue
            mine = sum(of_functions[function].get(e, 0) for e in geometry.PAIRS[name])
            compared += 1
            if abs(mine - theirs[name]) > theirs[name] / 100:
                wrong.append(f"{function}: {name} {mine}, "
                             f"cachegrind {theirs[name]}")
    if os.environ.get("VERBOSE"):
        print(f"# {compared} compared, {len(wrong)} differ")
    assert compared > 20, f"only {compared} places compared"
    assert not wrong, f"{len(wrong)} of {compared}: " + "; ".join(wrong[:12])


NAME = re.compile(r"(\w+)=\((\d+)\)(?: (.*))?")
JUMP = re.compile(r"\tj\w+ +[0-9a-f]+ <([^+>]+)>")


def read_calls(out):
    """From a file of callgrind: the instructions of each function and of what
    it calls, and who calls whom. A name that ends in '2 is a call of a function
    by itself."""
    names, inclusive, calls = {}, {}, {}
    function = None
    for text in out.read_text().splitlines():
        if match := NAME.fullmatch(text):
            kind = {"cfn": "fn"}.get(match[1], match[1])
            name = names.setdefault((kind, match[2]), match[3])
            name = re.sub(r"'\d+$", "", name or "")
            if match[1] == "fn":
                function = name
            elif match[1] == "cfn":
                calls.setdefault(function, set()).add(name)
        elif text[:1].isdigit() and text.count(" ") == 1:
            inclusive[function] = inclusive.get(function, 0) + \
                int(text.split()[1])
    return inclusive, calls


def reached(calls, function):
    """What a function calls, and what that calls."""
    seen, ways = set(), [function]
    while ways:
        new = calls.get(ways.pop(), set()) - seen
        seen |= new
        ways += new
    return seen


def jumpers(program):
    """The functions that end by a jump into another."""
    out, function = set(), None
    listing = t.run("objdump", "-d", "--no-show-raw-insn", program).stdout
    for line in listing.splitlines():
        if line.endswith(">:"):
            function = line.partition("<")[2][:-2]
        elif match := JUMP.search(line):
            if match[1] != function:
                out.add(function)
        elif "\tjmp    *" in line:
            out.add(function)
    return out


def compare_callers(choose, own):
    """Each function of the program's own files, with what it calls, has the
    instructions that callgrind counts; within 1 % or 500 if it calls libc. Not
    compared: functions that call themselves; and those that end by a jump into
    another function, which callgrind takes for a call: to tally, as in a stack,
    the first is gone."""
    if t.run("sh", "-c", "command -v valgrind").returncode != 0:
        raise t.Skip("no valgrind")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = choose(folder)
        pad = geometry.find_pad(program, tally_stack(folder))
        out = folder / "callgrind.out"
        done = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", "--vex-guest-chase=no",
             "--compress-pos=no", f"--callgrind-out-file={out}", *program],
            env=geometry.with_pad(pad), capture_output=True)
        t.equal(done.returncode, 0, "status under callgrind")
        theirs, calls = read_calls(out)
        rows = report(record_tally(folder, program), "--no-inline")
    ours = {}
    for row in rows:
        keys = row["keys"]
        if own(base(keys["function_file"])):
            ours[keys["function"]] = ours.get(keys["function"], 0) + sum(
                row["inclusive"].get(e, 0) for e in geometry.PAIRS["Ir"])
    jumps = jumpers(program[0])
    wrong, compared, exact = [], 0, 0
    for function, mine in ours.items():
        count, below = theirs.get(function), reached(calls, function)
        if count is None or function in below or function in jumps:
            continue
        alone = below <= set(ours)
        compared += 1
        exact += alone
        if abs(mine - count) > (0 if alone else max(500, count / 100)):
            wrong.append(f"{function}: {mine}, callgrind {count}")
    if os.environ.get("VERBOSE"):
        print(f"# {compared} compared, {exact} of them exactly; "
              f"{len(wrong)} differ: {wrong[:40]}")
    assert compared > 10 and exact > 3, f"{compared} compared, {exact} exactly"
    assert not wrong, f"{len(wrong)} of {compared}: " + "; ".join(wrong[:12])


for row in (("bzip2", bzip2, lambda file: file in BZIP2_FILES),
            ("Lua", lua, LUA_FILES.fullmatch)):
    t.case(f"{row[0]}: functions with what they call as callgrind",
           compare_callers, *row[1:])
for program in (words, lua, bzip2):
    t.case(f"{program.__name__}: as cachegrind counts", compare, program)
t.case("bzip2: each line and function as cachegrind", compare_places, bzip2,
       lambda file: file in BZIP2_FILES)
t.case("Lua: each line and function as cachegrind", compare_places, lua,
       LUA_FILES.fullmatch)
t.main()
