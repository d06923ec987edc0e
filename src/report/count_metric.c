/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "report/count_report.h"
#include "table/generic.h"
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
count_of(void *user, const struct formula_step *step)
{
    const struct wanted *w = user;
    const struct count_value *v =
        value_of(w, metric_counted(w->report->machine, step));

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
    if (input == INPUT_INTERVAL && (r->last->components & COMPONENT_TIME) != 0)
        return r->last->modelled_s;
    return (double)NAN;
}

/* The standing of an operand of a formula. */
static enum fidelity
operand_fidelity(const struct wanted *w, const struct formula_step *s)
{
    if (s->kind == FORMULA_EVENT)
        return fidelity_of(w, metric_counted(w->report->machine, s));
    if (s->kind == FORMULA_INPUT && s->row == INPUT_INTERVAL &&
        w->report->isa != NULL)
        return FIDELITY_ESTIMATED;
    return FIDELITY_EXACT;
}

/* What is idle adds nothing to a sum: the sum is worth what the rest is. */
static enum fidelity
combine(enum formula_kind kind, enum fidelity a, enum fidelity b)
{
    const enum fidelity better = a < b ? a : b, worse = a < b ? b : a;

    return kind == FORMULA_ADD && worse == FIDELITY_IDLE ? better : worse;
}

static enum fidelity
standing(const struct wanted *w, const struct metric_row *metric)
{
    enum fidelity stack[METRIC_DEPTH];
    size_t depth = 0;

    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        if (s->kind == FORMULA_NUMBER || s->kind == FORMULA_EVENT ||
            s->kind == FORMULA_INPUT) {
            stack[depth++] = operand_fidelity(w, s);
        } else if (s->kind != FORMULA_NEGATE) {
            depth--;
            stack[depth - 1] = combine(s->kind, stack[depth - 1], stack[depth]);
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
