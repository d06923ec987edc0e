/* SPDX-License-Identifier: MIT */
/* tally export: writes a record in the formats of other programs. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/export_metrics.h"
#include "cli/open_record.h"
#include "cli/output.h"
#include "record/export.h"
#include "table/table.h"
#include "table/text.h"
#include "version.h"

#define WRITERS_MOST 16

enum {
    OPT_AS,
    OPT_OUTPUT,
    OPT_INPUT,
    OPT_EVENTS,
    OPT_IMAGE,
    OPT_DEBUG_DIR,
};

static const struct option_row options[] = {
    [OPT_AS] = {0, "as", "FORMAT",
                "callgrind, folded, pprof, speedscope, perf-script, perf-data, "
                "brstack, bolt or openmetrics"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write there (default: standard output)"},
    [OPT_INPUT] =
        {'i', "input", "FILE",
         "the record or report to read, - for standard input (default: "
         "tally.data)"},
    [OPT_EVENTS] = {'e', "event", "EVENTS",
                    "events of the record to export (default: all; folded: the "
                    "first)"},
    [OPT_IMAGE] = {0, "image", "FILE",
                   "of brstack and bolt: the file to export, by its path or "
                   "the last part of that (default: the program)"},
    [OPT_DEBUG_DIR] = {0, "debug-dir", "DIR",
                       "look for separate debug files there too"},
    {0},
};

struct export_request {
    const struct export_writer *writer;
    bool metrics; /* of a report, by no writer */
    const char *input, *output, *image;
    char *events;            /* owned; all -e joined */
    const char **debug_dirs; /* owned */
    size_t debug_dir_count;
};

/* Finds the format; names those that are near to a wrong one. */
static int
parse_format(const char *value, struct export_request *r)
{
    const char *names[WRITERS_MOST];
    char near[128], all[128];
    size_t count = 0;

    r->metrics = strcmp(value, EXPORT_METRICS) == 0;
    r->writer = NULL;
    if (r->metrics)
        return 0;
    for (const struct export_writer *w = export_writers; w->name != NULL; w++) {
        if (strcmp(w->name, value) == 0) {
            r->writer = w;
            return 0;
        }
        names[count++] = w->name;
    }
    names[count++] = EXPORT_METRICS;
    near_names(value, names, count, 3, near, sizeof(near));
    join_words(names, count, all, sizeof(all));
    escape_printf(stderr, "tally export: unknown format '%s'; %s%s%s\n",
                  shown(value, strlen(value)).text,
                  *near != '\0' ? "did you mean " : "there are ",
                  *near != '\0' ? near : all, *near != '\0' ? "?" : "");
    return EXIT_USAGE;
}

static int
take_option(void *user, int option, const char *value)
{
    struct export_request *const r = user;
    switch (option) {
    case OPT_AS:
        return parse_format(value, r);
    case OPT_OUTPUT:
        r->output = value;
        return 0;
    case OPT_INPUT:
        return open_record_take("export", &r->input, value);
    case OPT_IMAGE:
        r->image = value;
        return 0;
    case OPT_EVENTS:
        return command_join(&r->events, value) == 0 ? 0 : EXIT_OURS;
    default:
        r->debug_dirs[r->debug_dir_count++] = value;
        return command_debug_dir(&command_export, value);
    }
}

/* Refuses what a report does not have. */
static int
check_report(const struct export_request *r)
{
    const char *const wrong = r->events != NULL          ? "-e"
                              : r->image != NULL         ? "--image"
                              : r->debug_dirs[0] != NULL ? "--debug-dir"
                                                         : NULL;

    if (wrong != NULL) {
        escape_printf(stderr,
                      "tally export: %s is of records; " EXPORT_METRICS
                      " has all that the report has\n",
                      wrong);
        return EXIT_USAGE;
    }
    if (r->input == NULL) {
        fprintf(stderr, "tally export: --as " EXPORT_METRICS
                        " needs -i FILE: a report of tally count -j or tally "
                        "check --format json, or - for standard input\n");
        return EXIT_USAGE;
    }
    if (r->output == NULL || !open_record_is(r->input, r->output))
        return 0;
    escape_printf(stderr,
                  "tally export: -o %s would replace the report itself\n",
                  r->output);
    return EXIT_USAGE;
}

/* Refuses what cannot be done, before anything is read. */
static int
check_request(const struct export_request *r)
{
    if (r->metrics)
        return check_report(r);
    if (r->writer == NULL) {
        fprintf(stderr,
                "tally export: a format is expected, as in tally export "
                "--as callgrind; see tally export --help\n");
        return EXIT_USAGE;
    }
    if (r->writer->branches && r->events != NULL) {
        escape_printf(stderr,
                      "tally export: %s has branches and no events; leave -e "
                      "away\n",
                      r->writer->name);
        return EXIT_USAGE;
    }
    if (!r->writer->one_image && r->image != NULL) {
        escape_printf(stderr,
                      "tally export: %s has all files; --image chooses one for "
                      "brstack or bolt\n",
                      r->writer->name);
        return EXIT_USAGE;
    }
    if (r->writer->binary && r->output == NULL && isatty(STDOUT_FILENO)) {
        escape_printf(stderr,
                      "tally export: %s is no text for a terminal; -o FILE "
                      "writes it to a file\n",
                      r->writer->name);
        return EXIT_USAGE;
    }
    return open_record_spares("export", "-o", r->input, r->output);
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct export_request *r, int argc, char **argv)
{
    int operand;
    const int status = command_read_options(&command_export, argc, argv,
                                            take_option, r, &operand);

    if (status != 0)
        return status;
    if (operand < argc) {
        escape_printf(stderr,
                      "tally export: '%s' is no option; -i FILE names the "
                      "record to read\n",
                      argv[operand]);
        return EXIT_USAGE;
    }
    return check_request(r);
}

/* Says which values the format could not have, in one line. */
static void
tell_left_out(const struct export_request *r, const struct export_list *list,
              const int64_t *left_out)
{
    size_t told = 0;

    for (size_t e = 0; e < list->event_count; e++) {
        if (left_out[e] == 0)
            continue;
        if (told++ == 0)
            fprintf(stderr,
                    "tally: warning: %s has no negative values; left out: ",
                    r->writer->name);
        escape_printf(stderr, "%s%" PRId64 " of %s", told > 1 ? ", " : "",
                      left_out[e], export_event(list, e));
    }
    if (told > 0)
        fputc('\n', stderr);
}

/* Writes the list to the open output. 0 or an error; TALLY_EIO with errno. */
static int
write_open(const struct export_request *r, const struct export_list *list,
           struct output *out, int64_t *left_out)
{
    errno = 0;
    int error = r->writer->write(list, out->file, left_out);
    const int cause = errno;

    if (r->output != NULL) {
        if (output_close(out, error == 0) != 0 && error == 0)
            return TALLY_EIO;
    } else if (error == 0 && fflush(stdout) != 0) {
        return TALLY_EIO;
    }
    errno = cause;
    return error;
}

/* Writes the list where the request wants it. Returns an exit status. */
static int
write_list(const struct export_request *r, const struct export_list *list)
{
    struct output out = {.file = stdout};
    int64_t *left_out = calloc(list->event_count + 1, sizeof(*left_out));
    int status = left_out != NULL ? 0 : command_no_memory();

    if (status == 0 && r->output != NULL)
        status = output_open(r->output, REPLACE_WHOLE, &out);
    if (status == 0) {
        const int error = write_open(r, list, &out, left_out);
        if (error == 0)
            tell_left_out(r, list, left_out);
        else
            status = error == TALLY_EIO ? output_unwritten(r->output)
                                        : command_no_memory();
    }
    free(left_out);
    return status;
}

/* Chooses the events: the first alone where the format has one. */
static int
choose_events(const struct export_request *r, const struct record *record,
              size_t *events, size_t *count)
{
    const int error =
        record_events(record, r->events, &command_log, events, count);

    if (error != 0)
        return EXIT_USAGE;
    if (*count == 0) {
        fprintf(stderr, "tally export: -e names no event\n");
        return EXIT_USAGE;
    }
    if (r->writer->one_event && r->events == NULL)
        *count = 1;
    if (r->writer->one_event && *count > 1) {
        escape_printf(stderr,
                      "tally export: %s has one event, and -e names %zu; one "
                      "file an event has them all\n",
                      r->writer->name, *count);
        return EXIT_USAGE;
    }
    return 0;
}

/* Returns whether the name is a path, or the last part of the path. */
static bool
names_path(const char *name, const char *path)
{
    const char *slash = strrchr(path, '/');

    return strcmp(name, path) == 0 ||
           (slash != NULL && strcmp(name, slash + 1) == 0);
}

/* Finds the image of a format of one: the program's, or the one that is named.
 */
static int
choose_image(const struct export_request *r, const struct record *record,
             uint32_t *image)
{
    const char *program =
        record->process_count > 0 ? record->processes[0].program : "";
    const char *slash = strrchr(program, '/');
    const char *own = slash != NULL ? slash + 1 : program;
    const char *name = r->image != NULL ? r->image : own;

    for (size_t i = 0; i < record->image_count; i++) {
        if (names_path(name, record->images[i].path)) {
            *image = (uint32_t)i;
            return 0;
        }
    }
    escape_printf(stderr,
                  "tally export: %s: no code of '%s' was executed; --image "
                  "names a file that tally report --by image shows\n",
                  record->path, name);
    return EXIT_USAGE;
}

/* Refuses a record that has not what a format of branches needs. */
static int
check_branches(const struct export_request *r, const struct record *record)
{
    if (!r->writer->branches)
        return 0;
    if (!record->has_branches) {
        escape_printf(stderr,
                      "tally export: %s has no branches, which %s needs; tally "
                      "record --branches records them\n",
                      record->path, r->writer->name);
        return EXIT_USAGE;
    }
    if (strcmp(record->isa, "x86_64") != 0) {
        escape_printf(stderr,
                      "tally export: %s is of x86_64 programs, and %s of one "
                      "for %s; --as callgrind has the branches of all\n",
                      r->writer->name, record->path, record->isa);
        return EXIT_USAGE;
    }
    return 0;
}

/* Exports an open record. Returns an exit status. */
static int
export_record(const struct export_request *r, const struct record *record)
{
    const struct resolver_options names = {
        .debug_dirs = r->debug_dirs, .debug_dir_count = r->debug_dir_count};
    size_t *events = calloc(record->event_count + 1, sizeof(*events));
    struct resolver *resolver = NULL;
    struct export_list *list = NULL;
    size_t count = 0;
    uint32_t image = RECORD_NO_IMAGE;
    int status =
        events != NULL ? check_branches(r, record) : command_no_memory();

    if (status == 0 && !r->writer->branches)
        status = choose_events(r, record, events, &count);
    if (status == 0 && r->writer->one_image)
        status = choose_image(r, record, &image);
    if (status == 0 &&
        (resolver_create(record, &names, &command_log, &resolver) != 0 ||
         export_list_create(record, resolver, events, count,
                            "tally " TALLY_VERSION, &command_log, &list) != 0))
        status = EXIT_OURS;
    if (status == 0) {
        list->image = image;
        status = write_list(r, list);
    }
    export_list_destroy(list);
    resolver_destroy(resolver);
    free(events);
    return status;
}

static int
run_export(int argc, char **argv)
{
    struct export_request request = {
        .debug_dirs = calloc((size_t)argc + 1, sizeof(*request.debug_dirs)),
    };
    struct record *record = NULL;
    int status = request.debug_dirs != NULL ? read_options(&request, argc, argv)
                                            : command_no_memory();

    if (status == COMMAND_HELP) {
        command_help(&command_export, stdout);
        status = 0;
    } else if (status == 0 && request.metrics) {
        status = export_metrics(request.input, request.output);
    } else if (status == 0) {
        status = open_record("export", request.input, &record);
        if (status == 0)
            status = export_record(&request, record);
    }
    record_close(record);
    free(request.events);
    free(request.debug_dirs);
    return status;
}

const struct command command_export = {
    .name = "export",
    .summary = "write a record or a report in other programs' formats",
    .synopsis = "--as FORMAT [-o FILE] [-i FILE] [-e EVENTS] [--debug-dir DIR]",
    .example = "  # Show a record in KCachegrind, or with callgrind_annotate.\n"
               "  tally export --as callgrind -o callgrind.out.1\n"
               "  # Write the stacks of the first event, for flamegraph.pl.\n"
               "  tally export --as folded -o stacks.txt\n"
               "  # Write a file for go tool pprof.\n"
               "  tally export --as pprof -o profile.pb.gz\n"
               "  # Write counts for monitoring, of tally count -j -o "
               "counts.json.\n"
               "  tally export --as openmetrics -i counts.json -o counts.prom",
    .options = options,
    .run = run_export,
};
