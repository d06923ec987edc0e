/* SPDX-License-Identifier: MIT */
/* The parts of a row's keys, each of which is a column of CSV and a member of
 * JSON. */
#ifndef TALLY_RECORD_BREAKDOWN_FIELD_H
#define TALLY_RECORD_BREAKDOWN_FIELD_H

#include "record/breakdown.h"

enum breakdown_field {
    BREAKDOWN_FIELD_FUNCTION,
    BREAKDOWN_FIELD_FUNCTION_FILE,
    BREAKDOWN_FIELD_IMAGE,
    BREAKDOWN_FIELD_OFFSET,
    BREAKDOWN_FIELD_FILE,
    BREAKDOWN_FIELD_LINE,
    BREAKDOWN_FIELD_PROCESS, /* its number in the record */
    BREAKDOWN_FIELD_PID,
    BREAKDOWN_FIELD_PROGRAM,
    BREAKDOWN_FIELD_THREAD,
    BREAKDOWN_FIELD_CALLER,
    BREAKDOWN_FIELD_OBJECT,
    BREAKDOWN_FIELD_OBJECT_KIND,
    BREAKDOWN_FIELD_ALLOCATIONS,
    BREAKDOWN_FIELD_ALLOCATED_BYTES,
    BREAKDOWN_FIELD_LOADS, /* from here on: of a record of all accesses */
    BREAKDOWN_FIELD_STORES,
    BREAKDOWN_FIELD_FETCHED_BYTES,
    BREAKDOWN_FIELD_TOUCHED_BYTES,
    BREAKDOWN_FIELDS,
};

struct breakdown_cell {
    const char *text; /* NULL: not known, or a number */
    bool is_number;
    uint64_t number;
    char digits[24]; /* what `text` may point at */
};

/* Writes the fields of the keys, in the keys' order, each once; returns how
 * many there are. */
size_t breakdown_fields(const struct breakdown *b,
                        enum breakdown_field fields[BREAKDOWN_FIELDS]);

/* Returns the name of a field. */
const char *breakdown_field_name(enum breakdown_field field);

/* Fills in what a field of a row is. */
void
breakdown_field_cell(const struct breakdown *b, const struct breakdown_row *row,
                     enum breakdown_field field, struct breakdown_cell *cell);

#endif
