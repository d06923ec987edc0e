/* SPDX-License-Identifier: MIT */
#include "machine/buffers.h"

/* Takes one more entry, or none, of so many; all are free where it `waits`.
 * True if it was the last, and so all are. */
static inline unsigned
take(unsigned *used, bool one, bool waits, uint64_t entries)
{
    const unsigned now = (*used + one) & ((unsigned)waits - 1);
    const unsigned full = (now != 0) & (now == entries);

    *used = now & (full - 1);
    return full;
}

/* No branch could foresee what a miss is. */
void
buffers_miss(struct strand *s, bool waits, bool behind, bool dirty)
{
    const uint64_t *params = s->chip->params;
    struct buffers *b = &s->back->buffers;
    const unsigned miss =
        take(&b->misses, !behind, waits, params[PARAM_L2_MISSES]);
    const unsigned fill =
        take(&b->fills, behind, waits, params[PARAM_L2_FILLS]);
    const unsigned back =
        take(&b->writebacks, dirty, waits, params[PARAM_L2_WRITEBACKS]);

    s->total[SIGNAL_L2_MISSES_FULL] += miss;
    s->total[SIGNAL_L2_FILLS_FULL] += fill;
    s->total[SIGNAL_L2_WRITEBACKS_FULL] += back;
    s->total[SIGNAL_L2_STALLS] += miss | fill | back;
}
