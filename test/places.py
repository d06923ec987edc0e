#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole programs on several nodes of the UltraSPARC T2 Plus: places.py BUILD

What holds however threads interleave: the misses of an L2 are those that local
memory, remote memory and another node's L2 served, each read and write has its
memory controller, each reply that one hub's port receives another sends. What
one thread does is told to the unit by where its pages are.
"""
import json
import tempfile

import tallytest as t

T2PLUS = "ultrasparc-t2plus"
FROM = ("local", "remote", "c2c")
MISSES = ("L2_instr_misses", "L2_load_misses")
SERVED = ("served_local", "served_remote", "served_cache")
MCUS = [f"NODE{n}_MCU{m}" for n in range(4) for m in range(2)]
LPUS = [f"ZAM{z}_LPU_{p}" for z in range(4) for p in "ABCD"]


def count(events, *program, nodes=2, place=None, sets=()):
    words = [w for s in (f"nodes={nodes}", *sets) for w in ("--set", s)]
    if place:
        words += ["--place", place]
    return t.count(["-m", T2PLUS, *words, "-e", ",".join(events)], *program)


def check_served(c):
    for event in MISSES:
        t.equal(sum(c[f"{event}:from={w}"] for w in FROM), c[event], event)
        t.equal(c[f"{event}:from=all"], c[event], event)


def check_queues(c):
    """A controller that reads has reads in its queue, for 77 cycles at least."""
    t.equal(c["rd_queue_latency"] + c["wr_queue_latency"],
            c["rw_queue_latency"], "both queues")
    for m in MCUS:
        reads, latency = c[f"mem_reads:at={m}"], c[f"rd_queue_latency:at={m}"]
        assert 77 * reads <= latency <= 16 * 77 * reads, f"{m}: {latency}"
    t.equal(sum(c[f"rd_queue_latency:at={m}"] for m in MCUS),
            c["rd_queue_latency"], "queues of each controller")


def share(nodes, threads=8, place=None):
    events = [*MISSES, *(f"{e}:from={w}" for e in MISSES
                         for w in ("all", *FROM)),
              *SERVED, "mem_reads", "mem_writes", "l2_writebacks",
              "rd_queue_latency", "wr_queue_latency", "rw_queue_latency",
              *(f"rd_queue_latency:at={m}" for m in MCUS),
              *(f"mem_reads:at={m}" for m in MCUS),
              *(f"lpu/{e}" for e in ("cycles_replys_sent", "cycles_HIT_M",
                                     "cycles_replys_recev")),
              "cycles_TID_INV", "cycles_INV_egress", "asu_in_pck",
              *(f"cycles_replys_recev:at={p}" for p in LPUS)]
    c = count(events, t.guest("share.sparc64"), str(threads), "20000",
              nodes=nodes, place=place)
    t.equal(c.stdout, f"{threads * 20000}\n", "stdout")
    check_served(c)
    t.equal(c["mem_reads"] , c["served_local"] + c["served_remote"],
            "reads of memory")
    t.equal(sum(c[f"mem_reads:at={m}"] for m in MCUS), c["mem_reads"],
            "reads of each controller")
    t.equal(c["mem_writes"], c["l2_writebacks"], "writes of memory")
    check_queues(c)
    return c


@t.named("two nodes: local, remote and cache-to-cache are all, and no hub")
def two_nodes():
    c = share(2)
    # At least the counter, from node to node in each of 20 rounds.
    assert c["served_cache"] >= 4, "threads of two nodes never met"
    assert c["served_remote"] >= 4, "no page is remote"
    for event in ("cycles_replys_sent", "cycles_TID_INV", "asu_in_pck"):
        t.equal(c[event], 0, event)


@t.named("four nodes: what one port of a hub sends another receives")
def four_nodes():
    c = share(4)
    crossed = c["served_remote"] + c["served_cache"]
    assert c["served_cache"] >= 4, "threads of four nodes never met"
    t.equal(c["cycles_replys_recev"], crossed, "replies received")
    t.equal(c["cycles_replys_sent"], crossed, "replies sent")
    t.equal(c["cycles_HIT_M"], c["served_cache"], "from another L2")
    t.equal(c["cycles_TID_INV"], c["cycles_INV_egress"], "invalidations")
    t.equal(sum(c[f"cycles_replys_recev:at={p}"] for p in LPUS), crossed,
            "replies of each port")
    assert c["asu_in_pck"] >= crossed + c["cycles_TID_INV"]


@t.named("threads packed on one node never leave it")
def packed():
    c = share(2, place="pack")
    t.equal(c["served_cache"] + c["served_remote"], 0, "crossed")


@t.named("strands of spread threads are of all nodes and cores in turn")
def strands():
    for place, wanted in (("spread", [0, 64, 8, 72, 16]),
                          ("pack", [0, 1, 2, 3, 4])):
        c = count(["All_instr"], t.guest("meet.sparc64"), "4", "1000",
                  place=place)
        t.equal([s["strand"] for s in c.json["strands"]], wanted, place)
        t.equal(c.json["place"], {"nodes": 2, "threads": place,
                                  "pages": "first-touch"}, "place")


BANKS = ["served_local", "served_remote", "served_cache", "mem_reads",
         "model/cycles", *MISSES, "ITLB_miss_L2", "DTLB_miss_L2",
         *(f"mem_reads:at={m}" for m in MCUS[:4])]


def banks(place, nodes=2):
    return count(BANKS, t.guest("banks.sparc64"), place=place, nodes=nodes)


@t.named("one thread: its pages are near, far, or half of each")
def one_thread():
    near, far = banks("node=0"), banks("node=1")
    first = banks(None)
    t.same(first.values, near.values, "first touch and node 0")
    t.equal(near["served_remote"], 0, "remote of what is near")
    t.equal(far["served_local"], 0, "local of what is far")
    t.equal(far["served_remote"], near["served_local"], "all misses")
    t.equal(near["mem_reads:at=NODE1_MCU0"], 0, "the other node's memory")
    # 4096 lines, a half of which each controller of a node has; then the code,
    # the page tables.
    assert 2048 <= far["mem_reads:at=NODE1_MCU0"] <= 2048 + 16
    assert 2048 <= far["mem_reads:at=NODE1_MCU1"] <= 2048 + 16
    waits = sum(far[e] for e in (*MISSES, "ITLB_miss_L2", "DTLB_miss_L2"))
    remote = t.parameters(T2PLUS)["time.remote"]
    t.equal(far["cycles"] - near["cycles"], remote * waits, "cycles")
    both = banks("interleave")
    for mcu in MCUS[:4]:
        assert 1024 <= both[f"mem_reads:at={mcu}"] <= 1024 + 16, mcu


@t.named("what the machine lacks as it is set is idle, and says why")
def lacking():
    events = {"cycles_mem_portX": 3, "asu_in_pck:at=ZAM0_ASU": 3,
              "mem_reads:at=NODE2_MCU1": 3, "mem_writes:at=NODE1_MCU0": 2,
              "mem_reads": 1, "served_remote": 1}
    for nodes in (1, 2, 3):
        c = count(events, t.guest("hello.sparc64"), nodes=nodes)
        for row in c.json["events"]:
            idle = nodes < events[row["name"]]
            t.equal(row["fidelity"] == "idle", idle, f"{row} of {nodes}")
            t.equal("reason" in row, idle, f"reason: {row}")
    c = t.count(["-m", "r10000", "--set", "l2.size=0", "-e",
                 "Quadwords_written_back_from_primary_data_cache,Cycles"],
                t.guest("hello.mips64"))
    t.equal([row["fidelity"] for row in c.json["events"]],
            ["idle", "estimated"], "without an L2")


# What is set, the machine, the parameter that reasons name, what it takes, and
# some of what stays.
LEVELS = [
    (["l2.size=0", "tlb.walk=0"], "ultrasparc-t2", "l2.size",
     ["L2_load_misses", "L2_instr_misses"], ["Dcache_misses", "DTLB_miss"]),
    (["tlb.walk=0"], "ultrasparc-t2", "tlb.walk",
     ["DTLB_ref_L2", "DTLB_miss_L2", "MMU_LD_to_PCX"], ["L2_load_misses"]),
    (["l3.size=0"], "sparc-t4", "l3.size",
     ["Store_hits_in_L3", "L3_store_misses"],
     ["Stores_to_local_memory", "L1_data_cache_miss_local_memory_hit"]),
    (["l2.size=0", "l3.size=0", "tlb.walk=0"], "sparc-t4", "l2.size",
     ["Store_hits_in_L2", "L1_data_cache_miss_L2_L3_hit"],
     ["L1_data_cache_miss_local_memory_hit"]),
]


@t.named("events of a level that the machine lacks are idle, others are not")
def no_level():
    for sets, machine, parameter, gone, left in LEVELS:
        c = t.count(["-m", machine, *(w for s in sets for w in ("--set", s)),
                     "-e", ",".join(gone + left)], t.guest("words.sparc64"),
                    t.source("LICENSE"))
        for row in c.json["events"]:
            where = f"{row} of {machine}, {sets}"
            t.equal(row["name"] in gone, row["fidelity"] == "idle", where)
            t.equal((row["value"] > 0, parameter in row.get("reason", "")),
                    (row["name"] in left, row["name"] in gone), where)


@t.named("one node is an UltraSPARC T2")
def as_t2():
    shared = [*MISSES, "L2_load_misses", "DTLB_miss", "mem_reads",
              "mem_writes", "All_instr", "Dcache_misses", "ITLB_ref_L2"]
    for program in (("words.sparc64", t.source("LICENSE")),
                    ("dirty_set.sparc64",)):
        one = count(shared, t.guest(program[0]), *program[1:], nodes=1)
        other = t.count(["-m", "ultrasparc-t2", "-e", ",".join(shared)],
                        t.guest(program[0]), *program[1:])
        t.same(one.values, other.values)


@t.named("one thread repeats")
def repeats():
    runs = [count(["all"], t.guest("bzip2.sparc64"), "-9kc",
                  t.source("LICENSES", "GPL-2.0-or-later.txt"),
                  place="interleave") for _ in range(2)]
    t.same(runs[0].values, runs[1].values)


def refused(words, text):
    done = t.run(t.tally(), "count", *words, "--", t.guest("hello.sparc64"))
    t.equal(done.returncode, 2, "status")
    t.equal(done.stdout, "", "stdout")
    t.contains(done.stderr, text)


REFUSED = [
    ("--place far", "--place takes pack, spread, first-touch, interleave and "
     "node=N, not 'far'"),
    ("--place spread,", "--place takes"),
    ("--place pack,spread", "--place takes one word for threads and one for "
     "pages, not 'pack,spread'"),
    ("--place node=0,pack,interleave", "--place takes one word for threads"),
    ("--place node=", "--place takes"),
    ("--place node=x", "--place takes"),
    ("--place node=12", "place.node=12: must be 0 to 3"),
    ("--place node=1234567890", "--place takes"),
    ("--place node=2", "place.node=2: there is no such node"),
    ("--place node=9", "place.node=9: must be 0 to 3"),
    ("--set nodes=5", "nodes=5: must be 1 to 4"),
    ("--set memory.banks=8", "memory.banks=8: with all nodes"),
    ("--set memory.banks=4", "memory.banks=4: of several nodes "
     "ultrasparc-t2plus has counters for 2 each"),
    ("--set memory.banks=1", "memory.banks=1: of several nodes"),
    ("--set nodes=4 --set l3.size=4M", "nodes=4: needs l2.shared=chip"),
    ("--set cores=64 --set strands=64", "nodes=2: with all cores"),
    ("-e L2_load_misses:from=moon", "L2_load_misses takes from=all, "
     "from=local, from=remote or from=c2c"),
    ("-e L2_load_misses:from=local --hardware", "--hardware does not set"),
    ("-e mem_reads --hardware", "dram/mem_reads is of unit dram"),
]

for options, text in REFUSED:
    t.case(f"refused: {options}", refused, ["-m", T2PLUS, *options.split()],
           text)
t.case("refused: --place node=1 on a machine of one node", refused,
       ["-m", "ultrasparc-t2", "--place", "node=1"],
       "place.node=1: there is no such node")
for machine in ("ultrasparc-t1", "ultrasparc-t2"):
    for options, text in (
            ("--set nodes=2", "nodes=2 of memory.banks=4: "
             f"{machine} has counters for 4 in all"),
            ("--set memory.banks=8", "nodes=1 of memory.banks=8: ")):
        t.case(f"refused: {machine} {options}", refused,
               ["-m", machine, *options.split()], text)


def no_effect(machine, words, said):
    isa = "mips64" if machine == "r10000" else "sparc64"
    program = [t.guest(f"threads.{isa}"), "1", "1000"]
    done = t.run(t.tally(), "count", "-m", machine, "--place", words, "--",
                 *program)
    t.equal(done.returncode, 0, "status")
    lines = [line for line in done.stderr.splitlines() if "no effect" in line]
    t.equal(lines, [f"tally: --place has no effect on {said}"] if said else [],
            "warnings")
    # What has no effect is no part of what was counted.
    idle = said.partition(":")[0]
    left = [word for word in words.split(",")
            if ("threads" if word == "spread" else "pages") not in idle]
    scope = [line for line in done.stderr.splitlines() if "counted:" in line]
    t.equal(len(scope), 1 if left else 0, f"{scope}")
    t.equal("".join(scope).count("--set"), len(left), f"{scope}")
    with tempfile.NamedTemporaryFile() as file:
        t.run(t.tally(), "count", "-m", machine, "--place", words, "-j", "-o",
              file.name, *program)
        with open(file.name, encoding="utf-8") as report:
            sets = json.load(report).get("counted", {}).get("set", [])
    t.equal(len(sets), len(left), f"{sets}")


for machine, words, said in (
        ("ultrasparc-t2", "interleave", "pages: ultrasparc-t2 has one node"),
        ("ultrasparc-t2", "spread,node=0", "pages: ultrasparc-t2 has one node"),
        ("ultrasparc-t1", "first-touch", "pages: ultrasparc-t1 has one node"),
        ("r10000", "spread", "threads: r10000 has one node, and a strand a core"),
        ("r10000", "spread,interleave",
         "threads and pages: r10000 has one node, and a strand a core"),
        ("ultrasparc-t2", "spread", ""), (T2PLUS, "interleave", "")):
    t.case(f"--place {words} on {machine} "
           f"{'says what it cannot do' if said else 'says nothing'}",
           no_effect, machine, words, said)


@t.named("--place spread of a program of one thread says that it has no effect")
def one_thread():
    for machine in ("ultrasparc-t2", T2PLUS):
        done = t.run(t.tally(), "count", "-m", machine, "--place", "spread",
                     t.guest("hello.sparc64"))
        t.contains(done.stderr, "tally: --place has no effect on threads: the "
                                "program had one at a time\n")
        assert "counted:" not in done.stderr, done.stderr
        both = t.Count(["-m", machine, "--place", "spread,interleave"],
                       [t.guest("hello.sparc64")]).json.get("counted", {})
        t.equal([word for word in both.get("set", []) if "threads" in word], [],
                "settings")


t.case("refused: --place on the host", refused, ["-m", "host", "--place",
                                                 "spread"], "--place")

t.main()
