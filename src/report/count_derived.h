/* SPDX-License-Identifier: MIT */
/*
 * What stands behind a count in text: its share of instructions, its rate.
 * Those of this host, and of the kernel's events beside a model, are perf's.
 */
#ifndef TALLY_REPORT_COUNT_DERIVED_H
#define TALLY_REPORT_COUNT_DERIVED_H

#include "report/count_report.h"

/*
 * Returns the instructions of the last run on a modelled machine as the machine
 * counts them: Montecito counts the slots of its bundles, not the guest's.
 */
double report_instructions(const struct count_report *report);

/* Writes "# 12.34 % of instructions" or the like; "" where nothing is known. */
void report_derived(const struct count_report *report,
                    const struct count_value *value, char *text, size_t size);

/* Marks the values as not counted, since no run of several was whole. */
void report_mark_cut(struct count_value *values, size_t count);

#endif
