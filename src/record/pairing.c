/* SPDX-License-Identifier: MIT */
#include "record/pairing.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/numbering.h"
#include "base/path.h"
#include "record/keys.h"
#include "record/name_stem.h"
#include "record/path_pairs.h"

/* A source file of one record. */
struct seen_file {
    uint32_t text;
    bool one_build; /* all images that have it are the same build in both */
    uint32_t last;  /* largest line */
};

/* The line of a function that a line belongs to, by the line's number. */
struct seen_line {
    uint32_t function, function_line;
    uint32_t word; /* number of the last part of the function's name */
};

/* A function of a file, and the line that has its name. Several functions of a
 * file may have one name, as those that C++ makes of lambdas. */
struct declared {
    uint32_t name, file, line;
};

/* What one record has. */
struct side {
    const struct paired_record *of;
    uint32_t *image_texts;  /* [image] */
    uint32_t *image_ids;    /* [image] what pairing_image() returns */
    bool *same_build;       /* [image] */
    struct numbering files; /* of texts */
    struct seen_file *seen; /* [file] */
    size_t seen_room;
    struct paired_file **paired; /* [file] or NULL */
    uint32_t *file_ids;          /* [file] */
    bool *only_name;             /* [file] */
    struct numbering lines;      /* of text and line */
    struct seen_line *line_functions;
    size_t line_room;
    struct numbering functions; /* of function, file and the function's line */
    /* The same, sorted: by name, and by the last part of the name, whose
     * numbers both sides share. */
    struct declared *by_name, *by_word;
};

struct pairing {
    struct side sides[2];
    struct keys words; /* last parts of functions' names */
    struct paired_file *files;
    size_t file_count;
};

/* Makes room for one more of the numbered. False: no memory. */
static bool
grow(void **array, size_t *room, uint32_t number, size_t size)
{
    if (number < *room)
        return true;
    const size_t wanted = 2 * (size_t)number + 64;
    char *more = reallocarray(*array, wanted, size);
    if (more == NULL)
        return false;
    memset(more + *room * size, 0, (wanted - *room) * size);
    *array = more;
    *room = wanted;
    return true;
}

/* Notes the function that a line belongs to: of several the one that begins
 * last, which is within the others. */
static int
note_line(struct side *s, const struct resolved_frame *f)
{
    const uint64_t line[] = {f->file, f->line};
    const uint64_t function[] = {f->function, f->file, f->function_line};

    if (f->function == 0 || f->function_line == 0 || f->function_line > f->line)
        return 0;
    const uint32_t number = numbering_add(&s->lines, line);
    if (number == NUMBERING_NONE ||
        !grow((void **)&s->line_functions, &s->line_room, number,
              sizeof(*s->line_functions)))
        return TALLY_ENOMEM;
    struct seen_line *seen = &s->line_functions[number];
    if (f->function_line > seen->function_line)
        *seen = (struct seen_line){f->function, f->function_line, 0};
    return numbering_add(&s->functions, function) != NUMBERING_NONE
               ? 0
               : TALLY_ENOMEM;
}

/* Notes the file of a frame, and its line. */
static int
note_frame(struct side *s, uint32_t image, const struct resolved_frame *f,
           bool lines)
{
    const uint64_t text = f->file;

    if (f->file == 0)
        return 0;
    const size_t count = s->files.count;
    const uint32_t number = numbering_add(&s->files, &text);
    if (number == NUMBERING_NONE ||
        !grow((void **)&s->seen, &s->seen_room, number, sizeof(*s->seen)))
        return TALLY_ENOMEM;
    struct seen_file *seen = &s->seen[number];
    if (number == count)
        *seen = (struct seen_file){.text = f->file, .one_build = true};
    seen->one_build &= image != RECORD_NO_IMAGE && s->same_build[image];
    seen->last = f->line > seen->last ? f->line : seen->last;
    return lines ? note_line(s, f) : 0;
}

/* Walks all instructions of the record. */
static int
note_all(struct side *s, bool lines)
{
    const struct record *record = s->of->record;

    for (size_t p = 0; p < record->process_count; p++)
        for (size_t i = 0; i < record->processes[p].insn_count; i++) {
            const struct resolved *r = resolver_find(s->of->resolver, p, i);
            for (size_t k = 0; k < r->frame_count; k++)
                if (note_frame(s, record->processes[p].insns[i].image,
                               &r->frames[k], lines) != 0)
                    return TALLY_ENOMEM;
        }
    return 0;
}

/* Orders functions by name, file and line. */
static int
compare_declared(const void *x, const void *y)
{
    const struct declared *a = x, *b = y;

    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->line > b->line) - (a->line < b->line);
}

/* Returns the number of the last part of a function's name. */
static uint32_t
number_word(struct keys *words, const char *name)
{
    const size_t length = name_stem(name);
    const char *word = name_word(name, length);

    return keys_add(words, word, length - (size_t)(word - name));
}

static int
sort_declared(struct side *s, struct keys *words)
{
    const size_t count = s->functions.count;

    s->by_name = calloc(count + 1, sizeof(*s->by_name));
    s->by_word = calloc(count + 1, sizeof(*s->by_word));
    if (s->by_name == NULL || s->by_word == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t *key = numbering_key(&s->functions, i);
        s->by_name[i] = s->by_word[i] = (struct declared){
            (uint32_t)key[0], (uint32_t)key[1], (uint32_t)key[2]};
        s->by_word[i].name = number_word(
            words, resolver_text(s->of->resolver, (uint32_t)key[0]));
        if (s->by_word[i].name == KEYS_NONE)
            return TALLY_ENOMEM;
    }
    for (size_t i = 0; i < s->lines.count; i++) {
        struct seen_line *seen = &s->line_functions[i];
        seen->word =
            number_word(words, resolver_text(s->of->resolver, seen->function));
        if (seen->word == KEYS_NONE)
            return TALLY_ENOMEM;
    }
    if (count > 1) {
        qsort(s->by_name, count, sizeof(*s->by_name), compare_declared);
        qsort(s->by_word, count, sizeof(*s->by_word), compare_declared);
    }
    return 0;
}

/* Returns the index of the first of sorted functions that is not before this
 * one. */
static size_t
find_declared(const struct declared *all, size_t count, struct declared wanted)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_declared(&all[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns how long the name of a library without its version is: up to ".so";
 * 0: the image is no library. */
static size_t
library_name(const char *path)
{
    const char *name = path_base(path);
    const char *end = strstr(name, ".so");

    return end != NULL && (end[3] == '\0' || end[3] == '.')
               ? (size_t)(end - name)
               : 0;
}

/* Returns the image of the first program, or PATH_ALONE: of its path, of its
 * file name, or the only one that is no library, where the path was a link. */
static uint32_t
first_program(const struct record *r)
{
    const char *path = r->process_count > 0 ? r->processes[0].program : "";
    uint32_t named = PATH_ALONE, other = PATH_ALONE;
    size_t others = 0;

    for (uint32_t i = 0; i < r->image_count; i++) {
        const char *image = r->images[i].path;
        if (strcmp(image, path) == 0)
            return i;
        if (named == PATH_ALONE &&
            strcmp(path_base(image), path_base(path)) == 0)
            named = i;
        if (library_name(image) == 0) {
            other = i;
            others++;
        }
    }
    return named != PATH_ALONE || others != 1 ? named : other;
}

/* Pairs images that are left alone: the programs, then libraries of other
 * versions. */
static void
pair_other_images(const struct record *before, const struct record *after,
                  uint32_t *to, bool *taken)
{
    const uint32_t from = first_program(before), into = first_program(after);

    if (from != PATH_ALONE && into != PATH_ALONE && to[from] == PATH_ALONE &&
        !taken[into]) {
        to[from] = into;
        taken[into] = true;
    }
    for (size_t i = 0; i < before->image_count; i++) {
        const size_t length = library_name(before->images[i].path);
        for (uint32_t k = 0;
             length > 0 && to[i] == PATH_ALONE && k < after->image_count; k++)
            if (!taken[k] && library_name(after->images[k].path) == length &&
                memcmp(path_base(before->images[i].path),
                       path_base(after->images[k].path), length) == 0) {
                to[i] = k;
                taken[k] = true;
            }
    }
}

static bool
is_one_build(const struct record_image *a, const struct record_image *b)
{
    return a->build_id_size != 0 && a->build_id_size == b->build_id_size &&
           memcmp(a->build_id, b->build_id, a->build_id_size) == 0;
}

/* Gives the images of both records their numbers: those of `after` their own
 * index, those that are only in `before` the numbers behind. */
static int
number_images(struct side *before, struct side *after, const uint32_t *to)
{
    const struct record *a = before->of->record, *b = after->of->record;

    for (uint32_t i = 0; i < b->image_count; i++) {
        after->image_ids[i] = i;
        after->image_texts[i] =
            resolver_text_find(after->of->resolver, b->images[i].path);
    }
    for (uint32_t i = 0; i < a->image_count; i++) {
        before->image_ids[i] =
            to[i] != PATH_ALONE ? to[i] : (uint32_t)b->image_count + i;
        before->image_texts[i] =
            resolver_text_find(before->of->resolver, a->images[i].path);
        if (to[i] == PATH_ALONE)
            continue;
        before->same_build[i] = after->same_build[to[i]] =
            is_one_build(&a->images[i], &b->images[to[i]]);
    }
    return 0;
}

static int
side_init(struct side *s, const struct paired_record *of)
{
    const size_t images = of->record->image_count + 1;

    s->of = of;
    numbering_init(&s->files, 1);
    numbering_init(&s->lines, 2);
    numbering_init(&s->functions, 3);
    s->image_texts = calloc(images, sizeof(*s->image_texts));
    s->image_ids = calloc(images, sizeof(*s->image_ids));
    s->same_build = calloc(images, sizeof(*s->same_build));
    return s->image_texts != NULL && s->image_ids != NULL &&
                   s->same_build != NULL
               ? 0
               : TALLY_ENOMEM;
}

static void
side_finish(struct side *s)
{
    free(s->image_texts);
    free(s->image_ids);
    free(s->same_build);
    free(s->seen);
    free(s->paired);
    free(s->file_ids);
    free(s->only_name);
    free(s->line_functions);
    free(s->by_name);
    free(s->by_word);
    numbering_finish(&s->files);
    numbering_finish(&s->lines);
    numbering_finish(&s->functions);
}

/* Returns the paths of the record's images. NULL: no memory. */
static const char **
image_paths(const struct record *r)
{
    const char **paths = calloc(r->image_count + 1, sizeof(*paths));

    for (size_t i = 0; paths != NULL && i < r->image_count; i++)
        paths[i] = r->images[i].path;
    return paths;
}

static int
pair_images(struct pairing *p)
{
    const struct record *a = p->sides[0].of->record;
    const struct record *b = p->sides[1].of->record;
    const char **before = image_paths(a), **after = image_paths(b);
    uint32_t *to = calloc(a->image_count + 1, sizeof(*to));
    bool *taken = calloc(b->image_count + 1, sizeof(*taken));
    int error = TALLY_ENOMEM;

    if (before != NULL && after != NULL && to != NULL && taken != NULL)
        error =
            path_pairs_find(before, a->image_count, after, b->image_count, to);
    if (error == 0) {
        for (size_t i = 0; i < a->image_count; i++)
            if (to[i] != PATH_ALONE)
                taken[to[i]] = true;
        pair_other_images(a, b, to, taken);
        error = number_images(&p->sides[0], &p->sides[1], to);
    }
    free(before);
    free(after);
    free(to);
    free(taken);
    return error;
}

/* Returns the paths of the source files that the record names. NULL: no
 * memory. */
static const char **
file_paths(const struct side *s)
{
    const char **paths = calloc(s->files.count + 1, sizeof(*paths));

    for (size_t i = 0; paths != NULL && i < s->files.count; i++)
        paths[i] = resolver_text(s->of->resolver, s->seen[i].text);
    return paths;
}

/* Returns whether two paths lead to one file. */
static bool
is_one_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* Follows the lines of a file by its texts. They are not those of the builds
 * if a line with code is behind the end. */
static int
follow_text(const struct pairing *p, struct paired_file *f,
            const struct seen_file *const seen[2])
{
    struct source_text texts[2];
    int error = 0;

    for (int i = 0; i < 2; i++) {
        const struct paired_record *of = p->sides[i].of;
        source_text_read(resolver_text(of->resolver, f->files[i]), of->moves,
                         of->move_count, &texts[i]);
        f->missing[i] = texts[i].count == 0 || texts[i].count < seen[i]->last;
    }
    f->way = LINES_BY_FUNCTION;
    if (!f->missing[0] && !f->missing[1] &&
        !is_one_file(texts[0].path, texts[1].path)) {
        f->way = LINES_BY_TEXT;
        f->line_count = texts[0].count;
        f->lines = calloc(f->line_count, sizeof(*f->lines));
        error = f->lines == NULL
                    ? TALLY_ENOMEM
                    : line_diff(texts[0].lines, texts[0].count, texts[1].lines,
                                texts[1].count, f->lines);
    }
    source_text_finish(&texts[0]);
    source_text_finish(&texts[1]);
    return error;
}

/* Notes that two files are one, and how its lines are followed. */
static int
pair_file(struct pairing *p, uint32_t before, uint32_t after, bool lines)
{
    const struct seen_file *const seen[] = {&p->sides[0].seen[before],
                                            &p->sides[1].seen[after]};
    struct paired_file *f = &p->files[p->file_count++];

    *f = (struct paired_file){.files = {seen[0]->text, seen[1]->text}};
    p->sides[0].paired[before] = p->sides[1].paired[after] = f;
    return lines && !(seen[0]->one_build && seen[1]->one_build)
               ? follow_text(p, f, seen)
               : 0;
}

/* Gives the files their numbers as number_images() does, and pairs them. */
static int
pair_files(struct pairing *p, bool lines)
{
    struct side *a = &p->sides[0], *b = &p->sides[1];
    const char **before = file_paths(a), **after = file_paths(b);
    uint32_t *to = calloc(a->files.count + 1, sizeof(*to));
    int error = TALLY_ENOMEM;

    for (int i = 0; i < 2; i++) {
        const size_t count = p->sides[i].files.count + 1;
        p->sides[i].paired = calloc(count, sizeof(*p->sides[i].paired));
        p->sides[i].file_ids = calloc(count, sizeof(*p->sides[i].file_ids));
    }
    p->files = calloc(a->files.count + 1, sizeof(*p->files));
    if (before != NULL && after != NULL && to != NULL && a->paired != NULL &&
        a->file_ids != NULL && b->paired != NULL && b->file_ids != NULL &&
        p->files != NULL)
        error =
            path_pairs_find(before, a->files.count, after, b->files.count, to);
    for (uint32_t i = 0; error == 0 && i < b->files.count; i++)
        b->file_ids[i] = i;
    for (uint32_t i = 0; error == 0 && i < a->files.count; i++) {
        a->file_ids[i] =
            to[i] != PATH_ALONE ? to[i] : (uint32_t)b->files.count + i;
        if (to[i] != PATH_ALONE)
            error = pair_file(p, i, to[i], lines);
    }
    free(before);
    free(after);
    free(to);
    return error;
}

/* Notes the files whose names no other file of the record has. */
static int
note_names(struct side *s)
{
    struct keys names = {0};
    int error = TALLY_ENOMEM;
    uint32_t *numbers = calloc(s->files.count + 1, sizeof(*numbers));
    uint32_t *counts = calloc(s->files.count + 1, sizeof(*counts));

    s->only_name = calloc(s->files.count + 1, sizeof(*s->only_name));
    if (numbers != NULL && counts != NULL && s->only_name != NULL)
        error = 0;
    for (size_t i = 0; error == 0 && i < s->files.count; i++) {
        const char *name =
            path_base(resolver_text(s->of->resolver, s->seen[i].text));
        numbers[i] = keys_add(&names, name, strlen(name));
        if (numbers[i] == KEYS_NONE)
            error = TALLY_ENOMEM;
        else
            counts[numbers[i]]++;
    }
    for (size_t i = 0; error == 0 && i < s->files.count; i++)
        s->only_name[i] = counts[numbers[i]] == 1;
    keys_finish(&names);
    free(numbers);
    free(counts);
    return error;
}

int
pairing_create(const struct paired_record *before,
               const struct paired_record *after, bool lines,
               const struct tally_log *log, struct pairing **result)
{
    struct pairing *p = calloc(1, sizeof(*p));
    int error = TALLY_ENOMEM;

    if (p != NULL) {
        error = side_init(&p->sides[0], before);
        if (side_init(&p->sides[1], after) != 0)
            error = TALLY_ENOMEM;
        if (error == 0)
            error = pair_images(p);
        for (int i = 0; error == 0 && i < 2; i++)
            error = note_all(&p->sides[i], lines);
        for (int i = 0; error == 0 && i < 2; i++)
            error = sort_declared(&p->sides[i], &p->words);
        for (int i = 0; error == 0 && i < 2; i++)
            error = note_names(&p->sides[i]);
        if (error == 0)
            error = pair_files(p, lines);
    }
    if (error != 0) {
        pairing_destroy(p);
        return tally_fail(log, error, "%s: no memory to compare",
                          before->record->path);
    }
    *result = p;
    return 0;
}

void
pairing_destroy(struct pairing *p)
{
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->file_count; i++)
        free(p->files[i].lines);
    free(p->files);
    keys_finish(&p->words);
    side_finish(&p->sides[0]);
    side_finish(&p->sides[1]);
    free(p);
}

uint32_t
pairing_image(const struct pairing *p, int side, uint32_t text)
{
    const struct side *s = &p->sides[side];

    for (size_t i = 0; text != 0 && i < s->of->record->image_count; i++)
        if (s->image_texts[i] == text)
            return s->image_ids[i];
    return RECORD_NO_IMAGE;
}

bool
pairing_is_one_build(const struct pairing *p, int side, uint32_t text)
{
    const struct side *s = &p->sides[side];

    for (size_t i = 0; text != 0 && i < s->of->record->image_count; i++)
        if (s->image_texts[i] == text)
            return s->same_build[i];
    return false;
}

/* Returns the place of a file's name in the side's arrays, or NUMBERING_NONE.
 */
static uint32_t
find_file(const struct side *s, uint32_t text)
{
    const uint64_t key = text;

    return text != 0 ? numbering_find(&s->files, &key) : NUMBERING_NONE;
}

uint32_t
pairing_file(const struct pairing *p, int side, uint32_t text)
{
    const uint32_t number = find_file(&p->sides[side], text);

    return number != NUMBERING_NONE ? p->sides[side].file_ids[number]
                                    : NUMBERING_NONE;
}

bool
pairing_is_only_name(const struct pairing *p, int side, uint32_t text)
{
    const uint32_t number = find_file(&p->sides[side], text);

    return number != NUMBERING_NONE && p->sides[side].only_name[number];
}

const struct paired_file *
pairing_lines(const struct pairing *p, int side, uint32_t text)
{
    const uint32_t number = find_file(&p->sides[side], text);

    return number != NUMBERING_NONE ? p->sides[side].paired[number] : NULL;
}

/* Returns the function of `others` that has the name, the file and the order
 * that `one` has: of several of one name the first is the first, and so on.
 * NULL: there is none. `wanted`: its name and file, and line 0. */
static const struct declared *
find_same(const struct declared *all, size_t count, struct declared one,
          const struct declared *others, size_t other_count,
          struct declared wanted)
{
    const struct declared first = {one.name, one.file, 0};
    const size_t order =
        find_declared(all, count, one) - find_declared(all, count, first);
    const size_t at = find_declared(others, other_count, wanted) + order;

    return at < other_count && others[at].name == wanted.name &&
                   others[at].file == wanted.file
               ? &others[at]
               : NULL;
}

/* Follows a line by its number from the name of its function on. A line of a
 * function that `after` lacks is gone. */
static struct followed_line
follow_function(const struct pairing *p, const struct paired_file *f,
                uint32_t line)
{
    const struct side *a = &p->sides[0], *b = &p->sides[1];
    const uint64_t key[] = {f->files[0], line};
    const uint32_t number = numbering_find(&a->lines, key);
    struct followed_line found = {.line = line};

    if (number == NUMBERING_NONE)
        return found;
    const struct seen_line *seen = &a->line_functions[number];
    const char *name = resolver_text(a->of->resolver, seen->function);
    /* A copy of a function may have the last part of its name alone. */
    const struct declared *there = find_same(
        a->by_name, a->functions.count,
        (struct declared){seen->function, f->files[0], seen->function_line},
        b->by_name, b->functions.count,
        (struct declared){resolver_text_find(b->of->resolver, name),
                          f->files[1], 0});
    if (there == NULL) {
        there = find_same(
            a->by_word, a->functions.count,
            (struct declared){seen->word, f->files[0], seen->function_line},
            b->by_word, b->functions.count,
            (struct declared){seen->word, f->files[1], 0});
    }
    found.line = there != NULL ? there->line + line - seen->function_line : 0;
    return found;
}

struct followed_line
pairing_line(const struct pairing *p, uint32_t file, uint32_t line)
{
    const struct paired_file *f = pairing_lines(p, 0, file);
    const struct followed_line same = {.line = line};

    if (f == NULL || line == 0 || f->way == LINES_OF_ONE_BUILD)
        return same;
    if (f->way == LINES_BY_FUNCTION)
        return follow_function(p, f, line);
    return line <= f->line_count ? f->lines[line - 1]
                                 : (struct followed_line){0};
}
