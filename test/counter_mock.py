#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""counter_mock.py SELFCOUNT MOCK: libtally's counters on played machines.

Runs examples/selfcount under test/mock: groups, more events than counters,
two kinds of cores, units outside the cores, interrupted calls, counters taken
away, what is not permitted. Reports TAP.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

import surroundings

HERE = pathlib.Path(__file__).resolve().parent
CORE = "cpus 1\npmu cpu core type=4 counters=4\n"

# name, script (a file or its lines), events, status, what it says.
ROWS = [
    ("group", "intel", "{cycles,instructions},page-faults", 0,
     ["2000000  cycles", "3000000  instructions", "50  page-faults"]),
    ("more events than counters, scaled", CORE,
     "cycles,instructions,branches,r3c,r4c", 0,
     ["2000000  cycles", "3000000  instructions", "500000  branches"]),
    ("two kinds of cores", "hybrid", "{cycles,instructions}", 0,
     ["2000000  cpu_core/cycles/", "3000000  cpu_core/instructions/",
      "1000000  cpu_atom/cycles/", "1000000  cpu_atom/instructions/"]),
    ("a unit outside the cores", "amd", "amd_l3/config=1/", 0,
     ["amd_l3/config=1/"]),
    ("interrupted calls", CORE + "fail read EINTR times=3\n"
     "fail ioctl EINTR times=3\nfail open EINTR times=3\n", "cycles", 0,
     ["2000000  cycles"]),
    ("never on a counter", CORE.replace("counters=4", "counters=4 taken=4"),
     "cycles", 0, ["not counted  cycles"]),
    ("pinned and lost", CORE + "fail read END\n", "cycles:D", 1,
     ["lost it to another user"]),
    ("not permitted", CORE + "paranoid 3\ncapable no\n", "cycles", 1,
     ["perf_event_paranoid is 3"]),
    ("no counters", "no-pmu", "cycles", 1, ["no hardware counters"]),
    ("no descriptors", CORE + "fail open EMFILE after=1\n",
     "cycles,instructions", 1, ["descriptors"]),
]  # fmt: skip


def run(selfcount, mock, script, events):
    with tempfile.NamedTemporaryFile("w", suffix=".script") as own:
        path = HERE / "mock" / f"{script}.script"
        if "\n" in script:
            own.write(script)
            own.flush()
            path = own.name
        return subprocess.run(
            [HERE / "mock" / "tree.py", path, "--", selfcount, events],
            env={**os.environ, "TALLY_MOCK_OBJECT": mock},
            capture_output=True,
            text=True,
            timeout=600,
        )


def main():
    selfcount, mock = map(os.path.abspath, sys.argv[1:])
    surroundings.make_plain()
    print(f"1..{len(ROWS)}")
    for number, (name, script, events, status, says) in enumerate(ROWS, 1):
        done = run(selfcount, mock, script, events)
        said = done.stdout + done.stderr
        good = done.returncode == status and all(s in said for s in says)
        print(f"{'' if good else 'not '}ok {number} {name}")
        if not good:
            print(f"# status {done.returncode}")
            for line in said.splitlines():
                print(f"# {line}")


main()
