/* SPDX-License-Identifier: MIT */
/* Plans made of requests, and the blocks of counts that go with plans. */
#include "counter/virtual_cpu.h"

#include <string.h>

/* Returns whether the request is wrong for every PMU. */
static bool
is_wrong(const struct virtual_request *request)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const uint16_t spec = request->spec[i];
        if (request->threshold[i] < 0 ||
            (spec != 0 && (spec & VIRTUAL_MODES) == 0))
            return true;
    }
    return request->signal < 0 || request->signal > VIRTUAL_SIGNALS;
}

/* Returns the bits of all specifiers. */
static unsigned
bits_of(const struct virtual_request *request)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        bits |= request->spec[i];
    return bits;
}

/* Returns the counter among `places` that has the fewest events; `counters` if
 * `places` is empty. */
static unsigned
emptiest(const unsigned *events, unsigned counters, uint32_t places)
{
    unsigned best = counters;

    for (unsigned c = 0; c < counters; c++) {
        if ((places >> c & 1) != 0 &&
            (best == counters || events[c] < events[best]))
            best = c;
    }
    return best;
}

/* Gives each event one counter. */
static int
place(const struct virtual_system *s, struct virtual_plan *plan)
{
    unsigned events[VIRTUAL_HARDWARE] = {0};

    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        const uint16_t spec = plan->request.spec[i];
        if (spec == 0)
            continue;
        const unsigned c =
            emptiest(events, s->ops->counters, s->ops->places(s->pmu, i, spec));
        if (c == s->ops->counters)
            return VIRTUAL_EINVAL;
        events[c]++;
        plan->on[c] |= UINT32_C(1) << i;
        plan->chosen |= UINT32_C(1) << i;
    }
    const bool fits =
        s->ops->fits == NULL || s->ops->fits(s->pmu, &plan->request);
    return fits && plan->chosen != 0 ? 0 : VIRTUAL_EINVAL;
}

int
virtual_plan_make(const struct virtual_system *s, bool root,
                  const struct virtual_request *request,
                  struct virtual_plan *plan)
{
    const unsigned privileged =
        VIRTUAL_EXCEPTION | VIRTUAL_KERNEL | VIRTUAL_SUPERVISOR;

    memset(plan, 0, sizeof(*plan));
    plan->request = *request;
    if (is_wrong(request) || place(s, plan) != 0)
        return VIRTUAL_EINVAL;
    return root || (bits_of(request) & privileged) == 0 ? 0 : VIRTUAL_EPERM;
}

bool
virtual_plan_kernel(const struct virtual_plan *plan)
{
    return (bits_of(&plan->request) & VIRTUAL_KERNEL) != 0;
}

/* Begins the thresholds and turns of a block anew. */
static void
begin(struct virtual_block *block, const struct virtual_plan *plan)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++)
        block->left[i] = (uint32_t)plan->request.threshold[i];
    memset(block->turn, 0, sizeof(block->turn));
}

void
virtual_block_init(struct virtual_block *block, const struct virtual_plan *plan)
{
    memset(block, 0, sizeof(*block));
    begin(block, plan);
}

void
virtual_block_change(struct virtual_block *block,
                     const struct virtual_plan *from,
                     const struct virtual_plan *to)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        if (from->chosen >> i & 1)
            block->enabled[i] += block->clock - block->from[i];
        block->from[i] = block->clock;
    }
    begin(block, to);
}

void
virtual_bump(const struct virtual_range *ranges, uint32_t count, uint64_t pc)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct virtual_range *const r = &ranges[i];
        const uint64_t steps = (pc - r->offset) / 2;
        /* Multiplied in two parts: neither overflows if steps < 2^48. */
        const uint64_t high = (steps >> 16) * r->scale;
        const uint64_t bucket = high + ((steps & 0xffff) * r->scale >> 16);
        if (pc < r->offset || steps >> 48 != 0 || bucket >= r->count)
            continue;
        if (r->buckets[bucket] < UINT16_MAX)
            r->buckets[bucket]++;
        return;
    }
}
