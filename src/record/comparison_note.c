/* SPDX-License-Identifier: MIT */
#include "record/comparison_note.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/escape.h"
#include "base/path.h"

#define NAMED_MOST 4 /* of a list of names */

char *
comparison_command(char *const *argv)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (char *const *word = argv; *word != NULL; word++)
        fprintf(out, "%s%s", word != argv ? " " : "", *word);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

char *
comparison_end(const struct record *r)
{
    char *text;
    const int length = WIFSIGNALED(r->status)
                           ? asprintf(&text, "signal %d", WTERMSIG(r->status))
                           : asprintf(&text, "exit %d", WEXITSTATUS(r->status));

    return length < 0 ? NULL : text;
}

/* Takes over a note that was written to a stream. */
static int
add_note(struct comparison *c, FILE *out, char **text)
{
    char **notes;

    if (fclose(out) != 0 || *text == NULL) {
        free(*text);
        return TALLY_ENOMEM;
    }
    notes = reallocarray(c->notes, c->note_count + 1, sizeof(*notes));
    if (notes == NULL) {
        free(*text);
        return TALLY_ENOMEM;
    }
    c->notes = notes;
    c->notes[c->note_count++] = *text;
    return 0;
}

/* Adds "WHAT: A before, B after" if the texts differ; NULL stands for none. */
static int
note_difference(struct comparison *c, const char *what, const char *before,
                const char *after)
{
    char *text = NULL;
    size_t size;
    FILE *out;

    if (before != NULL && after != NULL ? strcmp(before, after) == 0
                                        : before == after)
        return 0;
    out = open_memstream(&text, &size);
    if (out == NULL)
        return TALLY_ENOMEM;
    escape_printf(out, "%s: %s before, %s after", what,
                  before != NULL ? before : "none",
                  after != NULL ? after : "none");
    return add_note(c, out, &text);
}

static int
note_text(struct comparison *c, const char *path, const char *what)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return TALLY_ENOMEM;
    escape_printf(out, "%s %s", path, what);
    return add_note(c, out, &text);
}

/* Notes in what the runs differ. The commands stand with the files in every
 * report. */
static int
note_runs(struct comparison *c)
{
    const struct compared_run *a = &c->runs[BEFORE], *b = &c->runs[AFTER];
    int error =
        note_difference(c, "the machines differ", a->machine, b->machine);

    if (error == 0 && a->isa != NULL && b->isa != NULL)
        error = note_difference(c, "the architectures differ", a->isa, b->isa);
    if (error == 0 && a->isa != NULL && b->isa != NULL)
        error = note_difference(c, "the CPU models differ", a->cpu, b->cpu);
    if (error == 0)
        error =
            note_difference(c, "the commands differ", a->command, b->command);
    if (error == 0)
        error = note_difference(c, "the programs ended differently", a->end,
                                b->end);
    return error;
}

/* Writes names, of which `count` follow, with commas; names at most
 * NAMED_MOST. */
static void
write_list(FILE *out, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count && i < NAMED_MOST; i++)
        escape_printf(out, "%s%s", i > 0 ? ", " : "", names[i]);
    if (count > NAMED_MOST)
        fprintf(out, " and %zu more", count - NAMED_MOST);
}

/* Notes a list of names, with texts before and behind; nothing of no names. */
static int
note_list(struct comparison *c, const char *before, const char **names,
          size_t count, const char *behind)
{
    char *text = NULL;
    size_t size;

    if (count == 0)
        return 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL)
        return TALLY_ENOMEM;
    fputs(before, out);
    write_list(out, names, count);
    fputs(behind, out);
    return add_note(c, out, &text);
}

/* Notes the events that one record has alone. */
static int
note_events(struct comparison *c)
{
    const struct record *const records[] = {c->breakdowns[BEFORE]->record,
                                            c->breakdowns[AFTER]->record};

    for (int s = 0; s < SIDES; s++) {
        const struct record *one = records[s], *other = records[1 - s];
        const char **names = calloc(one->event_count + 1, sizeof(*names));
        size_t *to = calloc(one->event_count + 1, sizeof(*to));
        size_t count = 0;
        int error = names != NULL && to != NULL ? 0 : TALLY_ENOMEM;
        if (error == 0)
            comparison_events(one, other, to);
        for (size_t i = 0; error == 0 && i < one->event_count; i++)
            if (to[i] == SIZE_MAX)
                names[count++] = one->events[i].asked;
        if (error == 0)
            error = note_list(c, s == BEFORE ? "only before: " : "only after: ",
                              names, count, "");
        free(names);
        free(to);
        if (error != 0)
            return error;
    }
    return 0;
}

/* Returns the first program's image, or NULL. */
static const char *
program_of(const struct record *r)
{
    return r->process_count > 0 ? path_base(r->processes[0].program) : NULL;
}

/* Notes the files whose lines were not followed by their texts, of the rows
 * that stay. */
static int
note_lines(struct comparison *c)
{
    const char **names = calloc(c->row_count + 1, sizeof(*names));
    const struct paired_file **files = calloc(c->row_count + 1, sizeof(*files));
    bool missing[SIDES] = {false};
    size_t count = 0;
    int error = names != NULL && files != NULL ? 0 : TALLY_ENOMEM;

    /* Of a file in which no line moved one text is as good as two. */
    for (size_t i = 0; error == 0 && i < c->row_count; i++) {
        const struct breakdown_row *row = c->rows[i].rows[BEFORE];
        if (!c->rows[i].moved && c->rows[i].rows[AFTER] != NULL)
            continue;
        const struct paired_file *f =
            row != NULL ? pairing_lines(c->pairing, BEFORE, row->place.file)
                        : NULL;
        bool known = false;
        for (size_t k = 0; k < count; k++)
            known |= files[k] == f;
        if (f == NULL || known || f->way != LINES_BY_FUNCTION)
            continue;
        names[count] = path_base(
            resolver_text(c->breakdowns[BEFORE]->resolver, f->files[BEFORE]));
        files[count++] = f;
        missing[BEFORE] |= f->missing[BEFORE];
        missing[AFTER] |= f->missing[AFTER];
    }
    static const char *const behind[] = {
        " are matched by their place in the function: the text of the build "
        "before is not there (--source-before OLD=NEW names where it is)",
        " are matched by their place in the function: the text of the build "
        "after is not there (--source-after OLD=NEW names where it is)",
        " are matched by their place in the function: the text of both builds "
        "is not there (--source-before OLD=NEW names where it is)",
    };
    if (error == 0)
        error = note_list(c, "lines of ", names, count,
                          behind[missing[AFTER] && missing[BEFORE] ? 2
                                 : missing[AFTER]                  ? 1
                                                                   : 0]);
    free(names);
    free(files);
    return error;
}

/* Returns whether rows have names that an image's file tells. */
static bool
needs_names(const struct comparison *c)
{
    const struct breakdown *b = c->breakdowns[BEFORE];

    return breakdown_has(b, BREAKDOWN_FUNCTION) ||
           breakdown_has(b, BREAKDOWN_LINE) ||
           breakdown_has(b, BREAKDOWN_FILE) ||
           breakdown_has(b, BREAKDOWN_CALLER);
}

/* Notes the images of before whose instructions have no counterpart. */
static int
note_other_builds(struct comparison *c)
{
    const struct breakdown *b = c->breakdowns[BEFORE];
    const struct record *r = b->record;
    const char **names = calloc(r->image_count + 1, sizeof(*names));
    size_t count = 0;

    if (names == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < r->image_count; i++)
        if (!pairing_is_one_build(
                c->pairing, BEFORE,
                resolver_text_find(b->resolver, r->images[i].path)))
            names[count++] = path_base(r->images[i].path);
    const int error =
        note_list(c, "instructions have no counterparts in ", names, count,
                  ", which is not known to be the same build after");
    free(names);
    return error;
}

/* Notes the images of a side that have no names because their files are gone,
 * as that of a program that was built anew in its place, and the record keeps
 * none. */
static int
note_images(struct comparison *c, enum compared_side s)
{
    const struct breakdown *b = c->breakdowns[s];
    const struct record *r = b->record;
    const char **names = calloc(r->image_count + 1, sizeof(*names));
    size_t count = 0;

    if (names == NULL)
        return TALLY_ENOMEM;
    for (uint32_t i = 0; i < r->image_count; i++)
        if (!resolver_has_names(b->resolver, i))
            names[count++] = path_base(r->images[i].path);
    const int error =
        s == BEFORE
            ? note_list(c, "no names before in ", names, count,
                        ": the file that ran is gone; --image-before OLD=NEW "
                        "names where a copy is")
            : note_list(c, "no names after in ", names, count,
                        ": the file that ran is gone; --image-after OLD=NEW "
                        "names where a copy is");
    free(names);
    return error;
}

int
comparison_note_records(struct comparison *c)
{
    const struct record *const records[] = {c->breakdowns[BEFORE]->record,
                                            c->breakdowns[AFTER]->record};
    const char *before = program_of(records[BEFORE]);
    const char *after = program_of(records[AFTER]);
    int error = note_runs(c);

    if (error == 0 && before != NULL && after != NULL)
        error = note_difference(c, "the programs are taken for one image",
                                before, after);
    for (int s = 0; s < SIDES; s++) {
        if (error == 0 && needs_names(c))
            error = note_images(c, (enum compared_side)s);
        if (error == 0 && records[s]->cut)
            error = note_text(c, records[s]->path,
                              "is cut short: its totals are those of the "
                              "instructions that are in it");
        if (error == 0 && records[s]->interrupted)
            error = note_text(c, records[s]->path,
                              "is of a run that was interrupted");
    }
    if (error == 0)
        error = note_events(c);
    if (error == 0 && breakdown_has(c->breakdowns[BEFORE], BREAKDOWN_LINE))
        error = note_lines(c);
    if (error == 0 &&
        breakdown_has(c->breakdowns[BEFORE], BREAKDOWN_INSTRUCTION))
        error = note_other_builds(c);
    return error;
}

int
comparison_note_counts(struct comparison *c,
                       const struct count_document *before,
                       const struct count_document *after)
{
    const struct count_document *const both[] = {before, after};
    int error = note_runs(c);

    if (error == 0)
        error = note_difference(c, "the targets differ", before->target,
                                after->target);
    if (error == 0)
        error = note_difference(c, "different parts of the run were counted",
                                before->scope, after->scope);
    for (int s = 0; s < SIDES; s++) {
        if (error == 0 && both[s]->interrupted)
            error =
                note_text(c, both[s]->path, "is of a run that was interrupted");
        if (error == 0 && both[s]->has_parts)
            error = note_text(c, both[s]->path,
                              "has values of CPUs or threads, which are not "
                              "compared");
    }
    return error;
}
