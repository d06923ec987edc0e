/* SPDX-License-Identifier: MIT */
/*
 * Microtags of an L1I: the low `l1i.microtag` bits of the tags of its lines. A
 * lookup that misses found a microtag all the same if a line of its set has the
 * same low bits, that which the miss drives out included.
 *
 * Not modelled: that several lines of a set have the microtag of one that hits,
 * of which the chip then takes the right one; what a wrong one costs. Document:
 * SPARC T4 Supplement, TABLE 10-2, sl 7. test/ref/chip_ref.c has the slow,
 * obvious twin.
 */
#ifndef TALLY_MACHINE_MICROTAG_H
#define TALLY_MACHINE_MICROTAG_H

#include "machine/cache.h"

bool microtag_found_any(const struct cache *c, uint64_t line, uint32_t mask);

static inline bool
microtag_is(uint32_t entry, uint32_t tag, uint32_t mask)
{
    return (entry != 0) & ((((entry - 1) ^ tag) & mask) == 0);
}

/*
 * Returns whether a line of the set of `line` has its microtag, before that is
 * looked up; `mask` has the bits of a microtag. No branch depends on what it
 * finds, as none can foresee which lookup misses.
 */
static inline bool
microtag_found(const struct cache *c, uint64_t line, uint32_t mask)
{
    if (__builtin_expect(c->columns != 4, 0))
        return microtag_found_any(c, line, mask);
    const uint32_t *t = c->tags + (line & c->set_mask) * 4;
    const uint32_t tag = (uint32_t)(line >> c->tag_shift);
    return microtag_is(t[0], tag, mask) | microtag_is(t[1], tag, mask) |
           microtag_is(t[2], tag, mask) | microtag_is(t[3], tag, mask);
}

#endif
