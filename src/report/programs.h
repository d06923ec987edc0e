/* SPDX-License-Identifier: MIT */
/* --per-process: what each program of a process tree counted. A program that a
 * process executes has a row of its own, and so has the child of a fork. */
#ifndef TALLY_REPORT_PROGRAMS_H
#define TALLY_REPORT_PROGRAMS_H

#include <jansson.h>
#include <stdio.h>

#include "report/count_report.h"

/* Writes a table; of many programs those with the most instructions, and a row
 * for the sum of the others. */
void report_programs_text(const struct count_report *report, FILE *out);

/* Writes the columns before a CSV row: program, pid and parent's pid. NULL: the
 * row is of all programs. */
void report_programs_csv_place(const struct session_process *process,
                               char separator, FILE *out);

/* Returns the list of all programs. */
json_t *report_programs_json(const struct count_report *report);

#endif
