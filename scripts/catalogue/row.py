# SPDX-License-Identifier: MIT
"""Rows of TOML files: checked values out, unknown keys refused."""
import difflib
import pathlib
import re
import sys
import tomllib

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,59}")
# An alias may have a colon (libpfm's unit:mask) and be as long as the longest
# name a manual prints; %pcr is a register's.
ALIAS = re.compile(r"(?!0[xX])%?\w(?:[\w.:-]{0,94}\w)?", re.ASCII)
TEXT = re.compile(r"[ -~]+")
MISSING = object()
MANY = 12  # words: of more, an error names those that are near


class BadData(Exception):
    """Says which file and row are wrong, what is wrong and what would be
    right."""


def near(word, words):
    """Returns the end of a message about a wrong word: the word of `words` that
    is most like the wrong one, or some of `words`."""
    match = difflib.get_close_matches(word, words, 1)
    if match:
        return f"did you mean '{match[0]}'?"
    if not words:
        return "no name is known here"
    first, rest = list(words)[:MANY], len(words) - MANY
    return ("known are " + ", ".join(first) +
            (f" and {rest} more" if rest > 0 else ""))


def write_changed(path, text):
    """Writes a file unless the file has the text already. A file that does not
    change has nothing built again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def ident(*words):
    return "_".join(re.sub(r"[^A-Za-z0-9]", "_", w).upper() for w in words)


class Row:
    """A table of a file: hands out checked values, refuses unknown keys."""

    def __init__(self, path, label, values):
        self.path, self.label, self.place = path, label, label
        self.known, self.values = [], values
        if not isinstance(values, dict):
            self.bad("must be a table")

    def bad(self, text):
        raise BadData(f"{self.path}: {self.label}: {text}")

    def has(self, key):
        return key in self.values

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
        few = len(words) <= MANY
        what = "one of " + ", ".join(words) if few else "a name"
        value = self.get(key, str, what, default)
        if value is not default and value not in words:
            self.bad(f"{key} = '{value}': " + (f"must be {what}" if few else
                                               near(value, words)))
        return value

    def words(self, key, pattern, default=MISSING):
        what = "a list of names"
        value = self.get(key, list, what, default)
        if value is default:
            return value
        for word in value:
            if not isinstance(word, str) or not pattern.fullmatch(word):
                self.bad(f"'{key}' must be {what}: {word!r} is none")
        if len(set(value)) != len(value):
            self.bad(f"'{key}' names something twice")
        return value

    def numbers(self, key, default):
        """Returns a table of names with numbers."""
        what = "a table of names with whole numbers"
        value = self.get(key, dict, what, default)
        for name, number in value.items():
            if type(number) is not int or not 0 <= number < 2**64:
                self.bad(f"'{key}' must be {what}: {name} has {number!r}")
        return value

    def parts(self, key):
        """Returns rows for each table of the list `key`."""
        what = "a list of tables"
        return [Row(self.path, f"{self.label}: {key} {i + 1}", values)
                for i, values in enumerate(self.get(key, list, what, []))]

    def done(self):
        for key in self.values:
            if key not in self.known:
                self.bad(f"unknown key '{key}'; {near(key, self.known)}")


class File(Row):
    """A TOML file; each has a source."""

    def __init__(self, root, name, change=None):
        """`change`, where it is given, is called with all values of the file and
        returns those that count."""
        path = f"data/{name}"
        try:
            values = tomllib.loads((root / name).read_text("utf-8"))
        except FileNotFoundError:
            raise BadData(f"{path}: the file is missing") from None
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as e:
            raise BadData(f"{path}: {e}") from None
        super().__init__(path, "top level",
                         change(values) if change else values)
        self.place = path
        self.source = self.text("source")

    def rows(self, table, optional=False, plain=False):
        """Returns the rows of [table.NAME], above the keys of [default] unless
        `plain`."""
        default = self.get("default", dict, "a table", {})
        default = {} if plain else default
        missing = {} if optional else MISSING
        rows = self.get(table, dict, f"rows [{table}.NAME]", missing)
        for name, values in rows.items():
            label = f"[{table}.{name}]"
            if not isinstance(values, dict):
                raise BadData(f"{self.path}: {label}: must be a table")
            yield name, Row(self.path, label, default | values)

    def nested_rows(self, table):
        """Returns (NAME.KEY, row) of the rows KEY of [table.NAME], above the
        keys of [default]."""
        default = self.get("default", dict, "a table", {})
        tables = self.get(table, dict, f"tables [{table}.NAME]", {})
        for name, rows in tables.items():
            if not isinstance(rows, dict):
                raise BadData(f"{self.path}: [{table}.{name}]: must be a table")
            for key, values in rows.items():
                label = f"[{table}.{name}.{key}]"
                if not isinstance(values, dict):
                    raise BadData(f"{self.path}: {label}: must be a table")
                yield f"{name}.{key}", Row(self.path, label, default | values)


def write_table(usage, load, code):
    """Does the work of a script of two arguments, the folder of the data and a
    file of C: load() reads the one, and code() makes the text of the other."""
    if len(sys.argv) != 3:
        sys.exit(usage)
    data, output = map(pathlib.Path, sys.argv[1:])
    try:
        output.write_text(code(load(data)))
    except BadData as e:
        sys.exit(str(e))
