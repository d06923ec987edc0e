#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rows of processors: bad ones are refused, with file and row.

Takes the generator and the folder data; reports TAP.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

# what is replaced, by what, what is said
ROWS = (
    ('machine = "zen3"', 'machine = "zen33"', "did you mean 'zen3'?"),
    ('family = 0x1a', 'family = "26"', "[processor.zen5]: 'family' is of the"),
    ('family = 0x1a\n', '', "[processor.zen5]: 'family' is missing"),
    ('models = [[0x55, 0x55]]', 'models = [0x55]', "must be ranges [FIRST"),
    ('models = [[0x55, 0x55]]', 'models = [[0x55, 0x54]]',
     "[processor.skylake-server]: 'models' must be ranges"),
    ('models = [[0x55, 0x55]]', 'models = [[0x55, 0x70]]',
     "skylake-server and skylake-client have one processor"),
    ('parts = [0xd0c]', 'parts = ["0xd0c"]', "must be numbers of parts"),
    ('parts = [0xd0c]', 'parts = [0xd0c, 0xd08]',
     "cortex-a72 and neoverse-n1 have one processor"),
    ('parts = [0xd0c]', 'models = [0xd0c]', "[processor.neoverse-n1]: 'parts'"),
    ('near = true', 'near = 1', "[processor.zen]: 'near' is of the wrong kind"),
    ('near = true', 'nearly = true', "unknown key 'nearly'"),
    ('"time.l2"', '"time.l22"', "'time.l22' is no parameter of parameters.toml"),
    ('"units.*"', '"unit.*"', "'unit.*' is no parameter of parameters.toml"),
)


def generate(generator, data, text):
    """Runs the generator over the folder with another processors.toml."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "processors.toml").write_text(text)
        shutil.copy(data / "parameters.toml", folder)
        for machine in (data / "machines").iterdir():
            (folder / "machines" / machine.name).mkdir(parents=True)
        done = subprocess.run([sys.executable, "-B", generator, folder,
                               folder / "out.c"],
                              capture_output=True, text=True, check=False)
        return done, (folder / "out.c").exists()


def refused(done, made, said):
    return (done.returncode == 1 and not made
            and done.stderr.startswith("data/processors.toml: ")
            and done.stderr.count("\n") == 1 and said in done.stderr)


def main():
    generator, data = sys.argv[1], pathlib.Path(sys.argv[2])
    text = (data / "processors.toml").read_text()
    print(f"1..{len(ROWS) + 1}")
    done, made = generate(generator, data, text)
    good = done.returncode == 0 and made
    print("ok" if good else "not ok", "1 - the rows as they are")
    for number, (old, new, said) in enumerate(ROWS, 2):
        assert old in text, old
        done, made = generate(generator, data, text.replace(old, new, 1))
        fine = refused(done, made, said)
        print("ok" if fine else "not ok", number, "-", said)
        if not fine:
            print("#", done.returncode, made, done.stderr)


if __name__ == "__main__":
    main()
