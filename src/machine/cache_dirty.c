/* SPDX-License-Identifier: MIT */
#include "machine/cache_dirty.h"

#include "machine/cache_avx2.h"

static inline __attribute__((always_inline)) bool
touch(struct cache *c, uint64_t line, bool write, cache_mover *move,
      struct cache_driven *driven)
{
    switch (c->columns) {
    case 2:
        return cache_touch_columns(c, line, write, 2, move, driven);
    case 4:
        return cache_touch_columns(c, line, write, 4, move, driven);
    case 8:
        return cache_touch_columns(c, line, write, 8, move, driven);
    case 16:
        return cache_touch_columns(c, line, write, 16, move, driven);
    default:
        return cache_touch_list(c, line, write, driven);
    }
}

#ifdef __x86_64__
static CACHE_AVX2 bool
touch_avx2(struct cache *c, uint64_t line, bool write,
           struct cache_driven *driven)
{
    return touch(c, line, write, cache_move_avx2, driven);
}
#endif

bool
cache_touch(struct cache *c, uint64_t line, bool write,
            struct cache_driven *driven)
{
    if (__builtin_expect(!cache_fits(c, line), 0))
        cache_widen(c);
#ifdef __x86_64__
    if (cache_avx2_runs())
        return touch_avx2(c, line, write, driven);
#endif
    return touch(c, line, write, cache_move, driven);
}
