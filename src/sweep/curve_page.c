/* SPDX-License-Identifier: MIT */
/* The data of a curve's page. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_text.h"
#include "sweep/plot_page.h"

/* Points that a chart has: those of one number of ways. */
struct span {
    size_t first, end;
};

static struct span
span_of(const struct curve_drawing *d, size_t first)
{
    return (struct span){first, curve_series_end(d, first)};
}

static json_t *
count_json(double count)
{
    return count < HUGE_VAL ? report_json_number((uint64_t)count) : json_null();
}

/* Returns the line of what all accesses miss. */
static json_t *
whole_json(const struct curve_drawing *d, struct span span, const char *name)
{
    json_t *const ys = json_array();
    json_t *const lows = json_array(), *const highs = json_array();
    double misses[CURVE_POINTS_MOST];
    const struct curve_part all = {.misses = misses};

    for (size_t i = 0; i < d->point_count; i++)
        misses[i] = d->points[i].misses;
    for (size_t i = span.first; i < span.end; i++) {
        json_array_append_new(ys, count_json(d->points[i].misses));
        json_array_append_new(lows, count_json(d->points[i].low));
        json_array_append_new(highs, count_json(d->points[i].high));
    }
    json_t *const line =
        json_pack("{s:s, s:o, s:o}", "name", name, "ys", ys, "needs",
                  curve_need_json(d, &all, span.first));
    if (d->request.kind == CURVE_SAMPLED) {
        json_object_set_new(line, "lows", lows);
        json_object_set_new(line, "highs", highs);
    } else {
        json_decref(lows);
        json_decref(highs);
    }
    if (d->request.kind != CURVE_BY_SETS)
        json_object_set_new(line, "first", count_json(d->first));
    return line;
}

/* Returns the line of a part; NULL: no memory. */
static json_t *
part_json(const struct curve_drawing *d, const struct curve_part *part,
          struct span span)
{
    char *const name = curve_part_name(&d->parts, part);
    json_t *const ys = json_array();

    for (size_t i = span.first; i < span.end; i++)
        json_array_append_new(ys, count_json(part->misses[i]));
    json_t *const line = json_pack("{s:o, s:o}", "ys", ys, "needs",
                                   curve_need_json(d, part, span.first));
    report_json_set(line, "name", name != NULL ? report_json_line(name) : NULL);
    if (part->kind != NULL)
        json_object_set_new(line, "kind", json_string(part->kind));
    if (d->request.kind != CURVE_BY_SETS)
        json_object_set_new(line, "first", count_json(part->first));
    free(name);
    return line;
}

/* Returns what misses are shown in: counts, or parts of the accesses, or for
 * 1,000 instructions. */
static json_t *
units_json(const struct curve_drawing *d)
{
    json_t *const units = json_array();
    const char *const stream = curve_levels[d->request.level].stream;
    char name[80];

    json_array_append_new(units, json_pack("{s:s, s:i, s:s}", "name", "misses",
                                           "factor", 1, "suffix", ""));
    if (d->accesses != 0) {
        snprintf(name, sizeof(name), "%% of %s", stream);
        json_array_append_new(
            units, json_pack("{s:s, s:f, s:s}", "name", name, "factor",
                             100 / (double)d->accesses, "suffix", " %"));
    }
    if (d->instructions != 0)
        json_array_append_new(
            units,
            json_pack("{s:s, s:f, s:s}", "name", "for 1,000 instructions",
                      "factor", 1000 / (double)d->instructions, "suffix", ""));
    return units;
}

/* Returns a chart over sizes, without lines. */
static json_t *
chart_json(const struct curve_drawing *d, const uint64_t *sizes, size_t count,
           uint32_t ways, const char *name)
{
    json_t *const xs = json_array(), *const labels = json_array();
    const bool own = ways == 0 || ways == d->own_ways;
    char text[CURVE_SIZE_TEXT];

    for (size_t i = 0; i < count; i++) {
        json_array_append_new(xs, report_json_number(sizes[i]));
        json_array_append_new(labels,
                              json_string(curve_size_text(d, sizes[i], text)));
    }
    return json_pack("{s:s, s:o, s:o, s:b, s:o, s:o, s:[]}", "name", name, "xs",
                     xs, "labels", labels, "ordered", 1, "own",
                     own ? report_json_number(d->own_size) : json_null(),
                     "units", units_json(d), "lines");
}

/* Returns the chart of a number of ways, with the parts. */
static json_t *
parts_chart(const struct curve_drawing *d, struct span span)
{
    const uint32_t ways = d->points[span.first].ways;
    uint64_t sizes[CURVE_POINTS_MOST];
    char name[32] = "misses";

    for (size_t i = span.first; i < span.end; i++)
        sizes[i - span.first] = d->points[i].size;
    if (ways != 0)
        snprintf(name, sizeof(name), "misses of %" PRIu32 " way%s", ways,
                 ways == 1 ? "" : "s");
    json_t *const chart =
        chart_json(d, sizes, span.end - span.first, ways, name);
    json_t *const lines = json_object_get(chart, "lines");
    json_t *const whole = whole_json(d, span, "all");
    json_object_set_new(whole, "whole", json_true());
    json_array_append_new(lines, whole);
    for (size_t i = 0; i < d->parts.count; i++)
        json_array_append_new(lines, part_json(d, &d->parts.rows[i], span));
    return chart;
}

static int
compare_sizes(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Puts null into a line where the chart has sizes that the line has not. */
static void
spread(const struct curve_drawing *d, struct span span, const uint64_t *sizes,
       size_t count, json_t *line)
{
    json_t *const ys = json_array();

    for (size_t i = 0; i < count; i++) {
        size_t at = span.first;
        while (at < span.end && d->points[at].size != sizes[i])
            at++;
        json_array_append_new(
            ys, at < span.end ? count_json(d->points[at].misses) : json_null());
    }
    json_object_set_new(line, "ys", ys);
}

/* Returns the chart of all numbers of ways, a line each. */
static json_t *
ways_chart(const struct curve_drawing *d)
{
    uint64_t sizes[CURVE_POINTS_MOST];
    size_t count = 0, kept = 0;
    char name[32];

    for (size_t i = 0; i < d->point_count; i++)
        sizes[count++] = d->points[i].size;
    qsort(sizes, count, sizeof(*sizes), compare_sizes);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || sizes[i] != sizes[i - 1])
            sizes[kept++] = sizes[i];
    json_t *const chart = chart_json(d, sizes, kept, 0, "misses");
    json_t *const lines = json_object_get(chart, "lines");
    for (size_t i = 0; i < d->point_count;) {
        const struct span span = span_of(d, i);
        snprintf(name, sizeof(name), "%" PRIu32 " way%s", d->points[i].ways,
                 d->points[i].ways == 1 ? "" : "s");
        json_t *const line = whole_json(d, span, name);
        spread(d, span, sizes, kept, line);
        json_array_append_new(lines, line);
        i = span.end;
    }
    return chart;
}

/* Adds the lines of a text, without the blanks that they begin with. */
static void
say_lines(json_t *array, char *text)
{
    char *rest = text;

    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        line += strspn(line, " ");
        if (*line != '\0')
            plot_page_say(array, line);
    }
}

/* Adds what `write` writes of the curve. Returns 0 or TALLY_ENOMEM. */
static int
say(const struct curve_drawing *d, json_t *array,
    int (*write)(const struct curve_drawing *, FILE *))
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return TALLY_ENOMEM;
    const int error = write(d, out);
    if (fclose(out) != 0 || error != 0) {
        free(text);
        return TALLY_ENOMEM;
    }
    say_lines(array, text);
    free(text);
    return 0;
}

int
curve_write_page(const struct curve_drawing *d, FILE *out)
{
    const struct curve_level_row *const level = &curve_levels[d->request.level];
    const bool ways = d->request.kind == CURVE_BY_SETS;
    json_t *const charts = json_array(), *const about = json_array();
    json_t *const words = json_array(), *const notes = json_array();
    char title[160];

    snprintf(title, sizeof(title), "misses of the %s of %s by its size",
             level->title, d->machine);
    int error = say(d, about, curve_write_head);
    if (error == 0)
        error = say(d, words, curve_write_words);
    if (error == 0)
        error = say(d, notes, curve_write_notes);
    if (error == 0 && ways && d->parts.key_count == 0) {
        json_array_append_new(charts, ways_chart(d));
    } else {
        for (size_t i = 0; error == 0 && i < d->point_count;
             i = span_of(d, i).end)
            json_array_append_new(charts, parts_chart(d, span_of(d, i)));
    }
    json_t *const data =
        json_pack("{s:s, s:O, s:o, s:o, s:{s:s, s:b}, s:o}", "title", title,
                  "about", json_array_get(about, 0), "words", words, "notes",
                  notes, "x", "name", level->entries ? "entries" : "size",
                  "bytes", !level->entries, "charts", charts);
    json_decref(about);
    if (error == 0)
        return plot_page_write(data, out);
    json_decref(data);
    return error;
}
