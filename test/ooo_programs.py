#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs on cores that execute out of order: ooo_programs.py BUILD [WORD]

What a round of a kernel of chains.c in test/guest/x86_64, test/guest/aarch64 and
test/guest/riscv64 takes follows from what its instructions wait for. On real
programs the terms of the cycles add up, a record has the cycles of a count, and
two runs are alike.
"""
import json
import pathlib
import tempfile

import tallytest as t

CORE = {"time.model": "ooo", "time.issue": 4, "rob.entries": 224,
        "time.mispredict": 10, "l1d.misses": 16, "time.l2": 12,
        "latency.load": 4, "latency.mul": 3, "latency.fadd": 3,
        "busy.div64": 9, "units.alu": 4, "units.load": 2}
TERMS = ["issue-cycles"] + [
    f"stall-{term}" for term in ("core", "fetch", "load", "store", "branch",
                                 "tlb", "window", "atomic", "fp", "issue")]
EVENTS = ",".join(["instructions", "cycles", "branch-misses",
                   "L1-dcache-load-misses", *TERMS])
# What a round takes by the latencies, units and busy units of a machine.
MACHINES = {
    "icelake": ("x86_64",
                {"sums": 100, "free": 101 / 4, "products": 300,
                 "divisions": 10 * 10, "floats": 400, "loads": 500}),
    "zen2": ("x86_64",
             {"sums": 100, "free": 102 / 4, "products": 300,
              "divisions": 10 * 41, "floats": 300, "loads": 400}),
    # A sum of floating point takes 2 cycles.
    "zen5": ("x86_64",
             {"sums": 100, "free": 101 / 6, "products": 300,
              "divisions": 10 * 16, "floats": 200, "loads": 400}),
    "neoverse-n1": ("aarch64",
                    {"sums": 100, "free": 101 / 3, "products": 300,
                     "divisions": 10 * 5, "floats": 200, "loads": 400,
                     "back": 100}),
    "neoverse-v1": ("aarch64",
                    {"sums": 100, "free": 101 / 4, "products": 200,
                     "divisions": 10 * 5, "floats": 200, "loads": 400,
                     "back": 100}),
    "cortex-a72": ("aarch64",
                   {"sums": 100, "free": 101 / 2, "products": 400,
                    "divisions": 10 * 35, "floats": 500, "loads": 400,
                    "back": 100}),
}
# Parts of cycles that are not counted yet, one of each reason.
LEFT = 9


def options(**more):
    core = CORE | {key.replace("_", "."): v for key, v in more.items()}
    return ["-m", "ci-1", "--clean-env",
            *(w for key, v in core.items() for w in ("--set", f"{key}={v}"))]


def adds_up(c):
    t.equal(sum(c[term] for term in TERMS), c["cycles"],
            "the sum of the terms of cycles")


def rounds(kernel, isa="x86_64", **more):
    """What 1,000 more rounds of a kernel count."""
    program = t.guest(f"chains.{isa}")
    one, two = (t.count([*options(**more), "-e", EVENTS], program, kernel,
                        str(n)) for n in (2000, 3000))
    adds_up(two)
    return {name: two[name] - one[name] for name in EVENTS.split(",")}


def check_rounds(got, cycles):
    """1,000 rounds of so many cycles took `got`."""
    assert abs(got - 1000 * cycles) <= LEFT, f"{got} for {1000 * cycles}"


def takes(isa, kernel, cycles, more):
    """A round takes so many cycles."""
    check_rounds(rounds(kernel, isa, **more)["cycles"], cycles)


def takes_on(machine, isa, kernel, cycles):
    """A round takes so many cycles with the parameters of a machine."""
    (one,), (two,) = (t.count(["-m", machine, "--clean-env", "--set",
                               "time.model=ooo", "-e", "cycles"],
                              t.guest(f"chains.{isa}"), kernel,
                              str(n)).values.values() for n in (2000, 3000))
    check_rounds(two - one, cycles)


@t.named("chase waits for the L2, and not for anything else")
def reasons():
    c = rounds("chase")
    t.equal(c["L1-dcache-load-misses"], 64000)
    # 12 of 16 cycles of each load; the core is first ahead of them.
    assert 0.95 <= c["stall-load"] / c["cycles"] <= 1, c
    t.equal([c[term] for term in ("stall-branch", "stall-tlb")], [0, 0])


@t.named("a mispredicted branch costs what it waits for, and the refill")
def mispredicted():
    c = rounds("branch")
    assert 400 <= c["branch-misses"] <= 600, c
    # 12 products are 36 cycles, the generator's last steps and the test some
    # 6, the refill is 10; the front end was up to a block ahead.
    cost = c["stall-branch"] / c["branch-misses"]
    assert 36 <= cost <= 54, cost


@t.named("a core is refused that the other parameters do not allow")
def refused_settings():
    done = t.run(t.tally(), "count", "-m", "ci-1", "--set", "time.model=ooo",
                 t.guest("hello.x86_64"))
    t.equal(done.returncode, 2, "status")
    t.contains(done.stderr, "time.model=ooo: needs rob.entries above 0")


@t.named("programs are refused whose instructions are not known so well")
def refused_program():
    done = t.run(t.tally(), "count", *options(), "-e", "cycles",
                 t.guest("hello.sparc64"))
    t.equal(done.returncode, 2, "status")
    t.contains(done.stderr, "what instructions of sparc64 wait for")
    t.equal(len(done.stderr.splitlines()), 1, "lines")
    t.count([*options(time_model="sum"), "-e", "cycles"],
            t.guest("hello.sparc64"))


@t.named("foreign programs add up their cycles, unless the model was asked for")
def foreign_program():
    program = t.guest("hello.sparc64")
    t.count(["-m", "neoverse-n1", "--foreign", "-e", "cycles"], program)
    for setting in ("time.model=ooo", "TIME.MODEL=ooo"):
        done = t.run(t.tally(), "count", "-m", "neoverse-n1", "--foreign",
                     "--set", setting, "-e", "cycles", program)
        t.equal(done.returncode, 2, "status")
        t.contains(done.stderr, "what instructions of sparc64 wait for")


def real(program, *words):
    one, two = (t.count([*options(), "-e", EVENTS], t.guest(program), *words)
                for _ in range(2))
    adds_up(one)
    t.same({n: one[n] for n in EVENTS.split(",")},
           {n: two[n] for n in EVENTS.split(",")})
    assert 0.3 <= one["instructions"] / one["cycles"] <= 4, "cycles"
    with tempfile.TemporaryDirectory() as folder:
        record = pathlib.Path(folder) / "r"
        t.run(t.tally(), "record", "-q", *options(), "-e", EVENTS, "-o",
              record, "--", t.guest(program), *words, check=True)
        done = t.run(t.tally(), "report", record, "--format", "json", "--by",
                     "function", check=True)
    found = json.loads(done.stdout)
    t.same({e["asked"]: e["total"] for e in found["events"]},
           {n: one[n] for n in EVENTS.split(",")}, "record and count")
    for event in found["events"]:
        t.equal(sum(row["values"][event["name"]] for row in found["rows"]) +
                event["elsewhere"], event["total"], event["name"])


def add_cases():
    for kernel, cycles, more in (
            ("sums", 100, {}), ("free", 25.5, {}),
            ("free", 101 / 2, {"units_alu": 2}),
            ("products", 300, {}), ("products", 500, {"latency_mul": 5}),
            ("divisions", 90, {}), ("floats", 300, {}), ("loads", 400, {}),
            ("chase", 64 * 16, {}), ("chase", 64 * 24, {"time_l2": 20}),
            # 16 lines are under way, for 12 cycles each; or 8 of them.
            ("known", 64 * 12 / 16, {}), ("known", 64 * 12 / 8,
                                          {"l1d_misses": 8}),
            ("known", 64 * 2, {"time_fill": 2}),
            # A loop is one taken branch a cycle, and a line of code a cycle.
            ("line", 1, {}), ("lines", 1, {}),
            ("line", 1, {"fetch_line": 64}), ("lines", 2, {"fetch_line": 64})):
        t.case(f"{kernel}: {cycles:g} cycles a round {more or ''}".strip(),
               takes, "x86_64", kernel, cycles, more)
    for isa in ("aarch64", "riscv64"):
        for kernel, cycles, more in (
                ("sums", 100, {}), ("free", 25.5, {}),
                ("free", 101 / 2, {"units_alu": 2}),
                ("products", 300, {}), ("divisions", 90, {}),
                ("floats", 300, {}), ("loads", 400, {}),
                ("chase", 64 * 16, {}), ("known", 64 * 12 / 16, {})):
            t.case(f"{isa}, {kernel}: {cycles:g} cycles a round "
                   f"{more or ''}".strip(), takes, isa, kernel, cycles, more)
    t.case("aarch64, back: a base that is written back waits for no load", takes,
           "aarch64", "back", 100, {})
    for machine, (isa, kernels) in MACHINES.items():
        for kernel, cycles in kernels.items():
            t.case(f"{machine}, {kernel}: {cycles:g} cycles a round", takes_on,
                   machine, isa, kernel, cycles)
    t.case("bzip2: terms, a record, two runs", real, "bzip2.x86_64", "-9kc",
           str(t.ROOT / "README.md"))
    t.case("lua: terms, a record, two runs", real, "lua.x86_64", "-e",
           "for i = 1, 20000 do _ = i .. '' end")
    for isa in ("aarch64", "riscv64"):
        t.case(f"lua of {isa}: terms, a record, two runs", real, f"lua.{isa}",
               "-e", "for i = 1, 20000 do _ = i .. '' end")
    t.case("threads: terms, a record, two runs", real, "threads.x86_64", "3", "200000")


add_cases()
t.main()
