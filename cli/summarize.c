/* SPDX-License-Identifier: MIT */
/* tally summarize: what the profiler's dumps say of a packet or an interval. */
#include "cli/summarize.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/input.h"
#include "cli/output.h"
#include "cli/screen.h"
#include "profile/call_file.h"
#include "report/summary_pages.h"
#include "table/text.h"

enum {
    OPT_MACHINE,
    OPT_BY,
    OPT_SKIP,
    OPT_CUMULATIVE,
    OPT_FREQ,
    OPT_METRICS,
    OPT_INPUT,
    OPT_LOCATIONS,
    OPT_RECOVER,
    OPT_HTML,
    OPT_XLSX,
    OPT_FORMAT,
    OPT_JSON,
    OPT_COLOR,
};

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "whose events they are (default: the dump's)"},
    [OPT_BY] = {0, "by", "WHAT",
                "thread, core, region or all, or thread,region (default)"},
    [OPT_SKIP] = {0, "skip", "N", "leave out each thread's first N intervals"},
    [OPT_CUMULATIVE] = {0, "user-cumulative", NULL,
                        "user words are running sums: take differences"},
    [OPT_FREQ] = {0, "freq", "HZ", "the clock, as 1.4G, for rates"},
    [OPT_METRICS] = {'M', "metrics", "METRICS",
                     "only these metrics (default: all that have a value)"},
    [OPT_INPUT] = {0, "input", "NAME=VALUE",
                   "a number, or userN, that metrics need"},
    [OPT_LOCATIONS] = {0, "locations", "FILE",
                       "where calls are (profiler_calls_location.txt)"},
    [OPT_RECOVER] = {0, "recover", NULL,
                     "each FILE is what a program kept its buffers in"},
    [OPT_HTML] = {0, "html", "FILE", "write a page with pictures to it"},
    [OPT_XLSX] = {0, "xlsx", "FILE", "write a workbook with formulas to it"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, csv, json or teja"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_COLOR] = {0, "color", "WHEN", "auto, always or never"},
    {0},
};

static int
take_skip(struct summarize_request *r, const char *value)
{
    if (command_number(value, 0, UINT64_MAX, &r->options.skip))
        return 0;
    escape_printf(
        stderr,
        "tally summarize: --skip takes a number of intervals, not '%s'\n",
        shown(value, strlen(value)).text);
    return EXIT_USAGE;
}

static int
take_option(void *user, int option, const char *value)
{
    struct summarize_request *const r = user;
    static const char *const forms[] = {"text", "csv", "json", "teja", NULL};
    uint64_t clock;
    int form = SUMMARIZE_TEXT, status;

    switch (option) {
    case OPT_MACHINE:
        return command_machine(value, &r->options.machine);
    case OPT_BY:
        r->by_given = true;
        return summarize_by(value, &r->options.by);
    case OPT_SKIP:
        return take_skip(r, value);
    case OPT_CUMULATIVE:
        r->options.cumulative = true;
        return 0;
    case OPT_FREQ:
        if (param_parse(PARAM_CLOCK, value, &command_log, &clock) != 0)
            return EXIT_USAGE;
        r->clock = (double)clock;
        return 0;
    case OPT_METRICS:
        r->metric_list = value;
        return 0;
    case OPT_INPUT:
        r->inputs[r->input_count++] = (char *)value;
        return 0;
    case OPT_LOCATIONS:
        r->locations = value;
        return 0;
    case OPT_RECOVER:
        r->recover = true;
        return 0;
    case OPT_COLOR:
        r->color = value;
        return 0;
    case OPT_HTML:
        r->html = value;
        return 0;
    case OPT_XLSX:
        r->xlsx = value;
        return 0;
    default:
        r->form_given = true;
        status =
            command_form(&command_summarize,
                         option == OPT_JSON ? "json" : value, forms, &form);
        r->form = (enum summarize_form)form;
        return status;
    }
}

/* Refuses options that do not go together, and values that would only be found
 * out later. */
static int
check_request(struct summarize_request *r)
{
    struct summary_input inputs[SUMMARY_INPUTS];
    const char *clash = r->options.cumulative ? "--user-cumulative"
                        : r->by_given         ? "--by"
                                              : NULL;

    if (r->file_count == 0) {
        fprintf(stderr, "tally summarize: no dump; name its file, or - for "
                        "standard input\n");
        return EXIT_USAGE;
    }
#ifndef HAVE_XLSX
    if (r->xlsx != NULL) {
        fprintf(stderr, "tally summarize: --xlsx needs a tally that is built "
                        "with libxlsxwriter; install libxlsxwriter-dev and "
                        "build it anew\n");
        return EXIT_USAGE;
    }
#endif
    if (r->form == SUMMARIZE_TEJA && clash != NULL) {
        escape_printf(stderr,
                      "tally summarize: %s does not go with --format teja\n",
                      clash);
        return EXIT_USAGE;
    }
    if ((r->options.by & SUMMARY_BY_THREAD) != 0 &&
        (r->options.by & SUMMARY_BY_CORE) != 0) {
        fprintf(stderr, "tally summarize: --by thread or core, not both\n");
        return EXIT_USAGE;
    }
    if (command_color(r->color, stdout) < 0) {
        escape_printf(stderr,
                      "tally: --color takes auto, always or never, not '%s'\n",
                      shown(r->color, strlen(r->color)).text);
        return EXIT_USAGE;
    }
    if (summarize_metrics(r, r->options.machine) != 0)
        return EXIT_USAGE;
    return summarize_inputs(r, r->options.machine, inputs);
}

static int
cannot_read(const char *path)
{
    escape_printf(stderr, "tally summarize: cannot read %s: %s\n", path,
                  input_reason(errno));
    return EXIT_USAGE;
}

/* Opens the table of places where a build puts it, beside the dump; NULL: there
 * is none. */
static FILE *
open_beside(const char *dump)
{
    static const char *const names[] = {
        "profiler_calls_location.txt",
        "reports/profiler_calls_location.txt",
    };
    const char *slash = strrchr(dump, '/');
    FILE *file = NULL;

    for (size_t i = 0; i < 2 && file == NULL && strcmp(dump, "-") != 0; i++) {
        char *path;
        if (asprintf(&path, "%.*s%s",
                     slash != NULL ? (int)(slash - dump) + 1 : 0, dump,
                     names[i]) < 0)
            return NULL;
        file = input_stream(path);
        free(path);
    }
    return file;
}

static int
read_calls(const struct summarize_request *r, struct call_table *calls)
{
    FILE *file = r->locations != NULL ? input_stream(r->locations)
                                      : open_beside(r->files[0]);
    int error;

    if (file == NULL)
        return r->locations != NULL ? cannot_read(r->locations) : 0;
    error = call_table_read(file, calls);
    if (error == TALLY_EIO)
        cannot_read(r->locations != NULL ? r->locations
                                         : "profiler_calls_location.txt");
    else if (r->locations != NULL && calls->count == 0 && error == 0) {
        escape_printf(stderr,
                      "tally summarize: %s: no line has an id and a place\n",
                      r->locations);
        error = TALLY_ESYNTAX;
    }
    fclose(file);
    return error != 0 ? EXIT_USAGE : 0;
}

static long
fill(void *user, void *data, size_t size)
{
    ssize_t got;

    do
        got = read(*(const int *)user, data, size);
    while (got < 0 && errno == EINTR);
    return got;
}

/* What is gathered while dumps are read. */
struct gathered {
    struct summary summary;
    struct summary_teja teja;
    struct timeline timeline;
    struct call_table calls;
    bool with_teja, with_timeline;
};

/* Reads the places that the buffers' file has, where no table was found. */
static int
take_places(const struct call_image *image, struct call_table *calls)
{
    if (image->text_size == 0 || calls->count > 0)
        return 0;
    FILE *file =
        fmemopen((void *)(uintptr_t)image->text, image->text_size, "r");
    const int error =
        file != NULL ? call_table_read(file, calls) : TALLY_ENOMEM;
    if (file != NULL)
        fclose(file);
    return error;
}

/* Reads what a program that died had in its buffers. */
static int
recover_file(struct gathered *g, const char *path)
{
    const int fd = input_open(path);
    struct dump_reader reader;
    struct call_image image;
    int error = fd < 0 ? TALLY_EIO : call_image_read(fd, &image);

    if (fd >= 0)
        close(fd);
    if (error == TALLY_EIO)
        return cannot_read(path);
    if (error == TALLY_ESYNTAX) {
        escape_printf(
            stderr, "tally summarize: %s holds no profiler's buffers\n", path);
        return EXIT_USAGE;
    }
    if (error == 0) {
        error = take_places(&image, &g->calls);
        if (error == 0)
            error = dump_reader_init(&reader, path, call_image_fill, &image,
                                     &g->summary.troubles);
        if (error == 0) {
            error = summary_read(&g->summary, &reader);
            dump_reader_finish(&reader);
        }
        call_image_finish(&image);
    }
    return error == 0 ? 0 : command_no_memory();
}

static int
is_image(const char *path)
{
    escape_printf(
        stderr,
        "tally summarize: %s holds a profiler's buffers and is no dump; "
        "--recover reads it\n",
        path);
    return EXIT_USAGE;
}

static int
read_file(struct summary *s, const char *path)
{
    const bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : input_open(path);
    struct dump_reader reader;

    if (fd < 0)
        return cannot_read(path);
    if (!standard && call_image_is(fd)) {
        close(fd);
        return is_image(path);
    }
    if (dump_reader_init(&reader, path, fill, &fd, &s->troubles) != 0)
        return command_no_memory();
    const int error = summary_read(s, &reader);
    dump_reader_finish(&reader);
    const int status = error == 0 ? 0
                       : error == TALLY_EIO
                           ? cannot_read(standard ? "standard input" : path)
                           : command_no_memory();
    if (!standard)
        close(fd);
    return status;
}

/* Warns of skipped parts of dumps, with the first place of each kind, one line
 * each. */
static void
tell_troubles(const struct summary *s)
{
    const struct dump_troubles *const troubles = &s->troubles;

    for (int i = 0; i < DUMP_TROUBLES; i++) {
        const struct dump_place *p = &troubles->places[i];
        const enum dump_trouble what = (enum dump_trouble)i;
        if (p->count == 0)
            continue;
        escape_printf(stderr, "tally: %s%" PRIu64 " %s",
                      dump_trouble_skips(what) ? "skipped: " : "warning: ",
                      p->count, dump_trouble_text(what, p->count > 1));
        if (p->line > 0)
            escape_printf(stderr, " (%s%s:%" PRIu64 ")",
                          p->count > 1 ? "first " : "", p->file, p->line);
        escape_printf(stderr, "%s\n",
                      what == DUMP_UNKNOWN_EVENT && s->guessed
                          ? "; a dump of another machine needs -m"
                          : "");
    }
}

/* Warns of events that vary by more than a few per cent: the document says that
 * they should not. */
static void
tell_unsteady(const struct summary_report *r)
{
    const struct summary *s = r->summary;
    const struct summary_cell *worst = NULL;
    const char *name, *worst_name = "";
    char text[320];
    size_t count = 0;
    double most = 0;

    for (size_t i = 0; i < s->cell_count; i++) {
        const double varies = summary_cell_varies(s->cells[i], &name);
        count += varies > SUMMARY_STEADY;
        if (varies > most) {
            most = varies;
            worst = s->cells[i];
            worst_name = name;
        }
    }
    if (count == 0)
        return;
    summary_cell_text(r, worst, text, sizeof(text));
    escape_printf(stderr, "tally: warning: intervals vary: %s of %s by %.1f %%",
                  worst_name, text, most);
    if (count > 1)
        fprintf(stderr, ", and %zu more by over %.0f %%", count - 1,
                SUMMARY_STEADY);
    fprintf(stderr, "; means are of use in a steady state\n");
}

/* Warns of rates of running sums, which are wrong and look right. */
static void
tell_growing(const struct summary_report *r)
{
    const struct summary *s = r->summary;
    bool used = false;

    for (size_t i = 0; i < SUMMARY_INPUTS; i++)
        used |= r->inputs[i].source == SUMMARY_WORD && r->inputs[i].word == 0;
    if (used && !s->options.cumulative && s->stays == 0 && s->rises > 2 &&
        s->intervals > 0)
        fprintf(stderr, "tally: warning: user word 1 only grows; if it is a "
                        "running sum, --user-cumulative takes differences\n");
}

/* Warns of a user word that was asked for and that no record has. */
static void
tell_absent(const struct summary_report *r)
{
    const struct summary *s = r->summary;

    for (size_t i = 0; i < SUMMARY_INPUTS; i++) {
        const struct summary_input *in = &r->inputs[i];
        if (in->given && in->source == SUMMARY_WORD &&
            in->word >= s->word_count)
            escape_printf(
                stderr,
                "tally: warning: no record has user word %zu: metrics with "
                "%s have no value\n",
                in->word + 1, s->machine->inputs[i].name);
    }
}

static int
print_text(struct summary_report *r, const char *color)
{
    struct screen screen;
    int status = screen_open(&screen, color);

    if (status != 0)
        return status;
    r->color = screen.color;
    summary_report_text(r, screen.out);
    return screen_close(&screen);
}

static int
gather(void *user, const struct summary_interval *interval)
{
    struct gathered *g = user;
    int error = 0;

    if (g->with_teja)
        error = summary_teja_take(&g->teja, interval);
    if (error == 0 && g->with_timeline)
        error = timeline_add(&g->timeline, interval);
    return error;
}

static int
write_html(struct output *out, const struct summary_report *r,
           const struct timeline *timeline)
{
    return summary_report_html(r, timeline, out->file);
}

/* Writes the workbook. The library opens the file by a name: that of the
 * descriptor. */
static int
write_xlsx(struct output *out, const struct summary_report *r,
           const struct timeline *timeline)
{
    (void)timeline;
#ifdef HAVE_XLSX
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", out->replace.fd);
    return summary_report_xlsx(r, path);
#else
    (void)out;
    (void)r;
    return TALLY_EIO;
#endif
}

typedef int (*write_fn)(struct output *out, const struct summary_report *r,
                        const struct timeline *timeline);

/* Nothing to do for a NULL path. */
static int
write_file(const char *path, write_fn write_it, const struct summary_report *r,
           const struct timeline *timeline)
{
    struct output out;

    if (path == NULL)
        return 0;
    const int status = output_open(path, REPLACE_WHOLE, &out);
    if (status != 0)
        return status;
    errno = 0;
    int error = write_it(&out, r, timeline);
    if (output_close(&out, error == 0) != 0)
        error = TALLY_EIO;
    if (error == TALLY_EIO)
        escape_printf(stderr, "tally: cannot write %s: %s\n", path,
                      errno != 0 ? strerror(errno) : "the library failed");
    return error == 0           ? 0
           : error == TALLY_EIO ? EXIT_OURS
                                : command_no_memory();
}

static int
print_report(const struct summarize_request *request, struct summary_report *r,
             struct summary_teja *teja)
{
    int error = 0;

    if ((request->html != NULL || request->xlsx != NULL) &&
        !request->form_given)
        return 0;
    if (request->form == SUMMARIZE_TEXT)
        return print_text(r, request->color);
    if (request->form == SUMMARIZE_TEJA)
        error = summary_teja_print(teja, stdout);
    else if (request->form == SUMMARIZE_CSV)
        error = summary_report_csv(r, stdout);
    else
        error = summary_report_json(r, stdout);
    if (error == 0 && fflush(stdout) != 0)
        error = TALLY_EIO;
    return error == 0           ? 0
           : error == TALLY_EIO ? command_unwritten("output")
                                : command_no_memory();
}

/* Says why there is no interval, and what to do where there is no record. */
static void
tell_nothing(const struct summary *s)
{
    const char *const machine = s->dumped_machine;

    fprintf(stderr, "tally summarize: no interval");
    if (s->skipped > 0)
        fprintf(stderr, " behind those that --skip leaves out\n");
    else if (s->records > 0)
        fprintf(stderr, ": no start has an update behind it\n");
    else if (machine[0] == '\0')
        fprintf(stderr, ": there is no record; tally profile PROGRAM dumps the "
                        "records of a program that calls the profiler\n");
    else if (strcmp(machine, "host") == 0)
        fprintf(stderr,
                ": there is no record; if the host lacks the program's events, "
                "tally profile -e task-clock,page-faults PROGRAM counts the "
                "kernel's, tally profile -m host-model -e instructions PROGRAM "
                "a model's\n");
    else
        escape_printf(
            stderr,
            ": there is no record; if %s lacks the program's events, tally "
            "profile -m %s -e EVENTS PROGRAM counts events of tally list "
            "events -m %s\n",
            machine, machine, machine);
}

static int
report(struct summarize_request *request, struct gathered *g)
{
    struct summary *const s = &g->summary;
    struct summary_report r = {.summary = s, .calls = &g->calls};
    int status;

    summary_sort(s);
    for (size_t c = 0; c < s->cell_count; c++)
        for (size_t i = 0; i < s->cells[c]->event_count; i++)
            if (s->cells[c]->events[i].event == NULL &&
                s->cells[c]->events[i].name == NULL)
                dump_trouble_add(&s->troubles, DUMP_UNKNOWN_EVENT,
                                 request->files[0], 0);
    tell_troubles(s);
    status = summarize_inputs(request, s->machine, r.inputs);
    if (status == 0)
        status = summarize_metrics(request, s->machine);
    if (status != 0)
        return status;
    if (request->metric_list != NULL) {
        r.metrics = request->metrics;
        r.metric_count = request->metric_count;
    }
    tell_unsteady(&r);
    if (request->form != SUMMARIZE_TEJA)
        tell_growing(&r);
    if (s->intervals > 0) {
        tell_absent(&r);
        status = write_file(request->html, write_html, &r, &g->timeline);
        if (status == 0)
            status = write_file(request->xlsx, write_xlsx, &r, &g->timeline);
        return status != 0 ? status : print_report(request, &r, &g->teja);
    }
    tell_nothing(s);
    if (request->form == SUMMARIZE_JSON)
        print_report(request, &r, &g->teja);
    return 1;
}

static int
prepare(struct summarize_request *request, struct gathered *g)
{
    g->with_teja = request->form == SUMMARIZE_TEJA;
    g->with_timeline = request->html != NULL;
    if (g->with_teja) {
        request->options.by = SUMMARY_BY_THREAD;
        request->options.raw = true;
        if (summary_teja_init(&g->teja, &g->summary) != 0)
            return cannot_read("a temporary file");
    }
    if (g->with_timeline && timeline_init(&g->timeline) != 0)
        return command_no_memory();
    if (g->with_teja || g->with_timeline) {
        request->options.take = gather;
        request->options.user = g;
    }
    return summary_init(&g->summary, &request->options) != 0
               ? command_no_memory()
               : 0;
}

static int
summarize(struct summarize_request *request)
{
    struct gathered g = {0};
    int status = read_calls(request, &g.calls);

    if (status == 0)
        status = prepare(request, &g);
    for (size_t i = 0; i < request->file_count && status == 0; i++)
        status = request->recover ? recover_file(&g, request->files[i])
                                  : read_file(&g.summary, request->files[i]);
    if (status == 0)
        status = report(request, &g);
    summary_teja_finish(&g.teja);
    timeline_finish(&g.timeline);
    summary_finish(&g.summary);
    call_table_finish(&g.calls);
    return status;
}

static int
take_file(void *user, char *name)
{
    struct summarize_request *const r = user;

    r->files[r->file_count++] = name;
    return 0;
}

static int
run_summarize(int argc, char **argv)
{
    struct summarize_request request = {.options.by = SUMMARY_BY_THREAD |
                                                      SUMMARY_BY_REGION};

    request.files = calloc((size_t)argc, sizeof(*request.files));
    request.inputs = calloc((size_t)argc, sizeof(*request.inputs));
    int status = EXIT_OURS;
    if (request.files != NULL && request.inputs != NULL)
        status = command_read(&command_summarize, argc, argv, take_option,
                              take_file, &request);
    else
        command_no_memory();
    if (status == 0)
        status = check_request(&request);
    if (status == COMMAND_HELP) {
        command_help(&command_summarize, stdout);
        status = 0;
    } else if (status == 0) {
        status = summarize(&request);
    }
    free(request.files);
    free(request.inputs);
    return status;
}

const struct command command_summarize = {
    .name = "summarize",
    .summary = "say what the profiler's dumps show: means, metrics, spread",
    .synopsis = "[-m MACHINE] FILE...|-",
    .example =
        "  # Sum up a dump that a profiler wrote, here one of two records.\n"
        "  printf "
        "'TEJA_PROFILE_DUMP_START,ver1.1\\n4,1,1,10,0,1,100,8\\n4,2,2,64,0,1,"
        "2a,3,0,5\\nTEJA_PROFILE_DUMP_END\\n' | tally summarize -\n"
        "  # The same as CSV.\n"
        "  printf "
        "'TEJA_PROFILE_DUMP_START,ver1.1\\n4,1,1,10,0,1,100,8\\n4,2,2,64,0,1,"
        "2a,3,0,5\\nTEJA_PROFILE_DUMP_END\\n' | tally summarize --format csv -",
    .options = options,
    .run = run_summarize,
};
