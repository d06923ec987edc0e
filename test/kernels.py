#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs whose counts follow from arithmetic: kernels.py BUILD [WORD]

The header of each test/guest/ARCH/*.S states counts of signals ("  loads  12
why"). An event that sums signals is compared when the header names one of
them; those that it does not name are 0. sparc64 kernels run on the UltraSPARC
T1 and T2, the SPARC T4, and on host-model made into a T2, whose events show
signals that the T2's do not; mips64 kernels, of both orders of bytes, on the
R10000 and R12000, and on host-model made into an R10000; x86_64, aarch64
and riscv64 kernels on host-model. The numbers are a T2's
and an R10000's; lines after "On MACHINE:" are that machine's, with a '?' where
arithmetic does not tell; a machine is also one of PREDICTORS, host-model with
these options more, or of T4_PREDICTORS. What the numbers are is in the headers;
what they may miss is added here: the classes add up, on real programs too, and
runs repeat.
"""
import json
import pathlib
import re
import tempfile

import tallytest as t

T1 = "ultrasparc-t1"
T2 = "ultrasparc-t2"
T4 = "sparc-t4"
R10000 = "r10000"
MIPS = (R10000, "r10000-rev2", "r12000")
HOST_MODEL = ("x86_64", "aarch64", "riscv64")
NUMBER = re.compile(r"^ \*   (\w+) +(\d+|\?)(?:  |$)", re.MULTILINE)
MACHINE = re.compile(r"^ \* On ([\w-]+):$", re.MULTILINE)
CLASSES = ("Completed_branches", "FGU_arithmatic_instr", "Load_instr",
           "Store_instr", "sethi_instr", "Other_instr", "Atomics")
T4_CLASSES = ("Branches", "FGU_crypto_arithmetic_instructions",
              "Load_instructions", "Store_instructions", "SPR_ring_ops",
              "Other_instructions")
T4_WALK = "{}_hardware_tablewalk_references"
BUFFERS = {"branch.predictor": "bimodal", "branch.entries": 2048,
           "indirect.entries": 512, "btb2.time": 1, "time.resteer": 8}
SMALL = {"cores": 2, "dtlb.entries": 64, "dtlb.ways": 4, "dtlb.replacement": "lru",
         "tlb.walk": 4, "tlb.tables": "radix"}
PREDICTORS = {
    "small-pages": SMALL,
    "huge-pages": SMALL | {"tlb.huge": "always"},
    "huge-apart": SMALL | {"tlb.huge": "always", "huge.entries": 16,
                           "huge.ways": 16},
    "huge-asked": SMALL | {"tlb.huge": "madvise", "huge.entries": 32},
    "bimodal-512": {"branch.predictor": "bimodal", "branch.entries": 512},
    "bimodal-2048": {"branch.predictor": "bimodal", "branch.entries": 2048},
    "btb-16-128": BUFFERS | {"btb1.entries": 16, "btb2.entries": 128},
    "btb-ooo": BUFFERS | {"btb1.entries": 16, "btb2.entries": 128,
                          "time.model": "ooo", "rob.entries": 224,
                          "fetch.ahead": 0},
    "btb-65": BUFFERS | {"btb1.entries": 65},
    "btb-16-48v": BUFFERS | {"btb1.entries": 16, "btb2.entries": 48,
                             "btb2.fill": "victims"},
    "btb-16-49v": BUFFERS | {"btb1.entries": 16, "btb2.entries": 49,
                             "btb2.fill": "victims"},
}
T4_PREDICTORS = {
    "t4-bimodal": "branch.predictor=bimodal",
    "t4-path": "indirect.history=2",
    "t4-deep": "return.depth=16",
}
# Of an R10000, by any real program.
LIVELY = {
    "Quadwords_written_back_from_primary_data_cache",
    "Data_misprediction_from_scache_way_prediction_table",
    "Instruction_misprediction_from_scache_way_prediction_table",
    "Store_fetch_exclusive_to_clean_block_in_secondary_cache",
    "Store_prefetch_exclusive_to_shared_block_in_secondary_cache",
    "Miss_handling_table_occupancy", "Decoded_loads", "Issued_loads",
    "stall_store", "TLB_misses",
}
DRAM = ("rd_queue_latency", "wr_queue_latency", "rw_queue_latency",
        "bank_busy_stalls", "wr_buf_hits")
T4_DRAM = ("Read_queue_latency", "Write_queue_latency",
           "Read_Write_queue_latency", "Bank_busy_stalls",
           "Writeback_buffer_hits")
# Leaves its blocks early, so that its counts are estimates: see test/early.py.
ESTIMATED = "own_code"
# Of a header, for what is checked besides.
NO_SIGNAL = {"twin_loads"}
TERMS = ("issue_cycles", "stall_fetch", "stall_load", "stall_store",
         "stall_branch", "stall_tlb", "stall_window", "stall_atomic",
         "stall_fp", "stall_issue")
BZIP2 = (t.source("LICENSES", "GPL-2.0-or-later.txt"),)


def stated(path, machine=T2):
    """signal: its count, from the header of a kernel."""
    header = path.read_text().split("*/\n")[1]
    everywhere, *pieces = MACHINE.split(header)
    own = dict(zip(pieces[::2], pieces[1::2])).get(machine, "")
    numbers = dict(NUMBER.findall(everywhere) + NUMBER.findall(own))
    if "l1d_load_misses" in numbers:
        numbers.setdefault("plain_load_misses", numbers["l1d_load_misses"])
    assert "instructions" in numbers, f"{path}: the header states no counts"
    return {name: None if n == "?" else int(n) for name, n in numbers.items()}


def wrong_path(numbers):
    """What an R10000's mispredicts let in: 5 cycles of 4 instructions each."""
    wrong = numbers.get("conditional_mispredicts")
    parts = {"instructions": 1, "loads": 4, "stores": 8, "branches": 8}
    return {f"wrong_path_{what}": None if wrong is None else wrong * 20 // part
            for what, part in parts.items()}


def wanted(numbers, machine):
    """event: its count, of the events that show a stated signal."""
    return {event: sum(numbers.get(s, 0) for s in signals)
            for event, signals in counted(machine).items()
            if any(s in numbers for s in signals) and
            may_tell(numbers, signals)}


def counted(machine):
    """event: its signals, for what is counted; of one bank of memory too."""
    signals = t.event_signals(machine)
    for event in ("mem_reads", "mem_writes", "mem_read_write", *DRAM):
        each = len(signals.get(event, [])) // 4
        for bank in range(4 if each else 0):
            signals[f"{event}:at={bank}"] = \
                signals[event][bank * each:(bank + 1) * each]
    return signals


def count_all(machine, path):
    """Everything, also by bank."""
    parts = [e for e in counted(machine) if ":" in e]
    return t.count(["-m", machine, "-e", ",".join(["all", *parts])],
                   t.guest(path.stem + ".sparc64"))


def may_tell(numbers, signals):
    """Not fetches and data together: headers state one side's cold misses.
    Of memory, not what a header does not state at all."""
    fetch = {"itlb_misses", "l2_fetch_misses", "l3_fetch_misses", "stall_fetch"}
    stated = {s.rpartition("_")[0] for s in numbers}
    memory = {s.rpartition("_")[0] for s in signals
              if s.startswith(("memory_", "dram_"))}
    return ((len(signals) == 1 or not fetch & set(signals)) and
            memory <= stated and
            all(numbers.get(s, 0) is not None for s in signals))


def compare(c, expected):
    t.same({e: c[e] for e in expected}, expected, "tally and the header")


def check_classes(c):
    t.equal(sum(c[e] for e in CLASSES), c["All_instr"], "sum of the classes")
    t.equal(c["ITLB_miss"] + c["DTLB_miss"], c["TLB_miss"], "TLB misses")


def check_time(c):
    """Some machines write stall-load and Cycles, and lack a term that has no
    counterpart there."""
    times = {event.replace("-", "_").lower(): n
             for event, n in c.values.items()}
    t.equal(sum(times.get(term, 0) for term in TERMS), times["cycles"],
            "sum of the terms of cycles")


def check_dram(c, machine):
    """Each read and write is served once; who waits, waits for a bank."""
    read, write, both, stalls, deferred = [
        c[e] for e in (T4_DRAM if machine == T4 else DRAM)]
    reads, writes = [c[e] for e in (("All_reads", "All_writes")
                                    if machine == T4 else
                                    ("mem_reads", "mem_writes"))]
    time = t.parameters(machine)["time.bank"]
    t.equal(read + write, both, "both queues")
    waits = both - time * (reads + writes)
    assert read >= time * reads and write >= time * writes, "services"
    assert stalls <= waits <= 16 * stalls, f"{stalls} and {waits} of 16"
    assert deferred <= min(reads, writes), "deferred reads"


def on_t2(path):
    c = count_all(T2, path)
    compare(c, wanted(stated(path), T2))
    t.equal(c["Idle_strands"], c["cycles"] - c["issue_cycles"],
            "a strand alone on its core")
    check_dram(c, T2)
    check_classes(c)
    check_time(c)


def dram_in_pieces(machine):
    """What intervals, threads and controllers count is all that is counted."""
    events = [*(T4_DRAM if machine == T4 else DRAM),
              *(["Write_starved"] if machine == T4 else [])]
    each = [f"{e}:at={i}" for e in events for i in range(4)]
    small = {T1: "l2.size=192K", T2: "l2.size=128K",
             T4: "l3.size=128K"}[machine]
    words = ["-m", machine, "--set", small, "-e", ",".join([*events, *each])]
    program = [t.guest("bzip2.sparc64"), "-9kc", *BZIP2]
    whole = t.Count(words, program)
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report")
        t.run(t.tally(), "count", "-j", "-I", 1, "-o", report, *words, "--",
              *program)
        pieces = [json.loads(line)["events"]
                  for line in report.read_text().splitlines()]
    assert len(pieces) > 1, "one interval"
    threads = t.count([*words, "--per-thread"], t.guest("crew.sparc64"), 3, 1)
    assert whole[events[1]] > 0, "nothing is written to memory"
    for e in events:
        t.equal(sum(whole[f"{e}:at={i}"] for i in range(4)), whole[e],
                f"{e} of each controller")
        t.equal(sum(row["value"] for p in pieces for row in p
                    if row["name"] == e), whole[e], f"{e} of each interval")
        t.equal(sum(row["events"][e] for row in threads.json["strands"]),
                threads[e], f"{e} of each thread")


def on_t1(path):
    c = count_all(T1, path)
    compare(c, wanted(stated(path, T1), T1))
    check_dram(c, T1)
    t.equal(c["jbus_cycles"], c["cycles"] // 6, "200 MHz of 1.2 GHz")
    check_time(c)


def check_t4(c, twins=0, bulk=0):
    """Rules T4-R43, T4-R50, T4-R52, T4-R62 and what else must add up."""
    t.equal(sum(c[e] for e in T4_CLASSES), c["All_instructions"], "mask 3Fh")
    t.equal(c["Branches_sl4"], c["Branches"], "the branches of sl 4")
    assert c["Taken_branches"] <= c["Branches"], "taken branches"
    assert c["Branch_mispredict"] <= c["Branches"], "mispredicts"
    target = "Branch_target_mispredict"
    t.equal(c[f"{target}_far_table_or_return_stack"] +
            c[f"{target}_indirect_table"], c[target], "mask 0Eh")
    t.equal(c["Branch_direction_mispredicts"] + c[target],
            c["Branch_mispredict"], "mask 0Fh")
    for cache in ("Icache_miss", "L1_data_cache_miss"):
        parts = ("_L2_L3_hit", "_local_memory_hit", "_remote_hit")
        t.equal(sum(c[cache + part] for part in parts), c[cache], cache)
    for tlb in ("ITLB", "DTLB"):
        refs = T4_WALK.format(tlb)
        parts = ("_hit_L2", "_hit_L3", "_miss_L3")
        t.equal(sum(c[f"{refs}_which{part}"] for part in parts), c[refs], refs)
        t.equal(c[refs], c[f"{tlb}_misses_async"], "one request a walk")
        sizes = ("8KB", "64KB", "4MB", "256MB", "2GB")
        fills = [c[f"{tlb}_fill_for_{size}_page"] for size in sizes]
        t.equal(fills, [c[f"{tlb}_misses_async"], 0, 0, 0, 0], "pages of 8 KB")
    check_stages(c, twins)
    check_memory(c, bulk)


def check_memory(c, bulk):
    """T4-R51, T4-R59, T4-R74 to T4-R76: stores, evictions, and what reaches
    memory; `bulk` block loads and twin loads do, and are no misses."""
    t.equal(c["Instruction_cache_microtag_miss"] +
            c["Instruction_cache_microtag_hit_ptag_miss"], c["Icache_miss"],
            "microtags")
    for place in ("RAW_hit_in_store_buffer", "RAW_hit_in_store_queue"):
        both = place if "buffer" in place else "Full_or_partial_" + place
        t.equal(c["Full_" + place] + c["Partial_" + place], c[both], both)
    t.equal(c["Store_hits_in_L3"] + c["Stores_to_local_memory"],
            c["L2_store_misses"], "stores that the L2 lacks")
    walks = [c[T4_WALK.format(tlb) + "_which_miss_L3"]
             for tlb in ("ITLB", "DTLB")]
    t.equal(c["Icache_miss_local_memory_hit"] + c["Stores_to_local_memory"] +
            c["L1_data_cache_miss_local_memory_hit"] + sum(walks) +
            bulk + c["Data_prefetch_hits_to_local_memory"] +
            c["L1D_prefetches_to_local_memory"], c["All_reads"],
            "reads of memory")
    check_dram(c, T4)
    t.equal(c["Read_transactions"], c["All_reads"], "reads of all ports")
    t.equal(c["Write_transactions"], c["All_writes"], "writes of all ports")
    for parts in (("All_reads", "All_writes"),
                  ("Channel_0_reads_writes", "Channel_1_reads_writes")):
        t.equal(sum(c[part] for part in parts), c["Read_write_transactions"],
                " and ".join(parts))


def check_stages(c, twins):
    """Rules T4-R41, T4-R42 and T4-R65: each stage's cycles are all, and each
    handles every micro-operation; of a twin load there are two."""
    cycles = c["Cycles"]
    t.equal(c["Sel-0-wait"] + c["Sel-0-ready"], c["Sel-0-wait-or-ready"], "06h")
    t.equal(c["Sel-1"] + c["Sel-2"], c["Sel-1-or-2"], "select, mask 18h")
    t.equal(c["Sel-0-wait-or-ready"] + c["Sel-1-or-2"], c["Sel-all"], "1Fh")
    t.equal(c["Sel-all"] + c["Select_tag_wait_cycles"], cycles, "select")
    waits = [c[f"{buffer}_tag_wait_cycles"] for buffer in ("ROB", "LB", "SB")]
    t.equal(sum(waits), c["Select_tag_wait_cycles"], "waits for a tag")
    t.equal(sum(waits), c["stall_load"], "waits for loads")
    t.equal(c["Sel-pipe-drain-cycles"], 24 * c["Branch_mispredict"], "drains")
    assert c["Sel-pipe-drain-cycles"] <= c["Sel-0-wait"], "drains are waits"
    picks = [c[f"Pick-{n}"] for n in range(4)]
    t.equal(sum(picks[1:]), c["Any_pick"], "pick, mask 0Eh")
    t.equal(sum(picks), cycles, "pick")
    t.equal(c["Commit-1"] + c["Commit-2"], c["Commit-1-or-2"], "commit, 0Ch")
    t.equal(c["Commit-0"] + c["Commit-1-or-2"], cycles, "commit")
    t.equal(c["Commit-0-all"] + c["stall_issue"], c["Commit-0"], "of one strand")
    micro = c["All_instructions"] + 7 * c["Block_loads_and_stores"] + twins
    for stage in ("Sel", "Commit"):
        t.equal(c[f"{stage}-1"] + 2 * c[f"{stage}-2"], micro, stage)
    for event in ("Fetch-0", "Instruction_buffer_full_cycles"):
        assert c[event] < cycles, event


def on_t4(path, name=T4):
    change = T4_PREDICTORS.get(name)
    options = ["--set", change] if change else []
    c = t.count(["-m", T4, "-e", "all", *options],
                t.guest(path.stem + ".sparc64"))
    numbers = stated(path, name)
    compare(c, wanted(numbers, T4))
    check_t4(c, numbers.get("twin_loads", 0), numbers.get("bulk_l3_misses", 0))
    check_time(c)


def t4_set():
    """A T4 without an L3: what the L2 lacks comes from memory."""
    c = t.count(["-m", T4, "-e", "all", "--set", "l3.size=0"],
                t.guest("stride_l2.sparc64"))
    check_t4(c)
    t.equal(c["L1_data_cache_miss_local_memory_hit"], c["L2_load_misses"],
            "loads served by memory")
    t.equal(c["L2_load_misses"], 2048, "L2_load_misses")


def t4_pages():
    """Fills count by the size of page, of which there is one."""
    sizes = {"8K": "8KB", "64K": "64KB", "4M": "4MB", "256M": "256MB",
             "2G": "2GB", "1M": None}
    for size, name in sizes.items():
        c = t.count(["-m", T4, "-e", "all", "--set", f"tlb.page={size}"],
                    t.guest("tlb_thrash.sparc64"))
        for tlb in ("ITLB", "DTLB"):
            assert c[f"{tlb}_misses_async"] > 0, f"{tlb} with {size}"
            for other in filter(None, sizes.values()):
                t.equal(c[f"{tlb}_fill_for_{other}_page"],
                        c[f"{tlb}_misses_async"] if other == name else 0,
                        f"{tlb} fills of {other} with pages of {size}")


def t4_evictions():
    """A walk over more than the L2 fills it, with 2048 of the lines that it
    goes by; each further miss drives one out."""
    c = t.count(["-m", T4, "-e", "all", "--set", "l2.line=64"],
                t.guest("chase_memory.sparc64"))
    walks = sum(c[f"{T4_WALK.format(tlb)}_which_{level}_L3"]
                for tlb in ("ITLB", "DTLB") for level in ("hit", "miss"))
    misses = (c["L2_fetch_misses"] + c["L2_load_misses"] +
              c["L2_store_misses"] + walks)
    t.equal(c["Clean_L2_evictions"] + c["Dirty_L2_evictions"], misses - 2048,
            "evictions")


def t4_prefetch():
    """Nothing waits for a prefetch: of 32 pairs in one bank of memory the
    second waits until that has served the first. Performed or not, a prefetch
    costs no cycle; where it is not, the loads find less."""
    def counts(how):
        return {name: t.count(["-m", T4, "-e", "all", "--set",
                               f"prefetch.data={how}"],
                              t.guest(f"{name}.sparc64"))
                for name in ("prefetch_queue", "prefetch")}

    performed, counted = counts("performed"), counts("counted")
    time = t.parameters(T4)["time.bank"]
    c = performed["prefetch_queue"]
    t.equal(c["Read_queue_latency"], time * (c["All_reads"] + 32),
            "reads in the queue")
    t.equal(counted["prefetch_queue"]["stall_load"], c["stall_load"],
            "loads of lines that nothing prefetches")
    first, second = performed["prefetch"], counted["prefetch"]
    t.equal(second["L1_data_cache_miss_local_memory_hit"] -
            first["L1_data_cache_miss_local_memory_hit"], 200, "from memory")
    t.equal(second["Cycles"] - first["Cycles"],
            second["stall_load"] - first["stall_load"], "cycles")
    for event in ("Data_prefetch_hits_in_L2", "L1D_prefetch_misses"):
        t.equal(second[event], 0, event)
    t.equal(second["unperformed_prefetches"], second["Software_prefetch"],
            "of none performed")
    check_bare_prefetches()
    for event in ("L1_data_cache_miss", "L2_load_misses",
                  "Data_prefetch_hits_in_L2", "unperformed_prefetches"):
        alone = t.count(["-m", T4, "-e", event], t.guest("prefetch.sparc64"))
        t.equal(alone[event], first[event], f"{event} alone")


def t4_outlived():
    """What an L2 drives out that holds nothing for the L1s stays in them: the
    lines of evictions.S are missed once."""
    c = t.count(["-m", T4, "-e", "all", "--set", "l2.inclusive=none"],
                t.guest("evictions.sparc64"))
    check_t4(c)
    t.equal(c["L1_data_cache_miss"], 65536 + 3, "L1_data_cache_miss")
    t.equal(c["Icache_miss"], 3, "Icache_miss")
    for event in ("Data_cache_eviction_invalidations",
                  "Any_L1_cache_invalidation"):
        t.equal(c[event], 0, event)


def check_bare_prefetches():
    """prefetch.S where memory is behind the L1D or the L2."""
    no_l3, no_l2 = "--set l3.size=0", "--set l2.size=0 --set tlb.walk=0"
    for sets, event, count, lacks in (
            (no_l3, "Data_prefetch_hits_in_L3", 0, "l3.size"),
            (no_l3, "Data_prefetch_hits_to_local_memory", 200, ""),
            (f"{no_l2} {no_l3}", "Data_prefetch_hits_in_L2", 0, "l2.size"),
            (f"{no_l2} {no_l3}", "L1D_prefetches_to_local_memory", 100, ""),
            (f"{no_l2} {no_l3}", "unperformed_prefetches", 500, "")):
        c = t.count(["-m", T4, *sets.split(), "-e", event],
                    t.guest("prefetch.sparc64"))
        row = c.json["events"][0]
        t.equal(row["value"], count, f"{event}, {sets}")
        t.equal(row["fidelity"] == "idle", lacks != "", f"{event}, {sets}")
        assert lacks in row.get("reason", ""), row


def t4_fetch():
    """t4_stages.S's header has the cycles with a fetch."""
    c = t.count(["-m", T4, "-e", "all"], t.guest("t4_stages.sparc64"))
    t.equal(c["Cycles"] - c["Fetch-0"], 302, "cycles with a fetch")
    t.equal(c["Fetch-0"], c["Fetch-0-all"], "a strand alone")
    t.equal(c["Instruction_buffer_full_cycles"],
            c["issue_cycles"] + c["stall_load"] + c["stall_atomic"] - 302,
            "Instruction_buffer_full_cycles")


def t4_cycles():
    """doc/models/sparc-t4.md's sum, on a kernel that knows its terms."""
    c = t.count(["-m", T4, "-e", "all"], t.guest("chase_ways.sparc64"))
    fetches, walks = c["Icache_miss"], c["ITLB_misses_async"] + 14
    far = (c["Icache_miss_local_memory_hit"] + 14 +
           c["ITLB_hardware_tablewalk_references_which_miss_L3"] +
           c["DTLB_hardware_tablewalk_references_which_miss_L3"])
    past_l2 = (1400 + c["L2_fetch_misses"] + walks -
               c["ITLB_hardware_tablewalk_references_which_hit_L2"] -
               c["DTLB_hardware_tablewalk_references_which_hit_L2"])
    want = (c["Sel-1-or-2"] + c["Taken_branches"] +
            24 * c["Branch_mispredict"] +
            20 * (1400 + fetches + walks) + 30 * past_l2 + 380 * far +
            4 * walks)
    t.equal(c["Cycles"], want, "Cycles")


def t1_set():
    """--set on a kernel that only the ways of the T1's L1I let miss."""
    path = t.ROOT / "test/guest/sparc64/icache_ways.S"
    c = t.count(["-m", T1, "-e", "IC_miss", "--set", "l1i.ways=8"],
                t.guest("icache_ways.sparc64"))
    t.equal(c["IC_miss"], stated(path)["l1i_misses"], "IC_miss with 8 ways")


def geometry(machine, changes):
    """Options that make another machine's model that of this one."""
    values = t.parameters(machine) | changes
    return [w for key, value in values.items()
            for w in ("--set", f"{key}={value}")]


def on_host_model(path, machine, arch, name="host-model"):
    options = geometry(machine, PREDICTORS.get(name, {}))
    c = t.count(["-m", "host-model", "--foreign", "-e", "all", *options],
                t.guest(f"{path.stem}.{arch}"))
    compare(c, wanted(stated(path, name), "host-model"))
    if "time.model" not in PREDICTORS.get(name, {}):
        check_time(c)


def check_r10000(c):
    """Rule I11, and what doc/models/r10000.md says of estimated events."""
    def either(*names):
        return next((c[n] for n in names if n in c.values), 0)

    wrong = c["Mispredicted_branches"] * 20
    done, cycles = c["completed_instructions"], c["Cycles"]
    t.equal(either("Decoded_instructions", "Issued_instructions"),
            done + wrong, "instructions and a wrong path")
    t.equal(either("Decoded_stores", "Issued_stores"),
            c["Graduated_stores"] + wrong // 8, "stores and a wrong path")
    fewer = [(c["Failed_store_conditionals"],
              c["Graduated_store_conditionals"]),
             (c["Secondary_data_cache_misses"], c["Primary_data_cache_misses"]),
             (either("ALU_FPU_progress_cycles", "ALU_FPU_completion_cycles"),
              c["issue_cycles"])]
    for kind in ("Data", "Instruction"):
        cache = "data" if kind == "Data" else "instruction"
        fewer.append((
            c[f"{kind}_misprediction_from_scache_way_prediction_table"],
            c[f"Primary_{cache}_cache_misses"] -
            c[f"Secondary_{cache}_cache_misses"]))
    if "Miss_handling_table_occupancy" in c.values:
        used = c["Miss_handling_table_occupancy"]
        fewer += [(c["Miss_Handling_Table_entries_accessing_memory"], used),
                  (used, 4 * cycles)]
        t.equal(c["Primary_data_cache_misses"] >=
                c["data_cache_load_misses"] + c["data_cache_store_misses"],
                True, "misses are a part of event 25")
    for less, more in fewer:
        assert less <= more, (less, more)


def on_mips(path, machine, arch):
    numbers = stated(path, machine)
    c = t.count(["-m", machine, "-e", "all"], t.guest(f"{path.stem}.{arch}"))
    compare(c, wanted(wrong_path(numbers) | {"l1d_updates": None} | numbers,
                      machine))
    check_r10000(c)
    check_time(c)


def wrong_path_set(machine):
    """The parts of a wrong path are what the parameters say, the sum is not."""
    def counts(**shares):
        words = [w for part, n in shares.items()
                 for w in ("--set", f"wrong.{part}={n}")]
        return t.count(["-m", machine, "-e", "all", *words],
                       t.guest("targets.mips64"))

    before, after = counts(), counts(loads=0, stores=16, branches=0)
    wrong = before["Mispredicted_branches"] * 20
    assert wrong > 0, "no branch is mispredicted"
    for kind, change in (("loads", -wrong // 4), ("stores", wrong * 14 // 16),
                         ("instructions", 0)):
        name = next(e for e in (f"Decoded_{kind}", f"Issued_{kind}")
                    if e in before.values)
        t.equal(after[name] - before[name], change, name)
    refused = t.run(t.tally(), "count", "-m", machine, "--set",
                    "wrong.loads=13", "--", t.guest("targets.mips64"))
    t.equal(refused.returncode, 2, "status of 13 + 2 + 2 of 16")


def bzip2_on_mips(machine, arch):
    first, second = [
        t.Count(["-m", machine, "-e", "all"],
                [t.guest(f"bzip2.{arch}"), "-9kc", *BZIP2]) for _ in range(2)]
    t.same(first.values, second.values)
    check_r10000(first)
    check_time(first)
    idle = {e for e, n in first.values.items() if n == 0}
    t.equal(idle & LIVELY, set(), "events that bzip2 moves")


def on_itself(path, name="host-model"):
    """A kernel of an instruction set whose machine is host-model."""
    sets = [f"--set={key}={value}" for key, value in
            PREDICTORS.get(name, {}).items()]
    c = t.count(["-m", "host-model", "-e", "all", *sets],
                t.guest(f"{path.stem}.{path.parent.name}"))
    compare(c, wanted(stated(path, name), "host-model"))
    if "time.model" not in PREDICTORS.get(name, {}):
        check_time(c)


def every_signal_is_shown():
    """No header states a signal that no test above could see."""
    shown = {s for m in (T1, T2, T4, R10000, "r12000", "host-model",
                         "sifive-u74")
             for signals in t.event_signals(m).values() for s in signals}
    for path in t.ROOT.glob("test/guest/*/*.S"):
        t.equal(set(stated(path)) - shown - NO_SIGNAL, set(), path.name)


def bzip2(machine=T2):
    c = t.Count(["-m", machine, "-e", "all"],
                [t.guest("bzip2.sparc64"), "-9kc", *BZIP2])
    t.equal(c.status, 0, "status")
    return c


def bzip2_thrice():
    runs = [bzip2() for _ in range(3)]
    check_dram(runs[0], T2)
    check_classes(runs[0])
    check_time(runs[0])
    for other in runs[1:]:
        t.same(runs[0].values, other.values)


def bzip2_on_t1():
    first, second = bzip2(T1), bzip2(T1)
    check_dram(first, T1)
    t.same(first.values, second.values)
    for l2, l1 in (("L2_imiss", "IC_miss"), ("L2_dmiss_ld", "DC_miss")):
        assert 0 < first[l2] < first[l1], f"{l2} and {l1}"


def bzip2_on_t4():
    first, second = bzip2(T4), bzip2(T4)
    t.same(first.values, second.values)
    check_t4(first)
    for l2, l1 in (("L2_fetch_misses", "Icache_miss"),
                   ("L2_load_misses", "L1_data_cache_miss")):
        assert 0 < first[l2] < first[l1], f"{l2} and {l1}"


def count_lua(machine):
    return t.count(["-m", machine, "-e", "all"], t.guest("lua.sparc64"), "-e",
                   "local t = {} for i = 1, 50000 do t[i] = i / 3 .. '' end")


def lua_on_t4():
    c = count_lua(T4)
    check_t4(c)
    fgu = c["FGU_crypto_arithmetic_instructions"]
    assert fgu > 50000, "no division counted"


def lua():
    c = count_lua(T2)
    check_classes(c)
    assert c["FGU_arithmatic_instr"] > 50000, "no division counted"


def add_cases():
    for path in sorted(t.ROOT.glob("test/guest/sparc64/*.S")):
        t.case(f"{path.stem} on {T1}", on_t1, path)
        t.case(f"{path.stem} on {T2}", on_t2, path)
        t.case(f"{path.stem} on {T4}", on_t4, path)
        t.case(f"{path.stem} on host-model as a T2", on_host_model, path,
               T2, "sparc64")
        names = MACHINE.findall(path.read_text())
        for name in filter(T4_PREDICTORS.get, names):
            t.case(f"{path.stem} on {name}", on_t4, path, name)
        for name in filter(PREDICTORS.get, names):
            t.case(f"{path.stem} on {name}", on_host_model, path, T2, "sparc64",
                   name)
    for path in sorted(t.ROOT.glob("test/guest/mips64/*.S")):
        for arch in ("mips64", "mips64el"):
            name = f"{path.stem}.{arch}"
            for machine in MIPS:
                t.case(f"{name} on {machine}", on_mips, path, machine, arch)
            t.case(f"{name} on host-model as an R10000", on_host_model, path,
                   R10000, arch)
    for isa in HOST_MODEL:
        for path in sorted(t.ROOT.glob(f"test/guest/{isa}/*.S")):
            if path.stem != ESTIMATED:
                t.case(f"{path.stem}.{isa} on host-model", on_itself, path)
            names = MACHINE.findall(path.read_text())
            for name in filter(PREDICTORS.get, names):
                t.case(f"{path.stem}.{isa} on {name}", on_itself, path, name)
    t.case("every stated signal is shown", every_signal_is_shown)
    t.case("bzip2: classes add up, three runs alike", bzip2_thrice)
    t.case(f"--set on {T1}", t1_set)
    t.case(f"bzip2 on {T1}: two runs alike", bzip2_on_t1)
    t.case("lua: classes add up", lua)
    t.case("bzip2 on r10000: two runs alike", bzip2_on_mips, R10000, "mips64")
    t.case("bzip2 on r12000: two runs alike", bzip2_on_mips, "r12000",
           "mips64el")
    for machine in ("r10000", "r12000"):
        t.case(f"wrong path on {machine}", wrong_path_set, machine)
    for machine in (T1, T2, T4):
        t.case(f"DRAM queues in pieces on {machine}", dram_in_pieces, machine)
    t.case(f"--set on {T4}", t4_set)
    t.case(f"cycles on {T4}", t4_cycles)
    t.case(f"fetches on {T4}", t4_fetch)
    t.case(f"prefetches on {T4}", t4_prefetch)
    t.case(f"sizes of pages on {T4}", t4_pages)
    t.case(f"evictions on {T4}", t4_evictions)
    t.case(f"an L2 that is not inclusive on {T4}", t4_outlived)
    t.case(f"bzip2 on {T4}: classes add up, two runs alike", bzip2_on_t4)
    t.case(f"lua on {T4}: classes add up", lua_on_t4)


if __name__ == "__main__":
    add_cases()
    t.main()
