/* SPDX-License-Identifier: MIT */
#include "record/resolver.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbering.h"
#include "base/texts.h"
#include "names/names.h"
#include "record/kept_names.h"

#define FRAMES_MOST 64u /* of one instruction; the innermost are left out */
#define NO_FILE UINT32_MAX
#define FRAMES_A_CHUNK 4096u
#define PLACES_A_CHUNK 4096u

/* Frames never move, as resolved instructions point to them. */
struct frame_chunk {
    struct frame_chunk *next;
    size_t used;
    struct resolved_frame frames[FRAMES_A_CHUNK];
};

/* What is known of places by their numbers; never moved, as callers keep
 * pointers. */
struct places {
    struct numbering numbers; /* of image and offset, or process and address */
    struct resolved **chunks; /* of PLACES_A_CHUNK each */
    size_t chunk_count;
};

/* Where the pieces of code of an image begin, and their sizes. */
struct sizes {
    bool known;
    uint64_t *offsets, *sizes; /* ascending; owned */
    size_t count, room;
};

/* Bytes of an image's file that have the same names: those of the first. */
struct run {
    uint32_t image;
    uint64_t from, until; /* offsets; at first equal, so that there are none */
    struct resolved place;
};

struct resolver {
    const struct record *record;
    struct run run; /* that was looked up last */
    struct names *names;
    bool has_own_names;
    uint32_t *files;                /* of each image in `names`, or NO_FILE */
    const struct kept_names **kept; /* of each image, or NULL */
    uint32_t **kept_texts; /* of each image with such: the number + 1 of each of
                              its texts, or 0: not asked yet */
    const struct tally_log *log;
    struct tally_log file_log; /* of names: warn_of_file() */
    bool has_kept;             /* the record has names of the file */
    uint32_t *image_texts;     /* the path of each image */
    struct sizes *sizes;       /* of each image, found when they are needed */
    uint32_t **insns;     /* of each process: place + 1, or 0: not asked yet */
    struct places places; /* that the processes share */
    struct texts texts;
    struct frame_chunk *chunks;
};

static const struct resolved_frame no_frame;
static const struct resolved not_known = {&no_frame, 1, 0, UINT64_MAX,
                                          UINT64_MAX};

/* Warns of an image's file, for the log of r->names. */
static void
warn_of_file(void *user, enum tally_level level, const char *text)
{
    const struct resolver *r = user;

    tally_logf(r->log, level, "%s%s", text,
               r->has_kept ? "; its names are those that the record keeps"
                           : "");
}

/* Opens an image's file, where it is now if it moved. */
static int
open_image(struct resolver *r, const struct resolver_options *options,
           const struct record_image *image, unsigned *file)
{
    char *path =
        source_moved_path(image->path, options->moves, options->move_count);
    int error = TALLY_ENOMEM;

    r->has_kept = image->names != NULL;
    if (path != NULL)
        error = names_add(r->names, path, image->build_id, image->build_id_size,
                          file);
    free(path);
    return error;
}

/* Makes the names ready that the record has of an image, if there are any. */
static int
use_kept(struct resolver *r, size_t i)
{
    r->kept[i] = r->record->images[i].names;
    if (r->kept[i] == NULL)
        return 0;
    r->kept_texts[i] = calloc(r->kept[i]->text_count, sizeof(**r->kept_texts));
    return r->kept_texts[i] != NULL ? 0 : TALLY_ENOMEM;
}

/* Opens the images' files. */
static int
open_images(struct resolver *r, const struct resolver_options *options)
{
    const struct record *record = r->record;

    for (size_t i = 0; i < record->image_count; i++) {
        const struct record_image *image = &record->images[i];
        unsigned file;
        r->files[i] = NO_FILE;
        r->image_texts[i] = texts_add(&r->texts, image->path);
        const int error = open_image(r, options, image, &file);
        if (error == TALLY_ENOMEM)
            return error;
        if (error == 0)
            r->files[i] = file;
        if (use_kept(r, i) != 0)
            return TALLY_ENOMEM;
    }
    return 0;
}

int
resolver_create(const struct record *record,
                const struct resolver_options *options,
                const struct tally_log *log, struct resolver **resolver)
{
    const struct names_options names = {options->debug_dirs,
                                        options->debug_dir_count};
    struct resolver *r = calloc(1, sizeof(*r));
    int error = TALLY_ENOMEM;

    if (r != NULL) {
        r->record = record;
        r->log = log;
        r->file_log = (struct tally_log){.write = warn_of_file, .user = r};
        r->kept = calloc(record->image_count + 1, sizeof(*r->kept));
        r->kept_texts = calloc(record->image_count + 1, sizeof(*r->kept_texts));
        numbering_init(&r->places.numbers, 2);
        r->files = calloc(record->image_count + 1, sizeof(*r->files));
        r->image_texts =
            calloc(record->image_count + 1, sizeof(*r->image_texts));
        r->insns = calloc(record->process_count + 1, sizeof(*r->insns));
        r->sizes = calloc(record->image_count + 1, sizeof(*r->sizes));
        if (r->sizes != NULL && r->files != NULL && r->image_texts != NULL &&
            r->insns != NULL && r->kept != NULL && r->kept_texts != NULL)
            error = texts_init(&r->texts);
        r->names = options->names;
        r->has_own_names = options->names == NULL;
        if (error == 0 && r->has_own_names)
            error = names_create(&names, &r->file_log, &r->names);
    }
    if (error == 0)
        error = open_images(r, options);
    if (error != 0) {
        resolver_destroy(r);
        return tally_fail(log, error, "no memory for names");
    }
    *resolver = r;
    return 0;
}

bool
resolver_has_names(const struct resolver *r, uint32_t image)
{
    return r->files[image] != NO_FILE || r->kept[image] != NULL;
}

void
resolver_destroy(struct resolver *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; r->insns != NULL && i < r->record->process_count; i++)
        free(r->insns[i]);
    texts_finish(&r->texts);
    while (r->chunks != NULL) {
        struct frame_chunk *next = r->chunks->next;
        free(r->chunks);
        r->chunks = next;
    }
    for (size_t i = 0; r->sizes != NULL && i < r->record->image_count; i++) {
        free(r->sizes[i].offsets);
        free(r->sizes[i].sizes);
    }
    free(r->sizes);
    for (size_t i = 0; r->kept_texts != NULL && i < r->record->image_count; i++)
        free(r->kept_texts[i]);
    free(r->kept_texts);
    free(r->kept);
    numbering_finish(&r->places.numbers);
    for (size_t i = 0; i < r->places.chunk_count; i++)
        free(r->places.chunks[i]);
    free(r->places.chunks);
    if (r->has_own_names)
        names_destroy(r->names);
    free(r->files);
    free(r->image_texts);
    free(r->insns);
    free(r);
}

/* Returns room for `count` frames that stays where it is, or NULL. */
static struct resolved_frame *
new_frames(struct resolver *r, size_t count)
{
    struct frame_chunk *chunk = r->chunks;

    if (chunk == NULL || chunk->used + count > FRAMES_A_CHUNK) {
        chunk = malloc(sizeof(*chunk));
        if (chunk == NULL)
            return NULL;
        chunk->next = r->chunks;
        chunk->used = 0;
        r->chunks = chunk;
    }
    chunk->used += count;
    return chunk->frames + chunk->used - count;
}

/* Returns the line that the code at an address is from, or NULL. */
static const struct record_made_line *
find_made_line(const struct record_made_row *m, uint64_t address)
{
    size_t low = 0, high = m->line_count;

    while (low < high) { /* the first line behind the address */
        const size_t middle = low + (high - low) / 2;
        if (m->lines[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? &m->lines[low - 1] : NULL;
}

/* Names code that the process made while it ran. */
static struct resolved
resolve_made(struct resolver *r, const struct record_process_row *p,
             const struct record_insn *insn)
{
    struct resolved_frame *frame = insn->made != 0 ? new_frames(r, 1) : NULL;
    struct resolved out = not_known;

    if (frame == NULL)
        return out;
    const struct record_made_row *m = &p->made[insn->made - 1];
    *frame = (struct resolved_frame){.function = texts_add(&r->texts, m->name)};
    const struct record_made_line *line = find_made_line(m, insn->address);
    if (line != NULL) {
        frame->file = texts_add(&r->texts, line->file);
        frame->line = line->line;
    }
    out.frames = frame;
    return out;
}

/* Returns the resolver's number of a text of the names that the record has. */
static uint32_t
kept_text(struct resolver *r, uint32_t image, uint32_t text)
{
    uint32_t *const known = &r->kept_texts[image][text];

    if (*known == 0)
        *known = texts_add(&r->texts, r->kept[image]->texts[text]) + 1;
    return *known - 1;
}

/* Looks an offset up in the names that the record has of an image. Writes to
 * *until where other names may begin. */
static struct resolved
look_up_kept(struct resolver *r, uint32_t image, uint64_t offset,
             uint64_t *until)
{
    const struct kept_names *const kept = r->kept[image];
    const struct kept_run *const run = kept_names_find(kept, offset);
    struct resolved out = not_known;

    out.image = r->image_texts[image];
    *until = run != NULL ? run->until : offset + 1;
    if (run == NULL)
        return out;
    if (run->file_address != UINT64_MAX)
        out.file_address = run->file_address + (offset - run->from);
    struct resolved_frame *frames =
        run->frame_count > 0 ? new_frames(r, run->frame_count) : NULL;
    if (frames == NULL)
        return out;
    for (size_t i = 0; i < run->frame_count; i++) {
        const struct kept_frame *const f = &kept->frames[run->first_frame + i];
        frames[i] = (struct resolved_frame){
            .function = kept_text(r, image, f->function),
            .mangled = kept_text(r, image, f->mangled),
            .file = kept_text(r, image, f->file),
            .line = f->line,
            .function_line = f->function_line,
        };
    }
    out.frames = frames;
    out.frame_count = run->frame_count;
    out.function_offset = run->function_offset;
    return out;
}

/* Looks an offset up in an image's file. */
static struct resolved
look_up_file(struct resolver *r, uint32_t image, uint64_t offset)
{
    struct name_frame found[FRAMES_MOST];
    struct resolved out = not_known;
    size_t count = 0;

    out.image = r->image_texts[image];
    if (r->files[image] != NO_FILE) {
        out.file_address = names_address(r->names, r->files[image], offset);
        count =
            names_find(r->names, r->files[image], offset, found, FRAMES_MOST);
    }
    struct resolved_frame *frames = count > 0 ? new_frames(r, count) : NULL;
    if (frames == NULL)
        return out;
    for (size_t i = 0; i < count; i++)
        frames[i] = (struct resolved_frame){
            .function = texts_add(&r->texts, found[i].function),
            .mangled = texts_add(&r->texts, found[i].mangled),
            .file = texts_add(&r->texts, found[i].file),
            .line = found[i].line,
            .function_line = found[i].function_line,
        };
    out.frames = frames;
    out.frame_count = count;
    out.function_offset = found[count - 1].function_offset;
    return out;
}

/* Returns whether the record knows more of a place than a file that has no line
 * for the place: the line, copied functions, the function, or a function that
 * begins nearer to the place. A symbol without a size reaches over functions
 * whose symbols were stripped. */
static bool
knows_more(const struct kept_names *kept, const struct kept_run *run,
           const struct resolved *file)
{
    const struct kept_frame *const frames = &kept->frames[run->first_frame];
    const bool named = file->frames[file->frame_count - 1].function != 0;

    if (run->frame_count < file->frame_count)
        return false;
    if (frames[run->frame_count - 1].function == 0)
        return !named && frames[0].line != 0;
    return !named || run->frame_count > file->frame_count ||
           frames[0].line != 0 ||
           (run->function_offset != UINT64_MAX &&
            run->function_offset > file->function_offset);
}

/* Looks an offset of an image up, in the file if that is the one that ran, else
 * in the names that the record has. A file that was stripped after the run has
 * the same build id and fewer names than the record. Writes to *until where
 * other names may begin. */
static struct resolved
look_up(struct resolver *r, uint32_t image, uint64_t offset, uint64_t *until)
{
    const struct kept_names *const kept = r->kept[image];
    const bool has_file = r->files[image] != NO_FILE;

    /* Without a build id nothing tells whether the file is another. */
    if (kept != NULL &&
        (!has_file || r->record->images[image].build_id_size == 0))
        return look_up_kept(r, image, offset, until);
    *until =
        has_file ? names_until(r->names, r->files[image], offset) : UINT64_MAX;
    const struct resolved file = look_up_file(r, image, offset);
    const struct kept_run *const run = kept != NULL && file.frames[0].line == 0
                                           ? kept_names_find(kept, offset)
                                           : NULL;
    if (run == NULL)
        return file;
    if (run->until < *until)
        *until = run->until;
    if (!knows_more(kept, run, &file))
        return file;
    uint64_t unused;
    return look_up_kept(r, image, offset, &unused);
}

/* Names an instruction: as the one before, where they have the same names. */
static struct resolved
resolve(struct resolver *r, const struct record_process_row *p,
        const struct record_insn *insn)
{
    struct run *const run = &r->run;

    if (insn->image == RECORD_NO_IMAGE)
        return resolve_made(r, p, insn);
    if (insn->image != run->image || insn->offset < run->from ||
        insn->offset >= run->until) {
        run->image = insn->image;
        run->from = insn->offset;
        run->place = look_up(r, insn->image, insn->offset, &run->until);
    }
    struct resolved place = run->place;
    if (place.file_address != UINT64_MAX)
        place.file_address += insn->offset - run->from;
    return place;
}

/* Returns the place of a number, with room for it if the number is new; NULL:
 * no memory. */
static struct resolved *
place_at(struct places *p, uint32_t number)
{
    while (number / PLACES_A_CHUNK >= p->chunk_count) {
        struct resolved **chunks =
            reallocarray(p->chunks, p->chunk_count + 1, sizeof(*p->chunks));
        if (chunks == NULL)
            return NULL;
        p->chunks = chunks;
        chunks[p->chunk_count] = calloc(PLACES_A_CHUNK, sizeof(**chunks));
        if (chunks[p->chunk_count] == NULL)
            return NULL;
        p->chunk_count++;
    }
    return &p->chunks[number / PLACES_A_CHUNK][number % PLACES_A_CHUNK];
}

/* Looks an instruction up, or finds what another process's was found to be.
 * Returns the number of its place, or NUMBERING_NONE: no memory. */
static uint32_t
find_place(struct resolver *r, size_t process, const struct record_insn *insn)
{
    const struct record_process_row *p = &r->record->processes[process];
    /* Code of no file is the process's own, and may change at an address. */
    const bool made = insn->image == RECORD_NO_IMAGE;
    const uint64_t key[] = {
        (made ? (uint64_t)process << 32 : 0) | insn->image,
        made ? (uint64_t)(insn - p->insns) : insn->offset,
    };
    const uint32_t number = numbering_add(&r->places.numbers, key);

    if (number == NUMBERING_NONE)
        return number;
    struct resolved *place = place_at(&r->places, number);
    if (place == NULL)
        return NUMBERING_NONE;
    if (place->frame_count == 0)
        *place = resolve(r, p, insn);
    return number;
}

const struct resolved *
resolver_find(struct resolver *r, size_t process, size_t insn)
{
    const struct record_process_row *p = &r->record->processes[process];

    if (r->insns[process] == NULL)
        r->insns[process] =
            calloc(p->insn_count + 1, sizeof(*r->insns[process]));
    if (r->insns[process] == NULL)
        return &not_known;
    uint32_t *known = &r->insns[process][insn];
    if (*known == 0) {
        const uint32_t number = find_place(r, process, &p->insns[insn]);
        if (number == NUMBERING_NONE)
            return &not_known;
        *known = number + 1;
    }
    return &r->places.chunks[(*known - 1) / PLACES_A_CHUNK]
                            [(*known - 1) % PLACES_A_CHUNK];
}

/* Notes a piece of code; where several begin at one offset, the longest. */
static void
note_piece(void *user, const char *function, const char *mangled,
           uint64_t offset, uint64_t size)
{
    struct sizes *s = user;

    (void)function, (void)mangled;
    if (s->count > 0 && s->offsets[s->count - 1] == offset) {
        if (size > s->sizes[s->count - 1])
            s->sizes[s->count - 1] = size;
        return;
    }
    if (s->count == s->room) {
        const size_t room = 2 * s->room + 256;
        uint64_t *offsets = reallocarray(s->offsets, room, sizeof(*offsets));
        if (offsets == NULL)
            return;
        s->offsets = offsets;
        uint64_t *sizes = reallocarray(s->sizes, room, sizeof(*sizes));
        if (sizes == NULL)
            return;
        s->sizes = sizes;
        s->room = room;
    }
    s->offsets[s->count] = offset;
    s->sizes[s->count++] = size;
}

/* Returns the size of the longest piece of code that begins at an offset of an
 * image's file; 0: none is known. */
static uint64_t
size_of_piece(struct resolver *r, uint32_t image, uint64_t offset)
{
    struct sizes *s = &r->sizes[image];
    size_t low = 0, high;

    if (!s->known)
        names_each_function(r->names, r->files[image], note_piece, s);
    s->known = true;
    for (high = s->count; low < high;) {
        const size_t middle = low + (high - low) / 2;
        if (s->offsets[middle] < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && s->offsets[low] == offset ? s->sizes[low] : 0;
}

#define FUNCTION_MOST (1u << 20) /* bytes of code that are looked at */

void
resolver_code_lines(struct resolver *r, uint32_t image,
                    uint64_t function_offset, uint32_t function,
                    void (*take)(void *user, uint32_t file, uint32_t line),
                    void *user)
{
    struct name_frame found[FRAMES_MOST];

    if (image >= r->record->image_count || r->files[image] == NO_FILE)
        return;
    const uint64_t size = size_of_piece(r, image, function_offset);
    for (uint64_t at = 0; at < size && at < FUNCTION_MOST; at++) {
        const size_t count =
            names_find(r->names, r->files[image], function_offset + at, found,
                       FRAMES_MOST);
        for (size_t i = 0; i < count; i++) {
            if (found[i].function == NULL || found[i].line == 0 ||
                texts_add(&r->texts, found[i].function) != function)
                continue;
            take(user, texts_add(&r->texts, found[i].file), found[i].line);
            break;
        }
    }
}

void
resolver_source_lines(struct resolver *r, uint32_t image, uint32_t source,
                      void (*take)(void *user, unsigned line), void *user)
{
    if (image < r->record->image_count && r->files[image] != NO_FILE)
        names_each_line(r->names, r->files[image], texts_get(&r->texts, source),
                        take, user);
}

/* Returns an instruction of an image, or NULL: the process executed none. */
static const struct record_insn *
insn_of(const struct record_process_row *p, uint32_t image)
{
    for (size_t i = 0; i < p->insn_count; i++) {
        if (p->insns[i].image == image)
            return &p->insns[i];
    }
    return NULL;
}

char *
resolver_field(struct resolver *r, size_t process, const char *image,
               uint64_t address)
{
    const struct record_process_row *const p = &r->record->processes[process];

    for (uint32_t i = 0; i < r->record->image_count; i++) {
        const struct record_insn *const insn =
            r->files[i] != NO_FILE &&
                    strcmp(r->record->images[i].path, image) == 0
                ? insn_of(p, i)
                : NULL;
        if (insn == NULL)
            continue;
        const uint64_t own = names_address(r->names, r->files[i], insn->offset);
        return own != UINT64_MAX ? names_field(r->names, r->files[i],
                                               address - insn->address + own)
                                 : NULL;
    }
    return NULL;
}

bool
resolver_names(struct resolver *r, uint32_t image, struct names **names,
               unsigned *file)
{
    if (image >= r->record->image_count || r->files[image] == NO_FILE)
        return false;
    *names = r->names;
    *file = r->files[image];
    return true;
}

struct names *
resolver_all_names(const struct resolver *r)
{
    return r->names;
}

uint32_t
resolver_text_find(const struct resolver *r, const char *text)
{
    return texts_find(&r->texts, text);
}

const char *
resolver_text(const struct resolver *r, uint32_t number)
{
    return texts_get(&r->texts, number);
}

size_t
resolver_text_count(const struct resolver *r)
{
    return r->texts.count;
}
