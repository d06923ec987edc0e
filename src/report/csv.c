/* SPDX-License-Identifier: MIT */
#include "report/csv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

/* Returns whether a spreadsheet may take the cell for a formula, or would if
 * the apostrophes before it were not there. */
static bool
looks_like_formula(const char *text)
{
    text += strspn(text, "'");
    return *text != '\0' && strchr("=+-@\t", *text) != NULL;
}

/* Writes a text that a cell can show. */
static void
write_cell(const char *shown, char separator, FILE *out)
{
    const bool quoted =
        strchr(shown, separator) != NULL || strpbrk(shown, "\"\n") != NULL;

    if (quoted)
        fputc('"', out);
    if (looks_like_formula(shown))
        fputc('\'', out);
    for (const char *c = shown; *c != '\0'; c++) {
        if (*c == '"')
            fputc('"', out);
        fputc(*c, out);
    }
    if (quoted)
        fputc('"', out);
}

void
report_csv_text(const char *text, char separator, FILE *out)
{
    /* A name that needs no change needs no memory for a copy either. */
    if (escape_is_plain(text, ESCAPE_CELL)) {
        write_cell(text, separator, out);
        return;
    }
    char *const shown = escape_copy(text, ESCAPE_CELL);
    write_cell(shown != NULL ? shown : "?", separator, out);
    free(shown);
}
