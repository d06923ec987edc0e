/* SPDX-License-Identifier: MIT */
#include "machine/raw.h"

#include <string.h>

#include "table/table.h"

void
raw_init(struct raw *raw, const uint64_t *params)
{
    memset(raw, 0, sizeof(*raw));
    raw->buffer = (uint32_t)params[PARAM_STORE_BUFFER];
    raw->reach = raw->buffer + (uint32_t)params[PARAM_STORE_QUEUE];
    raw->on = true;
    raw->weight = 1;
    raw->turn = RAW_STORES + RAW_PERIOD;
    raw->count = raw->since = RAW_STORES; /* none of `latest` is in reach */
}

void
raw_keep(struct raw *raw, uint64_t first, uint64_t last)
{
    uint32_t *unit0 = &raw->latest[raw_unit(first)];
    uint32_t *unit1 = &raw->latest[raw_unit(last)];

    raw->stores[raw->count % RAW_STORES] =
        (struct raw_store){first, last, {*unit0, *unit1}};
    *unit0 = *unit1 = raw->count;
}

/* What `latest` has from before is out of reach when it is on again. */
void
raw_turn(struct raw *raw)
{
    if (!raw->on)
        raw->since = raw->count;
    raw->on = raw->weight == 1 || !raw->on;
    raw->weight = RAW_PERIOD / RAW_SAMPLE;
    raw->turn += raw->on ? RAW_SAMPLE : RAW_PERIOD - RAW_SAMPLE;
}

static bool
overlaps(const struct raw_store *s, uint64_t first, uint64_t last)
{
    return s->first <= last && s->last >= first;
}

/*
 * Returns the age of the last store to a byte of the load, or `most`: looks at
 * the stores to the load's unit, one by one. The age must grow, so numbers from
 * 2^32 stores ago end the search.
 */
static uint32_t
age_in_unit(const struct raw *raw, uint64_t first, uint64_t last, uint32_t most)
{
    const uint32_t unit = raw_unit(first);
    uint32_t age = raw->count - raw->latest[unit];

    while (age < most) {
        const struct raw_store *s =
            &raw->stores[(raw->count - age) % RAW_STORES];
        if (overlaps(s, first, last))
            return age;
        const uint32_t next =
            raw->count - s->before[raw_unit(s->first) != unit];
        age = next > age ? next : most;
    }
    return most;
}

/* Returns the same for a load that crosses the end of a unit: looks at the
 * stores one by one. */
static uint32_t
age_of_any(const struct raw *raw, uint64_t first, uint64_t last, uint32_t most)
{
    uint32_t age = 0;

    while (
        age < most &&
        !overlaps(&raw->stores[(raw->count - age) % RAW_STORES], first, last))
        age++;
    return age;
}

void
raw_search(const struct raw *raw, uint64_t *total, uint64_t first,
           uint64_t last)
{
    const uint32_t kept = raw->count - raw->since;
    const uint32_t most = kept < raw->reach ? kept : raw->reach;
    const uint32_t age = first / 8 == last / 8
                             ? age_in_unit(raw, first, last, most)
                             : age_of_any(raw, first, last, most);
    const struct raw_store *s = &raw->stores[(raw->count - age) % RAW_STORES];
    const bool full = s->first <= first && s->last >= last;
    const bool buffer = age < raw->buffer;

    if (age < most)
        total[(buffer ? SIGNAL_RAW_BUFFER_FULL : SIGNAL_RAW_QUEUE_FULL) +
              !full] += raw->weight;
}
