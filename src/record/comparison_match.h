/* SPDX-License-Identifier: MIT */
/* Which row of one breakdown is which row of another. */
#ifndef TALLY_RECORD_COMPARISON_MATCH_H
#define TALLY_RECORD_COMPARISON_MATCH_H

#include "record/breakdown.h"
#include "record/pairing.h"

#define ROW_ALONE UINT32_MAX

/* How a row of `before` goes on. */
struct matched_row {
    uint32_t row;       /* of `after`, or ROW_ALONE */
    bool edited, moved; /* its line has another text, another number */
};

/* Matches the rows of two breakdowns with the same keys (comparison.h says
 * how). `found` has room for one each of `before`. 0 or TALLY_ENOMEM. */
int
comparison_match(const struct breakdown *before, const struct breakdown *after,
                 const struct pairing *pairing, struct matched_row *found);

#endif
