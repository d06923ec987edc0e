#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""bench.py --tally FILE --floor FILE --guests DIR: what measuring costs.

Runs bzip2 -9 and Lua, for sparc64 and x86-64: alone, under plain QEMU, under
an empty plugin (bench/floor.c), under tally, and on x86-64 under cachegrind.
The configurations of a workload take turns (A B C, A B C, ...), so that a slow
minute falls on all of them. A time is the user time of the process and its
children; printed are medians and ratios of medians. There is no verdict.
--markdown, or BENCH_FORMAT=markdown, prints the table for the README.
"""

import argparse
import functools
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("bzip2_1.0.8.orig.tar.gz", "lua5.4_5.4.4.orig.tar.gz")
INPUT_SIZE = 2_000_000  # bytes for bzip2; cachegrind takes some 5 s
LUA_SCALE = "15"

# What cachegrind models, in its words and in ours: two levels, 32 KB and 8 MB.
CACHEGRIND = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
GEOMETRY = [
    "l1i.size=32K", "l1i.ways=8", "l1i.line=64",
    "l1d.size=32K", "l1d.ways=8", "l1d.line=64",
    "l2.size=8M", "l2.ways=16", "l2.line=64", "l2.shared=chip", "l3.size=0",
]  # fmt: skip
CACHEGRIND_EVENTS = ",".join([
    "instructions", "L1-icache-load-misses", "L1-dcache-load-misses",
    "L1-dcache-store-misses", "l2-fetch-misses", "l2-load-misses",
    "l2-store-misses", "conditional-branches", "branch-misses",
])  # fmt: skip

# configuration: how the table names it
NAMES = {
    "native": "native",
    "plain": "plain QEMU",
    "floor": "empty plugin (floor)",
    "instructions": "tally, instructions",
    "everything": "tally, everything",
    "alike": "tally, what cachegrind counts",
    "cachegrind": "cachegrind",
}


def fail(message):
    sys.exit(f"bench: {message}")


@functools.cache
def pinned_cpu(tally):
    """Returns the CPU model that x86-64 programs see, as QEMU reads it."""
    done = subprocess.run(
        [tally, "count", "-j", "-m", "host-model", "-e", "instructions",
         "true"], stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return json.loads(done.stderr)["cpu"]


class Workload:
    def __init__(self, name, isa, command):
        self.name, self.isa, self.command = name, isa, command
        self.times = {}  # configuration: seconds of each run
        self.peak = {}  # configuration: KiB, the greatest

    @property
    def title(self):
        return f"{self.name}, {'x86-64' if self.isa == 'x86_64' else self.isa}"

    def commands(self, args):
        """Returns {configuration: command line}, in the order of the turns."""
        count = [args.tally, "count", "-q", "-o", os.devnull]
        qemu = [args.qemu[self.isa], "-seed", "1"]
        if self.isa == "sparc64":
            machine, one, every = "ultrasparc-t2", "All_instr", []
        else:
            machine, one, every = "host-model", "instructions", ["-e", "all"]
            qemu += ["-cpu", pinned_cpu(args.tally)]
        count += ["-m", machine]
        commands = {
            "plain": qemu + self.command,
            "floor": qemu + ["-plugin", args.floor] + self.command,
            "instructions": count + ["-e", one, "--"] + self.command,
            "everything": count + every + ["--"] + self.command,
        }
        if self.isa != "x86_64":
            return commands
        geometry = [word for pair in GEOMETRY for word in ("--set", pair)]
        commands["alike"] = (
            count + geometry + ["-e", CACHEGRIND_EVENTS, "--"] + self.command
        )
        if platform.machine() == "x86_64":
            commands = {"native": self.command} | commands
            commands["cachegrind"] = [
                args.valgrind, "-q", "--tool=cachegrind", "--cache-sim=yes",
                "--branch-sim=yes", "--cachegrind-out-file=" + os.devnull,
                *CACHEGRIND, *self.command,
            ]  # fmt: skip
        return commands


def run(command):
    """Returns the (user seconds, peak KiB) of a command and its children."""
    actions = [
        (os.POSIX_SPAWN_OPEN, fd, os.devnull, os.O_RDWR, 0) for fd in (0, 1)
    ]
    with tempfile.TemporaryFile() as errors:
        actions.append((os.POSIX_SPAWN_DUP2, errors.fileno(), 2))
        pid = os.posix_spawn(
            command[0], command, os.environ, file_actions=actions
        )
        _, status, usage = os.wait4(pid, 0)
        errors.seek(0)
        said = errors.read().decode(errors="replace")
    if status != 0:
        fail(f"status {status:#x} of: {' '.join(command)}\n{said}")
    return usage.ru_utime, usage.ru_maxrss


def progress(text):
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def measure(workload, args):
    commands = workload.commands(args)
    for turn in range(args.runs):
        for name, command in commands.items():
            progress(
                f"bench: {workload.title}, run {turn + 1} of {args.runs}: "
                f"{NAMES[name]}"
            )
            seconds, peak = run(command)
            workload.times.setdefault(name, []).append(seconds)
            workload.peak[name] = max(workload.peak.get(name, 0), peak)
    progress("")


TALLY = ("instructions", "everything", "alike")
# base: the configurations it is compared with
BASES = {
    "native": ("plain", "floor", *TALLY, "cachegrind"),
    "plain": ("floor", *TALLY, "cachegrind"),
    "floor": TALLY,
    "cachegrind": ("everything", "alike"),
}


def ratio(medians, name, base):
    if name not in BASES[base] or medians.get(base, 0) == 0:
        return ""
    return f"{medians[name] / medians[base]:.2f}"


HEADER = [
    "workload", "configuration", "seconds", "x native", "x plain", "x floor",
    "x cachegrind", "MiB over plain",
]  # fmt: skip


def rows(workload):
    medians = {n: statistics.median(t) for n, t in workload.times.items()}
    for name, seconds in medians.items():
        memory = ""
        if name in ("floor", *TALLY):
            memory = (workload.peak[name] - workload.peak["plain"]) / 1024
            memory = f"{memory:.1f}"
        yield [
            workload.title,
            NAMES[name],
            f"{seconds:.2f}",
            *(ratio(medians, name, base) for base in BASES),
            memory,
        ]


def print_text(table):
    widths = [max(map(len, column)) for column in zip(*table)]
    for row in table:
        cells = [
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths))
        ]
        print("  ".join(cells).rstrip())


def print_markdown(table):
    head, *body = table
    print("| " + " | ".join(w.replace("x ", "× ", 1) for w in head) + " |")
    print("|---|---|" + "--:|" * (len(head) - 2))
    for row in body:
        print("| " + " | ".join(row) + " |")


def printer():
    """What prints tables: as markdown where BENCH_FORMAT asks for it."""
    if os.environ.get("BENCH_FORMAT") == "markdown":
        return print_markdown
    return print_text


def print_heading(runs, more=""):
    """Prints when and where the benchmark runs, and how many runs each median is
    of."""
    print(
        f"{time.strftime('%Y-%m-%d')}, {processor()}, {os.cpu_count()} CPUs, "
        f"load {os.getloadavg()[0]:.1f}; medians of {runs}{more}\n"
    )


def first_line(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return done.stdout.partition("\n")[0]


def processor():
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "cpu model"):
                return value.strip()
    except OSError:
        pass
    return platform.machine()


def write_input(path, size):
    """Writes the first bytes of the sources, unpacked and one after another."""
    folder = first_line(ROOT / "scripts" / "fetch-sources")
    with open(path, "wb") as out:
        for name in SOURCES:
            with tarfile.open(Path(folder) / name) as archive:
                out.write(archive.fileobj.read(size - out.tell()))


def tool(name, wanted=None):
    path = shutil.which(wanted or name)
    if path is None:
        fail(f"{name} not found: scripts/setup bench installs it")
    return path


def workloads(args, data):
    script = str(ROOT / "bench" / "lua" / "bench.lua")
    for isa in ("sparc64", "x86_64"):
        for name, words in (
            ("bzip2", ["-9", "-c", data]),
            ("lua", [script, LUA_SCALE]),
        ):
            program = args.guests / f"{name}.{isa}"
            if not program.exists():
                fail(f"{program} is missing: run scripts/build-guests all")
            title = "bzip2 -9" if name == "bzip2" else "Lua"
            yield Workload(title, isa, [str(program), *words])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tally", required=True)
    parser.add_argument("--floor", required=True)
    parser.add_argument("--guests", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--markdown", action="store_true")
    args = parser.parse_args()
    args.tally = os.path.abspath(args.tally)
    args.floor = os.path.abspath(args.floor)
    args.guests = args.guests.absolute()
    args.markdown |= os.environ.get("BENCH_FORMAT") == "markdown"
    isas = ("sparc64", "x86_64")
    args.qemu = {isa: tool(f"qemu-{isa}") for isa in isas}
    args.valgrind = None
    if platform.machine() == "x86_64":
        args.valgrind = tool("valgrind")

    table = [HEADER]
    with tempfile.TemporaryDirectory(prefix="tally-bench-") as folder:
        data = os.path.join(folder, "input")
        write_input(data, INPUT_SIZE)
        for workload in workloads(args, data):
            measure(workload, args)
            table += rows(workload)
    print(f"{time.strftime('%Y-%m-%d')}, {processor()}, {os.cpu_count()} CPUs")
    print(first_line(args.qemu["sparc64"], "--version"), end="")
    if args.valgrind:
        print(f"; {first_line(args.valgrind, '--version')}", end="")
    print(
        f"\nmedians of {args.runs} runs in turn, user time; bzip2 of "
        f"{INPUT_SIZE / 1e6:g} MB, Lua at scale {LUA_SCALE}\n"
    )
    (print_markdown if args.markdown else print_text)(table)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
