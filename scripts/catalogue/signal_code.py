# SPDX-License-Identifier: MIT
"""The C of src/table/signals.h: conditions, components, derived signals."""
from catalogue.c_code import c_bool, c_numbers, c_text
from catalogue.row import ident
from catalogue.signals import CLOCK


def bits(names):
    return " | ".join(ident("component", n) for n in names) or "0"


def code_conditions(signals):
    out = []
    for name, c in signals.conditions.items():
        out += ["static bool", f"condition_{name}(const uint64_t *params, "
                "unsigned copy)", "{", "    (void)params, (void)copy;",
                f"    return {c['code']};", "}", ""]
    out += ["const struct condition_row tally_conditions[CONDITION_COUNT] = {"]
    for name, c in signals.conditions.items():
        out += [f"    [{ident('condition', name)}] = {{condition_{name}, "
                f"{c_text(c['otherwise'])}, {c_bool(c['whole'])}}},"]
    return out + ["};", ""]


def feeds(names):
    return " | ".join(ident("feed", n) for n in names) or "0"


def code_feeds(signals):
    return ["const struct feed_row tally_feeds[FEED_COUNT] = {",
            *(f"    {{{ident('feed', name)}, {c_text(otherwise)}}},"
              for name, otherwise in signals.feeds.items()), "};", ""]


def code_components(signals):
    out = ["const struct component_row tally_components[COMPONENT_COUNT] = {"]
    for name, c in signals.components.items():
        implied = [f"{{{ident('component', n)}, "
                   f"{ident('condition', w) if w else 'CONDITION_NONE'}}}"
                   for n, w in c["implies"]]
        rows = (f"(const struct implied_component[]){{{', '.join(implied)}}}"
                if implied else "NULL")
        possible = (ident("condition", c["possible"]) if c["possible"] else
                    "CONDITION_NONE")
        out += ["    {", f"        .name = {c_text(name)},",
                f"        .brief = {c_text(c['brief'])},",
                f"        .bit = {ident('component', name)},",
                f"        .possible = {possible},",
                f"        .implies = {rows},",
                f"        .implied_count = {len(implied)},", "    },"]
    return out + ["};", ""]


def code_rows(signals):
    out = ["const struct signal_row tally_signals[SIGNAL_COUNT] = {"]
    for name, s in signals.rows.items():
        requires = [ident("condition", c) for c in s["requires"]]
        sources = [ident("signal", x) for x in s["sources"]]
        out += [f"    [{ident('signal', name)}] = {{",
                f"        .name = {c_text(name)},",
                f"        .brief = {c_text(s['brief'])},",
                f"        .fixed = {c_bool(s['fixed'])},",
                f"        .data = {c_bool(s['data'])},",
                f"        .at_end = {c_bool(s['at_end'])},",
                f"        .copies = {s['copies']},",
                f"        .copy = {s['copy']},",
                f"        .components = {bits(s['implies'] or [])},",
                f"        .needs = {feeds(s['needs'])},",
                f"        .requires = {c_numbers('uint8_t', requires)},",
                f"        .require_count = {len(requires)},",
                f"        .sources = {c_numbers('uint16_t', sources)},",
                f"        .source_count = {len(sources)},", "    },"]
    return out + ["};", ""]


def code_derive(signals):
    return code_formulas(
        signals, "signals_derive(const uint64_t *params, uint64_t components, "
        "uint64_t *n)", lambda signal, value: f"n[{signal}] = {value.code};")


def code_parts(signals):
    return code_formulas(
        signals, "signals_derive_part(const uint64_t *params, "
        "uint64_t components, const uint64_t *n, double *p)",
        lambda signal, value: f"p[{signal}] = {value.part};")


def code_formulas(signals, head, statement):
    """Returns the C of a function that works out all formulas, in order."""
    out = ["void", head, "{"]
    for name in signals.ordered():
        row = signals.rows[name]
        guard = [c for c in row["implies"] if c in ("time", "conditional",
                                                    "bus", "bus_backs")]
        line = statement(ident("signal", name), row["value"])
        if guard:
            out += [f"    if ((components & ({bits(guard)})) != 0)", f"        {line}"]
        else:
            out += [f"    {line}"]
    return out + ["}", ""]


def code_clock(signals):
    """Returns the C of the clock signal's sum. No divisor follows the last
    sum."""
    value = signals.linear(CLOCK)
    out = ["static void", "add_term(struct clock_terms *c, unsigned signal, "
           "unsigned sum, uint64_t factor)", "{", "    if (factor != 0)",
           "        c->terms[c->count++] = (struct clock_term){"
           "(uint16_t)signal, (uint16_t)sum, factor};", "}", "",
           "void", "signals_clock(const uint64_t *params, "
           "struct clock_terms *c)", "{", "    c->count = 0;"]
    sums = [*value.quotients, (value.terms, "UINT64_C(1)", False)]
    for number, (terms, divisor, up) in enumerate(sums):
        out += [f"    c->divisor[{number}] = {divisor};",
                f"    c->round_up[{number}] = {c_bool(up)};"]
        for signal in signals.rows:
            if signal in terms:
                out += [f"    add_term(c, {ident('signal', signal)}, {number}, "
                        f"{terms[signal]});"]
    return out + ["}", ""]


def code(signals):
    return "\n".join(
        ["/* Generated by scripts/gen_tables.py from data/. */",
         '#include "table/signals.h"', "", "#include <stddef.h>", ""] + code_conditions(signals) +
        code_feeds(signals) + code_components(signals) + code_rows(signals) + code_derive(signals) +
        code_parts(signals) + code_clock(signals))
