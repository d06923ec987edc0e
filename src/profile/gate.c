/* SPDX-License-Identifier: MIT */
#include "profile/gate.h"

#include <string.h>

static void
add_region(const struct region *region, struct totals *turns)
{
    const unsigned count = region_turns(region);
    const unsigned ended = atomic_load(&region->head->threads);
    const unsigned strands = atomic_load(&region->head->strands);

    for (unsigned i = 0; i < ended && i < REGION_THREADS; i++) {
        for (unsigned turn = 0; turn < count; turn++)
            totals_add(&turns[turn], &region->threads[i].totals[turn]);
    }
    for (unsigned i = 0; i < strands; i++) {
        struct region_strand *s = region_map_strand(region, i, NULL);
        for (unsigned turn = 0; s != NULL && turn < count; turn++) {
            struct totals sum;
            region_sum(region, s, turn, &sum);
            totals_add(&turns[turn], &sum);
        }
        region_unmap_strand(s);
    }
}

static void
add_all(int fd, unsigned regions, struct totals *turns)
{
    for (unsigned i = 0; i < regions && i < SESSION_REGIONS; i++) {
        struct region region;
        if (region_map(fd, i, &region) != 0)
            continue;
        if (atomic_load(&region.head->state) != REGION_FREE)
            add_region(&region, turns);
        region_unmap(&region);
    }
}

void
gate_turn(struct gate *gate, bool open, int fd, unsigned regions)
{
    struct totals now[REGION_TURNS];

    if (open == gate->open)
        return;
    memset(now, 0, sizeof(now));
    add_all(fd, regions, now);
    gate->open = open;
    gate->opened += open;
    if (open)
        memcpy(gate->from, now, sizeof(now));
    for (unsigned t = 0; !open && t < REGION_TURNS; t++) {
        for (unsigned s = 0; s < SIGNAL_COUNT; s++) {
            const uint64_t from = gate->from[t].signal[s];
            const uint64_t to = now[t].signal[s];
            gate->sum[t].signal[s] += to > from ? to - from : 0;
        }
    }
}
