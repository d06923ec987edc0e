/* SPDX-License-Identifier: MIT */
/*
 * An L3 that is a victim cache of the L2s (l3.fill = victims). A line from
 * memory goes to the L2 alone. A line that an L2 drives out, clean or dirty,
 * goes into the L3 as its most recent line. A line that the L3 serves leaves
 * the L3, and stays dirty if it was.
 *
 * Where cores take lines from each other (machine/sharing.h) and have an L2
 * each, a line that another core's L1D or L2 has is served from there, as if by
 * the L3: it counts as a hit. The L3 then keeps its own copy of the line,
 * unless the request takes the line from the others. A copy in the L3 of a line
 * that a core writes without a miss of its L2 stays, and the line replaces the
 * copy when the L2 drives it out. Other cores' caches are not asked where
 * l1d.coherence is none, as no core then knows of another's lines.
 *
 * Any request fills the L2, so requests of prefetchers and page walks are no
 * exception. A dirty line that leaves the L1D is written to the L2 or the L3
 * where one of them has the line, else behind them.
 *
 * test/ref/chip_ref.c and sharing_ref.c are the slow, obvious twins.
 */
#ifndef TALLY_MACHINE_EXCLUSION_H
#define TALLY_MACHINE_EXCLUSION_H

#include "machine/queue.h"

/* Takes requests through the strand's L2. The requests that miss move to the
 * front of `queue`, in order, and gone[i] becomes the line that request i drove
 * out, or CACHE_NOTHING. Adds the misses to `misses`, by kind. Returns how many
 * there are. All lines' tags fit. */
size_t exclusion_l2(struct strand *s, struct request *queue, size_t count,
                    uint32_t *misses, uint64_t *gone);

/* Takes what missed the L2 through the L3 in the same way, and puts the lines
 * of `gone` into the L3, each after its request was looked for. */
size_t exclusion_l3(struct strand *s, struct request *queue, size_t count,
                    uint32_t *misses, const uint64_t *gone);

/* Takes the line of a request that missed the L2 out of the L3, or lets the
 * line stay where other cores share it. Returns whether the L3 or another core
 * serves the request; *dirty: the line has left the L3, and is dirty. */
bool exclusion_take(struct strand *s, const struct request *r, bool *dirty);

#endif
