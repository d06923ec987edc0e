/* SPDX-License-Identifier: MIT */
/*
 * Owners of virtual counters: their life, and the calls of /proc.
 *
 * When system mode starts, owners that do not run are not searched for. Instead
 * each start of system mode begins an era, and an owner whose counters are of
 * an earlier era loses them at the next call about that owner (I34, I35).
 */
#include "counter/virtual_cpu.h"

#include <string.h>

/* Returns whether such a PMU is possible. */
static bool
is_possible(const struct virtual_pmu_ops *ops)
{
    if (ops->counters == 0 || ops->counters > VIRTUAL_HARDWARE ||
        ops->width < 2 || ops->width > 64)
        return false;
    const uint64_t half = UINT64_C(1) << (ops->width - 1);
    return ops->limit >= half && ops->limit - half <= half;
}

int
virtual_init(struct virtual_system *s, const struct virtual_pmu_ops *ops,
             void *pmu, const struct virtual_kernel_ops *kernel_ops,
             void *kernel, struct virtual_cpu *cpus, unsigned count)
{
    if (count == 0 || count > INT32_MAX || !is_possible(ops))
        return VIRTUAL_EINVAL;
    memset(s, 0, sizeof(*s));
    memset(cpus, 0, count * sizeof(*cpus));
    s->ops = ops;
    s->pmu = pmu;
    s->kernel_ops = kernel_ops;
    s->kernel = kernel;
    s->cpus = cpus;
    s->count = count;
    s->generation = 1;
    return 0;
}

void
virtual_owner_init(struct virtual_owner *owner, uint32_t group, bool root)
{
    memset(owner, 0, sizeof(*owner));
    owner->group = group;
    owner->root = root;
    owner->cpu = VIRTUAL_NOBODY;
    owner->generation = 1;
}

int32_t
virtual_next_generation(int32_t generation)
{
    return generation < INT32_MAX ? generation + 1 : 1;
}

void
virtual_settle(const struct virtual_system *s, struct virtual_owner *owner)
{
    if (!owner->active || owner->era == s->era)
        return;
    owner->active = false;
    owner->generation = virtual_next_generation(owner->generation);
}

/* Puts the owner's events on the CPU that the owner runs on, if any. */
static void
resume(struct virtual_system *s, struct virtual_owner *owner)
{
    if (owner->active && owner->cpu != VIRTUAL_NOBODY)
        virtual_enter(s, (unsigned)owner->cpu, &owner->plan, &owner->block);
}

/* Takes the owner's events off the CPU that the owner runs on, if any. */
static void
suspend(struct virtual_system *s, struct virtual_owner *owner)
{
    if (owner->active && owner->cpu != VIRTUAL_NOBODY)
        virtual_leave(s, (unsigned)owner->cpu);
}

/* Has nobody run on the CPU. */
static void
switch_out(struct virtual_system *s, unsigned n)
{
    struct virtual_cpu *const cpu = &s->cpus[n];

    if (cpu->owner == NULL)
        return;
    if (!s->active)
        virtual_leave(s, n);
    cpu->owner->cpu = VIRTUAL_NOBODY;
    cpu->owner = NULL;
}

int
virtual_switch(struct virtual_system *s, unsigned n,
               struct virtual_owner *owner, uint64_t pc)
{
    struct virtual_cpu *const cpu = &s->cpus[n];

    if (owner != NULL && owner->cpu != VIRTUAL_NOBODY &&
        owner->cpu != (int32_t)n)
        return VIRTUAL_EINVAL;
    cpu->pc = pc;
    if (cpu->owner == owner)
        return 0;
    switch_out(s, n);
    if (owner == NULL)
        return 0;
    cpu->owner = owner;
    owner->cpu = (int32_t)n;
    virtual_settle(s, owner);
    resume(s, owner);
    return 0;
}

void
virtual_fork(struct virtual_system *s, struct virtual_owner *parent,
             struct virtual_owner *child)
{
    virtual_settle(s, parent);
    virtual_owner_init(child, parent->group, parent->root);
    child->user = parent->user;
    child->generation = parent->generation;
    child->active = parent->active;
    child->era = parent->era;
    child->plan = parent->plan;
    virtual_block_init(&child->block, &child->plan);
}

void
virtual_exit(struct virtual_system *s, struct virtual_owner *owner,
             struct virtual_owner *parent, bool waiting)
{
    struct counter_reading readings[VIRTUAL_EVENTS] = {{0}};

    if (s->holder == owner)
        virtual_system_end(s);
    if (s->watcher == owner)
        s->watcher = NULL;
    if (owner->cpu != VIRTUAL_NOBODY)
        switch_out(s, (unsigned)owner->cpu);
    /* No parent gets counts of the whole system. */
    if (parent == NULL || !(waiting || owner->save) || owner->summed)
        return;
    virtual_add_block(NULL, VIRTUAL_NOBODY, &owner->plan, &owner->block,
                      readings);
    /* With the times, the sums of both processes can still be scaled. */
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        parent->block.count[i] += readings[i].value;
        parent->block.running[i] += readings[i].running;
        parent->block.enabled[i] += readings[i].enabled;
    }
}

/* Returns whether the caller may use the target's counters. */
static bool
may(const struct virtual_owner *caller, const struct virtual_owner *target)
{
    return caller->root || caller->group == target->group;
}

static bool
some_cpu_counts(const struct virtual_system *s)
{
    for (unsigned n = 0; n < s->count; n++) {
        if (s->cpus[n].block != NULL)
            return true;
    }
    return false;
}

/* Sets the target's counts to 0 and, if `active`, starts it in user mode.
 * Returns the new generation. */
static int
restart(struct virtual_system *s, struct virtual_owner *target,
        const struct virtual_plan *plan, bool active)
{
    virtual_settle(s, target);
    suspend(s, target);
    target->plan = *plan;
    virtual_block_init(&target->block, plan);
    target->active = active;
    target->summed = false;
    target->era = s->era;
    target->ranges = NULL;
    target->range_count = 0;
    target->generation = virtual_next_generation(target->generation);
    resume(s, target);
    return target->generation;
}

int
virtual_start(struct virtual_system *s, const struct virtual_owner *caller,
              struct virtual_owner *target,
              const struct virtual_request *request)
{
    static const struct virtual_plan nothing;
    struct virtual_plan plan;

    if (!may(caller, target))
        return VIRTUAL_EPERM;
    const int error = virtual_plan_make(s, caller->root, request, &plan);
    if (error != 0)
        return error;
    if (s->active)
        return VIRTUAL_EBUSY;
    if (!virtual_plan_kernel(&plan))
        return restart(s, target, &plan, true);
    if (some_cpu_counts(s))
        return VIRTUAL_EBUSY;
    virtual_system_begin(s, &plan, target, target);
    return restart(s, target, &nothing, false);
}

int
virtual_read(struct virtual_system *s, const struct virtual_owner *caller,
             struct virtual_owner *target,
             struct counter_reading readings[VIRTUAL_EVENTS])
{
    if (!may(caller, target))
        return VIRTUAL_EPERM;
    virtual_settle(s, target);
    memset(readings, 0, VIRTUAL_EVENTS * sizeof(*readings));
    if (s->holder == target) {
        virtual_coalesce(s);
        memcpy(readings, s->global, sizeof(s->global));
    }
    virtual_add_block(s, target->cpu, &target->plan, &target->block, readings);
    return target->generation;
}

int
virtual_read_usage(struct virtual_system *s, const struct virtual_owner *caller,
                   struct virtual_owner *target,
                   struct counter_reading readings[VIRTUAL_EVENTS], void *usage)
{
    if (!may(caller, target))
        return VIRTUAL_EPERM;
    if (s->kernel_ops->usage == NULL ||
        !s->kernel_ops->usage(s->kernel, target, usage))
        return VIRTUAL_EINVAL;
    return virtual_read(s, caller, target, readings);
}

int
virtual_control(struct virtual_system *s, const struct virtual_owner *caller,
                struct virtual_owner *target, uint16_t spec[VIRTUAL_EVENTS])
{
    const struct virtual_plan *const plan =
        s->holder == target ? &s->plan : &target->plan;

    if (!may(caller, target))
        return VIRTUAL_EPERM;
    virtual_settle(s, target);
    if (s->holder == target || target->active)
        memcpy(spec, plan->request.spec, sizeof(plan->request.spec));
    else
        memset(spec, 0, sizeof(plan->request.spec));
    return target->generation;
}

int
virtual_change(struct virtual_system *s, const struct virtual_owner *caller,
               struct virtual_owner *target,
               const struct virtual_request *request)
{
    struct virtual_plan plan;

    if (!may(caller, target))
        return VIRTUAL_EPERM;
    const int error = virtual_plan_make(s, caller->root, request, &plan);
    if (error != 0)
        return error;
    virtual_settle(s, target);
    const bool holds = s->holder == target;
    if (s->active && !holds)
        return VIRTUAL_EBUSY;
    if ((!holds && !target->active) || virtual_plan_kernel(&plan) != holds)
        return VIRTUAL_EINVAL;
    if (holds) {
        virtual_system_apply(s, &plan);
    } else {
        suspend(s, target);
        virtual_block_change(&target->block, &target->plan, &plan);
        target->plan = plan;
        resume(s, target);
    }
    target->generation = virtual_next_generation(target->generation);
    return target->generation;
}

int
virtual_release(struct virtual_system *s, const struct virtual_owner *caller,
                struct virtual_owner *target)
{
    const bool holds = s->holder == target;

    if (!may(caller, target) || (holds && !caller->root))
        return VIRTUAL_EPERM;
    virtual_settle(s, target);
    if (holds)
        virtual_system_end(s);
    suspend(s, target);
    target->active = false;
    target->ranges = NULL;
    target->range_count = 0;
    return 0;
}

int
virtual_save(struct virtual_system *s, const struct virtual_owner *caller,
             struct virtual_owner *target)
{
    (void)s;
    if (!may(caller, target))
        return VIRTUAL_EPERM;
    target->save = true;
    return 0;
}

static bool
ranges_wrong(const struct virtual_range *ranges, uint32_t count)
{
    for (uint32_t i = 0; ranges != NULL && i < count; i++) {
        if (ranges[i].buckets == NULL || ranges[i].count == 0)
            return true;
    }
    return ranges == NULL || count == 0;
}

static bool
has_threshold(const struct virtual_plan *plan)
{
    for (unsigned i = 0; i < VIRTUAL_EVENTS; i++) {
        if ((plan->chosen >> i & 1) && plan->request.threshold[i] != 0)
            return true;
    }
    return false;
}

int
virtual_profile(struct virtual_system *s, struct virtual_owner *caller,
                const struct virtual_request *request,
                const struct virtual_range *ranges, uint32_t count)
{
    struct virtual_plan plan;
    const int error = virtual_plan_make(s, caller->root, request, &plan);

    if (error == VIRTUAL_EINVAL || ranges_wrong(ranges, count) ||
        !has_threshold(&plan) || (error == 0 && virtual_plan_kernel(&plan)))
        return VIRTUAL_EINVAL;
    if (error != 0)
        return error;
    if (s->active)
        return VIRTUAL_EBUSY;
    restart(s, caller, &plan, true);
    caller->ranges = ranges;
    caller->range_count = count;
    return caller->generation;
}
