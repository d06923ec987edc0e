/* SPDX-License-Identifier: MIT */
/*
 * What the event address registers and the trace buffer of a Montecito held:
 * as a table of the functions whose misses took longest, and record by record
 * in JSON.
 */
#ifndef TALLY_REPORT_CAPTURE_H
#define TALLY_REPORT_CAPTURE_H

#include <jansson.h>
#include <stdio.h>

#include "report/count_report.h"
#include "source/program.h"

/* Functions of the processes' programs, read when one is first asked for. */
struct capture_names {
    const struct session_result *result;
    struct program_functions *functions; /* [processes], or NULL */
    bool *read;
};

/* TALLY_ENOMEM leaves it without names; finish() in any case. */
int
capture_names(const struct session_result *result, struct capture_names *names);
void capture_names_finish(struct capture_names *names);

/* The function at an address of a process, or NULL: in no function of its
 * program, as those of shared libraries are not. */
const char *
capture_name(struct capture_names *names, unsigned process, uint64_t address);

/* Nothing where nothing was sampled. */
void report_capture_text(const struct count_report *report, FILE *out);
json_t *report_capture_json(const struct count_report *report);

#endif
