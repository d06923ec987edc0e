#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The rows of architectures: bad ones are refused, with file and row.

Takes the generator and data/isa.toml; reports TAP.
"""
import pathlib
import subprocess
import sys
import tempfile

# what is replaced, by what, what is said
ROWS = (
    ('page = 8192', 'page = 8000', "[isa.sparc64]: 'page' must be a power"),
    ('step = 4', 'step = 3', "[isa.sparc64]: 'step' must be a power"),
    ('slots = "apart"', 'slots = "some"', "must be one of none, apart, within"),
    ('lookup = "0134616c"', 'lookup = "0134616"', "'lookup' must be up to 8 bytes"),
    ('"ELFDATA2MSB"]', '"MSB"]', "'elf' must be a list of names"),
    ('"EM_SPARCV9", ', '', "'elf' must be a machine, a class and an order"),
    ('sigbus = 10\n', '', "[isa.sparc64]: 'sigbus' is missing"),
    ('page = 8192', 'page = 8192\npages = 1', "unknown key 'pages'"),
    ('like = "mips64"', 'like = "mips"', "[isa.mips64el]: like = 'mips'"),
    ('register_numbers = [8, ', 'register_numbers = [', "must be 12 numbers from"),
    ('"CS_ARCH_SPARC", ', '', "'capstone' must be an architecture and its modes"),
    ('"CS_MODE_64"', '"64"', "'capstone' must be a list of names"),
    ('stack_bias = 2047', 'stack_bias = -1', "stack_bias = -1: must be a whole"),
    ('execve = 59', 'execve = "59"', "'calls' must be a table of names"),
)


def generate(generator, text):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "isa.toml").write_text(text)
        done = subprocess.run(
            [sys.executable, "-B", generator, name, folder / "c", folder / "h",
             folder / "d", folder / "i"], capture_output=True, text=True, check=False)
        made = sorted(p.name for p in folder.iterdir() if p.name != "isa.toml")
        return done, made


def main():
    generator, data = sys.argv[1:]
    text = pathlib.Path(data).read_text()
    done, made = generate(generator, text)
    good = done.returncode == 0 and made == ["c", "d", "h", "i"]
    print(f"1..{len(ROWS) + 1}")
    print(f"{'ok' if good else 'not ok'} 1 - the rows as they are")
    for i, (old, new, said) in enumerate(ROWS, 2):
        assert old in text, old
        done, made = generate(generator, text.replace(old, new, 1))
        good = done.returncode != 0 and said in done.stderr and not made \
            and done.stderr.count("\n") == 1 \
            and done.stderr.startswith("data/isa.toml: ")
        print(f"{'ok' if good else 'not ok'} {i} - {(new or old).split()[-1]}")
        if not good:
            print("# " + done.stderr.replace("\n", "\n# "))


main()
