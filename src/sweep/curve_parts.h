/* SPDX-License-Identifier: MIT */
/*
 * A curve by parts: which data objects miss at each size, or which functions or
 * lines. A record (record/record.h) has each class of accesses
 * (source/curve.h) as an event; its rows by the keys are the parts, under the
 * names that tally report gives them. At each size the parts add up to the
 * curve: what no instruction is known of is a part too.
 */
#ifndef TALLY_SWEEP_CURVE_PARTS_H
#define TALLY_SWEEP_CURVE_PARTS_H

#include "record/breakdown.h"

struct curve_drawing;

struct curve_part {
    char *names[BREAKDOWN_KEYS]; /* [key_count], by the keys; owned */
    const char *kind; /* of an object: a word; NULL: no object is asked for */
    double first;     /* accesses to lines that were not asked for before; 0 of
                         a curve with sets, which does not tell them */
    double *misses;   /* [point_count] of the drawing; owned */
};

struct curve_parts {
    enum breakdown_key keys[BREAKDOWN_KEYS];
    size_t key_count;        /* 0: no parts are asked for */
    struct curve_part *rows; /* most misses at the first size first; owned */
    size_t count;
};

/* How a part depends on the size. */
struct curve_need {
    /* The misses fall from those of the point `from` to those of the point
     * `to`; from there on no larger size gains more than a fiftieth of the
     * whole fall. NULL: they hardly fall. */
    const struct curve_point *from, *to;
    double most, least; /* misses at the smallest size, and at `to` */
};

/* Reads keys, "object" or "function,line". False: some word is none, or comes
 * twice. */
bool curve_parts_read(struct curve_parts *parts, const char *words);

/* Returns whether a key is among those that are asked for. */
bool curve_parts_has(const struct curve_parts *parts, enum breakdown_key key);

/* Makes the parts of what was counted of each class, once the drawing has taken
 * the curve (curve_take()). 0 or TALLY_ENOMEM, logged. */
int curve_parts_take(struct curve_drawing *d, const struct record *record,
                     const struct tally_log *log);
void curve_parts_finish(struct curve_parts *parts);

/* Writes a part's names, as one text that the caller frees; NULL: no memory. */
char *
curve_part_name(const struct curve_parts *parts, const struct curve_part *part);

/* Finds which size a part needs, of the points from `first` on that have as
 * many ways as that one. */
struct curve_need curve_part_need(const struct curve_drawing *d,
                                  const struct curve_part *part, size_t first);

#endif
