# SPDX-License-Identifier: MIT
"""Calls one test function, without pytest: a session of pytest executes some hundred
million instructions, and looks at the clock.

    python3 .../tally/_alone.py FOLDER MODULE FUNCTION ARGUMENTS

FOLDER is where Python finds the module. ARGUMENTS is a dictionary of literals in Python's
notation, which the plugin has checked. Nothing here is for users of the package. What this
file imports is counted with each test, so it imports little.
"""
import sys
from importlib import import_module


class _Marks:
    """Stands for pytest.mark: leaves each function as it is."""

    def __getattr__(self, _name):
        def mark(*arguments, **_named):
            bare = len(arguments) == 1 and callable(arguments[0])
            return arguments[0] if bare else lambda function: function
        return mark


class _Pytest(type(sys)):  # type: ignore[misc]
    """Stands for pytest, and loads it when something else than a mark is asked for."""
    mark = _Marks()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        del sys.modules["pytest"]
        try:
            return getattr(import_module("pytest"), name)
        finally:
            sys.modules["pytest"] = self


def main():
    folder, module, function, arguments = sys.argv[1:]
    sys.path[0] = folder  # in the place of this file's own
    sys.modules["pytest"] = _Pytest("pytest")
    found = import_module(module)
    *owners, name = function.split(".")
    for owner in owners:
        found = getattr(found, owner)
    if owners:
        found = found()  # the class of the test
    getattr(found, name)(**eval(arguments, {"__builtins__": {"set": set}}))


if __name__ == "__main__":
    main()
