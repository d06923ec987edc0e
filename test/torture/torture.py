#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tortures tally and prints what was tried and lost:
torture.py BUILD [-s SEED] [-m MINUTES] [WORD...]

Each try must give its exact result: counts, status, a whole report, no process
and no file left. Random moments come from SEED, which is printed. After MINUTES
(15) no new row begins; rows that were not tried are named as such. Exits with 1
if anything was lost.
"""
import argparse
import csv
import io
import json
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import tallytest as t  # noqa: E402

MODEL = ("-m", "host-model", "-e", "instructions")
WORK = ("--filter", "code=work")
OURS = {125, 2, 126, 127}
NOBODY = 65534
BLOCKS = 1_200_000
rows = []


class Lost(Exception):
    """What a try has lost."""


def row(name):
    def add(function):
        rows.append((name, function))
        return function
    return add


def check(good, *what):
    if not good:
        raise Lost(" ".join(map(str, what)))


def processes_of(session):
    """The living processes of a session: pid, parent, name."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            text = path.read_text()
        except OSError:
            continue
        words = text.rpartition(") ")[2].split()
        if int(words[3]) == session and words[0] not in "ZX":
            found.append((int(path.parent.name), int(words[1]),
                          text[text.index("(") + 1:text.rindex(")")]))
    return found


def none_left(session):
    t.wait_for("the end of all processes", lambda: not processes_of(session))


class Run:
    """tally count -o FOLDER/report of a program, in a session of its own."""

    def __init__(self, folder, program, options=(), **how):
        self.report = pathlib.Path(folder, "report")
        self.folder = folder
        self.process = subprocess.Popen(
            [t.tally(), "count", "-j", *MODEL, *options, "-o",
             str(self.report), "--", *map(str, program)],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, errors="replace",
            start_new_session=True, **how)

    def end(self):
        self.stdout, self.stderr = self.process.communicate()
        self.status = self.process.returncode
        none_left(self.process.pid)
        left = set(os.listdir(self.folder)) - {"report"}
        check(not left, "files left:", left)
        return self

    def json(self):
        """The report; None: there is none. A torn one is lost."""
        if not self.report.exists():
            return None
        try:
            return json.loads(self.report.read_text())
        except ValueError as error:
            raise Lost(f"torn report: {error}") from error


def whole(program, stdout=None, options=()):
    """A run that must end well; its report."""
    with tempfile.TemporaryDirectory() as folder:
        run = Run(folder, program, options).end()
        check(run.status == 0, "status", run.status, run.stderr[-300:])
        check(stdout in (None, run.stdout), "stdout", run.stdout[-300:])
        report = run.json()
        check(report is not None, "no report")
        check(not report["inconsistent"] and not report["lost_threads"]
              and not report["uncounted"], "a partial report")
        return report


def value(report):
    return report["events"][0]["value"]


def guest(mode, *numbers, end=None, options=()):
    """A run of the guest torture; its report."""
    return whole([t.guest("torture.x86_64"), mode, *numbers],
                 f"{mode} {numbers[0] if end is None else end}\n", options)


def sums_up(report, processes):
    mine = report["processes"]
    check(len(mine) == processes, len(mine), "processes, not", processes)
    total = sum(p["instructions"] for p in mine)
    check(total == value(report), "sum", total, "of", value(report))
    return mine


# Forks, threads, signals.

@row("1,000 children, one after the other, nested, zombies")
def children(_):
    report = guest("forks", 1000, options=["--per-process"])
    mine = sums_up(report, 1 + 1000 + 200)
    leaves = {p["instructions"] for p in mine if p["instructions"] < 5000
              and p["parent"] == mine[0]["pid"]}
    check(leaves, "no child's count")
    return 1000


@row("200 children at once")
def at_once(_):
    sums_up(guest("parallel", 200, options=["--per-process"]), 201)
    return 200


@row("200 children by vfork()")
def vforks(_):
    sums_up(guest("vforks", 200, options=["--per-process"]), 201)
    return 200


@row("a chain of 100 programs by execve()")
def chain(_):
    report = guest("chain", 100, end=0, options=["--per-process"])
    mine = sums_up(report, 101)
    check(len({p["pid"] for p in mine}) == 1, "one process")
    return 100


# QEMU itself takes time with the square of the threads that there ever were:
# 3 s for 4,000, 23 s for 16,000. Each has 1000 turns of two instructions, and
# three to enter and leave work().
@row("12,000 threads over time, 16 at once")
def threads(_):
    got = value(guest("threads", 12000, 16, options=WORK))
    check(got == 12000 * 2003, got, "not", 12000 * 2003)
    return 12000


# More than a region has room for. The same turns, and two to enter and leave.
@row("4,200 threads at once")
def throng(_):
    report = whole([t.guest("throng.x86_64"), 4200], "4200 threads\n", WORK)
    check(value(report) == 4200 * 2002, value(report), "not", 4200 * 2002)
    return 4200


# What threads do here depends on who comes first: locks, barriers, words handed
# over, and counters that all write without a lock.
RACES = (("sharers", "same", 8, 200), ("sharers", "busy", 8, 2000),
         ("sharers", "flag", 2, 300), ("sharers", "lock", 8, 50),
         ("share", 8, 1000), ("crew", 8, 1))


@row("1,000 runs of programs whose threads race: each time the same")
def races(_):
    for name, *words in RACES:
        program = [t.guest(f"{name}.x86_64"), *words]
        counts = {value(whole(program, options=("--clean-env",)))
                  for _ in range(-(-1000 // len(RACES)))}
        check(len(counts) == 1, name, words, "counts", counts)
    return 1000


@row("50,000 nested signals on a stack of their own, siglongjmp()")
def signals(_):
    first, second = (value(guest("signals", n)) for n in (25000, 25000))
    check(first == second, "counts", first, second)
    return 50000


# Code that changes, against the single-stepper.

@row("self-modifying and unloaded code: counts of the single-stepper")
def stepped(_):
    step = t.build / "test" / "torture" / "step"
    programs = ("rewrite", "unloaded", "syscalls", "access", "bundles")
    for name in programs:
        done = t.run(step, t.guest(f"{name}.x86_64"))
        wanted = re.match(r"(\d+) instructions, status 0$", done.stdout)
        check(wanted, name, done.stdout, done.stderr)
        got = value(whole([t.guest(f"{name}.x86_64")]))
        check(got == int(wanted[1]), name, got, "not", wanted[1])
    return len(programs)


@row("1.2 million blocks of one instruction")
def blocks(_):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "blocks.S")
        source.write_text(
            f".globl _start\n_start:\n.rept {BLOCKS}\njmp .+2\n.endr\n"
            "xor %edi, %edi\nmov $60, %eax\nsyscall\n")
        program = pathlib.Path(folder, "blocks")
        subprocess.run(["gcc", "-nostdlib", "-static", "-o", program, source],
                       check=True)
        got = value(whole([program]))
        check(got == BLOCKS + 3, got, "not", BLOCKS + 3)
    return 1


# Kills.

SHELL = ("i=0; while [ $i -lt 40 ]; do (j=0; while [ $j -lt 100 ]; do "
         "j=$((j + 1)); done); i=$((i + 1)); done")


def kill_one(folder, whom, seed):
    """Kills one of a run's processes with SIGKILL at a random moment."""
    run = Run(folder, [t.guest("busybox.x86_64"), "sh", "-c", SHELL],
              ["--per-process"])
    tally = run.process.pid
    time.sleep(seed.random())
    found = []
    while not found and run.process.poll() is None:  # children live briefly
        found = [pid for pid, parent, name in processes_of(tally)
                 if (whom == "tally" and pid == tally)
                 or (whom == "QEMU" and parent == tally)
                 or (whom == "child" and pid != tally and parent != tally)]
    if found:
        try:
            os.kill(seed.choice(found), signal.SIGKILL)
        except ProcessLookupError:
            found = []
    run.end()
    report = run.json()
    if whom == "tally" and found:
        check(run.status == -signal.SIGKILL, "status", run.status)
        check(report is None, "a report of a killed tally")
    elif whom == "QEMU" and found:
        check(run.status in (137, 0, 125), "status", run.status)
        check(report is not None or run.status == 125, "no report",
              run.stderr[-300:])
    else:
        check(report is not None, "no report")
    if report is not None:
        total = sum(p["instructions"] for p in report["processes"])
        check(total == value(report), "sum", total, "of", value(report))
    return bool(found)


def kills(whom):
    """Says how many of 20 runs were hit: some have ended before."""
    def tries(seed):
        hit = 0
        for _ in range(20):
            with tempfile.TemporaryDirectory() as folder:
                hit += kill_one(folder, whom, seed)
        check(hit > 0, "no run was hit")
        return hit
    return tries


for each in ("tally", "QEMU", "child"):
    row(f"{each} killed at a random moment")(kills(each))


# What the system lacks.

@row("ulimit -n 3 to 20")
def descriptors(_):
    program = [t.guest("forker.x86_64"), "fork", t.guest("hello.x86_64")]
    wanted = value(whole(program))
    for limit in range(3, 21):
        with tempfile.TemporaryDirectory() as folder:
            run = Run(folder, program, preexec_fn=lambda n=limit:
                      resource.setrlimit(resource.RLIMIT_NOFILE, (n, n))).end()
            report = run.json()
            if run.status in OURS:
                check(run.stderr, "limit", limit, "status", run.status,
                      "without a word")
                continue
            partial = report and (report["uncounted"] or
                                  report["inconsistent"] or
                                  report["lost_threads"])
            if run.status == 0 and not partial:
                check(value(report) == wanted, "limit", limit, value(report),
                      "not", wanted)
    return 18


@row("a tmpfs with 0 to 3 pages free for -o")
def full(_):
    if os.geteuid() != 0:
        raise t.Skip("only root mounts")
    script = ("mount -t tmpfs -o size=64k none \"$1\" || exit 77; "
              "echo old > \"$1/report\"; "
              "head -c $(((14 - $2) * 4096)) /dev/zero > \"$1/fill\"; "
              "while [ $2 -eq 0 ] && echo x >> \"$1/fill\"; do :; done "
              "2> /dev/null; "
              "shift 2; \"$@\"; status=$?; cat \"${0}/report\"; "
              "ls \"${0}\" >&2; exit $status")
    tries = 0
    for free in range(4):
        with tempfile.TemporaryDirectory() as folder:
            done = t.run("unshare", "-m", "sh", "-c", script, folder, folder,
                         free, t.tally(), "count", "-j", *MODEL, "-o",
                         f"{folder}/report", "--", t.guest("hello.x86_64"))
            if done.returncode == 77:
                raise t.Skip("no tmpfs can be mounted")
            said = done.stderr.splitlines()
            check(said[-2:] == ["fill", "report"], "files", said)
            text = done.stdout.removeprefix("hello\n")
            if done.returncode == 0:
                check(free > 0, "a report without a page")
                json.loads(text)
            else:
                check(done.returncode in OURS and text == "old\n", "status",
                      done.returncode, text[:100], done.stderr)
            tries += 1
    return tries


@row("the user nobody, with a folder that he cannot write")
def nobody(_):
    if os.geteuid() != 0:
        raise t.Skip("only root becomes another user")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        words = [t.tally(), "count", "-x,", *MODEL, "--",
                 t.guest("hello.x86_64")]
        how = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            done = t.run(*words, **how)
        except PermissionError:
            raise t.Skip("nobody cannot read the build") from None
        check(done.returncode == 0, done.stderr)
        wanted = next(csv.reader(io.StringIO(
            t.run(*words).stderr)))
        got = next(csv.reader(io.StringIO(done.stderr)))
        check(got[0] == wanted[0], got, wanted)
        done = t.run(*words[:2], "-o", f"{folder}/report", *words[2:], **how)
        check(done.returncode in OURS and done.stderr, "status",
              done.returncode)
        check(not os.listdir(folder), "files left")
    return 2


def attempt(function, seed):
    """What a row says of its tries: their number, what was lost."""
    begin = time.monotonic()
    try:
        tries, lost = function(seed), ""
    except t.Skip as reason:
        return "-", f"not tried: {reason}", 0
    except (Lost, AssertionError) as loss:
        tries, lost = "", str(loss)
    return tries, lost, time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build")
    parser.add_argument("-s", "--seed", type=int, default=int(time.time()))
    parser.add_argument("-m", "--minutes", type=float, default=15)
    parser.add_argument("words", nargs="*")
    asked = parser.parse_intermixed_args()
    t.build = pathlib.Path(asked.build).resolve()
    end = time.monotonic() + 60 * asked.minutes
    print(f"seed {asked.seed}")
    losses = 0
    for name, function in rows:
        if asked.words and not any(word in name for word in asked.words):
            continue
        if time.monotonic() > end:
            print(f"{name:66} not tried: out of time")
            continue
        tries, lost, seconds = attempt(
            function, random.Random(f"{asked.seed} {name}"))
        losses += bool(lost) and tries != "-"
        print(f"{name:66} {tries:>6} {lost or 'none lost'} ({seconds:.0f} s)",
              flush=True)
    return losses != 0


if __name__ == "__main__":
    sys.exit(main())
