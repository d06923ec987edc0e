#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What monitoring reads: tally export --as openmetrics, tally serve, pmdatally.
fleets.py BUILD [WORD]

Machines with counters are those of test/mock. Texts are read here by the rules of
OpenMetrics, and by Debian's prometheus and python3-prometheus-client where they are
installed; pmdatally by dbpmda and pminfo. Ports are the kernel's choice.
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import select
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.parse
import urllib.request

import tallytest as t
from mock_help import Machine

OPEN = "application/openmetrics-text"
SAMPLE = re.compile(r"([a-z_]+)(?:\{(.*)\})? (\S+)")
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"(,|$)')
NOBODY = 65534

folder = None


class Family:
    def __init__(self, kind):
        self.kind, self.unit, self.help = kind, None, None
        self.samples = {}


def labels_of(text):
    """The labels between the braces, as a frozen set of pairs."""
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, f"no labels: {text}"
        assert match[1] not in labels, f"twice {match[1]}: {text}"
        labels[match[1]] = re.sub(
            r"\\(.)", lambda m: {"n": "\n"}.get(m[1], m[1]), match[2])
        at = match.end()
    return frozenset(labels.items())


def families(text):
    """The families of a text by the rules of OpenMetrics 1.0."""
    found, current = {}, None
    assert text.endswith("# EOF\n"), "no # EOF at the end"
    for line in text.removesuffix("# EOF\n").split("\n")[:-1]:
        if line.startswith("# "):
            word, name, rest = line[2:].split(" ", 2)
            if word == "TYPE":
                assert name not in found, f"{name} stands in two places"
                current = found[name] = Family(rest)
                assert rest in ("gauge", "counter"), line
            elif word == "UNIT":
                assert name.endswith("_" + rest), line
                found[name].unit = rest
            else:
                t.equal(word, "HELP", line)
                found[name].help = rest
            assert found[name] is current and not current.samples, line
            continue
        name, labels, value = SAMPLE.fullmatch(line).groups()
        if current.kind == "counter":
            assert name.endswith("_total"), line
            assert float(value) >= 0, line
        assert found[name.removesuffix("_total") if current.kind == "counter"
                     else name] is current, line
        labels = labels_of(labels or "")
        assert labels not in current.samples, f"twice: {line}"
        current.samples[labels] = float(value)
    for name, family in found.items():
        assert family.help and family.samples, name
    return found


def value(found, name, **labels):
    """The one sample of a family that has these labels, perhaps among others."""
    rows = [v for k, v in found[name].samples.items()
            if set(labels.items()) <= k]
    t.equal(len(rows), 1, f"samples of {name} with {labels}")
    return rows[0]


def foreign_python(*words, **how):
    """Debian's own Python, which has Debian's packages."""
    return t.run("/usr/bin/python3", "-B", *words, **how)


def has_client():
    return shutil.which("/usr/bin/python3") and foreign_python(
        "-c", "import prometheus_client").returncode == 0


def need(program):
    if shutil.which(program) is None:
        raise t.Skip(f"{program} is missing")


def need_serve():
    if not pathlib.Path("/usr/include/microhttpd.h").exists():
        raise t.Skip("libmicrohttpd-dev is missing")


# Reports

def count_report(**more):
    return {"schema": 1, "machine": "zen4", "program": "/opt/run it --token s3cret",
            "interrupted": False,
            "events": [
                {"name": "ex_ret_instr", "asked": "instructions", "value": 12,
                 "fidelity": "exact"},
                {"name": "cycles", "asked": "cycles", "value": 34, "fidelity": "estimated", "runs": 2,
                 "mean": 34.0, "stddev": 3.4},
                {"name": "cycles", "value": 35, "fidelity": "estimated"},
                {"name": "task-clock", "value": 2500000, "unit": "ns",
                 "fidelity": "measured"},
                {"name": "odd", "value": 0, "fidelity": "idle"},
                {"name": "gone", "value": None, "code": "no-pmu", "reason": "r"},
                {"name": "energy", "value": 1.5, "unit": "Joules",
                 "fidelity": "measured"},
                {"name": "queue", "value": 7, "unit": "entries",
                 "fidelity": "modelled"}],
            "metrics": [{"name": "ipc", "value": 0.5, "unit": "",
                         "fidelity": "estimated"}], **more}


def measure(name, median, baseline=None, **more):
    def around(n):
        return {"median": n, "least": n - 1, "most": n + 1}

    return {"name": name, "verdict": "same", "now": around(median),
            "baseline": baseline and around(baseline), "soft_percent": None,
            "hard_percent": 5.0,
            "change_percent":
                baseline and 100.0 * (median - baseline) / baseline, **more}


def check_report(median=110, day=1, status="rose", name="a/b"):
    return {"schema": 1, "tally": "1", "time": f"2026-01-{day:02}T00:00:00Z",
            "results": [{"benchmark": name, "machine": "ci-1", "key": "k",
                         "status": status, "reason": None,
                         "measures": [measure("instructions", median, 100),
                                      measure("cost", 300)]}]}


def export(document, *options, status=0, said=None):
    text = document if isinstance(document, str) else json.dumps(document)
    done = t.run(t.tally(), "export", "--as", "openmetrics", "-i", "-", *options,
                 stdin=None, input=text)
    t.equal(done.returncode, status, f"status: {done.stderr}")
    if said is not None:
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1, "lines of talk")
        t.equal(done.stdout, "", "output beside an error")
    return done.stdout


@t.named("export: a report of tally count, each unit and standing")
def counts():
    found = families(export(count_report()))
    t.equal(value(found, "tally_count_events", event="ex_ret_instr"), 12)
    t.equal(value(found, "tally_count_events", asked="instructions",
                  standing="exact", machine="zen4", program="run"), 12)
    # Of two events of one name the first has the sample.
    t.equal(value(found, "tally_count_events", event="cycles",
                  standing="estimated"), 34)
    assert not any("asked" in dict(k) and dict(k)["event"] == "cycles"
                   for k in found["tally_count_events"].samples), "asked twice"
    t.equal(value(found, "tally_count_deviation_ratio", event="cycles"), 0.1)
    t.equal(value(found, "tally_count_seconds", event="task-clock"), 0.0025)
    t.equal(value(found, "tally_count_joules", event="energy"), 1.5)
    t.equal(value(found, "tally_count_events", event="queue", unit="entries"), 7)
    t.equal(value(found, "tally_count_metric", metric="ipc"), 0.5)
    t.equal(value(found, "tally_count_missing", event="odd", code="idle",
                  standing="idle"), 1)
    t.equal(value(found, "tally_count_missing", event="gone", code="no-pmu"), 1)
    for name in ("odd", "gone"):
        assert not any(dict(k).get("event") == name
                       for k in found["tally_count_events"].samples), name
    t.equal(value(found, "tally_count_interrupted"), 0)


@t.named("export: no argument of the program is told")
def secrets():
    assert "s3cret" not in export(count_report()), "a token is in the output"


@t.named("export: a report of tally check")
def checks():
    found = families(export(check_report()))
    where = {"benchmark": "a/b", "machine": "ci-1"}
    t.equal({dict(k)["status"]: v
             for k, v in found["tally_check_status"].samples.items()},
            {"passed": 0, "warned": 0, "rose": 1, "no-baseline": 0, "failed": 0,
             "varies": 0})
    t.equal(value(found, "tally_check_value", measure="instructions",
                  standing="exact", **where), 110)
    t.equal(value(found, "tally_check_value", measure="cost",
                  standing="estimated", **where), 300)
    t.equal(value(found, "tally_check_least", measure="cost"), 299)
    t.equal(value(found, "tally_check_most", measure="cost"), 301)
    t.equal(value(found, "tally_check_baseline", **where), 100)
    t.equal(value(found, "tally_check_change_ratio", **where), 0.1)
    t.equal(value(found, "tally_check_limit_ratio", measure="cost", limit="hard"),
            0.05)
    t.equal(value(found, "tally_check_timestamp_seconds"), 1767225600)


@t.named("export: hostile names stay within their labels")
def hostile():
    name = 'a"} 1\nx{y="\\\u202e\u00e4'
    found = families(export(check_report(name=name)))
    t.equal(value(found, "tally_check_timestamp_seconds",
                  benchmark='a"} 1\\x0ax{y="\\\\\\u{202e}\u00e4'), 1767225600)
    document = count_report(machine=name, program=name)
    for event in document["events"]:
        event["name"] += name
    families(export(document))


@t.named("export: a report of a run on this host")
def run_here():
    path = folder / "run.json"
    with Machine("intel") as machine:
        done = machine.run(t.tally(), "count", "-m", "host", "-j", "-o", path, "-e",
                           "cycles,instructions", "true")
    t.equal(done.returncode, 0, done.stderr)
    found = families(export(path.read_text()))
    t.equal(value(found, "tally_count_events", event="cycles", machine="host",
                  program="true", standing="measured"), 2000000)


@t.named("export: what is no such report is refused in one line")
def refused():
    record = folder / "odd.data"
    record.write_bytes(b"tally record\n" + bytes(64))
    for text, said in (
            ("", "no JSON"), ("{", "no JSON"), ("[]", "is no report"),
            ("{}", "is no report of tally count -j"),
            ({"schema": 1, "by": "rank", "machine": "m", "events": []},
             "of several ranks (--mpi)"),
            ({"schema": 1, "results": [7]}, "does not say when"),
            ({"schema": 9, "results": []}, "of another version"),
            ({"schema": 1, "at_s": 1, "machine": "m", "events": []}, "intervals"),
            (count_report(parts=[{"name": "cpu 0"}]), "of single cpus"),
            ('{"a":' * 5000, "no JSON")):
        export(text, status=125, said=said)
    for options, status, said in (
            (["-i", folder / "none.json"], 125, "No such file"),
            (["-i", folder], 125, "cannot read"),
            ([], 2, "needs -i FILE"),
            (["-i", "x", "-e", "cycles"], 2, "-e is of records"),
            (["-i", "x", "--image", "a"], 2, "--image is of records")):
        done = t.run(t.tally(), "export", "--as", "openmetrics", *options)
        t.equal((done.returncode, done.stdout, done.stderr.count("\n")),
                (status, "", 1), f"{options}: {done.stderr}")
        t.contains(done.stderr, said)


@t.named("export: -o replaces the file whole, and never the report")
def output():
    report, out = folder / "o.json", folder / "o.prom"
    report.write_text(json.dumps(check_report()))
    out.write_text("old")
    bad = folder / "bad.json"
    bad.write_text("{")
    words = [t.tally(), "export", "--as", "openmetrics", "-o"]
    t.equal(t.run(*words, out, "-i", bad).returncode, 125)
    t.equal(out.read_text(), "old")
    t.equal(t.run(*words, out, "-i", report).returncode, 0)
    families(out.read_text())
    done = t.run(*words, report, "-i", report)
    t.equal(done.returncode, 2, done.stderr)
    t.equal(json.loads(report.read_text()), check_report())


@t.named("export: a full disk and a closed pipe")
def unwritten():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = t.run(t.tally(), "export", "--as", "openmetrics", "-i", "-",
                     stdin=None, input=json.dumps(check_report()), stdout=full,
                     stderr=subprocess.PIPE)
    t.equal(done.returncode, 125, done.stderr)
    t.contains(done.stderr, "No space left")


@t.named("export: promtool and python3-prometheus-client read what is written")
def foreign_export():
    need("promtool")
    for document in (count_report(), check_report()):
        text = export(document)
        done = t.run("promtool", "check", "metrics", stdin=None, input=text)
        t.equal((done.returncode, done.stderr), (0, ""), done.stdout)
        read_by_client(text)


def read_by_client(text):
    """Compares what python3-prometheus-client finds with what is found here."""
    if not has_client():
        raise t.Skip("python3-prometheus-client is missing")
    done = foreign_python("-c", (
        "import json, sys\n"
        "from prometheus_client.openmetrics.parser import"
        " text_string_to_metric_families as families\n"
        "print(json.dumps([[f.name, f.type, f.unit, [[sorted(s.labels.items()),"
        " s.value] for s in f.samples]] for f in families(sys.stdin.read())]))"),
        stdin=None, input=text)
    t.equal(done.returncode, 0, done.stderr)
    theirs = {name: (kind, unit, {frozenset(map(tuple, l)): v for l, v in samples})
              for name, kind, unit, samples in json.loads(done.stdout)}
    ours = {name: (f.kind, f.unit or "", f.samples)
            for name, f in families(text).items()}
    t.equal(theirs, ours)


# serve

class Served:
    """tally serve, for the time of a with statement."""

    def __init__(self, *options, env=None, listen="127.0.0.1:0", **how):
        self.words = [t.tally(), "serve", "--listen", listen, *map(str, options)]
        self.env, self.how = env, how

    def __enter__(self):
        need_serve()
        self.process = subprocess.Popen(
            self.words, env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **self.how)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise AssertionError(f"no address: {self.process.communicate()}")
        self.place = urllib.parse.urlsplit(self.url)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.talk = self.process.communicate()[1]

    def ask(self, path="/metrics", method="GET", accept=OPEN, body=None):
        connection = http.client.HTTPConnection(
            self.place.hostname, self.place.port, timeout=60 * t.MINUTES)
        with contextlib.closing(connection):
            connection.request(method, path, body,
                               {"Accept": accept} if accept else {})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()

    def metrics(self):
        status, headers, text = self.ask()
        t.equal(status, 200, text)
        assert headers["Content-Type"].startswith(f"{OPEN}; version=1.0.0"), \
            headers["Content-Type"]
        return families(text)

    def connect(self):
        return socket.create_connection((self.place.hostname, self.place.port))


COUNTERS = "context-switches,page-faults,cpu-clock"


@t.named("serve: counters of this host grow, and are told by their source")
def serve_here():
    with Served("-e", COUNTERS) as served:
        before = served.metrics()
        t.run("true")
        after = t.wait_for("a page fault", lambda: (
            lambda now: now if value(now, "tally_host_events", event="page-faults") >
            value(before, "tally_host_events", event="page-faults") else None)(
                served.metrics()))
    for name, event in (("tally_host_events", "context-switches"),
                        ("tally_host_seconds", "cpu-clock")):
        t.equal(after[name].kind, "counter")
        assert value(after, name, event=event, standing="measured") >= \
            value(before, name, event=event), event
    t.equal(after["tally_host_seconds"].unit, "seconds")


@t.named("serve: both formats, HEAD, other pages and methods")
def answers():
    with Served("-e", COUNTERS) as served:
        status, headers, text = served.ask(accept=None)
        t.equal(status, 200)
        t.equal(headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        t.contains(text, "# TYPE tally_host_events_total counter\n")
        assert "# EOF" not in text and "# UNIT" not in text, text
        status, headers, text = served.ask(method="HEAD")
        t.equal((status, text), (200, ""))
        assert int(headers["Content-Length"]) > 100, headers
        t.equal(served.ask("/")[::2], (404, "/metrics has the metrics\n"))
        t.equal(served.ask("/metrics/../etc/passwd")[0], 404)
        t.equal(served.ask("/metrics?x=1")[0], 200)
        for place, status in (("/metrics", 200), ("/", 404), ("", 404)):
            t.equal(served.ask(f"http://127.0.0.1:{served.place.port}{place}")[0],
                    status, place)
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "ODD"):
            status, headers, _ = served.ask(method=method, body=b"x" * 1000)
            t.equal((status, headers["Allow"]), (405, "GET, HEAD"), method)


@t.named("serve: counters of the processor, one that is shared, one of no use")
def mocked():
    lines = "cpus 2\npmu cpu core type=4 counters=1\nparanoid -1"
    with Machine(lines) as machine, \
            Served("-e", "cycles,instructions,context-switches",
                   env=machine.env()) as served:
        found = served.metrics()
        again = served.metrics()
    for event in ("cycles", "instructions"):
        value(found, "tally_host_events", event=event, standing="estimated",
              source="perf")
    value(found, "tally_host_events", event="context-switches",
          standing="measured")
    for labels, number in found["tally_host_events"].samples.items():
        assert again["tally_host_events"].samples[labels] >= number, labels


@t.named("serve -A: each cpu has its samples")
def by_cpu():
    with Machine("cpus 3\nonline 0,2\nparanoid -1") as machine, \
            Served("-A", "-e", "context-switches", env=machine.env()) as served:
        found = served.metrics()
    t.equal(sorted(dict(k)["cpu"] for k in found["tally_host_events"].samples),
            ["0", "2"])


@t.named("serve: without a PMU events are missing, each with its reason")
def no_pmu():
    with Machine("no-pmu") as machine, \
            Served("-e", "cycles,context-switches", env=machine.env()) as served:
        found = served.metrics()
    value(found, "tally_host_missing", event="cycles", code="no-pmu",
          standing="idle")
    value(found, "tally_host_events", event="context-switches")
    assert not any(dict(k)["event"] == "cycles"
                   for k in found["tally_host_events"].samples), "cycles counted"
    t.contains(served.talk, "not counted: cycles: this system shows no hardware")


@t.named("serve: a user who may not count cpus gets what /proc has")
def unprivileged():
    script = ("cpus 2\nparanoid 3\ncapable no\n"
              "file /proc/stat cpu 1 2 3\\nctxt 1000\\nbtime 5\n"
              "file /proc/vmstat pgfree 5\\npgfault 700\\npgmajfault 100")
    names = "context-switches,page-faults,minor-faults,cpu-clock,cpu-migrations"
    with Machine(script) as machine:
        root = pathlib.Path(machine.variables["TALLY_MOCK_ROOT"])
        with Served("-e", names, env=machine.env()) as served:
            (root / "proc/stat").write_text("cpu 1 2 3\nctxt 1042\n")
            (root / "proc/vmstat").write_text("pgfault 710\npgmajfault 103\n")
            found = served.metrics()
            (root / "proc/stat").write_text("cpu\n")
            (root / "proc/vmstat").write_text("pgfault 1\npgmajfault 1\n")
            later = served.metrics()
    for event, number in (("context-switches", 42), ("page-faults", 10),
                          ("minor-faults", 7)):
        t.equal(value(found, "tally_host_events", event=event, source="proc"),
                number, event)
    value(found, "tally_host_missing", event="cpu-migrations", code="paranoid")
    assert value(found, "tally_host_seconds", event="cpu-clock") > 0
    # A counter does not fall, and what cannot be read has no sample.
    t.equal(value(later, "tally_host_events", event="page-faults"), 10)
    value(later, "tally_host_missing", event="context-switches")
    t.contains(served.talk, "CAP_PERFMON")


@t.named("serve --check: the newest results, also those that come later")
def results():
    place = folder / "results"
    place.mkdir()
    (place / "a.json").write_text(json.dumps(check_report(110, 1)))
    (place / "notes.json").write_text("[]")
    with Served("-e", COUNTERS, "--check", place) as served:
        found = served.metrics()
        t.equal(value(found, "tally_check_value", measure="instructions"), 110)
        t.equal(value(found, "tally_check_readable"), 1)
        (place / "b.json").write_text(json.dumps(check_report(120, 2, "passed")))
        found = t.wait_for("the later report", lambda: (
            lambda now: now if value(
                now, "tally_check_value", measure="instructions") == 120 else None)(
                    served.metrics()))
        t.equal(value(found, "tally_check_status", status="passed"), 1)
        shutil.rmtree(place)
        found = t.wait_for("the loss of the folder", lambda: (
            lambda now: now if value(now, "tally_check_readable") == 0 else None)(
                served.metrics()))
        assert "tally_check_value" not in found
    t.equal(served.talk.count("notes.json"), 1, "times the odd file is told")


@t.named("serve: SIGTERM, Ctrl-C and SIGHUP end it with status 0")
def ends():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with Served("-e", COUNTERS) as served:
            with served.connect():
                served.process.send_signal(number)
                t.equal(served.process.wait(60 * t.MINUTES), 0, number)


@t.named("serve: a signal that was ignored at the start stays ignored")
def ignored():
    with Served("-e", COUNTERS, preexec_fn=lambda: signal.signal(
            signal.SIGINT, signal.SIG_IGN)) as served:
        served.process.send_signal(signal.SIGINT)
        served.metrics()
        t.equal(served.process.poll(), None, "status")


@t.named("serve: addresses that cannot be, each refused in one line")
def addresses():
    need_serve()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        rows = [(f"127.0.0.1:{port}", 125, "another program listens"),
                ("192.0.2.1:0", 125, "this host has no address"),
                ("", 2, "is no ADDRESS:PORT"), (":80", 2, "is no ADDRESS:PORT"),
                ("127.0.0.1", 2, "is no ADDRESS:PORT"),
                ("127.0.0.1:", 2, "is no ADDRESS:PORT"),
                ("127.0.0.1:65536", 2, "is no ADDRESS:PORT"),
                ("127.0.0.1:-1", 2, "is no ADDRESS:PORT"),
                ("127.0.0.1:99999999999999999999", 2, "is no ADDRESS:PORT"),
                ("::1:80", 2, "is no ADDRESS:PORT"),
                ("[::1:80", 2, "is no ADDRESS:PORT"),
                ("[]:80", 2, "is no ADDRESS:PORT"),
                ("example.org:80", 2, "is no ADDRESS:PORT"),
                ("\x1b[31m:80", 2, "\\x1b[31m:80"),
                ("1" * 5000 + ":80", 2, "is no ADDRESS:PORT")]
        for listen, status, said in rows:
            done = t.run(t.tally(), "serve", "-e", "context-switches",
                         "--listen", listen)
            talk = [line for line in done.stderr.splitlines()
                    if "come from /proc" not in line]
            t.equal((done.returncode, done.stdout, len(talk)), (status, "", 1),
                    f"{listen}: {done.stderr}")
            t.contains(talk[0], said)


@t.named("serve: a user may not listen at a port of the system")
def low_port():
    need_serve()
    start = pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start")
    if os.geteuid() != 0:
        raise t.Skip("not root, who can become another user")
    if not start.exists() or int(start.read_text()) < 2:
        raise t.Skip("all users may listen at all ports here")
    copy = folder / "tally"
    shutil.copy(t.tally(), copy)
    os.chmod(folder, 0o755)
    done = t.run(copy, "serve", "-e", "context-switches", "--listen",
                 "127.0.0.1:1", user=NOBODY, group=NOBODY, extra_groups=[])
    t.equal((done.returncode, done.stdout), (125, ""), done.stderr)
    t.contains(done.stderr, "take a port from 1024 on")


@t.named("serve: other options that are wrong")
def wrong():
    need_serve()
    for options, status, said in (
            (["-e", "no-such-event"], 2, "no-such-event"),
            (["-e", "{context-switches,page-faults}"], 2, "without braces"),
            (["--check", folder / "none"], 125, "cannot read"),
            (["sleep", "1"], 2, "'sleep' is no option"),
            (["--interval", "1"], 2, "unknown option --interval")):
        done = t.run(t.tally(), "serve", "--listen", "127.0.0.1:0", *options)
        t.equal((done.returncode, done.stdout), (status, ""),
                f"{options}: {done.stderr}")
        t.contains(done.stderr, said)
    with Machine("no-pmu") as machine:
        done = machine.run(t.tally(), "serve", "--listen", "127.0.0.1:0", "-e",
                           "cycles")
    t.equal((done.returncode, done.stdout), (125, ""), done.stderr)
    t.contains(done.stderr, "no event is counted")


@t.named("serve: an address of all is told, loopback is silent")
def everybody():
    with Served("-e", COUNTERS, listen="0.0.0.0:0") as served:
        served.place = urllib.parse.urlsplit(
            f"http://127.0.0.1:{served.place.port}/metrics")
        served.metrics()
    t.contains(served.talk, "whoever reaches this address")
    with Served("-e", COUNTERS, listen="0") as served:
        t.equal(served.place.hostname, "127.0.0.1")
    assert "whoever" not in served.talk, served.talk


@t.named("serve: clients that say nothing, or little, hold nobody up")
def slow():
    with Served("-e", COUNTERS) as served, contextlib.ExitStack() as open_ones:
        for number in range(200):
            client = open_ones.enter_context(served.connect())
            if number % 2:
                client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nX: ")
            if number % 50 == 0:
                served.metrics()
        served.metrics()
        # The oldest connection was ended for the others.
        first = served.connect()
        with first:
            for _ in range(100):
                open_ones.enter_context(served.connect())
            served.metrics()
            assert select.select([first], [], [], 60 * t.MINUTES)[0], "never ended"
            t.equal(first.recv(1), b"")
        descriptors = len(os.listdir(f"/proc/{served.process.pid}/fd"))
        assert descriptors < 250, f"{descriptors} descriptors"


@t.named("serve: what is no HTTP, and headers without end")
def hostile_clients():
    def resident():
        status = pathlib.Path(f"/proc/{served.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])

    def throw(data):
        with served.connect() as client, contextlib.suppress(OSError):
            client.settimeout(60 * t.MINUTES)
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            while client.recv(1 << 16):
                pass

    with Served("-e", COUNTERS) as served:
        served.metrics()
        for data in (b"\0" * 100000, b"\r\n" * 50000, b"GET " + b"/" * 1000000,
                     b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 100000,
                     b"GET /metrics HTTP/9.9\r\n\r\n", b"GET /%00 HTTP/1.1\r\n\r\n",
                     b"POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 999999999"
                     b"\r\n\r\n" + b"x" * 100000,
                     b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 1000):
            throw(data)
        first = resident()
        for _ in range(100):
            throw(b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 10000)
            throw(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        served.metrics()
        assert resident() < first + 8192, f"grew from {first} to {resident()} kB"


@t.named("serve: promtool and python3-prometheus-client read both formats")
def foreign_serve():
    need("promtool")
    with Served("-e", COUNTERS + ",cycles") as served:
        text, old = served.ask()[2], served.ask(accept=None)[2]
    done = t.run("promtool", "check", "metrics", stdin=None, input=old)
    t.equal((done.returncode, done.stderr), (0, ""), done.stdout)
    read_by_client(text)


@t.named("serve: Debian's prometheus scrapes it")
def scraped():
    need("prometheus")
    place = folder / "prometheus"
    place.mkdir()
    (folder / "scraped.json").write_text(json.dumps(check_report()))
    with Served("-e", COUNTERS, "--check", folder / "scraped.json") as served:
        (place / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
            "scrape_configs": [{"job_name": "tally", "static_configs": [
                {"targets": [served.place.netloc]}]}]}))
        with open(place / "log", "w", encoding="utf-8") as log:
            scraper = subprocess.Popen(
                ["prometheus", f"--config.file={place}/prometheus.yml",
                 f"--storage.tsdb.path={place}/data",
                 "--web.listen-address=127.0.0.1:0"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            listening = re.compile(r'msg="Listening on" address=(\S+)')
            address = t.wait_for("an address of prometheus", lambda: (
                listening.search((place / "log").read_text()) or
                ([] if scraper.poll() is None else ["", None])))[1]
            assert address, (place / "log").read_text()

            def asked(query):
                url = f"http://{address}/api/v1/query?query="
                with contextlib.suppress(OSError), urllib.request.urlopen(
                        url + urllib.parse.quote(query)) as answer:
                    return json.load(answer)["data"]["result"]
                return None

            rows = t.wait_for("a sample in prometheus", lambda: asked(
                'tally_host_events_total{event="context-switches"}'))
            assert float(rows[0]["value"][1]) >= 0, rows
            rows = t.wait_for("results in prometheus", lambda: asked(
                'tally_check_status{status="rose"} == 1'))
            t.equal(rows[0]["metric"]["benchmark"], "a/b")
        finally:
            scraper.terminate()
            scraper.wait()


# pmdatally

def agent():
    path = t.build / "pmda" / "pmdatally"
    if not path.exists():
        raise t.Skip("pmdatally is not built: libpcp-pmda3-dev was missing")
    need("dbpmda")
    return path


def open_folder(name):
    """A folder that the user of the agent can read."""
    os.chmod(folder, 0o755)
    place = folder / name
    place.mkdir()
    os.chmod(place, 0o755)
    return place


def debugged(place, options, *lines):
    """What dbpmda shows of these commands."""
    words = " ".join(map(str, [agent(), "-d", "391", "-U", user(), "-l",
                               place / "log", *options]))
    commands = [f"open pipe {words}", "getdesc on", *lines, "close", "quit"]
    done = t.run("dbpmda", "-f", "-n", t.source("pmda", "root"), stdin=None,
                 input="\n".join(commands) + "\n", cwd=t.source("pmda"))
    log = (place / "log").read_text() if (place / "log").exists() else ""
    t.equal(done.returncode, 0, done.stderr + log)
    return done.stdout + done.stderr, log


def user():
    """Who the agent shall become: whoever runs the test, and nobody of root."""
    return "nobody" if os.geteuid() == 0 else subprocess.run(
        ["id", "-un"], capture_output=True, text=True, check=True).stdout.strip()


@t.named("pmdatally: dbpmda sees events, results, and what is missing")
def debugger():
    place = open_folder("pmda")
    report = place / "a.json"
    report.write_text(json.dumps(check_report(name="a b")))
    report.chmod(0o644)
    shown, log = debugged(
        place, ["-e", COUNTERS, "-r", place], "desc tally.host.events",
        "fetch tally.host.events", "fetch tally.host.clock",
        "fetch tally.host.standing", "instance 391.0", "instance 391.1",
        "fetch tally.check.value", "fetch tally.check.baseline",
        "fetch tally.check.change", "fetch tally.check.status",
        "fetch tally.check.standing", "fetch tally.check.timestamp")
    for wanted in ("Semantics: counter  Units: count",
                   'name: "context-switches"', 'name: "cpu-clock"',
                   'name: "a\\x20b:ci-1:instructions"', "value 110", "value 300",
                   "value 100", "value 10", 'value "rose"', 'value "exact"',
                   'value "estimated"', 'value "measured"', "value 1767225600"):
        t.contains(shown, wanted)
    assert "Error" not in log, log


@t.named("pmdatally: reports that are damaged or not there are told in its log")
def damaged():
    place = open_folder("damaged")
    (place / "x.json").write_text("{")
    shown, log = debugged(place, ["-e", COUNTERS, "-r", place / "x.json"],
                          "fetch tally.check.value", "fetch tally.host.events")
    t.contains(log, "x.json is no JSON")
    t.contains(shown, "tally.check.value")
    done = t.run(agent(), "-e", "no-such-event", "-l", place / "log2",
                 "-U", user())
    t.equal(done.returncode, 1, done.stderr)
    t.contains((place / "log2").read_text(), "no-such-event")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def collector(place, options):
    """pmcd with this agent alone, in a folder of its own."""
    pmcd = "/usr/lib/pcp/bin/pmcd"
    need("pminfo")
    if not os.access(pmcd, os.X_OK):
        raise t.Skip("pmcd is missing")
    if os.geteuid() != 0:
        raise t.Skip("not root, whom pmcd needs")
    words = " ".join(map(str, [agent(), "-d", "391", "-U", "nobody", "-l",
                               place / "log", *options]))
    (place / "conf").write_text(f"tally 391 pipe binary {words}\n")
    for name in ("domain.h", "pmns", "root"):
        shutil.copy(t.source("pmda", name), place)
    env = {**os.environ, "PCP_RUN_DIR": str(place), "PCP_LOG_DIR": str(place),
           "PCP_TMP_DIR": str(place), "PMCD_SOCKET": str(place / "socket")}
    with open(place / "out", "w", encoding="utf-8") as out:
        process = subprocess.Popen(
            [pmcd, "-f", "-A", "-U", "root", "-c", place / "conf", "-n",
             place / "root", "-s", place / "socket", "-p", str(free_port()),
             "-H", "here", "-l", place / "pmcd.log"],
            env=env, cwd=place, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        yield process, ["-h", f"unix:{place}/socket", "-n", place / "root"], env
    finally:
        process.terminate()
        process.wait()


@t.named("pmdatally: pminfo and pmval read it by pmcd")
def by_pmcd():
    place = open_folder("pmcd")
    report = place / "a.json"
    report.write_text(json.dumps(check_report()))
    report.chmod(0o644)
    with collector(place, ["-e", COUNTERS, "-r", report]) as (pmcd, how, env):
        def shown():
            done = t.run("pminfo", *how, "-f", "tally", env=env)
            if done.returncode == 0 and "page-faults" in done.stdout:
                return done.stdout
            assert pmcd.poll() is None, (place / "out").read_text() + done.stderr
            return None

        text = t.wait_for("metrics of pmcd", shown)
        for wanted in ('or "context-switches"] value ', 'or "cpu-clock"] value ',
                       'or "a/b:ci-1:instructions"] value 110',
                       'or "a/b:ci-1"] value "rose"'):
            t.contains(text, wanted)
        done = t.run("pmval", *how, "-t", "0.1", "-s", "2", "-f", "0",
                     "tally.host.events", env=env)
        t.equal(done.returncode, 0, done.stderr)
        t.contains(done.stdout, "page-faults")


@t.named("pmdatally: names, help and numbers are of the same metrics")
def agree():
    names = re.findall(r"^    (\w+)\tTALLY:(\d+):(\d+)$",
                       pathlib.Path(t.source("pmda", "pmns")).read_text(), re.M)
    t.equal(len(names), 15)
    t.equal(len({n[1:] for n in names}), 15)
    helped = re.findall(r"^@ tally\.\w+\.(\w+) ",
                        pathlib.Path(t.source("pmda", "help")).read_text(), re.M)
    t.equal(sorted(helped), sorted(n[0] for n in names))


with tempfile.TemporaryDirectory(prefix="tally-fleets-") as name:
    folder = pathlib.Path(name)
    t.main()
