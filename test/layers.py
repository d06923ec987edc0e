#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the sources must keep to beyond compiling: who includes whom, SPDX
lines, names, format. Takes the source root; reports TAP."""

import pathlib
import re
import shutil
import subprocess
import sys

# The way of the data: a folder includes itself and those before it.
WAY = ["base", "table", "names", "isa", "timing", "source",
       "calibrate", "machine", "pmu", "counter",
       "host", "gateway", "profile", "report", "record", "trace", "check", "fleet", "sweep", "lib"]
# Rooms that include only leaves: they run where there is nothing else.
FREESTANDING = {"pmu": set(), "counter": {"base", "table", "pmu"},
                # Knows this host and no model.
                "host": {"base", "table", "counter"},
                # Part of guest programs.
                "gateway": {"base", "counter"}}
OUTSIDE = {"plugin", "cli", "pmda", "interfaces", "test", "bench", "fuzz"}
# Made at build time, beside no source.
GENERATED = {"history_page_text.h", "isa_capstone.inc", "isa_places.h", "locks_page_text.h", "pmu_tables.h", "memory_page_text.h", "plot_page_text.h", "record_page.h", "steps_page_text.h", "summary_page.h", "tables.h", "version.h"}
ROOMS = ["src", "cli", "pmda", "interfaces", "plugin", "test", "bench", "fuzz", "validate"]

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def sources(root, rooms):
    return sorted(path for room in rooms for ending in ("[ch]", "inc")
                  for path in (root / room).rglob(f"*.{ending}"))


def allowed(folder):
    before = set(WAY[:WAY.index(folder)])
    return FREESTANDING.get(folder, before) | {folder}


def wrong_include(root, path, name):
    """Why the file may not include `name`, or None."""
    folder = path.relative_to(root / "src").parts[0]
    target = name.split("/")[0]
    if name in GENERATED or name.startswith("tally/"):
        return None
    if (path.parent / name).exists() and "/" not in name:
        return None
    if target in OUTSIDE or ".." in name:
        return f"{name} is outside src/"
    if folder not in WAY:
        return f"src/{folder} has no place on the way of the data"
    if target not in WAY:
        return f"{name} is in no known folder"
    if target not in allowed(folder):
        return f"src/{folder} must not know src/{target}"
    return None


def check_includes(root):
    for path in sources(root, ["src"]):
        for name in INCLUDE.findall(path.read_text()):
            reason = wrong_include(root, path, name)
            if reason:
                yield f"{path.relative_to(root)}: {reason}"


def check_plugin(root):
    """Files of plugin/ include those before them in plugin/meson.build."""
    text = (root / "plugin" / "meson.build").read_text()
    names = re.search(r"plugin_order = \[(.*?)\]", text, re.DOTALL).group(1)
    order = re.findall(r"'([^']+)'", names)

    def place(name):
        name = name if name in order else name.rsplit(".", 1)[0]
        return order.index(name) if name in order else None

    for path in sources(root, ["plugin"]):
        own = place(path.name)
        if own is None:
            yield f"plugin/{path.name}: has no place in plugin_order"
            continue
        for name in INCLUDE.findall(path.read_text()):
            if name.startswith("plugin/") and (
                    place(name[len("plugin/"):]) or 0) > own:
                yield f"plugin/{path.name}: {name} is of a higher file"


def check_spdx(root):
    for path in sources(root, ROOMS):
        first = path.read_text().split("\n", 1)[0]
        if not first.startswith("/* SPDX-License-Identifier: "):
            yield f"{path.relative_to(root)}: no SPDX line"


def check_format(root):
    """Asks one clang-format for all files: to start costs more than to format."""
    paths = [path for path in sources(root, ROOMS)
             if not path.name.endswith("_rows.inc")]  # tables, a row a line
    done = subprocess.run(["clang-format", "--style=file", "--dry-run",
                           *paths], capture_output=True,
                          text=True, check=True)
    changed = {line.split(":")[0] for line in done.stderr.splitlines()
               if line.endswith("[-Wclang-format-violations]")}
    for path in sorted(changed):
        yield f"{pathlib.Path(path).relative_to(root)}: clang-format -i changes it"


def check_python_names(root):
    """A script's folder is searched first for modules, so a script named like
    a module of Python is imported in its place."""
    for room in [*ROOMS, "scripts"]:
        for path in sorted((root / room).rglob("*.py")):
            if path.stem in sys.stdlib_module_names:
                yield (f"{path.relative_to(root)}: Python has a module "
                       f"'{path.stem}'")


def report(number, name, faults):
    print(f"{'not ' if faults else ''}ok {number} {name}")
    for fault in faults:
        print(f"# {fault}")


def main():
    root = pathlib.Path(sys.argv[1])
    print("1..5")
    report(1, "includes", list(check_includes(root)))
    report(2, "order of the plugin's files", list(check_plugin(root)))
    report(3, "SPDX lines", list(check_spdx(root)))
    report(4, "names of scripts", list(check_python_names(root)))
    if shutil.which("clang-format") is None:
        print("ok 5 format # SKIP clang-format is not installed")
        return
    report(5, "format", list(check_format(root)))


main()
