/* SPDX-License-Identifier: MIT */
/* What a reader of a record's counts should know of how the run ended. */
#ifndef TALLY_RECORD_RUN_NOTE_H
#define TALLY_RECORD_RUN_NOTE_H

#include <jansson.h>
#include <stdio.h>

#include "record/record.h"

/* Writes a line for each: the program was killed, a trace has not all of its
 * run, data were moved for the caches, or a block of code was left before its
 * end. Each line begins with `indent`. */
void run_note_write(const struct record *record, const char *indent, FILE *out);

/* Returns the first reason why another run may count differently, of bits of
 * enum session_varies, in words; NULL: none is known. */
const char *run_note_reason(unsigned varies);

/* Sets a member for each reason: "side_by_side", "outside", "signalled", each
 * whether it holds; and returns the bits that such members tell. */
void run_note_set(json_t *object, unsigned varies);
unsigned run_note_get(const json_t *object);

/* Writes a line for each reason why another run may count differently, of bits
 * of enum session_varies: `indent`, the reason, a colon and `end`. */
void run_note_varies(unsigned varies, const char *indent, const char *end,
                     FILE *out);

#endif
