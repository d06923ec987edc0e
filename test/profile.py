#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally profile and examples/pktproc: profile.py BUILD [WORD]"""
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
    starts = [line.split(",") for line in run.dump.splitlines()
              if line.split(",")[2:3] == ["1"]]
    t.equal({tuple(row[6:]) for row in starts},
            {("100", "4"), ("100", "8"), ("100", "10")}, "selections")


def pairs_of(run):
    """The codes of the events that intervals counted together."""
    starts = [line.split(",") for line in run.dump.splitlines()
              if line.split(",")[2:3] == ["1"]]
    return {tuple(int(code, 16) for code in row[6:]) for row in starts}


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
    t.equal((2, 3) in free and (2, 3) not in pairs, True, "the model's pairs")
    t.equal({e for pair in pairs for e in pair},
            {e for pair in free for e in pair}, "all events")
    run = Profiled(["--hardware", "--rotate", "-m", "ultrasparc-t1"], 1, 20)
    t.equal({a for a, _ in pairs_of(run)}, {0x100}, "instr_cnt")
    t.equal(len(pairs_of(run)), 8, "measurements, by the document")


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


@t.named("--locations prints the ids that dumps have")
def places():
    for arch in ("sparc64", "x86_64", "mips64", "mips64el", None):
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
    t.equal(refused("--rotate", "-m", "host", t.guest("pktproc.x86_64")),
            "tally profile: on this host --rotate needs -e\n")
    native = t.guest("pktproc.x86_64")
    for words, text in (
            (("--log-size", "x"), "profiler_log_table_size takes a number"),
            (("--log-size", "0"), "profiler_log_table_size takes 1 to"),
            (("--user-words", "65"), "profiler_user_data_size takes 0 to 64"),
            (("--clock", "sun"), "profiler_clock takes cycles or"),
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


@t.named("files that cannot be written are told, and an old dump is no new one")
def files():
    program = t.guest("pktproc.x86_64")
    for option in ("-o", "--buffer"):
        done = t.run(t.tally(), "profile", "-o", os.devnull, "-m", "host",
                     option, "/dev/null/x", program)
        t.equal((done.returncode, done.stdout), (125, ""), option)
        t.contains(done.stderr, "cannot write /dev/null/x")
    with tempfile.TemporaryDirectory() as folder:
        dump = pathlib.Path(folder, "dump.csv")
        dump.write_text("old")
        t.run(t.tally(), "profile", "-o", str(dump), "/bin/true")
        t.equal(dump.read_text(), "", "dump")


t.main()
