/* SPDX-License-Identifier: MIT */
/* Components that imply each other, reasons, and what derived signals follow
 * from. */
#include "table/signals.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ref/random.h"
#include "table/param.h"

#define ALL ((UINT64_C(1) << COMPONENT_COUNT) - 1)

/* Sets the parameters of a machine, and those of `sets` ("l2.size=0"). */
static void
set_params(uint64_t *params, const char *machine, const char *const *sets)
{
    size_t m = 0;

    while (m < MACHINE_COUNT && strcmp(tally_machines[m].name, machine) != 0)
        m++;
    if (m == MACHINE_COUNT)
        fail_msg("no machine %s", machine);
    for (size_t i = 0; i < PARAM_COUNT; i++)
        params[i] = tally_machines[m].params[i].value;
    for (size_t i = 0; sets[i] != NULL; i++)
        assert_int_equal(param_set(sets[i], NULL, params), 0);
}

static void
test_implied(void **state)
{
    static const struct {
        int line;
        const char *machine, *sets[4];
        uint64_t asked, runs, not ;
    } rows[] = {
        {__LINE__,
         "ultrasparc-t2",
         {NULL},
         COMPONENT_L2,
         COMPONENT_L1I | COMPONENT_L1D | COMPONENT_L2,
         COMPONENT_L3 | COMPONENT_NODES | COMPONENT_BUS},
        {__LINE__,
         "ultrasparc-t2",
         {"nodes=2"},
         COMPONENT_L2,
         COMPONENT_NODES | COMPONENT_WRITEBACK,
         COMPONENT_SNOOP},
        {__LINE__,
         "ultrasparc-t2",
         {"l2.size=0", "tlb.walk=0"},
         COMPONENT_L2,
         COMPONENT_L1I | COMPONENT_L1D,
         COMPONENT_L2},
        {__LINE__,
         "ultrasparc-t2",
         {"tlb.walk=0"},
         COMPONENT_L2,
         COMPONENT_L2,
         COMPONENT_DTLB},
        {__LINE__,
         "ultrasparc-t2",
         {"tlb.walk=2"},
         COMPONENT_L2,
         COMPONENT_ITLB | COMPONENT_DTLB,
         0},
        {__LINE__,
         "sparc-t4",
         {NULL},
         COMPONENT_ITLB,
         COMPONENT_L1I | COMPONENT_ITLB,
         COMPONENT_L2 | COMPONENT_WRITEBACK},
        {__LINE__,
         "sparc-t4",
         {NULL},
         COMPONENT_L1I | COMPONENT_INCLUSIVE,
         COMPONENT_L2 | COMPONENT_WRITEBACK | COMPONENT_SNOOP,
         0},
        {__LINE__,
         "sparc-t4",
         {"l2.inclusive=none"},
         COMPONENT_L1I | COMPONENT_INCLUSIVE,
         COMPONENT_L1I,
         COMPONENT_INCLUSIVE | COMPONENT_L2},
        {__LINE__,
         "montecito",
         {NULL},
         COMPONENT_L2,
         COMPONENT_BUS | COMPONENT_L3,
         COMPONENT_BUS_BACKS | COMPONENT_WRITEBACK | COMPONENT_SNOOP},
        {__LINE__,
         "montecito",
         {NULL},
         COMPONENT_WRITEBACK,
         COMPONENT_BUS | COMPONENT_BUS_BACKS,
         COMPONENT_WRITEBACK | COMPONENT_DRAM},
        {__LINE__,
         "r10000",
         {NULL},
         COMPONENT_TIME,
         COMPONENT_L2 | COMPONENT_DTLB,
         COMPONENT_RAW},
    };
    uint64_t params[PARAM_COUNT];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        set_params(params, rows[i].machine, rows[i].sets);
        const uint64_t runs = components_implied(rows[i].asked, params);
        if ((runs & rows[i].runs) != rows[i].runs || (runs & rows[i].not ) != 0)
            fail_msg("line %d: %#" PRIx64, rows[i].line, runs);
    }
}

/* Turns some parameters off, and others to small numbers: conditions change. */
static void
turn_params(uint64_t *params, uint64_t *random)
{
    for (size_t i = 0; i < PARAM_COUNT; i++) {
        if (random_below(random, 8) == 0)
            params[i] = random_below(random, 4);
    }
}

/* On every machine: what runs implies no more, and asking for more never stops
 * a component. */
static void
test_closed(void **state)
{
    uint64_t random = random_seed(), params[PARAM_COUNT];

    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        if (tally_machines[m].params == NULL)
            continue;
        for (int k = 0; k < 500; k++) {
            set_params(params, tally_machines[m].name, (const char *[]){NULL});
            if (k > 0)
                turn_params(params, &random);
            const uint64_t asked = random_below(&random, ALL);
            const uint64_t more = random_below(&random, ALL);
            const uint64_t runs = components_implied(asked, params);
            assert_int_equal(components_implied(runs, params), runs);
            assert_int_equal(components_implied(asked | more, params) & runs,
                             runs);
        }
    }
}

static void
test_lacks(void **state)
{
    static const struct {
        int line;
        const char *machine, *sets[3];
        uint16_t signals[3];
        uint16_t count;
        const char *start; /* of the reason, or NULL */
    } rows[] = {
        {__LINE__, "ultrasparc-t2", {NULL}, {SIGNAL_L2_LOAD_MISSES}, 1, NULL},
        {__LINE__,
         "ultrasparc-t2",
         {"l2.size=0"},
         {SIGNAL_L2_LOAD_MISSES},
         1,
         "the machine has no L2"},
        /* Memory serves what the L1 lacks. */
        {__LINE__,
         "ultrasparc-t2",
         {"l2.size=0"},
         {SIGNAL_LOAD_MEMORY},
         1,
         NULL},
        {__LINE__,
         "ultrasparc-t2",
         {"l2.size=0"},
         {SIGNAL_MEMORY_READS_0},
         1,
         "what passes to memory"},
        {__LINE__,
         "ultrasparc-t2",
         {NULL},
         {SIGNAL_L3_LOAD_MISSES},
         1,
         "the machine has no L3"},
        /* One of several is enough, but for bundles. */
        {__LINE__,
         "ultrasparc-t2",
         {NULL},
         {SIGNAL_L3_LOAD_MISSES, SIGNAL_L2_LOAD_MISSES},
         2,
         NULL},
        {__LINE__,
         "ultrasparc-t2",
         {NULL},
         {SIGNAL_SYLLABLES, SIGNAL_INSTRUCTIONS},
         2,
         "instructions are put in no bundles"},
        {__LINE__,
         "ultrasparc-t2",
         {"memory.banks=4"},
         {SIGNAL_MEMORY_READS_3},
         1,
         NULL},
        {__LINE__,
         "ultrasparc-t2",
         {"memory.banks=2"},
         {SIGNAL_MEMORY_READS_3},
         1,
         "the machine has no such memory controller"},
        {__LINE__,
         "ultrasparc-t2plus",
         {"nodes=2"},
         {SIGNAL_LINK_MEM_SHARES_0},
         1,
         "systems of one and two nodes"},
        {__LINE__,
         "ultrasparc-t2plus",
         {"nodes=4"},
         {SIGNAL_LINK_MEM_SHARES_0},
         1,
         NULL},
        {__LINE__,
         "montecito",
         {"prefetch.lines=0"},
         {SIGNAL_L2I_PREFETCH_HITS},
         1,
         "no line of code is fetched ahead"},
        {__LINE__,
         "montecito",
         {"prefetch.lines=0"},
         {SIGNAL_PREFETCH_L3_HITS},
         1,
         "no line of code is fetched ahead"},
    };
    uint64_t params[PARAM_COUNT];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct event_row event = {.signals = rows[i].signals,
                                        .signal_count = rows[i].count};
        set_params(params, rows[i].machine, rows[i].sets);
        const char *why = event_lacks(&event, params);
        const char *start = rows[i].start;
        if ((why == NULL) != (start == NULL) ||
            (why != NULL && strncmp(why, start, strlen(start)) != 0))
            fail_msg("line %d: %s", rows[i].line, why != NULL ? why : "can");
    }
}

/* What a source of accesses, or of fetches, does not feed. */
static void
test_starves(void **state)
{
    static const struct {
        int line;
        uint16_t signals[2];
        uint8_t count;
        unsigned feeds;
        const char *start; /* of the reason; NULL: it is fed */
    } rows[] = {
        {__LINE__, {SIGNAL_LOADS}, 1, FEED_DATA, NULL},
        {__LINE__, {SIGNAL_L1D_LOAD_MISSES}, 1, FEED_DATA, NULL},
        {__LINE__, {SIGNAL_LOADS, SIGNAL_REP_LOADS}, 2, FEED_DATA, NULL},
        {__LINE__,
         {SIGNAL_LOADS},
         1,
         FEED_FETCHES,
         "the imported trace has no "
         "loads"},
        {__LINE__,
         {SIGNAL_L2_LOAD_MISSES, SIGNAL_L2_FETCH_MISSES},
         2,
         FEED_DATA,
         "the imported trace has no fetches"},
        {__LINE__, {SIGNAL_L1I_MISSES}, 1, FEED_FETCHES, NULL},
        {__LINE__,
         {SIGNAL_SPLIT_ACCESSES},
         1,
         FEED_DATA,
         "the imported trace does not say how many bytes"},
        {__LINE__,
         {SIGNAL_INSTRUCTIONS},
         1,
         FEED_DATA | FEED_FETCHES,
         "the imported trace does not say where instructions"},
        {__LINE__,
         {SIGNAL_CONDITIONAL_MISPREDICTS},
         1,
         FEED_ALL & ~(unsigned)FEED_BRANCHES,
         "the imported trace does not say which"},
        {__LINE__, {SIGNAL_CONDITIONAL_MISPREDICTS}, 1, FEED_BRANCHES, NULL},
        {__LINE__,
         {SIGNAL_CLASS_FGU},
         1,
         FEED_ALL & ~(unsigned)FEED_CODE,
         "the imported trace has the addresses"},
        {__LINE__,
         {SIGNAL_CYCLES},
         1,
         FEED_ALL & ~(unsigned)FEED_CODE,
         "the imported trace has the addresses"},
        {__LINE__, {SIGNAL_CYCLES, SIGNAL_CLASS_FGU}, 2, FEED_ALL, NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct event_row event = {.signals = rows[i].signals,
                                        .signal_count = rows[i].count};
        const char *why = event_starves(&event, rows[i].feeds);
        const char *start = rows[i].start;
        if ((why == NULL) != (start == NULL) ||
            (why != NULL && strncmp(why, start, strlen(start)) != 0))
            fail_msg("line %d: %s", rows[i].line, why != NULL ? why : "fed");
    }
}

/* Totals that add up to no overflow, as a program's do. */
static void
fill(uint64_t *random, uint64_t *n)
{
    for (size_t s = 0; s < SIGNAL_COUNT; s++)
        n[s] = random_below(random, 1u << 20);
}

/* A derived signal follows from no signal but its sources. */
static void
test_sources(void **state)
{
    static uint8_t moved[SIGNAL_COUNT][SIGNAL_COUNT];
    uint64_t random = random_seed(), params[PARAM_COUNT];
    static uint64_t base[SIGNAL_COUNT], a[SIGNAL_COUNT], b[SIGNAL_COUNT];

    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        if (tally_machines[m].params == NULL)
            continue;
        set_params(params, tally_machines[m].name, (const char *[]){NULL});
        /* Each predictor, with an L2 and an L3 and without. */
        for (unsigned k = 0; k < 8; k++) {
            params[PARAM_BRANCH_PREDICTOR] =
                k % 2 ? BRANCH_PREDICTOR_GSHARE : BRANCH_PREDICTOR_NOT_TAKEN;
            if (k & 2)
                params[PARAM_L3_SIZE] = 0;
            if (k & 4)
                params[PARAM_L2_SIZE] = 0;
            params[PARAM_TIME_REMOTE] = 7;
            params[PARAM_MISS_ENTRIES] = k % 4;
            params[PARAM_WRONG_LOADS] = 16;
            fill(&random, base);
            memcpy(a, base, sizeof(a));
            signals_derive(params, ALL, a);
            for (size_t s = 0; s < SIGNAL_COUNT; s++) {
                memcpy(b, base, sizeof(b));
                b[s] += (k & 4 ? 1u : 0u) + (UINT64_C(1) << 21);
                signals_derive(params, ALL, b);
                for (size_t d = 0; d < SIGNAL_COUNT; d++)
                    moved[d][s] |=
                        tally_signals[d].source_count != 0 && a[d] != b[d];
            }
        }
    }
    for (size_t d = 0; d < SIGNAL_COUNT; d++) {
        const struct signal_row *row = &tally_signals[d];
        for (size_t s = 0; s < SIGNAL_COUNT; s++) {
            bool source = false;
            for (size_t i = 0; i < row->source_count; i++)
                source |= row->sources[i] == s;
            if (moved[d][s] && !source)
                fail_msg("%s follows from %s, which is no source of it",
                         row->name, tally_signals[s].name);
        }
    }
}

/* Returns whether two values agree but for rounding, of which each quotient of
 * a formula leaves one. */
static bool
are_near(double a, double b)
{
    const double off = a > b ? a - b : b - a;

    return off <= 8 + (b > 0 ? b : -b) * 1e-9;
}

/* The parts of a whole add up to the whole, derived signals too. */
static void
test_parts(void **state)
{
    uint64_t random = random_seed(), params[PARAM_COUNT];
    static uint64_t whole[SIGNAL_COUNT];
    static double parts[3][SIGNAL_COUNT];

    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        if (tally_machines[m].params == NULL)
            continue;
        set_params(params, tally_machines[m].name, (const char *[]){NULL});
        for (unsigned round = 0; round < 50; round++) {
            memset(whole, 0, sizeof(whole));
            for (size_t k = 0; k < 3; k++) {
                for (size_t s = 0; s < SIGNAL_COUNT; s++) {
                    const uint64_t n = random_below(&random, 1u << 20);
                    parts[k][s] = (double)n;
                    whole[s] += n;
                }
            }
            signals_derive(params, ALL, whole);
            for (size_t k = 0; k < 3; k++)
                signals_derive_part(params, ALL, whole, parts[k]);
            for (size_t s = 0; s < SIGNAL_COUNT; s++) {
                const double sum = parts[0][s] + parts[1][s] + parts[2][s];
                /* A negative total wraps, and half of it is no half. */
                if (sum >= 0 && !are_near(sum, (double)(int64_t)whole[s]))
                    fail_msg("%s of %s: the parts come to %f, the whole is "
                             "%lld",
                             tally_signals[s].name, tally_machines[m].name, sum,
                             (long long)whole[s]);
            }
        }
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_implied), cmocka_unit_test(test_closed),
        cmocka_unit_test(test_lacks),   cmocka_unit_test(test_starves),
        cmocka_unit_test(test_sources), cmocka_unit_test(test_parts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
