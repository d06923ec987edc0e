/* SPDX-License-Identifier: MIT */
/*
 * The branch target buffers of a front end that runs ahead of decoding: levels
 * that know where taken branches are, a small one that costs no cycle and
 * larger ones that do. A branch is looked up in one level after the other, and
 * a branch that no level has is found out at decode.
 *
 * A level is set associative, with the least recently used way replaced, and
 * holds whole addresses. The first level takes in each branch that it lacks. A
 * further level takes in each branch that it is asked for and lacks, or, as a
 * victim level (btb2.fill, btb3.fill), what the level in front drives out; a
 * branch that a victim level has goes back to the levels in front.
 *
 * Not modelled: several branches in an entry, limits of the branches in a line
 * of code, targets. Where a branch goes is known of direct ones, and is
 * predicted elsewhere of others. test/ref/btb_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_BTB_H
#define TALLY_MACHINE_BTB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BTB_LEVELS_MOST 3u
/* No level has the branch. */
#define BTB_NONE BTB_LEVELS_MOST

struct btb_level_shape {
    uint64_t entries; /* ways times a power of two */
    uint64_t ways;
    bool victims; /* takes in what the level in front drives out */
};

struct btb_shape {
    unsigned levels; /* 1 at least */
    struct btb_level_shape level[BTB_LEVELS_MOST];
};

struct btb_level {
    uint64_t *branches; /* [set_mask + 1][ways] addresses by recency */
    uint64_t *numbers;  /* beside them, where a victim level is behind; or NULL
                         */
    uint64_t set_mask;
    uint32_t ways;
    bool victims;
};

struct btb {
    unsigned count;
    struct btb_level levels[BTB_LEVELS_MOST];
    uint64_t *memory; /* of all levels, owned */
    size_t size;      /* words of it */
};

/* Returns the levels that the parameters say; none where btb1.entries is 0. */
struct btb_shape btb_shape_of(const uint64_t *params);

/* Creates empty levels; NULL: no memory. For one thread at a time. */
struct btb *btb_create(const struct btb_shape *shape);
void btb_destroy(struct btb *b); /* accepts NULL */

/* Forgets all. */
void btb_reset(struct btb *b);

/* As btb_ask(), of a branch that is not the last one of its set of the first
 * level. */
unsigned btb_ask_slow(struct btb *b, uint64_t number, uint64_t address);

/* Looks a taken branch up, and learns it. `number` follows from the address,
 * and chooses the set of each level. Returns the level that has the branch, 0
 * for the first, or BTB_NONE. */
static inline unsigned
btb_ask(struct btb *b, uint64_t number, uint64_t address)
{
    const struct btb_level *const l = &b->levels[0];

    return l->branches[(number & l->set_mask) * l->ways] == address
               ? 0
               : btb_ask_slow(b, number, address);
}

#endif
