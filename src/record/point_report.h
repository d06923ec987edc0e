/* SPDX-License-Identifier: MIT */
/* The report of `tally at`: a point of a program's run (source/point.h), with
 * the names of its places. */
#ifndef TALLY_RECORD_POINT_REPORT_H
#define TALLY_RECORD_POINT_REPORT_H

#include <stdio.h>

#include "base/error.h"
#include "names/names.h"
#include "source/point.h"
#include "table/table.h"

struct point_report {
    const struct point *point;           /* that was reached */
    const struct point_request *request; /* by which it was found */
    const char *wanted; /* what the point is, as "miss 1,000 of the L1 data
                           cache" */
    const char *machine, *isa; /* their names */
    const uint64_t *params;    /* of the machine, PARAM_COUNT values */
    char *const *argv;
    const char *const *debug_dirs;
    size_t debug_dir_count;
    unsigned last; /* rows of blocks and of accesses */
    size_t width;  /* columns of the terminal; 0: lines are not cut */
};

/* Writes the form for people. 0, TALLY_ENOMEM or TALLY_EIO. */
int point_text(const struct point_report *report, FILE *out);

/* Writes JSON (doc/at.md has its members). 0, TALLY_ENOMEM or TALLY_EIO. */
int point_json(const struct point_report *report, FILE *out);

#endif
