/* SPDX-License-Identifier: MIT */
/*
 * The rows of each machine: how many of each table, and some literally, copied
 * by hand from the manuals. T4: SPARC T4 Supplement. T1, T2: Netra DPS
 * profiler. T2 Plus: Victoria Falls performance register API. R10000, R12000:
 * r10k_evcntrs(5). Montecito: chapter 4 of its manual.
 */
#include "check.h"

/* Rows of a unit, with or without those that say no more than a code. */
static size_t
rows_of(const struct machine_row *m, const char *unit, bool reserved)
{
    size_t count = 0;

    for (size_t i = 0; i < m->event_count; i++)
        count += strcmp(m->events[i].unit, unit) == 0 &&
                 (reserved || !m->events[i].reserved);
    return count;
}

static const struct {
    int line;
    const char *machine, *unit;
    size_t rows, offered;
} units[] = {
    /* TABLE 3-2. */
    {__LINE__, "ultrasparc-t1", "cpu", 9, 9},
    /* TABLE 3-3 has 7: mem_read_write, select code 2, is in public code. */
    {__LINE__, "ultrasparc-t1", "dram", 8, 8},
    /* TABLE 3-4. */
    {__LINE__, "ultrasparc-t1", "jbus", 12, 12},
    /* TABLE 3-5 has 38: sl 0, idle strands, is in public code. */
    {__LINE__, "ultrasparc-t2", "cpu", 39, 39},
    {__LINE__, "ultrasparc-t2", "dram", 8, 8},
    {__LINE__, "ultrasparc-t2plus", "cpu", 39, 39},
    {__LINE__, "ultrasparc-t2plus", "dram", 8, 8},
    /* Codes 0x00 to 0x29 and 0xff, of which 0x00 and 0xff count nothing. */
    {__LINE__, "ultrasparc-t2plus", "lpu", 43, 41},
    {__LINE__, "ultrasparc-t2plus", "gpd", 3, 1},
    {__LINE__, "ultrasparc-t2plus", "asu", 7, 5},
    /* 129 printed masks, 6 that texts name, sl 26 and 5 of sl 28. */
    {__LINE__, "sparc-t4", "cpu", 141, 141},
    /* TABLE 10-7: 13 codes and D, E, F, which are reserved. */
    {__LINE__, "sparc-t4", "dram", 16, 13},
    {__LINE__, "r10000", "cpu", 32, 32},
    {__LINE__, "r10000-rev2", "cpu", 32, 32},
    {__LINE__, "r12000", "cpu", 32, 32},
    /* Table 4-42, of whose rows 0x9d and 0xee stand nowhere else. */
    {__LINE__, "montecito", "cpu", 171, 169},
    /* What an event select and a unit mask choose; others are not listed. */
    {__LINE__, "skylake", "cpu", 171, 171},
    {__LINE__, "icelake", "cpu", 194, 194},
    {__LINE__, "zen2", "cpu", 178, 178},
    {__LINE__, "zen3", "cpu", 158, 158},
    {__LINE__, "zen4", "cpu", 317, 317},
    {__LINE__, "zen5", "cpu", 320, 320},
    /* Arm's list. */
    {__LINE__, "neoverse-n1", "cpu", 110, 110},
    /* Linux's lists. */
    {__LINE__, "neoverse-v1", "cpu", 131, 131},
    {__LINE__, "cortex-a72", "cpu", 83, 83},
    /* perf's 35 of the core, cycles and instructions. */
    {__LINE__, "sifive-u74", "cpu", 37, 37},
};

static void
test_units(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(units); i++) {
        const struct machine_row *m = machine_of(units[i].machine);
        same_number(units[i].line, (long long)rows_of(m, units[i].unit, true),
                    (long long)units[i].rows);
        same_number(units[i].line, (long long)rows_of(m, units[i].unit, false),
                    (long long)units[i].offered);
    }
}

/* TABLE 10-2: the masks of each sl, counted on the pages. */
static const struct {
    int line, sl, printed, in_text;
} t4_groups[] = {
    {__LINE__, 0, 0, 0},  {__LINE__, 1, 5, 3},  {__LINE__, 2, 5, 0},
    {__LINE__, 3, 6, 1},  {__LINE__, 4, 6, 0},  {__LINE__, 5, 9, 0},
    {__LINE__, 6, 6, 1},  {__LINE__, 7, 11, 0}, {__LINE__, 8, 4, 0},
    {__LINE__, 9, 9, 0},  {__LINE__, 10, 8, 0}, {__LINE__, 11, 3, 0},
    {__LINE__, 12, 0, 0}, {__LINE__, 13, 0, 0}, {__LINE__, 14, 0, 0},
    {__LINE__, 15, 0, 0}, {__LINE__, 16, 4, 0}, {__LINE__, 17, 6, 1},
    {__LINE__, 18, 4, 0}, {__LINE__, 19, 6, 0}, {__LINE__, 20, 9, 0},
    {__LINE__, 21, 6, 0}, {__LINE__, 22, 6, 0}, {__LINE__, 23, 4, 0},
    {__LINE__, 24, 6, 0}, {__LINE__, 25, 6, 0}, {__LINE__, 26, 0, 1},
    {__LINE__, 27, 0, 0}, {__LINE__, 28, 0, 5}, {__LINE__, 29, 0, 0},
    {__LINE__, 30, 0, 0}, {__LINE__, 31, 0, 0},
};

static void
test_t4_groups(void **state)
{
    const struct machine_row *t4 = machine_of("sparc-t4");
    int printed = 0;

    (void)state;
    assert_int_equal(COUNT(t4_groups), t4->group_count);
    for (size_t i = 0; i < COUNT(t4_groups); i++) {
        int count = 0;
        for (size_t k = 0; k < t4->event_count; k++) {
            const struct event_row *e = &t4->events[k];
            if (e->sl != t4_groups[i].sl)
                continue;
            count++;
            same_number(t4_groups[i].line, e->code, e->sl << 6 | e->mask);
            same_number(t4_groups[i].line, e->mask & ~t4->groups[i].mask, 0);
        }
        printed += t4_groups[i].printed;
        same_number(t4_groups[i].line, t4->groups[i].sl, t4_groups[i].sl);
        same_number(t4_groups[i].line, count,
                    t4_groups[i].printed + t4_groups[i].in_text);
    }
    assert_int_equal(printed, 129);
}

/* Sections 10.4, 10.6 and 10.7. */
static void
test_t4_elsewhere(void **state)
{
    static const char *const names[] = {"pxm", "pcie", "ethernet"};
    const struct machine_row *t4 = machine_of("sparc-t4");

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_true(unit_find(t4, names[i]) >= 0);
        assert_non_null(t4->units[unit_find(t4, names[i])].elsewhere);
        assert_int_equal(rows_of(t4, names[i], true), 0);
    }
}

static void
test_rev2(void **state)
{
    const struct machine_row *rev3 = machine_of("r10000");
    const struct machine_row *rev2 = machine_of("r10000-rev2");

    (void)state;
    assert_int_equal(rev2->event_count, rev3->event_count);
    for (int number = 0; number < 32; number++) {
        char text[4];
        snprintf(text, sizeof(text), "%d", number);
        const struct event_row *a = event_find(rev3, text);
        const struct event_row *b = event_find(rev2, text);
        assert_non_null(a);
        assert_non_null(b);
        assert_int_equal(a->number, number);
        assert_int_equal(b->number, number);
        same_number(number, strcmp(a->counts, b->counts) != 0,
                    number == 6 || number == 14);
        same_number(number, a->counters == b->counters, true);
    }
}

static void
test_montecito_counts(void **state)
{
    const struct machine_row *m = machine_of("montecito");
    bool codes[256] = {false};
    size_t counted = 0, different = 0;

    (void)state;
    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        if (strcmp(e->unit, "cpu") != 0)
            continue;
        assert_in_range(e->code, 0, 255);
        different += !codes[e->code];
        codes[e->code] = true;
        for (size_t u = 0; u < e->umask_count; u++)
            counted += e->umasks[u].counts == UMASK_YES;
    }
    assert_int_equal(counted, 510);
    assert_int_equal(different, 170);
    /* Rule C1: 0xe3 is printed beside 0xe1. */
    assert_false(codes[0xe3]);
    assert_string_equal(event_find(m, "0xe3")->name, "L2D_OZQ_FULL");
    assert_string_equal(event_find(m, "0xe1")->name, "L2D_OZQ_FULL");
}

/*
 * Of an event with unit masks each value has one row; where any bits may be
 * set, one bit each.
 */
static void
test_montecito_patterns(void **state)
{
    const struct machine_row *m = machine_of("montecito");

    (void)state;
    for (size_t i = 0; i < m->event_count; i++) {
        const struct event_row *e = &m->events[i];
        if (e->umask_count == 0)
            continue;
        for (unsigned value = 0; value < 16; value++) {
            unsigned rows = 0;
            for (size_t u = 0; u < e->umask_count; u++)
                rows += (value & e->umasks[u].care) == e->umasks[u].value;
            /* The one printed row of IA64_INST_RETIRED is xx00. */
            if (!e->umask_bits && strcmp(e->name, "IA64_INST_RETIRED") != 0 &&
                rows != 1)
                fail_msg("%s: umask %u has %u rows", e->name, value, rows);
        }
    }
}

/* Rows copied by hand; -1: the machine has no such thing. */
static const struct {
    int line;
    const char *machine, *name;
    int code, sl, mask, number;
} codes[] = {
    /* TABLE 3-2 in the order of its rows; one-hot codes of the dump. */
    {__LINE__, "ultrasparc-t1", "instr_cnt", 0x100, -1, -1, -1},
    {__LINE__, "ultrasparc-t1", "SB_full", 0x1, 0, -1, -1},
    {__LINE__, "ultrasparc-t1", "FP_instr_cnt", 0x2, 1, -1, -1},
    {__LINE__, "ultrasparc-t1", "IC_miss", 0x4, 2, -1, -1},
    {__LINE__, "ultrasparc-t1", "DC_miss", 0x8, 3, -1, -1},
    {__LINE__, "ultrasparc-t1", "ITLB_miss", 0x10, 4, -1, -1},
    {__LINE__, "ultrasparc-t1", "DTLB_miss", 0x20, 5, -1, -1},
    {__LINE__, "ultrasparc-t1", "L2_imiss", 0x40, 6, -1, -1},
    {__LINE__, "ultrasparc-t1", "L2_dmiss_ld", 0x80, 7, -1, -1},
    {__LINE__, "ultrasparc-t1", "mem_reads", 0, -1, -1, -1},
    {__LINE__, "ultrasparc-t1", "bank_busy_stalls", 3, -1, -1, -1},
    {__LINE__, "ultrasparc-t1", "wr_buf_hits", 7, -1, -1, -1},
    {__LINE__, "ultrasparc-t1", "jbus_cycles", 1, -1, -1, -1},
    {__LINE__, "ultrasparc-t1", "pio_writes", 0xa, -1, -1, -1},
    {__LINE__, "ultrasparc-t1", "dok_off_cycles", 0xe, -1, -1, -1},
    /* TABLE 3-5; all 38 codes are in test/table.c. */
    {__LINE__, "ultrasparc-t2", "Completed_branches", 0x12, 2, 0x01, -1},
    {__LINE__, "ultrasparc-t2", "All_instr", 0xfd2, 2, 0xfd, -1},
    {__LINE__, "ultrasparc-t2", "L2_load_misses", 0x203, 3, 0x20, -1},
    {__LINE__, "ultrasparc-t2", "TLB_miss", 0xcb, 0xb, 0x0c, -1},
    {__LINE__, "ultrasparc-t2", "Idle_strands", 0, 0, 0, -1},
    {__LINE__, "ultrasparc-t2", "rw_queue_latency", 6, -1, -1, -1},
    {__LINE__, "ultrasparc-t2plus", "DTLB_ref_L2", 0x84, 4, 0x08, -1},
    /* Zambezi. */
    {__LINE__, "ultrasparc-t2plus", "lpu/clock_cycles", 0x01, -1, -1, -1},
    {__LINE__, "ultrasparc-t2plus", "cycles_TID_RTS", 0x12, -1, -1, -1},
    {__LINE__, "ultrasparc-t2plus", "cycles_link_retrain", 0x29, -1, -1, -1},
    {__LINE__, "ultrasparc-t2plus", "gpd/clock_cycles", 0x1, -1, -1, -1},
    {__LINE__, "ultrasparc-t2plus", "asu_wakeup", 0x5, -1, -1, -1},
    /* TABLE 10-2. */
    {__LINE__, "sparc-t4", "Sel-pipe-drain-cycles", 0x41, 1, 0x01, -1},
    {__LINE__, "sparc-t4", "Any_pick", 0x8e, 2, 0x0e, -1},
    {__LINE__, "sparc-t4", "SPR_ring_ops", 0xd0, 3, 0x10, -1},
    {__LINE__, "sparc-t4", "atomics", 0x108, 4, 0x08, -1},
    {__LINE__, "sparc-t4", "BTC_miss", 0x148, 5, 0x08, -1},
    {__LINE__, "sparc-t4", "ITLB_fill_trap", 0x1a0, 6, 0x20, -1},
    {__LINE__, "sparc-t4", "Fetch-0-all", 0x202, 8, 0x02, -1},
    {__LINE__, "sparc-t4", "DTLB_miss_tag_wait_cycles", 0x250, 9, 0x10, -1},
    {__LINE__, "sparc-t4", "DTLB_HWTW_references", 0x2b8, 10, 0x38, -1},
    {__LINE__, "sparc-t4", "Any_instruction_cache_miss", 0x2c3, 11, 3, -1},
    {__LINE__, "sparc-t4", "L1_data_cache_miss", 0x407, 16, 0x07, -1},
    {__LINE__, "sparc-t4", "DTLB_fill_for_2GB_page", 0x450, 17, 0x10, -1},
    {__LINE__, "sparc-t4", "Store_queue_tag_wait_cycles", 0x510, 20, 0x10, -1},
    {__LINE__, "sparc-t4", "Data_prefetches_dropped_by_L3", 0x560, 21, 32, -1},
    {__LINE__, "sparc-t4", "Store_L2_remote_C2C", 0x588, 22, 0x08, -1},
    {__LINE__, "sparc-t4", "L2_pipeline_stalls", 0x620, 24, 0x20, -1},
    {__LINE__, "sparc-t4", "Branch_target_mispredict", 0x64e, 25, 0x0e, -1},
    {__LINE__, "sparc-t4", "Commit-1-or-2", 0x70c, 28, 0x0c, -1},
    {__LINE__, "sparc-t4", "Write_starved", 0x9, -1, -1, -1},
    {__LINE__, "sparc-t4", "Channel_1_reads_writes", 0xc, -1, -1, -1},
    /* Linux's codes for this processor. */
    {__LINE__, "sparc-t4", "cpu-cycles", 26 << 6, 26, 0, -1},
    {__LINE__, "sparc-t4", "instructions", 3 << 6 | 0x3f, 3, 0x3f, -1},
    {__LINE__, "sparc-t4", "branch-misses", 25 << 6 | 0x0f, 25, 0x0f, -1},
    {__LINE__, "sparc-t4", "branch-instructions", 3 << 6 | 1, 3, 0x01, -1},
    /* r10k_evcntrs(5), EVENTS. */
    {__LINE__, "r10000", "Cycles", -1, -1, -1, 0},
    {__LINE__, "r10000", "Issued_store_conditionals", -1, -1, -1, 4},
    {__LINE__, "r10000", "External_interventions", -1, -1, -1, 12},
    {__LINE__, "r10000", "Graduated_instructions", -1, -1, -1, 15},
    {__LINE__, "r10000", "Primary_data_cache_misses", -1, -1, -1, 25},
    {__LINE__, "r10000", "Mispredicted_branches", -1, -1, -1, 24},
    {__LINE__, "r10000-rev2", "Decoded_branches", -1, -1, -1, 6},
    {__LINE__, "r10000-rev2", "Virtual_coherency_conditions", -1, -1, -1, 14},
    {__LINE__, "r10000-rev2", "TLB_misses", -1, -1, -1, 23},
    {__LINE__, "r12000", "Decoded_instructions", -1, -1, -1, 1},
    {__LINE__, "r12000", "Miss_handling_table_occupancy", -1, -1, -1, 4},
    {__LINE__, "r12000", "Executed_prefetch_instructions", -1, -1, -1, 16},
    {__LINE__, "r12000", "TLB_misses", -1, -1, -1, 23},
    /* Rule I10: the list is right, the notes are not. */
    {__LINE__, "r12000", "MHT_entries", -1, -1, -1, 30},
};

static void
test_codes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        const int line = codes[i].line;
        const struct event_row *e =
            event_find(machine_of(codes[i].machine), codes[i].name);
        if (e == NULL)
            fail_msg("row at line %d: no %s", line, codes[i].name);
        same_number(line, e->code, codes[i].code);
        same_number(line, e->sl, codes[i].sl);
        same_number(line, e->mask, codes[i].mask);
        same_number(line, e->number, codes[i].number);
    }
}

/* TABLE 10-2, columns "Precise Event" and "Virtual processor-specific". */
static const struct {
    int line;
    const char *name;
    bool precise, strand_specific;
} t4_columns[] = {
    {__LINE__, "Sel-2", false, true},
    {__LINE__, "All_instructions", true, true},
    {__LINE__, "Taken_branches", true, true},
    {__LINE__, "Icache_miss", true, true},
    {__LINE__, "ITLB_fill_for_4MB_page", false, true},
    {__LINE__, "Fetch-0", false, true},
    {__LINE__, "Fetch-0-all", false, false},
    {__LINE__, "Instruction_buffer_full_cycles", false, true},
    {__LINE__, "LB_tag_wait_cycles", false, false},
    {__LINE__, "L1_data_cache_miss_remote_hit", true, true},
    {__LINE__, "Dropped_hardware_prefetch_data_cache_hit", false, false},
    {__LINE__, "Dropped_software_prefetches_at_data_cache", false, true},
    {__LINE__, "Any_L1_cache_invalidation", false, false},
    {__LINE__, "Store_hits_in_L3", false, true},
    {__LINE__, "L1_data_cache_miss_async", false, true},
    {__LINE__, "Dirty_L2_evictions", false, false},
    {__LINE__, "Branch_mispredict", true, true},
    {__LINE__, "Cycles", false, true},
};

static void
test_t4_columns(void **state)
{
    const struct machine_row *t4 = machine_of("sparc-t4");

    (void)state;
    for (size_t i = 0; i < COUNT(t4_columns); i++) {
        const struct event_row *e = event_find(t4, t4_columns[i].name);
        assert_non_null(e);
        same_number(t4_columns[i].line, e->precise, t4_columns[i].precise);
        same_number(t4_columns[i].line, e->strand_specific,
                    t4_columns[i].strand_specific);
    }
    /* Only sl 3, 4, 5, 16 and 25 are precise. */
    for (size_t i = 0; i < t4->event_count; i++) {
        const struct event_row *e = &t4->events[i];
        const bool precise = e->sl == 3 || e->sl == 4 || e->sl == 5 ||
                             e->sl == 16 || e->sl == 25;
        if (strcmp(e->unit, "cpu") == 0)
            assert_int_equal(e->precise, precise);
    }
}

/* Tables 4-3 to 4-42 and 4.15, as the decisions settle them. */
static const struct {
    int line;
    const char *name;
    int code;
    const char *flags; /* IAR, DAR, OPC */
    int max_inc;
    char type;
    int l1d_set, l2d_set;
    bool all, mesi;
} montecito[] = {
    {__LINE__, "ALAT_CAPACITY_MISS", 0x58, "YYY", 2, 'A', -1, -1, true, false},
    {__LINE__, "BACK_END_BUBBLE", 0x00, "NNN", 1, 'A', -1, -1, true, false},
    {__LINE__, "IA64_INST_RETIRED", 0x08, "YNY", 6, 'A', -1, -1, true, false},
    {__LINE__, "CPU_OP_CYCLES", 0x12, "YNY", 1, 'C', -1, -1, true, false},
    /* Rule M2. */
    {__LINE__, "CYCLES_HALTED", 0x18, "NNN", 1, 'C', -1, -1, false, false},
    {__LINE__, "HPW_DATA_REFERENCES", 0x2d, "NNN", 4, 'A', -1, -1, true, false},
    {__LINE__, "L1I_SNOOP", 0x4a, "YYY", 1, 'C', -1, -1, true, false},
    {__LINE__, "SYLL_NOT_DISPERSED", 0x4e, "YNN", 5, 'A', -1, -1, true, false},
    {__LINE__, "NOPS_RETIRED", 0x50, "YNY", 6, 'A', -1, -1, true, false},
    /* Rules Q1, Q2. */
    {__LINE__, "L2I_READS", 0x78, "YNN", 1, 'F', -1, -1, true, false},
    {__LINE__, "L2I_SNOOP_HITS", 0x7f, "NNN", 1, 'C', -1, -1, true, false},
    {__LINE__, "BUS_RD_HIT", 0x80, "NNN", 1, 'S', -1, -1, true, false},
    /* Rule T1. */
    {__LINE__, "BUS_SNOOP_STALL_CYCLES", 0x8f, "NNN", 1, 'S', -1, -1, true,
     false},
    /* Rule M3. */
    {__LINE__, "SI_IOQ_LIVE_REQ_LO", 0x97, "NNN", 7, 'C', -1, -1, true, false},
    {__LINE__, "SI_IOQ_LIVE_REQ_HI", 0x98, "NNN", 1, 'C', -1, -1, true, false},
    /* Rules T2, M5. */
    {__LINE__, "SI_WDQ_ECC_ERRORS", 0xaf, "NNN", 2, 'C', -1, -1, true, false},
    {__LINE__, "SI_SCB_INSERTS", 0xab, "NNN", 4, 'C', -1, -1, true, false},
    /* Rule Q5. */
    {__LINE__, "L2D_INSERT_HITS", 0xb1, "YYY", 4, 'F', -1, -1, true, false},
    {__LINE__, "ER_BRQ_LIVE_REQ_HI", 0xb8, "NNN", 2, 'C', -1, -1, true, false},
    {__LINE__, "L1DTLB_TRANSFER", 0xc0, "YYY", 1, 'A', 0, -1, true, false},
    {__LINE__, "L1D_READ_MISSES", 0xc7, "YYY", 2, 'A', 1, -1, true, false},
    {__LINE__, "DATA_DEBUG_REGISTER_MATCHES", 0xc6, "YYY", 1, 'A', -1, -1, true,
     false},
    {__LINE__, "BE_L1D_FPU_BUBBLE", 0xca, "NNN", 1, 'A', 2, -1, true, false},
    /* Rule T3. */
    {__LINE__, "L2D_MISSES", 0xcb, "YYY", 1, 'F', -1, -1, true, false},
    {__LINE__, "MISALIGNED_LOADS_RETIRED", 0xce, "YYY", 4, 'A', 3, -1, true,
     false},
    {__LINE__, "STORES_RETIRED", 0xd1, "YYY", 2, 'A', 4, -1, true, false},
    /* Rules S1, S2, Q6. */
    {__LINE__, "LOADS_RETIRED_INTG", 0xd8, "YYY", 2, 'A', 6, -1, true, false},
    {__LINE__, "SPEC_LOADS_NATTED", 0xd9, "YYN", 2, 'A', 6, -1, true, false},
    /* Rule Q7. */
    {__LINE__, "L3_INSERTS", 0xda, "YYY", 1, 'F', -1, -1, true, true},
    {__LINE__, "L3_MISSES", 0xdc, "YYY", 1, 'F', -1, -1, true, false},
    {__LINE__, "L3_LINES_REPLACED", 0xdf, "NNN", 1, 'F', -1, -1, true, true},
    {__LINE__, "L2D_OZQ_CANCELS1", 0xe2, "YYY", 4, 'F', -1, 0, true, false},
    {__LINE__, "L2D_OZQ_FULL", 0xe1, "NNN", 1, 'F', -1, 0, false, false},
    /* Rule M1. */
    {__LINE__, "L2D_BYPASS", 0xe4, "YYY", 4, 'F', -1, 1, true, false},
    {__LINE__, "L2D_OZQ_RELEASE", 0xe5, "NNN", 1, 'F', -1, 1, false, false},
    {__LINE__, "L2D_REFERENCES", 0xe6, "YYY", 4, 'F', -1, 2, true, false},
    {__LINE__, "L2D_L3ACCESS_CANCEL", 0xe8, "YYY", 1, 'F', -1, 3, false, false},
    {__LINE__, "L2D_OZDB_FULL", 0xe9, "NNN", 1, 'F', -1, 3, true, false},
    {__LINE__, "L2D_STORE_HIT_SHARED", 0xed, "YYY", 2, 'F', -1, 5, true, false},
    {__LINE__, "L2D_OZQ_ACQUIRE", 0xef, "NNN", 1, 'F', -1, 6, true, false},
    {__LINE__, "L2D_OPS_ISSUED", 0xf0, "YYY", 4, 'F', -1, 7, false, false},
    /* Rule Q4. */
    {__LINE__, "L2D_FILL_MESI_STATE", 0xf2, "NNN", 1, 'F', -1, 8, true, false},
    {__LINE__, "L2D_VICTIMB_FULL", 0xf3, "NNN", 1, 'F', -1, 8, true, false},
};

static void
test_montecito_rows(void **state)
{
    const struct machine_row *m = machine_of("montecito");

    (void)state;
    for (size_t i = 0; i < COUNT(montecito); i++) {
        const int line = montecito[i].line;
        const struct event_row *e = event_find(m, montecito[i].name);
        if (e == NULL)
            fail_msg("row at line %d: no %s", line, montecito[i].name);
        const char flags[] = {e->iar == 1 ? 'Y' : 'N', e->dar == 1 ? 'Y' : 'N',
                              e->opc == 1 ? 'Y' : 'N', '\0'};
        same_number(line, e->code, montecito[i].code);
        same_text(line, flags, montecito[i].flags);
        same_number(line, e->max_inc, montecito[i].max_inc);
        same_number(line, e->type, montecito[i].type);
        same_number(line, e->l1d_set, montecito[i].l1d_set);
        same_number(line, e->l2d_set, montecito[i].l2d_set);
        same_number(line, e->all == 1, montecito[i].all);
        same_number(line, e->mesi, montecito[i].mesi);
    }
}

/* Unit masks of 4.15; counts nothing, is illegal or undefined. */
static const struct {
    int line;
    const char *name, *umask, *pattern;
    enum umask_counts counts;
} umasks[] = {
    {__LINE__, "ALAT_CAPACITY_MISS", "", "xx00", UMASK_NOTHING},
    {__LINE__, "ALAT_CAPACITY_MISS", "ALL", "xx11", UMASK_YES},
    {__LINE__, "BACK_END_BUBBLE", "FE", "xx01", UMASK_YES},
    {__LINE__, "BACK_END_BUBBLE", "L1D_FPU_RSE", "xx10", UMASK_YES},
    {__LINE__, "BE_EXE_BUBBLE", "ARCR_PR_CANCEL_BANK", "1000", UMASK_YES},
    {__LINE__, "BE_L1D_FPU_BUBBLE", "", "0110", UMASK_UNDEFINED},
    {__LINE__, "BE_L1D_FPU_BUBBLE", "L1D_NATCONF", "1111", UMASK_YES},
    {__LINE__, "BE_LOST_BW_DUE_TO_FE", "IBFULL", "0101", UMASK_UNDEFINED},
    {__LINE__, "BE_LOST_BW_DUE_TO_FE", "", "0010", UMASK_ILLEGAL},
    /* Rule U1. */
    {__LINE__, "FE_LOST_BW", "BUBBLE", "1101", UMASK_YES},
    {__LINE__, "FE_LOST_BW", "IBFULL", "0101", UMASK_YES},
    {__LINE__, "BE_RSE_BUBBLE", "UNDERFLOW", "x100", UMASK_YES},
    {__LINE__, "BR_MISPRED_DETAIL", "NRETIND.WRONG_PATH", "1110", UMASK_YES},
    /* Rule U3, with the printed name. */
    {__LINE__, "BR_MISPRED_DETAIL2", "RETURN.ALL_UNKNOWN_PRED", "1000",
     UMASK_YES},
    {__LINE__, "BR_PATH_PRED2", "IPREL.UNKNOWNPRED_TAKEN", "01x1", UMASK_YES},
    {__LINE__, "BUS_MEMORY", "", "00xx", UMASK_NOTHING},
    {__LINE__, "BUS_MEMORY", "LT_128BYTE.SELF", "1010", UMASK_YES},
    {__LINE__, "BUS_SNOOP_STALL_CYCLES", "", "xx01", UMASK_ILLEGAL},
    {__LINE__, "BUS_WR_WB", "", "1001", UMASK_ILLEGAL},
    {__LINE__, "BUS_WR_WB", "CCASTOUT.ANY", "1011", UMASK_YES},
    {__LINE__, "CPU_CPL_CHANGES", "LVL2", "0100", UMASK_YES},
    /* Rule U5. */
    {__LINE__, "CPU_OP_CYCLES", "QUAL", "xxx1", UMASK_YES},
    {__LINE__, "FP_FLUSH_TO_ZERO", "FTZ_Poss", "xxx1", UMASK_YES},
    {__LINE__, "ENCBR_MISPRED_DETAIL", "ALL2.WRONG_PATH", "1110", UMASK_YES},
    {__LINE__, "FE_BUBBLE", "GROUP3", "1010", UMASK_YES},
    {__LINE__, "IA64_TAGGED_INST_RETIRED", "IBRP2_PMC32_33", "xx10", UMASK_YES},
    {__LINE__, "ITLB_MISSES_FETCH", "L2ITLB", "xx10", UMASK_YES},
    {__LINE__, "L1D_READ_MISSES", "RSE_FILL", "xxx1", UMASK_YES},
    {__LINE__, "L2D_BAD_LINES_SELECTED", "ANY", "0xxx", UMASK_YES},
    {__LINE__, "L2D_FILL_MESI_STATE", "P", "x1xx", UMASK_YES},
    {__LINE__, "L2D_FORCE_RECIRC", "LIMBO", "00x1", UMASK_YES},
    {__LINE__, "L2D_L3ACCESS_CANCEL", "ER_REJECT", "x011", UMASK_YES},
    {__LINE__, "L2D_OPS_ISSUED", "OTHER", "x1x1", UMASK_YES},
    {__LINE__, "L2D_OZQ_CANCELS0", "SEMA", "1001", UMASK_YES},
    {__LINE__, "L2D_OZQ_CANCELS1", "SIBLING_ACQ_REL", "xx10", UMASK_YES},
    {__LINE__, "L2D_OZQ_FULL", "THIS", "0000", UMASK_YES},
    /* Rule U8. */
    {__LINE__, "L2I_READS", "HIT.NONE", "0100", UMASK_NOTHING},
    {__LINE__, "L2I_READS", "MISS.PFTCH", "1010", UMASK_YES},
    {__LINE__, "L3_READS", "DINST_FETCH.ALL", "0011", UMASK_YES},
    {__LINE__, "L3_WRITES", "L2_WB.MISS", "1010", UMASK_YES},
    {__LINE__, "MEM_READ_CURRENT", "", "xx10", UMASK_ILLEGAL},
    {__LINE__, "SI_SCB_INSERTS", "HITM.SELF", "10x1", UMASK_YES},
    {__LINE__, "SI_SCB_SIGNOFFS", "ALL", "11xx", UMASK_YES},
    {__LINE__, "SI_WDQ_ECC_ERRORS", "ALL.SELF", "1xx1", UMASK_YES},
    {__LINE__, "SI_WRITEQ_INSERTS", "WC1_8B.EITHER", "1110", UMASK_YES},
    {__LINE__, "SPEC_LOADS_NATTED", "DEF_PSR_ED", "0101", UMASK_YES},
    {__LINE__, "THREAD_SWITCH_CYCLE", "", "x101", UMASK_NOTHING},
    {__LINE__, "THREAD_SWITCH_EVENTS", "", "x110", UMASK_UNDEFINED},
    {__LINE__, "THREAD_SWITCH_STALL", "GTE_4096", "1010", UMASK_YES},
};

static void
test_umasks(void **state)
{
    const struct machine_row *m = machine_of("montecito");

    (void)state;
    for (size_t i = 0; i < COUNT(umasks); i++) {
        const int line = umasks[i].line;
        const struct event_row *e = event_find(m, umasks[i].name);
        size_t u = 0;
        if (e == NULL)
            fail_msg("row at line %d: no %s", line, umasks[i].name);
        while (u < e->umask_count &&
               strcmp(e->umasks[u].pattern, umasks[i].pattern) != 0)
            u++;
        same_number(line, u < e->umask_count, true);
        same_text(line, e->umasks[u].name, umasks[i].umask);
        same_number(line, e->umasks[u].counts, umasks[i].counts);
    }
}

/* Tables 4-2 to 4-40, and 85 rows together. */
static const struct {
    int line;
    const char *table;
    int rows;
} derived[] = {
    {__LINE__, "Table 4-2", 1},   {__LINE__, "Table 4-5", 3},
    {__LINE__, "Table 4-9", 6},   {__LINE__, "Table 4-18", 6},
    {__LINE__, "Table 4-20", 5},  {__LINE__, "Table 4-32", 23},
    {__LINE__, "Table 4-34", 1},  {__LINE__, "Table 4-36", 7},
    {__LINE__, "Table 4-38", 26}, {__LINE__, "Table 4-40", 7},
};

/* A row with "or" has a second metric, whose name says what differs. */
static bool
is_second(const char *name)
{
    static const char *const ends[] = {"_SET1", "_OF_BIL", "_OF_BURST",
                                       "_OF_MEMORY"};

    for (size_t i = 0; i < COUNT(ends); i++)
        if (strlen(name) > strlen(ends[i]) &&
            strcmp(name + strlen(name) - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

static void
test_derived(void **state)
{
    const struct machine_row *m = machine_of("montecito");
    int all = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(derived); i++) {
        int rows = 0;
        for (size_t k = 0; k < m->metric_count; k++)
            rows += strcmp(m->metrics[k].reference, derived[i].table) == 0 &&
                    !is_second(m->metrics[k].name);
        same_number(derived[i].line, rows, derived[i].rows);
        all += rows;
    }
    assert_int_equal(all, 85);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_t4_groups),
        cmocka_unit_test(test_t4_elsewhere),
        cmocka_unit_test(test_rev2),
        cmocka_unit_test(test_montecito_counts),
        cmocka_unit_test(test_montecito_patterns),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_t4_columns),
        cmocka_unit_test(test_montecito_rows),
        cmocka_unit_test(test_umasks),
        cmocka_unit_test(test_derived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
