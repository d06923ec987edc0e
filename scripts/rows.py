# SPDX-License-Identifier: MIT
"""The command rows of cli/*.c, read back from what --help prints of them."""

import re
import subprocess
from dataclasses import dataclass, field


@dataclass
class Option:
    letter: str  # "" if it has none
    name: str
    argument: str  # "" if it takes none
    help: str
    group: str = ""  # the title that it stands under

    @property
    def choices(self):
        """Returns ["text", "csv", "json"] if the help is "text, csv or json";
        of "threads: a or b; pages: c or n=N" all words, the last as "n="."""
        found = []
        for part in self.help.split("; "):
            words = part.partition(": ")[2] if re.match(r"\w+: ", part) else part
            if not re.fullmatch(r"[\w=-]+(, [\w=-]+)* or [\w=-]+", words):
                return []
            found += re.split(r", | or ", words)
        return [re.sub("=.*", "=", word) for word in found]


@dataclass
class Command:
    name: str
    summary: str
    synopsis: str = ""
    options: list = field(default_factory=list)
    examples: list = field(default_factory=list)  # "# why." or a command
    lines: list = field(default_factory=list)  # what it reads: form, brief


OPTION = re.compile(r"  (?:-(\w),|   ) --([\w-]+)(?:\[=\S+\])?(?: (\S+))? +(.+)")


def output(*command):
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True
    ).stdout


def read_command(tally, name):
    head, *rest = output(tally, name, "--help").splitlines()
    command = Command(name, head.partition(": ")[2])
    lines = iter(rest)
    group = ""
    for line in lines:
        if line.startswith("usage: "):
            command.synopsis = line.removeprefix(f"usage: tally {name}").strip()
        elif match := OPTION.fullmatch(line):
            row = (g or "" for g in match.groups())
            command.options.append(Option(*row, group))
        elif line.startswith("commands, one a line"):
            block = [text.strip() for text in iter(lines.__next__, "")]
            command.lines = list(zip(block[::2], block[1::2]))
        elif line == "examples:":
            command.examples = [text.strip() for text in lines]
        elif re.fullmatch(r"[A-Z].*:", line):
            group = line.removesuffix(":")
        elif line:
            raise SystemExit(f"tally {name} --help: not understood: {line}")
    return command


def read_commands(tally):
    names = re.findall(r"^  (\w+) {2,}", output(tally, "--help"), re.MULTILINE)
    return [read_command(tally, name) for name in names]
