/* SPDX-License-Identifier: MIT */
/*
 * selfcount [EVENTS]: a program that counts a loop of its own with this host's
 * counters, and all its threads' work with one more call.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <tally/counter.h>

#define EVENTS_MAX 16

static void
write_line(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    fprintf(stderr, "selfcount: %s\n", text);
}

static void *
work(void *user)
{
    const size_t size = 1 << 20;
    volatile char *memory = malloc(size);

    for (size_t i = 0; memory != NULL && i < size; i++)
        memory[i] = (char)i;
    free((void *)memory);
    return user;
}

static void
work_on_threads(void)
{
    pthread_t threads[4];
    int started = 0;

    while (started < 4 &&
           pthread_create(&threads[started], NULL, work, NULL) == 0)
        started++;
    while (started > 0)
        pthread_join(threads[--started], NULL);
}

static int
print(const struct tally_counter *counter)
{
    struct tally_reading readings[EVENTS_MAX];

    const int error = tally_counter_read(counter, readings, EVENTS_MAX);

    if (error != 0)
        return error;
    for (size_t i = 0; i < tally_counter_count(counter); i++) {
        struct tally_counted event;
        uint64_t value;
        tally_counter_event(counter, i, &event);
        if (tally_reading_scaled(&readings[i], &value) == 0)
            printf("%15" PRIu64 "  %s\n", value, event.name);
        else
            printf("%15s  %s\n", "not counted", event.name);
    }
    return 0;
}

static int
count(enum tally_counter_scope scope, const char *events,
      void (*function)(void))
{
    struct tally_counter_options options;
    struct tally_counter *counter = NULL;

    tally_counter_options_init(&options, sizeof(options));
    options.scope = scope;
    options.log.write = write_line;
    int error = tally_counter_open(&options, &counter);
    if (error == 0)
        error = tally_counter_add(counter, events);
    if (error == 0)
        error = tally_counter_start(counter);
    if (error == 0) {
        function();
        error = tally_counter_stop(counter);
    }
    if (error == 0)
        error = print(counter);
    tally_counter_close(counter);
    return error;
}

static void
work_here(void)
{
    work(NULL);
}

int
main(int argc, char **argv)
{
    const char *events = argc > 1 ? argv[1] : "page-faults:u,task-clock:u";

    printf("this thread\n");
    if (count(TALLY_COUNTER_THREAD, events, work_here) != 0)
        return 1;
    printf("four threads\n");
    return count(TALLY_COUNTER_PROCESS, events, work_on_threads) != 0;
}
