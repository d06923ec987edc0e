#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py NAME INPUT OUTPUT [WORD=FILE,FILE...]: a text file as a C header, a
string NAME. A line @WORD@ of the text stands for the files of that word, in
their order; their paths are relative to the text's folder."""

import sys
from pathlib import Path


def read(path):
    return Path(path).read_text(encoding="utf-8").splitlines()


def filled(lines, parts):
    for line in lines:
        yield from parts.get(line, [line])


def quoted(line):
    # A question mark may begin what C takes for another sign ("??(").
    for sign in ("\\", '"', "?"):
        line = line.replace(sign, "\\" + sign)
    return f'    "{line}\\n"'


name, source, target, *words = sys.argv[1:]
parts = {
    f"@{word}@": [line for path in paths.split(",")
                  for line in read(Path(source).parent / path)]
    for word, paths in (pair.split("=", 1) for pair in words)
}
lines = filled(read(source), parts)
Path(target).write_text(
    f"/* Generated from {Path(source).name}. */\n"
    f"static const char {name}[] =\n" + "\n".join(map(quoted, lines)) + ";\n",
    encoding="utf-8",
)
