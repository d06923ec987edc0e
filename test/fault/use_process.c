/* SPDX-License-Identifier: MIT */
/* Counts all threads of the process, those to come too, with tally/counter.h:
 * use_process. */
#include "use.h"

#include <pthread.h>

#include <tally/counter.h>

static void *
stay(void *barrier)
{
    pthread_barrier_wait(barrier);
    pthread_barrier_wait(barrier);
    return NULL;
}

/* Counts a thread beside this one; a thread that does not start is a failed
 * use. */
static int
count_both(struct tally_counter *counter, struct tally_reading *reading)
{
    pthread_barrier_t barrier;
    pthread_t thread;

    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, stay, &barrier) != 0)
        return -1;
    pthread_barrier_wait(&barrier);
    int error = tally_counter_add(counter, "instructions");
    if (error == 0)
        error = tally_counter_start(counter);
    if (error == 0)
        error = tally_counter_stop(counter);
    if (error == 0)
        error = tally_counter_read(counter, reading, 1);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    return error;
}

static int
use(uint64_t values[USE_VALUES])
{
    struct tally_counter_options options;
    struct tally_counter *counter = NULL;
    struct tally_reading reading;

    tally_counter_options_init(&options, sizeof(options));
    options.scope = TALLY_COUNTER_PROCESS;
    int error = tally_counter_open(&options, &counter);
    if (error == 0)
        error = count_both(counter, &reading);
    if (error == 0)
        error = tally_reading_scaled(&reading, &values[0]);
    tally_counter_close(counter);
    return error == 0 ? 1 : -1;
}

int
main(void)
{
    return use_run(use);
}
