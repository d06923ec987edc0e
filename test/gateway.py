#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Programs that count themselves: gateway.py BUILD [WORD]

The programs of test/guest/gateway, under `tally count` and without it.
"""
import os

import tallytest as t

ARCHES = tuple(t.isas())
PER_TURN = {"sparc64": 3, "x86_64": 2, "mips64": 3, "mips64el": 3,
            "aarch64": 2, "riscv64": 2}
INSTRUCTIONS = {"sparc64": "All_instr", "x86_64": "instructions",
                "mips64": "completed_instructions",
                "mips64el": "completed_instructions",
                "aarch64": "instructions", "riscv64": "instructions"}
# An event that rises once a turn.
BRANCHES = {"sparc64": "Completed_branches", "x86_64": "branches",
            "mips64": "branches",
            "mips64el": "branches", "aarch64": "branches",
            "riscv64": "branches"}
THREADS, TURNS = 8, 100000


def at_arch(name, *args):
    def add(function):
        for arch in ARCHES:
            t.case(f"{arch}: {name}", function, arch, *args)
        return function
    return add


def guest(name, arch):
    return t.guest(f"{name}.{arch}")


def inside(arch, events, program, *args, options=()):
    """What the program prints, by lines, and what tally counts."""
    c = t.count(["-e", events, *options], guest(program, arch), *args)
    return c.stdout.splitlines(), c


def loop_of(arch, events, turns, options=()):
    lines, c = inside(arch, "all", "selfloop", events, turns,
                      options=options)
    return {name: int(n) for name, n in (line.split() for line in lines)}, c


@at_arch("a loop counts itself, and is what arithmetic says")
def self_loop(arch):
    events = [INSTRUCTIONS[arch], BRANCHES[arch]]
    for turns in (1000, 1000000):
        got, _ = loop_of(arch, ",".join(events), turns)
        t.same(got, {events[0]: turns * PER_TURN[arch], events[1]: turns},
               "the loop")


@at_arch("what a program counts of itself is what tally counts of it")
def self_and_tally(arch):
    """Two runs whose loops differ: both differ by as much."""
    events = f"{INSTRUCTIONS[arch]},{BRANCHES[arch]}"
    (few, one), (many, two) = (loop_of(arch, events, turns)
                               for turns in (500000, 900000))
    # Each run measures its loop twice.
    t.same({e: 2 * (many[e] - few[e]) for e in few},
           {e: two[e] - one[e] for e in few}, "the difference")


@at_arch("a program finds out alone which events count")
def self_alone(arch):
    """The session counts instructions only."""
    event = BRANCHES[arch]
    lines, _ = inside(arch, INSTRUCTIONS[arch], "selfloop", event, 5000)
    t.equal(lines, [f"{event} 5000"], "the loop")


def records_of(arch, threads, turns, events=None, env=None):
    """The records of a dump by cpu, fields as numbers."""
    event = events or f"{INSTRUCTIONS[arch]},{BRANCHES[arch]}"
    c = t.count(["-e", f"{INSTRUCTIONS[arch]},cycles"],
                guest("selfprofile", arch), event, threads, turns,
                **({"env": env} if env else {}))
    records = {}
    for line in c.stdout.splitlines():
        fields = line.split(",")
        if fields[0] in ("TEJA_PROFILE_DUMP_START", "CPUID",
                         "TEJA_PROFILE_DUMP_END", "TALLY_PROFILE_MACHINE",
                         "TALLY_PROFILE_EVENT"):
            continue
        numbers = [int(field, 16) for field in fields]
        records.setdefault(numbers[0], []).append(numbers)
    return records


@at_arch("a profiled loop costs what arithmetic says, on each thread")
def self_profile(arch):
    """Turns differ by 1000 of the loop's; the first meets the call's place."""
    for threads in (0, 4):
        records = records_of(arch, threads, 5)
        t.equal(len(records), max(threads, 1), "cpus")
        for rows in records.values():
            updates = [row for row in rows if row[2] == 2]
            t.equal([row[9] for row in updates], [1, 2, 3, 4, 5], "words")
            for before, after in zip(updates[1:], updates[2:]):
                t.equal((after[6] - before[6], after[7] - before[7]),
                        (1000 * PER_TURN[arch], 1000), "a turn more")
            t.equal([row[3] for row in rows], sorted(row[3] for row in rows),
                   "cycles only grow")


@at_arch("a profiled loop's events take turns")
def self_profile_in_turn(arch):
    events = f"{INSTRUCTIONS[arch]};{BRANCHES[arch]};cycles"
    records = records_of(arch, 0, 9, env=os.environ | {
        "TALLY_PROFILER_EVENTS": events, "TALLY_PROFILER_ROTATE": "1"})
    rows, = records.values()
    updates = [row for row in rows if row[2] == 2]
    t.equal([row[3] for row in rows], sorted(row[3] for row in rows),
            "cycles only grow")
    for first in range(3):
        a, b, c = updates[first::3]
        t.equal(c[6] - b[6], {0: 3000 * PER_TURN[arch], 1: 3000,
                              2: c[6] - b[6]}[first], "three turns more")
        t.equal(a[6], a[7], "one event is both")


# P05 P14
@at_arch("counts go round at the counters' width, and records tell it")
def self_profile_wraps(arch):
    def updates(bits):
        records, = records_of(arch, 0, 5, env=os.environ | {
            "TALLY_PROFILER_COUNTER_BITS": str(bits)}).values()
        return [row for row in records if row[2] == 2]

    whole, round_ = updates(64), updates(12)
    t.equal([row[8] for row in whole], [0] * 5, "overflows")
    for row in round_:
        # Of a slower update: that of the whole differs.
        t.equal(row[6] < 4096 and row[7] < 4096, True, "12 bits")
    for a, b in zip(whole, round_):
        t.equal(b[8] & 1, int(a[7] >= 4096), "overflow of branches")
        t.equal(b[8] >> 1, int(a[6] >= 4096), "overflow of instructions")
        t.equal(abs((a[7] & 4095) - b[7]) < 100, True, "branches")


def example(name, machine, filters=(), events=None):
    """The updates of the document's example, by dump."""
    return count_example(name, machine, filters, events)[0]


def count_example(name, machine, filters, events=None):
    """Returns the updates of the document's example by dump, and the counts
    of the functions that `filters` names."""
    options = [word for f in filters for word in ("--filter", f"code={f}")]
    environment = {"TALLY_PROFILER_EVENTS": events} if events else {}
    c = t.count(["-m", machine, "-e", "all", *options], guest(name, "sparc64"),
                env=os.environ | environment)
    table = "".join(line for line in c.stdout.splitlines(keepends=True)
                    if not line.startswith("TALLY_PROFILE_"))
    blocks = table.split("TEJA_PROFILE_DUMP_START,ver1.1\n")[1:]
    return [[[int(field, 16) for field in line.split(",")]
             for line in block.splitlines()[1:-1]] for block in blocks], c


# P01 P02 P19
@t.named("EXAMPLE 3-1 runs on a T1, with instr_cnt above the event")
def example_t1():
    dumps = example("example31", "ultrasparc-t1")
    t.equal([len(dump) for dump in dumps], [101, 100, 100], "records")
    t.equal(dumps[0][0][2:3] + dumps[0][0][5:], [1, 1, 0x100, 4], "the start")
    rows = sum(dumps, [])[1:]
    t.equal([row[9] for row in rows], 3 * list(range(1, 101)), "words")
    # Packets in the midst of a dump cost the same: the loop and one update.
    costs = {after[6] - before[6] for dump in dumps
             for before, after in zip(dump[2:], dump[3:])}
    t.equal(len(costs), 1, "costs")
    cost = costs.pop()
    t.equal(3000 < cost < 5000, True, f"instructions of a packet, {cost}")


# P01 P18 P20
@t.named("EXAMPLE 3-2 runs on a T2, the higher bit's event first")
def example_t2():
    for name, codes in (("example31", [0x13, 0x13]),
                        ("example32", [0x23, 0x13])):
        dumps = example(name, "ultrasparc-t2")
        t.equal([len(dump) for dump in dumps], [101, 100, 100], "records")
        t.equal(dumps[0][0][6:], codes, "the start")


# Example, machine, events from outside, the names of hi and lo.
PACKETS = [
    ("example31", "ultrasparc-t1", None, ("instr_cnt", "IC_miss")),
    ("example32", "ultrasparc-t2", None, ("Dcache_misses", "Icache_misses")),
    ("example32", "ultrasparc-t2", "All_instr,Completed_branches",
     ("All_instr", "Completed_branches")),
    ("example31", "sparc-t4", None, ("Icache_miss", "Icache_miss")),
    ("example32", "sparc-t4", None, ("L1_data_cache_miss", "Icache_miss")),
]


# P01
@t.named("masks mean nothing on a machine of none of theirs, and one line says it")
def example_elsewhere():
    for arch, machine in (("mips64", "r10000"), ("x86_64", "montecito")):
        c = t.Count(["-m", machine, "-e", "all"], [guest("example32", arch)])
        t.equal(c.stderr, "teja_profiler_start: masks are of the T1, T2 and T4, "
                f"not of {machine}: tally profile -e names its events\n")
    c = t.count(["-m", "host-model", "-e", "all"], guest("example32", "x86_64"))
    rows = [row for row in c.stdout.splitlines()
            if not row.lower().startswith(("teja", "tally"))]
    t.equal(len(rows), 3 + 301, "heads and records, on the model of this host")


# P01 P02
@t.named("what the examples' dumps say of the packets, tally count says")
def example_counts():
    for name, machine, events, names in PACKETS:
        dumps, c = count_example(name, machine, ["process_packet"], events)
        t.equal(dumps[-1][-1][6:8], [c[n] for n in names],
                f"{names} of {name} on {machine}")
        cycles = "Cycles" if machine == "sparc-t4" else "cycles"
        t.equal(dumps[-1][-1][3] - dumps[0][0][3], c[cycles],
                f"cycles of {name} on {machine}")
        t.equal(sum(len(dump) for dump in dumps), 301, "records")
        t.equal(c[t.instructions(machine)] > 300 * 3000, True, "packets")


@t.named("beside its packet an interval of an example has one update")
def example_cost():
    """And the few instructions of main() between the two, and those two by
    which SPARC's position-independent code finds its data."""
    def packet(*functions):
        """Instructions of a packet in the midst of a dump."""
        dump = example("example31", "ultrasparc-t1", functions)[1]
        costs = {b[6] - a[6] for a, b in zip(dump[1:], dump[2:])}
        t.equal(len(costs), 1, "costs")
        return costs.pop()

    whole = packet()
    loop, main, update = (packet(function) for function in (
        "process_packet", "main", "tally_profiler_update_at"))
    t.equal(loop + main + update + 2, whole, "all of an interval")
    t.equal(main + update < 150, True, f"what it costs, {main} + {update}")


@t.named("a T1 refuses two events beside instr_cnt")
def example_refused():
    c = t.Count(["-m", "ultrasparc-t1", "-e", "all"],
                [guest("example32", "sparc64")])
    t.contains(c.stderr, "more than one event beside instr_cnt in group 1 on "
                         "ultrasparc-t1")


def cases(arch, name):
    lines, _ = inside(arch, INSTRUCTIONS[arch], "selfcases", name,
                      INSTRUCTIONS[arch])
    return lines


@at_arch("threads count themselves, each alone")
def threads(arch):
    turns = str(TURNS * PER_TURN[arch])
    t.equal(cases(arch, "threads"), [turns] * THREADS + ["stays"], "threads")


@at_arch("a process, a thread with those it makes, a thread alone")
def scopes(arch):
    """But for what waiting for a thread takes, which is never the same."""
    all_of, made, alone = (int(line) for line in cases(arch, "scopes"))
    wanted = THREADS * TURNS * PER_TURN[arch]
    for count in (all_of, made):
        assert abs(count - wanted) < 8000, (count, wanted)
    assert abs(alone) < 8000, alone


@at_arch("a strand's handle counts the thread on the strand, and no other")
def strands(arch):
    turns = TURNS * PER_TURN[arch]
    t.equal(cases(arch, "strands"),
            [f"{turns} on strand 0", "0 on strand 1, unused",
             f"{turns} on strand 1", "strand 0 waits"], "lines")


@at_arch("a child of fork has counters of its own, and none of its parent's")
def fork(arch):
    turns = str(TURNS * PER_TURN[arch])
    lines = cases(arch, "fork")
    t.contains(lines[0], "belong to the process that opened them")
    t.equal(lines[2], "against a rule, against a rule", "the parent's handle")
    t.equal(lines[3:3 + THREADS], [turns] * THREADS, "the child's threads")
    t.equal(lines[-2:], [f"child {turns}", f"parent {turns}"], "the loops")


@at_arch("handles within each other")
def nested(arch):
    turns = TURNS * PER_TURN[arch]
    t.equal(cases(arch, "nested"), [f"{2 * turns} {turns}"], "outer and inner")


@at_arch("a stopped handle stays, goes on and begins again")
def stopped(arch):
    t.equal(cases(arch, "stopped"),
            ["0 before the start", "same", "all the time", "goes on",
             "0 after the reset"], "lines")


@at_arch("requests without memory or bound leave it to go on, and to count")
def self_bad(arch):
    """Each of them ended QEMU, or never came back."""
    lines, _ = inside(arch, INSTRUCTIONS[arch], "selfbad")
    t.equal(lines, ["still counted"], "the program")


@at_arch("what is asked for is right, whoever comes between")
def asked(arch):
    lines, _ = inside(arch, INSTRUCTIONS[arch], "selfask", INSTRUCTIONS[arch],
                      "cycles")
    t.equal(lines, ["0 backwards, 0 in handlers", "between", "between"],
            "readings")


@t.named("errors are clear, and leave the handle as it was")
def errors():
    t.equal(cases("sparc64", "errors"), [
        "unknown event 'no_such_event' on ultrasparc-t2; tally list events -m "
        "ultrasparc-t2 shows its events", "unknown name, 0",
        "unknown event 'no_such_event' on ultrasparc-t2; tally list events -m "
        "ultrasparc-t2 shows its events", "unknown name, 0",
        "'sparc-t4::All_instructions': the machine is ultrasparc-t2, not "
        "sparc-t4", "unknown name, 0",
        "an event name is missing in the event list", "syntax error, 0",
        "on the emulated ultrasparc-t2 a thread counts itself, all of its "
        "process or a strand: not thread 1", "unknown name",
        "process 1, if there is one, has an emulated ultrasparc-t2 of its own",
        "unknown name",
        "the emulated ultrasparc-t2 has strands 0 to 63: no cpu 4096",
        "unknown name",
        "on the emulated ultrasparc-t2 overflows are of one thread",
        "against a rule", "no error",
        "events are added while the counters are stopped", "against a rule",
        "room for 0 readings of 1 events", "value out of range"], "lines")


@at_arch("parts of the model begin to run when the program asks")
def parts(arch):
    """The session counts instructions alone, and no other."""
    event = {"sparc64": "Dcache_misses", "x86_64": "L1-dcache-load-misses",
             "mips64": "Primary_data_cache_misses",
             "mips64el": "Primary_data_cache_misses",
             "aarch64": "L1-dcache-load-misses",
             "riscv64": "L1-dcache-load-misses"}[arch]
    names = f"{INSTRUCTIONS[arch]},{event},cycles"
    lines, _ = inside(arch, INSTRUCTIONS[arch], "selfloop", names, 100000)
    with_all, _ = inside(arch, "all", "selfloop", names, 100000)
    cycles = [int(all_of[-1].split()[1]) for all_of in (lines, with_all)]
    assert abs(cycles[0] - cycles[1]) < 100, cycles  # what was foretold before
    t.equal(lines[:-1], with_all[:-1], "the loop")
    t.equal(lines[:2], [f"{INSTRUCTIONS[arch]} {100000 * PER_TURN[arch]}",
                        f"{event} 0"], "the loop")


@at_arch("overflows: signals, records, and a handler that starts anew")
def overflows(arch):
    """What a handler does counts too: up to five periods more."""
    for options in (), ("-e", "all"):
        lines, _ = inside(arch, INSTRUCTIONS[arch], "selfwatch",
                          BRANCHES[arch], options=options)
        signals, taken, later = (int(n) for n in lines[0].split()[::2])
        assert 100 <= signals <= 105, lines
        t.equal((taken, later), (signals, 0), "taken and later")
        t.equal(lines[1], "60 taken, 40 lost, 60 in the loop", "no signal")
        assert 95 <= int(lines[2].split()[0]) <= 105, lines
        t.equal(lines[3:],
                ["a thread has one handle with a period at a time"], "second")


def fails(event, *options):
    done = t.run(t.tally(), "count", "-q", "-o", "/dev/null", *options,
                 guest("selfloop", "sparc64"), event)
    t.equal(done.returncode, 1, "status")
    return done.stderr


@t.named("events that cannot count: idle, known too late, not modelled")
def cannot():
    t.contains(fails("DES_3DES_OP"), "DES_3DES_OP cannot count on "
               "ultrasparc-t2: ")
    t.contains(fails("stall_issue", "-e", "all"),
               "stall_issue is known when the program has ended")
    t.contains(fails("All_instr", "-e", "Load_instr", "--filter", "data=stdout"),
               "a program does not count itself under --filter data=")


@t.named("events of the caches count, and add up with those of tally")
def caches():
    """A run of a loop alone, all of whose misses are before it."""
    got, _ = loop_of("sparc64", "Dcache_misses,cycles,stall_branch", 10000)
    t.same(got, {"Dcache_misses": 0, "cycles": 70000, "stall_branch": 40000},
           "the loop")


@t.named("--from and --to: the program counts where tally does")
def window():
    got, c = loop_of("sparc64", "All_instr", 10000,
                     options=("--from", "measure", "--to", "main"))
    t.equal(got["All_instr"], 30000, "the loop")


@t.named("--hardware: the program's counters are exact all the same")
def hardware():
    lines, _ = inside("sparc64", "All_instr,Load_instr,Store_instr",
                      "selfloop", "All_instr", 1000000,
                      options=("--hardware",))
    t.equal(lines, ["All_instr 3000000"], "the loop")


# Registers

FOREIGN = {"montecito": ["--foreign"]}


def registers(arch, machine, *words, options=()):
    """The lines that selfregs prints, the machine's name excepted."""
    done = t.run(t.tally(), "count", "-q", "-o", "/dev/null", "-m", machine,
                 *FOREIGN.get(machine, []), *options,
                 guest("selfregs", arch), *words)
    t.equal(done.returncode, 0, "status: " + done.stderr)
    lines = done.stdout.splitlines()
    t.equal(lines[0], machine, "machine")
    return lines[1:]


@t.named("threads beyond the strands share registers, and one line says so")
def shared_registers():
    for machine, arch, words, shared in (
            ("r10000", "mips64", ("CNT0=5", "CNT0", "thread", "CNT0",
                                  "thread", "CNT0"), True),
            ("ultrasparc-t2", "sparc64", ("PIC=5", "PIC", "thread", "PIC"),
             False)):
        done = t.run(t.tally(), "count", "-o", "/dev/null", "-m", machine,
                     guest("selfregs", arch), *words)
        t.equal(done.stderr, "tally: warning: more guest threads than the 1 "
                "strand with registers of r10000: threads share them\n"
                if shared else "", machine)
        t.equal(done.stdout.count("0x5"), 3 if shared else 1, done.stdout)


# machine, guest, what programs two counters, who is read: branches and
# instructions, or the other way round
PROGRAMS = [
    ("ultrasparc-t1", "sparc64", ["PCR=0x4"], ["PIC:1000"],
     ["PIC 3000 0"]),
    ("ultrasparc-t2", "sparc64", ["PCR=0x17e88046"], ["PIC:1000"],
     ["PIC 3000 1000"]),
    ("ultrasparc-t2plus", "sparc64", ["PCR=0x17e88046"], ["PIC:1000"],
     ["PIC 3000 1000"]),
    ("sparc-t4", "sparc64", ["PCR0=0x204c", "PCR1=0x1fec", "PCR2=0x202c"],
     ["PIC0:1000", "PIC1:1000", "PIC2:1000"],
     ["PIC0 0 1000", "PIC1 0 3000", "PIC2 0 1000"]),
    ("r10000", "mips64", ["CTRL0=0xc8", "CTRL1=0x28"],
     ["CNT0:1000", "CNT1:1000"], ["CNT0 0 1000", "CNT1 0 3000"]),
    ("r12000", "mips64el", ["CTRL0=0x1e8"], ["CNT0:1000"],
     ["CNT0 0 3000"]),
    # Instructions as a user's and as a system's monitor; nops between them.
    ("montecito", "x86_64",
     ["PMC4=0x7a000808", "PMC5=0x7a000848", "PMC6=0x7a005008"],
     ["PMD4:1000", "PMD5:1000", "PMD6:1000"],
     ["PMD4 0 3000", "PMD5 0 3000", "PMD6 0 1000"]),
]


def program(machine, arch, control, reads, wanted):
    t.equal(registers(arch, machine, *control, *reads), wanted, "counters")
    t.equal(registers(arch, machine, *control, *reads,
                      options=("-e", "all")), wanted, "with all parts")


for row in PROGRAMS:
    t.case(f"{row[0]}: counters that a program programs itself", program, *row)


@t.named("registers: privilege, names, and what the hypervisor lets be read")
def register_rules():
    t.equal(registers("sparc64", "ultrasparc-t2", "no_such", "user", "PCR",
                      "PIC", "priv", "PCR=1", "user", "PIC"),
            ["no_such: unknown name", "PCR: trap 0x1", "PIC 0",
             "PIC: trap 0x2"], "ultrasparc-t2")
    t.equal(registers("mips64", "r10000", "user", "CNT0"),
            ["CNT0: trap 0x10"], "r10000")
    t.equal(registers("sparc64", "ultrasparc-t2plus", "t2plus"),
            ["7 0 0 0 0x12340"], "hypervisor: no version, agreed, set, get")


@t.named("registers: an overflow is pending at the next access, and is taken")
def register_overflow():
    t.equal(registers("sparc64", "ultrasparc-t2", "PIC=0xff000000ff000000",
                      "PCR=0x17e88076", "loop=20000000", "pending",
                      "take=256", "PCR=0x17e88046", "pending"),
            ["pending 0x100", "counters 0x3", "pending 0"], "T2")
    lines = registers("mips64", "r10000", "CNT0=0x7fffff00", "CTRL0=0x1f8",
                      "loop=1000", "pending")
    t.equal(lines, ["pending 0x800"], "r10000")


@t.named("registers: each thread has those of its strand")
def register_threads():
    t.equal(registers("sparc64", "ultrasparc-t2", "PCR=0x17e88046", "thread",
                      "PCR", "PIC", "PCR=0x17e88046", "PIC:1000"),
            ["PCR 0", "PIC 0", "PIC 3000 1000"], "the other thread's")
    for nodes in (2, 3, 4):
        t.equal(registers("sparc64", "ultrasparc-t2plus", "PCR=0x17e88046",
                          "thread", "PCR", options=("--set", f"nodes={nodes}")),
                ["PCR 0"], f"on another of {nodes} nodes")


@t.named("registers: controllers of all nodes, and hubs where four meet")
def register_nodes():
    absent = ["NODE1_MCU0_PCR: trap 0x8", "ZAM0_LPU_A_PCR: trap 0x8"]
    for nodes, wanted in ((1, absent), (2, ["NODE1_MCU0_PCR 0", absent[1]]),
                          (4, ["NODE1_MCU0_PCR 0", "ZAM0_LPU_A_PCR 0"])):
        t.equal(registers("sparc64", "ultrasparc-t2plus", "NODE1_MCU0_PCR",
                          "ZAM0_LPU_A_PCR",
                          options=("--set", f"nodes={nodes}")),
                wanted, f"{nodes} nodes")


@t.named("registers: hubs count what threads on all nodes do")
def register_links():
    t.equal(registers("sparc64", "ultrasparc-t2plus", "links",
                      options=("--set", "nodes=4")),
            [f"hub {z} 32" for z in range(4)], "128 lines in four planes")


@t.named("registers: a memory controller counts the reads of all threads")
def register_controllers():
    for machine, words, high, low in (
            ("ultrasparc-t1", ("DRAM_CTL0=0", "DRAM_COUNT0"), True, True),
            ("ultrasparc-t2", ("DRAM_CTL0=0xf", "DRAM_COUNT0"), True, False),
            ("ultrasparc-t2plus", ("NODE0_MCU0_PCR=0", "NODE0_MCU0_PIC"), True,
             True),
            # All reads, and those of port 1.
            ("sparc-t4", ("DRAM_PERF_CTL_REG0=8", "DRAM_PERF_COUNT01_REG0"),
             True, False)):
        count = int(registers("sparc64", machine, words[0], "thread",
                              words[1])[0].split()[1], 16)
        t.equal((count >> 32 > 20, (count & 0xffffffff) > 20), (high, low),
                f"{machine}: {count:#x}")


@t.named("code that reads and writes %pcr and %pic, or T4's ASIs, runs as it is")
def shim():
    for machine, word, pcr in (("ultrasparc-t2", "pcr", "0x17e88046"),
                               ("sparc-t4", "t4", "0x1fec")):
        wanted = f"pcr {pcr}\n1000 3000\n"
        linked = t.run(t.tally(), "count", "-q", "-o", "/dev/null", "-m",
                       machine, guest("asr", "sparc64"), word)
        t.equal(linked.stdout, wanted, "linked")
        library = t.guest("tally-registers.sparc64.so")
        preloaded = t.run(
            t.tally(), "count", "-q", "-o", "/dev/null", "-m", machine,
            guest("asr.dyn", "sparc64"), word,
            env=os.environ | {"QEMU_SET_ENV": f"LD_PRELOAD={library}"})
        t.equal(preloaded.stdout, wanted, "preloaded")


@t.named("without the shim, and at user level, %pcr is an illegal instruction")
def no_shim():
    for name, env in (("asr.dyn", {}), ("asr", {"TALLY_REGISTERS": "user"})):
        done = t.run(t.tally(), "count", "-q", "-o", "/dev/null",
                     guest(name, "sparc64"), "pcr", env=os.environ | env)
        t.equal(done.returncode, 128 + 4, "status")


@t.named("an event with a unit mask, or of one place, is counted as any other")
def narrowed():
    for machine, arch, event, wanted in (
            ("montecito", "x86_64", "IA64_INST_RETIRED.THIS", 3000),
            ("ultrasparc-t2plus", "sparc64", "mem_reads:at=NODE0_MCU0", 0)):
        done = t.run(t.tally(), "count", "-q", "-o", "/dev/null", "-m", machine,
                     "--foreign", "-e", event, guest("selfloop", arch), event,
                     1000)
        t.equal((done.returncode, done.stdout), (0, f"{event} {wanted}\n"),
                machine)


@t.named("a program that asks for the machine is told that there is none")
def no_machine():
    done = t.run(guest("selfregs", "x86_64"))
    t.equal(done.returncode, 1, "status")
    t.equal(done.stderr, "no emulated machine runs this program: start it with "
            "tally count\nQEMU unusable\n", "stderr")


@at_arch("without tally the host's counters are asked for")
def not_under_tally(arch):
    program = guest("selfloop", arch)
    if arch == "x86_64":
        done = t.run(program, "page-faults:u", 1000)
        t.equal(done.returncode, 0, "status: " + done.stderr)
        t.contains(done.stdout, "page-faults:u 0")
        return
    done = t.run(f"qemu-{arch}", program, "page-faults:u", 1000)
    t.equal(done.returncode, 1, "status")
    t.equal(done.stdout, "", "stdout")
    assert done.stderr.count("\n") == 2, done.stderr


t.main()
