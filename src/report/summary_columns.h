/* SPDX-License-Identifier: MIT */
/* The columns of the profiler's own scripts: their order and their names. */
#ifndef TALLY_REPORT_SUMMARY_COLUMNS_H
#define TALLY_REPORT_SUMMARY_COLUMNS_H

#include "profile/summary.h"

#define SUMMARY_COLUMNS 64

/*
 * Returns how many columns there are. On a T1 or T2, of which the document has
 * codes, the columns are all events of a strand's counters in the order of the
 * codes as hexadecimal texts: 1, 10, 100, 2, 20. On any other machine they are
 * the events that were counted, in the machine's order.
 */
size_t summary_columns(const struct summary *summary,
                       const struct event_row *columns[SUMMARY_COLUMNS]);

/* The scripts spell some names otherwise than the tables. */
const char *summary_script_name(const struct event_row *event);

#endif
