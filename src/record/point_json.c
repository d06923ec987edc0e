/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdlib.h>

#include "record/block_folds.h"
#include "record/disassembly.h"
#include "record/object_names.h"
#include "record/point_report.h"
#include "record/point_words.h"
#include "report/json_text.h"

#define POINT_SCHEMA 1
#define INSTRUCTION_TEXT 160

struct writing {
    const struct point_report *r;
    const struct point *p;
    struct point_names names;
};

/* Returns a text, or null. */
static json_t *
json_text(const char *text)
{
    return text != NULL ? report_json_text(text) : json_null();
}

/* Returns the functions at a place, each copied into the next. */
static json_t *
json_frames(struct writing *w, const struct point_place *place)
{
    struct name_frame frames[POINT_FRAMES];
    const size_t count = point_names_frames(&w->names, place, frames);
    json_t *const array = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct name_frame *const f = &frames[i];
        const bool has_line = f->file != NULL && f->line != 0;
        json_t *const o = json_object();
        json_object_set_new(o, "function", json_text(f->function));
        json_object_set_new(o, "file", json_text(f->file));
        json_object_set_new(
            o, "line", has_line ? report_json_number(f->line) : json_null());
        json_array_append_new(array, o);
    }
    return array;
}

/* Adds where a place is. */
static void
add_place(struct writing *w, json_t *o, const struct point_place *place)
{
    const struct point_named named = point_names_find(&w->names, place);

    json_object_set_new(o, "address", report_json_number(place->address));
    json_object_set_new(o, "image", json_text(named.image));
    json_object_set_new(o, "function", json_text(named.function));
    json_object_set_new(o, "inlined_into", json_text(named.outer));
    json_object_set_new(o, "function_offset",
                        named.in_function != UINT64_MAX
                            ? report_json_number(named.in_function)
                            : json_null());
    json_object_set_new(o, "file", json_text(named.file));
    json_object_set_new(o, "line",
                        named.file != NULL && named.line != 0
                            ? report_json_number(named.line)
                            : json_null());
}

static json_t *
json_place(struct writing *w, const struct point_place *place)
{
    json_t *const o = json_object();

    add_place(w, o, place);
    json_object_set_new(o, "frames", json_frames(w, place));
    return o;
}

static json_t *
json_object_name(struct writing *w, const struct point_object *object)
{
    char *const text = point_object_text(&w->names, object);
    json_t *const o = json_object();

    json_object_set_new(o, "name", json_text(text));
    json_object_set_new(o, "kind",
                        json_string(object_names_kind(object->kind)));
    free(text);
    return o;
}

static json_t *
json_access(struct writing *w, const struct point_access *a)
{
    json_t *const o = json_object();

    json_object_set_new(o, "kind",
                        json_string(a->flags & POINT_STORE ? "store" : "load"));
    json_object_set_new(o, "data_address", report_json_number(a->address));
    json_object_set_new(o, "bytes", report_json_number(a->size));
    json_object_set_new(o, "missed",
                        json_boolean((a->flags & POINT_MISSED) != 0));
    add_place(w, o, &a->place);
    return o;
}

static json_t *
json_accesses(struct writing *w)
{
    json_t *const array = json_array();
    const uint32_t count =
        w->p->access_count < w->r->last ? w->p->access_count : w->r->last;

    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array, json_access(w, &w->p->accesses[i]));
    return array;
}

static json_t *
json_calls(struct writing *w)
{
    json_t *const array = json_array();

    for (uint32_t i = 0; i < w->p->call_count; i++)
        json_array_append_new(array, json_place(w, &w->p->calls[i]));
    return array;
}

static json_t *
json_fold(struct writing *w, const struct block_fold *fold)
{
    json_t *const o = json_object(), *const blocks = json_array();

    for (size_t i = 0; i < fold->length; i++) {
        const struct point_block *const b = &w->p->blocks[fold->first + i];
        json_t *const block = json_object();
        json_object_set_new(block, "count", report_json_number(b->count));
        json_object_set_new(block, "instructions",
                            report_json_number(b->instructions));
        add_place(w, block, &b->place);
        json_array_append_new(blocks, block);
    }
    json_object_set_new(o, "times", report_json_number(fold->times));
    json_object_set_new(o, "blocks", blocks);
    return o;
}

static json_t *
json_blocks(struct writing *w)
{
    struct block_fold *const folds = calloc(w->r->last, sizeof(*folds));
    json_t *const array = json_array();
    const size_t count =
        folds != NULL
            ? block_folds(w->p->blocks, w->p->block_count, w->r->last, folds)
            : 0;

    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, json_fold(w, &folds[i]));
    free(folds);
    return array;
}

static json_t *
json_line(struct writing *w, const struct point_line *l)
{
    const bool brought = (l->flags & POINT_LINE_BROUGHT) != 0;
    json_t *const o = json_object();

    json_object_set_new(o, "line_address", report_json_number(l->address));
    json_object_set_new(o, "object", json_object_name(w, &l->object));
    json_object_set_new(o, "modified",
                        w->p->set.knows_dirty != 0
                            ? json_boolean((l->flags & POINT_LINE_DIRTY) != 0)
                            : json_null());
    json_object_set_new(
        o, "other_cores",
        report_json_number((uint64_t)__builtin_popcountll(l->others)));
    json_object_set_new(o, "leaves",
                        json_boolean((l->flags & POINT_LINE_LEAVES) != 0));
    json_t *const by = brought ? json_place(w, &l->place) : json_null();
    if (brought) {
        json_object_set_new(by, "thread", report_json_number(l->thread));
        json_object_set_new(by, "instruction",
                            report_json_number(l->instruction));
    }
    json_object_set_new(o, "brought_by", by);
    return o;
}

static json_t *
json_set(struct writing *w)
{
    const struct point_set *const set = &w->p->set;
    json_t *const o = json_object(), *const lines = json_array();

    for (uint32_t i = 0; i < set->line_count; i++)
        json_array_append_new(lines, json_line(w, &set->lines[i]));
    json_object_set_new(o, "number", report_json_number(set->number));
    json_object_set_new(o, "empty_ways", report_json_number(set->empty));
    json_object_set_new(o, "lines", lines);
    return o;
}

/* Returns the instruction at the point as text. */
static json_t *
json_instruction(const struct writing *w)
{
    const struct point_place *const place = &w->p->place;
    struct disassembly *d;
    char text[INSTRUCTION_TEXT];

    if (place->size == 0)
        return json_null();
    d = disassembly_create(w->r->isa);
    disassembly_text(d, place->code, place->size, place->address, text,
                     sizeof(text));
    disassembly_destroy(d);
    return report_json_text(text);
}

static json_t *
json_words(char *const *argv)
{
    json_t *const array = json_array();

    for (; *argv != NULL; argv++)
        json_array_append_new(array, report_json_text(*argv));
    return array;
}

static void
add_point(struct writing *w, json_t *o)
{
    static const char *const kinds[POINT_KINDS] = {
        [POINT_MISS] = "miss",
        [POINT_INSTRUCTION] = "instruction",
        [POINT_ENTRY] = "function",
    };
    const struct point *const p = w->p;
    json_t *const place = json_place(w, &p->place);

    json_object_set_new(o, "point", json_string(kinds[w->r->request->kind]));
    json_object_set_new(o, "number", report_json_number(w->r->request->count));
    json_object_set_new(o, "thread", report_json_number(p->thread));
    json_object_set_new(o, "thread_instruction",
                        report_json_number(p->instruction));
    json_object_set_new(o, "instruction",
                        report_json_number(p->all_instructions + 1));
    json_object_set_new(place, "text", json_instruction(w));
    json_object_set_new(o, "place", place);
    json_object_set_new(o, "class",
                        w->r->request->kind == POINT_MISS &&
                                p->class != POINT_CLASS_NONE
                            ? json_string(point_class_text(p->class))
                            : json_null());
    json_object_set_new(o, "access",
                        p->has_access != 0 ? json_access(w, &p->access)
                                           : json_null());
    json_object_set_new(o, "object",
                        p->has_access != 0 ? json_object_name(w, &p->object)
                                           : json_null());
    json_object_set_new(o, "calls", json_calls(w));
    json_object_set_new(o, "calls_unknown",
                        json_boolean(p->calls_unknown != 0));
    json_object_set_new(o, "blocks", json_blocks(w));
    json_object_set_new(o, "accesses", json_accesses(w));
    json_object_set_new(o, "set", p->has_set != 0 ? json_set(w) : json_null());
}

int
point_json(const struct point_report *report, FILE *out)
{
    struct writing w = {.r = report, .p = report->point};
    const uint64_t *const params = report->params;
    json_t *const o = json_object();

    if (point_names_begin(&w.names, report->point->files, report->debug_dirs,
                          report->debug_dir_count) != 0) {
        json_decref(o);
        return TALLY_ENOMEM;
    }
    json_object_set_new(o, "schema", json_integer(POINT_SCHEMA));
    json_object_set_new(o, "machine", json_string(report->machine));
    json_object_set_new(o, "command", json_words(report->argv));
    json_object_set_new(o, "l1d_bytes",
                        report_json_number(params[PARAM_L1D_SIZE]));
    json_object_set_new(o, "l1d_line",
                        report_json_number(params[PARAM_L1D_LINE]));
    json_object_set_new(o, "l1d_ways",
                        report_json_number(params[PARAM_L1D_WAYS]));
    add_point(&w, o);
    const int failed = json_dumpf(o, out, JSON_INDENT(2));
    json_decref(o);
    fputc('\n', out);
    point_names_end(&w.names);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}
