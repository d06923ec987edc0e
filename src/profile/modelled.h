/* SPDX-License-Identifier: MIT */
/* The modelled time of a session's threads and processes. */
#ifndef TALLY_PROFILE_MODELLED_H
#define TALLY_PROFILE_MODELLED_H

#include "profile/session.h"

/*
 * Fills in what follows from all threads' counts together: their derived
 * signals, waits for shared pipelines among them, and modelled_s: each process
 * lasts as long as its busiest strand. The threads are in order of process and
 * number. 0 or TALLY_ENOMEM.
 */
int session_time(const uint64_t *params, struct session_result *result);

#endif
