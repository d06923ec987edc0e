/* SPDX-License-Identifier: MIT */
#include "report/summary_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Members are sorted by cpu, so those of a core follow each other. */
struct summary_view
summary_view(const struct summary_report *report,
             const struct summary_cell *cell)
{
    const struct summary *s = report->summary;
    const bool by_core = (s->options.by & SUMMARY_BY_CORE) != 0;
    struct summary_view v = {.report = report, .cell = cell};
    double sum = 0;

    for (size_t i = 0; i < s->member_count; i++) {
        const uint64_t cpu = s->members[i]->place;
        if ((s->options.by & SUMMARY_BY_REGION) != 0 ||
            (by_core ? summary_core(s, cpu) : 0) != cell->place)
            continue;
        if (v.end == 0)
            v.first = i;
        v.end = i + 1;
        sum += s->members[i]->cycles.mean;
    }
    v.cycles = v.end > 0 ? sum / (double)(v.end - v.first) : cell->cycles.mean;
    return v;
}

size_t
summary_view_strands(const struct summary_view *v)
{
    return v->end - v->first;
}

/* Returns the mean of an event, or if that is NULL of a word; NAN: none. */
static double
mean_of(const struct summary_cell *cell, const struct event_row *event,
        size_t word)
{
    if (event == NULL)
        return word < cell->word_count && cell->words[word].count > 0
                   ? cell->words[word].mean
                   : (double)NAN;
    for (size_t i = 0; i < cell->event_count; i++)
        if (cell->events[i].event == event && cell->events[i].series.count > 0)
            return cell->events[i].series.mean;
    return (double)NAN;
}

/* Returns the mean of an event or a word in a view. The strands of a core add
 * up for the same cycles; strands that did not count the event add nothing. */
static double
value_of(const struct summary_view *v, const struct event_row *event,
         size_t word)
{
    const struct summary *s = v->report->summary;
    double sum = 0;
    bool known = false;

    if (v->first == v->end)
        return mean_of(v->cell, event, word);
    for (size_t i = v->first; i < v->end; i++) {
        const double mean = mean_of(s->members[i], event, word);
        const double cycles = s->members[i]->cycles.mean;
        if (isnan(mean))
            continue;
        known = true;
        sum += cycles > 0 ? mean * v->cycles / cycles : mean;
    }
    return known ? sum : (double)NAN;
}

double
summary_view_event(const struct summary_view *v, const struct event_row *event)
{
    const double value = value_of(v, event, 0);

    /* Without an event of cycles the time of the calls tells them. */
    return isnan(value) && event->signal_count == 1 &&
                   event->signals[0] == SIGNAL_CYCLES
               ? v->cycles
               : value;
}

double
summary_view_word(const struct summary_view *v, size_t word)
{
    return value_of(v, NULL, word);
}

static double
count_of(void *user, const struct formula_step *step)
{
    const struct summary_view *v = user;

    return summary_view_event(
        v, metric_counted(v->report->summary->machine, step));
}

static double
input_of(void *user, size_t input)
{
    const struct summary_view *v = user;
    const struct summary_input *in = &v->report->inputs[input];

    if (input == INPUT_INTERVAL)
        return v->cycles / input_of(user, INPUT_CLOCK);
    if (input >= SUMMARY_INPUTS || in->source == SUMMARY_NO_INPUT)
        return (double)NAN;
    return in->source == SUMMARY_WORD ? summary_view_word(v, in->word)
                                      : in->number;
}

double
summary_view_metric(const struct summary_view *view,
                    const struct metric_row *metric)
{
    struct summary_view v = *view;

    return metric_value(metric, count_of, input_of, &v);
}

struct summary_lack
summary_view_lack(const struct summary_view *view,
                  const struct metric_row *metric)
{
    const struct machine_row *m = view->report->summary->machine;
    struct summary_lack lack = {0};
    struct summary_view v = *view;

    for (size_t i = 0; i < metric->step_count; i++) {
        const struct formula_step *s = &metric->steps[i];
        if (s->kind == FORMULA_EVENT && lack.event == NULL &&
            isnan(summary_view_event(view, metric_counted(m, s))))
            lack.event = metric_counted(m, s);
        if (s->kind == FORMULA_INPUT && lack.input == NULL &&
            isnan(input_of(&v, s->row)))
            lack.input =
                &m->inputs[s->row == INPUT_INTERVAL ? INPUT_CLOCK : s->row];
    }
    return lack;
}

const struct metric_row *
summary_metric(const struct summary_report *r, size_t n)
{
    if (r->metrics != NULL)
        return n < r->metric_count ? r->metrics[n] : NULL;
    if (r->summary->machine == NULL || n >= r->summary->machine->metric_count)
        return NULL;
    return &r->summary->machine->metrics[n];
}

const char *
summary_event_name(const struct summary_event *event)
{
    static _Thread_local char code[24];

    if (event->event != NULL)
        return event->event->name;
    if (event->name != NULL)
        return event->name;
    snprintf(code, sizeof(code), "0x%" PRIx64, event->code);
    return code;
}

void
summary_caller_text(const struct summary_report *r, uint64_t caller, char *text,
                    size_t size)
{
    const char *place = call_table_find(r->calls, caller);

    if (place != NULL)
        snprintf(text, size, "%s", place);
    else
        snprintf(text, size, "id %" PRIx64, caller);
}

void
summary_cell_text(const struct summary_report *r,
                  const struct summary_cell *cell, char *text, size_t size)
{
    const unsigned by = r->summary->options.by;
    char start[128], update[128];
    int used = 0;

    if ((by & SUMMARY_BY_THREAD) != 0)
        used = snprintf(text, size, "cpu %" PRIu64, cell->place);
    else if ((by & SUMMARY_BY_CORE) != 0)
        used = snprintf(text, size, "core %" PRIu64, cell->place);
    else if ((by & SUMMARY_BY_REGION) == 0)
        used = snprintf(text, size, "all");
    if ((by & SUMMARY_BY_REGION) == 0 || used < 0 || (size_t)used >= size)
        return;
    summary_caller_text(r, cell->start_caller, start, sizeof(start));
    summary_caller_text(r, cell->update_caller, update, sizeof(update));
    snprintf(text + used, size - (size_t)used, "%s%s to %s",
             used > 0 ? ", " : "", start, update);
}

static void
most_varied(const struct series *s, const char *name, double *most,
            const char **most_name)
{
    const double varies =
        s->mean >= 1000 ? 100 * series_deviation(s) / s->mean : 0;

    if (varies > *most) {
        *most = varies;
        *most_name = name;
    }
}

double
summary_cell_varies(const struct summary_cell *cell, const char **name)
{
    double most = 0;

    *name = "";
    most_varied(&cell->cycles, "cycles", &most, name);
    for (size_t i = 0; i < cell->event_count; i++)
        if (cell->events[i].event != NULL)
            most_varied(&cell->events[i].series, cell->events[i].event->name,
                        &most, name);
    return most;
}
