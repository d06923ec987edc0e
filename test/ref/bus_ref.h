/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/coherence_bus.h: the caches of one core
 * behind its L1s, each a list of the lines that its sets have with when they
 * were used.
 */
#ifndef TALLY_TEST_BUS_REF_H
#define TALLY_TEST_BUS_REF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "table/table.h"

#include "ref/ahead_ref.h"

struct chip_ref;

enum bus_ref_state { REF_INVALID, REF_SHARED, REF_EXCLUSIVE, REF_MODIFIED };

struct bus_ref_level {
    uint64_t sets, ways, line_size;
    struct bus_ref_line {
        uint64_t number, used;
        enum bus_ref_state state;
    } * lines; /* [sets][ways] */
};

/* The numbers of the last lines, in order; the first `count`. */
struct bus_ref_recent {
    uint64_t lines[8];
    unsigned count;
};

struct bus_ref {
    struct bus_ref_recent writes, castouts;
    struct bus_ref_recent order; /* of all cores, in the first's */
    struct bus_ref_level l2i, l2d, l3;
    uint64_t now;       /* uses so far */
    uint64_t out;       /* reads that nothing waits for */
    uint64_t out_ahead; /* of them, of code that is fetched ahead */
    struct ahead_ref ahead;
    uint64_t lines[64]; /* that stores have out: [line_count] addresses */
    unsigned line_count;
    uint64_t left;    /* cycles to wait for all that is out */
    uint64_t victims; /* dirty lines that made room for them */
};

/* Who asks. */
enum bus_ref_asker {
    BUS_REF_FETCH,
    BUS_REF_LOAD,
    BUS_REF_FLOAT,
    BUS_REF_STORE,
    BUS_REF_ATOMIC,
    BUS_REF_WALK_I,
    BUS_REF_WALK_D,
    BUS_REF_AHEAD, /* a line of code before it is fetched */
};

void bus_ref_init(struct bus_ref *b, const uint64_t *params);
void bus_ref_finish(struct bus_ref *b);

/* A request that passes the L1s, or that they lack. */
void bus_ref_ask(struct chip_ref *r, uint64_t addr, enum bus_ref_asker asker);

/* The L2 for code and what stands behind it. What served the request: 0 the L2,
 * 1 the L3, 2 memory. */
unsigned
bus_ref_code(struct chip_ref *r, uint64_t addr, enum bus_ref_asker asker);

#endif
