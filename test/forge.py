# SPDX-License-Identifier: MIT
"""Programs that write into the memory of their session: forge.py BUILD [WORD]

test/forge.c is the program. Whatever it writes, tally ends, with little memory,
and every report names the process that is left out.
"""
import json
import os
import platform
import tempfile

import tallytest as t

MOST = 200 << 10  # KB that a process of tally may have at once

REGION = ("blocks", "strands", "threads", "records", "files", "state",
          "snapshots", "captures", "slices", "name", "counts", "strand", "pid")
HEADER = ("counts_size", "request", "uncounted")


def forge(what, whose, *words):
    """Runs a command on the program; its status, what it and the program said,
    and the most memory that one process of tally had at once, in KB."""
    program = [str(t.build / "test" / "forge"), what, whose]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile(
            "w+") as said:
        pid = os.posix_spawn(
            t.tally(), [t.tally(), *words, "--", *program], os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, out.fileno(), 1),
                          (os.POSIX_SPAWN_DUP2, said.fileno(), 2)])
        # The most of tally and of every QEMU that it waited for, pages of the
        # session's memory that they map included.
        _, status, usage = os.wait4(pid, 0)
        for file in (out, said):
            file.seek(0)
        return (os.waitstatus_to_exitcode(status), out.read(), said.read(),
                usage.ru_maxrss)


def child_of(out):
    return int(next(line.split()[1] for line in out.splitlines()
                    if line.startswith("child ")))


def names(text, out):
    """The report says that the forged process is left out."""
    t.contains(text, f"not counted: {t.build}/test/forge"[:40])
    t.contains(text, f"(pid {child_of(out)})")


COUNT = ("count", "-m", "host-model", "-e", "instructions")


def sibling(what):
    """A process that has ended: its counts are left out, in every form."""
    status, out, text, used = forge(what, "sibling", *COUNT)
    t.equal(status, 0, f"status; {text}")
    if what in ("pid", "name"):
        t.contains(text, "not counted: ")
    else:
        names(text, out)
    t.contains(text, "partial")
    t.equal(used <= MOST, True, f"{used} KB of memory")
    status, out, text, _ = forge(what, "sibling", *COUNT, "-j", "--strict")
    t.equal(status, 125, f"--strict; {text}")
    left = json.loads(text)["inconsistent"]
    t.equal(len(left), 1, "processes left out")
    if what not in ("pid", "name"):
        t.equal(left[0]["pid"], child_of(out), "which")


def form(words, wanted):
    """Another form or command; each says of its counts that they are partial."""
    status, out, text, _ = forge("counts", "sibling", *words)
    t.equal(status, 0, text)
    for word in wanted:
        t.contains(text, word.format(pid=child_of(out)))


def own(what):
    """Its own counts: the process may put it right when it ends, and may lose
    its counts; tally ends, and says so where the counts are not in."""
    status, _, text, used = forge(what, "own", *COUNT, "-j")
    report = json.loads(text)
    t.equal(status in (0, 139, 134, 135), True, f"status {status}: {text}")
    t.equal(used <= MOST, True, f"{used} KB of memory")
    plain = report["events"][0]["value"]
    t.equal(plain is None or plain < 1 << 40, True, f"instructions: {plain}")


def header(what):
    status, _, text, used = forge(what, "own", *COUNT, "-j", "--strict")
    t.equal(used <= MOST, True, f"{used} KB of memory")
    t.equal(status, 125, f"--strict: {text}")
    left = [p["pid"] for p in json.loads(text)["inconsistent"]]
    t.equal(None in left, True, f"the session is inconsistent: {left}")


def owners():
    """The memory of virtual counters, which no program of this session asks for:
    processes that look into it go on without."""
    status, _, text, used = forge("owners", "own", *COUNT, "-j", "--strict")
    t.equal(used <= MOST, True, f"{used} KB of memory")
    t.equal(status, 0, text)


def taken():
    """A number of processes that leads to one that a process has: the next process
    takes none, and the report names it."""
    status, _, text, _ = forge("processes", "own", *COUNT, "-j")
    t.equal(status, 0, text)
    report = json.loads(text)
    t.equal(len(report["strands"]), 2, "processes that are counted")
    t.equal(len(report["uncounted"]), 1, "a process that is not")


def random_words(seed, whose):
    """Random words over all that QEMU maps of the session's memory, 128 MB."""
    status, _, text, used = forge(f"words{seed}", whose, *COUNT, "-j",
                                  "--strict")
    t.equal(used <= MOST, True, f"{used} KB of memory")
    t.equal(status, 125, f"--strict: {text}")
    left = [p["pid"] for p in json.loads(text)["inconsistent"]]
    t.equal(None in left, True, f"the session is inconsistent: {left}")


def honest():
    status, _, text, _ = forge("nothing", "own", *COUNT, "-j", "--strict")
    t.equal(status, 0, text)
    report = json.loads(text)
    t.equal((report["inconsistent"], report["lost_threads"]), ([], 0))


if platform.machine() == "x86_64":
    t.case("nothing is forged: nothing is left out", honest)
    t.case("the memory of virtual counters", owners)
    t.case("the number of processes of the session", taken)
    t.case("heads of 256 processes that never were", header, "many")
    for words, wanted in (
            ((*COUNT, "--format", "csv"),
             ["partial,instructions", ',partial,"not counted: ',
              "(pid {pid}), whose counts are inconsistent"]),
            (("perfex", "-m", "r10000", "--foreign"),
             ["(pid {pid}), whose counts are inconsistent", "partial"])):
        t.case("counts of a process that has ended: " + " ".join(words), form,
               words, wanted)
    for what in REGION:
        t.case(f"{what} of a process that has ended", sibling, what)
        t.case(f"{what} of its own counts", own, what)
    for what in HEADER:
        t.case(f"{what} of the session", header, what)
    for seed in range(1, 5):
        t.case(f"random words, seed {seed}", random_words, seed,
               "own")
        t.case(f"random words of two processes at once, seed {seed}", random_words,
               seed, "sibling")

t.main()
