/* SPDX-License-Identifier: MIT */
/* What `tally count --filter` counts: a range of the program's code or data. */
#ifndef TALLY_PROFILE_FILTER_H
#define TALLY_PROFILE_FILTER_H

#include "base/error.h"
#include "source/block.h"
#include "source/process_counts.h"

enum filter_kind {
    FILTER_CODE, /* blocks that begin there */
    FILTER_DATA, /* accesses of a byte there, in signals of data accesses */
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

/* Returns whether one of them restricts accesses of data. */
bool filter_data(const char *const *filters, size_t count);

/* TALLY_ERANGE, logged, where no event has a signal of data accesses. */
int filter_check_data(const struct event_row *const *events, size_t count,
                      const struct tally_log *log);

/* Why the event counts nothing where no filter restricts accesses of data; or
 * NULL. */
const char *filter_lacks(const struct event_row *event, bool filtered);

/*
 * Totals were kept apart: `inside` is what was raised while accesses of the
 * filter ran. Adds it to *all, and gives *inside what of it the filter leaves:
 * signals of data accesses from inside, all others whole.
 */
void filter_totals(struct totals *all, struct totals *inside);

/* Once what follows was derived from both: *all becomes what is left. */
void filter_restrict(struct totals *all, const struct totals *left);

#endif
