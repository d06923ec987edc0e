/* SPDX-License-Identifier: MIT */
/*
 * A CPU's counters. A counter starts below the limit, by the occurrences that
 * are left to the event's threshold, and by at most half of the counter's
 * range: then the distance that it has moved stays known for as long again
 * after the interrupt. When the counter interrupts, or the event leaves it, the
 * distance is added to the virtual counter. If the threshold was passed, its
 * signal is sent then, once, and the threshold begins anew: occurrences between
 * the interrupt and its service count, but not towards the next signal (I60).
 */
#include "counter/virtual_cpu.h"

static uint64_t
lower(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns how far the counter has moved since it was written. */
static uint64_t
moved(const struct virtual_system *s, unsigned n, unsigned c)
{
    const uint64_t now = s->ops->read(s->pmu, n, c);

    return (now - s->cpus[n].base[c]) & (UINT64_MAX >> (64 - s->ops->width));
}

/* Sets the counter for the event whose turn it is. */
static void
install(struct virtual_system *s, unsigned n, unsigned c, uint64_t now)
{
    struct virtual_cpu *const cpu = &s->cpus[n];
    const struct virtual_request *const request = &cpu->plan->request;
    const unsigned i = cpu->block->turn[c];
    const uint64_t half = UINT64_C(1) << (s->ops->width - 1);
    const uint64_t ahead =
        request->threshold[i] != 0 ? lower(cpu->block->left[i], half) : half;

    cpu->since[c] = now;
    cpu->base[c] = s->ops->limit - ahead;
    s->ops->write(s->pmu, n, c, cpu->base[c]);
    s->ops->control(s->pmu, n, c, i, request->spec[i] | VIRTUAL_INTERRUPT);
}

/* Sends the signal of event `i`, which has reached its threshold, and counts
 * the pc in the profile. System mode has no profile: its pcs are of all owners.
 */
static void
report_threshold(struct virtual_system *s, const struct virtual_cpu *cpu,
                 unsigned i)
{
    const bool private = cpu->block != &cpu->own;
    struct virtual_owner *const owner = private ? cpu->owner : s->watcher;

    if (owner == NULL)
        return;
    if (cpu->plan->request.signal != 0)
        s->kernel_ops->signal(s->kernel, owner, cpu->plan->request.signal, i);
    if (private)
        virtual_bump(owner->ranges, owner->range_count, cpu->pc);
}

/* Stops the counter and adds what it has counted to the block. */
static void
collect(struct virtual_system *s, unsigned n, unsigned c, uint64_t now)
{
    struct virtual_cpu *const cpu = &s->cpus[n];
    struct virtual_block *const block = cpu->block;
    const unsigned i = block->turn[c];

    s->ops->control(s->pmu, n, c, i, 0);
    const uint64_t more = moved(s, n, c);
    block->count[i] += more;
    block->running[i] += now - cpu->since[c];
    if (cpu->plan->request.threshold[i] == 0)
        return;
    if (more < block->left[i]) {
        block->left[i] -= (uint32_t)more;
    } else {
        block->left[i] = (uint32_t)cpu->plan->request.threshold[i];
        report_threshold(s, cpu, i);
    }
}

/* Returns the lowest event at or above `from`, or else the lowest of all. */
static uint8_t
next_of(uint32_t events, unsigned from)
{
    const uint32_t above =
        from < VIRTUAL_EVENTS ? events & (UINT32_MAX << from) : 0;

    return (uint8_t)__builtin_ctz(above != 0 ? above : events);
}

void
virtual_enter(struct virtual_system *s, unsigned n,
              const struct virtual_plan *plan, struct virtual_block *block)
{
    struct virtual_cpu *const cpu = &s->cpus[n];
    const uint64_t now = s->kernel_ops->time(s->kernel, n);

    cpu->plan = plan;
    cpu->block = block;
    cpu->entered = now;
    for (unsigned c = 0; c < s->ops->counters; c++) {
        if (plan->on[c] == 0)
            continue;
        block->turn[c] = next_of(plan->on[c], block->turn[c]);
        install(s, n, c, now);
    }
}

void
virtual_leave(struct virtual_system *s, unsigned n)
{
    struct virtual_cpu *const cpu = &s->cpus[n];

    if (cpu->block == NULL)
        return;
    const uint64_t now = s->kernel_ops->time(s->kernel, n);
    for (unsigned c = 0; c < s->ops->counters; c++) {
        if (cpu->plan->on[c] != 0)
            collect(s, n, c, now);
    }
    cpu->block->clock += now - cpu->entered;
    cpu->block = NULL;
    cpu->plan = NULL;
}

void
virtual_tick(struct virtual_system *s, unsigned n, uint64_t pc)
{
    struct virtual_cpu *const cpu = &s->cpus[n];

    cpu->pc = pc;
    if (cpu->block == NULL)
        return;
    const uint64_t now = s->kernel_ops->time(s->kernel, n);
    for (unsigned c = 0; c < s->ops->counters; c++) {
        const uint32_t events = cpu->plan->on[c];
        if ((events & (events - 1)) == 0)
            continue;
        collect(s, n, c, now);
        cpu->block->turn[c] = next_of(events, cpu->block->turn[c] + 1u);
        install(s, n, c, now);
    }
}

void
virtual_overflow(struct virtual_system *s, unsigned n, uint64_t pc)
{
    struct virtual_cpu *const cpu = &s->cpus[n];

    cpu->pc = pc;
    if (cpu->block == NULL)
        return;
    const uint64_t now = s->kernel_ops->time(s->kernel, n);
    for (unsigned c = 0; c < s->ops->counters; c++) {
        if (cpu->plan->on[c] == 0 ||
            moved(s, n, c) < s->ops->limit - cpu->base[c])
            continue;
        collect(s, n, c, now);
        install(s, n, c, now);
    }
}

/* Adds what is on the CPU's counters and not yet in the block. */
static void
add_live(const struct virtual_system *s, unsigned n, uint64_t now,
         struct counter_reading readings[VIRTUAL_EVENTS])
{
    const struct virtual_cpu *const cpu = &s->cpus[n];

    for (unsigned c = 0; c < s->ops->counters; c++) {
        if (cpu->plan->on[c] == 0)
            continue;
        struct counter_reading *const r = &readings[cpu->block->turn[c]];
        r->value += moved(s, n, c);
        r->running += now - cpu->since[c];
    }
}

void
virtual_add_block(const struct virtual_system *s, int32_t n,
                  const struct virtual_plan *plan,
                  const struct virtual_block *block,
                  struct counter_reading readings[VIRTUAL_EVENTS])
{
    uint64_t clock = block->clock;

    if (n >= 0 && s->cpus[n].block == block) {
        const uint64_t now = s->kernel_ops->time(s->kernel, (unsigned)n);
        clock += now - s->cpus[n].entered;
        add_live(s, (unsigned)n, now, readings);
    }
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        readings[i].value += block->count[i];
        readings[i].running += block->running[i];
        readings[i].enabled += block->enabled[i];
        if (plan->chosen >> i & 1)
            readings[i].enabled += clock - block->from[i];
    }
}
