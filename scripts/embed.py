#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""embed.py NAME INPUT OUTPUT: a text file as a C header, a string NAME."""

import sys
from pathlib import Path

name, source, target = sys.argv[1:]
lines = Path(source).read_text(encoding="utf-8").splitlines()
quoted = [
    '    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'
    for line in lines
]
Path(target).write_text(
    f"/* Generated from {Path(source).name}. */\n"
    f"static const char {name}[] =\n" + "\n".join(quoted) + ";\n",
    encoding="utf-8",
)
