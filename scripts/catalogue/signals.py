# SPDX-License-Identifier: MIT
"""Signals, the components of the model that they imply, and their conditions."""
import re

from catalogue.each import expand
from catalogue.expression import Scope, Translation, parse, sources
from catalogue.model import check_ident
from catalogue.row import MISSING, NAME, File, near

CLOCK = "cycles"  # the signal whose sum is asked for while programs run
IMPLIED = re.compile(r"(\w+)(?: if (\w+))?")


class Signals:
    """What data/components.toml and data/signals.toml say. `rows`, by name:
    fixed, data, at_end, brief, copies, copy (the number among its copies),
    implies (components), requires (conditions), needs (feeds), tree (of the formula, or None),
    value (of that tree), sources (of a derived signal, in the list's order)."""

    def __init__(self, root, params):
        self.scope = Scope(params)
        self.conditions, self.components, self.feeds = {}, {}, {}
        def expanded(values):
            return expand(values, params.named)

        self.load_components(File(root, "components.toml", expanded))
        self.rows = self.scope.signals
        self.load_signals(File(root, "signals.toml", expanded))

    def load_components(self, file):
        for name, row in file.rows("feed"):
            self.feeds[name] = row.text("otherwise")
            row.done()
        seen = set()
        for name, row in file.rows("condition"):
            check_ident(row, seen, name)
            self.scope.claim(row, name)
            value = Translation(row, self.scope).value(
                parse(row, row.text("holds")))
            if value.signals:
                row.bad("a condition asks for parameters only")
            self.scope.conditions[name] = value
            self.conditions[name] = {"code": value.code,
                                     "otherwise": row.text("otherwise", None),
                                     "whole": row.flag("whole")}
            row.done()
        rows = list(file.rows("component"))
        names = [name for name, _ in rows]
        seen = set()
        for name, row in rows:
            check_ident(row, seen, name)
            possible = row.word("possible", self.conditions, None)
            requires = row.words("requires", NAME, None)
            if requires is None:
                told = possible and self.conditions[possible]["otherwise"]
                requires = [possible] if told else []
            implies = [self.implied(row, names, text) for text in
                       row.words("implies", IMPLIED, [])]
            self.check_requires(row, requires)
            self.components[name] = {"brief": row.text("brief"),
                                     "possible": possible, "implies": implies,
                                     "requires": requires,
                                     "needs": self.feeds_of(row, MISSING)}
            row.done()
        if len(names) > 64:
            file.bad("there are more than 64 components")
        file.done()

    def implied(self, row, names, text):
        """Returns (component, condition or None) for each component that a
        signal implies."""
        name, condition = IMPLIED.fullmatch(text).groups()
        if name not in names:
            row.bad(f"unknown component '{name}'; {near(name, names)}")
        if condition is not None and condition not in self.conditions:
            row.bad(f"unknown condition '{condition}'; "
                    f"{near(condition, self.conditions)}")
        return name, condition

    def feeds_of(self, row, default):
        """Returns the feeds that the row says it needs."""
        needs = row.words("needs", NAME, default)
        for name in needs or []:
            if name not in self.feeds:
                row.bad(f"unknown feed '{name}'; {near(name, self.feeds)}")
        return needs

    def check_requires(self, row, requires):
        for name in requires:
            if name not in self.conditions:
                row.bad(f"unknown condition '{name}'; "
                        f"{near(name, self.conditions)}")
            if self.conditions[name]["otherwise"] is None:
                row.bad(f"condition '{name}' has no 'otherwise' to tell")

    def load_signals(self, file):
        functions = []
        for name, row in file.rows("function", optional=True):
            self.scope.claim(row, name)
            arguments = row.words("arguments", NAME)
            self.scope.functions[name] = arguments, parse(row,
                                                          row.text("formula"))
            functions.append((row, arguments))
            row.done()
        for name, row in file.rows("term", optional=True):
            self.scope.claim(row, name)
            self.scope.terms[name] = parse(row, row.text("formula"))
            row.done()
        seen, derived = {"COUNT"}, []
        for name, row in file.rows("signal"):
            derived += self.load_signal(name, row, seen)
        for row, arguments in functions:
            self.check_arguments(row, arguments)
        for name, row in derived:
            signal = self.rows[name]
            signal["value"] = Translation(row, self.scope, name).value(
                signal["tree"])
        for name, row in derived:
            self.finish_derived(name, row)
        for name, _ in derived:
            self.rows[name]["needs"] = self.needed_by(name)
        file.done()

    def check_arguments(self, row, arguments):
        """Checks that no argument hides a name that expressions may use."""
        for name in arguments:
            if name in self.scope.known():
                row.bad(f"argument '{name}' is the name of a signal, term or "
                        "condition")

    def load_signal(self, name, row, seen):
        """Adds a row for each copy of a signal. Returns the derived signals,
        each with its row."""
        tree = parse(row, row.text("formula")) if row.has("formula") else None
        fixed = tree is None and row.word("kind", ("fixed", "dynamic")) == "fixed"
        given = row.words("implies", NAME, None)
        for component in given or []:
            if component not in self.components:
                row.bad(f"unknown component '{component}'; "
                        f"{near(component, self.components)}")
        if tree is None and fixed != (not given):
            row.bad("a fixed signal implies nothing, a dynamic one something")
        if fixed and any(not s["fixed"] for s in self.rows.values()):
            row.bad("fixed signals stand before the others")
        requires = row.words("requires", NAME, None)
        self.check_requires(row, requires or [])
        signal = {"fixed": fixed, "data": row.flag("data"),
                  "at_end": row.flag("at_end"), "brief": row.text("brief"),
                  "copies": row.number("copies", 2, 64, 0),
                  "implies": given, "named": given, "own_requires": requires,
                  "own_needs": self.feeds_of(row, None), "tree": tree,
                  "value": None, "sources": []}
        names = [f"{name}_{i}" for i in range(signal["copies"])] or [name]
        for copy, one in enumerate(names):
            check_ident(row, seen, one)
            self.scope.claim(row, one)
            self.rows[one] = dict(signal, copy=copy, row=row)
            if tree is None:
                self.rows[one]["requires"] = self.required(given or []) + [
                    c for c in requires or []]
                self.rows[one]["needs"] = self.needed(
                    signal, [["code"]] if fixed else [])
        row.done()
        return [(one, row) for one in names] if tree is not None else []

    def needed(self, signal, others):
        """Returns the feeds that a signal needs: its own, or those of the
        components that its row names and `others`, lists of feeds."""
        if signal["own_needs"] is not None:
            return signal["own_needs"]
        lists = [self.components[name]["needs"]
                 for name in signal["named"] or []] + others
        return [name for name in self.feeds
                if any(name in needs for needs in lists)]

    def needed_by(self, name):
        """Returns the feeds that a derived signal needs. One that is among its
        own sources needs what its components need."""
        signal = self.rows[name]
        if "needs" in signal:
            return signal["needs"]
        return self.needed(signal, [self.needed_by(s) for s in signal["sources"]
                                    if s != name])

    def required(self, components):
        """Returns the conditions of components, each once."""
        return list(dict.fromkeys(c for name in components for c in
                                  self.components[name]["requires"]))

    def finish_derived(self, name, row):
        signal = self.rows[name]
        order = list(self.rows)
        signal["sources"] = sorted(sources(self.scope, name), key=order.index)
        if signal["implies"] is None:
            implied = dict.fromkeys(
                component for s in signal["sources"]
                for component in self.rows[s]["implies"] or [])
            signal["implies"] = [c for c in implied
                                 if not self.follows(c, implied)]
        signal["requires"] = signal["own_requires"]
        if signal["requires"] is None:
            signal["requires"] = self.required(signal["implies"])

    def follows(self, component, components):
        """Returns whether another of `components` always implies the
        component."""
        return any(component != other and component in self.closed(other)
                   for other in components)

    def closed(self, component, seen=None):
        seen = set() if seen is None else seen
        for name, condition in self.components[component]["implies"]:
            if condition is None and name not in seen:
                seen.add(name)
                self.closed(name, seen)
        return seen

    def ordered(self):
        """Returns the derived signals, each behind the signals of its
        formula."""
        done = {}
        def add(name):
            if name in done or self.rows[name]["tree"] is None:
                return
            for used in self.rows[name]["value"].signals:
                if used != name:
                    add(used)
            done[name] = None
        for name in self.rows:
            add(name)
        return list(done)

    def clock_size(self):
        """Returns how many sums the clock signal has, and terms in all of
        them."""
        value = self.linear(CLOCK)
        return (len(value.quotients) + 1,
                len(value.terms) + sum(len(q[0]) for q in value.quotients))

    def linear(self, name):
        """Returns a signal as a sum over sources, and of quotients of such
        sums."""
        row = self.rows[name]["row"]
        value = Translation(row, self.scope, name, True).value(
            self.rows[name]["tree"])
        if not value.is_linear():
            row.bad("formula: it is to be a sum of signals times parameters")
        return value
