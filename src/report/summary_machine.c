/* SPDX-License-Identifier: MIT */
/* The forms for scripts: CSV and JSON, schema 1; always in the C locale. */
#include "report/csv.h"
#include "report/json_text.h"
#include "report/summary_json.h"

#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <string.h>

static const double percents[] = {50, 90, 95, 99};
#define PERCENTS (sizeof(percents) / sizeof(*percents))

/* A series of a cell with its name and kind. */
struct item {
    const char *kind; /* "cycles", "event", "user", "gap" */
    const char *name;
    const char *asked; /* the name that the event was asked for by, or NULL */
    const uint64_t *code; /* of an event in dumps, else NULL */
    const struct series *series;
    double together; /* sum of the strands; NAN: none */
};

typedef int (*item_fn)(void *user, const struct item *item);

static int
for_each_item(const struct summary_view *v, item_fn take, void *user)
{
    const struct summary_cell *c = v->cell;
    const bool strands = summary_view_strands(v) > 0;
    struct item item = {.kind = "cycles",
                        .name = "cycles",
                        .series = &c->cycles,
                        .together = strands ? v->cycles : (double)NAN};
    int error = take(user, &item);
    char name[32];

    for (size_t i = 0; i < c->event_count && error == 0; i++) {
        const struct summary_event *e = &c->events[i];
        item = (struct item){.kind = "event",
                             .name = summary_event_name(e),
                             .asked = e->asked,
                             .code = &e->code,
                             .series = &e->series,
                             .together = strands && e->event != NULL
                                             ? summary_view_event(v, e->event)
                                             : (double)NAN};
        error = take(user, &item);
    }
    for (size_t i = 0; i < c->word_count && error == 0; i++) {
        snprintf(name, sizeof(name), "user%zu", i + 1);
        item = (struct item){.kind = "user",
                             .name = name,
                             .series = &c->words[i],
                             .together = strands ? summary_view_word(v, i)
                                                 : (double)NAN};
        error = take(user, &item);
    }
    item = (struct item){.kind = "gap",
                         .name = "between",
                         .series = &c->gaps,
                         .together = (double)NAN};
    return error == 0 && c->gaps.count > 0 ? take(user, &item) : error;
}

/* A cell's first columns. */
struct csv {
    const struct summary_report *report;
    const struct summary_cell *cell;
    FILE *out;
};

static void
csv_place(const struct csv *c)
{
    const unsigned by = c->report->summary->options.by;
    char text[160];

    if ((by & (SUMMARY_BY_THREAD | SUMMARY_BY_CORE)) != 0)
        fprintf(c->out, "%" PRIu64 ",", c->cell->place);
    if ((by & SUMMARY_BY_REGION) == 0)
        return;
    summary_caller_text(c->report, c->cell->start_caller, text, sizeof(text));
    report_csv_text(text, ',', c->out);
    fputc(',', c->out);
    summary_caller_text(c->report, c->cell->update_caller, text, sizeof(text));
    report_csv_text(text, ',', c->out);
    fputc(',', c->out);
}

static int
csv_item(void *user, const struct item *item)
{
    const struct csv *c = user;
    const struct series *s = item->series;

    if (s->count == 0)
        return 0;
    csv_place(c);
    fprintf(c->out, "%s,", item->kind);
    report_csv_text(item->name, ',', c->out);
    fprintf(c->out, ",%" PRIu64 ",%.9g,%.9g,%" PRIu64, s->count, s->mean,
            series_deviation(s), s->min);
    for (size_t i = 0; i < PERCENTS; i++)
        fprintf(c->out, ",%" PRIu64, series_percentile(s, percents[i]));
    fprintf(c->out, ",%" PRIu64 ",", s->max);
    if (!isnan(item->together))
        fprintf(c->out, "%.9g", item->together);
    fprintf(c->out, ",,");
    report_csv_text(item->asked != NULL ? item->asked : "", ',', c->out);
    fprintf(c->out, "\n");
    return 0;
}

static void
csv_metrics(const struct csv *c, const struct summary_view *v)
{
    const struct metric_row *m;

    for (size_t i = 0; (m = summary_metric(c->report, i)) != NULL; i++) {
        const double value = summary_view_metric(v, m);
        if (isnan(value))
            continue;
        csv_place(c);
        fprintf(c->out, "metric,%s,,%.9g,,,,,,,,,", m->name, value);
        report_csv_text(m->unit, ',', c->out);
        fprintf(c->out, ",\n");
    }
}

static int
print_csv(const struct summary_report *r, FILE *out)
{
    const struct summary *s = r->summary;
    const unsigned by = s->options.by;

    fprintf(out,
            "%s%skind,name,n,mean,deviation,min,p50,p90,p95,p99,max,"
            "together,unit,asked\n",
            (by & SUMMARY_BY_THREAD) != 0 ? "cpu,"
            : (by & SUMMARY_BY_CORE) != 0 ? "core,"
                                          : "",
            (by & SUMMARY_BY_REGION) != 0 ? "start,update," : "");
    for (size_t i = 0; i < s->cell_count; i++) {
        const struct summary_view v = summary_view(r, s->cells[i]);
        struct csv c = {r, s->cells[i], out};
        for_each_item(&v, csv_item, &c);
        csv_metrics(&c, &v);
    }
    return 0;
}

/* Runs in the C locale, whatever the caller's is. */
static int
in_c_locale(int (*print)(const struct summary_report *r, FILE *out),
            const struct summary_report *r, FILE *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (c == (locale_t)0)
        return TALLY_ENOMEM;
    locale_t before = uselocale(c);
    const int error = print(r, out);
    uselocale(before);
    freelocale(c);
    return error != 0 || ferror(out) ? TALLY_EIO : 0;
}

int
summary_report_csv(const struct summary_report *r, FILE *out)
{
    return in_c_locale(print_csv, r, out);
}

/* Returns the count, beyond 2^63 as the nearest real number. */
static json_t *
count_json(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value)
                              : json_real((double)value);
}

/* Returns the histogram: how many values lie in each of equal parts of the
 * range. */
static json_t *
bins_json(const struct series *s)
{
    const double range = (double)(s->max - s->min) + 1;
    uint64_t bins[SUMMARY_BINS] = {0};
    json_t *rows = json_array();

    for (uint32_t i = 0; i < s->used; i++) {
        const uint64_t value = s->entries[i].value;
        const double off = value > s->min ? (double)(value - s->min) : 0;
        const size_t bin = (size_t)(off / range * SUMMARY_BINS);
        bins[bin < SUMMARY_BINS ? bin : SUMMARY_BINS - 1] +=
            s->entries[i].count;
    }
    for (size_t i = 0; i < SUMMARY_BINS; i++)
        json_array_append_new(rows, count_json(bins[i]));
    return rows;
}

struct json_items {
    json_t *rows;
    bool bins;
};

static int
json_item(void *user, const struct item *item)
{
    const struct json_items *items = user;
    const struct series *s = item->series;
    json_t *o =
        json_pack("{sssosI}", "kind", item->kind, "name",
                  report_json_text(item->name), "n", (json_int_t)s->count);
    char name[8], code[24];

    if (item->code != NULL) {
        snprintf(code, sizeof(code), "0x%" PRIx64, *item->code);
        json_object_set_new(o, "code", json_string(code));
    }
    if (item->asked != NULL)
        json_object_set_new(o, "asked", report_json_text(item->asked));

    json_array_append_new(items->rows, o);
    if (s->count == 0)
        return 0;
    json_object_set_new(o, "mean", json_real(s->mean));
    json_object_set_new(o, "deviation", json_real(series_deviation(s)));
    json_object_set_new(o, "min", count_json(s->min));
    for (size_t i = 0; i < PERCENTS; i++) {
        snprintf(name, sizeof(name), "p%.0f", percents[i]);
        json_object_set_new(o, name,
                            count_json(series_percentile(s, percents[i])));
    }
    json_object_set_new(o, "max", count_json(s->max));
    json_object_set_new(o, "percentile_rank_error", json_real(series_error(s)));
    if (!isnan(item->together))
        json_object_set_new(o, "together", json_real(item->together));
    if (items->bins)
        json_object_set_new(o, "bins", bins_json(s));
    return 0;
}

static json_t *
metrics_json(const struct summary_view *v)
{
    json_t *rows = json_array();
    const struct metric_row *m;

    for (size_t i = 0; (m = summary_metric(v->report, i)) != NULL; i++) {
        const double value = summary_view_metric(v, m);
        const struct summary_lack lack = summary_view_lack(v, m);
        json_t *o = json_pack("{ssss}", "name", m->name, "unit", m->unit);
        json_object_set_new(o, "value",
                            isnan(value) ? json_null() : json_real(value));
        if (lack.event != NULL)
            json_object_set_new(o, "not_counted",
                                json_string(lack.event->name));
        else if (lack.input != NULL)
            json_object_set_new(o, "not_known", json_string(lack.input->name));
        json_array_append_new(rows, o);
    }
    return rows;
}

static json_t *
call_json(const struct summary_report *r, uint64_t caller, uint64_t pc)
{
    const char *place = call_table_find(r->calls, caller);
    char id[24], address[24];

    snprintf(id, sizeof(id), "0x%" PRIx64, caller);
    snprintf(address, sizeof(address), "0x%" PRIx64, pc);
    return json_pack("{ssssso}", "id", id, "pc", address, "place",
                     place != NULL ? report_json_text(place) : json_null());
}

static json_t *
cell_json(const struct summary_report *r, const struct summary_cell *cell,
          bool bins)
{
    const unsigned by = r->summary->options.by;
    const struct summary_view v = summary_view(r, cell);
    json_t *o = json_object(), *series = json_array();
    struct json_items items = {series, bins};
    const char *name;

    if ((by & SUMMARY_BY_THREAD) != 0)
        json_object_set_new(o, "cpu", count_json(cell->place));
    else if ((by & SUMMARY_BY_CORE) != 0)
        json_object_set_new(o, "core", count_json(cell->place));
    if ((by & SUMMARY_BY_REGION) != 0) {
        json_object_set_new(o, "start",
                            call_json(r, cell->start_caller, cell->start_pc));
        json_object_set_new(o, "update",
                            call_json(r, cell->update_caller, cell->update_pc));
    }
    if (summary_view_strands(&v) > 0)
        json_object_set_new(o, "strands",
                            json_integer((json_int_t)summary_view_strands(&v)));
    json_object_set_new(o, "intervals",
                        json_integer((json_int_t)cell->cycles.count));
    json_object_set_new(
        o, "steady",
        json_boolean(summary_cell_varies(cell, &name) <= SUMMARY_STEADY));
    for_each_item(&v, json_item, &items);
    json_object_set_new(o, "series", series);
    json_object_set_new(o, "metrics", metrics_json(&v));
    return o;
}

static json_t *
troubles_json(const struct dump_troubles *troubles)
{
    json_t *rows = json_array();

    for (int i = 0; i < DUMP_TROUBLES; i++) {
        const struct dump_place *p = &troubles->places[i];
        const enum dump_trouble what = (enum dump_trouble)i;
        if (p->count > 0)
            json_array_append_new(
                rows,
                json_pack("{sssIsosIsbss}", "what", dump_trouble_name(what),
                          "count", (json_int_t)p->count, "file",
                          report_json_text(p->file), "line",
                          (json_int_t)p->line, "skipped",
                          dump_trouble_skips(what), "text",
                          dump_trouble_text(what, p->count > 1)));
    }
    return rows;
}

static json_t *
inputs_json(const struct summary_report *r)
{
    static const char *const sources[] = {
        [SUMMARY_NUMBER] = "given",
        [SUMMARY_MODEL] = "assumed",
        [SUMMARY_WORD] = "user word",
    };
    const struct machine_row *m = r->summary->machine;
    json_t *rows = json_array();

    for (size_t i = 0; m != NULL && i < m->input_count && i < SUMMARY_INPUTS;
         i++) {
        const struct summary_input *in = &r->inputs[i];
        if (in->source == SUMMARY_NO_INPUT)
            continue;
        json_t *o = json_pack("{ssss}", "name", m->inputs[i].name, "source",
                              sources[in->source]);
        if (in->source == SUMMARY_WORD)
            json_object_set_new(o, "word",
                                json_integer((json_int_t)in->word + 1));
        else
            json_object_set_new(o, "value", json_real(in->number));
        json_array_append_new(rows, o);
    }
    return rows;
}

json_t *
summary_json(const struct summary_report *r, bool bins)
{
    const struct summary *s = r->summary;
    json_t *o = json_object(), *cells = json_array();

    json_object_set_new(o, "schema", json_integer(1));
    json_object_set_new(o, "machine",
                        s->machine != NULL ? json_string(s->machine->name)
                                           : json_null());
    json_object_set_new(o, "dumps", json_integer((json_int_t)s->dumps));
    json_object_set_new(o, "records", json_integer((json_int_t)s->records));
    json_object_set_new(o, "intervals", json_integer((json_int_t)s->intervals));
    json_object_set_new(o, "skipped", json_integer((json_int_t)s->skipped));
    json_object_set_new(o, "inputs", inputs_json(r));
    json_object_set_new(o, "troubles", troubles_json(&s->troubles));
    for (size_t i = 0; i < s->cell_count; i++)
        json_array_append_new(cells, cell_json(r, s->cells[i], bins));
    json_object_set_new(o, "cells", cells);
    return o;
}

static int
json_document(const struct summary_report *r, FILE *out)
{
    json_t *o = summary_json(r, false);
    const int written =
        json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));

    json_decref(o);
    fputc('\n', out);
    return written;
}

int
summary_report_json(const struct summary_report *r, FILE *out)
{
    return in_c_locale(json_document, r, out);
}
