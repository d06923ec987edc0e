/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "record/breakdown_field.h"
#include "record/comparison_report.h"
#include "record/comparison_words.h"
#include "report/json_text.h"

#define COMPARISON_SCHEMA 1

static const char *const side_names[] = {"before", "after"};

static json_t *
text_or_null(const char *text)
{
    return text != NULL ? report_json_text(text) : json_null();
}

static json_t *
json_number(const struct count_number *n)
{
    return !n->known  ? json_null()
           : n->whole ? json_integer(n->count)
                      : json_real(n->real);
}

static json_t *
json_run(const struct compared_run *run)
{
    json_t *o = json_object();

    json_object_set_new(o, "file", report_json_text(run->path));
    json_object_set_new(o, "command", report_json_text(run->command));
    json_object_set_new(o, "machine", text_or_null(run->machine));
    json_object_set_new(o, "isa", text_or_null(run->isa));
    json_object_set_new(o, "cpu", text_or_null(run->cpu));
    json_object_set_new(o, "end", text_or_null(run->end));
    return o;
}

/* Adds what several runs had. */
static void
add_ranges(json_t *o, const struct compared_event *e)
{
    if (!e->has_range[BEFORE] && !e->has_range[AFTER])
        return;
    json_t *ranges = json_object();
    for (int s = 0; s < SIDES; s++)
        json_object_set_new(
            ranges, side_names[s],
            e->has_range[s]
                ? json_pack(
                      "{sfsfss}", "low", e->low[s], "high", e->high[s], "of",
                      e->every_run[s] ? "all runs" : "two standard deviations")
                : json_null());
    json_object_set_new(o, "ranges", ranges);
    json_object_set_new(o, "ranges_overlap", json_boolean(e->overlaps));
}

static json_t *
json_event(const struct comparison *c, size_t event)
{
    const struct compared_event *e = &c->events[event];
    json_t *o = json_object();
    json_t *standing = json_object(), *names = json_object();

    json_object_set_new(o, "name", report_json_text(e->name));
    json_object_set_new(o, "unit", report_json_text(e->unit));
    json_object_set_new(o, "metric", json_boolean(e->metric));
    json_object_set_new(o, "before", json_number(&e->values[BEFORE]));
    json_object_set_new(o, "after", json_number(&e->values[AFTER]));
    json_object_set_new(o, "change", json_number(&e->change));
    json_object_set_new(
        o, "percent", isnan(e->percent) ? json_null() : json_real(e->percent));
    for (int s = 0; s < SIDES; s++) {
        json_object_set_new(names, side_names[s], text_or_null(e->names[s]));
        json_object_set_new(standing, side_names[s],
                            *e->standings[s] != '\0'
                                ? report_json_text(e->standings[s])
                                : json_null());
    }
    json_object_set_new(o, "names", names);
    json_object_set_new(o, "standing", standing);
    json_object_set_new(
        o, "exact", json_boolean(strcmp(comparison_standing(e), "exact") == 0));
    for (int s = 0; s < SIDES; s++)
        if (!e->values[s].known)
            json_object_set_new(o, s == BEFORE ? "lacks_before" : "lacks_after",
                                json_pack("{soso}", "code",
                                          text_or_null(e->codes[s]), "reason",
                                          text_or_null(e->reasons[s])));
    add_ranges(o, e);
    if (c->of_records)
        json_object_set_new(
            o, "elsewhere",
            json_pack("{sIsI}", "before",
                      (json_int_t)comparison_elsewhere(c, BEFORE, event),
                      "after",
                      (json_int_t)comparison_elsewhere(c, AFTER, event)));
    return o;
}

/* Returns values by the events' names. */
static json_t *
json_values(const struct comparison *c, const int64_t *values)
{
    json_t *o = json_object();

    for (size_t e = 0; e < c->event_count; e++)
        report_json_set(o, c->events[e].name,
                        json_integer(values != NULL ? values[e] : 0));
    return o;
}

/* Adds values before and after, and their change. */
static void
add_values(json_t *o, const struct comparison *c, const int64_t *before,
           const int64_t *after)
{
    json_t *change = json_object();

    for (size_t e = 0; e < c->event_count; e++) {
        const uint64_t x = before != NULL ? (uint64_t)before[e] : 0;
        const uint64_t y = after != NULL ? (uint64_t)after[e] : 0;
        report_json_set(change, c->events[e].name,
                        json_integer((json_int_t)(y - x)));
    }
    json_object_set_new(o, "before", json_values(c, before));
    json_object_set_new(o, "after", json_values(c, after));
    json_object_set_new(o, "change", change);
}

static json_t *
json_keys(const struct comparison *c, const struct compared_row *row,
          enum compared_side s)
{
    const struct breakdown *b = c->breakdowns[s];
    enum breakdown_field fields[BREAKDOWN_FIELDS];
    const size_t count = breakdown_fields(b, fields);
    struct breakdown_cell cell;
    json_t *keys = json_object();

    for (size_t i = 0; i <= count; i++) {
        const enum breakdown_field field =
            i < count ? fields[i] : BREAKDOWN_FIELD_IMAGE;
        if (i == count && row->rows[s]->place.image == 0)
            break;
        breakdown_field_cell(b, row->rows[s], field, &cell);
        json_object_set_new(keys, breakdown_field_name(field),
                            cell.is_number
                                ? json_integer((json_int_t)cell.number)
                                : text_or_null(cell.text));
    }
    return keys;
}

static json_t *
json_row(const struct comparison *c, const struct compared_row *row)
{
    const struct breakdown_row *a = row->rows[BEFORE], *b = row->rows[AFTER];
    json_t *o = json_object();

    json_object_set_new(o, "keys",
                        json_keys(c, row, b != NULL ? AFTER : BEFORE));
    json_object_set_new(o, "keys_before",
                        a != NULL ? json_keys(c, row, BEFORE) : json_null());
    json_object_set_new(o, "state",
                        json_string(a == NULL   ? "new"
                                    : b == NULL ? "gone"
                                                : "both"));
    if (breakdown_has(c->breakdowns[BEFORE], BREAKDOWN_LINE))
        json_object_set_new(o, "edited", json_boolean(row->edited));
    if (breakdown_has(c->breakdowns[BEFORE], BREAKDOWN_FUNCTION))
        json_object_set_new(
            o, "inlined",
            json_pack("{soso}", "before",
                      a != NULL ? json_boolean(a->inlined) : json_null(),
                      "after",
                      b != NULL ? json_boolean(b->inlined) : json_null()));
    add_values(o, c, a != NULL ? a->values : NULL,
               b != NULL ? b->values : NULL);
    if (row->inclusive != NULL) {
        json_t *inclusive = json_object();
        add_values(inclusive, c, a != NULL ? a->inclusive : NULL,
                   b != NULL ? b->inclusive : NULL);
        json_object_set_new(o, "inclusive", inclusive);
    }
    return o;
}

static void
add_rows(const struct comparison *c, json_t *o)
{
    const struct breakdown_options *keys = &c->options.breakdown;
    json_t *by = json_array(), *rows = json_array(), *more = json_object();

    for (size_t i = 0; i < keys->key_count; i++)
        json_array_append_new(by,
                              json_string(breakdown_key_name(keys->keys[i])));
    for (size_t i = 0; i < c->row_count; i++)
        json_array_append_new(rows, json_row(c, &c->rows[i]));
    json_object_set_new(o, "by", by);
    json_object_set_new(o, "sort", report_json_text(c->events[c->sort].name));
    json_object_set_new(o, "rows", rows);
    json_object_set_new(more, "rows", json_integer((json_int_t)c->more_count));
    json_object_set_new(more, "unchanged",
                        json_integer((json_int_t)c->unchanged_count));
    add_values(more, c, c->more[BEFORE], c->more[AFTER]);
    json_object_set_new(o, "more", more);
}

int
comparison_json(const struct comparison *c, FILE *out)
{
    json_t *o = json_object();
    json_t *notes = json_array(), *events = json_array();

    for (size_t i = 0; i < c->note_count; i++)
        json_array_append_new(notes, json_string(c->notes[i]));
    for (size_t i = 0; i < c->event_count; i++)
        json_array_append_new(events, json_event(c, i));
    json_object_set_new(o, "schema", json_integer(COMPARISON_SCHEMA));
    json_object_set_new(o, "of",
                        json_string(c->of_records ? "records" : "counts"));
    json_object_set_new(o, "before", json_run(&c->runs[BEFORE]));
    json_object_set_new(o, "after", json_run(&c->runs[AFTER]));
    json_object_set_new(o, "notes", notes);
    json_object_set_new(o, "events", events);
    if (c->of_records)
        add_rows(c, o);
    const int failed =
        json_dumpf(o, out, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(o);
    fputc('\n', out);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}
