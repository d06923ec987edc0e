/* SPDX-License-Identifier: MIT */
#include "ref/tlb_ref.h"

#include <stdlib.h>
#include <string.h>

void
tlb_ref_init(struct tlb_ref *t, uint32_t entries)
{
    t->entries = entries;
    t->reserve = 0;
    t->entry = calloc(entries, sizeof(*t->entry));
    if (t->entry == NULL)
        abort();
    tlb_ref_clear(t);
}

void
tlb_ref_finish(struct tlb_ref *t)
{
    free(t->entry);
    memset(t, 0, sizeof(*t));
}

void
tlb_ref_clear(struct tlb_ref *t)
{
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

struct tlb_ref_result
tlb_ref_access(struct tlb_ref *t, uint64_t page)
{
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
