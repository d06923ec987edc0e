/* SPDX-License-Identifier: MIT */
/*
 * Montecito's rules for events that share their selection with a neighbour:
 * those of an L1D set follow PMC5 (R102); those of an L2D set follow PMC4 or
 * PMC6 in the set, the unit mask and `all` (R089, R106 to R110). Plans keep
 * them, decoding says where registers do not. Events that exclude each other
 * are data, of any machine.
 */
#ifndef TALLY_TABLE_SETS_H
#define TALLY_TABLE_SETS_H

#include "table/selection.h"

/* Montecito's counters by number: the machine's first is PMD4. */
#define PMD(n) ((n)-4)

/* An event of an L1D set counts while PMC5 holds one of the same set. */
#define L1D_MASTER PMD(5)

/* Counters whose L2D events all follow the master's selection. */
struct l2d_group {
    uint8_t master;
    uint32_t counters; /* bits, the master's too */
};

#define L2D_GROUPS 2
extern const struct l2d_group tally_l2d_groups[L2D_GROUPS];

/* NULL: no L2D event counts there. */
const struct l2d_group *l2d_group_of(size_t counter);

/* The set of the event, -1: of none. */
int l1d_set(const struct selection *selection);
int l2d_set(const struct selection *selection);

/* In what two L2D events of a group differ that they must share. */
enum l2d_difference {
    L2D_SAME,
    L2D_OTHER_SET,
    L2D_OTHER_UMASK, /* in a bit that both care for */
    L2D_OTHER_ALL,
};
enum l2d_difference
l2d_compare(const struct selection *a, const struct selection *b);

/* Returns whether the data says that the two cannot count at once (R114). */
bool selections_exclude(const struct selection *a, const struct selection *b);

#endif
