/* SPDX-License-Identifier: MIT */
#include "machine/levels.h"

/* What all levels count alike. */
#define BY_KIND(level)                                         \
    [REQUEST_LOAD] = SIGNAL_##level##_LOAD_MISSES,             \
    [REQUEST_STORE] = SIGNAL_##level##_STORE_MISSES,           \
    [REQUEST_THROUGH] = SIGNAL_##level##_STORE_MISSES,         \
    [REQUEST_ATOMIC] = SIGNAL_##level##_STORE_MISSES,          \
    [REQUEST_FETCH] = SIGNAL_##level##_FETCH_MISSES,           \
    [REQUEST_WALK_I] = SIGNAL_ITLB_WALK_##level##_MISSES,      \
    [REQUEST_WALK_D] = SIGNAL_DTLB_WALK_##level##_MISSES,      \
    [REQUEST_NEAR] = SIGNAL_NEAR_PREFETCH_##level##_MISSES,    \
    [REQUEST_FAR] = SIGNAL_FAR_PREFETCH_##level##_MISSES,      \
    [REQUEST_NEAR_AHEAD] = SIGNAL_PREFETCHER_##level##_MISSES, \
    [REQUEST_FAR_AHEAD] = SIGNAL_PREFETCHER_##level##_MISSES

/* A machine with an L4 has no bus, which l1d.float and code ahead need. */
#define BEHIND_L3(level)   \
    {COMPONENT_##level,    \
     PARAM_##level##_SIZE, \
     {BY_KIND(level)},     \
     SIGNAL_##level##_WRITEBACKS},

const struct level_row level_rows[LEVELS_MOST] = {
    {COMPONENT_L3,
     PARAM_L3_SIZE,
     {BY_KIND(L3), [REQUEST_FLOAT] = SIGNAL_L3_FLOAT_MISSES,
      [REQUEST_AHEAD] = SIGNAL_L3_PREFETCH_MISSES},
     SIGNAL_L3_WRITEBACKS},
    EACH_LEVEL(BEHIND_L3)};
