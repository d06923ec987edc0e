# SPDX-License-Identifier: MIT
"""Programs that outlive a tally that is killed: outlive.py BUILD [WORD]

The program goes on to its end, forks, starts threads and executes programs, and
writes nothing into a file that another process has where tally had its memory.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

import tallytest as t

LAST_PID = pathlib.Path("/proc/sys/kernel/ns_last_pid")
FORKS = 20
DESCRIPTORS = range(3, 32)
SIZE = 1 << 20


def script(machine_end):
    """Returns the script of a shell that waits for a line, then forks."""
    return (f"echo ready; read go; i=0; while [ $i -lt {FORKS} ]; do "
            f"(echo fork $i); i=$((i + 1)); done; "
            f"{t.guest('crew' + machine_end)} 4 1; echo crew $?; "
            f"{t.guest('forker' + machine_end)} fork; echo forker $?; "
            f"{t.guest('hello' + machine_end)}; echo end")


def wanted(machine_end):
    plain = subprocess.run([t.guest("hello.x86_64")], capture_output=True,
                           text=True, check=True).stdout
    crew = subprocess.run([t.guest("crew.x86_64"), "4", "1"],
                          capture_output=True, text=True, check=True).stdout
    return ("".join(f"fork {i}\n" for i in range(FORKS)) + crew + "crew 0\n"
            "forker 3\n" + plain + "end\n")


@contextlib.contextmanager
def orphan(machine_end):
    """A program whose tally is killed as it waits; what tally's pid was."""
    machine = ["-m", "host-model"] if machine_end == ".x86_64" else []
    process = subprocess.Popen(
        [t.tally(), "count", *machine, "-e", "instructions", "-o", "/dev/null",
         "--", t.guest("busybox" + machine_end), "sh", "-c",
         script(machine_end)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True)
    try:
        t.equal(process.stdout.readline(), "ready\n")
        os.kill(process.pid, signal.SIGKILL)
        t.equal(process.wait(60 * t.MINUTES), -signal.SIGKILL)
        yield process
    finally:
        process.kill()
        # At the end of its input the program goes on, too, and ends.
        for file in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError):
                file.close()


def go_on(process, machine_end):
    """Lets the program go on; it must end as if nothing had happened."""
    process.stdin.write("go\n")
    process.stdin.close()
    out, said = process.stdout.read(), process.stderr.read()
    t.equal(out, wanted(machine_end), said)


def ends(machine_end):
    with orphan(machine_end) as process:
        go_on(process, machine_end)


def take_pid(pid, path):
    """Becomes a process of that pid, which has the file at each descriptor that
    tally may have had; the pid of it, or None."""
    for _ in range(50):
        try:
            LAST_PID.write_text(str(pid - 1))
        except OSError as error:
            raise t.Skip(f"no pid can be chosen: {error}") from error
        child = os.fork()
        if child == 0:
            with contextlib.suppress(BaseException):
                if os.getpid() == pid:
                    file = os.open(path, os.O_RDWR)
                    for number in DESCRIPTORS:
                        os.dup2(file, number)
                    os.utime(path, (1, 1))
                    time.sleep(60 * t.MINUTES)
            os._exit(0)
        if child == pid:
            return child
        os.waitpid(child, 0)
    return None


def reused(machine_end):
    with tempfile.TemporaryDirectory() as folder, orphan(
            machine_end) as process:
        path = pathlib.Path(folder, "other")
        path.write_bytes(bytes(SIZE))
        other = take_pid(process.pid, path)
        if other is None:
            raise t.Skip("others took the pid")
        try:
            t.wait_for("the file is open", lambda: path.stat().st_mtime == 1)
            go_on(process, machine_end)
            t.equal(path.read_bytes() == bytes(SIZE), True, "the file is whole")
            t.equal(path.stat().st_mtime, 1, "when it was written")
        finally:
            os.kill(other, signal.SIGKILL)
            os.waitpid(other, 0)


for machine_end in (".x86_64", ".sparc64", ".mips64"):
    t.case(f"tally is killed: the program goes on to its end, {machine_end}",
           ends, machine_end)
    t.case(f"another process has tally's pid: nothing is written, {machine_end}",
           reused, machine_end)

t.main()
