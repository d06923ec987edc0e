/* SPDX-License-Identifier: MIT */
/* What the parts of the report of `tally teach` share. */
#ifndef TALLY_RECORD_STEPS_WRITING_H
#define TALLY_RECORD_STEPS_WRITING_H

#include <jansson.h>

#include "record/steps_report.h"

struct steps_writing {
    const struct steps_report *r;
    const struct steps *s;
    bool page; /* for a script, whose numbers have 53 bits: addresses are text
                  in base 16 */
};

/* Returns an address. */
json_t *steps_address(const struct steps_writing *w, uint64_t address);

/* Returns the head of the cache level, of the predictor or of the causes of
 * cycles, and all steps. NULL: no memory. */
json_t *steps_sets_head(const struct steps_writing *w);
json_t *steps_sets(const struct steps_writing *w);
json_t *steps_branches_head(const struct steps_writing *w);
json_t *steps_branches(const struct steps_writing *w);
json_t *steps_bubbles_head(const struct steps_writing *w);
json_t *steps_bubbles(const struct steps_writing *w);

/* Returns a step with what all kinds of steps have. */
json_t *steps_row(const struct steps_writing *w, const struct run_step *step);

/* Returns the document. NULL: no memory. */
json_t *steps_document(const struct steps_report *report, bool page);

#endif
