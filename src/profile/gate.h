/* SPDX-License-Identifier: MIT */
/*
 * A gate that another process opens and closes while a program runs, and the
 * counts of the time while the gate was open. The program does not stop for a
 * reading: the readings of two strands may be a few blocks apart, and the
 * counts of a thread that ends at that moment may fall on either side.
 */
#ifndef TALLY_PROFILE_GATE_H
#define TALLY_PROFILE_GATE_H

#include "source/counts_view.h"

struct gate {
    bool open;
    unsigned opened;  /* how often */
    unsigned missing; /* most threads whose counts were not to be had */
    struct totals from[COUNTS_SLICES]; /* counts when the gate opened last */
    struct totals sum[COUNTS_SLICES];  /* counts while the gate was open */
    /* Memory in which gate_turn() reads, too large for the stack. */
    struct totals now[COUNTS_SLICES];
    union counts_view_memory thread;
};

/* Opens or closes the gate, if that changes it. `fd` is the session's file, of
 * which the present counts are read. */
void gate_turn(struct gate *gate, bool open, int fd,
               const struct counts_rules *rules);

#endif
