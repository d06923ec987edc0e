/* SPDX-License-Identifier: MIT */
#include "cli/count_interval.h"

#include <stdlib.h>

static void
set_values(const struct count_report *report,
           const struct session_interval *interval, struct count_value *values)
{
    const double ns = (interval->end_s - interval->start_s) * 1e9;

    for (size_t i = 0; i < report->count; i++) {
        values[i] = report->values[i];
        values[i].value = report_value(&values[i], &interval->totals);
        values[i].mean = (double)values[i].value;
        values[i].stddev = 0;
        values[i].enabled = values[i].running = (uint64_t)ns;
    }
}

static int
write_interval(const struct count_request *r, const struct count_report *report,
               FILE *out)
{
    switch (r->format) {
    case COUNT_CSV:
        return report_interval_csv(report, r->separator, out);
    case COUNT_JSON:
        return report_interval_json(report, out);
    default:
        return report_interval_text(report, out);
    }
}

int
count_intervals(const struct count_request *r, const struct count_report *whole,
                unsigned run, const struct session_result *result, FILE *out)
{
    struct count_value *values = calloc(whole->count, sizeof(*values));
    struct count_report report = *whole;
    int error = 0;

    if (values == NULL)
        return tally_fail(&command_log, TALLY_ENOMEM, "no memory for -I");

    report.values = values;
    report.runs = report.runs_asked = 1;
    report.run = r->runs > 1 ? run : 0;
    for (size_t i = 0; error == 0 && i < result->interval_count; i++) {
        const struct session_interval *interval = &result->intervals[i];
        const double length_s = interval->end_s - interval->start_s;
        const struct session_result last = {
            .totals = interval->totals,
            .modelled_s = length_s,
            .components = result->components,
        };
        set_values(whole, interval, values);
        report.last = &last;
        report.at_s = interval->end_s;
        report.wall_s = length_s;
        error = write_interval(r, &report, out);
    }
    free(values);
    return error;
}
