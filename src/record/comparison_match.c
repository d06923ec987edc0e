/* SPDX-License-Identifier: MIT */
#include "record/comparison_match.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/path.h"
#include "record/keys.h"
#include "record/name_stem.h"

/* What a row's name is taken to be, the narrowest first. From the second on a
 * name must be there once among the rows that are left on each side. */
enum level {
    LEVEL_FILE,  /* function of an image and source file; object as it is */
    LEVEL_IMAGE, /* function of an image */
    LEVEL_NAME,  /* function of any image; object without line numbers */
    LEVEL_STEM,  /* function without its arguments, and what a compiler adds */
    LEVEL_WORD,  /* the last part of that */
    LEVELS,
};

struct matching {
    const struct breakdown *sides[2];
    const struct pairing *pairing;
    uint32_t *processes[2]; /* [process] a number that both sides share */
    struct matched_row *found;
    bool *taken; /* rows of `after` */
    struct bytes key;
};

static void
put(struct matching *m, const char *text, size_t length)
{
    bytes_append_u32(&m->key, (uint32_t)length);
    bytes_append(&m->key, text, length);
}

static void
put_name(struct matching *m, const char *name, enum level level)
{
    const size_t length = level >= LEVEL_STEM ? name_stem(name) : strlen(name);
    const char *from = level == LEVEL_WORD ? name_word(name, length) : name;

    put(m, from, length - (size_t)(from - name));
}

/* Returns how much of an object's name is without the file name of an image at
 * its end, as in "table in app"; stores the image, or RECORD_NO_IMAGE. */
static size_t
without_image(const struct breakdown *b, const char *name, uint32_t *image)
{
    const size_t length = strlen(name);

    for (uint32_t i = 0; i < b->record->image_count; i++) {
        const char *base = path_base(b->record->images[i].path);
        const size_t size = strlen(base);
        if (size < length && name[length - size - 1] == ' ' &&
            strcmp(name + length - size, base) == 0) {
            *image = i;
            return length - size;
        }
    }
    *image = RECORD_NO_IMAGE;
    return length;
}

/* Returns the length of a place "(list.c:51)" that the text begins with, or 0.
 */
static size_t
place_length(const char *text)
{
    const size_t length = strcspn(text, ")");
    size_t digits = 0;

    if (*text != '(' || text[length] != ')')
        return 0;
    while (digits < length && isdigit((unsigned char)text[length - digits - 1]))
        digits++;
    return digits > 0 && text[length - digits - 1] == ':' ? length + 1 : 0;
}

/* Puts an object's name: of an image, by the image; from LEVEL_NAME on without
 * the lines of its callers, from LEVEL_STEM on without their files too:
 * "malloc in list (list.c:51)" becomes "malloc in list (list.c:" and then
 * "malloc in list ". */
static void
put_object(struct matching *m, int side, const char *name, enum level level)
{
    const struct breakdown *b = m->sides[side];
    uint32_t image, id = RECORD_NO_IMAGE;
    const size_t length = without_image(b, name, &image);

    if (image != RECORD_NO_IMAGE)
        id = pairing_image(
            m->pairing, side,
            resolver_text_find(b->resolver, b->record->images[image].path));
    bytes_append_u32(&m->key, id);
    for (size_t i = 0; i < length;) {
        const size_t place = level >= LEVEL_NAME ? place_length(name + i) : 0;
        size_t kept = place > 0 ? place - 1 : 1;
        while (place > 0 && name[i + kept - 1] != ':')
            kept--;
        if (place == 0 || level == LEVEL_NAME)
            bytes_append(&m->key, name + i, kept);
        i += place > 0 ? place : 1;
    }
    bytes_append(&m->key, "", 1);
}

static void
put_function(struct matching *m, int side, const struct breakdown_place *p,
             enum level level)
{
    const struct breakdown *b = m->sides[side];

    if (p->function == 0 || level <= LEVEL_IMAGE)
        bytes_append_u32(&m->key, pairing_image(m->pairing, side, p->image));
    if (p->function == 0)
        return;
    put_name(m, resolver_text(b->resolver, p->function), level);
    if (level == LEVEL_FILE)
        bytes_append_u32(&m->key,
                         pairing_file(m->pairing, side, p->function_file));
}

/* Puts a file, or its image where no file is known. */
static void
put_file(struct matching *m, int side, const struct breakdown_place *p)
{
    bytes_append_u32(&m->key, pairing_file(m->pairing, side, p->file));
    if (p->file == 0)
        bytes_append_u32(&m->key, pairing_image(m->pairing, side, p->image));
}

/* Puts a line by its number after. A line that is gone has no counterpart. */
static void
put_line(struct matching *m, int side, const struct breakdown_place *p,
         struct matched_row *found)
{
    struct followed_line line = {.line = p->line};

    put_file(m, side, p);
    if (side == 0)
        line = pairing_line(m->pairing, p->file, p->line);
    bytes_append_u32(&m->key, line.line);
    if (p->line != 0 && line.line == 0)
        bytes_append_u32(&m->key, p->line);
    if (found != NULL) {
        found->edited = line.edited;
        found->moved = line.line != p->line;
    }
}

/* Puts an instruction, which has a counterpart in an image of the same build
 * alone. */
static void
put_instruction(struct matching *m, int side, const struct breakdown_place *p)
{
    const char *place = (const char *)&p->offset;

    bytes_append_u32(&m->key, pairing_image(m->pairing, side, p->image));
    put(m, place, sizeof(p->offset));
    if (!pairing_is_one_build(m->pairing, side, p->image))
        bytes_append_u32(&m->key, (uint32_t)side);
}

static void
put_caller(struct matching *m, int side, const struct breakdown_place *p,
           enum level level)
{
    put_name(m, breakdown_caller(m->sides[side], p), level);
}

/* Makes the key of a row; of a row before, notes in `found` how its line goes
 * on. */
static void
make_key(struct matching *m, int side, const struct breakdown_row *row,
         enum level level, struct matched_row *found)
{
    const struct breakdown *b = m->sides[side];
    const struct breakdown_place *p = &row->place;

    bytes_clear(&m->key);
    for (size_t i = 0; i < b->options.key_count; i++)
        switch (b->options.keys[i]) {
        case BREAKDOWN_FUNCTION:
            put_function(m, side, p, level);
            break;
        case BREAKDOWN_LINE:
            put_line(m, side, p, found);
            break;
        case BREAKDOWN_INSTRUCTION:
            put_instruction(m, side, p);
            break;
        case BREAKDOWN_FILE:
            put_file(m, side, p);
            break;
        case BREAKDOWN_IMAGE:
            bytes_append_u32(&m->key,
                             pairing_image(m->pairing, side, p->image));
            break;
        case BREAKDOWN_CALLER:
            put_caller(m, side, p, level);
            break;
        case BREAKDOWN_OBJECT:
            put_object(m, side, b->objects.rows[p->object].text, level);
            break;
        case BREAKDOWN_THREAD:
            bytes_append_u32(&m->key, m->processes[side][row->process]);
            bytes_append_u32(&m->key, row->thread);
            break;
        default:
            bytes_append_u32(&m->key, m->processes[side][row->process]);
            break;
        }
}

/* The rows of a key that are left, by side: a list and its length. */
struct list {
    uint32_t first, last, count; /* rows + 1 */
};

struct lists {
    struct keys keys;
    struct list *all[2]; /* [key] */
    uint32_t *next[2];   /* [row] 1 + the next one of the key, or 0 */
};

static int
list_rows(struct matching *m, int side, enum level level, struct lists *l)
{
    for (size_t i = 0; i < m->sides[side]->row_count; i++) {
        if (side == 0 ? m->found[i].row != ROW_ALONE : m->taken[i])
            continue;
        make_key(m, side, &m->sides[side]->rows[i], level,
                 side == 0 ? &m->found[i] : NULL);
        const uint32_t number =
            m->key.failed ? KEYS_NONE
                          : keys_add(&l->keys, m->key.data, m->key.size);
        if (number == KEYS_NONE)
            return TALLY_ENOMEM;
        struct list *list = &l->all[side][number];
        if (list->count++ == 0)
            list->first = (uint32_t)i + 1;
        else
            l->next[side][list->last - 1] = (uint32_t)i + 1;
        list->last = (uint32_t)i + 1;
    }
    return 0;
}

/* Matches rows whose keys at this level are equal. Rows of one key that are
 * there several times are matched in order at the first level alone. */
static void
match_lists(struct matching *m, enum level level, const struct lists *l)
{
    for (uint32_t k = 0; k < l->keys.count; k++) {
        const struct list *a = &l->all[0][k], *b = &l->all[1][k];
        if (level != LEVEL_FILE && (a->count != 1 || b->count != 1))
            continue;
        for (uint32_t i = a->first, j = b->first; i != 0 && j != 0;
             i = l->next[0][i - 1], j = l->next[1][j - 1]) {
            m->found[i - 1].row = j - 1;
            m->taken[j - 1] = true;
        }
    }
}

static int
match_level(struct matching *m, enum level level)
{
    const size_t rows = m->sides[0]->row_count + m->sides[1]->row_count;
    struct lists l = {0};
    int error = 0;

    for (int s = 0; s < 2; s++) {
        l.all[s] = calloc(rows + 1, sizeof(*l.all[s]));
        l.next[s] = calloc(rows + 1, sizeof(*l.next[s]));
        if (l.all[s] == NULL || l.next[s] == NULL)
            error = TALLY_ENOMEM;
    }
    for (int s = 0; error == 0 && s < 2; s++)
        error = list_rows(m, s, level, &l);
    if (error == 0)
        match_lists(m, level, &l);
    keys_finish(&l.keys);
    for (int s = 0; s < 2; s++) {
        free(l.all[s]);
        free(l.next[s]);
    }
    return error;
}

/* Gives processes their numbers: by program and how many processes of the
 * program came before. The first program is one on both sides, whatever its
 * name is. */
static int
number_processes(struct matching *m)
{
    struct keys names = {0};
    int error = 0;

    for (int s = 0; error == 0 && s < 2; s++) {
        const struct record *r = m->sides[s]->record;
        m->processes[s] = calloc(r->process_count + 1, sizeof(uint32_t));
        if (m->processes[s] == NULL)
            error = TALLY_ENOMEM;
        for (size_t i = 0; error == 0 && i < r->process_count; i++) {
            const char *program = r->processes[i].program;
            const bool first = strcmp(program, r->processes[0].program) == 0;
            uint32_t before = 0;
            for (size_t k = 0; k < i; k++)
                before += strcmp(r->processes[k].program, program) == 0;
            bytes_clear(&m->key);
            bytes_append_u32(&m->key, before);
            if (!first)
                put(m, path_base(program), strlen(path_base(program)));
            m->processes[s][i] = keys_add(&names, m->key.data, m->key.size);
            if (m->key.failed || m->processes[s][i] == KEYS_NONE)
                error = TALLY_ENOMEM;
        }
    }
    keys_finish(&names);
    return error;
}

int
comparison_match(const struct breakdown *before, const struct breakdown *after,
                 const struct pairing *pairing, struct matched_row *found)
{
    struct matching m = {
        .sides = {before, after},
        .pairing = pairing,
        .found = found,
        .taken = calloc(after->row_count + 1, sizeof(*m.taken)),
    };
    const bool named = breakdown_has(before, BREAKDOWN_FUNCTION) ||
                       breakdown_has(before, BREAKDOWN_CALLER) ||
                       breakdown_has(before, BREAKDOWN_OBJECT);
    int error = m.taken == NULL ? TALLY_ENOMEM : number_processes(&m);

    for (size_t i = 0; i < before->row_count; i++)
        found[i] = (struct matched_row){.row = ROW_ALONE};
    for (int level = 0; error == 0 && level < (named ? LEVELS : 1); level++)
        error = match_level(&m, (enum level)level);
    free(m.taken);
    free(m.processes[0]);
    free(m.processes[1]);
    bytes_finish(&m.key);
    return error;
}
