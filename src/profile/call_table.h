/* SPDX-License-Identifier: MIT */
/*
 * Reads profiler_calls_location.txt, which has the caller ids of dumps and the
 * places of the calls in the source. A line holds one id in hexadecimal, with
 * or without 0x, then blanks, tabs, a comma or a semicolon, then
 * FILE:LINE:FUNCTION or any other text. Lines that do not begin with an id,
 * such as headings, are skipped.
 */
#ifndef TALLY_PROFILE_CALL_TABLE_H
#define TALLY_PROFILE_CALL_TABLE_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct call_place {
    uint64_t caller;
    char *text;
};

struct call_table {
    struct call_place *places; /* sorted by caller */
    size_t count;
};

/* Adds the file's lines to the table; a zeroed table is empty. 0, TALLY_ENOMEM,
 * or TALLY_EIO with errno set. */
int call_table_read(FILE *file, struct call_table *table);
void call_table_finish(struct call_table *table);

/* Returns the text of a caller id, or NULL. */
const char *call_table_find(const struct call_table *table, uint64_t caller);

#endif
