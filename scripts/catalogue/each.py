# SPDX-License-Identifier: MIT
"""Rows that stand for several: one for each TLB level, direction predictor, target
cache, or cache level behind the L3.

In the data files that all machines share, a table or list item whose key or text
has {tlb} stands for one row a TLB level; the level's name takes the place of
{tlb}. sum(EXPRESSION for tlb) is the sum of an expression over all levels,
each(EXPRESSION for tlb) the expressions of all, with commas between, and
"{every tlb}" in a list stands for the names of all.
{predictor} does the same for direction predictors, {target} for target caches, and
{level} for the cache levels behind the L3: l4, l5 and so on. {before level} is the
level in front of {level}, and {LEVEL} and {before LEVEL} are the names in
capitals."""
import re
import tomllib

from catalogue.row import BadData

NAME = re.compile(r"[a-z][a-z0-9_]{0,15}")
LEVEL = re.compile(r"l(?:[4-9]|1[0-5])")
# What machines name: the table [TABLE.NAME], the key that such a table has, and
# the words for the things.
KINDS = {"tlb": ("level", "entries", "a TLB level"),
         "predictor": ("predictor", "kind", "a direction predictor"),
         "target": ("target", "entries", "a target cache"),
         "level": ("level", "size", "a cache level behind the L3")}
FRONT = "l3"  # the level in front of the first level


class Each:
    """Puts names in the place of one slot, such as {tlb}."""

    def __init__(self, kind, names):
        self.slot, self.names = f"{{{kind}}}", names
        self.every = f"{{every {kind}}}"
        self.over = re.compile(
            rf"(sum|each)\(((?:(?!(?:sum|each)\().)*?) for {kind}\)", re.DOTALL)
        before = dict(zip(names, [FRONT, *names]))
        self.words = {name: {self.slot: name,
                             f"{{before {kind}}}": before[name],
                             f"{{{kind.upper()}}}": name.upper(),
                             f"{{before {kind.upper()}}}": before[name].upper()}
                      for name in names}

    def text(self, text, name):
        """Returns the text with a name in the place of the slot."""
        for slot, word in self.words[name].items():
            text = text.replace(slot, word)
        return text

    def over_all(self, text):
        """Returns the text with each sum over the names, and each list of
        expressions of all names, written out."""
        def written(match):
            terms = [f"({self.text(match[2], name)})" for name in self.names]
            if match[1] == "each":
                return ", ".join(terms)
            return f"({' + '.join(terms or ['0'])})"
        return self.over.sub(written, text)

    def write_sums(self, value):
        """Returns the value with each sum over the names, and each list of all
        names, written out."""
        if isinstance(value, dict):
            return {key: self.write_sums(v) for key, v in value.items()}
        if isinstance(value, list):
            return [one for v in value for one in
                    (self.names if v == self.every else [self.write_sums(v)])]
        return self.over_all(value) if isinstance(value, str) else value

    def has_slot(self, value):
        """Returns whether the value stands for several."""
        if isinstance(value, dict):
            return any(self.slot in key or self.has_slot(v)
                       for key, v in value.items())
        if isinstance(value, list):
            return any(map(self.has_slot, value))
        return isinstance(value, str) and self.slot in value

    def put(self, value, name):
        """Returns the value with a name in the place of the slot."""
        if isinstance(value, dict):
            return {self.text(key, name): self.put(v, name)
                    for key, v in value.items()}
        if isinstance(value, list):
            return [self.put(v, name) for v in value]
        return self.text(value, name) if isinstance(value, str) else value

    def expand(self, value):
        """Returns the value with a row for each name in the place of the rows
        that stand for several. Where several such rows follow each other, all
        rows of one name stand together."""
        if isinstance(value, str):
            return self.over_all(value)
        if isinstance(value, list):
            items = [self.expand(v) for v in value]
            return [one for v in items for one in
                    ([self.put(v, name) for name in self.names]
                     if self.has_slot(v) else [v])]
        if not isinstance(value, dict):
            return value
        rows, several = {}, {}
        for key, v in value.items():
            v = self.write_sums(v)
            if self.slot in key:
                several[key] = v
                continue
            rows |= self.put_all(several)
            several = {}
            rows[key] = self.expand(v)
        return rows | self.put_all(several)

    def put_all(self, several):
        """Returns the rows of all names for rows that stand for several."""
        return {key: v for name in self.names
                for key, v in self.put(several, name).items()}


def expand(value, named):
    """Returns the values of a file with a row for each name in the place of the
    rows that stand for several. `named`: names by kind."""
    for kind, names in named.items():
        value = Each(kind, names).expand(value)
    return value


def names_of(root, kind, known):
    """Returns the names of a kind, sorted: each [TABLE.NAME] of a machine that
    has the kind's key, but for the names in `known`, which have parameters of
    their own. Raises BadData where a name is none. Files that cannot be read are
    left to those who load the machines."""
    table, needed, words = KINDS[kind]
    pattern, rule = ((LEVEL, "l4 to l15") if kind == "level" else
                     (NAME, "up to 16 small letters, digits and '_'"))
    names = set()
    for path in root.glob("machines/*/machine.toml"):
        try:
            rows = tomllib.loads(path.read_text("utf-8")).get(table, {})
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
            continue
        own = {name for name, keys in rows.items()
               if isinstance(keys, dict) and needed in keys} - set(known)
        for name in sorted(own):
            if not pattern.fullmatch(name):
                raise BadData(f"data/{path.relative_to(root)}: [{table}.{name}]: "
                              f"the name of {words} is {rule}")
        names |= own
    if kind != "level":
        return sorted(names)
    # All machines have each level in front of the last, of size 0.
    return [f"l{n}" for n in range(4, 1 + max([4] + [int(n[1:]) for n in names]))]


def all_names(root, keys):
    """Returns the names of all kinds. `keys`: those of the parameters as the file
    has them, before rows stand for several."""
    known = {key.partition(".")[0] for key in keys if not key.startswith("{")}
    return {kind: names_of(root, kind, known) for kind in KINDS}
