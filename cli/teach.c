/* SPDX-License-Identifier: MIT */
/* tally teach: a page that replays what the model did, access by access, branch
 * by branch, or block by block. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/path.h"
#include "cli/command.h"
#include "cli/counted.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/trace_convert.h"
#include "profile/steps_recorder.h"
#include "record/line_code.h"
#include "record/steps_report.h"
#include "table/level.h"
#include "table/signals.h"
#include "trace/trace_import.h"
#include "trace/trace_reader.h"
#include "version.h"

#define STEPS_USUAL 1000u
#define PAGE_NAME "teach.html"
#define EXIT_NO_STEPS 1
#define LEVEL_CACHES 64u
#define LACKEY_HEAD 256 /* bytes that tell a trace of the cache lab */

enum {
    OPT_LEVEL,
    OPT_BRANCHES,
    OPT_BUBBLES,
    OPT_STEPS,
    OPT_FROM,
    OPT_TO,
    OPT_SKIP,
    OPT_INSTRUCTIONS,
    OPT_IN,
    OPT_LINE,
    OPT_THREAD,
    OPT_MACHINE,
    OPT_DEBUG_DIR,
    OPT_OUTPUT,
    OPT_FORMAT,
    OPT_JSON,
    OPT_MODEL,
    OPT_MODEL_LAST = OPT_MODEL + MODEL_OPTION_COUNT - 1,
};

static const struct option_row options[] = {
    [OPT_LEVEL] = {0, "level", "LEVEL",
                   "steps are accesses to data, with the sets of this level of "
                   "caches: l1d (default), l2, l3 or a level behind the L3"},
    [OPT_BRANCHES] = {0, "branches", NULL,
                      "steps are conditional branches, with the counter that "
                      "predicts each"},
    [OPT_BUBBLES] = {0, "bubbles", NULL,
                     "steps are blocks of code, with the cycles that their "
                     "instructions take and wait"},
    [OPT_STEPS] = {0, "steps", "N",
                   "at most so many steps, 1 to 20000 (default 1000)"},
    [OPT_FROM] = {0, "from", "FUNCTION",
                  "begin where this function is first entered"},
    [OPT_TO] = {0, "to", "FUNCTION",
                "end where this function is entered after the beginning"},
    [OPT_SKIP] = {0, "skip", "N", "begin after so many instructions"},
    [OPT_INSTRUCTIONS] = {0, "instructions", "N",
                          "end after so many instructions from the beginning "
                          "on"},
    [OPT_IN] = {0, "in", "FUNCTION", "steps are of this function's code alone"},
    [OPT_LINE] = {0, "line", "FILE:LINE",
                  "steps are of this line of source alone"},
    [OPT_THREAD] = {0, "thread", "T",
                    "steps are of this thread alone; 0 is the main thread, "
                    "others have the order in which they began"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to be (default: host-model; with --bubbles "
                     "montecito)"},
    [OPT_DEBUG_DIR] = {0, "debug-dir", "DIR",
                       "look for separate debug files there too"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write there (default: " PAGE_NAME "; JSON to standard "
                    "error)"},
    [OPT_FORMAT] = {0, "format", "FORM", "html (default) or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    MODEL_TURN_ROWS(OPT_MODEL, "100000"),
    {0},
};

static const struct other_option others[] = {
    {.name = "parallel",
     .advice = "threads that run at once have other steps each time"},
    {0},
};

static const struct option_group groups[] = {
    {OPT_LEVEL, "What is a step"},
    {OPT_STEPS, "Which steps"},
    {OPT_MACHINE, "The machine, names, and what to write"},
    {OPT_MODEL, "Settings of the machine, and of the program's run"},
    {0},
};

struct teaching {
    struct steps_request request;
    const char *machine_name, *level, *from, *to, *in, *line, *output;
    struct debug_dirs debug_dirs;
    bool json;
    struct model_options model;
    struct measured measured;
    struct counted counted;
    struct session_result result;
    struct steps *steps; /* owned */
    struct output out;
    char import[PATH_MAX]; /* a trace that is removed in the end, or "" */
    char *words[2];        /* the command line that has the trace */
};

/* The command line */

static int
bad_number(int option, const char *value, const char *expected)
{
    escape_printf(stderr, "tally teach: --%s '%s': %s is expected\n",
                  options[option].name, value, expected);
    return EXIT_USAGE;
}

/* Takes what a step is. */
static int
take_kind(struct teaching *c, enum steps_kind kind)
{
    if (c->request.kind != STEPS_NONE && c->request.kind != kind) {
        fputs("tally teach: --level, --branches and --bubbles: a page has one "
              "kind of steps\n",
              stderr);
        return EXIT_USAGE;
    }
    c->request.kind = kind;
    return 0;
}

static int
take_number(struct teaching *c, int option, const char *value)
{
    const bool steps = option == OPT_STEPS, thread = option == OPT_THREAD;
    const uint64_t most = steps    ? STEPS_MOST
                          : thread ? COUNTS_THREADS - 1
                                   : INT64_MAX;
    uint64_t number;

    if (!command_number(value, thread ? 0 : 1, most, &number))
        return bad_number(option, value,
                          steps    ? "a number from 1 to 20000"
                          : thread ? "the number of a thread"
                                   : "a number from 1 to 9223372036854775807");
    if (steps)
        c->request.count = (uint32_t)number;
    else if (thread)
        c->request.thread = (uint32_t)number;
    else if (option == OPT_SKIP)
        c->request.skip = number;
    else
        c->request.instructions = number;
    return 0;
}

static int
take_option(void *user, int option, const char *value)
{
    static const char *const forms[] = {"html", "json", NULL};
    struct teaching *const c = user;
    const char *wrong;
    int form, status;

    switch (option) {
    case OPT_LEVEL:
        c->level = value;
        return take_kind(c, STEPS_SETS);
    case OPT_BRANCHES:
        return take_kind(c, STEPS_BRANCHES);
    case OPT_BUBBLES:
        return take_kind(c, STEPS_BUBBLES);
    case OPT_STEPS:
    case OPT_SKIP:
    case OPT_INSTRUCTIONS:
    case OPT_THREAD:
        return take_number(c, option, value);
    case OPT_FROM:
        c->from = value;
        return 0;
    case OPT_TO:
        c->to = value;
        return 0;
    case OPT_IN:
        c->in = value;
        return 0;
    case OPT_LINE:
        c->line = value;
        return 0;
    case OPT_MACHINE:
        c->machine_name = value;
        return 0;
    case OPT_DEBUG_DIR:
        return command_add_debug_dir(&command_teach, &c->debug_dirs, value);
    case OPT_OUTPUT:
        c->output = value;
        return 0;
    case OPT_FORMAT:
        status = command_form(&command_teach, value, forms, &form);
        c->json = status == 0 && form == 1;
        return status;
    case OPT_JSON:
        c->json = true;
        return 0;
    default:
        wrong = model_options_take(&c->model, option - OPT_MODEL, &value);
        if (wrong == NULL)
            return 0;
        escape_printf(stderr, "tally teach: %s'%s'\n", wrong, value);
        return EXIT_USAGE;
    }
}

/* Refuses options that do not go together. 0 or EXIT_USAGE. */
static int
check_options(const struct teaching *c)
{
    const char *wrong = NULL;

    if (c->in != NULL && c->line != NULL)
        wrong = "--in and --line: one of them says whose steps there are";
    else if (c->from != NULL && c->request.skip != 0)
        wrong = "--from and --skip: one of them says where the steps begin";
    else if (c->from != NULL && c->to != NULL && strcmp(c->from, c->to) == 0)
        wrong = "--from and --to are the same function";
    if (wrong == NULL)
        return 0;
    fprintf(stderr, "tally teach: %s\n", wrong);
    return EXIT_USAGE;
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct teaching *c, int argc, char **argv, int *operand)
{
    const int status = command_read_options(&command_teach, argc, argv,
                                            take_option, c, operand);

    if (status != 0)
        return status;
    if (c->request.kind == STEPS_NONE)
        c->request.kind = STEPS_SETS;
    if (c->output == NULL && !c->json)
        c->output = PAGE_NAME;
    if (check_options(c) != 0)
        return EXIT_USAGE;
    if (argv[*operand] != NULL)
        return 0;
    fputs("tally teach: a program or a trace is expected, as in tally teach -- "
          "./program\n",
          stderr);
    return EXIT_USAGE;
}

/* Traces of the cache lab */

/* Returns whether a line of text can be one of a trace of the cache lab, as
 * " L 7ff0005c8,8". */
static bool
is_lab_line(const char *line)
{
    const size_t blanks = strspn(line, " ");
    const char *const address =
        line + blanks + 1 + strspn(line + blanks + 1, " ");
    const size_t digits = strspn(address, "0123456789abcdefABCDEFx");

    return line[blanks] != '\0' && strchr("ILSM", line[blanks]) != NULL &&
           digits != 0 && address[digits] == ',';
}

/* Returns whether the file is a trace of the cache lab: text whose first line
 * with anything in it is an access. */
static bool
is_lab_trace(const char *path)
{
    char head[LACKEY_HEAD] = "";
    FILE *const file = fopen(path, "r");

    if (file == NULL)
        return false;
    const char *line;
    do
        line = fgets(head, sizeof(head), file);
    while (line != NULL && (line[strspn(line, " \t\r\n")] == '\0' ||
                            strncmp(line, "==", 2) == 0));
    fclose(file);
    return line != NULL && is_lab_line(line);
}

/* Makes a trace of a trace of the cache lab, in place of which it is replayed.
 * 0 or an exit status. */
static int
import_lab_trace(struct teaching *c, const char *path)
{
    snprintf(c->import, sizeof(c->import), "%s/tally-teach.XXXXXX",
             path_scratch());
    const int fd = mkstemp(c->import);
    if (fd < 0) {
        tally_fail(&command_log, TALLY_ESYSTEM, "%s: %s", c->import,
                   strerror(errno));
        c->import[0] = '\0';
        return EXIT_OURS;
    }
    close(fd);
    c->words[0] = c->import;
    return trace_convert_import(path, "cachelab", c->import, true);
}

/* What is asked of the machine */

/* Finds the level whose sets are shown. 0 or an error, logged. */
static int
find_level(struct teaching *c)
{
    const struct measured *const m = &c->measured;
    const enum cache_id level =
        c->level != NULL ? level_find(c->level) : CACHE_L1D;

    if (level == CACHE_COUNT)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--level '%s': l1d, l2, l3 or a level behind the L3 "
                          "is expected",
                          c->level);
    const char *const lacks = level_lacks(level, m->params);
    if (lacks != NULL)
        return tally_fail(&command_log, TALLY_ERANGE, "--level %s: %s",
                          tally_caches[level].name, lacks);
    if (m->params[tally_caches[level].ways] > LEVEL_CACHES)
        return tally_fail(
            &command_log, TALLY_ERANGE,
            "--level %s: a set of %" PRIu64 " lines; a page shows "
            "sets of at most %u: see --set %s.ways",
            tally_caches[level].name, m->params[tally_caches[level].ways],
            LEVEL_CACHES, tally_caches[level].name);
    if (m->params[PARAM_CORES] * m->params[PARAM_NODES] > LEVEL_CACHES)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "a page shows the caches of at most %u cores: the "
                          "machine has %" PRIu64 "; see --set cores",
                          LEVEL_CACHES,
                          m->params[PARAM_CORES] * m->params[PARAM_NODES]);
    if ((m->feeds & FEED_DATA) == 0)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "a trace imported from %s has no loads and stores",
                          m->imported);
    c->request.level = level;
    return 0;
}

/* Adds the events that a page is made of, so that their components run. 0 or an
 * error, logged. */
static int
choose_events(struct teaching *c)
{
    static const uint16_t wrong[] = {SIGNAL_NOT_TAKEN_MISPREDICTS,
                                     SIGNAL_TAKEN_MISPREDICTS};
    static const struct event_row mispredicts = {.signals = wrong,
                                                 .signal_count = 2};
    const struct measured *const m = &c->measured;
    int error = 0;

    switch (c->request.kind) {
    case STEPS_SETS:
        for (unsigned i = 0; i < LEVEL_EVENTS && error == 0; i++)
            error = counted_add(
                &c->counted, level_event((enum cache_id)c->request.level, i));
        return error;
    case STEPS_BRANCHES:
        return counted_add(&c->counted, &mispredicts);
    default:
        return counted_account(m->machine, &c->counted);
    }
}

/* Checks that the machine predicts branches, of a run that has branches. */
static int
check_branches(const struct measured *m)
{
    if ((m->feeds & FEED_BRANCHES) == 0)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--branches: a trace imported from %s does not say "
                          "which instructions are branches",
                          m->imported);
    if (m->params[PARAM_BRANCH_PREDICTOR] == BRANCH_PREDICTOR_NOT_TAKEN)
        return tally_fail(
            &command_log, TALLY_ERANGE,
            "--branches: %s predicts that no branch is taken, and "
            "has no table; --set branch.predictor=bimodal gives "
            "it one",
            m->machine->name);
    return 0;
}

/* Checks that the cycles of the machine can be told block by block. */
static int
check_bubbles(const struct measured *m)
{
    if ((m->feeds & FEED_ALL) != FEED_ALL)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--bubbles: a trace imported from %s does not have "
                          "what the instructions are",
                          m->imported);
    if (m->params[PARAM_TIME_MODEL] == TIME_MODEL_OOO)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--bubbles: on %s instructions of several blocks "
                          "execute at the same time, and their cycles are not "
                          "told apart; -m montecito executes in order",
                          m->machine->name);
    return 0;
}

/* Finds the addresses that the part of the run depends on. 0 or an error,
 * logged. */
static int
find_code(struct teaching *c)
{
    const struct program *const program = &c->measured.program;
    struct steps_request *const q = &c->request;
    int error = 0;

    if (measured_imported(&c->measured) != NULL &&
        (c->from != NULL || c->to != NULL || c->in != NULL || c->line != NULL))
        return tally_fail(
            &command_log, TALLY_ERANGE,
            "a trace imported from %s has no functions and lines: "
            "--skip and --instructions say which part",
            c->measured.imported);
    if (c->from != NULL)
        error = program_symbol(program->path, c->from, &command_log, &q->from);
    if (error == 0 && c->to != NULL)
        error = program_symbol(program->path, c->to, &command_log, &q->to);
    if (error == 0 && c->line != NULL)
        error = line_code(program, c->line, c->debug_dirs.paths,
                          c->debug_dirs.count, &command_log, q->ranges,
                          POINT_RANGES, &q->range_count);
    if (error == 0 && c->in != NULL) {
        q->range_count = 1;
        error = program_function(program->path, c->in, &command_log,
                                 &q->ranges[0].first, &q->ranges[0].last);
    }
    return error;
}

/* Checks that what was asked for can be told of the machine. 0 or an error,
 * logged. */
static int
check_kind(struct teaching *c)
{
    switch (c->request.kind) {
    case STEPS_SETS:
        return find_level(c);
    case STEPS_BRANCHES:
        return check_branches(&c->measured);
    default:
        return check_bubbles(&c->measured);
    }
}

/* Chooses the machine, and finds what is asked of it. 0 or an error, logged. */
static int
choose(struct teaching *c)
{
    const char *const machine = c->machine_name != NULL ? c->machine_name
                                : c->request.kind == STEPS_BUBBLES
                                    ? "montecito"
                                    : "host-model";
    const struct machine_row *const asked = machine_find(machine);
    const bool own = c->machine_name == NULL;
    struct model_options *const model = &c->model;
    int error = 0;

    if (asked != NULL && asked->native)
        return tally_fail(
            &command_log, TALLY_ERANGE,
            "the host's counters cannot tell steps: leave -m host "
            "away");
    /* A machine that was not asked for runs any program, as in the lessons. */
    model->foreign |= own && c->request.kind == STEPS_BUBBLES;
    error = measured_choose(&c->measured, machine, model, true);
    if (error == 0)
        error = measured_check_accesses(&c->measured, "tally teach");
    if (error == 0)
        error = check_kind(c);
    if (error == 0)
        error = find_code(c);
    return error == 0 ? choose_events(c) : error;
}

/* The run */

/* Says why there is no step. */
static int
say_empty(const struct teaching *c)
{
    const bool began = atomic_load(&c->steps->began) != 0;

    if (c->from != NULL && !began)
        escape_printf(stderr,
                      "tally teach: the program ended and never entered %s, "
                      "where the steps were to begin\n",
                      c->from);
    else if (!began)
        fputs("tally teach: the program ended before the steps were to begin\n",
              stderr);
    else
        fprintf(stderr,
                "tally teach: there was no %s in the part of the run that was "
                "asked for: no step\n",
                c->request.kind == STEPS_SETS && c->request.level == CACHE_L1D
                    ? "access to data"
                : c->request.kind == STEPS_SETS ? "access that asked the level"
                : c->request.kind == STEPS_BRANCHES ? "conditional branch"
                                                    : "block of code");
    return EXIT_NO_STEPS;
}

/* Writes the page or JSON. Returns an exit status. */
static int
write_report(struct teaching *c)
{
    const struct measured *const m = &c->measured;
    const unsigned count = atomic_load(&c->steps->count);
    const struct steps_report report = {
        .steps = c->steps,
        .request = &c->request,
        .machine = m->machine,
        .params = m->params,
        .components = c->result.components,
        .isa = m->program.isa->name,
        .imported = measured_imported(m),
        .has_instructions = (m->feeds & FEED_INSTRUCTIONS) != 0,
        .has_trace = c->model.launch.trace != NULL,
        .creator = "tally " TALLY_VERSION,
        .argv = m->program.argv,
        .from = c->from,
        .to = c->to,
        .in = c->in,
        .line = c->line,
        .debug_dirs = c->debug_dirs.paths,
        .debug_dir_count = c->debug_dirs.count,
    };
    const int status =
        output_finish(&c->out, c->output,
                      c->json ? steps_json(&report, c->out.file)
                              : steps_page(&report, c->out.file));

    if (status == 0 && !c->json && strcmp(c->output, "-") != 0)
        escape_printf(stderr, "tally: %u step%s: %s\n", count,
                      count == 1 ? "" : "s", c->output);
    return status;
}

/* Runs the program or replays the trace. Returns an exit status. */
static int
run_program(struct teaching *c)
{
    const struct session_options session = {
        .machine = c->measured.machine,
        .params = c->measured.params,
        .feeds = c->measured.feeds,
        .events = (const struct event_row *const *)c->counted.events,
        .event_count = c->counted.count,
        .recorder = &steps_recorder,
        .steps = &c->request,
        .steps_found = &c->steps,
        .launch = c->model.launch,
    };
    const int error =
        session_run(&session, &c->measured.program, &command_log, &c->result);

    if (error != 0)
        return measured_failed(error);
    if (c->steps == NULL)
        return EXIT_OURS;
    if (!c->result.started)
        return measured_unstarted(&c->measured, &c->result);
    return atomic_load(&c->steps->count) == 0 ? say_empty(c) : write_report(c);
}

/* Returns whether the file is there, but neither a trace nor a program. */
static bool
is_neither(const char *path)
{
    struct stat st;

    return !trace_is_trace(path) && stat(path, &st) == 0 &&
           S_ISREG(st.st_mode) && (st.st_mode & 0111) == 0;
}

/* Opens where the report goes before the program runs, so that the program does
 * not run for nothing. Returns an exit status. */
static int
teach_program(struct teaching *c, char **program)
{
    const bool lab = !trace_is_trace(*program) && is_lab_trace(*program);
    int status = output_spares_program("teach", "-o", c->output, *program);

    if (status == 0 && lab && program[1] != NULL) {
        escape_printf(stderr,
                      "tally teach: %s is a trace, which takes no arguments: "
                      "leave %s away\n",
                      program[0], program[1]);
        status = EXIT_USAGE;
    }
    if (status == 0 && !lab && is_neither(*program)) {
        escape_printf(stderr,
                      "tally teach: %s is no program, as it is not executable, "
                      "and no trace: neither of tally trace record nor of the "
                      "cache lab, with lines such as ' L 7ff0005c8,8'\n",
                      *program);
        status = EXIT_USAGE;
    }
    if (status == 0 && lab)
        status = import_lab_trace(c, *program);
    if (status == 0)
        status = measured_open_any(&c->measured, lab ? c->words : program,
                                   &c->model.launch);
    if (status != 0)
        return status;
    if (choose(c) != 0)
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
run_teach(int argc, char **argv)
{
    struct teaching *const c = calloc(1, sizeof(*c));
    int operand = 0;

    if (c == NULL) {
        command_no_memory();
        return EXIT_OURS;
    }
    c->request.count = STEPS_USUAL;
    c->request.thread = NO_THREAD;
    c->request.from = c->request.to = NO_LINE;
    int status = read_options(c, argc, argv, &operand);

    if (status == COMMAND_HELP) {
        command_help(&command_teach, stdout);
        status = 0;
    } else if (status == 0) {
        status = teach_program(c, argv + operand);
    }
    if (c->import[0] != '\0')
        unlink(c->import);
    session_result_finish(&c->result);
    counted_finish(&c->counted);
    free(c->steps);
    free(c);
    return status;
}

const struct command command_teach = {
    .name = "teach",
    .summary = "make a page that replays cache sets, predictors or bubbles",
    .synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS] | TRACE",
    .example =
        "  # Replay the sets of the L1 data cache in main.\n"
        "  tally teach --from main -o sets.html ./program\n"
        "  # Replay what predicts the branches from main on.\n"
        "  tally teach --branches --from main -o branches.html ./program\n"
        "  # Replay the cycles of Montecito's pipeline, for a script.\n"
        "  tally teach --bubbles --from main --json -o bubbles.json "
        "./program",
    .options = options,
    .groups = groups,
    .others = others,
    .run = run_teach,
};
