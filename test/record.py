#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally record against tally count: record.py BUILD [WORD]

Every event of every machine, by instruction: what is recorded adds up to the
totals, which are those of tally count, and no event that is exact or modelled
has anything that no instruction raised, where one thread runs. Threads,
children, deaths by signals and executed programs are told apart.
"""
import json
import os
import pathlib
import signal
import subprocess
import tempfile

import tallytest as t
from record_help import bzip2, cplusplus, lua, sqlite, words

# What the model counts when the program has ended.
AT_THE_END = ("Instruction_cache_eviction_invalidations",
              "Instruction_cache_invalidations", "Any_L1_cache_invalidation",
              "ER_MEM_READ_OUT_LO", "ER_MEM_READ_OUT_HI", "ER_BRQ_LIVE_REQ_LO",
              "ER_BRQ_LIVE_REQ_HI")


def run(folder, program, *options):
    """Records a program; returns its status and the report by thread."""
    path = folder / "tally.data"
    done = t.run(t.tally(), "record", "-q", "-o", path, "--clean-env",
                 *options, "--", *program, cwd=folder)
    assert path.exists(), done.stderr
    shown = t.run(t.tally(), "report", "-i", path, "-j", "--by",
                  "process,thread")
    t.equal(shown.returncode, 0, f"status of report; {shown.stderr!r}")
    return done.returncode, json.loads(shown.stdout)


def sums(report):
    out = {}
    for row in report["rows"]:
        for event, value in row["values"].items():
            out[event] = out.get(event, 0) + value
    return out


def check_sums(report, exact=True):
    """The rows and what is elsewhere add up; `exact`: one thread ran."""
    total = sums(report)
    for event in report["events"]:
        name = event["asked"]
        got = total.get(name, total.get(event["name"], 0))
        t.equal(got + event["elsewhere"], event["total"], f"sum of {name}")
        if exact and event["name"] not in AT_THE_END:
            t.equal(event["elsewhere"], 0, f"{name} elsewhere")


CPP = """
#include <algorithm>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
struct item { std::string key; bool operator<(const item &o) const
              { return key < o.key; } };
static int deep(int n)
{
    if (n == 0)
        throw std::runtime_error("the end");
    return deep(n - 1) + 1;
}
int main()
{
    std::vector<item> all;
    std::map<std::string, int> sums;
    int caught = 0;
    for (int i = 0; i < 500; i++)
        all.push_back({std::to_string(i * 7919 % 2003)});
    std::sort(all.begin(), all.end());
    for (const item &one : all)
        sums[one.key.substr(0, 2)]++;
    for (int i = 0; i < 20; i++) {
        try { deep(i); } catch (const std::exception &) { caught++; }
    }
    std::printf("%zu %d\\n", sums.size(), caught);
}
"""
made = tempfile.TemporaryDirectory()


@t.once
def compiled():
    if os.uname().machine != "x86_64":
        raise t.Skip("g++ compiles for another architecture than x86-64")
    return cplusplus(pathlib.Path(made.name) / "made", CPP, ())


def cpp(_):
    return compiled()


def rust(_):
    """ripgrep, in one thread."""
    if t.run("sh", "-c", "command -v rg").returncode != 0 or \
            os.uname().machine != "x86_64":
        raise t.Skip("no ripgrep")
    return ["rg", "--no-config", "-j1", "-c", "[a-z]+ally", t.source("LICENSE"),
            t.source("CONTRIBUTING.md")]


def one_thread(machine, isa, choose, *more):
    program = choose(isa)
    options = ["-m", machine, "-e", "all", *more]
    with tempfile.TemporaryDirectory() as name:
        status, report = run(pathlib.Path(name), program, *options)
        counted = t.run(t.tally(), "count", "-j", "--clean-env", *options, "--",
                        *program, cwd=name)
    t.equal(status, 0, "status")
    check_sums(report)
    theirs = {e["name"]: e["value"]
              for e in json.loads(counted.stderr)["events"]}
    compared = 0
    for event in report["events"]:
        if event["standing"] == "idle":
            t.equal(event["total"], 0, f"total of {event['name']}, idle")
        value = theirs.get(event["name"])
        if value is not None:
            t.equal(event["total"], value, f"total of {event['name']}")
            compared += 1
    assert compared > 30, f"only {compared} events compared"


def threads(machine, isa):
    program = [t.guest(f"threads.{isa}"), "8", "2000"]
    with tempfile.TemporaryDirectory() as name:
        status, report = run(pathlib.Path(name), program, "-m", machine)
    t.equal(status, 0, "status")
    t.equal(len(report["rows"]), 9, "threads")
    check_sums(report, exact=False)
    exact = [e for e in report["events"] if e["standing"] == "exact"]
    t.equal([e["elsewhere"] for e in exact], [0] * len(exact),
            "exact events elsewhere")


def children(how, processes):
    program = [t.guest("forker.x86_64"), how, t.guest("hello.x86_64")]
    with tempfile.TemporaryDirectory() as name:
        status, report = run(pathlib.Path(name), program, "-m", "host-model")
    t.equal(status, 0, "status")
    got = len({row["keys"]["process"] for row in report["rows"]})
    t.equal(got, processes, "processes")
    check_sums(report)


def death(how, status):
    with tempfile.TemporaryDirectory() as name:
        got, report = run(pathlib.Path(name), [t.guest("crash.x86_64"), how],
                          "-m", "host-model", "-e",
                          "instructions,branches,L1-dcache-load-misses")
    t.equal(got, status, "status")
    check_sums(report, exact=False)
    for event in report["events"]:
        t.equal(event["elsewhere"], 0, f"{event['asked']} elsewhere")
    assert report["events"][0]["total"] > 1000, report["events"][0]


def refused(options, status, *words):
    with tempfile.TemporaryDirectory() as name:
        done = t.run(t.tally(), "record", *options, cwd=name)
        t.equal(done.returncode, status, f"status; {done.stderr!r}")
        t.equal(len(done.stderr.splitlines()), 1, f"lines of {done.stderr!r}")
        t.equal(os.listdir(name), [], "files")
    for word in words:
        t.contains(done.stderr, word)


def varies():
    """Threads side by side lower the standing, as in tally count; threads
    that take turns and a single one do not."""
    for options, program, standing in (
            (["--parallel"], ["crew", "2", "2"], "varies"),
            ([], ["crew", "2", "2"], "exact"), ([], ["hello"], "exact")):
        with tempfile.TemporaryDirectory() as name:
            path = os.path.join(name, "tally.data")
            done = t.run(t.tally(), "record", *options, "-m", "host-model",
                         "-e", "instructions", "-o", path, "--",
                         t.guest(program[0] + ".x86_64"), *program[1:])
            t.equal(done.returncode, 0, f"status; {done.stderr!r}")
            t.equal("side by side" in done.stderr, standing == "varies",
                    "what the last line says")
            done = t.run(t.tally(), "report", "-j", path)
            t.equal([e["standing"] for e in json.loads(done.stdout)["events"]],
                    [standing], program[0])


def signalled():
    """A program of one thread that a signal ends early runs beside nobody."""
    with tempfile.TemporaryDirectory() as name:
        path = os.path.join(name, "tally.data")
        words = (t.tally(), "record", "--why", "--locks", "-m", "host-model",
                 "-o", path, "--", t.guest("deadlocks.x86_64"), "self")
        with subprocess.Popen(
                [str(w) for w in words], text=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            t.contains(process.stderr.readline(), "the only thread of process ")
            process.send_signal(signal.SIGINT)
            said = process.communicate()[1]
        t.equal(process.returncode, 128 + signal.SIGINT, f"status; {said!r}")
        t.contains(said, "tally: a signal came from outside: another run may "
                   "count differently\n")
        text = t.run(t.tally(), "memory", "-i", path).stdout
        t.contains(text, " a signal came from outside: another run may differ\n")
        report = t.run(t.tally(), "report", "-j", path)
        t.equal({e["standing"] for e in json.loads(report.stdout)["events"]} &
                {"exact"}, set(), "standings")
    for what in (said, text):
        t.equal("side by side" in what, False, what)


def shell(folder, line):
    """Runs a line of bash where `record` writes a record with a program that
    writes to standard output."""
    command = ("record() { $TALLY record -q -m host-model --clean-env "
               "-e instructions \"$@\" -- $PROGRAM; }\n")
    env = os.environ | {"TALLY": str(t.tally()),
                        "PROGRAM": str(t.guest("hello.x86_64"))}
    return t.run("bash", "-c", command + line, cwd=folder, env=env)


def piped():
    """A pipe gets the record whole, and what the program writes is elsewhere.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        done = shell(name, """
            $PROGRAM >plain
            record -o file.data >output; cmp plain output
            $TALLY report -j file.data >wanted
            record -o /dev/fd/3 3>&1 >output | cat >piped.data
            cmp plain output; $TALLY report -j piped.data | cmp - wanted
            record -o /dev/fd/3 3>&1 >output | $TALLY report -j - | cmp - wanted
            mkfifo named; cat named >other.data & record -o named >output
            wait; $TALLY report -j other.data | cmp - wanted
            record -o /dev/null >/dev/null""")
        t.equal((done.returncode, done.stdout, done.stderr), (0, "", ""))
        assert (folder / "wanted").read_text().count("instructions") > 0
        done = t.run("bash", "-c", f"{t.tally()} record -o /dev/fd/3 -m "
                     f"host-model true 3>&1 >/dev/null | cat >x.data", cwd=name)
        t.contains(done.stderr, "of 1 process in /dev/fd/3\n")


def unread():
    with tempfile.TemporaryDirectory() as name:
        done = shell(name, "record -o /dev/fd/3 3>&1 >/dev/null | true; "
                           "echo ${PIPESTATUS[0]}")
        t.equal(done.stdout, "125\n")
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        t.contains(done.stderr, "cannot write /dev/fd/3: Broken pipe")


def mixed():
    """The program's output would come between the chunks of the record."""
    with tempfile.TemporaryDirectory() as name:
        for line, said in (("record -o /dev/stdout | cat", "standard output"),
                           ("record -o /dev/fd/1 >x", "standard output"),
                           ("record -o /dev/fd/3 3>&1 | cat", "standard output"),
                           ("record -o x >x", "standard output"),
                           ("(record -o /dev/stderr 2>&3 | cat) 3>&1 2>&3",
                            "standard error")):
            done = shell(name, "set -o pipefail; " + line)
            told = done.stderr + done.stdout
            t.equal((done.returncode, told.count("\n")), (2, 1), line + told)
            t.contains(told, f"the program's {said}, which would mix")


def keeps_the_old_record():
    """A run that cannot start leaves the record of the run before."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        run(folder, words("x86_64"), "-m", "host-model", "-e", "instructions")
        before = (folder / "tally.data").read_bytes()
        done = t.run(t.tally(), "record", "-q", "./missing", cwd=name)
        t.equal(done.returncode, 127, "status")
        t.equal((folder / "tally.data").read_bytes(), before, "the record")


def full_disk():
    """A record that finds no room is refused, and says so in one line."""
    done = t.run(t.tally(), "record", "-q", "-o", "/dev/full", "-e",
                 "instructions", "-m", "host-model", "--",
                 t.guest("hello.x86_64"))
    t.equal(done.returncode, 125, "status")
    t.contains(done.stderr, "/dev/full")


# What arithmetic says of kernels: an array of 1 MB, of lines of 64 bytes, and an
# L1D of 32 KB in 8 ways.
KERNELS = """
#include <stdio.h>
#include <stdlib.h>
#define N 512
#define REPEATS 4
static volatile int matrix[N][N];
struct node { struct node *next; char rest[56]; };
static struct node nodes[16384] __attribute__((aligned(64)));
static long sum;
static __attribute__((noinline)) void rows(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += matrix[i][j]; /* rows */
}
static __attribute__((noinline)) void columns(void) {
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            sum += matrix[i][j]; /* columns */
}
static __attribute__((noinline)) void list(struct node *n) {
    while (n != NULL)
        n = n->next; /* list */
}
static __attribute__((noinline)) void ring(const char *bytes) {
    for (int k = 0; k < REPEATS; k++)
        for (int i = 0; i < 16384; i++)
            sum += bytes[i]; /* ring */
}
static __attribute__((noinline)) void never(void) {
    puts("never"); /* never */
}
int main(int argc, char **argv) {
    static char bytes[16384] __attribute__((aligned(4096)));
    (void)argv;
    for (int i = 0; i + 1 < 16384; i++)
        nodes[i].next = &nodes[i + 1]; /* links */
    rows();
    columns();
    list(nodes);
    ring(bytes);
    if (argc > 5)
        never();
    printf("%ld\\n", sum);
}
"""


@t.once
def kernel_rows():
    """The report of the kernels by function and line, and the source."""
    if t.run("sh", "-c", "command -v gcc").returncode != 0 or \
            os.uname().machine != "x86_64":
        raise t.Skip("no gcc for x86-64")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "kernels.c").write_text(KERNELS)
        subprocess.run(["gcc", "-g", "-O1", "-static", "-o", "kernels",
                        "kernels.c"], cwd=folder, check=True)
        path = folder / "tally.data"
        t.run(t.tally(), "record", "-q", "-m", "host-model", "--set",
              "l1d.size=32K", "--set", "l1d.ways=8", "--set", "l1d.line=64",
              "-e", "L1-dcache-load-misses,L1-dcache-loads,branches,"
              "branch-misses,instructions", "-o", path, "--",
              folder / "kernels", check=True)
        done = t.run(t.tally(), "report", "-i", path, "-j", "--by",
                     "function,line", check=True)
    return json.loads(done.stdout)["rows"]


def kernel(word, wanted):
    """The line with the word in a comment has these values."""
    line = 1 + next(i for i, text in enumerate(KERNELS.splitlines())
                    if f"/* {word} */" in text)
    got = {}
    for row in kernel_rows():
        if row["keys"]["line"] == line and \
                (row["keys"]["file"] or "").endswith("kernels.c"):
            for event, value in row["values"].items():
                got[event] = got.get(event, 0) + value
    for event, value in wanted.items():
        t.equal(got.get(event, 0), value, f"{event} of the line '{word}'")


# A caught exception: catcher() calls later() once the exception has left middle().
CAUGHT = """
#include <stdexcept>
#define APART __attribute__((noinline, noipa))
APART void busy() { }
struct guard { APART ~guard() { busy(); } };
APART void thrower() { guard one; throw std::runtime_error("caught"); }
APART void middle() { guard one; thrower(); }
APART void later() { busy(); __asm__ volatile(""); }
APART void catcher()
{
    try { middle(); } catch (const std::exception &) { later(); }
    later();
    __asm__ volatile("");
}
int main() { for (int i = 0; i < 3; i++) catcher(); }
"""


def paths_of(program, machine, event, names):
    """The paths from main() to functions of these names, "later" and so on."""
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "tally.data"
        t.run(t.tally(), "record", "-q", "-m", machine, "-e", event, "-o", path,
              "--", *program, check=True)
        folded = t.run(t.tally(), "export", "--as", "folded", "-i", path,
                       check=True).stdout
    found = set()
    for line in folded.splitlines():
        frames = [frame.split("(")[0] for frame in
                  line.rpartition(" ")[0].split(";")]
        if "main" in frames and frames[-1] in names:
            found.add(";".join(frames[frames.index("main"):]))
    return found


def unwound(machine, isa, event):
    t.equal(paths_of([t.guest(f"thrown.{isa}")], machine, event,
                     {"after", "later"}),
            {"main;outer;middle;after", "main;outer;later"}, "paths")


def mended(machine, isa, event):
    """A signal that comes before the branch at the end of its block."""
    t.equal(paths_of([t.guest(f"barrier.{isa}")], machine, event,
                     {"after", "mend"}),
            {"main;after", "main;before_call;after", "main;before_jump;after",
             "main;before_call;handle;mend", "main;before_return;handle;mend",
             "main;before_jump;handle;mend"}, "paths")


def caught(*options):
    if os.uname().machine != "x86_64":
        raise t.Skip("g++ compiles for another architecture than x86-64")
    with tempfile.TemporaryDirectory() as name:
        program = cplusplus(pathlib.Path(name) / "caught", CAUGHT, options)
        t.equal(paths_of(program, "host-model", "instructions",
                         {"guard::~guard", "later"}),
                {"main;catcher;later", "main;catcher;middle;guard::~guard",
                 "main;catcher;middle;thrower;guard::~guard"}, "paths")


ISAS = {"ultrasparc-t1": "sparc64", "ultrasparc-t2": "sparc64",
        "ultrasparc-t2plus": "sparc64", "sparc-t4": "sparc64",
        "r10000": "mips64", "r10000-rev2": "mips64", "r12000": "mips64",
        "montecito": "x86_64", "host-model": "x86_64", "skylake": "x86_64",
        "icelake": "x86_64", "zen2": "x86_64", "zen3": "x86_64", "zen4": "x86_64",
        "zen5": "x86_64",
        "neoverse-n1": "aarch64", "neoverse-v1": "aarch64",
        "cortex-a72": "aarch64", "sifive-u74": "riscv64"}
for machine, isa in ISAS.items():
    for program in (words, lua, bzip2, sqlite):
        t.case(f"{program.__name__} on {machine}: all events", one_thread,
               machine, isa, program)
    for program, language in ((cpp, "C++"), (rust, "Rust")):
        t.case(f"a program in {language} on {machine}: all events", one_thread,
               machine, isa, program,
               *(["--foreign"] if isa != "x86_64" else []))
for kind in ("perceptron", "tage"):
    t.case(f"a {kind} predictor: all events", one_thread, "host-model",
           "x86_64", lua, "--set", f"branch.predictor={kind}", "--set",
           "branch.history=60", "--set", f"second.kind={kind}")
t.case("prefetchers: all events", one_thread, "host-model", "x86_64", lua,
       "--set", "l1d.prefetch=stride", "--set", "l2.prefetch=stream", "--set",
       "l1d.size=4K", "--set", "l1d.ways=2", "--set", "l2.size=64K", "--set",
       "l2.replacement=srrip", "--set", "l1i.replacement=plru")
# Some sums have signals that are raised, and are idle all the same.
t.case("no bundles: all events", one_thread, "montecito", "x86_64", words,
       "--foreign", "--set", "issue.groups=any")
for machine, isa in ISAS.items():
    t.case(f"eight threads on {machine}", threads, machine, isa)
t.case("forked children", children, "fork", 3)
t.case("a child by vfork and exec", children, "vfork", 3)
t.case("a child by posix_spawn", children, "posix_spawn", 3)
t.case("an executed program", children, "exec", 2)
t.case("killed by SIGKILL", death, "kill", 137)
t.case("died by SIGSEGV", death, "segv", 139)
# A row's 512 numbers are 32 lines. A column's are 512 lines, of 8 sets, so that
# each number misses. Each node is a line; so is each 64 bytes of the ring, which
# then stays, as it is half of the cache.
t.case("a matrix by rows", kernel, "rows",
       {"L1-dcache-load-misses": 512 * 32})
t.case("a matrix by columns", kernel, "columns",
       {"L1-dcache-load-misses": 512 * 512})
t.case("a linked list", kernel, "list",
       {"L1-dcache-load-misses": 16384, "L1-dcache-loads": 16384})
t.case("a ring that fits", kernel, "ring",
       {"L1-dcache-load-misses": 256})
t.case("what never ran", kernel, "never", {"instructions": 0})
for machine, isa, event in (("host-model", "x86_64", "instructions"),
                            ("ultrasparc-t2", "sparc64", "All_instr"),
                            ("r10000", "mips64", "Graduated_instructions"),
                            ("r10000", "mips64el", "Graduated_instructions")):
    t.case(f"a landing pad on {isa}", unwound, machine, isa, event)
    t.case(f"a write that a handler allows on {isa}", mended, machine, isa,
           event)
t.case("a caught exception", caught)
t.case("a caught exception in a static program", caught, "-static")
t.case("host events", refused, ["-m", "host", "true"], 2, "perf record")
t.case("hardware events", refused, ["--hardware", "true"], 2, "perf record")
t.case("a frequency of samples", refused, ["-F", "99", "true"], 2, "sampled")
t.case("a record to standard output", refused, ["-o", "-", "true"], 2, "file")
t.case("software events", refused,
       ["-m", "host-model", "-e", "page-faults", "true"], 2, "perf record")
t.case("an unknown event", refused,
       ["-m", "host-model", "-e", "cycels", "true"], 2, "cycels")
t.case("data filters", refused, ["--filter", "data=x", "true"], 2, "code=")
t.case("no program", refused, [], 2, "program")
t.case("a program that is missing", refused, ["./missing"], 127, "missing")
t.case("exact counts that vary are not called exact", varies)
t.case("a signal that ends a program of one thread", signalled)
t.case("a record into a pipe", piped)
t.case("a record into a pipe that nobody reads", unread)
t.case("a record into the program's own output", mixed)
t.case("the old record stays", keeps_the_old_record)
t.case("a full disk", full_disk)
t.main()
