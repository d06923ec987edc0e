# SPDX-License-Identifier: MIT
"""Parameters, and the values that a modelled machine gives them."""
import re
from fractions import Fraction

from catalogue.row import NAME, BadData, File, Row, ident, near

KINDS = ("count", "size", "hertz", "cycles", "choice")
SCALES = {"size": 1024, "hertz": 1000}


def check_ident(row, seen, name):
    """Names become C enumerators: no two may become the same one."""
    if not NAME.fullmatch(name) or ident(name) in seen:
        row.bad("the name must be letters, digits, '_', '-' and '.', "
                "and stay different as a C name")
    seen.add(ident(name))


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
        p["default"] = read_default(row, p)
        params[key] = p
        row.done()
    file.done()
    return params


def read_default(row, p):
    """Of a machine that does not give it."""
    if p["kind"] != "choice":
        return row.number("default", p["min"], p["max"], None)
    word = row.word("default", p["choices"], None)
    return None if word is None else p["choices"].index(word)


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


def check_bus(bad, v):
    """Cores that have all their caches for themselves; and their TLBs."""
    lines = {v["l2.line"], v["l3.line"]}
    if v["l2i.size"]:
        lines.add(v["l2i.line"])
    if v["l3.shared"] and (v["l2i.size"] or v["l1d.float"]):
        bad("l2i.size, l1d.float: only with l3.shared = core")
    if not v["l3.shared"] and (
            v["l2.size"] == 0 or v["l3.size"] == 0 or len(lines) > 1 or
            v["nodes"] > 1 or v["l2.shared"] or not v["l1d.write"]):
        bad("l3.shared = core: only with l2.shared = core, l1d.write = "
            "through, one node, an L2 and an L3 with lines of one size")
    first = (v["itlb.first"], v["dtlb.first"])
    if 1 in first:
        bad("itlb.first, dtlb.first: must be 0 or at least 2")
    if v["tlb.kind"] and any(first):
        bad("tlb.kind: only with itlb.first = 0 and dtlb.first = 0")


def check_geometry(bad, v):
    """The rules of params_check() in src/table/geometry.c."""
    caches = ["l1i", "l1d"] + [c for c in ("l2i", "l2", "l3", "l4")
                              if v[f"{c}.size"]]
    for name in caches:
        check_cache(bad, v, name)
    if v["l2.size"] == 0 and (v["l3.size"] or v["tlb.walk"]):
        bad("l2.size = 0: only with l3.size = 0 and tlb.walk = 0")
    if v["l4.size"] and not (v["l3.size"] and v["l3.shared"]):
        bad("l4.size: only with an L3 and l3.shared = chip")
    for inner, outer in (("l1i", "l2"), ("l1d", "l2"), ("l1i", "l2i"),
                         ("l2", "l3"), ("l3", "l4")):
        if outer in caches and v[f"{inner}.line"] > v[f"{outer}.line"]:
            bad(f"{outer}.line: must be at least {inner}.line")
    if any(v["tlb.page"] < v[f"{name}.line"] for name in caches):
        bad("tlb.page: must be at least the largest line")
    if v["nodes"] > 1 and (v["l2.size"] == 0 or v["l3.size"] or not
                           v["l2.shared"] or not v["l1d.write"]):
        bad("nodes: only with l2.shared = chip, l1d.write = through, an L2 "
            "and no L3")
    check_bus(bad, v)
    if v["l2.replacement"] and (not v["l3.shared"] or v["l1d.write"] or
                                v["l2.foretold"] or v["l2.inclusive"]):
        bad("l2.replacement = random: only with l1d.write = allocate, "
            "l2.foretold = 0, l2.inclusive = none and l3.shared = chip")
    if v["l3.replacement"] and not v["l3.shared"]:
        bad("l3.replacement = random: only with l3.shared = chip")
    if v["strands"] % v["pipelines"]:
        bad("pipelines: must divide strands")
    if v["place.node"] >= v["nodes"]:
        bad("place.node: there is no such node")
    if v["nodes"] * v["memory.banks"] > 8:
        bad("memory.banks: more than 8 on all nodes")
    if v["nodes"] * v["cores"] * v["strands"] > 4096:
        bad("nodes: more than 4096 strands on all nodes")
    for name in ("far.entries", "indirect.entries"):
        if v[name] and not is_power_of_two(v[name]):
            bad(f"{name} = {v[name]}: must be 0 or a power of two")
    sets, rest = divmod(v["btc.entries"], v["btc.ways"])
    if v["btc.entries"] and (rest or not is_power_of_two(sets)):
        bad(f"btc.entries = {v['btc.entries']}: must be 0, or btc.ways = "
            f"{v['btc.ways']} times a power of two")


def load_values(file, params):
    """[(key, value, source, assumed)], or [] where no model has landed."""
    if not file.has("parameter"):
        return []
    values = {}
    for key, row in file.rows("parameter"):
        if key not in params:
            row.bad(f"unknown parameter; {near(key, params)}")
        values[key] = (read_value(row, params[key]), row.text("source"),
                       row.flag("assumed"))
        row.done()
    for key, p in params.items():
        if key not in values and p["default"] is not None:
            values[key] = (p["default"], "by default", False)
        if key not in values:
            raise BadData(f"{file.path}: [parameter]: '{key}' is missing: a "
                          "machine gives every parameter")
    geometry = Row(file.path, "[parameter]",
                   {key: value for key, (value, *_) in values.items()})
    check_geometry(geometry.bad, geometry.values)
    return [(key, *values[key]) for key in params]
