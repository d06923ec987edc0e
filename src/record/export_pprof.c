/* SPDX-License-Identifier: MIT */
/*
 * A profile for pprof: profile.proto of https://github.com/google/pprof, a
 * message of protocol buffers, compressed as gzip does.
 *
 * The message is encoded here: the wire format has three rules (a field is a
 * varint of its number and type; a number is a varint; a text, a message or a
 * packed list has its size before it), and bytes.h has the varint. A library
 * would add a compiler of .proto files to what the build needs.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/escape.h"
#include "record/export.h"
#include "record/keys.h"

/* Numbers of fields, of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_DURATION_NANOS = 10,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_STR = 2,
    LABEL_NUM = 3,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_OFFSET = 4,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS_FUNCTIONS = 7,
    MAPPING_HAS_FILES = 8,
    MAPPING_HAS_LINES = 9,
    MAPPING_HAS_INLINED = 10,
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};

enum { WIRE_NUMBER = 0, WIRE_BYTES = 2 };

#define PAGE UINT64_C(0x1000)

/* An image at a place in memory: what tells mappings apart. */
struct mapping_key {
    uint64_t base; /* address less offset in the file */
    uint32_t image, unused;
};

/* What of a mapping was executed, and which names its code has. */
struct mapping {
    uint64_t first, last;
    bool functions, files, lines, inlined;
};

struct function_key {
    uint32_t name, mangled, file;
};

struct location_key {
    uint64_t address;
    uint32_t mapping, function; /* the innermost */
};

struct pprof {
    const struct export_list *list;
    struct keys texts, mappings, functions, locations;
    struct mapping *ranges; /* [mappings] */
    size_t range_room;
    uint32_t *text_of; /* string of each text of the list, or 0 */
    struct bytes samples, location_fields, message, part, inner;
    bool failed;
};

/* Appends a number, unless it is 0: a reader takes 0 for a field that is not
 * there. */
static void
put_number(struct bytes *b, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    bytes_append_varint(b, field << 3 | WIRE_NUMBER);
    bytes_append_varint(b, value);
}

/* Appends a text, a message or a packed list; its failure becomes that of `b`.
 */
static void
put_bytes(struct bytes *b, unsigned field, const struct bytes *part)
{
    bytes_append_varint(b, field << 3 | WIRE_BYTES);
    bytes_append_varint(b, part->size);
    bytes_append(b, part->data, part->size);
    b->failed |= part->failed;
}

/* Returns the number of a string in the string table. */
static uint64_t
string(struct pprof *p, const char *text)
{
    char *shown = escape_copy(text, ESCAPE_LINE);
    const uint32_t number =
        shown != NULL ? keys_add(&p->texts, shown, strlen(shown)) : KEYS_NONE;

    free(shown);
    p->failed |= number == KEYS_NONE;
    return number;
}

/* Returns the string of one of the list's texts. */
static uint64_t
string_of(struct pprof *p, uint32_t text)
{
    if (p->text_of[text] == 0 && text != 0)
        p->text_of[text] = (uint32_t)string(p, p->list->texts[text]);
    return p->text_of[text];
}

/* Returns the id of the frame's mapping, a new one too; 0: the code has no
 * image. */
static uint32_t
find_mapping(struct pprof *p, const struct export_frame *frame)
{
    const struct mapping_key key = {frame->address - frame->offset,
                                    frame->image, 0};

    if (frame->image == RECORD_NO_IMAGE)
        return 0;
    const uint32_t number = keys_add(&p->mappings, &key, sizeof(key));
    if (number == KEYS_NONE) {
        p->failed = true;
        return 0;
    }
    if (number >= p->range_room) {
        const size_t room = 2 * p->range_room + 16;
        struct mapping *ranges = reallocarray(p->ranges, room, sizeof(*ranges));
        if (ranges == NULL) {
            p->failed = true;
            return 0;
        }
        for (size_t i = p->range_room; i < room; i++)
            ranges[i] = (struct mapping){.first = UINT64_MAX};
        p->ranges = ranges;
        p->range_room = room;
    }
    struct mapping *m = &p->ranges[number];
    if (frame->address < m->first)
        m->first = frame->address;
    if (frame->address > m->last)
        m->last = frame->address;
    m->functions |= frame->function != 0;
    m->files |= frame->file != 0;
    m->lines |= frame->line != 0;
    m->inlined |= frame->inlined;
    return number + 1;
}

/* Returns the id of the frame's function; 0: not known. */
static uint64_t
find_function(struct pprof *p, const struct export_frame *frame)
{
    const struct function_key key = {frame->function, frame->mangled,
                                     frame->file};

    if (frame->function == 0 && frame->file == 0)
        return 0;
    const uint32_t number = keys_add(&p->functions, &key, sizeof(key));
    p->failed |= number == KEYS_NONE;
    return (uint64_t)number + 1;
}

/* Appends the lines of `count` frames to the location, the innermost first. */
static void
put_lines(struct pprof *p, struct bytes *to, const struct export_frame *frames,
          size_t count)
{
    for (size_t i = count; i > 0; i--) {
        const uint64_t function = find_function(p, &frames[i - 1]);
        if (function == 0)
            continue;
        bytes_clear(&p->inner);
        put_number(&p->inner, LINE_FUNCTION, function);
        put_number(&p->inner, LINE_LINE, frames[i - 1].line);
        put_bytes(to, LOCATION_LINE, &p->inner);
    }
}

/* Returns the id of the location of a function and the `count` - 1 functions
 * that are copied into it; writes a new one. */
static uint64_t
find_location(struct pprof *p, const struct export_frame *frames, size_t count)
{
    uint32_t mapping = 0;

    for (size_t i = 0; i < count; i++)
        mapping = find_mapping(p, &frames[i]);
    const uint64_t address =
        frames->address != EXPORT_NOWHERE ? frames->address : 0;
    const struct location_key key = {address, mapping,
                                     frames[count - 1].function};
    const uint32_t known = p->locations.count;
    const uint32_t number = keys_add(&p->locations, &key, sizeof(key));
    p->failed |= number == KEYS_NONE;
    if (number == known) {
        bytes_clear(&p->part);
        put_number(&p->part, LOCATION_ID, (uint64_t)number + 1);
        put_number(&p->part, LOCATION_MAPPING, mapping);
        put_number(&p->part, LOCATION_ADDRESS, address);
        put_lines(p, &p->part, frames, count);
        put_bytes(&p->location_fields, PROFILE_LOCATION, &p->part);
    }
    return (uint64_t)number + 1;
}

/* Appends a label of a sample: a text, or with `text` NULL a number. */
static void
put_label(struct pprof *p, struct bytes *to, const char *key, const char *text,
          uint64_t number)
{
    bytes_clear(&p->inner);
    put_number(&p->inner, LABEL_KEY, string(p, key));
    if (text != NULL)
        put_number(&p->inner, LABEL_STR, string(p, text));
    else
        put_number(&p->inner, LABEL_NUM, number);
    put_bytes(to, SAMPLE_LABEL, &p->inner);
}

/* Appends the ids of the locations of an instruction, the innermost first. */
static void
put_locations(struct pprof *p, const struct export_frame *frames, size_t count,
              struct bytes *ids)
{
    for (size_t end = count; end > 0;) {
        size_t first = end - 1;
        while (first > 0 && frames[first].inlined)
            first--;
        bytes_append_varint(ids, find_location(p, &frames[first], end - first));
        end = first;
    }
}

/* Appends the ids of the locations, the innermost first, as a packed list. */
static void
put_path(struct pprof *p, struct bytes *to, const struct export_sample *sample,
         struct bytes *ids)
{
    bytes_clear(ids);
    put_locations(p, sample->frames, sample->frame_count, ids);
    for (const struct export_call *c = sample->caller; c != NULL; c = c->caller)
        put_locations(p, c->frames, c->frame_count, ids);
    put_bytes(to, SAMPLE_LOCATION_ID, ids);
}

/* Appends a sample. `field` and `list` are buffers to work in. */
static void
put_sample(struct pprof *p, const struct export_sample *sample,
           struct bytes *field, struct bytes *list)
{
    char thread[16];

    bytes_clear(field);
    put_path(p, field, sample, list);
    bytes_clear(list);
    for (size_t e = 0; e < p->list->event_count; e++)
        bytes_append_varint(list, (uint64_t)export_value(sample, e));
    put_bytes(field, SAMPLE_VALUE, list);
    put_label(p, field, "program", export_program(p->list, sample->process), 0);
    put_label(p, field, "pid", NULL,
              (uint64_t)export_pid(p->list, sample->process));
    /* As text: readers take the number 0 for no number. */
    snprintf(thread, sizeof(thread), "%u", sample->thread);
    put_label(p, field, "thread", thread, 0);
    put_bytes(&p->samples, PROFILE_SAMPLE, field);
}

/* Makes all samples but those that have only zeroes. */
static void
put_samples(struct pprof *p)
{
    struct bytes field = {0}, list = {0};

    for (size_t i = 0; i < p->list->sample_count && !p->failed; i++) {
        const struct export_sample *sample = &p->list->samples[i];
        bool zero = true;
        for (uint32_t v = 0; v < sample->value_count; v++)
            zero &= sample->values[v] == 0;
        if (!zero)
            put_sample(p, sample, &field, &list);
    }
    p->failed |= field.failed || list.failed;
    bytes_finish(&field);
    bytes_finish(&list);
}

/* Returns the string of a build id, in hexadecimal. */
static uint64_t
build_id(struct pprof *p, const struct record_image *image)
{
    char text[2 * RECORD_BUILD_ID + 1] = "";

    for (size_t i = 0; i < image->build_id_size; i++)
        snprintf(text + 2 * i, 3, "%02x", image->build_id[i]);
    return string(p, text);
}

/* Appends a mapping: the pages that were executed. */
static void
put_mapping(struct pprof *p, struct bytes *to, uint32_t number)
{
    size_t size;
    const struct mapping_key *key = keys_get(&p->mappings, number, &size);
    const struct mapping *m = &p->ranges[number];
    const struct record_image *image = &p->list->record->images[key->image];
    const uint64_t start = m->first & ~(PAGE - 1);

    bytes_clear(&p->part);
    put_number(&p->part, MAPPING_ID, (uint64_t)number + 1);
    put_number(&p->part, MAPPING_START, start);
    put_number(&p->part, MAPPING_LIMIT, (m->last & ~(PAGE - 1)) + PAGE);
    put_number(&p->part, MAPPING_OFFSET, start - key->base);
    put_number(&p->part, MAPPING_FILE, string(p, image->path));
    put_number(&p->part, MAPPING_BUILD_ID, build_id(p, image));
    put_number(&p->part, MAPPING_HAS_FUNCTIONS, m->functions);
    put_number(&p->part, MAPPING_HAS_FILES, m->files);
    put_number(&p->part, MAPPING_HAS_LINES, m->lines);
    put_number(&p->part, MAPPING_HAS_INLINED, m->inlined);
    put_bytes(to, PROFILE_MAPPING, &p->part);
}

/* Returns the mapping of the first process's program, or 0 if none is of its
 * name. */
static uint32_t
main_mapping(const struct pprof *p)
{
    const char *program =
        p->list->record->process_count > 0 ? export_program(p->list, 0) : "";
    size_t size;

    for (uint32_t i = 0; i < p->mappings.count; i++) {
        const struct mapping_key *key = keys_get(&p->mappings, i, &size);
        if (strcmp(export_image(p->list, key->image), program) == 0)
            return i;
    }
    return 0;
}

/* Appends the mappings. Readers take the first one for the program's. */
static void
put_mappings(struct pprof *p, struct bytes *to)
{
    const uint32_t first = main_mapping(p);

    if (p->mappings.count > 0)
        put_mapping(p, to, first);
    for (uint32_t i = 0; i < p->mappings.count; i++)
        if (i != first)
            put_mapping(p, to, i);
}

/* Appends the functions. */
static void
put_functions(struct pprof *p, struct bytes *to)
{
    for (uint32_t i = 0; i < p->functions.count; i++) {
        size_t size;
        const struct function_key key =
            *(const struct function_key *)keys_get(&p->functions, i, &size);
        const uint64_t name =
            key.name != 0 ? string_of(p, key.name) : string(p, "[unknown]");
        bytes_clear(&p->part);
        put_number(&p->part, FUNCTION_ID, i + 1);
        put_number(&p->part, FUNCTION_NAME, name);
        put_number(&p->part, FUNCTION_SYSTEM_NAME,
                   key.mangled != 0 ? string_of(p, key.mangled) : name);
        put_number(&p->part, FUNCTION_FILE, string_of(p, key.file));
        put_bytes(to, PROFILE_FUNCTION, &p->part);
    }
}

/* Appends the events, and that the first one is shown if none is chosen. */
static void
put_types(struct pprof *p, struct bytes *to)
{
    const struct export_list *list = p->list;

    for (size_t e = 0; e < list->event_count; e++) {
        const char *unit = list->record->events[list->events[e]].unit;
        bytes_clear(&p->part);
        put_number(&p->part, VALUE_TYPE, string(p, export_event(list, e)));
        put_number(&p->part, VALUE_UNIT,
                   string(p, *unit != '\0' ? unit : "count"));
        put_bytes(to, PROFILE_SAMPLE_TYPE, &p->part);
    }
    if (list->event_count > 0)
        put_number(to, PROFILE_DEFAULT_TYPE, string(p, export_event(list, 0)));
}

/* Appends a comment: the command line, or a fact and its name. */
static void
put_comment(struct pprof *p, struct bytes *to, const char *before,
            char *const *words)
{
    struct bytes text = {0};

    bytes_append(&text, before, strlen(before));
    for (; *words != NULL; words++) {
        bytes_append_u8(&text, ' ');
        bytes_append(&text, *words, strlen(*words));
    }
    bytes_append_u8(&text, '\0');
    p->failed |= text.failed;
    if (!text.failed)
        put_number(to, PROFILE_COMMENT, string(p, (char *)text.data));
    bytes_finish(&text);
}

/* Builds the message. The strings come last, as all parts add to them. */
static void
build_message(struct pprof *p)
{
    const struct record *record = p->list->record;
    struct bytes *m = &p->message;

    string(p, "");
    put_types(p, m);
    put_samples(p);
    put_mappings(p, m);
    put_functions(p, m);
    put_number(m, PROFILE_DURATION_NANOS,
               record->wall_s > 0 && record->wall_s < 1e9
                   ? (uint64_t)(record->wall_s * 1e9)
                   : 0);
    put_comment(p, m, "command:", record->argv);
    put_comment(p, m, "machine:", (char *[]){record->machine, NULL});
    bytes_append(m, p->samples.data, p->samples.size);
    bytes_append(m, p->location_fields.data, p->location_fields.size);
    for (uint32_t i = 0; i < p->texts.count && !p->failed; i++) {
        size_t size;
        const void *text = keys_get(&p->texts, i, &size);
        bytes_append_varint(m, PROFILE_STRING_TABLE << 3 | WIRE_BYTES);
        bytes_append_string(m, text, size);
    }
    p->failed |= m->failed || p->samples.failed || p->location_fields.failed ||
                 p->part.failed || p->inner.failed;
}

/* Writes the bytes as gzip does, without a time or a name. */
static int
write_gzip(const struct bytes *b, FILE *out)
{
    z_stream z = {0};
    uint8_t room[16384];
    size_t left = b->size;
    int state = Z_OK;

    /* 16 asks for the header of gzip. */
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 16 + MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return TALLY_ENOMEM;
    z.next_in = b->data;
    while (state == Z_OK) {
        if (z.avail_in == 0) {
            z.avail_in = left < UINT32_MAX ? (uInt)left : UINT32_MAX;
            left -= z.avail_in;
        }
        z.next_out = room;
        z.avail_out = sizeof(room);
        state = deflate(&z, left == 0 ? Z_FINISH : Z_NO_FLUSH);
        fwrite(room, 1, sizeof(room) - z.avail_out, out);
    }
    deflateEnd(&z);
    return ferror(out) ? TALLY_EIO : 0;
}

int
export_pprof(const struct export_list *list, FILE *out, int64_t *left_out)
{
    struct pprof p = {
        .list = list,
        .text_of = calloc(list->text_count + 1, sizeof(*p.text_of)),
    };

    (void)left_out; /* values may be negative */
    if (p.text_of != NULL)
        build_message(&p);
    const int error = p.text_of == NULL || p.failed
                          ? TALLY_ENOMEM
                          : write_gzip(&p.message, out);
    keys_finish(&p.texts);
    keys_finish(&p.mappings);
    keys_finish(&p.functions);
    keys_finish(&p.locations);
    bytes_finish(&p.samples);
    bytes_finish(&p.location_fields);
    bytes_finish(&p.message);
    bytes_finish(&p.part);
    bytes_finish(&p.inner);
    free(p.ranges);
    free(p.text_of);
    return error;
}
