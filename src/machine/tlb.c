/* SPDX-License-Identifier: MIT */
#include "machine/tlb.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static uint32_t
used_words(const struct tlb *t)
{
    return (t->entries + 63) / 64;
}

/* No entry is used. */
static void
clear_used(struct tlb *t)
{
    const uint32_t last = t->entries % 64;

    memset(t->used, 0, used_words(t) * sizeof(*t->used));
    if (last != 0)
        t->used[used_words(t) - 1] = UINT64_MAX << last;
    t->used_count = 0;
}

int
tlb_init(struct tlb *t, uint32_t entries)
{
    uint32_t slots = 8;

    while (slots < entries * 4)
        slots *= 2;
    memset(t, 0, sizeof(*t));
    t->entries = entries;
    t->slot_mask = slots - 1;
    t->pages = calloc(entries, sizeof(*t->pages));
    t->used = calloc(used_words(t), sizeof(*t->used));
    t->first = calloc(slots, sizeof(*t->first));
    t->next = calloc(entries, sizeof(*t->next));
    if (t->pages == NULL || t->used == NULL || t->first == NULL ||
        t->next == NULL) {
        tlb_finish(t);
        return TALLY_ENOMEM;
    }
    clear_used(t);
    return 0;
}

int
tlb_init_sets(struct tlb *t, uint32_t entries, uint32_t ways,
              uint64_t replacement)
{
    memset(t, 0, sizeof(*t));
    if (cache_init(&t->sets, entries, ways, 1) != 0)
        return TALLY_ENOMEM;
    t->entries = entries;
    return cache_replace(
        &t->sets, replacement == ITLB_REPLACEMENT_RANDOM ? L2_REPLACEMENT_RANDOM
                  : replacement == ITLB_REPLACEMENT_FIFO ? L2_REPLACEMENT_FIFO
                                                         : L2_REPLACEMENT_LRU);
}

void
tlb_finish(struct tlb *t)
{
    cache_finish(&t->sets);
    free(t->pages);
    free(t->used);
    free(t->first);
    free(t->next);
    memset(t, 0, sizeof(*t));
}

void
tlb_clear(struct tlb *t)
{
    if (t->sets.ways != 0) {
        cache_clear(&t->sets);
        return;
    }
    memset(t->pages, 0, t->entries * sizeof(*t->pages));
    memset(t->first, 0, (t->slot_mask + 1) * sizeof(*t->first));
    clear_used(t);
    t->hand = 0;
    memset(t->held, 0, sizeof(t->held));
}

static uint32_t
slot_of(const struct tlb *t, uint64_t page)
{
    return (uint32_t)(page * 0x9e3779b97f4a7c15u >> 32) & t->slot_mask;
}

/* Takes an entry that has a page out of the list of its slot. */
static void
unlink_entry(struct tlb *t, uint32_t entry)
{
    uint32_t *at = &t->first[slot_of(t, t->pages[entry] - 1)];

    while (*at != entry + 1)
        at = &t->next[*at - 1];
    *at = t->next[entry];
}

/* Returns the first entry from the hand on that is not used; there is one. */
static uint32_t
choose_victim(struct tlb *t)
{
    uint32_t word = t->hand / 64;
    uint64_t clear = ~t->used[word] & UINT64_MAX << t->hand % 64;

    while (clear == 0) {
        word = word + 1 == used_words(t) ? 0 : word + 1;
        clear = ~t->used[word];
    }
    t->hand = word * 64 + (uint32_t)__builtin_ctzll(clear);
    return t->hand;
}

void
tlb_reserve(struct tlb *t, uint32_t entries)
{
    t->reserve = entries;
}

static unsigned
owner_of(const struct tlb *t, uint32_t entry)
{
    return (unsigned)((t->pages[entry] - 1) >> TLB_TAG_SHIFT);
}

static bool
may_go(const struct tlb *t, uint32_t entry, unsigned tag)
{
    return t->pages[entry] == 0 || owner_of(t, entry) == tag ||
           t->held[owner_of(t, entry)] > t->reserve;
}

/* The first from the hand on that is not used and may go; false: none. */
static bool
find_going(struct tlb *t, unsigned tag)
{
    for (uint32_t i = 0; i < t->entries; i++) {
        const uint32_t entry = (t->hand + i) % t->entries;
        if ((t->used[entry / 64] >> entry % 64 & 1) == 0 &&
            may_go(t, entry, tag)) {
            t->hand = entry;
            return true;
        }
    }
    return false;
}

/* Chooses the entry that a miss replaces in a TLB with a reserve. */
static uint32_t
choose_apart(struct tlb *t, unsigned tag, unsigned *result)
{
    const uint32_t hand = t->hand;
    uint32_t entry = choose_victim(t);

    if (!may_go(t, entry, tag)) {
        t->hand = hand;
        if (!find_going(t, tag)) {
            *result |= TLB_CLEARED;
            clear_used(t);
            find_going(t, tag);
        }
        entry = t->hand;
    }
    if (t->pages[entry] != 0)
        t->held[owner_of(t, entry)]--;
    t->held[tag]++;
    return entry;
}

static uint32_t
fill(struct tlb *t, uint64_t page, uint32_t slot, unsigned *result)
{
    const uint32_t entry =
        t->reserve == 0
            ? choose_victim(t)
            : choose_apart(t, (unsigned)(page >> TLB_TAG_SHIFT), result);

    if (t->pages[entry] != 0)
        unlink_entry(t, entry);
    t->pages[entry] = page + 1;
    t->next[entry] = t->first[slot];
    t->first[slot] = entry + 1;
    return entry;
}

/* Sets a used bit; when it was the last clear one, clears all others. */
static unsigned
mark_used(struct tlb *t, uint32_t entry)
{
    uint64_t *word = &t->used[entry / 64];
    const uint64_t bit = (uint64_t)1 << entry % 64;
    const bool last = t->used_count + 1 == t->entries;

    if (*word & bit)
        return 0;
    if (last)
        clear_used(t);
    *word |= bit;
    t->used_count++;
    return last ? TLB_CLEARED : 0;
}

/* Accesses a page of a set-associative TLB. */
static __attribute__((noinline)) unsigned
access_sets(struct tlb *t, uint64_t page)
{
    struct cache *c = &t->sets;
    const uint32_t place = cache_search(c, page);
    const bool fifo = c->replacement == L2_REPLACEMENT_FIFO;
    const bool hit = place < c->ways;

    if (hit && (place == 0 || fifo))
        return TLB_HIT;
    /* First in, first out: the page that leaves; else: the page that is the
     * most recent no more. */
    const bool leaves =
        cache_line_at(c, page, fifo ? c->ways - 1 : 0, &t->lost);
    cache_access(c, page);
    return (hit ? TLB_HIT : TLB_MISS) | (leaves ? TLB_LOST : 0);
}

/* A miss takes no branch that cannot be foreseen: 3 % of all time of bzip2 on
 * the T1, against a table with open addressing. */
unsigned
tlb_access(struct tlb *t, uint64_t page)
{
    if (__builtin_expect(t->sets.ways != 0, 0))
        return access_sets(t, page);

    const uint32_t slot = slot_of(t, page);
    uint32_t found = t->first[slot];

    while (found != 0 && t->pages[found - 1] != page + 1)
        found = t->next[found - 1];
    if (found != 0)
        return TLB_HIT | mark_used(t, found - 1);
    unsigned result = TLB_MISS;
    const uint32_t entry = fill(t, page, slot, &result);
    return result | mark_used(t, entry);
}
