# SPDX-License-Identifier: MIT
"""tally calibrate, and host-model with what it measured: calibrate.py BUILD

calibrate-made is the command on a processor that is arithmetic
(calibrate_made.c), so that no case depends on this computer's times, caches or
memory.
"""
import contextlib
import json
import os
import pathlib
import re
import tempfile
import tomllib

import tallytest as t

MISPREDICTS = 3  # PROBE_MISPREDICTS of src/calibrate/probe.h


@contextlib.contextmanager
def place():
    with tempfile.TemporaryDirectory() as folder:
        yield pathlib.Path(folder)


def calibrate(*words, noise=None, **variables):
    """Runs the command; variables that are None are not set."""
    env = dict(os.environ)
    if noise is not None:
        variables["TALLY_MADE_NOISE"] = str(noise)
    for name, value in variables.items():
        env.pop(name, None)
        if value is not None:
            env[name] = str(value)
    return t.run(t.build / "test" / "calibrate-made", *words, env=env)


def measured(path):
    """A file of the command at `path`."""
    done = calibrate("-q", "-o", path)
    t.equal((done.returncode, done.stderr.count("\n")), (0, 1), done.stderr)
    return tomllib.loads(path.read_text())


def surroundings(value, home):
    """The environment with TALLY_HOST_MODEL; None: it is not set, and no file is
    found in the folder `home`."""
    env = {**os.environ, "HOME": str(home)}
    env.pop("XDG_CONFIG_HOME", None)
    env.pop("TALLY_HOST_MODEL", None)
    return env if value is None else {**env, "TALLY_HOST_MODEL": str(value)}


def count(value, *words):
    """A count of a program on host-model; and what is said. `value`: of
    TALLY_HOST_MODEL, or None: it is not set."""
    with place() as folder:
        done = t.run(t.tally(), "count", "-m", "host-model", "-j", "-o",
                     folder / "r", "-e", "cycles,instructions,page-walks",
                     *words, "--", t.guest("hello.x86_64"),
                     env=surroundings(value, folder))
        t.equal(done.returncode, 0, done.stderr)
        report = json.loads((folder / "r").read_text())
    return ({e["name"]: e["value"] for e in report["events"]},
            report["calibrated"], done.stderr)


@t.named("the file is TOML and has every value that follows")
def whole():
    with place() as folder:
        got = measured(folder / "h.toml")
    rows = got["parameter"]
    t.equal(rows["clock"], {"value": "2 GHz", "spread": 0.0})
    # The computer is calibrate_made.c's, whatever computer the test runs on.
    t.equal({name: row["value"] for name, row in rows.items()},
            {"clock": "2 GHz", "latency.load": 4, "time.l2": 10,
             "time.l3": 36, "time.memory": 250, "time.line": 8,
             "time.walk": 40, "stlb.time": 7, "dtlb.entries": 64,
             "stlb.entries": 1536, "stlb.ways": 12, "l1d.misses": 10,
             "time.mispredict": 17, "time.issue": 5, "units.alu": 4})
    for name in ("date", "processor", "kernel"):
        assert got[name], name
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", got["date"])
    t.equal(got["figure"]["mispredicted branch"],
            {"value": 17.0, "unit": "cycles", "spread": 0.0})


@t.named("what is printed, as text and JSON")
def printed():
    text = calibrate("-n")
    t.equal(text.returncode, 0, text.stderr)
    t.contains(text.stderr, "tally: measuring, round 1 of 15\n")
    t.contains(text.stdout, "mispredicted branch                    17.00 "
                            "cycles   +- 0.0 %\n")
    t.contains(text.stdout, "  time.mispredict  17 cycles      +- 0.0 %\n")
    done = calibrate("-n", "-j", "-q")
    t.equal(done.stderr, "")
    rows = json.loads(done.stdout)
    t.equal(rows["schema"], 1)
    [row] = [p for p in rows["parameters"] if p["name"] == "time.mispredict"]
    t.equal(row, {"name": "time.mispredict", "value": 17,
                  "source": "measured", "spread_percent": 0.0})
    [figure] = [f for f in rows["figures"] if f["name"] == "clock"]
    t.equal((figure["value"], figure["unit"]), (2.0, "GHz"))


@t.named("where the file goes")
def places():
    with place() as folder:
        for variables, path in [
                ({"XDG_CONFIG_HOME": folder / "x" / "y", "HOME": "/none"},
                 folder / "x" / "y" / "tally" / "host-model.toml"),
                ({"XDG_CONFIG_HOME": None, "HOME": folder},
                 folder / ".config" / "tally" / "host-model.toml"),
                ({"TALLY_HOST_MODEL": folder / "own"}, folder / "own")]:
            done = calibrate("-q", **({"TALLY_HOST_MODEL": None} | variables))
            t.equal((done.returncode, done.stderr),
                    (0, f"tally: wrote {path}, which host-model uses\n"))
            assert path.exists()
        before = sorted(folder.rglob("*"))
        done = calibrate("-q", "-n", TALLY_HOST_MODEL=folder / "other")
        t.equal((done.returncode, sorted(folder.rglob("*"))), (0, before))
        (folder / "link").symlink_to(folder / "own")
        calibrate("-q", "-o", folder / "link")
        assert (folder / "link").is_symlink()
        done = calibrate("-q", "-o", "-")
        t.equal(tomllib.loads(done.stdout)["parameter"]["units.alu"]["value"],
                4)


@t.named("a file is replaced whole, or stays")
def replaced():
    with place() as folder:
        path = folder / "h.toml"
        path.write_text("as it was")
        path.chmod(0o640)
        done = calibrate("-q", "-o", path, noise=MISPREDICTS)
        t.equal((done.returncode, done.stdout), (125, ""))
        t.equal(done.stderr.count("\n"), 1, done.stderr)
        t.contains(done.stderr, "tally: not measured: mispredicted branch "
                                "varies by +- ")
        t.equal(path.read_text(), "as it was")
        t.equal(os.listdir(folder), ["h.toml"])
        measured(path)
        t.equal(path.stat().st_mode & 0o777, 0o640)
        t.equal(os.listdir(folder), ["h.toml"])
        loud = calibrate("-n", noise=MISPREDICTS)
        t.equal(loud.stderr.count("measuring mispredicted branch again: too "
                                  "noisy\n"), 7, loud.stderr)


@t.named("what is refused, in one line and before anything is measured")
def refused():
    with place() as folder:
        (folder / "file").write_text("")
        nameless = {"TALLY_MADE_NAMELESS": 1}
        for words, status, says, variables in [
                (["x"], 2, "takes no 'x'", {}),
                (["-o", ""], 2, "-o takes a file", {}),
                (["--format", "csv"], 2, "--format takes text", {}),
                ([], 2, "TALLY_HOST_MODEL is empty",
                 {"TALLY_HOST_MODEL": ""}),
                ([], 2, "HOME does not begin with /",
                 {"TALLY_HOST_MODEL": None, "XDG_CONFIG_HOME": None,
                  "HOME": "home"}),
                (["-o", folder / "no" / "x"], 2, "No such file", {}),
                (["-o", folder], 2, "Is a directory", {}),
                (["-o", folder / "file" / "x"], 2, "Not a directory", {}),
                ([], 2, "Not a directory",
                 {"TALLY_HOST_MODEL": folder / "file" / "x" / "y"}),
                ([], 2, "cannot make the folder /proc/tally",
                 {"TALLY_HOST_MODEL": "/proc/tally/x"}),
                (["-n"], 125, "/proc/cpuinfo does not say which processor",
                 nameless),
                (["-o", folder / "new"], 125, "/proc/cpuinfo does not say",
                 nameless)]:
            done = calibrate(*words, noise=MISPREDICTS, **variables)
            t.equal((done.returncode, done.stdout), (status, ""), done.stderr)
            t.equal(done.stderr.count("\n"), 1, done.stderr)
            t.contains(done.stderr, says)
        t.equal(os.listdir(folder), ["file"])
        # A device that takes nothing shows that only when it is written to.
        done = calibrate("-q", "-o", "/dev/full")
        t.equal((done.returncode, done.stdout, done.stderr),
                (125, "", "tally: cannot write /dev/full: No space left on "
                          "device\n"))


@t.named("a TLB that is not found leaves its parameters out, and a line says so")
def no_tlb():
    with place() as folder:
        for tlbs, which, lacks in [
                ("0", "first TLB", ["dtlb.entries", "stlb.entries",
                                    "stlb.ways", "stlb.time", "time.walk"]),
                ("1", "both TLBs", ["stlb.entries", "stlb.ways", "stlb.time",
                                    "time.walk"])]:
            path = folder / tlbs
            done = calibrate("-q", "-o", path, TALLY_MADE_TLBS=tlbs)
            t.equal(done.returncode, 0, done.stderr)
            t.equal(done.stderr.splitlines()[0],
                    f"tally: warning: {which} not found, as loads from up to "
                    "12288 pages take no longer; host-model keeps its own "
                    + ", ".join(lacks[:-1])
                    + f" and {lacks[-1]}, which --set sets")
            t.equal(done.stderr.count("\n"), 2, done.stderr)
            t.contains(done.stdout, f"  {which:34} not found\n")
            rows = tomllib.loads(path.read_text())["parameter"]
            t.equal((len(rows), [name for name in lacks if name in rows]),
                    (15 - len(lacks), []))
            t.equal(count(path)[2], "", "the file is used")


@t.named("a measurement that is refused makes no folder")
def no_folders():
    with place() as folder:
        there = {"TALLY_HOST_MODEL": None, "XDG_CONFIG_HOME": folder / "x"}
        done = calibrate("-q", noise=MISPREDICTS, **there)
        t.equal((done.returncode, os.listdir(folder)), (125, []), done.stderr)
        (folder / "x").mkdir()
        done = calibrate("-q", noise=MISPREDICTS, **there)
        t.equal((done.returncode, os.listdir(folder / "x")), (125, []),
                done.stderr)
        done = calibrate("-q", **there)
        t.equal((done.returncode, os.listdir(folder / "x" / "tally")),
                (0, ["host-model.toml"]), done.stderr)


@t.named("counts follow the values")
def follow():
    with place() as folder:
        path = folder / "h.toml"
        plain, date, said = count(None)
        t.equal((date, said), (None, ""))
        rows = measured(path)
        text = path.read_text()
        got, date, said = count(path)
        t.equal((date, said), (rows["date"], ""))
        assert got["cycles"] != plain["cycles"]
        t.equal(got["instructions"], plain["instructions"])
        sets = [f"--set={name}={row['value']}"
                for name, row in rows["parameter"].items()]
        t.equal(count(None, *sets)[0], got, "the same by --set")
        # An option has the last word.
        more = count(path, "--set", "time.mispredict=117")[0]
        path.write_text(text.replace('"time.mispredict" = { value = 17',
                                     '"time.mispredict" = { value = 117'))
        t.equal(count(path)[0], more, "by the file and by --set")
        assert more["cycles"] > got["cycles"]


@t.named("a file that cannot be used is warned of, and changes nothing")
def unusable():
    with place() as folder:
        path = folder / "h.toml"
        plain = count(None)[0]
        good = measured(path)
        text = path.read_text()
        for old, new, says in [
                (good["processor"], "Another", "was measured on 'Another', "
                                               "and this is '"),
                ("time.mispredict", "time.nothing",
                 f"{path}:{{}}: 'time.nothing' is no parameter"),
                ("value = 17,", "value = 10001,",
                 f"{path}:{{}}: time.mispredict=10001: must be 0 cycles to "
                 "10000 cycles")]:
            path.write_text(text.replace(old, new, 1))
            line = next(i + 1 for i, words in enumerate(
                path.read_text().splitlines()) if new in words)
            got, date, said = count(path)
            t.equal((got, date), (plain, None), new)
            t.equal(said.count("\n"), 1, said)
            t.contains(said, "tally: warning: ")
            t.contains(said, says.format(line))
        got, date, said = count(folder / "none")
        t.equal((got, date), (plain, None), "a file that is not there")
        t.contains(said, f"tally: warning: cannot read {folder / 'none'}: ")
        t.equal(said.count("\n"), 1, said)


@t.named("tally check warns once, however many benchmarks there are")
def check_warns():
    with place() as folder:
        program = t.guest("hello.x86_64")
        (folder / "tally.toml").write_text("".join(
            f"[benchmark.{name}]\ncommand = ['{program}']\n"
            f"machine = '{machine}'\n"
            for name, machine in [("a", "ci-1"), ("b", "host-model"),
                                  ("c", "host-model"), ("d", "host-model")]))
        done = t.run(t.tally(), "check", "-q", "--update", "--layouts", "1",
                     cwd=folder,
                     env={**os.environ, "TALLY_HOST_MODEL": "none"})
        t.equal(done.returncode, 0, done.stderr)
        t.equal(done.stderr.count("tally: warning: "), 1, done.stderr)
        t.contains(done.stderr, "cannot read none: ")


def core_of(home):
    """The machine whose core stands in on this computer, or None, as tally show
    tells."""
    done = t.run(t.tally(), "show", "host-model", env=surroundings(None, home))
    shown = " ".join(done.stdout.split())
    found = re.search(r" core that of (\S+), the modelled core nearest to this "
                      r"processor, where nothing was read or measured ", shown)
    if found is None:
        t.contains(shown, " core typical values, as no modelled core fits this "
                          "processor calibrated no: its times are assumed")
        return None
    t.contains(shown, f" calibrated no: its times are those of {found[1]}; "
                      "tally calibrate measures")
    return found[1]


@t.named("the nearest modelled core stands in, unless TALLY_HOST_MODEL is empty")
def stands_in():
    with place() as folder:
        core = core_of(folder)
        for value in (None, ""):
            env = surroundings(value, folder)
            shown = t.run(t.tally(), "show", "-m", "host-model", "time.memory",
                          env=env)
            t.equal("the nearest modelled core" in " ".join(
                shown.stdout.split()), value is None and core is not None)
            done = t.run(t.tally(), "count", "-m", "host-model", "-j", "-e",
                         "cycles", "-o", folder / "r", "--",
                         t.guest("hello.x86_64"), env=env)
            t.equal(done.returncode, 0, done.stderr)
            t.equal(json.loads((folder / "r").read_text())["core"],
                    core if value is None else None)
        empty = t.run(t.tally(), "show", "host-model",
                      env=surroundings("", folder))
        assert "\n  core " not in empty.stdout, empty.stdout


@t.named("text reports say whose times they have")
def texts():
    with place() as folder:
        path = folder / "h.toml"
        date = measured(path)["date"]
        assumed = ("  estimated: with assumed times; tally calibrate measures "
                   "those of this computer\n")
        core = core_of(folder)
        own = (f"  estimated: with the times of this computer, measured {date}"
               + (f"; the rest of its core is that of {core}" if core else "")
               + "\n")
        nearest = (f"  estimated: with the times of {core}, the modelled core "
                   "nearest to this processor; tally calibrate measures those "
                   "of this computer\n" if core else
                   "  estimated: with assumed times, as no modelled core fits "
                   "this processor; tally calibrate measures those of this "
                   "computer\n")
        for value, event, machine, wanted in [
                ("", "cycles", "host-model", assumed),
                (None, "cycles", "host-model", nearest),
                (None, "instructions", "host-model", ""),
                (str(path), "cycles", "host-model", own),
                ("", "instructions", "host-model", ""),
                (str(path), "cycles", "ci-1", "")]:
            done = t.run(t.tally(), "count", "-m", machine, "-e", event, "--",
                         t.guest("hello.x86_64"),
                         env=surroundings(value, folder / "home"))
            said = "".join(line for line in done.stderr.splitlines(True)
                           if line.startswith("  estimated: "))
            t.equal(said, wanted)


@t.named("tally show says what was measured, when and how well")
def shown():
    with place() as folder:
        path = folder / "h.toml"
        date = measured(path)["date"]
        text = path.read_text()
        path.write_text(re.sub(r'("time.l2" = .*spread = )0.0',
                               r"\g<1>3.5", text)
                        + "# 0\n")
        for value, source in [
                ("", "assumed: typical of a processor of this decade"),
                (str(path), f"measured on this host, {date}, +- 3.5 %")]:
            env = {**os.environ, "TALLY_HOST_MODEL": value}
            done = t.run(t.tally(), "show", "-m", "host-model", "time.l2",
                         env=env)
            t.contains(" ".join(done.stdout.split()), f"source {source}")
            whole = t.run(t.tally(), "show", "-v", "host-model", env=env)
            t.contains(" ".join(whole.stdout.split()),
                       f"cycles an L1 miss waits for the L2 {source}")
            short = t.run(t.tally(), "show", "host-model", env=env)
            t.contains(" ".join(short.stdout.split()),
                       f"calibrated {date}, " if value else
                       "calibrated no: its times are assumed")
        head = text[:text.index("[parameter]")]
        path.write_text(head + '[parameter]\n'
                        '"time.l2" = { value = 9, spread = 0 }\n')
        one = t.run(t.tally(), "show", "host-model",
                    env={**os.environ, "TALLY_HOST_MODEL": str(path)})
        t.contains(" ".join(one.stdout.split()), f"{date}, 1 parameter: ")
        other = t.run(t.tally(), "show", "ci-1",
                      env={**os.environ, "TALLY_HOST_MODEL": str(path)})
        assert "calibrated" not in other.stdout


t.main()
