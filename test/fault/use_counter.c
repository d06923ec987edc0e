/* SPDX-License-Identifier: MIT */
/* Counts the calling thread with tally/counter.h. */
#include "use.h"

#include <tally/counter.h>

static int
use(uint64_t values[USE_VALUES])
{
    struct tally_counter_options options;
    struct tally_counter *counter = NULL;
    struct tally_reading readings[USE_VALUES];

    tally_counter_options_init(&options, sizeof(options));
    int error = tally_counter_open(&options, &counter);
    if (error == 0)
        error = tally_counter_add(counter, "{cycles,instructions},page-faults");
    if (error == 0)
        error = tally_counter_start(counter);
    if (error == 0)
        error = tally_counter_stop(counter);
    if (error == 0)
        error = tally_counter_read(counter, readings, USE_VALUES);
    int count = error == 0 ? (int)tally_counter_count(counter) : -1;
    for (int i = 0; i < count; i++)
        if (tally_reading_scaled(&readings[i], &values[i]) != 0)
            count = -1;
    tally_counter_close(counter);
    return count;
}

int
main(void)
{
    return use_run(use);
}
