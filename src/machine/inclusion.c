/* SPDX-License-Identifier: MIT */
#include "machine/inclusion.h"

#include "machine/strand.h"

/* An L1 of a core, and what its strands know of it. */
struct first_level {
    struct cache *cache;
    bool data;
};

/* The order of a set that a lone strand's filters have turned is put right. */
static void
settle_set(struct strand *s, const struct first_level *l1, uint64_t addr)
{
    const struct filter *f = l1->data ? &s->data : &s->fetch;
    uint64_t *seconds = l1->data ? s->data.second : s->fetch.second;
    uint64_t *second = &seconds[addr >> f->shift & f->mask];
    struct cache *c = l1->cache;

    if (*second & SECOND_TURNED)
        cache_turn(c, addr >> c->line_shift & c->set_mask);
    *second = NO_LINE;
}

/* First the cache: what strands learn between the two is forgotten. */
static void
take_line(struct strand *s, const struct first_level *l1, uint64_t addr)
{
    if (runs_alone(s))
        settle_set(s, l1, addr);
    cache_invalidate(l1->cache, addr >> l1->cache->line_shift);
    for (struct strand *o = s->core->strands; o != NULL; o = o->sibling)
        filter_put(l1->data ? &o->data : &o->fetch, addr, NO_LINE);
}

/* Takes out what an L1 has of a line of the L2. How many lines. */
static uint64_t
take(struct strand *s, const struct first_level *l1, uint64_t line)
{
    const struct cache *l2 = s->l2, *c = l1->cache;
    const uint64_t step = (uint64_t)1 << c->line_shift;
    const uint64_t from = line << l2->line_shift;
    const uint64_t to = from + ((uint64_t)1 << l2->line_shift);
    uint64_t taken = 0;

    for (uint64_t at = from & ~(step - 1); at < to; at += step) {
        if (!cache_has(c, at >> c->line_shift) ||
            cache_search(l2, line) < l2->ways)
            continue;
        take_line(s, l1, at);
        taken++;
    }
    return taken;
}

void
inclusion_settle(struct strand *s)
{
    const struct first_level l1i = {&s->core->l1i, false};
    const struct first_level l1d = {&s->core->l1d, true};
    const bool alone = runs_alone(s);

    if (!alone)
        lock_take(&s->core->lock);
    for (size_t i = 0; i < s->back->driven.count; i++) {
        s->total[SIGNAL_L1I_EVICTION_INVALIDATIONS] +=
            take(s, &l1i, s->back->driven.lines[i]);
        s->total[SIGNAL_L1D_EVICTION_INVALIDATIONS] +=
            take(s, &l1d, s->back->driven.lines[i]);
    }
    if (!alone)
        lock_give(&s->core->lock);
    s->back->driven.count = 0;
    s->back->driven.asked = 0;
}
