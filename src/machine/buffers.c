/* SPDX-License-Identifier: MIT */
#include "machine/buffers.h"

bool
buffers_are(const uint64_t *params)
{
    return params[PARAM_L2_SIZE] != 0 && params[PARAM_NODES] == 1 &&
           params[PARAM_L2_SHARED] == L2_SHARED_CORE &&
           params[PARAM_L3_SHARED] == L3_SHARED_CHIP &&
           (params[PARAM_L2_MISSES] != 0 || params[PARAM_L2_FILLS] != 0 ||
            params[PARAM_L2_WRITEBACKS] != 0);
}

/* Takes one more of so many entries. True if it was the last. */
static bool
take(unsigned *used, uint64_t entries)
{
    if (++*used != entries)
        return false;
    *used = 0;
    return true;
}

void
buffers_miss(struct strand *s, bool waits, bool behind, bool dirty)
{
    const uint64_t *params = s->chip->params;
    struct buffers *b = &s->buffers;

    if (waits) {
        *b = (struct buffers){0};
        return;
    }
    const bool miss = !behind && take(&b->misses, params[PARAM_L2_MISSES]);
    const bool fill = behind && take(&b->fills, params[PARAM_L2_FILLS]);
    const bool back =
        dirty && take(&b->writebacks, params[PARAM_L2_WRITEBACKS]);
    s->total[SIGNAL_L2_MISSES_FULL] += miss;
    s->total[SIGNAL_L2_FILLS_FULL] += fill;
    s->total[SIGNAL_L2_WRITEBACKS_FULL] += back;
    s->total[SIGNAL_L2_STALLS] += miss || fill || back;
}
