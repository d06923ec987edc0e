/* SPDX-License-Identifier: MIT */
/*
 * The counters of what the program runs on: of this host (Linux perf_event),
 * or, under `tally count`, of the emulated machine. A program counts itself, a
 * thread, a process or a cpu.
 *
 *     struct tally_counter *counter;
 *     struct tally_reading now[2];
 *
 *     if (tally_counter_open(NULL, &counter) == 0 &&
 *         tally_counter_add(counter, "{instructions:u,cycles:u}") == 0 &&
 *         tally_counter_start(counter) == 0) {
 *         work();
 *         tally_counter_read(counter, now, 2);
 *     }
 *     tally_counter_close(counter);
 *
 * Names are perf's, the kernel's (pmu/term=value/, sys:tracepoint, rNNN) and
 * libpfm4's. Events in braces count at the same time and cost one read
 * together; so do software events outside braces. Every other has a counter of
 * its own and may have to share it: then running < enabled.
 *
 * On an emulated machine names are those of `tally list`, counts are exact in
 * the sense of their fidelity, never shared (running == enabled, in time of the
 * machine at a cycle an instruction), and of user mode. A thread is the one
 * that opens the handle, a process this one, a cpu a strand of the machine;
 * inherit is of threads alone, as a child process has a machine of its own.
 * Overflows are of events that instructions raise, for one handle of a thread
 * at a time, and have no descriptor.
 *
 * Threads. Different handles may be used by different threads at the same
 * time, one handle by one thread at a time. tally_counter_read(),
 * tally_counter_start(), tally_counter_stop() and tally_counter_overflows()
 * neither allocate nor lock and are safe in a signal handler, if the log is.
 *
 * fork(). A handle belongs to the process that opened it. In a child it counts
 * nothing: every call returns TALLY_ERULE and says so, except
 * tally_counter_close(), which frees the child's copy and leaves the parent's
 * alone. What the child does counts in the parent's handle if that was opened
 * with `inherit`. After exec() nothing is left of it.
 *
 * Errors are negative enum tally_error: TALLY_EIDLE where this host cannot
 * count the event (no PMU, taken, unknown to the processor), TALLY_EPERMISSION
 * where the system forbids it (perf_event_paranoid, seccomp, another's
 * process), TALLY_EUNKNOWN for a name, thread, process or cpu that there is
 * not, TALLY_ESYNTAX, TALLY_ERANGE, TALLY_ERULE for a call out of place,
 * TALLY_ENOMEM, TALLY_ESYSTEM for the rest, a lack of descriptors among it. The
 * log gets the reason in one line, with what helps.
 */
#ifndef TALLY_COUNTER_H
#define TALLY_COUNTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Events that are counted together. @since 0.1 */
struct tally_counter;

/* Whom a handle counts. @since 0.1 */
enum tally_counter_scope {
    TALLY_COUNTER_THREAD,  /* thread `id`; 0: the one that opens the handle */
    TALLY_COUNTER_PROCESS, /* all threads of process `id`, those to come too;
                            * 0: this process */
    TALLY_COUNTER_CPU,     /* whatever runs on cpu `id` */
};

/*
 * What is asked. tally_counter_options_init() sets the defaults: the calling
 * thread alone, no overflows, no log.
 *
 * @since 0.1
 */
struct tally_counter_options {
    size_t size; /* of this struct, as the caller was compiled with it */
    enum tally_counter_scope scope;
    int id;
    /* And every thread and process that the counted ones create from
     * tally_counter_add() on. */
    bool inherit;
    /* The first event added overflows after each so many, below 2^63; 0: never.
     * For a thread without `inherit`, or a cpu. */
    uint64_t period;
    /* Sent to the thread that opens the handle at each overflow; 0: none. The
     * program brings the handler: the library installs none. */
    int signal;
    struct tally_log log; /* its `user` lives until the handle is closed */
};

/*
 * Sets the first `size` bytes of `options`, sizeof(*options) for callers, to
 * the defaults.
 *
 * @since 0.1
 */
TALLY_API void
tally_counter_options_init(struct tally_counter_options *options, size_t size);

/*
 * A handle without events, which is the caller's to close. NULL options: the
 * defaults. On failure *counter is untouched.
 *
 * @since 0.1
 */
TALLY_API int tally_counter_open(const struct tally_counter_options *options,
                                 struct tally_counter **counter);

/*
 * Adds the events of a list, all or, on failure, none; not while the handle
 * counts. A unit outside the cores counts for everybody, on the cpus it names,
 * whatever the scope. A process has its threads listed here: one that another
 * thread creates meanwhile may be missed.
 *
 * @since 0.1
 */
TALLY_API int
tally_counter_add(struct tally_counter *counter, const char *events);

/*
 * How many events there are. More than names were added where a name stands
 * for several: a generic one on a processor with two kinds of cores.
 *
 * @since 0.1
 */
TALLY_API size_t tally_counter_count(const struct tally_counter *counter);

/* An event of a handle, whose texts are the handle's. @since 0.1 */
struct tally_counted {
    const char *name; /* as it was added */
    const char *unit; /* of value * scale; "" for a plain number */
    double scale;
};

/*
 * The event at `index`, in the order added. 0, or TALLY_ERANGE after the last;
 * *counted is then untouched.
 *
 * @since 0.1
 */
TALLY_API int tally_counter_event(const struct tally_counter *counter,
                                  size_t index, struct tally_counted *counted);

/* Counts from here on, beginning with what was counted. @since 0.1 */
TALLY_API int tally_counter_start(struct tally_counter *counter);

/* Counts no more. @since 0.1 */
TALLY_API int tally_counter_stop(struct tally_counter *counter);

/*
 * What an event has counted since it was added or reset, in all threads of the
 * scope: those that ended included.
 *
 * @since 0.1
 */
struct tally_reading {
    uint64_t value;   /* not scaled */
    uint64_t enabled; /* ns between start and stop, summed over the threads */
    uint64_t running; /* ns of these that it had a counter */
};

/*
 * Reads each event, in the order added; `max`, the room in `readings`, is at
 * least tally_counter_count(), else TALLY_ERANGE. On the thread that opened the
 * handle for itself without `inherit` this is no system call where the kernel
 * and the processor allow; elsewhere it is one for each group and thread.
 * TALLY_EIDLE if a pinned event has lost its counter. After a failure the
 * readings are undefined.
 *
 * @since 0.1
 */
TALLY_API int tally_counter_read(const struct tally_counter *counter,
                                 struct tally_reading *readings, size_t max);

/* Values and times start at 0 again; counting goes on if it did. @since 0.1 */
TALLY_API int tally_counter_reset(struct tally_counter *counter);

/*
 * value * enabled / running, rounded: what the event would have counted with a
 * counter of its own. 0, or TALLY_EIDLE if it never ran and nothing is known;
 * *scaled is then untouched.
 *
 * @since 0.1
 */
TALLY_API int
tally_reading_scaled(const struct tally_reading *reading, uint64_t *scaled);

/* @since 0.1 */
struct tally_overflow {
    uint64_t ip;      /* of the instruction, or one soon after */
    uint64_t time_ns; /* of the kernel's clock */
    int32_t pid, tid;
    uint64_t lost; /* overflows before this one for which there was no room */
};

/*
 * Hands every overflow since the last call to `take`, on the calling thread,
 * and returns: it does not wait. Call it from a loop, when
 * tally_counter_overflow_fd() is readable, or in the handler of
 * options.signal: it is safe there if `take` is, which means no allocation, no
 * locks, no stdio. Not in two of these at the same time: with a handler, block
 * the signal around calls elsewhere and around tally_counter_close().
 * TALLY_ERULE without a period.
 *
 * @since 0.1
 */
TALLY_API int
tally_counter_overflows(struct tally_counter *counter,
                        void (*take)(void *user,
                                     const struct tally_overflow *overflow),
                        void *user);

/*
 * For poll(2), and what siginfo's si_fd says in a handler; -1 without a period
 * or event. The handle's: not to be closed.
 *
 * @since 0.1
 */
TALLY_API int tally_counter_overflow_fd(const struct tally_counter *counter);

/* Accepts NULL. @since 0.1 */
TALLY_API void tally_counter_close(struct tally_counter *counter);

#ifdef __cplusplus
}
#endif

#endif
