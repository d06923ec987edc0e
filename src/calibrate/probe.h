/* SPDX-License-Identifier: MIT */
/*
 * What `tally calibrate` times on a processor: short loops, each of one kind of
 * operation. native.h runs them on this computer; a test has its own numbers.
 */
#ifndef TALLY_CALIBRATE_PROBE_H
#define TALLY_CALIBRATE_PROBE_H

#include <stdint.h>

enum probe_kind {
    PROBE_CHAIN,      /* an addition that waits for the addition before */
    PROBE_ADDS,       /* an addition that waits for no other */
    PROBE_MIX,        /* one of two additions and a load, which wait for none */
    PROBE_MISPREDICT, /* a mispredicted branch */
    PROBE_LOAD,       /* a load of a line that the load before names, the lines
                         in random order over `size` bytes */
    PROBE_LOADS,      /* the same of `count` such walks at once: one load */
    PROBE_WALK,       /* PROBE_LOAD with the lines in order */
    PROBE_READ,       /* a load of the next line, which waits for no other */
    PROBE_PAGES,      /* PROBE_LOAD of one line in each of `count` pages */
    PROBE_LINES,      /* PROBE_LOAD of `count` lines, which are side by side */
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
