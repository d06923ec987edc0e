/* SPDX-License-Identifier: MIT */
/* Summaries as files of their own. */
#ifndef TALLY_REPORT_SUMMARY_PAGES_H
#define TALLY_REPORT_SUMMARY_PAGES_H

#include "report/summary_report.h"
#include "report/summary_timeline.h"

/*
 * One page that needs nothing else: timeline, histogram, cells compared, a
 * table that sorts. 0, TALLY_EIO or TALLY_ENOMEM.
 */
int summary_report_html(const struct summary_report *report,
                        const struct timeline *timeline, FILE *out);

/*
 * A workbook with formulas, at `path`. Only where tally is built with
 * libxlsxwriter (HAVE_XLSX). 0, TALLY_EIO or TALLY_ENOMEM.
 */
int summary_report_xlsx(const struct summary_report *report, const char *path);

#endif
