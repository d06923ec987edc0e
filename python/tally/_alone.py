# SPDX-License-Identifier: MIT
"""Calls one test function, without pytest: a session of pytest executes some hundred
million instructions, and looks at the clock.

    python3 .../tally/_alone.py FOLDERS MODULE FUNCTION ARGUMENTS

FOLDERS is where Python looks for modules, with colons between. ARGUMENTS is a dictionary of
literals in Python's notation, which the plugin has checked. The status is 77 if the test
skips itself. Nothing here is for users of the package. What this file imports is counted with
each test, so it imports little.
"""
import sys
from importlib import import_module

SKIPPED = 77  # the status for a test that skips itself


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
    folders, module, function, arguments = sys.argv[1:]
    sys.path[:] = folders.split(":")
    sys.modules["pytest"] = _Pytest("pytest")
    *owners, name = function.split(".")
    try:
        found = import_module(module)
        for owner in owners:
            found = getattr(found, owner)
        if owners:
            found = found()  # the class of the test
        getattr(found, name)(**eval(arguments, {"__builtins__": {"set": set}}))
    except BaseException as error:
        # What pytest.skip() raises, and is not imported here for that alone.
        if type(error).__name__ != "Skipped":
            raise
        sys.stderr.write(f"{error}\n")
        sys.exit(SKIPPED)


if __name__ == "__main__":
    main()
