/* SPDX-License-Identifier: MIT */
#include "report/perfex_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"

#define NAME_WIDTH 62
#define VALUE_WIDTH 16

/* Where events have numbers, "Primary data cache misses" of
 * Primary_data_cache_misses; what has its number behind it, because another
 * event has the name, loses it. */
static void
name_text(const struct count_value *v, char *text, size_t size)
{
    char tail[16];

    snprintf(text, size, "%s", v->name);
    if (v->event == NULL || v->event->number < 0)
        return;
    snprintf(tail, sizeof(tail), "_%d", v->event->number);
    const size_t length = strlen(text), cut = strlen(tail);
    if (length > cut && strcmp(text + length - cut, tail) == 0)
        text[length - cut] = '\0';
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
}

/* The number and the name, up to where the counts stand. */
static void
print_name(const struct count_value *v, FILE *out)
{
    const bool numbered = v->event != NULL && v->event->number >= 0;
    char name[256];

    name_text(v, name, sizeof(name));
    if (numbered)
        fprintf(out, "%3d ", v->event->number);
    else
        fprintf(out, "    ");
    const size_t length = strlen(name);
    fputs(name, out);
    for (size_t i = length; i < NAME_WIDTH || i < length + 1; i++)
        fputc('.', out);
}

static const struct cost *
cost_of(const struct perfex_report *p, const struct count_value *v)
{
    if (p->costs == NULL || v->event == NULL || !v->counted)
        return NULL;
    const struct cost *c = &p->costs[v->event - p->count->machine->events];
    return c->known ? c : NULL;
}

static double
seconds(const struct perfex_report *p, const struct count_value *v,
        double cycles)
{
    return v->mean * cycles / (double)p->count->params[PARAM_CLOCK];
}

static void
print_row(const struct perfex_report *p, const struct count_value *v, FILE *out)
{
    const struct cost *c = cost_of(p, v);

    print_name(v, out);
    if (!v->counted)
        escape_printf(out, "%*s", VALUE_WIDTH, v->code);
    else if (v->unit[0] != '\0')
        escape_printf(out, " %*.2f %s", VALUE_WIDTH - 1, v->mean * v->scale,
                      v->unit);
    else
        fprintf(out, "%*" PRIu64, VALUE_WIDTH, v->value);
    if (v->counted && v->fidelity != FIDELITY_EXACT)
        escape_printf(out, "  %-9s", fidelity_name(v->fidelity));
    else if (c != NULL || (p->projected && v->compared))
        escape_printf(out, "  %-9s", "");
    if (p->projected && v->compared && v->counted) {
        const double off = report_off(v);
        fprintf(out, " %*.0f", VALUE_WIDTH, v->exact);
        if (isinf(off))
            escape_printf(out, " %9s", "");
        else
            fprintf(out, " %+8.2f%%", off);
    }
    if (c != NULL)
        fprintf(out, " %12.6f %12.6f %12.6f", seconds(p, v, c->typical),
                seconds(p, v, c->minimum), seconds(p, v, c->maximum));
    fputc('\n', out);
}

/* The most expensive first, those without a cost by number. */
struct order {
    const struct perfex_report *report;
    const struct count_value *value;
    size_t place;
};

static int
by_cost(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    const struct cost *c = cost_of(x->report, x->value);
    const struct cost *d = cost_of(y->report, y->value);
    const double s = c ? seconds(x->report, x->value, c->typical) : -1;
    const double t = d ? seconds(y->report, y->value, d->typical) : -1;

    if (s != t)
        return s < t ? 1 : -1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int
print_rows(const struct perfex_report *p, const struct count_value *values,
           FILE *out)
{
    struct order *order = calloc(p->count->count + 1, sizeof(*order));

    if (order == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < p->count->count; i++)
        order[i] = (struct order){p, &values[i], i};
    qsort(order, p->count->count, sizeof(*order), by_cost);
    for (size_t i = 0; i < p->count->count; i++)
        print_row(p, order[i].value, out);
    free(order);
    return 0;
}

static void
print_heading(const struct perfex_report *p, FILE *out)
{
    const struct count_report *r = p->count;
    const int before = 4 + NAME_WIDTH;

    if (p->projected)
        fprintf(out, "WARNING: events take turns on the counters; totals are "
                     "projected.\n");
    escape_printf(out, "Summary for execution of %s\n", r->program);
    if (r->params != NULL && r->isa != NULL)
        escape_printf(out, "\n  Based on %.4g MHz %s, emulated\n",
                      (double)r->params[PARAM_CLOCK] * 1e-6, r->machine->title);
    fputc('\n', out);
    if (p->costs == NULL && !p->projected)
        return;
    if (p->costs != NULL)
        escape_printf(out, "%*s%*s%s %12s %12s %12s\n", before, "",
                      VALUE_WIDTH + 11, "",
                      p->projected ? "                           " : "",
                      "Typical", "Minimum", "Maximum");
    escape_printf(out, "    %-*s%*s%11s", NAME_WIDTH, "Event Counter Name",
                  VALUE_WIDTH, p->projected ? "Projected" : "Counter Value",
                  "");
    if (p->projected)
        escape_printf(out, " %*s %9s", VALUE_WIDTH, "Exact", "Off");
    if (p->costs != NULL)
        escape_printf(out, " %12s %12s %12s", "Time (sec)", "Time (sec)",
                      "Time (sec)");
    fputc('\n', out);
    const int width = before + VALUE_WIDTH + 11 +
                      (p->projected ? VALUE_WIDTH + 11 : 0) +
                      (p->costs != NULL ? 39 : 0);
    for (int i = 0; i < width; i++)
        fputc('=', out);
    fputc('\n', out);
}

/* How far the projections lie. */
static void
print_verdict(const struct perfex_report *p, FILE *out)
{
    const char *const unscaled =
        p->count->side_by_side || p->count->left_early || p->count->partial
            ? "unscaled"
            : "exact";
    size_t far = 0, compared = 0;

    for (size_t i = 0; i < p->count->count; i++) {
        const struct count_value *v = &p->count->values[i];
        compared += v->counted && v->compared;
        if (!v->counted || fabs(report_off(v)) <= PERFEX_LIMIT)
            continue;
        if (far++ == 0)
            escape_printf(out,
                          "\nProjected more than %.0f %% off the %s total:",
                          PERFEX_LIMIT, unscaled);
        escape_printf(out, "%s %s", far > 1 ? "," : "", v->name);
        if (isinf(report_off(v)))
            fprintf(out, " (none in truth)");
        else
            fprintf(out, " (%+.1f %%)", report_off(v));
    }
    if (far > 0)
        fputc('\n', out);
    else if (compared > 0)
        escape_printf(
            out, "\nAll projections are within %.0f %% of the %s totals.\n",
            PERFEX_LIMIT, unscaled);
}

/* What was not counted, by reason. */
static void
print_reasons(const struct perfex_report *p, FILE *out)
{
    const struct count_report *r = p->count;

    for (size_t i = 0; i < r->count; i++) {
        const struct count_value *v = &r->values[i];
        bool first = !v->counted && v->reason != NULL;
        for (size_t k = 0; first && k < i; k++)
            first = r->values[k].counted || r->values[k].reason == NULL ||
                    strcmp(r->values[k].reason, v->reason) != 0;
        if (!first)
            continue;
        escape_printf(out, "  %s:", v->code);
        for (size_t k = i; k < r->count; k++) {
            const struct count_value *o = &r->values[k];
            if (o->counted || o->reason == NULL ||
                strcmp(o->reason, v->reason) != 0)
                continue;
            if (o->event != NULL && o->event->number >= 0)
                fprintf(out, " %d", o->event->number);
            else
                escape_printf(out, " %s", o->name);
        }
        escape_printf(out, ": %s\n", v->reason);
    }
}

static void
print_statistics(const struct perfex_report *p, FILE *out)
{
    const struct count_report *r = p->count;

    if (r->metric_count > 0)
        fprintf(out, "\nStatistics\n=========================================="
                     "====================================\n");
    for (size_t i = 0; i < r->metric_count; i++) {
        const struct metric_row *m = r->metrics[i];
        enum fidelity fidelity;
        const double value = report_metric(r, m, NULL, &fidelity);
        if (isnan(value))
            continue;
        int n = fprintf(out, "%s", m->brief);
        for (; n < NAME_WIDTH + 4; n++)
            fputc('.', out);
        escape_printf(out, "%*.4f %s\n", VALUE_WIDTH, value, m->unit);
    }
}

/* Of the threads the model's counts, which are not projected. */
static int
print_threads(const struct perfex_report *p, FILE *out)
{
    const struct session_result *s = p->count->last;
    struct perfex_report one = *p;
    struct count_value *values = calloc(p->count->count + 1, sizeof(*values));
    int error = values == NULL ? TALLY_ENOMEM : 0;

    one.projected = false;
    for (size_t t = 0; error == 0 && t < s->thread_count; t++) {
        const struct session_thread *thread = &s->threads[t];
        escape_printf(out,
                      "\nSummary for thread %u of %s (pid %d), strand %u%s\n",
                      thread->thread, s->processes[thread->process].program,
                      s->processes[thread->process].pid, thread->strand,
                      !p->projected ? ""
                      : p->count->side_by_side || p->count->left_early ||
                              p->count->partial
                          ? ", unscaled"
                          : ", exact");
        for (size_t i = 0; i < p->count->count; i++) {
            values[i] = p->count->values[i];
            values[i].value = event_value(values[i].event, &thread->totals);
            values[i].mean = (double)values[i].value;
            values[i].fidelity = report_fidelity(p->count, values[i].event);
        }
        error = print_rows(&one, values, out);
    }
    free(values);
    return error;
}

int
report_cost_table(const struct machine_row *machine, const struct cost *costs,
                  FILE *out)
{
    escape_printf(out,
                  "# %s: event, cycles it costs typically, at least, at most\n",
                  machine->name);
    for (size_t i = 0; i < machine->event_count; i++) {
        const struct cost *c = &costs[i];
        if (c->known)
            escape_printf(out, "%-40s %8.6g %8.6g %8.6g%s%s\n",
                          machine->events[i].name, c->typical, c->minimum,
                          c->maximum, c->source ? "  # " : "",
                          c->source ? c->source : "");
    }
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}

int
report_perfex_text(const struct perfex_report *p, FILE *out)
{
    print_heading(p, out);
    int error = print_rows(p, p->count->values, out);
    if (p->projected)
        print_verdict(p, out);
    print_statistics(p, out);
    if (error == 0 && p->count->per_thread)
        error = print_threads(p, out);
    fputc('\n', out);
    print_reasons(p, out);
    for (const char *const *note = p->notes; note && *note; note++)
        escape_printf(out, "  %s\n", *note);
    if (error == 0 && p->cost_table != NULL) {
        fputc('\n', out);
        error = report_cost_table(p->count->machine, p->cost_table, out);
    }
    if (error != 0)
        return error;
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}

int
report_perfex_interval(const struct perfex_report *p, FILE *out)
{
    escape_printf(out, "Up to %.6f s%s\n", p->count->at_s,
                  p->count->machine->native ? "" : " of modelled time");
    const int error = print_rows(p, p->count->values, out);

    if (error != 0)
        return error;
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}
