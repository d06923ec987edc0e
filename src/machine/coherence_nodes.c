/* SPDX-License-Identifier: MIT */
#include "machine/coherence_nodes.h"

#include <stdlib.h>

#include "machine/cache_dirty.h"
#include "machine/coherence.h"
#include "machine/recorder.h"
#include "machine/writeback.h"
#include "machine/strand.h"

#define HOMES_LEAST 1024u /* a power of two */
#define AHEAD 8           /* as in memory.c */
#define WRITES (1u << REQUEST_THROUGH | 1u << REQUEST_ATOMIC)

#define PLANE_SHIFT 12
#define PLANES 4u

/* Local, remote and cache stand together in this order. */
static const uint16_t served_signal[REQUEST_KINDS] = {
    [REQUEST_LOAD] = SIGNAL_L2_LOAD_LOCAL,
    [REQUEST_STORE] = SIGNAL_L2_STORE_LOCAL,
    [REQUEST_THROUGH] = SIGNAL_L2_STORE_LOCAL,
    [REQUEST_ATOMIC] = SIGNAL_L2_STORE_LOCAL,
    [REQUEST_FETCH] = SIGNAL_L2_FETCH_LOCAL,
    [REQUEST_WALK_I] = SIGNAL_L2_WALK_LOCAL,
    [REQUEST_WALK_D] = SIGNAL_L2_WALK_LOCAL,
};
enum { SERVED_LOCAL, SERVED_REMOTE, SERVED_CACHE };

/* Returns the place of a page in the table, or the free one where it belongs.
 */
static uint64_t *
homes_find(const struct homes *h, uint64_t page)
{
    uint64_t at = page * UINT64_C(0x9e3779b97f4a7c15) >> 20 & h->mask;

    while (h->pages[at] != 0 && (h->pages[at] - 1) >> 2 != page)
        at = (at + 1) & h->mask;
    return &h->pages[at];
}

/* False without memory. */
static bool
homes_grow(struct homes *h)
{
    const uint64_t count = h->pages == NULL ? 0 : h->mask + 1;
    const uint64_t size = count == 0 ? HOMES_LEAST : 2 * count;
    struct homes more = {calloc(size, sizeof(*more.pages)), size - 1, h->used};

    if (more.pages == NULL)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        if (h->pages[i] != 0)
            *homes_find(&more, (h->pages[i] - 1) >> 2) = h->pages[i];
    }
    free(h->pages);
    *h = more;
    return true;
}

/* Without memory for the table a page that is new in it is near to all. */
static unsigned
first_touch(struct homes *h, uint64_t page, unsigned node)
{
    if ((h->pages == NULL || 2 * h->used > h->mask) && !homes_grow(h))
        return node;
    uint64_t *at = homes_find(h, page);
    if (*at == 0) {
        *at = (page << 2 | node) + 1;
        h->used++;
    }
    return (unsigned)((*at - 1) & 3);
}

/* Returns the node whose memory has the line, now that `node` asks for it. */
static unsigned
home_of(struct chip *chip, uint64_t addr, unsigned node)
{
    const uint64_t page = addr >> chip->page_shift;

    if (chip->node_count == 1)
        return 0;
    switch (chip->params[PARAM_PLACE_PAGES]) {
    case PLACE_PAGES_INTERLEAVE:
        return (unsigned)(page % chip->node_count);
    case PLACE_PAGES_NODE:
        return (unsigned)chip->params[PARAM_PLACE_NODE];
    default:
        return first_touch(&chip->nodes->homes, page, node);
    }
}

/* Something passes between two nodes, which may be one. */
static void
cross(struct strand *s, enum signal_id first, uint64_t addr, unsigned other)
{
    const unsigned plane = (unsigned)(addr >> PLANE_SHIFT) % PLANES;

    if (other != s->node && s->chip->node_count >= HUBS_FROM)
        s->total[first + plane * 16 + s->node * 4 + other]++;
}

static unsigned
bank_number(const struct chip *chip, uint64_t addr, unsigned home)
{
    return home * (chip->bank_mask + 1) + memory_bank(chip, addr);
}

static void
write_memory(struct strand *s, uint64_t addr)
{
    struct chip *chip = s->chip;
    const unsigned home = home_of(chip, addr, s->node);

    s->total[SIGNAL_L2_WRITEBACKS]++;
    memory_write(s, bank_number(chip, addr, home), addr);
    cross(s, SIGNAL_LINK_WRITEBACKS_0, addr, home);
}

/* The strands of a node no longer know a line of the L2, from `addr` on. */
static void
void_line(struct chip *chip, unsigned node, uint64_t addr, bool data)
{
    for (unsigned i = 0; i < chip->slots_used; i++) {
        struct strand *o = chip->strands[i];
        if (o == NULL || o->node != node)
            continue;
        filter_put(&o->store, addr, NO_LINE);
        if (data)
            filter_forget(&o->data, addr, chip->params[PARAM_L2_LINE]);
    }
}

/* Takes a line of the L2 out of the L1Ds of a node. */
static void
invalidate_l1d(struct chip *chip, unsigned node, uint64_t addr, bool alone)
{
    const unsigned cores = chip->core_count / chip->node_count;

    for (unsigned i = node * cores; i < (node + 1) * cores; i++) {
        struct core *core = &chip->cores[i];
        if (core->l1d.ways == 0)
            continue;
        if (!alone)
            lock_take(&core->lock);
        cache_drop(&core->l1d, addr, chip->params[PARAM_L2_LINE]);
        if (!alone)
            lock_give(&core->lock);
    }
}

/* A store takes the line from a node that has it. True if that had written. */
static bool
take(struct strand *s, unsigned node, uint64_t addr)
{
    struct chip *chip = s->chip;
    struct cache *l2 = &chip->l2[node];
    const bool dirty = cache_invalidate(l2, addr >> l2->line_shift);

    /* First the caches: what strands learn between the two is forgotten. */
    invalidate_l1d(chip, node, addr, runs_alone(s));
    void_line(chip, node, addr, true);
    return dirty;
}

#define NO_NODE NODES_MAX

/*
 * Looks for the line in the L2s of all other nodes, and takes it from them if
 * `write`. The node that had written it, or NO_NODE.
 */
static unsigned
search(struct strand *s, uint64_t addr, bool write, bool hit)
{
    struct chip *chip = s->chip;
    unsigned writer = NO_NODE;

    for (unsigned n = 0; n < chip->node_count; n++) {
        const struct cache *l2 = &chip->l2[n];
        const uint64_t line = addr >> l2->line_shift;
        if (n == s->node || (chip->nodes->used >> n & 1) == 0)
            continue;
        const uint32_t place = cache_search(l2, line);
        if (place == l2->ways)
            continue;
        if (write && hit)
            cross(s, SIGNAL_LINK_INVALIDATIONS_0, addr, n);
        if (write ? take(s, n, addr) : cache_dirty_at(l2, line, place))
            writer = n;
    }
    return writer;
}

/* Where a miss finds its line. */
static void
serve(struct strand *s, uint64_t addr, unsigned kind, bool write)
{
    struct chip *chip = s->chip;
    const unsigned writer = search(s, addr, write, false);
    const unsigned home = home_of(chip, addr, s->node);
    unsigned served = home == s->node ? SERVED_LOCAL : SERVED_REMOTE;

    if (writer != NO_NODE) {
        served = SERVED_CACHE;
        cross(s, write ? SIGNAL_LINK_CACHE_OWNS_0 : SIGNAL_LINK_CACHE_SHARES_0,
              addr, writer);
        /* It must ask before it writes again. */
        if (!write)
            void_line(chip, writer, addr, false);
    } else {
        memory_read(s, bank_number(chip, addr, home), addr, kind);
        cross(s, write ? SIGNAL_LINK_MEM_OWNS_0 : SIGNAL_LINK_MEM_SHARES_0,
              addr, home);
    }
    s->total[served_signal[kind] + served]++;
}

static void
take_queue(struct strand *s, struct request *queue, size_t count)
{
    struct chip *chip = s->chip;
    struct cache *l2 = s->l2;
    const uint64_t line_mask = ~(((uint64_t)1 << l2->line_shift) - 1);

    if (count > 0)
        chip->nodes->used |= 1u << s->node;
    for (size_t i = 0; i < count; i++) {
        const uint64_t addr = queue[i].addr & line_mask;
        const unsigned kind = queue[i].kind;
        const bool write = WRITES >> kind & 1;
        struct cache_driven driven;
        if (i + AHEAD < count)
            cache_prefetch(l2, queue[i + AHEAD].addr >> l2->line_shift);
        if (cache_touch(l2, addr >> l2->line_shift, write, &driven)) {
            if (write)
                search(s, addr, true, true);
            if (write && s->recorder != NULL &&
                chip->nodes->used != 1u << s->node)
                recorder_charge_request(s, &queue[i]);
            continue;
        }
        s->total[queue_l2_signal[kind]]++;
        if (driven.line != CACHE_NOTHING)
            write_memory(s, driven.line << l2->line_shift);
        s->total[SIGNAL_L2_CLEAN_EVICTIONS] += driven.clean;
        serve(s, addr, kind, write);
        memory_settle(s);
        if (s->recorder != NULL)
            recorder_charge_request(s, &queue[i]);
    }
}

static void
forget_homes(struct chip *chip)
{
    free(chip->nodes->homes.pages);
}

const struct coherence coherence_nodes = {
    .chip_size = sizeof(struct nodes),
    .take = take_queue,
    .charges = true,
    .chip_finish = forget_homes,
};
