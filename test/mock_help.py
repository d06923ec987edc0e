# SPDX-License-Identifier: MIT
"""A machine with counters, played by test/mock, for programs that run on it."""
import os
import pathlib
import sys
import tempfile

import tallytest as t

sys.path.insert(0, t.source("test", "mock"))
import tree  # noqa: E402


def library():
    path = t.build / "test" / "mock" / "mock-kernel.so"
    if not path.exists():
        raise t.Skip("the mock is not built")
    return path


class Machine:
    """A script and its tree, for the time of a with statement."""

    def __init__(self, script):
        self.script = script

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tally-mock-")
        root = pathlib.Path(self.folder.name)
        known = pathlib.Path(t.source("test", "mock", f"{self.script}.script"))
        text = self.script if "\n" in self.script else known.read_text()
        script = root / "script"
        script.write_text(f"{text}\n")
        tree.make(script, root / "tree")
        self.log = root / "log"
        self.variables = tree.variables(script, root / "tree", library(),
                                        self.log)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def env(self):
        # No table of events of the true processor for perf.
        return {**os.environ, **self.variables, "LC_ALL": "C",
                "PERF_CPUID": "mock-0-0-0"}

    def run(self, *words, **how):
        return t.run(*words, env=self.env(), **how)

    def opened(self):
        return self.log.read_text() if self.log.exists() else ""
