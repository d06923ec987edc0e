/* SPDX-License-Identifier: MIT */
/*
 * selfcases CASE EVENT: handles on the counters of the emulated machine in
 * threads, in children of fork, within each other. EVENT counts instructions.
 * Numbers are of TURNS turns of loop(), as the difference of two measurements;
 * errors are told by their line in the log.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tally/counter.h>
#include <unistd.h>

#include "loop.h"

enum { TURNS = 100000, THREADS = 8 };

static void
complain(void *user, enum tally_level level, const char *text)
{
    (void)user, (void)level;
    printf("%s\n", text);
}

static struct tally_counter_options
defaults(void)
{
    struct tally_counter_options options;

    tally_counter_options_init(&options, sizeof(options));
    options.log.write = complain;
    return options;
}

static void
must(int error)
{
    if (error != 0) {
        printf("unexpected: %s\n", tally_strerror(error));
        exit(1);
    }
}

static struct tally_counter *
open_scope(enum tally_counter_scope scope, bool inherit, const char *events)
{
    struct tally_counter_options options = defaults();
    struct tally_counter *counter = NULL;

    options.scope = scope;
    options.inherit = inherit;
    must(tally_counter_open(&options, &counter));
    must(tally_counter_add(counter, events));
    return counter;
}

static uint64_t
value(const struct tally_counter *counter)
{
    struct tally_reading reading = {0};

    must(tally_counter_read(counter, &reading, 1));
    return reading.value;
}

static __attribute__((noinline)) uint64_t
spent(struct tally_counter *counter, unsigned long turns)
{
    const uint64_t before = value(counter);

    loop(turns);
    return value(counter) - before;
}

static uint64_t
of_loop(struct tally_counter *counter)
{
    spent(counter, 1);
    const uint64_t few = spent(counter, 1);
    return spent(counter, TURNS + 1) - few;
}

struct job {
    const char *event;
    unsigned long turns;
    uint64_t result;
    struct tally_counter *counter; /* left open */
};

static void *
count_thread(void *user)
{
    struct job *job = user;

    job->counter = open_scope(TALLY_COUNTER_THREAD, false, job->event);
    must(tally_counter_start(job->counter));
    job->result = of_loop(job->counter);
    return NULL;
}

static void
run_threads(const char *event)
{
    struct job jobs[THREADS];
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (struct job){.event = event};
        pthread_create(&threads[i], NULL, count_thread, &jobs[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        printf("%" PRIu64 "\n", jobs[i].result);
    }
    /* A handle outlives the thread that it counts. */
    const uint64_t last = value(jobs[0].counter);
    loop(TURNS);
    printf("%s\n",
           value(jobs[0].counter) == last && last > TURNS ? "stays" : "moves");
    for (int i = 0; i < THREADS; i++)
        tally_counter_close(jobs[i].counter);
}

static void *
only_loop(void *user)
{
    loop(((const struct job *)user)->turns);
    return NULL;
}

static uint64_t
crew(struct tally_counter *counter, unsigned long turns)
{
    const uint64_t before = value(counter);
    struct job job = {.turns = turns};
    pthread_t threads[THREADS];

    for (int i = 0; i < THREADS; i++) {
        pthread_create(&threads[i], NULL, only_loop, &job);
        pthread_join(threads[i], NULL);
    }
    return value(counter) - before;
}

static void
run_scopes(const char *event)
{
    struct tally_counter *counters[] = {
        open_scope(TALLY_COUNTER_PROCESS, false, event),
        open_scope(TALLY_COUNTER_THREAD, true, event),
        open_scope(TALLY_COUNTER_THREAD, false, event),
    };

    for (size_t i = 0; i < 3; i++) {
        must(tally_counter_start(counters[i]));
        crew(counters[i], 1); /* its threads' stacks are made */
        const uint64_t few = crew(counters[i], 1);
        printf("%" PRId64 "\n", (int64_t)(crew(counters[i], TURNS + 1) - few));
        tally_counter_close(counters[i]);
    }
}

static struct tally_counter *
open_strand(int strand, const char *event)
{
    struct tally_counter_options options = defaults();
    struct tally_counter *counter = NULL;

    options.scope = TALLY_COUNTER_CPU;
    options.id = strand;
    must(tally_counter_open(&options, &counter));
    must(tally_counter_add(counter, event));
    must(tally_counter_start(counter));
    return counter;
}

static void *
measure_strand(void *user)
{
    struct job *job = user;

    job->result = of_loop(job->counter);
    return NULL;
}

/* This thread runs on strand 0, the one that it makes on strand 1. */
static void
run_strands(const char *event)
{
    struct tally_counter *mine = open_strand(0, event);
    struct job job = {.counter = open_strand(1, event)};
    pthread_t thread;

    printf("%" PRIu64 " on strand 0\n", of_loop(mine));
    printf("%" PRIu64 " on strand 1, unused\n", value(job.counter));
    const uint64_t before = value(mine);
    pthread_create(&thread, NULL, measure_strand, &job);
    pthread_join(thread, NULL);
    printf("%" PRIu64 " on strand 1\n", job.result);
    printf("%s\n", value(mine) - before < TURNS ? "strand 0 waits"
                                                : "strand 0 counts both");
    tally_counter_close(mine);
    tally_counter_close(job.counter);
}

static void
run_fork(const char *event)
{
    struct tally_counter *counter =
        open_scope(TALLY_COUNTER_THREAD, false, event);
    struct tally_reading reading;

    must(tally_counter_start(counter));
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        const int read = tally_counter_read(counter, &reading, 1);
        const int stop = tally_counter_stop(counter);
        printf("%s, %s\n", tally_strerror(read), tally_strerror(stop));
        tally_counter_close(counter);
        run_threads(event);
        counter = open_scope(TALLY_COUNTER_THREAD, false, event);
        must(tally_counter_start(counter));
        printf("child %" PRIu64 "\n", of_loop(counter));
        fflush(stdout);
        tally_counter_close(counter);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    printf("parent %" PRIu64 "\n", of_loop(counter));
    tally_counter_close(counter);
}

static void
run_nested(const char *event)
{
    struct tally_counter *outer =
        open_scope(TALLY_COUNTER_THREAD, false, event);
    uint64_t seen[2] = {0};

    for (int i = 0; i < 3; i++) {
        struct tally_counter *inner =
            open_scope(TALLY_COUNTER_THREAD, false, event);
        must(tally_counter_reset(outer));
        must(tally_counter_start(outer));
        loop(1 + TURNS * (unsigned long)(i / 2));
        must(tally_counter_start(inner));
        loop(1 + TURNS * (unsigned long)(i / 2));
        must(tally_counter_stop(inner));
        must(tally_counter_stop(outer));
        const uint64_t now[] = {value(outer), value(inner)};
        if (i == 2)
            printf("%" PRIu64 " %" PRIu64 "\n", now[0] - seen[0],
                   now[1] - seen[1]);
        memcpy(seen, now, sizeof(seen));
        tally_counter_close(inner);
    }
    tally_counter_close(outer);
}

static void
run_stopped(const char *event)
{
    struct tally_counter *counter =
        open_scope(TALLY_COUNTER_THREAD, false, event);
    struct tally_reading first, last;

    printf("%" PRIu64 " before the start\n", value(counter));
    must(tally_counter_start(counter));
    loop(TURNS);
    must(tally_counter_stop(counter));
    must(tally_counter_read(counter, &first, 1));
    loop(TURNS);
    must(tally_counter_read(counter, &last, 1));
    printf("%s\n", memcmp(&first, &last, sizeof(first)) == 0 ? "same" : "not");
    printf("%s\n", first.enabled > 0 && first.enabled == first.running
                       ? "all the time"
                       : "not always");
    must(tally_counter_start(counter));
    must(tally_counter_stop(counter));
    printf("%s\n",
           value(counter) > first.value && value(counter) < first.value + 1000
               ? "goes on"
               : "not");
    must(tally_counter_reset(counter));
    printf("%" PRIu64 " after the reset\n", value(counter));
    tally_counter_close(counter);
}

static void
refused(const char *events)
{
    struct tally_counter_options options = defaults();
    struct tally_counter *counter;

    must(tally_counter_open(&options, &counter));
    const int error = tally_counter_add(counter, events);
    printf("%s, %zu\n", tally_strerror(error), tally_counter_count(counter));
    tally_counter_close(counter);
}

static void
no_handle(enum tally_counter_scope scope, int id, uint64_t period)
{
    struct tally_counter_options options = defaults();
    struct tally_counter *counter;

    options.scope = scope;
    options.id = id;
    options.period = period;
    printf("%s\n", tally_strerror(tally_counter_open(&options, &counter)));
}

static void
run_errors(const char *event)
{
    char list[128];

    refused("no_such_event");
    snprintf(list, sizeof(list), "%s,no_such_event", event);
    refused(list);
    refused("sparc-t4::All_instructions,r10000::Cycles");
    refused("{");
    no_handle(TALLY_COUNTER_THREAD, 1, 0);
    no_handle(TALLY_COUNTER_PROCESS, 1, 0);
    no_handle(TALLY_COUNTER_CPU, 4096, 0);
    no_handle(TALLY_COUNTER_CPU, 0, 1000);
    no_handle(TALLY_COUNTER_THREAD, 0, 1000);
    struct tally_counter *counter =
        open_scope(TALLY_COUNTER_THREAD, false, event);
    must(tally_counter_start(counter));
    printf("%s\n", tally_strerror(tally_counter_add(counter, event)));
    printf("%s\n", tally_strerror(tally_counter_read(counter, NULL, 0)));
    tally_counter_close(counter);
}

static const struct {
    const char *name;
    void (*run)(const char *event);
} cases[] = {
    {"threads", run_threads}, {"scopes", run_scopes},   {"fork", run_fork},
    {"nested", run_nested},   {"stopped", run_stopped}, {"errors", run_errors},
    {"strands", run_strands},
};

int
main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        if (argc == 3 && strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run(argv[2]);
            return 0;
        }
    }
    fprintf(stderr, "usage: selfcases CASE EVENT\n");
    return 2;
}
