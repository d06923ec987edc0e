/* SPDX-License-Identifier: MIT */
/* Parts of rows in words, as list and show print them. */
#ifndef TALLY_CLI_ROWS_TEXT_H
#define TALLY_CLI_ROWS_TEXT_H

#include "cli/screen.h"
#include "table/table.h"

/* "RW" */
const char *access_name(enum field_access access);

/* "63:19", or "18". */
#define BITS_TEXT 16
void bits_text(const struct field_row *field, char *text, size_t text_size);

/* "nothing", "illegal", "undefined"; NULL of one that counts. */
const char *umask_why(const struct umask_row *umask);

/*
 * A line for each field or unit mask. Where `fold` is true, long texts go on
 * in the next line, else they are cut. `idle`: why no model counts the unit
 * mask, or NULL.
 */
void fields_print(struct screen *s, size_t indent,
                  const struct register_row *row, bool fold);
void umask_print(struct screen *s, size_t indent, size_t width,
                 const struct umask_row *umask, const char *idle, bool fold);

/* Of the longest name. */
size_t umask_width(const struct event_row *event);

/* "PMD4-PMD9, PMD12": the counters of the bits. */
#define COUNTERS_TEXT 256
void counters_text(const struct machine_row *machine, uint32_t bits, char *text,
                   size_t text_size);

#endif
