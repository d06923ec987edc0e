#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whole programs: live.py BUILD [WORD]

Filters, children, dynamic programs, deaths, signals, regions, repeatability.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile

import tallytest as t
from live_help import (ARCHES, PER_TURN, INSTRUCTIONS, T2, g, instructions,
                       at_arch, strands)


@contextlib.contextmanager
def script(text, name="script"):
    """An executable text file in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.write_text(text)
        path.chmod(0o755)
        yield str(path)


# Filters

def filtered(arch, events, *ranges):
    options = ["-e", ",".join(events)]
    for code in ranges:
        options += ["--filter", f"code={code}"]
    c = t.count(options, g("regions", arch))
    return [c[event] for event in events]


@t.named("--filter code=work: its instructions and branches, and no others")
def filter_function():
    """Three calls of save, two to set up, 20000 turns of three, return."""
    events = ["All_instr", "Completed_branches", "Taken_branches"]
    t.equal(filtered("sparc64", events, "work"),
            [3 * (3 + 3 * 20000 + 2), 3 * 20001, 3 * 20000], "work")
    t.equal(filtered("sparc64", events, "work", "warmup"),
            [3 * 60005 + 150005, 60003 + 50001, 60000 + 50000],
            "work and warmup")


@at_arch("--filter: what two halves count is the whole")
def filter_halves(arch):
    events = [INSTRUCTIONS[arch], "branches", "Cycles"]
    if arch == "sparc64":
        events = ["All_instr", "Taken_branches", "Dcache_misses", "Load_instr"]
    elif INSTRUCTIONS[arch] == "instructions":
        events[2] = "cycles"
    at = t.symbol(g("regions", arch), "work")
    low = filtered(arch, events, f"0-{at - 1:#x}")
    high = filtered(arch, events, f"{at:#x}-0x7fffffffffffffff")
    whole = filtered(arch, events)
    off = 0 if arch == "sparc64" else 1
    for event, a, b, all_of in zip(events, low, high, whole):
        assert a > 0 and b > 0 and abs(a + b - all_of) <= off, \
            (event, a, b, all_of)


@t.named("--filter: the programs that it executes are not counted")
def filter_executed():
    c = t.count(["-e", "All_instr", "--filter", "code=main"],
                g("forker", "sparc64"), "exec", g("hello", "sparc64"))
    assert 0 < c["All_instr"] < 1000, c["All_instr"]


# Children

@at_arch("fork: the child's turns are added")
def fork_counts(arch):
    event = INSTRUCTIONS[arch]
    c = t.Count(["-e", event], [g("forker", arch), "fork"])
    t.equal(c.status, 3, "status of the child, passed on")
    per_strand = strands(c, event)
    t.equal(len(per_strand), 2, "strands")
    t.equal(len({s["pid"] for s in c.json["strands"]}), 2, "processes")
    t.equal(sum(per_strand), c[event], "sum of the strands")
    turns = 100000 * PER_TURN[arch]
    assert 0 <= min(per_strand[1] - turns, 2000) < 2000, per_strand


def child_turns(arch, mode, n):
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", event], g("forker", arch), mode, g("spin", arch), n)
    t.equal(sum(strands(c, event)), c[event], "sum of the strands")
    return c[event], len({s["pid"] for s in c.json["strands"]})


def child_is_counted(arch, mode, processes):
    """Two runs that differ in the child's turns alone."""
    one, pids = child_turns(arch, mode, 100000)
    two, _ = child_turns(arch, mode, 300000)
    t.equal(two - one, 200000 * PER_TURN[arch], "200000 turns of the child")
    t.equal(pids, processes, "processes")


for mode in ("fork", "vfork", "posix_spawn", "exec"):
    at_arch(f"{mode} and exec: the child is counted", mode,
            1 if mode == "exec" else 2)(child_is_counted)


@at_arch("exec through #! is followed")
def exec_script(arch):
    with script(f"#!{g('args', arch)} one two\n") as path:
        c = t.count(["-e", INSTRUCTIONS[arch]], g("forker", arch), "fork",
                    path, "three")
    lines = c.stdout.splitlines()[:4]
    t.equal(lines, [f"argv[0] {g('args', arch)}", "argv[1] one two",
                    f"argv[2] {path}", "argv[3] three"], "arguments")
    t.equal(len({s["pid"] for s in c.json["strands"]}), 2, "processes")
    t.equal(c.json["uncounted"], [], "uncounted")


@t.named("x86_64: exec of a name in PATH is followed")
def exec_path():
    """Not on sparc64: posix_spawnp() fails there in plain QEMU too."""
    arch = "x86_64"
    env = {**os.environ,
           "PATH": f"/nowhere:{t.build}/guests:{os.environ['PATH']}"}
    c = t.count(["-e", INSTRUCTIONS[arch]], g("forker", arch), "posix_spawn",
                f"args.{arch}", "x", env=env)
    t.contains(c.stdout, f"argv[0] args.{arch}\nargv[1] x\n")
    t.equal(len({s["pid"] for s in c.json["strands"]}), 2, "processes")


@at_arch("tally itself looks in PATH and through #!")
def start_script(arch):
    env = {**os.environ, "PATH": f"{t.build}/guests:{os.environ['PATH']}"}
    c = t.count([], f"args.{arch}", "x", env=env)
    t.contains(c.stdout, f"argv[0] args.{arch}\nargv[1] x\n")
    with script(f"#! {g('args', arch)}\n") as path:
        c = t.count(t.modelled(f".{arch}"), path, "y")
    t.contains(c.stdout, f"argv[1] {path}\nargv[2] y\n")


@at_arch("an exec that fails leaves the counts right")
def exec_fails(arch):
    """Not there, and no program: all that ran is counted, once."""
    event = INSTRUCTIONS[arch]
    base = t.Count(["-e", event], [g("forker", arch), "exec", "/no/such"])
    t.equal(base.status, 127, "status")
    assert base[event] > 1000, base[event]
    with script("no program at all\n") as path:
        padded = "/no/such".rjust(len(path), "/")
        base = t.Count(["-e", event], [g("forker", arch), "exec", padded])
        c = t.Count(["-e", event], [g("forker", arch), "exec", path])
    t.equal(c.status, 127, "status")
    t.equal(c[event], base[event], "instructions")
    t.equal(len(c.json["strands"]), 1, "strands")


@t.named("a child of another architecture is named as uncounted")
def uncounted():
    other = g("hello", "x86_64")
    c = t.count(["-e", "All_instr"], g("forker", "sparc64"), "fork", other)
    t.equal(c.stdout, "hello\n", "what the child said")
    t.equal(c.json["uncounted"], [other], "uncounted")
    done = t.run(t.tally(), "count", g("forker", "sparc64"), "fork", other)
    t.contains(done.stderr, f"not counted: {other}")
    t.equal({e["fidelity"] for e in c.json["events"]}, {"partial"}, "JSON")
    done = t.run(t.tally(), "count", "-x,", "-e", "All_instr",
                 g("forker", "sparc64"), "fork", other)
    t.contains(done.stderr, ",partial")
    done = t.run(t.tally(), "count", "--strict", g("forker", "sparc64"),
                 "fork", other)
    t.equal(done.returncode, 125, f"status with --strict: {done.stderr}")


@t.named("arguments that are no addresses: the program is told, not killed")
def bad_arguments():
    for arch in ARCHES:
        c = t.count([], g("odd", arch), "badargv")
        t.equal(c.status, 0, "status")


@t.named("/proc/self/exe is the program, not QEMU, in any folder")
def self_executed():
    for arch in ARCHES:
        c = t.count([], f"./odd.{arch}", "self", cwd=t.build / "guests")
        t.equal((c.status, c.stdout), (0, "again\n"), "status, output")
        t.equal(c.json["uncounted"], [], "uncounted")


@t.named("70000 arguments reach an executed child")
def many_arguments():
    for arch in ARCHES:
        c = t.count([], g("odd", arch), "many", "70000")
        t.equal(c.stdout, "70000\n", "their number")


@t.named("a forked child without descriptors is counted")
def no_descriptors():
    for arch in ARCHES:
        name = INSTRUCTIONS[arch]
        c = t.count(["-e", name], g("odd", arch), "nofile")
        t.equal(c.json["uncounted"], [], "uncounted")
        assert c[name] > 100000 * PER_TURN[arch], c[name]


@t.named("--from in a dynamic program")
def from_dynamic():
    for arch in ARCHES:
        c = t.count(["--from", "main"], g("hello.dyn", arch))
        assert c.json["events"][0]["value"] > 0, c.json["events"][0]


@t.named("a program that QEMU cannot load is no measurement")
def not_started():
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program")
        code = bytearray(pathlib.Path(g("hello", "sparc64")).read_bytes())
        at = int.from_bytes(code[32:40], "big") # of the program headers
        for i in range(int.from_bytes(code[56:58], "big")):
            vaddr = at + 56 * i + 16
            code[vaddr:vaddr + 8] = b"\xff" * 5 + bytes(3)
        program.write_bytes(code)
        program.chmod(0o755)
        done = t.run(t.tally(), "count", program)
        t.equal(done.returncode, 125, done.stderr)
        t.contains(done.stderr, "QEMU could not start it")


@t.named("an uncounted child of an x86_64 program")
def uncounted_x86():
    """The host executes it only if it knows how; then nothing is left out."""
    other = g("hello", "sparc64")
    c = t.Count([], [g("forker", "x86_64"), "fork", other])
    ran = "hello" in c.stdout
    t.equal(c.json["uncounted"], [other] if ran else [], "uncounted")
    t.equal(c.json["events"][0]["fidelity"], "partial" if ran else "exact",
            "standing")


# Dynamic programs

@at_arch("a dynamic program runs")
def dynamic(arch):
    c = t.count(["-e", "all"], t.guest(f"hello.dyn.{arch}"))
    t.equal(c.stdout, "hello\n", "output")
    assert c[INSTRUCTIONS[arch]] > 20000, c[INSTRUCTIONS[arch]]


@t.named("bzip2, dynamic, writes what the static one writes")
def dynamic_bzip2():
    text = t.source("LICENSES", "GPL-2.0-or-later.txt")
    static, shared = (t.Count(["-e", "All_instr"],
                              [t.guest(name), "-9kc", text])
                      for name in ("bzip2.sparc64", "bzip2.dyn.sparc64"))
    t.equal(shared.status, 0, "status")
    t.equal(shared.stdout, static.stdout, "output")
    assert abs(shared["All_instr"] / static["All_instr"] - 1) < 0.1


@t.named("a missing loader is explained")
def missing_loader():
    with tempfile.TemporaryDirectory() as empty:
        done = t.run(t.tally(), "count", "--sysroot", empty,
                     t.guest("hello.dyn.sparc64"))
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    for word in ("loader", "/ld-linux.so.2", empty, "--sysroot",
                 "libc6-sparc64-cross"):
        t.contains(done.stderr, word)
    assert done.returncode in (125, 126), done.returncode


@t.named("a missing sysroot is an error")
def missing_sysroot():
    done = t.run(t.tally(), "count", "--sysroot", "/nonexistent",
                 t.guest("hello.dyn.sparc64"))
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    t.contains(done.stderr, "/nonexistent")
    assert done.returncode in (2, 125, 126), done.returncode


# Ends

DEATHS = {"segv": signal.SIGSEGV, "abort": signal.SIGABRT,
          "kill": signal.SIGKILL, "ill": signal.SIGILL}


def death(arch, mode):
    """The report is there, the 100000 turns are in it."""
    event = INSTRUCTIONS[arch]
    c = t.Count(["-e", "all"], [g("crash", arch), mode])
    t.equal(c.status, 128 + DEATHS[mode], "status")
    t.equal(c.json["status"], {"signal": int(DEATHS[mode])}, "JSON status")
    whole = t.Count(["-e", event], [g("crash", arch), "exit", 0])
    low = 100000 * PER_TURN[arch]
    assert low < c[event] < whole[event] + 5000, c[event]
    program = g("crash", arch)
    done = t.run(t.tally(), "count", *t.modelled(program), program, mode)
    t.contains(done.stderr, f"killed by SIG{mode.upper()[:4]}"
               .replace("SIGABOR", "SIGABRT"))


for mode in DEATHS:
    at_arch(f"death by {mode}: report and status", mode)(death)


# What objdump and what tally call it.
ILLEGAL = {"sparc64": ("illtrap", "0x00000000"), "x86_64": ("ud2", "ud2"),
           "mips64": ("0x3d", "0x0000003d"), "mips64el": ("0x3d", "0x0000003d"),
           "aarch64": ("udf", "0x00000000"), "riscv64": ("unimp", "0x0000")}
TOOLS = {"sparc64": "sparc64-linux-gnu-", "x86_64": "",
         "mips64": "mips64-linux-gnuabi64-",
         "mips64el": "mips64el-linux-gnuabi64-",
         "aarch64": "aarch64-linux-gnu-", "riscv64": "riscv64-linux-gnu-"}


def addresses_of(arch, program, mnemonic):
    """Where objdump sees an instruction in main()."""
    try:
        done = t.run(TOOLS[arch] + "objdump", "-d", "--disassemble=main", program)
    except FileNotFoundError:
        raise t.Skip("no objdump") from None
    return ["0x" + line.split(":")[0].strip()
            for line in done.stdout.splitlines() if mnemonic in line]


@at_arch("death by an illegal instruction is explained")
def illegal(arch):
    program = g("crash", arch)
    done = t.run(t.tally(), "count", *t.modelled(program), program, "ill")
    mnemonic, shown = ILLEGAL[arch]
    line = next(s for s in done.stderr.splitlines() if "it died" in s)
    t.contains(line, f"it died of {shown} at ")
    t.contains(line, " in main, which ")
    died_at = line.split(" at ")[1].split()[0]
    assert died_at in addresses_of(arch, program, mnemonic), line


def without(option):
    return f"build it with -march=x86-64-v3 and without {option}"


REBUILD = "build it for x86-64-v3 (-march=x86-64-v3)"
MAX = ", or show it all that QEMU has (--cpu-model max)"
# MODE of illegal.c: text, set, advice, what the line says besides.
LACKING = {
    "avx512": ("vaddps zmm3, zmm2, zmm1", "AVX-512", REBUILD, "which QEMU as "),
    "avx512m": ("vpternlogd zmm3, zmm2, [rsp+0x40], 0x03", "AVX-512", REBUILD,
                "which QEMU as "),
    "sha": ("sha256msg1 xmm2, xmm1", "SHA", without("-msha"),
            "which QEMU as "),
    "vaes": ("vaesenc ymm3, ymm2, ymm1", "VAES", without("-mvaes") + MAX,
             "which QEMU as "),
    "gfni": ("gf2p8mulb xmm2, xmm1", "GFNI", without("-mgfni"),
             "which QEMU as "),
    "fma4": ("vfmaddps xmm4, xmm3, xmm2, xmm1", "FMA4", without("-mfma4"),
             "which QEMU as "),
    "amx": ("tilerelease", "AMX", without("-mamx-tile"), "which QEMU as "),
    "vmx": ("vmcall", "VTX", None, "which QEMU as "),
    "trap": ("ud2", None, None, "which is made to fail: compilers put it "),
    "check": ("ud1 ecx, eax", None, None, "which is made to fail\n"),
    "bytes": (None, None, None, "no x86-64 instruction\n"),
}
BYTES = {"bytes": "06", "trap": "0f0b", "check": "0fb9c8"}


def lacking(mode):
    """Text and JSON name the instruction at the address that it is at."""
    program = g("illegal", "x86_64")
    text, name, advice, says = LACKING[mode]
    c = t.Count(["-e", "instructions"], [program, mode])
    t.equal(c.status, 128 + signal.SIGILL, "status")
    found = c.json["illegal_instruction"]
    t.equal((found["text"], found["set"], found["function"]),
            (text, name, "work"), "JSON")
    assert (found["advice"] or "").startswith(advice or ""), found["advice"]
    t.equal(found["bytes"], BYTES.get(mode, found["bytes"]), "bytes")
    t.equal((found["program"], found["file"]), (program, program), "program")
    t.equal(found["file_address"], found["address"], "of a fixed program")
    done = t.run(t.tally(), "count", "-m", "host-model", program, mode)
    line = next(s for s in done.stderr.splitlines(True) if "it died" in s)
    for word in (text or found["bytes"], found["address"], " in work, ", says):
        t.contains(line, word)
    t.equal("what helps: " + (advice or "-") in done.stderr, advice is not None,
            "advice")
    code = t.run("objdump", "-d", "--disassemble=work", program).stdout
    if mode != "bytes":
        mnemonic = text.split()[0]
        at = [s.split(":")[0].strip() for s in code.splitlines()
              if mnemonic in s]
        assert found["address"][2:] in at, (found, at)


for mode in LACKING:
    t.case(f"x86_64: SIGILL by {mode} names the instruction", lacking, mode)


@t.named("x86_64: SIGILL in a shared library names its file and function")
def lacking_library():
    code = """%s(void) { %s }"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(os.path.realpath(name))
        library, program = folder / "libdeep.so", folder / "program"
        deep, main = folder / "deep.c", folder / "main.c"
        deep.write_text(code % (
            "int deep", '__asm__("sha256msg1 %xmm1, %xmm2"); return 1;'))
        main.write_text("int deep(void);\n" + code % (
            "int main", "return deep();"))
        try:
            for words in (["-shared", "-fPIC", deep, "-o", library],
                          [main, library, "-o", program]):
                done = t.run("gcc", *words)
                t.equal(done.returncode, 0, done.stderr)
        except FileNotFoundError:
            raise t.Skip("no gcc") from None
        c = t.Count(["-e", "instructions", "-m", "host-model"], [program])
        found = c.json["illegal_instruction"]
        t.equal((found["file"], found["function"]), (str(library), "deep"),
                "JSON")
        code = t.run("objdump", "-d", "--disassemble=deep", library).stdout
        t.contains(code, f" {found['file_address'][2:]}:\t0f 38 cc d1")
        done = t.run(t.tally(), "count", "-m", "host-model", program)
        t.contains(done.stderr, f"({found['file_address']} of {library}) in "
                                "deep, which QEMU as ")


@t.named("x86_64: a SIGILL that was sent, or caught, blames no instruction")
def not_lacking():
    program = g("illegal", "x86_64")
    for mode in ("raise", "sent"):
        c = t.Count(["-e", "instructions"], [program, mode])
        t.equal(c.status, 128 + signal.SIGILL, f"status of {mode}")
        assert "illegal_instruction" not in c.json, c.json
        done = t.run(t.tally(), "count", "-m", "host-model", program, mode)
        t.contains(done.stderr, "no illegal instruction of its own was seen")
    c = t.count(["-e", "instructions"], program, "caught")
    t.equal(c.stdout, "went on\n", "output")
    assert "illegal_instruction" not in c.json, c.json


@t.named("x86_64: a child that dies by SIGILL is explained")
def lacking_child():
    program = g("illegal", "x86_64")
    c = t.Count(["-e", "instructions"], [program, "child"])
    t.equal(c.status, 128 + signal.SIGILL, "status")
    t.equal(c.json["status"], {"exit": 128 + signal.SIGILL}, "JSON status")
    found = c.json["illegal_instruction"]
    t.equal(found["text"], "vaddps zmm3, zmm2, zmm1", "text")
    assert found["pid"] != c.json["strands"][0]["pid"], found
    done = t.run(t.tally(), "count", "-m", "host-model", program, "child")
    t.contains(done.stderr, f"{program}: it died of vaddps")


@at_arch("_exit and exit pass their status on")
def leaves(arch):
    event = INSTRUCTIONS[arch]
    for mode, status in (("_exit", 5), ("exit", 6), ("_exit", 255)):
        c = t.Count(["-e", "all"], [g("crash", arch), mode, status])
        t.equal(c.status, status, "status")
        t.equal(c.json["status"], {"exit": status}, "JSON status")
        assert c[event] > 100000 * PER_TURN[arch], c[event]


# Signals to tally

@contextlib.contextmanager
def waiting(arch, *options):
    """tally with waiter, which is ready."""
    program = g("waiter", arch)
    command = [t.tally(), "count", *t.modelled(program), *options, "--",
               program]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               start_new_session=True)
    try:
        t.equal(process.stdout.readline(), "ready\n", "the program's word")
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def forwarded(arch, number):
    with waiting(arch, "-j") as process:
        process.send_signal(number)
        out, err = process.communicate(timeout=60 * t.MINUTES)
    t.equal(out, f"got {number.name}\n", "the program's word")
    t.equal(process.returncode, 7, "status")
    doc = t.json.loads(err)
    t.equal(doc["status"], {"exit": 7}, "JSON status")
    t.equal(doc["interrupted"], True, "interrupted")
    assert all(e["value"] >= 0 for e in doc["events"])


for number in (signal.SIGINT, signal.SIGTERM):
    at_arch(f"{number.name} to tally is forwarded", number)(forwarded)


@at_arch("SIGINT to the whole group, as from a terminal")
def interrupt_group(arch):
    with waiting(arch, "-j") as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=60 * t.MINUTES)
    t.equal(out, "got SIGINT\n", "the program's word")
    t.equal(process.returncode, 7, "status")
    t.equal(t.json.loads(err)["status"], {"exit": 7}, "JSON status")


def started(arch, *words, before=()):
    """tally with unending, which has had a million turns of its loop and says
    so."""
    program = g("unending", arch)
    process = subprocess.Popen(
        [*before, t.tally(), "count", "-j", *t.modelled(program), program,
         *map(str, words)], stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    t.equal(process.stdout.readline(), "on\n", "the program's word")
    return process


@at_arch("a program that dies of the SIGTERM is reported")
def interrupted_spin(arch):
    process = started(arch)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60 * t.MINUTES)
    t.equal(process.returncode, 128 + signal.SIGTERM, "status")
    doc = t.json.loads(err)
    values = {e["name"]: e["value"] for e in doc["events"]}
    assert values[INSTRUCTIONS[arch]] > 1000000, values[INSTRUCTIONS[arch]]


@t.named("a signal ends tally while nobody reads its report")
def unread_report():
    for machine in ("host-model", "host"):
        end, other = os.pipe()
        os.set_blocking(other, False)
        try:
            while True:
                os.write(other, bytes(4096))
        except BlockingIOError:
            os.set_blocking(other, True)
        process = subprocess.Popen(
            [t.tally(), "count", "-m", machine, "-e", "page-faults", "--",
             g("hello", "x86_64")], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=other)
        # Signals that come while the program runs end the program alone.
        t.wait_for("tally ends", lambda: process.send_signal(signal.SIGTERM) or
                   process.poll() is not None)
        t.equal(process.returncode, -signal.SIGTERM, machine)
        os.close(end)
        os.close(other)


@at_arch("a signal that ends tally elsewhere ends the program, with a report")
def forwarded_deaths(arch):
    for number in (signal.SIGALRM, signal.SIGSEGV, signal.SIGABRT,
                   signal.SIGRTMIN + 2):
        process = started(arch)
        process.send_signal(number)
        _, err = process.communicate(timeout=60 * t.MINUTES)
        t.equal(process.returncode, 128 + number, "status")
        # QEMU has a word of its own on some of the signals.
        doc = t.json.loads(err[err.index("{"):])
        t.equal(doc["status"], {"signal": int(number)}, "JSON status")


def ignoring(number):
    """Words that start a command with the signal ignored."""
    return ["env", f"--ignore-signal={number.name[3:]}"]


@at_arch("SIGCHLD that is ignored does not hide the program's end")
def ignored_child(arch):
    program = g("hello", arch)
    machine = t.modelled(program)
    whole = instructions(arch, program)
    for more in ([], ["-r", "2"], ["--pre", "true", "--post", "true"]):
        done = t.run(*ignoring(signal.SIGCHLD), t.tally(), "count", "-j",
                     *machine, *more, "--", program)
        t.equal(done.returncode, 0, f"status; stderr: {done.stderr}")
        values = {e["name"]: e["value"]
                  for e in t.json.loads(done.stderr)["events"]}
        t.equal(values[INSTRUCTIONS[arch]], whole, "instructions")


@t.named("SIGCHLD that is ignored does not hide the end from perfex")
def ignored_child_perfex():
    done = t.run(*ignoring(signal.SIGCHLD), t.tally(), "perfex", "-e", "0",
                 g("hello", "mips64"))
    t.equal(done.returncode, 0, f"status; stderr: {done.stderr}")


@t.named("a signal that is ignored interrupts nothing")
def ignored_interrupt():
    """It is ignored by the program too, as under nohup."""
    process = started("x86_64", 300, before=ignoring(signal.SIGINT))
    process.send_signal(signal.SIGINT)
    for _ in range(299):
        t.equal(process.stdout.readline(), "on\n", "the program goes on")
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=60 * t.MINUTES)
    t.equal(process.returncode, 128 + signal.SIGTERM, "status")
    t.equal(t.json.loads(err)["status"], {"signal": 15}, "JSON status")


@t.named("-r stops at an interrupt and reports")
def interrupted_repeat():
    with waiting("sparc64", "-j", "-r", "5") as process:
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60 * t.MINUTES)
    t.equal(process.returncode, 7, "status")
    doc = t.json.loads(err)
    t.equal((doc["interrupted"], doc["interrupted_run"]), (True, 1), "run")
    for event in doc["events"]:
        t.equal((event["value"], event["code"]), (None, "interrupted"),
                event["name"])


def cut_second(machine, program, event, form):
    """A shell whose first run ends; the second waits, and is interrupted.
    Gives what the report says, and the count of a run of the first kind."""
    with tempfile.TemporaryDirectory() as folder:
        flag, report = f"{folder}/flag", f"{folder}/report"
        command = [t.tally(), "count", *machine, "-e", event, *form, "-o",
                   report]
        run = ["--", *program, "-c", f"if [ -e {flag} ]; then echo ready; "
               f"while :; do :; done; fi; echo >{flag}"]
        whole = t.run(*command, *run)
        t.equal(whole.returncode, 0, whole.stderr)
        first = pathlib.Path(report).read_text()
        os.unlink(flag)
        process = subprocess.Popen([*command, "-r", "5", *run], text=True,
                                   stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE,
                                   start_new_session=True)
        t.equal(process.stdout.readline(), "ready\n", "the program's word")
        os.killpg(process.pid, signal.SIGINT)
        process.communicate(timeout=60 * t.MINUTES)
        t.equal(process.returncode, 128 + signal.SIGINT, "status")
        return first, pathlib.Path(report).read_text()


def cut_run(machine, program, event):
    program = [t.guest(program[0]), *program[1:]] if program[1:] else program
    first, doc = map(t.json.loads,
                     cut_second(machine, program, event, ["-j"]))
    wanted, got = first["events"][0], doc["events"][0]
    t.equal((doc["interrupted"], doc["interrupted_run"]), (True, 2), "run")
    t.equal((got["runs"], got["stddev"]), (1, 0.0), "runs")
    if wanted["fidelity"] == "exact":
        t.equal((got["value"], got["mean"]),
                (wanted["value"], float(wanted["value"])), "value")
    else: # the second run would have had as much again
        assert got["value"] < 1.5 * wanted["value"], (got, wanted)
    _, text = cut_second(machine, program, event, [])
    t.contains(text, "run 2 of 5 was interrupted; the values are of the 1 whole "
               "run before")


t.case("-r: the mean is of the whole runs before an interrupt", cut_run,
       [], ["busybox.sparc64", "sh"], "All_instr")
t.case("-r on the host: the mean is of the whole runs before an interrupt",
       cut_run, ["-m", "host"], ["sh"], "page-faults:u")


# Repeatability

def lua_script():
    return ("local t = {} for i = 1, 3000 do t['k' .. i] = i end "
            "local n = 0 for k in pairs(t) do n = n + #k end print(n)")


def programs(arch):
    return {"lua": [g("lua", arch), "-e", lua_script()],
            "words": [g("words", arch),
                      t.source("LICENSES", "GPL-2.0-or-later.txt")]}


def everything(program, options=(), **how):
    return t.count(["-e", "all", *options], *program, **how).values


def three_runs(arch, name):
    program = programs(arch)[name]
    first = everything(program)
    for _ in range(2):
        t.same(first, everything(program))


def two_folders(arch, name):
    program = programs(arch)[name]
    with tempfile.TemporaryDirectory() as folder:
        deep = pathlib.Path(folder, "a" * 200, "b" * 100)
        deep.mkdir(parents=True)
        runs = [everything(program, cwd=cwd,
                           env={**os.environ, "PWD": str(cwd)})
                for cwd in ("/", deep)]
    t.same(*runs)


def two_environments(arch, name):
    program = programs(arch)[name]
    plain = {"PATH": os.environ["PATH"]}
    full = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "X": "y" * 5000,
            **{f"VARIABLE_{i}": "v" * i for i in range(150)}}
    t.same(*(everything(program, ["--clean-env"], env=env)
             for env in (plain, full)))


def two_places(arch, name):
    """libc copies the program's path: of that only the length counts."""
    program = programs(arch)[name]
    runs = []
    with tempfile.TemporaryDirectory() as folder:
        for place in ("here", "over"):
            path = pathlib.Path(folder, place, "program")
            path.parent.mkdir()
            shutil.copy(program[0], path)
            runs.append(everything([path, *program[1:]], ["--clean-env"]))
    t.same(*runs)


for program in ("lua", "words"):
    at_arch(f"{program}: three runs are equal", program)(three_runs)
    at_arch(f"{program}: two working folders, equal", program)(two_folders)
    at_arch(f"{program}: --clean-env, two environments, equal",
            program)(two_environments)


at_arch("words: --clean-env, two places of the program, equal",
        "words")(two_places)


@at_arch("--clean-env clears, otherwise the environment passes")
def environment(arch):
    env = {"PATH": os.environ["PATH"],
           **{f"V{i}": "1" for i in range(100)}}
    sizes = []
    for options in ([], ["--clean-env"]):
        c = t.count(options, g("args", arch), env=env)
        sizes.append(int(c.stdout.split()[-1]))
    assert sizes[0] > 100 and sizes[1] < 20, sizes


# Regions

ENTER = 12     # at most, to enter and leave work(), and the loop in main()


def region(arch, *options):
    return instructions(arch, g("regions", arch), options=options)


@at_arch("--from work --to done: 60000 turns")
def from_to(arch):
    n = region(arch, "--from", "work", "--to", "done")
    turns = 60000 * PER_TURN[arch]
    assert turns <= n <= turns + 3 * ENTER, n


@at_arch("--from, --to and the whole add up")
def regions_add_up(arch):
    whole = region(arch)
    before = region(arch, "--to", "work")
    middle = region(arch, "--from", "work", "--to", "done")
    after = region(arch, "--from", "done")
    t.equal(before + middle + after, whole, "sum of the parts")


@at_arch("--from warmup --to work: 50000 turns")
def from_to_warmup(arch):
    n = region(arch, "--from", "warmup", "--to", "work")
    turns = 50000 * PER_TURN[arch]
    assert turns <= n <= turns + ENTER, n


@at_arch("--skip N counts the rest, from the block that passes N")
def skip(arch):
    whole = region(arch)
    for n in (1, 1000, 100001):
        over = region(arch, "--skip", n) - (whole - n)
        assert 0 <= over < 64, f"--skip {n}: {over} too many"


@at_arch("--skip of more than there is counts nothing")
def skip_all(arch):
    t.equal(region(arch, "--skip", "1G"), 0, "rest")


@at_arch("--from a function that is never entered counts nothing")
def never_entered(arch):
    t.equal(instructions(arch, g("spin", arch), options=["--from", "abort"]),
            0, "instructions")


@at_arch("regions with all events")
def region_full(arch):
    c = t.count(["-e", "all", "--from", "work", "--to", "done"],
                g("regions", arch))
    t.equal(c[INSTRUCTIONS[arch]],
            region(arch, "--from", "work", "--to", "done"), "instructions")


@at_arch("--from in threads: only work() is counted")
def from_threads(arch):
    """From the first entry of work() on, in the thread that enters it."""
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", event, "--from", "work"], g("threads", arch), 4, 50000)
    turns = 4 * 50000 * PER_TURN[arch]
    assert turns <= c[event] < turns + 20000, c[event]


# Options

@at_arch("-r 3: mean, stddev 0, runs")
def repeat(arch):
    event = INSTRUCTIONS[arch]
    c = t.count(["-e", "all", "-r", 3], g("hello", arch))
    t.equal(c.stdout, "hello\n" * 3, "output")
    for row in c.json["events"]:
        t.equal((row["runs"], row["stddev"]), (3, 0), row["name"])
        t.equal(row["mean"], row["value"], row["name"])
    assert c[event] > 1000, c[event]


@at_arch("instructions alone and with the whole model")
def alone(arch):
    event = INSTRUCTIONS[arch]
    for program in programs(arch).values():
        full = everything(program)
        t.equal(instructions(arch, *program), full[event], "instructions")


GEOMETRIES = [
    # kernel, options, event, count, why
    ("stride_l1d", ["l1d.size=16K"], "Dcache_misses", 1024, "fits: cold"),
    ("stride_l1d", ["l1d.line=64"], "Dcache_misses", 2560,
     "thrashes still; a line holds 4 strides"),
    ("stride_l1d", ["l1d.size=32K", "l1d.ways=8", "l1d.line=64"],
     "Dcache_misses", 256, "fits: cold, a line holds 4 strides"),
    ("stride_l1d_fit", ["l1d.size=2K"], "Dcache_misses", 2560, "thrashes"),
    # 4 lines a set of 3 ways, 64 sets: each line that is asked for left its set 64
    # lines ago.
    ("stride_l1d_fit", ["l1d.size=3K", "l1d.ways=3", "l1d.victim=63"],
     "Dcache_misses", 2560, "thrashes, the victim cache too"),
    ("stride_l1d_fit", ["l1d.size=3K", "l1d.ways=3", "l1d.victim=64"],
     "Dcache_misses", 256, "fits with the victim cache: cold"),
    ("icache_stride", ["l1i.size=64K"], "Icache_misses", 1025, "fits: cold"),
    ("icache_fit", ["l1i.size=4K"], "Icache_misses", 2561, "thrashes"),
    ("chase_l2", ["l2.size=512K"], "L2_load_misses", 65536, "thrashes"),
    ("chase_memory", ["l2.size=32M"], "L2_load_misses", 131072,
     "fits: cold"),
    ("tlb_stride", ["dtlb.entries=256"], "DTLB_miss", 64, "fits: cold"),
    ("tlb_stride", ["dtlb.entries=64"], "DTLB_miss", 64, "just fits"),
    ("stride_l1d", ["tlb.page=4K"], "DTLB_miss", 4, "16 KB of data"),
]


def geometry(kernel, settings, event, wanted):
    options = [word for s in settings for word in ("--set", s)]
    c = t.count(["-m", T2, "-e", event, *options], g(kernel, "sparc64"))
    t.equal(c[event], wanted, event)


for kernel, settings, event, wanted, why in GEOMETRIES:
    t.case(f"{kernel} with {' '.join(settings)}: {why}", geometry, kernel,
           settings, event, wanted)


@t.named("host-model: a second TLB counts what the first ones lack")
def second_tlb():
    """No machine names the level but for its events; --set switches it on."""
    first = ("iTLB-load-misses", "dTLB-load-misses", "dTLB-store-misses")
    c = t.count(["-m", "host-model", "--set", "stlb.entries=1536", "-e",
                 ",".join(("sTLB-accesses", "sTLB-misses", "page-walks",
                           *first))], g("lua", "x86_64"), "-e",
                "local t = {} for i = 1, 100000 do t[i] = i end")
    t.equal(c["sTLB-accesses"], sum(c[event] for event in first), "accesses")
    t.equal(c["sTLB-misses"], c["page-walks"], "misses")
    assert 0 < c["sTLB-misses"] < c["sTLB-accesses"], c["sTLB-misses"]


t.main()
