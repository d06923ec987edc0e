/* SPDX-License-Identifier: MIT */
/*
 * Requests on machines whose L1 data cache or L2 has a prefetcher
 * (prefetcher.h). Each request goes through the caches alone, at once when the
 * filters do not know it: then the prefetchers of the levels that it has asked
 * are asked, and the lines that they ask for go through the same caches as
 * requests of their own, REQUEST_NEAR_AHEAD and REQUEST_FAR_AHEAD, which ask no
 * TLB. The L2's prefetcher sees the lines that the L1D's asks for. Walks of
 * tables of pages no prefetcher sees.
 *
 * A line that the L1D's prefetcher brings in becomes the most recent of its
 * set, but stands behind the most recent line if an access has asked for that
 * one: the filters of strands know that line, and an access to it still changes
 * nothing.
 *
 * Not modelled: time, and so lines that come too late; a limit of the lines
 * that are on their way.
 *
 * A machine without prefetchers has chip->prefetching false and does none of
 * this. test/ref/chip_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_PREFETCHING_H
#define TALLY_MACHINE_PREFETCHING_H

#include "machine/chip.h"

/* Takes one request through the caches; may change the request. Returns whether
 * it has asked what is behind the L1s. */
typedef bool
prefetching_taker(struct strand *s, struct request *r, void *context);

/* Takes a request through the caches by `take`, and after the request all lines
 * that prefetchers ask for. What is raised is charged to the request. Where
 * several strands run, under the lock of chip->prefetching_lock or under the
 * chip's. */
void prefetching_take(struct strand *s, const struct request *r,
                      prefetching_taker *take, void *context);

/* An access of a strand has taken a line, by its number, out of the caches of a
 * core: lines that waited there are useless. Returns how many were in the L1D's
 * and in the L2's cache. */
struct prefetching_lost {
    unsigned l1d, l2;
};
struct prefetching_lost prefetching_lose(struct core *core, uint64_t line);

#endif
