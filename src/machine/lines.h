/* SPDX-License-Identifier: MIT */
/*
 * How much of the lines is used that an L1D brings in for a strand: bytes of a
 * line that are touched from when the line comes in until it comes in again, or
 * to the end of the run. What is touched of a line that has left would bring
 * the line in again, so nobody need know when lines leave.
 *
 * Both lines and their bytes are those of the object whose access brought the
 * line in.
 *
 * A line may be watched from when it comes in until it comes in again: whether
 * the strand uses some of its bytes in that time.
 */
#ifndef TALLY_MACHINE_LINES_H
#define TALLY_MACHINE_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "source/record_counts.h"

struct lines_page;
struct request;

#define LINES_ASKED 512u
#define LINES_RECENT 64u

struct lines {
    struct lines_page ***parts; /* owned, of 4 GiB each: pages, or NULL */
    struct lines_page *pages;   /* all that there are, for their end */
    uint32_t *used_parts;       /* numbers of the parts that there are, owned */
    unsigned part_count;
    struct record_use *uses; /* the caller's, by object */
    unsigned shift;          /* of a line */
    unsigned asked_count;
    uint64_t asked[LINES_ASKED]; /* addresses in lines that are asked for */
    /* Where the strand's queue ended at its last access; NULL: none yet. */
    const struct request *seen;
    /* Pages that were looked up last, by number. */
    struct {
        uint64_t number; /* + 1 */
        struct lines_page *page;
    } recent[LINES_RECENT];
};

/* `line`: bytes, a power of two from 16 to 4096. 0 or TALLY_ENOMEM;
 * lines_finish() accepts a zeroed struct. */
int lines_init(struct lines *l, uint64_t line, struct record_use *uses);
void lines_finish(struct lines *l);

/* An access to a line waits until the L1D is asked for the line. What is
 * touched until then is of the line that comes in, if it does. Returns false
 * where the line waits already: then the L1D is to be asked first. */
bool lines_ask(struct lines *l, uint64_t addr);

/* The L1D has been asked for all lines that waited. */
void lines_settle(struct lines *l);

/* The line of an address has come in for an access to the object. */
void lines_fetch(struct lines *l, uint64_t addr, uint32_t object);

/* The line of an address misses, and comes in with the next lines_fetch(): if
 * one of its `bytes` is touched before the line comes in again, counts that
 * once in `count`. `bytes`: a bit each, of a line of more than 64 bytes a bit
 * for so many that the line has 64 bits. `count` is the caller's and outlives
 * the lines. */
void
lines_watch(struct lines *l, uint64_t addr, uint64_t bytes, uint64_t *count);

/* These bytes are touched, at most 64. */
void lines_touch(struct lines *l, uint64_t addr, unsigned size);

#endif
