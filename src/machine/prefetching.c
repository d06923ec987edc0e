/* SPDX-License-Identifier: MIT */
#include "machine/prefetching.h"

#include "machine/cache_dirty.h"
#include "machine/queue.h"
#include "machine/recorder.h"

/* Requests that no prefetcher sees. */
#define UNSEEN (REQUEST_BIT(REQUEST_WALK_I) | REQUEST_BIT(REQUEST_WALK_D))

/* How the requests of a strand go through the caches. */
struct way {
    struct strand *s;
    prefetching_taker *take;
    void *context;
};

/* A cache with its prefetcher, and what the two raise. */
struct prefetched {
    struct prefetcher *prefetcher;
    const struct cache *cache;
    unsigned kind; /* of the prefetcher's requests */
    unsigned useful, useless;
};

/* Returns a number of the instruction of a request: of the end of the block
 * that runs, and how far the instruction is from there. The number is the same
 * in blocks that begin at different places and end at one branch. */
static uint64_t
instruction_of(const struct strand *s, const struct request *r)
{
    const struct block *const b = s->previous;

    return (b->last_pc << 16) + (uint16_t)(b->instructions - r->instruction);
}

/* Returns where the program sees an address that the caches see, or the other
 * way round. */
static uint64_t
turned(const struct strand *s, uint64_t addr)
{
    return layout_address(s->chip->layout, addr);
}

/*
 * A request has asked the level. `had`: the cache had the line before. Finds
 * the lines that the prefetcher asks for now, and returns how many.
 */
static unsigned
ask(const struct strand *s, const struct prefetched *l, const struct request *r,
    bool had, uint64_t *lines)
{
    const unsigned shift = l->cache->line_shift;
    const uint64_t line = r->addr >> shift;
    const bool waited = prefetcher_take(l->prefetcher, line);

    if (had && !waited)
        return 0;
    /* A line that waits and is gone was taken by another core. */
    s->total[had ? l->useful : l->useless] += waited;
    if (!had)
        s->total[l->useless] +=
            prefetcher_take_lost(l->prefetcher, l->cache, line);
    if (r->kind == l->kind) {
        prefetcher_brought(l->prefetcher, line);
        return 0;
    }
    if (UNSEEN >> r->kind & 1)
        return 0;
    return prefetcher_ask(l->prefetcher, turned(s, r->addr) >> shift,
                          instruction_of(s, r), lines);
}

static void pass(const struct way *w, const struct request *r);

/* Asks for lines that a prefetcher wants and its cache lacks, for the
 * instruction of a request. */
static void
fetch(const struct way *w, const struct prefetched *l, const struct request *r,
      const uint64_t *lines, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct request ahead = *r;
        ahead.addr = turned(w->s, lines[i] << l->cache->line_shift);
        ahead.kind = (uint8_t)l->kind;
        ahead.flags = 0;
        if (!cache_has(l->cache, ahead.addr >> l->cache->line_shift))
            pass(w, &ahead);
    }
}

/* Makes the line that was the most recent of its set in the L1D so again. */
static void
restore(struct strand *s, uint64_t line)
{
    struct cache *const l1d = &s->core->l1d;
    struct cache_driven driven;

    if (cache_search(l1d, line) == l1d->ways)
        return;
    if (l1d->dirty != NULL)
        cache_touch(l1d, line, false, &driven);
    else
        cache_access(l1d, line);
}

/* Takes a request through the caches, and what it makes prefetchers ask for. */
static void
pass(const struct way *w, const struct request *r)
{
    struct strand *const s = w->s;
    struct core *const core = s->core;
    const struct prefetched first = {
        &core->l1d_prefetcher, &core->l1d, REQUEST_NEAR_AHEAD,
        SIGNAL_L1D_PREFETCHES_USEFUL, SIGNAL_L1D_PREFETCHES_USELESS};
    const struct prefetched second = {
        s->chip->shared_l2 ? &s->chip->l2_prefetcher : &core->l2_prefetcher,
        s->l2, REQUEST_FAR_AHEAD, SIGNAL_L2_PREFETCHES_USEFUL,
        SIGNAL_L2_PREFETCHES_USELESS};
    const bool data = (DATA_KINDS >> r->kind & 1) != 0;
    const bool near =
        data && cache_has(first.cache, r->addr >> first.cache->line_shift);
    const bool far =
        s->l2 != NULL && cache_has(s->l2, r->addr >> s->l2->line_shift);
    uint64_t near_lines[PREFETCHER_MOST], far_lines[PREFETCHER_MOST];
    uint64_t recent;
    unsigned near_count = 0, far_count = 0;
    struct request taken = *r;

    const bool keeps =
        r->kind == REQUEST_NEAR_AHEAD &&
        cache_last(&core->l1d, r->addr >> core->l1d.line_shift, &recent) &&
        !prefetcher_waits(&core->l1d_prefetcher, recent);
    const bool behind = w->take(s, &taken, w->context);
    if (keeps)
        restore(s, recent);
    if (data && first.prefetcher->kind != L1D_PREFETCH_NONE)
        near_count = ask(s, &first, r, near, near_lines);
    if (s->l2 != NULL && (data ? !near : behind) &&
        second.prefetcher->kind != L2_PREFETCH_NONE)
        far_count = ask(s, &second, r, far, far_lines);
    fetch(w, &first, r, near_lines, near_count);
    fetch(w, &second, r, far_lines, far_count);
}

void
prefetching_take(struct strand *s, const struct request *r,
                 prefetching_taker *take, void *context)
{
    pass(&(struct way){s, take, context}, r);
    if (s->recorder != NULL)
        recorder_charge_request(s, r);
}

struct prefetching_lost
prefetching_lose(struct core *core, uint64_t line)
{
    struct prefetching_lost lost = {0, 0};

    if (core->l1d_prefetcher.kind != L1D_PREFETCH_NONE)
        lost.l1d = prefetcher_take(&core->l1d_prefetcher, line);
    if (core->l2_prefetcher.kind != L2_PREFETCH_NONE)
        lost.l2 = prefetcher_take(&core->l2_prefetcher, line);
    return lost;
}
