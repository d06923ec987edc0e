/* SPDX-License-Identifier: MIT */
#include "cli/count_software.h"

#include <stdlib.h>

#include "base/escape.h"
#include "host/software.h"
#include "table/generic.h"
#include "table/software.h"

int
count_split(const struct counted *c, struct count_split *s)
{
    *s = (struct count_split){0};
    s->modelled = calloc(c->count + 1, sizeof(const struct event_row *));
    s->software = calloc(c->count + 1, sizeof(const struct event_row *));
    s->place = calloc(c->count + 1, sizeof(*s->place));
    s->reasons = calloc(c->count + 1, sizeof(*s->reasons));
    if (s->modelled == NULL || s->software == NULL || s->place == NULL ||
        s->reasons == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < c->count; i++) {
        const struct event_row *event = c->events[i];
        const bool software = event_is_software(event);
        if (event_is_lacking(event))
            continue;
        size_t *count = software ? &s->software_count : &s->modelled_count;
        (software ? s->software : s->modelled)[*count] = event;
        s->place[i] = (*count)++;
    }
    return 0;
}

void
count_split_finish(struct count_split *s)
{
    free(s->modelled);
    free(s->software);
    free(s->place);
    free(s->reasons);
    *s = (struct count_split){0};
}

/* Returns the option that restricts what the model counts, or NULL. */
static const char *
restriction(const struct count_request *r)
{
    return r->interval_ms != 0    ? "-I"
           : r->from != NULL      ? "--from"
           : r->to != NULL        ? "--to"
           : r->skip != 0         ? "--skip"
           : r->filter_count != 0 ? "--filter"
                                  : NULL;
}

/* Refuses --hardware where no event is one of the machine's. */
static int
check_hardware(const struct count_request *r, const struct counted *c)
{
    bool any = !r->hardware || c->count == 0;
    const struct event_row *software = NULL;

    for (size_t i = 0; i < c->count; i++)
        if (event_is_software(c->events[i]))
            software = c->events[i];
        else
            any = any || !event_is_lacking(c->events[i]);
    if (!any)
        escape_printf(
            stderr,
            "tally count: --hardware counts events of the machine; %s is "
            "%s: add one, such as instructions\n",
            software != NULL ? software->name : c->events[0]->name,
            software != NULL ? "the kernel's" : "none of the machine's");
    return any ? 0 : EXIT_USAGE;
}

int
count_software_check(const struct count_request *r, const struct counted *c)
{
    const char *const option = restriction(r);

    for (size_t i = 0; option != NULL && i < c->count; i++) {
        if (!event_is_software(c->events[i]))
            continue;
        escape_printf(stderr,
                      "tally count: %s counts what the model does; %s is the "
                      "kernel's count of a whole run: leave one of them out\n",
                      option, c->events[i]->name);
        return EXIT_USAGE;
    }
    return check_hardware(r, c);
}

struct count_value
count_software_value(const struct event_row *event)
{
    const bool clock = event->code == PERF_COUNT_SW_CPU_CLOCK ||
                       event->code == PERF_COUNT_SW_TASK_CLOCK;

    return (struct count_value){
        .name = event->name,
        .unit = clock ? "msec" : "",
        .raw = clock ? "ns" : NULL,
        .event = event,
        .fidelity = FIDELITY_EXACT,
        .emulator = true,
        .counted = true,
        .scale = clock ? 1e-6 : 1,
    };
}

void
count_software_keep(const struct host_value *from, struct host_reason *reason,
                    struct count_value *to)
{
    if (from->counted || !to->counted)
        return;
    *reason = from->reason;
    to->counted = false;
    to->reason = reason->text;
    to->mend = reason->mend;
    to->code = host_why_name(reason->why);
}
