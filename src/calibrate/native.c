/* SPDX-License-Identifier: MIT */
#include "calibrate/native.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define TURNS 5       /* of which the shortest counts */
#define TURN_NS 500e3 /* a turn is at least as long */
#define MOST_NS 4e6   /* a turn over part of a walk is at most as long */
#define WINDOW_PAGES                                                      \
    32             /* that a walk visits before it goes on: as few as any \
                      first-level TLB holds */
#define TOUCHED 64 /* pages that are first written to in random order */
#define WALKS 64   /* at once, at most */
#define WORDS 1024 /* of random bits, 64 branches each */

struct native {
    struct native_facts facts;
    char *memory;
    uint32_t *order; /* of the lines of a window, or of pages */
    uint64_t random;
    uint64_t bits[WORDS];
    void *at[WALKS];   /* where each walk is */
    struct probe laid; /* whose lines name each other in `memory` */
    bool is_laid;
    uint64_t count; /* of loads of one walk over all */
    cpu_set_t before;
    bool pinned;
};

/* Returns the nanoseconds that this thread has had a processor for. */
static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Returns the next of the random numbers (xorshift). */
static uint64_t
next_random(struct native *n)
{
    n->random ^= n->random << 13;
    n->random ^= n->random >> 7;
    n->random ^= n->random << 17;
    return n->random;
}

/* Fills in the numbers from 0 to `count`, in random order. */
static void
shuffle(struct native *n, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        n->order[i] = (uint32_t)i;
    for (uint64_t i = count - 1; i > 0; i--) {
        const uint64_t other = next_random(n) % (i + 1);
        const uint32_t kept = n->order[i];
        n->order[i] = n->order[other];
        n->order[other] = kept;
    }
}

/* The loops. Their instructions are written out, so that no compiler makes
 * others of them. */

#define TWICE(text) text text
#define TIMES8(text) TWICE(TWICE(TWICE(text)))

#if defined(__x86_64__)
#define CAN_PROBE 1
#define ADD(target, source) "add %" #source ", %" #target "\n"
#define LOAD(target, source) "mov (%" #source "), %" #target "\n"
#define FOLLOW "mov (%0), %0\n"
/* Counts a bit that is 1, by a branch. */
#define TEST_BIT "test $1, %0\n jz 1f\n add %2, %1\n 1: shr %0\n"
#elif defined(__aarch64__)
#define CAN_PROBE 1
#define ADD(target, source) "add %" #target ", %" #target ", %" #source "\n"
#define LOAD(target, source) "ldr %" #target ", [%" #source "]\n"
#define FOLLOW "ldr %0, [%0]\n"
#define TEST_BIT "tbz %0, #0, 1f\n add %1, %1, %2\n 1: lsr %0, %0, #1\n"
#else
/* Empty loops: native_create() refuses to measure. */
#define CAN_PROBE 0
#define ADD(target, source) ""
#define LOAD(target, source) ""
#define FOLLOW ""
#define TEST_BIT ""
#endif

#define CHAIN_ADDS 32

static void
run_chain(uint64_t operations)
{
    uint64_t sum = 1, one = 1;

    for (uint64_t i = 0; i < operations; i += CHAIN_ADDS)
        __asm__ volatile(TIMES8(ADD(0, 1) ADD(0, 1) ADD(0, 1) ADD(0, 1))
                         : "+r"(sum)
                         : "r"(one));
}

#define ADDS 64

static void
run_adds(uint64_t operations)
{
    uint64_t a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, one = 1;

    for (uint64_t i = 0; i < operations; i += ADDS)
        __asm__ volatile(TIMES8(ADD(0, 8) ADD(1, 8) ADD(2, 8) ADD(3, 8)
                                    ADD(4, 8) ADD(5, 8) ADD(6, 8) ADD(7, 8))
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f),
                           "+r"(g), "+r"(h)
                         : "r"(one));
}

#define MIXED 96

static void
run_mix(uint64_t operations)
{
    uint64_t a = 1, b = 1, c = 1, d = 1, e = 1, f = 1, g = 1, h = 1, one = 1;
    uint64_t loaded;
    uint64_t *from = &one;

    for (uint64_t i = 0; i < operations; i += MIXED)
        __asm__ volatile(TIMES8(ADD(0, 9) ADD(1, 9) LOAD(8, 10) ADD(2, 9) ADD(
            3, 9) LOAD(8, 10) ADD(4, 9) ADD(5, 9) LOAD(8, 10) ADD(6, 9)
                                    ADD(7, 9) LOAD(8, 10))
                         : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f),
                           "+r"(g), "+r"(h), "=&r"(loaded)
                         : "r"(one), "r"(from)
                         : "memory");
}

static void
run_branches(const struct native *n)
{
    uint64_t sum = 0, one = 1;

    for (size_t i = 0; i < WORDS; i++) {
        uint64_t word = n->bits[i];
        for (unsigned bit = 0; bit < 64; bit++)
            __asm__ volatile(TEST_BIT
                             : "+r"(word), "+r"(sum)
                             : "r"(one)
                             : "cc");
    }
}

static void
run_walk(struct native *n, uint64_t operations)
{
    void *at = n->at[0];

    for (uint64_t i = 0; i < operations; i += 8)
        __asm__ volatile(TIMES8(FOLLOW) : "+r"(at) : : "memory");
    n->at[0] = at;
}

static void
run_walks(struct native *n, uint64_t operations, uint64_t walks)
{
    for (uint64_t i = 0; i < operations; i += walks)
        for (uint64_t k = 0; k < walks; k++)
            n->at[k] = *(void *volatile *)n->at[k];
}

static void
run_read(struct native *n, uint64_t operations)
{
    const uint64_t line = n->facts.line;
    const char *at = n->at[0], *const end = n->memory + n->laid.size;
    uint64_t loaded;

    for (uint64_t i = 0; i < operations; i++, at += line) {
        at = at < end ? at : n->memory;
        __asm__ volatile(LOAD(0, 1) : "=r"(loaded) : "r"(at) : "memory");
    }
    n->at[0] = (void *)at;
}

/* Returns the shortest time of all branches with these bits, in nanoseconds:
 * random ones, anew for each turn, or all of one value. */
static double
time_branches(struct native *n, bool random, uint64_t all)
{
    double least = INFINITY;

    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t i = 0; i < WORDS; i++)
            n->bits[i] = random ? next_random(n) : all;
        const double begin = now();
        run_branches(n);
        least = fmin(least, now() - begin);
    }
    return least;
}

/* Half of the branches whose bits are random are mispredicted, whatever
 * predicts them. The others cost what branches of one direction do. */
static double
time_mispredict(struct native *n)
{
    const double plain =
        (time_branches(n, false, 0) + time_branches(n, false, UINT64_MAX)) / 2;

    return (time_branches(n, true, 0) - plain) / (WORDS * 64 / 2);
}

static void
run(struct native *n, const struct probe *p, uint64_t operations)
{
    switch (p->kind) {
    case PROBE_ADDS_CHAINED:
        run_chain(operations);
        break;
    case PROBE_ADDS_APART:
        run_adds(operations);
        break;
    case PROBE_ADDS_AND_LOADS:
        run_mix(operations);
        break;
    case PROBE_RANDOM_WALKS:
        run_walks(n, operations, p->count);
        break;
    case PROBE_LOADS_IN_ORDER:
        run_read(n, operations);
        break;
    default:
        run_walk(n, operations);
    }
}

/* Lets the lines at `step` from each other name each other: the lines of each
 * window of so many in random order, the windows in turn, and in the end the
 * first. `spread`: the line within a step differs from step to step, so that
 * lines of pages do not all fall into one set of a cache. */
static void
lay(struct native *n, uint64_t count, uint64_t step, uint64_t window,
    bool spread)
{
    const uint64_t lines = step / n->facts.line;
    void **last = NULL, **first = NULL;

    for (uint64_t from = 0; from < count; from += window) {
        const uint64_t here = count - from < window ? count - from : window;
        shuffle(n, here);
        for (uint64_t i = 0; i < here; i++) {
            const uint64_t k = from + n->order[i];
            const uint64_t within = spread ? k * 17 % lines : 0;
            void **const line =
                (void **)(n->memory + k * step + within * n->facts.line);
            if (last != NULL)
                *last = line;
            else
                first = line;
            last = line;
        }
    }
    *last = first;
    n->at[0] = first;
    n->count = count;
}

/* Puts the starts of several walks evenly over the lines. */
static void
spread_walks(struct native *n, uint64_t step, uint64_t walks)
{
    for (uint64_t k = 1; k < walks; k++)
        n->at[k] = n->memory + n->count * k / walks * step;
}

/* Lays the lines as the probe needs them. Neighbouring lines are not both
 * loaded but where order is asked for: processors fetch pairs of lines. */
static void
prepare(struct native *n, const struct probe *p)
{
    const uint64_t line = n->facts.line, page = n->facts.page;
    const uint64_t window = WINDOW_PAGES * page / (2 * line);

    if (n->is_laid && memcmp(&n->laid, p, sizeof(*p)) == 0)
        return;
    switch (p->kind) {
    case PROBE_RANDOM_WALK:
    case PROBE_RANDOM_WALKS:
        lay(n, p->size / (2 * line), 2 * line, window, false);
        spread_walks(n, 2 * line, p->kind == PROBE_RANDOM_WALKS ? p->count : 1);
        break;
    case PROBE_WALK_OF_PAGES:
        lay(n, p->count, page, p->count, true);
        break;
    case PROBE_WALK_OF_LINES:
        lay(n, p->count, line, p->count, false);
        break;
    case PROBE_LOADS_IN_ORDER:
        n->at[0] = n->memory;
        n->count = p->size / line;
        break;
    default:
        return;
    }
    n->laid = *p;
    n->is_laid = true;
}

/* Returns how many operations make a turn: at least TURN_NS long and, of a
 * walk, the whole of it if that is not too long. The turns tried here bring the
 * lines into the caches that hold them. */
static uint64_t
turn_length(struct native *n, const struct probe *p)
{
    const bool walks = p->kind >= PROBE_RANDOM_WALK;
    uint64_t operations = 4096;

    for (;;) {
        const double begin = now();
        run(n, p, operations);
        const double ns = now() - begin;
        if (ns >= MOST_NS ||
            (ns >= TURN_NS && (!walks || operations >= n->count)))
            return operations;
        operations *= 2;
    }
}

double
native_measure(void *user, const struct probe *p)
{
    struct native *const n = user;
    double least = INFINITY;

    if (p->kind == PROBE_MISPREDICTS)
        return time_mispredict(n);
    prepare(n, p);
    const uint64_t operations = turn_length(n, p);
    for (int turn = 0; turn < TURNS; turn++) {
        const double begin = now();
        run(n, p, operations);
        least = fmin(least, now() - begin);
    }
    return least / (double)operations;
}

/* Writes to each page, a few neighbours at a time in random order: the system
 * gives pages that are near each other, as it does to programs, but seldom side
 * by side, so that a TLB cannot hold several in one entry. */
static void
touch(struct native *n)
{
    const uint64_t pages = n->facts.size / n->facts.page;

    for (uint64_t from = 0; from < pages; from += TOUCHED) {
        const uint64_t here = pages - from < TOUCHED ? pages - from : TOUCHED;
        shuffle(n, here);
        for (uint64_t i = 0; i < here; i++)
            n->memory[(from + n->order[i]) * n->facts.page] = 1;
    }
}

void
native_renew(void *user)
{
    struct native *const n = user;

    madvise(n->memory, n->facts.size, MADV_DONTNEED);
    touch(n);
    n->is_laid = false;
}

/* Stays on the processor where the thread is now. */
static void
stay(struct native *n)
{
    const int cpu = sched_getcpu();
    cpu_set_t one;

    CPU_ZERO(&one);
    if (cpu < 0 || cpu >= CPU_SETSIZE)
        return;
    CPU_SET((size_t)cpu, &one);
    n->pinned = sched_getaffinity(0, sizeof(n->before), &n->before) == 0 &&
                sched_setaffinity(0, sizeof(one), &one) == 0;
}

int
native_create(const struct native_facts *facts, const struct tally_log *log,
              struct native **native)
{
    struct native *n;
    const uint64_t pages = facts->size / facts->page;
    const uint64_t window = WINDOW_PAGES * facts->page / (2 * facts->line);

    if (!CAN_PROBE)
        return tally_fail(log, TALLY_EARCH,
                          "tally calibrate measures x86-64 and aarch64 "
                          "processors, and this is neither");
    n = calloc(1, sizeof(*n));
    if (n != NULL) {
        n->facts = *facts;
        n->random = 88172645463325252u;
        n->order = calloc(pages > window ? pages : window, sizeof(*n->order));
        n->memory = mmap(NULL, facts->size, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        n->memory = n->memory != MAP_FAILED ? n->memory : NULL;
    }
    if (n == NULL || n->order == NULL || n->memory == NULL) {
        native_destroy(n);
        return tally_fail(log, TALLY_ENOMEM,
                          "no memory to measure in: %llu MB are needed",
                          (unsigned long long)facts->size >> 20);
    }
    madvise(n->memory, facts->size, MADV_NOHUGEPAGE);
    stay(n);
    touch(n);
    *native = n;
    return 0;
}

void
native_destroy(struct native *n)
{
    if (n == NULL)
        return;
    if (n->memory != NULL)
        munmap(n->memory, n->facts.size);
    if (n->pinned)
        sched_setaffinity(0, sizeof(n->before), &n->before);
    free(n->order);
    free(n);
}
