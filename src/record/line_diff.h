/* SPDX-License-Identifier: MIT */
/*
 * Which lines of a text are which lines of a later version of the text.
 *
 * Lines that are in both texts in the same order are the same: first those that
 * each text has once (patience diff), then, between two of these, the longest
 * common sequence. Of what is left a block of at least three lines that went to
 * another place is the same too, and a line may be the edited version of a line
 * that stood in its place: both have half of their text in common.
 *
 * Where more than 16 million pairs of lines would have to be compared between
 * two lines that are known, only equal lines at both ends are found.
 */
#ifndef TALLY_RECORD_LINE_DIFF_H
#define TALLY_RECORD_LINE_DIFF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct followed_line {
    uint32_t line; /* number in the later text, from 1 on; 0: it is gone */
    bool edited;   /* the later line has another text */
};

/* Follows the lines of `before` into `after`; `found` has room for one each. No
 * two lines have the same later line. 0 or TALLY_ENOMEM. */
int line_diff(char *const *before, size_t before_count, char *const *after,
              size_t after_count, struct followed_line *found);

#endif
