/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile's buckets: counted here, in our order of bytes, and copied to where
 * the program has its own. */
#include "plugin/vcounter_processes_own.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RANGES_MAX 64
#define BUCKETS_MAX (UINT64_C(1) << 24)

struct profile {
    struct virtual_range *ranges; /* owned, with their buckets */
    uint64_t *guest;              /* owned; where each range's are, 0: gone */
    uint32_t count;
};

/* The one that counts, and the one that is asked for. */
static struct profile profile, asked;

static uint16_t
guest_half(uint16_t half)
{
    return tally_plugin.shape.isa->big_endian ? __builtin_bswap16(half) : half;
}

static void
finish(struct profile *p)
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
    finish(&profile);
}

void
vcounter_profile_choose(bool fresh)
{
    finish(fresh ? &profile : &asked);
    if (fresh)
        profile = asked;
    memset(&asked, 0, sizeof(asked));
}

static void
turn_buckets(const struct virtual_range *r, uint16_t *out)
{
    for (uint32_t i = 0; i < r->count; i++)
        out[i] = guest_half(r->buckets[i]);
}

/* What is there is read, and written, so that it can be. */
static bool
read_buckets(const struct virtual_range *r, uint64_t from)
{
    const size_t size = r->count * sizeof(uint16_t);

    if (!plugin_read(from, r->buckets, size) ||
        !plugin_write(from, r->buckets, size))
        return false;
    turn_buckets(r, r->buckets);
    return true;
}

static int
take_range(uint64_t at)
{
    struct virtual_range *const to = &asked.ranges[asked.count];
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
    asked.guest[asked.count++] = gateway_word(from.buckets);
    return read_buckets(to, gateway_word(from.buckets)) ? 0 : -EFAULT;
}

const struct virtual_range *
vcounter_profile_take(const struct gateway_virtual *q, int *error)
{
    const uint64_t count = gateway_word(q->range_count);

    *error = -EINVAL;
    if (count == 0 || count > RANGES_MAX)
        return NULL;
    asked.ranges = calloc(count, sizeof(*asked.ranges));
    asked.guest = calloc(count, sizeof(*asked.guest));
    *error = asked.ranges != NULL && asked.guest != NULL ? 0 : -ENOMEM;
    for (uint64_t i = 0; *error == 0 && i < count; i++)
        *error = take_range(gateway_word(q->ranges) +
                            i * sizeof(struct gateway_range));
    if (*error != 0)
        finish(&asked);
    return asked.ranges;
}

void
vcounter_profile_give(void)
{
    for (uint32_t i = 0; i < profile.count; i++) {
        const struct virtual_range *const r = &profile.ranges[i];
        uint16_t *const turned =
            profile.guest[i] != 0 ? malloc(r->count * sizeof(*turned)) : NULL;
        if (turned == NULL)
            continue;
        turn_buckets(r, turned);
        if (!plugin_write(profile.guest[i], turned, r->count * sizeof(*turned)))
            profile.guest[i] = 0;
        free(turned);
    }
}
