#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Members of structures in tally memory: members.py BUILD [WORD]

The programs of test/members go through 4,096 structures of a line each, in an L1
data cache of 32 KiB with lines of 64 bytes: as many misses of one member, and one
miss of main().
"""
import csv
import io
import json
import pathlib
import re
import shutil
import tempfile

import tallytest as t

SETTINGS = [o for s in ("size=32K", "ways=8", "line=64")
            for o in ("--set", f"l1d.{s}")]
ROWS = 4096
# What the program is asked to do: the type of the data, and the members that
# have ROWS misses at least, with their offset and how they are known.
WHATS = {
    "array": ("struct shard", "count", 8),
    "nested": ("struct cell", "at[].y", 8),
    "list": ("struct node", "next", 56),
    "both": ("struct mixed", "both.number|real", 0),
    "global": ("struct shard", "id", 0),
}
NOTHING = ("pool", "either", "odd")
COMPILERS = {
    "gcc": ("host-model", SETTINGS),
    "clang": ("host-model", SETTINGS),
    "aarch64-linux-gnu-gcc": ("host-model", SETTINGS),
    "riscv64-linux-gnu-gcc": ("host-model", SETTINGS),
    "sparc64-linux-gnu-gcc": ("ultrasparc-t2", []),
    "mips64-linux-gnuabi64-gcc": ("r10000", []),
}
# What is not known: addresses of variables from a table of the linker (global),
# and loops for which the compiler leaves no variable in a register.
UNKNOWN = {
    ("aarch64-linux-gnu-gcc", "-O2"): {"list"},
    ("riscv64-linux-gnu-gcc", "-O2"): {"list"},
    ("sparc64-linux-gnu-gcc", "-O0"): {"both", "global"},
    ("sparc64-linux-gnu-gcc", "-O2"): {"both", "nested", "list", "global"},
    ("mips64-linux-gnuabi64-gcc", "-O0"): {"both", "global"},
    ("mips64-linux-gnuabi64-gcc", "-O2"): {"both", "list", "global"},
}

folder = None


def source(name):
    return t.source("test", "members", name)


def marked(name, mark):
    """The number of the line of a source that has `LINE mark`."""
    text = pathlib.Path(source(name)).read_text()
    return next(i for i, line in enumerate(text.splitlines(), 1)
                if f"/* LINE {mark} */" in line)


@t.once
def compiled(name, compiler, *options):
    """A program of a source file."""
    if shutil.which(compiler) is None:
        raise t.Skip(f"{compiler} is not installed")
    path = str(folder / ".".join(
        [pathlib.Path(name).stem, compiler.replace("+", "x"),
         *(o.strip("-") for o in options)]))
    done = t.run(compiler, *options, "-o", path, source(name), "-pthread")
    t.equal(done.returncode, 0, done.stderr)
    return path


def memory(program, *words, machine="host-model", settings=SETTINGS,
           options=(), form="--json"):
    done = t.run(t.tally(), "memory", "-m", machine, *settings, *options, form,
                 "-o", f"{program}.{'.'.join(words)}.out", "--", program, *words)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return pathlib.Path(f"{program}.{'.'.join(words)}.out").read_text()


def misses(thing):
    return thing["counts"]["load_misses"] + thing["counts"]["store_misses"]


def given(found):
    """The object that the program got its structures as."""
    rows = [o for o in found["objects"] if o["kind"] == "heap"]
    return max(rows, key=misses)


def members(found):
    """The members of that object that have a part in its misses."""
    name = given(found)["name"]
    return {m["member"]: m for m in found["members"]
            if m["object"] == name and misses(m) >= 64}


def named_member(compiler, level):
    machine, settings = COMPILERS[compiler]
    program = compiled("members.c", compiler, "-g", level)
    for what, (kind, member, offset) in WHATS.items():
        if what in UNKNOWN.get((compiler, level), ()):
            continue
        found = json.loads(memory(program, what, machine=machine,
                                  settings=settings))
        o = given(found)
        where = f"{compiler} {level} {what}"
        if o["type"] is None:
            raise AssertionError(f"{where}: no type of {o['name']}")
        t.equal((o["type"]["name"], o["type"]["declared"]["file"]),
                (kind, "members.h"), where)
        t.equal(o["type"]["misses"] <= misses(o), True, where)
        got = members(found)
        t.equal(list(got), [member], where)
        t.equal((got[member]["type"], got[member]["member_offset"]),
                (kind, offset), where)
        t.equal(misses(got[member]) >= ROWS, True, where)
        if what == "array":
            t.equal(got[member]["declared"],
                    {"file": "members.h", "line": marked("members.h", "count")},
                    where)


for _compiler in COMPILERS:
    for _level in ("-O0", "-O2"):
        t.case(f"{_compiler} {_level}: each access tells its member",
               named_member, _compiler, _level)


@t.named("bit-fields of one byte are named together")
def bit_fields():
    for level in ("-O0", "-O2"):
        found = json.loads(memory(compiled("members.c", "gcc", "-g", level),
                                  "bits"))
        t.equal(list(members(found)), ["low|middle"], level)


@t.named("bytes, two types in one place and sizes that do not fit: nothing is said")
def nothing():
    for compiler in ("gcc", "clang"):
        for level in ("-O0", "-O2"):
            for what in NOTHING:
                found = json.loads(memory(
                    compiled("members.c", compiler, "-g", level), what))
                o = given(found)
                t.equal(misses(o) >= ROWS, True, what)
                t.equal((o["type"], members(found)), (None, {}),
                        f"{compiler} {level} {what}")


@t.named("without debug information nothing is said")
def stripped():
    for options in (("-O2",), ("-g", "-O2", "-s"), ("-g1", "-O0")):
        found = json.loads(memory(compiled("members.c", "gcc", *options),
                                  "array"))
        t.equal((given(found)["type"], members(found)), (None, {}), options)


@t.named("a class made by new, and the members of its base")
def classes():
    for compiler in ("g++", "clang++"):
        for level in ("-O0", "-O2"):
            found = json.loads(memory(
                compiled("classes.cc", compiler, "-g", level)))
            o = given(found)
            t.equal(o["type"] and o["type"]["name"], "Shape",
                    f"{compiler} {level}")
            got = members(found)
            t.equal(set(got) <= {"kind", "next", "_vptr.Base", "_vptr$Base",
                                 "sides[]"}, True,
                    f"{compiler} {level}: {set(got)}")
            t.equal("kind" in got or "next" in got, True, set(got))


@t.named("false sharing is told by members, in words")
def sharing():
    for level in ("-O0", "-O2"):
        program = compiled("shards.c", "gcc", "-g", level)
        options = ("--clean-env", "--quantum", "1000")
        found = json.loads(memory(program, options=options))
        finding = next(f for f in found["findings"]
                       if f["kind"] == "false-sharing")
        count, sum_ = (f"struct shard.{w} (members.h:{marked('members.h', w)})"
                       for w in ("count", "sum"))
        text = (f"aligned_alloc in main (shards.c:{marked('shards.c', 'given')}) "
                rf"(struct shard): N misses (N %) of false sharing; 50 % of them "
                rf"are thread 1's, of what thread 2 stores to, in 1 line: bytes "
                rf"8-15, stored to are bytes 16-23; thread 1 misses {count}, "
                rf"thread 2 misses {sum_}; 50 % of its misses are in counts "
                rf"(shards.c:{marked('shards.c', 'counts')}), same address; "
                rf"threads took its lines over N times in N turns, on average "
                rf"N instructions after a turn began; "
                rf"threads that run at once may take its lines from each other "
                rf"at each of its 80,000 accesses: put what different threads "
                rf"store to 64 bytes apart")
        said = re.sub(r"[\d,]+ misses \(\d+ %\)", "N misses (N %)",
                      finding["text"])
        said = re.sub(r"[\d,]+( times in| turns,| instructions after)", r"N\1",
                      said)
        t.equal(said, text, level)
        rows = {(m["thread"], m["member"]): m["counts"]["false_sharing_misses"]
                for m in found["members_by_thread"]
                if m["object"] == finding["object"]}
        t.equal(set(rows) >= {(1, "count"), (2, "sum")}, True, rows)
        t.equal(rows[1, "count"] + rows[2, "sum"], finding["misses"], rows)


@t.named("the text and the CSV have the type and the member")
def forms():
    program = compiled("members.c", "gcc", "-g", "-O2")
    text = memory(program, "array", form="--format=text")
    line = marked("members.h", "count")
    t.contains(text, "Misses by member, where the type of the data is known")
    t.equal(re.search(r"4,096 .* struct shard\.count \(members\.h:(\d+)\) of "
                      r"aligned_alloc in lines", text)[1], str(line))
    rows = csv.DictReader(io.StringIO(memory(program, "array",
                                             form="--format=csv")))
    top = max(rows, key=lambda r: int(r["load_misses"]) + int(r["store_misses"]))
    t.equal((top["type"], top["type_misses"]), ("struct shard", "4096"))


def main():
    global folder
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        t.main()


main()
