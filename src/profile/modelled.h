/* SPDX-License-Identifier: MIT */
/* The modelled time of a session's threads and processes. */
#ifndef TALLY_PROFILE_MODELLED_H
#define TALLY_PROFILE_MODELLED_H

#include "profile/session.h"

/*
 * Fills in the threads' derived signals, their waits for shared pipelines, and
 * result->modelled_s: each process lasts as long as its busiest strand, and the
 * processes follow one another. The threads are in order of process and number.
 * 0 or TALLY_ENOMEM.
 */
int session_time(const uint64_t *params, struct session_result *result);

#endif
