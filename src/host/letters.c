/* SPDX-License-Identifier: MIT */
/*
 * The letters behind an event or a group: perf-list(1). Some say what is
 * counted, and then what none of them names is left out; so :u leaves the
 * kernel out, and :uk leaves neither out.
 */
#include <string.h>

#include "host/parse.h"
#include "table/text.h"

static const char known[] = "ukhGHpPSDIWe";

static int
check(const struct host_list *list, const char *letters)
{
    const struct shown whole = shown(letters, strlen(letters));
    const char *text = whole.text;
    size_t precise = 0;

    for (const char *p = letters; *p != '\0'; p++) {
        if (strchr(known, *p) == NULL)
            return tally_fail(list->log, TALLY_ESYNTAX,
                              "event modifiers ':%s': there is no '%s'; known "
                              "are u k h p P G H I D W S e",
                              text, shown(p, 1).text);
        precise += *p == 'p';
        if (*p != 'p' && strchr(p + 1, *p) != NULL)
            return tally_fail(list->log, TALLY_ESYNTAX,
                              "event modifiers ':%s': '%c' stands twice", text,
                              *p);
    }
    if (precise > 3)
        return tally_fail(list->log, TALLY_ESYNTAX,
                          "event modifiers ':%s': more than three p", text);
    return 0;
}

/* :u, :k, :h */
static void
count_level(struct perf_event_attr *attr, char letter)
{
    if (!attr->exclude_user && !attr->exclude_kernel && !attr->exclude_hv)
        attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
    if (letter == 'u')
        attr->exclude_user = 0;
    else if (letter == 'k')
        attr->exclude_kernel = 0;
    else
        attr->exclude_hv = 0;
}

/* :G, :H */
static void
count_side(struct host_event *event, char letter)
{
    if (!event->sides)
        event->attr.exclude_guest = event->attr.exclude_host = 1;
    event->sides = true;
    if (letter == 'G')
        event->attr.exclude_guest = 0;
    else
        event->attr.exclude_host = 0;
}

/*
 * Letters of an event start from nothing left out, so that :k counts guests
 * too; :u and :p do not, unless :G is there. That is how perf has it.
 */
static void
apply(struct host_event *event, const char *letters, bool leads)
{
    struct perf_event_attr *attr = &event->attr;
    bool pinned = attr->pinned, exclusive = attr->exclusive;

    for (; *letters != '\0'; letters++) {
        if (strchr("ukh", *letters) != NULL)
            count_level(attr, *letters);
        if (strchr("GH", *letters) != NULL)
            count_side(event, *letters);
        if (strchr("up", *letters) != NULL && !event->sides)
            attr->exclude_guest = 1;
        if (*letters == 'p')
            attr->precise_ip = (attr->precise_ip + 1u) & 3u;
        attr->exclude_idle |= *letters == 'I';
        pinned |= *letters == 'D';
        exclusive |= *letters == 'e';
        event->weak |= *letters == 'W';
    }
    attr->pinned = leads && pinned;
    attr->exclusive = leads && exclusive;
}

static unsigned
count_p(const char *letters)
{
    unsigned count = 0;

    for (; *letters != '\0'; letters++)
        count += *letters == 'p';
    return count;
}

static void
forget(struct host_event *event)
{
    struct perf_event_attr *attr = &event->attr;

    attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 0;
    attr->exclude_guest = attr->exclude_host = attr->exclude_idle = 0;
    attr->precise_ip = 0;
}

int
host_letters(struct host_list *list, size_t first, const char *letters,
             bool behind_group)
{
    const int error = check(list, letters);

    if (error != 0 || *letters == '\0')
        return error;
    for (size_t i = first; behind_group && i < list->count; i++)
        if (list->events[i].attr.precise_ip + count_p(letters) > 3)
            return tally_fail(
                list->log, TALLY_ESYNTAX,
                "event '%s': more than three p with those "
                "behind its group",
                shown(list->events[i].name, strlen(list->events[i].name)).text);
    for (size_t i = first; i < list->count; i++) {
        struct host_event *event = &list->events[i];
        const bool leads = !behind_group || i == first ||
                           event->group != list->events[i - 1].group;
        if (!behind_group)
            forget(event);
        apply(event, letters, leads);
    }
    return 0;
}
