/* SPDX-License-Identifier: MIT */
/* The data of a sweep's page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_text.h"
#include "sweep/plot_page.h"
#include "sweep/sweep_report.h"

/* A value of the axis that the charts go along. */
struct tick {
    uint64_t number; /* or 0 */
    size_t place;    /* in the axis */
};

static int
compare_ticks(const void *a, const void *b)
{
    const struct tick *const x = a, *const y = b;

    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Fills in the values of an axis, ascending if all are numbers above 0. Returns
 * whether they are. */
static bool
order_ticks(const struct sweep_axis *a, struct tick *ticks)
{
    bool ordered = a->numbers != NULL && a->count > 1;

    for (size_t i = 0; ordered && i < a->count; i++)
        ordered = a->numbers[i] > 0;
    for (size_t i = 0; i < a->count; i++)
        ticks[i] = (struct tick){ordered ? a->numbers[i] : 0, i};
    qsort(ticks, a->count, sizeof(*ticks), compare_ticks);
    return ordered;
}

/* Returns the name of the line that begins at a point; NULL: no memory. */
static char *
line_name(const struct sweep *s, size_t point, size_t axis)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);
    const char *space = "";

    if (out == NULL)
        return NULL;
    for (size_t a = 0; a < s->axis_count; a++) {
        if (a == axis || s->axes[a].count == 1)
            continue;
        fprintf(out, "%s%s=%s", space, s->axes[a].key, sweep_word(s, point, a));
        space = " ";
    }
    if (*space == '\0')
        fputs("count", out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/* Returns the line that begins at a point. */
static json_t *
line_json(const struct sweep *s, size_t event, size_t first, size_t axis,
          const struct tick *ticks)
{
    const size_t stride = sweep_stride(s, axis);
    char *const name = line_name(s, first, axis);
    json_t *const line = json_object(), *const ys = json_array();

    for (size_t i = 0; i < s->axes[axis].count; i++) {
        const struct sweep_value *const v =
            &s->points[first + ticks[i].place * stride].values[event];
        /* Events of the host may have a count that is no whole number. */
        const bool whole = v->known && v->count == floor(v->count);
        json_array_append_new(ys, !v->known ? json_null()
                                  : whole
                                      ? report_json_number((uint64_t)v->count)
                                      : json_real(v->count));
    }
    report_json_set(line, "name", name != NULL ? report_json_line(name) : NULL);
    json_object_set_new(line, "ys", ys);
    free(name);
    return line;
}

/* Returns the chart of an event. */
static json_t *
chart_json(const struct sweep *s, size_t event, size_t axis,
           const struct tick *ticks, bool ordered)
{
    const struct sweep_axis *const a = &s->axes[axis];
    json_t *const xs = json_array(), *const labels = json_array();
    json_t *const lines = json_array(), *const chart = json_object();

    for (size_t i = 0; i < a->count; i++) {
        json_array_append_new(xs, ordered ? report_json_number(ticks[i].number)
                                          : json_integer((json_int_t)i));
        plot_page_say(labels, a->values[ticks[i].place]);
    }
    for (size_t i = 0; i < s->point_count; i++)
        if (sweep_place(s, i, axis) == 0)
            json_array_append_new(lines, line_json(s, event, i, axis, ticks));
    report_json_set(chart, "name", report_json_line(s->events[event]));
    json_object_set_new(chart, "xs", xs);
    json_object_set_new(chart, "labels", labels);
    json_object_set_new(chart, "ordered", json_boolean(ordered));
    json_object_set_new(chart, "own", json_null());
    json_object_set_new(chart, "units",
                        json_pack("[{s:s, s:i, s:s}]", "name", "counts",
                                  "factor", 1, "suffix", ""));
    json_object_set_new(chart, "lines", lines);
    return chart;
}

/* Adds why points have no counts, each reason once. */
static void
say_reasons(const struct sweep *s, json_t *notes)
{
    for (size_t i = 0; i < s->point_count; i++) {
        const char *const why = s->points[i].why;
        bool said = why == NULL;
        for (size_t k = 0; k < i && !said; k++)
            said =
                s->points[k].why != NULL && strcmp(s->points[k].why, why) == 0;
        if (!said)
            plot_page_say(notes, why);
    }
}

int
sweep_write_page(const struct sweep *s, FILE *out)
{
    const size_t axis = sweep_plot_axis(s);
    const struct sweep_axis *const a = &s->axes[axis];
    struct tick *const ticks = calloc(a->count + 1, sizeof(*ticks));
    json_t *const charts = json_array(), *const notes = json_array();
    json_t *const data = json_object(), *const x = json_object();

    if (ticks == NULL)
        return TALLY_ENOMEM;
    const bool ordered = order_ticks(a, ticks);
    for (size_t e = 0; e < s->event_count; e++)
        json_array_append_new(charts, chart_json(s, e, axis, ticks, ordered));
    free(ticks);
    say_reasons(s, notes);
    report_json_set(x, "name", report_json_line(a->key));
    json_object_set_new(x, "bytes", json_false());
    json_object_set_new(data, "title", json_string("tally sweep"));
    report_json_set(data, "about", report_json_line(s->program));
    json_object_set_new(data, "words", json_array());
    json_object_set_new(data, "notes", notes);
    json_object_set_new(data, "x", x);
    json_object_set_new(data, "charts", charts);
    return plot_page_write(data, out);
}
