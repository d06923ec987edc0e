/* SPDX-License-Identifier: MIT */
/* The JSON document of a summary, for its own form and for the page. */
#ifndef TALLY_REPORT_SUMMARY_JSON_H
#define TALLY_REPORT_SUMMARY_JSON_H

#include <jansson.h>

#include "report/summary_report.h"

#define SUMMARY_BINS 32

/* With `bins`, each series has the histogram of its values, from min to max. */
json_t *summary_json(const struct summary_report *report, bool bins);

#endif
