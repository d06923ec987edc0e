/* SPDX-License-Identifier: MIT */
/* How a breakdown is written. Each function returns 0, or TALLY_EIO or
 * TALLY_ENOMEM, and logs nothing. */
#ifndef TALLY_RECORD_BREAKDOWN_REPORT_H
#define TALLY_RECORD_BREAKDOWN_REPORT_H

#include <stdio.h>

#include "record/breakdown.h"

/* How the form for people looks. */
struct breakdown_look {
    size_t width; /* of the terminal: lines are cut; 0: they are not */
    bool color;
};

/* Says too how many events the record has that are not shown. */
int breakdown_text(const struct breakdown *b, const struct breakdown_look *look,
                   FILE *out);

/* A heading, then a row each: its keys and its values as plain integers. Of
 * every event the values add up to the total. */
int breakdown_csv(const struct breakdown *b, char separator, FILE *out);

int breakdown_json(const struct breakdown *b, FILE *out);

#endif
