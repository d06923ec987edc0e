/* SPDX-License-Identifier: MIT */
/*
 * The Callgrind profile format, version 1
 * (https://valgrind.org/docs/manual/cl-format.html): costs of each instruction
 * and line in their function, and of each call with all that is below it.
 *
 * Addresses are those of the image's file, as the format's readers pass them to
 * objdump. A function that was copied into another has no name here: its lines
 * are the other function's, in the file that they come from.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/export.h"
#include "record/keys.h"

#define SELF UINT32_MAX /* a cost of the function's own */

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
    uint32_t callee; /* a function, or SELF */
    uint64_t address;
    uint32_t file, line;
};

struct callgrind {
    const struct export_list *list;
    FILE *out;
    struct keys functions, costs;
    struct function *known; /* [functions] */
    size_t known_room;
    int64_t *values; /* [costs][events] */
    size_t value_room;
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

/* Adds the sample's values to a cost. */
static int
add_cost(struct callgrind *c, const struct cost_key *key, const int64_t *values)
{
    const size_t events = c->list->event_count;
    const uint32_t number = keys_add(&c->costs, key, sizeof(*key));

    if (number == KEYS_NONE)
        return TALLY_ENOMEM;
    if (number >= c->value_room) {
        const size_t room = 2 * c->value_room + 1024;
        int64_t *more = reallocarray(c->values, room, events * sizeof(*more));
        if (more == NULL)
            return TALLY_ENOMEM;
        memset(more + c->value_room * events, 0,
               (room - c->value_room) * events * sizeof(*more));
        c->values = more;
        c->value_room = room;
    }
    for (size_t e = 0; e < events; e++)
        c->values[number * events + e] =
            export_add(c->values[number * events + e], values[e]);
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
        if (count > 0)
            key[-1].callee = key->function;
        count++;
    }
    if (c->functions.failed)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < count && error == 0; i++)
        if (!is_repeated(keys, i))
            error = add_cost(c, &keys[i], sample->values);
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
    if (a->callee != b->callee)
        return a->callee > b->callee ? -1 : 1; /* SELF is the first */
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

/* Writes a cost; of a call also which function is called. */
static void
put_cost(struct callgrind *c, const struct cost_key *key, const int64_t *values)
{
    if (key->callee != SELF) {
        const struct function *callee = &c->known[key->callee];
        put_image(c, "cob", callee->key.image);
        put_file(c, "cfi", callee->file);
        put_function(c, "cfn", callee->key.name);
        /* How often it was called is not known, and 0 is no call. */
        fprintf(c->out, "calls=1 0x%" PRIx64 " %u\n", callee->address,
                callee->line);
    }
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
        const struct function *f = &c->known[key->function];
        if (is_zero(values, c->list->event_count))
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
        put_cost(c, key, values);
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
    };
    int error = c.images_named != NULL && c.files_named != NULL &&
                        c.functions_named != NULL
                    ? add_samples(&c)
                    : TALLY_ENOMEM;

    if (error == 0)
        error = write_file(&c);
    keys_finish(&c.functions);
    keys_finish(&c.costs);
    free(c.known);
    free(c.values);
    free(c.images_named);
    free(c.files_named);
    free(c.functions_named);
    return error;
}
