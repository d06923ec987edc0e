#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole programs: live.py BUILD [WORD]

Threads, children, dynamic programs, deaths, signals, regions, repeatability.
The programs are those of test/guest; what a turn of loop() counts is in
loop.h: 3 instructions on sparc64 and mips64, 2 on x86_64.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import tallytest as t

ARCHES = ("sparc64", "x86_64", "mips64", "mips64el")
PER_TURN = {"sparc64": 3, "x86_64": 2, "mips64": 3, "mips64el": 3}
INSTRUCTIONS = {"sparc64": "All_instr", "x86_64": "instructions",
                "mips64": "completed_instructions",
                "mips64el": "completed_instructions"}
T2 = "ultrasparc-t2"
TERMS = ("issue_cycles", "stall_fetch", "stall_load", "stall_store",
         "stall_branch", "stall_tlb", "stall_window", "stall_atomic",
         "stall_fp", "stall_issue")


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


@contextlib.contextmanager
def script(text, name="script"):
    """An executable text file in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_text(text)
        path.chmod(0o755)
        yield str(path)


# Threads

def in_work(arch, threads, turns, options=()):
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", event, "--from", "work", *options],
                g("threads", arch), threads, turns)
    return c, event


@at_arch("4 threads of 100000 turns")
def threads_add_up(arch):
    """A turn more in each thread: the difference is exact."""
    event = INSTRUCTIONS[arch]
    runs = [t.count(["-e", event], g("threads", arch), 4, turns)
            for turns in (100000, 200000)]
    counts = [strands(c, event) for c in runs]
    for c, per_thread in zip(runs, counts):
        t.equal(len(per_thread), 5, "strands")
        t.equal(sum(per_thread), c[event], "sum of the strands")
    for one, two in zip(counts[0][1:], counts[1][1:]):
        t.equal(two - one, 100000 * PER_TURN[arch], "100000 turns")
    t.equal(len(set(counts[0][1:])), 1, "kinds of threads")


@at_arch("threads are numbered in order of creation")
def thread_order(arch):
    """A strand may come again when its thread has ended, but not before."""
    c = t.count(["-e", INSTRUCTIONS[arch]], g("threads", arch), 8, 1000)
    rows = c.json["strands"]
    t.equal([s["thread"] for s in rows], list(range(9)), "threads")
    assert all(s["strand"] <= s["thread"] for s in rows), rows
    t.equal(len({s["pid"] for s in rows}), 1, "processes")


@at_arch("200 threads at once and after each other")
def many_threads(arch):
    c = t.count(["-e", INSTRUCTIONS[arch]], g("threads", arch), 200, 1000)
    per_thread = strands(c, INSTRUCTIONS[arch])
    t.equal(len(per_thread), 201, "strands")
    t.equal(len(set(per_thread[1:])), 1, "kinds of threads")
    assert per_thread[1] >= 1000 * PER_TURN[arch], per_thread[1]
    t.equal(sum(per_thread), c[INSTRUCTIONS[arch]], "sum of the strands")


@at_arch("threads repeat, whatever their interleaving")
def threads_repeat(arch):
    event = INSTRUCTIONS[arch]
    once, again = (strands(t.count(["-e", event], g("threads", arch), 3,
                                   50000), event) for _ in range(2))
    t.equal(once[1:], again[1:], "counts of the threads")


@at_arch("full model with threads")
def threads_full(arch):
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", "all"], g("threads", arch), 4, 100000)
    per_thread = strands(c, event)
    t.equal(sum(per_thread), c[event], "sum of the strands")
    t.equal(len(set(per_thread[1:])), 1, "kinds of threads")


# Time

@t.named("strands that share a pipeline share its issue slots")
def shared_pipeline():
    """On a T2 strands 0 to 3 share one, 4 to 7 another, and the first thread
    is on 0, which it leaves before the others get to work. Up to their start,
    some 20000 cycles, and their end, exact."""
    turns = 1000000
    c = t.count(["-m", T2, "--set", "time.taken=0", "-e",
                 "cycles,issue_cycles,stall_issue,All_instr"],
                g("meet", "sparc64"), 7, turns)
    for row in c.json["strands"][1:]:
        events = row["events"]
        t.equal(events["issue_cycles"], events["All_instr"], "issue cycles")
        others = 2 if row["strand"] < 4 else 3
        off = events["stall_issue"] - others * 3 * turns
        assert abs(off) < 20000, f"strand {row['strand']}: {off} cycles off"
    t.equal(sorted(row["strand"] for row in c.json["strands"]), list(range(8)),
            "strands")


@t.named("a core is idle when none of its strands issues")
def idle_core():
    """Each issues 3 of 12 cycles: 3 threads on one pipeline of a T2, which is
    idle in a quarter of them, and 2 on the other, in half."""
    turns = 100000
    c = t.count(["-m", T2, "--set", "time.taken=9", "-e",
                 "cycles,issue_cycles,Idle_strands"],
                g("meet", "sparc64"), 5, turns)
    t.equal(sum(strands(c, "Idle_strands")), c["Idle_strands"], "sum")
    for row in c.json["strands"][1:]:
        off = row["events"]["Idle_strands"] - 12 * turns // 8
        assert abs(off) < 20000, f"strand {row['strand']}: {off} cycles off"


@t.named("a pipeline for each strand: nobody waits to issue")
def own_pipelines():
    c = t.count(["-m", T2, "--set", "pipelines=8", "-e", "stall_issue"],
                g("meet", "sparc64"), 7, 10000)
    t.equal(c["stall_issue"], 0, "stall_issue")


def intervals(options, *program):
    """The documents of -I, and the sum of their events."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "lines")
        t.run(t.tally(), "count", "-j", "-o", report, *options, "--", *program)
        rows = [json.loads(line) for line in report.read_text().splitlines()]
    sums = {}
    for row in rows:
        for e in row["events"]:
            sums[e["name"]] = sums.get(e["name"], 0) + e["value"]
    return rows, sums


@at_arch("-I: all intervals together are the run, and repeat")
def intervals_add_up(arch):
    machine = {"sparc64": T2, "x86_64": "host-model"}.get(arch, "r10000")
    program = [g("bzip2", arch), "-9kc", g("hello", arch)]
    options = ["-m", machine, "-e", "all"]
    whole = t.Count(options, program)
    rows, sums = intervals([*options, "-I", 10], *program)
    t.same(sums, whole.values, "sum of the intervals and the whole")
    again, _ = intervals([*options, "-I", 10], *program)
    t.equal(again, rows, "the intervals again")
    assert len(rows) > 3, f"{len(rows)} intervals"
    off = rows[-1]["at_s"] - whole.json["modelled_s"]
    assert abs(off) < 2e-9, f"the end is {off} s off"
    for i, row in enumerate(rows[:-1]):
        t.equal(round(row["at_s"], 9), (i + 1) / 100, "at_s")


@t.named("-I: an interval of a steady program ends within 20000 instructions")
def interval_length():
    rows, _ = intervals(["-m", T2, "--set", "time.taken=0", "-e", "All_instr",
                         "-I", 1], g("spin", "sparc64"), 3000000)
    wanted = 1_400_000  # cycles in a millisecond, one each
    for row in rows[1:-1]:
        assert abs(row["events"][0]["value"] - wanted) <= 20001, row


@t.named("-I: what is not counted before, or beside, takes no interval")
def intervals_of_a_part():
    spin = [g("spin", "sparc64"), 3000000]
    events = ["-m", T2, "-e", "All_instr", "-I", 1]
    whole, _ = intervals(events, *spin)
    for options, counted in ((["--from", "main"], {"from": "main"}),
                             (["--skip", 10000], {"skip": 10000}),
                             (["--filter", "code=main"],
                              {"filter": ["code=main"]})):
        rows, _ = intervals([*events, *options], *spin)
        t.equal([row["counted"] for row in rows], [counted] * len(rows),
                "what is counted, in each line")
        assert abs(len(rows) - len(whole)) <= 1, (options, len(rows))
        for row in rows[1:-1]:
            assert abs(row["events"][0]["value"] -
                       whole[1]["events"][0]["value"]) <= 40002, row


@t.named("-I: all intervals of threads and children are the run")
def intervals_of_threads():
    events = "All_instr,issue_cycles,stall_branch,window_spills"
    options = ["-m", T2, "-e", events]
    for program in ([g("meet", "sparc64"), 6, 500000],
                    [g("forker", "sparc64")]):
        whole = t.Count(options, program)
        rows, sums = intervals([*options, "-I", 1], *program)
        off = {e: sums[e] - whole[e] for e in sums}
        assert abs(off["All_instr"]) < 2000, off
        times = [row["at_s"] for row in rows]
        t.equal(times, sorted(times), "at_s")
    rows, sums = intervals(["-m", T2, "-e", "all", "-I", 1],
                           g("meet", "sparc64"), 6, 500000)
    t.equal(sums["cycles"], sum(n for e, n in sums.items() if e in TERMS),
            "terms of the cycles")


@t.named("all instructions are a rate, though an R10000 counts some twice")
def rate():
    for machine, arch, event in ((T2, "sparc64", "All_instr"),
                                 ("r10000", "mips64",
                                  "Graduated_instructions")):
        report = t.run(t.tally(), "count", "-m", machine, "-e", event, "--",
                       g("hello", arch)).stderr
        assert re.search(event + r" +# +\d+\.\d M a second of wall time\n",
                         report), report


@t.named("what stands behind names begins in one column, be they long or not")
def columns():
    report = t.run(t.tally(), "count", "-m", "sparc-t4", "-e",
                   "Icache_miss,Instruction_cache_miss_L2_L3_hit,Branches,"
                   "ITLB_hardware_tablewalk_references", "-M", "ipc", "--",
                   g("hello", "sparc64")).stderr
    at = {line.index("#") for line in report.splitlines() if "#" in line}
    t.equal(len(at), 1, f"columns of #: {at}")


# Filters

def filtered(arch, events, *ranges):
    options = ["-e", ",".join(events)]
    for code in ranges:
        options += ["--filter", f"code={code}"]
    c = t.count(options, g("regions", arch))
    return [c[event] for event in events]


@t.named("--filter code=work: its instructions and branches, and no others")
def filter_function():
    """Three calls of save, two to set up, 20000 turns of three, return."""
    events = ["All_instr", "Completed_branches", "Taken_branches"]
    t.equal(filtered("sparc64", events, "work"),
            [3 * (3 + 3 * 20000 + 2), 3 * 20001, 3 * 20000], "work")
    t.equal(filtered("sparc64", events, "work", "warmup"),
            [3 * 60005 + 150005, 60003 + 50001, 60000 + 50000],
            "work and warmup")


@at_arch("--filter: what two halves count is the whole")
def filter_halves(arch):
    events = [INSTRUCTIONS[arch], "branches", "Cycles"]
    if arch == "sparc64":
        events = ["All_instr", "Taken_branches", "Dcache_misses", "Load_instr"]
    elif arch == "x86_64":
        events[2] = "cycles"
    at = t.symbol(g("regions", arch), "work")
    low = filtered(arch, events, f"0-{at - 1:#x}")
    high = filtered(arch, events, f"{at:#x}-0x7fffffffffffffff")
    whole = filtered(arch, events)
    off = 0 if arch == "sparc64" else 1
    for event, a, b, all_of in zip(events, low, high, whole):
        assert a > 0 and b > 0 and abs(a + b - all_of) <= off, \
            (event, a, b, all_of)


@t.named("--filter: the programs that it executes are not counted")
def filter_executed():
    c = t.count(["-e", "All_instr", "--filter", "code=main"],
                g("forker", "sparc64"), "exec", g("hello", "sparc64"))
    assert 0 < c["All_instr"] < 1000, c["All_instr"]


# The machine's own counters

def hardware(events, *program):
    """The same run by the model alone, and through the counters."""
    return [t.count(["-m", "ultrasparc-t2", *way, "-e", ",".join(events)],
                    g(program[0], "sparc64"), *program[1:])
            for way in ([], ["--hardware"])]


@t.named("--hardware: two events have a counter each, and nothing is lost")
def hardware_two():
    for program in (("spin", 1000000), ("hello",), ("regions",)):
        events = ["All_instr", "Dcache_misses"]
        model, counters = hardware(events, *program)
        for event in events:
            t.equal(counters[event], model[event], event)
            row = next(e for e in counters.json["events"]
                       if e["name"] == event)
            t.equal(row["running"], row["enabled"], "share")


@t.named("--hardware: more events take turns, and are scaled")
def hardware_turns():
    events = ["Completed_branches", "Taken_branches", "Other_instr",
              "Load_instr", "All_instr"]
    model, counters = hardware(events, "spin", 10000000)
    rows = {e["name"]: e for e in counters.json["events"]}
    for event in events[:3] + events[4:]:
        off = abs(counters[event] - model[event]) / model[event]
        assert off < 0.02, (event, counters[event], model[event])
        share = rows[event]["running"] / rows[event]["enabled"]
        assert 0.3 < share < 0.4, share
        t.equal(rows[event]["fidelity"], "estimated", event)
    again = hardware(events, "spin", 10000000)[1]
    t.equal([again[e] for e in events], [counters[e] for e in events],
            "the second run")


@t.named("--hardware on ultrasparc-t1: PIC1 counts instructions in every turn")
def hardware_t1():
    program = g("spin", "sparc64"), 3000000
    events = "IC_miss,DC_miss,FP_instr_cnt,instr_cnt"
    c = t.count(["-m", "ultrasparc-t1", "--hardware", "-e", events], *program)
    model = t.count(["-m", "ultrasparc-t1", "-e", events], *program)
    rows = {e["name"]: e for e in c.json["events"]}
    t.equal(c["instr_cnt"], model["instr_cnt"], "instructions")
    t.equal(rows["instr_cnt"]["fidelity"], "exact", "instructions")
    t.equal(rows["DC_miss"]["fidelity"], "estimated", "one of three turns")
    one = t.count(["-m", "ultrasparc-t1", "--hardware", "-e",
                   "DC_miss,instr_cnt"], *program)
    t.equal(one["DC_miss"], model["DC_miss"], "one turn")


@t.named("--hardware on sparc-t4: four events have a counter each")
def hardware_t4():
    program = g("regions", "sparc64"),
    for events in ("Branches,Branches_sl4,Taken_branches,All_instructions",
                   "Icache_miss,L1_data_cache_miss,DTLB_misses_async,Cycles",
                   "ITLB_misses_async,Icache_miss_local_memory_hit,"
                   "ITLB_hardware_tablewalk_references,"
                   "Branch_direction_mispredicts"):
        c = t.count(["-m", "sparc-t4", "--hardware", "-e", events], *program)
        model = t.count(["-m", "sparc-t4", "-e", events], *program)
        t.same(c.values, model.values)
        assert all(c.values.values()), c.values
    done = t.run(t.tally(), "count", "-m", "sparc-t4", "--hardware",
                 g("hello", "sparc64"))
    t.contains(done.stderr, "counted on PIC0 to PIC3 of each strand, in 10 "
               "turns of 100000 instructions, and scaled; 0 overflow traps")


@t.named("--hardware on r10000: sixteen events for each counter")
def hardware_r10000():
    """What has a counter each loses nothing; the R12000 takes any two."""
    events = {"r10000": ("Mispredicted_branches,Graduated_instructions",
                         "Cycles,Graduated_stores",
                         "Primary_instruction_cache_misses,TLB_misses"),
              "r12000": ("Graduated_loads,Graduated_stores",
                         "Mispredicted_branches,TLB_misses")}
    for machine, arch in (("r10000", "mips64"), ("r10000-rev2", "mips64el"),
                          ("r12000", "mips64")):
        program = g("hello", arch),
        for two in events[machine.removesuffix("-rev2")]:
            c = t.count(["-m", machine, "--hardware", "-e", two], *program)
            model = t.count(["-m", machine, "-e", two], *program)
            t.same(c.values, model.values)
            assert all(c.values.values()), c.values
    done = t.run(t.tally(), "count", "-m", "r10000", "--hardware", "-e",
                 "Graduated_loads,Graduated_stores", g("hello", "mips64"))
    t.contains(done.stderr, "counted on CNT0 and CNT1 of each strand, in 2 "
               "turns of 100000 instructions, and scaled; 0 overflow traps")


@t.named("--compare: the exact counts beside the estimates, in every form")
def compare():
    events = "Cycles,Graduated_instructions,Graduated_loads,Graduated_stores"
    words = [t.tally(), "count", "-m", "r12000", "--hardware", "--compare",
             "-e", events]
    program = t.guest("spin.mips64"), 10000000
    whole = t.count(["-m", "r12000", "-e", events], *program)
    rows = json.loads(t.run(*words, "-j", *program).stderr)["events"]
    for row in rows:
        t.equal(row["exact"], whole[row["name"]], row["name"])
        off = 100 * (row["value"] - row["exact"]) / row["exact"]
        assert abs(off - row["off_percent"]) < 1e-6, row
        if row["exact"] > 1000000:  # a steady program
            assert abs(off) < 5, row
    lines = t.run(*words, "-x,", *program).stderr.splitlines()
    t.equal([int(line.split(",")[8]) for line in lines],
            [row["exact"] for row in rows], "CSV")
    text = t.run(*words, *program).stderr
    t.equal(text.count(" exact  "), 4, text)
    t.contains(text, "off by +")


@t.named("--hardware: an event whose turn never came has no count")
def hardware_short():
    done = t.run(t.tally(), "count", "--hardware", "-j", "-e",
                 "All_instr,Load_instr,Store_instr", g("hello", "sparc64"))
    t.contains(done.stderr, '"value": null')
    t.contains(done.stderr, "the program ended before its turn came")
    done = t.run(t.tally(), "count", "--hardware", "-x,", "-e",
                 "All_instr,Load_instr,Store_instr", g("hello", "sparc64"))
    t.contains(done.stderr,
               "<not-counted>,,Store_instr,0,0.00,,,not-counted\n")
    done = t.run(t.tally(), "count", "--hardware", g("hello", "sparc64"))
    t.contains(done.stderr, "counted on PIC0 and PIC1 of each strand, in 12 "
               "turns of 100000 instructions, and scaled; 0 overflow traps")


@t.named("--hardware --strict: 125 for an event whose turn never came")
def hardware_strict():
    def status(*events):
        return t.run(t.tally(), "count", "--hardware", "--strict", "-j", "-e",
                     ",".join(events), g("hello", "sparc64")).returncode
    t.equal(status("All_instr", "Load_instr"), 0)
    t.equal(status("All_instr", "Load_instr", "Store_instr"), 125)


@t.named("--per-thread in text shows each thread")
def per_thread_text():
    done = t.run(t.tally(), "count", "--per-thread", "-e", "All_instr",
                 g("threads", "sparc64"), 2, 1000)
    for n in range(3):
        t.contains(done.stderr, f" thread {n}, strand ")


# Children

@at_arch("fork: the child's turns are added")
def fork_counts(arch):
    event = INSTRUCTIONS[arch]
    c = t.Count(["-e", event], [g("forker", arch), "fork"])
    t.equal(c.status, 3, "status of the child, passed on")
    per_strand = strands(c, event)
    t.equal(len(per_strand), 2, "strands")
    t.equal(len({s["pid"] for s in c.json["strands"]}), 2, "processes")
    t.equal(sum(per_strand), c[event], "sum of the strands")
    turns = 100000 * PER_TURN[arch]
    assert 0 <= min(per_strand[1] - turns, 2000) < 2000, per_strand


def child_turns(arch, mode, n):
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", event], g("forker", arch), mode, g("spin", arch), n)
    t.equal(sum(strands(c, event)), c[event], "sum of the strands")
    return c[event], len({s["pid"] for s in c.json["strands"]})


def child_is_counted(arch, mode, processes):
    """Two runs that differ in the child's turns alone."""
    one, pids = child_turns(arch, mode, 100000)
    two, _ = child_turns(arch, mode, 300000)
    t.equal(two - one, 200000 * PER_TURN[arch], "200000 turns of the child")
    t.equal(pids, processes, "processes")


for mode in ("fork", "vfork", "posix_spawn", "exec"):
    at_arch(f"{mode} and exec: the child is counted", mode,
            1 if mode == "exec" else 2)(child_is_counted)


@at_arch("exec through #! is followed")
def exec_script(arch):
    with script(f"#!{g('args', arch)} one two\n") as path:
        c = t.count(["-e", INSTRUCTIONS[arch]], g("forker", arch), "fork",
                    path, "three")
    lines = c.stdout.splitlines()[:4]
    t.equal(lines, [f"argv[0] {g('args', arch)}", "argv[1] one two",
                    f"argv[2] {path}", "argv[3] three"], "arguments")
    t.equal(len({s["pid"] for s in c.json["strands"]}), 2, "processes")
    t.equal(c.json["uncounted"], [], "uncounted")


@t.named("x86_64: exec of a name in PATH is followed")
def exec_path():
    """Not on sparc64: posix_spawnp() fails there in plain QEMU too."""
    arch = "x86_64"
    env = {**os.environ,
           "PATH": f"/nowhere:{t.build}/guests:{os.environ['PATH']}"}
    c = t.count(["-e", INSTRUCTIONS[arch]], g("forker", arch), "posix_spawn",
                f"args.{arch}", "x", env=env)
    t.contains(c.stdout, f"argv[0] args.{arch}\nargv[1] x\n")
    t.equal(len({s["pid"] for s in c.json["strands"]}), 2, "processes")


@at_arch("tally itself looks in PATH and through #!")
def start_script(arch):
    env = {**os.environ, "PATH": f"{t.build}/guests:{os.environ['PATH']}"}
    c = t.count([], f"args.{arch}", "x", env=env)
    t.contains(c.stdout, f"argv[0] args.{arch}\nargv[1] x\n")
    with script(f"#! {g('args', arch)}\n") as path:
        c = t.count(t.modelled(f".{arch}"), path, "y")
    t.contains(c.stdout, f"argv[1] {path}\nargv[2] y\n")


@at_arch("an exec that fails leaves the counts right")
def exec_fails(arch):
    """Not there, and no program: all that ran is counted, once."""
    event = INSTRUCTIONS[arch]
    base = t.Count(["-e", event], [g("forker", arch), "exec", "/no/such"])
    t.equal(base.status, 127, "status")
    assert base[event] > 1000, base[event]
    with script("no program at all\n") as path:
        padded = "/no/such".rjust(len(path), "/")
        base = t.Count(["-e", event], [g("forker", arch), "exec", padded])
        c = t.Count(["-e", event], [g("forker", arch), "exec", path])
    t.equal(c.status, 127, "status")
    t.equal(c[event], base[event], "instructions")
    t.equal(len(c.json["strands"]), 1, "strands")


@t.named("a child of another architecture is named as uncounted")
def uncounted():
    other = g("hello", "x86_64")
    c = t.count(["-e", "All_instr"], g("forker", "sparc64"), "fork", other)
    t.equal(c.stdout, "hello\n", "what the child said")
    t.equal(c.json["uncounted"], [other], "uncounted")
    done = t.run(t.tally(), "count", g("forker", "sparc64"), "fork", other)
    t.contains(done.stderr, f"not counted: {other}")


@t.named("arguments that are no addresses: the program is told, not killed")
def bad_arguments():
    for arch in ARCHES:
        c = t.count([], g("odd", arch), "badargv")
        t.equal(c.status, 0, "status")


@t.named("/proc/self/exe is the program, not QEMU")
def self_executed():
    for arch in ARCHES:
        c = t.count([], g("odd", arch), "self")
        t.equal((c.status, c.stdout), (0, "again\n"), "status, output")
        t.equal(c.json["uncounted"], [], "uncounted")


@t.named("70000 arguments reach an executed child")
def many_arguments():
    for arch in ARCHES:
        c = t.count([], g("odd", arch), "many", "70000")
        t.equal(c.stdout, "70000\n", "their number")


@t.named("a forked child without descriptors is named where it is not counted")
def no_descriptors():
    for arch in ARCHES:
        c = t.count([], g("odd", arch), "nofile")
        t.equal(c.status, 0, "status")
        t.equal(len(c.json["uncounted"]), 1, "uncounted")


@t.named("--from in a dynamic program")
def from_dynamic():
    for arch in ARCHES:
        c = t.count(["--from", "main"], g("hello.dyn", arch))
        assert c.json["events"][0]["value"] > 0, c.json["events"][0]


@t.named("what QEMU cannot start is no measurement")
def not_started():
    done = t.run(t.tally(), "count", "-m", "host-model", "--cpu-model", "bogus",
                 g("hello", "x86_64"))
    t.equal(done.status if hasattr(done, "status") else done.returncode, 125)
    t.contains(done.stderr, "QEMU could not start it")


@t.named("an uncounted child of an x86_64 program")
def uncounted_x86():
    other = g("hello", "sparc64")
    c = t.Count([], [g("forker", "x86_64"), "fork", other])
    t.equal(c.json["uncounted"], [other], "uncounted")


# Dynamic programs

@at_arch("a dynamic program runs")
def dynamic(arch):
    c = t.count(["-e", "all"], t.guest(f"hello.dyn.{arch}"))
    t.equal(c.stdout, "hello\n", "output")
    assert c[INSTRUCTIONS[arch]] > 20000, c[INSTRUCTIONS[arch]]


@t.named("bzip2, dynamic, writes what the static one writes")
def dynamic_bzip2():
    text = t.source("LICENSES", "GPL-2.0-or-later.txt")
    static, shared = (t.Count(["-e", "All_instr"],
                              [t.guest(name), "-9kc", text])
                      for name in ("bzip2.sparc64", "bzip2.dyn.sparc64"))
    t.equal(shared.status, 0, "status")
    t.equal(shared.stdout, static.stdout, "output")
    assert abs(shared["All_instr"] / static["All_instr"] - 1) < 0.1


@t.named("a missing loader is explained")
def missing_loader():
    with tempfile.TemporaryDirectory() as empty:
        done = t.run(t.tally(), "count", "--sysroot", empty,
                     t.guest("hello.dyn.sparc64"))
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    for word in ("loader", "/ld-linux.so.2", empty, "--sysroot",
                 "libc6-sparc64-cross"):
        t.contains(done.stderr, word)
    assert done.returncode in (125, 126), done.returncode


@t.named("a missing sysroot is an error")
def missing_sysroot():
    done = t.run(t.tally(), "count", "--sysroot", "/nonexistent",
                 t.guest("hello.dyn.sparc64"))
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    t.contains(done.stderr, "/nonexistent")
    assert done.returncode in (2, 125, 126), done.returncode


# Ends

DEATHS = {"segv": signal.SIGSEGV, "abort": signal.SIGABRT,
          "kill": signal.SIGKILL, "ill": signal.SIGILL}


def death(arch, mode):
    """The report is there, the 100000 turns are in it."""
    event = INSTRUCTIONS[arch]
    c = t.Count(["-e", "all"], [g("crash", arch), mode])
    t.equal(c.status, 128 + DEATHS[mode], "status")
    t.equal(c.json["status"], {"signal": int(DEATHS[mode])}, "JSON status")
    whole = t.Count(["-e", event], [g("crash", arch), "exit", 0])
    low = 100000 * PER_TURN[arch]
    assert low < c[event] < whole[event] + 5000, c[event]
    program = g("crash", arch)
    done = t.run(t.tally(), "count", *t.modelled(program), program, mode)
    t.contains(done.stderr, f"killed by SIG{mode.upper()[:4]}"
               .replace("SIGABOR", "SIGABRT"))


for mode in DEATHS:
    at_arch(f"death by {mode}: report and status", mode)(death)


# What objdump and what tally call it.
ILLEGAL = {"sparc64": ("illtrap", "0x00000000"), "x86_64": ("ud2", "ud2"),
           "mips64": ("0x3d", "0x0000003d"), "mips64el": ("0x3d", "0x0000003d")}
TOOLS = {"sparc64": "sparc64-linux-gnu-", "x86_64": "",
         "mips64": "mips64-linux-gnuabi64-",
         "mips64el": "mips64el-linux-gnuabi64-"}


def addresses_of(arch, program, mnemonic):
    """Where objdump sees an instruction in main()."""
    try:
        done = t.run(TOOLS[arch] + "objdump", "-d", "--disassemble=main", program)
    except FileNotFoundError:
        raise t.Skip("no objdump") from None
    return ["0x" + line.split(":")[0].strip()
            for line in done.stdout.splitlines() if mnemonic in line]


@at_arch("death by an illegal instruction is explained")
def illegal(arch):
    program = g("crash", arch)
    done = t.run(t.tally(), "count", *t.modelled(program), program, "ill")
    mnemonic, shown = ILLEGAL[arch]
    line = next(s for s in done.stderr.splitlines() if "it died" in s)
    t.contains(line, f" on {shown}: this QEMU")
    died_at = line.split(" at ")[1].split()[0]
    assert died_at in addresses_of(arch, program, mnemonic), line


@at_arch("_exit and exit pass their status on")
def leaves(arch):
    event = INSTRUCTIONS[arch]
    for mode, status in (("_exit", 5), ("exit", 6), ("_exit", 255)):
        c = t.Count(["-e", "all"], [g("crash", arch), mode, status])
        t.equal(c.status, status, "status")
        t.equal(c.json["status"], {"exit": status}, "JSON status")
        assert c[event] > 100000 * PER_TURN[arch], c[event]


# Signals to tally

@contextlib.contextmanager
def waiting(arch, *options):
    """tally with waiter, which is ready."""
    program = g("waiter", arch)
    command = [t.tally(), "count", *t.modelled(program), *options, "--",
               program]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        t.equal(process.stdout.readline(), "ready\n", "the program's word")
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def forwarded(arch, number):
    with waiting(arch, "-j") as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=60)
    t.equal(out, f"got {number.name}\n", "the program's word")
    t.equal(process.returncode, 7, "status")
    doc = t.json.loads(err)
    t.equal(doc["status"], {"exit": 7}, "JSON status")
    t.equal(doc["interrupted"], True, "interrupted")
    assert all(e["value"] >= 0 for e in doc["events"])


for number in (signal.SIGINT, signal.SIGTERM):
    at_arch(f"{number.name} to tally is forwarded", number)(forwarded)


@at_arch("SIGINT to the whole group, as from a terminal")
def interrupt_group(arch):
    with waiting(arch, "-j") as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    t.equal(out, "got SIGINT\n", "the program's word")
    t.equal(process.returncode, 7, "status")
    t.equal(t.json.loads(err)["status"], {"exit": 7}, "JSON status")


@at_arch("a program that dies of the SIGTERM is reported")
def interrupted_spin(arch):
    program = g("spin", arch)
    command = [t.tally(), "count", "-j", *t.modelled(program), program,
               "100000000000"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                               stderr=subprocess.PIPE)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(2)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    t.equal(process.returncode, 128 + signal.SIGTERM, "status")
    doc = t.json.loads(err)
    values = {e["name"]: e["value"] for e in doc["events"]}
    assert values[INSTRUCTIONS[arch]] > 1000000, values[INSTRUCTIONS[arch]]


@t.named("-r stops at an interrupt and reports")
def interrupted_repeat():
    with waiting("sparc64", "-j", "-r", "5") as process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    t.equal(process.returncode, 7, "status")
    t.json.loads(err)


# Repeatability

def lua_script():
    return ("local t = {} for i = 1, 3000 do t['k' .. i] = i end "
            "local n = 0 for k in pairs(t) do n = n + #k end print(n)")


def programs(arch):
    return {"lua": [g("lua", arch), "-e", lua_script()],
            "words": [g("words", arch),
                      t.source("LICENSES", "GPL-2.0-or-later.txt")]}


def everything(program, options=(), **how):
    return t.count(["-e", "all", *options], *program, **how).values


def three_runs(arch, name):
    program = programs(arch)[name]
    first = everything(program)
    for _ in range(2):
        t.same(first, everything(program))


def two_folders(arch, name):
    program = programs(arch)[name]
    with tempfile.TemporaryDirectory() as folder:
        deep = pathlib.Path(folder, "a" * 200, "b" * 100)
        deep.mkdir(parents=True)
        runs = [everything(program, cwd=cwd,
                           env={**os.environ, "PWD": str(cwd)})
                for cwd in ("/", deep)]
    t.same(*runs)


def two_environments(arch, name):
    program = programs(arch)[name]
    plain = {"PATH": os.environ["PATH"]}
    full = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "X": "y" * 5000,
            **{f"VARIABLE_{i}": "v" * i for i in range(150)}}
    t.same(*(everything(program, ["--clean-env"], env=env)
             for env in (plain, full)))


def two_places(arch, name):
    """libc copies the program's path: of that only the length counts."""
    program = programs(arch)[name]
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for place in ("here", "over"):
            path = pathlib.Path(folder, place, "program")
            path.parent.mkdir()
            shutil.copy(program[0], path)
            runs.append(everything([path, *program[1:]], ["--clean-env"]))
    t.same(*runs)


for program in ("lua", "words"):
    at_arch(f"{program}: three runs are equal", program)(three_runs)
    at_arch(f"{program}: two working folders, equal", program)(two_folders)
    at_arch(f"{program}: --clean-env, two environments, equal",
            program)(two_environments)


at_arch("words: --clean-env, two places of the program, equal",
        "words")(two_places)


@at_arch("--clean-env clears, otherwise the environment passes")
def environment(arch):
    env = {"PATH": os.environ["PATH"],
           **{f"V{i}": "1" for i in range(100)}}
    sizes = []
    for options in ([], ["--clean-env"]):
        c = t.count(options, g("args", arch), env=env)
        sizes.append(int(c.stdout.split()[-1]))
    assert sizes[0] > 100 and sizes[1] < 20, sizes


# Regions

ENTER = 12     # at most, to enter and leave work(), and the loop in main()


def region(arch, *options):
    return instructions(arch, g("regions", arch), options=options)


@at_arch("--from work --to done: 60000 turns")
def from_to(arch):
    n = region(arch, "--from", "work", "--to", "done")
    turns = 60000 * PER_TURN[arch]
    assert turns <= n <= turns + 3 * ENTER, n


@at_arch("--from, --to and the whole add up")
def regions_add_up(arch):
    whole = region(arch)
    before = region(arch, "--to", "work")
    middle = region(arch, "--from", "work", "--to", "done")
    after = region(arch, "--from", "done")
    t.equal(before + middle + after, whole, "sum of the parts")


@at_arch("--from warmup --to work: 50000 turns")
def from_to_warmup(arch):
    n = region(arch, "--from", "warmup", "--to", "work")
    turns = 50000 * PER_TURN[arch]
    assert turns <= n <= turns + ENTER, n


@at_arch("--skip N counts the rest, from the block that passes N")
def skip(arch):
    whole = region(arch)
    for n in (1, 1000, 100001):
        over = region(arch, "--skip", n) - (whole - n)
        assert 0 <= over < 64, f"--skip {n}: {over} too many"


@at_arch("--skip of more than there is counts nothing")
def skip_all(arch):
    t.equal(region(arch, "--skip", "1G"), 0, "rest")


@at_arch("--from a function that is never entered counts nothing")
def never_entered(arch):
    t.equal(instructions(arch, g("spin", arch), options=["--from", "abort"]),
            0, "instructions")


@at_arch("regions with all events")
def region_full(arch):
    c = t.count(["-e", "all", "--from", "work", "--to", "done"],
                g("regions", arch))
    t.equal(c[INSTRUCTIONS[arch]],
            region(arch, "--from", "work", "--to", "done"), "instructions")


@at_arch("--from in threads: only work() is counted")
def from_threads(arch):
    """From the first entry of work() on, in the thread that enters it."""
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", event, "--from", "work"], g("threads", arch), 4, 50000)
    turns = 4 * 50000 * PER_TURN[arch]
    assert turns <= c[event] < turns + 20000, c[event]


# Options

@at_arch("-r 3: mean, stddev 0, runs")
def repeat(arch):
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", "all", "-r", 3], g("hello", arch))
    t.equal(c.stdout, "hello\n" * 3, "output")
    for row in c.json["events"]:
        t.equal((row["runs"], row["stddev"]), (3, 0), row["name"])
        t.equal(row["mean"], row["value"], row["name"])
    assert c[event] > 1000, c[event]


@at_arch("instructions alone and with the whole model")
def alone(arch):
    event = INSTRUCTIONS[arch]
    for program in programs(arch).values():
        full = everything(program)
        t.equal(instructions(arch, *program), full[event], "instructions")


GEOMETRIES = [
    # kernel, options, event, count, why
    ("stride_l1d", ["l1d.size=16K"], "Dcache_misses", 1024, "fits: cold"),
    ("stride_l1d", ["l1d.line=64"], "Dcache_misses", 2560,
     "thrashes still; a line holds 4 strides"),
    ("stride_l1d", ["l1d.size=32K", "l1d.ways=8", "l1d.line=64"],
     "Dcache_misses", 256, "fits: cold, a line holds 4 strides"),
    ("stride_l1d_fit", ["l1d.size=2K"], "Dcache_misses", 2560, "thrashes"),
    ("icache_stride", ["l1i.size=64K"], "Icache_misses", 1025, "fits: cold"),
    ("icache_fit", ["l1i.size=4K"], "Icache_misses", 2561, "thrashes"),
    ("chase_l2", ["l2.size=512K"], "L2_load_misses", 65536, "thrashes"),
    ("chase_memory", ["l2.size=32M"], "L2_load_misses", 131072,
     "fits: cold"),
    ("tlb_stride", ["dtlb.entries=256"], "DTLB_miss", 64, "fits: cold"),
    ("tlb_stride", ["dtlb.entries=64"], "DTLB_miss", 64, "just fits"),
    ("stride_l1d", ["tlb.page=4K"], "DTLB_miss", 4, "16 KB of data"),
]


def geometry(kernel, settings, event, wanted):
    options = [word for s in settings for word in ("--set", s)]
    c = t.count(["-m", T2, "-e", event, *options], g(kernel, "sparc64"))
    t.equal(c[event], wanted, event)


for kernel, settings, event, wanted, why in GEOMETRIES:
    t.case(f"{kernel} with {' '.join(settings)}: {why}", geometry, kernel,
           settings, event, wanted)


t.main()
