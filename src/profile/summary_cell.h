/* SPDX-License-Identifier: MIT */
/* The statistics of the intervals of one cell of a summary. */
#ifndef TALLY_PROFILE_SUMMARY_CELL_H
#define TALLY_PROFILE_SUMMARY_CELL_H

#include "profile/summary.h"

/*
 * Adds an interval; `limit` NULL: no percentiles. Sets *full if the interval
 * has one event or word too many. 0 or TALLY_ENOMEM.
 */
int summary_cell_add(struct summary *summary, struct summary_cell *cell,
                     const struct summary_interval *interval,
                     struct series_limit *limit, bool *full);

/* Frees the cell, which may be NULL. */
void summary_cell_destroy(struct summary_cell *cell);

#endif
