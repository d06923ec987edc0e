/* SPDX-License-Identifier: MIT */
/* Plans: the fewest groups, never one that breaks a rule, and why not. */
#include "table/plan.h"

#include "check.h"
#include "ref/plan_ref.h"

/* What a plan says: "0:PIC0 0:PIC1 1:PIC0", one for each event. */
static void
plan_text(const struct plan *plan, const struct machine_row *m, size_t count,
          char *text, size_t size)
{
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%u:%s",
                               i > 0 ? " " : "", plan->rows[i].group,
                               m->counters[plan->rows[i].counter].name);
}

/* Lists, and the number of groups that the rules leave. */
static const struct {
    int line;
    const char *machine, *events;
    size_t groups;
} rows[] = {
    /* T1: one event and instructions. */
    {__LINE__, "ultrasparc-t1", "instr_cnt", 1},
    {__LINE__, "ultrasparc-t1", "IC_miss,instr_cnt", 1},
    {__LINE__, "ultrasparc-t1", "instr_cnt,IC_miss", 1},
    {__LINE__, "ultrasparc-t1", "IC_miss,DC_miss", 2},
    {__LINE__, "ultrasparc-t1", "IC_miss:u,instr_cnt:k", 2},
    /* P02: nine counters need eight measurements. */
    {__LINE__, "ultrasparc-t1",
     "instr_cnt,SB_full,FP_instr_cnt,IC_miss,DC_miss,ITLB_miss,DTLB_miss,"
     "L2_imiss,L2_dmiss_ld",
     8},
    {__LINE__, "ultrasparc-t1", "mem_reads,mem_writes,jbus_cycles,IC_miss", 1},
    {__LINE__, "ultrasparc-t1", "mem_reads,mem_writes,wr_buf_hits", 2},
    {__LINE__, "ultrasparc-t1",
     "mem_reads:at=0,mem_writes:at=0,mem_reads:at=1,wr_buf_hits:at=1", 1},
    {__LINE__, "ultrasparc-t1", "mem_reads,mem_writes:at=1,wr_buf_hits:at=2",
     1},
    {__LINE__, "ultrasparc-t1", "mem_reads,mem_writes:at=1,wr_buf_hits:at=1",
     2},
    /* T2: any two. */
    {__LINE__, "ultrasparc-t2", "Atomics,Atomics", 1},
    {__LINE__, "ultrasparc-t2", "Atomics,Load_instr,Store_instr", 2},
    {__LINE__, "ultrasparc-t2", "Atomics:u,Load_instr:h", 2},
    {__LINE__, "ultrasparc-t2", "0x32,0x52", 1},
    {__LINE__, "ultrasparc-t2plus",
     "L2_load_misses:from=local,L2_instr_misses:from=remote", 2},
    {__LINE__, "ultrasparc-t2plus",
     "L2_load_misses:from=local,Load_instr,lpu/clock_cycles,cycles_WB,"
     "asu_wakeup,gpd/clock_cycles,mem_reads",
     1},
    /* T4: four of any, each with its modes. */
    {__LINE__, "sparc-t4", "Cycles:u,Cycles:k,Cycles:h,Branches", 1},
    {__LINE__, "sparc-t4", "Cycles,Branches,atomics,BTC_miss,Pick-0", 2},
    {__LINE__, "sparc-t4", "All_reads,All_writes,Write_starved", 1},
    /* R10000: by counter; R12000: any two. */
    {__LINE__, "r10000", "Cycles,Graduated_instructions_17", 1},
    {__LINE__, "r10000", "Cycles,Graduated_instructions", 2},
    {__LINE__, "r10000", "TLB_misses,Graduated_loads", 2},
    {__LINE__, "r12000", "Cycles,Graduated_instructions", 1},
    {__LINE__, "r12000", "TLB_misses:u,Graduated_loads:k", 1},
    {__LINE__, "r12000", "TLB_misses,Graduated_loads,Cycles", 2},
    /* Montecito: L1D events of one set, of two, with twelve counters. */
    {__LINE__, "montecito",
     "LOADS_RETIRED,MISALIGNED_LOADS_RETIRED,UC_LOADS_RETIRED,CPU_OP_CYCLES",
     1},
    {__LINE__, "montecito", "LOADS_RETIRED,STORES_RETIRED", 2},
    {__LINE__, "montecito", "LOADS_RETIRED,STORES_RETIRED,UC_STORES_RETIRED",
     2},
    /* R105: not of any set. */
    {__LINE__, "montecito",
     "LOADS_RETIRED,DATA_EAR_EVENTS,DATA_DEBUG_REGISTER_MATCHES,L2D_MISSES", 1},
    /* L2D: two sets at once, three not; six counters. */
    {__LINE__, "montecito", "L2D_REFERENCES,L2D_OZQ_ACQUIRE", 1},
    {__LINE__, "montecito", "L2D_REFERENCES,L2D_OZQ_ACQUIRE,L2D_OZQ_RELEASE",
     2},
    {__LINE__, "montecito",
     "L2D_REFERENCES.READS,L2D_REFERENCES.WRITES,L2D_REFERENCES.ALL", 2},
    {__LINE__, "montecito",
     "L2D_REFERENCES.READS,L2D_REFERENCES.READS,L2D_REFERENCES.READS,"
     "L2D_REFERENCES.WRITES,L2D_REFERENCES.WRITES,L2D_REFERENCES.WRITES",
     1},
    {__LINE__, "montecito", "L2D_REFERENCES:all,L2D_REFERENCES", 1},
    {__LINE__, "montecito",
     "L2D_REFERENCES:all,L2D_REFERENCES,L2D_BYPASS."
     "L3_DATA1",
     2},
    /* R115: a full queue is counted with unit mask 0000 only. */
    {__LINE__, "montecito", "L2D_OZQ_FULL,L2D_OZQ_CANCELS0.RECIRC", 1},
    {__LINE__, "montecito",
     "L2D_OZQ_FULL,L2D_OZQ_CANCELS0.ACQ,L2D_REFERENCES.READS", 2},
    /* R114. */
    {__LINE__, "montecito", "L2D_OZQ_CANCELS0.ACQ,L2D_OZQ_CANCELS1.ANY", 2},
    {__LINE__, "montecito", "L2D_OZQ_CANCELS0.ACQ,L2D_OZQ_CANCELS0.REL", 1},
    /* R118: an L1D event beside L2D events in four places. */
    {__LINE__, "montecito",
     "LOADS_RETIRED,L2D_REFERENCES.READS,L2D_REFERENCES.READS,L2D_REFERENCES."
     "WRITES,L2D_REFERENCES.WRITES,L2D_REFERENCES.WRITES",
     1},
    {__LINE__, "montecito",
     "LOADS_RETIRED,L2D_REFERENCES.READS,L2D_REFERENCES.READS,L2D_REFERENCES."
     "READS,L2D_REFERENCES.WRITES,L2D_REFERENCES.WRITES,L2D_REFERENCES.WRITES",
     2},
    /* R116, and :all leaves six counters. */
    {__LINE__, "montecito", "CYCLES_HALTED,CYCLES_HALTED", 2},
    {__LINE__, "montecito",
     "L3_MISSES,L3_MISSES,L3_MISSES,L3_MISSES,L3_MISSES,L3_MISSES,L3_MISSES",
     2},
    {__LINE__, "montecito",
     "CPU_OP_CYCLES:all,CPU_OP_CYCLES:all,CPU_OP_CYCLES:all,CPU_OP_CYCLES:all,"
     "CPU_OP_CYCLES:all,CPU_OP_CYCLES:all,CPU_OP_CYCLES",
     1},
    {__LINE__, "montecito",
     "CPU_OP_CYCLES:all,CPU_OP_CYCLES:all,CPU_OP_CYCLES:all,CPU_OP_CYCLES:all,"
     "CPU_OP_CYCLES:all,CPU_OP_CYCLES:all,CPU_OP_CYCLES:all",
     2},
    /* Braces stay together. */
    {__LINE__, "sparc-t4", "{Cycles,Branches,atomics},{BTC_miss,Pick-0}", 2},
    {__LINE__, "sparc-t4", "{Cycles,Branches,atomics},BTC_miss", 1},
    {__LINE__, "r10000", "{Cycles,TLB_misses},{Issued_loads,Graduated_loads}",
     2},
    /* Skylake: three fixed events beside four of any, each with its modes. */
    {__LINE__, "skylake",
     "INST_RETIRED.ANY:u,CPU_CLK_UNHALTED.THREAD:k,CPU_CLK_UNHALTED.REF_TSC,"
     "INST_RETIRED.ANY_P,CPU_CLK_UNHALTED.THREAD_P,BR_INST_RETIRED.CONDITIONAL,"
     "MEM_LOAD_RETIRED.L1_MISS",
     1},
    {__LINE__, "skylake", "INST_RETIRED.ANY:u,INST_RETIRED.ANY:k", 2},
    {__LINE__, "skylake", "INST_RETIRED.PREC_DIST,INST_RETIRED.PREC_DIST:u", 2},
    {__LINE__, "skylake",
     "BR_INST_RETIRED.CONDITIONAL,INST_RETIRED.PREC_DIST,MEM_LOAD_RETIRED.L1_"
     "MISS,MEM_LOAD_RETIRED.L2_MISS",
     1},
    {__LINE__, "skylake",
     "MEM_LOAD_RETIRED.L1_MISS,MEM_LOAD_RETIRED.L2_MISS,"
     "MEM_LOAD_RETIRED.L3_MISS,MEM_LOAD_RETIRED.L1_HIT,MEM_LOAD_RETIRED.L2_HIT",
     2},
    /* Ice Lake-SP: four more counters, that have no events of caches. */
    {__LINE__, "icelake",
     "INST_RETIRED.ANY,TOPDOWN.SLOTS,CPU_CLK_UNHALTED.THREAD,"
     "MEM_LOAD_RETIRED.L1_MISS,MEM_LOAD_RETIRED.L2_MISS,"
     "MEM_LOAD_RETIRED.L3_MISS,L1D.REPLACEMENT,BR_INST_RETIRED.COND,"
     "BR_MISP_RETIRED.COND,TOPDOWN.SLOTS_P,INST_RETIRED.ANY_P",
     1},
    {__LINE__, "icelake",
     "MEM_LOAD_RETIRED.L1_MISS,MEM_LOAD_RETIRED.L2_MISS,"
     "MEM_LOAD_RETIRED.L3_MISS,L1D.REPLACEMENT,L2_LINES_IN.ALL",
     2},
    {__LINE__, "icelake", "TOPDOWN.SLOTS,TOPDOWN.SLOTS:u", 2},
    /* Zen 3: six of any. */
    {__LINE__, "zen3",
     "ex_ret_instr,ex_ret_instr:u,ex_ret_instr:k,ls_not_halted_cyc,ex_ret_brn,"
     "ex_ret_brn_misp",
     1},
    {__LINE__, "zen3",
     "ex_ret_instr,ex_ret_instr:u,ex_ret_instr:k,ls_not_halted_cyc,ex_ret_brn,"
     "ex_ret_brn_misp,ex_ret_cond",
     2},
    /* Neoverse N1: cycles on a counter of their own, or on one of six. */
    {__LINE__, "neoverse-n1",
     "INST_RETIRED,BR_RETIRED,L1D_CACHE,L1D_CACHE_REFILL,L2D_CACHE,"
     "L2D_CACHE_REFILL,CPU_CYCLES",
     1},
    {__LINE__, "neoverse-n1",
     "CPU_CYCLES:u,CPU_CYCLES:k,CPU_CYCLES:h,CHAIN,CHAIN,CHAIN,INST_RETIRED",
     1},
    {__LINE__, "neoverse-n1", "CHAIN,CHAIN,CHAIN,CHAIN", 2},
    {__LINE__, "neoverse-v1",
     "CPU_CYCLES,CPU_CYCLES:u,STALL,STALL:u,CNT_CYCLES,OP_RETIRED,OP_SPEC", 1},
    {__LINE__, "cortex-a72",
     "INST_RETIRED,BR_PRED,L1D_CACHE,L1D_CACHE_REFILL,L2D_CACHE,LDST_SPEC,"
     "CPU_CYCLES",
     1},
    /* U74: cycles and instructions have a counter each, two count any event. */
    {__LINE__, "sifive-u74", "MCYCLE,MINSTRET,UTLB_MISS,DATA_TLB_MISS", 1},
    {__LINE__, "sifive-u74", "MCYCLE,UTLB_MISS,DATA_TLB_MISS,INST_TLB_MISS", 2},
    {__LINE__, "sifive-u74", "MCYCLE,MCYCLE", 2},
    {__LINE__, "neoverse-n1",
     "INST_RETIRED,BR_RETIRED,L1D_CACHE,L1D_CACHE_REFILL,L2D_CACHE,"
     "L2D_CACHE_REFILL,LL_CACHE_RD",
     2},
};

static void
test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct machine_row *m = machine_of(rows[i].machine);
        struct heard heard;
        const struct tally_log log = listen(&heard);
        struct selection *list = NULL;
        struct plan plan;
        size_t count = 0;
        if (selection_list_parse(m, rows[i].events, &log, &list, &count) != 0 ||
            plan_make(list, count, &log, &plan) != 0)
            fail_msg("row at line %d: %s", rows[i].line, heard.text);
        same_number(rows[i].line, (long long)plan.group_count,
                    (long long)rows[i].groups);
        plan_finish(&plan);
        free(list);
    }
}

/* No group of the plan breaks a rule; each selection is in one. */
static void
check_plan(const struct selection *list, size_t count, const struct plan *plan)
{
    size_t seen = 0;

    for (size_t group = 0; group < plan->group_count; group++) {
        const struct selection *picked[PLAN_REF_MAX];
        struct plan_row placed[PLAN_REF_MAX];
        struct write_list writes;
        char text[TEXT_SIZE];
        size_t n = 0;
        for (size_t i = 0; i < count; i++) {
            if (plan->rows[i].group != group)
                continue;
            picked[n] = &list[i];
            placed[n++] = plan->rows[i];
        }
        seen += n;
        const char *rule = plan_ref_breaks(picked, n, placed);
        if (n == 0 || rule != NULL) {
            plan_text(plan, list[0].machine, count, text, sizeof(text));
            fail_msg("group %zu of %s: %s", group, text,
                     rule != NULL ? rule : "empty");
        }
        plan_encode(list, count, plan, group, &writes);
        assert_true(writes.count > 0 || n > 0);
    }
    assert_int_equal(seen, count);
}

static void
check_braces(const struct selection *list, size_t count,
             const struct plan *plan)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            if (list[i].group >= 0 && list[i].group == list[k].group)
                assert_int_equal(plan->rows[i].group, plan->rows[k].group);
}

/*
 * An event with one of its unit masks and modifiers that make it clash.
 * `kind` leans towards what shares registers, so that rules are met.
 */
static void
random_selection(const struct machine_row *m, unsigned kind, uint64_t *state,
                 struct selection *s)
{
    const struct event_row *e;
    unsigned tries = 0;

    do
        e = &m->events[next_random(state) % m->event_count];
    while (e->counters == 0 ||
           (kind == 1 && tries++ < 400 && e->l1d_set < 0 && e->l2d_set < 0) ||
           (kind == 2 && tries++ < 400 && e->l2d_set < 0) ||
           (kind == 3 && tries++ < 400 && strcmp(e->unit, "dram") != 0 &&
            strcmp(e->unit, "asu") != 0));
    *s = selection_of(m, e, -1);
    if (e->umask_count > 0) {
        size_t u;
        do
            u = next_random(state) % e->umask_count;
        while (e->umasks[u].counts != UMASK_YES);
        *s = selection_of(m, e, (int)u);
    }
    for (size_t i = 0; i < m->modifier_count; i++) {
        const struct modifier_row *row = &m->modifiers[i];
        if (!selection_takes(s, row) || next_random(state) % 4 != 0)
            continue;
        if (row->kind == MODIFIER_PRIVILEGE || row->kind == MODIFIER_FLAG)
            s->values[i] = s->values[i] == 0 ? row->value : 0;
        else if (row->kind == MODIFIER_WORDS)
            s->values[i] = next_random(state) % 2;
    }
    if (m->units[s->unit].instance_count > 0 && next_random(state) % 3 != 0)
        s->instance = (int8_t)(next_random(state) % 2);
}

static void
random_list(const struct machine_row *m, size_t count, bool braces,
            uint64_t *state, struct selection *list)
{
    const unsigned kind = next_random(state) % 4;

    for (size_t i = 0; i < count; i++) {
        random_selection(m, kind, state, &list[i]);
        /* The same again now and then. */
        if (i > 0 && next_random(state) % 5 == 0)
            list[i] = list[next_random(state) % i];
        list[i].group = -1;
        if (braces && next_random(state) % 2 == 0)
            list[i].group = (int16_t)(next_random(state) % 2);
    }
}

/* Compares with the twin; both may say that there is no way. */
static void
compare(const struct selection *list, size_t count)
{
    const size_t wanted = plan_ref_groups(list, count);
    struct plan plan = {0};
    char text[TEXT_SIZE] = "";
    const int error = plan_make(list, count, NULL, &plan);

    if (error == 0)
        plan_text(&plan, list[0].machine, count, text, sizeof(text));
    if ((error == 0) != (wanted > 0) ||
        (error == 0 && plan.group_count != wanted)) {
        for (size_t i = 0; i < count; i++) {
            char name[SELECTION_TEXT];
            selection_text(&list[i], name, sizeof(name));
            print_message("# %s, braces %d, all the same as row %zu\n", name,
                          list[i].group, i);
        }
        fail_msg("%s: %zu groups (%s), the twin has %zu", list[0].machine->name,
                 plan.group_count, text, wanted);
    }
    if (error == 0) {
        check_plan(list, count, &plan);
        check_braces(list, count, &plan);
        plan_finish(&plan);
    }
}

static void
test_optimal(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15);
        if (seed % 100 == 1)
            print_message("# seed %llu on\n", (unsigned long long)seed);
        for (size_t m = 0; m < MACHINE_COUNT; m++) {
            struct selection list[6];
            const size_t count = 1 + next_random(&random) % 6;
            if (!is_documented(&tally_machines[m]))
                continue;
            random_list(&tally_machines[m], count, seed % 2 == 0, &random,
                        list);
            compare(list, count);
        }
    }
}

static void
test_large(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        uint64_t random = seed * UINT64_C(0xd1b54a32d192ed03);
        if (seed % 20 == 1)
            print_message("# seed %llu on\n", (unsigned long long)seed);
        for (size_t m = 0; m < MACHINE_COUNT; m++) {
            struct selection list[PLAN_REF_MAX];
            struct plan plan;
            const size_t count = 7 + next_random(&random) % 34;
            if (!is_documented(&tally_machines[m]))
                continue;
            random_list(&tally_machines[m], count, false, &random, list);
            assert_int_equal(plan_make(list, count, NULL, &plan), 0);
            check_plan(list, count, &plan);
            plan_finish(&plan);
        }
    }
}

/* Lists too long for all ways to be tried: an event so many times, then others
 * that fit fewer counters. These get their counters first, so that no group is
 * made for them alone: 24 events fill the twelve counters of two groups. */
static const struct {
    int line;
    const char *machine, *many;
    unsigned times;
    const char *others;
    size_t groups;
} long_lists[] = {
    {__LINE__, "montecito", "CPU_OP_CYCLES", 24, "", 2},
    {__LINE__, "montecito", "CPU_OP_CYCLES", 25, "", 3},
    {__LINE__, "montecito", "CPU_OP_CYCLES", 22,
     ",LOADS_RETIRED,STORES_RETIRED", 2},
    {__LINE__, "montecito", "CPU_OP_CYCLES", 23,
     ",LOADS_RETIRED,STORES_RETIRED", 3},
    {__LINE__, "montecito", "CPU_OP_CYCLES", 22, ",CYCLES_HALTED,CYCLES_HALTED",
     2},
    {__LINE__, "montecito", "CPU_OP_CYCLES", 22,
     ",L2D_OZQ_CANCELS0.ACQ,L2D_OZQ_CANCELS1.ANY", 2},
    {__LINE__, "sparc-t4", "Cycles", 40, ",{Branches,atomics,BTC_miss,Pick-0}",
     11},
    {__LINE__, "ultrasparc-t1", "IC_miss", 13, ",instr_cnt,instr_cnt", 13},
    {__LINE__, "r10000", "Cycles", 7, ",TLB_misses,TLB_misses,TLB_misses", 7},
};

static void
test_long(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(long_lists); i++) {
        const struct machine_row *m = machine_of(long_lists[i].machine);
        struct selection *list = NULL;
        struct heard heard;
        const struct tally_log log = listen(&heard);
        char events[1024] = "";
        struct plan plan;
        size_t count = 0;
        for (unsigned k = 0; k < long_lists[i].times; k++) {
            strcat(events, k > 0 ? "," : "");
            strcat(events, long_lists[i].many);
        }
        strcat(events, long_lists[i].others);
        if (selection_list_parse(m, events, &log, &list, &count) != 0 ||
            plan_make(list, count, &log, &plan) != 0)
            fail_msg("row at line %d: %s", long_lists[i].line, heard.text);
        same_number(long_lists[i].line, (long long)plan.group_count,
                    (long long)long_lists[i].groups);
        check_plan(list, count, &plan);
        plan_finish(&plan);
        free(list);
    }
}

/* The whole text, where the library has one. */
static const struct {
    int line;
    const char *machine, *events, *message;
} whys[] = {
    {__LINE__, "ultrasparc-t1", "{IC_miss,DC_miss}",
     "the braces cannot count together: IC_miss and DC_miss both need PIC0"},
    {__LINE__, "ultrasparc-t1", "{instr_cnt,instr_cnt}",
     "the braces cannot count together: instr_cnt and instr_cnt both need "
     "PIC1"},
    {__LINE__, "ultrasparc-t1", "{IC_miss:u,instr_cnt:k}",
     "the braces cannot count together: instr_cnt:k would need 0 in PCR.ut, "
     "where another has 1"},
    {__LINE__, "ultrasparc-t2", "{Atomics,Load_instr,Store_instr}",
     "the braces cannot count together: 3 events for PIC0 and PIC1"},
    {__LINE__, "ultrasparc-t2", "cycles",
     "no counter of ultrasparc-t2 counts cycles"},
    {__LINE__, "ultrasparc-t2plus",
     "{L2_load_misses:from=local,L2_instr_misses:from=c2c}",
     "the braces cannot count together: L2_instr_misses:from=c2c would need 3 "
     "in L2_CONTROL.PERF_CONFIG, where another has 1"},
    {__LINE__, "sparc-t4", "{Cycles,Branches,atomics,BTC_miss,Pick-0}",
     "the braces cannot count together: 5 events for PIC0, PIC1, PIC2 and "
     "PIC3"},
    {__LINE__, "r10000", "{TLB_misses,Graduated_loads}",
     "the braces cannot count together: TLB_misses and Graduated_loads both "
     "need CNT1"},
    {__LINE__, "skylake", "{INST_RETIRED.ANY:u,INST_RETIRED.ANY:k}",
     "the braces cannot count together: INST_RETIRED.ANY:u and "
     "INST_RETIRED.ANY:k both need FIXED_CTR0"},
    {__LINE__, "montecito", "{LOADS_RETIRED,STORES_RETIRED}",
     "the braces cannot count together: LOADS_RETIRED is of L1D set 3 and "
     "STORES_RETIRED of set 4: PMC5 chooses one set at a time"},
    {__LINE__, "montecito", "{L2D_OZQ_CANCELS0.ACQ,L2D_OZQ_CANCELS1.ANY}",
     "the braces cannot count together: L2D_OZQ_CANCELS0.ACQ and "
     "L2D_OZQ_CANCELS1.ANY: only one of the two counts at a time"},
    {__LINE__, "montecito", "{L2D_REFERENCES,L2D_OZQ_ACQUIRE,L2D_OZQ_RELEASE}",
     "the braces cannot count together: L2D events share the set, unit mask "
     "and :all of PMC4 (on PMD4, 5 and 8) or of PMC6 (on PMD6, 7 and 9)"},
    {__LINE__, "montecito",
     "{LOADS_RETIRED,L2D_REFERENCES,L2D_OZQ_ACQUIRE,L2D_OZQ_RELEASE}",
     "the braces cannot count together: L2D events share the set, unit mask "
     "and :all of PMC4 (on PMD4, 5 and 8) or of PMC6 (on PMD6, 7 and 9), and "
     "an L1D event needs PMD5"},
    {__LINE__, "montecito", "{CYCLES_HALTED,CYCLES_HALTED}",
     "the braces cannot count together: 2 events, more than the counters "
     "allowed for them can take"},
    {__LINE__, "montecito",
     "{LOADS_RETIRED,L3_MISSES,L3_MISSES,L3_MISSES,L3_MISSES,L3_MISSES,"
     "L3_MISSES}",
     "the braces cannot count together: one L1D event must be on PMD5; 7 "
     "events, more than the counters allowed for them can take"},
};

static void
test_whys(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(whys); i++) {
        const struct machine_row *m = machine_of(whys[i].machine);
        struct heard heard;
        const struct tally_log log = listen(&heard);
        struct selection *list = NULL;
        struct plan plan = {.group_count = 99};
        size_t count = 0;
        if (selection_list_parse(m, whys[i].events, &log, &list, &count) != 0)
            fail_msg("row at line %d: %s", whys[i].line, heard.text);
        const int error = plan_make(list, count, &log, &plan);
        same_text(whys[i].line, heard.text, whys[i].message);
        same_number(whys[i].line, error, TALLY_ERULE);
        same_number(whys[i].line, heard.lines, 1);
        same_number(whys[i].line, (long long)plan.group_count, 99);
        free(list);
    }
}

/* No events, more than a group may have, :all on a counter of one thread. */
static void
test_edges(void **state)
{
    const struct machine_row *m = machine_of("montecito");
    const struct machine_row *t2 = machine_of("ultrasparc-t2");
    const struct selection *many[70];
    struct plan_row rows_of_many[70];
    struct selection s;
    struct plan plan;
    char why[TEXT_SIZE] = "";

    (void)state;
    assert_int_equal(plan_make(NULL, PLAN_MOST + 1, NULL, &plan), TALLY_ERANGE);
    assert_int_equal(plan_make(NULL, 0, NULL, &plan), 0);
    assert_int_equal(plan.group_count, 0);
    plan_finish(&plan);
    assert_true(plan_fits(NULL, 0, NULL, why, sizeof(why)));

    s = selection_of(t2, event_find(t2, "Atomics"), -1);
    for (size_t i = 0; i < COUNT(many); i++)
        many[i] = &s;
    assert_false(plan_fits(many, COUNT(many), rows_of_many, why, sizeof(why)));
    assert_string_equal(why, "70 events are more than any group takes");
    assert_false(plan_fits(many, COUNT(many), rows_of_many, NULL, 0));

    /* selection_parse() refuses it; a caller may have set it. */
    s = selection_of(m, event_find(m, "CYCLES_HALTED"), -1);
    for (size_t i = 0; i < m->modifier_count; i++)
        if (strcmp(m->modifiers[i].name, "all") == 0)
            s.values[i] = 1;
    assert_false(plan_fits(many, 1, rows_of_many, why, sizeof(why)));
    assert_string_equal(
        why, "no counter of montecito counts CPU_OP_CYCLES_HALTED with :all");
}

/* The pairs that clash, "a-b". */
static const struct {
    int line;
    const char *machine, *events, *pairs;
} clash_rows[] = {
    {__LINE__, "sparc-t4", "Cycles,Branches,atomics,BTC_miss,Pick-0", ""},
    {__LINE__, "ultrasparc-t1", "IC_miss,instr_cnt,DC_miss,SB_full",
     "0-2 0-3 2-3"},
    {__LINE__, "montecito",
     "L2D_OZQ_CANCELS0.ACQ,LOADS_RETIRED,L2D_OZQ_CANCELS1.ANY,STORES_RETIRED",
     "0-2 1-3"},
    /* More pairs than there is room for at first */
    {__LINE__, "ultrasparc-t1",
     "SB_full,FP_instr_cnt,IC_miss,DC_miss,ITLB_miss,DTLB_miss,L2_imiss,"
     "L2_dmiss_ld",
     "0-1 0-2 0-3 0-4 0-5 0-6 0-7 1-2 1-3 1-4 1-5 1-6 1-7 2-3 2-4 2-5 2-6 2-7 "
     "3-4 3-5 3-6 3-7 4-5 4-6 4-7 5-6 5-7 6-7"},
};

static void
test_clashes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(clash_rows); i++) {
        struct heard heard;
        const struct tally_log log = listen(&heard);
        struct selection *list = NULL;
        struct plan_clashes clashes;
        char text[TEXT_SIZE] = "";
        size_t count = 0, at = 0;
        assert_int_equal(selection_list_parse(machine_of(clash_rows[i].machine),
                                              clash_rows[i].events, &log, &list,
                                              &count),
                         0);
        assert_int_equal(plan_clashes(list, count, &log, &clashes), 0);
        for (size_t k = 0; k < clashes.count; k++) {
            at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u-%u",
                                   k > 0 ? " " : "", clashes.rows[k].a,
                                   clashes.rows[k].b);
            assert_true(clashes.rows[k].why[0] != '\0');
        }
        same_text(clash_rows[i].line, text, clash_rows[i].pairs);
        plan_clashes_finish(&clashes);
        free(list);
    }
}

/* plan_encode() writes the unit mask that the group shares. */
static void
test_shared_umask(void **state)
{
    const struct machine_row *m = machine_of("montecito");
    struct selection *list = NULL;
    struct write_list writes;
    struct plan plan;
    size_t count = 0;
    unsigned umasks = 0;

    (void)state;
    /* xx01 and 0001: both 0001, whichever is the master. */
    assert_int_equal(selection_list_parse(m,
                                          "L2D_OZQ_CANCELS0.CANC_L2M_TO_L2C_ST,"
                                          "L2D_OZQ_CANCELS0.0x1",
                                          NULL, &list, &count),
                     0);
    assert_int_equal(plan_make(list, count, NULL, &plan), 0);
    assert_int_equal(plan.group_count, 1);
    plan_encode(list, count, &plan, 0, &writes);
    assert_int_equal(writes.count, 2);
    for (size_t i = 0; i < writes.count; i++)
        umasks += (unsigned)(writes.rows[i].value >> 16 & 15) == 1;
    assert_int_equal(umasks, 2);
    plan_finish(&plan);
    free(list);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_optimal),
        cmocka_unit_test(test_large),        cmocka_unit_test(test_long),
        cmocka_unit_test(test_whys),         cmocka_unit_test(test_edges),
        cmocka_unit_test(test_shared_umask), cmocka_unit_test(test_clashes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
