#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""irix.py BUILD MOCK: programs written for IRIX on played counters.

Runs those of ../examples under test/mock. Reports TAP.
"""
import fcntl
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

import surroundings

TEST = pathlib.Path(__file__).resolve().parents[3] / "test"
CORE = "cpus 2\npmu cpu core type=4 counters=4\n"
FOLDERS = {"test_irix_native": "interfaces/irix/test"}
EC_MAGIC = 0x74616C6C79656331
EC_SIZE = 944
build = mock = None
cases = []


class Skip(Exception):
    """The reason why a case cannot be tried here."""


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root enables counters for the whole system")


def case(function):
    cases.append(function)
    return function


def run(*words, script=CORE, **env):
    with tempfile.NamedTemporaryFile("w", suffix=".script") as file:
        file.write(script)
        file.flush()
        return subprocess.run(
            [TEST / "mock" / "tree.py", file.name, "--",
             build / FOLDERS.get(words[0], "interfaces/irix") / words[0],
             *map(str, words[1:])],
            env=os.environ | {"TALLY_MOCK_OBJECT": str(mock)} | env,
            capture_output=True, text=True, timeout=600)  # fmt: skip


def equal(got, wanted):
    if got != wanted:
        raise AssertionError(f"{got!r}, not {wanted!r}")


def number(text, name):
    return int(re.search(rf"^{name}.*?(\d+)(?: |$)", text, re.M)[1])


@case
def the_example_as_it_is_meant_counts_both_misses():
    done = run("irix_example")
    equal(done.returncode, 0)
    assert number(done.stdout, "instruction cache misses: ") > 0, done
    assert number(done.stdout, "data cache misses: ") > 0, done


@case
def the_example_as_it_stands_never_counts_event_25():
    done = run("irix_example_literal")
    equal(done.returncode, 0)
    assert number(done.stdout, "instruction cache misses: ") > 0, done
    equal(number(done.stdout, "data cache misses: "), 0)


@case
def an_event_that_the_host_has_not_is_einval():
    done = run("irix_selfperfex", 7, 17)
    equal(done.returncode, 22)
    equal(done.stderr, "perfex: cannot count events 7 and 17: Invalid "
          "argument\n")
    equal(run("irix_example", script="cpus 1\n").returncode, 22)


@case
def what_is_not_permitted_is_eperm():
    script = CORE + "paranoid 3\ncapable no\n"
    equal(run("irix_selfperfex", script=script).returncode, 1)


@case
def libperfex_prints_counts_and_costs():
    done = run("irix_selfperfex")
    equal(done.returncode, 0)
    lines = done.stderr.splitlines()
    equal(len(lines), 5)
    assert lines[0].startswith(" 0 Cycles......"), lines
    assert lines[1].startswith("17 Graduated instructions....."), lines
    count = int(lines[3].split()[-4])
    equal(f"{count / 200e6:.6f}", lines[3].split()[-1])


@case
def the_environment_overrides_events():
    done = run("irix_selfperfex", T5_EVENT0="15", T5_EVENT1="24")
    assert done.stderr.startswith("15 Graduated instructions"), done.stderr
    done = run("irix_selfperfex", T5_EVENT0="none")
    equal(done.returncode, 22)
    equal(done.stderr, "perfex: T5_EVENT0 is no event from 0 to 31: 'none'\n")


@case
def two_events_of_one_counter_conflict():
    done = run("irix_selfperfex", 9, 15)
    equal(done.returncode, 22)
    assert "conflicting counters: events 9 and 15" in done.stderr, done.stderr
    equal(run("irix_selfperfex", -1, 99).returncode, 22)


@case
def costs_come_from_a_file():
    with tempfile.NamedTemporaryFile("w") as file:
        file.write("0 2 1 4\n")
        file.flush()
        last = run("irix_selfperfex", 0, 17, file.name).stderr.splitlines()[3]
        count = int(last.split()[-4])
        equal([f"{count * n / 200e6:.6f}" for n in (2, 1, 4)],
              last.split()[-3:])
        equal(run("irix_selfperfex", 0, 17, "/none").returncode, 22)


@case
def changes_children_and_system_mode():
    need_root()
    done = run("test_irix_native")
    equal((done.stdout, done.returncode), ("all is well\n", 0))


@case
def fortran_finds_its_names():
    names = subprocess.run(
        ["nm", "-D", "--defined-only", build / "interfaces/irix/libperfex.so"],
        capture_output=True, text=True, check=True).stdout  # fmt: skip
    for name in ("start", "read", "print"):
        assert f" {name}_counters_" in names, names
    assert " print_costs_" in names and " load_costs_" in names, names


def system(*lines, script=CORE):
    """Lines of a shell on one played system; {admin} and {stats} are ours."""
    tools = build / "interfaces/irix"
    text = "\n".join(lines).replace("{admin}", f"{tools}/tally-ecadmin")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "script")
        file.write_text(script)
        return subprocess.run(
            [TEST / "mock" / "tree.py", file, "--", "sh", "-c",
             text.replace("{stats}", f"{tools}/tally-ecstats")],
            env=os.environ | {"TALLY_MOCK_OBJECT": str(mock),
                              "TALLY_EC_FILE": f"{folder}/ec"},
            capture_output=True, text=True, timeout=600)  # fmt: skip


@case
def ecadmin_enables_what_ecstats_shows_until_it_is_released():
    need_root()
    done = system("{admin} -D -e 0,graduated_instructions && {admin} -l",
                  "{stats} -a -s 1 0.2", "{admin} -e 24 -d 0 && {admin} -l",
                  "{stats} -s 2 0.2", "{admin} -D -r", "{stats} -s 1 1")
    equal(done.stderr, "tally-ecadmin: HWPERF_ENSYSCNTRS\n"
          "tally-ecadmin: HWPERF_RELSYSCNTRS\n"
          "tally-ecstats: no event counters are enabled; tally-ecadmin -e "
          "enables them\n")
    lines = [line.split() for line in done.stdout.splitlines()]
    numbers = [line[0] for line in lines]
    equal(numbers, ["0", "15", "Event", "0", "15", "15", "24", "Event", "15",
                    "24", "Event", "15", "24"])
    assert all(int(line[2]) > 0 for line in lines if len(line) == 3
               and line[2].isdecimal()), done.stdout


@case
def ecstats_marks_what_is_scaled():
    need_root()
    done = system("{admin} -a", "{stats} -a -s 1 0.3", "{admin} -r")
    assert re.search(r"^ 0 Cycles +\d+\*$", done.stdout, re.M), done


@case
def ecadmin_says_what_the_system_refuses_and_keeps_the_rest():
    need_root()
    done = system("{admin} -e 0", "{admin} -e 7", "{admin} -l", "{admin} -r")
    equal(done.stderr,
          "tally-ecadmin: the system refuses: Invalid argument\n")
    equal(done.stdout, " 0 Cycles\n")


@case
def ecadmin_leaves_no_file_where_nothing_is_counted():
    need_root()
    left = 'test ! -e "$TALLY_EC_FILE" || echo left'
    done = system("{admin} -e 7", left, "{admin} -e 0 && {admin} -r", left,
                  "{admin} -r", left)
    equal(done.stdout, "")
    equal(done.stderr,
          "tally-ecadmin: the system refuses: Invalid argument\n")


@case
def a_fifo_in_place_of_the_file_is_not_waited_for():
    with tempfile.TemporaryDirectory() as folder:
        fifo = f"{folder}/ec"
        os.mkfifo(fifo)
        for tool in (["tally-ecadmin", "-l"], ["tally-ecstats", "-s", "1", "1"]):
            done = subprocess.run(
                [build / "interfaces/irix" / tool[0], *tool[1:]], text=True,
                capture_output=True, env=os.environ | {"TALLY_EC_FILE": fifo})
            equal((done.returncode, done.stdout, done.stderr),
                  (1, "", f"{tool[0]}: {fifo} is no file of tally-ecadmin\n"))


@case
def a_file_whose_keeper_died_while_it_wrote_is_not_waited_for():
    """As long as struct ec_state of interfaces/irix/ec.h; its sequence is odd."""
    state = struct.pack("<Qi64xIIiI", EC_MAGIC, 12000, 0, 0, 0, 1)
    tools = build / "interfaces/irix"
    with tempfile.NamedTemporaryFile() as file:
        file.write(state.ljust(EC_SIZE, b"\0"))
        file.flush()

        def said_by(*words):
            done = subprocess.run(
                [tools / words[0], *words[1:]], capture_output=True, text=True,
                env=os.environ | {"TALLY_EC_FILE": file.name})
            equal((done.returncode, done.stdout), (1, ""))
            return done.stderr

        equal(said_by("tally-ecadmin", "-l"),
              "tally-ecadmin: no event counters are enabled\n")
        fcntl.flock(file, fcntl.LOCK_EX)
        for tool in ("tally-ecadmin", "-l"), ("tally-ecstats", "-s", "1", "0.05"):
            equal(said_by(*tool),
                  f"{tool[0]}: the process that keeps the counters ended while "
                  "it wrote them: tally-ecadmin -r, then enable them again\n")


@case
def bad_words_of_ecadmin_and_ecstats_are_usage_errors():
    for words, what in (("{admin} -e nope", "no event 'nope'"),
                        ("{admin} -d 0,99", "no event '99'"),
                        ("{admin}", "usage:"), ("{admin} -T", "invalid"),
                        ("{admin} -l more", "usage:"),
                        ("{stats} -s 0", "-s takes how many samples"),
                        ("{stats} 0", "the interval is 0.05"),
                        ("{stats} 1 2", "there is one interval")):
        done = system(words)
        equal(done.returncode, 2)
        assert what in done.stderr, done.stderr
    equal(system("{stats} -s 1 1").returncode, 1)
    equal(len(system("{admin} -e '?'").stdout.splitlines()), 32)


def main():
    global build, mock
    build, mock = (pathlib.Path(a).resolve() for a in sys.argv[1:])
    surroundings.make_plain()
    print(f"1..{len(cases)}")
    for i, function in enumerate(cases, 1):
        name = function.__name__.replace("_", " ")
        try:
            function()
            print(f"ok {i} {name}")
        except Skip as reason:
            print(f"ok {i} {name} # SKIP {reason}")
        except (AssertionError, TypeError, IndexError) as e:
            print(f"not ok {i} {name}\n# {e!r}")


main()
