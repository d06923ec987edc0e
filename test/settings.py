# SPDX-License-Identifier: MIT
"""Variables of the environment that QEMU reads: settings.py BUILD [WORD]

A run with one of them gives what a run without it gives, and says so in a line;
a program that is executed with one runs as with none.
"""
import json
import os
import tempfile

import tallytest as t

# Each with a value that QEMU 7.2 ends of, prints by, or counts otherwise by.
SETTINGS = {
    "QEMU_CPU": "nothing",
    "QEMU_DFILTER": "nothing",
    "QEMU_GDB": "/nothing/here/socket",  # a number: QEMU waits for ever
    "QEMU_GUEST_BASE": "nothing",
    "QEMU_LOG": "exec",
    "QEMU_PAGESIZE": "3",
    "QEMU_PLUGIN": "/nothing/here.so",
    "QEMU_RAND_SEED": "nothing",
    "QEMU_RESERVED_VA": "nothing",
    "QEMU_SINGLESTEP": "1",
    "QEMU_STRACE": "1",
    "QEMU_TRACE": "events=/nothing/here",
    "QEMU_VERSION": "1",
}
SAYS = "tally: left out of the environment, since QEMU would run otherwise: "


def run(options=(), program=None, **more):
    """stdout, what is said on stderr, the report's events."""
    with tempfile.TemporaryDirectory() as folder:
        done = t.run(t.tally(), "count", "--per-process", "-j", "-o",
                     f"{folder}/report", *options, "--",
                     *(program or [t.guest("hello.sparc64")]),
                     env={**os.environ, **more}, cwd=folder)
        t.equal(done.returncode, 0, f"status; {done.stderr[-300:]}")
        t.equal(os.listdir(folder), ["report"], "files")
        with open(f"{folder}/report", encoding="utf-8") as file:
            report = json.load(file)
    return done.stdout, done.stderr, [
        (e["name"], e["value"]) for e in report["events"]]


def same(name):
    events = ["-e", "all"]
    stdout, _, wanted = run(events)
    got = run(events, **{name: SETTINGS[name]})
    t.equal(got, (stdout, f"{SAYS}{name}\n", wanted), name)


def clean():
    t.equal(run(["--clean-env"], QEMU_LOG="exec", QEMU_GDB="/nothing/here")[1],
            "", "what is said")


def quiet():
    t.equal(run(["-q"], QEMU_LOG="exec")[1], "", "what is said")


def several():
    said = run(QEMU_LOG="exec", QEMU_CPU="nothing")[1]
    t.equal(sorted(said.removeprefix(SAYS).rstrip().split(", ")),
            ["QEMU_CPU", "QEMU_LOG"], said)


def model():
    """QEMU is asked about a CPU model without them, too."""
    t.equal(run(["--cpu-model", "Sun-UltraSparc-T2"],
                QEMU_PLUGIN="/nothing/here.so")[0], run()[0], "stdout")


def executed(name):
    """As a shell's word before a command."""
    program = [t.guest("busybox.sparc64"), "sh", "-c",
               f"{name}='{SETTINGS[name]}' {t.guest('hello.sparc64')}"]
    t.equal(run(program=program)[:2], (run()[0], ""), name)


for each in SETTINGS:
    t.case(f"{each} changes nothing", same, each)
for each in ("QEMU_GDB", "QEMU_CPU", "QEMU_STRACE"):
    t.case(f"{each} of a program that is executed changes nothing", executed,
           each)
t.case("--clean-env: nothing is said", clean)
t.case("-q: nothing is said", quiet)
t.case("several are named in one line", several)
t.case("--cpu-model is checked without them", model)

t.main()
