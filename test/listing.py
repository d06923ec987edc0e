#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What tally list writes: listing.py BUILD [WORD]

JSON for programs, of every machine: which keys, in which order, of which type;
and how screens behave on a terminal: paged, cut, coloured.
"""
import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import tallytest as t

HEX = re.compile(r"0x(0|[1-9a-f][0-9a-f]*)")
BITS = re.compile(r"(\d{1,2}):(\d{1,2})|(\d{1,2})")
PATTERN = re.compile("[01x]{4}")
FIDELITIES = {"exact", "modelled", "estimated", "idle"}
ACCESSES = {"RW", "RO", "WO", "RW0", "IGN", "RSVD"}


def hexadecimal(value):
    return isinstance(value, str) and HEX.fullmatch(value) is not None


def integer(value):
    return type(value) is int and value >= 0


def names(value):
    return isinstance(value, list) and all(isinstance(v, str) for v in value)


def text(value):
    return isinstance(value, str) and value.isascii()


def boolean(value):
    return isinstance(value, bool)


# Key, test, whether every row has it; in the order of the document.
UMASK = [("name", text, 1), ("pattern", PATTERN.fullmatch, 1),
         ("counts", boolean, 1),
         ("why", {"nothing", "illegal", "undefined"}.__contains__, 0),
         ("brief", text, 1), ("fidelity", FIDELITIES.__contains__, 0),
         ("reason", text, 0)]
FIELD = [("name", text, 1), ("bits", BITS.fullmatch, 1),
         ("reset", hexadecimal, 0), ("access", ACCESSES.__contains__, 1)]
UNIT = [("name", text, 1), ("brief", text, 1), ("scope", text, 1),
        ("instances", names, 0), ("elsewhere", text, 0)]
COUNTER = [("name", text, 1), ("unit", text, 1), ("bits", integer, 1)]


def rows_of(keys):
    def test(rows):
        for row in rows:
            check_row(row, keys)
        return True
    return test


EVENT = [("name", text, 1), ("aliases", names, 1), ("unit", text, 1),
         ("code", hexadecimal, 0), ("sl", hexadecimal, 0),
         ("mask", hexadecimal, 0), ("number", integer, 0),
         ("counter", integer, 0), ("counters", names, 0),
         ("umasks", rows_of(UMASK), 0), ("iar", boolean, 0),
         ("dar", boolean, 0), ("opc", boolean, 0), ("max_inc", integer, 0),
         ("type", "ACFS".__contains__, 0), ("category", text, 0),
         ("l1d_set", integer, 0), ("l2d_set", integer, 0),
         ("mesi", boolean, 0), ("all", boolean, 0), ("precise", boolean, 0),
         ("strand_specific", boolean, 0), ("brief", text, 1),
         ("counts", text, 1),
         ("reference", text, 1), ("fidelity", FIDELITIES.__contains__, 1),
         ("reason", text, 0)]
REGISTER = [("name", text, 1), ("aliases", names, 1), ("group", text, 1),
            ("number", integer, 0), ("address", text, 0),
            ("local_address", hexadecimal, 0),
            ("global_address", hexadecimal, 0), ("access", text, 0),
            ("fields", rows_of(FIELD), 1), ("brief", text, 1),
            ("reference", text, 1)]
METRIC = [("name", text, 1), ("aliases", names, 1), ("formula", text, 1),
          ("unit", text, 1), ("events", names, 1), ("inputs", names, 1),
          ("groups", integer, 0),
          ("counters", lambda v: all(map(names, v)), 0), ("brief", text, 1),
          ("read", text, 0), ("printed", text, 0), ("reference", text, 1)]
SOFTWARE = [("name", text, 1), ("aliases", names, 1),
            ("unit", "software".__eq__, 1), ("brief", text, 1),
            ("reference", text, 1), ("fidelity", "emulator".__eq__, 1),
            ("source", "kernel".__eq__, 1)]
GENERIC = [("name", text, 1), ("aliases", names, 1),
           ("stands", ("event", "sum", "model", "none").__contains__, 1),
           ("own", text, 0), ("fidelity", text, 1), ("differs", text, 0),
           ("reason", text, 0)]
MACHINE = [("name", text, 1), ("aliases", names, 1), ("title", text, 1),
           ("isas", names, 1), ("model", boolean, 1), ("events", integer, 1),
           ("umasks", integer, 1), ("registers", integer, 1),
           ("metrics", integer, 1), ("units", rows_of(UNIT), 1),
           ("counters", rows_of(COUNTER), 1)]


def check_row(row, keys):
    order = [key for key, *_ in keys if key in row]
    t.equal(list(row), order, f"keys of {row.get('name')}")
    for key, test, needed in keys:
        if key in row and not test(row[key]):
            raise AssertionError(f"{row.get('name')}: {key} = {row[key]!r}")
        if needed and key not in row:
            raise AssertionError(f"{row.get('name')} has no {key}")


def listed(*words):
    done = t.run(t.tally(), "list", *words, "--format", "json")
    t.equal((done.returncode, done.stderr), (0, ""), "status, stderr")
    document = json.loads(done.stdout)
    t.equal((next(iter(document)), document["schema"]), ("schema", 1),
            "first key")
    return document


def machines():
    return [*listed("machines")["machines"],
            *listed("machines", "-m", "fake")["machines"]]


KINDS = {"events": EVENT, "registers": REGISTER, "metrics": METRIC}


@t.named("machines: keys and types; as many rows as they say")
def machine_rows():
    for m in machines():
        check_row(m, MACHINE)
        for kind, keys in KINDS.items():
            document = listed(kind, "-m", m["name"])
            software = kind == "events" and m["model"]
            t.equal(list(document), ["schema", "machine", kind] +
                    software * ["software"] + (kind == "events") * ["generic"],
                    "keys")
            for row in document.get("generic", []):
                check_row(row, GENERIC)
            for row in document.get("software", []):
                check_row(row, SOFTWARE)
            t.equal(document["machine"], m["name"], "machine")
            t.equal(len(document[kind]), m[kind], f"{kind} of {m['name']}")
            for row in document[kind]:
                check_row(row, keys)


@t.named("all machines at once: each row names its machine, last")
def every_machine():
    for kind, keys in KINDS.items():
        rows = listed(kind)[kind]
        for row in rows:
            t.equal(list(row)[-1], "machine", "last key")
            assert row.pop("machine") != "fake"
            check_row(row, keys)
        t.equal(len(rows), sum(m[kind] for m in
                               listed("machines")["machines"]), kind)


def events(machine):
    return {e["name"]: e for e in listed("events", "-m", machine)["events"]}


@t.named("what follows from what")
def sense():
    for m in machines():
        counters = {c["name"] for c in m["counters"]}
        rows = events(m["name"])
        t.equal(sum(u["counts"] for e in rows.values()
                    for u in e.get("umasks", [])), m["umasks"],
                f"unit masks of {m['name']}")
        for e in rows.values():
            t.equal("reason" in e, e["fidelity"] == "idle", e["name"])
            t.equal("counters" in e, bool(counters), e["name"])
            assert set(e.get("counters", [])) <= counters, e
            for u in e.get("umasks", []):
                t.equal("why" in u, not u["counts"], e["name"])
                t.equal("fidelity" in u, u["counts"], e["name"])
                t.equal("reason" in u, u.get("fidelity") == "idle", e["name"])


@t.named("rows known from the manuals")
def known():
    e = events("montecito")
    t.equal((e["CPU_OP_CYCLES_HALTED"]["counter"],
             e["CPU_OP_CYCLES_HALTED"]["counters"]), (10, ["PMD10"]), "halted")
    t.equal(e["BACK_END_BUBBLE"]["umasks"][3],
            {"name": "", "pattern": "xx11", "counts": False, "why": "nothing",
             "brief": ""}, "a unit mask that counts nothing")
    t.equal({row["mesi"] for row in e.values()}, {True, False}, "mesi")
    t.equal([events("r10000")[name]["counter"] for name in
             ("Cycles", "Graduated_stores")], [0, 1], "R10000's counters")
    t.equal([events("ultrasparc-t1")[name]["counter"] for name in
             ("IC_miss", "instr_cnt")], [0, 1], "T1's counters")
    t.equal(events("ultrasparc-t1")["IC_miss"]["code"], "0x4", "a code")
    e = events("sparc-t4")["Branches"]
    t.equal((e["code"], e["sl"], e["mask"], "counter" in e),
            ("0xc1", "0x3", "0x1", False), "Branches")
    [row] = listed("metrics", "-m", "fake", "odd")["metrics"]
    t.equal((row["events"], row["inputs"], row["groups"], row["counters"]),
            (["Misses.LOAD", "Misses.STORE", "Done", "Ticks"],
             ["interval", "packets"], 2, [["MISSES", "C1", "C0"], ["MISSES"]]),
            "odd")


@t.named("metrics of events without a counter: who counts them")
def modelled():
    for m, name, wanted in (("ultrasparc-t2", "ipc", "model"),
                            ("ultrasparc-t2", "idle_time", "none"),
                            ("ultrasparc-t2plus", "ipc", "model"),
                            ("host-model", "ipc", "model"),
                            ("host", "cpu_utilisation", "kernel")):
        row = next(row for row in listed("metrics", "-m", m)["metrics"]
                   if row["name"] == name)
        t.equal("groups" in row or "counters" in row, False, f"{m} {name}")
        text = piped("list", "metrics", "-m", m, name)
        t.contains(text, f"counted by the {wanted}"
                   if wanted in ("model", "kernel") else wanted)
    t.contains(piped("show", "-m", "ultrasparc-t2", "cpi"),
               "counted by the model: cycles\n")
    t.contains(piped("show", "-m", "ultrasparc-t2plus", "cpi"),
               "counted by the model: cycles\n")


@t.named("a pattern that nothing matches: an empty list")
def nothing():
    for kind in KINDS:
        t.equal(listed(kind, "-m", "montecito", "zzz")[kind], [], kind)


def document(*words):
    done = t.run(t.tally(), *words, "-j")
    t.equal((done.returncode, done.stderr), (0, ""), "status, stderr")
    return json.loads(done.stdout)


@t.named("one key, one meaning: event, umask, selection of encode, plan, decode")
def selections():
    words = ("-m", "montecito", "L3_READS.ALL.MISS:u:mesi=ME",
             "CPU_CPL_CHANGES.0x3", "L2D_MISSES")
    keys = ("event", "umask", "selection", "counter")
    wanted = [("L3_READS", "ALL.MISS", "L3_READS.ALL.MISS:u:mesi=EM"),
              ("CPU_CPL_CHANGES", "0x3", "CPU_CPL_CHANGES.0x3"),
              ("L2D_MISSES", None, "L2D_MISSES")]
    encoded = document("encode", *words)
    [group] = document("plan", *words)["groups"]
    for rows in (encoded["events"], group["events"]):
        t.equal(sorted(tuple(map(row.get, keys[:3])) for row in rows),
                sorted(wanted), "rows")
        for row in rows:
            t.equal(list(row), [k for k in keys if row.get(k)], "keys")
    t.equal(group["writes"], encoded["writes"], "writes")
    for write in encoded["writes"]:
        text = f"{write['register']}={write['value']}"
        [register] = document("decode", "-m", "montecito", text)["registers"]
        [row] = register["counters"]
        event = next(e for e in encoded["events"]
                     if e["counter"] == row["counter"])
        t.equal([row.get(k) for k in keys[:2]],
                [event.get(k) for k in keys[:2]], "decoded")
    t.equal(document("encode", "-m", "sparc-t4", "0x1c7")["events"],
            [{"event": None, "selection": "0x1c7", "counter": "PIC0"}],
            "a code without a row")
    [clash] = document("plan", "-m", "montecito", "L1D_READS_SET0",
                       "L1D_READS_SET1")["clashes"]
    t.equal(clash["selections"], ["L1D_READS_SET0", "L1D_READS_SET1"], "clash")


@t.named("decode -j: what is wrong with a register stands in its row, what is "
         "wrong between two at the end")
def decode_warnings():
    d = document("decode", "-m", "montecito", "PMC5=0x2000000",
                 "PMC4=0x200ca09")
    t.equal([r["warnings"] for r in d["registers"]],
            [["PMC5: PMD5 counts in no mode: disabled"], []], "a register")
    t.equal(d["warnings"], ["PMC4: BE_L1D_FPU_BUBBLE needs an event of L1D set "
                            "2 in PMC5"], "two registers")


@t.named("plan: the heading says how many events there are, in how many groups")
def plan_heading():
    for machine, events, heading in (
            ("ultrasparc-t2", ["All_instr"], "1 event in 1 group"),
            ("montecito", ["L2D_MISSES", "L3_MISSES"], "2 events in 1 group"),
            ("montecito", ["L1D_READS_SET0", "L1D_READS_SET1", "L2D_MISSES"],
             "3 events in 2 groups")):
        done = t.run(t.tally(), "plan", "-m", machine, *events)
        t.equal(done.stdout.splitlines()[:3],
                [f"{machine}: {heading}", "", "group 1"], "first lines")


# Terminals

def on_terminal(*words, rows=24, columns=80, **environment):
    """What a terminal of this size shows."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ,
                struct.pack("HHHH", rows, columns, 0, 0))
    env = {**os.environ, "NO_COLOR": "1", "PAGER": "cat", **environment}
    process = subprocess.Popen([t.tally(), *words], stdin=subprocess.DEVNULL,
                               stdout=slave, env=env)
    os.close(slave)
    chunks = []
    with contextlib.suppress(OSError):
        while chunk := os.read(master, 65536):
            chunks.append(chunk)
    os.close(master)
    t.equal(process.wait(60), 0, "status")
    return b"".join(chunks).decode().replace("\r\n", "\n")


def piped(*words, **environment):
    done = t.run(t.tally(), *words, env={**os.environ, **environment})
    t.equal(done.returncode, 0, "status")
    return done.stdout


PAGER = "sed 's/^/paged /'"


@t.named("paged: on a terminal alone, where it does not fit")
def paged():
    words = ("list", "-m", "montecito")
    t.contains(on_terminal(*words, PAGER=PAGER), "paged   BACK_END_BUBBLE")
    assert "paged" not in on_terminal(*words, rows=999, PAGER=PAGER)
    assert "paged" not in on_terminal("list", PAGER=PAGER)
    assert "paged" not in piped(*words, PAGER=PAGER)
    t.contains(on_terminal("show", "montecito", rows=9, PAGER=PAGER), "paged")


@t.named("a pager that is not there, or does not want all")
def bad_pager():
    words = ("list", "-m", "montecito")
    whole = on_terminal(*words)
    for pager in ("", "cat"):
        t.equal(on_terminal(*words, PAGER=pager), whole, pager)
    t.contains(on_terminal(*words, PAGER="no-such-pager 2>/dev/null"), whole)
    t.equal(on_terminal(*words, PAGER="head -3"),
            "".join(whole.splitlines(True)[:3]), "head")


@t.named("lines are cut on a terminal, and not in a pipe")
def cut():
    for m in machines():
        for kind in ("events", "metrics", "registers"):
            if m[kind] == 0:
                continue
            words = ("list", kind, "-m", m["name"], "-v")
            lines = on_terminal(*words).splitlines()
            wide = [x for x in lines if len(x) > 80 and not x.startswith(
                ("      also", "      group", m["name"]))]
            t.equal(wide, [], "lines wider than the terminal")
    assert max(map(len, piped("list", "-m", "montecito").splitlines())) > 80
    assert "..." not in piped("list", "-m", "sparc-t4")


@t.named("prose fits the terminal")
def folded():
    for columns in (60, 80):
        for words in (("show", "-m", "sparc-t4", "Branches"),
                      ("show", "PMC5"), ("show", "L3_READS"),
                      ("decode", "-m", "montecito", "PMC5=0x620edd09", "PMC6=1"),
                      ("decode", "-m", "sparc-t4", "PCR0=0xffffffff")):
            lines = on_terminal(*words, columns=columns).splitlines()
            t.equal([x for x in lines if len(x) > columns], [], "wide lines")
            t.equal([x for x in lines if x != x.rstrip()], [], "blanks")


@t.named("no screen of every register's value has blanks at a line's end")
def no_blanks():
    for m in machines():
        for row in listed("registers", "-m", m["name"])["registers"]:
            for value in ("0", "0x5555"):
                done = t.run(t.tally(), "decode", "-m", m["name"],
                             f"{row['name']}={value}")
                lines = done.stdout.splitlines()
                t.equal([x for x in lines if x != x.rstrip()], [],
                        f"blanks; {row['name']} of {m['name']}")


@t.named("one line an event in a pipe, whatever its name's length")
def one_line():
    rows = piped("list", "events", "-m", "r10000").partition(
        "r10000, generic names:")[0].splitlines()
    t.equal(len([x for x in rows if x.startswith("  ")]), 50, "events")


STANDING = re.compile(r"  (exact|modelled|estimated|idle) +")


@t.named("one column of words a unit, whatever the names' lengths")
def columns():
    for m in machines():
        words = ("list", "events", "-m", m["name"])
        for text in (piped(*words), on_terminal(*words, columns=200),
                     on_terminal(*words)):
            for unit in re.split(r"^(?=\S+, (?:unit|software|generic))", text, flags=re.M):
                starts = {found.end() for line in unit.splitlines()
                          if (found := STANDING.search(line))}
                assert len(starts) <= 1, f"{m['name']}: {starts}\n{unit}"


@t.named("colour: on a terminal alone, NO_COLOR, --color wins")
def colour():
    words = ("list", "-m", "r10000")
    decode = ("decode", "-m", "sparc-t4", "PCR0=0x1fe6")
    for shown, wanted in (
            (on_terminal(*words, NO_COLOR=""), True),
            (on_terminal(*words, NO_COLOR="1"), False),
            (on_terminal(*words, "--color", "always", NO_COLOR="1"), True),
            (on_terminal(*words, "--color", "never", NO_COLOR=""), False),
            (piped(*words), False),
            (piped(*words, "--color", "always"), True),
            (piped("show", "PMC5", "--color", "always"), True),
            (on_terminal(*decode, NO_COLOR=""), True),
            (on_terminal(*decode, NO_COLOR="1"), False),
            (piped(*decode), False),
            (piped(*decode, "--color", "always"), True)):
        t.equal("\033[1m" in shown, wanted, "colour")


@t.named("the page of the Montecito names each event that counts")
def page():
    with open(t.source("doc", "models", "montecito.md")) as file:
        named = set(re.findall(r"\w+", file.read()))
    events = {name: row for part in ("core", "cache", "system")
              for name, row in t.table("machines", "montecito",
                                       f"events-{part}.toml")["event"].items()}
    driven = {name for name, row in events.items()
              if row["fidelity"] != "idle"}
    assert len(driven) >= 120, f"{len(driven)} of {len(events)} count"
    t.equal(driven - named, set(), "events that the page lacks")


t.main()
