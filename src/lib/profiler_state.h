/* SPDX-License-Identifier: MIT */
/*
 * The profiler of this process. Programs mark points without a handle to pass,
 * so there is one, in static memory: unlike all other state of tally's
 * libraries.
 */
#ifndef TALLY_LIB_PROFILER_STATE_H
#define TALLY_LIB_PROFILER_STATE_H

#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/lock.h"
#include "lib/profiler_source.h"
#include "profile/call_file.h"
#include "profile/call_log.h"
#include "tally/profiler.h"

#define PROFILER_LIST 16384 /* bytes of the property profiler_events */

struct profiler_properties {
    uint64_t log_table_size, user_data_size;
    uint64_t counter_bits; /* 0: as many as the source's counters have */
    bool instructions; /* instructions are the clock of an emulated machine */
    char buffer_file[PATH_MAX], dump_file[PATH_MAX]; /* "": none */
    char events[PROFILER_LIST];                      /* "": as start says */
    bool rotate;
};

/* One selection of events on one thread. */
struct profiler_chosen {
    struct profiler_set set;
    char events[PROFILER_EVENTS];
    unsigned group;
    unsigned selection; /* of the log */
    bool quick;         /* an update is no more than a reading and a record */
};

/* What a group of a thread counts now. */
struct profiler_group {
    struct profiler_chosen *chosen; /* NULL: nothing */
    struct profiler_reading base;   /* at the start */
    /* The last update took the next events: the next update writes a start
     * first, unless the program starts the group before. */
    bool turned;
    uint64_t pc;
    uint32_t caller;
    unsigned turn;
};

struct tally_profiler_thread {
    struct call_log log;
    struct profiler_set clock;
    struct profiler_group groups[TALLY_PROFILER_GROUPS];
    struct profiler_chosen chosen[CALL_LOG_SELECTIONS];
    unsigned chosen_count;
    uint64_t number, strand; /* in the order of first starts; the machine's
                                 strand, or `number` */
    _Atomic uint64_t dumped; /* call_log_walk()'s head */
    struct tally_profiler_thread *next;
};

/* What an event of this process is called, for dumps. Never freed. */
struct profiler_name {
    struct dump_event event;
    _Atomic(struct profiler_name *) next;
};

struct profiler {
    struct lock lock; /* of first starts and properties; no update takes it */
    struct tally_log log;
    const struct profiler_source *source; /* NULL: profiler_counters */
    bool ready;                           /* a first start was */
    struct profiler_properties properties;
    char list[PROFILER_LIST]; /* of events, cut at each ";" */
    const char *turns[CALL_LOG_SELECTIONS];
    unsigned turn_count;
    bool rotates;
    struct call_file file;
    pthread_key_t key;
    _Atomic(struct tally_profiler_thread *) threads;
    _Atomic(struct tally_profiler_site *) sites;
    uint64_t thread_count;
    char refused[PROFILER_EVENTS]; /* the last that did not open, or "" */
    char machine[DUMP_NAME];       /* "": none; from the first start */
    _Atomic(struct profiler_name *) names; /* in the order they came up */
};

extern struct profiler profiler;

/* Sets a property after checking the value. `given` is what the user set: the
 * property's name, a variable or an option. Returns 0, or TALLY_EUNKNOWN,
 * TALLY_ERANGE or TALLY_ESYNTAX after logging. */
int profiler_property(struct profiler_properties *properties, const char *name,
                      const char *given, const char *value,
                      const struct tally_log *log);

#define PROFILER_VARIABLE 64 /* bytes of a variable's name, NUL included */

/* Writes the name of the property's environment variable. */
void profiler_variable(const char *name, char variable[PROFILER_VARIABLE]);

/* Sets the properties that environment variables name. */
int profiler_environment(struct profiler_properties *properties,
                         const struct tally_log *log);

/* Writes `path` with the process id in place of %p; false: `to` is too small.
 */
bool profiler_path(const char *path, char *to, size_t size);

/* Dumps all threads to the property's file, and the places beside it. */
void profiler_dump_at_exit(void);

/* Writes "id file:line:function\n" and returns its length; 0: no room. */
size_t
profiler_place(const struct tally_profiler_site *site, char *text, size_t size);

/* Records the names of the events that `chosen` counts, once. Returns 0, or
 * TALLY_ENOMEM after logging. */
int profiler_name_events(const struct profiler_source *source, unsigned group,
                         const uint64_t codes[2],
                         const struct profiler_chosen *chosen);

/* Puts all names into a new file of buffers. */
void profiler_keep_names(struct call_file *file);

/* Returns whether a call of the same place is in the list already. */
bool profiler_is_known(const struct tally_profiler_site *site);

#endif
