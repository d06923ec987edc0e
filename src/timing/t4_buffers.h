/* SPDX-License-Identifier: MIT */
/*
 * What fills first behind a load that waits, on a SPARC T4: the reorder buffer,
 * the load buffer or the store buffer. Fixed signals: each load of a block
 * counts for the one that fills first if the block repeats itself behind it.
 *
 * Every micro-operation has an entry of the reorder buffer, a load's one of the
 * load buffer besides, a store's one of the store buffer. Where two fill at
 * once it is the reorder buffer, else the load buffer. The buffers are all the
 * strand's, and empty when the load begins to wait; what else follows it is not
 * seen. Document: SPARC T4 Supplement, TABLE 10-2, sl 9.
 */
#ifndef TALLY_TIMING_T4_BUFFERS_H
#define TALLY_TIMING_T4_BUFFERS_H

#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

/* Entries of each; 0: it never fills. Without a reorder buffer nothing counts.
 */
struct t4_buffers {
    unsigned rob, lb, sb;
};

struct t4_buffers t4_buffers_of(const uint64_t *params);

/* Adds the loads among these instructions to the fixed signals. */
void t4_buffers_add(const struct t4_buffers *tags, const struct insn *insns,
                    size_t count, int16_t *fixed);

#endif
