/* SPDX-License-Identifier: MIT */
/* What the fuzz targets of text share. */
#ifndef TALLY_FUZZ_FUZZ_H
#define TALLY_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run, whatever NDEBUG says. */
static inline void
fuzz_check(int holds)
{
    if (!holds)
        abort();
}

/* The bytes as a string, cut at the first NUL; the caller frees it. */
static inline char *
fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);

    fuzz_check(text != NULL);
    if (size > 0)
        memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* A log: a message is one line of printable text. */
static inline void
fuzz_hear(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    fuzz_check(text[0] != '\0');
    for (; *text != '\0'; text++)
        fuzz_check(*text >= ' ' && *text <= '~');
}

/* A log whose messages may hold names as they were written: who prints such a
 * message escapes it. */
static inline void
fuzz_hear_any(void *user, enum tally_level level, const char *text)
{
    (void)user;
    (void)level;
    fuzz_check(text[0] != '\0');
}

#endif
