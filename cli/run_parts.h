/* SPDX-License-Identifier: MIT */
/* What can move the counts of a run from outside, for tally count -v. */
#ifndef TALLY_CLI_RUN_PARTS_H
#define TALLY_CLI_RUN_PARTS_H

#include "source/launch.h"
#include "source/program.h"

#define RUN_PARTS 16

/* A line for each part, so that two runs can be compared line by line. */
struct run_parts {
    size_t count;
    const char *line[RUN_PARTS];
    char text[RUN_PARTS][PATH_MAX + 16];
};

void
run_parts_find(const struct program *program,
               const struct launch_options *launch, struct run_parts *parts);

#endif
