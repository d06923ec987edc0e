#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The machine's own counters: live_hardware.py BUILD [WORD]

--hardware gives events counters, in turns where there are too few.
"""
import json

import tallytest as t
from live_help import g


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
    t.equal([int(line.split(",")[9]) for line in lines],
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
               "<not-counted>,,Store_instr,0,0.00,,,not-counted,Store_instr\n")
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


@t.named("--hardware on montecito: what fits its counters at once is exact")
def hardware_montecito():
    def check(events, turns, program):
        words = ["-m", "montecito", "-e", ",".join(events)]
        model, counters = (t.count([*words, *how], *program)
                           for how in ([], ["--hardware"]))
        if turns == 1:
            t.same(counters.values, model.values, "counters and model")
        text = t.run(t.tally(), "count", "--hardware", *words, *program).stderr
        t.contains(text, "counted on PMD4 to PMD15 of each strand" +
                   (f", in {turns} turns" if turns > 1 else "; 0 overflow"))
    words = [g("words", "x86_64"), t.source("LICENSES", "MIT.txt")]
    # An event of each kind: plain, L1D set 1, an L2D set, floating, a bit mask.
    check(["CPU_OP_CYCLES", "IA64_INST_RETIRED", "L1D_READS_SET1",
           "DATA_REFERENCES_SET1", "L2D_OPS_ISSUED.INT_LOAD", "L3_MISSES",
           "L3_READS.ALL.ALL", "SYLL_NOT_DISPERSED.ALL", "LOADS_RETIRED",
           "BUS_MEMORY.ALL.ANY"], 2, words)
    check(["CPU_OP_CYCLES", "IA64_INST_RETIRED", "L2D_OPS_ISSUED.INT_LOAD",
           "L3_MISSES", "L3_READS.ALL.ALL", "SYLL_NOT_DISPERSED.ALL",
           "NOPS_RETIRED", "BUS_MEMORY.ALL.ANY"], 1, words)
    # Two L2D sets at once, not three; one set of the L1D (rules R102, R107).
    check(["L2D_OPS_ISSUED.INT_LOAD", "L2D_REFERENCES.ALL"], 1, words)
    check(["L1D_READS_SET0", "L1D_READS_SET1"], 2, words)
    # Banked counters take none of the L3's: six at most (R100, R135).
    check([f"SI_SCB_INSERTS.{e}.EITHER" for e in ("ALL", "MISS")] +
          ["L3_MISSES", "BUS_ALL.SELF", "BUS_MEMORY.ALL.SELF",
           "BUS_RD_DATA.SELF", "BUS_MEM_READ.ALL.SELF"], 2, words)


t.main()
