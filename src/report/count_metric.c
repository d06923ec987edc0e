/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "report/count_report.h"
#include "table/generic.h"
#include "table/metric.h"

/* The values that a metric is computed of. */
struct wanted {
    const struct count_report *report;
    const char *kind; /* of cores, or NULL */
};

/* Returns the value of an event; NULL: it was not counted. */
static const struct count_value *
value_of(const struct wanted *w, const struct event_row *event)
{
    for (size_t i = 0; i < w->report->count; i++) {
        const struct count_value *v = &w->report->values[i];
        /* A value of no kind of cores, such as a clock's, is of all kinds. */
        const bool here = v->kind == NULL ||
                          (w->kind != NULL && strcmp(v->kind, w->kind) == 0);
        if (v->event == event && v->counted && here)
            return v;
    }
    return NULL;
}

/* Returns the mean of the event of a step. */
static double
count_of(void *user, const struct formula_step *step)
{
    const struct wanted *w = user;
    const struct count_value *v =
        value_of(w, metric_counted(w->report->machine, step));

    return v != NULL ? v->mean : (double)NAN;
}

/* Returns whether the metric needs the event. */
static bool
uses(const struct count_report *r, const struct metric_row *metric,
     const struct event_row *event)
{
    for (size_t i = 0; i < metric->step_count; i++)
        if (metric->steps[i].kind == FORMULA_EVENT &&
            metric_counted(r->machine, &metric->steps[i]) == event)
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

    if (metric_is_lacking(metric))
        return generic_metric_lacking_event(r->machine, metric);
    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        if (s->kind == FORMULA_EVENT &&
            value_of(&wanted, metric_counted(r->machine, s)) == NULL)
            return metric_counted(r->machine, s);
    }
    return NULL;
}

/* Returns an input of metrics. The interval is modelled time if the run has
 * any; on the host it is wall time. */
static double
input_of(void *user, size_t input)
{
    const struct wanted *wanted = user;
    const struct count_report *r = wanted->report;

    if (input == INPUT_INTERVAL && r->isa == NULL)
        return r->wall_s;
    if (input == INPUT_CLOCK && r->params != NULL)
        return (double)r->params[PARAM_CLOCK];
    if (input == INPUT_INTERVAL && (r->last->components & COMPONENT_TIME) != 0)
        return r->last->modelled_s;
    return (double)NAN;
}

/* Returns what the metric's value is worth: as much as the worst event that the
 * value depends on. */
static enum fidelity
standing(const struct wanted *w, const struct metric_row *metric)
{
    enum fidelity stack[METRIC_DEPTH];
    size_t depth = 0;

    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        if (s->kind == FORMULA_EVENT) {
            const struct event_row *event =
                metric_counted(w->report->machine, s);
            const struct count_value *v = value_of(w, event);
            const enum fidelity f = report_fidelity(w->report, event);
            /* A count that was scaled is worth less than its event. */
            stack[depth++] = v != NULL && v->fidelity > f ? v->fidelity : f;
        } else if (s->kind == FORMULA_INPUT || s->kind == FORMULA_NUMBER) {
            /* Modelled time is an estimate. */
            stack[depth++] = s->kind == FORMULA_INPUT &&
                                     s->row == INPUT_INTERVAL &&
                                     w->report->isa != NULL
                                 ? FIDELITY_ESTIMATED
                                 : FIDELITY_EXACT;
        } else if (s->kind != FORMULA_NEGATE) {
            const enum fidelity a = stack[depth - 2], b = stack[depth - 1];
            const enum fidelity better = a < b ? a : b, worse = a < b ? b : a;
            /* An idle event adds nothing to a sum. */
            depth--;
            stack[depth - 1] = s->kind == FORMULA_ADD && worse == FIDELITY_IDLE
                                   ? better
                                   : worse;
        }
    }
    return stack[0];
}

double
report_metric(const struct count_report *r, const struct metric_row *metric,
              const char *kind, enum fidelity *fidelity)
{
    struct wanted wanted = {r, kind};

    if (metric_is_lacking(metric)) {
        *fidelity = FIDELITY_IDLE;
        return (double)NAN;
    }
    *fidelity = standing(&wanted, metric);
    return metric_value(metric, count_of, input_of, &wanted);
}
