#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Process trees: processes.py BUILD [WORD]

--per-process, the line on a sum of programs, programs without their rights.
"""
import csv
import io
import os
import pathlib
import re
import shutil
import stat
import tempfile

import tallytest as t
from live_help import INSTRUCTIONS, g, at_arch


def tree(arch, *program, options=()):
    c = t.count(["--per-process", "-e", INSTRUCTIONS[arch], *options],
                *program)
    return c.json["processes"], c


def shape(rows):
    return [(pathlib.Path(row["program"]).name, row["begin"]) for row in rows]


@at_arch("--per-process: a fork and an exec are rows of their own")
def rows(arch):
    forker, spin = f"forker.{arch}", f"spin.{arch}"
    rows, c = tree(arch, g("forker", arch), "fork", g("spin", arch), 1000)
    t.equal(shape(rows), [(forker, "start"), (forker, "fork"), (spin, "exec")],
            "programs")
    first, child, executed = rows
    t.equal(first["parent"], None, "the first's parent")
    t.equal(child["parent"], first["pid"], "the child's parent")
    t.equal((executed["pid"], executed["parent"]),
            (child["pid"], child["parent"]), "pids after the exec")
    event = INSTRUCTIONS[arch]
    t.equal(sum(row["events"][event] for row in rows), c[event], "sum")
    for row in rows:
        t.equal(row["instructions"], row["events"][event], "instructions")
        t.equal(row["threads_at_once"], 1, "threads")


@at_arch("--per-process: an exec without a fork is a second row")
def executed(arch):
    rows, _ = tree(arch, g("forker", arch), "exec", g("hello", arch))
    t.equal([row["begin"] for row in rows], ["start", "exec"], "programs")
    t.equal({row["parent"] for row in rows}, {None}, "parents")
    t.equal(len({row["pid"] for row in rows}), 1, "pids")


@t.named("--per-process: the rows repeat, but for the pids")
def repeats():
    busybox = os.path.abspath(g("busybox", "x86_64"))
    program = [busybox, "sh", "-c",
               f"(:); {busybox} echo y; echo x | cat"]
    runs = [tree("x86_64", *program, options=["--clean-env"])[0]
            for _ in range(2)]
    t.equal(*[[row["begin"] for row in rows] for rows in runs], "rows")


@t.named("--per-process as text and as CSV")
def forms():
    command = [t.tally(), "count", "--per-process", "-e",
               "All_instr,Dcache_misses"]
    program = ["--", g("forker", "sparc64"), "fork", g("hello", "sparc64")]
    text = t.run(*command, *program).stderr
    assert re.search(r"\n  program +pid +parent +instructions +share +All_instr +"
                     r"Dcache_misses\n  forker\.sparc64 +\d+ +- +[\d,]+ +"
                     r"[\d.]+ % +[\d,]+ +[\d,]+\n  forker\.sparc64 +\d+ +\d+ ",
                     text), text
    done = t.run(*command, "-x,", *program)
    rows = list(csv.reader(io.StringIO(done.stderr)))
    plain = list(csv.reader(io.StringIO(t.run(
        t.tally(), "count", "-x,", "-e", "All_instr", *program).stderr)))
    t.equal({len(row) for row in rows}, {len(plain[0]) + 3}, "columns")
    t.equal([row[:3] for row in rows[:2]], 2 * [["all", "", ""]], "sums")
    for event in range(2):
        t.equal(sum(int(row[3]) for row in rows[2 + event::2]),
                int(rows[event][3]), "sum of the programs")
    t.equal(rows[2][2], "", "the first's parent")
    t.equal(rows[4][2], rows[2][1], "the child's parent")


@t.named("--per-process shows instructions once; software events have no count")
def columns():
    command = [t.tally(), "count", "-m", "host-model", "--per-process", "-e",
               "instructions,branches,task-clock"]
    program = ["--", g("forker", "x86_64"), "fork", g("hello", "x86_64")]
    text = t.run(*command, *program).stderr
    assert re.search(r"\n  program +pid +parent +instructions +share +branches"
                     r"\n", text), text
    t.contains(text, "; of single programs there are none\n")
    done = t.run(*command, "-x,", *program)
    rows = [row for row in csv.reader(io.StringIO(done.stderr))
            if row[5] == "task-clock"]
    t.equal([row[3] for row in rows[1:]], 3 * ["<not-by-program>"], "CSV")
    c = t.count(command[2:], *program[1:])
    t.equal([p["events"]["task-clock"] for p in c.json["processes"]],
            3 * [None], "JSON")


@t.named("--per-process: text, CSV and JSON have one order")
def order():
    program = [os.path.abspath(g("busybox", "x86_64")), "ash", "-c",
               "(:); (: ; :); (i=0; i=$((i + 1)))"]
    options = ["-m", "host-model", "-e", "instructions", "--clean-env",
               "--per-process"]
    text = t.run(t.tally(), "count", *options, "--", *program).stderr
    shown = [int(n.replace(",", "")) for n in
             re.findall(r"^  busybox\S* +\d+ +[-\d]+ +([\d,]+) ", text, re.M)]
    done = t.run(t.tally(), "count", *options, "-x,", "--", *program)
    rows = list(csv.reader(io.StringIO(done.stderr)))[1:]
    listed = t.count(options, *program).json["processes"]
    # The shell prints its pid: a digit more is a few instructions more.
    for name, found in (("CSV", [int(row[3]) for row in rows]),
                        ("JSON", [row["instructions"] for row in listed])):
        t.equal(len(found), len(shown), name)
        assert all(abs(a - b) < 50 for a, b in zip(found, shown)), \
            (name, found, shown)


@t.named("a program that runs several times is one program of several runs")
def several_runs():
    busybox = os.path.abspath(g("busybox", "x86_64"))
    text = t.run(t.tally(), "count", "-m", "host-model", "--", busybox, "ash",
                 "-c", f"{busybox} echo a; {busybox} echo b").stderr
    t.contains(text, "the sum of 3 runs of 1 program in 2 processes; largest: "
                     "busybox.x86_64 100.0 %\n")


@t.named("--per-process of many programs: others are summed, none is lost")
def many():
    script = "i=0; while [ $i -lt 100 ]; do (:); i=$((i + 1)); done"
    program = [g("busybox", "x86_64"), "sh", "-c", script]
    rows, c = tree("x86_64", *program)
    t.equal(len(rows), 101, "programs")
    t.equal(sum(row["instructions"] for row in rows), c["instructions"], "sum")
    text = t.run(t.tally(), "count", "-m", "host-model", "--per-process", "-e",
                 "instructions", "--", *program).stderr
    t.contains(text, "\n  61 others  ")
    shown = re.findall(r"^  (?:busybox\S*|61 others) +[-\d]+ +[-\d]+ +([\d,]+) ",
                       text, re.M)
    total = re.search(r"([\d,]+)  instructions ", text)
    t.equal(len(shown), 41, "rows")
    t.equal(sum(int(n.replace(",", "")) for n in shown),
            int(total[1].replace(",", "")), "sum of the rows")
    t.contains(text, "the sum of 1 program in 101 processes; largest: "
                     "busybox.x86_64 100.0 %")


@t.named("one line says of how many programs a sum is, and names the largest")
def line():
    # The larger the environment, the more instructions the first one executes.
    program = ["--", g("forker", "sparc64"), "fork", g("spin", "sparc64"),
               "1000000"]
    for command in (["count"], ["perfex", "-e", "All_instr"]):
        text = t.run(t.tally(), *command, *program).stderr
        assert re.search(r"the sum of 2 programs in 2 processes; largest: "
                         r"spin\.sparc64 9\d\.\d %, forker\.sparc64 \d\.\d %\n",
                         text), text
    text = t.run(t.tally(), "count", g("hello", "sparc64")).stderr
    assert "the sum of" not in text, text


@t.named("--per-process does not go with -I, --hardware, -m host")
def refused():
    for options, wanted in ((["-I", "1"], "'-I'"),
                            (["--hardware"], "'--hardware'"),
                            (["-m", "host"], "--per-process is for a modelled")):
        done = t.run(t.tally(), "count", "--per-process", *options, "--",
                     g("hello", "x86_64"))
        t.equal(done.returncode, 2, f"status with {options}: {done.stderr}")
        t.contains(done.stderr, wanted)
        t.equal(done.stderr.count("\n"), 1, "lines")


@t.named("the child of threads has its parent's mark, what it executes has not")
def inherited():
    rows, _ = tree("x86_64", g("crowd", "x86_64"), g("hello", "x86_64"))
    t.equal([(row["begin"], row["threads_at_once"]) for row in rows],
            [("start", 2), ("fork", 2), ("exec", 1)], "threads")


def with_rights(folder):
    """A program with rights that we have not; None: we cannot make one."""
    path = pathlib.Path(folder, "rights")
    shutil.copy(g("hello", "x86_64"), path)
    if os.statvfs(folder).f_flag & os.ST_NOSUID:
        return None
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    elif others := set(os.getgroups()) - {os.getegid()}:
        os.chown(path, -1, others.pop())
    else:
        return None
    path.chmod(0o6755)
    return path if path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID) else None


@t.named("setuid programs, first or executed, are said to run without rights")
def rightless():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = with_rights(folder)
        if path is None:
            raise t.Skip("no setuid program can be made here")
        for program in ([path], [g("forker", "x86_64"), "fork", path],
                        [g("forker", "x86_64"), "exec", path]):
            c = t.count(["-m", "host-model"], *program)
            t.equal(c.json["rightless"], [str(path)], "rightless")
            done = t.run(t.tally(), "count", "-m", "host-model", "--", *program)
            t.contains(done.stderr, f"without its rights: {path} is a setuid "
                                    "or setgid program, which the emulator "
                                    "runs as you\n")
    c = t.count([], g("hello", "sparc64"))
    t.equal(c.json["rightless"], [], "rightless")


# Programs that a process executes after it has lost the way to the session.

BUSY = ["busybox.x86_64", "sh", "-c", "i=0; while [ $i -lt 300 ]; do "
        "i=$((i + 1)); done"]


def after(*changer):
    """Counts of a program after a command that changes the process."""
    if os.geteuid() != 0:
        raise t.Skip("only root can change its user and mount")
    if shutil.which(changer[0]) is None:
        raise t.Skip(f"no {changer[0]} here")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        program = pathlib.Path(folder, "busybox")
        shutil.copy(g("busybox", "x86_64"), program)
        program.chmod(0o755)
        words = [*changer, program, *BUSY[1:]]
        if t.run(*words).returncode != 0:
            raise t.Skip(f"{changer[0]} may not do so here")
        if not all(path.stat().st_mode & stat.S_IXOTH
                   for path in t.build.resolve().parents):
            raise t.Skip("no other user can read what is built here")
        c = t.count(["--per-process", "-m", "host-model", "-e",
                     "instructions"], *words)
    t.equal(c.json["uncounted"], [], "uncounted")
    row = c.json["processes"][-1]
    t.equal((pathlib.Path(row["program"]).name, row["begin"]),
            ("busybox", "exec"), "the last program")
    assert row["instructions"] > 100000, row


for changer in (
        ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
        ["setpriv", "--bounding-set=-all", "--inh-caps=-all"],
        ["setpriv", "--reuid=65534", "sh", "-c", 'exec "$@"', "sh"],
        ["unshare", "-m", "-p", "-f", "--mount-proc"]):
    t.case(f"a program after {' '.join(changer)} is counted", after, *changer)


@t.named("a program in another root that cannot be counted is named")
def other_root():
    if os.geteuid() != 0 or shutil.which("chroot") is None:
        raise t.Skip("only root can change its root")
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(g("hello", "x86_64"), pathlib.Path(folder, "hello"))
        c = t.count(["-m", "host-model", "-e", "instructions"],
                    shutil.which("chroot"), folder, "/hello")
    t.equal(c.stdout, "hello\n", "output")
    t.equal(c.json["uncounted"], ["/hello"], "uncounted")
    t.equal(c.json["events"][0]["fidelity"], "partial", "standing")


@at_arch("a memory file that is executed is counted")
def memory_file(arch):
    program = g("spin", arch)
    c = t.count(["-e", INSTRUCTIONS[arch]], g("odd", arch), "memory", program)
    t.equal(c.json["uncounted"], [], "uncounted")
    assert c[INSTRUCTIONS[arch]] > 100000, c.json["events"]


@t.named("a process that still runs makes the sum partial, in each form")
def still_running():
    busybox = os.path.abspath(g("busybox", "x86_64"))
    with tempfile.TemporaryDirectory() as name:
        for form in ((), ("-x,",), ("-j",)):
            pipe = os.path.join(name, "pipe")
            os.mkfifo(pipe)
            # The child waits for a writer, and the shell does not wait for it.
            done = t.run(t.tally(), "count", "-m", "host-model", "--strict",
                         "-e", "instructions", *form, "--", busybox, "sh",
                         "-c", 'exec >/dev/null 2>&1; cat <"$0" & exit',
                         pipe)
            os.close(os.open(pipe, os.O_WRONLY))
            os.remove(pipe)
            t.equal(done.returncode, 125, f"status; {done.stderr!r}")
            if form == ("-x,",):
                rows = list(csv.reader(io.StringIO(done.stderr)))
                t.equal([row[7] for row in rows[:2]], ["partial", "partial"],
                        "standings")
                t.contains(rows[1][8], "still running, counted so far: ")
            elif form == ("-j",):
                t.contains(done.stderr, '"fidelity": "partial"')
            else:
                t.contains(done.stderr, "still running, counted so far: ")


t.main()
