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
    OPT_ROWS,
    OPT_SOURCE = OPT_ROWS + ROWS_OPTION_COUNT,
    OPT_HTML,
};

static const struct option_row options[] = {
    [OPT_INPUT] = {'i', "input", "FILE",
                   "the record to read, - for standard input (default: "
                   "tally.data)"},
    ROWS_OPTION_ROWS(
        OPT_ROWS, "only these events of the record; names may be short",
        "largest counts of this event first, or 'name' (default: the first "
        "event)",
        "only the first N rows",
        "only rows with at least this part of the sorted event",
        "sort, and choose by --min, with the cost of what each row calls",
        "text, csv or json"),
    [OPT_SOURCE] = {0, "source", "OLD=NEW",
                    "with --html: sources whose path begins with OLD are now "
                    "in NEW"},
    [OPT_HTML] = {0, "html", "FILE",
                  "write all of the record as one page for a browser: flame "
                  "graph, tables, sources"},
    {0},
};

enum report_form { REPORT_TEXT, REPORT_CSV, REPORT_JSON };

static const char *const forms[] = {
    [REPORT_TEXT] = "text", [REPORT_CSV] = "csv", [REPORT_JSON] = "json", NULL};

struct report_request {
    struct rows_request rows;
    const char *input, *html;
    const char *other; /* an option that a page has no use for; or NULL */
    struct source_moves moves;
};

static int
take_option(void *user, int option, const char *value)
{
    struct report_request *const r = user;
    const int row = option - OPT_ROWS;

    switch (option) {
    case OPT_INPUT:
        return open_record_take("report", &r->input, value);
    case OPT_SOURCE:
        return source_moves_add(&r->moves, "report", "source", value);
    case OPT_HTML:
        r->html = value;
        return *value != '\0'
                   ? 0
                   : rows_request_bad(&r->rows,
                                      "--html takes a file's name, not ", "");
    default:
        if (row != ROWS_EVENTS && row != ROWS_DEBUG_DIR)
            r->other = options[option].name;
        return rows_request_take(&r->rows, row, value);
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
    if (command_page_alone(&command_report, r->html, r->other,
                           "all functions, lines and objects, and -e chooses "
                           "its events") != 0)
        return EXIT_USAGE;
    if (r->html == NULL && r->moves.count > 0) {
        fprintf(stderr, "tally report: --source goes with --html; tally "
                        "annotate --source shows sources as text\n");
        return EXIT_USAGE;
    }
    if (open_record_spares("report", "--html", r->input, r->html) != 0)
        return EXIT_USAGE;
    return open_record_spares("report", "-o", r->input, r->rows.output);
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

    switch (report->request->rows.form) {
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
        status = rows_request_write(&r->rows, r->rows.form == REPORT_TEXT,
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
    const bool few = r->html == NULL && r->rows.form == REPORT_TEXT;
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
    struct report_request request = {0};
    struct record *record = NULL;
    int status = rows_request_init(&request.rows, &command_report, forms, argc);

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
