/* SPDX-License-Identifier: MIT */
#include "timing/t1_store_buffer.h"

#include "table/table.h"

/* Adds a store that issues now. Returns the cycles that it waits for its entry.
 */
static uint32_t
add_store(struct t1_store_buffer *d)
{
    uint32_t *entry = &d->done[d->stores % d->entries];
    const uint32_t before =
        d->stores == 0 ? 0 : d->done[(d->stores - 1) % d->entries];
    const uint32_t wait = *entry > d->time ? *entry - d->time : 0;

    d->time += wait;
    *entry = (before > d->time ? before : d->time) + d->cycles;
    d->stores++;
    return wait;
}

void
t1_store_buffer_add(struct t1_store_buffer *drain, const struct insn *insns,
                    size_t count, int16_t *fixed)
{
    if (drain->entries == 0)
        return;
    for (size_t i = 0; i < count; i++) {
        if (insns[i].stores != 0 && insns[i].class == CLASS_STORE)
            fixed[SIGNAL_STORE_FULL] =
                (int16_t)(fixed[SIGNAL_STORE_FULL] + (int)add_store(drain));
        drain->time++;
    }
}
