/* SPDX-License-Identifier: MIT */
/* Reads and keeps the names of machines and events in dumps. */
#ifndef TALLY_PROFILE_DUMP_NAMES_H
#define TALLY_PROFILE_DUMP_NAMES_H

#include "profile/dump.h"

/* Adds a name. The first name of an event stays; events beyond DUMP_EVENTS_MAX
 * get no name. 0 or TALLY_ENOMEM. */
int dump_names_add(struct dump_names *names, const struct dump_event *event);

/* Reads the text behind "TALLY_PROFILE_MACHINE,"; false: no name. */
bool dump_machine_parse(const char *text, size_t length, char *machine);

#endif
