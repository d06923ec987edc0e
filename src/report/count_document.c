/* SPDX-License-Identifier: MIT */
#include "report/count_document.h"

#include <ctype.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEMA 1

struct reading {
    struct count_document *document;
    const struct tally_log *log;
};

static int
bad(const struct reading *r, const char *what)
{
    return tally_fail(r->log, TALLY_ESYNTAX, "%s: %s", r->document->path, what);
}

static int
no_memory(const struct reading *r)
{
    return tally_fail(r->log, TALLY_ENOMEM, "%s: no memory for the report",
                      r->document->path);
}

/* Copies a member that is text; it becomes NULL where there is none. False: no
 * memory. */
static bool
copy(const json_t *object, const char *key, char **text)
{
    const char *value = json_string_value(json_object_get(object, key));

    *text = value != NULL ? strdup(value) : NULL;
    return value == NULL || *text != NULL;
}

/* Does the same, but without the member the text is `otherwise`. */
static bool
copy_or(const json_t *object, const char *key, const char *otherwise,
        char **text)
{
    const char *value = json_string_value(json_object_get(object, key));

    *text = strdup(value != NULL ? value : otherwise);
    return *text != NULL;
}

/* Reads a number or null; false: it is neither. */
static bool
read_number(const json_t *value, struct count_number *number)
{
    *number = (struct count_number){
        .known = json_is_number(value),
        .whole = json_is_integer(value),
        .count = json_integer_value(value),
        .real = json_number_value(value),
    };
    return number->known || json_is_null(value);
}

/* Reads what -r adds to an event. */
static void
read_spread(const json_t *event, struct count_row *row)
{
    const json_int_t runs = json_integer_value(json_object_get(event, "runs"));

    row->runs = 1;
    row->mean = row->value.real;
    if (!row->value.known || runs < 2 || runs > INT32_MAX)
        return;
    row->runs = (unsigned)runs;
    if (json_is_number(json_object_get(event, "mean")))
        row->mean = json_number_value(json_object_get(event, "mean"));
    row->stddev = json_number_value(json_object_get(event, "stddev"));
    row->stddev = row->stddev < 0 ? 0 : row->stddev;
}

static int
read_row(const struct reading *r, const json_t *o, const char *kind,
         struct count_row *row)
{
    const char *name = json_string_value(json_object_get(o, "name"));
    char what[64];

    if (name == NULL ||
        !read_number(json_object_get(o, "value"), &row->value)) {
        snprintf(what, sizeof(what), "has %s without a name and a value", kind);
        return bad(r, what);
    }
    if (!copy(o, "name", &row->name) ||
        !copy_or(o, "asked", name, &row->asked) ||
        !copy_or(o, "unit", "", &row->unit) ||
        !copy_or(o, "fidelity", "", &row->standing) ||
        !copy(o, "code", &row->code) || !copy(o, "reason", &row->reason))
        return no_memory(r);
    read_number(json_object_get(o, "in_mpi"), &row->in_mpi);
    read_spread(o, row);
    return 0;
}

/* Reads an array of events or metrics, which may be missing. */
static int
read_rows(const struct reading *r, const json_t *array, const char *kind,
          struct count_row **rows, size_t *count)
{
    int error = 0;

    *rows = calloc(json_array_size(array) + 1, sizeof(**rows));
    if (*rows == NULL)
        return no_memory(r);
    for (size_t i = 0; error == 0 && i < json_array_size(array); i++) {
        (*count)++;
        error = read_row(r, json_array_get(array, i), kind, &(*rows)[i]);
    }
    return error;
}

/* Finds the range of each event over the runs of --table. An event that some
 * run has no value of has no range. */
static void
read_runs(struct count_document *d, const json_t *runs)
{
    for (size_t i = 0; i < d->event_count; i++) {
        struct count_row *row = &d->events[i];
        bool all = row->value.known && json_array_size(runs) > 0;
        for (size_t k = 0; all && k < json_array_size(runs); k++) {
            const json_t *values =
                json_object_get(json_array_get(runs, k), "values");
            const json_t *value = json_array_get(values, i);
            const double number = json_number_value(value);
            all = json_is_number(value);
            row->low = k == 0 || number < row->low ? number : row->low;
            row->high = k == 0 || number > row->high ? number : row->high;
        }
        row->has_range = all;
    }
}

/* Reads how the program ended. False: no memory. */
static bool
read_status(struct count_document *d, const json_t *status)
{
    static const char *const words[] = {"exit", "signal"};

    for (size_t i = 0; i < 2; i++) {
        const json_t *value = json_object_get(status, words[i]);
        if (json_is_integer(value))
            return asprintf(&d->status, "%s %lld", words[i],
                            (long long)json_integer_value(value)) >= 0;
    }
    return true;
}

static int
read_document(const struct reading *r, const json_t *o)
{
    struct count_document *d = r->document;
    const json_t *events = json_object_get(o, "events");
    const json_t *scope = json_object_get(o, "counted");

    if (!copy(o, "machine", &d->machine) || !copy(o, "program", &d->program) ||
        !copy(o, "isa", &d->isa) || !copy(o, "cpu", &d->cpu) ||
        !copy(o, "target", &d->target) ||
        !read_status(d, json_object_get(o, "status")))
        return no_memory(r);
    d->interrupted = json_is_true(json_object_get(o, "interrupted"));
    d->partial = json_array_size(json_object_get(o, "uncounted")) > 0 ||
                 json_array_size(json_object_get(o, "inconsistent")) > 0 ||
                 json_integer_value(json_object_get(o, "lost_threads")) > 0 ||
                 json_integer_value(json_object_get(o, "cut_processes")) > 0;
    d->has_parts = json_array_size(json_object_get(o, "parts")) > 0;
    if (scope != NULL) {
        d->scope =
            json_dumps(scope, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
        if (d->scope == NULL)
            return no_memory(r);
    }
    int error = read_rows(r, events, "an event", &d->events, &d->event_count);
    if (error == 0)
        error = read_rows(r, json_object_get(o, "metrics"), "a metric",
                          &d->metrics, &d->metric_count);
    if (error == 0)
        read_runs(d, json_object_get(o, "runs"));
    return error;
}

/* Returns whether the object is a line of an interval (-I). */
static bool
is_interval(const json_t *o)
{
    return json_object_get(o, "at_s") != NULL;
}

/* Refuses what stands behind the first object: intervals, or more reports. */
static int
check_rest(const struct reading *r, const char *rest, size_t size)
{
    while (size > 0 && isspace((unsigned char)*rest)) {
        rest++;
        size--;
    }
    if (size == 0)
        return 0;
    json_t *next = json_loadb(rest, size, JSON_DISABLE_EOF_CHECK, NULL);
    const bool interval = is_interval(next);
    const bool report = json_object_get(next, "events") != NULL;
    json_decref(next);
    return bad(r, interval ? "has intervals (-I); a report of a whole run, "
                             "without -I, is read"
                  : report ? "has several reports (--append); one is read"
                           : "is damaged: more than a report is in it");
}

/* Refuses what is no report of a whole run. */
static int
check_kind(const struct reading *r, const json_t *o)
{
    const json_t *schema = json_object_get(o, "schema");
    const char *const by = json_string_value(json_object_get(o, "by"));

    if (is_interval(o))
        return bad(r, "has intervals (-I); a report of a whole run, without "
                      "-I, is read");
    if (json_integer_value(schema) != SCHEMA && json_is_integer(schema) &&
        json_object_get(o, "events") != NULL)
        return tally_fail(r->log, TALLY_ESYNTAX,
                          "%s: schema %lld of a report; this tally reads %d",
                          r->document->path,
                          (long long)json_integer_value(schema), SCHEMA);
    if (!json_is_integer(schema) ||
        !json_is_string(json_object_get(o, "machine")) ||
        !json_is_array(json_object_get(o, "events")) ||
        json_object_get(o, "by") != NULL)
        return bad(r, by != NULL && strcmp(by, "rank") == 0
                          ? "is a report of several ranks (--mpi); one of a "
                            "whole program is read"
                          : "is no report of tally count -j");
    return 0;
}

static int
read_text(const struct reading *r, const char *text, size_t size)
{
    json_error_t e;
    json_t *o = json_loadb(text, size, JSON_DISABLE_EOF_CHECK, &e);
    int error = 0;

    if (o == NULL)
        return tally_fail(r->log, TALLY_ESYNTAX, "%s:%d: no JSON: %s",
                          r->document->path, e.line, e.text);
    if (!is_interval(o))
        error = check_rest(r, text + e.position, size - (size_t)e.position);
    if (error == 0)
        error = check_kind(r, o);
    if (error == 0)
        error = read_document(r, o);
    json_decref(o);
    return error;
}

int
count_document_read(const char *text, size_t size, const char *path,
                    const struct tally_log *log,
                    struct count_document **document)
{
    struct count_document *d = calloc(1, sizeof(*d));
    const struct reading r = {d, log};
    int error;

    if (d != NULL)
        d->path = strdup(path);
    if (d == NULL || d->path == NULL)
        error =
            tally_fail(log, TALLY_ENOMEM, "%s: no memory for the report", path);
    else
        error = read_text(&r, text, size);
    if (error != 0) {
        count_document_destroy(d);
        return error;
    }
    *document = d;
    return 0;
}

static void
rows_destroy(struct count_row *rows, size_t count)
{
    for (size_t i = 0; rows != NULL && i < count; i++) {
        free(rows[i].name);
        free(rows[i].asked);
        free(rows[i].unit);
        free(rows[i].standing);
        free(rows[i].code);
        free(rows[i].reason);
    }
    free(rows);
}

void
count_document_destroy(struct count_document *d)
{
    if (d == NULL)
        return;
    rows_destroy(d->events, d->event_count);
    rows_destroy(d->metrics, d->metric_count);
    free(d->path);
    free(d->machine);
    free(d->program);
    free(d->isa);
    free(d->cpu);
    free(d->target);
    free(d->scope);
    free(d->status);
    free(d);
}
