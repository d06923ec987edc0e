/* SPDX-License-Identifier: MIT */
#include "ref/inclusion_ref.h"

#include <stdlib.h>

#include "ref/branch_ref.h"

void
inclusion_ref_note(struct chip_ref *r, uint64_t addr)
{
    const uint64_t size = r->l2.line_size;
    const size_t n = r->driven_count;

    if (r->params[PARAM_L2_INCLUSIVE] == L2_INCLUSIVE_NONE)
        return;
    r->driven = reallocarray(r->driven, n + 1, sizeof(*r->driven));
    if (r->driven == NULL)
        abort();
    r->driven[r->driven_count++] = cache_ref_oldest(&r->l2, addr / size) * size;
}

/* Takes the lines that have a byte of a line of the L2 out of an L1. */
static void
take_all(struct chip_ref *r, struct cache_ref *l1, uint64_t addr,
         enum signal_id signal)
{
    for (uint64_t at = addr; at < addr + r->l2.line_size; at++) {
        if (!cache_ref_has(l1, at / l1->line_size))
            continue;
        chip_ref_count(r, signal);
        cache_ref_invalidate(l1, at / l1->line_size);
    }
}

void
chip_ref_settle(struct chip_ref *r)
{
    for (size_t i = 0; i < r->driven_count; i++) {
        if (cache_ref_has(&r->l2, r->driven[i] / r->l2.line_size))
            continue;
        take_all(r, &r->l1i, r->driven[i], SIGNAL_L1I_EVICTION_INVALIDATIONS);
        take_all(r, &r->l1d, r->driven[i], SIGNAL_L1D_EVICTION_INVALIDATIONS);
    }
    r->driven_count = 0;
}
