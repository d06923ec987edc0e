/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile's buckets: counted here, in our order of bytes, and copied to where
 * the program has its own. */
#include "plugin/owners_own.h"

#include <stdlib.h>
#include <string.h>

#define RANGES_MAX 64
#define BUCKETS_MAX (UINT64_C(1) << 24)

static struct {
    struct virtual_range *ranges; /* owned, with their buckets */
    uint16_t **guest;             /* owned; where each range's are */
    uint32_t count;
} profile;

static uint16_t
guest_half(uint16_t half)
{
    return isa_is_big_endian(tally_plugin.shape.isa) ? __builtin_bswap16(half)
                                                     : half;
}

void
owners_profile_forget(void)
{
    for (uint32_t i = 0; i < profile.count; i++)
        free(profile.ranges[i].buckets);
    free(profile.ranges);
    free(profile.guest);
    memset(&profile, 0, sizeof(profile));
}

static bool
take_range(const struct gateway_range *from)
{
    struct virtual_range *const to = &profile.ranges[profile.count];
    const uint64_t count = gateway_word(from->count);
    uint16_t *const guest =
        (void *)(uintptr_t)plugin_memory(gateway_word(from->buckets));

    if (count == 0 || count > BUCKETS_MAX || from->buckets == 0)
        return false;
    *to = (struct virtual_range){
        .offset = gateway_word(from->offset),
        .scale = (uint32_t)gateway_word(from->scale),
        .count = (uint32_t)count,
        .buckets = calloc(count, sizeof(uint16_t)),
    };
    if (to->buckets == NULL)
        return false;
    for (uint64_t i = 0; i < count; i++)
        to->buckets[i] = guest_half(guest[i]);
    profile.guest[profile.count++] = guest;
    return true;
}

const struct virtual_range *
owners_profile_take(const struct gateway_virtual *q)
{
    const struct gateway_range *from = plugin_memory(gateway_word(q->ranges));
    const uint64_t count = gateway_word(q->range_count);

    owners_profile_forget();
    if (count == 0 || count > RANGES_MAX)
        return NULL;
    profile.ranges = calloc(count, sizeof(*profile.ranges));
    profile.guest = calloc(count, sizeof(*profile.guest));
    bool taken = profile.ranges != NULL && profile.guest != NULL;
    for (uint64_t i = 0; taken && i < count; i++)
        taken = take_range(&from[i]);
    if (!taken)
        owners_profile_forget();
    return profile.ranges;
}

void
owners_profile_give(void)
{
    for (uint32_t i = 0; i < profile.count; i++) {
        const struct virtual_range *const r = &profile.ranges[i];
        for (uint32_t k = 0; k < r->count; k++)
            profile.guest[i][k] = guest_half(r->buckets[k]);
    }
}
