/* SPDX-License-Identifier: MIT */
#include "table/umask.h"

#include <stdlib.h>
#include <string.h>

#include "table/text.h"

#define NAMES_SHOWN 16

static bool
umask_named(const struct umask_row *umask, const char *name)
{
    if (umask->name[0] != '\0' && same_name(umask->name, name))
        return true;
    for (const char *const *a = umask->aliases; *a != NULL; a++)
        if (same_name(*a, name))
            return true;
    return false;
}

const struct umask_row *
umask_of(const struct event_row *event, unsigned value)
{
    const struct umask_row *found = NULL;

    for (size_t i = 0; i < event->umask_count; i++) {
        const struct umask_row *u = &event->umasks[i];
        if (event->umask_bits ? u->value == value
                              : (value & u->care) == u->value)
            return u;
        if (event->umask_bits && (u->value & value) != 0 && found == NULL)
            found = u;
    }
    return found;
}

bool
umask_value(const char *text, unsigned *value)
{
    char *end;

    if (text[0] != '0' || ascii_lower(text[1]) != 'x' || text[2] == '\0' ||
        text[3] != '\0')
        return false;
    *value = (unsigned)strtoul(text + 2, &end, 16);
    return *end == '\0';
}

const struct umask_row *
umask_find(const struct event_row *event, const char *name)
{
    unsigned value;

    if (umask_value(name, &value))
        return umask_of(event, value);
    for (size_t i = 0; i < event->umask_count; i++)
        if (event->umasks[i].counts == UMASK_YES &&
            umask_named(&event->umasks[i], name))
            return &event->umasks[i];
    for (size_t i = 0; i < event->umask_count; i++)
        if (umask_named(&event->umasks[i], name))
            return &event->umasks[i];
    return NULL;
}

const struct umask_row *
umask_default(const struct event_row *event)
{
    const struct umask_row *only = NULL;
    size_t count = 0;

    for (size_t i = 0; i < event->umask_count; i++) {
        const struct umask_row *u = &event->umasks[i];
        if (u->counts != UMASK_YES)
            continue;
        if (umask_named(u, "ALL") || umask_named(u, "ANY"))
            return u;
        only = u;
        count++;
    }
    return count == 1 ? only : NULL;
}

void
umask_names(const struct event_row *event, char *text, size_t size)
{
    const char *names[NAMES_SHOWN];
    size_t count = 0;

    for (size_t i = 0; i < event->umask_count && count < NAMES_SHOWN; i++)
        if (event->umasks[i].counts == UMASK_YES)
            names[count++] = event->umasks[i].name;
    join_words(names, count, text, size);
}

int
umask_unknown(const char *text, const struct event_row *event, const char *name,
              const struct tally_log *log)
{
    char names[512] = "";

    umask_names(event, names, sizeof(names));
    if (names[0] == '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s': %s has no unit masks and no modifier of this "
                          "name",
                          text, event->name);
    if (name[0] == '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "'%s': %s needs a unit mask; it has %s", text,
                          event->name, names);
    return tally_fail(log, TALLY_EUNKNOWN,
                      "'%s': %s has no unit mask '%s'; it has %s", text,
                      event->name, shown(name, strlen(name)).text, names);
}

const struct event_row *
umask_counted(const struct machine_row *machine, const struct event_row *event,
              const struct umask_row *umask)
{
    if (umask == NULL)
        umask = umask_default(event);
    return umask == NULL || umask->counted < 0
               ? event
               : &machine->narrowed_events[umask->counted];
}
