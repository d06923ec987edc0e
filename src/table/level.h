/* SPDX-License-Identifier: MIT */
/*
 * The data cache levels of machines, by enum cache_id: the L1D, the L2 and
 * those behind the L2. For each there are events that no machine lists: they
 * say what misses the level, and why (machine/classes.h).
 */
#ifndef TALLY_TABLE_LEVEL_H
#define TALLY_TABLE_LEVEL_H

#include "table/table.h"

#define LEVEL_EVENTS 14u

/* Returns a level by its name, such as "l2"; CACHE_COUNT: no level of data has
 * that name. */
enum cache_id level_find(const char *name);

/* Returns the name of a level's caches as texts have it, such as "L1 data
 * cache" or "L2". */
const char *level_title(enum cache_id level);

/* The events of a level, in this order. Names are the level's name in capitals
 * and one of level_event_names, as in "L2-capacity-load-misses". */
extern const char *const level_event_names[LEVEL_EVENTS];

/* Returns an event of a level, by its number. */
const struct event_row *level_event(enum cache_id level, unsigned number);

/* Returns why data cannot miss the level on a machine as it is set, one line
 * that lives as long as the program, or NULL: data can. */
const char *level_lacks(enum cache_id level, const uint64_t *params);

#endif
