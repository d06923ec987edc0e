/* SPDX-License-Identifier: MIT */
#include "machine/dram.h"

#include <assert.h>
#include <string.h>

#include "table/table.h"

static uint32_t
log2_of(uint64_t power)
{
    return (uint32_t)__builtin_ctzll(power);
}

/* Returns the size of a line of the last level that the machine has. */
static uint64_t
last_line(const uint64_t *params)
{
    unsigned last = CACHE_COUNT - 1;

    while (last > CACHE_L2 && params[tally_caches[last].size] == 0)
        last--;
    return params[tally_caches[last].line];
}

void
dram_init(struct dram *d, const uint64_t *params)
{
    const uint32_t line = log2_of(last_line(params));
    const uint32_t piece = log2_of(params[PARAM_MEMORY_INTERLEAVE]);

    memset(d, 0, sizeof(*d));
    d->time = params[PARAM_TIME_BANK];
    d->wait = params[PARAM_TIME_MEMORY];
    d->size = (uint32_t)params[PARAM_MEMORY_QUEUE];
    d->passes = (uint32_t)params[PARAM_MEMORY_PASSES];
    d->bank_mask = (uint32_t)params[PARAM_MEMORY_DRAM_BANKS] - 1;
    d->line_shift = line;
    d->inner_shift = piece > line ? piece : line;
    d->outer_shift = piece + log2_of(params[PARAM_MEMORY_BANKS]);
    if (d->outer_shift < d->inner_shift)
        d->outer_shift = d->inner_shift;
}

void
dram_clear(struct dram *d)
{
    d->now = d->resume = 0;
    d->open = false;
    d->written_count = 0;
    memset(d->channel, 0, sizeof(d->channel));
}

/* Returns the number of a line among those of its channel. */
static uint64_t
line_of(const struct dram *d, uint64_t addr)
{
    const uint64_t inner = addr & (((uint64_t)1 << d->inner_shift) - 1);

    return (addr >> d->outer_shift << (d->inner_shift - d->line_shift)) |
           inner >> d->line_shift;
}

/* What a request finds in the queue as it comes. */
struct found {
    uint64_t start;  /* when its bank can begin with it */
    bool deferred;   /* a write of its line waits */
    bool goes_first; /* before some of its bank */
};

/* Takes out those whose bank has served them, and looks at all others. */
static struct found
look(const struct dram *d, struct dram_channel *c, const struct dram_request *r)
{
    struct found f = {.start = d->now};
    unsigned kept = 0;

    for (unsigned i = 0; i < c->count; i++) {
        const struct dram_request q = c->queue[i];
        const uint64_t end = q.start + d->time;
        const bool live = end > d->now, waits = q.start > d->now;
        const bool same = live & (q.bank == r->bank);
        /* A read passes the writes that wait, as often as they let it. */
        const bool behind = r->write | !q.write | !waits |
                            (q.passed >= d->passes) | (q.line == r->line);
        c->queue[kept] = q;
        kept += live;
        f.start = same & behind & (end > f.start) ? end : f.start;
        f.goes_first |= same & !behind;
        f.deferred |= waits & q.write & (q.line == r->line);
    }
    c->count = kept;
    return f;
}

/* A full queue holds up what comes until an entry leaves it. */
static void
make_room(struct dram *d, struct dram_channel *c)
{
    uint64_t first = UINT64_MAX;

    for (unsigned i = 0; i < c->count; i++) {
        const uint64_t end = c->queue[i].start + d->time;
        first = end < first ? end : first;
    }
    d->now = first;
}

static void
stay(const struct dram *d, struct dram_channel *c, uint64_t start)
{
    if (start + d->time > c->busy_until)
        c->busy_until = start + d->time;
}

/* The writes behind `r` wait for one more request of their bank. */
static void
pass(const struct dram *d, struct dram_channel *c, const struct dram_request *r,
     uint64_t *total, unsigned channel)
{
    for (unsigned i = 0; i < c->count; i++) {
        struct dram_request *q = &c->queue[i];
        if (q->bank != r->bank || q->start < r->start)
            continue;
        q->start += d->time;
        stay(d, c, q->start);
        total[SIGNAL_DRAM_WRITE_LATENCY_0 + channel] += d->time;
        total[SIGNAL_DRAM_STARVED_0 + channel] += ++q->passed == d->passes;
    }
}

/* From now on one waits in each cycle until the last has begun. */
static void
count_stalls(const struct dram *d, struct dram_channel *c, uint64_t *stalls)
{
    const uint64_t from = c->stalled_until > d->now ? c->stalled_until : d->now;
    const uint64_t last = c->busy_until - d->time;

    *stalls += last > from ? last - from : 0;
    c->stalled_until = last > from ? last : from;
}

/* It waits for the others in the queue, and they for it. */
static void
queue_up(struct dram *d, struct dram_channel *c, struct dram_request *r,
         uint64_t *total, unsigned channel)
{
    struct found found = look(d, c, r);

    if (c->count == d->size) {
        make_room(d, c);
        found = look(d, c, r);
    }
    r->start = found.start;
    total[SIGNAL_DRAM_DEFERRED_0 + channel] += found.deferred & !r->write;
    if (found.goes_first)
        pass(d, c, r, total, channel);
}

/* Returns the cycle in which its bank begins. Three of ten find an empty queue:
 * measured on bzip2, on a T1. */
static uint64_t
come(struct dram *d, uint64_t *total, unsigned channel, uint64_t addr,
     bool write)
{
    struct dram_channel *c = &d->channel[channel];
    const uint64_t line = line_of(d, addr);
    struct dram_request r = {.line = line,
                             .start = d->now,
                             .bank = (uint32_t)line & d->bank_mask,
                             .write = write};
    const bool empty = c->busy_until <= d->now;

    if (empty)
        c->count = 0;
    else
        queue_up(d, c, &r, total, channel);
    total[(write ? SIGNAL_DRAM_WRITE_LATENCY_0 : SIGNAL_DRAM_READ_LATENCY_0) +
          channel] += r.start + d->time - d->now;
    c->queue[c->count++] = r;
    stay(d, c, r.start);
    if (!empty)
        count_stalls(d, c, &total[SIGNAL_DRAM_STALLS_0 + channel]);
    return r.start;
}

void
dram_read(struct dram *d, uint64_t *total, unsigned channel, uint64_t addr,
          bool waits)
{
    const uint64_t start = come(d, total, channel, addr, false);

    if (waits)
        d->resume = start + d->wait;
    d->open = true;
}

void
dram_write(struct dram *d, unsigned channel, uint64_t addr)
{
    assert(d->written_count < DRAM_WRITES);
    d->written[d->written_count++] = (struct dram_written){addr, channel};
    d->open = true;
}

void
dram_settle(struct dram *d, uint64_t *total)
{
    for (unsigned i = 0; i < d->written_count; i++)
        come(d, total, d->written[i].channel, d->written[i].addr, true);
    if (d->resume > d->now)
        d->now = d->resume;
    d->resume = 0;
    d->written_count = 0;
    d->open = false;
}
