#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generic names on every machine, counted: generic_names.py BUILD [WORD]

Each name that something stands for counts what the machine's own events count
in the same run; each other one has a row without a count, and its reason, or is
refused where it is all that was asked for. One script reads one command's CSV
and JSON of every machine.
"""
import csv
import io
import json
import math

import tallytest as t

# The generic names that each machine must have that a program runs on.
SAME = ("instructions", "cycles", "branches", "L1-dcache-load-misses")
PROGRAM = dict.fromkeys(("sparc64", "mips64", "x86_64", "aarch64", "riscv64"), "arrays")


def program(isas):
    """A guest program for the machine; one without its own runs x86-64."""
    isa = next((i for i in isas if i in PROGRAM), "x86_64")
    return t.guest(f"{PROGRAM[isa]}.{isa}")


def generics(machine):
    done = t.run(t.tally(), "list", "events", "-j", "-m", machine, check=True)
    return json.loads(done.stdout)["generic"]


def tally_count(machine, isas, *options):
    """JSON of a run of the machine's program."""
    done = t.run(t.tally(), "count", "-m", machine, "-j", *options, "--",
                 program(isas))
    t.equal(done.returncode, 0, f"status; {done.stderr}")
    return json.loads(done.stderr)


def check_counts(machine, isas):
    names = [g for g in generics(machine) if g["stands"] != "none"]
    owns = [own for g in names for own in g["own"].split(" + ")
            if g["stands"] != "model" or "/" in own]
    events = [g["name"] for g in names] + sorted(set(owns))
    report = tally_count(machine, isas, "-e", ",".join(events))
    values = {e["asked"]: e["value"] for e in report["events"]}
    t.equal(sorted(values), sorted(set(events)), "names asked for")
    for event in report["events"]:
        assert event["fidelity"] != "idle" or event["asked"] in owns, event
    for g in names:
        if g["stands"] != "model" or "/" in g["own"]:
            t.equal(values[g["name"]],
                    sum(values[own] for own in g["own"].split(" + ")),
                    g["name"])
    check_relations(values)


def check_relations(v):
    """What holds of any program, of the names that the machine has."""
    def holds(relation, *names):
        if all(name in v for name in names):
            assert relation(*(v[name] for name in names)), (names, v)

    holds(lambda n, of: 0 < n < of, "branches", "instructions")
    holds(lambda n, of: n <= of, "PAPI_BR_CN", "branches")
    holds(lambda n, of: n <= of, "PAPI_BR_TKN", "branches")
    holds(lambda both, a, b: both == a + b, "PAPI_LST_INS", "PAPI_LD_INS",
          "PAPI_SR_INS")
    holds(lambda n, of: n <= of, "L1-dcache-load-misses", "L1-dcache-loads")
    holds(lambda n: n > 0, "cycles")
    holds(lambda n: n > 0, "L1-icache-load-misses")
    holds(lambda n, of: n <= of, "cache-misses", "cache-references")
    holds(lambda n, of: n <= of, "LLC-load-misses", "LLC-loads")
    holds(lambda both, a, b: both == a + b, "PAPI_TLB_DM", "dTLB-load-misses",
          "dTLB-store-misses")


def check_refusals(machine, isas):
    for g in generics(machine):
        if g["stands"] != "none":
            continue
        done = t.run(t.tally(), "count", "-m", machine, "-e", g["name"], "--",
                     program(isas))
        t.equal(done.returncode, 2, "status")
        t.equal(done.stderr, f"tally: '{g['name']}': nothing on {machine} "
                f"stands for it: {g['reason']}\n", "refusal")


def lacking_metrics(machine):
    """The generic metrics that the machine has not, with an operand of each for
    which nothing stands."""
    done = t.run(t.tally(), "list", "metrics", "-j", "-m", machine, check=True)
    own = {m["name"] for m in json.loads(done.stdout)["metrics"]}
    none = {g["name"] for g in generics(machine) if g["stands"] == "none"}
    return {name: next(w for w in row["formula"].split() if w in none)
            for name, row in t.table("generic.toml")["metric"].items()
            if name not in own}


def check_lacking(machine, isas):
    """The rest of a list is counted; what the machine lacks says why not."""
    none = {g["name"]: g["reason"] for g in generics(machine)
            if g["stands"] == "none"}
    metrics = lacking_metrics(machine)
    if not none:
        return
    events = ["instructions", *none]
    words = ["-e", ",".join(events), "-M", ",".join(["ipc", *metrics])]
    report = tally_count(machine, isas, *words)
    t.equal([e["asked"] for e in report["events"]][:len(events)], events, "names")
    for event in report["events"]:
        counted = event["asked"] not in none
        t.equal(event["value"] is not None, counted, event["asked"])
        if not counted:
            t.equal((event["code"], event["reason"]),
                    ("unsupported", none[event["asked"]]), event["asked"])
    t.equal([(m["name"], m.get("reason")) for m in report["metrics"]],
            [("ipc", None)] + [(m, f"no count of {lacks}: {none[lacks]}")
                               for m, lacks in metrics.items()], "metrics")
    done = t.run(t.tally(), "count", "-m", machine, "-x,", *words, "--",
                 program(isas))
    rows = list(csv.reader(io.StringIO(done.stderr)))
    t.equal((done.returncode, {len(row) for row in rows}), (0, {9}), "columns")
    t.equal([row[2] for row in rows if row[0] == "<unsupported>"], list(none),
            "rows without a count")
    t.equal([row[6] for row in rows if row[8] in metrics and not row[5]],
            list(metrics), "metrics without a value")
    text = t.run(t.tally(), "count", "-m", machine, *words, "--",
                 program(isas)).stderr
    for name, reason in none.items():
        assert f"<unsupported>  {name}\n" in text and reason in text, text
    strict = t.run(t.tally(), "count", "-m", machine, "--strict", *words, "--",
                   program(isas))
    t.equal(strict.returncode, 125, "status with --strict")


def check_lacking_alone(machine, isas):
    """A list of which the machine has nothing is refused in one line."""
    lacking = {g["name"]: g["reason"] for g in generics(machine)
               if g["stands"] == "none"}
    metrics = lacking_metrics(machine)
    for words in ([["-M", m] for m in metrics] +
                  [["-e", ",".join(lacking), "-M", m] for m in metrics]):
        done = t.run(t.tally(), "count", "-m", machine, *words, "--",
                     program(isas))
        t.equal((done.returncode, done.stderr.count("\n")), (2, 1),
                f"status, lines of {done.stderr!r}")
        t.contains(done.stderr, lacking[metrics[words[1]]] if len(words) == 2
                   else lacking[words[1].split(",")[0]])


def check_script(machine, isas):
    """One command and one reader, whatever the machine."""
    done = t.run(t.tally(), "count", "-m", machine, "-x,", "-M", "ipc", "-e",
                 ",".join(SAME), "--", program(isas))
    t.equal(done.returncode, 0, f"status; {done.stderr}")
    lacking = {g["name"] for g in generics(machine) if g["stands"] == "none"}
    t.equal(lacking & set(SAME), set(), "names that a machine must have")
    rows = list(csv.reader(io.StringIO(done.stderr)))
    values = {row[2]: float(row[0]) for row in rows if row[0]}
    t.equal(tuple(values), SAME, "names")
    ipc = next(float(row[5]) for row in rows if row[6] == "ipc")
    assert abs(ipc - values["instructions"] / values["cycles"]) < 1e-6, rows
    report = tally_count(machine, isas, "-M", "ipc", "-e", ",".join(SAME))
    t.equal({e["asked"]: e["value"] for e in report["events"]}, values, "JSON")
    t.equal([e["name"] for e in report["events"]], [r[8] for r in rows[:-1]],
            "own names")


def check_metrics(machine, isas):
    """Each metric is the formula of data/generic.toml of the generic events
    that the same run counted."""
    done = t.run(t.tally(), "list", "metrics", "-j", "-m", machine, check=True)
    own = {m["name"] for m in json.loads(done.stdout)["metrics"]}
    rows = t.table("generic.toml")["metric"]
    names = sorted(rows.keys() & own)
    events = sorted({word for name in names
                     for word in rows[name]["formula"].split()
                     if word[0].isalpha()})
    report = tally_count(machine, isas, "-M", ",".join(names), "-e",
                         ",".join(events))
    counts = {e["asked"]: e["value"] for e in report["events"]}
    for metric in report["metrics"]:
        top, _, bottom = rows[metric["name"]]["formula"].rpartition(" / ")
        if counts[bottom] == 0:
            t.equal(metric["reason"], "division by 0", metric["name"])
            continue
        value = math.prod(counts.get(word) if word in counts else int(word)
                          for word in top.split(" * ")) / counts[bottom]
        assert math.isclose(metric["value"], value, rel_tol=1e-8), \
            (metric, value)
    t.equal(sorted(m["name"] for m in report["metrics"]), names, "metrics")


def text_names():
    done = t.run(t.tally(), "count", "-m", "ultrasparc-t2", "-e",
                 "L1-dcache-loads,0x23,branch-misses,all_INSTR:u", "--",
                 t.guest("hello.sparc64"))
    lines = [line.split() for line in done.stderr.splitlines() if line]
    t.equal([line[1] for line in lines[1:5]],
            ["L1-dcache-loads", "Dcache_misses", "branch-misses", "All_instr"],
            "names")
    t.contains(done.stderr, "  L1-dcache-loads: Load_instr; prefetches are "
               "loads, atomics are not\n")


def metric_aliases():
    """A metric has the name that it was asked for by, beside its own."""
    words = ["count", "-m", "ultrasparc-t2", "-M",
             "l1d-miss-rate,IPC,dtlb_miss_rate,tlb_miss_rate"]
    hello = t.guest("hello.sparc64")
    names = [("l1d-miss-rate", "l1d_miss_rate"), ("IPC", "ipc"),
             ("dtlb_miss_rate", "tlb_miss_rate"),
             ("tlb_miss_rate", "tlb_miss_rate")]
    report = json.loads(t.run(t.tally(), *words, "-j", "--", hello).stderr)
    t.equal([(m["asked"], m["name"]) for m in report["metrics"]], names, "JSON")
    rows = csv.reader(t.run(t.tally(), *words, "-x,", "--", hello)
                      .stderr.splitlines())
    t.equal([(row[6], row[8]) for row in rows if row[5] and not row[0]], names,
            "CSV")
    text = t.run(t.tally(), *words, "--", hello).stderr
    for name in ("l1d-miss-rate", "ipc", "dtlb_miss_rate"):
        t.contains(text, f"  {name} ")


def wrong_option():
    """A metric is no event, and an event no metric."""
    for machine in ("ultrasparc-t2", "host-model", "host"):
        for words, says in ((["-e", "instructions,ipc"],
                             "'ipc' is a metric: use -M ipc"),
                            (["-M", "ipc,cycles"],
                             "'cycles' is an event: name it without -M (tally "
                             "count -e cycles)")):
            done = t.run(t.tally(), "count", "-m", machine, "--foreign", *words,
                         "--", "true") if machine == "ultrasparc-t2" else \
                t.run(t.tally(), "count", "-m", machine, *words, "--", "true")
            t.equal((done.returncode, done.stderr), (2, f"tally: {says}\n"),
                    "status, line")


def detailed():
    """-d adds the machine's cache events to those counted without it."""
    names = {}
    for words in ([], ["-d"], ["-dd"], ["-d", "-e", "instructions"]):
        done = t.run(t.tally(), "count", "-m", "ultrasparc-t1", "-j", *words,
                     "--", t.guest("hello.sparc64"))
        names[" ".join(words)] = [e["asked"]
                                  for e in json.loads(done.stderr)["events"]]
    first = ["L1-dcache-loads", "L1-dcache-load-misses", "LLC-loads",
             "LLC-load-misses"]
    t.equal(names["-d"], names[""] + first, "-d")
    t.equal(names["-dd"], names["-d"] + [
        "L1-icache-load-misses", "dTLB-loads", "dTLB-load-misses",
        "iTLB-load-misses"], "-dd: without L1-icache-loads, which it lacks")
    t.equal(names["-d -e instructions"], ["instructions", *first], "-d -e")


def host_lacks():
    """The host counts the rest too."""
    words = ["count", "-m", "host", "-x,", "-e"]
    done = t.run(t.tally(), *words, "{PAPI_L2_TCM,task-clock},page-faults",
                 "-M", "l2_mpki", "--", "true")
    rows = list(csv.reader(done.stderr.splitlines()))
    # A user without rights counts page-faults:u.
    t.equal((done.returncode,
             [(row[2].removesuffix(":u"), row[6]) for row in rows]),
            (0, [("PAPI_L2_TCM", ""), ("task-clock", ""), ("page-faults", ""),
                 ("", "l2_mpki")]), "status, rows")
    t.equal(rows[0][0], "<unsupported>", "value")
    done = t.run(t.tally(), *words, "PAPI_L2_TCM", "--", "true")
    t.equal((done.returncode, done.stderr.count("\n")), (2, 1), done.stderr)


def add_cases():
    for machine, isas in t.machines().items():
        for check in (check_counts, check_refusals, check_lacking,
                      check_lacking_alone, check_script, check_metrics):
            t.case(f"{machine}: {check.__name__[6:]}", check, machine, isas)
    t.case("metrics have the name that they were asked for by", metric_aliases)
    t.case("metrics with -e and events with -M say the option", wrong_option)
    t.case("-d on a modelled machine", detailed)
    t.case("host: what the kernel has nothing for", host_lacks)
    t.case("text: names as asked for, and what stands for them", text_names)


if __name__ == "__main__":
    t.main(add_cases)
