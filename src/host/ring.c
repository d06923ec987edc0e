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

static bool
record_overflow(const union record *r, uint64_t *lost, struct host_overflow *o)
{
    if (r->header.type == PERF_RECORD_LOST && r->header.size >= sizeof(r->lost))
        *lost += r->lost.lost;
    if (r->header.type != PERF_RECORD_SAMPLE ||
        r->header.size < sizeof(r->sample))
        return false;
    *o = (struct host_overflow){.ip = r->sample.ip,
                                .time = r->sample.time,
                                .pid = (pid_t)r->sample.pid,
                                .tid = (pid_t)r->sample.tid,
                                .lost = *lost};
    *lost = 0;
    return true;
}

void
host_ring_take(struct perf_event_mmap_page *page, size_t page_size, size_t size,
               void (*take)(void *user, const struct host_overflow *overflow),
               void *user)
{
    const unsigned char *data = (const unsigned char *)page + page_size;
    const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = page->data_tail, lost = 0;

    while (tail < head) {
        struct host_overflow overflow;
        union record record = {0};
        copy(data, size, tail, &record.header, sizeof(record.header));
        const size_t whole = record.header.size;
        if (whole < sizeof(record.header))
            break; /* no record is; the kernel does not */
        copy(data, size, tail, &record,
             whole < sizeof(record) ? whole : sizeof(record));
        tail += whole;
        /* Before `take`, that an overflow in it finds room. */
        __atomic_store_n(&page->data_tail, tail, __ATOMIC_RELEASE);
        if (record_overflow(&record, &lost, &overflow))
            take(user, &overflow);
    }
}
