/* SPDX-License-Identifier: MIT */
/* tally list events: by machine, unit, and what the manual groups them by. */
#include <stdlib.h>
#include <string.h>

#include "cli/json_rows.h"
#include "cli/list.h"
#include "cli/needs.h"
#include "cli/show.h"
#include "cli/rows_text.h"

/*
 * On a terminal a longer name has a line of its own, so that it leaves room
 * for the words; in a pipe all of a unit are in one column.
 */
#define NAME_WIDTH 26 /* more on a terminal of more than three times this */

#define TEXT_SIZE 128
#define GENERIC_WIDTH 22 /* of the longest generic name */

/* The columns of one unit's events. */
struct columns {
    const struct machine_row *machine; /* of the events */
    size_t name, choice, standing;
    int digits; /* of codes */
    bool sl;    /* beside the code */
};

/* Returns whether "EVENT.UMASK" or the words of the unit mask match. */
static bool
umask_matches(const struct list *l, const struct event_row *e,
              const struct umask_row *u)
{
    char dotted[TEXT_SIZE];
    const char *const names[] = {dotted};
    const char *const texts[] = {u->brief};

    snprintf(dotted, sizeof(dotted), "%s.%s", e->name, u->name);
    return list_matches(l, names, u->name[0] != '\0', texts, 1);
}

/* Returns whether the event itself matches, whatever its unit masks do. */
static bool
event_matches(const struct list *l, const struct event_row *e)
{
    const char *names[24] = {e->name};
    const char *const texts[] = {e->brief, e->category};
    char code[16], full[TEXT_SIZE];
    size_t count = 1;

    snprintf(full, sizeof(full), "%s/%s", e->unit, e->name);
    names[count++] = full;
    for (const char *const *a = e->aliases; *a != NULL && count < 24; a++)
        names[count++] = *a;
    if (l->pattern != NULL && e->code >= 0) {
        snprintf(code, sizeof(code), "0x%x", (unsigned)e->code);
        if (strcasecmp(code, l->pattern) == 0)
            return true;
    }
    return list_matches(l, names, count, texts, 2);
}

/* Returns whether the event or one of its unit masks matches. */
static bool
any_matches(const struct list *l, const struct event_row *e)
{
    bool match = event_matches(l, e);

    for (size_t i = 0; i < e->umask_count && !match; i++)
        match = umask_matches(l, e, &e->umasks[i]);
    return match;
}

/* Writes what stands above the event: a category, its sl, its only counter. */
static void
event_heading(const struct machine_row *m, const struct event_row *e,
              char *text, size_t size)
{
    text[0] = '\0';
    if (e->category != NULL)
        snprintf(text, size, "%s", e->category);
    for (size_t i = 0; e->sl >= 0 && i < m->group_count; i++) {
        const struct group_row *g = &m->groups[i];
        if (g->sl == e->sl && strcmp(m->units[g->unit].name, e->unit) == 0)
            snprintf(text, size, "sl 0x%02x: %s", (unsigned)g->sl, g->title);
    }
    if (text[0] == '\0' && __builtin_popcount(e->counters) == 1 &&
        e->counters != counters_of_unit(m, e->unit))
        snprintf(text, size, "on %s alone",
                 m->counters[__builtin_ctz(e->counters)].name);
}

/* Writes how the event is chosen: its number, or its code. */
static void
choice_text(const struct columns *c, const struct event_row *e, char *text,
            size_t size)
{
    text[0] = '\0';
    if (e->number >= 0)
        snprintf(text, size, "%d", e->number);
    else if (e->code >= 0 && c->sl && e->sl >= 0)
        snprintf(text, size, "0x%0*x sl %d", c->digits, (unsigned)e->code,
                 e->sl);
    else if (e->code >= 0)
        snprintf(text, size, "0x%0*x", c->digits, (unsigned)e->code);
}

static size_t
most(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* Finds the widths of the columns. */
static struct columns
columns_of(const struct screen *s, const struct machine_row *m,
           const struct event_row *const *events, size_t count)
{
    const size_t widest =
        s->width > 0 ? most(NAME_WIDTH, s->width / 3) : SIZE_MAX;
    struct columns c = {.machine = m, .digits = 1, .sl = m->group_count == 0};
    char text[32];

    for (size_t i = 0; i < m->event_count; i++)
        while (strcmp(m->events[i].unit, events[0]->unit) == 0 &&
               m->events[i].code >= 0 && m->events[i].code >> 4 * c.digits != 0)
            c.digits++;
    for (size_t i = 0; i < count; i++) {
        const struct event_row *e = events[i];
        const size_t length = strlen(e->name);
        c.name = most(c.name, length < widest ? length : widest);
        choice_text(&c, e, text, sizeof(text));
        c.choice = most(c.choice, strlen(text));
        c.standing = most(c.standing, strlen(machine_standing(m, e->fidelity)));
    }
    return c;
}

/* Prints an event; where details are wanted or the event itself does not match,
 * with unit masks. */
static void
print_event(const struct list *l, const struct columns *c,
            const struct event_row *e, bool details)
{
    struct screen *s = l->s;
    const char *standing = machine_standing(c->machine, e->fidelity);
    const bool dim = s->color && e->fidelity == FIDELITY_IDLE;
    const size_t length = strlen(e->name);
    size_t used = 2 + most(c->name, length);
    char choice[32];

    fprintf(s->out, "  %-*s", (int)c->name, e->name);
    if (s->width > 0 && length > c->name) {
        fprintf(s->out, "\n  %*s", (int)c->name, "");
        used = 2 + c->name;
    }
    choice_text(c, e, choice, sizeof(choice));
    if (c->choice > 0)
        fprintf(s->out, "  %-*s", (int)c->choice, choice);
    fprintf(s->out, "  %s%-*s%s  ", dim ? "\033[2m" : "", (int)c->standing,
            standing, dim ? "\033[0m" : "");
    used += (c->choice > 0 ? 2 + c->choice : 0) + 2 + c->standing + 2;
    screen_rest(s, used, e->brief);
    const bool matches = event_matches(l, e);
    if (details && *e->aliases != NULL) {
        fprintf(s->out, "      also");
        for (const char *const *a = e->aliases; *a != NULL; a++)
            fprintf(s->out, " %s", *a);
        fprintf(s->out, "\n");
    }
    for (size_t i = 0; (details || !matches) && i < e->umask_count; i++)
        if (matches || umask_matches(l, e, &e->umasks[i]))
            umask_print(s, 6, umask_width(e), &e->umasks[i], NULL, false);
}

/* Prints the events under the heading of the event `first`, and makes NULL of
 * them. */
static void
print_group(const struct list *l, const struct machine_row *m,
            const struct event_row **events, size_t count, size_t first,
            const struct columns *c, bool details)
{
    char heading[TEXT_SIZE], other[TEXT_SIZE];

    event_heading(m, events[first], heading, sizeof(heading));
    if (heading[0] != '\0')
        screen_heading(l->s, "\n%s", heading);
    for (size_t i = first; i < count; i++) {
        if (events[i] == NULL)
            continue;
        event_heading(m, events[i], other, sizeof(other));
        if (strcmp(heading, other) != 0)
            continue;
        print_event(l, c, events[i], details);
        events[i] = NULL;
    }
}

/* Prints the events, those with a heading first; `events` is used up. */
static void
print_groups(const struct list *l, const struct machine_row *m,
             const struct event_row **events, size_t count, bool details)
{
    const struct columns c = columns_of(l->s, m, events, count);
    char heading[TEXT_SIZE];
    bool headed = false;

    for (size_t i = 0; i < count; i++) {
        if (events[i] == NULL)
            continue;
        event_heading(m, events[i], heading, sizeof(heading));
        if (heading[0] == '\0')
            continue;
        print_group(l, m, events, count, i, &c, details);
        headed = true;
    }
    for (size_t i = 0; i < count; i++) {
        if (events[i] == NULL)
            continue;
        if (headed)
            screen_heading(l->s, "\nOthers");
        print_group(l, m, events, count, i, &c, details);
    }
}

/* Returns whether the generic name, or what stands for it, matches. */
static bool
generic_matches(const struct list *l, const struct machine_row *m, int id)
{
    const struct generic_row *row = &tally_generics[id];
    const char *names[12] = {row->name, m->generics[id].own};
    size_t count = 2;

    for (const char *const *a = row->aliases; *a != NULL && count < 12; a++)
        names[count++] = *a;
    return list_matches(l, names, count, &row->brief, 1);
}

/* Prints the generic names that match, with what stands for each; returns how
 * many. */
static size_t
print_generics(const struct list *l, const struct machine_row *m, bool *started)
{
    struct screen *s = l->s;
    char text[SHOW_TEXT];
    size_t count = 0;

    for (int id = 0; id < GENERIC_COUNT; id++) {
        if (!generic_matches(l, m, id))
            continue;
        if (count++ == 0) {
            fprintf(s->out, "%s", *started ? "\n" : "");
            screen_heading(s, "%s, generic names: the same on every machine",
                           m->name);
        }
        generic_text(m, id, text, sizeof(text));
        const int used =
            fprintf(s->out, "  %-*s  %-9s  ", GENERIC_WIDTH,
                    tally_generics[id].name, generic_standing(m, id));
        screen_rest(s, (size_t)used, text);
        *started = true;
    }
    return count;
}

/* Prints the events of a machine by units, and generic names; returns how many.
 * A unit that another document describes is one row, which names the document.
 * `*started`: something is printed above. */
static size_t
print_machine(const struct list *l, const struct machine_row *m, bool details,
              bool *started)
{
    const struct event_row **events =
        calloc(m->event_count, sizeof(const struct event_row *));
    size_t shown = 0;

    for (size_t i = 0; events != NULL && i < m->unit_count; i++) {
        const struct unit_row *u = &m->units[i];
        size_t count = 0;
        for (size_t k = 0; k < m->event_count; k++)
            if (strcmp(m->events[k].unit, u->name) == 0 &&
                any_matches(l, &m->events[k]))
                events[count++] = &m->events[k];
        if (count == 0 && (u->elsewhere == NULL ||
                           !list_matches(l, &u->name, 1, &u->brief, 1)))
            continue;
        fprintf(l->s->out, "%s", *started ? "\n" : "");
        screen_heading(l->s, "%s, unit %s: %s", m->name, u->name, u->brief);
        if (u->elsewhere != NULL) {
            fprintf(l->s->out, "    described elsewhere: ");
            screen_prose(l->s, 25, 4, u->elsewhere);
        } else {
            print_groups(l, m, events, count, details);
        }
        shown += count > 0 ? count : 1;
        *started = true;
    }
    free(events);
    return shown + print_generics(l, m, started);
}

/* Adds the generic names that match to the JSON. */
static void
add_generics(struct list *l, const struct machine_row *m)
{
    static const char *const kinds[] = {
        [STANDS_EVENT] = "event",
        [STANDS_SUM] = "sum",
        [STANDS_MODEL] = "model",
        [STANDS_NONE] = "none",
    };

    for (int id = 0; id < GENERIC_COUNT; id++) {
        const struct generic_event *g = &m->generics[id];
        if (!generic_matches(l, m, id))
            continue;
        json_t *row = json_object();
        json_set_text(row, "name", tally_generics[id].name);
        json_object_set_new(row, "aliases",
                            json_texts(tally_generics[id].aliases));
        json_set_text(row, "stands", kinds[g->kind]);
        json_set_text(row, "own", g->own);
        json_set_text(row, "fidelity", generic_standing(m, id));
        json_set_text(row, "differs", g->differs);
        json_set_text(row, "reason", g->reason);
        if (l->machine == NULL)
            json_set_text(row, "machine", m->name);
        json_array_append_new(l->generic, row);
    }
}

size_t
list_events(struct list *l)
{
    bool started = false;
    size_t shown = 0, few = 0;

    if (l->json)
        l->generic = json_array();
    for (size_t i = 0; !l->json && i < MACHINE_COUNT && few <= LIST_FEW; i++)
        for (size_t k = 0; k < tally_machines[i].event_count; k++)
            few += list_has(l, &tally_machines[i]) &&
                   event_matches(l, &tally_machines[i].events[k]);
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        if (!list_has(l, m))
            continue;
        if (!l->json) {
            shown +=
                print_machine(l, m, l->details || few <= LIST_FEW, &started);
            continue;
        }
        add_generics(l, m);
        for (size_t k = 0; k < m->event_count; k++)
            if (any_matches(l, &m->events[k]))
                list_add(l, m, event_json(m, &m->events[k]));
    }
    if (!l->json)
        shown += list_software(l, started);
    return shown;
}
