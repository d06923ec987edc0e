/* SPDX-License-Identifier: MIT */
/* The page: page.html with the record's data in it. */
#include "record/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/page_writer.h"
#include "record/run_note.h"
#include "record_page.h" /* generated: page.html with its style and scripts */
#include "report/json_text.h"
#include "table/generic.h"

#define PAGE_SCHEMA 1
#define PLACE "@DATA@"

uint32_t
page_writer_text(struct page_writer *w, uint32_t text)
{
    const uint64_t key = text;

    return numbering_add(&w->texts, &key);
}

void
page_writer_put_text(struct page_writer *w, uint32_t text)
{
    const uint32_t number = page_writer_text(w, text);

    w->data.failed |= number == NUMBERING_NONE;
    bytes_append_varint(&w->data, number);
}

int
page_writer_section(struct page_writer *w, const char *name, size_t number)
{
    char id[48];

    if (number == SIZE_MAX)
        snprintf(id, sizeof(id), "%s", name);
    else
        snprintf(id, sizeof(id), "%s-%zu", name, number);
    const int error = page_section_write(id, &w->data, w->out);
    bytes_clear(&w->data);
    return error;
}

/* Writes the texts that the other sections name, a line each. */
static int
write_texts(struct page_writer *w)
{
    for (uint32_t i = 0; i < w->texts.count; i++) {
        const uint32_t text = (uint32_t)*numbering_key(&w->texts, i);
        char *shown =
            escape_copy(resolver_text(w->resolver, text), ESCAPE_LINE);
        if (shown == NULL)
            return TALLY_ENOMEM;
        bytes_append(&w->data, shown, strlen(shown));
        bytes_append_u8(&w->data, '\n');
        free(shown);
    }
    return page_writer_section(w, "texts", SIZE_MAX);
}

/* Returns a count in JSON: a script has no whole numbers of 64 bits. */
static json_t *
count_json(int64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRId64, value);
    return json_string(text);
}

static json_t *
events_json(const struct page_writer *w, const bool *big)
{
    json_t *array = json_array();

    for (size_t e = 0; e < w->options->event_count; e++) {
        const size_t event = w->options->events[e];
        const struct record_event_row *row = &w->record->events[event];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:b}", "name",
                             report_json_line(row->name), "asked",
                             report_json_line(row->asked), "unit",
                             report_json_line(row->unit), "brief",
                             report_json_line(row->brief), "standing",
                             report_json_line(row->standing), "total",
                             count_json(record_total(w->record, event)), "big",
                             (int)big[e]));
    }
    return array;
}

static json_t *
threads_json(const struct page_writer *w)
{
    json_t *array = json_array();

    for (size_t i = 0; i < w->tree.thread_numbers.count; i++) {
        const struct page_thread *t = &w->tree.threads[i];
        /* A damaged record may have totals of a process that it lacks. */
        const bool known = t->process < w->record->process_count;
        const struct record_process_row *p =
            known ? &w->record->processes[t->process] : NULL;
        json_t *totals = json_array();
        for (size_t e = 0; e < w->options->event_count; e++)
            json_array_append_new(totals,
                                  count_json(t->totals[w->options->events[e]]));
        json_array_append_new(
            array, json_pack("{s:i, s:i, s:i, s:o, s:o}", "process",
                             (int)t->process, "thread", (int)t->thread, "pid",
                             known ? p->pid : 0, "program",
                             report_json_line(known ? p->program : "[unknown]"),
                             "totals", totals));
    }
    return array;
}

/* Returns which of the page's events counts instructions, or -1. */
static int
instructions_event(const struct page_writer *w)
{
    const struct machine_row *machine = machine_find(w->record->machine);
    const int id = generic_find("instructions");
    const struct event_row *counted =
        machine != NULL && id >= 0 ? generic_counted(machine, id) : NULL;

    for (size_t e = 0; e < w->options->event_count; e++) {
        const struct record_event_row *row =
            &w->record->events[w->options->events[e]];
        if (strcmp(row->asked, "instructions") == 0 ||
            (counted != NULL && strcmp(row->name, counted->name) == 0))
            return (int)e;
    }
    return -1;
}

static json_t *
command_json(const struct record *record)
{
    json_t *command = json_array();

    for (char **word = record->argv; *word != NULL; word++)
        json_array_append_new(command, report_json_line(*word));
    return command;
}

/* Writes what the page says first: the head, which a browser reads at once. */
static int
write_head(struct page_writer *w, const bool *big)
{
    const struct record *record = w->record;
    json_t *head = json_pack(
        "{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:i}", "schema", PAGE_SCHEMA,
        "creator", report_json_line(w->options->creator), "machine",
        report_json_line(record->machine), "isa", report_json_line(record->isa),
        "version", report_json_line(record->version), "command",
        command_json(record), "events", events_json(w, big), "threads",
        threads_json(w), "instructions", instructions_event(w));

    if (head == NULL)
        return TALLY_ENOMEM;
    const struct {
        const char *name;
        bool value;
    } marks[] = {
        {"has_callers", record->has_callers},
        {"has_objects", record->has_objects},
        {"has_totals", record->threads != NULL},
        {"heap_is_whole", record->heap_is_whole},
        {"cut", record->cut},
        {"partial", record->partial},
        {"interrupted", record->interrupted},
        {"left_early", record->left_early},
    };
    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        json_object_set_new(head, marks[i].name, json_boolean(marks[i].value));
    run_note_set(head, record->varies);
    json_object_set_new(head, "cpu",
                        record->cpu != NULL ? report_json_line(record->cpu)
                                            : json_null());
    return page_head_write(head, w->out);
}

/* Writes all sections. Later ones may add texts, so that the texts are last. */
static int
write_sections(struct page_writer *w)
{
    bool *big = calloc(w->options->event_count + 1, sizeof(*big));
    /* Text 0 is the empty one, as the resolver's. */
    int error = big != NULL && page_writer_text(w, 0) == 0 ? 0 : TALLY_ENOMEM;

    if (error == 0)
        error = page_places_create(w->record, w->resolver, &w->places);
    if (error == 0)
        error = page_tree_create(&w->places, &w->tree);
    if (error == 0 && w->record->has_objects)
        error = page_write_objects(w);
    if (error == 0)
        error = page_write_code(w);
    if (error == 0)
        error = page_write_sources(w);
    if (error == 0)
        error = page_write_calls(w, big);
    if (error == 0)
        error = write_texts(w);
    if (error == 0)
        error = write_head(w, big);
    free(big);
    return error;
}

int
page_write(const struct record *record, struct resolver *resolver,
           const struct page_options *options, FILE *out)
{
    const char *const place = strstr(record_page, PLACE);
    struct page_writer w = {
        .record = record,
        .resolver = resolver,
        .options = options,
        .out = out,
    };

    numbering_init(&w.texts, 1);
    fwrite(record_page, 1, (size_t)(place - record_page), out);
    int error = ferror(out) ? TALLY_EIO : write_sections(&w);
    if (error == 0) {
        fputs(place + strlen(PLACE), out);
        error = fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
    }
    page_tree_finish(&w.tree);
    page_places_finish(&w.places);
    numbering_finish(&w.texts);
    bytes_finish(&w.data);
    return error == TALLY_ENOMEM
               ? tally_fail(options->log, error, "%s: no memory for the page",
                            record->path)
               : error;
}
