/* SPDX-License-Identifier: MIT */
/* tally trace info and verify: what is in a trace, and whether it is whole. */
#ifndef TALLY_CLI_TRACE_SHOW_H
#define TALLY_CLI_TRACE_SHOW_H

#include <stdbool.h>

/* Shows what the trace has, as text or JSON. Returns an exit status, after
 * saying what is wrong. */
int trace_show(const char *path, bool json);

/* Reads all of the trace, and says how much of it can be replayed. Returns an
 * exit status, after saying what is wrong. */
int trace_verify(const char *path);

#endif
