/* SPDX-License-Identifier: MIT */
#include "record/markdown_code.h"

#include <stdlib.h>

#include "base/escape.h"

void
markdown_code(FILE *out, const char *name, bool cell)
{
    char *escaped = escape_copy(name, ESCAPE_LINE);
    const char *text = escaped != NULL && *escaped != '\0' ? escaped : " ";
    size_t most = 0, run = 0;

    for (const char *c = text; *c != '\0'; c++) {
        run = *c == '`' ? run + 1 : 0;
        most = run > most ? run : most;
    }
    for (size_t i = 0; i <= most; i++)
        fputc('`', out);
    /* A space keeps a backtick of the name from the fence. */
    fputs(most > 0 ? " " : "", out);
    for (const char *c = text; *c != '\0'; c++) {
        if (cell && *c == '|')
            fputc('\\', out);
        fputc(*c, out);
    }
    fputs(most > 0 ? " " : "", out);
    for (size_t i = 0; i <= most; i++)
        fputc('`', out);
    free(escaped);
}
