#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally at: at.py BUILD [WORD]

Where each miss of test/guest/why.c is follows from arithmetic, as test/memory.py has
it: in an L1 data cache of 512 lines of 64 bytes, 8 of which share one of 64 sets.
"""
import itertools
import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile

import tallytest as t

SETTINGS = [o for s in ("size=32K", "ways=8", "line=64")
            for o in ("--set", f"l1d.{s}")]
TURNS = ["--quantum", 100000]

folder = None
number = itertools.count()


def at(*words, program="why.x86_64", options=(), **how):
    """Runs tally at: options of the command, and words of the guest."""
    return t.run(t.tally(), "at", "--clean-env", *options, "--",
                 t.guest(program), *words, **how)


def point(*words, program="why.x86_64", options=(), settings=SETTINGS):
    """The JSON of a point that is reached."""
    path = folder / f"{next(number)}.json"
    done = at(*words, program=program,
              options=("-j", "-o", path, *settings, *options))
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    t.equal(done.stderr, "", "stderr")
    t.equal(done.stdout, "", "the program prints at its end alone")
    return json.loads(path.read_text())


def passed(*words, program="why.x86_64", options=(), settings=SETTINGS):
    """How many there were of what is counted, of a point that is not reached."""
    done = at(*words, program=program, options=(*settings, *options))
    t.equal(done.returncode, 1, f"status; {done.stderr!r}")
    found = re.fullmatch(r"tally at: the program ended after ([0-9,]+) .* was "
                         r"not reached\n", done.stderr)
    assert found, done.stderr
    return int(found[1].replace(",", ""))


def marked(mark):
    """The number of the line of why.c that has `LINE mark`."""
    text = pathlib.Path(t.source("test", "guest", "why.c")).read_text()
    return next(i for i, line in enumerate(text.splitlines(), 1)
                if f"/* LINE {mark} */" in line)


def column_miss(n, *options):
    return point("columns", options=("--miss", n, "--in", "go_by_columns",
                                     *options))


@t.named("each access of a matrix by columns is the miss of its number")
def columns():
    """16 rows, 4 KB apart, whose lines share a set: all 8,192 loads miss."""
    first = column_miss(1)["access"]["data_address"]
    t.equal(first % 4096, 0)
    for n in (1, 2, 16, 17, 100, 129, 1000, 8192):
        found = column_miss(n)
        column, row = (n - 1) // 16, (n - 1) % 16
        t.equal((found["point"], found["number"], found["thread"]),
                ("miss", n, 0))
        a = found["access"]
        t.equal((a["kind"], a["bytes"], a["missed"]), ("load", 8, True))
        t.equal(a["data_address"], first + 4096 * row + 8 * column, n)
        t.equal(found["class"], "conflict" if column % 8 else "first touch", n)
        t.equal(found["object"], {"name": "matrix in why.x86_64",
                                  "kind": "variable"})
        p = found["place"]
        t.equal((p["function"], p["line"]),
                ("go_by_columns", marked("columns")))
        assert p["file"].endswith("test/guest/why.c"), p
        assert p["text"].startswith("mov"), p
        t.equal(p["address"], a["address"])
        t.equal([c["function"] for c in found["calls"]][0], "main")
        t.equal(found["calls_unknown"], False)
        t.equal(found["set"]["number"], column // 8 % 64, n)


@t.named("calls have the function that an inlined one was copied into")
def inlined():
    line = marked("make") - 1  # the mark is where the statement ends
    words = ("--miss", 5, "--line", f"why.c:{line}")
    place = point("chase", options=words)["place"]
    t.equal([f["function"] for f in place["frames"]], ["make_list", "chase"])
    t.equal(place["frames"][0]["line"], line)
    t.equal((place["function"], place["inlined_into"]), ("make_list", "chase"))
    done = at("chase", program="why.x86_64", options=(*SETTINGS, *words))
    calls = done.stderr.split(" Calls, innermost first (exact)\n")[1]
    lines = [line.strip() for line in calls.splitlines()[:3]]
    t.equal(lines[0], f"make_list (inlined) (why.c:{line})")
    assert re.fullmatch(r"chase \(why\.c:\d+\)", lines[1]), lines
    assert re.fullmatch(r"main \(why\.c:\d+\)", lines[2]), lines


@t.named("a set has its lines in the order of their use, and who brought them")
def sets():
    """Row r of a column whose line was asked for before: the set has the 8 rows
    before r, and row r - 8 leaves."""
    for n in (100, 1000, 4007, 8192):
        found = column_miss(n)
        row = (n - 1) % 16
        here = found["access"]["data_address"]
        lines = found["set"]["lines"]
        expected = [(here - here % 64) + 4096 * ((row - i) % 16 - row)
                    for i in range(1, 9)]
        t.equal([w["line_address"] for w in lines], expected, n)
        t.equal([w["leaves"] for w in lines], 7 * [False] + [True], n)
        t.equal({w["object"]["name"] for w in lines}, {"matrix in why.x86_64"})
        t.equal({w["modified"] for w in lines}, {False})
        t.equal({w["other_cores"] for w in lines}, {0})
        by = [w["brought_by"] for w in lines]
        t.equal({(b["function"], b["thread"]) for b in by},
                {("go_by_columns", 0)})
        # They were brought in by the 8 misses before this one, last first.
        before = [column_miss(n - i)["thread_instruction"] for i in (1, 2, 8)]
        t.equal([by[i - 1]["instruction"] for i in (1, 2, 8)], before, n)
        t.equal(found["set"]["empty_ways"], 0)
        misses = [a["data_address"] for a in found["accesses"]]
        t.equal([m - m % 64 for m in misses[1:9]], expected, "accesses")


@t.named("--in and --line count the same misses, to the last")
def counted():
    for source in ("why.c", "guest/why.c", t.source("test", "guest", "why.c")):
        line = f"{source}:{marked('columns')}"
        if source[0] != "/" or source in column_miss(1)["place"]["file"]:
            t.equal(passed("columns", options=("--miss", 8193, "--line", line)),
                    8192, line)
    # The function also misses the line with the address that it returns to,
    # which the matrix has driven out.
    t.equal(passed("columns", options=("--miss", 9000, "--in",
                                       "go_by_columns")), 8193)
    t.equal(column_miss(8193)["object"]["name"], "stack of main")
    n = 4000
    by_line = point("columns", options=("--miss", n, "--line",
                                        f"why.c:{marked('columns')}"))
    t.equal(by_line, column_miss(n))


@t.named("all misses are those of tally memory, all instructions of tally record")
def whole():
    for words, program, turns in ((("columns",), "why", ()),
                                  (("chase",), "why", ()),
                                  (("line", 2, 300), "sharers", TURNS)):
        guest = t.guest(f"{program}.x86_64")
        done = t.run(t.tally(), "memory", "-j", "--clean-env", *turns,
                     *SETTINGS, "--", guest, *words)
        n = json.loads(done.stderr)["counts"]
        program = f"{program}.x86_64"
        t.equal(passed(*words, program=program,
                       options=("--miss", 10**9, *turns)),
                n["load_misses"] + n["store_misses"], words)
        path = folder / "whole.data"
        done = t.run(t.tally(), "record", "-q", "--objects", "-m",
                     "host-model", "-e", "instructions", "--clean-env", *turns,
                     *SETTINGS, "-o", path, "--", guest, *words)
        t.equal(done.returncode, 0, done.stderr)
        report = json.loads(t.run(t.tally(), "report", "-j", "-i",
                                  path).stdout)
        t.equal(passed(*words, program=program,
                       options=("--instruction", 10**12, *turns)),
                report["events"][0]["total"], words)


@t.named("a loop of 513 lines: the oldest of its set leaves, and loops are folded")
def loop():
    """Miss 514 is the first line again: a fully associative cache of 512 lines has
    lost it; set 0 has the lines 512, 448 ... 64."""
    found = point("loop", 513, options=("--miss", 514, "--in", "loop"))
    here = found["access"]["data_address"]
    t.equal(here % 4096, 0)
    t.equal(found["class"], "capacity")
    t.equal([w["line_address"] - here for w in found["set"]["lines"]],
            [64 * line for line in range(512, 0, -64)])
    t.equal([w["leaves"] for w in found["set"]["lines"]], 7 * [False] + [True])
    counts = [b["count"] * f["times"] for f in found["blocks"]
              for b in f["blocks"] if b["function"] == "loop"]
    # The first run of a loop's body may be of a block that begins before it.
    assert max(counts) in (512, 513), counts
    t.equal(len(found["accesses"]), 16)
    t.equal([a["data_address"] - here for a in found["accesses"]],
            [0] + [64 * i for i in range(512, 497, -1)])


@t.named("loops of several blocks are folded")
def folds():
    """At the end of 300 passes over 600 lines."""
    found = point("mixed", options=("--function", "loop:2", "--last", 8))
    inner = [f for f in found["blocks"] if f["times"] > 1]
    t.equal(len(inner), 1)
    assert inner[0]["times"] in (298, 299, 300), inner
    assert max(b["count"] for b in inner[0]["blocks"]) in (599, 600), inner


@t.named("--function: each entry, and what called")
def function():
    for n in (1, 2):
        found = point("mixed", options=("--function", f"loop:{n}"))
        p = found["place"]
        t.equal((p["function"], p["function_offset"]), ("loop", 0), n)
        t.equal(found["calls"][0]["function"], "main")
        t.equal((found["point"], found["number"]), ("function", n))
        t.equal(found["class"], None)
    t.equal(point("mixed", options=("--function", "loop"))["number"], 1)
    t.equal(passed("mixed", options=("--function", "loop:3")), 2)
    a = point("mixed", options=("--function", "loop:2"))
    # The call has stored its return address.
    t.equal((a["access"]["kind"], a["object"]["name"]),
            ("store", "stack of main"))


@t.named("--instruction is before the instruction, and repeats")
def instruction():
    for n in (50, 1000):
        miss, before = column_miss(n), column_miss(n - 1)
        found = point("columns",
                      options=("--instruction", miss["instruction"]))
        t.equal(found["place"], miss["place"])
        t.equal(found["instruction"], miss["instruction"])
        t.equal(found["access"], before["access"])
        t.equal(found["accesses"][:10], miss["accesses"][1:11])
        t.equal(found["blocks"], miss["blocks"])
        t.equal(column_miss(n), miss, "another run")
    t.equal(point("columns", options=("--instruction", 1))["accesses"], [])


@t.named("threads: misses of each, of all, and false sharing")
def threads():
    words = ("line", 2, 300)
    how = {"program": "sharers.x86_64"}
    each = [passed(*words, **how, options=(*TURNS, "--miss", 10**9,
                                           "--thread", n)) for n in range(3)]
    t.equal(sum(each), passed(*words, **how,
                              options=(*TURNS, "--miss", 10**9)))
    t.equal(passed(*words, **how, options=(*TURNS, "--miss", 1, "--thread",
                                           9)), 0)
    assert min(each[1:]) >= 300, each
    found = point(*words, **how, options=(*TURNS, "--miss", each[1] - 20,
                                          "--thread", 1))
    t.equal((found["thread"], found["class"]), (1, "false sharing"))
    t.equal(found["object"]["name"], "shared in sharers.x86_64")
    assert found["instruction"] > found["thread_instruction"], found
    here = found["access"]["data_address"]
    assert here - here % 64 not in [w["line_address"]
                                    for w in found["set"]["lines"]], found
    # The line was taken, and its way is empty.
    assert found["set"]["empty_ways"] >= 1, found["set"]
    t.equal([w for w in found["set"]["lines"] if w["leaves"]], [])


@t.named("other architectures, and machines without classes")
def architectures():
    for options in (("--foreign",), ("-m", "ultrasparc-t2")):
        for isa in ("sparc64", "mips64", "mips64el", "aarch64", "riscv64"):
            if "-m" in options and isa != "sparc64":
                continue
            settings = SETTINGS if "--foreign" in options else ()
            how = {"program": f"why.{isa}", "settings": settings}
            where = ("--in", "go_by_columns", *options)
            t.equal(passed("columns", **how, options=("--miss", 8193, *where)),
                    8192, isa)
            first = point("columns", **how, options=("--miss", 1, *where))
            found = point("columns", **how, options=("--miss", 100, *where))
            t.equal(found["access"]["data_address"] -
                    first["access"]["data_address"], 4096 * 3 + 8 * 6, isa)
            t.equal(found["class"],
                    "conflict" if "--foreign" in options else None)
            t.equal(found["calls"][0]["function"], "main", isa)
            t.equal(found["object"]["name"], f"matrix in why.{isa}")
            again = point("columns", **how, options=(
                "--instruction", found["instruction"], *options))
            t.equal(again["place"], found["place"], isa)


@t.named("objects: heap blocks by their caller, stacks by function")
def objects():
    names = set()
    for n in range(1, 400, 13):
        found = point("columns", options=("--miss", n))
        names.add(found["object"]["kind"])
    assert {"stack", "variable"} <= names, names
    found = point(program="objects.x86_64",
                  options=("--miss", 10, "--in", "look_up"))
    t.equal(found["object"]["kind"], "heap")
    assert found["object"]["name"].startswith("calloc in make_buckets (obj"), (
        found["object"])


@t.named("text: each part, its standing, and what happened to the program")
def text():
    done = at("columns", options=(*SETTINGS, "--miss", 1000, "--in",
                                  "go_by_columns", "--last", 5))
    t.equal((done.returncode, done.stdout), (0, ""))
    for words in ("At miss 1,000 of the L1 data cache in go_by_columns of "
                  "why.x86_64\n", "32 KiB, 8 ways, lines of 64 bytes",
                  "the program was killed there", "Where (exact)",
                  "load of 8 bytes at 0x", "matrix in why.x86_64; conflict "
                  "miss (modelled)", "Calls, innermost first (exact)\n"
                  f"   go_by_columns (why.c:{marked('columns')})\n   main ",
                  "Blocks that ran last", "(exact; hit or miss modelled)",
                  "Set 7 of 0 to 63 before the miss", "driven out"):
        t.contains(done.stderr, words)
    rows = done.stderr.split("Accesses")[1].split("\n\n")[0].splitlines()[2:]
    t.equal(len(rows), 5)
    t.equal({r.split()[0] for r in rows}, {"load"})


@t.named("a program that ends before the point, or is not there")
def ends():
    t.equal(passed("status", 7, options=("--miss", 10**9)) > 8000, True)
    t.equal(passed("killed", options=("--miss", 10**9)) > 8000, True)
    # A child's accesses do not count; a program that is executed counts anew.
    t.equal(passed("fork", options=("--miss", 1, "--in", "go_by_columns")), 0)
    found = point("exec", options=("--miss", 8000))
    t.equal(found["place"]["function"], "go_by_columns")
    done = t.run(t.tally(), "at", "--miss", 1, "--", "/no/such/program")
    t.equal(done.returncode, 127)
    t.equal(done.stderr.count("\n"), 1)
    path = folder / "not.json"
    done = at("columns", options=("-j", "-o", path, "--miss", 10**9))
    t.equal((done.returncode, path.exists()), (1, False))


GDB = [w for c in ("print/x $pc", "backtrace", "info threads")
       for w in ("--gdb-command", c)]


@t.named("--gdb stops in the next block, at the same miss, with the report first")
def debugger():
    for isa in ("x86_64", "sparc64", "mips64", "mips64el", "aarch64", "riscv64"):
        options = ("--foreign", "--miss", 100, "--in", "go_by_columns")
        how = {"program": f"why.{isa}"}
        alone = point("columns", **how, options=options)
        path = folder / f"gdb.{isa}.json"
        done = at("columns", **how,
                  options=(*SETTINGS, *options, "-j", "-o", path, *GDB))
        t.equal(done.returncode, 0, done.stderr)
        t.equal(json.loads(path.read_text()), alone, isa)
        t.contains(done.stdout, "received signal SIGTRAP")
        assert "done" not in done.stdout.split(), done.stdout
        pc = int(re.search(r"^\$1 = 0x([0-9a-f]+)", done.stdout, re.M)[1], 16)
        t.contains(done.stdout, "go_by_columns () at ")
        # The next block is of the loop, and begins near the miss.
        assert abs(pc - alone["place"]["address"]) < 64, (isa, hex(pc), alone)
        assert pc != alone["place"]["address"], (isa, hex(pc))
        assert pc in [b["address"] for f in point(
            "columns", **how, options=(*options[:1], "--miss", 200,
                                       *options[3:]))["blocks"]
                      for b in f["blocks"]], (isa, hex(pc))


@t.named("--gdb stops the thread that misses")
def debugger_threads():
    done = at("line", 2, 300, program="sharers.x86_64",
              options=(*SETTINGS, *TURNS, "--miss", 100, "--thread", 2, *GDB))
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "the debugger stops the program where it enters the "
               "next block")
    t.contains(done.stderr, "thread 2, its instruction ")
    t.equal(re.findall(r"^\* \d+ .*CPU#(\d+) ", done.stdout, re.M), ["2"])


@t.named("a run that Ctrl-C ends says so")
def interrupted():
    for form in ((), ("--json",)):
        process = subprocess.Popen(
            [str(w) for w in (t.tally(), "at", "--miss", 10**9, *form, "--",
                              t.guest("deadlocks.x86_64"), "input")],
            text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        with process:
            t.equal(process.stdout.readline(), "reading\n", "output")
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
        t.equal(process.returncode, 1, said)
        assert re.fullmatch(r"tally at: interrupted after [\d,]+ misses of the L1 "
                            r"data cache: miss 1,000,000,000 of the L1 data cache "
                            r"was not reached\n", said), said


@t.named("a deadlock before the point is told as soon as no thread can go on")
def deadlocked():
    for kind, who in (("order", "all 3 threads"), ("self", "the only thread")):
        process = subprocess.Popen(
            [str(w) for w in (t.tally(), "at", "--miss", 10**9, "--",
                              t.guest("deadlocks.x86_64"), kind)],
            text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE)
        with process:
            line = process.stderr.readline()
            process.send_signal(signal.SIGINT)
            said = process.stderr.read()
        t.equal(process.returncode, 1, said)
        assert re.fullmatch(rf"tally: {who} of process \d+ waits?, and none is left "
                            r"to let another go on; Ctrl-C \(SIGINT\) ends the "
                            r"program; tally locks shows who waits for whom\n",
                            line), line
        assert re.fullmatch(r"tally at: interrupted after .*\n", said), said


@t.named("--gdb: a program that ends before the point; and no GDB")
def debugger_ends():
    own = folder / "sockets"
    own.mkdir()
    env = {**os.environ, "TMPDIR": str(own)}
    done = at("columns", options=(*SETTINGS, "--miss", 10**9, *GDB), env=env)
    t.equal(done.returncode, 1)
    t.contains(done.stderr, "was not reached")
    t.contains(done.stdout, "exited normally")
    done = at("exec", options=(*SETTINGS, "--miss", 8000, *GDB), env=env)
    t.equal(done.returncode, 1)
    t.contains(done.stderr, "was not reached")
    done = at("columns", options=(*SETTINGS, "--miss", 10, *GDB), env=env)
    t.equal(done.returncode, 0, done.stderr)
    t.equal(list(own.iterdir()), [], "sockets that are left")
    done = at("columns", options=("--miss", 1, "--gdb"),
              env={**os.environ, "PATH": str(folder)})
    t.equal(done.returncode, 125)
    t.equal(done.stderr, "tally at: --gdb needs gdb-multiarch, which is not in "
            "PATH: install the package gdb-multiarch\n")
    done = at("columns", options=("--miss", 1, "--gdb"),
              env={**os.environ, "TMPDIR": "/no/such/folder"})
    t.equal(done.returncode, 125)
    t.contains(done.stderr, "TMPDIR names another")


def typed(words, program, lines):
    """What a terminal shows where each line is typed at a prompt of GDB's."""
    shown = b""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(t.tally(), [str(w) for w in (t.tally(), "at", *words, "--",
                                               t.guest(program), "columns")],
                  {**os.environ, "TERM": "dumb"})
    for line in [*lines, None]:
        part = b""
        while line is None or b"(gdb) " not in part:
            try:
                more = os.read(terminal, 65536)
            except OSError: # the terminal's other side is closed
                more = b""
            if not more:
                break
            part += more
        shown += part
        if line is not None:
            os.write(terminal, line)
    os.close(terminal)
    return (os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]),
            shown.decode().replace("\r", ""))


@t.named("--gdb at a terminal: its prompt, and Ctrl-C there")
def debugger_prompt():
    options = ("--clean-env", *SETTINGS, "--in", "go_by_columns", "--gdb")
    status, shown = typed((*options, "--miss", 100), "why.x86_64",
                          [b"print 6 * 7\n", b"\x03", b"stepi\n",
                           b"print 7 * 8\n", b"quit\n"])
    t.equal(status, 0, shown)
    report, _, rest = shown.partition("received signal SIGTRAP")
    t.contains(report, "At miss 100 of the L1 data cache in go_by_columns")
    for words in ("= 42", "Quit", "= 56"):
        t.contains(rest, words)
    assert "Remote connection closed" not in shown, shown
    status, shown = typed((*options, "--miss", 10**9), "why.x86_64",
                          [b"print 6 * 7\n", b"quit\n"])
    t.equal(status, 1, shown)
    t.contains(shown, "exited normally")
    t.contains(shown, "was not reached")
    # In the midst of a prompt, it would tear the prompt apart.
    assert shown.rindex("(gdb) ") < shown.index("tally at: "), shown


@t.named("bad input has one line")
def refused():
    for options, words in (
            ((), "which point?"),
            (("--miss", 0), "--miss '0': a number from 1 to 9223372036854775807"),
            (("--miss", "-3"), "a number from 1 to 9223372036854775807"),
            (("--miss", "1e3"), "a number from 1 to 9223372036854775807"),
            (("--miss", 10**19), "a number from 1 to 9223372036854775807"),
            (("--instruction", 0), "--instruction '0'"),
            (("--function", "main:0"), "FUNCTION:K"),
            (("--function", ":3"), "a function"),
            (("--function", ""), "a function"),
            (("--function", "lop"), "no function 'lop'; did you mean loop"),
            (("--miss", 1, "--in", "lop"), "no function 'lop'"),
            (("--miss", 1, "--line", "why.c"), "FILE:LINE is expected"),
            (("--miss", 1, "--line", "why.c:1"), "no code of"),
            (("--miss", 1, "--line", "hy.c:70"), "no code of"),
            (("--miss", 1, "--instruction", 2), "a run has one point"),
            (("--miss", 1, "--in", "loop", "--line", "why.c:70"), "one of"),
            (("--function", "loop", "--in", "loop"), "need --miss"),
            (("--miss", 1, "--thread", "x"), "number of a thread"),
            (("--miss", 1, "--last", 0), "1 to 256"),
            (("--miss", 1, "--last", 257), "1 to 256"),
            (("--miss", 1, "--parallel"), "there is no --parallel: "),
            (("--miss", 1, "-m", "host"), "leave -m host away"),
            (("--miss", 1, "-m", "nonesuch"), "nonesuch"),
            (("--miss", 1, "-m", "ultrasparc-t2"), "x86_64"),
            (("--miss", 1, "--format", "csv"), "csv"),
            (("--miss", 1, "-o", "/no/such/folder/x"), "/no/such/folder")):
        done = at("columns", options=options)
        t.equal((done.returncode, done.stdout), (2, ""),
                f"{options}: {done.stderr!r}")
        t.equal(done.stderr.count("\n"), 1, f"{options}: {done.stderr!r}")
        t.contains(done.stderr, words)
    done = t.run(t.tally(), "at", "--miss", 1)
    t.equal(done.returncode, 2)
    t.contains(done.stderr, "a program is expected")


def main():
    global folder
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        t.main()


main()
