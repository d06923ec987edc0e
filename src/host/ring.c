/* SPDX-License-Identifier: MIT */
#include "host/ring.h"

#include <stdbool.h>
#include <string.h>

struct sample {
    struct perf_event_header header;
    uint64_t ip;
    uint32_t pid, tid;
    uint64_t time;
};

struct lost {
    struct perf_event_header header;
    uint64_t id, lost;
};

union record {
    struct perf_event_header header;
    struct sample sample;
    struct lost lost;
};

/* Copies what begins at `at`, of which the end may stand at the start. */
static void
copy(const unsigned char *data, size_t size, uint64_t at, void *to, size_t wish)
{
    const size_t offset = (size_t)at & (size - 1);
    const size_t first = wish < size - offset ? wish : size - offset;

    memcpy(to, data + offset, first);
    memcpy((unsigned char *)to + first, data, wish - first);
}

/* Where host_ring_take() puts overflows, and what was lost since the last. */
struct taking {
    void (*take)(void *user, const struct host_overflow *overflow);
    void *user;
    uint64_t lost;
};

static void
take_overflow(void *user, const struct perf_event_header *header)
{
    const union record *r = (const union record *)header;
    struct taking *t = user;

    if (header->type == PERF_RECORD_LOST && header->size >= sizeof(r->lost))
        t->lost += r->lost.lost;
    if (header->type != PERF_RECORD_SAMPLE || header->size < sizeof(r->sample))
        return;
    const struct host_overflow overflow = {.ip = r->sample.ip,
                                           .time = r->sample.time,
                                           .pid = (pid_t)r->sample.pid,
                                           .tid = (pid_t)r->sample.tid,
                                           .lost = t->lost};
    t->lost = 0;
    t->take(t->user, &overflow);
}

void
host_ring_walk(struct perf_event_mmap_page *page, size_t page_size, size_t size,
               struct perf_event_header *record, size_t room,
               void (*take)(void *user, const struct perf_event_header *record),
               void *user)
{
    const unsigned char *data = (const unsigned char *)page + page_size;
    const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = page->data_tail;

    while (tail < head) {
        copy(data, size, tail, record, sizeof(*record));
        const size_t whole = record->size;
        if (whole < sizeof(*record))
            break; /* no record is; the kernel does not */
        copy(data, size, tail, record, whole < room ? whole : room);
        tail += whole;
        /* Before `take`, that an overflow in it finds room. */
        __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
        take(user, record);
    }
}

void
host_ring_take(struct perf_event_mmap_page *page, size_t page_size, size_t size,
               void (*take)(void *user, const struct host_overflow *overflow),
               void *user)
{
    struct taking taking = {take, user, 0};
    union record record;

    host_ring_walk(page, page_size, size, &record.header, sizeof(record),
                   take_overflow, &taking);
}
