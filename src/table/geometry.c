/* SPDX-License-Identifier: MIT */
/*
 * What parameters must be together. scripts/gen_tables.py holds the data to
 * the same rules; this is for values set from outside.
 */
#include "table/table.h"

#include <inttypes.h>
#include <stdio.h>

#include "table/param.h"
#include "table/text.h"

/* A cache by its three parameters. */
struct cache_ids {
    const char *name;
    int size, ways, line;
};

static const struct cache_ids caches[] = {
    {"l1i", PARAM_L1I_SIZE, PARAM_L1I_WAYS, PARAM_L1I_LINE},
    {"l1d", PARAM_L1D_SIZE, PARAM_L1D_WAYS, PARAM_L1D_LINE},
    {"l2i", PARAM_L2I_SIZE, PARAM_L2I_WAYS, PARAM_L2I_LINE},
    {"l2", PARAM_L2_SIZE, PARAM_L2_WAYS, PARAM_L2_LINE},
    {"l3", PARAM_L3_SIZE, PARAM_L3_WAYS, PARAM_L3_LINE},
    {"l4", PARAM_L4_SIZE, PARAM_L4_WAYS, PARAM_L4_LINE},
};

#define MEMORY_BANKS_MAX 8
#define STRANDS_MAX 4096
/* Lines and entries of all caches and tables. More than any machine has: the
 * largest caches, of 1 to 2 GB a chip, have 2^24 lines. The memory for as many
 * is less than 1 GB. */
#define ROWS_MAX (UINT64_C(1) << 26)
#define CACHE_COUNT (sizeof(caches) / sizeof(caches[0]))

/* Its lines are filled from the cache in the second column. */
static const struct {
    int inner, outer, outer_size;
} fills[] = {
    {PARAM_L1I_LINE, PARAM_L2_LINE, PARAM_L2_SIZE},
    {PARAM_L1D_LINE, PARAM_L2_LINE, PARAM_L2_SIZE},
    {PARAM_L1I_LINE, PARAM_L2I_LINE, PARAM_L2I_SIZE},
    {PARAM_L2_LINE, PARAM_L3_LINE, PARAM_L3_SIZE},
    {PARAM_L3_LINE, PARAM_L4_LINE, PARAM_L4_SIZE},
};

#define FILL_COUNT (sizeof(fills) / sizeof(fills[0]))

struct check {
    const uint64_t *params;
    const struct tally_log *log;
};

/* The value of a parameter as text. */
struct value_text {
    char text[PARAM_TEXT_SIZE];
};

static struct value_text
value_text(int id, uint64_t value)
{
    struct value_text v;

    param_text(id, value, v.text, sizeof(v.text));
    return v;
}

static int
fail_param(const struct check *c, int id, const char *what)
{
    return tally_fail(c->log, TALLY_ERANGE, "%s=%s: %s", tally_params[id].key,
                      value_text(id, c->params[id]).text, what);
}

static bool
in_limits(int id, uint64_t value)
{
    return value >= tally_params[id].min && value <= tally_params[id].max;
}

/* The sizes next to the one that is not possible. */
static void
near_sizes(const struct cache_ids *cache, uint64_t size, uint64_t unit,
           char *text, size_t text_size)
{
    uint64_t low = unit;

    while (low <= size / 2)
        low *= 2;
    const uint64_t high = low > size ? low : 2 * low;
    const struct value_text a = value_text(cache->size, low);
    const struct value_text b = value_text(cache->size, high);
    const char *words[2];
    size_t count = 0;

    if (low < size && in_limits(cache->size, low))
        words[count++] = a.text;
    if (in_limits(cache->size, high))
        words[count++] = b.text;
    join_words(words, count, text, text_size);
}

static int
check_cache(const struct check *c, const struct cache_ids *cache)
{
    const uint64_t size = c->params[cache->size];
    const uint64_t ways = c->params[cache->ways];
    const uint64_t line = c->params[cache->line];
    const uint64_t sets = size / (ways * line);
    char sizes[2 * PARAM_TEXT_SIZE], what[4 * PARAM_TEXT_SIZE];

    if (size % (ways * line) == 0 && sets > 0 && (sets & (sets - 1)) == 0)
        return 0;
    near_sizes(cache, size, ways * line, sizes, sizeof(sizes));
    snprintf(what, sizeof(what),
             "with %s.ways=%" PRIu64 " and %s.line=%" PRIu64 " it must be %s",
             cache->name, ways, cache->name, line, sizes);
    return fail_param(c, cache->size, what);
}

static int
check_caches(const struct check *c)
{
    int error = 0;

    for (size_t i = 0; i < CACHE_COUNT && error == 0; i++)
        if (c->params[caches[i].size] != 0)
            error = check_cache(c, &caches[i]);
    return error;
}

/* Returns how many caches of the level there are. */
static uint64_t
copies(const struct check *c, const struct cache_ids *cache)
{
    const uint64_t *const p = c->params;
    const bool chip = (cache->size == PARAM_L2_SIZE &&
                       p[PARAM_L2_SHARED] == L2_SHARED_CHIP) ||
                      (cache->size == PARAM_L3_SIZE &&
                       p[PARAM_L3_SHARED] == L3_SHARED_CHIP) ||
                      cache->size == PARAM_L4_SIZE;

    return p[PARAM_NODES] * (chip ? 1 : p[PARAM_CORES]);
}

/* Adds to the rows that there are; fails where they would be too many. */
static int
add_rows(const struct check *c, int id, uint64_t rows, uint64_t *sum)
{
    char what[96];

    *sum += rows;
    if (*sum <= ROWS_MAX)
        return 0;
    snprintf(what, sizeof(what),
             "caches, TLBs and branch tables of all cores may have %" PRIu64
             " lines and entries",
             ROWS_MAX);
    return fail_param(c, id, what);
}

/* All that a machine's model needs memory for, as often as there may be threads
 * for it. Within the limits of each parameter no sum overflows. */
static int
check_rows(const struct check *c)
{
    static const int tlbs[] = {PARAM_ITLB_ENTRIES, PARAM_DTLB_ENTRIES,
                               PARAM_ITLB_FIRST, PARAM_DTLB_FIRST};
    static const int tables[] = {PARAM_BRANCH_ENTRIES, PARAM_BTC_ENTRIES,
                                 PARAM_FAR_ENTRIES, PARAM_INDIRECT_ENTRIES};
    const uint64_t *const p = c->params;
    const uint64_t cores = p[PARAM_NODES] * p[PARAM_CORES];
    uint64_t sum = 0;
    int error = 0;

    for (size_t i = 0; i < CACHE_COUNT && error == 0; i++)
        error = add_rows(c, caches[i].size,
                         p[caches[i].size] / p[caches[i].line] *
                             copies(c, &caches[i]),
                         &sum);
    for (size_t i = 0; i < sizeof(tlbs) / sizeof(tlbs[0]) && error == 0; i++)
        error = add_rows(c, tlbs[i], p[tlbs[i]] * cores, &sum);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && error == 0;
         i++)
        error = add_rows(c, tables[i], p[tables[i]] * cores * p[PARAM_STRANDS],
                         &sum);
    return error;
}

static int
check_levels(const struct check *c)
{
    if (c->params[PARAM_L4_SIZE] != 0 &&
        (c->params[PARAM_L3_SIZE] == 0 ||
         c->params[PARAM_L3_SHARED] != L3_SHARED_CHIP))
        return fail_param(c, PARAM_L4_SIZE,
                          "an L4 needs an L3, and l3.shared=chip");
    if (c->params[PARAM_L2_SIZE] != 0)
        return 0;
    if (c->params[PARAM_L3_SIZE] != 0)
        return fail_param(c, PARAM_L2_SIZE,
                          "an L3 needs an L2; set l3.size=0 as well");
    if (c->params[PARAM_TLB_WALK] != 0)
        return fail_param(c, PARAM_L2_SIZE,
                          "the table walk needs an L2; set tlb.walk=0 as well");
    return 0;
}

/* Random replacement: not where filters or tables in front of a level tell what
 * is the least recent there. */
static int
check_replacement(const struct check *c)
{
    const uint64_t *const p = c->params;
    const bool core = p[PARAM_L3_SHARED] == L3_SHARED_CORE;

    if (p[PARAM_L2_REPLACEMENT] == L2_REPLACEMENT_RANDOM &&
        (core || p[PARAM_L1D_WRITE] == L1D_WRITE_THROUGH ||
         p[PARAM_L2_FORETOLD] != 0 ||
         p[PARAM_L2_INCLUSIVE] != L2_INCLUSIVE_NONE))
        return fail_param(c, PARAM_L2_REPLACEMENT,
                          "random needs l1d.write=allocate, l2.foretold=0, "
                          "l2.inclusive=none and l3.shared=chip");
    if (p[PARAM_L3_REPLACEMENT] == L3_REPLACEMENT_RANDOM && core)
        return fail_param(c, PARAM_L3_REPLACEMENT,
                          "random needs l3.shared=chip");
    return 0;
}

/* `id` must be at least the value of `least`. */
static int
check_least(const struct check *c, int id, int least)
{
    char what[2 * PARAM_TEXT_SIZE];

    if (c->params[id] >= c->params[least])
        return 0;
    snprintf(what, sizeof(what), "must be at least %s, %s",
             tally_params[least].key, value_text(least, c->params[least]).text);
    return fail_param(c, id, what);
}

static int
check_lines(const struct check *c)
{
    int error = 0;

    for (size_t i = 0; i < FILL_COUNT && error == 0; i++)
        if (c->params[fills[i].outer_size] != 0)
            error = check_least(c, fills[i].outer, fills[i].inner);
    for (size_t i = 0; i < CACHE_COUNT && error == 0; i++)
        if (c->params[caches[i].size] != 0)
            error = check_least(c, PARAM_TLB_PAGE, caches[i].line);
    return error;
}

static bool
is_power_of_two(uint64_t value)
{
    return value != 0 && (value & (value - 1)) == 0;
}

/* Tables of branch targets; 0 entries: none. */
static int
check_targets(const struct check *c)
{
    static const int tables[] = {PARAM_FAR_ENTRIES, PARAM_INDIRECT_ENTRIES};
    const uint64_t btc = c->params[PARAM_BTC_ENTRIES];
    const uint64_t ways = c->params[PARAM_BTC_WAYS];
    char what[2 * PARAM_TEXT_SIZE];

    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        if (c->params[tables[i]] != 0 && !is_power_of_two(c->params[tables[i]]))
            return fail_param(c, tables[i], "must be 0 or a power of two");
    if (btc == 0 || (btc % ways == 0 && is_power_of_two(btc / ways)))
        return 0;
    snprintf(what, sizeof(what),
             "must be 0, or btc.ways=%" PRIu64 " times a power of two", ways);
    return fail_param(c, PARAM_BTC_ENTRIES, what);
}

static int
check_nodes(const struct check *c)
{
    const uint64_t *p = c->params;
    const uint64_t nodes = p[PARAM_NODES];

    if (p[PARAM_PLACE_NODE] >= nodes)
        return fail_param(c, PARAM_PLACE_NODE,
                          "there is no such node; see the parameter nodes");
    if (nodes * p[PARAM_MEMORY_BANKS] > MEMORY_BANKS_MAX)
        return fail_param(c, PARAM_MEMORY_BANKS,
                          "with all nodes there may be 8 at most");
    if (nodes * p[PARAM_CORES] * p[PARAM_STRANDS] > STRANDS_MAX)
        return fail_param(c, PARAM_NODES,
                          "with all cores there may be 4096 strands at most");
    if (nodes > 1 && (p[PARAM_L2_SIZE] == 0 || p[PARAM_L3_SIZE] != 0 ||
                      p[PARAM_L2_SHARED] != L2_SHARED_CHIP ||
                      p[PARAM_L1D_WRITE] != L1D_WRITE_THROUGH))
        return fail_param(c, PARAM_NODES,
                          "needs l2.shared=chip, l1d.write=through, an L2 and "
                          "no L3");
    return 0;
}

/* Equal runs of a core's strands share a pipeline. */
static int
check_pipelines(const struct check *c)
{
    const uint64_t strands = c->params[PARAM_STRANDS];
    char what[PARAM_TEXT_SIZE];

    if (strands % c->params[PARAM_PIPELINES] == 0)
        return 0;
    snprintf(what, sizeof(what), "must divide strands, %" PRIu64, strands);
    return fail_param(c, PARAM_PIPELINES, what);
}

static int
check_wrong_path(const struct check *c)
{
    const uint64_t sum = c->params[PARAM_WRONG_LOADS] +
                         c->params[PARAM_WRONG_STORES] +
                         c->params[PARAM_WRONG_BRANCHES];

    if (sum <= 16)
        return 0;
    return fail_param(c, PARAM_WRONG_LOADS,
                      "with stores and branches there may be 16 at most");
}

/* Cores that have all their caches for themselves. */
static int
check_bus(const struct check *c)
{
    const uint64_t *p = c->params;
    const bool core = p[PARAM_L3_SHARED] == L3_SHARED_CORE;
    const bool lines =
        p[PARAM_L2_LINE] == p[PARAM_L3_LINE] &&
        (p[PARAM_L2I_SIZE] == 0 || p[PARAM_L2I_LINE] == p[PARAM_L3_LINE]);

    if (!core && p[PARAM_L2I_SIZE] != 0)
        return fail_param(c, PARAM_L2I_SIZE, "needs l3.shared=core");
    if (!core && p[PARAM_L1D_FLOAT] == L1D_FLOAT_PASSED)
        return fail_param(c, PARAM_L1D_FLOAT, "needs l3.shared=core");
    if (core && (p[PARAM_L2_SIZE] == 0 || p[PARAM_L3_SIZE] == 0 || !lines ||
                 p[PARAM_NODES] != 1 || p[PARAM_L2_SHARED] != L2_SHARED_CORE ||
                 p[PARAM_L1D_WRITE] != L1D_WRITE_THROUGH))
        return fail_param(c, PARAM_L3_SHARED,
                          "needs l2.shared=core, l1d.write=through, one node, "
                          "an L2 and an L3 with lines of one size");
    return 0;
}

/* A TLB of one entry would have nothing to choose from. */
static int
check_first(const struct check *c)
{
    static const int ids[] = {PARAM_ITLB_FIRST, PARAM_DTLB_FIRST};

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        if (c->params[ids[i]] == 1)
            return fail_param(c, ids[i], "must be 0 or at least 2");
    if (c->params[PARAM_TLB_KIND] == TLB_KIND_JOINT &&
        (c->params[PARAM_ITLB_FIRST] | c->params[PARAM_DTLB_FIRST]) != 0)
        return fail_param(c, PARAM_TLB_KIND,
                          "needs itlb.first=0, dtlb.first=0");
    return 0;
}

/* Entries of a TLB that its core's strands keep each, all at once. */
static int
check_reserve(const struct check *c)
{
    static const struct {
        int reserve, entries;
    } tlbs[] = {
        {PARAM_ITLB_RESERVE, PARAM_ITLB_ENTRIES},
        {PARAM_DTLB_RESERVE, PARAM_DTLB_ENTRIES},
    };
    const uint64_t strands = c->params[PARAM_STRANDS];
    char what[2 * PARAM_TEXT_SIZE];

    if (c->params[PARAM_TLB_THREADS] != TLB_THREADS_APART || strands == 1)
        return 0;
    for (size_t i = 0; i < sizeof(tlbs) / sizeof(tlbs[0]); i++) {
        const uint64_t entries = c->params[tlbs[i].entries];
        if (c->params[tlbs[i].reserve] <= entries / strands)
            continue;
        snprintf(what, sizeof(what),
                 "times strands=%" PRIu64 " must be at most %s=%" PRIu64,
                 strands, tally_params[tlbs[i].entries].key, entries);
        return fail_param(c, tlbs[i].reserve, what);
    }
    return 0;
}

static int
check_limits(const struct check *c)
{
    int error = 0;

    for (int id = 0; id < PARAM_COUNT && error == 0; id++)
        error = param_check(id, c->params[id], c->log);
    return error;
}

int
params_check(const uint64_t *params, const struct tally_log *log)
{
    static int (*const checks[])(const struct check *) = {
        check_limits,    check_rows,        check_levels,  check_caches,
        check_lines,     check_replacement, check_targets, check_nodes,
        check_pipelines, check_wrong_path,  check_bus,     check_first,
        check_reserve,
    };
    const struct check c = {.params = params, .log = log};
    int error = 0;

    for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]) && error == 0;
         i++)
        error = checks[i](&c);
    return error;
}
