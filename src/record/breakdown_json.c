/* SPDX-License-Identifier: MIT */
#include <jansson.h>

#include "record/breakdown_field.h"
#include "record/breakdown_report.h"
#include "report/json_text.h"

#define BREAKDOWN_SCHEMA 1

static const struct record_event_row *
event_of(const struct breakdown *b, size_t event)
{
    return &b->record->events[b->options.events[event]];
}

static json_t *
json_values(const struct breakdown *b, const int64_t *values)
{
    json_t *o = json_object();

    for (size_t e = 0; e < b->options.event_count; e++)
        report_json_set(o, event_of(b, e)->name, json_integer(values[e]));
    return o;
}

static json_t *
json_events(const struct breakdown *b)
{
    json_t *array = json_array();

    for (size_t e = 0; e < b->options.event_count; e++) {
        const struct record_event_row *row = event_of(b, e);
        json_t *o = json_object();
        json_object_set_new(o, "name", report_json_text(row->name));
        json_object_set_new(o, "asked", report_json_text(row->asked));
        json_object_set_new(o, "standing", report_json_text(row->standing));
        json_object_set_new(o, "total", json_integer(b->totals[e]));
        json_object_set_new(o, "elsewhere", json_integer(b->elsewhere[e]));
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
json_cell(const struct breakdown *b, const struct breakdown_row *row,
          enum breakdown_field field)
{
    struct breakdown_cell cell;

    breakdown_field_cell(b, row, field, &cell);
    if (cell.is_number)
        return json_integer((json_int_t)cell.number);
    return cell.text != NULL ? report_json_text(cell.text) : json_null();
}

static json_t *
json_row(const struct breakdown *b, const struct breakdown_row *row,
         const enum breakdown_field *fields, size_t count)
{
    json_t *o = json_object();
    json_t *keys = json_object();

    for (size_t i = 0; i < count; i++)
        json_object_set_new(keys, breakdown_field_name(fields[i]),
                            json_cell(b, row, fields[i]));
    /* Tells apart the code of two images of which no file is known. */
    if (row->place.image != 0)
        json_object_set_new(keys, "image",
                            json_cell(b, row, BREAKDOWN_FIELD_IMAGE));
    json_object_set_new(o, "keys", keys);
    if (breakdown_has(b, BREAKDOWN_FUNCTION))
        json_object_set_new(o, "inlined", json_boolean(row->inlined));
    json_object_set_new(o, "values", json_values(b, row->values));
    if (row->inclusive != NULL)
        json_object_set_new(o, "inclusive", json_values(b, row->inclusive));
    return o;
}

static json_t *
json_rows(const struct breakdown *b)
{
    enum breakdown_field fields[BREAKDOWN_FIELDS];
    const size_t count = breakdown_fields(b, fields);
    json_t *array = json_array();

    for (size_t i = 0; i < b->row_count; i++)
        json_array_append_new(array, json_row(b, &b->rows[i], fields, count));
    return array;
}

int
breakdown_json(const struct breakdown *b, FILE *out)
{
    const struct record *record = b->record;
    json_t *o = json_object();
    json_t *command = json_array();
    json_t *by = json_array();

    for (char **word = record->argv; *word != NULL; word++)
        json_array_append_new(command, report_json_text(*word));
    for (size_t i = 0; i < b->options.key_count; i++)
        json_array_append_new(
            by, json_string(breakdown_key_name(b->options.keys[i])));
    json_object_set_new(o, "schema", json_integer(BREAKDOWN_SCHEMA));
    json_object_set_new(o, "machine", report_json_text(record->machine));
    json_object_set_new(o, "command", command);
    json_object_set_new(o, "cut", json_boolean(record->cut));
    json_object_set_new(o, "partial", json_boolean(record->partial));
    json_object_set_new(o, "repeats", json_boolean(record->varies == 0));
    if (record->trace != NULL)
        json_object_set_new(o, "trace", report_json_text(record->trace));
    json_object_set_new(o, "events", json_events(b));
    json_object_set_new(o, "by", by);
    json_object_set_new(o, "rows", json_rows(b));
    if (b->more_count > 0)
        json_object_set_new(o, "more",
                            json_pack("{s:I, s:o}", "rows",
                                      (json_int_t)b->more_count, "values",
                                      json_values(b, b->more)));
    const int failed = json_dumpf(o, out, JSON_INDENT(2));
    json_decref(o);
    fputc('\n', out);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}
