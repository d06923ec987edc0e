#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Threads and modelled time: live_threads.py BUILD [WORD]

Threads add up, each on a strand of its own; strands share pipelines; -I.
"""
import json
import pathlib
import re
import tempfile

import tallytest as t
from live_help import PER_TURN, INSTRUCTIONS, T2, g, at_arch, strands

TERMS = ("issue_cycles", "stall_fetch", "stall_load", "stall_store",
         "stall_branch", "stall_tlb", "stall_window", "stall_atomic",
         "stall_fp", "stall_issue")


# Threads

# What the library does besides depends on who comes first to its locks.
WORK = ["--filter", "code=work"]

def in_work(arch, threads, turns, options=()):
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", event, "--from", "work", *options],
                g("threads", arch), threads, turns)
    return c, event


@at_arch("4 threads of 100000 turns")
def threads_add_up(arch):
    """A turn more in each thread: the difference is exact."""
    event = INSTRUCTIONS[arch]
    runs = [t.count(["-e", event, *WORK], g("threads", arch), 4, turns)
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
    c = t.count(["-e", INSTRUCTIONS[arch], *WORK], g("threads", arch), 200,
                1000)
    per_thread = strands(c, INSTRUCTIONS[arch])
    t.equal(len(per_thread), 201, "strands")
    t.equal(len(set(per_thread[1:])), 1, "kinds of threads")
    assert per_thread[1] >= 1000 * PER_TURN[arch], per_thread[1]
    t.equal(sum(per_thread), c[INSTRUCTIONS[arch]], "sum of the strands")


@at_arch("threads repeat, whatever their interleaving")
def threads_repeat(arch):
    event = INSTRUCTIONS[arch]
    once, again = (strands(t.count(["-e", event, *WORK], g("threads", arch), 3,
                                   50000), event) for _ in range(2))
    t.equal(once, again, "counts of the threads")


@at_arch("full model with threads")
def threads_full(arch):
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", "all"], g("threads", arch), 4, 100000)
    per_thread = strands(c, event)
    t.equal(sum(per_thread), c[event], "sum of the strands")
    c = t.count(["-e", "all", *WORK], g("threads", arch), 4, 100000)
    t.equal(len(set(strands(c, event)[1:])), 1, "kinds of threads")


@t.named("4200 threads at once: all are counted, or the report says which lack")
def throng():
    """A region has room for the counts of 4096; those of the others come into
    it when they end, and are lost when the process is killed before."""
    count, room = 4200, 4096
    words = ["count", "-m", "host-model", "-j", "--strict", "-e",
             "instructions", *WORK, "--", g("throng", "x86_64"), count]
    done = t.run(t.tally(), *words)
    if done.returncode == 3:
        raise t.Skip(f"{count} threads cannot be had here")
    t.equal(done.returncode, 0, "status")
    report = json.loads(done.stderr)
    t.equal(report["events"][0]["value"], count * 2002, "instructions")
    t.equal(report["lost_threads"], 0, "threads not counted")
    t.equal(len(report["strands"]), count + 1, "rows")
    done = t.run(t.tally(), *words, "kill")
    report = json.loads(done.stderr)
    t.equal(report["lost_threads"], count + 1 - room, "threads not counted")
    t.equal(report["events"][0]["fidelity"], "partial", "fidelity")


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


@at_arch("-I with -r: each row has the number of its run")
def numbered(arch):
    event = INSTRUCTIONS[arch]
    command = [t.tally(), "count", *t.modelled(f".{arch}"), "-I", 1, "-r", 2,
               "-e", event]
    program = ["--", g("hello", arch)]
    rows = t.run(*command, "-x,", "--summary", *program).stderr.splitlines()
    t.equal([row.split(",")[0] for row in rows], ["1", "2", "all"], "CSV")
    t.equal(rows[-1].split(",")[1], "summary", "summary")
    lines = t.run(*command, "-j", *program).stderr.splitlines()
    t.equal([json.loads(line)["run"] for line in lines], [1, 2], "JSON")
    text = t.run(*command, *program).stderr.splitlines()
    t.equal([line[:6] for line in text[:2]], ["run 1 ", "run 2 "], "text")
    once = t.run(*command[:-4], "-e", event, "-j", *program).stderr
    assert "run" not in json.loads(once), once


@at_arch("-I: all intervals together are the run, and repeat")
def intervals_add_up(arch):
    machine = {"sparc64": T2, "x86_64": "skylake", "aarch64": "neoverse-n1",
               "riscv64": "sifive-u74"}.get(arch, "r10000")
    options = ["-m", machine, "-e", "all"]
    with tempfile.TemporaryDirectory() as folder:
        piece = pathlib.Path(folder, "piece")
        piece.write_bytes(pathlib.Path(g("hello", arch)).read_bytes()[:150000])
        program = [g("bzip2", arch), "-9kc", piece]
        whole = t.Count(options, program)
        rows, sums = intervals([*options, "-I", 2], *program)
        t.same(sums, whole.values, "sum of the intervals and the whole")
        again, _ = intervals([*options, "-I", 2], *program)
        t.equal(again, rows, "the intervals again")
    assert len(rows) > 3, f"{len(rows)} intervals"
    off = rows[-1]["at_s"] - whole.json["modelled_s"]
    assert abs(off) < 2e-9, f"the end is {off} s off"
    # The next look at the clock is planned by the pace of the last: where the
    # pace changes threefold, as in bzip2 of aarch64, an interval may be of two.
    ends = [round(row["at_s"] * 500, 6) for row in rows[:-1]]
    if arch == "aarch64":
        t.equal(ends, sorted({int(end) for end in ends}), "ends, times 2 ms")
        assert len(ends) > 2 and ends[-1] <= len(ends) + 1, ends
    else:
        t.equal(ends, list(range(1, len(ends) + 1)), "ends, times 2 ms")


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


@t.named("--per-thread in text shows each thread")
def per_thread_text():
    done = t.run(t.tally(), "count", "--per-thread", "-e", "All_instr",
                 g("threads", "sparc64"), 2, 1000)
    for n in range(3):
        t.contains(done.stderr, f" thread {n}, strand ")


t.main()
