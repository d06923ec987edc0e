/* SPDX-License-Identifier: MIT */
#include "machine/edges.h"

#include "machine/recorder.h"

/* Returns a number that changes with each misprediction of a branch. */
static uint64_t
mispredictions(const uint64_t *total)
{
    return total[SIGNAL_NOT_TAKEN_MISPREDICTS] +
           total[SIGNAL_TAKEN_MISPREDICTS] + total[SIGNAL_FAR_MISPREDICTS] +
           total[SIGNAL_INDIRECT_MISPREDICTS] +
           total[SIGNAL_RETURN_MISPREDICTS];
}

/* Counts an edge between two blocks. The first two that follow a block are at
 * hand, which are all but for jumps, calls and returns through registers. */
static void
count(struct recorder *r, uint32_t from, uint32_t to, bool wrong)
{
    struct record_edges *e = &r->record->edges[from];

    for (unsigned i = 0; to != 0 && i < 2; i++) {
        if (e->to[i] == 0)
            e->to[i] = to;
        if (e->to[i] == to) {
            e->count[i]++;
            e->mispredicted[i] += wrong;
            return;
        }
    }
    recorder_add(r, record_edge_key(from, to, wrong), 1);
}

void
edges_enter(struct strand *s, const struct block *b)
{
    struct recorder *r = s->recorder;

    if (r == NULL)
        return;
    struct edges *e = &r->edges;
    const uint32_t last = r->record->last;
    const uint32_t number =
        block_number(b) != RECORD_NO_ROOM ? block_number(b) : 0;
    const bool wrong = e->total != NULL && mispredictions(e->total) != e->wrong;
    if (last != 0)
        count(r, last, number, wrong);
    else if (!r->outside)
        count(r, 0, number, false);
    e->total = s->total;
    e->wrong = mispredictions(s->total);
    r->record->last = r->outside ? 0 : number;
}

void
edges_restart(struct edges *e)
{
    e->total = NULL;
}
