/* SPDX-License-Identifier: MIT */
#include "ref/chip_ref.h"

#include <stdlib.h>
#include <string.h>

#include "ref/branch_ref.h"
#include "ref/buffers_ref.h"
#include "ref/inclusion_ref.h"
#include "ref/raw_ref.h"
#include "ref/snoop_ref.h"

/* Where table walks read, as in machine/pages.c. */
#define TABLES_AT 0x7f000000000u
#define TABLE_ENTRY 16u
#define TABLE_ENTRIES 65536u

/* Who asks a level behind the L2. */
enum level_asker {
    BY_FETCH,
    BY_LOAD,
    BY_STORE,
    BY_FETCH_WALK,
    BY_DATA_WALK,
    BY_NEAR,
    BY_FAR,
    BY_PREFETCHER,
    LEVEL_ASKERS
};

/* A level behind the L2: its parameters, and the signals that it raises. */
#define LEVEL(level)                                                    \
    {COMPONENT_##level,                                                 \
     PARAM_##level##_SIZE,                                              \
     PARAM_##level##_REPLACEMENT,                                       \
     {SIGNAL_##level##_FETCH_MISSES, SIGNAL_##level##_LOAD_MISSES,      \
      SIGNAL_##level##_STORE_MISSES, SIGNAL_ITLB_WALK_##level##_MISSES, \
      SIGNAL_DTLB_WALK_##level##_MISSES,                                \
      SIGNAL_NEAR_PREFETCH_##level##_MISSES,                            \
      SIGNAL_FAR_PREFETCH_##level##_MISSES,                             \
      SIGNAL_PREFETCHER_##level##_MISSES},                              \
     SIGNAL_##level##_WRITEBACKS,                                       \
     SIGNAL_BULK_##level##_MISSES},

static const struct {
    enum component_id component;
    enum param_id size, replacement;
    enum signal_id misses[LEVEL_ASKERS], writebacks, bulk;
} level_refs[LEVELS_REF] = {LEVEL(L3) EACH_LEVEL(LEVEL)};

/* Who asks the shared caches, and so which signals count its misses. */
struct asker {
    enum signal_id l2_misses, local, remote, cache;
    enum bus_ref_asker bus;
    enum level_asker level;
};

static const struct asker fetches = {
    SIGNAL_L2_FETCH_MISSES, SIGNAL_L2_FETCH_LOCAL, SIGNAL_L2_FETCH_REMOTE,
    SIGNAL_L2_FETCH_CACHE,  BUS_REF_FETCH,         BY_FETCH};
static const struct asker loads = {SIGNAL_L2_LOAD_MISSES, SIGNAL_L2_LOAD_LOCAL,
                                   SIGNAL_L2_LOAD_REMOTE, SIGNAL_L2_LOAD_CACHE,
                                   BUS_REF_LOAD,          BY_LOAD};
static const struct asker stores = {
    SIGNAL_L2_STORE_MISSES, SIGNAL_L2_STORE_LOCAL, SIGNAL_L2_STORE_REMOTE,
    SIGNAL_L2_STORE_CACHE,  BUS_REF_STORE,         BY_STORE};
/* Where stores go through the L1. */
static const struct asker atomics = {
    SIGNAL_L2_STORE_MISSES, SIGNAL_L2_STORE_LOCAL, SIGNAL_L2_STORE_REMOTE,
    SIGNAL_L2_STORE_CACHE,  BUS_REF_ATOMIC,        BY_STORE};
/* Of one core, or with an L3 for all: no node counts them. */
static const struct asker near_prefetches = {
    .l2_misses = SIGNAL_NEAR_PREFETCH_L2_MISSES, .level = BY_NEAR};
static const struct asker far_prefetches = {
    .l2_misses = SIGNAL_FAR_PREFETCH_L2_MISSES, .level = BY_FAR};
static const struct asker near_prefetcher = {
    .l2_misses = SIGNAL_PREFETCHER_L2_MISSES, .level = BY_PREFETCHER};
static const struct asker far_prefetcher = {.l2_misses = SIGNAL_L2_PREFETCHES,
                                            .level = BY_PREFETCHER};
/* Where all caches are a core's own. */
static const struct asker floats = {.bus = BUS_REF_FLOAT};
static const struct asker fetch_walks = {
    SIGNAL_ITLB_WALK_MISSES, SIGNAL_L2_WALK_LOCAL, SIGNAL_L2_WALK_REMOTE,
    SIGNAL_L2_WALK_CACHE,    BUS_REF_WALK_I,       BY_FETCH_WALK};
static const struct asker data_walks = {
    SIGNAL_DTLB_WALK_MISSES, SIGNAL_L2_WALK_LOCAL, SIGNAL_L2_WALK_REMOTE,
    SIGNAL_L2_WALK_CACHE,    BUS_REF_WALK_D,       BY_DATA_WALK};

/* Whether the strand does so while the request waits. */
static bool
goes_on(const struct asker *asker)
{
    return asker == &stores || asker == &near_prefetches ||
           asker == &far_prefetches || asker == &near_prefetcher ||
           asker == &far_prefetcher;
}

static void
init_cache(struct cache_ref *c, const uint64_t *params, int size)
{
    cache_ref_init(c, params[size], (uint32_t)params[size + 1],
                   (uint32_t)params[size + 2]);
}

/* Makes a level with its replacement. */
static void
init_level(struct cache_ref *c, const uint64_t *params, int size,
           int replacement)
{
    init_cache(c, params, size);
    cache_ref_replace(c, params[replacement]);
}

static uint64_t *
new_table(uint64_t entries)
{
    uint64_t *table = malloc((entries + 1) * sizeof(*table));

    if (table == NULL)
        abort();
    for (uint64_t i = 0; i < entries; i++)
        table[i] = NO_LINE;
    return table;
}

void
chip_ref_init(struct chip_ref *r, const uint64_t *params, uint64_t components)
{
    memset(r, 0, sizeof(*r));
    r->params = params;
    r->components = components;
    r->peers[0] = r;
    init_level(&r->l1i, params, PARAM_L1I_SIZE, PARAM_L1I_REPLACEMENT);
    init_level(&r->l1d, params, PARAM_L1D_SIZE, PARAM_L1D_REPLACEMENT);
    r->l1d.victim_ways = (uint32_t)params[PARAM_L1D_VICTIM];
    if (params[PARAM_L1D_PREFETCH] != L1D_PREFETCH_NONE)
        prefetcher_ref_init(&r->l1d_prefetcher, &params[PARAM_L1D_PREFETCH],
                            r->l1d.line_size);
    if (params[PARAM_L2_PREFETCH] != L2_PREFETCH_NONE &&
        (components & COMPONENT_L2))
        prefetcher_ref_init(&r->l2_prefetcher, &params[PARAM_L2_PREFETCH],
                            (uint32_t)params[PARAM_L2_LINE]);
    if (components & COMPONENT_L2)
        init_level(&r->l2, params, PARAM_L2_SIZE, PARAM_L2_REPLACEMENT);
    for (unsigned i = 0; i < LEVELS_REF; i++) {
        if (components & level_refs[i].component)
            init_level(&r->levels[i], params, (int)level_refs[i].size,
                       (int)level_refs[i].replacement);
    }
    if (components & COMPONENT_WAYS) {
        const size_t count = r->l2.sets * r->l2.ways;
        r->l2_ways = calloc(count, sizeof(*r->l2_ways));
        r->foretold = calloc(params[PARAM_L2_FORETOLD], sizeof(*r->foretold));
        if (r->l2_ways == NULL || r->foretold == NULL)
            abort();
        for (size_t i = 0; i < count; i++)
            r->l2_ways[i].line = NO_LINE;
    }
    for (unsigned i = 0; i < TLB_COUNT; i++)
        tlb_ref_init_row(&r->tlbs[i], params, &tally_tlbs[i]);
    if (params[PARAM_TLB_HUGE] != TLB_HUGE_NEVER &&
        params[PARAM_HUGE_ENTRIES] != 0)
        tlb_ref_init_sets(&r->dtlb_huge, (uint32_t)params[PARAM_HUGE_ENTRIES],
                          (uint32_t)params[PARAM_HUGE_WAYS],
                          ITLB_REPLACEMENT_LRU);
    if (params[PARAM_ITLB_FIRST] != 0)
        tlb_ref_init(&r->itlb_first, (uint32_t)params[PARAM_ITLB_FIRST]);
    if (params[PARAM_DTLB_FIRST] != 0)
        tlb_ref_init(&r->dtlb_first, (uint32_t)params[PARAM_DTLB_FIRST]);
    if (components & COMPONENT_BUS)
        bus_ref_init(&r->bus, params);
    predictor_ref_init(&r->first, params[PARAM_BRANCH_PREDICTOR],
                       params[PARAM_BRANCH_ENTRIES],
                       params[PARAM_BRANCH_HISTORY]);
    for (unsigned i = 0; i < PREDICTOR_COUNT; i++) {
        const struct predictor_row *const row = &tally_predictors[i];
        predictor_ref_init(&r->beside[i], params[row->kind],
                           params[row->entries], params[row->history]);
    }
    if (components & COMPONENT_BTC)
        cache_ref_init(&r->btc, params[PARAM_BTC_ENTRIES],
                       (uint32_t)params[PARAM_BTC_WAYS], 1);
    for (unsigned i = 0; i < TARGET_COUNT; i++)
        r->caches[i] = new_table(params[tally_targets[i].entries]);
    r->far = new_table(params[PARAM_FAR_ENTRIES]);
    r->indirect = new_table(params[PARAM_INDIRECT_ENTRIES]);
    if ((components & COMPONENT_INDIRECT) &&
        params[PARAM_INDIRECT_PREDICTOR] == INDIRECT_PREDICTOR_ITTAGE) {
        const struct ittage_shape shape = ittage_shape_of(params);
        ittage_ref_init(&r->ittage, &shape);
    }
    if (components & COMPONENT_BTB) {
        const struct btb_shape shape = btb_shape_of(params);
        btb_ref_init(&r->btb, &shape);
    }
    r->returns = new_table(params[PARAM_RETURN_DEPTH] + 1);
}

void
chip_ref_finish(struct chip_ref *r)
{
    cache_ref_finish(&r->l1i);
    cache_ref_finish(&r->l1d);
    cache_ref_finish(&r->l2);
    prefetcher_ref_finish(&r->l1d_prefetcher);
    prefetcher_ref_finish(&r->l2_prefetcher);
    for (unsigned i = 0; i < LEVELS_REF; i++)
        cache_ref_finish(&r->levels[i]);
    for (unsigned i = 0; i < TLB_COUNT; i++)
        tlb_ref_finish(&r->tlbs[i]);
    tlb_ref_finish(&r->itlb_first);
    tlb_ref_finish(&r->dtlb_first);
    tlb_ref_finish(&r->dtlb_huge);
    bus_ref_finish(&r->bus);
    if (r->components & COMPONENT_BTC)
        cache_ref_finish(&r->btc);
    free(r->l2_ways);
    free(r->foretold);
    predictor_ref_finish(&r->first);
    for (unsigned i = 0; i < PREDICTOR_COUNT; i++)
        predictor_ref_finish(&r->beside[i]);
    for (unsigned i = 0; i < TARGET_COUNT; i++)
        free(r->caches[i]);
    free(r->branches);
    free(r->far);
    free(r->indirect);
    ittage_ref_finish(&r->ittage);
    btb_ref_finish(&r->btb);
    free(r->returns);
    free(r->frames);
    free(r->homes);
    free(r->stores);
    free(r->driven);
}

void
chip_ref_join(struct chip_ref *nodes, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        nodes[i].node = i % (unsigned)nodes[i].params[PARAM_NODES];
        for (unsigned k = 0; k < count; k++)
            nodes[i].peers[k] = &nodes[k];
    }
}

/* An address to no byte of any program. */
#define NOWHERE UINT64_MAX

/* `out` becomes the address of a dirty line that had to go, or NOWHERE. */
static bool
access_cache(struct cache_ref *c, uint64_t addr, bool write, uint64_t *out)
{
    uint64_t line = NOWHERE;
    const bool hit = cache_ref_touch(c, addr / c->line_size, write, &line);

    *out = line == NOWHERE ? NOWHERE : line * c->line_size;
    return hit;
}

/* The node whose memory has a page: who asks first, each in turn, or one. */
static unsigned
home_of(const struct chip_ref *r, uint64_t addr)
{
    struct chip_ref *first = r->peers[0];
    const uint64_t page = addr / r->params[PARAM_TLB_PAGE];

    if (r->params[PARAM_NODES] == 1)
        return 0;
    if (r->params[PARAM_PLACE_PAGES] == PLACE_PAGES_NODE)
        return (unsigned)r->params[PARAM_PLACE_NODE];
    if (r->params[PARAM_PLACE_PAGES] == PLACE_PAGES_INTERLEAVE)
        return (unsigned)(page % r->params[PARAM_NODES]);
    for (size_t i = 0; i < first->home_count; i++) {
        if (first->homes[i].page == page)
            return first->homes[i].node;
    }
    first->homes = reallocarray(first->homes, first->home_count + 1,
                                sizeof(*first->homes));
    if (first->homes == NULL)
        abort();
    first->homes[first->home_count++] = (struct home_ref){page, r->node};
    return r->node;
}

/* One of the signals that memory's banks have each. */
static void
count_bank(struct chip_ref *r, uint64_t addr, enum signal_id first)
{
    const uint64_t banks = r->params[PARAM_MEMORY_BANKS];
    const uint64_t bank = addr / r->params[PARAM_MEMORY_INTERLEAVE] % banks;

    if (r->components & COMPONENT_WRITEBACK)
        chip_ref_count(
            r, (enum signal_id)(first + home_of(r, addr) * banks + bank));
}

/* Where there are hubs, what passes between two nodes. */
static void
cross(struct chip_ref *r, uint64_t addr, unsigned other, enum signal_id first)
{
    const uint64_t plane = addr / 4096 % 4;

    if (r->params[PARAM_NODES] > 2 && other != r->node)
        chip_ref_count(
            r, (enum signal_id)(first + plane * 16 + r->node * 4 + other));
}

/* A level behind the L2, of all peers; NULL where the machine lacks it. */
static struct cache_ref *
level_of(struct chip_ref *r, unsigned level)
{
    return r->components & level_refs[level].component
               ? &r->peers[0]->levels[level]
               : NULL;
}

/* A dirty line goes to the first level behind `from` that has it: 1 is the L1D,
 * 2 the L2, and so on. */
static void
pass_on(struct chip_ref *r, int from, uint64_t addr)
{
    if (from < 2 && cache_ref_has(&r->l2, addr / r->l2.line_size))
        snoop_ref_write(r, addr, true);
    if (from < 2 && cache_ref_mark(&r->l2, addr / r->l2.line_size))
        return;
    for (unsigned i = 0; i < LEVELS_REF; i++) {
        struct cache_ref *c = level_of(r, i);
        if (from < (int)i + 3 && c != NULL &&
            cache_ref_mark(c, addr / c->line_size))
            return;
    }
    count_bank(r, addr, SIGNAL_MEMORY_WRITES_0);
    cross(r, addr, home_of(r, addr), SIGNAL_LINK_WRITEBACKS_0);
}

/* The level `from` drives a dirty line out. */
static void
write_back(struct chip_ref *r, int from, uint64_t addr)
{
    if ((r->components & COMPONENT_WRITEBACK) == 0 || addr == NOWHERE)
        return;
    chip_ref_count(r, from == 1   ? SIGNAL_L1D_WRITEBACKS
                      : from == 2 ? SIGNAL_L2_WRITEBACKS
                                  : level_refs[from - 3].writebacks);
    pass_on(r, from, addr);
}

/* Takes a line of the L2 from a node. True if that has written it. */
static bool
take(struct chip_ref *o, uint64_t addr)
{
    const uint64_t size = o->l2.line_size;

    for (uint64_t at = addr / size * size; at < addr / size * size + size; at++)
        cache_ref_invalidate(&o->l1d, at / o->l1d.line_size);
    return cache_ref_invalidate(&o->l2, addr / size);
}

/* The node that has written the line, or NULL; a write takes all copies. */
static struct chip_ref *
ask_nodes(struct chip_ref *r, uint64_t addr, bool write, bool hit)
{
    struct chip_ref *writer = NULL;

    for (unsigned n = 0; (r->components & COMPONENT_NODES) && n < 4; n++) {
        struct chip_ref *o = r->peers[n];
        if (o == NULL || o == r ||
            !cache_ref_has(&o->l2, addr / o->l2.line_size))
            continue;
        if (cache_ref_is_dirty(&o->l2, addr / o->l2.line_size))
            writer = o;
        if (write && hit)
            cross(r, addr, n, SIGNAL_LINK_INVALIDATIONS_0);
        if (write)
            take(o, addr);
    }
    return writer;
}

/* Where a miss of the last level finds its line. */
static void
serve(struct chip_ref *r, uint64_t addr, bool write, const struct asker *asker)
{
    struct chip_ref *writer = ask_nodes(r, addr, write, false);
    const unsigned home = home_of(r, addr);

    if (writer != NULL) {
        chip_ref_count(r, asker->cache);
        cross(r, addr, writer->node,
              write ? SIGNAL_LINK_CACHE_OWNS_0 : SIGNAL_LINK_CACHE_SHARES_0);
        return;
    }
    if (r->components & COMPONENT_NODES)
        chip_ref_count(r, home == r->node ? asker->local : asker->remote);
    count_bank(r, addr, SIGNAL_MEMORY_READS_0);
    cross(r, addr, home,
          write ? SIGNAL_LINK_MEM_OWNS_0 : SIGNAL_LINK_MEM_SHARES_0);
}

/* The way where a set has the line, or where it is put. */
static uint64_t
find_way(const struct way_ref *set, uint64_t ways, uint64_t line,
         uint64_t foretold)
{
    uint64_t oldest = 0;

    for (uint64_t i = 0; i < ways; i++) {
        if (set[i].line == line)
            return i;
    }
    if (set[foretold].line == NO_LINE)
        return foretold;
    for (uint64_t i = 0; i < ways; i++) {
        if (set[i].line == NO_LINE)
            return i;
        if (set[i].used < set[oldest].used)
            oldest = i;
    }
    return oldest;
}

static void
foretell_way(struct chip_ref *r, uint64_t addr, const struct asker *asker)
{
    const uint64_t line = addr / r->l2.line_size, set = line % r->l2.sets;
    struct way_ref *ways = &r->l2_ways[set * r->l2.ways];
    uint64_t *foretold = &r->foretold[set % r->params[PARAM_L2_FORETOLD]];
    const uint64_t way = find_way(ways, r->l2.ways, line, *foretold);

    if (ways[way].line == line && way != *foretold)
        chip_ref_count(r, asker == &fetches ? SIGNAL_L2_FETCH_WAY_MISPREDICTS
                                            : SIGNAL_L2_DATA_WAY_MISPREDICTS);
    ways[way] = (struct way_ref){line, ++r->now};
    *foretold = way;
}

/* Of machines where a store makes the L2's line dirty with the L1's. */
static bool
tells_l2(const struct chip_ref *r)
{
    return (r->components & COMPONENT_WRITEBACK) &&
           r->params[PARAM_L1D_WRITE] != L1D_WRITE_THROUGH &&
           r->params[PARAM_L2_DIRTY] == L2_DIRTY_STORED;
}

/* A store makes a line of the L2 dirty, if that has it: no other keeps it. */
static void
update_l2(struct chip_ref *r, uint64_t addr)
{
    const uint64_t line = addr / r->l2.line_size;

    if (!cache_ref_has(&r->l2, line) || cache_ref_is_dirty(&r->l2, line))
        return;
    if (tells_l2(r))
        chip_ref_count(r, snoop_ref_copies(r, addr) > 0
                              ? SIGNAL_L2_SHARED_UPDATES
                              : SIGNAL_L2_UPDATES);
    snoop_ref_write(r, addr, true);
    cache_ref_mark(&r->l2, line);
}

/* True if another core's L2 has it dirty. */
static bool
ask_cores(struct chip_ref *r, uint64_t addr, bool write)
{
    if (!write && snoop_ref_read(r, addr)) {
        pass_on(r, 2, addr);
        return true;
    }
    if (!write || !snoop_ref_write(r, addr, false))
        return false;
    chip_ref_count(r, SIGNAL_L2_STORE_TRANSFERS);
    return true;
}

/* Whether the L3 takes in what the L2 drives out, and nothing else. */
static bool
fills_from_victims(const struct chip_ref *r)
{
    return r->params[PARAM_L3_FILL] == L3_FILL_VICTIMS &&
           (r->components & COMPONENT_L3);
}

/* Asks such an L3 for a line that the L2 has just taken in. The line leaves the
 * L3 for the L2, with what was written to it. */
static bool
ask_victims(struct chip_ref *r, uint64_t addr)
{
    struct cache_ref *const l3 = level_of(r, 0);
    const uint64_t line = addr / l3->line_size;

    if (!cache_ref_has(l3, line))
        return false;
    if (cache_ref_invalidate(l3, line))
        cache_ref_mark(&r->l2, line);
    return true;
}

/* What the L2 has driven out goes into such an L3. */
static void
keep_victim(struct chip_ref *r, uint64_t line, bool dirty)
{
    struct cache_ref *const l3 = level_of(r, 0);
    uint64_t out;

    if (line == NO_REF_LINE)
        return;
    access_cache(l3, line * l3->line_size, dirty, &out);
    write_back(r, 3, out);
}

/* What the L2 lacks. True if it comes from memory. `gone`: the line that the L2
 * has driven out. */
static bool
ask_behind(struct chip_ref *r, uint64_t addr, bool write,
           const struct asker *asker, uint64_t gone, bool dirty)
{
    const unsigned first = fills_from_victims(r) ? 1 : 0;
    uint64_t out;

    if (ask_cores(r, addr, write))
        return false;
    if (first == 1) {
        const bool found = ask_victims(r, addr);
        keep_victim(r, gone, dirty);
        if (found)
            return false;
        chip_ref_count(r, level_refs[0].misses[asker->level]);
    }
    for (unsigned i = first; i < LEVELS_REF; i++) {
        struct cache_ref *c = level_of(r, i);
        if (c == NULL)
            continue;
        if (access_cache(c, addr, false, &out))
            return false;
        chip_ref_count(r, level_refs[i].misses[asker->level]);
        write_back(r, (int)i + 3, out);
    }
    serve(r, addr, write, asker);
    return true;
}

/* A request that the first level did not serve, or that passed it by. */
static void
ask_shared(struct chip_ref *r, uint64_t addr, bool write,
           const struct asker *asker)
{
    uint64_t out;

    if ((r->components & COMPONENT_L2) == 0)
        return;
    if (r->components & COMPONENT_BUS) {
        bus_ref_ask(r, addr, asker->bus);
        return;
    }
    const bool full = cache_ref_is_full(&r->l2, addr / r->l2.line_size);
    if (full && !cache_ref_has(&r->l2, addr / r->l2.line_size))
        inclusion_ref_note(r, addr);
    if (r->components & COMPONENT_WAYS)
        foretell_way(r, addr, asker);
    if (write && (r->components & COMPONENT_WRITEBACK))
        update_l2(r, addr);
    if (access_cache(&r->l2, addr, write, &out)) {
        if (write)
            ask_nodes(r, addr, true, true);
        return;
    }
    chip_ref_count(r, asker->l2_misses);
    if (full && out == NOWHERE && (r->components & COMPONENT_WRITEBACK))
        chip_ref_count(r, SIGNAL_L2_CLEAN_EVICTIONS);
    if (!fills_from_victims(r))
        write_back(r, 2, out);
    else if (out != NOWHERE && (r->components & COMPONENT_WRITEBACK))
        chip_ref_count(r, SIGNAL_L2_WRITEBACKS);
    const bool memory =
        ask_behind(r, addr, write, asker, r->l2.gone, out != NOWHERE);
    buffers_ref_miss(r, !goes_on(asker), memory, out != NOWHERE);
}

/* Counts the lines of prefetchers that have left unused. */
static void
count_lost(struct chip_ref *r)
{
    uint64_t *n = r->signals[r->outside];

    n[SIGNAL_L1D_PREFETCHES_USELESS] +=
        prefetcher_ref_lost(&r->l1d_prefetcher, &r->l1d);
    if (r->l2_prefetcher.kind != L2_PREFETCH_NONE)
        n[SIGNAL_L2_PREFETCHES_USELESS] +=
            prefetcher_ref_lost(&r->l2_prefetcher, &r->l2);
}

/* A line that the cache had, or lacked, was asked for. */
static void
tell_prefetcher(struct chip_ref *r, struct prefetcher_ref *p, uint64_t line,
                bool had, enum signal_id useful, struct wanted_ref *wanted)
{
    const bool waited = prefetcher_ref_used(p, line);
    const struct block none = {0},
                       *b = r->previous == NULL ? &none : r->previous;

    if (waited)
        chip_ref_count(r, useful);
    if (waited || !had)
        prefetcher_ref_ask(p, line, b->last_pc * 65536 + b->instructions,
                           wanted);
}

/* Asks as ask_shared() does, and finds what the L2's prefetcher wants. */
static void
ask_second(struct chip_ref *r, uint64_t addr, bool write,
           const struct asker *asker, struct wanted_ref *wanted)
{
    const bool told = r->l2_prefetcher.kind != L2_PREFETCH_NONE;
    const uint64_t line = told ? addr / r->l2.line_size : 0;
    const bool had = told && cache_ref_has(&r->l2, line);

    ask_shared(r, addr, write, asker);
    count_lost(r);
    if (told)
        tell_prefetcher(r, &r->l2_prefetcher, line, had,
                        SIGNAL_L2_PREFETCHES_USEFUL, wanted);
}

/* Brings in what the L2's prefetcher wants. */
static void
fetch_second(struct chip_ref *r, const struct wanted_ref *wanted)
{
    for (unsigned i = 0; i < wanted->count; i++) {
        const uint64_t line = wanted->lines[i];
        if (cache_ref_has(&r->l2, line))
            continue;
        ask_shared(r, line * r->l2.line_size, false, &far_prefetcher);
        count_lost(r);
        prefetcher_ref_wait(&r->l2_prefetcher, line);
    }
}

/* Asks what is behind the L1s, and brings in what the L2's prefetcher wants. */
static void
ask_behind_first(struct chip_ref *r, uint64_t addr, const struct asker *asker)
{
    struct wanted_ref wanted = {0};

    ask_second(r, addr, false, asker, &wanted);
    fetch_second(r, &wanted);
}

/* Returns whether the page-walk cache of a level has an entry, which the cache
 * has from now on. */
static bool
walk_cache_has(struct chip_ref *r, unsigned level, uint64_t page)
{
    struct walk_cache_ref *const c = &r->walk_caches[level - 2];
    const uint64_t entries = r->params[PARAM_WALK_LEVEL2 + level - 2];
    uint64_t oldest = 0;

    for (unsigned i = 1; i < level; i++)
        page /= 512;
    for (uint64_t i = 0; i < entries; i++) {
        if (c->used[i] != 0 && c->pages[i] == page) {
            c->used[i] = r->walks;
            return true;
        }
        if (c->used[i] < c->used[oldest])
            oldest = i;
    }
    if (entries != 0) {
        c->pages[oldest] = page;
        c->used[oldest] = r->walks;
    }
    return false;
}

/* A walk through radix tables: 2^32 entries of level 1, and so on, of which it
 * reads those that no page-walk cache has, down to the level that has the page.
 */
static void
walk_radix(struct chip_ref *r, uint64_t page, unsigned lowest,
           enum signal_id references, const struct asker *asker)
{
    static const uint64_t tables[] = {
        0, UINT64_C(8) << 32, (UINT64_C(8) << 32) + (UINT64_C(8) << 23),
        (UINT64_C(8) << 32) + (UINT64_C(8) << 23) + (UINT64_C(8) << 14)};
    const bool code = references == SIGNAL_ITLB_WALK_REFS;
    const uint64_t levels = r->params[PARAM_TLB_WALK];
    uint64_t level = levels, served = 0;
    bool any = false;

    r->walks++;
    for (unsigned l = 2; l <= levels; l++)
        any = any || r->params[PARAM_WALK_LEVEL2 + l - 2] != 0;
    for (unsigned l = lowest + 1; l <= levels && served == 0; l++) {
        if (walk_cache_has(r, l, page))
            served = l;
    }
    if (served == 2)
        chip_ref_count(r, code ? SIGNAL_ITLB_WALK_LEVEL2_HITS
                               : SIGNAL_DTLB_WALK_LEVEL2_HITS);
    else if (served == 3)
        chip_ref_count(r, code ? SIGNAL_ITLB_WALK_LEVEL3_HITS
                               : SIGNAL_DTLB_WALK_LEVEL3_HITS);
    else if (served == 4)
        chip_ref_count(r, code ? SIGNAL_ITLB_WALK_LEVEL4_HITS
                               : SIGNAL_DTLB_WALK_LEVEL4_HITS);
    else if (any)
        chip_ref_count(r, code ? SIGNAL_ITLB_WALK_CACHE_MISSES
                               : SIGNAL_DTLB_WALK_CACHE_MISSES);
    if (served != 0)
        level = served - 1;
    for (; level >= lowest; level--) {
        uint64_t entry = page % (UINT64_C(1) << 32);
        for (unsigned i = 1; i < level; i++)
            entry /= 512;
        chip_ref_count(r, references);
        ask_shared(r, TABLES_AT + tables[level - 1] + entry * 8, false, asker);
        count_lost(r);
    }
}

static void
walk(struct chip_ref *r, uint64_t page, enum signal_id references,
     const struct asker *asker)
{
    if (r->params[PARAM_TLB_TABLES] == TLB_TABLES_RADIX) {
        walk_radix(r, page, 1, references, asker);
        return;
    }
    for (uint64_t i = 0; i < r->params[PARAM_TLB_WALK]; i++) {
        const uint64_t entry = i * TABLE_ENTRIES + page % TABLE_ENTRIES;
        chip_ref_count(r, references);
        ask_shared(r, TABLES_AT + entry * TABLE_ENTRY, false, asker);
        count_lost(r);
    }
}

static bool
joint(const struct chip_ref *r)
{
    return r->params[PARAM_TLB_KIND] == TLB_KIND_JOINT;
}

/* The page of a first-level TLB. */
static uint64_t
small_page(const struct chip_ref *r, uint64_t addr)
{
    const uint64_t size = r->params[PARAM_TLB_PAGE];

    return addr / (size < 4096 ? size : 4096);
}

/* Asks the TLBs behind TLB `from`, each for a page that those before lack.
 * Returns whether one of them has the page. */
static bool
ask_tlbs_behind(struct chip_ref *r, unsigned from, uint64_t page,
                enum tlb_asker asker)
{
    /* The first choice is no TLB, the others are the TLBs behind the first two.
     */
    const uint64_t next = r->params[tally_tlbs[from].next];
    const unsigned tlb = 1 + (unsigned)next;

    if (next == 0)
        return false;
    if (r->tlbs[tlb].entries != 0) {
        const struct tlb_row *row = &tally_tlbs[tlb];
        const bool miss = tlb_ref_access(&r->tlbs[tlb], page).miss;
        chip_ref_count(r, miss ? row->misses[asker] : row->hits[asker]);
        if (!miss)
            return true;
    }
    return ask_tlbs_behind(r, tlb, page, asker);
}

static void
translate_fetch(struct chip_ref *r, uint64_t addr)
{
    const uint64_t page = addr / r->params[PARAM_TLB_PAGE];

    if ((r->components & COMPONENT_ITLB) == 0)
        return;
    if (r->itlb_first.entries != 0) {
        if (!tlb_ref_access(&r->itlb_first, small_page(r, addr)).miss)
            return;
        chip_ref_count(r, SIGNAL_ITLB_FIRST_MISSES);
    }
    const unsigned tlb = joint(r) ? TLB_DTLB : TLB_ITLB;
    if (!tlb_ref_access(&r->tlbs[tlb], page).miss)
        return;
    chip_ref_count(r, SIGNAL_ITLB_MISSES);
    if (ask_tlbs_behind(r, tlb, page, TLB_FETCH))
        return;
    walk(r, page, SIGNAL_ITLB_WALK_REFS, &fetch_walks);
}

#define HUGE_PAGE (UINT64_C(2) << 20)

/* Returns whether an access to an address is to a huge page, which the first
 * access to the piece decides. */
static bool
is_huge(struct chip_ref *r, uint64_t addr)
{
    const uint64_t piece = (addr - r->huge_at) / HUGE_PAGE;

    if (r->huge_at == 0 || addr < r->huge_at || piece >= HUGE_REF_PIECES)
        return false;
    struct huge_ref *const huge = &r->huge[piece];
    if (!huge->known)
        *huge = (struct huge_ref){huge->may, true, huge->may};
    return huge->is_huge;
}

/* Translates the address of a huge page, which has other numbers than small
 * pages have. */
static void
translate_huge(struct chip_ref *r, uint64_t addr, bool store)
{
    const uint64_t page = addr / HUGE_PAGE + (UINT64_C(1) << 55);
    struct tlb_ref *const first =
        r->dtlb_huge.entries != 0 ? &r->dtlb_huge : &r->tlbs[TLB_DTLB];

    if (!tlb_ref_access(first, page).miss)
        return;
    chip_ref_count(r,
                   store ? SIGNAL_DTLB_STORE_MISSES : SIGNAL_DTLB_LOAD_MISSES);
    chip_ref_count(r,
                   store ? SIGNAL_HUGE_STORE_MISSES : SIGNAL_HUGE_LOAD_MISSES);
    if (ask_tlbs_behind(r, TLB_DTLB, page, store ? TLB_STORE : TLB_LOAD))
        return;
    chip_ref_count(r, store ? SIGNAL_HUGE_STORE_WALKS : SIGNAL_HUGE_LOAD_WALKS);
    if (r->params[PARAM_TLB_WALK] != 0)
        walk_radix(r, addr / 4096, 2, SIGNAL_DTLB_WALK_REFS, &data_walks);
}

static void
translate_data(struct chip_ref *r, uint64_t addr, bool store, bool passes)
{
    const uint64_t page = addr / r->params[PARAM_TLB_PAGE];
    bool near = true;

    if ((r->components & COMPONENT_DTLB) == 0)
        return;
    if (is_huge(r, addr)) {
        translate_huge(r, addr, store);
        return;
    }
    if (r->dtlb_first.entries != 0 && !passes)
        near = !tlb_ref_access(&r->dtlb_first, small_page(r, addr)).miss;
    if (!tlb_ref_access(&r->tlbs[TLB_DTLB], page).miss) {
        if (!near && !store && (r->components & COMPONENT_DTLB_FIRST))
            chip_ref_count(r, SIGNAL_DTLB_TRANSFERS);
        return;
    }
    chip_ref_count(r,
                   store ? SIGNAL_DTLB_STORE_MISSES : SIGNAL_DTLB_LOAD_MISSES);
    if (ask_tlbs_behind(r, TLB_DTLB, page, store ? TLB_STORE : TLB_LOAD))
        return;
    walk(r, page, SIGNAL_DTLB_WALK_REFS, &data_walks);
}

static void
fetch(struct chip_ref *r, const struct block *block)
{
    const uint64_t size = r->l1i.line_size;

    for (uint64_t line = block->pc / size; line <= (block->end - 1) / size;
         line++) {
        const uint64_t addr = line * size;
        uint64_t out;
        translate_fetch(r, addr < block->pc ? block->pc : addr);
        const bool alike = cache_ref_has_alike(
            &r->l1i, line, (uint64_t)1 << r->params[PARAM_L1I_MICROTAG]);
        if (access_cache(&r->l1i, addr, false, &out))
            continue;
        chip_ref_count(r, SIGNAL_L1I_MISSES);
        if (alike && r->params[PARAM_L1I_MICROTAG] != 0)
            chip_ref_count(r, SIGNAL_L1I_MICROTAG_FINDS);
        ask_behind_first(r, addr, &fetches);
    }
}

void
chip_ref_block(struct chip_ref *r, const struct block *block)
{
    if ((r->components & COMPONENT_DIRECTION) && r->previous != NULL) {
        branch_ref_decide(r, r->previous, block);
        branch_ref_find_target(r, r->previous, block->pc);
    }
    r->previous = block;
    if (r->components & COMPONENT_L1I)
        fetch(r, block);
}

/* A store makes a line of the L1D dirty, if that has it. */
static void
update_l1d(struct chip_ref *r, uint64_t addr)
{
    const uint64_t line = addr / r->l1d.line_size;

    if (!cache_ref_has(&r->l1d, line) || cache_ref_is_dirty(&r->l1d, line))
        return;
    chip_ref_count(r, SIGNAL_L1D_UPDATES);
    cache_ref_mark(&r->l1d, line);
    if (tells_l2(r) && !cache_ref_has(&r->l2, addr / r->l2.line_size))
        snoop_ref_write(r, addr, true);
    else if (tells_l2(r))
        update_l2(r, addr);
}

/* As access_cache(), with the L1D's victim cache. */
static bool
access_l1d(struct chip_ref *r, uint64_t addr, bool write, uint64_t *out)
{
    const bool hit = access_cache(&r->l1d, addr, write, out);

    if (r->l1d.from_victims)
        chip_ref_count(r, SIGNAL_L1D_VICTIM_HITS);
    return hit;
}

/* Brings in what the L1D's prefetcher wants. If the line that was the first of
 * its set was asked for, that line is made the first again. */
static void
fetch_first(struct chip_ref *r, const struct wanted_ref *wanted)
{
    for (unsigned i = 0; i < wanted->count; i++) {
        const uint64_t line = wanted->lines[i];
        const uint64_t addr = line * r->l1d.line_size;
        struct wanted_ref far = {0};
        uint64_t first, out;
        if (cache_ref_has(&r->l1d, line))
            continue;
        const bool any = cache_ref_first(&r->l1d, line, &first) &&
                         !prefetcher_ref_waits(&r->l1d_prefetcher, first);
        access_l1d(r, addr, false, &out);
        chip_ref_count(r, SIGNAL_L1D_PREFETCHES);
        write_back(r, 1, out);
        ask_second(r, addr, false, &near_prefetcher, &far);
        if (any)
            cache_ref_access(&r->l1d, first);
        prefetcher_ref_wait(&r->l1d_prefetcher, line);
        fetch_second(r, &far);
    }
}

/* Tells the L1D's prefetcher of a line, and brings in what it and the L2's
 * prefetcher want. */
static void
ask_prefetchers(struct chip_ref *r, uint64_t addr, bool had,
                const struct wanted_ref *far)
{
    struct wanted_ref near = {0};

    count_lost(r);
    tell_prefetcher(r, &r->l1d_prefetcher, addr / r->l1d.line_size, had,
                    SIGNAL_L1D_PREFETCHES_USEFUL, &near);
    fetch_first(r, &near);
    fetch_second(r, far);
}

static void
allocate(struct chip_ref *r, uint64_t addr, bool store)
{
    const bool had = cache_ref_has(&r->l1d, addr / r->l1d.line_size);
    struct wanted_ref far = {0};
    uint64_t out;

    translate_data(r, addr, store, false);
    if (store && (r->components & COMPONENT_WRITEBACK))
        update_l1d(r, addr);
    if (!access_l1d(r, addr, store, &out)) {
        chip_ref_count(r, store ? SIGNAL_L1D_STORE_MISSES
                                : SIGNAL_L1D_LOAD_MISSES);
        write_back(r, 1, out);
        ask_second(r, addr, store && tells_l2(r), store ? &stores : &loads,
                   &far);
    }
    ask_prefetchers(r, addr, had, &far);
}

/* Passes the first level by. */
static void
pass_through(struct chip_ref *r, uint64_t addr, const struct asker *asker)
{
    translate_data(r, addr, true, false);
    ask_shared(r, addr, true, asker);
}

/* Where the next line starts. */
static uint64_t
next_line(const struct chip_ref *r, uint64_t addr)
{
    const uint64_t size = r->l1d.line_size;

    return (addr / size + 1) * size;
}

static bool
write_through(const struct chip_ref *r)
{
    return r->params[PARAM_L1D_WRITE] == L1D_WRITE_THROUGH;
}

/* Counts an access that needs two lines of the L1D. */
static void
count_split(struct chip_ref *r, uint64_t addr, uint64_t size)
{
    if ((r->components & COMPONENT_L1D) && next_line(r, addr) < addr + size)
        chip_ref_count(r, SIGNAL_SPLIT_ACCESSES);
}

void
chip_ref_load(struct chip_ref *r, uint64_t addr, uint64_t size)
{
    const uint64_t end = addr + size;

    if (r->components & COMPONENT_RAW)
        raw_ref_load(r, addr, size);
    count_split(r, addr, size);
    for (; addr < end; addr = next_line(r, addr))
        allocate(r, addr, false);
}

/* Whether there is what prefetches are performed in. */
static bool
prefetches(const struct chip_ref *r)
{
    const uint64_t *p = r->params;

    return p[PARAM_PREFETCH_DATA] == PREFETCH_DATA_PERFORMED &&
           p[PARAM_L3_SHARED] != L3_SHARED_CORE &&
           (p[PARAM_L2_SHARED] == L2_SHARED_CORE || p[PARAM_L3_SIZE] != 0 ||
            !write_through(r));
}

void
chip_ref_prefetch(struct chip_ref *r, uint64_t addr, bool near)
{
    uint64_t out;

    if (!prefetches(r))
        return;
    if (!near && (r->components & COMPONENT_L2) != 0) {
        chip_ref_count(r, SIGNAL_FAR_PREFETCHES);
        ask_behind_first(r, addr, &far_prefetches);
    }
    if (!near)
        return;
    const bool had = cache_ref_has(&r->l1d, addr / r->l1d.line_size);
    struct wanted_ref far = {0};
    chip_ref_count(r, SIGNAL_NEAR_PREFETCHES);
    if (!access_l1d(r, addr, false, &out)) {
        chip_ref_count(r, SIGNAL_NEAR_PREFETCH_MISSES);
        write_back(r, 1, out);
        ask_second(r, addr, false, &near_prefetches, &far);
    }
    ask_prefetchers(r, addr, had, &far);
}

/* A load whose misses are apart. */
void
chip_ref_bulk(struct chip_ref *r, uint64_t addr, uint64_t size)
{
    uint64_t *n = r->signals[r->outside];
    const uint64_t l1d = n[SIGNAL_L1D_LOAD_MISSES],
                   l2 = n[SIGNAL_L2_LOAD_MISSES];
    uint64_t behind[LEVELS_REF];

    for (unsigned i = 0; i < LEVELS_REF; i++)
        behind[i] = n[level_refs[i].misses[BY_LOAD]];
    chip_ref_load(r, addr, size);
    if ((r->components & COMPONENT_BULK) == 0)
        return;
    n[SIGNAL_BULK_L1D_MISSES] += n[SIGNAL_L1D_LOAD_MISSES] - l1d;
    n[SIGNAL_BULK_L2_MISSES] += n[SIGNAL_L2_LOAD_MISSES] - l2;
    for (unsigned i = 0; i < LEVELS_REF; i++)
        n[level_refs[i].bulk] += n[level_refs[i].misses[BY_LOAD]] - behind[i];
}

/* Of a register that is no integer's, where such pass the L1D by. */
void
chip_ref_float(struct chip_ref *r, uint64_t addr, uint64_t size)
{
    const uint64_t end = addr + size;

    for (; addr < end; addr = next_line(r, addr)) {
        translate_data(r, addr, false, true);
        ask_shared(r, addr, false, &floats);
    }
}

void
chip_ref_store(struct chip_ref *r, uint64_t addr, uint64_t size)
{
    const uint64_t end = addr + size;

    if (r->components & COMPONENT_RAW)
        raw_ref_store(r, addr, size);
    if (!write_through(r))
        count_split(r, addr, size);
    for (; addr < end; addr = next_line(r, addr)) {
        if (write_through(r))
            pass_through(r, addr, &stores);
        else
            allocate(r, addr, true);
    }
}

void
chip_ref_atomic(struct chip_ref *r, uint64_t addr, uint64_t size)
{
    const uint64_t end = addr + size;

    if (!write_through(r))
        count_split(r, addr, size);
    for (; addr < end; addr = next_line(r, addr)) {
        if (write_through(r)) {
            pass_through(r, addr, &atomics);
            cache_ref_invalidate(&r->l1d, addr / r->l1d.line_size);
        } else {
            allocate(r, addr, false);
            if (r->components & COMPONENT_WRITEBACK)
                update_l1d(r, addr);
        }
    }
}
