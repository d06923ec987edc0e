/* SPDX-License-Identifier: MIT */
/* The objects of a record and the functions that missed on them, in a page. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/breakdown.h"
#include "record/page_writer.h"

/* Groups the record by object, and by function too if it is asked. */
static int
group(struct page_writer *w, bool by_function, struct breakdown **result)
{
    const struct breakdown_options o = {
        .keys = {BREAKDOWN_OBJECT, BREAKDOWN_FUNCTION},
        .key_count = by_function ? 2 : 1,
        .events = w->options->events,
        .event_count = w->options->event_count,
    };

    return breakdown_create(w->record, w->resolver, &o, NULL, result);
}

static void
put_values(struct page_writer *w, const int64_t *values)
{
    for (size_t e = 0; e < w->options->event_count; e++)
        bytes_append_signed(&w->data, values[e]);
}

/* Appends a text by its length, as a line of a page may have it. */
static int
put_text(struct page_writer *w, const char *text)
{
    char *shown = escape_copy(text, ESCAPE_LINE);

    if (shown == NULL)
        return TALLY_ENOMEM;
    bytes_append_string(&w->data, shown, strlen(shown));
    free(shown);
    return 0;
}

/* Writes a row for each object with its counts. */
static int
write_objects(struct page_writer *w, const struct breakdown *b)
{
    int error = 0;

    bytes_append_varint(&w->data, b->row_count);
    for (size_t i = 0; error == 0 && i < b->row_count; i++) {
        const uint32_t number = b->rows[i].place.object;
        const struct object_name *o = &b->objects.rows[number];
        bytes_append_varint(&w->data, number);
        bytes_append_varint(&w->data, o->allocations);
        bytes_append_varint(&w->data, o->bytes);
        error = put_text(w, object_names_kind(o->kind));
        if (error == 0)
            error = put_text(w, o->text);
        put_values(w, b->rows[i].values);
    }
    return error == 0 ? page_writer_section(w, "objects", SIZE_MAX) : error;
}

/* Writes a row for each function that has counts of an object. */
static int
write_functions(struct page_writer *w, const struct breakdown *b)
{
    bytes_append_varint(&w->data, b->row_count);
    for (size_t i = 0; i < b->row_count; i++) {
        const struct breakdown_place *p = &b->rows[i].place;
        const struct page_function f = {p->function, p->function_file,
                                        p->image};
        bytes_append_varint(&w->data, p->object);
        bytes_append_varint(&w->data, page_places_add(&w->places, f));
        put_values(w, b->rows[i].values);
    }
    return page_writer_section(w, "users", SIZE_MAX);
}

int
page_write_objects(struct page_writer *w)
{
    struct breakdown *b = NULL;
    int error = group(w, false, &b);

    if (error == 0)
        error = write_objects(w, b);
    breakdown_destroy(b);
    b = NULL;
    if (error == 0)
        error = group(w, true, &b);
    if (error == 0)
        error = write_functions(w, b);
    breakdown_destroy(b);
    return error;
}
