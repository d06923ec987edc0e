/* SPDX-License-Identifier: MIT */
/* tally phases: the phases of a program, and its simulation points. */
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/counted.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "profile/interval.h"
#include "profile/phases_recorder.h"
#include "report/run_note.h"
#include "sweep/phases.h"
#include "table/software.h"
#include "table/generic.h"
#include "table/signals.h"

/* The first length of an interval that doubles as the program runs on. */
#define FIRST_LENGTH 100000u
#define USUAL_MOST 15u

enum {
    OPT_INTERVAL,
    OPT_MOST,
    OPT_EVENT,
    OPT_SIMPOINTS,
    OPT_MACHINE,
    OPT_FORMAT,
    OPT_JSON,
    OPT_OUTPUT,
    OPT_MODEL,
};

static const struct option_row options[] = {
    [OPT_INTERVAL] = {0, "interval", "N",
                      "instructions of an interval, with k, M or G (default: "
                      "100k, and twice as many each time that 2,048 intervals "
                      "have run)"},
    [OPT_MOST] = {0, "most", "N",
                  "find at most so many phases, 1 to 30 "
                  "(default: 15)"},
    [OPT_EVENT] = {'e', "event", "EVENTS",
                   "count these events in each interval, with commas between "
                   "them"},
    [OPT_SIMPOINTS] = {0, "simpoints", "PREFIX",
                       "write PREFIX.bb, PREFIX.simpoints and PREFIX.weights, "
                       "as SimPoint has them"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to be (default: the one of the program's "
                     "instruction set)"},
    [OPT_FORMAT] = {0, "format", "FORM", "text, csv, json or svg (a plot)"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there (default: standard error)"},
    MODEL_TURN_ROWS(OPT_MODEL, "100000"),
    {0},
};

static const struct other_option others[] = {
    {.name = "parallel",
     .advice = "of threads that run at once no interval is the same twice"},
    {0},
};

static const struct option_group groups[] = {
    {OPT_INTERVAL, "What to find"},
    {OPT_FORMAT, "What to write"},
    {OPT_MODEL, "Settings of the machine, and of the program's run"},
    {0},
};

static const char *const forms[] = {"text", "csv", "json", "svg", NULL};
static int (*const writers[])(const struct phases *p, FILE *out) = {
    phases_write_text, phases_write_csv, phases_write_json, phases_write_svg};

/* A file of --simpoints. */
struct simpoint_file {
    const char *ending;
    int (*write)(const struct phases *p, FILE *out);
};

static const struct simpoint_file simpoint_files[] = {
    {"bb", phases_write_bb},
    {"simpoints", phases_write_simpoints},
    {"weights", phases_write_weights},
};
#define FILES (sizeof(simpoint_files) / sizeof(*simpoint_files))

struct finding {
    const char *machine_name, *output, *prefix;
    struct phases_request request;
    uint64_t most; /* phases */
    char *asked;   /* of -e, or NULL; owned */
    struct counted counted;
    int form;
    struct model_options model;
    struct measured measured;
    struct session_result result;
    struct phases_found *found; /* owned */
    struct output out;
    char *paths[FILES]; /* of --simpoints; owned */
    struct output files[FILES];
    char *command; /* the command line as one text; owned */
    struct phases phases;
    struct run_notes notes;
};

/* The command line */

static int
refuse(const char *text, const char *value)
{
    escape_printf(stderr, "tally phases: %s'%s'\n", text, value);
    return EXIT_USAGE;
}

static int
take_interval(struct finding *f, const char *value)
{
    static const struct {
        const char *ending;
        uint64_t factor;
    } units[] = {{"k", 1000}, {"K", 1000}, {"M", 1000000}, {"G", 1000000000}};
    const size_t digits = strspn(value, "0123456789");
    uint64_t factor = value[digits] == '\0' ? 1 : 0, number;
    char word[16] = "";

    for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
        if (strcmp(value + digits, units[i].ending) == 0)
            factor = units[i].factor;
    if (digits < sizeof(word))
        memcpy(word, value, digits);
    if (factor == 0 || !command_number(word, 1, PHASES_LENGTH_MOST, &number) ||
        number * factor < PHASES_LENGTH_LEAST ||
        number * factor > PHASES_LENGTH_MOST)
        return refuse("--interval takes 1000 to 2G instructions, a whole "
                      "number, as 10M, not ",
                      value);
    f->request.length = number * factor;
    f->request.doubles = 0;
    return 0;
}

static int
take_option(void *user, int option, const char *value)
{
    struct finding *const f = user;
    const char *wrong;

    switch (option) {
    case OPT_INTERVAL:
        return take_interval(f, value);
    case OPT_MOST:
        return command_number(value, 1, CLUSTERS_MOST, &f->most)
                   ? 0
                   : refuse("--most takes a number from 1 to 30, not ", value);
    case OPT_EVENT:
        f->request.counts = 1;
        return command_join(&f->asked, value) == 0 ? 0 : EXIT_OURS;
    case OPT_SIMPOINTS:
        f->prefix = value;
        return *value != '\0'
                   ? 0
                   : refuse("--simpoints takes what its files' names begin "
                            "with, not ",
                            "");
    case OPT_MACHINE:
        f->machine_name = value;
        return 0;
    case OPT_FORMAT:
        return command_form(&command_phases, value, forms, &f->form);
    case OPT_JSON:
        f->form = 2;
        return 0;
    case OPT_OUTPUT:
        f->output = value;
        return *value != '\0' ? 0 : refuse("--output takes a file, not ", "");
    default:
        wrong = model_options_take(&f->model, option - OPT_MODEL, &value);
        return wrong == NULL ? 0 : refuse(wrong, value);
    }
}

/* Returns 0, a status, or COMMAND_HELP; *operand becomes the place of what is
 * to run. */
static int
read_options(struct finding *f, int argc, char **argv, int *operand)
{
    const int status = command_read_options(&command_phases, argc, argv,
                                            take_option, f, operand);

    if (status != 0)
        return status;
    if (argv[*operand] != NULL)
        return 0;
    fputs("tally phases: a program or a trace is expected, as in tally phases "
          "-- ./program\n",
          stderr);
    return EXIT_USAGE;
}

/* Chooses the events of -e, all of which the machine must have. Returns 0 or an
 * error, logged. */
static int
choose_events(struct finding *f)
{
    const struct machine_row *const machine = f->measured.machine;
    struct counted *const c = &f->counted;
    const int error = counted_choose(machine, f->asked, NULL, NULL, c);

    for (size_t i = 0; error == 0 && i < c->count; i++) {
        const struct event_row *const e = c->events[i];
        const char *const lacks =
            event_is_lacking(e)    ? generic_lacking_reason(machine, e)
            : event_is_software(e) ? "the kernel counts it, for QEMU as a whole"
            : measured_lacks(&f->measured, e) != NULL
                ? measured_lacks(&f->measured, e)
            : event_unmodelled(e) ? e->reason
                                  : NULL;
        if (lacks != NULL)
            return tally_fail(&command_log, TALLY_ERANGE, "-e %s: %s", e->name,
                              lacks);
    }
    return error;
}

/* Chooses the machine. Returns 0 or an error, logged. */
static int
choose(struct finding *f)
{
    const struct machine_row *const asked =
        f->machine_name != NULL ? machine_find(f->machine_name) : NULL;

    if (asked != NULL && asked->native)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "the host's counters do not tell which code runs: "
                          "leave -m host away");
    const int error =
        measured_choose(&f->measured, f->machine_name, &f->model, true);
    return error == 0 && f->asked != NULL ? choose_events(f) : error;
}

/* The report */

/* Fills in what the report says of the run, for people. */
static void
note_run(struct finding *f)
{
    run_notes_take(&f->notes, &f->result);
    f->phases.notes = f->notes.lines;
    f->phases.varies = session_varies(&f->result) != 0;
    f->phases.early = session_left_early(&f->result);
    f->phases.trace = f->result.trace;
}

/* Fills in the counts of each interval. Returns 0 or a status. */
static int
take_counts(struct finding *f)
{
    struct phases *const p = &f->phases;
    const struct phases_found *const found = f->found;
    const struct counted *const c = &f->counted;
    const bool varies = session_varies(&f->result) != 0;
    size_t span = 0;

    if (f->result.snapshot_count >= COUNTS_SNAPSHOTS) {
        fprintf(stderr,
                "tally phases: -e: more than %u intervals and threads are "
                "counted; a longer --interval has fewer\n",
                COUNTS_SNAPSHOTS);
        return EXIT_USAGE;
    }
    p->events = calloc(c->count + 1, sizeof(*p->events));
    p->counts = calloc(found->span_count * c->count + 1, sizeof(*p->counts));
    if (p->events == NULL || p->counts == NULL ||
        session_cut(f->measured.params, &f->result) != 0)
        return command_no_memory();
    p->event_count = c->count;
    for (size_t e = 0; e < c->count; e++) {
        p->events[e].name =
            e < c->asked_count ? c->asked[e] : c->events[e]->name;
        p->events[e].standing = fidelity_name(fidelity_in_run(
            c->events[e]->fidelity, f->measured.foreign, varies,
            session_left_early(&f->result), session_partial(&f->result)));
    }
    for (size_t i = 0; i < f->result.interval_count && found->span_count > 0;
         i++) {
        const struct session_interval *const piece = &f->result.intervals[i];
        if (piece->process != found->process)
            continue;
        while (span + 1 < found->span_count &&
               found->spans[span].boundary < piece->boundary)
            span++;
        for (size_t e = 0; e < c->count; e++)
            p->counts[span * c->count + e] +=
                (double)(int64_t)event_value(c->events[e], &piece->totals);
    }
    return 0;
}

static int
write_report(struct finding *f)
{
    struct phases *const p = &f->phases;

    p->command = f->command;
    p->machine = f->measured.machine->name;
    p->found = f->found;
    note_run(f);
    const int counted = f->asked != NULL ? take_counts(f) : 0;
    if (counted != 0)
        return counted;
    if (phases_find(p, (unsigned)f->most) != 0)
        return command_no_memory();
    for (size_t i = 0; f->prefix != NULL && i < FILES; i++) {
        const int status =
            output_finish(&f->files[i], f->paths[i],
                          simpoint_files[i].write(p, f->files[i].file));
        if (status != 0)
            return status;
    }
    const int status =
        output_finish(&f->out, f->output, writers[f->form](p, f->out.file));
    return status == 0 ? measured_status(&f->result) : status;
}

/* The run */

static int
run_program(struct finding *f)
{
    static const uint16_t signals[] = {SIGNAL_INSTRUCTIONS};
    static const struct event_row totals = {.signals = signals,
                                            .signal_count = 1};
    const struct event_row *const usual[] = {&totals};
    const struct session_options session = {
        .machine = f->measured.machine,
        .params = f->measured.params,
        .events = f->asked != NULL ? f->counted.events : usual,
        .event_count = f->asked != NULL ? f->counted.count : 1,
        .recorder = &phases_recorder,
        .phases = &f->request,
        .phases_found = &f->found,
        .launch = f->model.launch,
    };
    const int error =
        session_run(&session, &f->measured.program, &command_log, &f->result);

    if (error != 0)
        return measured_failed(error);
    if (!f->result.started)
        return measured_unstarted(&f->measured, &f->result);
    return f->found != NULL ? write_report(f) : EXIT_OURS;
}

/* Names the files of --simpoints, none of which may replace the program or be
 * the report's file. Returns a status. */
static int
name_files(struct finding *f, const char *program)
{
    for (size_t i = 0; f->prefix != NULL && i < FILES; i++) {
        if (asprintf(&f->paths[i], "%s.%s", f->prefix,
                     simpoint_files[i].ending) < 0) {
            f->paths[i] = NULL;
            return command_no_memory();
        }
        const int status = output_spares_program("phases", "--simpoints",
                                                 f->paths[i], program);
        if (status != 0)
            return status;
        if (f->output != NULL && same_file(f->output, f->paths[i])) {
            escape_printf(stderr,
                          "tally phases: -o and --simpoints are both to write "
                          "%s: name another file for the report\n",
                          f->paths[i]);
            return EXIT_USAGE;
        }
    }
    return 0;
}

/* Opens where the report and the files of --simpoints go before the program
 * runs, so that the program does not run for nothing. Returns a status. */
static int
open_files(struct finding *f)
{
    int status = output_open(f->output, REPLACE_WHOLE, &f->out);

    for (size_t i = 0; status == 0 && f->prefix != NULL && i < FILES; i++)
        status = output_open(f->paths[i], REPLACE_WHOLE, &f->files[i]);
    return status;
}

/* Returns an exit status. */
static int
find_phases(struct finding *f, char **program)
{
    int status = output_spares_program("phases", "-o", f->output, *program);

    if (status == 0)
        status = name_files(f, *program);
    if (status != 0)
        return status;
    status = measured_open_any(&f->measured, program, &f->model.launch);
    if (status == 0)
        status = measured_refuse_imported(&f->measured, "phases");
    if (status != 0)
        return status;
    f->command = command_text(program);
    if (f->command == NULL)
        status = command_no_memory();
    if (status == 0 && choose(f) != 0)
        status = EXIT_USAGE;
    if (status == 0)
        status = open_files(f);
    if (status == 0)
        status = run_program(f);
    program_close(&f->measured.program);
    output_close(&f->out, false);
    for (size_t i = 0; i < FILES; i++)
        output_close(&f->files[i], false);
    return status;
}

static int
run_phases(int argc, char **argv)
{
    struct finding *const f = calloc(1, sizeof(*f));
    int operand = 0;

    if (f == NULL)
        return command_no_memory();
    f->request = (struct phases_request){.length = FIRST_LENGTH, .doubles = 1};
    f->most = USUAL_MOST;
    int status = read_options(f, argc, argv, &operand);
    if (status == COMMAND_HELP) {
        command_help(&command_phases, stdout);
        status = 0;
    } else if (status == 0) {
        status = find_phases(f, argv + operand);
    }
    session_result_finish(&f->result);
    phases_finish(&f->phases);
    free(f->phases.events);
    free(f->phases.counts);
    counted_finish(&f->counted);
    free(f->asked);
    phases_found_destroy(f->found);
    for (size_t i = 0; i < FILES; i++)
        free(f->paths[i]);
    free(f->command);
    free(f);
    return status;
}

const struct command command_phases = {
    .name = "phases",
    .summary = "find the phases of a program, and intervals to simulate",
    .synopsis = "[OPTIONS] [--] PROGRAM|TRACE [ARGUMENTS]",
    .example =
        "  # What the program does over time.\n"
        "  tally phases -- ./program\n"
        "  # Intervals of 10 million instructions for a simulator.\n"
        "  tally phases --interval 10M --simpoints program -- ./program\n"
        "  # Misses in each phase, and what the points miss of them.\n"
        "  tally phases -e cycles,cache-misses -- ./program\n"
        "  # A plot of the phases over time.\n"
        "  tally phases --format svg -o phases.svg -- ./program",
    .options = options,
    .groups = groups,
    .others = others,
    .run = run_phases,
};
