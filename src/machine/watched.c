/* SPDX-License-Identifier: MIT */
#include "machine/watched.h"

#include "machine/levels.h"
#include "machine/queue.h"
#include "machine/sharing.h"

static const uint16_t l1d_misses[REQUEST_KINDS] = {
    [REQUEST_LOAD] = SIGNAL_L1D_LOAD_MISSES,
    [REQUEST_STORE] = SIGNAL_L1D_STORE_MISSES,
    [REQUEST_NEAR] = SIGNAL_NEAR_PREFETCH_MISSES,
    [REQUEST_NEAR_AHEAD] = SIGNAL_L1D_PREFETCHES,
};

/* Returns how many caches of the level the chip has. */
static unsigned
count_caches(const struct chip *chip, enum cache_id level)
{
    if (level == CACHE_L1D || (chip->components & COMPONENT_BUS))
        return chip->core_count;
    if (level == CACHE_L2)
        return chip->shared_l2 ? chip->node_count : chip->core_count;
    return 1;
}

/* Returns the signals of a level's misses, by the request's kind. */
static const uint16_t *
misses_of(enum cache_id level)
{
    return level == CACHE_L1D  ? l1d_misses
           : level == CACHE_L2 ? queue_l2_signal
                               : level_rows[level - CACHE_L3].misses;
}

/* Adds the lines of an L2 to those of the L3 that takes in its victims: both
 * together hold what the L3 is asked for. */
static void
add_l2(struct watched *w)
{
    const uint64_t *const params = w->chip->params;
    const uint64_t lines = params[PARAM_L2_SIZE] / params[PARAM_L2_LINE];
    const uint64_t sets = lines / params[PARAM_L2_WAYS];

    /* Lines of so many sets of the L2 have one set in the L3. */
    w->ways += params[PARAM_L2_WAYS] * (sets > w->sets ? sets / w->sets : 1);
    w->lines += lines;
}

void
watched_init(struct watched *w, const struct chip *chip, enum cache_id level)
{
    const struct cache_row *const row = &tally_caches[level];
    const uint64_t line = chip->params[row->line];
    const uint64_t ways = chip->params[row->ways];

    *w = (struct watched){
        .chip = chip,
        .level = level,
        .count = count_caches(chip, level),
        .sets = chip->params[row->size] / line / ways,
        .ways = ways,
        .lines = chip->params[row->size] / line,
        .shift = (unsigned)__builtin_ctzll(line),
        .misses = misses_of(level),
        .front = level == CACHE_L1D  ? NULL
                 : level == CACHE_L2 ? l1d_misses
                 : level == CACHE_L3 ? queue_l2_signal
                                     : misses_of(level - 1),
    };
    if (level == CACHE_L3 && chip->exclusive)
        add_l2(w);
}

unsigned
watched_number(const struct watched *w, const struct strand *s)
{
    if (w->count == 1)
        return 0;
    return w->level == CACHE_L2 && w->chip->shared_l2 && s->core->bus == NULL
               ? s->node
               : (unsigned)(s->core - w->chip->cores);
}

/* Returns whether a cache of a core on a bus has the line; that of a core which
 * no strand has run on has none. */
static bool
bus_has(const struct core *core, enum cache_id level, uint64_t line)
{
    const struct mesi *const c =
        level == CACHE_L2 ? &core->bus->l2d : &core->bus->l3;

    return mesi_find(c, line) != NULL;
}

/* Returns whether an L2 has the line. */
static bool
l2s_have(const struct chip *chip, uint64_t line)
{
    if (chip->shared_l2)
        return cache_has(&chip->l2[0], line);
    for (unsigned i = 0; i < chip->core_count; i++) {
        if (cache_has(&chip->cores[i].l2, line))
            return true;
    }
    return false;
}

bool
watched_has(const struct watched *w, unsigned number, uint64_t line)
{
    const struct chip *const chip = w->chip;

    if (w->level == CACHE_L1D)
        return cache_has(&chip->cores[number].l1d, line);
    if (chip->components & COMPONENT_BUS)
        return chip->cores[number].bus != NULL &&
               bus_has(&chip->cores[number], w->level, line);
    if (w->level == CACHE_L2)
        return cache_has(chip->shared_l2 ? &chip->l2[number]
                                         : &chip->cores[number].l2,
                         line);
    if (w->level == CACHE_L3 && chip->exclusive && l2s_have(chip, line))
        return true;
    for (unsigned i = 0; i < chip->level_count; i++) {
        if (chip->levels[i].row == &level_rows[w->level - CACHE_L3])
            return cache_has(&chip->levels[i].cache, line);
    }
    return false;
}

/* Returns the cache of the level that a strand asks, of a machine without a
 * bus; NULL: there is none. */
static const struct cache *
cache_of(const struct watched *w, const struct strand *s)
{
    const struct chip *const chip = w->chip;

    if (w->level == CACHE_L1D)
        return &s->core->l1d;
    if (w->level == CACHE_L2)
        return s->l2;
    for (unsigned i = 0; i < chip->level_count; i++) {
        if (chip->levels[i].row == &level_rows[w->level - CACHE_L3])
            return &chip->levels[i].cache;
    }
    return NULL;
}

bool
watched_knows_dirty(const struct watched *w, const struct strand *s)
{
    struct sharing_known known;

    if (w->level != CACHE_L1D && (w->chip->components & COMPONENT_BUS))
        return true;
    if (w->level == CACHE_L1D && sharing_look(w->chip, 0, &known))
        return true;
    const struct cache *const c = cache_of(w, s);
    return c != NULL && c->dirty != NULL;
}

/* Returns what is known of a line of the L1D or of another cache, which stands
 * at `place` of its set. */
static uint64_t
flags_of(const struct watched *w, const struct strand *s, const struct cache *c,
         uint64_t line, uint32_t place)
{
    const uint64_t own = (uint64_t)(s->core - w->chip->cores);
    struct sharing_known known;
    uint64_t flags = WATCHED_LINE;

    if (w->level == CACHE_L1D && sharing_look(w->chip, line, &known)) {
        flags |= known.modified == own + 1 ? WATCHED_DIRTY : 0u;
        flags |= known.holders & ~((uint64_t)1 << own) ? WATCHED_OTHERS : 0u;
    } else if (c->dirty != NULL) {
        flags |= cache_dirty_at(c, line, place) ? WATCHED_DIRTY : 0u;
    }
    return flags;
}

/* Writes the set of a cache of a core on a bus. */
static unsigned
bus_set(const struct mesi *c, uint64_t line, uint64_t *places)
{
    const uint64_t *const words = mesi_set_of(c, line);
    const unsigned ways = c->ways < WATCHED_WAYS ? c->ways : WATCHED_WAYS;

    for (unsigned i = 0; i < ways; i++) {
        const enum mesi_state state = mesi_state(words[i]);
        places[i] = words[i] == 0
                        ? 0
                        : words[i] >> 2 << c->line_shift | WATCHED_LINE |
                              (state == MESI_MODIFIED ? WATCHED_DIRTY : 0u) |
                              (state == MESI_SHARED ? WATCHED_OTHERS : 0u);
    }
    return ways;
}

unsigned
watched_set(const struct watched *w, const struct strand *s, uint64_t line,
            uint64_t *places)
{
    if (w->level != CACHE_L1D && (w->chip->components & COMPONENT_BUS))
        return s->core->bus == NULL
                   ? 0
                   : bus_set(w->level == CACHE_L2 ? &s->core->bus->l2d
                                                  : &s->core->bus->l3,
                             line, places);
    const struct cache *const c = cache_of(w, s);
    if (c == NULL)
        return 0;
    const unsigned ways = c->ways < WATCHED_WAYS ? c->ways : WATCHED_WAYS;
    for (unsigned i = 0; i < ways; i++) {
        uint64_t at;
        places[i] = cache_line_at(c, line, i, &at)
                        ? at << c->line_shift | flags_of(w, s, c, at, i)
                        : 0;
    }
    return ways;
}
