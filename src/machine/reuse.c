/* SPDX-License-Identifier: MIT */
#include "machine/reuse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "machine/cache_avx2.h"

#define LEAST_PLACES 4096u
#define LEAST_TIMES 4096u

/* Times of a word, a block and a group. */
#define WORD_SHIFT 6u
#define BLOCK_SHIFT 12u
#define GROUP_SHIFT 18u

/* Returns the first place where a key may be. Four lines that follow each other
 * in memory share one line of the host's cache. */
static inline uint64_t
first_place(const struct reuse *r, uint64_t key)
{
    const uint64_t group = (key >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> 20;

    return (group << 2 & r->mask) | (key & 3);
}

static uint64_t
place_of(const struct reuse *r, uint64_t key)
{
    uint64_t at = first_place(r, key);

    while (r->lines[at].line != 0 && r->lines[at].line != key)
        at = (at + 1) & r->mask;
    return at;
}

static inline void
set_time(struct reuse *r, uint64_t time)
{
    r->bits[time >> WORD_SHIFT] |= UINT64_C(1) << (time & 63);
    r->blocks[time >> BLOCK_SHIFT]++;
    r->groups[time >> GROUP_SHIFT]++;
}

static inline void
clear_time(struct reuse *r, uint64_t time)
{
    r->bits[time >> WORD_SHIFT] &= ~(UINT64_C(1) << (time & 63));
    r->blocks[time >> BLOCK_SHIFT]--;
    r->groups[time >> GROUP_SHIFT]--;
}

/* Returns how many times after `time` are a line's last: looks at the words up
 * to the end of the block, then at the blocks up to the end of the group, then
 * at the groups. */
static inline __attribute__((always_inline)) uint64_t
count_after(const struct reuse *r, uint64_t time)
{
    const uint64_t last = r->now - 1;
    uint64_t word = time >> WORD_SHIFT;
    uint64_t block = time >> BLOCK_SHIFT;
    uint64_t group = time >> GROUP_SHIFT;
    uint64_t count = (uint64_t)__builtin_popcountll(
        r->bits[word] & ~(UINT64_MAX >> (63 - (time & 63))));

    for (word++; word <= last >> WORD_SHIFT &&
                 word >> (BLOCK_SHIFT - WORD_SHIFT) == block;
         word++)
        count += (uint64_t)__builtin_popcountll(r->bits[word]);
    for (block++; block <= last >> BLOCK_SHIFT &&
                  block >> (GROUP_SHIFT - BLOCK_SHIFT) == group;
         block++)
        count += r->blocks[block];
    for (group++; group <= last >> GROUP_SHIFT; group++)
        count += r->groups[group];
    return count;
}

#ifdef __x86_64__
/* Returns the same with an instruction that counts bits. */
static CACHE_AVX2 uint64_t
count_after_avx2(const struct reuse *r, uint64_t time)
{
    return count_after(r, time);
}
#endif

static uint64_t
distance_of(const struct reuse *r, uint64_t time)
{
#ifdef __x86_64__
    if (cache_avx2_runs())
        return count_after_avx2(r, time);
#endif
    return count_after(r, time);
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

/* Makes room for `times` times. */
static bool
make_times(struct reuse *r, uint64_t times)
{
    uint64_t *const bits = calloc(times >> WORD_SHIFT, sizeof(*bits));
    uint32_t *const blocks = calloc(times >> BLOCK_SHIFT, sizeof(*blocks));
    uint64_t *const groups =
        calloc((times >> GROUP_SHIFT) + 1, sizeof(*groups));

    if (bits == NULL || blocks == NULL || groups == NULL) {
        free(bits);
        free(blocks);
        free(groups);
        return false;
    }
    r->bits = bits;
    r->blocks = blocks;
    r->groups = groups;
    r->times = times;
    return true;
}

/* Gives all lines new times from 0 on, in the order of those that they have,
 * and makes room for three times as many more. */
static bool
renew_times(struct reuse *r)
{
    const struct reuse old = *r;
    uint64_t times = LEAST_TIMES, before = 0;
    uint64_t *const ranks =
        malloc(((old.times >> WORD_SHIFT) + 1) * sizeof(*ranks));

    while (times < 4 * r->count)
        times *= 2;
    if (ranks == NULL || !make_times(r, times)) {
        free(ranks);
        return false;
    }
    for (uint64_t i = 0; i < old.times >> WORD_SHIFT; i++) {
        ranks[i] = before;
        before += (uint64_t)__builtin_popcountll(old.bits[i]);
    }
    for (uint64_t i = 0; r->lines != NULL && i <= r->mask; i++) {
        struct reuse_line *const l = &r->lines[i];
        if (l->line == 0 || l->time >= REUSE_AWAY)
            continue;
        const uint64_t word = l->time >> WORD_SHIFT;
        const uint64_t earlier = (UINT64_C(1) << (l->time & 63)) - 1;
        l->time = ranks[word] +
                  (uint64_t)__builtin_popcountll(old.bits[word] & earlier);
    }
    for (uint64_t i = 0; i < before; i++)
        set_time(r, i);
    r->now = before;
    free(ranks);
    free(old.bits);
    free(old.blocks);
    free(old.groups);
    return true;
}

void
reuse_finish(struct reuse *r)
{
    free(r->lines);
    free(r->bits);
    free(r->blocks);
    free(r->groups);
    memset(r, 0, sizeof(*r));
}

uint64_t
reuse_touch(struct reuse *r, uint64_t line)
{
    uint64_t distance = REUSE_NEVER;

    if (line + 1 == r->last)
        return 0;
    if ((r->now == r->times && !renew_times(r)) || !grow_lines(r))
        return REUSE_NEVER;
    struct reuse_line *const l = &r->lines[place_of(r, line + 1)];
    if (l->line != 0) {
        distance = distance_of(r, l->time);
        clear_time(r, l->time);
    } else {
        l->line = line + 1;
        r->count++;
    }
    l->time = r->now++;
    set_time(r, l->time);
    r->last = line + 1;
    return distance;
}

struct reuse_line *
reuse_claim(struct reuse *r, uint64_t line)
{
    if (!grow_lines(r))
        return NULL;
    struct reuse_line *const l = &r->lines[place_of(r, line + 1)];
    if (l->line == 0) {
        *l = (struct reuse_line){line + 1, REUSE_NEVER};
        r->count++;
    }
    return l;
}

uint64_t
reuse_take(struct reuse *r, struct reuse_line *l, uint64_t away)
{
    uint64_t after = REUSE_NEVER;

    if (l->time < REUSE_AWAY) {
        after = distance_of(r, l->time);
        clear_time(r, l->time);
    }
    l->time = REUSE_AWAY | away;
    r->last = 0;
    return after;
}

bool
reuse_put(struct reuse *r, struct reuse_line *l)
{
    if (r->now == r->times && !renew_times(r))
        return false;
    l->time = r->now++;
    set_time(r, l->time);
    r->last = l->line;
    return true;
}

void
reuse_fetch(const struct reuse *r, uint64_t line)
{
    if (r->lines != NULL)
        __builtin_prefetch(&r->lines[first_place(r, line + 1)], 1);
}
