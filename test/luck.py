#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench/luck.py in short: luck.py BUILD [WORD]"""
import sys

import tallytest as t


@t.named("two relinks of bzip2 are the same, and four injected changes are found")
def short():
    done = t.run(sys.executable, "-B", t.source("bench", "luck.py"), "--tally",
                 t.tally(), "--guests", t.build / "guests", "--programs",
                 "bzip2", "--relinks", 2, "--injected", 2, "--layouts", 3,
                 "--strict")
    t.equal(done.returncode, 0, f"status: {done.stderr}{done.stdout}")
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    t.equal([row[0] for row in rows], ["bzip2"] * 3, "programs")
    t.equal(sum(row.count("2") for row in rows), 7, "tries, found and named")


@t.named("a program that is not there is refused")
def unknown():
    done = t.run(sys.executable, "-B", t.source("bench", "luck.py"), "--tally",
                 t.tally(), "--guests", t.build / "guests", "--programs", "x")
    t.equal(done.returncode, 2, "status")
    t.contains(done.stderr, "there are bzip2, lua and sqlite")


t.main()
