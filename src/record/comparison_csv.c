/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "record/breakdown_field.h"
#include "record/comparison_report.h"
#include "record/comparison_words.h"
#include "report/csv.h"

/* Writes a field of a row's keys, as tally report does; the line before is
 * added where rows are lines. */
static int
write_cell(const struct comparison *c, const struct compared_row *row,
           enum breakdown_field field, char separator, FILE *out)
{
    const enum compared_side s = row->rows[AFTER] != NULL ? AFTER : BEFORE;
    struct breakdown_cell cell;

    breakdown_field_cell(c->breakdowns[s], row->rows[s], field, &cell);
    if (cell.is_number)
        fprintf(out, "%" PRIu64, cell.number);
    else if (cell.text != NULL)
        report_csv_text(cell.text, separator, out);
    if (field == BREAKDOWN_FIELD_LINE) {
        fputc(separator, out);
        if (row->rows[BEFORE] != NULL && row->rows[BEFORE]->place.line != 0)
            fprintf(out, "%" PRIu32, row->rows[BEFORE]->place.line);
    }
    return 0;
}

static void
write_heading(const struct comparison *c, const enum breakdown_field *fields,
              size_t count, bool inclusive, char separator, FILE *out)
{
    static const char *const kinds[] = {"before", "after", "change",
                                        "inclusive change"};

    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%c", breakdown_field_name(fields[i]), separator);
        if (fields[i] == BREAKDOWN_FIELD_LINE)
            fprintf(out, "line_before%c", separator);
    }
    fputs("state", out);
    for (size_t e = 0; e < c->event_count; e++)
        for (size_t k = 0; k < (inclusive ? 4 : 3); k++) {
            char *name;
            if (asprintf(&name, "%s %s", c->events[e].name, kinds[k]) < 0)
                continue;
            fputc(separator, out);
            report_csv_text(name, separator, out);
            free(name);
        }
    fputc('\n', out);
}

static void
write_values(int64_t before, int64_t after, char separator, FILE *out)
{
    fprintf(out, "%c%" PRId64 "%c%" PRId64 "%c%" PRId64, separator, before,
            separator, after, separator,
            (int64_t)((uint64_t)after - (uint64_t)before));
}

/* Writes a row of sums, which has a name and no keys. */
static void
write_rest(const struct comparison *c, const char *name, size_t field_count,
           const int64_t *before, const int64_t *after, bool inclusive,
           char separator, FILE *out)
{
    report_csv_text(name, separator, out);
    for (size_t i = 0; i < field_count; i++)
        fputc(separator, out);
    for (size_t e = 0; e < c->event_count; e++) {
        write_values(before[e], after[e], separator, out);
        if (inclusive)
            fputc(separator, out);
    }
    fputc('\n', out);
}

static const char *
state_of(const struct compared_row *row)
{
    return row->rows[BEFORE] == NULL  ? "new"
           : row->rows[AFTER] == NULL ? "gone"
           : row->edited              ? "edited"
                                      : "both";
}

static void
write_rows(const struct comparison *c, char separator, FILE *out)
{
    const struct breakdown *a = c->breakdowns[BEFORE],
                           *b = c->breakdowns[AFTER];
    enum breakdown_field fields[BREAKDOWN_FIELDS];
    const size_t count = breakdown_fields(b, fields);
    const bool inclusive = a->has_inclusive && b->has_inclusive;
    const size_t columns = count + breakdown_has(b, BREAKDOWN_LINE);
    char more[WORDS_MORE];
    bool elsewhere = false;

    write_heading(c, fields, count, inclusive, separator, out);
    for (size_t r = 0; r < c->row_count; r++) {
        const struct compared_row *row = &c->rows[r];
        for (size_t i = 0; i < count; i++) {
            write_cell(c, row, fields[i], separator, out);
            fputc(separator, out);
        }
        fputs(state_of(row), out);
        for (size_t e = 0; e < c->event_count; e++) {
            write_values(comparison_value(row, BEFORE, e),
                         comparison_value(row, AFTER, e), separator, out);
            if (inclusive)
                fprintf(out, "%c%" PRId64, separator,
                        row->inclusive != NULL ? row->inclusive[e] : 0);
        }
        fputc('\n', out);
    }
    words_more(c, more);
    if (*more != '\0')
        write_rest(c, more, columns, c->more[BEFORE], c->more[AFTER], inclusive,
                   separator, out);
    for (size_t e = 0; e < c->event_count; e++)
        elsewhere |= a->elsewhere[e] != 0 || b->elsewhere[e] != 0;
    if (elsewhere)
        write_rest(c, "(elsewhere)", columns, a->elsewhere, b->elsewhere,
                   inclusive, separator, out);
}

/* Writes a number, nothing if it is not known. */
static void
write_number(const struct count_number *n, char separator, FILE *out)
{
    fputc(separator, out);
    if (n->known && n->whole)
        fprintf(out, "%" PRId64, n->count);
    else if (n->known)
        fprintf(out, "%.9g", n->real);
}

/* Writes the standing of a value, or the word that says why there is none. */
static void
write_standing(const struct compared_event *e, int s, char separator, FILE *out)
{
    fputc(separator, out);
    report_csv_text(e->values[s].known    ? e->standings[s]
                    : e->codes[s] != NULL ? e->codes[s]
                                          : "",
                    separator, out);
}

static void
write_events(const struct comparison *c, char separator, FILE *out)
{
    static const char *const names[] = {
        "event",           "unit",           "before",
        "after",           "change",         "percent",
        "standing before", "standing after", "ranges overlap",
    };

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        fprintf(out, "%s%.1s", names[i],
                i + 1 < sizeof(names) / sizeof(*names)
                    ? (char[]){separator, '\0'}
                    : "\n");
    for (size_t i = 0; i < c->event_count; i++) {
        const struct compared_event *e = &c->events[i];
        report_csv_text(e->name, separator, out);
        fputc(separator, out);
        report_csv_text(e->unit, separator, out);
        write_number(&e->values[BEFORE], separator, out);
        write_number(&e->values[AFTER], separator, out);
        write_number(&e->change, separator, out);
        fputc(separator, out);
        if (!isnan(e->percent))
            fprintf(out, "%.6g", e->percent);
        write_standing(e, BEFORE, separator, out);
        write_standing(e, AFTER, separator, out);
        fprintf(out, "%c%s\n", separator,
                !e->has_range[BEFORE] && !e->has_range[AFTER] ? ""
                : e->overlaps                                 ? "yes"
                                                              : "no");
    }
}

int
comparison_csv(const struct comparison *c, char separator, FILE *out)
{
    if (c->of_records)
        write_rows(c, separator, out);
    else
        write_events(c, separator, out);
    return ferror(out) ? TALLY_EIO : 0;
}
