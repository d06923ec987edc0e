/* SPDX-License-Identifier: MIT */
#include "machine/chip.h"

#include <stdlib.h>
#include <string.h>

#include "machine/ahead.h"
#include "machine/classes.h"
#include "machine/coherence.h"
#include "machine/curve.h"
#include "machine/inclusion.h"
#include "machine/levels.h"
#include "machine/ooo.h"
#include "machine/reasons.h"
#include "machine/recorder.h"
#include "machine/sharing.h"
#include "machine/strand.h"
#include "table/signals.h"

static void
filter_init(struct filter *f, uint64_t set_mask, uint32_t line_shift)
{
    const uint64_t sets = set_mask + 1;

    f->shift = line_shift;
    f->mask = (uint32_t)(sets < FILTER_SETS ? sets : FILTER_SETS) - 1;
    f->offset_shift = f->shift - 3;
    f->offset_mask = f->mask << 3;
    f->line_mask = ~(((uint64_t)1 << f->shift) - 1);
    filter_clear(f, false);
}

struct layout
chip_layout(const uint64_t *params)
{
    uint64_t line = params[PARAM_L1I_LINE];

    for (unsigned i = 0; i < CACHE_COUNT; i++) {
        const uint64_t other = params[tally_caches[i].size + 2];
        if (params[tally_caches[i].size] != 0 && other > line)
            line = other;
    }
    return layout_of(params[PARAM_LAYOUT],
                     line < UINT64_C(1) << LAYOUT_PAGE_SHIFT
                         ? line
                         : UINT64_C(1) << LAYOUT_PAGE_SHIFT);
}

uint64_t
chip_fetch_slots(const uint64_t *params)
{
    const uint64_t sets = params[PARAM_L1I_SIZE] /
                          (params[PARAM_L1I_WAYS] * params[PARAM_L1I_LINE]);

    return sets < FILTER_SETS ? sets : FILTER_SETS;
}

static int
init_cache(struct cache *c, const uint64_t *params, enum param_id size)
{
    /* size, ways and line of a cache stand together in this order. */
    return cache_init(c, params[size], (uint32_t)params[size + 1],
                      (uint32_t)params[size + 2]);
}

/* Sets up a cache that keeps its dirty lines where write-backs are counted. */
static int
init_back(struct cache *c, const struct chip *chip, enum param_id size)
{
    const int error = init_cache(c, chip->params, size);

    return error != 0 || (chip->components & COMPONENT_WRITEBACK) == 0
               ? error
               : cache_keep_dirty(c);
}

/* Sets up a cache, whose replacement is the parameter after the cache's line.
 * `keeps_dirty`: as init_back(). */
static int
init_level(struct cache *c, const struct chip *chip, enum param_id size,
           bool keeps_dirty)
{
#define LIKE_L2(level)                                                   \
    &&PARAM_##level##_REPLACEMENT == PARAM_##level##_SIZE + 3 &&         \
        (int)L2_REPLACEMENT_RANDOM == (int)level##_REPLACEMENT_RANDOM && \
        (int)L2_REPLACEMENT_PLRU == (int)level##_REPLACEMENT_PLRU
    static_assert(true LIKE_L2(L1I) LIKE_L2(L1D) LIKE_L2(L2) LIKE_L2(L3)
                      EACH_LEVEL(LIKE_L2),
                  "levels are alike");
    const int error = keeps_dirty ? init_back(c, chip, size)
                                  : init_cache(c, chip->params, size);

    return error == 0 ? cache_replace(c, chip->params[size + 3]) : error;
}

static int
init_l2s(struct chip *chip)
{
    int error = 0;

    for (unsigned i = 0; i < chip->node_count && error == 0; i++)
        error = init_level(&chip->l2[i], chip, PARAM_L2_SIZE, true);
    if (error == 0)
        error = prefetcher_init(&chip->l2_prefetcher,
                                &chip->params[PARAM_L2_PREFETCH], &chip->l2[0]);
    return error;
}

/* Makes the levels behind the L2 that run; those of cores on a bus are the
 * bus's. Returns 0 or TALLY_ENOMEM. */
static int
init_levels(struct chip *chip)
{
    int error = 0;

    if (chip->components & COMPONENT_BUS)
        return 0;
    for (unsigned i = 0; i < LEVELS_MOST && error == 0; i++) {
        struct level *level = &chip->levels[chip->level_count];
        if ((chip->components & level_rows[i].component) == 0)
            continue;
        level->row = &level_rows[i];
        error = init_level(&level->cache, chip, level->row->size, true);
        chip->level_count++;
    }
    return error;
}

/* Sets up a TLB as its parameters say, or a zeroed one that has no entries. */
static int
init_tlb(struct tlb *tlb, const uint64_t *params, const struct tlb_row *row)
{
    const uint32_t entries = (uint32_t)params[row->entries];
    const uint32_t ways = (uint32_t)params[row->ways];

    if (entries == 0)
        return 0;
    if (params[row->replacement] == ITLB_REPLACEMENT_NRU)
        return tlb_init(tlb, entries);
    return tlb_init_sets(tlb, entries, ways == 0 ? entries : ways,
                         params[row->replacement]);
}

/* Returns how many TLBs of a kind a core has. */
static unsigned
tlb_copies(const struct chip *chip, unsigned tlb)
{
    return chip->params[tally_tlbs[tlb].shared] == ITLB_SHARED_STRAND
               ? chip->strands_per_core
               : 1;
}

/* Returns how many TLBs a core has room for. */
static size_t
tlbs_of_core(const struct chip *chip)
{
    return (size_t)TLB_COUNT * chip->strands_per_core;
}

/* Makes the TLBs of a core. Returns 0 or TALLY_ENOMEM. */
static int
init_tlbs(struct core *core, const struct chip *chip)
{
    const unsigned most = chip->strands_per_core;
    int error = 0;

    static_assert((int)ITLB_REPLACEMENT_FIFO == (int)DTLB_REPLACEMENT_FIFO &&
                      (int)ITLB_SHARED_STRAND == (int)DTLB_SHARED_STRAND,
                  "all TLBs have the same choices");
    core->tlbs = calloc(tlbs_of_core(chip), sizeof(*core->tlbs));
    if (core->tlbs == NULL)
        return TALLY_ENOMEM;
    for (unsigned i = 0; i < TLB_COUNT; i++) {
        for (unsigned k = 0; k < tlb_copies(chip, i) && error == 0; k++)
            error = init_tlb(&core->tlbs[i * most + k], chip->params,
                             &tally_tlbs[i]);
    }
    for (unsigned k = 0; k < most; k++) {
        tlb_reserve(&core->tlbs[TLB_ITLB * most + k],
                    (uint32_t)chip->params[PARAM_ITLB_RESERVE]);
        tlb_reserve(&core->tlbs[TLB_DTLB * most + k],
                    (uint32_t)chip->params[PARAM_DTLB_RESERVE]);
    }
    return error;
}

/* Finds the TLBs that are asked one after the other, from `first` on. */
static void
init_chain(struct tlb_chain *chain, const uint64_t *params, unsigned first)
{
    for (unsigned i = first; i != TLB_COUNT; i = tlb_next(params, i)) {
        if (params[tally_tlbs[i].entries] != 0)
            chain->tlbs[chain->count++] = (uint8_t)i;
    }
}

/* A first-level TLB, if there is one. */
static int
init_first(struct tlb *tlb, uint64_t entries)
{
    return entries == 0 ? 0 : tlb_init(tlb, (uint32_t)entries);
}

/* Makes the page-walk caches of a core, fully associative and least recently
 * used; a cache of the top level would serve no walk better than the top level
 * itself. Returns 0 or TALLY_ENOMEM. */
static int
init_walk_caches(struct core *core, const struct chip *chip)
{
    static_assert(PARAM_WALK_LEVEL4 == PARAM_WALK_LEVEL2 + WALK_CACHES - 1,
                  "page-walk caches stand together");
    int error = 0;

    for (unsigned i = 0; chip->walk_caches && i < WALK_CACHES && error == 0;
         i++) {
        const uint32_t entries = (uint32_t)chip->params[PARAM_WALK_LEVEL2 + i];
        if (entries != 0 && i + 2 <= chip->params[PARAM_TLB_WALK])
            error = tlb_init_sets(&core->walk_caches[i], entries, entries,
                                  ITLB_REPLACEMENT_LRU);
    }
    return error;
}

/* Where COMPONENT_BUS runs, coherence_bus.c has the L2s and the L3s. */
static bool
has_own_l2(const struct chip *chip)
{
    return !chip->shared_l2 && (chip->components & COMPONENT_L2) != 0 &&
           (chip->components & COMPONENT_BUS) == 0;
}

/*
 * Returns the entries of the first-level data TLB. The one behind it is asked
 * at once with it, and so sees the same without it: it runs for its own misses
 * alone. Left out, bzip2 on Montecito takes a fifth less time: its 32 pages
 * void the filters of lines each time that all are used.
 */
static uint64_t
dtlb_first(const struct chip *chip)
{
    return chip->components & COMPONENT_DTLB_FIRST
               ? chip->params[PARAM_DTLB_FIRST]
               : 0;
}

static int
core_init(struct core *core, const struct chip *chip)
{
    const uint64_t *params = chip->params;
    int error = init_level(&core->l1i, chip, PARAM_L1I_SIZE, false);

    if (error == 0)
        error = init_level(&core->l1d, chip, PARAM_L1D_SIZE, chip->marks);
    if (error == 0)
        error =
            cache_keep_victims(&core->l1d, (uint32_t)params[PARAM_L1D_VICTIM]);
    if (error == 0)
        error = prefetcher_init(&core->l1d_prefetcher,
                                &params[PARAM_L1D_PREFETCH], &core->l1d);
    if (error == 0 && has_own_l2(chip))
        error = init_level(&core->l2, chip, PARAM_L2_SIZE, true);
    if (error == 0 && has_own_l2(chip))
        error = prefetcher_init(&core->l2_prefetcher,
                                &params[PARAM_L2_PREFETCH], &core->l2);
    if (error == 0 && (chip->components & COMPONENT_WAYS))
        error = ways_init(&core->ways, &core->l2, params[PARAM_L2_FORETOLD]);
    if (error == 0)
        error = init_tlbs(core, chip);
    if (error == 0)
        error = init_first(&core->itlb_first, params[PARAM_ITLB_FIRST]);
    if (error == 0)
        error = init_first(&core->dtlb_first, dtlb_first(chip));
    if (error == 0 && (chip->components & COMPONENT_DTLB) &&
        condition_holds(CONDITION_HUGE, params) &&
        params[PARAM_HUGE_ENTRIES] != 0)
        error = tlb_init_sets(
            &core->dtlb_huge, (uint32_t)params[PARAM_HUGE_ENTRIES],
            (uint32_t)params[PARAM_HUGE_WAYS], ITLB_REPLACEMENT_LRU);
    if (error == 0)
        error = init_walk_caches(core, chip);
    if (error == 0 && chip->coherence->core_init != NULL)
        error = chip->coherence->core_init(core, chip);
    return error;
}

static void
core_finish(struct core *core, const struct chip *chip)
{
    cache_finish(&core->l1i);
    cache_finish(&core->l1d);
    cache_finish(&core->l2);
    prefetcher_finish(&core->l1d_prefetcher);
    prefetcher_finish(&core->l2_prefetcher);
    ways_finish(&core->ways);
    for (size_t i = 0; core->tlbs != NULL && i < tlbs_of_core(chip); i++)
        tlb_finish(&core->tlbs[i]);
    free(core->tlbs);
    core->tlbs = NULL;
    tlb_finish(&core->itlb_first);
    tlb_finish(&core->dtlb_first);
    tlb_finish(&core->dtlb_huge);
    for (unsigned i = 0; i < WALK_CACHES; i++)
        tlb_finish(&core->walk_caches[i]);
    if (chip->coherence->core_finish != NULL)
        chip->coherence->core_finish(core);
}

int
chip_init(struct chip *chip, const uint64_t *params, uint64_t components,
          unsigned slots)
{
    int error = 0;

    memset(chip, 0, sizeof(*chip));
    memcpy(chip->params, params, sizeof(chip->params));
    chip->components = components;
    chip->coherence = coherence_of(components);
    chip->node_count = (unsigned)params[PARAM_NODES];
    chip->core_count = (unsigned)params[PARAM_CORES] * chip->node_count;
    atomic_init(&chip->meets, chip->node_count > 1);
    chip->strands_per_core = (unsigned)params[PARAM_STRANDS];
    chip->page_shift = (uint32_t)__builtin_ctzll(params[PARAM_TLB_PAGE]);
    chip->write_through = params[PARAM_L1D_WRITE] == L1D_WRITE_THROUGH;
    chip->shared_l2 = params[PARAM_L2_SHARED] == L2_SHARED_CHIP;
    chip->store_filter = chip->write_through && (components & COMPONENT_L2);
    chip->marks = !chip->write_through && (components & COMPONENT_WRITEBACK);
    chip->tells = chip->marks && params[PARAM_L2_DIRTY] == L2_DIRTY_STORED;
    chip->inclusive = condition_holds(CONDITION_INCLUSION, params) &&
                      (components & COMPONENT_WRITEBACK);
    chip->exclusive = params[PARAM_L3_FILL] == L3_FILL_VICTIMS &&
                      (components & COMPONENT_L3) &&
                      (components & COMPONENT_BUS) == 0;
    chip->buffers = condition_holds(CONDITION_BUFFERS, params);
    chip->microtag =
        (uint32_t)((UINT64_C(1) << params[PARAM_L1I_MICROTAG]) - 1);
    if ((components & COMPONENT_BUS) &&
        condition_holds(CONDITION_AHEAD, params))
        chip->ahead = (unsigned)params[PARAM_PREFETCH_LINES];
    chip->layout = chip_layout(params);
    chip->joint_tlb = params[PARAM_TLB_KIND] == TLB_KIND_JOINT;
    chip->radix = params[PARAM_TLB_TABLES] == TLB_TABLES_RADIX;
    chip->walk_caches = condition_holds(CONDITION_WALK_CACHES, params);
    init_chain(&chip->code_tlbs, params, chip->joint_tlb ? TLB_DTLB : TLB_ITLB);
    init_chain(&chip->data_tlbs, params, TLB_DTLB);
    chip->prefetches = (components & COMPONENT_L1D) &&
                       condition_holds(CONDITION_PREFETCH, params);
    chip->prefetching = (components & COMPONENT_L1D) &&
                        condition_holds(CONDITION_PREFETCHER, params);
    chip->passes = params[PARAM_L1D_FLOAT] == L1D_FLOAT_PASSED;
    chip->stores_apart =
        chip->write_through || chip->marks || (components & COMPONENT_SHARING);
    chip->bank_shift =
        (uint32_t)__builtin_ctzll(params[PARAM_MEMORY_INTERLEAVE]);
    chip->bank_mask = (uint32_t)params[PARAM_MEMORY_BANKS] - 1;
    chip->cores = calloc(chip->core_count, sizeof(*chip->cores));
    chip->strands = calloc(slots, sizeof(struct strand *));
    if (chip->coherence->chip_size != 0)
        chip->behind = calloc(1, chip->coherence->chip_size);
    if (chip->cores == NULL || chip->strands == NULL ||
        (chip->coherence->chip_size != 0 && chip->behind == NULL))
        error = TALLY_ENOMEM;
    if (error == 0 && chip->shared_l2 && (components & COMPONENT_L2))
        error = init_l2s(chip);
    if (error == 0)
        error = init_levels(chip);
    if (components & COMPONENT_DRAM)
        dram_init(&chip->dram, params);
    if (error == 0 && (components & COMPONENT_L1D) &&
        condition_holds(CONDITION_SHARING, params))
        error = sharing_init(chip);
    if (error != 0)
        chip_finish(chip);
    return error;
}

static void
free_tables(struct strand *s)
{
    free(s->behind);
    free(s->sizes);
    free(s->ran);
    ooo_destroy(s->ooo);
    free(s->direction.counters);
    targets_finish(&s->targets);
}

void
chip_finish(struct chip *chip)
{
    for (unsigned i = 0; chip->cores != NULL && i < chip->core_count; i++)
        core_finish(&chip->cores[i], chip);
    for (unsigned i = 0; chip->strands != NULL && i < chip->slots_used; i++) {
        if (chip->strands[i] != NULL)
            free_tables(chip->strands[i]);
    }
    for (unsigned i = 0; i < NODES_MAX; i++)
        cache_finish(&chip->l2[i]);
    prefetcher_finish(&chip->l2_prefetcher);
    if (chip->behind != NULL && chip->coherence->chip_finish != NULL)
        chip->coherence->chip_finish(chip);
    free(chip->behind);
    sharing_finish(chip);
    for (unsigned i = 0; i < chip->level_count; i++)
        cache_finish(&chip->levels[i].cache);
    free(chip->cores);
    free(chip->strands);
    memset(chip, 0, sizeof(*chip));
}

/* Returns the strand that the nth thread gets: of spread threads, one of each
 * node and core first. */
static unsigned
place_number(const struct chip *chip, unsigned n)
{
    const unsigned nodes = chip->node_count;
    const unsigned cores = chip->core_count / nodes;

    if (chip->params[PARAM_PLACE_THREADS] == PLACE_THREADS_PACK)
        return n;
    const unsigned core = n % nodes * cores + n / nodes % cores;
    return core * chip->strands_per_core + n / (nodes * cores);
}

/* Returns the first strand that no live thread has; where all are taken, round
 * robin. */
static unsigned
choose_number(const struct chip *chip, unsigned slot)
{
    const unsigned count = chip->core_count * chip->strands_per_core;
    bool taken[4096] = {false};

    for (unsigned i = 0; i < chip->slots_used; i++) {
        if (chip->strands[i] != NULL)
            taken[chip->strands[i]->number] = true;
    }
    for (unsigned n = 0; n < count; n++) {
        if (!taken[place_number(chip, n)])
            return place_number(chip, n);
    }
    return place_number(chip, slot % count);
}

static const struct block no_block = {.taken_pc = NO_LINE};

/* Forgets which lines are the last of their sets. */
static void
clear_filters(struct strand *s)
{
    filter_clear(&s->fetch, false);
    filter_clear(&s->data, false);
    filter_clear(&s->store, false);
}

/* Forgets everything learned: filters, history, what waits in the queue. */
static void
strand_reset(struct strand *s)
{
    clear_filters(s);
    for (size_t i = 0; i < FILTER_SETS; i++)
        s->fetch.second[i] = s->data.second[i] = NO_LINE;
    memset(s->pages.data, 0, sizeof(s->pages.data));
    memset(s->pages.code, 0, sizeof(s->pages.code));
    memset(s->pages.far, 0, sizeof(s->pages.far));
    s->previous = &no_block;
    s->direction.history = 0;
    if (s->ooo != NULL)
        ooo_reset(s->ooo);
    s->repeats = 0;
    s->span.instructions = 0;
    s->look.left = s->look.step = LOOK_LEAST;
    s->interval.length = LOOK_LEAST;
    s->interval.clock = s->interval.boundary = 0;
    if (s->behind != NULL)
        memset(s->behind, 0, s->chip->coherence->strand_size);
    s->queue.next = s->queue.entries;
    s->queue.end = s->queue.entries + (s->chip->prefetching ? 1 : QUEUE_LENGTH);
    if (s->direction.counters != NULL)
        memset(s->direction.counters, COUNTER_START,
               s->chip->params[PARAM_BRANCH_ENTRIES]);
    targets_reset(&s->targets);
    if (s->chip->components & COMPONENT_RAW)
        raw_init(&s->raw, s->chip->params);
}

bool
chip_turns(const struct strand *s)
{
    const struct cache *const l1d = &s->core->l1d;

    return l1d->set_mask < FILTER_SETS && l1d->ways > 1 &&
           l1d->replacement == L2_REPLACEMENT_LRU &&
           s->core->l1d_prefetcher.kind == L1D_PREFETCH_NONE &&
           s->chip->layout.lines == 0;
}

static void
strand_filters(struct strand *s)
{
    const struct cache *l1d = &s->core->l1d;
    uint64_t store_mask = l1d->set_mask;
    uint32_t store_shift = l1d->line_shift;

    filter_init(&s->fetch, s->core->l1i.set_mask, s->core->l1i.line_shift);
    filter_init(&s->data, l1d->set_mask, l1d->line_shift);
    s->fetch.turns = s->core->l1i.set_mask < FILTER_SETS &&
                     s->core->l1i.ways > 1 &&
                     s->core->l1i.replacement == L2_REPLACEMENT_LRU;
    s->data.turns = chip_turns(s);
    if (s->chip->coherence->store_sets != NULL) {
        s->chip->coherence->store_sets(s, &store_mask, &store_shift);
    } else if (s->chip->store_filter) {
        store_mask = s->l2->set_mask;
        store_shift = s->l2->line_shift;
    }
    filter_init(&s->store, store_mask, store_shift);
}

/* Returns the smallest page that a TLB has in front of the last. */
static uint32_t
first_shift(const struct chip *chip, uint64_t entries)
{
    const bool small = entries != 0 && chip->page_shift > TLB_FIRST_SHIFT;

    return small ? TLB_FIRST_SHIFT : chip->page_shift;
}

/* The core's L2 may hold lines from now on. */
static void
use_core(struct chip *chip, const struct core *core)
{
    const uint64_t used = chip->used_cores | (uint64_t)1
                                                 << (core - chip->cores);

    if ((chip->components & (COMPONENT_SNOOP | COMPONENT_BUS)) == 0 &&
        chip->sharing == NULL)
        return;
    if ((used & (used - 1)) != 0)
        sharing_begin(chip);
    chip->used_cores = used;
    if ((chip->used_cores & (chip->used_cores - 1)) != 0)
        atomic_store(&chip->meets, true);
}

/* Makes room for the sizes of queued requests, where misses are told apart. */
static bool
init_sizes(struct strand *s)
{
    if (s->chip->classes != NULL && s->sizes == NULL)
        s->sizes = calloc(QUEUE_LENGTH + QUEUE_SLACK, 1);
    return s->chip->classes == NULL || s->sizes != NULL;
}

static int
strand_init(struct strand *s)
{
    struct chip *chip = s->chip;

    s->core = &chip->cores[s->number / chip->strands_per_core];
    s->node = s->number / chip->strands_per_core /
              (chip->core_count / chip->node_count);
    if (s->core->l1d.ways == 0 && core_init(s->core, chip) != 0) {
        core_finish(s->core, chip);
        return TALLY_ENOMEM;
    }
    use_core(chip, s->core);
    if ((chip->components & (COMPONENT_L2 | COMPONENT_BUS)) == COMPONENT_L2)
        s->l2 = chip->shared_l2 ? &chip->l2[s->node] : &s->core->l2;
    for (unsigned i = 0; i < TLB_COUNT; i++) {
        const unsigned copy = s->number % tlb_copies(chip, i);
        s->tlbs[i] = &s->core->tlbs[i * chip->strands_per_core + copy];
    }
    strand_filters(s);
    s->pages.shift = first_shift(chip, dtlb_first(chip));
    s->pages.code_shift = first_shift(chip, chip->params[PARAM_ITLB_FIRST]);
    if (chip->params[PARAM_TLB_THREADS] == TLB_THREADS_APART)
        s->pages.tag = (uint64_t)(s->number % chip->strands_per_core)
                       << TLB_TAG_SHIFT;
    s->runs.itlb = (chip->components & COMPONENT_ITLB) != 0;
    s->runs.dtlb = (chip->components & COMPONENT_DTLB) != 0;
    s->runs.store_filter = chip->store_filter;
    s->runs.marks = chip->marks;
    s->runs.fetch_voids =
        s->runs.store_filter &&
        (s->core->bus == NULL || s->core->bus->l2i.words == NULL);
    if (chip->components & COMPONENT_PREDICTOR) {
        s->direction.mask = branch_history_mask(chip->params);
        s->direction.counters = malloc(chip->params[PARAM_BRANCH_ENTRIES]);
        if (s->direction.counters == NULL)
            return TALLY_ENOMEM;
    }
    if (chip->components & COMPONENT_OOO)
        s->ooo = ooo_create(chip->params);
    if (chip->coherence->strand_size != 0)
        s->behind = calloc(1, chip->coherence->strand_size);
    if ((chip->coherence->strand_size != 0 && s->behind == NULL) ||
        ((chip->components & COMPONENT_OOO) && s->ooo == NULL) ||
        sharing_strand_init(s) != 0 || !init_sizes(s) ||
        targets_init(&s->targets, chip->params, chip->components) != 0) {
        free(s->behind);
        free(s->sizes);
        free(s->ran);
        ooo_destroy(s->ooo);
        free(s->direction.counters);
        return TALLY_ENOMEM;
    }
    s->targets.layout = chip->layout;
    strand_reset(s);
    return 0;
}

static void
core_join(struct strand *s)
{
    lock_take(&s->core->lock);
    s->sibling = s->core->strands;
    s->core->strands = s;
    lock_give(&s->core->lock);
}

static void
core_leave(struct strand *s)
{
    struct strand **at = &s->core->strands;

    lock_take(&s->core->lock);
    while (*at != s)
        at = &(*at)->sibling;
    *at = s->sibling;
    lock_give(&s->core->lock);
}

static void
settle_all(struct chip *chip)
{
    for (unsigned i = 0; i < chip->slots_used; i++) {
        if (chip->strands[i] != NULL && chip->curve != NULL)
            curve_leave(chip->strands[i]);
        if (chip->strands[i] != NULL)
            strand_settle(chip->strands[i]);
    }
}

int
strand_start(struct chip *chip, unsigned slot, struct counts_strand *counts,
             struct strand *s)
{
    memset(s, 0, sizeof(*s));
    s->chip = chip;
    s->counts = counts;
    s->exec = counts->exec[0];
    s->total = counts->totals[0].signal;

    if (atomic_load(&chip->live) == 1)
        settle_all(chip);
    lock_take(&chip->lock);
    s->number = choose_number(chip, slot);
    const int error = strand_init(s);
    if (error == 0) {
        chip->strands[slot] = s;
        core_join(s);
        if (slot >= chip->slots_used)
            chip->slots_used = slot + 1;
    }
    lock_give(&chip->lock);
    if (error != 0)
        return error;
    counts->strand = s->number;
    atomic_fetch_add(&chip->live, 1);
    return 0;
}

void
strand_rest(struct strand *s)
{
    if (s->ooo != NULL)
        ooo_enter(s, NULL);
    strand_drain(s);
    if (s->chip->coherence->rest != NULL)
        s->chip->coherence->rest(s);
    if (s->chip->curve != NULL)
        curve_leave(s);
}

void
strand_goes_on(struct strand *s)
{
    if (s->core->last == s)
        return;
    s->core->last = s;
    clear_filters(s);
}

void
strand_begins_turn(struct strand *s)
{
    struct reasons *const reasons =
        s->chip->classes != NULL ? s->chip->classes->reasons : s->chip->reasons;

    strand_goes_on(s);
    s->turn_ran = (uint64_t)(s->look.left - s->look.step);
    if (reasons != NULL)
        reasons_turn(reasons, s);
}

void
strand_end(struct strand *s, unsigned slot)
{
    struct chip *chip = s->chip;

    if (chip->curve != NULL)
        curve_leave(s);
    if (atomic_load(&chip->live) == 1)
        strand_settle(s);
    strand_rest(s);
    lock_take(&chip->lock);
    if (chip->coherence->leave != NULL)
        chip->coherence->leave(s);
    chip->strands[slot] = NULL;
    core_leave(s);
    lock_give(&chip->lock);
    atomic_fetch_sub(&chip->live, 1);
    free_tables(s);
}

static void
core_clear(struct core *core, const struct chip *chip)
{
    if (core->l1d.ways == 0)
        return;
    cache_clear(&core->l1i);
    cache_clear(&core->l1d);
    if (core->l2.ways != 0)
        cache_clear(&core->l2);
    prefetcher_clear(&core->l1d_prefetcher);
    prefetcher_clear(&core->l2_prefetcher);
    if (core->ways.order != NULL)
        ways_clear(&core->ways, &core->l2);
    for (size_t i = 0; i < tlbs_of_core(chip); i++) {
        if (core->tlbs[i].entries != 0)
            tlb_clear(&core->tlbs[i]);
    }
    if (core->itlb_first.entries != 0)
        tlb_clear(&core->itlb_first);
    if (core->dtlb_first.entries != 0)
        tlb_clear(&core->dtlb_first);
    if (core->dtlb_huge.entries != 0)
        tlb_clear(&core->dtlb_huge);
    for (unsigned i = 0; i < WALK_CACHES; i++) {
        if (core->walk_caches[i].entries != 0)
            tlb_clear(&core->walk_caches[i]);
    }
    if (chip->coherence->core_clear != NULL)
        chip->coherence->core_clear(core);
}

void
chip_after_fork(struct chip *chip, unsigned slot)
{
    /* Another thread may have held a lock when the process was copied. */
    lock_give(&chip->lock);
    lock_give(&chip->prefetching_lock);
    for (unsigned i = 0; i < chip->core_count; i++) {
        lock_give(&chip->cores[i].lock);
        chip->cores[i].strands = NULL;
        core_clear(&chip->cores[i], chip);
    }
    for (unsigned i = 0; i < chip->node_count; i++) {
        if (chip->l2[i].ways != 0)
            cache_clear(&chip->l2[i]);
    }
    prefetcher_clear(&chip->l2_prefetcher);
    if (chip->behind != NULL) {
        if (chip->coherence->chip_finish != NULL)
            chip->coherence->chip_finish(chip);
        memset(chip->behind, 0, chip->coherence->chip_size);
    }
    for (unsigned i = 0; i < chip->level_count; i++)
        cache_clear(&chip->levels[i].cache);
    dram_clear(&chip->dram);
    for (unsigned i = 0; i < chip->slots_used; i++) {
        if (i != slot && chip->strands[i] != NULL) {
            free_tables(chip->strands[i]);
            chip->strands[i] = NULL;
        }
    }
    strand_reset(chip->strands[slot]);
    sharing_clear(chip, chip->strands[slot]);
    if (chip->classes != NULL) {
        lock_give(&chip->classes->lock);
        classes_clear(chip->classes);
    }
    if (chip->curve != NULL)
        curve_clear(chip->curve);
    core_join(chip->strands[slot]);
    chip->used_cores = 0;
    atomic_store(&chip->meets, chip->node_count > 1);
    use_core(chip, chip->strands[slot]->core);
    atomic_store(&chip->live, 1);
}

void
strand_switch_span(struct strand *s, bool counted)
{
    const uint64_t *const before = s->total;

    strand_drain(s);
    s->span.outside = !counted;
    s->exec = s->counts->exec[counted ? s->span.slice : COUNTS_OUTSIDE];
    s->total = counted ? s->counts->totals[s->span.slice + s->span.aside].signal
                       : s->span.ignored.signal;
    if (s->ooo != NULL)
        ooo_switch_totals(s->ooo, before, s->total);
    if (s->recorder != NULL)
        recorder_switch(s, !counted);
}

void
strand_aside(struct strand *s, unsigned aside)
{
    if (s->span.aside == aside)
        return;
    s->span.aside = aside;
    strand_switch_span(s, !s->span.outside);
}

void
strand_forget(struct strand *s)
{
    s->previous = &no_block;
}

void
strand_begin_slice(struct strand *s, unsigned slice)
{
    s->span.slice = slice;
    strand_switch_span(s, !s->span.outside);
}
