#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""packages.py BUILD [WORD]: what the packages say agrees with what is built.

scripts/try-packages builds and tries the packages; these cases hold what can be
compared without: files, symbols, versions, names of tests and of Debian packages.
"""
import fnmatch
import json
import os
import re
import shutil
import tempfile
import tomllib

import tallytest as t
from pathlib import Path

DEBIAN = t.ROOT / "debian"
PACKAGING = t.ROOT / "packaging"
PACKAGES = ("tally", "libtally0", "libtally-dev", "pcp-pmda-tally", "python3-tally")
# Where the libraries are built, and the headers with their functions.
MAPS = {
    "libtally": "src/lib/libtally.map",
    "libtally-profiler": "src/lib/libtally-profiler.map",
    "libtally-pmu": "src/pmu/libtally-pmu.map",
    "libtally-irix": "interfaces/irix/libtally-irix.map",
    "libperfex": "interfaces/irix/libperfex.map",
    "libtally-teja": "interfaces/netra-dps/libtally-teja.map",
    "libtally-sun4v": "interfaces/sun4v/libtally-sun4v.map",
}
HEADERS = [*(t.ROOT / "include/tally").glob("*.h"),
           t.ROOT / "interfaces/netra-dps/teja_profiler.h",
           t.ROOT / "interfaces/sun4v/hv_perf.h"]
# Of the groups of scripts/setup, what debian/control need not name: each build of a
# Debian package has the first five, and meson needs ninja; qemu-user is for guests.
IMPLIED = {"gcc", "g++", "libc6-dev", "make", "pkg-config", "ninja-build", "qemu-user",
           "libc6-dev-sparc64-cross", "python3"}


def read(*names):
    return t.ROOT.joinpath(*names).read_text()


def found(pattern, text, what):
    match = re.search(pattern, text, re.M)
    assert match, f"{what}: nothing like {pattern}"
    return match[1]


def version():
    return found(r"^  version: '(.*)',$", read("meson.build"), "meson.build")


@t.named("the version is the same everywhere")
def versions():
    for name, pattern in {
            "debian/changelog": r"\Atally \((.*?)\) ",
            "packaging/tally.spec": r"^Version: +(.*)$",
            "packaging/PKGBUILD": r"^pkgver=(.*)$",
            "python/tally/_command.py": r'^VERSION = "(.*)"$'}.items():
        t.equal(found(pattern, read(name), name), version(), name)
    first = found(r"^%changelog\n.* - (\S+)-\d+$", read("packaging/tally.spec"),
                  "tally.spec")
    t.equal(first, version(), "%changelog")


def installed():
    """Returns what meson installs, as Debian's packages have the names."""
    if t.interfaces() != ["irix", "netra-dps", "sun4v"]:
        raise t.Skip("built without some interfaces")
    if not (t.build / "pmda" / "pmdatally").exists():
        raise t.Skip("built without libpcp-pmda3-dev")
    options = t.build_options()
    prefix, libdir = options["prefix"], options["libdir"]
    done = t.run("meson", "introspect", "--installed", t.build)
    t.equal(done.returncode, 0, done.stderr)
    files = set()
    for path in json.loads(done.stdout).values():
        name = os.path.relpath(path, prefix)
        name = re.sub(r".*lib\d*/python3[^/]*/(site|dist)-packages/",
                      "lib/python3/dist-packages/", name)
        name = re.sub(rf"^{re.escape(libdir)}/", "lib/triplet/", name)
        files.add(f"usr/{name}")
    return sorted(files)


def matches(name, pattern):
    """Whether an install pattern of debhelper takes the file: its name, or a folder
    in which the file is."""
    parts = pattern.rstrip("/").split("/")
    have = name.split("/")
    return len(have) >= len(parts) and all(map(fnmatch.fnmatchcase, have, parts))


def sorted_out(files, patterns):
    """Fails unless each file has one pattern, and each pattern a file."""
    for name in files:
        owners = [p for p in patterns if matches(name, p)]
        t.equal(len(owners), 1, f"{name} is taken by {owners}")
    for pattern in patterns:
        assert any(matches(name, pattern) for name in files), f"{pattern} takes nothing"


@t.named("each installed file goes into one package of Debian")
def debian_files():
    sorted_out(installed(), [
        line.split()[0] for package in PACKAGES
        for line in (DEBIAN / f"{package}.install").read_text().splitlines() if line])


@t.named("each installed file goes into one package of tally.spec")
def spec_files():
    text = read("packaging/tally.spec")
    files = text[text.index("%files"):text.index("%changelog")]
    macros = {"_bindir": "usr/bin", "_libdir": "usr/lib/triplet",
              "_mandir": "usr/share/man", "_datadir": "usr/share",
              "_includedir": "usr/include", "sitelib": "usr/lib/python3/dist-packages",
              "version": version()}
    patterns = []
    for line in files.splitlines():
        if line.startswith("%{") and not line.startswith("%{pages}"):
            patterns.append(re.sub(r"%\{(\w+)\}", lambda m: macros[m[1]], line))
    sorted_out(installed(), patterns)


def symbols():
    """Returns of debian/libtally0.symbols each library's symbols, with their nodes and
    the versions since which they are there."""
    libraries, current = {}, None
    for line in (DEBIAN / "libtally0.symbols").read_text().splitlines():
        if line.startswith("* "):
            t.equal(line, "* Build-Depends-Package: libtally-dev")
            current["*"] = None
        elif line.startswith(" "):
            name, node, since = re.fullmatch(r" (\S+)@(\S+) (\S+)", line).groups()
            current[name] = (node, since)
        else:
            name, package, minimum = line.split()
            t.equal((package, minimum), ("libtally0", "#MINVER#"), name)
            current = libraries[name] = {}
    for name, rows in libraries.items():
        assert "*" in rows, f"{name} names no Build-Depends-Package"
        del rows["*"]
    return libraries


@t.named("the symbols of Debian's package are those of the libraries")
def exported():
    t.equal(sorted(symbols()), sorted(f"{name}.so.0" for name in MAPS))
    t.need_interface("irix")
    for name in MAPS:
        if shutil.which("nm") is None:
            raise t.Skip("nm is missing")
        path = t.build / Path(MAPS[name]).parent / f"{name}.so.0"
        if not path.exists():
            raise t.Skip(f"{name} is not built")
        done = t.run("nm", "-D", "--defined-only", "--with-symbol-versions", path)
        t.equal(done.returncode, 0, done.stderr)
        built = {}
        for line in done.stdout.splitlines():
            symbol, _, node = line.split()[-1].partition("@")
            built[symbol] = node.lstrip("@") or symbol
        t.equal({s: node for s, (node, _) in symbols()[f"{name}.so.0"].items()}, built,
                name)


@t.named("since when a function is there: header, map and symbols agree")
def since():
    marks = {}
    for header in HEADERS:
        # A comment holds for the declarations up to the next empty line.
        for part in re.split(r"\n\s*\n", header.read_text()):
            names = re.findall(r"^TALLY_API [^;]*?\b(\w+)\s*\(", part, re.M)
            versions_of = re.findall(r"@since (\d+\.\d+)", part)
            if names:
                t.equal(len(versions_of), 1, f"{header.name}: @since of {names}")
                marks.update(dict.fromkeys(names, versions_of[0]))
    t.equal(len(marks) > 100, True, f"only {len(marks)} functions are marked")
    ours = tuple(map(int, version().split(".")))
    for library, rows in symbols().items():
        for name, (node, number) in rows.items():
            in_node = found(r"_(\d+\.\d+)$", node, f"{library}: {name}")
            t.equal(number, f"{in_node}.0", f"{library}: {name}")
            t.equal(marks.get(name, in_node), in_node, f"@since of {name}")
            assert tuple(map(int, number.split("."))) <= ours, f"{name} is of later"
    names = {name for rows in symbols().values() for name in rows}
    t.equal(sorted(set(marks) - names), [], "declared, and in no library")


@t.named("the SONAME, the package's name and the package for Python agree")
def soname():
    number = found(r"^Package: libtally(\d+)$", read("debian", "control"), "control")
    t.equal(found(r'^SONAME = "libtally\.so\.(\d+)"$', read("python/tally/_library.py"),
                  "_library.py"), number)
    for name in MAPS.values():
        text = read(Path(name).parent / "meson.build")
        t.equal(set(re.findall(r"soversion: '(\d+)'", text)), {number}, name)


@t.named("tests that are left out are tests, each with its reason")
def left_out():
    done = t.run("meson", "introspect", "--tests", t.build)
    t.equal(done.returncode, 0, done.stderr)
    tests = {test["name"] for test in json.loads(done.stdout)
             if "tally:unit" not in test["suite"]}
    for line in (PACKAGING / "left-out-tests").read_text().splitlines():
        if line and not line.startswith("#"):
            name, colon, why = line.partition(": ")
            assert colon and why and name in tests, f"left-out-tests: {line}"


def field(name, package=None):
    """Returns the names of packages in a field of debian/control."""
    text = read("debian", "control")
    paragraphs = [p for p in text.split("\n\n")
                  if p.startswith("Source:" if package is None else
                                  f"Package: {package}\n")]
    lines = [l for l in paragraphs[0].splitlines() if not l.startswith("#")]
    value = found(rf"^{name}:((?:.|\n )*)", "\n".join(lines), name)
    return {re.split(r"[ :(<]", w.strip())[0] for w in value.split(",")}


@t.named("Debian's packages have what the build and the guests need")
def needs():
    setup = read("scripts", "setup")
    build = {line.split()[1] for line in setup.splitlines()
             if line.startswith("demo ")} - IMPLIED
    rows = tomllib.loads(read("data", "isa.toml"))["isa"].values()
    guests = [row for row in rows if "triplet" in row]
    build |= {f"gcc-{row['triplet']}" for row in guests}
    t.equal(sorted(build - field("Build-Depends")), [], "not in Build-Depends")
    t.equal(sorted({row["loader_package"] for row in guests} -
                   field("Recommends", "tally")), [], "not in Recommends")
    assert "qemu-user" in field("Depends", "tally")


@t.named("each link of the packaged pages leads somewhere")
def pages():
    link = re.compile(r"\[[^]]*\]\(([^)\s#]+)[^)\s]*\)")
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        done = t.run(PACKAGING / "install-pages", root)
        t.equal(done.returncode, 0, done.stderr)
        files = list(root.rglob("*.md"))
        assert len(files) > 60, f"only {len(files)} pages"
        for page in files:
            for target in link.findall(page.read_text()):
                if not re.match(r"[a-z]+:", target):
                    assert (page.parent / target).exists(), \
                        f"{page.relative_to(root)}: {target} is not in the package"


@t.named("the shell and rpm read PKGBUILD and tally.spec")
def readable():
    done = t.run("bash", "-n", PACKAGING / "PKGBUILD")
    t.equal((done.returncode, done.stderr), (0, ""), "PKGBUILD")
    if shutil.which("rpmspec") is None:
        raise t.Skip("rpmspec is missing")
    done = t.run("rpmspec", "-q", "--qf", "%{name} ", PACKAGING / "tally.spec")
    t.equal((done.returncode, sorted(done.stdout.split())),
            (0, ["pcp-pmda-tally", "python3-tally", "tally", "tally-devel", "tally-doc", "tally-libs"]),
            done.stderr)


t.main()
