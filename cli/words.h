/* SPDX-License-Identifier: MIT */
/* A command line that grows: words, in order, with NULL behind the last. */
#ifndef TALLY_CLI_WORDS_H
#define TALLY_CLI_WORDS_H

#include <stdbool.h>
#include <stddef.h>

struct words {
    char **word; /* ends with NULL; owned, with all words; NULL: none yet */
    size_t count;
    bool failed; /* there was no memory for a word */
};

/* Adds a copy of a word. */
void words_add(struct words *w, const char *word);

/* Adds copies of several words; NULL is behind the last. */
void words_add_all(struct words *w, const char *const *words);

/* Adds a word made as printf() does. */
__attribute__((format(printf, 2, 3))) void
words_addf(struct words *w, const char *format, ...);

/* Frees all words. Accepts a zeroed struct. */
void words_finish(struct words *w);

#endif
