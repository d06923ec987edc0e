/* SPDX-License-Identifier: MIT */
/*
 * A direction predictor of tables with tags, each for a longer history (TAGE,
 * Seznec and Michaud, "A case for (partially) TAgged GEometric history length
 * branch prediction", 2006, and the update rules of its later forms).
 *
 * A base table of two-bit counters is found by the branch's address. Seven
 * tables have entries of a tag of 11 bits, a counter of 3 bits and a usefulness
 * of 2 bits. The tables are found by the address and the directions of the last
 * conditional branches: 4 of them for the first table, a number given for the
 * last, and for those between numbers of a geometric series. Of the tables
 * whose entry has the branch's tag, the one of the longest history predicts,
 * or, where its entry is new and such entries have lately been wrong more
 * often, the next longer one. A wrong prediction makes an entry in a table of a
 * longer history.
 *
 * test/ref/tage_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_TAGE_H
#define TALLY_MACHINE_TAGE_H

#include <stdbool.h>
#include <stdint.h>

#define TAGE_TABLES 7u
#define TAGE_TAG_BITS 11u
#define TAGE_HISTORY_LEAST 4u  /* of the first table */
#define TAGE_HISTORY_MOST 255u /* of the last */
/* Usefulness halves after so many branches. */
#define TAGE_PERIOD (1u << 18)
/* Below this number of counters the tables have one entry each. */
#define TAGE_COUNTERS_LEAST 64u

struct tage;

/* Writes how many branches the history of each table has, ascending:
 * TAGE_HISTORY_LEAST, ..., `longest`, or more where that would give two tables
 * one number. */
void tage_histories(unsigned longest, unsigned histories[TAGE_TABLES]);

/* Creates a predictor with as many bits as `counters` two-bit counters, a power
 * of two of at least TAGE_COUNTERS_LEAST. `longest`: history of the last table,
 * at most TAGE_HISTORY_MOST. NULL: no memory. For one thread at a time. */
struct tage *tage_create(uint64_t counters, unsigned longest);
void tage_destroy(struct tage *t); /* accepts NULL */

/* Forgets all. */
void tage_reset(struct tage *t);

/* What predicts a branch. */
struct tage_view {
    unsigned table;  /* 0: the base table; else a table with tags, from 1 on */
    uint64_t index;  /* of the entry in the table */
    unsigned tag;    /* of a table with tags */
    int counter;     /* 0 to 3, taken from 2 on; of a table with tags -4 to 3,
                        taken from 0 on */
    unsigned useful; /* of a table with tags, 0 to 3 */
};

/* Finds the entry by which the next branch of a number is predicted, without
 * any change. An entry that is new is found although another one decides. */
void tage_look(const struct tage *t, uint64_t branch, struct tage_view *view);

/* Reads the counter and the usefulness of an entry that tage_look() found. */
void tage_look_again(const struct tage *t, struct tage_view *view);

/* Predicts the branch of a number, which follows from its address, and learns
 * its direction. Returns whether the prediction was wrong. */
bool tage_step(struct tage *t, uint64_t branch, bool taken);

#endif
