/* SPDX-License-Identifier: MIT */
#include "counter/counter.h"

/* Wide enough for the product of two 64-bit numbers plus half of a third. */
__extension__ typedef unsigned __int128 wide;

bool
counter_scaled(const struct counter_reading *r, uint64_t *scaled)
{
    if (r->running == 0)
        return false;
    if (r->running == r->enabled) {
        *scaled = r->value;
        return true;
    }
    const wide whole =
        ((wide)r->value * r->enabled + r->running / 2) / r->running;
    *scaled = whole > UINT64_MAX ? UINT64_MAX : (uint64_t)whole;
    return true;
}
