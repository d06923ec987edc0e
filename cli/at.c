/* SPDX-License-Identifier: MIT */
/* tally at: runs a program to a point, such as its thousandth miss, and shows
 * what led there. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/counted.h"
#include "cli/debugger.h"
#include "cli/illegal.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/stuck.h"
#include "profile/filter.h"
#include "profile/point_recorder.h"
#include "record/line_code.h"
#include "record/memory.h"
#include "record/point_report.h"
#include "source/plugin_path.h"
#include "table/signals.h"

#define ROWS_SHOWN 16u
#define WANTED_TEXT 512
#define EXIT_NOT_REACHED 1

enum {
    OPT_MISS,
    OPT_INSTRUCTION,
    OPT_FUNCTION,
    OPT_IN,
    OPT_LINE,
    OPT_THREAD,
    OPT_LAST,
    OPT_GDB,
    OPT_GDB_COMMAND,
    OPT_MACHINE,
    OPT_DEBUG_DIR,
    OPT_OUTPUT,
    OPT_FORMAT,
    OPT_JSON,
    OPT_MODEL,
    OPT_MODEL_LAST = OPT_MODEL + MODEL_OPTION_COUNT - 1,
};

static const struct option_row options[] = {
    [OPT_MISS] = {0, "miss", "N",
                  "the point is the Nth load or store that misses the L1 data "
                  "cache, from 1 on"},
    [OPT_INSTRUCTION] = {0, "instruction", "N",
                         "the point is the Nth instruction, before it runs"},
    [OPT_FUNCTION] = {0, "function", "FUNCTION[:K]",
                      "the point is where this function is entered for the Kth "
                      "time (default 1)"},
    [OPT_IN] = {0, "in", "FUNCTION",
                "with --miss: count only misses of this function's code"},
    [OPT_LINE] = {0, "line", "FILE:LINE",
                  "with --miss: count only misses of this line of source"},
    [OPT_THREAD] = {0, "thread", "T",
                    "count only in this thread; 0 is the main thread, others "
                    "have the order in which they began"},
    [OPT_LAST] = {0, "last", "M",
                  "show the last M blocks and accesses, 1 to 256 (default 16)"},
    [OPT_GDB] = {0, "gdb", NULL,
                 "start GDB, stopped where the program enters the next block "
                 "of code behind the point"},
    [OPT_GDB_COMMAND] = {0, "gdb-command", "COMMAND",
                         "--gdb, and have GDB carry this command out there and "
                         "end; may be given again"},
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to be (default: host-model)"},
    [OPT_DEBUG_DIR] = {0, "debug-dir", "DIR",
                       "look for separate debug files there too"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the report there (default: standard error)"},
    [OPT_FORMAT] = {0, "format", "FORM", "text or json"},
    [OPT_JSON] = {'j', "json", NULL, "the same as --format json"},
    MODEL_TURN_ROWS(OPT_MODEL, "100000"),
    {0},
};

static const struct other_option others[] = {
    {.name = "parallel",
     .advice = "threads that run at once come to another point each time"},
    {0},
};

struct at_request {
    struct point_request point;
    int given;            /* the option that says what the point is; -1: none */
    const char *function; /* of --function, without K; owned by `name` */
    char *name;
    const char *in, *line; /* or NULL */
    const char *machine_name;
    struct debug_dirs debug_dirs;
    const char *output;
    const char *commands[DEBUGGER_COMMANDS]; /* for GDB */
    size_t command_count;
    unsigned last;
    bool json;
    struct model_options model;
};

/* A program that runs to the point. */
struct at_run {
    struct at_request *request;
    struct measured measured;
    struct counted counted;
    struct stuck stuck;
    struct session_options session;
    struct session_result result;
    struct point *point; /* owned */
    struct output out;   /* where the report goes */
    int reported;        /* the exit status of a report that was written; -1 */
    struct debugger debugger;
    char allocations[COUNTS_NAME]; /* path of what is preloaded */
    char wanted[WANTED_TEXT];      /* what the point is */
    char what[WANTED_TEXT];        /* what is counted, as "misses" */
};

static int
bad_number(int option, const char *value, const char *expected)
{
    escape_printf(stderr, "tally at: --%s '%s': %s is expected\n",
                  options[option].name, value, expected);
    return EXIT_USAGE;
}

/* Takes FUNCTION or FUNCTION:K. */
static int
take_function(struct at_request *r, const char *value)
{
    free(r->name);
    r->name = strdup(value);
    if (r->name == NULL)
        return command_no_memory();
    r->function = r->name;
    r->point.count = 1;
    char *const colon = strrchr(r->name, ':');
    /* Names of C++ have two colons. */
    if (colon != NULL && (colon == r->name || colon[-1] != ':')) {
        if (!command_number(colon + 1, 1, INT64_MAX, &r->point.count))
            return bad_number(OPT_FUNCTION, value,
                              "a function, or FUNCTION:K with a number from 1 "
                              "on,");
        *colon = '\0';
    }
    return *r->name != '\0'
               ? 0
               : bad_number(OPT_FUNCTION, value, "a function, or FUNCTION:K");
}

/* Takes an option that says what the point is. */
static int
take_point(struct at_request *r, int option, const char *value)
{
    static const enum point_kind kinds[] = {
        [OPT_MISS] = POINT_MISS,
        [OPT_INSTRUCTION] = POINT_INSTRUCTION,
        [OPT_FUNCTION] = POINT_ENTRY,
    };

    if (r->given >= 0 && r->given != option) {
        fprintf(stderr, "tally at: --%s and --%s: a run has one point\n",
                options[r->given].name, options[option].name);
        return EXIT_USAGE;
    }
    r->given = option;
    r->point.kind = kinds[option];
    if (option == OPT_FUNCTION)
        return take_function(r, value);
    return command_number(value, 1, INT64_MAX, &r->point.count)
               ? 0
               : bad_number(option, value,
                            "a number from 1 to 9223372036854775807");
}

static int
take_option(void *user, int option, const char *value)
{
    struct at_request *const r = user;
    static const char *const forms[] = {"text", "json", NULL};
    uint64_t number;
    const char *wrong;
    int form;
    int status;

    switch (option) {
    case OPT_MISS:
    case OPT_INSTRUCTION:
    case OPT_FUNCTION:
        return take_point(r, option, value);
    case OPT_IN:
        r->in = value;
        return 0;
    case OPT_LINE:
        r->line = value;
        return 0;
    case OPT_THREAD:
        if (!command_number(value, 0, COUNTS_THREADS - 1, &number))
            return bad_number(option, value, "the number of a thread");
        r->point.thread = (uint32_t)number;
        return 0;
    case OPT_LAST:
        if (!command_number(value, 1, POINT_ACCESSES, &number))
            return bad_number(option, value, "a number from 1 to 256");
        r->last = (unsigned)number;
        return 0;
    case OPT_GDB:
        r->point.traps = 1;
        return 0;
    case OPT_GDB_COMMAND:
        if (r->command_count == DEBUGGER_COMMANDS) {
            fprintf(stderr, "tally at: more than %u --gdb-command\n",
                    DEBUGGER_COMMANDS);
            return EXIT_USAGE;
        }
        r->point.traps = 1;
        r->commands[r->command_count++] = value;
        return 0;
    case OPT_MACHINE:
        r->machine_name = value;
        return 0;
    case OPT_DEBUG_DIR:
        return command_add_debug_dir(&command_at, &r->debug_dirs, value);
    case OPT_OUTPUT:
        r->output = value;
        return 0;
    case OPT_FORMAT:
        status = command_form(&command_at, value, forms, &form);
        r->json = status == 0 && form == 1;
        return status;
    case OPT_JSON:
        r->json = true;
        return 0;
    default:
        wrong = model_options_take(&r->model, option - OPT_MODEL, &value);
        if (wrong == NULL)
            return 0;
        escape_printf(stderr, "tally at: %s'%s'\n", wrong, value);
        return EXIT_USAGE;
    }
}

/* Refuses options that do not go together. 0 or EXIT_USAGE. */
static int
check_options(const struct at_request *r)
{
    const char *wrong = NULL;

    if (r->given < 0)
        wrong = "which point? --miss N, --instruction N or --function "
                "FUNCTION:K says it";
    else if (r->in != NULL && r->line != NULL)
        wrong = "--in and --line: one of them says which misses count";
    else if ((r->in != NULL || r->line != NULL) && r->given != OPT_MISS)
        wrong = "--in and --line say which misses count, and need --miss";
    if (wrong == NULL)
        return 0;
    fprintf(stderr, "tally at: %s\n", wrong);
    return EXIT_USAGE;
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct at_request *r, int argc, char **argv, int *operand)
{
    const int status =
        command_read_options(&command_at, argc, argv, take_option, r, operand);

    if (status != 0)
        return status;
    if (check_options(r) != 0)
        return EXIT_USAGE;
    if (argv[*operand] != NULL)
        return 0;
    fprintf(stderr, "tally at: a program is expected, as in tally at --miss "
                    "1000 -- ./program\n");
    return EXIT_USAGE;
}

/* Finds the addresses that the point depends on. 0 or an error, logged. */
static int
find_code(struct at_run *a)
{
    struct at_request *const r = a->request;
    const struct program *const program = &a->measured.program;
    struct point_request *const point = &r->point;

    if (r->function != NULL)
        return program_symbol(program->path, r->function, &command_log,
                              &point->entry);
    if (r->line != NULL)
        return line_code(program, r->line, r->debug_dirs.paths,
                         r->debug_dirs.count, &command_log, point->ranges,
                         POINT_RANGES, &point->range_count);
    if (r->in != NULL) {
        point->range_count = 1;
        return program_function(program->path, r->in, &command_log,
                                &point->ranges[0].first,
                                &point->ranges[0].last);
    }
    return 0;
}

/* Writes what the point is, and what is counted, for people. */
static void
describe(struct at_run *a)
{
    const struct at_request *const r = a->request;
    const char *const where = r->in != NULL ? r->in : r->line;
    char number[32], thread[48] = "";

    format_grouped(r->point.count, number);
    if (r->point.thread != NO_THREAD)
        snprintf(thread, sizeof(thread), " in thread %u", r->point.thread);
    switch (r->point.kind) {
    case POINT_MISS:
        snprintf(a->what, sizeof(a->what), "of the L1 data cache%s%s%s",
                 where != NULL ? " in " : "", where != NULL ? where : "",
                 thread);
        snprintf(a->wanted, sizeof(a->wanted), "miss %s %.400s", number,
                 a->what);
        return;
    case POINT_INSTRUCTION:
        snprintf(a->wanted, sizeof(a->wanted), "instruction %s%s", number,
                 thread);
        return;
    default:
        snprintf(a->what, sizeof(a->what), "of %.400s%s", r->function, thread);
        snprintf(a->wanted, sizeof(a->wanted), "entry %s %.400s", number,
                 a->what);
        return;
    }
}

/* Says that the program ended before the point, or was interrupted. */
static int
say_unreached(const struct at_run *a)
{
    static const char *const nouns[POINT_KINDS][2] = {
        [POINT_MISS] = {"miss", "misses"},
        [POINT_INSTRUCTION] = {"instruction", "instructions"},
        [POINT_ENTRY] = {"entry", "entries"},
    };
    const uint64_t passed = atomic_load(&a->point->passed);
    char number[32];

    format_grouped(passed, number);
    escape_printf(stderr, "tally at: %s after %s %s%s%s: %s was not reached\n",
                  a->result.interrupted ? "interrupted" : "the program ended",
                  number, nouns[a->request->point.kind][passed != 1],
                  a->what[0] != '\0' ? " " : "", a->what, a->wanted);
    return EXIT_NOT_REACHED;
}

/* Writes the report. Returns an exit status. */
static int
write_report(struct at_run *a)
{
    const struct at_request *const r = a->request;
    struct output *const out = &a->out;
    struct winsize screen = {0};
    const bool wide = r->output == NULL && isatty(STDERR_FILENO) &&
                      ioctl(STDERR_FILENO, TIOCGWINSZ, &screen) == 0;
    const struct point_report report = {
        .point = a->point,
        .request = &r->point,
        .wanted = a->wanted,
        .machine = a->measured.machine->name,
        .isa = a->measured.program.isa->name,
        .params = a->measured.params,
        .argv = a->measured.program.argv,
        .debug_dirs = r->debug_dirs.paths,
        .debug_dir_count = r->debug_dirs.count,
        .last = r->last,
        .width = wide ? screen.ws_col : 0,
    };
    const int error = output_end(out, r->json ? point_json(&report, out->file)
                                              : point_text(&report, out->file));

    return error == 0           ? 0
           : error == TALLY_EIO ? command_unwritten("report")
                                : command_no_memory();
}

/* Has the run tell classes of misses, where the machine has classes. */
static int
choose_events(struct at_run *a)
{
    const struct measured *const m = &a->measured;
    const struct event_row *const event =
        event_find(m->machine, "conflict-load-misses");

    if (event == NULL || event_lacks(event, m->params) != NULL)
        return 0;
    return counted_choose(m->machine, MEMORY_EVENTS, NULL, NULL, &a->counted);
}

/* The program waits at the point, of which GDB is not told yet. */
static void
report_before_debugger(void *user, const struct point *point)
{
    struct at_run *const a = user;

    debugger_symbols(&a->debugger, point);
    a->reported = write_report(a);
}

/* Runs the program to the point. Returns an exit status. */
static int
run_to_point(struct at_run *a)
{
    const int error = session_run(&a->session, &a->measured.program,
                                  &command_log, &a->result);

    /* GDB still writes to the terminal: it says that the program has ended. */
    if (a->result.started)
        debugger_wait(&a->debugger);
    if (error != 0)
        return measured_failed(error);
    if (a->point == NULL)
        return EXIT_OURS;
    if (!a->result.started)
        return measured_unstarted(&a->measured, &a->result);
    if (atomic_load(&a->point->reached) == 0)
        return say_unreached(a);
    return a->reported >= 0 ? a->reported : write_report(a);
}

/* Runs the program to the point, beside GDB if that is asked for. Returns an
 * exit status. */
static int
run_beside(struct at_run *a)
{
    const struct at_request *const r = a->request;
    const struct program *const program = &a->measured.program;
    struct debugger *const d = &a->debugger;
    int status = 0;

    if (r->point.traps == 0)
        return run_to_point(a);
    status = debugger_start(d, program, r->commands, r->command_count);
    a->session.launch.debugger = d->socket;
    a->session.point_reached = report_before_debugger;
    a->session.point_user = a;
    if (status == 0)
        status = run_to_point(a);
    return status;
}

/* Chooses the machine, finds the code, and runs the program. */
static int
at_program(struct at_run *a)
{
    struct at_request *const r = a->request;
    struct measured *const m = &a->measured;
    struct launch_options *const launch = &r->model.launch;
    const char *const machine =
        r->machine_name != NULL ? r->machine_name : "host-model";
    const struct machine_row *const asked = machine_find(machine);
    const char *heap_reason = NULL;
    int error = 0;

    if (asked != NULL && asked->native)
        error = tally_fail(&command_log, TALLY_ERANGE,
                           "the host's counters cannot tell a miss from the "
                           "others: leave -m host away");
    if (error == 0)
        error = measured_choose(m, machine, &r->model, true);
    if (error == 0)
        error = measured_check_accesses(m, "tally at");
    if (error == 0)
        error = find_code(a);
    if (error == 0)
        error = choose_events(a);
    if (error != 0)
        return EXIT_USAGE;
    if (plugin_find_allocations(m->plugin, m->program.isa->name, &command_log,
                                a->allocations, sizeof(a->allocations)) != 0)
        return EXIT_OURS;
    launch->objects = a->allocations;
    if (launch_find_registers(launch, &m->program, &command_log,
                              &heap_reason) != 0)
        return EXIT_USAGE;
    describe(a);
    a->session = (struct session_options){
        .machine = m->machine,
        .params = m->params,
        .events = (const struct event_row *const *)a->counted.events,
        .event_count = a->counted.count,
        .recorder = &point_recorder,
        .point = &r->point,
        .point_found = &a->point,
        .stuck = stuck_say,
        .stuck_user = &a->stuck,
        .launch = *launch,
    };
    return run_beside(a);
}

/* Opens where the report goes before the program runs, so that the program does
 * not run for nothing. Returns an exit status. */
static int
at_point(struct at_run *a, char **program)
{
    struct at_request *const r = a->request;
    int status = output_spares_program("at", "-o", r->output, *program);

    if (status == 0)
        status = output_open(r->output, REPLACE_WHOLE, &a->out);

    if (status != 0)
        return status;
    status = measured_open(&a->measured, program, &r->model.launch);
    if (status == 0) {
        if (r->point.traps != 0)
            status = debugger_open(&a->debugger, &a->measured.program);
        if (status == 0)
            status = at_program(a);
        debugger_finish(&a->debugger);
        program_close(&a->measured.program);
    }
    output_close(&a->out, false);
    return status;
}

static int
run_at(int argc, char **argv)
{
    struct at_request request = {
        .given = -1,
        .last = ROWS_SHOWN,
        .point.thread = NO_THREAD,
    };
    struct at_run *const a = calloc(1, sizeof(*a));
    int operand = 0;

    if (a == NULL) {
        command_no_memory();
        return EXIT_OURS;
    }
    a->request = &request;
    a->reported = -1;
    int status = read_options(&request, argc, argv, &operand);

    if (status == COMMAND_HELP) {
        command_help(&command_at, stdout);
        status = 0;
    } else if (status == 0) {
        status = at_point(a, argv + operand);
    }
    session_result_finish(&a->result);
    counted_finish(&a->counted);
    free(a->point);
    free(a);
    free(request.name);
    return status;
}

const struct command command_at = {
    .name = "at",
    .summary = "run a program to a miss, and show what led there",
    .synopsis = "[OPTIONS] --miss N [--] PROGRAM [ARGUMENTS]",
    .example =
        "  # Show the hundredth miss, and what led there.\n"
        "  tally at --miss 100 ./program\n"
        "  # Show the main thread's tenth miss, with the last 40 accesses.\n"
        "  tally at --miss 10 --thread 0 --last 40 ./program\n"
        "  # Show where a function is entered, for a script.\n"
        "  tally at --function main:1 --json -o point.json ./program",
    .options = options,
    .others = others,
    .run = run_at,
};
