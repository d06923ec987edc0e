/* SPDX-License-Identifier: MIT */
/*
 * Virtual counters as IRIX gives them over few hardware counters: processes,
 * here owners, have 32 counters of 64 bits each; their events take turns on the
 * hardware at clock ticks, and go and come back with the process. In system
 * mode the counters are the machine's, per CPU and summed. r10k_evcntrs(5);
 * rules I20 to I72, whose numbers stand with the calls that follow them.
 *
 * Below are the CPUs' monitors, through struct virtual_monitor_ops; above is
 * whoever schedules, struct virtual_kernel_ops: it says who runs where, when
 * the clock ticks, when a counter interrupts, and when processes are born and
 * end. /proc files, copies to and from a process and prusage are its own.
 *
 * Freestanding: no allocation, no system. All memory is the caller's. Calls on
 * one system must not overlap, nor be made from its operations.
 */
#ifndef TALLY_COUNTER_VIRTUAL_H
#define TALLY_COUNTER_VIRTUAL_H

#include "counter/counter.h"

#define VIRTUAL_EVENTS 32   /* virtual counters of an owner */
#define VIRTUAL_HARDWARE 32 /* counters of a CPU, at most */
#define VIRTUAL_SIGNALS 32  /* the last signal */

/* Errors, by the numbers that errno has for them. */
enum virtual_error {
    VIRTUAL_EPERM = -1,
    VIRTUAL_EBUSY = -16,
    VIRTUAL_EINVAL = -22,
};

/* A specifier: event << 5, and these (I50). 0: the event is not wanted (I51).
 */
enum virtual_bits {
    VIRTUAL_EXCEPTION = 1 << 0, /* EXL: a transient kernel mode */
    VIRTUAL_KERNEL = 1 << 1,
    VIRTUAL_SUPERVISOR = 1 << 2,
    VIRTUAL_USER = 1 << 3,
    VIRTUAL_MODES = 0xf,
    VIRTUAL_INTERRUPT = 1 << 4,
};

/*
 * What is to be counted, by index of the virtual counter (I52). A threshold is
 * how many occurrences bring the signal, again and again, whether the specifier
 * has its interrupt bit or not; 0: none. The signal is 1 to 32, 0: none.
 */
struct virtual_request {
    uint16_t spec[VIRTUAL_EVENTS];
    int32_t threshold[VIRTUAL_EVENTS];
    int32_t signal;
};

/*
 * A range of code with its buckets: of pc the bucket
 * (pc - offset) / 2 * scale / 65536, as sprofil(2) has it. Buckets stay at
 * their highest value. The first range that has a bucket for pc counts it.
 */
struct virtual_range {
    uint64_t offset;
    uint32_t scale;
    uint32_t count;
    uint16_t *buckets;
};

struct virtual_owner;

/*
 * The monitors of all CPUs, which are alike; `monitor` is what virtual_init()
 * was given.
 */
struct virtual_monitor_ops {
    unsigned counters; /* of a CPU, 1 to VIRTUAL_HARDWARE */
    unsigned width;    /* bits of a counter, 2 to 64 */
    uint64_t limit;    /* the value that interrupts: half of 2^width, as on
                          R10000, to 2^width, where a counter wraps */
    /* Which counters can count the specifier under this index, as bits; 0: it
     * is wrong. */
    uint32_t (*places)(void *monitor, unsigned index, uint16_t spec);
    /* Whether events that are possible by themselves are so together; NULL: all
     * are. */
    bool (*fits)(void *monitor, const struct virtual_request *request);
    /* From here the counter counts this specifier, whose interrupt bit is
     * always set; of 0 nothing, and does not interrupt. */
    void (*control)(void *monitor, unsigned cpu, unsigned counter,
                    unsigned index, uint16_t spec);
    uint64_t (*read)(void *monitor, unsigned cpu, unsigned counter);
    /* Also takes an overflow away. */
    void (*write)(void *monitor, unsigned cpu, unsigned counter,
                  uint64_t value);
};

/* Who schedules, as far as the core needs it. */
struct virtual_kernel_ops {
    uint64_t (*time)(void *kernel, unsigned cpu); /* ns */
    /* The event at `index` has reached its threshold; sends the signal. */
    void (*signal)(void *kernel, struct virtual_owner *owner, int signal,
                   unsigned index);
    /* Fills in what is beside the counters of virtual_read_usage(); false: it
     * cannot. NULL if there is none. */
    bool (*usage)(void *kernel, const struct virtual_owner *owner, void *usage);
};

/* From here to the calls: the core's own, in memory of the caller. */

/* A request as it is carried out: the events on each counter, as bits. */
struct virtual_plan {
    struct virtual_request request;
    uint32_t chosen;
    uint32_t on[VIRTUAL_HARDWARE];
};

struct virtual_block {
    uint64_t count[VIRTUAL_EVENTS];
    uint64_t running[VIRTUAL_EVENTS];
    uint64_t enabled[VIRTUAL_EVENTS]; /* before `from` */
    uint64_t from[VIRTUAL_EVENTS];    /* clock at which the plan chose it */
    uint64_t clock;                   /* time on a CPU */
    uint32_t left[VIRTUAL_EVENTS];    /* occurrences to the threshold */
    uint8_t turn[VIRTUAL_HARDWARE];   /* index on each counter */
};

struct virtual_owner {
    /* The caller's, who may change them at any time. */
    uint32_t group;
    bool root;
    void *user;

    bool active; /* user mode, unless `era` is over */
    bool save;   /* I24: the parent has the counts at the exit */
    bool summed; /* the counts are the whole system's */
    int32_t cpu; /* -1: it does not run */
    int32_t generation;
    uint64_t era;
    const struct virtual_range *ranges;
    uint32_t range_count;
    struct virtual_plan plan;
    struct virtual_block block;
};

struct virtual_cpu {
    struct virtual_owner *owner; /* runs here; NULL: none does */
    /* What counts: the owner's, or those of system mode; NULL: nothing. */
    const struct virtual_plan *plan;
    struct virtual_block *block;
    uint64_t entered; /* time, of the block */
    uint64_t since[VIRTUAL_HARDWARE];
    uint64_t base[VIRTUAL_HARDWARE]; /* the counter's value then */
    uint64_t pc;
    struct virtual_block own; /* system mode */
};

struct virtual_system {
    const struct virtual_monitor_ops *ops;
    void *monitor;
    const struct virtual_kernel_ops *kernel_ops;
    void *kernel;
    struct virtual_cpu *cpus;
    unsigned count;
    bool active; /* system mode */
    int32_t generation;
    uint64_t era;                  /* acquisitions in system mode */
    struct virtual_owner *holder;  /* acquired through its /proc file */
    struct virtual_owner *watcher; /* has the signals */
    struct virtual_plan plan;
    struct counter_reading global[VIRTUAL_EVENTS];
};

/* 0, or VIRTUAL_EINVAL. Nothing runs, nothing counts. */
int virtual_init(struct virtual_system *system,
                 const struct virtual_monitor_ops *ops, void *monitor,
                 const struct virtual_kernel_ops *kernel_ops, void *kernel,
                 struct virtual_cpu *cpus, unsigned count);

/* A process that has no parent here. */
void virtual_owner_init(struct virtual_owner *owner, uint32_t group, bool root);

/*
 * Scheduling. The program counter is that of the CPU when it was interrupted;
 * it is what profiling counts.
 */

/* `owner` (NULL: none) runs on the CPU, and who did no longer. 0, or
 * VIRTUAL_EINVAL: it runs on another. I25 I34 */
int virtual_switch(struct virtual_system *system, unsigned cpu,
                   struct virtual_owner *owner, uint64_t pc);

/* Where several events share a counter, the next has its turn. I21 I22 */
void virtual_tick(struct virtual_system *system, unsigned cpu, uint64_t pc);

/* A counter of the CPU has reached the limit. I31 I60 I63 */
void virtual_overflow(struct virtual_system *system, unsigned cpu, uint64_t pc);

/* `child`, of whom the caller sets nothing before, is as the parent, its counts
 * zero. I23 */
void virtual_fork(struct virtual_system *system, struct virtual_owner *parent,
                  struct virtual_owner *child);

/* The owner ends; its memory is the caller's again. `parent` NULL: it is gone.
 * I24 */
void virtual_exit(struct virtual_system *system, struct virtual_owner *owner,
                  struct virtual_owner *parent, bool waiting);

/*
 * What /proc has, for the process whose file it is. The caller is of the same
 * group or root: VIRTUAL_EPERM otherwise. They return a generation number, more
 * than 0, unless said otherwise. Of several errors the first of this order:
 * the caller, VIRTUAL_EINVAL, VIRTUAL_EPERM, VIRTUAL_EBUSY.
 */

/*
 * Zeroes the counts and starts: in system mode if root asks for kernel mode of
 * any event (I30), in user mode otherwise. VIRTUAL_EINVAL: no event, one that
 * the monitors do not have or without a mode, a negative threshold, no such
 * signal. VIRTUAL_EPERM: any mode but user's, of one who is not root (I41).
 * VIRTUAL_EBUSY: system mode is in use; it is asked for, and a CPU counts in
 * user mode now (I33). PIOCENEVCTRS
 */
int
virtual_start(struct virtual_system *system, const struct virtual_owner *caller,
              struct virtual_owner *target,
              const struct virtual_request *request);

/* Of the holder of system mode the sum of all CPUs (I32). PIOCGETEVCTRS */
int
virtual_read(struct virtual_system *system, const struct virtual_owner *caller,
             struct virtual_owner *target,
             struct counter_reading readings[VIRTUAL_EVENTS]);

/* And what the kernel's usage() has; VIRTUAL_EINVAL if it has not.
 * PIOCGETPREVCTRS */
int virtual_read_usage(struct virtual_system *system,
                       const struct virtual_owner *caller,
                       struct virtual_owner *target,
                       struct counter_reading readings[VIRTUAL_EVENTS],
                       void *usage);

/* What is being counted: all zero if nothing is. PIOCGETEVCTRL */
int
virtual_control(struct virtual_system *system,
                const struct virtual_owner *caller,
                struct virtual_owner *target, uint16_t spec[VIRTUAL_EVENTS]);

/*
 * Counts go on, thresholds and turns begin anew; a new generation (I40). Errors
 * as of virtual_start(), and VIRTUAL_EINVAL: the target has no counters, or
 * would change between user mode and system mode. PIOCSETEVCTRL
 */
int
virtual_change(struct virtual_system *system,
               const struct virtual_owner *caller, struct virtual_owner *target,
               const struct virtual_request *request);

/* 0, also if there was nothing. Counts can still be read (I26). System mode is
 * released by root: VIRTUAL_EPERM otherwise. PIOCRELEVCTRS */
int virtual_release(struct virtual_system *system,
                    const struct virtual_owner *caller,
                    struct virtual_owner *target);

/* 0. At the exit of the target its parent has its counts. PIOCSAVECCNTRS */
int
virtual_save(struct virtual_system *system, const struct virtual_owner *caller,
             struct virtual_owner *target);

/* What syssgi(SGI_EVENTCTR) has. The system has a generation of its own. */

/*
 * Starts the caller in user mode, and counts thresholds by program counter
 * (I62). The ranges are the owner's until it starts anew, releases or exits; a
 * child has none. VIRTUAL_EINVAL, beside the causes of virtual_start(): no
 * range, one without buckets, no threshold, system mode. HWPERF_PROFENABLE
 */
int virtual_profile(struct virtual_system *system, struct virtual_owner *caller,
                    const struct virtual_request *request,
                    const struct virtual_range *ranges, uint32_t count);

/* Takes the counters from whoever has them in user mode, on every CPU (I36).
 * It outlives the caller. VIRTUAL_EPERM: not root; VIRTUAL_EINVAL: also no
 * event in kernel mode; VIRTUAL_EBUSY: system mode is in use.
 * HWPERF_ENSYSCNTRS */
int virtual_system_start(struct virtual_system *system,
                         struct virtual_owner *caller,
                         const struct virtual_request *request);

/* The sum of all CPUs; after release the last. HWPERF_GET_SYSCNTRS */
int virtual_system_read(struct virtual_system *system,
                        struct counter_reading readings[VIRTUAL_EVENTS]);

/* 0 if there is no such CPU. HWPERF_GET_CPUCNTRS */
int virtual_system_read_cpu(struct virtual_system *system, unsigned cpu,
                            struct counter_reading readings[VIRTUAL_EVENTS]);

/* VIRTUAL_EINVAL: system mode is not in use. HWPERF_GET_SYSEVCTRL */
int virtual_system_control(struct virtual_system *system,
                           uint16_t spec[VIRTUAL_EVENTS]);

/* VIRTUAL_EPERM: not root; VIRTUAL_EINVAL: also that no event counts in kernel
 * mode, or system mode is not in use. HWPERF_SET_SYSEVCTRL */
int virtual_system_change(struct virtual_system *system,
                          const struct virtual_owner *caller,
                          const struct virtual_request *request);

/* 0, also if there was nothing, or VIRTUAL_EPERM. Who lost the counters does
 * not get them back (I37). HWPERF_RELSYSCNTRS */
int virtual_system_release(struct virtual_system *system,
                           const struct virtual_owner *caller);

#endif
