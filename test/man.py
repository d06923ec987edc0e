#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""man.py PAGE...: the manual pages are clean and complete.

Each is formatted by man --warnings without a word, has its usual sections, and
no placeholder is left. Skipped where man is missing.
"""

import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS",
            "EXAMPLES", "SEE ALSO"]  # fmt: skip
PAGES = []


class Pages(unittest.TestCase):
    def test_sections(self):
        self.assertTrue(PAGES)
        for page in PAGES:
            text = Path(page).read_text()
            found = re.findall(r"^\.SH (.*)$", text, re.MULTILINE)
            self.assertEqual([s for s in found if s in SECTIONS], SECTIONS)
            self.assertIsNone(re.search(r"^@", text, re.MULTILINE), page)

    def test_examples(self):
        """Each page has two to four commands, each behind a line of prose."""
        for page in PAGES:
            text = Path(page).read_text().partition(".SH EXAMPLES\n")[2]
            text = text.partition(".SH ")[0]
            shown = re.findall(
                r"^\.PP\n((?:.*[^.:\n]\n)*.*[.:])\n\.PP\n\.RS\n\.nf\n(.+)"
                r"\n\.fi\n\.RE$", text, re.MULTILINE)
            self.assertEqual(len(shown), text.count(".nf"), page)
            self.assertIn(len(shown), (2, 3, 4), page)

    def test_tally_names_all(self):
        """tally(1) names every other page of the first section."""
        [page] = [p for p in PAGES if Path(p).name == "tally.1"]
        text = Path(page).read_text().replace("\\", "")
        for other in PAGES:
            name = Path(other).stem
            if name.startswith("tally-ec"):
                continue
            if name != "tally":
                self.assertIn(f"{name}", text)

    def test_groups(self):
        """tally-count.1 has the groups of --help, each with options."""
        [page] = [p for p in PAGES if Path(p).name == "tally-count.1"]
        text = Path(page).read_text()
        options = text.partition(".SH OPTIONS\n")[2].partition(".SH ")[0]
        begin, *groups = re.split(r"^\.SS (.*)$", options, flags=re.MULTILINE)
        self.assertEqual(begin, "")
        self.assertEqual(groups[0], "Everyday")
        for title, rows in zip(groups[::2], groups[1::2]):
            self.assertIn(".TP\n", rows, title)

    def test_warnings(self):
        if shutil.which("man") is None:
            self.skipTest("man is missing")
        environment = os.environ | {"LC_ALL": "C.UTF-8", "MANROFFSEQ": "",
                                    "MANWIDTH": "80"}  # fmt: skip
        for page in PAGES:
            done = subprocess.run(
                ["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z",
                 page],
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)


if __name__ == "__main__":
    PAGES = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
