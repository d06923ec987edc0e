#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally diff on records of small programs, and on counts: diff.py BUILD [WORD]

For every event the changes of the rows, of those left out and of what is
elsewhere add up to the difference of the totals, and the values of the rows are
those that tally report has of each record alone.
"""
import csv
import html.parser
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unicodedata

import tallytest as t

BEFORE = """\
#include <stdio.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned
work(unsigned n)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += i * 3; /* slower */
    return sum;
}

__attribute__((noinline)) static unsigned
old_name(unsigned n)
{
    unsigned sum = 1;
    for (unsigned i = 0; i < n; i++)
        sum ^= sum * i; /* renamed */
    return sum;
}

__attribute__((noinline)) static unsigned
steady(unsigned n)
{
    unsigned sum = 1;
    for (unsigned i = 0; i < n; i++)
        sum += sum / 3; /* steady */
    return sum;
}

int
main(void)
{
    sink = work(9000);
    sink += old_name(7000);
    sink += steady(5000);
    return 0;
}
"""
# A line above everything, a function made slower and one with another name.
AFTER = ("/* one line more */\n" + BEFORE).replace("old_name", "new_name") \
    .replace("i * 3;", "i * 3 + sink;")

COMPILERS = {"x86_64": "gcc", "sparc64": "sparc64-linux-gnu-gcc",
             "mips64": "mips64-linux-gnuabi64-gcc"}
EVENTS = {"host-model": "instructions,branches,cache-misses,cycles",
          "ultrasparc-t2": "All_instr,L2_dmiss_ld,cycles",
          "sparc-t4": "instructions,cache-misses,cycles",
          "r10000": "instructions,cache-misses,cycles",
          "montecito": "instructions,cycles"}
KEYS = ["function", "line", "file", "image", "thread", "process", "caller",
        "instruction", "function,line", "image,file", "thread,function",
        "caller,function"]

folder = None


def number_of(source, word):
    return 1 + next(i for i, line in enumerate(source.splitlines())
                    if f"/* {word} */" in line)


@t.once
def built(isa, name, text, *options):
    """A program built in a folder of its own, with the debug information."""
    compiler = COMPILERS[isa]
    if not shutil.which(compiler) or \
            (isa == "x86_64" and os.uname().machine != "x86_64"):
        raise t.Skip(f"no {compiler}")
    place = folder / f"{isa}-{name}"
    place.mkdir()
    (place / "app.c").write_text(text)
    subprocess.run([compiler, "-g", "-O1", "-static", "-Wl,--build-id", "-o",
                    "app", *options, "app.c"], cwd=place, check=True)
    return place


@t.once
def record(name, machine, *words, cwd=None, options=()):
    path = folder / f"{name}.data"
    done = t.run(t.tally(), "record", "-q", "-o", path, "-m", machine,
                 "--clean-env", "-e", EVENTS[machine], *options, "--", *words,
                 cwd=cwd)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return path


def recorded(isa, name, text, machine):
    place = built(isa, name, text)
    return record(f"{isa}-{name}-{machine}", machine, "./app", cwd=place)


def builds(isa="x86_64", machine="host-model"):
    return (recorded(isa, "before", BEFORE, machine),
            recorded(isa, "after", AFTER, machine))


def diff(*words, status=0, **how):
    done = t.run(t.tally(), "diff", *words, **how)
    t.equal(done.returncode, status, f"status; {done.stderr!r}")
    return done.stdout


def document(*words):
    return json.loads(diff("-j", *words))


def report(path, keys):
    done = t.run(t.tally(), "report", "-j", "--by", keys, path)
    t.equal(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)


def refused(status, said, *words):
    done = t.run(t.tally(), "diff", *words)
    t.equal((done.returncode, done.stdout), (status, ""), done.stderr)
    t.contains(done.stderr, said)
    t.equal(done.stderr.count("\n"), 1, "lines of the error")


def adds_up(found):
    """Checks the sums of a document: changes, and both sides alone."""
    for event in found["events"]:
        name = event["name"]
        t.equal(event["after"] - event["before"], event["change"], name)
        for side in ("before", "after"):
            t.equal(sum(row[side][name] for row in found["rows"])
                    + found["more"][side][name] + event["elsewhere"][side],
                    event[side], f"{found['by']}: {name} {side}")
        change = (event["elsewhere"]["after"] - event["elsewhere"]["before"]
                  + sum(row["change"][name] for row in found["rows"])
                  + found["more"]["change"][name])
        t.equal(change, event["change"], f"{found['by']}: change of {name}")
    for row in found["rows"]:
        for name, value in row["change"].items():
            t.equal(value, row["after"][name] - row["before"][name])
            if row["state"] == "new":
                t.equal(row["before"][name], 0)
            if row["state"] == "gone":
                t.equal(row["after"][name], 0)


def functions(found):
    return {row["keys"]["function"]: row for row in found["rows"]}


def made_slower(isa, machine):
    """A function made slower, one renamed, lines inserted above."""
    before, after = builds(isa, machine)
    found = document(before, after)
    adds_up(found)
    event = found["events"][0]["name"]
    rows = functions(found)
    assert rows["work"]["change"][event] >= 9000, rows["work"]
    t.equal(rows["work"]["state"], "both")
    t.equal((rows["old_name"]["state"], rows["new_name"]["state"]),
            ("gone", "new"))
    t.equal(rows["old_name"]["before"], rows["new_name"]["after"]
            | {name: rows["old_name"]["before"][name]
               for name in rows["old_name"]["before"] if name != event})
    assert "steady" not in rows or rows["steady"]["change"][event] == 0
    changes = [abs(row["change"][event]) for row in found["rows"]]
    t.equal(changes, sorted(changes, reverse=True), "order")
    alone = {row["keys"]["function"]: row["values"]
             for row in report(before, "function")["rows"]}
    names = {e["name"]: e["names"]["before"] for e in found["events"]}
    for name in ("work", "old_name"):
        t.equal({names[e]: v for e, v in rows[name]["before"].items()},
                alone[name])
    text = diff(before, after).splitlines()
    assert re.fullmatch(rf"{re.escape(event)} rose by [\d.]+ % \(\+[\d,]+\), "
                        r"most in work \(\+[\d,]+\)", text[0]), text[0]
    assert any("old_name (gone)" in line for line in text), text
    assert any("new_name (new)" in line for line in text), text


for pair in (("x86_64", "host-model"), ("sparc64", "ultrasparc-t2"),
             ("mips64", "r10000")):
    t.case(f"a slower function on {pair[1]}", made_slower, *pair)


def lines_of(found, event):
    """{line after: row} of the rows of app.c that are on both sides."""
    return {row["keys"]["line"]: row for row in found["rows"]
            if row["state"] == "both" and row["keys"]["file"]
            and row["keys"]["file"].endswith("/app.c")}


@t.named("lines go by the texts of the sources")
def by_text():
    before, after = builds()
    found = document("--by", "line", "-e", "instructions", before, after)
    adds_up(found)
    rows = lines_of(found, "instructions")
    slower = number_of(AFTER, "slower")
    t.equal(list(rows), [slower], "lines on both sides that changed")
    row = rows[slower]
    t.equal(row["keys_before"]["line"], number_of(BEFORE, "slower"))
    t.equal(row["edited"], True)
    # The renamed function's lines have the text that they had.
    t.equal([row for row in found["rows"] if row["state"] != "both"], [])
    t.equal(found["notes"], [])
    by_both = document("--by", "function,line", "-e", "instructions", before,
                       after)
    adds_up(by_both)
    renamed = number_of(AFTER, "renamed")
    t.equal({row["state"] for row in by_both["rows"]
             if row["keys"]["line"] in (renamed, renamed - 1)},
            {"new", "gone"})
    t.contains(diff("--by", "line", before, after),
               f"app.c:{slower} (edited, was line {slower - 1})")


@t.once
def in_one_place():
    """Two builds in one folder: the program and the text of before are gone;
    copies are kept elsewhere."""
    place = folder / "one-place"
    kept = folder / "kept"
    built("x86_64", "before", BEFORE)  # skips where nothing can be built
    place.mkdir()
    kept.mkdir()
    paths = []
    for name, text in (("first", BEFORE), ("second", AFTER)):
        (place / "app.c").write_text(text)
        subprocess.run(["gcc", "-g", "-O1", "-static", "-Wl,--build-id", "-o",
                        "app", "app.c"], cwd=place, check=True)
        paths.append(record(f"one-place-{name}", "host-model", "./app",
                            cwd=place))
        if name == "first":
            record("one-place-nameless", "host-model", "./app", cwd=place,
                   options=("--no-names",))
            shutil.copy(place / "app", kept)
            shutil.copy(place / "app.c", kept)
    return (place, kept, *paths)


@t.named("one text is there: lines go by their place in the function")
def by_function():
    place, kept, before, after = in_one_place()
    image = ["--image-before", f"{place}={kept}"]
    found = document("--by", "line", "-e", "instructions", *image, before,
                     after)
    adds_up(found)
    slower = number_of(AFTER, "slower")
    row = lines_of(found, "instructions")[slower]
    t.equal(row["keys_before"]["line"], slower - 1)
    t.equal(row["edited"], False)
    # What is known of the renamed function is its name, which is gone.
    renamed = number_of(AFTER, "renamed")
    t.equal({row["state"] for row in found["rows"]
             if row["keys"]["line"] in (renamed, renamed - 1)},
            {"new", "gone"})
    note, = found["notes"]
    t.contains(note, "lines of app.c are matched by their place in the "
                     "function: the text of the build before is not there "
                     "(--source-before OLD=NEW")
    found = document("--by", "line", "-e", "instructions", *image,
                     "--source-before", f"{place}={kept}", before, after)
    t.equal(found["notes"], [])
    t.equal(lines_of(found, "instructions")[slower]["edited"], True)
    # A text that is too short for the lines that ran is another one.
    (folder / "short").mkdir()
    (folder / "short" / "app.c").write_text("int x;\n")
    found = document("--by", "line", *image, "--source-before",
                     f"{place}={folder}/short", before, after)
    t.contains(found["notes"][0], "by their place in the function")


@t.named("a program that was built anew in its place has the record's names")
def kept_names():
    _, _, before, after = in_one_place()
    done = t.run(t.tally(), "diff", "-j", before, after)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "its names are those that the record keeps")
    found = json.loads(done.stdout)
    adds_up(found)
    assert not any("no names" in note for note in found["notes"]), found
    assert functions(found)["work"]["state"] not in ("new", "gone")


@t.named("without names it has none")
def no_names():
    _, _, _, after = in_one_place()
    before = folder / "one-place-nameless.data"
    done = t.run(t.tally(), "diff", "-j", before, after)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "has another build id than the file that ran")
    found = json.loads(done.stdout)
    adds_up(found)
    t.contains(found["notes"][0], "no names before in app: the file that ran "
                                  "is gone; --image-before OLD=NEW")
    assert functions(found)["work"]["state"] == "new"


@t.named("a copy of another name is the same image")
def renamed_program():
    place = built("x86_64", "before", BEFORE)
    shutil.copy(place / "app", place / "app.old")
    before = record("renamed", "host-model", "./app.old", cwd=place)
    found = document(before, recorded("x86_64", "after", AFTER, "host-model"))
    t.equal(functions(found)["work"]["state"], "both")
    assert any("taken for one image: app.old before, app after" in note
               for note in found["notes"]), found["notes"]
    assert any("commands differ" in note for note in found["notes"])


@t.named("a record against itself has no differences")
def no_difference():
    before, _ = builds()
    for keys in KEYS:
        found = document("--by", keys, before, before)
        adds_up(found)
        t.equal((found["rows"], found["more"]["rows"], found["notes"]),
                ([], 0, []), keys)
        assert found["more"]["unchanged"] > 0
    text = diff(before, before)
    t.equal(text.splitlines()[0], "no difference: 4 events have the same "
                                  "counts on both sides")
    t.contains(diff("--format", "md", before, before), "**no difference**")


INLINED = """\
static INLINED int
helper(int n)
{
    return n * 7 % 11;
}

int
main()
{
    volatile int sum = 0;
    for (int i = 0; i < 3000; i++)
        sum = sum + helper(i);
    return sum == 3;
}
"""


@t.named("a function that is copied into its caller now is the same function")
def inlined_now():
    if not shutil.which("g++") or os.uname().machine != "x86_64":
        raise t.Skip("no g++")
    paths = []
    for name, how in (("apart", "__attribute__((noinline))"),
                      ("copied", "inline __attribute__((always_inline))")):
        place = folder / name
        place.mkdir()
        (place / "app.cc").write_text(INLINED)
        subprocess.run(["g++", "-g", "-O1", "-Wl,--build-id",
                        f"-DINLINED={how}", "-o", "app", "app.cc"],
                       cwd=place, check=True)
        paths.append(record(f"inlined-{name}", "host-model", "./app",
                            cwd=place))
    found = document(*paths)
    adds_up(found)
    row, = [row for row in found["rows"]
            if (row["keys"]["function"] or "").startswith("helper")]
    # C++ has the name of the function itself with its arguments.
    t.equal([row[keys]["function"] for keys in ("keys_before", "keys")],
            ["helper(int)", "helper"])
    t.equal(row["inlined"], {"before": False, "after": True})
    t.contains(diff(*paths), "helper (inlined now)")
    lines = document("--by", "line", "-e", "instructions", *paths)
    adds_up(lines)
    mine = [row for row in lines["rows"]
            if (row["keys"]["file"] or "").endswith("/app.cc")]
    assert mine and all(row["keys"]["line"] == row["keys_before"]["line"]
                        for row in mine if row["state"] == "both"), mine


LISTS = """\
#include <stdlib.h>

struct node {
    struct node *next;
    char pad[120];
};

static char table[1 << 16];

static struct node *
make_list(int count)
{
    struct node *first = NULL;
    for (int i = 0; i < count; i++) {
        struct node *one = malloc(sizeof(*one)); /* allocated */
        one->next = first;
        first = one;
    }
    return first;
}

int
main(void)
{
    long sum = 0;
    struct node *first = make_list(COUNT);
    for (int i = 0; i < 3; i++)
        for (struct node *one = first; one; one = one->next)
            sum += (long)one;
    for (int i = 0; i < 1 << 16; i += 64)
        table[i]++;
    return sum == 1;
}
"""


@t.named("objects are matched without the lines of their callers")
def objects():
    if not shutil.which("gcc") or os.uname().machine != "x86_64":
        raise t.Skip("no gcc")
    paths = []
    # The file has another name, as it may have in a copy.
    for name, text, count in (("list", LISTS, 1000),
                              ("list2", "\n" + LISTS, 1500)):
        place = folder / f"objects-{name}"
        place.mkdir()
        (place / f"{name}.c").write_text(text)
        subprocess.run(["gcc", "-g", "-O1", "-Wl,--build-id",
                        f"-DCOUNT={count}", "-o", name, f"{name}.c"],
                       cwd=place, check=True)
        paths.append(record(f"objects-{name}", "host-model", f"./{name}",
                            cwd=place, options=(
                                "--objects", "-e", "L1-dcache-load-misses")))
    for keys in ("object", "object,function", "object,line"):
        adds_up(document("--by", keys, *paths))
    found = document("--by", "object", "-e", "L1-dcache-load-misses", *paths)
    rows = {row["keys"]["object"]: row for row in found["rows"]}
    line = number_of("\n" + LISTS, "allocated")
    row = rows[f"malloc in make_list (list2.c:{line}) from main"]
    t.equal(row["keys_before"]["object"],
            f"malloc in make_list (list.c:{line - 1}) from main")
    assert row["change"]["L1-dcache-load-misses"] > 0, row
    # The table is the same one, of a program with another name.
    assert "table in list2" not in rows, rows
    refused(2, "record it with --objects", "--by", "object", paths[0],
            record("no-objects", "host-model", "./list",
                   cwd=folder / "objects-list"))


def words(name):
    return [t.guest("words.x86_64"), t.source(name)]


def crews(name, *options):
    """Records of a program with two threads and with four."""
    return [record(f"{name}{threads}", "ultrasparc-t2",
                   t.guest("crew.sparc64"), threads, options=options)
            for threads in ("2", "4")]


PAIRS = {
    "x86_64 builds": lambda: builds(),
    "sparc64 builds": lambda: builds("sparc64", "sparc-t4"),
    "inputs": lambda: (record("readme", "host-model", *words("README.md")),
                       record("contributing", "host-model",
                              *words("CONTRIBUTING.md"))),
    "threads": lambda: crews("turns"),
    "processes": lambda: (record("forker", "sparc-t4",
                                 t.guest("forker.sparc64"), "fork",
                                 t.guest("hello.sparc64")),
                          record("crew1", "sparc-t4",
                                 t.guest("crew.sparc64"), "1")),
    "mips64": lambda: (record("arrays", "r10000", t.guest("arrays.mips64")),
                       record("hello", "r10000", t.guest("hello.mips64"))),
}


def sums(name):
    """By every key, sums are the totals, and those of tally report."""
    before, after = PAIRS[name]()
    for keys in KEYS:
        both = [report(path, keys) for path in (before, after)]
        for more in ((), ("--top", "3", "--min", "0.5"), ("--match", "*a*"),
                     ("--no-inline",)):
            found = document("--by", keys, *more, before, after)
            t.equal(found["by"], keys.split(","))
            adds_up(found)
            for event in found["events"]:
                for side, alone in zip(("before", "after"), both):
                    total, = [e["total"] for e in alone["events"]
                              if e["name"] == event["names"][side]]
                    t.equal(event[side], total)
    rows = list(csv.DictReader(io.StringIO(diff("-x", ",", "--top", "2",
                                                before, after))))
    for event in found["events"]:
        t.equal(sum(int(row[event["name"] + " change"]) for row in rows),
                event["change"], "CSV")


for pair in PAIRS:
    t.case(f"sums: {pair}", sums, pair)


@t.named("records of different machines are compared, and a line says so")
def machines():
    program = t.guest("crew.sparc64")
    before = record("crew-t2", "ultrasparc-t2", program, "1")
    after = record("crew-t4", "sparc-t4", program, "1")
    found = document(before, after)
    adds_up(found)
    t.contains("\n".join(found["notes"]), "the machines differ: ultrasparc-t2 "
                                          "before, sparc-t4 after")
    # cycles is asked for on both, under two names of the machines'.
    t.equal([e["name"] for e in found["events"]], ["cycles"])
    t.contains("\n".join(found["notes"]), "only before: All_instr, L2_dmiss_ld")
    refused(2, f"{after} has no event All_instr", "-e", "All_instr", before,
            after)
    nothing = record("crew-branches", "ultrasparc-t2", program, "1",
                     options=("-e", "Br_completed"))
    t.equal(document(nothing, before)["events"][0]["name"], "All_instr")


@t.named("threads that ran side by side vary, those that took turns do not")
def varies():
    words = "varies: another run of the same program differs"
    for paths, standing in ((crews("side-by-side", "--parallel"), "varies"),
                            (crews("turns"), "exact")):
        event = document(*paths)["events"][0]
        t.equal((event["standing"], event["exact"]),
                ({"before": standing, "after": standing}, standing == "exact"))
        t.equal(words in diff(*paths), standing == "varies", "what it says")


@t.named("--inclusive, --sort, --match and -e")
def choice():
    before, after = builds()
    found = document("--inclusive", before, after)
    event = found["events"][0]["name"]
    rows = functions(found)
    t.equal(rows["main"]["inclusive"]["change"][event],
            sum(rows[f]["change"][event]
                for f in ("main", "work", "old_name", "new_name") if f in rows))
    t.contains(diff("--inclusive", before, after), "with what each row calls")
    found = document("--sort", "name", before, after)
    names = [row["keys"]["function"] for row in found["rows"]]
    t.equal(names, sorted(names, key=str.encode))
    found = document("--match", "*_name", before, after)
    adds_up(found)
    t.equal(set(functions(found)), {"old_name", "new_name"})
    found = document("-e", "branches", "--sort", "instr", before, after)
    t.equal([e["name"] for e in found["events"]], ["branches", "instructions"])
    t.equal(found["sort"], "instructions")
    refused(2, "did you mean instructions?", "-e", "instrcutions", before,
            after)


@t.named("a record that is cut short, and one that is damaged")
def damaged():
    before, after = builds()
    whole = before.read_bytes()
    path = folder / "cut.data"
    path.write_bytes(whole[:-200])
    done = t.run(t.tally(), "diff", "-j", path, after)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "warning: ")
    found = json.loads(done.stdout)
    adds_up(found)
    t.contains("\n".join(found["notes"]), "is cut short")
    data = bytearray(whole)
    data[len(data) // 2] ^= 4
    path = folder / "damaged.data"
    path.write_bytes(data)
    out = folder / "damaged.txt"
    refused(125, str(path), "-o", out, path, after)
    refused(125, str(path), "-o", out, after, path)
    assert not out.exists()
    path.write_bytes(whole[:5])
    refused(125, "neither a record of tally record nor", path, after)


@t.named("without callers there is no --inclusive")
def no_callers():
    before, after = builds()
    path = record("no-callers", "host-model", "./app",
                  cwd=built("x86_64", "before", BEFORE),
                  options=("--no-callers",))
    refused(2, "recorded with --no-callers", "--inclusive", path, after)
    refused(2, "recorded with --no-callers", "--by", "caller", before, path)
    adds_up(document(path, after))


@t.once
def counted(name, options, program=("README.md",)):
    path = folder / f"{name}.json"
    done = t.run(t.tally(), "count", "-j", "-o", path, *options, "--",
                 *words(*program))
    t.equal(done.returncode, 0, done.stderr)
    return path


def made(name, **members):
    """A report of tally count as if made elsewhere."""
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"schema": 1, "machine": "m", "program": "p",
                                "events": [], **members}))
    return path


@t.named("two counts")
def counts():
    options = ("-m", "host-model", "--clean-env", "-e",
               "instructions,cache-misses", "-M", "ipc")
    before = counted("count-readme", options)
    after = counted("count-contributing", options, ("CONTRIBUTING.md",))
    found = document(before, after)
    t.equal(found["of"], "counts")
    for side, path in (("before", before), ("after", after)):
        have = json.loads(path.read_text())
        t.equal({e["name"]: e[side] for e in found["events"]
                 if not e["metric"]},
                {e["name"]: e["value"] for e in have["events"]})
    first = found["events"][0]
    t.equal(first["exact"], True)
    t.equal(first["change"], first["after"] - first["before"])
    assert any(e["metric"] and e["name"] == "ipc" for e in found["events"])
    t.contains("\n".join(found["notes"]), "the commands differ")
    text = diff(before, after)
    t.contains(text.splitlines()[0], "instructions rose by ")
    rows = list(csv.DictReader(io.StringIO(diff("-x", ",", before, after))))
    t.equal(rows[0]["change"], str(first["change"]))
    t.equal(diff(before, before).split(":")[0], "no difference")
    only = document("-e", "cache-misses,ipc", before, after)
    t.equal([e["name"] for e in only["events"]], ["cache-misses", "ipc"])
    refused(2, "the reports have no event 'nothing'", "-e", "nothing", before,
            after)
    refused(2, "--by is for records", "--by", "line", before, after)
    done = t.run("sh", "-c", f"cat '{before}' | {t.tally()} diff /dev/stdin "
                             f"'{after}'")
    t.equal(done.returncode, 0, done.stderr)


@t.named("counts of several runs: the spread, and reasons")
def spread():
    def event(name, value, **more):
        return {"name": name, "value": value, "fidelity": "measured"} | more
    runs = {"mean": 100.0, "stddev": 2.0, "runs": 3}
    before = made("runs-before", events=[
        event("near", 100, **runs), event("far", 100, **runs),
        event("table", 100, **runs),
        {"name": "none", "value": None, "code": "no-pmu", "reason": "no <PMU>"},
        event("energy", 1.5, unit="Joules"), event("old", 1, fidelity="exact")],
        runs=[{"values": [0, 0, 99, None, 1.5, 1]},
              {"values": [9, 200, 102, None, 1.5, 1]}])
    after = made("runs-after", events=[
        event("near", 103, **runs | {"mean": 103.0}),
        event("far", 150, **runs | {"mean": 150.0}), event("table", 103),
        event("none", 5), event("energy", 2.5, unit="Joules"),
        event("energy", 9, unit="kWh")])
    found = {(e["name"], e["unit"]): e for e in document(before, after)["events"]}
    # Of the report before, --table has each run.
    near, far, table = (found[name, ""] for name in ("near", "far", "table"))
    t.equal(near["ranges"]["before"], {"low": 0.0, "high": 9.0, "of": "all runs"})
    t.equal((near["ranges_overlap"], far["ranges_overlap"]), (False, True))
    t.equal(far["ranges"]["after"], {"low": 146.0, "high": 154.0,
                                     "of": "two standard deviations"})
    t.equal((table["ranges"]["after"], table["ranges_overlap"]), (None, False))
    t.equal(found["none", ""]["lacks_before"],
            {"code": "no-pmu", "reason": "no <PMU>"})
    t.equal(found["none", ""]["change"], None)
    t.equal(found["energy", "Joules"]["change"], 1.0)
    t.equal(found["energy", "kWh"]["before"], None)
    t.equal(found["old", ""]["lacks_after"]["code"], "not-asked")
    text = diff(before, after)
    t.contains(text, "no count before: no <PMU>")
    t.contains(text, "ranges overlap")
    t.contains(text, "ranges are apart")
    t.contains(diff("--format", "html", before, after), "no &lt;PMU&gt;")


@t.named("what is no report of one run")
def foreign():
    good = made("good", events=[{"name": "a", "value": 1}])
    before, _ = builds()
    intervals = counted("intervals", ("-m", "host-model", "-I", "1", "-e",
                                      "instructions"))
    refused(125, "has intervals (-I)", good, intervals)
    refused(2, "is a record and", before, good)
    refused(2, "is a record and", good, before)
    refused(125, "neither a record", good, t.source("README.md"))
    report_json = folder / "report-of-record.json"
    report_json.write_text(t.run(t.tally(), "report", "-j", before).stdout)
    refused(125, "is no report of tally count -j", good, report_json)
    for text, said in [
            ("{", "no JSON"), ('{"a": 1}', "is no report of tally count -j"),
            (good.read_text() * 2, "has several reports"),
            ("{" * 100000, "no JSON"), ('{"schema": 1e400}', "no JSON")]:
        path = folder / "bad.json"
        path.write_text(text)
        refused(125, said, good, path)


@t.named("-o writes whole files or none")
def output():
    before, after = builds()
    out = folder / "diff.txt"
    t.equal(diff("-o", out, before, after), "")
    t.equal(out.read_text(), diff(before, after))
    shutil.copy(before, folder / "own.data")
    whole = before.read_bytes()
    refused(2, "would replace a file that is compared", "-o",
            folder / "own.data", folder / "own.data", after)
    t.equal((folder / "own.data").read_bytes(), whole)
    for form in ("text", "markdown", "csv", "json", "html"):
        done = t.run(t.tally(), "diff", "--format", form, "-o",
                     folder / "no" / "file", before, after)
        t.equal((done.returncode, done.stdout), (2, ""))
        with open("/dev/full", "w") as full:
            done = t.run(t.tally(), "diff", "--format", form, before, after,
                         stdout=full, stderr=subprocess.PIPE)
        t.equal(done.returncode, 125, form)
        t.contains(done.stderr, "No space left on device")
    colored = diff("--color", "always", before, after)
    assert "\033[31m+" in colored and "\033[32m-" in colored, colored


class Page(html.parser.HTMLParser):
    """A page's tags, attributes and texts; every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.open, self.texts = set(), [], [], []
        self.feed(text)
        self.close()
        t.equal(self.open, [], "open tags")

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        t.equal(self.open.pop(), tag, "closed tag")

    def handle_data(self, data):
        self.texts.append(data)


@t.named("a page needs neither network nor script")
def page():
    before, after = builds()
    found = Page(diff("--format", "html", "--by", "function,line", before,
                      after))
    assert not found.tags & {"script", "link", "img", "iframe", "a"}, found.tags
    assert not {name for name, _ in found.attributes} & {"src", "href"}
    t.contains("".join(found.texts), "work")
    t.contains("".join(found.texts), "rose by")


# Markup of every kind, an escape sequence, what turns text, and a newline.
HOSTILE = "x\x1b[31m<script>&|`*_[a](b)@you\u202e\n# =1"


@t.named("names that a stranger chose")
def hostile():
    strange = made("strange", machine=HOSTILE, program=HOSTILE, events=[
        {"name": HOSTILE, "value": 1, "fidelity": HOSTILE, "unit": HOSTILE},
        {"name": "b", "value": None, "code": HOSTILE, "reason": HOSTILE}])
    other = made("other", machine="n", program=HOSTILE, events=[
        {"name": HOSTILE, "value": 5, "fidelity": "exact", "unit": HOSTILE}])
    place = folder / HOSTILE.replace("/", "").replace("\n", "\n")
    built("x86_64", "before", BEFORE)
    place.mkdir()
    shutil.copy(folder / "x86_64-before" / "app", place / HOSTILE)
    program = record("hostile", "host-model", str(place / HOSTILE))
    _, after = builds()
    for pair in ((strange, other), (other, strange), (program, after)):
        for form in ("text", "markdown"):
            text = diff("--format", form, *pair)
            for c in text.replace("\n", ""):
                assert unicodedata.category(c) != "Cc" and c != "\u202e", text
        # Outside code nothing of the name is left.
        plain = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)
        for bad in ("script", "@you", "[a]", "*_"):
            assert bad not in plain, plain
        found = Page(diff("--format", "html", *pair))
        assert "script" not in found.tags
        t.contains("".join(found.texts), "<script>&|`")
        json.loads(diff("-j", *pair))
        rows = list(csv.reader(io.StringIO(diff("-x", ",", *pair), newline="")))
        t.equal(len({len(row) for row in rows}), 1, "cells of CSV")


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
