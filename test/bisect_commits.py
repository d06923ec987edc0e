#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally bisect: bisect_commits.py BUILD [WORD]

A repository of eight commits of a program, of which one makes it execute more.
"""
import os
import pathlib
import subprocess
import tempfile
import time

import tallytest as t

SOURCE = """#include <stdio.h>
/* {number} */
volatile int sum;
int main(void)
{{
    for (int i = 0; i < {turns}; i++)
        sum += i;
    puts("{text}");
    return {status};
}}
"""
BUILD = "gcc -O1 -o prog prog.c 2>/dev/null"

folder = None


def git(place, *words):
    return subprocess.run(
        ["git", "-c", "user.name=N", "-c", "user.email=a@b", "-c",
         "init.defaultBranch=main", "-c", "commit.gpgsign=false", *words],
        cwd=place, check=True, capture_output=True, text=True).stdout.strip()


def repository(name, dearer, broken=()):
    """Commits 1 to 8, with a tag each; from `dearer` on with more turns; those
    of `broken` do not build."""
    place = folder / name
    place.mkdir()
    git(place, "init", "-q")
    (place / ".gitignore").write_text("prog\n")
    for number in range(1, 9):
        (place / "prog.c").write_text(
            SOURCE.format(number=number, text="x", status=0,
                          turns=60000 if number >= dearer else 40000)
            + ("error" if number in broken else ""))
        git(place, "add", ".")
        git(place, "commit", "-q", "-m", f"number {number}")
        git(place, "tag", f"v{number}")
    return place


def bisect(place, *words, status=0):
    with tempfile.TemporaryDirectory() as scratch:
        done = t.run(t.tally(), "bisect", *words, cwd=place,
                     env={**os.environ, "TMPDIR": scratch})
        t.equal(os.listdir(scratch), [], "what is left")
    t.equal(done.returncode, status, f"status: {done.stderr}{done.stdout}")
    return done


def find(place, *words, status=0):
    return bisect(place, "--layouts", "1", "--build", BUILD, *words, "--",
                  "./prog", status=status)


@t.named("the commit is found, by instructions and by the cost")
def found():
    place = repository("plain", 6)
    for options in ((), ("-e", "cost"), ("-e", "cycles"), ("-e", "branches"),
                    ("--limit", "1")):
        done = find(place, *options, "v1", "HEAD")
        t.equal(done.stdout.splitlines()[0],
                git(place, "rev-parse", "v6") + " is the first bad commit",
                f"{options}")
        t.contains(done.stdout, "    number 6\n")
        t.contains(done.stderr, "tally bisect: bad ")
    t.equal(git(place, "symbolic-ref", "--short", "HEAD"), "main", "branch")
    assert not (place / ".git" / "BISECT_LOG").exists()


@t.named("a commit that does not build is skipped")
def skipped():
    place = repository("broken", 6, broken=(4,))
    done = find(place, "v1", "v8")
    t.contains(done.stdout, git(place, "rev-parse", "v6") + " is the first")
    place = repository("unclear", 6, broken=(5,))
    done = find(place, "v1", "v8", status=1)
    t.contains(done.stdout, "could be any of")
    t.contains(done.stderr, "skipped ")


@t.named("a program may have a hundred arguments")
def arguments():
    place = repository("arguments", 6)
    done = bisect(place, "--layouts", "1", "--build", BUILD, "v1", "v8", "--",
                  "./prog", *map(str, range(100)))
    t.contains(done.stdout, git(place, "rev-parse", "v6") + " is the first")


@t.named("a signal ends the search and leaves the repository as it was")
def interrupted():
    place = repository("interrupted", 6)
    with tempfile.TemporaryDirectory() as scratch:
        began = pathlib.Path(scratch) / "began"
        running = subprocess.Popen(
            [t.tally(), "bisect", "--build", f"touch {began}; sleep 1000", "v1",
             "v8", "--", "./prog"], cwd=place, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "TMPDIR": scratch})
        while not began.exists():
            time.sleep(0.05)
        running.terminate()
        said = running.communicate()[1]
        t.equal(os.listdir(scratch), ["began"], "what is left")
    t.equal(running.returncode, 128 + 15, "status")
    t.contains(said, "ended by SIGTERM; the repository is as it was")
    t.equal(git(place, "symbolic-ref", "--short", "HEAD"), "main", "branch")
    assert not (place / ".git" / "BISECT_LOG").exists()


@t.named("a search that goes on already is left alone")
def started():
    place = repository("started", 6)
    git(place, "bisect", "start", "v8", "v1")
    log = (place / ".git" / "BISECT_LOG").read_text()
    done = find(place, "v1", "v8", status=2)
    t.contains(done.stderr, "git bisect is at work in this repository")
    t.equal((place / ".git" / "BISECT_LOG").read_text(), log, "its log")


@t.named("nothing rose; what is asked for wrongly: 2, in one line")
def wrong():
    place = repository("wrong", 6)
    for words, wanted in (
            (("v1", "v5", "--", "./prog"), "did not rise"),
            (("v1", "nothing", "--", "./prog"), "'nothing' is no commit"),
            (("v1", "v1", "--", "./prog"), "are the same"),
            (("--limit", "99", "v1", "v8", "--", "./prog"),
             "which is not beyond --limit 99"),
            (("v1", "v8", "--", "./gone"), "./gone"),
            (("-e", "branches,loads", "v1", "v8", "--", "./prog"),
             "takes one event"),
            (("--layouts", "65", "v1", "v8", "--", "./prog"), "1 to 64"),
            (("v1", "--", "./prog"), "a good commit, a bad one"),
            (("v1", "v8"), "a good commit, a bad one"),
            (("v1", "v8", "v3", "--", "./prog"), "one commit is good"),
            (("--limit", "x", "v1", "v8", "--", "./prog"), "per cent"),
            (("--frob",), "frob")):
        done = bisect(place, "--layouts", "1", "--build", BUILD, *words,
                      status=5 if "./gone" in words else 2)
        t.contains(done.stderr, wanted)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
    (place / "prog.c").write_text("changed")
    done = find(place, "v1", "v8", status=2)
    t.contains(done.stderr, "git stash")
    t.equal((place / "prog.c").read_text(), "changed", "the file")
    done = bisect(folder, "a", "b", "--", "c", status=2)
    t.contains(done.stderr, "not a git repository")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    t.main()
