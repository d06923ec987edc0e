#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gen_man.py TALLY VERSION INPUT OUTPUT: joins a manual page.

INPUT, man/tally.1.in or man/tally-COMMAND.1.in, is the prose. In it @HEAD@ is
replaced by the title, name and synopsis, @OPTIONS@, @EXAMPLES@ and @LINES@ (of
the lines that it reads) by what the command's rows say, @COMMANDS@ by the list
of commands, @MACHINES@ by that of machines, @GUESTS@ by the machines that
count the programs of each architecture of data/isa.toml without -m, but for those
of the architecture whose C library is the host's.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

from rows import Option, output, read_commands

SUMMARY = "count what a program does, on processors you do not have"
DATA = Path(__file__).resolve().parent.parent / "data"
HELP = Option("h", "help", "", "print usage, options and an example")


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def head(title, version, summary, synopsis):
    words = [f"\\fB{word}\\fR" for word in title.split("-")]
    return [
        f'.TH {title.upper()} 1 "" "tally {version}" "User commands"',
        ".SH NAME",
        f"{roff(title)} \\- {roff(summary)}",
        ".SH SYNOPSIS",
        f"{' '.join(words)} {roff(synopsis)}".strip(),
    ]


def option(row):
    names = [f"\\fB\\-{row.letter}\\fR"] if row.letter else []
    names.append(f"\\fB\\-\\-{roff(row.name)}\\fR")
    term = ", ".join(names)
    if row.argument:
        term += f" \\fI{roff(row.argument)}\\fR"
    return [".TP", term, roff(row.help)]


def options(rows):
    """Returns the rows under their groups' titles, --help in the first
    group."""
    lines, group = [], ""
    last = max((i for i, row in enumerate(rows) if row.group == rows[0].group),
               default=-1)
    for row in [*rows[:last + 1], HELP, *rows[last + 1:]]:
        if row.group not in ("", group):
            lines.append(f".SS {roff(row.group)}")
            group = row.group
        lines += option(row)
    return lines


def example(line):
    """Returns a line of an example: a line that says why, or a command."""
    if line.startswith("# "):
        return [".PP", roff(line.removeprefix("# "))]
    return [".PP", ".RS", ".nf", roff(line), ".fi", ".RE"]


def machines(tally):
    """Returns the machines that a program can be counted on, each with its
    brief."""
    lines = []
    for m in json.loads(output(tally, "list", "machines", "-j"))["machines"]:
        programs = ", ".join(m["isas"]) or "any, none its own"
        lines += [".TP", f"\\fB{roff(m['name'])}\\fR", roff(m["title"])]
        if m["model"]:
            lines.append(roff(f"(programs: {programs})"))
    return lines


def guests():
    """Returns which machine counts the programs of which architectures."""
    rows = tomllib.loads(DATA.joinpath("isa.toml").read_text("utf-8"))["isa"]
    names = {}
    for name, row in rows.items():
        row = rows.get(row.get("like"), {}) | row
        if "triplet" in row:
            names.setdefault(row["machine"], []).append(name)
    lines = []
    for machine, those in names.items():
        last = machine == list(names)[-1]
        lines += [f"{' and '.join(those)} programs run on",
                  f".BR {roff(machine)} {'.' if last else ','}"]
    return lines


def page(tally, version, title, prose):
    commands = read_commands(tally)
    parts = {"GUESTS": guests()}
    if title == "tally":
        words = "COMMAND [OPTIONS] [ARGUMENTS]"
        parts["HEAD"] = head(title, version, SUMMARY, words)
        parts["MACHINES"] = machines(tally)
        parts["COMMANDS"] = []
        for c in commands:
            term = f"\\fBtally\\-{c.name}\\fR(1)"
            parts["COMMANDS"] += [".TP", term, roff(c.summary)]
    else:
        [c] = [c for c in commands if f"tally-{c.name}" == title]
        parts["HEAD"] = head(title, version, c.summary, c.synopsis)
        parts["OPTIONS"] = options(c.options)
        parts["LINES"] = [text for form, brief in c.lines
                          for text in (".TP", roff(form), roff(brief))]
        parts["EXAMPLES"] = sum(map(example, c.examples), [])
    return re.sub(
        r"^@(\w+)@$", lambda m: "\n".join(parts[m[1]]), prose, flags=re.M
    )


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__.splitlines()[0])
    tally, version, source, target = sys.argv[1:]
    title = Path(source).name.removesuffix(".1.in")
    text = page(tally, version, title, Path(source).read_text())
    Path(target).write_text(text)


main()
