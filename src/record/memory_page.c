/* SPDX-License-Identifier: MIT */
/* The page of why data miss: memory_page.html with its data. All names are
 * escaped here, as a line may show them; the script shows them as text only. */
#include "record/memory_page.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "memory_page_text.h" /* generated: with its style and scripts */
#include "record/page_section.h"
#include "report/json_text.h"
#include "table/level.h"

#define SOURCE_LINE_MOST 400u /* bytes of a line of source that are shown */

/* Returns 64 bits or an address in JSON: a script's numbers have 53 bits. */
static json_t *
hex_json(uint64_t number)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIx64, number);
    return json_string(text);
}

/* Returns numbers as an array, without the zeroes at the end. */
static json_t *
numbers_json(const uint64_t *numbers, size_t count)
{
    json_t *const array = json_array();

    while (count > 0 && numbers[count - 1] == 0)
        count--;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, report_json_number(numbers[i]));
    return array;
}

static json_t *
counts_json(const uint64_t counts[MEMORY_COUNTS])
{
    return numbers_json(counts, MEMORY_COUNTS);
}

/* Returns a text of the resolver; null: not known. */
static json_t *
text_json(const struct memory *m, uint32_t text)
{
    return text != 0 ? report_json_line(resolver_text(m->resolver, text))
                     : json_null();
}

static json_t *
shared_json(const struct memory *m, const struct memory_object *object)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < object->shared_count; i++) {
        const struct memory_shared *const s = &object->shared[i];
        json_t *const row = json_array();
        json_array_append_new(
            row, report_json_number(m->record->processes[s->process].number));
        json_array_append_new(row, report_json_number(s->thread));
        json_array_append_new(row, report_json_number(s->from));
        json_array_append_new(row, report_json_number(s->lines));
        json_array_append_new(row, hex_json(s->line * m->record->cache.line));
        json_array_append_new(row, report_json_number(s->same + s->other));
        json_array_append_new(row, report_json_number(s->other));
        json_array_append_new(row, hex_json(s->bytes));
        json_array_append_new(row, hex_json(s->stored));
        json_array_append_new(row, report_json_number(s->used));
        json_array_append_new(array, row);
    }
    return array;
}

/* Returns the number of a text in a list of texts, which the text is added to
 * where the list lacks it. `known`: numbers by the text's number. */
static json_t *
listed_json(const struct memory *m, uint32_t text, json_t *known, json_t *texts)
{
    char key[16];

    snprintf(key, sizeof(key), "%" PRIu32, text);
    const json_t *const old = json_object_get(known, key);
    if (old != NULL)
        return json_integer(json_integer_value(old));
    const size_t number = json_array_size(texts);
    json_array_append_new(texts, text_json(m, text));
    json_object_set_new(known, key, report_json_number(number));
    return report_json_number(number);
}

/* Returns who drove out lines of all objects, a row each. */
static json_t *
driven_json(const struct memory *m, json_t *texts)
{
    json_t *const array = json_array();
    json_t *const known = json_object();

    for (size_t i = 0; i < m->object_count; i++) {
        const struct memory_object *const object = &m->objects[i];
        for (size_t k = 0; k < object->driven_count; k++) {
            const struct memory_driven *const d = &object->driven[k];
            json_t *const row = json_array();
            json_array_append_new(row, report_json_number(i));
            json_array_append_new(row, report_json_number(d->by));
            json_array_append_new(row,
                                  listed_json(m, d->function, known, texts));
            json_array_append_new(row, listed_json(m, d->file, known, texts));
            json_array_append_new(row, report_json_number(d->line));
            json_array_append_new(row, report_json_number(d->capacity));
            json_array_append_new(row, report_json_number(d->conflict));
            json_array_append_new(array, row);
        }
    }
    json_decref(known);
    return array;
}

static json_t *
objects_json(const struct memory *m)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < m->object_count; i++) {
        const struct memory_object *const object = &m->objects[i];
        const struct record_used *const used = &object->name->used;
        json_t *const o = json_object();
        json_object_set_new(o, "name", report_json_line(object->name->text));
        json_object_set_new(o, "kind",
                            json_string(object_names_kind(object->name->kind)));
        json_object_set_new(o, "counts", counts_json(object->counts));
        json_object_set_new(o, "fetched", report_json_number(used->fetched));
        json_object_set_new(o, "used", report_json_number(used->touched));
        json_object_set_new(o, "reuse",
                            numbers_json(object->reuse, MEMORY_POWERS));
        json_object_set_new(o, "sets",
                            numbers_json(object->sets, object->sets != NULL
                                                           ? m->set_count
                                                           : 0));
        json_object_set_new(o, "shared", shared_json(m, object));
        json_array_append_new(array, o);
    }
    return array;
}

/* Returns a line of source without blanks at its start; null: there is none. */
static json_t *
source_json(const struct source_text *source, uint32_t number)
{
    const char *line = source_text_line(source, number);

    if (line == NULL)
        return json_null();
    line += strspn(line, " \t");
    size_t size = strnlen(line, SOURCE_LINE_MOST + 1);
    /* A cut goes before a character, whose further bytes begin with 10. */
    if (size > SOURCE_LINE_MOST)
        for (size--; size > 0 && ((uint8_t)line[size] & 0xc0) == 0x80;)
            size--;
    char *const part = strndup(line, size);
    for (char *c = part; c != NULL && *c != '\0'; c++)
        if (*c == '\t')
            *c = ' ';
    json_t *const json = report_json_line(part);
    free(part);
    return json;
}

struct line_place {
    uint32_t file;
    size_t row;
};

static int
compare_files(const void *x, const void *y)
{
    const struct line_place *const a = x, *const b = y;

    return (a->file > b->file) - (a->file < b->file);
}

/* Adds to the rows of lines their text, where a source is at hand: each source
 * is read once. */
static int
add_sources(const struct memory *m, const struct memory_page_options *options,
            json_t *rows)
{
    struct line_place *const places =
        calloc(m->line_count + 1, sizeof(*places));

    if (places == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < m->line_count; i++)
        places[i] = (struct line_place){m->lines[i].file, i};
    qsort(places, m->line_count, sizeof(*places), compare_files);
    for (size_t i = 0; i < m->line_count;) {
        const uint32_t file = places[i].file;
        struct source_text source = {0};
        if (file != 0)
            source_text_read(resolver_text(m->resolver, file), options->moves,
                             options->move_count, &source);
        for (; i < m->line_count && places[i].file == file; i++)
            json_object_set_new(
                json_array_get(rows, places[i].row), "text",
                source_json(&source, m->lines[places[i].row].line));
        source_text_finish(&source);
    }
    free(places);
    return 0;
}

static json_t *
lines_json(const struct memory *m)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < m->line_count; i++) {
        const struct memory_line *const l = &m->lines[i];
        json_t *const o = json_object();
        json_object_set_new(o, "function", text_json(m, l->function));
        json_object_set_new(o, "file", text_json(m, l->file));
        json_object_set_new(o, "line", report_json_number(l->line));
        json_object_set_new(o, "counts", counts_json(l->counts));
        json_object_set_new(o, "addresses",
                            json_string(memory_pattern_name(l->pattern)));
        json_object_set_new(o, "stride",
                            memory_has_stride(l) ? json_integer(l->stride)
                                                 : json_null());
        json_array_append_new(array, o);
    }
    return array;
}

/* Returns the findings; NULL: no memory. */
static json_t *
findings_json(const struct memory *m)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < m->finding_count; i++) {
        const struct memory_finding *const f = &m->findings[i];
        char *const text = memory_finding_text(m, f);
        if (text == NULL) {
            json_decref(array);
            return NULL;
        }
        json_t *const o = json_object();
        json_object_set_new(o, "kind",
                            json_string(memory_advice_name(f->advice)));
        json_object_set_new(o, "object", report_json_number(f->object));
        json_object_set_new(o, "misses", report_json_number(f->misses));
        json_object_set_new(o, "text", report_json_line(text));
        json_array_append_new(array, o);
        free(text);
    }
    return array;
}

/* Returns all tables; NULL: no memory. */
static json_t *
tables_json(const struct memory *m, const struct memory_page_options *options)
{
    json_t *const o = json_object(), *const texts = json_array();
    json_t *const lines = lines_json(m), *const findings = findings_json(m);

    json_object_set_new(o, "counts", counts_json(m->counts));
    json_object_set_new(o, "loader",
                        report_json_number(memory_misses(m->loader)));
    json_object_set_new(o, "loader_most", json_boolean(memory_is_loaders(m)));
    json_object_set_new(o, "few_turns",
                        report_json_number(memory_few_turns(m)));
    json_object_set_new(o, "findings", findings);
    json_object_set_new(o, "objects", objects_json(m));
    json_object_set_new(o, "driven", driven_json(m, texts));
    json_object_set_new(o, "texts", texts);
    json_object_set_new(o, "lines", lines);
    json_object_set_new(o, "reuse", numbers_json(m->reuse, MEMORY_POWERS));
    json_object_set_new(o, "sets", numbers_json(m->sets, m->set_count));
    if (findings != NULL && add_sources(m, options, lines) == 0)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *
head_json(const struct memory *m, const struct memory_page_options *options)
{
    const struct record *const record = m->record;
    json_t *const o = page_head(record, options->creator);

    json_object_set_new(o, "heap",
                        record->heap_is_whole
                            ? report_json_line(record->heap_reason != NULL
                                                   ? record->heap_reason
                                                   : "the program is static")
                            : json_null());
    memory_set_cache(o, m);
    json_object_set_new(o, "cache_title",
                        json_string(level_title(record->cache.level)));
    json_object_set_new(o, "set_count", report_json_number(m->set_count));
    json_object_set_new(o, "standing", report_json_line(m->standing));
    return o;
}

int
memory_page(const struct memory *m, const struct memory_page_options *options,
            FILE *out)
{
    return page_fill(memory_page_text, head_json(m, options), "memory",
                     tables_json(m, options), out);
}
