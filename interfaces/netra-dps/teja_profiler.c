/* SPDX-License-Identifier: MIT */
/* Masks of events as the profiler's own lists, and dumps to the console. */
#include "teja_profiler.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gateway/doorbell.h"
#include "teja_thread.h"

/* The machines that a mask is for. */
enum target { T1, T2, T4, HOST, TARGETS };

/* What a bit is called on each; NULL: there is no such event. */
struct row {
    const char *names[TARGETS];
};

static const struct row cpu_rows[] = {
    {{"branches", "Completed_branches", "Branches", "branches"}},
    {{"taken_branches", "Taken_branches", "Taken_branches", NULL}},
    {{NULL, "FGU_arithmatic_instr", "FGU_crypto_arithmetic_instructions",
      NULL}},
    {{NULL, "Load_instr", "Load_instructions", "L1-dcache-loads"}},
    {{NULL, "Store_instr", "Store_instructions", "L1-dcache-stores"}},
    {{NULL, "sethi_instr", "sethi_hi_fc000_g0", NULL}},
    {{NULL, "Other_instr", "Other_instructions", NULL}},
    {{NULL, "Atomics", "atomics", NULL}},
    {{"instr_cnt", "All_instr", "All_instructions", "instructions"}},
    {{"IC_miss", "Icache_misses", "Icache_miss", "L1-icache-load-misses"}},
    {{"DC_miss", "Dcache_misses", "L1_data_cache_miss",
      "L1-dcache-load-misses"}},
    {{"L2_imiss", "L2_instr_misses", NULL, NULL}},
    {{"L2_dmiss_ld", "L2_load_misses", NULL, "cache-misses"}},
    {{NULL, "ITLB_ref_L2", NULL, NULL}},
    {{NULL, "DTLB_ref_L2", NULL, NULL}},
    {{NULL, "ITLB_miss_L2", NULL, NULL}},
    {{NULL, "DTLB_miss_L2", NULL, NULL}},
    {{NULL, "Stream_LD_to_PCX", NULL, NULL}},
    {{NULL, "Stream_ST_to_PCX", NULL, NULL}},
    {{NULL, "CPU_LD_to_PCX", NULL, NULL}},
    {{NULL, "CPU_Ifetch_to_PCX", NULL, NULL}},
    {{NULL, "CPU_ST_to_PCX", NULL, NULL}},
    {{NULL, "MMU_LD_to_PCX", NULL, NULL}},
    {{NULL, "DES_3DES_OP", NULL, NULL}},
    {{NULL, "AES_OP", NULL, NULL}},
    {{NULL, "RC4_OP", NULL, NULL}},
    {{NULL, "MD5_SHA1_SHA256_OP", NULL, NULL}},
    {{NULL, "MA_OP", NULL, NULL}},
    {{NULL, "CRC_TCPIP_Cksum_OP", NULL, NULL}},
    {{NULL, "DES_3DES_Busy_cycle", NULL, NULL}},
    {{NULL, "AES_Busy_cycle", NULL, NULL}},
    {{NULL, "RC4_Busy_cycle", NULL, NULL}},
    {{NULL, "MD5_SHA1_SHA256_Busy_cycle", NULL, NULL}},
    {{NULL, "MA_Busy", NULL, NULL}},
    {{NULL, "CRC_MPA_Cksum", NULL, NULL}},
    {{"ITLB_miss", "ITLB_miss", "ITLB_misses", "iTLB-load-misses"}},
    {{"DTLB_miss", "DTLB_miss", "DTLB_misses_async", "dTLB-load-misses"}},
    {{NULL, "TLB_miss", NULL, NULL}},
    {{"SB_full", NULL, NULL, NULL}},
    {{"FP_instr_cnt", NULL, NULL, NULL}},
};

#define EVERY_SUN(name, t4)      \
    {                            \
        {                        \
            name, name, t4, NULL \
        }                        \
    }
static const struct row dram_rows[] = {
    EVERY_SUN("mem_reads", "Read_transactions"),
    EVERY_SUN("mem_writes", "Write_transactions"),
    EVERY_SUN("bank_busy_stalls", "Bank_busy_stalls"),
    EVERY_SUN("rd_queue_latency", "Read_queue_latency"),
    EVERY_SUN("wr_queue_latency", "Write_queue_latency"),
    EVERY_SUN("rw_queue_latency", "Read_Write_queue_latency"),
    EVERY_SUN("wr_buf_hits", "Writeback_buffer_hits"),
};

#define T1_ALONE(name)             \
    {                              \
        {                          \
            name, NULL, NULL, NULL \
        }                          \
    }
static const struct row jbus_rows[] = {
    T1_ALONE("jbus_cycles"),      T1_ALONE("dma_reads"),
    T1_ALONE("dma_read_latency"), T1_ALONE("dma_writes"),
    T1_ALONE("dma_write8"),       T1_ALONE("ordering_waits"),
    T1_ALONE("pio_reads"),        T1_ALONE("pio_read_latency"),
    T1_ALONE("pio_writes"),       T1_ALONE("aok_dok_off_cycles"),
    T1_ALONE("aok_off_cycles"),   T1_ALONE("dok_off_cycles"),
};

#define ROWS(rows)                           \
    {                                        \
        rows, sizeof(rows) / sizeof(*(rows)) \
    }
static const struct {
    const struct row *rows;
    unsigned count;
} groups[] = {
    [TEJA_PROFILER_CMT_CPU] = ROWS(cpu_rows),
    [TEJA_PROFILER_CMT_DRAM] = ROWS(dram_rows),
    [TEJA_PROFILER_CMT_JBUS] = ROWS(jbus_rows),
};

/* TARGETS: the machine has none of a mask's events. A T2 Plus is a T2, and the
 * model of this host has this host's names. */
static enum target
target_here(char *machine, size_t size)
{
    struct gateway_hello hello;

    if (!gateway_hello(&hello)) {
        snprintf(machine, size, "this host");
        return HOST;
    }
    snprintf(machine, size, "%s", hello.machine);
    return strcmp(machine, "ultrasparc-t1") == 0        ? T1
           : strncmp(machine, "ultrasparc-t2", 13) == 0 ? T2
           : strcmp(machine, "sparc-t4") == 0           ? T4
           : strcmp(machine, "host-model") == 0         ? HOST
                                                        : TARGETS;
}

static int
refuse(const char *what, unsigned number, const char *machine)
{
    fprintf(stderr, "teja_profiler_start: %s %u on %s\n", what, number,
            machine);
    return -1;
}

/* Once: a program asks at each start. */
static int
refuse_masks(const char *machine)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;

    if (!atomic_flag_test_and_set(&told))
        fprintf(stderr,
                "teja_profiler_start: masks are of the T1, T2 and T4, not of "
                "%s: tally profile -e names its events\n",
                machine);
    return -1;
}

/* "HI,LO" */
static int
write_list(teja_profiler_group_t group, teja_profiler_event_t events,
           char *list, size_t size)
{
    char machine[48];
    const enum target target = target_here(machine, sizeof(machine));
    unsigned count = 0;
    const teja_profiler_event_t always =
        target == T1 && group == TEJA_PROFILER_CMT_CPU
            ? TEJA_PROFILER_CMT_CPU_INSTR_CNT
            : 0;
    size_t used = 0;

    *list = '\0';
    if (target == TARGETS)
        return refuse_masks(machine);
    if (group >= sizeof(groups) / sizeof(*groups) || groups[group].count == 0)
        return refuse("no group", group, machine);
    if (always != 0) {
        used = (size_t)snprintf(list, size, "instr_cnt");
        count = 1;
        events &= ~always;
    }
    for (unsigned bit = 64; bit-- > 0;) {
        if ((events & TEJA_PROFILER_BIT(bit)) == 0)
            continue;
        const char *name = bit < groups[group].count
                               ? groups[group].rows[bit].names[target]
                               : NULL;
        if (name == NULL)
            return refuse("no event of bit", bit, machine);
        if (++count > TEJA_PROFILER_MAX_EVENTS)
            return refuse(always != 0 ? "more than one event beside instr_cnt "
                                        "in group"
                                      : "more than two events in group",
                          group, machine);
        used += (size_t)snprintf(list + used, size - used, "%s%s",
                                 used > 0 ? "," : "", name);
    }
    return count > 0 ? 0 : refuse("no events in group", group, machine);
}

static int
answer(int error)
{
    return error == 0 ? 0 : -1;
}

int
teja_profiler_list_of(teja_profiler_group_t group, teja_profiler_event_t events,
                      struct teja_profiler_list *list)
{
    /* What comes from outside needs no name here. */
    *list->text = '\0';
    return teja_events_given()
               ? 0
               : write_list(group, events, list->text, sizeof(list->text));
}

int
teja_profiler_get_values_of(teja_profiler_group_t group,
                            struct teja_profiler_values_t *values)
{
    struct tally_profiler_values now;
    const int error = tally_profiler_values_at(group, &now);

    if (error == 0) {
        values->events[0] = now.hi;
        values->events[1] = now.lo;
    }
    return answer(error);
}

int
teja_profiler_dump_of(teja_thread_t thread)
{
    if (thread == NULL || thread->profiled == NULL)
        return -1;
    /* What the program printed before stays before. */
    fflush(stdout);
    return answer(tally_profiler_dump_fd(thread->profiled, STDOUT_FILENO,
                                         TALLY_PROFILER_TABLE));
}
