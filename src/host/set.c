/* SPDX-License-Identifier: MIT */
#include "host/set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/page.h"
#include "host/set_state.h"

/*
 * The way to the system call is one function: where the kernel guards against
 * speculation, each return after a system call is mispredicted. What is inlined
 * here takes 8 ns off a read of 420.
 */
#define INLINE inline __attribute__((always_inline))

/* What read(2) gives: of a group the number of events comes first. */
struct group_data {
    uint64_t count, enabled, running, values[HOST_GROUP_MAX];
};

struct single_data {
    uint64_t value, enabled, running;
};

static void
make_mark(struct host_set *set)
{
    void *mark = mmap(NULL, set->page_size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (mark == MAP_FAILED)
        return;
    if (madvise(mark, set->page_size, MADV_WIPEONFORK) != 0) {
        munmap(mark, set->page_size);
        return;
    }
    set->mark = mark;
    atomic_store_explicit(set->mark, 1, memory_order_relaxed);
}

static INLINE bool
ours(const struct host_set *set)
{
    if (set->mark != NULL)
        return atomic_load_explicit(set->mark, memory_order_relaxed) != 0;
    return getpid() == set->pid;
}

int
host_set_check(const struct host_set *set)
{
    if (ours(set))
        return 0;
    return tally_fail(&set->options.log, TALLY_ERULE,
                      "these counters were opened before fork() and belong to "
                      "the parent; close them here and open others");
}

int
host_set_create(const struct host_set_options *options, struct host_set **set)
{
    struct host_set *s = calloc(1, sizeof(*s));

    if (s == NULL)
        return tally_fail(&options->log, TALLY_ENOMEM,
                          "no memory for counters");
    s->options = *options;
    s->page_size = (size_t)sysconf(_SC_PAGESIZE);
    s->pid = getpid();
    s->tid = (pid_t)syscall(SYS_gettid);
    s->self = pthread_self();
    s->overflow_fd = -1;
    if (options->scope != HOST_CPU && options->id == 0)
        s->options.id = options->scope == HOST_THREAD ? s->tid : s->pid;
    make_mark(s);
    *set = s;
    return 0;
}

/* In a child the pages' memory was never there: other things may stand in its
 * place. */
static void
unmap_pages(struct host_set *set)
{
    for (size_t i = 0; ours(set) && i < set->event_count; i++) {
        if (set->pages[i].page != NULL)
            munmap(set->pages[i].page, set->pages[i].size);
    }
}

static void
set_close(void *user)
{
    struct host_set *set = user;

    if (set == NULL)
        return;
    unmap_pages(set);
    /* Members before their leader, that no group falls apart on the way. */
    while (set->fd_count > 0)
        close(set->fds[--set->fd_count]);
    if (set->mark != NULL)
        munmap((void *)set->mark, set->page_size);
    free(set->groups);
    free(set->order);
    free(set->pages);
    free(set->base);
    free(set->spare);
    free(set->fds);
    free(set);
}

/* Tells every leader. One is enough for its group: members wait for it. */
static int
tell(const struct host_set *set, unsigned long request)
{
    for (size_t i = 0; i < set->group_count; i++) {
        const struct set_group *g = &set->groups[i];
        for (size_t t = 0; t < g->targets; t++) {
            const int fd = set->fds[g->fd + t * g->count];
            int told;
            do
                told = ioctl(fd, request, 0);
            while (told != 0 && errno == EINTR);
            if (told != 0)
                return -errno;
        }
    }
    return 0;
}

static int
set_start(void *user)
{
    struct host_set *set = user;
    int error = ours(set) ? 0 : host_set_check(set);

    if (error != 0)
        return error;
    error = tell(set, PERF_EVENT_IOC_ENABLE);
    if (error != 0) {
        tell(set, PERF_EVENT_IOC_DISABLE);
        return tally_fail(&set->options.log, TALLY_ESYSTEM,
                          "counters cannot be started: %s", strerror(-error));
    }
    set->started = true;
    return 0;
}

static int
set_stop(void *user)
{
    struct host_set *set = user;
    int error = ours(set) ? 0 : host_set_check(set);

    if (error != 0)
        return error;
    error = tell(set, PERF_EVENT_IOC_DISABLE);
    if (error != 0)
        return tally_fail(&set->options.log, TALLY_ESYSTEM,
                          "counters cannot be stopped: %s", strerror(-error));
    set->started = false;
    return 0;
}

/*
 * read(2) without the C library's call, its check for cancellation and errno:
 * 400 ns become 391 on an EPYC 9B45 guest. It is no cancellation point then.
 */
static INLINE long
read_bare(int fd, void *data, size_t size)
{
#if defined(__x86_64__) && !defined(__ILP32__)
    long got;

    __asm__ volatile("syscall"
                     : "=a"(got)
                     : "0"((long)SYS_read), "D"((long)fd), "S"(data), "d"(size)
                     : "rcx", "r11", "memory");
    return got;
#else
    return read(fd, data, size);
#endif
}

/* The library's read is asked again for whatever is not all of it: for errno,
 * and because a test may stand behind it. */
static __attribute__((noinline, cold)) ssize_t
read_again(int fd, void *data, size_t size)
{
    ssize_t got;

    do
        got = read(fd, data, size);
    while (got < 0 && errno == EINTR);
    return got;
}

static INLINE bool
read_whole(int fd, void *data, size_t size)
{
    const long got = read_bare(fd, data, size);

    return __builtin_expect(got == (long)size, 1) ||
           read_again(fd, data, size) == (ssize_t)size;
}

/* `first`: of the targets, whose sum begins with it. */
static inline void
add(struct counter_reading *sum, bool first, uint64_t value, uint64_t enabled,
    uint64_t running)
{
    if (first)
        *sum = (struct counter_reading){0};
    sum->value += value;
    sum->enabled += enabled;
    sum->running += running;
}

/* Without a system call; false if not every event of the group is there. */
static bool
group_read_pages(const struct host_set *set, const struct set_group *g,
                 struct counter_reading *sums)
{
    for (size_t i = 0; i < g->count; i++) {
        const size_t event = set->order[g->first + i];
        if (!page_read(set->pages[event].page, &sums[event]))
            return false;
    }
    return true;
}

static INLINE bool
group_read(const struct host_set *set, const struct set_group *g,
           struct counter_reading *sums)
{
    struct group_data data;
    const size_t size =
        offsetof(struct group_data, values) + g->count * sizeof(uint64_t);
    const size_t *order = &set->order[g->first];

    for (size_t t = 0; t < g->targets; t++) {
        if (!read_whole(set->fds[g->fd + t * g->count], &data, size))
            return false;
        for (size_t i = 0; i < g->count; i++)
            add(&sums[order[i]], t == 0, data.values[i], data.enabled,
                data.running);
    }
    return true;
}

/* One event is not opened for group reads: the kernel takes 130 ns more. */
static INLINE bool
single_read(const struct host_set *set, const struct set_group *g,
            struct counter_reading *sum)
{
    struct single_data data;

    for (size_t t = 0; t < g->targets; t++) {
        if (!read_whole(set->fds[g->fd + t], &data, sizeof(data)))
            return false;
        add(sum, t == 0, data.value, data.enabled, data.running);
    }
    return true;
}

static __attribute__((cold)) int
read_failed(const struct host_set *set)
{
    return tally_fail(&set->options.log, TALLY_EIDLE,
                      "an event that is pinned to a counter has lost it to "
                      "another user");
}

/* From the kernel's zero, not from the last reset's. */
static INLINE bool
read_sums(const struct host_set *set, struct counter_reading *sums)
{
    for (size_t i = 0; i < set->group_count; i++) {
        const struct set_group *g = &set->groups[i];
        if (g->paged && pthread_equal(set->self, pthread_self()) &&
            group_read_pages(set, g, sums))
            continue;
        if (g->count == 1 ? !single_read(set, g, &sums[set->order[g->first]])
                          : !group_read(set, g, sums))
            return false;
    }
    return true;
}

static int
set_read(void *user, struct counter_reading *readings)
{
    const struct host_set *set = user;

    if (!ours(set))
        return host_set_check(set);
    if (!read_sums(set, readings))
        return read_failed(set);
    for (size_t i = 0; i < set->event_count; i++) {
        readings[i].value -= set->base[i].value;
        readings[i].enabled -= set->base[i].enabled;
        readings[i].running -= set->base[i].running;
    }
    return 0;
}

/* PERF_EVENT_IOC_RESET leaves the times, and what ended children counted. */
static int
set_reset(void *user)
{
    struct host_set *set = user;

    if (!ours(set))
        return host_set_check(set);
    if (!read_sums(set, set->spare))
        return read_failed(set);
    struct counter_reading *old = set->base;
    set->base = set->spare;
    set->spare = old;
    return 0;
}

const struct counter_ops host_set_ops = {
    .start = set_start,
    .stop = set_stop,
    .read = set_read,
    .reset = set_reset,
    .close = set_close,
};

int
host_set_overflow_fd(const struct host_set *set)
{
    return set->overflow_fd;
}

int
host_set_overflows(struct host_set *set,
                   void (*take)(void *user,
                                const struct host_overflow *overflow),
                   void *user)
{
    if (!ours(set))
        return host_set_check(set);
    if (set->overflow_fd < 0)
        return tally_fail(&set->options.log, TALLY_ERULE,
                          "no event has a period");
    host_ring_take(set->pages[0].page, set->page_size,
                   SET_RING_PAGES * set->page_size, take, user);
    return 0;
}
