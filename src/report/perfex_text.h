/* SPDX-License-Identifier: MIT */
/*
 * What `tally perfex` prints, in the form that IRIX's has: a line for each
 * event with its number, its name filled up with points, and its count; with
 * costs three times in seconds, by falling typical time, and statistics below.
 */
#ifndef TALLY_REPORT_PERFEX_TEXT_H
#define TALLY_REPORT_PERFEX_TEXT_H

#include "report/count_report.h"
#include "table/cost.h"

/* A projection that is further off is told. */
#define PERFEX_LIMIT 5.0 /* per cent */

struct perfex_report {
    /* Its values are the events of the report, all with a row; those that were
     * not counted have no place on the counters. */
    const struct count_report *count;
    const struct cost *costs;      /* by the machine's events; NULL: no times */
    bool projected;                /* events took turns; values are compared */
    const struct cost *cost_table; /* -t: printed too, or NULL */
    const char *const *notes;      /* lines for people, NULL-terminated */
};

/* Writes the report of perfex. Returns 0, TALLY_EIO or TALLY_ENOMEM. */
int report_perfex_text(const struct perfex_report *report, FILE *out);

/* One interval of -p. */
int report_perfex_interval(const struct perfex_report *report, FILE *out);

/* The costs of a machine, as cost_table_read() reads them. */
int report_cost_table(const struct machine_row *machine,
                      const struct cost *costs, FILE *out);

#endif
