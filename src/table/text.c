/* SPDX-License-Identifier: MIT */
#include "table/text.h"

#include <stdio.h>
#include <string.h>

struct shown
shown(const char *text, size_t length)
{
    struct shown s;
    const bool cut = length >= SHOWN_SIZE;
    const size_t kept = cut ? SHOWN_SIZE - sizeof("...") : length;

    memcpy(s.text, text, kept);
    for (size_t i = 0; i < kept; i++)
        if (s.text[i] < ' ' || s.text[i] > '~')
            s.text[i] = '?';
    memcpy(s.text + kept, cut ? "..." : "", cut ? sizeof("...") : 1);
    return s;
}

char
ascii_lower(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c;
}

bool
same_name(const char *a, const char *b)
{
    while (*a != '\0' && ascii_lower(*a) == ascii_lower(*b))
        a++, b++;
    return *a == *b;
}

void
join_words(const char *const *words, size_t count, char *text, size_t text_size)
{
    size_t used = 0;

    if (text_size == 0)
        return;
    text[0] = '\0';
    for (size_t i = 0; i < count && used < text_size; i++) {
        const char *between = i == 0 ? "" : i + 1 < count ? ", " : " or ";
        const int n =
            snprintf(text + used, text_size - used, "%s%s", between, words[i]);
        used += (size_t)n;
    }
}
