#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""qemu_found.py BUILD: which QEMU tally uses, and what tally doctor says of each.

The QEMU programs are made here: each exports the functions of a version and tells
that version, and runs nothing. TAP.
"""
import os
import pathlib
import tempfile

import tallytest as t

PLUGINS = ["qemu_plugin_register_vcpu_tb_exec_cb"]
PROGRAM = ["qemu_plugin_path_to_binary", "qemu_plugin_start_code"]
TURNS = ["async_run_on_cpu", "qemu_get_cpu"]
REGISTERS = [f"{row['registers']}_gdb_read_register"
             for row in t.isas().values() if "registers" in row]
VERSIONS = {1: [], 2: ["qemu_plugin_scoreboard_new"]}
VERSIONS[3] = VERSIONS[2] + ["qemu_plugin_register_vcpu_tb_exec_cond_cb"]
VERSIONS[4] = VERSIONS[3] + ["qemu_plugin_read_memory_vaddr"]
FULL = PLUGINS + PROGRAM + TURNS + REGISTERS
ISA = "x86_64"

made = tempfile.TemporaryDirectory()


@t.once
def qemu(version, *exports):
    """A folder with the QEMU of this version for ISA."""
    folder = pathlib.Path(made.name, f"{version}-{abs(hash(exports))}")
    folder.mkdir()
    source = folder / "qemu.c"
    source.write_text("#include <stdio.h>\n" + "".join(
        f"void {name}(void);\nvoid {name}(void) {{}}\n" for name in exports) +
        "int main(void)\n{\n"
        f'    puts("qemu-{ISA} version {version} (made)");\n}}\n')
    try:
        done = t.run("gcc", "-rdynamic", "-o", folder / f"qemu-{ISA}", source)
    except FileNotFoundError:
        raise t.Skip("no gcc") from None
    t.equal(done.returncode, 0, done.stderr)
    return str(folder)


def cache(folder):
    """A folder for $XDG_CACHE_HOME in which scripts/setup has put a QEMU."""
    place = pathlib.Path(tempfile.mkdtemp(dir=made.name), "tally")
    place.mkdir()
    (place / "qemu").symlink_to(folder)
    return str(place.parent)


def run(*words, path, **variables):
    names = ("TALLY_QEMU", "XDG_CACHE_HOME", "HOME")
    env = {k: v for k, v in os.environ.items() if k not in names}
    return t.run(t.tally(), *words, env=env | {"PATH": path} | variables)


def told(path="/nonexistent", **variables):
    """What tally doctor says of the QEMU for ISA: the lines of its part."""
    done = run("doctor", path=path, **variables)
    lines = done.stdout.splitlines()
    begin = next(i for i, line in enumerate(lines)
                 if f" {ISA} programs: " in line and "dynamic" not in line)
    end = next(i for i in range(begin + 1, len(lines))
               if not lines[i].startswith("         "))
    return lines[begin:end]


@t.named("the version of the plugin interface is that of the functions")
def versions():
    for number, more in VERSIONS.items():
        folder = qemu(f"8.{number}.0", *FULL, *more)
        later = " or later" if number == 4 else ""
        t.equal(told(path=folder), [
            f"  ok     {ISA} programs: {folder}/qemu-{ISA}",
            f"         QEMU 8.{number}.0, plugin interface {number}{later}: "
            "threads take turns; registers are read"], number)


@t.named("no QEMU at all: what to install or build")
def none():
    first, mend = told(HOME="/nonexistent")
    t.contains(first, f"  no     {ISA} programs: qemu-{ISA} not found: install")
    t.equal(mend, "         scripts/setup qemu")


@t.named("a QEMU without plugins is refused, in one line, with what mends it")
def no_plugins():
    folder = qemu("10.0.8")
    first, version, mend = told(path=folder)
    t.contains(first, f"  no     {ISA} programs: {folder}/qemu-{ISA} is built "
               "without plugins")
    t.equal(version, "         QEMU 10.0.8, no plugins")
    t.equal(mend, "         scripts/setup qemu")


@t.named("a QEMU that does not tell plugins of the program is refused")
def no_program():
    folder = qemu("10.0.9", *PLUGINS, *TURNS, *REGISTERS, *VERSIONS[4])
    first, version, mend = told(path=folder)
    t.contains(first, f"  no     {ISA} programs: {folder}/qemu-{ISA} does not "
               "tell plugins which program runs")
    t.equal(version, "         QEMU 10.0.9, plugin interface 4 or later")
    t.equal(mend, "         scripts/setup qemu")
    done = run("count", "-m", "host-model", "-e", "instructions", "--",
               t.guest(f"hello.{ISA}"), path=folder)
    t.equal(done.returncode, 125, "status")
    t.equal(len(done.stderr.splitlines()), 1, done.stderr)
    t.contains(done.stderr, "scripts/setup qemu builds one that does")
    t.equal(done.stdout, "", "the program does not run")


@t.named("a QEMU whose threads cannot take turns is told, with what mends it")
def no_turns():
    folder = qemu("9.0.1", *PLUGINS, *PROGRAM, *VERSIONS[2])
    first, can, mend = told(path=folder)
    t.equal(first, f"  maybe  {ISA} programs: {folder}/qemu-{ISA}")
    t.contains(can, "QEMU 9.0.1, plugin interface 2: threads run at once, so "
               "that their counts vary")
    t.contains(can, "; no registers are read")
    t.equal(mend, "         scripts/setup qemu")


@t.named("of PATH and the folder of scripts/setup the one that can more is used")
def chosen():
    full = qemu("10.0.13", *FULL, *VERSIONS[4])
    for other, why in (
            (qemu("10.0.8"), "is built without plugins"),
            (qemu("9.0.1", *PLUGINS, *PROGRAM, *VERSIONS[2]),
             "QEMU 9.0.1: threads cannot take turns")):
        lines = told(path=other, XDG_CACHE_HOME=cache(full))
        t.contains(lines[0], f"/tally/qemu/qemu-{ISA}")
        t.contains(lines[1], "QEMU 10.0.13")
        t.contains(lines[2], "         not used: " + other)
        t.contains(lines[2], why)
        t.equal(len(lines), 3, lines)
    debian = qemu("7.2.1", *FULL)
    lines = told(path=debian, XDG_CACHE_HOME=cache(full))
    t.contains(lines[0], debian)
    t.contains(lines[2], "QEMU 10.0.13: PATH comes first")


@t.named("without XDG_CACHE_HOME the folder is in .cache of HOME")
def in_home():
    full = qemu("10.0.13", *FULL, *VERSIONS[4])
    home = pathlib.Path(tempfile.mkdtemp(dir=made.name))
    (home / ".cache").symlink_to(cache(full))
    for more in ({}, {"XDG_CACHE_HOME": "", "TALLY_QEMU": ""}):
        t.contains(told(HOME=str(home), **more)[0],
                   f"{home}/.cache/tally/qemu/qemu-{ISA}")


@t.named("TALLY_QEMU names the folder, and no other counts")
def named():
    full = qemu("10.0.13", *FULL, *VERSIONS[4])
    debian = qemu("7.2.1", *FULL)
    t.contains(told(path=debian, TALLY_QEMU=full)[0], f"{full}/qemu-{ISA}")
    t.equal(told(path=debian, TALLY_QEMU="/nonexistent"), [
        f"  no     {ISA} programs: TALLY_QEMU: there is no qemu-{ISA} in "
        "/nonexistent", "         scripts/setup qemu"])
    done = run("count", "-m", "host-model", t.guest(f"hello.{ISA}"),
               path=debian, TALLY_QEMU="/nonexistent")
    t.equal((done.returncode, done.stderr), (125, "tally: TALLY_QEMU: "
            f"there is no qemu-{ISA} in /nonexistent\n"))


@t.named("doctor PROGRAM tells what its QEMU can do")
def of_program():
    folder = qemu("9.0.1", *PLUGINS, *PROGRAM, *VERSIONS[2])
    done = run("doctor", t.guest(f"hello.{ISA}"), path=folder)
    t.contains(done.stdout, f"  ok     QEMU: {folder}/qemu-{ISA}, CPU model ")
    t.contains(done.stdout, "plugin interface 2: threads run at once")
    t.contains(done.stdout, "\n         scripts/setup qemu\n")


t.main()
