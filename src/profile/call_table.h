/* SPDX-License-Identifier: MIT */
/*
 * profiler_calls_location.txt: the caller ids of dumps and where in the source
 * those calls stand. A line each: the id in hexadecimal, with or without 0x,
 * then blanks, tabs or a comma, then FILE:LINE:FUNCTION or any other text.
 * Lines that do not begin with an id, such as headings, are passed over.
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
    struct call_place *places; /* by caller */
    size_t count;
};

/* 0, TALLY_ENOMEM, or TALLY_EIO with errno set. All 0 is an empty table. */
int call_table_read(FILE *file, struct call_table *table);
void call_table_finish(struct call_table *table);

/* NULL if it is not there. */
const char *call_table_find(const struct call_table *table, uint64_t caller);

#endif
