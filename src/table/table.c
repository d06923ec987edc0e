/* SPDX-License-Identifier: MIT */
#include "table/table.h"

#include <assert.h>
#include <string.h>

#include "table/near.h"
#include "table/text.h"

#define NEAR_SHOWN 3

static bool
name_among(const char *name, const char *const *names)
{
    while (*names != NULL && !same_name(name, *names))
        names++;
    return *names != NULL;
}

const char *
fidelity_name(enum fidelity fidelity)
{
    static const char *const names[] = {
        [FIDELITY_EXACT] = "exact",
        [FIDELITY_MODELLED] = "modelled",
        [FIDELITY_ESTIMATED] = "estimated",
        [FIDELITY_IDLE] = "idle",
    };

    assert((size_t)fidelity < sizeof(names) / sizeof(names[0]));
    return names[fidelity];
}

const struct machine_row *
machine_find(const char *name)
{
    for (size_t i = 0; i < MACHINE_COUNT; i++) {
        const struct machine_row *machine = &tally_machines[i];
        if (same_name(name, machine->name) ||
            name_among(name, machine->aliases))
            return machine;
    }
    return NULL;
}

int
machine_unknown(const char *name, const struct tally_log *log)
{
    const struct shown word = shown(name, strlen(name));
    char text[256];
    struct near n;

    near_init(&n, name, NEAR_SHOWN);
    for (size_t i = 0; i < MACHINE_COUNT; i++)
        if (!tally_machines[i].hidden)
            near_add(&n, tally_machines[i].name, tally_machines[i].aliases);
    near_text(&n, text, sizeof(text));
    if (text[0] != '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "unknown machine '%s': did you mean %s?", word.text,
                          text);
    return tally_fail(log, TALLY_EUNKNOWN,
                      "unknown machine '%s'; tally list machines shows them",
                      word.text);
}

/* 1 to 7 hexadecimal digits after 0x, or -1. */
static int32_t
read_code(const char *text)
{
    int32_t code = 0;
    size_t digits = 0;

    if (text[0] != '0' || ascii_lower(text[1]) != 'x')
        return -1;
    for (const char *p = text + 2; *p != '\0'; p++) {
        const char c = ascii_lower(*p);
        const bool decimal = c >= '0' && c <= '9';
        if ((!decimal && (c < 'a' || c > 'f')) || ++digits > 7)
            return -1;
        code = code << 4 | (decimal ? c - '0' : c - 'a' + 10);
    }
    return digits > 0 ? code : -1;
}

const struct event_row *
event_find(const struct machine_row *machine, const char *name)
{
    const int32_t code = read_code(name);

    for (size_t i = 0; i < machine->event_count; i++) {
        const struct event_row *event = &machine->events[i];
        if (code >= 0 ? event->code == code
                      : same_name(name, event->name) ||
                            name_among(name, event->aliases))
            return event;
    }
    return NULL;
}

bool
event_unmodelled(const struct event_row *event)
{
    return event->reason != NULL &&
           strstr(event->reason, "not modelled yet") != NULL;
}

int
param_find(const char *key)
{
    for (int i = 0; i < PARAM_COUNT; i++)
        if (same_name(key, tally_params[i].key))
            return i;
    return -1;
}

int
signal_find(const char *name)
{
    for (int i = 0; i < SIGNAL_COUNT; i++)
        if (same_name(name, tally_signals[i].name))
            return i;
    return -1;
}
