/* SPDX-License-Identifier: MIT */
#include "machine/reuse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_PLACES 4096u
#define WORD 64u /* bits */

static uint64_t
place_of(const struct reuse *r, uint64_t key)
{
    uint64_t at = (key * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & r->mask;

    while (r->lines[at].line != 0 && r->lines[at].line != key)
        at = (at + 1) & r->mask;
    return at;
}

/* Adds to the sum of the word with a time. */
static inline void
change_sum(struct reuse *r, uint64_t time, uint32_t by)
{
    for (uint64_t i = time / WORD + 1; i <= r->times / WORD; i += i & -i)
        r->sums[i] += by;
}

static inline void
set_time(struct reuse *r, uint64_t time)
{
    r->bits[time / WORD] |= UINT64_C(1) << time % WORD;
    change_sum(r, time, 1);
}

static inline void
clear_time(struct reuse *r, uint64_t time)
{
    r->bits[time / WORD] &= ~(UINT64_C(1) << time % WORD);
    change_sum(r, time, UINT32_MAX);
}

/* Returns how many times up to this one are a line's last. */
static inline uint64_t
count_until(const struct reuse *r, uint64_t time)
{
    const uint64_t mask = UINT64_MAX >> (WORD - 1 - time % WORD);
    uint64_t count =
        (uint64_t)__builtin_popcountll(r->bits[time / WORD] & mask);

    for (uint64_t i = time / WORD; i > 0; i -= i & -i)
        count += r->sums[i];
    return count;
}

/* Doubles the hash table when it is half full. */
static bool
grow_lines(struct reuse *r)
{
    const struct reuse_line *const old = r->lines;
    const uint64_t places = old == NULL ? 0 : r->mask + 1;
    const uint64_t size = old == NULL ? LEAST_PLACES : 2 * places;

    if (2 * r->count < places)
        return true;
    struct reuse_line *const lines = calloc(size, sizeof(*lines));
    if (lines == NULL)
        return false;
    r->lines = lines;
    r->mask = size - 1;
    for (uint64_t i = 0; i < places; i++) {
        if (old[i].line != 0)
            lines[place_of(r, old[i].line)] = old[i];
    }
    free((void *)old);
    return true;
}

/* Gives all lines new times from 0 on, in the order of those that they have,
 * and makes room for at least as many more. */
static bool
renew_times(struct reuse *r)
{
    const uint64_t words = r->times / WORD;
    uint64_t times = LEAST_PLACES;

    while (times < 4 * r->count)
        times *= 2;
    uint64_t *const bits = calloc(times / WORD, sizeof(*bits));
    uint32_t *const sums = calloc(times / WORD + 1, sizeof(*sums));
    if (bits == NULL || sums == NULL) {
        free(bits);
        free(sums);
        return false;
    }
    /* sums[i + 1] becomes how many times before word i are a line's last. */
    uint64_t before = 0;
    for (uint64_t i = 0; i < words; i++) {
        r->sums[i] = (uint32_t)before;
        before += (uint64_t)__builtin_popcountll(r->bits[i]);
    }
    for (uint64_t i = 0; r->lines != NULL && i <= r->mask; i++) {
        struct reuse_line *const l = &r->lines[i];
        if (l->line == 0)
            continue;
        const uint64_t earlier = (UINT64_C(1) << l->time % WORD) - 1;
        l->time =
            r->sums[l->time / WORD] +
            (uint64_t)__builtin_popcountll(r->bits[l->time / WORD] & earlier);
    }
    free(r->bits);
    free(r->sums);
    r->bits = bits;
    r->sums = sums;
    r->times = times;
    r->now = before;
    for (uint64_t i = 0; i < before; i++)
        set_time(r, i);
    return true;
}

void
reuse_finish(struct reuse *r)
{
    free(r->lines);
    free(r->bits);
    free(r->sums);
    memset(r, 0, sizeof(*r));
}

uint64_t
reuse_touch(struct reuse *r, uint64_t line)
{
    uint64_t distance = REUSE_NEVER;

    if ((r->now == r->times && !renew_times(r)) || !grow_lines(r))
        return REUSE_NEVER;
    struct reuse_line *const l = &r->lines[place_of(r, line + 1)];
    if (l->line != 0) {
        distance = r->count - count_until(r, l->time);
        clear_time(r, l->time);
    } else {
        l->line = line + 1;
        r->count++;
    }
    l->time = r->now++;
    set_time(r, l->time);
    return distance;
}
