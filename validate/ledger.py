# SPDX-License-Identifier: MIT
"""What `tally validate` reports: parts with rows and tables, as text, Markdown or
JSON."""

import json
import statistics
import textwrap
from dataclasses import asdict, dataclass, field


@dataclass
class Row:
    """One figure: what tally says, and what it is held against."""
    program: str
    machine: str
    figure: str
    ours: float
    reference: float
    source: str
    unit: str = ""
    note: str = ""
    # Neither differences that are known to be of another definition nor figures
    # of a restless clock are scored.
    scored: bool = True

    @property
    def error(self):
        """The relative error, or points where the figures are shares."""
        if self.unit == "%":
            return self.ours - self.reference
        if self.reference == 0:
            return 0.0 if self.ours == 0 else None
        return self.ours / self.reference - 1

    def document(self):
        return {**asdict(self), "error": self.error}


@dataclass
class Table:
    heads: tuple
    rows: list
    title: str = ""


@dataclass
class Part:
    letter: str
    title: str
    rows: list = field(default_factory=list)
    tables: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    # (what, why) each; a why says what to install.
    skipped: list = field(default_factory=list)
    incomparable: list = field(default_factory=list)

    def skip(self, what, why):
        self.skipped.append((what, why))

    def document(self):
        return {
            "part": self.letter, "title": self.title,
            "rows": [row.document() for row in self.rows],
            "tables": [asdict(table) for table in self.tables],
            "notes": self.notes,
            "skipped": [{"what": a, "why": b} for a, b in self.skipped],
            "not_comparable": [{"what": a, "why": b}
                               for a, b in self.incomparable]}


def number(value):
    """A figure as text: counts with commas, others with two digits."""
    if value is None:
        return "-"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.2f}"


def percent(fraction):
    """A relative error as text, 0 only if it is 0."""
    if fraction is None:
        return "-"
    text = f"{100 * fraction:+.1f} %"
    if fraction == 0:
        return "0"
    return text if text[1:] != "0.0 %" else f"{100 * fraction:+.4f} %"


def plain_table(rows, program="program"):
    """The table of rows, one a line."""
    return Table((program, "machine", "figure", "tally", "reference", "error",
                  "source"),
                 [(r.program, r.machine, r.figure, number(r.ours),
                   number(r.reference),
                   f"{r.error:+.1f} points" if r.unit == "%"
                   else percent(r.error),
                   r.source + (f"; {r.note}" if r.note else ""))
                  for r in rows])


def summary(name, errors):
    """The row of a table: how many, their median and the worst."""
    errors = sorted(map(abs, errors))
    if not errors:
        return (name, "0", "-", "-")
    return (name, str(len(errors)), f"{100 * statistics.median(errors):.0f} %",
            f"{100 * errors[-1]:.0f} %")


def markdown_table(table):
    yield "| " + " | ".join(table.heads) + " |"
    yield "|" + "---|" * len(table.heads)
    for row in table.rows:
        yield "| " + " | ".join(row) + " |"


def text_table(table):
    lines = [table.heads, *table.rows]
    widths = [max(len(line[i]) for line in lines)
              for i in range(len(table.heads))]
    for line in lines:
        yield "  ".join(v.ljust(w) for v, w in zip(line, widths)).rstrip()


def listed(title, pairs, markdown):
    """A list of what was left out, and why; one line for one reason."""
    reasons = {}
    for what, why in pairs:
        reasons.setdefault(why, []).append(what)
    if reasons:
        yield ""
        yield title
        if markdown:
            yield ""
        for why, whats in reasons.items():
            line = f"{', '.join(whats)}: {why}"
            # In text a reason stays one line, as commands to copy are in it.
            yield from filled("- " + line, "  ") if markdown else ["  " + line]


def filled(text, indent=""):
    """Lines of a width that reads well; names are not broken."""
    return textwrap.wrap(text, 98, subsequent_indent=indent,
                         break_long_words=False, break_on_hyphens=False)


def part_lines(part, markdown):
    heading = f"({part.letter}) {part.title}"
    yield f"### {heading}" if markdown else heading
    for note in part.notes:
        yield ""
        yield from filled(note)
    for table in part.tables:
        yield ""
        if table.title:
            yield from filled(table.title)
            yield ""
        yield from (markdown_table if markdown else text_table)(table)
    yield from listed("Not comparable:", part.incomparable, markdown)
    yield from listed("Skipped:", part.skipped, markdown)


def written(parts, form, surroundings):
    """The ledger as text in a form."""
    if form == "json":
        return json.dumps({"schema": 1, **surroundings,
                           "parts": [p.document() for p in parts]},
                          indent=2) + "\n"
    blocks = ["\n".join(part_lines(p, form == "markdown")) for p in parts]
    return "\n\n".join(blocks) + "\n"
