/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/sharing.h: cores with an L1I, an L1D and
 * perhaps an L2 each, and perhaps an L3 of all. Each access goes through the
 * caches when it is made; what is known of a line stands in a list, with a byte
 * for each byte of the line and each core.
 */
#ifndef TALLY_TEST_SHARING_REF_H
#define TALLY_TEST_SHARING_REF_H

#include "ref/cache_ref.h"
#include "source/block.h"
#include "table/table.h"

#define SHARING_REF_CORES 64
#define SHARING_REF_LINE 64

/* What a core that lost a line to a store knows of the line. */
struct lost_ref {
    bool lost;
    bool written[SHARING_REF_LINE]; /* since, by other cores */
};

struct line_ref {
    uint64_t line;
    int writer; /* the core that has the line modified; -1: none has */
    struct lost_ref lost[SHARING_REF_CORES];
    bool seen[SHARING_REF_CORES]; /* the core's L1D has had the line */
};

struct sharing_ref {
    const uint64_t *params;
    unsigned count; /* of cores */
    struct cache_ref l1i[SHARING_REF_CORES], l1d[SHARING_REF_CORES],
        l2[SHARING_REF_CORES], l3;
    struct cache_ref whole[SHARING_REF_CORES]; /* of the L1D's size, in one set
                                                */
    struct line_ref *lines;                    /* [line_count] */
    size_t line_count;
    uint64_t signals[SHARING_REF_CORES][SIGNAL_COUNT];
};

/* `params` must outlive it. Exits where there is no memory. */
void
sharing_ref_init(struct sharing_ref *r, const uint64_t *params, unsigned count);
void sharing_ref_finish(struct sharing_ref *r);

void sharing_ref_block(struct sharing_ref *r, unsigned core,
                       const struct block *block);
void sharing_ref_load(struct sharing_ref *r, unsigned core, uint64_t addr,
                      uint64_t size);
void sharing_ref_store(struct sharing_ref *r, unsigned core, uint64_t addr,
                       uint64_t size);
/* A load that takes the line from others and writes its bytes. */
void sharing_ref_atomic(struct sharing_ref *r, unsigned core, uint64_t addr,
                        uint64_t size);

#endif
