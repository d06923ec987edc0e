/* SPDX-License-Identifier: MIT */
/*
 * Virtual counters as IRIX makes them from few hardware counters. Each process,
 * called an owner here, has 32 counters of 64 bits. Their events take turns on
 * the hardware counters at clock ticks, and leave and return with the process.
 * In system mode the counters are the machine's, for each CPU and in sum.
 * Source: r10k_evcntrs(5). Rules I20 to I72; each call names the rules that it
 * follows.
 *
 * Below this module are the PMUs of the CPUs (struct virtual_pmu_ops). Above it
 * is a scheduler (struct virtual_kernel_ops), which says which owner runs on
 * which CPU, when the clock ticks, when a counter interrupts, and when
 * processes begin and end. The scheduler also has the /proc files, the copies
 * to and from a process, and prusage.
 *
 * Freestanding: no allocation, no system. All memory is the caller's. Calls on
 * one system must not overlap, nor be made from that system's operations.
 */
#ifndef TALLY_COUNTER_VIRTUAL_H
#define TALLY_COUNTER_VIRTUAL_H

#include "counter/counter.h"

#define VIRTUAL_EVENTS 32   /* virtual counters of an owner */
#define VIRTUAL_HARDWARE 32 /* counters of a CPU, at most */
#define VIRTUAL_SIGNALS 32  /* the greatest number of a signal */

/* Errors, with the numbers of errno, negated. */
enum virtual_error {
    VIRTUAL_EPERM = -1,
    VIRTUAL_EBUSY = -16,
    VIRTUAL_EINVAL = -22,
};

/* A specifier is event << 5, plus these bits (I50). 0: the event is not wanted
 * (I51). */
enum virtual_bits {
    VIRTUAL_EXCEPTION = 1 << 0, /* EXL: kernel mode as an exception begins */
    VIRTUAL_KERNEL = 1 << 1,
    VIRTUAL_SUPERVISOR = 1 << 2,
    VIRTUAL_USER = 1 << 3,
    VIRTUAL_MODES = 0xf,
    VIRTUAL_INTERRUPT = 1 << 4,
};

/*
 * What is to be counted, by index of the virtual counter (I52). After each
 * `threshold` occurrences the owner gets the signal, whether the specifier has
 * the interrupt bit or not; 0: never. The signal is 1 to 32; 0: none.
 */
struct virtual_request {
    uint16_t spec[VIRTUAL_EVENTS];
    int32_t threshold[VIRTUAL_EVENTS];
    int32_t signal;
};

/*
 * A range of code with its buckets. The bucket of a pc is
 * (pc - offset) / 2 * scale / 65536, as in sprofil(2). A full bucket stays at
 * its highest value. A pc counts in the first range that has a bucket for it.
 */
struct virtual_range {
    uint64_t offset;
    uint32_t scale;
    uint32_t count;
    uint16_t *buckets;
};

struct virtual_owner;

/* The PMUs of all CPUs, which are alike. `pmu` is the pointer that
 * virtual_init() was given. */
struct virtual_pmu_ops {
    unsigned counters; /* of a CPU, 1 to VIRTUAL_HARDWARE */
    unsigned width;    /* bits of a counter, 2 to 64 */
    uint64_t limit;    /* the value that interrupts: from half of 2^width, as on
                          R10000, up to 2^width, where a counter wraps */
    /* Returns which counters can count the specifier under this index, as bits;
     * 0: the specifier is wrong. */
    uint32_t (*places)(void *pmu, unsigned index, uint16_t spec);
    /* Returns whether events that are each possible are possible together.
     * NULL: all are. */
    bool (*fits)(void *pmu, const struct virtual_request *request);
    /* Has the counter count this specifier, whose interrupt bit is always set.
     * With 0 the counter counts nothing and does not interrupt. */
    void (*control)(void *pmu, unsigned cpu, unsigned counter, unsigned index,
                    uint16_t spec);
    uint64_t (*read)(void *pmu, unsigned cpu, unsigned counter);
    /* Sets the counter, and clears its overflow. */
    void (*write)(void *pmu, unsigned cpu, unsigned counter, uint64_t value);
};

/* The scheduler. `kernel` is the pointer that virtual_init() was given. */
struct virtual_kernel_ops {
    uint64_t (*time)(void *kernel, unsigned cpu); /* ns */
    /* Sends the signal: the event at `index` has reached its threshold. */
    void (*signal)(void *kernel, struct virtual_owner *owner, int signal,
                   unsigned index);
    /* Fills in the usage that virtual_read_usage() returns with the counters.
     * False: there is none. NULL: there never is any. */
    bool (*usage)(void *kernel, const struct virtual_owner *owner, void *usage);
};

/* The structs from here to the calls are private: the caller has them in
 * memory, but reads and writes only the members that say so. */

/* A request with the events on each hardware counter, as bits. */
struct virtual_plan {
    struct virtual_request request;
    uint32_t chosen;
    uint32_t on[VIRTUAL_HARDWARE];
};

/* The counts of an owner, or of a CPU in system mode. */
struct virtual_block {
    uint64_t count[VIRTUAL_EVENTS];
    uint64_t running[VIRTUAL_EVENTS];
    uint64_t enabled[VIRTUAL_EVENTS]; /* before `from` */
    uint64_t from[VIRTUAL_EVENTS];    /* clock when the plan chose the event */
    uint64_t clock;                   /* time on a CPU */
    uint32_t left[VIRTUAL_EVENTS];    /* occurrences to the threshold */
    uint8_t turn[VIRTUAL_HARDWARE];   /* the event on each counter */
};

struct virtual_owner {
    /* The caller may write these three at any time. */
    uint32_t group;
    bool root;
    void *user;

    bool active; /* user mode, unless `era` is over */
    bool save;   /* I24: the parent gets the counts at the exit */
    bool summed; /* the counts are the whole system's */
    int32_t cpu; /* -1: the owner does not run */
    int32_t generation;
    uint64_t era;
    const struct virtual_range *ranges;
    uint32_t range_count;
    struct virtual_plan plan;
    struct virtual_block block;
};

struct virtual_cpu {
    struct virtual_owner *owner; /* runs here; NULL: none does */
    /* The owner's, or those of system mode; NULL: nothing counts. */
    const struct virtual_plan *plan;
    struct virtual_block *block;
    uint64_t entered;                 /* time when the block came to the CPU */
    uint64_t since[VIRTUAL_HARDWARE]; /* time when the counter was set */
    uint64_t base[VIRTUAL_HARDWARE];  /* the counter's value then */
    uint64_t pc;
    struct virtual_block own; /* counts of system mode */
};

struct virtual_system {
    const struct virtual_pmu_ops *ops;
    void *pmu;
    const struct virtual_kernel_ops *kernel_ops;
    void *kernel;
    struct virtual_cpu *cpus;
    unsigned count;
    bool active; /* system mode */
    int32_t generation;
    uint64_t era; /* acquisitions in system mode */
    struct virtual_owner
        *holder; /* started system mode through its /proc file */
    struct virtual_owner *watcher; /* gets the signals */
    struct virtual_plan plan;
    struct counter_reading global[VIRTUAL_EVENTS]; /* sum of all CPUs */
};

/* Makes a system in which nothing runs and nothing counts. Returns 0, or
 * VIRTUAL_EINVAL. */
int
virtual_init(struct virtual_system *system, const struct virtual_pmu_ops *ops,
             void *pmu, const struct virtual_kernel_ops *kernel_ops,
             void *kernel, struct virtual_cpu *cpus, unsigned count);

/* Makes an owner for a process that has no parent in the system. */
void virtual_owner_init(struct virtual_owner *owner, uint32_t group, bool root);

/*
 * Scheduling. `pc` is the program counter at which the CPU was interrupted;
 * profiles count this pc.
 */

/* Has `owner` (NULL: nobody) run on the CPU, instead of the owner that ran
 * there. Returns 0, or VIRTUAL_EINVAL: `owner` runs on another CPU. I25 I34 */
int virtual_switch(struct virtual_system *system, unsigned cpu,
                   struct virtual_owner *owner, uint64_t pc);

/* Gives each counter that several events share to the next event. I21 I22 */
void virtual_tick(struct virtual_system *system, unsigned cpu, uint64_t pc);

/* Serves the interrupt of a counter that has reached the limit. I31 I60 I63 */
void virtual_overflow(struct virtual_system *system, unsigned cpu, uint64_t pc);

/* Makes `child` a copy of the parent with all counts zero. The caller does not
 * initialize `child`. I23 */
void virtual_fork(struct virtual_system *system, struct virtual_owner *parent,
                  struct virtual_owner *child);

/* Ends the owner; the caller may free the owner's memory. `parent` NULL: the
 * parent has ended; `waiting`: the parent waits for the owner. I24 */
void virtual_exit(struct virtual_system *system, struct virtual_owner *owner,
                  struct virtual_owner *parent, bool waiting);

/*
 * The calls of /proc. `target` is the process whose file is used; `caller` must
 * be of the same group, or root: else VIRTUAL_EPERM. The calls return a
 * generation number above 0, unless their comment says otherwise. Of several
 * errors they return the first in this order: a wrong caller, VIRTUAL_EINVAL,
 * VIRTUAL_EPERM, VIRTUAL_EBUSY.
 */

/*
 * Zeroes the counts and starts counting: in system mode if root requests kernel
 * mode for any event (I30), else in user mode. VIRTUAL_EINVAL: there is no
 * event, an event that the PMUs lack or that has no mode, a negative threshold,
 * or a signal that does not exist. VIRTUAL_EPERM: a caller who is not root
 * requests another mode than the user's (I41). VIRTUAL_EBUSY: system mode is in
 * use, or the request is for system mode and a CPU counts in user mode (I33).
 * PIOCENEVCTRS
 */
int
virtual_start(struct virtual_system *system, const struct virtual_owner *caller,
              struct virtual_owner *target,
              const struct virtual_request *request);

/* Reads the target's counts. The holder of system mode reads the sum of all
 * CPUs (I32). PIOCGETEVCTRS */
int
virtual_read(struct virtual_system *system, const struct virtual_owner *caller,
             struct virtual_owner *target,
             struct counter_reading readings[VIRTUAL_EVENTS]);

/* Reads the target's counts, and the scheduler's usage of the target.
 * VIRTUAL_EINVAL: there is no usage. PIOCGETPREVCTRS */
int virtual_read_usage(struct virtual_system *system,
                       const struct virtual_owner *caller,
                       struct virtual_owner *target,
                       struct counter_reading readings[VIRTUAL_EVENTS],
                       void *usage);

/* Returns the specifiers that count: all zero if none does. PIOCGETEVCTRL */
int
virtual_control(struct virtual_system *system,
                const struct virtual_owner *caller,
                struct virtual_owner *target, uint16_t spec[VIRTUAL_EVENTS]);

/*
 * Changes the events. Counts go on; thresholds and turns begin anew; the
 * generation is a new one (I40). Errors: those of virtual_start(), and
 * VIRTUAL_EINVAL: the target has no counters, or would change between user mode
 * and system mode. PIOCSETEVCTRL
 */
int
virtual_change(struct virtual_system *system,
               const struct virtual_owner *caller, struct virtual_owner *target,
               const struct virtual_request *request);

/* Stops counting. The counts can still be read (I26). Returns 0, also if
 * nothing counted. VIRTUAL_EPERM: only root releases system mode. PIOCRELEVCTRS
 */
int virtual_release(struct virtual_system *system,
                    const struct virtual_owner *caller,
                    struct virtual_owner *target);

/* Has the target's parent get the target's counts at the target's exit. Returns
 * 0. PIOCSAVECCNTRS */
int
virtual_save(struct virtual_system *system, const struct virtual_owner *caller,
             struct virtual_owner *target);

/* The calls of syssgi(SGI_EVENTCTR). The system has a generation of its own. */

/*
 * Starts the caller in user mode, and counts in buckets at which pc an event
 * reached a threshold (I62). The owner keeps the ranges until it starts anew,
 * releases the counters or exits; a child has none. VIRTUAL_EINVAL: a cause of
 * virtual_start(), no range, a range without buckets, no threshold, or a
 * request for system mode. HWPERF_PROFENABLE
 */
int virtual_profile(struct virtual_system *system, struct virtual_owner *caller,
                    const struct virtual_request *request,
                    const struct virtual_range *ranges, uint32_t count);

/* Starts system mode, and takes the counters from every owner that has them in
 * user mode (I36). System mode outlives the caller. VIRTUAL_EPERM: the caller
 * is not root; VIRTUAL_EINVAL: a cause of virtual_start(), or no event in
 * kernel mode; VIRTUAL_EBUSY: system mode is in use. HWPERF_ENSYSCNTRS */
int virtual_system_start(struct virtual_system *system,
                         struct virtual_owner *caller,
                         const struct virtual_request *request);

/* Reads the sum of all CPUs; after the release, the last sum.
 * HWPERF_GET_SYSCNTRS */
int virtual_system_read(struct virtual_system *system,
                        struct counter_reading readings[VIRTUAL_EVENTS]);

/* Reads the counts of one CPU. Returns 0 if there is no such CPU.
 * HWPERF_GET_CPUCNTRS */
int virtual_system_read_cpu(struct virtual_system *system, unsigned cpu,
                            struct counter_reading readings[VIRTUAL_EVENTS]);

/* Returns the specifiers of system mode. VIRTUAL_EINVAL: system mode is not in
 * use. HWPERF_GET_SYSEVCTRL */
int virtual_system_control(struct virtual_system *system,
                           uint16_t spec[VIRTUAL_EVENTS]);

/* Changes the events of system mode. VIRTUAL_EPERM: the caller is not root;
 * VIRTUAL_EINVAL: a cause of virtual_start(), no event in kernel mode, or
 * system mode is not in use. HWPERF_SET_SYSEVCTRL */
int virtual_system_change(struct virtual_system *system,
                          const struct virtual_owner *caller,
                          const struct virtual_request *request);

/* Ends system mode. Owners that lost the counters to it do not get them back
 * (I37). Returns 0, also if system mode was not in use. VIRTUAL_EPERM: the
 * caller is not root. HWPERF_RELSYSCNTRS */
int virtual_system_release(struct virtual_system *system,
                           const struct virtual_owner *caller);

#endif
