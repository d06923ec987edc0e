/* SPDX-License-Identifier: MIT */
/* The form for people: the hottest row, what was run, and a table. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "record/breakdown_report.h"
#include "record/run_note.h"
#include "record/text_line.h"
#include "report/count_report.h"

#define HOT "\033[1;31m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"
#define HOT_PERCENT 5.0 /* as perf colours */
#define PERCENT_WIDTH 7 /* "100.0 %" */
#define NUMBER_TEXT 40
#define NAME_PAD 40 /* a column of names is padded to at most this */
#define IMAGE_COLUMN BREAKDOWN_KEYS
#define COLUMNS_MOST (BREAKDOWN_KEYS + 1)

/* A table that is being written. */
struct table {
    const struct breakdown *b;
    const struct breakdown_look *look;
    FILE *out;
    size_t *events; /* indices in options.events, the sorted one first */
    int *widths;    /* of the counts, of each of them */
    size_t event_count;
    int columns[COLUMNS_MOST]; /* enum breakdown_key, or IMAGE_COLUMN */
    int pads[COLUMNS_MOST];
    size_t column_count;
    int use_width; /* of loads and stores of objects; 0: they are not shown */
    char **names;  /* [row][column], escaped */
    char *command; /* that was recorded, escaped */
};

static const struct record_event_row *
event_of(const struct breakdown *b, size_t event)
{
    return &b->record->events[b->options.events[event]];
}

/* Returns the percentage, but 0 for one that is shown as 0.0: it needs no sign.
 */
static double
percent_of(const struct breakdown *b, size_t event, int64_t value)
{
    const double percent = breakdown_percent(b, event, value);

    return fabs(percent) < 0.05 ? 0 : percent;
}

/* Finds the widths that the numbers of the events take. */
static void
measure_numbers(struct table *t)
{
    const struct breakdown *b = t->b;
    char text[NUMBER_TEXT];

    for (size_t i = 0; i < t->event_count; i++) {
        const size_t e = t->events[i];
        const int64_t ends[] = {b->totals[e], b->elsewhere[e], b->more[e]};
        text_widen(&t->widths[i],
                   text_width(event_of(b, e)->asked) - PERCENT_WIDTH - 2);
        for (size_t k = 0; k < 3; k++) {
            format_grouped_signed(ends[k], text);
            text_widen(&t->widths[i], (int)strlen(text));
        }
        for (size_t r = 0; r < b->row_count; r++) {
            format_grouped_signed(b->rows[r].values[e], text);
            text_widen(&t->widths[i], (int)strlen(text));
        }
    }
}

/* Finds the width of loads and stores, if the record has all accesses to the
 * objects that are shown. */
static void
measure_uses(struct table *t)
{
    const struct breakdown *b = t->b;
    char text[NUMBER_TEXT];

    if (!b->record->has_uses || !breakdown_has(b, BREAKDOWN_OBJECT))
        return;
    t->use_width = text_width("stores");
    for (size_t r = 0; r < b->row_count; r++) {
        const struct record_used *used =
            &b->objects.rows[b->rows[r].place.object].used;
        format_grouped(used->loads, text);
        text_widen(&t->use_width, (int)strlen(text));
        format_grouped(used->stores, text);
        text_widen(&t->use_width, (int)strlen(text));
    }
}

static void
choose_columns(struct table *t)
{
    const struct breakdown *b = t->b;

    for (size_t i = 0; i < b->options.key_count; i++) {
        const enum breakdown_key key = b->options.keys[i];
        if (key == BREAKDOWN_FUNCTION && b->image_count > 1 &&
            !breakdown_has(b, BREAKDOWN_IMAGE) &&
            !breakdown_has(b, BREAKDOWN_INSTRUCTION))
            t->columns[t->column_count++] = IMAGE_COLUMN;
        t->columns[t->column_count++] = (int)key;
    }
}

/* Returns what stands over a column of names. */
static const char *
heading(int column)
{
    return column == IMAGE_COLUMN
               ? "image"
               : breakdown_key_name((enum breakdown_key)column);
}

/* Returns the name of the row in a column; the file's name alone where the
 * image stands beside the function. */
static char *
raw_name(const struct breakdown *b, const struct breakdown_row *row, int column)
{
    if (column != IMAGE_COLUMN)
        return breakdown_name(b, row, (enum breakdown_key)column);
    const char *path = resolver_text(b->resolver, row->place.image);
    const char *slash = strrchr(path, '/');
    return strdup(slash != NULL ? slash + 1 : path);
}

static char *
shown_name(const struct breakdown *b, const struct breakdown_row *row,
           int column)
{
    char *name = raw_name(b, row, column);
    char *escaped = name != NULL ? escape_copy(name, ESCAPE_LINE) : NULL;
    char *marked = escaped;

    if (escaped != NULL && column == BREAKDOWN_FUNCTION && row->inlined) {
        if (asprintf(&marked, "%s (inlined)", escaped) < 0)
            marked = NULL;
        free(escaped);
    }
    free(name);
    return marked;
}

static int
name_rows(struct table *t)
{
    const struct breakdown *b = t->b;

    t->names = calloc(b->row_count * t->column_count + 1, sizeof(*t->names));
    if (t->names == NULL)
        return TALLY_ENOMEM;
    for (size_t c = 0; c < t->column_count; c++)
        t->pads[c] = text_width(heading(t->columns[c]));
    for (size_t r = 0; r < b->row_count; r++)
        for (size_t c = 0; c < t->column_count; c++) {
            char *name = shown_name(b, &b->rows[r], t->columns[c]);
            if (name == NULL)
                return TALLY_ENOMEM;
            t->names[r * t->column_count + c] = name;
            text_widen(&t->pads[c], text_width(name));
        }
    return 0;
}

static int
write_command(struct table *t)
{
    char **const argv = t->b->record->argv;
    size_t size;
    FILE *out = open_memstream(&t->command, &size);

    if (out == NULL)
        return TALLY_ENOMEM;
    for (char **word = argv; *word != NULL; word++)
        escape_printf(out, "%s%s", word != argv ? " " : "", *word);
    return fclose(out) == 0 && t->command != NULL ? 0 : TALLY_ENOMEM;
}

/* Writes a part of the total of an event, in red if it is large. */
static void
print_share(const struct table *t, size_t event, int64_t value)
{
    const double percent = percent_of(t->b, event, value);
    const bool hot = t->look->color && percent >= HOT_PERCENT;
    char share[NUMBER_TEXT] = "-";

    if (!isnan(percent))
        snprintf(share, sizeof(share), "%.1f %%", percent);
    fprintf(t->out, "%s%*s%s", hot ? HOT : "", PERCENT_WIDTH, share,
            hot ? PLAIN : "");
}

/* Writes the numbers of a row; returns how many columns they take. The part of
 * the first event that its inclusive cost is stands before them; `inclusive`
 * NULL: it has none. */
static int
print_numbers(const struct table *t, const int64_t *values,
              const int64_t *inclusive)
{
    int used = 0;

    if (t->b->has_inclusive) {
        if (inclusive != NULL)
            print_share(t, t->events[0], inclusive[t->events[0]]);
        else
            fprintf(t->out, "%*s", PERCENT_WIDTH, "");
        fprintf(t->out, "  ");
        used = PERCENT_WIDTH + 2;
    }

    for (size_t i = 0; i < t->event_count; i++) {
        const size_t e = t->events[i];
        char text[NUMBER_TEXT];
        format_grouped_signed(values[e], text);
        fprintf(t->out, "%s", i > 0 ? "   " : "");
        print_share(t, e, values[e]);
        fprintf(t->out, "  %*s", t->widths[i], text);
        used += (i > 0 ? 3 : 0) + PERCENT_WIDTH + 2 + t->widths[i];
    }
    return used;
}

/* Writes the loads and stores of an object, and how much of the lines that came
 * in was touched; NULL: blanks. Returns how many columns they take. */
static int
print_uses(const struct table *t, const struct record_used *used)
{
    char loads[NUMBER_TEXT] = "", stores[NUMBER_TEXT] = "";
    char share[NUMBER_TEXT] = "";

    if (t->use_width == 0)
        return 0;
    if (used != NULL) {
        format_grouped(used->loads, loads);
        format_grouped(used->stores, stores);
    }
    if (used != NULL && used->fetched != 0)
        snprintf(share, sizeof(share), "%.1f %%",
                 100.0 * (double)used->touched / (double)used->fetched);
    return fprintf(t->out, "  %*s  %*s  %*s", t->use_width, loads, t->use_width,
                   stores, PERCENT_WIDTH, share);
}

/* Writes names behind the numbers, which take `used` columns. */
static void
print_names(const struct table *t, char *const *names, int used)
{
    for (size_t c = 0; c < t->column_count; c++) {
        const int width = text_width(names[c]);
        const int pad = t->pads[c] < NAME_PAD ? t->pads[c] : NAME_PAD;
        fprintf(t->out, "  ");
        used += 2;
        if (c + 1 == t->column_count) {
            text_end_line(names[c], used, t->look->width, t->out);
            return;
        }
        fprintf(t->out, "%s%*s", names[c], pad > width ? pad - width : 0, "");
        used += pad > width ? pad : width;
    }
}

/* Writes a row that has no keys. */
static void
print_rest(const struct table *t, const int64_t *values, const char *name)
{
    int used = print_numbers(t, values, NULL);

    used += print_uses(t, NULL);
    fprintf(t->out, "  ");
    text_end_line(name, used + 2, t->look->width, t->out);
}

static void
print_heading(const struct table *t)
{
    char *names[COLUMNS_MOST];
    int used = 0;

    fprintf(t->out, "%s", t->look->color ? BOLD : "");
    if (t->b->has_inclusive) {
        fprintf(t->out, "%*s  ", PERCENT_WIDTH, "incl.");
        used = PERCENT_WIDTH + 2;
    }
    for (size_t i = 0; i < t->event_count; i++) {
        const char *name = event_of(t->b, t->events[i])->asked;
        const int width = PERCENT_WIDTH + 2 + t->widths[i];
        fprintf(t->out, "%s%*s", i > 0 ? "   " : "", width - text_width(name),
                "");
        escape_printf(t->out, "%s", name);
        used += (i > 0 ? 3 : 0) + width;
    }
    if (t->use_width != 0)
        used += fprintf(t->out, "  %*s  %*s  %*s", t->use_width, "loads",
                        t->use_width, "stores", PERCENT_WIDTH, "used");
    for (size_t c = 0; c < t->column_count; c++)
        names[c] = (char *)heading(t->columns[c]);
    print_names(t, names, used);
    fprintf(t->out, "%s", t->look->color ? PLAIN : "");
}

static void
print_rows(const struct table *t)
{
    const struct breakdown *b = t->b;
    bool any = false;
    char text[48];

    for (size_t r = 0; r < b->row_count; r++) {
        int used = print_numbers(t, b->rows[r].values, b->rows[r].inclusive);
        if (t->use_width != 0)
            used +=
                print_uses(t, &b->objects.rows[b->rows[r].place.object].used);
        print_names(t, &t->names[r * t->column_count], used);
    }
    if (b->more_count > 0) {
        snprintf(text, sizeof(text), "(%zu more row%s)", b->more_count,
                 b->more_count == 1 ? "" : "s");
        print_rest(t, b->more, text);
    }
    for (size_t i = 0; i < t->event_count; i++)
        any |= b->elsewhere[t->events[i]] != 0;
    if (any)
        print_rest(t, b->elsewhere, "(elsewhere)");
    print_rest(t, b->totals, "total");
}

/* Writes the answer in one line. */
static void
print_hottest(const struct table *t)
{
    const struct breakdown *b = t->b;
    const size_t sort = b->options.sort;
    const double percent =
        b->row_count > 0 && !b->options.sort_by_name
            ? breakdown_percent(b, sort, b->rows[0].values[sort])
            : (double)NAN;

    /* With calls included the program's first function is the hottest. */
    if (isnan(percent) || percent <= 0 ||
        (b->options.by_inclusive && b->has_inclusive))
        return;
    fprintf(t->out, "hottest: ");
    for (size_t c = 0; c < t->column_count; c++)
        if (t->columns[c] != IMAGE_COLUMN)
            fprintf(t->out, "%s ", t->names[c]);
    fprintf(t->out, "%s%.1f %%%s", t->look->color ? BOLD : "", percent,
            t->look->color ? PLAIN : "");
    escape_printf(t->out, " of %s\n\n", event_of(b, sort)->asked);
}

/* Says what was run, and what is known of the shown events. */
static void
print_head(const struct table *t)
{
    const struct breakdown *b = t->b;
    const struct record *record = b->record;
    const size_t others = record->event_count - t->event_count;
    char text[NUMBER_TEXT];
    int width = 0;

    text_end_line(t->command, 0, t->look->width, t->out);
    escape_printf(t->out, "on %s%s%s\n", record->machine,
                  record->cut ? "; the record is cut short" : "",
                  record->partial ? "; counts of a part of the run are missing"
                                  : "");
    run_note_write(record, "", t->out);
    if (breakdown_has(b, BREAKDOWN_OBJECT) && record->heap_is_whole)
        escape_printf(t->out, "heap by site not available: %s\n",
                      record->heap_reason != NULL ? record->heap_reason
                                                  : "the program is static");
    for (size_t i = 0; i < t->event_count; i++)
        text_widen(&width, t->widths[i]);
    for (size_t i = 0; i < t->event_count; i++) {
        const struct record_event_row *e = event_of(b, t->events[i]);
        format_grouped_signed(b->totals[t->events[i]], text);
        escape_printf(t->out, "  %*s  %s (%s)\n", width, text, e->asked,
                      e->standing);
    }
    if (others == 0) {
        fprintf(t->out, "\n");
        return;
    }
    fprintf(t->out, "  and %zu event%s more; -e shows others, as -e ", others,
            others == 1 ? "" : "s");
    for (size_t e = 0, count = 0; e < record->event_count && count < 2; e++) {
        bool known = false;
        for (size_t i = 0; i < t->event_count; i++)
            known |= b->options.events[i] == e;
        if (!known)
            escape_printf(t->out, "%s%s", count++ > 0 ? "," : "",
                          record->events[e].asked);
    }
    fprintf(t->out, "\n\n");
}

/* Puts the event first that rows are sorted by. */
static void
order_events(struct table *t)
{
    const struct breakdown_options *o = &t->b->options;

    t->events[t->event_count++] = o->sort;
    for (size_t e = 0; e < o->event_count; e++)
        if (e != o->sort)
            t->events[t->event_count++] = e;
}

int
breakdown_text(const struct breakdown *b, const struct breakdown_look *look,
               FILE *out)
{
    struct table t = {.b = b, .look = look, .out = out};
    int error = TALLY_ENOMEM;

    t.events = calloc(b->options.event_count, sizeof(*t.events));
    t.widths = calloc(b->options.event_count, sizeof(*t.widths));
    if (t.events != NULL && t.widths != NULL) {
        order_events(&t);
        choose_columns(&t);
        measure_numbers(&t);
        measure_uses(&t);
        error = name_rows(&t);
        if (error == 0)
            error = write_command(&t);
    }
    if (error == 0) {
        print_hottest(&t);
        print_head(&t);
        print_heading(&t);
        print_rows(&t);
        error = ferror(out) ? TALLY_EIO : 0;
    }
    for (size_t i = 0; t.names != NULL && i < b->row_count * t.column_count;
         i++)
        free(t.names[i]);
    free(t.names);
    free(t.command);
    free(t.events);
    free(t.widths);
    return error;
}
