/* SPDX-License-Identifier: MIT */
/* tally curve: the misses of all sizes of a cache or TLB from one run. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/scratch.h"
#include "profile/curve_recorder.h"
#include "record/record_writer.h"
#include "report/run_note.h"
#include "sweep/plot_page.h"
#include "version.h"

/* The room of an access in a page has 16 bits. */
#define PAGE_MOST UINT64_C(65536)
/* Rows of the table of parts, unless --top says more. */
#define PARTS_SHOWN 10

enum {
    OPT_LEVEL,
    OPT_SIZES,
    OPT_WAYS,
    OPT_SAMPLE,
    OPT_BY,
    OPT_TOP,
    OPT_MACHINE,
    OPT_FORMAT,
    OPT_JSON,
    OPT_OUTPUT,
    OPT_HTML,
    OPT_MODEL,
};

static const struct option_row options[] = {
    [OPT_LEVEL] = {0, "level", "LEVEL",
                   "the cache or TLB: l1d (default), l1i, l2, "
                   "l3, dtlb or itlb"},
    [OPT_SIZES] = {0, "sizes", "SIZES",
                   "LOW..HIGH, or sizes with commas between them, in bytes "
                   "with K, M or G; of a TLB entries (default: 4K..64M for "
                   "l1d)"},
    [OPT_WAYS] = {0, "ways", "N[,M...]",
                  "sets of so many ways, 1 to 64; full (default): full "
                  "associativity"},
    [OPT_SAMPLE] = {0, "sample", "1/N",
                    "follow one line or page in N, and estimate the misses"},
    [OPT_BY] = {0, "by", "KEYS",
                "the misses of each object, function or line, or of several of "
                "these with commas between them"},
    [OPT_TOP] = {0, "top", "N",
                 "with --by: show at most N rows as text; 0: all (default 10)"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to be (default: the one of the program's "
                     "instruction set)"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, csv, json or svg (a plot)"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there (default: standard error)"},
    [OPT_HTML] = {0, "html", "FILE",
                  "write the report as one page for a browser there"},
    MODEL_TURN_ROWS(OPT_MODEL, "100000"),
    {0},
};

static const struct other_option others[] = {
    {.name = "parallel",
     .advice = "threads that run at once would be in no order"},
    {0},
};

static const struct option_group groups[] = {
    {OPT_LEVEL, "What to tell"},
    {OPT_FORMAT, "What to write"},
    {OPT_MODEL, "Settings of the machine, and of the program's run"},
    {0},
};

static const char *const forms[] = {"text", "csv", "json", "svg", NULL};
static int (*const writers[])(const struct curve_drawing *d, FILE *out) = {
    curve_write_text, curve_write_csv, curve_write_json, curve_write_svg,
    curve_write_page};

/* The page's place among the writers: --html asks for it. */
#define FORM_PAGE 4

/* What records the parts of a curve: each class of accesses as an event. */
struct recorded_parts {
    int fd; /* of the record, which has no name */
    struct record_writer writer;
    struct record_head head;
    struct record_event *events; /* [head.event_count] owned */
    char (*names)[24];           /* [head.event_count] names of events; owned */
};

struct curving {
    const char *machine_name, *sizes, *output;
    const char *by;     /* NULL: no parts */
    bool topped;        /* --top was given */
    const char *page;   /* a file for a page, or NULL */
    const char *formed; /* an option of a form that is no page, or NULL */
    struct curve_ways ways;
    bool full;       /* --ways full was given */
    uint32_t sample; /* 0: none */
    int level;       /* enum curve_level */
    int form;
    struct model_options model;
    struct measured measured;
    struct session_result result;
    struct curve_counts *counts;   /* owned */
    char allocations[COUNTS_NAME]; /* path of what is preloaded, or "" */
    struct recorded_parts recorded;
    struct output out;
    char *program; /* the command line as one text; owned */
    struct curve_drawing drawing;
    struct run_notes notes;
};

/* The command line */

static int
refuse(const char *text, const char *value)
{
    escape_printf(stderr, "tally curve: %s'%s'\n", text, value);
    return EXIT_USAGE;
}

static int
take_level(struct curving *c, const char *value)
{
    for (int i = 0; i < CURVE_LEVELS; i++) {
        if (strcmp(curve_levels[i].name, value) == 0) {
            c->level = i;
            return 0;
        }
    }
    return refuse("--level is l1d, l1i, l2, l3, dtlb or itlb, not ", value);
}

static int
take_ways(struct curving *c, const char *value)
{
    const char *at = value;

    c->ways.count = 0;
    c->full = strcmp(value, "full") == 0;
    while (!c->full) {
        const size_t length = strcspn(at, ",");
        char word[8] = "";
        uint64_t ways;
        if (length < sizeof(word))
            memcpy(word, at, length);
        if (!command_number(word, 1, CURVE_WAYS, &ways))
            return refuse("--ways takes full, or numbers from 1 to 64 with "
                          "commas between them, not ",
                          value);
        for (size_t i = 0; i < c->ways.count; i++)
            if (c->ways.ways[i] == ways)
                return refuse("--ways has a number twice: ", value);
        c->ways.ways[c->ways.count++] = (uint32_t)ways;
        at += length;
        if (*at++ == '\0')
            break;
    }
    return 0;
}

static int
take_sample(struct curving *c, const char *value)
{
    uint64_t number;

    if (strncmp(value, "1/", 2) != 0 ||
        !command_number(value + 2, 2, CURVE_SAMPLE_MOST, &number))
        return refuse("--sample takes 1/2 to 1/65536, as 1/64, not ", value);
    c->sample = (uint32_t)number;
    return 0;
}

static int
take_by(struct curving *c, const char *value)
{
    c->by = value;
    return curve_parts_read(&c->drawing.parts, value)
               ? 0
               : refuse("--by takes object, function, line, file, image or "
                        "instruction, each once, with commas between them, "
                        "not ",
                        value);
}

static int
take_top(struct curving *c, const char *value)
{
    uint64_t number;

    if (!command_number(value, 0, SIZE_MAX, &number))
        return refuse("--top takes a number, not ", value);
    c->topped = true;
    c->drawing.top = number;
    return 0;
}

static int
take_option(void *user, int option, const char *value)
{
    struct curving *const c = user;
    const char *wrong;

    switch (option) {
    case OPT_LEVEL:
        return take_level(c, value);
    case OPT_SIZES:
        c->sizes = value;
        return 0;
    case OPT_WAYS:
        return take_ways(c, value);
    case OPT_SAMPLE:
        return take_sample(c, value);
    case OPT_BY:
        return take_by(c, value);
    case OPT_TOP:
        return take_top(c, value);
    case OPT_MACHINE:
        c->machine_name = value;
        return 0;
    case OPT_FORMAT:
        c->formed = "format";
        return command_form(&command_curve, value, forms, &c->form);
    case OPT_JSON:
        c->formed = "json";
        c->form = 2;
        return 0;
    case OPT_HTML:
        c->page = value;
        return *value != '\0' ? 0 : refuse("--html takes a file, not ", "");
    case OPT_OUTPUT:
        c->formed = "output";
        c->output = value;
        return *value != '\0' ? 0 : refuse("--output takes a file, not ", "");
    default:
        wrong = model_options_take(&c->model, option - OPT_MODEL, &value);
        return wrong == NULL ? 0 : refuse(wrong, value);
    }
}

/* Returns 0, a status, or COMMAND_HELP; *operand becomes the place of what is
 * to run. */
static int
read_options(struct curving *c, int argc, char **argv, int *operand)
{
    const int status = command_read_options(&command_curve, argc, argv,
                                            take_option, c, operand);

    if (status != 0)
        return status;
    if (c->sample != 0 && c->ways.count != 0) {
        fputs("tally curve: --sample and --ways: a sample has too few lines of "
              "a set; leave one of them away\n",
              stderr);
        return EXIT_USAGE;
    }
    if (command_page_alone(&command_curve, c->page, c->formed,
                           "all that the report says, and FILE says where it "
                           "goes") != 0)
        return EXIT_USAGE;
    if (c->page != NULL) {
        c->form = FORM_PAGE;
        c->output = c->page;
    }
    if (c->topped && c->by == NULL) {
        fputs("tally curve: --top goes with --by, which has parts\n", stderr);
        return EXIT_USAGE;
    }
    if (!c->topped)
        c->drawing.top = PARTS_SHOWN;
    if (argv[*operand] != NULL)
        return 0;
    fputs("tally curve: a program or a trace is expected, as in tally curve "
          "-- ./program\n",
          stderr);
    return EXIT_USAGE;
}

/* What is asked of the machine */

/* The parameters of a level: its size, its ways and its line or page. */
struct level_params {
    enum param_id size, ways, line;
};

static const struct level_params level_params[CURVE_LEVELS] = {
    [CURVE_L1D] = {PARAM_L1D_SIZE, PARAM_L1D_WAYS, PARAM_L1D_LINE},
    [CURVE_DTLB] = {PARAM_DTLB_ENTRIES, PARAM_DTLB_WAYS, PARAM_TLB_PAGE},
    [CURVE_L1I] = {PARAM_L1I_SIZE, PARAM_L1I_WAYS, PARAM_L1I_LINE},
    [CURVE_ITLB] = {PARAM_ITLB_ENTRIES, PARAM_ITLB_WAYS, PARAM_TLB_PAGE},
    [CURVE_L2] = {PARAM_L2_SIZE, PARAM_L2_WAYS, PARAM_L2_LINE},
    [CURVE_L3] = {PARAM_L3_SIZE, PARAM_L3_WAYS, PARAM_L3_LINE},
};

/* Says that the machine's level has no curve. */
static int
refuse_level(const struct curving *c, const char *why)
{
    return tally_fail(&command_log, TALLY_ERANGE, "--level %s: %s %s",
                      curve_levels[c->level].name, c->measured.machine->name,
                      why);
}

/* Checks that the level is one whose misses can be told. Returns 0 or an error,
 * logged. */
static int
check_level(const struct curving *c)
{
    const uint64_t *const params = c->measured.params;
    const struct level_params *const level = &level_params[c->level];
    const bool tlb = curve_levels[c->level].entries;

    if (params[level->size] == 0)
        return refuse_level(c, "has none");
    if (tlb && params[PARAM_TLB_KIND] == TLB_KIND_JOINT)
        return refuse_level(c, "has one TLB for code and data, whose misses "
                               "depend on both");
    if (tlb && params[PARAM_TLB_PAGE] > PAGE_MOST)
        return refuse_level(c, "has pages of more than 64 KB");
    if (c->level == CURVE_DTLB && params[PARAM_TLB_HUGE] != TLB_HUGE_NEVER)
        return refuse_level(c, "has pages of two sizes (tlb.huge)");
    if (c->level >= CURVE_L2 && params[PARAM_L3_SHARED] == L3_SHARED_CORE)
        return refuse_level(c, "has these caches behind a bus of the cores, "
                               "which tells what they are asked");
    return 0;
}

/* Makes the request and the points. Returns 0 or an error, logged. */
static int
make_request(struct curving *c)
{
    const struct curve_level_row *const row = &curve_levels[c->level];
    const struct level_params *const level = &level_params[c->level];
    const uint64_t *const params = c->measured.params;
    struct curve_drawing *const d = &c->drawing;

    d->program = c->program;
    d->machine = c->measured.machine->name;
    d->line = params[level->line];
    d->own_size = params[level->size];
    d->own_ways = (uint32_t)params[level->ways];
    if (d->own_ways * (row->entries ? 1 : d->line) == d->own_size)
        d->own_ways = 0;
    d->request.kind = c->ways.count != 0 ? CURVE_BY_SETS
                      : c->sample != 0   ? CURVE_SAMPLED
                                         : CURVE_FULL;
    d->request.level = (uint32_t)c->level;
    d->request.shift = (uint32_t)__builtin_ctzll(d->line);
    d->request.sample = c->sample;
    d->request.parts = c->by != NULL;
    return curve_make_points(d, c->sizes != NULL ? c->sizes : row->usual,
                             &c->ways, &command_log);
}

static bool
is_code(const struct curving *c)
{
    return c->level == CURVE_L1I || c->level == CURVE_ITLB;
}

/* Refuses parts that there are not of the level, or of a trace. Returns 0 or an
 * error, logged. */
static int
check_parts(const struct curving *c)
{
    if (c->by == NULL)
        return 0;
    if (c->measured.imported[0] != '\0')
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--by %s: a trace imported from %s has no code and "
                          "no data; leave --by away",
                          c->by, c->measured.imported);
    if (!curve_parts_has(&c->drawing.parts, BREAKDOWN_OBJECT))
        return 0;
    if (is_code(c))
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--level %s: code is of no data object; --by "
                          "function tells its misses",
                          curve_levels[c->level].name);
    return measured_check_objects(&c->measured, c->model.launch.trace);
}

/* Refuses a level of which an imported trace does not tell all that its misses
 * are counted by. Returns 0 or an error, logged. */
static int
check_feeds(const struct curving *c)
{
    const bool code = is_code(c);
    const unsigned needs =
        code ? (unsigned)FEED_FETCHES | FEED_INSTRUCTIONS : (unsigned)FEED_DATA;

    if ((c->measured.feeds & needs) == needs)
        return 0;
    return tally_fail(&command_log, TALLY_ERANGE,
                      "a trace imported from %s has no %s: another --level",
                      c->measured.imported,
                      code ? "fetches of instructions" : "loads and stores");
}

/* Chooses the machine, and finds what is asked of it. Returns 0 or an error,
 * logged. */
static int
choose(struct curving *c)
{
    const struct machine_row *const asked =
        c->machine_name != NULL ? machine_find(c->machine_name) : NULL;
    int error = 0;

    if (asked != NULL && asked->native)
        error = tally_fail(&command_log, TALLY_ERANGE,
                           "the host's counters know their own caches alone: "
                           "leave -m host away");
    if (error == 0)
        error = measured_choose(&c->measured, c->machine_name, &c->model, true);
    if (error == 0)
        error = measured_check_accesses(&c->measured, "tally curve");
    if (error == 0)
        error = check_level(c);
    if (error == 0)
        error = check_feeds(c);
    if (error == 0)
        error = check_parts(c);
    return error == 0 ? make_request(c) : error;
}

/* The parts */

/* Makes the events of the record: classes by their numbers. */
static int
make_classes(struct curving *c)
{
    struct recorded_parts *const p = &c->recorded;
    const size_t count = curve_class_count(&c->drawing.request);

    p->events = calloc(count, sizeof(*p->events));
    p->names = calloc(count, sizeof(*p->names));
    if (p->events == NULL || p->names == NULL)
        return command_no_memory();
    for (size_t i = 0; i < count; i++) {
        snprintf(p->names[i], sizeof(p->names[i]), "%zu", i + 1);
        p->events[i] = (struct record_event){p->names[i], p->names[i], "",
                                             "accesses of a class", "modelled"};
    }
    p->head.event_count = count;
    p->head.events = p->events;
    return 0;
}

/* Begins the record that the parts are read from, of a session. Returns 0 or an
 * exit status. */
static int
begin_parts(struct curving *c, struct session_options *session)
{
    struct recorded_parts *const p = &c->recorded;
    const struct isa *const isa = c->measured.program.isa;
    const bool objects = curve_parts_has(&c->drawing.parts, BREAKDOWN_OBJECT);
    const char *heap_reason = NULL;
    char path[32];
    int status = make_classes(c);

    if (status == 0 && objects)
        status =
            measured_find_heap(&c->measured, &c->model.launch, c->allocations,
                               sizeof(c->allocations), &heap_reason);
    if (status != 0)
        return status;
    p->fd = scratch_record("curve");
    if (p->fd < 0)
        return EXIT_OURS;
    p->head.version = TALLY_VERSION;
    p->head.machine = c->measured.machine->name;
    p->head.isa = isa->name;
    p->head.cpu = c->model.launch.cpu != NULL ? c->model.launch.cpu : isa->cpu;
    p->head.argv = c->measured.program.argv;
    p->head.no_callers = !objects;
    /* Of a dynamic program the library that is preloaded tells the blocks. */
    if (c->measured.program.loader[0] == '\0')
        c->drawing.heap_reason = heap_reason;
    p->head.heap_reason = c->drawing.heap_reason;
    p->head.heap_is_whole = c->drawing.heap_reason != NULL;
    snprintf(path, sizeof(path), "/dev/fd/%d", p->fd);
    if (record_writer_begin(&p->writer, path, &p->head, session,
                            &command_log) != 0)
        return EXIT_OURS;
    session->launch = c->model.launch;
    session->record = &p->writer.sink;
    return 0;
}

/* Reads the parts from the record of the run. Returns 0 or an exit status. */
static int
take_parts(struct curving *c)
{
    struct recorded_parts *const p = &c->recorded;
    struct record *record = NULL;
    int error = record_writer_end(&p->writer, &c->result);

    lseek(p->fd, 0, SEEK_SET);
    if (error == 0)
        error = record_open_fd(dup(p->fd), "the record of the program",
                               &command_log, &record);
    if (error == 0)
        error = curve_parts_take(&c->drawing, record, &command_log);
    record_close(record);
    return error == 0 ? 0 : EXIT_OURS;
}

static void
parts_finish(struct recorded_parts *p)
{
    if (p->fd >= 0)
        close(p->fd);
    free(p->events);
    free(p->names);
}

/* The run */

/* Fills in what the report says of the run, for people. */
static void
note_run(struct curving *c)
{
    run_notes_take(&c->notes, &c->result);
    c->drawing.notes = c->notes.lines;
    c->drawing.varies = session_varies(&c->result) != 0;
    c->drawing.trace = c->result.trace;
}

static int
write_report(struct curving *c)
{
    const uint64_t *const n = c->result.totals.signal;
    struct curve_drawing *const d = &c->drawing;

    d->instructions = (c->measured.feeds & FEED_INSTRUCTIONS) != 0
                          ? n[SIGNAL_INSTRUCTIONS]
                          : 0;
    d->accesses = n[SIGNAL_LOADS] + n[SIGNAL_REP_LOADS];
    if (c->level == CURVE_DTLB ||
        c->measured.params[PARAM_L1D_WRITE] == L1D_WRITE_ALLOCATE)
        d->accesses += n[SIGNAL_STORES] + n[SIGNAL_REP_STORES];
    curve_take(d, c->counts);
    note_run(c);
    if (c->by != NULL && take_parts(c) != 0)
        return EXIT_OURS;
    const int error = writers[c->form](d, c->out.file);
    if (error == TALLY_ERANGE) {
        output_end(&c->out, error);
        fputs("tally curve: --format svg: too many sizes and ways for one "
              "plot; name fewer\n",
              stderr);
        return EXIT_USAGE;
    }
    const int status = output_finish(&c->out, c->output, error);
    return status == 0 ? measured_status(&c->result) : status;
}

static int
run_program(struct curving *c)
{
    static const uint16_t signals[] = {SIGNAL_INSTRUCTIONS, SIGNAL_LOADS,
                                       SIGNAL_REP_LOADS, SIGNAL_STORES,
                                       SIGNAL_REP_STORES};
    static const struct event_row totals = {
        .signals = signals, .signal_count = sizeof(signals) / sizeof(*signals)};
    const struct event_row *const events[] = {&totals};
    struct session_options session = {
        .machine = c->measured.machine,
        .params = c->measured.params,
        .events = events,
        .event_count = 1,
        .recorder = &curve_recorder,
        .curve = &c->drawing.request,
        .curve_found = &c->counts,
        .launch = c->model.launch,
    };
    const int begun = c->by != NULL ? begin_parts(c, &session) : 0;

    if (begun != 0)
        return begun;
    const int error =
        session_run(&session, &c->measured.program, &command_log, &c->result);
    if (c->by != NULL &&
        (error != 0 || !c->result.started || c->counts == NULL))
        record_writer_abandon(&c->recorded.writer);
    if (error != 0)
        return measured_failed(error);
    if (!c->result.started)
        return measured_unstarted(&c->measured, &c->result);
    return c->counts != NULL ? write_report(c) : EXIT_OURS;
}

/* Opens where the report goes before the program runs, so that the program does
 * not run for nothing. Returns an exit status. */
static int
curve_program(struct curving *c, char **program)
{
    int status = output_spares_program(
        "curve", c->page != NULL ? "--html" : "-o", c->output, *program);

    if (status != 0)
        return status;
    status = measured_open_any(&c->measured, program, &c->model.launch);
    if (status != 0)
        return status;
    c->program = command_text(program);
    if (c->program == NULL)
        status = command_no_memory();
    if (status == 0 && choose(c) != 0)
        status = EXIT_USAGE;
    if (status == 0)
        status = output_open(c->output, REPLACE_WHOLE, &c->out);
    if (status == 0)
        status = run_program(c);
    program_close(&c->measured.program);
    output_close(&c->out, false);
    return status;
}

static int
run_curve(int argc, char **argv)
{
    struct curving *const c = calloc(1, sizeof(*c));
    int operand = 0;

    if (c == NULL)
        return command_no_memory();
    c->recorded.fd = -1;
    int status = read_options(c, argc, argv, &operand);
    if (status == COMMAND_HELP) {
        command_help(&command_curve, stdout);
        status = 0;
    } else if (status == 0) {
        status = curve_program(c, argv + operand);
    }
    session_result_finish(&c->result);
    curve_drawing_finish(&c->drawing);
    parts_finish(&c->recorded);
    free(c->counts);
    free(c->program);
    free(c);
    return status;
}

const struct command command_curve = {
    .name = "curve",
    .summary = "tell the misses of all sizes of a cache from one run",
    .synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS]",
    .example = "  # How large an L1 data cache should be.\n"
               "  tally curve -- ./program\n"
               "  # An L2 of 8 and of 16 ways.\n"
               "  tally curve -m skylake --level l2 --ways 8,16 -- ./program\n"
               "  # Which data need how much of the L2.\n"
               "  tally curve -m skylake --level l2 --by object -- ./program\n"
               "  # A curve of one line in 64, for long programs, with its "
               "parts as a page.\n"
               "  tally curve --sample 1/64 --by function --html curve.html -- "
               "./program",
    .options = options,
    .groups = groups,
    .others = others,
    .run = run_curve,
};
