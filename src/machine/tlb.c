/* SPDX-License-Identifier: MIT */
#include "machine/tlb.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int
tlb_init(struct tlb *t, uint32_t entries)
{
    uint32_t slots = 8;

    /* A table at most a quarter full keeps the probes short. */
    while (slots < entries * 4)
        slots *= 2;
    memset(t, 0, sizeof(*t));
    t->entries = entries;
    t->slot_mask = slots - 1;
    t->pages = calloc(entries, sizeof(*t->pages));
    t->used = calloc(entries, sizeof(*t->used));
    t->slots = calloc(slots, sizeof(*t->slots));
    if (t->pages == NULL || t->used == NULL || t->slots == NULL) {
        tlb_finish(t);
        return TALLY_ENOMEM;
    }
    return 0;
}

void
tlb_finish(struct tlb *t)
{
    free(t->pages);
    free(t->used);
    free(t->slots);
    memset(t, 0, sizeof(*t));
}

void
tlb_clear(struct tlb *t)
{
    memset(t->pages, 0, t->entries * sizeof(*t->pages));
    memset(t->used, 0, t->entries * sizeof(*t->used));
    memset(t->slots, 0, (t->slot_mask + 1) * sizeof(*t->slots));
    t->used_count = 0;
    t->hand = 0;
}

static uint32_t
home_slot(const struct tlb *t, uint64_t page)
{
    return (uint32_t)(page * 0x9e3779b97f4a7c15u >> 32) & t->slot_mask;
}

/* The slot that holds the page, or the empty one where it would go. */
static uint32_t
find_slot(const struct tlb *t, uint64_t page)
{
    uint32_t slot = home_slot(t, page);

    while (t->slots[slot] != 0 && t->pages[t->slots[slot] - 1] != page + 1)
        slot = (slot + 1) & t->slot_mask;
    return slot;
}

/* Empties a slot and closes the gap it leaves in the run of probes. */
static void
remove_slot(struct tlb *t, uint32_t hole)
{
    uint32_t slot = hole;

    for (;;) {
        t->slots[hole] = 0;
        for (;;) {
            slot = (slot + 1) & t->slot_mask;
            if (t->slots[slot] == 0)
                return;
            const uint64_t page = t->pages[t->slots[slot] - 1] - 1;
            const uint32_t from_home =
                (slot - home_slot(t, page)) & t->slot_mask;
            if (from_home >= ((slot - hole) & t->slot_mask))
                break;
        }
        t->slots[hole] = t->slots[slot];
        hole = slot;
    }
}

static uint32_t
choose_victim(struct tlb *t)
{
    while (t->used[t->hand])
        t->hand = t->hand + 1 == t->entries ? 0 : t->hand + 1;
    return t->hand;
}

static uint32_t
fill(struct tlb *t, uint64_t page)
{
    const uint32_t entry = choose_victim(t);

    if (t->pages[entry] != 0)
        remove_slot(t, find_slot(t, t->pages[entry] - 1));
    t->pages[entry] = page + 1;
    t->slots[find_slot(t, page)] = entry + 1;
    return entry;
}

/* Sets a used bit; when it was the last clear one, clears all others. */
static unsigned
mark_used(struct tlb *t, uint32_t entry)
{
    if (t->used[entry])
        return 0;
    t->used[entry] = 1;
    if (++t->used_count < t->entries)
        return 0;
    memset(t->used, 0, t->entries);
    t->used[entry] = 1;
    t->used_count = 1;
    return TLB_CLEARED;
}

unsigned
tlb_access(struct tlb *t, uint64_t page)
{
    const uint32_t slot = find_slot(t, page);

    if (t->slots[slot] != 0)
        return TLB_HIT | mark_used(t, t->slots[slot] - 1);

    const uint32_t entry = fill(t, page);
    return TLB_MISS | mark_used(t, entry);
}
