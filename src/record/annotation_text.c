/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/escape.h"
#include "record/annotation_report.h"
#include "report/count_report.h"

#define FOLD 6u   /* lines in a row that are folded */
#define BESIDE 2u /* lines that stay beside those with counts */
#define HOT_PERCENT 5
#define COLUMN 15 /* characters of a count at least; names may need more */

/* A file whose lines are written. */
struct listing {
    const struct annotation *a;
    const struct annotation_look *look;
    FILE *out;
    uint32_t file;
    struct source_text source;
    uint32_t first, last; /* lines */
    unsigned char *code;  /* [last + 1] whether a line has code; owned */
};

static double
percent_of(const struct annotation_look *look, size_t event, int64_t value)
{
    const int64_t total = record_total(look->record, look->events[event]);

    return total > 0 ? 100.0 * (double)value / (double)total : NAN;
}

/* Returns the width of an event's column. */
static int
width_of(const struct annotation_look *look, size_t event)
{
    const size_t length =
        strlen(look->record->events[look->events[event]].asked);

    return length < COLUMN ? COLUMN : length > 40 ? 40 : (int)length;
}

/* Writes the columns of the values; `mark`: in place of counts, where there are
 * none. */
static void
write_columns(const struct listing *l, const int64_t *values, const char *mark)
{
    const double percent =
        values != NULL ? percent_of(l->look, 0, values[0]) : NAN;
    const bool hot = l->look->color && percent >= HOT_PERCENT;

    if (hot)
        fputs("\033[1;31m", l->out);
    if (isnan(percent))
        fprintf(l->out, "%7s ", "");
    else
        fprintf(l->out, "%5.1f %% ", percent);
    for (size_t e = 0; e < l->look->event_count; e++) {
        char text[48];
        if (values != NULL && values[e] != 0)
            format_grouped_signed(values[e], text);
        else
            snprintf(text, sizeof(text), "%s", values != NULL ? "0" : mark);
        fprintf(l->out, "%*s ", width_of(l->look, e), text);
    }
    if (hot)
        fputs("\033[0m", l->out);
}

/* Writes a line of a source: tabs as blanks, and what a terminal must not get
 * escaped. */
static void
write_source(FILE *out, const char *line)
{
    char *text = malloc(8 * strlen(line) + 1);
    size_t n = 0;

    if (text == NULL) {
        escape_printf(out, "%s\n", line);
        return;
    }
    for (; *line != '\0'; line++) {
        if (*line != '\t')
            text[n++] = *line;
        else
            do
                text[n++] = ' ';
            while (n % 8 != 0);
    }
    text[n] = '\0';
    escape_printf(out, "%s\n", text);
    free(text);
}

static void
write_insns(const struct listing *l, uint32_t line)
{
    const struct annotation *a = l->a;

    for (size_t i = 0; l->look->assembly && i < a->insn_count; i++) {
        const struct annotated_insn *insn = &a->insns[i];
        char text[160];
        if (insn->file != l->file || insn->line != line)
            continue;
        disassembly_text(l->look->disassembly, insn->code, insn->size,
                         insn->address, text, sizeof(text));
        write_columns(l, insn->values, "");
        escape_printf(l->out, "      |  %8" PRIx64 "  %s\n", insn->address,
                      text);
    }
}

static void
write_line(const struct listing *l, uint32_t number)
{
    const struct annotated_line *line = annotation_line(l->a, l->file, number);
    const char *text = source_text_line(&l->source, number);

    write_columns(l, line != NULL ? line->values : NULL,
                  l->code[number] ? "-" : "");
    fprintf(l->out, "%5" PRIu32 " | ", number);
    write_source(l->out, text != NULL ? text : "");
    if (line != NULL)
        write_insns(l, number);
}

/* Returns whether the line is to be written: it is of code that ran, or is
 * beside one that is; in a function, of code that never ran too. */
static bool
is_near_code(const struct listing *l, uint32_t number)
{
    for (uint32_t i = number > BESIDE ? number - BESIDE : 1;
         i <= number + BESIDE && i <= l->last; i++) {
        if ((l->code[i] && l->a->kind == ANNOTATE_FUNCTION) ||
            annotation_line(l->a, l->file, i) != NULL)
            return true;
    }
    return false;
}

/* Writes how many lines are left out from `first` on. */
static void
write_fold(const struct listing *l, uint32_t first, uint32_t count)
{
    uint32_t never = 0;

    for (uint32_t i = first; i < first + count; i++)
        never += l->code[i];
    if (never == 0)
        fprintf(l->out, "        ... %" PRIu32 " lines without code\n", count);
    else
        fprintf(l->out,
                "        ... %" PRIu32 " lines, %" PRIu32
                " with code that never ran\n",
                count, never);
}

static void
take_line(void *user, unsigned line)
{
    struct listing *l = user;

    if (line == 0)
        return;
    if (line > l->last && line < (1u << 24)) {
        unsigned char *code = realloc(l->code, (size_t)line + 1);
        if (code == NULL)
            return;
        memset(code + l->last + 1, 0, line - l->last);
        l->code = code;
        l->last = line;
    }
    if (line <= l->last)
        l->code[line] = 1;
    if (line < l->first)
        l->first = line;
}

/* Returns the name of an image that has code of the file and is older than the
 * source; NULL: none is. */
static const char *
older_image(const struct listing *l)
{
    const struct record *record = l->look->record;
    uint32_t image = RECORD_NO_IMAGE;
    struct stat st;

    for (size_t i = 0; i < l->a->insn_count; i++) {
        const struct annotated_insn *insn = &l->a->insns[i];
        if (insn->file != l->file || insn->image >= record->image_count ||
            insn->image == image)
            continue;
        image = insn->image;
        if (stat(record->images[image].path, &st) == 0 &&
            st.st_mtime < l->source.mtime)
            return record->images[image].path;
    }
    return NULL;
}

/* Warns, once a file, of a source that may not be what was compiled. */
static void
warn_of_source(const struct listing *l)
{
    const struct annotation_look *look = l->look;
    const char *const path = resolver_text(look->resolver, l->file);
    const char *older;

    if (texts_find(look->warned, path) != 0)
        return;
    texts_add(look->warned, path);
    if (l->source.count == 0)
        tally_logf(look->log, TALLY_LOG_WARNING,
                   "%s: no such source; --source OLD=NEW says where it is",
                   path);
    else if (l->source.count < l->last)
        tally_logf(look->log, TALLY_LOG_WARNING,
                   "%s: has %zu lines, and the program has code of line %u: "
                   "the source is another",
                   l->source.path, l->source.count, (unsigned)l->last);
    else if ((older = older_image(l)) != NULL)
        tally_logf(look->log, TALLY_LOG_WARNING,
                   "%s: is newer than %s: lines may have moved", l->source.path,
                   older);
}

/* Writes the lines of one file. */
static int
write_file(const struct annotation *a, const struct annotation_look *look,
           FILE *out, uint32_t file)
{
    struct listing l = {a, look, out, file, {0}, UINT32_MAX, 0, NULL};
    uint32_t folded = 0;

    for (size_t i = 0; i < a->line_count; i++) {
        const struct annotated_line *line = &a->lines[i];
        if (line->file != file || line->line == 0 || line->line >= 1u << 24)
            continue;
        l.first = line->line < l.first ? line->line : l.first;
        l.last = line->line > l.last ? line->line : l.last;
    }
    if (l.first == UINT32_MAX)
        return 0;
    l.code = calloc((size_t)l.last + 1, 1);
    if (l.code == NULL)
        return TALLY_ENOMEM;
    annotation_each_code_line(a, look->record, look->resolver, file, take_line,
                              &l);
    source_text_read(resolver_text(look->resolver, file), look->moves,
                     look->move_count, &l.source);
    escape_printf(out, "\n%s:%" PRIu32 "-%" PRIu32 "\n",
                  resolver_text(look->resolver, file), l.first, l.last);
    warn_of_source(&l);
    for (uint32_t n = l.first; n <= l.last; n++) {
        if (is_near_code(&l, n)) {
            write_line(&l, n);
            continue;
        }
        folded = 0;
        while (n + folded <= l.last && !is_near_code(&l, n + folded))
            folded++;
        if (folded < FOLD) {
            write_line(&l, n);
            continue;
        }
        write_fold(&l, n, folded);
        n += folded - 1;
    }
    source_text_finish(&l.source);
    free(l.code);
    return 0;
}

/* Writes the instructions that have no line, in order. */
static void
write_without_lines(const struct annotation *a,
                    const struct annotation_look *look, FILE *out)
{
    struct listing l = {.a = a, .look = look, .out = out};
    uint64_t end = 0;
    bool any = false;

    for (size_t i = 0; i < a->insn_count; i++) {
        const struct annotated_insn *insn = &a->insns[i];
        char text[160];
        if (insn->line != 0 && insn->file != 0)
            continue;
        if (!any)
            fputs("\nwithout source lines\n", out);
        if (any && insn->offset > end)
            fprintf(out, "        ... %" PRIu64 " bytes that never ran\n",
                    insn->offset - end);
        any = true;
        end = insn->offset + insn->size;
        disassembly_text(look->disassembly, insn->code, insn->size,
                         insn->address, text, sizeof(text));
        write_columns(&l, insn->values, "");
        escape_printf(out, "%8" PRIx64 "  %s\n", insn->address, text);
    }
}

static void
write_head(const struct annotation *a, const struct annotation_look *look,
           FILE *out)
{
    const struct annotated_line *hottest = NULL;

    escape_printf(out, "%s%s", resolver_text(look->resolver, a->name),
                  a->kind == ANNOTATE_IMAGE ? ", code without names"
                  : a->has_copies           ? " and what is copied into it"
                                            : "");
    for (size_t e = 0; e < look->event_count; e++) {
        char text[48];
        const double percent = percent_of(look, e, a->totals[e]);
        format_grouped_signed(a->totals[e], text);
        escape_printf(out, "%s %s %s", e == 0 ? ":" : ",", text,
                      look->record->events[look->events[e]].asked);
        if (!isnan(percent))
            fprintf(out, " (%.1f %%)", percent);
    }
    for (size_t i = 0; i < a->line_count; i++) {
        const struct annotated_line *line = &a->lines[i];
        if (line->line != 0 &&
            (hottest == NULL || line->values[0] > hottest->values[0]))
            hottest = line;
    }
    fputc('\n', out);
    if (hottest != NULL && a->totals[0] > 0)
        escape_printf(
            out, "hottest: line %" PRIu32 ", %.1f %% of it\n", hottest->line,
            100.0 * (double)hottest->values[0] / (double)a->totals[0]);
}

static void
write_titles(const struct annotation_look *look, FILE *out)
{
    fprintf(out, "%7s ", "");
    for (size_t e = 0; e < look->event_count; e++) {
        const char *name = look->record->events[look->events[e]].asked;
        escape_printf(out, "%*.*s ", width_of(look, e), width_of(look, e),
                      name);
    }
    fputs(" line\n", out);
}

int
annotation_text(const struct annotation *a, const struct annotation_look *look,
                FILE *out)
{
    int error = 0;

    write_head(a, look, out);
    write_titles(look, out);
    for (size_t i = 0; error == 0 && i < a->line_count; i++) {
        if (a->lines[i].file != 0 &&
            (i == 0 || a->lines[i].file != a->lines[i - 1].file))
            error = write_file(a, look, out, a->lines[i].file);
    }
    if (look->assembly || a->line_count == 0 ||
        annotation_line(a, 0, 0) != NULL)
        write_without_lines(a, look, out);
    return error != 0 ? error : ferror(out) ? TALLY_EIO : 0;
}
