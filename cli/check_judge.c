/* SPDX-License-Identifier: MIT */
#include "cli/check_judge.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check/compare.h"
#include "cli/command.h"
#include "version.h"

__attribute__((format(printf, 3, 4))) static void
set_reason(struct check_result *r, enum check_status status, const char *format,
           ...)
{
    va_list arguments;

    r->status = status;
    free(r->reason);
    va_start(arguments, format);
    if (vasprintf(&r->reason, format, arguments) < 0)
        r->reason = NULL;
    va_end(arguments);
    /* One line, whatever a program has said. */
    for (char *at = r->reason; at != NULL && *at != '\0'; at++) {
        if (*at == '\n' || *at == '\r' || *at == '\t')
            *at = ' ';
    }
}

/* Returns whether all runs of a benchmark are of use; else sets why not, and
 * *failure where tally failed, or the benchmark is asked for wrongly. */
static bool
all_ran(const struct check_bench *b, struct check_result *r, int *failure)
{
    const unsigned layouts = b->settings->layouts;

    if (b->settings->unready != NULL) {
        set_reason(r, CHECK_FAILED, "%s", b->settings->unready);
        return false;
    }
    for (size_t i = 0; i < b->run_count; i++) {
        const struct check_run *const run = &b->runs[i];
        r->seconds += run->seconds;
        if (run->status == EXIT_OURS ||
            (run->status == EXIT_USAGE && *failure == 0))
            *failure = run->status;
        if (r->reason == NULL && run->status != 0)
            set_reason(r, CHECK_FAILED, "%s",
                       run->reason != NULL ? run->reason : "no memory");
    }
    for (size_t i = 1; r->reason == NULL && i < b->run_count; i++) {
        if (!b->settings->any_output &&
            strcmp(b->runs[i].output, b->runs[0].output) != 0)
            set_reason(r, CHECK_FAILED,
                       "prints %s in %s %u, and %s in layout 1; "
                       "output = \"any\" in " CHECK_SETTINGS_FILE
                       " allows that",
                       b->runs[i].output,
                       i < layouts ? "layout" : "the second run of layout",
                       b->runs[i].layout, b->runs[0].output);
    }
    size_t event = 0;
    const struct check_sample *const first = &b->runs[0].sample;
    const struct check_sample *const again = &b->runs[layouts].sample;
    const char *const differs =
        r->reason == NULL ? check_difference(first, again, b->measures, &event)
                          : NULL;
    if (differs != NULL)
        set_reason(r, CHECK_VARIES,
                   "counts %llu and %llu %s in two runs of one layout: %s",
                   (unsigned long long)first->counts[event],
                   (unsigned long long)again->counts[event], differs,
                   first->varies != NULL
                       ? first->varies
                       : "does it look at the time, at its process number, at "
                         "a file that it changes, or at what others do?");
    return r->reason == NULL;
}

/* Says why there is nothing to compare a benchmark with. */
static void
say_no_baseline(const struct check_standard *s, struct check_result *r)
{
    const char *const other = check_baseline_other(s->baseline, r->benchmark);

    if (s->baseline->missing)
        set_reason(r, CHECK_NO_BASELINE, "there is no %s; --update writes it",
                   s->path);
    else if (other != NULL)
        set_reason(r, CHECK_NO_BASELINE,
                   "%s has it on '%s', not on '%s'; --update adds that",
                   s->path, other, r->key);
    else
        set_reason(r, CHECK_NO_BASELINE, "%s lacks it; --update adds it",
                   s->path);
}

/* Judges a benchmark that ran, and puts its counts into `counted` unless it is
 * NULL. Returns 0 or TALLY_ENOMEM. */
static int
judge_runs(const struct check_standard *s, const struct check_bench *b,
           struct check_baseline *counted, struct check_result *r)
{
    const unsigned layouts = b->settings->layouts;
    struct check_sample *const samples = calloc(layouts, sizeof(*samples));
    struct check_entry now = {0}, before = {0};
    int error = samples != NULL ? 0 : TALLY_ENOMEM;

    for (unsigned i = 0; error == 0 && i < layouts; i++)
        samples[i] = b->runs[i].sample;
    if (error == 0) {
        r->key = check_key(b->program.machine, samples[0].isa, samples[0].cpu,
                           b->geometry);
        error = r->key == NULL ? TALLY_ENOMEM : 0;
    }
    if (error == 0)
        error = check_sum_up(samples, layouts, b->measures,
                             b->settings->any_output ? "" : b->runs[0].output,
                             &now);
    if (error == 0) {
        const int found =
            check_baseline_find(s->baseline, r->benchmark, r->key, &before);
        if (found == TALLY_ENOMEM)
            error = found;
        else
            error =
                check_compare(&now, found == 0 ? &before : NULL,
                              b->settings->limits, b->settings->limit_count, r);
        if (error == 0 && found != 0)
            say_no_baseline(s, r);
        else if (error == 0 && r->status == CHECK_NO_BASELINE)
            set_reason(r, CHECK_NO_BASELINE,
                       "%s lacks a measure that has a limit; --update adds it",
                       s->path);
    }
    if (error == 0 && counted != NULL)
        error = check_baseline_put(counted, r->benchmark, r->key, &now);
    check_entry_finish(&now);
    check_entry_finish(&before);
    free(samples);
    return error;
}

/* Returns a time in UTC, for the caller to free; NULL: no memory. */
static char *
time_text(time_t at)
{
    char text[32];
    struct tm parts;

    if (gmtime_r(&at, &parts) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
        return NULL;
    return strdup(text);
}

int
check_judge(const struct check_plan *plan,
            const struct check_standard *standard,
            struct check_baseline *counted, struct check_report *report,
            int *failure)
{
    int error = 0;

    report->results = calloc(plan->bench_count + 1, sizeof(*report->results));
    report->version = strdup(TALLY_VERSION);
    report->time = time_text(time(NULL));
    report->baseline = strdup(standard->path);
    report->settings =
        plan->settings.path != NULL ? strdup(plan->settings.path) : NULL;
    if (report->results == NULL || report->version == NULL ||
        report->time == NULL || report->baseline == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; error == 0 && i < plan->bench_count; i++) {
        const struct check_bench *const b = &plan->benches[i];
        struct check_result *const r = &report->results[report->result_count++];
        r->benchmark = check_text(b->settings->name);
        r->machine = strdup(b->program.machine);
        r->layouts = b->settings->layouts;
        if (r->benchmark == NULL || r->machine == NULL)
            error = TALLY_ENOMEM;
        else if (all_ran(b, r, failure))
            error = judge_runs(standard, b, counted, r);
        if (standard->strict && r->status == CHECK_WARNED)
            r->status = CHECK_ROSE;
    }
    return error;
}
