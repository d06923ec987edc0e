/* SPDX-License-Identifier: MIT */
/*
 * How many other lines are asked for between two accesses to a line: the
 * distance of its reuse. A cache with full associativity that replaces the line
 * used longest ago has the line exactly if it has more lines than the distance.
 *
 * Each line has the time of its last access; the distance is how many times
 * after that are some line's last: a bit each, with sums over blocks of 64
 * words, and over 64 blocks. Most lines come back soon, so that a word or two
 * are looked at. When all times are used, lines get new ones in the same order.
 * test/reuse.c holds it to a list in order of use.
 */
#ifndef TALLY_MACHINE_REUSE_H
#define TALLY_MACHINE_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#define REUSE_NEVER UINT64_MAX

/* In the time of a line that has none: the rest of the time is the caller's. */
#define REUSE_AWAY (UINT64_C(1) << 63)

struct reuse_line {
    uint64_t line; /* + 1; 0: the place is free */
    uint64_t time;
};

/* A zeroed one has seen no line. */
struct reuse {
    struct reuse_line *lines; /* a hash table, owned */
    uint64_t mask, count;
    uint64_t *bits;   /* by time: the time is a line's last; owned */
    uint32_t *blocks; /* how many are, by block of times; owned */
    uint64_t *groups; /* and by group of blocks; owned */
    uint64_t times;   /* that there are */
    uint64_t now;
    uint64_t last; /* line + 1 with the latest time; 0: not known */
};

/* Accepts a zeroed struct, and leaves one. */
void reuse_finish(struct reuse *r);

/* Returns how many other lines were asked for since `line` was asked for last;
 * REUSE_NEVER: it was not, or there is no memory to know. */
uint64_t reuse_touch(struct reuse *r, uint64_t line);

/*
 * The order of use in two parts, for a caller that keeps the lines used last
 * itself. Returns the line's place, with REUSE_NEVER for the time of a line
 * that was not known; NULL: there is no memory. The place is good until the
 * next call of this function. */
struct reuse_line *reuse_claim(struct reuse *r, uint64_t line);

/* Takes a line out of the order, to which the caller gives an `away` below
 * 2^63. Returns how many lines of the order were used after the line;
 * REUSE_NEVER: the line was not in the order. */
uint64_t reuse_take(struct reuse *r, struct reuse_line *l, uint64_t away);

/* Puts a line that was taken out, at its place, back as the one used last. The
 * line stays out where there is no memory. */
bool reuse_put(struct reuse *r, struct reuse_line *l);

/* Has the host fetch what reuse_touch() will look at for `line`. */
void reuse_fetch(const struct reuse *r, uint64_t line);

#endif
