/* SPDX-License-Identifier: MIT */
#include "machine/frames.h"

#include "table/table.h"

static uint32_t
at_most(uint64_t value, uint64_t most)
{
    return (uint32_t)(value < most ? value : most);
}

void
frames_reset(struct frames *f)
{
    f->current = f->frame;
    f->dirty = 0;
}

void
frames_init(struct frames *f, const uint64_t *params)
{
    const uint64_t registers = params[PARAM_RSE_REGISTERS];

    f->registers = (uint32_t)registers;
    f->frame = at_most(params[PARAM_RSE_FRAME], registers);
    f->outputs = at_most(params[PARAM_RSE_OUTPUTS], f->frame);
    frames_reset(f);
}

/* An operation of the engine retires: what there was just before. */
static void
retire(const struct frames *f, uint64_t *total)
{
    total[SIGNAL_FRAME_EVENTS]++;
    total[SIGNAL_FRAME_CURRENT_LOW] += f->current & 7;
    total[SIGNAL_FRAME_CURRENT_MIDDLE] += f->current >> 3 & 7;
    total[SIGNAL_FRAME_CURRENT_HIGH] += f->current >> 6;
    total[SIGNAL_FRAME_DIRTY_LOW] += f->dirty & 7;
    total[SIGNAL_FRAME_DIRTY_MIDDLE] += f->dirty >> 3 & 7;
    total[SIGNAL_FRAME_DIRTY_HIGH] += f->dirty >> 6;
}

void
frames_call(struct frames *f, uint64_t *total)
{
    retire(f, total);
    f->dirty += f->current - f->outputs;
    f->current = f->outputs;
    retire(f, total); /* the alloc */
    f->current = f->frame;
    if (f->dirty + f->frame > f->registers) {
        const uint32_t room = f->registers - f->frame;
        total[SIGNAL_FRAME_SPILLS] += f->dirty - room;
        f->dirty = room;
    }
}

void
frames_return(struct frames *f, uint64_t *total)
{
    const uint32_t callers = f->frame - f->outputs;

    retire(f, total);
    if (f->dirty < callers) {
        total[SIGNAL_FRAME_FILLS] += callers - f->dirty;
        f->dirty = callers;
    }
    f->dirty -= callers;
    f->current = f->frame;
}
