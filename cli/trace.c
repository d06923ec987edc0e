/* SPDX-License-Identifier: MIT */
/* tally trace: records all that a program does, shows and checks the trace, and
 * counts it on modelled machines without the program and without QEMU. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/trace_convert.h"
#include "cli/trace_words.h"
#include "report/json_text.h"
#include "source/plugin_path.h"
#include "trace/trace_reader.h"
#include "trace/trace_recorder.h"
#include "version.h"

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

static const struct other_option others[] = {{0}};

struct trace_request {
    const char *output, *machines, *metrics, *format, *as;
    const char *from, *to;
    uint64_t skip, instructions; /* 0: not given */
    char *events;                /* owned; all -e joined */
    uint64_t max_size;
    struct model_options model;
    bool quiet, objects;
};

static int
wrong(const char *what, const char *given)
{
    escape_printf(stderr, "tally trace: %s%s\n", what, given);
    return EXIT_USAGE;
}

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
        return wrong("--max-size takes a number of bytes, such as 500M, not ",
                     value);
    r->max_size = (uint64_t)number << shift;
    return 0;
}

/* Takes a number of instructions. */
static int
take_number(const char *option, const char *value, uint64_t *number)
{
    char *end;

    errno = 0;
    *number = strtoull(value, &end, 10);
    if (*value >= '0' && *value <= '9' && *end == '\0' && errno == 0 &&
        *number > 0)
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
        r->objects = true;
        return 0;
    case OPT_FROM:
        r->from = value;
        return 0;
    case OPT_TO:
        r->to = value;
        return 0;
    case OPT_SKIP:
        return take_number("--skip", value, &r->skip);
    case OPT_INSTRUCTIONS:
        return take_number("--instructions", value, &r->instructions);
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
        return fault == NULL ? 0 : wrong(fault, value);
    }
}

/* Returns the instructions as they were counted; where that is not known, those
 * of the blocks, of which each iteration of a repeated instruction is one. */
static uint64_t
instructions_of(const struct trace_run *run)
{
    return run->counted != 0 ? run->counted : run->instructions;
}

/* Writes the line that says what was recorded. */
static void
say_recorded(const char *path, const struct trace_run *run, uint64_t size)
{
    char why[TRACE_WORDS];

    fprintf(stderr,
            "tally: %" PRIu64 " instructions in %" PRIu64 " bytes (%.3f an "
            "instruction)",
            instructions_of(run), size,
            run->instructions != 0 ? (double)size / (double)instructions_of(run)
                                   : 0.0);
    escape_printf(stderr, ": %s\n", path);
    if (run->end > TRACE_END_SIGNAL && run->end != TRACE_END_PART)
        fprintf(stderr, "tally: the trace ends there, %s\n",
                trace_end_words(run, why));
}

/* Returns how the run ended, as far as the session knows. */
static enum trace_end
end_of(const struct session_result *result)
{
    bool executed = result->uncounted > 0;

    for (size_t i = 0; i < result->process_count; i++)
        executed |= result->processes[i].begin == BEGIN_EXEC &&
                    result->processes[i].pid == result->processes[0].pid;
    return executed                      ? TRACE_END_EXEC
           : WIFSIGNALED(result->status) ? TRACE_END_SIGNAL
                                         : TRACE_END_EXIT;
}

static void
on_size_limit(int number)
{
    (void)number;
}

/* Has a file that reaches the limit of sizes (ulimit -f) end the recording as a
 * full disk does: write() then fails. A handler does so, as execve() hands none
 * on: the program has the signal as tally found it. */
static void
survive_size_limit(void)
{
    const struct sigaction tell = {.sa_handler = on_size_limit,
                                   .sa_flags = SA_RESTART};
    struct sigaction old;

    if (sigaction(SIGXFSZ, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &tell, NULL);
}

/* The part of the run that is asked for: the arguments of the tracer, and how
 * it was asked for. */
struct part {
    char arguments[256];
    char asked[4096];
};

/* Adds the address of a function to the tracer's arguments. */
static int
add_function(struct part *part, const struct program *program,
             const char *argument, const char *name)
{
    const size_t used = strlen(part->arguments);
    uint64_t address;

    if (name == NULL)
        return 0;
    const int error =
        program_symbol(program->path, name, &command_log, &address);
    if (error == 0)
        snprintf(part->arguments + used, sizeof(part->arguments) - used,
                 ",%s=0x%" PRIx64, argument, address);
    return error;
}

/* Adds to how the part was asked for. */
static void
add_asked(struct part *part, const char *option, const char *value)
{
    const size_t used = strlen(part->asked);

    snprintf(part->asked + used, sizeof(part->asked) - used, "%s%s %s",
             used > 0 ? " " : "", option, value);
}

static void
add_number(struct part *part, const char *argument, const char *option,
           uint64_t number)
{
    const size_t used = strlen(part->arguments);
    char text[24];

    if (number == 0)
        return;
    snprintf(text, sizeof(text), "%" PRIu64, number);
    snprintf(part->arguments + used, sizeof(part->arguments) - used, ",%s=%s",
             argument, text);
    add_asked(part, option, text);
}

/* Finds the part that is asked for. Returns 0 or a status. */
static int
find_part(const struct trace_request *r, const struct program *program,
          struct part *part)
{
    *part = (struct part){0};
    if (r->skip != 0 && r->from != NULL)
        return wrong("--skip does not go with ", "--from");
    if (r->from != NULL && r->to != NULL && strcmp(r->from, r->to) == 0)
        return wrong("--from and --to are the same function: ", r->to);
    if (add_function(part, program, "from", r->from) != 0 ||
        add_function(part, program, "to", r->to) != 0)
        return EXIT_USAGE;
    if (r->from != NULL)
        add_asked(part, "--from", r->from);
    if (r->to != NULL)
        add_asked(part, "--to", r->to);
    add_number(part, "skip", "--skip", r->skip);
    add_number(part, "most", "--instructions", r->instructions);
    return 0;
}

/* Shows how large the trace is, and how fast it grows, from the first second
 * on.
 */
static void
show_progress(void *user, uint64_t instructions, double wall_s)
{
    const double bytes = (double)trace_recorder_size(user);

    if (wall_s >= 1)
        fprintf(stderr,
                "\r tally: %.1f G instructions, %.0f s, %.0f MB: %.1f MB a "
                "second; --max-size ends a trace\033[K",
                (double)instructions * 1e-9, wall_s, bytes * 1e-6,
                bytes * 1e-6 / wall_s);
}

/* Runs the program and records it. */
static int
record_program(struct trace_request *r, struct measured *m)
{
    const struct program *const program = &m->program;
    const char *const path = r->output != NULL ? r->output : "tally.trace";
    const char *const cpu =
        r->model.launch.cpu != NULL ? r->model.launch.cpu : program->isa->cpu;
    struct trace_recorder *recorder = NULL;
    struct session_result result = {0};
    char tracer[PATH_MAX], plugin[2 * PATH_MAX];
    char allocations[COUNTS_NAME] = "";
    struct part part;
    const struct trace_head head = {
        .version = TALLY_VERSION,
        .isa = program->isa->name,
        .cpu = cpu != NULL ? cpu : "",
        .path = program->path,
        .code = program->code,
        .code_offset = program->code_offset,
        .code_size = program->code_size,
        .argv = program->argv,
        .allocations = allocations,
        .loader = program->loader,
        .part = part.asked,
    };

    if (find_part(r, program, &part) != 0 ||
        measured_choose(m, NULL, &r->model, true) != 0)
        return EXIT_USAGE;
    if (plugin_find_beside(m->plugin, PLUGIN_TRACER, &command_log, tracer,
                           sizeof(tracer)) != 0)
        return EXIT_OURS;
    if (strchr(tracer, ',') != NULL) {
        tally_fail(&command_log, TALLY_ERANGE,
                   "%s: QEMU takes no path with a comma", tracer);
        return EXIT_OURS;
    }
    if (r->objects) {
        if (plugin_find_allocations(m->plugin, program->isa->name, &command_log,
                                    allocations, sizeof(allocations)) != 0)
            return EXIT_OURS;
        r->model.launch.objects = allocations;
    }
    errno = 0;
    const int opened =
        trace_recorder_begin(path, &head, r->max_size, &command_log, &recorder);
    if (opened != 0)
        return opened == TALLY_EIO ? output_status(errno) : EXIT_OURS;
    snprintf(plugin, sizeof(plugin), "%s,ring=%s%s,code=0x%" PRIx64 "%s",
             tracer, trace_recorder_ring(recorder),
             r->objects ? ",maps=on" : "", program->code, part.arguments);
    r->model.launch.tracer = plugin;
    const struct session_options session = {
        .machine = m->machine,
        .params = m->params,
        .launch = r->model.launch,
        .progress = isatty(STDERR_FILENO) && !r->quiet ? show_progress : NULL,
        .progress_user = recorder,
    };
    const int error = session_run(&session, program, &command_log, &result);
    if (error != 0 || !result.started) {
        trace_recorder_abandon(&recorder);
        const int status = error != 0 ? measured_failed(error)
                                      : measured_unstarted(m, &result);
        session_result_finish(&result);
        return status;
    }
    struct trace_run run = {
        .end = end_of(&result),
        .status = (uint64_t)result.status,
        .counted = (uint64_t)result.totals.signal[SIGNAL_INSTRUCTIONS],
    };
    if (run.end == TRACE_END_EXEC || part.asked[0] != '\0')
        run.counted = 0; /* of both programs, or of all of the run */
    uint64_t size;
    const int status = command_status(result.status);
    session_result_finish(&result);
    if (session.progress != NULL)
        fputs("\r\033[K", stderr);
    if (trace_recorder_end(&recorder, &run, &size) != 0)
        return EXIT_OURS;
    if (!r->quiet)
        say_recorded(path, &run, size);
    if (run.blocks == 0 && run.end == TRACE_END_PART)
        escape_printf(stderr,
                      "tally: the part that was asked for (%s) ends in its "
                      "first block: the trace has nothing\n",
                      part.asked);
    else if (run.blocks == 0 && run.end <= TRACE_END_SIGNAL)
        escape_printf(stderr,
                      "tally: the run did not come to what was asked for (%s): "
                      "the trace has nothing\n",
                      part.asked);
    return status;
}

/* Refuses what is no file for a trace. */
static int
check_output(const char *path)
{
    if (path == NULL || (*path != '\0' && strcmp(path, "-") != 0))
        return 0;
    return wrong("a trace goes to a file, not to ",
                 *path == '-' ? "standard output" : "''");
}

static int
run_record(struct trace_request *r, char **argv)
{
    struct measured *const m = calloc(1, sizeof(*m));

    if (m == NULL)
        return command_no_memory();
    survive_size_limit();
    int status = check_output(r->output);
    if (status == 0)
        status = output_spares_program("trace record", "-o", r->output, *argv);
    if (status == 0)
        status = measured_open(m, argv, &r->model.launch);
    if (status == 0) {
        status = record_program(r, m);
        program_close(&m->program);
    }
    free(m);
    return status;
}

/* Adds a word, and its value. */
static void
add(char **words, size_t *count, const char *option, const char *value)
{
    if (value == NULL)
        return;
    words[(*count)++] = (char *)(uintptr_t)option;
    words[(*count)++] = (char *)(uintptr_t)value;
}

/* Counts the trace on one machine, NULL: the program's. */
static int
count_trace(const struct trace_request *r, const char *machine, char *trace)
{
    char *words[2 * PARAM_COUNT + 16];
    size_t count = 0;

    words[count++] = (char *)(uintptr_t) "count";
    add(words, &count, "-m", machine);
    add(words, &count, "-e", r->events);
    add(words, &count, "-M", r->metrics);
    add(words, &count, "--format", r->format);
    for (size_t i = 0; i < r->model.set_count; i++)
        add(words, &count, "--set", r->model.sets[i]);
    if (r->model.foreign)
        words[count++] = (char *)(uintptr_t) "--foreign";
    words[count++] = (char *)(uintptr_t) "--";
    words[count++] = trace;
    words[count] = NULL;
    return command_count.run((int)count, words);
}

static int
run_replay(struct trace_request *r, char **argv)
{
    const char *const option = trace_run_option(&r->model.launch);
    char *const machines = r->machines != NULL ? strdup(r->machines) : NULL;
    char *rest = machines;
    int status = 0;

    if (option != NULL)
        return wrong("a trace is of one run, which this option cannot change: ",
                     option);
    if (!trace_is_trace(*argv)) {
        struct trace_reader *reader = NULL;
        if (trace_reader_open(*argv, &command_log, &reader) == 0)
            trace_reader_close(&reader);
        return EXIT_OURS;
    }
    if (r->machines == NULL)
        return count_trace(r, NULL, *argv);
    if (machines == NULL)
        return command_no_memory();
    /* All names first, so that a wrong name is refused before any machine
     * counts. */
    for (char *name; status == 0 && (name = strsep(&rest, ",")) != NULL;) {
        const struct machine_row *machine;
        status = command_machine(name, &machine);
    }
    /* A machine that cannot count the trace, or a program that had failed, ends
     * no other machine's counting. */
    const bool named = status == 0;
    for (size_t i = 0; named && i < strlen(r->machines);) {
        const char *const name = machines + i;
        const int ended = count_trace(r, name, *argv);
        status = status == 0 ? ended : status;
        i += strlen(name) + 1;
    }
    free(machines);
    return status;
}

/* Reads a trace to its end. Returns 0 or a status after saying why. */
static int
read_whole(struct trace_reader *reader)
{
    struct trace_step step;
    int next;

    while ((next = trace_reader_next(reader, &step)) > 0)
        ;
    return next == 0 ? 0 : EXIT_OURS;
}

static int
run_verify(struct trace_request *r, char **argv)
{
    struct trace_reader *reader = NULL;

    (void)r;
    if (trace_reader_open(*argv, &command_log, &reader) != 0)
        return EXIT_OURS;
    int status = read_whole(reader);
    const struct trace_run *const run = trace_reader_run(reader);
    const struct trace_run *const so_far = trace_reader_so_far(reader);
    if (status == 0 && run == NULL) {
        status = EXIT_OURS; /* the reader said that the file is cut */
    } else if (status == 0 && (run->instructions != so_far->instructions ||
                               run->blocks != so_far->blocks ||
                               run->accesses != so_far->accesses ||
                               run->calls != so_far->calls)) {
        escape_printf(stderr,
                      "tally trace: %s is damaged: it says that %" PRIu64
                      " instructions ran, and has %" PRIu64 "\n",
                      *argv, run->instructions, so_far->instructions);
        status = EXIT_OURS;
    }
    printf("%" PRIu64 " instructions, %" PRIu64 " blocks, %" PRIu64
           " accesses and %" PRIu64 " system calls can be replayed\n",
           so_far->instructions, so_far->blocks, so_far->accesses,
           so_far->calls);
    trace_reader_close(&reader);
    return fflush(stdout) != 0 && status == 0 ? command_unwritten("output")
                                              : status;
}

static json_t *
images_document(const struct trace_reader *reader)
{
    json_t *const list = json_array();
    size_t count;
    const struct trace_image *const images =
        trace_reader_images(reader, &count);

    for (size_t i = 0; i < count; i++) {
        char id[2 * 64 + 1] = "";
        for (size_t k = 0; k < images[i].build_id_size && k < 64; k++)
            snprintf(id + 2 * k, 3, "%02x", images[i].build_id[k]);
        json_array_append_new(
            list, json_pack("{s:o, s:I, s:I, s:I, s:s}", "path",
                            report_json_text(images[i].path), "first",
                            (json_int_t)images[i].first, "last",
                            (json_int_t)images[i].last, "offset",
                            (json_int_t)images[i].offset, "build_id", id));
    }
    return list;
}

/* What an imported trace has, in words, by the bits of enum trace_holds. */
static const char *const holds_words[] = {
    "loads and stores", "their sizes", "fetches of code",
    "each instruction", "branches",
};

static json_t *
holds_document(uint64_t holds)
{
    json_t *const list = json_array();

    for (size_t i = 0; i < sizeof(holds_words) / sizeof(holds_words[0]); i++)
        if ((holds >> i & 1) != 0)
            json_array_append_new(list, json_string(holds_words[i]));
    return list;
}

/* Writes what an imported trace is of, in place of its program. */
static void
write_imported_text(const struct trace_head *h)
{
    const char *comma = "";

    escape_printf(stdout, "imported from %s, of %s\n", h->source, h->path);
    printf("has           ");
    for (size_t i = 0; i < sizeof(holds_words) / sizeof(holds_words[0]); i++) {
        if ((h->holds >> i & 1) == 0)
            continue;
        printf("%s%s", comma, holds_words[i]);
        comma = ", ";
    }
    putchar('\n');
    escape_printf(stdout, "imported by   tally %s\n", h->version);
}

static void
write_info_json(const struct trace_reader *reader, uint64_t size, bool whole,
                const struct trace_run *run)
{
    const struct trace_head *const h = trace_reader_head(reader);
    json_t *const command = json_array();
    char words[TRACE_WORDS];

    for (char *const *word = h->argv; *word != NULL; word++)
        json_array_append_new(command, report_json_text(*word));
    json_t *const document = json_pack(
        "{s:i, s:s, s:s, s:o, s:o, s:o, s:b, s:s, s:I, s:I, s:I, s:I, s:I, "
        "s:I, s:I, s:b, s:o, s:o}",
        "schema", 1, "tally", h->version, "isa", h->isa, "cpu",
        h->cpu[0] != '\0' ? report_json_text(h->cpu) : json_null(), "program",
        report_json_text(h->path), "command", command, "whole", whole, "end",
        whole ? trace_end_words(run, words) : "the trace is cut", "status",
        (json_int_t)run->status, "instructions",
        (json_int_t)instructions_of(run), "blocks_run", (json_int_t)run->blocks,
        "blocks", (json_int_t)trace_reader_model(reader)->block_count,
        "accesses", (json_int_t)run->accesses, "system_calls",
        (json_int_t)run->calls, "bytes", (json_int_t)size, "objects",
        h->allocations[0] != '\0', "part",
        h->part[0] != '\0' ? report_json_text(h->part) : json_null(), "images",
        images_document(reader));
    if (document != NULL && h->source != NULL) {
        json_object_set_new(document, "imported", report_json_text(h->source));
        json_object_set_new(document, "holds", holds_document(h->holds));
    }
    char *const text =
        document != NULL ? json_dumps(document, JSON_INDENT(2)) : NULL;
    if (text != NULL)
        puts(text);
    free(text);
    json_decref(document);
}

static void
write_info_text(const struct trace_reader *reader, uint64_t size, bool whole,
                const struct trace_run *run)
{
    const struct trace_head *const h = trace_reader_head(reader);
    char *const command = command_text(h->argv);
    char words[TRACE_WORDS];
    size_t count;
    const struct trace_image *const images =
        trace_reader_images(reader, &count);

    const bool instructions =
        h->source == NULL || (h->holds & TRACE_HOLDS_INSTRUCTIONS) != 0;
    const uint64_t units = instructions ? instructions_of(run) : run->accesses;

    if (h->source != NULL) {
        write_imported_text(h);
        if (!whole)
            puts("ends          cut short");
    } else {
        escape_printf(stdout, "program       %s\n", h->path);
        escape_printf(stdout, "command       %s\n",
                      command != NULL ? command : "");
        escape_printf(stdout, "architecture  %s%s%s\n", h->isa,
                      h->cpu[0] != '\0' ? ", " : "", h->cpu);
        escape_printf(stdout, "recorded by   tally %s\n", h->version);
        escape_printf(stdout, "ends          %s\n",
                      whole ? trace_end_words(run, words) : "cut short");
    }
    if (h->part[0] != '\0')
        escape_printf(stdout, "part          %s\n", h->part);
    if (instructions)
        printf("instructions  %" PRIu64 "\n", instructions_of(run));
    printf("blocks        %" PRIu64 ", which ran %" PRIu64 " times\n",
           (uint64_t)trace_reader_model(reader)->block_count, run->blocks);
    printf("accesses      %" PRIu64 "\n", run->accesses);
    if (h->source == NULL) {
        printf("system calls  %" PRIu64 "\n", run->calls);
        printf("objects       %s\n",
               h->allocations[0] == '\0' ? "none: recorded without --objects"
               : h->loader[0] == '\0'
                   ? "variables and stacks; no blocks: the program is static"
                   : "variables, stacks, and blocks that its allocator gave");
    }
    printf("bytes         %" PRIu64 ", %.3f an %s\n", size,
           units != 0 ? (double)size / (double)units : 0.0,
           instructions ? "instruction" : "access");
    for (size_t i = 0; i < count; i++) {
        escape_printf(stdout, "image         %s",
                      images[i].path[0] != '\0' ? images[i].path
                                                : "(of no file)");
        printf(" at 0x%" PRIx64 "-0x%" PRIx64, images[i].first, images[i].last);
        if (images[i].build_id_size != 0)
            printf(", build id ");
        for (size_t k = 0; k < images[i].build_id_size; k++)
            printf("%02x", images[i].build_id[k]);
        putchar('\n');
    }
    free(command);
}

static int
run_info(struct trace_request *r, char **argv)
{
    struct trace_reader *reader = NULL;
    struct stat st = {0};
    bool json = false;
    int status =
        r->format != NULL ? command_json(&command_trace, r->format, &json) : 0;

    if (status != 0)
        return status;
    if (trace_reader_open(*argv, &command_log, &reader) != 0)
        return EXIT_OURS;
    status = read_whole(reader);
    stat(*argv, &st);
    const struct trace_run *const run = trace_reader_run(reader);
    (json ? write_info_json
          : write_info_text)(reader, (uint64_t)st.st_size, run != NULL,
                             run != NULL ? run : trace_reader_so_far(reader));
    trace_reader_close(&reader);
    return fflush(stdout) != 0 && status == 0 ? command_unwritten("output")
                                              : status;
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
                     r->output != NULL ? r->output : "tally.trace", r->quiet);
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
        wrong(VERBS ", not ", name);
    else
        wrong(VERBS "; see tally trace --help", "");
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
        {OPT_MAX_SIZE, r->max_size != 0, "--max-size"},
        {OPT_OBJECTS, r->objects, "--objects"},
        {OPT_FROM, r->from != NULL, "--from"},
        {OPT_TO, r->to != NULL, "--to"},
        {OPT_SKIP, r->skip != 0, "--skip"},
        {OPT_INSTRUCTIONS, r->instructions != 0, "--instructions"},
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
        return wrong("one file at a time; there is more: ", words[1]);
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
