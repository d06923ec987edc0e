/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/chip.h for one strand: each access goes
 * through the TLB and the caches when it happens, with no filter in front and
 * no queue behind. Other nodes, or cores with an L2 of their own, are its
 * peers.
 */
#ifndef TALLY_TEST_CHIP_REF_H
#define TALLY_TEST_CHIP_REF_H

#include "ref/btb_ref.h"
#include "ref/bus_ref.h"
#include "ref/cache_ref.h"
#include "ref/ittage_ref.h"
#include "ref/prefetcher_ref.h"
#include "ref/predictor_ref.h"
#include "ref/tlb_ref.h"
#include "source/block.h"
#include "table/table.h"

/* The cache levels behind the L2 that a machine may have: the L3 and on. */
#define LEVELS_REF (CACHE_COUNT - CACHE_L3)

/* A branch and where it went last. */
struct branch_ref {
    uint64_t pc, target;
};

/* Which node's memory has a page. */
struct home_ref {
    uint64_t page;
    unsigned node;
};

/* A way of a set of the L2, which holds lines in its own order. */
struct way_ref {
    uint64_t line; /* or NO_LINE */
    uint64_t used; /* when it was asked for last */
};

/* A piece of 2 MB. */
struct huge_ref {
    bool may; /* be a huge page if it is accessed first now */
    bool known, is_huge;
};

#define HUGE_REF_PIECES 24

struct chip_ref {
    const uint64_t *params;
    uint64_t components; /* enum component_id bits that run */
    struct cache_ref l1i, l1d, l2;
    struct prefetcher_ref l1d_prefetcher, l2_prefetcher; /* zeroed: none */
    struct cache_ref levels[LEVELS_REF]; /* behind the L2; lines 0: none */
    struct tlb_ref tlbs[TLB_COUNT];
    struct tlb_ref itlb_first, dtlb_first; /* if there are any */
    struct walk_cache_ref {
        uint64_t pages[256], used[256]; /* when each was asked for last; or 0 */
    } walk_caches[3];                   /* of levels 2, 3 and 4 */
    uint64_t walks;
    struct bus_ref bus;      /* with COMPONENT_BUS: no l2, no levels */
    struct way_ref *l2_ways; /* [sets][ways] */
    uint64_t *foretold;      /* [l2.foretold] ways */
    uint64_t now;            /* requests of the L2 so far */
    /* Of directions; of those that do not run nothing is asked. */
    struct predictor_ref first, beside[PREDICTOR_COUNT + 1];
    struct branch_ref *branches; /* [branch_count] that the BTC ever saw */
    size_t branch_count;
    struct cache_ref btc;     /* which of them it holds: lines of one byte */
    uint64_t *far;            /* branch at each entry, or NO_LINE */
    uint64_t *indirect;       /* target at each entry, or NO_LINE */
    uint64_t path;            /* history of indirect targets */
    struct ittage_ref ittage; /* with tables 0: none */
    struct btb_ref btb;       /* with levels 0: none */
    struct tlb_ref dtlb_huge; /* zeroed: huge pages share the data TLB */
    uint64_t huge_at;         /* where the pieces begin; 0: no huge pages */
    struct huge_ref huge[HUGE_REF_PIECES];
    bool misjudged; /* the branch went another way than the first predictor
                     * foretold */
    bool lost; /* no branch target buffer has the jump through a register */
    uint64_t *caches[TARGET_COUNT + 1]; /* targets at each entry, or NO_LINE */
    uint64_t went; /* history of the targets of all jumps through registers */
    uint64_t *returns; /* [return_count] the last call's last */
    size_t return_count;
    uint32_t *frames; /* [frame_count] of its callers, registers not spilled */
    size_t frame_count;
    const struct block *previous;
    unsigned node;
    struct chip_ref *peers[4]; /* in order, itself too; NULL: has none */
    struct home_ref *homes;    /* of all nodes, in those of the first */
    size_t home_count;
    struct store_ref {
        uint64_t addr, size;
    } * stores; /* [store_count] all of them */
    size_t store_count;
    unsigned misses, fills, writebacks; /* entries in use of the L2's buffers */
    uint64_t *driven; /* [driven_count] bytes of lines that left the L2 */
    size_t driven_count;
    bool outside;                      /* of the counted window */
    uint64_t signals[2][SIGNAL_COUNT]; /* [outside] */
};

/*
 * `params` must outlive it. Exits where there is no memory. A strand of each
 * node, or of each core of one node, has a chip_ref; those of one machine are
 * told of each other by chip_ref_join(), the first is of node 0 and has the L3.
 */
void
chip_ref_init(struct chip_ref *r, const uint64_t *params, uint64_t components);
void chip_ref_finish(struct chip_ref *r);
void chip_ref_join(struct chip_ref *nodes, unsigned count);

/* Now what has left an L2 that holds all that the L1s hold leaves those. */
void chip_ref_settle(struct chip_ref *r);

/* A block is entered: its predecessor's branch, then its lines. */
void chip_ref_block(struct chip_ref *r, const struct block *block);
void chip_ref_load(struct chip_ref *r, uint64_t addr, uint64_t size);
void chip_ref_bulk(struct chip_ref *r, uint64_t addr, uint64_t size);
void chip_ref_float(struct chip_ref *r, uint64_t addr, uint64_t size);
void chip_ref_prefetch(struct chip_ref *r, uint64_t addr, bool near);
void chip_ref_store(struct chip_ref *r, uint64_t addr, uint64_t size);
void chip_ref_atomic(struct chip_ref *r, uint64_t addr, uint64_t size);

#endif
