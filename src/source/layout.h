/* SPDX-License-Identifier: MIT */
/*
 * Other sets for the same program: the caches and predictors see each page's
 * lines in another order, which follows from the number of the layout, the
 * parameter `layout`, and from the page. So lines of different pages meet in
 * other sets, as they would if the program's parts stood elsewhere, while each
 * page has the same lines as before. What differs from layout to layout is
 * luck; see doc/check.md.
 *
 * A line changes places with another of its page: an address that is mapped
 * twice is the address.
 */
#ifndef TALLY_SOURCE_LAYOUT_H
#define TALLY_SOURCE_LAYOUT_H

#include <stdint.h>

#define LAYOUT_PAGE_SHIFT 12u

struct layout {
    uint64_t key;
    uint64_t lines; /* bits of an address that tell the line in its page; 0: the
                       layout that the addresses are */
};

/* Returns the layout of a number, for caches whose largest line is so many
 * bytes, a power of two; 0: that of the addresses. */
static inline struct layout
layout_of(uint64_t number, uint64_t line)
{
    const uint64_t page = UINT64_C(1) << LAYOUT_PAGE_SHIFT;

    return (struct layout){
        .key = number * UINT64_C(0xd1342543de82ef95),
        .lines = number != 0 ? page - line : 0,
    };
}

/* Returns bits that follow from the layout and a number. */
static inline uint64_t
layout_mix(struct layout l, uint64_t number)
{
    uint64_t mix = number + l.key;

    /* Mixing of splitmix64: Steele, Lea, Flood, OOPSLA 2014. */
    mix = (mix ^ mix >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    mix = (mix ^ mix >> 27) * UINT64_C(0x94d049bb133111eb);
    return mix ^ mix >> 31;
}

/* Returns where the caches see an address. */
static inline uint64_t
layout_address(struct layout l, uint64_t addr)
{
    return l.lines == 0
               ? addr
               : addr ^ (layout_mix(l, addr >> LAYOUT_PAGE_SHIFT) & l.lines);
}

/* Returns the number that predictors see for that of a branch. Each branch has
 * a number of its own in each layout: which branches share an entry of a table
 * is drawn anew, also of those that are neighbours. */
static inline uint64_t
layout_branch(struct layout l, uint64_t number)
{
    return l.lines == 0 ? number : layout_mix(l, number);
}

#endif
