#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion.py TALLY BASH ZSH FISH: what the shell completions offer.

bash is asked as its own completion would be, and fish where it is installed;
of zsh the syntax is checked where it is.
"""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

TALLY = BASH = ZSH = FISH = ""

# Words of the command line, the last being completed; what is among the
# candidates; what is not.
ROWS = [
    ([""], "count list show doctor --help --version", "all"),
    (["co"], "count", "list doctor"),
    (["h"], "help", "count"),
    (["help", ""], "count list doctor stat", "help --version"),
    (["count", "--place", ""], "pack spread first-touch interleave node=",
     "threads"),
    (["count", "--place", "spread,int"], "spread,interleave", "interleave"),
    (["help", "count", ""], "", "count list"),
    (["report", "--by", ""], "function line thread process", "name"),
    (["report", "--by", "file,fu"], "file,function", "function"),
    (["record", "-o", "x", "--f"], "--from --filter", "--format"),
    (["count", "--f"], "--format --from --foreign --field-separator", "--to"),
    (["count", "-"], "-m --machine --set -h --help", "count"),
    (["stat", "--mach"], "--machine", "--set"),
    (["count", "--format", ""], "text csv json", "--to"),
    (["count", "--format", "=", "j"], "json", "text"),
    (["count", "--color", ""], "auto always never", "text"),
    (["count", "-m", "ultra"], "ultrasparc-t2", "host-model"),
    (["count", "-m", "ultrasparc-t2", "-e", "Dc"], "Dcache_misses", "branches"),
    (["count", "-e", "All_instr,Dc"], "All_instr,Dcache_misses",
     "Dcache_misses"),
    (["count", "--machine", "=", "host-model", "-e", ""],
     "all instructions branch-misses", "Dcache_misses"),
    (["count", "--set", "l1d."], "l1d.size= l1d.ways= l1d.line=", "l2.size="),
    (["count", "-e", "all", "-r", ""], "", "all count"),
    (["count", "./program", "--f"], "", "--format --from"),
    (["count", "--", "./program", "-"], "", "-m --machine"),
    (["list", ""], "machines events metrics registers parameters signals",
     "count"),
    (["list", "--f"], "--format", "--from"),
    (["list", "--format", ""], "text json", "csv"),
    (["show", "L2_C"], "L2_CONTROL", ""),
    (["show", "Dc"], "Dcache_misses", "ultrasparc-t2"),
    (["show", ""], "Dcache_misses ultrasparc-t2 host-model PMC5 IA64_IPC",
     "fake events described"),
    (["show", "L3_READS.ALL"], "L3_READS.ALL.MISS", "L3_READS L3_READS.-"),
    (["encode", "-m", "montecito", "L3_READS."],
     "L3_READS.ALL.MISS L3_READS.DATA_READ.HIT", "all L3_READS L3_READS.-"),
    (["encode", "-m", "montecito", "CPU_CPL_CHANGES,L3_READS.A"],
     "CPU_CPL_CHANGES,L3_READS.ALL.HIT", "L3_READS.ALL.HIT"),
    (["plan", "-m", "montecito", "L3_READS.ALL.MISS:"],
     "L3_READS.ALL.MISS:u L3_READS.ALL.MISS:mesi=", "L3_READS.ALL.MISS:F,"),
    (["encode", "-m", "montecito", "CPU_OP_CYCLES", ":"], "u thr= all",
     "mesi= CPU_OP_CYCLES"),
    (["encode", "-m", "montecito", "CPU_OP_CYCLES", ":", "u", ":", "a"],
     "all", "u thr="),
    (["count", "-m", "ultrasparc-t2", "-e", "cycles,All_instr", ":", ""],
     "u k h", "all"),
    (["summarize", "--format", ""], "text csv json teja", "--skip"),
    (["export", "--as", ""],
     "callgrind folded pprof speedscope perf-script", "--output or"),
    (["summarize", "-M", "dc_"], "dc_miss_per_1000", "ipc"),
    (["doctor", "-"], "--help", "--machine"),
    (["calibrate", "-"], "-n --dry-run -o --help", "--machine"),
    (["calibrate", "--format", ""], "text json", "csv"),
    (["pmu", "-"], "--machine --format --json", "--set"),
    (["pmu", "-m", "ultra"], "ultrasparc-t2", "pmu"),
]  # fmt: skip

# Of those, what fish is asked too, and what it says of them.
FISH_ROWS = [
    ("encode -m montecito L3_READS.AL", "L3_READS.ALL.MISS", "L3_READS"),
    ("encode -m montecito CPU_CPL_CHANGES,L3_READS.A",
     "CPU_CPL_CHANGES,L3_READS.ALL.HIT", "L3_READS.ALL.HIT"),
    ("plan -m montecito L3_READS.ALL.MISS:",
     "L3_READS.ALL.MISS:u L3_READS.ALL.MISS:mesi=", "L3_READS"),
    ("show L3_READS.AL", "L3_READS.ALL.MISS", "L3_READS"),
    ("help co", "count", "list"),
    ("he", "help", "count"),
]  # fmt: skip

ASK = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_tally "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(unittest.TestCase):
    def test_bash(self):
        if shutil.which("bash") is None:
            self.skipTest("bash is missing")
        for words, wanted, unwanted in ROWS:
            done = subprocess.run(
                ["bash", "-uc", ASK, "bash", BASH, TALLY, *words],
                capture_output=True,
                text=True,
            )
            offered = set(done.stdout.split())
            once = len(offered) == len(done.stdout.split())
            with self.subTest(words=words):
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertTrue(once, "a word is offered twice")
                self.assertEqual(set(wanted.split()) - offered, set())
                self.assertEqual(set(unwanted.split()) & offered, set())

    def check_syntax(self, shell, path):
        if shutil.which(shell) is None:
            self.skipTest(f"{shell} is missing")
        done = subprocess.run([shell, "-n", path], capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_zsh(self):
        self.check_syntax("zsh", ZSH)

    def test_fish(self):
        self.check_syntax("fish", FISH)
        path = str(Path(TALLY).resolve().parent)
        environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}"}
        for line, wanted, unwanted in FISH_ROWS:
            done = subprocess.run(
                ["fish", "-c", f"source {FISH}; complete -C 'tally {line}'"],
                capture_output=True,
                text=True,
                env=environment,
            )
            offered = {x.split("\t")[0] for x in done.stdout.splitlines()}
            with self.subTest(line=line):
                self.assertEqual(set(wanted.split()) - offered, set())
                self.assertEqual(set(unwanted.split()) & offered, set())


if __name__ == "__main__":
    TALLY, BASH, ZSH, FISH = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
