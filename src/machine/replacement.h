/* SPDX-License-Identifier: MIT */
/*
 * Replacement by marks: policies that keep a byte for each way of a set, and
 * whose lines stay in their ways. doc/models/replacement.md says what each does
 * and by which papers; LRU, FIFO, MRU and random need no marks (cache.h).
 *
 *   PLRU   a tree over the ways, whose number is a power of two: byte n is the
 *          bit of node n, from the root, 1, on; the children of node n are 2n
 *          and 2n + 1. A bit that is 1 points to the upper half of the ways.
 *   SRRIP  byte n is the foreseen distance of way n, 0 to 3.
 *
 * A zeroed set of marks is a set that nothing has asked. All functions are
 * pure but for the marks of the one set; `ways` is 1 at least.
 * test/ref/cache_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_REPLACEMENT_H
#define TALLY_MACHINE_REPLACEMENT_H

#include <stdbool.h>
#include <stdint.h>

/* The distances of SRRIP, which are numbers of two bits: of a line that was
 * used again, of a new line, and of a line that may go. */
enum { SRRIP_NEAR = 0, SRRIP_LONG = 2, SRRIP_DISTANT = 3 };

/* Returns the way to which the bits of a tree point: the line there goes from a
 * full set. */
uint32_t plru_victim(const uint8_t *nodes, uint32_t ways);

/* Returns the way that was used last: the bits on its path point away from it.
 */
uint32_t plru_last(const uint8_t *nodes, uint32_t ways);

/* Notes the use of a way: the bits on its path point away from it. A second use
 * in a row changes nothing. */
void plru_use(uint8_t *nodes, uint32_t ways, uint32_t way);

/* Returns the first way with the distance SRRIP_DISTANT of a full set. Where no
 * way has that distance, all distances grow until one has. */
uint32_t srrip_victim(uint8_t *distances, uint32_t ways);

/* Notes the use of a way whose line was there (`hit`), or has come in. */
void srrip_use(uint8_t *distances, uint32_t way, bool hit);

#endif
