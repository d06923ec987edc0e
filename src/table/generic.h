/* SPDX-License-Identifier: MIT */
/*
 * Generic names: those of perf and PAPI, which mean the same on every machine.
 * What stands for one is an event of the machine, a sum of such events, an
 * event of the model that no counter has, or nothing, with the reason.
 */
#ifndef TALLY_TABLE_GENERIC_H
#define TALLY_TABLE_GENERIC_H

#include "table/near.h"
#include "table/table.h"

/* Returns the generic name's id by name or alias, -1 if `name` is none. */
int generic_find(const char *name);

/* Returns the generic metric's row by name or alias, -1 if `name` is none. */
int generic_metric_find(const char *name);

/* Returns the event that the model counts for the generic name on the machine;
 * NULL where nothing stands for the name. */
const struct event_row *
generic_counted(const struct machine_row *machine, int id);

/*
 * Writes `name` into `text`; a generic name for which an event with a unit mask
 * stands is replaced by "EVENT.UMASK", what follows from the first colon on
 * stays. False, and nothing written, if it does not fit.
 */
bool generic_expand(const struct machine_row *machine, const char *name,
                    char *text, size_t text_size);

/*
 * Logs why nothing stands for the generic name on the machine, and returns
 * TALLY_EUNKNOWN; returns 0, with nothing logged, if `name` is no generic name
 * or something stands for it.
 */
int generic_lacking(const struct machine_row *machine, const char *name,
                    const struct tally_log *log);

/* Returns the row of tally_lacking_events for the generic name, if nothing on
 * the machine stands for the name; else NULL. */
const struct event_row *
generic_lacking_event(const struct machine_row *machine, const char *name);

/* Returns whether the event is a row of tally_lacking_events. */
bool event_is_lacking(const struct event_row *event);

/* Returns why nothing on the machine stands for the event's generic name; the
 * event must be a row of tally_lacking_events. */
const char *generic_lacking_reason(const struct machine_row *machine,
                                   const struct event_row *event);

/* Returns the first operand of the generic metric, a generic name's id, for
 * which nothing on the machine stands; or -1. */
int generic_metric_lacks(const struct machine_row *machine, int id);

/* Returns the row of tally_lacking_metrics for the generic metric, if the
 * machine lacks one of the metric's operands; else NULL. */
const struct metric_row *
generic_lacking_metric(const struct machine_row *machine, const char *name);

/* Returns whether the metric is a row of tally_lacking_metrics. */
bool metric_is_lacking(const struct metric_row *metric);

/* Returns the event without a count that a row of tally_lacking_metrics needs
 * on the machine. */
const struct event_row *
generic_metric_lacking_event(const struct machine_row *machine,
                             const struct metric_row *metric);

/* Logs which operand of the generic metric the machine lacks and why, and
 * returns TALLY_EUNKNOWN; returns 0, with nothing logged, if `name` is no
 * generic metric or the machine has all operands. */
int generic_metric_lacking(const struct machine_row *machine, const char *name,
                           const struct tally_log *log);

/* Returns the id of the first generic name whose sum the event is, or -1. */
int
generic_sum(const struct machine_row *machine, const struct event_row *event);

/* Adds the generic names that no event of the machine's own has. */
void near_generics(struct near *near, const struct machine_row *machine);

/* Returns in words whether an event, a sum or an event of the model stands for
 * a generic name. */
const char *stands_text(enum stands kind);

#endif
