#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Everyday programs on every machine: programs.py BUILD [WORD]

bzip2, busybox, Lua and SQLite, built for each instruction set of the machines
that programs can be counted on, as `tally list machines` has them: a machine
that lands later joins by itself.
"""
import hashlib
import pathlib
import tempfile

import tallytest as t

LINES = 80  # enough for each program to come to all that it does
made = tempfile.TemporaryDirectory(prefix="tally-programs-")
TEXT = str(pathlib.Path(made.name, "text"))
pathlib.Path(TEXT).write_text("".join(pathlib.Path(t.source(
    "LICENSES", "GPL-2.0-or-later.txt")).read_text().splitlines(True)[:LINES]))

LUA = """
local words, n = {}, 0
for word in io.lines(arg[1]) do
  for w in word:gmatch('%a+') do words[w] = (words[w] or 0) + 1 end
end
for _, count in pairs(words) do n = n + count end
print(n)
"""

# A shell's would depend on the digits of its parent's number.
AWK = """
{ for (i = 1; i <= NF; i++) { n++; seen[tolower($i)]++ } }
END {
  for (word in seen) if (seen[word] > most) most = seen[word]
  print NR, n, length(seen), most
}
"""

# How many reads a pipe takes is the scheduler's affair: this repeats roughly.
PIPES = """
for i in 1 2 3; do echo $i; done | sort -r | tr 123 abc
sha256sum < "$0"
tr -cs a-zA-Z '\\n' < "$0" | sort | uniq -c | sort -rn | head -n 1
gzip -c "$0" | gunzip -c | wc -c
awk '{ n += NF } END { print n }' "$0"
"""

ROWS = 300
SQL = f"""
CREATE TABLE word(id INTEGER PRIMARY KEY, name TEXT, size INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {ROWS})
INSERT INTO word SELECT i, printf('word%04d', (i * 7919) % 1009), i % 97 FROM n;
CREATE INDEX by_name ON word(name);
SELECT count(*), sum(size) FROM word WHERE name BETWEEN 'word02' AND 'word04';
SELECT size, count(*) FROM word GROUP BY size ORDER BY 2 DESC, 1 LIMIT 3;
DELETE FROM word WHERE size < 50;
SELECT count(*) FROM word;
"""

PROGRAMS = {
    "bzip2": ["-9c", TEXT],
    "busybox": ["awk", AWK, TEXT],
    "lua": ["-e", f"arg = {{[1] = '{TEXT}'}} {LUA}"],
    "sqlite": ["-batch", "-init", "/dev/null", ":memory:", SQL],
}


def awk_says():
    text = pathlib.Path(TEXT).read_text()
    words = text.lower().split()
    most = max(words.count(w) for w in set(words))
    return (f"{len(text.splitlines())} {len(words)} {len(set(words))} "
            f"{most}\n")


def pipes_say():
    data = pathlib.Path(TEXT).read_bytes()
    letters = "".join(c if c.isalpha() else " " for c in data.decode()).split()
    word = max(set(letters), key=letters.count)
    return (f"c\nb\na\n{hashlib.sha256(data).hexdigest()}  -\n"
            f"{letters.count(word):7} {word}\n{len(data)}\n"
            f"{len(data.split())}\n")


def lua_says():
    letters = "".join(c if c.isascii() and c.isalpha() else " "
                      for c in pathlib.Path(TEXT).read_text())
    return f"{len(letters.split())}\n"


def sql_says():
    rows = [(f"word{i * 7919 % 1009:04}", i % 97)
            for i in range(1, ROWS + 1)]
    between = [size for name, size in rows if "word02" <= name <= "word04"]
    sizes = [size for _, size in rows]
    groups = sorted((-sizes.count(s), s) for s in set(sizes))[:3]
    return (f"{len(between)}|{sum(between)}\n"
            + "".join(f"{s}|{-n}\n" for n, s in groups)
            + f"{sum(s >= 50 for s in sizes)}\n")


SAYS = {"busybox": awk_says, "lua": lua_says, "sqlite": sql_says}


def guest_isas():
    """Those that programs are built for."""
    return sorted({isa for m in t.listed() for isa in m["isas"]
                   if pathlib.Path(t.guest(f"words.{isa}")).exists()})


@t.once
def program(machine, isa, name):
    return t.count(["-m", machine, "--clean-env", "-e", "all"],
                   t.guest(f"{name}.{isa}"), *PROGRAMS[name])


def runs(machine, isa, name):
    """It says what it must, and counts what it did the first time."""
    c = program(machine, isa, name)
    t.equal(len(c.json["strands"]), 1, "strands")
    assert 1e5 < c[t.instructions(machine)] < 1e8, c[t.instructions(machine)]
    if name in SAYS:
        t.equal(c.stdout, SAYS[name](), "output")
    again = t.count(["-m", machine, "--clean-env", "-e", "all"],
                    t.guest(f"{name}.{isa}"), *PROGRAMS[name])
    t.equal(again.stdout, c.stdout, "output")
    t.same(again.values, c.values)


def pipes(machine, isa):
    """A shell with its applets, some in children of its own, some executed."""
    c = t.count(["-m", machine, "-e", "all"], t.guest(f"busybox.{isa}"), "ash",
                "-c", PIPES, TEXT)
    t.equal(c.stdout, pipes_say(), "output")
    t.equal(c.json["uncounted"], [], "uncounted")
    processes = len({s["pid"] for s in c.json["strands"]})
    assert processes > 10, processes


def adds_up(machine, isa, name):
    """An event of several signals is the sum of those that have one of them;
    the classes of instructions are the instructions; so are the strands."""
    c = program(machine, isa, name)
    single = t.singles(machine)
    for event, signals in t.event_signals(machine).items():
        if event in c.values and len(signals) > 1 and \
                all(single.get(s) in c.values for s in signals):
            t.equal(c[event], sum(c[single[s]] for s in signals), event)
    classes = [s for s in t.table("signals.toml")["signal"]
               if s.startswith("class_")]
    if all(s in single for s in classes):
        t.equal(sum(c[single[s]] for s in classes), c[t.instructions(machine)],
                "sum of the classes")
    for event in c.values:
        t.equal(sum(s["events"][event] for s in c.json["strands"]), c[event],
                f"{event}, sum of the strands")


def same_instructions(isa, name):
    """An instruction is one on each machine that has it."""
    counts = {m: program(m, isa, name)[t.instructions(m)]
              for m, isas in t.machines().items() if isa in isas}
    assert len(set(counts.values())) == 1, counts


def same_words(name):
    said = {isa: program(m, isa, name).stdout
            for m, isas in t.machines().items() for isa in isas}
    assert len(set(said.values())) == 1, {k: len(v) for k, v in said.items()}


def threads(machine, isa):
    """Threads with the whole model: those alike in what they do have done as
    much, but for the C library, where a thread that ends tries an atomic again
    if another thread came between; of those that sort, each has done
    something."""
    event = t.instructions(machine)
    for program, *words in (("threads", 4, 50000), ("crew", 2, 1)):
        c = t.count(["-m", machine, "-e", "all"],
                    t.guest(f"{program}.{isa}"), *words)
        rows = [s["events"][event] for s in c.json["strands"]]
        t.equal(len(rows), words[0] + 1, "strands")
        t.equal(sum(rows), c[event], "sum of the strands")
        assert min(rows) > 0, rows
        if program == "threads":
            assert max(rows[1:]) - min(rows[1:]) < 500, rows


def executes_out_of_order(machine):
    done = t.run(t.tally(), "show", "-m", machine, "time.model", check=True)
    return " value ooo:" in " ".join(done.stdout.split())


@t.once
def counted_alone(machine, isa):
    """The instructions of words, counted on a machine of the architecture."""
    event = t.instructions(machine)
    return t.count(["-m", machine, "-e", event], t.guest(f"words.{isa}"),
                   TEXT)[event]


def foreign(machine, isa):
    """It runs, as on its own machines; nothing is exact, and that is said."""
    program = [t.guest(f"words.{isa}"), TEXT]
    c = t.count(["-m", machine, "--foreign", "-e", "all"], *program)
    t.equal(c.json["foreign"], True, "foreign")
    exact = [e["name"] for e in c.json["events"] if e["fidelity"] == "exact"]
    t.equal(exact, [], "exact")
    for own in (m for m, isas in t.machines().items() if isa in isas):
        if t.instructions(machine):
            t.equal(c[t.instructions(machine)], counted_alone(own, isa),
                    t.instructions(own))
    done = t.run(t.tally(), "count", "-m", machine, "--foreign", "-e", "all",
                 "--", *program)
    t.contains(done.stderr, f"a program for {isa} on ")
    t.contains(done.stderr, "nothing is exact")
    unknown = isa.startswith(("mips64", "sparc64"))
    t.equal("those of time.model=sum" in done.stderr,
            unknown and executes_out_of_order(machine), "the note")
    if not t.machines()[machine]:
        return  # It has no programs of its own: none is refused.
    refused = t.run(t.tally(), "count", "-m", machine, "--", *program)
    t.equal(refused.returncode, 2, "status without --foreign")
    t.contains(refused.stderr, "--foreign runs it all the same")


def not_built(isa):
    raise t.Skip(f"build/guests has no programs of {isa}")


def add_cases():
    built = guest_isas()
    for isa in {isa for isas in t.machines().values() for isa in isas}:
        if isa not in built:
            t.case(f"{isa}: everyday programs", not_built, isa)
    for machine, isas in t.machines().items():
        for isa in sorted(set(isas) & set(built)):
            for name in PROGRAMS:
                at = f"{machine}, {isa}: {name}"
                t.case(f"{at} runs, and repeats", runs, machine, isa, name)
                t.case(f"{at} adds up", adds_up, machine, isa, name)
            t.case(f"{machine}, {isa}: busybox's pipes", pipes, machine, isa)
            t.case(f"{machine}, {isa}: threads", threads, machine, isa)
        for isa in sorted(set(built) - set(isas)):
            t.case(f"{machine}: {isa} with --foreign", foreign, machine, isa)
    for name in PROGRAMS:
        for isa in built:
            t.case(f"{name}, {isa}: as many instructions on each machine",
                   same_instructions, isa, name)
        t.case(f"{name}: all instruction sets say the same", same_words, name)


if __name__ == "__main__":
    t.main(add_cases)
