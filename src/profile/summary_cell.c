/* SPDX-License-Identifier: MIT */
#include "profile/summary_cell.h"

#include <stdlib.h>

#define SERIES_MAX 150000 /* of a whole summary: about 60 MiB */

void
summary_cell_destroy(struct summary_cell *cell)
{
    if (cell == NULL)
        return;
    series_finish(&cell->cycles);
    series_finish(&cell->gaps);
    for (size_t i = 0; i < cell->event_count; i++)
        series_finish(&cell->events[i].series);
    for (size_t i = 0; i < cell->word_count; i++)
        series_finish(&cell->words[i]);
    free(cell->events);
    free(cell->words);
    free(cell);
}

/* Returns the cell's event, a new one if need be. NULL: no memory; or one event
 * too many, then *full is true. */
static struct summary_event *
event_of(struct summary *s, struct summary_cell *cell, uint64_t group,
         uint64_t code, bool *full)
{
    for (size_t i = 0; i < cell->event_count; i++)
        if (cell->events[i].code == code && cell->events[i].group == group)
            return &cell->events[i];
    *full = s->series_count >= SERIES_MAX;
    if (*full)
        return NULL;
    if (cell->event_count == cell->event_room) {
        const size_t room = cell->event_room > 0 ? 2 * cell->event_room : 4;
        struct summary_event *more =
            realloc(cell->events, room * sizeof(*more));
        if (more == NULL)
            return NULL;
        cell->events = more;
        cell->event_room = room;
    }
    s->series_count++;
    cell->events[cell->event_count] =
        (struct summary_event){.code = code, .group = group};
    return &cell->events[cell->event_count++];
}

/* Adds a count of an event. */
static int
add_event(struct summary *s, struct summary_cell *cell, uint64_t group,
          uint64_t code, uint64_t value, struct series_limit *limit, bool *full)
{
    struct summary_event *e = event_of(s, cell, group, code, full);

    if (e == NULL)
        return *full ? 0 : TALLY_ENOMEM;
    return series_add(&e->series, value, limit);
}

/* Adds the user words. */
static int
add_words(struct summary *s, struct summary_cell *cell,
          const struct summary_interval *in, struct series_limit *limit,
          bool *full)
{
    int error = 0;

    if (in->word_count > cell->word_count) {
        struct series *more = NULL;
        *full |= s->series_count + in->word_count > SERIES_MAX;
        if (*full)
            return 0;
        more = realloc(cell->words, in->word_count * sizeof(*more));
        if (more == NULL)
            return TALLY_ENOMEM;
        cell->words = more;
        for (size_t i = cell->word_count; i < in->word_count; i++)
            cell->words[i] = (struct series){0};
        s->series_count += in->word_count - cell->word_count;
        cell->word_count = in->word_count;
    }
    for (size_t i = 0; i < in->word_count && error == 0; i++)
        error = series_add(&cell->words[i], in->words[i], limit);
    return error;
}

int
summary_cell_add(struct summary *s, struct summary_cell *cell,
                 const struct summary_interval *in, struct series_limit *limit,
                 bool *full)
{
    const uint64_t group = in->update->group;
    int error = series_add(&cell->cycles, in->cycles, limit);

    cell->update_pc = in->update->pc;
    cell->start_pc = in->start_pc;
    if (error == 0 && in->has_gap)
        error = series_add(&cell->gaps, in->gap, limit);
    if (error == 0 && in->has_hi)
        error = add_event(s, cell, group, in->hi_code, in->hi, limit, full);
    /* If both counters count the same event, its count is added once. */
    if (error == 0 && in->has_lo && !(in->has_hi && in->lo_code == in->hi_code))
        error = add_event(s, cell, group, in->lo_code, in->lo, limit, full);
    return error != 0 ? error : add_words(s, cell, in, limit, full);
}
