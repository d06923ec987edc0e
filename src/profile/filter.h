/* SPDX-License-Identifier: MIT */
/* What `tally count --filter` counts: a range of the program's code or data. */
#ifndef TALLY_PROFILE_FILTER_H
#define TALLY_PROFILE_FILTER_H

#include "base/error.h"
#include "source/block.h"
#include "source/process_counts.h"

enum filter_kind {
    FILTER_CODE, /* blocks that begin in the range */
    FILTER_DATA, /* accesses of a byte in the range; restricts signals of data
                    accesses alone */
};

/*
 * Reads "code=FUNCTION", "data=OBJECT", or either with FIRST-LAST, addresses of
 * the program's file in hexadecimal or decimal, both included. 0;
 * TALLY_ESYNTAX, TALLY_ERANGE, or what program_function() and program_object()
 * say; *kind and *range are untouched then.
 */
int
filter_parse(const char *text, const char *program, const struct tally_log *log,
             enum filter_kind *kind, struct code_range *range);

/* Returns whether one of the filters restricts accesses of data. */
bool filter_data(const char *const *filters, size_t count);

/* TALLY_ERANGE, logged, where no event has a signal of data accesses. */
int filter_check_data(const struct event_row *const *events, size_t count,
                      const struct tally_log *log);

/* Returns why the event counts nothing, where that is for want of a filter of
 * data accesses (`filtered`: there is one); otherwise NULL. */
const char *filter_lacks(const struct event_row *event, bool filtered);

/*
 * Joins the totals of a run with a filter of data. Before, *inside has what
 * accesses inside the filter raised, and *all everything else. After, *all has
 * both, and *inside what the filter shows: signals of data accesses inside the
 * filter, and all of every other signal.
 */
void filter_totals(struct totals *all, struct totals *inside);

/* Replaces signals of data accesses in *all by those in *left. Comes after
 * filter_totals(), when derived signals are in both. */
void filter_restrict(struct totals *all, const struct totals *left);

#endif
