/* SPDX-License-Identifier: MIT */
#include "ref/buffers_ref.h"

#include "ref/branch_ref.h"

/* One more entry of a buffer of the L2, which is empty when it is full. */
static bool
buffer(struct chip_ref *r, unsigned *used, int entries, enum signal_id full)
{
    if (++*used != r->params[entries])
        return false;
    *used = 0;
    chip_ref_count(r, full);
    return true;
}

void
buffers_ref_miss(struct chip_ref *r, bool waits, bool memory, bool dirty)
{
    bool full = false;

    if ((r->components & COMPONENT_WRITEBACK) == 0 ||
        r->params[PARAM_NODES] > 1 ||
        r->params[PARAM_L2_SHARED] != L2_SHARED_CORE)
        return;
    if (waits) {
        r->misses = r->fills = r->writebacks = 0;
        return;
    }
    if (memory)
        full = buffer(r, &r->misses, PARAM_L2_MISSES, SIGNAL_L2_MISSES_FULL);
    else
        full = buffer(r, &r->fills, PARAM_L2_FILLS, SIGNAL_L2_FILLS_FULL);
    if (dirty && buffer(r, &r->writebacks, PARAM_L2_WRITEBACKS,
                        SIGNAL_L2_WRITEBACKS_FULL))
        full = true;
    if (full)
        chip_ref_count(r, SIGNAL_L2_STALLS);
}
