/* SPDX-License-Identifier: MIT */
/*
 * sharers WHAT N K: N threads beside the first that share lines of 64 bytes, K
 * times each.
 *   flag  2 threads hand a word over, each waiting for it in a loop; no other
 *         word of theirs is in its line
 *   own   each adds to a counter that has its line for itself
 *   line  each adds to a counter of its own; eight counters stand in a line
 *   busy  the same, without giving way to others
 *   same  all add to one counter
 *   lock  all add to one counter under a lock beside it, in its line, which
 * each holds while others try to get it
 *
 * Between two additions a thread that is not busy calls sched_yield(), so that
 * threads that take turns add by turns. Prints the sum of the counters, or the
 * word.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE = 64, MAX_THREADS = 64 };

static unsigned long count, turns, stride;
static bool busy;
static struct {
    _Alignas(LINE) char before[LINE];
    _Alignas(LINE) _Atomic unsigned long word;
    _Alignas(LINE) char between[LINE];
    _Alignas(LINE) unsigned char counters[MAX_THREADS * LINE];
} shared;
static struct {
    _Alignas(LINE) atomic_bool held;
    _Alignas(8) unsigned long sum;
} locked;

static void
flag(unsigned long self)
{
    for (unsigned long i = 0; i < turns; i++) {
        const unsigned long mine = i * count + self;
        while (atomic_load_explicit(&shared.word, memory_order_acquire) != mine)
            ;
        atomic_store_explicit(&shared.word, mine + 1, memory_order_release);
    }
}

static void
add(unsigned long self)
{
    volatile unsigned long *const counter =
        (volatile unsigned long *)(shared.counters + self * stride);

    for (unsigned long i = 0; i < turns; i++) {
        (*counter)++;
        if (!busy)
            sched_yield();
    }
}

static void
add_locked(void)
{
    for (unsigned long i = 0; i < turns; i++) {
        while (
            atomic_exchange_explicit(&locked.held, true, memory_order_acquire))
            sched_yield();
        sched_yield();
        *(volatile unsigned long *)&locked.sum += 1;
        atomic_store_explicit(&locked.held, false, memory_order_release);
        sched_yield();
    }
}

static void *
work(void *self)
{
    if (stride == 1)
        flag((unsigned long)self);
    else if (stride == 2)
        add_locked();
    else
        add((unsigned long)self);
    return NULL;
}

/* Reads what threads do. Returns how far apart counters stand; 1: the threads
 * hand a word over; 2: they add under a lock. */
static unsigned long
stride_of(const char *what)
{
    if (strcmp(what, "own") == 0)
        return LINE;
    busy = strcmp(what, "busy") == 0;
    if (strcmp(what, "line") == 0 || busy)
        return sizeof(unsigned long);
    if (strcmp(what, "same") == 0)
        return 0;
    if (strcmp(what, "lock") == 0)
        return 2;
    if (strcmp(what, "flag") != 0)
        exit(2);
    return 1;
}

int
main(int argc, char **argv)
{
    pthread_t threads[MAX_THREADS];
    unsigned long sum = 0;

    if (argc != 4)
        return 2;
    stride = stride_of(argv[1]);
    count = strtoul(argv[2], NULL, 0);
    turns = strtoul(argv[3], NULL, 0);
    if (count == 0 || count > MAX_THREADS || (stride == 1 && count != 2))
        return 2;
    for (unsigned long i = 0; i < count; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
            return 1;
    }
    for (unsigned long i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < sizeof(shared.counters); i += sizeof(sum))
        sum += *(unsigned long *)(shared.counters + i);
    printf("%lu\n", stride == 1 ? atomic_load(&shared.word) : sum + locked.sum);
    return 0;
}
