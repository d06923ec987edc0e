/* SPDX-License-Identifier: MIT */
/*
 * Counters of memory controllers, the JBus and Zambezi hubs. Tables say where
 * each counter has its select field and its count. Select codes without an
 * event count nothing.
 *
 * A count of 31 bits has a sticky bit above it, which stays set until software
 * writes it. In a memory controller the bit is set when the count wraps. In the
 * JBus it is set when a count of all ones rises, so a step of more than 1 can
 * wrap unseen (OpenSPARC T1 jbi_csr.v). With SPARC T4's codes 0 to 7 each
 * counter counts one port (SPARC T4 Supplement, TABLE 10-7): lines 0 to 3 of
 * the signal are the ports, beginning with COU 0 port 0. Zambezi counts have 64
 * bits; the code clear_pic, all ones in the select field, is no event.
 */
#include "pmu/pmu.h"

#define DRAM_CODES UINT64_C(0xff)
#define T4_DRAM_CODES UINT64_C(0x1fff)
#define T4_PORT_CODES 8 /* codes below count the counter's own port */
#define JBUS_CODES UINT64_C(0x777e)
#define JBUS_STEP_CODES UINT64_C(0x248) /* 3, 6, 9: one step of n a cycle */
#define LPU_CODES UINT64_C(0x3fffffffffe)
#define GPD_CODES UINT64_C(0x2)
#define ASU_CODES UINT64_C(0x3e)

void
pmu_shared_reset(struct tally_pmu *pmu)
{
    for (size_t i = 0; i < pmu->machine->registers_count && i < PMU_SHARED;
         i++) {
        pmu->shared[i] = pmu->machine->registers[i].reset;
        pmu->shared_written[i] = false;
    }
}

bool
pmu_shared_present(const struct tally_pmu *pmu, unsigned id)
{
    if (pmu->machine != &tally_pmu_machines[PMU_MACHINE_ULTRASPARC_T2PLUS])
        return true;
    if (id >= ULTRASPARC_T2PLUS_ZAM0_LPU_A_PCR &&
        id <= ULTRASPARC_T2PLUS_ZAM3_ASU_PIC1)
        return pmu->nodes == 4;
    if (id >= ULTRASPARC_T2PLUS_NODE0_MCU0_PCR &&
        id <= ULTRASPARC_T2PLUS_NODE3_MCU1_PIC)
        return (id - ULTRASPARC_T2PLUS_NODE0_MCU0_PCR) / 4 < pmu->nodes;
    return true;
}

int
pmu_shared_read(const struct tally_pmu *pmu, unsigned id,
                enum tally_pmu_level level, uint64_t *value)
{
    if (level != TALLY_PMU_HYPERPRIVILEGED || !pmu_shared_present(pmu, id))
        return TALLY_PMU_DATA_ACCESS_EXCEPTION;
    *value = pmu->shared[id];
    return 0;
}

int
pmu_shared_write(struct tally_pmu *pmu, unsigned id, enum tally_pmu_level level,
                 uint64_t value)
{
    if (level != TALLY_PMU_HYPERPRIVILEGED || !pmu_shared_present(pmu, id))
        return TALLY_PMU_DATA_ACCESS_EXCEPTION;
    pmu->shared[id] =
        pmu_merge(&pmu->machine->registers[id], pmu->shared[id], value);
    pmu->shared_written[id] = true;
    return 0;
}

/* Returns the select codes of a unit that have events, as bits. */
static uint64_t
unit_codes(const struct pmu_machine *m, unsigned unit)
{
    switch (unit) {
    case TALLY_PMU_DRAM:
        return m->family == PMU_SPARC_T4 ? T4_DRAM_CODES : DRAM_CODES;
    case TALLY_PMU_JBUS:
        return JBUS_CODES;
    case TALLY_PMU_LPU:
        return LPU_CODES;
    case TALLY_PMU_GPD:
        return GPD_CODES;
    default:
        return ASU_CODES;
    }
}

/*
 * Returns whether one of `steps` steps of `n`, from `old` on, starts at `mask`,
 * which is 2^k - 1: whether x * n = mask - old modulo 2^k for an x < steps.
 */
static bool
meets_ones(uint64_t old, uint64_t n, uint64_t steps, uint64_t mask)
{
    uint64_t distance = mask - old;

    if (n == 0)
        return false;
    while ((n & 1) == 0 && (distance & 1) == 0 && mask != 0) {
        n >>= 1;
        distance >>= 1;
        mask >>= 1;
    }
    if (mask == 0)
        return true;
    if ((n & 1) == 0)
        return false;
    uint64_t inverse = n; /* right in 3 bits; each turn doubles the bits */
    while ((n * inverse & mask) != 1)
        inverse *= 2 - n * inverse;
    return (distance * inverse & mask) < steps;
}

/* Adds `n` in each of `cycles` cycles to the counter's register. */
static void
count(uint64_t *value, const struct pmu_shared *c, bool in_steps, uint64_t n,
      uint64_t cycles)
{
    if (c->bits == 64) {
        *value += n * cycles;
        return;
    }
    const uint64_t mask = (UINT64_C(1) << c->bits) - 1;
    const uint64_t old = *value >> c->value_low & mask;
    const bool sticky = in_steps ? meets_ones(old, n, cycles, mask)
                                 : n > mask || n * cycles > mask - old;

    *value = (*value & ~(mask << c->value_low)) |
             ((old + n * cycles) & mask) << c->value_low |
             (sticky ? mask + 1 : 0) << c->value_low;
}

/* Returns the counters of the signal's unit, and their number; NULL if no
 * counter can select the signal. */
static const struct pmu_shared *
counters_of(const struct tally_pmu *pmu, uint32_t signal, unsigned *number)
{
    const struct pmu_machine *m = pmu->machine;
    const unsigned unit = signal >> 24, instance = signal >> 16 & 0xff;
    const unsigned code = signal >> 8 & 0xff;

    if (unit >= PMU_UNITS || instance >= m->units[unit].instances)
        return NULL;
    if (code >= 64 || !(unit_codes(m, unit) >> code & 1))
        return NULL;
    const struct pmu_unit *u = &m->units[unit];
    const struct pmu_shared *c = &m->shared[u->first + instance * u->counters];
    *number = u->counters;
    return pmu_shared_present(pmu, c->select) ? c : NULL;
}

/* Returns whether counter `k` of its unit selects the signal. */
static bool
has_chosen(const struct tally_pmu *pmu, const struct pmu_shared *c, unsigned k,
           uint32_t signal)
{
    const unsigned code = signal >> 8 & 0xff;
    const bool own_port =
        pmu->machine->family == PMU_SPARC_T4 && code < T4_PORT_CODES;
    const uint64_t select = pmu->shared[c->select] >> c->select_low &
                            ((UINT64_C(1) << c->select_width) - 1);

    return select == code && (!own_port || signal >> k & 1);
}

bool
pmu_shared_heard(const struct tally_pmu *pmu, uint32_t signal)
{
    unsigned number = 0;
    const struct pmu_shared *c = counters_of(pmu, signal, &number);

    for (unsigned k = 0; c != NULL && k < number; k++) {
        if (pmu->shared_written[c[k].select] &&
            has_chosen(pmu, &c[k], k, signal))
            return true;
    }
    return false;
}

void
pmu_shared_signal(struct tally_pmu *pmu, uint32_t signal, uint64_t n,
                  const struct tally_pmu_context *context)
{
    const unsigned unit = signal >> 24, code = signal >> 8 & 0xff;
    const bool in_steps = unit == TALLY_PMU_JBUS && JBUS_STEP_CODES >> code & 1;
    unsigned number = 0;
    const struct pmu_shared *c = counters_of(pmu, signal, &number);

    for (unsigned k = 0; c != NULL && k < number; k++) {
        if (has_chosen(pmu, &c[k], k, signal))
            count(&pmu->shared[c[k].value], &c[k], in_steps, n,
                  context->cycles);
    }
}
