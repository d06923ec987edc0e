/* SPDX-License-Identifier: MIT */
/*
 * Montecito's registers, processor state and interrupt. Access follows volume
 * 2 of the Itanium architecture manual: user code reads PMDs, and reads and
 * writes its user mask (PSR bits 5:1); all other access is privileged.
 *
 * After reset even strands own their cores. State that the manual leaves
 * undefined is 0. A read of the event address and trace registers while the PMU
 * runs, which the manual calls undefined, returns the value they hold.
 */
#include "pmu/montecito.h"

#include <string.h>

#define USER_MASK UINT64_C(0x3e)
#define PMC0_OVERFLOW UINT64_C(0xfff0)
#define VECTOR_SPURIOUS 15
#define VECTOR_FIRST 16 /* of the vectors that PMV can hold */

static struct montecito *
montecito(struct tally_pmu *pmu)
{
    return (struct montecito *)pmu;
}

static struct montecito_thread *
thread_of(struct tally_pmu *pmu, unsigned strand)
{
    return &montecito(pmu)->thread[strand];
}

static const struct montecito_thread *
thread_const(const struct tally_pmu *pmu, unsigned strand)
{
    return &((const struct montecito *)pmu)->thread[strand];
}

/* Returns where the value of a register is; NULL for IVR. */
static uint64_t *
storage(struct montecito_thread *t, const struct pmu_register *row, unsigned id)
{
    switch (id) {
    case MONTECITO_PSR:
        return &t->psr;
    case MONTECITO_DCR:
        return &t->dcr;
    case MONTECITO_TPR:
        return &t->tpr;
    case MONTECITO_PMV:
        return &t->pmv;
    case MONTECITO_IVR:
        return NULL;
    default:
        break;
    }
    if (row->name[0] == 'I')
        return &t->ibr[row->number];
    if (row->name[0] == 'D')
        return &t->dbr[row->number];
    return row->name[2] == 'C' ? &t->pmc[row->number] : &t->pmd[row->number];
}

static bool
is_pmd(const struct pmu_register *row)
{
    return row->name[0] == 'P' && row->name[1] == 'M' && row->name[2] == 'D';
}

static bool
is_counter(const struct pmu_register *row)
{
    return is_pmd(row) && row->number < MONTECITO_FIRST + MONTECITO_COUNTERS;
}

/* Returns the row of a register. PMD39 has two rows: its entries are wider
 * while PMC42.mode is not that of the trace buffer (Table 3-33). */
static const struct pmu_register *
row_of(const struct tally_pmu *pmu, const struct montecito_thread *t,
       unsigned id)
{
    if (id == MONTECITO_PMD39 && (t->pmc[42] >> 8 & 7) != 0)
        id = MONTECITO_PMD39_IPEAR;
    return &pmu->machine->registers[id];
}

/* Derives all that depends on registers and modes of the strand. */
static void
refresh(struct montecito *m, unsigned strand)
{
    struct montecito_thread *t = &m->thread[strand];

    montecito_filter_update(t);
    montecito_ear_update(t);
    montecito_trace_update(t);
    montecito_listen(m, strand);
}

static void
reset(struct tally_pmu *pmu)
{
    struct montecito *m = montecito(pmu);

    montecito_events(m);
    memset(m->thread, 0, pmu->strands * sizeof(m->thread[0]));
    for (unsigned s = 0; s < pmu->strands; s++) {
        struct montecito_thread *t = &m->thread[s];

        for (unsigned id = 0; id < MONTECITO_REGISTERS; id++) {
            const struct pmu_register *row = &pmu->machine->registers[id];
            uint64_t *const value = storage(t, row, id);

            if (value != NULL)
                *value = row->reset;
        }
        t->flags = pmu->flags;
        t->active = (s & 1) == 0;
        montecito_ear_reset(t);
        montecito_trace_reset(t);
        montecito_program(m, t);
    }
    for (unsigned s = 0; s < pmu->strands; s++)
        refresh(m, s);
}

/* Returns whether the PMU's interrupt reaches the strand: section 3.3.11. */
static bool
recognised(const struct montecito_thread *t)
{
    const unsigned vector = t->pmv & 0xff;

    return (t->pmv >> 16 & 1) == 0 && vector >= VECTOR_FIRST &&
           (t->tpr >> 16 & 1) == 0 && (t->tpr >> 4 & 0xf) < vector >> 4;
}

/* Returns the vector of the pending interrupt, which then is pending no more.
 */
static uint64_t
read_ivr(struct montecito_thread *t)
{
    unsigned vector = t->service;

    if (vector == 0 && t->pmi && recognised(t)) {
        vector = t->pmv & 0xff;
        t->pmi = false;
    }
    t->service = 0;
    return vector == 0 ? VECTOR_SPURIOUS : vector;
}

/* Returns whether the PMC of a PMD makes the PMD privileged (rule R019). */
static bool
is_privileged(const struct montecito_thread *t, unsigned pmd)
{
    if (pmd < MONTECITO_FIRST + MONTECITO_COUNTERS)
        return (t->pmc[pmd] & MONTECITO_PM) != 0;
    if (pmd == 34 || pmd == 35)
        return (t->pmc[37] >> 4 & 1) != 0;
    if (pmd == 32 || pmd == 33 || pmd == 36)
        return (t->pmc[40] & MONTECITO_PM) != 0;
    /* PMC39 rules the trace buffer (PMC42.mode 0), PMC42 the IP-EAR. */
    return (t->pmc[(t->pmc[42] >> 8 & 7) == 0 ? 39 : 42] & MONTECITO_PM) != 0;
}

static int
read_user(const struct montecito_thread *t, const struct pmu_register *row,
          unsigned id, uint64_t *value)
{
    if (id == MONTECITO_PSR) {
        *value &= USER_MASK;
        return 0;
    }
    if (!is_pmd(row))
        return TALLY_PMU_PRIVILEGED_OPERATION;
    if ((t->psr & MONTECITO_PSR_SP) != 0 ||
        is_privileged(t, (unsigned)row->number))
        *value = 0;
    return 0;
}

static int
read_register(struct tally_pmu *pmu, unsigned strand, unsigned id,
              enum tally_pmu_level level, uint64_t *value)
{
    struct montecito_thread *t = thread_of(pmu, strand);
    const struct pmu_register *row = row_of(pmu, t, id);
    const uint64_t *const at = storage(t, row, id);
    uint64_t now;

    if (at == NULL) {
        if (level == TALLY_PMU_USER)
            return TALLY_PMU_PRIVILEGED_OPERATION;
        *value = read_ivr(t);
        return 0;
    }
    now = *at & (row->rw | row->rsvd);
    if (is_counter(row) && (now >> 46 & 1) != 0)
        now |= ~UINT64_C(0) << 47;
    if (level == TALLY_PMU_USER) {
        const int trap = read_user(t, row, id, &now);

        if (trap != 0)
            return trap;
    }
    *value = now;
    return 0;
}

/* Turns a write of user code (sum, rum, mov psr.um) into a whole PSR. With
 * PSR.sp the write does not change PSR.up. */
static int
write_user_mask(struct montecito_thread *t, uint64_t *value)
{
    uint64_t mask = USER_MASK;

    if ((*value & ~USER_MASK) != 0)
        return TALLY_PMU_PRIVILEGED_OPERATION;
    if ((t->psr & MONTECITO_PSR_SP) != 0)
        mask &= ~MONTECITO_PSR_UP;
    *value = (t->psr & ~mask) | (*value & mask);
    return 0;
}

/* Returns whether a write of 1 to reserved bits faults. Reserved bits of PMCs
 * keep their value instead. */
static bool
faults_on_reserved(unsigned id)
{
    return id == MONTECITO_PSR || id == MONTECITO_TPR || id == MONTECITO_PMV;
}

static int
write_register(struct tally_pmu *pmu, unsigned strand, unsigned id,
               enum tally_pmu_level level, uint64_t value)
{
    struct montecito *m = montecito(pmu);
    struct montecito_thread *t = &m->thread[strand];
    const struct pmu_register *row = row_of(pmu, t, id);
    uint64_t *const at = storage(t, row, id);

    if (level == TALLY_PMU_USER) {
        const int trap = id == MONTECITO_PSR ? write_user_mask(t, &value)
                                             : TALLY_PMU_PRIVILEGED_OPERATION;

        if (trap != 0)
            return trap;
    }
    /* IVR is only read. */
    if (at == NULL)
        return TALLY_PMU_ILLEGAL_INSTRUCTION;
    if (faults_on_reserved(id) && (value & row->rsvd) != 0)
        return TALLY_PMU_RESERVED_FIELD;
    /* pmu_merge() would keep more: another row of the same number may have more
     * fields. */
    *at = (*at & row->rsvd) | (value & row->rw);
    if (is_counter(row))
        return 0;
    if (at > &t->pmc[0] + 3 && at < &t->pmc[16])
        montecito_program(m, t);
    refresh(m, strand);
    return 0;
}

/* Returns the bits of PSR that hold a part of the state; 0: PSR holds it not.
 */
static uint64_t
psr_bits(enum tally_pmu_state state)
{
    switch (state) {
    case TALLY_PMU_LEVEL:
    case TALLY_PMU_CPL:
        return UINT64_C(3) << 32;
    case TALLY_PMU_UP:
        return MONTECITO_PSR_UP;
    case TALLY_PMU_PP:
        return MONTECITO_PSR_PP;
    case TALLY_PMU_SP:
        return MONTECITO_PSR_SP;
    case TALLY_PMU_IS:
        return MONTECITO_PSR_IS;
    case TALLY_PMU_I:
        return MONTECITO_PSR_I;
    case TALLY_PMU_IC:
        return MONTECITO_PSR_IC;
    case TALLY_PMU_KSU:
    case TALLY_PMU_EXL:
    case TALLY_PMU_ERL:
    case TALLY_PMU_ACTIVE:
    case TALLY_PMU_HALTED:
    case TALLY_PMU_STATES:
        break;
    }
    return 0;
}

/* Switches one thread. Each switch costs some counters a cycle (decision X53).
 */
static void
switch_thread(struct montecito *m, unsigned strand, bool active)
{
    struct montecito_thread *t = &m->thread[strand];

    t->active = active;
    for (unsigned i = 0; i < MONTECITO_COUNTERS; i++)
        t->lost[i] += t->counter[i].loses;
}

/* Gives the core to the strand, or to the other strand of the core. */
static void
set_active(struct montecito *m, unsigned strand, bool active)
{
    const unsigned other = strand ^ 1;

    if (m->thread[strand].active == active)
        return;
    switch_thread(m, strand, active);
    if (other >= m->base.strands)
        return;
    switch_thread(m, other, !active);
    refresh(m, other);
}

static int
set_state(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_state state,
          uint64_t value)
{
    struct montecito *m = montecito(pmu);
    struct montecito_thread *t = &m->thread[strand];
    const uint64_t bits = psr_bits(state);
    const uint64_t greatest = state == TALLY_PMU_LEVEL ? 2
                              : state == TALLY_PMU_CPL ? 3
                                                       : 1;

    if (value > greatest)
        return TALLY_ERANGE;
    if (state == TALLY_PMU_LEVEL)
        value = value == TALLY_PMU_USER ? 3 : 0;
    if (bits != 0)
        t->psr = (t->psr & ~bits) | (value * (bits & (0 - bits)));
    else if (state == TALLY_PMU_ACTIVE)
        set_active(m, strand, value != 0);
    else if (state == TALLY_PMU_HALTED)
        t->halted = value != 0;
    else
        return TALLY_ERANGE;
    refresh(m, strand);
    return 0;
}

static int
get_state(const struct tally_pmu *pmu, unsigned strand,
          enum tally_pmu_state state, uint64_t *value)
{
    const struct montecito_thread *t = thread_const(pmu, strand);
    const uint64_t bits = psr_bits(state);

    if (state == TALLY_PMU_LEVEL)
        *value = (t->psr & bits) != 0 ? TALLY_PMU_USER : TALLY_PMU_PRIVILEGED;
    else if (bits != 0)
        *value = (t->psr & bits) / (bits & (0 - bits));
    else if (state == TALLY_PMU_ACTIVE)
        *value = t->active;
    else if (state == TALLY_PMU_HALTED)
        *value = t->halted;
    else
        return TALLY_ERANGE;
    return 0;
}

static uint32_t
pending(const struct tally_pmu *pmu, unsigned strand)
{
    const struct montecito_thread *t = thread_const(pmu, strand);

    return (t->pmi ? TALLY_PMU_MONITOR_INTERRUPT : 0U) |
           (t->notify ? TALLY_PMU_NOTIFICATION : 0U);
}

/* Delivers the PMU's interrupt: changes the state that concerns the PMU (volume
 * 2, table of processor status after an interruption; rule R035). */
static void
interrupt(struct montecito *m, unsigned strand)
{
    struct montecito_thread *t = &m->thread[strand];

    t->psr &= ~(MONTECITO_PSR_I | MONTECITO_PSR_IC | MONTECITO_PSR_SP |
                MONTECITO_PSR_PP | MONTECITO_PSR_IS | UINT64_C(3) << 32);
    t->psr |= (t->dcr & 1) != 0 ? MONTECITO_PSR_PP : 0;
    t->pmi = false;
    t->service = (uint8_t)t->pmv;
    refresh(m, strand);
}

static int
take(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_trap trap,
     struct tally_pmu_taken *taken)
{
    struct montecito_thread *t = thread_of(pmu, strand);
    const uint64_t open = MONTECITO_PSR_I | MONTECITO_PSR_IC;
    const bool interrupts = trap == TALLY_PMU_MONITOR_INTERRUPT;

    if (trap != TALLY_PMU_NOTIFICATION && !interrupts)
        return TALLY_ERULE;
    if ((pending(pmu, strand) & trap) == 0 ||
        (interrupts && ((t->psr & open) != open || !recognised(t))))
        return TALLY_ERULE;
    *taken = (struct tally_pmu_taken){
        .pc = t->pc,
        .npc = t->npc,
        .counters = (uint32_t)(t->pmc[0] & PMC0_OVERFLOW),
    };
    if (interrupts)
        interrupt(montecito(pmu), strand);
    else
        t->notify = false;
    return 0;
}

static void
batch(struct tally_pmu *pmu, unsigned strand,
      const struct tally_pmu_total *totals, size_t count,
      const struct tally_pmu_context *context)
{
    pmu_batch(pmu, strand, totals, count, context, montecito_signal);
}

const struct pmu_ops pmu_montecito_ops = {
    .strands = 4,
    .base = sizeof(struct montecito),
    .strand = sizeof(struct montecito_thread),
    .reset = reset,
    .read = read_register,
    .write = write_register,
    .set_state = set_state,
    .state = get_state,
    .signal = montecito_signal,
    .batch = batch,
    .retire = montecito_retire,
    .pending = pending,
    .take = take,
};
