/* SPDX-License-Identifier: MIT */
/* tally report: what a record's events come from, by function, line and so on.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/open_record.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "record/breakdown_report.h"
#include "table/near.h"
#include "table/text.h"

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
                "rows: function, caller, line, instruction, file, image, "
                "thread or process"},
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
    struct breakdown_options breakdown; /* without the events */
    const char *input, *output, *sort, *color;
    char *events; /* owned; all -e joined; NULL: all */
    const char **debug_dirs;
    size_t debug_dir_count;
    enum report_form form;
    char separator;
};

/* Says what is wrong with the command line. */
static int
bad_usage(const char *text, const char *value)
{
    escape_printf(stderr, "tally report: %s'%s'; see tally report --help\n",
                  text, shown(value, strlen(value)).text);
    return EXIT_USAGE;
}

static int
unknown_key(const char *word, size_t length)
{
    const struct shown name = shown(word, length);
    struct near near;
    char text[64];

    near_init(&near, name.text, 2);
    for (int i = 0; i < BREAKDOWN_KEYS; i++)
        near_add(&near, breakdown_key_name((enum breakdown_key)i), NULL);
    near_text(&near, text, sizeof(text));
    if (*text != '\0')
        escape_printf(stderr,
                      "tally report: --by '%s' is no key; did you mean %s?\n",
                      name.text, text);
    else
        escape_printf(stderr,
                      "tally report: --by takes function, caller, line, "
                      "instruction, file, image, thread or process, not "
                      "'%s'\n",
                      name.text);
    return EXIT_USAGE;
}

static int
take_keys(struct breakdown_options *o, const char *value)
{
    o->key_count = 0;
    for (;;) {
        const size_t length = strcspn(value, ",");
        const int key = breakdown_key_find(value, length);
        bool known = false;
        if (key < 0)
            return unknown_key(value, length);
        for (size_t i = 0; i < o->key_count; i++)
            known |= o->keys[i] == (enum breakdown_key)key;
        if (!known)
            o->keys[o->key_count++] = (enum breakdown_key)key;
        if (value[length] == '\0')
            return 0;
        value += length + 1;
    }
}

static int
take_top(struct breakdown_options *o, const char *value)
{
    char *end;

    errno = 0;
    o->top = strtoul(value, &end, 10);
    if (*value >= '0' && *value <= '9' && *end == '\0' && errno == 0 &&
        o->top > 0)
        return 0;
    return bad_usage("--top takes a number of rows from 1 on, not ", value);
}

static int
take_min(struct breakdown_options *o, const char *value)
{
    char *end;

    o->min = strtod(value, &end);
    end += *end == '%';
    if (end != value && *end == '\0' && o->min >= 0 && o->min <= 100)
        return 0;
    return bad_usage("--min takes 0 to 100 per cent, not ", value);
}

static int
take_separator(struct report_request *r, const char *value)
{
    const char *const sign = strcmp(value, "\\t") == 0 ? "\t" : value;

    if (strlen(sign) != 1 || strchr(",;:|/ \t", *sign) == NULL)
        return bad_usage("-x takes one sign such as , or ; or | or \\t, not ",
                         value);
    r->separator = *sign;
    r->form = REPORT_CSV;
    return 0;
}

static int
take_option(struct report_request *r, int option, const char *value)
{
    static const char *const forms[] = {"text", "csv", "json", NULL};
    int form = REPORT_TEXT, status;

    switch (option) {
    case OPT_INPUT:
        r->input = value;
        return 0;
    case OPT_BY:
        return take_keys(&r->breakdown, value);
    case OPT_EVENTS:
        return command_join(&r->events, value) == 0 ? 0 : EXIT_OURS;
    case OPT_SORT:
        r->sort = value;
        return 0;
    case OPT_TOP:
        return take_top(&r->breakdown, value);
    case OPT_MIN:
        return take_min(&r->breakdown, value);
    case OPT_MATCH:
        r->breakdown.match = value;
        return 0;
    case OPT_NO_INLINE:
        r->breakdown.no_inline = true;
        return 0;
    case OPT_INCLUSIVE:
        r->breakdown.by_inclusive = true;
        return 0;
    case OPT_DEBUG_DIR:
        r->debug_dirs[r->debug_dir_count++] = value;
        return 0;
    case OPT_OUTPUT:
        r->output = value;
        return *value != '\0' ? 0
                              : bad_usage("-o takes a file's name, not ", "");
    case OPT_SEPARATOR:
        return take_separator(r, value);
    case OPT_COLOR:
        r->color = value;
        return 0;
    default:
        status = command_form(
            &command_report, option == OPT_JSON ? "json" : value, forms, &form);
        r->form = (enum report_form)form;
        return status;
    }
}

static int
take_operand(struct report_request *r, const char *file)
{
    if (r->input != NULL)
        return bad_usage("one record is read, not ", file);
    r->input = file;
    return 0;
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct report_request *r, int argc, char **argv)
{
    struct option_walk walk = {&command_report, argc, argv, 0, NULL};
    const char *value;

    for (;;) {
        const int option = command_option(&walk, &value);
        int status = 0;
        if (option == COMMAND_HELP)
            return COMMAND_HELP;
        if (option == COMMAND_BAD)
            return EXIT_USAGE;
        if (option >= 0)
            status = take_option(r, option, value);
        else if (walk.next < argc)
            status = take_operand(r, argv[walk.next++]);
        else
            break;
        if (status != 0)
            return status;
    }
    if (command_color(r->color, stdout) < 0) {
        escape_printf(stderr,
                      "tally: --color takes auto, always or never, not '%s'\n",
                      shown(r->color, strlen(r->color)).text);
        return EXIT_USAGE;
    }
    return 0;
}

/* Returns whether a few of the events are shown. */
static bool
is_short(const struct report_request *r)
{
    return r->form == REPORT_TEXT && r->events == NULL;
}

/* Finds the event that --sort names. If it is not among the events it is added,
 * or takes the place of the last one where the table is full. */
static int
choose_sort(const struct report_request *r, const struct record *record,
            size_t *events, struct breakdown_options *o)
{
    size_t *found = calloc(record->event_count, sizeof(*found));
    size_t count = 0;
    int status = found == NULL ? command_no_memory() : 0;

    if (status == 0 && breakdown_key_find(r->sort, strlen(r->sort)) >= 0 &&
        record_events(record, r->sort, NULL, found, &count) != 0) {
        escape_printf(stderr,
                      "tally report: --sort takes an event; --by %s gives the "
                      "rows\n",
                      r->sort);
        status = EXIT_USAGE;
    } else if (status == 0 && record_events(record, r->sort, &command_log,
                                            found, &count) != 0) {
        status = EXIT_USAGE;
    } else if (status == 0 && count != 1) {
        status = bad_usage("--sort takes one event, not ", r->sort);
    }
    for (o->sort = 0; status == 0 && o->sort < o->event_count; o->sort++)
        if (events[o->sort] == found[0])
            break;
    if (status == 0 && o->sort == o->event_count) {
        if (o->event_count == EVENTS_SHOWN && is_short(r))
            o->sort = --o->event_count;
        events[o->event_count++] = found[0];
    }
    free(found);
    return status;
}

static int
choose_events(const struct report_request *r, const struct record *record,
              size_t *events, struct breakdown_options *o)
{
    const bool all = r->events == NULL || strcmp(r->events, "all") == 0;

    o->events = events;
    if (record_events(record, all ? NULL : r->events, &command_log, events,
                      &o->event_count) != 0)
        return EXIT_USAGE;
    if (o->event_count == 0)
        return bad_usage("-e takes events of the record, not ", r->events);
    if (is_short(r) && o->event_count > EVENTS_SHOWN)
        o->event_count = EVENTS_SHOWN;
    o->sort_by_name = r->sort != NULL && strcmp(r->sort, "name") == 0;
    return r->sort != NULL && !o->sort_by_name
               ? choose_sort(r, record, events, o)
               : 0;
}

static int
write_form(const struct report_request *r, const struct breakdown *b,
           const struct breakdown_look *look, FILE *out)
{
    switch (r->form) {
    case REPORT_TEXT:
        return breakdown_text(b, look, out);
    case REPORT_CSV:
        return breakdown_csv(b, r->separator, out);
    default:
        return breakdown_json(b, out);
    }
}

static int
status_of(int error)
{
    return error == 0           ? 0
           : error == TALLY_EIO ? command_unwritten("output")
                                : command_no_memory();
}

static int
write_file(const struct report_request *r, const struct breakdown *b)
{
    struct breakdown_look look = {.color = r->color != NULL &&
                                           strcmp(r->color, "always") == 0};
    struct output output;
    int status = output_open(r->output, REPLACE_WHOLE, &output);

    if (status != 0)
        return status;
    const int error = write_form(r, b, &look, output.file);
    const int unwritten = output_close(&output, error == 0);
    return status_of(error != 0 ? error : unwritten);
}

static int
write_screen(const struct report_request *r, const struct breakdown *b)
{
    struct screen screen;
    int status = screen_open(&screen, r->color);

    if (status != 0)
        return status;
    const struct breakdown_look look = {.width = screen.width,
                                        .color = screen.color};
    const int error = write_form(r, b, &look, screen.out);
    status = screen_close(&screen);
    return error != 0 ? status_of(error) : status;
}

static int
write_report(const struct report_request *r, const struct breakdown *b)
{
    const struct breakdown_look look = {0};

    if (r->output != NULL)
        return write_file(r, b);
    if (r->form == REPORT_TEXT)
        return write_screen(r, b);
    int error = write_form(r, b, &look, stdout);
    if (error == 0 && fflush(stdout) != 0)
        error = TALLY_EIO;
    return status_of(error);
}

/* Refuses what a record without callers cannot tell. */
static int
check_callers(const struct breakdown_options *o, const struct record *record)
{
    bool asks = o->by_inclusive;

    for (size_t i = 0; i < o->key_count; i++)
        asks |= o->keys[i] == BREAKDOWN_CALLER;
    if (!asks || record->has_callers)
        return 0;
    escape_printf(stderr,
                  "tally report: %s has no callers: it was recorded with "
                  "--no-callers\n",
                  record->path);
    return EXIT_USAGE;
}

static int
report_record(const struct report_request *r, const struct record *record)
{
    const struct resolver_options names = {r->debug_dirs, r->debug_dir_count};
    struct breakdown_options o = r->breakdown;
    struct resolver *resolver = NULL;
    struct breakdown *b = NULL;
    size_t *events = calloc(record->event_count + 1, sizeof(*events));
    int status = events == NULL ? command_no_memory()
                                : choose_events(r, record, events, &o);

    if (status == 0)
        status = check_callers(&o, record);
    if (status == 0 &&
        (resolver_create(record, &names, &command_log, &resolver) != 0 ||
         breakdown_create(record, resolver, &o, &command_log, &b) != 0))
        status = EXIT_OURS;
    if (status == 0)
        status = write_report(r, b);
    breakdown_destroy(b);
    resolver_destroy(resolver);
    free(events);
    return status;
}

static int
run_report(int argc, char **argv)
{
    struct report_request request = {
        .breakdown = {.keys = {BREAKDOWN_FUNCTION}, .key_count = 1},
        .separator = ',',
    };
    struct record *record = NULL;
    int status = EXIT_OURS;

    request.debug_dirs = calloc((size_t)argc, sizeof(*request.debug_dirs));
    if (request.debug_dirs == NULL)
        return command_no_memory();
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
    free(request.debug_dirs);
    free(request.events);
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
