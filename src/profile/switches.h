/* SPDX-License-Identifier: MIT */
/*
 * The switches between the threads of a process that take turns on a core,
 * worked out from the counts of each thread by machine/switch.h.
 */
#ifndef TALLY_PROFILE_SWITCHES_H
#define TALLY_PROFILE_SWITCHES_H

#include "profile/session.h"

/* Fills in the signals of switches of one process's threads, which are in order
 * of number and have their cycles; does nothing on a machine without switches.
 */
void switches_count(const uint64_t *params, struct session_thread *threads,
                    size_t count);

#endif
