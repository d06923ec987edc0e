/* SPDX-License-Identifier: MIT */
/*
 * Register-accurate performance monitors of UltraSPARC T1, T2 and T2 Plus,
 * SPARC T4, R10000, R12000 and Montecito, for embedding: an emulator, a
 * hypervisor or a test bench raises signals, and reads and writes the registers
 * as its guest's software does.
 *
 * Freestanding: no allocation, no system, no global state. A monitor lives in
 * memory of its caller and holds no pointer into itself, so a copy of that
 * memory is a snapshot (tally_pmu_copy()). Calls on one monitor must not
 * overlap; different monitors are independent.
 *
 * A monitor has strands (hardware threads), numbered from 0; each has its
 * counters and its processor state, which says in what mode it runs. Counters
 * of memory controllers, buses and hubs belong to the whole monitor.
 *
 * Functions that can fail return a negative enum tally_error for a mistake of
 * the embedder. What the real chip would answer with a trap they return as
 * that trap, a positive enum tally_pmu_trap.
 */
#ifndef TALLY_PMU_H
#define TALLY_PMU_H

#include <stddef.h>
#include <stdint.h>

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/* @since 0.1 */
struct tally_pmu;

/*
 * Who asks. MIPS and Itanium have no hyperprivileged level: there it is the
 * same as privileged.
 *
 * @since 0.1
 */
enum tally_pmu_level {
    TALLY_PMU_USER,
    TALLY_PMU_PRIVILEGED,
    TALLY_PMU_HYPERPRIVILEGED,
};

/*
 * Traps and interrupts, as bits, for several can be pending at once. The first
 * eight answer an access, the others are raised by counters.
 *
 * @since 0.1
 */
enum tally_pmu_trap {
    TALLY_PMU_PRIVILEGED_OPCODE = 1 << 0,
    TALLY_PMU_PRIVILEGED_ACTION = 1 << 1,
    TALLY_PMU_ILLEGAL_INSTRUCTION = 1 << 2,
    TALLY_PMU_DATA_ACCESS_EXCEPTION = 1 << 3,
    TALLY_PMU_COPROCESSOR_UNUSABLE = 1 << 4, /* MIPS */
    TALLY_PMU_PRIVILEGED_OPERATION = 1 << 5, /* Itanium */
    TALLY_PMU_RESERVED_FIELD = 1 << 6,       /* Itanium */
    TALLY_PMU_PIC_OVERFLOW = 1 << 8,         /* UltraSPARC T1, T2, T2 Plus */
    TALLY_PMU_PRECISE_EVENT = 1 << 9,        /* SPARC T4 */
    TALLY_PMU_DISRUPTING_EVENT = 1 << 10,    /* SPARC T4 */
    TALLY_PMU_COUNTER_INTERRUPT = 1 << 11,   /* MIPS: IP[7] */
    TALLY_PMU_MONITOR_INTERRUPT = 1 << 12,   /* Itanium */
    TALLY_PMU_NOTIFICATION = 1 << 13,        /* Itanium: PMC.ev, a pin */
};

/*
 * What a monitor knows of a strand's processor state. A field that the machine
 * lacks cannot be set.
 *
 * @since 0.1
 */
enum tally_pmu_state {
    /* An enum tally_pmu_level. On MIPS and Itanium short for KSU, EXL and ERL,
     * or for the current privilege level. */
    TALLY_PMU_LEVEL,
    TALLY_PMU_KSU, /* MIPS Status: 0 kernel, 1 supervisor, 2 user */
    TALLY_PMU_EXL,
    TALLY_PMU_ERL,
    TALLY_PMU_CPL, /* Itanium PSR: 0 most privileged to 3 */
    TALLY_PMU_UP,
    TALLY_PMU_PP,
    TALLY_PMU_SP,
    TALLY_PMU_IS,
    TALLY_PMU_I,
    TALLY_PMU_IC,
    TALLY_PMU_ACTIVE, /* Itanium: the thread owns its core; one of two does */
    TALLY_PMU_HALTED, /* Itanium: low-power halt; T4: halted or parked */
    TALLY_PMU_STATES
};

/*
 * Departures from the documents that some users need; see the machine's page.
 *
 * @since 0.1
 */
enum tally_pmu_flag {
    /* T2 Plus: Zambezi registers also under version 1.0 of the calls. */
    TALLY_PMU_LENIENT_API = 1 << 0,
    /* T4: an overflow is not armed again unless the PCR was off around the
     * write of the PIC, as on real chips (rule T4-R38). */
    TALLY_PMU_REARM_QUIRK = 1 << 1,
    /* T4: count registers 23 of controllers 2 and 3 are absent, as TABLE 10-6
     * prints it (rule T4-R70). */
    TALLY_PMU_PRINTED_DRAM = 1 << 2,
    /* Montecito: a fine range includes its limits (decision X29). */
    TALLY_PMU_FINE_INCLUSIVE = 1 << 3,
    /* Montecito: .all works in banked counters, which lose a cycle at each
     * thread switch (decision X53). */
    TALLY_PMU_BANKED_ALL = 1 << 4,
    /* Montecito: PAL_PERF_MON_INFO as Table 3-34 prints it (decision X18). */
    TALLY_PMU_PRINTED_PAL = 1 << 5,
    /* sun4v: the guest may not count in hyperprivileged mode. */
    TALLY_PMU_DENY_HT = 1 << 6,
    /* sun4v: the guest has no access to performance registers. */
    TALLY_PMU_DENY_GUEST = 1 << 7,
};

/* @since 0.1 */
struct tally_pmu_options {
    size_t size;         /* sizeof, as tally_pmu_options_init() sets it */
    const char *machine; /* a name or alias: "sparc-t4" */
    uint32_t strands;    /* 0: as many as the chip has */
    uint32_t nodes;      /* T2 Plus: 1, 2 or 4; 0 is 1 */
    uint32_t flags;      /* enum tally_pmu_flag */
};

/*
 * All members 0 but `size`, which is sizeof(struct tally_pmu_options).
 *
 * @since 0.1
 */
TALLY_API void
tally_pmu_options_init(struct tally_pmu_options *options, size_t size);

/*
 * Bytes that a monitor takes, a multiple of 16; 0 if the options are wrong.
 *
 * @since 0.1
 */
TALLY_API size_t tally_pmu_size(const struct tally_pmu_options *options);

/*
 * Makes a monitor, reset, in `memory`, which the caller owns, aligned to 16
 * bytes, and may drop at any time. 0, TALLY_EUNKNOWN for the machine,
 * TALLY_ERANGE for another option or memory that is not so aligned,
 * TALLY_ENOMEM if `size` is too little. *pmu is untouched on error.
 *
 * @since 0.1
 */
TALLY_API int
tally_pmu_init(void *memory, size_t size,
               const struct tally_pmu_options *options, struct tally_pmu **pmu);

/*
 * As after the chip's hardware reset and what its firmware does then; what the
 * document leaves undefined becomes 0.
 *
 * @since 0.1
 */
TALLY_API void tally_pmu_reset(struct tally_pmu *pmu);

/*
 * Snapshot and restore: `to` becomes what `from` is. Both have been made with
 * the same options; TALLY_ERANGE otherwise.
 *
 * @since 0.1
 */
TALLY_API int
tally_pmu_copy(struct tally_pmu *to, const struct tally_pmu *from);

/* @since 0.1 */
TALLY_API unsigned tally_pmu_strands(const struct tally_pmu *pmu);

/*
 * A register by its name or alias of tally-list(1), whatever the case, and the
 * name of a register; -1, NULL if there is none. Registers are numbered from 0
 * in the order of that list.
 *
 * @since 0.1
 */
TALLY_API int
tally_pmu_register_find(const struct tally_pmu *pmu, const char *name);
TALLY_API const char *
tally_pmu_register_name(const struct tally_pmu *pmu, unsigned id);

/*
 * Software at `level` on `strand` reads or writes a register. 0, or the trap
 * that it would take; *value is untouched then. TALLY_ERANGE if there is no
 * such strand or register.
 *
 * @since 0.1
 */
TALLY_API int
tally_pmu_read(struct tally_pmu *pmu, unsigned strand, unsigned id,
               enum tally_pmu_level level, uint64_t *value);
TALLY_API int
tally_pmu_write(struct tally_pmu *pmu, unsigned strand, unsigned id,
                enum tally_pmu_level level, uint64_t value);

/*
 * Sets and gets processor state. TALLY_ERANGE for a field that the machine
 * lacks, or a value that it cannot have.
 *
 * @since 0.1
 */
TALLY_API int tally_pmu_set_state(struct tally_pmu *pmu, unsigned strand,
                                  enum tally_pmu_state state, uint64_t value);
TALLY_API int tally_pmu_state(const struct tally_pmu *pmu, unsigned strand,
                              enum tally_pmu_state state, uint64_t *value);

/*
 * The field named as in the manual ("ksu", "cpl"), whatever the case; -1 if no
 * machine has it.
 *
 * @since 0.1
 */
TALLY_API int tally_pmu_state_find(const char *name);

/*
 * A signal is what a counter can choose: a group (sl, or the event's code or
 * number) and the lines of it that are up at once (mask bits; the unit mask).
 * A counter that has chosen several of these lines counts once.
 *
 * @since 0.1
 */
#define TALLY_PMU_SIGNAL(unit, instance, group, lines)     \
    ((uint32_t)(unit) << 24 | (uint32_t)(instance) << 16 | \
     (uint32_t)(group) << 8 | (uint32_t)(lines))

/* Whose signal it is; all but the first have instances. @since 0.1 */
enum tally_pmu_unit {
    TALLY_PMU_CPU,
    TALLY_PMU_DRAM,
    TALLY_PMU_JBUS,
    TALLY_PMU_LPU,
    TALLY_PMU_GPD,
    TALLY_PMU_ASU,
    TALLY_PMU_UNITS
};

/*
 * The signal of an event, by a name of tally-list(1), whatever the case, or
 * EVENT.UMASK; "MCU1/mem_reads" and "dram/mem_reads" name an instance of a
 * unit, or its first. 0 and *signal, or TALLY_EUNKNOWN.
 *
 * @since 0.1
 */
TALLY_API int tally_pmu_signal_find(const struct tally_pmu *pmu,
                                    const char *name, uint32_t *signal);

/* What an instruction, or an occurrence, was. @since 0.1 */
enum tally_pmu_flags {
    TALLY_PMU_NEXT_TO_COMMIT = 1 << 0, /* T4: it completes before the trap */
    TALLY_PMU_TAKEN = 1 << 1,          /* from here on Itanium */
    TALLY_PMU_TARGET_MISPREDICTED = 1 << 2,
    TALLY_PMU_PATH_MISPREDICTED = 1 << 3,
    TALLY_PMU_RETURN = 1 << 4,   /* a return branch */
    TALLY_PMU_INDIRECT = 1 << 5, /* an indirect branch that is no return */
    TALLY_PMU_RFI = 1 << 6,
    TALLY_PMU_EXCEPTION = 1 << 7,
    TALLY_PMU_CHK_FAILED = 1 << 8,
    TALLY_PMU_PREFETCH = 1 << 9,    /* tagged as a prefetch, not a demand */
    TALLY_PMU_FLUSH = 1 << 10,      /* the pipeline was flushed before it */
    TALLY_PMU_NO_ADDRESS = 1 << 11, /* no instruction address: an RSE load */
    TALLY_PMU_BACK_END_FLUSH = 1 << 12,
    /* T2 Plus: what served a miss of the L2: memory of the strand's node, of
     * another node, or another cache. */
    TALLY_PMU_LOCAL = 1 << 13,
    TALLY_PMU_REMOTE = 1 << 14,
    TALLY_PMU_CACHE = 1 << 15,
    TALLY_PMU_NO_BRANCH = 1 << 16, /* Itanium: of type 'B', yet no branch */
    /* Itanium: it retires in the cycle and bundle of the one before. */
    TALLY_PMU_SAME_BUNDLE = 1 << 17,
};

/* Where a miss of an event address register was served. @since 0.1 */
enum tally_pmu_miss {
    TALLY_PMU_MISS_CACHE,
    TALLY_PMU_MISS_RAB,
    TALLY_PMU_MISS_TLB2,
    TALLY_PMU_MISS_VHPT,
    TALLY_PMU_MISS_FAULT,
    TALLY_PMU_MISS_ALAT,
};

/*
 * What is known of an occurrence; all zero but `cycles` = 1 where nothing is.
 *
 * @since 0.1
 */
struct tally_pmu_context {
    uint64_t pc;      /* of the instruction; Itanium: of its bundle */
    uint64_t npc;     /* SPARC: of the next; Itanium: the branch target */
    uint64_t ea;      /* data address, if any */
    uint64_t opcode;  /* Itanium: 41 bits */
    uint32_t flags;   /* enum tally_pmu_flags */
    uint32_t latency; /* of a miss, cycles */
    uint32_t cycles;  /* n occurrences in each of so many cycles; at least 1.
                         Retirement: cycles since the one before */
    uint8_t slot;     /* Itanium: 0 to 2 */
    uint8_t type;     /* Itanium: 'M', 'I', 'F', 'B', 'A', or 0: unknown */
    uint8_t mesi;     /* Itanium: the line's state, bits I 1, S 2, E 4, M 8 */
    uint8_t miss;     /* enum tally_pmu_miss */
    uint8_t lines;    /* retirement: the lines of the instruction's class */
    uint8_t known;    /* 1: there is an instruction at pc; 2: ea is known */
};

/*
 * `signal` rises on `strand`, `n` times, in the strand's present mode; context
 * may be NULL. The traps now pending of the strand, enum tally_pmu_trap bits; 0
 * if no counter has chosen the signal. An unknown strand or signal counts
 * nowhere.
 *
 * @since 0.1
 */
TALLY_API uint32_t tally_pmu_signal(struct tally_pmu *pmu, unsigned strand,
                                    uint32_t signal, uint64_t n,
                                    const struct tally_pmu_context *context);

/* @since 0.1 */
struct tally_pmu_total {
    uint32_t signal;
    uint32_t cycles; /* as in the context; 0 is 1 */
    uint64_t n;
};

/*
 * The same for `count` signals in order, which share the context: what a
 * machine has counted of each since the last call.
 *
 * @since 0.1
 */
TALLY_API uint32_t tally_pmu_batch(struct tally_pmu *pmu, unsigned strand,
                                   const struct tally_pmu_total *totals,
                                   size_t count,
                                   const struct tally_pmu_context *context);

/*
 * `n` instructions of the context's kind retire: raises the signals of
 * retirement that the machine derives from them, and feeds what records
 * instructions (trace buffers). The traps now pending.
 *
 * @since 0.1
 */
TALLY_API uint32_t tally_pmu_retire(struct tally_pmu *pmu, unsigned strand,
                                    uint64_t n,
                                    const struct tally_pmu_context *context);

/* The traps pending of a strand. @since 0.1 */
TALLY_API uint32_t tally_pmu_pending(const struct tally_pmu *pmu,
                                     unsigned strand);

/* What a trap's handler would find. @since 0.1 */
struct tally_pmu_taken {
    uint64_t pc, npc;  /* of the instruction that it names */
    uint32_t counters; /* bits: the counters that overflowed */
    uint32_t executed; /* 1: that instruction has completed: DONE, not RETRY */
};

/*
 * The strand takes `trap`, one bit. 0; TALLY_ERULE if it is not pending, or
 * masked by the processor state. A trap whose cause persists in a register
 * pends again.
 *
 * @since 0.1
 */
TALLY_API int
tally_pmu_take(struct tally_pmu *pmu, unsigned strand, enum tally_pmu_trap trap,
               struct tally_pmu_taken *taken);

/*
 * Montecito: what its firmware tells of the monitors (PAL_PERF_MON_INFO), of
 * the processor (CPUID family and model) and of its features
 * (PAL_PROC_GET_FEATURES, set 18: bit 16 two-way systems only, 17 low voltage,
 * 18 hyper-threading). The masks have bit n % 64 of word n / 64 for register n.
 *
 * @since 0.1
 */
struct tally_pmu_pal {
    uint64_t pmc_mask[4], pmd_mask[4];
    uint64_t cycles_mask[4], retired_mask[4]; /* counters that can count them */
    uint64_t features;
    uint32_t family, model;
    uint8_t retired, cycles; /* event codes */
    uint8_t width;           /* bits that count */
    uint8_t pairs;           /* generic counters */
};

/* 0; TALLY_EUNKNOWN for a machine without PAL. @since 0.1 */
TALLY_API int
tally_pmu_pal_info(const struct tally_pmu *pmu, struct tally_pmu_pal *pal);

/*
 * PAL_BRAND_INFO's values of this processor: 16 frequency in Hz, 17 cache size
 * in bytes, 18 frequency of the system bus in Hz, of a part of 1.6 GHz with two
 * caches of 12 MB. 0; TALLY_ERANGE for another, where PAL answers -2;
 * TALLY_EUNKNOWN for a machine without PAL.
 *
 * @since 0.1
 */
TALLY_API int tally_pmu_pal_brand(const struct tally_pmu *pmu, uint64_t which,
                                  uint64_t *value);

/*
 * A trap's name in its manual, "pic_overflow"; NULL for another value.
 *
 * @since 0.1
 */
TALLY_API const char *tally_pmu_trap_name(enum tally_pmu_trap trap);

#ifdef __cplusplus
}
#endif

#endif
