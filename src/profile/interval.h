/* SPDX-License-Identifier: MIT */
/*
 * Intervals of modelled time. Each thread looks at its clock from time to time,
 * and when a boundary has passed, keeps a snapshot of its counts. A thread's
 * clock starts at the clock of the thread that made it and leaves out waits for
 * a shared pipeline: these waits are known at the end only, and are shared out
 * among the thread's intervals in proportion to its issue cycles. An interval
 * of a process is the sum of its threads' intervals, and the last interval has
 * the rest: the sum of all intervals is the process's counts, to the unit.
 */
#ifndef TALLY_PROFILE_INTERVAL_H
#define TALLY_PROFILE_INTERVAL_H

#include "profile/session.h"

/* Makes result->intervals from the snapshots and threads of the result, by
 * process and then by the boundaries of the snapshots. What a thread counted
 * after its last snapshot is in an interval with the boundary UINT64_MAX. 0 or
 * TALLY_ENOMEM. */
int session_cut(const uint64_t *params, struct session_result *result);

/* Returns the cycles of `ms` milliseconds of modelled time. */
uint64_t interval_cycles(const uint64_t *params, uint64_t ms);

/* Makes result->intervals, of `cycles` each, from the snapshots and threads of
 * the result. The threads have their final counts and are in order of process
 * and number. 0 or TALLY_ENOMEM. */
int session_intervals(const uint64_t *params, uint64_t cycles,
                      struct session_result *result);

#endif
