/* SPDX-License-Identifier: MIT */
/*
 * Names near to what a person typed: few edits (a swap of neighbours is one),
 * then one the start of the other, then a part of it, then a long start in
 * common. Case does not matter and '-', '_', '.' and ':' are one.
 */
#ifndef TALLY_TABLE_NEAR_H
#define TALLY_TABLE_NEAR_H

#include <stddef.h>
#include <stdint.h>

#define NEAR_MAX 8
#define NEAR_WORD 64 /* longer words are near to nothing */

/* A word in small letters, with one sign for all that joins words. */
struct near_word {
    char text[NEAR_WORD];
    size_t length;    /* 0: the word is empty or too long */
    uint64_t letters; /* bit c % 64 is set if the character c is in it */
};

struct near {
    struct near_word wanted;
    size_t max, count;
    const char *names[NEAR_MAX]; /* best first */
    unsigned scores[NEAR_MAX];   /* lower is nearer */
};

/* Keeps the best `max`, at most NEAR_MAX. */
void near_init(struct near *n, const char *wanted, size_t max);

/*
 * Keeps the name if it is near, or that of its aliases (NULL-terminated, or
 * NULL) which is nearer; of aliases only a slip of the finger is near.
 */
void near_add(struct near *n, const char *name, const char *const *aliases);

/* "a, b or c": the best, and those that are nearly as near. */
void near_text(const struct near *n, char *text, size_t text_size);

#endif
