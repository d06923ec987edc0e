# SPDX-License-Identifier: MIT
"""tally export: every format, read back by what reads it: export.py BUILD
[WORD]

The values of each event in a file add up to what tally count says."""
import collections
import contextlib
import gzip
import json
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import tempfile
import threading

import record_help
import tallytest as t

EVENTS = ["instructions", "branches", "L1-dcache-load-misses"]
FORMATS = ["callgrind", "folded", "pprof", "speedscope", "perf-script",
           "perf-data"]

folder = tempfile.TemporaryDirectory()


def place(name):
    return os.path.join(folder.name, name)


def compiled():
    """A program of C++ with debug information and a thread."""
    return record_help.cplusplus(place("a program.x86_64"))


@t.once
def words():
    text = pathlib.Path(place("words.txt"))
    text.write_text("one two three two three three\n" * 9)
    return [t.guest("words.x86_64"), str(text)]


def forked():
    return [t.guest("forker.x86_64")]


def record(program):
    """A record of a program, made once: its path, and its totals."""
    with LOCKS[program]:
        return recorded(program)


@t.once
def recorded(program):
    command = program()
    path = place(program.__name__ + ".data")
    options = ["-m", "host-model", "-e", ",".join(EVENTS)]
    done = t.run(t.tally(), "record", "-q", *options, "-o", path, "--",
                 *command)
    assert os.path.exists(path), done.stderr
    counted = t.Count(options, command)
    RUNS[path] = command[0]
    return path, {event: counted[event] for event in EVENTS}


def export(form, path, *options):
    """Exports to a file; its path, and what was said."""
    with tempfile.NamedTemporaryFile(dir=folder.name, delete=False) as file:
        done = t.run(t.tally(), "export", "--as", form, "-i", path, "-o",
                     file.name, *options)
    t.equal(done.returncode, 0, f"status; {done.stderr}")
    return file.name, done.stderr


PROGRAMS = [words, forked, compiled]
RUNS = {}  # the program that a record is of
LOCKS = {program: threading.Lock() for program in PROGRAMS}


def each_program(form):
    """A decorator: the function checks the format of each program."""
    def add(check):
        for program in PROGRAMS:
            t.case(f"{form}: {program.__name__}",
                   lambda check=check, program=program: check(*record(program)))
        return check
    return add


# Callgrind ------------------------------------------------------------------


@each_program("callgrind")
def callgrind(path, totals):
    """callgrind_annotate has the totals, and its rows add up to them."""
    if shutil.which("callgrind_annotate") is None:
        raise t.Skip("callgrind_annotate is missing")
    file, said = export("callgrind", path)
    t.equal(said, "")
    done = t.run("callgrind_annotate", "--inclusive=no", "--show-percs=no",
                 "--auto=no", "--threshold=100", file)
    t.equal((done.returncode, done.stderr), (0, ""))
    rows = re.findall(r"^ *([\d,.]+) +([\d,.]+) +([\d,.]+)  (.+)$",
                      done.stdout, re.MULTILINE)
    numbers = [[int(n.replace(",", "").replace(".", "0")) for n in row[:3]]
               for row in rows]
    assert rows and rows[0][3] == "PROGRAM TOTALS", done.stdout
    t.equal(dict(zip(EVENTS, numbers[0])), totals)
    t.equal([sum(column) for column in zip(*numbers[1:])],
            list(totals.values()), "sums of the functions")


@each_program("callgrind lines")
def callgrind_lines(path, totals):
    """The lines of the file add up, and names are defined once."""
    sums = [0] * len(EVENTS)
    names = {}
    inclusive = False
    for line in pathlib.Path(export("callgrind", path)[0]).read_text(
            ).splitlines():
        if match := re.fullmatch(r"(c?ob|f[lien]|cf[in])=\((\d+)\)( .+)?",
                                 line):
            kind = "ob" if match[1][-2:] == "ob" else \
                "fn" if match[1][-2:] == "fn" else "fl"
            assert (match[3] is None) == ((kind, match[2]) in names), line
            names.setdefault((kind, match[2]), match[3])
        elif match := re.fullmatch(r"0x[0-9a-f]+ \d+((?: \d+)+)", line):
            values = [int(word) for word in match[1].split()]
            t.equal(len(values), len(EVENTS))
            if not inclusive:
                sums = [a + b for a, b in zip(sums, values)]
        inclusive = line.startswith("calls=")
    t.equal(sums, list(totals.values()))


# Folded ---------------------------------------------------------------------


@each_program("folded")
def folded(path, totals):
    for event in EVENTS:
        text = pathlib.Path(export("folded", path, "-e", event)[0]).read_text()
        lines = [re.fullmatch(r"([^ ]+) (\d+)", line).groups()
                 for line in text.splitlines()]
        t.equal(len({stack for stack, _ in lines}), len(lines), "stacks")
        t.equal(sum(int(value) for _, value in lines), totals[event], event)


@t.named("folded: the first event is the default")
def folded_default():
    path, _ = record(words)
    first = pathlib.Path(export("folded", path)[0]).read_text()
    named = pathlib.Path(export("folded", path, "-e", EVENTS[0])[0]).read_text()
    t.equal(first, named)
    t.contains(first, "words.x86_64;_start;")
    t.contains(first, ";main;read_words")


@t.named("folded: inlined functions are frames")
def folded_inlined():
    text = pathlib.Path(export("folded", record(compiled)[0])[0]).read_text()
    assert re.search(r"^a_program\.x86_64;.*;work\(int\);.*mixed", text,
                     re.MULTILINE), text[:1000]
    t.contains(text, "mixed")


# pprof ----------------------------------------------------------------------


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7f) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def varints(data):
    """The signed numbers of a packed list."""
    at, values = 0, []
    while at < len(data):
        value, at = varint(data, at)
        values.append(value - (1 << 64 if value >> 63 else 0))
    return values


def message(data):
    """The fields of a message: number to list of values."""
    fields, at = collections.defaultdict(list), 0
    while at < len(data):
        tag, at = varint(data, at)
        value, at = varint(data, at)
        if tag & 7 == 2:
            value, at = data[at:at + value], at + value
        else:
            t.equal(tag & 7, 0, "wire type")
        fields[tag >> 3].append(value)
    return fields


@each_program("pprof")
def pprof(path, totals):
    """A decoder of the format finds all numbers that fields refer to."""
    profile = message(gzip.decompress(
        pathlib.Path(export("pprof", path)[0]).read_bytes()))
    strings = [text.decode() for text in profile[6]]
    t.equal(strings[0], "")
    t.equal([strings[message(kind)[1][0]] for kind in profile[1]], EVENTS)
    functions = {message(f)[1][0]: message(f) for f in profile[5]}
    mappings = {message(m)[1][0]: message(m) for m in profile[3]}
    locations = {message(place)[1][0]: message(place) for place in profile[4]}
    for function in functions.values():
        for field in (2, 3, 4):
            assert function.get(field, [0])[0] < len(strings)
    for location in locations.values():
        for line in location[4]:
            assert message(line)[1][0] in functions
        if location[2]:
            mapping = mappings[location[2][0]]
            assert mapping[2][0] <= location[3][0] < mapping[3][0]
    t.equal(strings[profile[14][0]], EVENTS[0], "the event of the default")
    sums = [0] * len(EVENTS)
    for sample in map(message, profile[2]):
        assert all(place in locations for place in varints(sample[1][0]))
        sums = [a + b for a, b in zip(sums, varints(sample[2][0]))]
    t.equal(dict(zip(EVENTS, sums)), totals)


@each_program("go tool pprof")
def go_pprof(path, totals):
    if shutil.which("go") is None:
        raise t.Skip("go is missing")
    file, _ = export("pprof", path)
    environment = os.environ | {"HOME": folder.name, "TZ": "UTC"}
    for index, event in enumerate(EVENTS):
        done = t.run("go", "tool", "pprof", "-top", "-nodecount=9999999",
                     "-nodefraction=0", "-unit=count",
                     f"-sample_index={index}", file, env=environment)
        if "no such tool" in done.stderr:
            raise t.Skip("go has no pprof")
        t.equal(done.returncode, 0, done.stderr)
        t.contains(done.stdout, f"Type: {event}\n")
        t.contains(done.stdout, f" of {totals[event]} total")
        rows = re.findall(r"^ +(-?\d+) +-?[\d.]+% ", done.stdout, re.MULTILINE)
        t.equal(sum(map(int, rows)), totals[event], event)
    name = pathlib.Path(RUNS[path]).name
    t.contains(done.stdout, f"File: {name}\n")
    raw = t.run("go", "tool", "pprof", "-raw", file, env=environment)
    t.equal(raw.returncode, 0, raw.stderr)
    t.contains(raw.stdout, "Mappings\n1: 0x")


@t.named("pprof: names of the source and of the file, inlined frames")
def pprof_names():
    path, _ = record(compiled)
    profile = message(gzip.decompress(
        pathlib.Path(export("pprof", path)[0]).read_bytes()))
    strings = [text.decode() for text in profile[6]]
    names = {(strings[f[2][0]], strings[f[3][0]])
             for f in map(message, profile[5])}
    assert ("work(int)", "_Z4worki") in names, names
    assert any(len(message(place)[4]) > 2 for place in profile[4])
    done = t.run("readelf", "-n", place("a program.x86_64"))
    if match := re.search(r"Build ID: (\w+)", done.stdout):
        assert match[1] in strings, match[1]


# speedscope -----------------------------------------------------------------


@each_program("speedscope")
def speedscope(path, totals):
    document = json.loads(
        pathlib.Path(export("speedscope", path)[0]).read_text())
    t.equal(document["$schema"],
            "https://www.speedscope.app/file-format-schema.json")
    frames = document["shared"]["frames"]
    sums = dict.fromkeys(EVENTS, 0)
    for frame in frames:
        assert frame["name"] and set(frame) <= {"name", "file"}, frame
    for profile in document["profiles"]:
        t.equal((profile["type"], profile["unit"], profile["startValue"]),
                ("sampled", "none", 0))
        t.equal(len(profile["samples"]), len(profile["weights"]))
        assert all(0 <= f < len(frames) for s in profile["samples"] for f in s)
        assert all(weight > 0 for weight in profile["weights"])
        t.equal(sum(profile["weights"]), profile["endValue"])
        sums[profile["name"].partition(": ")[0]] += profile["endValue"]
    t.equal(sums, totals)


@t.named("speedscope: a profile for each event and thread")
def speedscope_threads():
    document = json.loads(pathlib.Path(
        export("speedscope", record(compiled)[0])[0]).read_text())
    t.equal(len(document["profiles"]), 2 * len(EVENTS))


# perf script ----------------------------------------------------------------

# The patterns of stackcollapse-perf.pl for a sample and a frame.
HEAD = re.compile(r"(\S.+?)\s+(\d+)/*(\d+)*\s+(\d+)\.(\d{6}):\s*(\d+)\s+(\S+):")
FRAME = re.compile(r"\s*(\w+)\s*(.+) \((.*)\)")


@each_program("perf-script")
def perf_script(path, totals):
    sums = dict.fromkeys(EVENTS, 0)
    times = collections.Counter()
    text = pathlib.Path(export("perf-script", path)[0]).read_text()
    for sample in text.removesuffix("\n\n").split("\n\n"):
        head, *frames = sample.split("\n")
        match = HEAD.fullmatch(head)
        assert match and frames, sample
        assert all(FRAME.fullmatch(frame) for frame in frames), sample
        thread = match[2], match[3]
        t.equal(int(match[4]) * 10**6 + int(match[5]), times[thread], head)
        times[thread] += int(match[6])
        sums[match[7]] += int(match[6])
    t.equal(sums, totals)


# perf.data ------------------------------------------------------------------


def perf_records(data):
    """(type, bytes) of each record of a perf.data file."""
    t.equal(data[:8], b"PERFILE2")
    at, size = struct.unpack_from("<QQ", data, 40)
    end = at + size
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        yield kind, data[at:at + length]
        at += length
    t.equal(at, end, "end of the records")


def perf_data_sums(file, events):
    """The sum of the periods of each event."""
    sums = dict.fromkeys(events, 0)
    for kind, record in perf_records(pathlib.Path(file).read_bytes()):
        if kind == 9:  # PERF_RECORD_SAMPLE
            number, = struct.unpack_from("<Q", record, 8)
            sums[events[number - 1]] += struct.unpack_from("<Q", record, 48)[0]
    return sums


def perf(*words):
    if shutil.which("perf") is None:
        raise t.Skip("perf is missing")
    done = t.run("perf", *words, env=os.environ | {"HOME": folder.name})
    if done.returncode != 0 and "not found" in done.stderr:
        raise t.Skip(done.stderr.splitlines()[-1])
    t.equal(done.returncode, 0, done.stderr)
    return done.stdout


@each_program("perf-data")
def perf_data(path, totals):
    """perf script and perf report read the file, and have the totals."""
    file, said = export("perf-data", path)
    t.equal(said, "")
    t.equal(perf_data_sums(file, EVENTS), totals)
    sums = dict.fromkeys(EVENTS, 0)
    for line in perf("script", "-i", file, "-G", "-F",
                     "period,event").splitlines():
        period, event = line.split()
        sums[event.rstrip(":")] += int(period)
    t.equal(sums, totals, "perf script")
    shown = perf("report", "-i", file, "--stdio", "--no-children", "-g",
                 "none", "-n", "--show-total-period", "-F", "period,sym")
    for event, part in zip(EVENTS, shown.split("# Samples: ")[1:]):
        t.contains(part.splitlines()[0], f"of event '{event}'")
        rows = re.findall(r"^ +(\d+) +\[", part, re.MULTILINE)
        t.equal(sum(map(int, rows)), totals[event], f"perf report: {event}")


@t.named("perf-data: names, build ids, threads, calls and kinds of misses")
def perf_data_names():
    path, _ = record(compiled)
    file, _ = export("perf-data", path)
    shown = perf("script", "-i", file, "-F", "tid,event,ip,sym")
    # The names that the symbols have; perf demangles where it was built so.
    work = re.compile(r"\b(work(\(int\))?|_Z4worki)$", re.MULTILINE)
    main = re.compile(r" main$", re.MULTILINE)
    assert any(work.search(stack) and main.search(stack)
               for stack in shown.split("\n\n")), "a call of work() by main()"
    t.equal(len(set(re.findall(r"^ *(\d+) +\S+: *$", shown, re.MULTILINE))),
            2, "threads")
    note = re.search(r"Build ID: (\w+)", t.run(
        "readelf", "-n", place("a program.x86_64")).stdout)
    if note:
        t.contains(perf("script", "-i", file, "--show-mmap-events"),
                   f"<{note[1]}>")
    sources = set(re.findall(r"L1-dcache-load-misses: +\w+ \|(.*)", perf(
        "script", "-i", file, "-G", "-F", "event,data_src")))
    assert all("OP LOAD|LVL L1 miss|" in source for source in sources), sources
    t.equal(len(sources), 1, "sources of L1 misses")


@t.named("perf-data: the latency of captures is their weight")
def perf_data_weights():
    path = place("captured.data")
    done = t.run(t.tally(), "record", "-q", "-m", "montecito", "--foreign",
                 "--ear", "load-latency=8", "-o", path, "--", *words())
    t.equal(done.returncode, 0, done.stderr)
    report = json.loads(t.run(t.tally(), "report", "-i", path, "--format",
                              "json").stdout)
    totals = {event["name"]: event["total"] for event in report["events"]}
    file, _ = export("perf-data", path)
    weights, periods, sources = 0, 0, set()
    for line in perf("script", "-i", file, "-G", "-F",
                     "period,event,weight,data_src").splitlines():
        found = re.match(r" *(\d+) +(\w+): +\w+ \|(.*?)\s+(\d+) *$", line)
        if found[2] == "DATA_EAR_EVENTS":
            periods += int(found[1])
            weights += int(found[4])
            sources.add(found[3])
        else:
            t.equal(int(found[4]), 0, line)
    t.equal(periods, totals["DATA_EAR_EVENTS"])
    t.equal(weights, totals["ear_latency"])
    assert all("OP LOAD|LVL L1 miss|" in source for source in sources), sources
    shown = perf("mem", "-i", file, "report", "--stdio", "--sort", "mem")
    t.contains(shown, f"# Total weight : {totals['ear_latency']}\n")
    t.contains(shown, "L1 miss")


# Machines whose models take counts back -----------------------------------


def left_out(said):
    """What a warning says was left out, by event."""
    match = re.search(r"no negative values; left out: (.*)", said)
    return {event: int(value) for value, event in
            re.findall(r"(-\d+) of ([^,\n]+)", match[1])} if match else {}


def written(form, file, events):
    """The sums of the values in a file."""
    sums = dict.fromkeys(events, 0)
    if form == "perf-data":
        return perf_data_sums(file, events)
    if form == "pprof":
        fields = message(gzip.decompress(pathlib.Path(file).read_bytes()))
        for sample in map(message, fields[2]):
            for event, value in zip(events, varints(sample[2][0])):
                sums[event] += value
        return sums
    text = pathlib.Path(file).read_text()
    if form == "callgrind":
        own = re.sub(r"^calls=.*\n.*\n", "", text, flags=re.MULTILINE)
        for line in re.findall(r"^0x[0-9a-f]+ \d+ (.+)$", own, re.MULTILINE):
            for event, value in zip(events, line.split()):
                sums[event] += int(value)
    elif form == "speedscope":
        for profile in json.loads(text)["profiles"]:
            sums[profile["name"].partition(": ")[0]] += profile["endValue"]
    elif form == "perf-script":
        for value, event in re.findall(r"^\S.*: +(\d+) (\S+):$", text,
                                       re.MULTILINE):
            sums[event] += int(value)
    return sums


def negative_values(machine, guest):
    """All events of a machine: what is written and what is said to be left out
    are the totals."""
    path = place(f"{machine}.data")
    command = [t.guest(guest), words()[1]]
    options = ["-m", machine, "-e", "all"]
    done = t.run(t.tally(), "record", "-q", *options, "-o", path, "--",
                 *command)
    t.equal(done.returncode, 0, done.stderr)
    totals = t.Count(options, command).values
    for form in FORMATS:
        if form == "folded":
            continue
        file, said = export(form, path)
        out = left_out(said)
        sums = written(form, file, list(totals))
        t.same({e: sums[e] + out.get(e, 0) for e in totals}, totals, form)
    event = "cycles" if "cycles" in totals else next(iter(totals))
    file, said = export("folded", path, "-e", event)
    sums = [int(line.split()[-1])
            for line in pathlib.Path(file).read_text().splitlines()]
    t.equal(sum(sums) + left_out(said).get(event, 0), totals[event], "folded")


for row in [("ultrasparc-t2", "words.sparc64"), ("sparc-t4", "words.sparc64"),
            ("r10000", "words.mips64"), ("montecito", "words.x86_64")]:
    t.case(f"negative values: {row[0]}", negative_values, *row)


# The command ----------------------------------------------------------------


def refused(wanted, *options, status=2, **how):
    """The command says one line, has the status and leaves no file."""
    target = place("refused")
    done = t.run(t.tally(), "export", *options, "-o", target, **how)
    t.equal((done.returncode, done.stdout), (status, ""), done.stderr)
    t.contains(done.stderr, wanted)
    t.equal(done.stderr.count("\n"), 1, f"lines of {done.stderr!r}")
    assert not os.path.exists(target), "a file is left"


@t.named("what is wrong with a command line is one line")
def wrong_lines():
    path, _ = record(words)
    refused("did you mean callgrind?", "--as", "calgrind", "-i", path)
    refused("there are callgrind, folded", "--as", "xyzzy", "-i", path)
    refused("a format is expected", "-i", path)
    refused("there is no event 'nothing'", "--as", "pprof", "-e", "nothing",
            "-i", path)
    refused("names no event", "--as", "pprof", "-e", "", "-i", path)
    refused("folded has one event", "--as", "folded", "-e",
            ",".join(EVENTS[:2]), "-i", path)
    refused("is no option", "--as", "pprof", path)
    refused("no such file", "--as", "pprof", "-i", place("none"), status=125)
    refused("tally.data", "--as", "pprof", cwd=folder.name, status=125)


@t.named("a file that is no good record is one line")
def bad_records():
    data = bytearray(pathlib.Path(record(words)[0]).read_bytes())
    bad = pathlib.Path(place("bad.data"))

    def refuse(wanted, bytes_of):
        bad.write_bytes(bytes_of)
        for form in FORMATS:
            refused(wanted, "--as", form, "-i", bad, status=125)

    refuse("bad.data", b"#!/bin/sh\n" * 100)
    refuse("bad.data", b"")
    refuse("use a newer tally", data[:8] + struct.pack("<I", 99) + data[12:])
    middle = len(data) // 2
    refuse("damaged", data[:middle] + bytes([data[middle] ^ 1]) +
           data[middle + 1:])


@t.named("a record that is cut short: a warning, and what is there")
def cut_record():
    path, totals = record(words)
    data = pathlib.Path(path).read_bytes()
    chunks, at = [], 16
    while at < len(data):
        chunks.append(at)
        at += 32 + (struct.unpack_from("<Q", data, at + 8)[0] + 7) // 8 * 8
    # Head, process, counts; then totals, run and end.
    cut = pathlib.Path(place("cut.data"))
    cut.write_bytes(data[:chunks[-3]])
    file, said = export("callgrind", cut)
    t.contains(said, "warning")
    last = pathlib.Path(file).read_text().splitlines()[-1].split()
    values = [int(word) for word in last[1:]]
    assert 0 < values[0] <= totals[EVENTS[0]], last
    for form in FORMATS:
        t.contains(export(form, cut)[1], "warning")


@t.named("events are chosen, in the order of -e")
def chosen():
    path, totals = record(words)
    wanted = [EVENTS[2], EVENTS[0]]
    for options in (["-e", ",".join(wanted)], ["-e", wanted[0], "-e",
                                               wanted[1]]):
        text = pathlib.Path(export("callgrind", path, *options)[0]).read_text()
        t.contains(text, "\nevents: L1_dcache_load_misses instructions\n")
        t.contains(text, "\ntotals: "
                   f"{totals[wanted[0]]} {totals[wanted[1]]}\n")


@t.named("standard output has what -o has")
def standard_output():
    path, _ = record(words)
    for form in FORMATS:
        done = subprocess.run([t.tally(), "export", "--as", form, "-i", path],
                              capture_output=True, timeout=60 * t.MINUTES)
        t.equal((done.returncode, done.stderr), (0, b""))
        same = done.stdout == pathlib.Path(export(form, path)[0]).read_bytes()
        assert same, form


@t.named("pprof and perf-data are not written to a terminal")
def terminal():
    for form in ("pprof", "perf-data"):
        to_terminal(form)


def to_terminal(form):
    path, _ = record(words)
    leader, follower = pty.openpty()
    try:
        done = t.run(t.tally(), "export", "--as", form, "-i", path,
                     stdout=follower, stderr=subprocess.PIPE)
    finally:
        os.close(follower)
    t.equal(done.returncode, 2)
    t.contains(done.stderr, "-o FILE")
    t.equal(done.stderr.count("\n"), 1)
    with contextlib.suppress(OSError):
        t.equal(os.read(leader, 100), b"")
    os.close(leader)


@t.named("the record and a file that cannot be written stay")
def kept():
    path, _ = record(words)
    before = pathlib.Path(path).read_bytes()
    for form in FORMATS:
        done = t.run(t.tally(), "export", "--as", form, "-i", path, "-o", path)
        t.equal(done.returncode, 2)
        t.contains(done.stderr, "replace the record")
        # Also where no option names it.
        with tempfile.TemporaryDirectory() as d:
            copy = pathlib.Path(d, "tally.data")
            copy.write_bytes(before)
            done = t.run(t.tally(), "export", "--as", form, "-o",
                         "tally.data", cwd=d)
            t.equal((done.returncode, copy.read_bytes()), (2, before))
        done = t.run(t.tally(), "export", "--as", form, "-i", path, "-o",
                     place("no/such/folder"))
        t.equal(done.returncode, 2)
        with open("/dev/full", "w") as full:
            done = t.run(t.tally(), "export", "--as", form, "-i", path,
                         stdout=full, stderr=subprocess.PIPE)
        t.equal(done.returncode, 125, form)
        t.contains(done.stderr, "No space left")
    assert pathlib.Path(path).read_bytes() == before


t.main()
