/* SPDX-License-Identifier: MIT */
/* tally show of a register, a metric, a group of events. */
#include <inttypes.h>
#include <string.h>

#include "cli/needs.h"
#include "cli/rows_text.h"
#include "cli/show.h"

/* Returns whether "REGISTER" or "REGISTER.FIELD" is of this register. */
static bool
names_register(const struct machine_row *m, const char *text,
               const char *instance, const struct register_row *row)
{
    char name[128];
    const char *mark = text != NULL ? strchr(text, '#') : NULL;

    if (text == NULL)
        return false;
    if (mark == NULL)
        snprintf(name, sizeof(name), "%s", text);
    else
        snprintf(name, sizeof(name), "%.*s%s%s", (int)(mark - text), text,
                 instance, mark + 1);
    if (register_find(m, name) == row)
        return true;
    char *dot = strrchr(name, '.');
    if (dot != NULL)
        *dot = '\0';
    return dot != NULL && register_find(m, name) == row;
}

/* Shows the counters whose event the register selects, those that are read in
 * the register, and those that a field of the register enables. */
static void
show_counters(struct screen *s, const struct machine_row *m,
              const struct register_row *row)
{
    char selects[SHOW_TEXT] = "", reads[SHOW_TEXT] = "";
    char enables[SHOW_TEXT] = "";

    for (size_t i = 0; i < m->counter_count; i++) {
        const struct counter_row *c = &m->counters[i];
        const struct unit_row *u = &m->units[c->unit];
        for (size_t k = 0; k < c->fixed_count; k++)
            if (c->fixed[k].reg >= 0 && &m->registers[c->fixed[k].reg] == row)
                show_append(enables, c->name);
        for (size_t k = 0; k < (u->instance_count > 0 ? u->instance_count : 1);
             k++) {
            char name[128];
            const char *at = u->instance_count > 0 ? u->instances[k] : "";
            snprintf(name, sizeof(name), "%s%s%s", c->name, *at ? " at " : "",
                     at);
            if (c->select != NULL && &m->registers[c->select[k]] == row)
                show_append(selects, name);
            if (names_register(m, c->value, at, row))
                show_append(reads, name);
        }
    }
    if (selects[0] != '\0')
        screen_itemf(s, "selects", "the events of %s", selects);
    if (reads[0] != '\0')
        screen_itemf(s, "holds", "the count of %s", reads);
    if (enables[0] != '\0')
        screen_itemf(s, "enables", "%s", enables);
}

void
show_register(struct screen *s, const struct machine_row *m,
              const struct register_row *r)
{
    screen_heading(s, "%s, a register of %s (%s)", r->name, m->name, r->group);
    fprintf(s->out, "\n  ");
    screen_prose(s, 2, 2, r->brief);
    fprintf(s->out, "\n");
    if (r->number >= 0)
        screen_itemf(s, "number", "%d", r->number);
    if (r->address != NULL)
        screen_item(s, "address", r->address);
    if (r->has_local)
        screen_itemf(s, "local", "0x%" PRIx64, r->local_address);
    if (r->has_global)
        screen_itemf(s, "global", "0x%" PRIx64, r->global_address);
    if (r->access != NULL)
        screen_item(s, "access", r->access);
    show_counters(s, m, r);
    show_names(s, "also", r->aliases);
    screen_item(s, "reference", r->reference);
    fprintf(s->out, "\n");
    fields_print(s, 2, r, true);
}

/* Shows which of the metric's events no counter known here counts, and who
 * does. */
static void
show_counted_by(struct screen *s, const struct machine_row *m,
                const struct needs *n)
{
    char text[SHOW_TEXT] = "", word[SELECTION_TEXT];

    for (size_t i = 0; i < n->count; i++) {
        if (counted_by(m, n->list[i].event) == NULL)
            continue;
        selection_text(&n->list[i], word, sizeof(word));
        show_append(text, word);
    }
    screen_itemf(s, "counters", "counted by %s: %s", n->by, text);
}

static void
show_plan(struct screen *s, const struct machine_row *m, const struct needs *n)
{
    char text[SHOW_TEXT], word[SELECTION_TEXT + 64], label[32] = "counters";

    if (n->by != NULL)
        show_counted_by(s, m, n);
    else if (n->count > 0 && n->plan.group_count == 0)
        screen_item(s, "counters", "its events cannot be counted");
    for (size_t g = 0; g < n->plan.group_count; g++) {
        text[0] = '\0';
        for (size_t i = 0; i < n->count; i++) {
            if (n->plan.rows[i].group != g)
                continue;
            selection_text(&n->list[i], word, SELECTION_TEXT);
            const size_t used = strlen(word);
            snprintf(word + used, sizeof(word) - used, " on %s",
                     m->counters[n->plan.rows[i].counter].name);
            show_append(text, word);
        }
        if (n->plan.group_count > 1)
            snprintf(label, sizeof(label), "group %zu", g + 1);
        screen_item(s, label, text);
    }
    if (n->plan.group_count > 1)
        screen_itemf(s, "", "%zu groups: not all of it is counted at once",
                     n->plan.group_count);
}

void
show_metric(struct screen *s, const struct machine_row *m,
            const struct metric_row *row)
{
    const uint64_t inputs = metric_inputs(row);
    struct needs n;

    screen_heading(s, "%s, a metric of %s%s%s", row->name, m->name,
                   *row->unit ? ", in " : "", row->unit);
    fprintf(s->out, "\n  ");
    screen_prose(s, 2, 2, row->brief);
    fprintf(s->out, "\n");
    screen_item(s, "formula", row->formula);
    if (row->read != NULL)
        screen_item(s, "reads", row->read);
    if (needs_of(m, row, &n) == 0) {
        show_plan(s, m, &n);
        needs_finish(&n);
    }
    for (size_t i = 0; i < m->input_count; i++)
        if ((inputs >> i & 1) != 0)
            screen_itemf(s, "input", "$%s: %s", m->inputs[i].name,
                         m->inputs[i].brief);
    show_names(s, "also", row->aliases);
    if (row->printed != NULL)
        screen_item(s, "printed", row->printed);
    screen_item(s, "reference", row->reference);
}

void
show_unit(struct screen *s, const struct machine_row *m,
          const struct unit_row *u)
{
    const uint32_t bits = counters_of_unit(m, u->name);
    char text[SHOW_TEXT] = "";
    size_t events = 0;

    for (size_t i = 0; i < m->event_count; i++)
        events += strcmp(m->events[i].unit, u->name) == 0;
    screen_heading(s, "%s, a unit of %s", u->name, m->name);
    fprintf(s->out, "\n  ");
    screen_prose(s, 2, 2, u->brief);
    fprintf(s->out, "\n");
    screen_itemf(s, "part of", "a %s", u->scope);
    if (u->elsewhere != NULL)
        screen_itemf(s, "described", "elsewhere: %s", u->elsewhere);
    for (size_t i = 0; i < u->instance_count; i++)
        show_append(text, u->instances[i]);
    if (text[0] != '\0')
        screen_item(s, "instances", text);
    if (bits != 0) {
        counters_text(m, bits, text, COUNTERS_TEXT);
        screen_itemf(s, "counters", "%s; %u bits", text,
                     m->counters[__builtin_ctz(bits)].bits);
    }
    if (events > 0)
        screen_itemf(s, "events", "%zu: tally list events -m %s '%s/*'", events,
                     m->name, u->name);
}

void
show_group(struct screen *s, const struct machine_row *m,
           const struct group_row *g)
{
    const char *unit = m->units[g->unit].name;

    screen_heading(s, "sl 0x%02x of %s, unit %s: %s", (unsigned)g->sl, m->name,
                   unit, g->title);
    fprintf(s->out, "\n");
    if (!g->reserved)
        screen_itemf(s, "mask", "0x%02x are the bits that have a meaning",
                     (unsigned)g->mask);
    if (g->rule != NULL)
        screen_item(s, "rule", g->rule);
    if (g->precise >= 0)
        screen_item(s, "traps", g->precise ? "precise" : "disrupting");
    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        if (e->sl == g->sl && strcmp(e->unit, unit) == 0)
            screen_itemf(s, "", "0x%02x  %s", (unsigned)e->mask, e->name);
    }
}
