/* SPDX-License-Identifier: MIT */
/*
 * The slow, obvious twin of machine/tlb.h: entries in a plain array, searched
 * from the first to the last.
 */
#ifndef TALLY_TEST_TLB_REF_H
#define TALLY_TEST_TLB_REF_H

#include <stdbool.h>
#include <stdint.h>

struct tlb_ref_entry {
    bool filled, used;
    uint64_t page;
};

struct tlb_ref {
    uint32_t entries;
    uint32_t hand;
    uint32_t reserve; /* entries that each tag keeps, 0: none */
    struct tlb_ref_entry *entry;
};

struct tlb_ref_result {
    bool miss, cleared;
};

/* Exits where there is no memory. */
void tlb_ref_init(struct tlb_ref *t, uint32_t entries);
void tlb_ref_finish(struct tlb_ref *t);
void tlb_ref_clear(struct tlb_ref *t);

struct tlb_ref_result tlb_ref_access(struct tlb_ref *t, uint64_t page);

#endif
