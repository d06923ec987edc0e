/* SPDX-License-Identifier: MIT */
/* Makes the result of a session from what its processes have written. */
#ifndef TALLY_PROFILE_COLLECT_H
#define TALLY_PROFILE_COLLECT_H

#include "profile/session.h"
#include "source/counts_view.h"

/* Returns how many groups of events take the counters in turn; at least 1. */
unsigned session_slices(const struct session_options *options);

/* Returns how many totals a thread has: one a slice; with --filter data= two a
 * slice. */
unsigned session_totals(const struct session_options *options);

/*
 * Adds up the session's file. `request` is tally's own copy of what the session
 * was asked: any process may have overwritten the copy in the file. `result`
 * has the components and the program's status already. A process whose counts
 * are inconsistent is left out and named in result->inconsistent. 0,
 * TALLY_ENOMEM or TALLY_ESYSTEM.
 */
int session_collect(const struct session_options *options, int fd,
                    const struct session_request *request,
                    struct session_result *result);

/* Frees what a thread's row owns. */
void session_thread_finish(struct session_thread *thread);

#endif
