/* SPDX-License-Identifier: MIT */
/*
 * What the threads of a program wait for, from a record that says so
 * (record.has_waits): the time of each thread by what it did, the locks that
 * threads waited at with who let them go on, and all other waits. Findings say
 * in words what stands out.
 *
 * Waits that had not ended when the program ended are apart: no sum has them.
 * The first findings are circles of threads that wait for each other.
 *
 * Times are modelled cycles in which each thread has a processor of its own;
 * doc/locks.md says how they are made. Who is called the waker of a wait is the
 * thread whose call ended the wait: of a mutex, who held it last.
 */
#ifndef TALLY_RECORD_LOCKS_H
#define TALLY_RECORD_LOCKS_H

#include <stdio.h>

#include "record/breakdown_report.h"
#include "record/object_names.h"

/* What a thread did. */
enum locks_state {
    LOCKS_RUNNING,
    LOCKS_FUTEX, /* it waited at a lock of any kind */
    LOCKS_OTHER, /* it waited for time, another call, or something outside */
    LOCKS_SPINNING,
    LOCKS_STATES,
};

struct locks_thread {
    uint32_t process; /* index in record.processes */
    uint32_t thread, maker;
    uint64_t begin, end; /* of the modelled time */
    uint64_t time[LOCKS_STATES];
    uint64_t waits; /* at locks */
};

/* The kind of a lock, by the library's function that the thread waits in. */
enum locks_class {
    LOCKS_UNKNOWN, /* futex() was called otherwise */
    LOCKS_MUTEX,
    LOCKS_CONDITION,
    LOCKS_BARRIER,
    LOCKS_JOIN, /* a thread waits for the end of another */
    LOCKS_SEMAPHORE,
    LOCKS_RWLOCK,
    LOCKS_ONCE,
    LOCKS_OPENMP,
    LOCKS_GO,
    LOCKS_CLASSES,
};

/* Waits that are alike: a thread at a place, whom a thread at a place let go
 * on. */
struct locks_wait {
    size_t number;          /* from 0 on, of all waits of all locks */
    uint32_t thread, waker; /* numbers; RECORD_NO_NUMBER: none */
    char *at, *by; /* "drain (queue.c:88) <- worker (queue.c:31)", or "" where
                      that is not known; owned */
    uint64_t count, time, longest;
};

/* A lock, or something else that threads wait for at one place. */
struct locks_lock {
    enum record_wait_kind kind;
    enum locks_class class; /* of RECORD_WAIT_FUTEX */
    uint32_t process;       /* index in record.processes */
    uint64_t word;          /* the lowest address waited at, or 0 */
    char *name;             /* of its object, or of the place; owned */
    uint64_t count, time, longest;
    size_t thread_count;      /* that waited */
    struct locks_wait *waits; /* most time first; owned */
    size_t wait_count;
};

/* A row of waits of a lock. */
struct locks_place {
    bool known;
    size_t lock, wait; /* an index in `locks`, and one in its waits */
};

/* When a thread waited: for one wait, or for several that follow each other,
 * where the record has no room for each by itself. The thread ran in what is
 * left of the time from begin to end. */
struct locks_stretch {
    size_t thread; /* index in `threads` */
    uint64_t begin, end, count;
    uint64_t time[LOCKS_STATES]; /* none of it running */
    struct locks_place longest;  /* of these waits */
};

/* A wait that had not ended when the program ended. */
struct locks_unended {
    const struct record_unended_row *row; /* of the record */
    enum locks_class class;               /* of RECORD_WAIT_FUTEX */
    uint32_t process;                     /* index in record.processes */
    /* The thread that holds the lock, or whose end is waited for: what is known
     * for sure; RECORD_NO_NUMBER, or RECORD_HOLDER_ENDED. */
    uint32_t holder;
    char *name, *at; /* as of a lock and its waits; owned */
    uint64_t time;   /* until the last thread of the process ended */
};

/* What a finding says. */
enum locks_finding_kind {
    LOCKS_DEADLOCK,   /* threads wait for each other in a circle */
    LOCKS_ABANDONED,  /* a thread waits for a lock whose holder has ended */
    LOCKS_STANDSTILL, /* all threads wait, and none is left to wake another */
    LOCKS_WAITS,      /* many waits at a lock, or long ones */
};

struct locks_finding {
    enum locks_finding_kind kind;
    size_t lock;     /* LOCKS_WAITS: index in `locks` */
    size_t *unended; /* of the others: indices in `unended`; owned */
    size_t unended_count;
    char *text; /* owned */
};

struct locks {
    const struct record *record;
    struct resolver *resolver; /* the caller's, as is the record */
    struct object_names objects;
    struct locks_thread *threads; /* by process and thread */
    size_t thread_count;
    struct locks_lock *locks; /* most time first */
    size_t lock_count;
    struct locks_stretch *stretches; /* by thread and begin; owned */
    size_t stretch_count;
    size_t *wait_numbers;        /* of the record's rows of waits; owned */
    uint64_t time[LOCKS_STATES]; /* of all threads */
    uint64_t elapsed; /* from the first begin to the last end, the longest of
                         all processes */
    bool lost;        /* some waits or threads found no room */
    bool outside; /* something outside ended a wait: its time is the host's */
    struct locks_unended *unended; /* by process and begin of the wait; owned */
    size_t unended_count;
    struct locks_finding *findings; /* by kind, then most time first; owned */
    size_t finding_count;
};

/* Finds what threads wait for. TALLY_EUNKNOWN where the record does not say it,
 * or TALLY_ENOMEM, logged. */
int locks_create(const struct record *record, struct resolver *resolver,
                 const struct tally_log *log, struct locks **result);
void locks_destroy(struct locks *l);

/* Adds the findings of waits that have not ended. 0 or TALLY_ENOMEM. */
int locks_find_deadlocks(struct locks *l);

/* Adds a finding, zeroed, behind those that there are. NULL: no memory. */
struct locks_finding *locks_add_finding(struct locks *l);

/* Returns the words of a kind of finding ("deadlock"). */
const char *locks_finding_name(enum locks_finding_kind kind);

/* Returns the word of a class ("mutex"), and of what ends a wait ("futex"). */
const char *locks_class_name(enum locks_class class);
const char *locks_kind_name(enum record_wait_kind kind);

/* Returns the time of all threads. */
uint64_t locks_all(const struct locks *l);

/* Each writes the report, in its form: 0, TALLY_EIO or TALLY_ENOMEM. `top`:
 * rows of each table, 0: all. */
int locks_text(const struct locks *l, size_t top,
               const struct breakdown_look *look, FILE *out);
int locks_json(const struct locks *l, FILE *out);
int locks_csv(const struct locks *l, char separator, FILE *out);

#endif
