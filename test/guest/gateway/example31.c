/* SPDX-License-Identifier: MIT */
/*
 * EXAMPLE 3-1 of the Netra DPS user's guide, chapter 3, with its typing errors
 * repaired: a brace that closes nothing, main() without a type. 300 packets,
 * each of loop(1000); EVENTS is what the mask of EXAMPLE 3-2 differs in.
 */
#include <teja_profiler.h>

#include "loop.h"

#ifndef EVENTS
#define EVENTS TEJA_PROFILER_CMT_CPU_IC_MISS
#endif

static teja_thread_t generator_thread;

/* A function, so that tally count --filter code= counts the same. */
static __attribute__((noinline)) void
process_packet(void)
{
    loop(1000);
}

int
main(void)
{
    int packet = 300, num_pkt = 0;
    teja_process_t main_process =
        teja_process_create(NULL, "main_process", NULL);

    teja_process_set_property(main_process, "profiler_log_table_size", "4096");
    teja_process_set_property(main_process, "profiler_user_data_size", "1");
    generator_thread = teja_thread_self();
    /* From here on it is the document's. */
    teja_profiler_start(TEJA_PROFILER_CMT_CPU, EVENTS);
    while (packet) {
        process_packet();
        packet--;
        num_pkt++;
        teja_profiler_update(TEJA_PROFILER_CMT_CPU, num_pkt);
        if (num_pkt == 100) {
            teja_profiler_dump(generator_thread);
            num_pkt = 0;
        }
    }
    teja_profiler_stop(TEJA_PROFILER_CMT_CPU);
}
