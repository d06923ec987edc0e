/* SPDX-License-Identifier: MIT */
/* GitHub's Markdown. Whatever a stranger may have chosen stands in a span of
 * code, where nothing is markup, a link or a mention of a user. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/comparison_report.h"
#include "record/comparison_words.h"
#include "record/markdown_code.h"

static void
write_name(FILE *out, const char *name)
{
    markdown_code(out, name, false);
}

static void
write_event(const struct compared_event *e, FILE *out)
{
    const char *const a = e->standings[BEFORE], *const b = e->standings[AFTER];
    char range[WORDS_RANGE];

    markdown_code(out, e->name, true);
    if (*e->unit != '\0') {
        fputc(' ', out);
        markdown_code(out, e->unit, true);
    }
    words_range(e, range);
    if (*range != '\0')
        fprintf(out, "<br>%s", range);
    for (int s = 0; s < SIDES; s++)
        if (!e->values[s].known) {
            fprintf(out, "<br>no count %s: ", s == BEFORE ? "before" : "after");
            markdown_code(out, words_reason(e, s), true);
        }
    fputs(" | ", out);
    if (*a != '\0')
        markdown_code(out, a, true);
    if (*b != '\0' && strcmp(a, b) != 0) {
        fputs(*a != '\0' ? ", " : "", out);
        markdown_code(out, b, true);
    }
}

static void
write_totals(const struct comparison *c, const bool *shown, size_t count,
             FILE *out)
{
    char texts[WORDS_VALUES][WORDS_SIZE];

    fputs("| event | | before | after | change | % |\n"
          "|---|---|--:|--:|--:|--:|\n",
          out);
    for (size_t i = 0; i < c->event_count; i++) {
        const struct compared_event *e = &c->events[i];
        if (!shown[i])
            continue;
        words_event(e, texts);
        fputs("| ", out);
        write_event(e, out);
        fprintf(out, " | %s | %s | %s | %s |\n", texts[WORDS_BEFORE],
                texts[WORDS_AFTER], texts[WORDS_CHANGE], texts[WORDS_PERCENT]);
    }
    if (count < c->event_count)
        fprintf(out, "\n%zu more event%s not shown.\n", c->event_count - count,
                c->event_count - count == 1 ? " is" : "s are");
}

/* A table of rows that is written. */
struct table {
    const struct comparison *c;
    FILE *out;
    size_t *events;
    size_t event_count;
    int columns[WORDS_COLUMNS];
    size_t column_count;
};

/* Writes the numbers of a row behind its names. */
static void
write_numbers(const struct table *t, const int64_t *before,
              const int64_t *after)
{
    char texts[WORDS_VALUES][WORDS_SIZE];

    for (size_t i = 0; i < t->event_count; i++) {
        words_row(t->c, t->events[i], before, after, texts);
        fprintf(t->out, " %s |", texts[WORDS_CHANGE]);
        if (i == 0)
            fprintf(t->out, " %s | %s | %s |", texts[WORDS_PERCENT],
                    texts[WORDS_BEFORE], texts[WORDS_AFTER]);
    }
    fputc('\n', t->out);
}

static int
write_row(const struct table *t, const struct compared_row *row)
{
    char mark[WORDS_SIZE];

    words_mark(t->c, row, mark);
    fputc('|', t->out);
    for (size_t k = 0; k < t->column_count; k++) {
        char *name = words_name(t->c, row, t->columns[k]);
        if (name == NULL)
            return TALLY_ENOMEM;
        fputc(' ', t->out);
        markdown_code(t->out, name, true);
        fprintf(t->out, "%s |", k + 1 == t->column_count ? mark : "");
        free(name);
    }
    write_numbers(t, words_values(t->c, row, BEFORE),
                  words_values(t->c, row, AFTER));
    return 0;
}

/* Writes a row of sums, which has no keys. */
static void
write_rest(const struct table *t, const int64_t *before, const int64_t *after,
           const char *name)
{
    fprintf(t->out, "| %s |", name);
    for (size_t k = 1; k < t->column_count; k++)
        fputs(" |", t->out);
    write_numbers(t, before, after);
}

static void
write_heading(const struct table *t)
{
    const struct comparison *c = t->c;

    fputc('\n', t->out);
    markdown_code(t->out, c->events[c->sort].name, false);
    fprintf(t->out, "%s:\n\n|",
            c->by_inclusive ? " with what each row calls" : "");
    for (size_t k = 0; k < t->column_count; k++)
        fprintf(t->out, " %s |", words_heading(t->columns[k]));
    fputs(" change | of total | before | after |", t->out);
    for (size_t i = 1; i < t->event_count; i++) {
        fputc(' ', t->out);
        markdown_code(t->out, c->events[t->events[i]].name, true);
        fputs(" |", t->out);
    }
    fputs("\n|", t->out);
    for (size_t k = 0; k < t->column_count; k++)
        fputs("---|", t->out);
    fputs("--:|--:|--:|--:|", t->out);
    for (size_t i = 1; i < t->event_count; i++)
        fputs("--:|", t->out);
    fputc('\n', t->out);
}

static int
write_rows(const struct comparison *c, size_t most, FILE *out)
{
    struct table t = {.c = c, .out = out};
    const struct breakdown *a = c->breakdowns[BEFORE];
    const struct breakdown *b = c->breakdowns[AFTER];
    int error = 0;
    char more[WORDS_MORE];

    t.events = calloc(c->event_count + 1, sizeof(*t.events));
    if (t.events == NULL)
        return TALLY_ENOMEM;
    t.event_count = words_events(c, most, t.events);
    t.column_count = words_columns(c, t.columns);
    words_more(c, more);
    write_heading(&t);
    for (size_t r = 0; error == 0 && r < c->row_count; r++)
        error = write_row(&t, &c->rows[r]);
    /* Inclusive values do not add up. */
    if (c->by_inclusive) {
        fprintf(out, "\n%s\n", more);
    } else {
        if (*more != '\0')
            write_rest(&t, c->more[BEFORE], c->more[AFTER], more);
        if (words_elsewhere(c, t.events, t.event_count))
            write_rest(&t, a->elsewhere, b->elsewhere, "(elsewhere)");
        write_rest(&t, a->totals, b->totals, "**total**");
    }
    free(t.events);
    return error;
}

/* Writes what was compared, and notes. */
static void
write_end(const struct comparison *c, const bool *shown, FILE *out)
{
    const char *const machine = words_machine(c);

    fputc('\n', out);
    for (int s = 0; s < SIDES; s++) {
        fprintf(out, "%s", s == BEFORE ? "Before: " : "; after: ");
        write_name(out, c->runs[s].path);
        fputs(" of ", out);
        write_name(out, c->runs[s].command);
    }
    if (machine != NULL) {
        fputs("; on ", out);
        write_name(out, machine);
    }
    fputs(".\n", out);
    for (size_t i = 0; i < c->note_count; i++) {
        fputs(i == 0 ? "\n- " : "- ", out);
        write_name(out, c->notes[i]);
        fputc('\n', out);
    }
    bool first = c->note_count == 0;
    for (size_t i = 0; i < c->event_count; i++) {
        const char *advice = words_advice(c, shown, i);
        if (advice == NULL)
            continue;
        fprintf(out, "%s- `%s`: %s\n", first ? "\n" : "",
                comparison_standing(&c->events[i]), advice);
        first = false;
    }
}

int
comparison_markdown(const struct comparison *c,
                    const struct comparison_look *look, FILE *out)
{
    const struct words_form form = {write_name, "**", "**"};
    bool *shown = calloc(c->event_count + 1, sizeof(*shown));
    int error = 0;

    if (shown == NULL)
        return TALLY_ENOMEM;
    words_answer(c, &form, out);
    fputs("\n\n", out);
    const size_t count = words_totals(c, look->totals, shown);
    if (count > 0)
        write_totals(c, shown, count, out);
    if (c->of_records && c->row_count > 0)
        error = write_rows(c, look->events, out);
    write_end(c, shown, out);
    free(shown);
    return error == 0 && ferror(out) ? TALLY_EIO : error;
}
