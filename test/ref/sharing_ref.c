/* SPDX-License-Identifier: MIT */
#include "ref/sharing_ref.h"

#include <stdlib.h>
#include <string.h>

#include "machine/chip.h"

enum { LOADS, STORES, ATOMICS };

static bool
has_l2(const struct sharing_ref *r)
{
    return r->params[PARAM_L2_SIZE] != 0 &&
           r->params[PARAM_L2_SHARED] == L2_SHARED_CORE;
}

/* Returns the cache that stands first behind the L1s of a core, or NULL. */
static struct cache_ref *
second_of(struct sharing_ref *r, unsigned core)
{
    if (r->params[PARAM_L2_SIZE] == 0)
        return NULL;
    return &r->l2[has_l2(r) ? core : 0];
}

void
sharing_ref_init(struct sharing_ref *r, const uint64_t *params, unsigned count)
{
    memset(r, 0, sizeof(*r));
    r->params = params;
    r->count = count;
    for (unsigned i = 0; i < count; i++) {
        cache_ref_init(&r->l1i[i], params[PARAM_L1I_SIZE],
                       (uint32_t)params[PARAM_L1I_WAYS],
                       (uint32_t)params[PARAM_L1I_LINE]);
        cache_ref_init(&r->l1d[i], params[PARAM_L1D_SIZE],
                       (uint32_t)params[PARAM_L1D_WAYS],
                       (uint32_t)params[PARAM_L1D_LINE]);
        cache_ref_init(
            &r->whole[i], params[PARAM_L1D_SIZE],
            (uint32_t)(params[PARAM_L1D_SIZE] / params[PARAM_L1D_LINE]),
            (uint32_t)params[PARAM_L1D_LINE]);
        if (params[PARAM_L2_SIZE] != 0)
            cache_ref_init(&r->l2[i], params[PARAM_L2_SIZE],
                           (uint32_t)params[PARAM_L2_WAYS],
                           (uint32_t)params[PARAM_L2_LINE]);
    }
    if (params[PARAM_L3_SIZE] != 0)
        cache_ref_init(&r->l3, params[PARAM_L3_SIZE],
                       (uint32_t)params[PARAM_L3_WAYS],
                       (uint32_t)params[PARAM_L3_LINE]);
}

void
sharing_ref_finish(struct sharing_ref *r)
{
    for (unsigned i = 0; i < r->count; i++) {
        cache_ref_finish(&r->l1i[i]);
        cache_ref_finish(&r->l1d[i]);
        cache_ref_finish(&r->whole[i]);
        if (r->params[PARAM_L2_SIZE] != 0)
            cache_ref_finish(&r->l2[i]);
    }
    if (r->params[PARAM_L3_SIZE] != 0)
        cache_ref_finish(&r->l3);
    free(r->lines);
}

static struct line_ref *
line_of(struct sharing_ref *r, uint64_t line)
{
    for (size_t i = 0; i < r->line_count; i++) {
        if (r->lines[i].line == line)
            return &r->lines[i];
    }
    /* Room for twice as many whenever it is used up: a line is 4 KB or more,
     * and a sanitizer's realloc() copies always. */
    if ((r->line_count & (r->line_count - 1)) == 0) {
        const size_t room = r->line_count > 0 ? 2 * r->line_count : 1;
        r->lines = realloc(r->lines, room * sizeof(*r->lines));
        if (r->lines == NULL)
            abort();
    }
    struct line_ref *const l = &r->lines[r->line_count++];
    memset(l, 0, sizeof(*l));
    l->line = line;
    l->writer = -1;
    return l;
}

/* Returns whether the caches of a core have the line. */
static bool
core_has(const struct sharing_ref *r, unsigned core, uint64_t line)
{
    return cache_ref_has(&r->l1d[core], line) ||
           (has_l2(r) && cache_ref_has(&r->l2[core], line));
}

/* What the caches of its writer have lost is modified no more. */
static void
forget_writers(struct sharing_ref *r)
{
    for (size_t i = 0; i < r->line_count; i++) {
        struct line_ref *const l = &r->lines[i];
        if (l->writer >= 0 && !core_has(r, (unsigned)l->writer, l->line))
            l->writer = -1;
    }
}

/* Returns whether the caches of another core have the line, where each has an
 * L2. */
static bool
others_have(const struct sharing_ref *r, unsigned core, uint64_t line)
{
    for (unsigned o = 0; has_l2(r) && o < r->count; o++) {
        if (o != core && core_has(r, o, line))
            return true;
    }
    return false;
}

/* Asks an L3 that fills from victims for a line that an L2 has taken in, for
 * which the line `gone` has left that L2. `shared`: other cores have the line,
 * or have just lost it to the one that asks, which `takes` it. Returns whether
 * the L3 or one of these serves the line. */
static bool
ask_victims(struct sharing_ref *r, uint64_t line, uint64_t gone, bool shared,
            bool takes)
{
    const bool has = cache_ref_has(&r->l3, line);

    if (has && shared && !takes)
        cache_ref_access(&r->l3, line);
    else
        cache_ref_invalidate(&r->l3, line);
    if (gone != NO_REF_LINE)
        cache_ref_access(&r->l3, gone);
    return has || shared;
}

/* Asks the levels behind the L1s, whose signals stand behind each other.
 * `shared` and `takes`: as of ask_victims(). */
static void
ask_behind(struct sharing_ref *r, unsigned core, uint64_t addr,
           enum signal_id l2_signal, enum signal_id l3_signal, bool shared,
           bool takes)
{
    struct cache_ref *const l2 = second_of(r, core);

    if (l2 == NULL || cache_ref_access(l2, addr / l2->line_size))
        return;
    r->signals[core][l2_signal]++;
    if (r->params[PARAM_L3_SIZE] == 0)
        return;
    const uint64_t line = addr / r->l3.line_size;
    if (r->params[PARAM_L3_FILL] == L3_FILL_VICTIMS
            ? ask_victims(r, line, l2->gone, shared, takes)
            : cache_ref_access(&r->l3, line))
        return;
    r->signals[core][l3_signal]++;
}

/* Takes the line from all others. Returns whether one had it. */
static bool
take_line(struct sharing_ref *r, unsigned core, struct line_ref *l)
{
    bool found = false;

    for (unsigned o = 0; o < r->count; o++) {
        if (o == core)
            continue;
        if (core_has(r, o, l->line))
            found = true;
        if (cache_ref_has(&r->l1d[o], l->line)) {
            cache_ref_invalidate(&r->l1d[o], l->line);
            memset(&l->lost[o], 0, sizeof(l->lost[o]));
            l->lost[o].lost = true;
            r->signals[core][SIGNAL_L1D_COPIES_TAKEN]++;
        }
        if (has_l2(r))
            cache_ref_invalidate(&r->l2[o], l->line);
    }
    return found;
}

/* Makes the part of an access that lies in one line. */
static void
access_line(struct sharing_ref *r, unsigned core, uint64_t addr, uint64_t size,
            int what)
{
    struct cache_ref *const l1d = &r->l1d[core];
    struct line_ref *const l = line_of(r, addr / l1d->line_size);
    struct lost_ref *const own = &l->lost[core];
    uint64_t *const n = r->signals[core];
    const bool store = what == STORES;
    const uint64_t first = addr % l1d->line_size;
    const bool hit = cache_ref_has(l1d, l->line);
    const bool shared = others_have(r, core, l->line);
    bool touched = false;

    if (!hit && l->writer >= 0 && l->writer != (int)core)
        n[store ? SIGNAL_STORE_HITMS : SIGNAL_LOAD_HITMS]++;
    if (!hit)
        n[store ? SIGNAL_L1D_STORE_MISSES : SIGNAL_L1D_LOAD_MISSES]++;
    for (uint64_t i = first; i < first + size; i++)
        touched |= own->written[i];
    if (!hit && own->lost) {
        n[store ? SIGNAL_L1D_STORE_COHERENCE_MISSES
                : SIGNAL_L1D_LOAD_COHERENCE_MISSES]++;
        if (!touched)
            n[store ? SIGNAL_L1D_STORE_FALSE_MISSES
                    : SIGNAL_L1D_LOAD_FALSE_MISSES]++;
    }
    const bool whole = cache_ref_access(&r->whole[core], l->line);
    if (!hit && !own->lost) {
        const enum signal_id class_of_load =
            !l->seen[core] ? SIGNAL_L1D_LOAD_FIRST_MISSES
            : !whole       ? SIGNAL_L1D_LOAD_CAPACITY_MISSES
                           : SIGNAL_L1D_LOAD_CONFLICT_MISSES;
        n[store ? class_of_load + SIGNAL_L1D_STORE_FIRST_MISSES -
                      SIGNAL_L1D_LOAD_FIRST_MISSES
                : class_of_load]++;
    }
    l->seen[core] = true;
    memset(own, 0, sizeof(*own));
    if (what == LOADS) {
        if (l->writer != (int)core)
            l->writer = -1;
    } else {
        const bool found = take_line(r, core, l);
        n[SIGNAL_L1D_UPGRADES] += hit && found;
        l->writer = (int)core;
        for (unsigned o = 0; o < r->count; o++) {
            for (uint64_t i = first; i < first + size; i++)
                l->lost[o].written[i] |= l->lost[o].lost;
        }
    }
    cache_ref_access(l1d, l->line);
    if (!hit)
        ask_behind(r, core, addr,
                   store ? SIGNAL_L2_STORE_MISSES : SIGNAL_L2_LOAD_MISSES,
                   store ? SIGNAL_L3_STORE_MISSES : SIGNAL_L3_LOAD_MISSES,
                   shared, what != LOADS);
    forget_writers(r);
}

static void
access_bytes(struct sharing_ref *r, unsigned core, uint64_t addr, uint64_t size,
             int what)
{
    const uint64_t line = r->params[PARAM_L1D_LINE];

    while (size != 0) {
        const uint64_t left = line - addr % line;
        const uint64_t part = size < left ? size : left;
        access_line(r, core, layout_address(chip_layout(r->params), addr), part,
                    what);
        addr += part;
        size -= part;
    }
}

void
sharing_ref_load(struct sharing_ref *r, unsigned core, uint64_t addr,
                 uint64_t size)
{
    access_bytes(r, core, addr, size, LOADS);
}

void
sharing_ref_store(struct sharing_ref *r, unsigned core, uint64_t addr,
                  uint64_t size)
{
    access_bytes(r, core, addr, size, STORES);
}

void
sharing_ref_atomic(struct sharing_ref *r, unsigned core, uint64_t addr,
                   uint64_t size)
{
    access_bytes(r, core, addr, size, ATOMICS);
}

/* Fetches into the L2 are copies as those of loads are. */
void
sharing_ref_block(struct sharing_ref *r, unsigned core,
                  const struct block *block)
{
    const uint64_t size = r->l1i[core].line_size;

    for (uint64_t raw = block->pc / size; raw <= (block->end - 1) / size;
         raw++) {
        const uint64_t line =
            layout_address(chip_layout(r->params), raw * size) / size;
        if (cache_ref_access(&r->l1i[core], line))
            continue;
        r->signals[core][SIGNAL_L1I_MISSES]++;
        const bool shared =
            others_have(r, core, line * size / r->l1d[core].line_size);
        if (has_l2(r)) {
            struct line_ref *const l =
                line_of(r, line * size / r->l2[core].line_size);
            if (l->writer != (int)core)
                l->writer = -1;
        }
        ask_behind(r, core, line * size, SIGNAL_L2_FETCH_MISSES,
                   SIGNAL_L3_FETCH_MISSES, shared, false);
        forget_writers(r);
    }
}
