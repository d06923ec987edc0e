/* SPDX-License-Identifier: MIT */
#include "ref/raw_ref.h"

#include <stdlib.h>

/* Of each 65536 stores but the first the first 2048 are looked at; how many
 * hits one stands for, or 0. */
static unsigned
sample(uint64_t count)
{
    if (count < 65536)
        return 1;
    return count % 65536 < 2048 ? 32 : 0;
}

static void
count_hit(struct chip_ref *r, bool buffer, bool full)
{
    r->signals[r->outside][buffer ? full ? SIGNAL_RAW_BUFFER_FULL
                                         : SIGNAL_RAW_BUFFER_PARTIAL
                           : full ? SIGNAL_RAW_QUEUE_FULL
                                  : SIGNAL_RAW_QUEUE_PARTIAL] +=
        sample(r->store_count);
}

/* The last store that has a byte of it. */
void
raw_ref_load(struct chip_ref *r, uint64_t addr, uint64_t size)
{
    const uint64_t buffer = r->params[PARAM_STORE_BUFFER];
    const uint64_t reach = buffer + r->params[PARAM_STORE_QUEUE];

    for (size_t age = 0; age < reach && age < r->store_count; age++) {
        const struct store_ref *s = &r->stores[r->store_count - 1 - age];
        if (sample(r->store_count - 1 - age) == 0)
            break;
        uint64_t bytes = 0;
        for (uint64_t i = 0; i < size; i++)
            bytes += addr + i >= s->addr && addr + i < s->addr + s->size;
        if (bytes == 0)
            continue;
        count_hit(r, age < buffer, bytes == size);
        return;
    }
}

void
raw_ref_store(struct chip_ref *r, uint64_t addr, uint64_t size)
{
    const size_t n = r->store_count;

    /* Full where the count is a power of two. */
    if ((n & (n - 1)) == 0)
        r->stores =
            reallocarray(r->stores, n == 0 ? 1 : 2 * n, sizeof(*r->stores));
    if (r->stores == NULL)
        abort();
    r->stores[r->store_count++] = (struct store_ref){addr, size};
}
