/* SPDX-License-Identifier: MIT */
/* What the reader of dumps asks of dump_names.c. */
#ifndef TALLY_PROFILE_DUMP_NAMES_H
#define TALLY_PROFILE_DUMP_NAMES_H

#include "profile/dump.h"

/* 0 or TALLY_ENOMEM. The first name of an event stays; events beyond
 * DUMP_EVENTS_MAX have no names. */
int dump_names_add(struct dump_names *names, const struct dump_event *event);

/* Reads what stands behind "TALLY_PROFILE_MACHINE,"; false: no name. */
bool dump_machine_parse(const char *text, size_t length, char *machine);

#endif
