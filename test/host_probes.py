#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--from and --to on the host: host_probes.py BUILD [WORD]

host-phases touches pages in three functions, so each count is arithmetic.
Where uprobes are not to be had, on a machine played by test/mock alone.
"""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tallytest as t

sys.path.insert(0, t.source("test", "mock"))
import tree  # noqa: E402

FAULTS = ["-e", "page-faults"]
PAGES = (100, 200, 300)
# What the program and the loader touch besides.
MORE = 400
NEAR = 40  # by how much that differs between two runs
LOST = 200000  # calls: more records than the largest ring holds
# Their words are in the report, but nothing can be tried.
REFUSALS = ("this kernel has no uprobes", "uprobes are for root",
            "kernel cannot put a uprobe", "perf_event", "filter of system")


def phases():
    return str(t.build / "test" / "host-phases")


def tally(options, *command, **how):
    return t.run(t.tally(), "count", "-m", "host", *options, "--", *command,
                 **how)


def need_uprobes():
    done = tally([*FAULTS, "--to", "main"], phases())
    if done.returncode == 125 and any(w in done.stderr for w in REFUSALS):
        raise t.Skip(done.stderr.strip().partition("; ")[0])
    t.equal(done.returncode, 0, done.stderr)


def count(options, *args, program=None):
    need_uprobes()
    command = [program or phases(), *(args or PAGES)]
    c = t.Count(["-m", "host", *FAULTS, *options], command)
    t.equal(c.status, 0, c.stderr)
    return c


def faults(marks, *args, **how):
    return count(marks.split(), *args, **how)["page-faults"]


def said(marks, *args):
    need_uprobes()
    done = tally([*FAULTS, *marks.split()], phases(), *(args or PAGES))
    t.equal(done.returncode, 0, done.stderr)
    return done.stderr


# Counts

@t.named("from one function to another: the pages touched between")
def between():
    for marks, wanted in (("--from early --to middle", 100),
                          ("--from middle --to last", 200),
                          ("--from early --to last", 300)):
        t.equal(faults(marks), wanted, marks)


@t.named("--from alone counts to the end, --to alone from the start")
def alone():
    for marks, least in (("--from last", 300), ("--from middle", 500),
                         ("--to middle", 100), ("--to last", 300),
                         ("--from last --to early", 300)):
        got = faults(marks)
        assert least <= got < least + MORE, (marks, got)
    got = faults("--from middle") - faults("--from last")
    assert abs(got - 200) <= NEAR, got


@t.named("a thousand calls are a thousand parts of the count")
def calls():
    for marks, wanted in (("--from early --to middle", 1000),
                          ("--from middle --to last", 2000),
                          ("--from early --to last", 3000)):
        t.equal(faults(marks, 1, 2, 3, 1000), wanted, marks)
    text = said("--from early --to middle", 1, 2, 3, 1000)
    t.contains(text, "--from 'early' was entered 1000 times; "
                     "--to 'middle' was entered 1000 times; ")


@t.named("--from again while it counts changes nothing")
def again():
    once = faults("--from early", 1, 2, 3, 1000)
    assert 6000 <= once < 6000 + MORE, once


@t.named("many entries: the ring is emptied while the program runs")
def many():
    t.equal(faults("--from early --to middle", 0, 0, 0, LOST), 0)
    text = said("--from early --to middle", 0, 0, 0, LOST)
    t.contains(text, f"--from 'early' was entered {LOST} times")


def wait_for(process, what):
    """Until what() is true, or the process is over."""
    while process.poll() is None and not what():
        time.sleep(0.001)


def lost_once():
    """The report of a tally that sleeps while its program runs."""
    with tempfile.TemporaryFile("w+") as report:
        p = subprocess.Popen([t.tally(), "count", "-m", "host", *FAULTS,
                              "--from", "early", "--to", "middle", "--",
                              phases(), "0", "0", "0", str(LOST)],
                             stderr=report)
        children = pathlib.Path(f"/proc/{p.pid}/task/{p.pid}/children")

        def child():
            with contextlib.suppress(OSError):
                return (children.read_text().split() or [None])[0]

        def shows(word):
            path = pathlib.Path(f"/proc/{child()}/stat")
            with contextlib.suppress(OSError):
                return word in path.read_text()
        wait_for(p, lambda: child() and shows("(host-phases)"))
        p.send_signal(signal.SIGSTOP)
        wait_for(p, lambda: shows(") Z"))
        p.send_signal(signal.SIGCONT)
        p.wait()
        report.seek(0)
        return report.read()


@t.named("entries that were lost: no count at all")
def lost():
    need_uprobes()
    if not pathlib.Path("/proc/self/task", str(os.getpid()),
                        "children").exists():
        raise t.Skip("/proc has no lists of children")
    for _ in range(50):  # it may have been stopped too late
        text = lost_once()
        if "<lost>" in text:
            break
    t.contains(text, "<lost>  page-faults")
    m = re.search(r"(\d+) of (\d+) entries of --from and --to were lost", text)
    t.equal(int(m[2]), 2 * LOST, "entries")
    assert 0 < int(m[1]) < 2 * LOST, m[0]


@t.named("--from never entered: nothing is counted, and it is said")
def never():
    event = count(["--from", "late"]).json["events"][0]
    t.equal((event["value"], event["code"]), (None, "not-begun"))
    t.contains(event["reason"], "'late' was never entered")
    t.contains(said("--from late --to last"),
               "--from 'late' was entered 0 times")
    done = tally([*FAULTS, "--strict", "--from", "late"], phases())
    t.equal(done.returncode, 125, done.stderr)


@t.named("--to never entered: counted to the end, and it is said")
def never_ends():
    got = faults("--from last --to late")
    assert 300 <= got < 300 + MORE, got
    t.contains(said("--from last --to late"), "so counted to the end; ")
    assert "to the end" not in said("--from late --to last")


@t.named("children and other threads are left out, and it is said")
def first_thread():
    own = str(t.build / "test" / "host-children")
    need_uprobes()
    wanted = t.Count(["-m", "host", *FAULTS, "-i"], [own, "20", "100"])
    got = faults("--from main", 20, 100, program=own)
    assert got <= wanted["page-faults"] + NEAR, (got, wanted.values)
    t.contains(said("--from early"), "its first thread alone is counted")


@t.named("-r: each run anew")
def repeat():
    event = count(["-r", "3", "--from", "early", "--to", "middle"]).json[
        "events"][0]
    t.equal((event["mean"], event["stddev"], event["runs"]), (100, 0, 3))


@t.named("several events, in a group and alone")
def events():
    need_uprobes()
    c = t.Count(["-m", "host", "-e", "{page-faults,minor-faults},task-clock",
                 "--from", "early", "--to", "middle"], [phases(), *PAGES])
    t.equal((c["page-faults"], c["minor-faults"]), (100, 100))
    part = c.json["events"][2]
    t.equal(part["enabled"], part["running"], "time")
    assert 0 < part["value"] < c.json["wall_s"] * 1e9, c.values


@t.named("no descriptor is left over, however many runs there are")
def descriptors():
    need_uprobes()
    done = t.run("sh", "-c", 'ulimit -n 24; exec "$@"', "sh", t.tally(),
                 "count", "-m", "host", *FAULTS, "-r", 40, "--from", "early",
                 phases(), 1, 1, 1)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "page-faults")
    assert "<" not in done.stderr, done.stderr


# Refusals

# options and what is run ("phases": that program) | status | what is said.
ERRORS = """\
--from earl phases | 2 | no function 'earl'; did you mean early?
--to midle phases | 2 | no function 'midle'; did you mean middle?
--from main --to main phases | 2 | want two functions, not 'main' twice
--from main -p 1 | 2 | -p does not go with them
--to main -t 1 | 2 | -t does not go with them
--from main -a true | 2 | -a does not go with them
--from main -C 0 true | 2 | -C does not go with them
--from main -I 100 phases | 2 | -I does not go with them
--from main -D 100 phases | 2 | -D does not go with them
--from main /nonexistent | 127 | /nonexistent
"""


def error(line):
    words, status, says = line.split(" | ")
    words = [phases() if w == "phases" else w for w in words.split()]
    done = t.run(t.tally(), "count", "-m", "host", *words)
    t.equal(done.returncode, int(status), f"status; {done.stderr!r}")
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    t.contains(done.stderr, says)


for line in ERRORS.strip().splitlines():
    t.case(f"count -m host {line}", error, line)


@t.named("a stripped program has no functions")
def stripped():
    if shutil.which("strip") is None:
        raise t.Skip("no strip")
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "stripped")
        t.equal(t.run("strip", "-o", path, phases()).returncode, 0, "strip")
        done = tally([*FAULTS, "--from", "early"], path)
    t.equal(done.returncode, 2, done.stderr)
    t.contains(done.stderr, "no symbol table to find 'early' in")


# On a machine that the mock plays: there functions are never entered, and
# uprobes count by themselves.
UPROBE = "cpus 2\npmu uprobe software type=9"
CORE = "\npmu cpu core type=4 counters=2"

# name, script, options, status, what is said
MOCKED = [
    ("no uprobes", "cpus 2", "--from early", 125,
     "--from early: this kernel has no uprobes"),
    ("no uprobes for --to", "cpus 2", "--to early", 125, "--to early: this"),
    ("not root", UPROBE + "\ncapable no\nfail open EACCES type=9",
     "--from early", 125, "uprobes are for root alone"),
    ("not root, and nothing else either", UPROBE + "\ncapable no\nparanoid 4",
     "--from early", 125, "uprobes are for root alone"),
    ("a module says no", UPROBE + "\nfail open EPERM type=9", "--to early",
     125, "a security module"),
    ("a file system without", UPROBE + "\nfail open EIO type=9",
     "--from early", 125, "cannot put a uprobe into this file"),
    ("the second probe fails", UPROBE + "\nfail open EIO type=9 after=1",
     "--from early --to last", 125, "--to last: the kernel cannot"),
    ("no ring", UPROBE + "\nfail mmap EPERM", "--from early", 125,
     "no ring of records: Operation not permitted"),
    ("none was told", UPROBE, "--from early", 0, "<lost>  page-faults"),
    ("the counters are taken away", UPROBE + "\nfail read END",
     "--from early", 0, "<busy>  page-faults"),
    ("hardware events in the group", UPROBE + CORE + "\nrate 9 0 0",
     "--to late -e cycles,instructions", 0, "2,000,000  cycles"),
    ("more of them than counters", UPROBE + CORE + "\nrate 9 0 0",
     "--to late -e cycles,instructions,branches", 0, "<busy>  branches"),
    ("an event of no program", UPROBE + "\npmu u uncore type=7 cpumask=0\n"
     "format u event config:0-7", "--to late -e u/event=1/", 0,
     "it counts whole cpus, and --from and --to one program"),
]


def mocked(script, options, status, says):
    library = t.build / "test" / "mock" / "mock-kernel.so"
    if not library.exists():
        raise t.Skip("the mock is not built")
    with tempfile.TemporaryDirectory(prefix="tally-mock-") as folder:
        root = pathlib.Path(folder)
        (root / "script").write_text(f"{script}\n")
        tree.make(root / "script", root / "tree")
        env = {**os.environ, "LC_ALL": "C", **tree.variables(
            root / "script", root / "tree", library, root / "log")}
        events = [] if "-e" in options else FAULTS
        done = tally([*events, *options.split()], phases(), env=env)
    t.equal(done.returncode, status, f"status; {done.stderr!r}")
    t.contains(done.stderr, says)
    if status != 0:
        t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")


for row in MOCKED:
    t.case(f"played: {row[0]}", mocked, *row[1:])

t.main()
