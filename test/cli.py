#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line: cli.py BUILD [WORD], cli.py --refresh BUILD

cli/lines.txt has a case a line: the arguments of tally (behind VARIABLE=VALUE
ones), the exit status, and texts that must be there:
  ERR text   stderr is this one line (it holds the text); stdout is empty
  SAYS text  stderr holds the text
  OUT text   stdout holds the text
{hello} is a sparc64 program, {hello86} an x86-64 one, {d} a folder of files
that are no programs. SCREENS are whole outputs, kept in test/cli/;
--refresh writes them anew.
"""
import contextlib
import csv
import functools
import json
import os
import pathlib
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import tallytest as t

HERE = t.ROOT / "test" / "cli"

SCREENS = {
    "help": "--help",
    "count-help": "count --help",
    "perfex-help": "perfex --help",
    "perfex-tables": "perfex -T",
    "list-help": "list --help",
    "at-help": "at --help",
    "show-help": "show --help",
    "doctor-help": "doctor --help",
    "calibrate-help": "calibrate --help",
    "profile-help": "profile --help",
    "record-help": "record --help",
    "report-help": "report --help",
    "memory-help": "memory --help",
    "locks-help": "locks --help",
    "diff-help": "diff --help",
    "pmu-help": "pmu --help",
    "list": "list",
    "list-fake": "list -m fake",
    "list-fake-long": "list -m fake -v",
    "list-fake-json": "list -m fake -j",
    "list-fake-machine-json": "list machines -m fake -j",
    "list-fake-metrics": "list metrics -m fake",
    "list-fake-metrics-long": "list metrics -m fake -v",
    "list-fake-metrics-json": "list metrics -m fake -j",
    "list-fake-registers": "list registers -m fake",
    "list-fake-registers-long": "list registers -m fake -v control",
    "list-fake-registers-json": "list registers -m fake -j",
    "list-fake-signals": "list signals -m fake",
    "show-fake": "show -v fake",
    "show-fake-short": "show fake",
    "show-fake-event": "show -m fake Misses",
    "show-fake-umask": "show -m fake Misses.STORE:mesi=ME",
    "show-fake-register": "show -m fake CTL",
    "show-fake-address": "show -m fake CACHE0_CTL",
    "show-fake-metric": "show -m fake odd",
    "show-fake-unit": "show -m fake cache",
    "show-fake-group": "show -m fake sl:2",
    "summarize-help": "summarize --help",
    "summarize-t1": "summarize {s}/t1.csv",
    "summarize-t1-teja": "summarize --format teja {s}/t1.csv",
    "summarize-t1-json": "summarize -j --by core -M ipc {s}/t1.csv",
    "summarize-t2": "summarize --by all --skip 1 --freq 1.4G {s}/t2.csv",
    "summarize-t2-teja": "summarize --format teja {s}/t2.csv",
    "summarize-t2-csv": "summarize --format csv {s}/t2.csv",
    "decode": "decode -m montecito PMC5=0x620edd09 PMC6=0x2030012",
    "decode-t4": "decode -m sparc-t4 PCR1=0x18b4",
    "count-text": "count -e all {g}/window.sparc64",
    "count-accounting": "count -m ultrasparc-t2 --accounting "
                        "{g}/window.sparc64",
    "count-csv": "count -x, -e all {g}/window.sparc64",
    "count-json": "count -j -e All_instr,AES_OP,cycles {g}/window.sparc64",
    "count-repeat": "count -r 3 -e All_instr,cycles {g}/window.sparc64",
    "count-threads": "count --per-thread -e All_instr {g}/window.sparc64",
}

# What differs from run to run or place to place.
FILTERS = [
    (re.compile(r'("(?:wall_s|user_s|sys_s)": )[\d.e-]+'), r"\1TIME"),
    (re.compile(r'("(?:enabled|running|pid)": )\d+'), r"\1NUMBER"),
    (re.compile(r",\d+(,100\.00,)"), r",NS\1"),
    (re.compile(r" +[\d.]+ s wall( \( \+- [\d.]+ % \))? .*"), " TIMES"),
    (re.compile(r"# +[\d.]+ M a second of wall time"), "# SPEED"),
    (re.compile(r" +[\d.]+ M instructions a second of"), " SPEED of"),
    (re.compile(r"\(pid \d+\)"), "(pid NUMBER)"),
    # How many rows each machine has changes with data/; their columns stay.
    (re.compile(r"^  [a-z][\w-]+ +\d+ +\d+ +\d+  (?=[A-Z])", re.M),
     lambda row: re.sub(r" \d+ ", lambda n: "N ".rjust(len(n[0])), row[0])),
]

folder = None


def make_files(d):
    """Files that are no programs, and a few good for nothing."""
    elf = bytearray(64)
    elf[:7] = b"\x7fELF\2\1\1"
    elf[16:20] = bytes((2, 0, 21, 0))
    mips = bytearray(64)
    mips[:7] = b"\x7fELF\2\2\1"
    mips[16:20] = bytes((0, 2, 0, 8))
    n32, release6 = bytearray(mips), bytearray(mips)
    n32[4] = 1
    release6[48] = 0xa0
    object_file = bytearray(elf)
    object_file[16:20] = bytes((1, 0, 62, 0))
    files = {"junk": b"neither\n" * 20, "short": b"\x7fE", "empty": b"",
             "power": elf, "object": object_file, "n32": n32,
             "release6": release6,
             "loop": f"#!{d}/loop\n".encode(), "lost": b"#!/no/such\n"}
    for name, content in files.items():
        (d / name).write_bytes(content)
        (d / name).chmod(0o755)
    shutil.copy(HERE / "wrong.pmu", d)
    shutil.copy(HERE / "loops.pmu", d)
    (d / "long.pmu").write_text(
        "machine r10000\nfor i in 1\n" + "read CNT0\n" * 4096
        + "for j in 1\nend\nend\nread CNT0 = 0\n")
    (d / "signals.pmu").write_text(
        "machine montecito\nsignal CPU_OP_CYCLES\nsignal CPU_OP_CYCLES.ANY\n"
        "signal NOPS_RETIRED.ALL\nsignal +\nsignal NOPS_RETIRED+\n"
        "machine r10000\nsignal 0:0+2:0\n")
    (d / "half.pmu").write_text(
        "machine montecito\nmode sp=1 bogus=1\nmode sp=1 cpl=4\n"
        "mode sp = 0\n")
    (d / "twice.pmu").write_text(
        "machine montecito\nread PMC4 @user @priv\n"
        "read PMC4 strand 0 strand 1\nread PMC4 @user strand 1\n")
    (d / "bytes.pmu").write_bytes(b"machine r10000\nread CNT0 = \xff\x01\n")
    (d / "nothing.pmu").write_text("# a remark alone\n")
    (d / "capitals.pmu").write_text("MACHINE R10000\nREAD cnt0\n")
    (d / "right.pmu").write_text("machine r10000\nwrite CNT0 1 = ok\n")
    (d / "nomachine.pmu").write_text("read CNT0\n")
    (d / "plain").write_bytes(b"\x7fELF")
    (d / "plain").chmod(0o644)
    (d / "text").write_text("text")
    (d / "newer.data").write_bytes(b"TALLYREC" + bytes((99, 0, 0, 0, 1, 0, 0, 0)))
    (d / "headless.data").write_bytes(
        b"TALLYREC" + bytes((1, 0, 0, 0, 1, 0, 0, 0)))


def names():
    return {"hello": t.guest("hello.sparc64"), "d": str(folder),
            "hello86": t.guest("hello.x86_64"), "g": t.guest(""),
            "s": t.source("test", "dump")}


def run_words(words, **how):
    """Runs tally; VARIABLE=VALUE words in front change its environment."""
    env = dict(os.environ)
    while words and re.match(r"[A-Z0-9_]+=", words[0]):
        key, _, env[key] = words[0].partition("=")
        words = words[1:]
    return t.run(t.tally(), *words, env=env, **how)


def one_line(text):
    t.equal(text.count("\n"), 1, f"lines of {text!r}")
    assert text.startswith("tally"), f"{text!r} does not begin with 'tally'"


def check(done, test):
    kind, _, value = test.partition(" ")
    value = value.format(**names())
    if kind == "EXIT":
        t.equal(done.returncode, int(value), f"status; {done.stderr!r}")
    elif kind == "ERR":
        one_line(done.stderr)
        t.contains(done.stderr, value)
        t.equal(done.stdout, "", "stdout")
    elif kind in ("SAYS", "OUT"):
        t.contains(done.stderr if kind == "SAYS" else done.stdout, value)
    else:
        raise ValueError(test)


def line_case(line):
    args, *tests = line.split(" | ")
    before = set(folder.iterdir())
    done = run_words(shlex.split(args.format(**names())))
    for test in tests:
        check(done, test)
    t.equal(set(folder.iterdir()), before, "files left behind")


# Screens

def screen(args):
    done = run_words(shlex.split(args.format(**names())))
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    text = (done.stdout or done.stderr).replace(names()["g"], "GUESTS")
    for pattern, word in FILTERS:
        text = pattern.sub(word, text)
    return text


def golden(name):
    return HERE / f"{name}.expected"


def screen_case(name, args):
    got, path = screen(args), golden(name)
    wanted = path.read_text() if path.exists() else ""
    if got != wanted:
        lines = zip(got.splitlines() + [""], wanted.splitlines() + [""])
        first = next((pair for pair in lines if pair[0] != pair[1]),
                     ("a longer screen", "or a shorter one"))
        raise AssertionError(f"{path.name}: {first[0]!r}, not {first[1]!r}; "
                             "test/cli.py --refresh BUILD writes it anew")


def refresh():
    for name, args in SCREENS.items():
        golden(name).write_text(screen(args))


# Streams

def full(args):
    with open("/dev/full", "w") as sink:
        done = t.run(t.tally(), *args, stdout=sink, stderr=subprocess.PIPE)
    t.equal(done.returncode, 125, "status")
    one_line(done.stderr)
    t.contains(done.stderr, "No space left on device")


for words in ("list", "--help", "--version", "show ultrasparc-t2",
              "count --help", "list events --format json", "doctor"):
    t.case(f"tally {words} >/dev/full", full, words.split())


@t.named("report to a full stderr: status 125")
def full_stderr():
    for form in ("text", "csv", "json"):
        with open("/dev/full", "w") as sink:
            done = t.run(t.tally(), "count", "--format", form,
                         t.guest("hello.sparc64"), stdout=subprocess.PIPE,
                         stderr=sink)
        t.equal((done.returncode, done.stdout), (125, "hello\n"), form)


def undivided(words):
    """encode names tally plan exactly where that would do."""
    divided = t.run(t.tally(), "plan", *words).returncode == 0
    done = t.run(t.tally(), "encode", *words)
    t.equal(done.returncode, 2, "status")
    one_line(done.stderr)
    t.equal("tally plan divides them" in done.stderr, divided, done.stderr)


for words in ("-m ultrasparc-t2plus cycles Idle_strands",
              "-m montecito L1D_READS_SET0 L1D_READS_SET1",
              "-m montecito {L1D_READS_SET0,L1D_READS_SET1}",
              "-m ultrasparc-t2 ITLB_miss Dcache_misses DTLB_miss"):
    t.case(f"encode {words}: as plan has it", undivided, words.split())


@t.named("the page that show names is there, of every machine")
def pages():
    rows = json.loads(t.run(t.tally(), "list", "machines", "-j").stdout)
    for row in rows["machines"]:
        text = t.run(t.tally(), "show", row["name"]).stdout
        [page] = re.findall(r"^  page +(\S+)$", text, re.MULTILINE)
        assert pathlib.Path(t.source(page)).is_file(), page
        assert len(text.splitlines()) < 30, f"{row['name']}: a long screen"


# Examples

def fed_by(command):
    """What comes out of it, to be read."""
    return subprocess.Popen(["sh", "-c", command],
                            stdout=subprocess.PIPE).stdout


@functools.cache
def a_record(command):
    """The bytes of a record that the command reads."""
    option = {"memory": "--why", "locks": "--locks"}.get(command)
    words = ([t.guest("hello.sparc64")] if option is None else
             [option, "-m", "host-model", t.guest("hello.x86_64")])
    with tempfile.TemporaryDirectory() as folder:
        t.run(t.tally(), "record", "-q", *words, cwd=folder, check=True)
        return pathlib.Path(folder, "tally.data").read_bytes()


def a_repository(folder):
    """Two commits of a program in C: v1.2, and one that executes more."""
    for turns in (1000, 50000):
        pathlib.Path(folder, "program.c").write_text(
            "volatile int sum;\nint main(void)\n{\n"
            f"    for (int i = 0; i < {turns}; i++)\n        sum += i;\n"
            "    return 0;\n}\n")
        pathlib.Path(folder, "Makefile").write_text(
            "program: program.c\n\tgcc -O1 -o $@ $<\n")
        git = ("git", "-C", folder, "-c", "user.name=N", "-c",
               "user.email=a@b", "-c", "commit.gpgsign=false")
        for words in (("init", "-q"), ("add", "program.c", "Makefile"),
                      ("commit", "-q", "-m", f"{turns} turns"),
                      ("tag", "v1.2") if turns == 1000 else ("status",)):
            t.run(*git, *words, check=True)


def serve(words, folder):
    """Serves at a free port of loopback, whatever the example has, and ends that."""
    os.mkdir(pathlib.Path(folder, "results"))
    process = subprocess.Popen([*words, "--listen", "127.0.0.1:0"], cwd=folder, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    line = process.stdout.readline()
    process.terminate()
    said = process.communicate()[1]
    if "built without libmicrohttpd" not in said:
        t.equal((process.returncode, line.startswith("http://")), (0, True), said)


def example(words, stdin, folder):
    """The guest stands for the program, where there is one. The commands that
    read a record or a trace find one under each name that the words have, tally check a
    benchmark with its baseline and a folder with its report, and tally bisect a repository.
    tally calibrate measures a processor that is arithmetic, for a home of its own.
    Of tally validate a part runs that takes no minutes."""
    env = dict(os.environ)
    if words[1] == "validate":
        words = [*words, "--part", "d", "-m", "montecito"]
    if words[1] == "bisect":
        a_repository(folder)
    elif words[1] == "calibrate":
        words = [str(t.build / "test" / "calibrate-made"), "-q", *words[2:]]
        env["XDG_CONFIG_HOME"] = folder
        del env["TALLY_HOST_MODEL"]
    elif "--" in words:
        before = words[:words.index("--") + 1]
        isa = ("x86_64" if words[1] in ("sweep", "curve") else
               "mips64" if any(".mips64" in w for w in words) else "sparc64")
        # tally profile runs programs that mark points.
        name = "pktproc." if "profile" in words else "hello."
        words = [*before, t.guest(name + isa)]
    # tally memory, locks, at and teach run programs on host-model.
    isa = ("x86_64" if words[1] in ("memory", "locks", "at", "teach")
           else "sparc64")
    if words[1] != "bisect":
        words = [t.guest(f"hello.{isa}") if w == "./program" else w
                 for w in words]
    if words[1] in ("annotate", "diff", "export", "locks", "memory",
                    "report"):
        for name in ("tally.data", *(w for w in words if w.endswith(".data"))):
            pathlib.Path(folder, name).write_bytes(a_record(words[1]))
    if "a.trace" in words and "record" not in words:
        t.run(t.tally(), "trace", "record", "-q", "--objects", "-o", "a.trace",
              "--",
              t.guest("hello.x86_64"), cwd=folder, check=True)
    if "lackey.txt" in words:
        pathlib.Path(folder, "lackey.txt").write_text("I  401000,3\n L 7000,8\n")
    if words[1] == "check" and "--" not in words:
        pathlib.Path(folder, "tally.toml").write_text(
            f"[benchmark.hello]\ncommand = ['{t.guest('hello.sparc64')}']\n")
        t.run(t.tally(), "check", "--update", cwd=folder, check=True)
        if "--history" in words:
            os.mkdir(pathlib.Path(folder, "reports"))
            t.run(t.tally(), "check", "--format", "json", "-o",
                  "reports/1.json", cwd=folder, check=True)
    if "counts.json" in words:
        t.run(t.tally(), "count", "-j", "-o", "counts.json", t.guest("hello.sparc64"),
              cwd=folder, check=True)
    if words[1] == "serve":
        serve(words, folder)
        return
    done = t.run(*words, stdin=stdin, cwd=folder, env=env)
    written = os.listdir(folder)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    # The report of tally at goes to standard error.
    assert done.stdout or written or words[1] == "at" and done.stderr, (
        "no output")


@t.named("every example that --help prints works")
def examples():
    commands = re.findall(r"^  (\w+)  ", t.run(t.tally(), "--help").stdout,
                          re.MULTILINE)
    for command in commands:
        text = t.run(t.tally(), command, "--help").stdout
        lines = text.partition("\nexamples:\n")[2].splitlines()
        said = [line.startswith("  # ") for line in lines]
        assert 4 <= len(lines) <= 8, f"tally {command}: {lines}"
        t.equal(said, [True, False] * (len(lines) // 2), "lines that say why")
        for line in lines[1::2]:
            before, bar, after = line.rpartition(" | ")
            with tempfile.TemporaryDirectory() as folder:
                for part in after.split(" && "):
                    name, *words = shlex.split(part)
                    t.equal(name, "tally", "the command")
                    example([t.tally(), *words],
                            fed_by(before) if bar else subprocess.DEVNULL,
                            folder)


@t.named("every example of tally(1) works")
def page_examples():
    page = pathlib.Path(t.source("man", "tally.1.in")).read_text()
    lines = re.findall(r"^\.nf\n(.*)\n\.fi$", page, re.MULTILINE)
    assert 2 <= len(lines) <= 4, lines
    for line in lines:
        name, *words = shlex.split(line)
        t.equal(name, "tally", "the command")
        with tempfile.TemporaryDirectory() as folder:
            example([t.tally(), *words], subprocess.DEVNULL, folder)


def broken_pipe():
    read, write = os.pipe()
    os.close(read)
    return open(write, "w")


@t.named("report to a closed pipe: a silent death")
def closed_report():
    with broken_pipe() as pipe:
        for words in (("count",), ("count", "-j"), ("count", "-x,"),
                      ("count", "-m", "host-model", "--foreign"),
                      ("perfex", "-e", "15", "-m", "r12000", "--foreign")):
            done = t.run(t.tally(), *words, t.guest("hello.sparc64"),
                         stdout=subprocess.PIPE, stderr=pipe)
            t.equal((done.returncode, done.stdout),
                    (-signal.SIGPIPE, "hello\n"), f"status, output: {words}")


@t.named("report to a pipe's file that is closed early: a silent death")
def closed_fifo():
    with tempfile.TemporaryDirectory() as d:
        os.mkfifo(f"{d}/fifo")
        reader = subprocess.Popen(["head", "-c1", f"{d}/fifo"],
                                  stdout=subprocess.DEVNULL)
        done = t.run(t.tally(), "count", "-e", "all", "-I", 1, "-o",
                     f"{d}/fifo", t.guest("spin.sparc64"), 100000000)
        reader.wait()
    t.equal((done.returncode, done.stderr), (-signal.SIGPIPE, ""),
            "status, stderr")


@t.named("a FIFO as the program is refused; nobody waits for its writer")
def fifo_program():
    with tempfile.TemporaryDirectory() as d:
        fifo = f"{d}/fifo"
        os.mkfifo(fifo, 0o777)
        os.chmod(fifo, 0o777)
        for command in ("count -m host-model", "count -m host",
                        "perfex -e 0", "count"):
            done = t.run(t.tally(), *command.split(), "--", fifo)
            t.equal(done.returncode, 126, f"{command}: {done.stderr}")
            t.equal(len(done.stderr.splitlines()), 1, done.stderr)
        done = t.run(t.tally(), "count", t.guest("busybox.sparc64"), "sh",
                     "-c", fifo)
        t.equal(done.returncode, 126, f"in a guest: {done.stderr}")


@t.named("a FIFO that nobody writes or reads is refused; a written one is read")
def lone_fifos():
    hello = t.guest("hello.x86_64")
    count = ("count", "-m", "host-model", "-e", "instructions")
    with tempfile.TemporaryDirectory() as d:
        fifo = f"{d}/fifo"
        os.mkfifo(fifo)
        os.chmod(fifo, 0o777)
        for status, *words in (
                (2, "pmu", fifo), (2, "summarize", fifo),
                (2, "summarize", "--locations", fifo, "/dev/null"),
                (2, "summarize", "--recover", fifo),
                (125, "diff", fifo, fifo),
                (2, *count, "--qemu", fifo, hello),
                (2, *count, "-o", fifo, hello),
                (2, "record", "-e", "instructions", "-o", fifo, hello),
                (2, "memory", "--record", fifo, hello)):
            done = t.run(t.tally(), *words, timeout=60)
            t.equal(done.returncode, status, f"{words}: {done.stderr}")
            t.equal(len(done.stderr.splitlines()), 1, done.stderr)
            if "-o" in words:
                t.contains(done.stderr, f"cannot write {fifo}: it is a pipe "
                           "that nobody reads; start its reader first, or name "
                           "another file")
            if "--record" in words:
                t.contains(done.stderr, "takes a regular file")
        script = 'echo dump PCR | "$0" pmu -m sparc-t4 /dev/stdin; ' \
            '"$0" pmu -m sparc-t4 <(sleep 0.1; echo dump PCR)'
        done = t.run("bash", "-c", script, t.tally(), fifo)
        t.equal((done.returncode, done.stderr), (0, ""), "status, stderr")
        lines = done.stdout.splitlines()
        half = len(lines) // 2
        assert half > 0 and lines == 2 * lines[:half], done.stdout


@t.named("a stack that is too small is refused in one line")
def small_stack():
    done = t.run("sh", "-c", 'ulimit -s 64; "$0" --version', t.tally())
    t.equal((done.returncode, done.stderr),
            (125, "tally: the stack is limited to 64 KiB and tally needs 2048: "
                  "ulimit -s 2048\n"), "64 KiB")
    done = t.run("sh", "-c", 'ulimit -s 2048; exec "$@"', "sh", t.tally(),
                 "count", "-m", "ultrasparc-t2", "-e", "all", "--per-process",
                 "--", t.guest("hello.sparc64"))
    t.equal((done.returncode, done.stdout), (0, "hello\n"), done.stderr)


@t.named("tally record: an output that cannot be opened is status 2")
def record_refused():
    words = (os.path.abspath(t.tally()), "record", "-e", "instructions",
             os.path.abspath(t.guest("hello.x86_64")))
    with tempfile.TemporaryDirectory() as d:
        os.mkdir(f"{d}/tally.data")
        done = t.run(*words, cwd=d)
        t.equal(done.returncode, 2, done.stderr)
        os.rmdir(f"{d}/tally.data")
        for name in ("tally.data", "tally.data.old"):
            pathlib.Path(d, name).write_text("precious")
        done = t.run(*words, cwd=d)
        t.equal(done.returncode, 2, done.stderr)


@t.named("no command writes its output over the program that it is to run")
def program_spared():
    rows = (("count", "-m", "host-model", "-o"), ("count", "-o"),
            ("perfex", "-m", "r10000", "--foreign", "-o"), ("profile", "-o"),
            ("record", "-o"), ("memory", "-o"), ("memory", "--html"),
            ("memory", "--record"), ("locks", "-o"), ("locks", "--record"),
            ("at", "--miss", 1, "-o"), ("teach", "-o"), ("check", "-o"))
    with tempfile.TemporaryDirectory() as d:
        program = pathlib.Path(d, "hello")
        shutil.copy(t.guest("hello.x86_64"), program)
        before = program.read_bytes()
        path = os.environ | {"PATH": f"{d}:{os.environ['PATH']}"}
        for words in rows:
            for name in (program, "hello"):
                done = t.run(os.path.abspath(t.tally()), *words,
                             "../" + os.path.basename(d) + "/hello", "--", name,
                             cwd=d, env=path)
                t.equal((done.returncode, done.stdout), (2, ""),
                        f"{words}: {done.stderr!r}")
                t.equal(done.stderr, f"tally {words[0]}: {words[-1]} ../"
                        f"{os.path.basename(d)}/hello would replace the program "
                        "that is to run\n", "stderr")
                t.equal(program.read_bytes() == before, True, "the program")


@t.named("no command writes its output over the record that it reads")
def record_spared():
    with tempfile.TemporaryDirectory() as d:
        record = pathlib.Path(d, "tally.data")
        t.run(os.path.abspath(t.tally()), "record", "-q", "--",
              os.path.abspath(t.guest("hello.x86_64")), cwd=d, check=True)
        before = record.read_bytes()
        for words in (("report", "-o"), ("report", "--html"),
                      ("annotate", "-o"), ("export", "--as", "folded", "-o"),
                      ("memory", "-o"), ("locks", "-o")):
            done = t.run(os.path.abspath(t.tally()), *words, "tally.data",
                         cwd=d)
            t.equal((done.returncode, done.stderr),
                    (2, f"tally {words[0]}: {words[-1]} tally.data would "
                     "replace the record itself\n"), str(words))
            t.equal(record.read_bytes() == before, True, "the record")


@t.named("tally pmu: what follows a byte 0 in a line is not passed over")
def pmu_byte_0():
    with tempfile.NamedTemporaryFile() as script:
        script.write(b"machine sparc-t4\nread pcr = 0\0 expect 1\n")
        script.flush()
        done = t.run(t.tally(), "pmu", script.name)
    t.equal(done.returncode, 1, "status")
    t.equal(done.stderr.splitlines(),
            [f"tally pmu: {script.name}:2: a byte 0 is in the line; a line is "
             "text up to its end"], "stderr")


def each_machine(words, name, between):
    """Without -m the screens of all machines that have the name."""
    machines = json.loads(t.run(t.tally(), "list", "machines", "-j").stdout)
    screens = []
    for machine in machines["machines"]:
        done = t.run(t.tally(), *words, "-m", machine["name"], name)
        if done.returncode == 0:
            screens.append(done.stdout)
    whole = t.run(t.tally(), *words, name).stdout
    t.equal(whole.splitlines(), between.join(screens).splitlines(), "screen")
    if len(screens) < 2:
        raise AssertionError(f"{len(screens)} machines have {name}")


for words, name, between in (("list", "miss", "\n"),
                             ("show", "Dcache_misses", "\n\n"),
                             ("show", "AES_OP", "\n\n")):
    t.case(f"{words} {name}: machine by machine", each_machine, [words], name,
           between)


def closed_pipe(words):
    with broken_pipe() as pipe:
        done = t.run(t.tally(), *words, stdout=pipe, stderr=subprocess.PIPE)
    t.equal((done.returncode, done.stderr), (-signal.SIGPIPE, ""),
            "status, stderr")


for words in ("list events", "list events -j", "show montecito", "--help",
              "decode -m sparc-t4 PCR0=0", "encode -j -m sparc-t4 Branches"):
    t.case(f"tally {words} into a closed pipe: a silent death", closed_pipe,
           words.split())


@t.named("a program that writes into a closed pipe dies of it")
def closed_program():
    with broken_pipe() as pipe:
        done = t.run(t.tally(), "count", "-j", t.guest("hello.sparc64"),
                     stdout=pipe, stderr=subprocess.PIPE)
    t.equal(done.returncode, 128 + signal.SIGPIPE, "status")


@t.named("stdin, stdout and stderr are the program's")
def streams():
    text = pathlib.Path(t.source("LICENSES", "MIT.txt"))
    with tempfile.TemporaryDirectory() as d, open(text) as stdin:
        done = t.run(t.tally(), "count", "-o", f"{d}/r",
                     t.guest("words.sparc64"), "/dev/stdin", stdin=stdin)
    t.equal((done.returncode, done.stderr), (0, ""), "status, stderr")
    t.contains(done.stdout, " the\n")


@t.named("stderr closed from the start")
def no_stderr():
    done = t.run("sh", "-c", 'exec "$@" 2>&-', "sh", t.tally(), "count",
                 t.guest("hello.sparc64"))
    t.equal((done.returncode, done.stdout), (125, "hello\n"), "status, output")


# Report files

@contextlib.contextmanager
def report_folder():
    with tempfile.TemporaryDirectory() as d:
        yield pathlib.Path(d)


@t.named("pmu: rows with errors are steps of a loop")
def bad_rows():
    with report_folder() as d:
        (d / "rows.pmu").write_text("for a in 0..9999\nfor i j in\n"
                                    + "1\n" * 20 + "do\nend\nend\n")
        done = t.run(t.tally(), "pmu", "-m", "r10000", d / "rows.pmu")
    t.equal(done.returncode, 1, "status")
    t.equal(len(done.stderr.splitlines()) <= 16385, True, "a message a step")
    t.contains(done.stderr, "carries out at most 16384 lines")


@t.named("-o FILE appears whole, replaces, leaves nothing else")
def replaces():
    with report_folder() as d:
        report = d / "report"
        report.write_text("the old one")
        command = [t.tally(), "count", "-j", "-o", str(report),
                   t.guest("waiter.sparc64")]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        t.equal(process.stdout.readline(), "ready\n", "the program's word")
        t.equal(report.read_text(), "the old one", "report while running")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60 * t.MINUTES)
        t.equal(process.returncode, 7, "status")
        t.equal(json.loads(report.read_text())["schema"], 1, "schema")
        t.equal([p.name for p in d.iterdir()], ["report"], "files")


@t.named("a failure leaves an old report as it is")
def keeps():
    with report_folder() as d:
        report = d / "report"
        report.write_text("the old one")
        for program in (str(d / "nothere"), "/tmp"):
            done = t.run(t.tally(), "count", "-o", report, program)
            one_line(done.stderr)
        t.run(t.tally(), "count", "-o", report, "--qemu", "/bin/true",
              t.guest("hello.sparc64"))
        t.equal(report.read_text(), "the old one", "report")
        t.equal([p.name for p in d.iterdir()], ["report"], "files")


@t.named("--append adds")
def appends():
    with report_folder() as d:
        for _ in range(2):
            t.run(t.tally(), "count", "-x,", "--append", "-o", d / "r", "-e",
                  "All_instr,cycles", t.guest("window.sparc64"))
        rows = (d / "r").read_text().splitlines()
    t.equal(len(rows), 4, "rows")
    t.equal([r.split(",")[0] for r in rows[:2]],
            [r.split(",")[0] for r in rows[2:]], "counts")


@t.named("-o follows a link and keeps it")
def link():
    with report_folder() as d:
        (d / "target").write_text("old")
        (d / "link").symlink_to("target")
        t.run(t.tally(), "count", "-x,", "-e", "cycles", "-o", d / "link",
              t.guest("window.sparc64"))
        assert (d / "link").is_symlink(), "the link became a file"
        t.contains((d / "target").read_text(), "cycles")


@t.named("too few descriptors to read QEMU are not a QEMU without plugins")
def few_descriptors():
    done = t.run("sh", "-c", 'ulimit -n 4; exec "$@"', "sh", t.tally(), "count",
                 t.guest("window.sparc64"))
    t.equal(done.returncode, 125, "status")
    t.contains(done.stderr, "Too many open files")


@t.named("-o /dev/stdout and /dev/null")
def devices():
    done = t.run(t.tally(), "count", "-x,", "-e", "cycles", "-o",
                 "/dev/stdout", t.guest("window.sparc64"))
    t.contains(done.stdout, ",cycles,")
    done = t.run(t.tally(), "count", "-o", "/dev/null",
                 t.guest("window.sparc64"))
    t.equal((done.returncode, done.stdout, done.stderr), (0, "", ""), "all")


# Forms

FIELDS = {"schema", "machine", "program", "status", "strands", "events",
          "wall_s", "modelled_s"}
EVENT_FIELDS = {"name", "value", "fidelity", "enabled", "running"}
FIDELITIES = {"exact", "varies", "modelled", "estimated", "partial", "idle"}


def check_event(row):
    t.equal(EVENT_FIELDS - set(row), set(), "missing fields")
    for field in ("value", "enabled", "running"):
        t.equal(type(row[field]), int, f"type of {row['name']} {field}")
    assert row["fidelity"] in FIDELITIES, row
    t.equal("reason" in row, row["fidelity"] == "idle", f"reason of {row}")


@t.named("JSON has the fields of schema 1")
def json_fields():
    c = t.count(["-e", "all"], t.guest("hello.sparc64"), "argument")
    t.equal(FIELDS - set(c.json), set(), "missing fields")
    t.equal(c.json["schema"], 1, "schema")
    t.equal(next(iter(c.json)), "schema", "first field")
    t.equal(c.json["machine"], "ultrasparc-t2", "machine")
    t.equal(c.json["program"], t.guest("hello.sparc64") + " argument",
            "program")
    t.equal(c.json["status"], {"exit": 0}, "status")
    for row in c.json["events"]:
        check_event(row)
    for field in ("wall_s", "modelled_s"):
        assert c.json[field] > 0, field
    t.equal(c.json["strands"][0]["events"], c.values, "the one strand")


DRAM_EVENTS = set(t.table("machines", "ultrasparc-t2",
                          "events-dram.toml")["event"])


@t.named("all 38 events of the T2, and no more by default than 64")
def all_events():
    c = t.count([], t.guest("hello.sparc64"))
    every = t.count(["-e", "all"], t.guest("hello.sparc64"))
    t.same(c.values, {e: every[e] for e in c.values})
    rows = t.table("machines", "ultrasparc-t2", "events.toml")["event"]
    coded = {e for e, row in rows.items()
             if "code" in row and row.get("default", True)}
    t.equal(len(coded), 38, "events with a code")
    t.equal(coded - set(c.values), set(), "events not counted")


@t.named("a foreign program: nothing is exact, in JSON too")
def foreign():
    c = t.count(["-m", "ultrasparc-t2", "--foreign"], t.guest("hello.x86_64"))
    t.equal(c.json["foreign"], True, "foreign")
    assert "exact" not in {e["fidelity"] for e in c.json["events"]}


@t.named("JSON says what is counted, where it is not all of the program")
def scope():
    hello = t.guest("hello.sparc64")
    assert "counted" not in t.count([], hello).json
    for options, wanted in (
            (["--from", "main", "--to", "exit"],
             {"from": "main", "to": "exit"}),
            (["--skip", "1K", "--set", "l1d.size=16K", "--set", "time.taken=0"],
             {"skip": 1000, "set": ["l1d.size=16K", "time.taken=0"]}),
            (["--filter", "code=main", "--filter", "data=0-9"],
             {"filter": ["code=main", "data=0-9"]})):
        t.equal(t.count([*options, "-e", "all"], hello).json["counted"],
                wanted, "counted")


@t.named("a metric that is named twice is reported once")
def metric_twice():
    c = t.count(["-M", "ipc,IPC,cpi"], t.guest("hello.sparc64"))
    t.equal([m["name"] for m in c.json["metrics"]], ["ipc", "cpi"], "metrics")


@t.named("the pinned CPU model is named")
def cpu_named():
    c = t.count([], t.guest("hello.x86_64"))
    done = t.run(t.tally(), "count", "-m", "host-model",
                 t.guest("hello.x86_64"))
    name, *features = c.json["cpu"].split(",")
    t.contains(done.stderr, f"CPU model {name})")
    t.contains(features, "enforce")
    c = t.count(["--cpu-model", "max"], t.guest("hello.x86_64"))
    t.equal(c.json["cpu"], "max", "cpu")


@t.named("the pinned CPU model is x86-64-v3 to libc, and QEMU warns of nothing")
def cpu_level():
    loader = "/lib64/ld-linux-x86-64.so.2"
    if not os.path.exists(loader):
        raise t.Skip(f"no {loader}")
    done = t.run(t.tally(), "count", "-m", "host-model", loader, "--help")
    t.contains(done.stdout, "x86-64-v3 (supported, searched)")
    assert "x86-64-v4 (supported" not in done.stdout, "no AVX-512 in QEMU"
    assert "qemu-" not in done.stderr, done.stderr


@t.named("a QEMU that lacks a feature of its CPU model does not start")
def cpu_enforced():
    done = t.run(t.tally(), "count", "-m", "host-model", "--cpu-model",
                 "Skylake-Server,enforce", t.guest("hello.x86_64"))
    t.equal(done.returncode, 2, "status")
    t.contains(done.stderr, "TCG doesn't support requested feature")


@t.named("names that are not plain: JSON and CSV stay whole")
def odd_names():
    with report_folder() as d:
        for name in ('a "b", c', "tab\tand\\", "n\u00e4h", b"\xff\xfe"):
            path = os.path.join(os.fsencode(d), os.fsencode(name))
            shutil.copy(t.guest("hello.sparc64"), path)
            done = subprocess.run([t.tally(), "count", "-j", path],
                                  capture_output=True)
            t.equal(done.returncode, 0, f"status of {name!r}")
            json.loads(done.stderr)


@t.named("the heading is one line, whatever the arguments hold")
def heading():
    done = t.run(t.tally(), "count", "-e", "All_instr",
                 t.guest("hello.sparc64"), "a\nb", "\033[1mc\t")
    t.contains(done.stderr, r" a b \x1b[1mc  on ultrasparc-t2,")


def csv_rows(*options, **how):
    done = t.run(t.tally(), "count", *options, t.guest("window.sparc64"),
                 **how)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return done.stderr


@t.named("CSV: nine fields, perf's order, the machine's own name last")
def csv_fields():
    for separator in ",;\t|":
        text = csv_rows("-x", separator, "-e", "all")
        rows = list(csv.reader(text.splitlines(), delimiter=separator))
        for row in rows:
            t.equal(len(row), 9, f"fields of {row}")
            t.equal(row[8], row[2], "own name")
            assert row[0].isdigit() and row[3].isdigit(), row
            t.equal((row[4], row[6]), ("100.00", "per instruction"), row[2])
            float(row[5])
            assert row[7] in FIDELITIES, row
    t.equal(csv_rows("--format", "csv", "-e", "window_spills").split(",")[0],
            "140", "first field")


def counts_of(text):
    return [line.split(",")[0] for line in text.splitlines()]


@contextlib.contextmanager
def french():
    """An environment in French, its locale made here where it is not."""
    plain = {k: v for k, v in os.environ.items() if k[:3] != "LC_"}
    if "fr_FR.utf8" in t.run("locale", "-a").stdout.split():
        yield {**plain, "LC_ALL": "fr_FR.UTF-8"}
        return
    with report_folder() as d:
        made = t.run("sh", "-c", "localedef -c -i fr_FR -f UTF-8 "
                     f"{d}/fr_FR.UTF-8").returncode
        if made != 0 or not (d / "fr_FR.UTF-8").exists():
            raise t.Skip("no French locale, and no source to make it from")
        yield {**plain, "LC_ALL": "fr_FR.UTF-8", "LOCPATH": str(d)}


@t.named("French locale: CSV and JSON unchanged")
def in_french():
    with french() as env:
        check_numbers(csv_rows("-x", ",", "-e", "all", env=env),
                      json.loads(csv_rows("-j", "-e", "all", env=env)))


@t.named("a locale that is not there: CSV and JSON unchanged")
def in_no_locale():
    env = {**os.environ, "LC_ALL": "fr_FR.UTF-8"}
    check_numbers(csv_rows("-x", ",", "-e", "all", env=env),
                  json.loads(csv_rows("-j", "-e", "all", env=env)))


def check_numbers(text, document):
    t.equal(counts_of(text), counts_of(csv_rows("-x", ",", "-e", "all")),
            "counts")
    t.equal([str(e["value"]) for e in document["events"]], counts_of(text),
            "counts of CSV and JSON")
    t.equal({line.count(",") for line in text.splitlines()}, {8}, "commas")


# Colour

def on_terminal(*options, **environment):
    """stderr of a run that sees a terminal there."""
    master, slave = pty.openpty()
    env = {**os.environ, **environment}
    t.run(t.tally(), "count", *options, "-e", "AES_OP",
          t.guest("hello.sparc64"), stdout=subprocess.PIPE, stderr=slave,
          env=env)
    os.close(slave)
    chunks = []
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 65536):
            chunks.append(chunk)
    os.close(master)
    return b"".join(chunks).decode()


def coloured(text):
    return "\033[2m" in text


@t.named("colour: on a terminal alone, NO_COLOR, --color wins")
def colour():
    t.equal(coloured(on_terminal()), True, "on a terminal")
    t.equal(coloured(on_terminal(NO_COLOR="1")), False, "NO_COLOR=1")
    t.equal(coloured(on_terminal(NO_COLOR="")), True, "NO_COLOR=''")
    t.equal(coloured(on_terminal("--color", "never")), False, "never")
    t.equal(coloured(on_terminal("--color", "always", NO_COLOR="1")), True,
            "always, NO_COLOR=1")
    for options, wanted in (((), False), (("--color", "always"), True)):
        t.equal(coloured(csv_rows(*options, "-e", "AES_OP")), wanted,
                f"no terminal, {options}")


@t.named("machine forms have no colour")
def no_colour():
    for form in ("csv", "json"):
        text = csv_rows("--color", "always", "--format", form, "-e", "AES_OP")
        assert "\033" not in text, form


@contextlib.contextmanager
def terminal_of(*words):
    """A tally that counts and the terminal that its stderr is."""
    master, slave = pty.openpty()
    process = subprocess.Popen([t.tally(), "count", *words], stderr=slave)
    try:
        yield process, master
    finally:
        process.terminate()
        process.wait(60 * t.MINUTES)
        os.close(slave)
        os.close(master)


@t.named("progress: on a terminal of a long run, not with -q")
def progress():
    long_run = (t.guest("spin.sparc64"), "20000000000")
    begin = time.monotonic()
    with terminal_of("-e", "all", *long_run) as (_, master):
        text = ""
        while "instructions, " not in text:
            chunk = os.read(master, 65536).decode()
            assert chunk, f"no progress in {text!r}"
            text += chunk
    seconds = time.monotonic() - begin
    with terminal_of("-q", "-e", "all", *long_run) as (process, master):
        # As long again as it took to show some without -q.
        time.sleep(seconds)
        process.terminate()
        process.wait(60 * t.MINUTES)
        text = os.read(master, 65536).decode()
        assert "instructions, " not in text, text


def add_cases():
    for line in (HERE / "lines.txt").read_text().splitlines():
        if line and line[0] != "#":
            t.case(line.split(" | ")[0].strip() or "no arguments", line_case,
                   line)
    for name, args in SCREENS.items():
        t.case(f"screen {name}", screen_case, name, args)


def main():
    global folder
    fresh = "--refresh" in sys.argv
    if fresh:
        sys.argv.remove("--refresh")
    with tempfile.TemporaryDirectory() as d:
        folder = pathlib.Path(d)
        make_files(folder)
        if fresh:
            t.build = pathlib.Path(sys.argv[1]).resolve()
            refresh()
        else:
            add_cases()
            t.main()


main()
