/* SPDX-License-Identifier: MIT */
/*
 * The switches between the threads of a process that share a core by turns,
 * from what each has counted: machine/switch.h.
 */
#ifndef TALLY_PROFILE_SWITCHES_H
#define TALLY_PROFILE_SWITCHES_H

#include "profile/session.h"

/* Fills in the signals of switches of one process's threads, in order of
 * number, whose cycles are known; nothing on a machine without switches. */
void switches_count(const uint64_t *params, struct session_thread *threads,
                    size_t count);

#endif
