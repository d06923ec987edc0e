/* SPDX-License-Identifier: MIT */
/*
 * What `tally calibrate` times on a processor: short loops, each of one kind of
 * operation. native.h runs them on this computer; a test has its own numbers.
 */
#ifndef TALLY_CALIBRATE_PROBE_H
#define TALLY_CALIBRATE_PROBE_H

#include <stdint.h>

/* Each comment says what one operation of the probe is. */
enum probe_kind {
    /* An addition that waits for the addition before. */
    PROBE_ADDS_CHAINED,
    /* An addition that waits for no other. */
    PROBE_ADDS_APART,
    /* One of two additions and a load, none of which waits for another. */
    PROBE_ADDS_AND_LOADS,
    /* A mispredicted branch. */
    PROBE_MISPREDICTS,
    /* A load of a line that the load before names; the lines stand in random
     * order over `size` bytes. */
    PROBE_RANDOM_WALK,
    /* A load of one of `count` such walks, which go on side by side. */
    PROBE_RANDOM_WALKS,
    /* A load of the next line of `size` bytes, which waits for no other. */
    PROBE_LOADS_IN_ORDER,
    /* A load as of PROBE_RANDOM_WALK, of one line in each of `count` pages. */
    PROBE_WALK_OF_PAGES,
    /* A load as of PROBE_RANDOM_WALK, of `count` lines that lie side by side.
     */
    PROBE_WALK_OF_LINES,
};

struct probe {
    enum probe_kind kind;
    uint64_t size, count;
};

/* A processor, or what stands for one. */
struct prober {
    /* Returns the nanoseconds of one operation. */
    double (*measure)(void *user, const struct probe *probe);
    /* Takes other pages of memory from now on, which the times of caches and
     * page tables depend on. */
    void (*renew)(void *user);
    void *user;
};

#endif
