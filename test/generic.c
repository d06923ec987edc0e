/* SPDX-License-Identifier: MIT */
/* Generic names: what stands for each of them on each machine. */
#include <string.h>

#include "check.h"
#include "profile/hardware.h"
#include "table/generic.h"
#include "table/metric.h"
#include "table/text.h"
#include "table/umask.h"

static void
test_find(void **state)
{
    (void)state;
    assert_int_equal(generic_find("instructions"), GENERIC_INSTRUCTIONS);
    assert_int_equal(generic_find("papi_tot_ins"), GENERIC_INSTRUCTIONS);
    assert_int_equal(generic_find("l1D-Load-Misses"),
                     GENERIC_L1_DCACHE_LOAD_MISSES);
    assert_int_equal(generic_find("All_instr"), -1);
    assert_int_equal(generic_find(""), -1);
    assert_string_equal(
        tally_generic_metrics[generic_metric_find("DTLB_MISS_RATE")].name,
        "tlb_miss_rate");
    assert_int_equal(generic_metric_find("mips"), -1);
}

/* Reads the name in a list of events; returns the only event, NULL if the name
 * is refused, and then says why in `heard`. */
static const struct event_row *
only_event(const struct machine_row *m, const char *name, struct heard *heard)
{
    const struct tally_log log = listen(heard);
    const struct event_row **events = NULL, *only = NULL;
    size_t count = 0;

    if (event_list_parse(m, name, &log, &events, &count) == 0) {
        assert_int_equal(count, 1);
        only = events[0];
        free(events);
    }
    return only;
}

/* Checks what a list of events makes of each spelling of the name. */
static void
check_spellings(const struct machine_row *m, int id)
{
    const struct generic_row *row = &tally_generics[id];
    const char *const *alias = row->aliases;

    for (const char *name = row->name; name != NULL; name = *alias++) {
        struct heard heard;
        const struct event_row *event = only_event(m, name, &heard);
        assert_ptr_equal(event, generic_counted(m, id));
        if (event != NULL)
            assert_int_not_equal(event->fidelity, FIDELITY_IDLE);
        else
            assert_non_null(strstr(heard.text, m->generics[id].reason));
    }
}

/* Every name on every machine stands for something or is refused with a
 * reason. */
static void
test_every_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        for (int id = 0; id < GENERIC_COUNT; id++) {
            const struct generic_event *g = &m->generics[id];
            assert_int_equal(g->kind == STANDS_NONE, g->reason != NULL);
            assert_int_equal(g->kind == STANDS_NONE, g->own == NULL);
            if (m->params != NULL)
                check_spellings(m, id);
        }
    }
}

/* Adds up the signals of the terms of "A + B" as bits. */
static void
terms_signals(const struct machine_row *m, const char *terms, uint8_t *signals)
{
    char text[512], *rest = text;

    assert_true(strlen(terms) < sizeof(text));
    strcpy(text, terms);
    for (char *term; (term = rest) != NULL;) {
        struct heard heard;
        rest = strstr(term, " + ");
        if (rest != NULL) {
            *rest = '\0';
            rest += 3;
        }
        const struct event_row *e = only_event(m, term, &heard);
        assert_non_null(e);
        for (size_t i = 0; i < e->signal_count; i++)
            signals[e->signals[i]]++;
    }
}

static void
test_sums(void **state)
{
    size_t sums = 0;

    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        for (int id = 0; id < GENERIC_COUNT; id++) {
            const struct event_row *e = generic_counted(m, id);
            uint8_t wanted[SIGNAL_COUNT] = {0}, got[SIGNAL_COUNT] = {0};
            if (m->generics[id].kind != STANDS_SUM)
                continue;
            terms_signals(m, m->generics[id].own, wanted);
            for (size_t s = 0; s < e->signal_count; s++)
                got[e->signals[s]]++;
            assert_memory_equal(got, wanted, sizeof(got));
            assert_int_equal(e->counters, 0);
            sums++;
        }
    }
    assert_true(sums > 20);
}

static const struct {
    int line;
    const char *machine, *name, *own;
    enum stands kind;
} rows[] = {
    {__LINE__, "t1", "cycles", "model/cycles", STANDS_MODEL},
    {__LINE__, "t1", "branch-misses", NULL, STANDS_NONE},
    {__LINE__, "t1", "L1-dcache-loads", "L1-dcache-loads", STANDS_MODEL},
    {__LINE__, "t2", "L1-dcache-load-misses", "Dcache_misses", STANDS_EVENT},
    {__LINE__, "t2plus", "L1-dcache-load-misses", "Dcache_misses",
     STANDS_EVENT},
    {__LINE__, "t2", "branch-misses", "Taken_branches", STANDS_EVENT},
    {__LINE__, "t2", "PAPI_L3_TCM", NULL, STANDS_NONE},
    {__LINE__, "t4", "PAPI_TLB_TL", "ITLB_misses_async + DTLB_misses_async",
     STANDS_SUM},
    {__LINE__, "r10000", "cache-references",
     "Primary_instruction_cache_misses + Primary_data_cache_misses",
     STANDS_SUM},
    {__LINE__, "r10000-rev2", "PAPI_L2_TCM",
     "Secondary_instruction_cache_misses + Secondary_data_cache_misses",
     STANDS_SUM},
    {__LINE__, "r12000", "L1-dcache-load-misses",
     "model/data_cache_load_misses", STANDS_MODEL},
    {__LINE__, "montecito", "LLC-load-misses", "L3_READS.DATA_READ.MISS",
     STANDS_EVENT},
    {__LINE__, "host-model", "instructions", "instructions", STANDS_EVENT},
    {__LINE__, "host", "PAPI_TOT_INS", "instructions", STANDS_EVENT},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct generic_event *g =
            &machine_of(rows[i].machine)->generics[generic_find(rows[i].name)];
        same_number(rows[i].line, g->kind, rows[i].kind);
        same_text(rows[i].line, g->own != NULL ? g->own : "none",
                  rows[i].own != NULL ? rows[i].own : "none");
    }
}

static void
test_expand(void **state)
{
    const struct machine_row *m = machine_of("montecito");
    char text[40];

    (void)state;
    assert_true(generic_expand(m, "llc-load-misses:u", text, sizeof(text)));
    assert_string_equal(text, "L3_READS.DATA_READ.MISS:u");
    assert_true(generic_expand(m, "cycles", text, sizeof(text)));
    assert_string_equal(text, "cycles");
    assert_true(generic_expand(m, "L1D_READS_SET1:u", text, sizeof(text)));
    assert_string_equal(text, "L1D_READS_SET1:u");
    assert_true(generic_expand(m, "", text, sizeof(text)));
    assert_string_equal(text, "");
    strcpy(text, "kept");
    assert_false(generic_expand(m, "LLC-load-misses", text, 23));
    assert_string_equal(text, "kept");
    assert_true(generic_expand(m, "LLC-load-misses", text, 24));
}

/* A selection takes a generic name as it takes the machine's own. */
static void
test_selection(void **state)
{
    const struct machine_row *m = machine_of("montecito");
    struct selection s;
    char text[SELECTION_TEXT];

    (void)state;
    assert_int_equal(selection_parse(m, "LLC-loads:all", 13, NULL, &s), 0);
    selection_text(&s, text, sizeof(text));
    assert_string_equal(text, "L3_READS.DATA_READ.ALL:all");
}

/* A machine has a generic metric exactly if it has all that its formula
 * names, or a metric of its own. */
static void
test_metrics(void **state)
{
    (void)state;
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        for (int k = 0; k < GENERIC_METRIC_COUNT; k++) {
            const struct generic_metric *g = &tally_generic_metrics[k];
            const struct metric_row *metric = metric_find(m, g->name);
            struct heard heard;
            const struct tally_log log = listen(&heard);
            bool lacks = false;
            for (size_t o = 0; o < g->operand_count; o++)
                lacks |= m->generics[g->operands[o]].kind == STANDS_NONE;
            assert_int_equal(metric == NULL, lacks);
            if (metric != NULL)
                assert_true(metric->generic);
            else
                assert_int_equal(metric_unknown(m, g->name, &log),
                                 TALLY_EUNKNOWN);
        }
        if (!m->hidden)
            assert_non_null(metric_find(m, "ipc"));
    }
    struct heard heard;
    const struct tally_log log = listen(&heard);
    metric_unknown(machine_of("t1"), "branch_mpki", &log);
    assert_string_equal(heard.text,
                        "metric 'branch_mpki' needs branch-misses, for which "
                        "nothing on ultrasparc-t1 stands: the processor "
                        "predicts no branch: the strand waits until its branch "
                        "is resolved");
}

/* No counter has a sum: the machine's own events must be named. */
static void
test_hardware(void **state)
{
    const struct machine_row *m = machine_of("r10000");
    const struct event_row *const events[] = {
        event_find(m, "cache-references")};
    struct hardware hardware;
    struct heard heard;
    const struct tally_log log = listen(&heard);

    (void)state;
    assert_int_equal(hardware_init(&hardware, m, events, 1, &log), TALLY_ERULE);
    assert_string_equal(
        heard.text,
        "--hardware counts no sums: cache-references is "
        "Primary_instruction_cache_misses + Primary_data_cache_misses on "
        "r10000; name these, or count it without");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),    cmocka_unit_test(test_every_name),
        cmocka_unit_test(test_sums),    cmocka_unit_test(test_rows),
        cmocka_unit_test(test_expand),  cmocka_unit_test(test_selection),
        cmocka_unit_test(test_metrics), cmocka_unit_test(test_hardware),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
