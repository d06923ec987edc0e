/* SPDX-License-Identifier: MIT */
#include "cli/counted.h"

#include <stdlib.h>
#include <string.h>

#include "table/generic.h"
#include "table/metric.h"
#include "table/text.h"
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

/* Appends the metric and its name; 0 or an error, logged. */
static int
append_metric(struct counted *c, const struct metric_row *metric,
              const char *asked)
{
    const size_t count = c->metric_count + 1;
    const struct metric_row **metrics =
        reallocarray(c->metrics, count, sizeof(*metrics));

    if (metrics == NULL)
        return no_memory();
    c->metrics = metrics;
    char **names = reallocarray(c->metrics_asked, count, sizeof(*names));
    if (names == NULL)
        return no_memory();
    c->metrics_asked = names;
    names[c->metric_count] = strdup(asked);
    if (names[c->metric_count] == NULL)
        return no_memory();
    c->metrics[c->metric_count++] = metric;
    return 0;
}

static int
add_metric(void *user, const struct metric_row *metric, const char *asked)
{
    const struct choosing *g = user;
    const bool lacking = metric_is_lacking(metric);
    int error = lacking ? 0 : check_inputs(g, metric);

    /* Asked for twice by one name, it is reported once. */
    for (size_t i = 0; i < g->c->metric_count; i++)
        if (g->c->metrics[i] == metric &&
            same_name(g->c->metrics_asked[i], asked))
            return 0;
    if (error == 0 && !lacking)
        error = add_operands(g, metric);
    if (error == 0 && !lacking)
        error = add_clock(g, metric);
    return error != 0 ? error : append_metric(g->c, metric, asked);
}

/* Refuses lists of which the machine lacks everything. */
static int
check_any(const struct machine_row *machine, const struct counted *c)
{
    bool any = c->asked_count + c->metric_count == 0;

    for (size_t i = 0; i < c->asked_count; i++)
        any = any || !event_is_lacking(c->events[i]);
    for (size_t i = 0; i < c->metric_count; i++)
        any = any || !metric_is_lacking(c->metrics[i]);
    return any ? 0
           : c->asked_count > 0
               ? generic_lacking(machine, c->events[0]->name, &command_log)
               : generic_metric_lacking(machine, c->metrics[0]->name,
                                        &command_log);
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
            metric_list_wanted(machine, metrics, &command_log, add_metric, &g);
    return error != 0 ? error : check_any(machine, c);
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
    event_list_free_asked(c->metrics_asked, c->metric_count);
    free(c->events);
    free(c->metrics);
    *c = (struct counted){0};
}
