/* SPDX-License-Identifier: MIT */
#include "cli/needs.h"

#include <stdlib.h>
#include <string.h>

int
needs_of(const struct machine_row *machine, const struct metric_row *metric,
         struct needs *needs)
{
    *needs = (struct needs){0};
    needs->list = calloc(metric->step_count, sizeof(*needs->list));
    if (needs->list == NULL)
        return TALLY_ENOMEM;
    needs->count =
        metric_events(machine, metric, needs->list, metric->step_count);
    for (size_t i = 0; i < needs->count; i++)
        if (needs->by == NULL)
            needs->by = counted_by(machine, needs->list[i].event);
    const int error =
        needs->count > 0 && needs->by == NULL
            ? plan_make(needs->list, needs->count, NULL, &needs->plan)
            : 0;
    if (error == TALLY_ENOMEM)
        needs_finish(needs);
    return error == TALLY_ENOMEM ? error : 0;
}

void
needs_finish(struct needs *needs)
{
    plan_finish(&needs->plan);
    free(needs->list);
    *needs = (struct needs){0};
}

bool
metric_uses(const struct metric_row *metric, const struct machine_row *machine,
            const struct event_row *event, const struct umask_row *umask)
{
    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        if (s->kind == FORMULA_EVENT && &machine->events[s->row] == event &&
            (umask == NULL || s->umask < 0 ||
             &event->umasks[s->umask] == umask))
            return true;
    }
    return false;
}

const char *
counted_by(const struct machine_row *machine, const struct event_row *event)
{
    if (event->counters != 0 || counters_of_unit(machine, event->unit) != 0)
        return NULL;
    if (machine->native)
        return "the kernel";
    return machine->params != NULL ? "the model" : NULL;
}

uint32_t
counters_of_unit(const struct machine_row *machine, const char *unit)
{
    uint32_t bits = 0;

    for (size_t i = 0; i < machine->counter_count; i++)
        if (strcmp(machine->units[machine->counters[i].unit].name, unit) == 0)
            bits |= UINT32_C(1) << i;
    return bits;
}

size_t
counted_umasks(const struct machine_row *machine)
{
    size_t count = 0;

    for (size_t i = 0; i < machine->event_count; i++)
        for (size_t k = 0; k < machine->events[i].umask_count; k++)
            count += machine->events[i].umasks[k].counts == UMASK_YES;
    return count;
}
