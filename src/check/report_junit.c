/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "base/error.h"
#include "base/escape.h"
#include "check/report.h"

/* Writes text for an element or an attribute. */
static void
write_escaped(const char *text, FILE *out)
{
    escape_markup(text, ESCAPE_CELL, out);
}

/* Writes a line for each measure, function and note. */
static void
write_measures(const struct check_result *r, FILE *out)
{
    for (size_t i = 0; i < r->measure_count; i++) {
        const struct check_measure *const m = &r->measures[i];
        char change[CHECK_CHANGE_TEXT];
        check_change_text(m, change);
        write_escaped(m->name, out);
        fprintf(out, ": %llu, %s", (unsigned long long)m->now.median, change);
        if (m->verdict == CHECK_HARD)
            fprintf(out, ", beyond the hard limit of %g %%", m->hard);
        if (m->verdict == CHECK_SOFT)
            fprintf(out, ", beyond the soft limit of %g %%", m->soft);
        fputc('\n', out);
    }
    if (r->cause != CHECK_NO_CAUSE)
        fprintf(out, "of the cost: " CHECK_SPLIT "\n", r->work, r->places);
    for (size_t i = 0; i < r->function_count; i++) {
        const struct check_function *const f = &r->functions[i];
        fputs("function ", out);
        write_escaped(f->name, out);
        fprintf(out, ": cost %+lld, instructions %+lld\n",
                (long long)(f->cost - f->cost_before),
                (long long)(f->instructions - f->instructions_before));
    }
    for (size_t i = 0; i < r->note_count; i++) {
        fputs("note: ", out);
        write_escaped(r->notes[i], out);
        fputc('\n', out);
    }
}

static void
write_problem(const struct check_result *r, const char *element,
              const char *message, FILE *out)
{
    fprintf(out, "    <%s type=\"%s\" message=\"", element,
            check_status_name(r->status));
    write_escaped(message, out);
    fputs("\">", out);
    write_measures(r, out);
    fprintf(out, "</%s>\n", element);
}

/* Writes which measure broke a limit, the first of them, and by how much. */
static void
say_broken(const struct check_result *r, char *text, size_t size)
{
    const struct check_measure *m = r->measures;

    while (m->verdict != CHECK_HARD && m->verdict != CHECK_SOFT)
        m++;
    snprintf(text, size, "%s rose by %.2f %%, beyond the limit of %g %%",
             m->name, m->change, m->verdict == CHECK_HARD ? m->hard : m->soft);
}

static void
write_case(const struct check_result *r, FILE *out)
{
    char message[256];

    fputs("  <testcase classname=\"tally check\" name=\"", out);
    write_escaped(r->benchmark, out);
    fprintf(out, "\" time=\"%.3f\">\n", r->seconds);
    switch (r->status) {
    case CHECK_ROSE:
        say_broken(r, message, sizeof(message));
        write_problem(r, "failure", message, out);
        break;
    case CHECK_FAILED:
    case CHECK_VARIES:
        write_problem(r, "error", r->reason != NULL ? r->reason : "did not run",
                      out);
        break;
    case CHECK_NO_BASELINE:
        fputs("    <skipped message=\"", out);
        write_escaped(r->reason != NULL ? r->reason : "no baseline", out);
        fputs("\"/>\n", out);
        break;
    default:
        fputs("    <system-out>", out);
        write_measures(r, out);
        fputs("</system-out>\n", out);
    }
    fputs("  </testcase>\n", out);
}

int
check_write_junit(const struct check_report *report, FILE *out)
{
    double seconds = 0;

    for (size_t i = 0; i < report->result_count; i++)
        seconds += report->results[i].seconds;
    fprintf(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuite name=\"tally check\" tests=\"%zu\" failures=\"%zu\" "
            "errors=\"%zu\" skipped=\"%zu\" time=\"%.3f\">\n",
            report->result_count, check_count(report, CHECK_ROSE),
            check_count(report, CHECK_FAILED) +
                check_count(report, CHECK_VARIES),
            check_count(report, CHECK_NO_BASELINE), seconds);
    for (size_t i = 0; i < report->result_count; i++)
        write_case(&report->results[i], out);
    fputs("</testsuite>\n", out);
    return ferror(out) ? TALLY_EIO : 0;
}
