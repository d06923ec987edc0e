/* SPDX-License-Identifier: MIT */
/*
 * Reports the records of a Montecito's event address registers and trace
 * buffer: in text as a table of the functions whose misses took longest, in
 * JSON record by record.
 */
#ifndef TALLY_REPORT_CAPTURE_H
#define TALLY_REPORT_CAPTURE_H

#include <jansson.h>
#include <stdio.h>

#include "report/count_report.h"
#include "source/program.h"

/* The functions of the processes' programs. A program is read when a name of it
 * is first wanted. */
struct capture_names {
    const struct session_result *result;
    struct program_functions *functions; /* [processes], or NULL */
    bool *read;
};

/* 0; TALLY_ENOMEM: there will be no names. capture_names_finish() is called in
 * any case. */
int
capture_names(const struct session_result *result, struct capture_names *names);
void capture_names_finish(struct capture_names *names);

/* Returns the function at an address of a process. NULL: the address is in no
 * function of the program, for instance in a shared library. */
const char *
capture_name(struct capture_names *names, unsigned process, uint64_t address);

/* Prints nothing if nothing was sampled. */
void report_capture_text(const struct count_report *report, FILE *out);
json_t *report_capture_json(const struct count_report *report);

#endif
