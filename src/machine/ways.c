/* SPDX-License-Identifier: MIT */
#include "machine/ways.h"

#include <stdlib.h>

#include "base/error.h"

int
ways_init(struct ways *w, const struct cache *c, uint64_t entries)
{
    const size_t sets = c->set_mask + 1;

    w->entries = entries;
    w->mask = (entries & (entries - 1)) == 0 ? entries - 1 : 0;
    w->order = malloc(sets * c->ways);
    w->table = malloc(entries);
    if (w->order == NULL || w->table == NULL) {
        ways_finish(w);
        return TALLY_ENOMEM;
    }
    ways_clear(w, c);
    return 0;
}

void
ways_finish(struct ways *w)
{
    free(w->order);
    free(w->table);
    memset(w, 0, sizeof(*w));
}

void
ways_clear(struct ways *w, const struct cache *c)
{
    const size_t count = (c->set_mask + 1) * c->ways;

    for (size_t i = 0; i < count; i++)
        w->order[i] = (uint8_t)(c->ways - 1 - i % c->ways);
    memset(w->table, 0, w->entries);
}

/* Returns the place whose way a line gets that is not there. */
static uint32_t
place_to_fill(const uint8_t *order, const struct cache *c, uint64_t set,
              uint8_t foretold)
{
    const uint32_t last = c->ways - 1;

    for (uint32_t i = last; cache_is_empty(c, set, i); i--) {
        if (order[i] == foretold)
            return i;
        if (i == 0)
            break;
    }
    return last;
}

/* The way at `place` moves to `to`, those between make room. */
static void
move_way(uint8_t *order, uint32_t place, uint32_t to)
{
    const uint8_t way = order[place];

    if (to < place)
        memmove(order + to + 1, order + to, place - to);
    else
        memmove(order + place, order + place + 1, to - place);
    order[to] = way;
}

bool
ways_ask_any(struct ways *w, const struct cache *c, uint64_t line)
{
    const uint64_t set = line & c->set_mask;
    uint8_t *order = w->order + set * c->ways;
    uint8_t *foretold = ways_foretold(w, set);
    uint32_t place = cache_search(c, line);
    const bool hit = place < c->ways;

    if (!hit)
        place = place_to_fill(order, c, set, *foretold);
    move_way(order, place, 0);
    const bool wrong = hit && *foretold != order[0];
    *foretold = order[0];
    return wrong;
}

void
ways_drop(struct ways *w, const struct cache *c, uint64_t line)
{
    const uint32_t place = cache_search(c, line);

    if (place < c->ways)
        move_way(w->order + (line & c->set_mask) * c->ways, place, c->ways - 1);
}
