/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace step by step, as the program went. A file that was written by
 * nobody is read as safely as one of tally's own: what cannot be is an error
 * that names the file and the chunk.
 */
#ifndef TALLY_TRACE_TRACE_READER_H
#define TALLY_TRACE_TRACE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "trace/trace_format.h"
#include "trace/trace_model.h"

struct trace_reader;

/* What trace_reader_next() has read. Pointers are the reader's, until its next
 * call. */
struct trace_step {
    /* Of a block: its number, its accesses' instructions, kinds and addresses
     * (of accesses alone, not of TRACE_PASSED). */
    uint32_t block;
    const struct trace_pattern *pattern;
    const uint64_t *address;
    uint16_t what; /* with TRACE_NEXT_STRAY; args[0] is the address then */
    /* Of a system call. */
    int64_t number, result;
    uint64_t args[TRACE_CALL_WORDS];
    /* Memory that the call reads; of TRACE_NEXT_MAP the path. */
    struct trace_piece {
        uint64_t address;
        const uint8_t *bytes;
        size_t size;
    } pieces[TRACE_PIECES];
    size_t piece_count;
};

enum trace_next {
    TRACE_NEXT_END,    /* there is no more: see trace_reader_run() */
    TRACE_NEXT_BLOCK,  /* a block ran */
    TRACE_NEXT_CALL,   /* a system call began */
    TRACE_NEXT_RETURN, /* it returned */
    TRACE_NEXT_STRAY,  /* an access of a block that does not run: QEMU stores
                          the frame of a signal so */
    TRACE_NEXT_MAP,    /* from args[0] to args[1] nothing is mapped any more, if
                          args[2] is 0; else the file pieces[0], "" for none,
                          from the offset args[2] - 1 on */
    /* Of threads, by numbers below TRACE_THREADS, args[0]; of each that lives
     * alone: */
    TRACE_NEXT_STARTS, /* it was made; it does not live before */
    TRACE_NEXT_RUNS,   /* what follows is done by it, not by another one */
    TRACE_NEXT_ENDS,   /* it has ended, and does nothing any more */
};

/* A file that was mapped where code ran. */
struct trace_image {
    uint64_t first, last, offset;
    char *path;
    uint8_t *build_id;
    size_t build_id_size;
};

/* Opens a trace and reads its head. 0 or an error, logged; `log` stays the
 * caller's until trace_reader_close(). */
int trace_reader_open(const char *path, const struct tally_log *log,
                      struct trace_reader **reader);

/* The head, the reader's. */
const struct trace_head *trace_reader_head(const struct trace_reader *reader);

/* The blocks that were read until now. */
struct trace_model *trace_reader_model(const struct trace_reader *reader);

/* The images that were read until now. */
const struct trace_image *
trace_reader_images(const struct trace_reader *reader, size_t *count);

/* Finds the image that has an address, of those that were read until now, and
 * stores its index in *number. Returns false if there is none. `image` has what
 * is the reader's. Another thread may read the trace meanwhile. */
bool trace_reader_find_image(struct trace_reader *reader, uint64_t address,
                             struct trace_image *image, size_t *number);

/* The address of the program's first code in memory and the path of the program
 * as QEMU knew them; 0 and "" as long as nothing was read of them. */
uint64_t
trace_reader_start(const struct trace_reader *reader, const char **path);

/* Reads the next step: enum trace_next, or an error, logged, which all further
 * calls return too. */
int trace_reader_next(struct trace_reader *reader, struct trace_step *step);

/* Blocks that a batch has about at most, and their addresses. */
#define TRACE_BATCH_BLOCKS 2048u
#define TRACE_BATCH_ADDRESSES 8192u

/* Blocks that ran one after the other, and what came behind them. */
struct trace_batch {
    size_t count;
    struct trace_ran {
        uint32_t block;
        uint32_t first; /* the place of its first address */
        const struct trace_pattern *pattern;
    } ran[TRACE_BATCH_BLOCKS];
    /* What is behind the blocks: enum trace_next, TRACE_NEXT_BLOCK if that is
     * another block, or an error; and the event, whose pieces are the reader's
     * until its next call. */
    int next;
    struct trace_step event;
    uint64_t address[TRACE_BATCH_ADDRESSES + TRACE_ACCESSES];
};

/* Reads the next blocks, up to an event or the end, at once. */
void trace_reader_batch(struct trace_reader *reader, struct trace_batch *batch);

/* Returns how the run ended, as the trace says; NULL: the trace is cut. Only
 * after TRACE_NEXT_END. */
const struct trace_run *trace_reader_run(const struct trace_reader *reader);

/* What was read until now, as struct trace_run has it at the end. */
const struct trace_run *trace_reader_so_far(const struct trace_reader *reader);

/* Frees the reader and sets *reader to NULL. Accepts NULL in *reader. */
void trace_reader_close(struct trace_reader **reader);

/* Finds how the run of the trace ended, without expanding what is between.
 * Returns false and logs nothing where the file is cut or cannot be read;
 * *damaged, unless NULL, becomes whether it is damaged. */
bool trace_find_run(const char *path, struct trace_run *run, bool *damaged);

/* Returns whether a file is a trace, by its first bytes. */
bool trace_is_trace(const char *path);

#endif
