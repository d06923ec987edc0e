/* SPDX-License-Identifier: MIT */
/*
 * Derives the text behind a count: its share of instructions, its rate. Behind
 * events of the host and of the kernel stands the same as in perf.
 */
#ifndef TALLY_REPORT_COUNT_DERIVED_H
#define TALLY_REPORT_COUNT_DERIVED_H

#include "report/count_report.h"

/*
 * Returns the instructions of the last run on a modelled machine as the machine
 * counts them: Montecito counts the slots of its bundles, not the guest's.
 */
double report_instructions(const struct count_report *report);

/* Writes "# 12.34 % of instructions", or "" if nothing can be derived. */
void report_derived(const struct count_report *report,
                    const struct count_value *value, char *text, size_t size);

/* Marks the values as not counted, since no run of several was whole. */
void report_mark_cut(struct count_value *values, size_t count);

#endif
