/* SPDX-License-Identifier: MIT */
/* How a comparison is written. Each function returns 0, or TALLY_EIO or
 * TALLY_ENOMEM, and logs nothing. */
#ifndef TALLY_RECORD_COMPARISON_REPORT_H
#define TALLY_RECORD_COMPARISON_REPORT_H

#include <stdio.h>

#include "record/breakdown_report.h"
#include "record/comparison.h"

/* How the forms for people look. */
struct comparison_look {
    struct breakdown_look page;
    size_t events; /* columns of rows at most; 0: all events */
    size_t totals; /* events whose totals are shown at most; 0: all */
};

/* The answer, what was run, totals, rows. */
int comparison_text(const struct comparison *c,
                    const struct comparison_look *look, FILE *out);

/* The same as GitHub's Markdown, for a comment of a pull request. */
int comparison_markdown(const struct comparison *c,
                        const struct comparison_look *look, FILE *out);

/* The same as one page of HTML, which needs neither network nor script. */
int comparison_html(const struct comparison *c,
                    const struct comparison_look *look, FILE *out);

/* A heading, then a row each: of records the rows with their values before,
 * after, and the change, whose columns add up to the totals; of reports the
 * events. Numbers are plain. */
int comparison_csv(const struct comparison *c, char separator, FILE *out);

int comparison_json(const struct comparison *c, FILE *out);

#endif
