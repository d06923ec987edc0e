#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tally advises where something cannot be counted: advice.py BUILD [WORD]

Each machine of test/mock has a fault. The advice of `tally doctor`, and that
beside each event without a count, is taken as it is written: commands of tally
are run, settings are made on the machine, and what was refused must be counted
then. Advice that no row of HANDLERS takes is a failure.
"""
import json
import os
import re

import tallytest as t
from host_help import program
from mock_help import Machine

CPU = "pmu cpu core type=4 counters=4"
EVENTS = "cycles,ref-cycles,page-faults,cpu-migrations,sched:sched_switch"
MACHINES = {
    "no PMU": "no-pmu",
    "a PMU that is dead": f"cpus 2\n{CPU}\ndead 0 1",
    "a counter that the watchdog holds":
        "cpus 2\npmu cpu core type=4 counters=1 taken=1\nwatchdog 1",
    "a watchdog": f"cpus 2\n{CPU}\nwatchdog 1",
    "counters that others hold": f"cpus 2\n{CPU} taken=4",
    "busy": f"cpus 2\n{CPU}\nfail open EBUSY type=0",
    "paranoid 1": f"cpus 2\n{CPU}\nparanoid 1\ncapable no",
    "paranoid 2": f"cpus 2\n{CPU}\nparanoid 2\ncapable no",
    "paranoid 3": f"cpus 2\n{CPU}\nparanoid 3\ncapable no",
    "no PMU, paranoid 2": "cpus 2\nparanoid 2\ncapable no",
    "seccomp": "cpus 2\nseccomp 2\nfail open EPERM",
    "no perf_event": "cpus 2\nfail open ENOSYS",
    "an event that the processor lacks":
        f"cpus 2\n{CPU}\nfail open ENOENT type=0 config=9",
    "no tracefs": f"cpus 2\n{CPU}\ntracefs no",
}


class Advice:
    """One text of advice, the machine it was given on, and for what."""

    def __init__(self, script, text, event, refused):
        self.script, self.text = script, text
        self.event, self.refused = event, refused


def target():
    return [program("page_faults"), "1"]


def report(script, words):
    """The events of a run on a machine, its status and what it said."""
    with Machine(script) as machine:
        path = os.path.join(machine.folder.name, "report.json")
        done = machine.run(t.tally(), "count", "-j", "-o", path, *words)
        if not os.path.exists(path):
            return [], done
        with open(path, encoding="utf-8") as file:
            return json.load(file)["events"], done


def doctor(script):
    with Machine(script) as machine:
        text = machine.run(t.tally(), "doctor").stdout
    return text.partition("this host's own counters\n")[2]


def of_doctor(script):
    """Its lines of advice: those below what is marked, and what follows the
    semicolon of a line that is."""
    mark = ""
    for line in doctor(script).splitlines():
        if line.startswith("  no ") or line.startswith("  maybe "):
            mark = line
            if "; sudo" in line:
                yield Advice(script, line.split("; ", 1)[1], None, line)
        elif line.startswith(" " * 9) and mark:
            yield Advice(script, line.strip(), "task-clock", mark)
        else:
            mark = ""


def of_events(script):
    for name in EVENTS.split(","):
        events, _ = report(script, ["-m", "host", "-e", name, "--", *target()])
        for event in events:
            if event.get("mend"):
                yield Advice(script, event["mend"], name, event["reason"])


# How each kind of advice is taken

def run_command(advice, command):
    """A command of tally, with PROGRAM in its place: all has a count."""
    words = command.split()[2:]
    t.equal(words.pop(), "PROGRAM", command)
    events, done = report(advice.script, [*words, "--", *target()])
    t.equal(done.returncode, 0, f"{command}: {done.stderr}")
    assert events and all(e["value"] is not None for e in events), events


def is_mended(advice, script):
    """Neither doctor nor the event's report refuses it on this machine."""
    assert advice.refused not in doctor(script), doctor(script)
    if advice.event:
        events, _ = report(script, ["-m", "host", "-e", advice.event, "--",
                                    *target()])
        assert all(advice.refused != e.get("reason") for e in events), events


def set_paranoid(advice, level):
    assert re.search(r"^paranoid ", advice.script, re.M), advice.script
    is_mended(advice, re.sub(r"(?m)^paranoid .*", f"paranoid {level}",
                             advice.script))


def set_watchdog(advice, value):
    """Without the watchdog the counter that it held is free."""
    t.equal(value, "0")
    t.contains(advice.script, "watchdog 1")
    is_mended(advice, advice.script.replace("watchdog 1", "watchdog 0")
              .replace(" taken=1", ""))


def user_level(advice, _):
    events, done = report(advice.script, ["-m", "host", "-e",
                                          f"{advice.event}:u", "--",
                                          *target()])
    t.equal(done.returncode, 0, f"{advice.event}:u: {done.stderr}")
    assert all(e["value"] is not None for e in events), events


def mount_tracefs(advice, _):
    is_mended(advice, advice.script.replace("tracefs no", ""))


def list_host(advice, _):
    with Machine(advice.script) as machine:
        done = machine.run(t.tally(), "list", "-m", "host")
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stdout, "instructions")


def prose(_advice, _words):
    """What only the owner of the machine can do."""


HANDLERS = [
    (r"tally count (?:-\S+ (?:[\w,-]+ )?)*PROGRAM", run_command),
    (r"sudo sysctl kernel\.perf_event_paranoid=(-?\d)", set_paranoid),
    (r"sudo sysctl kernel\.nmi_watchdog=(\d)", set_watchdog),
    (r"count at user level \((EVENT:u)\)", user_level),
    (r"sudo mount -t tracefs nodev /sys/kernel/tracing", mount_tracefs),
    (r"docker run --cap-add PERFMON.*", prose),
    (r"end other profilers: pgrep -a '[\w|]+' finds them", prose),
    (r"run with sudo", prose),
    (r"tally list -m host", list_host),
]
BETWEEN = re.compile(r"(?:software events: |on a model: |; |, or |,? |and )*")


def take(advice):
    """Takes the whole text, piece by piece."""
    rest = advice.text
    while rest:
        for pattern, handler in HANDLERS:
            piece = re.match(pattern, rest)
            if piece:
                handler(advice, piece[piece.lastindex or 0])
                rest = rest[piece.end():]
                break
        else:
            raise AssertionError(f"no handler for {rest!r} of {advice.text!r}")
        rest = rest[BETWEEN.match(rest).end():]


def taken(script):
    given = [*of_doctor(script), *of_events(script)]
    assert given, "no advice"
    for advice in given:
        advice.text = advice.text[BETWEEN.match(advice.text).end():]
        take(advice)


for machine_name, machine_script in MACHINES.items():
    t.case(f"{machine_name}: the advice works as written", taken,
           machine_script)


if __name__ == "__main__":
    t.main()
