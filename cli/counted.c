/* SPDX-License-Identifier: MIT */
#include "cli/counted.h"

#include <stdlib.h>

#include "table/metric.h"
#include "table/umask.h"

#define METRIC_EVENTS_MAX 64

struct choosing {
    const struct machine_row *machine;
    struct counted *c;
};

static int
no_memory(void)
{
    return tally_fail(&command_log, TALLY_ENOMEM, "no memory for the events");
}

static int
add_event(struct counted *c, const struct event_row *event)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->events[i] == event)
            return 0;
    const struct event_row **events =
        reallocarray(c->events, c->count + 1, sizeof(*events));
    if (events == NULL)
        return no_memory();
    c->events = events;
    c->events[c->count++] = event;
    return 0;
}

/* The clock and the time are known; nothing else is while it counts. */
static int
check_inputs(const struct choosing *g, const struct metric_row *metric)
{
    const uint64_t inputs = metric_inputs(metric);

    for (size_t i = INPUT_INTERVAL + 1; i < g->machine->input_count; i++)
        if ((inputs >> i & 1) != 0)
            return tally_fail(&command_log, TALLY_EIDLE,
                              "metric '%s' needs %s (%s), which a count does "
                              "not know",
                              metric->name, g->machine->inputs[i].name,
                              g->machine->inputs[i].brief);
    return 0;
}

/* The events of its formula. */
static int
add_operands(const struct choosing *g, const struct metric_row *metric)
{
    struct selection events[METRIC_EVENTS_MAX];
    const size_t count =
        metric_events(g->machine, metric, events, METRIC_EVENTS_MAX);
    int error = 0;

    for (size_t i = 0; i < count && error == 0; i++) {
        const struct event_row *e =
            umask_counted(g->machine, events[i].event, events[i].umask);
        if (event_unmodelled(e))
            error = tally_fail(&command_log, TALLY_EIDLE,
                               "metric '%s' needs %s, which cannot count: %s",
                               metric->name, e->name, e->reason);
        else
            error = add_event(g->c, e);
    }
    return error;
}

/* A model keeps no time unless something needs it. */
static int
add_clock(const struct choosing *g, const struct metric_row *metric)
{
    const struct event_row *cycles = event_find(g->machine, "cycles");

    if ((metric_inputs(metric) >> INPUT_INTERVAL & 1) == 0 ||
        g->machine->params == NULL || cycles == NULL)
        return 0;
    return add_event(g->c, umask_counted(g->machine, cycles, NULL));
}

static int
add_metric(void *user, const struct metric_row *metric)
{
    struct choosing *g = user;
    int error = check_inputs(g, metric);

    /* Asked for twice, it is reported once, as an event is. */
    for (size_t i = 0; i < g->c->metric_count; i++)
        if (g->c->metrics[i] == metric)
            return 0;
    if (error == 0)
        error = add_operands(g, metric);
    if (error == 0)
        error = add_clock(g, metric);
    if (error != 0)
        return error;
    const struct metric_row **metrics =
        reallocarray(g->c->metrics, g->c->metric_count + 1, sizeof(*metrics));
    if (metrics == NULL)
        return no_memory();
    g->c->metrics = metrics;
    g->c->metrics[g->c->metric_count++] = metric;
    return 0;
}

int
counted_choose(const struct machine_row *machine, const char *events,
               const char *metrics, event_unwanted_fn unwanted,
               struct counted *c)
{
    struct choosing g = {machine, c};
    int error = 0;

    *c = (struct counted){0};
    if (events == NULL && metrics == NULL)
        events = "default";
    if (events != NULL)
        error =
            event_list_wanted(machine, events, unwanted, &command_log,
                              &c->events, &c->asked, &c->count, &c->left_out);
    c->asked_count = c->count;
    if (error == 0 && metrics != NULL)
        error =
            metric_list_parse(machine, metrics, &command_log, add_metric, &g);
    return error;
}

int
counted_account(const struct machine_row *machine, struct counted *c)
{
    const struct choosing g = {machine, c};
    const size_t before = c->count;
    int error = 0;

    if (machine->account_count == 0)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "%s has no accounting of cycles", machine->name);
    for (size_t i = 0; i < machine->account_count && error == 0; i++)
        error = add_operands(&g, &machine->accounts[i].value);
    c->hidden = c->count - before;
    return error;
}

void
counted_finish(struct counted *c)
{
    event_list_free_asked(c->asked, c->asked_count);
    free(c->events);
    free(c->metrics);
    *c = (struct counted){0};
}
