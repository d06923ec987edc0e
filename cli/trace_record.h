/* SPDX-License-Identifier: MIT */
/* tally trace record: runs a program, and writes all that it does to a file. */
#ifndef TALLY_CLI_TRACE_RECORD_H
#define TALLY_CLI_TRACE_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/model_options.h"

/* What is asked for. */
struct trace_recording {
    const char *output;          /* the file */
    const char *from, *to;       /* functions, or NULL */
    uint64_t skip, instructions; /* 0: not given */
    uint64_t max_size;           /* bytes that the file may have about, or 0 */
    struct model_options *model;
    bool quiet;   /* no line about what was written */
    bool objects; /* what the allocator gives, and what is mapped, too */
};

/* Runs the program, the words of a command line, and records it. Returns an
 * exit status: the program's, or one of tally's after saying what is wrong. */
int trace_record(struct trace_recording *recording, char **program);

#endif
