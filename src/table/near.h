/* SPDX-License-Identifier: MIT */
/*
 * Finds names near to a word that a person typed. Nearest are names a few edits
 * away (a swap of neighbours is one edit); then names that begin with the word
 * or that the word begins with; then names that contain the word; then names
 * with a long start in common. Case does not matter; '-', '_', '.' and ':' are
 * alike.
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

/* Begins a search that keeps the best `max` names, at most NEAR_MAX. */
void near_init(struct near *n, const char *wanted, size_t max);

/*
 * Keeps the name if it is near, or that of its aliases (NULL-terminated, or
 * NULL) which is nearer; of aliases only a slip of the finger is near.
 */
void near_add(struct near *n, const char *name, const char *const *aliases);

/* Writes the nearest names, and those nearly as near: "a, b or c". */
void near_text(const struct near *n, char *text, size_t text_size);

#endif
