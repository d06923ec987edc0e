#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally count --filter data= on every machine: filters.py BUILD [WORD]

The program is test/guest/arrays.c, on an L1 data cache of 16 KB: each of its
passes goes over 64 KB, so each line misses.
"""
import re

import tallytest as t

L1D = [word for pair in ("l1d.size=16K", "l1d.ways=4", "l1d.line=32")
       for word in ("--set", pair)]
COUNT = 8192
LINES = COUNT * 8 // 32


def run(machine, isa, filters, events=None, program="arrays"):
    options = ["-m", machine, "--clean-env", *L1D]
    if isa not in t.machines()[machine]:
        options.append("--foreign")
    options += ["-e", ",".join(events) if events else "all"]
    for f in filters:
        options += ["--filter", f]
    return t.count(options, t.guest(f"{program}.{isa}"))


def of_signals(machine, c, *signals):
    """The values of the events that count one of the signals, if any do."""
    single = t.singles(machine)
    return [c[single[s]] for s in signals if single.get(s) in c.values]


def objects(machine, isa):
    """What is done to each array, exactly, and nothing else."""
    whole = run(machine, isa, [])
    first = run(machine, isa, ["data=first"])
    second = run(machine, isa, ["data=second"])
    both = run(machine, isa, ["data=first", "data=second"])
    for c, loads, stores in ((first, 2 * COUNT, 0), (second, 0, COUNT),
                             (both, 2 * COUNT, COUNT)):
        for n in of_signals(machine, c, "loads", "class_load"):
            t.equal(n, loads, "loads")
        for n in of_signals(machine, c, "stores", "class_store"):
            t.equal(n, stores, "stores")
        for n in of_signals(machine, c, "data_matches"):
            t.equal(n, loads + stores, "accesses that match")
        for n in of_signals(machine, c, "l1d_load_misses"):
            t.equal(n, loads * 8 // 32, "load misses")
        for n in of_signals(machine, c, "instructions"):
            t.equal(n, whole[t.instructions(machine)], "instructions")
    # A row with {tlb} in its name stands for one of each TLB level.
    data = re.compile("|".join(
        re.sub(r"\\{\w+\\}", r"\\w+", re.escape(s))
        for s, row in t.signals().items() if row.get("data")))
    for event, signals in t.event_signals(machine).items():
        if event in whole.values and not any(map(data.fullmatch, signals)):
            t.equal(first[event], whole[event], event)


# Instructions of these classes that access no data count with no filter only;
# of MIPS prefetches are loads.
WITHOUT_ACCESS = {"t4_class_load", "t4_class_store"}
FILTERED = {"data_matches"}  # counts with a filter only
PREFETCHES = {"mips64": {"class_load"}, "mips64el": {"class_load"},
              "aarch64": {"class_load"}}


def halves(machine, isa):
    """Two parts of the address space are the whole: nothing is lost, and what
    the filter leaves out goes through the model all the same."""
    at = t.symbol(t.guest(f"arrays.{isa}"), "second")
    parts = [run(machine, isa, [f"data={r}"]) for r in
             (f"0-{at - 1:#x}", f"{at:#x}-0x7fffffffffffffff")]
    whole = run(machine, isa, [])
    for event, signals in t.event_signals(machine).items():
        rows = [t.signals().get(s, {}) for s in signals]
        if event in whole.values and rows and \
                all(r.get("data") for r in rows) and \
                not (WITHOUT_ACCESS | FILTERED | PREFETCHES.get(isa, set())) & \
                set(signals):
            t.equal(sum(c[event] for c in parts), whole[event], event)


def with_code(machine, isa):
    """Both must hold."""
    c = run(machine, isa, ["data=first", "code=load_two"])
    for n in of_signals(machine, c, "loads", "class_load"):
        t.equal(n, COUNT, "loads")
    for n in of_signals(machine, c, "l1d_load_misses"):
        t.equal(n, LINES, "load misses")
    c = run(machine, isa, ["data=first", "code=store"])
    for n in of_signals(machine, c, "loads", "stores", "l1d_load_misses"):
        t.equal(n, 0, "what store() does to it")


def repeats(machine, isa):
    runs = [run(machine, isa, ["data=first"]).values for _ in range(2)]
    t.same(*runs)


def refused(machine, isa):
    instructions = t.instructions(machine)
    for f, events, says in (
            ("data=nonesuch", "all", "no data object 'nonesuch'"),
            ("data=main", "all", "no data object 'main'"),
            ("code=first", "all", "no function 'first'"),
            ("data=", "all", "must be code=FUNCTION, data=OBJECT"),
            ("data=1", "all", "as data=0x10400-0x104ff"),
            ("data=2-1", "all", "its last address must follow the first"),
            ("data=first", instructions, "restricts nothing")):
        done = t.run(t.tally(), "count", "-m", machine, "-e", events,
                     "--filter", f, t.guest(f"arrays.{isa}"))
        t.equal(done.returncode, 2, f"status of {f}: {done.stderr}")
        t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
        t.contains(done.stderr, says)


@t.named("a string instruction counts once, its accesses each")
def repeated():
    whole, stack = ({k: v for k, v in run("host-model", "x86_64", f, None,
                                          "access").values.items()}
                    for f in ([], ["data=0-0x7fffffffffffffff"]))
    t.same(stack, whole)


@t.named("a store conditional is a store, under --filter data= too")
def conditionals():
    both = ["Graduated_stores", "Graduated_store_conditionals"]
    for f, wanted in (("0-0x7fffffffffffffff", 1000), ("0-1", 0)):
        c = t.count(["-m", "r10000", "-e", ",".join(both), "--filter",
                     f"data={f}"], t.guest("llsc.mips64"))
        for event in both:
            t.equal(c[event], wanted, f"{event} of {f}")


@t.named("of prefetches --filter data= restricts what they find")
def prefetches():
    """Half of the rounds of prefetch.S, of 128 bytes each."""
    program = t.guest("prefetch.sparc64")
    at = t.symbol(program, "data")
    found = ["Dropped_software_prefetch_data_cache_hit", "L1D_prefetch_misses",
             "Data_prefetch_hits_in_L2", "Data_prefetch_hits_in_L3",
             "Data_prefetch_hits_to_local_memory"]
    whole = {"Software_prefetch": 700, "unperformed_prefetches": 200}
    c = t.count(["-m", "sparc-t4", "-e", ",".join([*found, *whole]),
                 "--filter", f"data={at:#x}-{at + 50 * 128 - 1:#x}"], program)
    t.equal([c[event] for event in found], [50] * len(found), "what they find")
    for event, count in whole.items():
        t.equal(c[event], count, event)


@t.named("--filter data= and --hardware: the counters see what it leaves")
def hardware():
    t2 = ["-m", "ultrasparc-t2", *L1D, "--filter", "data=first"]
    for events in (["Load_instr", "Dcache_misses"],
                   ["Load_instr", "Store_instr", "Dcache_misses"]):
        c = t.count([*t2, "-e", ",".join(events[:2]), "--hardware"],
                    t.guest("arrays.sparc64"))
        t.equal(c["Load_instr"], 2 * COUNT, "loads")
        t.equal(c[events[1]], 2 * LINES if events[1] == "Dcache_misses" else 0,
                events[1])


@t.named("--filter data=: the programs that it executes are not counted")
def executed():
    c = t.count(["-e", "Load_instr,All_instr",
                 "--filter", "data=0-0x7fffffffffffffff"],
                t.guest("forker.sparc64"), "exec", t.guest("hello.sparc64"))
    whole = t.count(["-e", "Load_instr,All_instr"],
                    t.guest("forker.sparc64"), "exec",
                    t.guest("hello.sparc64"))
    t.equal(c["All_instr"], whole["All_instr"], "instructions")
    assert 0 < c["Load_instr"] < whole["Load_instr"], c["Load_instr"]


@t.named("--filter data= with threads")
def threads():
    for f in ("data=0-0x7fffffffffffffff", "data=0-1"):
        c = t.count(["-e", "Load_instr,All_instr", "--filter", f],
                    t.guest("threads.sparc64"), 4, 1000)
        loads = [s["events"]["Load_instr"] for s in c.json["strands"]]
        t.equal(sum(loads), c["Load_instr"], "sum of the strands")
        assert all((n > 0) == (f != "data=0-1") for n in loads), loads


def add_cases():
    for machine, isas in t.machines().items():
        for isa in isas:
            at = f"{machine}, {isa}: --filter data="
            t.case(f"{at} an array", objects, machine, isa)
            t.case(f"{at} two halves are the whole", halves, machine, isa)
            t.case(f"{at} with code=", with_code, machine, isa)
            t.case(f"{at} repeats", repeats, machine, isa)
            t.case(f"{at} refused where impossible", refused, machine, isa)


t.main(add_cases)
