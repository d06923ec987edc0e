/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "report/count_report.h"
#include "table/metric.h"

/* NULL: it was not counted. */
static const struct count_value *
value_of(const struct count_report *r, const struct event_row *event)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->values[i].event == event && r->values[i].counted)
            return &r->values[i];
    return NULL;
}

static double
count_of(void *user, const struct event_row *event, int umask)
{
    const struct count_value *v = value_of(user, event);

    (void)umask;
    return v != NULL ? v->mean : (double)NAN;
}

/* A count that was scaled is worth less than its event. */
static enum fidelity
fidelity_of(const struct count_report *r, const struct event_row *event)
{
    const struct count_value *v = value_of(r, event);
    const enum fidelity f = report_fidelity(r, event);

    return v != NULL && v->fidelity > f ? v->fidelity : f;
}

const struct event_row *
report_metric_lacks(const struct count_report *r,
                    const struct metric_row *metric)
{
    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        if (s->kind == FORMULA_EVENT &&
            isnan(count_of((void *)r, &r->machine->events[s->row], 0)))
            return &r->machine->events[s->row];
    }
    return NULL;
}

/* The time counted is the modelled machine's, where it keeps any. */
static double
input_of(void *user, size_t input)
{
    const struct count_report *r = user;

    if (input == INPUT_INTERVAL && r->isa == NULL)
        return r->wall_s;
    if (input == INPUT_CLOCK && r->params != NULL)
        return (double)r->params[PARAM_CLOCK];
    if (input == INPUT_INTERVAL && (r->last->parts & PART_TIME) != 0)
        return (double)r->last->modelled_ns * 1e-9;
    return (double)NAN;
}

double
report_metric(const struct count_report *r, const struct metric_row *metric,
              enum fidelity *fidelity)
{
    *fidelity = FIDELITY_EXACT;
    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        enum fidelity f = FIDELITY_EXACT;
        if (s->kind == FORMULA_EVENT)
            f = fidelity_of(r, &r->machine->events[s->row]);
        else if (s->kind == FORMULA_INPUT && s->row == INPUT_INTERVAL &&
                 r->isa != NULL)
            f = FIDELITY_ESTIMATED;
        *fidelity = f > *fidelity ? f : *fidelity;
    }
    return metric_value(r->machine, metric, count_of, input_of, (void *)r);
}
