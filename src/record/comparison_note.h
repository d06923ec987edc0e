/* SPDX-License-Identifier: MIT */
/* What a reader must know of two runs before their counts: in what they differ,
 * and how lines were followed. */
#ifndef TALLY_RECORD_COMPARISON_NOTE_H
#define TALLY_RECORD_COMPARISON_NOTE_H

#include "record/comparison.h"

/* Add the notes of a comparison. 0 or TALLY_ENOMEM. */
int comparison_note_records(struct comparison *c);
int comparison_note_counts(struct comparison *c,
                           const struct count_document *before,
                           const struct count_document *after);

/* Returns the words of a command line as one text, NULL: no memory. */
char *comparison_command(char *const *argv);

/* Returns how the record's run ended: "exit 3", "signal 9"; NULL: no memory. */
char *comparison_end(const struct record *record);

#endif
