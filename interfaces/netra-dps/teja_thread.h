/* SPDX-License-Identifier: MIT */
/* Processes and threads of the software architecture, as far as the profiler
 * has to do with them. */
#ifndef TALLY_COMPAT_TEJA_THREAD_H
#define TALLY_COMPAT_TEJA_THREAD_H

#include <pthread.h>
#include <stdbool.h>

#include "teja_profiler.h"

struct teja_thread {
    teja_process_t process;
    const char *name;
    struct tally_profiler_thread *profiled; /* NULL: does not run so far */
    void (*function)(void);
    pthread_t posix;
};

/* Returns whether the property profiler_events is set, so that masks do not
 * matter. */
bool teja_events_given(void);

#endif
