#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Traces of IA-64 bundles on Montecito's monitor: bundles.py BUILD

test/bundles/code.toml has bundles as binutils assembles them, and what each
instruction is; an assembler, where there is one, makes them again. Traces made
of them go through `bundles` of tally-pmu(1), and its registers must hold what
the table says.
"""
import pathlib
import shutil
import tempfile
import tomllib

import tallytest as t

CODE = tomllib.loads((t.ROOT / "test" / "bundles" / "code.toml").read_text())
HEAD = "ip, template, slot0, slot1, slot2, predicate, taken, ea\n"
MIFB = {"B": 1, "F": 2, "I": 4, "M": 8, "A": 12}
MASK = (1 << 41) - 1
EVENTS = {"NOPS_RETIRED": 0x50, "PREDICATE_SQUASHED_RETIRED": 0x51,
          "LOADS_RETIRED": 0xcd, "STORES_RETIRED": 0xd1}
ASSEMBLER = "ia64-linux-gnu-as"


class Insn:
    def __init__(self, means, slot, opcode):
        self.unit, *self.words = means.split()
        self.slot, self.opcode = slot, opcode
        self.predicate = next((int(w) for w in self.words if w.isdigit()), 0)

    def does(self, *words):
        return any(w in self.words for w in words)


class Bundle:
    def __init__(self, index, row):
        bits = int.from_bytes(bytes.fromhex(row["bytes"]), "little")
        self.ip = 16 * index
        self.template = bits & 31
        self.slots = [bits >> 5 + 41 * i & MASK for i in range(3)]
        slots = [0, 2] if len(row["means"]) == 2 else [0, 1, 2]
        self.insns = [Insn(m, s, self.slots[s])
                      for m, s in zip(row["means"], slots)]

    def line(self, ip=None, predicate=7, taken=0, ea=""):
        cells = [self.ip if ip is None else ip, self.template, *self.slots,
                 predicate, taken]
        return ",".join(f"{c:x}" for c in cells) + f",{ea}\n"

    def off(self):
        """The predicate bits where only p0 is true."""
        return sum(1 << i.slot for i in self.insns if i.predicate == 0)


BUNDLES = [Bundle(i, row) for i, row in enumerate(CODE["bundle"])]
INSNS = [i for b in BUNDLES for i in b.insns]


def pmc(code, umask=0):
    return 0x7a00000f | umask << 16 | code << 8


def run(trace, setup, reads, folder):
    """The values of registers after a trace."""
    path = pathlib.Path(folder) / "trace.csv"
    path.write_text(HEAD + "".join(trace))
    script = pathlib.Path(folder) / "script"
    script.write_text("\n".join(
        ["machine montecito", "mode up=1", *setup, f"bundles {path}",
         *(f"read {r}" for r in reads)]) + "\n")
    done = t.run(t.tally(), "pmu", script)
    t.equal(done.returncode, 0, done.stderr)
    lines = done.stdout.splitlines()[-len(reads):]
    return [int(line.rpartition(" = ")[2], 0) for line in lines]


def read(trace, setup, reads):
    with tempfile.TemporaryDirectory() as folder:
        return run(trace, setup, reads, folder)


def count(trace, event, setup=(), umask=0):
    """IA64_INST_RETIRED and an event; PMC5 rules the L1D sets."""
    return read(trace, [f"write PMC5 {pmc(event, umask)}",
                        f"write PMC4 {pmc(0x08)}", *setup], ["PMD4", "PMD5"])


@t.named("the bytes are what an assembler makes of their text")
def assembled():
    if shutil.which(ASSEMBLER) is None:
        raise t.Skip(f"no {ASSEMBLER}")
    text = "\t.text\n\t.explicit\nstart:\n"
    for row in CODE["bundle"]:
        text += f"{{ .{row['units']}\n" + "\n".join(row["text"]) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "a.s").write_text(text)
        done = t.run(ASSEMBLER, "-o", path / "a.o", path / "a.s")
        t.equal(done.returncode, 0, done.stderr)
        t.run("ia64-linux-gnu-objcopy", "-O", "binary", "-j", ".text",
              path / "a.o", path / "a.bin")
        t.equal((path / "a.bin").read_bytes().hex(),
                "".join(row["bytes"] for row in CODE["bundle"]), "bytes")


def expected(insns, event, off):
    word = {"NOPS_RETIRED": "nop", "LOADS_RETIRED": "load",
            "STORES_RETIRED": "store"}.get(event)
    if word is None:
        return sum(off and i.predicate != 0 and i.unit != "B" for i in insns)
    return sum(i.does(word) and not (off and i.predicate) for i in insns)


for name, code in EVENTS.items():
    @t.named(f"{name} of each bundle, predicates true and false")
    def each_bundle(name=name, code=code):
        for b in BUNDLES:
            for off in (False, True):
                line = b.line(predicate=b.off() if off else 7)
                t.equal(count([line], code),
                        [len(b.insns), expected(b.insns, name, off)],
                        f"at {b.ip:#x}, off {off}")


@t.named("an opcode matcher takes the instructions of its unit and encoding")
def matches():
    trace = [b.line() for b in BUNDLES]
    for unit, bits in MIFB.items():
        for i in INSNS:
            setup = ["write PMC36 0xfffffffe",
                     f"write PMC32 {bits << 48 | 1 << 57:#x}",
                     f"write PMC33 {i.opcode:#x}"]
            wanted = sum(j.opcode == i.opcode and MIFB[j.unit] & bits ==
                         MIFB[j.unit] for j in INSNS)
            t.equal(read(trace, [f"write PMC4 {pmc(0x08)}", *setup],
                         ["PMD4"]), [wanted],
                    f"{i.opcode:#x} as {unit}")


@t.named("matcher 1 takes ld8 [r] whatever its registers, on channel 1")
def masked():
    # Major 4, m 0, x 0; x6 is 0x03: the rest is not compared.
    compared = 0xf << 37 | 1 << 36 | 0x3f << 30 | 1 << 27
    setup = ["write PMC36 0xfffffffd",
             f"write PMC34 {8 << 48 | MASK & ~compared:#x}",
             f"write PMC35 {4 << 37 | 3 << 30:#x}"]
    trace = [b.line() for b in BUNDLES] * 3
    t.equal(count(trace, 0x08, setup, 1), [3 * len(INSNS), 3], "ld8")


@t.named("a taken branch is the last of its bundle that retires")
def cut_short():
    bbb = BUNDLES[5]
    for taken, retire in ((0, 3), (1, 1), (4, 3)):
        t.equal(count([bbb.line(taken=taken)], 0x50),
                [retire, int(retire > 1)], f"taken {taken}")


@t.named("data ranges narrow LOADS_RETIRED to the trace's data addresses")
def data_ranges():
    # Two addresses, for ld8 and ld4.acq; DBR0 and 1 take one page, by PMC41.
    trace = [BUNDLES[0].line(ea=f"{0x10000 + 0x800 * i:x} 0x{0x20000 + i:x}")
             for i in range(10)]
    setup = ["write DBR0 0x10000", "write DBR1 0x00fffffffffff000",
             "write PMC41.cfgdtag0 2"]
    t.equal(count(trace, 0xcd, setup), [30, 2], "two are in the page")
    t.equal(count(trace, 0xcd), [30, 20], "without")


@t.named("instruction ranges narrow retirement to bundles of the trace")
def instruction_ranges():
    trace = [b.line() for b in BUNDLES]
    setup = ["write PMC38 0xdb4", f"write PMC32 {0xf << 48 | MASK:#x}",
             "write IBR0 0x20", "write IBR1 0x0fffffffffffffe0"]
    wanted = sum(len(b.insns) for b in BUNDLES[2:4])
    t.equal(read(trace, [f"write PMC4 {pmc(8)}", *setup], ["PMD4"]), [wanted],
            "two bundles")


def entries(setup, trace, count):
    names = [f"PMD{48 + i}" for i in range(count)]
    return read(trace, setup, [*names, "PMD38"])


@t.named("the trace buffer holds the taken branches, with their targets")
def trace_buffer():
    call, loop = BUNDLES[6], BUNDLES[14]
    trace = [call.line(taken=4),                       # indirect: the next row
             loop.line(ip=0x5000, taken=4),            # 14 bundles back
             BUNDLES[7].line(ip=0x4f20, taken=4),      # brl, 7 bundles back
             BUNDLES[13].line(ip=0x4eb0, taken=4),     # br.ret
             BUNDLES[5].line(ip=0x8000)]               # no branch taken
    got = entries(["write PMC39 0x3e0f"], trace, 8)  # tm 10
    pairs = [(call.ip, 0x5000), (0x5000, 0x4f20), (0x4f20, 0x4eb0),
             (0x4eb0, 0x8000)]
    wanted = []
    for source, target in pairs:
        wanted += [source & ~31 | 2 << 2 | 1, target | 2]
    t.equal(got, [*wanted, 8], "entries")


@t.named("not-taken branches are entries, nop.b and cover are none")
def not_taken():
    # tm 01: not taken ones. Two of three in BBB, none in MMB with cover.
    got = entries(["write PMC39 0x3d0f"],
                  [BUNDLES[5].line(ip=0x40), BUNDLES[11].line(ip=0x80)], 4)
    t.equal([g & 0xf for g in got[:4:2]], [3 << 2 | 1] * 2, "sources")
    t.equal(got[4], 4, "index")


@t.named("a failed check and an rfi are entries whatever the filters say")
def diverted():
    trace = [BUNDLES[6].line(ip=0x40, taken=1),     # chk.a.clr
             BUNDLES[8].line(ip=0x2000, taken=4),   # chk.s.i
             BUNDLES[12].line(ip=0x3000, taken=4),  # rfi
             BUNDLES[1].line(ip=0x4000)]
    got = entries(["write PMC39 0xf"], trace, 6)
    t.equal(got, [0x40 | 3, 0x2002, 0x2000 | 2 << 2 | 3, 0x3002,
                  0x3000 | 2 << 2 | 3, 0x4002, 6], "entries")


@t.named("the IP-EAR has an entry for each bundle")
def ip_ear():
    trace = [b.line(ip=0x123450 + 16 * i) for i, b in enumerate(BUNDLES[:7])]
    got = entries(["write PMC42 0x40f"], trace, 7)
    t.equal(got, [*(1 << 60 | ip >> 12 << 8 | ip >> 4 & 0xff for ip in
                    range(0x123450, 0x1234c0, 16)), 7], "entries")


GOOD = BUNDLES[0].line(ea="10 20")
WRONG = [
    (GOOD.replace("0,9", "0,1e", 1), "reserved template '1e'"),
    (GOOD.replace("0,9", "8,9", 1), "a bundle stands at a multiple of 10"),
    (GOOD.replace("0,9", "0,29", 1), "template is hexadecimal, at most 1f"),
    (GOOD.replace(",7,0", ",8,0"), "predicate is hexadecimal, at most 7"),
    (GOOD.replace(",7,0", ",2,0"), "predicate 0 is true"),
    (GOOD.replace(",7,0", ",7,1"), "what is taken is no branch"),
    (BUNDLES[5].line(taken=5), "two slots are taken"),
    (GOOD.replace("10 20", "10 20 30"), "no instruction accesses ea '30'"),
    (GOOD.replace("10 20", "1g"), "ea is hexadecimal"),
    (GOOD.replace(",7,0", ",7"), "fewer than 8 columns"),
    (GOOD.replace(",7,0", ",7,0,0"), "more than 8 columns"),
    ("0,9,20000000000,0,0,7,0,\n", "slot0 is hexadecimal, at most 1ffffffffff"),
    ("0,9,-1,0,0,7,0,\n", "slot0 is hexadecimal"),
    ("0,9,11112222333344445,0,0,7,0,\n", "slot0 is hexadecimal"),
    ("0" * 600 + "\n", "no line of text of at most 510 characters"),
    (GOOD.replace("20\n", "20\0\n"), "no line of text"),
]


def told(text, machine="montecito"):
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "b.csv").write_text(text)
        return t.run(t.tally(), "pmu", "-m", machine, cwd=folder, stdin=None,
                     input=f"mode up=1\nwrite PMC4 {pmc(8)}\nbundles b.csv\n"
                     "read PMD4\n")


@t.named("a wrong line is named by file and line, and nothing retires")
def wrong_lines():
    for line, message in WRONG:
        done = told("# a trace\n" + HEAD + GOOD + line)
        t.equal(done.returncode, 1, message)
        begin = "tally pmu: -:3: b.csv:4: " + message
        t.equal(done.stderr[:len(begin)], begin, line)
        t.equal(done.stderr.count("\n"), 1, "lines")
        t.equal(done.stdout.splitlines()[-1], "4: read PMD4 = 0x0", line)


@t.named("a file without header, no file, and a machine without bundles")
def no_trace():
    for text, message in ((GOOD, "b.csv:1: the first line is ip,"),
                          ("# none\n", "b.csv:1: no header")):
        begin = "tally pmu: -:3: " + message
        t.equal(told(text).stderr[:len(begin)], begin, text)
    done = t.run(t.tally(), "pmu", "-m", "montecito", stdin=None,
                 input="bundles nowhere.csv\n")
    t.equal(done.stderr, "tally pmu: -:1: cannot read nowhere.csv: "
            "No such file or directory\n", "no file")
    done = t.run(t.tally(), "pmu", "-m", "r10000", stdin=None,
                 input="bundles nowhere.csv\n")
    t.equal(done.stderr, "tally pmu: -:1: r10000 has no bundles\n", "r10000")


t.main()
