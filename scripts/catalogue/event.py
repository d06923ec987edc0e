# SPDX-License-Identifier: MIT
"""Events and their unit masks."""
import re

from catalogue.row import ALIAS, NAME, near

FIDELITIES = ("exact", "modelled", "estimated", "idle")
# Raised by the model, yet as architectural as the program itself.
EXACT_COMPONENTS = {"direction"}
COUNTS = ("yes", "nothing", "illegal", "undefined")
ATTRIBUTIONS = ("ActiveTrue", "ActiveApprox", "TrueThrd")
NOT_MODELLED = "not modelled yet"
PATTERN = re.compile("[01x]{4}")
NARROWED = re.compile(r"[a-z]+=\w+")
UMASK = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,59}")
# How sl and mask make the code: bits that one of them is shifted by.
CODES = {"niagara2": lambda sl, mask: mask << 4 | sl,
         "sparc-t4": lambda sl, mask: sl << 6 | mask}


def read_code(row, family):
    """Returns code, sl and mask of an event. The code follows from sl and mask
    where the row has both."""
    code = row.number("code", 0, 2**31 - 1, -1)
    sl = row.number("sl", 0, 31, -1)
    mask = row.number("mask", 0, 255, -1)
    if family in CODES and (sl < 0) != (mask < 0):
        row.bad("'sl' and 'mask' go together")
    if family in CODES and sl >= 0 and code != CODES[family](sl, mask):
        row.bad(f"code = {code:#x}: sl {sl:#x} and mask {mask:#x} make "
                f"{CODES[family](sl, mask):#x}")
    return code, sl, mask


def overlap(a, b):
    return all(x == y or "x" in (x, y) for x, y in zip(a, b))


def load_umasks(row, bits, signals):
    """Returns the rows of unit masks. Patterns overlap where each bit has a
    meaning of its own."""
    umasks, names = [], set()
    for part in row.parts("umasks"):
        u = {"name": part.get("name", str, "a name or \"\""),
             "aliases": part.words("aliases", UMASK, []),
             "pattern": part.text("pattern"),
             "brief": part.get("brief", str, "text or \"\"", ""),
             "counts": part.word("counts", COUNTS, "yes"),
             "all": part.flag("all", None), "default": part.flag("default"),
             "attribution": part.word("attribution", ATTRIBUTIONS, None),
             "signals": read_signals(part, signals),
             "fidelity": part.word("fidelity", FIDELITIES, None),
             "reason": part.text("reason", None)}
        named = part.word("repeats", [v["name"] for v in umasks], None)
        u["repeats"] = next((v for v in umasks if v["name"] == named), None)
        if u["repeats"]:
            u["signals"] = u["repeats"]["signals"]
        part.done()
        if not PATTERN.fullmatch(u["pattern"]):
            part.bad("'pattern' must be four characters of 0, 1 and x")
        if u["name"] == "" and u["counts"] == "yes":
            part.bad("a unit mask that counts has a name")
        if u["name"] and not UMASK.fullmatch(u["name"]):
            part.bad("'name' must be letters, digits, '_', '-' and '.'")
        for other in umasks:
            if not bits and overlap(u["pattern"], other["pattern"]):
                part.bad(f"pattern {u['pattern']} overlaps "
                         f"{other['pattern']}")
        for name in filter(None, [u["name"], *u["aliases"]]):
            if name.lower() in names and u["counts"] == "yes":
                part.bad(f"the name '{name}' stands twice")
            names.add(name.lower())
        umasks.append(u)
    return umasks


def read_signals(row, signals):
    names = row.words("signals", NAME, [])
    for name in names:
        if name not in signals:
            row.bad(f"unknown signal '{name}'; {near(name, signals)}")
    return names


def check_standing(row, event, signals):
    """Checks that the fidelity of a row fits the signals of the row."""
    fidelity, names = event["fidelity"], event["signals"]
    for name in names:
        implied = set(signals[name]["implies"] or [])
        if fidelity == "exact" and not implied <= EXACT_COMPONENTS:
            row.bad(f"'{name}' comes from the model: the fidelity must be "
                    "modelled or estimated")
    if fidelity == "idle" and (names or not event["reason"]):
        row.bad("an idle event has a 'reason' and no 'signals'")
    if fidelity != "idle" and (not names or event["reason"]):
        row.bad("an event that is not idle has 'signals' and no 'reason'")


def read_standing(row, event, machine, signals):
    """Returns signals and fidelity of an event. An event of a machine without a
    model is idle, whatever its row says. An event that the host itself counts
    is exact, and sums no signals."""
    event["reason"] = row.text("reason", None)
    event["signals"] = read_signals(row, signals)
    if machine["params"] and any(u["signals"] for u in event["umasks"]):
        read_masked(row, event, signals)
        return
    if machine["params"]:
        event["fidelity"] = row.word("fidelity", FIDELITIES, "idle")
        if not row.has("fidelity"):
            event["reason"] = event["reason"] or NOT_MODELLED
        check_standing(row, event, signals)
        return
    row.word("fidelity", FIDELITIES, None)
    if machine["native"]:
        event["fidelity"] = "exact"
        if event["signals"] or event["reason"]:
            row.bad("an event of a native machine has no 'signals' and no "
                    "'reason'")
        return
    event["fidelity"], event["signals"] = "idle", []
    event["reason"] = event["reason"] or NOT_MODELLED


def masked_default(event):
    """Returns the unit mask that a bare name means, as umask_default() in
    src/table/umask.c does."""
    can = [u for u in event["umasks"] if u["counts"] == "yes"]
    names = [u for u in can if {"all", "any"} &
             {name.lower() for name in (u["name"], *u["aliases"])}]
    return names[0] if names else can[0] if len(can) == 1 else None


def read_masked(row, event, signals):
    """Reads the standing, or the reason, of each unit mask that counts. A unit
    mask without a standing has that of the event. The event gets signals,
    standing and reason of the unit mask that its bare name means."""
    if event["signals"]:
        row.bad("its unit masks have 'signals', so it has none")
    fidelity = row.word("fidelity", FIDELITIES[:-1])
    for u in event["umasks"]:
        if u["counts"] != "yes":
            continue
        idle = not u["signals"]
        u["fidelity"] = "idle" if idle else u["fidelity"] or fidelity
        u["reason"] = u["reason"] or (event["reason"] if idle else None)
        check_standing(row, u, signals)
    own = masked_default(event)
    if event["default"] and not any(u["default"] for u in event["umasks"]):
        if own is None:
            row.bad("counted by default, it has a unit mask that is: "
                    "default = true")
        own["default"] = True
    own = own or next(u for u in event["umasks"] if u["signals"])
    for key in ("signals", "fidelity", "reason"):
        event[key] = own[key]


def check_narrowed(row, event, signals):
    for suffix, names in event["narrowed"].items():
        if not NARROWED.fullmatch(suffix) or not isinstance(names, list):
            row.bad("'narrowed' gives each \"modifier=word\" its signals")
        for name in names:
            if name not in signals:
                row.bad(f"unknown signal '{name}'; {near(name, signals)}")


def read_narrowed(row, event, machine, signals):
    """Returns the signals that the event sums where a modifier takes one
    instance of its unit: those that the row names, or one of the signals, which
    then stand in the order of the instances."""
    event["narrowed"] = row.get("narrowed", dict, "a table of signals", {})
    check_narrowed(row, event, signals)
    instances = machine["units"][event["unit"]]["instances"]
    if event["fidelity"] == "idle":
        event["narrowed"] = {}
    elif instances and event["signals"]:
        each, rest = divmod(len(event["signals"]), len(instances))
        if rest:
            row.bad(f"'signals' gives each of the {len(instances)} instances "
                    f"of unit {event['unit']} as many")
        for i, name in enumerate(instances):
            event["narrowed"][f"at={name}"] = \
                event["signals"][i * each:(i + 1) * each]


def read_counters(row, event, machine):
    """Returns the bits of the machine's counters that can count the event."""
    own = {name: c for name, c in machine["counters"].items()
           if c["unit"] == event["unit"]}
    known = set(own).union(*(c["sets"] for c in own.values()))
    wanted = row.words("counters", NAME, list(own))
    for name in wanted:
        if name not in known:
            row.bad(f"unknown counter '{name}'; {near(name, sorted(known))}")
    return sum(1 << bit for bit, (name, c) in
               enumerate(machine["counters"].items())
               if name in own and {name, *c["sets"]} & set(wanted))


def load_event(name, row, machine, signals):
    event = {key: row.text(key) for key in
             ("unit", "counts", "brief", "reference")}
    if event["unit"] not in machine["units"]:
        row.bad(f"unknown unit '{event['unit']}'; "
                f"{near(event['unit'], machine['units'])}")
    event["name"], event["generic"] = name, False
    event["aliases"] = row.words("aliases", ALIAS, [])
    event["code"], event["sl"], event["mask"] = read_code(
        row, machine["family"])
    event["number"] = row.number("number", 0, 255, -1)
    event["more_codes"] = row.get("more_codes", list, "a list of codes", [])
    event["same_code"] = row.text("same_code", None)
    event["counters"] = read_counters(row, event, machine)
    event["umask_bits"] = row.flag("umask_bits")
    event["umasks"] = load_umasks(row, event["umask_bits"], signals)
    for key in ("iar", "dar", "opc", "all", "precise", "strand_specific"):
        event[key] = row.flag(key, None)
    for key in ("mesi", "reserved"):
        event[key] = row.flag(key)
    event["max_inc"] = row.number("max_inc", 0, 255, -1)
    event["type"] = row.word("type", ("A", "C", "F", "S"), None)
    event["category"] = row.text("category", None)
    event["l1d_set"] = row.number("l1d_set", 0, 15, -1)
    event["l2d_set"] = row.number("l2d_set", 0, 15, -1)
    event["attribution"] = row.word("attribution", ATTRIBUTIONS, None)
    event["instructions"] = row.words(
        "instructions", re.compile("|".join(machine["instructions"]) or "-"),
        [])
    event["related"] = row.words("related", re.compile(r"[\w./-]+"), [])
    event["excludes"] = row.words("excludes", NAME, [])
    event["default"] = row.flag("default", not event["reserved"])
    read_standing(row, event, machine, signals)
    read_narrowed(row, event, machine, signals)
    row.done()
    return event
