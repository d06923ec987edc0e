/* SPDX-License-Identifier: MIT */
/*
 * The Callgrind profile format, version 1
 * (https://valgrind.org/docs/manual/cl-format.html): costs of each instruction
 * and line in their function, and of each call with all that is below it.
 *
 * Addresses are those of the image's file, as the format's readers pass them to
 * objdump. A function that was copied into another has no name here: its lines
 * are the other function's, in the file that they come from.
 *
 * Where the record has edges, calls have their true number, and there are lines
 * of jumps. The format counts calls from a function to another. A function that
 * was reached by a jump behind the call, as through a PLT stub, has the number
 * of its executions on the paths of the call, and no more than the call was
 * made.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/export.h"
#include "record/keys.h"

#define SELF UINT32_MAX /* a cost of the function's own */

/* What a cost is, in the order of the file. */
enum cost_kind {
    COST_SELF,
    COST_JUMP,        /* by any branch but a conditional one */
    COST_CONDITIONAL, /* by a conditional branch */
    COST_CALL,
};

/* What tells functions apart. */
struct function_key {
    uint64_t offset; /* of the first byte in the image's file */
    uint32_t image, name;
};

/* A function, at the lowest address that was executed. */
struct function {
    struct function_key key;
    uint64_t address;
    uint32_t file, line;
};

/* What tells costs apart, in the order of the file. */
struct cost_key {
    uint32_t function;
    uint32_t callee; /* a function, where a jump leads to too; or SELF */
    uint64_t address;
    uint64_t target; /* of a jump: the address, */
    uint32_t target_line;
    uint32_t kind;
    uint32_t file, line;
};

/* How often control took a call or jump. */
struct cost_counts {
    uint64_t taken;
    uint64_t entered; /* of a call: executions of the callee's entries */
};

struct callgrind {
    const struct export_list *list;
    FILE *out;
    struct keys functions, costs;
    struct function *known; /* [functions] */
    size_t known_room;
    int64_t *values;            /* [costs][events] */
    struct cost_counts *counts; /* [costs], beside the values */
    size_t value_room;
    struct keys entries; /* struct entry_key */
    struct keys places;  /* struct place_key, */
    uint64_t *left;      /* [places] how often control left each */
    size_t left_room;
    size_t executions; /* event that counts executions, or event_count */
    bool *images_named, *files_named, *functions_named;
    int64_t *left_out;
};

/* Returns the address that is written for the frame. */
static uint64_t
address_of(const struct export_frame *frame)
{
    if (frame->file_address != EXPORT_NOWHERE)
        return frame->file_address;
    return frame->address != EXPORT_NOWHERE ? frame->address : 0;
}

/* Returns the frame's function, a new one too; KEYS_NONE: no memory. */
static uint32_t
find_function(struct callgrind *c, const struct export_frame *frame)
{
    const struct function_key key = {frame->function_offset, frame->image,
                                     frame->function};
    const uint32_t before = c->functions.count;
    const uint32_t number = keys_add(&c->functions, &key, sizeof(key));

    if (number == KEYS_NONE)
        return number;
    if (number >= c->known_room) {
        const size_t room = 2 * c->known_room + 64;
        struct function *known =
            reallocarray(c->known, room, sizeof(*c->known));
        if (known == NULL) {
            c->functions.failed = true;
            return KEYS_NONE;
        }
        c->known = known;
        c->known_room = room;
    }
    struct function *f = &c->known[number];
    const uint64_t address = address_of(frame);
    if (number == before || address < f->address)
        *f = (struct function){key, address, frame->file, frame->line};
    return number;
}

/* Makes room for the values and counts of one more cost. */
static int
grow_costs(struct callgrind *c)
{
    const size_t events = c->list->event_count;
    const size_t room = 2 * c->value_room + 1024;
    int64_t *values = reallocarray(c->values, room, events * sizeof(*values));

    if (values == NULL)
        return TALLY_ENOMEM;
    c->values = values;
    struct cost_counts *counts = reallocarray(c->counts, room, sizeof(*counts));
    if (counts == NULL)
        return TALLY_ENOMEM;
    c->counts = counts;
    memset(values + c->value_room * events, 0,
           (room - c->value_room) * events * sizeof(*values));
    memset(counts + c->value_room, 0, (room - c->value_room) * sizeof(*counts));
    c->value_room = room;
    return 0;
}

/* Returns the number of a cost, a new one too; KEYS_NONE: no memory. */
static uint32_t
find_cost(struct callgrind *c, const struct cost_key *key)
{
    const uint32_t number = keys_add(&c->costs, key, sizeof(*key));

    return number != KEYS_NONE && number >= c->value_room && grow_costs(c) != 0
               ? KEYS_NONE
               : number;
}

/* Adds the sample's values to a cost. */
static int
add_cost(struct callgrind *c, const struct cost_key *key,
         const struct export_sample *sample)
{
    const size_t events = c->list->event_count;
    const uint32_t number = find_cost(c, key);

    if (number == KEYS_NONE)
        return TALLY_ENOMEM;
    int64_t *const values = c->values + number * events;
    for (uint32_t i = 0; i < sample->value_count; i++)
        values[sample->events[i]] =
            export_add(values[sample->events[i]], sample->values[i]);
    return 0;
}

/* Returns whether the path has the call already: a recursive call counts once.
 * `calls` are the keys of the calls before. */
static bool
is_repeated(const struct cost_key *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (memcmp(&calls[i], &calls[count], sizeof(*calls)) == 0)
            return true;
    return false;
}

/* An instruction where calls, and jumps from other functions, lead to. */
struct entry_key {
    uint64_t address;
    uint32_t function, process;
};

/* Counts executions of an entry of a function for the call that led there. */
static void
note_entry(struct callgrind *c, const struct export_sample *sample,
           const struct cost_key *call)
{
    struct entry_key key;

    memset(&key, 0, sizeof(key));
    key.address = address_of(&sample->frames[0]);
    key.function = call->callee;
    key.process = sample->process;
    if (c->executions == c->list->event_count ||
        !keys_has(&c->entries, &key, sizeof(key)))
        return;
    const uint32_t number = find_cost(c, call);
    const int64_t value = export_value(sample, c->executions);
    if (number != KEYS_NONE && value > 0)
        c->counts[number].entered += (uint64_t)value;
}

/* Adds the costs of one sample: of its last function, and of all calls above.
 * `frames` and `keys` have room for each frame. */
static int
add_sample(struct callgrind *c, const struct export_sample *sample,
           const struct export_frame **frames, struct cost_key *keys)
{
    const size_t frame_count = export_frames(sample, frames);
    size_t count = 0;
    int error = 0;

    for (size_t i = 0; i < frame_count; i++) {
        const struct export_frame *frame = frames[i];
        struct cost_key *key = &keys[count];
        /* The line of an instruction is that of its innermost copy. */
        if (frame->inlined && i > 0) {
            keys[count - 1].file = frame->file;
            keys[count - 1].line = frame->line;
            continue;
        }
        memset(key, 0, sizeof(*key));
        key->function = find_function(c, frame);
        key->callee = SELF;
        key->address = address_of(frame);
        key->file = frame->file;
        key->line = frame->line;
        if (count > 0) {
            key[-1].callee = key->function;
            key[-1].kind = COST_CALL;
        }
        count++;
    }
    if (c->functions.failed)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < count && error == 0; i++)
        if (!is_repeated(keys, i))
            error = add_cost(c, &keys[i], sample);
    if (error == 0 && count > 1)
        note_entry(c, sample, &keys[count - 2]);
    return error;
}

/* Adds the costs of all samples. */
static int
add_samples(struct callgrind *c)
{
    const struct export_frame **frames =
        calloc(c->list->depth + 1, sizeof(*frames));
    struct cost_key *keys = calloc(c->list->depth + 1, sizeof(*keys));
    int error = frames != NULL && keys != NULL ? 0 : TALLY_ENOMEM;

    for (size_t i = 0; i < c->list->sample_count && error == 0; i++)
        error = add_sample(c, &c->list->samples[i], frames, keys);
    free(frames);
    free(keys);
    return error;
}

/* Returns the key of a cost at an instruction, whose frames are given. */
static struct cost_key
key_at(struct callgrind *c, const struct export_frame *frames, size_t count)
{
    struct cost_key key;

    memset(&key, 0, sizeof(key));
    key.function = find_function(c, &frames[0]);
    key.callee = SELF;
    key.address = address_of(&frames[0]);
    key.file = frames[count - 1].file;
    key.line = frames[count - 1].line;
    return key;
}

/* An instruction that control left for another than the next. */
struct place_key {
    uint64_t address;
    uint64_t function;
};

/* Returns where it is counted how often control left the instruction of a cost;
 * NULL: no memory. */
static uint64_t *
find_left(struct callgrind *c, const struct cost_key *cost)
{
    const struct place_key key = {cost->address, cost->function};
    const uint32_t known = c->places.count;
    const uint32_t number = keys_add(&c->places, &key, sizeof(key));

    if (number != KEYS_NONE && number >= c->left_room) {
        const size_t room = 2 * c->left_room + 256;
        uint64_t *more = reallocarray(c->left, room, sizeof(*more));
        if (more == NULL)
            return NULL;
        c->left = more;
        c->left_room = room;
    }
    if (number == known && number != KEYS_NONE)
        c->left[number] = 0;
    return number != KEYS_NONE ? &c->left[number] : NULL;
}

/* Returns the kind of an edge as a cost; COST_SELF: none. */
static enum cost_kind
kind_of(const struct export_edge *e)
{
    switch (e->edge->way) {
    case RECORD_WAY_CALL:
    case RECORD_WAY_INDIRECT_CALL:
        return COST_CALL;
    case RECORD_WAY_JUMP:
    case RECORD_WAY_INDIRECT:
        return COST_JUMP;
    case RECORD_WAY_TAKEN:
        return COST_CONDITIONAL;
    default:
        return COST_SELF;
    }
}

/* Adds an edge of the record: the call or jump that it is, and how often
 * control left the instruction. */
static int
add_edge(struct callgrind *c, const struct export_edge *e)
{
    const enum cost_kind kind = kind_of(e);

    if (e->from == NULL)
        return 0;
    struct cost_key key = key_at(c, e->from, e->from_count);
    uint64_t *left = find_left(c, &key);
    if (left == NULL)
        return TALLY_ENOMEM;
    *left += e->edge->count;
    if (kind == COST_SELF)
        return c->functions.failed ? TALLY_ENOMEM : 0;
    key.callee = find_function(c, &e->to[0]);
    key.kind = kind;
    if (kind != COST_CALL) {
        key.target = address_of(&e->to[0]);
        key.target_line = e->to[e->to_count - 1].line;
    }
    const uint32_t number = find_cost(c, &key);
    if (number == KEYS_NONE || c->functions.failed)
        return TALLY_ENOMEM;
    c->counts[number].taken += e->edge->count;
    return 0;
}

/* Returns whether the edge enters a function: by a call, or by a jump out of
 * another. */
static bool
enters(struct callgrind *c, const struct export_edge *e)
{
    const enum cost_kind kind = kind_of(e);

    return kind == COST_CALL ||
           (kind != COST_SELF &&
            find_function(c, &e->from[0]) != find_function(c, &e->to[0]));
}

/* Lists the entries of functions. */
static int
add_entries(struct callgrind *c)
{
    for (size_t i = 0; i < c->list->edge_count; i++) {
        const struct export_edge *e = &c->list->edges[i];
        struct entry_key key;
        if (!enters(c, e))
            continue;
        memset(&key, 0, sizeof(key));
        key.address = address_of(&e->to[0]);
        key.function = find_function(c, &e->to[0]);
        key.process = e->process;
        if (keys_add(&c->entries, &key, sizeof(key)) == KEYS_NONE)
            return TALLY_ENOMEM;
    }
    return c->functions.failed ? TALLY_ENOMEM : 0;
}

/* Adds the calls and jumps of the record. */
static int
add_edges(struct callgrind *c)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < c->list->edge_count; i++)
        error = add_edge(c, &c->list->edges[i]);
    return error;
}

/* Orders costs as they are written. */
static int
by_place(const void *x, const void *y, void *user)
{
    const struct callgrind *c = user;
    size_t size;
    const struct cost_key *a = keys_get(&c->costs, *(const uint32_t *)x, &size);
    const struct cost_key *b = keys_get(&c->costs, *(const uint32_t *)y, &size);

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->callee != b->callee)
        return a->callee > b->callee ? -1 : 1;
    if (a->target != b->target)
        return a->target < b->target ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Writes "key=(number) name"; the name only where the number is new. */
static void
put_name(struct callgrind *c, const char *key, uint32_t number, bool *named,
         const char *name)
{
    if (named[number])
        fprintf(c->out, "%s=(%u)\n", key, number + 1);
    else
        escape_printf(c->out, "%s=(%u) %s\n", key, number + 1,
                      *name != '\0' ? name : "???");
    named[number] = true;
}

/* Writes the name of an image, or of no image. */
static void
put_image(struct callgrind *c, const char *key, uint32_t image)
{
    const struct record *record = c->list->record;
    const bool has = image != RECORD_NO_IMAGE;

    put_name(c, key, has ? image + 1 : 0, c->images_named,
             has ? record->images[image].path : "");
}

/* Writes the name of a source file. */
static void
put_file(struct callgrind *c, const char *key, uint32_t file)
{
    put_name(c, key, file, c->files_named, c->list->texts[file]);
}

/* Writes the name of a function. */
static void
put_function(struct callgrind *c, const char *key, uint32_t name)
{
    put_name(c, key, name, c->functions_named, c->list->texts[name]);
}

/* Writes the line of a cost. The format has no negative values: their place has
 * a 0. */
static void
put_values(struct callgrind *c, const struct cost_key *key,
           const int64_t *values)
{
    fprintf(c->out, "0x%" PRIx64 " %u", key->address, key->line);
    for (size_t e = 0; e < c->list->event_count; e++) {
        fprintf(c->out, " %" PRId64, values[e] > 0 ? values[e] : 0);
        if (values[e] < 0 && key->callee == SELF)
            c->left_out[e] = export_add(c->left_out[e], values[e]);
    }
    fputc('\n', c->out);
}

/* Returns whether all values are 0. */
static bool
is_zero(const int64_t *values, size_t count)
{
    size_t i = 0;

    while (i < count && values[i] == 0)
        i++;
    return i == count;
}

/* Returns how often a function was called at a place. */
static uint64_t
calls_of(struct callgrind *c, const struct cost_key *key,
         const struct cost_counts *counts)
{
    if (counts->taken != 0)
        return counts->taken;
    const uint64_t *left = c->list->edge_count != 0 ? find_left(c, key) : NULL;
    if (left == NULL || *left == 0)
        return 1; /* it is not known, and 0 is no call */
    return counts->entered != 0 && counts->entered < *left ? counts->entered
                                                           : *left;
}

/* Writes which function is called, and how often. */
static void
put_call(struct callgrind *c, const struct cost_key *key,
         const struct cost_counts *counts)
{
    const struct function *callee = &c->known[key->callee];

    put_image(c, "cob", callee->key.image);
    put_file(c, "cfi", callee->file);
    put_function(c, "cfn", callee->key.name);
    fprintf(c->out, "calls=%" PRIu64 " 0x%" PRIx64 " %u\n",
            calls_of(c, key, counts), callee->address, callee->line);
}

/* Writes a jump: where it goes, how often it went there and, of a conditional
 * one, was executed, and where it is. */
static void
put_jump(struct callgrind *c, const struct cost_key *key,
         const struct cost_counts *counts)
{
    const struct function *to = &c->known[key->callee];

    if (key->callee != key->function) {
        put_file(c, "jfi", to->file);
        put_function(c, "jfn", to->key.name);
    }
    if (key->kind == COST_CONDITIONAL) {
        const uint64_t *left = find_left(c, key);
        fprintf(c->out, "jcnd=%" PRIu64 "/%" PRIu64, counts->taken,
                left != NULL ? *left : counts->taken);
    } else {
        fprintf(c->out, "jump=%" PRIu64, counts->taken);
    }
    fprintf(c->out, " 0x%" PRIx64 " %u\n0x%" PRIx64 " %u\n", key->target,
            key->target_line, key->address, key->line);
}

/* Writes a cost, a call or a jump. */
static void
put_cost(struct callgrind *c, const struct cost_key *key, const int64_t *values,
         const struct cost_counts *counts)
{
    if (key->kind == COST_JUMP || key->kind == COST_CONDITIONAL) {
        put_jump(c, key, counts);
        return;
    }
    if (key->kind == COST_CALL)
        put_call(c, key, counts);
    put_values(c, key, values);
}

/* Writes all costs in the order of `order`. */
static void
put_costs(struct callgrind *c, const uint32_t *order)
{
    uint32_t function = SELF, file = 0;
    size_t size;

    for (uint32_t i = 0; i < c->costs.count; i++) {
        const struct cost_key *key = keys_get(&c->costs, order[i], &size);
        const int64_t *values = c->values + order[i] * c->list->event_count;
        const struct cost_counts *counts = &c->counts[order[i]];
        const struct function *f = &c->known[key->function];
        if (counts->taken == 0 && is_zero(values, c->list->event_count))
            continue;
        if (key->function != function) {
            fputc('\n', c->out);
            put_image(c, "ob", f->key.image);
            put_file(c, "fl", f->file);
            put_function(c, "fn", f->key.name);
            function = key->function;
            file = f->file;
        }
        if (key->file != file) {
            put_file(c, key->file == f->file ? "fe" : "fi", key->file);
            file = key->file;
        }
        put_cost(c, key, values, counts);
    }
}

/* Returns the letter that stands for `letter` in the name of an event. */
static char
event_letter(char letter)
{
    return isalnum((unsigned char)letter) ? letter : '_';
}

/* Returns whether two names of events have the same letters. */
static bool
same_event(const char *a, const char *b)
{
    while (*a != '\0' && *b != '\0' && event_letter(*a) == event_letter(*b)) {
        a++;
        b++;
    }
    return *a == '\0' && *b == '\0';
}

/* Writes the event's name in the letters of the format, with a number where an
 * event before has the same letters. */
static void
put_event(const struct export_list *list, FILE *out, size_t event)
{
    const char *name = export_event(list, event);
    bool taken = false;

    for (size_t e = 0; e < event; e++)
        taken |= same_event(export_event(list, e), name);
    if (!isalpha((unsigned char)*name))
        fputs("event_", out);
    for (; *name != '\0'; name++)
        fputc(event_letter(*name), out);
    if (taken)
        fprintf(out, "_%zu", event + 1);
}

/* Writes the lines before the costs. */
static void
put_head(const struct export_list *list, FILE *out)
{
    const struct record *r = list->record;

    escape_printf(out, "# callgrind format\nversion: 1\ncreator: %s\n",
                  list->creator);
    if (r->process_count > 0)
        fprintf(out, "pid: %d\n", r->processes[0].pid);
    fprintf(out, "cmd:");
    for (char *const *word = r->argv; *word != NULL; word++)
        escape_printf(out, " %s", *word);
    escape_printf(out, "\npart: 1\ndesc: Machine: %s\n", r->machine);
    fprintf(out, "positions: instr line\n");
    for (size_t e = 0; e < list->event_count; e++) {
        fprintf(out, "event: ");
        put_event(list, out, e);
        escape_printf(out, " : %s\n", export_event(list, e));
    }
    fprintf(out, "events:");
    for (size_t e = 0; e < list->event_count; e++) {
        fputc(' ', out);
        put_event(list, out, e);
    }
    fputc('\n', out);
}

/* Writes the costs in order, and the totals. */
static int
write_file(struct callgrind *c)
{
    uint32_t *order = calloc((size_t)c->costs.count + 1, sizeof(*order));

    if (order == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < c->costs.count; i++)
        order[i] = i;
    qsort_r(order, c->costs.count, sizeof(*order), by_place, c);
    put_head(c->list, c->out);
    put_costs(c, order);
    free(order);
    fprintf(c->out, "\ntotals:");
    for (size_t e = 0; e < c->list->event_count; e++)
        fprintf(c->out, " %" PRId64, export_total(c->list, e));
    fputc('\n', c->out);
    return ferror(c->out) ? TALLY_EIO : 0;
}

/* Returns the event that each instruction raises once each time it runs, or
 * list->event_count. */
static size_t
find_executions(const struct export_list *list)
{
    size_t e = 0;

    while (e < list->event_count &&
           strcmp(export_event(list, e), "instructions") != 0)
        e++;
    return e;
}

int
export_callgrind(const struct export_list *list, FILE *out, int64_t *left_out)
{
    struct callgrind c = {
        .list = list,
        .out = out,
        .images_named = calloc(list->record->image_count + 2, sizeof(bool)),
        .files_named = calloc(list->text_count + 1, sizeof(bool)),
        .functions_named = calloc(list->text_count + 1, sizeof(bool)),
        .left_out = left_out,
        .executions = find_executions(list),
    };
    int error = c.images_named != NULL && c.files_named != NULL &&
                        c.functions_named != NULL
                    ? add_entries(&c)
                    : TALLY_ENOMEM;

    if (error == 0)
        error = add_samples(&c);
    if (error == 0)
        error = add_edges(&c);
    if (error == 0)
        error = write_file(&c);
    keys_finish(&c.functions);
    keys_finish(&c.costs);
    keys_finish(&c.entries);
    keys_finish(&c.places);
    free(c.known);
    free(c.values);
    free(c.counts);
    free(c.left);
    free(c.images_named);
    free(c.files_named);
    free(c.functions_named);
    return error;
}
