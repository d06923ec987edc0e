#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each call of tally that may fail, fails in turn: faults.py BUILD [WORD]

A command runs again and again; in run N the N-th call of one function fails
(test/fault/fail.c). Whatever fails: tally is not killed and does not hang, says
on stderr what failed in at most two lines (in four where QEMU or a command of
tally in turn says it, too), ends with 125 (or 2, or 126 where it
could not look at the program), and leaves no file and no process behind; or it
got along without the call, and then counts what it counts else.

The programs of test/fault that use a library do so three times: each use counts
what it counts else, or says that it failed, which at most one does; and they
leave no descriptor open and no more memory than without the fault (but for what
libc keeps).

In QEMU only the calls of tally's plugin fail.

A first run, where nothing fails, counts the calls. CALLS of each function are
tried, the same in each run of this test, and of a short command all; TALLY_FAULTS=N tries N, TALLY_FAULTS=all
every one.
"""
import contextlib
import csv
import dataclasses
import io
import json
import os
import pathlib
import platform
import random
import re
import resource
import struct
import subprocess
import tempfile
import threading
from collections.abc import Callable

import mock_help
import tallytest as t

FUNCTIONS = ("malloc", "open", "read", "write", "mmap", "pipe", "fork",
             "rename", "stat", "ioctl", "execve", "perf_event_open")
# Which calls are tried follows from this and from the names alone.
SEED = 1
CALLS = 3
# Statuses of tally's own failures.
OURS = {125, 2, 126, 127}
PLUGIN = "tally-plugin.so"
# Bytes that libc may keep of its first failure: texts of errors, a table.
LIBC_KEEPS = 512
# With which the played machine ends where its own script cannot be read.
MOCK_FAILED = 99


@dataclasses.dataclass
class Command:
    """What is run, and how its counts are read."""
    name: str
    words: Callable  # of the folder for files: the command
    counted: Callable  # of an attempt: what must not differ
    files: tuple = ("report",)  # that the command may leave
    script: str | None = None  # of the machine that test/mock plays
    inside: bool = False  # the plugin's calls fail, not tally's
    uses: bool = False  # a program of test/fault
    interface: str = None  # the build must have it
    diagnoses: bool = False  # says on stdout what does not work
    functions: tuple = FUNCTIONS
    every: bool = False  # so short that each call fails in make check


def tally(*words):
    return lambda folder: [t.tally(), *(
        word.format(folder=folder) for word in words)]


def exact(report):
    """The exact counts of a JSON report; None: it calls none of them exact."""
    if report["lost_threads"] or report["inconsistent"] or report["uncounted"]:
        return None
    return [(e["name"], e["value"]) for e in report["events"]
            if e["fidelity"] == "exact"] or None


def json_report(attempt):
    return exact(json.loads(attempt.report))


def host_report(attempt):
    """Of a host's events: the count of processes' page faults is the host's."""
    return [e["name"] for e in json.loads(attempt.report)["events"]]


def csv_report(attempt):
    """The exact counts of a CSV report; None: it calls none of them exact."""
    return [(row[0], row[3], row[5])
            for row in csv.reader(io.StringIO(attempt.report))
            if row[10] == "exact"] or None


def perfex_report(attempt):
    """None: the report says that it lacks a process."""
    return None if "  not counted: " in attempt.report else attempt.report


def printed(attempt):
    return attempt.stdout


def console(attempt):
    """The rows of tally pmu; None: a text that had no memory is null."""
    return None if '"result": null' in attempt.stdout else attempt.stdout


def lines(attempt):
    """How many lines are printed: without memory for a buffer of standard output
    glibc itself loses a character."""
    return attempt.stdout.count("\n")


def verdict(attempt):
    """doctor's last word; None: it found what does not work here. Each line
    begins with its word, whatever fails."""
    for line in attempt.stdout.splitlines():
        if line.startswith("  "):
            assert re.match("  (ok|no|maybe|      ) ", line), line
    if re.search("^  no ", attempt.stdout, re.M):
        return None
    return attempt.stdout.splitlines()[-1]


# Of a dump: how long the stages of pktproc wait for each other varies.
COUNTED = ("Load_instr", "Store_instr", "instructions", "branches")


def dumped(attempt):
    """What the program's dump says of its intervals."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write(attempt.dump)
        file.flush()
        done = t.run(t.tally(), "summarize", "-j", file.name)
    t.equal(done.returncode, 0, done.stderr)
    report = json.loads(done.stdout)
    return report["intervals"], [
        [(s["name"], s["n"], s["mean"]) for s in cell["series"]
         if s["name"] in COUNTED] for cell in report["cells"]]


def dumped_intervals(attempt):
    """As dumped(), without the means, which vary with how threads ran."""
    intervals, cells = dumped(attempt)
    return intervals, [[(name, n) for name, n, _ in cell] for cell in cells]


def guests(*words):
    """A command on guest programs, whose names begin with GUEST/."""
    return lambda folder: [t.tally(), *(
        t.guest(word[6:]) if word.startswith("GUEST/") else
        word.format(folder=folder) for word in words)]


def use(name, *words):
    return lambda folder: [str(t.build / "test" / "fault" / f"use-{name}"),
                           *(t.guest(word) for word in words)]


def profile_host(folder):
    return [t.tally(), "profile", "-m", "host", "-e", "instructions,branches",
            "-o", f"{folder}/dump.csv", "--",
            str(t.build / "examples" / "pktproc"), "1", "3"]


def loop_script(folder):
    """Returns a script whose third line fails if its loop is not carried out."""
    script = pathlib.Path(folder) / "loop.pmu"
    script.write_text("for i in 0 1\nwrite CNT$i 5\nend\nread CNT0 CNT1 = 5 5\n")
    return [t.tally(), "pmu", "-m", "r10000", "--format", "json", str(script)]


T2 = ("-m", "ultrasparc-t2", "-j", "-o", "{folder}/report")
MODEL = ("-m", "host-model", "-j", "-o", "{folder}/report", "-e",
         "instructions")
COMMANDS = (
    Command("count_model", guests("count", *T2, "-e", "All_instr,Dcache_misses",
                                  "--", "GUEST/hello.sparc64"), json_report),
    Command("count_csv", guests(
        "count", "-x,", "-M", "ipc", "-o", "{folder}/report", "-m",
        "host-model", "--per-process", "--clean-env", "--",
        "GUEST/forker.x86_64", "fork"), csv_report),
    Command("count_host", guests(
        "count", "-m", "host", "-j", "-o", "{folder}/report", "-e",
        "task-clock:u,page-faults:u", "--", "true"), host_report),
    Command("perfex", guests("perfex", "-e", "15", "-m", "r12000", "-o",
                             "{folder}/report", "GUEST/hello.mips64"),
            perfex_report),
    Command("profile_model", guests(
        "profile", "-e", "Load_instr,Store_instr", "-o", "{folder}/dump.csv",
        "--", "GUEST/pktproc.sparc64", "1", "3"), dumped_intervals,
        ("dump.csv", "profiler_calls_location.txt")),
    Command("profile_host", profile_host, dumped,
            ("dump.csv", "profiler_calls_location.txt"), script="intel"),
    Command("summarize", lambda folder: [
        t.tally(), "summarize", "-j", t.source("test", "dump", "t2.csv")],
        printed),
    Command("pmu", lambda folder: [
        t.tally(), "pmu", "-m", "sparc-t4", "--format", "json",
        t.source("test", "pmu", "console.pmu")], console),
    Command("pmu_loop", loop_script, printed, files=("loop.pmu",),
            functions=("malloc",), every=True),
    Command("list", tally("list", "-j", "events", "-m", "sparc-t4"), printed),
    Command("show", tally("show", "-v", "montecito"), lines),
    Command("plan", tally("plan", "-j", "-m", "montecito", "L1D_READS_SET0",
                          "L1D_READS_SET1", "L2D_MISSES"), printed),
    Command("encode", tally("encode", "-m", "montecito",
                            "BACK_END_BUBBLE.FE:u"), printed),
    Command("decode", tally("decode", "-j", "-m", "sparc-t4", "PCR1=0x18b4"),
            printed),
    Command("doctor", tally("doctor"), verdict, script="intel",
            diagnoses=True),
    # The libraries.
    Command("libtally_thread", use("counter"), printed, script="intel",
            uses=True),
    Command("libtally_process", use("process"), printed, script="intel",
            uses=True),
    Command("libtally_session", use("session", "hello.sparc64"), printed,
            uses=True),
    Command("libtally_teja", use("teja"), printed, script="intel", uses=True,
            interface="netra-dps"),
    Command("libtally_irix", use("irix"), printed, script="intel", uses=True,
            interface="irix"),
    Command("libperfex", use("perfex"), printed, script="intel", uses=True,
            interface="irix"),
    # The plugin.
    Command("plugin_forks", guests(
        "count", *MODEL, "--", "GUEST/forker.x86_64", "fork",
        "GUEST/hello.x86_64"), json_report, inside=True),
    Command("plugin_threads", guests(
        "count", *MODEL, "--", "GUEST/crew.x86_64", "4", "2"), json_report,
        inside=True),
    Command("plugin_caches", guests(
        "count", *T2, "-e", "All_instr,Dcache_misses,CPU_ld_to_PCX", "--",
        "GUEST/hello.sparc64"), json_report, inside=True),
    Command("plugin_profile", guests(
        "profile", "-e", "Load_instr,Store_instr", "-o", "{folder}/dump.csv",
        "--", "GUEST/pktproc.sparc64", "1", "3"), dumped_intervals,
        ("dump.csv", "profiler_calls_location.txt"), inside=True),
)


def processes_of(session):
    """The living processes of a session, by their numbers."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            words = path.read_text().rpartition(") ")[2].split()
        except OSError:
            continue
        if int(words[3]) == session and words[0] not in "ZX":
            found.append(path.parent.name)
    return found


class Machines:
    """The played machines, each made when a command first runs on it."""

    def __init__(self):
        self.lock = threading.Lock()
        self.made = {}
        self.open = contextlib.ExitStack()

    def env(self, script):
        with self.lock:
            if script not in self.made:
                self.made[script] = self.open.enter_context(
                    mock_help.Machine(script))
            return self.made[script].env()


machines = Machines()


class Attempt:
    """One run of a command, where a call fails; without a function none fails,
    and `calls` says how many of each function there are."""

    def __init__(self, command, function="count", number=0):
        with tempfile.TemporaryDirectory() as folder:
            failed = f"{folder}/failed"
            where = f"{folder}/out"
            os.mkdir(where)
            if function == "count":
                pathlib.Path(failed).write_bytes(bytes(8 * len(FUNCTIONS)))
            # Of one length: each run finds an environment of the same size.
            which = f"{function}:{number:0{24 - len(function)}}"
            # Where the QEMU of PATH cannot be read another one shall not stand in.
            env = dict(os.environ, TMPDIR=where, XDG_CACHE_HOME="/nonexistent",
                       TALLY_FAIL=f"{which}:{failed}",
                       LD_PRELOAD=str(t.build / "test/fault/fail-calls.so"))
            if command.inside:
                env["TALLY_FAIL_OBJECT"] = PLUGIN
            self.run(command, where, env)
            self.failed = os.path.exists(failed)
            if function == "count":
                self.calls = dict(zip(FUNCTIONS, struct.unpack(
                    f"{len(FUNCTIONS)}l", pathlib.Path(failed).read_bytes())))
            self.files = sorted(os.listdir(where))
            self.report = self.text(where, "report")
            self.dump = self.text(where, "dump.csv")

    @staticmethod
    def text(*names):
        path = pathlib.Path(*names)
        return path.read_text() if path.exists() else None

    def run(self, command, where, env):
        words = command.words(where)
        with tempfile.TemporaryFile("w+") as out, \
                tempfile.TemporaryFile("w+") as said:
            if command.script is not None:
                env = machines.env(command.script) | env
                env["LD_PRELOAD"] += f":{mock_help.library()}"
            process = subprocess.Popen(
                words, env=env, stdin=subprocess.DEVNULL, stdout=out,
                stderr=said, cwd=where, start_new_session=True)
            self.status = process.wait(60 * t.MINUTES)
            t.wait_for("the end of all processes",
                       lambda: not processes_of(process.pid))
            for file in (out, said):
                file.seek(0)
            self.stdout = out.read()
            self.stderr = [line for line in said.read().splitlines()
                           if not line.startswith("tally: progress")]

    def fault(self, command, good):
        """What is wrong, or None."""
        if self.status < 0:
            return f"killed by signal {-self.status}: {self.stderr}"
        if set(self.files) - set(command.files):
            return f"left behind: {self.files}"
        if command.uses:
            return self.fault_of_uses(good)
        if self.status in OURS:
            if not self.stderr and not command.diagnoses:
                return f"status {self.status} without a word"
            if len(self.stderr) > (4 if command.inside else 2):
                return f"{len(self.stderr)} lines: {self.stderr}"
            return None
        if self.status != good.status:
            return f"status {self.status}: {self.stderr}"
        counted = command.counted(self)
        if counted not in (None, command.counted(good)):
            return f"counted {counted}, not {command.counted(good)}"
        return None

    def fault_of_uses(self, good):
        if self.status != 0:
            return f"status {self.status}: {self.stderr}"
        mine, other = ([line for line in text.splitlines()
                        if line.startswith(("counted ", "failed"))]
                       for text in (self.stdout, good.stdout))
        wrong = [line for line, wanted in zip(mine, other)
                 if line not in (wanted, "failed")]
        if wrong or len(mine) != len(other) or mine.count("failed") > 1:
            return f"uses: {mine}, not {other}; {self.stderr}"
        for what, spare in (("descriptors", 0), ("memory", LIBC_KEEPS)):
            left, wanted = (int(re.search(rf"^{what} (\d+)$", text, re.M)[1])
                            for text in (self.stdout, good.stdout))
            if left > wanted + spare:
                return f"{what} left: {left}, not {wanted}"
        return None


class Unharmed:
    """The run of a command where nothing fails, made once for all functions."""

    def __init__(self, command):
        self.command = command
        self.lock = threading.Lock()
        self.run = None

    def attempt(self):
        with self.lock:
            if self.run is None:
                self.run = Attempt(self.command)
            assert self.run.status not in OURS, self.run.stderr
            return self.run


def chosen(command, function, calls):
    """The numbers of the calls that fail."""
    wanted = os.environ.get("TALLY_FAULTS", CALLS)
    if command.every or wanted == "all" or int(wanted) >= calls:
        return range(1, calls + 1)
    chance = random.Random(f"{SEED} {command.name} {function}")
    return sorted(chance.sample(range(1, calls + 1), int(wanted)))


def fail_in_turn(unharmed, function):
    t.need_interface(unharmed.command.interface)
    command, good = unharmed.command, unharmed.attempt()
    faults, tried = [], 0
    for number in chosen(command, function, good.calls[function]):
        attempt = Attempt(command, function, number)
        if not attempt.failed:
            # Threads may make a call or two less in another run.
            continue
        if attempt.status == MOCK_FAILED and command.script:
            continue
        tried += 1
        fault = attempt.fault(command, good)
        if fault:
            faults.append(f"{function} {number}: {fault}")
    # One write a line: several cases run at once.
    os.write(1, f"# {command.name} {function}: {tried} tried of "
             f"{good.calls[function]}\n".encode())
    if faults:
        raise AssertionError("\n".join(faults[:20]))


for each in COMMANDS:
    alone = Unharmed(each)
    for name in each.functions:
        t.case(f"{each.name}: {name} fails", fail_in_turn, alone, name)

FORMS = (("count", "-m", "host-model", "-e", "instructions"),
         ("count", "-m", "host-model", "-e", "instructions", "-x,"),
         ("count", "-m", "host-model", "-e", "instructions", "-j"),
         ("perfex", "-m", "r10000", "--foreign", "-e", "15"))


def no_descriptor_is_left(folder, *words):
    """While the program runs, tally may open nothing any more: its report is
    there and whole all the same."""
    if platform.machine() != "x86_64":
        raise t.Skip("the program is of x86-64")
    with tempfile.TemporaryDirectory() as place:
        report = pathlib.Path(place, "report")
        process = subprocess.Popen(
            [t.tally(), *words, *(("-o", report) if folder else ()), "--",
             "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True)
        process.stdin.write("runs\n")
        process.stdin.flush()
        t.equal(process.stdout.readline(), "runs\n")
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (0, 0))
        out, said = process.communicate(timeout=60 * t.MINUTES)
        t.equal(process.returncode, 0, said)
        t.equal(out, "", "what the program writes")
        if folder:
            t.equal(said, "", "stderr")
            t.equal(os.listdir(place), ["report"])
            said = report.read_text()
        t.contains(said.lower(), "instructions")
        assert "not counted" not in said, said
        if "-j" in words:
            json.loads(said)


for form in FORMS:
    for folder in (False, True):
        t.case("no descriptor is left: " + " ".join(
            form + (("-o",) if folder else ())), no_descriptor_is_left,
            folder, *form)

if __name__ == "__main__":
    with machines.open:
        t.main()
