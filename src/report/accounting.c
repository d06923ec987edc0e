/* SPDX-License-Identifier: MIT */
#include "report/accounting.h"

#include <math.h>
#include <string.h>

#include "report/csv.h"
#include "table/metric.h"

#define VALUE_WIDTH 20
#define NAME_WIDTH 42 /* with the indentation */
#define LINE_WIDTH 98

/* A line of the accounting, and its value. */
struct line {
    const struct account_row *row;
    double value; /* NAN: none */
    enum fidelity fidelity;
    bool each; /* in another unit than cycles: a number for each of something */
};

/* Evaluates line `i` of the machine's accounting. */
static struct line
line_of(const struct count_report *r, size_t i)
{
    const struct account_row *row = &r->machine->accounts[i];
    struct line line = {.row = row, .each = strcmp(row->value.unit, "cycles")};

    line.value = report_metric(r, &row->value, NULL, &line.fidelity);
    return line;
}

/* Returns the line's share of all cycles in per cent; NAN: none. */
static double
share_of(const struct count_report *r, const struct line *line)
{
    const struct line all = line_of(r, 0);

    return line->each || !(all.value > 0) ? (double)NAN
                                          : 100 * line->value / all.value;
}

/* Returns how many lines the line is a part of. */
static unsigned
depth_of(const struct count_report *r, const struct line *line)
{
    unsigned depth = 0;

    for (int up = line->row->parent; up >= 0;
         up = r->machine->accounts[up].parent)
        depth++;
    return depth;
}

/* Returns whether the line is a part that the machine's model lacks. */
static bool
is_idle_part(const struct line *line)
{
    return line->fidelity == FIDELITY_IDLE && line->row->parent >= 0;
}

static void
print_line(const struct count_report *r, const struct line *line, FILE *out)
{
    const double share = share_of(r, line);
    const int indent = 2 * (int)depth_of(r, line);
    char value[48] = "no value", percent[16] = "";

    if (line->each && !isnan(line->value))
        snprintf(value, sizeof(value), "%.2f", line->value);
    else if (!isnan(line->value))
        report_number(r, (uint64_t)llround(line->value), value);
    if (!isnan(share))
        snprintf(percent, sizeof(percent), "%6.2f %%", share);
    const char *what = line->row->value.formula;
    if (line->each)
        what = line->row->value.unit;
    fprintf(out, "%*s %9s  %*s%-*s %s\n", VALUE_WIDTH, value, percent, indent,
            "", NAME_WIDTH - indent, line->row->value.brief, what);
}

/* Prints the names of the idle parts of a line, below its other parts. */
static void
print_idle_parts(const struct count_report *r, size_t whole, FILE *out)
{
    const struct line line = line_of(r, whole);
    const int margin = VALUE_WIDTH + 12 + 2 * (int)depth_of(r, &line) + 2;
    int column = 0;

    for (size_t i = whole + 1; i < r->machine->account_count; i++) {
        const struct line part = line_of(r, i);
        const char *const name = part.row->value.brief;
        const int length = (int)strlen(name) + 2;
        if (part.row->parent != (int)whole || !is_idle_part(&part))
            continue;
        if (column == 0)
            column = fprintf(out, "%*sidle: %s", margin, "", name);
        else if (column + length > LINE_WIDTH)
            column = fprintf(out, ",\n%*s%s", margin + 6, "", name) - 2;
        else
            column += fprintf(out, ", %s", name);
    }
    if (column > 0)
        fputc('\n', out);
}

/* Prints the line, its parts, their parts, and so on. */
static void
print_tree(const struct count_report *r, size_t whole, FILE *out)
{
    const struct line line = line_of(r, whole);

    if (is_idle_part(&line))
        return;
    print_line(r, &line, out);
    for (size_t i = whole + 1; i < r->machine->account_count; i++)
        if (r->machine->accounts[i].parent == (int)whole)
            print_tree(r, i, out);
    print_idle_parts(r, whole, out);
}

void
report_accounting_text(const struct count_report *r, FILE *out)
{
    if (!r->accounting)
        return;
    if (r->count > r->hidden || r->metric_count > 0)
        fputc('\n', out);
    for (size_t i = 0; i < r->machine->account_count; i++) {
        if (r->machine->accounts[i].parent >= 0)
            continue;
        if (i > 0)
            fputc('\n', out);
        print_tree(r, i, out);
    }
}

/* Writes rows like those of events: value, unit, name, times, and the share as
 * the metric. */
void
report_accounting_csv(const struct count_report *r, char separator, FILE *out)
{
    char name[128];

    for (size_t i = 0; r->accounting && i < r->machine->account_count; i++) {
        const struct line line = line_of(r, i);
        const double share = share_of(r, &line);
        if (isnan(line.value))
            fprintf(out, "<no-value>");
        else
            fprintf(out, "%.12g", line.value);
        fprintf(out, "%c%s%c", separator, line.row->value.unit, separator);
        snprintf(name, sizeof(name), "accounting/%s", line.row->value.name);
        report_csv_text(name, separator, out);
        fprintf(out, "%c%c%c", separator, separator, separator);
        if (!isnan(share))
            fprintf(out, "%.6f%c%% of cycles", share, separator);
        else
            fputc(separator, out);
        fprintf(out, "%c%s%c", separator, fidelity_name(line.fidelity),
                separator);
        report_csv_text(name, separator, out);
        fputc('\n', out);
    }
}

static json_t *
line_json(const struct count_report *r, size_t i)
{
    const struct line line = line_of(r, i);
    const struct metric_row *const v = &line.row->value;
    const struct event_row *const event =
        v->steps->kind == FORMULA_EVENT ? metric_counted(r->machine, v->steps)
                                        : NULL;
    const double share = share_of(r, &line);
    const char *reason = NULL;

    for (size_t k = 0; k < r->count && line.fidelity == FIDELITY_IDLE; k++)
        if (r->values[k].event == event) {
            reason = r->values[k].reason;
            break;
        }
    json_t *o = json_pack("{ssss}", "name", v->name, "brief", v->brief);

    json_object_set_new(
        o, "of",
        line.row->parent < 0
            ? json_null()
            : json_string(r->machine->accounts[line.row->parent].value.name));
    json_object_set_new(o, "formula", json_string(v->formula));
    json_object_set_new(o, "value",
                        isnan(line.value) ? json_null()
                        : line.value == floor(line.value)
                            ? json_integer((json_int_t)line.value)
                            : json_real(line.value));
    json_object_set_new(o, "unit", json_string(v->unit));
    json_object_set_new(o, "percent",
                        isnan(share) ? json_null() : json_real(share));
    json_object_set_new(o, "fidelity",
                        json_string(fidelity_name(line.fidelity)));
    if (reason != NULL)
        json_object_set_new(o, "reason", json_string(reason));
    return o;
}

json_t *
report_accounting_json(const struct count_report *r)
{
    json_t *lines = json_array();

    for (size_t i = 0; i < r->machine->account_count; i++)
        json_array_append_new(lines, line_json(r, i));
    return json_pack("{so}", "lines", lines);
}
