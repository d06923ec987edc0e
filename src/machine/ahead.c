/* SPDX-License-Identifier: MIT */
#include "machine/ahead.h"

#include "machine/coherence_bus.h"

#define PAGE_BYTES 4096u
#define REQUESTS 8u /* of the request address buffer: Table 2-9 */

uint16_t
ahead_next(const struct cache *l1i, uint64_t line, unsigned ahead)
{
    return (uint16_t)cache_search_next(l1i, line, ahead);
}

static struct ahead_line *
find(struct ahead *t, uint64_t line)
{
    for (unsigned i = 0; i < AHEAD_LINES; i++) {
        if (t->lines[i].line == line + 1)
            return &t->lines[i];
    }
    return NULL;
}

void
ahead_settle(struct strand *s, enum ahead_out waited)
{
    struct ahead *t = &s->bus->ahead;

    for (unsigned i = 0; i < AHEAD_LINES; i++) {
        if (t->lines[i].out <= waited)
            t->lines[i].out = AHEAD_IN;
    }
}

static unsigned
count_out(const struct ahead *t)
{
    unsigned out = 0;

    for (unsigned i = 0; i < AHEAD_LINES; i++)
        out += t->lines[i].out != AHEAD_IN;
    return out;
}

/* How far a line of the L2 for code is out for another of the L1I. */
static enum ahead_out
pending(const struct strand *s, uint64_t line)
{
    const struct ahead *t = &s->bus->ahead;
    const uint32_t l1i = s->core->l1i.line_shift;
    const uint32_t l2i = s->core->bus->l2i.line_shift;
    const uint32_t shift = l2i > l1i ? l2i - l1i : 0;

    for (unsigned i = 0; i < AHEAD_LINES; i++) {
        const struct ahead_line *o = &t->lines[i];
        if (o->out != AHEAD_IN && (o->line - 1) >> shift == line >> shift)
            return o->out;
    }
    return t->asked >> shift == line >> shift ? t->asked_out : AHEAD_IN;
}

/* Asks the L2 for code, for a fetch or ahead of one. */
static enum ahead_out
ask(struct strand *s, uint64_t line, unsigned kind, bool *again)
{
    const enum ahead_out before = pending(s, line);
    const enum ahead_out out =
        bus_code(s, line << s->core->l1i.line_shift, kind);

    *again = out == AHEAD_IN && before != AHEAD_IN;
    s->total[SIGNAL_L2I_RECIRCULATES] += *again;
    return *again ? before : out;
}

static void
ask_ahead(struct strand *s, uint64_t line)
{
    struct ahead *t = &s->bus->ahead;
    struct ahead_line *place = &t->lines[t->next];
    bool again;

    s->total[SIGNAL_L2I_PREFETCHES]++;
    const enum ahead_out out = ask(s, line, REQUEST_AHEAD, &again);
    *place = (struct ahead_line){line + 1, out, again};
    t->next = (t->next + 1) % AHEAD_LINES;
}

/* The stream goes on behind a line. How many requests the L2 had. */
static unsigned
go_on(struct strand *s, uint64_t line, uint64_t has)
{
    struct ahead *t = &s->bus->ahead;
    const uint64_t page = PAGE_BYTES >> s->core->l1i.line_shift;
    const uint64_t ahead = s->chip->ahead;
    const uint64_t to = line + ahead;
    unsigned asked = 0;

    if (t->to <= line || t->to > to)
        t->to = line;
    for (uint64_t next = t->to + 1; next <= to && next % page != 0; next++) {
        s->total[SIGNAL_STREAM_PREFETCHES]++;
        t->to = next;
        if ((has >> (next - line - 1) & 1) != 0 || find(t, next) != NULL)
            continue;
        ask_ahead(s, next);
        asked++;
    }
    return asked;
}

static uint64_t
wait_for(const uint64_t *params, enum ahead_out out)
{
    return params[PARAM_TIME_L2] +
           (out != AHEAD_IN ? params[PARAM_TIME_L3] : 0) +
           (out == AHEAD_MEMORY ? params[PARAM_TIME_MEMORY] : 0);
}

/* A line in the buffer serves the fetch, or will. */
static void
serve(struct strand *s, struct ahead_line *l)
{
    const enum ahead_out out = l->out;
    uint64_t *total = s->total;

    total[SIGNAL_STREAM_HITS] += out == AHEAD_IN;
    total[SIGNAL_REQUEST_HITS] += out != AHEAD_IN;
    total[SIGNAL_L2I_SPEC_ABORTS] += out != AHEAD_IN && !l->again;
    total[SIGNAL_FETCH_WAITS_L3] += out == AHEAD_L3;
    total[SIGNAL_FETCH_WAITS_MEMORY] += out == AHEAD_MEMORY;
    if (out != AHEAD_IN)
        total[SIGNAL_STREAM_CLOSE_CYCLES] += wait_for(s->chip->params, out);
    *l = (struct ahead_line){0};
    ahead_settle(s, out);
}

/* So many requests are out while a fetch waits. */
static void
count_full(struct strand *s, unsigned requests, enum ahead_out out)
{
    const uint64_t cycles = wait_for(s->chip->params, out);

    if (requests >= REQUESTS)
        s->total[SIGNAL_REQUESTS_FULL_CYCLES] += cycles;
    else if (requests == REQUESTS - 1)
        s->total[SIGNAL_REQUESTS_ALMOST_FULL_CYCLES] += cycles;
}

/* A fetch that no line in the buffer serves. */
static void
start(struct strand *s, uint64_t line, uint64_t has)
{
    struct ahead *t = &s->bus->ahead;
    const unsigned before = count_out(t);
    bool again;

    t->to = line;
    t->asked_out = AHEAD_IN;
    const enum ahead_out out = ask(s, line, REQUEST_FETCH, &again);
    s->total[SIGNAL_FETCH_WAITS_L3] += again && out == AHEAD_L3;
    s->total[SIGNAL_FETCH_WAITS_MEMORY] += again && out == AHEAD_MEMORY;
    t->asked = line;
    t->asked_out = out;
    count_full(s, 1 + before + go_on(s, line, has), out);
    t->asked_out = AHEAD_IN;
    ahead_settle(s, out);
}

void
ahead_fetch(struct strand *s, const struct request *fetch)
{
    const uint64_t line = fetch->addr >> s->core->l1i.line_shift;
    struct ahead_line *l = find(&s->bus->ahead, line);

    if (l == NULL) {
        start(s, line, fetch->next);
        return;
    }
    serve(s, l);
    go_on(s, line, fetch->next);
}
