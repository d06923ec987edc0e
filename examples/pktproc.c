/* SPDX-License-Identifier: MIT */
/*
 * pktproc [PIPELINES [BATCHES [PACKETS]]]: packets go from a generator over a
 * classifier to a forwarder, each a thread; in batches of PACKETS (32), of
 * which each pipeline (1) handles BATCHES (200). Every stage marks what a batch
 * costs, with two words: the packets so far, and how often it found no work.
 *
 *     cc -O2 -DTALLY_PROFILE -pthread pktproc.c \
 *         $(pkg-config --cflags --libs tally-profiler)
 *     tally profile --user-words 2 -e task-clock,page-faults -- ./pktproc
 *     tally summarize --user-cumulative --by region profile.csv
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <tally/profiler.h>

#define WORDS 8 /* of a packet: a cache line */
#define SLOTS 4 /* batches that a queue holds */
#define PIPELINES_MAX 1000
#define CPU 1 /* group of events */

#if defined(__sparc__)
#define EVENTS "Load_instr,Store_instr"
#elif defined(__mips__)
#define EVENTS "Graduated_loads,Graduated_stores"
#else
#define EVENTS "task-clock,page-faults"
#endif

/* Volatile, so that the work is what it says: 8 stores, 8 loads, 1 and 2. */
struct packet {
    volatile uint64_t word[WORDS];
};

/* Batches from one thread to the next. */
struct queue {
    struct packet *packets; /* SLOTS batches */
    _Atomic unsigned given, taken;
};

struct pipeline {
    struct queue classify, forward;
    pthread_t threads[3];
    uint64_t forwarded;
};

static unsigned batches = 200, packets = 32;
static pthread_barrier_t all_ready;

static __attribute__((noinline)) void
generate(struct packet *batch, uint64_t seed)
{
    for (unsigned i = 0; i < packets; i++)
        for (unsigned w = 0; w < WORDS; w++)
            batch[i].word[w] = seed + i + w;
}

/* What the packets are, in the order of their words. */
static __attribute__((noinline)) uint64_t
classify(struct packet *batch)
{
    uint64_t class = 0;

    for (unsigned i = 0; i < packets; i++)
        for (unsigned w = 0; w < WORDS; w++)
            class = class * 31 + batch[i].word[w];
    return class;
}

/* One hop less to live, and where to. */
static __attribute__((noinline)) void
forward(struct packet *batch)
{
    for (unsigned i = 0; i < packets; i++) {
        const uint64_t left = batch[i].word[0] - 1;
        batch[i].word[0] = left;
        batch[i].word[1] = left & 3;
    }
}

/* The next batch that is full, or empty, with how often it was not. */
static struct packet *
await(struct queue *q, bool full, uint64_t *idle)
{
    const unsigned at = atomic_load(full ? &q->taken : &q->given);

    for (;;) {
        const unsigned other = atomic_load(full ? &q->given : &q->taken);
        if (full ? other != at : at - other < SLOTS)
            return q->packets + at % SLOTS * packets;
        ++*idle;
        sched_yield();
    }
}

static void *
run_generator(void *arg)
{
    struct pipeline *const p = arg;
    uint64_t idle = 0;

    pthread_barrier_wait(&all_ready);
    for (uint64_t n = 1; n <= batches; n++) {
        struct packet *batch = await(&p->classify, false, &idle);
        tally_profiler_start(CPU, EVENTS);
        generate(batch, n);
        tally_profiler_update(CPU, n * packets, idle);
        atomic_fetch_add(&p->classify.given, 1);
    }
    tally_profiler_stop(CPU);
    return NULL;
}

static void *
run_classifier(void *arg)
{
    struct pipeline *const p = arg;
    uint64_t idle = 0;

    pthread_barrier_wait(&all_ready);
    for (uint64_t n = 1; n <= batches; n++) {
        struct packet *from = await(&p->classify, true, &idle);
        struct packet *to = await(&p->forward, false, &idle);
        tally_profiler_start(CPU, EVENTS);
        const uint64_t class = classify(from);
        tally_profiler_update(CPU, n * packets, idle);
        to[0].word[0] = class;
        atomic_fetch_add(&p->classify.taken, 1);
        atomic_fetch_add(&p->forward.given, 1);
    }
    tally_profiler_stop(CPU);
    return NULL;
}

static void *
run_forwarder(void *arg)
{
    struct pipeline *const p = arg;
    uint64_t idle = 0;

    pthread_barrier_wait(&all_ready);
    for (uint64_t n = 1; n <= batches; n++) {
        struct packet *batch = await(&p->forward, true, &idle);
        tally_profiler_start(CPU, EVENTS);
        forward(batch);
        tally_profiler_update(CPU, n * packets, idle);
        atomic_fetch_add(&p->forward.taken, 1);
        p->forwarded += packets;
    }
    tally_profiler_stop(CPU);
    return NULL;
}

static void
start(struct pipeline *p)
{
    static void *(*const stages[])(void *) = {run_generator, run_classifier,
                                              run_forwarder};
    const size_t size = (size_t)SLOTS * packets * sizeof(struct packet);

    p->classify.packets = aligned_alloc(64, size);
    p->forward.packets = aligned_alloc(64, size);
    for (unsigned i = 0; i < 3; i++)
        if (p->classify.packets == NULL || p->forward.packets == NULL ||
            pthread_create(&p->threads[i], NULL, stages[i], p) != 0) {
            fprintf(stderr, "pktproc: no room for so many pipelines\n");
            exit(1);
        }
}

static void
complain(void *user, enum tally_level level, const char *text)
{
    (void)user;
    if (level == TALLY_LOG_ERROR)
        fprintf(stderr, "pktproc: %s\n", text);
}

int
main(int argc, char **argv)
{
    const struct tally_log log = {.write = complain};
    static struct pipeline pipelines[PIPELINES_MAX];
    unsigned long count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    uint64_t forwarded = 0;

    if (argc > 2)
        batches = (unsigned)strtoul(argv[2], NULL, 10);
    if (argc > 3)
        packets = (unsigned)strtoul(argv[3], NULL, 10);
    if (count < 1 || count > PIPELINES_MAX || packets < 1) {
        fprintf(stderr, "usage: pktproc [PIPELINES [BATCHES [PACKETS]]]\n");
        return 2;
    }
    pthread_barrier_init(&all_ready, NULL, 3 * (unsigned)count);
    tally_profiler_set_log(&log);
    tally_profiler_set_property("profiler_user_data_size", "2");
    for (unsigned long i = 0; i < count; i++)
        start(&pipelines[i]);
    for (unsigned long i = 0; i < count; i++) {
        for (unsigned t = 0; t < 3; t++)
            pthread_join(pipelines[i].threads[t], NULL);
        forwarded += pipelines[i].forwarded;
    }
    printf("%" PRIu64 " packets forwarded\n", forwarded);
    return 0;
}
