/* SPDX-License-Identifier: MIT */
/*
 * What parameters must be together, for values set from outside: the geometry
 * of caches, the memory that a model needs, and the rules of
 * data/parameters.toml. scripts/catalogue/model.py holds the data to the first
 * and the last.
 */
#include "table/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "table/param.h"
#include "table/text.h"

/* Lines and entries of all caches and tables. More than any machine has: the
 * largest caches, of 1 to 2 GB a chip, have 2^24 lines. The memory for as many
 * is less than 1 GB. */
#define ROWS_MAX (UINT64_C(1) << 26)

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
near_sizes(const struct cache_row *cache, uint64_t size, uint64_t unit,
           char *text, size_t text_size)
{
    uint64_t low = unit;

    while (low <= size / 2)
        low *= 2;
    const uint64_t high = low > size ? low : 2 * low;
    const struct value_text a = value_text((int)cache->size, low);
    const struct value_text b = value_text((int)cache->size, high);
    const char *words[2];
    size_t count = 0;

    if (low < size && in_limits((int)cache->size, low))
        words[count++] = a.text;
    if (in_limits((int)cache->size, high))
        words[count++] = b.text;
    join_words(words, count, text, text_size);
}

static int
check_cache(const struct check *c, const struct cache_row *cache)
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
    return fail_param(c, (int)cache->size, what);
}

static int
check_caches(const struct check *c)
{
    int error = 0;

    for (size_t i = 0; i < CACHE_COUNT && error == 0; i++)
        if (c->params[tally_caches[i].size] != 0)
            error = check_cache(c, &tally_caches[i]);
    return error;
}

/* Returns how many caches of the level there are. */
static uint64_t
copies(const struct check *c, size_t cache)
{
    const uint64_t *const p = c->params;
    const bool chip =
        (cache == CACHE_L2 && p[PARAM_L2_SHARED] == L2_SHARED_CHIP) ||
        (cache == CACHE_L3 && p[PARAM_L3_SHARED] == L3_SHARED_CHIP) ||
        cache > CACHE_L3;

    return p[PARAM_NODES] * (chip ? 1 : p[PARAM_CORES]);
}

/* Follows the chain of TLBs from `first` to its end, and marks the TLBs of the
 * chain. Fails where a TLB comes twice. */
static int
check_chain(const struct check *c, unsigned first, bool *asked)
{
    bool seen[TLB_COUNT] = {false};
    unsigned tlb = first, next;
    char what[96];

    for (;; tlb = next) {
        seen[tlb] = asked[tlb] = true;
        next = tlb_next(c->params, tlb);
        if (next == TLB_COUNT)
            return 0;
        if (!seen[next])
            continue;
        snprintf(what, sizeof(what), "%s comes before %s already",
                 tally_tlbs[next].name, tally_tlbs[tlb].name);
        return fail_param(c, (int)tally_tlbs[tlb].next, what);
    }
}

/* Fails where a chain of TLBs has no end, or a TLB with entries stands in no
 * chain. */
static int
check_tlbs(const struct check *c)
{
    bool asked[TLB_COUNT] = {false};
    char what[128];
    int error = check_chain(c, TLB_ITLB, asked);

    if (error == 0)
        error = check_chain(c, TLB_DTLB, asked);
    for (unsigned i = 0; i < TLB_COUNT && error == 0; i++) {
        const struct tlb_row *row = &tally_tlbs[i];
        if (c->params[row->entries] == 0 || asked[i])
            continue;
        snprintf(what, sizeof(what),
                 "no miss gets there; set dtlb.next=%s or itlb.next=%s as well",
                 row->name, row->name);
        error = fail_param(c, (int)row->entries, what);
    }
    return error;
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

/* Returns how many TLBs of a kind a core has. */
static uint64_t
tlb_copies(const uint64_t *p, size_t tlb)
{
    return p[tally_tlbs[tlb].shared] == ITLB_SHARED_STRAND ? p[PARAM_STRANDS]
                                                           : 1;
}

/* All that a machine's model needs memory for, as often as there may be threads
 * for it. Within the limits of each parameter no sum overflows. */
static int
check_rows(const struct check *c)
{
    static const int firsts[] = {PARAM_ITLB_FIRST, PARAM_DTLB_FIRST};
    static const int tables[] = {PARAM_BRANCH_ENTRIES, PARAM_BTC_ENTRIES,
                                 PARAM_FAR_ENTRIES,    PARAM_INDIRECT_ENTRIES,
                                 PARAM_BTB1_ENTRIES,   PARAM_BTB2_ENTRIES,
                                 PARAM_BTB3_ENTRIES};
    const uint64_t *const p = c->params;
    const uint64_t cores = p[PARAM_NODES] * p[PARAM_CORES];
    uint64_t sum = 0;
    int error = 0;

    for (size_t i = 0; i < CACHE_COUNT && error == 0; i++)
        error = add_rows(c, (int)tally_caches[i].size,
                         p[tally_caches[i].size] / p[tally_caches[i].line] *
                             copies(c, i),
                         &sum);
    for (size_t i = 0; i < sizeof(firsts) / sizeof(firsts[0]) && error == 0;
         i++)
        error = add_rows(c, firsts[i], p[firsts[i]] * cores, &sum);
    for (size_t i = 0; i < TLB_COUNT && error == 0; i++)
        error =
            add_rows(c, (int)tally_tlbs[i].entries,
                     p[tally_tlbs[i].entries] * tlb_copies(p, i) * cores, &sum);
    for (size_t i = 0; i < PREDICTOR_COUNT && error == 0; i++)
        error = add_rows(
            c, (int)tally_predictors[i].entries,
            p[tally_predictors[i].entries] * cores * p[PARAM_STRANDS], &sum);
    for (size_t i = 0; i < TARGET_COUNT && error == 0; i++)
        error = add_rows(c, (int)tally_targets[i].entries,
                         p[tally_targets[i].entries] * cores * p[PARAM_STRANDS],
                         &sum);
    if (error == 0 && p[PARAM_INDIRECT_PREDICTOR] == INDIRECT_PREDICTOR_ITTAGE)
        error = add_rows(c, PARAM_ITTAGE_ENTRIES,
                         p[PARAM_ITTAGE_TABLES] * p[PARAM_ITTAGE_ENTRIES] *
                             cores * p[PARAM_STRANDS],
                         &sum);
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && error == 0;
         i++)
        error = add_rows(c, tables[i], p[tables[i]] * cores * p[PARAM_STRANDS],
                         &sum);
    return error;
}

/* Writes the text of a broken rule, with the values of the parameters that
 * stand there in braces. */
static void
write_rule(const struct check *c, const char *otherwise, char *text,
           size_t size)
{
    size_t length = 0;

    for (const char *at = otherwise; *at != '\0' && length + 1 < size;) {
        const char *end = *at == '{' ? strchr(at, '}') : NULL;
        if (end == NULL) {
            text[length++] = *at++;
            continue;
        }
        char key[PARAM_TEXT_SIZE];
        snprintf(key, sizeof(key), "%.*s", (int)(end - at - 1), at + 1);
        const int id = param_find(key); /* the generator has looked */
        length += (size_t)snprintf(text + length, size - length, "%s",
                                   value_text(id, c->params[id]).text);
        at = end + 1;
    }
    text[length < size ? length : size - 1] = '\0';
}

static int
check_rules(const struct check *c)
{
    char what[256];

    for (size_t i = 0; i < PARAM_RULE_COUNT; i++) {
        const struct param_rule *rule = &tally_param_rules[i];
        if (rule->holds(c->params))
            continue;
        write_rule(c, rule->otherwise, what, sizeof(what));
        return fail_param(c, rule->param, what);
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
    const struct check c = {.params = params, .log = log};
    int error = check_limits(&c);

    if (error == 0)
        error = check_rows(&c);
    if (error == 0)
        error = check_caches(&c);
    if (error == 0)
        error = check_tlbs(&c);
    return error == 0 ? check_rules(&c) : error;
}
