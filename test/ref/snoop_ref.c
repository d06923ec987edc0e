/* SPDX-License-Identifier: MIT */
#include "ref/snoop_ref.h"

#define PEERS 4

static bool
has(const struct chip_ref *o, uint64_t addr)
{
    return cache_ref_has(&o->l2, addr / o->l2.line_size);
}

unsigned
snoop_ref_copies(const struct chip_ref *r, uint64_t addr)
{
    unsigned copies = 0;

    for (unsigned i = 0; (r->components & COMPONENT_SNOOP) && i < PEERS; i++)
        copies +=
            r->peers[i] != NULL && r->peers[i] != r && has(r->peers[i], addr);
    return copies;
}

/* 1 shared, 2 exclusive, 3 dirty. */
static unsigned
state(const struct chip_ref *o, uint64_t addr, bool shared)
{
    if (cache_ref_is_dirty(&o->l2, addr / o->l2.line_size))
        return 3;
    return shared ? 1 : 2;
}

/* Byte by byte, so whatever the L1's lines are. */
static void
drop(struct chip_ref *o, struct cache_ref *l1, uint64_t addr,
     enum signal_id signal)
{
    const uint64_t size = o->l2.line_size, from = addr / size * size;

    for (uint64_t at = from; at < from + size; at++) {
        if (!cache_ref_has(l1, at / l1->line_size))
            continue;
        o->signals[0][signal]++;
        cache_ref_invalidate(l1, at / l1->line_size);
    }
}

static void
forget_way(struct chip_ref *o, uint64_t line)
{
    for (uint64_t i = 0; o->l2_ways != NULL && i < o->l2.sets * o->l2.ways;
         i++) {
        if (o->l2_ways[i].line == line)
            o->l2_ways[i].line = NO_LINE;
    }
}

bool
snoop_ref_write(struct chip_ref *r, uint64_t addr, bool own)
{
    const bool shared = snoop_ref_copies(r, addr) + own > 1;
    bool dirty = false;

    for (unsigned i = 0; (r->components & COMPONENT_SNOOP) && i < PEERS; i++) {
        struct chip_ref *o = r->peers[i];
        if (o == NULL || o == r || !has(o, addr))
            continue;
        dirty |= state(o, addr, shared) == 3;
        o->signals[0][SIGNAL_EXTERNAL_INVALIDATIONS]++;
        o->signals[0][SIGNAL_EXTERNAL_INVALIDATION_STATES] +=
            state(o, addr, shared);
        drop(o, &o->l1i, addr, SIGNAL_L1I_SNOOP_INVALIDATIONS);
        drop(o, &o->l1d, addr, SIGNAL_L1D_SNOOP_INVALIDATIONS);
        forget_way(o, addr / o->l2.line_size);
        cache_ref_invalidate(&o->l2, addr / o->l2.line_size);
    }
    return dirty;
}

static void
make_clean(struct chip_ref *o, uint64_t addr)
{
    const uint64_t size = o->l2.line_size, from = addr / size * size;

    cache_ref_unmark(&o->l2, addr / size);
    for (uint64_t at = from; at < from + size; at++)
        cache_ref_unmark(&o->l1d, at / o->l1d.line_size);
}

bool
snoop_ref_read(struct chip_ref *r, uint64_t addr)
{
    const bool shared = snoop_ref_copies(r, addr) > 1;
    bool dirty = false;

    for (unsigned i = 0; (r->components & COMPONENT_SNOOP) && i < PEERS; i++) {
        struct chip_ref *o = r->peers[i];
        if (o == NULL || o == r || !has(o, addr) || state(o, addr, shared) == 1)
            continue;
        o->signals[0][SIGNAL_EXTERNAL_INTERVENTIONS]++;
        o->signals[0][SIGNAL_EXTERNAL_INTERVENTION_STATES] +=
            state(o, addr, shared);
        dirty |= state(o, addr, shared) == 3;
        make_clean(o, addr);
    }
    return dirty;
}
