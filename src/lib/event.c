/* SPDX-License-Identifier: MIT */
#include "lib/internal.h"
#include "table/generic.h"
#include "tally/event.h"

#include <assert.h>
#include <string.h>

static_assert((int)TALLY_EXACT == (int)FIDELITY_EXACT &&
                  (int)TALLY_VARIES == (int)FIDELITY_VARIES &&
                  (int)TALLY_MODELLED == (int)FIDELITY_MODELLED &&
                  (int)TALLY_ESTIMATED == (int)FIDELITY_ESTIMATED &&
                  (int)TALLY_PARTIAL == (int)FIDELITY_PARTIAL &&
                  (int)TALLY_IDLE == (int)FIDELITY_IDLE,
              "public and internal fidelities are one");

const char *
tally_fidelity_name(enum tally_fidelity fidelity)
{
    if ((int)fidelity < TALLY_EXACT || fidelity > TALLY_IDLE)
        return NULL;
    return fidelity_name((enum fidelity)fidelity);
}

const struct tally_machine *
tally_machine_find(const char *name)
{
    return machine_handle(machine_find(name));
}

const struct tally_machine *
tally_machine_next(const struct tally_machine *machine)
{
    const struct machine_row *row = machine_row(machine);

    row = row != NULL ? row + 1 : tally_machines;
    while (row < tally_machines + MACHINE_COUNT && row->hidden)
        row++;
    return row < tally_machines + MACHINE_COUNT ? machine_handle(row) : NULL;
}

const char *
tally_machine_name(const struct tally_machine *machine)
{
    return machine_row(machine)->name;
}

const char *
tally_machine_title(const struct tally_machine *machine)
{
    return machine_row(machine)->title;
}

const struct tally_event *
tally_event_find(const struct tally_machine *machine, const char *name)
{
    const struct machine_row *m = machine_row(machine);
    const struct event_row *event = event_find(m, name);
    const int id = event == NULL ? generic_find(name) : -1;

    return event_handle(id >= 0 ? generic_counted(m, id) : event);
}

const struct tally_event *
tally_event_next(const struct tally_machine *machine,
                 const struct tally_event *event)
{
    const struct machine_row *m = machine_row(machine);
    const struct event_row *row = event ? event_row(event) : NULL;

    if (row != NULL && (row < m->events || row >= m->events + m->event_count))
        return NULL; /* stands for a generic name alone */
    row = row != NULL ? row + 1 : m->events;
    return row < m->events + m->event_count ? event_handle(row) : NULL;
}

const char *
tally_event_name(const struct tally_event *event)
{
    return event_row(event)->name;
}

const char *
tally_event_unit(const struct tally_event *event)
{
    return event_row(event)->unit;
}

size_t
tally_event_unit_number(const struct tally_machine *machine,
                        const struct tally_event *event)
{
    const struct machine_row *m = machine_row(machine);
    size_t i = 0;

    while (i < m->unit_count &&
           strcmp(m->units[i].name, tally_event_unit(event)) != 0)
        i++;
    return i + 1;
}

const char *
tally_event_alias(const struct tally_event *event, size_t index)
{
    const char *const *alias = event_row(event)->aliases;

    while (*alias != NULL && index > 0) {
        alias++;
        index--;
    }
    return *alias;
}

const char *
tally_event_brief(const struct tally_event *event)
{
    return event_row(event)->brief;
}

const char *
tally_event_counts(const struct tally_event *event)
{
    return event_row(event)->counts;
}

const char *
tally_event_reference(const struct tally_event *event)
{
    return event_row(event)->reference;
}

const char *
tally_event_reason(const struct tally_event *event)
{
    return event_row(event)->reason;
}

int32_t
tally_event_code(const struct tally_event *event)
{
    return event_row(event)->code;
}

int32_t
tally_event_number(const struct tally_event *event)
{
    return event_row(event)->number;
}

enum tally_fidelity
tally_event_fidelity(const struct tally_event *event)
{
    return (enum tally_fidelity)event_row(event)->fidelity;
}
