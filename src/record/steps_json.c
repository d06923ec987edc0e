/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/disassembly.h"
#include "record/point_names.h"
#include "record/source_text.h"
#include "record/steps_writing.h"
#include "report/json_text.h"

#define STEPS_SCHEMA 1
#define INSTRUCTION_TEXT 160

json_t *
steps_address(const struct steps_writing *w, uint64_t address)
{
    char text[24];

    if (!w->page)
        return report_json_number(address);
    snprintf(text, sizeof(text), "%" PRIx64, address);
    return json_string(text);
}

/* Returns a text, as a line shows it on the page; or null. */
static json_t *
text_json(const struct steps_writing *w, const char *text)
{
    return text == NULL ? json_null()
           : w->page    ? report_json_line(text)
                        : report_json_text(text);
}

json_t *
steps_row(const struct steps_writing *w, const struct run_step *step)
{
    json_t *const o = json_object();

    json_object_set_new(o, "thread", report_json_number(step->thread));
    json_object_set_new(o, "instruction",
                        w->r->has_instructions
                            ? report_json_number(step->instruction)
                            : json_null());
    json_object_set_new(o, "place",
                        step->place != 0 && w->r->has_instructions
                            ? report_json_number(step->place - 1)
                            : json_null());
    return o;
}

/* The names of places, and the sources that they are in. */
struct naming {
    const struct steps_writing *w;
    struct point_names names;
    struct disassembly *disassembly; /* or NULL */
    char *path;                      /* of the source that is open; owned */
    struct source_text source;
};

/* Returns a line of source; null: the source is not there. */
static json_t *
source_json(struct naming *n, const struct point_named *named)
{

    if (named->file == NULL || named->line == 0)
        return json_null();
    if (n->path == NULL || strcmp(n->path, named->file) != 0) {
        free(n->path);
        source_text_finish(&n->source);
        n->source = (struct source_text){0};
        n->path = strdup(named->file);
        source_text_read(named->file, NULL, 0, &n->source);
    }
    return text_json(n->w, source_text_line(&n->source, named->line));
}

static json_t *
instruction_json(const struct naming *n, const struct point_place *place)
{
    char text[INSTRUCTION_TEXT];

    if (place->size == 0 || n->w->r->imported != NULL)
        return json_null();
    disassembly_text(n->disassembly, place->code, place->size, place->address,
                     text, sizeof(text));
    return text_json(n->w, text);
}

static json_t *
place_json(struct naming *n, const struct point_place *place)
{
    const struct point_named named = point_names_find(&n->names, place);
    json_t *const o = json_object();

    json_object_set_new(o, "address", steps_address(n->w, place->address));
    json_object_set_new(o, "image", text_json(n->w, named.image));
    json_object_set_new(o, "function", text_json(n->w, named.function));
    json_object_set_new(o, "inlined_into", text_json(n->w, named.outer));
    json_object_set_new(o, "file", text_json(n->w, named.file));
    json_object_set_new(o, "line",
                        named.file != NULL && named.line != 0
                            ? report_json_number(named.line)
                            : json_null());
    json_object_set_new(o, "source", source_json(n, &named));
    json_object_set_new(o, "text", instruction_json(n, place));
    return o;
}

/* Returns the instructions that steps name. NULL: no memory. */
static json_t *
places_json(const struct steps_writing *w)
{
    const uint32_t count = atomic_load(&w->s->place_count);
    struct naming *const n = calloc(1, sizeof(*n));
    json_t *const array = json_array();

    if (n == NULL || point_names_begin(&n->names, w->s->files, w->r->debug_dirs,
                                       w->r->debug_dir_count) != 0) {
        free(n);
        json_decref(array);
        return NULL;
    }
    n->w = w;
    n->disassembly = disassembly_create(w->r->isa);
    for (uint32_t i = 0; i < count && w->r->has_instructions; i++)
        json_array_append_new(array, place_json(n, &w->s->places[i]));
    disassembly_destroy(n->disassembly);
    source_text_finish(&n->source);
    point_names_end(&n->names);
    free(n->path);
    free(n);
    return array;
}

/* Returns what part of the run the steps are of. */
static json_t *
part_json(const struct steps_writing *w)
{
    static const char *const ends[STEPS_ENDS] = {
        [STEPS_END_PROGRAM] = "program",
        [STEPS_END_COUNT] = "steps",
        [STEPS_END_ROOM] = "room",
        [STEPS_END_INSTRUCTIONS] = "instructions",
        [STEPS_END_TO] = "to",
    };
    const struct steps_request *const q = w->r->request;
    json_t *const o = json_object();

    json_object_set_new(o, "ended", json_string(ends[atomic_load(&w->s->end)]));
    json_object_set_new(o, "most_steps", report_json_number(q->count));
    json_object_set_new(o, "first_instruction",
                        report_json_number(w->s->first_instruction + 1));
    json_object_set_new(o, "instructions",
                        q->instructions != 0
                            ? report_json_number(q->instructions)
                            : json_null());
    json_object_set_new(o, "from", text_json(w, w->r->from));
    json_object_set_new(o, "to", text_json(w, w->r->to));
    json_object_set_new(o, "in", text_json(w, w->r->in));
    json_object_set_new(o, "line", text_json(w, w->r->line));
    return o;
}

static json_t *
command_json(const struct steps_writing *w)
{
    json_t *const array = json_array();

    for (char *const *word = w->r->argv; *word != NULL; word++)
        json_array_append_new(array, text_json(w, *word));
    return array;
}

json_t *
steps_document(const struct steps_report *report, bool page)
{
    static const struct {
        const char *what, *head;
        json_t *(*make_head)(const struct steps_writing *w);
        json_t *(*make_steps)(const struct steps_writing *w);
    } kinds[STEPS_KINDS] = {
        [STEPS_SETS] = {"sets", "level", steps_sets_head, steps_sets},
        [STEPS_BRANCHES] = {"branches", "predictor", steps_branches_head,
                            steps_branches},
        [STEPS_BUBBLES] = {"bubbles", "causes", steps_bubbles_head,
                           steps_bubbles},
    };
    const struct steps_writing w = {report, report->steps, page};
    const unsigned kind = report->request->kind;
    json_t *const places = places_json(&w);
    json_t *const steps = kinds[kind].make_steps(&w);
    json_t *const o = json_object();

    json_object_set_new(o, "schema", json_integer(STEPS_SCHEMA));
    json_object_set_new(o, "creator", json_string(report->creator));
    json_object_set_new(o, "machine", json_string(report->machine->name));
    json_object_set_new(o, "isa", json_string(report->isa));
    json_object_set_new(o, "command", command_json(&w));
    json_object_set_new(o, "imported", text_json(&w, report->imported));
    json_object_set_new(o, "replayed", json_boolean(report->has_trace));
    json_object_set_new(o, "standing", json_string("modelled"));
    json_object_set_new(o, "what", json_string(kinds[kind].what));
    json_object_set_new(o, kinds[kind].head, kinds[kind].make_head(&w));
    json_object_set_new(o, "part", part_json(&w));
    if (places == NULL || steps == NULL) {
        json_decref(places);
        json_decref(steps);
        json_decref(o);
        return NULL;
    }
    json_object_set_new(o, "places", places);
    json_object_set_new(o, "steps", steps);
    return o;
}

int
steps_json(const struct steps_report *report, FILE *out)
{
    json_t *const o = steps_document(report, false);

    if (o == NULL)
        return TALLY_ENOMEM;
    const int failed = json_dumpf(o, out, JSON_INDENT(1));
    json_decref(o);
    fputc('\n', out);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}
