/* SPDX-License-Identifier: MIT */
/* What can move the counts of a run from outside, for tally count -v. */
#ifndef TALLY_CLI_RUN_PARTS_H
#define TALLY_CLI_RUN_PARTS_H

#include "source/launch.h"
#include "source/program.h"

/* Writes a line for each part to stderr, so that two runs can be compared line
 * by line. */
void run_parts_say(const struct program *program,
                   const struct launch_options *launch);

#endif
