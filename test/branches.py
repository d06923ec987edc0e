# SPDX-License-Identifier: MIT
"""tally record --branches: edges add up, exactly: branches.py BUILD [WORD]

What leaves an instruction is its executions, what is taken is what tally count
says, and what comes to an instruction, by edges and from the one before, is
its executions again."""
import collections
import json
import os
import tempfile

import tallytest as t
from record_help import bzip2, lua, sqlite, words

EVENTS = ["instructions", "branches", "taken-branches", "conditional-branches",
          "branch-misses"]
ON, TAKEN, BROKEN = 0, 1, 7  # enum record_way
NOWHERE = -1


class Insn:
    def __init__(self, words):
        self.address, self.size, self.next, *values = map(int, words)
        self.values = dict(zip(EVENTS, values))
        self.out = collections.Counter()   # by way
        self.inward = 0                    # by other ways than ON


class Process:
    def __init__(self):
        self.insns, self.edges, self.runs = [], [], []


def record(folder, program, *options):
    """Records a program, whose edges it lists: [Process], and the totals."""
    path = os.path.join(folder, "tally.data")
    done = t.run(t.tally(), "record", "-q", "--branches", "-o", path, "-m",
                 "host-model", "--foreign", "-e", ",".join(EVENTS), *options,
                 "--", *program, cwd=folder)
    assert os.path.exists(path), done.stderr
    report = t.run(t.tally(), "report", "-i", path, "-j")
    t.equal(report.returncode, 0, report.stderr)
    totals = {e["asked"]: e["total"]
              for e in json.loads(report.stdout)["events"]}
    listed = t.run(t.build / "test" / "list_edges", path)
    t.equal(listed.returncode, 0, listed.stderr)
    processes = collections.defaultdict(Process)
    for line in listed.stdout.splitlines():
        kind, process, *words = line.split()
        p = processes[process]
        if kind == "insn":
            p.insns.append(Insn(words[1:]))
        elif kind == "edge":
            p.edges.append(tuple(map(int, words)))
        else:
            p.runs.append(tuple(map(int, words)))
    for p in processes.values():
        for start, end, way, count, _ in p.edges:
            if start != NOWHERE:
                p.insns[start].out[NOWHERE if end == NOWHERE else way] += count
            if end != NOWHERE and way != ON:
                p.insns[end].inward += count
    return list(processes.values()), totals


def check_branches(processes, totals):
    """What is taken, and what leaves conditional branches, by instruction and
    in all; mispredictions in all."""
    taken = wrong = 0
    for p in processes:
        wrong += sum(edge[4] for edge in p.edges)
        for insn in p.insns:
            goes = sum(count for way, count in insn.out.items()
                       if way not in (ON, BROKEN, NOWHERE))
            t.equal(goes, insn.values["taken-branches"],
                    f"taken at {insn.address:#x}")
            taken += goes
            branches = insn.values["conditional-branches"]
            if branches:
                t.equal(sum(insn.out.values()), branches,
                        f"conditional at {insn.address:#x}")
                t.equal(set(insn.out) <= {ON, TAKEN, NOWHERE}, True,
                        f"ways of {insn.address:#x}")
    t.equal(taken, totals["taken-branches"], "taken branches")
    t.equal(wrong, totals["branch-misses"], "mispredicted branches")


def check_flow(process):
    """Each instruction executes as often as control comes there."""
    came = collections.Counter()
    compared = 0
    for index, insn in enumerate(process.insns):
        here = came[index] + insn.inward
        t.equal(here, insn.values["instructions"],
                f"executions of {insn.address:#x}")
        compared += 1
        left = sum(count for way, count in insn.out.items() if way != ON)
        if insn.next != NOWHERE:
            came[insn.next] += here - left
        else:
            t.equal(here, left, f"what leaves {insn.address:#x}")
    assert compared > 100, compared


def check_runs(process):
    """The runs over an instruction are its executions."""
    begin, end = collections.Counter(), collections.Counter()
    for first, last, count in process.runs:
        begin[first] += count
        end[last] += count
    came = collections.Counter()
    for index, insn in enumerate(process.insns):
        here = came[index] + begin[index]
        t.equal(here, insn.values["instructions"], f"runs at {insn.address:#x}")
        came[insn.next] += here - end[index]


def program(isa, choose, *options):
    with tempfile.TemporaryDirectory() as folder:
        processes, totals = record(folder, choose(isa), *options)
        counted = t.Count(["-m", "host-model", "--foreign", "-e",
                           ",".join(EVENTS)], choose(isa), cwd=folder)
    if not options:
        t.same(totals, {e: counted[e] for e in EVENTS}, "totals")
    check_branches(processes, totals)
    if isa == "x86_64":
        check_flow(processes[0])
        check_runs(processes[0])


# Machines that predict targets too: their events whose sums are what was
# mispredicted, and what was taken.
MACHINES = {
    "montecito": ("x86_64", ["BR_MISPRED_DETAIL.ALL.WRONG_PATH",
                             "BR_MISPRED_DETAIL.ALL.WRONG_TARGET"],
                  ["BR_PATH_PRED.ALL.MISPRED_TAKEN",
                   "BR_PATH_PRED.ALL.OKPRED_TAKEN"]),
    "skylake": ("x86_64", ["BR_MISP_RETIRED.ALL_BRANCHES"],
                ["BR_INST_RETIRED.NEAR_TAKEN"]),
    "icelake": ("x86_64", ["BR_MISP_RETIRED.COND", "BR_MISP_RETIRED.INDIRECT",
                           "BR_MISP_RETIRED.RET"],
                ["BR_INST_RETIRED.NEAR_TAKEN"]),
    "neoverse-n1": ("aarch64", ["BR_MIS_PRED_RETIRED"], ["PC_WRITE_SPEC"]),
    "cortex-a72": ("aarch64", ["BR_MIS_PRED"], ["PC_WRITE_SPEC"]),
    "sifive-u74": ("riscv64", ["BRANCH_DIRECTION_MISPREDICTION",
                               "BRANCH_TARGET_MISPREDICTION"],
                   ["PAPI_BR_TKN"]),
    "sparc-t4": ("sparc64", ["Branch_mispredict"], ["Taken_branches"]),
    "r10000": ("mips64", ["Mispredicted_branches"], ["taken_branches"]),
}


def machine(name):
    """Mispredicted directions and targets on a machine with its predictors."""
    isa, wrong, taken = MACHINES[name]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tally.data")
        done = t.run(t.tally(), "record", "-q", "--branches", "-m", name, "-e",
                     ",".join(wrong + taken), "-o", path, "--", *words(isa))
        t.equal(done.returncode, 0, done.stderr)
        report = json.loads(t.run(t.tally(), "report", "-i", path, "-j").stdout)
        listed = t.run(t.build / "test" / "list_edges", path).stdout
    totals = {e["asked"]: e["total"] for e in report["events"]}
    edges = [tuple(map(int, line.split()[2:]))
             for line in listed.splitlines() if line.startswith("edge")]
    t.equal(sum(edge[4] for edge in edges), sum(totals[e] for e in wrong),
            "mispredicted")
    t.equal(sum(edge[3] for edge in edges if edge[2] not in (ON, BROKEN)),
            sum(totals[e] for e in taken), "taken")


def threads():
    with tempfile.TemporaryDirectory() as folder:
        processes, totals = record(folder, [t.guest("threads.x86_64"), "8",
                                            "2000"])
    check_branches(processes, totals)
    check_flow(processes[0])
    begun = sum(count for start, _, _, count, _ in processes[0].edges
                if start == NOWHERE)
    ended = sum(count for _, end, _, count, _ in processes[0].edges
                if end == NOWHERE)
    t.equal((begun, ended), (9, 9), "threads begun and ended")


def children(how, wanted):
    with tempfile.TemporaryDirectory() as folder:
        processes, totals = record(folder, [t.guest("forker.x86_64"), how,
                                            t.guest("hello.x86_64")])
    t.equal(len(processes), wanted, "processes")
    check_branches(processes, totals)
    for p in processes:
        check_flow(p)


def death():
    """What ran last led nowhere."""
    with tempfile.TemporaryDirectory() as folder:
        processes, totals = record(folder, [t.guest("crash.x86_64"), "segv"])
    check_branches(processes, totals)
    t.equal(sum(edge[3] for edge in processes[0].edges if edge[1] == NOWHERE),
            1, "ends")


def span(*options):
    """A part of a program: what is taken there is its total."""
    with tempfile.TemporaryDirectory() as folder:
        processes, totals = record(folder, words("x86_64"), *options)
    assert 0 < totals["taken-branches"], totals
    check_branches(processes, totals)


def skips():
    """The branch that leads into what is recorded was made before, wherever
    that begins: at a conditional branch that was taken, for one."""
    for skip in range(100000, 100040, 2):
        span("--skip", str(skip))


def without():
    """A record without --branches has none, and says so."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "tally.data")
        done = t.run(t.tally(), "record", "-q", "-o", path, "-m", "host-model",
                     "-e", "instructions", "--", *words("x86_64"))
        t.equal(done.returncode, 0, done.stderr)
        listed = t.run(t.build / "test" / "list_edges", path)
        assert "edge" not in listed.stdout
        for form in ("brstack", "bolt"):
            done = t.run(t.tally(), "export", "--as", form, "-i", path)
            t.equal((done.returncode, done.stdout), (2, ""))
            t.contains(done.stderr, "tally record --branches")
            t.equal(len(done.stderr.splitlines()), 1)


def add_cases():
    for isa in t.isas():
        for choose in (words, lua, bzip2, sqlite):
            t.case(f"{choose.__name__} {isa}", program, isa, choose)
    t.case("without callers", program, "x86_64", words, "--no-callers")
    t.case("with objects", program, "x86_64", words, "--objects")
    t.case("threads", threads)
    for name in MACHINES:
        t.case(f"targets on {name}", machine, name)
    t.case("forked children", children, "fork", 3)
    t.case("a child by vfork and exec", children, "vfork", 3)
    t.case("an executed program", children, "exec", 2)
    t.case("a death by a signal", death)
    t.case("from a function to another", span, "--from", "main", "--to",
           "by_count")
    t.case("all but the first instructions", skips)
    t.case("one function", span, "--filter", "code=main")
    t.case("no branches", without)


t.main(add_cases)
