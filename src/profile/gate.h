/* SPDX-License-Identifier: MIT */
/*
 * A gate that is opened and closed while a program runs, and what was counted
 * while it was open. It is turned from outside the program: a reading may be a
 * few blocks apart between strands, and what a thread counted that ends at the
 * same moment may fall on either side.
 */
#ifndef TALLY_PROFILE_GATE_H
#define TALLY_PROFILE_GATE_H

#include "source/counts_view.h"

struct gate {
    bool open;
    unsigned opened;  /* how often */
    unsigned missing; /* threads whose counts were not to be had, at most */
    struct totals from[COUNTS_SLICES]; /* when it was opened last */
    struct totals sum[COUNTS_SLICES];  /* while it was open */
};

/* Opens or closes it, if it was not so, at what the counts of a session's
 * file have counted now. */
void gate_turn(struct gate *gate, bool open, int fd,
               const struct counts_rules *rules);

#endif
