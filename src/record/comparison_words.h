/* SPDX-License-Identifier: MIT */
/* What the forms for people share: numbers, the answer, and names of rows. */
#ifndef TALLY_RECORD_COMPARISON_WORDS_H
#define TALLY_RECORD_COMPARISON_WORDS_H

#include <stdio.h>

#include "record/comparison.h"

#define WORDS_SIZE 64                /* of a number as text */
#define WORDS_MORE (2 * WORDS_SIZE)  /* of what is said of other rows */
#define WORDS_RANGE (5 * WORDS_SIZE) /* of what is said of several runs */
#define WORDS_IMAGE BREAKDOWN_KEYS   /* a column: the image's file name */
#define WORDS_COLUMNS (BREAKDOWN_KEYS + 1)

/* How a form writes names, and what is strong. */
struct words_form {
    void (*name)(FILE *out, const char *name); /* a name as it is, escaped */
    const char *strong, *plain;
};

/* Write a number with separators of thousands, "-" if it is not known; with
 * `sign` a plus too. */
void words_number(const struct count_number *number, bool sign,
                  char text[WORDS_SIZE]);
void words_count(int64_t value, bool sign, char text[WORDS_SIZE]);

/* Writes "+1.2 %", "-" for NAN. */
void words_percent(double percent, char text[WORDS_SIZE]);

/* The numbers of an event, or of an event of a row. */
enum words_value {
    WORDS_BEFORE, /* "-": there is none */
    WORDS_AFTER,  /* the same */
    WORDS_CHANGE,
    WORDS_PERCENT,
    WORDS_VALUES
};

/* Writes the totals of an event. */
void words_event(const struct compared_event *event,
                 char texts[WORDS_VALUES][WORDS_SIZE]);

/* Writes an event of a row whose values on each side are `before` and `after`;
 * NULL: the row is not there. */
void words_row(const struct comparison *c, size_t event, const int64_t *before,
               const int64_t *after, char texts[WORDS_VALUES][WORDS_SIZE]);

/* Returns why an event has no count on a side. */
const char *
words_reason(const struct compared_event *event, enum compared_side s);

/* Returns the machine if both runs were on one that is known, else NULL. */
const char *words_machine(const struct comparison *c);

/* Writes the answer: one line without its end. */
void words_answer(const struct comparison *c, const struct words_form *form,
                  FILE *out);

/* Lists the columns of names: keys, and the image before the function if the
 * rows have several. Returns their number. */
size_t words_columns(const struct comparison *c, int columns[WORDS_COLUMNS]);

/* Returns what stands over a column. */
const char *words_heading(int column);

/* Returns the name of a row in a column, not escaped, for the caller to free;
 * a source file without its folder, unless two have the name. NULL: no memory.
 */
char *words_name(const struct comparison *c, const struct compared_row *row,
                 int column);

/* Returns the values that people read of a row on a side: with --inclusive
 * those with what the row calls; NULL: the row is not there. */
const int64_t *
words_values(const struct comparison *c, const struct compared_row *row,
             enum compared_side s);

/* Writes what is said of a row behind its last name: " (new)", or nothing. */
void words_mark(const struct comparison *c, const struct compared_row *row,
                char text[WORDS_SIZE]);

/* Lists the events that have columns: that of `sort` first, then those that
 * changed in some row, at most `most` (0: all, changed or not). Returns their
 * number; `events` has room for all. */
size_t words_events(const struct comparison *c, size_t most, size_t *events);

/* Chooses the events whose totals are shown: that of the answer, then those
 * that changed, at most `most` in all (0: all events). `shown` has room for one
 * each, false so far. Returns their number. */
size_t words_totals(const struct comparison *c, size_t most, bool *shown);

/* Returns what a reader must know of an event's standing, NULL: nothing, or it
 * was said of an event before that is shown. */
const char *
words_advice(const struct comparison *c, const bool *shown, size_t event);

/* Writes "(12 more rows, 340 unchanged)", or nothing. */
void words_more(const struct comparison *c, char text[WORDS_MORE]);

/* Returns whether what is elsewhere needs a row: it changed in one of the
 * events, or the first event has some. */
bool
words_elsewhere(const struct comparison *c, const size_t *events, size_t count);

/* Writes how far the runs of both sides went: "40..45 before, 41..47 after
 * (ranges overlap)"; nothing without several runs. */
void words_range(const struct compared_event *e, char text[WORDS_RANGE]);

#endif
