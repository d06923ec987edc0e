# SPDX-License-Identifier: MIT
"""Rows that stand for several: one for each TLB level that machines name.

In the data files that all machines share, a table or list item whose key or text
has {tlb} stands for one row a TLB level; the level's name takes the place of
{tlb}. sum(EXPRESSION for tlb) is the sum of an expression over all levels."""
import re
import tomllib

from catalogue.row import BadData

LEVEL = re.compile(r"[a-z][a-z0-9_]{0,15}")
SLOT = "{tlb}"
SUM = re.compile(r"sum\(((?:(?!sum\().)*?) for tlb\)", re.DOTALL)


def sum_over(text, names):
    """Returns the text with each sum over levels written out."""
    def written(match):
        terms = [f"({match[1].replace(SLOT, name)})" for name in names]
        return f"({' + '.join(terms or ['0'])})"
    return SUM.sub(written, text)


def has_slot(value):
    """Returns whether the value stands for several."""
    if isinstance(value, dict):
        return any(SLOT in key or has_slot(v) for key, v in value.items())
    if isinstance(value, list):
        return any(map(has_slot, value))
    return isinstance(value, str) and SLOT in value


def put(value, name):
    """Returns the value with a level's name in the place of {tlb}."""
    if isinstance(value, dict):
        return {key.replace(SLOT, name): put(v, name)
                for key, v in value.items()}
    if isinstance(value, list):
        return [put(v, name) for v in value]
    return value.replace(SLOT, name) if isinstance(value, str) else value


def expand(value, names):
    """Returns the values of a file with a row for each level in the place of the
    rows that stand for several."""
    if isinstance(value, str):
        return sum_over(value, names)
    if isinstance(value, list):
        items = [expand(v, names) for v in value]
        return [one for v in items for one in
                ([put(v, name) for name in names] if has_slot(v) else [v])]
    if not isinstance(value, dict):
        return value
    rows = {}
    for key, v in value.items():
        v = expand(v, names)
        if SLOT in key:
            rows |= {key.replace(SLOT, name): put(v, name) for name in names}
        else:
            rows[key] = v
    return rows


def tlb_levels(root, known):
    """Returns the names of the TLB levels, sorted: each [level.NAME] of a machine
    with `entries`, but for the names in `known`, which have parameters of their
    own. Raises BadData where a name is none. Files that cannot be read are left
    to those who load the machines."""
    names = set()
    for path in root.glob("machines/*/machine.toml"):
        try:
            levels = tomllib.loads(path.read_text("utf-8")).get("level", {})
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        own = {name for name, keys in levels.items()
               if isinstance(keys, dict) and "entries" in keys} - set(known)
        for name in sorted(own):
            if not LEVEL.fullmatch(name):
                raise BadData(f"data/{path.relative_to(root)}: [level.{name}]: "
                              "the name of a TLB level is up to 16 small "
                              "letters, digits and '_'")
        names |= own
    return sorted(names)
