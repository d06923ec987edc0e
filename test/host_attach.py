#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What else is counted on the host: host_attach.py BUILD [WORD]

Processes and threads that run already, whole processors, intervals and delays,
by software events, as in host.py.
"""
import csv
import io
import json
import pathlib
import re
import signal

import tallytest as t
from host_help import (FAULTS, NEAR, program, need_perf_event, need_cpus,
                       tally, host, near, row, worker, counting)


# Attaching


def attach(threads, pages, options):
    """The report on a worker that ends by itself, and its ids. Nobody waits
    for it before tally has ended."""
    with worker(threads, pages) as (process, ids):
        words = [w.format(*ids) for w in options]
        with counting("-j", *words) as c:
            process.stdin.write("go\n")
            process.stdin.flush()
            _, err = c.communicate()
        t.equal(c.returncode, 0, f"status; {err!r}")
        return json.loads(err), ids


@t.named("-p: a process that ends, with its threads; the report comes then")
def attach_process():
    report, _ = attach(4, 1000, [*FAULTS, "-p", "{0}"])
    near(report["events"][0]["value"], 10500, NEAR, "page faults")
    t.equal(report["status"], None, "status: nothing was run")


@t.named("-p of one process twice counts it once")
def attach_twice():
    report, _ = attach(1, 1000, [*FAULTS, "-p", "{0},{0}"])
    near(report["events"][0]["value"], 1500, NEAR, "page faults")


@t.named("-t: one thread and no other")
def attach_thread():
    report, ids = attach(4, 1000, [*FAULTS, "-t", "{2}"])
    near(report["events"][0]["value"], 2000, NEAR, "page faults")
    t.equal(report["program"], f"thread id {ids[2]}", "what was counted")


@t.named("--per-thread: each thread of -p, and their sum")
def per_thread():
    report, ids = attach(4, 1000, [*FAULTS, "--per-thread", "-p", "{0}"])
    t.equal(sorted(p["name"] for p in report["parts"]),
            sorted(f"thread {i} host-worker" for i in ids), "parts")
    values = {p["name"].split()[1]: p["events"][0]["value"]
              for p in report["parts"]}
    t.equal(sum(values.values()), report["events"][0]["value"], "sum")
    for i, pages in zip(ids, (500, 1000, 2000, 3000, 4000)):
        near(values[i], pages, NEAR, f"thread {i}")


@t.named("-p with a program: counted until the program ends")
def attach_with_program():
    with worker(1, 100) as (_, ids):
        c = host([*FAULTS, "-p", ids[0]], "sh", "-c", "exit 5")
        t.equal((c.status, c.json["status"]), (5, {"exit": 5}), "status")
        t.equal(c["page-faults"], 0, "of the worker, which waits")


@t.named("-p and -t with a program: the target is what the heading names")
def attached_heading():
    with worker(1, 100) as (_, ids):
        for options, target in (
                (["-p", ids[0]], f"process id {ids[0]}"),
                (["-t", ids[1]], f"thread id {ids[1]}"),
                (["-p", ids[0], "-t", ids[1]],
                 f"process id {ids[0]}, thread id {ids[1]}")):
            said = tally(*FAULTS, *options, "--", "sleep", 0.01).stderr
            t.contains(said, f"\n {target} on this host, during `sleep 0.01`\n")
            t.contains(said, " s sys of the command\n")
            c = host([*FAULTS, *options], "sleep", 0.01)
            t.equal((c.json["target"], c.json["program"]),
                    (target, "sleep 0.01"), "JSON")
    t.equal(host(FAULTS, "true").json["target"], None, "of a program")
    t.contains(tally(*FAULTS, "true").stderr, "\n true on this host\n")


# Processors

def online():
    text = pathlib.Path("/sys/devices/system/cpu/online").read_text().strip()
    ranges = [r.split("-") for r in text.split(",")]
    return [n for r in ranges for n in range(int(r[0]), int(r[-1]) + 1)]


def cpu_wide(*options):
    need_cpus()
    c = host(["-a", "-e", "page-faults,cpu-clock", *options],
             program("page_faults"), 3000)
    t.equal(c.status, 0, f"status; {c.stderr!r}")
    assert c["page-faults"] >= 3000, c.values
    return c


@t.named("-a -A, --per-core, --per-socket: parts that add up")
def aggregates():
    for option, pattern in (("-A", r"cpu \d+"),
                            ("--per-core", r"socket -?\d+ core -?\d+"),
                            ("--per-socket", r"socket -?\d+")):
        c = cpu_wide(option)
        parts = c.json["parts"]
        for i, event in enumerate(c.json["events"]):
            t.equal(sum(p["events"][i]["value"] for p in parts),
                    event["value"], f"{option} {event['name']}")
        for part in parts:
            assert re.fullmatch(pattern, part["name"]), part["name"]
        if option == "-A":
            t.equal([p["name"] for p in parts],
                    [f"cpu {n}" for n in online()], "cpus")


@t.named("-C: the cpus of a list")
def cpu_list():
    need_cpus()
    for text, cpus in (("0", [0]), ("0,0-0", [0]),
                       (f"{online()[-1]},0", sorted({0, online()[-1]}))):
        c = host(["-C", text, "-A", *FAULTS], "true")
        t.equal([p["name"] for p in c.json["parts"]],
                [f"cpu {n}" for n in cpus], text)
        t.equal(c.status, 0, "status")


@t.named("-a and -C with a program: the target is what the heading names")
def cpu_heading():
    need_cpus()
    for options, target in ((["-a"], "system wide"), (["-C", "0"], "cpu 0"),
                            (["-a", "-C", "0"], "cpu 0")):
        said = tally(*FAULTS, *options, "true").stderr
        t.contains(said, f"\n {target} on this host, during `true`\n")
        t.equal(host([*FAULTS, *options], "true").json["target"], target)
    said = tally(*FAULTS, "-a", "--timeout", 20).stderr
    t.contains(said, "\n system wide on this host\n")
    t.equal("of the command" in said, False, said)


@t.named("-a without a program: to --timeout")
def cpu_alone():
    need_cpus()
    done = tally("-a", "-j", "-e", "cpu-clock", "--timeout", 50)
    report = json.loads(done.stderr)
    t.equal((done.returncode, report["program"]), (0, "system wide"))
    assert report["events"][0]["value"] >= 50e6, report


# Time

def ticks(form):
    """A program of 3000 pages whose report has several intervals."""
    script = f"{program('page_faults')} 1000; sleep 0.2; " * 3
    need_perf_event()
    done = tally("-I", 50, *FAULTS, "--format", form, "--", "sh", "-c", script)
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    return done.stderr


def check_ticks(times, values, total=None):
    assert len(times) >= 4 and times == sorted(set(times)), times
    assert 3000 <= sum(values) < 3000 + 2000, values
    if total is not None:
        t.equal(sum(values), total, "sum of the intervals")


@t.named("-I as text: times rise, the intervals sum to the total")
def interval_text():
    text = ticks("text")
    rows = re.findall(r"^ +(\d+\.\d+) +([\d,]+)  page-faults", text, re.M)
    total = re.search(r"^ +([\d,]+)  page-faults", text, re.M).group(1)
    number = [int(v.replace(",", "")) for _, v in rows]
    check_ticks([float(at) for at, _ in rows], number,
                int(total.replace(",", "")))


@t.named("-I as CSV: the time is the first of ten columns")
def interval_csv():
    rows = list(csv.reader(io.StringIO(ticks("csv"))))
    t.equal({len(r) for r in rows}, {10}, "columns")
    t.equal({r[3] for r in rows}, {"page-faults"}, "events")
    check_ticks([float(r[0]) for r in rows], [int(r[1]) for r in rows])


@t.named("-I as JSON: each line is a document")
def interval_json():
    lines = [json.loads(s) for s in ticks("json").splitlines()]
    check_ticks([o["at_s"] for o in lines],
                [o["events"][0]["value"] for o in lines])
    near(sum(o["wall_s"] for o in lines) * 1e3, lines[-1]["at_s"] * 1e3, 1,
         "lengths of the intervals, in ms")


@t.named("-I with -A and a metric: every row has its columns")
def interval_parts():
    need_cpus()
    options = ["-a", "-A", "-I", 20, "-e", "page-faults", "-M",
               "cpu_utilisation"]
    done = tally(*options, "-x,", "--", "sleep", 0.1)
    rows = list(csv.reader(io.StringIO(done.stderr)))
    t.equal({len(r) for r in rows}, {11}, "columns")
    t.equal({r[1] for r in rows} - {f"cpu {n}" for n in online()}, {"all"})
    done = tally(*options, "-j", "--", "sleep", 0.1)
    for line in map(json.loads, done.stderr.splitlines()):
        t.equal(len(line["parts"]), len(online()), "parts")
        t.equal(line["metrics"][0]["name"], "cpu_utilisation")
    done = tally(*options, "--", "sleep", 0.1)
    t.contains(done.stderr, "cpu 0 ")


@t.named("-D: what runs before is not counted")
def delay():
    def within(seconds):
        """The pages are touched before, the program ends after it."""
        script = f"{program('page_faults')} 20000; sleep {2 * seconds}"
        c = host([*FAULTS, "-D", 1000 * seconds], "sh", "-c", script)
        t.equal(c.status, 0, "status")
        assert (c["page-faults"] or 0) < 1000, c.values
        t.equal(row(c, "page-faults").get("code"), None, "code")
    t.patiently(within)


@t.named("-D of more than the program runs: no count, and the reason")
def long_delay():
    c = host([*FAULTS, "-D", 100000, "--strict"], program("page_faults"), 10)
    event = row(c, "page-faults")
    t.equal((event["value"], event["code"], event["reason"], c.status),
            (None, "not-begun",
             "counting had not begun: the delay is 100000 ms", 125))


@t.named("--timeout ends the program with SIGTERM, and it is reported")
def timeout():
    c = host([*FAULTS, "--timeout", 100], "sleep", 100)
    t.equal(c.status, 128 + signal.SIGTERM, "status")
    t.equal(c.json["status"], {"signal": int(signal.SIGTERM)}, "JSON status")
    with worker(1, 100) as (process, ids):
        c = host([*FAULTS, "--timeout", 100, "-p", ids[0]])
        t.equal((c.status, process.poll()), (0, None), "only the counting ends")


@t.named("SIGPIPE does to a program what it does without tally")
def ignored_pipe():
    command = "kill -PIPE $$; echo alive"
    for trap, wanted in (("", ""), ("trap '' PIPE; ", "alive\n")):
        for machine in ("host", "host-model"):
            done = t.run("sh", "-c", f'{trap} "$0" count -o /dev/null '
                         f"-m {machine} -- /bin/sh -c '{command}'", t.tally())
            t.equal(done.stdout, wanted, f"{trap}{machine}")


t.main()
