#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The host's counters: host.py BUILD [WORD]

tally count -m host on programs of test/host, which say themselves what they
did. Software events alone, so that it runs where there is no PMU; nothing here
depends on how long something takes.
"""
import contextlib
import csv
import io
import json
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import tempfile
import time

import tallytest as t
from host_help import (HOST, FAULTS, NEAR, program, need_perf_event,
                       need_root, emulated, need_pmu, tally, host, faults,
                       near, row, worker, counting)


# Against perf stat

def perf_stat(event, *command):
    """perf's value, and what the program said."""
    if shutil.which("perf") is None:
        raise t.Skip("no perf")
    with tempfile.NamedTemporaryFile("r") as report:
        done = t.run("perf", "stat", "-x,", "-o", report.name, "-e", event,
                     *command)
        lines = [s for s in report.read().splitlines()
                 if s and not s.startswith("#")]
    if done.returncode != 0 or not lines:
        raise t.Skip(f"perf stat fails: {done.stderr.strip()}")
    return float(lines[0].split(",")[0]), done.stdout


@t.named("page faults: those of perf stat")
def faults_as_perf():
    command = [program("page_faults"), 2000]
    ours = [faults("page_faults", 2000) for _ in range(5)]
    theirs = [perf_stat("page-faults", *command)[0] for _ in range(5)]
    assert min(ours) <= max(theirs) + 8 and min(theirs) <= max(ours) + 8, \
        (ours, theirs)


@t.named("task clock: the program's own time at least, at most what passed")
def task_clock():
    """The program's own time has a little more: the child before exec, and the
    kernel's work at each change of the processor, which is 2 % of it on a busy
    machine. So one run of many must come within a tenth."""
    def ours():
        c = host(["-e", "task-clock"], program("spin"), 300)
        t.equal(row(c, "task-clock")["unit"], "ns", "unit")
        return c["task-clock"], c.stdout

    def perfs():
        ms, own = perf_stat("task-clock", program("spin"), 300)
        return ms * 1e6, own

    def check(reading):
        runs = []
        while len(runs) < 50:
            begin = time.monotonic()
            ns, own = reading()
            most = (time.monotonic() - begin) * 1e9
            assert ns < most, (ns, most)
            runs.append(ns / (int(own) * 1000))
            if runs[-1] > 0.9:
                return
        raise AssertionError(f"counted, of the program's own time: {runs}")
    check(ours)
    check(perfs)


@t.named("context switches: those of getrusage(), and perf's")
def context_switches():
    """A busy machine takes the cpu away before and after the program looks at
    itself, too, so the nearest of many runs is compared."""
    def ours():
        c = host(["-e", "context-switches"], program("switcher"), 300)
        return c["context-switches"], c.stdout

    def perfs():
        return perf_stat("context-switches", program("switcher"), 300)

    def off(reading):
        count, own = reading()
        return abs(count - sum(int(word) for word in own.split()))

    def check(reading):
        runs = []
        while len(runs) < 50 and (not runs or min(runs) > 10):
            runs.append(off(reading))
        assert min(runs) <= 10, runs

    check(ours)
    with contextlib.suppress(t.Skip):
        check(perfs)


# Nothing is lost

@t.named("page faults by arithmetic")
def faults_add_up():
    near(faults("page_faults", 5000) - faults("page_faults", 1000), 4000, NEAR,
         "4000 pages more")


@t.named("1000 short threads: every page of each")
def many_threads():
    near(faults("threads", 1000, 108) - faults("threads", 1000, 8), 100000,
         NEAR, "100 pages more in each")


@t.named("200 children: every page of each")
def many_children():
    """Copies after fork() differ from run to run by 2 or so a child."""
    near(faults("children", 200, 2000) - faults("children", 200, 0), 400000,
         1000, "2000 pages more in each")


@t.named("-i leaves children and threads out")
def no_inherit():
    for name in ("children", "threads"):
        alone = faults(name, 100, 200, options=["-i"])
        assert alone < 5000 < 20000 <= faults(name, 100, 200), alone


@t.named("a child that the program executes is counted")
def executed_child():
    c = host(FAULTS, "sh", "-c", f"{program('page_faults')} 3000; true")
    assert c["page-faults"] >= 3000, c.values


# Runs and events

@t.named("-r: means, deviation, and output of each run")
def repeat():
    c = host([*FAULTS, "-r", 4], program("spin"), 1)
    t.equal(c.stdout.count("\n"), 4, "runs of the program")
    event = row(c, "page-faults")
    t.equal(event["runs"], 4, "runs")
    assert abs(event["value"] - event["mean"]) <= 0.5, event
    assert 0 <= event["stddev"] < NEAR, event
    clock = host(["-e", "task-clock", "-r", 4], program("spin"), 1)
    event = row(clock, "task-clock")
    assert abs(event["enabled"] - event["mean"]) <= event["mean"] / 10, event


@t.named("-r leaves the columns of CSV as they are, and adds one before the "
         "last")
def repeat_csv():
    need_perf_event()
    for options, more in (([], 0), (["-r", 3], 1)):
        done = tally(*FAULTS, *options, "-x,", "true")
        [columns] = csv.reader(io.StringIO(done.stderr))
        t.equal((len(columns), columns[1:3], columns[4:8]),
                (9 + more, ["", "page-faults"], ["100.00", "", "", "measured"]),
                options)


@t.named("an event that is named twice has two rows, in each form")
def named_twice():
    need_perf_event()
    for machine, event in (("host", "page-faults"),
                           ("host-model", "instructions")):
        command = [t.tally(), "count", "-m", machine, "-e", f"{event},{event}"]
        program = ["--", t.guest("hello.x86_64")]
        text = t.run(*command, *program).stderr
        t.equal(text.count(f"  {event}"), 2, f"rows in {text}")
        rows = t.run(*command, "-x,", *program).stderr.splitlines()
        t.equal([row.split(",")[2] for row in rows], [event, event], "CSV")
        events = json.loads(t.run(*command, "-j", *program).stderr)["events"]
        t.equal([e["name"] for e in events], [event, event], "JSON")


@t.named("-r keeps the reason of what no run counted")
def repeat_reason():
    need_pmu(False)
    c = host(["-e", "cycles,page-faults", "-r", 3], "true")
    t.equal(row(c, "cycles")["code"], "no-pmu", "code")
    t.contains(row(c, "cycles")["reason"], "no hardware counters")
    text = tally("-e", "cycles", "-r", 3, "true").stderr
    t.contains(text, "no hardware counters")


@t.named("-n, --null: times, and nothing counted")
def null():
    for option in ("-n", "--null"):
        c = host([option], "true")
        t.equal((c.status, c.json["events"]), (0, []), option)
        assert c.json["wall_s"] > 0, c.json
        said = tally(option, "true").stderr
        t.equal("\n\n\n" in said, False, f"two empty lines in {said!r}")


@t.named("--interval-count ends the program after so many")
def interval_count():
    done = tally(*FAULTS, "-j", "-I", 20, "--interval-count", 2, "sleep", 100)
    t.equal(done.returncode, 128 + signal.SIGTERM, "status")
    t.equal(len([json.loads(line) for line in done.stderr.splitlines()]), 2,
            "intervals")


@t.named("--interval-count: none is told while the program takes time to end")
def interval_count_late():
    done = tally(*FAULTS, "-j", "-I", 20, "--interval-count", 2, "--", "sh",
                 "-c", "trap 'sleep 0.3; exit 3' TERM; while :; do sleep 0.01; "
                 "done")
    t.equal(done.returncode, 3, "status")
    t.equal(len([json.loads(line) for line in done.stderr.splitlines()]), 2,
            "intervals")


PRESETS = [(), ("L1-dcache-load-misses", "LLC-loads"),
           ("L1-icache-load-misses", "dTLB-loads"),
           ("L1-dcache-prefetches",)]


@t.named("-d, -dd, -ddd add events")
def details():
    for n in range(4):
        names = set(host(["-d"] * n, "true").values)
        for level, events in enumerate(PRESETS):
            for event in events:
                t.equal(event in names, level <= n, f"{event} with {n} -d")
        assert {"task-clock", "page-faults", "cycles"} <= names, names
    t.equal(set(host(["-dd"], "true").values),
            set(host(["-d", "-d"], "true").values), "-dd")


@t.named("what is not counted: null, code, reason, mend; no fidelity")
def not_counted():
    need_pmu(False)
    c = host(["-e", "cycles,page-faults"], "true")
    event = row(c, "cycles")
    t.equal((event["value"], event["code"]), (None, "no-pmu"))
    t.contains(event["reason"], "no hardware counters")
    t.contains(event["mend"], "tally count -m host-model")
    assert "fidelity" not in event, event
    counted = row(c, "page-faults")
    assert "mend" not in counted and "code" not in counted, counted
    t.equal(counted["fidelity"], "measured", "fidelity")
    text = tally("-e", "cycles", "true").stderr
    t.contains(text, "; software events: tally count -e task-clock,page-faults "
               "PROGRAM")


@t.named("an ordinary user: what may be counted is, at user level, and says so")
def ordinary_user():
    need_root()
    level = pathlib.Path("/proc/sys/kernel/perf_event_paranoid")
    if not level.exists() or int(level.read_text()) != 2:
        raise t.Skip("perf_event_paranoid is not 2")
    words = ["-j", "-e", "task-clock,page-faults,page-faults:k,"
             "context-switches", "--", "true"]
    try:
        done = tally(*words, user=65534, group=65534, extra_groups=[])
    except PermissionError:
        raise t.Skip("the build folder is closed to others") from None
    events = {e["name"]: e for e in json.loads(done.stderr)["events"]}
    t.equal(list(events), ["task-clock", "page-faults:u", "page-faults:k",
                           "context-switches"], "names")
    assert events["task-clock"]["value"] > 0, events
    assert events["page-faults:u"]["value"] > 0, events
    for name in ("page-faults:k", "context-switches"):
        t.equal((events[name]["value"], events[name]["code"]),
                (None, "paranoid"), name)
    done = tally("-e", "page-faults", "true", user=65534, group=65534,
                 extra_groups=[])
    t.contains(done.stderr, "of user level alone")


@t.named("a group whose first event is not counted says so of the others")
def group_reason():
    need_pmu(False)
    c = host(["-e", "{cycles,instructions},page-faults"], "true")
    t.contains(row(c, "instructions")["reason"], "first event of its group")
    t.equal(row(c, "instructions")["value"], None)


@t.named("a metric without a count says of what")
def metric_reason():
    need_pmu(False)
    c = host(["-M", "ipc", *FAULTS], "true")
    metric = c.json["metrics"][0]
    t.equal(metric["value"], None)
    t.contains(metric["reason"], "no count of ")
    t.contains(tally("-M", "ipc", "true").stderr, "# no count of ")


@t.named("a program of another architecture is refused, no shell reads it")
def foreign():
    if platform.machine() != "x86_64":
        raise t.Skip("what is foreign here")
    hello = t.guest("hello.sparc64")
    said = f"tally: {hello}: a program for sparc64, but this host runs x86_64"
    for options in (["-m", "host"], ["-n"]):
        done = t.run(t.tally(), "count", *options, hello)
        if done.stdout == "hello\n":
            raise t.Skip("this host runs it, by binfmt_misc")
        t.equal(done.returncode, 2, "status")
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    with tempfile.TemporaryDirectory() as folder:
        cut = pathlib.Path(folder, "cut")
        cut.write_bytes(pathlib.Path(t.tally()).read_bytes()[:50])
        cut.chmod(0o755)
        for name in (cut, cut.name):
            done = tally(name, env={**os.environ, "PATH": folder})
            t.equal(done.returncode, 126, "status")
            t.contains(done.stderr, f"tally: {cut}: ")


@t.named("a script without #! is the shell's, as for execvp")
def plain_script():
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "script")
        script.write_text("echo $1; exit 5\n")
        script.chmod(0o755)
        done = tally("-n", script, "said")
    t.equal((done.stdout, done.returncode), ("said\n", 5))


@t.named("--strict: 125 for what is not counted, else the program's status")
def strict():
    need_pmu(False)
    t.equal(tally("-e", "page-faults", "--strict", "true").returncode, 0)
    t.equal(tally("-e", "cycles", "true").returncode, 0)
    done = tally("-e", "cycles", "--strict", "true")
    t.equal(done.returncode, 125)
    t.contains(done.stderr, "--strict")
    t.equal(tally("-e", "cycles", "--strict", "false").returncode, 1)
    done = tally("-j", "-e", "cycles", "--strict", "true")
    json.loads(done.stderr)
    t.equal(done.returncode, 125)


@t.named("text ends with one empty line")
def text_end():
    for program_name in ("true", "false"):
        err = tally(*FAULTS, program_name).stderr
        assert re.search(r"[^\n]\n\n$", err) or err.count("\n\n\n") == 0, err
        t.equal(err.endswith("\n\n") and not err.endswith("\n\n\n"), True, err)


@t.named("tally stat is tally count")
def stat():
    done = t.run(t.tally(), "stat", *HOST, "-j", *FAULTS, "--", "true")
    t.equal(json.loads(done.stderr)["machine"], "host")


@t.named("the note on the default machine: once, not with -q, not before JSON")
def default_note():
    need_pmu(False)
    if platform.machine() != "x86_64":
        raise t.Skip("no program of test/guest for this host")
    hello = emulated("hello.x86_64")
    done = t.run(t.tally(), "count", "-r", 2, hello)
    t.equal(done.stderr.count("host-model (-m host insists)"), 1, "notes")
    assert "insists" not in t.run(t.tally(), "count", "-q", hello).stderr
    done = t.run(t.tally(), "count", "-j", hello)
    t.equal(json.loads(done.stderr)["machine"], "host-model")


@t.named("-v on a modelled machine: one line, and none before JSON")
def model_verbose():
    hello = emulated("hello.x86_64")
    words = [t.tally(), "count", "-m", "host-model", "-v"]
    t.equal(t.run(*words, hello).stderr.splitlines()[0],
            f"tally: {hello} on host-model")
    json.loads(t.run(*words, "-j", hello).stderr)


# Reports

@t.named("-o and --append")
def output():
    with tempfile.TemporaryDirectory() as d:
        path = pathlib.Path(d, "report")
        for _ in range(2):
            done = tally(*FAULTS, "-x,", "-o", path, "true")
            t.equal((done.returncode, done.stderr), (0, ""))
        t.equal(path.read_text().count(",,page-faults"), 1, "replaced")
        tally(*FAULTS, "-x,", "--append", "-o", path, "true")
        t.equal(path.read_text().count(",,page-faults"), 2, "added to")
        tally(*FAULTS, "-x,", "-o", path, "/no/such")
        t.equal(path.read_text().count(",,page-faults"), 2, "kept")
        t.equal(os.listdir(d), ["report"], "files")
    done = tally(*FAULTS, "-o", "/no/such/report", "true")
    t.equal(done.returncode, 2)


def interrupted(number, options, whole_group):
    with tempfile.TemporaryDirectory() as d:
        report = pathlib.Path(d, "report")
        command = [t.tally(), "count", *HOST, *FAULTS, *options, "-o", report,
                   "--", program("worker"), "2", "100"]
        process = subprocess.Popen(
            [str(w) for w in command], text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            start_new_session=True)
        t.equal(process.stdout.readline().split()[0], "ready")
        (os.killpg if whole_group else os.kill)(process.pid, number)
        status = process.wait()
        process.communicate()
        return status, report.read_text()


def forwarded(number, whole_group):
    status, text = interrupted(number, ["-j"], whole_group)
    report = json.loads(text)
    t.equal((status, report["status"], report["interrupted"]),
            (7, {"exit": 7}, True))
    assert report["events"][0]["value"] > 0, report
    status, text = interrupted(number, ["-j", "-I", "10"], whole_group)
    t.equal(status, 7, "status with -I")
    for line in text.splitlines():
        json.loads(line)
    status, text = interrupted(number, ["-x;"], whole_group)
    t.equal([len(r.split(";")) for r in text.splitlines()], [9], "CSV")
    t.equal(status, 7, "status with CSV")


for number in (signal.SIGINT, signal.SIGTERM):
    for whole_group in (False, True):
        t.case(f"{number.name} to "
               f"{'the whole group' if whole_group else 'tally'}: passed on, "
               "JSON and CSV whole", forwarded, number, whole_group)


@t.named("SIGINT between and in runs of -r: the report, of fewer runs")
def interrupt_repeats():
    for delay in range(20):
        with tempfile.TemporaryDirectory() as d:
            command = [t.tally(), "count", *HOST, *FAULTS, "-j", "-r", "100000",
                       "-o", f"{d}/report", "--", "cat", "/proc/self/comm"]
            process = subprocess.Popen(command, text=True,
                                       stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE)
            t.equal(process.stdout.readline(), "cat\n")
            time.sleep(delay / 3000)
            process.send_signal(signal.SIGINT)
            process.communicate()
            report = json.loads(pathlib.Path(d, "report").read_text())
            assert process.returncode in (0, 130), process.returncode
            if report.get("interrupted_run") == 1: # no run was whole
                t.equal(report["events"][0]["value"], None, "value")
            else:
                assert report["events"][0]["value"] > 0, report
            t.equal(report["interrupted"], True, "interrupted")
            t.equal(os.listdir(d), ["report"], "files")


@t.named("SIGINT while a process is counted: the report, and the process lives")
def interrupt_attached():
    with worker(2, 100) as (process, ids):
        with counting("-j", *FAULTS, "-p", ids[0]) as c:
            c.send_signal(signal.SIGINT)
            _, err = c.communicate()
        t.equal((c.returncode, json.loads(err)["interrupted"]), (0, True))
        t.equal(process.poll(), None, "the process")


@t.named("signals that tally's parent ignores stay ignored")
def ignored():
    def ignore():
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    c = host(FAULTS, "sh", "-c", "exit 4", preexec_fn=ignore)
    t.equal(c.status, 4, "status though SIGCHLD was ignored")
    with worker(1, 1000) as (process, ids):
        with counting("-j", *FAULTS, "-p", ids[0], preexec_fn=ignore) as c:
            c.send_signal(signal.SIGHUP)
            time.sleep(0.1)
            t.equal(c.poll(), None, "tally, as under nohup")
            process.stdin.write("go\n")
            process.stdin.flush()
            _, err = c.communicate()
    near(json.loads(err)["events"][0]["value"], 1500, NEAR, "page faults")


@t.named("the program is started as without tally: limits, signals, files")
def surroundings():
    script = ("ulimit -n; grep ^Sig[BI] /proc/self/status; "
              "ls /proc/self/fd | wc -l")
    command = ["sh", "-c", "ulimit -Sn 200; exec \"$@\"", "sh"]
    plain = t.run(*command, "sh", "-c", script)
    for options in ([], ["-r", "2"], ["-p", str(os.getpid())]):
        done = t.run(*command, t.tally(), "count", *HOST, *FAULTS, *options,
                     "-o", "/dev/null", "--", "sh", "-c", script)
        runs = 2 if "-r" in options else 1
        t.equal(done.stdout, plain.stdout * runs, f"with {options}")


def sinks(form, options):
    """A report that cannot be written is tally's failure; a reader that is
    gone ends it as it ends other commands."""
    command = [t.tally(), "count", *HOST, *FAULTS, "--format", form, *options,
               "--", "sh", "-c", "echo done; sleep 0.1"]
    with open("/dev/full", "w") as sink:
        done = t.run(*command, stdout=subprocess.PIPE, stderr=sink)
    t.equal((done.returncode, done.stdout), (125, "done\n"), "full")
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as sink:
        done = t.run(*command, stdout=subprocess.PIPE, stderr=sink)
    t.equal((done.returncode, done.stdout), (-signal.SIGPIPE, "done\n"),
            "closed")
    done = t.run(*command[:2], "-o", "/dev/full", *command[2:])
    t.equal(done.returncode, 125, "-o /dev/full")
    t.contains(done.stderr, "No space left on device")
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")


for form in ("text", "csv", "json"):
    t.case(f"a full disk and a closed pipe: {form}", sinks, form, [])
    t.case(f"a full disk and a closed pipe: {form} with -I", sinks, form,
           ["-I", "20"])


@t.named("a program that writes into a closed pipe dies of it")
def program_pipe():
    read, write = os.pipe()
    os.close(read)
    with open(write, "w") as sink:
        done = tally(*FAULTS, "-j", "--", "sh", "-c",
                     "while :; do echo; done 2>/dev/null", stdout=sink,
                     stderr=subprocess.PIPE)
    t.equal(done.returncode, 128 + signal.SIGPIPE, "status")
    json.loads(done.stderr)


def comma_locale():
    """A locale whose decimal point is a comma, or else any name."""
    names = t.run("locale", "-a").stdout.split()
    return next((n for n in names if n.startswith(("fr_", "de_"))),
                "fr_FR.UTF-8")


@t.named("the locale changes neither CSV nor JSON")
def locale():
    env = {**os.environ, "LC_ALL": comma_locale()}
    done = tally("-e", "task-clock,page-faults", "-M", "page_faults_per_second",
                 "-j", "true", env=env)
    t.equal(json.loads(done.stderr)["schema"], 1)
    done = tally("-e", "task-clock,page-faults", "-I", 5, "-x,", "--", "sleep",
                 "0.02", env=env)
    for r in csv.reader(io.StringIO(done.stderr)):
        t.equal(len(r), 10, f"columns of {r}")
        float(r[0]), float(r[1]), float(r[5])


# Exit statuses

@t.named("exit statuses: the program's, 128+N, 127, 126")
def statuses():
    for n in (0, 1, 77, 255):
        c = host(FAULTS, "sh", "-c", f"exit {n}")
        t.equal((c.status, c.json["status"]), (n, {"exit": n}))
    for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM):
        c = host(FAULTS, "sh", "-c", f"kill -{int(number)} $$")
        t.equal((c.status, c.json["status"]),
                (128 + number, {"signal": int(number)}))
    with tempfile.TemporaryDirectory() as d:
        plain = pathlib.Path(d, "plain")
        plain.write_text("x")
        for word, status in (("/no/such", 127), ("no-such-name", 127),
                             (plain, 126), (d, 126)):
            done = tally(*FAULTS, "--", word)
            t.equal(done.returncode, status, f"status of {word}")
            t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
            t.contains(done.stderr, str(word))


# option words | status | what the one line says
ERRORS = """
-p 99999999 | 125 | no process 99999999
-p 2147483646 | 125 | no process
-p 99999999999 | 2 | -p takes process numbers such as 17,18
-p abc | 2 | -p takes process numbers such as 17,18, not 'abc'
-p 0 | 2 | -p takes
-p -1 | 2 | -p takes
-p 1, | 2 | -p takes
-p '' | 2 | -p takes
-t 99999999 | 125 | no thread 99999999
-t x | 2 | -t takes
-C 999 true | 2 | no cpu 999 online
-C 99999 true | 2 | -C takes cpus such as 0-3,7
-C 1-0 true | 2 | -C takes
-C 0- true | 2 | -C takes
-C 0,, true | 2 | -C takes
-C x true | 2 | -C takes
-C '' true | 2 | -C takes
-a -p 1 true | 2 | give one kind
-C 0 -t 1 | 2 | give one kind
-A true | 2 | give -a or -C
--per-core true | 2 | give -a or -C
--per-socket -p 1 | 2 | give -a or -C
--per-thread true | 2 | -m host-model --per-thread
--per-thread -a true | 2 | -m host-model --per-thread
-e page-falts true | 2 | page-faults
-e cyclse true | 2 | cycles
-e '' true | 2 | event
-M ipx true | 2 | ipc
-I 0 true | 2 | -I takes 1 to 1000000000 milliseconds, not '0'
-I x true | 2 | -I takes
--timeout 1 true | 2 | --timeout takes 10 to 1000000000 milliseconds
-D x true | 2 | -D takes
-D 99999999999999 true | 2 | -D takes 0 to 1000000000 milliseconds, not '9999
-D -1 true | 2 | -D takes 0 to
-I 10 --interval-count 0 true | 2 | --interval-count takes 1 to 1000000000
--interval-count 2 true | 2 | --interval-count counts the intervals of '-I'
-j -x, true | 2 | -j and -x want two forms of report
-x, -j true | 2 | -x and -j want two forms of report
--format text -x, true | 2 | --format and -x want two forms of report
--set l1d.size=1K true | 2 | --set is for a modelled machine
--clean-env true | 2 | --clean-env is for a modelled machine
"""


def error(line):
    words, status, says = line.split(" | ")
    need_perf_event()
    done = t.run("sh", "-c", f'exec "$0" count -m host {words}', t.tally())
    t.equal(done.returncode, int(status), f"status; {done.stderr!r}")
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    t.contains(done.stderr, says)
    assert done.stderr.startswith("tally"), done.stderr


for line in ERRORS.strip().splitlines():
    t.case(f"count -m host {line}", error, line)


@t.named("options of the host with a modelled machine")
def model_with_host_options():
    for words in (["-a"], ["-p", "1"], ["-D", "5"],
                  ["-I", "10", "--interval-count", "2"]):
        done = t.run(t.tally(), "count", "-m", "ultrasparc-t2", *words, "true")
        t.equal(done.returncode, 2, f"{words}: {done.stderr!r}")
        t.contains(done.stderr, "is for the host's counters")


@t.named("a program of another architecture is not the host's")
def foreign():
    hello = emulated("hello.sparc64")
    with tempfile.NamedTemporaryFile() as report:
        done = t.run(t.tally(), "count", "-j", "-o", report.name, hello)
        t.equal(json.load(open(report.name))["machine"], "ultrasparc-t2")
    t.equal(done.returncode, 0)


# Descriptors

def group_of(n):
    """n events that are not taken for doubles: a group keeps its own."""
    return "{" + ",".join(["page-faults"] * n) + "}"


def limited(limit, *words):
    need_perf_event()
    return t.run("sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", t.tally(),
                 "count", *HOST, *words)


@t.named("no descriptor leaks from run to run")
def no_leak():
    """A hard limit that leaves room for one run's events, not for two's."""
    done = limited(40, "-e", group_of(25), "-r", 5, "-j", "true")
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    for event in json.loads(done.stderr)["events"]:
        assert event["value"] is not None, event


@t.named("too few descriptors: null and the reason, never a part of the count")
def few_descriptors():
    done = limited(24, "-e", group_of(40), "-j", "true")
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    lost = [e for e in json.loads(done.stderr)["events"] if e["value"] is None]
    assert len(lost) >= 16, len(lost)
    t.equal({e["code"] for e in lost}, {"descriptors"}, "codes")
    with worker(30, 10) as (_, ids):
        done = limited(24, *FAULTS, "-j", "-p", ids[0], "--timeout", 20)
        event = json.loads(done.stderr)["events"][0]
        t.equal((event["value"], event["code"]), (None, "descriptors"))


@t.named("tally keeps a descriptor for each event and thread, and no more")
def descriptors():
    with worker(4, 10) as (_, ids):
        with counting(*FAULTS, "-e", "task-clock", "-p", ids[0]) as c:
            links = [os.readlink(f"/proc/{c.pid}/fd/{fd}")
                     for fd in os.listdir(f"/proc/{c.pid}/fd")]
    t.equal(sum("perf_event" in link for link in links), 10, f"{links}")
    t.equal(len(links), 13, f"{links}")


t.main()
