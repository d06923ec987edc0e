# SPDX-License-Identifier: MIT
"""A machine: its folder, and what it takes over from another one."""
import fnmatch
import functools
import operator
import re

from catalogue.account import load_accounts
from catalogue.cost import load_costs
from catalogue.event import load_event
from catalogue.formula import Scope, load_inputs, load_metric
from catalogue.generic import (add_metrics, check_aliases, load_mapped,
                               number_events)
from catalogue.model import load_values
from catalogue.register import load_registers
from catalogue.row import NAME, BadData, File, near

FAMILIES = ("niagara1", "niagara2", "sparc-t4", "r10000", "montecito")
SCOPES = ("strand", "core", "chip", "node", "system")
ATTRIBUTES = ("sl", "mask", "code", "number", "umask")
KINDS = ("privilege", "flag", "number", "letters", "words")
NEEDS = ("mesi", "all")
RESERVED = ("all", "default")
# Modifiers of every machine.
OWN_MODIFIERS = ("at", "off")
# What is counted without -e is shown at once: 64 lines at most.
DEFAULT_MAX = 64
COUNTERS_MAX = 32
INSTANCE = re.compile(r"\w{1,20}")
# Names of events; `*` stands for any characters, or none.
EVENT_PATTERN = re.compile(r"[\w.*-]{1,80}")
WORD = re.compile(r"[A-Za-z0-9_+-]{1,20}")
# A machine's tables, and the files they stand in.
TABLES = {"unit": "machine", "counter": "machine", "modifier": "machine",
          "group": "machine", "instructions": "instructions",
          "event": "events*", "generic": "generic", "metric": "metrics", "input": "metrics",
          "cost": "costs", "account": "accounting"}


class Folder:
    """Holds the rows of data/machines/NAME, above those of the base machine."""

    def __init__(self, root, name, above=()):
        self.name = name
        self.main = File(root, f"machines/{name}/machine.toml")
        self.files = [self.main]
        for path in sorted((root / "machines" / name).glob("*.toml")):
            if path.stem != "machine":
                self.files.append(File(root, str(path.relative_to(root))))
        self.base = self.find_base(root, (*above, name))
        self.tables = {table: self.read(table, pattern)
                       for table, pattern in TABLES.items()}

    def find_base(self, root, above):
        name = self.main.text("base", None)
        if name is None:
            return None
        if name in above:
            self.main.bad(f"base = '{name}': it is built on this machine")
        names = sorted(p.name for p in root.glob("machines/*") if p.is_dir())
        if name not in names:
            self.main.bad(f"base = '{name}': no such machine; "
                          f"{near(name, names)}")
        return Folder(root, name, above)

    def matching(self, pattern):
        pattern = re.compile(pattern.replace("*", ".*"))
        return [f for f in self.files
                if pattern.fullmatch(f.path.split("/")[-1][:-len(".toml")])]

    def read(self, table, pattern):
        """Returns (name, row) in order. Own rows replace those of the base."""
        rows = {}
        for file in self.matching(pattern):
            # What machine.toml has by default its parameters have.
            plain = pattern == "machine"
            for name, row in file.rows(table, optional=True, plain=plain):
                if name in rows:
                    row.bad(f"stands in {rows[name].path} too")
                rows[name] = row
        if not self.base:
            return rows
        inherited = dict(self.base.tables[table])
        if table == "event":
            for name in self.events_gone(inherited):
                del inherited[name]
            return replace_events(inherited, rows)
        return inherited | rows

    def events_gone(self, names):
        """Returns those of the base's events that `without` names."""
        gone = set()
        for pattern in self.main.words("without", EVENT_PATTERN, []):
            fitting = fnmatch.filter(names, pattern)
            if not fitting:
                self.main.bad(f"without has {pattern}: the base has no such "
                              f"event; {near(pattern, names)}")
            gone.update(fitting)
        return gone

    def registers(self):
        """Returns the machine's own registers, or the base's where the machine
        has none."""
        files = self.matching("registers")
        rows = [row for file in files for row in load_registers(file)]
        if not files and self.base:
            return self.base.registers()
        return rows

    def done(self):
        for file in self.files:
            file.done()


def replace_events(inherited, own):
    """Puts rows in the place of the base's rows of the same name or number."""
    numbers = {row.values.get("number"): name for name, row in own.items()
               if row.has("number")}
    rows = {}
    for name, row in inherited.items():
        name = numbers.get(row.values.get("number"), name)
        rows[name] = own.get(name, row)
    return rows | own


def load_units(rows):
    units = {}
    for name, row in rows.items():
        if not NAME.fullmatch(name):
            row.bad("the name must be letters, digits, '_', '-' and '.'")
        units[name] = {"name": name, "brief": row.text("brief"),
                       "scope": row.word("scope", SCOPES),
                       "instances": row.words("instances", INSTANCE, []),
                       "elsewhere": row.text("elsewhere", None)}
        row.done()
    return units


def find_field(registers, name, field):
    for i, f in enumerate(registers[name]["fields"]):
        if f["name"] == field:
            return i
    return None


def check_fields(row, counter, registers):
    """Checks that the selecting register of each instance has the fields that
    are named; of 'fixed', REGISTER.FIELD is a field of another register."""
    counter["registers"] = []
    for instance in counter["instances"] or [""]:
        own = counter["select"].replace("#", instance)
        if own not in registers:
            row.bad(f"unknown register '{own}'; {near(own, registers)}")
        counter["registers"].append(registers[own]["index"])
        places = [(own, field) for key in ("fields", "modifiers")
                  for field in counter[key].values()]
        for place in counter["fixed"]:
            register, _, field = place.rpartition(".")
            places.append((register or own, field))
        for name, field in places:
            if name not in registers:
                row.bad(f"unknown register '{name}'; {near(name, registers)}")
            if find_field(registers, name, field) is None:
                row.bad(f"{name} has no field '{field}'")


def check_value(row, counter, registers):
    """Checks that the registers and fields that are read exist in each
    instance."""
    for instance in counter["instances"] or [""]:
        name = counter["value"].replace("#", instance)
        register, _, field = name.partition(".")
        if register not in registers:
            row.bad(f"unknown register '{register}'; "
                    f"{near(register, registers)}")
        if field and find_field(registers, register, field) is None:
            row.bad(f"{register} has no field '{field}'")


def load_counters(rows, units, modifiers, registers):
    counters = {}
    for name, row in rows.items():
        unit = row.word("unit", list(units))
        fields = row.get("fields", dict, "a table of fields", {})
        for key, field in fields.items():
            if key not in ATTRIBUTES or not isinstance(field, str):
                row.bad(f"'fields' gives one of {', '.join(ATTRIBUTES)} the "
                        f"name of a field, not {key}")
        own = row.get("modifiers", dict, "a table of fields", {})
        for key, field in own.items():
            if key not in modifiers or not isinstance(field, str):
                row.bad("'modifiers' gives a modifier the name of this "
                        f"counter's field, not {key}; "
                        f"{near(key, list(modifiers))}")
        c = {"name": name, "unit": unit, "fields": fields,
             "select": row.text("select", None),
             "fixed": row.numbers("fixed", {}), "modifiers": own,
             "value": row.text("value"),
             "bits": row.number("bits", 1, 64, 64),
             "base": row.number("base", 0, 255, 0),
             "sets": row.words("sets", NAME, []),
             "instances": units[unit]["instances"], "registers": []}
        if c["select"]:
            check_fields(row, c, registers)
        check_value(row, c, registers)
        row.done()
        counters[name] = c
    return counters


def check_modifier(row, m, units):
    """Checks that a modifier has all keys that its kind needs, and no
    others."""
    for unit in m["units"]:
        if unit not in units:
            row.bad(f"unknown unit '{unit}'; {near(unit, units)}")
    for key in ("words", "letters"):
        if bool(m[key]) != (m["kind"] == key):
            row.bad(f"'{key}' goes with kind = \"{key}\"")
    if m["inverted"] and m["kind"] != "privilege":
        row.bad("'inverted' goes with kind = \"privilege\"")
    if m["low"] > m["high"] or (m["kind"] == "number") != (m["high"] > 0):
        row.bad("'low' to 'high' is what kind = \"number\" takes")


def largest_value(m):
    """Returns the largest value that a user may give the modifier."""
    return max(m["value"], m["high"], m["default_value"], len(m["words"]) - 1,
               functools.reduce(operator.or_, m["letters"].values(), 0))


def check_width(row, field, value):
    if value >> field["width"]:
        row.bad(f"{value:#x} does not fit into the {field['width']} bits of "
                f"{field['name']}")


def load_modifiers(rows, units, counters, registers):
    modifiers = []
    for name, row in rows.items():
        m = {"name": name, "kind": row.word("kind", KINDS),
             "units": row.words("units", NAME, list(units)),
             "field": row.text("field"), "brief": row.text("brief"),
             "value": row.number("value", 0, 2**32, 0),
             "low": row.number("low", 0, 2**32, 0),
             "high": row.number("high", 0, 2**32, 0),
             "words": row.words("words", WORD, []),
             "letters": row.numbers("letters", {}),
             "default": row.flag("default"),
             "default_value": row.number("default_value", 0, 2**32, 0),
             "inverted": row.flag("inverted"),
             "needs": row.word("needs", NEEDS, None),
             "sl": row.number("sl", 0, 31, -1)}
        row.done()
        if name in OWN_MODIFIERS:
            row.bad(f"every machine has a modifier '{name}' of its own")
        check_modifier(row, m, units)
        register, _, field = m["field"].rpartition(".")
        places = [(register, field)] if register else [
            (place, c["modifiers"].get(name, field))
            for place, r in registers.items() for c in counters.values()
            if c["unit"] in m["units"] and r["index"] in c["registers"]]
        for place, field in places:
            if place not in registers:
                row.bad(f"unknown register '{place}'; "
                        f"{near(place, registers)}")
            index = find_field(registers, place, field)
            if index is None:
                row.bad(f"{place} has no field '{field}'")
            check_width(row, registers[place]["fields"][index],
                        largest_value(m))
        modifiers.append(m)
    return modifiers


def load_groups(rows, units):
    groups = []
    for name, row in rows.items():
        g = {"sl": int(name) if name.isdigit() else -1,
             "unit": row.word("unit", list(units)),
             "title": row.text("title"),
             "mask": row.number("mask", 0, 255, 0),
             "precise": row.flag("precise", None),
             "whole": row.number("whole", 1, 255, 0),
             "part": row.number("part", 1, 255, 0),
             "reserved": row.flag("reserved"), "rule": row.text("rule", None)}
        if not 0 <= g["sl"] <= 31:
            row.bad("the name must be the sl value, 0 to 31")
        if (g["whole"] == 0) != (g["part"] == 0):
            row.bad("whole and part must stand together")
        if any((g["unit"], g["sl"]) == (o["unit"], o["sl"]) for o in groups):
            row.bad(f"sl {g['sl']} stands twice")
        row.done()
        groups.append(g)
    return sorted(groups, key=lambda g: g["sl"])


def load_lists(rows):
    lists = {}
    for name, row in rows.items():
        lists[name] = {"name": name, "brief": row.text("brief"),
                       "reference": row.text("reference"),
                       "names": row.words("names", re.compile(r"[ -~]+"), [])}
        row.done()
    return lists


def claim(row, taken, names):
    """Takes a name, or raises BadData where the name is taken, in whatever
    case."""
    for name in names:
        if name.lower() in RESERVED or name.lower().endswith(":u"):
            row.bad(f"the name '{name}' means something else in event lists")
        if name.lower() in taken:
            row.bad(f"the name '{name}' is taken by {taken[name.lower()]}")
        taken[name.lower()] = row.place


def claim_code(row, event, codes):
    """Takes a code in its unit, or raises BadData where another event has the
    code and no row says that the two share the code."""
    for code in [event["code"], *event["more_codes"]]:
        key = event["unit"], code
        if code >= 0 and codes.get(key, event["same_code"]) != \
                event["same_code"]:
            row.bad(f"code {code:#x} is taken by [event.{codes[key]}]")
        codes.setdefault(key, event["name"])


def check_related(rows, events):
    names = {name for e in events for name in
             (e["name"], f"{e['unit']}/{e['name']}", *e["aliases"])}
    for row, event in zip(rows.values(), events):
        for name in event["related"]:
            if name not in names:
                row.bad(f"'related' names no event: '{name}'; "
                        f"{near(name, sorted(names))}")
        own = {e["name"] for e in events
               if e["unit"] == event["unit"] and e is not event}
        for name in event["excludes"]:
            if name not in own:
                row.bad(f"'excludes' names no other event of its unit: "
                        f"'{name}'; {near(name, sorted(own))}")


def check_choice(row, event, machine):
    """Checks that an event's code and mask fit into the fields of each of its
    counters."""
    registers = list(machine["registers"].values())
    for i, c in enumerate(machine["counters"].values()):
        if not event["counters"] >> i & 1 or not c["registers"]:
            continue
        fields = {f["name"]: f for f in registers[c["registers"][0]]["fields"]}
        for key in sorted(set(c["fields"]) - {"umask"}):
            value = event[key] - (c["base"] if key == "number" else 0)
            check_width(row, fields[c["fields"][key]], max(value, 0))


def sort_events(events, machine):
    """Sorts the events by unit. The events that are made for generic names come
    last."""
    units = list(machine["units"])
    return sorted(events, key=lambda e: (e["generic"],
                                         units.index(e["unit"])))


def load_events(rows, machine, signals, generics):
    events, taken, codes = [], {}, {}
    for key, row in rows.items():
        name = key.rpartition("/")[2]
        if not NAME.fullmatch(name):
            row.bad("the name must be letters, digits, '_', '-' and '.'")
        event = load_event(name, row, machine, signals)
        if "/" in key and key != f"{event['unit']}/{name}":
            row.bad(f"the name must be {event['unit']}/{name}: its unit first")
        claim(row, taken.setdefault(event["unit"], {}),
              [name] + event["aliases"])
        claim_code(row, event, codes)
        check_choice(row, event, machine)
        events.append(event)
    check_related(rows, events)
    machine["events"] = events
    check_aliases(machine, rows.values(), generics)
    machine["events"] = sort_events(events, machine)


def default_lines(event):
    """Returns how many lines the event has in a report without -e. An idle
    event has none."""
    if not event["default"] or event["fidelity"] == "idle":
        return 0
    return sum(u["default"] for u in event["umasks"]) or 1


def load_metrics(rows, scope):
    taken, metrics = {}, []
    for name, row in rows.items():
        metric = load_metric(name, row, scope)
        claim(row, taken, [name] + metric["aliases"])
        metrics.append(metric)
    return metrics


def index_registers(folder):
    registers, taken = {}, {}
    for index, (row, register) in enumerate(folder.registers()):
        claim(row, taken, [register["name"]] + register["aliases"])
        registers[register["name"]] = register | {"index": index}
    return registers


def own_or_base_values(folder, params):
    """Returns the machine's own parameters. Parameters that the machine does
    not give are the base's, where the machine says so."""
    file = folder.main
    if not file.flag("base_parameters"):
        return load_values(file, params)
    if folder.base is None:
        file.bad("base_parameters is for a machine with a base")
    return load_values(file, params, own_or_base_values(folder.base, params))


def load_machine(root, name, signals, params, generics):
    folder = Folder(root, name)
    file, tables = folder.main, folder.tables
    registers = index_registers(folder)
    units = load_units(tables["unit"])
    machine = {"name": name, "source": file.source,
               "base": file.text("base", None),
               "title": file.text("title"), "brief": file.text("brief"),
               "page": file.text("page", None),
               "aliases": file.words("aliases", NAME, []),
               "isas": file.words("isas", NAME),
               "hidden": file.flag("hidden"),
               "native": file.flag("native"),
               "reads_host": file.flag("reads_host"),
               "family": file.word("family", FAMILIES, None),
               "params": own_or_base_values(folder, params), "units": units,
               "registers": registers}
    if machine["native"] and machine["params"]:
        file.bad("a native machine has no [parameter]: it is no model")
    if machine["reads_host"] and not machine["params"]:
        file.bad("reads_host is for a machine with parameters")
    machine["counters"] = load_counters(tables["counter"], units,
                                        tables["modifier"], registers)
    if len(machine["counters"]) > COUNTERS_MAX:
        file.bad(f"more than {COUNTERS_MAX} counters")
    machine["modifiers"] = load_modifiers(
        tables["modifier"], units, machine["counters"], registers)
    machine["groups"] = load_groups(tables["group"], units)
    machine["instructions"] = load_lists(tables["instructions"])
    load_events(tables["event"], machine, signals, generics)
    if not machine["events"]:
        raise BadData(f"data/machines/{name}/events.toml: there is no event")
    machine["generics"] = load_mapped(machine, tables["generic"], signals,
                                      generics)
    machine["events"] = sort_events(machine["events"], machine)
    number_events(machine, machine["generics"])
    if sum(default_lines(e) for e in machine["events"]) > DEFAULT_MAX:
        file.bad(f"more than {DEFAULT_MAX} events are counted by default: "
                 "mark the others default = false")
    machine["inputs"] = load_inputs(tables["input"].items())
    scope = Scope(machine)
    machine["metrics"] = load_metrics(tables["metric"], scope)
    add_metrics(machine, tables["metric"], generics)
    machine["accounts"] = load_accounts(tables["account"], scope)
    machine["costs"] = load_costs(tables["cost"], machine)
    folder.done()
    return machine, file
