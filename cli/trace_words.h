/* SPDX-License-Identifier: MIT */
/* What the commands say of traces. */
#ifndef TALLY_CLI_TRACE_WORDS_H
#define TALLY_CLI_TRACE_WORDS_H

#include "source/launch.h"
#include "trace/trace_format.h"

#define TRACE_WORDS 128

/* Says what is wrong with the command line of tally trace: `what`, then what
 * was `given`. Returns EXIT_USAGE. */
int trace_wrong(const char *what, const char *given);

/* Says how a run ended, or why its trace ends before the program: "as the
 * program made a second thread". Returns `text`. */
const char *
trace_end_words(const struct trace_run *run, char text[TRACE_WORDS]);

/* Returns the instructions as they were counted; where that is not known, those
 * of the blocks, of which each iteration of a repeated instruction is one. */
uint64_t trace_instructions(const struct trace_run *run);

/* Returns the first option that was given and that sets how the program runs,
 * which of a trace nothing changes; or NULL. */
const char *trace_run_option(const struct launch_options *launch);

#endif
