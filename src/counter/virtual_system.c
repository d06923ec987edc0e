/* SPDX-License-Identifier: MIT */
/* System mode: a block of counts for each CPU, and the sum of all CPUs, which
 * is made when it is read and when the counters are released. */
#include "counter/virtual_cpu.h"

#include <string.h>

/* Sums anew each time, since the CPUs keep their counts, also after the release
 * (I72). */
void
virtual_coalesce(struct virtual_system *s)
{
    memset(s->global, 0, sizeof(s->global));
    for (unsigned n = 0; n < s->count; n++)
        virtual_add_block(s, (int32_t)n, &s->plan, &s->cpus[n].own, s->global);
}

void
virtual_system_begin(struct virtual_system *s, const struct virtual_plan *plan,
                     struct virtual_owner *holder,
                     struct virtual_owner *watcher)
{
    s->generation = virtual_next_generation(s->generation);
    s->era++;
    for (unsigned n = 0; n < s->count; n++) {
        virtual_leave(s, n);
        if (s->cpus[n].owner != NULL)
            virtual_settle(s, s->cpus[n].owner);
    }
    s->active = true;
    s->holder = holder;
    s->watcher = watcher;
    s->plan = *plan;
    memset(s->global, 0, sizeof(s->global));
    for (unsigned n = 0; n < s->count; n++) {
        virtual_block_init(&s->cpus[n].own, &s->plan);
        virtual_enter(s, n, &s->plan, &s->cpus[n].own);
    }
}

void
virtual_system_end(struct virtual_system *s)
{
    struct virtual_owner *const holder = s->holder;

    for (unsigned n = 0; n < s->count; n++)
        virtual_leave(s, n);
    virtual_coalesce(s);
    /* The holder can read the last sum until the holder exits (I26). */
    for (unsigned i = 0; holder != NULL && i < VIRTUAL_EVENTS; i++) {
        holder->block.count[i] += s->global[i].value;
        holder->block.running[i] += s->global[i].running;
        holder->block.enabled[i] += s->global[i].enabled;
        holder->summed = true;
    }
    s->active = false;
    s->holder = NULL;
    s->watcher = NULL;
}

void
virtual_system_apply(struct virtual_system *s, const struct virtual_plan *plan)
{
    for (unsigned n = 0; n < s->count; n++) {
        virtual_leave(s, n);
        virtual_block_change(&s->cpus[n].own, &s->plan, plan);
    }
    s->plan = *plan;
    for (unsigned n = 0; n < s->count; n++)
        virtual_enter(s, n, &s->plan, &s->cpus[n].own);
    s->generation = virtual_next_generation(s->generation);
}

int
virtual_system_start(struct virtual_system *s, struct virtual_owner *caller,
                     const struct virtual_request *request)
{
    struct virtual_plan plan;

    if (!caller->root)
        return VIRTUAL_EPERM;
    const int error = virtual_plan_make(s, true, request, &plan);
    if (error != 0)
        return error;
    if (!virtual_plan_kernel(&plan))
        return VIRTUAL_EINVAL;
    if (s->active)
        return VIRTUAL_EBUSY;
    virtual_system_begin(s, &plan, NULL, caller);
    return s->generation;
}

int
virtual_system_read(struct virtual_system *s,
                    struct counter_reading readings[VIRTUAL_EVENTS])
{
    virtual_coalesce(s);
    memcpy(readings, s->global, sizeof(s->global));
    return s->generation;
}

int
virtual_system_read_cpu(struct virtual_system *s, unsigned n,
                        struct counter_reading readings[VIRTUAL_EVENTS])
{
    if (n >= s->count)
        return 0;
    memset(readings, 0, VIRTUAL_EVENTS * sizeof(*readings));
    virtual_add_block(s, (int32_t)n, &s->plan, &s->cpus[n].own, readings);
    return s->generation;
}

int
virtual_system_control(struct virtual_system *s, uint16_t spec[VIRTUAL_EVENTS])
{
    if (!s->active)
        return VIRTUAL_EINVAL;
    memcpy(spec, s->plan.request.spec, sizeof(s->plan.request.spec));
    return s->generation;
}

int
virtual_system_change(struct virtual_system *s,
                      const struct virtual_owner *caller,
                      const struct virtual_request *request)
{
    struct virtual_plan plan;

    if (!caller->root)
        return VIRTUAL_EPERM;
    if (virtual_plan_make(s, true, request, &plan) != 0 ||
        !virtual_plan_kernel(&plan) || !s->active)
        return VIRTUAL_EINVAL;
    virtual_system_apply(s, &plan);
    if (s->holder != NULL)
        s->holder->generation = virtual_next_generation(s->holder->generation);
    return s->generation;
}

int
virtual_system_release(struct virtual_system *s,
                       const struct virtual_owner *caller)
{
    if (!caller->root)
        return VIRTUAL_EPERM;
    if (s->active)
        virtual_system_end(s);
    return 0;
}
