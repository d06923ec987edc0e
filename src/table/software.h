/* SPDX-License-Identifier: MIT */
/*
 * The kernel's software events: rows of machine `host`, unit `software`. The
 * kernel counts them of any process, so of an emulator that runs a model, too.
 */
#ifndef TALLY_TABLE_SOFTWARE_H
#define TALLY_TABLE_SOFTWARE_H

#include "table/table.h"

/* Returns the event of this name or alias, or NULL; case does not matter. */
const struct event_row *software_find(const char *name);

/* Returns whether the kernel counts the event and no counter does. */
bool event_is_software(const struct event_row *event);

/* Returns whether an event list names software events and nothing else. */
bool software_list(const char *text);

#endif
