/* SPDX-License-Identifier: MIT */
/*
 * Montecito's generic counters, PMC and PMD4 to 15 of each hardware thread:
 * section 3.3.1 to 3.3.4, and 4.2.1 for the thread that an event counts for.
 *
 * Programming that the manual leaves undefined counts nothing: an instruction
 * set mask other than 2, an event in a counter that cannot count it, an L1D
 * event of another set than PMC5's, an L2D event of another set than its
 * governor's (PMC4 for 4, 5 and 8, PMC6 for 6, 7 and 9), both events
 * L2D_OZQ_CANCELS at once. With .all, an event that cannot count both threads
 * counts its own thread. No value is limited to the event's greatest increment
 * (decision X21).
 */
#include "pmu/montecito.h"

#include <string.h>

#define COUNT_MASK ((UINT64_C(1) << 47) - 1)
#define OTHERS 16 /* where the other thread's counters begin in listeners */

static const struct pmu_event *
event_of(const struct montecito *m, unsigned code)
{
    const unsigned row = m->row[code];

    return row == 0 ? NULL : &m->base.machine->events[row - 1];
}

/* Two events share code 0x08: the later row, which stays, has the unit masks of
 * both. */
void
montecito_events(struct montecito *m)
{
    const struct pmu_machine *machine = m->base.machine;

    for (unsigned i = 0; i < machine->events_count; i++) {
        const struct pmu_event *e = &machine->events[i];

        m->row[e->code] = (uint8_t)(i + 1);
        m->by_active[e->code] = e->by_active;
    }
    /* A causal event, but it counts for the halted thread (decision X26). */
    m->by_active[MONTECITO_CYCLES_HALTED] = 0;
}

/* Section 3.3.1; PMC37 and 39 have no ism field. */
bool
montecito_enabled(const struct montecito_thread *t, unsigned pmc)
{
    const uint64_t value = t->pmc[pmc];
    const bool ism = pmc == 37 || pmc == 39;
    const uint64_t pm = pmc == 37 ? value >> 4 & 1 : value >> 6 & 1;

    return (t->pmc[0] & MONTECITO_FR) == 0 &&
           (MONTECITO_PLM(value) >> MONTECITO_PSR_CPL(t->psr) & 1) != 0 &&
           (ism || MONTECITO_ISM(value) == 2) &&
           (t->psr & (pm != 0 ? MONTECITO_PSR_PP : MONTECITO_PSR_UP)) != 0;
}

/* Returns the counter whose PMC rules an event of an L2D set in counter i. */
static unsigned
governor(unsigned i)
{
    return i == 0 || i == 1 || i == 4 ? 0 : 2;
}

/* Returns whether the event and another counter's event are L2D_OZQ_CANCELS0
 * and 1, which cannot be measured together (rule R114). */
static bool
cancels_clash(const struct montecito_thread *t, unsigned code)
{
    if (code != 0xe0 && code != 0xe2)
        return false;
    for (unsigned i = 0; i < MONTECITO_DUPLICATED; i++) {
        const uint64_t pmc = t->pmc[MONTECITO_FIRST + i];

        if (MONTECITO_PLM(pmc) != 0 && MONTECITO_ES(pmc) == (code ^ 2))
            return true;
    }
    return false;
}

/* Returns whether counter i can count the event: section 3.3.3, 4.8.2
 * and 4.8.4.
 */
static bool
allowed(const struct montecito *m, const struct montecito_thread *t, unsigned i,
        const struct pmu_event *e)
{
    const unsigned high = e->code >> 4;

    if (i >= MONTECITO_DUPLICATED &&
        ((high >= 0x8 && high <= 0xb) || high >= 0xe))
        return false;
    if (e->code == MONTECITO_CYCLES_HALTED && i != 6)
        return false;
    if (e->l1d_set >= 0) {
        const struct pmu_event *five = event_of(m, MONTECITO_ES(t->pmc[5]));

        if (five == NULL || five->l1d_set != e->l1d_set)
            return false;
    }
    if (e->l2d_set >= 0) {
        const uint64_t pmc = t->pmc[MONTECITO_FIRST + governor(i)];
        const struct pmu_event *ruling = event_of(m, MONTECITO_ES(pmc));

        if (ruling == NULL || ruling->l2d_set != e->l2d_set)
            return false;
    }
    return !cancels_clash(t, e->code);
}

/* Returns whether the event always counts both threads: ER_BKSNP_ME_ACCEPTED,
 * ER_BRQ_LIVE_REQ, ER_REJECT_ALL, ER_SNOOPQ_REQ, whose pages say that .all is
 * ignored. */
static bool
always_all(unsigned code)
{
    return code >= 0xb6 && code <= 0xbe && code != 0xba;
}

/* Returns the filters, MONTECITO_BY_*, that narrow the event. */
static unsigned
narrowed_by(const struct pmu_event *e, unsigned lines)
{
    /* CPU_OP_CYCLES.ALL is every cycle (decision X52). */
    if (e->code == MONTECITO_CPU_OP_CYCLES && lines == 0)
        return 0;
    if (e->dar)
        return MONTECITO_BY_DATA;
    return (e->iar ? MONTECITO_BY_RANGE : 0U) |
           (e->opc ? MONTECITO_BY_OPCODE : 0U);
}

/* Derives counter i from the PMCs. */
static struct montecito_counter
programmed(const struct montecito *m, const struct montecito_thread *t,
           unsigned i)
{
    struct montecito_counter k = {0};
    const uint64_t pmc = t->pmc[MONTECITO_FIRST + i];
    const struct pmu_event *e = event_of(m, MONTECITO_ES(pmc));

    if (e == NULL || !allowed(m, t, i, e))
        return k;
    const uint64_t ruling =
        e->l2d_set >= 0 ? t->pmc[MONTECITO_FIRST + governor(i)] : pmc;
    const unsigned umask = MONTECITO_UMASK(ruling);
    const bool all = (ruling & MONTECITO_ALL) != 0;

    k.bits = e->umask_bits;
    k.lines = (uint8_t)(k.bits ? umask : e->umask[umask]);
    k.mesi = (uint8_t)(e->mesi ? MONTECITO_MESI(pmc) : 0xff);
    k.counts = k.lines != (k.bits ? 0 : PMU_UMASK_NOTHING) && k.mesi != 0;
    k.threshold = (uint8_t)MONTECITO_THRESHOLD(pmc);
    k.narrowed = (uint8_t)narrowed_by(e, k.lines);
    if (i < MONTECITO_DUPLICATED)
        k.all = always_all(e->code) || (all && (e->all >> umask & 1) != 0);
    else if ((t->flags & TALLY_PMU_BANKED_ALL) != 0)
        k.all = k.loses = all && e->code == MONTECITO_CPU_OP_CYCLES;
    return k;
}

void
montecito_program(struct montecito *m, struct montecito_thread *t)
{
    for (unsigned i = 0; i < MONTECITO_COUNTERS; i++) {
        t->counter[i] = programmed(m, t, i);
        if (!t->counter[i].loses)
            t->lost[i] = 0;
    }
}

/* Returns whether counter i runs in the thread's present mode. */
static bool
runs(const struct montecito_thread *t, unsigned i)
{
    const unsigned code = MONTECITO_ES(t->pmc[MONTECITO_FIRST + i]);
    const struct montecito_counter *k = &t->counter[i];

    if (!k->counts || !montecito_enabled(t, MONTECITO_FIRST + i))
        return false;
    if (code == MONTECITO_CYCLES_HALTED)
        return t->halted;
    if (code == MONTECITO_CPU_OP_CYCLES && t->halted)
        return false;
    return i < MONTECITO_DUPLICATED || t->active || k->loses;
}

/* Returns whether the counter needs to compare only the unit mask. Signals of
 * the event address registers are candidates, and signals of other events may
 * count for the other thread. */
static bool
is_plain(const struct montecito *m, const struct montecito_thread *t,
         unsigned i, unsigned code)
{
    const struct montecito_counter *k = &t->counter[i];

    return !k->bits && !k->loses && k->threshold == 0 && k->mesi == 0xff &&
           (k->narrowed & t->filter.narrows) == 0 &&
           (t->active || m->by_active[code] == 0) &&
           code != MONTECITO_L1I_EAR && code != MONTECITO_DATA_EAR;
}

/* Returns the other code of L2D_OZQ_FULL, which has two (rule C1); of other
 * events the same code. */
static unsigned
second_code(unsigned code)
{
    return code == 0xe1 || code == 0xe3 ? code ^ 2 : code;
}

static void
listen_to(struct montecito_thread *t, unsigned code, unsigned bit)
{
    t->listeners[code] |= UINT32_C(1) << bit;
    t->listeners[second_code(code)] |= UINT32_C(1) << bit;
}

/* Enters the running counters of `owner` into the listeners of both threads. */
static void
enlist(const struct montecito *m, struct montecito_thread *owner,
       struct montecito_thread *other)
{
    for (unsigned i = 0; i < MONTECITO_COUNTERS; i++) {
        const unsigned code = MONTECITO_ES(owner->pmc[MONTECITO_FIRST + i]);

        if (!runs(owner, i))
            continue;
        listen_to(owner, code, i);
        owner->counter[i].plain = is_plain(m, owner, i, code);
        if (owner->counter[i].all && other != NULL)
            listen_to(other, code, OTHERS + i);
    }
}

/* Lets signals of `strand` through that a counter of `owner` counts. */
static void
hear_counters(struct montecito *m, unsigned strand,
              const struct montecito_thread *owner)
{
    const struct montecito_thread *t = &m->thread[strand];
    const unsigned other = strand ^ 1;

    for (unsigned i = 0; i < MONTECITO_COUNTERS; i++) {
        const unsigned code = MONTECITO_ES(owner->pmc[MONTECITO_FIRST + i]);
        const bool credit = !t->active && m->by_active[code] != 0 &&
                            other < m->base.strands &&
                            m->thread[other].listeners[code] != 0;

        if (t->listeners[code] == 0 && !credit)
            continue;
        pmu_hear(&m->base, strand, code);
        pmu_hear(&m->base, strand, second_code(code));
    }
}

void
montecito_listen(struct montecito *m, unsigned strand)
{
    const unsigned first = strand & ~1U;
    const unsigned last = first + 1 < m->base.strands ? first + 1 : first;
    struct montecito_thread *a = &m->thread[first];
    struct montecito_thread *b = last != first ? &m->thread[last] : NULL;

    memset(a->listeners, 0, sizeof(a->listeners));
    if (b != NULL)
        memset(b->listeners, 0, sizeof(b->listeners));
    enlist(m, a, b);
    if (b != NULL)
        enlist(m, b, a);
    for (unsigned s = first; s <= last; s++) {
        memset(m->base.heard[s], 0, sizeof(m->base.heard[s]));
        hear_counters(m, s, a);
        if (b != NULL)
            hear_counters(m, s, b);
        if (montecito_ear_hears(&m->thread[s], MONTECITO_L1I_EAR))
            pmu_hear(&m->base, s, MONTECITO_L1I_EAR);
        if (montecito_ear_hears(&m->thread[s], MONTECITO_DATA_EAR))
            pmu_hear(&m->base, s, MONTECITO_DATA_EAR);
    }
}

/* Returns the strand for which a signal of `strand` counts. */
static unsigned
credited(const struct montecito *m, unsigned strand, unsigned code,
         unsigned lines)
{
    const unsigned other = strand ^ 1;

    if (m->thread[strand].active || other >= m->base.strands)
        return strand;
    return (m->by_active[code] >> (lines & 15) & 1) != 0 ? other : strand;
}

/* Returns what a counter adds in each cycle for a value of n. */
static uint64_t
increment(const struct montecito_counter *k, uint64_t n)
{
    return k->threshold == 0 ? n : n > k->threshold;
}

/* Returns whether the counter counts an occurrence of thread `t`. */
static bool
takes(const struct montecito_counter *k, const struct montecito_thread *t,
      unsigned code, unsigned lines, const struct tally_pmu_context *c)
{
    if (k->bits ? (k->lines & lines) == 0 : k->lines != lines)
        return false;
    if (c->mesi != 0 && (k->mesi & c->mesi) == 0)
        return false;
    return (k->narrowed & t->filter.narrows) == 0 ||
           montecito_qualifies(t, k->narrowed, code, lines, c);
}

/* Returns how many of `cycles` cycles the thread still counts: up to the one in
 * which an overflow freezes the thread. */
static uint64_t
cycles_left(const struct montecito_thread *t, uint32_t hits, uint64_t n,
            uint64_t cycles)
{
    for (; hits != 0; hits &= hits - 1) {
        const unsigned i = (unsigned)__builtin_ctz(hits);
        const uint64_t each = increment(&t->counter[i], n);

        if ((t->pmc[MONTECITO_FIRST + i] & MONTECITO_OI) == 0 || each == 0)
            continue;
        const uint64_t room = COUNT_MASK - t->pmd[MONTECITO_FIRST + i];
        const uint64_t until = room / each + 1 + t->lost[i];

        if (until < cycles)
            cycles = until;
    }
    return cycles;
}

/* Adds to one counter. Returns whether the counter overflowed. */
static bool
add(struct montecito_thread *t, unsigned i, uint64_t n, uint64_t cycles)
{
    uint64_t *const count = &t->pmd[MONTECITO_FIRST + i];
    const uint64_t room = COUNT_MASK - *count;
    uint64_t total;

    if (t->lost[i] != 0) {
        const uint64_t paid = t->lost[i] < cycles ? t->lost[i] : cycles;

        t->lost[i] -= (uint32_t)paid;
        cycles -= paid;
    }
    const bool beyond =
        __builtin_mul_overflow(increment(&t->counter[i], n), cycles, &total);
    *count = (*count + total) & COUNT_MASK;
    return beyond || total > room;
}

/* Counts in counters of one thread, and freezes the thread if one of them
 * overflows and has oi set. */
static void
count_in(struct montecito_thread *t, uint32_t hits, uint64_t n, uint64_t cycles,
         const struct tally_pmu_context *c, bool *frozen)
{
    bool freeze = false;

    if (cycles > 1)
        cycles = cycles_left(t, hits, n, cycles);
    for (; hits != 0; hits &= hits - 1) {
        const unsigned i = (unsigned)__builtin_ctz(hits);
        const uint64_t pmc = t->pmc[MONTECITO_FIRST + i];

        if (!add(t, i, n, cycles))
            continue;
        t->pmc[0] |= UINT64_C(1) << (MONTECITO_FIRST + i);
        t->pc = c->pc;
        t->npc = c->npc;
        t->notify |= (pmc & MONTECITO_EV) != 0;
        freeze |= (pmc & MONTECITO_OI) != 0;
    }
    if (freeze) {
        t->pmi = true;
        t->pmc[0] |= MONTECITO_FR;
        montecito_ear_update(t);
        montecito_trace_update(t);
        *frozen = true;
    }
}

/* Returns the counters that count an occurrence of `strand`, numbered as in
 * montecito_thread.listeners. */
static uint32_t
hits_of(const struct montecito *m, unsigned strand, unsigned code,
        unsigned lines, const struct tally_pmu_context *c)
{
    const struct montecito_thread *t = &m->thread[strand];
    const unsigned other = strand ^ 1;
    uint32_t hits = 0;

    for (uint32_t left = t->listeners[code]; left != 0; left &= left - 1) {
        const unsigned i = (unsigned)__builtin_ctz(left);
        const struct montecito_counter *k =
            i < OTHERS ? &t->counter[i] : &m->thread[other].counter[i - OTHERS];

        if (takes(k, t, code, lines, c))
            hits |= left & (0 - left);
    }
    return hits;
}

/* Counts a value of n in each of `cycles` cycles in all these counters.
 * Counters that freeze their thread do so after the others have counted. */
static void
count_hits(struct montecito *m, unsigned strand, uint32_t hits, uint64_t n,
           uint64_t cycles, const struct tally_pmu_context *c)
{
    bool frozen = false;

    if ((hits & 0xffff) != 0)
        count_in(&m->thread[strand], hits & 0xffff, n, cycles, c, &frozen);
    if (hits >> OTHERS != 0)
        count_in(&m->thread[strand ^ 1], hits >> OTHERS, n, cycles, c, &frozen);
    if (frozen)
        montecito_listen(m, strand);
}

/* Counts a value of n in each of `cycles` cycles for `strand`. */
static void
count(struct montecito *m, unsigned strand, unsigned code, unsigned lines,
      uint64_t n, uint64_t cycles, const struct tally_pmu_context *c)
{
    const uint32_t hits = hits_of(m, strand, code, lines, c);

    if (hits != 0)
        count_hits(m, strand, hits, n, cycles, c);
}

/*
 * Counts a signal of the most frequent kind: it has one listener, which
 * compares only the unit mask and does not overflow. False: the signal is of
 * another kind. Without this shortcut a signal takes three times as long.
 */
static bool
count_plain(struct montecito_thread *t, unsigned code, unsigned lines,
            uint64_t n, uint32_t cycles)
{
    const uint32_t listener = t->listeners[code];

    if (listener == 0 || (listener & (listener - 1)) != 0 ||
        listener >> OTHERS != 0 || n >> 32 != 0)
        return false;
    const unsigned i = (unsigned)__builtin_ctz(listener);
    uint64_t *const value = &t->pmd[MONTECITO_FIRST + i];
    const uint64_t sum = *value + n * cycles;

    if (!t->counter[i].plain || sum > COUNT_MASK || sum < *value)
        return false;
    if (t->counter[i].lines == lines)
        *value = sum;
    return true;
}

/* Filters a candidate for an event address register, captures it, counts it. */
static void
candidate(struct montecito *m, unsigned strand, unsigned code, uint64_t n,
          const struct tally_pmu_context *c)
{
    struct montecito_thread *t = &m->thread[strand];
    const unsigned by =
        code == MONTECITO_DATA_EAR ? MONTECITO_BY_DATA : MONTECITO_BY_RANGE;

    if (n == 0 || ((t->filter.narrows & by) != 0 &&
                   !montecito_qualifies(t, by, code, 0, c)))
        return;
    const uint64_t cycles = montecito_ear_capture(t, code, n, c);

    if (cycles != 0)
        count(m, strand, code, 0, 1, cycles, c);
}

void
montecito_signal(struct tally_pmu *pmu, unsigned strand, uint32_t signal,
                 uint64_t n, const struct tally_pmu_context *c)
{
    struct montecito *m = (struct montecito *)pmu;
    const unsigned code = signal >> 8 & 0xff;
    const unsigned lines = signal & 0xff;

    if (count_plain(&m->thread[strand], code, lines, n, c->cycles))
        return;
    if (code == MONTECITO_L1I_EAR || code == MONTECITO_DATA_EAR) {
        candidate(m, strand, code, n, c);
        return;
    }
    count(m, credited(m, strand, code, lines), code, lines, n, c->cycles, c);
}

/* Retires n instructions in one cycle. IA64_INST_RETIRED and
 * IA64_TAGGED_INST_RETIRED are unit masks, one for each tag channel, of one
 * code. */
void
montecito_retire(struct tally_pmu *pmu, unsigned strand, uint64_t n,
                 const struct tally_pmu_context *c)
{
    struct montecito *m = (struct montecito *)pmu;
    struct montecito_thread *t = &m->thread[strand];
    uint32_t hits = 0;

    for (unsigned channel = 0; channel < 4; channel++)
        hits |= hits_of(m, strand, MONTECITO_INST_RETIRED, channel, c);
    count_hits(m, strand, hits, n, 1, c);

    const uint64_t entries = montecito_trace_retire(t, n, c);

    /* Empty context: the filters have been applied to the entries already. */
    if (entries != 0)
        count(m, strand, MONTECITO_ETB_EVENT, 0, 1, entries,
              &(struct tally_pmu_context){.pc = c->pc, .npc = c->npc});
}
