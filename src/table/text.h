/* SPDX-License-Identifier: MIT */
/*
 * Names and words in messages: compared in ASCII whatever the locale, shown
 * without bytes that could upset a terminal or a log.
 */
#ifndef TALLY_TABLE_TEXT_H
#define TALLY_TABLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define SHOWN_SIZE 68

/* A person's text, made fit for a message. */
struct shown {
    char text[SHOWN_SIZE];
};

/* Returns the text with '?' for unprintable bytes; a long text ends in "...".
 */
struct shown shown(const char *text, size_t length);

char ascii_lower(char c);

/* Returns whether two names are equal in any case. */
bool same_name(const char *a, const char *b);

/*
 * Writes "a, b or c" into `text`, cut to `text_size`. A text of size 0 is
 * left alone.
 */
void join_words(const char *const *words, size_t count, char *text,
                size_t text_size);

#endif
