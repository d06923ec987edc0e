/* SPDX-License-Identifier: MIT */
/* EXAMPLE 3-2: EXAMPLE 3-1 with two events, for the UltraSPARC T2. */
#define EVENTS (TEJA_PROFILER_CMT_CPU_IC_MISS | TEJA_PROFILER_CMT_CPU_DC_MISS)
#include "gateway/example31.c"
