/* SPDX-License-Identifier: MIT */
/* The plot of a sweep. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/svg.h"
#include "sweep/sweep_report.h"

/* Of one plot, in units of the picture. */
#define HEIGHT 300.0
#define TOP 40.0
#define BOTTOM 44.0

/* Values of an axis that all have labels, where there is room. */
#define LABELS_MOST 24

/* Lines that the legend names. */
#define LEGEND_MOST 13

struct plot {
    const struct sweep *s;
    size_t x_axis;
    bool by_number; /* the axis is of numbers, by their logarithms unless the
                       least is 0 */
    bool logarithmic;
    size_t event;
    double most; /* the upper end of the counts */
    double top;  /* of this plot in the picture */
    FILE *out;
};

/* Returns whether the axis is one of several numbers. */
static bool
is_numeric(const struct sweep_axis *axis)
{
    return axis->count > 1 && axis->numbers != NULL;
}

size_t
sweep_plot_axis(const struct sweep *s)
{
    size_t found = 0;

    for (size_t a = 1; a < s->axis_count; a++) {
        const struct sweep_axis *const best = &s->axes[found];
        const struct sweep_axis *const axis = &s->axes[a];
        const int rank = is_numeric(axis) - is_numeric(best);
        if (rank > 0 || (rank == 0 && axis->count > best->count))
            found = a;
    }
    return found;
}

/* Returns where a value of the axis lies, from 0 to 1. */
static double
place_of(const struct plot *p, size_t value)
{
    const struct sweep_axis *const a = &p->s->axes[p->x_axis];

    if (a->count == 1)
        return 0.5;
    if (!p->by_number)
        return (double)value / (double)(a->count - 1);
    uint64_t least = a->numbers[0], most = a->numbers[0];
    for (size_t i = 1; i < a->count; i++) {
        least = a->numbers[i] < least ? a->numbers[i] : least;
        most = a->numbers[i] > most ? a->numbers[i] : most;
    }
    if (p->logarithmic)
        return log((double)a->numbers[value] / (double)least) /
               log((double)most / (double)least);
    return (double)(a->numbers[value] - least) / (double)(most - least);
}

static double
x_of(const struct plot *p, size_t value)
{
    return SVG_LEFT + (SVG_RIGHT - SVG_LEFT) * place_of(p, value);
}

static double
y_of(const struct plot *p, double count)
{
    return p->top + TOP + (HEIGHT - TOP - BOTTOM) * (1 - count / p->most);
}

static void
write_frame(const struct plot *p)
{
    const struct sweep_axis *const a = &p->s->axes[p->x_axis];
    const double step = p->most / SVG_TICKS;
    double last = -1e9;

    fprintf(p->out, "<text class=\"title\" x=\"%g\" y=\"%g\">", SVG_LEFT,
            p->top + 24);
    svg_text(p->s->events[p->event], p->out);
    fputs("</text>\n", p->out);
    for (int i = 0; i <= SVG_TICKS; i++) {
        const double y = y_of(p, step * i);
        fprintf(p->out,
                "<path class=\"grid\" d=\"M%g %.1fH%g\"/>"
                "<text class=\"end\" x=\"%g\" y=\"%.1f\">",
                SVG_LEFT, y, SVG_RIGHT, SVG_LEFT - 8, y + 4);
        svg_number(step * i, p->out);
        fputs("</text>\n", p->out);
    }
    for (size_t i = 0; i < a->count; i++) {
        const double x = x_of(p, i);
        /* Of many numbers the powers of two have labels. */
        if (p->by_number && a->count > LABELS_MOST &&
            (a->numbers[i] & (a->numbers[i] - 1)) != 0)
            continue;
        /* Labels that would touch are left out. */
        if (fabs(x - last) < 9.0 * (double)(strlen(a->values[i]) + 1))
            continue;
        last = x;
        fprintf(p->out, "<text class=\"middle\" x=\"%.1f\" y=\"%g\">", x,
                p->top + HEIGHT - BOTTOM + 18);
        svg_text(a->values[i], p->out);
        fputs("</text>\n", p->out);
    }
    fprintf(p->out, "<text class=\"middle\" x=\"%g\" y=\"%g\">",
            SVG_LEFT + (SVG_RIGHT - SVG_LEFT) / 2,
            p->top + HEIGHT - BOTTOM + 36);
    svg_text(a->key, p->out);
    fputs("</text>\n", p->out);
}

size_t
sweep_stride(const struct sweep *s, size_t axis)
{
    size_t stride = 1;

    for (size_t a = axis + 1; a < s->axis_count; a++)
        stride *= s->axes[a].count;
    return stride;
}

/* Writes what the other axes have at a point: the name of a line. */
static void
write_label(const struct plot *p, size_t point)
{
    const char *space = "";

    for (size_t a = 0; a < p->s->axis_count; a++) {
        if (a == p->x_axis || p->s->axes[a].count == 1)
            continue;
        fputs(space, p->out);
        svg_text(p->s->axes[a].key, p->out);
        fputc('=', p->out);
        svg_text(sweep_word(p->s, point, a), p->out);
        space = " ";
    }
}

/* Writes the line of the points that begin at `first`, number `line`. Returns
 * whether there is any count. */
static bool
write_line(const struct plot *p, size_t first, size_t line)
{
    const struct sweep_axis *const a = &p->s->axes[p->x_axis];
    const size_t stride = sweep_stride(p->s, p->x_axis);
    const char *const colour = svg_colours[line % SVG_COLOURS];
    bool any = false, drawn = false;

    /* Between values that are no numbers is nothing. */
    fprintf(p->out, "<path class=\"line\" stroke=\"%s\"%s d=\"",
            p->by_number ? colour : "none",
            line / SVG_COLOURS % 2 ? " stroke-dasharray=\"6 4\"" : "");
    for (size_t i = 0; i < a->count; i++) {
        const struct sweep_value *const v =
            &p->s->points[first + i * stride].values[p->event];
        if (v->known)
            fprintf(p->out, "%c%.1f %.1f", drawn ? 'L' : 'M', x_of(p, i),
                    y_of(p, v->count));
        drawn = v->known;
        any |= v->known;
    }
    fputs("\"/>\n", p->out);
    for (size_t i = 0; i < a->count; i++) {
        const size_t point = first + i * stride;
        const struct sweep_value *const v =
            &p->s->points[point].values[p->event];
        if (!v->known)
            continue;
        fprintf(p->out,
                "<circle fill=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"><title>",
                colour, x_of(p, i), y_of(p, v->count));
        svg_text(a->key, p->out);
        fputc('=', p->out);
        svg_text(a->values[i], p->out);
        fputc(' ', p->out);
        write_label(p, point);
        fprintf(p->out, ": %.0f (", v->count);
        svg_text(v->standing, p->out);
        fputs(")</title></circle>\n", p->out);
    }
    return any;
}

static void
write_legend(const struct plot *p, size_t first, size_t row, size_t line)
{
    const double y = p->top + TOP + 16 * (double)row;

    fprintf(p->out,
            "<path class=\"line\" stroke=\"%s\"%s d=\"M%g %gh22\"/>"
            "<text x=\"%g\" y=\"%g\">",
            svg_colours[line % SVG_COLOURS],
            line / SVG_COLOURS % 2 ? " stroke-dasharray=\"6 4\"" : "",
            SVG_RIGHT + 18, y, SVG_RIGHT + 48, y + 4);
    write_label(p, first);
    fputs("</text>\n", p->out);
}

static void
write_plot(struct plot *p)
{
    const struct sweep *const s = p->s;
    double most = 0;
    size_t line = 0, row = 0;

    for (size_t i = 0; i < s->point_count; i++)
        if (s->points[i].values[p->event].known)
            most = fmax(most, s->points[i].values[p->event].count);
    p->most = SVG_TICKS * svg_step(most);
    write_frame(p);
    for (size_t i = 0; i < s->point_count; i++) {
        if (sweep_place(s, i, p->x_axis) != 0)
            continue;
        const bool any = write_line(p, i, line);
        if (any && s->point_count > s->axes[p->x_axis].count &&
            row < LEGEND_MOST)
            write_legend(p, i, row, line);
        row += any;
        line++;
    }
    if (row > LEGEND_MOST)
        fprintf(p->out, "<text x=\"%g\" y=\"%g\">and %zu more lines</text>\n",
                SVG_RIGHT + 18, p->top + TOP + 16.0 * LEGEND_MOST + 4,
                row - LEGEND_MOST);
}

/* Returns the width of the picture: that of a plot, the longest line of the
 * legend and the program. */
static double
width_of(const struct plot *p)
{
    const struct sweep *const s = p->s;
    size_t most = strlen(s->program) > 70 ? strlen(s->program) - 70 : 0;
    size_t label = 0;

    for (size_t a = 0; a < s->axis_count; a++) {
        size_t longest = 0;
        for (size_t i = 0; i < s->axes[a].count; i++)
            if (strlen(s->axes[a].values[i]) > longest)
                longest = strlen(s->axes[a].values[i]);
        if (a != p->x_axis && s->axes[a].count > 1)
            label += strlen(s->axes[a].key) + longest + 2;
    }
    if (label > most)
        most = label;
    return SVG_RIGHT + 60 + SVG_CHARACTER * (double)most;
}

int
sweep_write_svg(const struct sweep *s, FILE *out)
{
    struct plot p = {.s = s, .x_axis = sweep_plot_axis(s), .out = out};
    const double width = width_of(&p);
    const struct sweep_axis *const a = &s->axes[p.x_axis];
    const double height = HEIGHT * (double)s->event_count + 28;

    p.by_number = is_numeric(a);
    p.logarithmic = p.by_number;
    for (size_t i = 0; p.by_number && i < a->count; i++)
        p.logarithmic &= a->numbers[i] > 0;
    svg_begin(width, height, s->program, out);
    for (p.event = 0; p.event < s->event_count; p.event++) {
        p.top = 28 + HEIGHT * (double)p.event;
        write_plot(&p);
    }
    svg_end(out);
    return ferror(out) ? TALLY_EIO : 0;
}
