/* SPDX-License-Identifier: MIT */
/* tally report: what a record's events come from, by function, line and so on.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/open_record.h"
#include "cli/rows_request.h"

#define EVENTS_SHOWN 4 /* as text, if -e names none */

enum {
    OPT_INPUT,
    OPT_BY,
    OPT_EVENTS,
    OPT_SORT,
    OPT_TOP,
    OPT_MIN,
    OPT_MATCH,
    OPT_NO_INLINE,
    OPT_INCLUSIVE,
    OPT_DEBUG_DIR,
    OPT_OUTPUT,
    OPT_FORMAT,
    OPT_JSON,
    OPT_SEPARATOR,
    OPT_COLOR,
};

static const struct option_row options[] = {
    [OPT_INPUT] = {'i', "input", "FILE",
                   "the record to read (default: tally.data)"},
    [OPT_BY] = {'s', "by", "KEYS",
                "rows: function, caller, object, line, instruction, file, "
                "image, thread or process"},
    [OPT_EVENTS] = {'e', "event", "EVENTS",
                    "only these events of the record; names may be short"},
    [OPT_SORT] = {0, "sort", "EVENT",
                  "largest counts of this event first, or 'name' (default: "
                  "the first event)"},
    [OPT_TOP] = {0, "top", "N", "only the first N rows"},
    [OPT_MIN] = {0, "min", "PERCENT",
                 "only rows with at least this part of the sorted event"},
    [OPT_MATCH] = {0, "match", "PATTERN",
                   "only rows whose name has this text, or is like it if it "
                   "has * ? or ["},
    [OPT_NO_INLINE] = {0, "no-inline", NULL,
                       "count inlined code for the function that it is in"},
    [OPT_INCLUSIVE] = {0, "inclusive", NULL,
                       "sort, and choose by --min, with the cost of what each "
                       "row calls"},
    [OPT_DEBUG_DIR] = {0, "debug-dir", "DIR",
                       "look for separate debug files there too"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there (default: standard output)"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, csv or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_SEPARATOR] = {'x', "field-separator", "CHAR",
                       "CSV with this separator"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    {0},
};

enum report_form { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

struct report_request {
    struct rows_request rows;
    const char *input;
    enum report_form form;
};

static int
take_option(void *user, int option, const char *value)
{
    struct report_request *const r = user;
    static const char *const forms[] = {"text", "csv", "json", NULL};
    struct rows_request *const rows = &r->rows;
    int form = REPORT_TEXT, status;

    switch (option) {
    case OPT_INPUT:
        r->input = value;
        return 0;
    case OPT_BY:
        return rows_request_keys(rows, value);
    case OPT_EVENTS:
        return command_join(&rows->events, value) == 0 ? 0 : EXIT_OURS;
    case OPT_SORT:
        rows->sort = value;
        return 0;
    case OPT_TOP:
        return rows_request_top(rows, value);
    case OPT_MIN:
        return rows_request_min(rows, value);
    case OPT_MATCH:
        rows->breakdown.match = value;
        return 0;
    case OPT_NO_INLINE:
        rows->breakdown.no_inline = true;
        return 0;
    case OPT_INCLUSIVE:
        rows->breakdown.by_inclusive = true;
        return 0;
    case OPT_DEBUG_DIR:
        rows->debug_dirs[rows->debug_dir_count++] = value;
        return 0;
    case OPT_OUTPUT:
        return rows_request_output(rows, value);
    case OPT_SEPARATOR:
        r->form = REPORT_CSV;
        return rows_request_separator(rows, value);
    case OPT_COLOR:
        rows->color = value;
        return 0;
    default:
        status = command_form(
            &command_report, option == OPT_JSON ? "json" : value, forms, &form);
        r->form = (enum report_form)form;
        return status;
    }
}

static int
take_operand(void *user, char *file)
{
    struct report_request *const r = user;

    if (r->input != NULL)
        return rows_request_bad(&r->rows, "one record is read, not ", file);
    r->input = file;
    return 0;
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct report_request *r, int argc, char **argv)
{
    int status =
        command_read(&command_report, argc, argv, take_option, take_operand, r);

    if (status == 0)
        status = rows_request_color(&r->rows);
    return status;
}

/* What is written. */
struct report {
    const struct report_request *request;
    const struct breakdown *breakdown;
};

static int
write_form(void *user, const struct breakdown_look *look, FILE *out)
{
    const struct report *report = user;

    switch (report->request->form) {
    case REPORT_TEXT:
        return breakdown_text(report->breakdown, look, out);
    case REPORT_CSV:
        return breakdown_csv(report->breakdown, report->request->rows.separator,
                             out);
    default:
        return breakdown_json(report->breakdown, out);
    }
}

/* Groups the counts and writes the report. Returns an exit status. */
static int
write_rows(const struct report_request *r, const struct record *record,
           struct resolver *resolver, const struct breakdown_options *o)
{
    struct breakdown *b = NULL;
    int status = EXIT_OURS;

    if (breakdown_create(record, resolver, o, &command_log, &b) == 0) {
        struct report report = {r, b};
        status = rows_request_write(&r->rows, r->form == REPORT_TEXT,
                                    write_form, &report);
    }
    breakdown_destroy(b);
    return status;
}

static int
report_record(const struct report_request *r, const struct record *record)
{
    const struct rows_request *rows = &r->rows;
    const struct resolver_options names = {.debug_dirs = rows->debug_dirs,
                                           .debug_dir_count =
                                               rows->debug_dir_count};
    const bool few = r->form == REPORT_TEXT;
    struct breakdown_options o = rows->breakdown;
    struct resolver *resolver = NULL;
    size_t *events = calloc(record->event_count + 1, sizeof(*events));
    int status = events == NULL
                     ? command_no_memory()
                     : rows_request_choose(rows, record, few ? EVENTS_SHOWN : 0,
                                           events, &o);

    if (status == 0)
        status = rows_request_check(rows, record);
    if (status == 0 &&
        resolver_create(record, &names, &command_log, &resolver) != 0)
        status = EXIT_OURS;
    if (status == 0)
        status = write_rows(r, record, resolver, &o);
    resolver_destroy(resolver);
    free(events);
    return status;
}

static int
run_report(int argc, char **argv)
{
    struct report_request request = {.form = REPORT_TEXT};
    struct record *record = NULL;
    int status = rows_request_init(&request.rows, &command_report, argc);

    if (status != 0)
        return status;
    status = read_options(&request, argc, argv);
    if (status == COMMAND_HELP) {
        command_help(&command_report, stdout);
        status = 0;
    } else if (status == 0) {
        status = open_record("report", request.input, &record);
        if (status == 0)
            status = report_record(&request, record);
        record_close(record);
    }
    rows_request_finish(&request.rows);
    return status;
}

const struct command command_report = {
    .name = "report",
    .summary = "show which functions or lines the events of a record come from",
    .synopsis = "[OPTIONS] [FILE]",
    .example =
        "  # Record a program, and show its events by function.\n"
        "  tally record ./program && tally report\n"
        "  # The ten lines with most misses, of a record of another name.\n"
        "  tally record -o misses.data -e cache-misses ./program && "
        "tally report --by line --top 10 misses.data\n"
        "  # Who calls a function, and what each caller's calls cost.\n"
        "  tally report --by function,caller --match memcpy\n"
        "  # The functions of each thread, for a program to read.\n"
        "  tally report --by thread,function --format json",
    .options = options,
    .run = run_report,
};
