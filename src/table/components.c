/* SPDX-License-Identifier: MIT */
#include "table/signals.h"

static bool
holds(enum condition_id condition, const uint64_t *params)
{
    return condition == CONDITION_NONE || condition_holds(condition, params);
}

uint64_t
components_implied(uint64_t asked, const uint64_t *params)
{
    uint64_t components = asked, before;

    do {
        before = components;
        for (size_t c = 0; c < COMPONENT_COUNT; c++) {
            const struct component_row *row = &tally_components[c];
            for (size_t i = 0;
                 (components & row->bit) != 0 && i < row->implied_count; i++) {
                if (holds(row->implies[i].where, params))
                    components |= row->implies[i].bit;
            }
        }
    } while (components != before);
    for (size_t c = 0; c < COMPONENT_COUNT; c++) {
        if (!holds(tally_components[c].possible, params))
            components &= ~tally_components[c].bit;
    }
    return components;
}

uint64_t
components_of(const struct event_row *const *events, size_t count,
              const uint64_t *params)
{
    uint64_t asked = 0;

    for (size_t e = 0; e < count; e++) {
        for (size_t s = 0; s < events[e]->signal_count; s++)
            asked |= tally_signals[events[e]->signals[s]].components;
    }
    return components_implied(asked, params);
}

/* Returns the first condition of the signal that does not hold, or NULL. */
static const struct condition_row *
broken_condition(unsigned signal, const uint64_t *params)
{
    const struct signal_row *row = &tally_signals[signal];

    for (size_t i = 0; i < row->require_count; i++) {
        const struct condition_row *c = &tally_conditions[row->requires[i]];
        if (!c->holds(params, row->copy))
            return c;
    }
    return NULL;
}

bool
signal_possible(unsigned signal, const uint64_t *params)
{
    return broken_condition(signal, params) == NULL;
}

const char *
event_lacks(const struct event_row *event, const uint64_t *params)
{
    const char *why = NULL;
    bool some = false;

    for (size_t i = 0; i < event->signal_count; i++) {
        const struct condition_row *c =
            broken_condition(event->signals[i], params);
        if (c != NULL && c->whole)
            return c->otherwise;
        if (c != NULL && why == NULL)
            why = c->otherwise;
        some |= c == NULL;
    }
    return some ? NULL : why;
}

const char *
event_starves(const struct event_row *event, unsigned feeds)
{
    unsigned lacking = 0;

    for (size_t i = 0; i < event->signal_count; i++)
        lacking |= tally_signals[event->signals[i]].needs & ~feeds;
    for (size_t i = 0; i < FEED_COUNT; i++) {
        if ((lacking & tally_feeds[i].bit) != 0)
            return tally_feeds[i].otherwise;
    }
    return NULL;
}
