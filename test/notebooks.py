#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The notebooks of the lessons: notebooks.py BUILD [WORD]

Each is executed from its first cell to its last with nbconvert, where that is
installed; no cell may fail, and what it shows is what a notebook can show. Notebooks
are stored without outputs.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tallytest as t

FOLDER = t.ROOT / "doc" / "lessons"
NAMES = ("sets", "prediction", "bubbles")
NEEDED = "import nbconvert, nbformat, ipykernel"


@t.once
def interpreter():
    """A Python that has what executes notebooks."""
    for program in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([program, "-c", NEEDED], capture_output=True,
                          check=False).returncode == 0:
            return program
    raise t.Skip("no Python here has nbconvert, nbformat and ipykernel: apt install "
                 "python3-nbconvert python3-nbformat python3-ipykernel")


def executed(name):
    """The notebook with its outputs."""
    program = interpreter()
    if shutil.which("gcc") is None:
        raise t.Skip("there is no gcc")
    with tempfile.TemporaryDirectory() as d:
        place = pathlib.Path(d)
        for path in [*FOLDER.glob("*.c"), FOLDER / f"{name}.ipynb"]:
            shutil.copy(path, place)
        env = os.environ | {
            "PYTHONPATH": str(t.ROOT / "python"), "HOME": d, "TMPDIR": d,
            "TALLY_COMMAND": str(t.build / "cli" / "tally"),
            "TALLY_LIBRARY": "",
            "JUPYTER_DATA_DIR": str(place / "data"),
            "JUPYTER_CONFIG_DIR": str(place / "config"),
            "JUPYTER_RUNTIME_DIR": str(place / "run"),
            "IPYTHONDIR": str(place / "ipython"), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [program, "-m", "nbconvert", "--to", "notebook", "--execute",
             "--ExecutePreprocessor.timeout=-1", "--output", "done.ipynb",
             f"{name}.ipynb"], cwd=place, env=env, text=True, capture_output=True,
            check=False)
        t.equal(done.returncode, 0, done.stderr[-3000:])
        return json.loads((place / "done.ipynb").read_text())


def outputs(notebook, kind):
    """What cells show in a form, such as text/html."""
    return ["".join(out["data"][kind]) for cell in notebook["cells"]
            for out in cell.get("outputs", ()) if kind in out.get("data", {})]


def add(name):
    def run():
        stored = json.loads((FOLDER / f"{name}.ipynb").read_text())
        for cell in stored["cells"]:
            t.equal(cell.get("outputs", []), [], "stored outputs")
            t.equal(cell.get("execution_count"), None, "stored count")
        found = outputs(executed(name), "text/html")
        assert any("<table" in text for text in found), found
        assert any("<iframe srcdoc=" in text and "tally teach" in text
                   for text in found), [text[:80] for text in found]
    t.case(f"{name}.ipynb runs, and shows a table and the page of its steps",
           run)


def main():
    for name in NAMES:
        add(name)
    t.main()


main()
