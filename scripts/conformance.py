#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""conformance.py [PAGE]: which test stands for which rule of the register
models and of virtual counters.

Reads test/pmu/rules.toml, the sections of the scripts in test/pmu/ and the
comments in them, comments of C and Python tests that begin with a rule's tag,
and test/pmu/untested.toml. Writes PAGE, with links from there. Fails if a
testable rule has neither row nor reason, more than 5 % have none but a reason,
or one that is said to be decided elsewhere has a row.
"""
import os
import re
import sys
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

MOST_UNTESTED = 0.05
SHOWN = 4  # places of a rule; the others are counted

KINDS = {"T": "testable", "D": "decision or stated", "I": "inferred",
         "E": "external", "X": "contradiction", "P": "public"}
# The last two are calls of IRIX, their own tags.
WORD = re.compile(r"[A-Z](?:\d-R)?\d[\d.]*\d|[A-Z]\d|PIOC[A-Z]+|"
                  r"HWPERF_[A-Z_]+")
# What can be nothing but a tag; T1 and L2 are also words.
SURE = re.compile(r"T4-R\d+|R\d{3}|[PVI]\d\d|X\d+|F\d+\.\d+")
SCRIPT_COMMENT = re.compile(r"(?:^#:|\s#)\s+(.*)")
COMMENT = re.compile(r"(?:/\*|//|#)\s*(.*)")


@dataclass
class Rule:
    tag: str
    kind: str
    title: str
    only: str            # beginning of the names of scripts that use the tag
    elsewhere: str = ""  # why no register decides it
    reason: str = ""     # why it has no row
    places: list = field(default_factory=list)  # (file, line)
    # Of a rule that no register decides: where tests of the model name it.
    named: list = field(default_factory=list)


def documents(root):
    """Returns the documents, and all rules by tag."""
    with open(root / "test/pmu/rules.toml", "rb") as file:
        rows = tomllib.load(file)["document"]
    rules = {}
    for row in rows:
        row["tags"] = []
        for line in row["rules"].strip().splitlines():
            number, kind, title = line.split(" ", 2)
            tag = row["prefix"] + number
            if tag in rules or kind not in KINDS:
                sys.exit(f"rules.toml: {tag}: twice, or of unknown kind")
            rules[tag] = Rule(tag, kind, title, row.get("only", ""))
            row["tags"].append(tag)
        for other in row.get("elsewhere", []):
            for number in other["rules"]:
                rules[row["prefix"] + number].elsewhere = other["reason"]
    return rows, rules


def leading_tags(text):
    """Returns the words of the text that look like tags, up to the first other
    word."""
    for word in text.split():
        word = word.strip(",;:*/()")
        if not WORD.fullmatch(word):
            return
        yield word


def script_tags(path):
    """Returns the tags of sections, and of rows of a section's table."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = SCRIPT_COMMENT.search(line)
        if match:
            for tag in leading_tags(match[1]):
                yield number, tag


def comment_tags(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for match in COMMENT.finditer(line):
            for tag in leading_tags(match[1]):
                yield number, tag


def test_sources(root):
    """Returns the files with tests of the register models, of the parts above
    the models, and of dumps."""
    return sorted([*root.glob("test/pmu*.[cp]*"), *root.glob("test/sun4v*.[cp]*"),
                   *root.glob("test/hv*.[cp]*"), *root.glob("test/ref/pmu*.c"),
                   *root.glob("test/virtual*.c"),
                   root / "test/dump.c", root / "test/summarize.py",
                   root / "test/call_log.c", root / "test/profiler.c",
                   root / "test/profile_packets.py",
                   root / "test/gateway.py",
                   *root.glob("interfaces/**/*.c")])


def find_places(root, rules):
    """Fills in where each rule is tested. Returns the tags that no document
    has."""
    unknown = []
    found = [(path, *place) for path in sorted(root.glob("test/pmu/*.pmu"))
             for place in script_tags(path)]
    found += [(path, *place) for path in test_sources(root)
              for place in comment_tags(path)]
    for path, number, tag in found:
        name = path.relative_to(root).as_posix()
        rule = rules.get(tag)
        if rule and path.name.removeprefix("pmu_").startswith(rule.only):
            rule.places.append((name, number))
        elif path.suffix == ".pmu" and SURE.fullmatch(tag):
            unknown.append(f"{name}:{number}: no rule {tag}")
    return unknown


def find_named(root, rules):
    """Fills in where the tests of models name the rules that no register
    decides."""
    sought = {r.tag: r for r in rules.values() if r.elsewhere}
    for path in sorted([*root.glob("test/*.c"), *root.glob("test/isa/*.inc"),
                        *root.glob("test/*.py")]):
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            for tag in re.findall(r"\b(?:[MP]\d\d)\b", line):
                if tag in sought:
                    sought[tag].named.append((name, number))


def find_reasons(root, rules):
    with open(root / "test/pmu/untested.toml", "rb") as file:
        rows = tomllib.load(file)
    wrong = []
    for key, row in rows.items():
        tag = key.rpartition(" ")[2]
        if tag not in rules:
            wrong.append(f"untested.toml: no rule {key}")
        elif rules[tag].places:
            wrong.append(f"untested.toml: {tag} has a row")
        else:
            rules[tag].reason = row["reason"]
    return wrong


def links(places, up):
    texts = [f"[{Path(name).name}:{number}]({up}/{name}#L{number})"
             for name, number in places[:SHOWN]]
    more = len(places) - SHOWN
    return ", ".join(texts) + (f" and {more} more" if more > 0 else "")


def standing(rule, up):
    if rule.places:
        return links(rule.places, up)
    if rule.elsewhere and rule.named:
        return f"elsewhere: {rule.elsewhere}; {links(rule.named, up)}"
    if rule.elsewhere:
        return f"elsewhere: {rule.elsewhere}"
    return f"not tested: {rule.reason}" if rule.reason else "**no row**"


def testable(rules):
    return [r for r in rules if not r.elsewhere]


def counted(rules):
    rows = testable(rules)
    with_row = sum(1 for r in rows if r.places)
    return (f"{with_row} of {len(rows)} testable rules have a row; "
            f"{len(rules) - len(rows)} are decided elsewhere")


def page(rows, rules, up):
    out = ["# Rules of the register models and virtual counters, and their "
           "tests", "",
           "Generated by scripts/conformance.py. The scripts are those of "
           "`tally pmu`;", "`test/pmu.py` runs each section as a test.", "",
           "Kinds: " + ", ".join(f"{k} {v}" for k, v in KINDS.items()) + ".",
           "", "Altogether " + counted(list(rules.values())) + ".", ""]
    for row in rows:
        mine = [rules[tag] for tag in row["tags"]]
        out += [f"## {row['title']} ({row['name']})", "",
                counted(mine) + ".", "",
                "| rule | kind | about | test |", "|---|---|---|---|"]
        out += [f"| {r.tag} | {r.kind} | {r.title} | {standing(r, up)} |"
                for r in mine]
        out.append("")
    return "\n".join(out)


def faults(rules):
    both = [r.tag for r in rules.values() if r.elsewhere and r.places]
    if both:
        yield "decided elsewhere, and yet with a row: " + " ".join(both)
    rows = testable(rules.values())
    bare = [r.tag for r in rows if not r.places and not r.reason]
    if bare:
        yield "neither row nor reason: " + " ".join(bare)
    without = sum(1 for r in rows if not r.places)
    if without > MOST_UNTESTED * len(rows):
        yield (f"{without} of {len(rows)} testable rules have no row, more "
               f"than {MOST_UNTESTED:.0%}")


def main():
    root = Path(__file__).resolve().parent.parent
    rows, rules = documents(root)
    wrong = find_places(root, rules) + find_reasons(root, rules)
    find_named(root, rules)
    for name in sys.argv[1:2]:
        target = Path(name)
        up = os.path.relpath(root, target.resolve().parent)
        target.write_text(page(rows, rules, up))
    print(counted(list(rules.values())))
    wrong += faults(rules)
    for line in wrong:
        print(line, file=sys.stderr)
    sys.exit(bool(wrong))


main()
