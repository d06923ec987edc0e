/* SPDX-License-Identifier: MIT */
/*
 * Montecito's PMU, one for each hardware thread: strands 2k and 2k + 1 are the
 * threads of core k. montecito.c has registers, processor state and the
 * interrupt; montecito_count.c the counters; montecito_filter.c the filters
 * that narrow events to instructions and data; montecito_ear.c the event
 * address registers; montecito_trace.c the trace buffer and the IP-EAR;
 * montecito_pal.c the facts that firmware reports.
 *
 * Manual: Dual-Core Update to the Intel Itanium 2 Processor Reference Manual,
 * revision 0.9, chapter 3.
 */
#ifndef TALLY_PMU_MONTECITO_H
#define TALLY_PMU_MONTECITO_H

#include "pmu/pmu.h"

#define MONTECITO_COUNTERS 12 /* PMC/PMD4 to 15; six duplicated, six banked */
#define MONTECITO_FIRST 4
#define MONTECITO_DUPLICATED 6

/* Codes with a meaning of their own. */
#define MONTECITO_INST_RETIRED 0x08
#define MONTECITO_ETB_EVENT 0x11
#define MONTECITO_CPU_OP_CYCLES 0x12
#define MONTECITO_CYCLES_HALTED 0x18
#define MONTECITO_L1I_EAR 0x43
#define MONTECITO_DATA_EAR 0xc8

/* PMC0 */
#define MONTECITO_FR UINT64_C(1)

/* PMC4 to 15; PMC39, 40 and 42 have plm and pm at the same bits. */
#define MONTECITO_PLM(pmc) ((pmc)&0xf)
#define MONTECITO_EV (UINT64_C(1) << 4)
#define MONTECITO_OI (UINT64_C(1) << 5)
#define MONTECITO_PM (UINT64_C(1) << 6)
#define MONTECITO_ES(pmc) ((unsigned)((pmc) >> 8 & 0xff))
#define MONTECITO_UMASK(pmc) ((unsigned)((pmc) >> 16 & 0xf))
#define MONTECITO_THRESHOLD(pmc) ((unsigned)((pmc) >> 20 & 7))
#define MONTECITO_ISM(pmc) ((unsigned)((pmc) >> 24 & 3))
#define MONTECITO_ALL (UINT64_C(1) << 26)
#define MONTECITO_MESI(pmc) ((unsigned)((pmc) >> 27 & 0xf))

/* PSR */
#define MONTECITO_PSR_UP (UINT64_C(1) << 2)
#define MONTECITO_PSR_IC (UINT64_C(1) << 13)
#define MONTECITO_PSR_I (UINT64_C(1) << 14)
#define MONTECITO_PSR_SP (UINT64_C(1) << 20)
#define MONTECITO_PSR_PP (UINT64_C(1) << 21)
#define MONTECITO_PSR_CPL(psr) ((unsigned)((psr) >> 32 & 3))
#define MONTECITO_PSR_IS (UINT64_C(1) << 34)

/* Filters that narrow an event: the instruction's address, its opcode, or the
 * combination of both and the data address that PMC41 selects. */
#define MONTECITO_BY_RANGE 1
#define MONTECITO_BY_OPCODE 2
#define MONTECITO_BY_DATA 4

/* How a counter counts signals of its code. Derived from the counter's PMC, and
 * from PMCs that govern it, whenever one of them is written. */
struct montecito_counter {
    bool counts;   /* false: the programming is undefined, or counts nothing */
    bool all;      /* counts signals of both threads */
    bool loses;    /* loses a cycle at each thread switch */
    bool bits;     /* the unit mask is a bit mask */
    bool plain;    /* counts its row's signals whatever their context */
    uint8_t lines; /* the unit mask's row; the mask itself, if a bit mask */
    uint8_t threshold; /* 0: none */
    uint8_t mesi;      /* states that count; 0xff: whatever the state */
    uint8_t narrowed;  /* MONTECITO_BY_* */
};

/* The filters of PMC32 to 36, 38 and 41, by tag channel: bit k for channel k.
 */
struct montecito_filter {
    uint8_t narrows;  /* MONTECITO_BY_* that do not let everything through */
    uint8_t ranges;   /* channels that compare the instruction range */
    uint8_t opcodes;  /* channels that compare the opcode */
    uint8_t data;     /* channels by which PMC41 narrows memory events */
    uint8_t data_tag; /* of `data`: by instruction range and opcode */
    uint8_t data_dbr; /* of `data`: by data address */
    bool illegal;     /* PMC41, 32 and 38 contradict each other: rule R170 */
};

/* State of the event address registers beside PMC and PMD (montecito_ear.c). */
struct montecito_ear {
    /* The misses that PMC37 and PMC40 capture now: kinds, bit k for enum
     * tally_pmu_miss k, and their least latency in cycles. */
    uint8_t inst_kinds, data_kinds;
    uint16_t inst_least, data_least;
    uint8_t quiet; /* clocks until a load miss can be captured again */
    bool timed;    /* retirements move the clock on */
};

/* State of the trace buffer and the IP-EAR beside PMC and PMD
 * (montecito_trace.c). */
struct montecito_trace {
    uint64_t config; /* PMC42 at the last update */
    uint64_t ip;     /* of the bundle that retired last */
    uint8_t state;   /* of the IP-EAR: enum ip_state of montecito_trace.c */
    uint8_t left;    /* cycles of the delay still to come */
    bool flushed;    /* the pipeline was flushed since the last entry */
};

struct montecito_thread {
    uint64_t pmc[64], pmd[64]; /* by number; bits 46:0 of PMD4 to 15 */
    uint64_t ibr[8], dbr[8];
    uint64_t psr, dcr, tpr, pmv;
    uint64_t pc, npc; /* of the occurrence that overflowed last */
    uint32_t flags;   /* enum tally_pmu_flag */
    bool active;      /* owns its core */
    bool halted;
    bool pmi;        /* a performance monitor interrupt is pending */
    bool notify;     /* an external notification is pending */
    uint8_t service; /* vector that IVR still has to return; 0: none */
    struct montecito_filter filter;
    struct montecito_counter counter[MONTECITO_COUNTERS];
    /* By code: the counters that a signal of this thread may count in, bit i
     * for the thread's own counter i, bit 16 + i for the other thread's. */
    uint32_t listeners[256];
    /* Cycles that each counter has still to lose for thread switches. */
    uint32_t lost[MONTECITO_COUNTERS];
    struct montecito_ear ear;
    struct montecito_trace trace;
};

struct montecito {
    struct tally_pmu base;
    /* By code: the event's row in the machine's table, from 1; 0: none. */
    uint8_t row[256];
    /* By code: unit mask rows that count for the core's active thread. */
    uint16_t by_active[256];
    struct montecito_thread thread[];
};

/*
 * montecito_count.c: PMC and PMD4 to 15.
 */

/* Fills in m->row and m->by_active. */
void montecito_events(struct montecito *m);

/* Returns whether the counter or register of this PMC runs in the thread's
 * present mode: rule R030, for PMC4 to 15, 37, 39 and 40. The IP-EAR has a rule
 * of its own, as it outlives a freeze. */
bool montecito_enabled(const struct montecito_thread *t, unsigned pmc);

/* Derives the counters after a write of PMC4 to 15. */
void montecito_program(struct montecito *m, struct montecito_thread *t);

/* Derives which signals both threads of the core listen to, after
 * montecito_program() and whenever a mode of one of the threads changes. */
void montecito_listen(struct montecito *m, unsigned strand);

/* Members of struct pmu_ops. */
void montecito_signal(struct tally_pmu *pmu, unsigned strand, uint32_t signal,
                      uint64_t n, const struct tally_pmu_context *c);
void montecito_retire(struct tally_pmu *pmu, unsigned strand, uint64_t n,
                      const struct tally_pmu_context *c);

/*
 * montecito_filter.c
 */

/* Derives the filters after a write of PMC32 to 36, 38 or 41. */
void montecito_filter_update(struct montecito_thread *t);

/* Returns the tag channels, as bits 0 to 3, that match an instruction's address
 * and opcode. All channels match a context that names no instruction. */
unsigned montecito_tags(const struct montecito_thread *t,
                        const struct tally_pmu_context *c);

/* Returns whether an occurrence counts for an event that is narrowed by
 * MONTECITO_BY_*. `t` is the thread of the occurrence, whose filters apply
 * (rule R086). */
bool montecito_qualifies(const struct montecito_thread *t, unsigned narrowed,
                         unsigned code, unsigned lines,
                         const struct tally_pmu_context *c);

/*
 * montecito_ear.c: PMC37 and 40, PMD32 to 36. A signal of L1I_EAR_EVENTS or
 * DATA_EAR_EVENTS that passed the filters is a candidate.
 */
void montecito_ear_reset(struct montecito_thread *t);

/* Derives what is captured after a write of PMC37, 39 or 40, and whenever a
 * mode or PMC0.fr changes. */
void montecito_ear_update(struct montecito_thread *t);

/* Returns whether candidates of this code can be captured now, even if no
 * counter counts them. */
bool montecito_ear_hears(const struct montecito_thread *t, unsigned code);

/* Offers candidates, n in each of c->cycles cycles. Returns the number of
 * cycles in which one was captured and thus counts. */
uint64_t montecito_ear_capture(struct montecito_thread *t, unsigned code,
                               uint64_t n, const struct tally_pmu_context *c);

/* Moves the clock on by n retirements, each `cycles` after the one before. */
void
montecito_ear_pass(struct montecito_thread *t, uint64_t n, uint32_t cycles);

/*
 * montecito_trace.c: PMC39 and 42, PMD38, 39, 48 to 63.
 */
void montecito_trace_reset(struct montecito_thread *t);

/* Updates the IP-EAR after a write of PMC39 or 42, PMD38, 39 or 48 to 63, and
 * whenever a mode (PSR, active, halted) or PMC0.fr has changed. */
void montecito_trace_update(struct montecito_thread *t);

/* Retires n equal instructions. Returns how many entries they make for
 * ETB_EVENT, one a cycle. Must be called while frozen too, for the delay of the
 * IP-EAR. */
uint64_t montecito_trace_retire(struct montecito_thread *t, uint64_t n,
                                const struct tally_pmu_context *c);

#endif
