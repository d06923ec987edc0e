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

/* Logs that there is no memory for the events. */
static int
no_memory(void)
{
    return tally_fail(&command_log, TALLY_ENOMEM, "no memory for the events");
}

/* Appends the event, unless it is counted already. */
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

int
counted_add(struct counted *c, const struct event_row *event)
{
    return add_event(c, event);
}

/* Refuses a metric that needs more than the clock and the time. */
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

/* Adds the events of the metric's formula. */
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

/* Adds the clock, if the metric needs the time: a model keeps no time unless
 * something is counted that needs it. */
static int
add_clock(const struct choosing *g, const struct metric_row *metric)
{
    const struct event_row *cycles = event_find(g->machine, "cycles");

    if ((metric_inputs(metric) >> INPUT_INTERVAL & 1) == 0 ||
        g->machine->params == NULL || cycles == NULL)
        return 0;
    return add_event(g->c, umask_counted(g->machine, cycles, NULL));
}

int
metric_list_add(struct metric_list *list, const struct metric_row *metric,
                const char *asked)
{
    const struct metric_row **rows =
        reallocarray(list->rows, list->count + 1, sizeof(*rows));
    if (rows == NULL)
        return no_memory();
    list->rows = rows;
    char **names = reallocarray(list->asked, list->count + 1, sizeof(*names));
    if (names == NULL)
        return no_memory();
    list->asked = names;
    names[list->count] = strdup(asked);
    if (names[list->count] == NULL)
        return no_memory();
    list->rows[list->count++] = metric;
    return 0;
}

void
metric_list_finish(struct metric_list *list)
{
    event_list_free_asked(list->asked, list->count);
    free(list->rows);
    *list = (struct metric_list){0};
}

int
counted_any(const struct machine_row *machine, bool counted,
            const struct event_row *first, const struct metric_list *metrics)
{
    for (size_t i = 0; i < metrics->count; i++)
        counted = counted || !metric_is_lacking(metrics->rows[i]);
    if (counted || (first == NULL && metrics->count == 0))
        return 0;
    return first != NULL ? generic_lacking(machine, first->name, &command_log)
                         : generic_metric_lacking(
                               machine, metrics->rows[0]->name, &command_log);
}

/* Adds a metric and what it needs. */
static int
add_metric(void *user, const struct metric_row *metric, const char *asked)
{
    const struct choosing *g = user;
    const bool lacking = metric_is_lacking(metric);
    int error = lacking ? 0 : check_inputs(g, metric);

    /* A metric that is asked for twice by one name is reported once. */
    for (size_t i = 0; i < g->c->metrics.count; i++)
        if (g->c->metrics.rows[i] == metric &&
            same_name(g->c->metrics.asked[i], asked))
            return 0;
    if (error == 0 && !lacking)
        error = add_operands(g, metric);
    if (error == 0 && !lacking)
        error = add_clock(g, metric);
    return error != 0 ? error : metric_list_add(&g->c->metrics, metric, asked);
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
    if (error != 0)
        return error;
    bool any = false;
    for (size_t i = 0; i < c->asked_count; i++)
        any = any || !event_is_lacking(c->events[i]);
    return counted_any(machine, any, c->asked_count > 0 ? c->events[0] : NULL,
                       &c->metrics);
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
    metric_list_finish(&c->metrics);
    free(c->events);
    *c = (struct counted){0};
}
