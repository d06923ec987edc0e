/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "report/count_report.h"
#include "report/csv.h"
#include "report/json_text.h"
#include "sweep/sweep_report.h"

#define NUMBER 32 /* bytes of a grouped number */

/* Returns whether the axis has several values: a column of its own. */
static bool
is_shown(const struct sweep *s, size_t axis)
{
    return s->axes[axis].count > 1 || s->axis_count == 1;
}

/* Writes the values of a point that differ between points. */
static void
write_place(const struct sweep *s, size_t point, FILE *out)
{
    const char *space = "";

    for (size_t a = 0; a < s->axis_count; a++) {
        if (is_shown(s, a)) {
            escape_printf(out, "%s%s=%s", space, s->axes[a].key,
                          sweep_word(s, point, a));
            space = " ";
        }
    }
}

/* Writes a count into `text`, NUMBER bytes. */
static void
write_count(const struct sweep_value *v, char *text)
{
    if (v->idle)
        strcpy(text, "idle");
    else if (!v->known)
        strcpy(text, "-");
    else if (v->count == floor(v->count))
        format_grouped((uint64_t)v->count, text);
    else
        snprintf(text, NUMBER, "%.2f", v->count);
}

/* Writes the standings of the event's counts, each once. */
static void
write_standings(const struct sweep *s, size_t event, FILE *out)
{
    const char *between = "";

    for (size_t i = 0; i < s->point_count; i++) {
        const struct sweep_value *const v = &s->points[i].values[event];
        bool first = v->known;
        for (size_t k = 0; first && k < i; k++) {
            const struct sweep_value *const other = &s->points[k].values[event];
            first = !other->known || strcmp(other->standing, v->standing) != 0;
        }
        if (first) {
            fprintf(out, "%s%s", between, v->standing);
            between = ", ";
        }
    }
}

/* Says in how many runs the event is idle, and in the first why. */
static void
write_idle(const struct sweep *s, size_t event, FILE *out)
{
    const char *reason = NULL;
    size_t idle = 0, runs = 0;

    for (size_t i = 0; i < s->point_count; i++) {
        const struct sweep_value *const v = &s->points[i].values[event];
        runs += s->points[i].why == NULL;
        idle += v->idle;
        if (reason == NULL && v->idle)
            reason = v->reason;
    }
    if (idle == 0)
        return;
    fputs("    idle in ", out);
    if (idle == runs)
        fputs("all runs", out);
    else
        fprintf(out, "%zu of %zu runs", idle, runs);
    escape_printf(out, "%s%s\n", reason != NULL ? ": " : "",
                  reason != NULL ? reason : "");
}

/* Writes where the event is least and most. */
static void
write_ends(const struct sweep *s, size_t event, FILE *out)
{
    size_t least = s->point_count, most = s->point_count;
    char number[NUMBER];

    for (size_t i = 0; i < s->point_count; i++) {
        const struct sweep_value *const v = &s->points[i].values[event];
        if (!v->known)
            continue;
        if (least == s->point_count ||
            v->count < s->points[least].values[event].count)
            least = i;
        if (most == s->point_count ||
            v->count > s->points[most].values[event].count)
            most = i;
    }
    if (least == s->point_count) {
        escape_printf(out, "  %s: no count\n", s->events[event]);
        write_idle(s, event, out);
        return;
    }
    const struct sweep_value *const a = &s->points[least].values[event];
    const struct sweep_value *const b = &s->points[most].values[event];
    write_count(a, number);
    escape_printf(out, "  %s (", s->events[event]);
    write_standings(s, event, out);
    if (a->count == b->count) {
        fprintf(out, "): %s in each run\n", number);
    } else {
        fprintf(out, "): %s with ", number);
        write_place(s, least, out);
        write_count(b, number);
        fprintf(out, ", to %s with ", number);
        write_place(s, most, out);
        fputc('\n', out);
    }
    write_idle(s, event, out);
}

/* Writes how many points there are, and of how many there is no count. */
static void
write_head(const struct sweep *s, FILE *out)
{
    size_t cannot = 0, failed = 0;

    for (size_t i = 0; i < s->point_count; i++) {
        cannot += s->points[i].cannot;
        failed += !s->points[i].cannot && s->points[i].why != NULL;
    }
    const size_t runs = s->point_count - cannot;
    escape_printf(out, "%s: %zu run%s", s->program, runs, runs == 1 ? "" : "s");
    for (size_t a = 0; a < s->axis_count; a++)
        if (!is_shown(s, a))
            escape_printf(out, ", %s=%s", s->axes[a].key, s->axes[a].values[0]);
    if (cannot > 0)
        fprintf(out, "; the machine cannot be set to %zu more", cannot);
    if (failed > 0)
        fprintf(out, "; %zu failed", failed);
    fputs("\n\n", out);
}

/* Writes what is wrong with points, each reason once with the number of points.
 */
static void
write_reasons(const struct sweep *s, FILE *out)
{
    bool any = false;

    for (size_t i = 0; i < s->point_count; i++) {
        const char *const why = s->points[i].why;
        size_t first = 0, count = 0;
        while (why != NULL && (s->points[first].why == NULL ||
                               strcmp(s->points[first].why, why) != 0))
            first++;
        if (why == NULL || first != i)
            continue;
        for (size_t k = i; k < s->point_count; k++)
            count +=
                s->points[k].why != NULL && strcmp(s->points[k].why, why) == 0;
        fputs(any ? "  " : "\n  ", out);
        any = true;
        write_place(s, i, out);
        if (count > 1)
            fprintf(out, " and %zu more", count - 1);
        escape_printf(out, ": %s\n", why);
    }
}

/* Says with which statuses the program ended, where not always with 0. */
static void
write_statuses(const struct sweep *s, FILE *out)
{
    size_t count = 0, first = 0;

    for (size_t i = s->point_count; i-- > 0;) {
        if (s->points[i].status != 0) {
            first = i;
            count++;
        }
    }
    if (count == 0)
        return;
    fprintf(out,
            "\n  the program ended with another status than 0 in %zu run%s, as "
            "with ",
            count, count == 1 ? "" : "s");
    write_place(s, first, out);
    fprintf(out, " (%d)\n", s->points[first].status);
}

static size_t
wider(size_t width, size_t other)
{
    return width > other ? width : other;
}

static void
write_table(const struct sweep *s, FILE *out)
{
    int *const widths = calloc(s->axis_count + s->event_count, sizeof(int));
    char number[NUMBER];

    if (widths == NULL)
        return;
    for (size_t a = 0; a < s->axis_count; a++) {
        size_t width = strlen(s->axes[a].key);
        for (size_t k = 0; k < s->axes[a].count; k++)
            width = wider(width, strlen(s->axes[a].values[k]));
        widths[a] = (int)width;
    }
    for (size_t e = 0; e < s->event_count; e++) {
        size_t width = strlen(s->events[e]);
        for (size_t i = 0; i < s->point_count; i++) {
            write_count(&s->points[i].values[e], number);
            width = wider(width, strlen(number));
        }
        widths[s->axis_count + e] = (int)width;
    }
    size_t counted = 0;
    for (size_t i = 0; i < s->point_count; i++)
        counted += s->points[i].why == NULL;
    if (counted == 0) {
        free(widths);
        return;
    }
    fputs("\n", out);
    for (size_t a = 0; a < s->axis_count; a++)
        if (is_shown(s, a))
            escape_printf(out, "  %-*s", widths[a], s->axes[a].key);
    for (size_t e = 0; e < s->event_count; e++)
        escape_printf(out, "  %*s", widths[s->axis_count + e], s->events[e]);
    fputc('\n', out);
    for (size_t i = 0; i < s->point_count; i++) {
        if (s->points[i].why != NULL)
            continue;
        for (size_t a = 0; a < s->axis_count; a++)
            if (is_shown(s, a))
                escape_printf(out, "  %-*s", widths[a], sweep_word(s, i, a));
        for (size_t e = 0; e < s->event_count; e++) {
            write_count(&s->points[i].values[e], number);
            fprintf(out, "  %*s", widths[s->axis_count + e], number);
        }
        fputc('\n', out);
    }
    free(widths);
}

int
sweep_write_text(const struct sweep *s, FILE *out)
{
    write_head(s, out);
    for (size_t e = 0; e < s->event_count; e++)
        write_ends(s, e, out);
    write_table(s, out);
    write_reasons(s, out);
    write_statuses(s, out);
    return ferror(out) ? TALLY_EIO : 0;
}

int
sweep_write_csv(const struct sweep *s, FILE *out)
{
    for (size_t a = 0; a < s->axis_count; a++) {
        report_csv_text(s->axes[a].key, ',', out);
        fputc(',', out);
    }
    for (size_t e = 0; e < s->event_count; e++) {
        report_csv_text(s->events[e], ',', out);
        fputs(",standing,", out);
    }
    fputs("status,why not\n", out);
    for (size_t i = 0; i < s->point_count; i++) {
        const struct sweep_point *const p = &s->points[i];
        for (size_t a = 0; a < s->axis_count; a++) {
            report_csv_text(sweep_word(s, i, a), ',', out);
            fputc(',', out);
        }
        for (size_t e = 0; e < s->event_count; e++) {
            if (p->values[e].known)
                fprintf(out, "%.16g", p->values[e].count);
            fputc(',', out);
            report_csv_text(p->values[e].standing, ',', out);
            fputc(',', out);
        }
        if (p->why == NULL)
            fprintf(out, "%d", p->status);
        fputc(',', out);
        report_csv_text(p->why != NULL ? p->why : "", ',', out);
        fputc('\n', out);
    }
    return ferror(out) ? TALLY_EIO : 0;
}

static json_t *
json_of_point(const struct sweep *s, size_t point)
{
    const struct sweep_point *const p = &s->points[point];
    json_t *const o = json_object(), *const set = json_object();
    json_t *const events = json_array();

    for (size_t a = 0; a < s->axis_count; a++)
        report_json_set(set, s->axes[a].key,
                        report_json_text(sweep_word(s, point, a)));
    for (size_t e = 0; p->why == NULL && e < s->event_count; e++) {
        const struct sweep_value *const v = &p->values[e];
        json_t *const row = json_object();
        report_json_set(row, "name", report_json_text(s->events[e]));
        json_object_set_new(row, "value",
                            !v->known ? json_null()
                            : v->count == floor(v->count)
                                ? report_json_number((uint64_t)v->count)
                                : json_real(v->count));
        if (v->idle && v->reason != NULL)
            report_json_set(row, "reason", report_json_text(v->reason));
        report_json_set(row, "standing", report_json_text(v->standing));
        json_array_append_new(events, row);
    }
    json_object_set_new(o, "set", set);
    json_object_set_new(o, "possible", json_boolean(!p->cannot));
    json_object_set_new(
        o, "reason", p->why != NULL ? report_json_text(p->why) : json_null());
    json_object_set_new(o, "exit",
                        p->why != NULL ? json_null() : json_integer(p->status));
    json_object_set_new(o, "events", events);
    return o;
}

int
sweep_write_json(const struct sweep *s, FILE *out)
{
    json_t *const o = json_object(), *const axes = json_array();
    json_t *const points = json_array();

    for (size_t a = 0; a < s->axis_count; a++) {
        json_t *const axis = json_object(), *const values = json_array();
        for (size_t k = 0; k < s->axes[a].count; k++)
            json_array_append_new(values,
                                  report_json_text(s->axes[a].values[k]));
        report_json_set(axis, "key", report_json_text(s->axes[a].key));
        json_object_set_new(axis, "values", values);
        json_array_append_new(axes, axis);
    }
    for (size_t i = 0; i < s->point_count; i++)
        json_array_append_new(points, json_of_point(s, i));
    json_object_set_new(o, "schema", json_integer(1));
    report_json_set(o, "program", report_json_text(s->program));
    json_object_set_new(o, "axes", axes);
    json_object_set_new(o, "points", points);
    const int failed = json_dumpf(o, out, JSON_INDENT(2));
    json_decref(o);
    fputc('\n', out);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}
