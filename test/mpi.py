#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ranks of MPI: mpi.py BUILD [WORD]

What is inside MPI is tried with functions of that name in a program of one
rank, whose launcher is played by two variables; how ranks meet, with several
such programs; and all of it with the launchers of Open MPI and MPICH, where
they are installed.
"""
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

import tallytest as t

EVENTS = "instructions,branches,L1-dcache-load-misses,branch-misses,cycles"
NOBODY = 65534

# Loops of two instructions: what runs in them is known to the instruction.
ALONE = r"""
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf out;
static char data[1 << 16];

__attribute__((noinline)) static void spin(unsigned long n)
{
    if (n > 0)
        __asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
}
static void touch(unsigned long n)
{
    for (unsigned long i = 0; i < n; i++)
        ((volatile char *)data)[i * 64 % sizeof(data)]++;
}
__attribute__((noinline)) void PMPI_Wait(unsigned long n) { spin(n); touch(n); }
__attribute__((noinline)) void MPI_Wait(unsigned long n)
{
    PMPI_Wait(n);
    __asm__ volatile("");
}
__attribute__((noinline)) void MPI_Leave(void) { longjmp(out, 1); }
int main(int argc, char **argv)
{
    unsigned long inside = strtoul(argv[1], NULL, 10);
    unsigned long outside = strtoul(argv[2], NULL, 10);
    for (int i = 0; i < 3; i++) {
        spin(outside);
        touch(2000);
        MPI_Wait(inside);
    }
    if (argc > 3 && setjmp(out) == 0)
        MPI_Leave();
    MPI_Wait(1);
    return 0;
}
"""

# Each rank works by its number, and waits for all others three times. The order
# of what it does is fixed.
RANKS = r"""
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int rank, size;
    double a[512] = {0}, sum = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int k = 0; k < 3; k++) {
        unsigned long n = 100000ul * (rank + 1);
        __asm__ volatile("1: dec %0; jnz 1b" : "+r"(n) : : "cc");
        for (int i = 0; i < 512; i++)
            sum += a[i] += i;
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv_replace(a, 512, MPI_DOUBLE, (rank + 1) % size, 0,
                             (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
    if (argc > 1 && rank == 1)
        exit(3);
    MPI_Finalize();
    return 0;
}
"""


def need_x86():
    if platform.machine() != "x86_64" or shutil.which("gcc") is None:
        raise t.Skip("needs gcc for x86-64")


def compiled(folder, text, compiler="gcc"):
    source, program = pathlib.Path(folder, "p.c"), pathlib.Path(folder, "p")
    source.write_text(text)
    done = t.run(compiler, "-O1", "-o", program, source)
    t.equal((done.returncode, done.stderr), (0, ""), "compiling")
    return str(program)


def rank_words(*options, program=("/bin/true",)):
    return [t.tally(), "count", "--mpi", *options, "--", *map(str, program)]


def rank_env(rank, size, **more):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("OMPI_", "PMI", "SLURM_", "MV2_"))}
    return env | {"PMI_RANK": str(rank), "PMI_SIZE": str(size)} | more


def start(rank, size, *options, program=("/bin/true",), **how):
    return subprocess.Popen(rank_words(*options, program=program),
                            env=rank_env(rank, size), text=True,
                            stdin=how.pop("stdin", subprocess.DEVNULL),
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            **how)


def alone(folder, *arguments, events=EVENTS):
    """The counts of a program of one rank, outside and inside."""
    out = pathlib.Path(folder, "r.json")
    done = t.run(*rank_words("-j", "-o", out, "-e", events, "--mpi-dir",
                             pathlib.Path(folder, "d"), program=arguments),
                 env=rank_env(0, 1))
    t.equal((done.returncode, done.stderr), (0, ""), "status")
    report = json.loads(out.read_text())
    return {kind: {e["name"]: e[kind]["ranks"][0] for e in report["events"]}
            for kind in ("outside_mpi", "in_mpi")}


@t.named("what is inside of functions of MPI counts apart, to the instruction")
def inside():
    need_x86()
    with tempfile.TemporaryDirectory() as folder:
        p = compiled(folder, ALONE)
        few, many, more = (alone(folder, p, *n) for n in (
            ("10001", "1010"), ("60001", "1010"), ("10001", "2010")))
        # Whatever runs inside, nothing outside counts otherwise: not even a
        # miss or a wrong prediction.
        t.equal(many["outside_mpi"], few["outside_mpi"], "outside")
        assert many["in_mpi"]["instructions"] > \
            few["in_mpi"]["instructions"] + 3 * 2 * 50000, many
        t.equal(more["outside_mpi"]["instructions"]
                - few["outside_mpi"]["instructions"], 3 * 2 * 1000,
                "instructions outside")
        t.equal(more["in_mpi"]["instructions"], few["in_mpi"]["instructions"],
                "inside")


@t.named("a call of MPI that longjmp() left ends with the next")
def left():
    need_x86()
    with tempfile.TemporaryDirectory() as folder:
        p = compiled(folder, ALONE)
        plain, jumped = (alone(folder, p, 1, 10, *more)
                         for more in ((), ("jump",)))
        # main() goes on inside until its next call of MPI returns.
        assert 0 < jumped["in_mpi"]["instructions"] \
            - plain["in_mpi"]["instructions"] < 20000, (plain, jumped)


@t.named("ranks meet: one report, in three forms")
def meet():
    with tempfile.TemporaryDirectory() as folder:
        for form, check in (("text", text_form), ("csv", csv_form),
                            ("json", json_form)):
            out = pathlib.Path(folder, form)
            place = pathlib.Path(folder, "d" + form)
            ranks = [start(i, 3, "--mpi-dir", place, "--format", form, "-o",
                           out, "-e", "instructions") for i in (2, 0, 1)]
            said = [r.communicate()[1] for r in ranks]
            t.equal([r.returncode for r in ranks], [0] * 3, said)
            t.equal(said, [""] * 3, "said")
            check(out.read_text())
            t.equal(list(place.iterdir()), [], "what is left in the folder")


def text_form(text):
    for words in ("3 ranks of MPI, each on a machine of its own",
                  "instructions: exact outside MPI", "rank 2 ", "imbalance  ",
                  "never exact"):
        assert words in text, text


def csv_form(text):
    rows = list(csv.reader(io.StringIO(text)))
    t.equal([r[3] for r in rows],
            ["0", "1", "2", "min", "mean", "max", "imbalance"], "ranks")
    t.equal({len(r) for r in rows}, {8}, "columns")
    t.equal((rows[0][2], rows[0][5], rows[0][6]),
            ("instructions", "exact", "varies"), "cells")
    t.equal(rows[6][0], "1", "imbalance of equal ranks")


def json_form(text):
    report = json.loads(text)
    t.equal((report["schema"], report["by"], report["size"]), (1, "rank", 3),
            "head")
    t.equal([r["status"] for r in report["ranks"]], ["exit 0"] * 3, "status")
    event, = report["events"]
    outside = event["outside_mpi"]
    t.equal(len(set(outside["ranks"])), 1, "equal programs")
    t.equal((outside["fidelity"], event["in_mpi"]["fidelity"]),
            ("exact", "varies"), "standing")
    # The loader is inside, and of equal programs equal.
    t.equal(len(set(event["in_mpi"]["ranks"])), 1, "inside")


@t.named("imbalance is the maximum divided by the mean")
def imbalance():
    need_x86()
    with tempfile.TemporaryDirectory() as folder:
        p = compiled(folder, ALONE)
        out = pathlib.Path(folder, "r.json")
        ranks = [start(i, 2, "--mpi-dir", pathlib.Path(folder, "d"), "-j", "-o",
                       out, "-e", "instructions", "-M", "ipc",
                       program=(p, 1, n))
                 for i, n in ((0, "001000"), (1, "300000"))]
        said = [r.communicate()[1] for r in ranks]
        t.equal([r.returncode for r in ranks], [0, 0], said)
        report = json.loads(out.read_text())
        o = report["events"][0]["outside_mpi"]
        a, b = o["ranks"]
        t.equal(b - a, 3 * 2 * 299000, "instructions")
        t.equal((o["min"], o["mean"], o["max"]), (a, (a + b) / 2, b), "sums")
        assert abs(o["imbalance"] - b / ((a + b) / 2)) < 1e-8, o
        assert "ipc" in [m["name"] for m in report["metrics"]], report


def refused(words, *options, status=2, env=None):
    with tempfile.TemporaryDirectory() as folder:
        done = t.run(*rank_words(*options),
                     env=(env or rank_env(0, 1)) | {"TMPDIR": folder})
    t.equal(done.returncode, status, done.stderr)
    t.equal(len(done.stderr.splitlines()), 1, done.stderr)
    assert words in done.stderr, done.stderr


@t.named("bad input: one line, and a status")
def bad():
    bare = {k: v for k, v in rank_env(0, 1).items()
            if not k.startswith("PMI_")}
    refused("not started by mpirun: as in mpirun -n 4", env=bare)
    refused("PMI_RANK=4 and PMI_SIZE=4: must be a rank below",
            env=rank_env(4, 4))
    refused("PMI_RANK=x and PMI_SIZE=1", env=rank_env("x", 1))
    for options in (["-r", "2"], ["-I", "10"], ["--per-thread"],
                    ["--per-process"], ["--accounting"], ["--skip", "5"],
                    ["--from", "main"], ["--filter", "code=main"]):
        refused(f"--mpi does not go with '{options[0]}'", *options)
    refused("--mpi is for a modelled machine", "-m", "host")
    refused("finds the other ranks by the environment, so leave out '--clean-env'",
            "--clean-env")
    with tempfile.TemporaryDirectory() as folder:
        refused("No such file", "-o", f"{folder}/no/file")
        refused("No such file", "--mpi-dir", f"{folder}/no/folder")
        refused("No space left", "-o", "/dev/full", status=125)
        link = pathlib.Path(folder, "link")
        link.symlink_to(folder)
        refused("is a link; --mpi-dir DIR names a folder of your own", "--mpi-dir",
                link)
        wide = pathlib.Path(folder, "wide")
        wide.mkdir()
        wide.chmod(0o777)
        refused("can be written by others", "--mpi-dir", wide)
    done = t.run(t.tally(), "count", "--mpi-dir", "/tmp", "--", "/bin/true")
    t.equal(done.returncode, 2, done.stderr)
    assert "--mpi-dir names the folder of '--mpi'" in done.stderr, done.stderr


def held(folder, rank, size):
    """A rank whose program waits for its standard input."""
    rank_file = pathlib.Path(folder, f"rank-{rank}")
    process = start(rank, size, "--mpi-dir", folder, "-e", "instructions",
                    program=("/bin/cat",), stdin=subprocess.PIPE)
    t.wait_for(f"rank {rank}", lambda: rank_file.exists())
    return process


@t.named("two ranks with one number: the second is refused")
def twice():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "d")
        first = held(place, 0, 1)
        refused("there is a rank 0 already", "--mpi-dir", place)
        said = first.communicate("")[1]
        t.equal(first.returncode, 0, said)


@t.named("a rank whose tally is killed: the others' report says so")
def killed():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "d")
        lost = held(place, 1, 2)
        os.kill(lost.pid, signal.SIGKILL)
        lost.communicate("")
        first = start(0, 2, "--mpi-dir", place, "-e", "instructions")
        said = first.communicate()[1]
        t.equal(first.returncode, 125, said)
        assert "no counts of rank 1: its tally ended without a report" in said
        assert re.search(r"\n    rank 1 +- +-\n", said), said


@t.named("a rank that never begins is waited for ten seconds")
def missing():
    with tempfile.TemporaryDirectory() as folder:
        first = start(0, 2, "--mpi-dir", pathlib.Path(folder, "d"), "-e",
                      "instructions")
        said = first.communicate()[1]
        t.equal(first.returncode, 125, said)
        assert "no counts of rank 1: it was not started with" in said, said


@t.named("a signal while a rank waits: the report of what there is")
def signalled():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "d")
        late = held(place, 1, 2)
        first = start(0, 2, "--mpi-dir", place, "-e", "instructions")
        t.wait_for("the writer", lambda: (place / "writer").exists())
        first.send_signal(signal.SIGTERM)
        said = first.communicate()[1]
        t.equal(first.returncode, 125, said)
        assert "no counts of rank 1: it had not ended" in said, said
        late.communicate("")


@t.named("ranks that count other events are refused")
def others():
    with tempfile.TemporaryDirectory() as folder:
        place = pathlib.Path(folder, "d")
        ranks = [start(i, 2, "--mpi-dir", place, "-e", e)
                 for i, e in enumerate(("instructions", "branches"))]
        said = [r.communicate()[1] for r in ranks]
        t.equal(sorted(r.returncode for r in ranks), [0, 125], said)
        assert "--mpi: rank 1 counted other events than rank 0" in \
            "".join(said), said


@t.named("the status is that of the rank's own program")
def status():
    with tempfile.TemporaryDirectory() as folder:
        done = t.run(*rank_words("-e", "instructions", program=(
            "/bin/sh", "-c", "exit 3")), env=rank_env(0, 1, TMPDIR=folder))
    t.equal(done.returncode, 3, done.stderr)
    assert "rank 0: exit 3" in done.stderr, done.stderr


@t.named("nothing is left in /tmp, whatever went wrong")
def tidy():
    with tempfile.TemporaryDirectory() as folder:
        for options in ((), ("-m", "host"), ("-e", "no-such-event")):
            t.run(*rank_words("-e", "instructions", *options),
                  env=rank_env(0, 1, TMPDIR=folder))
            t.equal(os.listdir(folder), [], options)


@t.named("tally summarize joins the dumps of several ranks")
def dumps():
    program = t.build / "examples" / "pktproc"
    if not os.path.exists(program):
        raise t.Skip("the examples are not built")
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            done = t.run(t.tally(), "profile", "-m", "host-model", "-e",
                         "instructions,branches", "-o",
                         pathlib.Path(folder, "profile.%p.csv"), "--", program,
                         cwd=folder)
            t.equal(done.returncode, 0, done.stderr)
        files = sorted(pathlib.Path(folder).glob("profile.*.csv"))
        t.equal(len(files), 2, "dumps")
        one, two = (json.loads(t.run(t.tally(), "summarize", "-j",
                                     *some).stdout)
                    for some in (files[:1], files))
        counts = [[item["n"] for item in find(report, "n")]
                  for report in (one, two)]
        assert counts[0], one
        t.equal(counts[1], [2 * n for n in counts[0]], "intervals")


def find(value, key):
    """The objects in a document that have a key."""
    if isinstance(value, list):
        return [o for item in value for o in find(item, key)]
    if not isinstance(value, dict):
        return []
    return ([value] if key in value else []) + find(list(value.values()), key)


def launcher(kind):
    """The words that start ranks under an MPI."""
    run, compiler = f"mpirun.{kind}", f"mpicc.{kind}"
    need_x86()
    if shutil.which(run) is None or shutil.which(compiler) is None:
        raise t.Skip(f"no {run} and {compiler}: Debian's packages "
                     + ("openmpi-bin and libopenmpi-dev" if kind == "openmpi"
                        else "mpich and libmpich-dev"))
    return ([run] + (["--oversubscribe"] if kind == "openmpi" else []),
            compiler)


def mpi_env(folder):
    return os.environ | {
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        # QEMU 7.2 has no process_vm_readv(), and Open MPI says so each time.
        "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
        "TMPDIR": str(folder), "HOME": str(folder)}


def report_of(kind, folder, program, *arguments, before=(), ranks=4):
    words, _ = launcher(kind)
    out = pathlib.Path(folder, "report.json")
    out.unlink(missing_ok=True)
    done = t.run(*before, *words, "-n", ranks, t.tally(), "count", "--mpi",
                 "-j", "-o", out, "-e", EVENTS, "--", program, *arguments,
                 env=mpi_env(folder), cwd=folder)
    return done, json.loads(out.read_text()) if out.exists() else None


def outside_of(report):
    return {e["name"]: e["outside_mpi"]["ranks"] for e in report["events"]}


def check_ranks(kind, times, before=(), owner=None):
    _, compiler = launcher(kind)
    # Open MPI's paths of sockets must be short.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        program = compiled(folder, RANKS, compiler)
        if owner is not None:
            os.chown(folder, owner, owner)
        first = None
        for _ in range(times):
            done, report = report_of(kind, folder, program, before=before)
            t.equal(done.returncode, 0, done.stderr)
            counts = outside_of(report)
            t.equal(len(counts["instructions"]), 4, "ranks")
            t.equal(counts, first or counts, "what is outside MPI")
            first = counts
            event = report["events"][0]
            t.equal(event["outside_mpi"]["fidelity"], "exact", "outside")
            t.equal(event["in_mpi"]["fidelity"], "varies", "inside")
            assert min(event["in_mpi"]["ranks"]) > 100000, event
        # Each rank's own loop is a multiple of the first rank's.
        assert all(b - a == 600000 for a, b in zip(
            first["instructions"], first["instructions"][1:])), first
        t.equal([p.name for p in pathlib.Path(folder).glob("tally-mpi-*")], [],
                "folders that are left")


for KIND, TIMES in (("openmpi", 3), ("mpich", 10)):
    t.case(f"{KIND}: four ranks, and what is outside MPI repeats",
           check_ranks, KIND, TIMES)


def as_nobody(kind):
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        raise t.Skip("not root, so that all else is tried as another user")
    before = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}",
              "--clear-groups")
    if t.run(*before, t.tally(), "--version").returncode != 0:
        raise t.Skip("another user cannot run this build")
    check_ranks(kind, 1, before, NOBODY)


def rank_fails(kind):
    _, compiler = launcher(kind)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        program = compiled(folder, RANKS, compiler)
        done, _ = report_of(kind, folder, program, "fail", ranks=2)
        assert done.returncode != 0, done.stderr


for KIND in ("openmpi", "mpich"):
    t.case(f"{KIND}: as an ordinary user", as_nobody, KIND)
    t.case(f"{KIND}: a rank that fails ends the job", rank_fails, KIND)

if __name__ == "__main__":
    t.main()
