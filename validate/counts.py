# SPDX-License-Identifier: MIT
"""Part a: counts that follow from arithmetic (kernels/groups.S), and those that
were published for chips (published.toml).

The program that chips were measured with is not ours and is not shipped: with
--deterministic it is counted and its counts stand beside those of 19 chips.
"""

import re
import tomllib

from ledger import Part, Row, Table, number
from tools import (HERE, KERNELS, Missing, at_once, compiled, counted,
                   wanted)

LETTER = "a"
TITLE = "Counts that follow from arithmetic"

PASSES = 1000
FIGURES = ("instructions", "branches", "conditional", "taken", "loads",
           "stores")
# The events of each figure; a machine lacks the figures that it has no event of.
EVENTS = {
    "host-model": {
        "instructions": "instructions", "branches": "branches",
        "conditional": "conditional-branches", "taken": "taken-branches",
        "loads": "L1-dcache-loads", "stores": "L1-dcache-stores"},
    "skylake": {
        "instructions": "INST_RETIRED.ANY_P",
        "branches": "BR_INST_RETIRED.ALL_BRANCHES",
        "conditional": "BR_INST_RETIRED.CONDITIONAL",
        "taken": "BR_INST_RETIRED.NEAR_TAKEN",
        "loads": "MEM_INST_RETIRED.ALL_LOADS",
        "stores": "MEM_INST_RETIRED.ALL_STORES"},
    "zen3": {
        "instructions": "ex_ret_instr", "branches": "ex_ret_brn",
        "conditional": "ex_ret_cond", "taken": "ex_ret_brn_tkn"},
}
EVENTS["icelake"] = {**EVENTS["skylake"], "conditional": "BR_INST_RETIRED.COND"}
# To these machines a system call is a branch that is taken.
FAR_TAKEN = ("zen2", "zen3", "zen4", "zen5")
for name in FAR_TAKEN:
    EVENTS[name] = EVENTS["zen3"]
GROUP = re.compile(r"/\* Group (\w+),(.*?)\*/", re.DOTALL)
COUNT = re.compile(r"^ \*   (\w+) +(\d+)  ", re.MULTILINE)


def groups():
    """Of each group what arithmetic says of the whole program, by figure."""
    stated = {name: {figure: int(n) for figure, n in COUNT.findall(text)}
              for name, text in GROUP.findall((KERNELS / "groups.S").read_text())}
    start = stated.pop("start")
    out = {}
    for name, each in stated.items():
        total = {f: start.get(f, 0) + PASSES * each.get(f, 0)
                 for f in (*FIGURES, "far")}
        total["taken"] -= 1
        out[name] = total
    return out


def expected(total, machine, figure):
    far = figure == "taken" and machine in FAR_TAKEN
    return total[figure] + (total["far"] if far else 0)


def known(args):
    """The names of all programs: the groups, and those of the chips."""
    with open(HERE / "published.toml", "rb") as file:
        of_chips = tomllib.load(file)["expected"]
    return {*groups(), *(of_chips if args.deterministic else ())}


def machines(args):
    return [m for m in EVENTS if args.machine in (None, m)]


def count_group(args, name):
    program = compiled("x86_64-linux-gnu-gcc", args.folder / f"group-{name}",
                       "groups.S", "-nostdlib", "-static", "-no-pie", f"-DGROUP_{name}",
                       f"-DPASSES={PASSES}")
    return {m: dict(zip(EVENTS[m], counted(args, m, EVENTS[m].values(),
                                           [program])))
            for m in machines(args)}


def cell(rows):
    """The counts of one figure on all machines, in short."""
    if not rows:
        return "-"
    plain = [r for r in rows if r.machine not in FAR_TAKEN] or rows
    if all(r.ours == r.reference for r in rows):
        return number(plain[0].ours)
    if len(rows) == 1:
        return f"{number(rows[0].ours)} for {number(rows[0].reference)}"
    return ", ".join(f"{r.machine} {number(r.ours)} for {number(r.reference)}"
                     for r in rows if r.ours != r.reference)


def arithmetic(args, part):
    stated = {n: total for n, total in groups().items() if wanted(args, n)}
    names = sorted(stated)
    for name, found in zip(names, at_once(lambda n: count_group(args, n),
                                          names)):
        for machine, counts in found.items():
            part.rows += [
                Row(name, machine, figure, ours,
                    expected(stated[name], machine, figure),
                    "arithmetic: kernels/groups.S")
                for figure, ours in counts.items()]
    rows = [(name, *(cell([r for r in part.rows if r.program == name
                           and r.figure == figure]) for figure in FIGURES))
            for name in names]
    if not rows:
        return
    equal = sum(r.ours == r.reference for r in part.rows)
    part.notes.append(
        f"{equal} of {len(part.rows)} counts on {', '.join(machines(args))} are "
        "equal to what arithmetic gives; a number below is that of them all, and "
        "a pair is what differs. On the Zens taken branches are more by the system "
        "calls, which AMD counts among them. "
        "Loads, stores and these taken branches are modelled, the others exact.")
    part.tables.append(Table(("group", *FIGURES), rows))


def published(args, part):
    with open(HERE / "published.toml", "rb") as file:
        facts = tomllib.load(file)
    where = facts["source"]
    programs = facts["expected"]
    if args.deterministic is None:
        part.skip("the counts of " + str(len(facts["chip"])) + " chips",
                  "the program that they were published for is not shipped: "
                  "--deterministic DIR takes static/binaries of a clone of "
                  "github.com/deater/deterministic")
        return
    if args.machine not in (None, *EVENTS):
        return
    machine = args.machine or "host-model"
    names = [n for n in programs if wanted(args, n)]
    if not names:
        return
    files = {n: args.deterministic / f"retired_instr.{n}.x86_64" for n in names}
    for name in [n for n in names if not files[n].exists()]:
        part.skip(f"retired_instr.{name}", f"no {files[name]}")
        names.remove(name)
    events = EVENTS[machine]
    found = dict(zip(names, at_once(
        lambda n: dict(zip(events, counted(args, machine, events.values(),
                                           [files[n]]))), names)))
    definition = facts["definition"]
    authors = [Row(f"retired_instr.{n}", machine, f, found[n][f], count,
                   f"{where}: expected by its author",
                   note=definition.get(f"{n}.{f}", ""),
                   scored=f"{n}.{f}" not in definition)
               for n in names for f, count in programs[n].items()
               if f in found[n]]
    part.rows += authors
    part.incomparable += [(f"{r.program}: {r.figure}", r.note) for r in authors
                          if r.note]
    part.tables.append(Table(
        ("program", *(f for f in FIGURES if f != "taken")),
        [(f"retired_instr.{n}", *(cell([r for r in authors
                                        if r.program == f"retired_instr.{n}"
                                        and r.figure == f])
                                  for f in FIGURES if f != "taken"))
         for n in names],
        "Beside what the author of the programs expects of their code:"))
    if "all" in found:
        others = on_other_machines(args, files["all"], machine)
        chips(facts, found["all"], machine, others, part)


def on_other_machines(args, program, first):
    """What the other machines count for the program of the chips, but for loads
    and stores, which take long under REP."""
    others = [m for m in machines(args) if m != first]
    wanted_events = {m: {f: e for f, e in EVENTS[m].items()
                         if f not in ("loads", "stores")} for m in others}
    return dict(zip(others, at_once(
        lambda m: dict(zip(wanted_events[m], counted(
            args, m, wanted_events[m].values(), [program]))), others)))


def chips(facts, ours, machine, others, part):
    """The table of the chips: what each counts beyond what tally counts; of loads
    and stores, which chips do not define alike, what each counts."""
    figures = [f for f in FIGURES if f in ours]
    rows = [(f"tally, {machine}",
             *("0" if f not in ("loads", "stores") else number(ours[f])
               for f in figures))]
    expected = facts["expected"]["all"]
    for other, found in others.items():
        part.rows += [Row("retired_instr.all", other, f, n, expected[f],
                          f"{facts['source']}: expected by its author")
                      for f, n in found.items() if f in expected]
        rows.append((f"tally, {other}",
                     *(f"{found[f] - ours[f]:+,}" if f in found else "-"
                       for f in figures)))
    for chip in facts["chip"]:
        cells = []
        for figure in figures:
            count = chip.get(figure)
            if count is None:
                cells.append("-")
                continue
            part.rows.append(Row("retired_instr.all", machine, figure,
                                 ours[figure], count,
                                 f"{facts['source']}/summary.{chip['file']}: "
                                 f"{chip['name']}", scored=False))
            left = chip.get(figure + "_left")
            if figure in ("loads", "stores"):
                cells.append(number(count))
            else:
                cells.append(f"{count - ours[figure]:+,}"
                             + (f" ({left:+,})" if left is not None else ""))
        rows.append((chip["name"], *cells))
    part.tables.append(Table(
        ("chip", *figures), rows,
        "What each chip counts for retired_instr.all beyond tally's count, which is "
        "the author's number of instructions, branches and conditional branches; in "
        "parentheses what is left when he has taken off interrupts, page faults and "
        "what is counted twice. Of loads and stores, which chips define each their "
        "own way, the counts themselves:"))
    part.tables.append(Table(
        ("what chips count otherwise", "chips", "tally"),
        [(d["what"], d["chips"], d["tally"]) for d in facts["differs"]],
        f"Where chips differ ({facts['paper']}):"))


def measure(args):
    part = Part(LETTER, TITLE)
    if not machines(args):
        part.skip("all", f"{args.machine} runs no x86-64 programs with these "
                  "events")
        return part
    try:
        arithmetic(args, part)
    except Missing as missing:
        part.skip("the groups", str(missing))
    try:
        published(args, part)
    except Missing as missing:
        part.skip("the counts of chips", str(missing))
    return part
