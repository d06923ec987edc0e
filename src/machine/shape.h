/* SPDX-License-Identifier: MIT */
/* What the builder of blocks needs to know of a machine. */
#ifndef TALLY_MACHINE_SHAPE_H
#define TALLY_MACHINE_SHAPE_H

#include "source/block.h"

/* Returns the shape of the blocks of a guest on a machine with these parameters
 * (PARAM_COUNT), without an instruction cache and without places in the program
 * where counting begins or ends. */
struct block_shape shape_of(const struct isa *isa, const uint64_t *params);

#endif
