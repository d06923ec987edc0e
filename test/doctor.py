#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally doctor on machines with each fault: doctor.py TALLY MOCK_OBJECT

Each row is a machine for test/mock/tree.py, and what doctor says there of this
host's own counters. All rows must hold whatever the host has mounted. TAP.
"""
import functools
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import surroundings

TREE = pathlib.Path(__file__).parent / "mock" / "tree.py"
CPU = "pmu cpu core type=4 counters=4\n"
ROWS = [
    ("counters work", CPU, "ok     hardware events\n", "perf_event_paranoid",
     "tally count works here on modelled machines and on the host's "
     "counters\n"),
    ("no PMU", "", "no     hardware events: this system shows no hardware "
     "counters", "tally count -m host-model", "ok     software events",
     "tally count works here on modelled machines\n"),
    ("paranoid 0", CPU + "paranoid 0\ncapable no\n", "ok     whole cpus (-a)\n"),
    ("paranoid 1", CPU + "paranoid 1\ncapable no\n",
     "ok     the kernel's part\n", "no     whole cpus (-a): "
     "perf_event_paranoid is 1; counts of a whole cpu need 0 or less",
     "sudo sysctl kernel.perf_event_paranoid=0\n"),
    ("paranoid 2", CPU + "paranoid 2\ncapable no\n",
     "ok     hardware events\n", "no     the kernel's part: "
     "perf_event_paranoid is 2; counts at kernel level need 1 or less",
     "count at user level (EVENT:u)"),
    ("paranoid 2, tracepoints", CPU + "paranoid 2\ncapable no\n",
     "no     tracepoints: perf_event_paranoid is 2; counts at kernel level "
     "need 1 or less, or CAP_PERFMON\n         sudo sysctl "
     "kernel.perf_event_paranoid=1\n"),
    ("tracefs", CPU, "ok     tracepoints\n"),
    ("no tracefs", CPU + "tracefs no\n", "no     tracepoints: tracefs is not "
     "mounted, so that 'sched:sched_switch' cannot be found; sudo mount -t "
     "tracefs nodev /sys/kernel/tracing\n"),
    ("the only cpu that is on is not the host's first", "online 1\n" + CPU,
     "ok     whole cpus (-a)\n"),
    ("paranoid 3", CPU + "paranoid 3\ncapable no\n",
     "no     any event: perf_event_paranoid is 3; a program's own counts need "
     "2 or less", "sudo sysctl kernel.perf_event_paranoid=2\n"),
    ("seccomp, EPERM", "seccomp 2\nfail open EPERM\n",
     "no     any event: a seccomp filter", "docker run --cap-add PERFMON"),
    ("seccomp, ENOSYS", "seccomp 2\nfail open ENOSYS\n",
     "no     any event: a seccomp filter", "ENOSYS"),
    ("dead", CPU + "dead 0 1\n", "no     hardware events: the counter opens "
     "and reads 0 while code runs"),
    ("all taken", CPU.replace("\n", " taken=4\n"), "no     hardware events: "
     "the counter opens, but the kernel never gives it a place"),
    ("busy", CPU + "watchdog 1\nfail open EBUSY type=0\n",
     "no     hardware events: the counters are taken; the NMI watchdog",
     "sudo sysctl kernel.nmi_watchdog=0"),
    ("watchdog", CPU + "watchdog 1\n", "ok     hardware events\n",
     "maybe  the NMI watchdog holds one counter"),
    ("an old kernel", CPU + "without exclude_guest cloexec\n",
     "ok     hardware events\n"),
    ("interrupted", CPU + "fail open EINTR times=5\n",
     "ok     hardware events\n"),
    ("hybrid", "pmu cpu_core core type=4 cpus=0 counters=8 share=0\n"
     "pmu cpu_atom core type=8 cpus=1 counters=6 share=100\n",
     "ok     hardware events\n"),
]


def run(folder, tally, mock, machine, **how):
    script = folder / "machine.script"
    script.write_text("cpus 2\n" + machine)
    env = dict(os.environ, TALLY_MOCK_OBJECT=mock)
    done = subprocess.run(
        [sys.executable, "-B", TREE, script, "--", tally, "doctor"],
        env=env, text=True, capture_output=True, **how)
    return done.stdout.partition("this host's own counters\n")[2]


def take_proc():
    """Unmounts /proc in the mounts of this process alone."""
    return surroundings.libc.umount2(b"/proc", surroundings.DETACH) == 0


def limit_memory():
    """Limits the address space below what QEMU needs, and above what tally
    needs."""
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


def lacks(tally, how, *wanted):
    """What is wrong with what doctor says where tally count does not work; a
    reason to skip in brackets."""
    def call(*words):
        return subprocess.run([tally, *words], text=True, capture_output=True,
                              preexec_fn=how)

    if subprocess.run(["/bin/true"], preexec_fn=how).returncode == 77:
        return "(no mounts of its own: not root)"
    if call("--version").returncode != 0:
        return "(tally itself does not start there)"
    if call("count", "-m", "host-model", "-e", "instructions", "--",
            "/bin/sh", "-c", ":").returncode == 0:
        return "(tally count works there)"
    for words in (["doctor"], ["doctor", "/bin/sh"]):
        done = call(*words)
        if done.returncode != 125 or "tally count works" in done.stdout:
            return f"{words}: status {done.returncode}: {done.stdout}"
        for text in wanted:
            if text not in done.stdout:
                return f"{words}: no {text!r} in {done.stdout}"
    return ""


def changes(change):
    """What a child does to its mounts before it runs doctor."""
    if not surroundings.own_mounts() or not change():
        os._exit(77)


def can(change):
    """Whether a child may make the change."""
    return subprocess.run(["true"], preexec_fn=change).returncode == 0


def main():
    tally, mock = sys.argv[1:]
    if not TREE.exists() or not pathlib.Path(mock).exists():
        print("1..0 # SKIP there is no mock of the kernel")
        return
    host = (("tracefs mounted on the host", surroundings.give_tracefs),
            ("no tracefs on the host", surroundings.take_tracefs))
    lacking = (
        ("no /proc", functools.partial(changes, take_proc),
         "no     /proc: it is not mounted", "mount -t proc proc /proc\n"),
        ("ulimit -v", limit_memory, "no     a run of /bin/sh on host-model: ",
         "limited to 4.3 GB", "ulimit -v unlimited\n"),
    )
    surroundings.make_plain()
    print(f"1..{len(ROWS) + len(host) + len(lacking)}")
    with tempfile.TemporaryDirectory() as folder:
        doctor = functools.partial(run, pathlib.Path(folder), tally, mock)
        for number, (name, machine, *wanted) in enumerate(ROWS, 1):
            got = doctor(machine)
            good = all(text in got for text in wanted)
            print(f"{'ok' if good else 'not ok'} {number} {name}")
            for line in [] if good else got.splitlines():
                print(f"# {line}")
        plain = doctor(CPU)
        for number, (name, change) in enumerate(host, len(ROWS) + 1):
            change = functools.partial(changes, change)
            if not can(change):
                print(f"ok {number} {name} # SKIP no mounts of its own: "
                      "not root, or the kernel has no tracefs")
                continue
            got = doctor(CPU, preexec_fn=change)
            print(f"{'ok' if got == plain else 'not ok'} {number} {name}")
            for line in [] if got == plain else got.splitlines():
                print(f"# {line}")
    first = len(ROWS) + len(host) + 1
    for number, (name, how, *wanted) in enumerate(lacking, first):
        wrong = lacks(tally, how, *wanted)
        skipped = wrong.startswith("(")
        print(f"{'not ok' if wrong and not skipped else 'ok'} {number} {name}"
              + (f" # SKIP {wrong.strip('()')}" if skipped else ""))
        for line in [] if skipped else wrong.splitlines():
            print(f"# {line}")


if __name__ == "__main__":
    main()
