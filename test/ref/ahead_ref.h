/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/ahead.h: the lines that are fetched ahead,
 * oldest first, by their addresses.
 */
#ifndef TALLY_TEST_AHEAD_REF_H
#define TALLY_TEST_AHEAD_REF_H

#include <stdbool.h>
#include <stdint.h>

struct chip_ref;

struct ahead_ref {
    struct ahead_ref_line {
        uint64_t addr;
        unsigned served; /* 1 by the L3, 2 by memory, and is not here yet */
        bool gone;       /* taken: its place stays until its turn */
        bool waits;      /* for another request of its line of the L2 */
    } lines[8];
    unsigned count;
    uint64_t end; /* of the stream that has been asked for */
};

/* A fetch of a line that the L1I lacked. */
void ahead_ref_fetch(struct chip_ref *r, uint64_t addr);

/* The strand has waited for the L3 (1), for memory (2). */
void ahead_ref_wait(struct chip_ref *r, unsigned served);

#endif
