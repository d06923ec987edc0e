/* SPDX-License-Identifier: MIT */
#include "teja_thread.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct teja_process {
    const char *name;
};

/* The one that this program is, and what of it threads ask. */
static struct teja_process process;
static bool events_given;
static _Thread_local teja_thread_t self;

static void
complain(void *user, enum tally_level level, const char *text)
{
    (void)user;
    if (level != TALLY_LOG_INFO)
        fprintf(stderr, "teja_profiler: %s\n", text);
}

teja_process_t
teja_process_create(teja_os_t os, const char *name, const char *srcset)
{
    const struct tally_log log = {.write = complain};

    (void)os;
    (void)srcset;
    if (process.name != NULL && strcmp(process.name, name) != 0)
        return NULL;
    process.name = name;
    tally_profiler_set_log(&log);
    return &process;
}

int
teja_process_set_property(teja_process_t of, const char *property,
                          const char *value)
{
    if (of == NULL || tally_profiler_set_property(property, value) != 0)
        return -1;
    if (strcmp(property, "profiler_events") == 0)
        events_given = *value != '\0';
    return 0;
}

bool
teja_events_given(void)
{
    const char *outside = getenv("TALLY_PROFILER_EVENTS");

    return outside != NULL ? *outside != '\0' : events_given;
}

teja_thread_t
teja_thread_create(teja_process_t of, const char *name)
{
    teja_thread_t thread = calloc(1, sizeof(*thread));

    if (thread != NULL) {
        thread->process = of;
        thread->name = name;
    }
    return thread;
}

int
teja_thread_bind(teja_thread_t thread)
{
    self = thread;
    thread->profiled = tally_profiler_self();
    return thread->profiled != NULL ? 0 : -1;
}

static void *
run(void *thread)
{
    if (teja_thread_bind(thread) == 0)
        ((teja_thread_t)thread)->function();
    return NULL;
}

int
teja_thread_start(teja_thread_t thread, void (*function)(void))
{
    thread->function = function;
    return pthread_create(&thread->posix, NULL, run, thread) == 0 ? 0 : -1;
}

int
teja_thread_join(teja_thread_t thread)
{
    return pthread_join(thread->posix, NULL) == 0 ? 0 : -1;
}

teja_thread_t
teja_thread_self(void)
{
    if (self == NULL) {
        teja_thread_t thread = teja_thread_create(&process, "");
        if (thread == NULL || teja_thread_bind(thread) != 0) {
            free(thread);
            self = NULL;
        }
    }
    return self;
}
