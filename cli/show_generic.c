/* SPDX-License-Identifier: MIT */
/* tally show NAME of a generic name or metric: what stands for it where. */
#include <stdio.h>
#include <string.h>

#include "cli/show.h"
#include "table/generic.h"
#include "table/metric.h"

#define MACHINE_WIDTH 18
#define STANDING_WIDTH 9 /* of "estimated" */
#define TEXT_AT (2 + MACHINE_WIDTH + 2 + STANDING_WIDTH + 2)

/* Prints a line of the table: a machine, a standing, and prose. */
static void
print_row(struct screen *s, const char *machine, const char *standing,
          const char *text)
{
    fprintf(s->out, "  %-*s  %-*s  ", MACHINE_WIDTH, machine, STANDING_WIDTH,
            standing);
    screen_prose(s, TEXT_AT, TEXT_AT, text);
}

void
generic_text(const struct machine_row *m, int id, char *text, size_t size)
{
    const struct generic_event *g = &m->generics[id];

    if (g->kind == STANDS_NONE)
        snprintf(text, size, "nothing: %s", g->reason);
    else
        snprintf(text, size, "%s%s%s%s%s", g->own,
                 g->kind == STANDS_EVENT ? "" : ": ",
                 g->kind == STANDS_EVENT ? "" : stands_text(g->kind),
                 g->differs != NULL ? "; " : "",
                 g->differs != NULL ? g->differs : "");
}

const char *
generic_standing(const struct machine_row *m, int id)
{
    const struct event_row *e = generic_counted(m, id);

    return e != NULL ? machine_standing(m, e->fidelity) : "none";
}

/* Prints what a name means on every machine, and its other spellings. */
static void
show_definition(struct screen *s, const char *brief, const char *label,
                const char *definition, const char *const *aliases)
{
    fprintf(s->out, "\n  ");
    screen_prose(s, 2, 2, brief);
    fprintf(s->out, "\n");
    screen_item(s, label, definition);
    show_names(s, "also", aliases);
    fprintf(s->out, "\n");
}

void
show_generic(struct screen *s, int id, const struct machine_row *only)
{
    const struct generic_row *row = &tally_generics[id];
    char text[SHOW_TEXT];

    screen_heading(s, "%s, a generic name%s%s", row->name,
                   only != NULL ? " on " : "", only != NULL ? only->name : "");
    show_definition(s, row->brief, "counts", row->counts, row->aliases);
    print_row(s, "machine", "standing", "what stands for it");
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (only != NULL ? m != only : m->hidden)
            continue;
        generic_text(m, id, text, sizeof(text));
        print_row(s, m->name, generic_standing(m, id), text);
    }
}

/* Writes the machine's formula, or what it lacks. */
static void
metric_text(const struct machine_row *m, int id, char *text, size_t size)
{
    const struct metric_row *metric =
        metric_find(m, tally_generic_metrics[id].name);
    const int operand = generic_metric_lacks(m, id);

    if (operand < 0)
        snprintf(text, size, "%s", metric->formula);
    else
        snprintf(text, size, "none: nothing stands for %s: %s",
                 tally_generics[operand].name, m->generics[operand].reason);
}

void
show_generic_metric(struct screen *s, int id)
{
    const struct generic_metric *g = &tally_generic_metrics[id];
    char text[SHOW_TEXT];

    screen_heading(s, "%s, a metric of generic names, in %s", g->name, g->unit);
    show_definition(s, g->brief, "formula", g->formula, g->aliases);
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (m->hidden)
            continue;
        metric_text(m, id, text, sizeof(text));
        fprintf(s->out, "  %-*s  ", MACHINE_WIDTH, m->name);
        screen_prose(s, 2 + MACHINE_WIDTH + 2, 2 + MACHINE_WIDTH + 2, text);
    }
}
