#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Turns data/*.toml into the const C tables of src/table/table.h.

  gen_tables.py DATA TABLES_H TABLES_C    writes both files
  gen_tables.py --machine NAME DATA       prints the C of one machine

Data out, no logic out. Machines are sorted by name; signals, parameters and
events keep the order of their file. Bad data ends the run with one line that
names the file and the row, and nothing is written.
"""
import argparse
import difflib
import pathlib
import re
import sys
import tomllib
from fractions import Fraction

FIDELITIES = ("exact", "modelled", "estimated", "idle")
KINDS = ("count", "size", "hertz", "cycles", "choice")
SCALES = {"size": 1024, "hertz": 1000}
# Raised by the model, yet as architectural as the program itself.
EXACT_PARTS = {"direction"}
RESERVED = ("all", "default")
# What is counted without -e is shown at once: 64 lines at most.
DEFAULT_MAX = 64
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,59}")
ALIAS = re.compile(r"(?!0[xX])\w(?:[\w.:-]{0,58}\w)?", re.ASCII)
TEXT = re.compile(r"[ -~]+")
MISSING = object()


class BadData(Exception):
    """The text says file, row, what is wrong and what would be right."""


def near(word, words):
    match = difflib.get_close_matches(word, words, 1)
    if match:
        return f"did you mean '{match[0]}'?"
    return "known are " + ", ".join(words)


class Row:
    """A table of a file: hands out checked values, refuses unknown keys."""

    def __init__(self, path, label, values):
        self.path, self.label, self.place = path, label, label
        self.known, self.values = [], values
        if not isinstance(values, dict):
            self.bad("must be a table")

    def bad(self, text):
        raise BadData(f"{self.path}: {self.label}: {text}")

    def get(self, key, kind, what, default=MISSING):
        self.known.append(key)
        value = self.values.get(key, default)
        if value is MISSING:
            self.bad(f"'{key}' is missing: {what}")
        # A bool is an int to Python, not to us.
        wrong = isinstance(value, bool) != (kind is bool)
        if value is not default and (wrong or not isinstance(value, kind)):
            self.bad(f"'{key}' is of the wrong kind: {what}")
        return value

    def text(self, key, default=MISSING):
        what = "one line of plain ASCII text"
        value = self.get(key, str, what, default)
        if value is not default and not TEXT.fullmatch(value):
            self.bad(f"'{key}' must be {what}")
        return value

    def flag(self, key, default=False):
        return self.get(key, bool, "true or false", default)

    def number(self, key, low, high, default=MISSING):
        what = f"a whole number from {low} to {high}"
        value = self.get(key, int, what, default)
        if value is not default and not low <= value <= high:
            self.bad(f"{key} = {value}: must be {what}")
        return value

    def word(self, key, words, default=MISSING):
        value = self.get(key, str, "one of " + ", ".join(words), default)
        if value is not default and value not in words:
            self.bad(f"{key} = '{value}': must be one of {', '.join(words)}")
        return value

    def words(self, key, pattern, default=MISSING):
        what = "a list of names"
        value = self.get(key, list, what, default)
        for word in value:
            if not isinstance(word, str) or not pattern.fullmatch(word):
                self.bad(f"'{key}' must be {what}: {word!r} is none")
        if len(set(value)) != len(value):
            self.bad(f"'{key}' names something twice")
        return value

    def done(self):
        for key in self.values:
            if key not in self.known:
                self.bad(f"unknown key '{key}'; {near(key, self.known)}")


class File(Row):
    """A TOML file; each has a source."""

    def __init__(self, root, name):
        path = f"data/{name}"
        try:
            values = tomllib.loads((root / name).read_text("utf-8"))
        except FileNotFoundError:
            raise BadData(f"{path}: the file is missing") from None
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
            raise BadData(f"{path}: {e}") from None
        super().__init__(path, "top level", values)
        self.place = path
        self.source = self.text("source")

    def rows(self, table):
        """The rows of [table.NAME], with the row [default] beneath them."""
        default = self.get("default", dict, "a table", {})
        rows = self.get(table, dict, f"rows [{table}.NAME]")
        for name, values in rows.items():
            label = f"[{table}.{name}]"
            if not isinstance(values, dict):
                raise BadData(f"{self.path}: {label}: must be a table")
            yield name, Row(self.path, label, default | values)


def ident(*words):
    return "_".join(re.sub(r"[^A-Za-z0-9]", "_", w).upper() for w in words)


def check_ident(row, seen, name):
    """Names become C enumerators: no two may become the same one."""
    if not NAME.fullmatch(name) or ident(name) in seen:
        row.bad("the name must be letters, digits, '_', '-' and '.', "
                "and stay different as a C name")
    seen.add(ident(name))


def load_signals(root):
    file, signals, seen = File(root, "signals.toml"), {}, {"COUNT"}
    for name, row in file.rows("signal"):
        check_ident(row, seen, name)
        fixed = row.word("kind", ("fixed", "dynamic")) == "fixed"
        parts = row.words("parts", NAME, [])
        if fixed == bool(parts):
            row.bad("a fixed signal has no parts, a dynamic one has some")
        if fixed and any(not s["fixed"] for s in signals.values()):
            row.bad("fixed signals stand before the dynamic ones")
        signals[name] = {"fixed": fixed, "parts": parts,
                         "brief": row.text("brief")}
        row.done()
    file.done()
    return signals


def load_params(root):
    file, params, seen = File(root, "parameters.toml"), {}, {"COUNT"}
    for key, row in file.rows("parameter"):
        check_ident(row, seen, key)
        kind = row.word("kind", KINDS)
        p = {"kind": kind, "brief": row.text("brief"), "choices": []}
        if kind == "choice":
            p["choices"] = row.words("choices", NAME)
            p["min"], p["max"] = 0, len(p["choices"]) - 1
        else:
            p["min"] = row.number("min", 0, 2**63 - 1)
            p["max"] = row.number("max", p["min"], 2**63 - 1)
        p["power_of_two"] = row.flag("power_of_two")
        if p["power_of_two"] and not (is_power_of_two(p["min"]) and
                                      is_power_of_two(p["max"])):
            row.bad("'min' and 'max' must be powers of two as well")
        params[key] = p
        row.done()
    file.done()
    return params


def read_value(row, p):
    """A number, or text as --set takes it: "8K", "1.4G", "through"."""
    value = row.get("value", (int, str), "a number or text")
    if p["kind"] == "choice":
        return p["choices"].index(row.word("value", p["choices"]))
    if isinstance(value, str):
        scale = SCALES.get(p["kind"], 0)
        m = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG])", value)
        if not m or not scale:
            row.bad(f"value = '{value}': must be a {p['kind']}")
        value = Fraction(m[1]) * scale ** (" KMG".index(m[2]))
    if value != int(value) or not p["min"] <= value <= p["max"]:
        row.bad(f"value = {row.values['value']}: must be a whole number "
                f"from {p['min']} to {p['max']}")
    value = int(value)
    if p["power_of_two"] and not is_power_of_two(value):
        row.bad(f"value = {value}: must be a power of two")
    return value


def is_power_of_two(value):
    return value > 0 and value & (value - 1) == 0


def check_cache(bad, v, name):
    size, ways, line = (v[f"{name}.{k}"] for k in ("size", "ways", "line"))
    if size % (ways * line) or not is_power_of_two(size // (ways * line)):
        bad(f"{name}.size = {size}: must be {ways} ways of {line} bytes times "
            "a power of two")


def check_geometry(bad, v):
    """The rules of params_check() in src/table/geometry.c."""
    caches = ["l1i", "l1d"] + [c for c in ("l2", "l3") if v[f"{c}.size"]]
    for name in caches:
        check_cache(bad, v, name)
    if v["l2.size"] == 0 and (v["l3.size"] or v["tlb.walk"]):
        bad("l2.size = 0: only with l3.size = 0 and tlb.walk = 0")
    for inner, outer in (("l1i", "l2"), ("l1d", "l2"), ("l2", "l3")):
        if outer in caches and v[f"{inner}.line"] > v[f"{outer}.line"]:
            bad(f"{outer}.line: must be at least {inner}.line")
    if any(v["tlb.page"] < v[f"{name}.line"] for name in caches):
        bad("tlb.page: must be at least the largest line")
    sets = v["l2.size"] // (v["l2.line"] * v["l2.ways"])
    if v["l2.size"] and sets < v["l2.banks"]:
        bad("l2.banks: more banks than sets")


def load_values(file, params):
    values = {}
    for key, row in file.rows("parameter"):
        if key not in params:
            row.bad(f"unknown parameter; {near(key, params)}")
        values[key] = (read_value(row, params[key]), row.text("source"),
                       row.flag("assumed"))
        row.done()
    for key in params:
        if key not in values:
            raise BadData(f"{file.path}: [parameter]: '{key}' is missing: a "
                          "machine gives every parameter")
    return [(key, *values[key]) for key in params]


def read_code(row):
    """code, sl, mask; the code is mask << 4 | sl where both are given."""
    code = row.number("code", 0, 2**31 - 1, -1)
    sl = row.number("sl", 0, 15, -1)
    mask = row.number("mask", 0, 255, -1)
    if (sl < 0) != (mask < 0):
        row.bad("'sl' and 'mask' go together")
    if sl >= 0 and code != mask << 4 | sl:
        row.bad(f"code = {code:#x}: sl {sl:#x} and mask {mask:#x} make "
                f"{mask << 4 | sl:#x}")
    return code, sl, mask


def check_standing(row, event, signals):
    """What the fidelity says must follow from the signals."""
    fidelity, names = event["fidelity"], event["signals"]
    for name in names:
        if name not in signals:
            row.bad(f"unknown signal '{name}'; {near(name, signals)}")
        parts = set(signals[name]["parts"])
        if fidelity == "exact" and not parts <= EXACT_PARTS:
            row.bad(f"'{name}' comes from the model: the fidelity must be "
                    "modelled or estimated")
    if fidelity == "idle" and (names or not event["reason"]):
        row.bad("an idle event has a 'reason' and no 'signals'")
    if fidelity != "idle" and (not names or event["reason"]):
        row.bad("an event that is not idle has 'signals' and no 'reason'")


def load_event(name, row, signals):
    event = {key: row.text(key) for key in
             ("unit", "counts", "brief", "reference")}
    event["name"] = name
    event["aliases"] = row.words("aliases", ALIAS, [])
    event["fidelity"] = row.word("fidelity", FIDELITIES)
    event["reason"] = row.text("reason", None)
    event["signals"] = row.words("signals", NAME, [])
    event["code"], event["sl"], event["mask"] = read_code(row)
    event["default"] = row.flag("default", True)
    row.done()
    check_standing(row, event, signals)
    return event


def claim(row, taken, names):
    """Names are one space, whatever their case."""
    for name in names:
        if name.lower() in RESERVED or name.lower().endswith(":u"):
            row.bad(f"the name '{name}' means something else in event lists")
        if name.lower() in taken:
            row.bad(f"the name '{name}' is taken by {taken[name.lower()]}")
        taken[name.lower()] = row.place


def load_events(file, signals):
    events, taken, codes = [], {}, {}
    for name, row in file.rows("event"):
        if not NAME.fullmatch(name):
            row.bad("the name must be letters, digits, '_', '-' and '.'")
        event = load_event(name, row, signals)
        claim(row, taken, [name] + event["aliases"])
        if event["code"] in codes:
            row.bad(f"code {event['code']:#x} is taken by "
                    f"{codes[event['code']]}")
        if event["code"] >= 0:
            codes[event["code"]] = row.label
        events.append(event)
    if sum(e["default"] for e in events) > DEFAULT_MAX:
        file.bad(f"more than {DEFAULT_MAX} events are counted by default: "
                 "mark the others default = false")
    return events


def load_machine(root, name, signals, params):
    file = File(root, f"machines/{name}.toml")
    machine = {"name": name, "source": file.source,
               "title": file.text("title"), "brief": file.text("brief"),
               "aliases": file.words("aliases", NAME, []),
               "isas": file.words("isas", NAME),
               "hidden": file.flag("hidden"),
               "params": load_values(file, params)}
    file.done()
    values = {key: value for key, value, *_ in machine["params"]}
    check_geometry(Row(file.path, "[parameter]", values).bad, values)
    events = File(root, f"events/{name}.toml")
    machine["events"] = load_events(events, signals)
    events.done()
    return machine, file


def load(root):
    """Signals, parameters and machines of a data folder, all checked."""
    signals, params = load_signals(root), load_params(root)
    names = sorted(p.stem for p in root.glob("machines/*.toml"))
    machines, taken, seen = [], {}, {"COUNT"}
    if not names:
        raise BadData("data/machines: there is no machine")
    for name in names:
        machine, file = load_machine(root, name, signals, params)
        check_ident(file, seen, name)
        claim(file, taken, [name] + machine["aliases"])
        machines.append(machine)
    for path in sorted(root.glob("events/*.toml")):
        if path.stem not in names:
            raise BadData(f"data/events/{path.name}: top level: no machine "
                          f"data/machines/{path.name} has these events")
    return signals, params, machines


def c_text(value):
    if value is None:
        return "NULL"
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def c_texts(values):
    rows = ", ".join([c_text(v) for v in values] + ["NULL"])
    return f"(const char *const[]){{{rows}}}"


def c_bool(value):
    return "true" if value else "false"


def c_enum(name, items):
    rows = [f"    {item}," for item in items]
    return [f"enum {name}".strip() + " {", *rows, "};", ""]


def parts_of(signals):
    """The parts in the order of their first appearance, each a bit."""
    names = dict.fromkeys(p for s in signals.values() for p in s["parts"])
    return {name: 1 << bit for bit, name in enumerate(names)}


def header(signals, params, machines):
    fixed = sum(s["fixed"] for s in signals.values())
    out = ["/* Generated by scripts/gen_tables.py from data/. */",
           "#ifndef TALLY_TABLES_H", "#define TALLY_TABLES_H", ""]
    out += c_enum("signal_id", [ident("signal", s) for s in signals] +
                  ["SIGNAL_COUNT"])
    out += ["/* The fixed signals stand before the dynamic ones. */",
            f"#define SIGNAL_FIXED_COUNT {fixed}", ""]
    out += c_enum("tally_part", [f"{ident('part', name)} = {bit:#x}" for
                                 name, bit in parts_of(signals).items()])
    out += c_enum("param_id", [ident("param", p) for p in params] +
                  ["PARAM_COUNT"])
    for key, p in params.items():
        if p["choices"]:
            out += [f"/* {key} */"]
            out += c_enum("", [ident(key, c) for c in p["choices"]])
    out += c_enum("machine_id", [ident("machine", m["name"]) for m in
                                 machines] + ["MACHINE_COUNT"])
    return "\n".join(out + ["#endif", ""])


def code_signals(signals):
    out = ["const struct signal_row tally_signals[SIGNAL_COUNT] = {"]
    for name, s in signals.items():
        bits = " | ".join(ident("part", p) for p in s["parts"]) or "0"
        out += [f"    [{ident('signal', name)}] = {{",
                f"        .name = {c_text(name)},",
                f"        .brief = {c_text(s['brief'])},",
                f"        .fixed = {c_bool(s['fixed'])},",
                f"        .parts = {bits},", "    },"]
    return out + ["};", ""]


def code_params(params):
    out = ["const struct param_row tally_params[PARAM_COUNT] = {"]
    for key, p in params.items():
        choices = c_texts(p["choices"]) if p["choices"] else "NULL"
        out += [f"    [{ident('param', key)}] = {{",
                f"        .key = {c_text(key)},",
                f"        .brief = {c_text(p['brief'])},",
                f"        .kind = {ident('param_kind', p['kind'])},",
                f"        .min = {p['min']},", f"        .max = {p['max']},",
                f"        .power_of_two = {c_bool(p['power_of_two'])},",
                f"        .choices = {choices},", "    },"]
    return out + ["};", ""]


def code_event(event):
    signals = ", ".join(ident("signal", s) for s in event["signals"])
    signals = f"(const uint16_t[]){{{signals}}}" if signals else "NULL"
    code = f"{event['code']:#x}" if event["code"] >= 0 else "-1"
    texts = [f"        .{key} = {c_text(event[key])}," for key in
             ("name", "unit", "counts", "brief", "reference", "reason")]
    return ["    {", *texts,
            f"        .aliases = {c_texts(event['aliases'])},",
            f"        .fidelity = {ident('fidelity', event['fidelity'])},",
            f"        .code = {code},", f"        .sl = {event['sl']},",
            f"        .mask = {event['mask']},",
            f"        .signals = {signals},",
            f"        .signal_count = {len(event['signals'])},",
            f"        .by_default = {c_bool(event['default'])},", "    },"]


def code_machine(machine):
    name = ident(machine["name"]).lower()
    out = [f"static const struct param_value params_{name}[PARAM_COUNT] = {{"]
    for key, value, source, assumed in machine["params"]:
        out += [f"    [{ident('param', key)}] = {{{value}, {c_text(source)}, "
                f"{c_bool(assumed)}}},"]
    out += ["};", "",
            f"static const struct event_row events_{name}[] = {{"]
    for event in machine["events"]:
        out += code_event(event)
    return out + ["};", ""]


def code_machines(machines):
    out = ["const struct machine_row tally_machines[MACHINE_COUNT] = {"]
    for m in machines:
        name = ident(m["name"])
        out += [f"    [{ident('machine', m['name'])}] = {{",
                *(f"        .{key} = {c_text(m[key])}," for key in
                  ("name", "title", "brief", "source")),
                f"        .aliases = {c_texts(m['aliases'])},",
                f"        .isas = {c_texts(m['isas'])},",
                f"        .params = params_{name.lower()},",
                f"        .events = events_{name.lower()},",
                f"        .event_count = {len(m['events'])},",
                f"        .hidden = {c_bool(m['hidden'])},", "    },"]
    return out + ["};", ""]


def code(signals, params, machines):
    out = ["/* Generated by scripts/gen_tables.py from data/. */",
           '#include "table/table.h"', ""]
    out += code_signals(signals) + code_params(params)
    for machine in machines:
        out += code_machine(machine)
    return "\n".join(out + code_machines(machines))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--machine", help="print the C of this one only")
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("outputs", type=pathlib.Path, nargs="*")
    args = parser.parse_args()
    try:
        signals, params, machines = load(args.data)
    except BadData as e:
        sys.exit(str(e).replace("\n", " "))
    if args.machine:
        rows = [m for m in machines if m["name"] == args.machine]
        if not rows:
            parser.error(f"no machine {args.machine}")
        print("\n".join(sum(map(code_machine, rows), []) +
                        code_machines(rows)), end="")
        return
    if len(args.outputs) != 2:
        parser.error("two files to write are needed: TABLES_H TABLES_C")
    args.outputs[0].write_text(header(signals, params, machines))
    args.outputs[1].write_text(code(signals, params, machines))


if __name__ == "__main__":
    main()
