/* SPDX-License-Identifier: MIT */
#include "machine/exclusion.h"

#include <assert.h>

#include "machine/cache_dirty.h"

#define AHEAD 8 /* requests whose sets are fetched from the host's memory */

/* Accesses a cache that keeps no dirty lines. *gone becomes the line that a
 * miss drove out, or CACHE_NOTHING. Returns whether the line was there. */
static bool
access_line(struct cache *c, uint64_t line, uint64_t *gone)
{
    const uint64_t set = line & c->set_mask;
    struct cache_driven driven;

    if (c->columns == 0) {
        const bool hit = cache_touch_list(c, line, false, &driven);
        *gone = driven.any;
        return hit;
    }
    const uint32_t last = c->tags[set * c->columns + c->ways - 1];
    const bool hit = cache_access(c, line);
    *gone = hit || last == 0 ? CACHE_NOTHING
                             : (uint64_t)(last - 1) << c->tag_shift | set;
    return hit;
}

size_t
exclusion_l2(struct strand *s, struct request *queue, size_t count,
             uint32_t *misses, uint64_t *gone)
{
    struct cache *const l2 = s->l2;
    const struct cache *const l3 = &s->chip->levels[0].cache;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct request r = queue[i];
        if (i + AHEAD < count)
            cache_prefetch(l2, queue[i + AHEAD].addr >> l2->line_shift);
        if (access_line(l2, r.addr >> l2->line_shift, &gone[kept]))
            continue;
        cache_prefetch(l3, r.addr >> l3->line_shift);
        if (gone[kept] != CACHE_NOTHING)
            cache_prefetch(l3, gone[kept]);
        misses[r.kind]++;
        queue[kept++] = r;
    }
    return kept;
}

size_t
exclusion_l3(struct strand *s, struct request *queue, size_t count,
             uint32_t *misses, const uint64_t *gone)
{
    struct cache *const l3 = &s->chip->levels[0].cache;
    size_t kept = 0;

    for (size_t i = 0; i < count; i++) {
        const struct request r = queue[i];
        bool dirty;
        const bool found = exclusion_take(s, &r, &dirty);
        if (gone[i] != CACHE_NOTHING)
            cache_access(l3, gone[i]);
        misses[r.kind] += !found;
        queue[kept] = r;
        kept += !found;
    }
    return kept;
}

bool
exclusion_take(struct strand *s, const struct request *r, bool *dirty)
{
    struct cache *const l3 = &s->chip->levels[0].cache;
    const uint64_t line = r->addr >> l3->line_shift;
    const bool has = cache_has(l3, line);
    const bool peer = (r->flags & REQUEST_PEER) != 0;
    const bool takes =
        r->kind == REQUEST_STORE || (r->flags & REQUEST_OWN) != 0;

    /* No dirty lines are kept where cores take lines from each other. */
    assert(!peer || l3->dirty == NULL);
    *dirty = false;
    if (has && peer && !takes)
        cache_access(l3, line);
    else if (has)
        *dirty = cache_invalidate(l3, line);
    return has || peer;
}
