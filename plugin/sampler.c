/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/sampler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* PMD4 to 15 overflow by a carry out of bit 46. */
#define COUNT_BITS 47
#define COUNT_MASK ((UINT64_C(1) << COUNT_BITS) - 1)

#define PMC_USER UINT64_C(0x8)       /* plm: privilege level 3 */
#define PMC_INTERRUPT UINT64_C(0x20) /* oi */
#define PMC_OPEN (UINT64_C(2) << 24) /* ism */

/* The counters: captures of an event address register, entries of the trace
 * buffer, retired instructions. One of the counters freezes the PMU. */
enum counter { COUNTER_EAR, COUNTER_TRACE, COUNTER_RETIRED, COUNTERS };

enum registers {
    REG_PMC0,
    REG_PMC4, /* to 6, by enum counter */
    REG_PMD4 = REG_PMC4 + COUNTERS,
    REG_PMC37 = REG_PMD4 + COUNTERS,
    REG_PMC39,
    REG_PMC40,
    REG_PMC42,
    REG_PMD32,
    REG_PMD33,
    REG_PMD36,
    REG_PMD34,
    REG_PMD35,
    REG_PMD38,
    REG_PMD39,
    REG_PMD48, /* to 63 */
    REGISTERS = REG_PMD48 + CAPTURE_ENTRIES
};

static const char *const names[REG_PMD48] = {
    [REG_PMC0] = "PMC0",     [REG_PMC4] = "PMC4",   [REG_PMC4 + 1] = "PMC5",
    [REG_PMC4 + 2] = "PMC6", [REG_PMD4] = "PMD4",   [REG_PMD4 + 1] = "PMD5",
    [REG_PMD4 + 2] = "PMD6", [REG_PMC37] = "PMC37", [REG_PMC39] = "PMC39",
    [REG_PMC40] = "PMC40",   [REG_PMC42] = "PMC42", [REG_PMD32] = "PMD32",
    [REG_PMD33] = "PMD33",   [REG_PMD36] = "PMD36", [REG_PMD34] = "PMD34",
    [REG_PMD35] = "PMD35",   [REG_PMD38] = "PMD38", [REG_PMD39] = "PMD39",
};

struct sampler {
    const struct capture_request *request;
    struct process_counts *process; /* that takes the records */
    struct tally_pmu *pmu;
    void *memory; /* of the PMU */
    uint32_t thread;
    uint16_t ids[REGISTERS];
    uint32_t ear_signal;
    enum counter freezes;
    bool frozen;
    uint64_t left;            /* of the IP-EAR's delay, while it is frozen */
    struct capture_record at; /* the instruction that froze the PMU */
};

static uint64_t
get(const struct sampler *m, unsigned reg)
{
    uint64_t value = 0;

    tally_pmu_read(m->pmu, 0, m->ids[reg], TALLY_PMU_PRIVILEGED, &value);
    return value;
}

static void
set(struct sampler *m, unsigned reg, uint64_t value)
{
    tally_pmu_write(m->pmu, 0, m->ids[reg], TALLY_PMU_PRIVILEGED, value);
}

static bool
is_instruction_ear(const struct capture_request *r)
{
    return r->ear == CAPTURE_FETCH || r->ear == CAPTURE_ITLB;
}

/* Finds the registers and the signal by name, and which counter freezes. */
static void
find_registers(struct sampler *m)
{
    char name[8];

    for (unsigned i = 0; i < REGISTERS; i++) {
        if (i >= REG_PMD48)
            snprintf(name, sizeof(name), "PMD%u", 48 + i - REG_PMD48);
        m->ids[i] = (uint16_t)tally_pmu_register_find(
            m->pmu, i < REG_PMD48 ? names[i] : name);
    }
    tally_pmu_signal_find(m->pmu,
                          is_instruction_ear(m->request) ? "L1I_EAR_EVENTS"
                                                         : "DATA_EAR_EVENTS",
                          &m->ear_signal);
    m->freezes = m->request->ear != CAPTURE_NONE ? COUNTER_EAR
                 : m->request->retired           ? COUNTER_RETIRED
                                                 : COUNTER_TRACE;
}

/* Sets the counters: the freezing one to a period before its overflow, others
 * to 0. */
static void
preload(struct sampler *m)
{
    const uint64_t period = m->request->period;

    for (unsigned i = 0; i < COUNTERS; i++)
        set(m, REG_PMD4 + i,
            i == m->freezes && period != 0 ? COUNT_MASK + 1 - period : 0);
}

static void
program(struct sampler *m)
{
    const struct capture_request *r = m->request;
    const unsigned codes[COUNTERS] = {
        is_instruction_ear(r) ? 0x43 : 0xc8, /* see find_registers() */
        0x11,                                /* ETB_EVENT */
        0x08,                                /* IA64_INST_RETIRED */
    };

    for (unsigned i = 0; i < COUNTERS; i++) {
        const bool freezes = i == m->freezes && r->period != 0;
        set(m, REG_PMC4 + i,
            PMC_USER | PMC_OPEN | (uint64_t)codes[i] << 8 |
                (freezes ? PMC_INTERRUPT : 0));
    }
    preload(m);
    set(m, REG_PMC37, r->pmc37);
    set(m, REG_PMC39, r->pmc39);
    set(m, REG_PMC40, r->pmc40);
    set(m, REG_PMC42, r->pmc42);
}

struct sampler *
sampler_new(const struct capture_request *request,
            struct process_counts *process, uint32_t thread)
{
    struct tally_pmu_options options;

    tally_pmu_options_init(&options, sizeof(options));
    options.machine = "montecito";
    const size_t size = tally_pmu_size(&options);
    struct sampler *m = calloc(1, sizeof(*m));
    if (m == NULL || (m->memory = aligned_alloc(16, size)) == NULL ||
        tally_pmu_init(m->memory, size, &options, &m->pmu) != 0) {
        sampler_free(m);
        return NULL;
    }
    m->request = request;
    m->process = process;
    m->thread = thread;
    find_registers(m);
    tally_pmu_set_state(m->pmu, 0, TALLY_PMU_CPL, 3);
    tally_pmu_set_state(m->pmu, 0, TALLY_PMU_UP, 1);
    program(m);
    return m;
}

void
sampler_free(struct sampler *m)
{
    if (m != NULL)
        free(m->memory);
    free(m);
}

void
sampler_rename(struct sampler *m, uint32_t thread)
{
    m->thread = thread;
}

/* Reads the registers as the handler of the interrupt would. */
static void
read_registers(const struct sampler *m, struct capture_record *r)
{
    const bool inst = is_instruction_ear(m->request);

    if (m->request->ear != CAPTURE_NONE) {
        r->ear[0] = get(m, inst ? REG_PMD34 : REG_PMD32);
        r->ear[1] = get(m, inst ? REG_PMD35 : REG_PMD33);
        r->ear[2] = inst ? 0 : get(m, REG_PMD36);
    }
    r->index = get(m, REG_PMD38);
    r->extension = get(m, REG_PMD39);
    for (unsigned i = 0; i < CAPTURE_ENTRIES; i++)
        r->entries[i] = get(m, REG_PMD48 + i);
}

/* Writes the record, clears the registers that it was read from, and lets the
 * PMU run on. */
static void
finish_record(struct sampler *m)
{
    static const unsigned cleared[] = {REG_PMD33, REG_PMD36, REG_PMD34,
                                       REG_PMD38, REG_PMD39};

    m->at.thread = m->thread;
    read_registers(m, &m->at);
    counts_capture(m->process, &m->at);
    memset(&m->at, 0, sizeof(m->at));
    m->frozen = false;
    preload(m);
    for (size_t i = 0; i < sizeof(cleared) / sizeof(cleared[0]); i++)
        set(m, cleared[i], 0);
    set(m, REG_PMC0, 0);
}

/* Looks whether the instruction `at` froze the PMU, and whether the IP-EAR's
 * delay after the freeze, of which `passed` cycles went by, is over. */
static void
look(struct sampler *m, const struct capture_record *at, uint32_t passed)
{
    if (!m->frozen && (get(m, REG_PMC0) & 1) == 0)
        return;
    if (!m->frozen) {
        m->at = *at;
        m->frozen = true;
        m->left = m->request->retired ? m->request->delay : 0;
    }
    m->left -= passed < m->left ? passed : m->left;
    if (m->left == 0)
        finish_record(m);
}

void
sampler_end(struct sampler *m)
{
    if (m->request->period != 0)
        return;
    m->at.ended = true;
    finish_record(m);
}

/* Returns what `counter` has counted since it showed `before`. */
static uint64_t
counted(const struct sampler *m, enum counter counter, uint64_t before)
{
    return (get(m, REG_PMD4 + counter) - before) & COUNT_MASK;
}

uint64_t
sampler_retire(struct sampler *m, struct tally_pmu_context *c)
{
    const struct capture_record at = {.pc = c->pc};
    const uint64_t before = get(m, REG_PMD4 + COUNTER_TRACE);

    tally_pmu_retire(m->pmu, 0, 1, c);
    const uint64_t entries = counted(m, COUNTER_TRACE, before);
    look(m, &at, c->cycles);
    return entries;
}

uint64_t
sampler_miss(struct sampler *m, struct tally_pmu_context *c,
             enum capture_level level)
{
    const struct capture_record at = {
        .pc = c->pc,
        .address = c->ea,
        .latency = c->miss == TALLY_PMU_MISS_CACHE ? c->latency : 0,
        .level = (uint8_t)level,
    };
    const uint64_t before = get(m, REG_PMD4 + COUNTER_EAR);

    c->cycles = 1;
    tally_pmu_signal(m->pmu, 0, m->ear_signal, 1, c);
    const uint64_t captured = counted(m, COUNTER_EAR, before);
    look(m, &at, 0);
    return captured;
}
