#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What kernels cost in modelled cycles: timing.py BUILD [WORD]

The costs are those of data/machines/*/machine.toml, the counts those that the
kernels' headers derive. A strand that shares a pipeline is in live_threads.py.
"""
import tallytest as t

T1, T2, T4 = "ultrasparc-t1", "ultrasparc-t2", "sparc-t4"
LOADS = {"chase_l2": 65536, "chase_memory": 262144}
LINES = 16384  # of chase_l2's ring


def times(machine):
    return {key.removeprefix("time."): value
            for key, value in t.parameters(machine).items()
            if key.startswith("time.")}


def cycles(machine, kernel, *options):
    c = t.count(["-m", machine, "-e", "all", *options],
                t.guest(f"{kernel}.sparc64"))
    return {event.lower(): n for event, n in c.values.items()}


def hits_l1(machine):
    """One of class_load.S's 5500 loads misses, cold."""
    time = times(machine)
    far = time["l3"] if machine == T4 else 0
    t.equal(cycles(machine, "class_load")["stall_load"],
            time["l2"] + far + time["memory"], "stall_load")


def chase_l2(machine):
    """The first round comes from memory, the others from the L2, or L3."""
    time = times(machine)
    far = time["l3"] if machine == T4 else 0
    t.equal(cycles(machine, "chase_l2")["stall_load"],
            LOADS["chase_l2"] * (time["l2"] + far) + LINES * time["memory"],
            "stall_load")


def chase_memory(machine):
    time = times(machine)
    far = time["l3"] if machine == T4 else 0
    t.equal(cycles(machine, "chase_memory")["stall_load"],
            LOADS["chase_memory"] * (time["l2"] + far + time["memory"]),
            "stall_load")


def mips(machine, kernel, *options):
    c = t.count(["-m", machine, "-e", "all", *options],
                t.guest(f"{kernel}.mips64"))
    return c.values


def mips_loads(machine):
    """stride_l1d.S from the L2, but for 512 lines; l2_ways.S from memory."""
    time = times(machine)
    t.equal(mips(machine, "stride_l1d")["stall_load"],
            20480 * time["l2"] + 512 * time["memory"], "from the L2")
    t.equal(mips(machine, "l2_ways")["stall_load"],
            150 * (time["l2"] + time["memory"]), "from memory")


def mips_stores(machine):
    """write_back.S: four misses of stores wait at once. On the R12000 the
    table's entries are counted: the fetches and all stores wait."""
    time = times(machine)
    wait = 150 * (time["l2"] + time["memory"])
    c = mips(machine, "write_back")
    t.equal(c["stall_store"], -(-wait // 4), "stall_store")
    t.equal(mips(machine, "write_back", "--set", "miss.entries=1")
            ["stall_store"], wait, "one entry")
    if machine == "r12000":
        t.equal(c["Miss_handling_table_occupancy"], wait + c["stall_fetch"],
                "entries in use")
        t.equal(c["Miss_Handling_Table_entries_accessing_memory"],
                (150 + c["Secondary_instruction_cache_misses"]) *
                time["memory"], "entries that wait for memory")


def mips_branches(machine):
    """targets.S and taken.S; the R12000 pays for the targets that it lacks."""
    time = times(machine)
    lacked = machine == "r12000"
    for kernel, taken, missed, wrong in (("targets", 498, 301, 4),
                                         ("taken", 2499, 3, 503)):
        t.equal(mips(machine, kernel)["stall_branch"],
                (missed if lacked else taken) * time["taken"] +
                wrong * time["mispredict"], kernel)


def mips_issue(machine):
    """class_load.S: a quarter of the instructions; those of other units."""
    c = mips(machine, "class_load")
    done = c["completed_instructions"]
    other = done - c["Graduated_loads"] - c["Graduated_stores"]
    unit = ("ALU_FPU_progress_cycles" if machine == "r12000" else
            "ALU_FPU_completion_cycles")
    t.equal(c["issue_cycles"], done // 4, "issue_cycles")
    t.equal(c[unit], other // 4, unit)


def mips_tlb(machine):
    c = mips(machine, "tlb_thrash")
    t.equal(c["stall_tlb"], c["TLB_misses"] * times(machine)["walk"],
            "stall_tlb")
    assert c["TLB_data_misses"] == 2560, c["TLB_data_misses"]


def issue_width(width):
    c = cycles(T2, "class_other", "--set", f"time.issue={width}")
    t.equal(c["issue_cycles"], c["all_instr"] // width, "issue_cycles")


@t.named("a SPARC T4 issues two a cycle, in groups of a block's parts")
def t4_width():
    """class_other.S: of a round 15, a save and 4 from its restore on; one more
    before the first round, 3 to exit."""
    rounds = 500
    one = cycles(T4, "class_other", "--set", "time.issue=1")
    t.equal(one["issue_cycles"], one["all_instructions"], "one at a time")
    t.equal(cycles(T4, "class_other")["issue_cycles"],
            rounds * (8 + 1 + 2) + 2, "two at a time")


@t.named("each misprediction drains the SPARC T4's pipeline")
def t4_penalty():
    """As penalty(), by the machine's own cycles."""
    c = cycles(T4, "predict", "--set", "branch.predictor=bimodal", "--set",
               "branch.entries=2048")
    drained = 1516 * times(T4)["mispredict"]
    t.equal(c["sel-pipe-drain-cycles"], drained, "Sel-pipe-drain-cycles")
    t.equal(c["stall_branch"], drained + c["taken_branches"], "stall_branch")


@t.named("each misprediction costs the penalty")
def penalty():
    """predict.S's header has them for 2048 counters of two bits."""
    c = cycles(T2, "predict", "--set", "branch.predictor=bimodal", "--set",
               "branch.entries=2048", "--set", "time.taken=0", "--set",
               "time.mispredict=24")
    t.equal(c["stall_branch"], 1516 * 24, "stall_branch")


@t.named("each taken branch costs its cycles")
def taken():
    c = cycles(T2, "predict")
    t.equal(c["stall_branch"], (3998 + 1000) * times(T2)["taken"],
            "stall_branch")


@t.named("more ways of an LRU cache never miss more")
def more_ways():
    """The sets stay the same, so each holds all that it held with fewer."""
    before = None
    for ways in (1, 2, 4, 8, 16):
        c = t.Count(["-m", T2, "-e", "L2_load_misses,L2_instr_misses,stall_load"
                     ",stall_fetch", "--set", f"l2.ways={ways}", "--set",
                     f"l2.size={ways * 16}K"],
                    [t.guest("bzip2.sparc64"), "-9kc",
                     t.source("LICENSES", "GPL-2.0-or-later.txt")]).values
        for event, n in (before or c).items():
            assert c[event] <= n, f"{ways} ways: {event} {n}, then {c[event]}"
        before = c


for name in (T1, T2, T4):
    t.case(f"loads that hit the L1 wait for nothing: {name}", hits_l1, name)
    t.case(f"a chase in the L2 costs its latency: {name}", chase_l2, name)
    t.case(f"a chase in memory costs its latency: {name}", chase_memory, name)
for name in ("r10000", "r12000"):
    t.case(f"loads cost the latency of their level: {name}", mips_loads, name)
    t.case(f"misses of stores overlap: {name}", mips_stores, name)
    t.case(f"taken branches and mispredictions: {name}", mips_branches, name)
    t.case(f"four instructions a cycle: {name}", mips_issue, name)
    t.case(f"a TLB miss costs its refill: {name}", mips_tlb, name)
for lanes in (1, 2, 4):
    t.case(f"independent instructions issue {lanes} a cycle", issue_width,
           lanes)
t.main()
