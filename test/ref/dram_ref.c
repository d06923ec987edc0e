/* SPDX-License-Identifier: MIT */
#include "ref/dram_ref.h"

#include <string.h>

void
dram_ref_init(struct dram_ref *r, const uint64_t *params)
{
    memset(r, 0, sizeof(*r));
    r->params = params;
}

/* The oldest of the bank that waits, of reads or of writes. */
static struct dram_ref_request *
head(struct dram_ref_channel *c, uint64_t bank, bool write)
{
    for (unsigned i = 0; i < c->count; i++) {
        struct dram_ref_request *q = &c->queue[i];
        if (q->bank == bank && q->write == write && q->left == 0)
            return q;
    }
    return NULL;
}

static bool
is_busy(const struct dram_ref_channel *c, uint64_t bank)
{
    for (unsigned i = 0; i < c->count; i++) {
        if (c->queue[i].bank == bank && c->queue[i].left > 0)
            return true;
    }
    return false;
}

/* Each bank that is free takes a request. */
static void
begin(const struct dram_ref *r, struct dram_ref_channel *c)
{
    for (uint64_t bank = 0; bank < r->params[PARAM_MEMORY_DRAM_BANKS]; bank++) {
        struct dram_ref_request *read = head(c, bank, false);
        struct dram_ref_request *write = head(c, bank, true);
        if (is_busy(c, bank) || (read == NULL && write == NULL))
            continue;
        if (read == NULL || (write != NULL && write->number <= read->behind))
            read = write;
        read->left = r->params[PARAM_TIME_BANK];
    }
}

/* One cycle: it is counted, then some leave and others begin. */
static void
pass_cycle(const struct dram_ref *r, struct dram_ref_channel *c)
{
    unsigned kept = 0;
    bool waits = false;

    for (unsigned i = 0; i < c->count; i++) {
        struct dram_ref_request *q = &c->queue[i];
        c->reads += !q->write;
        c->writes += q->write;
        waits |= q->left == 0;
    }
    c->stalls += waits;
    c->cycle++;
    for (unsigned i = 0; i < c->count; i++) {
        struct dram_ref_request q = c->queue[i];
        if (q.left == 1)
            continue;
        q.left -= q.left > 0;
        c->queue[kept++] = q;
    }
    c->count = kept;
    begin(r, c);
}

static uint64_t
line_number(const struct dram_ref *r, uint64_t addr)
{
    const uint64_t *p = r->params;
    const uint64_t line = p[p[PARAM_L3_SIZE] ? PARAM_L3_LINE : PARAM_L2_LINE];
    const uint64_t piece = p[PARAM_MEMORY_INTERLEAVE];
    const uint64_t turn = piece * p[PARAM_MEMORY_BANKS];

    if (piece < line)
        return turn < line ? addr / line : addr / turn;
    return addr / turn * (piece / line) + addr % piece / line;
}

/* What a read that comes finds: which write it follows, and which it passes. */
static void
meet_writes(const struct dram_ref *r, struct dram_ref_channel *c,
            struct dram_ref_request *read)
{
    const uint64_t most = r->params[PARAM_MEMORY_PASSES];
    bool deferred = false;

    for (unsigned i = 0; i < c->count; i++) {
        const struct dram_ref_request *q = &c->queue[i];
        if (q->bank != read->bank || q->left > 0)
            continue;
        if (!q->write && q->behind > read->behind)
            read->behind = q->behind;
        if (q->write && (q->line == read->line || q->passed >= most) &&
            q->number > read->behind)
            read->behind = q->number;
        deferred |= q->write && q->line == read->line;
    }
    c->deferred += deferred;
    for (unsigned i = 0; i < c->count; i++) {
        struct dram_ref_request *q = &c->queue[i];
        if (q->write && q->bank == read->bank && q->left == 0 &&
            q->number > read->behind) {
            q->passed++;
            c->starved += q->passed == most;
        }
    }
}

/* Returns its number. */
static uint64_t
come(struct dram_ref *r, unsigned channel, uint64_t addr, bool write)
{
    struct dram_ref_channel *c = &r->channels[channel];
    struct dram_ref_request q = {.number = ++r->last, .write = write};

    q.line = line_number(r, addr);
    q.bank = q.line % r->params[PARAM_MEMORY_DRAM_BANKS];
    while (c->cycle < r->now)
        pass_cycle(r, c);
    while (c->count == r->params[PARAM_MEMORY_QUEUE]) {
        pass_cycle(r, c);
        r->now++;
    }
    if (!write)
        meet_writes(r, c, &q);
    c->queue[c->count++] = q;
    begin(r, c);
    return q.number;
}

static bool
has_begun(const struct dram_ref_channel *c, uint64_t number)
{
    for (unsigned i = 0; i < c->count; i++) {
        if (c->queue[i].number == number)
            return c->queue[i].left > 0;
    }
    return true;
}

/* The cycle in which a request begins, if nothing more comes. */
static uint64_t
foresee(const struct dram_ref *r, struct dram_ref_channel c, uint64_t number)
{
    while (!has_begun(&c, number))
        pass_cycle(r, &c);
    return c.cycle;
}

void
dram_ref_miss(struct dram_ref *r, const struct dram_ref_miss *miss)
{
    uint64_t resume = 0;

    if (miss->reads) {
        const uint64_t number = come(r, miss->channel, miss->addr, false);
        if (miss->waits)
            resume = foresee(r, r->channels[miss->channel], number) +
                     r->params[PARAM_TIME_MEMORY];
    }
    for (unsigned i = 0; i < miss->write_count; i++)
        come(r, miss->writes[i].channel, miss->writes[i].addr, true);
    if (resume > r->now)
        r->now = resume;
}

struct dram_ref_channel
dram_ref_counts(const struct dram_ref *r, unsigned channel)
{
    struct dram_ref_channel c = r->channels[channel];

    while (c.count > 0)
        pass_cycle(r, &c);
    return c;
}
