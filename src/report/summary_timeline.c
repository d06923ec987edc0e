/* SPDX-License-Identifier: MIT */
#include "report/summary_timeline.h"

#include <stdlib.h>

#include "profile/summary_table.h"

#define POINTS_TOTAL 200000u /* of all traces */
#define POINTS_MOST 512u     /* of one */
#define POINTS_LEAST 8u
#define TRACES_MAX 20000u

int
timeline_init(struct timeline *t)
{
    *t = (struct timeline){.table = summary_table_create()};
    return t->table != NULL ? 0 : TALLY_ENOMEM;
}

void
timeline_finish(struct timeline *t)
{
    for (size_t i = 0; i < t->count; i++) {
        free(t->traces[i]->points);
        free(t->traces[i]);
    }
    free(t->traces);
    summary_table_destroy(t->table);
    *t = (struct timeline){0};
}

static struct timeline_trace *
create(struct timeline *t, const struct summary_key *key)
{
    struct timeline_trace *trace = NULL;

    if ((t->count & (t->count - 1)) == 0) {
        struct timeline_trace **more = realloc(
            t->traces, (t->count > 0 ? 2 * t->count : 1) * sizeof(*more));
        if (more == NULL)
            return NULL;
        t->traces = more;
    }
    trace = calloc(1, sizeof(*trace));
    if (trace == NULL || summary_table_add(t->table, key, trace) != 0) {
        free(trace);
        return NULL;
    }
    t->traces[t->count++] = trace;
    return trace;
}

/* Adds a point to a trace, if the point is one of those that are kept. */
static int
keep(struct timeline *t, struct timeline_trace *trace, uint64_t cycles,
     uint64_t value)
{
    const uint32_t share = POINTS_TOTAL / (uint32_t)t->count;
    const uint32_t most = share > POINTS_MOST    ? POINTS_MOST
                          : share < POINTS_LEAST ? POINTS_LEAST
                                                 : share;
    const uint64_t place = trace->seen++;

    while (place % trace->stride == 0 && trace->count >= most) {
        /* The trace is full: every second point goes. */
        for (uint32_t i = 0; 2 * i < trace->count; i++)
            trace->points[i] = trace->points[2 * i];
        trace->count = (trace->count + 1) / 2;
        trace->stride *= 2;
    }
    if (place % trace->stride != 0)
        return 0;
    if (trace->count == trace->room) {
        const uint32_t room = trace->room > 0 ? 2 * trace->room : 8;
        struct timeline_point *more =
            realloc(trace->points, room * sizeof(*more));
        if (more == NULL)
            return TALLY_ENOMEM;
        trace->points = more;
        trace->room = room;
    }
    trace->points[trace->count++] = (struct timeline_point){cycles, value};
    return 0;
}

/* Adds a point to its trace. With TRACES_MAX traces, more than a picture can
 * show, points of new traces are dropped. */
static int
add(struct timeline *t, const struct summary_interval *in,
    enum timeline_kind kind, uint64_t code, uint64_t value)
{
    const uint64_t cpu = in->update->cpu;
    const struct summary_key key = {
        cpu, (uint64_t)kind << 32 | (uint32_t)in->update->group, code};
    struct timeline_trace *trace = summary_table_find(t->table, &key);

    if (trace == NULL) {
        if (t->count == TRACES_MAX)
            return 0;
        trace = create(t, &key);
        if (trace == NULL)
            return TALLY_ENOMEM;
        trace->cpu = cpu;
        trace->kind = kind;
        trace->group = in->update->group;
        trace->code = code;
        trace->stride = 1;
    }
    return keep(t, trace, in->start_cycles, value);
}

int
timeline_add(struct timeline *t, const struct summary_interval *in)
{
    int error = add(t, in, TIMELINE_CYCLES, 0, in->cycles);

    if (error == 0 && in->has_hi)
        error = add(t, in, TIMELINE_EVENT, in->hi_code, in->hi);
    if (error == 0 && in->has_lo && !(in->has_hi && in->lo_code == in->hi_code))
        error = add(t, in, TIMELINE_EVENT, in->lo_code, in->lo);
    for (size_t i = 0; i < in->word_count && error == 0; i++)
        error = add(t, in, TIMELINE_WORD, i, in->words[i]);
    return error;
}
