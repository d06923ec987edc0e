/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/escape.h"
#include "check/report.h"
#include "record/markdown_code.h"
#include "report/count_report.h"

#define NUMBER 40

static const char *const words[CHECK_STATUSES] = {
    [CHECK_PASSED] = "passed",           [CHECK_WARNED] = "beyond a soft limit",
    [CHECK_ROSE] = "**beyond a limit**", [CHECK_NO_BASELINE] = "no baseline",
    [CHECK_FAILED] = "**failed**",       [CHECK_VARIES] = "**does not repeat**",
};

static void
write_grouped(uint64_t number, FILE *out)
{
    char text[NUMBER];

    format_grouped(number, text);
    fputs(text, out);
}

/* Writes the change of a measure in a cell. */
static void
write_cell(const struct check_result *r, size_t measure, FILE *out)
{
    char text[CHECK_CHANGE_TEXT];

    fputs(" | ", out);
    if (measure >= r->measure_count) {
        fputc('-', out);
        return;
    }
    check_change_text(&r->measures[measure], text);
    fputs(text, out);
}

static void
write_rows(const struct check_report *report, FILE *out)
{
    fputs("| benchmark | | instructions | cost |\n|---|---|--:|--:|\n", out);
    for (size_t i = 0; i < report->result_count; i++) {
        const struct check_result *const r = &report->results[i];
        fputs("| ", out);
        markdown_code(out, r->benchmark, true);
        fprintf(out, " | %s", words[r->status]);
        write_cell(r, 0, out);
        write_cell(r, 1, out);
        fputs(" |\n", out);
    }
}

static void
write_measures(const struct check_result *r, FILE *out)
{
    fputs("| | baseline | now | change | |\n|---|--:|--:|--:|---|\n", out);
    for (size_t i = 0; i < r->measure_count; i++) {
        const struct check_measure *const m = &r->measures[i];
        char text[CHECK_CHANGE_TEXT];
        check_change_text(m, text);
        fputs("| ", out);
        markdown_code(out, m->name, true);
        fputs(" | ", out);
        if (m->compared)
            write_grouped(m->before.median, out);
        fputs(" | ", out);
        write_grouped(m->now.median, out);
        fprintf(out, " | %s | ", text);
        if (m->verdict == CHECK_HARD)
            fprintf(out, "hard limit %g %%", m->hard);
        else if (m->verdict == CHECK_SOFT)
            fprintf(out, "soft limit %g %%", m->soft);
        fputs(" |\n", out);
    }
    fputc('\n', out);
}

static void
write_difference(uint64_t now, uint64_t before, FILE *out)
{
    char text[NUMBER];

    format_grouped_signed((int64_t)(now - before), text);
    fprintf(out, "%s%s", now > before ? "+" : "", text);
}

static void
write_functions(const struct check_result *r, FILE *out)
{
    if (r->function_count == 0)
        return;
    fputs("| function, by itself | cost | instructions | calls "
          "|\n|---|--:|--:|--:|\n",
          out);
    for (size_t i = 0; i < r->function_count && i < CHECK_SHOWN; i++) {
        const struct check_function *const f = &r->functions[i];
        fputs("| ", out);
        markdown_code(out, f->name, true);
        if (*f->image != '\0') {
            fputs(" in ", out);
            markdown_code(out, f->image, true);
        }
        fputs(f->is_new ? ", new | " : f->is_gone ? ", gone | " : " | ", out);
        write_difference(f->cost, f->cost_before, out);
        fputs(" | ", out);
        write_difference(f->instructions, f->instructions_before, out);
        fputs(" | ", out);
        if (f->calls_before > 0 || f->is_new)
            write_difference(f->calls, f->calls_before, out);
        fputs(" |\n", out);
    }
    if (r->function_count > CHECK_SHOWN)
        fprintf(out, "\n%zu more changed.\n", r->function_count - CHECK_SHOWN);
    fputc('\n', out);
}

/* Writes a name in HTML, where a span of code is no markup. */
static void
write_html(const char *name, FILE *out)
{
    char *const shown = escape_copy(name, ESCAPE_LINE);

    for (const char *c = shown != NULL ? shown : "?"; *c != '\0'; c++) {
        if (*c == '<' || *c == '>' || *c == '&' || *c == '@')
            fprintf(out, "&#%d;", *c);
        else
            fputc(*c, out);
    }
    free(shown);
}

/* Writes the details of a benchmark, folded unless it is why the whole failed.
 */
static void
write_details(const struct check_result *r, FILE *out)
{
    fprintf(out, "\n<details%s><summary>",
            r->status == CHECK_PASSED ? "" : " open");
    write_html(r->benchmark, out);
    fputs("</summary>\n\n", out);
    if (r->reason != NULL) {
        markdown_code(out, r->reason, false);
        fputs("\n\n", out);
    }
    if (r->measure_count > 0)
        write_measures(r, out);
    if (r->cause != CHECK_NO_CAUSE)
        fprintf(out, "Of the cost: " CHECK_SPLIT ".\n\n", r->work, r->places);
    write_functions(r, out);
    for (size_t i = 0; i < r->note_count; i++) {
        fputs("- ", out);
        markdown_code(out, r->notes[i], false);
        fputc('\n', out);
    }
    fputs("\n</details>\n", out);
}

int
check_write_markdown(const struct check_report *report, FILE *out)
{
    char *const summary = check_summary(report);

    if (summary == NULL)
        return TALLY_ENOMEM;
    fputs("### tally check\n\n", out);
    markdown_code(out, summary, false);
    fputs("\n\n", out);
    free(summary);
    write_rows(report, out);
    for (size_t i = 0; i < report->result_count; i++)
        write_details(&report->results[i], out);
    return ferror(out) ? TALLY_EIO : 0;
}
