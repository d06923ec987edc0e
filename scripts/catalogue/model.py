# SPDX-License-Identifier: MIT
"""Parameters, and the values that a modelled machine gives them."""
import re
from fractions import Fraction

from catalogue.each import all_names, expand
from catalogue.expression import Scope, Translation, holds, parse
from catalogue.row import NAME, BadData, File, Row, ident, near

KINDS = ("count", "size", "hertz", "cycles", "choice")
VALUE = re.compile(r"\{([a-z0-9._]+)\}")  # in the text of a rule
SCALES = {"size": 1024, "hertz": 1000}


def check_ident(row, seen, name):
    """Checks that no two names become the same C enumerator."""
    if not NAME.fullmatch(name) or ident(name) in seen:
        row.bad("the name must be letters, digits, '_', '-' and '.', "
                "and stay different as a C name")
    seen.add(ident(name))


class Parameters(dict):
    """Holds the parameters by name; `rules` says which values may stand
    together. `named` has the names of the TLB levels, direction predictors, target
    caches and cache levels that machines name, by kind."""

    rules = ()
    named = {}

    def tlbs(self):
        """Returns the names of all TLBs; the first two are asked first."""
        return ["itlb", "dtlb", *self.named["tlb"]]

    def caches(self):
        """Returns the names of all caches."""
        return ["l1i", "l1d", "l2i", "l2", "l3", *self.named["level"]]


def load_params(root):
    params = Parameters()

    def expanded(values):
        params.named = all_names(root, values.get("parameter", {}))
        return expand(values, params.named)

    file = File(root, "parameters.toml", expanded)
    seen = {"COUNT"}
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
        p["default"] = read_default(row, p)
        params[key] = p
        row.done()
    params.rules = [read_rule(row, params) for row in file.parts("rule")]
    file.done()
    return params


def read_rule(row, params):
    """Returns a rule between parameters: see data/parameters.toml."""
    tree = parse(row, row.text("holds"))
    value = Translation(row, Scope(params)).value(tree)
    rule = {"of": row.word("of", params), "tree": tree, "code": value.code,
            "otherwise": row.text("otherwise")}
    for key in VALUE.findall(rule["otherwise"]):
        if key not in params:
            row.bad(f"otherwise: unknown parameter '{key}'; "
                    f"{near(key, params)}")
    row.done()
    return rule


def read_default(row, p):
    """Returns the value of a parameter that a machine does not give."""
    if p["kind"] != "choice":
        return row.number("default", p["min"], p["max"], None)
    word = row.word("default", p["choices"], None)
    return None if word is None else p["choices"].index(word)


def read_value(row, p):
    """Returns the value of a number, or of text as --set takes it: "8K",
    "1.4G", "through"."""
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


def next_tlb(v, params, name):
    """Returns the name of the TLB that the misses of a TLB ask; None: a table is
    walked."""
    return (None, *params.named["tlb"])[v[f"{name}.next"]]


def check_tlbs(bad, v, params):
    """Checks that each chain of TLBs ends, and that no TLB with entries stands
    beside the chains."""
    asked = set()
    for first in ("itlb", "dtlb"):
        name, seen = first, [first]
        while (name := next_tlb(v, params, name)) is not None:
            if name in seen:
                bad(f"{seen[-1]}.next = {name}: {name} comes before "
                    f"{seen[-1]} already")
            seen.append(name)
        asked.update(seen)
    for name in params.named["tlb"]:
        if v[f"{name}.entries"] and name not in asked:
            bad(f"{name}.entries = {v[f'{name}.entries']}: no miss gets there; "
                f"set dtlb.next={name} or itlb.next={name} as well")


def check_rules(bad, v, params):
    """Checks values against the rules, as params_check() in
    src/table/geometry.c does."""
    for name in params.caches():
        if v[f"{name}.size"]:
            check_cache(bad, v, name)
    check_tlbs(bad, v, params)
    for rule in params.rules:
        if not holds(rule["tree"], params, v):
            text = VALUE.sub(lambda m: str(v[m[1]]), rule["otherwise"])
            of = params[rule["of"]]
            value = v[rule["of"]]
            bad(f"{rule['of']} = "
                f"{of['choices'][value] if of['choices'] else value}: {text}")


def load_values(file, params, base=()):
    """[(key, value, source, assumed)], or [] where no model has landed. A
    parameter that the file does not give, in [parameter] or as a KEY of
    [level.NAME], [predictor.NAME] or [target.NAME], is that of `base`, which load_values() returned for another
    file, or the parameter's default."""
    given = [*file.rows("parameter", optional=True), *file.nested_rows("level"),
             *file.nested_rows("predictor"), *file.nested_rows("target")]
    if not given and not base:
        return []
    values, seen = {key: rest for key, *rest in base}, set()
    for key, row in given:
        if key in seen:
            row.bad(f"'{key}' stands twice")
        seen.add(key)
        if key not in params:
            row.bad(f"unknown parameter; {near(key, params)}")
        values[key] = (read_value(row, params[key]), row.text("source"),
                       row.flag("assumed"))
        row.done()
    missing = []
    for key, p in params.items():
        if key not in values and p["default"] is not None:
            values[key] = (p["default"], "by default", False)
        elif key not in values:
            missing.append(key)
    if missing:
        raise BadData(f"{file.path}: [parameter]: a machine gives every "
                      "parameter that has no default: missing is " +
                      ", ".join(missing))
    geometry = Row(file.path, "[parameter]",
                   {key: value for key, (value, *_) in values.items()})
    check_rules(geometry.bad, geometry.values, params)
    return [(key, *values[key]) for key in params]
