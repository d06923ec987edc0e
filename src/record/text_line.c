/* SPDX-License-Identifier: MIT */
#include "record/text_line.h"

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
