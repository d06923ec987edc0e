# SPDX-License-Identifier: MIT
"""Part e: misses beside Valgrind's cachegrind, on caches of equal geometry.

test/cachegrind.py holds some programs to cachegrind within 0.1 %, under these
conditions:

- libc picks string functions by CPUID, and Valgrind shows another processor
  than QEMU: GLIBC_TUNABLES takes the difference away. It ends in a comma, as
  glibc 2.36 reads on behind the last name.
- Valgrind adds LD_LIBRARY_PATH, LD_PRELOAD and others to the environment;
  libc's heap begins after what it keeps of the first. tally is given it too.
- The stack begins elsewhere in its page: a variable moves Valgrind's to
  where tally puts it; lackey, a tool of Valgrind, shows where it begins.
- Valgrind translates "if (a && b)" so that it runs, and cachegrind counts, b
  when a is false too (two instructions and a read a character in Lua's gsub);
  --vex-guest-chase=no leaves that, as callgrind does.
- mremap moves a large block in QEMU and not in Valgrind: malloc() takes blocks of
  up to 32 MB from the heap, where none is moved.
"""

import re
import subprocess

from clock import build, lacking, whole_programs
from ledger import Part, Row, Table, number, percent
from tools import Failed, Missing, counted, need, run, wanted

LETTER = "e"
TITLE = "Misses of caches of equal geometry, and cachegrind"

GEOMETRY = ["l1i.size=32K", "l1i.ways=8", "l1i.line=64",
            "l1d.size=32K", "l1d.ways=8", "l1d.line=64",
            "l2.size=8M", "l2.ways=16", "l2.line=64", "l2.shared=chip",
            "l3.size=0", "tlb.walk=0"]
CACHEGRIND = ["--tool=cachegrind", "--cache-sim=yes", "--vex-guest-chase=no",
              "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
# What cachegrind counts, and the events of host-model that are as much together.
PAIRS = {
    "I1mr": ["L1-icache-load-misses"],
    "D1mr": ["L1-dcache-load-misses"],
    "D1mw": ["L1-dcache-store-misses"],
    "Ir": ["instructions", "rep-iterations"],
    "ILmr": ["l2-fetch-misses"],
    "DLmr": ["l2-load-misses"],
    "DLmw": ["l2-store-misses"],
}
MASK = ",".join("-" + feature for feature in (
    "AVX512F AVX2 AVX AVX_Fast_Unaligned_Load BMI1 BMI2 SSSE3 SSE4_1 SSE4_2 "
    "ERMS FSRM RTM MOVBE LZCNT POPCNT").split())
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C",
               "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
               "GLIBC_TUNABLES": f"glibc.cpu.hwcaps={MASK},"}
PAGE = 4096
# The figures of the table, by what cachegrind calls their sums.
FIGURES = {"instructions": ("Ir",), "D1 misses": ("D1mr", "D1mw"),
           "LL misses": ("ILmr", "DLmr", "DLmw")}
# Small enough for cachegrind, which takes some fifty times as long as the host.
KERNELS = ("crc", "sieve", "tree", "fft")


def tally_environment():
    """ENVIRONMENT with the library path that Valgrind adds."""
    path = run([need("valgrind"), "--tool=none", "-q", "sh", "-c",
                'printf %s "$LD_LIBRARY_PATH"'], env=ENVIRONMENT)
    return {**ENVIRONMENT, "LD_LIBRARY_PATH": path}


def with_pad(pad):
    return {**ENVIRONMENT, "PAD": "." * pad}


def valgrind_stack(program, pad):
    """Where in its page Valgrind lets the stack begin: the first thing that a
    program reads is argc, which is there."""
    process = subprocess.Popen(
        ["sh", "-c", 'exec "$@" 9>&1 >/dev/null 2>&1', "sh", need("valgrind"),
         "--tool=lackey", "--trace-mem=yes", "--log-fd=9", *map(str, program)],
        env=with_pad(pad), stdout=subprocess.PIPE, text=True, errors="replace")
    with process, process.stdout:
        loads = map(re.compile(r" L ([0-9a-fA-F]+),").match, process.stdout)
        first = next(filter(None, loads), None)
        process.kill()
    if first is None:
        raise Failed("valgrind --tool=lackey --trace-mem=yes shows no load of "
                     f"{program[0]}; run it by hand to see why")
    return int(first[1], 16) % PAGE


def find_pad(program, wanted):
    """The bytes of a variable that move Valgrind's stack to a place in a page."""
    pad = 0
    for _ in range(4):
        off = (valgrind_stack(program, pad) - wanted) % PAGE
        if off == 0:
            return pad
        pad = (pad + off) % PAGE
    raise Missing("Valgrind's stack does not follow its environment")


def read_summary(out):
    """The counts of a file of cachegrind, by what it calls them."""
    lines = dict(line.split(": ", 1) for line in out.read_text().splitlines()
                 if line.startswith(("events: ", "summary: ")))
    return dict(zip(lines["events"].split(), map(int, lines["summary"].split())))


def by_cachegrind(folder, program, pad):
    """cachegrind's counts of a program; its file is cachegrind.out in a folder."""
    out = folder / "cachegrind.out"
    run([need("valgrind"), *CACHEGRIND, f"--cachegrind-out-file={out}", *program],
        env=with_pad(pad))
    return read_summary(out)


def by_tally(args, program, environment):
    """tally's counts of a program, by cachegrind's names."""
    events = [e for names in PAIRS.values() for e in names]
    values = dict(zip(events, counted(args, "host-model", events, program,
                                      GEOMETRY, environment)))
    return {name: sum(values[e] for e in names)
            for name, names in PAIRS.items()}


def tally_stack(args, environment):
    """Where in its page tally lets every program's stack begin."""
    shown = args.folder / "stack"
    run([args.tally, "count", "-q", "-e", "instructions", "-o", "/dev/null", "--",
         "sh", "-c", f'cut -d" " -f28 /proc/$$/stat >{shown}'], env=environment)
    return int(shown.read_text()) % PAGE


# Of whole_programs() those that are compared.
WHOLE = ("bzip2", "lua", "sqlite")


def known(_args):
    """The names of all programs."""
    return {*KERNELS, *WHOLE}


def programs(args, part):
    """Of each program its name and words."""
    kernels = build(args)
    rows = [(name, [kernels, name, "counted"]) for name in KERNELS
            if wanted(args, name)]
    for name, words in whole_programs(args):
        if name not in WHOLE or not wanted(args, name):
            continue
        why = lacking(args, words)
        if why is None:
            rows.append((name, words))
        else:
            part.skip(name, why)
    return rows


def compare(args, part, name, program, environment, stack):
    """Adds the rows of a program; returns its line of the table."""
    theirs = by_cachegrind(args.folder, program, find_pad(program, stack))
    ours = by_tally(args, program, environment)
    rows = [Row(name, "host-model", figure, sum(ours[n] for n in names),
                sum(theirs[n] for n in names), "cachegrind")
            for figure, names in FIGURES.items()]
    part.rows += rows
    cells = [name]
    for row in rows:
        cells += [number(row.ours), number(row.reference), percent(row.error)]
    return tuple(cells)


def measure(args):
    part = Part(LETTER, TITLE)
    lines = []
    try:
        need("valgrind")
        listed = programs(args, part)
        environment = tally_environment()
        stack = tally_stack(args, environment)
    except Missing as missing:
        part.skip("all", str(missing))
        return part
    for name, program in listed:
        try:
            lines.append(compare(args, part, name, program, environment, stack))
        except Missing as missing:
            part.skip(name, str(missing))
    part.notes.append(
        "Instructions, exact, with REP iterations among them, and misses, "
        "modelled; I1 and D1 of 32 KB and 8 "
        "ways, LL of 8 MB and 16 ways, lines of 64 bytes, replaced by LRU.")
    if lines:
        heads = ["program"]
        for figure in FIGURES:
            heads += [f"{figure}, tally", "cachegrind", "error"]
        part.tables.append(Table(tuple(heads), lines))
    return part
