/* SPDX-License-Identifier: MIT */
/* tally report: what a record's events come from, by function, line and so on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/open_record.h"
#include "cli/output.h"
#include "cli/rows_request.h"
#include "cli/source_moves.h"
#include "record/page.h"
#include "version.h"

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
    OPT_SOURCE,
    OPT_OUTPUT,
    OPT_HTML,
    OPT_FORMAT,
    OPT_JSON,
    OPT_SEPARATOR,
    OPT_COLOR,
};

static const struct option_row options[] = {
    [OPT_INPUT] =
        {'i', "input", "FILE",
         "the record to read, - for standard input (default: tally.data)"},
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
                   "only rows whose name has this text, or is like it as a "
                   "pattern with * ? or ["},
    [OPT_NO_INLINE] = {0, "no-inline", NULL,
                       "count inlined code for the function that it is in"},
    [OPT_INCLUSIVE] = {0, "inclusive", NULL,
                       "sort, and choose by --min, with the cost of what each "
                       "row calls"},
    [OPT_DEBUG_DIR] = {0, "debug-dir", "DIR",
                       "look for separate debug files there too"},
    [OPT_SOURCE] = {0, "source", "OLD=NEW",
                    "with --html: sources whose path begins with OLD are now "
                    "in NEW"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there (default: standard output)"},
    [OPT_HTML] = {0, "html", "FILE",
                  "write all of the record as one page for a browser: flame "
                  "graph, tables, sources"},
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
    const char *input, *html;
    const char *other; /* an option that a page has no use for; or NULL */
    struct source_moves moves;
    enum report_form form;
};

static int
take_option(void *user, int option, const char *value)
{
    struct report_request *const r = user;
    static const char *const forms[] = {"text", "csv", "json", NULL};
    struct rows_request *const rows = &r->rows;
    int form = REPORT_TEXT, status;

    if (option != OPT_INPUT && option != OPT_EVENTS &&
        option != OPT_DEBUG_DIR && option != OPT_SOURCE && option != OPT_HTML)
        r->other = options[option].name;
    switch (option) {
    case OPT_INPUT:
        return open_record_take("report", &r->input, value);
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
        return command_debug_dir(&command_report, value);
    case OPT_OUTPUT:
        return rows_request_output(rows, value);
    case OPT_HTML:
        r->html = value;
        return *value != '\0'
                   ? 0
                   : rows_request_bad(rows, "--html takes a file's name, not ",
                                      "");
    case OPT_SOURCE:
        return source_moves_add(&r->moves, "report", "source", value);
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

    return open_record_take("report", &r->input, file);
}

/* Refuses options that do not go together. */
static int
check_request(const struct report_request *r)
{
    if (r->html != NULL && r->other != NULL) {
        fprintf(stderr,
                "tally report: --%s does not go with --html: the page has all "
                "functions, lines and objects, and -e chooses its events\n",
                r->other);
        return EXIT_USAGE;
    }
    if (r->html == NULL && r->moves.count > 0) {
        fprintf(stderr, "tally report: --source goes with --html; tally "
                        "annotate --source shows sources as text\n");
        return EXIT_USAGE;
    }
    if (r->html != NULL && open_record_is(r->input, r->html)) {
        escape_printf(stderr,
                      "tally report: --html %s would replace the record "
                      "itself\n",
                      r->html);
        return EXIT_USAGE;
    }
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
    return status != 0 ? status : check_request(r);
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

/* Writes the page of a record. Returns an exit status. */
static int
write_page(const struct report_request *r, const struct record *record,
           struct resolver *resolver, const struct breakdown_options *o)
{
    const struct page_options page = {
        .events = o->events,
        .event_count = o->event_count,
        .creator = "tally " TALLY_VERSION,
        .moves = r->moves.rows,
        .move_count = r->moves.count,
        .log = &command_log,
    };
    struct output output;
    int status = output_open(r->html, REPLACE_WHOLE, &output);

    if (status != 0)
        return status;
    errno = 0;
    const int error = page_write(record, resolver, &page, output.file);
    const int cause = errno;
    const int unwritten = output_close(&output, error == 0);
    if (error == TALLY_ENOMEM)
        return EXIT_OURS;
    if (error == 0 && unwritten == 0)
        return 0;
    errno = error != 0 ? cause : errno;
    return output_unwritten(r->html);
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
        if (o->match != NULL && b->row_count == 0)
            escape_printf(stderr, "tally report: no row has a name like '%s'\n",
                          o->match);
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
    const bool few = r->html == NULL && r->form == REPORT_TEXT;
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
        status = (r->html != NULL ? write_page : write_rows)(r, record,
                                                             resolver, &o);
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
    source_moves_finish(&request.moves);
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
        "  # A page for a browser, with a flame graph and the sources.\n"
        "  tally report --html tally.html",
    .options = options,
    .run = run_report,
};
