#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Does each rule's id lead to the rule's text? rules.py ROOT

Each id that the tree uses has one anchor on the pages of doc/rules/. Each rule
of test/pmu/rules.toml has one too, with a text of the same kind, and each
anchor is such a rule. A rule without a row says so.
"""
import os
import pathlib
import re
import sys
import tomllib

# What can be nothing but an id, anywhere.
SURE = r"T4-R(?!00)\d+|R(?!000)\d{3}"
# What is an id in the folders that speak of rules; P99 is not elsewhere.
# T4-R05 is an id and R05 is none.
LIKELY = SURE + r"|[RPVI]\d\d|X\d{1,2}|F\d+\.\d+"
# What is an id after the word rule or decision; elsewhere T1 is a processor.
ANY = LIKELY + r"|[MNCTQSHUO]\d{1,2}"
SPEAKING = ("interfaces", "data/machines", "doc/models", "doc/rules",
            "include/tally/pmu", "src/counter", "src/pmu", "test/pmu",
            "test/ref", "test/virtual")
BEFORE, AFTER = r"(?<![\w.#-])(?:", r")(?![\w-]|\.\d)"
ONE = f"(?:{ANY}{AFTER}"
NAMED = re.compile(rf"\b(?:[Rr]ules?|[Dd]ecisions?) +"
                   rf"({ONE}(?:(?:, and |, | and | to ){ONE})*)")
# What a test of Montecito begins with: a section of a script, or a comment.
LEADING = re.compile(rf"(?:^#:|/\*|//|#)\s*((?:{ONE}[,:]? *)+)")
SUFFIXES = {".c", ".h", ".md", ".pmu", ".py", ".toml"}
ANCHOR = re.compile(r'<a id="([^"]*)"></a>\*\*([^*]+)\*\* \((\w)\) '
                    r"(.*?)(?=\n\n|\Z)", re.S)


def sources(root):
    """The files that can name a rule, with their names in the tree."""
    for folder, names, files in os.walk(root):
        names[:] = sorted(n for n in names if n[0] != "." and n[:5] != "build")
        for path in (pathlib.Path(folder, name) for name in sorted(files)):
            name = path.relative_to(root).as_posix()
            if path.suffix in SUFFIXES and name != "test/pmu/rules.toml":
                yield path, name


def used(name, text):
    """Yields each id that a text names, with its line."""
    ids = LIKELY if name.startswith(SPEAKING) else SURE
    pattern = re.compile(BEFORE + ids + AFTER)
    tests = name.startswith("test/") and "montecito" in name
    for number, line in enumerate(text.splitlines(), 1):
        found = pattern.findall(line)
        leading = LEADING.findall(line) if tests else []
        for several in NAMED.findall(line) + leading:
            found += re.findall(ANY, several)
        for tag in found:
            yield number, tag


def expected(root):
    """Kind and reason of each rule of rules.toml, by id."""
    with open(root / "test/pmu/rules.toml", "rb") as file:
        documents = tomllib.load(file)["document"]
    rules = {}
    for document in documents:
        prefix = document["prefix"]
        for line in document["rules"].strip().splitlines():
            number, kind, _ = line.split(" ", 2)
            rules[prefix + number] = [kind, ""]
        for other in document.get("elsewhere", []):
            for number in other["rules"]:
                rules[prefix + number][1] = other["reason"]
    return rules


def texts(root, wrong):
    """Kind and text of each anchor, by id."""
    found = {}
    for page in sorted((root / "doc/rules").glob("*.md")):
        text = page.read_text()
        entries = ANCHOR.findall(text)
        if len(entries) != text.count("<a id="):
            wrong.append(f"{page.name}: an anchor without id, kind and text")
        for tag, shown, kind, words in entries:
            if tag in found:
                wrong.append(f"{page.name}: {tag} has an anchor already")
            if tag != shown:
                wrong.append(f"{page.name}: the anchor {tag} is of {shown}")
            found[tag] = kind, words
    return found


def compare(rules, found, wrong):
    """Adds what differs between the rules and their texts."""
    for tag in sorted(rules.keys() ^ found.keys()):
        wrong.append(f"{tag}: no text in doc/rules/" if tag in rules else
                     f"{tag}: a text, but no rule in test/pmu/rules.toml")
    for tag in sorted(rules.keys() & found.keys()):
        (kind, reason), (shown, words) = rules[tag], found[tag]
        if kind != shown:
            wrong.append(f"{tag}: kind {kind} in rules.toml, {shown} in text")
        if bool(reason) != ("*No row:" in " ".join(words.split())):
            wrong.append(f"{tag}: 'No row' and rules.toml do not agree")


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} ROOT")
    root = pathlib.Path(sys.argv[1]).resolve()
    wrong, uses = [], 0
    found = texts(root, wrong)
    compare(expected(root), found, wrong)
    for path, name in sources(root):
        for number, tag in used(name, path.read_text(errors="replace")):
            uses += 1
            if tag not in found:
                wrong.append(f"{name}:{number}: no rule {tag}")
    print("\n".join(wrong) or f"{len(found)} rules, named {uses} times")
    sys.exit(bool(wrong))


main()
