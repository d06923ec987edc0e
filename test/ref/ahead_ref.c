/* SPDX-License-Identifier: MIT */
#include "ref/ahead_ref.h"

#include <string.h>

#include "ref/branch_ref.h"
#include "ref/chip_ref.h"

static struct ahead_ref_line *
find(struct ahead_ref *t, uint64_t addr)
{
    for (unsigned i = 0; i < t->count; i++) {
        if (!t->lines[i].gone && t->lines[i].addr == addr)
            return &t->lines[i];
    }
    return NULL;
}

void
ahead_ref_wait(struct chip_ref *r, unsigned served)
{
    struct ahead_ref *t = &r->bus.ahead;

    for (unsigned i = 0; i < t->count; i++) {
        if (t->lines[i].served <= served)
            t->lines[i].served = 0;
    }
}

/* The level that a line of the L2 is awaited from for another request. */
static unsigned
awaited(const struct chip_ref *r, uint64_t addr)
{
    const struct ahead_ref *t = &r->bus.ahead;
    const uint64_t size = r->bus.l2i.line_size;

    for (unsigned i = 0; i < t->count; i++) {
        const struct ahead_ref_line *l = &t->lines[i];
        if (!l->gone && l->served != 0 && l->addr / size == addr / size)
            return l->served;
    }
    return 0;
}

/* `beside`: the fetch's own address, and the level that serves it; or 0. */
static void
ask_ahead(struct chip_ref *r, uint64_t addr, uint64_t beside, unsigned level)
{
    struct ahead_ref *t = &r->bus.ahead;
    const uint64_t size = r->bus.l2i.line_size;
    unsigned wait = awaited(r, addr);

    if (wait == 0 && level != 0 && beside / size == addr / size)
        wait = level;
    chip_ref_count(r, SIGNAL_L2I_PREFETCHES);
    const unsigned served = bus_ref_code(r, addr, BUS_REF_AHEAD);
    const bool waits = served == 0 && wait != 0;
    if (waits)
        chip_ref_count(r, SIGNAL_L2I_RECIRCULATES);
    if (t->count == 8)
        memmove(t->lines, t->lines + 1, --t->count * sizeof(t->lines[0]));
    t->lines[t->count++] =
        (struct ahead_ref_line){addr, waits ? wait : served, false, waits};
}

/* The stream stays so many lines ahead of an address, up to its 4 KB's end. */
static unsigned
go_on(struct chip_ref *r, uint64_t addr, unsigned level)
{
    struct ahead_ref *t = &r->bus.ahead;
    const uint64_t size = r->l1i.line_size;
    const uint64_t last = addr + r->params[PARAM_PREFETCH_LINES] * size;
    unsigned asked = 0;

    if (t->end <= addr || t->end > last)
        t->end = addr;
    while (t->end < last && (t->end + size) % 4096 != 0) {
        t->end += size;
        chip_ref_count(r, SIGNAL_STREAM_PREFETCHES);
        if (cache_ref_has(&r->l1i, t->end / size) || find(t, t->end) != NULL)
            continue;
        ask_ahead(r, t->end, addr, level);
        asked++;
    }
    return asked;
}

static void
wait_for(struct chip_ref *r, unsigned served)
{
    if (served != 0)
        chip_ref_count(r, served == 1 ? SIGNAL_FETCH_WAITS_L3
                                      : SIGNAL_FETCH_WAITS_MEMORY);
}

static void
take(struct chip_ref *r, struct ahead_ref_line *l)
{
    const unsigned served = l->served;

    l->gone = true;
    l->served = 0;
    chip_ref_count(r, served == 0 ? SIGNAL_STREAM_HITS : SIGNAL_REQUEST_HITS);
    if (served != 0 && !l->waits)
        chip_ref_count(r, SIGNAL_L2I_SPEC_ABORTS);
    wait_for(r, served);
    if (served != 0)
        r->signals[r->outside][SIGNAL_STREAM_CLOSE_CYCLES] +=
            r->params[PARAM_TIME_L2] + r->params[PARAM_TIME_L3] +
            (served == 2 ? r->params[PARAM_TIME_MEMORY] : 0);
    ahead_ref_wait(r, served);
}

static void
demand(struct chip_ref *r, uint64_t addr)
{
    struct ahead_ref *t = &r->bus.ahead;
    const unsigned wait = awaited(r, addr);
    unsigned requests = 1;

    for (unsigned i = 0; i < t->count; i++)
        requests += t->lines[i].served != 0;
    unsigned served = bus_ref_code(r, addr, BUS_REF_FETCH);
    if (served == 0 && wait != 0) {
        served = wait;
        chip_ref_count(r, SIGNAL_L2I_RECIRCULATES);
        wait_for(r, wait);
    }
    t->end = addr;
    requests += go_on(r, addr, served);
    const uint64_t cycles = r->params[PARAM_TIME_L2] +
                            (served > 0 ? r->params[PARAM_TIME_L3] : 0) +
                            (served > 1 ? r->params[PARAM_TIME_MEMORY] : 0);
    uint64_t *n = r->signals[r->outside];
    if (requests >= 8)
        n[SIGNAL_REQUESTS_FULL_CYCLES] += cycles;
    if (requests == 7)
        n[SIGNAL_REQUESTS_ALMOST_FULL_CYCLES] += cycles;
    ahead_ref_wait(r, served);
}

void
ahead_ref_fetch(struct chip_ref *r, uint64_t addr)
{
    if (r->params[PARAM_PREFETCH_LINES] == 0) {
        bus_ref_code(r, addr, BUS_REF_FETCH);
        return;
    }
    struct ahead_ref_line *l = find(&r->bus.ahead, addr);
    if (l == NULL) {
        demand(r, addr);
        return;
    }
    take(r, l);
    go_on(r, addr, 0);
}
