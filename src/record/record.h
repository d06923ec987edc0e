/* SPDX-License-Identifier: MIT */
/*
 * A record of tally in memory: events, processes with the instructions that
 * they executed, and what each thread counted at each instruction.
 *
 * Images are told apart by path and build id, and are shared by all processes.
 * A value that no instruction has ("elsewhere") is the thread's total less the
 * sum over its instructions.
 */
#ifndef TALLY_RECORD_RECORD_H
#define TALLY_RECORD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "record/bytes.h"
#include "source/moves.h"
#include "source/record_kinds.h"
#include "table/table.h"

#define RECORD_NO_IMAGE UINT32_MAX
#define RECORD_BUILD_ID 32 /* bytes at most */

struct kept_names; /* record/kept_names.h */

struct record_event_row {
    char *name, *asked, *unit, *brief;
    char
        *standing; /* in this run: threads side by side and the like lower it */
};

struct record_image {
    char *path;
    uint8_t build_id[RECORD_BUILD_ID];
    uint8_t build_id_size;          /* 0: none */
    const struct kept_names *names; /* in record.names, or NULL */
};

/* An instruction; code that changed at an address has one for each. */
struct record_insn {
    uint64_t address; /* in the process */
    uint64_t offset;  /* in the image's file; without an image the address */
    uint32_t image;   /* in record.images, or RECORD_NO_IMAGE */
    uint32_t code;    /* of the process: where its bytes begin */
    uint8_t size;
    uint32_t made; /* without an image: 1 + index in `made`, or 0 */
};

/* Code that a process made is from a line of a source file, from the address on
 * to the next line's. */
struct record_made_line {
    uint64_t address;
    uint32_t line;
    const char *file; /* of record_process_row.made_files */
};

/* Code that a process made while it ran, by the process's own words. */
struct record_made_row {
    uint64_t first, size; /* addresses */
    char *name;
    struct record_made_line *lines; /* by address */
    size_t line_count;
};

/* In place of the instruction of a call: calls that are not known. */
#define RECORD_NO_CALL UINT32_MAX

/* A path of calls: the instruction that called, and the path to there. Path 0
 * is of code that no call led to: it has neither. */
struct record_path {
    uint32_t parent; /* less than its own index */
    uint32_t call;   /* index of an instruction, or RECORD_NO_CALL */
};

/* How an object was used. */
struct record_used {
    uint64_t loads, stores;
    uint64_t fetched; /* bytes of the lines that came into the L1D */
    uint64_t touched; /* and those that were touched while they were there */
};

/* What data are of; its number in counts is 1 + its index. */
struct record_object_row {
    unsigned kind; /* enum record_object_kind */
    char *name;    /* the allocator's, the variable's, or a path */
    char *image;   /* of a variable: the path of its image; else "" */
    uint64_t size; /* of a variable, bytes */
    uint32_t path; /* of what an allocator gave: path of its calls */
    uint32_t insn; /* of a stack: an instruction of the function whose frames
                      these are, or RECORD_NO_CALL */
    uint64_t allocations, bytes; /* by an allocator, in all */
    struct record_used used;     /* zeroes where record.has_uses is false */
};

/* Why data of an object missed. */
struct record_reason_row {
    enum record_reason_kind why;
    uint32_t object; /* number; 0: not known */
    uint32_t other, thread;
    uint32_t insn;  /* index, or RECORD_NO_CALL */
    uint64_t place; /* lines are numbers: addresses by the size of a line */
    uint64_t count;
    uint64_t bytes, other_bytes; /* of the line, a bit each: that the misses are
                                    for, and that were stored to */
};

/* A step from one address to the next that an instruction asks for. */
struct record_step {
    int64_t bytes;
    uint64_t count;
};

#define RECORD_STEPS_MOST 6u

/* How far apart the addresses are that an instruction asks for. */
struct record_stride_row {
    uint32_t insn; /* index */
    bool stores;   /* else loads */
    bool follows;  /* the address is of what the instruction has loaded last */
    unsigned step_count;
    struct record_step steps[RECORD_STEPS_MOST];
    uint64_t other; /* steps that are none of these */
};

#define RECORD_NO_NUMBER UINT32_MAX /* no path, or no thread */

/* Waits of a thread that are alike. */
struct record_wait_row {
    enum record_wait_kind kind;
    uint32_t object; /* number of the one that the word is in; 0: not known */
    uint64_t word;   /* address that futex() waits at, or 0 */
    uint32_t thread; /* number in the process */
    uint32_t path;   /* of the calls to the function that waits, or
                        RECORD_NO_NUMBER */
    uint32_t insn;   /* index of an instruction of that function, or
                        RECORD_NO_CALL */
    uint32_t waker;  /* the thread that ended the wait, or RECORD_NO_NUMBER */
    uint32_t waker_path, waker_insn; /* the same of the thread that ended it */
    /* Waits that it ended; the modelled cycles that are due to it, which are
     * parts of other waits too; the longest of the waits that it ended. */
    uint64_t count, time, longest;
};

/* A wait that had not ended when the program ended. */
struct record_unended_row {
    enum record_wait_kind kind; /* by what it would have ended; of one for
                                   neither a word nor time
                                   RECORD_WAIT_OUTSIDE */
    uint32_t object;            /* these as of a wait that has ended */
    uint64_t word;
    uint32_t thread, path, insn;
    uint32_t holder; /* the thread that holds the lock, or whose end is waited
                        for; RECORD_NO_NUMBER, or RECORD_HOLDER_ENDED */
    uint64_t since;  /* modelled cycle in which the wait began */
    bool has_time;   /* time would have ended it */
};

/* Waits of a thread that follow each other: one, or several that begin in the
 * same part of its time. Times are modelled cycles of its clock. */
struct record_stretch_row {
    uint32_t thread;
    uint32_t wait; /* index of the row of waits that has most of the longest
                      of them, or RECORD_NO_NUMBER */
    uint64_t count;
    uint64_t begin, end;              /* of the first and of the last */
    uint64_t time[RECORD_WAIT_KINDS]; /* by what ended them */
};

/* When a thread began, in modelled cycles with its waits. */
struct record_begin_row {
    uint32_t thread, maker; /* numbers; of the first thread the same */
    uint64_t time;
};

/* How a process had an image mapped. */
struct record_mapping {
    uint64_t first, last; /* addresses of the process */
    uint64_t offset;      /* of `first` in the file */
    uint32_t image;       /* in record.images */
};

struct record_process_row {
    unsigned number; /* as threads have it */
    int pid, parent; /* parent 0: the first process */
    unsigned begin;  /* enum counts_begin */
    char *program;
    struct record_mapping *mappings;
    size_t mapping_count;
    struct record_insn *insns; /* by image, then address */
    size_t insn_count;
    uint8_t *code;
    size_t code_size;
    struct record_made_row *made; /* in the order of telling */
    size_t made_count;
    char **made_files; /* sources of made code */
    size_t made_file_count;
    struct record_path *paths; /* at least path 0 */
    size_t path_count;
    struct record_object_row *objects;
    size_t object_count;
    /* Where record.has_reasons: */
    struct record_reason_row *reasons; /* by `why`, then object */
    size_t reason_count;
    struct record_stride_row *strides; /* by instruction, then stores */
    size_t stride_count;
    /* Where record.has_waits: */
    struct record_wait_row *waits;
    size_t wait_count;
    struct record_begin_row *begins;
    size_t begin_count;
    struct record_stretch_row *stretches; /* in the order of their begin */
    size_t stretch_count;
    struct record_unended_row *unended; /* in the order of their begin */
    size_t unended_count;
    uint32_t stuck;  /* threads that waited where none was left that could let
                        another go on; else 0 */
    bool waits_lost; /* some found no room */
};

/* Caches of a level. */
struct record_cache {
    enum cache_id level;
    uint64_t size, line; /* bytes */
    uint64_t ways;
};

/* What a thread counted. */
struct record_thread_row {
    unsigned process; /* index in record.processes */
    unsigned thread, strand;
    int64_t *totals; /* [event_count] */
};

/* Counts of a thread at its instructions, on the paths of calls that led to
 * them; a thread may have several of these. Without callers all are on path 0.
 */
/* The values of an event. */
struct record_values {
    const uint8_t *bytes; /* as the file has them, until they are expanded */
    size_t size;
    int64_t *by_row; /* [count] when they are; or NULL */
};

struct record_counts_row {
    unsigned process; /* index in record.processes */
    unsigned thread;  /* number of the thread in the process */
    size_t count;
    uint32_t *objects; /* [count] numbers, ascending; NULL: no object's data */
    uint32_t *paths;   /* [count] indices in the process, ascending on an object
                        */
    uint32_t *insns;   /* [count] indices in the process, ascending on a path */
    struct record_values *values; /* [event_count]; of record_values() */
    uint8_t *bytes;               /* what `values` point to; or NULL */
};

/* In place of the instruction of an edge. */
#define RECORD_NOWHERE UINT32_MAX

/* How control went from one instruction to another. */
enum record_way {
    RECORD_WAY_ON,            /* to the next one: by none that branches, or by a
                             conditional branch that was not taken */
    RECORD_WAY_TAKEN,         /* by a conditional branch that was taken, */
    RECORD_WAY_JUMP,          /* a direct jump, */
    RECORD_WAY_CALL,          /* a direct call, */
    RECORD_WAY_RETURN,        /* a return, */
    RECORD_WAY_INDIRECT,      /* a jump through a register or memory, */
    RECORD_WAY_INDIRECT_CALL, /* a call through one */
    RECORD_WAY_BROKEN, /* otherwise: a signal came, or the thread began or
                      ended */
    RECORD_WAYS,
};

/* How often control went from one instruction to another: a branch, or another
 * instruction that ended a block of code, to the first of the next block. */
struct record_edge {
    uint32_t from; /* index of an instruction, or RECORD_NOWHERE: a thread
                      began, or what is recorded of it */
    uint32_t to;   /* the same; RECORD_NOWHERE: the thread ended */
    enum record_way way;
    uint64_t count;
    uint64_t mispredicted; /* of `count` */
};

/* The edges of a thread; a thread may have several of these. */
struct record_edges_row {
    unsigned process; /* index in record.processes */
    unsigned thread;  /* number of the thread in the process */
    size_t count;
    struct record_edge *edges; /* ascending by number: from, then to */
};

struct record {
    char *path;                          /* of the file */
    char *version, *machine, *isa, *cpu; /* cpu may be NULL */
    char **argv;                         /* ends with NULL */
    struct record_event_row *events;
    size_t event_count;
    struct record_image *images;
    size_t image_count;
    struct record_process_row *processes;
    size_t process_count;
    struct record_thread_row *threads;
    size_t thread_count;
    struct record_counts_row *counts;
    size_t counts_count;
    struct record_edges_row *edges;
    size_t edges_count;
    struct kept_names *names; /* of images */
    size_t names_count;
    bool has_branches;         /* edges are recorded */
    bool has_callers;          /* some path is not path 0 */
    bool has_objects;          /* data accesses are told by object, */
    bool has_uses;             /* and objects have all their accesses, */
    bool has_reasons;          /* and it is recorded why they miss a level, */
    struct record_cache cache; /* else zero */
    struct moves moves; /* of the first process's data; without objects: none */
    bool has_waits;     /* it is recorded what threads wait for */
    bool heap_is_whole; /* but the blocks of a program without a dynamic loader
                           are not told apart, for this reason: */
    char *heap_reason;  /* or NULL */
    bool cut;           /* the file has no end: what follows is not known */
    /* How the run ended: */
    int status; /* as waitpid() gives it */
    double wall_s, user_s, sys_s, modelled_s;
    bool interrupted, partial, left_early;
    char *trace; /* what of its run the trace had, by trace_part_name(); NULL:
                    the program ran */
    unsigned varies; /* bits of enum session_varies */
};

/* Reads a record. 0; or TALLY_EIO, TALLY_ESYNTAX, TALLY_ENOMEM, logged. A
 * record that is cut short is read as far as it goes, with a warning. */
int record_open(const char *path, const struct tally_log *log,
                struct record **record);
/* The same of a file that is open and regular, or of memory; `fd` is closed,
 * also on failure. The record's path is `name`. */
int record_open_fd(int fd, const char *name, const struct tally_log *log,
                   struct record **record);
void record_close(struct record *record);

/* Returns the values of an event by row, [count], which are expanded when they
 * are asked for first: by one thread at a time. NULL: no memory. */
const int64_t *
record_values(const struct record_counts_row *counts, size_t event);

/* A walk through the values of an event, row by row, which expands none. */
struct record_walk {
    const struct record_values *values;
    struct cursor rest; /* of what is not expanded */
    uint64_t left;      /* values in `rest`, with the next */
    uint64_t row;       /* of the next value */
    int64_t value;
    size_t count; /* of rows */
};

void record_walk_begin(struct record_walk *walk,
                       const struct record_counts_row *counts, size_t event);

/* Goes on to the next value. */
void record_walk_on(struct record_walk *walk);

/* Returns the sum of the values of the rows from `from` on and before `end`, of
 * which none was asked for; rows are asked for in ascending order. */
int64_t record_walk_sum(struct record_walk *walk, size_t from, size_t end);

/* Finds the next value that is not 0 and its row, and goes on behind it. False:
 * there is none. A walk is asked so or by rows, not both. */
bool record_walk_next(struct record_walk *walk, size_t *row, int64_t *value);

/* Returns the value of a row; rows are asked for in ascending order, each at
 * most once. */
static inline int64_t
record_walk_take(struct record_walk *walk, size_t row)
{
    if (walk->values->by_row != NULL)
        return walk->values->by_row[row];
    if (walk->left == 0 || walk->row != row)
        return 0;
    const int64_t value = walk->value;
    record_walk_on(walk);
    return value;
}

/* Returns the sum of an event over all threads; of a record that is cut short,
 * over all instructions. */
int64_t record_total(const struct record *record, size_t event);

/* Finds the events of a comma-separated list of names, which may be short for a
 * name that begins so; NULL: all. Writes their indices to `events`, which has
 * room for record->event_count, and their number to *count. 0, or
 * TALLY_EUNKNOWN, logged. */
int record_events(const struct record *record, const char *names,
                  const struct tally_log *log, size_t *events, size_t *count);

#endif
