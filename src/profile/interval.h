/* SPDX-License-Identifier: MIT */
/*
 * Intervals of modelled time. Each thread looks at its clock from time to time,
 * and keeps what it has counted when a boundary has passed. Its clock starts
 * with its maker's and leaves out its waits for a shared pipeline; these are
 * known in the end only and fall to its intervals as its issue cycles do.
 * Intervals of a process are the sums of its threads', and the last one is what
 * is left: so all together are the process's counts, to the unit.
 */
#ifndef TALLY_PROFILE_INTERVAL_H
#define TALLY_PROFILE_INTERVAL_H

#include "profile/session.h"

uint64_t interval_cycles(const uint64_t *params, uint64_t ms);

/* Makes result->intervals from its snapshots and its threads, which have their
 * final counts and are in order of process and number. 0 or TALLY_ENOMEM. */
int session_intervals(const uint64_t *params, uint64_t cycles,
                      struct session_result *result);

#endif
