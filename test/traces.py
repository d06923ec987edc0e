#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally trace on whole programs: traces.py BUILD [WORD]

A trace counts what the live run counts, to the digit, on each machine.
"""
import collections
import functools
import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import struct
import tempfile

import tallytest as t

folder = tempfile.TemporaryDirectory(prefix="tally-traces-")
here = pathlib.Path(folder.name)

# Programs by architecture: system calls and the C library; arrays; what each
# architecture alone has; threads.
PROGRAMS = {
    "x86_64": ["args", "arrays", "vectors", "rep", "rewrite", "jit", "odd",
               "crash segv", "sharers line 4 50", "meet 5 40"],
    "aarch64": ["args", "arrays", "jit", "crash kill", "threads 5 300"],
    "riscv64": ["args", "arrays", "jit", "threads 5 300"],
    "mips64": ["args", "arrays", "likely", "llsc", "llsc_fail", "crash ill",
               "threads 5 300"],
    "mips64el": ["args", "arrays"],
    "sparc64": ["args", "arrays", "annul", "window_run", "returns", "jit",
                "crash segv", "threads 5 300"],
}


def trace(*words, **how):
    return t.run(t.tally(), "trace", *words, **how)


def record(name, *program, options=(), status=0):
    """Records into a file of this name, and returns its path and what tally
    said."""
    path = here / name
    done = trace("record", "--clean-env", *options, "-o", path, "--", *program)
    t.equal(done.returncode, status, done.stderr)
    return path, done.stderr


def info(path):
    done = trace("info", "--format", "json", path)
    t.equal(done.returncode, 0, done.stderr)
    return json.loads(done.stdout)


def counted(*options):
    """The events, those of further threads with the thread's number, and the
    status."""
    with tempfile.TemporaryDirectory() as own:
        report = os.path.join(own, "report.json")
        done = t.run(t.tally(), "count", "-e", "all", "-j", "-o", report,
                     *options)
        text = pathlib.Path(report).read_text()
    found = json.loads(text)
    events = {event if s["thread"] == 0 else f"{s['thread']} {event}": value
              for s in found["strands"] for event, value in s["events"].items()}
    return events, found["status"], done.returncode


def words_of(isa, text):
    name, *rest = text.split()
    return [t.guest(f"{name}.{isa}"), *rest]


def equal_to_live(isa, text):
    program = words_of(isa, text)
    path = here / f"{text.replace(' ', '-')}.{isa}"
    done = trace("record", "--clean-env", "-q", "-o", path, "--", *program)
    machines = [[name] for name, isas in t.machines().items() if isa in isas]
    if isa == "x86_64":
        machines.append(["montecito", "--foreign"])
    assert machines, isa
    for machine in machines:
        live = counted("--clean-env", "-m", *machine, "--", *program)
        again = counted("-m", *machine, "--", path)
        t.same(live[0], again[0], f"{text} {isa} on {machine[0]}")
        t.equal(again[1:], live[1:], f"status on {machine[0]}")
        t.equal(done.returncode, live[2], "status of the recording")


def threads_told():
    program = [t.guest("sharers.x86_64"), "same", "3", "50"]
    path, _ = record("sharers.trace", *program, options=["--quantum", "500"])
    t.equal(info(path)["threads"], 4)
    t.contains(trace("info", path).stdout,
               "threads       4, in turns of 500 instructions")
    t.contains(trace("verify", path).stdout, "can be replayed")
    done = t.run(t.tally(), "count", "-m", "zen4", "-e", "ex_ret_instr", path)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "4 threads ran in turns of 500 instructions: counts "
                            "repeat")
    lines = trace("export", "--as", "lackey", path).stdout.splitlines()
    found = info(path)["instructions"]
    t.equal(sum(line[0] == "I" for line in lines) >= found, True, "lackey")
    out = here / "sharers.champsim"
    done = trace("export", "--as", "champsim", path, "-o", out)
    t.equal(done.returncode, 2, done.stderr)
    t.equal(done.stderr, "tally trace export: the trace has several threads, and "
            "champsim has one: lackey and din take all, in the order of their "
            "turns\n")
    assert not out.exists()


def threads_recorded():
    """tally record finds in the trace of threads what it finds in a live run."""
    program = [t.guest("sharers.x86_64"), "line", "4", "100"]
    path, _ = record("recorded.trace", *program)
    live, again = here / "live.data", here / "again.data"
    for out, words in ((live, ["--clean-env", "--", *program]),
                       (again, ["--", path])):
        done = t.run(t.tally(), "record", "-q", "-m", "host-model", "-o", out,
                     *words, env={"TALLY_HOST_MODEL": ""})
        t.equal(done.returncode, 0, done.stderr)
    for by in ("function", "caller", "line"):
        t.equal(reported(again, by), reported(live, by), by)


def without_anything():
    """Neither QEMU nor the program is needed."""
    program = here / "program"
    program.write_bytes(pathlib.Path(t.guest("hello.sparc64")).read_bytes())
    program.chmod(0o755)
    path, _ = record("alone.trace", program)
    live = counted("--clean-env", "-m", "sparc-t4", "--", program)
    program.unlink()
    nowhere = {**os.environ, "PATH": "/nonesuch", "TALLY_QEMU": "/nonesuch"}
    done = trace("replay", "-m", "sparc-t4,ultrasparc-t1", "-e",
                 "instructions", "--format", "csv", path, env=nowhere)
    t.equal(done.returncode, 0, done.stderr)
    t.equal(len(re.findall(",,instructions,", done.stderr)), 2, done.stderr)
    t.same(live[0], counted("-m", "sparc-t4", "--", path)[0])


def settings():
    """--set, --skip, -r and tally sweep take a trace as a program."""
    program = t.guest("arrays.x86_64")
    path, _ = record("settings.trace", program)
    for options in (["--set", "l1d.size=16K"], ["--skip", "60000"]):
        live = counted("--clean-env", "-m", "zen4", *options, "--", program)
        again = counted("-m", "zen4", *options, "--", path)
        t.same(live[0], again[0], str(options))
    sweeps = [t.run(t.tally(), "sweep", *clean, "-m", "zen4", "--set",
                    "l1d.size=16K..64K", "-e", "L1-dcache-load-misses",
                    "--format", "csv", "--", what)
              for clean, what in ((["--clean-env"], program), ([], path))]
    t.equal([s.returncode for s in sweeps], [0, 0], sweeps[1].stderr)
    t.equal(sweeps[0].stdout, sweeps[1].stdout, "sweep")


def reported(path, by):
    done = t.run(t.tally(), "report", path, "--by", by, "--format", "csv")
    t.equal(done.returncode, 0, done.stderr)
    return done.stdout


def recorded(isa, text):
    """tally record of a trace has each event where the live run had it."""
    program = words_of(isa, text)
    path, _ = record(f"{text}.{isa}.recorded", *program)
    machine = {"x86_64": "zen4", "sparc64": "sparc-t4", "mips64": "r12000",
               "aarch64": "neoverse-n1", "riscv64": "sifive-u74"}[isa]
    files = []
    for name, words in (("live", ["--clean-env", "--", *program]),
                        ("replayed", ["--", path])):
        files.append(here / f"{text}.{isa}.{name}")
        done = t.run(t.tally(), "record", "-q", "-m", machine, "-o", files[-1],
                     *words)
        t.equal(done.returncode, 0, done.stderr)
    for by in ("function", "line", "instruction", "caller", "image"):
        live, replayed = [reported(file, by) for file in files]
        same_lines(replayed.splitlines(), live.splitlines())
        assert live.count("\n") > 1, live


def parts():
    """--from and --skip begin a trace where they begin a count, --to and
    --instructions end it; the program goes on."""
    lua = [t.source("bench", "lua", "bench.lua"), "1"]
    for isa, options in (("x86_64", ["--from", "luaV_execute"]),
                         ("sparc64", ["--skip", "3000000"]),
                         ("riscv64", ["--skip", "5000"])):
        program = [t.guest(f"lua.{isa}"), *lua]
        path, _ = record(f"part.{isa}.trace", *program, options=options)
        counts = []
        for words in (["--clean-env", *options, "--", *program], ["--", path]):
            with tempfile.TemporaryDirectory() as own:
                report = os.path.join(own, "report.json")
                t.run(t.tally(), "count", "-e", "instructions", "-j", "-o",
                      report, *words)
                found = json.loads(pathlib.Path(report).read_text())
            counts.append(found["events"][0]["value"])
        t.equal(found["trace"], "part")
        t.equal(counts[1], counts[0], f"{isa} {options}")
    program = [t.guest("lua.x86_64"), *lua]
    path, said = record("short.trace", *program, options=[
        "--skip", "1500000", "--instructions", "20000", "--objects"])
    found = json.loads(trace("info", "--format", "json", path).stdout)
    assert 19000 < found["instructions"] <= 20000, found
    t.equal(found["part"], "--skip 1500000 --instructions 20000")
    t.contains(trace("info", path).stdout,
               "part          --skip 1500000 --instructions 20000\n")
    t.equal(trace("verify", path).returncode, 0)
    assert "the trace ends there" not in said, said
    done = t.run(t.tally(), "count", "-m", "zen4", "-e", "instructions", path)
    t.contains(done.stderr, "has a part of its program's run (--skip 1500000 "
                            "--instructions 20000): caches are empty where")
    assert "ends before" not in done.stderr, done.stderr
    # From one function up to another: neither block of the latter is in.
    path, _ = record("between.trace", *program, options=[
        "--from", "luaH_resize", "--to", "luaV_execute"])
    done = t.run(t.tally(), "record", "-q", "-m", "zen4", "-e", "ex_ret_instr",
                 "-o", here / "between.data", path)
    done = t.run(t.tally(), "report", here / "between.data")
    t.contains(done.stdout, "of a trace that has a part of the run; caches were")
    done = t.run(t.tally(), "report", "-j", here / "between.data")
    t.equal(json.loads(done.stdout)["trace"], "part")
    rows = reported(here / "between.data", "function")
    t.contains(rows, "luaH_resize,")
    assert "luaV_execute," not in rows, rows
    path, said = record("never.trace", *program, options=["--skip", "9" * 12])
    t.contains(said, "the run did not come to what was asked for (--skip 99")
    path, said = record("threads.part", t.guest("threads.x86_64"), "3",
                        "1000000", options=["--skip", "1000000"])
    t.contains(said, "made a second thread")


def replaced():
    """A program's file that is another one than the one that ran has a line."""
    program = here / "replaced"
    program.write_bytes(pathlib.Path(t.guest("arrays.x86_64")).read_bytes())
    program.chmod(0o755)
    path, _ = record("replaced.trace", program)
    count = ["count", "-m", "zen4", "-e", "instructions", path]
    warning = "is not the file that ran when the trace was made: names of"
    assert warning not in t.run(t.tally(), *count).stderr
    program.write_bytes(pathlib.Path(t.guest("hello.x86_64")).read_bytes())
    done = t.run(t.tally(), *count)
    t.equal(done.returncode, 0, done.stderr)
    t.equal(done.stderr.count(warning), 1, done.stderr)


def no_stacks(rows):
    """Of architectures whose calls leave the stack pointer alone QEMU's registers
    tell whose stack is whose, which a trace lacks."""
    return [row for row in rows if ",stack," not in row]


def with_objects():
    """tally record --objects and --why of a trace that has the program's
    allocations and mappings find what they find in the live run."""
    for isa, text, options in (
            ("x86_64", "objects.dyn", ["--objects=all", "-m", "zen4"]),
            ("x86_64", "uses.dyn", ["--why", "-m", "host-model"]),
            ("x86_64", "uses.dyn", ["--why", "--level", "l2"]),
            ("sparc64", "objects.dyn", ["--objects"]),
            ("riscv64", "uses.dyn", ["--objects"])):
        program = words_of(isa, text)
        path, _ = record(f"{text}.{isa}.objects", *program,
                         options=["--objects"])
        found = []
        for name, words in (("live", ["--clean-env", "--", *program]),
                            ("replayed", ["--", path])):
            file = here / f"{text}.{isa}.{name}.objects"
            done = t.run(t.tally(), "record", "-q", *options, "-o", file,
                         *words)
            t.equal(done.returncode, 0, done.stderr)
            found.append([reported(file, by) for by in
                          ("object", "function", "line", "caller")])
        kept = no_stacks if isa != "x86_64" else list
        for live, replayed in zip(*found):
            same_lines(kept(replayed.splitlines()), kept(live.splitlines()))
        assert ",heap," in found[0][0], found[0][0]
        assert ",variable," in found[0][0], found[0][0]


def memory_of_traces():
    """tally memory of a trace; and traces that lack what it asks for."""
    program = t.guest("uses.dyn.x86_64")
    path, _ = record("memory.trace", program, options=["--objects"])
    texts = []
    for words in (["--clean-env", "--", program], ["--", path]):
        status, found = in_json("memory", *words)
        t.equal(status, 0)
        texts.append(found)
    t.equal(texts[1]["findings"], texts[0]["findings"])
    t.contains(trace("info", path).stdout, "blocks that its allocator gave")
    static, _ = record("static.trace", t.guest("uses.x86_64"),
                       options=["--objects"])
    done = t.run(t.tally(), "memory", static)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "a trace has no registers")
    t.contains(trace("info", static).stdout, "no blocks: the program is static")
    for words, line in (
            (["record", "--locks", path],
             "is a trace, which does not say what threads wait for"),
            (["record", "--objects", "--allocator", "f:1", path],
             "leave --allocator away")):
        done = t.run(t.tally(), *words)
        t.equal(done.returncode, 2, done.stderr)
        t.contains(done.stderr, line)


# Four threads that allocate, and add to one number under a lock.
ALLOCATES = """
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long sum;
static void *work(void *data) {
    for (int i = 0; i < 200; i++) {
        char *bytes = malloc(64 + i % 100);
        memset(bytes, i, 64);
        pthread_mutex_lock(&lock);
        sum += bytes[3];
        pthread_mutex_unlock(&lock);
        free(bytes);
    }
    return data;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}
"""


def memory_of_threads():
    """What is preloaded to tell of allocations takes no part of a turn, while a
    trace is made as in a live run: tally memory finds the same."""
    if platform.machine() != "x86_64":
        raise t.Skip("gcc compiles for another architecture than x86-64")
    program = here / "allocates"
    t.run("gcc", "-pthread", "-o", program, "-x", "c", "-", input=ALLOCATES,
          stdin=None).check_returncode()
    path, _ = record("allocates.trace", program,
                     options=["--objects", "--quantum", "700"])
    status, live = in_json("memory", "--quantum", "700", "--clean-env", "--",
                           program)
    t.equal(status, 0)
    status, found = in_json("memory", "--", path)
    t.equal(status, 0)
    t.equal(found.pop("trace"), "whole")
    assert live["counts"]["coherence_misses"] > 0, live["counts"]
    t.same(found, live, "memory of a trace")


def in_json(command, *words):
    """Status and JSON of a command on zen4."""
    with tempfile.TemporaryDirectory() as own:
        report = os.path.join(own, "report.json")
        done = t.run(t.tally(), command, "-m", "zen4", "-j", "-o", report,
                     *words)
        return done.returncode, json.loads(pathlib.Path(report).read_text())


def curves():
    """tally curve of a trace is that of the live run."""
    program = t.guest("arrays.x86_64")
    path, _ = record("curve.trace", program)
    for options in ([], ["--ways", "1,2,8"], ["--level", "dtlb"],
                    ["--sample", "1/8"]):
        _, expected = in_json("curve", *options, "--clean-env", "--", program)
        status, found = in_json("curve", *options, "--", path)
        t.equal((status, found.pop("trace")), (0, "whole"))
        assert "trace" not in expected, expected
        t.equal(found["program"], str(path))
        found["program"] = expected["program"]
        t.equal(found, expected, str(options))


def partial_reports():
    """Of a trace that is damaged or cut, other commands say so, too."""
    lua = [t.guest("lua.x86_64"), t.source("bench", "lua", "bench.lua"), "1"]
    path, _ = record("partial.trace", *lua)
    data = bytearray(path.read_bytes())
    path.write_bytes(data[:len(data) * 3 // 4])
    bad = here / "damaged.trace"
    data[len(data) * 3 // 4] ^= 1
    bad.write_bytes(data)
    for trace_path, word, status in ((path, "cut", 0), (bad, "damaged", 125)):
        for command in ("curve", "phases"):
            ended, found = in_json(command, "--", trace_path)
            t.equal((ended, found["trace"], found["standing"]),
                    (status, word, "partial"))
        data_path = here / "partial.data"
        done = t.run(t.tally(), "record", "-m", "zen4", "-e", "ex_ret_instr",
                     "-o", data_path, "--", trace_path)
        t.equal(done.returncode, status, done.stderr)
        t.contains(done.stderr, "what the trace lacks is not in the record")
        done = t.run(t.tally(), "report", data_path)
        t.contains(done.stdout, "counts of a part of the run are missing")


def huge_pages():
    """A replay knows the huge pages of a live run: by the system calls, and by
    the program's file, which must be the one that ran."""
    program = here / "huge"
    options = ["-m", "zen4", "--set", "tlb.huge=always"]
    bzip2 = [t.guest("bzip2.aarch64"), "-kc",
             t.source("LICENSES", "GPL-2.0-or-later.txt")]
    arm = ["-m", "neoverse-n1", "--set", "tlb.huge=always"]
    shutil.copy(t.guest("hugeheap.x86_64"), program)
    path, _ = record("huge.trace", program)
    other, _ = record("huge-bzip2.trace", *bzip2)
    for machine, words, trace_path in ((options, [program], path),
                                       (arm, bzip2, other)):
        live = counted("--clean-env", *machine, "--", *words)[0]
        t.same(live, counted(*machine, "--", trace_path)[0], str(words[0]))
        misses = [n for e, n in live.items() if e == "huge-page-misses"]
        assert misses and misses[0] > 0, live
    for change in (lambda: shutil.copy(t.guest("hugewalk.x86_64"), program),
                   program.unlink):
        change()
        done = t.run(t.tally(), "count", "-e", "huge-page-walks", *options,
                     "--", path)
        t.equal(done.stderr.count("is not there as it ran: its data without "
                                  "contents (.bss) counts as small pages"), 1,
                done.stderr)
    done = t.run(t.tally(), "count", "-m", "zen4", "-e", "ls_l1_d_tlb_miss.all",
                 "--", path)
    t.equal(done.stderr.count("as it ran"), 0, done.stderr)
    late, _ = record("late.trace", t.guest("arrays.x86_64"),
                     options=["--skip", "100"])
    done = t.run(t.tally(), "count", "-e", "huge-page-walks", *options, "--",
                 late)
    t.equal(done.returncode, 2, done.stderr)
    t.contains(done.stderr, "begins after its program, and does not know what "
                            "memory was mapped before")
    start, _ = record("start.trace", t.guest("arrays.x86_64"),
                      options=["--instructions", "100"])
    done = t.run(t.tally(), "count", "-e", "huge-page-walks", *options, "--",
                 start)
    t.equal(done.returncode, 0, done.stderr)
    lackey = here / "imported.lackey"
    lackey.write_text("I  00401000,4\n L 10000000,8\n")
    done = trace("import", "--as", "lackey", "-o", here / "imported.trace",
                 lackey)
    t.equal(done.returncode, 0, done.stderr)
    done = t.run(t.tally(), "count", "-m", "host-model", "--set",
                 "tlb.huge=always", "-e", "dTLB-load-misses", "--",
                 here / "imported.trace")
    t.equal(done.returncode, 2, done.stderr)
    t.contains(done.stderr, "has no system calls, which tell what memory")


def shown():
    program = t.guest("hello.x86_64")
    path, said = record("shown.trace", program)
    t.contains(said, "bytes (")
    found = info(path)
    t.equal((found["whole"], found["end"], found["isa"], found["command"]),
            (True, "with the program, status 0", "x86_64", [program]))
    live, _, _ = counted("--clean-env", "-m", "zen4", "--", program)
    t.equal(found["instructions"], live["ex_ret_instr"], "instructions")
    image = found["images"][0]
    t.equal(image["path"], program, "image")
    assert image["first"] <= 0x401000 <= image["last"], image
    text = trace("info", path).stdout
    t.contains(text, f"program       {program}")
    t.contains(text, "ends          with the program, status 0")
    done = trace("verify", path)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stdout, f"{found['accesses']} accesses")


def ends_before():
    """Several threads, children, other programs, and too many bytes: one line
    says where the trace ends, and what it has is counted."""
    hello = t.guest("hello.x86_64")
    for name, words, why in (
            ("thread", ["--parallel", t.guest("threads.x86_64"), "2", "1000"],
             "made a second thread after "),
            ("fork", [t.guest("forker.x86_64"), "fork", hello],
             "made a child after "),
            ("exec", [t.guest("forker.x86_64"), "exec", hello],
             "executed another program after ")):
        options = [words.pop(0)] if words[0] == "--parallel" else []
        path, said = record(f"{name}.trace", *words, options=options)
        t.contains(said, why)
        t.equal(info(path)["whole"], True, name)
        done = t.run(t.tally(), "count", "-m", "zen4", "-e", "ex_ret_instr",
                     "--", path)
        t.equal(done.returncode, 0, done.stderr)
        t.equal(done.stderr.count("tally: "), 1, done.stderr)
        t.contains(done.stderr, f"{name}.trace ends before its program, as the "
                                f"program {why}")
        t.equal(part_of(path), ("ends-before-program", "exact", 0), name)
    lua = [t.guest("lua.x86_64"), t.source("bench", "lua", "bench.lua"), "1"]
    path, said = record("size.trace", *lua, options=["--max-size", "50K"])
    t.contains(said, "the trace had its largest size after ")
    assert 50 << 10 <= path.stat().st_size < 2 << 20, path.stat().st_size
    t.equal(trace("verify", path).returncode, 0)


def part_of(path):
    """What the JSON of a count says of a trace, and tally's status."""
    with tempfile.TemporaryDirectory() as own:
        report = os.path.join(own, "r.json")
        done = t.run(t.tally(), "count", "-m", "zen4", "-e", "ex_ret_instr",
                     "-j", "-o", report, "--", path)
        found = json.loads(pathlib.Path(report).read_text())
    return found["trace"], found["events"][0]["fidelity"], done.returncode


def killed():
    """A recording that is killed has all until its last chunk."""
    path = here / "killed.trace"
    lua = [t.guest("lua.x86_64"), t.source("bench", "lua", "bench.lua"), "500"]
    with open("/dev/null", "w", encoding="ascii") as null:
        child = t.subprocess.Popen(
            [t.tally(), "trace", "record", "-o", str(path), "--", *lua],
            stdin=null, stdout=null, stderr=null)
        t.wait_for("a trace that grows", lambda: path.exists()
                   and path.stat().st_size > 2000000)  # several chunks
        child.send_signal(signal.SIGKILL)
        child.wait()
    done = trace("verify", path)
    t.equal(done.returncode, 125, done.stderr)
    t.equal(done.stderr.count("\n"), 1, done.stderr)
    t.contains(done.stderr, "killed.trace is cut short")
    instructions = int(done.stdout.split()[0])
    assert instructions > 10000, done.stdout
    with tempfile.TemporaryDirectory() as own:
        report = os.path.join(own, "r")
        done = t.run(t.tally(), "count", "-m", "zen4", "-e", "ex_ret_instr",
                     "--format", "csv", "-o", report, "--", path)
        text = pathlib.Path(report).read_text()
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "killed.trace is cut short")
    found = int(re.search(r"^(\d+),,ex_ret_instr,", text, re.MULTILINE)[1])
    t.contains(text, ",partial,ex_ret_instr")
    t.contains(text, "not counted: what the trace lacks, which is cut short")
    t.equal(part_of(path), ("cut", "partial", 0), "JSON")
    assert 0.9 * instructions < found <= instructions, (found, instructions)


def bad_files():
    """Damaged, cut, newer and foreign files: one line, and no counts that look
    good."""
    path, _ = record("good.trace", t.guest("hello.x86_64"))
    data = bytearray(path.read_bytes())
    newer = bytearray(data)
    struct.pack_into("<I", newer, 8, 2)
    other = bytearray(data)
    struct.pack_into("<I", other, 12, 1)
    damaged = bytearray(data)
    damaged[len(data) // 2] ^= 1
    for name, content, line in (
            ("damaged", damaged, "is damaged: the chunk at byte"),
            ("newer", newer, "use a newer tally"),
            ("record", other, "is not a trace of tally but a record"),
            ("empty", b"", "is not a trace of tally: it is empty"),
            ("text", b"#!/bin/cat\n" * 9, "is not a trace of tally")):
        bad = here / name
        bad.write_bytes(content)
        for verb in ("info", "verify", "replay"):
            done = trace(verb, bad)
            t.equal(done.returncode, 125, f"{verb} {name}: {done.stderr}")
            t.contains(done.stderr, line)
            if verb != "replay" or name != "damaged":
                t.equal(done.stderr.count("\n"), 1, done.stderr)
    done = trace("verify", here / "nonesuch")
    t.equal(done.returncode, 125, done.stderr)
    t.contains(done.stderr, "No such file")
    # The head is there, and nothing of the run.
    bad.write_bytes(data[:300])
    for command in ("count", "phases", "record"):
        done = t.run(t.tally(), command, bad, cwd=here)
        t.equal(done.returncode, 125, done.stderr)
        t.contains(done.stderr, ": nothing of its run is in the trace\n")
        assert "QEMU" not in done.stderr, done.stderr


def damaged_late():
    """What comes before the damage is counted, as a part."""
    lua = [t.guest("lua.x86_64"), t.source("bench", "lua", "bench.lua"), "2"]
    path, _ = record("late.trace", *lua)
    t.equal(part_of(path), ("whole", "exact", 0))
    data = bytearray(path.read_bytes())
    data[len(data) * 3 // 4] ^= 1
    path.write_bytes(data)
    t.equal(part_of(path), ("damaged", "partial", 125))
    done = t.run(t.tally(), "count", "-m", "zen4", "-e", "ex_ret_instr", path)
    t.contains(done.stderr, "late.trace is damaged: what comes before is")
    t.contains(done.stderr, "what the trace lacks, which is damaged")
    assert "exited with" not in done.stderr, done.stderr


def limited():
    """A limit of sizes ends a recording with one line, and not by a signal."""
    done = t.run("sh", "-c", 'ulimit -f 10; exec "$@"', "-", t.tally(),
                 "trace", "record", "-o", here / "limited.trace", "--",
                 t.guest("hello.x86_64"))
    t.equal(done.returncode, 125, done.stderr)
    t.equal(done.stderr.count("\n"), 1, done.stderr)
    t.contains(done.stderr, "File too large")


# Files that versions of tally wrote, named for program, architecture and schema,
# and the SHA-256 of the lines of lackey that each of them holds. Those of rep are
# what Valgrind's lackey writes of the program; two has two threads.
SAMPLES = (
    ("rep.x86_64.1.trace",
     "b0a62350b43f41af38edb5d83fe0bb5f411944fa91790d0c7a94a36ce4013b49", "235"),
    ("rep.x86_64.2.trace",
     "32a2fcae770ffd37b3c9380487ca6d9c07b098609817a4adc84a7a7bf3a0049e", "230"),
    ("annul.sparc64.1.trace",
     "8f26c418fc3b7fc5a75d8ac98b73cc0b9a6e85919c89462e007cf42721232f7e", "9,005"),
    ("two.x86_64.4.trace",
     "90639b3e85b13af02a58c988f0e98ffd5ad447a193dd8bd5097752b085175619", "57"),
)


def kept_samples():
    """Traces of each schema that there was are read as ever."""
    for name, digest, instructions in SAMPLES:
        path = pathlib.Path(t.source("test", "trace_samples", name))
        done = trace("verify", path)
        t.equal(done.returncode, 0, done.stderr)
        out = here / "sample.lackey"
        done = trace("export", "--as", "lackey", path, "-o", out)
        t.equal(done.returncode, 0, done.stderr)
        t.equal(hashlib.sha256(out.read_bytes()).hexdigest(), digest, name)
        machine = "zen4" if "x86" in name else "ultrasparc-t2"
        done = trace("replay", "-m", machine, "-e", "instructions", path)
        t.equal(done.returncode, 0, done.stderr)
        t.contains(done.stderr, f" {instructions}  instructions ")


def refused():
    path, _ = record("refused.trace", t.guest("hello.x86_64"))
    for words, line in (
            ([], "record, info, verify, replay, export or import is expected"),
            (["rekord"], "not rekord"),
            (["record"], "a program is expected"),
            (["info"], "a trace is expected"),
            (["info", path, path], "one file at a time"),
            (["verify", "-o", "a", path], "it takes no -o"),
            (["replay", "--max-size", "9", path], "it takes no --max-size"),
            (["record", "-m", "zen4", path], "it takes no -m"),
            (["replay", "--objects", path], "it takes no --objects"),
            (["info", "--skip", "1", path], "it takes no --skip"),
            (["record", "--skip", "-1", "--", path], "--skip '-1': a number of"),
            (["record", "--instructions", "0", "--", path], "a number of"),
            (["record", "--skip", "1", "--from", "main", "--",
              t.guest("hello.x86_64")], "--skip does not go with --from"),
            (["record", "--from", "mainn", "--", t.guest("hello.x86_64")],
             "did you mean main"),
            (["replay", "--cpu-model", "max", path], "--cpu-model"),
            (["replay", "-m", "zen4,zen9", path], "zen9"),
            (["record", "--max-size", "9Q", path], "9Q"),
            (["record", "-o", "-", "--", path], "not to standard output"),
            (["record", "-o", path, path], "program")):
        done = trace(*words)
        t.equal(done.returncode, 2, f"{words}: {done.stderr}")
        t.contains(done.stderr, line)
    for words, line in (
            (["count", "--clean-env", path], "leave --clean-env away"),
            (["count", path, "more"], "leave more away"),
            (["count", "-m", "host", path], "-m names a modelled machine"),
            (["count", "--schedule", "cycles", path],
             "leave --schedule away"),
            (["count", "-m", "zen4", "--set", "layout=1", path], "layout=0"),
            (["count", "-m", "sparc-t4", path], "--foreign"),
            (["memory", path], "has nothing of the program's data: tally trace "
                               "record --objects makes a trace that has"),
            (["record", "--objects", path], "has nothing of the program's data"),
            (["at", "--miss", "1", path],
             "is a trace, which tally count, record, memory, curve, sweep, "
             "phases, teach and trace replay take"),
            (["count", path, "-e", "instructions"],
             "leave -e away, or give it before the trace")):
        done = t.run(t.tally(), *words)
        t.equal(done.returncode, 2, f"{words}: {done.stderr}")
        t.contains(done.stderr, line)
    done = trace("record", "-o", "/dev/full", "--", t.guest("hello.x86_64"))
    t.equal(done.returncode, 125, done.stderr)
    t.equal(done.stderr.count("\n"), 1, done.stderr)
    t.contains(done.stderr, "/dev/full: No space left on device")


def same_lines(found, expected):
    """Equal, or says where they begin to differ."""
    for at, both in enumerate(zip(found, expected)):
        t.equal(both[0], both[1], f"line {at + 1}")
    t.equal(len(found), len(expected), "lines")


def exported(path, form):
    """The export, as bytes."""
    out = here / f"{path.name}.{form}"
    done = trace("export", "--as", form, path, "-o", out)
    t.equal(done.returncode, 0, done.stderr)
    return out.read_bytes()


def of_lackey(program):
    """What Valgrind's lackey writes of the program, without what it says."""
    if shutil.which("valgrind") is None:
        raise t.Skip("no valgrind")
    out = here / "lackey"
    t.run("valgrind", "--tool=lackey", "--trace-mem=yes", f"--log-file={out}",
          program)
    return [line for line in out.read_text().split("\n")
            if line[:2] in ("I ", " L", " S", " M")]


def in_bytes(lines):
    """The lines with a line for each byte of an access: QEMU makes wide ones
    in pieces."""
    found = []
    for line in lines:
        if line[0] == "I":
            found.append(line)
            continue
        address, size = line[3:].split(",")
        for kind in {"M": "LS"}.get(line[1], line[1]):
            found += [f"{kind} {int(address, 16) + i:x}"
                      for i in range(int(size))]
    return found


def as_lackey():
    """The lines are lackey's own, of programs without a C library, which would
    look at the processor."""
    path, _ = record("rep.trace", t.guest("rep.x86_64"))
    lines = exported(path, "lackey").decode().split("\n")
    t.equal(lines.pop(), "", "the last line")
    same_lines(lines, of_lackey(t.guest("rep.x86_64")))
    path, _ = record("vectors.trace", t.guest("vectors.x86_64"))
    lines = exported(path, "lackey").decode().split("\n")[:-1]
    same_lines(in_bytes(lines), in_bytes(of_lackey(
        t.guest("vectors.x86_64"))))


def as_din():
    """Words of 4 bytes, in the order of the accesses."""
    path, _ = record("din.trace", t.guest("rep.x86_64"))
    expected = []
    for line in exported(path, "lackey").decode().split("\n")[:-1]:
        address, size = line[3:].split(",")
        first, last = int(address, 16), int(address, 16) + int(size) - 1
        for label in {"I": "2", "L": "0", "S": "1", "M": "01"}[line[:2].strip()]:
            expected += [f"{label} {first:x}"]
            expected += [f"{label} {word:x}" for word in
                         range((first | 3) + 1, last + 1, 4)]
    same_lines(exported(path, "din").decode().split("\n")[:-1], expected)


def kind_of_branch(changes, reads):
    """The kind as ChampSim finds it out (its inc/instruction.h): 6 is the stack
    pointer, 25 the flags, 26 the instruction pointer."""
    other = any(r not in (0, 6, 25, 26) for r in reads)
    if 26 not in changes:
        return None
    if 6 not in reads and 25 not in reads and not other:
        return "jump"
    if 6 not in reads and 26 not in reads and 25 not in reads:
        return "indirect"
    if 6 not in reads and 26 in reads and 6 not in changes:
        return "conditional"
    if 6 in reads and 26 in reads and 6 in changes and 25 not in reads:
        return "indirect call" if other else "call"
    return "return" if 6 in reads and 6 in changes else "other"


def as_champsim():
    """A plain reader of the documented layout: addresses as in lackey's lines,
    and as many branches of each kind as are counted. (ChampSim itself is not
    run.)"""
    path, _ = record("champ.trace", t.guest("args.x86_64"))
    data = exported(path, "champsim")
    records = list(struct.iter_unpack("<Q2B2B4B2Q4Q", data))
    lines = exported(path, "lackey").decode().split("\n")[:-1]
    t.equal([r[0] for r in records],
            [int(line[3:].split(",")[0], 16) for line in lines
             if line[0] == "I"], "addresses")
    kinds = collections.Counter(kind_of_branch(r[3:5], r[5:9])
                                for r in records)
    live, _, _ = counted("-m", "zen4", "--", path)
    t.equal(kinds["other"], 0, str(kinds))
    t.equal(kinds["conditional"], live["ex_ret_cond"], str(kinds))
    t.equal(kinds["return"], live["ex_ret_near_ret"], str(kinds))
    far = live["ex_ret_brn_far"]  # system calls, no branches in the records
    t.equal(sum(r[1] for r in records), live["ex_ret_brn"] - far, "branches")
    t.equal(sum(r[2] for r in records), live["ex_ret_brn_tkn"] - far, "taken")
    for at, (mark, first, count) in enumerate((("L", 11, 4), ("S", 9, 2))):
        made = {int(line[3:].split(",")[0], 16) >> 6 for line in lines
                if line[1] in (mark, "M")}
        t.equal({a >> 6 for r in records for a in r[first:first + count] if a},
                made, f"lines of accesses {at}")


def exports_of_all():
    """Delay slots, windows and programs that end early are no trouble."""
    for isa, name in (("sparc64", "annul"), ("mips64", "likely"),
                      ("riscv64", "args"), ("aarch64", "arrays")):
        path, _ = record(f"{name}.{isa}.trace", t.guest(f"{name}.{isa}"))
        instructions = exported(path, "lackey").count(b"\nI") + 1
        t.equal(len(exported(path, "champsim")), 64 * instructions, isa)
    done = trace("export", "--as", "lackey", path, "-o", path)
    t.equal(done.returncode, 2, done.stderr)
    t.contains(done.stderr, "would replace the trace itself")
    for words, line in ((["--as", "lackie"], "did you mean lackey?"),
                        ([], "there are lackey, din or champsim")):
        done = trace("export", *words, path)
        t.equal(done.returncode, 2, done.stderr)
        t.contains(done.stderr, line)
    done = trace("export", "--as", "din", "-o", "/dev/full", path)
    t.equal(done.returncode, 125, done.stderr)
    t.contains(done.stderr, "/dev/full: No space left on device")


for arch, programs in PROGRAMS.items():
    for each in programs:
        t.case(f"live and trace: {each} of {arch}",
               functools.partial(equal_to_live, arch, each))
t.case("neither QEMU nor the program", without_anything)
t.case("threads and their turns", threads_told)
t.case("a record of a trace of threads", threads_recorded)
t.case("settings and sweeps of a trace", settings)
for arch in ("x86_64", "sparc64", "mips64", "aarch64", "riscv64"):
    t.case(f"a record of a trace: {arch}",
           lambda arch=arch: recorded(arch, "thrown"
                                      if arch in ("x86_64", "sparc64")
                                      else "arrays"))
t.case("a record of a trace: shared libraries",
       lambda: recorded("x86_64", "objects.dyn"))
t.case("parts of a run", parts)
t.case("a program that was replaced since", replaced)
t.case("objects of a trace", with_objects)
t.case("tally memory of a trace", memory_of_traces)
t.case("tally memory of a trace of threads", memory_of_threads)
t.case("curves of a trace", curves)
t.case("reports of a part of a trace", partial_reports)


t.case("huge pages of a trace", huge_pages)
t.case("info and verify", shown)
t.case("traces that end before their programs", ends_before)
t.case("a recording that is killed", killed)
t.case("damaged, newer and foreign files", bad_files)
t.case("a trace that is damaged late", damaged_late)
t.case("files of earlier schemas", kept_samples)
t.case("a limit of the size of files", limited)
def goes_on():
    """A program that had failed, or a machine that cannot count the trace, ends
    no other machine's counting."""
    path, _ = record("failed.trace", t.guest("crash.x86_64"), status=2)
    done = trace("replay", "-m", "zen4,r12000,skylake", "-e", "instructions",
                 path)
    t.equal(done.returncode, 2, done.stderr)
    for machine in ("zen4", "skylake"):
        t.contains(done.stderr, f"on {machine}, emulated")
    t.contains(done.stderr, "--foreign")
    # Reports come in the order of the names, however long each takes.
    names = ["skylake", "ci-1", "zen4", "ci-1"]
    done = trace("replay", "-m", ",".join(names), "-e", "instructions", path)
    t.equal(re.findall(r" on (\S+), emulated", done.stderr), names)


t.case("exports as lackey, beside lackey", as_lackey)
t.case("exports as din", as_din)
t.case("exports as ChampSim", as_champsim)
t.case("exports of all architectures, and refusals", exports_of_all)
t.case("what is refused", refused)
t.case("several machines, of which one cannot", goes_on)
t.main()
