/* SPDX-License-Identifier: MIT */
/* cache_move() for hosts with AVX2. */
#ifndef TALLY_MACHINE_CACHE_AVX2_H
#define TALLY_MACHINE_CACHE_AVX2_H

#include "machine/cache.h"

#ifdef __x86_64__
#include <immintrin.h>

#define CACHE_AVX2 __attribute__((target("avx2,bmi,bmi2")))

static inline bool
cache_avx2_runs(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
}

/* All of `old` one place further back, what falls off the end comes first. */
static inline CACHE_AVX2 __m256i
cache_turned(__m256i old)
{
    return _mm256_permutevar8x32_epi32(
        old, _mm256_setr_epi32(7, 0, 1, 2, 3, 4, 5, 6));
}

static inline CACHE_AVX2 uint32_t
cache_equal(__m256i a, __m256i b)
{
    return (uint32_t)_mm256_movemask_ps(
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}

static inline CACHE_AVX2 bool
cache_move_four(uint32_t *tags, uint32_t tag, uint32_t ways, uint64_t turn,
                uint32_t *at)
{
    const __m128i key = _mm_set1_epi32((int)tag);
    const __m128i places =
        _mm_xor_si128(_mm_setr_epi32(0, 1, 2, 3),
                      _mm_cvtsi64_si128((int64_t)(turn << 32 | turn)));
    const __m128i old = _mm_castps_si128(
        _mm_permutevar_ps(_mm_load_ps((const void *)tags), places));
    const uint32_t found =
        (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(old, key)));
    const uint32_t place =
        (uint32_t)__builtin_ctz(found | (uint32_t)1 << (ways - 1));
    const __m128i upto =
        _mm_loadu_si128((const __m128i *)(cache_upto + 15 - place));
    *at = place;
    const __m128i moved = _mm_blend_epi32(
        _mm_shuffle_epi32(old, _MM_SHUFFLE(2, 1, 0, 3)), key, 1);

    _mm_store_si128((__m128i *)tags, _mm_blendv_epi8(old, moved, upto));
    return found != 0;
}

static inline CACHE_AVX2 bool
cache_move_avx2(uint32_t *tags, uint32_t tag, uint32_t columns, uint32_t ways,
                uint64_t turn, uint32_t *at)
{
    const __m256i key = _mm256_set1_epi32((int)tag);
    __m256i *set = (__m256i *)tags;

    if (columns == 2)
        return cache_move_two(tags, tag, ways, turn, at);
    if (columns == 4)
        return cache_move_four(tags, tag, ways, turn, at);

    /* Bit 0 of a place's number, for the first two places. */
    const __m256i places =
        _mm256_xor_si256(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
                         _mm256_zextsi128_si256(
                             _mm_cvtsi64_si128((int64_t)(turn << 32 | turn))));
    const __m256i low =
        _mm256_permutevar8x32_epi32(_mm256_load_si256(set), places);
    const __m256i high = columns == 16 ? _mm256_load_si256(set + 1) : key;
    uint32_t found = cache_equal(low, key);
    if (columns == 16)
        found |= cache_equal(high, key) << 8;
    const uint32_t place =
        (uint32_t)__builtin_ctz(found | (uint32_t)1 << (ways - 1));
    const __m256i *upto = (const __m256i *)(cache_upto + 15 - place);
    const __m256i turned = cache_turned(low);
    *at = place;
    _mm256_store_si256(
        set, _mm256_blendv_epi8(low, _mm256_blend_epi32(turned, key, 1),
                                _mm256_loadu_si256(upto)));
    if (columns == 16)
        _mm256_store_si256(
            set + 1,
            _mm256_blendv_epi8(
                high, _mm256_blend_epi32(cache_turned(high), turned, 1),
                _mm256_loadu_si256(upto + 1)));
    return found != 0;
}

#endif
#endif
