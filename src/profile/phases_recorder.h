/* SPDX-License-Identifier: MIT */
/*
 * What the intervals of a program's time ran (source/phases.h), of the process
 * of a session that ran the most instructions.
 */
#ifndef TALLY_PROFILE_PHASES_RECORDER_H
#define TALLY_PROFILE_PHASES_RECORDER_H

#include "profile/session.h"

/* A block of code. Its number in the entries is its index. */
struct phases_block {
    uint64_t pc;     /* address in the process */
    uint64_t offset; /* in the file, where it is of one */
    uint32_t file;   /* 1 + index; 0: code of no file */
    uint32_t instructions;
    uint64_t hash; /* of the code */
};

/* One interval; its entries have blocks in ascending order, each once. */
struct phases_span {
    uint64_t start;        /* instructions of the process before */
    uint64_t instructions; /* of the interval */
    size_t first, count;   /* of entries */
    uint64_t boundary; /* its counts are those of snapshots up to this one */
};

struct phases_part {
    uint32_t block;
    uint64_t instructions;
};

struct phases_found {
    char program[COUNTS_NAME];
    unsigned process;          /* index in the session's result */
    unsigned others;           /* processes and programs that ran, too */
    uint64_t all_instructions; /* of all processes */
    uint64_t length;           /* of an interval */
    struct counts_file *files;
    size_t file_count;
    struct phases_block *blocks;
    size_t block_count;
    struct phases_span *spans;
    size_t span_count;
    struct phases_part *parts;
    size_t part_count;
    uint64_t instructions; /* of all intervals */
    uint64_t lost;         /* of the process, in no interval */
};

void phases_found_destroy(struct phases_found *found);

/* Records the intervals that session_options.phases asks for. Without
 * phases_request.counts no part of the model runs. */
extern const struct session_recorder phases_recorder;

#endif
