#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""headers.py LIBTALLY LIBTALLY_PMU LIBTALLY_SUN4V LIBTALLY_PROFILER
LIBTALLY_TEJA: what the libraries show.

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
SUN4V = ROOT / "compat/sun4v/hv_perf.h"
TEJA = ROOT / "compat/teja/teja_profiler.h"
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wshadow"]
# The headers of libtally-pmu and libtally-profiler; the others are libtally's.
OF_PMU = {"pmu.h", "sun4v.h"}
OF_PROFILER = {"profiler.h"}
LIBTALLY, LIBTALLY_PMU, LIBTALLY_SUN4V = "", "", ""
LIBTALLY_PROFILER, LIBTALLY_TEJA = "", ""


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
        for header in [*HEADERS, SUN4V, TEJA]:
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

    def test_libtally_teja(self):
        names = self.exported(LIBTALLY_TEJA, [TEJA])
        self.assertTrue(all(n.startswith("teja_") for n in names))

    def test_libtally_sun4v(self):
        names = self.exported(LIBTALLY_SUN4V, [SUN4V])
        self.assertTrue(all(n.startswith("hv_") for n in names))


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    LIBTALLY, LIBTALLY_PMU, LIBTALLY_SUN4V = sys.argv[1:4]
    LIBTALLY_PROFILER, LIBTALLY_TEJA = sys.argv[4:]
    unittest.main(argv=sys.argv[:1])
