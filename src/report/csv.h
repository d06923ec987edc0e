/* SPDX-License-Identifier: MIT */
/* Fields of CSV. */
#ifndef TALLY_REPORT_CSV_H
#define TALLY_REPORT_CSV_H

#include <stdio.h>

/*
 * Writes a field that is text, by the rule of ESCAPE_CELL (base/escape.h), and
 * quoted where it holds the separator, a quote or a newline. A field that
 * begins with = + - @ or a tab, behind any number of apostrophes, gets one
 * apostrophe more, so that no spreadsheet runs it as a formula.
 */
void report_csv_text(const char *text, char separator, FILE *out);

#endif
