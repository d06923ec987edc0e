/* SPDX-License-Identifier: MIT */
/*
 * tally profile: runs a program that marks points (tally/profiler.h), with the
 * profiler's properties and events set from outside. They travel in the
 * environment; an emulated program runs under tally count.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/illegal.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/profile_dump.h"
#include "cli/profile_events.h"
#include "cli/profile_pairs.h"
#include "cli/screen.h"
#include "host/child.h"
#include "lib/profiler_state.h"
#include "profile/call_places.h"
#include "profile/machine_choice.h"
#include "table/text.h"

enum {
    OPT_MACHINE,
    OPT_FOREIGN,
    OPT_EVENTS,
    OPT_ROTATE,
    OPT_HARDWARE,
    OPT_OUTPUT,
    OPT_LOG_SIZE,
    OPT_USER_WORDS,
    OPT_BUFFER,
    OPT_CLOCK,
    OPT_SET,
    OPT_LOCATIONS,
};

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "run on this machine (default: the program's, or this "
                     "host)"},
    [OPT_FOREIGN] = {0, "foreign", NULL,
                     "allow a program of another instruction set"},
    [OPT_EVENTS] = {'e', "events", "EVENTS",
                    "count these events in place of the program's own"},
    [OPT_ROTATE] = {0, "rotate", NULL,
                    "count two events an interval, the next two in the next; "
                    "without -e the machine's default events"},
    [OPT_HARDWARE] = {0, "hardware", NULL,
                      "count only pairs that the machine's counters count "
                      "together, in their width"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "dump to this file at the end (default: profile.csv)"},
    [OPT_LOG_SIZE] = {0, "log-size", "N",
                      "keep N records of each thread (default: 1024)"},
    [OPT_USER_WORDS] = {0, "user-words", "N",
                        "keep N of the program's words in each record (0 to "
                        "64)"},
    [OPT_BUFFER] = {0, "buffer", "FILE",
                    "keep the records in this file, for tally summarize "
                    "--recover"},
    [OPT_CLOCK] = {0, "clock", "WHICH",
                   "clock of an emulated machine: cycles (default) or "
                   "instructions"},
    [OPT_SET] = {0, "set", "KEY=VALUE",
                 "change a parameter of the emulated machine"},
    [OPT_LOCATIONS] = {0, "locations", NULL,
                       "run nothing: print the program's calls and their "
                       "ids"},
    {0},
};

#define SETS 64

struct profile_request {
    const struct machine_row *machine; /* NULL: the program's */
    const char *events, *output;
    const char *log_size, *user_words, *buffer, *clock;
    const char *sets[SETS];
    size_t set_count;
    bool foreign, rotate, hardware, locations;
    char **program;
};

static int
take_option(void *user, int option, const char *value)
{
    struct profile_request *const r = user;
    const char **const texts[] = {
        [OPT_EVENTS] = &r->events,     [OPT_OUTPUT] = &r->output,
        [OPT_LOG_SIZE] = &r->log_size, [OPT_USER_WORDS] = &r->user_words,
        [OPT_BUFFER] = &r->buffer,     [OPT_CLOCK] = &r->clock,
    };

    switch (option) {
    case OPT_MACHINE:
        return command_machine(value, &r->machine);
    case OPT_FOREIGN:
        r->foreign = true;
        return 0;
    case OPT_ROTATE:
        r->rotate = true;
        return 0;
    case OPT_HARDWARE:
        r->hardware = true;
        return 0;
    case OPT_LOCATIONS:
        r->locations = true;
        return 0;
    case OPT_SET:
        if (r->set_count == SETS) {
            fprintf(stderr, "tally profile: more than %d --set\n", SETS);
            return EXIT_USAGE;
        }
        r->sets[r->set_count++] = value;
        return 0;
    default:
        *texts[option] = value;
        return 0;
    }
}

static void
print_place(void *user, uint32_t id, const char *file, uint32_t line,
            const char *function)
{
    (void)user;
    escape_printf(stdout, "%" PRIx32 " %s:%" PRIu32 ":%s\n", id, file, line,
                  function);
}

static void
pass_place(void *user, uint32_t id, const char *file, uint32_t line,
           const char *function)
{
    (void)user, (void)id, (void)file, (void)line, (void)function;
}

/* Returns whether the instructions are the clock of the records. */
static bool
counts_instructions(const struct profile_request *r)
{
    return r->clock != NULL && strcmp(r->clock, "instructions") == 0;
}

/* Prints the places of a program's calls, in the form of
 * profiler_calls_location.txt. */
static int
print_places(const char *path)
{
    const int error = call_places_read(path, print_place, NULL);

    if (error == TALLY_EIO)
        escape_printf(stderr, "tally profile: cannot read %s: %s\n", path,
                      strerror(errno));
    else if (error == TALLY_ENOMEM)
        command_no_memory();
    else if (error != 0)
        escape_printf(
            stderr,
            "tally profile: %s has no calls of the profiler: they are in "
            "programs of 64 bits that were compiled with "
            "-DTALLY_PROFILE, those in C++ until it is stripped\n",
            path);
    if (error != 0)
        return EXIT_USAGE;
    return fflush(stdout) == 0 ? 0 : command_unwritten("output");
}

/* Sets the environment variable of a property, unless `value` is NULL. Checks
 * the value first, since a program without a log would say nothing of a wrong
 * one; `option` is what the user gave. */
static int
set_property(const char *option, const char *name, const char *value)
{
    struct profiler_properties checked;
    char variable[PROFILER_VARIABLE];

    if (value == NULL)
        return 0;
    if (profiler_property(&checked, name, option, value, &command_log) != 0)
        return EXIT_USAGE;
    profiler_variable(name, variable);
    return setenv(variable, value, 1) != 0 ? command_no_memory() : 0;
}

/* Sets the profiler's variables for the events. Without -e and --rotate the
 * program's own events are counted. */
static int
set_events(const struct profile_request *r, const struct machine_row *machine,
           struct profile_events *events)
{
    const struct profile_wish wish = {machine, r->events, r->rotate,
                                      r->hardware, counts_instructions(r)};
    char bits[16];

    if (r->events == NULL && !r->rotate)
        return 0;
    int status = profile_events(&wish, events);
    if (status == 0)
        status = set_property("-e", "profiler_events", events->pairs);
    if (status == 0)
        status =
            set_property("--rotate", "profiler_rotate", r->rotate ? "1" : "0");
    if (status != 0 || !r->hardware)
        return status;
    snprintf(bits, sizeof(bits), "%u", profile_counter_bits(machine));
    return set_property("--hardware", "profiler_counter_bits", bits);
}

/* Sets the profiler's variables for the options that the events and files leave
 * over. */
static int
set_options(const struct profile_request *r)
{
    int status =
        set_property("--log-size", "profiler_log_table_size", r->log_size);

    if (status == 0)
        status = set_property("--user-words", "profiler_user_data_size",
                              r->user_words);
    if (status == 0)
        status = set_property("--clock", "profiler_clock", r->clock);
    return status;
}

/* Sets the profiler's variable for the file of buffers, and makes the file or
 * checks that it can be written. Its content stays, since another program may
 * use the buffers. The name is absolute: a program may change its folder. */
static int
set_buffer(const char *path)
{
    int status = 0;

    if (path == NULL)
        return 0;
    char *const absolute = absolute_path(path);
    if (absolute == NULL)
        return EXIT_OURS;
    if (strstr(path, "%p") == NULL)
        status = make_file(path);
    if (status == 0)
        status = set_property("--buffer", "profiler_buffer_file", absolute);
    free(absolute);
    return status;
}

/* Runs the program on this host and returns the status that a shell would give.
 * The limit of descriptors is raised, since each thread has two descriptors for
 * each pair of events. */
static int
run_here(const struct program *program)
{
    const struct child_program run = {.argv = program->argv};
    struct child_signals signals;
    struct child child;
    struct rlimit limit;
    int status = EXIT_OURS;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    child_signals_hold(&signals);
    if (child_start(&child, &signals, &run, &command_log) == 0) {
        child_go(&child);
        while (!child_wait(&child, -1))
            ;
        status = child.exec_error != 0
                     ? exec_status("profile", child.exec_error, program->argv)
                     : command_status(child.status);
    }
    child_finish(&child);
    child_signals_free(&signals);
    return status;
}

/* Runs the program under tally count, whose report goes nowhere. All events of
 * the list are modelled from the start, since threads cannot ask for more. */
static int
run_emulated(const struct profile_request *r, const struct machine_row *machine,
             const char *list)
{
    size_t words = 0, count = 0;

    while (r->program[words] != NULL)
        words++;
    char **argv = calloc(words + 2 * r->set_count + 11, sizeof(*argv));
    char *events = NULL;
    if (argv == NULL ||
        (list != NULL &&
         asprintf(&events, "%s%s", list,
                  counts_instructions(r) ? "" : ",cycles") < 0)) {
        free(argv);
        return command_no_memory();
    }
    const char *const front[] = {"count", "-m", machine->name, "-o",
                                 "/dev/null"};
    for (size_t i = 0; i < sizeof(front) / sizeof(*front); i++)
        argv[count++] = (char *)front[i];
    if (r->foreign)
        argv[count++] = (char *)"--foreign";
    if (events != NULL) {
        argv[count++] = (char *)"-e";
        argv[count++] = events;
    }
    for (size_t i = 0; i < r->set_count; i++) {
        argv[count++] = (char *)"--set";
        argv[count++] = (char *)r->sets[i];
    }
    argv[count++] = (char *)"--";
    for (size_t i = 0; i < words; i++)
        argv[count++] = r->program[i];
    const int status = command_count.run((int)count, argv);
    free(argv);
    free(events);
    return status;
}

/* Refuses --hardware where nothing says what the counters count: on this host,
 * and for events that the program itself chooses. */
static int
check_hardware(const struct profile_request *r,
               const struct machine_row *machine)
{
    if (!r->hardware || (machine != NULL && (r->events != NULL || r->rotate)))
        return 0;
    fprintf(stderr,
            machine == NULL
                ? "tally profile: --hardware is for emulated machines: this "
                  "host counts with its own counters\n"
                : "tally profile: --hardware needs -e or --rotate\n");
    return EXIT_USAGE;
}

/* Finds the machine that runs the program, NULL: this host, and checks the
 * options that not every machine has. */
static int
choose_machine(const struct profile_request *r, const struct program *program,
               const struct machine_row **to)
{
    const bool here = r->machine != NULL ? strcmp(r->machine->name, "host") == 0
                                         : measured_is_native(r->program);
    const struct machine_row *machine = NULL;
    uint64_t params[PARAM_COUNT];
    bool foreign;

    if (!here && machine_choose(r->machine, program, r->foreign, &command_log,
                                &machine, &foreign) != 0)
        return EXIT_USAGE;
    /* tally count, which runs a static program, warns of it. */
    if (!here && illegal_check_level(program, false) != 0)
        return EXIT_USAGE;
    if (here && r->set_count > 0) {
        fprintf(stderr, "tally profile: --set is for emulated machines\n");
        return EXIT_USAGE;
    }
    if (machine != NULL && machine_params(machine, r->sets, r->set_count,
                                          &command_log, params, NULL) != 0)
        return EXIT_USAGE;
    *to = machine;
    return check_hardware(r, machine);
}

/* Returns the path of the dump. */
static const char *
output_of(const struct profile_request *r)
{
    return r->output != NULL ? r->output : "profile.csv";
}

/* Runs the program and keeps its dump. `list` is of all events, or NULL. */
static int
run(const struct profile_request *r, const struct program *program,
    const struct machine_row *machine, const char *list)
{
    struct profile_dump dump;
    int status = profile_dump_open(output_of(r), &dump);

    if (status != 0)
        return status;
    status = set_property("-o", "profiler_dump_file", dump.written);
    if (status == 0)
        status = set_buffer(r->buffer);
    if (status == 0) {
        status = machine == NULL ? run_here(program)
                                 : run_emulated(r, machine, list);
        status = profile_dump_keep(&dump, machine, status);
    }
    profile_dump_finish(&dump);
    return status;
}

static int
profile(const struct profile_request *r)
{
    struct program program = {.missing = false};
    const struct machine_row *machine = NULL;
    struct profile_events events = {NULL, NULL};

    if (program_open(r->program, &command_log, &program) != 0)
        return program.missing ? EXIT_MISSING : EXIT_CANNOT;
    int status =
        output_spares_program("profile", "-o", output_of(r), program.path);
    if (status == 0)
        status = choose_machine(r, &program, &machine);
    if (status == 0)
        status = set_events(r, machine, &events);
    if (status == 0)
        status = set_options(r);
    if (status == 0 && call_places_read(program.path, pass_place, NULL) != 0)
        escape_printf(stderr,
                      "tally: warning: %s has no calls of the profiler; was it "
                      "compiled with -DTALLY_PROFILE?\n",
                      program.path);
    if (status == 0)
        status = run(r, &program, machine, events.list);
    profile_events_finish(&events);
    program_close(&program);
    return status;
}

static int
run_profile(int argc, char **argv)
{
    struct profile_request r = {.machine = NULL};
    int operand;
    int status = command_read_options(&command_profile, argc, argv, take_option,
                                      &r, &operand);

    if (status == COMMAND_HELP) {
        command_help(&command_profile, stdout);
        return 0;
    }
    if (status != 0)
        return status;
    if (operand >= argc) {
        fprintf(stderr, "tally profile: no program; see tally profile "
                        "--help\n");
        return EXIT_USAGE;
    }
    r.program = argv + operand;
    return r.locations ? print_places(r.program[0]) : profile(&r);
}

const struct command command_profile = {
    .name = "profile",
    .summary = "run a program that marks points, with events set from outside",
    .synopsis = "[-m MACHINE] [-e EVENTS] [OPTIONS] [--] PROGRAM [ARGUMENTS]",
    .example =
        "  # Take the default events by turns, and sum up the dump.\n"
        "  tally profile --rotate -- ./pktproc.sparc64 && tally summarize "
        "profile.csv\n"
        "  # Choose the events that all calls of the profiler count.\n"
        "  tally profile -e All_instr,Dcache_misses -- ./pktproc.sparc64",
    .options = options,
    .run = run_profile,
};
