# SPDX-License-Identifier: MIT
"""A program for whose threads QEMU's numbers run out: threads_end.py BUILD [WORD]

A plugin that is built for this test ends counting at QEMU's thread number 4, as
the real one does at number 983,040. The program goes on to its end, what it had
counted is reported, and the report says that its later part is not counted.
"""
import json
import pathlib
import shutil
import tempfile

import tallytest as t

THREADS = "12"


def run(isa, *words):
    """Runs the program by a tally that finds the plugin of this test."""
    with tempfile.TemporaryDirectory() as folder:
        cli, plugin = pathlib.Path(folder, "cli"), pathlib.Path(folder, "plugin")
        cli.mkdir()
        plugin.mkdir()
        # Not by this process: a child that another case forks meanwhile would
        # have the file open to write, and the file could not be executed.
        t.run("cp", t.tally(), cli, check=True)
        shutil.copy(t.build / "plugin" / "tally-few.so",
                    plugin / "tally-plugin.so")
        return t.run(cli / "tally", "count", *t.modelled("x." + isa), *words)


def ended(isa, program, *args):
    whole = t.run(t.guest(f"{program}.x86_64"), *args)
    done = run(isa, "-j", "--", t.guest(f"{program}.{isa}"), *args)
    t.equal((done.returncode, done.stdout), (whole.returncode, whole.stdout),
            done.stderr)
    report = json.loads(done.stderr)
    t.equal(report["cut_processes"], 1, "processes that were cut short")
    value = report["events"][0]["value"]
    t.equal(value > 1000, True, f"counted until then: {value}")
    t.equal(run(isa, "--strict", "--", t.guest(f"{program}.{isa}"),
                *args).returncode, 125, "--strict")
    text = run(isa, "--", t.guest(f"{program}.{isa}"), *args).stderr
    t.contains(text, "not counted: the later part of 1 processes")
    t.contains(text, "partial")


def whole(isa):
    done = run(isa, "-j", "--strict", "--", t.guest(f"crew.{isa}"), "2", "1")
    t.equal(done.returncode, 0, done.stderr)
    t.equal(json.loads(done.stderr)["cut_processes"], 0)


for isa in ("x86_64", "sparc64", "mips64"):
    t.case(f"12 threads at once, {isa}", ended, isa, "crew", THREADS, "1")
    t.case(f"fewer threads are counted whole, {isa}", whole, isa)

t.main()
