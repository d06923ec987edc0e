/* SPDX-License-Identifier: MIT */
#include "table/generic.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "table/text.h"
#include "table/umask.h"

/* Returns whether `word` is the name or one of the aliases. */
static bool
is_named(const char *word, const char *name, const char *const *aliases)
{
    bool same = same_name(word, name);

    for (; !same && *aliases != NULL; aliases++)
        same = same_name(word, *aliases);
    return same;
}

int
generic_find(const char *name)
{
    for (int i = 0; i < GENERIC_COUNT; i++)
        if (is_named(name, tally_generics[i].name, tally_generics[i].aliases))
            return i;
    return -1;
}

int
generic_metric_find(const char *name)
{
    for (int i = 0; i < GENERIC_METRIC_COUNT; i++)
        if (is_named(name, tally_generic_metrics[i].name,
                     tally_generic_metrics[i].aliases))
            return i;
    return -1;
}

const struct event_row *
generic_counted(const struct machine_row *machine, int id)
{
    const struct generic_event *g = &machine->generics[id];

    if (g->kind == STANDS_NONE)
        return NULL;
    const struct event_row *event = &machine->events[g->event];
    return umask_counted(machine, event,
                         g->umask < 0 ? NULL : &event->umasks[g->umask]);
}

bool
generic_expand(const struct machine_row *machine, const char *name, char *text,
               size_t text_size)
{
    const size_t length = strcspn(name, ":");
    const char *own = name, *rest = "";
    char word[64];

    if (length < sizeof(word)) {
        memcpy(word, name, length);
        word[length] = '\0';
        const int id = generic_find(word);
        if (id >= 0 && machine->generics[id].umask >= 0) {
            own = machine->generics[id].own;
            rest = name + length;
        }
    }
    if (strlen(own) + strlen(rest) >= text_size)
        return false;
    snprintf(text, text_size, "%s%s", own, rest);
    return true;
}

int
generic_lacking(const struct machine_row *machine, const char *name,
                const struct tally_log *log)
{
    const int id = generic_find(name);

    if (id < 0 || machine->generics[id].kind != STANDS_NONE)
        return 0;
    return tally_fail(log, TALLY_EUNKNOWN,
                      "'%s': nothing on %s stands for it: %s", name,
                      machine->name, machine->generics[id].reason);
}

const struct event_row *
generic_lacking_event(const struct machine_row *machine, const char *name)
{
    const int id = generic_find(name);

    return id >= 0 && machine->generics[id].kind == STANDS_NONE
               ? &tally_lacking_events[id]
               : NULL;
}

bool
event_is_lacking(const struct event_row *event)
{
    return event >= tally_lacking_events &&
           event < tally_lacking_events + GENERIC_COUNT;
}

const char *
generic_lacking_reason(const struct machine_row *machine,
                       const struct event_row *event)
{
    return machine->generics[event - tally_lacking_events].reason;
}

int
generic_metric_lacks(const struct machine_row *machine, int id)
{
    const struct generic_metric *metric = &tally_generic_metrics[id];

    for (size_t i = 0; i < metric->operand_count; i++)
        if (machine->generics[metric->operands[i]].kind == STANDS_NONE)
            return metric->operands[i];
    return -1;
}

const struct metric_row *
generic_lacking_metric(const struct machine_row *machine, const char *name)
{
    const int id = generic_metric_find(name);

    return id >= 0 && generic_metric_lacks(machine, id) >= 0
               ? &tally_lacking_metrics[id]
               : NULL;
}

bool
metric_is_lacking(const struct metric_row *metric)
{
    return metric >= tally_lacking_metrics &&
           metric < tally_lacking_metrics + GENERIC_METRIC_COUNT;
}

const struct event_row *
generic_metric_lacking_event(const struct machine_row *machine,
                             const struct metric_row *metric)
{
    const int id = (int)(metric - tally_lacking_metrics);

    return &tally_lacking_events[generic_metric_lacks(machine, id)];
}

int
generic_metric_lacking(const struct machine_row *machine, const char *name,
                       const struct tally_log *log)
{
    const int id = generic_metric_find(name);
    const int operand = id >= 0 ? generic_metric_lacks(machine, id) : -1;

    if (operand < 0)
        return 0;
    return tally_fail(log, TALLY_EUNKNOWN,
                      "metric '%s' needs %s, for which nothing on %s stands: "
                      "%s",
                      name, tally_generics[operand].name, machine->name,
                      machine->generics[operand].reason);
}

int
generic_sum(const struct machine_row *machine, const struct event_row *event)
{
    for (int i = 0; i < GENERIC_COUNT; i++) {
        const struct generic_event *g = &machine->generics[i];
        if (g->kind == STANDS_SUM && &machine->events[g->event] == event)
            return i;
    }
    return -1;
}

void
near_generics(struct near *near, const struct machine_row *machine)
{
    for (int i = 0; i < GENERIC_COUNT; i++) {
        const struct generic_event *g = &machine->generics[i];
        if (g->kind != STANDS_NONE &&
            (g->umask >= 0 || g->event >= machine->event_count))
            near_add(near, tally_generics[i].name, tally_generics[i].aliases);
    }
}

const char *
stands_text(enum stands kind)
{
    switch (kind) {
    case STANDS_EVENT:
        return "an event of the machine";
    case STANDS_SUM:
        return "a sum of events of the machine; the machine has no counter for "
               "it";
    case STANDS_MODEL:
        return "of the model; the machine has no counter for it";
    case STANDS_NONE:
        return "nothing";
    }
    assert(!"no such kind");
    return "";
}
