# SPDX-License-Identifier: MIT
"""Signals that stop programs and let them go on: unix_signals.py BUILD [WORD]

What tally gets, the program gets: stopped with tally, it goes on with tally.
"""
import contextlib
import os
import pathlib
import pty
import signal
import subprocess
import tempfile

import tallytest as t

MODELS = {"a model": ("-m", "host-model", "-e", "instructions"),
          "the host": ("-m", "host", "-e", "task-clock")}


def state(pid):
    """A process's letter in /proc: T is stopped."""
    text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    return text.rpartition(") ")[2][0]


def child_of(pid):
    path = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    return int(t.wait_for("tally starts the program", path.read_text).split()[0])


@contextlib.contextmanager
def running(options, *program):
    """tally on a program, in a group of its own: one whose parent is in another
    group of the session, so that SIGTSTP may stop it."""
    process = subprocess.Popen(
        [t.tally(), "count", "-j", *options, "--", *program], text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=os.setpgrp)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def stopped_and_continued(options):
    with running(options, t.guest("waiter.x86_64")) as process:
        t.equal(process.stdout.readline(), "ready\n")
        both = (process.pid, child_of(process.pid))
        for _ in range(2):
            process.send_signal(signal.SIGTSTP)
            for pid in both:
                t.wait_for("SIGTSTP stops tally and the program",
                           lambda p=pid: state(p) == "T")
            process.send_signal(signal.SIGCONT)
            for pid in both:
                t.wait_for("SIGCONT lets tally and the program go on",
                           lambda p=pid: state(p) != "T")
        process.send_signal(signal.SIGTERM)
        out, said = process.communicate()
    t.equal((out, process.returncode), ("got SIGTERM\n", 7), said)


def stopped_itself(options):
    with running(options, t.guest("busybox.x86_64"), "sh", "-c",
                 "kill -STOP $$; echo on") as process:
        t.wait_for("the program stops",
                   lambda: state(child_of(process.pid)) == "T")
        process.send_signal(signal.SIGCONT)
        out, said = process.communicate()
    t.equal((out, process.returncode), ("on\n", 0), said)
    t.equal(t.json.loads(said).get("interrupted", False), False, "interrupted")


def taken(options):
    """Ctrl-C reaches the program alone."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder, "report")
        pid, master = pty.fork()
        if pid == 0:
            os.execv(t.tally(), [t.tally(), "count", "-j", "-r", "3", "-o",
                                 str(report), *options, "--",
                                 str(t.build / "test" / "taker")])
        said = b""
        with contextlib.suppress(OSError):  # the end of a terminal
            while chunk := os.read(master, 4096):
                if b"taken" in chunk:
                    os.write(master, b"\3")
                said += chunk
        _, status = os.waitpid(pid, 0)
        os.close(master)
        t.equal((said.count(b"taken"), os.waitstatus_to_exitcode(status)),
                (1, 128 + signal.SIGINT), said)
        t.equal(t.json.loads(report.read_text())["interrupted_run"], 1)


for each, words in MODELS.items():
    t.case(f"Ctrl-C to a program that takes the terminal ends -r, on {each}",
           taken, words)
    t.case(f"SIGTSTP and SIGCONT to tally alone, on {each}",
           stopped_and_continued, words)
    t.case(f"SIGCONT to tally where the program has stopped, on {each}",
           stopped_itself, words)


@t.named("a signal before the program's first instruction: the signal's status")
def at_the_start():
    # tally holds the signal until QEMU is there, and then passes it on: nearly
    # always before the program begins, which would run for minutes.
    for form in ((), ("-j",), ("-r", "2")):
        for name in ("TERM", "INT"):
            done = t.run(t.tally(), "count", "-m", "host-model", *form, "--pre",
                         f"kill -{name} $PPID", "--", t.guest("spin.x86_64"),
                         "100000000000")
            t.equal(done.returncode, 128 + getattr(signal, f"SIG{name}"),
                    f"status; {done.stderr!r}")
            assert ("spin.x86_64: a signal came before the program began\n"
                    in done.stderr or "instructions" in done.stderr), \
                done.stderr


t.main()
