/* SPDX-License-Identifier: MIT */
/* The page: src/report/summary.html with the JSON document in it. */
#include <inttypes.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "report/json_text.h"
#include "report/summary_json.h"
#include "report/summary_pages.h"
#include "summary_page.h" /* generated: summary.html */

#define PLACE "@DATA@"

static json_t *
trace_json(const struct summary *s, const struct timeline_trace *t)
{
    json_t *points = json_array();
    char name[32];

    for (uint32_t i = 0; i < t->count; i++) {
        json_array_append_new(points,
                              json_integer((json_int_t)t->points[i].cycles));
        json_array_append_new(points, json_real((double)t->points[i].value));
    }
    if (t->kind == TIMELINE_CYCLES)
        snprintf(name, sizeof(name), "cycles");
    else if (t->kind == TIMELINE_WORD)
        snprintf(name, sizeof(name), "user%" PRIu64, t->code + 1);
    else
        snprintf(name, sizeof(name), "0x%" PRIx64, t->code);
    const struct dump_event *named = NULL;
    const struct event_row *event =
        t->kind == TIMELINE_EVENT
            ? summary_event_of(s, t->group, t->code, &named)
            : NULL;
    return json_pack("{sIsosIso}", "cpu", (json_int_t)t->cpu, "name",
                     report_json_text(event != NULL   ? event->name
                                      : named != NULL ? named->name
                                                      : name),
                     "stride", (json_int_t)t->stride, "points", points);
}

static int
print_page(const struct summary_report *r, const struct timeline *timeline,
           FILE *out)
{
    const char *const place = strstr(summary_page, PLACE);
    json_t *o = summary_json(r, true), *traces = json_array();

    for (size_t i = 0; i < timeline->count; i++)
        json_array_append_new(traces,
                              trace_json(r->summary, timeline->traces[i]));
    json_object_set_new(o, "traces", traces);
    fwrite(summary_page, 1, (size_t)(place - summary_page), out);
    const int error =
        report_json_script(o, JSON_COMPACT | JSON_REAL_PRECISION(9), out);
    json_decref(o);
    if (error != 0)
        return error;
    fputs(place + strlen(PLACE), out);
    return fflush(out) != 0 || ferror(out) ? TALLY_EIO : 0;
}

int
summary_report_html(const struct summary_report *r,
                    const struct timeline *timeline, FILE *out)
{
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (c == (locale_t)0)
        return TALLY_ENOMEM;
    locale_t before = uselocale(c);
    const int error = print_page(r, timeline, out);
    uselocale(before);
    freelocale(c);
    return error;
}
