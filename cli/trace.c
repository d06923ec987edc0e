/* SPDX-License-Identifier: MIT */
/* tally trace: records all that a program does, shows and checks the trace, and
 * counts it on modelled machines without the program and without QEMU. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/model_options.h"
#include "cli/trace_convert.h"
#include "cli/trace_record.h"
#include "cli/trace_replay.h"
#include "cli/trace_show.h"
#include "cli/trace_words.h"
#include "trace/trace_reader.h"

enum {
    OPT_OUTPUT,
    OPT_MAX_SIZE,
    OPT_OBJECTS,
    OPT_FROM,
    OPT_TO,
    OPT_SKIP,
    OPT_INSTRUCTIONS,
    OPT_MACHINE,
    OPT_EVENTS,
    OPT_METRICS,
    OPT_FORMAT,
    OPT_AS,
    OPT_QUIET,
    OPT_MODEL,
    OPT_MODEL_LAST = OPT_MODEL + MODEL_OPTION_COUNT - 1,
};

static const struct option_row options[] = {
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "record, import: write the trace there (default: "
                    "tally.trace); export: the file to write (default: "
                    "standard output)"},
    [OPT_MAX_SIZE] = {0, "max-size", "SIZE",
                      "record: end the trace once it has about SIZE bytes, "
                      "such as 500M; the program goes on"},
    [OPT_OBJECTS] = {0, "objects", NULL,
                     "record: also what the program's allocator gives and what "
                     "is mapped, for tally memory and tally record --objects"},
    [OPT_FROM] = {0, "from", "FUNCTION",
                  "record: begin where this function is entered first"},
    [OPT_TO] = {0, "to", "FUNCTION",
                "record: end where this function is entered"},
    [OPT_SKIP] = {0, "skip", "N",
                  "record: begin after the program's first N instructions"},
    [OPT_INSTRUCTIONS] = {0, "instructions", "N",
                          "record: end after N instructions of the trace"},
    [OPT_MACHINE] = {'m', "machine", "MACHINES",
                     "replay: the machines to be, with commas between them; "
                     "default: by the program's architecture"},
    [OPT_EVENTS] = {'e', "event", "EVENTS",
                    "replay: events to count, as tally count has them"},
    [OPT_METRICS] = {'M', "metrics", "METRICS",
                     "replay: metrics, as tally count has them"},
    [OPT_FORMAT] = {0, "format", "FORM",
                    "replay: text, csv or json; info: text or json"},
    [OPT_AS] = {0, "as", "FORMAT",
                "export: " TRACE_EXPORTS "; import: " TRACE_IMPORTS},
    [OPT_QUIET] = {'q', "quiet", NULL,
                   "record, export, import: no line about what was written"},
    MODEL_OPTION_ROWS(OPT_MODEL),
    {0},
};

static const struct option_group groups[] = {
    {OPT_OUTPUT, "What to do"},
    {OPT_MODEL, "Settings: of the machine (replay), and of the program's run "
                "(record)"},
    {0, NULL},
};

/* The file without -o. */
#define TRACE_DEFAULT "tally.trace"

static const struct other_option others[] = {{0}};

struct trace_request {
    const char *output, *machines, *metrics, *format, *as;
    char *events; /* owned; all -e joined */
    struct model_options model;
    struct trace_recording recording; /* less what the others have */
    bool quiet;
};

/* Takes a number of bytes, which K, M or G may follow. */
static int
take_size(struct trace_request *r, const char *value)
{
    char *end;
    const unsigned long long number = strtoull(value, &end, 10);
    const unsigned shift = *end == 'K'   ? 10
                           : *end == 'M' ? 20
                           : *end == 'G' ? 30
                                         : 0;

    end += shift != 0;
    if (*value < '0' || *value > '9' || *end != '\0' || number == 0 ||
        number > UINT64_MAX >> (shift + 1))
        return trace_wrong(
            "--max-size takes a number of bytes, such as 500M, not ", value);
    r->recording.max_size = (uint64_t)number << shift;
    return 0;
}

/* Takes a number of instructions. */
static int
take_number(const char *option, const char *value, uint64_t *number)
{
    if (command_number(value, 1, UINT64_MAX, number))
        return 0;
    escape_printf(stderr,
                  "tally trace: %s '%s': a number of instructions is expected, "
                  "such as 1000000\n",
                  option, value);
    return EXIT_USAGE;
}

static int
take_option(void *user, int option, const char *value)
{
    struct trace_request *const r = user;
    const char *fault;

    switch (option) {
    case OPT_OUTPUT:
        r->output = value;
        return 0;
    case OPT_MAX_SIZE:
        return take_size(r, value);
    case OPT_OBJECTS:
        r->recording.objects = true;
        return 0;
    case OPT_FROM:
        r->recording.from = value;
        return 0;
    case OPT_TO:
        r->recording.to = value;
        return 0;
    case OPT_SKIP:
        return take_number("--skip", value, &r->recording.skip);
    case OPT_INSTRUCTIONS:
        return take_number("--instructions", value, &r->recording.instructions);
    case OPT_MACHINE:
        r->machines = value;
        return 0;
    case OPT_EVENTS:
        return command_join(&r->events, value) == 0 ? 0 : EXIT_OURS;
    case OPT_METRICS:
        r->metrics = value;
        return 0;
    case OPT_FORMAT:
        r->format = value;
        return 0;
    case OPT_AS:
        r->as = value;
        return 0;
    case OPT_QUIET:
        r->quiet = true;
        return 0;
    default:
        fault = model_options_take(&r->model, option - OPT_MODEL, &value);
        return fault == NULL ? 0 : trace_wrong(fault, value);
    }
}

/* Refuses what is no file for a trace. */
static int
check_output(const char *path)
{
    if (path == NULL || (*path != '\0' && strcmp(path, "-") != 0))
        return 0;
    return trace_wrong("a trace goes to a file, not to ",
                       *path == '-' ? "standard output" : "''");
}

static int
run_record(struct trace_request *r, char **argv)
{
    const int status = check_output(r->output);

    r->recording.output = r->output != NULL ? r->output : TRACE_DEFAULT;
    r->recording.model = &r->model;
    r->recording.quiet = r->quiet;
    return status != 0 ? status : trace_record(&r->recording, argv);
}

static int
run_info(struct trace_request *r, char **argv)
{
    bool json = false;
    const int status =
        r->format != NULL ? command_json(&command_trace, r->format, &json) : 0;

    return status != 0 ? status : trace_show(*argv, json);
}

static int
run_verify(struct trace_request *r, char **argv)
{
    (void)r;
    return trace_verify(*argv);
}

static int
run_replay(struct trace_request *r, char **argv)
{
    const struct trace_replaying replaying = {
        .machines = r->machines,
        .events = r->events,
        .metrics = r->metrics,
        .format = r->format,
        .model = &r->model,
    };
    const char *const option = trace_run_option(&r->model.launch);

    if (option != NULL)
        return trace_wrong(
            "a trace is of one run, which this option cannot change: ", option);
    if (!trace_is_trace(*argv)) {
        struct trace_reader *reader = NULL;
        if (trace_reader_open(*argv, &command_log, &reader) == 0)
            trace_reader_close(&reader);
        return EXIT_OURS;
    }
    return trace_replay(&replaying, *argv);
}

static int
run_export(struct trace_request *r, char **argv)
{
    return trace_convert_export(*argv, r->as, r->output, r->quiet);
}

static int
run_import(struct trace_request *r, char **argv)
{
    const int status = check_output(r->output);

    return status != 0
               ? status
               : trace_convert_import(
                     *argv, r->as,
                     r->output != NULL ? r->output : TRACE_DEFAULT, r->quiet);
}

#define TAKES(option) (1u << (option))

static const struct verb {
    const char *name;
    const char *operand; /* what is expected behind it */
    bool program;        /* words may follow */
    unsigned takes;      /* options before OPT_MODEL, a bit each */
    bool sets, runs;     /* options of the machine, and of the run */
    int (*run)(struct trace_request *r, char **argv);
} verbs[] = {
    {"record", "a program", true,
     TAKES(OPT_OUTPUT) | TAKES(OPT_MAX_SIZE) | TAKES(OPT_OBJECTS) |
         TAKES(OPT_FROM) | TAKES(OPT_TO) | TAKES(OPT_SKIP) |
         TAKES(OPT_INSTRUCTIONS) | TAKES(OPT_QUIET),
     false, true, run_record},
    {"info", "a trace", false, TAKES(OPT_FORMAT), false, false, run_info},
    {"verify", "a trace", false, 0, false, false, run_verify},
    {"replay", "a trace", false,
     TAKES(OPT_MACHINE) | TAKES(OPT_EVENTS) | TAKES(OPT_METRICS) |
         TAKES(OPT_FORMAT),
     true, true, run_replay},
    {"export", "a trace", false,
     TAKES(OPT_AS) | TAKES(OPT_OUTPUT) | TAKES(OPT_QUIET), false, false,
     run_export},
    {"import", "a file", false,
     TAKES(OPT_AS) | TAKES(OPT_OUTPUT) | TAKES(OPT_QUIET), false, false,
     run_import},
};

#define VERBS "record, info, verify, replay, export or import is expected"

static const struct verb *
find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    if (*name != '\0')
        trace_wrong(VERBS ", not ", name);
    else
        trace_wrong(VERBS "; see tally trace --help", "");
    return NULL;
}

/* Returns an option that was given and that only other verbs take, or NULL. */
static const char *
foreign_option(const struct trace_request *r, const struct verb *verb)
{
    const struct {
        int option;
        bool given;
        const char *name;
    } given[] = {
        {OPT_OUTPUT, r->output != NULL, "-o"},
        {OPT_MAX_SIZE, r->recording.max_size != 0, "--max-size"},
        {OPT_OBJECTS, r->recording.objects, "--objects"},
        {OPT_FROM, r->recording.from != NULL, "--from"},
        {OPT_TO, r->recording.to != NULL, "--to"},
        {OPT_SKIP, r->recording.skip != 0, "--skip"},
        {OPT_INSTRUCTIONS, r->recording.instructions != 0, "--instructions"},
        {OPT_QUIET, r->quiet, "-q"},
        {OPT_MACHINE, r->machines != NULL, "-m"},
        {OPT_EVENTS, r->events != NULL, "-e"},
        {OPT_METRICS, r->metrics != NULL, "-M"},
        {OPT_FORMAT, r->format != NULL, "--format"},
        {OPT_AS, r->as != NULL, "--as"},
    };

    for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
        if (given[i].given && (verb->takes & TAKES(given[i].option)) == 0)
            return given[i].name;
    if (!verb->sets && r->model.set_count > 0)
        return "--set";
    return verb->runs ? NULL : model_options_given(&r->model);
}

/* Refuses what the verb does not take. `words`: what stands behind it. */
static int
check_words(const struct trace_request *r, const struct verb *verb,
            char *const *words)
{
    const char *const option = foreign_option(r, verb);

    if (option != NULL) {
        escape_printf(stderr, "tally trace %s: it takes no %s\n", verb->name,
                      option);
        return EXIT_USAGE;
    }
    if (words[0] == NULL) {
        escape_printf(stderr, "tally trace: %s is expected behind %s\n",
                      verb->operand, verb->name);
        return EXIT_USAGE;
    }
    if (!verb->program && words[1] != NULL)
        return trace_wrong("one file at a time; there is more: ", words[1]);
    return 0;
}

/* Reads options, the verb, and more options; of a verb that takes one file also
 * those behind the file. *words becomes what is left. */
static int
read_words(struct trace_request *r, int argc, char **argv,
           const struct verb **verb, char ***words)
{
    int operand;
    int status = command_read_options(&command_trace, argc, argv, take_option,
                                      r, &operand);

    if (status != 0)
        return status;
    *verb = find_verb(operand < argc ? argv[operand] : "");
    if (*verb == NULL)
        return EXIT_USAGE;
    argc -= operand;
    argv += operand;
    status = command_read_options(&command_trace, argc, argv, take_option, r,
                                  &operand);
    if (status == 0 && !(*verb)->program && operand + 1 < argc) {
        char *const file = argv[operand];
        argc -= operand;
        argv += operand;
        status = command_read_options(&command_trace, argc, argv, take_option,
                                      r, &operand);
        argv[--operand] = file;
    }
    *words = argv + operand;
    return status;
}

static int
run_trace(int argc, char **argv)
{
    struct trace_request *const r = calloc(1, sizeof(*r));
    const struct verb *verb = NULL;
    char **words = NULL;

    if (r == NULL)
        return command_no_memory();
    int status = read_words(r, argc, argv, &verb, &words);
    if (status == 0)
        status = check_words(r, verb, words);
    if (status == 0)
        status = verb->run(r, words);
    if (status == COMMAND_HELP) {
        command_help(&command_trace, stdout);
        status = 0;
    }
    free(r->events);
    free(r);
    return status;
}

const struct command command_trace = {
    .name = "trace",
    .summary = "record all that a program does, and count it again from that",
    .synopsis = "record [OPTIONS] [--] PROGRAM [ARGUMENTS] | info FILE | "
                "verify FILE | replay [OPTIONS] FILE | export --as FORMAT FILE "
                "[-o OUT] | import --as FORMAT FILE [-o OUT.trace]",
    .example =
        "  # Record a program once, with what tally memory needs.\n"
        "  tally trace record --objects -o a.trace ./program\n"
        "  # Count it on two machines.\n"
        "  tally trace replay -m zen3,skylake -e instructions,cycles a.trace\n"
        "  # Hand it to ChampSim.\n"
        "  tally trace export --as champsim -o a.champsim a.trace\n"
        "  # Make a trace of what valgrind's lackey has written.\n"
        "  tally trace import --as lackey -o b.trace lackey.txt",
    .options = options,
    .groups = groups,
    .others = others,
    .run = run_trace,
};
