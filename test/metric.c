/* SPDX-License-Identifier: MIT */
/* Every metric on made-up numbers, some by hand, and lists of names. */
#include "table/metric.h"

#include <math.h>

#include "check.h"
#include "table/plan.h"

/* Counts and inputs by name: "Load_instr=3 $pkts=2". */
struct made_up {
    const struct machine_row *machine;
    const char *values;
};

static double
value_named(const struct made_up *m, const char *name)
{
    const size_t length = strlen(name);

    for (const char *p = m->values; p != NULL; p = strchr(p, ' ')) {
        p += *p == ' ';
        if (strncmp(p, name, length) == 0 && p[length] == '=')
            return strtod(p + length + 1, NULL);
    }
    fail_msg("%s: no value for %s in '%s'", m->machine->name, name, m->values);
    return 0;
}

static double
named_count(void *user, const struct formula_step *step)
{
    const struct made_up *m = user;
    const struct selection s =
        selection_of(m->machine, &m->machine->events[step->row], step->umask);
    char name[SELECTION_TEXT];

    selection_text(&s, name, sizeof(name));
    return value_named(m, name);
}

static double
named_input(void *user, size_t input)
{
    const struct made_up *m = user;
    char name[64];

    snprintf(name, sizeof(name), "$%s", m->machine->inputs[input].name);
    return value_named(m, name);
}

static const struct {
    int line;
    const char *machine, *metric, *values;
    double wanted, error;
} rows[] = {
    /* The sample summary of the Netra DPS profiler (rules P51, P52). */
    {__LINE__, "ultrasparc-t1", "ipc", "instr_cnt=51104522 cycles=289219777",
     0.176698, 5e-7},
    {__LINE__, "ultrasparc-t1", "ipp", "instr_cnt=51104522 $pkts=2600000",
     19.66, 5e-3},
    {__LINE__, "ultrasparc-t1", "ipp", "instr_cnt=51104522 $pkts=200000", 255.5,
     5e-2},
    {__LINE__, "ultrasparc-t1", "sb_full_per_1000",
     "instr_cnt=51104522 SB_full=3121", 0.0611, 5e-5},
    {__LINE__, "ultrasparc-t1", "ic_miss_per_1000",
     "instr_cnt=51104522 IC_miss=1080", 0.02113, 5e-6},
    {__LINE__, "ultrasparc-t1", "dc_miss_per_1000",
     "instr_cnt=51104522 DC_miss=2471858", 48.369, 5e-4},
    {__LINE__, "ultrasparc-t1", "l2_imiss_per_1000",
     "instr_cnt=51104522 L2_imiss=433", 0.008473, 5e-7},
    {__LINE__, "ultrasparc-t1", "l2_dmiss_ld_per_1000",
     "instr_cnt=51104522 L2_dmiss_ld=236191", 4.6217, 5e-5},
    {__LINE__, "ultrasparc-t2", "ipp", "All_instr=65033422 $pkts=200000",
     325.167, 5e-4},
    {__LINE__, "ultrasparc-t2", "ipc", "All_instr=65033422 cycles=213357798",
     0.304809, 5e-7},
    {__LINE__, "ultrasparc-t2", "stores_per_packet",
     "Store_instr=5157787 $pkts=200000", 25.7889, 5e-5},
    {__LINE__, "ultrasparc-t2", "loads_per_packet",
     "Load_instr=14564094 $pkts=200000", 72.8205, 5e-5},
    {__LINE__, "ultrasparc-t2", "l2_load_misses_per_packet",
     "L2_load_misses=59993 $pkts=200000", 0.299965, 5e-7},
    {__LINE__, "ultrasparc-t2", "icache_misses_per_1000_packets",
     "Icache_misses=1932 $pkts=200000", 9.66, 5e-9},
    {__LINE__, "ultrasparc-t2", "dcache_misses_per_packet",
     "Dcache_misses=1024428 $pkts=200000", 5.12214, 5e-9},
    {__LINE__, "ultrasparc-t2", "kpps",
     "$pkts=200000 cycles=213357798 $clock=1.4e9", 1312.35, 5e-3},
    {__LINE__, "ultrasparc-t2plus", "packet_rate",
     "$pkts=200000 cycles=213357798 $clock=1.2e9", 1124.87, 5e-3},
    {__LINE__, "ultrasparc-t2", "pipeline_utilisation",
     "All_instr=30 cycles=40", 75, 0},
    {__LINE__, "sparc-t4", "class_sum",
     "Branches=1 FGU_crypto_arithmetic_instructions=2 Load_instructions=4 "
     "Store_instructions=8 SPR_ring_ops=16 Other_instructions=32",
     63, 0},
    {__LINE__, "sparc-t4", "far_table_mispredicts",
     "Branch_target_mispredict_far_table_or_return_stack=10 "
     "Branch_target_mispredict_return_stack=4",
     6, 0},
    /* (3 + 2 * 4) / 22 */
    {__LINE__, "sparc-t4", "selected_per_cycle", "Sel-1=3 Sel-2=4 Cycles=22",
     0.5, 0},
    {__LINE__, "r10000", "successful_sc",
     "Graduated_store_conditionals=9 Failed_store_conditionals=2", 7, 0},
    /* 250000 cycles are 1 ms: (32 * 1000 + 16 * 500) bytes in it. */
    {__LINE__, "r10000", "l1_l2_bandwidth",
     "Primary_data_cache_misses=1000 "
     "Quadwords_written_back_from_primary_data_cache=500 Cycles=250000 "
     "$clock=250e6",
     40, 1e-9},
    {__LINE__, "r12000", "no_progress", "ALU_FPU_progress_cycles=30 Cycles=40",
     25, 1e-9},
    {__LINE__, "montecito", "IA64_IPC",
     "IA64_INST_RETIRED.THIS=30 CPU_OP_CYCLES.ALL=20", 1.5, 0},
    /* (30 + 10) / (100 + 60) */
    {__LINE__, "montecito", "L1I_MISS_RATIO",
     "L2I_DEMAND_READS=30 L2I_PREFETCHES=10 L1I_READS=100 L1I_PREFETCHES=60",
     0.25, 0},
    {__LINE__, "montecito", "ISB_LINES_IN", "ISB_BUNPAIRS_IN=10", 2.5, 0},
    {__LINE__, "montecito", "L3_DATA_MISS_RATIO",
     "L3_READS.DATA_READ.MISS=6 L3_WRITES.DATA_WRITE.MISS=4 "
     "L3_READS.DATA_READ.ALL=30 L3_WRITES.DATA_WRITE.ALL=10",
     0.25, 0},
    {__LINE__, "montecito", "BUS_BRQ_LIVE_REQ",
     "ER_BRQ_LIVE_REQ_HI=3 ER_BRQ_LIVE_REQ_LO=5", 29, 0},
    {__LINE__, "montecito", "BUS_RD_INSTRUCTIONS",
     "BUS_MEM_READ.BRL.ANY=50 BUS_RD_DATA.ANY=20", 30, 0},
    {__LINE__, "montecito", "RSE_CURRENT_REGS",
     "RSE_CURRENT_REGS_6=1 RSE_CURRENT_REGS_5_TO_3=5 RSE_CURRENT_REGS_2_TO_0=7",
     111, 0},
    /* 96 - (20 + 72) / 2 */
    {__LINE__, "montecito", "RSE_AVG_INVALID_REGS",
     "RSE_DIRTY_REGS_6=0 RSE_DIRTY_REGS_5_TO_3=2 RSE_DIRTY_REGS_2_TO_0=4 "
     "RSE_CURRENT_REGS_6=1 RSE_CURRENT_REGS_5_TO_3=1 RSE_CURRENT_REGS_2_TO_0=0 "
     "RSE_EVENT_RETIRED=2",
     50, 0},
    {__LINE__, "montecito", "dispersal_slots",
     "CPU_OP_CYCLES.ALL=1000 DISP_STALLED=250", 4500, 0},
    {__LINE__, "montecito", "back_end_bubble_difference",
     "BACK_END_BUBBLE.ALL=31 BE_RSE_BUBBLE.ALL=1 BE_EXE_BUBBLE.ALL=2 "
     "BE_L1D_FPU_BUBBLE.ALL=4 BE_FLUSH_BUBBLE.ALL=8 BACK_END_BUBBLE.FE=16",
     0, 0},
    /* X46: printed BUS_RD_INVAL. */
    {__LINE__, "montecito", "BIL_RATIO",
     "BUS_MEM_READ.BIL.ANY=2 BUS_MEMORY.ALL.ANY=8", 0.25, 0},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct machine_row *m = machine_of(rows[i].machine);
        const struct metric_row *metric = metric_find(m, rows[i].metric);
        struct made_up made_up = {m, rows[i].values};
        if (metric == NULL)
            fail_msg("row at line %d: no %s", rows[i].line, rows[i].metric);
        const double value =
            metric_value(metric, named_count, named_input, &made_up);
        if (!(fabs(value - rows[i].wanted) <= rows[i].error))
            fail_msg("row at line %d: got %.10g, wanted %g", rows[i].line,
                     value, rows[i].wanted);
    }
}

/* Positive, and different for each event and unit mask. */
static double
distinct_count(void *user, const struct formula_step *step)
{
    (void)user;
    return 1000.0 + 17.0 * step->row + step->umask;
}

static double
distinct_input(void *user, size_t input)
{
    (void)user;
    return 7.5 + (double)input;
}

static double
no_count(void *user, const struct formula_step *step)
{
    (void)user;
    (void)step;
    return 0;
}

static double
no_input(void *user, size_t input)
{
    (void)user;
    (void)input;
    return 0;
}

static double
unknown_input(void *user, size_t input)
{
    (void)user;
    (void)input;
    return (double)NAN;
}

/* Whether it divides by anything but a number. */
static bool
divides(const struct metric_row *metric)
{
    for (size_t i = 1; i < metric->step_count; i++)
        if (metric->steps[i].kind == FORMULA_DIVIDE &&
            metric->steps[i - 1].kind != FORMULA_NUMBER)
            return true;
    return false;
}

static void
test_every_metric(void **state)
{
    size_t count = 0;

    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        const struct machine_row *machine = &tally_machines[m];
        void *user = (void *)(uintptr_t)machine;
        for (size_t i = 0; i < machine->metric_count; i++, count++) {
            const struct metric_row *metric = &machine->metrics[i];
            const double value =
                metric_value(metric, distinct_count, distinct_input, user);
            if (!isfinite(value))
                fail_msg("%s %s: %g", machine->name, metric->name, value);
            const double none = metric_value(metric, no_count, no_input, user);
            if (divides(metric) ? !isnan(none) : !isfinite(none))
                fail_msg("%s %s: %g of zeros", machine->name, metric->name,
                         none);
            const double unknown =
                metric_value(metric, distinct_count, unknown_input, user);
            if (isnan(unknown) != (metric_inputs(metric) != 0))
                fail_msg("%s %s: %g without inputs", machine->name,
                         metric->name, unknown);
            assert_ptr_equal(metric_find(machine, metric->name), metric);
        }
        assert_true(!is_documented(machine) || machine->metric_count >= 20);
    }
    assert_true(count > 300);
}

/* What a metric needs: each once, and it can be planned. */
static void
test_every_events(void **state)
{
    (void)state;
    for (size_t m = 0; m < MACHINE_COUNT; m++) {
        const struct machine_row *machine = &tally_machines[m];
        for (size_t i = 0; i < machine->metric_count; i++) {
            const struct metric_row *metric = &machine->metrics[i];
            struct selection list[32];
            struct plan plan;
            const size_t count =
                metric_events(machine, metric, list, COUNT(list));
            bool counted = true;
            assert_true(count < COUNT(list));
            assert_true(count > 0 || metric_inputs(metric) != 0);
            for (size_t k = 0; k < count; k++) {
                /* The model's own events have no counter. */
                counted = counted && list[k].event->counters != 0;
                for (size_t j = 0; j < k; j++)
                    assert_true(list[j].event != list[k].event ||
                                list[j].umask != list[k].umask);
            }
            if (!counted)
                continue;
            assert_int_equal(plan_make(list, count, NULL, &plan), 0);
            assert_true(plan.group_count <= count);
            plan_finish(&plan);
        }
    }
}

static int
take_name(void *user, const struct metric_row *metric, const char *asked)
{
    char *names = user;
    const size_t at = strlen(names);

    assert_true(strlen(asked) > 0);
    snprintf(names + at, TEXT_SIZE - at, " %s", metric->name);
    return strcmp(metric->name, "cpi") == 0 ? TALLY_ENOMEM : 0;
}

static const struct {
    int line;
    const char *machine, *text, *names;
    int error;
    const char *message;
} lists[] = {
    {__LINE__, "ultrasparc-t2", "ipc", " ipc", 0, ""},
    {__LINE__, "ultrasparc-t2", "IPC,Kpps,ipc", " ipc packet_rate ipc", 0, ""},
    {__LINE__, "montecito", "BUS_RD_INVAL,ITLB_REFERENCES",
     " BUS_RD_INVALID L1ITLB_REFERENCES", 0, ""},
    /* What `take` returns is returned. */
    {__LINE__, "ultrasparc-t2", "cpi,ipc", " cpi", TALLY_ENOMEM, ""},
    {__LINE__, "ultrasparc-t2", "", "", TALLY_ESYNTAX,
     "a metric's name is missing in the list"},
    {__LINE__, "ultrasparc-t2", "ipc,", " ipc", TALLY_ESYNTAX,
     "a metric's name is missing in the list"},
    {__LINE__, "ultrasparc-t2", "ipc,,ipp", " ipc", TALLY_ESYNTAX,
     "a metric's name is missing in the list"},
    {__LINE__, "r10000", "tlb_mkpi", "", TALLY_EUNKNOWN,
     "unknown metric 'tlb_mkpi' on r10000: did you mean tlb_mpki?"},
    {__LINE__, "r12000", "cycles", "", TALLY_EUNKNOWN,
     "'cycles' is an event: name it without -M (tally count -e cycles)"},
    {__LINE__, "r12000", "frobnicate", "", TALLY_EUNKNOWN,
     "unknown metric 'frobnicate' on r12000; tally list metrics -m r12000 "
     "shows them"},
};

static void
test_lists(void **state)
{
    char text[400];

    (void)state;
    for (size_t i = 0; i < COUNT(lists); i++) {
        struct heard heard;
        const struct tally_log log = listen(&heard);
        char names[TEXT_SIZE] = "";
        const int error =
            metric_list_parse(machine_of(lists[i].machine), lists[i].text, &log,
                              take_name, names);
        same_text(lists[i].line, heard.text, lists[i].message);
        same_text(lists[i].line, names, lists[i].names);
        same_number(lists[i].line, error, lists[i].error);
    }
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(
        metric_list_parse(machine_of("r12000"), text, NULL, take_name, text),
        TALLY_EUNKNOWN);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_every_metric),
        cmocka_unit_test(test_every_events),
        cmocka_unit_test(test_lists),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
