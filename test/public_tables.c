/* SPDX-License-Identifier: MIT */
/*
 * The machines, events, registers, metrics and plans as a program of its own
 * sees them: public headers only, linked to the shared library.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <tally/event.h>
#include <tally/tally.h>

static void
keep_line(void *user, enum tally_level level, const char *text)
{
    if (level == TALLY_LOG_ERROR)
        snprintf(user, 256, "%s", text);
}

static void
names_errors(void **state)
{
    (void)state;
    assert_string_equal(tally_version(), TALLY_TEST_VERSION);
    assert_string_equal(tally_strerror(0), "no error");
    assert_string_equal(tally_strerror(TALLY_EARCH), "wrong architecture");
    assert_string_equal(tally_strerror(-1000), "unknown error");
    assert_string_equal(tally_fidelity_name(TALLY_ESTIMATED), "estimated");
    assert_string_equal(tally_fidelity_name(TALLY_EXACT), "exact");
    assert_string_equal(tally_fidelity_name(TALLY_IDLE), "idle");
    assert_null(tally_fidelity_name((enum tally_fidelity)(TALLY_IDLE + 1)));
    assert_null(tally_fidelity_name((enum tally_fidelity) - 1));
}

static void
walks_machines(void **state)
{
    const struct tally_machine *m = NULL;
    unsigned count = 0;

    (void)state;
    while ((m = tally_machine_next(m)) != NULL) {
        assert_ptr_equal(tally_machine_find(tally_machine_name(m)), m);
        assert_true(strlen(tally_machine_title(m)) > 0);
        /* The machine of tally's own tests is found, and is in no list. */
        assert_string_not_equal(tally_machine_name(m), "fake");
        count++;
    }
    assert_true(count >= 2);
    assert_non_null(tally_machine_find("Niagara2"));
    assert_non_null(tally_machine_find("fake"));
    assert_null(tally_machine_find("no such machine"));
}

static void
walks_events(void **state)
{
    const struct tally_machine *t2 = tally_machine_find("ultrasparc-t2");
    const struct tally_event *e = NULL;
    unsigned count = 0;

    (void)state;
    while ((e = tally_event_next(t2, e)) != NULL) {
        const bool idle = tally_event_fidelity(e) == TALLY_IDLE;
        assert_ptr_equal(tally_event_find(t2, tally_event_name(e)), e);
        assert_true(strlen(tally_event_brief(e)) > 0);
        assert_true(strlen(tally_event_counts(e)) > 0);
        assert_true(strlen(tally_event_reference(e)) > 0);
        assert_true((tally_event_reason(e) != NULL) == idle);
        count++;
    }
    assert_true(count >= 38);
    e = tally_event_find(t2, "0x023");
    assert_string_equal(tally_event_name(e), "Dcache_misses");
    assert_int_equal(tally_event_code(e), 0x23);
    assert_ptr_equal(tally_event_find(t2, "L1-dcache-load-misses"), e);
    assert_null(tally_event_find(t2, "no such event"));
}

/* A generic name finds what a session counts for it: an event, a part of an
 * event, or an event that no list has; or nothing. */
static void
finds_generic_names(void **state)
{
    const struct tally_machine *montecito = tally_machine_find("montecito");
    const struct tally_machine *t1 = tally_machine_find("ultrasparc-t1");
    const struct tally_event *e = tally_event_find(montecito, "llc-loads");

    (void)state;
    assert_non_null(e);
    assert_string_equal(tally_event_name(e), "L3_READS.DATA_READ.ALL");
    assert_int_equal(tally_event_fidelity(e), TALLY_MODELLED);
    assert_null(tally_event_next(montecito, e));
    e = tally_event_find(t1, "cache-misses");
    assert_string_equal(tally_event_name(e), "cache-misses");
    assert_null(tally_event_next(t1, e));
    assert_null(tally_event_find(t1, "branch-misses"));
}

/* "unit/name" and each "unit/alias" find the event, on every machine. */
static void
finds_in_units(void **state)
{
    (void)state;
    for (const struct tally_machine *m = tally_machine_next(NULL); m != NULL;
         m = tally_machine_next(m))
        for (const struct tally_event *e = tally_event_next(m, NULL); e != NULL;
             e = tally_event_next(m, e)) {
            const char *name = tally_event_name(e);
            char text[256];
            for (size_t i = 0; name != NULL; name = tally_event_alias(e, i++)) {
                snprintf(text, sizeof(text), "%s/%s", tally_event_unit(e),
                         name);
                assert_ptr_equal(tally_event_find(m, text), e);
            }
            if (tally_event_number(e) >= 0) {
                snprintf(text, sizeof(text), "%d", (int)tally_event_number(e));
                assert_ptr_equal(tally_event_find(m, text), e);
            }
        }

    const struct tally_machine *r10000 = tally_machine_find("r10000");
    const struct tally_machine *t1 = tally_machine_find("ultrasparc-t1");
    const struct tally_machine *plus = tally_machine_find("ultrasparc-t2plus");
    assert_int_equal(tally_event_number(tally_event_find(r10000, "Cycles")), 0);
    assert_int_equal(tally_event_code(tally_event_find(r10000, "Cycles")), -1);
    assert_string_equal(tally_event_name(tally_event_find(t1, "dram/0x0")),
                        "mem_reads");
    assert_null(tally_event_find(plus, "clock_cycles"));
    assert_string_equal(
        tally_event_unit(tally_event_find(plus, "gpd/clock_cycles")), "gpd");
    assert_int_equal(tally_event_unit_number(
                         plus, tally_event_find(plus, "gpd/clock_cycles")),
                     6);
}

static void
test_encode(void **state)
{
    const struct tally_machine *t4 = tally_machine_find("sparc-t4");
    struct tally_write writes[4];
    size_t count = 99;
    char line[256] = "";
    const struct tally_log log = {keep_line, line};

    (void)state;
    assert_int_equal(
        tally_encode(t4, "cycles:u,Branches:uk", &log, writes, 4, &count), 0);
    assert_int_equal(count, 2);
    assert_string_equal(writes[0].name, "PCR0");
    assert_int_equal(writes[0].number, 0);
    /* sl 26 in 15:11, ut in bit 2 */
    assert_int_equal(writes[0].value, 26 << 11 | 1 << 2);
    assert_int_equal(writes[1].value, 3 << 11 | 1 << 5 | 1 << 3 | 1 << 2);
    /* A printed name of 89 letters, with all that may stand around it */
    assert_int_equal(
        tally_encode(t4,
                     "sparc-t4::cpu/L1_data_cache_miss_and_local_L2_cache_"
                     "local_L2_cache_to_cache_or_local_L3_cache_hit_async"
                     ":ukh:toe:picnht:picnpt",
                     &log, writes, 4, &count),
        0);
    assert_string_equal(line, "");
    assert_int_equal(writes[0].value >> 5 & 0x7ff, 0x5c1);
    /* Two writes, room for one: the result is the number of writes. */
    writes[1] = (struct tally_write){.value = 77};
    assert_int_equal(
        tally_encode(t4, "cycles,Branches", &log, writes, 1, &count), 0);
    assert_int_equal(count, 2);
    assert_int_equal(writes[1].value, 77);
    assert_int_equal(
        tally_encode(t4, "cycles,Branches", &log, writes, 2, &count), 0);
    assert_string_equal(writes[1].name, "PCR1");
    assert_int_equal(writes[1].number, 1);
    assert_int_equal(tally_encode(t4, "0,x", NULL, writes, 4, &count),
                     TALLY_EUNKNOWN);
    assert_int_equal(tally_encode(t4, "cycles,cycles,cycles,cycles,cycles",
                                  &log, writes, 4, &count),
                     TALLY_ERULE);
    assert_string_equal(line, "5 events for PIC0, PIC1, PIC2 and PIC3");
    assert_int_equal(count, 2);
}

/* The last finding of each kind, and how many there were. */
struct findings {
    struct {
        unsigned count;
        char name[32], text[160];
        uint64_t value;
    } kinds[3];
};

static void
take_finding(void *user, const struct tally_decoded *d)
{
    struct findings *f = user;

    assert_in_range(d->kind, 0, 2);
    f->kinds[d->kind].count++;
    snprintf(f->kinds[d->kind].name, 32, "%s", d->name ? d->name : "(none)");
    snprintf(f->kinds[d->kind].text, 160, "%s", d->text);
    f->kinds[d->kind].value = d->value;
}

static void
test_decode(void **state)
{
    const struct {
        int line;
        const char *machine, *text;
        unsigned counts[3]; /* of fields, counters and warnings */
        const char *field, *counter, *counts_what, *warning;
        uint64_t value; /* of the last field */
    } rows[] = {
        /* ism 2, code 0x00, umask xx01, plm 8 */
        {__LINE__,
         "montecito",
         "PMC4=0x2010008",
         {13, 1, 0},
         "plm",
         "PMD4",
         "BACK_END_BUBBLE.FE:u",
         "",
         8},
        /* ism is 0 */
        {__LINE__,
         "montecito",
         "PMC4=0x10008",
         {13, 1, 1},
         "plm",
         "PMD4",
         "BACK_END_BUBBLE.FE:u",
         "PMC4.ism",
         8},
        /* The note of a counter without an event */
        {__LINE__,
         "montecito",
         "PMC4=0x201fe08",
         {13, 1, 0},
         "plm",
         "PMD4",
         "0xfe selects no event",
         "",
         8},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct tally_machine *m = tally_machine_find(rows[i].machine);
        struct findings f = {0};
        assert_int_equal(tally_decode(m, rows[i].text, NULL, take_finding, &f),
                         0);
        bool good =
            strcmp(f.kinds[TALLY_DECODED_FIELD].name, rows[i].field) == 0 &&
            f.kinds[TALLY_DECODED_FIELD].value == rows[i].value &&
            f.kinds[TALLY_DECODED_FIELD].text[0] != '\0' &&
            strcmp(f.kinds[TALLY_DECODED_COUNTER].name, rows[i].counter) == 0 &&
            strstr(f.kinds[TALLY_DECODED_COUNTER].text, rows[i].counts_what) !=
                NULL &&
            strstr(f.kinds[TALLY_DECODED_WARNING].text, rows[i].warning) !=
                NULL;
        for (int kind = 0; kind < 3; kind++)
            good = good && f.kinds[kind].count == rows[i].counts[kind];
        if (!good)
            fail_msg("row of line %d: %u fields, last %s %llu; %u counters, "
                     "last %s: %s; %u warnings, last %s %s",
                     rows[i].line, f.kinds[0].count, f.kinds[0].name,
                     (unsigned long long)f.kinds[0].value, f.kinds[1].count,
                     f.kinds[1].name, f.kinds[1].text, f.kinds[2].count,
                     f.kinds[2].name, f.kinds[2].text);
    }
    assert_int_equal(tally_decode(tally_machine_find("montecito"), "PMC99=1",
                                  NULL, take_finding, NULL),
                     TALLY_EUNKNOWN);
}

static void
test_plan(void **state)
{
    const struct tally_machine *m = tally_machine_find("montecito");
    struct tally_planned planned = {.group = 7};
    struct tally_clash clash;
    struct tally_plan *plan = NULL;
    char line[256] = "";
    const struct tally_log log = {keep_line, line};

    (void)state;
    assert_int_equal(
        tally_plan_create(m, "L1D_READS_SET0,L1D_READS_SET1", &log, &plan), 0);
    assert_int_equal(tally_plan_group_count(plan), 2);
    assert_int_equal(tally_plan_event(plan, 0, &planned), 0);
    assert_string_equal(planned.event, "L1D_READS_SET0");
    assert_int_equal(planned.group, 0);
    assert_int_equal(tally_plan_event(plan, 1, &planned), 0);
    assert_string_equal(planned.event, "L1D_READS_SET1");
    assert_int_equal(planned.group, 1);
    assert_string_equal(planned.counter, "PMD5");
    assert_int_equal(tally_plan_event(plan, 2, &planned), TALLY_ERANGE);
    assert_int_equal(tally_plan_clash(plan, 0, &clash), 0);
    assert_int_equal(clash.a, 0);
    assert_int_equal(clash.b, 1);
    assert_non_null(strstr(clash.why, "PMC5 chooses one set"));
    assert_int_equal(tally_plan_clash(plan, 1, &clash), TALLY_ERANGE);
    tally_plan_destroy(plan);
    tally_plan_destroy(NULL);
    assert_int_equal(
        tally_plan_create(m, "{L1D_READS_SET0,L1D_READS_SET1}", &log, &plan),
        TALLY_ERULE);
    assert_non_null(strstr(line, "L1D set 0"));
}

static void
test_umasks(void **state)
{
    const struct tally_machine *m = tally_machine_find("montecito");
    const struct tally_event *e = tally_event_find(m, "BACK_END_BUBBLE");
    struct tally_umask u;

    (void)state;
    assert_int_equal(tally_event_umask(e, 0, &u), 0);
    assert_string_equal(u.name, "ALL");
    assert_string_equal(u.pattern, "xx00");
    assert_true(u.brief[0] != '\0');
    assert_int_equal(u.counts, 1);
    assert_int_equal(tally_event_umask(e, 3, &u), 0);
    assert_int_equal(u.counts, 0);
    assert_int_equal(tally_event_umask(e, 4, &u), TALLY_ERANGE);
}

static void
test_registers(void **state)
{
    const struct tally_machine *m = tally_machine_find("montecito");
    const struct tally_register *pmc4 = tally_register_find(m, "pmc4");
    struct tally_field f = {.width = 99};
    unsigned count = 0, bits = 0;

    (void)state;
    assert_non_null(pmc4);
    assert_string_equal(tally_register_name(pmc4), "PMC4");
    assert_int_equal(tally_register_number(pmc4), 4);
    assert_true(tally_register_brief(pmc4)[0] != '\0');
    for (size_t i = 0; tally_register_field(pmc4, i, &f) == 0; i++)
        bits += f.width;
    assert_int_equal(bits, 64);
    assert_string_equal(f.name, "plm");
    assert_int_equal(f.low, 0);
    assert_int_equal(f.access, TALLY_READ_WRITE);
    assert_int_equal(f.has_reset, 0);
    for (const struct tally_register *r = tally_register_next(m, NULL);
         r != NULL; r = tally_register_next(m, r)) {
        assert_ptr_equal(tally_register_find(m, tally_register_name(r)), r);
        count++;
    }
    assert_true(count > 60);
    assert_null(tally_register_find(m, "PMC99"));
    assert_null(tally_register_next(tally_machine_find("host-model"), NULL));
}

static double
value_of(void *user, const char *name)
{
    (void)user;
    return strcmp(name, "model/cycles") == 0 || strcmp(name, "cycles") == 0
               ? 200
           : strcmp(name, "All_instr") == 0 ? 50
                                            : 0.0 / 0.0;
}

/* A metric asks for each of its counts and inputs by name. */
static double
value_asked(void *user, const char *name)
{
    char *asked = user;
    const size_t used = strlen(asked);

    snprintf(asked + used, 256 - used, "%s;", name);
    return 3;
}

static void
metrics_ask_for_inputs(void **state)
{
    const struct tally_machine *m = tally_machine_find("montecito");
    const struct tally_metric *metric = NULL;
    char asked[256] = "";

    (void)state;
    while ((metric = tally_metric_next(m, metric)) != NULL &&
           strcmp(tally_metric_formula(metric), "SI_CYCLES / $bus_ratio") != 0)
        ;
    assert_non_null(metric);
    assert_true(tally_metric_value(m, metric, value_asked, asked) == 1);
    assert_string_equal(asked, "SI_CYCLES;$bus_ratio;");
}

static void
test_metrics(void **state)
{
    const struct tally_machine *t2 = tally_machine_find("t2");
    const struct tally_metric *ipc = tally_metric_find(t2, "IPC");
    size_t count = 0;

    (void)state;
    assert_non_null(ipc);
    assert_string_equal(tally_metric_name(ipc), "ipc");
    assert_true(tally_metric_brief(ipc)[0] != '\0');
    assert_non_null(strstr(tally_metric_formula(ipc), "All_instr"));
    assert_non_null(tally_metric_unit(ipc));
    assert_true(tally_metric_value(t2, ipc, value_of, NULL) == 0.25);
    for (const struct tally_metric *i = tally_metric_next(t2, NULL); i != NULL;
         i = tally_metric_next(t2, i))
        count++;
    assert_true(count > 10);
    assert_null(tally_metric_find(t2, "nonesuch"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_encode),
        cmocka_unit_test(test_decode),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_umasks),
        cmocka_unit_test(test_metrics),
        cmocka_unit_test(metrics_ask_for_inputs),
        cmocka_unit_test(test_registers),
        cmocka_unit_test(names_errors),
        cmocka_unit_test(walks_machines),
        cmocka_unit_test(walks_events),
        cmocka_unit_test(finds_generic_names),
        cmocka_unit_test(finds_in_units),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
