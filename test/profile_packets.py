#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally profile and examples/pktproc: profile_packets.py BUILD [WORD]"""
import csv
import io
import json
import os
import pathlib
import shutil
import tempfile

import tallytest as t
from host_help import need_perf_event

STAGES = ("run_generator", "run_classifier", "run_forwarder")


class Profiled:
    """A run of pktproc, and what its dump sums up to by stage."""

    def __init__(self, options, *args, arch="sparc64", summarize=()):
        program = (t.guest(f"pktproc.{arch}") if arch else
                   str(t.build / "examples" / "pktproc"))
        with tempfile.TemporaryDirectory() as folder:
            self.done = t.run(t.tally(), "profile", *options, "-o",
                              f"{folder}/dump.csv", "--", program, *args)
            t.equal(self.done.returncode, 0, self.done.stderr)
            self.dump = pathlib.Path(folder, "dump.csv").read_text()
            self.places = pathlib.Path(
                folder, "profiler_calls_location.txt").read_text()
            done = t.run(t.tally(), "summarize", "-j", "--by", "region",
                         "--user-cumulative", *summarize, f"{folder}/dump.csv")
            self.sum = json.loads(done.stdout)
        self.stages = {cell["start"]["place"].rpartition(":")[2]:
                       {s["name"]: s for s in cell["series"]}
                       for cell in self.sum["cells"]}


@t.named("a packet costs the loads and stores that its stages make")
def packet_costs():
    """The difference between batches of 64 packets and of 32."""
    # By the program's source: words of a packet, and of its head.
    costs = {"Load_instr": (0, 8, 1), "Store_instr": (8, 0, 2)}
    few, many = (Profiled(["-e", "Load_instr,Store_instr"], 1, 20, packets)
                 for packets in (32, 64))
    for event, wanted in costs.items():
        for stage, cost in zip(STAGES, wanted):
            one, two = (run.stages[stage][event] for run in (few, many))
            t.equal(two["p50"] - one["p50"], 32 * cost, f"{event} of {stage}")


@t.named("another user's files in a folder for all stay")
def planted():
    """As root, who may write them."""
    if os.geteuid() != 0:
        raise t.Skip("needs root, and another user's file")
    for name in ("dump.csv", "profiler_calls_location.txt"):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, name)
            path.write_text("mine")
            os.chown(path, 65534, 65534)
            os.chmod(folder, 0o1777)
            done = t.run(t.tally(), "profile", "-e", "All_instr", "-o",
                         f"{folder}/dump.csv", "--",
                         t.guest("pktproc.sparc64"), "1", "1")
            t.equal(done.returncode, 2, done.stderr)
            t.contains(done.stderr, f"cannot write {path}: it is another user's")
            t.equal(path.read_text(), "mine", "the file")
            t.equal(path.stat().st_uid, 65534, "its owner")
            t.equal(os.listdir(folder), [name], "files")


@t.named("64 threads on 64 strands: a dump each, and every batch")
def every_strand():
    """The 64th is the program's first, which waits for the others."""
    run = Profiled(["-e", "Load_instr,Store_instr"], 21, 3, 8)
    blocks = run.dump.split("TEJA_PROFILE_DUMP_START,ver1.1\n")[1:]
    cpus = [{line.split(",")[0] for line in block.splitlines()[1:-1]}
            for block in blocks]
    t.equal([len(cpu) for cpu in cpus], [1] * 63, "strands of a dump")
    t.equal(sorted(int(cpu, 16) for some in cpus for cpu in some),
            list(range(1, 64)), "strands")
    t.equal(run.sum["intervals"], 63 * 3, "batches")


@t.named("--rotate sees every event of TABLE 3-5 in one run")
def every_event():
    run = Profiled(["--rotate"], 1, 40)
    listed = json.loads(t.run(t.tally(), "list", "-j", "events", "-m",
                              "ultrasparc-t2").stdout)["events"]
    wanted = {e["name"] for e in listed
              if e["unit"] == "cpu" and e.get("fidelity") != "idle"}
    wanted.remove("Idle_strands")
    t.equal(wanted - set(run.stages["run_classifier"]), set(), "events missing")
    t.equal(len(wanted) >= 24, True, "events")
    # P55: all instructions are the sum of their classes.
    got = {name: s["p50"] for name, s in run.stages["run_forwarder"].items()}
    t.equal(sum(got[name] for name in (
        "Completed_branches", "FGU_arithmatic_instr", "Load_instr",
        "Store_instr", "sethi_instr", "Other_instr", "Atomics")),
        got["All_instr"], "the classes")


@t.named("on a T1 instr_cnt stands above every event")
def t1_pairs():
    run = Profiled(["-m", "ultrasparc-t1", "--rotate", "-e",
                    "IC_miss,DC_miss,ITLB_miss"], 1, 9)
    t.equal(run.sum["machine"], "ultrasparc-t1")
    t.equal({tuple(row[6:]) for row in starts_of(run)},
            {("100", "4"), ("100", "8"), ("100", "10")}, "selections")


def starts_of(run):
    rows = [line.split(",") for line in run.dump.splitlines()]
    return [row for row in rows if len(row) == 8 and row[2] == "1"]


def pairs_of(run):
    """The codes of the events that intervals counted together."""
    return {tuple(int(code, 16) for code in row[6:]) for row in starts_of(run)}


# P02
@t.named("--hardware pairs what the machine's own counters count together")
def hardware_pairs():
    """On an R10000 events 0 to 15 are counter 0's, 16 to 31 counter 1's."""
    run = Profiled(["--hardware", "--rotate"], 1, 40, arch="mips64")
    pairs = pairs_of(run)
    # One that is left over stands alone.
    t.equal({(a // 16, b // 16) for a, b in pairs if a != b}, {(0, 1)},
            "counters")
    t.equal(len(pairs) > 8, True, "pairs")
    free = pairs_of(Profiled(["--rotate"], 1, 40, arch="mips64"))
    t.equal((1, 2) in free and (1, 2) not in pairs, True, "the model's pairs")
    # The model's own events have numbers of 40 bits, and no counter.
    t.equal({e for pair in pairs for e in pair},
            {e for pair in free for e in pair if e < 1 << 32}, "all events")
    run = Profiled(["--hardware", "--rotate", "-m", "ultrasparc-t1"], 1, 20)
    t.equal({a for a, _ in pairs_of(run)}, {0x100}, "instr_cnt")
    t.equal(len(pairs_of(run)), 8, "measurements, by the document")


@t.named("on a T1 the instructions keep the name that they were asked for by")
def t1_instructions():
    for asked, names in (
            ("instructions", {"instr_cnt": "instructions"}),
            ("instr_cnt", {"instr_cnt": None}),
            ("instructions,IC_miss",
             {"instr_cnt": "instructions", "IC_miss": None}),
            ("L1-icache-load-misses,instructions:u",
             {"instr_cnt": "instructions:u",
              "IC_miss": "L1-icache-load-misses"})):
        for more in ([], ["--hardware"]):
            run = Profiled(["-m", "ultrasparc-t1", *more, "-e", asked], 1, 3)
            t.equal({s["name"]: s.get("asked")
                     for s in run.stages["run_generator"].values()
                     if s["kind"] == "event"}, names, asked)
    t.equal(refused("-m", "ultrasparc-t1", "-e", "instructions,IC_miss,DC_miss",
                    t.guest("pktproc.sparc64")),
            "tally profile: 2 events, and one beside instructions at a time; "
            "--rotate takes them in turn\n")


@t.named("where instructions are the clock, --rotate takes the cycles")
def clock_instructions():
    for clock, has in (("cycles", False), ("instructions", True)):
        run = Profiled(["--rotate", "--clock", clock], 1, 40, arch="mips64")
        t.equal("Cycles" in run.stages["run_classifier"], has, clock)


@t.named("this host's events are counted, too")
def this_host():
    need_perf_event()
    run = Profiled([], 1, 10, arch=None)
    t.equal(run.sum["machine"], "host")
    t.equal(run.stages["run_classifier"]["task-clock"]["mean"] > 0, True,
            "nanoseconds")
    run = Profiled(["-e", "context-switches,minor-faults,page-faults",
                    "--rotate"], 1, 30, arch=None)
    t.equal({"context-switches", "minor-faults", "page-faults"} -
            set(run.stages["run_generator"]), set(), "events missing")
    # The kernel's events open everywhere.
    run = Profiled(["--rotate"], 1, 70, arch=None)
    t.equal({"task-clock", "page-faults", "context-switches"} -
            set(run.stages["run_generator"]), set(), "this host's own events")


@t.named("--locations prints the ids that dumps have")
def places():
    for arch in (*t.isas(), None):
        program = (t.guest(f"pktproc.{arch}") if arch else
                   str(t.build / "examples" / "pktproc"))
        done = t.run(t.tally(), "profile", "--locations", program)
        t.equal(done.stderr, "")
        got = sorted(done.stdout.splitlines())
        t.equal(len(got), 6, f"places of {program}")
        if arch == "sparc64":
            run = Profiled([], 1, 2)
            t.equal(sorted(run.places.splitlines()), got, "places")


@t.named("without -DTALLY_PROFILE the calls are nothing")
def compiled_out():
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or shutil.which("nm") is None:
        raise t.Skip("no compiler")
    with tempfile.TemporaryDirectory() as folder:
        def symbols(*flags):
            obj = f"{folder}/pktproc.o"
            done = t.run(compiler, "-O2", "-std=gnu17", "-Wall", "-Wextra",
                         "-Werror", "-Wpedantic", f"-I{t.source('include')}",
                         *flags, "-c", "-o", obj,
                         t.source("examples", "pktproc.c"))
            t.equal(done.returncode, 0, done.stderr)
            return t.run("nm", obj).stdout
        t.contains(symbols("-DTALLY_PROFILE"), "tally_profiler_update_at")
        t.equal("_at" in symbols(), False, "calls")


@t.named("--foreign runs a program of another processor on the machine")
def foreign():
    t.contains(refused("-m", "ultrasparc-t2", t.guest("pktproc.mips64")),
               "--foreign runs it all the same")
    run = Profiled(["--foreign", "-m", "ultrasparc-t2", "-e", "Load_instr,Store_instr"],
                   1, 20, 32, arch="mips64")
    t.equal(run.sum["intervals"], 60)
    t.equal(run.stages["run_generator"]["Store_instr"]["p50"] >= 8 * 32, True)


@t.named("C++ programs mark points, too")
def from_cxx():
    compiler = shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        raise t.Skip("no compiler for C++")
    text = """
#include <tally/profiler.h>
namespace net {
template <typename number> struct queue {
    int mark(number n)
    {
        tally_profiler_start(1, "page-faults:u");
        return tally_profiler_update(1, n, 2u) + tally_profiler_update(1);
    }
};
}
int main()
{
    return net::queue<int>().mark(1) + net::queue<long>().mark(2L);
}
"""
    flags = ["-std=gnu++17", "-Wall", "-Wextra", "-Werror",
             f"-I{t.source('include')}"]
    with tempfile.TemporaryDirectory() as folder:
        for more in (["-c"], ["-c", "-DTALLY_PROFILE"],
                     ["-DTALLY_PROFILE", f"-L{t.build}/src/lib",
                      f"-Wl,-rpath,{t.build}/src/lib", "-ltally-profiler"]):
            done = t.run(compiler, *flags, "-xc++", "-o", f"{folder}/queue",
                         "-", *more, stdin=None, input=text)
            t.equal(done.returncode, 0, done.stderr)
        listed = t.run(t.tally(), "profile", "--locations", f"{folder}/queue")
        # Two of the three calls share a line, and are one place.
        t.equal(len(listed.stdout.splitlines()), 4, "calls of two instances")
        functions = {line.split(":", 2)[2]
                     for line in listed.stdout.splitlines()}
        t.equal(len(functions), 2, "functions")
        for function in functions:
            t.contains(function, "int net::queue<")
        done = t.run(t.tally(), "profile", "-o", f"{folder}/dump.csv",
                     f"{folder}/queue")
        t.equal((done.returncode, done.stderr), (0, ""), "the run")
        met = pathlib.Path(folder, "profiler_calls_location.txt").read_text()
        t.equal(sorted(met.splitlines()), sorted(listed.stdout.splitlines()),
                "those of the run")
        done = t.run(t.tally(), "summarize", f"{folder}/dump.csv")
        t.contains(done.stdout, "::mark(number)")


def refused(*words):
    done = t.run(t.tally(), "profile", *words)
    t.equal((done.returncode, done.stdout), (2, ""), "status, stdout")
    return done.stderr


@t.named("events of any unit keep their names in any group")
def other_units():
    for machine, events in (("ultrasparc-t2", "mem_reads,mem_writes"),
                            ("ultrasparc-t1", "mem_reads"),
                            ("sparc-t4", "Read_transactions,Branches")):
        named = ["-m", machine] if machine == "sparc-t4" else []
        run = Profiled(["-m", machine, "-e", events], 1, 9, 8,
                       summarize=named)
        t.equal(run.sum["machine"], machine)
        t.equal(run.sum["troubles"], [])
        t.equal(set(events.split(",")) <= set(run.stages["run_generator"]),
                True, events)


@t.named("what cannot be profiled is told in a line")
def errors():
    program = t.guest("pktproc.sparc64")
    t.equal(refused(), "tally profile: no program; see tally profile --help\n")
    t.equal(refused("-e", "Atomics,Load_instr,Store_instr", program),
            "tally profile: 3 events, and two at a time; --rotate takes them "
            "in turn\n")
    t.equal(refused("-m", "ultrasparc-t1", "-e", "IC_miss,DC_miss", program),
            "tally profile: 2 events, and one beside instr_cnt at a time; "
            "--rotate takes them in turn\n")
    t.equal(refused("--hardware", "-e", "IC_miss,DC_miss,Load_instr", program),
            "tally profile: ultrasparc-t2 has not the counters for all of "
            "IC_miss,DC_miss,Load_instr at once; --rotate takes them in turn\n")
    t.equal(refused("--hardware", "-e", "graduated_loads,tlb_misses",
                    t.guest("pktproc.mips64")),
            "tally profile: r10000 has not the counters for all of "
            "graduated_loads,tlb_misses at once; --rotate takes them in turn\n")
    t.contains(refused("--hardware", "-e", "cycles", program),
               "no counter of ultrasparc-t2 counts cycles")
    t.contains(refused("--hardware", program), "--hardware needs -e or --rotate")
    t.contains(refused("--hardware", "-m", "host", "-e", "page-faults",
                       t.guest("pktproc.x86_64")), "for emulated machines")
    native = t.guest("pktproc.x86_64")
    for words, text in (
            (("--log-size", "x"), "tally: --log-size takes a number, not 'x'"),
            (("--log-size", "0"), "tally: --log-size takes 1 to"),
            (("--user-words", "65"), "tally: --user-words takes 0 to 64"),
            (("--clock", "sun"), "tally: --clock takes cycles or instructions"),
            (("-e", ""), "-e names no event"), (("-e", ","), "no event"),
            (("--set", "l2.size=4M"), "--set is for emulated machines")):
        t.contains(refused(*words, "-m", "host", native), text)
    # A program without a log would say nothing of them.
    for events in ("nosuch", "page-faults,nosuch", "page-faults:u;nosuch"):
        t.equal(refused("-e", events, "-m", "host",
                        f"{t.build}/test/host-selfprofile"),
                "tally: unknown event 'nosuch' on this host; tally list -m "
                "host shows its events\n", events)
    t.contains(refused("--locations", "/bin/true"), "has no calls of the "
                                                    "profiler")
    t.contains(refused("--locations", os.devnull), "has no calls")
    done = t.run(t.tally(), "profile", "-o", os.devnull, "/bin/true")
    t.contains(done.stderr, "was it compiled with -DTALLY_PROFILE?")
    t.equal(done.returncode, 0, "status")
    # A variable is named where the variable was set.
    done = t.run(t.guest("selfprofile.x86_64"), "", "1", "1",
                 env=os.environ | {"TALLY_PROFILER_USER_DATA_SIZE": "65"})
    t.contains(done.stderr, "TALLY_PROFILER_USER_DATA_SIZE takes 0 to 64")


@t.named("events that a machine lacks are refused with what it has")
def advice():
    native = t.guest("pktproc.x86_64")
    t.equal(refused("-m", "host-model", "-e", "task-clock", native),
            "tally: the kernel counts task-clock, for a whole run and not for "
            "its intervals: tally count -m host-model -e task-clock PROGRAM\n")
    t.equal(refused("--hardware", "-e", "LLC-loads", t.guest("pktproc.mips64")),
            "tally: no counter of r10000 counts LLC-loads "
            "(data_cache_load_misses); without --hardware the model counts "
            "it\n")
    t.contains(refused("--hardware", "--rotate", "-m", "host-model", native),
               "host-model is counted by its model alone")
    done = t.run(t.tally(), "profile", "-m", "host", "-e", "instructions", "-o",
                 os.devnull, native)
    if "no hardware counters" in done.stderr:
        t.contains(done.stderr, ": software events: tally profile -e "
                   "task-clock,page-faults PROGRAM; on a model: tally profile "
                   "-m host-model -e instructions PROGRAM\n")
    else:
        need_perf_event()


@t.named("files that cannot be written are told")
def files():
    program = t.guest("pktproc.x86_64")
    for option in ("-o", "--buffer"):
        done = t.run(t.tally(), "profile", "-o", os.devnull, "-m", "host",
                     option, "/dev/null/x", program)
        t.equal((done.returncode, done.stdout), (2, ""), option)
        t.contains(done.stderr, "cannot write /dev/null/x")


@t.named("a dump is copied to a device or a pipe, which may refuse it")
def devices():
    words = [t.tally(), "profile", "-m", "host-model", "-e", "instructions"]
    program = t.guest("pktproc.x86_64")
    done = t.run(*words, "-o", "/dev/full", program)
    t.equal((done.returncode, done.stderr), (125, "tally: cannot write "
            "/dev/full: No space left on device\n"), "/dev/full")
    done = t.run(*words, "-o", "/dev/null", program)
    t.equal((done.returncode, done.stderr), (0, ""), "/dev/null")
    done = t.run(*words, "-o", "/dev/stdout", program)
    lines = done.stdout.splitlines()
    t.equal((done.returncode, lines[0], lines[-1]),
            (0, "6400 packets forwarded", "TEJA_PROFILE_DUMP_END"), "stdout")
    with tempfile.TemporaryDirectory() as folder:
        os.mkfifo(f"{folder}/pipe")
        done = t.run("sh", "-c", 'cat "$0" >"$1" & shift; "$@"; s=$?; wait; '
                     "exit $s", f"{folder}/pipe", f"{folder}/dump.csv", *words,
                     "-o", f"{folder}/pipe", program)
        t.equal((done.returncode, done.stderr), (0, ""), "pipe")
        t.contains(pathlib.Path(folder, "dump.csv").read_text(),
                   "TEJA_PROFILE_DUMP_END")


def run_beside(folder, *words):
    """The status and the last line of a run, whose dump is dump.csv."""
    done = t.run(t.tally(), "profile", "-o", f"{folder}/dump.csv", *words)
    lines = done.stderr.splitlines()
    return done.returncode, lines[-1] if lines else ""


@t.named("a run without records leaves the dump of an earlier run, and says so")
def kept_dump():
    marks = f"{t.build}/test/host-selfprofile"
    guest = t.guest("pktproc.x86_64")
    with tempfile.TemporaryDirectory() as folder:
        dump = pathlib.Path(folder, "dump.csv")
        for before, kept in ((None, "is not written"),
                             ("old", "of an earlier run is kept")):
            if before is not None:
                dump.write_text(before)
            for words, status, text in (
                    (["/bin/true"], 125, "no profiler calls, or an end by "
                     f"_exit(): {dump} {kept}"),
                    (["/bin/false"], 1, "the run ended with status 1 and no "
                     f"dump: {dump} {kept}"),
                    (["sh", "-c", "kill -SEGV $$"], 139, "the run ended with "
                     f"status 139 and no dump: {dump} {kept}; --buffer FILE "
                     "keeps the records of a program that a signal ends"),
                    ([marks, "nosuch", "1", "1"], 1, "every start of the "
                     f"profiler was refused: {dump} {kept}; -e EVENTS counts "
                     "events of tally list events -m host"),
                    (["-m", "host-model", guest, "1", "2", "2"], 125,
                     f"every start of the profiler was refused: {dump} {kept}; "
                     "-e EVENTS counts events of tally list events -m "
                     "host-model"),
                    ([marks, "", "1", "1"], 0, "the program dumped its records "
                     f"itself: {dump} {kept}")):
                t.equal(run_beside(folder, *words),
                        (status, f"tally profile: {text}"), words)
                t.equal(dump.read_text() if dump.exists() else None, before,
                        "the dump of before")
        t.equal(sorted(os.listdir(folder)),
                [dump.name, "profiler_calls_location.txt"], "files")
        t.equal(run_beside(folder, "-m", "host-model", "-e", "instructions",
                           guest, "1", "2", "2")[0], 0, "status")
        t.contains(dump.read_text(), "TALLY_PROFILE_EVENT,1,c0,instructions\n")


@t.named("another user's link in a folder that all may write is refused")
def planted_dump():
    if os.geteuid() != 0:
        raise t.Skip("only root has another user")
    guest = t.guest("pktproc.x86_64")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o1777)
        target = pathlib.Path(folder, "target")
        target.write_text("kept\n")
        link = pathlib.Path(folder, "dump.csv")
        link.symlink_to(target)
        os.lchown(link, 65534, 65534)
        status, text = run_beside(folder, "-m", "host-model", "-e",
                                  "instructions", guest, "1", "2", "2")
        t.equal((status, text.count("\n")), (2, 0), text)
        t.contains(text, "another user's")
        t.equal(target.read_text(), "kept\n", "the file behind the link")


@t.named("a new dump is in the folder of the run, and no link is replaced")
def dump_places():
    guest = t.guest("pktproc.x86_64")
    words = ("-m", "host-model", "-e", "instructions", guest, "1", "2", "2")
    with tempfile.TemporaryDirectory() as folder:
        target = pathlib.Path(folder, "target.csv")
        link = pathlib.Path(folder, "dump.csv")
        link.symlink_to(target)
        t.equal(run_beside(folder, *words), (0, ""))
        t.equal((link.is_symlink(), "TEJA" in target.read_text()), (True, True))
        # The program's own folder is another one.
        elsewhere = pathlib.Path(folder, "elsewhere")
        elsewhere.mkdir()
        script = pathlib.Path(folder, "script")
        script.write_text(f"#!/bin/sh\ncd {elsewhere} && exec "
                          f"{t.build}/examples/pktproc 1 2 2\n")
        script.chmod(0o755)
        need_perf_event()
        done = t.run(t.tally(), "profile", "-e", "page-faults", "-o", "new.csv",
                     script, cwd=folder)
        t.equal((done.returncode, os.listdir(elsewhere)), (0, []), done.stderr)
        t.contains(pathlib.Path(folder, "new.csv").read_text(), "page-faults")
        done = t.run(t.tally(), "profile", "-o", "%p.csv", "-e", "page-faults",
                     f"{t.build}/examples/pktproc", "1", "2", "2", cwd=folder)
        t.equal(len(list(pathlib.Path(folder).glob("[0-9]*.csv"))), 1, "%p")


# Of each machine: events as they are asked for, the machine's own names for
# them, and how many of its own --rotate takes at least.
MACHINES = {
    "ultrasparc-t1": (["IC_miss"], ["instr_cnt", "IC_miss"], 8),
    "ultrasparc-t2": (["cpu/Load_instr", "dcache_misses:u"],
                      ["Load_instr", "Dcache_misses"], 24),
    "ultrasparc-t2plus": (["0x12", "mem_reads:at=NODE0_MCU0"],
                          ["Completed_branches", "mem_reads:at=NODE0_MCU0"],
                          24),
    "sparc-t4": (["Branches", "Load_instructions"],
                 ["Branches", "Load_instructions"], 40),
    "r10000": (["graduated_loads", "cycles"], ["Graduated_loads", "Cycles"],
               30),
    "r10000-rev2": (["Graduated_loads", "19"],
                    ["Graduated_loads", "Graduated_stores"], 30),
    "r12000": (["Decoded_loads", "Decoded_stores"],
               ["Decoded_loads", "Decoded_stores"], 30),
    "montecito": (["L2I_READS.ALL.DMND", "L2I_READS.MISS.DMND"],
                  ["L2I_READS.ALL.DMND", "L2I_READS.MISS.DMND"], 30),
    "host-model": (["instructions", "L1-dcache-load-misses"],
                   ["instructions", "L1-dcache-load-misses"], 20),
}


def names_of(folder):
    """What the forms of a summary call the events: {name: asked, code}."""
    dump = f"{folder}/dump.csv"
    document = t.run(t.tally(), "summarize", "-j", "--by", "all", dump)
    got = json.loads(document.stdout)
    t.equal(got["troubles"], [], "troubles")
    events = {s["name"]: (s.get("asked"), s["code"])
              for s in got["cells"][0]["series"] if s["kind"] == "event"}
    rows = csv.DictReader(io.StringIO(t.run(
        t.tally(), "summarize", "--format", "csv", "--by", "all",
        dump).stdout))
    t.equal({r["name"]: r["asked"] or None for r in rows
             if r["kind"] == "event"},
            {name: asked for name, (asked, _) in events.items()}, "CSV")
    text = t.run(t.tally(), "summarize", "--by", "all", dump).stdout
    lines = [line.split() for line in text.splitlines()]
    t.equal(set(events) - {words[0] for words in lines if words}, set(), text)
    t.equal("-m names another" in text, False, "the machine is known")
    # Scripts of the document have their own columns, on machines that have not
    # the document's codes those that were counted.
    teja = t.run(t.tally(), "summarize", "--format", "teja", dump)
    t.equal((teja.returncode, teja.stdout.count("Cycles") > 0), (0, True))
    if not got["machine"].startswith("ultrasparc"):
        t.equal(set(teja.stdout.splitlines()[0].split(",")[2:-3]), set(events),
                "columns")
    return got["machine"], events


def marked(folder, options, *args):
    done = t.run(t.tally(), "profile", *options, "-o", f"{folder}/dump.csv",
                 "--", t.guest("pktproc.x86_64"), *args)
    t.equal(done.returncode, 0, done.stderr)
    return [line.split(",", 3) for line in
            pathlib.Path(folder, "dump.csv").read_text().splitlines()
            if line.startswith("TALLY_PROFILE_EVENT,")]


def named(machine):
    asked, own, _ = MACHINES[machine]
    with tempfile.TemporaryDirectory() as folder:
        lines = marked(folder, ["--foreign", "-m", machine, "-e",
                                ",".join(asked)], 1, 3, 4)
        got, events = names_of(folder)
        t.equal((got, set(events)), (machine, set(own)), "names")
        for name, item in zip(own[-len(asked):], asked):
            t.equal(events[name][0], item if item != name else None,
                    f"{name} was asked for as")
        t.equal({f"0x{line[2]}" for line in lines},
                {code for _, code in events.values()}, "codes")


def rotated(machine):
    """Each event once; the clock counts the cycles already."""
    with tempfile.TemporaryDirectory() as folder:
        lines = marked(folder, ["--foreign", "-m", machine, "--rotate"], 1, 50,
                       2)
        got, events = names_of(folder)
        t.equal((got, set(events)),
                (machine, {line[3].split()[0] for line in lines}), "names")
        t.equal(len(events) >= MACHINES[machine][2], True, f"{len(events)}")
        t.equal(len({code for _, code in events.values()}), len(events),
                "codes")
        t.equal({"cycles", "Cycles", "CPU_OP_CYCLES.ALL"} & set(events), set(),
                "the clock")


for each in MACHINES:
    t.case(f"on {each} events keep their names and codes", named, each)
    t.case(f"on {each} --rotate takes the machine's own events", rotated, each)


@t.named("an event without a count of an interval is refused before the run")
def late():
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder, name) for name in
                 ("dump.csv", "profiler_calls_location.txt")]
        for file in files:
            file.write_text("old\n")
        for machine, events in (
                ("host-model", "instructions,stall-issue"),
                ("ultrasparc-t2", "Idle_strands"), ("r10000", "stall_issue"),
                ("sparc-t4", "stall_issue,Branches"),
                ("montecito", "THREAD_SWITCH_CYCLE.TOTAL")):
            late = [e for e in events.split(",") if "stall" in e or
                    e in ("Idle_strands", "THREAD_SWITCH_CYCLE.TOTAL")][0]
            for more in ((), ("--rotate",)):
                t.equal(refused("--foreign", "-m", machine, "-e", events, *more,
                                "-o", files[0], t.guest("pktproc.x86_64")),
                        f"tally: {late} is known only when the program has "
                        "ended: no interval has a count of it; tally count -e "
                        f"{late} has\n")
        for options, text in (
                (["-m", "host-model", "-e", "nosuch"], "unknown event"),
                # The kernel counts it, but not for a program in the emulator.
                (["-m", "host-model", "-e", "task-clock,instructions"],
                 "the kernel counts task-clock"),
                (["-m", "ultrasparc-t2", "--foreign", "-e", "MA_OP"],
                 "MA_OP cannot count on ultrasparc-t2: "),
                (["-m", "host-model", "-e", "instructions", "--set", "l1d=1"],
                 "l1d"),
                (["-m", "montecito", "--rotate", "-e", "all"],
                 "pairs of events, and a thread of a program has 64"),
                (["-m", "nosuch"], "nosuch")):
            said = refused(*options, "-o", files[0], t.guest("pktproc.x86_64"))
            t.contains(said, text)
            t.equal(said.count("\n"), 1, said)
        t.equal([f.read_text() for f in files], ["old\n"] * 2, "files")


@t.named("a run without calls leaves the table of calls of before")
def kept_places():
    with tempfile.TemporaryDirectory() as folder:
        dump, places = (pathlib.Path(folder, name) for name in
                        ("dump.csv", "profiler_calls_location.txt"))
        places.write_text("1a old.c:1:main\n")
        # Its start is refused: it marks no point.
        done = t.run(t.tally(), "profile", "-o", dump, "--",
                     f"{t.build}/test/host-selfprofile", "nosuch", "1", "1")
        t.equal(done.returncode != 0, True, "the program's own status")
        t.equal(places.read_text(), "1a old.c:1:main\n", "the table of before")
        t.run(t.tally(), "profile", "-o", dump, "--", "/bin/true")
        t.equal(places.read_text(), "1a old.c:1:main\n", "the table of before")
        t.run(t.tally(), "profile", "-o", dump, "--",
              f"{t.build}/test/host-selfprofile", "", "1", "1")
        t.contains(places.read_text(), "selfprofile.c:")
        t.equal(os.listdir(folder), [places.name], "files")


t.main()
