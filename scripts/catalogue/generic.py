# SPDX-License-Identifier: MIT
"""Generic names, those of perf and PAPI, and what stands for each on a machine.

data/generic.toml names and defines each once, and the metrics made of them. A
machine's generic.toml says in [generic.NAME] what stands for the name there,
with one of these keys:

  event    an event of the machine, "EVENT" or "EVENT.UMASK"
  sum      a list of such events, which add up to it
  signals  signals of the model, with a fidelity: no counter has them
  same     another generic name, for which the same stands
  none     the reason why nothing stands for it

and in differs how that departs from the definition. An event whose own name is
the generic one needs no row.
"""
import re

from catalogue.event import (FIDELITIES, load_event, masked_default,
                             read_signals)
from catalogue.formula import OPERATORS, WORD, is_number, load_metric
from catalogue.model import check_ident
from catalogue.row import ALIAS, NAME, BadData, File, Row, near

KINDS = ("event", "sum", "signals", "same", "none")
TERM = re.compile(r"[\w./-]+")


def claim_name(row, taken, name):
    if name.lower() in taken:
        row.bad(f"the name '{name}' stands twice")
    taken.add(name.lower())


class Generics:
    """Holds the generic names and metrics of a data folder."""

    def __init__(self, root):
        self.file = File(root, "generic.toml")
        self.names, self.metrics, taken, seen = {}, {}, set(), {"COUNT"}
        for name, row in self.file.rows("generic"):
            check_ident(row, seen, name)
            g = {"name": name, "aliases": row.words("aliases", ALIAS, []),
                 **{key: row.text(key) for key in
                    ("counts", "brief", "reference")}}
            for word in [name, *g["aliases"]]:
                claim_name(row, taken, word)
            row.done()
            self.names[name] = g
        self.spelt = taken
        taken = set()
        for name, row in self.file.rows("metric"):
            self.metrics[name] = (row, self.operands(row, row.text("formula")))
            for word in [name, *row.words("aliases", NAME, [])]:
                claim_name(row, taken, word)

    def operands(self, row, formula):
        """Returns the generic names of a formula, each once, in the order of
        the formula."""
        words = [w for w in WORD.findall(formula)
                 if w not in OPERATORS and not is_number(w)]
        for word in words:
            if word not in self.names:
                row.bad(f"formula: no generic name '{word}'; "
                        f"{near(word, self.names)}")
        return list(dict.fromkeys(words))

    def done(self):
        self.file.done()


class Scope:
    """Holds the meaning of generic names in formulas on one machine."""

    def __init__(self, generics, mapped):
        self.generics, self.mapped, self.metrics = generics, mapped, {}

    def event(self, row, word):
        found = self.mapped[word]
        return found["index"], found["umask"]


def find_event(row, machine, text):
    """Returns the event of "EVENT" or "EVENT.UMASK", and the number of the unit
    mask or -1."""
    names = {}
    for e in machine["events"]:
        names.setdefault(e["name"], e)
        names[f"{e['unit']}/{e['name']}"] = e
    if text in names:
        event = names[text]
        if any(u["counts"] == "yes" for u in event["umasks"]) and \
                masked_default(event) is None:
            row.bad(f"'{text}' needs a unit mask")
        return event, -1
    for dot in (m.start() for m in re.finditer(r"\.", text)):
        event = names.get(text[:dot])
        for i, u in enumerate(event["umasks"] if event else []):
            if u["name"] == text[dot + 1:] and u["counts"] == "yes":
                return event, i
    row.bad(f"unknown event '{text}'; {near(text, names)}")
    return None


def has_counts(machine):
    """Returns whether a model or the host counts events of the machine. Where
    neither does each event is idle."""
    return bool(machine["params"]) or machine["native"]


def counted(event, umask):
    """Returns signals and fidelity of what a model counts for the event."""
    own = masked_default(event) if umask < 0 else event["umasks"][umask]
    return own if own and own["fidelity"] else event


def find_part(row, machine, text):
    """Returns signals and fidelity of what a model counts for "EVENT" or
    "EVENT.UMASK"."""
    event, umask = find_event(row, machine, text)
    part = counted(event, umask)
    if event["umasks"] and part is event and has_counts(machine):
        row.bad(f"the model counts no unit mask of '{event['name']}'")
    return part


def make_event(row, machine, signals, generic, values):
    """Returns an event for the generic name itself, beside the machine's own
    events."""
    unit = "model" if "model" in machine["units"] else \
        next(iter(machine["units"]))
    if unit != "model" and machine["counters"]:
        row.bad("the machine has no [unit.model] for what no counter has")
    made = Row(row.path, row.label, {
        "unit": unit, "default": False,
        **{key: generic[key] for key in ("counts", "brief", "reference")},
        **values})
    return load_event(generic["name"], made, machine, signals) | \
        {"generic": True}


def add_terms(row, machine, terms):
    """Returns the signals of a sum, and the fidelity of the worst term."""
    if len(terms) < 2:
        row.bad("'sum' needs two events; of one write event = \"NAME\"")
    names, worst = [], 0
    for text in terms:
        part = find_part(row, machine, text)
        if part["fidelity"] == "idle":
            continue
        worst = max(worst, FIDELITIES.index(part["fidelity"]))
        for signal in part["signals"]:
            if signal in names:
                row.bad(f"'sum' counts the signal {signal} twice")
            names.append(signal)
    if not names and has_counts(machine):
        row.bad("'sum' has idle events only: say why in 'none'")
    return {"signals": names, "fidelity": FIDELITIES[worst]}


def check_kind(row, machine):
    given = [key for key in KINDS if row.has(key)]
    if len(given) != 1:
        row.bad(f"it has one of {', '.join(KINDS)}")
    if machine["native"] and given[0] in ("sum", "signals"):
        row.bad("a native machine has no 'sum' and no 'signals'")
    return given[0]


def map_event(row, machine):
    text = row.text("event")
    event, umask = find_event(row, machine, text)
    if find_part(row, machine, text)["fidelity"] == "idle" and \
            has_counts(machine):
        row.bad(f"'{text}' is idle: say why in 'none'")
    return {"own": text, "event": event, "umask": umask,
            "kind": "model" if event["unit"] == "model" else "event"}


def map_made(row, machine, signals, generic, kind):
    if kind == "sum":
        terms = row.words("sum", TERM)
        values, own = add_terms(row, machine, terms), " + ".join(terms)
    else:
        values = {"signals": read_signals(row, signals),
                  "fidelity": row.word("fidelity", FIDELITIES[:-1])}
        own = generic["name"]
    event = make_event(row, machine, signals, generic, values)
    return {"own": own, "event": event, "umask": -1,
            "kind": "sum" if kind == "sum" else "model"}


def map_name(row, machine, signals, generic, mapped):
    kind = check_kind(row, machine)
    differs = row.text("differs", None)
    if kind == "none":
        found = {"own": None, "event": None, "umask": -1, "kind": "none"}
        if differs:
            row.bad("'differs' goes with what stands for the name")
    elif kind == "event":
        found = map_event(row, machine)
    elif kind == "same":
        found = dict(mapped[row.word("same", list(mapped))])
    else:
        found = map_made(row, machine, signals, generic, kind)
    found = found | {"reason": row.text("none", found.get("reason"))}
    found["differs"] = differs or found.get("differs")
    row.done()
    return found


def map_own(machine, names):
    """Returns {generic name: the event of the same name}. Raises BadData for
    generic names that nothing stands for."""
    events = {}
    for event in machine["events"]:
        events.setdefault(event["name"], event)
    missing = [name for name in names if name not in events]
    if missing:
        texts = ", ".join(f"'{name}'" for name in missing)
        raise BadData(f"data/machines/{machine['name']}/generic.toml: it says "
                      f"neither what stands for {texts} nor why nothing does")
    return {name: {"own": name, "event": events[name], "umask": -1,
                   "kind": "event", "differs": None, "reason": None}
            for name in names}


def check_aliases(machine, rows, generics):
    """Checks that a machine spells generic names in its generic.toml alone."""
    for event, row in zip(machine["events"], rows):
        for name in event["aliases"]:
            if name.lower() in generics.spelt:
                row.bad(f"the generic name '{name}' stands in generic.toml "
                        "alone")


def load_mapped(machine, rows, signals, generics):
    """Returns what stands for each generic name. Appends the events that are
    made for generic names."""
    for name, row in rows.items():
        if name not in generics.names:
            row.bad(f"unknown generic name; {near(name, generics.names)}")
    owns = map_own(machine, [n for n in generics.names if n not in rows])
    mapped, own = {}, list(machine["events"])
    for name, generic in generics.names.items():
        mapped[name] = (owns[name] if name in owns else
                        map_name(rows[name], machine, signals, generic, mapped))
    for name, found in mapped.items():
        event = found["event"]
        if event is None:
            continue
        if not any(event is e for e in machine["events"]):
            machine["events"].append(event)
        if found["umask"] < 0:
            add_aliases(event, generics.names[name])
    check_spelling(rows, own, mapped, generics)
    return mapped


def add_aliases(event, generic):
    names = {n.lower() for n in [event["name"], *event["aliases"]]}
    event["aliases"] = event["aliases"] + [
        n for n in [generic["name"], *generic["aliases"]]
        if n.lower() not in names]


def check_spelling(rows, own, mapped, generics):
    """Checks that no other event of the machine has a generic name as its
    own."""
    for name, found in mapped.items():
        for spelt in [name, *generics.names[name]["aliases"]]:
            for event in own:
                if event["name"].lower() == spelt.lower() and \
                        event is not found["event"]:
                    rows[name].bad(f"the event {event['unit']}/"
                                   f"{event['name']} has the name, and does "
                                   "not stand for it")


def number_events(machine, mapped):
    for found in mapped.values():
        found["index"] = next(
            (i for i, e in enumerate(machine["events"])
             if e is found["event"]), 0)


def summed(machine, ops):
    """Returns a formula with each name replaced by what the event sums, so that
    formulas of equal meaning are equal."""
    values = []
    for kind, value in ops:
        if kind == "event":
            part = counted(machine["events"][value[0]], value[1])
            value = tuple(sorted(part["signals"])) or value
        values.append((kind, value))
    return values


def check_metric(row, metric, made, machine):
    """Checks that a machine's own metric with a generic name has the meaning
    that the name has on all machines."""
    if not made or summed(machine, metric["ops"]) != \
            summed(machine, made["ops"]):
        row.bad("its value is not that of the generic metric: give it "
                "another name")


def add_metrics(machine, rows, generics):
    """Returns the generic metrics of which the machine has none of its own."""
    own = {m["name"]: m for m in machine["metrics"]}
    taken = {n.lower(): m["name"] for m in machine["metrics"]
             for n in [m["name"], *m["aliases"]]}
    scope = Scope(generics, machine["generics"])
    for metric in machine["metrics"]:
        metric["generic"] = metric["name"] in generics.metrics
    for name, (row, operands) in generics.metrics.items():
        lacks = any(machine["generics"][o]["event"] is None for o in operands)
        made = None if lacks else load_metric(name, row, scope)
        names = [name, *row.words("aliases", NAME, [])]
        for word in names:
            if taken.get(word.lower(), name) != name:
                rows[taken[word.lower()]].bad(
                    f"the name '{word}' is the generic metric {name}'s")
        if name in own:
            check_metric(rows[name], own[name], made, machine)
            own[name]["aliases"] += [n for n in names
                                     if n.lower() not in taken]
        elif made:
            machine["metrics"].append(made | {"generic": True})
