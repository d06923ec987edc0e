/* SPDX-License-Identifier: MIT */
/*
 * Where the cycles went: the machine's struct account_row in the three forms of
 * a report. Shares are of the first line, all of the cycles.
 */
#ifndef TALLY_REPORT_ACCOUNTING_H
#define TALLY_REPORT_ACCOUNTING_H

#include <jansson.h>
#include <stdio.h>

#include "report/count_report.h"

/* Nothing where it was not asked for. */
void report_accounting_text(const struct count_report *report, FILE *out);
void report_accounting_csv(const struct count_report *report, char separator,
                           FILE *out);
json_t *report_accounting_json(const struct count_report *report);

#endif
