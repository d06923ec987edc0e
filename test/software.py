#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Software events beside modelled ones: software.py BUILD [WORD]

The kernel counts QEMU, so numbers vary; each case compares what must hold in
any run: sums of one run, and faults or switches that the program forces.
"""
import csv
import io
import json
import os

import tallytest as t
from host_help import program
from live_help import ARCHES, INSTRUCTIONS, T2, g
from mock_help import Machine

FOUR = "task-clock,page-faults,instructions,L1-dcache-load-misses"
# Every software event, and those that a kernel may keep to itself.
WAITED = ["task-clock", "cpu-clock", "page-faults", "minor-faults",
          "major-faults", "context-switches"]
OPENED = ["cpu-migrations", "alignment-faults", "emulation-faults",
          "cgroup-switches"]


def native(name):
    """A native program that a modelled machine runs, too."""
    if os.uname().machine != "x86_64":
        raise t.Skip("host-model runs programs for x86-64")
    return program(name)


def modelled(options, *command, **how):
    return t.count(["-m", "host-model", *options], *command, **how)


def event(c, name):
    return next(e for e in c.json["events"] if e["name"] == name)


def refused(options, *words, command=("hello", "x86_64")):
    """A line on stderr with all the words, and status 2."""
    done = t.run(t.tally(), "count", "-m", "host-model", *options, "--",
                 g(*command))
    t.equal(done.returncode, 2, f"status; {done.stderr!r}")
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    t.equal(done.stdout, "", "the program has not run")
    for word in words:
        t.contains(done.stderr, word)


@t.named("two of the kernel and two of the model: all four have a value")
def four():
    c = modelled(["-e", FOUR], native("page_faults"), 5000)
    t.equal(list(c.values), FOUR.split(","), "events, in the order of -e")
    alone = modelled(["-e", "instructions,L1-dcache-load-misses"],
                     native("page_faults"), 5000)
    t.equal({k: c[k] for k in alone.values}, alone.values, "of the model")
    assert c["page-faults"] >= 5000, c["page-faults"]
    assert c["task-clock"] > 0, c["task-clock"]


@t.named("times, faults and switches are those of wait4")
def one_source():
    c = modelled(["-e", ",".join(WAITED)], g("spin", "x86_64"), 1000)
    t.equal(c["page-faults"], c["minor-faults"] + c["major-faults"], "faults")
    t.equal(c["cpu-clock"], c["task-clock"], "clocks")
    both = round((c.json["user_s"] + c.json["sys_s"]) * 1e9)
    assert abs(c["task-clock"] - both) <= 1000, (c["task-clock"], both)


@t.named("faults of children are in the sum, switches are counted")
def children():
    c = modelled(["-e", "faults,instructions"], native("children"), 4, 1000)
    assert c["page-faults"] >= 4000, c["page-faults"]
    c = modelled(["-e", "cs,instructions"], native("switcher"), 200)
    before = sum(map(int, c.stdout.split()))
    assert c["context-switches"] >= before > 0, (c.values, before)


def on_arch(arch):
    """Aliases, in any case, beside the machine's own events."""
    names = ["task-clock", "context-switches", "page-faults", "cpu-clock"]
    c = t.count(["-e", f"Task-Clock,CS,{INSTRUCTIONS[arch]},FAULTS,cpu-CLOCK"],
                g("hello", arch))
    t.equal([e["name"] for e in c.json["events"] if "source" in e], names,
            "events of the kernel")
    for name in [*names, INSTRUCTIONS[arch]]:
        assert isinstance(c[name], int), (name, c[name])


for arch in ARCHES:
    t.case(f"{arch}: the machine of its programs has them", on_arch, arch)


@t.named("every modelled machine has them")
def every_machine():
    for machine, isas in t.machines().items():
        arch = next((a for a in ARCHES if a in isas), "sparc64")
        c = t.count(["-m", machine, "-e", "page-faults"], g("hello", arch))
        t.equal(c.json["machine"], machine)
        assert c["page-faults"] > 0, (machine, c.values)


@t.named("JSON: a standing and a source of their own, and no value by thread")
def json_rows():
    c = modelled(["-e", FOUR, "--per-thread"], g("hello", "x86_64"))
    for name in ("task-clock", "page-faults"):
        t.equal(event(c, name)["fidelity"], "emulator", name)
        t.equal(event(c, name)["source"], "kernel", name)
        t.equal([s["events"][name] for s in c.json["strands"]], [None], name)
    t.equal(event(c, "instructions")["fidelity"], "exact")
    assert "source" not in event(c, "instructions")


@t.named("CSV: the columns are those of the model's events")
def csv_rows():
    options = ["-m", T2, "-x,", "-e", "task-clock,All_instr,page-faults"]
    for extra in ([], ["--hardware", "--compare"]):
        done = t.run(t.tally(), "count", *options, *extra, "--",
                     g("hello", "sparc64"))
        rows = list(csv.reader(io.StringIO(done.stderr)))
        t.equal([r[2] for r in rows],
                ["task-clock", "All_instr", "page-faults"], "events")
        t.equal({len(r) for r in rows}, {11 if extra else 9}, "columns")
        t.equal([r[7] for r in rows], ["emulator", "exact", "emulator"])


@t.named("text: milliseconds, cpus, and whose counts they are")
def text_rows():
    done = t.run(t.tally(), "count", "-m", "host-model", "-e", FOUR,
                 "--per-thread", "--", g("hello", "x86_64"))
    lines = [line.split() for line in done.stderr.splitlines() if line]
    clock = next(line for line in lines if "task-clock" in line)
    t.equal(clock[1:4], ["msec", "task-clock", "emulator"])
    t.equal(clock[-2:], ["CPUs", "utilized"])
    t.contains(done.stderr, "emulator: the kernel's counts of QEMU as a whole")
    t.equal(done.stderr.count("page-faults"), 1, "not by thread")


@t.named("-r: means and deviations")
def repeats():
    c = modelled(["-e", "page-faults,instructions", "-r", "3"],
                 native("page_faults"), 100)
    row = event(c, "page-faults")
    t.equal(row["runs"], 3)
    assert row["mean"] >= 100 and row["stddev"] >= 0, row
    t.equal(row["value"], round(row["mean"]), "the mean, rounded")


@t.named("--hardware: the counters count as without them")
def hardware():
    events = "task-clock,All_instr,page-faults,Dcache_misses"
    c = t.count(["-m", T2, "--hardware", "-e", events], g("hello", "sparc64"))
    alone = t.count(["-m", T2, "--hardware", "-e", "All_instr,Dcache_misses"],
                    g("hello", "sparc64"))
    t.equal({k: c[k] for k in alone.values}, alone.values, "of the counters")
    assert c["page-faults"] > 0, c["page-faults"]
    refused(["--hardware", "-e", "task-clock"], "--hardware", "task-clock")


@t.named("metrics and groups go with them")
def company():
    c = modelled(["-e", "{task-clock,instructions},{cs}", "-M", "ipc"],
                 g("hello", "x86_64"))
    t.equal(list(c.values)[:3], ["task-clock", "instructions",
                                 "context-switches"])
    assert c.json["metrics"][0]["value"] > 0, c.json["metrics"]


@t.named("all and default leave them out")
def not_of_all():
    for options in (["-e", "all"], ["-e", "default"], []):
        c = modelled(options, g("hello", "x86_64"))
        t.equal([e["name"] for e in c.json["events"] if "source" in e], [])


@t.named("tally list and tally show tell of them")
def told():
    done = t.run(t.tally(), "list", "events", "-m", T2, "-j", "faults")
    names = [row["name"] for row in json.loads(done.stdout)["software"]]
    assert "page-faults" in names and "task-clock" not in names, names
    rows = t.run(t.tally(), "list", "events", "-m", T2).stdout
    t.contains(rows, f"{T2}, software events: the kernel counts them of the "
                     "emulator")
    for machine in ([], ["-m", T2]):
        done = t.run(t.tally(), "show", *machine, "CS")
        t.equal(done.returncode, 0, done.stderr)
        t.contains(done.stdout, "context-switches, an event of host")
        t.contains(done.stdout, "the kernel's count of QEMU as a whole")


for name, options in (
        ("-I", ["-I", "1"]), ("--from", ["--from", "main"]),
        ("--to", ["--to", "main"]), ("--skip", ["--skip", "10"]),
        ("--filter", ["--filter", "code=main"])):
    t.case(f"{name} does not go with them", refused,
           [*options, "-e", "instructions,cs"], name, "context-switches")
for letters in ("page-faults:u", "cs:k", "{instructions,page-faults}:u"):
    t.case(f"{letters} is refused", refused, ["-e", letters],
           "user and kernel level together")
t.case("no part of one is counted", refused, ["-e", "page-faults:thr=1"],
       "a count takes no part of page-faults")
t.case("a near name is offered", refused, ["-e", "page-fault"],
       "did you mean page-faults?")
t.case("codes of the kernel are no names", refused, ["-e", "software/0x1"],
       "unknown event")


# Where the kernel refuses

def without_perf(script, code):
    """What wait4() has stays; the rest has a reason, and --strict fails."""
    with Machine(script) as machine:
        c = modelled(["-e", ",".join(WAITED + OPENED)], g("hello", "x86_64"),
                     env=machine.env())
        strict = t.run(t.tally(), "count", "-m", "host-model", "--strict",
                       "-e", "cpu-migrations", "--", g("hello", "x86_64"),
                       env=machine.env())
    for name in WAITED:
        assert isinstance(c[name], int), (name, c[name])
    for name in OPENED:
        row = event(c, name)
        t.equal((row["value"], row["code"]), (None, code), name)
        assert row["reason"], row
    t.equal(strict.returncode, 125, f"status; {strict.stderr}")


CPU = "cpus 2\npmu cpu core type=4\n"
for script, code in (
        ("cpus 2\nparanoid 3\ncapable no", "paranoid"),
        ("cpus 2\nseccomp 2\nfail open EPERM", "seccomp"),
        ("cpus 2\nseccomp 2\nfail open ENOSYS", "seccomp")):
    name = script.replace("\n", ", ")
    t.case(f"{name}: what needs perf_event has a reason", without_perf,
           script, code)


@t.named("paranoid 2: events of user level are counted, those of the "
         "scheduler not")
def paranoid_two():
    with Machine("cpus 2\nparanoid 2\ncapable no") as machine:
        c = modelled(["-e", "alignment-faults,cpu-migrations"],
                     g("hello", "x86_64"), env=machine.env())
    assert isinstance(c["alignment-faults"], int), c.values
    t.equal(event(c, "cpu-migrations")["code"], "paranoid")
    t.contains(event(c, "cpu-migrations")["mend"],
               "sudo sysctl kernel.perf_event_paranoid=1")


# Which machine counts

NO_PMU = "no-pmu"
CHOICES = [
    # script, options, machine
    (NO_PMU, ["-e", "task-clock,page-faults"], "host"),
    (NO_PMU, ["-e", "{cs,faults}:u,task-clock:k"], "host"),
    (NO_PMU, ["-e", "task-clock,instructions"], "host-model"),
    (NO_PMU, ["-e", "task-clock", "-M", "ipc"], "host-model"),
    (NO_PMU, [], "host-model"),
    (NO_PMU, ["-I", "1"], "host-model"),
    (NO_PMU, ["-I", "1000", "-e", "page-faults"], "host"),
    (CPU, [], "host"),
    (CPU, ["-I", "1000"], "host"),
    (CPU, ["-I", "1000", "-e", "task-clock,instructions"], "host"),
    ("cpus 2\nparanoid 3\ncapable no", ["-e", "page-faults"], "host-model"),
    ("cpus 2\nseccomp 2\nfail open EPERM", ["-e", "task-clock"],
     "host-model"),
]


def chosen(script, options, wanted):
    """JSON has a document an interval, of which any names the machine."""
    native("page_faults")
    with Machine(script) as machine:
        report = os.path.join(machine.folder.name, "report.json")
        done = machine.run(t.tally(), "count", "-j", "-o", report, *options,
                           "--", g("hello", "x86_64"))
        t.equal(done.returncode, 0, f"status; {done.stderr}")
        with open(report, encoding="utf-8") as file:
            text = file.read()
    first = text.splitlines()[0] if "-I" in options else text
    t.equal(json.loads(first)["machine"], wanted)


for script, options, wanted in CHOICES:
    name = " ".join(options) or "no option"
    t.case(f"{script.splitlines()[-1]}: {name} counts on {wanted}", chosen,
           script, options, wanted)


if __name__ == "__main__":
    t.main()
