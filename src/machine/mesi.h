/* SPDX-License-Identifier: MIT */
/*
 * A set-associative cache whose lines have a MESI state, with exact
 * least-recently-used replacement. A set is a list of words, most recent first:
 * the line's number and its state; empty ones stand last.
 */
#ifndef TALLY_MACHINE_MESI_H
#define TALLY_MACHINE_MESI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum mesi_state { MESI_INVALID, MESI_SHARED, MESI_EXCLUSIVE, MESI_MODIFIED };

#define MESI_STATE ((uint64_t)3)

struct mesi {
    uint64_t *words; /* [sets][columns] line << 2 | state; 0: empty */
    uint64_t set_mask;
    uint32_t ways;
    uint32_t columns;    /* ways, rounded up to whole vectors */
    uint32_t line_shift; /* log2 of the line in bytes */
};

/* An empty cache; all of size, ways and line as checked by params_check(). 0 or
 * TALLY_ENOMEM. mesi_finish() accepts a zeroed struct. */
int mesi_init(struct mesi *c, uint64_t size, uint32_t ways, uint32_t line);
void mesi_finish(struct mesi *c);
void mesi_clear(struct mesi *c);

/* Takes out the line of a word. */
void mesi_drop(struct mesi *c, uint64_t *word);

static inline enum mesi_state
mesi_state(uint64_t word)
{
    return (enum mesi_state)(word & MESI_STATE);
}

static inline void
mesi_set(uint64_t *word, enum mesi_state state)
{
    *word = (*word & ~MESI_STATE) | state;
}

/* Returns the first word of the set of a line. */
static inline uint64_t *
mesi_set_of(const struct mesi *c, uint64_t line)
{
    return c->words + (line & c->set_mask) * c->columns;
}

/* Returns the word of a line, or NULL. */
static inline uint64_t *
mesi_find(const struct mesi *c, uint64_t line)
{
    uint64_t *set = mesi_set_of(c, line);

    for (uint32_t i = 0; i < c->ways && set[i] != 0; i++) {
        if (set[i] >> 2 == line)
            return &set[i];
    }
    return NULL;
}

/* Returns the word of a line, which becomes the most recent of its set, or
 * NULL. */
static inline uint64_t *
mesi_use(struct mesi *c, uint64_t line)
{
    uint64_t *set = mesi_set_of(c, line);
    uint64_t *word = mesi_find(c, line);

    if (word == NULL || word == set)
        return word;
    const uint64_t found = *word;
    memmove(set + 1, set, (size_t)(word - set) * sizeof(*set));
    *set = found;
    return set;
}

/* Puts in a line that is not there, as the most recent. Returns the word that
 * had to go, or 0. */
static inline uint64_t
mesi_fill(struct mesi *c, uint64_t line, enum mesi_state state)
{
    uint64_t *set = mesi_set_of(c, line);
    const uint64_t gone = set[c->ways - 1];

    memmove(set + 1, set, (c->ways - 1) * sizeof(*set));
    set[0] = line << 2 | state;
    return gone;
}

/*
 * Uses a line that is exclusive or modified, or puts it in as exclusive, and
 * adds to its state: 0, or MESI_MODIFIED. True if it was there; else `*gone` is
 * the word that had to go, or 0.
 */
static inline bool
mesi_touch(struct mesi *c, uint64_t line, uint64_t states, uint64_t *gone)
{
    uint64_t *word = mesi_use(c, line);
    const bool hit = word != NULL;

    if (hit)
        *word |= states;
    else
        *gone = mesi_fill(c, line, MESI_EXCLUSIVE | (enum mesi_state)states);
    return hit;
}

/* Makes a line modified that may be there; nothing else changes. True if it is
 * there. */
static inline bool
mesi_mark(struct mesi *c, uint64_t line)
{
    uint64_t *word = mesi_find(c, line);

    if (word != NULL)
        mesi_set(word, MESI_MODIFIED);
    return word != NULL;
}

/* mesi_touch(), or mesi_mark() where `mark`. */
static inline bool
mesi_touch_or_mark(struct mesi *c, uint64_t line, bool mark, uint64_t *gone)
{
    return mark ? mesi_mark(c, line) : mesi_touch(c, line, 0, gone);
}

/* Its set may span two lines of the host. */
static inline void
mesi_prefetch(const struct mesi *c, uint64_t line)
{
    const uint64_t *set = mesi_set_of(c, line);

    __builtin_prefetch(set);
    __builtin_prefetch(set + c->columns - 1);
}

#endif
