#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""perfex.py BUILD [WORD]: tally perfex on real programs.

What it counts is held against tally count; its form against IRIX's.
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile

import tallytest as t

ROW = re.compile(r" *(\d+) ([A-Z][^.]*)\.+ *(\d+|idle|not-counted)(.*)")


def perfex(*words, program=("spin.mips64", 10000000), env=None):
    name, *rest = program
    done = t.run(t.tally(), "perfex", *words, "--", t.guest(name), *rest,
                 env=os.environ | (env or {}))
    t.equal(done.returncode, 0, done.stderr)
    return done.stderr


def rows(text):
    """{number: (name, value)} of a report in text."""
    return {int(m[1]): (m[2], m[3]) for m in map(ROW.fullmatch,
                                                 text.splitlines()) if m}


def exact(machine, events, program=("spin.mips64", 10000000)):
    name, *rest = program
    return t.count(["-m", machine, "-e", events], t.guest(name), *rest).values


@t.named("both counters count cycles where nothing is asked for")
def default():
    want = str(exact("r10000", "Cycles")["Cycles"])
    got = rows(perfex())
    t.equal(got, {0: ("Cycles", want), 16: ("Cycles", want)})
    t.equal(rows(perfex("-m", "r12000")).keys(), {0})


@t.named("two events by number and by name; one leaves a counter to cycles")
def two():
    want = exact("r10000", "15,18")
    got = rows(perfex("-e", "15", "-e", "graduated_loads"))
    t.equal({k: int(v) for k, (_, v) in got.items()},
            {15: want["Graduated_instructions"], 18: want["Graduated_loads"]})
    t.equal(list(rows(perfex("-e", "15"))), [15, 16])
    t.equal(list(rows(perfex("-e", "25"))), [25, 0])
    t.equal(list(rows(perfex("-m", "r12000", "-e", "18"))), [18, 0])


@t.named("T5_EVENT0 and T5_EVENT1 where no -e stands")
def environment():
    env = {"T5_EVENT0": "15", "T5_EVENT1": "18"}
    t.equal(list(rows(perfex(env=env))), [15, 18])
    t.equal(list(rows(perfex("-e", "9", "-e", "19", env=env))), [9, 19])
    t.equal(list(rows(perfex(env={"T5_EVENT1": "18"}))), [18, 0])


@t.named("-a: all 32 events, projected; a steady program's lie within 5 %")
def project():
    for machine in ("r10000", "r12000"):
        text = perfex("-a", "-m", machine, program=("spin.mips64", 50000000))
        got = rows(text)
        t.equal(sorted(got), list(range(32)), machine)
        whole = exact(machine, "0,15,18,24,6", ("spin.mips64", 50000000))
        for number, name in ((0, "Cycles"), (15, "Graduated_instructions")):
            off = int(got[number][1]) / whole[name] - 1
            assert abs(off) < 0.05, (machine, name, off)
        assert "WARNING: events take turns" in text, text
        assert "  idle: 8: " in text, text


@t.named("-a: the report says which projections are off by more than 5 %")
def off():
    done = json.loads(perfex("-a", "-j"))
    text = perfex("-a")
    told = dict(re.findall(r"(\w[\w-]*) \(([+-][\d.]+) %\)", text))
    for row in done["events"]:
        if row["value"] is None:
            t.contains(("idle", "not-counted"), row["code"])
            continue
        far = row["off_percent"] is not None and abs(row["off_percent"]) > 5
        t.equal(row["name"] in told, far, row["name"])
    few = perfex("-e", "0", "-e", "15", "-e", "17",
                 program=("spin.mips64", 50000000))
    t.contains(few, "All projections are within 5 % of the exact totals.")


@t.named("-y: time is count times cost, the most expensive first")
def costs():
    document = json.loads(perfex("-y", "-j", "-e", "0", "-e", "18"))
    cycles, loads = document["events"]
    for kind in ("minimum", "typical", "maximum"):
        t.equal(cycles["time_s"][kind], cycles["value"] / 200e6, kind)
    t.equal(loads["time_s"]["minimum"], 0)
    text = perfex("-y", "-e", "18", "-e", "0")
    t.equal(list(rows(text)), [0, 18])
    t.contains(perfex("-y", "-e", "17"), "graduated in a cycle")
    slow = json.loads(perfex("-y", "-j", "-e", "26", "-e", "0", "--set",
                             "time.memory=124"))["events"][0]
    t.equal(slow["time_s"]["typical"], slow["value"] * 124 / 200e6)


@t.named("-t prints costs, -c reads them back; bad files name their line")
def cost_file():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "costs")
        table = perfex("-t", "-e", "0").split("\n\n")[-1]
        path.write_text(table)
        again = perfex("-t", "-c", path, "-e", "0").split("\n\n")[-1]
        short = [[line.split("#")[0].rstrip() for line in x.splitlines()]
                 for x in (table, again)]
        t.equal(*short)
        path.write_text("# mine\n0 2 1 3 # cycles\n")
        row = json.loads(perfex("-yj", "-c", path, "-e", "0"))["events"][0]
        t.equal(row["time_s"]["typical"], row["value"] * 2 / 200e6)
        for line, what in (("0 1 1", "a line is EVENT"),
                           ("0 1 2 3", "between minimum and maximum"),
                           ("0 1 x 1", "a line is EVENT"),
                           ("0 nan 0 1", "a line is EVENT"),
                           ("none 1 1 1", "no event 'none'")):
            path.write_text("\n" + line + "\n")
            done = t.run(t.tally(), "perfex", "-y", "-c", path,
                         t.guest("hello.mips64"))
            t.equal(done.returncode, 2, done.stderr)
            t.contains(done.stderr, f"{path}:2: ")
            t.contains(done.stderr, what)
            t.equal(done.stderr.count("\n"), 1, done.stderr)


@t.named("-mp: threads, which add up")
def threads():
    text = perfex("-mp", "-e", "17", program=("crew.mips64",))
    values = [int(v) for v in re.findall(
        r"^ 17 Graduated instructions\.+ *(\d+)", text, re.M)]
    t.equal(text.count("Summary for thread"), len(values) - 1)
    assert len(values) > 2, text
    t.equal(values[0], sum(values[1:]))


@t.named("-p: periods add up to the whole")
def period():
    text = perfex("-p", "5", "-e", "15", "-e", "18")
    *parts, whole = [int(v) for v in re.findall(
        r"^ 15 Graduated instructions\.+ *(\d+)", text, re.M)]
    assert len(parts) > 3, text
    t.equal(sum(parts), whole)
    lines = perfex("-p", "5", "-j", "-e", "15").splitlines()
    t.equal(sum(json.loads(line)["events"][0]["value"] for line in lines),
            whole)


def between_signals(seconds):
    """A run of which a part is counted: from SIGUSR1 until the program has had
    so much more of a processor."""
    words = [t.tally(), "perfex", "-s", "-j", "-e", "15", "-e", "18", "--",
             t.guest("spin.mips64"), "1000000000"]
    run = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        after = t.child_seconds(run.pid) + seconds
        t.wait_for("the program runs",
                   lambda: run.poll() is not None
                   or t.child_seconds(run.pid) > after)
        run.send_signal(number)
    text = run.communicate(timeout=600)[1]
    document = json.loads(text)
    t.equal(document["status"], {"exit": 0})
    part = document["events"][0]["value"]
    whole = document["strands"][0]["events"]["Graduated_instructions"]
    assert 0 < part < whole, (part, whole)


@t.named("-s: counts from SIGUSR1 to SIGUSR2, which the program does not get")
def signals():
    t.patiently(between_signals, (0.5, 1, 2))
    none = perfex("-s", "-e", "15")
    t.equal(rows(none)[15][1], "0")
    t.contains(none, "no SIGUSR1 came")


@t.named("other machines with counters")
def others():
    done = t.run(t.tally(), "perfex", "-j", "-e", "All_instr", "-e",
                 "Load_instr", t.guest("spin.sparc64"), 1000000)
    got = {e["name"]: e["value"] for e in json.loads(done.stderr)["events"]}
    t.equal(got, t.count(["-e", "All_instr,Load_instr"],
                         t.guest("spin.sparc64"), 1000000).values)


@t.named("on the host, as far as it has counters")
def host():
    done = t.run(t.tally(), "perfex", "-m", "host", "-j", "-e",
                 "page-faults,task-clock", "true")
    t.equal(done.returncode, 0, done.stderr)
    t.equal([e["name"] for e in json.loads(done.stderr)["events"]],
            ["page-faults", "task-clock"])
    t.equal(t.run(t.tally(), "perfex", "false").returncode, 1)
    t.equal(t.run(t.tally(), "perfex", "/none").returncode, 127)


@t.named("on the host -p is in real time; what it cannot have it says")
def host_options():
    words = t.tally(), "perfex", "-m", "host", "-e", "task-clock"
    done = t.run(*words, "-p", "50", "-j", "sleep", "0.2")
    t.equal(done.returncode, 0, done.stderr)
    times = [json.loads(line)["at_s"] for line in done.stderr.splitlines()]
    assert len(times) >= 3 and times == sorted(times), done.stderr
    done = t.run(*words, "-p", "50", "sleep", "0.2")
    assert done.stderr.count("Up to 0.") >= 3, done.stderr
    t.contains(done.stderr, "task-clock")
    for option, why in (("-mp", "the kernel adds up the threads"),
                        ("-y", "no table says what"),
                        ("-s", "it is for a modelled machine")):
        done = t.run(*words, option, "true")
        t.equal(done.returncode, 2, option)
        t.contains(done.stderr, f"no {option} with the host's counters: {why}")
    # A report that cannot be written is an error, said once.
    t.equal(t.run(*words, "-p", "20", "-o", "/dev/full", "sleep", "0.1")
            .returncode, 125)


@t.named("tally-perfex is the same command; -o writes a file")
def names():
    with tempfile.TemporaryDirectory() as folder:
        link, report = (pathlib.Path(folder, n) for n in ("tally-perfex", "r"))
        link.symlink_to(t.tally())
        done = t.run(link, "-o", report, "-e", "15",
                     t.guest("hello.mips64"), env=os.environ | {
                         "TALLY_PLUGIN": ""})
        t.equal(done.returncode, 0, done.stderr)
        t.equal(done.stderr, "")
        t.equal(list(rows(report.read_text())), [15, 16])


@t.named("the status is the program's; every form ends as one document")
def status():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report")
        done = t.run(t.tally(), "perfex", "-j", "-e", "15", "-o", path,
                     t.guest("crash.mips64"), "segv")
        t.equal(done.returncode, 128 + signal.SIGSEGV, done.stderr)
        t.equal(json.loads(path.read_text())["status"],
                {"signal": signal.SIGSEGV})
    lines = perfex("--format", "csv", "-e", "15", "-e", "18").splitlines()
    t.equal([len(line.split(",")) for line in lines], [9, 9])


t.main()
