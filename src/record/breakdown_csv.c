/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "record/breakdown_field.h"
#include "record/breakdown_report.h"
#include "report/csv.h"

/* Returns the key that says in words what lacks where the field is not known;
 * BREAKDOWN_KEYS: none. */
static enum breakdown_key
telling_key(const struct breakdown *b, enum breakdown_field field)
{
    switch (field) {
    case BREAKDOWN_FIELD_FUNCTION:
        return breakdown_has(b, BREAKDOWN_FUNCTION) ? BREAKDOWN_FUNCTION
                                                    : BREAKDOWN_KEYS;
    case BREAKDOWN_FIELD_IMAGE:
        return BREAKDOWN_IMAGE;
    case BREAKDOWN_FIELD_FILE:
        return BREAKDOWN_FILE;
    default:
        return BREAKDOWN_KEYS;
    }
}

static int
write_cell(const struct breakdown *b, const struct breakdown_row *row,
           enum breakdown_field field, char separator, FILE *out)
{
    const enum breakdown_key key = telling_key(b, field);
    struct breakdown_cell cell;

    breakdown_field_cell(b, row, field, &cell);
    if (cell.is_number) {
        fprintf(out, "%" PRIu64, cell.number);
    } else if (cell.text != NULL) {
        report_csv_text(cell.text, separator, out);
    } else if (key != BREAKDOWN_KEYS) {
        char *name = breakdown_name(b, row, key);
        if (name == NULL)
            return TALLY_ENOMEM;
        report_csv_text(name, separator, out);
        free(name);
    }
    return 0;
}

/* Writes the values, and what `inclusive` has (or nothing, NULL) where rows
 * have inclusive cost. */
static void
write_values(const struct breakdown *b, const int64_t *values,
             const int64_t *inclusive, char separator, FILE *out)
{
    for (size_t e = 0; e < b->options.event_count; e++)
        fprintf(out, "%c%" PRId64, separator, values[e]);
    for (size_t e = 0; b->has_inclusive && e < b->options.event_count; e++) {
        fputc(separator, out);
        if (inclusive != NULL)
            fprintf(out, "%" PRId64, inclusive[e]);
    }
    fputc('\n', out);
}

/* Writes a row that has a name and no keys. */
static void
write_rest(const struct breakdown *b, const char *name, size_t field_count,
           const int64_t *values, char separator, FILE *out)
{
    report_csv_text(name, separator, out);
    for (size_t i = 1; i < field_count; i++)
        fputc(separator, out);
    write_values(b, values, NULL, separator, out);
}

int
breakdown_csv(const struct breakdown *b, char separator, FILE *out)
{
    enum breakdown_field fields[BREAKDOWN_FIELDS];
    const size_t count = breakdown_fields(b, fields);
    bool any = false;

    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%.1s", breakdown_field_name(fields[i]),
                i + 1 < count ? (char[]){separator, '\0'} : "");
    for (size_t e = 0; e < b->options.event_count; e++) {
        fputc(separator, out);
        report_csv_text(b->record->events[b->options.events[e]].asked,
                        separator, out);
        any |= b->elsewhere[e] != 0;
    }
    for (size_t e = 0; b->has_inclusive && e < b->options.event_count; e++) {
        char *name = NULL;
        if (asprintf(&name, "inclusive %s",
                     b->record->events[b->options.events[e]].asked) < 0)
            return TALLY_ENOMEM;
        fputc(separator, out);
        report_csv_text(name, separator, out);
        free(name);
    }
    fputc('\n', out);
    for (size_t r = 0; r < b->row_count; r++) {
        for (size_t i = 0; i < count; i++) {
            if (i > 0)
                fputc(separator, out);
            if (write_cell(b, &b->rows[r], fields[i], separator, out) != 0)
                return TALLY_ENOMEM;
        }
        write_values(b, b->rows[r].values, b->rows[r].inclusive, separator,
                     out);
    }
    if (b->more_count > 0) {
        char name[48];
        snprintf(name, sizeof(name), "(%zu more row%s)", b->more_count,
                 b->more_count == 1 ? "" : "s");
        write_rest(b, name, count, b->more, separator, out);
    }
    if (any)
        write_rest(b, "(elsewhere)", count, b->elsewhere, separator, out);
    return ferror(out) ? TALLY_EIO : 0;
}
