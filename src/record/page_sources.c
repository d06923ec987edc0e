/* SPDX-License-Identifier: MIT */
/* The lines that have code, and the sources around them, in a page. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/page_writer.h"

#define BESIDE 2u /* lines that stay beside those with code */
#define FOLD 6u   /* lines without code that are left out */
#define LINE_MOST (1u << 24)
#define TAB 8u

/* A line that has code of a function, whether it ran or not. */
struct code_line {
    uint32_t function, file, line;
};

struct sources {
    struct page_writer *w;
    struct code_line *lines; /* owned */
    size_t count, room;
    uint32_t function; /* whose lines are taken at the moment */
    bool failed;       /* there was no memory */
    struct bytes text; /* of all sources, a line each */
};

static void
add_line(struct sources *s, uint32_t function, uint32_t file, uint32_t line)
{
    if (file == 0 || line == 0 || line >= LINE_MOST)
        return;
    if (s->count == s->room) {
        const size_t room = 2 * s->room + 1024;
        struct code_line *lines = reallocarray(s->lines, room, sizeof(*lines));
        if (lines == NULL) {
            s->failed = true;
            return;
        }
        s->lines = lines;
        s->room = room;
    }
    s->lines[s->count++] = (struct code_line){function, file, line};
}

static void
take_line(void *user, uint32_t file, uint32_t line)
{
    struct sources *s = user;

    add_line(s, s->function, file, line);
}

/* Adds the lines of all instructions that ran, as parts of each function that
 * they are in. */
static void
add_chains(struct sources *s)
{
    const struct page_places *places = &s->w->places;

    for (uint32_t i = 0; i < places->chains.count; i++) {
        size_t count;
        const struct page_frame *frames = page_places_chain(places, i, &count);
        for (size_t k = 0; k < count; k++)
            add_line(s, frames[k].function, frames[k].file, frames[k].line);
    }
}

/* Marks the functions that have an instruction with a line: the others have no
 * lines that are worth looking for. */
static void
mark_with_lines(const struct page_places *places, bool *marks)
{
    for (uint32_t i = 0; i < places->chains.count; i++) {
        size_t count;
        const struct page_frame *frames = page_places_chain(places, i, &count);
        marks[frames[count - 1].function] |= frames[count - 1].line != 0;
    }
}

/* Adds the lines of all functions, run or not. */
static int
add_functions(struct sources *s)
{
    struct page_writer *w = s->w;
    struct numbering functions;
    bool *with_lines = calloc(w->places.functions.count + 1, sizeof(bool));

    if (with_lines == NULL)
        return TALLY_ENOMEM;
    mark_with_lines(&w->places, with_lines);
    numbering_init(&functions, 2);
    for (uint32_t i = 0; i < w->places.insns.count && !s->failed; i++) {
        const struct page_insn *at = &w->places.all[i];
        const struct record_insn *insn =
            &w->record->processes[at->process].insns[at->insn];
        const struct resolved *r =
            resolver_find(w->resolver, at->process, at->insn);
        const uint64_t key[] = {insn->image, r->function_offset};
        const size_t before = functions.count;
        const uint32_t name = r->frames[r->frame_count - 1].function;
        size_t count;
        s->function =
            page_places_chain(&w->places, at->chain, &count)[count - 1]
                .function;
        if (insn->image == RECORD_NO_IMAGE || name == 0 ||
            r->function_offset == UINT64_MAX || !with_lines[s->function])
            continue;
        const uint32_t number = numbering_add(&functions, key);
        s->failed |= number == NUMBERING_NONE;
        if (number < before || number == NUMBERING_NONE)
            continue;
        resolver_code_lines(w->resolver, insn->image, r->function_offset, name,
                            take_line, s);
    }
    numbering_finish(&functions);
    free(with_lines);
    return s->failed ? TALLY_ENOMEM : 0;
}

/* Orders lines by file and line, then function. */
static int
compare_lines(const void *x, const void *y)
{
    const struct code_line *a = x, *b = y;

    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    return (a->function > b->function) - (a->function < b->function);
}

/* Orders lines by function, then file and line. */
static int
compare_functions(const void *x, const void *y)
{
    const struct code_line *a = x, *b = y;

    if (a->function != b->function)
        return a->function < b->function ? -1 : 1;
    return compare_lines(x, y);
}

/* Keeps one of each line of a function. */
static void
join(struct sources *s)
{
    size_t kept = 0;

    if (s->count > 1)
        qsort(s->lines, s->count, sizeof(*s->lines), compare_functions);
    for (size_t i = 0; i < s->count; i++)
        if (kept == 0 ||
            compare_functions(&s->lines[kept - 1], &s->lines[i]) != 0)
            s->lines[kept++] = s->lines[i];
    s->count = kept;
}

/* Writes the lines by function and file. */
static int
write_lines(struct sources *s)
{
    struct page_writer *w = s->w;

    for (size_t i = 0, end; i < s->count; i = end) {
        const struct code_line *first = &s->lines[i];
        uint32_t last = 0;
        end = i;
        while (end < s->count && s->lines[end].function == first->function &&
               s->lines[end].file == first->file)
            end++;
        bytes_append_varint(&w->data, end - i);
        bytes_append_varint(&w->data, first->function);
        page_writer_put_text(w, first->file);
        for (size_t k = i; k < end; k++) {
            bytes_append_varint(&w->data, s->lines[k].line - last);
            last = s->lines[k].line;
        }
    }
    bytes_append_varint(&w->data, 0);
    return page_writer_section(w, "lines", SIZE_MAX);
}

/* Appends a line of a source: tabs as blanks, and what may not be shown
 * escaped. */
static void
put_source_line(struct sources *s, const char *line)
{
    size_t n = strlen(line) + 1;

    for (const char *c = line; *c != '\0'; c++)
        n += *c == '\t' ? TAB - 1 : 0;
    char *blanks = malloc(n);
    n = 0;
    if (blanks == NULL) {
        s->failed = true;
        return;
    }
    for (; *line != '\0'; line++) {
        if (*line != '\t')
            blanks[n++] = *line;
        else
            do
                blanks[n++] = ' ';
            while (n % TAB != 0);
    }
    blanks[n] = '\0';
    char *shown = escape_copy(blanks, ESCAPE_LINE);
    s->failed |= shown == NULL;
    if (shown != NULL)
        bytes_append(&s->text, shown, strlen(shown));
    bytes_append_u8(&s->text, '\n');
    free(shown);
    free(blanks);
}

/* A run of lines of a source that the page has. */
struct run {
    uint32_t first, last;
};

/* Finds the run that line `at` begins, up to `end`; returns what follows it. */
static size_t
find_run(const struct sources *s, size_t at, size_t end, uint32_t source_lines,
         struct run *run)
{
    const uint32_t line = s->lines[at].line;

    run->first = line > BESIDE ? line - BESIDE : 1;
    for (run->last = line + BESIDE; at < end; at++) {
        const uint32_t next = s->lines[at].line;
        if (next > run->last + FOLD + BESIDE)
            break;
        if (next + BESIDE > run->last)
            run->last = next + BESIDE;
    }
    if (run->last > source_lines)
        run->last = source_lines;
    return at;
}

/* Writes the lines of a source that lines `at` to `end` - 1 are near to. */
static void
write_runs(struct sources *s, size_t at, size_t end,
           const struct source_text *source)
{
    struct bytes *data = &s->w->data;
    uint32_t last = 0;

    while (at < end && s->lines[at].line <= source->count) {
        struct run run;
        at = find_run(s, at, end, (uint32_t)source->count, &run);
        /* 0 ends the runs, so that a distance is at least 1. */
        if (run.first <= last)
            run.first = last + 1;
        if (run.first > run.last)
            continue;
        bytes_append_varint(data, run.first - last);
        bytes_append_varint(data, run.last - run.first + 1);
        for (uint32_t n = run.first; n <= run.last; n++)
            put_source_line(s, source_text_line(source, n));
        last = run.last;
    }
    bytes_append_varint(data, 0);
}

/* Writes where the lines of a file's source are, and the lines to the text. */
static void
write_source(struct sources *s, size_t at, size_t end)
{
    struct page_writer *w = s->w;
    const uint32_t file = s->lines[at].file;
    struct source_text source;

    source_text_read(resolver_text(w->resolver, file), w->options->moves,
                     w->options->move_count, &source);
    page_writer_put_text(w, file);
    bytes_append_varint(&w->data,
                        source.count < LINE_MOST ? source.count : LINE_MOST);
    if (source.count > 0)
        write_runs(s, at, end, &source);
    source_text_finish(&source);
}

static int
write_files(struct sources *s)
{
    struct page_writer *w = s->w;
    size_t files = 0;

    if (s->count > 1)
        qsort(s->lines, s->count, sizeof(*s->lines), compare_lines);
    for (size_t i = 0; i < s->count; i++)
        files += i == 0 || s->lines[i].file != s->lines[i - 1].file;
    bytes_append_varint(&w->data, files);
    for (size_t i = 0, end; i < s->count; i = end) {
        end = i;
        while (end < s->count && s->lines[end].file == s->lines[i].file)
            end++;
        write_source(s, i, end);
    }
    if (s->failed)
        return TALLY_ENOMEM;
    int error = page_writer_section(w, "files", SIZE_MAX);
    if (error != 0)
        return error;
    return page_section_write("source", &s->text, w->out);
}

int
page_write_sources(struct page_writer *w)
{
    struct sources s = {.w = w};

    add_chains(&s);
    int error = add_functions(&s);
    if (error == 0) {
        join(&s);
        error = write_lines(&s);
    }
    if (error == 0)
        error = write_files(&s);
    free(s.lines);
    bytes_finish(&s.text);
    return error;
}
