/* SPDX-License-Identifier: MIT */
#include "record/kept_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/texts.h"

#define FRAMES_MOST 64u /* of one place; the innermost are left out */

/* What a run says beside its frames. */
enum run_flags {
    RUN_ADDRESS = 1 << 0,  /* has an address in the file, */
    RUN_FUNCTION = 1 << 1, /* and the offset of the function's first byte */
};

/* What was written or read last, from which the next differs little. */
struct before {
    uint64_t end;      /* of the run */
    uint64_t distance; /* of its address in the file from its offset */
    uint64_t function; /* offset of the function's first byte */
    uint64_t line, function_line;
};

/* Appends a number less the one before. */
static void
append_change(struct bytes *b, uint64_t *before, uint64_t now)
{
    bytes_append_signed(b, (int64_t)(now - *before));
    *before = now;
}

/* Reads such a number. */
static uint64_t
read_change(struct cursor *c, uint64_t *before)
{
    *before += (uint64_t)cursor_signed(c);
    return *before;
}

/* Appends the names of a run of bytes. */
static void
append_run(struct bytes *b, struct texts *texts, struct before *before,
           uint64_t from, uint64_t address, const struct name_frame *frames,
           size_t count)
{
    const uint64_t function =
        count > 0 ? frames[count - 1].function_offset : UINT64_MAX;

    bytes_append_u8(
        b, (uint8_t)((address != UINT64_MAX ? (unsigned)RUN_ADDRESS : 0u) |
                     (function != UINT64_MAX ? (unsigned)RUN_FUNCTION : 0u)));
    if (address != UINT64_MAX)
        append_change(b, &before->distance, address - from);
    if (function != UINT64_MAX)
        append_change(b, &before->function, function);
    bytes_append_varint(b, count);
    for (size_t i = 0; i < count; i++) {
        bytes_append_varint(b, texts_add(texts, frames[i].function));
        bytes_append_varint(b, texts_add(texts, frames[i].mangled));
        bytes_append_varint(b, texts_add(texts, frames[i].file));
        append_change(b, &before->line, frames[i].line);
        append_change(b, &before->function_line, frames[i].function_line);
    }
}

/* Appends the runs of all offsets. Returns their number. */
static size_t
append_runs(struct bytes *b, struct texts *texts, struct names *names,
            unsigned file, const uint64_t *offsets, size_t count)
{
    struct name_frame frames[FRAMES_MOST];
    struct before before = {0};
    size_t runs = 0;

    for (size_t i = 0; i < count; i++) {
        const uint64_t from = offsets[i];
        if (i > 0 && from < before.end)
            continue;
        const size_t found = names_find(names, file, from, frames, FRAMES_MOST);
        const uint64_t until = names_until(names, file, from);
        bytes_append_varint(b, from - before.end);
        bytes_append_varint(b, until - from);
        append_run(b, texts, &before, from, names_address(names, file, from),
                   frames, found);
        before.end = until;
        runs++;
    }
    return runs;
}

int
kept_names_append(struct bytes *to, const char *path, const uint8_t *build_id,
                  size_t build_id_size, struct names *names, unsigned file,
                  const uint64_t *offsets, size_t count)
{
    struct bytes runs = {0};
    struct texts texts = {0};
    int error = texts_init(&texts);

    if (error == 0) {
        const size_t run_count =
            append_runs(&runs, &texts, names, file, offsets, count);
        bytes_append_string(to, path, strlen(path));
        bytes_append_string(to, (const char *)build_id, build_id_size);
        bytes_append_varint(to, texts.count);
        for (uint32_t i = 1; i < texts.count; i++) {
            const char *const text = texts_get(&texts, i);
            bytes_append_string(to, text, strlen(text));
        }
        bytes_append_varint(to, run_count);
        bytes_append(to, runs.data, runs.size);
        error = runs.failed || to->failed ? TALLY_ENOMEM : 0;
    }
    bytes_finish(&runs);
    texts_finish(&texts);
    return error;
}

/* Returns a copy of the cursor's next string with a NUL, or NULL. */
static char *
take_text(struct cursor *c)
{
    size_t length;
    const char *const text = cursor_string(c, &length);

    return text != NULL ? strndup(text, length) : NULL;
}

/* Returns the error of a read that has failed or has had no memory. */
static int
error_of(const struct cursor *c)
{
    return c->failed ? TALLY_ESYNTAX : TALLY_ENOMEM;
}

/* Reads which image the names are of. */
static int
read_image(struct cursor *c, struct kept_names *k)
{
    size_t size;

    k->path = take_text(c);
    const char *const id = cursor_string(c, &size);
    if (k->path == NULL || id == NULL)
        return error_of(c);
    k->build_id = malloc(size + 1);
    if (k->build_id == NULL)
        return TALLY_ENOMEM;
    memcpy(k->build_id, id, size);
    k->build_id_size = size;
    return 0;
}

static int
read_texts(struct cursor *c, struct kept_names *k)
{
    const uint64_t count = cursor_varint(c);

    /* Each has a byte at least, but for the empty one. */
    if (c->failed || count == 0 || count - 1 > cursor_left(c))
        return TALLY_ESYNTAX;
    k->texts = calloc(count, sizeof(*k->texts));
    if (k->texts == NULL || (k->texts[0] = strdup("")) == NULL)
        return TALLY_ENOMEM;
    for (k->text_count = 1; k->text_count < count; k->text_count++) {
        k->texts[k->text_count] = take_text(c);
        if (k->texts[k->text_count] == NULL)
            return error_of(c);
    }
    return 0;
}

/* Reads the number of a text. */
static uint32_t
read_text(struct cursor *c, const struct kept_names *k)
{
    const uint64_t number = cursor_varint(c);

    if (number >= k->text_count)
        c->failed = true;
    return (uint32_t)number;
}

/* Reads the frames of a run. */
static int
read_frames(struct cursor *c, struct kept_names *k, struct before *before,
            struct kept_run *run)
{
    const uint64_t count = cursor_varint(c);

    if (c->failed || count > FRAMES_MOST)
        return TALLY_ESYNTAX;
    run->first_frame = k->frame_count;
    run->frame_count = (uint32_t)count;
    if (count == 0)
        return 0;
    /* Grows to the next power of two. */
    for (uint64_t i = 0; i < count; i++) {
        if ((k->frame_count & (k->frame_count - 1)) == 0) {
            struct kept_frame *const frames = reallocarray(
                k->frames, 2 * k->frame_count + 1, sizeof(*frames));
            if (frames == NULL)
                return TALLY_ENOMEM;
            k->frames = frames;
        }
        struct kept_frame *const f = &k->frames[k->frame_count];
        f->function = read_text(c, k);
        f->mangled = read_text(c, k);
        f->file = read_text(c, k);
        f->line = (uint32_t)read_change(c, &before->line);
        f->function_line = (uint32_t)read_change(c, &before->function_line);
        if (c->failed)
            return TALLY_ESYNTAX;
        k->frame_count++;
    }
    return 0;
}

/* Reads a run that begins at or behind the end of the one before. */
static int
read_run(struct cursor *c, struct kept_names *k, struct before *before,
         struct kept_run *run)
{
    const uint64_t end = before->end;
    const uint64_t gap = cursor_varint(c), length = cursor_varint(c);

    *run = (struct kept_run){.file_address = UINT64_MAX,
                             .function_offset = UINT64_MAX};
    if (c->failed || gap > UINT64_MAX - end ||
        length > UINT64_MAX - end - gap || length == 0)
        return TALLY_ESYNTAX;
    run->from = end + gap;
    run->until = run->from + length;
    const uint8_t flags = cursor_u8(c);
    if (flags & RUN_ADDRESS)
        run->file_address = run->from + read_change(c, &before->distance);
    if (flags & RUN_FUNCTION)
        run->function_offset = read_change(c, &before->function);
    if (c->failed || flags > (RUN_ADDRESS | RUN_FUNCTION))
        return TALLY_ESYNTAX;
    before->end = run->until;
    return read_frames(c, k, before, run);
}

int
kept_names_read(struct cursor *from, struct kept_names *k)
{
    memset(k, 0, sizeof(*k));
    int error = read_image(from, k);
    if (error == 0)
        error = read_texts(from, k);
    const uint64_t count = error == 0 ? cursor_varint(from) : 0;
    /* A run has four bytes at least. */
    if (error == 0 && (from->failed || count > cursor_left(from) / 4))
        error = TALLY_ESYNTAX;
    if (error == 0) {
        k->runs = calloc(count + 1, sizeof(*k->runs));
        error = k->runs != NULL ? 0 : TALLY_ENOMEM;
    }
    struct before before = {0};
    while (error == 0 && k->run_count < count) {
        error = read_run(from, k, &before, &k->runs[k->run_count]);
        k->run_count += error == 0;
    }
    return error == 0 && cursor_left(from) != 0 ? TALLY_ESYNTAX : error;
}

void
kept_names_finish(struct kept_names *k)
{
    for (size_t i = 0; k->texts != NULL && i < k->text_count; i++)
        free(k->texts[i]);
    free(k->texts);
    free(k->path);
    free(k->build_id);
    free(k->frames);
    free(k->runs);
    memset(k, 0, sizeof(*k));
}

const struct kept_run *
kept_names_find(const struct kept_names *k, uint64_t offset)
{
    size_t low = 0, high = k->run_count;

    while (low < high) { /* the first run behind the offset */
        const size_t middle = low + (high - low) / 2;
        if (k->runs[middle].from <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && offset < k->runs[low - 1].until ? &k->runs[low - 1]
                                                      : NULL;
}
