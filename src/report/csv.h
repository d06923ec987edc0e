/* SPDX-License-Identifier: MIT */
/* Fields of CSV. */
#ifndef TALLY_REPORT_CSV_H
#define TALLY_REPORT_CSV_H

#include <stdio.h>

/* Writes a field, quoted where it holds the separator, a quote or a newline. */
void report_csv_text(const char *text, char separator, FILE *out);

#endif
