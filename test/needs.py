#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a program needs, said before it runs: needs.py BUILD [WORD]

`tally doctor PROGRAM`, and the x86-64 levels of .note.gnu.property, which the
linker writes with -z x86-64-v4.
"""
import contextlib
import pathlib
import tempfile

import tallytest as t

LEVEL = "needs x86-64-v4 (AVX-512), which no QEMU has: build it for x86-64-v3"


@contextlib.contextmanager
def linked(*options):
    """A program that does nothing, linked with the options."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "nothing.c")
        source.write_text("int main(void) { return 0; }\n")
        program = source.with_suffix(".x86_64")
        try:
            done = t.run("gcc", "-o", program, source, *options)
        except FileNotFoundError:
            raise t.Skip("no gcc") from None
        if done.returncode != 0:
            raise t.Skip(f"gcc: {done.stderr.splitlines()[0]}")
        yield program


def count(program):
    return t.run(t.tally(), "count", "-m", "host-model", "-e", "instructions",
                 program)


def doctor(*words):
    return t.run(t.tally(), "doctor", *words)


@t.named("a dynamic program for x86-64-v4 is refused in one line")
def dynamic_level():
    with linked("-Wl,-z,x86-64-v4") as program:
        done = count(program)
        t.equal(done.returncode, 2, "status")
        t.contains(done.stderr, f"{program}: {LEVEL}")
        t.equal(done.stderr.count("\n"), 1, "lines")
        told = doctor(program)
        t.equal(told.returncode, 2, "status of doctor")
        t.contains(told.stdout, f"  no     {LEVEL}")


@t.named("perfex and profile refuse it in the same line")
def dynamic_level_elsewhere():
    with linked("-Wl,-z,x86-64-v4") as program:
        line = count(program).stderr
        where = program.parent
        for words in (["perfex", "-m", "r10000", "--foreign", "-e", "0"],
                      ["profile", "-m", "host-model"]):
            done = t.run(t.tally(), *words, program, cwd=where)
            t.equal(done.returncode, 2, f"status of {words}")
            lines = [s for s in done.stderr.splitlines(True)
                     if "no calls of the profiler" not in s]
            t.equal("".join(lines), line, str(words))
            t.equal(sorted(p.name for p in where.iterdir()),
                    ["nothing.c", program.name], "files")


@t.named("a static program for x86-64-v4 runs, with a warning in one line")
def static_level():
    with linked("-Wl,-z,x86-64-v4", "-static") as program:
        done = count(program)
        t.equal(done.returncode, 0, "status")
        t.contains(done.stderr, f"its file says that it {LEVEL}")
        t.equal(t.run(t.tally(), "count", "-m", "host-model", "-q", "-o",
                      "/dev/null", program).stderr, "", "with -q")
        told = doctor(program)
        t.equal(told.returncode, 0, "status of doctor")
        t.contains(told.stdout, f"  maybe  {LEVEL}")
        t.contains(told.stdout, "         static\n")


@t.named("a program for x86-64-v3 is counted without a word")
def lower_level():
    for how in (["-Wl,-z,x86-64-v3"], ["-Wl,-z,x86-64-v3", "-static"]):
        with linked(*how) as program:
            done = count(program)
            t.equal(done.returncode, 0, "status")
            assert "x86-64-v" not in done.stderr, done.stderr
            t.equal(doctor(program).returncode, 0, "status of doctor")


@t.named("a note that is cut short is read as far as it goes")
def broken_note():
    with linked("-Wl,-z,x86-64-v4") as program:
        whole = bytearray(program.read_bytes())
        # The property: its type, 4 bytes, the levels; a length beyond the note.
        at = whole.index(bytes.fromhex("028000c004000000"))
        for length in (0xffffffff, 5, 0):
            broken = whole.copy()
            broken[at + 4:at + 8] = length.to_bytes(4, "little")
            program.write_bytes(broken)
            assert LEVEL not in count(program).stderr, f"length {length}"


@t.named("gcc knows each option of instruction-sets.toml, and v3 implies none")
def options():
    rows = t.table("instruction-sets.toml")["set"]
    try:
        base = t.run("gcc", "-march=x86-64-v3", "-dM", "-E", "-x", "c",
                     "/dev/null").stdout
    except FileNotFoundError:
        raise t.Skip("no gcc") from None
    if "__AVX2__" not in base:
        raise t.Skip("gcc has no -march=x86-64-v3")
    for name, row in rows.items():
        if "option" not in row:
            continue
        done = t.run("gcc", "-march=x86-64-v3", row["option"], "-dM", "-E",
                     "-x", "c", "/dev/null")
        t.equal(done.returncode, 0, f"{name}: {done.stderr}")
        assert set(done.stdout.splitlines()) > set(base.splitlines()), name


@t.named("doctor PROGRAM tells of loader, QEMU, CPU model and machine")
def tells():
    done = doctor(t.guest("hello.x86_64"))
    t.equal(done.returncode, 0, "status")
    for line in ("  ok     a program for x86_64: ", "         static\n",
                 "  ok     QEMU: ", ", CPU model Haswell-noTSX\n",
                 "  ok     counted on "):
        t.contains(done.stdout, line)
    done = doctor(t.guest("hello.dyn.sparc64"))
    t.equal(done.returncode, 0, "status")
    for line in ("  ok     dynamic, loader /lib", "qemu-sparc64\n",
                 "  ok     counted on ultrasparc-t2\n"):
        t.contains(done.stdout, line)


@t.named("doctor PROGRAM without QEMU: what to install, and a status")
def no_qemu():
    done = t.run(t.tally(), "doctor", t.guest("hello.sparc64"),
                 env={"PATH": "/nonexistent"})
    t.equal(done.returncode, 125, "status")
    t.contains(done.stdout, "  no     QEMU: qemu-sparc64 not found: install it")


@t.named("doctor PROGRAM of what is no program: one line, status 2")
def bad_programs():
    with tempfile.NamedTemporaryFile(mode="w", delete=False) as file:
        file.write("no program\n")
    path = pathlib.Path(file.name)
    path.chmod(0o755)
    try:
        for words, says in (
                (["/nonexistent/program"], "No such file"),
                ([path], "neither an ELF program nor a #! script"),
                (["/"], "is a directory")):
            done = doctor(*words)
            t.equal(done.returncode, 2, f"status of {words}")
            t.equal(done.stderr.count("\n"), 1, f"lines: {done.stderr!r}")
            t.contains(done.stderr, says)
    finally:
        path.unlink()


@t.named("doctor writes the names of instruction sets whole")
def whole_names():
    lines = doctor().stdout
    for name, isa in t.isas().items():
        if "triplet" in isa:
            t.contains(lines,
                       f" dynamic {name} programs: /usr/{isa['triplet']}")


t.main()
