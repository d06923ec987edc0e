#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""headers.py LIBTALLY LIBTALLY_PMU LIBTALLY_PROFILER [HEADER LIBRARY]...: what
the libraries show; each HEADER is of an interface.

Every public header compiles alone as C17 and C++17, each library exports the
functions that its headers declare and nothing else. A missing compiler skips
its part.
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
HEADERS = sorted((INCLUDE / "tally").glob("*.h"))
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow"]
# The headers of libtally-pmu and libtally-profiler; the others are libtally's.
OF_PMU = {"pmu.h", "sun4v.h"}
OF_PROFILER = {"profiler.h"}
LIBTALLY, LIBTALLY_PMU, LIBTALLY_PROFILER = "", "", ""
# The header of an interface to its library, and what its names begin with.
INTERFACES = {}
PREFIXES = {"hv_perf.h": "hv_", "teja_profiler.h": "teja_"}


def text(path):
    return path.read_text(encoding="utf-8")


def declared(path):
    """Names of the functions that a header marks TALLY_API."""
    return set(re.findall(r"^TALLY_API [^;]*?\b(\w+)\s*\(", text(path), re.M))


class Headers(unittest.TestCase):
    def compile(self, compilers, *flags):
        compiler = next(filter(None, map(shutil.which, compilers)), None)
        if compiler is None:
            self.skipTest(f"none of {compilers} is here")
        self.assertTrue(HEADERS)
        for header in [*HEADERS, *INTERFACES]:
            line = f'#include "{header}"\n'
            done = subprocess.run(
                [compiler, *flags, *WARNINGS, f"-I{INCLUDE}", "-fsyntax-only",
                 "-"],
                input=line * 2,
                capture_output=True,
                text=True,
            )  # fmt: skip
            self.assertEqual(done.returncode, 0, header.name + done.stderr)

    def test_c17(self):
        self.compile(
            ("cc", "gcc", "clang"), "-std=c17", "-xc", "-Wstrict-prototypes"
        )

    def test_cxx17(self):
        self.compile(("c++", "g++", "clang++"), "-std=c++17", "-xc++")

    def test_since(self):
        for header in HEADERS:
            functions = len(declared(header))
            marks = text(header).count("@since ")
            self.assertGreaterEqual(marks, functions, header.name)


class Symbols(unittest.TestCase):
    def exported(self, library, headers):
        if shutil.which("nm") is None:
            self.skipTest("nm is missing")
        done = subprocess.run(
            ["nm", "-D", "--defined-only", "--format=posix", library],
            capture_output=True,
            text=True,
            check=True,
        )
        rows = [line.split() for line in done.stdout.splitlines()]
        names = {row[0].partition("@")[0] for row in rows if row[1] != "A"}
        wanted = set().union(*map(declared, headers))
        self.assertEqual(names, wanted)
        return names

    def tally(self, headers, library):
        names = self.exported(library, headers)
        self.assertTrue(all(n.startswith("tally_") for n in names))

    def test_libtally(self):
        others = OF_PMU | OF_PROFILER
        self.tally([h for h in HEADERS if h.name not in others], LIBTALLY)

    def test_libtally_profiler(self):
        self.tally(
            [h for h in HEADERS if h.name in OF_PROFILER], LIBTALLY_PROFILER
        )

    def test_libtally_pmu(self):
        self.tally([h for h in HEADERS if h.name in OF_PMU], LIBTALLY_PMU)

    def test_interfaces(self):
        for header, library in INTERFACES.items():
            names = self.exported(library, [header])
            self.assertTrue(
                all(n.startswith(PREFIXES[header.name]) for n in names)
            )


if __name__ == "__main__":
    if len(sys.argv) < 4 or len(sys.argv) % 2:
        sys.exit(__doc__)
    LIBTALLY, LIBTALLY_PMU, LIBTALLY_PROFILER = sys.argv[1:4]
    INTERFACES = dict(zip(map(Path, sys.argv[4::2]), sys.argv[5::2]))
    unittest.main(argv=sys.argv[:1])
