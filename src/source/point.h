/* SPDX-License-Identifier: MIT */
/*
 * A point of a program's run, for `tally at`: what is asked, and what the
 * process at the point tells of itself before it is stopped. The process writes
 * a `struct point` into the session's memory; the program could write there
 * too, so that point_read() checks it.
 */
#ifndef TALLY_SOURCE_POINT_H
#define TALLY_SOURCE_POINT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "source/block.h"

#define POINT_RANGES 64u    /* of code whose misses are counted */
#define POINT_BLOCKS 4096u  /* that ran last; one that repeats itself is one */
#define POINT_ACCESSES 256u /* that were made last */
#define POINT_CALLS 128u    /* the innermost */
#define POINT_OBJECT_CALLS 8u
#define POINT_WAYS 64u  /* of the set, the most recent */
#define POINT_FILES 512 /* as many as a process's code is from */
#define POINT_PATH 256
#define POINT_NAME 200
#define POINT_CODE 16

enum point_kind {
    POINT_NONE,        /* no point is asked for */
    POINT_MISS,        /* a load or store misses the L1 data cache */
    POINT_INSTRUCTION, /* an instruction is about to run */
    POINT_ENTRY,       /* a function is entered */
    POINT_KINDS,
};

/* What is asked. */
struct point_request {
    uint32_t kind;   /* enum point_kind */
    uint32_t thread; /* that alone is counted, by its number; or NO_THREAD */
    uint64_t count;  /* the point is the one of this number, from 1 on */
    uint64_t entry;  /* POINT_ENTRY: where, as an address of the program's file
                      */
    /* POINT_MISS: code whose misses count, as addresses in the program's file;
     * none: all code. */
    struct code_range ranges[POINT_RANGES];
    uint32_t range_count;
    /* Not 0: the process waits until point.told, and sends itself SIGTRAP for a
     * debugger, instead of SIGKILL. */
    uint32_t traps;
};

/* An instruction. */
struct point_place {
    uint64_t address; /* in the process */
    uint64_t offset;  /* in the file */
    uint32_t file;    /* 1 + its index in point.files; 0: no file's code */
    uint8_t size;     /* bytes of `code`; 0: it is not known */
    uint8_t code[POINT_CODE];
    uint8_t reserved[3];
};

/* What data are of. */
struct point_object {
    uint32_t kind; /* enum record_object_kind; 0: not known */
    uint32_t call_count;
    char name[POINT_NAME];  /* the allocator's, the variable's, or a path */
    char image[POINT_PATH]; /* of a variable the path of its file; else "" */
    /* Of what an allocator gave: its call, and the calls that led there,
     * innermost first. Of a stack: an instruction of the function whose frame
     * it is, if there is one. */
    struct point_place calls[POINT_OBJECT_CALLS];
};

enum point_access_flags {
    POINT_STORE = 1 << 0,  /* else a load */
    POINT_MISSED = 1 << 1, /* the L1 data cache lacked a line of it */
};

struct point_access {
    uint64_t address;
    uint32_t size;  /* bytes */
    uint32_t flags; /* enum point_access_flags */
    struct point_place place;
};

/* Runs of a block, one directly after the other. */
struct point_block {
    uint64_t count;
    uint32_t instructions; /* of the block */
    uint32_t reserved;
    struct point_place place; /* its first instruction */
};

enum point_line_flags {
    POINT_LINE_DIRTY = 1 << 0,   /* written and not yet written back; or
                                    modified by the core, where cores take lines
                                    from each other */
    POINT_LINE_LEAVES = 1 << 1,  /* the missed line takes its place */
    POINT_LINE_BROUGHT = 1 << 2, /* `thread`, `instruction` and `place` say who
                                    brought the line in */
};

/* A line in the cache set, before the access. */
struct point_line {
    uint64_t address; /* of its first byte */
    uint32_t flags;   /* enum point_line_flags */
    uint32_t thread;
    uint64_t instruction; /* number of the thread's */
    uint64_t others;      /* cores that may have the line too, a bit each */
    struct point_place place;
    struct point_object object;
};

enum point_class {
    POINT_CLASS_NONE, /* the machine's misses have no classes */
    POINT_CLASS_COHERENCE,
    POINT_CLASS_FALSE, /* a coherence miss, of false sharing */
    POINT_CLASS_FIRST,
    POINT_CLASS_CAPACITY,
    POINT_CLASS_CONFLICT,
    POINT_CLASSES,
};

/* The order in which the lines of a set stand. */
enum point_order {
    POINT_BY_USE, /* the last used first */
    POINT_BY_AGE, /* the last that came first */
    POINT_BY_WAY,
};

/* A set of the L1 data cache. */
struct point_set {
    uint64_t number;
    uint32_t line_count; /* of `lines` */
    uint32_t empty;      /* ways without a line */
    uint32_t knows_dirty;
    uint32_t order; /* enum point_order */
    struct point_line lines[POINT_WAYS];
};

/* A piece of a file that code is mapped from. */
struct point_map {
    uint64_t first;  /* its address */
    uint64_t offset; /* in the file */
};

/* What there was at the point. */
struct point {
    atomic_uint reached; /* not 0: the rest is written */
    uint32_t pid;
    /* How many of what is counted there were until now, also where the point is
     * not reached. */
    atomic_uint_fast64_t passed;
    uint32_t thread;           /* that runs */
    uint32_t class;            /* enum point_class, of a miss */
    uint64_t instruction;      /* number of the instruction in its thread */
    uint64_t all_instructions; /* that all threads had run before it */
    struct point_place place;
    /* The access that missed, or (of other kinds of points) the last one. */
    uint32_t has_access;
    uint32_t has_set;
    struct point_access access;
    struct point_object object; /* of its data */
    struct point_set set;       /* of its line */
    uint32_t block_count, access_count, call_count;
    uint32_t calls_unknown; /* what called the outermost of `calls` is not
                               known, or more calls led there */
    struct point_block blocks[POINT_BLOCKS];      /* the last one first */
    struct point_access accesses[POINT_ACCESSES]; /* the last one first */
    struct point_place calls[POINT_CALLS];        /* innermost first */
    char files[POINT_FILES][POINT_PATH];
    atomic_uint told; /* not 0: the session has taken the point */
    /* Where code is from, in the order of `files`, which all have their paths
     * then; 0: not told, as the point asks for no debugger. */
    uint32_t map_count;
    struct point_map maps[POINT_FILES];
};

/* Reads the point of a session from its file, as a copy that the caller frees.
 * 0; TALLY_ENOMEM; TALLY_ESYSTEM, with errno; TALLY_EPROGRAM where it holds
 * values that tally never writes. */
int point_read(int fd, struct point **point);

/* Returns whether the process has reached the point, without reading it. */
bool point_is_reached(int fd);

/* Lets the process go on that waits at the point. */
void point_tell(int fd);

/* Returns whether all counts, indices and texts of a point are within bounds.
 * Ends each text with its NUL. */
bool point_check(struct point *point);

#endif
