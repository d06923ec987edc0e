/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/escape.h"
#include "check/report.h"
#include "record/text_line.h"

static const char *const words[CHECK_STATUSES] = {
    "passed", "warned", "ROSE", "no baseline", "FAILED", "VARIES",
};

size_t
check_count(const struct check_report *report, enum check_status status)
{
    size_t count = 0;

    for (size_t i = 0; i < report->result_count; i++)
        count += report->results[i].status == status;
    return count;
}

void
check_percent_text(double change, char *text)
{
    if (isinf(change))
        snprintf(text, CHECK_CHANGE_TEXT, "from 0");
    else
        snprintf(text, CHECK_CHANGE_TEXT, "%+.2f %%", change);
}

void
check_change_text(const struct check_measure *m, char *text)
{
    if (m->compared)
        check_percent_text(m->change, text);
    else
        snprintf(text, CHECK_CHANGE_TEXT, "new");
}

/* Writes the names of the benchmarks that ended with the status. */
static void
write_names(const struct check_report *r, enum check_status status, FILE *out)
{
    size_t written = 0;

    for (size_t i = 0; i < r->result_count; i++) {
        if (r->results[i].status == status)
            fprintf(out, "%s%s", written++ > 0 ? ", " : "",
                    r->results[i].benchmark);
    }
}

char *
check_summary(const struct check_report *r)
{
    static const struct {
        enum check_status status;
        const char *one, *several;
    } rows[] = {
        {CHECK_FAILED, "did not run as it should",
         "did not run as they should"},
        {CHECK_VARIES, "does not repeat", "do not repeat"},
        {CHECK_ROSE, "rose beyond a limit", "rose beyond a limit"},
        {CHECK_NO_BASELINE, "has no baseline to compare with",
         "have no baseline to compare with"},
        {CHECK_WARNED, "rose beyond a soft limit", "rose beyond a soft limit"},
    };
    const size_t count = r->result_count;
    char *text = NULL;
    size_t size, parts = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const size_t found = check_count(r, rows[i].status);
        if (found == 0)
            continue;
        fprintf(out, "%s%zu of %zu benchmark%s %s: ", parts++ > 0 ? "; " : "",
                found, count, count == 1 ? "" : "s",
                found == 1 ? rows[i].one : rows[i].several);
        write_names(r, rows[i].status, out);
    }
    if (r->updated)
        fprintf(out, "%s is written with %zu benchmark%s", r->baseline, count,
                count == 1 ? "" : "s");
    else if (parts == 0 && count == 1)
        fputs("the benchmark is within its limits", out);
    else if (parts == 0)
        fprintf(out, "%s%zu benchmarks are within their limits",
                count == 2 ? "both of " : "all ", count);
    const bool failed = ferror(out) != 0;
    if (fclose(out) == 0 && !failed)
        return text;
    free(text);
    return NULL;
}

static void
write_limit(const struct check_measure *m, FILE *out)
{
    if (m->verdict == CHECK_HARD)
        fprintf(out, "  beyond the hard limit, %g %%", m->hard);
    else if (m->verdict == CHECK_SOFT)
        fprintf(out, "  beyond the soft limit, %g %%", m->soft);
    else if (m->verdict == CHECK_SAME && m->compared &&
             m->now.median != m->before.median)
        fputs(fabs(m->strings) > fabs(m->change) / 2
                  ? "  strings stand elsewhere"
                  : "  layouts differ by as much",
              out);
}

static void
write_measures(const struct check_result *r, FILE *out)
{
    fprintf(out, "    %-26s %18s %18s %10s\n", "", "baseline", "now", "change");
    for (size_t i = 0; i < r->measure_count; i++) {
        const struct check_measure *const m = &r->measures[i];
        char change[CHECK_CHANGE_TEXT];
        check_change_text(m, change);
        escape_printf(out, "    %-26s ", m->name);
        if (m->compared)
            text_number(m->before.median, 18, out);
        else
            fprintf(out, "%18s", "-");
        fputc(' ', out);
        text_number(m->now.median, 18, out);
        fprintf(out, " %10s", change);
        write_limit(m, out);
        fputc('\n', out);
    }
}

static void
write_change(uint64_t now, uint64_t before, int width, FILE *out)
{
    const uint64_t distance = now > before ? now - before : before - now;
    char text[40];

    snprintf(text, sizeof(text), "%c%" PRIu64,
             distance == 0  ? ' '
             : now > before ? '+'
                            : '-',
             distance);
    fprintf(out, "%*s", width, text);
}

static void
write_functions(const struct check_result *r, FILE *out)
{
    if (r->function_count == 0)
        return;
    fprintf(out, "    %15s %15s %12s  function, by itself\n", "cost",
            "instructions", "calls");
    for (size_t i = 0; i < r->function_count && i < CHECK_SHOWN; i++) {
        const struct check_function *const f = &r->functions[i];
        fputs("    ", out);
        write_change(f->cost, f->cost_before, 15, out);
        fputc(' ', out);
        write_change(f->instructions, f->instructions_before, 15, out);
        fputc(' ', out);
        if (f->calls_before > 0 || f->is_new)
            write_change(f->calls, f->calls_before, 12, out);
        else
            fprintf(out, "%12s", "");
        escape_printf(out, "  %s%s%s%s%s\n", f->name,
                      *f->image != '\0' ? " in " : "", f->image,
                      f->is_new ? ", new" : "", f->is_gone ? ", gone" : "");
    }
    if (r->function_count > CHECK_SHOWN)
        fprintf(out, "    %zu more changed\n", r->function_count - CHECK_SHOWN);
}

static void
write_details(const struct check_result *r, FILE *out)
{
    if (r->reason != NULL)
        escape_printf(out, "    %s\n", r->reason);
    if (r->measure_count > 0 && r->status != CHECK_FAILED)
        write_measures(r, out);
    if (r->cause != CHECK_NO_CAUSE)
        fprintf(out, "    Of the cost: " CHECK_SPLIT "\n", r->work, r->places);
    write_functions(r, out);
    for (size_t i = 0; i < r->note_count; i++)
        escape_printf(out, "    note: %s\n", r->notes[i]);
}

/* Returns whether a measure of the benchmark changed by more than its layouts
 * differ. */
static bool
changed(const struct check_result *r)
{
    for (size_t i = 0; i < r->measure_count; i++) {
        if (r->measures[i].verdict != CHECK_SAME)
            return true;
    }
    return false;
}

int
check_write_text(const struct check_report *report, bool color, FILE *out)
{
    static const char *const colors[CHECK_STATUSES] = {
        "\033[32m", "\033[33m", "\033[31m", "\033[33m", "\033[31m", "\033[31m",
    };
    char *const summary = check_summary(report);

    if (summary == NULL)
        return TALLY_ENOMEM;
    escape_printf(out, "%s\n", summary);
    free(summary);
    for (size_t i = 0; i < report->result_count; i++) {
        const struct check_result *const r = &report->results[i];
        fprintf(out, "\n  %s%-11s%s ", color ? colors[r->status] : "",
                report->updated ? "written" : words[r->status],
                color ? "\033[0m" : "");
        escape_printf(out, " %s", r->benchmark);
        if (r->layouts > 0)
            fprintf(out, "  (%u layout%s, %.1f s)", r->layouts,
                    r->layouts == 1 ? "" : "s", r->seconds);
        fputc('\n', out);
        if (r->status != CHECK_PASSED || changed(r) || report->updated)
            write_details(r, out);
    }
    return ferror(out) ? TALLY_EIO : 0;
}
