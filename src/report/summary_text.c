/* SPDX-License-Identifier: MIT */
/* The form for people: a table and the metrics of each cell. */
#include "report/summary_report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/escape.h"
#include "report/count_report.h"

#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define NAME_WIDTH 22
#define CELL_TEXT 320
#define NUMBER_TEXT 40

enum { COLUMN_MEAN, COLUMN_MIN, COLUMN_P50, COLUMN_P99, COLUMN_MAX, COLUMNS };

struct line {
    char name[64];
    uint64_t count;
    char varies[24];
    char numbers[COLUMNS][NUMBER_TEXT];
    char strands[NUMBER_TEXT]; /* of all strands together */
};

/* Writes a number: from 1,000 on as a whole one, below with three places unless
 * it is whole. */
static void
number_text(double value, char *text)
{
    char plain[NUMBER_TEXT];

    if (isnan(value)) {
        strcpy(text, "-");
        return;
    }
    if (value >= 1000 && value < 1e18) {
        format_grouped((uint64_t)llround(value), text);
        return;
    }
    snprintf(plain, sizeof(plain), "%.3f", value);
    if (value == floor(value))
        plain[strcspn(plain, ".")] = '\0';
    snprintf(text, NUMBER_TEXT, "%s", plain);
}

static void
fill_line(const struct series *s, const char *name, double strands,
          struct line *l)
{
    snprintf(l->name, sizeof(l->name), "%s", name);
    l->count = s->count;
    snprintf(l->varies, sizeof(l->varies), "%.1f %%",
             s->mean > 0 ? 100 * series_deviation(s) / s->mean : 0);
    number_text(s->mean, l->numbers[COLUMN_MEAN]);
    format_grouped(s->min, l->numbers[COLUMN_MIN]);
    format_grouped(series_percentile(s, 50), l->numbers[COLUMN_P50]);
    format_grouped(series_percentile(s, 99), l->numbers[COLUMN_P99]);
    format_grouped(s->max, l->numbers[COLUMN_MAX]);
    number_text(strands, l->strands);
}

struct widths {
    int name, count, numbers[COLUMNS], strands;
};

static void
widen(int *width, const char *text)
{
    const int length = (int)strlen(text);

    *width = length > *width ? length : *width;
}

static const char *const headings[COLUMNS] = {"mean", "min", "median", "p99",
                                              "max"};

static void
print_line(const struct line *l, const struct widths *w, FILE *out)
{
    escape_printf(out, "  %-*s %*" PRIu64 "  %*s %9s", w->name, l->name,
                  w->count, l->count, w->numbers[COLUMN_MEAN],
                  l->numbers[COLUMN_MEAN], l->varies);
    for (int i = COLUMN_MIN; i < COLUMNS; i++)
        fprintf(out, "  %*s", w->numbers[i], l->numbers[i]);
    if (w->strands > 0)
        fprintf(out, "  %*s", w->strands, l->strands);
    fprintf(out, "\n");
}

/* Called with each line of a cell's table. */
typedef void (*line_fn)(void *user, const struct line *line);

static void
for_each_line(const struct summary_view *v, line_fn take, void *user)
{
    const struct summary_cell *cell = v->cell;
    struct line l;
    char name[64];

    fill_line(&cell->cycles, "cycles", v->cycles, &l);
    take(user, &l);
    for (size_t i = 0; i < cell->event_count; i++) {
        const struct summary_event *e = &cell->events[i];
        if (e->series.count == 0)
            continue;
        fill_line(&e->series, summary_event_name(e),
                  e->event != NULL ? summary_view_event(v, e->event)
                                   : (double)NAN,
                  &l);
        take(user, &l);
    }
    for (size_t i = 0; i < cell->word_count; i++) {
        snprintf(name, sizeof(name), "user word %zu", i + 1);
        fill_line(&cell->words[i], name, summary_view_word(v, i), &l);
        if (cell->words[i].count > 0)
            take(user, &l);
    }
    if (cell->gaps.count > 0) {
        fill_line(&cell->gaps, "between intervals", (double)NAN, &l);
        take(user, &l);
    }
}

static void
measure_line(void *user, const struct line *l)
{
    struct widths *w = user;
    char count[24];

    snprintf(count, sizeof(count), "%" PRIu64, l->count);
    widen(&w->name, l->name);
    widen(&w->count, count);
    for (int i = 0; i < COLUMNS; i++)
        widen(&w->numbers[i], l->numbers[i]);
    if (w->strands > 0)
        widen(&w->strands, l->strands);
}

struct printer {
    struct widths widths;
    FILE *out;
};

static void
print_each(void *user, const struct line *l)
{
    const struct printer *p = user;

    print_line(l, &p->widths, p->out);
}

static void
print_table(const struct summary_view *v, FILE *out)
{
    struct printer p = {.out = out};

    if (summary_view_strands(v) > 0)
        widen(&p.widths.strands, "together");
    for (int i = 0; i < COLUMNS; i++)
        widen(&p.widths.numbers[i], headings[i]);
    for_each_line(v, measure_line, &p.widths);
    const struct widths *const w = &p.widths;
    fprintf(out, "  %-*s %*s  %*s %9s", w->name, "", w->count, "n",
            w->numbers[COLUMN_MEAN], headings[COLUMN_MEAN], "+-");
    for (int i = COLUMN_MIN; i < COLUMNS; i++)
        fprintf(out, "  %*s", w->numbers[i], headings[i]);
    if (w->strands > 0)
        fprintf(out, "  %*s", w->strands, "together");
    fprintf(out, "\n");
    for_each_line(v, print_each, &p);
}

static void
print_metrics(const struct summary_view *v, FILE *out)
{
    const struct summary_report *r = v->report;
    const struct metric_row *m;

    for (size_t i = 0; (m = summary_metric(r, i)) != NULL; i++) {
        const double value = summary_view_metric(v, m);
        const struct summary_lack lack = summary_view_lack(v, m);
        if (isnan(value) && r->metrics == NULL)
            continue;
        if (!isnan(value)) {
            fprintf(out, "  %-*s %15.9g  %s", NAME_WIDTH + 8, m->name, value,
                    m->unit);
            /* Of a kind of miss, also its share of an instruction's cycles. */
            const struct metric_row *cpi =
                metric_find(r->summary->machine, "cpi");
            const double all =
                cpi != NULL ? summary_view_metric(v, cpi) : (double)NAN;
            if (strstr(m->name, "_miss_cpi") != NULL && !isnan(all))
                fprintf(out, ", %.1f %% of cpi", 100 * value / all);
            fprintf(out, "\n");
            continue;
        }
        fprintf(out, "  %-*s %15s  %s%s\n", NAME_WIDTH + 8, m->name, "-",
                lack.event != NULL   ? "not counted: "
                : lack.input != NULL ? "not known: "
                                     : "divides by 0",
                lack.event != NULL   ? lack.event->name
                : lack.input != NULL ? lack.input->name
                                     : "");
    }
}

/* Returns whether a metric lacks this input only. */
static bool
is_wanted(const struct summary_report *r, const struct input_row *input)
{
    const struct metric_row *m;

    for (size_t c = 0; c < r->summary->cell_count; c++) {
        const struct summary_view v = summary_view(r, r->summary->cells[c]);
        for (size_t i = 0; (m = summary_metric(r, i)) != NULL; i++) {
            const struct summary_lack lack = summary_view_lack(&v, m);
            if (lack.event == NULL && lack.input == input)
                return true;
        }
        if (c == 16) /* the others will be alike */
            break;
    }
    return false;
}

static void
print_inputs(const struct summary_report *r, FILE *out)
{
    const struct machine_row *m = r->summary->machine;
    const char *before = "assumed of the machine's model: ";
    const struct metric_row *metric;
    uint64_t used = 0; /* bits: inputs of the metrics that are shown */

    for (size_t i = 0; (metric = summary_metric(r, i)) != NULL; i++)
        used |= metric_inputs(metric);
    for (size_t i = 0; i < m->input_count && i < SUMMARY_INPUTS; i++)
        if (r->inputs[i].source == SUMMARY_MODEL && (used >> i & 1) != 0) {
            fprintf(out, "%s%s = %.9g", before, m->inputs[i].name,
                    r->inputs[i].number);
            before = ", ";
        }
    if (*before == ',')
        fprintf(out, "\n");
    before = "more metrics with ";
    for (size_t i = 0; i < m->input_count && i < SUMMARY_INPUTS; i++)
        if (i != INPUT_INTERVAL && is_wanted(r, &m->inputs[i])) {
            if (i == INPUT_CLOCK)
                fprintf(out, "%s--freq HZ", before);
            else
                fprintf(out, "%s--input %s=...", before, m->inputs[i].name);
            before = ", ";
        }
    if (*before == ',')
        fprintf(out, "\n");
}

static void
print_cell(const struct summary_report *r, const struct summary_cell *cell,
           FILE *out)
{
    const struct summary_view v = summary_view(r, cell);
    const size_t strands = summary_view_strands(&v);
    char text[CELL_TEXT];

    summary_cell_text(r, cell, text, sizeof(text));
    fprintf(out, "\n%s", r->color ? BOLD : "");
    escape_printf(out, "%s", text);
    fprintf(out, "%s: %" PRIu64 " interval%s", r->color ? PLAIN : "",
            cell->cycles.count, cell->cycles.count == 1 ? "" : "s");
    if (strands > 0)
        fprintf(out, " of %zu strand%s", strands, strands == 1 ? "" : "s");
    fprintf(out, "\n");
    print_table(&v, out);
    print_metrics(&v, out);
}

int
summary_report_text(const struct summary_report *r, FILE *out)
{
    const struct summary *s = r->summary;

    if (s->machine == NULL)
        return 0;
    fprintf(out,
            "%s%s: %" PRIu64 " interval%s of %zu thread%s, from %" PRIu64
            " dump%s\n",
            s->machine->name, s->guessed ? " (-m names another)" : "",
            s->intervals, s->intervals == 1 ? "" : "s", s->thread_count,
            s->thread_count == 1 ? "" : "s", s->dumps,
            s->dumps == 1 ? "" : "s");
    if (s->skipped > 0)
        fprintf(out, "%" PRIu64 " more left out as warm-up\n", s->skipped);
    for (size_t i = 0; i < s->cell_count; i++)
        print_cell(r, s->cells[i], out);
    fprintf(out, "\n");
    print_inputs(r, out);
    return ferror(out) ? TALLY_EIO : 0;
}
