/* SPDX-License-Identifier: MIT */
/*
 * The accounting of the machine's cycles (struct account_row) in the three
 * forms of a report. Shares are of the first line, which is all cycles.
 */
#ifndef TALLY_REPORT_ACCOUNTING_H
#define TALLY_REPORT_ACCOUNTING_H

#include <jansson.h>
#include <stdio.h>

#include "report/count_report.h"

/* The text and the CSV are empty if no accounting was asked for. */
void report_accounting_text(const struct count_report *report, FILE *out);
void report_accounting_csv(const struct count_report *report, char separator,
                           FILE *out);
json_t *report_accounting_json(const struct count_report *report);

#endif
