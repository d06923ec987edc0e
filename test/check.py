#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tally check: check.py BUILD [WORD]

A program of two functions whose work follows from two numbers: by() executes a
loop so many times, and reads the bytes of a table with a step between them. More
turns are more work; another step is the same work, and other misses.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import xml.etree.ElementTree as xml

import mock_help
import tallytest as t

SOURCE = """
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile unsigned char table[1 << 22];
__attribute__((noinline)) unsigned by(unsigned turns, unsigned step)
{
    unsigned sum = 0, at = 0;
    for (unsigned i = 0; i < turns; i++) {
        sum += table[at];
        at = (at + step) & (sizeof(table) - 1);
    }
    return sum;
}
__attribute__((noinline)) unsigned other(void)
{
    volatile unsigned sum = 0;
    for (unsigned i = 0; i < 40000; i++)
        sum += i;
    return sum;
}
int main(int argc, char **argv)
{
    unsigned turns = TURNS, status = 0;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == 'k')
            abort();
        if (argv[i][0] == 's')
            status = 7;
        if (argv[i][0] == 'v')
            turns += getpid() % 4096;
        if (argv[i][0] == 'n')
            printf("%ld %ld\\n", sysconf(_SC_NPROCESSORS_ONLN),
                   sysconf(_SC_LEVEL3_CACHE_SIZE));
        if (argv[i][0] == 'p')
            printf("%d\\n", getpid());
        if (argv[i][0] == 'i')
            printf("%d\\n", getchar());
        if (argv[i][0] == 'e')
            printf("%s\\n", getenv("GIVEN"));
        if (argv[i][0] == 'd')
            printf("%d\\n", access("here", F_OK));
    }
    printf("%u %u\\n", by(turns, STEP), other());
    if (status == 7)
        fputs("what went wrong\\n", stderr);
    return status;
}
"""

folder = None


@t.once
def built(turns=50000, step=1):
    """The path of the program, whose name is the same for all numbers."""
    place = folder / f"{turns}-{step}"
    place.mkdir()
    (place / "prog.c").write_text(SOURCE)
    subprocess.run(["gcc", "-O1", "-g", f"-DTURNS={turns}", f"-DSTEP={step}",
                    "-o", place / "prog", place / "prog.c"], check=True)
    return place / "prog"


def check(*words, status=0, **how):
    done = t.run(t.tally(), "check", "-q", *words, **how)
    t.equal(done.returncode, status, f"status: {done.stderr}{done.stdout}")
    return done


def result(*words, **how):
    """The JSON of a check of one benchmark."""
    return json.loads(check("--format", "json", *words, **how).stdout)[
        "results"][0]


@t.once
def baseline():
    path = folder / "baseline.json"
    check("--update", "--layouts", 3, "--baseline", path, "--", built())
    return path


def against(program, *options, status=0):
    return result("--layouts", 3, "--baseline", baseline(), *options, "--",
                  program, status=status)


def measure(found, name):
    return next(m for m in found["measures"] if m["name"] == name)


@t.named("the same program is within its limits, and its baseline repeats")
def same():
    found = against(built())
    t.equal((found["status"], found["cause"], found["work_percent"],
             found["notes"]), ("passed", "none", None, []), "result")
    for m in found["measures"]:
        t.equal((m["now"], m["change_percent"], m["verdict"]),
                (m["baseline"], 0, "same"), m["name"])
    text = baseline().read_bytes()
    again = folder / "again.json"
    check("--update", "--layouts", 3, "--baseline", again, "--", built())
    t.equal(again.read_bytes(), text, "baseline")


@t.named("more work is a rise, and its function is named")
def more_work():
    found = against(built(turns=60000), status=3)
    instructions, cost = (measure(found, m) for m in ("instructions", "cost"))
    t.equal((found["status"], found["cause"]), ("rose", "work"), "result")
    t.equal((instructions["verdict"], cost["verdict"]), ("hard", "hard"),
            "verdicts")
    rise = instructions["now"]["median"] - instructions["baseline"]["median"]
    t.equal(rise % 10000, 0, "rise of each turn")
    assert 10000 * 3 <= rise <= 10000 * 12, rise
    t.equal(found["functions"][0]["name"], "by", "function")
    t.equal(found["functions"][0]["image"], "prog", "image")
    own = found["functions"][0]
    t.equal(own["instructions"] - own["instructions_baseline"], rise, "rise")
    t.equal((own["calls"], own["calls_baseline"]), (1, 1), "calls")


@t.named("a string near the end of a page is no rise, more calls are one")
def strings():
    """strlen() compares 32 bytes at once, but near the end of a page with more
    care. The library is in the program, which so has its names."""
    source = folder / "strings.c"
    source.write_text("""
#include <string.h>
char pages[8192] __attribute__((aligned(4096)));
int main(void)
{
    size_t (*volatile length)(const char *) = strlen;
    size_t sum = 0;
    memcpy(pages + AT, "a string", 9);
    for (unsigned i = 0; i < CALLS; i++)
        sum += length(pages + AT);
    return sum == 0;
}
""")

    def program(at, calls):
        path = folder / f"strings-{at}-{calls}" / "strings"
        path.parent.mkdir()
        t.run("gcc", "-O1", "-static", f"-DAT={at}", f"-DCALLS={calls}",
              "-o", path, source)
        return path
    path = folder / "strings.json"
    check("--update", "--layouts", 2, "--baseline", path, "--",
          program(64, 20000))
    found = result("--layouts", 2, "--baseline", path, "--",
                   program(4080, 20000), status=0)
    moved = measure(found, "instructions")
    t.equal(moved["verdict"], "same", "moved")
    assert moved["change_percent"] > 1, moved
    assert abs(moved["change_percent"] - moved["strings_percent"]) < 0.1, moved
    t.equal(len([n for n in found["notes"] if "string functions" in n]), 1,
            "note")
    found = result("--layouts", 2, "--baseline", path, "--",
                   program(64, 21000), status=3)
    own = next(f for f in found["functions"] if "strlen" in f["name"])
    t.equal(own["calls"] - own["calls_baseline"], 1000, "more calls")
    t.equal(measure(found, "instructions")["strings_percent"], 0, "more calls")


@t.named("a benchmark that hangs is ended by its timeout, and others count")
def timeout():
    place = folder / "hangs"
    place.mkdir()
    (place / "tally.toml").write_text(f"""
layouts = 1
[benchmark.hangs]
command = ["sleep", "1000"]
timeout = 0.5
[benchmark.runs]
command = ["{built()}"]
""")
    done = t.run(t.tally(), "check", "-q", "--update", "-f",
                 place / "tally.toml", "--format", "json")
    t.equal(done.returncode, 5, "status")
    found = {r["benchmark"]: r for r in json.loads(done.stdout)["results"]}
    t.equal((found["hangs"]["status"], found["hangs"]["reason"]),
            ("failed", "ran for longer than its timeout, 0.5 s"), "hangs")
    assert found["runs"]["measures"], found
    t.equal((place / "tally-baseline.json").exists(), False, "baseline")


@t.named("a signal ends a setup with all that it runs, and nothing is counted")
def setup_signalled():
    place = folder / "setup-signalled"
    place.mkdir()
    (place / "tally.toml").write_text(f"""
[benchmark.a]
command = ["{built()}"]
setup = "touch began; sleep 1001.{os.getpid()}; true"
""")
    running = subprocess.Popen([t.tally(), "check", "-f", place / "tally.toml"],
                               stderr=subprocess.PIPE, text=True)
    while not (place / "began").exists():
        time.sleep(0.05)
    running.terminate()
    said = running.communicate()[1]
    t.equal(running.returncode, -signal.SIGTERM, "status")
    t.contains(said, "ended by SIGTERM; nothing is compared or written")
    for _ in range(100):
        left = subprocess.run(["pgrep", "-f", f"sleep 1001.{os.getpid()}"], check=False,
                              capture_output=True).stdout
        if not left:
            break
        time.sleep(0.1)
    t.equal(left, b"", "what is left")


@t.named("reports are not written over what the same command reads or writes")
def spared():
    new = folder / "spared.json"
    done = t.run(t.tally(), "check", "--update", "--baseline", new, "-o", new,
                 "--", built())
    t.equal((done.returncode, new.exists()), (2, False), "baseline")
    reports = folder / "spared"
    reports.mkdir()
    check("--update", "--layouts", 1, "--baseline", folder / "b.json",
          "--format", "json", "-o", reports / "a.json", "--", built())
    kept = (reports / "a.json").read_text()
    for words in (("--html", reports / "a.json"), ("-o", reports / "b.json"),
                  ("--html", folder / "x", "-o", folder / "x")):
        done = t.run(t.tally(), "check", "--history", reports, *words)
        t.equal((done.returncode, done.stderr.count("\n")), (2, 1), f"{words}")
    t.equal((reports / "a.json").read_text(), kept, "report")
    t.equal([p.name for p in reports.iterdir()], ["a.json"], "reports")


@t.named("less work is no fault")
def less_work():
    found = against(built(turns=40000))
    t.equal(found["status"], "passed", "status")
    t.equal(measure(found, "instructions")["verdict"], "less", "verdict")
    t.equal(found["functions"][0]["name"], "by", "function")


@t.named("other addresses are a rise of the cost alone")
def places():
    """50,000 reads go on by 64 bytes: a miss each, where 64 shared a line."""
    found = against(built(step=64), status=3)
    t.equal((found["status"], found["cause"]), ("rose", "places"), "result")
    t.equal(measure(found, "instructions")["verdict"], "same", "instructions")
    t.equal(measure(found, "L1-dcache-loads")["verdict"], "same", "loads")
    own = found["functions"][0]
    t.equal((own["name"], own["instructions"] - own["instructions_baseline"]),
            ("by", 0), "function")
    # At least the L2, the L3 and memory for each line.
    assert own["cost"] - own["cost_baseline"] > 45000 * (12 + 35 + 200), own


@t.named("a soft limit warns, with --strict it fails")
def soft():
    limits = ("--hard", "cost=1000", "--hard", "instructions=1000", "--soft",
              "cost=0.5")
    found = against(built(turns=60000), *limits)
    t.equal((found["status"], measure(found, "cost")["verdict"]),
            ("warned", "soft"), "result")
    found = against(built(turns=60000), *limits, "--strict", status=3)
    t.equal(found["status"], "rose", "with --strict")


@t.named("without a comparable baseline the status is 4")
def none():
    missing = folder / "missing.json"
    done = check("--layouts", 1, "--baseline", missing, "--", built(), status=4)
    t.contains(done.stdout, f"there is no {missing}; --update writes it")
    text = baseline().read_text()
    other = folder / "other.json"
    other.write_text(text.replace("model-1", "model-0"))
    done = check("--layouts", 1, "--baseline", other, "--", built(), status=4)
    t.contains(done.stdout, "model-0', not on '")
    other.write_text(text.replace('"prog"', '"gone"', 1))
    done = check("--layouts", 1, "--baseline", other, "--", built(), status=4)
    t.contains(done.stdout, "lacks it; --update adds it")


@t.named("a damaged baseline is named, and not overwritten")
def damaged():
    path = folder / "damaged.json"
    for text in ("", "[]", "{}", baseline().read_text()[:-20],
                 baseline().read_text().replace('"layouts"', '"layout"')):
        path.write_text(text)
        for options, status in ((), 4), (("--update",), 2):
            done = check(*options, "--baseline", path, "--", built(),
                         status=status)
            t.equal(done.stdout, "", "output")
            assert (done.stderr.startswith(f"tally: {path}")
                    and done.stderr.count("\n") == 1), done.stderr
        t.equal(path.read_text(), text, "file")


@t.named("a pipe that nobody writes is no baseline, and no tally.toml")
def pipes():
    path = folder / "pipe"
    os.mkfifo(path)
    for words, status in ((("--baseline", path, "--", built()), 4),
                          (("-f", path), 2)):
        done = check(*words, status=status)
        t.equal((done.stdout, done.stderr.count("\n")), ("", 1), done.stderr)
        t.contains(done.stderr, f"cannot read {path}: a pipe that nobody writes")


@t.named("a benchmark that fails, is killed or prints something else: 5")
def failed():
    for word, wanted in (("kill", "was killed by SIGABRT"),
                         ("status", "ended with status 7: what went wrong"),
                         ("pid", 'output = "any"')):
        path = folder / "not.json"
        done = check("--update", "--layouts", 2, "--baseline", path, "--",
                     built(), word, status=5)
        t.contains(done.stdout, wanted)
        t.contains(done.stderr, "is left as it is")
        assert not path.exists()
    done = check("--baseline", folder / "not.json", "--",
                 folder / "nothing", status=5)
    t.contains(done.stdout, "No such file")
    (folder / "input.toml").write_text(
        f"[benchmark.x]\ncommand = ['{built()}']\ninput = '.'\n")
    done = check("-f", folder / "input.toml", "--layouts", 1, status=5)
    t.contains(done.stdout, ": Is a directory")
    check("-m", "ultrasparc-t2", "--baseline", folder / "not.json", "--",
          built(), status=2)


@t.named("a benchmark whose counts do not repeat: 6, with both counts")
def varies():
    found = result("--layouts", 1, "--baseline", baseline(), "--", built(),
                   "vary", status=6)
    t.equal(found["status"], "varies", "status")
    assert "instructions in two runs of one layout" in found["reason"], found


@t.named("a limit of what the baseline lacks is no pass")
def not_compared():
    found = result("--layouts", 3, "--baseline", baseline(), "-e", "branches",
                   "--hard", "branches=1", "--", built(), status=4)
    t.equal(found["status"], "no-baseline", "status")
    t.contains(found["reason"], "lacks a measure that has a limit")
    path = folder / "emptied.json"
    kept = json.loads(baseline().read_text())
    for keys in kept["benchmarks"].values():
        for entry in keys.values():
            entry["measures"] = {}
    path.write_text(json.dumps(kept))
    done = check("--baseline", path, "--", built(), status=4)
    t.contains(done.stderr, "is damaged at")


@t.named("two updates at the same time keep each other's entries")
def two_updates():
    path = folder / "two.json"
    runs = [subprocess.Popen([t.tally(), "check", "-q", "--update", "--layouts",
                              "1", "--baseline", path, "--", built(), word],
                             stdout=subprocess.DEVNULL) for word in ("-a", "-b")]
    t.equal([run.wait(60 * t.MINUTES) for run in runs], [0, 0], "statuses")
    t.equal(sorted(json.loads(path.read_text())["benchmarks"]),
            ["prog -a", "prog -b"], "benchmarks")


@t.named("a failing setup or list of names is in the report; others are run")
def commands():
    """Also where SIGCHLD is ignored."""
    place = folder / "commands"
    place.mkdir()
    lines = {"exit": ('setup = "exit 3"', "its setup failed: sh ended with "
                      "status 3"),
             "kill": ('setup = "kill -9 $$"', "its setup failed: sh was killed "
                      "by SIGKILL"),
             "endless": ('names = ["yes"]', "cannot list its names: "),
             "none": ('names = ["true"]', "benchmark 'none' lists no name"),
             "twice": (f'names = ["printf", "a\\na\\n"]',
                       "benchmark 'twice' lists 'a' twice"),
             "runs": ("", None)}
    (place / "tally.toml").write_text("layouts = 1\n" + "".join(
        f"[benchmark.{name}]\ncommand = ['{built()}']\n{line}\n"
        for name, (line, _) in lines.items()))
    done = t.run("env", "--ignore-signal=CHLD", t.tally(), "check", "-q",
                 "--format", "json", cwd=place)
    t.equal((done.returncode, done.stderr), (5, ""), "end")
    found = {r["benchmark"]: r for r in json.loads(done.stdout)["results"]}
    t.equal(sorted(found), sorted(lines), "benchmarks")
    for name, (_, said) in lines.items():
        t.equal((found[name]["status"], found[name]["measures"] == []),
                ("failed", True) if said else ("no-baseline", False), name)
        t.contains(found[name]["reason"],
                   said or "there is no tally-baseline.json")


@t.named("what is wrong with a benchmark is told before its setup runs")
def before_setup():
    place = folder / "before"
    place.mkdir()
    for line, said in (('machine = "nosuch"', "'nosuch'"),
                       ('events = ["nosuch"]', "no event 'nosuch'"),
                       ("hard = { branches = 1 }", "limit of 'branches'")):
        (place / "tally.toml").write_text(
            f"[benchmark.x]\ncommand = ['{built()}']\nsetup = 'touch ran'\n"
            f"{line}\n")
        done = check(cwd=place, status=2)
        t.contains(done.stderr, said)
        assert not (place / "ran").exists(), line


@t.named("what a benchmark leaves running ends with it; signals that it ignores")
def left_running():
    mark = str(folder / "left")
    # Whether the two runs count the same depends on when the second process
    # is ended.
    t.run(t.tally(), "check", "-q", "--layouts", 1, "--baseline",
          folder / "left.json", "--", "sh", "-c", "sleep 1000 & exit 0", mark)
    run = subprocess.Popen(
        ["env", "--ignore-signal=HUP", t.tally(), "check", "-q", "--layouts",
         "1", "--", "sh", "-c", "trap '' INT TERM; sleep 1000", mark],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1)
    run.send_signal(signal.SIGHUP)
    run.send_signal(signal.SIGTERM)
    run.send_signal(signal.SIGTERM)
    out, _ = run.communicate(timeout=60 * t.MINUTES)
    t.equal((run.returncode, out), (128 + signal.SIGTERM, ""), "end")
    # A process that was killed may take a while to be gone.
    until = time.monotonic() + 60 * t.MINUTES
    while (left := those_with(mark)) and time.monotonic() < until:
        time.sleep(0.1)
    t.equal(left, [], "processes that are left")


def those_with(mark):
    """Processes whose command line has the mark."""
    return [path for path in pathlib.Path("/proc").glob("[0-9]*/cmdline")
            if mark.encode() in read_bytes(path)]


def read_bytes(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


@t.named("an interrupted run writes nothing")
def interrupted():
    path = folder / "interrupted.json"
    run = subprocess.Popen(
        [t.tally(), "check", "--update", "-j", "1", "--layouts", "64",
         "--baseline", path, "--", built(turns=4000000)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(0.5)
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60 * t.MINUTES)
    t.equal((run.returncode, out), (130, ""), "status and output")
    assert err.startswith("tally check: ended by SIGINT after "), err
    assert not path.exists()


@t.named("tally.toml: benchmarks, suites, input, folder, environment, setup")
def settings():
    place = folder / "settings"
    (place / "sub").mkdir(parents=True)
    (place / "sub" / "here").touch()
    (place / "in").write_text("A")
    (place / "tally.toml").write_text(f"""
layouts = 1
[benchmark.input]
command = ["{built()}", "i"]
input = "in"
[benchmark.env]
command = ["{built()}", "e"]
environment = {{ GIVEN = "x" }}
[benchmark.dir]
command = ["../prog", "d"]
directory = "sub"
setup = "cp {built()} ../prog"
[benchmark.any]
command = ["{built()}", "pid"]
output = "any"
[benchmark.suite]
names = ["printf", "a 1\\nb 2\\nkill 3\\n"]
match = ["a", "b"]
command = ["{built()}", "-{{}}"]
""")
    done = check("--update", "--format", "json", cwd=place)
    names = [r["benchmark"] for r in json.loads(done.stdout)["results"]]
    t.equal(names, ["any", "dir", "env", "input", "suite/a", "suite/b"],
            "benchmarks")
    kept = json.loads((place / "tally-baseline.json").read_text())
    t.equal(sorted(kept["benchmarks"]), names, "baseline")
    output = {name: next(iter(keys.values()))["output"]
              for name, keys in kept["benchmarks"].items()}
    t.equal(output["any"], "", "output of any kind")
    sizes = {name: len(text) + len(t.run(built()).stdout) for name, text in
             (("input", "65\n"), ("env", "x\n"), ("dir", "0\n"))}
    for name, size in sizes.items():
        assert output[name].startswith(f"{size} bytes, "), (name, output)
    done = check("--format", "json", "suite/*", "env", cwd=place)
    t.equal([r["benchmark"] for r in json.loads(done.stdout)["results"]],
            ["env", "suite/a", "suite/b"], "those that were asked for")
    for words in (("nothing",), ("env", "nothing"), ("nothing/x",)):
        done = check(*words, cwd=place, status=2)
        t.contains(done.stderr, f"no benchmark '{words[-1]}'")
    done = check("--format", "json", "s[u]ite", cwd=place)
    t.equal([r["benchmark"] for r in json.loads(done.stdout)["results"]],
            ["suite/a", "suite/b"], "a suite by a pattern")


@t.named("examples/check: suites in each language whose compiler is there")
def languages():
    place = folder / "languages"
    shutil.copytree(t.source("examples", "check"), place)
    suites = {"c": ["heap", "quick"], "cpp": ["multiset", "sort", "stable"],
              "python": ["heap", "sorted"], "rust": ["sort", "tree"]}
    for name, program in (("python", "/usr/bin/python3"), ("rust", "rustc"),
                          ("cpp", "g++")):
        if shutil.which(program) is None:
            del suites[name]
    wanted = [f"{suite}/{name}" for suite, names in suites.items()
              for name in names]
    for options in (("--update",), ()):
        done = check("--format", "json", "--layouts", 1, *options, *suites,
                     cwd=place)
        t.equal([(r["benchmark"], r["status"]) for r in
                 json.loads(done.stdout)["results"]],
                [(name, "passed") for name in wanted], str(options))


@t.named("events by several -e and other spellings, each once")
def events():
    found = result("--layouts", 1, "--baseline", baseline(), "-e",
                   "Instructions,CYCLES", "-e", "branches", "--hard",
                   "cycles=7", "--hard", "branches=3", "--", built(), status=4)
    t.equal([m["name"] for m in found["measures"]],
            ["instructions", "cost", "L1-dcache-loads", "L1-dcache-stores",
             "branches"], "measures")
    t.equal(measure(found, "cost")["hard_percent"], 7, "limit of the cost")
    t.equal(measure(found, "branches")["hard_percent"], 3, "its limit")


@t.named("the caches of host-model are a part of its key")
def caches():
    path = folder / "caches.json"
    check("--update", "--layouts", 1, "-m", "host-model", "--baseline", path,
          "--", built())
    key = result("--layouts", 1, "-m", "host-model", "--baseline", path, "--",
                 built())["key"]
    assert key.rsplit(" ", 1)[1].startswith("caches-"), key
    path.write_text(path.read_text().replace(key, key[:-1] + "x"))
    check("--layouts", 1, "-m", "host-model", "--baseline", path, "--", built(),
          status=4)


@t.named("what is asked for wrongly: 2, in one line")
def wrong():
    place = folder / "wrong"
    place.mkdir()
    program = ("--", str(built()))
    for words in (("--",), ("--update", "--"),
                  ("-o", str(built()), *program),
                  ("--layouts", "0", *program), ("-j", "x", *program),
                  ("--hard", "cost", *program), ("--hard", "cost=x", *program),
                  ("--hard", "nothing=1", *program), ("-m", "host", *program),
                  ("-m", "nothing", *program), ("-e", "nothing", *program),
                  ("--format", "xml", *program), ("-f", "x", *program),
                  ("name", *program), ("--color", "red", *program),
                  ("-f", "missing.toml"), (),
                  ("-o", "missing/x", *program),
                  ("--update", "--baseline", "missing/x", *program),
                  ("-o", "tally-baseline.json", *program)):
        if words[1:2] == ("tally-baseline.json",):
            (place / "tally-baseline.json").write_bytes(baseline().read_bytes())
        done = check(*words, cwd=place, status=2)
        t.equal((done.stdout, done.stderr.count("\n")), ("", 1),
                f"{words}: {done.stderr}")
    t.equal((place / "tally-baseline.json").read_bytes(),
            baseline().read_bytes(), "baseline")


@t.named("forms: each is what its reader expects")
def forms():
    place = folder / "forms"
    place.mkdir()
    hostile = '<a href="x">&|`'
    (place / "tally.toml").write_text(f"""
layouts = 1
[benchmark.'{hostile}']
command = ["{built()}"]
[benchmark.fails]
command = ["{built()}", "status"]
""")
    check("--update", hostile.replace("[", "?"), cwd=place)

    def form(name, status=5):
        return check("--format", name, cwd=place, status=status).stdout

    path = place / "junit.xml"
    path.write_text(form("junit"))
    t.run("xmllint", "--noout", "--schema", t.source("test", "junit.xsd"), path,
          check=True)
    suite = xml.parse(path).getroot()
    t.equal([(c.get("name"), [p.tag for p in c]) for c in suite],
            [(hostile, ["system-out"]), ("fails", ["error"])], "cases")
    t.equal((suite.get("tests"), suite.get("errors"), suite.get("failures")),
            ("2", "1", "0"), "counts")
    report = json.loads(form("json"))["results"]
    median = report[0]["measures"][1]["now"]["median"]
    action = json.loads(form("benchmark-action"))
    t.equal([(a["name"], a["unit"], a["value"]) for a in action][1],
            (hostile + " cost", "cycles", median), "benchmark-action")
    assert all(set(a) == {"name", "unit", "value", "range", "extra"}
               for a in action), action
    bencher = json.loads(form("bencher"))
    t.equal(list(bencher), [hostile], "benchmarks of Bencher")
    t.equal(bencher[hostile]["cost"],
            {"value": median, "lower_value": median, "upper_value": median},
            "cost")
    text = form("markdown")
    t.contains(text, "| `` <a href=\"x\">&\\|` `` | passed | +0.00 % |")
    t.contains(text, "| `fails` | **failed** | - | - |")
    assert "<a href" not in text.replace("`` <a href", ""), text
    text = form("text")
    t.equal(text.splitlines()[0],
            "1 of 2 benchmarks did not run as it should: fails", "first line")


@t.named("runs at the same time give the same report")
def jobs():
    texts = set()
    for number in (1, 4):
        path = folder / f"jobs{number}.json"
        check("-j", number, "--update", "--layouts", 4, "--baseline", path,
              "--", built())
        texts.add(path.read_bytes())
    t.equal(len(texts), 1, "baselines")


@t.named("machines of other makers, with other processors, give the same bytes")
def other_machines():
    """test/mock plays the machines, with 4 and 8 processors."""
    found = []
    for script in ("intel", "amd"):
        with mock_help.Machine(script) as machine:
            asked = machine.run(built(), "n").stdout.split()[0]
            path = folder / f"{script}.json"
            done = machine.run(t.tally(), "check", "-q", "--update",
                               "--format", "json", "--layouts", 3, "-e",
                               "branch-misses,LLC-load-misses", "--baseline",
                               path, "--", built(), "n")
            t.equal((done.returncode, done.stderr), (0, ""), script)
            report = re.sub(r'("host_seconds|"time|"baseline": "/).*', "",
                            done.stdout)
            found.append((asked, path.read_bytes(), report))
    t.equal([f[0] for f in found], ["4", "8"], "processors of the machines")
    t.equal(found[0][1:], found[1][1:], "baseline and report")


@t.named("the environment, the folder and the path are no change")
def surroundings():
    place = folder / ("long" * 40)
    place.mkdir()
    program = place / "prog"
    program.write_bytes(built().read_bytes())
    program.chmod(0o755)
    found = result("--layouts", 3, "--baseline", baseline(), "--", "./prog",
                   cwd=place, env={**os.environ, "MORE": "x" * 3000})
    t.equal([m["verdict"] for m in found["measures"]], ["same"] * 4, "verdicts")
    t.equal(measure(found, "instructions")["change_percent"], 0, "instructions")


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    t.main()
