/* SPDX-License-Identifier: MIT */
/* tally list events -m MACHINE: the kernel's software events, of the emulator
 * that runs the machine's model. */
#include <string.h>

#include "cli/json_rows.h"
#include "cli/list.h"
#include "table/software.h"

/* Returns the i-th event of the host if the list shows the event, else NULL. */
static const struct event_row *
shown_event(const struct list *l, size_t i)
{
    const struct event_row *e = &machine_find("host")->events[i];

    return event_is_software(e) &&
                   list_matches_row(l, e->name, e->aliases, e->brief, NULL)
               ? e
               : NULL;
}

/* Returns how many events of the host there are to look at: none unless one
 * machine with a model is listed. */
static size_t
event_count(const struct list *l)
{
    return l->machine != NULL && l->machine->params != NULL
               ? machine_find("host")->event_count
               : 0;
}

/* Returns the width of the longest name that is shown. */
static size_t
name_width(const struct list *l)
{
    size_t width = 0;

    for (size_t i = 0; i < event_count(l); i++) {
        const struct event_row *e = shown_event(l, i);
        if (e != NULL && strlen(e->name) > width)
            width = strlen(e->name);
    }
    return width;
}

size_t
list_software(const struct list *l, bool started)
{
    const size_t width = name_width(l);
    size_t shown = 0;

    for (size_t i = 0; i < event_count(l); i++) {
        const struct event_row *e = shown_event(l, i);
        if (e == NULL)
            continue;
        if (shown++ == 0) {
            fprintf(l->s->out, "%s", started ? "\n" : "");
            screen_heading(l->s,
                           "%s, software events: the kernel counts them of "
                           "the emulator, beside the model",
                           l->machine->name);
        }
        fprintf(l->s->out, "  %-*s  emulator  ", (int)width, e->name);
        screen_rest(l->s, 2 + width + 2 + strlen("emulator") + 2, e->brief);
        for (const char *const *a = e->aliases; l->details && *a != NULL; a++)
            fprintf(l->s->out, "      also %s\n", *a);
    }
    return shown;
}

json_t *
list_software_json(const struct list *l)
{
    json_t *rows = event_count(l) > 0 ? json_array() : NULL;

    for (size_t i = 0; i < event_count(l); i++) {
        const struct event_row *e = shown_event(l, i);
        if (e != NULL)
            json_array_append_new(rows, software_json(e));
    }
    return rows;
}
