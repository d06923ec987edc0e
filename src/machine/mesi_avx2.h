/* SPDX-License-Identifier: MIT */
/* mesi_touch() and mesi_touch_or_mark() for hosts with AVX2. */
#ifndef TALLY_MACHINE_MESI_AVX2_H
#define TALLY_MACHINE_MESI_AVX2_H

#include "machine/mesi.h"

#ifdef __x86_64__
#include "machine/cache_avx2.h"

/* `columns` is c->columns, a constant. No branch depends on `mark`, as it
 * cannot be foreseen. */
static inline CACHE_AVX2 __attribute__((always_inline)) bool
mesi_touch_columns(struct mesi *c, uint64_t line, uint64_t states, bool mark,
                   uint32_t columns, uint64_t *gone)
{
    uint64_t *set = mesi_set_of(c, line);
    /* One less than a word, an empty one is no line's, not even line 0's. */
    const __m256i key = _mm256_set1_epi64x((int64_t)(line << 2));
    const __m256i one = _mm256_set1_epi64x(1);
    const __m256i state = _mm256_set1_epi64x(MESI_STATE);
    const __m256i marked = _mm256_set1_epi64x(mark ? MESI_MODIFIED : 0);
    __m256i old[4];
    uint32_t found = 0;

    for (uint32_t i = 0; i < columns / 4; i++) {
        old[i] = _mm256_load_si256((const __m256i *)set + i);
        const __m256i lines =
            _mm256_andnot_si256(state, _mm256_sub_epi64(old[i], one));
        const __m256i same = _mm256_cmpeq_epi64(lines, key);
        found |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(same))
                 << 4 * i;
        old[i] = _mm256_or_si256(old[i], _mm256_and_si256(same, marked));
    }
    const uint32_t place = (uint32_t)__builtin_ctz(found | 1u << (c->ways - 1));
    const uint64_t was = set[place];
    const uint64_t word =
        (found != 0 ? was : line << 2 | MESI_EXCLUSIVE) | states;
    const __m256i last = _mm256_set1_epi64x(mark ? 0 : place + 1);
    __m256i before = _mm256_set1_epi64x((int64_t)word);

    for (uint32_t i = 0; i < columns / 4; i++) {
        const __m256i turned = _mm256_permute4x64_epi64(old[i], 0x93);
        const __m256i moved = _mm256_blend_epi32(turned, before, 3);
        const __m256i places =
            _mm256_setr_epi64x(4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
        _mm256_store_si256(
            (__m256i *)set + i,
            _mm256_blendv_epi8(old[i], moved,
                               _mm256_cmpgt_epi64(last, places)));
        before = turned;
    }
    *gone = was;
    return found != 0;
}

/* Either, by `mark`. */
static inline CACHE_AVX2 __attribute__((always_inline)) bool
mesi_either_avx2(struct mesi *c, uint64_t line, uint64_t states, bool mark,
                 uint64_t *gone)
{
    switch (c->columns) {
    case 4:
        return mesi_touch_columns(c, line, states, mark, 4, gone);
    case 8:
        return mesi_touch_columns(c, line, states, mark, 8, gone);
    case 12:
        return mesi_touch_columns(c, line, states, mark, 12, gone);
    case 16:
        return mesi_touch_columns(c, line, states, mark, 16, gone);
    default:
        return mark ? mesi_mark(c, line) : mesi_touch(c, line, states, gone);
    }
}

static inline CACHE_AVX2 __attribute__((always_inline)) bool
mesi_touch_avx2(struct mesi *c, uint64_t line, uint64_t states, uint64_t *gone)
{
    return mesi_either_avx2(c, line, states, false, gone);
}

static inline CACHE_AVX2 __attribute__((always_inline)) bool
mesi_touch_or_mark_avx2(struct mesi *c, uint64_t line, bool mark,
                        uint64_t *gone)
{
    return mesi_either_avx2(c, line, 0, mark, gone);
}

#endif
#endif
