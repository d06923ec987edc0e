/* SPDX-License-Identifier: MIT */
/* The phases of a program for scripts, spreadsheets and simulators, and as a
 * picture. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/csv.h"
#include "report/json_text.h"
#include "sweep/phases.h"
#include "sweep/svg.h"

/* Returns whether an interval stands for its phase. */
static bool
is_point(const struct phases *p, size_t span)
{
    return p->phases[p->of[span]].point == span;
}

int
phases_write_csv(const struct phases *p, FILE *out)
{
    fputs("interval,start,instructions,phase,point,standing", out);
    for (size_t e = 0; e < p->event_count; e++) {
        fputc(',', out);
        report_csv_text(p->events[e].name, ',', out);
    }
    fputc('\n', out);
    for (size_t i = 0; i < p->found->span_count; i++) {
        const struct phases_span *const span = &p->found->spans[i];
        fprintf(out, "%zu,%" PRIu64 ",%" PRIu64 ",%u,%s,", i, span->start,
                span->instructions, p->of[i] + 1,
                is_point(p, i) ? "yes" : "no");
        report_csv_text(phases_standing(p), ',', out);
        for (size_t e = 0; e < p->event_count; e++)
            fprintf(out, ",%.0f", phases_span_count(p, i, e));
        fputc('\n', out);
    }
    return ferror(out) ? TALLY_EIO : 0;
}

/* JSON */

static json_t *
json_of_functions(const struct phases *p, const struct phase *phase)
{
    json_t *const functions = json_array();

    for (size_t i = 0; i < phase->hot_count; i++) {
        const struct phases_function *const f =
            &p->functions[phase->hot[i].function];
        json_t *const o = json_object();
        report_json_set(o, "function",
                        f->name != NULL ? report_json_text(f->name)
                                        : json_null());
        report_json_set(o, "file",
                        *f->file != '\0' ? report_json_text(f->file)
                                         : json_null());
        json_object_set_new(o, "share", json_real(phase->hot[i].share));
        json_array_append_new(functions, o);
    }
    return functions;
}

/* Returns the counts of a phase, by the events' names. */
static json_t *
json_of_counts(const struct phases *p, unsigned number)
{
    json_t *const counts = json_object();

    for (size_t e = 0; e < p->event_count; e++)
        json_object_set_new(
            counts, p->events[e].name,
            json_integer((json_int_t)phases_count(p, number, e)));
    return counts;
}

static json_t *
json_of_event(const struct phases_event *event)
{
    json_t *const o = json_object();

    report_json_set(o, "event", report_json_text(event->name));
    json_object_set_new(o, "standing", json_string(event->standing));
    json_object_set_new(o, "count", json_integer((json_int_t)event->whole));
    json_object_set_new(o, "by_points", json_real(event->points));
    return o;
}

static json_t *
json_of_phase(const struct phases *p, unsigned number)
{
    const struct phase *const phase = &p->phases[number];
    const struct phases_span *const point = &p->found->spans[phase->point];
    json_t *const o = json_object();

    json_object_set_new(o, "phase", json_integer(number + 1));
    json_object_set_new(o, "share", json_real(phase->share));
    json_object_set_new(o, "instructions",
                        report_json_number(phase->instructions));
    json_object_set_new(o, "intervals", report_json_number(phase->spans));
    json_object_set_new(o, "stretches", report_json_number(phase->runs));
    json_object_set_new(o, "point",
                        json_pack("{s:o, s:o, s:o}", "interval",
                                  report_json_number(phase->point), "start",
                                  report_json_number(point->start),
                                  "instructions",
                                  report_json_number(point->instructions)));
    json_object_set_new(o, "functions", json_of_functions(p, phase));
    json_object_set_new(o, "counts", json_of_counts(p, number));
    return o;
}

static json_t *
json_of_span(const struct phases *p, size_t i)
{
    const struct phases_span *const span = &p->found->spans[i];

    json_t *const o =
        json_pack("{s:o, s:o, s:i}", "start", report_json_number(span->start),
                  "instructions", report_json_number(span->instructions),
                  "phase", (int)p->of[i] + 1);

    if (p->event_count == 0)
        return o;
    json_t *const counts = json_array();
    for (size_t e = 0; e < p->event_count; e++)
        json_array_append_new(
            counts, json_integer((json_int_t)phases_span_count(p, i, e)));
    json_object_set_new(o, "counts", counts);
    return o;
}

int
phases_write_json(const struct phases *p, FILE *out)
{
    const struct phases_found *const f = p->found;
    json_t *const o = json_object(), *const phases = json_array();
    json_t *const spans = json_array(), *const notes = json_array();
    json_t *const events = json_array();

    for (unsigned n = 0; n < p->count; n++)
        json_array_append_new(phases, json_of_phase(p, n));
    for (size_t i = 0; i < f->span_count; i++)
        json_array_append_new(spans, json_of_span(p, i));
    for (const char *const *n = p->notes; n != NULL && *n != NULL; n++)
        json_array_append_new(notes, report_json_line(*n));
    json_object_set_new(o, "schema", json_integer(1));
    report_json_set(o, "program", report_json_text(p->command));
    report_json_set(o, "process", report_json_text(f->program));
    report_json_set(o, "machine", report_json_text(p->machine));
    json_object_set_new(o, "interval", report_json_number(f->length));
    json_object_set_new(o, "standing", json_string(phases_standing(p)));
    json_object_set_new(o, "varies", json_boolean(p->varies));
    if (p->trace != TRACE_PART_NONE)
        json_object_set_new(o, "trace", json_string(trace_part_name(p->trace)));
    json_object_set_new(o, "instructions", report_json_number(f->instructions));
    json_object_set_new(o, "lost", report_json_number(f->lost));
    json_object_set_new(o, "all_instructions",
                        report_json_number(f->all_instructions));
    for (size_t e = 0; e < p->event_count; e++)
        json_array_append_new(events, json_of_event(&p->events[e]));
    json_object_set_new(o, "events", events);
    json_object_set_new(o, "phases", phases);
    json_object_set_new(o, "intervals", spans);
    json_object_set_new(o, "notes", notes);
    const int failed = json_dumpf(o, out, JSON_INDENT(2));
    json_decref(o);
    fputc('\n', out);
    return failed != 0 || ferror(out) ? TALLY_EIO : 0;
}

/* SimPoint's files */

int
phases_write_bb(const struct phases *p, FILE *out)
{
    const struct phases_found *const f = p->found;

    for (size_t i = 0; i < f->span_count; i++) {
        const struct phases_span *const span = &f->spans[i];
        fputc('T', out);
        for (size_t k = span->first; k < span->first + span->count; k++)
            fprintf(out, ":%" PRIu32 ":%" PRIu64 " ", f->parts[k].block + 1,
                    f->parts[k].instructions);
        fputc('\n', out);
    }
    return ferror(out) ? TALLY_EIO : 0;
}

int
phases_write_simpoints(const struct phases *p, FILE *out)
{
    for (unsigned n = 0; n < p->count; n++)
        fprintf(out, "%zu %u\n", p->phases[n].point, n);
    return ferror(out) ? TALLY_EIO : 0;
}

int
phases_write_weights(const struct phases *p, FILE *out)
{
    for (unsigned n = 0; n < p->count; n++)
        fprintf(out, "%.9g %u\n", p->phases[n].share, n);
    return ferror(out) ? TALLY_EIO : 0;
}

/* The picture: a row for each phase, over the instructions of the program. */

#define TOP 40.0
#define ROW 26.0
#define BAR 18.0
#define BOTTOM 52.0

static double
x_of(double instructions, double most)
{
    return SVG_LEFT + (SVG_RIGHT - SVG_LEFT) * instructions / most;
}

/* Writes the axis of instructions below the rows. */
static void
write_axis(const struct phases *p, double most, FILE *out)
{
    const double bottom = TOP + ROW * p->count;

    for (int i = 0; i <= (int)SVG_TICKS; i++) {
        const double x = x_of(most * i / SVG_TICKS, most);
        fprintf(out,
                "<path class=\"grid\" d=\"M%.1f %gV%g\"/>"
                "<text class=\"middle\" x=\"%.1f\" y=\"%g\">",
                x, TOP - 4, bottom, x, bottom + 16);
        svg_number(most * i / SVG_TICKS, out);
        fputs("</text>\n", out);
    }
    fprintf(out,
            "<text class=\"middle\" x=\"%g\" y=\"%g\">instructions</text>\n",
            (SVG_LEFT + SVG_RIGHT) / 2, bottom + 34);
}

/* Writes what stands beside the row of a phase. */
static int
write_names(const struct phases *p, unsigned n, double y, FILE *out)
{
    const struct phase *const phase = &p->phases[n];

    fprintf(out,
            "<text class=\"end\" x=\"%g\" y=\"%g\">phase %u</text>"
            "<text x=\"%g\" y=\"%g\">%.1f %%",
            SVG_LEFT - 8, y + 13, n + 1, SVG_RIGHT + 12, y + 13,
            phase->share * 100);
    if (phase->hot_count > 0) {
        char *const name = phases_function_name(p, phase->hot[0].function);
        if (name == NULL)
            return TALLY_ENOMEM;
        fputs(" ", out);
        svg_text(name, out);
        free(name);
    }
    fputs("</text>\n", out);
    return 0;
}

/* Writes a bar for each stretch of intervals of one phase. */
static void
write_bars(const struct phases *p, double most, FILE *out)
{
    const struct phases_found *const f = p->found;
    size_t end;

    for (size_t i = 0; i < f->span_count; i = end) {
        uint64_t instructions = 0;
        for (end = i; end < f->span_count && p->of[end] == p->of[i]; end++)
            instructions += f->spans[end].instructions;
        const double x = x_of((double)f->spans[i].start, most);
        const double to =
            x_of((double)(f->spans[i].start + instructions), most);
        fprintf(
            out,
            "<rect class=\"stretch\" fill=\"%s\" x=\"%.2f\" y=\"%g\" "
            "width=\"%.2f\" height=\"%g\"><title>phase %u: intervals %zu to "
            "%zu, from instruction %" PRIu64 "</title></rect>\n",
            svg_colours[p->of[i] % SVG_COLOURS], x, TOP + ROW * p->of[i],
            to - x < 0.3 ? 0.3 : to - x, BAR, p->of[i] + 1, i, end - 1,
            f->spans[i].start);
    }
}

/* Marks the simulation points. */
static void
write_points(const struct phases *p, double most, FILE *out)
{
    for (unsigned n = 0; n < p->count; n++) {
        const struct phases_span *const point =
            &p->found->spans[p->phases[n].point];
        fprintf(
            out,
            "<circle fill=\"#fff\" stroke=\"#222\" cx=\"%.2f\" cy=\"%g\" "
            "r=\"4\"><title>simulation point: interval %zu, from "
            "instruction %" PRIu64 "</title></circle>\n",
            x_of((double)point->start + (double)point->instructions / 2, most),
            TOP + ROW * n + BAR / 2, p->phases[n].point, point->start);
    }
}

int
phases_write_svg(const struct phases *p, FILE *out)
{
    const double most = SVG_TICKS * svg_step((double)p->found->instructions);
    size_t label = strlen(p->command) > 70 ? strlen(p->command) - 70 : 0;
    int error = 0;

    for (unsigned n = 0; n < p->count; n++) {
        const struct phase *const phase = &p->phases[n];
        char *const name = phase->hot_count > 0
                               ? phases_function_name(p, phase->hot[0].function)
                               : strdup("");
        if (name == NULL)
            return TALLY_ENOMEM;
        if (strlen(name) + 8 > label)
            label = strlen(name) + 8;
        free(name);
    }
    svg_begin(SVG_RIGHT + 24 + SVG_CHARACTER * (double)label,
              TOP + ROW * p->count + BOTTOM, p->command, out);
    write_axis(p, most, out);
    for (unsigned n = 0; n < p->count && error == 0; n++)
        error = write_names(p, n, TOP + ROW * n, out);
    write_bars(p, most, out);
    write_points(p, most, out);
    svg_end(out);
    return error != 0 ? error : ferror(out) ? TALLY_EIO : 0;
}
