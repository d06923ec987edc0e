#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs on Montecito: montecito_core.py BUILD [WORD]

What test/guest/x86_64/bundles.S says of itself, and the sums of the manual on
real programs, exactly: rules R470 to R475, and what doc/models/montecito.md
says adds up. Programs of each instruction set that has them.
"""
import functools
import pathlib

import tallytest as t
from programs import PROGRAMS

t.cases.clear()  # of programs.py

M = "montecito"
N, DEPTH = 1000, 20
THRESHOLDS = range(1, 6)


def named(event, *masks):
    return [f"{event}.{mask}" for mask in masks]


EVENTS = [
    "CPU_OP_CYCLES.ALL", "IA64_INST_RETIRED.THIS", "NOPS_RETIRED",
    "PREDICATE_SQUASHED_RETIRED",
    *[f"IA64_INST_RETIRED.THIS:thr={n}" for n in THRESHOLDS],
    "INST_DISPERSED", "DISP_STALLED", "LOADS_RETIRED_INTG",
    *named("SYLL_NOT_DISPERSED", "EXPL", "IMPL", "FE", "MLX", "ALL"),
    *named("SYLL_OVERCOUNT", "EXPL", "IMPL", "ALL"),
    *named("BACK_END_BUBBLE", "ALL", "FE", "L1D_FPU_RSE"),
    *named("BE_RSE_BUBBLE", "ALL", "OVERFLOW", "UNDERFLOW"),
    *named("BE_EXE_BUBBLE", "ALL", "GRALL", "FRALL"),
    *named("BE_L1D_FPU_BUBBLE", "ALL", "L1D", "L1D_HPW", "L1D_FULLSTBUF"),
    *named("BE_FLUSH_BUBBLE", "ALL", "BRU", "XPN"),
    *named("FE_BUBBLE", "ALL", "FEFLUSH", "GROUP2", "IBFULL", "IMISS",
           "TLBMISS", "BUBBLE", "ALLBUT_IBFULL", "ALLBUT_FEFLUSH_BUBBLE"),
    *named("FE_LOST_BW", "ALL", "FEFLUSH", "UNREACHED", "IBFULL", "IMISS",
           "TLBMISS", "BUBBLE"),
    *named("BE_LOST_BW_DUE_TO_FE", "ALL", "UNREACHED", "IMISS", "TLBMISS",
           "BUBBLE"),
    *named("IDEAL_BE_LOST_BW_DUE_TO_FE", "ALL", "FEFLUSH", "UNREACHED"),
    *[f"{event}.{kind}.{what}" for event, whats in (
        ("BR_MISPRED_DETAIL", ("ALL_PRED", "CORRECT_PRED")),
        ("BR_PATH_PRED", ("OKPRED_TAKEN",)))
      for kind in ("ALL", "IPREL", "RETURN", "NRETIND") for what in whats],
    *named("BR_MISPRED_DETAIL", "ALL.WRONG_PATH", "ALL.WRONG_TARGET",
           "RETURN.WRONG_TARGET", "NRETIND.WRONG_TARGET"),
    *named("BR_PATH_PRED", "ALL.MISPRED_TAKEN", "ALL.MISPRED_NOTTAKEN",
           "ALL.OKPRED_NOTTAKEN"),
    "RSE_EVENT_RETIRED",
    *named("RSE_REFERENCES_RETIRED", "LOAD", "STORE", "ALL"),
    *[f"RSE_{what}_REGS_{bits}" for what in ("CURRENT", "DIRTY")
      for bits in ("6", "5_TO_3", "2_TO_0")],
    *named("CPU_CPL_CHANGES", "LVL0", "LVL3", "ALL"),
]


def count(program, *arguments, options=()):
    return t.count(["-m", M, "-e", ",".join(EVENTS), *options],
                   t.guest(program), *arguments)


def retiring(c):
    """Cycles that retire: each threshold leaves out one more instruction."""
    return c["IA64_INST_RETIRED.THIS"] - sum(
        c[f"IA64_INST_RETIRED.THIS:thr={n}"] for n in THRESHOLDS)


def registers(c, what):
    return sum(c[f"RSE_{what}_REGS_{bits}"] * weight for bits, weight in
               (("6", 64), ("5_TO_3", 8), ("2_TO_0", 1)))


def adds_up(c, whole, *parts):
    t.equal(sum(c[part] for part in parts), c[whole], whole)


def check_cycles(c):
    """R471 and R472."""
    t.equal(c["BACK_END_BUBBLE.ALL"] + retiring(c), c["CPU_OP_CYCLES.ALL"],
            "bubbles and cycles that retire")
    adds_up(c, "BACK_END_BUBBLE.ALL", "BE_RSE_BUBBLE.ALL", "BE_EXE_BUBBLE.ALL",
            "BE_L1D_FPU_BUBBLE.ALL", "BE_FLUSH_BUBBLE.ALL",
            "BACK_END_BUBBLE.FE")
    adds_up(c, "BACK_END_BUBBLE.L1D_FPU_RSE", "BE_RSE_BUBBLE.ALL",
            "BE_L1D_FPU_BUBBLE.ALL")
    for event, parts in (("BE_RSE", ("OVERFLOW", "UNDERFLOW")),
                         ("BE_EXE", ("GRALL", "FRALL")),
                         ("BE_FLUSH", ("BRU", "XPN"))):
        adds_up(c, f"{event}_BUBBLE.ALL",
                *named(f"{event}_BUBBLE", *parts))
    t.equal(c["BE_FLUSH_BUBBLE.BRU"], t.parameters(M)["time.mispredict"] *
            (c["BR_MISPRED_DETAIL.ALL.WRONG_PATH"] +
             c["BR_MISPRED_DETAIL.ALL.WRONG_TARGET"]), "flushes of branches")


def check_dispersal(c):
    """R470, and the four reasons."""
    t.equal(c["INST_DISPERSED"] + c["SYLL_NOT_DISPERSED.ALL"] -
            c["SYLL_OVERCOUNT.ALL"],
            6 * (c["CPU_OP_CYCLES.ALL"] - c["DISP_STALLED"]), "dispersal")
    adds_up(c, "SYLL_NOT_DISPERSED.ALL",
            *named("SYLL_NOT_DISPERSED", "EXPL", "IMPL", "FE", "MLX"))
    adds_up(c, "SYLL_OVERCOUNT.ALL", *named("SYLL_OVERCOUNT", "EXPL", "IMPL"))
    t.equal(c["SYLL_NOT_DISPERSED.FE"], 3 * c["BE_LOST_BW_DUE_TO_FE.ALL"],
            "three syllables a bundle")
    assert c["INST_DISPERSED"] > c["IA64_INST_RETIRED.THIS"], "wrong paths"


def check_front_end(c):
    causes = ("FEFLUSH", "IMISS", "TLBMISS", "BUBBLE", "IBFULL")
    adds_up(c, "FE_BUBBLE.ALL", *named("FE_BUBBLE", *causes))
    adds_up(c, "FE_BUBBLE.GROUP2", *named("FE_BUBBLE", "IMISS", "TLBMISS"))
    adds_up(c, "FE_LOST_BW.ALL", *named("FE_LOST_BW", *causes, "UNREACHED"))
    for cause in causes:
        t.equal(c[f"FE_LOST_BW.{cause}"], 2 * c[f"FE_BUBBLE.{cause}"], cause)
    lost = c["FE_LOST_BW.ALL"] - c["FE_LOST_BW.IBFULL"]
    t.equal(c["IDEAL_BE_LOST_BW_DUE_TO_FE.ALL"], lost, "at the exit")
    t.equal(c["BE_LOST_BW_DUE_TO_FE.ALL"], lost - c["FE_LOST_BW.FEFLUSH"],
            "at the exit, the back end ready")
    t.equal(c["BACK_END_BUBBLE.FE"] * 2 + c["FE_LOST_BW.UNREACHED"],
            c["BE_LOST_BW_DUE_TO_FE.ALL"], "bubbles of the front end")


def check_branches(c):
    """What is foretold is right or wrong, but for the last branch."""
    for kind in ("ALL", "IPREL", "RETURN", "NRETIND"):
        if kind != "ALL":
            assert c[f"BR_MISPRED_DETAIL.{kind}.ALL_PRED"] > 0, kind
    for what in ("ALL_PRED", "CORRECT_PRED"):
        adds_up(c, f"BR_MISPRED_DETAIL.ALL.{what}",
                *[f"BR_MISPRED_DETAIL.{kind}.{what}" for kind in
                  ("IPREL", "RETURN", "NRETIND")])
    adds_up(c, "BR_MISPRED_DETAIL.ALL.ALL_PRED",
            *named("BR_MISPRED_DETAIL.ALL", "CORRECT_PRED", "WRONG_PATH",
                   "WRONG_TARGET"))
    adds_up(c, "BR_MISPRED_DETAIL.ALL.ALL_PRED",
            *named("BR_PATH_PRED.ALL", "MISPRED_TAKEN", "MISPRED_NOTTAKEN",
                   "OKPRED_TAKEN", "OKPRED_NOTTAKEN"))
    adds_up(c, "BR_MISPRED_DETAIL.ALL.WRONG_PATH",
            *named("BR_PATH_PRED.ALL", "MISPRED_TAKEN", "MISPRED_NOTTAKEN"))


def check_frames(c):
    adds_up(c, "RSE_REFERENCES_RETIRED.ALL",
            *named("RSE_REFERENCES_RETIRED", "LOAD", "STORE"))
    t.equal(c["BE_RSE_BUBBLE.ALL"], c["RSE_REFERENCES_RETIRED.ALL"],
            "one register a cycle")
    assert registers(c, "CURRENT") + registers(c, "DIRTY") <= \
        96 * c["RSE_EVENT_RETIRED"], "registers"
    for level in ("LVL0", "LVL3"):
        t.equal(c[f"CPU_CPL_CHANGES.{level}"], c["CPU_CPL_CHANGES.ALL"], level)


def adds_up_on(program, *arguments):
    c = count(program, *arguments)
    for check in (check_cycles, check_dispersal, check_front_end,
                  check_branches, check_frames):
        check(c)
    if program.split(".")[0] not in ("bzip2", "lua"):
        return  # Others read clocks: two runs may differ.
    own = t.count(["-m", "host-model", "--foreign", "-e", "instructions"],
                  t.guest(program), *arguments)
    t.equal(c["IA64_INST_RETIRED.THIS"] - c["NOPS_RETIRED"],
            own["instructions"] + c["PREDICATE_SQUASHED_RETIRED"],
            "instructions of the program")


def frames_of(depth):
    """Spills, current and dirty registers of so many calls, each in the one
    before: a frame at a time."""
    p = t.parameters(M)
    frame, outputs = p["rse.frame"], p["rse.outputs"]
    spills = current = dirty = before = 0
    for _ in range(depth):
        current += frame + outputs
        dirty += before
        before += frame - outputs
        dirty += before
        spills += max(0, before + frame - p["rse.registers"])
        before = min(before, p["rse.registers"] - frame)
    for _ in range(depth):
        current += frame
        dirty += before
        before = max(0, before - (frame - outputs))
    return spills, current, dirty


@t.named("bundles.S: what its header says")
def kernel():
    c = count("bundles.x86_64")
    p = t.parameters(M)
    spills, current, dirty = frames_of(DEPTH)
    cycles = 1 + 2 * N + 1 + DEPTH + DEPTH - 1 + DEPTH + 2
    nops = 1 + N + 1 + DEPTH + 2 * (DEPTH - 1) + 2 * DEPTH + 3
    blocks = 1 + N + 1 + DEPTH + DEPTH - 1 + DEPTH + 1
    t.same({
        "IA64_INST_RETIRED.THIS": 3 * cycles,
        "IA64_INST_RETIRED.THIS:thr=2": cycles,
        "IA64_INST_RETIRED.THIS:thr=3": 0,
        "NOPS_RETIRED": nops,
        "SYLL_NOT_DISPERSED.EXPL": 3,
        "SYLL_NOT_DISPERSED.IMPL": 3 * N,
        "SYLL_NOT_DISPERSED.MLX": 0,
        "SYLL_OVERCOUNT.ALL": 0,
        "BE_LOST_BW_DUE_TO_FE.UNREACHED": blocks,
        "BR_MISPRED_DETAIL.IPREL.ALL_PRED": N + 3 * DEPTH - DEPTH + 1,
        "BR_MISPRED_DETAIL.RETURN.ALL_PRED": DEPTH,
        "BR_MISPRED_DETAIL.NRETIND.ALL_PRED": 0,
        "RSE_EVENT_RETIRED": 3 * DEPTH,
        "RSE_REFERENCES_RETIRED.STORE": spills,
        "RSE_REFERENCES_RETIRED.LOAD": spills,
        "current": current, "dirty": dirty,
        "LOADS_RETIRED_INTG": 3 * N + DEPTH,  # and what the returns pop
        "CPU_CPL_CHANGES.ALL": 2,
        # The return stack knows the last of them.
        "BR_MISPRED_DETAIL.RETURN.WRONG_TARGET": DEPTH - p["return.depth"],
    }, {**{e: c[e] for e in (
        "IA64_INST_RETIRED.THIS", "IA64_INST_RETIRED.THIS:thr=2",
        "IA64_INST_RETIRED.THIS:thr=3", "NOPS_RETIRED", "SYLL_NOT_DISPERSED.EXPL",
        "SYLL_NOT_DISPERSED.IMPL", "SYLL_NOT_DISPERSED.MLX",
        "SYLL_OVERCOUNT.ALL", "BE_LOST_BW_DUE_TO_FE.UNREACHED",
        "BR_MISPRED_DETAIL.IPREL.ALL_PRED",
        "BR_MISPRED_DETAIL.RETURN.ALL_PRED",
        "BR_MISPRED_DETAIL.NRETIND.ALL_PRED", "RSE_EVENT_RETIRED",
        "RSE_REFERENCES_RETIRED.STORE", "RSE_REFERENCES_RETIRED.LOAD",
        "LOADS_RETIRED_INTG", "CPU_CPL_CHANGES.ALL",
        "BR_MISPRED_DETAIL.RETURN.WRONG_TARGET")},
        "current": registers(c, "CURRENT"),
        "dirty": registers(c, "DIRTY")}, "the header and tally")
    check_cycles(c)
    check_dispersal(c)
    check_front_end(c)


@t.named("a parameter moves the cycles that it is of, and the sums hold")
def parameters_move():
    for options in (["time.taken=2"], ["time.system=100", "time.register=3"],
                    ["time.resolve=0"], ["time.fp=0", "time.mispredict=2"]):
        c = count("hello.x86_64", options=[
            word for option in options for word in ("--set", option)])
        t.equal(c["BACK_END_BUBBLE.ALL"] + retiring(c), c["CPU_OP_CYCLES.ALL"],
                str(options))
        check_front_end(c)
        if "time.taken=2" in options:
            t.equal(c["FE_BUBBLE.BUBBLE"], 2 * (
                c["BR_PATH_PRED.ALL.OKPRED_TAKEN"] +
                c["BR_PATH_PRED.ALL.MISPRED_TAKEN"]), "taken branches")


SHARES = ("exception", "branch", "data", "execution", "rse", "front_end",
          "unstalled")


@t.named("the shares of the six reasons and of the cycles that retire: 100")
def shares():
    names = [f"{reason}_cycles_share" for reason in SHARES]
    c = t.count(["-m", M, "-M", ",".join(names), "--set", "time.system=9"],
                t.guest("lua.x86_64"), "-e", "print(math.sin(1))")
    values = {m["name"]: m["value"] for m in c.json["metrics"]}
    t.equal(sorted(values), sorted(names), "metrics")
    assert min(values.values()) > 0, values
    t.equal(round(sum(values.values()), 6), 100, "their sum")


def add_cases():
    for program, arguments in PROGRAMS.items():
        for isa in ("x86_64", "sparc64", "mips64"):
            guest = f"{program}.{isa}"
            if pathlib.Path(t.guest(guest)).exists():
                t.case(f"{guest} adds up", adds_up_on, guest, *arguments)


if __name__ == "__main__":
    t.main(add_cases)
