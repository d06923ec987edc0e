/* SPDX-License-Identifier: MIT */
#include "trace/trace_recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "trace/trace_ring.h"
#include "trace/trace_writer.h"

#define WAIT_NS 100000
/* What is taken at once, so that the tracer soon finds room again. */
#define TAKEN_MOST (TRACE_RING_ITEMS / 8)
/* A chunk is written after a second, if it is not full before. */
#define FLUSH_S 1

struct trace_recorder {
    struct trace_writer *writer;
    struct trace_ring *ring;
    int fd;
    char place[64];
    pthread_t thread;
    bool runs;
    atomic_bool ended;     /* the program has: nothing comes any more */
    _Atomic uint64_t size; /* of the file */
};

static time_t
seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

static void *
take_all(void *user)
{
    struct trace_recorder *const r = user;
    struct trace_ring *const ring = r->ring;
    uint64_t taken = 0;
    bool wanted = true;
    time_t flushed = seconds();

    for (;;) {
        const bool ended = atomic_load(&r->ended);
        const uint64_t put =
            atomic_load_explicit(&ring->put, memory_order_acquire);
        if (put == taken && ended)
            return NULL;
        if (put - taken > TRACE_RING_ITEMS) {
            trace_writer_refuse(r->writer, "more than there is room for");
            atomic_store(&ring->closed, 1);
            return NULL;
        }
        if (seconds() - flushed >= FLUSH_S) {
            trace_writer_flush(r->writer);
            flushed = seconds();
        }
        if (put == taken) {
            nanosleep(&(struct timespec){0, WAIT_NS}, NULL);
            continue;
        }
        const uint64_t at = taken % TRACE_RING_ITEMS;
        uint64_t count = put - taken;
        if (count > TRACE_RING_ITEMS - at)
            count = TRACE_RING_ITEMS - at;
        if (count > TAKEN_MOST)
            count = TAKEN_MOST;
        wanted = wanted && trace_writer_take(r->writer, ring->item + at, count);
        atomic_store_explicit(&r->size, trace_writer_size(r->writer),
                              memory_order_relaxed);
        if (!wanted)
            atomic_store(&ring->closed, 1);
        taken += count;
        atomic_store_explicit(&ring->taken, taken, memory_order_release);
    }
}

/* Makes the ring and the thread. */
static int
begin(struct trace_recorder *r, const struct tally_log *log)
{
    sigset_t all, old;

    r->fd = memfd_create("tally-trace", MFD_CLOEXEC);
    if (r->fd < 0 || ftruncate(r->fd, sizeof(struct trace_ring)) != 0)
        return tally_fail(log, TALLY_ESYSTEM, "no memory for the trace: %s",
                          strerror(errno));
    void *const ring = mmap(NULL, sizeof(struct trace_ring),
                            PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
    if (ring == MAP_FAILED)
        return tally_fail(log, TALLY_ESYSTEM, "no memory for the trace: %s",
                          strerror(errno));
    r->ring = ring;
    r->ring->version = TRACE_RING_VERSION;
    snprintf(r->place, sizeof(r->place), "/proc/%d/fd/%d", (int)getpid(),
             r->fd);
    /* Signals are the caller's. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r->runs = pthread_create(&r->thread, NULL, take_all, r) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r->runs ? 0
                   : tally_fail(log, TALLY_ESYSTEM,
                                "no thread that writes the trace");
}

/* Waits until all is taken, and frees all but the writer. */
static void
finish(struct trace_recorder *r)
{
    atomic_store(&r->ended, true);
    if (r->runs)
        pthread_join(r->thread, NULL);
    if (r->ring != NULL)
        munmap(r->ring, sizeof(*r->ring));
    if (r->fd >= 0)
        close(r->fd);
}

int
trace_recorder_begin(const char *path, const struct trace_head *head,
                     uint64_t max_size, const struct tally_log *log,
                     struct trace_recorder **recorder)
{
    struct trace_recorder *r = calloc(1, sizeof(*r));

    if (r == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for the trace");
    r->fd = -1;
    int error = trace_writer_create(path, head, max_size, log, &r->writer);
    if (error == 0)
        error = begin(r, log);
    if (error != 0)
        trace_recorder_abandon(&r);
    else
        *recorder = r;
    return error;
}

const char *
trace_recorder_ring(const struct trace_recorder *r)
{
    return r->place;
}

uint64_t
trace_recorder_size(const struct trace_recorder *r)
{
    return atomic_load_explicit(&r->size, memory_order_relaxed);
}

int
trace_recorder_end(struct trace_recorder **recorder, struct trace_run *run,
                   uint64_t *size)
{
    struct trace_recorder *const r = *recorder;

    finish(r);
    const struct trace_run given = *run;
    const int error = trace_writer_end(&r->writer, &given, run, size);
    free(r);
    *recorder = NULL;
    return error;
}

void
trace_recorder_abandon(struct trace_recorder **recorder)
{
    struct trace_recorder *const r = *recorder;

    if (r == NULL)
        return;
    finish(r);
    trace_writer_abandon(&r->writer);
    free(r);
    *recorder = NULL;
}
