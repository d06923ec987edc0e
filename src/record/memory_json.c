/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "record/memory.h"
#include "record/pointers.h"
#include "report/csv.h"
#include "report/json_text.h"

#define MEMORY_SCHEMA 1

static const char *const count_names[] = {
    [MEMORY_LOADS] = "loads",
    [MEMORY_STORES] = "stores",
    [MEMORY_LOAD_MISSES] = "load_misses",
    [MEMORY_STORE_MISSES] = "store_misses",
    [MEMORY_COHERENCE] = "coherence_misses",
    [MEMORY_FALSE] = "false_sharing_misses",
    [MEMORY_FIRST] = "first_touch_misses",
    [MEMORY_CAPACITY] = "capacity_misses",
    [MEMORY_CONFLICT] = "conflict_misses",
};

static const char *const advice_names[] = {
    [MEMORY_SEPARATE] = "false-sharing", [MEMORY_SHARE] = "sharing",
    [MEMORY_SPREAD] = "conflict",        [MEMORY_BLOCK] = "capacity",
    [MEMORY_PACK] = "sparse-lines",      [MEMORY_STREAM] = "first-touch",
};

const char *
memory_advice_name(enum memory_advice advice)
{
    return advice_names[advice];
}

/* Returns the counts from `first` on. */
static json_t *
json_counts(const uint64_t counts[MEMORY_COUNTS], enum memory_count first)
{
    json_t *const o = json_object();

    for (unsigned i = first; i < MEMORY_COUNTS; i++)
        json_object_set_new(o, count_names[i], report_json_number(counts[i]));
    return o;
}

/* Returns numbers as an array, without the zeroes at the end. */
static json_t *
json_numbers(const uint64_t *numbers, size_t count)
{
    json_t *const array = json_array();

    while (count > 0 && numbers[count - 1] == 0)
        count--;
    for (size_t i = 0; i < count; i++)
        json_array_append_new(array, report_json_number(numbers[i]));
    return array;
}

/* Adds where something is in the source; null: not known. */
static void
add_place(const struct memory *m, json_t *o, uint32_t function, uint32_t file,
          uint32_t line)
{
    json_object_set_new(
        o, "function",
        function != 0 ? report_json_text(resolver_text(m->resolver, function))
                      : json_null());
    json_object_set_new(o, "file",
                        file != 0
                            ? report_json_text(resolver_text(m->resolver, file))
                            : json_null());
    json_object_set_new(o, "line",
                        file != 0 ? report_json_number(line) : json_null());
}

/* Returns a place in the source; null: not known. */
static json_t *
json_place(const char *file, unsigned line)
{
    json_t *const o = file != NULL ? json_object() : json_null();

    if (file != NULL) {
        json_object_set_new(o, "file", report_json_text(file));
        json_object_set_new(o, "line", report_json_number(line));
    }
    return o;
}

/* Returns the type of an object's data; null: not known. */
static json_t *
json_data_type(const struct memory_object *object)
{
    const struct name_type *const type = object->type;

    if (type == NULL)
        return json_null();
    json_t *const o = json_object();
    json_object_set_new(o, "name", report_json_text(type->name));
    json_object_set_new(o, "bytes", report_json_number(type->size));
    json_object_set_new(o, "declared", json_place(type->file, type->line));
    json_object_set_new(o, "misses", report_json_number(object->type_misses));
    return o;
}

/* Returns the numbers of the bytes of a line that the bits stand for. */
static json_t *
json_bytes(const struct memory *m, uint64_t bits)
{
    const uint64_t line = m->record->cache.line;
    const uint64_t step = line > 64 ? line / 64 : 1;
    json_t *const array = json_array();

    for (uint64_t i = 0; i < 64 * step; i++) {
        if (bits >> i / step & 1)
            json_array_append_new(array, report_json_number(i));
    }
    return array;
}

static json_t *
json_shared(const struct memory *m, const struct memory_object *object)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < object->shared_count; i++) {
        const struct memory_shared *const s = &object->shared[i];
        json_t *const o = json_object();
        json_object_set_new(
            o, "process",
            report_json_number(m->record->processes[s->process].number));
        json_object_set_new(o, "thread", report_json_number(s->thread));
        json_object_set_new(o, "stored_by", report_json_number(s->from));
        json_object_set_new(o, "lines", report_json_number(s->lines));
        json_object_set_new(
            o, "first_line_address",
            report_json_number(s->line * m->record->cache.line));
        json_object_set_new(o, "coherence_misses",
                            report_json_number(s->same + s->other));
        json_object_set_new(o, "false_sharing_misses",
                            report_json_number(s->other));
        json_object_set_new(o, "used_misses", report_json_number(s->used));
        json_object_set_new(o, "turn_instructions",
                            m->turn_count != 0 ? report_json_number(s->ran)
                                               : json_null());
        json_object_set_new(o, "bytes", json_bytes(m, s->bytes));
        json_object_set_new(o, "stored_bytes", json_bytes(m, s->stored));
        json_array_append_new(array, o);
    }
    return array;
}

static json_t *
json_driven(const struct memory *m, const struct memory_object *object)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < object->driven_count; i++) {
        const struct memory_driven *const d = &object->driven[i];
        json_t *const o = json_object();
        json_object_set_new(o, "by",
                            report_json_text(m->objects[d->by].name->text));
        add_place(m, o, d->function, d->file, d->line);
        json_object_set_new(o, "capacity_misses",
                            report_json_number(d->capacity));
        json_object_set_new(o, "conflict_misses",
                            report_json_number(d->conflict));
        json_array_append_new(array, o);
    }
    return array;
}

/* Returns a line of source, with its counts from `first` on, and how its
 * addresses follow each other. */
static json_t *
json_line(const struct memory *m, const struct memory_line *l,
          enum memory_count first)
{
    json_t *const o = json_object();

    add_place(m, o, l->function, l->file, l->line);
    json_object_set_new(o, "counts", json_counts(l->counts, first));
    json_object_set_new(o, "addresses",
                        json_string(memory_pattern_name(l->pattern)));
    json_object_set_new(o, "stride",
                        memory_has_stride(l) ? json_integer(l->stride)
                                             : json_null());
    return o;
}

static json_t *
json_lines(const struct memory *m)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < m->line_count; i++)
        json_array_append_new(array, json_line(m, &m->lines[i], MEMORY_LOADS));
    return array;
}

/* Returns the numbers that each name of objects has in the first process, as
 * arrays, for the caller to free but for the arrays; NULL: no memory. */
static json_t **
list_numbers(const struct memory *m)
{
    const struct object_names *const names = &m->by_object->objects;
    const struct record *const record = m->record;
    json_t **const arrays = calloc(names->count + 1, sizeof(json_t *));

    for (size_t i = 0; arrays != NULL && i < names->count; i++)
        arrays[i] = json_array();
    for (size_t i = 1; arrays != NULL && record->process_count > 0 &&
                       i <= record->processes[0].object_count;
         i++)
        json_array_append_new(arrays[names->of[0][i]], report_json_number(i));
    return arrays;
}

static json_t *
json_objects(const struct memory *m)
{
    json_t *const array = json_array();
    json_t **const numbers = list_numbers(m);

    for (size_t i = 0; i < m->object_count; i++) {
        const struct memory_object *const object = &m->objects[i];
        const struct record_used *const used = &object->name->used;
        json_t *const o = json_object();
        json_object_set_new(o, "name", report_json_text(object->name->text));
        json_object_set_new(o, "kind",
                            json_string(object_names_kind(object->name->kind)));
        json_object_set_new(o, "counts",
                            json_counts(object->counts, MEMORY_LOADS));
        json_object_set_new(o, "bytes_fetched",
                            report_json_number(used->fetched));
        json_object_set_new(o, "bytes_used", report_json_number(used->touched));
        json_object_set_new(o, "reuse",
                            json_numbers(object->reuse, MEMORY_POWERS));
        json_object_set_new(o, "conflict_misses_by_set",
                            json_numbers(object->sets, object->sets != NULL
                                                           ? m->set_count
                                                           : 0));
        json_object_set_new(o, "shared", json_shared(m, object));
        json_object_set_new(o, "driven_out", json_driven(m, object));
        json_object_set_new(o, "type", json_data_type(object));
        json_object_set_new(
            o, "worst_line",
            memory_misses(object->worst.counts) != 0
                ? json_line(m, &object->worst, MEMORY_LOAD_MISSES)
                : json_null());
        json_object_set_new(
            o, "numbers",
            numbers != NULL ? numbers[object->name - m->by_object->objects.rows]
                            : json_null());
        json_array_append_new(array, o);
    }
    free((void *)numbers);
    return array;
}

/* Returns the members that rows tell, by thread if asked for. */
static json_t *
json_members(const struct memory *m, const struct memory_member *rows,
             size_t count, bool by_thread)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < count; i++) {
        const struct memory_member *const row = &rows[i];
        json_t *const o = json_object();
        json_object_set_new(
            o, "object", report_json_text(m->objects[row->object].name->text));
        if (by_thread) {
            json_object_set_new(
                o, "process",
                report_json_number(m->record->processes[row->process].number));
            json_object_set_new(o, "thread", report_json_number(row->thread));
        }
        json_object_set_new(o, "type", report_json_text(row->type->name));
        json_object_set_new(o, "member", report_json_text(row->part.path));
        json_object_set_new(o, "member_offset",
                            row->part.in_array
                                ? report_json_number(row->part.array)
                                : report_json_number(row->part.offset));
        json_object_set_new(o, "member_bytes",
                            report_json_number(row->part.size));
        json_object_set_new(o, "declared",
                            json_place(row->part.file, row->part.line));
        json_object_set_new(o, "known_by",
                            json_string(pointers_source_name(
                                (enum pointer_source)row->source)));
        json_object_set_new(o, "counts",
                            json_counts(row->counts, MEMORY_LOAD_MISSES));
        json_array_append_new(array, o);
    }
    return array;
}

/* Returns how lines were parted: for each range of lines the bytes of each
 * group that went to a line of its own. */
static json_t *
json_parts(const struct moves *m)
{
    json_t *const parts = json_array();

    for (uint32_t i = 0; i < m->part_count; i++) {
        const struct moves_part *const p = &m->parts[i];
        json_t *const groups = json_array();
        for (unsigned k = 0; k < m->line; k++) {
            while (json_array_size(groups) < p->group[k])
                json_array_append_new(groups, json_array());
            if (p->group[k] != 0)
                json_array_append_new(json_array_get(groups, p->group[k] - 1u),
                                      json_integer(k));
        }
        json_t *const part = json_object();
        json_object_set_new(part, "first_line_address",
                            report_json_number(p->first));
        json_object_set_new(
            part, "lines",
            report_json_number((p->last - p->first + 1) / m->line));
        json_object_set_new(part, "apart", groups);
        json_array_append_new(parts, part);
    }
    return parts;
}

/* Returns what a trial has told, or why it has told nothing; null: none was
 * asked for. */
static json_t *
json_trial(const struct memory_finding *f)
{
    const struct memory_trial *const trial = &f->trial;

    if (trial->end == MEMORY_UNTRIED)
        return json_null();
    json_t *const o = json_object();
    json_object_set_new(o, "tried", json_boolean(trial->end == MEMORY_TRIED));
    if (trial->end != MEMORY_TRIED) {
        json_object_set_new(o, "reason", json_string(memory_untried(trial)));
        return o;
    }
    json_object_set_new(o, "every",
                        trial->moves.every != 0
                            ? report_json_number(trial->moves.every)
                            : json_null());
    json_object_set_new(o, "gap",
                        trial->moves.line == 0
                            ? report_json_number(trial->moves.gap)
                            : json_null());
    json_object_set_new(o, "parts", json_parts(&trial->moves));
    json_object_set_new(o, "misses_before", report_json_number(trial->before));
    json_object_set_new(o, "misses_after", report_json_number(trial->after));
    json_object_set_new(o, "coherence_misses_before",
                        report_json_number(trial->shared_before));
    json_object_set_new(o, "coherence_misses_after",
                        report_json_number(trial->shared_after));
    json_object_set_new(o, "helps", json_boolean(!memory_was_vain(f)));
    return o;
}

/* Returns at how many turns lines came over; null: at few. */
static json_t *
json_steady(const struct memory_steady *s)
{
    if (s->misses == 0)
        return json_null();
    json_t *const o = json_object();
    json_object_set_new(o, "misses", report_json_number(s->misses));
    json_object_set_new(o, "turns", report_json_number(s->turns));
    json_object_set_new(o, "instructions",
                        report_json_number(s->ran / s->misses));
    return o;
}

/* Returns how many turns each thread had. */
static json_t *
json_turns(const struct memory *m)
{
    json_t *const array = json_array();

    for (size_t i = 0; i < m->turn_count; i++) {
        const struct memory_turns *const t = &m->turns[i];
        json_t *const o = json_object();
        json_object_set_new(
            o, "process",
            report_json_number(m->record->processes[t->process].number));
        json_object_set_new(o, "thread", report_json_number(t->thread));
        json_object_set_new(o, "turns", report_json_number(t->turns));
        json_array_append_new(array, o);
    }
    return array;
}

/* Returns the findings; NULL: no memory. */
static json_t *
json_findings(const struct memory *m)
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
        json_object_set_new(o, "object",
                            report_json_text(m->objects[f->object].name->text));
        json_object_set_new(o, "misses", report_json_number(f->misses));
        json_object_set_new(o, "text", report_json_text(text));
        json_object_set_new(o, "turns",
                            f->advice == MEMORY_SEPARATE
                                ? json_steady(&m->objects[f->object].steady)
                                : json_null());
        json_object_set_new(o, "what_if", json_trial(f));
        json_array_append_new(array, o);
        free(text);
    }
    return array;
}

int
memory_json(const struct memory *m, FILE *out)
{
    const struct record *const record = m->record;
    json_t *const findings = json_findings(m);
    json_t *const command = json_array();
    json_t *const o = json_object();

    if (findings == NULL) {
        json_decref(command);
        json_decref(o);
        return TALLY_ENOMEM;
    }
    for (char **word = record->argv; *word != NULL; word++)
        json_array_append_new(command, report_json_text(*word));
    json_object_set_new(o, "schema", json_integer(MEMORY_SCHEMA));
    json_object_set_new(o, "machine", report_json_text(record->machine));
    json_object_set_new(o, "command", command);
    json_object_set_new(o, "cut", json_boolean(record->cut));
    json_object_set_new(o, "partial", json_boolean(record->partial));
    json_object_set_new(o, "repeats", json_boolean(record->varies == 0));
    if (record->trace != NULL)
        json_object_set_new(o, "trace", report_json_text(record->trace));
    memory_set_cache(o, m);
    json_object_set_new(o, "standing", json_string(m->standing));
    json_object_set_new(o, "counts", json_counts(m->counts, MEMORY_LOADS));
    json_object_set_new(o, "loader_misses",
                        report_json_number(memory_misses(m->loader)));
    json_object_set_new(o, "turns", json_turns(m));
    json_object_set_new(o, "findings", findings);
    json_object_set_new(o, "objects", json_objects(m));
    json_object_set_new(o, "members",
                        json_members(m, m->members, m->member_count, false));
    json_object_set_new(
        o, "members_by_thread",
        json_members(m, m->thread_members, m->thread_member_count, true));
    json_object_set_new(o, "lines", json_lines(m));
    json_object_set_new(o, "reuse", json_numbers(m->reuse, MEMORY_POWERS));
    json_object_set_new(o, "conflict_misses_by_set",
                        json_numbers(m->sets, m->set_count));
    const int failed = json_dumpf(o, out, JSON_INDENT(2));
    json_decref(o);
    fputc('\n', out);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}

int
memory_csv(const struct memory *m, char separator, FILE *out)
{
    fputs("object", out);
    for (unsigned i = 0; i < MEMORY_COUNTS; i++)
        fprintf(out, "%c%s", separator, count_names[i]);
    fprintf(out, "%cbytes_fetched%cbytes_used%ctype%ctype_misses\n", separator,
            separator, separator, separator);
    for (size_t i = 0; i < m->object_count; i++) {
        const struct memory_object *const o = &m->objects[i];
        report_csv_text(o->name->text, separator, out);
        for (unsigned k = 0; k < MEMORY_COUNTS; k++)
            fprintf(out, "%c%llu", separator, (unsigned long long)o->counts[k]);
        fprintf(out, "%c%llu%c%llu%c", separator,
                (unsigned long long)o->name->used.fetched, separator,
                (unsigned long long)o->name->used.touched, separator);
        if (o->type != NULL)
            report_csv_text(o->type->name, separator, out);
        fprintf(out, "%c%llu\n", separator, (unsigned long long)o->type_misses);
    }
    return ferror(out) != 0 ? TALLY_EIO : 0;
}
