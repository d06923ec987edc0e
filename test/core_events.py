#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Machines of today's cores with the vendors' events: core_events.py BUILD [WORD]

Kernels of test/guest/x86_64, test/guest/aarch64 and test/guest/riscv64 state counts
of signals; what follows from these for derived signals is added here. Two runs of
test/guest/pattern.c that differ by one round over as many places as a level does not
hold show what each level counts: with least recently used places each access of a round
then misses. On real programs the events of a level add up.
"""
import kernels
import tallytest as t

MACHINES = {"skylake": "x86_64", "icelake": "x86_64", "zen2": "x86_64",
            "zen3": "x86_64",
            "zen4": "x86_64", "zen5": "x86_64", "neoverse-n1": "aarch64",
            "cortex-a72": "aarch64", "neoverse-v1": "aarch64",
            "sifive-u74": "riscv64"}
CYCLES = {"skylake": "CPU_CLK_UNHALTED.THREAD",
          "icelake": "CPU_CLK_UNHALTED.THREAD",
          "zen2": "ls_not_halted_cyc", "zen3": "ls_not_halted_cyc",
          "zen4": "ls_not_halted_cyc", "zen5": "ls_not_halted_cyc",
          "neoverse-n1": "CPU_CYCLES",
          "cortex-a72": "CPU_CYCLES", "neoverse-v1": "CPU_CYCLES",
          "sifive-u74": "MCYCLE"}
TERMS = [f"stall-{term}" for term in
         ("core", "fetch", "load", "store", "branch", "tlb", "window", "atomic",
          "fp", "issue")] + ["issue-cycles"]
# Machines whose cores execute in order: they have no stall-core.
CORES_IN_ORDER = {"sifive-u74"}
WITHOUT_L3 = {"cortex-a72"}
# These alone have branch target buffers of three levels.
WITH_BTB3 = {"zen2", "neoverse-n1"}
# Signals that a core which executes out of order has in stall_core.
IN_ORDER = {"stall_window", "stall_atomic", "stall_fp", "stall_itlb",
            "load_wait_cycles"}
# What costs no time on the cores that execute in order.
WITHOUT_TIME = {"stall_window", "stall_fp", "stall_store"}
LINE, PAGE, MEGABYTE = 64, 4096, 1 << 20
STALL_LOAD = ["stall-l2", "stall-l3", "stall-memory"]
# Sums of events that are another event, whatever the program.
SUMS = {
    "skylake": {
        "MEM_LOAD_RETIRED.L1_MISS": ["MEM_LOAD_RETIRED.L2_HIT",
                                     "MEM_LOAD_RETIRED.L2_MISS"],
        "MEM_LOAD_RETIRED.L2_MISS": ["MEM_LOAD_RETIRED.L3_HIT",
                                     "MEM_LOAD_RETIRED.L3_MISS"],
        "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM": ["MEM_LOAD_RETIRED.L3_MISS"],
        "L1D.REPLACEMENT": ["L2_RQSTS.ALL_DEMAND_DATA_RD", "L2_RQSTS.ALL_RFO"],
        "L2_RQSTS.ALL_RFO": ["L2_RQSTS.RFO_HIT", "L2_RQSTS.RFO_MISS"],
        "L2_RQSTS.ALL_CODE_RD": ["L2_RQSTS.CODE_RD_HIT",
                                 "L2_RQSTS.CODE_RD_MISS"],
        "L2_RQSTS.ALL_DEMAND_MISS": ["L2_RQSTS.DEMAND_DATA_RD_MISS",
                                     "L2_RQSTS.RFO_MISS",
                                     "L2_RQSTS.CODE_RD_MISS"],
        "LONGEST_LAT_CACHE.REFERENCE": ["OFFCORE_REQUESTS.ALL_REQUESTS"],
        "BR_INST_RETIRED.ALL_BRANCHES": ["BR_INST_RETIRED.NEAR_TAKEN",
                                         "BR_INST_RETIRED.NOT_TAKEN",
                                         "BR_INST_RETIRED.FAR_BRANCH"],
        "MEM_INST_RETIRED.STLB_MISS_LOADS": [
            "DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK"],
        "MEM_INST_RETIRED.STLB_MISS_STORES": [
            "DTLB_STORE_MISSES.MISS_CAUSES_A_WALK"],
        "stall-tlb": ["stall-itlb", "stall-dtlb"],
        "stall-load": STALL_LOAD,
    },
    "zen3": {
        "ls_mab_alloc.all_allocations": [
            "ls_dmnd_fills_from_sys.lcl_l2", "ls_dmnd_fills_from_sys.int_cache",
            "ls_dmnd_fills_from_sys.mem_io_local"],
        "l2_request_g1.all_no_prefetch": ["l2_cache_req_stat.ic_dc_hit_in_l2",
                                          "l2_cache_req_stat.ic_dc_miss_in_l2",
                                          "l2_request_g1.change_to_x"],
        "l2_cache_req_stat.ic_dc_miss_in_l2": [
            "l2_cache_req_stat.ls_rd_blk_c", "l2_cache_req_stat.ic_fill_miss"],
        "l2_request_g1.cacheable_ic_read": ["ic_cache_fill_l2",
                                            "ic_cache_fill_sys"],
        "ls_l1_d_tlb_miss.all": ["ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit",
                                 "ls_l1_d_tlb_miss.tlb_reload_4k_l2_miss"],
        "ls_tablewalker.dside": ["ls_l1_d_tlb_miss.tlb_reload_4k_l2_miss"],
        "ls_tablewalker.iside": ["bp_l1_tlb_miss_l2_tlb_miss"],
        "ls_dc_accesses": ["L1-dcache-loads", "L1-dcache-stores"],
        "stall-tlb": ["stall-itlb", "stall-dtlb"],
        "stall-load": STALL_LOAD,
    },
    "zen4": {
        "ls_mab_alloc.load_store_allocations": [
            "L1-dcache-load-misses", "L1-dcache-store-misses"],
        "ls_dmnd_fills_from_sys.all": [
            "ls_dmnd_fills_from_sys.local_l2",
            "ls_dmnd_fills_from_sys.local_ccx",
            "ls_dmnd_fills_from_sys.dram_io_near"],
        "ls_any_fills_from_sys.all": ["ls_any_fills_from_sys.local_all",
                                      "ls_any_fills_from_sys.dram_io_all"],
        "ls_any_fills_from_sys.local_all": [
            "ls_dmnd_fills_from_sys.local_l2",
            "ls_dmnd_fills_from_sys.local_ccx"],
        "l2_request_g1.all": ["l2_request_g1.all_dc",
                              "l2_request_g1.cacheable_ic_read"],
        "l2_cache_req_stat.all": ["l2_cache_req_stat.ic_access_in_l2",
                                  "l2_cache_req_stat.dc_access_in_l2"],
        "l2_cache_req_stat.ic_dc_hit_in_l2": [
            "l2_cache_req_stat.ic_hit_in_l2", "l2_cache_req_stat.dc_hit_in_l2"],
        "l2_cache_req_stat.dc_access_in_l2": [
            "l2_cache_req_stat.dc_hit_in_l2", "l2_cache_req_stat.ls_rd_blk_c"],
        "ls_l1_d_tlb_miss.all": ["ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit",
                                 "ls_l1_d_tlb_miss.all_l2_miss"],
        "bp_l1_tlb_miss_l2_tlb_miss.all": ["bp_l1_tlb_miss_l2_tlb_miss.if4k"],
        "ls_dc_accesses": ["L1-dcache-loads", "L1-dcache-stores"],
        "stall-tlb": ["stall-itlb", "stall-dtlb"],
        "stall-load": STALL_LOAD,
    },
    "neoverse-n1": {
        "MEM_ACCESS": ["MEM_ACCESS_RD", "MEM_ACCESS_WR"],
        "L1D_CACHE": ["L1D_CACHE_RD", "L1D_CACHE_WR"],
        "L1D_CACHE_REFILL": ["L1D_CACHE_REFILL_RD", "L1D_CACHE_REFILL_WR"],
        "L1D_CACHE_REFILL_RD": ["L1D_CACHE_REFILL_INNER",
                                "L1D_CACHE_REFILL_OUTER",
                                "-L1D_CACHE_REFILL_WR"],
        "L2D_CACHE": ["L2D_CACHE_RD"],
        "L2D_CACHE_RD": ["L1I_CACHE_REFILL", "L1D_CACHE_REFILL"],
        "L2D_CACHE_REFILL": ["LL_CACHE_RD", "LL_CACHE_MISS_RD"],
        "L1D_TLB": ["L1D_TLB_RD", "L1D_TLB_WR"],
        "L1D_TLB_REFILL": ["L1D_TLB_REFILL_RD", "L1D_TLB_REFILL_WR"],
        "L2D_TLB": ["L1I_TLB_REFILL", "L1D_TLB_REFILL"],
        "L2D_TLB_REFILL": ["L2D_TLB_REFILL_RD", "L2D_TLB_REFILL_WR"],
        "L2D_TLB_REFILL_RD": ["ITLB_WALK", "DTLB_WALK",
                              "-L2D_TLB_REFILL_WR"],
        "CPU_CYCLES": ["STALL_FRONTEND", "STALL_BACKEND", "issue-cycles"],
        "stall-tlb": ["stall-itlb", "stall-dtlb"],
        "stall-load": STALL_LOAD,
    },
    "sifive-u74": {
        "DCACHE_MISS_MMIO_ACCESSES": ["L1-dcache-load-misses",
                                      "L1-dcache-store-misses"],
        "stall-tlb": ["stall-itlb", "stall-dtlb"],
    },
}

# Those of Skylake-SP, where events have other names or there are more of them.
SUMS["icelake"] = SUMS["skylake"] | {
    "BR_INST_RETIRED.ALL_BRANCHES": ["BR_INST_RETIRED.NEAR_TAKEN",
                                     "BR_INST_RETIRED.COND_NTAKEN",
                                     "BR_INST_RETIRED.FAR_BRANCH"],
    "BR_INST_RETIRED.COND": ["BR_INST_RETIRED.COND_TAKEN",
                             "BR_INST_RETIRED.COND_NTAKEN"],
    "BR_MISP_RETIRED.COND": ["BR_MISP_RETIRED.COND_TAKEN",
                             "BR_MISP_RETIRED.COND_NTAKEN"],
    "BR_MISP_RETIRED.ALL_BRANCHES": ["BR_MISP_RETIRED.COND",
                                     "BR_MISP_RETIRED.INDIRECT",
                                     "BR_MISP_RETIRED.RET"],
    "MEM_INST_RETIRED.STLB_MISS_LOADS": ["DTLB_LOAD_MISSES.WALK_COMPLETED"],
    "MEM_INST_RETIRED.STLB_MISS_STORES": ["DTLB_STORE_MISSES.WALK_COMPLETED"],
    "SW_PREFETCH_ACCESS.ANY": ["prefetch-instructions"],
    "TOPDOWN.SLOTS": ["CPU_CLK_UNHALTED.THREAD"] * 5,
    "TOPDOWN.SLOTS_P": ["TOPDOWN.SLOTS"],
}

SUMS["zen5"] = SUMS["zen4"] | {"bp_redirects.ex_redir": ["ex_ret_brn_misp"],
                               "ls_locks.all": ["atomics"]}
REFILLS = "ls_refills_from_sys.ls_mabresp_lcl_"
SUMS["zen2"] = {whole: parts for whole, parts in SUMS["zen3"].items()
                if whole != "ls_mab_alloc.all_allocations"} | {
    "ls_mab_alloc.loads": [REFILLS + "l2", REFILLS + "cache",
                           REFILLS + "dram", "-ls_mab_alloc.stores"],
    "ex_ret_brn_misp": ["ex_ret_cond_misp", "ex_ret_brn_ind_misp",
                        "ex_ret_near_ret_mispred"],
}
SUMS["neoverse-v1"] = SUMS["neoverse-n1"] | {
    "STALL": ["STALL_FRONTEND", "STALL_BACKEND"],
    "L1D_CACHE_LMISS_RD": ["L1D_CACHE_REFILL_RD"],
    "L1I_CACHE_LMISS": ["L1I_CACHE_REFILL"],
    "L2D_CACHE_LMISS_RD": ["LL_CACHE_RD", "LL_CACHE_MISS_RD"],
}
SUMS["cortex-a72"] = {
    "MEM_ACCESS": ["MEM_ACCESS_RD", "MEM_ACCESS_WR"],
    "L1D_CACHE": ["L1D_CACHE_RD", "L1D_CACHE_WR"],
    "L1D_CACHE_REFILL": ["L1D_CACHE_REFILL_RD", "L1D_CACHE_REFILL_WR"],
    "L2D_CACHE_RD": ["L1I_CACHE_REFILL", "L1D_CACHE_REFILL"],
    "L2D_CACHE_REFILL": ["L2D_CACHE_REFILL_RD"],
    "L1D_TLB_REFILL": ["L1D_TLB_REFILL_RD", "L1D_TLB_REFILL_WR"],
    "LDST_SPEC": ["LD_SPEC", "ST_SPEC"],
    "stall-tlb": ["stall-itlb", "stall-dtlb"],
}


def guest(program, machine):
    return t.guest(f"{program}.{MACHINES[machine]}")


def derived(numbers, machine):
    """The counts of the signals that formulas make of a header's. System calls
    are branches of x86-64 alone."""
    def known(*names):
        return all(numbers.get(n) is not None for n in names)

    if known("loads", "l1d_load_misses"):
        numbers["l1d_load_hits"] = (numbers["loads"] -
                                    numbers["l1d_load_misses"])
    if known("conditional_branches", "conditional_taken"):
        numbers["ok_path_not_taken"] = (numbers["conditional_branches"] -
                                        numbers["conditional_taken"])
        numbers["not_taken_mispredicts"] = 0
    if (known("conditional_branches", "conditional_taken") and
            MACHINES[machine] == "x86_64"):
        # Branches that are neither: system calls, or the exit alone.
        near = numbers["conditional_branches"] + numbers["unconditional_taken"]
        numbers["system_calls"] = numbers.get("class_branch", near + 1) - near
    return numbers


def check_time(c, machine):
    t.equal(sum(c[term] for term in TERMS
                if term != "stall-core" or machine not in CORES_IN_ORDER),
            c[CYCLES[machine]],
            "sum of the terms of cycles")


def check_sums(machine, c):
    """A part with a minus is taken off."""
    for whole, parts in SUMS[machine].items():
        t.equal(sum(-c[part[1:]] if part[0] == "-" else c[part]
                    for part in parts), c[whole], whole)


def events_of(machine):
    """All, and the generic names that SUMS has."""
    names = {name for whole, parts in SUMS[machine].items()
             for name in (whole, *parts)}
    return ",".join(["all", *sorted(n for n in names if "dcache-" in n)])


def kernel(path, machine):
    """A header's loads are those of no REP instruction. What fetches miss,
    which branches are direct and which of those not taken were mispredicted is
    no header's."""
    c = t.count(["-m", machine, "-e", events_of(machine)],
                guest(path.stem, machine))
    numbers = kernels.stated(path, machine)
    if "loads" in numbers and MACHINES[machine] == "x86_64":
        numbers |= {"rep_loads": 0, "rep_stores": 0}
    signals = t.event_signals(machine)
    expected = {event: count for event, count in
                kernels.wanted(derived(numbers, machine),
                                             machine).items()
                if signals[event] != ["not_taken_mispredicts"] and
                not ({"l1i_misses", "direct_taken"} &
                     set(signals[event]) - set(numbers))}
    assert expected, "the header states nothing that an event shows"
    kernels.compare(c, expected)
    check_sums(machine, c)
    check_time(c, machine)


def more(machine, kind, step, count, *options):
    """What one round of a pattern counts beside another."""
    one, two = (t.count(["-m", machine, "--clean-env", "-e", "all", *options],
                        guest("pattern", machine), kind, step, count, rounds)
                for rounds in (1, 2))
    check_time(two, machine)
    return {event: two[event] - one[event] for event in one.values}


def at_least(got, event, count):
    """The loop's own accesses and its stack add a few misses at most."""
    assert count <= got[event] <= count + 4, f"{event}: {got[event]}, {count}"


def places(machine, kind, step, count, moved, *options):
    """A round over `count` places moves each event of `moved` as often for
    each place as it says, once or never."""
    got = more(machine, kind, step, count, *options)
    for event, each in moved.items():
        if each:
            at_least(got, event, each * count)
        else:
            assert got[event] <= 4, f"{event}: {got[event]}, none wanted"


# Machine, kind of access, bytes from place to place, places, events, options.
PLACES = (
    # More than the L1 data cache of 32 KB, less than any L2.
    ("skylake", "r", LINE, 1024,
     {"MEM_LOAD_RETIRED.L1_MISS": 1, "MEM_LOAD_RETIRED.L2_HIT": 1,
      "MEM_LOAD_RETIRED.L2_MISS": 0, "L1D.REPLACEMENT": 1,
      "L2_RQSTS.DEMAND_DATA_RD_HIT": 1, "L2_RQSTS.ALL_DEMAND_REFERENCES": 1,
      "L2_RQSTS.ALL_DEMAND_MISS": 0}),
    ("skylake", "w", LINE, 1024,
     {"L2_RQSTS.ALL_RFO": 1, "L2_RQSTS.RFO_HIT": 1, "L2_RQSTS.RFO_MISS": 0,
      "L1D.REPLACEMENT": 1, "MEM_LOAD_RETIRED.L1_MISS": 0}),
    ("zen3", "r", LINE, 1024,
     {"ls_mab_alloc.loads": 1, "ls_mab_alloc.stores": 0,
      "ls_dmnd_fills_from_sys.lcl_l2": 1, "l2_request_g1.rd_blk_l": 1,
      "l2_cache_req_stat.ls_rd_blk_l_hit_x": 1,
      "l2_cache_req_stat.ls_rd_blk_c": 0}),
    ("zen3", "w", LINE, 1024,
     {"ls_mab_alloc.loads": 0, "ls_mab_alloc.stores": 1,
      "ls_dmnd_fills_from_sys.lcl_l2": 1, "l2_request_g1.rd_blk_x": 1,
      "l2_cache_req_stat.ls_rd_blk_x": 1}),
    # More than the L2, less than the L3.
    ("skylake", "r", LINE, 2 * MEGABYTE // LINE,
     {"MEM_LOAD_RETIRED.L2_MISS": 1, "MEM_LOAD_RETIRED.L3_HIT": 1,
      "MEM_LOAD_RETIRED.L3_MISS": 0, "LONGEST_LAT_CACHE.REFERENCE": 1,
      "L2_LINES_IN.ALL": 1, "OFFCORE_REQUESTS.DEMAND_DATA_RD": 1}),
    ("skylake", "w", LINE, 2 * MEGABYTE // LINE,
     {"L2_RQSTS.RFO_MISS": 1, "OFFCORE_REQUESTS.DEMAND_RFO": 1,
      "LONGEST_LAT_CACHE.MISS": 0}),
    ("zen3", "r", LINE, MEGABYTE // LINE,
     {"l2_cache_req_stat.ls_rd_blk_c": 1,
      "ls_dmnd_fills_from_sys.int_cache": 1,
      "ls_dmnd_fills_from_sys.mem_io_local": 0,
      "l2_cache_req_stat.ic_dc_miss_in_l2": 1}),
    ("zen3", "w", LINE, MEGABYTE // LINE,
     {"ls_dmnd_fills_from_sys.int_cache": 1,
      "ls_any_fills_from_sys.int_cache": 1}),
    # More than an L3 that is set small, of as many ways as the machine's.
    ("skylake", "r", LINE, 4 * MEGABYTE // LINE,
     {"MEM_LOAD_RETIRED.L3_MISS": 1, "LONGEST_LAT_CACHE.MISS": 1,
      "MEM_LOAD_L3_MISS_RETIRED.LOCAL_DRAM": 1, "MEM_LOAD_RETIRED.L3_HIT": 0},
     "--set", "l3.size=1408K"),
    ("zen3", "r", LINE, 2 * MEGABYTE // LINE,
     {"ls_dmnd_fills_from_sys.mem_io_local": 1,
      "ls_dmnd_fills_from_sys.int_cache": 0}, "--set", "l3.size=1M"),
    ("zen3", "w", LINE, 2 * MEGABYTE // LINE,
     {"ls_any_fills_from_sys.mem_io_local": 1}, "--set", "l3.size=1M"),
    # More than such an L3, less than the L3 with the L2 whose victims fill it.
    ("skylake", "r", LINE, 2 * MEGABYTE // LINE,
     {"MEM_LOAD_RETIRED.L3_HIT": 1, "MEM_LOAD_RETIRED.L3_MISS": 0},
     "--set", "l3.size=1408K"),
    ("skylake", "r", LINE, 2 * MEGABYTE // LINE,
     {"MEM_LOAD_RETIRED.L3_HIT": 0, "MEM_LOAD_RETIRED.L3_MISS": 1},
     "--set", "l3.size=1408K", "--set", "l3.fill=misses"),
    ("zen3", "w", LINE, 5 * MEGABYTE // 4 // LINE,
     {"ls_any_fills_from_sys.mem_io_local": 0,
      "ls_any_fills_from_sys.int_cache": 1}, "--set", "l3.size=1M"),
    ("zen3", "w", LINE, 5 * MEGABYTE // 4 // LINE,
     {"ls_any_fills_from_sys.mem_io_local": 1,
      "ls_any_fills_from_sys.int_cache": 0},
     "--set", "l3.size=1M", "--set", "l3.fill=misses"),
    # A prefetcher that asks for the next line: of the 64 of a page all but the
    # first, or all, where it is not bound to a page.
    ("zen3", "r", LINE, 1024,
     {"ls_mab_alloc.hardware_prefetcher_allocations": 63 / 64,
      "ls_mab_alloc.loads": 1 / 64}, "--set", "l1d.prefetch=next"),
    ("zen4", "r", LINE, 1024,
     {"ls_hw_pf_dc_fills.all": 63 / 64, "ls_mab_alloc.load_store_allocations":
      1 / 64}, "--set", "l1d.prefetch=next", "--set",
     "l1d.prefetch_bound=page"),
    ("zen4", "r", LINE, 1024,
     {"ls_hw_pf_dc_fills.all": 1, "ls_mab_alloc.load_store_allocations": 0},
     "--set", "l1d.prefetch=next"),
    ("skylake", "r", LINE, 2 * MEGABYTE // LINE,
     {"L2_RQSTS.PF_MISS": 63 / 64, "L2_RQSTS.DEMAND_DATA_RD_MISS": 1 / 64},
     "--set", "l2.prefetch=next"),
    # More pages than the first TLB of data, then than the second.
    ("skylake", "r", PAGE, 256,
     {"DTLB_LOAD_MISSES.STLB_HIT": 1,
      "DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK": 0}),
    ("skylake", "r", PAGE, 4096,
     {"DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK": 1,
      "DTLB_LOAD_MISSES.WALK_COMPLETED_4K": 1,
      "MEM_INST_RETIRED.STLB_MISS_LOADS": 1, "DTLB_LOAD_MISSES.STLB_HIT": 0}),
    ("skylake", "w", PAGE, 256,
     {"DTLB_STORE_MISSES.STLB_HIT": 1,
      "DTLB_STORE_MISSES.MISS_CAUSES_A_WALK": 0}),
    ("skylake", "w", PAGE, 4096,
     {"DTLB_STORE_MISSES.MISS_CAUSES_A_WALK": 1,
      "MEM_INST_RETIRED.STLB_MISS_STORES": 1,
      "DTLB_STORE_MISSES.STLB_HIT": 0}),
    ("zen3", "r", PAGE, 256,
     {"ls_l1_d_tlb_miss.all": 1, "ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit": 1,
      "ls_tablewalker.dside": 0}),
    ("zen3", "w", PAGE, 4096,
     {"ls_l1_d_tlb_miss.tlb_reload_4k_l2_miss": 1, "ls_tablewalker.dside": 1,
      "ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit": 0}),
    # Code: lines of more than the L1 instruction cache, then pages.
    ("skylake", "x", LINE, 1024,
     {"ICACHE_64B.IFTAG_MISS": 1, "L2_RQSTS.CODE_RD_HIT": 1,
      "L2_RQSTS.CODE_RD_MISS": 0}),
    ("zen3", "x", LINE, 1024,
     {"ic_cache_fill_l2": 1, "ic_cache_fill_sys": 0,
      "l2_cache_req_stat.ic_fill_hit_s": 1,
      "l2_request_g1.cacheable_ic_read": 1}),
    ("skylake", "x", PAGE + LINE, 1024,
     {"ITLB_MISSES.STLB_HIT": 1, "ITLB_MISSES.MISS_CAUSES_A_WALK": 0}),
    ("skylake", "x", PAGE + LINE, 4096,
     {"ITLB_MISSES.MISS_CAUSES_A_WALK": 1, "ITLB_MISSES.STLB_HIT": 0}),
    # 300 pages of code fit into the second TLB of code, 1,024 do not, although
    # the second TLB of data would hold them.
    ("zen3", "x", PAGE + LINE, 300,
     {"bp_l1_tlb_miss_l2_tlb_hit": 1, "bp_l1_tlb_miss_l2_tlb_miss": 0}),
    ("zen3", "x", PAGE + LINE, 1024,
     {"bp_l1_tlb_miss_l2_tlb_miss": 1, "ls_tablewalker.iside": 1,
      "bp_l1_tlb_miss_l2_tlb_hit": 0}),
    # Zen 2: an L2 of 512 KB, TLBs of 64 and 2,048 pages, of 512 for code.
    ("zen2", "r", LINE, 1024,
     {"ls_mab_alloc.loads": 1, "ls_mab_alloc.stores": 0, REFILLS + "l2": 1,
      REFILLS + "cache": 0, "l2_cache_req_stat.ls_rd_blk_l_hit_x": 1}),
    ("zen2", "w", LINE, MEGABYTE // LINE,
     {"ls_mab_alloc.stores": 1, REFILLS + "cache": 1, REFILLS + "l2": 0,
      REFILLS + "dram": 0, "l2_cache_req_stat.ls_rd_blk_c": 1}),
    ("zen2", "r", LINE, 2 * MEGABYTE // LINE,
     {REFILLS + "dram": 1, REFILLS + "cache": 0}, "--set", "l3.size=1M"),
    ("zen2", "r", PAGE, 256,
     {"ls_l1_d_tlb_miss.all": 1, "ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit": 1,
      "ls_tablewalker.dside": 0}),
    ("zen2", "w", PAGE, 4096,
     {"ls_l1_d_tlb_miss.tlb_reload_4k_l2_miss": 1, "ls_tablewalker.dside": 1}),
    ("zen2", "x", LINE, 1024, {"ic_cache_fill_l2": 1, "ic_cache_fill_sys": 0}),
    ("zen2", "x", PAGE + LINE, 300,
     {"bp_l1_tlb_miss_l2_hit": 1, "bp_l1_tlb_miss_l2_tlb_miss": 0}),
    ("zen2", "x", PAGE + LINE, 1024,
     {"bp_l1_tlb_miss_l2_tlb_miss": 1, "bp_l1_tlb_miss_l2_hit": 0}),
    # Zen 4: an L2 of 1 MB, TLBs of 72 and 3,072 pages, of 64 and 512 for code.
    ("zen4", "r", LINE, 1024,
     {"ls_mab_alloc.load_store_allocations": 1,
      "ls_dmnd_fills_from_sys.local_l2": 1, "l2_cache_req_stat.dc_hit_in_l2": 1,
      "ls_dmnd_fills_from_sys.local_ccx": 0}),
    ("zen4", "r", LINE, 3 * MEGABYTE // 4 // LINE,
     {"ls_dmnd_fills_from_sys.local_l2": 1,
      "ls_dmnd_fills_from_sys.local_ccx": 0}),
    ("zen4", "w", LINE, 2 * MEGABYTE // LINE,
     {"ls_dmnd_fills_from_sys.local_ccx": 1, "ls_any_fills_from_sys.all": 1,
      "l2_cache_req_stat.ls_rd_blk_c": 1, "l2_request_g1.all_dc": 1,
      "ls_dmnd_fills_from_sys.local_l2": 0,
      "ls_dmnd_fills_from_sys.dram_io_near": 0}),
    ("zen4", "r", LINE, 3 * MEGABYTE // LINE,
     {"ls_dmnd_fills_from_sys.dram_io_near": 1,
      "ls_any_fills_from_sys.dram_io_all": 1,
      "ls_dmnd_fills_from_sys.local_ccx": 0}, "--set", "l3.size=1M"),
    ("zen4", "r", PAGE, 256,
     {"ls_l1_d_tlb_miss.all": 1, "ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit": 1,
      "ls_l1_d_tlb_miss.all_l2_miss": 0}),
    ("zen4", "w", PAGE, 6144,
     {"ls_l1_d_tlb_miss.all_l2_miss": 1,
      "ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit": 0}),
    ("zen4", "x", LINE, 1024,
     {"ic_cache_fill_l2": 1, "l2_cache_req_stat.ic_hit_in_l2": 1}),
    ("zen4", "x", PAGE + LINE, 300,
     {"bp_l1_tlb_miss_l2_tlb_hit": 1, "bp_l1_tlb_miss_l2_tlb_miss.all": 0}),
    ("zen4", "x", PAGE + LINE, 1024,
     {"bp_l1_tlb_miss_l2_tlb_miss.all": 1, "bp_l1_tlb_miss_l2_tlb_hit": 0}),
    ("zen4", "a", LINE, 64, {"atomics": 1}),
    # Zen 5: an L1 of 48 KB, TLBs of 96 and 4,096 pages, of 64 and 2,048 for
    # code.
    ("zen5", "r", LINE, 640, {"ls_mab_alloc.load_store_allocations": 0}),
    ("zen5", "r", LINE, 3 * MEGABYTE // 4 // LINE,
     {"ls_mab_alloc.load_store_allocations": 1,
      "ls_dmnd_fills_from_sys.local_l2": 1, "l2_request_g1.all_dc": 1,
      "ls_dmnd_fills_from_sys.local_ccx": 0}),
    ("zen5", "w", LINE, 2 * MEGABYTE // LINE,
     {"ls_dmnd_fills_from_sys.local_ccx": 1, "l2_request_g1.all": 1,
      "l2_cache_req_stat.ls_rd_blk_c": 1,
      "ls_dmnd_fills_from_sys.dram_io_near": 0}),
    ("zen5", "r", LINE, 3 * MEGABYTE // LINE,
     {"ls_dmnd_fills_from_sys.dram_io_near": 1,
      "ls_dmnd_fills_from_sys.local_ccx": 0}, "--set", "l3.size=1M"),
    ("zen5", "r", PAGE, 3200,
     {"ls_l1_d_tlb_miss.all": 1, "ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit": 1,
      "ls_l1_d_tlb_miss.all_l2_miss": 0}),
    ("zen5", "w", PAGE, 8192,
     {"ls_l1_d_tlb_miss.all_l2_miss": 1,
      "ls_l1_d_tlb_miss.tlb_reload_4k_l2_hit": 0}),
    ("zen5", "x", PAGE + LINE, 1024,
     {"bp_l1_tlb_miss_l2_tlb_hit": 1, "bp_l1_tlb_miss_l2_tlb_miss.all": 0}),
    ("zen5", "x", PAGE + LINE, 4096,
     {"bp_l1_tlb_miss_l2_tlb_miss.all": 1, "bp_l1_tlb_miss_l2_tlb_hit": 0}),
    ("zen5", "a", LINE, 64, {"ls_locks.all": 1}),
    # Ice Lake-SP: caches of 48 KB and 1.25 MB, TLBs of 64, 128 and 2,048 pages.
    ("icelake", "r", LINE, 640,
     {"MEM_LOAD_RETIRED.L1_MISS": 0, "L1D.REPLACEMENT": 0}),
    ("icelake", "r", LINE, 9 * MEGABYTE // 8 // LINE,
     {"MEM_LOAD_RETIRED.L1_MISS": 1, "MEM_LOAD_RETIRED.L2_HIT": 1,
      "L2_RQSTS.DEMAND_DATA_RD_HIT": 1, "MEM_LOAD_RETIRED.L2_MISS": 0}),
    ("icelake", "w", LINE, 2 * MEGABYTE // LINE,
     {"L2_RQSTS.ALL_RFO": 1, "L2_RQSTS.RFO_MISS": 1, "L2_LINES_IN.ALL": 1,
      "LONGEST_LAT_CACHE.REFERENCE": 1, "LONGEST_LAT_CACHE.MISS": 0}),
    ("icelake", "r", LINE, 4 * MEGABYTE // LINE,
     {"MEM_LOAD_RETIRED.L3_MISS": 1, "LONGEST_LAT_CACHE.MISS": 1,
      "OFFCORE_REQUESTS.L3_MISS_DEMAND_DATA_RD": 1,
      "MEM_LOAD_RETIRED.L3_HIT": 0}, "--set", "l3.size=1536K"),
    ("icelake", "r", PAGE, 1600,
     {"DTLB_LOAD_MISSES.STLB_HIT": 1, "DTLB_LOAD_MISSES.WALK_COMPLETED": 0}),
    ("icelake", "w", PAGE, 4096,
     {"DTLB_STORE_MISSES.WALK_COMPLETED": 1, "DTLB_STORE_MISSES.STLB_HIT": 0,
      "DTLB_STORE_MISSES.WALK_COMPLETED_4K": 1,
      "MEM_INST_RETIRED.STLB_MISS_STORES": 1}),
    ("icelake", "x", LINE, 1024,
     {"ICACHE_64B.IFTAG_MISS": 1, "L2_RQSTS.CODE_RD_HIT": 1,
      "L2_RQSTS.CODE_RD_MISS": 0}),
    ("icelake", "x", PAGE + LINE, 1600,
     {"ITLB_MISSES.STLB_HIT": 1, "ITLB_MISSES.WALK_COMPLETED": 0}),
    ("icelake", "x", PAGE + LINE, 4096,
     {"ITLB_MISSES.WALK_COMPLETED": 1, "ITLB_MISSES.STLB_HIT": 0}),
    ("icelake", "a", LINE, 64, {"MEM_INST_RETIRED.LOCK_LOADS": 1}),
    ("skylake", "a", LINE, 64, {"MEM_INST_RETIRED.LOCK_LOADS": 1}),
    ("zen3", "a", LINE, 64, {"atomics": 1}),
    # The L1 data cache of 64 KB, the L2 of 1 MB, the system-level cache.
    ("neoverse-n1", "r", LINE, 2048,
     {"L1D_CACHE_REFILL_RD": 1, "L1D_CACHE_REFILL_WR": 0,
      "L1D_CACHE_REFILL_INNER": 1, "L1D_CACHE_REFILL_OUTER": 0,
      "L2D_CACHE_RD": 1, "L2D_CACHE_REFILL": 0}),
    ("neoverse-n1", "w", LINE, 2048,
     {"L1D_CACHE_REFILL_WR": 1, "L1D_CACHE_REFILL_RD": 0, "L2D_CACHE_RD": 1,
      "L1D_CACHE_REFILL_INNER": 1, "L2D_CACHE_REFILL": 0}),
    ("neoverse-n1", "r", LINE, 2 * MEGABYTE // LINE,
     {"L1D_CACHE_REFILL_OUTER": 1, "L2D_CACHE_REFILL_RD": 1, "LL_CACHE_RD": 1,
      "LL_CACHE_MISS_RD": 0}),
    ("neoverse-n1", "w", LINE, 2 * MEGABYTE // LINE,
     {"L1D_CACHE_REFILL_OUTER": 1, "L2D_CACHE_REFILL": 1, "LL_CACHE_RD": 1,
      "LL_CACHE_MISS_RD": 0}),
    ("neoverse-n1", "r", LINE, 4 * MEGABYTE // LINE,
     {"LL_CACHE_MISS_RD": 1, "LL_CACHE_RD": 0}, "--set", "l3.size=2M"),
    ("neoverse-n1", "w", LINE, 4 * MEGABYTE // LINE,
     {"LL_CACHE_MISS_RD": 1, "LL_CACHE_RD": 0}, "--set", "l3.size=2M"),
    # The first TLB of data, of 48 pages, and the second, of 1,280.
    ("neoverse-n1", "r", PAGE, 256,
     {"L1D_TLB_REFILL_RD": 1, "L2D_TLB_RD": 1, "L2D_TLB_REFILL": 0,
      "DTLB_WALK": 0}),
    ("neoverse-n1", "r", PAGE, 4096,
     {"L1D_TLB_REFILL_RD": 1, "L2D_TLB_REFILL_RD": 1, "DTLB_WALK": 1}),
    ("neoverse-n1", "w", PAGE, 256,
     {"L1D_TLB_REFILL_WR": 1, "L2D_TLB_WR": 1, "L2D_TLB_REFILL": 0}),
    ("neoverse-n1", "w", PAGE, 4096,
     {"L1D_TLB_REFILL_WR": 1, "L2D_TLB_REFILL_WR": 1, "DTLB_WALK": 1}),
    # Neoverse V1: TLBs of 40 and 2,048 pages.
    ("neoverse-v1", "r", LINE, 2048,
     {"L1D_CACHE_LMISS_RD": 1, "L1D_CACHE_REFILL_INNER": 1,
      "L2D_CACHE_LMISS_RD": 0}),
    ("neoverse-v1", "r", LINE, 2 * MEGABYTE // LINE,
     {"L1D_CACHE_LMISS_RD": 1, "L2D_CACHE_LMISS_RD": 1, "LL_CACHE_RD": 1,
      "LL_CACHE_MISS_RD": 0}),
    ("neoverse-v1", "w", LINE, 4 * MEGABYTE // LINE,
     {"LL_CACHE_MISS_RD": 1, "L2D_CACHE_LMISS_RD": 1, "LL_CACHE_RD": 0,
      "L1D_CACHE_LMISS_RD": 0}, "--set", "l3.size=2M"),
    ("neoverse-v1", "r", PAGE, 1600,
     {"L1D_TLB_REFILL_RD": 1, "L2D_TLB_RD": 1, "L2D_TLB_REFILL": 0,
      "DTLB_WALK": 0}),
    ("neoverse-v1", "w", PAGE, 4096,
     {"L1D_TLB_REFILL_WR": 1, "L2D_TLB_REFILL_WR": 1, "DTLB_WALK": 1}),
    # The L1 data cache of 32 KB, the L2 of 1 MB, which is the last.
    ("cortex-a72", "r", LINE, 384,
     {"L1D_CACHE_REFILL": 0, "L2D_CACHE_RD": 0}),
    ("cortex-a72", "r", LINE, 1024,
     {"L1D_CACHE_REFILL_RD": 1, "L1D_CACHE_REFILL_WR": 0, "L2D_CACHE_RD": 1,
      "L2D_CACHE_REFILL": 0}),
    ("cortex-a72", "w", LINE, 2 * MEGABYTE // LINE,
     {"L1D_CACHE_REFILL_WR": 1, "L1D_CACHE_REFILL_RD": 0, "L2D_CACHE_RD": 1,
      "L2D_CACHE_REFILL": 1}),
    # The first TLB of data, of 32 pages, and the second, of 1,024.
    ("cortex-a72", "r", PAGE, 256,
     {"L1D_TLB_REFILL_RD": 1, "L1D_TLB_REFILL_WR": 0, "data-walks": 0}),
    ("cortex-a72", "w", PAGE, 4096,
     {"L1D_TLB_REFILL_WR": 1, "data-walks": 1}),
    # More than the L1 data cache of 32 KB; the TLBs, of 40 pages and 512.
    ("sifive-u74", "r", LINE, 1024,
     {"DCACHE_MISS_MMIO_ACCESSES": 1, "DATA_TLB_MISS": 0}),
    ("sifive-u74", "w", LINE, 1024,
     {"DCACHE_MISS_MMIO_ACCESSES": 1, "DATA_TLB_MISS": 0}),
    ("sifive-u74", "r", PAGE, 256, {"DATA_TLB_MISS": 1, "UTLB_MISS": 0}),
    ("sifive-u74", "w", PAGE, 256, {"DATA_TLB_MISS": 1, "UTLB_MISS": 0}),
    ("sifive-u74", "r", PAGE, 1024, {"DATA_TLB_MISS": 1, "UTLB_MISS": 1}),
    ("sifive-u74", "w", PAGE, 1024, {"DATA_TLB_MISS": 1, "UTLB_MISS": 1}),
)


def returns(machine, misses, wrong):
    """Of 20 calls, each inside the one before, a return stack keeps the last."""
    c = t.count(["-m", machine, "-e", "all"], guest("bundles", machine))
    depth = t.parameters(machine)["return.depth"]
    t.equal(c[wrong], max(20 - depth, 0), f"returns with a stack of {depth}")
    assert c[wrong] <= c[misses], "returns are among the branches"


def real(machine, program, *words):
    c = t.count(["-m", machine, "-e", events_of(machine)],
                guest(program, machine), *words)
    check_sums(machine, c)
    check_time(c, machine)
    again = t.count(["-m", machine, "-e", events_of(machine)],
                    guest(program, machine), *words)
    t.same(c.values, again.values)


# An event, its code as perf writes it, the register that encodes it.
CODES = (
    ("skylake", "BR_MISP_RETIRED.ALL_BRANCHES", "r00c5",
     "IA32_PERFEVTSEL0 = 0x4300c5"),
    ("skylake", "MEM_LOAD_RETIRED.L3_MISS", "r20d1",
     "IA32_PERFEVTSEL0 = 0x4320d1"),
    ("skylake", "LONGEST_LAT_CACHE.MISS", "r412e",
     "IA32_PERFEVTSEL0 = 0x43412e"),
    ("skylake", "DTLB_LOAD_MISSES.MISS_CAUSES_A_WALK", "r0108",
     "IA32_PERFEVTSEL0 = 0x430108"),
    ("icelake", "BR_INST_RETIRED.COND", "r11c4",
     "IA32_PERFEVTSEL0 = 0x4311c4"),
    ("icelake", "TOPDOWN.SLOTS_P", "r01a4", "IA32_PERFEVTSEL0 = 0x4301a4"),
    ("icelake", "DTLB_LOAD_MISSES.WALK_COMPLETED", "r0e08",
     "IA32_PERFEVTSEL0 = 0x430e08"),
    ("zen3", "ex_ret_brn_misp", "rc3", "PERF_CTL0 = 0x4300c3"),
    ("zen3", "l2_cache_req_stat.ls_rd_blk_c", "r0864",
     "PERF_CTL0 = 0x430864"),
    ("zen3", "ls_l1_d_tlb_miss.all", "rff45", "PERF_CTL0 = 0x43ff45"),
    ("zen2", "ls_refills_from_sys.ls_mabresp_lcl_dram", "r0843",
     "PERF_CTL0 = 0x430843"),
    ("zen2", "ex_ret_cond_misp", "rd2", "PERF_CTL0 = 0x4300d2"),
    ("zen4", "ls_dmnd_fills_from_sys.all", "rff43", "PERF_CTL0 = 0x43ff43"),
    ("zen4", "ls_l1_d_tlb_miss.all_l2_miss", "rf045", "PERF_CTL0 = 0x43f045"),
    ("zen5", "ls_mab_alloc.load_store_allocations", "r0741",
     "PERF_CTL0 = 0x430741"),
    ("zen5", "bp_redirects.ex_redir", "r029f", "PERF_CTL0 = 0x43029f"),
    ("neoverse-n1", "L1D_CACHE_REFILL", "r3", "PMEVTYPER0_EL0 = 0x3"),
    ("neoverse-n1", "BR_MIS_PRED_RETIRED", "r22", "PMEVTYPER0_EL0 = 0x22"),
    ("neoverse-n1", "LL_CACHE_MISS_RD", "r37", "PMEVTYPER0_EL0 = 0x37"),
    ("neoverse-v1", "L2D_CACHE_LMISS_RD", "r4009",
     "PMEVTYPER0_EL0 = 0x4009"),
    ("neoverse-v1", "STALL", "r3c", "PMEVTYPER0_EL0 = 0x3c"),
    ("cortex-a72", "LDST_SPEC", "r72", "PMEVTYPER0_EL0 = 0x72"),
    ("cortex-a72", "BR_MIS_PRED", "r10", "PMEVTYPER0_EL0 = 0x10"),
    ("sifive-u74", "CONDITIONAL_BRANCH_RETIRED", "r4000",
     "mhpmevent3 = 0x4000"),
    ("sifive-u74", "BRANCH_DIRECTION_MISPREDICTION", "r2001",
     "mhpmevent3 = 0x2001"),
    ("sifive-u74", "DCACHE_MISS_MMIO_ACCESSES", "r202", "mhpmevent3 = 0x202"),
    ("sifive-u74", "UTLB_MISS", "r2002", "mhpmevent3 = 0x2002"),
)


def code(machine, event, raw, register):
    """The code means the event, and is what the vendor's register takes."""
    done = t.run(t.tally(), "encode", "-m", machine, event, check=True)
    t.equal(done.stdout.split("   #")[0], register, "the register")
    c = t.count(["-m", machine, "-e", f"{event},{raw}"],
                guest("hello", machine))
    t.equal([row["name"] for row in c.json["events"]], [event] * 2, raw)
    assert c[event] > 0, f"{event}: a program misses somewhere"


def in_order(machine):
    """With time.model=sum the terms are the cycles, too, but for what only a core
    out of order has, and its cycles are others."""
    ran = [t.count(["-m", machine, "--clean-env", "-e", events_of(machine), "--set",
                    f"time.model={model}"], guest("lua", machine), "-e",
                   "for i = 1, 8000 do _ = i .. '' end")
           for model in ("ooo", "sum")]
    out, within = ran
    for c in ran:
        check_time(c, machine)
    check_sums(machine, out)
    assert out["stall-core"] > 0, "nothing waits for a result"
    rows = {e["name"]: e for e in within.json["events"]}
    t.equal(rows["stall-core"]["fidelity"], "idle")
    t.contains(rows["stall-core"]["reason"], "executes in order")
    cycles = CYCLES[machine]
    assert out[cycles] != within[cycles], "the same cycles"


def idle(machine):
    """What the model lacks has its reason, and no other event is called idle but
    those of prefetches, which --set switches on, of a core in order, and of
    strands that share a pipeline."""
    c = t.count(["-m", machine, "-e", "all"], guest("hello", machine))
    signals = t.event_signals(machine)
    rows = {e["name"]: e for e in c.json["events"]}
    for event, sums in signals.items():
        row = rows[event]
        away = WITHOUT_TIME if machine in CORES_IN_ORDER else IN_ORDER
        away = away | {"stall_issue"}
        away = away | {"stall_l3"} if machine in WITHOUT_L3 else away
        away = away if machine in WITH_BTB3 else away | {"btb3_hits"}
        lacks = not sums or all(
            name in away or name.startswith("huge_") or
            "prefetch" in name and name != "prefetches"
            for name in sums)
        t.equal(row["fidelity"] == "idle", lacks, event)
        assert not lacks or row["reason"], f"{event}: no reason"


def add_cases():
    for machine in MACHINES:
        isa = MACHINES[machine]
        for path in sorted(t.ROOT.glob(f"test/guest/{isa}/*.S")):
            if path.stem != kernels.ESTIMATED:
                t.case(f"{path.stem} on {machine}", kernel, path, machine)
        t.case(f"bzip2 on {machine} adds up, two runs alike", real, machine,
               "bzip2", "-9kc", *kernels.BZIP2)
        t.case(f"lua on {machine} adds up, two runs alike", real, machine,
               "lua", "-e", "for i = 1, 8000 do _ = i .. '' end")
        if machine not in CORES_IN_ORDER:
            t.case(f"cycles of {machine} out of order and in order add up",
                   in_order, machine)
        t.case(f"idle events of {machine} have reasons", idle, machine)
    for machine in ("skylake", "icelake"):
        t.case(f"returns on {machine}", returns, machine,
               "BR_MISP_RETIRED.ALL_BRANCHES", "BR_MISP_RETIRED.RET")
    for machine in ("zen2", "zen3", "zen4", "zen5"):
        t.case(f"returns on {machine}", returns, machine, "ex_ret_brn_misp",
               "ex_ret_near_ret_mispred")
    for machine, kind, step, count, moved, *options in PLACES:
        t.case(f"{machine}: {kind} at {count} places of {step}", places,
               machine, kind, step, count, moved, *options)
    for row in CODES:
        t.case(f"the code of {row[1]}", code, *row)


add_cases()
t.main()
