/* SPDX-License-Identifier: MIT */
/* What the calls of virtual counters are made of: a CPU's counters, requests,
 * and the sum of all CPUs. */
#ifndef TALLY_COUNTER_VIRTUAL_CPU_H
#define TALLY_COUNTER_VIRTUAL_CPU_H

#include "counter/virtual.h"

#define VIRTUAL_NOBODY (-1) /* virtual_owner.cpu */

/* The block's events go on the CPU's counters, which nobody has. */
void
virtual_enter(struct virtual_system *system, unsigned cpu,
              const struct virtual_plan *plan, struct virtual_block *block);

/* They leave, counted; whether there were any or not. */
void virtual_leave(struct virtual_system *system, unsigned cpu);

/* Adds what the block has counted, now too if it is on `cpu` (VIRTUAL_NOBODY:
 * on none). */
void virtual_add_block(const struct virtual_system *system, int32_t cpu,
                       const struct virtual_plan *plan,
                       const struct virtual_block *block,
                       struct counter_reading readings[VIRTUAL_EVENTS]);

/* All zero, thresholds as in the plan. */
void virtual_block_init(struct virtual_block *block,
                        const struct virtual_plan *plan);

/* The block, which is on no CPU, goes on under another plan. */
void virtual_block_change(struct virtual_block *block,
                          const struct virtual_plan *from,
                          const struct virtual_plan *to);

/* 0, VIRTUAL_EINVAL or VIRTUAL_EPERM, *plan then being of no use. */
int virtual_plan_make(const struct virtual_system *system, bool root,
                      const struct virtual_request *request,
                      struct virtual_plan *plan);

/* Some event counts in kernel mode. */
bool virtual_plan_kernel(const struct virtual_plan *plan);

/* The pc's bucket. */
void
virtual_bump(const struct virtual_range *ranges, uint32_t count, uint64_t pc);

int32_t virtual_next_generation(int32_t generation);

/* The owner's counters, if system mode has taken them meanwhile, are lost. */
void virtual_settle(const struct virtual_system *system,
                    struct virtual_owner *owner);

/* System mode begins, whoever counts; ends; is what is read. */
void virtual_system_begin(struct virtual_system *system,
                          const struct virtual_plan *plan,
                          struct virtual_owner *holder,
                          struct virtual_owner *watcher);
void virtual_system_end(struct virtual_system *system);
void virtual_system_apply(struct virtual_system *system,
                          const struct virtual_plan *plan);
void virtual_coalesce(struct virtual_system *system);

#endif
