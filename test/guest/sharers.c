/* SPDX-License-Identifier: MIT */
/*
 * sharers WHAT N K: N threads beside the first that share lines of 64 bytes, K
 * times each.
 *   flag  2 threads hand a word over, each waiting for it in a loop; no other
 *         word of theirs is in its line
 *   own   each adds to a counter that has its line for itself
 *   line  each adds to a counter of its own; eight counters stand in a line
 *   busy  the same, without giving way to others
 *   rare  the same, with some 10,000 instructions between two additions
 *   same  all add to one counter
 *   lock  all add to one counter under a lock beside it, in its line, which
 * each holds while others try to get it
 *   mutex    all add to one counter under a mutex of the C library; each has a
 *            line for itself
 *   guarded  the same, in one line
 *   pairs    two locks stand in a line: threads with even numbers take one,
 *            those with odd numbers the other
 *   headed   each adds to a counter of its own, as with `line`, after it has
 *            read a word of the line that nobody stores to
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
static bool busy, rare;
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
static struct {
    _Alignas(LINE) pthread_mutex_t lock;
} mutex = {PTHREAD_MUTEX_INITIALIZER};
static struct {
    _Alignas(LINE) unsigned long sum;
} protected;
static struct {
    _Alignas(LINE) pthread_mutex_t lock;
    unsigned long sum;
} guarded = {PTHREAD_MUTEX_INITIALIZER, 0};
static struct {
    _Alignas(LINE) atomic_bool held[8];
} pairs;
static struct {
    _Alignas(LINE) unsigned long head;
    unsigned long counters[7];
} headed;

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

/* Runs for a while without a load or store. */
static void
compute(void)
{
    for (unsigned i = 0; i < 5000; i++)
        __asm__ volatile("" : "+r"(i));
}

static void
add(unsigned long self)
{
    volatile unsigned long *const counter =
        (volatile unsigned long *)(shared.counters + self * stride);

    for (unsigned long i = 0; i < turns; i++) {
        (*counter)++;
        if (rare)
            compute();
        else if (!busy)
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

/* Adds to a counter under a mutex. */
static void
add_under(pthread_mutex_t *lock, unsigned long *sum)
{
    for (unsigned long i = 0; i < turns; i++) {
        pthread_mutex_lock(lock);
        *(volatile unsigned long *)sum += 1;
        pthread_mutex_unlock(lock);
        sched_yield();
    }
}

static void
take_one(unsigned long self)
{
    atomic_bool *const held = &pairs.held[self % 2];

    for (unsigned long i = 0; i < turns; i++) {
        while (atomic_exchange_explicit(held, true, memory_order_acquire))
            sched_yield();
        atomic_store_explicit(held, false, memory_order_release);
        sched_yield();
    }
}

static void
add_after_head(unsigned long self)
{
    for (unsigned long i = 0; i < turns; i++) {
        const unsigned long head = *(volatile unsigned long *)&headed.head;
        *(volatile unsigned long *)&headed.counters[self % 7] += 1 + head;
        sched_yield();
    }
}

static void *
work(void *data)
{
    const unsigned long self = (unsigned long)data;

    switch (stride) {
    case 1:
        flag(self);
        break;
    case 2:
        add_locked();
        break;
    case 3:
        add_under(&mutex.lock, &protected.sum);
        break;
    case 4:
        add_under(&guarded.lock, &guarded.sum);
        break;
    case 5:
        take_one(self);
        break;
    case 6:
        add_after_head(self);
        break;
    default:
        add(self);
        break;
    }
    return NULL;
}

/* Reads what threads do. Returns how far apart counters stand; 1: the threads
 * hand a word over; 2 to 6: they do what has that place in `others`. */
static unsigned long
stride_of(const char *what)
{
    static const char *const others[] = {"lock", "mutex", "guarded", "pairs",
                                         "headed"};

    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcmp(what, others[i]) == 0)
            return 2 + i;
    }
    if (strcmp(what, "own") == 0)
        return LINE;
    busy = strcmp(what, "busy") == 0;
    rare = strcmp(what, "rare") == 0;
    if (strcmp(what, "line") == 0 || busy || rare)
        return sizeof(unsigned long);
    if (strcmp(what, "same") == 0)
        return 0;
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
    for (unsigned i = 0; i < 7; i++)
        sum += headed.counters[i];
    sum += locked.sum + protected.sum + guarded.sum;
    printf("%lu\n", stride == 1 ? atomic_load(&shared.word) : sum);
    return 0;
}
