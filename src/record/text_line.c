/* SPDX-License-Identifier: MIT */
#include "record/text_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/short_name.h"
#include "report/count_report.h"

#define NUMBER_TEXT 40

int
text_width(const char *text)
{
    int width = 0;

    for (; *text != '\0'; text++)
        width += (*text & 0xc0) != 0x80;
    return width;
}

void
text_widen(int *width, int wanted)
{
    *width = wanted > *width ? wanted : *width;
}

void
text_end_line(const char *text, int used, size_t width, FILE *out)
{
    const size_t room = width > (size_t)used + 3 ? width - (size_t)used : 3;
    size_t columns = 0, bytes = 0;

    if (width == 0 || (size_t)text_width(text) <= room) {
        fprintf(out, "%s\n", text);
        return;
    }
    for (; text[bytes] != '\0'; bytes++) {
        if ((text[bytes] & 0xc0) != 0x80 && ++columns > room - 3)
            break;
    }
    fprintf(out, "%.*s...\n", (int)bytes, text);
}

void
text_end_name(const char *name, int used, size_t width, FILE *out)
{
    char *const brief = short_name(name);
    char *const escaped =
        escape_copy(brief != NULL ? brief : name, ESCAPE_LINE);

    text_end_line(escaped != NULL ? escaped : "?", used, width, out);
    free(escaped);
    free(brief);
}

void
text_heading(const char *text, bool color, FILE *out)
{
    fprintf(out, "\n %s%s%s\n", color ? "\033[1m" : "", text,
            color ? "\033[0m" : "");
}

void
text_number(uint64_t number, int width, FILE *out)
{
    char text[NUMBER_TEXT];

    format_grouped(number, text);
    fprintf(out, "%*s", width, text);
}

void
text_percent(double part, double all, FILE *out)
{
    const double percent = all > 0 ? part / all * 100 : 0;

    if (percent > 0 && percent < 0.5)
        fputs("less than 1 %", out);
    else
        fprintf(out, "%.0f %%", percent);
}

void
text_more(size_t count, size_t shown, FILE *out)
{
    if (count > shown)
        fprintf(out, "   (%zu more; --top 0 shows all)\n", count - shown);
}

/* Returns the length of what stays in one line: a word, and "%" behind it. */
static size_t
word_length(const char *text)
{
    const size_t length = strcspn(text, " ");

    return strncmp(text + length, " %", 2) == 0
               ? length + 2 + strcspn(text + length + 2, " ")
               : length;
}

void
text_wrap(const char *text, size_t indent, size_t width, FILE *out)
{
    const size_t most = width != 0 ? width : 80;
    size_t column = indent;

    while (*text != '\0') {
        const size_t length = word_length(text);
        if (column > indent && column + 1 + length > most) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(text, 1, length, out);
        column += length;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}
