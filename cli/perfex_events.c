/* SPDX-License-Identifier: MIT */
#include "cli/perfex_events.h"

#include <stdlib.h>
#include <string.h>

/* Returns whether a counter of a strand counts the event. */
static bool
has_counter(const struct event_row *e)
{
    return e->counters != 0 && !e->reserved && strcmp(e->unit, "cpu") == 0;
}

/* Returns the event of cycles on this counter, or NULL. */
static const struct event_row *
cycles_on(const struct machine_row *m, unsigned counter)
{
    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        if (has_counter(e) && e->signal_count == 1 &&
            e->signals[0] == SIGNAL_CYCLES && (e->counters >> counter & 1) != 0)
            return e;
    }
    return NULL;
}

/* Appends an event, once. */
static void
add(struct perfex_events *events, const struct event_row *e)
{
    for (size_t i = 0; i < events->count; i++)
        if (events->all[i] == e)
            return;
    events->all[events->count++] = e;
}

/* Logs an error of a list in the environment with the name of the variable. */
static void
write_line(void *user, enum tally_level level, const char *text)
{
    (void)level;
    tally_logf(&command_log, TALLY_LOG_ERROR, "%s: %s", (const char *)user,
               text);
}

/* Adds the events of the list that -e or the environment gave. */
static int
add_listed(const struct perfex_request *r, const struct machine_row *m,
           struct perfex_events *events)
{
    const struct event_row **list = NULL;
    size_t count = 0;
    const struct tally_log log = {write_line, (void *)r->events_from};
    int error = event_list_parse(
        m, r->events, r->events_from ? &log : &command_log, &list, &count);

    for (size_t i = 0; error == 0 && i < count; i++) {
        if (!has_counter(list[i]))
            error = tally_fail(&command_log, TALLY_ERULE,
                               "no counter of %s counts %s; tally count does",
                               m->name, list[i]->name);
        else if (events->count < m->event_count)
            add(events, list[i]);
    }
    free(list);
    return error;
}

/* Adds cycles for a counter that nobody chose an event for, as on IRIX. */
static int
fill_up(const struct machine_row *m, struct perfex_events *events)
{
    const struct event_row *const first = cycles_on(m, 0);
    const struct event_row *const second = cycles_on(m, 1);

    if (events->count == 0 && first == NULL)
        return tally_fail(&command_log, TALLY_EUNKNOWN,
                          "no counter of %s counts cycles, which perfex counts "
                          "by default; choose events with -e",
                          m->name);
    if (m->family != FAMILY_R10000 || events->count > 1)
        return 0;
    if (events->count == 0 || events->all[0]->counters != 1)
        add(events, first);
    if (second != NULL && events->count == 1 && events->all[0]->counters == 1)
        add(events, second);
    return 0;
}

/* Adds every event that a counter counts. */
static int
choose_all(const struct machine_row *m, struct perfex_events *events)
{
    for (size_t i = 0; i < m->event_count; i++)
        if (has_counter(&m->events[i]))
            add(events, &m->events[i]);
    return events->count > 0
               ? 0
               : tally_fail(&command_log, TALLY_ERULE,
                            "%s has no counters, as perfex needs them; tally "
                            "count counts on it",
                            m->name);
}

int
perfex_events_choose(const struct perfex_request *r,
                     const struct machine_row *m, struct perfex_events *events)
{
    int error = 0;

    *events = (struct perfex_events){
        .all = calloc(m->event_count + 1, sizeof(*events->all)),
        .counted = calloc(m->event_count + 1, sizeof(*events->counted)),
    };
    if (events->all == NULL || events->counted == NULL)
        return tally_fail(&command_log, TALLY_ENOMEM,
                          "no memory for the events");
    if (r->all)
        error = choose_all(m, events);
    else if (r->events != NULL)
        error = add_listed(r, m, events);
    if (error == 0 && !r->all)
        error = fill_up(m, events);
    for (size_t i = 0; i < events->count; i++)
        if (events->all[i]->fidelity != FIDELITY_IDLE)
            events->counted[events->counted_count++] = events->all[i];
    return error;
}

void
perfex_events_finish(struct perfex_events *events)
{
    free(events->all);
    free(events->counted);
    *events = (struct perfex_events){0};
}

int
perfex_events_conflict(const struct machine_row *m,
                       const struct perfex_events *events)
{
    const struct event_row *a = events->all[0], *b = events->all[1];

    if (events->count != 2 || a->counters != b->counters ||
        (a->counters & (a->counters - 1)) != 0)
        return 0;
    return tally_fail(&command_log, TALLY_ERULE,
                      "conflicting counters: %s and %s are both counted on %s "
                      "alone; choose another, or -a",
                      a->name, b->name,
                      m->counters[__builtin_ctz(a->counters)].name);
}
