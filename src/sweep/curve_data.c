/* SPDX-License-Identifier: MIT */
/* A curve of misses for scripts and spreadsheets, and as a picture. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/csv.h"
#include "report/json_text.h"
#include "sweep/curve_drawing.h"
#include "sweep/sweep_report.h"

/* Writes a row for a size: what all accesses miss, or those of a part. */
static void
write_csv_row(const struct curve_drawing *d, size_t point,
              const struct curve_part *part, FILE *out)
{
    const struct curve_point *const p = &d->points[point];
    const double misses = part != NULL ? part->misses[point] : p->misses;
    /* The interval of a sample is that of the whole curve. */
    const bool known = part == NULL || d->request.kind != CURVE_SAMPLED;

    fprintf(out, "%" PRIu64 ",", p->size);
    if (p->ways == 0)
        fputs("full,", out);
    else
        fprintf(out, "%" PRIu32 ",", p->ways);
    fprintf(out, "%" PRIu64 ",%.0f,", p->sets, misses);
    if (known)
        fprintf(out, "%.0f", part != NULL ? misses : p->low);
    fputc(',', out);
    if (known && p->high < HUGE_VAL)
        fprintf(out, "%.0f", part != NULL ? misses : p->high);
    fputc(',', out);
    if (d->accesses != 0)
        fprintf(out, "%.9g", misses / (double)d->accesses);
    fputc(',', out);
    if (d->instructions != 0)
        fprintf(out, "%.9g", misses * 1000 / (double)d->instructions);
    fputc(',', out);
    report_csv_text(curve_standing(d), ',', out);
    for (size_t k = 0; part != NULL && k < d->parts.key_count; k++) {
        fputc(',', out);
        report_csv_text(part->names[k], ',', out);
    }
    fputc('\n', out);
}

int
curve_write_csv(const struct curve_drawing *d, FILE *out)
{
    fprintf(out,
            "%s,ways,sets,misses,at least,at most,misses per access,misses per "
            "1000 instructions,standing",
            curve_levels[d->request.level].entries ? "entries" : "bytes");
    for (size_t k = 0; k < d->parts.key_count; k++)
        fprintf(out, ",%s", breakdown_key_name(d->parts.keys[k]));
    fputc('\n', out);
    for (size_t i = 0; d->parts.key_count == 0 && i < d->point_count; i++)
        write_csv_row(d, i, NULL, out);
    for (size_t k = 0; k < d->parts.count; k++)
        for (size_t i = 0; i < d->point_count; i++)
            write_csv_row(d, i, &d->parts.rows[k], out);
    return ferror(out) ? TALLY_EIO : 0;
}

static json_t *
json_of_point(const struct curve_point *p)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "size",
                     report_json_number(p->size), "ways",
                     p->ways == 0 ? json_null() : json_integer(p->ways), "sets",
                     report_json_number(p->sets), "misses",
                     report_json_number((uint64_t)p->misses), "at_least",
                     report_json_number((uint64_t)p->low), "at_most",
                     p->high < HUGE_VAL ? report_json_number((uint64_t)p->high)
                                        : json_null());
}

json_t *
curve_need_json(const struct curve_drawing *d, const struct curve_part *part,
                size_t first)
{
    const struct curve_need need = curve_part_need(d, part, first);

    return need.to != NULL ? report_json_number(need.to->size) : json_null();
}

static json_t *
json_of_part(const struct curve_drawing *d, const struct curve_part *part)
{
    json_t *const o = json_object(), *const names = json_object();
    json_t *const misses = json_array(), *const needs = json_array();

    for (size_t k = 0; k < d->parts.key_count; k++)
        report_json_set(names, breakdown_key_name(d->parts.keys[k]),
                        report_json_text(part->names[k]));
    for (size_t i = 0; i < d->point_count; i++) {
        json_array_append_new(misses,
                              report_json_number((uint64_t)part->misses[i]));
        if (i == 0 || d->points[i].ways != d->points[i - 1].ways)
            json_array_append_new(needs, curve_need_json(d, part, i));
    }
    json_object_set_new(o, "keys", names);
    if (part->kind != NULL)
        json_object_set_new(o, "kind", json_string(part->kind));
    json_object_set_new(o, "first_touches",
                        d->request.kind == CURVE_BY_SETS
                            ? json_null()
                            : report_json_number((uint64_t)part->first));
    json_object_set_new(o, "needs", needs);
    json_object_set_new(o, "misses", misses);
    return o;
}

/* Adds the parts, if some are asked for. */
static void
set_parts(json_t *o, const struct curve_drawing *d)
{
    json_t *const by = json_array(), *const parts = json_array();

    for (size_t k = 0; k < d->parts.key_count; k++)
        json_array_append_new(
            by, json_string(breakdown_key_name(d->parts.keys[k])));
    for (size_t i = 0; i < d->parts.count; i++)
        json_array_append_new(parts, json_of_part(d, &d->parts.rows[i]));
    if (d->parts.key_count == 0) {
        json_decref(by);
        json_decref(parts);
        return;
    }
    json_object_set_new(o, "by", by);
    json_object_set_new(o, "parts", parts);
    report_json_set(o, "heap_reason",
                    d->heap_reason != NULL ? report_json_text(d->heap_reason)
                                           : json_null());
}

int
curve_write_json(const struct curve_drawing *d, FILE *out)
{
    const struct curve_level_row *const level = &curve_levels[d->request.level];
    json_t *const o = json_object(), *const points = json_array();
    json_t *const notes = json_array();

    for (size_t i = 0; i < d->point_count; i++)
        json_array_append_new(points, json_of_point(&d->points[i]));
    for (const char *const *n = d->notes; n != NULL && *n != NULL; n++)
        json_array_append_new(notes, report_json_line(*n));
    json_object_set_new(o, "schema", json_integer(1));
    report_json_set(o, "program", report_json_text(d->program));
    report_json_set(o, "machine", report_json_text(d->machine));
    json_object_set_new(o, "level", json_string(level->name));
    json_object_set_new(o, "unit",
                        json_string(level->entries ? "entries" : "bytes"));
    json_object_set_new(o, level->line, report_json_number(d->line));
    json_object_set_new(o, "sample",
                        d->request.kind == CURVE_SAMPLED
                            ? json_integer(d->request.sample)
                            : json_null());
    json_object_set_new(o, "standing", json_string(curve_standing(d)));
    json_object_set_new(o, "varies", json_boolean(d->varies));
    if (d->trace != TRACE_PART_NONE)
        json_object_set_new(o, "trace", json_string(trace_part_name(d->trace)));
    json_object_set_new(o, "instructions",
                        d->instructions != 0
                            ? report_json_number(d->instructions)
                            : json_null());
    json_object_set_new(o, "accesses",
                        d->accesses != 0 ? report_json_number(d->accesses)
                                         : json_null());
    json_object_set_new(o, "first_touches",
                        d->request.kind == CURVE_BY_SETS
                            ? json_null()
                            : report_json_number((uint64_t)d->first));
    json_object_set_new(o, "lost", report_json_number(d->lost));
    report_json_set(o, "left_out",
                    d->left_out != NULL ? report_json_text(d->left_out)
                                        : json_null());
    json_object_set_new(o, "points", points);
    set_parts(o, d);
    json_object_set_new(o, "notes", notes);
    const int failed = json_dumpf(o, out, JSON_INDENT(2));
    json_decref(o);
    fputc('\n', out);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}

/* The picture is that of a sweep: its first axis are the sizes, its second the
 * ways, or of a sample the estimate and its interval. */

static const char *const of_sample[] = {"estimated", "at least", "at most"};

/* With parts the second axis are the whole, and those parts that miss most. */
#define PARTS_DRAWN 12u
#define PART_NAME 48 /* bytes of a name at most */

static size_t
parts_drawn(const struct curve_drawing *d)
{
    return d->parts.count < PARTS_DRAWN ? d->parts.count : PARTS_DRAWN;
}

/* Returns where a value is in an axis, or `count`. */
static size_t
find_value(const uint64_t *numbers, size_t count, uint64_t value)
{
    size_t at = 0;

    while (at < count && numbers[at] != value)
        at++;
    return at;
}

static bool
add_value(struct sweep_axis *a, uint64_t number, char *text)
{
    char **const values =
        reallocarray(a->values, a->count + 1, sizeof(*a->values));
    if (values != NULL)
        a->values = values;
    uint64_t *const numbers =
        values != NULL
            ? reallocarray(a->numbers, a->count + 1, sizeof(*a->numbers))
            : NULL;
    if (numbers != NULL)
        a->numbers = numbers;
    if (numbers == NULL || text == NULL) {
        free(text);
        return false;
    }
    a->values[a->count] = text;
    a->numbers[a->count++] = number;
    return true;
}

/* Writes a size as its parameter has it. The caller frees the text. */
static char *
size_word(const struct curve_drawing *d, uint64_t size)
{
    static const char *const units[] = {"", "K", "M", "G"};
    unsigned unit = 0;
    char *text = NULL;

    while (!curve_levels[d->request.level].entries && size % 1024 == 0 &&
           size != 0 && unit < 3) {
        size /= 1024;
        unit++;
    }
    return asprintf(&text, "%" PRIu64 "%s", size, units[unit]) < 0 ? NULL
                                                                   : text;
}

static int
compare_numbers(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Makes the axis of sizes, ascending. */
static bool
make_sizes(const struct curve_drawing *d, struct sweep_axis *a)
{
    uint64_t sizes[CURVE_POINTS_MOST];
    size_t count = 0;
    bool made = true;

    for (size_t i = 0; i < d->point_count; i++)
        if (find_value(sizes, count, d->points[i].size) == count)
            sizes[count++] = d->points[i].size;
    qsort(sizes, count, sizeof(*sizes), compare_numbers);
    a->key = strdup(curve_levels[d->request.level].key);
    for (size_t i = 0; made && i < count; i++)
        made = add_value(a, sizes[i], size_word(d, sizes[i]));
    return made && a->key != NULL;
}

/* Makes the axis of the parts. */
static bool
make_parts(const struct curve_drawing *d, struct sweep_axis *a)
{
    bool made = true;

    a->key = strdup(breakdown_key_name(d->parts.keys[0]));
    made = add_value(a, 0, strdup("(all)"));
    for (size_t i = 0; made && i < parts_drawn(d); i++) {
        char *const name = curve_part_name(&d->parts, &d->parts.rows[i]);
        if (name != NULL && strlen(name) >= PART_NAME)
            strcpy(name + PART_NAME - 4, "...");
        made = add_value(a, i + 1, name);
    }
    return made;
}

/* Makes the axis of ways, or that of the sample. */
static bool
make_ways(const struct curve_drawing *d, struct sweep_axis *a)
{
    const bool sampled = d->request.kind == CURVE_SAMPLED;
    bool made = true;

    a->key = strdup(sampled ? "misses" : "ways");
    for (unsigned i = 0; sampled && made && i < 3; i++)
        made = add_value(a, i, strdup(of_sample[i]));
    for (size_t i = 0; !sampled && made && i < d->point_count; i++) {
        char *text = NULL;
        const uint64_t ways = d->points[i].ways;
        if (find_value(a->numbers, a->count, ways) != a->count)
            continue;
        if ((ways == 0 ? asprintf(&text, "full")
                       : asprintf(&text, "%" PRIu64, ways)) < 0)
            text = NULL;
        made = add_value(a, ways, text);
    }
    return made;
}

/* Makes the axis that has a line for each value. */
static bool
make_second(const struct curve_drawing *d, struct sweep_axis *a)
{
    const bool made =
        d->parts.key_count != 0 ? make_parts(d, a) : make_ways(d, a);

    if (made && a->key != NULL) {
        /* The plot goes along the sizes. */
        free(a->numbers);
        a->numbers = NULL;
    }
    return made && a->key != NULL;
}

/* Sets the values of the whole and the parts, of the points of the ways that
 * the parts are told of. */
static void
set_parts_values(const struct curve_drawing *d, struct sweep *s)
{
    const struct sweep_axis *const sizes = &s->axes[0];
    const size_t first = curve_first_told(d), lines = s->axes[1].count;

    for (size_t i = first; i < curve_series_end(d, first); i++) {
        const size_t at =
            find_value(sizes->numbers, sizes->count, d->points[i].size);
        for (size_t k = 0; k < lines; k++)
            s->points[at * lines + k].values[0] = (struct sweep_value){
                .known = true,
                .count = k == 0 ? d->points[i].misses
                                : d->parts.rows[k - 1].misses[i],
                .standing = curve_standing(d)};
    }
}

/* Sets the values of the sweep's points. */
static void
set_values(const struct curve_drawing *d, struct sweep *s)
{
    const struct sweep_axis *const sizes = &s->axes[0], *const other =
                                                            &s->axes[1];
    const bool sampled = d->request.kind == CURVE_SAMPLED;
    size_t way = 0;

    for (size_t i = 0; i < d->point_count; i++) {
        const struct curve_point *const p = &d->points[i];
        const double all[] = {p->misses, p->low, p->high};
        const size_t at = find_value(sizes->numbers, sizes->count, p->size);
        way += !sampled && i > 0 && p->ways != d->points[i - 1].ways;
        for (size_t k = 0; k < (sampled ? 3u : 1u); k++)
            s->points[at * other->count + (sampled ? k : way)].values[0] =
                (struct sweep_value){.known = all[k] < HUGE_VAL,
                                     .count = all[k],
                                     .standing = curve_standing(d)};
    }
}

int
curve_write_svg(const struct curve_drawing *d, FILE *out)
{
    struct sweep s = {.program = d->program, .axis_count = 2};
    const char *event = NULL;
    char *title = NULL;
    int error = TALLY_ENOMEM;

    s.axes = calloc(s.axis_count, sizeof(*s.axes));
    if (asprintf(&title, "misses of the %s of %s",
                 curve_levels[d->request.level].title, d->machine) < 0)
        title = NULL;
    event = title;
    if (s.axes == NULL)
        s.axis_count = 0;
    if (s.axes != NULL && title != NULL && make_sizes(d, &s.axes[0]) &&
        make_second(d, &s.axes[1]))
        error = sweep_make_points(&s, &event, 1, NULL);
    if (error == 0) {
        if (d->parts.key_count != 0)
            set_parts_values(d, &s);
        else
            set_values(d, &s);
        error = sweep_write_svg(&s, out);
    }
    sweep_finish(&s);
    free(title);
    return error;
}
