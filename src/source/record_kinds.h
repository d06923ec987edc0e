/* SPDX-License-Identifier: MIT */
/* Kinds of what is recorded, in a session's memory as in a record's file, whose
 * numbers these are. */
#ifndef TALLY_SOURCE_RECORD_KINDS_H
#define TALLY_SOURCE_RECORD_KINDS_H

#include <stdbool.h>
#include <stdint.h>

/* What the data of an access are. */
enum record_object_kind {
    RECORD_HEAP = 1, /* what one allocator gave for one path of calls */
    RECORD_VARIABLE, /* a variable of a file */
    RECORD_IMAGE,    /* the other data of a file with code */
    RECORD_STACK,    /* frames of a function on the threads' stacks */
    RECORD_MAPPING,  /* other memory */
    RECORD_OBJECT_KINDS,
};

/* What a reason counts. The object of a reason is always the one that was asked
 * for. */
enum record_reason_kind {
    /* Capacity and conflict misses of lines that an access of an instruction
     * to the object `other` has driven out. */
    RECORD_REASON_CAPACITY = 1,
    RECORD_REASON_CONFLICT,
    /* Coherence misses of the thread `thread` at the line `place`, which the
     * thread `other` has stored to: to bytes that the miss is for, or only to
     * other bytes of the line. `bytes` are those of the line that the misses
     * are for, `other_bytes` those that were stored to. */
    RECORD_REASON_SHARED,
    RECORD_REASON_FALSE,
    /* Conflict misses in the set `place`. */
    RECORD_REASON_SET,
    /* Accesses that ask for a line again after others: from 2 to the power of
     * `place` - 1 to less than twice as many. */
    RECORD_REASON_REUSE,
    /* Misses of RECORD_REASON_FALSE after which the thread has used, before
     * its cache lost the line again, bytes that others had stored to: the line
     * would have come over for these all the same. */
    RECORD_REASON_USED,
    /* Instructions that the thread had run since its turn began, of all misses
     * of RECORD_REASON_SHARED and RECORD_REASON_FALSE; where threads take
     * turns. */
    RECORD_REASON_RAN,
    /* Turns of the thread `thread`, one after the other without a turn of
     * another thread between them counted once. */
    RECORD_REASON_TURNS,
    RECORD_REASON_KINDS,
};

/* What ends a wait of a thread. */
enum record_wait_kind {
    /* Another thread, by futex() on the word `word`. */
    RECORD_WAIT_FUTEX = 1,
    RECORD_WAIT_THREAD,  /* another thread, by another call: a pipe, a signal */
    RECORD_WAIT_TIME,    /* a time that the call was given */
    RECORD_WAIT_OUTSIDE, /* what is no thread of the process */
    /* The thread gave its turn away in a loop that waits for another's store,
     * or in sched_yield(). */
    RECORD_WAIT_SPIN,
    RECORD_WAIT_KINDS,
};

/* In place of the number of the thread that holds a lock: a thread that has
 * ended. */
#define RECORD_HOLDER_ENDED (UINT32_MAX - 1)

/* Returns whether `other` of a reason is the object, and `place` the
 * instruction, of the access that drove the missed line out. */
static inline bool
record_reason_is_driven(uint32_t kind)
{
    return kind == RECORD_REASON_CAPACITY || kind == RECORD_REASON_CONFLICT;
}

#endif
