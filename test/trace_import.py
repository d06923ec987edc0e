#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally trace import: trace_import.py BUILD [WORD]

What is imported counts as what it was exported from, where the format holds what
counts; caches are those of a plain twin; what cannot be is refused, by its line
or byte.
"""
import collections
import csv
import hashlib
import io
import itertools
import json
import pathlib
import random
import re
import shutil
import struct
import subprocess
import tempfile

import tallytest as t

folder = tempfile.TemporaryDirectory(prefix="tally-import-")
here = pathlib.Path(folder.name)

# What each format holds of these.
DATA = ["L1-dcache-load-misses", "L1-dcache-store-misses", "dTLB-load-misses",
        "dTLB-store-misses"]
CODE = ["L1-icache-load-misses", "iTLB-load-misses"]
BRANCHES = ["branch-misses", "conditional-branches", "taken-branches"]
# Small caches, so that much misses.
SMALL = ["--set", "l1d.size=4K", "--set", "l1i.size=4K", "--set",
         "dtlb.entries=8", "--set", "itlb.entries=8"]


def trace(*words, **how):
    return t.run(t.tally(), "trace", *words, **how)


def own_folder():
    """A folder of the caller's own: cases run at the same time."""
    return pathlib.Path(tempfile.mkdtemp(dir=here))


def imported(form, content, name=None, status=0):
    """Imports bytes, and returns the trace and what tally said."""
    source = own_folder() / f"{name or form}.{form}"
    source.write_bytes(content)
    path = source.with_suffix(f".{form}.trace")
    done = trace("import", "--as", form, "-o", path, source)
    t.equal(done.returncode, status, done.stderr)
    return path, done.stderr


def counted(path, events, *options, machine="ci-1"):
    """The values of events by name; of an idle one, None."""
    report = own_folder() / "report.json"
    done = t.run(t.tally(), "count", "-m", machine, "-j", "-o", report, "-e",
                 ",".join(events), *options, path)
    t.equal(done.returncode, 0, done.stderr)
    found = json.loads(report.read_text())
    return {e["name"]: None if e["fidelity"] == "idle" else e["value"]
            for e in found["events"]}


def recorded(name):
    path = own_folder() / f"{name}.trace"
    done = trace("record", "--clean-env", "-q", "-o", path, "--", t.guest(name))
    t.equal(done.returncode, 0, done.stderr)
    return path


def exported(path, form):
    done = subprocess.run([t.tally(), "trace", "export", "-q", "--as", form, path],
                          capture_output=True, check=True)
    return done.stdout


def there_and_back(name):
    """A recording, exported and imported again, misses what it had missed."""
    path = recorded(name)
    native = counted(path, DATA + CODE, *SMALL)
    assert native["L1-dcache-load-misses"] > 50, native
    for form in ("lackey", "din"):
        lines = exported(path, form)
        back, _ = imported(form, lines, name)
        t.equal(counted(back, DATA + CODE, *SMALL), native, form)
        t.equal(trace("verify", back).returncode, 0, "verify")
        if form == "lackey":
            # Wide accesses are in pieces in all of them.
            t.equal(exported(back, form), lines, "lines")


@t.named("exports as lackey and din, imported")
def round_trips():
    there_and_back("arrays.x86_64")


@t.named("an export of a program of another architecture, imported")
def other_isa():
    there_and_back("arrays.riscv64")


@t.named("an export as ChampSim, imported")
def champsim_round_trip():
    """Of an instruction the record has the address alone: one that crosses a line
    has its size from the next, but for taken branches."""
    path = recorded("arrays.x86_64")
    back, _ = imported("champsim", exported(path, "champsim"), "arrays")
    native = counted(path, DATA + BRANCHES + CODE, *SMALL)
    found = counted(back, DATA + BRANCHES + CODE, *SMALL)
    near = abs(found.pop("L1-icache-load-misses") -
               native.pop("L1-icache-load-misses"))
    t.equal(found, native, "ChampSim")
    assert near <= 5, near
    done = trace("export", "--as", "champsim", back)
    t.equal(done.returncode, 2, done.stderr)
    t.contains(done.stderr, "has no code, which champsim asks for")


def champsim(pc, kind=None, taken=0, loads=(), stores=()):
    """A record, with the registers of a kind of branch."""
    changes, reads = {
        None: ((), ()), "jump": ((26,), ()), "indirect": ((26,), (64,)),
        "conditional": ((26,), (26, 25)), "call": ((26, 6), (26, 6)),
        "indirect call": ((26, 6), (26, 6, 64)), "return": ((26, 6), (6,))}[kind]
    pad = lambda values, count: (*values, *([0] * (count - len(values))))
    return struct.pack("<QBB2B4B2Q4Q", pc, kind is not None, taken,
                       *pad(changes, 2), *pad(reads, 4), *pad(stores, 2),
                       *pad(loads, 4))


@t.named("branches of ChampSim's records")
def champsim_branches():
    """A loop of 100 rounds with a call."""
    records = []
    for i in range(100):
        records += [champsim(0x401000), champsim(0x401003, "call", 1),
                    champsim(0x500000, loads=(0x7000 + 64 * i,)),
                    champsim(0x500004, "return", 1),
                    champsim(0x401008),
                    champsim(0x40100c, "conditional", int(i < 99))]
    records += [champsim(0x40100e), champsim(0x401010, "jump", 1),
                champsim(0x402000, stores=(0x9000,))]
    path, _ = imported("champsim", b"".join(records), "loop")
    found = counted(path, ["instructions", "conditional-branches", "branches",
                           "branch-misses", "L1-dcache-loads",
                           "L1-dcache-load-misses", "L1-dcache-stores"])
    t.equal(found["instructions"], 603, "instructions")
    t.equal(found["conditional-branches"], 100, "conditional")
    t.equal(found["branches"], 301, "branches")
    t.equal((found["L1-dcache-loads"], found["L1-dcache-load-misses"],
             found["L1-dcache-stores"]), (100, 100, 1), "data")
    # The first return, as no call before told its size, the first rounds of the
    # loop, until the table has seen each history, and its end.
    assert 2 <= found["branch-misses"] <= 16, found


class Lru:
    """The cache of CS:APP's lab, plainly: 2^s sets of E lines of 2^b bytes, of
    which the one that was used longest ago goes."""

    def __init__(self, s, ways, b):
        self.s, self.ways, self.b = s, ways, b
        self.sets = collections.defaultdict(list)
        self.hits = self.misses = self.evictions = 0

    def touch(self, address):
        line = address >> self.b
        lines = self.sets[line % (1 << self.s)]
        if line in lines:
            lines.remove(line)
            self.hits += 1
        else:
            self.misses += 1
            if len(lines) == self.ways:
                lines.pop(0)
                self.evictions += 1
        lines.append(line)

    def run(self, text):
        for line in text.splitlines():
            if line[0] != " ":
                continue
            address = int(line[3:].split(",")[0], 16)
            for _ in range(2 if line[1] == "M" else 1):
                self.touch(address)
        return self


def lab_trace(seed, count):
    """Walks, matrices and points in a few places, as lackey writes them."""
    drawn = random.Random(seed)
    lines = []
    while len(lines) < count:
        base = 0x7ff000000 + drawn.randrange(64) * 128
        step = drawn.choice((1, 4, 8, 16, 24, 64, 256))
        kind = drawn.choice("LSM")
        if drawn.random() < .3:
            lines.append(f"I  {0x400000 + drawn.randrange(4096):x},3")
        lines += [f" {kind} {base + i * step:x},{drawn.choice((1, 4, 8))}"
                  for i in range(drawn.randrange(1, 30))]
    return "\n".join(lines) + "\n"


@t.named("traces of the cache lab, beside a plain cache")
def cache_lab():
    """Hits, misses and evictions are the lab's. tally has no event of lines that
    leave: they are the misses less the lines that are there in the end."""
    geometries = [(0, 8, 3), (2, 1, 4), (1, 2, 5), (4, 1, 4), (4, 2, 4),
                  (5, 1, 5), (3, 4, 3), (6, 8, 6)]
    for seed, (s, ways, b) in itertools.product((1, 2), geometries):
        text = lab_trace(seed, 4000)
        path, _ = imported("cachelab", text.encode(), f"lab{seed}")
        twin = Lru(s, ways, b).run(text)
        found = counted(
            path, ["L1-dcache-loads", "L1-dcache-stores", *DATA[:2]],
            "--set", f"l1d.size={ways << (s + b)}", "--set", f"l1d.ways={ways}",
            "--set", f"l1d.line={1 << b}", "--set", "l1d.prefetch=none",
            "--set", "l1d.coherence=none")
        accesses = found["L1-dcache-loads"] + found["L1-dcache-stores"]
        misses = found["L1-dcache-load-misses"] + found["L1-dcache-store-misses"]
        left = sum(map(len, twin.sets.values()))
        t.equal((accesses - misses, misses, misses - left),
                (twin.hits, twin.misses, twin.evictions),
                f"seed {seed}, s={s} E={ways} b={b}")


@t.named("the example of the cache lab's handout")
def handout():
    """yi.trace, whose result with -s 4 -E 1 -b 4 the handout gives: 4 hits, 5
    misses, 3 evictions."""
    text = " L 10,1\n M 20,1\n L 22,1\n S 18,1\n L 110,1\n L 210,1\n M 12,1\n"
    path, _ = imported("cachelab", text.encode(), "yi")
    found = counted(path, ["L1-dcache-loads", "L1-dcache-stores", *DATA[:2]],
                    "--set", "l1d.size=256", "--set", "l1d.ways=1", "--set",
                    "l1d.line=16")
    t.equal(found, {"L1-dcache-loads": 6, "L1-dcache-stores": 3,
                    "L1-dcache-load-misses": 5, "L1-dcache-store-misses": 0},
            "yi.trace")


@t.named("what valgrind's lackey writes")
def of_valgrind():
    """The lines of a program, among Valgrind's own, with the counts that the
    program has in tally; addresses of the stack are others."""
    if shutil.which("valgrind") is None:
        raise t.Skip("no valgrind")
    program = t.guest("rep.x86_64")
    out = here / "valgrind.lackey"
    t.run("valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={out}",
          program)
    text = out.read_text()
    t.contains(text, "\n==")
    path, said = imported("lackey", text.encode(), "valgrind")
    lines = [l for l in text.split("\n") if l[:2] in ("I ", " L", " S", " M")]
    kinds = collections.Counter(l[:2].strip() for l in lines)
    found = counted(path, ["instructions", "L1-dcache-loads",
                           "L1-dcache-stores", *CODE, *DATA])
    t.equal((found["instructions"], found["L1-dcache-loads"],
             found["L1-dcache-stores"]),
            (kinds["I"], kinds["L"] + kinds["M"], kinds["S"] + kinds["M"]),
            "lackey's own numbers")
    t.contains(said, f"{kinds['I']} instructions and ")
    native = counted(recorded("rep.x86_64"), [*CODE, *DATA[:2]])
    t.equal({name: found[name] for name in native}, native, "misses")


@t.named("what a format lacks is idle, with the reason")
def lacking():
    events = ["instructions", "cycles", "branches", "branch-misses",
              "L1-icache-load-misses", "iTLB-load-misses", "split-accesses",
              "fp-instructions", "L1-dcache-loads", "dTLB-load-misses"]
    files = {
        "cachelab": b" L 10,1\n",
        "din": b"2 401000\n0 7000\n",
        "lackey": b"I  401000,3\n L 7000,8\n",
        "champsim": champsim(0x401000, loads=(0x7000,)),
        "drmemtrace": drmemtrace((10, 3, 0x401000), (0, 8, 0x7000)),
    }
    has = {"cachelab": [], "din": CODE, "lackey": ["instructions", *CODE,
                                                   "split-accesses"],
           "champsim": ["instructions", *CODE, "branches", "branch-misses"],
           "drmemtrace": ["instructions", *CODE, "split-accesses", "branches",
                          "branch-misses"]}
    for form, content in files.items():
        path, _ = imported(form, content, "lacking")
        found = counted(path, events)
        t.equal({name for name, value in found.items() if value is not None},
                {"L1-dcache-loads", "dTLB-load-misses", *has[form]}, form)
        t.equal((found["L1-dcache-loads"], found["dTLB-load-misses"]), (1, 1),
                form)
        done = trace("replay", "-e", ",".join(events), path)
        t.contains(done.stderr, f"imported from {form}")
        t.contains(done.stderr, "idle (")
        idle = set(re.findall(r"  ([\w-]+) +idle\n", done.stderr))
        t.equal(idle, {n for n, value in found.items() if value is None}, form)
        assert "per 1000" not in done.stderr or "instructions" in has[form]
        assert "on the modelled machine" not in done.stderr, done.stderr
        for line in re.findall(r"  idle \(.*", done.stderr):
            t.contains(line, "the imported trace ")


def drmemtrace(*entries, filetype=0x40, ends=True):
    """Entries of type, size and address (or 8 bytes), of one thread."""
    def pack(kind, size, value):
        return struct.pack("<HH", kind, size) + (
            value if isinstance(value, bytes) else struct.pack("<Q", value))
    whole = [(25, 0, 5), (28, 12, 5), (28, 9, filetype), (22, 4, 77),
             (24, 4, 76), (28, 2, 123456), *entries]
    return b"".join(pack(*e) for e in whole + [(23, 4, 77), (26, 0, 0)] * ends)


@t.named("entries of drmemtrace")
def drmemtrace_entries():
    """A loop of 50 rounds with a call, encodings, a repeated instruction, a
    prefetch and a bundle; a file that the test made by the layout."""
    entries = []
    for i in range(50):
        entries += [(47, 3, bytes(8)), (10, 3, 0x401000),
                    (0, 8, 0x7ff000 + 64 * i), (14, 5, 0x401003),
                    (1, 8, 0x7fe000), (10, 4, 0x500000), (28, 34, 0x401008),
                    (16, 1, 0x500004), (0, 8, 0x7fe000),
                    (48 if i < 49 else 49, 2, 0x401008)]
    entries += [(10, 2, 0x40100a), (0, 4, 0x9000), (1, 4, 0xa000),
                (29, 2, 0x40100a), (0, 4, 0x9004), (1, 4, 0xa004),
                (2, 0, 0xb000), (10, 3, 0x40100c),
                (17, 2, bytes([4, 5, 0, 0, 0, 0, 0, 0])),
                (0, 32, 0xc03c)]
    path, said = imported("drmemtrace", drmemtrace(*entries), "loop")
    t.contains(said, "no file that it had written itself was tried")
    t.contains(said, "left out: 1 prefetches and flushes")
    found = counted(path, ["instructions", "conditional-branches", "branches",
                           "taken-branches", "L1-dcache-loads",
                           "L1-dcache-stores", "L1-dcache-load-misses",
                           "branch-misses", "split-accesses"])
    t.equal(found["instructions"], 5 * 50 + 5, "instructions")
    t.equal((found["branches"], found["conditional-branches"],
             found["taken-branches"]), (150, 50, 149), "branches")
    t.equal((found["L1-dcache-loads"], found["L1-dcache-stores"]), (103, 52),
            "accesses")
    # Of 50 lines of a walk, of 0x9000, and of two of the last load.
    t.equal(found["L1-dcache-load-misses"], 53, "misses")
    t.equal(found["split-accesses"], 1, "split")
    bare, _ = imported("drmemtrace", drmemtrace((10, 3, 0x401000),
                                                filetype=0x44), "bare")
    t.equal(counted(bare, ["instructions", "L1-dcache-loads"]),
            {"instructions": 1, "L1-dcache-loads": None}, "no data")


# Format, content, what is said
BAD = (
    ("lackey", b"I  401000,3\n L 7000\n", "line 2 is ' L 7000', which is no line of lackey: expected is I, L, S or M"),
    ("lackey", b"I  401000,3\n X 7000,8\n", "line 2 is ' X 7000,8'"),
    ("lackey", b"I  401000,3\n L 7000,8 x\n", "line 2 is"),
    ("lackey", b"I  401000,0\n", "has one byte at least"),
    ("lackey", b"I  401000,32\n", "an instruction has 1 to 31 bytes"),
    ("lackey", b"I  401000,3\n L 7000,99999\n", "16384 bytes at most"),
    ("lackey", b"I  10000000000000000,3\n", "line 1 is"),
    ("lackey", b"I  ffffffffffffffff,3\n", "behind the last address of 64 bits"),
    ("lackey", b" L 7000,8\n", "before any instruction; a file without"),
    ("lackey", b"I  401000,3\n" + b" L 7000,8\n" * 256, "line 257 is one access too many"),
    ("lackey", b"I" * 2000, "line 1 has more than 1000 characters"),
    ("lackey", b"", "is empty"),
    ("lackey", b"I  4010\0,3\n", "line 1 is"),
    ("cachelab", b" L 10,1\n L zz,1\n", "line 2 is ' L zz,1'"),
    ("din", b"0 7000\n5 7000\n", "line 2 is '5 7000', which is no line of din: expected is 0 (a load)"),
    ("din", b"0 7g\n", "line 1 is"),
    ("din", b"0\n", "line 1 is"),
    ("din", b"0 7000\n" * 300000 + b"2 401000\n", "line 300001 is the first fetch, behind a megabyte"),
    ("din", b"0 7000\n" * 256 + b"2 401000\n", "line 256 is one of too many accesses"),
    ("champsim", bytes(100), "byte 64: the file ends in the middle of a record: 36 of 64 bytes"),
    ("champsim", bytes(64) + bytes([0] * 8 + [7] + [0] * 55), "the record at byte 64 is none of ChampSim: its bytes 8 and 9 are 7 and 0"),
    ("champsim", b"\xff" * 8 + bytes(56), "behind the last address"),
    ("champsim", bytes(48) + b"\1" + bytes(6) + b"\x80" + bytes(8), "in the 4 GB from 0x8000000000000000 on"),
    ("lackey", b"I  8000000000000000,3\n", "in the 4 GB from 0x8000000000000000 on"),
    ("din", b"0 80000000ffffffff\n", "in the 4 GB from 0x8000000000000000 on"),
    ("drmemtrace", drmemtrace((10, 3, 1 << 63)), "in the 4 GB from"),
    ("drmemtrace", drmemtrace((10, 3, 1), (0, 8, 2**64 - 4)), "behind the last address"),
    ("drmemtrace", bytes(24), "byte 0 is not the beginning of a trace of drmemtrace"),
    ("drmemtrace", drmemtrace((60, 0, 0)), "the record at byte 72 is of type 60"),
    ("drmemtrace", drmemtrace((0, 8, 0)), "the record at byte 72 is an access before"),
    ("drmemtrace", drmemtrace((10, 0, 64)), "is an instruction of 0 bytes"),
    ("drmemtrace", drmemtrace((22, 4, 78)), "begins thread 78 behind thread 77"),
    ("drmemtrace", drmemtrace(filetype=0x20), "byte 24: a trace of a program of 32 bits"),
    ("drmemtrace", drmemtrace(filetype=0x80), "a filtered trace"),
    ("drmemtrace", drmemtrace((26, 0, 0)), "stands behind the entry that ends"),
    ("drmemtrace", drmemtrace((17, 2, 0)), "is a bundle of 2 instructions"),
    ("drmemtrace", drmemtrace() + b"ab", "ends in the middle of a record: 2 of 12"),
    ("champsim", b"\xfd7zXZ\0more", "is compressed: `xz -dc FILE | tally trace import --as champsim -` reads it"),
    ("lackey", b"\x1f\x8b\x08", "gzip -dc"),
    ("din", b"\x28\xb5\x2f\xfd", "zstd -dc"),
)


@t.named("what cannot be has one line, and nothing is written")
def bad_files():
    for number, (form, content, said) in enumerate(BAD):
        path, text = imported(form, content, f"bad{number}", status=2)
        t.equal(text.count("\n"), 1, text)
        t.contains(text, said)
        t.contains(text, f"bad{number}.{form}")
        assert not path.exists(), said
    kept = here / "kept.trace"
    kept.write_text("as it was")
    source = here / "kept.din"
    source.write_bytes(b"9 9\n")
    done = trace("import", "--as", "din", "-o", kept, source)
    t.equal(done.returncode, 2, done.stderr)
    t.equal(kept.read_text(), "as it was", "the file that was there")


@t.named("refusals of import, and of traces that were imported")
def refused():
    source = here / "refused.lackey"
    source.write_bytes(b"I  401000,3\n L 7000,8\n")
    path, _ = imported("lackey", source.read_bytes(), "refused")
    data, _ = imported("cachelab", b" L 7000,8\n", "refused")
    for words, line in (
            ([source], "a format is expected, as in tally trace import --as lackey"),
            (["--as", "champ", source], "did you mean champsim?"),
            (["--as", "lackey"], "a file is expected"),
            (["--as", "lackey", here / "none"], "No such file"),
            (["--as", "lackey", "-o", source, source], "would replace the file"),
            (["--as", "lackey", "-o", "-", source], "not to standard output"),
            (["--as", "lackey", path], "a file of tally itself"),
            (["--as", "lackey", "-m", "ci-1", source], "it takes no -m")):
        done = trace("import", *words)
        t.equal(done.returncode, 2, f"{words}: {done.stderr}")
        t.contains(done.stderr, line)
        t.equal(done.stderr.count("\n"), 1, done.stderr)
    for words, line in (
            (["count", "-I", "100", path], "-I needs cycles"),
            (["count", "--skip", "5", data], "does not have"),
            (["phases", path], "was imported from lackey"),
            (["record", path], "was imported from lackey"),
            (["memory", path], "was imported from lackey"),
            (["curve", "--level", "l1i", data], "has no fetches of instructions"),
            (["at", "--miss", "1", path], "is a trace")):
        done = t.run(t.tally(), *words)
        t.equal(done.returncode, 2, f"{words}: {done.stderr}")
        t.contains(done.stderr, line)
    done = trace("import", "--as", "lackey", "-o", "/dev/full", source)
    t.equal(done.returncode, 125, done.stderr)
    t.contains(done.stderr, "No space left on device")


@t.named("standard input, info, sweep")
def others():
    lines = "".join(f"I  {0x401000 + 4 * (i % 50):x},4\n L {0x7000 + 64 * i:x},8\n"
                    for i in range(500))
    path = here / "piped.trace"
    done = trace("import", "--as", "lackey", "-o", path, "-", input=lines,
                 stdin=None)
    t.equal(done.returncode, 0, done.stderr)
    text = trace("info", path).stdout
    t.contains(text, "imported from lackey, of standard input")
    t.contains(text, "has           loads and stores, their sizes, fetches of "
                     "code, each instruction")
    found = json.loads(trace("info", "--format", "json", path).stdout)
    t.equal((found["imported"], found["instructions"], found["accesses"]),
            ("lackey", 500, 500), "info")
    done = t.run(t.tally(), "sweep", "-m", "ci-1", "--set", "l1d.size=4K..64K",
                 "-e", "L1-dcache-load-misses", "--format", "csv", "--", path)
    t.equal(done.returncode, 0, done.stderr)
    rows = list(csv.reader(io.StringIO(done.stdout)))
    t.equal(len(rows), 1 + 5, done.stdout)


@t.named("curves of a trace without instructions")
def curve():
    """The misses of all sizes of a cache that has full associativity are those of
    the plain twin of each size."""
    text = lab_trace(3, 3000)
    path, _ = imported("cachelab", text.encode(), "curve")
    done = t.run(t.tally(), "curve", "-m", "ci-1", "--format", "json", "-o",
                 path.with_suffix(".json"), "--", path)
    t.equal(done.returncode, 0, done.stderr)
    found = json.loads(path.with_suffix(".json").read_text())
    t.equal(found["instructions"], None, "instructions")
    t.equal(found["line"], 64, "line")
    for point in found["points"][:6]:
        twin = Lru(0, point["size"] // 64, 6).run(text)
        t.equal(point["misses"], twin.misses, f"{point['size']} bytes")
    done = t.run(t.tally(), "curve", "-m", "ci-1", path)
    t.contains(done.stdout + done.stderr, "how many instructions ran is not known")


# Files that earlier versions of tally imported, named for format and schema, and
# the SHA-256 of the lines of lackey that each of them holds.
SAMPLES = (
    ("loop.champsim.3.trace",
     "88da87e50565c03a4f3c65bf45450687f96cc8533a20b574f554415b8789e719"),
    ("lab.cachelab.3.trace",
     "dd5449623a52422864c3d0a0c852ce573236552d7d1256ac030d50b618f1ebaf"),
)


@t.named("files of the third schema")
def kept_samples():
    for name, digest in SAMPLES:
        path = pathlib.Path(t.source("test", "trace_samples", name))
        done = trace("verify", path)
        t.equal(done.returncode, 0, done.stderr)
        t.equal(hashlib.sha256(exported(path, "lackey")).hexdigest(), digest,
                name)


@t.named("wide addresses")
def wide():
    """Addresses of all 64 bits, up to the last."""
    lines = b"I  ffffffffffffffe0,4\n S fffffffffffffff8,8\n L ffff800000000000,8\n" \
            b"I  8000000100000000,4\n L 7ffffffffffffff8,8\n"
    path, _ = imported("lackey", lines, "wide")
    found = counted(path, ["instructions", *DATA, "L1-dcache-loads"])
    t.equal((found["instructions"], found["L1-dcache-loads"]), (2, 2), "wide")
    t.equal(found["L1-dcache-load-misses"], 2, "misses")
    t.equal(exported(path, "lackey"), lines, "lines")


t.main()
