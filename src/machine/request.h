/* SPDX-License-Identifier: MIT */
/*
 * A request: an access that the filters of a strand do not know, on its way
 * from the strand's queue through the caches to memory. A request knows who
 * asked, so that a miss can be told by instruction.
 */
#ifndef TALLY_MACHINE_REQUEST_H
#define TALLY_MACHINE_REQUEST_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum request_kind {
    REQUEST_LOAD,
    REQUEST_STORE,   /* allocates in the L1 */
    REQUEST_THROUGH, /* a store that passes the L1 by */
    REQUEST_ATOMIC,  /* passes the L1 by, and takes the line out of the L1 */
    REQUEST_FETCH,
    REQUEST_WALK_I, /* a hardware table walk for the ITLB */
    REQUEST_WALK_D, /* and for the DTLB */
    REQUEST_NEAR,   /* a prefetch instruction, for the L1D */
    REQUEST_FAR,    /* a prefetch instruction that passes the L1 by */
    /* Lines that the prefetcher of the L1D asks for, and of the L2, which pass
     * the L1D by; in no queue: see prefetching.h. */
    REQUEST_NEAR_AHEAD,
    REQUEST_FAR_AHEAD,
    /* A load that passes the L1 by, where l1d.float has it so: only
     * coherence_bus.c sees these. */
    REQUEST_FLOAT,
    /* Code ahead of the fetches, which is in no queue: see ahead.h. */
    REQUEST_AHEAD,
    /* A dirty line on its way out: between the stages of a drain only. */
    REQUEST_WRITE_BACK,
    REQUEST_KINDS
};

/* A set of kinds has one bit for each. */
#define REQUEST_BIT(kind) (1u << (kind))

enum request_flags {
    /* Before the request, the two most recent lines of its set in the L1 change
     * places. No cache behind the L1s looks at the flag. */
    REQUEST_TURN = 1 << 0,
    /* A fetch that the L1I has not been asked for yet: a lone strand's only. */
    REQUEST_LOOKUP = 1 << 1,
    /* REQUEST_WRITE_BACK: the L1D keeps the line, which a store has just made
     * dirty (l2.dirty = stored). */
    REQUEST_UPDATE = 1 << 2,
    /* The L2 has the line, but its reader may wait for reads of memory that are
     * under way. */
    REQUEST_HIT = 1 << 3,
    /* REQUEST_LOAD: of an atomic, which takes the line from other cores. */
    REQUEST_OWN = 1 << 4,
    /* Another core's L1D or own L2 has the line, or had the line until this
     * request took it; set where an L3 fills from victims (exclusion.h). */
    REQUEST_PEER = 1 << 5,
};

struct request {
    uint64_t addr; /* in the line; of data that byte of the access in the line
                      that is first */
    uint32_t cell; /* that asked, in a recording; 0: not known */
    union {
        uint16_t instruction; /* of data: that of the block, from 0 */
        uint16_t next;        /* of a fetch: ahead_next() */
    };
    uint8_t kind;  /* enum request_kind */
    uint8_t flags; /* enum request_flags */
};

static_assert(sizeof(struct request) == 16 &&
                  offsetof(struct request, cell) == 8 &&
                  offsetof(struct request, instruction) == 12 &&
                  offsetof(struct request, kind) == 14 &&
                  offsetof(struct request, flags) == 15,
              "all but the address is one word, see request_rest()");

/* Returns all of a request but its address, in one word: a request is written
 * by two stores, not by five. */
static inline uint64_t
request_rest(uint32_t cell, unsigned instruction, enum request_kind kind,
             uint64_t flags)
{
    const uint64_t low = (uint16_t)instruction;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return cell | low << 32 | (uint64_t)kind << 48 | flags << 56;
#else
    return (uint64_t)cell << 32 | low << 16 | (uint64_t)kind << 8 | flags;
#endif
}

static inline void
request_put(struct request *to, uint64_t addr, uint64_t rest)
{
    to->addr = addr;
    memcpy((char *)to + offsetof(struct request, cell), &rest, sizeof(rest));
}

#endif
