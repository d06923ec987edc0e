/* SPDX-License-Identifier: MIT */
/*
 * The register stack of an Itanium 2 as calls and returns of other processors
 * would move it: an assumption, since their programs allocate no frames.
 *
 * Each function has a frame of rse.frame registers, rse.outputs of them passed
 * to what it calls. A call makes the others dirty and renames the outputs; the
 * alloc behind it makes the frame whole. Registers that do not fit into
 * rse.registers are spilled, the oldest first, and a return fills those of its
 * frame that were. Nothing is spilled or filled ahead of need. Rules R433,
 * R436; calls, allocs and returns are the operations that retire.
 */
#ifndef TALLY_MACHINE_FRAMES_H
#define TALLY_MACHINE_FRAMES_H

#include <stdint.h>

struct frames {
    uint32_t registers, frame, outputs;
    uint32_t current; /* registers of the frame */
    uint32_t dirty;   /* of its callers, in the register stack */
};

void frames_init(struct frames *f, const uint64_t *params);
/* The first function again. */
void frames_reset(struct frames *f);

void frames_call(struct frames *f, uint64_t *total);
void frames_return(struct frames *f, uint64_t *total);

#endif
