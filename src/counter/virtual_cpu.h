/* SPDX-License-Identifier: MIT */
/* The parts of the calls of virtual counters: a CPU's counters, requests, and
 * the sum of all CPUs. */
#ifndef TALLY_COUNTER_VIRTUAL_CPU_H
#define TALLY_COUNTER_VIRTUAL_CPU_H

#include "counter/virtual.h"

#define VIRTUAL_NOBODY (-1) /* virtual_owner.cpu */

/* Puts the events of a plan on the CPU's counters, which must be free. Their
 * counts go to `block`. */
void
virtual_enter(struct virtual_system *system, unsigned cpu,
              const struct virtual_plan *plan, struct virtual_block *block);

/* Takes the events off the CPU's counters, if there are any, and adds what they
 * counted to their block. */
void virtual_leave(struct virtual_system *system, unsigned cpu);

/* Adds the counts of a block to `readings`, also those still on the counters if
 * the block is on `cpu` (VIRTUAL_NOBODY: on none). */
void virtual_add_block(const struct virtual_system *system, int32_t cpu,
                       const struct virtual_plan *plan,
                       const struct virtual_block *block,
                       struct counter_reading readings[VIRTUAL_EVENTS]);

/* Zeroes a block, and sets its thresholds to those of the plan. */
void virtual_block_init(struct virtual_block *block,
                        const struct virtual_plan *plan);

/* Moves a block, which must be on no CPU, from one plan to another. */
void virtual_block_change(struct virtual_block *block,
                          const struct virtual_plan *from,
                          const struct virtual_plan *to);

/* Makes a plan of a request: each event gets a counter, for as long as the plan
 * lasts. Returns 0, VIRTUAL_EINVAL or VIRTUAL_EPERM; on an error the plan must
 * not be used. */
int virtual_plan_make(const struct virtual_system *system, bool root,
                      const struct virtual_request *request,
                      struct virtual_plan *plan);

/* Returns whether some event counts in kernel mode. */
bool virtual_plan_kernel(const struct virtual_plan *plan);

/* Raises the pc's bucket. */
void
virtual_bump(const struct virtual_range *ranges, uint32_t count, uint64_t pc);

/* Returns the generation after this one: 1 after INT32_MAX. */
int32_t virtual_next_generation(int32_t generation);

/* Ends the owner's counting if system mode has taken the counters meanwhile. */
void virtual_settle(const struct virtual_system *system,
                    struct virtual_owner *owner);

/* Begins system mode, whoever counts now. */
void virtual_system_begin(struct virtual_system *system,
                          const struct virtual_plan *plan,
                          struct virtual_owner *holder,
                          struct virtual_owner *watcher);

/* Ends system mode. */
void virtual_system_end(struct virtual_system *system);

/* Moves system mode to another plan. */
void virtual_system_apply(struct virtual_system *system,
                          const struct virtual_plan *plan);

/* Sums the counts of all CPUs into system->global. */
void virtual_coalesce(struct virtual_system *system);

#endif
