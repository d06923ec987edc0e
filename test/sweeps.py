#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally sweep on whole programs: sweeps.py BUILD [WORD]

Each point of a sweep has the counts of tally count with the same settings.
"""
import csv
import io
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import xml.etree.ElementTree

import tallytest as t


def hello():
    return t.guest("hello.x86_64")


def arrays():
    return t.guest("arrays.x86_64")


def sweep(*words, **how):
    return t.run(t.tally(), "sweep", "--clean-env", *words, **how)


def counted(machine, sets, events, program):
    options = ["-m", machine, "--clean-env", "-e", ",".join(events)]
    for pair in sets:
        options += ["--set", pair]
    report = t.count(options, program)
    return {e["asked"]: (e["value"], e["fidelity"])
            for e in report.json["events"]}


def equal_to_count():
    """The same counts as one by one, on two machines."""
    events = ["instructions", "L1-dcache-load-misses", "cycles"]
    done = sweep("-m", "zen4,host-model", "--set", "l1d.size=4K..16K", "--set",
                 "l1d.ways=2,4", "-e", ",".join(events), "--format", "json",
                 "--", arrays())
    t.equal(done.returncode, 0, done.stderr)
    points = json.loads(done.stdout)["points"]
    t.equal(len(points), 12, "points")
    for point in points:
        chosen = dict(point["set"])
        machine = chosen.pop("machine")
        sets = [f"{k}={v}" for k, v in chosen.items()]
        theirs = counted(machine, sets, events, arrays())
        ours = {e["name"]: (e["value"], e["standing"]) for e in point["events"]}
        t.equal(ours, theirs, f"{machine} {sets}")


def arithmetic():
    """Two passes load 64 KB, 1,024 lines: both miss in a small cache, and in one
    that holds all the first alone."""
    done = sweep("-m", "host-model", "--set", "l1d.size=16K..256K", "-e",
                 "L1-dcache-load-misses", "--format", "csv", "--", arrays())
    t.equal(done.returncode, 0, done.stderr)
    misses = [int(row["L1-dcache-load-misses"])
              for row in csv.DictReader(io.StringIO(done.stdout))]
    t.equal(len(misses), 5, "points")
    for few, many in ((misses[4], misses[0]), (misses[3], misses[1])):
        assert 1024 <= few < 1400 and 1000 < many - few < 1100, misses


def impossible():
    """What the machine cannot be set to is named with the reason."""
    done = sweep("-m", "zen4", "--set", "l1d.ways=3,8", "-e", "instructions",
                 "--format", "json", "--", hello())
    t.equal(done.returncode, 0, done.stderr)
    first, second = json.loads(done.stdout)["points"]
    t.equal((first["possible"], first["exit"], first["events"]),
            (False, None, []), "3 ways")
    t.contains(first["reason"], "l1d.size=32K: with l1d.ways=3")
    t.equal((second["possible"], second["reason"]), (True, None), "8 ways")
    done = sweep("-m", "zen4", "--set", "l1d.ways=3,8", "-e", "instructions",
                 "--", hello())
    t.contains(done.stdout, "1 run, machine=zen4; the machine cannot be set to "
                            "1 more")


def idle():
    """Where an event cannot count, the first lines say why."""
    done = sweep("-m", "zen4", "--set", "strands=1", "-e",
                 "stall-issue,instructions", "--", hello())
    t.contains(done.stdout, "stall-issue: no count\n    idle in all runs: no "
                            "strands share a pipeline")
    done = sweep("-m", "zen4", "--set", "tlb.walk=0,4", "-e", "walk-reads",
                 "--format", "json", "--", hello())
    first, second = (p["events"][0] for p in json.loads(done.stdout)["points"])
    t.equal((first["value"], first["standing"]), (None, "idle"), "no walks")
    t.contains(first["reason"], "no table is walked")
    t.equal(second["standing"], "modelled", "walks")


def failures():
    done = sweep("-m", "zen4", "--set", "l1d.ways=4,8", "-e", "instructions",
                 "--", t.guest("crash.x86_64"), "segv")
    t.equal(done.returncode, 1, "status of killed programs")
    t.contains(done.stdout, "the program was killed by SIGSEGV")
    done = sweep("-m", "zen4", "-e", "instructions", "--", "/bin/false")
    t.equal(done.returncode, 0, "status of a program that ends with 1")
    t.contains(done.stdout, "ended with another status than 0 in 1 run")


def refused():
    for words, status, says in (
            ((), 2, "a program is missing"),
            (("-m", "nope", "--", hello()), 2, "unknown machine 'nope'"),
            (("-m", "zen4,sparc-t4", "--", hello()), 2, "--foreign"),
            (("--set", "l1d.sizes=1,2", "--", hello()), 2,
             "l1d.sizes: unknown parameter; did you mean l1d.size?"),
            (("--set", "l1d.size=4K..1K", "--", hello()), 2,
             "the range begins above its end"),
            (("--set", "l1d.ways=3", "--", hello()), 2, "with l1d.ways=3"),
            (("--set", "l1d.ways=3,5", "--", hello()), 2,
             "can be set to none of the 2 combinations; of the first: l1d.size"),
            (("--set", "machine=zen4", "--", hello()), 2, "-m names machines"),
            (("-e", "nope", "--", hello()), 2, "unknown event 'nope'"),
            (("-e", "cycles,cycles", "--", hello()), 2, "names an event twice"),
            (("--jobs", "0", "--", hello()), 2, "--jobs takes 1 to 1024"),
            (("--format", "xml", "--", hello()), 2, "xml"),
            (("--quantum", "x", "--", hello()), 2, "--quantum takes"),
            (("-o", "/nonesuch/x", "--", hello()), 2, "/nonesuch/x"),
            (("--state", "/nonesuch/x", "--", hello()), 2, "/nonesuch/x"),
            (("--state", hello(), "--", hello()), 2, "Not a directory"),
            (("--", "/nonesuch"), 127, "No such file")):
        done = sweep(*words)
        t.equal(done.returncode, status, f"{words}: {done.stderr!r}")
        t.equal(len(done.stderr.splitlines()), 1, f"lines of {done.stderr!r}")
        t.equal(done.stdout, "", "stdout")
        t.contains(done.stderr, says)


def goes_on():
    """A sweep that a signal ends goes on where it was; another is refused."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name, "state")
        words = ["--state", folder, "--jobs", "1", "-m", "zen4", "--set",
                 "l1d.ways=1,2,4,8", "--set", "l1d.size=8K..64K", "-e",
                 "L1-dcache-load-misses", "--format", "csv"]
        out = pathlib.Path(name, "out")
        process = subprocess.Popen(
            [t.tally(), "sweep", "--clean-env", *words, "-o", out, "--",
             arrays()], stderr=subprocess.PIPE, text=True)
        while len(list(folder.glob("0*.json"))) < 2:
            assert process.poll() is None, process.stderr.read()
            time.sleep(.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate()[1]
        t.equal(process.returncode, 130, "status")
        t.contains(said, "ended by SIGINT after")
        assert not out.exists(), "the report is there"
        done = sweep(*words, "--", arrays())
        t.equal(done.returncode, 0, done.stderr)
        t.contains(done.stderr, "of 16 runs are done already")
        t.equal(done.stdout, sweep(*words[4:], "--", arrays()).stdout,
                "the same as in one")
        for other, says in ((["-m", "zen3"], "other values"),
                            (["-e", "cycles"], "other events"),
                            (["--cpus", "2"], "other options")):
            done = sweep(*words, *other, "--", arrays())
            t.equal(done.returncode, 2, done.stderr)
            t.contains(done.stderr, says)
        done = sweep(*words, "--", arrays(), "x")
        t.contains(done.stderr, "another program, or of other arguments")
        # What somebody has written over a report is counted anew.
        whole = folder / "0003.json"
        for text in ("", "{}", "[1,", '{"status": {"exit": 0}}'):
            whole.write_text(text)
            done = sweep(*words, "--", arrays())
            t.equal(done.returncode, 0, done.stderr)
            t.contains(done.stderr, "15 of 16 runs are done already")
        # So is the report of another point, of another machine, of no event.
        other = json.loads((folder / "0002.json").read_text())
        whole.write_text(json.dumps(other))
        done = sweep(*words, "--", arrays())
        t.contains(done.stderr, "15 of 16 runs are done already")
        whole.unlink()
        os.mkfifo(whole)
        done = sweep(*words, "--", arrays())
        t.contains(done.stderr, "15 of 16 runs are done already")
        (folder / "sweep.json").rename(folder / "kept")
        done = sweep(*words, "--", arrays())
        t.equal(done.returncode, 2, done.stderr)
        t.contains(done.stderr, "has reports and no sweep.json")
        (folder / "sweep.json").write_text("{")
        done = sweep(*words, "--", arrays())
        t.equal(done.returncode, 2, done.stderr)
        t.contains(done.stderr, "cannot be read")


def plotted():
    """A plot is XML, has a line for each combination, and a dot for each
    count."""
    done = sweep("-m", "zen4", "--set", "l1d.size=4K..64K", "--set",
                 "l1d.ways=2,4", "-e", "cycles,L1-dcache-load-misses",
                 "--format", "svg", "--", hello(), "<&>")
    t.equal(done.returncode, 0, done.stderr)
    root = xml.etree.ElementTree.fromstring(done.stdout)
    names = [e.tag.split("}")[1] for e in root.iter()]
    t.equal(names.count("circle"), 20, "dots")
    texts = [e.text for e in root.iter() if e.tag.endswith("}text")]
    for text in ("cycles", "L1-dcache-load-misses", "4K", "64K", "l1d.ways=2",
                 f"{hello()} <&>"):
        assert text in texts, f"{text} is not in {texts}"


def unwritable():
    done = sweep("-m", "zen4", "-e", "instructions", "-o", "/dev/full", "--",
                 hello())
    t.equal(done.returncode, 125, done.stderr)
    t.contains(done.stderr, "/dev/full")
    done = sweep("-m", "zen4", "-e", "instructions", "--", hello(),
                 env={**os.environ, "TMPDIR": "/nonesuch"})
    t.equal(done.returncode, 1, done.stderr)
    t.contains(done.stdout, "TMPDIR")


JOBS_WORDS = ["-m", "zen4", "--set", "l1d.size=8K..64K", "--set", "l1d.ways=2,4",
              "-e", "L1-dcache-load-misses", "--format", "csv"]


def jobs_refused():
    for words, says in (
            (("-m", "zen4", "--jobs", "slurm", "--", hello()),
             "--state DIR is missing"),
            (("--jobs", "parallel", "--state", "x", "--", hello()),
             "host-model differs between computers"),
            (("--jobs", "many", "--", hello()), "'parallel' or 'slurm', not")):
        done = sweep(*words)
        t.equal(done.returncode, 2, done.stderr)
        t.equal(len(done.stderr.splitlines()), 1, f"lines of {done.stderr!r}")
        t.contains(done.stderr, says)


def jobs_by_parallel():
    """The same as without jobs, in a folder with a name that a shell would
    read; where GNU parallel lacks, one line says so."""
    if shutil.which("parallel") is None:
        raise t.Skip("no GNU parallel; Debian's package parallel has it")
    with tempfile.TemporaryDirectory() as name:
        state = pathlib.Path(name, "it's {} $HOME;%d")
        words = [*JOBS_WORDS, "--jobs", "parallel", "--state", state]
        done = sweep(*words, "--", arrays(), "'a\n$(b)'")
        t.equal(done.returncode, 0, done.stderr)
        t.equal(done.stdout,
                sweep(*JOBS_WORDS, "--", arrays(), "'a\n$(b)'").stdout,
                "the same without jobs")
        shutil.rmtree(state)
        done = sweep(*words, "--", t.guest("crash.x86_64"), "segv")
        t.equal(done.returncode, 1, "status of killed programs")
        t.contains(done.stdout, "the program was killed by SIGSEGV")
        shutil.rmtree(state)
        done = sweep(*words, "--", hello(), env={**os.environ, "PATH": name})
        t.equal(done.returncode, 125, done.stderr)
        t.equal(len(done.stderr.splitlines()), 1, f"lines of {done.stderr!r}")
        t.contains(done.stderr, "no run was made: cannot run parallel")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    """Slurm on one node of one processor, this computer, with all its files in
    a folder."""

    def __init__(self, folder):
        self.folder = folder
        host = socket.gethostname().split(".")[0]
        (folder / "state").mkdir()
        (folder / "spool").mkdir()
        conf = folder / "slurm.conf"
        conf.write_text(f"""ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
""")
        self.env = {**os.environ, "SLURM_CONF": str(conf)}
        self.daemons = []
        self.start("slurmctld")
        self.start("slurmd")

    def start(self, name):
        self.daemons.append(subprocess.Popen(
            [name, "-D"], env=self.env, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def kill(self):
        """Kills the daemon of the node, as a crash would."""
        node = self.daemons.pop()
        node.kill()
        node.wait()

    def ready(self):
        """Returns whether the node takes jobs; waits until then."""
        for _ in range(600):
            told = subprocess.run(["sinfo", "-h", "-o", "%T"], env=self.env,
                                  capture_output=True, text=True)
            if told.stdout.strip() in ("idle", "mixed", "allocated"):
                return True
            if any(d.poll() is not None for d in self.daemons):
                return False
            time.sleep(.1)
        return False

    def end(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait()


def jobs_by_slurm():
    """The same as without jobs, though the daemon of the node is killed while
    jobs run, and then the sweep."""
    if os.geteuid() != 0 or None in (shutil.which("slurmctld"),
                                     shutil.which("slurmd")):
        raise t.Skip("no Slurm, or not root; Debian's packages slurmctld, "
                     "slurmd and slurm-client have it")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        cluster = Cluster(folder)
        try:
            if not cluster.ready():
                raise t.Skip("Slurm does not start here")
            slurm_goes_on(cluster, folder)
        finally:
            cluster.end()


def slurm_goes_on(cluster, folder):
    state = folder / "it's 5%a {}"
    words = [*JOBS_WORDS, "--jobs", "slurm", "--state", state]
    process = subprocess.Popen(
        [t.tally(), "sweep", "--clean-env", *words, "--", arrays()],
        env=cluster.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True)
    while not list(state.glob("0*.json")):
        assert process.poll() is None, process.stderr.read()
        time.sleep(.01)
    cluster.kill()
    process.send_signal(signal.SIGTERM)
    said = process.communicate()[1]
    t.equal(process.returncode, 143, said)
    t.contains(said, "the same command goes on from here")
    cluster.start("slurmd")
    done = sweep(*words, "--", arrays(), env=cluster.env)
    t.equal(done.returncode, 0, done.stderr)
    t.contains(done.stderr, "of 8 runs are done already")
    t.equal(done.stdout, sweep(*JOBS_WORDS, "--", arrays()).stdout,
            "the same without jobs")


t.case("the counts of tally count", equal_to_count)
t.case("misses that follow from arithmetic", arithmetic)
t.case("impossible settings", impossible)
t.case("idle events", idle)
t.case("programs that fail", failures)
t.case("bad input", refused)
t.case("a sweep that goes on", goes_on)
t.case("a plot", plotted)
t.case("nowhere to write", unwritable)
t.case("jobs that cannot be", jobs_refused)
t.case("jobs of GNU parallel", jobs_by_parallel)
t.case("jobs of Slurm", jobs_by_slurm)
t.main()
