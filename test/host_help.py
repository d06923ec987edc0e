# SPDX-License-Identifier: MIT
"""What the tests of the host's counters share: programs, needs, runs."""
import contextlib
import functools
import json
import os
import pathlib
import platform
import signal
import subprocess
import time

import tallytest as t

HOST = ["-m", "host"]
FAULTS = ["-e", "page-faults"]
# Page faults of two runs of one program: the loader's differ by a few.
NEAR = 40
# rt_sigtimedwait, where tally waits while it counts.
WAITS = {"x86_64": 128, "aarch64": 137, "riscv64": 137}


def program(name):
    return str(t.build / "test" / f"host-{name}")


@functools.cache
def refusal():
    """Why the kernel counts no event of a program, kernel level included."""
    done = tally("-j", "-e", "context-switches", "--", "true")
    event = json.loads(done.stderr)["events"][0]
    return event.get("reason") if event["value"] is None else None


def need_perf_event():
    if refusal() is not None:
        raise t.Skip(refusal())


def need_cpus():
    """Whole processors need more rights than a program of one's own."""
    done = tally("-a", "-j", "-e", "page-faults", "--", "true")
    event = json.loads(done.stderr)["events"][0]
    if event["value"] is None:
        raise t.Skip(event["reason"])


def need_root():
    if os.geteuid() != 0:
        raise t.Skip("not root")


def emulated(name):
    """A program of test/guest, where QEMU can run: under no sanitizer."""
    options = json.loads((t.build / "meson-info" / "intro-buildoptions.json")
                         .read_text())
    if not any(o["name"] == "b_sanitize" and o["value"] in ("none", [])
               for o in options):
        raise t.Skip("QEMU runs under no sanitizer")
    if not os.path.exists(t.guest(name)):
        raise t.Skip("no programs of test/guest")
    return t.guest(name)


def need_pmu(there):
    has = any(pathlib.Path("/sys/bus/event_source/devices", name).exists()
              for name in ("cpu", "cpu_core", "armv8_pmuv3_0"))
    if has != there:
        raise t.Skip("there is a PMU" if has else "there is no PMU")


def tally(*words, **how):
    return t.run(t.tally(), "count", *HOST, *words, **how)


def host(options, *command, **how):
    need_perf_event()
    return t.Count([*HOST, *options], command, **how)


def faults(name, *args, options=()):
    c = host([*FAULTS, *options], program(name), *args)
    t.equal(c.status, 0, f"status; {c.stderr!r}")
    return c["page-faults"]


def near(got, wanted, most, what):
    assert abs(got - wanted) <= most, f"{what}: {got}, not {wanted} +- {most}"


def row(c, name):
    return next(e for e in c.json["events"] if e["name"] == name)


@contextlib.contextmanager
def worker(threads, pages):
    """A worker that waits, and its thread ids, the first thread's first."""
    process = subprocess.Popen(
        [program("worker"), str(threads), str(pages)], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        word, *ids = process.stdout.readline().split()
        t.equal(word, "ready")
        yield process, ids
    finally:
        process.kill()
        process.stdin.close()
        process.stdout.close()
        process.wait()


def is_waiting(pid):
    """Whether it waits for signals: then it counts."""
    if platform.machine() not in WAITS:
        time.sleep(1)
        return True
    try:
        word = pathlib.Path(f"/proc/{pid}/syscall").read_text().split()[0]
    except (OSError, IndexError):
        return False
    return word == str(WAITS[platform.machine()])


@contextlib.contextmanager
def counting(*options, **how):
    """A tally that counts already."""
    need_perf_event()
    process = subprocess.Popen(
        [t.tally(), "count", *HOST, *map(str, options)], text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True, **how)
    try:
        while process.poll() is None and not is_waiting(process.pid):
            time.sleep(0.01)
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
