/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/tlb.h: entries in a plain array, searched
 * from the first to the last; a set-associative one is the twin of a cache.
 */
#ifndef TALLY_TEST_TLB_REF_H
#define TALLY_TEST_TLB_REF_H

#include <stdbool.h>
#include <stdint.h>

#include "ref/cache_ref.h"

struct tlb_ref_entry {
    bool filled, used;
    uint64_t page;
};

struct tlb_ref {
    uint32_t entries;
    uint32_t hand;
    uint32_t reserve; /* entries that each tag keeps, 0: none */
    struct tlb_ref_entry *entry;
    struct cache_ref sets; /* if it is set associative: its `ways` are not 0 */
};

struct tlb_ref_result {
    bool miss, cleared;
    bool
        loses; /* an access to page `lost` would change something from now on */
    uint64_t lost;
};

/* Exits where there is no memory. */
void tlb_ref_init(struct tlb_ref *t, uint32_t entries);
/* Makes a set-associative one, of a value of the parameter itlb.replacement. */
void tlb_ref_init_sets(struct tlb_ref *t, uint32_t entries, uint32_t ways,
                       uint64_t replacement);
/* Makes the one that a machine's parameters say; without entries a zeroed one.
 */
void tlb_ref_init_row(struct tlb_ref *t, const uint64_t *params,
                      const struct tlb_row *row);
void tlb_ref_finish(struct tlb_ref *t);
void tlb_ref_clear(struct tlb_ref *t);

struct tlb_ref_result tlb_ref_access(struct tlb_ref *t, uint64_t page);

#endif
