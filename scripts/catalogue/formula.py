# SPDX-License-Identifier: MIT
"""Formulas of metrics, turned into postfix operations.

  sum  = product {("+" | "-") product}
  product = term {("*" | "/") term}
  term = NUMBER | EVENT[.UMASK] | @METRIC | $INPUT | "-" term | "(" sum ")"

Words are separated by blanks, since event names may have a '-'.
"""
import re

from catalogue.row import NAME, near

WORD = re.compile(r"[()]|[^\s()]+")
NUMBER = re.compile(r"\d+(?:\.\d+)?")
PRECEDENCE = [("+", "-"), ("*", "/")]
OPERATORS = (*sum(PRECEDENCE, ()), "(", ")")


def is_number(word):
    return NUMBER.fullmatch(word) is not None


class Formula:
    def __init__(self, row, text, scope):
        self.row, self.scope, self.ops = row, scope, []
        self.words = WORD.findall(text)
        self.parse(0)
        if self.words:
            row.bad(f"formula: '{self.words[0]}' stands where an operator "
                    "is expected")

    def next(self):
        if not self.words:
            self.row.bad("formula: it ends where a value is expected")
        return self.words.pop(0)

    def parse(self, level):
        if level == len(PRECEDENCE):
            return self.term()
        self.parse(level + 1)
        while self.words and self.words[0] in PRECEDENCE[level]:
            operator = self.words.pop(0)
            self.parse(level + 1)
            self.ops.append((operator, None))
        return None

    def term(self):
        word = self.next()
        if word == "(":
            self.parse(0)
            if not self.words or self.words.pop(0) != ")":
                self.row.bad("formula: a ')' is missing")
        elif word == "-":
            self.term()
            self.ops.append(("negate", None))
        elif word in sum(PRECEDENCE, (")",)):
            self.row.bad(f"formula: '{word}' stands where a value is expected")
        elif is_number(word):
            self.ops.append(("number", word))
        elif word[0] == "@":
            self.ops += self.scope.metric(self.row, word[1:])
        elif word[0] == "$":
            self.ops.append(("input", self.scope.input(self.row, word[1:])))
        else:
            self.ops.append(("event", self.scope.event(self.row, word)))


class Scope:
    """Holds the names that a machine's formulas may use."""

    def __init__(self, machine):
        self.metrics, self.events = {}, {}
        self.inputs = machine["inputs"]
        self.machine = machine
        for index, event in enumerate(machine["events"]):
            for name in (event["name"], f"{event['unit']}/{event['name']}"):
                self.events.setdefault(name, index)

    def metric(self, row, name):
        if name not in self.metrics:
            row.bad(f"formula: no metric '{name}' stands before it")
        return self.metrics[name]

    def input(self, row, name):
        names = [i["name"] for i in self.inputs]
        if name not in names:
            row.bad(f"formula: unknown input '${name}'; {near(name, names)}")
        return names.index(name)

    def event(self, row, word):
        if word in self.events:
            index = self.events[word]
            if any(u["counts"] == "yes" for u in
                   self.machine["events"][index]["umasks"]):
                row.bad(f"formula: '{word}' needs a unit mask")
            return index, -1
        for dot in (m.start() for m in re.finditer(r"\.", word)):
            name, umask = word[:dot], word[dot + 1:]
            if name in self.events:
                umasks = self.machine["events"][self.events[name]]["umasks"]
                for i, u in enumerate(umasks):
                    if u["name"] == umask and u["counts"] == "yes":
                        return self.events[name], i
                known = [u["name"] for u in umasks if u["counts"] == "yes"]
                row.bad(f"formula: {name} has no unit mask '{umask}' that "
                        f"counts; {near(umask, known or ['none'])}")
        row.bad(f"formula: unknown event '{word}'; {near(word, self.events)}")
        return None


def load_inputs(rows):
    inputs = [{"name": "clock", "brief": "the machine's clock in hertz"},
              {"name": "interval", "brief": "the time counted, in seconds"}]
    for name, row in rows:
        if not NAME.fullmatch(name) or name in ("clock", "interval"):
            row.bad("the name must be letters, digits and '_', and new")
        inputs.append({"name": name, "brief": row.text("brief")})
        row.done()
    return inputs


def load_metric(name, row, scope):
    if not NAME.fullmatch(name):
        row.bad("the name must be letters, digits, '_', '-' and '.'")
    metric = {"name": name, "aliases": row.words("aliases", NAME, []),
              "formula": row.text("formula"),
              "unit": row.get("unit", str, "text or \"\"", ""),
              "brief": row.text("brief"), "read": row.text("read", None),
              "printed": row.text("printed", None), "generic": False,
              "reference": row.text("reference")}
    metric["ops"] = Formula(row, metric["formula"], scope).ops
    scope.metrics[name] = metric["ops"]
    row.done()
    return metric
