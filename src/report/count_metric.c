/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "report/count_report.h"
#include "table/metric.h"

/* One of the values of a metric. */
struct wanted {
    const struct count_report *report;
    const char *kind; /* of cores, or NULL */
};

/* NULL: it was not counted. */
static const struct count_value *
value_of(const struct wanted *w, const struct event_row *event)
{
    for (size_t i = 0; i < w->report->count; i++) {
        const struct count_value *v = &w->report->values[i];
        /* What is of no kind, such as a clock, is that of all of them. */
        const bool here = v->kind == NULL ||
                          (w->kind != NULL && strcmp(v->kind, w->kind) == 0);
        if (v->event == event && v->counted && here)
            return v;
    }
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
fidelity_of(const struct wanted *w, const struct event_row *event)
{
    const struct count_value *v = value_of(w, event);
    const enum fidelity f = report_fidelity(w->report, event);

    return v != NULL && v->fidelity > f ? v->fidelity : f;
}

static bool
uses(const struct count_report *r, const struct metric_row *metric,
     const struct event_row *event)
{
    for (size_t i = 0; i < metric->step_count; i++)
        if (metric->steps[i].kind == FORMULA_EVENT &&
            &r->machine->events[metric->steps[i].row] == event)
            return true;
    return false;
}

size_t
report_metric_kinds(const struct count_report *r,
                    const struct metric_row *metric,
                    const char *kinds[METRIC_KINDS])
{
    size_t count = 0;

    kinds[0] = NULL;
    for (size_t i = 0; i < r->count && count < METRIC_KINDS; i++) {
        const struct count_value *v = &r->values[i];
        bool known = v->kind == NULL || !uses(r, metric, v->event);
        for (size_t k = 0; k < count && !known; k++)
            known = strcmp(kinds[k], v->kind) == 0;
        if (!known)
            kinds[count++] = v->kind;
    }
    return count > 0 ? count : 1;
}

const struct event_row *
report_metric_lacks(const struct count_report *r,
                    const struct metric_row *metric, const char *kind)
{
    const struct wanted wanted = {r, kind};

    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        if (s->kind == FORMULA_EVENT &&
            value_of(&wanted, &r->machine->events[s->row]) == NULL)
            return &r->machine->events[s->row];
    }
    return NULL;
}

/* The time counted is the modelled machine's, where it keeps any. */
static double
input_of(void *user, size_t input)
{
    const struct wanted *wanted = user;
    const struct count_report *r = wanted->report;

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
              const char *kind, enum fidelity *fidelity)
{
    struct wanted wanted = {r, kind};

    *fidelity = FIDELITY_EXACT;
    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        enum fidelity f = FIDELITY_EXACT;
        if (s->kind == FORMULA_EVENT)
            f = fidelity_of(&wanted, &r->machine->events[s->row]);
        else if (s->kind == FORMULA_INPUT && s->row == INPUT_INTERVAL &&
                 r->isa != NULL)
            f = FIDELITY_ESTIMATED;
        *fidelity = f > *fidelity ? f : *fidelity;
    }
    return metric_value(r->machine, metric, count_of, input_of, &wanted);
}
