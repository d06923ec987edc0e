/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile's buckets. They count in the plugin's memory, in the host's byte
 * order, and are copied to the buckets of the program. */
#include "plugin/vcounter_processes_own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX 64
#define BUCKETS_MAX (UINT64_C(1) << 24)

static void
finish(struct vcounter_profile *p)
{
    for (uint32_t i = 0; i < p->count; i++)
        free(p->ranges[i].buckets);
    free(p->ranges);
    free(p->guest);
    memset(p, 0, sizeof(*p));
}

void
vcounter_profile_forget(void)
{
    finish(&tally_plugin.vcounters.profile);
}

void
vcounter_profile_choose(bool accepted)
{
    struct vcounters *const v = &tally_plugin.vcounters;

    finish(accepted ? &v->profile : &v->proposed);
    if (accepted)
        v->profile = v->proposed;
    memset(&v->proposed, 0, sizeof(v->proposed));
}

/* Copies the buckets of a range from the host's byte order to the guest's, or
 * back. */
static void
turn_buckets(const struct virtual_range *r, uint16_t *out)
{
    const bool big_endian = tally_plugin.shape.isa->big_endian;

    for (uint32_t i = 0; i < r->count; i++)
        out[i] = big_endian ? __builtin_bswap16(r->buckets[i]) : r->buckets[i];
}

/* Adds the range at the guest's address to the proposed profile. Its buckets
 * begin with the program's numbers, which are written back once, to see that
 * they can be. */
static int
claim_range(struct vcounter_profile *p, uint64_t at)
{
    struct virtual_range *const to = &p->ranges[p->count];
    struct gateway_range from;

    if (!plugin_read(at, &from, sizeof(from)))
        return -EFAULT;
    const uint64_t count = gateway_word(from.count);
    if (count == 0 || count > BUCKETS_MAX)
        return -EINVAL;
    *to = (struct virtual_range){
        .offset = gateway_word(from.offset),
        .scale = (uint32_t)gateway_word(from.scale),
        .count = (uint32_t)count,
        .buckets = calloc(count, sizeof(uint16_t)),
    };
    if (to->buckets == NULL)
        return -ENOMEM;
    const uint64_t buckets = gateway_word(from.buckets);
    const size_t size = to->count * sizeof(uint16_t);
    p->guest[p->count++] = buckets;
    if (!plugin_read(buckets, to->buckets, size) ||
        !plugin_write(buckets, to->buckets, size))
        return -EFAULT;
    turn_buckets(to, to->buckets);
    return 0;
}

const struct virtual_range *
vcounter_profile_claim(const struct gateway_virtual *q, int *error)
{
    struct vcounter_profile *const p = &tally_plugin.vcounters.proposed;
    const uint64_t count = gateway_word(q->range_count);

    *error = -EINVAL;
    if (count == 0 || count > RANGES_MAX)
        return NULL;
    p->ranges = calloc(count, sizeof(*p->ranges));
    p->guest = calloc(count, sizeof(*p->guest));
    *error = p->ranges != NULL && p->guest != NULL ? 0 : -ENOMEM;
    for (uint64_t i = 0; *error == 0 && i < count; i++)
        *error = claim_range(p, gateway_word(q->ranges) +
                                    i * sizeof(struct gateway_range));
    if (*error != 0)
        finish(p);
    return p->ranges;
}

void
vcounter_profile_report(void)
{
    struct vcounter_profile *const p = &tally_plugin.vcounters.profile;

    for (uint32_t i = 0; i < p->count; i++) {
        const struct virtual_range *const r = &p->ranges[i];
        uint16_t *const turned =
            p->guest[i] != 0 ? malloc(r->count * sizeof(*turned)) : NULL;
        if (turned == NULL)
            continue;
        turn_buckets(r, turned);
        if (!plugin_write(p->guest[i], turned, r->count * sizeof(*turned)))
            p->guest[i] = 0;
        free(turned);
    }
}
