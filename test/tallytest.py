# SPDX-License-Identifier: MIT
"""What the tests of the command share: running tally, reporting in TAP.

A test file adds its cases with case() or @each() and calls main(); its first
argument is the build folder, which holds cli/tally and guests/.
"""
import concurrent.futures
import contextlib
import fnmatch
import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import traceback

import surroundings

ROOT = pathlib.Path(__file__).resolve().parent.parent
MINUTES = 10

build = pathlib.Path("build")
cases = []


class Skip(Exception):
    """The reason why a case cannot be tried here."""


def once(function):
    """Decorates a function that is called once for each of its arguments, also
    where cases that run at the same time ask for the same: functools.cache
    would call it twice."""
    lock, locks = threading.Lock(), {}
    cached = functools.cache(function)

    @functools.wraps(function)
    def call(*args, **options):
        with lock:
            own = locks.setdefault((args, tuple(sorted(options.items()))),
                                   threading.Lock())
        with own:
            return cached(*args, **options)
    return call


def case(name, function, *args):
    cases.append((name, function, args))


def named(name):
    """A decorator: the function is the case `name`."""
    def add(function):
        case(name, function)
        return function
    return add


def tally():
    return str(build / "cli" / "tally")


def guest(name):
    return str(build / "guests" / name)


@functools.cache
def build_options():
    """The options of the build, by their names."""
    done = run("meson", "introspect", "--buildoptions", build)
    if done.returncode != 0:
        raise Skip("no meson says how this was built")
    return {o["name"]: o["value"] for o in json.loads(done.stdout)}


def interfaces():
    """The folders of interfaces/ that are built."""
    return build_options()["interfaces"]


def need_interface(name):
    """Skips the case where the build lacks an interface; None: needs none."""
    if name and name not in interfaces():
        raise Skip(f"built without interfaces/{name}")


def source(*names):
    return str(ROOT.joinpath(*names))


def run(*words, **how):
    """Runs a command; the result has returncode, stdout and stderr."""
    how.setdefault("stdin", subprocess.DEVNULL)
    how.setdefault("timeout", 60 * MINUTES)
    if "stdout" not in how and "stderr" not in how:
        how["capture_output"] = True
    return subprocess.run([str(w) for w in words], text=True,
                          errors="replace", **how)


def wait_for(what, wanted):
    """The first true value of wanted(); `what` says what never came."""
    end = time.monotonic() + 60 * MINUTES
    while time.monotonic() < end:
        got = wanted()
        if got:
            return got
        time.sleep(0.01)
    raise AssertionError(f"{what}: not within {MINUTES} minutes")


def child_seconds(pid):
    """Seconds of processor time that a process's children, and theirs, have
    had: how far they are, however busy the host is."""
    seconds, parents = 0, {str(pid)}
    rows = []
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            number, _, rest = path.read_text().partition(" (")
            rows.append((number, rest.rpartition(") ")[2].split()))
    for number, words in sorted(rows, key=lambda row: int(row[0])):
        if words[1] in parents:
            parents.add(number)
            seconds += (int(words[11]) + int(words[12])) / os.sysconf(
                "SC_CLK_TCK")
    return seconds


def patiently(attempt, waits=(1, 4, 16, 64)):
    """attempt(seconds), where a busy host may need more seconds: as often as
    it fails, with more of them."""
    for seconds in waits[:-1]:
        try:
            return attempt(seconds)
        except AssertionError:
            pass
    return attempt(waits[-1])


def modelled(program):
    """The options for a program that goes to the host's counters otherwise,
    where there are any."""
    return ["-m", "host-model"] if str(program).endswith(".x86_64") else []


class Count:
    """One run of `tally count` with its JSON report; the programs of test/guest
    are emulated if no machine is named."""

    def __init__(self, options, program, **how):
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            machine = [] if "-m" in options else modelled(program[0])
            self.done = run(tally(), "count", "-j", "-o", report, *machine,
                            *options, "--", *program, **how)
            self.text = (pathlib.Path(report).read_text()
                         if os.path.exists(report) else "")
        self.status = self.done.returncode
        self.stdout, self.stderr = self.done.stdout, self.done.stderr
        if not self.text:
            raise AssertionError(f"no report, status {self.status}: "
                                 f"{self.stderr}")
        self.json = json.loads(self.text)
        self.values = {e["name"]: e["value"] for e in self.json["events"]}

    def __getitem__(self, event):
        return self.values[event]


def count(options, *program, **how):
    """A run that must end well."""
    c = Count(options, program, **how)
    equal(c.status, 0, f"status; stderr: {c.stderr}")
    equal(c.stderr, "", "stderr")
    return c


def equal(got, wanted, what="value"):
    if got != wanted:
        raise AssertionError(f"{what}: {got!r}, not {wanted!r}")


def contains(text, wanted):
    if wanted not in text:
        raise AssertionError(f"{wanted!r} is not in {text!r}")


def same(first, second, what="counts"):
    """Two tables of equal numbers; tells which differ."""
    wrong = [f"{k} {first.get(k)} and {second.get(k)}"
             for k in sorted(first.keys() | second.keys())
             if first.get(k) != second.get(k)]
    if wrong:
        raise AssertionError(f"{what} differ: " + ", ".join(wrong))


def symbol(program, name):
    """Its address in a program."""
    try:
        done = run("nm", program)
    except FileNotFoundError:
        raise Skip("no nm") from None
    return next(int(line.split()[0], 16) for line in done.stdout.splitlines()
                if line.split()[-1] == name)


def table(*names):
    """A file of data/."""
    with open(ROOT.joinpath("data", *names), "rb") as file:
        return tomllib.load(file)


@functools.cache
def signals():
    """The rows of signals.toml, that of each copy too."""
    rows = {}
    for name, row in table("signals.toml")["signal"].items():
        rows[name] = row
        for i in range(row.get("copies", 0)):
            rows[f"{name}_{i}"] = row
    return rows


def event_signals(machine):
    """event: the signals it sums; of its base too, but what it goes without. The
    table is the caller's."""
    return dict(read_event_signals(machine))


@functools.cache
def read_event_signals(machine):
    """What event_signals() copies."""
    main = table("machines", machine, "machine.toml")
    inherited = event_signals(main["base"]) if "base" in main else {}
    for pattern in main.get("without", []):
        for name in fnmatch.filter(inherited, pattern):
            del inherited[name]
    own = {}
    for path in ROOT.glob(f"data/machines/{machine}/events*.toml"):
        for name, row in table(path)["event"].items():
            masks = {f"{name}.{u['name']}": u["signals"]
                     for u in row.get("umasks", []) if "signals" in u}
            own |= masks or {name: row.get("signals", [])}
    return inherited | own


def isas():
    """The rows of data/isa.toml, the guest architectures, by name."""
    return table("isa.toml")["isa"]


@functools.cache
def listed():
    """The rows of tally list machines."""
    return json.loads(run(tally(), "list", "machines", "-j").stdout)["machines"]


def machines():
    """Returns {name: instruction sets} of the machines that have a model."""
    return {m["name"]: m["isas"] for m in listed() if m["model"]}


@functools.cache
def parameters(machine):
    """{name: value} of a machine's parameters."""
    done = run(tally(), "list", "parameters", "-j", "-m", machine)
    return {row["name"]: row["value"]
            for row in json.loads(done.stdout)["parameters"]}


def instructions(machine):
    """The event that counts them, by its signals; None: its instructions are
    not the program's."""
    return next((name for name, signals in event_signals(machine).items()
                 if signals == ["instructions"]), None)


def singles(machine):
    """signal: the event that counts it alone."""
    return {signals[0]: name
            for name, signals in event_signals(machine).items()
            if len(signals) == 1}


def attempt(function, args):
    """The rest of the TAP line and the diagnosis, or None if all is well."""
    try:
        function(*args)
    except Skip as reason:
        return f" # SKIP {reason}", None
    except AssertionError as error:
        return None, str(error)
    except Exception:
        return None, traceback.format_exc()
    return "", None


def report(number, name, result):
    directive, trouble = result
    word = "not ok" if directive is None else "ok"
    print(f"{word} {number} - {name}{directive or ''}")
    for line in (trouble or "").splitlines():
        print(f"# {line}")
    sys.stdout.flush()
    return directive is not None


def main(add_cases=None):
    """Runs the cases, those that name a word of the arguments if any do; with
    those that add_cases() finds where the build is known."""
    global build
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} BUILD [WORD]")
    build = pathlib.Path(sys.argv[1]).resolve()
    surroundings.make_plain()
    if add_cases is not None:
        add_cases()
    words = sys.argv[2:]
    wanted = [c for c in cases
              if not words or any(word in c[0] for word in words)]
    print(f"1..{len(wanted)}")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = [pool.submit(attempt, function, args)
                   for _, function, args in wanted]
        good = [report(i + 1, wanted[i][0], result.result())
                for i, result in enumerate(results)]
    sys.exit(not all(good))
