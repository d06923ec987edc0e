#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the lessons foretell what tally counts? lessons.py BUILD [WORD]

Of each lesson of doc/lessons/lessons.toml: its arithmetic gives the stated
number; its commands, which stand on its page or in answers.md, count that
number; each wrong answer is another one; doc/lessons/check takes the right
answer and says what is wrong with the others. Programs for gcc count the same
from the compilers OTHERS.
"""
import contextlib
import functools
import os
import pathlib
import re
import shutil
import tempfile
import tomllib

import tallytest as t

FOLDER = t.ROOT / "doc" / "lessons"
CHECK = FOLDER / "check"
LESSONS = tomllib.loads((FOLDER / "lessons.toml").read_text())["lesson"]
OTHERS = ("clang", "aarch64-linux-gnu-gcc -static",
          "riscv64-linux-gnu-gcc -static")
NUMBER = r"(0x[0-9a-f]+|\d[\d,]*)"


def evaluate(row):
    """The number of a row, which its arithmetic must give."""
    got = eval(row["arithmetic"], {"__builtins__": {}})
    t.equal(got, row["answer"], row["arithmetic"])
    return row["answer"]


def written(row, base):
    return f"{row['answer']:#x}" if base == 16 else f"{row['answer']:,}"


def figure(name, output):
    """The number in front of a name in a report, or behind "NAME = "."""
    name = re.escape(name)
    found = re.findall(rf"^ *{NUMBER} +{name}(?!\S)|^ *{name} = {NUMBER}",
                       output, re.M)
    assert len(found) == 1, f"{name}: {len(found)} times in\n{output}"
    return int("".join(found[0]).replace(",", ""), 0)


@functools.cache
def page(name):
    return (FOLDER / name).read_text()


def answers(lesson):
    """The section of answers.md of a lesson."""
    return re.search(rf"^## Lesson {lesson['number']}: .*?(?=^## |\Z)",
                     page("answers.md"), re.M | re.S)[0]


def stands(name, text, wanted):
    assert wanted in text, f"{name} lacks {wanted!r}"


def count(row, text, folder):
    """Runs a row's command, which the text has; the sum of its figures.
    """
    stands("the page", text, f"    $ {row['command']}\n")
    env = {**os.environ, "LC_ALL": "C.UTF-8",
           "PATH": f"{t.build / 'cli'}:{os.environ['PATH']}"}
    done = t.run("bash", "-c", row["command"] + " 2>&1", cwd=folder, env=env)
    t.equal(done.returncode, 0, f"status of {row['command']}\n{done.stdout}")
    return sum(figure(name, done.stdout) for name in row["figure"])


def near(got, row):
    within = row.get("within", 0)
    assert within == 0 or row["because"], "no reason"
    return abs(got - row["answer"]) <= within


def foretold(lesson, row, folder):
    evaluate(row)
    got = count(row, page(lesson["page"]), folder)
    assert near(got, row), f"{row['command']}: {got}, not {row['answer']}"
    stands(lesson["page"], page(lesson["page"]),
           f"**{written(row, row.get('base', 10))}**")


def checked(lesson, text, status):
    """What check says of an answer."""
    done = t.run(CHECK, lesson["number"], text)
    t.equal((done.returncode, done.stderr), (status, ""), done.stdout)
    return done.stdout


def exercise(lesson, folder):
    row = lesson["exercise"]
    base = row.get("base", 10)
    evaluate(row)
    got = count(row, answers(lesson), folder)
    assert near(got, row), f"{row['command']}: {got}, not {row['answer']}"
    stands("answers.md", answers(lesson), f"**{written(row, base)}**")
    t.contains(checked(lesson, written(row, base), 0), "is right")
    t.contains(checked(lesson, got, 0), "is right")
    assert row["wrong"], "no wrong answers"
    for wrong in row["wrong"]:
        assert not near(evaluate(wrong), row), f"{wrong['answer']} is right"
        assert abs(got - wrong["answer"]) > row.get("within", 0), wrong
        stands("answers.md", answers(lesson), f"| {written(wrong, base)} |")
        t.contains(checked(lesson, wrong["answer"], 1), wrong["why"])
    t.contains(checked(lesson, row["answer"] + row.get("within", 0) + 7, 1),
               lesson["page"])


def need(program):
    if program and not shutil.which(program):
        raise t.Skip(f"no {program}")


@contextlib.contextmanager
def top_folder():
    """A folder that has doc/, as the top of the tree has."""
    with tempfile.TemporaryDirectory() as top:
        pathlib.Path(top, "doc").symlink_to(t.ROOT / "doc")
        yield top


def compile_program(build, folder):
    done = t.run("bash", "-c", build + " -Wall -Wextra", cwd=folder)
    t.equal((done.returncode, done.stderr), (0, ""), build)


def learn(lesson):
    need(lesson.get("needs"))
    with top_folder() as top:
        if "build" in lesson:
            for text in (page(lesson["page"]), answers(lesson)):
                stands("the page", text, f"    $ {lesson['build']}\n")
            compile_program(lesson["build"], top)
        for row in lesson["prediction"]:
            foretold(lesson, row, top)
        exercise(lesson, top)


@t.named("the index has each lesson, and lessons.toml each page")
def index():
    pages = [lesson["page"] for lesson in LESSONS]
    t.equal(pages, sorted(p.name for p in FOLDER.glob("[0-9]*.md")), "pages")
    t.equal([le["number"] for le in LESSONS], list(range(1, len(pages) + 1)),
            "numbers")
    for name in pages:
        t.contains(page("README.md"), f"]({name})")


@t.named("check refuses bad input in one line")
def bad_input():
    for words, wanted in (([1, "many"], "many: an answer is a whole number"),
                          (["one", 1], "one: a lesson is a number from 1 to 10"),
                          ([99, 1], "99: no such lesson"),
                          ([1, 2, 3], "one lesson and one answer"),
                          ([1, ""], ": an answer is a whole number")):
        done = t.run(CHECK, *words)
        t.equal((done.returncode, done.stdout), (2, ""), words)
        t.contains(done.stderr, f"check: {wanted}")
        t.equal(done.stderr.count("\n"), 1, "lines")
    listed = t.run(CHECK, check=True).stdout.splitlines()
    t.equal(len(listed), len(LESSONS), "exercises that check lists")


def built_by(lesson, compiler):
    need(compiler.split()[0])
    with top_folder() as top:
        compile_program(lesson["build"].replace("gcc", compiler, 1), top)
        for row in lesson["prediction"]:
            foretold(lesson, row, top)
        row = lesson["exercise"]
        assert near(count(row, answers(lesson), top), row), row["command"]


for each in LESSONS:
    t.case(each["page"], learn, each)
    if each.get("build", "").startswith("gcc "):
        for other in OTHERS:
            t.case(f"{each['page']}, {other}", built_by, each, other)
t.main()
