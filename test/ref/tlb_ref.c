/* SPDX-License-Identifier: MIT */
#include "ref/tlb_ref.h"

#include <stdlib.h>
#include <string.h>

void
tlb_ref_init(struct tlb_ref *t, uint32_t entries)
{
    memset(t, 0, sizeof(*t));
    t->entries = entries;
    t->entry = calloc(entries, sizeof(*t->entry));
    if (t->entry == NULL)
        abort();
    tlb_ref_clear(t);
}

void
tlb_ref_init_sets(struct tlb_ref *t, uint32_t entries, uint32_t ways,
                  uint64_t replacement)
{
    static const uint64_t of_cache[] = {
        [ITLB_REPLACEMENT_LRU] = L2_REPLACEMENT_LRU,
        [ITLB_REPLACEMENT_RANDOM] = L2_REPLACEMENT_RANDOM,
        [ITLB_REPLACEMENT_FIFO] = L2_REPLACEMENT_FIFO,
    };

    memset(t, 0, sizeof(*t));
    t->entries = entries;
    cache_ref_init(&t->sets, entries, ways, 1);
    t->sets.replacement = of_cache[replacement];
}

void
tlb_ref_init_row(struct tlb_ref *t, const uint64_t *params,
                 const struct tlb_row *row)
{
    const uint32_t entries = (uint32_t)params[row->entries];
    const uint32_t ways = (uint32_t)params[row->ways];

    memset(t, 0, sizeof(*t));
    if (entries != 0 && params[row->replacement] == ITLB_REPLACEMENT_NRU)
        tlb_ref_init(t, entries);
    else if (entries != 0)
        tlb_ref_init_sets(t, entries, ways == 0 ? entries : ways,
                          params[row->replacement]);
}

void
tlb_ref_finish(struct tlb_ref *t)
{
    if (t->sets.ways != 0)
        cache_ref_finish(&t->sets);
    free(t->entry);
    memset(t, 0, sizeof(*t));
}

void
tlb_ref_clear(struct tlb_ref *t)
{
    if (t->sets.ways != 0) {
        cache_ref_clear(&t->sets);
        return;
    }
    memset(t->entry, 0, t->entries * sizeof(*t->entry));
    t->hand = 0;
}

static struct tlb_ref_entry *
find(struct tlb_ref *t, uint64_t page)
{
    for (uint32_t i = 0; i < t->entries; i++) {
        if (t->entry[i].filled && t->entry[i].page == page)
            return &t->entry[i];
    }
    return NULL;
}

/* What the page's tag has, or another one's beyond what that keeps. */
static bool
may_go(const struct tlb_ref *t, const struct tlb_ref_entry *entry,
       uint64_t page)
{
    const uint64_t tag = entry->page >> 56;
    uint32_t held = 0;

    for (uint32_t i = 0; i < t->entries; i++)
        held += t->entry[i].filled && t->entry[i].page >> 56 == tag;
    return !entry->filled || tag == page >> 56 || held > t->reserve;
}

static struct tlb_ref_entry *
find_unused(struct tlb_ref *t, uint64_t page)
{
    for (uint32_t i = 0; i < t->entries; i++) {
        const uint32_t at = (t->hand + i) % t->entries;
        if (!t->entry[at].used && may_go(t, &t->entry[at], page)) {
            t->hand = at;
            return &t->entry[at];
        }
    }
    return NULL;
}

/* The first entry from the hand on that is not used takes the page. */
static struct tlb_ref_entry *
replace(struct tlb_ref *t, uint64_t page, bool *cleared)
{
    struct tlb_ref_entry *entry = find_unused(t, page);

    if (entry == NULL) {
        *cleared = true;
        for (uint32_t i = 0; i < t->entries; i++)
            t->entry[i].used = false;
        entry = find_unused(t, page);
    }
    *entry = (struct tlb_ref_entry){.filled = true, .page = page};
    return entry;
}

static bool
all_used(const struct tlb_ref *t)
{
    for (uint32_t i = 0; i < t->entries; i++) {
        if (!t->entry[i].used)
            return false;
    }
    return true;
}

/* Accesses a page of a set-associative TLB. */
static struct tlb_ref_result
access_sets(struct tlb_ref *t, uint64_t page)
{
    struct cache_ref *c = &t->sets;
    const uint64_t set = page % c->sets;
    struct tlb_ref_result result = {.miss = !cache_ref_has(c, page)};

    if (c->replacement == L2_REPLACEMENT_FIFO) {
        result.loses = result.miss && cache_ref_is_full(c, page);
        result.lost = result.loses ? cache_ref_oldest(c, page) : 0;
    } else {
        result.loses = c->filled[set] > 0 && !cache_ref_is_recent(c, page);
        result.lost = result.loses ? c->lines[set * c->ways] : 0;
    }
    cache_ref_access(c, page);
    return result;
}

struct tlb_ref_result
tlb_ref_access(struct tlb_ref *t, uint64_t page)
{
    if (t->sets.ways != 0)
        return access_sets(t, page);

    struct tlb_ref_entry *entry = find(t, page);
    struct tlb_ref_result result = {.miss = entry == NULL};

    if (entry == NULL)
        entry = replace(t, page, &result.cleared);
    entry->used = true;
    if (all_used(t)) {
        result.cleared = true;
        for (uint32_t i = 0; i < t->entries; i++)
            t->entry[i].used = false;
        entry->used = true;
    }
    return result;
}
