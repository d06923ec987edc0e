/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "profile/dump.h"
#include "profile/dump_names.h"

void
dump_names_finish(struct dump_names *names)
{
    free(names->events);
    *names = (struct dump_names){0};
}

const struct dump_event *
dump_names_find(const struct dump_names *names, const char *machine,
                uint64_t group, uint64_t code)
{
    for (size_t i = 0; i < names->count; i++) {
        const struct dump_event *e = &names->events[i];
        if (e->code == code && e->group == group &&
            strcmp(e->machine, machine) == 0)
            return e;
    }
    return NULL;
}

int
dump_names_add(struct dump_names *names, const struct dump_event *event)
{
    if (names->count == DUMP_EVENTS_MAX ||
        dump_names_find(names, event->machine, event->group, event->code) !=
            NULL)
        return 0;
    if ((names->count & (names->count - 1)) == 0) {
        const size_t room = names->count > 0 ? 2 * names->count : 1;
        struct dump_event *more = realloc(names->events, room * sizeof(*more));
        if (more == NULL)
            return TALLY_ENOMEM;
        names->events = more;
    }
    names->events[names->count++] = *event;
    return 0;
}

/* Copies the bytes up to `end`, or all, as a name. Returns their number; 0:
 * they are no plain name. */
static size_t
take_name(const char *text, size_t length, char end, char *name)
{
    const char *const found = memchr(text, end, length);
    const size_t size = found != NULL ? (size_t)(found - text) : length;

    if (size >= DUMP_NAME)
        return 0;
    memcpy(name, text, size);
    name[size] = '\0';
    return dump_name_is_plain(name) ? size : 0;
}

/* Returns the bytes of a hexadecimal number and the comma behind it, or 0. */
static size_t
take_hex(const char *text, size_t length, uint64_t *number)
{
    uint64_t value = 0;
    size_t i = 0;

    for (; i < length && i <= 16 && text[i] != ','; i++) {
        const char *const digits = "0123456789abcdef";
        const char *const found =
            text[i] != '\0' ? strchr(digits, text[i]) : NULL;
        if (found == NULL)
            return 0;
        value = value << 4 | (uint64_t)(found - digits);
    }
    if (i == 0 || i > 16 || i == length)
        return 0;
    *number = value;
    return i + 1;
}

bool
dump_event_parse(const char *text, size_t length, struct dump_event *event)
{
    uint64_t *const numbers[] = {&event->group, &event->code};

    event->asked[0] = '\0';
    for (size_t i = 0; i < 2; i++) {
        const size_t taken = take_hex(text, length, numbers[i]);
        if (taken == 0)
            return false;
        text += taken;
        length -= taken;
    }
    const size_t size = take_name(text, length, ' ', event->name);
    if (size == 0 || size == length)
        return size != 0;
    const size_t rest = length - size - 1;
    return take_name(text + size + 1, rest, '\0', event->asked) == rest &&
           rest > 0;
}

bool
dump_machine_parse(const char *text, size_t length, char *machine)
{
    char name[DUMP_NAME];

    if (length == 0 || take_name(text, length, '\0', name) != length)
        return false;
    memcpy(machine, name, length + 1);
    return true;
}
