/* SPDX-License-Identifier: MIT */
/* Marks points with the calls of Netra DPS's profiler and dumps the records. */
#include "test/fault/use.h"

#include "teja_profiler.h"

static teja_process_t process;

/* Names the process and its events: the profiler takes events only before its
 * first start. */
static int
prepare(void)
{
    teja_process_t made = teja_process_create(NULL, "process", NULL);

    if (made == NULL || teja_process_set_property(made, "profiler_events",
                                                  "instructions,cycles") != 0)
        return -1;
    process = made;
    return 0;
}

/* Counts two intervals and dumps them to standard output. */
static int
use(uint64_t values[USE_VALUES])
{
    teja_profiler_values_t first, last;

    if (process == NULL && prepare() != 0)
        return -1;
    teja_thread_t thread = teja_thread_self();
    if (thread == NULL ||
        teja_profiler_start(TEJA_PROFILER_CMT_CPU,
                            TEJA_PROFILER_CMT_CPU_IC_MISS) != 0)
        return -1;
    int error = teja_profiler_get_values(TEJA_PROFILER_CMT_CPU, &first);
    if (error == 0)
        error = teja_profiler_update(TEJA_PROFILER_CMT_CPU, 1);
    if (error == 0)
        error = teja_profiler_get_values(TEJA_PROFILER_CMT_CPU, &last);
    if (teja_profiler_stop(TEJA_PROFILER_CMT_CPU) != 0 || error != 0)
        return -1;
    for (int i = 0; i < TEJA_PROFILER_MAX_EVENTS; i++)
        values[i] = last.events[i] - first.events[i];
    return teja_profiler_dump(thread) == 0 ? TEJA_PROFILER_MAX_EVENTS : -1;
}

int
main(void)
{
    return use_run(use);
}
