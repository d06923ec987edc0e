/* SPDX-License-Identifier: MIT */
/*
 * A predictor of the targets of jumps and calls through registers, of tables
 * with tags, each for a longer history (ITTAGE: Seznec, "A 64-Kbytes ITTAGE
 * indirect branch predictor", 2011).
 *
 * The caller has a base table, which predicts where no other table knows the
 * branch. An entry of a table with tags has a target, a tag, a confidence of 2
 * bits and a bit that says whether the entry is useful. An entry is found by
 * the branch's address and the path: the addresses and targets of the last
 * taken branches, of all kinds or of those that the caller adds, a number of
 * them for each table, by a geometric series. Of the tables whose entry has the
 * branch's tag, the one of the longest history predicts, or, where its entry
 * has no confidence and such entries have lately been wrong more often, the
 * next longer one. A wrong prediction makes an entry in a table of a longer
 * history.
 *
 * Not modelled: directions of branches that are not taken, wrong paths, targets
 * of fewer bits than an address. test/ref/ittage_ref.c is the slow, obvious
 * twin.
 */
#ifndef TALLY_MACHINE_ITTAGE_H
#define TALLY_MACHINE_ITTAGE_H

#include <stdbool.h>
#include <stdint.h>

#define ITTAGE_TABLES_MOST 8u
#define ITTAGE_TAG_BITS_MOST 15u
#define ITTAGE_HISTORY_MOST 255u
/* Failures to find a free entry, less entries made, that clear all usefulness.
 */
#define ITTAGE_PRESSURE_MOST 255u

/* Factors of hashes; all are odd. */
#define ITTAGE_BRANCH UINT64_C(0x9e3779b97f4a7c15)
#define ITTAGE_TARGET UINT64_C(0xc2b2ae3d27d4eb4f)
#define ITTAGE_AGE UINT64_C(0xd6e8feb86659fd93)

/* The geometry, within the limits above. */
struct ittage_shape {
    unsigned tables;   /* with tags; 1 at least */
    uint64_t entries;  /* of each table; a power of two, 2^16 at most */
    unsigned tag_bits; /* 1 at least */
    unsigned shortest, longest; /* taken branches; shortest <= longest */
};

struct ittage;

/* Returns the geometry that the parameters say. */
struct ittage_shape ittage_shape_of(const uint64_t *params);

/* Writes how many taken branches the history of each table has, ascending:
 * shortest, ..., longest, or more where that would give two tables one number;
 * a single table has the longest. */
void ittage_histories(const struct ittage_shape *shape,
                      unsigned histories[ITTAGE_TABLES_MOST]);

/* Creates an empty predictor; NULL: no memory. For one thread at a time. */
struct ittage *ittage_create(const struct ittage_shape *shape);
void ittage_destroy(struct ittage *t); /* accepts NULL */

/* Forgets all. */
void ittage_reset(struct ittage *t);

/* Predicts where the branch of a number goes, which follows from its address,
 * and learns its target. `base`: prediction of the base table. Returns whether
 * the prediction was wrong. */
bool
ittage_step(struct ittage *t, uint64_t branch, uint64_t base, uint64_t target);

/* Adds a taken branch to the history: behind ittage_step(), where
 * that is called for the branch. `target`: number of its target. */
void ittage_add(struct ittage *t, uint64_t branch, uint64_t target);

#endif
