/* SPDX-License-Identifier: MIT */
/*
 * selfprofile EVENTS THREADS N [kill]: marks each of N turns of a region with
 * the profiler, on each of THREADS threads; turn i is loop(1000 * (i + 1)). The
 * dump goes to standard output.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <tally/profiler.h>

#include "loop.h"

static const char *events;
static unsigned long turns;

static void
complain(void *user, enum tally_level level, const char *text)
{
    (void)user;
    if (level == TALLY_LOG_ERROR)
        fprintf(stderr, "selfprofile: %s\n", text);
}

static void *
work(void *arg)
{
    for (unsigned long i = 0; i < turns; i++) {
        if (tally_profiler_start(1, events) != 0)
            exit(1);
        loop(1000 * (i + 1));
        tally_profiler_update(1, i + 1);
    }
    tally_profiler_stop(1);
    return arg;
}

int
main(int argc, char **argv)
{
    const struct tally_log log = {.write = complain};
    pthread_t threads[256];

    if (argc < 4)
        return 2;
    events = argv[1];
    turns = strtoul(argv[3], NULL, 0);
    const unsigned long count = strtoul(argv[2], NULL, 0);
    tally_profiler_set_log(&log);
    tally_profiler_set_property("profiler_user_data_size", "1");
    if (count > 256)
        return 2;
    if (count == 0)
        work(NULL);
    for (unsigned long i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    if (argc > 4)
        raise(SIGKILL);
    return tally_profiler_dump_fd(NULL, 1, TALLY_PROFILER_TABLE) != 0;
}
