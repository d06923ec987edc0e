#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What QEMU computes for AVX, AVX2, FMA, F16C, BMI, LZCNT, MOVBE and POPCNT:
vex.py BUILD [WORD], or vex.py BUILD --native

isa-vex lists every instruction of these sets, as encodings with several
registers, register and memory operands, and immediates. The guest program
vex.x86_64 runs each on random operands of a fixed seed and prints digests.
test/isa/vex.expected has the digests of a processor: a line for an instruction,
a digest of each form (r: registers, m: memory; bits of the vector; ".4": a
gather whose indices are in register 4), a digest of special operands, a digest
of MXCSR. `--native` prints that file anew, on a host with AVX2.

What QEMU 7.2 computes otherwise is listed below, and described in
doc/models/host-model.md; an instruction that is wrong and not listed fails the
test, and so does a listed one that is right.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

import tallytest as t

EXPECTED = t.ROOT / "test" / "isa" / "vex.expected"
GATHERS = [f"v{p}gather{index}{data}" for p, types in (("", ("ps", "pd")),
                                                       ("p", ("d", "q")))
           for index in "dq" for data in types]
# instruction: its forms whose results are wrong, of numbers as usual.
WRONG = {"blsi": {"m128", "r128"},
         **{name: {"m128.4", "m256.4"} for name in GATHERS}}
# Wrong only where both operands are NaNs, or denormals are flushed.
SPECIAL = {
    "vcvtph2ps", "vcvtps2ph", "vdppd", "vdpps", "vfmsub132pd", "vfmsub231pd",
    "vfmsubadd213ps", "vfnmadd213ps", "vfnmadd231ps", "vaddsubpd", "vaddsubps",
    "vhaddpd", "vhaddps", "vhsubpd", "vhsubps", "vdivpd", "vdivps", "vmulpd",
    "vmulps", "vmulsd",
    *(f"v{what}{kind}" for what in ("add", "sub", "max", "min")
      for kind in ("pd", "ps", "sd", "ss"))} - {"vsubss"}
MXCSR = {"vcvtps2ph", "vfmsub132pd", "vfmsub231pd", "vfmsubadd213ps",
         "vfnmadd213ps", "vfnmadd231ps"}
# What objdump finds beside the list: later extensions, and AMD's old FMA4 and
# XOP.
LATER = re.compile(
    r"k(add|andn?|mov|not|or|ortest|shift[lr]|test|unpck|xn?or)[bwdq]+"
    r"|cmpn?[a-z]+xadd|(ld|st)tilecfg|tile[a-z0-9]+|tdp[a-z0-9]+"
    r"|vaes(dec|enc)(last)?|vpclmul[a-z]+|vbcstne\w+|vcvtne\w+|vpdp\w+"
    r"|vgf2p8\w+|vpmadd52\w+|vf(n?madd|n?msub|maddsub|msubadd)[ps][sd]|vpermil2p[sd]")


def isa_list(folder):
    path = folder / "list"
    with open(path, "w") as file:
        subprocess.run([t.build / "test" / "isa-vex"], stdout=file, check=True)
    return path


def digests(text):
    """instruction: {form: digest}, "special" and "mxcsr" among the forms."""
    parts = {}
    for line in text.splitlines():
        name, form, *digest = line.split()
        forms = parts.setdefault(name, {})
        for key, value in zip((form, "special", "mxcsr"), digest):
            forms.setdefault(key, []).append(value)
    return {name: {form: mix(values) for form, values in forms.items()}
            for name, forms in parts.items()}


def mix(values):
    """FNV-1a."""
    digest = 0xcbf29ce484222325
    for byte in " ".join(values).encode():
        digest = (digest ^ byte) * 0x100000001b3 % 2 ** 64
    return f"{digest >> 40:06x}"


def stored():
    """As digests()."""
    table = {}
    for line in EXPECTED.read_text().splitlines():
        if not line.startswith("#"):
            name, *forms = line.split()
            table[name] = dict(form.split("=") for form in forms)
    return table


def emulated():
    with tempfile.TemporaryDirectory() as name:
        c = t.count(["-e", "instructions"], t.guest("vex.x86_64"),
                    isa_list(pathlib.Path(name)))
    return digests(c.stdout)


@t.named("QEMU computes what a processor does, but for what is listed")
def results():
    ours, theirs = emulated(), stored()
    t.equal(ours.keys() - theirs.keys(), set(), "not stored: --native")
    t.equal(theirs.keys() - ours.keys(), set(), "not listed by isa-vex")
    wrong, special, mxcsr = {}, set(), set()
    for name, forms in theirs.items():
        differ = {f for f in forms if ours[name].get(f) != forms[f]}
        if differ - {"special", "mxcsr"}:
            wrong[name] = differ - {"special", "mxcsr"}
        elif "special" in differ:
            special.add(name)
        if "mxcsr" in differ:
            mxcsr.add(name)
    t.same(wrong, {name: forms & theirs[name].keys()
                   for name, forms in WRONG.items()}, "wrong and known")
    t.equal(special ^ SPECIAL, set(), "special operands: wrong or known, alone")
    t.equal(mxcsr ^ MXCSR, set(), "MXCSR: wrong or known, alone")


@t.named("objdump knows no instruction of these sets that is not tried")
def complete():
    done = t.run(t.build / "test" / "isa-vex", "space")
    codes = [bytes.fromhex(line) for line in done.stdout.split()]
    room = 24
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(code.ljust(room, b"\x90") for code in codes))
        file.flush()
        try:
            text = t.run("objdump", "-D", "-w", "-b", "binary", "-m",
                         "i386:x86-64", "-M", "intel", file.name).stdout
        except FileNotFoundError:
            raise t.Skip("no objdump") from None
    known = stored().keys()
    line = re.compile(r"^ *([0-9a-f]+):\t[0-9a-f ]+\t(?:\{vex\} )?(\w+) *(.*)",
                      re.MULTILINE)
    found = 0
    for at, name, operands in line.findall(text):
        if int(at, 16) % room == 0 and "(bad)" not in operands:
            found += 1
            # Scalars with a vector length, and prefixes, that do nothing.
            alias = re.sub(r"^vcmp[a-z_]+?(s[sd])$", r"vcmp\1", name)
            assert (LATER.fullmatch(name) or
                    (alias in known and
                     ("ymm" not in operands or alias[-2:] in ("ss", "sd")))), \
                f"{codes[int(at, 16) // room].hex()} {name} {operands}"
    assert found > 1000, f"{found} lines of objdump"


def native():
    with tempfile.TemporaryDirectory() as name:
        done = t.run(t.guest("vex.x86_64"), isa_list(pathlib.Path(name)))
    assert done.returncode == 0 and "illegal" not in done.stdout, \
        "this processor lacks some of these instructions"
    print("# What a processor computes; test/vex.py says what this is.")
    for name, forms in sorted(digests(done.stdout).items()):
        print(name, *(f"{form}={digest}" for form, digest in forms.items()))


if "--native" in sys.argv:
    t.build = pathlib.Path(sys.argv[1]).resolve()
    native()
else:
    t.main()
