/* SPDX-License-Identifier: MIT */
/*
 * Ranges of addresses that have owners.
 *
 * Ranges are added in any order and may nest or overlap. span_flatten() then
 * cuts them so that each address has one owner: that of the range that begins
 * last, of ranges that begin together the deepest, then the shortest, then the
 * last owner. A search takes time in the logarithm of the number of ranges.
 */
#ifndef TALLY_NAMES_SPAN_H
#define TALLY_NAMES_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct span {
    uint64_t start, end; /* end is the first address behind */
    uint32_t owner;
    uint32_t depth;
};

struct span_list {
    struct span *all;
    size_t count, room;
};

/* Adds a range; one that is empty is left out. False: no memory. */
bool span_add(struct span_list *list, const struct span *span);

/* Sorts and cuts the ranges. False: no memory, and the list is empty. */
bool span_flatten(struct span_list *list);

/* Returns the range of a flattened list that holds the address, or NULL. */
const struct span *span_find(const struct span_list *list, uint64_t address);

/* Returns the first address behind `address` that another range may hold, or
 * none where a range holds `address`; UINT64_MAX: there is none. */
uint64_t span_until(const struct span_list *list, uint64_t address);

/* Frees the ranges; the list is then empty. */
void span_finish(struct span_list *list);

#endif
