/* SPDX-License-Identifier: MIT */
/*
 * Reads the ring buffer behind an event's page, into which the kernel writes a
 * record at every overflow. Safe in a signal handler; one reader at a time.
 */
#ifndef TALLY_HOST_RING_H
#define TALLY_HOST_RING_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The sample_type that host_ring_take() needs. */
#define RING_SAMPLE (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME)

struct host_overflow {
    uint64_t ip;
    uint64_t time; /* ns, of the kernel's clock */
    pid_t pid, tid;
    uint64_t lost; /* overflows before this one that found the buffer full */
};

/*
 * Hands each record since the last call to `take`, copied to `record`. A record
 * longer than `room` bytes is cut. `size` is that of the data behind the page,
 * a power of two.
 */
void
host_ring_walk(struct perf_event_mmap_page *page, size_t page_size, size_t size,
               struct perf_event_header *record, size_t room,
               void (*take)(void *user, const struct perf_event_header *record),
               void *user);

/*
 * Hands each overflow since the last call to `take`. `size` is that of the
 * data behind the page, a power of two.
 */
void
host_ring_take(struct perf_event_mmap_page *page, size_t page_size, size_t size,
               void (*take)(void *user, const struct host_overflow *overflow),
               void *user);

#endif
