/* SPDX-License-Identifier: MIT */
#include "machine/microtag.h"

/* Returns the tag, plus 1, at a place of a line's set; 0: none. */
static uint64_t
tag_at(const struct cache *c, uint64_t line, uint32_t place)
{
    const uint64_t set = line & c->set_mask;

    if (c->columns != 0)
        return c->tags[(set << c->column_shift) + place];
    const uint64_t entry = c->lines[set * c->ways + place];
    return entry == 0 ? 0 : ((entry & ~CACHE_DIRTY) >> 1 >> c->tag_shift) + 1;
}

bool
microtag_found_any(const struct cache *c, uint64_t line, uint32_t mask)
{
    const uint64_t tag = line >> c->tag_shift;
    bool found = false;

    for (uint32_t i = 0; i < c->ways; i++) {
        const uint64_t other = tag_at(c, line, i);
        found |= other != 0 && (((other - 1) ^ tag) & mask) == 0;
    }
    return found;
}
