# SPDX-License-Identifier: MIT
"""What the tests of whole programs share.

The programs are those of test/guest; what a turn of loop() counts is in
loop.h: 3 instructions on sparc64 and mips64, 2 on x86_64, aarch64 and
riscv64.
"""
import tallytest as t

ARCHES = tuple(t.isas())
PER_TURN = {"sparc64": 3, "x86_64": 2, "mips64": 3, "mips64el": 3,
            "aarch64": 2, "riscv64": 2}
INSTRUCTIONS = {"sparc64": "All_instr", "x86_64": "instructions",
                "mips64": "completed_instructions",
                "mips64el": "completed_instructions",
                "aarch64": "instructions", "riscv64": "instructions"}
T2 = "ultrasparc-t2"


def g(name, arch):
    return t.guest(f"{name}.{arch}")


def instructions(arch, *program, options=(), **how):
    c = t.count(["-e", INSTRUCTIONS[arch], *options], *program, **how)
    return c[INSTRUCTIONS[arch]]


def at_arch(name, *args):
    """A decorator: a case for each architecture, given it first."""
    def add(function):
        for arch in ARCHES:
            t.case(f"{arch}: {name}", function, arch, *args)
        return function
    return add


def strands(c, event):
    return [s["events"][event] for s in c.json["strands"]]
