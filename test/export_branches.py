# SPDX-License-Identifier: MIT
"""tally export of branches, read by the programs that read it:
export_branches.py BUILD [WORD]

llvm-profgen and clang take the branch stacks, perf2bolt and llvm-bolt the
profile for BOLT, callgrind_annotate the calls and jumps; each has the exact
counts of the record."""
import collections
import os
import pathlib
import re
import shutil
import tempfile

import tallytest as t

EVENTS = ["instructions", "taken-branches", "conditional-branches",
          "branch-misses"]

# Counts that follow from the source are in COUNTS.
SOURCE = """
#include <stdio.h>
#include <stdlib.h>

typedef int (*operation)(int);

__attribute__((noinline)) int twice(int x) { return 2 * x; }
__attribute__((noinline)) int half(int x) { return x / 2; }
__attribute__((noinline)) int odd(int x) { return x & 1; }

__attribute__((noinline)) int steps(long n)
{
    int count = 0;
    for (; n != 1; count++)
        n = odd((int)n) ? 3 * n + 1 : n / 2;
    return count;
}

__attribute__((noinline)) int choose(int k)
{
    switch (k) {
    case 0: return printf("");
    case 1: return puts("one") < 0;
    case 2: return half(k);
    case 3: return twice(k) + 9;
    case 4: return 11;
    case 5: return twice(half(k));
    default: return k;
    }
}

__attribute__((noinline)) int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

int main(void)
{
    static const operation all[] = {twice, half, odd};
    int sorted[100];
    long sum = 0;
    for (int i = 1; i <= 300; i++) {
        sum += steps(i) + all[i % 3](i) + choose(i % 7);
        sorted[i % 100] = i * 7919 % 1000;
    }
    qsort(sorted, 100, sizeof(*sorted), compare);
    printf("%ld %d\\n", sum, sorted[3]);
    return 0;
}
"""


def collatz():
    steps = 0
    for n in range(1, 301):
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            steps += 1
    return steps


# function: how often it is called
COUNTS = {"main": 1, "steps": 300, "choose": 300, "odd": collatz() + 100,
          "twice": 100 + 2 * 43, "half": 100 + 2 * 43}

folder = tempfile.TemporaryDirectory()


def place(name):
    return os.path.join(folder.name, name)


def tool(name, *folders):
    """A program of LLVM; Debian has it under its version's name."""
    found = sorted(pathlib.Path(path) for where in folders
                   for path in pathlib.Path("/").glob(where))
    path = shutil.which(name) or (found[-1] if found else None)
    if path is None:
        raise t.Skip(f"{name} is missing")
    return path


@t.once
def compiled(compiler, *options):
    """The program, compiled once for these options."""
    if shutil.which(compiler) is None:
        raise t.Skip(f"{compiler} is missing")
    source = pathlib.Path(place("source.c"))
    source.write_text(SOURCE)
    with tempfile.NamedTemporaryFile(dir=folder.name, prefix="program",
                                     delete=False) as file:
        program = file.name
    done = t.run(compiler, "-O2", "-g", *options, "-o", program, source)
    t.equal(done.returncode, 0, done.stderr)
    os.chmod(program, 0o755)
    return program


@t.once
def recorded(program):
    path = program + ".data"
    done = t.run(t.tally(), "record", "-q", "--branches", "-m", "host-model",
                 "-e", ",".join(EVENTS), "-o", path, program)
    t.equal(done.returncode, 0, done.stderr)
    return path


@t.once
def exported(form, program, *options):
    path = recorded(program)
    done = t.run(t.tally(), "export", "--as", form, "-i", path, "-o",
                 f"{path}.{form}", *options)
    t.equal((done.returncode, done.stderr), (0, ""))
    return f"{path}.{form}"


class Listed:
    """What test/list_edges says of a record."""

    def __init__(self, path):
        done = t.run(t.build / "test" / "list_edges", path)
        t.equal(done.returncode, 0, done.stderr)
        self.insns, self.edges = [], []
        for line in done.stdout.splitlines():
            kind, _, *words = line.split()
            if kind == "insn":
                self.insns.append(tuple(map(int, words)))
            elif kind == "edge":
                self.edges.append(tuple(map(int, words)))


# llvm-profgen ---------------------------------------------------------------


def stub_ranges(program):
    """Where the program has PLT stubs, in its file."""
    return [range(int(match[1], 16), int(match[1], 16) + int(match[2], 16))
            for match in re.finditer(r" \.plt\S* +PROGBITS +(\w+) \w+ (\w+)",
                                     t.run("readelf", "-SW", program).stdout)]


def profgen(output, program, *options):
    """Makes a profile; returns its text."""
    done = t.run(tool("llvm-profgen", "usr/lib/llvm-*/bin/llvm-profgen",
                      "usr/bin/llvm-profgen-*"),
                 f"--perfscript={exported('brstack', program)}",
                 f"--binary={program}", f"--output={output}", *options)
    t.equal(done.returncode, 0, done.stderr)
    return pathlib.Path(output).read_text()


@t.named("llvm-profgen adds up the executions of each instruction")
def profgen_sums():
    program = compiled("clang", "-fdebug-info-for-profiling")
    lines = profgen(program + ".ranges", program,
                    "--skip-symbolization").splitlines()
    ranges = int(lines[0])
    ran, branches = collections.Counter(), collections.Counter()
    listed = Listed(recorded(program))
    base = next(int(match[1], 16) for match in re.finditer(
        r"\[0x([0-9a-f]+)\(.*r-xp (.*)",
        pathlib.Path(exported("brstack", program)).read_text())
        if match[2] == program)
    # llvm-profgen knows the code of functions alone, not of PLT stubs.
    stubs = stub_ranges(program)
    own = [insn for insn in listed.insns if 0 <= insn[1] - base < 0x10000 and
           not any(insn[1] % 0x10000 in stub for stub in stubs)]
    for line in lines[1:1 + ranges]:
        first, last, count = re.fullmatch(r"(\w+)-(\w+):(\d+)", line).groups()
        for insn in own:
            if int(first, 16) <= insn[1] - base <= int(last, 16):
                ran[insn[1]] += int(count)
    t.same(ran, {insn[1]: insn[4] for insn in own}, "executions")
    for line in lines[2 + ranges:]:
        start, end, count = re.fullmatch(r"(\w+)->(\w+):(\d+)", line).groups()
        branches[int(start, 16) + base, int(end, 16) + base] += int(count)
    inside = {insn[1] for insn in own}
    wanted = collections.Counter()
    for a, b, way, count, _ in listed.edges:
        start = listed.insns[a][1] if a >= 0 and way != 7 else None
        end = listed.insns[b][1] if b >= 0 else None
        if start in inside and end in inside and way != 0:
            wanted[start, end] += count
    t.same(branches, wanted, "branches")


@t.named("clang takes the profile, which has the true calls")
def clang_profile():
    program = compiled("clang", "-fdebug-info-for-profiling")
    profile = profgen(program + ".prof", program, "--format=text")
    calls = {name: int(count) for name, count in
             re.findall(r"^(\w+):\d+:(\d+)$", profile, re.MULTILINE)}
    wanted = {name: count for name, count in COUNTS.items() if name != "main"}
    t.same({name: calls.get(name) for name in wanted}, wanted, "calls")
    done = t.run("clang", "-O2", "-g", "-fdebug-info-for-profiling", "-Werror",
                 f"-fprofile-sample-use={program}.prof", "-emit-llvm", "-S",
                 "-o", "-", place("source.c"))
    t.equal((done.returncode, done.stderr), (0, ""))
    entries = {}
    metadata = dict(re.findall(r'^(!\d+) = !\{!"function_entry_count", i64 '
                               r"(\d+)", done.stdout, re.MULTILINE))
    for name, number in re.findall(r"^define .*@(\w+)\(.*!prof (!\d+)",
                                   done.stdout, re.MULTILINE):
        entries[name] = int(metadata[number])
    # The compiler takes one more than the profile, so that none is 0.
    t.same({name: entries.get(name) for name in ("steps", "choose")},
           {name: COUNTS[name] + 1 for name in ("steps", "choose")}, "entries")


# BOLT -----------------------------------------------------------------------


def bolt(name):
    return tool(name, f"usr/lib/llvm-*/bin/{name}")


@t.once
def aggregated():
    """The program, BOLT's data, and what perf2bolt said."""
    perf2bolt = bolt("perf2bolt")
    program = compiled("gcc", "-Wl,--emit-relocs")
    done = t.run(perf2bolt, "-pa", "-p", exported("bolt", program), "-o",
                 program + ".fdata", program)
    t.equal(done.returncode, 0, done.stderr)
    return program, done.stdout + done.stderr


@t.named("perf2bolt finds no branch and no run that cannot be")
def perf2bolt():
    program, said = aggregated()
    t.contains(said, "traces mismatching disassembled function contents: 0 ")
    t.contains(said, "traces involving unknown regions: 0 ")
    calls = collections.Counter()
    for line in pathlib.Path(program + ".fdata").read_text().splitlines():
        words = line.split()
        # A function that others enter at its first byte.
        if words[5] == "0" and words[1] != words[4]:
            calls[words[4].partition("/")[0]] += int(words[7])
    t.same({name: calls[name] for name in COUNTS}, COUNTS, "calls")


@t.named("llvm-bolt takes the profile, and its program works")
def llvm_bolt():
    program, _ = aggregated()
    done = t.run(bolt("llvm-bolt"), program, "-data", program + ".fdata", "-o",
                 program + ".bolt", "-reorder-blocks=ext-tsp",
                 "-reorder-functions=hfsort", "-split-functions",
                 "-update-debug-sections", "-dyno-stats")
    t.equal(done.returncode, 0, done.stderr)
    said = done.stdout + done.stderr
    for trouble in ("stale", "invalid", "mismatch", "inconsistent"):
        wrong = [line for line in said.splitlines() if trouble in line.lower()]
        t.equal(wrong, [], trouble)
    first, second = t.run(program), t.run(program + ".bolt")
    t.equal((second.returncode, second.stdout), (first.returncode,
                                                 first.stdout))


@t.named("an image is chosen by its name")
def image():
    program = compiled("gcc", "-Wl,--emit-relocs")
    path = recorded(program)
    own = exported("bolt", program)
    text = pathlib.Path(own).read_text()
    named = t.run(t.tally(), "export", "--as", "bolt", "-i", path, "--image",
                  program)
    t.equal((named.returncode, named.stdout), (0, text))
    other = t.run(t.tally(), "export", "--as", "bolt", "-i", path, "--image",
                  "libc.so.6")
    t.equal(other.returncode, 0, other.stderr)
    assert other.stdout and other.stdout != text
    for line in (text + other.stdout).splitlines():
        assert re.fullmatch(r"B [0-9a-f]+ [0-9a-f]+ \d+ \d+|"
                            r"[Ff] [0-9a-f]+ [0-9a-f]+ \d+", line), line


# callgrind ------------------------------------------------------------------


def callgrind_calls(text):
    """(caller, callee): calls, of a file of callgrind."""
    names, calls, caller, callee = {}, collections.Counter(), None, None
    for line in text.splitlines():
        if match := re.fullmatch(r"(c?fn)=\((\d+)\)(?: (.+))?", line):
            names.setdefault(match[2], match[3])
            if match[1] == "fn":
                caller = names[match[2]]
            else:
                callee = names[match[2]]
        elif match := re.match(r"calls=(\d+) ", line):
            calls[caller, callee] += int(match[1])
    return calls


@t.named("callgrind: calls have their number, and jumps add up")
def callgrind():
    program = compiled("gcc", "-Wl,--emit-relocs")
    file = exported("callgrind", program)
    text = pathlib.Path(file).read_text()
    calls = callgrind_calls(text)
    t.equal(calls["main", "steps"], 300)
    t.equal(calls["main", "choose"], 300)
    t.equal(calls["steps", "odd"], collatz())
    # choose() jumps to half() and twice() as its last act: main() called them.
    t.equal([calls["main", name] for name in ("twice", "half", "odd")],
            [143, 143, 100])
    t.equal([calls["choose", name] for name in ("twice", "half")], [43, 43])
    listed = Listed(recorded(program))
    taken = sum(count for _, _, way, count, _ in listed.edges if way == 1)
    t.equal(sum(map(int, re.findall(r"^jcnd=(\d+)/", text, re.MULTILINE))),
            taken, "conditional branches taken")
    jumps = sum(count for _, _, way, count, _ in listed.edges if way in (2, 5))
    t.equal(sum(map(int, re.findall(r"^jump=(\d+) ", text, re.MULTILINE))),
            jumps, "jumps")
    if shutil.which("callgrind_annotate") is None:
        raise t.Skip("callgrind_annotate is missing")
    done = t.run("callgrind_annotate", "--tree=both", "--threshold=100", file)
    t.equal((done.returncode, done.stderr), (0, ""))
    assert re.search(r" < .*:main \(300x\)", done.stdout), done.stdout[:2000]


@t.named("callgrind: the calls that Valgrind's callgrind counts")
def valgrind():
    """In the program's own functions."""
    if shutil.which("valgrind") is None:
        raise t.Skip("valgrind is missing")
    program = compiled("gcc", "-Wl,--emit-relocs")
    theirs = place("callgrind.theirs")
    done = t.run("valgrind", "--tool=callgrind", "--compress-strings=no",
                 f"--callgrind-out-file={theirs}", program)
    t.equal(done.returncode, 0, done.stderr)
    wanted, caller = collections.Counter(), None
    for line in pathlib.Path(theirs).read_text().splitlines():
        if line.startswith("fn="):
            caller = line[3:]
        elif line.startswith("cfn="):
            callee = line[4:]
        elif match := re.match(r"calls=(\d+) ", line):
            wanted[caller, callee] += int(match[1])
    ours = callgrind_calls(pathlib.Path(
        exported("callgrind", program)).read_text())
    own = {"steps", "odd", "choose", "compare"}
    pairs = {pair: count for pair, count in wanted.items()
             if pair[1] in own and pair[0] in own | {"main"}}
    t.same({pair: ours[pair] for pair in pairs}, pairs, "calls")
    assert len(pairs) >= 3, pairs


# The command ----------------------------------------------------------------


def refused(wanted, *options):
    done = t.run(t.tally(), "export", *options)
    t.equal((done.returncode, done.stdout), (2, ""), done.stderr)
    t.contains(done.stderr, wanted)
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")


@t.named("what cannot be exported is one line")
def wrong_lines():
    program = compiled("gcc", "-Wl,--emit-relocs")
    path = recorded(program)
    refused("no events", "--as", "bolt", "-e", "instructions", "-i", path)
    refused("brstack or bolt", "--as", "folded", "--image", "x", "-i", path)
    refused("no code of 'nothing.so'", "--as", "bolt", "--image", "nothing.so",
            "-i", path)
    other = place("sparc.data")
    done = t.run(t.tally(), "record", "-q", "--branches", "-o", other, "--",
                 t.guest("hello.sparc64"))
    t.equal(done.returncode, 0, done.stderr)
    for form in ("bolt", "brstack"):
        refused("sparc64", "--as", form, "-i", other)


t.main()
