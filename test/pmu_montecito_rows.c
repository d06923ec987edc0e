/* SPDX-License-Identifier: MIT */
/* Where the manual contradicts itself about an event of Montecito: what the
 * catalogue, and so the monitors, took. Each row follows the tag of its
 * decision. */
#include "test/check.h"

#include "table/plan.h"

/* What a row asks for; -2: it does not. */
struct wanted {
    int line;
    const char *event;
    char type; /* 0: not asked */
    int iar, dar, opc, l1d_set, l2d_set;
};

#define FILTERS(iar, dar, opc) 0, iar, dar, opc, -2, -2
#define TYPE(type) type, -2, -2, -2, -2, -2
#define L1D_SET(set) 0, -2, -2, -2, set, -2
#define L2D_SET(set) 0, -2, -2, -2, -2, set

static const struct wanted rows[] = {
    /* T1 */
    {__LINE__, "BUS_SNOOP_STALL_CYCLES", TYPE('S')},
    /* T2 */
    {__LINE__, "SI_WAQ_COLLISIONS", TYPE('C')},
    {__LINE__, "SI_WDQ_ECC_ERRORS", TYPE('C')},
    /* T3 */
    {__LINE__, "L2D_MISSES", TYPE('F')},
    /* T4 */
    {__LINE__, "ISB_BUNPAIRS_IN", TYPE('F')},
    /* Q1 */
    {__LINE__, "L2I_READS", FILTERS(1, 0, 0)},
    {__LINE__, "L2I_UC_READS", FILTERS(1, 0, 0)},
    {__LINE__, "L2I_VICTIMIZATION", FILTERS(1, 0, 0)},
    {__LINE__, "L2I_RECIRCULATES", FILTERS(1, 0, 0)},
    {__LINE__, "L2I_L3_REJECTS", FILTERS(1, 0, 0)},
    {__LINE__, "L2I_HIT_CONFLICTS", FILTERS(1, 0, 0)},
    {__LINE__, "L2I_SPEC_ABORTS", FILTERS(1, 0, 0)},
    /* Q2 */
    {__LINE__, "L2I_SNOOP_HITS", FILTERS(0, 0, 0)},
    /* Q3 */
    {__LINE__, "DTLB_INSERTS_HPW", FILTERS(0, 0, 0)},
    {__LINE__, "HPW_DATA_REFERENCES", FILTERS(0, 0, 0)},
    /* Q4 */
    {__LINE__, "L2D_FILL_MESI_STATE", FILTERS(0, 0, 0)},
    /* Q5 */
    {__LINE__, "L2D_INSERT_MISSES", FILTERS(1, 1, 1)},
    {__LINE__, "L2D_INSERT_HITS", FILTERS(1, 1, 1)},
    /* Q6 */
    {__LINE__, "SPEC_LOADS_NATTED", FILTERS(1, 1, 0)},
    /* Q7 */
    {__LINE__, "L3_INSERTS", FILTERS(1, 1, 1)},
    /* Q8 */
    {__LINE__, "NOPS_RETIRED", FILTERS(1, 0, 1)},
    /* Q9 */
    {__LINE__, "CPU_OP_CYCLES", FILTERS(1, 0, 1)},
    /* S1 */
    {__LINE__, "SPEC_LOADS_NATTED", L1D_SET(6)},
    /* S2 */
    {__LINE__, "LOADS_RETIRED_INTG", L1D_SET(6)},
    /* S3 */
    {__LINE__, "TAGGED_L2D_RETURN_PORT", L2D_SET(-1)},
    /* S4 */
    {__LINE__, "L2D_OPS_ISSUED", L2D_SET(7)},
};

static void
same_if_asked(int line, int got, int wanted)
{
    if (wanted != -2)
        same_number(line, got, wanted);
}

static void
test_rows(void **state)
{
    const struct machine_row *m = machine_find("montecito");

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct wanted *w = &rows[i];
        const struct event_row *e = event_find(m, w->event);

        if (e == NULL)
            fail_msg("row at line %d: no %s", w->line, w->event);
        if (w->type != 0)
            same_number(w->line, e->type, w->type);
        same_if_asked(w->line, e->iar, w->iar);
        same_if_asked(w->line, e->dar, w->dar);
        same_if_asked(w->line, e->opc, w->opc);
        same_if_asked(w->line, e->l1d_set, w->l1d_set);
        same_if_asked(w->line, e->l2d_set, w->l2d_set);
    }
}

static const struct event_row *
montecito(const char *name)
{
    const struct event_row *e = event_find(machine_find("montecito"), name);

    assert_non_null(e);
    return e;
}

static const struct umask_row *
umask(const char *event, const char *name)
{
    const struct event_row *e = montecito(event);

    for (size_t i = 0; i < e->umask_count; i++)
        if (strcmp(e->umasks[i].name, name) == 0)
            return &e->umasks[i];
    fail_msg("%s has no %s", event, name);
    return NULL;
}

static void
test_codes(void **state)
{
    (void)state;
    /* C1 */
    assert_int_equal(montecito("L2D_OZQ_FULL")->code, 0xe1);
    assert_ptr_equal(montecito("0xe3"), montecito("L2D_OZQ_FULL"));
    /* C2 */
    assert_int_equal(montecito("IA64_INST_RETIRED")->code, 0x08);
    assert_int_equal(montecito("IA64_TAGGED_INST_RETIRED")->code, 0x08);
    assert_ptr_not_equal(montecito("IA64_INST_RETIRED"),
                         montecito("IA64_TAGGED_INST_RETIRED"));
}

static void
test_counters(void **state)
{
    const struct machine_row *m = machine_find("montecito");
    size_t found = 0;

    (void)state;
    /* S5: PMD4 to 9, the first six counters. */
    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        if (strncmp(e->name, "SI_", 3) != 0 &&
            strcmp(e->name, "MEM_READ_CURRENT") != 0 &&
            strncmp(e->name, "L2D_INSERT_", 11) != 0)
            continue;
        assert_int_equal(e->counters, 0x3f);
        found++;
    }
    assert_true(found > 20);
}

static void
test_attribution(void **state)
{
    (void)state;
    /* H1 */
    assert_string_equal(montecito("L2D_BYPASS")->attribution, "ActiveTrue");
    /* H2 */
    assert_string_equal(montecito("L2D_OZQ_ACQUIRE")->attribution,
                        "ActiveApprox");
    /* H3 */
    const struct event_row *e = montecito("L2D_L3ACCESS_CANCEL");
    for (size_t i = 0; i < e->umask_count; i++) {
        if (e->umasks[i].counts != UMASK_YES)
            continue;
        assert_string_equal(e->umasks[i].attribution,
                            (e->umasks[i].value & 7) < 4 ? "TrueThrd"
                                                         : "ActiveApprox");
    }
    /* O6 */
    assert_int_equal(umask("L2D_BYPASS", "L3_DATA1")->all, 1);
    assert_int_equal(umask("L2D_BYPASS", "L2_DATA1")->all, 0);
    assert_int_equal(umask("L2D_BYPASS", "L2_DATA2")->all, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_counters),
        cmocka_unit_test(test_attribution),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
