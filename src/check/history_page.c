/* SPDX-License-Identifier: MIT */
/* The page of a history: history_page.html with its data. Names are escaped
 * here, as a line may show them; the script shows them as text only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/history.h"
#include "history_page_text.h" /* generated: with its style and scripts */
#include "record/page_section.h"
#include "report/json_text.h"

static json_t *
point_json(const struct check_point *p)
{
    return json_pack(
        "[o, o, o, o, o, b, o, s]", report_json_number(p->result),
        report_json_number(p->range.median), report_json_number(p->range.least),
        report_json_number(p->range.most), report_json_number(p->before),
        p->moved, isfinite(p->change) ? json_real(p->change) : json_null(),
        p->verdict);
}

static json_t *
series_json(const struct check_history *h)
{
    json_t *const all = json_array();

    for (size_t i = 0; i < h->series_count; i++) {
        const struct check_series *const s = &h->series[i];
        json_t *const points = json_array();
        for (size_t k = 0; k < s->count; k++)
            json_array_append_new(points, point_json(&s->points[k]));
        json_array_append_new(
            all, json_pack("{s:o, s:o, s:o}", "benchmark",
                           report_json_line(s->benchmark), "measure",
                           report_json_line(s->measure), "points", points));
    }
    return all;
}

static json_t *
history_json(const struct check_history *h)
{
    json_t *const results = json_array(), *const lapses = json_array();

    for (size_t i = 0; i < h->result_count; i++)
        json_array_append_new(
            results, json_pack("[o, s]", report_json_line(h->results[i].label),
                               h->results[i].time));
    for (size_t i = 0; i < h->lapse_count; i++) {
        const struct check_lapse *const l = &h->lapses[i];
        json_array_append_new(lapses, json_pack("[o, o, o, o]",
                                                report_json_number(l->result),
                                                report_json_line(l->benchmark),
                                                report_json_line(l->status),
                                                report_json_line(l->reason)));
    }
    return json_pack("{s:o, s:o, s:o}", "results", results, "series",
                     series_json(h), "lapses", lapses);
}

int
check_history_page(const struct check_history *h, FILE *out)
{
    return page_fill(history_page_text, NULL, "history", history_json(h), out);
}
