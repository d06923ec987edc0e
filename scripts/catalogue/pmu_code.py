# SPDX-License-Identifier: MIT
"""The C of src/pmu/table.h's tables: what the register models need of a
machine, and no more, for they run where there is nothing else."""
from catalogue.c_code import c_bool, c_table, c_text, c_u64
from catalogue.row import ident

UNITS = ("cpu", "dram", "jbus", "lpu", "gpd", "asu")
# Unit masks of an event: the row that each of the 16 values stands for.
NOTHING = 0xff


def modelled(machines):
    return [m for m in machines if m["family"] and not m["hidden"]]


def bits(field):
    return ((1 << field["width"]) - 1) << field["low"]


def masks(register):
    """Returns a register's reset value, and the bits of each kind of access."""
    reset, by_access = 0, {}
    for f in register["fields"]:
        reset |= (f["reset"] or 0) << f["low"]
        by_access[f["access"]] = by_access.get(f["access"], 0) | bits(f)
    return reset, by_access


def register_rows(machine):
    rows = []
    for r in machine["registers"].values():
        reset, access = masks(r)
        rows.append([("name", c_text(r["name"])), ("reset", c_u64(reset)),
                     *((kind.lower(), c_u64(access.get(kind, 0)))
                       for kind in ("RW", "RW0", "WO", "RSVD")),
                     ("number", r["number"])])
    return rows


def index_rows(words):
    """Returns the rows of lower-case words with their values, in order. A word
    with two values has no row."""
    seen = {}
    for word, value in words:
        seen.setdefault(word.lower(), set()).add(value)
    return [[("name", c_text(word)), ("value", f"{values.pop():#x}")]
            for word, values in sorted(seen.items()) if len(values) == 1]


def lines_of(event):
    """Returns the lines of the event's group that the event stands for."""
    if event["mask"] >= 0:
        return event["mask"]
    return 1 if event["sl"] >= 0 or event["number"] >= 0 else 0xff


def group_of(machine, event):
    if event["unit"] != "cpu" or machine["family"] == "montecito":
        return event["code"]
    if event["sl"] >= 0:
        return event["sl"]
    # T1: Instr_cnt has no sl, it is what the fixed counter counts.
    return event["number"] if event["number"] >= 0 else 8


def signal_of(machine, event, instance=0):
    return (UNITS.index(event["unit"]) << 24 | instance << 16 |
            group_of(machine, event) << 8 | lines_of(event))


def signal_words(machine):
    for e in machine["events"]:
        if e["unit"] not in UNITS or group_of(machine, e) < 0:
            continue
        words = [e["name"], *e["aliases"]]
        instances = machine["units"][e["unit"]]["instances"]
        signal = signal_of(machine, e)
        if machine["family"] == "montecito":
            yield from umask_words(e, words, signal & ~0xff)
            continue
        for word in words:
            yield word, signal
            yield f"{e['unit']}/{word}", signal
            for i, instance in enumerate(instances):
                yield (f"{instance}/{word}" if not instance.isdigit() else
                       f"{e['unit']}{instance}/{word}",
                       signal_of(machine, e, i))


def value_and_care(row):
    """Returns a pattern's value, and the bits of the pattern that are not x."""
    pattern = row["pattern"]
    return (int(pattern.replace("x", "0"), 2),
            int(pattern.translate(str.maketrans("01x", "110")), 2))


def written(row):
    """Returns the value of the row that has the signals: the row itself, or the
    row that this one repeats."""
    return value_and_care(row["repeats"] or row)[0]


def umask_words(event, words, signal):
    if not event["umasks"]:
        yield from ((word, signal) for word in words)
    for row in event["umasks"]:
        if row["counts"] != "yes":
            continue
        names = [n for n in (row["name"], *row["aliases"]) if n]
        value = written(row)
        yield from ((f"{word}.{name}" if name else word, signal | value)
                    for word in words for name in names or [""])


def umask_rows(event):
    """Returns for each unit mask value the value that its row is written with,
    or NOTHING where the row counts nothing."""
    if not event["umasks"]:
        return [0] * 16
    out = []
    rows = [(*value_and_care(u), u["counts"], written(u))
            for u in event["umasks"]]
    for umask in range(16):
        row = next((r for r in rows if (umask ^ r[0]) & r[1] == 0), None)
        out.append(NOTHING if row is None or row[2] != "yes" else row[3])
    return out


def umask_bits(event):
    """Returns the unit mask values that can count both threads, and the values
    whose occurrences are credited to the active thread, whichever thread caused
    them."""
    both = active = 0
    for umask in range(16):
        row = next((u for u in event["umasks"] if (umask ^ value_and_care(u)[0])
                    & value_and_care(u)[1] == 0),
                   {"name": "", "all": None, "attribution": None})
        can = event["all"] if row["all"] is None else row["all"]
        by = row["attribution"] or event["attribution"] or ""
        both |= bool(can) << umask
        active |= (event["type"] == "C" or by.startswith("Active") or
                   (event["type"] == "S" and
                    not row["name"].endswith("SELF"))) << umask
    return both, active


def event_rows(machine):
    rows = []
    for e in sorted(machine["events"], key=lambda e: e["code"]):
        if machine["family"] != "montecito":
            break
        if e["code"] < 0:  # no counter has it
            continue
        for code in [e["code"], *e["more_codes"]]:
            both, active = umask_bits(e)
            rows.append([
                ("code", f"{code:#x}"), ("name", c_text(e["name"])),
                ("umask", "{" + ", ".join(f"{v:#x}" for v in umask_rows(e)) +
                 "}"),
                ("l1d_set", e["l1d_set"]), ("l2d_set", e["l2d_set"]),
                ("type", f"'{e['type']}'" if e["type"] else "0"),
                ("all", f"{both:#x}"), ("by_active", f"{active:#x}"),
                *((key, c_bool(e[key])) for key in
                  ("iar", "dar", "opc", "mesi", "umask_bits"))])
    return rows


def shared_rows(machine):
    """Returns the rows of counters that belong to no strand: where each has its
    event and its count. The counters of an instance stand side by side."""
    rows, registers = [], machine["registers"]
    for c in machine["counters"].values():
        unit = machine["units"][c["unit"]]
        if unit["scope"] == "strand" or not c["select"]:
            continue
        for i, instance in enumerate(unit["instances"] or [""]):
            select = registers[c["select"].replace("#", instance)]
            field = next(f for f in select["fields"]
                         if f["name"] == c["fields"]["code"])
            name, _, part = c["value"].replace("#", instance).partition(".")
            low = next((f["low"] for f in registers[name]["fields"]
                        if f["name"] == part), 0)
            rows.append([("unit", UNITS.index(c["unit"])), ("instance", i),
                         ("select", select["index"]),
                         ("select_low", field["low"]),
                         ("select_width", field["width"]),
                         ("value", registers[name]["index"]),
                         ("value_low", low), ("bits", c["bits"])])
    return sorted(rows, key=lambda row: (row[0][1], row[1][1]))


def unit_rows(machine):
    """Returns for each of UNITS where its counters begin, how many instances
    the unit has, and how many counters each instance has."""
    placed = [(row[0][1], row[1][1]) for row in shared_rows(machine)]
    rows = []
    for unit in range(len(UNITS)):
        mine = [instance for u, instance in placed if u == unit]
        first = placed.index((unit, 0)) if mine else 0
        rows.append(f"{{{first}, {len(set(mine))}, {mine.count(0)}}}")
    return ", ".join(rows)


def group_rows(machine):
    """Returns for each sl its lines, the lines that all strands raise, and its
    traps."""
    rows = []
    for g in machine["groups"]:
        if g["unit"] != "cpu":
            continue
        crossing = 0
        for e in machine["events"]:
            single = e["mask"] > 0 and e["mask"] & (e["mask"] - 1) == 0
            if (e["unit"], e["sl"]) == ("cpu", g["sl"]) and \
                    e["strand_specific"] is False and single:
                crossing |= e["mask"]
        rows.append([("sl", g["sl"]), ("lines", f"{g['mask']:#x}"),
                     ("whole", hex(g["whole"])), ("part", hex(g["part"])),
                     ("crossing", f"{crossing:#x}"),
                     ("precise", c_bool(g["precise"] is True)),
                     ("reserved", c_bool(g["reserved"]))])
    return rows


def machine_tables(machine, name):
    tables = {
        "registers": c_table("pmu_register", f"registers_{name}",
                             register_rows(machine)),
        "register_names": c_table(
            "pmu_name", f"register_names_{name}",
            index_rows((word, i) for i, r in
                       enumerate(machine["registers"].values())
                       for word in (r["name"], *r["aliases"]))),
        "signals": c_table("pmu_name", f"signals_{name}",
                           index_rows(signal_words(machine))),
        "shared": c_table("pmu_shared", f"shared_{name}",
                          shared_rows(machine)),
        "groups": c_table("pmu_group", f"groups_{name}", group_rows(machine)),
        "events": c_table("pmu_event", f"events_{name}", event_rows(machine)),
    }
    return tables


def header(machines):
    out = ["/* Generated by scripts/gen_tables.py from data/. */",
           "#ifndef TALLY_PMU_TABLES_H", "#define TALLY_PMU_TABLES_H", ""]
    rows = modelled(machines)
    out += ["enum pmu_machine_id {",
            *(f"    {ident('PMU_MACHINE', m['name'])}," for m in rows),
            "    PMU_MACHINES", "};", ""]
    for m in rows:
        out += ["enum {",
                *(f"    {ident(m['name'], r)}," for r in m["registers"]),
                f"    {ident(m['name'], 'REGISTERS')}", "};", ""]
    return "\n".join(out + ["#endif", ""])


def code(machines):
    out = ["/* Generated by scripts/gen_tables.py from data/. */",
           '#include "pmu/table.h"', ""]
    entries = []
    for m in modelled(machines):
        name = ident(m["name"]).lower()
        entries += [f"    [{ident('PMU_MACHINE', m['name'])}] = {{",
                    f"        .name = {c_text(m['name'])},",
                    "        .aliases = (const char *const[]){" + ", ".join(
                        [c_text(a) for a in m["aliases"]] + ["NULL"]) + "},",
                    f"        .family = PMU_{ident(m['family'])},"]
        for key, lines in machine_tables(m, name).items():
            out += lines
            if lines:
                entries += [f"        .{key} = {key}_{name},",
                            f"        .{key}_count = sizeof({key}_{name}) / "
                            f"sizeof({key}_{name}[0]),"]
        entries += [f"        .units = {{{unit_rows(m)}}},", "    },"]
    out += ["const struct pmu_machine tally_pmu_machines[PMU_MACHINES] = {",
            *entries, "};", ""]
    return "\n".join(out)
