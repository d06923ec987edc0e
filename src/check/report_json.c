/* SPDX-License-Identifier: MIT */
/* Forms in JSON. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/report.h"
#include "report/json_text.h"

#define SCHEMA 1

static json_t *
text_or_null(const char *text)
{
    return text != NULL ? report_json_text(text) : json_null();
}

/* JSON has neither NaN nor infinity. */
static json_t *
real_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *
make_range(const struct check_range *r)
{
    return json_pack("{s:o, s:o, s:o}", "median", report_json_number(r->median),
                     "least", report_json_number(r->least), "most",
                     report_json_number(r->most));
}

static json_t *
make_measure(const struct check_measure *m)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:s}", "name",
        report_json_text(m->name), "now", make_range(&m->now), "baseline",
        m->compared ? make_range(&m->before) : json_null(), "change_percent",
        m->compared ? real_or_null(m->change) : json_null(), "strings_percent",
        m->compared ? real_or_null(m->strings) : json_null(), "soft_percent",
        real_or_null(m->soft), "hard_percent", real_or_null(m->hard), "verdict",
        check_verdict_name(m->verdict));
}

static json_t *
make_function(const struct check_function *f)
{
    return json_pack(
        "{s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
        report_json_text(f->name), "image", report_json_text(f->image), "new",
        f->is_new, "gone", f->is_gone, "instructions",
        report_json_number(f->instructions), "instructions_baseline",
        report_json_number(f->instructions_before), "cost",
        report_json_number(f->cost), "cost_baseline",
        report_json_number(f->cost_before), "calls",
        report_json_number(f->calls), "calls_baseline",
        report_json_number(f->calls_before));
}

static json_t *
make_result(const struct check_result *r)
{
    json_t *const measures = json_array(), *const functions = json_array();
    json_t *const notes = json_array();
    const bool split = r->cause != CHECK_NO_CAUSE;

    for (size_t i = 0; i < r->measure_count; i++)
        json_array_append_new(measures, make_measure(&r->measures[i]));
    for (size_t i = 0; i < r->function_count; i++)
        json_array_append_new(functions, make_function(&r->functions[i]));
    for (size_t i = 0; i < r->note_count; i++)
        json_array_append_new(notes, report_json_text(r->notes[i]));
    return json_pack(
        "{s:o, s:o, s:o, s:s, s:o, s:i, s:f, s:s, s:o, s:o, s:o, s:o, s:o}",
        "benchmark", report_json_text(r->benchmark), "machine",
        text_or_null(r->machine), "key", text_or_null(r->key), "status",
        check_status_name(r->status), "reason", text_or_null(r->reason),
        "layouts", (int)r->layouts, "host_seconds", r->seconds, "cause",
        check_cause_name(r->cause), "work_percent",
        split ? real_or_null(r->work) : json_null(), "places_percent",
        split ? real_or_null(r->places) : json_null(), "measures", measures,
        "functions", functions, "notes", notes);
}

/* Writes a document and lets it go; NULL: no memory. */
static int
write_document(json_t *document, FILE *out)
{
    char *const text =
        document != NULL
            ? json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(15))
            : NULL;

    json_decref(document);
    if (text == NULL)
        return TALLY_ENOMEM;
    fprintf(out, "%s\n", text);
    free(text);
    return ferror(out) ? TALLY_EIO : 0;
}

int
check_write_json(const struct check_report *report, FILE *out)
{
    json_t *const results = json_array();

    for (size_t i = 0; i < report->result_count; i++)
        json_array_append_new(results, make_result(&report->results[i]));
    return write_document(json_pack("{s:i, s:o, s:o, s:o, s:o, s:b, s:o}",
                                    "schema", SCHEMA, "tally",
                                    text_or_null(report->version), "time",
                                    text_or_null(report->time), "settings",
                                    text_or_null(report->settings), "baseline",
                                    text_or_null(report->baseline), "updated",
                                    report->updated, "results", results),
                          out);
}

/* Returns "BENCHMARK MEASURE" as JSON. */
static json_t *
make_name(const struct check_result *r, const struct check_measure *m)
{
    char *text = NULL;

    if (asprintf(&text, "%s %s", r->benchmark, m->name) < 0)
        return NULL;
    json_t *const json = report_json_text(text);
    free(text);
    return json;
}

static bool
has_measures(const struct check_result *r)
{
    return r->status != CHECK_FAILED && r->status != CHECK_VARIES;
}

static json_t *
make_action(const struct check_result *r, const struct check_measure *m)
{
    const uint64_t half = (m->now.most - m->now.least + 1) / 2;
    char range[32];

    snprintf(range, sizeof(range), "%" PRIu64, half);
    return json_pack("{s:o, s:s, s:o, s:s, s:o}", "name", make_name(r, m),
                     "unit", strcmp(m->name, "cost") == 0 ? "cycles" : "events",
                     "value", report_json_number(m->now.median), "range", range,
                     "extra", text_or_null(r->key));
}

int
check_write_action(const struct check_report *report, FILE *out)
{
    json_t *const list = json_array();

    for (size_t i = 0; i < report->result_count; i++) {
        const struct check_result *const r = &report->results[i];
        for (size_t k = 0; has_measures(r) && k < r->measure_count; k++)
            json_array_append_new(list, make_action(r, &r->measures[k]));
    }
    return write_document(list, out);
}

int
check_write_bencher(const struct check_report *report, FILE *out)
{
    json_t *const all = json_object();

    for (size_t i = 0; i < report->result_count; i++) {
        const struct check_result *const r = &report->results[i];
        json_t *const measures = json_object();
        for (size_t k = 0; has_measures(r) && k < r->measure_count; k++) {
            const struct check_measure *const m = &r->measures[k];
            json_t *const name = report_json_text(m->name);
            json_object_set_new(
                measures, json_string_value(name),
                json_pack("{s:o, s:o, s:o}", "value",
                          report_json_number(m->now.median), "lower_value",
                          report_json_number(m->now.least), "upper_value",
                          report_json_number(m->now.most)));
            json_decref(name);
        }
        json_t *const name = report_json_text(r->benchmark);
        if (json_object_size(measures) > 0)
            json_object_set_new(all, json_string_value(name), measures);
        else
            json_decref(measures);
        json_decref(name);
    }
    return write_document(all, out);
}
