/* SPDX-License-Identifier: MIT */
/* The form for people: the answer, what was run, totals and a table of rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/comparison_report.h"
#include "record/comparison_words.h"
#include "record/text_line.h"

#define ROSE "\033[31m"
#define FELL "\033[32m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define NAME_PAD 40 /* a column of names is padded to at most this */
#define VALUES 4    /* of the first event: change, part, before, after */

struct table {
    const struct comparison *c;
    const struct comparison_look *look;
    FILE *out;
    size_t *events;
    size_t event_count;
    int columns[WORDS_COLUMNS];
    int pads[WORDS_COLUMNS];
    size_t column_count;
    char **names; /* [row][column], escaped */
    int widths[VALUES];
    int *others; /* [event_count] widths of the changes of the other events */
};

/* Writes a text of foreign origin on a line. */
static void
write_name(FILE *out, const char *name)
{
    escape_printf(out, "%s", name);
}

/* Writes a number to the right, in the colour of its sign. */
static void
write_change(const struct table *t, const char *text, int width)
{
    const char *color = *text == '+' ? ROSE : *text == '-' ? FELL : "";

    if (!t->look->page.color || text[1] == '\0')
        color = "";
    fprintf(t->out, "%*s%s%s%s", width - text_width(text), "", color, text,
            *color != '\0' ? PLAIN : "");
}

/* Writes a line of the head: a label, the file and the command. */
static int
write_run(const struct table *t, const char *label, enum compared_side s,
          int pad)
{
    const struct compared_run *run = &t->c->runs[s];
    char *path = escape_copy(run->path, ESCAPE_LINE);
    char *command = escape_copy(run->command, ESCAPE_LINE);
    char *line = NULL;
    int error = 0;

    if (path == NULL || command == NULL ||
        asprintf(&line, "%s%*s  %s", path, pad - text_width(path), "",
                 command) < 0) {
        line = NULL;
        error = TALLY_ENOMEM;
    } else {
        fprintf(t->out, "%-8s", label);
        text_end_line(line, 8, t->look->page.width, t->out);
    }
    free(path);
    free(command);
    free(line);
    return error;
}

/* Says what follows from the standings of the events that are shown. */
static void
write_advices(const struct table *t, const bool *shown)
{
    for (size_t i = 0; i < t->c->event_count; i++) {
        const char *advice = words_advice(t->c, shown, i);
        if (advice != NULL)
            fprintf(t->out, "  %s: %s\n", comparison_standing(&t->c->events[i]),
                    advice);
    }
}

static int
write_head(const struct table *t)
{
    const struct words_form form = {
        .name = write_name,
        .strong = t->look->page.color ? BOLD : "",
        .plain = t->look->page.color ? PLAIN : "",
    };
    const struct comparison *c = t->c;
    const char *const machine = words_machine(c);
    int pad = 0;

    words_answer(c, &form, t->out);
    fputs("\n\n", t->out);
    for (int s = 0; s < SIDES; s++) {
        char *path = escape_copy(c->runs[s].path, ESCAPE_LINE);
        if (path == NULL)
            return TALLY_ENOMEM;
        text_widen(&pad, text_width(path));
        free(path);
    }
    int error = write_run(t, "before", BEFORE, pad);
    if (error == 0)
        error = write_run(t, "after", AFTER, pad);
    if (machine != NULL)
        escape_printf(t->out, "%-8s%s\n", "machine", machine);
    for (size_t i = 0; i < c->note_count; i++)
        fprintf(t->out, "note: %s\n", c->notes[i]);
    return error;
}

/* Writes the name of an event and what is known of its values. */
static void
write_event(const struct table *t, const struct compared_event *e)
{
    const char *const a = e->standings[BEFORE], *const b = e->standings[AFTER];
    char range[WORDS_RANGE];

    escape_printf(t->out, "  %s", e->name);
    if (e->names[BEFORE] != NULL && e->names[AFTER] != NULL &&
        strcmp(e->names[BEFORE], e->names[AFTER]) != 0)
        escape_printf(t->out, " [%s, %s]", e->names[BEFORE], e->names[AFTER]);
    if (*e->unit != '\0')
        escape_printf(t->out, " %s", e->unit);
    if (*a != '\0' && *b != '\0' && strcmp(a, b) != 0)
        escape_printf(t->out, " (%s, %s)", a, b);
    else if (*a != '\0' || *b != '\0')
        escape_printf(t->out, " (%s)", *a != '\0' ? a : b);
    words_range(e, range);
    if (*range != '\0')
        fprintf(t->out, "; %s", range);
    for (int s = 0; s < SIDES; s++)
        if (!e->values[s].known)
            escape_printf(t->out, "; no count %s: %s",
                          s == BEFORE ? "before" : "after", words_reason(e, s));
    fputc('\n', t->out);
}

static void
write_totals(const struct table *t, const bool *shown, size_t count)
{
    const struct comparison *c = t->c;
    static const char *const heads[] = {"before", "after", "change", "%"};
    int widths[4] = {6, 5, 6, 7};
    size_t changed = 0;

    fputc('\n', t->out);
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1)
            fprintf(t->out, "%s  %*s  %*s  %*s  %*s  event%s\n",
                    t->look->page.color ? BOLD : "", widths[0], heads[0],
                    widths[1], heads[1], widths[2], heads[2], widths[3],
                    heads[3], t->look->page.color ? PLAIN : "");
        for (size_t i = 0; i < c->event_count; i++) {
            const struct compared_event *e = &c->events[i];
            char texts[WORDS_VALUES][WORDS_SIZE];
            words_event(e, texts);
            if (!shown[i]) {
                changed += pass == 1 && e->change.real != 0;
                continue;
            }
            for (int k = 0; pass == 0 && k < 4; k++)
                text_widen(&widths[k], text_width(texts[k]));
            if (pass == 0)
                continue;
            fprintf(t->out, "  %*s  %*s  ", widths[0], texts[0], widths[1],
                    texts[1]);
            write_change(t, texts[2], widths[2]);
            fputs("  ", t->out);
            write_change(t, texts[3], widths[3]);
            write_event(t, e);
        }
    }
    if (c->event_count > count && changed > 0)
        fprintf(t->out,
                "  and %zu event%s more, of which %zu changed; -e all shows "
                "them\n",
                c->event_count - count, c->event_count - count == 1 ? "" : "s",
                changed);
    else if (c->event_count > count)
        fprintf(t->out, "  and %zu event%s more, which did not change\n",
                c->event_count - count, c->event_count - count == 1 ? "" : "s");
}

/* Finds names and widths of the rows. */
static int
prepare(struct table *t)
{
    const struct comparison *c = t->c;
    static const char *const heads[] = {"change", "of total", "before",
                                        "after"};
    char text[WORDS_SIZE];

    t->events = calloc(c->event_count + 1, sizeof(*t->events));
    t->others = calloc(c->event_count + 1, sizeof(*t->others));
    if (t->events == NULL || t->others == NULL)
        return TALLY_ENOMEM;
    t->event_count = words_events(c, t->look->events, t->events);
    t->column_count = words_columns(c, t->columns);
    t->names = calloc(c->row_count * t->column_count + 1, sizeof(*t->names));
    if (t->names == NULL)
        return TALLY_ENOMEM;
    for (int i = 0; i < VALUES; i++)
        t->widths[i] = text_width(heads[i]);
    for (size_t i = 0; i < t->event_count; i++) {
        t->others[i] = text_width(c->events[t->events[i]].name);
        const size_t e = t->events[i];
        const int64_t more = (int64_t)((uint64_t)c->more[AFTER][e] -
                                       (uint64_t)c->more[BEFORE][e]);
        words_number(&c->events[e].change, true, text);
        text_widen(i == 0 ? &t->widths[0] : &t->others[i], text_width(text));
        words_count(more, true, text);
        text_widen(i == 0 ? &t->widths[0] : &t->others[i], text_width(text));
    }
    words_number(&c->events[c->sort].values[BEFORE], false, text);
    text_widen(&t->widths[2], text_width(text));
    words_number(&c->events[c->sort].values[AFTER], false, text);
    text_widen(&t->widths[3], text_width(text));
    for (size_t k = 0; k < t->column_count; k++)
        t->pads[k] = text_width(words_heading(t->columns[k]));
    for (size_t r = 0; r < c->row_count; r++) {
        for (size_t k = 0; k < t->column_count; k++) {
            char *name = words_name(c, &c->rows[r], t->columns[k]);
            char *escaped =
                name != NULL ? escape_copy(name, ESCAPE_LINE) : NULL;
            free(name);
            if (escaped == NULL)
                return TALLY_ENOMEM;
            t->names[r * t->column_count + k] = escaped;
            text_widen(&t->pads[k], text_width(escaped));
        }
        for (size_t i = 0; i < t->event_count; i++) {
            words_count(c->rows[r].change[t->events[i]], true, text);
            text_widen(i == 0 ? &t->widths[0] : &t->others[i],
                       text_width(text));
        }
    }
    return 0;
}

/* The numbers of a line of the table: by event, before and after. */
struct line {
    const int64_t *change, *before, *after;
    bool is_new, is_gone;
};

/* Writes the numbers of a row; returns how many columns they take. With
 * --inclusive the first ones are inclusive. */
static int
write_numbers(const struct table *t, const struct line *l)
{
    const size_t sort = t->events[0];
    char text[WORDS_SIZE];
    int used = 2;

    fputs("  ", t->out);
    words_count(l->change[sort], true, text);
    write_change(t, text, t->widths[0]);
    words_percent(comparison_part(t->c, sort, l->change[sort]), text);
    fputs("  ", t->out);
    write_change(t, text, t->widths[1]);
    for (int s = 0; s < SIDES; s++) {
        words_count(s == BEFORE ? l->before[sort] : l->after[sort], false,
                    text);
        if (s == BEFORE ? l->is_new : l->is_gone)
            strcpy(text, "-");
        fprintf(t->out, "  %*s", t->widths[2 + s], text);
    }
    for (int i = 0; i < VALUES; i++)
        used += (i > 0 ? 2 : 0) + t->widths[i];
    for (size_t i = 1; i < t->event_count; i++) {
        words_count(l->change[t->events[i]], true, text);
        fputs("  ", t->out);
        write_change(t, text, t->others[i]);
        used += 2 + t->others[i];
    }
    return used;
}

/* Writes the names of a row behind its numbers, and what is said of it. */
static int
write_names(const struct table *t, char *const *names, const char *mark,
            int used)
{
    for (size_t k = 0; k < t->column_count; k++) {
        const int width = text_width(names[k]);
        const int pad = t->pads[k] < NAME_PAD ? t->pads[k] : NAME_PAD;
        char *last = NULL;
        fputs("  ", t->out);
        used += 2;
        if (k + 1 < t->column_count) {
            fprintf(t->out, "%s%*s", names[k], pad > width ? pad - width : 0,
                    "");
            used += pad > width ? pad : width;
            continue;
        }
        if (asprintf(&last, "%s%s", names[k], mark) < 0)
            return TALLY_ENOMEM;
        text_end_line(last, used, t->look->page.width, t->out);
        free(last);
    }
    return 0;
}

/* Writes a line of sums, which has no keys. */
static int
write_rest(const struct table *t, const int64_t *before, const int64_t *after,
           const char *name)
{
    const size_t n = t->c->event_count;
    int64_t *change = calloc(n + 1, sizeof(*change));

    if (change == NULL)
        return TALLY_ENOMEM;
    for (size_t e = 0; e < n; e++)
        change[e] = (int64_t)((uint64_t)after[e] - (uint64_t)before[e]);
    const struct line line = {
        .change = change, .before = before, .after = after};
    const int used = write_numbers(t, &line);
    fputs("  ", t->out);
    text_end_line(name, used + 2, t->look->page.width, t->out);
    free(change);
    return 0;
}

/* Writes a row: its own values, or those with what it calls. */
static int
write_row(const struct table *t, size_t r)
{
    const struct comparison *c = t->c;
    const struct compared_row *row = &c->rows[r];
    int64_t *nothing = calloc(c->event_count + 1, sizeof(*nothing));
    char mark[WORDS_SIZE];

    if (nothing == NULL)
        return TALLY_ENOMEM;
    const int64_t *before = words_values(c, row, BEFORE);
    const int64_t *after = words_values(c, row, AFTER);
    const struct line line = {
        .change = c->by_inclusive && row->inclusive != NULL ? row->inclusive
                                                            : row->change,
        .before = before != NULL ? before : nothing,
        .after = after != NULL ? after : nothing,
        .is_new = before == NULL,
        .is_gone = after == NULL,
    };
    words_mark(c, row, mark);
    const int used = write_numbers(t, &line);
    const int error =
        write_names(t, &t->names[r * t->column_count], mark, used);
    free(nothing);
    return error;
}

static int
write_heading(const struct table *t)
{
    const struct comparison *c = t->c;
    char *names[WORDS_COLUMNS];
    int used = 2;

    fputs(t->look->page.color ? BOLD : "", t->out);
    escape_printf(t->out, "%s%s\n", c->events[c->sort].name,
                  c->by_inclusive ? " with what each row calls" : "");
    fprintf(t->out, "  %*s  %*s  %*s  %*s", t->widths[0], "change",
            t->widths[1], "of total", t->widths[2], "before", t->widths[3],
            "after");
    for (int i = 0; i < VALUES; i++)
        used += (i > 0 ? 2 : 0) + t->widths[i];
    for (size_t i = 1; i < t->event_count; i++) {
        const char *name = c->events[t->events[i]].name;
        fprintf(t->out, "  %*s", t->others[i] - text_width(name), "");
        escape_printf(t->out, "%s", name);
        used += 2 + t->others[i];
    }
    for (size_t k = 0; k < t->column_count; k++)
        names[k] = (char *)words_heading(t->columns[k]);
    const int error = write_names(t, names, "", used);
    fputs(t->look->page.color ? PLAIN : "", t->out);
    return error;
}

/* Writes the table of rows, unless no row changed. */
static int
write_rows(const struct table *t)
{
    const struct comparison *c = t->c;
    const struct breakdown *a = c->breakdowns[BEFORE],
                           *b = c->breakdowns[AFTER];
    char more[WORDS_MORE];

    words_more(c, more);
    if (c->row_count == 0) {
        if (c->more_count > 0)
            fprintf(t->out, "\nno row that was asked for changed %s\n", more);
        return 0;
    }
    fputc('\n', t->out);
    int error = write_heading(t);
    for (size_t r = 0; error == 0 && r < c->row_count; r++)
        error = write_row(t, r);
    /* Inclusive values do not add up. */
    if (c->by_inclusive) {
        if (*more != '\0')
            fprintf(t->out, "  %s\n", more);
        return error;
    }
    if (error == 0 && *more != '\0')
        error = write_rest(t, c->more[BEFORE], c->more[AFTER], more);
    if (error == 0 && words_elsewhere(c, t->events, t->event_count))
        error = write_rest(t, a->elsewhere, b->elsewhere, "(elsewhere)");
    return error == 0 ? write_rest(t, a->totals, b->totals, "total") : error;
}

int
comparison_text(const struct comparison *c, const struct comparison_look *look,
                FILE *out)
{
    struct table t = {.c = c, .look = look, .out = out};
    bool *shown = calloc(c->event_count + 1, sizeof(*shown));
    int error = shown != NULL ? 0 : TALLY_ENOMEM;

    if (error == 0 && c->of_records)
        error = prepare(&t);
    if (error == 0)
        error = write_head(&t);
    if (error == 0 && c->event_count > 0) {
        const size_t count = words_totals(c, look->totals, shown);
        if (count > 0)
            write_totals(&t, shown, count);
        write_advices(&t, shown);
    }
    if (error == 0 && c->of_records)
        error = write_rows(&t);
    if (error == 0 && ferror(out))
        error = TALLY_EIO;
    for (size_t i = 0; t.names != NULL && i < c->row_count * t.column_count;
         i++)
        free(t.names[i]);
    free(t.names);
    free(t.events);
    free(t.others);
    free(shown);
    return error;
}
