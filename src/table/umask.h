/* SPDX-License-Identifier: MIT */
/* The unit masks of an event: which of its parts it counts. */
#ifndef TALLY_TABLE_UMASK_H
#define TALLY_TABLE_UMASK_H

#include "table/table.h"

/* Reads a value, "0xC"; false: the text is none. */
bool umask_value(const char *text, unsigned *value);

/*
 * Returns the row of a unit mask value: one whose pattern it is, or, where each
 * bit has its row, one that is exactly the value, else any of the bits'. NULL
 * if there is none.
 */
const struct umask_row *umask_of(const struct event_row *event, unsigned value);

/* Finds a row by name or value; of equal names, the one that counts. NULL:
 * none.
 */
const struct umask_row *
umask_find(const struct event_row *event, const char *name);

/* Returns the row that a bare name means: ALL or ANY, as alias too; or the only
 * one. NULL: the event needs a unit mask, or has none. */
const struct umask_row *umask_default(const struct event_row *event);

/* Writes the names of the event's unit masks: "READS, WRITES or ALL". */
void umask_names(const struct event_row *event, char *text, size_t size);

/* Logs that the event has no such unit mask, "": that it needs one.
 * TALLY_EUNKNOWN. */
int umask_unknown(const char *text, const struct event_row *event,
                  const char *name, const struct tally_log *log);

/* Returns what a model counts for the event with this unit mask; NULL: with the
 * one that its bare name means. The event itself where it has none. */
const struct event_row *
umask_counted(const struct machine_row *machine, const struct event_row *event,
              const struct umask_row *umask);

#endif
