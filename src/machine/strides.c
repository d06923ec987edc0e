/* SPDX-License-Identifier: MIT */
#include "machine/strides.h"

/* Counts a step. */
static void
count_step(struct record_stride *s, int64_t step)
{
    for (unsigned i = 0; i < RECORD_STEPS; i++) {
        if (s->counts[i] == 0)
            s->steps[i] = step;
        if (s->steps[i] == step) {
            s->counts[i]++;
            return;
        }
    }
    s->other++;
}

void
strides_note(struct record_stride *s, uint32_t thread, uint64_t addr)
{
    if (s->shown != 0) {
        s->shown = (s->shown + 1) % s->pieces;
        return;
    }
    s->shown = s->pieces > 1;
    if (s->thread == thread + 1)
        count_step(s, (int64_t)(addr - s->last));
    s->thread = thread + 1;
    s->last = addr;
}
