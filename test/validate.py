#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally validate: validate.py BUILD [WORD]

The parts that are deterministic, and what is said where something lacks. What
the others print depends on the host.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import tallytest as t

ROW = {"program", "machine", "figure", "ours", "reference", "source", "unit",
       "note", "scored", "error"}
PART = {"part", "title", "rows", "tables", "notes", "skipped",
        "not_comparable"}


def validate(*options, **how):
    return t.run(t.tally(), "validate", *options, **how)


@t.once
def ledger():
    """The parts of the ledger, by their letters."""
    done = validate("--part", "a,d", "--format", "json")
    t.equal(done.returncode, 0, f"status; {done.stderr!r}")
    document = json.loads(done.stdout)
    t.equal(set(document), {"schema", "processor", "machine", "parts"}, "keys")
    t.equal(document["schema"], 1, "schema")
    return {part["part"]: part for part in document["parts"]}


@t.named("the JSON of each part has its keys, rows and tables")
def shape():
    parts = ledger()
    t.equal(set(parts), {"a", "d"}, "parts")
    for part in parts.values():
        t.equal(set(part), PART, "keys of a part")
        assert part["rows"] and part["tables"]
        for row in part["rows"]:
            t.equal(set(row), ROW, "keys of a row")
        for table in part["tables"]:
            for row in table["rows"]:
                t.equal(len(row), len(table["heads"]), "columns")
        for skipped in part["skipped"] + part["not_comparable"]:
            t.equal(set(skipped), {"what", "why"}, "keys of what is left out")


@t.named("a: all counts are what arithmetic gives, but a jump to what follows it")
def arithmetic():
    rows = ledger()["a"]["rows"]
    t.equal({r["machine"] for r in rows},
            {"host-model", "skylake", "icelake", "zen2", "zen3", "zen4", "zen5"},
            "machines")
    assert len({r["program"] for r in rows}) >= 12
    for row in rows:
        # A conditional jump to the next instruction counts as taken.
        known = row["program"] == "next" and row["figure"] == "taken"
        t.equal(row["ours"] - row["reference"], 1000 if known else 0,
                f"{row['program']} {row['figure']} on {row['machine']}")


@t.named("d: a step costs what the machine's parameters add up to")
def latencies():
    rows = {(r["machine"], r["figure"]): r for r in ledger()["d"]["rows"]}
    for machine, figure in (("montecito", "L2D"), ("montecito", "L3"),
                            ("montecito", "memory"), ("zen4", "L2"),
                            ("zen4", "L3"), ("zen4", "memory")):
        row = rows[machine, figure]
        assert row["note"].startswith("circular"), row
        assert abs(row["error"]) < 0.01, row
    for row in rows.values():
        t.equal(row["scored"], not row["note"].startswith("circular"), "scored")
    assert abs(rows["ultrasparc-t1", "cost of an L1D miss"]["error"]) < 0.15
    left_out = " ".join(n["what"] for n in ledger()["d"]["not_comparable"])
    for machine in ("zen2", "zen5", "icelake", "neoverse-v1", "cortex-a72",
                    "sifive-u74"):
        t.contains(left_out, machine)


@t.named("--programs and -m choose rows; the forms text and markdown, -o FILE")
def forms():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "ledger")
        for form, head in (("text", "(a) "), ("markdown", "### (a) ")):
            done = validate("--part=a", "--programs=nops", "-m", "zen4",
                            "--format", form, "-o", path)
            t.equal((done.returncode, done.stdout), (0, ""), "status, output")
            text = path.read_text()
            t.equal(text.startswith(head), True, text)
            t.contains(text, "8,004")
            t.contains(text, "--deterministic")
        done = validate("--part", "a", "--programs", "nops,nope")
        t.equal(done.returncode, 2, "status of a program that there is not")
        t.contains(done.stderr, "has a program nope; there are arithmetic")
        done = validate("--part", "b", "-m", "zen4", "--set", "l3.sizes=8M")
        t.equal((done.returncode, done.stdout, done.stderr),
                (2, "", "tally validate: --set: l3.sizes: unknown parameter; "
                 "did you mean l3.size?\n"), "status of --set")
        done = validate("--part", "b,c", "-m", "ultrasparc-t1")
        t.equal(done.returncode, 0, f"status; {done.stderr!r}")
        t.contains(done.stdout, "ultrasparc-t1")
        done = validate("--part", "a", "-o", pathlib.Path(folder, "no", "file"))
        t.equal((done.returncode, done.stderr),
                (2, f"tally: cannot write {folder}/no/file: No such file or "
                 "directory\n"), "a file that cannot be")


@t.named("a run that fails ends with one line and leaves FILE as it was")
def failing():
    with tempfile.TemporaryDirectory() as folder:
        held = pathlib.Path(folder, "ledgers")
        held.mkdir()
        path = held / "ledger"
        path.write_text("earlier\n")
        path.chmod(0o640)
        words = ("--part", "a", "-m", "zen4", "-o", path)

        def unchanged(done, status, said):
            t.equal(done.returncode, status, f"status; {done.stderr!r}")
            t.contains(done.stderr.splitlines()[-1], said)
            t.equal("Traceback" in done.stderr, False, done.stderr)
            t.equal(path.read_text(), "earlier\n", "the earlier ledger")
            t.equal(os.listdir(held), ["ledger"], "files beside it")

        done = validate(*words, "--programs", "nops,nope")
        unchanged(done, 2, "has a program nope")
        t.equal("part a\n" in done.stderr, False, "nothing is measured")
        # A compiler that is there, and fails as on a full disk.
        tools = pathlib.Path(folder, "tools")
        tools.mkdir()
        for name in ("gcc", "x86_64-linux-gnu-gcc"):
            (tools / name).write_text(
                "#!/bin/sh\necho 'error: No space left on device' >&2\nexit 1\n")
            (tools / name).chmod(0o755)
        unchanged(validate(*words, env={
            **os.environ, "PATH": f"{tools}:{os.environ['PATH']}"}),
            125, "No space left on device")
        # A disk that is full when the ledger is written.
        done = validate("--part", "a", "-m", "zen4", "--programs", "nops",
                        "-o", "/dev/full")
        unchanged(done, 125, "tally validate: cannot write the ledger: No "
                             "space left on device")
        done = validate("--part", "a", "-m", "zen4", "-o", path)
        t.equal(done.returncode, 0, f"status; {done.stderr!r}")
        t.equal(path.stat().st_mode & 0o777, 0o640, "mode")
        t.contains(path.read_text(), "8,004")
        t.equal(os.listdir(held), ["ledger"], "files beside it")


@t.named("a signal ends the run, and leaves no folder and FILE as it was")
def signalled():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with tempfile.TemporaryDirectory() as folder:
            tools, scratch = (pathlib.Path(folder, n) for n in ("bin", "tmp"))
            tools.mkdir()
            scratch.mkdir()
            path = pathlib.Path(folder, "ledger")
            path.write_text("earlier\n")
            compiler = tools / "x86_64-linux-gnu-gcc"
            compiler.write_text(f"#!/bin/sh\n: >{folder}/runs\n"
                                "exec sleep 100000\n")
            compiler.chmod(0o755)
            (tools / "gcc").symlink_to(compiler)
            with subprocess.Popen(
                    [t.tally(), "validate", "--part", "b", "-m", "zen4", "-o",
                     path], stderr=subprocess.PIPE, text=True,
                    preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
                    env={**os.environ, "TMPDIR": str(scratch),
                         "PATH": f"{tools}:{os.environ['PATH']}"}) as run:
                while not os.path.exists(f"{folder}/runs"):
                    t.equal(run.poll(), None, "it runs")
                    time.sleep(0.01)
                run.send_signal(number)
                said = run.communicate()[1]
            t.equal(run.returncode, 128 + number, said)
            t.equal("Traceback" in said, False, said)
            t.equal((os.listdir(scratch), path.read_text()),
                    ([], "earlier\n"), "what is left")


@t.named("Valgrind that shows nothing ends the run with one line")
def silent_valgrind():
    with tempfile.TemporaryDirectory() as folder:
        valgrind = pathlib.Path(folder, "valgrind")
        for does in ("exit 1", "echo nonsense >&9"):
            valgrind.write_text('#!/bin/sh\n[ "$1" = --tool=none ] && exit 0\n'
                                f"{does}\n")
            valgrind.chmod(0o755)
            done = validate("--part", "e", "--programs", "crc", env={
                **os.environ, "PATH": f"{folder}:{os.environ['PATH']}"})
            t.equal(done.returncode, 125, done.stderr)
            t.equal("Traceback" in done.stderr, False, done.stderr)
            t.contains(done.stderr.splitlines()[-1],
                       "tally validate: valgrind --tool=lackey --trace-mem=yes "
                       "shows no load of ")


@t.named("the machine that stands for a host is of its processor's family")
def nearest():
    sys.path.insert(0, str(t.build / "validate"))
    import tools
    for text, chosen, said in (
            ("AuthenticAMD 23 49", "zen2", "family"),
            ("AuthenticAMD 23 1", "zen2", "stands in"),
            ("AuthenticAMD 25 1", "zen3", "family"),
            ("AuthenticAMD 25 17", "zen4", "family"),
            ("AuthenticAMD 26 2", "zen5", "family"),
            ("AuthenticAMD 21 2", "zen3", "stands in"),
            ("GenuineIntel 6 85", "skylake", "family"),
            ("GenuineIntel 6 106", "icelake", "family"),
            ("GenuineIntel 6 108", "icelake", "family"),
            ("GenuineIntel 6 143", "icelake", "stands in"),
            ("GenuineIntel 15 106", "skylake", "stands in"),
            ("Other E2K text", "zen3", "stands in")):
        fields = dict(zip(("vendor_id", "cpu family", "model"), text.split()))
        machine, why = tools.nearest_machine(fields)
        t.equal(machine, chosen, text)
        t.contains(why, said)
    for implementer, number, chosen, said in (
            ("0x41", "0xd0c", "neoverse-n1", "family"),
            ("0x41", "0xd40", "neoverse-v1", "family"),
            ("0x41", "0xd08", "cortex-a72", "family"),
            ("0x41", "0xd4f", "neoverse-v1", "stands in"),
            ("0x41", "0xd03", "neoverse-n1", "stands in"),
            ("0x43", "0xd40", "neoverse-n1", "stands in")):
        machine, why = tools.nearest_machine(
            {"CPU implementer": implementer, "CPU part": number})
        t.equal(machine, chosen, f"{implementer} {number}")
        t.contains(why, said)
        t.contains(why, number)


@t.named("what is not there is listed as skipped, with what mends it")
def lacking():
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(sys.executable, pathlib.Path(folder, "python3"))
        done = validate("--part", "a,b,c,d,e", env={**os.environ,
                                                    "PATH": folder})
        t.equal(done.returncode, 0, f"status; {done.stderr!r}")
        for package in ("gcc libc6-dev", "linux-perf", "valgrind",
                        "gcc-sparc64-linux-gnu"):
            t.contains(done.stdout, f"apt install {package}")
        done = validate(env={**os.environ, "PATH": folder + "/none"})
        t.equal((done.returncode, done.stderr),
                (125, "tally validate: python3 is not in the PATH: apt install "
                 "python3\n"), "without Python")


@t.named("a wrong command line gets one line, and status 2")
def refused():
    for words, said in ((("--part", "f"), "--part takes"),
                        (("--part", "a,,b"), "--part takes"),
                        (("--part", "ab"), "--part takes"),
                        (("--part", ""), "--part takes"),
                        (("--part", "a,"), "--part takes"),
                        (("-m", "zen44"), "zen4"),
                        (("--set", "l3.size"), "KEY=VALUE"),
                        (("--format", "csv"), "text, markdown or json"),
                        (("--times", "0"), "from 1 to 1000"),
                        (("--guests", "/none"), "takes a folder"),
                        (("--deterministic", "/none"), "takes a folder"),
                        (("program",), "options alone")):
        done = validate(*words)
        t.equal((done.returncode, done.stdout), (2, ""), f"of {words}")
        t.contains(done.stderr, said)
        t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")


t.main()
