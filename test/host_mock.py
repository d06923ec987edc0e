#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Machines with counters, played by test/mock: host_mock.py BUILD [WORD]

ROWS are runs of `true` on such a machine and what has to come out: each is
tried with perf, which proves the mock, and with `tally count -m host`, which
it is there for. PERF holds what only perf says in its own way.
"""
import functools
import json
import pathlib
import re
import subprocess
import sys
import time

import tallytest as t
from mock_help import Machine

NONE = None  # not counted, not supported

CORE = "cpus 1\npmu cpu core type=4 "

# name, script (a file or its lines), options, {event: (value, share)}.
# An event ages by 1 ms; cycles are 2000 a microsecond, and so on.
ROWS = [
    ("plain", "intel", "-e cycles,instructions",
     {"cycles": (2000000, 100), "instructions": (3000000, 100)}),
    ("user and kernel", "intel", "-e cycles:u,cycles:k",
     {"cycles:u": (1500000, 100), "cycles:k": (500000, 100)}),
    ("--all-user", "intel", "--all-user -e cycles,cycles:k",
     {"cycles": (1500000, 100), "cycles:k": (1500000, 100)}),
    ("--all-kernel", "intel", "--all-kernel -e cycles,cycles:u",
     {"cycles": (500000, 100), "cycles:u": (500000, 100)}),
    ("group", "intel", "-e {cycles,instructions,branches}",
     {"cycles": (2000000, 100), "instructions": (3000000, 100),
      "branches": (500000, 100)}),
    ("raw", "intel", "-e r3c", {"r3c": (2000000, 100)}),
    ("pmu terms", "intel", "-e cpu/event=0xc0/",
     {"cpu/event=0xc0/": (3000000, 100)}),
    ("pmu event", "intel", "-e cpu/instructions/",
     {"cpu/instructions/": (3000000, 100)}),
    ("msr", "intel", "-e msr/tsc/", {"msr/tsc/": (2400000, 100)}),
    ("top-down", "intel",
     "-e {slots,topdown-retiring,topdown-bad-spec,topdown-fe-bound,"
     "topdown-be-bound}",
     {"slots": (8000000, 100), "topdown-retiring": (4000000, 100),
      "topdown-bad-spec": (400000, 100), "topdown-fe-bound": (1600000, 100),
      "topdown-be-bound": (2000000, 100)}),
    ("five on four", CORE + "counters=4",
     "-e cycles,instructions,branches,branch-misses,cache-misses",
     {"cycles": (2000000, 80), "instructions": (3000000, 80),
      "branches": (500000, 80), "branch-misses": (10000, 80),
      "cache-misses": (8000, 80)}),
    ("groups on four", CORE + "counters=4",
     "-e {cycles,instructions},{branches,branch-misses},{cache-misses,r1}",
     {"cycles": (2000000, 66), "branches": (500000, 66),
      "cache-misses": (8000, 66)}),
    ("fixed counters", CORE + "counters=1 fixed=0,1",
     "-e cycles,instructions,branches",
     {"cycles": (2000000, 100), "branches": (500000, 100)}),
    ("pinned", CORE + "counters=2",
     "-e cycles:D,instructions,branches",
     {"cycles:D": (2000000, 100), "instructions": (3000000, 50),
      "branches": (500000, 50)}),
    ("pinned without room", CORE + "counters=1",
     "-e cycles:D,instructions:D",
     {"cycles:D": (2000000, 100), "instructions:D": (NONE, NONE)}),
    ("group that is too large", CORE + "counters=2",
     "-e {cycles,instructions,branches}", {"branches": (NONE, NONE)}),
    ("counter held by the watchdog", CORE + "counters=2 taken=1\nwatchdog 1",
     "-e {cycles,instructions}",
     {"cycles": (NONE, NONE), "instructions": (NONE, NONE)}),
    ("counters taken away", CORE + "steal=60",
     "-e cycles,instructions",
     {"cycles": (2000000, 40), "instructions": (3000000, 40)}),
    ("one event that is not there", "amd", "-e cycles,ref-cycles",
     {"cycles": (2000000, 100), "ref-cycles": (NONE, NONE)}),
    ("no PMU", "no-pmu", "-e cycles,page-faults,context-switches",
     {"cycles": (NONE, NONE), "page-faults": (50, 100),
      "context-switches": (20, 100)}),
    ("hybrid", "hybrid", "-e cycles",
     {"cpu_core/cycles/": (2000000, 75), "cpu_atom/cycles/": (1000000, 25)}),
    ("hybrid, one kind", "hybrid", "-e cpu_atom/instructions/",
     {"cpu_atom/instructions/": (1000000, 25)}),
    ("hybrid, every cpu", "hybrid", "-a -e cycles",
     {"cpu_core/cycles/": (8120000, 100), "cpu_atom/cycles/": (4220000, 100)}),
    ("hybrid, raw", "hybrid", "-e cpu_core/event=0xc0/",
     {"cpu_core/event=0xc0/": (3000000, 75)}),
    ("every cpu", "amd", "-a -e cycles", {"cycles": (16560000, 100)}),
    ("some cpus", "amd", "-C 1,3 -e cycles", {"cycles": (4080000, 100)}),
    ("uncore", "amd", "-a -e amd_df/cs_umc_data/,cycles",
     {"amd_df/cs_umc_data/": (2040, 100), "cycles": (16560000, 100)}),
    ("uncore, all of a name", "amd", "-a -e amd_umc/event=1/",
     {"amd_umc/event=1/": (816, 100)}),
    ("uncore, all of a name behind others", "amd",
     "-a -e amd_df/cs_umc_data/,cycles,amd_umc/event=1/,instructions",
     {"amd_df/cs_umc_data/": (2040, 100), "cycles": (16560000, 100),
      "amd_umc/event=1/": (816, 100), "instructions": (24840000, 100)}),
    ("uncore, unit and scale", "intel", "-a -e power/energy-pkg/",
     {"power/energy-pkg/": (0.001, 100)}),
    ("arm, two clusters", "arm",
     "-e armv8_cortex_a53/cpu_cycles/,armv8_cortex_a72/cpu_cycles/",
     {"armv8_cortex_a53/cpu_cycles/": (1000000, 50),
      "armv8_cortex_a72/cpu_cycles/": (2000000, 50)}),
    ("a cpu that is off", "cpus 4\nonline 0-2\npmu cpu core type=4",
     "-a -e cycles", {"cycles": (6060000, 100)}),
    ("a kernel without exclude_guest",
     CORE + "\nwithout exclude_guest lost", "-e cycles",
     {"cycles": (2000000, 100)}),
    ("a kernel without cloexec", CORE + "\nwithout cloexec",
     "-e cycles", {"cycles": (2000000, 100)}),
    ("paranoid 2, user only", CORE + "\nparanoid 2\ncapable no",
     "-e cycles:u", {"cycles:u": (1500000, 100)}),
    ("paranoid 1, all of a task", CORE + "\nparanoid 1\ncapable no",
     "-e cycles", {"cycles": (2000000, 100)}),
    ("paranoid 0, every cpu", CORE + "\nparanoid 0\ncapable no",
     "-a -e cycles", {"cycles": (2000000, 100)}),
    ("paranoid 4 with capabilities", CORE + "\nparanoid 4", "-e cycles",
     {"cycles": (2000000, 100)}),
]


def perf(machine, *words):
    try:
        return machine.run("perf", "stat", *words)
    except FileNotFoundError:
        raise t.Skip("perf is not installed") from None


def number(text):
    if text.startswith("<"):
        return NONE
    return float(text) if "." in text else int(text)


def perf_counts(text):
    """{event: (value, share)} of `perf stat -x,` without -A or -I."""
    counts = {}
    for line in text.splitlines():
        # A comma also stands between the terms of a PMU.
        row = re.match(r"([^,]+),[^,]*,((?:[^,/]|/[^/]*/)+),(\d+),([\d.]+),",
                       line)
        if row and row[2] not in counts:
            value = number(row[1])
            share = NONE if value is NONE else int(float(row[4]))
            counts[row[2]] = value, share
    return counts


def check_counts(counts, wanted):
    for event, (value, share) in wanted.items():
        if event not in counts:
            raise AssertionError(f"no {event} in {counts}")
        got = counts[event]
        near = (got[0] == value if value is NONE or got[0] is NONE else
                abs(got[0] - value) <= max(1e-3 if value < 1 else 1, 0))
        if not near or got[1] != share:
            raise AssertionError(f"{event}: {got}, not {(value, share)}")


def row_with_perf(script, options, wanted):
    with Machine(script) as machine:
        done = perf(machine, "-x,", *options.split(), "--", "true")
        check_counts(perf_counts(done.stderr), wanted)


def tally_counts(report):
    """Scaled values and shares of a report of `tally count -j`."""
    counts = {}
    for event in report["events"]:
        enabled, running = event.get("enabled"), event.get("running")
        share = 100 * running // enabled if enabled and running else NONE
        value = event["value"]
        if value is NONE and not event.get("reason"):
            raise AssertionError(f"no reason: {event}")
        counts[event["name"]] = value, NONE if value is NONE else share
    return counts


@functools.cache
def has_host():
    """Whether this tally counts on the host at all."""
    done = t.run(t.tally(), "count", "-m", "host", "-j", "-e", "task-clock",
                 "--", "true")
    try:
        return done.returncode == 0 and any(
            event["name"] == "task-clock" and event.get("enabled")
            for event in json.loads(done.stderr)["events"])
    except (ValueError, KeyError, TypeError):
        return False


def need_host():
    if not has_host():
        raise t.Skip("tally count -m host is not there yet")


def tally_report(script, options):
    """What `tally count -j` reports of true on the machine."""
    need_host()
    with Machine(script) as machine:
        report = pathlib.Path(machine.folder.name) / "report.json"
        done = machine.run(t.tally(), "count", "-m", "host", "-j", "-o",
                           report, *options.split(), "--", "true")
        if not report.exists():
            raise AssertionError(f"no report: {done.stderr}")
        return json.loads(report.read_text())


def row_with_tally(script, options, wanted):
    check_counts(tally_counts(tally_report(script, options)), wanted)


# perf takes these for counts, or gives up.
DEAD = ("dead counter", CORE + "\ndead 0 1", "-e cycles,instructions",
        {"cycles": (2000000, 100), "instructions": (0, 100)})
# tally tries again.
INTERRUPTED = [
    ("open is interrupted", CORE + "\nfail open EINTR times=3", "-e cycles",
     {"cycles": (2000000, 100)}),
    ("read is interrupted", CORE + "\nfail read EINTR times=3", "-e cycles",
     {"cycles": (2000000, 100)}),
    ("ioctl is interrupted", CORE + "\nfail ioctl EINTR times=3", "-a "
     "-e cycles", {"cycles": (2000000, 100)}),
]

for name, *row in [*ROWS, DEAD]:
    t.case(f"perf: {name}", row_with_perf, *row)
for name, *row in [*ROWS, *INTERRUPTED]:
    t.case(f"tally: {name}", row_with_tally, *row)

# What is not counted, and the code of the reason.
REASONS = [
    ("no PMU", "no-pmu", "-e cycles,task-clock", "cycles", "no-pmu"),
    ("paranoid 2, every cpu", CORE + "\nparanoid 2\ncapable no",
     "-a -e cycles", "cycles", "paranoid"),
    ("paranoid 4", CORE + "\nparanoid 4\ncapable no", "-e cycles:u",
     "cycles:u", "paranoid"),
    ("seccomp, EPERM", CORE + "\nseccomp 2\nfail open EPERM", "-e cycles",
     "cycles", "seccomp"),
    ("seccomp, ENOSYS", CORE + "\nseccomp 2\nfail open ENOSYS", "-e cycles",
     "cycles", "seccomp"),
    ("busy", CORE + "\nfail open EBUSY type=0", "-e cycles,task-clock",
     "cycles", "busy"),
    ("event that this processor lacks", "amd", "-e cycles,ref-cycles",
     "ref-cycles", "unsupported"),
    ("out of descriptors", CORE + "\nfail open EMFILE after=3 type=0",
     "-e task-clock,cycles,instructions,branches,branch-misses",
     "branch-misses", "descriptors"),
    ("a cpu that has gone", "cpus 4\npmu cpu core type=4\n"
     "fail open ENODEV cpu=2 type=0", "-C 2 -e cycles", "cycles", "no-cpu"),
    ("one of the units of a name",
     "cpus 1\npmu umc_0 type=14 uncore cpumask=0\n"
     "format umc_0 event config:0-7\npmu umc_1 type=15 uncore cpumask=0\n"
     "format umc_1 event config:0-7\nfail open ENOENT type=15",
     "-e umc/event=1/", "umc/event=1/", "unsupported"),
]


def reason_of_tally(script, options, event, code):
    rows = {row["name"]: row
            for row in tally_report(script, options)["events"]}
    t.equal(rows[event]["value"], None, "value")
    t.equal(rows[event].get("code"), code, "code")


for name, *row in REASONS:
    t.case(f"tally's reason: {name}", reason_of_tally, *row)

# Two sockets, each a die and a node, four cpus in each; a cpu counts N % more.
PLACES = [("--per-die", ["socket 0 die 0", "socket 1 die 0"]),
          ("--per-node", ["node 0", "node 1"])]


def parts_of_tally(option, names):
    parts = tally_report("amd", f"-a {option} -e cycles")["parts"]
    t.equal([(part["name"], part["events"][0]["value"]) for part in parts],
            list(zip(names, [8120000, 8440000])), option)


for row in PLACES:
    t.case(f"tally: {row[0]}", parts_of_tally, *row)


@t.named("tally: a metric of scaled counts is estimated")
def metric_fidelity():
    for script, wanted in ((CORE + "counters=2", "measured"),
                           (CORE + "steal=60", "estimated")):
        [metric] = tally_report(script, "-M ipc")["metrics"]
        t.equal((metric["value"], metric["fidelity"]), (1.5, wanted), script)


# Big cores and small ones: clocks are of both.
KINDS = [("ipc", "cpu_core", 1.5), ("ipc", "cpu_atom", 1),
         ("ghz", "cpu_core", 2), ("ghz", "cpu_atom", 1),
         ("context_switches_per_second", None, 20000)]


def tally_says(script, options, *program):
    """What tally writes on stderr on the machine."""
    need_host()
    with Machine(script) as machine:
        return machine.run(t.tally(), "count", "-m", "host", *options.split(),
                           "--", *(program or ["true"])).stderr


@t.named("tally: hybrid, a metric of each kind of cores")
def metric_kinds():
    names = ",".join(dict.fromkeys(name for name, _, _ in KINDS))
    for events in ("", "-e cpu_core/cycles/,cycles,task-clock"):
        options = f"{events} -M {names}"
        t.equal([(m["name"], m.get("pmu"), m["value"])
                 for m in tally_report("hybrid", options)["metrics"]], KINDS,
                options)
    rows = [line.split(",") for line in
            tally_says("hybrid", f"-x, -M {names}").splitlines()]
    t.equal([(row[6], float(row[5])) for row in rows if not row[0]],
            [(f"{pmu}/{name}" if pmu else name, value)
             for name, pmu, value in KINDS], "CSV")
    t.contains(tally_says("hybrid", "-M ipc"), "  ipc (cpu_atom)  ")


@t.named("tally: hybrid, a kind that cannot be counted has no metric")
def metric_kind_lost():
    script = pathlib.Path(t.source("test", "mock", "hybrid.script")).read_text()
    report = tally_report(script + "fail open ENOENT type=0 "
                          "config=0x800000000\n", "-M ipc")
    t.equal([(m["pmu"], m["value"], m.get("reason"))
             for m in report["metrics"]],
            [("cpu_core", 1.5, None), ("cpu_atom", None, "no count of cycles")])


@t.named("tally: hybrid, what text says beside the counts of a kind")
def text_kinds():
    for letters in ("", "u"):
        said = tally_says("hybrid", "-e task-clock,"
                          f"cpu_core/cycles/{letters},"
                          f"cpu_core/instructions/{letters},"
                          f"cpu_atom/instructions/{letters},"
                          f"cpu_atom/cycles/{letters}")
        for kind, ratio in (("core", "1.500"), ("atom", "1.000")):
            for event, words in (("cycles", "GHz"),
                                 ("instructions",
                                  f"{ratio} instructions a cycle")):
                line = next(s for s in said.splitlines()
                            if f"cpu_{kind}/{event}/{letters} " in s)
                t.contains(line, f"{words}")


# What -v says of each event, where a number stands for any.
OPENED = [
    ("hybrid", "-e cycles:u,task-clock",
     ["cpu_core/cycles/u: PMU cpu_core, type 0, config 0x400000000, "
      "exclude_kernel, exclude_hv, exclude_guest, inherit; pid N",
      "cpu_atom/cycles/u: PMU cpu_atom, type 0, config 0x800000000, "
      "exclude_kernel, exclude_hv, exclude_guest, inherit; pid N",
      "task-clock: type 1, config 0x1, exclude_guest, inherit; pid N"]),
    ("hybrid", "-a -e cpu_atom/event=0xc0/",
     ["cpu_atom/event=0xc0/: PMU cpu_atom, type 8, config 0xc0, "
      "exclude_guest; cpu 4-7"]),
    ("amd", "-C 0,2-3 -e cycles:D,amd_df/cs_umc_data/",
     ["cycles:D: type 0, config 0x0, pinned; cpu 0,2-3",
      "amd_df/cs_umc_data/: PMU amd_df, type N, config 0xN, "
      "exclude_guest; cpu 0,4"]),
    ("no-pmu", "-i -r 2 -e cycles,page-faults:u",
     ["cycles: type 0, config 0x0, exclude_guest; not opened: ",
      "page-faults:u: type 1, config 0x2, exclude_kernel, exclude_hv, "
      "exclude_guest; pid N"]),
]


def verbose(script, options, wanted):
    said = [line[len("tally: "):] for line in
            tally_says(script, f"-v {options}").splitlines()
            if line.startswith("tally: ")]
    t.equal(len(said), len(wanted), f"lines of {said}")
    for line, words in zip(said, wanted):
        pattern = re.escape(words).replace("N", "[0-9a-f]+")
        if not re.match(pattern + ("" if words[-1] == " " else "$"), line):
            raise AssertionError(f"{line!r} is not {words!r}")


for row in OPENED:
    t.case(f"tally: -v {row[1]}", verbose, *row)


@t.named("tally: -v stays out of a document, and goes beside one in a file")
def verbose_document():
    json.loads(tally_says("hybrid", "-v -j -e cycles"))
    for line in tally_says("hybrid", "-v -x, -e cycles").splitlines():
        t.equal(line.count(","), 8, line)
    t.equal(tally_says("hybrid", "-v -j -o /dev/null -e cycles").count("\n"),
            2, "lines")


# Counts in a millisecond, and the rate that text has beside the count.
RATES = [(20, "20.000 K a second"), (500000, "500.000 M a second"),
         (3000000, "3.000 G a second")]


def rate(count, wanted):
    need_host()
    with Machine(CORE + f"\nrate 4 1 {count}") as machine:
        done = machine.run(t.tally(), "count", "-m", "host", "-e",
                           "task-clock,r1", "--", "true")
        t.contains(done.stderr, f" {wanted}")


for row in RATES:
    t.case(f"tally: {row[1]}", rate, *row)

# What `tally doctor` says of a machine.
DOCTOR = [
    ("counters", "intel", "ok     hardware events"),
    ("no PMU", "no-pmu", "no     hardware events: this system shows no "
     "hardware counters"),
    ("paranoid 2", CORE + "\nparanoid 2\ncapable no",
     "sudo sysctl kernel.perf_event_paranoid=0"),
    ("paranoid 3", CORE + "\nparanoid 3\ncapable no",
     "perf_event_paranoid is 3"),
    ("seccomp", CORE + "\nseccomp 2\nfail open EPERM",
     "a seccomp filter"),
    ("hybrid", "hybrid", "ok     hardware events"),
]


def doctor_says(script, wanted):
    with Machine(script) as machine:
        done = machine.run(t.tally(), "doctor")
        if "own counters" not in done.stdout:
            raise t.Skip("tally doctor does not look at counters yet")
        t.contains(done.stdout, wanted)


for name, *row in DOCTOR:
    t.case(f"tally doctor: {name}", doctor_says, *row)

# What perf says where it cannot count: script, options, a part of its message.
PERF = [
    ("paranoid 2, every cpu", CORE + "\nparanoid 2\ncapable no",
     "-a -e cycles", "perf_event_paranoid setting is 2"),
    ("paranoid 1, every cpu", CORE + "\nparanoid 1\ncapable no",
     "-a -e cycles", "perf_event_paranoid setting is 1"),
    ("paranoid 3", CORE + "\nparanoid 3\ncapable no", "-e cycles:u",
     "perf_event_paranoid setting is 3"),
    ("paranoid 4", CORE + "\nparanoid 4\ncapable no", "-e task-clock:u",
     "perf_event_paranoid setting is 4"),
    ("seccomp", CORE + "\nseccomp 2\nfail open EPERM", "-e cycles",
     "No permission to enable cycles event"),
    ("busy", CORE + "\nfail open EBUSY", "-e cycles", "16 (Device or "
     "resource busy)"),
    ("out of descriptors", "cpus 8\npmu cpu core type=4\n"
     "fail open EMFILE after=5", "-a -e cycles", "Too many events are opened"),
    ("a cpu that has gone", "cpus 4\npmu cpu core type=4\n"
     "fail open ENODEV cpu=2", "-a -e cycles", "No such device"),
]


def perf_says(script, options, wanted):
    with Machine(script) as machine:
        done = perf(machine, *options.split(), "--", "true")
        t.contains(" ".join(done.stderr.split()), wanted)
        if not done.returncode:
            raise AssertionError("perf succeeded")


for name, *row in PERF:
    t.case(f"perf says: {name}", perf_says, *row)

BLOCK = re.compile(r"-{60}\nperf_event_attr:\n(?:  .*\n)*-{60}\n"
                   r"sys_perf_event_open: .*\n"
                   r"(?:sys_perf_event_open failed.*\n)?")

# perf's -vv and the mock's own log tell the same of every event opened.
ATTRIBUTES = [
    ("intel", "-e cycles,instructions:u,branches:kpp,{cache-misses,r1c0}:S"),
    ("intel", "-e cpu/event=0x3c,umask=1,cmask=2/,L1-dcache-load-misses"),
    ("intel", "-i -e cycles:D,task-clock,page-faults:H"),
    ("intel", "-a -e power/energy-pkg/,cycles:G"),
    ("intel", "-D 1 -e {cycles,instructions}:e"),
    ("hybrid", "-e cycles,cpu_atom/event=0xc0/"),
    ("amd", "-a -e amd_df/cs_umc_data/,amd_l3/event=4,umask=0xff/"),
    ("arm", "-e armv8_cortex_a53/cpu_cycles/,cycles"),
    ("no-pmu", "-e cycles,cpu-clock"),
    (CORE + "\nwithout exclude_guest", "-e cycles"),
]


def attributes(script, options):
    with Machine(script) as machine:
        done = perf(machine, "-vv", *options.split(), "--", "true")
        said, logged = BLOCK.findall(done.stderr), machine.opened()
        if not said:
            raise AssertionError(f"perf opened nothing: {done.stderr}")
        t.equal(BLOCK.findall(logged), said, "blocks")


# How the result is read and when it begins is each tool's own affair.
OWN = re.compile(r"  (sample_type|read_format|disabled|inherit|enable_on_exec)"
                 r" .*\n")


def events_opened(machine):
    """The blocks of what did open, without OWN."""
    return {OWN.sub("", block.split("\nsys_perf")[0])
            for block in BLOCK.findall(machine.opened())
            if "failed" not in block}


def tally_attributes(script, options):
    need_host()
    with Machine(script) as machine:
        perf(machine, *options.split(), "--", "true")
        wanted = events_opened(machine)
        machine.log.unlink()
        machine.run(t.tally(), "count", "-m", "host", *options.split(), "--",
                    "true")
        missing = wanted - events_opened(machine)
        if missing:
            raise AssertionError("tally does not open:\n" + "\n".join(missing))


for row in ATTRIBUTES:
    t.case(f"attributes of {row[1]}", attributes, *row)
for row in ATTRIBUTES:
    t.case(f"tally's attributes of {row[1]}", tally_attributes, *row)


@t.named("perf: the sum over cpus is that of the cpus")
def every_cpu():
    with Machine("amd") as machine:
        done = perf(machine, "-x,", "-a", "-A", "-e",
                    "amd_df/cs_umc_data/,cycles", "--", "true")
        rows = [line.split(",")[:4] for line in done.stderr.splitlines()]
        cycles = {row[0]: int(row[1]) for row in rows if row[3] == "cycles"}
        t.equal(cycles, {f"CPU{n}": 2000000 + 20000 * n for n in range(8)})
        outside = {row[0]: int(row[1]) for row in rows
                   if row[3] == "amd_df/cs_umc_data/"}
        t.equal(outside, {"CPU0": 1000, "CPU4": 1040})


@t.named("perf: cores and sockets are those of the script")
def places():
    with Machine("amd") as machine:
        for option, wanted in (
                ("--per-socket", {"S0": "8120000", "S1": "8440000"}),
                ("--per-core", {"S0-D0-C0": "4020000", "S0-D0-C1": "4100000",
                                "S1-D0-C0": "4180000", "S1-D0-C1": "4260000"}),
                ("--per-node", {"N0": "8120000", "N1": "8440000"})):
            done = perf(machine, "-x,", "-a", option, "-e", "cycles", "--",
                        "true")
            rows = [line.split(",") for line in done.stderr.splitlines()]
            t.equal({row[0]: row[2] for row in rows if len(row) > 4}, wanted)


@t.named("perf: each interval counts a step")
def intervals():
    with Machine("intel") as machine:
        done = perf(machine, "-x,", "-I", "50", "-e", "cycles", "--", "sleep",
                    "1")
        rows = [line.split(",") for line in done.stderr.splitlines()]
        # The program may have ended before the last but one.
        values = [row[1] for row in rows][:-1]
        t.equal(values, ["2000000"] * len(values))
        if len(rows) < 3:
            raise AssertionError(done.stderr)


@t.named("perf: a delay leaves out the beginning")
def delay():
    with Machine(CORE + "\nclock real") as machine:
        begin = time.monotonic()
        done = perf(machine, "-x,", "-D", "200", "-e", "task-clock,cycles",
                    "--", "sleep", "3")
        most = (time.monotonic() - begin) * 1e9 - 0.2e9
        row = [line for line in done.stderr.splitlines() if "cycles" in line]
        enabled = int(row[0].split(",")[3])
        if not 0 < enabled <= most:
            raise AssertionError(f"{enabled} ns of {most}: {done.stderr}")


@t.named("perf: true time when the script wants it")
def real_time():
    with Machine(CORE + "\nclock real") as machine:
        begin = time.monotonic()
        done = perf(machine, "-x,", "-e", "cycles", "--", "sleep", "0.2")
        most = (time.monotonic() - begin) * 1e9
        enabled = int(done.stderr.split(",")[3])
        if not 0.19e9 < enabled <= most:
            raise AssertionError(f"{enabled} ns of {most}")


@t.named("perf: a counter whose cpu goes stands still")
def stopped():
    with Machine("cpus 2\npmu cpu core type=4\n"
                 "fail read STOP cpu=1 after=1") as machine:
        done = perf(machine, "-x,", "-a", "-A", "-I", "50", "-e", "cycles",
                    "--", "sleep", "0.18")
        rows = [line.split(",") for line in done.stderr.splitlines()]
        first = [row[2] for row in rows if row[1] == "CPU0"]
        second = [row[2] for row in rows if row[1] == "CPU1"]
        t.equal(first, ["2000000"] * len(first), "cpu 0")
        t.equal(second[0], "2020000", "cpu 1 at first")
        if any(value not in ("0", "<not counted>") for value in second[1:]):
            raise AssertionError(f"cpu 1 afterwards: {second}")


@t.named("perf: a process that has gone")
def no_process():
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        with Machine(CORE + "\nfail open ESRCH") as machine:
            done = perf(machine, "-e", "cycles", "-p", sleeper.pid, "--",
                        "true")
            t.equal(done.returncode != 0, True, "a failure")
        with Machine(CORE) as machine:
            done = perf(machine, "-x,", "-e", "cycles", "-p", sleeper.pid,
                        "--", "true")
            check_counts(perf_counts(done.stderr), {"cycles": (2000000, 100)})
    finally:
        sleeper.kill()
        sleeper.wait()


@t.named("a script that is wrong is refused, with its line")
def refused():
    with Machine("intel") as machine:
        path = pathlib.Path(machine.variables["TALLY_MOCK_SCRIPT"])
        for text, wanted in (
                ("cpus 1\nfrobnicate", ":2: unknown word"),
                ("fail open EWHAT", ":1: unknown error name"),
                ("fail close EIO", ":1: fail takes open, read, ioctl or mmap"),
                ("pmu x type=four", ":1: not a number"),
                ("cpus", ":1: a value is missing"),
                ("online 0-", ":1: not a list of cpus")):
            path.write_text(f"{text}\n")
            done = perf(machine, "-e", "cycles", "--", "true")
            t.contains(done.stderr, wanted)


@t.named("without a script the mock does nothing")
def passive():
    with Machine("intel") as machine:
        env = machine.env()
        for name in ("TALLY_MOCK_SCRIPT", "TALLY_MOCK_ROOT"):
            del env[name]
        done = t.run("cat", "/proc/self/status", env=env)
        t.contains(done.stdout, "VmSize")


t.main()
