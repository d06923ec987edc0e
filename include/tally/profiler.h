/* SPDX-License-Identifier: MIT */
/*
 * A program marks points of its run; each call stores the clock and two events'
 * counts in a buffer of the thread that calls, and a dump is what the Netra DPS
 * profiler dumps, for `tally summarize`.
 *
 *     cc -DTALLY_PROFILE program.c $(pkg-config --cflags --libs tally-profiler)
 *
 *     tally_profiler_set_property("profiler_user_data_size", "1");
 *     tally_profiler_start(1, "instructions,cache-misses");
 *     while (packet()) {
 *         work();
 *         tally_profiler_update(1, packets);
 *     }
 *     tally_profiler_stop(1);
 *     tally_profiler_dump_file(NULL, "dump.csv");
 *
 * Without -DTALLY_PROFILE the calls compile to nothing, their arguments are not
 * evaluated, and they return 0.
 *
 * Events are those of tally/counter.h. The clock is the processor's time stamp
 * counter on x86-64, the virtual counter on AArch64, else nanoseconds; threads
 * are numbered in the order of their first starts.
 *
 * Under `tally count` events are the emulated machine's, the clock is its
 * cycles (estimated), or its instructions at one a cycle where cycles are
 * refused (see doc/gateway.md), and a thread has the number of its strand: of
 * several on one, those after the first have numbers that are no strand's.
 *
 * The buffer is circular: the first records and the last are kept, those behind
 * the gap are marked. It belongs to the thread and outlives it. A thread's
 * first start allocates it, a start with events that are new to the thread
 * opens them; nothing else allocates. tally_profiler_update(), _values(),
 * _stop(), a start with events known, and dumps to a descriptor or to memory
 * take no lock and are safe in signal handlers.
 *
 * Properties hold for the process; set them before the first start. Those of
 * the environment, TALLY_PROFILER_LOG_TABLE_SIZE and so on, override them.
 *
 *   profiler_log_table_size  records of each thread (1024); the document's
 * other name for it, profiler_buffer_size, holds as well
 *   profiler_user_data_size  64-bit words of the user in each record (0 to 64)
 *   profiler_buffer_file     keep the buffers in this file, mapped: `tally
 *                            summarize --recover` reads it when the program has
 *                            died. %p: the process id
 *   profiler_dump_file       dump all threads to this file at exit, and
 *                            profiler_calls_location.txt beside it. %p likewise
 *   profiler_events          count these, whatever start says: at most two
 *                            after another, "A,B"; pairs are parted by ";"
 *   profiler_clock           of an emulated machine: cycles, or instructions at
 *                            one a cycle, which cost less to read
 *   profiler_counter_bits    counts go round after so many, and the record's
 *                            overflow says it (64)
 *   profiler_rotate          1: each interval counts the next pair, in turn
 *
 * A child made by fork() starts with no buffers, and keeps none in the file of
 * its parent.
 *
 * Errors are negative enum tally_error; the text goes to the log.
 */
#ifndef TALLY_PROFILER_H
#define TALLY_PROFILER_H

#include <stddef.h>
#include <stdint.h>

#include "tally/tally.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Groups are numbers from 0; each counts two events at a time. @since 0.1 */
#define TALLY_PROFILER_GROUPS 8

/*
 * A thread that has called start, for dumps. It is never freed. @since 0.1
 */
struct tally_profiler_thread;

/* Where a call stands; made by the macros below. @since 0.1 */
struct tally_profiler_site {
    const char *file;
    const char *function;
    uint32_t line;
    uint32_t id; /* the caller id of dumps; 0: not called so far */
    struct tally_profiler_site *next;
};

/*
 * What a group has counted since its start. Of counters narrower than 64 bits
 * the counts wrap around, which `overflow` says: bit 0 lo, bit 1 hi.
 *
 * @since 0.1
 */
struct tally_profiler_values {
    uint64_t cycles; /* the running total */
    uint64_t hi, lo; /* the first event's, and the second's or the same */
    uint64_t overflow;
};

/* How a dump is written: the document's table, or JSON Lines. @since 0.1 */
enum tally_profiler_form { TALLY_PROFILER_TABLE, TALLY_PROFILER_JSON };

/*
 * TALLY_EUNKNOWN for a name, TALLY_ERANGE or TALLY_ESYNTAX for a value,
 * TALLY_ERULE after the first start.
 *
 * @since 0.1
 */
TALLY_API int tally_profiler_set_property(const char *name, const char *value);

/* Where the profiler's messages go from here on; none before. @since 0.1 */
TALLY_API void tally_profiler_set_log(const struct tally_log *log);

/* The calling thread, with a buffer; NULL after telling why not. @since 0.1 */
TALLY_API struct tally_profiler_thread *tally_profiler_self(void);

/*
 * Writes the names of the machine and of all events counted so far, then the
 * records of a thread, or of all (NULL), one block each, and takes the records
 * out of the buffer. 0, or TALLY_EIO with errno set: then they stay.
 *
 * @since 0.1
 */
TALLY_API int tally_profiler_dump_fd(struct tally_profiler_thread *thread,
                                     int fd, enum tally_profiler_form form);

/* The same into a file, which is created or emptied. @since 0.1 */
TALLY_API int
tally_profiler_dump_file(struct tally_profiler_thread *thread, const char *path,
                         enum tally_profiler_form form);

/*
 * The same into memory, without a NUL: *length bytes. TALLY_ERANGE if there
 * are more than `size`; *length says how many, and the records stay.
 *
 * @since 0.1
 */
TALLY_API int
tally_profiler_dump_memory(struct tally_profiler_thread *thread, char *text,
                           size_t size, size_t *length,
                           enum tally_profiler_form form);

/*
 * Writes profiler_calls_location.txt: a line for each place called so far, its
 * caller id and FILE:LINE:FUNCTION.
 *
 * @since 0.1
 */
TALLY_API int tally_profiler_locations_fd(int fd);

/* What the macros call. @since 0.1 */
TALLY_API int tally_profiler_start_at(struct tally_profiler_site *site,
                                      unsigned group, const char *events);
TALLY_API int
tally_profiler_update_at(struct tally_profiler_site *site, unsigned group,
                         const uint64_t *words, size_t count);
TALLY_API int tally_profiler_stop_at(unsigned group);
TALLY_API int
tally_profiler_values_at(unsigned group, struct tally_profiler_values *values);

/* Declared for sizeof alone, and defined nowhere. @since 0.1 */
int tally_profiler_unused(int zero, ...);

#ifdef __cplusplus
}
#endif

#ifdef TALLY_PROFILE

/* In C the places are also in a section of the program, where `tally profile
 * --locations` finds those that were never called; those of C++ it finds by
 * their symbols. A function of C++ has its whole name. @since 0.1 */
#ifdef __cplusplus
#define TALLY_PROFILER_SECTION
#define TALLY_PROFILER_FUNCTION __PRETTY_FUNCTION__
#else
#define TALLY_PROFILER_SECTION __attribute__((section("tally_sites"), used))
#define TALLY_PROFILER_FUNCTION __func__
#endif
#define TALLY_PROFILER_SITE                                           \
    __extension__({                                                   \
        static struct tally_profiler_site TALLY_PROFILER_SECTION      \
            tally_profiler_here = {__FILE__, TALLY_PROFILER_FUNCTION, \
                                   __LINE__, 0, NULL};                \
        &tally_profiler_here;                                         \
    })

/*
 * tally_profiler_start(unsigned group, const char *events) counts one event or
 * two, "A,B", from here on; NULL or "": the clock alone. TALLY_ERANGE for a
 * group, TALLY_ERULE for too many events, TALLY_ENOMEM or TALLY_ESYSTEM if
 * there is no buffer; else as tally_profiler_set_property() of the environment,
 * tally_counter_open() and tally_counter_add().
 *
 * @since 0.1
 */
#define tally_profiler_start(group, events) \
    tally_profiler_start_at(TALLY_PROFILER_SITE, group, events)

/*
 * tally_profiler_update(unsigned group, uint64_t word...) stores a record with
 * what was counted since the start, and these words. TALLY_ERULE if the group
 * does not count on this thread.
 *
 * @since 0.1
 */
#ifdef __cplusplus
template <typename... words_t>
static inline int
tally_profiler_update_words(struct tally_profiler_site *site, unsigned group,
                            words_t... words)
{
    const uint64_t list[] = {0, (uint64_t)words...};

    return tally_profiler_update_at(site, group, list + 1, sizeof...(words));
}
#define tally_profiler_update(...) \
    tally_profiler_update_words(TALLY_PROFILER_SITE, __VA_ARGS__)
#else
/* The group is the first of the words. */
#define tally_profiler_update(...)                                  \
    __extension__({                                                 \
        const uint64_t tally_profiler_words[] = {__VA_ARGS__};      \
        tally_profiler_update_at(                                   \
            TALLY_PROFILER_SITE, (unsigned)tally_profiler_words[0], \
            tally_profiler_words + 1,                               \
            sizeof(tally_profiler_words) / sizeof(uint64_t) - 1);   \
    })
#endif

/* tally_profiler_stop(unsigned group) counts no more. @since 0.1 */
#define tally_profiler_stop(group) tally_profiler_stop_at(group)

/* tally_profiler_values(unsigned group, struct tally_profiler_values *values):
 * what update would store, stored nowhere. @since 0.1 */
#define tally_profiler_values(group, values) \
    tally_profiler_values_at(group, values)

#else

/* A function, so that nothing complains of a value that nobody uses. */
static inline int
tally_profiler_zero(size_t size)
{
    return size == 0;
}
#define tally_profiler_nothing(...) \
    tally_profiler_zero(sizeof(tally_profiler_unused(0, __VA_ARGS__)))
#define tally_profiler_start(group, events) \
    tally_profiler_nothing(group, events)
#define tally_profiler_update(...) tally_profiler_nothing(__VA_ARGS__)
#define tally_profiler_stop(group) tally_profiler_nothing(group)
#define tally_profiler_values(group, values) \
    tally_profiler_nothing(group, values)

#endif

#endif
