/* SPDX-License-Identifier: MIT */
#include "table/software.h"

#include <string.h>

#include "table/items.h"
#include "table/text.h"

#define NAME_SIZE 64 /* more than the longest name of a software event has */

bool
event_is_software(const struct event_row *event)
{
    return strcmp(event->unit, "software") == 0;
}

/* Returns whether `name` is the event's name or one of its aliases. */
static bool
is_named(const struct event_row *event, const char *name)
{
    bool same = same_name(event->name, name);

    for (const char *const *a = event->aliases; *a != NULL && !same; a++)
        same = same_name(*a, name);
    return same;
}

const struct event_row *
software_find(const char *name)
{
    const struct machine_row *host = machine_find("host");

    for (size_t i = 0; i < host->event_count; i++)
        if (event_is_software(&host->events[i]) &&
            is_named(&host->events[i], name))
            return &host->events[i];
    return NULL;
}

/* Fails for a word that is no software event; letters behind it may stand. */
static int
check_word(void *user, const char *word, size_t length, int group)
{
    char name[NAME_SIZE];

    (void)user;
    (void)group;
    if (length >= sizeof(name))
        return TALLY_EUNKNOWN;
    memcpy(name, word, length);
    name[length] = '\0';
    name[strcspn(name, ":")] = '\0';
    return software_find(name) != NULL ? 0 : TALLY_EUNKNOWN;
}

/* Accepts the letters behind a group: the parser of host events checks them. */
static int
accept_letters(void *user, const char *letters, size_t length, int group)
{
    (void)user;
    (void)letters;
    (void)length;
    (void)group;
    return 0;
}

bool
software_list(const char *text)
{
    const struct tally_log silent = {0};
    const struct items items = {check_word, accept_letters, NULL, &silent,
                                false};

    return items_parse(&items, text) == 0;
}
