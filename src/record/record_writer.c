/* SPDX-License-Identifier: MIT */
#include "record/record_writer.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "names/elf_file.h"
#include "names/names.h"
#include "record/bytes.h"
#include "record/kept_names.h"
#include "record/made_code.h"
#include "record/run_note.h"
#include "report/json_text.h"

/* Writes what was appended, if all of it was. */
static int
write_bytes(struct record_writer *w, enum record_chunk type, struct bytes *b)
{
    const int error =
        b->failed ? tally_fail(w->log, TALLY_ENOMEM, "no memory for the record")
                  : chunks_write(w->chunks, type, b->data, b->size);

    bytes_finish(b);
    return error;
}

/* Writes a document and lets go of it; NULL: there was no memory. */
static int
write_json(struct record_writer *w, enum record_chunk type, json_t *document)
{
    char *text = document ? json_dumps(document, JSON_COMPACT) : NULL;
    int error;

    if (text == NULL)
        error = tally_fail(w->log, TALLY_ENOMEM, "no memory for the record");
    else
        error = chunks_write(w->chunks, type, text, strlen(text));
    free(text);
    json_decref(document);
    return error;
}

/* Returns the text as JSON; NULL is null. */
static json_t *
text_of(const char *text)
{
    return text == NULL ? json_null() : report_json_text(text);
}

static json_t *
moves_document(const struct moves *m)
{
    json_t *const objects = json_array();

    for (uint32_t i = 0; i < m->count; i++)
        json_array_append_new(objects, json_integer(m->objects[i]));
    if (m->line != 0) {
        char *const text = moves_text(m);
        json_t *const parted = json_string(text != NULL ? text : "");
        free(text);
        return json_pack("{s:o, s:o}", "parted", parted, "objects", objects);
    }
    return json_pack("{s:I, s:I, s:o}", "every", (json_int_t)m->every, "gap",
                     (json_int_t)m->gap, "objects", objects);
}

static json_t *
head_document(const struct record_head *h)
{
    json_t *arguments = json_array(), *events = json_array();

    for (size_t i = 0; h->argv[i] != NULL; i++)
        json_array_append_new(arguments, text_of(h->argv[i]));
    for (size_t i = 0; i < h->event_count; i++) {
        const struct record_event *e = &h->events[i];
        json_array_append_new(
            events,
            json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", text_of(e->name),
                      "asked", text_of(e->asked), "unit", text_of(e->unit),
                      "brief", text_of(e->brief), "standing",
                      text_of(e->standing)));
    }
    json_t *const head =
        json_pack("{s:i, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o}",
                  "schema", RECORD_SCHEMA, "tally", text_of(h->version),
                  "machine", text_of(h->machine), "isa", text_of(h->isa), "cpu",
                  text_of(h->cpu), "command", arguments, "events", events,
                  "heap_is_whole", h->heap_is_whole, "branches", h->branches,
                  "heap_reason", text_of(h->heap_reason));
    if (h->locks)
        json_object_set_new(head, "locks", json_true());
    if (h->reasons)
        json_object_set_new(head, tally_caches[h->level].name,
                            json_pack("{s:I, s:I, s:I}", "size",
                                      (json_int_t)h->level_size, "line",
                                      (json_int_t)h->level_line, "ways",
                                      (json_int_t)h->level_ways));
    if (h->moves != NULL)
        json_object_set_new(head, "moves", moves_document(h->moves));
    return head;
}

static void
append_text(struct bytes *b, const char *text)
{
    bytes_append_string(b, text, strlen(text));
}

static void
forget_places(struct record_writer *w)
{
    for (size_t i = 0; i < w->place_count; i++) {
        free(w->places[i].path);
        free(w->places[i].build_id);
        free(w->places[i].offsets);
    }
    free(w->places);
    w->places = NULL;
    w->place_count = 0;
}

/* Returns 1 + the index of the places of an image, which is added if it is new;
 * 0: no memory. */
static uint32_t
find_places(struct record_writer *w, const char *path, const uint8_t *build_id,
            size_t size)
{
    for (size_t i = 0; i < w->place_count; i++) {
        const struct record_places *p = &w->places[i];
        if (p->build_id_size == size && strcmp(p->path, path) == 0 &&
            (size == 0 || memcmp(p->build_id, build_id, size) == 0))
            return (uint32_t)i + 1;
    }
    struct record_places *places =
        reallocarray(w->places, w->place_count + 1, sizeof(*places));
    if (places == NULL)
        return 0;
    w->places = places;
    struct record_places *const p = &places[w->place_count];
    *p = (struct record_places){.path = strdup(path),
                                .build_id = malloc(size + 1),
                                .build_id_size = size};
    if (p->path == NULL || p->build_id == NULL) {
        free(p->path);
        free(p->build_id);
        return 0;
    }
    if (size > 0)
        memcpy(p->build_id, build_id, size);
    return (uint32_t)++w->place_count;
}

/* Notes that an instruction of an image was executed. Without memory the place
 * will have no names. */
static void
note_place(struct record_places *p, uint64_t offset)
{
    if (p->count == p->room) {
        const size_t room = 2 * p->room + 256;
        uint64_t *const offsets =
            reallocarray(p->offsets, room, sizeof(*offsets));
        if (offsets == NULL)
            return;
        p->offsets = offsets;
        p->room = room;
    }
    p->offsets[p->count++] = offset;
}

/* Appends an image, with the build id of its file. Returns 1 + the index of its
 * places, or 0. */
static uint32_t
append_image(struct record_writer *w, struct bytes *b,
             const struct recorded_image *image)
{
    struct elf_file elf;
    uint32_t places = 0;

    append_text(b, image->path);
    bytes_append_varint(b, image->first);
    bytes_append_varint(b, image->last);
    bytes_append_varint(b, image->offset);
    /* A file that is gone by now has no build id, and will have no names. */
    if (elf_file_open(image->path, NULL, &elf) == 0) {
        bytes_append_string(b, (const char *)elf.build_id, elf.build_id_size);
        if (!w->head->no_names)
            places =
                find_places(w, image->path, elf.build_id, elf.build_id_size);
    } else {
        bytes_append_varint(b, 0);
    }
    elf_file_close(&elf);
    return places;
}

/* Returns the path of the process's jitdump, which it has mapped; or NULL. */
static const char *
find_dump(const struct recorded_process *p)
{
    for (size_t i = p->image_count; i > 0; i--) {
        if (path_is_jitdump(p->images[i - 1].path))
            return p->images[i - 1].path;
    }
    return NULL;
}

/* Appends a piece of code. */
static void
append_made_row(struct bytes *b, const struct made_code_row *row)
{
    uint64_t address = row->first;

    bytes_append_varint(b, row->first);
    bytes_append_varint(b, row->size);
    append_text(b, row->name);
    bytes_append_varint(b, row->line_count);
    for (size_t i = 0; i < row->line_count; i++) {
        const struct made_line *line = &row->lines[i];
        bytes_append_signed(b, (int64_t)(line->address - address));
        bytes_append_varint(b, line->line);
        bytes_append_varint(b, line->file);
        address = line->address;
    }
}

/* Writes the names of code that the process made while it ran, if it tells any.
 */
static int
write_made_code(struct record_writer *w, const struct recorded_process *p)
{
    struct bytes b = {0};
    struct made_code m;
    bool any = false;
    int error = 0;

    for (size_t i = 0; i < p->instruction_count; i++)
        any |= p->instructions[i].image == 0;
    if (!any)
        return 0;
    made_code_read(p->process->pid, find_dump(p), &m);
    bytes_append_varint(&b, p->number);
    bytes_append_varint(&b, m.files.count);
    for (uint32_t i = 0; i < m.files.count; i++)
        append_text(&b, texts_get(&m.files, i));
    bytes_append_varint(&b, m.count);
    for (size_t i = 0; i < m.count; i++)
        append_made_row(&b, &m.rows[i]);
    made_code_index(&m);
    for (size_t i = 0; i < p->instruction_count; i++) {
        const struct recorded_instruction *insn = &p->instructions[i];
        if (insn->image != 0)
            continue;
        const struct made_code_row *row =
            made_code_find(&m, insn->address, insn->block_address, insn->block,
                           insn->block_size);
        bytes_append_varint(&b, row != NULL ? (uint64_t)(row - m.rows) + 1 : 0);
    }
    if (m.count != 0)
        error = write_bytes(w, RECORD_MADE_CODE, &b);
    else
        bytes_finish(&b);
    made_code_finish(&m);
    return error;
}

/* Appends the images of a process, and writes the number of each in the record
 * to `numbers`: 1 + its index there; and to `places` that of its places. A
 * jitdump, which is mapped for profilers and has no instructions, is left out
 * and has 0. */
static void
append_images(struct record_writer *w, struct bytes *b,
              const struct recorded_process *p, uint32_t *numbers,
              uint32_t *places)
{
    uint32_t count = 0;

    for (size_t i = 0; i < p->instruction_count; i++)
        numbers[p->instructions[i].image] = 1;
    numbers[0] = 0;
    for (size_t i = 1; i <= p->image_count; i++) {
        if (numbers[i] != 0 || !path_is_jitdump(p->images[i - 1].path))
            numbers[i] = ++count;
    }
    bytes_append_varint(b, count);
    for (size_t i = 1; i <= p->image_count; i++) {
        if (numbers[i] != 0)
            places[i] = append_image(w, b, &p->images[i - 1]);
    }
}

/* Writes a process: its images, and its instructions in order. */
static int
write_process(void *user, const struct recorded_process *p)
{
    struct record_writer *w = user;
    uint32_t *numbers = calloc(p->image_count + 1, sizeof(*numbers));
    uint32_t *places = calloc(p->image_count + 1, sizeof(*places));
    struct bytes b = {0};
    uint64_t end = 0;

    if (numbers == NULL || places == NULL) {
        free(numbers);
        free(places);
        return tally_fail(w->log, TALLY_ENOMEM, "no memory for the record");
    }
    w->path_count = 1;
    w->object_count = 0;
    bytes_append_varint(&b, p->number);
    bytes_append_varint(&b, (uint64_t)p->process->pid);
    bytes_append_varint(&b, (uint64_t)p->process->parent);
    bytes_append_varint(&b, p->process->begin);
    append_text(&b, p->process->program);
    append_images(w, &b, p, numbers, places);
    bytes_append_varint(&b, p->instruction_count);
    for (size_t i = 0; i < p->instruction_count; i++) {
        const struct recorded_instruction *insn = &p->instructions[i];
        bytes_append_varint(&b, numbers[insn->image]);
        bytes_append_signed(&b, (int64_t)(insn->address - end));
        bytes_append_u8(&b, insn->size);
        end = insn->address + insn->size;
        if (places[insn->image] != 0) {
            const struct recorded_image *image = &p->images[insn->image - 1];
            note_place(&w->places[places[insn->image] - 1],
                       insn->address - image->first + image->offset);
        }
    }
    for (size_t i = 0; i < p->instruction_count; i++)
        bytes_append(&b, p->instructions[i].code, p->instructions[i].size);
    free(numbers);
    free(places);
    const int error = write_bytes(w, RECORD_PROCESS, &b);
    return error != 0 ? error : write_made_code(w, p);
}

/* Returns where the sums of the thread go; NULL: no memory. */
static struct record_sum *
sum_of(struct record_writer *w, const struct recorded_process *p,
       const struct session_thread *t)
{
    for (size_t i = w->sum_count; i > 0; i--) {
        struct record_sum *sum = &w->sums[i - 1];
        if (sum->process == p->number && sum->thread == t->thread)
            return sum;
        if (sum->process != p->number)
            break; /* a process's threads come one behind another */
    }
    struct record_sum *sums =
        reallocarray(w->sums, w->sum_count + 1, sizeof(*sums));
    if (sums == NULL)
        return NULL;
    w->sums = sums;
    sums[w->sum_count] = (struct record_sum){
        .process = p->number,
        .thread = t->thread,
        .strand = t->strand,
        .values = calloc(w->head->event_count + 1, sizeof(int64_t)),
    };
    return sums[w->sum_count].values != NULL ? &sums[w->sum_count++] : NULL;
}

static void
forget_sums(struct record_writer *w)
{
    for (size_t i = 0; i < w->sum_count; i++)
        free(w->sums[i].values);
    free(w->sums);
    w->sums = NULL;
    w->sum_count = 0;
}

/* Writes the paths of a process that are not yet in the file. */
static int
write_paths(struct record_writer *w, const struct recorded_process *p,
            const struct recorded_thread *t)
{
    struct bytes b = {0};

    if (w->path_count == t->path_count)
        return 0;
    bytes_append_varint(&b, p->number);
    bytes_append_varint(&b, w->path_count);
    bytes_append_varint(&b, t->path_count - w->path_count);
    for (size_t i = w->path_count; i < t->path_count; i++) {
        const uint32_t call = t->paths[i].call;
        bytes_append_varint(&b, t->paths[i].parent);
        bytes_append_varint(&b, call == RECORDED_UNKNOWN ? 0 : call + 1);
    }
    w->path_count = t->path_count;
    return write_bytes(w, RECORD_PATHS, &b);
}

/* Writes how the objects of a process were used that were used at all. */
static int
write_uses(struct record_writer *w, const struct recorded_process *p,
           const struct recorded_thread *t)
{
    struct bytes b = {0};
    size_t used = 0, next = 0;

    for (size_t i = 0; i < t->object_count; i++)
        used += recorded_is_used(&t->objects[i]);
    bytes_append_varint(&b, p->number);
    bytes_append_varint(&b, used);
    for (size_t i = 0; i < t->object_count; i++) {
        const struct record_use *use = &t->objects[i].use;
        if (!recorded_is_used(&t->objects[i]))
            continue;
        bytes_append_varint(&b, i - next);
        bytes_append_varint(&b, use->loads);
        bytes_append_varint(&b, use->stores);
        bytes_append_varint(&b, use->fetched);
        bytes_append_varint(&b, use->touched);
        next = i + 1;
    }
    return write_bytes(w, RECORD_DATA_USES, &b);
}

/* Writes the objects of a process that are not yet in the file. */
static int
write_objects(struct record_writer *w, const struct recorded_process *p,
              const struct recorded_thread *t)
{
    struct bytes b = {0};

    if (w->object_count == t->object_count)
        return 0;
    bytes_append_varint(&b, p->number);
    bytes_append_varint(&b, w->object_count);
    bytes_append_varint(&b, t->object_count - w->object_count);
    for (size_t i = w->object_count; i < t->object_count; i++) {
        const struct recorded_object *o = &t->objects[i];
        bytes_append_varint(&b, o->kind);
        append_text(&b, o->name);
        append_text(&b, o->image);
        bytes_append_varint(&b, o->kind != RECORD_STACK ? o->size
                                : o->instruction == RECORDED_UNKNOWN
                                    ? 0
                                    : o->instruction + 1);
        bytes_append_varint(&b, o->path);
        bytes_append_varint(&b, o->allocations);
        bytes_append_varint(&b, o->bytes);
    }
    w->object_count = t->object_count;
    if (p->number == 0)
        w->first_object_count = t->object_count;
    const int error = write_bytes(w, RECORD_DATA_OBJECTS, &b);
    return error != 0 || !w->head->all_accesses ? error : write_uses(w, p, t);
}

/* Returns how many of the rows from `i` on are of one object and path. */
static size_t
group_rows(const struct recorded_thread *t, size_t i)
{
    size_t k = i;

    while (k < t->count && t->row_paths[k] == t->row_paths[i] &&
           (t->row_objects == NULL || t->row_objects[k] == t->row_objects[i]))
        k++;
    return k - i;
}

/* Appends the objects, if the rows are of some, paths and instructions of the
 * rows, group by group. */
static void
append_rows(struct bytes *b, const struct recorded_thread *t)
{
    size_t groups = 0;
    uint32_t path = 0, object = 0;

    for (size_t i = 0; i < t->count; i += group_rows(t, i))
        groups++;
    bytes_append_varint(b, groups);
    for (size_t i = 0; i < t->count;) {
        const size_t rows = group_rows(t, i);
        uint32_t next = 0;
        if (t->row_objects != NULL && t->row_objects[i] != object) {
            bytes_append_varint(b, t->row_objects[i] - object);
            object = t->row_objects[i];
            path = 0;
        } else if (t->row_objects != NULL) {
            bytes_append_varint(b, 0);
        }
        bytes_append_varint(b, t->row_paths[i] - path);
        bytes_append_varint(b, rows);
        path = t->row_paths[i];
        for (const size_t end = i + rows; i < end; i++) {
            bytes_append_varint(b, t->instructions[i] - next);
            next = t->instructions[i] + 1;
        }
    }
}

/* Appends the values that are not 0, event after event, as like values lie side
 * by side so. */
static void
append_values(struct bytes *b, const struct recorded_thread *t, size_t events)
{
    size_t i = 0;

    for (size_t e = 0; e < events; e++) {
        const size_t first = i;
        uint32_t next = 0;
        while (i < t->value_count && t->values[i].event == e)
            i++;
        bytes_append_varint(b, i - first);
        for (size_t k = first; k < i; k++) {
            bytes_append_varint(b, t->values[k].row - next);
            bytes_append_signed(b, t->values[k].value);
            next = t->values[k].row + 1;
        }
    }
}

/* Writes the counts of a thread: the rows, and then their values. */
static int
write_thread(void *user, const struct recorded_process *p,
             const struct recorded_thread *t)
{
    struct record_writer *w = user;
    struct record_sum *sum = sum_of(w, p, t->thread);
    struct bytes b = {0};

    if (sum == NULL)
        return tally_fail(w->log, TALLY_ENOMEM, "no memory for the record");
    for (size_t i = 0; i < t->value_count; i++)
        sum->values[t->values[i].event] += t->values[i].value;

    int error = write_paths(w, p, t);
    if (error == 0)
        error = write_objects(w, p, t);
    if (error != 0)
        return error;
    bytes_append_varint(&b, p->number);
    bytes_append_varint(&b, t->thread->thread);
    bytes_append_varint(&b, t->count);
    append_rows(&b, t);
    append_values(&b, t, w->head->event_count);
    return write_bytes(
        w, t->row_objects != NULL ? RECORD_DATA_COUNTS : RECORD_COUNTS, &b);
}

/* Writes where control went in a thread: an instruction's number is 1 + its
 * index, 0 is nowhere. */
static int
write_edges(void *user, const struct recorded_process *p,
            const struct recorded_edges *t)
{
    struct record_writer *w = user;
    struct bytes b = {0};
    uint32_t from = 0;

    bytes_append_varint(&b, p->number);
    bytes_append_varint(&b, t->thread->thread);
    bytes_append_varint(&b, t->count);
    for (size_t i = 0; i < t->count; i++) {
        const struct recorded_edge *e = &t->edges[i];
        const uint32_t number = e->from + 1, to = e->to + 1;
        bytes_append_signed(&b, (int64_t)number - from);
        bytes_append_signed(&b, (int64_t)to - number);
        bytes_append_varint(&b, e->way);
        bytes_append_varint(&b, e->count);
        bytes_append_varint(&b, e->mispredicted);
        from = number;
    }
    return write_bytes(w, RECORD_EDGES, &b);
}

/* Writes why data of a process missed: a number of an instruction is 1 + its
 * index, 0 is one that is not known. */
static int
write_reasons(void *user, const struct recorded_process *p,
              const struct recorded_reasons *t)
{
    struct record_writer *const w = user;
    struct bytes b = {0};

    bytes_append_varint(&b, p->number);
    bytes_append_varint(&b, t->reason_count);
    for (size_t i = 0; i < t->reason_count; i++) {
        const struct recorded_reason *const r = &t->reasons[i];
        bytes_append_varint(&b, r->kind);
        bytes_append_varint(&b, r->object);
        bytes_append_varint(&b, r->other);
        bytes_append_varint(&b, r->thread);
        bytes_append_varint(&b, r->instruction + UINT32_C(1));
        bytes_append_varint(&b, r->place);
        bytes_append_varint(&b, r->count);
        bytes_append_varint(&b, r->bytes);
        bytes_append_varint(&b, r->other_bytes);
    }
    bytes_append_varint(&b, t->stride_count);
    for (size_t i = 0; i < t->stride_count; i++) {
        const struct recorded_stride *const s = &t->strides[i];
        unsigned steps = 0;
        while (steps < RECORD_STEPS && s->counts[steps] != 0)
            steps++;
        bytes_append_varint(&b, s->instruction);
        bytes_append_varint(&b, (uint64_t)s->stores + 2u * s->follows);
        bytes_append_varint(&b, steps);
        for (unsigned k = 0; k < steps; k++) {
            bytes_append_signed(&b, s->steps[k]);
            bytes_append_varint(&b, s->counts[k]);
        }
        bytes_append_varint(&b, s->other);
    }
    return write_bytes(w, RECORD_REASONS_OF, &b);
}

/* Returns 1 + the index of a path that is in the file, else 0. */
static uint32_t
path_number(const struct record_writer *w, uint32_t path)
{
    return path < w->path_count ? path + 1 : 0;
}

/* Writes the number of the thread that holds a lock: 0 where it is not known, 1
 * where it has ended, else 2 + its number. */
static void
write_holder(uint32_t holder, struct bytes *b)
{
    bytes_append_varint(b, holder == NO_THREAD ? 0
                           : holder == RECORD_HOLDER_ENDED
                               ? 1
                               : holder + UINT64_C(2));
}

/* Writes the waits that have not ended; numbers are as in write_waits(). */
static void
write_unended(const struct record_writer *w, const struct recorded_waits *t,
              struct bytes *b)
{
    bytes_append_varint(b, t->stuck);
    bytes_append_varint(b, t->unended_count);
    for (size_t i = 0; i < t->unended_count; i++) {
        const struct recorded_unended *const u = &t->unended[i];
        bytes_append_varint(b, u->kind);
        bytes_append_varint(b, u->object <= w->object_count ? u->object : 0);
        bytes_append_varint(b, u->word);
        bytes_append_varint(b, u->thread);
        bytes_append_varint(b, path_number(w, u->path));
        bytes_append_varint(b, u->instruction + UINT32_C(1));
        write_holder(u->holder, b);
        bytes_append_varint(b, u->since);
        bytes_append_u8(b, u->has_time);
    }
}

/* Writes when threads wait. */
static void
write_stretches(const struct recorded_waits *t, struct bytes *b)
{
    bytes_append_varint(b, t->stretch_count);
    for (size_t i = 0; i < t->stretch_count; i++) {
        const struct record_stretch *const s = &t->stretches[i];
        bytes_append_varint(b, s->thread);
        bytes_append_varint(b, s->wait < t->wait_count ? s->wait + 1 : 0);
        bytes_append_varint(b, s->count);
        bytes_append_varint(b, s->begin);
        bytes_append_varint(b, s->end - s->begin);
        for (unsigned k = 1; k < RECORD_WAIT_KINDS; k++)
            bytes_append_varint(b, s->time[k]);
    }
}

/* Writes what the threads of a process wait for: a number of a path or of an
 * instruction is 1 + its index, that of a thread 1 + its number; 0 is one that
 * is not known. A path or an object that no thread's counts have brought into
 * the file is not known. */
static int
write_waits(void *user, const struct recorded_process *p,
            const struct recorded_waits *t)
{
    struct record_writer *const w = user;
    struct bytes b = {0};

    bytes_append_varint(&b, p->number);
    bytes_append_u8(&b, t->lost);
    bytes_append_varint(&b, t->begin_count);
    for (size_t i = 0; i < t->begin_count; i++) {
        bytes_append_varint(&b, t->begins[i].thread);
        bytes_append_varint(&b, t->begins[i].maker);
        bytes_append_varint(&b, t->begins[i].time);
    }
    bytes_append_varint(&b, t->wait_count);
    for (size_t i = 0; i < t->wait_count; i++) {
        const struct recorded_wait *const r = &t->waits[i];
        bytes_append_varint(&b, r->kind);
        bytes_append_varint(&b, r->object <= w->object_count ? r->object : 0);
        bytes_append_varint(&b, r->word);
        bytes_append_varint(&b, r->thread);
        bytes_append_varint(&b, path_number(w, r->path));
        bytes_append_varint(&b, r->instruction + UINT32_C(1));
        bytes_append_varint(&b, r->waker + UINT32_C(1));
        bytes_append_varint(&b, path_number(w, r->waker_path));
        bytes_append_varint(&b, r->waker_instruction + UINT32_C(1));
        bytes_append_varint(&b, r->count);
        bytes_append_varint(&b, r->time);
        bytes_append_varint(&b, r->longest);
    }
    write_unended(w, t, &b);
    write_stretches(t, &b);
    return write_bytes(w, RECORD_WAITS_OF, &b);
}

/* Begins a set of processes, counts and totals, which replaces those before. */
static int
write_set(void *user)
{
    struct record_writer *w = user;

    forget_sums(w);
    forget_places(w);
    return chunks_write(w->chunks, RECORD_SET, NULL, 0);
}

static void
append_thread(struct bytes *b, unsigned process, unsigned thread,
              unsigned strand)
{
    bytes_append_varint(b, process);
    bytes_append_varint(b, thread);
    bytes_append_varint(b, strand);
}

/* Writes the totals of a set. Those of a program that runs are the sums over
 * its instructions, which were read later than the session's totals; so are
 * those of the classes of a curve, which no session has. */
static int
write_totals(void *user, const struct session_result *result, bool ended)
{
    struct record_writer *w = user;
    const struct session_options *o = w->options;
    const bool known = ended && o->curve == NULL;
    struct bytes b = {0};

    bytes_append_varint(&b, known ? result->thread_count : w->sum_count);
    for (size_t i = 0; known && i < result->thread_count; i++) {
        const struct session_thread *t = &result->threads[i];
        append_thread(&b, t->process, t->thread, t->strand);
        for (size_t e = 0; e < o->event_count; e++)
            bytes_append_signed(&b,
                                (int64_t)event_value(o->events[e], &t->totals));
    }
    for (size_t i = 0; !known && i < w->sum_count; i++) {
        const struct record_sum *sum = &w->sums[i];
        append_thread(&b, sum->process, sum->thread, sum->strand);
        for (size_t e = 0; e < w->head->event_count; e++)
            bytes_append_signed(&b, sum->values[e]);
    }
    return write_bytes(w, RECORD_TOTALS, &b);
}

int
record_writer_begin(struct record_writer *w, const char *path,
                    const struct record_head *head,
                    const struct session_options *options,
                    const struct tally_log *log)
{
    *w = (struct record_writer){
        .head = head,
        .options = options,
        .log = log,
        .sink = {!head->no_callers, head->all_accesses, head->branches,
                 head->reasons, head->level, head->moves, head->locks,
                 write_set, write_process, write_thread, write_edges,
                 write_reasons, write_waits, write_totals, w},
    };
    int error = chunks_create(path, log, &w->chunks);
    if (error != 0)
        return error;
    error = write_json(w, RECORD_HEAD, head_document(head));
    if (error != 0)
        chunks_abandon(&w->chunks);
    return error;
}

static json_t *
run_document(const struct session_result *r)
{
    json_t *const run = json_pack(
        "{s:i, s:f, s:f, s:f, s:f, s:i, s:b, s:b, s:b}", "status", r->status,
        "wall_s", r->wall_s, "user_s", r->user_s, "sys_s", r->sys_s,
        "modelled_s", r->modelled_s, "processes", (int)r->process_count,
        "interrupted", r->interrupted, "partial", session_partial(r),
        "left_early", session_left_early(r));
    const char *const trace = trace_part_name(r->trace);

    if (trace != NULL)
        json_object_set_new(run, "trace", json_string(trace));
    run_note_set(run, session_varies(r));
    return run;
}

static int
compare_offsets(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;

    return (a > b) - (a < b);
}

/* Writes the names of an image's places, if its file is still the same. */
static int
write_names(struct record_writer *w, struct names *names,
            struct record_places *p)
{
    struct bytes b = {0};
    unsigned file;

    if (p->count == 0 ||
        names_add(names, p->path, p->build_id, p->build_id_size, &file) != 0)
        return 0;
    qsort(p->offsets, p->count, sizeof(*p->offsets), compare_offsets);
    if (kept_names_append(&b, p->path, p->build_id, p->build_id_size, names,
                          file, p->offsets, p->count) != 0)
        b.failed = true;
    return write_bytes(w, RECORD_NAMES, &b);
}

/* Writes the names of all places that the last set has. A run whose names are
 * missing is still whole. */
static int
write_all_names(struct record_writer *w)
{
    struct names *names = NULL;
    int error = 0;

    if (w->place_count == 0 || names_create(NULL, NULL, &names) != 0)
        return 0;
    for (size_t i = 0; error == 0 && i < w->place_count; i++)
        error = write_names(w, names, &w->places[i]);
    names_destroy(names);
    return error;
}

int
record_writer_end(struct record_writer *w, const struct session_result *result)
{
    int error = write_all_names(w);

    if (error == 0)
        error = write_json(w, RECORD_RUN, run_document(result));
    const int ended = chunks_end(&w->chunks);
    forget_sums(w);
    forget_places(w);
    return error != 0 ? error : ended;
}

void
record_writer_abandon(struct record_writer *w)
{
    chunks_abandon(&w->chunks);
    forget_sums(w);
    forget_places(w);
}
