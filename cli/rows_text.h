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

/* Returns what a unit mask counts: "nothing", "illegal", "undefined"; NULL: it
 * counts its event. */
const char *umask_why(const struct umask_row *umask);

/*
 * Prints a line for each field or unit mask. Where `fold` is true long texts go
 * on in the next line, else they are cut. `idle`: why no model counts the unit
 * mask, or NULL.
 */
void fields_print(struct screen *s, size_t indent,
                  const struct register_row *row, bool fold);
void umask_print(struct screen *s, size_t indent, size_t width,
                 const struct umask_row *umask, const char *idle, bool fold);

/* Returns the width of the longest name of the event's unit masks. */
size_t umask_width(const struct event_row *event);

/* The room for the names of counters: "PMD4-PMD9, PMD12". */
#define COUNTERS_TEXT 256
void counters_text(const struct machine_row *machine, uint32_t bits, char *text,
                   size_t text_size);

#endif
