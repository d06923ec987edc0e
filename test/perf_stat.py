#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The options of perf stat: perf_stat.py BUILD [WORD]

Every row of data/perf-stat.toml is given to tally count, on a machine that
test/mock plays; then come the options of runs and reports, on the host and on
a modelled machine.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile

import tallytest as t
from mock_help import Machine

sys.path.insert(0, t.source("scripts"))
import perf_stat  # noqa: E402

SECTIONS = perf_stat.load(pathlib.Path(t.source("data", "perf-stat.toml")))[1]
ROWS = perf_stat.rows(SECTIONS)


def count(*words, **how):
    return t.run(t.tally(), "count", *words, **how)


def refused(done, text):
    t.equal((done.returncode, done.stdout), (2, ""), "status, stdout")
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    t.contains(done.stderr, text)


# Rows

def given(row):
    """The option on a machine with counters does what its row says."""
    words = [w.replace("{pid}", str(os.getpid())) for w in row["try"]]
    with Machine("intel") as machine:
        done = machine.run(t.tally(), "count", "-m", "host", *words, "--",
                           "true")
    if "says" in row:
        refused(done, row["says"])
    else:
        t.equal(done.returncode, 0, f"status; {done.stderr!r}")


def names_refused(row):
    """Each spelling is answered by the advice, wherever it would count."""
    for name in row["names"]:
        if not name.startswith("-"):
            refused(t.run(t.tally(), "stat", name, "--", "true"),
                    f"there is no {name}: {row['advice']}\n")
            t.equal(t.run(t.tally(), "count", "--", name).returncode, 127,
                    "status of a program that is missing")
            continue
        words = [name, "1"] if row.get("argument", "[")[0] != "[" else [name]
        for machine in ([], ["-m", "host"], ["-m", "ultrasparc-t2"]):
            refused(count(*machine, *words, "--", "true"),
                    f"there is no {name}: {row['advice']}\n")


for row in ROWS:
    if "try" in row:
        t.case(" ".join(row["try"]), given, row)
    if row["standing"] == "refused":
        t.case(f"{row['names'][-1]} is refused", names_refused, row)


@t.named("every option of perf 6.1 has a row")
def complete():
    done = t.run("perf", "stat", "-h") if shutil.which("perf") else None
    if not done or "6.1" not in t.run("perf", "--version").stdout:
        raise t.Skip("perf 6.1 is not installed")
    said = re.findall(r"^ +(?:(-\w), |    )(--[\w-]+)?",
                      done.stdout + done.stderr, re.MULTILINE)
    wanted = {name for names in said for name in names if name}
    has = {name for row in ROWS for name in row["names"]}
    if len(wanted) < 70 or wanted - has:
        raise AssertionError(f"of {len(wanted)} options missing: "
                             f"{wanted - has}")


@t.named("every row that is not refused is tried")
def tried():
    bare = [row["names"][0] for row in ROWS
            if row["standing"] != "refused" and "try" not in row]
    t.equal(bare, [], "rows without try")


# Runs and reports. MACHINES: how to count, and a program, on the host and on a
# modelled machine.

def on_host():
    return ["-m", "host", "-e", "page-faults:u"], "true"


def on_model():
    return ["-m", "ultrasparc-t2", "-e", "All_instr"], t.guest("hello.sparc64")


MACHINES = {"host": on_host, "model": on_model}


def each(name):
    """A decorator: a case for each of the machines."""
    def add(function):
        for where, machine in MACHINES.items():
            t.case(f"{where}: {name}", lambda m: function(*m()), machine)
        return function
    return add


@each("--table shows each run, in text and JSON")
def table(machine, program):
    event = machine[-1]
    text = count(*machine, "-r", 4, "--table", "--", program).stderr
    runs = [line.split()[1:] for line in text.splitlines()
            if line.split()[:1] == ["run"]]
    t.equal(sum(runs, []), ["1", "2", "3", "4"], "columns")
    values = [line.split()[1:] for line in text.splitlines()
              if line.split()[:1] == [event]]
    t.equal(len(sum(values, [])), 4, f"values in {text!r}")
    report = json.loads(count(*machine, "-r", 4, "--table", "-j", "--",
                              program).stderr)
    t.equal(len(report["runs"]), 4, "runs")
    mean = sum(run["values"][0] for run in report["runs"]) / 4
    assert abs(mean - report["events"][0]["mean"]) < 1e-6, report
    assert all(run["wall_s"] > 0 for run in report["runs"]), report


@each("-r -x, has the spread in the last column")
def spread(machine, program):
    columns = {}
    for runs in (1, 3):
        done = count(*machine, "-x,", "-r", runs, "--", program)
        columns[runs] = next(csv.reader([done.stderr.splitlines()[0]]))
    t.equal(len(columns[3]), len(columns[1]) + 1, "columns")
    assert re.fullmatch(r"\d+\.\d\d%", columns[3][-1]), columns
    t.equal(columns[3][1:3], columns[1][1:3], "unit, event")


@each("--pre and --post run around each run")
def around(machine, program):
    with tempfile.TemporaryDirectory() as d:
        done = count(*machine, "-r", 2, "--pre", f"echo pre >>{d}/said",
                     "--post", f"echo post >>{d}/said", "--", program)
        said = pathlib.Path(d, "said").read_text()
    t.equal((done.returncode, said), (0, "pre\npost\n" * 2), "status, order")


@each("--pre or --post that fails ends it: one line, 125")
def around_fails(machine, program):
    for option, command, ended in (("--pre", "exit 3", "exited with 3"),
                                   ("--pre", "kill -9 $$", "killed by SIGKILL"),
                                   ("--post", "exit 4", "exited with 4")):
        done = count(*machine, option, command, "--", program)
        t.equal((done.returncode, done.stderr.count("\n")), (125, 1),
                f"status, lines: {done.stderr!r}")
        t.contains(done.stderr, f"{option} '{command}' ")
        t.contains(done.stderr, f"{ended}, so counting ends")


@each("--metric-only leaves the events out of each form")
def metric_only(machine, program):
    metric = "ipc" if "host" not in machine else "page_faults_per_second"
    words = [*machine[:2], "--metric-only", "-M", metric]
    lines = [line.split() for line in
             count(*words, "--", program).stderr.splitlines()]
    names = [line[1] for line in lines if len(line) > 1 and line[0] != "no"]
    assert metric in names, lines
    t.equal({"All_instr", "cycles", "page-faults", "task-clock"} & set(names),
            set(), "events")
    rows = list(csv.reader(count(*words, "-x,", "--", program)
                           .stderr.splitlines()))
    t.equal([row[6] for row in rows], [metric], "rows")
    report = json.loads(count(*words, "-j", "--", program).stderr)
    t.equal((report["events"], [m["name"] for m in report["metrics"]]),
            ([], [metric]), "JSON")


@each("--log-fd writes there, and nothing on stderr")
def log_fd(machine, program):
    for form in ([], ["-x,"], ["-j"]):
        read, write = os.pipe()
        done = count(*machine, *form, "--log-fd", write, "--", program,
                     pass_fds=[write])
        os.close(write)
        with open(read) as pipe:
            t.contains(pipe.read(), machine[-1])
        t.equal((done.returncode, done.stderr), (0, ""), "status, stderr")


@each("--no-big-num leaves the separators away, -B does not")
def big_num(machine, program):
    words = [*machine[:2], "-e", {"host": "task-clock", "ultrasparc-t2":
                                  "All_instr"}[machine[1]]]
    plain = count(*words, "--no-big-num", "--", program).stderr
    t.equal(re.findall(r"\d,\d", plain), [], "separators")
    if machine[1] != "host":
        t.equal(len(re.findall(r"\d,\d", count(*words, "-B", "--",
                                               program).stderr)), 1, "with -B")


@t.named("model: --table of --per-thread and --compare keeps its form")
def table_beside():
    machine, program = on_model()
    done = count(*machine, "--hardware", "--compare", "--per-thread", "-r", 2,
                 "--table", "--", program)
    refused(done, "--hardware does not go with '--per-thread'")
    done = count(*machine, "--hardware", "--compare", "-r", 2, "--table",
                 "-j", "--", program)
    t.equal(len(json.loads(done.stderr)["runs"]), 2, "runs")


@each("-I --summary ends CSV and JSON with the sums")
def summary(machine, program):
    length = ["-I", "1000" if machine[1] == "host" else "1"]
    rows = list(csv.reader(count(*machine, *length, "-x,", "--summary", "--",
                                 program).stderr.splitlines()))
    t.equal([row[0] == "summary" for row in rows],
            [False] * (len(rows) - 1) + [True], "first columns")
    t.equal(sum(int(row[1]) for row in rows[:-1]), int(rows[-1][1]), "the sum")
    lines = [json.loads(line) for line in
             count(*machine, *length, "-j", "--summary", "--", program)
             .stderr.splitlines()]
    t.equal([line.get("summary") for line in lines],
            [None] * (len(lines) - 1) + [True], "keys")
    t.equal(sum(line["events"][0]["value"] for line in lines[:-1]),
            lines[-1]["events"][0]["value"], "the sum")


@t.named("host: task-clock is in msec in text and CSV, in ns in JSON")
def msec():
    words = ["-m", "host", "-e", "task-clock"]
    assert re.search(r"^ +[\d.]+ msec  task-clock", count(
        *words, "--", "true").stderr, re.MULTILINE), "text"
    [row] = csv.reader(count(*words, "-x,", "--", "true").stderr.splitlines())
    t.equal(row[1:3], ["msec", "task-clock"], "unit, event")
    # What the clock ran is the time that it was enabled, in ns.
    assert abs(float(row[0]) * 1e6 - int(row[3])) <= float(row[0]) * 1e5, row
    [event] = json.loads(count(*words, "-j", "--", "true").stderr)["events"]
    t.equal(event["unit"], "ns", "unit")


@t.named("codes between slashes on host-model")
def slashed_codes():
    words = ["cpu/r00c0/", "cpu/rc0/u", "cpu/config=0xc0/", "cpu/event=0xc0/",
             "cpu/instructions/"]
    if os.uname().machine != "x86_64":
        raise t.Skip("host-model runs programs for x86-64")
    done = count("-m", "host-model", "-j", "-e", ",".join(words), "--", "true")
    events = json.loads(done.stderr)["events"]
    t.equal([(e["asked"], e["name"]) for e in events],
            [(word, "instructions") for word in words], "events")
    refused(count("-m", "host-model", "-e", "cpu/r01ff/", "--", "true"),
            "'cpu/r01ff/': host-model has no event of this code; it has")


@t.named("-x '\\t' separates columns by tabs")
def tabs():
    done = count("-m", "host", "-e", "page-faults", "-x", "\\t", "--", "true")
    t.equal(len(done.stderr.split("\t")), 9, f"columns of {done.stderr!r}")


@t.named("tally count record: what to do, where there is no such program")
def subcommand():
    with tempfile.TemporaryDirectory() as d:
        env = {**os.environ, "PATH": d}
        refused(count("record", env=env), "there is no record: -j -o FILE")
        shutil.copy("/bin/true", f"{d}/record")
        t.equal(count("-m", "host", "-e", "page-faults", "record",
                      env=env).returncode, 0, "status of the program")


# Bad usage: options, and what the line says.
WRONG = [
    ("--table", "--table shows each of the runs of '-r'"),
    ("--table -r 2 -x,", "--table goes with text and JSON, not with 'CSV'"),
    ("--table -r 2 -I 10", "--table does not go with '-I'"),
    ("--metric-only", "--metric-only shows the metrics of '-M'"),
    ("--metric-only -e cycles", "--metric-only shows the metrics of '-M'"),
    ("--summary", "--summary adds up the intervals of '-I'"),
    ("--interval-clear", "--interval-clear is for the intervals of '-I'"),
    ("-I 10 --interval-clear -j", "for text on a terminal, not for 'JSON'"),
    ("-I 10 --interval-clear -o x", "for text on a terminal, not for '-o'"),
    ("-m ultrasparc-t2 -I 10 --interval-clear",
     "--interval-clear is for the host's counters"),
    ("-B -x,", "separators stand in text alone; leave away '-B'"),
    ("--no-big-num -j", "separators stand in text alone"),
    ("--log-fd 0", "--log-fd takes a descriptor from 1 on, not '0'"),
    ("--log-fd x", "--log-fd takes a descriptor from 1 on, not 'x'"),
    ("--log-fd 999", "--log-fd takes an open descriptor, not '999'"),
    ("-g sleep 1", "-g takes metrics, as -M does; -e '{A,B}' makes a group"),
    ("-x \\n", "-x takes one sign such as , or ; or | or \\t, not '\\n'"),
    ("--log-fd 2 -o x", "--log-fd does not go with '-o'"),
    ("--pre", "a value is missing after --pre"),
    ("-r 0", "-r takes 1 to 100000, not '0'"),
    ("-D -1", "-D takes 0 to "),
    ("-x, --json-output", "-x and -j want two forms of report"),
]


def wrong(words, says):
    missing = [] if words == "--pre" else ["--", t.guest("hello.sparc64")]
    refused(count(*words.split(), *missing), says)


for words, says in WRONG:
    t.case(f"{words} is refused", wrong, words, says)

t.main()
