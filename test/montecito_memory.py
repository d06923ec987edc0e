#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Montecito's caches, TLBs and bus: montecito_memory.py BUILD

What test/guest/pattern.c does in a round is arithmetic, and the same in each
but the first, which finds all cold: two runs differ by their rounds alone. Two
threads that meet on a line are test/guest/turns.c.
"""
import tallytest as t

MACHINE = "montecito"
ROUNDS = (2, 5)
# An L3 of 12288 lines, and pages that make no misses of their own.
SMALL = ["l3.size=1536K", "tlb.page=1M", "dtlb.first=512"]
PLAIN = ("prefetch.lines=0",)
MEMORY, L3, L2 = 166, 9, 4  # time.memory, time.l3, time.l2
PAGE = 64  # lines of 4 KB
TURNS = 1500  # of each thread
SOME = 120  # lines of the C library that the threads share


def run(kind, step, count, rounds, sets):
    sets = [word for s in sets for word in ("--set", s)]
    return t.count(["-m", MACHINE, *sets, "-e", "all"],
                   t.guest("pattern.x86_64"), kind, str(step), str(count),
                   str(rounds))


def by_round(kind, step, count, sets=()):
    """event: what a round adds to it; all of them."""
    few, many = (run(kind, step, count, n, sets) for n in ROUNDS)
    rounds = ROUNDS[1] - ROUNDS[0]
    added = {e: many[e] - few[e] for e in few.values}
    return {e: n / rounds for e, n in added.items()}


def check(kind, step, count, sets, wanted):
    """Code has a call and a return a round besides, and the loop around them:
    a few lines more of those that all miss."""
    got = by_round(kind, step, count, sets)
    if kind == "x":
        got = {e: wanted[e] if wanted.get(e, 0) <= n <= wanted.get(e, 0) *
               (1 + 4 / count) else n for e, n in got.items() if e in wanted}
    t.same({e: got[e] for e in wanted}, wanted, "a round and arithmetic")


PATTERNS = [
    ("loads that the L1D has", ("r", 64, 128), (), lambda n: {
        "L1D_READ_MISSES.ALL": 0, "L2D_REFERENCES.ALL": 0, "BUS_ALL.SELF": 0,
    }),
    ("loads beyond the L1D, that the L2D has", ("r", 64, 512), (), lambda n: {
        "L1D_READ_MISSES.ALL": n, "L2D_REFERENCES.READS": n,
        "L2D_REFERENCES.WRITES": 0, "L2D_INSERT_HITS": n,
        "L2D_FORCE_RECIRC.TAG_OK": n, "L2D_INSERT_MISSES": 0,
        "L2D_OPS_ISSUED.INT_LOAD": n, "L2D_OPS_ISSUED.FP_LOAD": 0,
        "L2D_BYPASS.L2_DATA1": n, "L3_REFERENCES": 0,
    }),
    ("loads beyond the L2D, that the L3 has", ("r", 128, 8192),
     ("dtlb.first=512",), lambda n: {
        "L1D_READ_MISSES.ALL": n, "L2D_INSERT_HITS": 0,
        "L2D_INSERT_MISSES": n, "L2D_MISSES": n,
        "L2D_FILL_MESI_STATE.E": n, "L2D_FILL_MESI_STATE.M": 0,
        "L3_READS.DATA_READ.HIT": n, "L3_READS.ALL.ALL": n,
        "L3_REFERENCES": n, "L3_MISSES": 0, "L3_WRITES.ALL.ALL": 0,
        "L2D_BYPASS.L3_DATA1": n, "ER_BRQ_REQ_INSERTED": n,
        "ER_BRQ_LIVE_REQ_LO": n * L3, "BUS_ALL.SELF": 0,
        "L1DTLB_TRANSFER": 0,
    }),
    ("loads from memory", ("r", 128, 24576), SMALL, lambda n: {
        "L3_READS.DATA_READ.MISS": n, "L3_MISSES": n, "L3_INSERTS": n,
        "L3_LINES_REPLACED": n, "BUS_RD_DATA.SELF": n,
        "BUS_MEM_READ.BRL.EITHER": n, "BUS_MEM_READ.ALL.ANY": n,
        "BUS_MEMORY.EQ_128BYTE.SELF": 2 * n, "BUS_MEMORY.ALL.SELF": 2 * n,
        "BUS_ALL.SELF": 2 * n, "BUS_WR_WB.CCASTOUT.SELF": n,
        "BUS_WR_WB.EQ_128BYTE.SELF": 0, "SI_CCQ_INSERTS.SELF": n,
        "SI_CCQ_LIVE_REQ_LO.SELF": 2 * n, "SI_RQ_INSERTS.SELF": n,
        "SI_RQ_LIVE_REQ_LO.SELF": 2 * n, "SI_WRITEQ_INSERTS.EWB.SELF": 0,
        "SI_IOQ_LIVE_REQ_LO": 2 * 4 * n, "SI_SCB_INSERTS.MISS.EITHER": 2 * n,
        "SI_SCB_INSERTS.ALL.EITHER": 2 * n, "SI_SCB_SIGNOFFS.MISS": n,
        "SI_SCB_SIGNOFFS.ALL": n, "SI_SCB_LIVE_REQ_LO.EITHER": 8 * n,
        "ER_SNOOPQ_REQ_LO": 4 * 8 * n, "BUS_DATA_CYCLE.SELF": 4 * n,
        "BUS_B2B_DATA_CYCLES.SELF": 3 * n, "ER_MEM_READ_OUT_LO": MEMORY * n,
        "ER_MEM_READ_OUT_HI": 0, "ER_BRQ_LIVE_REQ_LO": (MEMORY + L3) * n,
        "L2D_BYPASS.L2_DATA1": 0, "L2D_FILLB_FULL.THIS": 0,
    }),
    ("stores to memory", ("w", 128, 24576), SMALL, lambda n: {
        "L1D_READ_MISSES.ALL": 0, "L2D_REFERENCES.WRITES": n,
        "L2D_OPS_ISSUED.STORE": n, "L2D_OPS_ISSUED.RMW": 0,
        "L2D_FILL_MESI_STATE.M": n, "L3_WRITES.DATA_WRITE.MISS": n,
        "L3_WRITES.L2_WB.HIT": n, "L3_WRITES.ALL.ALL": 2 * n,
        "L3_REFERENCES": 2 * n, "L3_LINES_REPLACED": n,
        "BUS_MEM_READ.BRIL.SELF": n, "BUS_WR_WB.EQ_128BYTE.SELF": n,
        "BUS_WR_WB.CCASTOUT.SELF": 0, "SI_WRITEQ_INSERTS.EWB.SELF": n,
        "SI_WRITEQ_INSERTS.ALL.EITHER": n,
        "SI_WRITEQ_LIVE_REQ_LO.EITHER": 2 * n,
        "BUS_DATA_CYCLE.SELF": 8 * n, "BUS_B2B_DATA_CYCLES.SELF": 6 * n,
        # Sixteen at a time.
        "ER_MEM_READ_OUT_LO": 0, "ER_MEM_READ_OUT_HI": n / 8 * MEMORY,
        "ER_BRQ_LIVE_REQ_HI": n / 8 * (MEMORY + L3),
        "L2D_FILLB_FULL.THIS": n / 16 * MEMORY,
        # The next is refused; but the last's, each has driven out a line.
        "L2D_L3ACCESS_CANCEL.ER_REJECT": n / 16,
        "L2D_VICTIMB_FULL.THIS": n / 16 * (15 - 7) * L3,
        "L2D_INSERT_MISSES": n, "L2D_FORCE_RECIRC.SECONDARY_READ": 0,
    }),
    ("loads of what stores still have out", ("b", 128, 24576), SMALL,
     lambda n: {
        "L2D_FORCE_RECIRC.SECONDARY_READ": n, "L2D_ISSUED_RECIRC_OZQ_ACC": n,
        "L2D_INSERT_MISSES": 2 * n, "L2D_INSERT_HITS": 0, "L2D_MISSES": n,
        "L2D_OPS_ISSUED.INT_LOAD": n, "L2D_BYPASS.L2_DATA1": 0,
        "ER_MEM_READ_OUT_LO": MEMORY * n, "L2D_VICTIMB_FULL.THIS": 0,
        "BE_EXE_BUBBLE.GRALL": (L2 + L3 + MEMORY) * n,
    }),
    ("loads of what a full burst has out, which is there",
     ("b", 128, 24576), (*SMALL, "bus.reads=1"), lambda n: {
        "L2D_FORCE_RECIRC.SECONDARY_READ": 0, "L2D_INSERT_HITS": n,
        "L2D_MISSES": n, "L2D_FILLB_FULL.THIS": MEMORY * n,
        "BE_EXE_BUBBLE.GRALL": L2 * n,
    }),
    ("atomics, which wait for the lines of stores", ("s", 128, 24576), SMALL,
     lambda n: {
        "L2D_OZQ_CANCELS0.SEMA": n, "L2D_OZQ_CANCELS1.ANY": n,
        "L2D_FORCE_RECIRC.SECONDARY_READ": 0, "L2D_INSERT_MISSES": n,
        "ER_MEM_READ_OUT_LO": MEMORY * n, "L2D_L3ACCESS_CANCEL.ER_REJECT": 0,
        "BE_EXE_BUBBLE.GRALL": (5 + L3 + MEMORY) * n,
    }),
    ("code whose lines stores still have out", ("c", 128, 4096),
     ("l2i.size=128K", "l2.size=64K", "l3.size=192K", *PLAIN), lambda n: {
        "L2I_READS.MISS.DMND": n, "L2I_L3_REJECTS.MISS.DMND": n,
        "L2I_L3_REJECTS.ALL.ALL": n, "L2I_L3_REJECTS.MISS.PFTCH": 0,
    }),
    ("atomics, which wait for memory", ("a", 128, 24576), SMALL, lambda n: {
        "L2D_REFERENCES.READS": n, "L2D_REFERENCES.WRITES": n,
        "L2D_REFERENCES.ALL": 2 * n, "L2D_OPS_ISSUED.RMW": n,
        "L2D_OPS_ISSUED.STORE": 0, "L2D_OZQ_ACQUIRE": 5 * n,
        "L2D_OZQ_RELEASE": 0, "L2D_OZQ_CANCELS0.SEMA": 0,
        "BUS_MEM_READ.BRIL.SELF": n,
        "ER_MEM_READ_OUT_LO": MEMORY * n, "ER_MEM_READ_OUT_HI": 0,
    }),
    ("floating-point loads pass the L1D by", ("f", 64, 128), (), lambda n: {
        "L1D_READS_SET0": 0, "L1D_READS_SET1": 0, "DATA_REFERENCES_SET0": n,
        "DATA_REFERENCES_SET1": n, "L1D_READ_MISSES.ALL": 0,
        "L2D_OPS_ISSUED.FP_LOAD": n, "L2D_REFERENCES.READS": n,
        "L2D_INSERT_HITS": n,
    }),
    ("serializing instructions", ("z", 64, 4096), (), lambda n: {
        "SERIALIZATION_EVENTS": n, "BE_FLUSH_BUBBLE.XPN": 6 * n,
        "CPU_CPL_CHANGES.ALL": 0,
    }),
    # Of 16 places in a row.
    ("loads of 4 bytes, six of which lie within 8 bytes", ("i", 1, 4096), (),
     lambda n: {"MISALIGNED_LOADS_RETIRED": n * 6 // 16,
                "MISALIGNED_STORES_RETIRED": 0, "LOADS_RETIRED_INTG": n}),
    ("loads of 8 bytes, that never do", ("r", 1, 4096), (), lambda n: {
        "MISALIGNED_LOADS_RETIRED": 0, "LOADS_RETIRED_INTG": n}),
    ("stores of 8 bytes, seven of which lie within 16", ("w", 1, 4096), (),
     lambda n: {"MISALIGNED_LOADS_RETIRED": 0, "STORES_RETIRED": n,
                "MISALIGNED_STORES_RETIRED": n * 7 // 16}),
    ("pages that the first data TLB has", ("r", 4096 + 64, 31), (), lambda n: {
        "L1DTLB_TRANSFER": 0, "L2DTLB_MISSES": 0,
    }),
    ("pages that the second has", ("r", 4096 + 64, 64), (), lambda n: {
        "L1DTLB_TRANSFER": n, "L2DTLB_MISSES": 0, "HPW_DATA_REFERENCES": 0,
    }),
    ("pages that neither has", ("r", 16384 + 64, 192), (), lambda n: {
        "L1DTLB_TRANSFER": 0, "L2DTLB_MISSES": n, "DTLB_INSERTS_HPW": n,
        "HPW_DATA_REFERENCES": n,
    }),
    ("code beyond the L1I, that the L2I has", ("x", 64, 512),
     PLAIN, lambda n: {
        "L1I_READS": n, "L2I_DEMAND_READS": n, "L1I_FILLS": n,
        "ISB_BUNPAIRS_IN": 2 * n, "L2I_READS.HIT.DMND": n,
        "L2I_READS.MISS.ALL": 0, "L2I_READS.ALL.ALL": n,
        "L2I_VICTIMIZATION": 0, "L1I_SNOOP": 0, "L3_REFERENCES": 0,
        "ITLB_MISSES_FETCH.ALL": 0,
    }),
    ("code beyond the L2I, that the L3 has", ("x", 128, 16384),
     ("itlb.first=1024", *PLAIN), lambda n: {
        "L2I_READS.MISS.DMND": n, "L2I_READS.HIT.ALL": 0,
        "L2I_VICTIMIZATION": n, "L1I_SNOOP": 2 * n,
        "L3_READS.DINST_FETCH.HIT": n, "L3_READS.INST_FETCH.ALL": n,
        "BUS_ALL.SELF": 0,
    }),
    ("pages of code that the second TLB has", ("x", 4096 + 64, 64), (),
     lambda n: {
        "ITLB_MISSES_FETCH.L1ITLB": n, "ITLB_MISSES_FETCH.L2ITLB": 0,
        "ITLB_MISSES_FETCH.ALL": n, "L1ITLB_INSERTS_HPW": 0, "L1I_PURGE": 0,
    }),
    ("pages of code that neither has", ("x", 16384 + 64, 192), (), lambda n: {
        "ITLB_MISSES_FETCH.L1ITLB": n, "ITLB_MISSES_FETCH.L2ITLB": n,
        "L1ITLB_INSERTS_HPW": n, "L1I_PURGE": n,
    }),
]


def streams(count, sets, wanted):
    """Lines of code one after the other, of pages that the TLBs have: a page
    starts a stream. The loop around them has a few lines more."""
    got = by_round("x", 64, count, ("itlb.first=1024", "tlb.page=1M",
                                    "prefetch.lines=7", *sets))
    for event, n in wanted(count, count // PAGE).items():
        assert n <= got[event] <= n * 1.01 + (n > 0) * 40, \
            f"{event}: {got[event]}, not {n}"


def served_by(wait):
    """From behind the L2I, which has lines of two: every other line of a
    stream is asked for behind it, and the one beside it waits. The first fetch
    waits for 8 lines, and so does the first of each 8 behind those, whose
    request the L2I has looked up; three of these 8 have waited for the one
    beside them, as the eighth is asked for when all are there."""
    return lambda n, pages: {
        "L1I_FILLS": n, "L2I_DEMAND_READS": 8 * pages,
        "L1I_FETCH_RAB_HIT": 7 * pages, "L2I_SPEC_ABORTS": 7 * pages,
        "L1I_FETCH_ISB_HIT": n - 8 * pages,
        "L1I_STRM_PREFETCHES": n - pages, "L2I_PREFETCHES": n - pages,
        "L2I_READS.MISS.DMND": pages, "L2I_READS.HIT.DMND": 0,
        "L2I_READS.MISS.PFTCH": n / 2 - pages,
        "L2I_READS.HIT.PFTCH": n / 2, "L2I_READS.ALL.ALL": n,
        "L2I_RECIRCULATES": (4 + 7 * 3) * pages,
        "L3_READS.DINST_FETCH.ALL": pages, "L3_READS.INST_FETCH.ALL": n / 2,
        "L1I_RAB_FULL": (L2 + wait) * pages, "L1I_RAB_ALMOST_FULL": 0,
        "L1I_PREFETCH_STALL.FLOW": 7 * (L2 + wait) * pages,
        "L1I_PREFETCH_STALL.ALL": 8 * (L2 + wait) * pages,
        "FE_BUBBLE.IMISS": 8 * (L2 + wait) * pages,
        "BUS_MEM_READ.BRL.SELF": n / 2 if wait > L3 else 0,
    }


STREAMS = [
    ("the L2I", 4096, (), lambda n, pages: {
        "L1I_FILLS": n, "L2I_DEMAND_READS": pages,
        "L1I_PREFETCHES": n - pages, "L1I_STRM_PREFETCHES": n - pages,
        "L2I_PREFETCHES": n - pages, "L1I_FETCH_ISB_HIT": n - pages,
        "L1I_FETCH_RAB_HIT": 0, "L2I_SPEC_ABORTS": 0, "L2I_RECIRCULATES": 0,
        "L2I_READS.HIT.PFTCH": n - pages, "L2I_READS.HIT.DMND": pages,
        "ISB_BUNPAIRS_IN": 2 * n, "L1I_RAB_FULL": L2 * pages,
        "L1I_RAB_ALMOST_FULL": 0, "FE_BUBBLE.IMISS": L2 * pages,
        "L1I_PREFETCH_STALL.FLOW": 0, "L1I_PREFETCH_STALL.ALL": L2 * pages,
    }),
    ("the L2I, six ahead", 4096, ("prefetch.lines=6",), lambda n, pages: {
        "L1I_PREFETCHES": n - pages, "L1I_RAB_FULL": 0,
        "L1I_RAB_ALMOST_FULL": L2 * pages,
    }),
    ("the L1I", 128, (), lambda n, pages: {
        "L1I_PREFETCHES": 0, "L1I_FETCH_ISB_HIT": 0, "L1I_FILLS": 0,
        "L1I_PREFETCH_STALL.ALL": 0,
    }),
    ("the L3", 32768, (), served_by(L3)),
    ("memory", 32768, ("l3.size=1536K",), served_by(L3 + MEMORY)),
]


def near(c, events, wanted):
    for event in events:
        got = sum(c[e] for e in event.split(" + "))
        assert wanted - 1 <= got <= wanted + SOME, f"{event}: {got}"


def turns(kind, *sets):
    sets = [word for s in sets for word in ("--set", s)]
    return t.count(["-m", MACHINE, *sets, "-e", "all"],
                   t.guest("turns.x86_64"), kind, str(TURNS))


def identities(c):
    """What holds of any program."""
    def total(*events):
        return sum(c[e] for e in events)
    atomics = c["L2D_OPS_ISSUED.RMW"]
    reads = c["BUS_MEM_READ.ALL.SELF"]
    pairs = [
        (total("L2D_INSERT_HITS", "L2D_INSERT_MISSES"),
         c["L2D_REFERENCES.ALL"] - atomics),
        (total("L2D_REFERENCES.READS", "L2D_REFERENCES.WRITES"),
         c["L2D_REFERENCES.ALL"]),
        (total("L2D_OPS_ISSUED.INT_LOAD", "L2D_OPS_ISSUED.FP_LOAD",
               "L2D_OPS_ISSUED.RMW"), c["L2D_REFERENCES.READS"]),
        (total("L2D_OPS_ISSUED.STORE", "L2D_OPS_ISSUED.RMW"),
         c["L2D_REFERENCES.WRITES"]),
        (total("L1D_READS_SET1", "L2D_OPS_ISSUED.FP_LOAD",
               "L2D_OPS_ISSUED.STORE", "L2D_OPS_ISSUED.RMW",
               "RSE_REFERENCES_RETIRED.STORE"), c["DATA_REFERENCES_SET1"]),
        (total("L2D_OPS_ISSUED.STORE", "L2D_OPS_ISSUED.RMW",
               "RSE_REFERENCES_RETIRED.STORE"), c["STORES_RETIRED"]),
        (total("L2D_MISSES", "L2D_FORCE_RECIRC.SECONDARY_READ"),
         c["L2D_INSERT_MISSES"]),
        (c["L2D_OZQ_CANCELS0.SEMA"], c["L2D_OZQ_CANCELS1.ANY"]),
        (total(*(f"L2D_FILL_MESI_STATE.{s}" for s in "MES")), c["L2D_MISSES"]),
        (total("L2I_READS.HIT.ALL", "L2I_READS.MISS.ALL",
               "L1I_FETCH_RAB_HIT"),
         total("L2I_DEMAND_READS", "L2I_PREFETCHES")),
        (total("L2I_DEMAND_READS", "L1I_FETCH_ISB_HIT"), c["L1I_FILLS"]),
        (2 * c["L2I_READS.ALL.ALL"], c["ISB_BUNPAIRS_IN"]),
        (total("L3_READS.ALL.ALL", "L3_WRITES.ALL.ALL"), c["L3_REFERENCES"]),
        (total("L3_READS.ALL.MISS", "L3_WRITES.ALL.MISS"), c["L3_MISSES"]),
        (total("L3_READS.ALL.MISS", "L3_WRITES.DATA_WRITE.MISS"), reads -
         c["BUS_MEM_READ.BIL.SELF"]),
        (c["L3_INSERTS"], reads - c["BUS_MEM_READ.BIL.SELF"]),
        (total("L2D_MISSES", "L2I_READS.MISS.ALL"), c["ER_BRQ_REQ_INSERTED"]),
        (total("BUS_RD_HITM.SELF", "BUS_RD_INVAL_BST_HITM.SELF"),
         c["BUS_HITM.SELF"]),
        (total("BUS_MEM_READ.ALL.SELF", "BUS_WR_WB.ALL.SELF"),
         c["BUS_MEMORY.ALL.SELF"]),
        (total(*(f"SI_SCB_SIGNOFFS.{s}" for s in ("MISS", "HIT", "HITM"))),
         c["SI_RQ_INSERTS.SELF"]),
        (8 * c["ER_MEM_READ_OUT_HI"] + c["ER_MEM_READ_OUT_LO"],
         MEMORY * (reads - c["BUS_MEM_READ.BIL.SELF"])),
        (c["HPW_DATA_REFERENCES"], c["L2DTLB_MISSES"]),
    ]
    # Of each thread.
    assert 0 <= c["CPU_OP_CYCLES.ALL"] // 8 - c["SI_CYCLES"] <= 1, "bus clocks"
    for i, (left, right) in enumerate(pairs):
        t.equal(left, right, f"identity {i + 1}")


def program(name, *words):
    c = t.count(["-m", MACHINE, "-e", "all"], t.guest(name), *words)
    identities(c)


@t.named("stores of two cores by turns")
def writers():
    c = turns("w", "place.threads=spread")
    near(c, ["BUS_RD_INVAL_BST_HITM.SELF", "BUS_HITM.EITHER",
             "SI_IOQ_COLLISIONS", "SI_SCB_SIGNOFFS.HITM",
             "SI_WRITEQ_INSERTS.IWB.EITHER"], 2 * TURNS)
    identities(c)


@t.named("what one core stores the other reads")
def readers():
    c = turns("rw", "place.threads=spread")
    # The line of the program's globals is shared, too.
    assert c["L2D_FILL_MESI_STATE.S"] >= 2 * TURNS, "fills of shared lines"
    near(c, ["BUS_RD_HITM.SELF", "L2D_STORE_HIT_SHARED.ANY", "BUS_MEM_READ.BIL.SELF",
             "SI_SCB_INSERTS.HIT.EITHER"], 2 * TURNS)
    identities(c)


@t.named("threads of one core share its caches")
def one_core():
    c = turns("w")
    near(c, ["BUS_HITM.SELF", "BUS_MEM_READ.BIL.SELF"], 0)


@t.named("a snoop waits for bus clocks, also for parts of a cycle")
def snoop_clocks():
    c = t.count(["-m", MACHINE, "--set", "bus.clock=333M", "-e",
                 "SI_RQ_INSERTS.SELF,ER_SNOOPQ_REQ_LO"],
                t.guest("hello.x86_64"))
    t.equal(c["ER_SNOOPQ_REQ_LO"],
            c["SI_RQ_INSERTS.SELF"] * 4 * 1600 // 333, "cycles")


def reasons(*sets):
    """event: why it is idle."""
    sets = [word for s in sets for word in ("--set", s)]
    c = t.count(["-m", MACHINE, *sets, "-e", "all"],
                t.guest("hello.x86_64"))
    return {row["name"]: row["reason"] for row in c.json["events"]
            if row["fidelity"] == "idle"}


@t.named("a filter of data stands for the debug registers")
def debug_registers():
    places = 8192  # of test/guest/arrays.c: each read twice, written once
    for data, matches in (("first", 2 * places), ("second", places)):
        c = t.count(["-m", MACHINE, "-e", "all", "--filter", f"data={data}"],
                    t.guest("arrays.x86_64"))
        t.equal(c["DATA_DEBUG_REGISTER_MATCHES"], matches, data)
    assert "--filter" in reasons()["DATA_DEBUG_REGISTER_MATCHES"]


@t.named("what a machine lacks as it is set")
def lacks():
    whole = reasons()
    # L2D_L3ACCESS_CANCEL.ER_REJECT counts what is.
    assert not any("nothing is refused" in why for why in whole.values())
    shared = reasons("l3.shared=chip", "l2i.size=0", "l1d.float=cached")
    for event in ("BUS_MEM_READ.ALL.SELF", "L2D_MISSES", "ER_MEM_READ_OUT_LO"):
        assert event not in whole, event
        assert "l3.shared" in shared[event], shared[event]
    assert "L1D_READ_MISSES.ALL" not in shared, "misses of the L1D"
    for event in ("L1I_PREFETCHES", "L1I_RAB_FULL", "L2I_READS.ALL.PFTCH"):
        assert event not in whole, event
        assert "prefetch.lines" in reasons(*PLAIN)[event], event
    quiet = reasons("bus.castouts=none")
    t.equal(set(quiet) - set(whole),
            {*(f"SI_CCQ_{what}.{who}" for what in ("INSERTS", "LIVE_REQ_LO")
               for who in ("EITHER", "SELF")),
             *(f"BUS_WR_WB.CCASTOUT.{who}"
               for who in ("EITHER", "SELF", "ANY"))})
    for own in ("time.switch=0", "strands=1"):
        alone = reasons(own)
        for event in ("THREAD_SWITCH_EVENTS.ALL", "THREAD_SWITCH_GATED.ALL",
                      "THREAD_SWITCH_CYCLE.TOTAL",
                      "THREAD_SWITCH_STALL.GTE_4"):
            assert event not in whole, event
            assert "time.switch" in alone[event], alone[event]
    loose = reasons("issue.groups=any")
    for event in ("IA64_INST_RETIRED.THIS", "NOPS_RETIRED",
                  "SYLL_NOT_DISPERSED.EXPL", "INST_DISPERSED",
                  "SYLL_NOT_DISPERSED.ALL", "FE_LOST_BW.ALL"):
        assert event not in whole, event
        assert "issue.groups" in loose[event], loose[event]
    c = t.count(["-m", MACHINE, "--per-thread", "--set", "issue.groups=any",
                 "-e", "INST_DISPERSED"], t.guest("hello.x86_64"))
    # Of its two signals that of wrong paths is raised.
    t.equal((c["INST_DISPERSED"], c.json["strands"][0]["events"]),
            (0, {"INST_DISPERSED": 0}), "an idle event")


for source, lines, sets, wanted in STREAMS:
    t.case(f"lines fetched ahead from {source}", streams, lines, sets, wanted)
for title, pattern, sets, wanted in PATTERNS:
    t.case(title, check, *pattern, sets, wanted(pattern[2]))
for name, words in (
        ("bzip2.x86_64", ("-9kc", t.source("LICENSES",
                                           "GPL-2.0-or-later.txt"))),
        ("lua.x86_64", ("-e", "local s = 0 for i = 1, 1e5 do s = s + i / 3 end"
                        )),
        ("sqlite.x86_64", (":memory:", "create table t(a); insert into t "
                           "values (1), (2); select sum(a) from t")),
        ("busybox.x86_64", ("sha256sum", t.source("LICENSE"))),
        ("bzip2.sparc64", ("-9kc", t.source("LICENSE")))):
    t.case(f"identities of {name}", program, name, *words)
t.main()
