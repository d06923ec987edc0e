/* SPDX-License-Identifier: MIT */
#include "machine/fills.h"

#define VICTIMS 7u /* 2.3.3.4: of 8 write buffers one is the next's */

/* Returns whether a store still fetches the line. */
static bool
is_out(const struct strand *s, uint64_t addr)
{
    const struct fills *f = &s->bus->fills;
    const uint64_t line = addr >> s->core->bus->l2d.line_shift;

    for (unsigned i = 0; i < f->count; i++) {
        if (f->lines[i] == line)
            return true;
    }
    return false;
}

void
fills_end(struct strand *s)
{
    const uint64_t length = s->bus->fills.out;
    struct fills *f = &s->bus->fills;

    s->total[SIGNAL_READS_OUT_LOW] += length & 7;
    s->total[SIGNAL_READS_OUT_HIGH] += length >> 3;
    s->total[SIGNAL_READS_OUT_FULL] +=
        length == s->chip->params[PARAM_BUS_READS];
    if (f->victims > VICTIMS)
        s->total[SIGNAL_VICTIMS_FULL] += f->victims - VICTIMS;
    s->bus->fills.out = s->bus->fills.out_ahead = 0;
    f->left = 0;
    f->count = f->victims = 0;
}

void
fills_end_with(struct strand *s)
{
    s->bus->fills.out++;
    fills_end(s);
}

void
fills_add(struct strand *s, uint64_t addr, bool store)
{
    const uint64_t *params = s->chip->params;
    struct fills *f = &s->bus->fills;

    if (store)
        f->lines[f->count++] = addr >> s->core->bus->l2d.line_shift;
    s->bus->fills.out++;
    s->bus->fills.out_ahead += !store;
    if (s->bus->fills.out == params[PARAM_BUS_READS])
        fills_end(s);
    f->left = params[PARAM_TIME_L3] + params[PARAM_TIME_MEMORY];
}

void
fills_pass(struct strand *s, uint64_t cycles)
{
    struct fills *f = &s->bus->fills;

    if (f->left > cycles)
        f->left -= cycles;
    else if (s->bus->fills.out != 0)
        fills_end(s);
    else
        f->left = 0;
}

bool
fills_load(struct strand *s, uint64_t addr)
{
    if (s->bus->fills.count == 0 || !is_out(s, addr))
        return false;
    s->total[SIGNAL_L2D_SECONDARY_LOADS]++;
    s->total[SIGNAL_SECONDARY_WAIT] += s->bus->fills.left;
    fills_end(s);
    return true;
}

void
fills_atomic(struct strand *s, uint64_t addr, bool hit)
{
    if (s->bus->fills.count == 0)
        return;
    s->total[SIGNAL_L2D_ATOMIC_CANCELS]++;
    s->total[SIGNAL_L2D_SECONDARY_ATOMICS] += hit && is_out(s, addr);
    s->total[SIGNAL_ATOMIC_WAIT] += s->bus->fills.left;
    fills_end(s);
}

void
fills_refuse(struct strand *s, uint64_t addr, unsigned kind)
{
    const bool ahead = kind == REQUEST_AHEAD;
    const bool code = kind == REQUEST_FETCH || ahead;
    const enum signal_id refused = ahead  ? SIGNAL_L2I_PREFETCH_REJECTS
                                   : code ? SIGNAL_L2I_L3_REJECTS
                                          : SIGNAL_L2D_L3_REJECTS;

    if (s->bus->fills.out == 0 && s->bus->fills.left != 0) {
        s->total[refused]++;
        s->bus->fills.left = 0;
    } else if (code && is_out(s, addr)) {
        s->total[refused]++;
        if (!ahead)
            fills_end(s);
    }
}
