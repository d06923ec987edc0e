/* SPDX-License-Identifier: MIT */
#include "cli/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the text over; NULL: there was no memory. */
static void
take(struct words *w, char *text)
{
    char **const more = realloc(w->word, (w->count + 2) * sizeof(*more));

    if (more != NULL)
        w->word = more;
    if (more == NULL || text == NULL) {
        w->failed = true;
        free(text);
        return;
    }
    w->word[w->count++] = text;
    w->word[w->count] = NULL;
}

void
words_add(struct words *w, const char *word)
{
    take(w, strdup(word));
}

void
words_add_all(struct words *w, const char *const *words)
{
    for (; *words != NULL; words++)
        words_add(w, *words);
}

void
words_addf(struct words *w, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0)
        text = NULL;
    va_end(arguments);
    take(w, text);
}

void
words_finish(struct words *w)
{
    for (size_t i = 0; i < w->count; i++)
        free(w->word[i]);
    free(w->word);
    *w = (struct words){0};
}
