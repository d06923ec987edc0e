#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally annotate on records of small programs: annotate.py BUILD [WORD]"""
import json
import os
import pathlib
import subprocess
import tempfile
import threading

import tallytest as t

SOURCE = """\
#include <stdio.h>

static volatile int sink;

static inline __attribute__((always_inline)) int
twice(int n)
{
    return n * 2 + sink; /* inlined */
}

__attribute__((noinline)) static int
work(int n, int never)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += twice(i); /* call */
    if (never)
        puts("never"); /* cold */
    return sum;
}

int
main(int argc, char **argv)
{
\t(void)argv;
    printf("%d\\n", work(1000, argc > 9));
    return 0;
}
"""
COMPILERS = {"x86_64": ["gcc"], "sparc64": ["sparc64-linux-gnu-gcc"],
             "mips64": ["mips64-linux-gnuabi64-gcc"],
             "aarch64": ["aarch64-linux-gnu-gcc"],
             "riscv64": ["riscv64-linux-gnu-gcc"]}
folder = None
lock = threading.Lock()


def record(isa, name=""):
    """Records the program of this instruction set, once for each name; returns
    its folder."""
    with lock:  # cases run side by side
        return record_once(isa, name)


@t.once
def record_once(isa, name):
    place = folder / (isa + name)
    compiler = COMPILERS[isa]
    if t.run("sh", "-c", f"command -v {compiler[0]}").returncode != 0 or \
            (isa == "x86_64" and os.uname().machine != "x86_64"):
        raise t.Skip(f"no {compiler[0]}")
    place.mkdir()
    (place / "p.c").write_text(SOURCE)
    subprocess.run([*compiler, "-g", "-O1", "-static", "-o", "p", "p.c"],
                   cwd=place, check=True)
    machine = ["-m", "host-model"] if isa == "x86_64" else []
    t.run(t.tally(), "record", "-q", *machine, "-e", "instructions,branches",
          "./p", cwd=place, check=True)
    return place


def annotate(isa, *words):
    return t.run(t.tally(), "annotate", *words, cwd=record(isa))


def document(isa, *words):
    done = annotate(isa, "-j", *words)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return json.loads(done.stdout)["annotations"]


def number_of(word):
    return 1 + next(i for i, line in enumerate(SOURCE.splitlines())
                    if f"/* {word} */" in line)


def function(isa):
    """The lines of a function add up to it, and to its instructions; copies
    count at the line that calls."""
    only, = document(isa, "--asm", "work")
    total = only["totals"]["instructions"]
    t.equal(only["kind"], "function", "kind")
    for part in ("lines", "instructions"):
        t.equal(sum(row["values"]["instructions"] for row in only[part]),
                total, f"sum of {part}")
    lines = {row["line"]: row for row in only["lines"]}
    call = lines[number_of("call")]
    assert 2000 <= call["values"]["instructions"] < 9000, call
    t.contains(call["text"], "sum += twice(i);")
    assert number_of("inlined") not in lines, "the copy's own line"
    for row in only["instructions"]:
        assert row["text"] and not row["text"].startswith(".byte"), row


def file(isa):
    """In a file, code counts at the line that it was written in."""
    only, = document(isa, "p.c")
    t.equal(only["kind"], "file", "kind")
    lines = {row["line"]: row for row in only["lines"]}
    assert lines[number_of("inlined")]["values"]["instructions"] >= 2000
    t.equal(sum(row["values"]["instructions"] for row in only["lines"]),
            only["totals"]["instructions"], "sum of lines")


def text():
    done = annotate("x86_64", "work")
    t.equal(done.returncode, 0, "status")
    rows = {int(line.split("|")[0].split()[-1]): line
            for line in done.stdout.splitlines() if " | " in line}
    t.contains(rows[number_of("call")], "sum += twice(i); /* call */")
    never = rows[number_of("cold")].split("|")[0].split()
    t.equal(never, ["-", "-", str(number_of("cold"))], "what never ran")
    t.contains(done.stdout, "hottest: line ")


FILE = """\
static volatile int sink;

__attribute__((noinline)) void
unused(int n)
{
    sink = n; /* unused */
}

int
main(int argc, char **argv)
{
    (void)argv;
    if (argc > 9)
        sink = 1; /* cold */
    sink = 2; /* ran */
"""


def never(place, *words):
    """Records a program with a function that never runs, compiled with these
    options; returns its source."""
    if os.uname().machine != "x86_64":
        raise t.Skip("gcc compiles for another architecture than x86-64")
    source = FILE + 20 * "    if (argc > 9)\n        sink++;\n" + "}\n"
    (place / "n.c").write_text(source)
    subprocess.run(["gcc", "-g", "-O1", "-static", "-o", "n", "n.c", *words],
                   cwd=place, check=True)
    t.run(t.tally(), "record", "-q", "-m", "host-model", "-e", "instructions",
          "./n", cwd=place, check=True)
    return source


def never_ran():
    """In a file, what never ran is marked; a source that changed is told."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        source = never(place)
        source += "/* " + 9 * "\n" + "*/\n"
        (place / "n.c").write_text(source)
        os.utime(place / "n.c", (2 ** 32, 2 ** 32))
        done = t.run(t.tally(), "annotate", "n.c", "main", cwd=place)
        found, = json.loads(t.run(t.tally(), "annotate", "-j", "n.c", cwd=place,
                                  check=True).stdout)["annotations"]
    lines = source.splitlines()
    unrun = {lines[row["line"] - 1].strip() for row in found["never_ran"]}
    t.equal({"sink = n; /* unused */", "sink = 1; /* cold */"} - unrun, set(),
            "lines that never ran, in JSON")
    t.equal({row["line"] for row in found["lines"]} &
            {row["line"] for row in found["never_ran"]}, set(), "lines that ran")
    rows = {}
    for line in done.stdout.split("\nmain:")[0].splitlines():
        if " | " in line:
            marks, _, text = line.partition(" | ")
            rows[text.strip()] = marks.split()[:-1]
    t.equal(rows["sink = n; /* unused */"], ["-"], "a function that never ran")
    t.equal(rows["sink = 1; /* cold */"], ["-"], "a line that never ran")
    t.equal(rows["sink = 2; /* ran */"][-1], "1", "a line that ran")
    t.equal(rows["(void)argv;"], [], "a line without code")
    t.equal(len(done.stderr.splitlines()), 1, f"warnings: {done.stderr}")
    t.contains(done.stderr, "n.c: is newer than ")


def stripped():
    """Code without names is shown by instruction."""
    with tempfile.TemporaryDirectory() as name:
        place = pathlib.Path(name)
        never(place, "-s")
        for words in (["n"], ["--asm", "--min", "50"]):
            done = t.run(t.tally(), "annotate", *words, cwd=place)
            t.equal(done.returncode, 0, f"status; {done.stderr}")
            t.contains(done.stdout, "/n, code without names: ")
            t.contains(done.stdout, "retq")
        document = json.loads(t.run(t.tally(), "annotate", "-j", "n",
                                    cwd=place, check=True).stdout)
        t.equal([a["kind"] for a in document["annotations"]], ["image"], "kind")


def hot():
    done = annotate("x86_64", "--min", "5")
    t.equal(done.returncode, 0, "status")
    t.contains(done.stdout, "p.c:")


def moved():
    """A source that is elsewhere is read there."""
    place = record("x86_64", "-moved")
    (place / "new").mkdir()
    os.rename(place / "p.c", place / "new" / "p.c")
    source = ["--source", f"{place}={place}/new"]

    def run(*words):
        return t.run(t.tally(), "annotate", *words, "work", cwd=place)

    done = run()
    t.contains(done.stderr, "--source OLD=NEW")
    t.equal(done.returncode, 0, "status without the source")
    done = run(*source)
    t.equal(done.stderr, "", "warnings")
    t.contains(done.stdout, "sum += twice(i);")
    (place / "new" / "p.c").write_text("short\n\x1b[31mred\n" * 7)
    done = run(*source)
    t.contains(done.stderr, "the source is another")
    assert "\x1b" not in done.stdout, "an escape of the source"


def refused(status, word, *words):
    done = annotate("x86_64", *words)
    t.equal(done.returncode, status, f"status; {done.stderr!r}")
    t.equal(len(done.stderr.splitlines()), 1, f"lines of {done.stderr!r}")
    t.equal(done.stdout, "", "output")
    t.contains(done.stderr, word)


def repeated():
    once = annotate("x86_64", "work", "p.c")
    t.equal(once.returncode, 0, f"status; {once.stderr}")
    again = annotate("x86_64", "work", "p.c", "work", "p.c")
    t.equal((again.returncode, again.stdout), (0, once.stdout), "once more")


def cut_short():
    place = record("x86_64")
    whole = (place / "tally.data").read_bytes()
    (place / "cut.data").write_bytes(whole[:len(whole) - 200])
    done = annotate("x86_64", "-i", "cut.data", "work")
    t.contains(done.stderr, "cut short")
    (place / "bad.data").write_bytes(b"no record at all")
    refused(125, "bad.data", "-i", "bad.data", "work")


for isa in COMPILERS:
    t.case(f"a function, {isa}", function, isa)
    t.case(f"a file, {isa}", file, isa)
t.case("as text", text)
t.case("what never ran, in a file", never_ran)
t.case("a program without symbols", stripped)
t.case("the hottest functions", hot)
t.case("a source that moved", moved)
t.case("an unknown function", refused, 2, "did you mean work", "wrok")
t.case("an operand without letters", refused, 2, "an operand is", "")
t.case("a function and its file, twice", repeated)
t.case("two records", refused, 2, "one record", "-i", "tally.data", "-i", "x")
t.case("an unknown event", refused, 2, "cycles", "-e", "cycles", "work")
t.case("a missing record", refused, 125, "tally record writes one", "-i",
       "none.data")
t.case("a bad --source", refused, 2, "OLD=NEW", "--source", "x", "work")
t.case("a bad --min", refused, 2, "--min", "--min", "101")
t.case("records that are cut short or foreign", cut_short)
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name).resolve()
    t.main()
