/* SPDX-License-Identifier: MIT */
#include "machine/levels.h"

#define BY_KIND(level)                                        \
    {                                                         \
        [REQUEST_LOAD] = SIGNAL_##level##_LOAD_MISSES,        \
        [REQUEST_STORE] = SIGNAL_##level##_STORE_MISSES,      \
        [REQUEST_THROUGH] = SIGNAL_##level##_STORE_MISSES,    \
        [REQUEST_ATOMIC] = SIGNAL_##level##_STORE_MISSES,     \
        [REQUEST_FETCH] = SIGNAL_##level##_FETCH_MISSES,      \
        [REQUEST_WALK_I] = SIGNAL_ITLB_WALK_##level##_MISSES, \
        [REQUEST_WALK_D] = SIGNAL_DTLB_WALK_##level##_MISSES, \
    }

const struct level_row level_rows[LEVELS_MOST] = {
    {COMPONENT_L3, PARAM_L3_SIZE, BY_KIND(L3), SIGNAL_L3_WRITEBACKS},
    {COMPONENT_L4, PARAM_L4_SIZE, BY_KIND(L4), SIGNAL_L4_WRITEBACKS},
};
