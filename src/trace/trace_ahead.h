/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace in a thread of its own, ahead of who takes it: what to read
 * costs about as much as what to count.
 */
#ifndef TALLY_TRACE_TRACE_AHEAD_H
#define TALLY_TRACE_TRACE_AHEAD_H

#include "trace/trace_reader.h"

struct trace_ahead;

/* Begins to read. The reader is the thread's until trace_ahead_next() has
 * returned the last batch; but blocks of batches that were returned, and the
 * start, may be looked at. NULL: there is no memory or no thread. The thread
 * ends with the process. */
struct trace_ahead *trace_ahead_begin(struct trace_reader *reader);

/* Returns the next batch, which is the caller's until the next call. Not to be
 * called again behind a batch whose `next` is TRACE_NEXT_END or an error. */
const struct trace_batch *trace_ahead_next(struct trace_ahead *ahead);

#endif
