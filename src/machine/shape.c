/* SPDX-License-Identifier: MIT */
#include "machine/shape.h"

#include "machine/branch.h"
#include "machine/chip.h"
#include "timing/t4_stages.h"

struct block_shape
shape_of(const struct isa *isa, const uint64_t *params)
{
    struct block_shape shape = {
        .isa = isa,
        .page = isa->page,
        .l1i_slots = chip_fetch_slots(params),
        .layout = chip_layout(params),
        .group = t4_stages_width(params),
        .bundles = params[PARAM_ISSUE_GROUPS] == ISSUE_GROUPS_BUNDLES,
        .tags = t4_buffers_of(params),
        .drain_entries = (unsigned)params[PARAM_STORE_ENTRIES],
        .drain_cycles = (unsigned)params[PARAM_TIME_STORE],
        .from = NO_LINE,
        .to = NO_LINE,
    };

    branch_shape(params, &shape);
    return shape;
}
