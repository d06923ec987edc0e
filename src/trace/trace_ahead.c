/* SPDX-License-Identifier: MIT */
#include "trace/trace_ahead.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define SLOTS 4u

struct trace_ahead {
    struct trace_reader *reader;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t made, taken; /* batches; one that is taken is still in use */
    struct slot {
        struct trace_batch batch;
        /* The bytes of the event's pieces, which the reader does not keep. */
        uint8_t bytes[TRACE_PIECES][TRACE_PIECE_MOST];
    } slots[SLOTS];
};

/* Copies the pieces of the event. */
static void
keep_pieces(struct slot *s)
{
    struct trace_step *const event = &s->batch.event;

    for (size_t i = 0; i < event->piece_count; i++) {
        memcpy(s->bytes[i], event->pieces[i].bytes, event->pieces[i].size);
        event->pieces[i].bytes = s->bytes[i];
    }
}

static void *
read_all(void *user)
{
    struct trace_ahead *const a = user;
    int next = TRACE_NEXT_BLOCK;

    while (next > 0) {
        pthread_mutex_lock(&a->lock);
        while (a->made == a->taken + SLOTS - 1)
            pthread_cond_wait(&a->changed, &a->lock);
        struct slot *const s = &a->slots[a->made % SLOTS];
        pthread_mutex_unlock(&a->lock);
        trace_reader_batch(a->reader, &s->batch);
        next = s->batch.next;
        if (next == TRACE_NEXT_CALL || next == TRACE_NEXT_MAP)
            keep_pieces(s);
        pthread_mutex_lock(&a->lock);
        a->made++;
        pthread_cond_signal(&a->changed);
        pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

struct trace_ahead *
trace_ahead_begin(struct trace_reader *reader)
{
    struct trace_ahead *const a = calloc(1, sizeof(*a));
    sigset_t all, old;
    pthread_t thread;

    if (a == NULL)
        return NULL;
    a->reader = reader;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->changed, NULL);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    const int error = pthread_create(&thread, NULL, read_all, a);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (error != 0) {
        free(a);
        return NULL;
    }
    pthread_detach(thread);
    return a;
}

const struct trace_batch *
trace_ahead_next(struct trace_ahead *a)
{
    pthread_mutex_lock(&a->lock);
    while (a->made == a->taken)
        pthread_cond_wait(&a->changed, &a->lock);
    const struct trace_batch *const batch = &a->slots[a->taken++ % SLOTS].batch;
    /* The batch before is given back so. */
    pthread_cond_signal(&a->changed);
    pthread_mutex_unlock(&a->lock);
    return batch;
}
