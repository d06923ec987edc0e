/* SPDX-License-Identifier: MIT */
/* tally trace replay: counts a trace on some machines. */
#ifndef TALLY_CLI_TRACE_REPLAY_H
#define TALLY_CLI_TRACE_REPLAY_H

#include "cli/model_options.h"

struct trace_replaying {
    const char *machines; /* names with commas between; NULL: the program's */
    const char *events, *metrics,
        *format; /* as tally count has them, or NULL */
    const struct model_options *model;
};

/* Counts the trace on each machine and writes the reports in the order of the
 * names. As many machines count at once as there are processors. Returns 0, or
 * the first status of another kind in that order. */
int trace_replay(const struct trace_replaying *r, char *trace);

#endif
