#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do the commands of the pages print what the pages say? pages.py BUILD [WORD]

Every page (*.md) that has commands is a case. Its commands, the lines "$ ..."
of its blocks of code, run in one shell, in a folder of the page's own with
links to a copy of the tree, whose build/ is BUILD, and with tally in the PATH.
CONTRIBUTING.md ("Pages") says what a page leaves open: `...`, times, and the
word in a comment in front of a block.
"""
import os
import pathlib
import re
import shutil
import tempfile
from dataclasses import dataclass, field
from fractions import Fraction

import tallytest as t

# These take minutes, or change the computer.
NEVER = re.compile(r"make (check|bench|install)|.*(sudo|apt-get) ")
COMMENT = re.compile(r"<!-- run: (.*) -->")
NUMBER = re.compile(r"(?<![\w.])[\d,]*\d(?:\.\d+)?")
# What the host's clocks say.
TIMES = re.compile(NUMBER.pattern + r"(?= (?:s|M a second of) wall| s user| s sys"
                   r"| msec| CPUs utilized| [KM]? ?a second\b)")


@dataclass
class Command:
    line: int
    text: str
    shown: list = field(default_factory=list)
    options: tuple = ()


def check_options(page, number, options):
    for option in options:
        if not re.fullmatch(r"not|no PMU|any level|any numbers|status \d+"
                            r"|numbers within \d+ %|L1d of 32K to 48K",
                            option):
            raise AssertionError(f"{page}:{number}: <!-- run: {option} -->?")
    return options


def commands(page):
    """The commands of a page with what it shows of each."""
    found, options, block = [], (), False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if comment := COMMENT.fullmatch(line):
            options = check_options(page, number, comment[1].split(", "))
        elif line.startswith("    ") or (block and not line):
            text = line[4:]
            if text.startswith("$ "):
                found.append(Command(number, text[2:], options=options))
            elif found and block and found[-1].text.endswith("\\"):
                found[-1].text += "\n" + text
            elif found and block:
                found[-1].shown.append(text)
            block = block or text.startswith("$ ")
        else:
            if block or line:
                options = ()
            block = False
    return [c for c in found if not NEVER.match(c.text)
            and "not" not in c.options]


def session(page, folder):
    """Runs the commands of a page: (status, lines) of each."""
    script = ["exec 2>&1 </dev/null"]
    for i, c in enumerate(commands(page)):
        script += [f"printf '\\n@@ {i}\\n'", c.text,
                   "printf '\\n@@ status %d\\n' $?"]
    env = {**os.environ, "LC_ALL": "C.UTF-8",
           "PATH": f"{t.build / 'cli'}:{os.environ['PATH']}"}
    done = t.run("bash", "-c", "\n".join(script), cwd=folder, env=env)
    parts = re.split(r"\n@@ (\d+)\n(.*?)\n@@ status (\d+)\n", done.stdout,
                     flags=re.S)
    return [(int(status), text.splitlines())
            for text, status in zip(parts[2::4], parts[3::4])]


def near(shown, got, percent):
    """Whether two lines of a report are equal, numbers up to `percent`."""
    a, b = NUMBER.findall(shown), NUMBER.findall(got)
    if NUMBER.split(shown) != NUMBER.split(got):
        return False
    # No floats: a picture of digits is a number of more than these tell apart.
    values = ([Fraction(n.replace(",", "")) for n in side] for side in (a, b))
    return all(x == y or float(abs(x - y)) <= percent / 100 *
               float(max(abs(x), abs(y), 1)) for x, y in zip(*values))


def matches(shown, got, percent):
    """Whether a line is what a page shows; `...` at its end is any rest."""
    shown, got = (TIMES.sub("0", text).split() for text in (shown, got))
    if shown and shown[-1] == "...":
        shown.pop()
        got = got[:len(shown)]
    return near(" ".join(shown), " ".join(got), percent)


def host_model_l1d():
    """Bytes of host-model's L1 data cache, this computer's own."""
    done = t.run(t.tally(), "show", "-m", "host-model", "l1d.size", check=True)
    return int(re.search(r"l1d\.size=(\d+)K", done.stdout)[1]) << 10


def compare(c, page, got):
    """The lines shown, in their order; `...` on a line of its own stands for
    any lines."""
    percent = 0.0
    for option in c.options:
        if option.startswith("numbers within"):
            percent = float(option.split()[2])
    if "any numbers" in c.options or not (
            "L1d of 32K to 48K" not in c.options or
            32 << 10 <= host_model_l1d() <= 48 << 10):
        percent = float("inf")
    got = [line for line in got if line.strip()]
    if "any level" in c.options:
        got = [re.sub(r":u\b", "", line) for line in got]
    at, skip = 0, False
    for line in filter(str.strip, c.shown):
        if line.strip() == "...":
            skip = True
            continue
        while skip and at < len(got) and not matches(line, got[at], percent):
            at += 1
        if at == len(got) or not matches(line, got[at], percent):
            raise AssertionError(
                f"{page}:{c.line}: $ {c.text}\nshown: {line}\nprinted: "
                + (got[at] if at < len(got) else "no such line of")
                + "\nall of it:\n" + "\n".join(got))
        at, skip = at + 1, False
    if at < len(got) and not skip:
        raise AssertionError(f"{page}:{c.line}: $ {c.text}\nprinted too: "
                             + "\n".join(got[at:]))


made = tempfile.TemporaryDirectory(prefix="tally-pages-")


@t.once
def tree():
    """A copy of the tree as a clone has it; its build/ is this build."""
    def left_out(where, names):
        top = pathlib.Path(where) == t.ROOT
        return [n for n in names if n in (".git", "__pycache__")
                or (top and n.startswith("build"))
                or pathlib.Path(where, n) == t.build]

    folder = pathlib.Path(made.name, "tally")
    shutil.copytree(t.ROOT, folder, symlinks=True, ignore=left_out)
    (folder / "build").symlink_to(t.build)
    return folder


def has_pmu():
    return any(pathlib.Path("/sys/bus/event_source/devices", name).exists()
               for name in ("cpu", "cpu_core", "armv8_pmuv3_0"))


def runs(page):
    every = commands(t.ROOT / page)
    for guest in sorted(set(re.findall(r"build/guests/[\w.]*\w",
                                       "\n".join(c.text for c in every)))):
        if not (t.build / "guests" / pathlib.Path(guest).name).exists():
            raise t.Skip(f"{guest} is not built")
    for compiler in {c.text.split()[0] for c in every
                     if re.match(r"[\w-]+-gcc ", c.text)}:
        if not shutil.which(compiler):
            raise t.Skip(f"no {compiler}")
    if any(c.text.startswith("make ") for c in every) and \
            not os.access(t.build / ".ninja_log", os.W_OK):
        raise t.Skip("make builds in a folder that is another user's")
    with tempfile.TemporaryDirectory() as top:
        folder = pathlib.Path(top, "tally")
        folder.mkdir()
        # A copy of the whole tree takes 2 s of a processor.
        for path in tree().iterdir():
            (folder / path.name).symlink_to(path)
        results = session(t.ROOT / page, folder)
    t.equal(len(results), len(every), "commands that ran")
    for c, (status, got) in zip(every, results):
        wanted = next((int(o.split()[1]) for o in c.options
                       if o.startswith("status")), 0)
        if "no PMU" in c.options and has_pmu():
            continue
        t.equal(status, wanted, f"status at {page}:{c.line}: {c.text}\n"
                + "\n".join(got) + "\n")
        compare(c, page, got)


def pages():
    return sorted(str(p.relative_to(t.ROOT)) for p in
                  [*t.ROOT.glob("*.md"), *t.ROOT.glob("doc/**/*.md"),
                   *t.ROOT.glob("interfaces/**/*.md")])


@t.named("README.md has at most 150 lines")
def short():
    lines = len((t.ROOT / "README.md").read_text().splitlines())
    assert lines <= 150, lines


for page in pages():
    if commands(t.ROOT / page):
        t.case(page, runs, page)
t.main()
