/* SPDX-License-Identifier: MIT */
/* One page, without script and without anything from elsewhere. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/comparison_report.h"
#include "record/comparison_words.h"

#define COLUMNS_MOST 8 /* events that have columns of rows */

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
    "'none'; style-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, "
    "initial-scale=1\">\n<title>tally diff</title>\n<style>\n"
    ":root { color-scheme: light dark; --ink: #1b1f24; --soft: #667;\n"
    "  --line: #ccd2da; --paper: #fff; --hint: #eef2f7; --rose: #b3261e;\n"
    "  --fell: #1a7f37; }\n"
    "@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee;\n"
    "  --soft: #99a3b3; --line: #3a424e; --paper: #14171b; --hint: #1f252d;\n"
    "  --rose: #ff7b72; --fell: #56d364; } }\n"
    "body { font: 14px/1.45 system-ui, sans-serif; color: var(--ink);\n"
    "  background: var(--paper); margin: 1.5rem auto; max-width: 80rem;\n"
    "  padding: 0 1rem; }\n"
    "h1 { font-size: 1.3rem; margin: 0 0 .6rem; }\n"
    "h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }\n"
    "ul { margin: .3rem 0; padding-left: 1.2rem; }\n"
    ".soft { color: var(--soft); }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font-variant-numeric: tabular-nums; "
    "}\n"
    "th, td { padding: .15rem .6rem; text-align: right;\n"
    "  border-bottom: 1px solid var(--line); white-space: nowrap; }\n"
    "th { position: sticky; top: 0; background: var(--paper); }\n"
    ".text { text-align: left; }\n"
    "tbody tr:hover { background: var(--hint); }\n"
    ".rose { color: var(--rose); } .fell { color: var(--fell); }\n"
    ".bar { min-width: 6rem; } .bar i { display: block; height: .7rem; }\n"
    "i.rose { background: var(--rose); } i.fell { background: var(--fell); }\n"
    "tfoot td { border-bottom: 0; }\n"
    "</style>\n</head>\n<body>\n";

/* Writes a name of foreign origin: on a line, as a reader of a terminal has
 * it. */
static void
write_name(FILE *out, const char *name)
{
    escape_markup(name, ESCAPE_LINE, out);
}

/* Writes a cell with a number, in the colour of its sign. */
static void
write_change(FILE *out, const char *text)
{
    fprintf(out, "<td%s>%s</td>",
            text[1] == '\0' ? ""
            : *text == '+'  ? " class=\"rose\""
            : *text == '-'  ? " class=\"fell\""
                            : "",
            text);
}

static void
write_event(const struct compared_event *e, FILE *out)
{
    const char *const a = e->standings[BEFORE], *const b = e->standings[AFTER];
    char range[WORDS_RANGE];

    fputs("<td class=\"text\">", out);
    write_name(out, e->name);
    if (*e->unit != '\0') {
        fputc(' ', out);
        write_name(out, e->unit);
    }
    fputs("</td><td class=\"text\">", out);
    write_name(out, a);
    if (*b != '\0' && strcmp(a, b) != 0) {
        fputs(*a != '\0' ? ", " : "", out);
        write_name(out, b);
    }
    fputs("</td><td class=\"text soft\">", out);
    words_range(e, range);
    fputs(range, out);
    for (int s = 0; s < SIDES; s++)
        if (!e->values[s].known) {
            fprintf(out, "%sno count %s: ", s == AFTER ? " " : "",
                    s == BEFORE ? "before" : "after");
            write_name(out, words_reason(e, s));
        }
    fputs("</td>", out);
}

static void
write_totals(const struct comparison *c, FILE *out)
{
    char texts[WORDS_VALUES][WORDS_SIZE];

    fputs("<h2>Totals</h2>\n<div class=\"wide\"><table>\n<thead><tr>"
          "<th>before</th><th>after</th><th>change</th><th>%</th>"
          "<th class=\"text\">event</th><th class=\"text\">standing</th>"
          "<th></th></tr></thead>\n<tbody>\n",
          out);
    for (size_t i = 0; i < c->event_count; i++) {
        const struct compared_event *e = &c->events[i];
        words_event(e, texts);
        fprintf(out, "<tr><td>%s</td><td>%s</td>", texts[WORDS_BEFORE],
                texts[WORDS_AFTER]);
        write_change(out, texts[WORDS_CHANGE]);
        write_change(out, texts[WORDS_PERCENT]);
        write_event(e, out);
        fputs("</tr>\n", out);
    }
    fputs("</tbody></table></div>\n", out);
}

/* A table of rows that is written. */
struct table {
    const struct comparison *c;
    FILE *out;
    size_t *events;
    size_t event_count;
    int columns[WORDS_COLUMNS];
    size_t column_count;
    double most; /* largest change of the first event */
};

static void
write_bar(const struct table *t, double change)
{
    fprintf(t->out,
            "<td class=\"bar\"><i class=\"%s\" style=\"width:%.1f%%\"></i>"
            "</td>",
            change > 0 ? "rose" : "fell",
            t->most > 0 ? 100 * fabs(change) / t->most : 0);
}

/* Returns by how much an event of a row changed. */
static double
change_of(const int64_t *before, const int64_t *after, size_t event)
{
    const uint64_t a = before != NULL ? (uint64_t)before[event] : 0;
    const uint64_t b = after != NULL ? (uint64_t)after[event] : 0;

    return (double)(int64_t)(b - a);
}

static void
write_numbers(const struct table *t, const int64_t *before,
              const int64_t *after, bool bar)
{
    char texts[WORDS_VALUES][WORDS_SIZE];

    for (size_t i = 0; i < t->event_count; i++) {
        const size_t e = t->events[i];
        words_row(t->c, e, before, after, texts);
        write_change(t->out, texts[WORDS_CHANGE]);
        if (i > 0)
            continue;
        write_change(t->out, texts[WORDS_PERCENT]);
        if (bar)
            write_bar(t, change_of(before, after, e));
        else
            fputs("<td></td>", t->out);
        fprintf(t->out, "<td>%s</td><td>%s</td>", texts[WORDS_BEFORE],
                texts[WORDS_AFTER]);
    }
}

static void
write_rest(const struct table *t, const int64_t *before, const int64_t *after,
           const char *name)
{
    fprintf(t->out,
            "<tr class=\"soft\"><td class=\"text\" colspan=\"%zu\">%s"
            "</td>",
            t->column_count, name);
    write_numbers(t, before, after, false);
    fputs("</tr>\n", t->out);
}

static int
write_row(const struct table *t, const struct compared_row *row)
{
    const struct comparison *c = t->c;
    char mark[WORDS_SIZE];

    words_mark(c, row, mark);
    fputs("<tr>", t->out);
    for (size_t k = 0; k < t->column_count; k++) {
        char *name = words_name(c, row, t->columns[k]);
        if (name == NULL)
            return TALLY_ENOMEM;
        fputs("<td class=\"text\">", t->out);
        write_name(t->out, name);
        if (k + 1 == t->column_count && *mark != '\0')
            fprintf(t->out, "<span class=\"soft\">%s</span>", mark);
        fputs("</td>", t->out);
        free(name);
    }
    write_numbers(t, words_values(c, row, BEFORE), words_values(c, row, AFTER),
                  true);
    fputs("</tr>\n", t->out);
    return 0;
}

static void
write_sums(const struct table *t)
{
    const struct comparison *c = t->c;
    const struct breakdown *a = c->breakdowns[BEFORE];
    const struct breakdown *b = c->breakdowns[AFTER];
    char more[WORDS_MORE];

    words_more(c, more);
    /* Inclusive values do not add up. */
    if (c->by_inclusive) {
        fprintf(t->out,
                "<tr class=\"soft\"><td class=\"text\" colspan=\"%zu\">"
                "%s</td></tr>\n",
                4 + t->event_count + t->column_count, more);
        return;
    }
    if (*more != '\0')
        write_rest(t, c->more[BEFORE], c->more[AFTER], more);
    if (words_elsewhere(c, t->events, t->event_count))
        write_rest(t, a->elsewhere, b->elsewhere, "(elsewhere)");
    write_rest(t, a->totals, b->totals, "total");
}

static int
write_rows(const struct comparison *c, size_t most, FILE *out)
{
    struct table t = {.c = c, .out = out};
    int error = 0;

    t.events = calloc(c->event_count + 1, sizeof(*t.events));
    if (t.events == NULL)
        return TALLY_ENOMEM;
    t.event_count = words_events(c, most != 0 ? COLUMNS_MOST : 0, t.events);
    t.column_count = words_columns(c, t.columns);
    for (size_t r = 0; r < c->row_count; r++) {
        const struct compared_row *row = &c->rows[r];
        const bool inclusive = c->by_inclusive && row->inclusive != NULL;
        const double change =
            fabs((double)(inclusive ? row->inclusive : row->change)[c->sort]);
        t.most = change > t.most ? change : t.most;
    }
    fputs("<h2>", out);
    write_name(out, c->events[c->sort].name);
    fprintf(out, "%s</h2>\n<div class=\"wide\"><table>\n<thead><tr>",
            c->by_inclusive ? " with what each row calls" : "");
    for (size_t k = 0; k < t.column_count; k++)
        fprintf(out, "<th class=\"text\">%s</th>", words_heading(t.columns[k]));
    fputs("<th>change</th><th>of total</th><th></th><th>before</th>"
          "<th>after</th>",
          out);
    for (size_t i = 1; i < t.event_count; i++) {
        fputs("<th>", out);
        write_name(out, c->events[t.events[i]].name);
        fputs("</th>", out);
    }
    fputs("</tr></thead>\n<tbody>\n", out);
    for (size_t r = 0; error == 0 && r < c->row_count; r++)
        error = write_row(&t, &c->rows[r]);
    fputs("</tbody>\n<tfoot>\n", out);
    write_sums(&t);
    fputs("</tfoot></table></div>\n", out);
    free(t.events);
    return error;
}

/* Writes what was compared, and what a reader must know of it. */
static void
write_about(const struct comparison *c, const bool *shown, FILE *out)
{
    const char *const machine = words_machine(c);

    fputs("<ul class=\"soft\">\n", out);
    for (int s = 0; s < SIDES; s++) {
        fprintf(out, "<li>%s: ", s == BEFORE ? "before" : "after");
        write_name(out, c->runs[s].path);
        fputs(" of ", out);
        write_name(out, c->runs[s].command);
        fputs("</li>\n", out);
    }
    if (machine != NULL) {
        fputs("<li>on ", out);
        write_name(out, machine);
        fputs("</li>\n", out);
    }
    for (size_t i = 0; i < c->note_count; i++) {
        fputs("<li>", out);
        write_name(out, c->notes[i]);
        fputs("</li>\n", out);
    }
    for (size_t i = 0; i < c->event_count; i++) {
        const char *advice = words_advice(c, shown, i);
        if (advice != NULL)
            fprintf(out, "<li>%s: %s</li>\n",
                    comparison_standing(&c->events[i]), advice);
    }
    fputs("</ul>\n", out);
}

int
comparison_html(const struct comparison *c, const struct comparison_look *look,
                FILE *out)
{
    const struct words_form form = {write_name, "<b>", "</b>"};
    bool *shown = calloc(c->event_count + 1, sizeof(*shown));
    int error = 0;

    if (shown == NULL)
        return TALLY_ENOMEM;
    words_totals(c, 0, shown);
    fputs(head, out);
    fputs("<h1>", out);
    words_answer(c, &form, out);
    fputs("</h1>\n", out);
    write_about(c, shown, out);
    if (c->of_records && c->row_count > 0)
        error = write_rows(c, look->events, out);
    if (c->event_count > 0)
        write_totals(c, out);
    fputs("</body>\n</html>\n", out);
    free(shown);
    return error == 0 && ferror(out) ? TALLY_EIO : error;
}
