/* SPDX-License-Identifier: MIT */
#include "report/csv.h"

#include <string.h>

void
report_csv_text(const char *text, char separator, FILE *out)
{
    if (strchr(text, separator) == NULL && strpbrk(text, "\"\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}
