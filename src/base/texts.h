/* SPDX-License-Identifier: MIT */
/*
 * Numbers for strings: two equal strings have one number. Number 0 is the empty
 * string, and what is returned where there is no memory.
 */
#ifndef TALLY_BASE_TEXTS_H
#define TALLY_BASE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

/* A hash table with open addressing. */
struct texts {
    char **text; /* by number; owned */
    size_t count;
    uint32_t *slots; /* number, or 0 */
    size_t slot_count;
};

/* Prepares a table that has the empty string. 0 or TALLY_ENOMEM;
 * texts_finish() accepts a zeroed struct. */
int texts_init(struct texts *t);
void texts_finish(struct texts *t);

/* Returns the number of the string, which is copied if it is new; 0 of an empty
 * one or NULL, and where there is no memory. */
uint32_t texts_add(struct texts *t, const char *text);

/* Returns the number of the string, or 0: the table does not have it. */
uint32_t texts_find(const struct texts *t, const char *text);

/* Returns the string of a number below t->count; it stays where it is until
 * texts_finish(). */
const char *texts_get(const struct texts *t, uint32_t number);

#endif
