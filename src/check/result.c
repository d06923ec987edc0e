/* SPDX-License-Identifier: MIT */
#include "check/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *
check_status_name(enum check_status status)
{
    static const char *const names[CHECK_STATUSES] = {
        "passed", "warned", "rose", "no-baseline", "failed", "varies",
    };

    return names[status];
}

const char *
check_verdict_name(enum check_verdict verdict)
{
    static const char *const names[CHECK_VERDICTS] = {
        "same", "less", "more", "soft", "hard",
    };

    return names[verdict];
}

const char *
check_cause_name(enum check_cause cause)
{
    static const char *const names[CHECK_CAUSES] = {"none", "work", "places"};

    return names[cause];
}

double
check_change(uint64_t now, uint64_t before)
{
    if (before == 0)
        return now == 0 ? 0 : INFINITY;
    return 100.0 * ((double)now - (double)before) / (double)before;
}

static void
finish_result(struct check_result *r)
{
    for (size_t i = 0; i < r->measure_count; i++)
        free(r->measures[i].name);
    for (size_t i = 0; i < r->function_count; i++) {
        free(r->functions[i].name);
        free(r->functions[i].image);
    }
    for (size_t i = 0; i < r->note_count; i++)
        free(r->notes[i]);
    free(r->measures);
    free(r->functions);
    free(r->notes);
    free(r->benchmark);
    free(r->machine);
    free(r->key);
    free(r->reason);
}

void
check_report_finish(struct check_report *report)
{
    for (size_t i = 0; i < report->result_count; i++)
        finish_result(&report->results[i]);
    free(report->results);
    free(report->settings);
    free(report->baseline);
    free(report->version);
    free(report->time);
    memset(report, 0, sizeof(*report));
}
