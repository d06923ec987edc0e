/* SPDX-License-Identifier: MIT */
/*
 * Filters where a layout (layout.h) has other sets than the addresses say.
 * Entries of filters go by address, and what an entry holds has to be the most
 * recent line of its set in the L1D: so lines of two entries that share a set
 * must not both be known.
 */
#ifndef TALLY_MACHINE_LAYOUT_FIRST_H
#define TALLY_MACHINE_LAYOUT_FIRST_H

#include "machine/strand.h"

/* Notes that the line is the most recent of its set in the L1D, by the layout.
 * The line that the filters have had as the most recent of that set is known no
 * more. Without a layout the two share an entry, and nothing is to be done. */
static inline void
layout_first(struct strand *s, uint64_t line)
{
    const struct layout l = s->chip->layout;
    const struct filter *const f = &s->data;

    if (__builtin_expect(l.lines == 0, 1))
        return;
    const uint64_t set = layout_address(l, line) >> f->shift & f->mask;
    const uint64_t entry = line >> f->shift & f->mask;
    const uint64_t before = s->firsts[set];
    if (before == entry)
        return;
    s->firsts[set] = (uint16_t)entry;
    struct filter *const filters[] = {&s->data, &s->store};
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t known = filters[i]->line[before] & f->line_mask;
        if (known != NO_LINE && known != line &&
            (layout_address(l, known) >> f->shift & f->mask) == set)
            filter_put(filters[i], known, NO_LINE);
    }
}

#endif
