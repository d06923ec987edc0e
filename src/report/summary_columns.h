/* SPDX-License-Identifier: MIT */
/* The columns of the profiler's own scripts: their order and their names. */
#ifndef TALLY_REPORT_SUMMARY_COLUMNS_H
#define TALLY_REPORT_SUMMARY_COLUMNS_H

#include "table/table.h"

#define SUMMARY_COLUMNS 64

/*
 * The events of a strand's counters in the order of their codes as hexadecimal
 * texts: 1, 10, 100, 2, 20. How many.
 */
size_t summary_columns(const struct machine_row *machine,
                       const struct event_row *columns[SUMMARY_COLUMNS]);

/* The scripts spell some names otherwise than the tables. */
const char *summary_script_name(const struct event_row *event);

#endif
