#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts that repeat: repeat.py BUILD [WORD]

Random bytes that --clean-env fixes; threads and processes side by side, after
which nothing is exact.
"""
import csv
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import tallytest as t
from live_help import INSTRUCTIONS, g, at_arch, instructions

WAYS = ("getrandom", "urandom", "random", "readv", "preadv", "pread", "dup",
        "uuid", "end", "fork", "threads", "inherit")


def read_random(arch, *ways, options=("--clean-env",)):
    """The lines of one run: each a way and its digits; and the run."""
    c = t.count(options, g("random", arch), *ways)
    return [line.split() for line in c.stdout.splitlines()], c


@at_arch("--clean-env fixes random bytes, however they are read")
def fixed(arch):
    """Each thread's bytes come from one stream, so no two reads are equal."""
    once, c = read_random(arch, *WAYS)
    again, _ = read_random(arch, *WAYS)
    t.equal(once, again, "two runs")
    digits = [line[1] for line in once]
    t.equal(len(set(digits)), len(digits), "different reads")
    t.equal([line[0] for line in once],
            [*WAYS[:-3], "parent", "child", "child", "parent", "main",
             "thread", "thread", "main", "stdin"], "ways")
    uuid = dict(once)["uuid"]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-"
                        r"[89ab][0-9a-f]{3}-[0-9a-f]{12}", uuid), uuid
    # 24 bytes a line, but 23 of the two lines of pieces, 37 of the UUID's, 8;
    # and 8 for malloc() of each program.
    random = c.json["random"]
    t.equal((random["fixed"], random["left"]), (True, 0), "random")
    t.equal(random["bytes"], 14 * 24 + 2 * 23 + 37 + 8 + 2 * 8, "bytes")


@t.named("the stream of the first thread is the documented one")
def documented():
    """plugin/random.h says how its bytes are made. malloc() reads the first."""
    mask, key = 2**64 - 1, 0x74616c6c79000001
    stream = b""
    for n in range(1, 9):
        x = key + n * 0x9e3779b97f4a7c15 & mask
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & mask
        x = (x ^ x >> 27) * 0x94d049bb133111eb & mask
        stream += (x ^ x >> 31).to_bytes(8, "little")
    for arch in ("sparc64", "x86_64"):
        lines, _ = read_random(arch, "getrandom", "urandom")
        t.contains(stream.hex(), "".join(line[1] for line in lines))


@at_arch("fixed random bytes are as many as the call returned")
def as_many(arch):
    """A call that fails says so, and its memory stays as it was."""
    lines, c = read_random(arch, "bad", "preadv", "readv")
    t.equal(lines[0], ["bad", "EFAULT"], "the call that fails")
    t.equal([len(line[1]) for line in lines[1:]], [46, 46], "digits")
    t.equal(c.json["random"]["bytes"], 46 + 8, "bytes; malloc() reads 8")


@at_arch("random bytes stay random with --real-random, or without --clean-env")
def real(arch):
    for options in (["--clean-env", "--real-random"], ["--real-random"], []):
        runs = [read_random(arch, *WAYS, options=options) for _ in range(2)]
        both = [{line[1] for line in lines} for lines, _ in runs]
        t.equal(both[0] & both[1], set(), f"equal bytes with {options}")
        t.equal(runs[0][1].json["random"],
                {"fixed": False, "bytes": None, "left": None}, "random")


@t.named("bytes that the kernel moves itself are told of")
def left():
    lines, c = read_random("x86_64", "sendfile")
    t.equal(len(lines[0][1]), 48, "digits")
    t.equal(c.json["random"]["left"], 24, "left")
    done = t.run(t.tally(), "count", "-m", "host-model", "--clean-env", "--",
                 g("random", "x86_64"), "sendfile")
    t.contains(done.stderr, "could not be fixed: 24, which the kernel moved")


@t.named("the report says that random bytes were fixed")
def told():
    for arch, command in (
            ("x86_64", ["count", "-m", "host-model"]),
            ("mips64", ["perfex", "-m", "r10000", "-e", "0"])):
        for options, wanted in ((["--clean-env"], True), ([], False)):
            done = t.run(t.tally(), *command, *options, "--",
                         g("random", arch), "getrandom")
            t.equal("random bytes were fixed, 32 of them: keys made in this "
                    "run are not secret (--real-random)" in done.stderr,
                    wanted, f"{command} {options}: {done.stderr}")


@at_arch("a table keyed by random bytes takes as many instructions twice")
def hashed(arch):
    once, again = (instructions(arch, g("random", arch), "table",
                                options=["--clean-env"]) for _ in range(2))
    t.equal(once, again, "instructions")
    several = {instructions(arch, g("random", arch), "table",
                            options=["--clean-env", "--real-random"])
               for _ in range(3)}
    assert len(several) > 1, several


# Threads

def words_of(c):
    return {e["fidelity"] for e in c.json["events"] + c.json.get("metrics", [])}


@at_arch("no count of threads that ran side by side is called exact")
def varies(arch):
    event = INSTRUCTIONS[arch]
    options = ["--parallel", "-e", f"{event},cycles"]
    alone = t.count(options, g("threads", arch), 0, 1000)
    beside = t.count(options, g("threads", arch), 3, 1000)
    t.equal(words_of(alone), {"exact", "estimated"}, "one thread")
    t.equal(words_of(beside), {"varies", "estimated"}, "4 threads")


@t.named("the mark is in text, CSV and intervals; a line says why")
def varies_in_all():
    program = ["--", g("threads", "sparc64"), 3, 1000]
    text = t.run(t.tally(), "count", "--parallel", "-e", "All_instr",
                 *program).stderr
    assert re.search(r"All_instr +varies", text), text
    assert re.search(r"[234] threads ran side by side: all counts vary with "
                     r"how they ran\n", text), text
    for options, column in (([], 7), (["-I", 1], 8)):
        done = t.run(t.tally(), "count", "--parallel", "-x,", "-e",
                     "All_instr", *options, *program)
        rows = list(csv.reader(io.StringIO(done.stderr)))
        t.equal({row[column] for row in rows}, {"varies"}, f"{options}")


@t.named("--accounting, --compare and perfex call nothing exact either")
def varies_elsewhere():
    program = ["--", g("threads", "sparc64"), 3, 1000]
    for command in (["count", "--accounting"],
                    ["count", "--hardware", "--compare", "-e",
                     "All_instr,Dcache_misses"],
                    ["perfex", "-e", "All_instr"], ["perfex", "-a"]):
        for form in ([], ["--format", "csv"]):
            done = t.run(t.tally(), *command, "--parallel", *form, *program)
            t.equal(done.returncode, 0, f"{command}: {done.stderr}")
            assert "exact" not in done.stderr, f"{command}: {done.stderr}"
            if "--accounting" not in command:
                t.contains(done.stderr, "varies")


# Processes

# {} is busybox. The parent of the first ones sleeps until its child ends, or
# handles SIGCHLD before it sleeps if the child was faster: then the count varies.
ONE_BY_ONE = ("{} echo a; (exit 3); {} echo b", "{} cat; {} echo b",
              "{} ash -c '{} echo a; exit 2'; {} echo b")
SIDE_BY_SIDE = ("{} echo a | {} cat", "x=$({} echo a); echo $x",
                "{} echo a & {} echo b; wait", "{} echo a & wait $!",
                "{} ash -c '{} echo a | {} cat'; {} echo b")


def of_shell(arch, script):
    busybox = os.path.abspath(g("busybox", arch))
    end, other = os.pipe()
    os.write(other, b"from a pipe\n")
    os.close(other)
    try:
        return t.count(["--per-process", "-e", INSTRUCTIONS[arch]], busybox,
                       "ash", "-c", script.replace("{}", busybox), stdin=end)
    finally:
        os.close(end)


@at_arch("processes one after the other are exact, those side by side vary")
def processes(arch):
    for scripts, words in ((ONE_BY_ONE, ({"exact"}, {"varies"})),
                           (SIDE_BY_SIDE, ({"varies"},))):
        for script in scripts:
            c = of_shell(arch, script)
            assert words_of(c) in words, f"{script}: {words_of(c)}"
            t.equal((script, any(p["beside_others"]
                                 for p in c.json["processes"])),
                    (script, words_of(c) == {"varies"}),
                    "processes beside others")
    forker = g("forker", arch)
    for words in (["fork"], ["fork", forker, "fork"],
                  ["vfork", forker, "posix_spawn", forker, "fork"]):
        c = t.Count(["-e", INSTRUCTIONS[arch]], [forker, *words])
        t.equal((words, c.status, words_of(c)), (words, 3, {"exact"}),
                "standing of parents without a handler")


@at_arch("a parent that goes on while its child runs varies")
def parent_goes_on(arch):
    for mode, status in (("spin", 3), ("kill", 128 + 9), ("leave", 3)):
        c = t.Count(["-e", INSTRUCTIONS[arch]], [g("forker", arch), mode])
        # Where the parent leaves first, its child may run on after the report.
        words = ({"varies"}, {"partial"}) if mode == "leave" else ({"varies"},)
        t.equal((mode, c.status), (mode, status), "status")
        assert words_of(c) in words, f"{mode}: {words_of(c)}"


@t.named("-r: a program that grows with each run varies, and a killed run is told")
def runs_differ():
    busybox = os.path.abspath(g("busybox", "x86_64"))
    with tempfile.TemporaryDirectory() as folder:
        for script, wanted in (
                ("echo >>lines; while read x; do :; done <lines", ""),
                ("echo >>ends; read x <ends; [ $(wc -l <ends) = 2 ] && "
                 "kill -9 $$; exit 0",
                 "run 2 of 3 was interrupted; the values are of the 1 whole "
                 "run before\n"),
                ("echo >>faults; read x <faults; [ $(wc -l <faults) = 2 ] && "
                 "kill -SEGV $$; exit 0",
                 "tally: run 2 was killed by SIGSEGV; its counts are in the "
                 "means\n")):
            done = t.run(t.tally(), "count", "-m", "host-model", "-r", 3, "-e",
                         "instructions", "--", busybox, "ash", "-c",
                         script.replace("wc", f"{busybox} wc"), cwd=folder)
            t.contains(done.stderr, wanted)
            assert re.search(r"instructions +(varies|estimated|partial)",
                             done.stderr), done.stderr


@t.named("-r: a run that another process kills is in no mean")
def run_killed():
    busybox = os.path.abspath(g("busybox", "x86_64"))
    script = (f"echo >>ends; read x <ends; [ $({busybox} wc -l <ends) = 2 ] && "
              f"{busybox} ash -c 'kill -9 $PPID'; exit 0")
    with tempfile.TemporaryDirectory() as folder:
        done = t.run(t.tally(), "count", "-m", "host-model", "-r", 3, "-e",
                     "instructions", "--", busybox, "ash", "-c", script,
                     cwd=folder)
        t.equal(done.returncode, 137, "status")
        t.contains(done.stderr, "run 2 of 3 was interrupted; the values are "
                   "of the 1 whole run before")


@t.named("the report says that processes ran at the same time")
def processes_told():
    busybox = os.path.abspath(g("busybox", "x86_64"))
    for script, wanted in (("{} echo a; {} echo b", False),
                           ("{} echo a | {} cat", True)):
        done = t.run(t.tally(), "count", "-m", "host-model", "--", busybox,
                     "ash", "-c", script.replace("{}", busybox))
        t.equal("processes ran at the same time: all counts vary with how "
                "they waited for each other\n" in done.stderr, wanted,
                f"{script}: {done.stderr}")


# What moves

def parts(arch, *options, program=None, **how):
    done = t.run(t.tally(), "count", *t.modelled(f".{arch}"), "-v", *options,
                 "--", program or g("hello", arch), **how)
    t.equal(done.returncode, 0, f"status: {done.stderr}")
    return [line for line in done.stderr.splitlines()
            if line.startswith("tally: run: ")]


@at_arch("-v names the parts that can move counts, and those that moved")
def moved(arch):
    base = parts(arch, "--clean-env")
    t.equal(parts(arch, "--clean-env"), base, "two runs")
    text = "\n".join(base)
    t.contains(text, "random bytes: fixed")
    t.contains(text, "environment: fixed")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x" * 50)
        shutil.copy(g("hello", arch), path)
        other = parts(arch, "--clean-env", program=str(path))
        differ = [a.split(":")[2] for a, b in zip(base, other) if a != b]
        t.equal(differ, [" program", " arguments"], "the program's path moved")
        with open(pathlib.Path(folder, "out"), "w") as out:
            other = parts(arch, "--clean-env", stdout=out,
                          stderr=subprocess.PIPE)
        differ = [b for a, b in zip(base, other) if a != b]
        t.equal(differ, ["tally: run: standard output: a file"], "stdout moved")


@at_arch("-v: CSV has the parts as comments, JSON as a list")
def moved_in_all(arch):
    command = [t.tally(), "count", *t.modelled(f".{arch}"), "-v", "--clean-env"]
    program = ["--", g("hello", arch)]
    text = [line.removeprefix("tally: run: ")
            for line in parts(arch, "--clean-env")]
    wanted = {line.split(":")[0] for line in text}
    t.equal({"program", "arguments", "environment", "folder", "standard input",
             "standard output", "standard error", "user"} - wanted, set(),
            "parts")
    rows = t.run(*command, "-x,", *program).stderr.splitlines()
    t.equal(rows[:len(text)], ["# run: " + line for line in text], "CSV")
    assert not any(row.startswith("#") for row in rows[len(text):]), rows
    c = json.loads(t.run(*command, "-j", *program).stderr)
    t.equal(c["parts_of_run"], text, "JSON")
    lines = [json.loads(line) for line in t.run(
        *command, "-j", "-I", 1, *program).stderr.splitlines()]
    t.equal(lines[0]["parts_of_run"], text, "JSON of -I")
    assert all("at_s" in line for line in lines[1:]), lines
    quiet = json.loads(t.run(*command[:-2], "-j", *program).stderr)
    assert "parts_of_run" not in quiet, quiet


@t.named("--env sets a variable, with --clean-env and without")
def variables():
    env = {**os.environ, "GIVEN": "ours", "OTHER": "ours"}
    for options in (["--clean-env"], []):
        for wanted in ("GIVEN=one", "LC_ALL=two", "EMPTY="):
            c = t.count(["-m", "host-model", "--env", wanted, *options],
                        shutil.which("env"), env=env)
            name = wanted.split("=")[0] + "="
            got = [line for line in c.stdout.splitlines()
                   if line.startswith(name)]
            t.equal(got, [wanted], f"{options}")
    for bad in ("NAME", "=value", "QEMU_STRACE=1", "PWD=/", "TALLY_PAD=x"):
        c = t.run(t.tally(), "count", "--env", bad, "--", "true")
        t.equal(c.returncode, 2, "status")
        assert c.stderr.startswith("tally count: --env ") and bad in c.stderr, \
            c.stderr


@t.named("a layout moves the stack by its own distance")
def stack():
    """The stack of layout N is N x 1,840 bytes further down, modulo a page."""
    places = []
    for layout in (0, 1, 2, 9):
        c = t.count(["-m", "ci-1", "--clean-env", "--set", f"layout={layout}"],
                    g("stack_place", "x86_64"))
        places.append(int(c.stdout, 16))
    t.equal([(places[0] - place) % 4096 for place in places],
            [0, 1840, 3680, 9 * 1840 % 4096], "places")


@at_arch("stdout as a file or a pipe: the same instructions")
def file_or_pipe(arch):
    with tempfile.TemporaryFile("w") as out:
        file = instructions(arch, g("hello", arch), stdout=out,
                            stderr=subprocess.PIPE, options=["--clean-env"])
    t.equal(instructions(arch, g("hello", arch), options=["--clean-env"]), file,
            "instructions")


t.main()
