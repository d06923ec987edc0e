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

/* The tag, plus 1, of what a miss of `line` drives out of its set, whose first
 * two change places before where `turn`; 0: nothing. */
uint64_t microtag_last(const struct cache *c, uint64_t line, uint64_t turn);

/* Whether a lookup of `line` found its microtag: it missed, and has driven out
 * `last`. `mask` has the bits of a microtag. */
bool microtag_found(const struct cache *c, uint64_t line, uint64_t last,
                    uint64_t mask);

#endif
