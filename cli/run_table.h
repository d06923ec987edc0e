/* SPDX-License-Identifier: MIT */
/* What each run of -r counted, for --table. */
#ifndef TALLY_CLI_RUN_TABLE_H
#define TALLY_CLI_RUN_TABLE_H

#include "report/count_report.h"

struct run_table {
    struct count_run *runs; /* each owns its values */
    unsigned count;
};

/* Adds a run. 0 or TALLY_ENOMEM, logged. */
int run_table_add(struct run_table *table, double wall_s,
                  const struct count_value *values, size_t value_count);
void run_table_finish(struct run_table *table);

#endif
