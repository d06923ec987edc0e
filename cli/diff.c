/* SPDX-License-Identifier: MIT */
/* tally diff: what rose and what fell between two records, or two reports of
 * tally count -j. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/input.h"
#include "cli/command.h"
#include "cli/open_record.h"
#include "cli/output.h"
#include "cli/rows_request.h"
#include "cli/source_moves.h"
#include "record/chunks.h"
#include "record/comparison_report.h"
#include "table/text.h"

#define ROWS_SHOWN 20  /* where people read, if --top names no number */
#define EVENTS_SHOWN 4 /* columns of rows, if -e names no events */
#define TOTALS_SHOWN 8
#define REPORT_MOST (64 << 20) /* bytes */
#define MAGIC_SIZE (sizeof(CHUNKS_MAGIC) - 1)

enum {
    OPT_ROWS,
    OPT_SOURCE_BEFORE = OPT_ROWS + ROWS_OPTION_COUNT,
    OPT_SOURCE_AFTER,
    OPT_IMAGE_BEFORE,
    OPT_IMAGE_AFTER,
};

static const struct option_row options[] = {
    ROWS_OPTION_ROWS(
        OPT_ROWS, "only these events; names may be short",
        "largest changes of this event first, or 'name' (default: the first "
        "event that changed)",
        "only the first N rows (default: 20 as text or markdown, else all)",
        "only rows whose change is at least this part of the sorted event "
        "before",
        "compare, sort and choose with the cost of what each row calls",
        "text, markdown, csv, json or html"),
    [OPT_SOURCE_BEFORE] = {0, "source-before", "OLD=NEW",
                           "sources of the earlier file whose path begins with "
                           "OLD are now in NEW"},
    [OPT_SOURCE_AFTER] = {0, "source-after", "OLD=NEW",
                          "sources of the later file whose path begins with "
                          "OLD are now in NEW"},
    [OPT_IMAGE_BEFORE] = {0, "image-before", "OLD=NEW",
                          "programs and libraries of the earlier file whose "
                          "path begins with OLD are now in NEW"},
    [OPT_IMAGE_AFTER] = {0, "image-after", "OLD=NEW",
                         "programs and libraries of the later file whose path "
                         "begins with OLD are now in NEW"},
    {0},
};

enum diff_form { DIFF_TEXT, DIFF_MARKDOWN, DIFF_CSV, DIFF_JSON, DIFF_HTML };

static const char *const forms[] = {
    [DIFF_TEXT] = "text", [DIFF_MARKDOWN] = "markdown", [DIFF_CSV] = "csv",
    [DIFF_JSON] = "json", [DIFF_HTML] = "html",         NULL};

struct diff_request {
    struct rows_request rows;
    struct source_moves sources[SIDES], images[SIDES];
    const char *files[SIDES];
    size_t file_count;
    const char *record_option; /* that was given and only records know */
};

/* One of the two files: either a record or a report. */
struct diff_file {
    const char *path;
    struct record *record;
    struct count_document *counts;
};

/* Returns whether an option also says something of reports of tally count. */
static bool
is_of_counts(int option)
{
    switch (option - OPT_ROWS) {
    case ROWS_EVENTS:
    case ROWS_OUTPUT:
    case ROWS_FORMAT:
    case ROWS_JSON:
    case ROWS_SEPARATOR:
    case ROWS_COLOR:
        return true;
    default:
        return false;
    }
}

static int
take_option(void *user, int option, const char *value)
{
    struct diff_request *const r = user;

    if (!is_of_counts(option))
        r->record_option = options[option].name;
    switch (option) {
    case OPT_SOURCE_BEFORE:
    case OPT_SOURCE_AFTER:
        return source_moves_add(
            &r->sources[option == OPT_SOURCE_AFTER ? AFTER : BEFORE], "diff",
            options[option].name, value);
    case OPT_IMAGE_BEFORE:
    case OPT_IMAGE_AFTER:
        return source_moves_add(
            &r->images[option == OPT_IMAGE_AFTER ? AFTER : BEFORE], "diff",
            options[option].name, value);
    case OPT_ROWS + ROWS_FORMAT:
        if (strcmp(value, "md") == 0)
            value = forms[DIFF_MARKDOWN];
        break;
    }
    return rows_request_take(&r->rows, option - OPT_ROWS, value);
}

/* Refuses an output that is one of the files that are compared. */
static int
check_output(const struct diff_request *r)
{
    for (int s = 0; r->rows.output != NULL && s < SIDES; s++) {
        if (open_record_is(r->files[s], r->rows.output)) {
            escape_printf(stderr,
                          "tally diff: -o %s would replace a file that is "
                          "compared\n",
                          r->rows.output);
            return EXIT_USAGE;
        }
    }
    return 0;
}

static int
take_operand(void *user, char *file)
{
    struct diff_request *const r = user;

    if (r->file_count == SIDES)
        return rows_request_bad(&r->rows, "two files are compared, not ", file);
    r->files[r->file_count++] = file;
    return 0;
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct diff_request *r, int argc, char **argv)
{
    int status =
        command_read(&command_diff, argc, argv, take_option, take_operand, r);

    if (status != 0)
        return status;
    if (r->file_count < SIDES) {
        fputs("tally diff: name two files, before and after: records of tally "
              "record or reports of tally count -j; see tally diff --help\n",
              stderr);
        return EXIT_USAGE;
    }
    if (is_stream(r->files[BEFORE]) && is_stream(r->files[AFTER])) {
        fputs("tally diff: one of the two files can be standard input\n",
              stderr);
        return EXIT_USAGE;
    }
    status = rows_request_color(&r->rows);
    return status == 0 ? check_output(r) : status;
}

/* Reads all of a file that is no record, of which `size` bytes are read. */
static int
read_counts(int fd, char *text, size_t size, struct diff_file *file)
{
    size_t room = size;
    ssize_t n = 1;

    while (n > 0 && size <= REPORT_MOST) {
        if (size == room) {
            char *more = realloc(text, room = 2 * room + 4096);
            if (more == NULL) {
                free(text);
                return command_no_memory();
            }
            text = more;
        }
        n = read(fd, text + size, room - size);
        size += n > 0 ? (size_t)n : 0;
    }
    int status = EXIT_OURS;
    size_t blank = 0;
    while (blank < size && strchr(" \t\r\n", text[blank]) != NULL)
        blank++;
    if (n < 0)
        escape_printf(stderr, "tally diff: %s: %s\n", file->path,
                      strerror(errno));
    else if (size > REPORT_MOST || blank == size || text[blank] != '{')
        escape_printf(stderr,
                      "tally diff: %s: neither a record of tally record nor a "
                      "report of tally count -j\n",
                      file->path);
    else if (count_document_read(text, size, file->path, &command_log,
                                 &file->counts) == 0)
        status = 0;
    free(text);
    return status;
}

/* Opens the record whose first bytes have been read from `fd`: a file is read
 * from its beginning, a stream goes on. */
static int
open_begun(struct diff_file *file, int fd, const char *text, size_t size)
{
    struct stat st;

    if (fd != STDIN_FILENO && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return open_record("diff", file->path, &file->record);
    return open_record_stream("diff", fd, file->path, text, size,
                              &file->record);
}

/* Opens a file of the comparison, and reads its first bytes to tell a record
 * from a report of tally count. */
static int
open_file(struct diff_file *file)
{
    const bool stream = is_stream(file->path);
    const int fd = stream ? STDIN_FILENO : input_open(file->path);
    char *text = calloc(MAGIC_SIZE + 1, 1);
    size_t size = 0;
    ssize_t n = 1;
    int status;

    if (stream)
        file->path = RECORD_STREAM;
    if (fd < 0 || text == NULL) {
        escape_printf(stderr, "tally diff: %s: %s\n", file->path,
                      input_reason(errno));
        status = EXIT_OURS;
    } else {
        while (size < MAGIC_SIZE && n > 0) {
            n = read(fd, text + size, MAGIC_SIZE - size);
            size += n > 0 ? (size_t)n : 0;
        }
        if (n < 0) {
            escape_printf(stderr, "tally diff: %s: %s\n", file->path,
                          strerror(errno));
            status = EXIT_OURS;
        } else if (size == MAGIC_SIZE &&
                   memcmp(text, CHUNKS_MAGIC, size) == 0) {
            status = open_begun(file, fd, text, size);
        } else {
            status = read_counts(fd, text, size, file);
            text = NULL;
        }
    }
    free(text);
    if (fd >= 0 && !stream)
        close(fd);
    return status;
}

/* What is written. */
struct diff {
    const struct diff_request *request;
    const struct comparison *comparison;
};

static int
write_form(void *user, const struct breakdown_look *page, FILE *out)
{
    const struct diff *diff = user;
    const struct diff_request *r = diff->request;
    const bool all = r->rows.events != NULL;
    const struct comparison_look look = {
        .page = *page,
        .events = all ? 0 : EVENTS_SHOWN,
        .totals = all || !diff->comparison->of_records ? 0 : TOTALS_SHOWN,
    };

    switch (r->rows.form) {
    case DIFF_TEXT:
        return comparison_text(diff->comparison, &look, out);
    case DIFF_MARKDOWN:
        return comparison_markdown(diff->comparison, &look, out);
    case DIFF_CSV:
        return comparison_csv(diff->comparison, r->rows.separator, out);
    case DIFF_HTML:
        return comparison_html(diff->comparison, &look, out);
    default:
        return comparison_json(diff->comparison, out);
    }
}

static int
write_diff(const struct diff_request *r, const struct comparison *c)
{
    struct diff diff = {r, c};

    return rows_request_write(&r->rows, r->rows.form == DIFF_TEXT, write_form,
                              &diff);
}

/* Leaves the events that both records have; one that was asked for must be in
 * both. `events` are of `before`, `after` gets those after. */
static int
keep_common(const struct diff_request *r, const struct diff_file *files,
            size_t *events, size_t *after, struct breakdown_options *o)
{
    const struct record *const a = files[BEFORE].record;
    size_t *to = calloc(a->event_count + 1, sizeof(*to));
    const size_t count = o->event_count, sort = o->sort;
    int status = to == NULL ? command_no_memory() : 0;

    o->event_count = 0;
    if (status == 0)
        comparison_events(a, files[AFTER].record, to);
    for (size_t i = 0; status == 0 && i < count; i++) {
        if (to[events[i]] != SIZE_MAX) {
            if (i == sort)
                o->sort = o->event_count;
            after[o->event_count] = to[events[i]];
            events[o->event_count++] = events[i];
        } else if (r->rows.events != NULL ||
                   (r->rows.sort != NULL && !o->sort_by_name && i == sort)) {
            escape_printf(stderr, "tally diff: %s has no event %s\n",
                          files[AFTER].path, a->events[events[i]].asked);
            status = EXIT_USAGE;
        }
    }
    if (status == 0 && o->event_count == 0) {
        escape_printf(stderr,
                      "tally diff: %s and %s have no event in common; tally "
                      "record -e names what is recorded\n",
                      files[BEFORE].path, files[AFTER].path);
        status = EXIT_USAGE;
    }
    free(to);
    return status;
}

static int
compare_records(const struct diff_request *r, const struct diff_file *files)
{
    const struct rows_request *rows = &r->rows;
    struct comparison_options o = {.breakdown = rows->breakdown};
    struct paired_record sides[SIDES];
    struct resolver *resolvers[SIDES] = {NULL, NULL};
    struct comparison *c = NULL;
    const size_t count = files[BEFORE].record->event_count + 1;
    size_t *events = calloc(2 * count, sizeof(*events));
    int status = events == NULL
                     ? command_no_memory()
                     : rows_request_choose(rows, files[BEFORE].record, 0,
                                           events, &o.breakdown);

    if (status == 0)
        status = keep_common(r, files, events, events + count, &o.breakdown);
    o.after_events = events + count;
    o.sort_is_free = rows->sort == NULL;
    if (o.breakdown.top == 0 &&
        (r->rows.form == DIFF_TEXT || r->rows.form == DIFF_MARKDOWN))
        o.breakdown.top = ROWS_SHOWN;
    for (int s = 0; status == 0 && s < SIDES; s++) {
        const struct resolver_options names = {
            .debug_dirs = rows->debug_dirs,
            .debug_dir_count = rows->debug_dir_count,
            .moves = r->images[s].rows,
            .move_count = r->images[s].count,
        };
        status = rows_request_check(rows, files[s].record);
        if (status == 0 && resolver_create(files[s].record, &names,
                                           &command_log, &resolvers[s]) != 0)
            status = EXIT_OURS;
        sides[s] = (struct paired_record){
            .record = files[s].record,
            .resolver = resolvers[s],
            .moves = r->sources[s].rows,
            .move_count = r->sources[s].count,
        };
    }
    if (status == 0 && comparison_of_records(&sides[BEFORE], &sides[AFTER], &o,
                                             &command_log, &c) != 0)
        status = EXIT_OURS;
    if (status == 0)
        status = write_diff(r, c);
    comparison_destroy(c);
    resolver_destroy(resolvers[BEFORE]);
    resolver_destroy(resolvers[AFTER]);
    free(events);
    return status;
}

static int
compare_counts(const struct diff_request *r, const struct diff_file *files)
{
    struct comparison *c = NULL;
    int status = 0;

    if (r->record_option != NULL) {
        escape_printf(
            stderr,
            "tally diff: --%s is for records of tally record; %s is a "
            "report of tally count -j\n",
            r->record_option, files[BEFORE].path);
        return EXIT_USAGE;
    }
    if (comparison_of_counts(files[BEFORE].counts, files[AFTER].counts,
                             &command_log, &c) != 0)
        return EXIT_OURS;
    if (r->rows.events != NULL)
        status = comparison_choose(c, r->rows.events, &command_log) == 0
                     ? 0
                     : EXIT_USAGE;
    if (status == 0)
        status = write_diff(r, c);
    comparison_destroy(c);
    return status;
}

static int
compare_files(const struct diff_request *r, const struct diff_file *files)
{
    if ((files[BEFORE].record != NULL) == (files[AFTER].record != NULL))
        return files[BEFORE].record != NULL ? compare_records(r, files)
                                            : compare_counts(r, files);
    const bool first = files[BEFORE].record != NULL;
    escape_printf(stderr,
                  "tally diff: %s is a record and %s a report of tally count; "
                  "two of one kind are compared\n",
                  files[first ? BEFORE : AFTER].path,
                  files[first ? AFTER : BEFORE].path);
    return EXIT_USAGE;
}

static int
run_diff(int argc, char **argv)
{
    struct diff_request request = {0};
    struct diff_file files[SIDES] = {{0}};
    int status = rows_request_init(&request.rows, &command_diff, forms, argc);

    if (status != 0)
        return status;
    status = read_options(&request, argc, argv);
    if (status == COMMAND_HELP) {
        command_help(&command_diff, stdout);
        status = 0;
    } else if (status == 0) {
        for (int s = 0; status == 0 && s < SIDES; s++) {
            files[s].path = request.files[s];
            status = open_file(&files[s]);
        }
        if (status == 0)
            status = compare_files(&request, files);
    }
    for (int s = 0; s < SIDES; s++) {
        record_close(files[s].record);
        count_document_destroy(files[s].counts);
        source_moves_finish(&request.sources[s]);
        source_moves_finish(&request.images[s]);
    }
    rows_request_finish(&request.rows);
    return status;
}

const struct command command_diff = {
    .name = "diff",
    .summary = "show what rose and what fell between two records or two counts",
    .synopsis = "[OPTIONS] BEFORE AFTER",
    .example =
        "  # Record a program before and after a change, and compare.\n"
        "  tally record -o before.data ./program && tally record -o after.data "
        "./program && tally diff before.data after.data\n"
        "  # By line; the sources before are in another folder now.\n"
        "  tally diff --by function,line --source-before $PWD=/tmp/old "
        "before.data after.data\n"
        "  # For a comment of a pull request.\n"
        "  tally diff --format markdown before.data after.data\n"
        "  # Two counts, each of several runs.\n"
        "  tally count -r 5 -j -o before.json ./program && tally count -r 5 -j "
        "-o after.json ./program && tally diff before.json after.json",
    .options = options,
    .run = run_diff,
};
