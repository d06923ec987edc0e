# SPDX-License-Identifier: MIT
"""Expressions over signals and parameters, turned into C.

An expression is one of Python, over whole numbers of 64 bits that wrap:
signals, terms, functions, conditions and $parameters by name, numbers, words in
quotes (of parameters that are a choice), + - * // %, comparisons, and, or, not,
x if condition else y, min, max, ceil_div, share, power_of_two. data/signals.toml says more.
"""
import ast
import operator as op
import re

from catalogue.row import BadData, ident, near

ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "/",
              ast.Mod: "%"}
COMPARISONS = {ast.Eq: "==", ast.NotEq: "!=", ast.Gt: ">", ast.Lt: "<",
               ast.GtE: ">=", ast.LtE: "<="}
BUILT_IN = {"min": 2, "max": 2, "ceil_div": 2, "share": 3, "power_of_two": 1}
# What parts of conditions come to, where they are worked out here.
PYTHON = {ast.Add: op.add, ast.Sub: op.sub, ast.Mult: op.mul,
          ast.FloorDiv: op.floordiv, ast.Mod: op.mod,
          ast.Eq: op.eq, ast.NotEq: op.ne, ast.Gt: op.gt,
          ast.Lt: op.lt, ast.GtE: op.ge, ast.LtE: op.le}
FUNCTIONS = {"min": min, "max": max, "ceil_div": lambda a, b: -(-a // b),
             "share": lambda a, b, c: a * b // c if c else 0,
             "power_of_two": lambda n: n > 0 and n & (n - 1) == 0}
NOTHING = "0.0"
PARAMETER = re.compile(r"\$([a-z0-9_]+(?:\.[a-z0-9_]+)*)")


class Scope:
    """Holds the names that expressions may use. `names` are signals, terms and
    conditions, each with its tree once the tree is known; None stands for a
    plain number."""

    def __init__(self, params):
        self.params = params
        self.signals, self.terms, self.conditions = {}, {}, {}
        self.functions = {}

    def known(self):
        return [*self.signals, *self.terms, *self.conditions]

    def claim(self, row, name):
        """Takes a name, or raises BadData where another kind of name has taken
        the name: names of all kinds stand in one expression."""
        if name in self.known() or name in self.functions or name in BUILT_IN:
            row.bad(f"'{name}' is the name of a signal, term, function or "
                    "condition already")


def parse(row, text):
    """Returns the tree of an expression; $a.b becomes the subscript
    _["a.b"]."""
    try:
        return ast.parse(PARAMETER.sub(r"_['\1']", text.strip()),
                         mode="eval").body
    except SyntaxError as e:
        row.bad(f"formula: {e.msg}: {text.strip()}")


class Value:
    """What a part of an expression comes to, as C and as a sum.

    code:  C of the value. signals: names that it reads. terms: {signal: C of its
    factor}, where it is a sum of signals times what parameters say, else None.
    quotients: [(terms, C of the divisor, rounded up)] added to that sum.
    part:  C of what a part `p` of the whole `n` adds to the value; the parts of
    a whole add up to the value."""

    def __init__(self, code, signals=(), terms=None, quotients=(), part=NOTHING):
        self.code, self.signals = code, dict.fromkeys(signals)
        self.terms, self.quotients = terms, list(quotients)
        self.part = part

    def is_constant(self):
        return not self.signals

    def is_linear(self):
        """Returns whether the value is a sum of signals. Of constants only 0 is
        such a sum."""
        return self.code == "UINT64_C(0)" or self.terms is not None

    def parts(self):
        """Returns terms and quotients of a sum."""
        return self.terms or {}, self.quotients


def joined(*values):
    return [s for v in values for s in v.signals]


def scaled(value, wrap):
    """Returns the sum with each factor inside `wrap`, a function of C text."""
    terms, quotients = value.parts()
    return ({s: wrap(f) for s, f in terms.items()},
            [({s: wrap(f) for s, f in t.items()}, divisor, up)
             for t, divisor, up in quotients])


def added(terms, more, sign="+"):
    out = dict(terms)
    for signal, factor in more.items():
        out[signal] = (f"({out.get(signal, '0')} {sign} {factor})"
                       if signal in out or sign == "-" else factor)
    return out


def times(part, factor):
    """Returns the C of a part times a whole number."""
    return NOTHING if part == NOTHING else f"({part} * (double){factor})"


def sum_of(a, b, sign="+"):
    """Returns the C of the sum or difference of two parts."""
    if b == NOTHING:
        return a
    return f"(-{b})" if a == NOTHING and sign == "-" else (
        b if a == NOTHING else f"({a} {sign} {b})")


def part_of_operation(operator, a, b):
    """Returns the C of the part of `a operator b`: the derivative along the
    part. A quotient is not rounded."""
    if operator in "+-":
        return sum_of(a.part, b.part, operator)
    if operator == "*":
        return sum_of(times(a.part, b.code), times(b.part, a.code))
    if operator == "/" and b.part == NOTHING:
        return (NOTHING if a.part == NOTHING else
                f"({a.part} / (double){b.code})")
    if a.part == NOTHING and b.part == NOTHING:
        return NOTHING
    return None


def part_of_function(name, arguments):
    """Returns the C of the part of a built-in function."""
    parts = [a.part for a in arguments]
    if all(p == NOTHING for p in parts):
        return NOTHING
    codes = [a.code for a in arguments]
    if name in ("min", "max"):
        return (f"({codes[0]} {'<' if name == 'min' else '>'} {codes[1]} ? "
                f"{parts[0]} : {parts[1]})")
    if name == "share":
        return (NOTHING if parts[0] == NOTHING else
                f"signal_share_part({parts[0]}, {codes[1]}, {codes[2]})")
    if name == "ceil_div" and parts[1] == NOTHING:
        return f"({parts[0]} / (double){codes[1]})"
    return None


class Translation:
    """Turns trees into values, for one row, within a scope."""

    def __init__(self, row, scope, own=None, expand=False):
        """`own`: the signal whose formula this is. `expand`: derived signals are
        replaced by their formulas."""
        self.row, self.scope, self.own = row, scope, own
        signal = scope.signals.get(own, {"copy": None, "copies": None})
        self.copy, self.copies = signal["copy"], signal["copies"]
        self.expand, self.arguments, self.within = expand, {}, []

    def bad(self, text):
        self.row.bad(f"formula: {text}")

    def value(self, node):
        kind = type(node).__name__
        method = getattr(self, f"of_{kind}", None)
        if method is None:
            self.bad(f"'{ast.unparse(node)}' is no expression of this language")
        return method(node)

    def of_Constant(self, node):
        if type(node.value) is not int:
            self.bad(f"{node.value!r} stands where a number is expected")
        if node.value >= 1 << 64:
            self.bad(f"{node.value} has more than 64 bits")
        return Value(f"UINT64_C({node.value})")

    def param(self, node):
        """Returns the name of a parameter, or None where the node is none."""
        if (isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name)
                and node.value.id == "_"):
            key = node.slice.value
            if key not in self.scope.params:
                self.bad(f"unknown parameter '${key}'; "
                         f"{near(key, self.scope.params)}")
            return key
        return None

    def of_Subscript(self, node):
        key = self.param(node)
        if key is not None:
            return Value(f"params[{ident('param', key)}]")
        if (not isinstance(node.value, ast.Tuple) or not self.copies or
                not isinstance(node.slice, ast.Name) or node.slice.id != "copy"
                or len(node.value.elts) != self.copies):
            self.bad("[copy] follows a list with a number for each copy")
        return self.value(node.value.elts[self.copy])

    def of_Name(self, node):
        name, scope = node.id, self.scope
        if name in self.arguments:
            return self.arguments[name]
        if name == "copy":
            return Value("copy" if self.own is None else
                         f"UINT64_C({self.copy})")
        if name in scope.conditions:
            copy = "copy" if self.own is None else self.copy
            return Value(f"condition_{name}(params, {copy})")
        if name in scope.terms:
            # A term means the same wherever it stands: it does not see the
            # arguments of a function around it.
            kept, self.arguments = self.arguments, {}
            value = self.inside(scope.terms[name], name)
            self.arguments = kept
            return value
        if name not in scope.signals:
            self.bad(f"unknown name '{name}'; {near(name, scope.known())}")
        tree = scope.signals[name]["tree"]
        if self.expand and tree is not None and name != self.own:
            return Translation(self.row, scope, name, True).value(tree)
        signal = ident("signal", name)
        return Value(f"n[{signal}]", [name], {name: "UINT64_C(1)"},
                     part=f"p[{signal}]")

    def inside(self, tree, name):
        if name in self.within:
            self.bad(f"'{name}' uses itself")
        self.within.append(name)
        value = self.value(tree)
        self.within.pop()
        return value

    def of_Call(self, node):
        name = getattr(node.func, "id", "?")
        functions = self.scope.functions
        count = (len(functions[name][0]) if name in functions
                 else BUILT_IN.get(name))
        if count is None:
            self.bad(f"unknown function '{name}'; "
                     f"{near(name, [*functions, *BUILT_IN])}")
        if len(node.args) != count or node.keywords:
            self.bad(f"{name}() takes {count} arguments")
        arguments = [self.value(a) for a in node.args]
        if name not in functions:
            return self.built_in(name, arguments)
        kept, self.arguments = self.arguments, dict(zip(functions[name][0],
                                                        arguments))
        value = self.inside(functions[name][1], name)
        self.arguments = kept
        return value

    def built_in(self, name, arguments):
        code = f"signal_{name}({', '.join(a.code for a in arguments)})"
        value = Value(code, joined(*arguments),
                      part=self.checked(part_of_function(name, arguments), code))
        if (name == "ceil_div" and arguments[0].is_linear() and
                arguments[1].is_constant()):
            value.terms, value.quotients = self.quotient(*arguments, True)
        return value

    def checked(self, part, code):
        if part is None:
            self.bad(f"no share of '{code}' can be told by instruction")
        return part

    def quotient(self, upper, divisor, up):
        terms, quotients = upper.parts()
        if quotients:
            return None, []
        return {}, [(terms, divisor.code, up)]

    def of_BinOp(self, node):
        operator = ARITHMETIC.get(type(node.op))
        if operator is None:
            self.bad(f"'{ast.unparse(node)}': the operators are + - * // %")
        a, b = self.value(node.left), self.value(node.right)
        code = f"({a.code} {operator} {b.code})"
        value = Value(code, joined(a, b), part=self.checked(
            part_of_operation(operator, a, b), code))
        if operator in "+-" and a.is_linear() and b.is_linear():
            terms, quotients = b.parts()
            if operator == "-" and quotients:
                return value
            value.terms = added(a.parts()[0], terms, operator)
            value.quotients = a.parts()[1] + quotients
        elif operator == "*" and a.is_linear() and b.is_constant():
            value.terms, value.quotients = self.product(a, b)
        elif operator == "*" and a.is_constant() and b.is_linear():
            value.terms, value.quotients = self.product(b, a)
        elif operator == "/" and a.is_linear() and b.is_constant():
            value.terms, value.quotients = self.quotient(a, b, False)
        return value

    def product(self, value, by):
        if value.quotients:
            return None, []
        return scaled(value, lambda f: f"({f} * {by.code})")

    def of_IfExp(self, node):
        test = self.value(node.test)
        a, b = self.value(node.body), self.value(node.orelse)
        value = Value(f"({test.code} ? {a.code} : {b.code})",
                      joined(test, a, b),
                      part=a.part if a.part == b.part else
                      f"({test.code} ? {a.part} : {b.part})")
        if test.is_constant() and a.is_linear() and b.is_linear():
            terms, quotients = scaled(
                a, lambda f: f"({test.code} ? {f} : UINT64_C(0))")
            more, others = scaled(
                b, lambda f: f"({test.code} ? UINT64_C(0) : {f})")
            value.terms = added(terms, more)
            value.quotients = quotients + others
        return value

    def of_Compare(self, node):
        if len(node.ops) != 1 or type(node.ops[0]) not in COMPARISONS:
            self.bad(f"'{ast.unparse(node)}': a comparison has one of == != > <")
        left, right = node.left, node.comparators[0]
        key = self.param(left)
        a = self.value(left)
        if isinstance(right, ast.Constant) and isinstance(right.value, str):
            choices = self.scope.params[key]["choices"] if key else []
            if right.value not in choices:
                self.bad(f"'{ast.unparse(left)}' is never '{right.value}'; "
                         f"{near(right.value, choices or ['numbers'])}")
            if not isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
                self.bad(f"'{ast.unparse(node)}': a word is compared by == or "
                         "!=")
            return Value(f"({a.code} == {ident(key, right.value)})"
                         if isinstance(node.ops[0], ast.Eq) else
                         f"({a.code} != {ident(key, right.value)})")
        b = self.value(right)
        return Value(f"({a.code} {COMPARISONS[type(node.ops[0])]} {b.code})",
                     joined(a, b))

    def of_BoolOp(self, node):
        operator = " && " if isinstance(node.op, ast.And) else " || "
        values = [self.value(v) for v in node.values]
        return Value(f"({operator.join(v.code for v in values)})",
                     joined(*values))

    def of_UnaryOp(self, node):
        if not isinstance(node.op, ast.Not):
            self.bad(f"'{ast.unparse(node)}': a number has no sign")
        value = self.value(node.operand)
        return Value(f"!{value.code}", joined(value))


def holds(tree, params, values):
    """Returns whether a condition of $parameters alone holds for these
    values."""
    def word(node, other):
        return (params[node.slice.value]["choices"].index(other.value)
                if isinstance(other, ast.Constant) and
                isinstance(other.value, str) else of(other))

    def of(node):
        match node:
            case ast.Constant():
                return node.value
            case ast.Subscript():
                return values[node.slice.value]
            case ast.BoolOp(op=ast.And()):
                return all(of(v) for v in node.values)
            case ast.BoolOp():
                return any(of(v) for v in node.values)
            case ast.UnaryOp():
                return not of(node.operand)
            case ast.IfExp():
                return of(node.body if of(node.test) else node.orelse)
            case ast.Compare():
                a, b = of(node.left), word(node.left, node.comparators[0])
                return PYTHON[type(node.ops[0])](a, b)
            case ast.BinOp():
                return PYTHON[type(node.op)](of(node.left), of(node.right))
            case ast.Call():
                return FUNCTIONS[node.func.id](*map(of, node.args))
        raise AssertionError(ast.unparse(node))

    return bool(of(tree))


def sources(scope, name, seen=()):
    """Returns the set of signals without a formula from which signal `name`
    follows. Raises BadData where a derived signal follows from itself."""
    row = scope.signals[name]
    if row["tree"] is None:
        return {name}
    if name in seen:
        raise BadData(f"data/signals.toml: [signal.{name}]: formula: it follows "
                      f"from itself by {', '.join(seen)}")
    out = set()
    for used in row["value"].signals:
        out |= {name} if used == name else sources(scope, used, (*seen, name))
    return out
