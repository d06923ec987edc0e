#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs linked with the installed libraries: pkgconfig.py BUILD [WORD]

The libraries are installed into a folder of the test. What pkg-config says of
each must link, with --static into a program that needs no shared library where
there is an archive of all that is named.
"""
import os
import pathlib
import shutil
import tempfile

import tallytest as t

CALLS = {
    "tally": ("count.c", ()),
    "tally-profiler": ("pktproc.c", ("-DTALLY_PROFILE",)),
    "tally-teja": (None, ()),
    "tally-pmu": ("toycpu.c", ()),
    "tally-sun4v": (None, ()),
}
# The interface that brings a library.
INTERFACE = {"tally-teja": "netra-dps", "tally-sun4v": "sun4v"}
# For those of which no example is one file.
OWN = {
    "tally-teja": """
#include <teja_profiler.h>
int main(void) { return teja_profiler_stop(TEJA_PROFILER_CMT_CPU) == 0; }
""",
    "tally-sun4v": """
#include <hv_perf.h>
int main(void)
{
    uint64_t value;
    return hv_vfalls_get_perfreg(0, &value) == 0;
}
""",
}


def tools():
    """The C compiler, for a build that a plain program can be linked with."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if None in (compiler, shutil.which("pkg-config"), shutil.which("meson")):
        raise t.Skip("no compiler, pkg-config or meson")
    options = t.build_options()
    if options["b_sanitize"] != "none" or options["fuzzers"]:
        raise t.Skip("the libraries want the sanitizers'")
    return compiler, options["prefix"]


def install(folder):
    done = t.run("meson", "install", "-C", t.build, "--no-rebuild", "--quiet",
                 env={**os.environ, "DESTDIR": folder})
    t.equal(done.returncode, 0, done.stdout + done.stderr)


class Config:
    """pkg-config of the libraries installed in `folder`."""

    def __init__(self, folder, prefix):
        self.root = f"{folder}{prefix}"
        [first] = pathlib.Path(folder).rglob("tally.pc")
        self.env = {**os.environ, "PKG_CONFIG_PATH": str(first.parent)}

    def words(self, *options):
        done = t.run("pkg-config", f"--define-variable=prefix={self.root}",
                     *options, env=self.env)
        t.equal((done.returncode, done.stderr), (0, ""), f"{options}")
        return done.stdout.split()


def archive(compiler, word, words):
    """The archive that a static link takes for -lNAME; None: there is none."""
    name = f"lib{word[2:]}.a"
    for folder in (w[2:] for w in words if w.startswith("-L")):
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    found = t.run(compiler, f"-print-file-name={name}").stdout.strip()
    return found if os.path.isabs(found) else None


def link(compiler, config, folder, package, static):
    example, flags = CALLS[package]
    text = (pathlib.Path(t.source("examples", example)).read_text()
            if example else OWN[package])
    words = config.words("--cflags", "--libs", package,
                         *(["--static"] if static else []))
    program = f"{folder}/{package}"
    done = t.run(compiler, "-std=gnu17", *flags, "-xc", "-", "-xnone", "-o",
                 program, *(["-static"] if static else []), *words, stdin=None,
                 input=text)
    t.equal((done.returncode, done.stderr), (0, ""), f"{package} {words}")
    return program


def linked(package):
    t.need_interface(INTERFACE.get(package))
    compiler, prefix = tools()
    with tempfile.TemporaryDirectory() as folder:
        install(folder)
        config = Config(folder, prefix)
        link(compiler, config, folder, package, False)
        words = config.words("--libs", "--static", package)
        t.equal("-lZydis" in words, False, "Debian has no archive of Zydis")
        lacks = [w for w in words if w.startswith("-l") and
                 archive(compiler, w, words) is None]
        if lacks or archive(compiler, "-lc", []) is None:
            raise t.Skip(f"no archive of {lacks or '-lc'}")
        program = link(compiler, config, folder, package, True)
        # The program's header names no loader.
        done = t.run("readelf", "-l", program)
        t.equal("INTERP" in done.stdout, False, "a loader")


@t.named("installed programs and libraries find the libraries beside them")
def found():
    _, prefix = tools()
    if prefix == "/usr":
        raise t.Skip("the loader looks below /usr by itself")
    plain = {name: value for name, value in os.environ.items()
             if name != "LD_LIBRARY_PATH"}
    with tempfile.TemporaryDirectory() as folder:
        install(folder)
        root = pathlib.Path(f"{folder}{prefix}")
        files = [f for f in root.rglob("*") if not f.is_symlink() and
                 (f.parent.name == "bin" or ".so" in f.name)]
        assert len(files) >= 5, files  # the core alone has five
        for file in files:
            if file.read_bytes()[:4] != b"\x7fELF":
                continue
            for line in t.run("ldd", file, env=plain).stdout.splitlines():
                name, _, place = line.strip().partition(" => ")
                if name.startswith(("libtally", "libperfex")):
                    assert place.startswith(folder), f"{file}: {line}"
        done = t.run(root / "bin" / "tally", "validate", "--part", "a",
                     "--programs", "nops", env=plain)
        t.equal(done.returncode, 0, f"status of validate; {done.stderr!r}")
        t.contains(done.stdout, "(a) ")
        if "irix" in t.interfaces():
            done = t.run(root / "bin" / "tally-ecadmin", "-h", env=plain)
            t.equal((done.returncode, done.stderr), (0, ""), "tally-ecadmin")


for name in CALLS:
    t.case(f"a program with {name}, shared and static", linked, name)

t.main()
