/* SPDX-License-Identifier: MIT */
#include "machine/recorder.h"

#include <string.h>

/* Returns the site of the key, or the empty one where it goes. */
static struct record_site *
find(struct record_site *sites, uint64_t mask, uint64_t key)
{
    uint64_t at = (key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 20 & mask;

    while (sites[at].key != key && sites[at].key != 0)
        at = (at + 1) & mask;
    return &sites[at];
}

/* Doubles the table. The new one is complete before it takes the old one's
 * place, as the process may be killed at any time. */
static void
grow(struct recorder *r)
{
    const uint64_t size = r->mask + 1;
    const unsigned place = atomic_load(&r->record->place) ^ 1;
    struct record_site *sites = r->record->sites[place & 1];

    for (uint64_t i = 0; i < size; i++) {
        if (r->sites[i].key != 0)
            *find(sites, 2 * size - 1, r->sites[i].key) = r->sites[i];
    }
    /* A reader between the two stores would see half of the old table's hash,
     * but readers come when the process has ended. */
    atomic_fetch_add(&r->record->bits, 1);
    atomic_store(&r->record->place, place);
    memset(r->sites, 0, size * sizeof(*r->sites));
    r->sites = sites;
    r->mask = 2 * size - 1;
}

static void
add(struct recorder *r, uint64_t key, uint64_t count)
{
    struct record_site *site = find(r->sites, r->mask, key);

    if (site->key == 0) {
        if (r->used >= (r->mask + 1) / 4 * 3) {
            if (r->mask + 1 >= RECORD_SITES)
                return; /* stays in the total alone */
            grow(r);
            site = find(r->sites, r->mask, key);
        }
        r->used++;
        site->key = key;
    }
    site->count += count;
}

void
recorder_init(struct recorder *r, struct record_strand *record,
              const uint16_t *signals, unsigned count, const uint64_t *total)
{
    const unsigned place = atomic_load(&record->place) & 1;

    memset(r, 0, sizeof(*r));
    r->record = record;
    if (atomic_load(&record->bits) == 0)
        atomic_store(&record->bits,
                     (unsigned)__builtin_ctz(RECORD_SITES_LEAST));
    r->sites = record->sites[place];
    r->mask = ((uint64_t)1 << atomic_load(&record->bits)) - 1;
    for (uint64_t i = 0; i <= r->mask; i++)
        r->used += r->sites[i].key != 0;
    memset(r->place, 0xff, sizeof(r->place));
    r->count = count;
    for (unsigned i = 0; i < count; i++) {
        r->signals[i] = signals[i];
        r->place[signals[i]] = (uint16_t)i;
        r->charged[i] = total[signals[i]];
    }
}

void
recorder_switch(struct strand *s, bool outside)
{
    struct recorder *r = s->recorder;

    r->outside = outside;
    s->branches = outside ? r->record->outside : r->record->branches;
    for (unsigned i = 0; i < r->count; i++)
        r->charged[i] = s->total[r->signals[i]];
}

void
recorder_charge(struct strand *s, uint32_t block, unsigned instruction)
{
    struct recorder *r = s->recorder;
    const uint64_t *total = s->total;

    for (unsigned i = 0; i < r->count; i++) {
        const unsigned signal = r->signals[i];
        const uint64_t gained = total[signal] - r->charged[i];
        if (__builtin_expect(gained == 0, 1))
            continue;
        r->charged[i] += gained;
        if (block != 0 && !r->outside)
            add(r, record_key(block, instruction, signal), gained);
    }
}

void
recorder_charge_one(struct strand *s, uint32_t block, unsigned instruction,
                    unsigned signal, uint64_t count)
{
    struct recorder *r = s->recorder;
    const unsigned place = r->place[signal];

    if (place == RECORDER_NONE)
        return;
    r->charged[place] += count;
    if (block != 0 && !r->outside)
        add(r, record_key(block, instruction, signal), count);
}
