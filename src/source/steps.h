/* SPDX-License-Identifier: MIT */
/*
 * Steps of a part of a program's run, for `tally teach`: what the model did for
 * each access to data, for each conditional branch, or for each block of code.
 * The process writes a `struct steps` into the session's memory; the program
 * could write there too, so that steps_read() checks it.
 */
#ifndef TALLY_SOURCE_STEPS_H
#define TALLY_SOURCE_STEPS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "source/point.h"

#define STEPS_MOST 20000u
#define STEPS_WORDS (1u << 20)
#define STEPS_PLACES 32768u /* instructions that are named */

enum steps_kind {
    STEPS_NONE,     /* no steps are recorded */
    STEPS_SETS,     /* accesses to data, and the cache sets that they ask */
    STEPS_BRANCHES, /* conditional branches, and what predicts them */
    STEPS_BUBBLES,  /* blocks of code, and what their cycles follow from */
    STEPS_KINDS,
};

/* What is asked. */
struct steps_request {
    uint32_t kind;   /* enum steps_kind */
    uint32_t level;  /* STEPS_SETS: whose sets, enum cache_id */
    uint32_t count;  /* most steps that are recorded, up to STEPS_MOST */
    uint32_t thread; /* that alone is recorded, by its number; or NO_THREAD */
    /* Where recording begins: behind so many instructions of all threads, and
     * where a function is entered, by its address in the program's file. */
    uint64_t skip, from; /* 0; NO_LINE: at the start */
    /* Where it ends: after so many instructions of all threads, or where a
     * function is entered. */
    uint64_t instructions, to; /* 0; NO_LINE: nowhere */
    /* Code that alone has steps, as addresses in the program's file; none: all
     * code. */
    struct code_range ranges[POINT_RANGES];
    uint32_t range_count;
    uint32_t reserved;
};

/* Why recording ended. */
enum steps_end {
    STEPS_END_PROGRAM,      /* the program did */
    STEPS_END_COUNT,        /* there are as many steps as were asked for */
    STEPS_END_ROOM,         /* there was no room for more */
    STEPS_END_INSTRUCTIONS, /* after as many instructions as were asked for */
    STEPS_END_TO,           /* a function was entered */
    STEPS_ENDS,
};

enum step_flags {
    STEP_STORE = 1 << 0,  /* else a load */
    STEP_MISSED = 1 << 1, /* the level lacked the line */
    STEP_SECOND = 1 << 2, /* the second line of an access, whose first line is
                             the step before */
    STEP_VICTIM = 1 << 3, /* the victim cache of the L1D had the line */
    STEP_PASSED =
        1 << 4,          /* a store that goes through the level, or a load that
                            passes the level by: the level has no hit or miss */
    STEP_TAKEN = 1 << 5, /* of a branch */
    STEP_WRONG = 1 << 6, /* it was predicted wrong */
    STEP_FLAGS = (1 << 7) - 1,
};

/* The words of a step of STEPS_BRANCHES. Counters and sums are int64_t. */
enum step_branch_word {
    STEP_HISTORY, /* directions of the branches before, the newest lowest, as
                     far as 64 bits have them */
    STEP_TABLE,  /* of TAGE: 0: the base table; else one with tags, from 1 on */
    STEP_INDEX,  /* of the counter in its table, or of the row of weights */
    STEP_TAG,    /* of TAGE, in a table with tags */
    STEP_BEFORE, /* the counter, or the sum of a perceptron */
    STEP_AFTER,  /* the counter */
    STEP_USEFUL_BEFORE, /* of TAGE, in a table with tags */
    STEP_USEFUL_AFTER,
    STEP_THRESHOLD, /* of a perceptron */
    STEP_BRANCH_WORDS,
};

/* A word of a step of STEPS_BUBBLES: what an instruction adds to a signal. */
#define STEP_GAIN(instruction, signal, gain)                    \
    ((uint64_t)(instruction) << 48 | (uint64_t)(signal) << 32 | \
     (uint32_t)(int32_t)(gain))
#define STEP_GAIN_INSTRUCTION(word) ((uint32_t)((word) >> 48))
#define STEP_GAIN_SIGNAL(word) ((uint32_t)((word) >> 32 & 0xffff))
#define STEP_GAIN_GAIN(word) ((int32_t)(uint32_t)(word))

struct run_step {
    uint64_t address;     /* of the data; where a branch went; else 0 */
    uint64_t instruction; /* number of the instruction in its thread, from 1 on;
                             of a block, the block's first one */
    uint32_t thread;
    uint32_t place; /* 1 + its index in `places`, of the instruction or of the
                       block's first one; 0: there is no room for it */
    /* Of the step in `words`. STEPS_SETS: the set before, `ways` words as
     * watched_set() writes them, and the set after. */
    uint32_t word, word_count;
    uint32_t size;  /* bytes of the access; instructions of the block */
    uint16_t flags; /* enum step_flags */
    uint8_t class;  /* enum point_class, of a miss */
    uint8_t cache;  /* number of the cache of the level */
};

/* What was recorded. */
struct steps {
    atomic_uint count;    /* of `steps`; what is before is written */
    atomic_uint end;      /* enum steps_end */
    atomic_uint began;    /* not 0: the run came to where recording begins */
    uint32_t ways;        /* STEPS_SETS: words of a set */
    uint32_t knows_dirty; /* not 0: words say which lines are dirty */
    atomic_uint word_count, place_count;
    /* Instructions of all threads before recording began. */
    uint64_t first_instruction;
    struct run_step steps[STEPS_MOST];
    struct point_place places[STEPS_PLACES]; /* of a block in a row */
    uint64_t words[STEPS_WORDS];
    char files[POINT_FILES][POINT_PATH]; /* of places */
};

/* Reads the steps of a session from its file, as a copy that the caller frees.
 * 0; TALLY_ENOMEM; TALLY_ESYSTEM, with errno; TALLY_EPROGRAM where it holds
 * values that tally never writes. `kind`: enum steps_kind. */
int steps_read(int fd, uint32_t kind, struct steps **steps);

/* Returns whether all counts and indices of steps are within bounds. Ends each
 * text with its NUL. */
bool steps_check(struct steps *steps, uint32_t kind);

#endif
