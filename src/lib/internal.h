/* SPDX-License-Identifier: MIT */
/* Turns handles of the public library into rows of the tables, and back. */
#ifndef TALLY_LIB_INTERNAL_H
#define TALLY_LIB_INTERNAL_H

#include "table/table.h"
#include "tally/tally.h"

struct tally_machine;
struct tally_event;

static inline const struct machine_row *
machine_row(const struct tally_machine *machine)
{
    return (const struct machine_row *)machine;
}

static inline const struct tally_machine *
machine_handle(const struct machine_row *row)
{
    return (const struct tally_machine *)row;
}

static inline const struct event_row *
event_row(const struct tally_event *event)
{
    return (const struct event_row *)event;
}

static inline const struct tally_event *
event_handle(const struct event_row *row)
{
    return (const struct tally_event *)row;
}

#endif
