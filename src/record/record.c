/* SPDX-License-Identifier: MIT */
#include "record/record.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "record/bytes.h"
#include "record/chunks.h"
#include "record/kept_names.h"
#include "record/record_format.h"
#include "record/run_note.h"
#include "table/near.h"
#include "table/table.h"

/* The state of a reading. */
struct reading {
    const struct tally_log *log;
    struct chunk_reader *chunks; /* of the file */
    struct record *record;
    struct record kept; /* the last whole set, while another is read */
    uint64_t at;        /* of the chunk, in the file */
};

static int
no_memory(const struct reading *r)
{
    return tally_fail(r->log, TALLY_ENOMEM, "%s: no memory for the record",
                      r->record->path);
}

/* Says that a chunk holds what no tally writes. */
static int
bad(const struct reading *r, const char *what)
{
    return tally_fail(r->log, TALLY_ESYNTAX,
                      "%s: the chunk at byte %llu %s; the file is damaged",
                      r->record->path, (unsigned long long)r->at, what);
}

/* Returns an array of `count` elements for data of `left` bytes, at least one
 * an element: a forged number must not ask for more memory than the file can
 * fill. NULL: no memory, or there are fewer bytes. */
static void *
array_for(const struct cursor *c, uint64_t count, size_t size)
{
    return count <= cursor_left(c) ? calloc((size_t)count + 1, size) : NULL;
}

/* Returns the array with room for one more element, zeroed; NULL: no memory. */
static void *
grown(void *array, size_t count, size_t size)
{
    char *more = array;

    if ((count & (count - 1)) == 0)
        more = realloc(array, (count != 0 ? count * 2 : 1) * size);
    if (more != NULL)
        memset(more + count * size, 0, size);
    return more;
}

static char *
take_text(struct cursor *c)
{
    size_t length;
    const char *text = cursor_string(c, &length);

    return text != NULL ? strndup(text, length) : NULL;
}

static char *
text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));

    return text != NULL ? strdup(text) : NULL;
}

static int
read_event(struct reading *r, const json_t *event, struct record_event_row *row)
{
    row->name = text_of(event, "name");
    row->asked = text_of(event, "asked");
    row->unit = text_of(event, "unit");
    row->brief = text_of(event, "brief");
    row->standing = text_of(event, "standing");
    return row->name && row->asked && row->unit && row->brief && row->standing
               ? 0
               : bad(r, "has an event without a name");
}

/* Returns the member of the head that has the level of caches which data miss,
 * and the level; or NULL: none has. */
static const json_t *
find_level(const json_t *head, enum cache_id *level)
{
    for (enum cache_id i = 0; i < CACHE_COUNT; i++) {
        const json_t *const found = json_object_get(head, tally_caches[i].name);
        if (found == NULL)
            continue;
        *level = i;
        return found;
    }
    return NULL;
}

/* Reads the geometry of the caches that data miss from the head, if it is
 * there. */
static int
read_cache(struct reading *r, const json_t *head)
{
    struct record_cache *const cache = &r->record->cache;
    const json_t *const level = find_level(head, &cache->level);

    if (level == NULL)
        return 0;
    cache->size = (uint64_t)json_integer_value(json_object_get(level, "size"));
    cache->line = (uint64_t)json_integer_value(json_object_get(level, "line"));
    cache->ways = (uint64_t)json_integer_value(json_object_get(level, "ways"));
    if (cache->line < 8 || cache->line > 4096 || cache->ways == 0 ||
        cache->ways > 4096 || cache->size > UINT64_C(1) << 34 ||
        cache->size < cache->line * cache->ways)
        return bad(r, "has a cache that cannot be");
    r->record->has_reasons = true;
    return 0;
}

/* Reads from the head what data were moved for the caches, if any were. */
static int
read_moves(struct reading *r, const json_t *head)
{
    const json_t *const from = json_object_get(head, "moves");
    const json_t *const objects = json_object_get(from, "objects");
    struct moves *const m = &r->record->moves;
    const char *const parted =
        json_string_value(json_object_get(from, "parted"));

    if (from == NULL)
        return 0;
    if (parted != NULL)
        return moves_read(m, parted) && m->line != 0
                   ? 0
                   : bad(r, "has data moved as they cannot be");
    m->every = (uint64_t)json_integer_value(json_object_get(from, "every"));
    m->gap = (uint64_t)json_integer_value(json_object_get(from, "gap"));
    if (!moves_fit(m->every, m->gap) || json_array_size(objects) == 0 ||
        json_array_size(objects) > MOVES_OBJECTS)
        return bad(r, "has data moved as they cannot be");
    for (size_t i = 0; i < json_array_size(objects); i++)
        m->objects[m->count++] =
            (uint32_t)json_integer_value(json_array_get(objects, i));
    return 0;
}

static int
read_head(struct reading *r, const struct chunk *chunk)
{
    struct record *record = r->record;
    json_t *head = json_loadb((const char *)chunk->data, chunk->size, 0, NULL);
    const json_t *events = json_object_get(head, "events");
    const json_t *command = json_object_get(head, "command");
    const json_int_t schema =
        json_integer_value(json_object_get(head, "schema"));
    int error = 0;

    if (head == NULL || record->version != NULL)
        error = bad(r, "is no head of a record");
    else if (schema != RECORD_SCHEMA)
        error = tally_fail(r->log, TALLY_ESYNTAX,
                           "%s: schema %lld of a record; this tally reads %d",
                           record->path, (long long)schema, RECORD_SCHEMA);
    if (error == 0) {
        record->version = text_of(head, "tally");
        record->machine = text_of(head, "machine");
        record->isa = text_of(head, "isa");
        record->cpu = text_of(head, "cpu");
        record->heap_reason = text_of(head, "heap_reason");
        record->event_count = json_array_size(events);
        record->events =
            calloc(record->event_count + 1, sizeof(*record->events));
        record->argv =
            calloc(json_array_size(command) + 1, sizeof(*record->argv));
        if (record->events == NULL || record->argv == NULL)
            error = no_memory(r);
        else if (!record->version || !record->machine || !record->isa ||
                 record->event_count == 0)
            error = bad(r, "is a head that lacks something");
    }
    record->has_waits = json_is_true(json_object_get(head, "locks"));
    record->heap_is_whole =
        json_is_true(json_object_get(head, "heap_is_whole"));
    record->has_branches = json_is_true(json_object_get(head, "branches"));
    if (error == 0)
        error = read_cache(r, head);
    if (error == 0)
        error = read_moves(r, head);
    for (size_t i = 0; error == 0 && i < record->event_count; i++)
        error = read_event(r, json_array_get(events, i), &record->events[i]);
    for (size_t i = 0; error == 0 && i < json_array_size(command); i++) {
        const char *word = json_string_value(json_array_get(command, i));
        record->argv[i] = strdup(word != NULL ? word : "");
        if (record->argv[i] == NULL)
            error = no_memory(r);
    }
    json_decref(head);
    return error;
}

/* Returns the index of the image, which is added if it is new; -1: no memory.
 */
static long
find_image(struct record *record, char *path, const char *id, size_t id_size)
{
    for (size_t i = 0; i < record->image_count; i++) {
        const struct record_image *image = &record->images[i];
        if (image->build_id_size == id_size && strcmp(image->path, path) == 0 &&
            memcmp(image->build_id, id, id_size) == 0) {
            free(path);
            return (long)i;
        }
    }
    struct record_image *images =
        grown(record->images, record->image_count, sizeof(*images));
    if (images == NULL) {
        free(path);
        return -1;
    }
    record->images = images;
    images[record->image_count].path = path;
    memcpy(images[record->image_count].build_id, id, id_size);
    images[record->image_count].build_id_size = (uint8_t)id_size;
    return (long)record->image_count++;
}

static int
read_mappings(struct reading *r, struct cursor *c,
              struct record_mapping *mappings, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        size_t id_size;
        char *path = take_text(c);
        mappings[i].first = cursor_varint(c);
        mappings[i].last = cursor_varint(c);
        mappings[i].offset = cursor_varint(c);
        const char *id = cursor_string(c, &id_size);
        if (path == NULL || c->failed || id_size > RECORD_BUILD_ID) {
            free(path);
            return bad(r, "has no whole list of files");
        }
        const long image = find_image(r->record, path, id, id_size);
        if (image < 0)
            return no_memory(r);
        mappings[i].image = (uint32_t)image;
    }
    return 0;
}

static int
read_insns(struct reading *r, struct cursor *c, struct record_process_row *p,
           const struct record_mapping *mappings, uint64_t mapping_count)
{
    uint64_t end = 0;
    size_t code = 0;

    for (size_t i = 0; i < p->insn_count; i++) {
        struct record_insn *insn = &p->insns[i];
        const uint64_t image = cursor_varint(c);
        insn->address = end + (uint64_t)cursor_signed(c);
        insn->size = cursor_u8(c);
        if (c->failed || image > mapping_count)
            return bad(r, "has an instruction of no file");
        insn->image = RECORD_NO_IMAGE;
        insn->offset = insn->address;
        if (image > 0) {
            const struct record_mapping *m = &mappings[image - 1];
            insn->image = m->image;
            insn->offset = insn->address - m->first + m->offset;
        }
        insn->code = (uint32_t)code;
        code += insn->size;
        end = insn->address + insn->size;
    }
    const uint8_t *bytes = cursor_take(c, code);
    if (bytes == NULL)
        return bad(r, "lacks the code of its instructions");
    p->code = malloc(code + 1);
    if (p->code == NULL)
        return no_memory(r);
    memcpy(p->code, bytes, code);
    p->code_size = code;
    return 0;
}

static int
read_process(struct reading *r, const struct chunk *chunk)
{
    struct record *record = r->record;
    struct cursor c = cursor_of(chunk->data, chunk->size);
    struct record_process_row *rows =
        grown(record->processes, record->process_count, sizeof(*rows));

    if (rows == NULL)
        return no_memory(r);
    record->processes = rows;
    struct record_process_row *p = &rows[record->process_count++];
    p->number = (unsigned)cursor_varint(&c);
    p->pid = (int)cursor_varint(&c);
    p->parent = (int)cursor_varint(&c);
    p->begin = (unsigned)cursor_varint(&c);
    p->program = take_text(&c);
    const uint64_t mapping_count = cursor_varint(&c);
    p->mappings = array_for(&c, mapping_count, sizeof(*p->mappings));
    if (p->program == NULL || p->mappings == NULL || c.failed)
        return bad(r, "is no whole process");
    p->mapping_count = mapping_count;
    int error = read_mappings(r, &c, p->mappings, mapping_count);
    if (error == 0) {
        p->insn_count = cursor_varint(&c);
        p->insns = array_for(&c, p->insn_count, sizeof(*p->insns));
        if (p->insns == NULL) {
            p->insn_count = 0;
            error = bad(r, "lacks instructions");
        }
    }
    if (error == 0)
        error = read_insns(r, &c, p, p->mappings, mapping_count);
    p->paths = calloc(1, sizeof(*p->paths));
    if (error == 0 && p->paths == NULL)
        error = no_memory(r);
    if (error == 0) {
        p->paths[0].call = RECORD_NO_CALL;
        p->path_count = 1;
    }
    return error;
}

/* Returns the index of the process with the number, or -1. */
static long
find_process(const struct record *record, uint64_t number)
{
    for (size_t i = record->process_count; i > 0; i--) {
        if (record->processes[i - 1].number == number)
            return (long)i - 1;
    }
    return -1;
}

/* Finds the values of all events, which are expanded later: few are asked for.
 */
static int
find_values(struct reading *r, struct cursor *c, struct record_counts_row *t)
{
    t->values = calloc(r->record->event_count + 1, sizeof(*t->values));
    if (t->values == NULL)
        return no_memory(r);
    for (size_t e = 0; e < r->record->event_count; e++) {
        t->values[e].bytes = c->at;
        if (!cursor_pass_values(c, t->count))
            return bad(r, "lacks counts");
        t->values[e].size = (size_t)(c->at - t->values[e].bytes);
    }
    return 0;
}

static inline void
walk_on(struct record_walk *w)
{
    if (w->left == 0 || --w->left == 0)
        return;
    /* Most steps and values are of one byte each. */
    const uint8_t *const at = w->rest.at;
    if (cursor_left(&w->rest) >= 2 && ((at[0] | at[1]) & 0x80) == 0) {
        w->row += at[0] + UINT64_C(1);
        w->value = at[1] >> 1 ^ -(at[1] & 1);
        w->rest.at += 2;
        return;
    }
    w->row += cursor_varint(&w->rest) + 1;
    w->value = cursor_signed(&w->rest);
}

void
record_walk_on(struct record_walk *w)
{
    walk_on(w);
}

void
record_walk_begin(struct record_walk *w, const struct record_counts_row *t,
                  size_t event)
{
    const struct record_values *v = &t->values[event];

    *w = (struct record_walk){
        .values = v,
        .rest = cursor_of(v->bytes, v->size),
        .row = UINT64_MAX, /* less than 0 by one */
        .count = t->count,
    };
    if (v->by_row != NULL)
        return;
    w->left = cursor_varint(&w->rest) + 1;
    record_walk_on(w);
}

bool
record_walk_next(struct record_walk *w, size_t *row, int64_t *value)
{
    const int64_t *const by_row = w->values->by_row;

    if (by_row != NULL) {
        while (++w->row < w->count && by_row[w->row] == 0)
            ;
        if (w->row >= w->count) {
            w->row = w->count - 1; /* again no more */
            return false;
        }
        *row = (size_t)w->row;
        *value = by_row[w->row];
        return true;
    }
    /* A forged record may have a value of 0. */
    while (w->left > 0 && w->value == 0)
        walk_on(w);
    if (w->left == 0)
        return false;
    *row = (size_t)w->row;
    *value = w->value;
    walk_on(w);
    return true;
}

int64_t
record_walk_sum(struct record_walk *w, size_t from, size_t end)
{
    const int64_t *const by_row = w->values->by_row;
    struct record_walk walk = *w; /* stays in registers */
    uint64_t sum = 0;             /* wraps around */

    if (by_row == NULL) {
        if (w->left == 0 || w->row >= end)
            return 0;
        for (; walk.left > 0 && walk.row < end; walk_on(&walk))
            sum += walk.row >= from ? (uint64_t)walk.value : 0;
        *w = walk;
        return (int64_t)sum;
    }
    for (size_t row = from; row < end; row++)
        sum += (uint64_t)by_row[row];
    return (int64_t)sum;
}

const int64_t *
record_values(const struct record_counts_row *t, size_t event)
{
    struct record_values *v = &t->values[event];
    struct record_walk walk;

    if (v->by_row != NULL)
        return v->by_row;
    record_walk_begin(&walk, t, event);
    v->by_row = calloc(t->count + 1, sizeof(*v->by_row));
    for (; v->by_row != NULL && walk.left > 0; record_walk_on(&walk))
        v->by_row[walk.row] = walk.value;
    return v->by_row;
}

/* Reads more paths of a process. */
static int
read_paths(struct reading *r, const struct chunk *chunk)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const long process = find_process(r->record, cursor_varint(&c));
    const uint64_t first = cursor_varint(&c);
    const uint64_t count = cursor_varint(&c);

    if (process < 0)
        return bad(r, "has calls of no process");
    struct record_process_row *p = &r->record->processes[process];
    if (first != p->path_count || count > cursor_left(&c) ||
        count > UINT32_MAX - first)
        return bad(r, "lacks calls");
    struct record_path *paths =
        reallocarray(p->paths, first + count, sizeof(*paths));
    if (paths == NULL)
        return no_memory(r);
    p->paths = paths;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t parent = cursor_varint(&c), call = cursor_varint(&c);
        if (c.failed || parent >= p->path_count || call > p->insn_count)
            return bad(r, "has a call that is not there");
        p->paths[p->path_count++] =
            (struct record_path){(uint32_t)parent, (uint32_t)call - 1};
    }
    r->record->has_callers = true;
    return 0;
}

/* Reads one object; false: it cannot be. */
static bool
read_object(struct cursor *c, const struct record_process_row *p,
            struct record_object_row *o)
{
    const uint64_t kind = cursor_varint(c);

    o->used = (struct record_used){0};
    o->name = take_text(c);
    o->image = take_text(c);
    o->size = cursor_varint(c);
    const uint64_t path = cursor_varint(c);
    o->allocations = cursor_varint(c);
    o->bytes = cursor_varint(c);
    o->kind = (unsigned)kind;
    o->path = (uint32_t)path;
    o->insn = RECORD_NO_CALL;
    if (kind == RECORD_STACK) {
        if (o->size > p->insn_count)
            return false;
        o->insn = (uint32_t)o->size - 1;
        o->size = 0;
    }
    return !c->failed && o->name != NULL && o->image != NULL && kind != 0 &&
           kind < RECORD_OBJECT_KINDS && path < p->path_count;
}

/* Reads more objects of a process. */
static int
read_objects(struct reading *r, const struct chunk *chunk)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const long process = find_process(r->record, cursor_varint(&c));
    const uint64_t first = cursor_varint(&c);
    const uint64_t count = cursor_varint(&c);

    if (process < 0)
        return bad(r, "has objects of no process");
    struct record_process_row *p = &r->record->processes[process];
    if (first != p->object_count || count > cursor_left(&c) ||
        count >= UINT32_MAX - first)
        return bad(r, "lacks objects");
    struct record_object_row *objects =
        reallocarray(p->objects, first + count + 1, sizeof(*objects));
    if (objects == NULL)
        return no_memory(r);
    p->objects = objects;
    for (uint64_t i = 0; i < count; i++) {
        const bool good = read_object(&c, p, &objects[p->object_count++]);
        if (!good)
            return bad(r, "has an object that cannot be");
    }
    r->record->has_objects = true;
    return 0;
}

/* Reads how objects of a process were used. */
static int
read_uses(struct reading *r, const struct chunk *chunk)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const long process = find_process(r->record, cursor_varint(&c));
    uint64_t count = cursor_varint(&c), next = 0;

    if (process < 0)
        return bad(r, "has uses of no process");
    struct record_process_row *p = &r->record->processes[process];
    for (; count > 0; count--) {
        const uint64_t step = cursor_varint(&c);
        if (c.failed || next >= p->object_count ||
            step >= p->object_count - next)
            return bad(r, "has uses of an object that is not there");
        struct record_used *used = &p->objects[next + step].used;
        used->loads = cursor_varint(&c);
        used->stores = cursor_varint(&c);
        used->fetched = cursor_varint(&c);
        used->touched = cursor_varint(&c);
        if (c.failed || used->touched > used->fetched)
            return bad(r, "has uses that cannot be");
        next += step + 1;
    }
    r->record->has_uses = true;
    return 0;
}

/* Reads a number of something of which there are `count`; a larger one fails.
 */
static uint32_t
read_below(struct cursor *c, uint64_t count)
{
    const uint64_t number = cursor_varint(c);

    c->failed |= number >= count;
    return (uint32_t)number;
}

static void
read_reason(struct cursor *c, const struct record_process_row *p,
            struct record_reason_row *row)
{
    row->why = (enum record_reason_kind)read_below(c, RECORD_REASON_KINDS);
    row->object = read_below(c, p->object_count + 1);
    row->other =
        read_below(c, record_reason_is_driven(row->why) ? p->object_count + 1
                                                        : UINT32_MAX);
    row->thread = read_below(c, UINT32_MAX);
    row->insn = read_below(c, p->insn_count + 1) - 1;
    row->place = cursor_varint(c);
    row->count = cursor_varint(c);
    row->bytes = cursor_varint(c);
    row->other_bytes = cursor_varint(c);
    c->failed |= row->why == 0 || row->count >> 52 != 0;
}

static void
read_stride(struct cursor *c, const struct record_process_row *p,
            struct record_stride_row *row)
{
    row->insn = read_below(c, p->insn_count);
    const uint32_t flags = read_below(c, 4);
    row->stores = (flags & 1) != 0;
    row->follows = (flags & 2) != 0;
    row->step_count = read_below(c, RECORD_STEPS_MOST + 1);
    for (unsigned i = 0; !c->failed && i < row->step_count; i++) {
        row->steps[i].bytes = cursor_signed(c);
        row->steps[i].count = cursor_varint(c);
        c->failed |= row->steps[i].count >> 52 != 0;
    }
    row->other = cursor_varint(c);
    c->failed |= row->other >> 52 != 0;
}

/* Reads why data of a process missed. */
static int
read_reasons(struct reading *r, const struct chunk *chunk)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const long process = find_process(r->record, cursor_varint(&c));

    if (process < 0)
        return bad(r, "has reasons of no process");
    struct record_process_row *const p = &r->record->processes[process];
    if (p->reasons != NULL)
        return bad(r, "has reasons of a process that has some");
    p->reason_count = cursor_varint(&c);
    p->reasons = array_for(&c, p->reason_count, sizeof(*p->reasons));
    if (p->reasons == NULL) {
        p->reason_count = 0;
        return bad(r, "lacks reasons");
    }
    for (size_t i = 0; !c.failed && i < p->reason_count; i++)
        read_reason(&c, p, &p->reasons[i]);
    p->stride_count = cursor_varint(&c);
    p->strides = array_for(&c, p->stride_count, sizeof(*p->strides));
    if (p->strides == NULL) {
        p->stride_count = 0;
        return bad(r, "lacks strides");
    }
    for (size_t i = 0; !c.failed && i < p->stride_count; i++)
        read_stride(&c, p, &p->strides[i]);
    return c.failed ? bad(r, "has a reason that cannot be") : 0;
}

static void
read_wait(struct cursor *c, const struct record_process_row *p,
          struct record_wait_row *row)
{
    row->kind = (enum record_wait_kind)read_below(c, RECORD_WAIT_KINDS);
    row->object = read_below(c, p->object_count + 1);
    row->word = cursor_varint(c);
    row->thread = read_below(c, UINT32_MAX);
    row->path = read_below(c, p->path_count + 1) - 1;
    row->insn = read_below(c, p->insn_count + 1) - 1;
    row->waker = read_below(c, UINT32_MAX) - 1;
    row->waker_path = read_below(c, p->path_count + 1) - 1;
    row->waker_insn = read_below(c, p->insn_count + 1) - 1;
    row->count = cursor_varint(c);
    row->time = cursor_varint(c);
    row->longest = cursor_varint(c);
    c->failed |= row->kind == 0 || row->count >> 40 != 0 ||
                 row->time >> 52 != 0 || row->longest >> 52 != 0;
}

static void
read_unended_row(struct cursor *c, const struct record_process_row *p,
                 struct record_unended_row *row)
{
    row->kind = (enum record_wait_kind)read_below(c, RECORD_WAIT_KINDS);
    row->object = read_below(c, p->object_count + 1);
    row->word = cursor_varint(c);
    row->thread = read_below(c, UINT32_MAX);
    row->path = read_below(c, p->path_count + 1) - 1;
    row->insn = read_below(c, p->insn_count + 1) - 1;
    const uint32_t holder = read_below(c, UINT32_MAX);
    row->holder = holder == 0   ? RECORD_NO_NUMBER
                  : holder == 1 ? RECORD_HOLDER_ENDED
                                : holder - 2;
    row->since = cursor_varint(c);
    row->has_time = cursor_u8(c) != 0;
    c->failed |= row->kind == 0 || row->since >> 52 != 0;
}

/* Reads the waits that had not ended, which records of older tallies lack. */
static void
read_unended(struct cursor *c, struct record_process_row *p)
{
    if (c->at == c->end)
        return;
    p->stuck = read_below(c, UINT32_MAX);
    p->unended_count = cursor_varint(c);
    p->unended = array_for(c, p->unended_count, sizeof(*p->unended));
    if (p->unended == NULL) {
        p->unended_count = 0;
        c->failed = true;
    }
    for (size_t i = 0; !c->failed && i < p->unended_count; i++)
        read_unended_row(c, p, &p->unended[i]);
}

static void
read_stretch(struct cursor *c, const struct record_process_row *p,
             struct record_stretch_row *row)
{
    row->thread = read_below(c, UINT32_MAX);
    row->wait = read_below(c, p->wait_count + 1) - 1;
    row->count = cursor_varint(c);
    row->begin = cursor_varint(c);
    const uint64_t length = cursor_varint(c);
    row->end = row->begin + length;
    c->failed |=
        row->count >> 40 != 0 || row->begin >> 52 != 0 || length >> 52 != 0;
    for (unsigned k = 1; k < RECORD_WAIT_KINDS; k++) {
        row->time[k] = cursor_varint(c);
        c->failed |= row->time[k] >> 52 != 0;
    }
}

/* Reads when the threads of a process wait, which records of older tallies
 * lack. */
static void
read_stretches(struct cursor *c, struct record_process_row *p)
{
    if (c->at == c->end)
        return;
    p->stretch_count = cursor_varint(c);
    p->stretches = array_for(c, p->stretch_count, sizeof(*p->stretches));
    if (p->stretches == NULL) {
        p->stretch_count = 0;
        c->failed = true;
    }
    for (size_t i = 0; !c->failed && i < p->stretch_count; i++)
        read_stretch(c, p, &p->stretches[i]);
}

/* Reads what the threads of a process wait for. */
static int
read_waits(struct reading *r, const struct chunk *chunk)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const long process = find_process(r->record, cursor_varint(&c));

    if (process < 0)
        return bad(r, "has waits of no process");
    struct record_process_row *const p = &r->record->processes[process];
    if (p->begins != NULL)
        return bad(r, "has waits of a process that has some");
    p->waits_lost = cursor_u8(&c) != 0;
    p->begin_count = cursor_varint(&c);
    p->begins = array_for(&c, p->begin_count, sizeof(*p->begins));
    if (p->begins == NULL) {
        p->begin_count = 0;
        return bad(r, "lacks threads");
    }
    for (size_t i = 0; !c.failed && i < p->begin_count; i++) {
        p->begins[i].thread = read_below(&c, UINT32_MAX);
        p->begins[i].maker = read_below(&c, UINT32_MAX);
        p->begins[i].time = cursor_varint(&c);
        c.failed |= p->begins[i].time >> 52 != 0;
    }
    p->wait_count = cursor_varint(&c);
    p->waits = array_for(&c, p->wait_count, sizeof(*p->waits));
    if (p->waits == NULL) {
        p->wait_count = 0;
        return bad(r, "lacks waits");
    }
    for (size_t i = 0; !c.failed && i < p->wait_count; i++)
        read_wait(&c, p, &p->waits[i]);
    if (!c.failed)
        read_unended(&c, p);
    if (!c.failed)
        read_stretches(&c, p);
    return c.failed ? bad(r, "has a wait that cannot be") : 0;
}

/* Reads `count` ascending numbers below `limit`, each as its step from the
 * number behind the one before. False: there are not so many. */
static bool
read_steps(struct cursor *c, uint32_t *to, uint64_t count, uint64_t limit)
{
    struct cursor rest = *c; /* stays in registers */
    uint64_t next = 0;

    for (uint64_t i = 0; i < count; i++) {
        next += cursor_varint(&rest);
        if (rest.failed || next >= limit)
            return false;
        to[i] = (uint32_t)next++;
    }
    *c = rest;
    return true;
}

/* Reads the objects, if the counts are of some, paths and instructions of
 * counts. */
static int
read_rows(struct reading *r, struct cursor *c, struct record_counts_row *t)
{
    const struct record_process_row *p = &r->record->processes[t->process];
    uint64_t groups = cursor_varint(c), path = 0, object = 0;
    size_t i = 0;

    for (; groups > 0; groups--) {
        const uint64_t step = t->objects != NULL ? cursor_varint(c) : 0;
        object += step;
        path = step != 0 ? 0 : path;
        if (object > p->object_count || (t->objects != NULL && object == 0))
            return bad(r, "has counts of an object that is not there");
        path += cursor_varint(c);
        uint64_t rows = cursor_varint(c);
        if (c->failed || path >= p->path_count || rows > t->count - i)
            return bad(r, "has counts on a path that is not there");
        for (uint64_t k = 0; k < rows; k++) {
            if (t->objects != NULL)
                t->objects[i + k] = (uint32_t)object;
            t->paths[i + k] = (uint32_t)path;
        }
        if (!read_steps(c, t->insns + i, rows, p->insn_count))
            return bad(r, "counts for an instruction that is not there");
        i += rows;
    }
    return i == t->count ? 0 : bad(r, "lacks counts");
}

static int
read_counts(struct reading *r, struct chunk *chunk)
{
    struct record *record = r->record;
    struct cursor c = cursor_of(chunk->data, chunk->size);
    struct record_counts_row *rows =
        grown(record->counts, record->counts_count, sizeof(*rows));
    const long process = find_process(record, cursor_varint(&c));

    if (rows == NULL)
        return no_memory(r);
    record->counts = rows;
    if (process < 0)
        return bad(r, "counts for no process");
    struct record_counts_row *t = &rows[record->counts_count++];
    if (chunks_take(r->chunks, chunk, &t->bytes) != 0)
        return TALLY_ENOMEM;
    c = cursor_of(chunk->data, chunk->size);
    cursor_varint(&c); /* the process */
    t->process = (unsigned)process;
    t->thread = (unsigned)cursor_varint(&c);
    t->count = cursor_varint(&c);
    if (chunk->type == RECORD_DATA_COUNTS)
        t->objects = array_for(&c, t->count, sizeof(*t->objects));
    t->paths = array_for(&c, t->count, sizeof(*t->paths));
    t->insns = array_for(&c, t->count, sizeof(*t->insns));
    if (t->paths == NULL || t->insns == NULL ||
        (chunk->type == RECORD_DATA_COUNTS && t->objects == NULL)) {
        t->count = 0;
        return bad(r, "lacks counts");
    }
    int error = read_rows(r, &c, t);
    if (error == 0)
        error = find_values(r, &c, t);
    if (error != 0)
        t->count = 0;
    return error;
}

/* Reads one edge behind that which begins at number `*from`. */
static bool
read_edge(struct cursor *c, size_t insn_count, uint64_t *from,
          struct record_edge *edge)
{
    *from += (uint64_t)cursor_signed(c);
    const uint64_t to = *from + (uint64_t)cursor_signed(c);
    const uint64_t way = cursor_varint(c);
    edge->count = cursor_varint(c);
    edge->mispredicted = cursor_varint(c);
    edge->from = (uint32_t)*from - 1;
    edge->to = (uint32_t)to - 1;
    edge->way = (enum record_way)way;
    return !c->failed && *from <= insn_count && to <= insn_count &&
           way < RECORD_WAYS && edge->mispredicted <= edge->count;
}

static int
read_edges(struct reading *r, const struct chunk *chunk)
{
    struct record *record = r->record;
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const long process = find_process(record, cursor_varint(&c));
    struct record_edges_row *rows =
        grown(record->edges, record->edges_count, sizeof(*rows));
    uint64_t from = 0;

    if (rows == NULL)
        return no_memory(r);
    record->edges = rows;
    if (process < 0)
        return bad(r, "has edges of no process");
    struct record_edges_row *t = &rows[record->edges_count++];
    t->process = (unsigned)process;
    t->thread = (unsigned)cursor_varint(&c);
    t->count = cursor_varint(&c);
    t->edges = array_for(&c, t->count, sizeof(*t->edges));
    if (t->edges == NULL) {
        t->count = 0;
        return bad(r, "lacks edges");
    }
    for (size_t i = 0; i < t->count; i++) {
        if (!read_edge(&c, record->processes[process].insn_count, &from,
                       &t->edges[i]))
            return bad(r, "has an edge that cannot be");
    }
    return 0;
}

/* Reads the names of the source files of code that a process made. */
static int
read_made_files(struct reading *r, struct cursor *c,
                struct record_process_row *p)
{
    const uint64_t count = cursor_varint(c);

    p->made_files = array_for(c, count, sizeof(*p->made_files));
    if (p->made_files == NULL)
        return bad(r, "lacks files of code");
    for (uint64_t i = 0; i < count; i++) {
        p->made_files[i] = take_text(c);
        p->made_file_count++;
        if (p->made_files[i] == NULL)
            return bad(r, "lacks files of code");
    }
    return 0;
}

/* Reads a piece of code that a process made; false: it cannot be. */
static bool
read_made_row(struct cursor *c, const struct record_process_row *p,
              struct record_made_row *row)
{
    uint64_t address;

    address = row->first = cursor_varint(c);
    row->size = cursor_varint(c);
    row->name = take_text(c);
    const uint64_t lines = cursor_varint(c);
    if (row->name == NULL)
        return false;
    row->lines = array_for(c, lines, sizeof(*row->lines));
    if (row->lines == NULL)
        return false;
    for (uint64_t i = 0; i < lines; i++) {
        const uint64_t last = address;
        address += (uint64_t)cursor_signed(c);
        const uint64_t line = cursor_varint(c), file = cursor_varint(c);
        if ((i > 0 && address < last) || line > UINT32_MAX ||
            file >= p->made_file_count)
            return false;
        row->lines[row->line_count++] = (struct record_made_line){
            address, (uint32_t)line, p->made_files[file]};
    }
    return !c->failed;
}

static int
read_made_code(struct reading *r, const struct chunk *chunk)
{
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const long process = find_process(r->record, cursor_varint(&c));

    if (process < 0 || r->record->processes[process].made_files != NULL)
        return bad(r, "names code of no process");
    struct record_process_row *p = &r->record->processes[process];
    const int error = read_made_files(r, &c, p);
    if (error != 0)
        return error;
    const uint64_t count = cursor_varint(&c);
    p->made = array_for(&c, count, sizeof(*p->made));
    if (p->made == NULL)
        return bad(r, "lacks names of code");
    for (uint64_t i = 0; i < count; i++) {
        p->made_count++;
        if (!read_made_row(&c, p, &p->made[i]))
            return bad(r, "lacks names of code");
    }
    for (size_t i = 0; i < p->insn_count; i++) {
        if (p->insns[i].image != RECORD_NO_IMAGE)
            continue;
        const uint64_t made = cursor_varint(&c);
        if (c.failed || made > p->made_count)
            return bad(r, "names code that is not there");
        p->insns[i].made = (uint32_t)made;
    }
    return 0;
}

/* Reads the names of an image. */
static int
read_names(struct reading *r, const struct chunk *chunk)
{
    struct record *record = r->record;
    struct cursor c = cursor_of(chunk->data, chunk->size);
    struct kept_names *names =
        grown(record->names, record->names_count, sizeof(*names));

    if (names == NULL)
        return no_memory(r);
    record->names = names;
    const int error = kept_names_read(&c, &names[record->names_count++]);
    if (error == TALLY_ENOMEM)
        return no_memory(r);
    return error == 0 ? 0 : bad(r, "has names that cannot be");
}

/* Lets each image know its names. */
static void
join_names(struct record *record)
{
    for (size_t i = 0; i < record->image_count; i++) {
        struct record_image *image = &record->images[i];
        for (size_t k = 0; k < record->names_count; k++) {
            const struct kept_names *names = &record->names[k];
            if (names->build_id_size == image->build_id_size &&
                memcmp(names->build_id, image->build_id,
                       names->build_id_size) == 0 &&
                strcmp(names->path, image->path) == 0)
                image->names = names;
        }
    }
}

static int
read_totals(struct reading *r, const struct chunk *chunk)
{
    struct record *record = r->record;
    struct cursor c = cursor_of(chunk->data, chunk->size);
    const uint64_t count = cursor_varint(&c);

    if (record->threads != NULL)
        return bad(r, "is a second list of threads");
    record->threads = array_for(&c, count, sizeof(*record->threads));
    if (record->threads == NULL)
        return bad(r, "is no list of threads");
    for (uint64_t i = 0; i < count; i++) {
        struct record_thread_row *t = &record->threads[i];
        const uint64_t number = cursor_varint(&c);
        const long process = find_process(record, number);
        t->process = process < 0 ? UINT32_MAX : (unsigned)process;
        t->thread = (unsigned)cursor_varint(&c);
        t->strand = (unsigned)cursor_varint(&c);
        t->totals = calloc(record->event_count + 1, sizeof(*t->totals));
        record->thread_count++;
        if (t->totals == NULL)
            return no_memory(r);
        for (size_t e = 0; e < record->event_count; e++)
            t->totals[e] = cursor_signed(&c);
    }
    return c.failed ? bad(r, "lacks totals") : 0;
}

static double
number_of(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static bool
is_true(const json_t *object, const char *key)
{
    return json_is_true(json_object_get(object, key));
}

/* Lowers the standings of the events to those that they have in this run: the
 * head was written before the run. */
static int
lower_standings(struct record *record)
{
    for (size_t i = 0; i < record->event_count; i++) {
        char **const standing = &record->events[i].standing;
        for (int f = 0; f <= FIDELITY_IDLE; f++) {
            if (strcmp(*standing, fidelity_name((enum fidelity)f)) != 0)
                continue;
            char *const lowered = strdup(fidelity_name(fidelity_in_run(
                (enum fidelity)f, false, record->varies != 0,
                record->left_early, record->partial || record->cut)));
            if (lowered == NULL)
                return TALLY_ENOMEM;
            free(*standing);
            *standing = lowered;
            break;
        }
    }
    return 0;
}

static int
read_run(struct reading *r, const struct chunk *chunk)
{
    struct record *record = r->record;
    json_t *run = json_loadb((const char *)chunk->data, chunk->size, 0, NULL);

    if (run == NULL)
        return bad(r, "is no end of a run");
    record->status = (int)json_integer_value(json_object_get(run, "status"));
    record->wall_s = number_of(run, "wall_s");
    record->user_s = number_of(run, "user_s");
    record->sys_s = number_of(run, "sys_s");
    record->modelled_s = number_of(run, "modelled_s");
    record->interrupted = is_true(run, "interrupted");
    record->partial = is_true(run, "partial");
    record->varies = run_note_get(run);
    record->left_early = is_true(run, "left_early");
    free(record->trace);
    record->trace = text_of(run, "trace");
    json_decref(run);
    return 0;
}

/* Frees what a process told of the code that it made. */
static void
free_made_code(struct record_process_row *p)
{
    for (size_t i = 0; i < p->made_count; i++) {
        free(p->made[i].name);
        free(p->made[i].lines);
    }
    for (size_t i = 0; i < p->made_file_count; i++)
        free(p->made_files[i]);
    free(p->made);
    free(p->made_files);
}

static void
free_set(struct record *record)
{
    for (size_t i = 0; i < record->image_count; i++)
        free(record->images[i].path);
    for (size_t i = 0; i < record->process_count; i++) {
        free(record->processes[i].program);
        free(record->processes[i].mappings);
        free(record->processes[i].insns);
        free(record->processes[i].code);
        free_made_code(&record->processes[i]);
        free(record->processes[i].paths);
        for (size_t k = 0; k < record->processes[i].object_count; k++) {
            free(record->processes[i].objects[k].name);
            free(record->processes[i].objects[k].image);
        }
        free(record->processes[i].objects);
        free(record->processes[i].reasons);
        free(record->processes[i].strides);
        free(record->processes[i].waits);
        free(record->processes[i].begins);
        free(record->processes[i].unended);
    }
    for (size_t i = 0; i < record->thread_count; i++)
        free(record->threads[i].totals);
    for (size_t i = 0; i < record->counts_count; i++) {
        free(record->counts[i].objects);
        free(record->counts[i].paths);
        free(record->counts[i].insns);
        for (size_t e = 0;
             record->counts[i].values != NULL && e < record->event_count; e++)
            free(record->counts[i].values[e].by_row);
        free(record->counts[i].values);
        free(record->counts[i].bytes);
    }
    for (size_t i = 0; i < record->edges_count; i++)
        free(record->edges[i].edges);
    free(record->images);
    free(record->processes);
    free(record->threads);
    free(record->counts);
    free(record->edges);
}

/* Moves a whole set from one record to another. */
static void
move_set(struct record *to, struct record *from)
{
    to->images = from->images;
    to->image_count = from->image_count;
    to->processes = from->processes;
    to->process_count = from->process_count;
    to->threads = from->threads;
    to->thread_count = from->thread_count;
    to->counts = from->counts;
    to->counts_count = from->counts_count;
    to->edges = from->edges;
    to->edges_count = from->edges_count;
    from->images = NULL;
    from->processes = NULL;
    from->threads = NULL;
    from->counts = NULL;
    from->edges = NULL;
    from->image_count = from->process_count = 0;
    from->thread_count = from->counts_count = from->edges_count = 0;
}

/* Begins another set; the one before is kept until this one is whole. */
static void
begin_set(struct reading *r)
{
    if (r->record->threads != NULL) {
        free_set(&r->kept);
        move_set(&r->kept, r->record);
    } else {
        free_set(r->record);
        r->record->images = NULL;
        r->record->processes = NULL;
        r->record->counts = NULL;
        r->record->edges = NULL;
        r->record->image_count = r->record->process_count = 0;
        r->record->thread_count = r->record->counts_count = 0;
        r->record->edges_count = 0;
    }
}

/* Takes the set before the last one where the last is not whole. */
static void
end_sets(struct reading *r)
{
    if (r->record->threads == NULL && r->kept.threads != NULL) {
        free_set(r->record);
        move_set(r->record, &r->kept);
    }
    free_set(&r->kept);
}

static int
read_chunk(struct reading *r, struct chunk *chunk)
{
    r->at = chunk->at;
    if (r->record->version == NULL && chunk->type != RECORD_HEAD)
        return bad(r, "comes before the record's head");
    switch (chunk->type) {
    case RECORD_HEAD:
        return read_head(r, chunk);
    case RECORD_SET:
        begin_set(r);
        return 0;
    case RECORD_PROCESS:
        return read_process(r, chunk);
    case RECORD_COUNTS:
    case RECORD_DATA_COUNTS:
        return read_counts(r, chunk);
    case RECORD_DATA_OBJECTS:
        return read_objects(r, chunk);
    case RECORD_DATA_USES:
        return read_uses(r, chunk);
    case RECORD_PATHS:
        return read_paths(r, chunk);
    case RECORD_MADE_CODE:
        return read_made_code(r, chunk);
    case RECORD_EDGES:
        return read_edges(r, chunk);
    case RECORD_REASONS_OF:
        return read_reasons(r, chunk);
    case RECORD_WAITS_OF:
        return read_waits(r, chunk);
    case RECORD_TOTALS:
        return read_totals(r, chunk);
    case RECORD_NAMES:
        return read_names(r, chunk);
    case RECORD_RUN:
        return read_run(r, chunk);
    default:
        return 0; /* of a later version, which readers can do without */
    }
}

/* Lets the reader pass by all sets before the last whole one, which is one with
 * totals: they are of earlier moments of the run. */
static void
pass_by_old_sets(struct chunk_reader *chunks)
{
    uint64_t first = 0, set = 0, last = 0, next = CHUNKS_FILE_HEADER;
    uint32_t type;

    for (uint64_t at = next; chunks_peek(chunks, &next, &type); at = next) {
        if (type == RECORD_SET) {
            first = first != 0 ? first : at;
            set = at;
        } else if (type == RECORD_TOTALS) {
            last = set;
        }
    }
    chunks_pass_by(chunks, first, last);
}

/* Keeps a warning until it is known whether the record is refused. */
struct held_log {
    const struct tally_log *log;
    char *warning; /* owned; or NULL */
};

static void
hold_warning(void *user, enum tally_level level, const char *message)
{
    struct held_log *held = user;

    if (level == TALLY_LOG_WARNING && held->warning == NULL)
        held->warning = strdup(message);
    else
        tally_logf(held->log, level, "%s", message);
}

/* Reads the file at the path, or that is open as `fd` where that is not -1. */
static int
open_record(int fd, const char *path, const struct tally_log *log,
            struct record **record)
{
    struct record *opened = calloc(1, sizeof(*opened));
    struct reading r = {.log = log, .record = opened};
    struct held_log held = {.log = log};
    const struct tally_log holds = {.write = hold_warning, .user = &held};
    struct chunk chunk;
    int more = 0, error;

    if (opened == NULL || (opened->path = strdup(path)) == NULL) {
        free(opened);
        if (fd >= 0)
            close(fd);
        return tally_fail(log, TALLY_ENOMEM, "no memory for a record");
    }
    error = fd >= 0 ? chunks_open_fd(fd, path, &holds, &r.chunks)
                    : chunks_open(path, &holds, &r.chunks);
    if (error == 0)
        pass_by_old_sets(r.chunks);
    while (error == 0 && (more = chunks_next(r.chunks, &chunk)) > 0)
        error = read_chunk(&r, &chunk);
    if (error == 0 && more < 0)
        error = more;
    end_sets(&r);
    if (error == 0) {
        join_names(opened);
        opened->cut = chunks_cut(r.chunks);
        if (opened->version == NULL)
            error = tally_fail(log, TALLY_ESYNTAX,
                               "%s: the record ends before its head", path);
        else if (opened->cut && opened->counts_count == 0 &&
                 opened->threads == NULL)
            error = tally_fail(log, TALLY_ESYNTAX,
                               "%s: the record ends before its first counts, "
                               "which a run writes after 10 s or at its end",
                               path);
        else if (lower_standings(opened) != 0)
            error = no_memory(&r);
    }
    chunks_close(&r.chunks);
    if (error == 0 && held.warning != NULL)
        tally_logf(log, TALLY_LOG_WARNING, "%s", held.warning);
    free(held.warning);
    if (error != 0)
        record_close(opened);
    else
        *record = opened;
    return error;
}

int
record_open(const char *path, const struct tally_log *log,
            struct record **record)
{
    return open_record(-1, path, log, record);
}

int
record_open_fd(int fd, const char *name, const struct tally_log *log,
               struct record **record)
{
    return open_record(fd, name, log, record);
}

void
record_close(struct record *record)
{
    if (record == NULL)
        return;
    for (size_t i = 0; record->events != NULL && i < record->event_count; i++) {
        struct record_event_row *e = &record->events[i];
        free(e->name);
        free(e->asked);
        free(e->unit);
        free(e->brief);
        free(e->standing);
    }
    for (size_t i = 0; record->argv != NULL && record->argv[i] != NULL; i++)
        free(record->argv[i]);
    free_set(record);
    for (size_t i = 0; i < record->names_count; i++)
        kept_names_finish(&record->names[i]);
    free(record->names);
    free(record->path);
    free(record->version);
    free(record->machine);
    free(record->isa);
    free(record->cpu);
    free(record->heap_reason);
    free(record->trace);
    free(record->argv);
    free(record->events);
    free(record);
}

int64_t
record_total(const struct record *record, size_t event)
{
    uint64_t sum = 0; /* wraps around: a forged record may hold any values */

    for (size_t i = 0; i < record->thread_count; i++)
        sum += (uint64_t)record->threads[i].totals[event];
    for (size_t i = 0; record->threads == NULL && i < record->counts_count;
         i++) {
        const struct record_counts_row *t = &record->counts[i];
        struct record_walk walk;
        record_walk_begin(&walk, t, event);
        for (size_t k = 0; k < t->count; k++)
            sum += (uint64_t)record_walk_take(&walk, k);
    }
    return (int64_t)sum;
}

/* A list of events in a message: as many as there is room for. */
struct event_words {
    char text[256];
    size_t size;
    bool cut;
};

static void
add_event(struct event_words *w, const char *name)
{
    if (w->cut)
        return;
    w->cut = w->size + strlen(name) + sizeof(", , ...") > sizeof(w->text);
    w->size +=
        (size_t)snprintf(w->text + w->size, sizeof(w->text) - w->size, "%s%s",
                         w->size != 0 ? ", " : "", w->cut ? "..." : name);
}

/* Says that no event of the record has the name, and which have near names, or
 * which there are. */
static int
unknown_event(const struct record *record, const char *word, size_t length,
              const struct tally_log *log)
{
    struct event_words all = {{0}, 0, false};
    char name[NEAR_WORD], text[256];
    struct near near;

    snprintf(name, sizeof(name), "%.*s", (int)length, word);
    near_init(&near, name, 3);
    for (size_t i = 0; i < record->event_count; i++) {
        const char *const others[] = {record->events[i].name, NULL};
        near_add(&near, record->events[i].asked, others);
        add_event(&all, record->events[i].asked);
    }
    near_text(&near, text, sizeof(text));
    if (*text != '\0')
        return tally_fail(log, TALLY_EUNKNOWN,
                          "%s: there is no event '%.*s'; did you mean %s?",
                          record->path, (int)length, word, text);
    return tally_fail(log, TALLY_EUNKNOWN,
                      "%s: there is no event '%.*s'; it has %s", record->path,
                      (int)length, word, all.text);
}

/* Says which events begin as the word. */
static int
several_events(const struct record *record, const char *word, size_t length,
               const struct tally_log *log)
{
    struct event_words found = {{0}, 0, false};
    size_t count = 0;

    for (size_t i = 0; i < record->event_count; i++) {
        const char *const name = record->events[i].asked;
        if (strncasecmp(name, word, length) != 0 &&
            strncasecmp(record->events[i].name, word, length) != 0)
            continue;
        add_event(&found, name);
        count++;
    }
    return tally_fail(log, TALLY_EUNKNOWN, "%s: %zu events begin as '%.*s': %s",
                      record->path, count, (int)length, word, found.text);
}

/* Returns the event that the word names: the whole name, or the only one that
 * begins so; -1: none, -2: several. */
static long
find_event(const struct record *record, const char *word, size_t length)
{
    long found = -1;

    for (size_t i = 0; i < record->event_count; i++) {
        const char *const names[] = {record->events[i].asked,
                                     record->events[i].name};
        bool begins = false;
        for (size_t n = 0; n < 2; n++) {
            if (strncasecmp(names[n], word, length) != 0)
                continue;
            if (names[n][length] == '\0')
                return (long)i;
            begins = true;
        }
        if (begins)
            found = found == -1 ? (long)i : -2;
    }
    return found;
}

int
record_events(const struct record *record, const char *names,
              const struct tally_log *log, size_t *events, size_t *count)
{
    *count = 0;
    if (names == NULL) {
        while (*count < record->event_count) {
            events[*count] = *count;
            ++*count;
        }
        return 0;
    }
    while (*names != '\0') {
        const size_t length = strcspn(names, ",");
        const long event = length > 0 ? find_event(record, names, length) : -1;
        bool known = false;
        if (event == -2)
            return several_events(record, names, length, log);
        if (event < 0)
            return unknown_event(record, names, length, log);
        for (size_t i = 0; i < *count; i++)
            known |= events[i] == (size_t)event;
        if (!known)
            events[(*count)++] = (size_t)event;
        names += length + (names[length] == ',');
    }
    return 0;
}
