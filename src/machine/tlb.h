/* SPDX-License-Identifier: MIT */
/*
 * A TLB, in one of two forms. One page size; no contexts: a process is a
 * machine of its own. test/ref/tlb_ref.c is the slow, obvious twin.
 *
 * Fully associative with not-recently-used replacement: each entry has a used
 * bit, set by every access; when the last clear one is set, all others are
 * cleared. A miss replaces the first entry, from a hand that moves on, whose
 * used bit is clear. The documents name no policy for the UltraSPARC T2; this
 * one lets a filter in front be exact: an access to a page whose used bit is
 * set changes nothing.
 *
 * Set associative with one of a cache's replacements: the pages are the lines
 * of a struct cache. An access to the most recent page of a set changes nothing
 * (first in, first out: an access to any page that the TLB has).
 */
#ifndef TALLY_MACHINE_TLB_H
#define TALLY_MACHINE_TLB_H

#include <stdbool.h>
#include <stdint.h>

#include "machine/cache.h"
#include "table/table.h"

/* Pages of a first-level TLB have 4 KB at most. */
#define TLB_FIRST_SHIFT 12

/* Where strands have their own entries their number stands here in a page's. */
#define TLB_TAG_SHIFT 56
#define TLB_TAGS 256

struct tlb {
    uint64_t *pages; /* [entries] page number + 1; 0: empty */
    uint64_t *used;  /* a bit for each entry; those behind the last are set */
    uint32_t *first; /* [slot_mask + 1] entry + 1 by hash of its page; or 0 */
    uint32_t *next;  /* [entries] the next entry of the same hash + 1; or 0 */
    uint32_t entries;
    uint32_t slot_mask;
    uint32_t used_count;
    uint32_t hand;
    uint32_t reserve;        /* 0: none, and `held` is not kept */
    uint32_t held[TLB_TAGS]; /* entries of each tag */
    struct cache sets; /* the set-associative form; its `ways` are 0: the other
                        */
    uint64_t lost;     /* the page of TLB_LOST */
};

enum tlb_result {
    TLB_HIT = 0,
    TLB_MISS = 1,
    TLB_CLEARED = 2, /* used bits were cleared: filters in front are void */
    /* Filters in front may know the page `lost` no more: an access to the page
     * would change something from now on. */
    TLB_LOST = 4,
};

/* Sets up a TLB. Returns 0 or TALLY_ENOMEM; tlb_finish() accepts a zeroed
 * struct. */
int tlb_init(struct tlb *t, uint32_t entries);

/* Sets up a TLB in its set-associative form: `entries` are `ways` times a power
 * of two, `replacement` is a value of the parameter itlb.replacement, but not
 * nru. Returns 0 or TALLY_ENOMEM. */
int tlb_init_sets(struct tlb *t, uint32_t entries, uint32_t ways,
                  uint64_t replacement);
void tlb_finish(struct tlb *t);
void tlb_clear(struct tlb *t);

/*
 * From now on a miss leaves each other tag's last `entries` alone: it takes the
 * first entry, from the hand on, whose used bit is clear and that may go; where
 * there is none all used bits are cleared first. The TLB must be empty and not
 * set associative.
 */
void tlb_reserve(struct tlb *t, uint32_t entries);

/* Accesses a page; the result is a set of enum tlb_result bits. */
unsigned tlb_access(struct tlb *t, uint64_t page);

#endif
