#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally report on records of whole programs: report.py BUILD [WORD]

By every key, the rows and what is elsewhere add up to the totals, which are
those of tally count.
"""
import csv
import io
import itertools
import json
import os
import pathlib
import platform
import pty
import shutil
import tempfile

import record_help
import recordfile
import tallytest as t

KEYS = ["function", "line", "instruction", "file", "image", "thread",
        "process", "file,function", "thread,function", "process,image,line"]
EVENTS = "instructions,branches,L1-dcache-stores,cache-misses,branch-misses,cycles"
# The same addresses and random bytes in each run.
STEADY = ["-m", "host-model", "--clean-env"]

folder = None


def words():
    return [t.guest("words.x86_64"), t.source("CONTRIBUTING.md")]


def crew():
    return [t.guest("crew.sparc64"), "3"]


def copies():
    """A program with debug information, of this computer's kind."""
    program = t.build / "test" / "names" / "names_dwarf5"
    if platform.machine() != "x86_64" or not program.exists():
        raise t.Skip("no program with debug information for a machine")
    return [str(program)]


@t.once
def record(name, program, *options):
    """Records a program once; returns the record's path."""
    path = folder / f"{name}.data"
    done = t.run(t.tally(), "record", "-q", "-o", path, *options, "--",
                 *program)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return path


def record_words():
    return record("words", tuple(words()), *STEADY, "-e", EVENTS)


def record_copies():
    return record("copies", tuple(copies()), *STEADY, "-e", EVENTS)


def report(path, *options, **how):
    done = t.run(t.tally(), "report", *options, path, **how)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return done.stdout


def report_json(path, *options):
    return json.loads(report(path, "-j", *options))


def adds_up(found):
    """Checks that a report's rows add up; returns the totals."""
    totals = {}
    for event in found["events"]:
        name = event["name"]
        rows = [*found["rows"], *([found["more"]] if "more" in found else [])]
        t.equal(sum(row["values"][name] for row in rows) + event["elsewhere"],
                event["total"], f"{found['by']}: {name}")
        totals[name] = event["total"]
    return totals


def same_as_count(path, program, *options):
    counted = t.count(options, *program)
    for keys in KEYS:
        for more in ((), ("--no-inline",), ("--top", "3", "--min", "0.5")):
            found = report_json(path, "--by", keys, *more)
            t.equal(found["by"], keys.split(","))
            t.same(adds_up(found), counted.values)


@t.named("by every key, a program's counts are those of tally count")
def totals_words():
    same_as_count(record_words(), words(), *STEADY, "-e", EVENTS)


@t.named("by every key, the counts of a program with debug information")
def totals_copies():
    same_as_count(record_copies(), copies(), *STEADY, "-e", EVENTS)


@t.named("by every key, the counts of threads")
def totals_threads():
    path = record("crew", tuple(crew()), "-m", "ultrasparc-t2", "-e",
                  "All_instr")
    for keys in KEYS:
        found = report_json(path, "--by", keys)
        t.equal(list(adds_up(found)), ["All_instr"])
    threads = report_json(path, "--by", "thread")["rows"]
    assert len(threads) > 1, threads
    t.equal(len({row["keys"]["thread"] for row in threads}), len(threads))


def functions(found):
    return {row["keys"]["function"]: row for row in found["rows"]
            if row["keys"]["function"]}


@t.named("a copied function has its own row, unless --no-inline")
def inlined():
    path = record_copies()
    found = functions(report_json(path))
    assert found["copies_inner"]["inlined"], found["copies_inner"]
    assert not found["copies_outer"]["inlined"], found["copies_outer"]
    t.equal(pathlib.Path(found["copies_outer"]["keys"]["function_file"]).name,
            "copies.c")
    t.contains(report(path), "copies_inner (inlined)")
    whole = functions(report_json(path, "--no-inline"))
    assert "copies_inner" not in whole, sorted(whole)
    # The real functions have what the copies had.
    own = [f for name, f in found.items() if name.startswith("copies_")]
    real = [f for name, f in whole.items() if name.startswith("copies_")]
    t.equal(sum(f["values"]["instructions"] for f in own),
            sum(f["values"]["instructions"] for f in real))


@t.named("lines are those of the source")
def lines():
    found = report_json(record_copies(), "--by", "line", "--match",
                        "copies.c:")
    source = pathlib.Path(t.source("test", "names", "copies.c")).read_text()
    text = source.splitlines()
    assert found["rows"], found
    shown = {text[row["keys"]["line"] - 1].strip() for row in found["rows"]}
    assert "copies_sink += i * x;" in shown, shown
    adds_up(found)


@t.named("CSV: columns add up, and text says the same")
def forms():
    path = record_words()
    found = report_json(path)
    rows = list(csv.reader(io.StringIO(report(path, "--format", "csv"))))
    events = found["events"]
    first = len(rows[0]) - 2 * len(events)
    for i, event in enumerate(events, first):
        t.equal(rows[0][i], event["asked"])
        t.equal(sum(int(row[i]) for row in rows[1:]), event["total"])
        t.equal(rows[0][i + len(events)], "inclusive " + event["asked"])
    t.equal([row[first + len(events):] for row in rows[1:]
             if not row[0].startswith("(elsewhere")],
            [[str(value) for value in row["inclusive"].values()]
             for row in found["rows"]])
    piped = report(path, "-x", ";").splitlines()
    t.equal([line.split(";")[-1] for line in piped],
            [row[-1] for row in rows])
    text = report(path)
    first = found["rows"][0]
    t.contains(text.splitlines()[0], f"hottest: {first['keys']['function']} ")
    t.contains(text, f"{found['events'][0]['total']:,}  total"
               if len(found["events"]) == 1 else "  total\n")
    t.contains(text, "2 events more; -e shows others, as -e branch-misses,")
    assert "branch-misses  " not in text


@t.named("--inclusive, --by caller and --no-callers")
def callers():
    path = record_words()
    found = report_json(path, "--inclusive")
    rows = {row["keys"]["function"]: row for row in found["rows"]}
    total = found["events"][0]["total"] - found["events"][0]["elsewhere"]
    name = found["events"][0]["name"]
    inclusive = [row["inclusive"][name] for row in found["rows"]]
    t.equal(inclusive, sorted(inclusive, reverse=True))
    t.equal(rows["_start"]["inclusive"][name], total)
    for row in found["rows"]:
        for event in found["events"]:
            if event["standing"] == "exact":
                assert row["inclusive"][event["name"]] >= \
                    row["values"][event["name"]], row
    text = report(path, "--inclusive", "--top", "1")
    t.contains(text, "incl.")
    assert "hottest" not in text, text
    edges = report_json(path, "--by", "caller,function")
    adds_up(edges)
    pairs = {(row["keys"]["caller"], row["keys"]["function"])
             for row in edges["rows"]}
    assert ("(no caller)", "_start") in pairs, pairs
    assert ("read_words", "count") in pairs, pairs
    assert not any("unknown" in caller for caller, _ in pairs), pairs
    alone = os.path.join(folder, "no-callers.data")
    done = t.run(t.tally(), "record", "-q", "--no-callers", *STEADY, "-e",
                 EVENTS, "-o", alone, "--", *words())
    t.equal(done.returncode, 0, done.stderr)
    t.equal(report_json(alone)["events"], report_json(path)["events"])
    plain = {json.dumps(row["keys"]): row["values"]
             for row in report_json(alone)["rows"]}
    with_callers = {json.dumps(row["keys"]): row["values"]
                    for row in report_json(path)["rows"]
                    if any(row["values"].values())}
    exact = [event["name"] for event in found["events"]
             if event["standing"] != "estimated"]
    t.equal({k: [v[e] for e in exact] for k, v in plain.items()},
            {k: [v[e] for e in exact] for k, v in with_callers.items()})
    for options in (["--inclusive"], ["--by", "caller"]):
        done = t.run(t.tally(), "report", "-i", alone, *options)
        t.equal((done.returncode, done.stdout), (2, ""))
        t.contains(done.stderr, "recorded with --no-callers")


@t.named("--sort, --top, --min and --match choose rows")
def choice():
    path = record_words()
    found = report_json(path, "--sort", "branch-misses", "--top", "4")
    t.equal(len(found["rows"]), 4)
    values = [row["values"]["branch-misses"] for row in found["rows"]]
    t.equal(values, sorted(values, reverse=True))
    adds_up(found)
    names = [row["keys"]["function"] for row in
             report_json(path, "--sort", "name", "--match", "*a*")["rows"]]
    t.equal(names, sorted(names, key=str.encode))
    # Both are the record's, so that the sorted one is shown too.
    text = report(path, "-e", "instr", "--sort", "branch-misses")
    t.contains(text, "branch-misses")
    large = report_json(path, "--min", "2")
    total = large["events"][0]["total"]
    assert all(row["values"]["instructions"] * 50 >= total
               for row in large["rows"]), large["rows"]
    adds_up(large)


@t.named("--top shows the first of all rows")
def first_rows():
    """The rows are those that are first without --top, whatever they are sorted
    and chosen by, and the others add up."""
    path = record_words()
    for sort in ("instructions", "cache-misses", "name"):
        for keys in ("instruction", "function", "image"):
            for options in ((), ("--match", "*a*"), ("--min", "0.2"),
                            ("--inclusive", "--match", "e")):
                options = ("--by", keys, "--sort", sort, *options)
                full = report_json(path, *options)
                for top in (1, 2, 7, 100, len(full["rows"]) or 1, 10 ** 6):
                    found = report_json(path, "--top", str(top), *options)
                    t.equal(found["rows"], full["rows"][:top])
                    adds_up(found)


@t.named("events and keys that are not there")
def unknown():
    path = record_words()
    for options, said in [
            (["-e", "instrcutions"], "did you mean instructions?"),
            (["-e", "nothing-near"], "there is no event 'nothing-near'"),
            (["-e", "branch"], "2 events begin as 'branch': "),
            (["-e", ""], "-e takes events of the record, not ''"),
            (["--sort", "sym"], "--sort takes an event; --by sym gives"),
            (["--debug-dir", "/no such"], "--debug-dir takes a folder, not"),
            (["-i", "other.data"], "one record is read, not also"),
            (["--sort", "branches,cycles"], "--sort takes one event, not")]:
        done = t.run(t.tally(), "report", *options, path)
        t.equal((done.returncode, done.stdout), (2, ""), str(options))
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1)


@t.named("a pattern that no name has is told, and -o - is standard output")
def nothing_matches():
    path = record_words()
    done = t.run(t.tally(), "report", "--match", "no such", path)
    t.equal((done.returncode, done.stderr),
            (0, "tally report: no row has a name like 'no such'\n"))
    t.equal(report(path, "-o", "-"), report(path), "-o -")


@t.named("a record that is cut short is shown as far as it goes")
def cut_short():
    whole = record_words().read_bytes()
    path = folder / "cut.data"
    for size in (len(whole) - 8, len(whole) - 200):
        path.write_bytes(whole[:size])
        done = t.run(t.tally(), "report", "-j", path)
        t.equal(done.returncode, 0, done.stderr)
        t.contains(done.stderr, "warning: ")
        found = json.loads(done.stdout)
        t.equal(found["cut"], True)
        adds_up(found)


@t.named("names are those of the program that ran, when it is gone")
def kept_names():
    program = folder / "changes"
    record_help.cplusplus(str(program))
    by = ("--by", "function,line,image", "--format", "csv")
    paths = []
    for options in ((), ("--no-names",), ("--no-callers",)):
        paths.append(folder / f"kept{''.join(options)}.data")
        done = t.run(t.tally(), "record", "-q", "-e", "instructions", *options,
                     "-o", paths[-1], "--", program)
        t.equal(done.returncode, 0, done.stderr)
    before = [report(path, *by) for path in paths]
    assert "(inlined)" in report(paths[0]), "functions that were copied"

    def now(path, *options):
        done = t.run(t.tally(), "report", *options, path)
        t.equal(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    program.unlink()
    gone = f"tally: {program}: No such file or directory"
    kept = "; its names are those that the record keeps"
    for path, wanted in zip(paths, before):
        shown, said = now(path, *by)
        if path == paths[1]:
            t.equal(said, gone + "\n")
            assert ",work" not in shown, "names of a file that is gone"
        else:
            t.equal(said, gone + kept + "\n")
            t.equal(shown, wanted, path.name)
    record_help.cplusplus(str(program), record_help.CPLUSPLUS.replace(
        "work", "other_name"))
    shown, said = now(paths[0], *by)
    t.contains(said, "another build id than the file that ran" + kept)
    t.equal(shown, before[0], "a program that was built anew")
    # What is damaged is told as in any other chunk.
    forged = recordfile.Record([recordfile.event("instructions")], ["f"])
    forged.counts[0, 0] = [1]
    odd = folder / "odd names.data"
    odd.write_bytes(forged.bytes([forged.set(), [
        recordfile.chunk(b"NAME", b"no names")]]))
    done = t.run(t.tally(), "report", odd)
    t.equal((done.returncode, done.stdout), (125, ""), done.stderr)
    t.contains(done.stderr, "has names that cannot be; the file is damaged")


@t.named("names are those of the program that ran, when it is stripped later")
def stripped_later():
    """The build id stays, so the file is the one that ran."""
    if shutil.which("strip") is None:
        raise t.Skip("no strip")
    whole = folder / "whole"
    program = folder / "slims"
    # The dynamic symbols of -rdynamic stay. `open_ended` has no size, so it
    # reaches over `work` where the symbol of `work` is gone.
    record_help.cplusplus(str(whole), record_help.CPLUSPLUS.replace(
        "__attribute__((noinline)) int work",
        '''asm(".text\\n.globl open_ended\\n.type open_ended, %function\\n"
            "open_ended: .skip 64");
        static __attribute__((noinline, noipa)) int work'''),
        ("-rdynamic", "-pthread", "-Wl,--build-id", "-fno-toplevel-reorder"))
    bare = folder / "bare"
    t.equal(t.run("strip", "-g", "-o", bare, whole).returncode, 0, "strip -g")
    by = ("--by", "function,line,image", "--format", "csv")
    for origin, options in itertools.product((whole, bare),
                                             ((), ("--no-names",))):
        shutil.copy(origin, program)
        path = folder / f"{origin.name}{''.join(options)}-slims.data"
        done = t.run(t.tally(), "record", "-q", "-e", "instructions", *options,
                     "-o", path, "--", program)
        t.equal(done.returncode, 0, done.stderr)
        before = report(path, *by)
        t.contains(before, "work(int)")
        for strip in ("-g", "-s"):
            t.equal(t.run("strip", strip, program).returncode, 0, strip)
            what = f"{path.name} after strip {strip}"
            if options == () or (origin, strip) == (bare, "-g"):
                t.equal(report(path, *by), before, what)
            else:
                assert report(path, *by) != before, what


@t.named("a debug file that came later has more than the record's names")
def debug_file_later():
    if shutil.which("objcopy") is None or shutil.which("strip") is None:
        raise t.Skip("no objcopy or strip")
    program = folder / "gains"
    record_help.cplusplus(str(program), options=("-static", "-pthread",
                                                 "-Wl,--build-id"))
    whole = folder / "gains.data"
    path = folder / "gains-later.data"
    debug = folder / "gains.debug"
    by = ("--by", "function,line,image", "--format", "csv")
    for output in (whole, path):
        done = t.run(t.tally(), "record", "-q", "-e", "instructions", "-o",
                     output, "--", program)
        t.equal(done.returncode, 0, done.stderr)
        if output == whole:
            for command in (("objcopy", "--only-keep-debug", program, debug),
                            ("strip", "-s", program)):
                t.equal(t.run(*command).returncode, 0, command)
    assert "work" not in report(path, *by), "names of a stripped program"
    t.equal(t.run("objcopy", f"--add-gnu-debuglink={debug}",
                  program).returncode, 0, "objcopy")
    t.equal(report(path, *by), report(whole, *by), "with the debug file")


@t.named("a record that ends before its first counts is refused")
def no_counts():
    whole = record_words().read_bytes()
    path = folder / "early.data"
    for end in (b"PROC", b"CNTS"):
        path.write_bytes(whole[:whole.index(b"CHNK" + end) + 40])
        for command in (["report"], ["export", "--as", "folded"]):
            done = t.run(t.tally(), *command, "-i", path)
            t.equal((done.returncode, done.stdout), (125, ""), done.stderr)
            t.contains(done.stderr, "ends before its first counts")


@t.named("of several sets the last whole one is shown")
def sets():
    """A long run writes all that it knows again and again. What is in a set
    that is not the last is not read, but its bytes must be those written."""
    def known(value):
        record = recordfile.Record([recordfile.event("instructions")], ["f"])
        record.counts[0, 0] = [value]
        return record

    path = folder / "sets.data"
    first, second, third = known(1), known(20), known(300)
    odd = second.set()
    odd[4] = recordfile.chunk(b"CNTS", b"no counts")
    for chosen, total in (
            ([first.set(), second.set(), third.set()], 300),
            ([first.set(), odd, third.set()], 300),
            ([first.set(), second.set(), third.set()[:-1]], 20),
            ([first.set()[:-1], second.set()], 20),
            ([first.set()], 1)):
        path.write_bytes(first.bytes(chosen))
        found = report_json(path)
        adds_up(found)
        t.equal([e["total"] for e in found["events"]], [total], "total")
    path.write_bytes(first.bytes([first.set(), second.set(), odd]))
    t.equal(t.run(t.tally(), "report", path).returncode, 125, "odd, and last")
    damaged = bytearray(first.bytes([first.set(), second.set()]))
    damaged[damaged.index(b"PROC") + 40] ^= 1
    path.write_bytes(damaged)
    t.equal(t.run(t.tally(), "report", path).returncode, 125, "damaged")


@t.named("a damaged record is refused, and nothing is written")
def damaged():
    data = bytearray(record_words().read_bytes())
    data[len(data) // 2] ^= 4
    path = folder / "damaged.data"
    path.write_bytes(data)
    out = folder / "damaged.txt"
    done = t.run(t.tally(), "report", "-o", out, path)
    t.equal((done.returncode, done.stdout), (125, ""), done.stderr)
    t.equal(done.stderr.count("\n"), 1)
    assert not out.exists()


@t.named("-o writes the report to a file, without colours")
def output():
    path = record_words()
    out = folder / "report.txt"
    t.equal(report(path, "-o", out), "")
    t.equal(out.read_text(), report(path))
    done = t.run(t.tally(), "report", path, "-o", folder / "no" / "file")
    t.equal((done.returncode, done.stdout), (2, ""))


@t.named("tally.data in the current folder is the default")
def default():
    path = record_words()
    with tempfile.TemporaryDirectory() as d:
        done = t.run(t.tally(), "report", cwd=d)
        t.equal((done.returncode, done.stderr),
                (125, "tally report: tally.data: no such file; tally record "
                      "writes one\n"))
        os.symlink(path, os.path.join(d, "tally.data"))
        done = t.run(t.tally(), "report", "--top", "2", cwd=d)
        t.equal(done.stdout, report(path, "--top", "2"))
        named = t.run(t.tally(), "report", "--top", "2", "-i", path)
        t.equal(done.stdout, named.stdout)


def shell(line, **how):
    """Runs a line of bash, where $TALLY is tally and $RECORD a record."""
    env = os.environ | {"TALLY": str(t.tally()), "RECORD": str(record_words())}
    return t.run("bash", "-c", line, env=env, **how)


@t.named("a record comes from standard input or a pipe")
def streams():
    for command, input_ in (("report --top 3", "-i "), ("report --by line", ""),
                            ("report --html /dev/stdout", "-i "),
                            ("annotate -j", "-i "),
                            ("export --as folded", "-i "),
                            ("diff --format csv '$RECORD'", ""),
                            ("diff --top 2 --sort name '$RECORD'", "")):
        line = f"$TALLY {command} {input_}".replace("'$RECORD'", "$RECORD")
        wanted = shell(f"{line} $RECORD")
        t.equal((wanted.returncode, wanted.stderr), (0, ""))
        path = str(record_words())
        for begin, file in (("cat $RECORD |", "-"), ("<$RECORD", "-"),
                            ("", "<(cat $RECORD)")):
            done = shell(f"{begin} {line} {file}")
            t.equal((done.returncode, done.stderr), (0, ""), command)
            # A page and a comparison tell the name of the file.
            if path not in wanted.stdout:
                t.equal(done.stdout, wanted.stdout, command)
    first = shell("cat $RECORD | $TALLY diff --format csv - $RECORD")
    t.equal((first.returncode, first.stderr), (0, ""))


@t.named("what comes from a stream and is no whole record gets one line")
def bad_streams():
    for line, said in (
            ("yes | $TALLY report -", "standard input is not a record"),
            ("yes | $TALLY annotate -i -", "standard input is not a record"),
            (": | $TALLY export --as folded -i -", "it is empty"),
            ("yes | $TALLY diff - $RECORD", "neither a record"),
            ("$TALLY report <(yes)", "/dev/fd/63 is not a record"),
            ("head -c 300 $RECORD | $TALLY report -", "ends before"),
            ("$TALLY report -i - </", "cannot read standard input"),
            ("$TALLY report -i - <&-", "standard input"),
            ("ulimit -f 1; cat $RECORD | $TALLY report -i -",
             "cannot keep standard input in memory: it is too large")):
        done = shell(line)
        t.equal((done.returncode, done.stdout), (125, ""), line)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        t.contains(done.stderr, said)
    for line, said in (
            ("$TALLY diff - -", "one of the two files can be standard input"),
            ("$TALLY export --as folded -o $RECORD -i - <$RECORD",
             "would replace the record itself"),
            ("$TALLY report --html $RECORD - <$RECORD",
             "would replace the record itself"),
            ("$TALLY diff -o $RECORD - $RECORD <$RECORD", "would replace")):
        done = shell(line)
        t.equal((done.returncode, done.stdout), (2, ""), line)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        t.contains(done.stderr, said)


@t.named("a terminal gets colours, and lines of its width")
def terminal():
    path = record_words()
    for extra, colours in (({}, True), ({"NO_COLOR": "1"}, False)):
        env = os.environ | {"COLUMNS": "70", "PAGER": "cat"} | extra
        master, slave = pty.openpty()
        # The report is short enough for the terminal's buffer.
        done = t.run(t.tally(), "report", "-e", "instructions", "--top", "4",
                     path, stdout=slave, env=env)
        os.close(slave)
        t.equal(done.returncode, 0)
        text = os.read(master, 65536).decode()
        os.close(master)
        t.equal("\033[1;31m" in text, colours, "colours")
    t.contains(text, "hottest: ")
    assert all(len(line) <= 70 for line in text.splitlines()), text


def main():
    global folder
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        t.main()


main()
