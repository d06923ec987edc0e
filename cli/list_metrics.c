/* SPDX-License-Identifier: MIT */
/* tally list metrics: each with the counters that it needs. */
#include <string.h>

#include "cli/json_rows.h"
#include "cli/list.h"
#include "cli/needs.h"
#include "cli/rows_text.h"

#define COUNTERS_WIDTH 16 /* longer lists of counters become a number */

/* Returns whether the metric is listed. */
static bool
metric_matches(const struct list *l, const struct metric_row *row)
{
    return list_matches_row(l, row->name, row->aliases, row->brief,
                            row->formula);
}

/* Returns the bits of the counters that the group takes. */
static uint32_t
counters_of_group(const struct needs *n, size_t group)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < n->count; i++)
        if (n->plan.rows[i].group == group)
            bits |= UINT32_C(1) << n->plan.rows[i].counter;
    return bits;
}

/* Writes the counters of the only group, or how many groups there are. */
static void
needs_text(const struct machine_row *m, const struct needs *n, char *text,
           size_t size)
{
    char names[COUNTERS_TEXT];

    if (n->count == 0) {
        snprintf(text, size, "none");
        return;
    }
    if (n->by != NULL) {
        snprintf(text, size, "counted by %s", n->by);
        return;
    }
    if (n->plan.group_count == 0) {
        snprintf(text, size, "impossible");
        return;
    }
    counters_text(m, counters_of_group(n, 0), names, sizeof(names));
    if (n->plan.group_count == 1 && strlen(names) <= COUNTERS_WIDTH)
        snprintf(text, size, "%s", names);
    else if (n->plan.group_count == 1)
        snprintf(text, size, "%d counters",
                 __builtin_popcount(counters_of_group(n, 0)));
    else
        snprintf(text, size, "%zu groups", n->plan.group_count);
}

/* Prints the formula, and the counter of each event. */
static void
print_details(struct screen *s, const struct machine_row *m,
              const struct metric_row *row, const struct needs *n)
{
    char text[SELECTION_TEXT];

    fprintf(s->out, "      = ");
    screen_prose(s, 8, 8, row->formula);
    for (size_t g = 0; g < n->plan.group_count; g++) {
        const char *between = "";
        fprintf(s->out, "      group %zu:", g + 1);
        for (size_t i = 0; i < n->count; i++) {
            if (n->plan.rows[i].group != g)
                continue;
            selection_text(&n->list[i], text, sizeof(text));
            fprintf(s->out, "%s %s on %s", between, text,
                    m->counters[n->plan.rows[i].counter].name);
            between = ",";
        }
        fprintf(s->out, "\n");
    }
}

struct columns {
    size_t name, counters;
};

/* Prints a metric. */
static void
print_metric(struct screen *s, const struct machine_row *m,
             const struct metric_row *row, const struct columns *c,
             bool details)
{
    struct needs n;
    char text[COUNTERS_TEXT];

    if (needs_of(m, row, &n) != 0)
        return;
    needs_text(m, &n, text, sizeof(text));
    const int used = fprintf(s->out, "  %-*s  %-*s  ", (int)c->name, row->name,
                             (int)c->counters, text);
    screen_rest(s, (size_t)used, row->brief);
    if (details)
        print_details(s, m, row, &n);
    needs_finish(&n);
}

/* Finds the widths of the columns. */
static struct columns
columns_of(const struct list *l, const struct machine_row *m)
{
    struct columns c = {.counters = strlen("counters")};

    for (size_t i = 0; i < m->metric_count; i++) {
        char text[COUNTERS_TEXT];
        struct needs n;
        if (!metric_matches(l, &m->metrics[i]) ||
            needs_of(m, &m->metrics[i], &n) != 0)
            continue;
        needs_text(m, &n, text, sizeof(text));
        needs_finish(&n);
        if (strlen(m->metrics[i].name) > c.name)
            c.name = strlen(m->metrics[i].name);
        if (strlen(text) > c.counters)
            c.counters = strlen(text);
    }
    return c;
}

/* Prints the metrics of a machine. */
static void
print_machine(const struct list *l, const struct machine_row *m, bool details)
{
    const struct columns c = columns_of(l, m);

    screen_heading(l->s, "%-*s  counters", (int)c.name + 2, m->name);
    for (size_t i = 0; i < m->metric_count; i++)
        if (metric_matches(l, &m->metrics[i]))
            print_metric(l->s, m, &m->metrics[i], &c, details);
}

/* Counts the metrics of a machine that match, and adds them to the JSON where
 * `add`. */
static size_t
matching(struct list *l, const struct machine_row *m, bool add)
{
    size_t count = 0;

    for (size_t i = 0; i < m->metric_count; i++) {
        if (!metric_matches(l, &m->metrics[i]))
            continue;
        count++;
        if (add)
            list_add(l, m, metric_json(m, &m->metrics[i]));
    }
    return count;
}

size_t
list_metrics(struct list *l)
{
    static const struct list_kind kind = {matching, print_machine};

    return list_by_machine(l, &kind);
}
