/* SPDX-License-Identifier: MIT */
/* tally record: runs a program and writes which instructions its events come
 * from. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/counted.h"
#include "cli/illegal.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/record.h"
#include "cli/stuck.h"
#include "profile/capture.h"
#include "profile/filter.h"
#include "record/memory.h"
#include "record/record_writer.h"
#include "record/run_note.h"
#include "source/plugin_path.h"
#include "table/generic.h"
#include "table/level.h"
#include "table/signals.h"
#include "table/software.h"
#include "version.h"

enum {
    OPT_MACHINE,
    OPT_EVENTS,
    OPT_OUTPUT,
    OPT_NO_CALLERS,
    OPT_NO_NAMES,
    OPT_OBJECTS,
    OPT_ALLOCATOR,
    OPT_WHY,
    OPT_LEVEL,
    OPT_MOVE,
    OPT_LOCKS,
    OPT_BRANCHES,
    OPT_EAR,
    OPT_ETB,
    OPT_QUIET,
    OPT_FROM,
    OPT_TO,
    OPT_SKIP,
    OPT_FILTER,
    OPT_MODEL,
    OPT_MODEL_LAST = OPT_MODEL + MODEL_OPTION_COUNT - 1,
};

static const struct option_row options[] = {
    [OPT_MACHINE] = {'m', "machine", "MACHINE",
                     "the machine to be; default: by the program's "
                     "architecture"},
    [OPT_EVENTS] = {'e', "event", "EVENTS",
                    "events to record, by name or code; 'all' records every "
                    "one"},
    [OPT_OUTPUT] = {'o', "output", "FILE",
                    "write the record there (default: tally.data)"},
    [OPT_NO_CALLERS] = {0, "no-callers", NULL,
                        "record the instructions alone, not the calls that "
                        "led to them"},
    [OPT_NO_NAMES] = {0, "no-names", NULL,
                      "keep no functions and lines in the record: a report "
                      "then needs the files that ran"},
    [OPT_OBJECTS] = {0, "objects", "[=all]",
                     "record which variable, heap block or stack frame each "
                     "miss is of; all: also all accesses, and how much of each "
                     "line is used"},
    [OPT_ALLOCATOR] = {0, "allocator", "FUNCTION:SIZE_ARG",
                       "with --objects: this function of the program gives "
                       "memory; its argument SIZE_ARG, from 1 on, is the size"},
    [OPT_WHY] = {0, "why", NULL,
                 "record why each miss of the L1 data cache comes, or of "
                 "--level, for tally memory; with --objects=all"},
    [OPT_LEVEL] = {0, "level", "LEVEL",
                   "with --why: of this level of caches, l1d (the default), "
                   "l2, l3 and so on"},
    [OPT_MOVE] = {0, "move", "EVERY:GAP:OBJECTS",
                  "with --why: put GAP bytes more after each EVERY bytes of "
                  "these objects' data, or with LINE:PARTS:OBJECTS bytes of "
                  "lines in lines of their own, for the caches alone; tally "
                  "memory --what-if does so"},
    [OPT_LOCKS] = {0, "locks", NULL,
                   "record what threads wait for, for tally locks; with "
                   "--objects, and --quantum=500 unless given"},
    [OPT_BRANCHES] = {0, "branches", NULL,
                      "record how often control went from which instruction "
                      "to which"},
    [OPT_EAR] = {0, "ear", "WHAT",
                 "record every miss that an event address register captures: "
                 "load-latency=CYCLES, dtlb, fetch-latency=CYCLES or itlb "
                 "[montecito]"},
    [OPT_ETB] = {0, "etb", "N",
                 "record every entry that a branch makes in the trace buffer; "
                 "N, 1 to 16, as for tally count [montecito]"},
    [OPT_QUIET] = {'q', "quiet", NULL, "no progress line and no last line"},
    [OPT_FROM] = {0, "from", "FUNCTION",
                  "record only from where this function is entered"},
    [OPT_TO] = {0, "to", "FUNCTION", "and stop where this one is entered"},
    [OPT_SKIP] = {0, "skip", "N",
                  "begin to record after the first N instructions"},
    [OPT_FILTER] = {0, "filter", "code=WHERE",
                    "record only a FUNCTION, or FIRST-LAST addresses"},
    MODEL_OPTION_ROWS(OPT_MODEL),
    {0},
};

/* Those of perf record. */
#define NOT_SAMPLED "nothing is sampled: every event is recorded"
#define NOT_RUNNING "only programs that tally starts can be recorded"

static const struct other_option others[] = {
    {.name = "hardware",
     .advice = "the host's counters are not recorded by instruction; perf "
               "record does that"},
    {.letter = 'g', .name = ""}, /* callers are recorded anyway */
    {.name = "call-graph", .advice = "callers are recorded without it"},
    {.letter = 'F', .name = "freq", .advice = NOT_SAMPLED},
    {.letter = 'c', .name = "count", .advice = NOT_SAMPLED},
    {.letter = 'a', .name = "all-cpus", .advice = NOT_RUNNING},
    {.letter = 'p', .name = "pid", .advice = NOT_RUNNING},
    {.letter = 't', .name = "tid", .advice = NOT_RUNNING},
    {.letter = 'b',
     .name = "branch-any",
     .advice = "--branches records every branch"},
    {0},
};

#define ALLOCATORS_MOST 16u

/* Instructions of a turn with --locks: a thread that is not interrupted while
 * it holds a lock lets nobody wait. */
#define LOCKS_QUANTUM 500u

struct record_request {
    const char *name;                  /* of the command that the user typed */
    const struct machine_row *machine; /* NULL: the program's */
    const char *machine_name;
    const char *output, *from, *to;
    char *events; /* owned; all -e joined */
    const char *filters[CODE_RANGES];
    size_t filter_count;
    uint64_t skip;
    struct model_options model;
    /* --allocator, their names without the arguments; owned */
    struct launch_allocator allocators[ALLOCATORS_MOST];
    size_t allocator_count;
    struct capture_request capture;
    struct moves *moves; /* owned; NULL: none */
    const char *level;   /* of caches, or NULL: the L1D */
    bool quiet, no_callers, no_names, objects, all_accesses, why, branches;
    bool locks;
};

/* Returns the path of the record. */
static const char *
output_of(const struct record_request *r)
{
    return r->output != NULL ? r->output : "tally.data";
}

/* Takes FUNCTION:SIZE_ARG. */
static int
take_allocator(struct record_request *r, const char *value)
{
    const char *const colon = strrchr(value, ':');
    const size_t length = colon != NULL ? (size_t)(colon - value) : 0;
    char *end = NULL;
    const unsigned long argument =
        colon != NULL ? strtoul(colon + 1, &end, 10) : 0;

    if (length == 0 || length >= LAUNCH_NAME || colon[1] < '1' ||
        colon[1] > '9' || *end != '\0' || argument > LAUNCH_ARGUMENTS) {
        escape_printf(stderr,
                      "tally %s: --allocator '%s': a function of fewer "
                      "than %u letters and the number of its argument that is "
                      "the size, 1 to %u, are expected, such as "
                      "pool_alloc:2\n",
                      r->name, value, LAUNCH_NAME, LAUNCH_ARGUMENTS);
        return EXIT_USAGE;
    }
    if (r->allocator_count == ALLOCATORS_MOST) {
        fprintf(stderr, "tally %s: more than %u --allocator\n", r->name,
                ALLOCATORS_MOST);
        return EXIT_USAGE;
    }
    struct launch_allocator *a = &r->allocators[r->allocator_count++];
    memcpy(a->name, value, length);
    a->name[length] = '\0';
    a->argument = (unsigned)argument;
    return 0;
}

static int
parse_skip(struct record_request *r, const char *value)
{
    if (command_number(value, 1, UINT64_MAX, &r->skip))
        return 0;
    escape_printf(stderr,
                  "tally %s: --skip '%s': a number of instructions is "
                  "expected, such as 1000000\n",
                  r->name, value);
    return EXIT_USAGE;
}

/* Returns whether all objects have numbers that there may be. */
static bool
are_numbers(const struct moves *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->objects[i] > RECORD_OBJECTS)
            return false;
    }
    return true;
}

/* Takes what moves_read() reads. */
static int
take_move(struct record_request *r, const char *value)
{
    if (r->moves == NULL)
        r->moves = malloc(sizeof(*r->moves));
    if (r->moves == NULL) {
        fprintf(stderr, "tally %s: no memory\n", r->name);
        return EXIT_OURS;
    }
    if (moves_read(r->moves, value) && are_numbers(r->moves))
        return 0;
    escape_printf(stderr,
                  "tally %s: --move '%s': EVERY:GAP:OBJECTS is expected, "
                  "such as 4096:64:17: 64 bytes more after each 4,096 of "
                  "object 17; a GAP of at most %u times EVERY, and 1 to %u "
                  "numbers with commas between; or LINE:PARTS:OBJECTS, such "
                  "as 64:0x4c7200-0x4c723f=8-15/16-23:17: bytes 8 to 15 of "
                  "the line of 64 bytes in a line of their own, and bytes 16 "
                  "to 23 in another\n",
                  r->name, value, MOVES_GROWTH - 1, MOVES_OBJECTS);
    return EXIT_USAGE;
}

static int
take_option(void *user, int option, const char *value)
{
    struct record_request *const r = user;
    const char *wrong;

    switch (option) {
    case OPT_MACHINE:
        r->machine_name = value;
        return 0;
    case OPT_EVENTS:
        return command_join(&r->events, value) == 0 ? 0 : EXIT_OURS;
    case OPT_OUTPUT:
        r->output = value;
        if (strcmp(value, "-") != 0)
            return 0;
        fprintf(stderr,
                "tally %s: standard output is the program's: -o "
                "takes a file, or /dev/fd/N of another descriptor\n",
                r->name);
        return EXIT_USAGE;
    case OPT_NO_CALLERS:
        r->no_callers = true;
        return 0;
    case OPT_NO_NAMES:
        r->no_names = true;
        return 0;
    case OPT_OBJECTS:
        r->objects = true;
        if (value == NULL || strcmp(value, "all") == 0) {
            r->all_accesses |= value != NULL;
            return 0;
        }
        escape_printf(stderr,
                      "tally %s: --objects=%s: --objects or --objects=all "
                      "is expected\n",
                      r->name, value);
        return EXIT_USAGE;
    case OPT_ALLOCATOR:
        return take_allocator(r, value);
    case OPT_WHY:
        r->objects = r->all_accesses = r->why = true;
        return 0;
    case OPT_LEVEL:
        r->level = value;
        return 0;
    case OPT_MOVE:
        return take_move(r, value);
    case OPT_LOCKS:
        r->objects = r->locks = true;
        return 0;
    case OPT_BRANCHES:
        r->branches = true;
        return 0;
    case OPT_EAR:
        return capture_parse_ear(value, &command_log, &r->capture) == 0
                   ? 0
                   : EXIT_USAGE;
    case OPT_ETB:
        return capture_parse_trace(value, &command_log, &r->capture) == 0
                   ? 0
                   : EXIT_USAGE;
    case OPT_QUIET:
        r->quiet = true;
        return 0;
    case OPT_FROM:
        r->from = value;
        return 0;
    case OPT_TO:
        r->to = value;
        return 0;
    case OPT_SKIP:
        return parse_skip(r, value);
    case OPT_FILTER:
        if (strncmp(value, "code=", 5) != 0) {
            escape_printf(stderr,
                          "tally %s: --filter '%s': only code=FUNCTION or "
                          "code=FIRST-LAST can be recorded\n",
                          r->name, value);
            return EXIT_USAGE;
        }
        if (r->filter_count == CODE_RANGES) {
            fprintf(stderr, "tally %s: more than %d --filter\n", r->name,
                    CODE_RANGES);
            return EXIT_USAGE;
        }
        r->filters[r->filter_count++] = value;
        return 0;
    default:
        wrong = model_options_take(&r->model, option - OPT_MODEL, &value);
        if (wrong == NULL)
            return 0;
        escape_printf(stderr, "tally %s: %s'%s'\n", r->name, wrong, value);
        return EXIT_USAGE;
    }
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct record_request *r, int argc, char **argv, int *operand)
{
    const int status = command_read_options(&command_record, argc, argv,
                                            take_option, r, operand);

    if (status != 0)
        return status;
    if (r->objects && r->no_callers) {
        fprintf(stderr,
                "tally %s: --%s tells heap blocks by the calls that led to "
                "them, and needs these: leave --no-callers away\n",
                r->name,
                r->why     ? "why"
                : r->locks ? "locks"
                           : "objects");
        return EXIT_USAGE;
    }
    if (r->locks && r->model.launch.parallel) {
        fprintf(stderr,
                "tally %s: --locks tells what threads wait for by their "
                "turns, which --parallel does not give: leave --parallel "
                "away\n",
                r->name);
        return EXIT_USAGE;
    }
    if (r->allocator_count != 0 && !r->objects) {
        fprintf(stderr,
                "tally %s: --allocator names a function that gives "
                "objects their memory, and needs --objects\n",
                r->name);
        return EXIT_USAGE;
    }
    if (r->level != NULL && !r->why) {
        fprintf(stderr,
                "tally %s: --level is the level of caches whose misses --why "
                "tells, and needs --why\n",
                r->name);
        return EXIT_USAGE;
    }
    if (r->moves != NULL && !r->why) {
        fprintf(stderr,
                "tally %s: --move moves data for the caches whose "
                "misses --why tells, and needs --why\n",
                r->name);
        return EXIT_USAGE;
    }
    if (argv[*operand] == NULL) {
        fprintf(stderr,
                "tally %s: a program is expected, as in tally "
                "record -- ./program\n",
                r->name);
        return EXIT_USAGE;
    }
    const int lost = command_subcommand(&command_record, argv[*operand]);
    return lost == COMMAND_BAD
               ? EXIT_USAGE
               : output_spares_program(r->name, "-o", output_of(r),
                                       argv[*operand]);
}

static void
show_progress(void *user, uint64_t instructions, double wall_s)
{
    (void)user;
    if (wall_s >= 1)
        fprintf(stderr, "\r tally: %.1f G instructions, %.0f s\033[K",
                (double)instructions * 1e-9, wall_s);
}

/* Refuses an event that has no place in the program. */
static int
check_event(const struct machine_row *machine, const struct event_row *event,
            const char *asked)
{
    if (event_is_software(event))
        return tally_fail(&command_log, TALLY_ERANGE,
                          "'%s' is counted by the kernel, of QEMU as a whole; "
                          "perf record tells such events by instruction",
                          asked);
    if (event_is_lacking(event))
        return tally_fail(&command_log, TALLY_ERANGE, "%s: %s", asked,
                          generic_lacking_reason(machine, event));
    return 0;
}

/* A program that is being recorded. */
struct recording {
    struct record_request *request;
    struct measured measured;
    struct counted counted;
    struct session_options session;
    struct record_event *events;
    struct event_row *idle; /* rows without signals, of events that are idle as
                               the machine is set */
    struct record_head head;
    struct record_writer writer;
    struct session_result result;
    enum cache_id level; /* of --why */
    bool has_classes;    /* the machine's own events tell its misses */
    char allocations[COUNTS_NAME]; /* path of what is preloaded, or "" */
    struct stuck stuck;
};

static int
describe_events(struct recording *r)
{
    const struct machine_row *machine = r->measured.machine;

    r->events = calloc(r->counted.count + 1, sizeof(*r->events));
    r->idle = calloc(r->counted.count + 1, sizeof(*r->idle));
    if (r->events == NULL || r->idle == NULL)
        return tally_fail(&command_log, TALLY_ENOMEM, "no memory for events");
    for (size_t i = 0; i < r->counted.count; i++) {
        const struct event_row *e = r->counted.events[i];
        const char *asked =
            i < r->counted.asked_count ? r->counted.asked[i] : e->name;
        const int sum = generic_sum(machine, e);
        const char *lacks = event_lacks(e, r->measured.params);
        if (lacks == NULL)
            lacks = capture_lacks(e, &r->request->capture);
        const int error = check_event(machine, e, asked);
        if (error != 0)
            return error;
        r->events[i] = (struct record_event){
            .name = sum >= 0 ? machine->generics[sum].own : e->name,
            .asked = asked,
            .unit = "",
            .brief = e->brief != NULL ? e->brief : "",
            .standing = fidelity_name(
                lacks != NULL
                    ? FIDELITY_IDLE
                    : fidelity_in_run(e->fidelity, r->measured.foreign, false,
                                      false, false)),
        };
        if (lacks != NULL) {
            r->idle[i] = *e;
            r->idle[i].signal_count = 0;
            r->counted.events[i] = &r->idle[i];
        }
    }
    return 0;
}

/* Says which numbers of --move no object has. */
static void
say_unmoved(const struct recording *r)
{
    const struct record_request *const q = r->request;
    const size_t objects = r->writer.first_object_count;
    unsigned unknown = 0;
    char numbers[MOVES_OBJECTS * 9];
    size_t used = 0;

    for (uint32_t i = 0; q->moves != NULL && i < q->moves->count; i++) {
        if (q->moves->objects[i] <= objects)
            continue;
        used += (size_t)snprintf(numbers + used, sizeof(numbers) - used,
                                 "%s%" PRIu32, unknown++ > 0 ? ", " : "",
                                 q->moves->objects[i]);
    }
    if (unknown != 0)
        fprintf(stderr,
                "tally %s: --move: no object of the program has the number%s "
                "%s: %s; 'numbers' in tally memory --json has an object's\n",
                q->name, unknown == 1 ? "" : "s", numbers,
                unknown == q->moves->count ? "nothing was moved"
                                           : "only the others were moved");
}

/* Says what was written, and how to read the record. */
static void
say_end(const struct recording *r, const char *path)
{
    struct stat st;

    if (r->session.progress != NULL)
        fprintf(stderr, "\r\033[K");
    if (r->request->quiet)
        return;
    escape_printf(stderr, "tally: recorded %zu event%s of %zu process%s in %s",
                  r->counted.count, r->counted.count == 1 ? "" : "s",
                  r->result.pid_count, r->result.pid_count == 1 ? "" : "es",
                  path);
    /* What has gone into a pipe is elsewhere by now. */
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        escape_printf(stderr, "; tally report%s%s shows them",
                      strcmp(path, "tally.data") != 0 ? " " : "",
                      strcmp(path, "tally.data") != 0 ? path : "");
    fputc('\n', stderr);
    run_note_varies(session_varies(&r->result),
                    "tally: ", "another run may count differently", stderr);
    if (session_partial(&r->result))
        fputs(trace_part_lacks(r->result.trace)
                  ? "tally: what the trace lacks is not in the record\n"
                  : "tally: counts of some threads or programs are missing; "
                    "tally count says which\n",
              stderr);
}

/* Refuses a path that is the program's standard output, or standard error: what
 * the program writes would come between the chunks. Returns 0 or EXIT_USAGE. */
static int
check_output(const struct record_request *r, const char *path)
{
    static const char *const names[] = {[STDOUT_FILENO] = "standard output",
                                        [STDERR_FILENO] = "standard error"};
    struct stat out, null, own;

    if (stat(path, &out) != 0 ||
        (stat("/dev/null", &null) == 0 && out.st_rdev == null.st_rdev &&
         S_ISCHR(out.st_mode)))
        return 0;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fstat(fd, &own) != 0 || own.st_dev != out.st_dev ||
            own.st_ino != out.st_ino)
            continue;
        escape_printf(stderr,
                      "tally %s: %s is the program's %s, which would mix "
                      "with the record: -o takes a file, or /dev/fd/N of "
                      "another descriptor\n",
                      r->name, path, names[fd]);
        return EXIT_USAGE;
    }
    return 0;
}

/* Runs the program; returns an exit status. */
static int
run_recorded(struct recording *r)
{
    const char *const path = output_of(r->request);

    if (check_output(r->request, path) != 0)
        return EXIT_USAGE;
    int error = record_writer_begin(&r->writer, path, &r->head, &r->session,
                                    &command_log);

    if (error != 0)
        return error == TALLY_EIO ? output_status(errno) : EXIT_OURS;
    r->session.recorder = &recorded_recorder;
    r->session.record = &r->writer.sink;
    error = session_run(&r->session, &r->measured.program, &command_log,
                        &r->result);
    if (error != 0 || !r->result.started) {
        record_writer_abandon(&r->writer);
        return error != 0 ? measured_failed(error)
                          : measured_unstarted(&r->measured, &r->result);
    }
    if (record_writer_end(&r->writer, &r->result) != 0)
        return EXIT_OURS;
    say_end(r, path);
    say_unmoved(r);
    return measured_status(&r->result);
}

/* The most caches of one level that --why can tell apart: each has a bit of a
 * word. */
#define LEVEL_CACHES 64u

/* Returns whether the machine has events of its own that say why data miss the
 * L1D. */
static bool
has_classes(const struct measured *m)
{
    const struct event_row *const event =
        event_find(m->machine, "conflict-load-misses");

    return event != NULL && event_lacks(event, m->params) == NULL;
}

/* Finds the level of --why. 0 or a status. */
static int
find_level(struct recording *r)
{
    const struct record_request *const q = r->request;
    const struct measured *const m = &r->measured;

    r->level = q->level != NULL ? level_find(q->level) : CACHE_L1D;
    if (r->level == CACHE_COUNT)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--level '%s': l1d, l2, l3 or a level behind the L3 "
                          "is expected",
                          q->level);
    const char *const lacks = level_lacks(r->level, m->params);
    if (lacks != NULL)
        return tally_fail(&command_log, TALLY_ERANGE, "--level %s: %s",
                          tally_caches[r->level].name, lacks);
    r->has_classes = r->level == CACHE_L1D && has_classes(m);
    if (m->params[PARAM_CORES] * m->params[PARAM_NODES] > LEVEL_CACHES)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--why tells the caches of at most %u cores apart: "
                          "the machine has %" PRIu64 "; see --set cores",
                          LEVEL_CACHES,
                          m->params[PARAM_CORES] * m->params[PARAM_NODES]);
    if (q->moves != NULL && !r->has_classes)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--move moves data for the L1 data cache of "
                          "host-model alone");
    return 0;
}

/* Adds the events of the level of --why, where the machine has none. Returns 0
 * or a status. */
static int
add_level(struct recording *r)
{
    int error = 0;

    for (unsigned i = 0; i < LEVEL_EVENTS && error == 0; i++)
        error = counted_add(&r->counted, level_event(r->level, i));
    return error;
}

/* Refuses --locks on a machine without modelled cycles. 0 or a status. */
static int
check_locks(const struct measured *m)
{
    const struct event_row *const event = event_find(m->machine, "cycles");

    if (event != NULL && event->signal_count == 1 &&
        event->signals[0] == SIGNAL_CYCLES &&
        event_lacks(event, m->params) == NULL)
        return 0;
    return tally_fail(&command_log, TALLY_ERANGE,
                      "--locks: %s has no event 'cycles' to tell time by; -m "
                      "host-model has it",
                      m->machine->name);
}

/* Refuses a trace that lacks what is asked of the program's data. 0 or a
 * status. */
static int
check_trace(const struct recording *r)
{
    const struct record_request *const q = r->request;
    const char *const trace = q->model.launch.trace;

    if (trace == NULL || !q->objects)
        return 0;
    if (q->locks)
        return tally_fail(&command_log, TALLY_EPROGRAM,
                          "%s is a trace, which does not say what threads "
                          "wait for is found in the program's own run",
                          trace);
    if (q->allocator_count != 0)
        return tally_fail(&command_log, TALLY_EPROGRAM,
                          "%s is a trace, which has no registers: leave "
                          "--allocator away",
                          trace);
    return measured_check_objects(&r->measured, trace);
}

/* Writes to `text` the events to record: those that were asked for. If none
 * were, the events of all that --ear and --etb capture. Returns `text`, or
 * NULL: the machine's default events. */
static const char *
recorded_events(const struct record_request *q, char *text, size_t size)
{
    const struct capture_request *const c = &q->capture;
    const bool timed = c->ear == CAPTURE_LOAD || c->ear == CAPTURE_FETCH;

    if (q->events != NULL || !capture_wanted(c))
        return q->events;
    snprintf(text, size, "%s%s%s", capture_event(c),
             timed ? ",ear_latency" : "",
             c->ear != CAPTURE_NONE && c->traced != 0 ? ",ETB_EVENT" : "");
    return text;
}

/* Chooses machine and events, and runs the program. */
static int
record_program(struct recording *r)
{
    struct record_request *q = r->request;
    struct measured *m = &r->measured;
    const struct machine_row *const asked =
        q->machine_name != NULL ? machine_find(q->machine_name) : NULL;
    char captured[64];
    int error = 0;

    if (asked != NULL && asked->native)
        error = tally_fail(&command_log, TALLY_ERANGE,
                           "the host's counters are not recorded by "
                           "instruction; perf record does that, or leave -m "
                           "host away");
    if (error == 0)
        error = measured_choose(m, q->machine_name, &q->model, !q->quiet);
    if (error == 0)
        error = capture_check_machine(&q->capture, m->machine, &command_log);
    if (error == 0)
        error = check_trace(r);
    if (q->locks && q->model.launch.quantum == 0)
        q->model.launch.quantum = LOCKS_QUANTUM;
    if (error == 0 && q->objects)
        error = measured_check_accesses(m, "--objects, --why and --locks");
    if (error == 0 && q->why)
        error = find_level(r);
    if (error == 0 && r->has_classes)
        error = command_join(&q->events, MEMORY_EVENTS);
    if (error == 0 && q->locks)
        error = check_locks(m);
    if (error == 0 && q->locks)
        error = command_join(&q->events, "cycles");
    const char *const events =
        error == 0 ? recorded_events(q, captured, sizeof(captured)) : NULL;
    const bool adds = q->why && !r->has_classes;
    if (error == 0 && (events != NULL || !adds))
        error = counted_choose(m->machine, events, NULL, NULL, &r->counted);
    if (error == 0 && adds)
        error = add_level(r);
    if (error == 0)
        error = describe_events(r);
    if (error != 0)
        return EXIT_USAGE;
    const struct isa *const isa = m->program.isa;
    const char *heap_reason = NULL;
    q->model.launch.allocators = q->allocators;
    q->model.launch.allocator_count = q->allocator_count;
    const int status =
        q->objects ? measured_find_heap(m, &q->model.launch, r->allocations,
                                        sizeof(r->allocations), &heap_reason)
                   : 0;
    if (status != 0)
        return status;
    r->session = (struct session_options){
        .machine = m->machine,
        .params = m->params,
        .events = (const struct event_row *const *)r->counted.events,
        .event_count = r->counted.count,
        .from = q->from,
        .to = q->to,
        .skip = q->skip,
        .filters = q->filters,
        .filter_count = q->filter_count,
        .launch = q->model.launch,
        .capture = capture_wanted(&q->capture) ? &q->capture : NULL,
        .progress = isatty(STDERR_FILENO) && !q->quiet ? show_progress : NULL,
        .stuck = stuck_say,
        .stuck_user = &r->stuck,
    };
    r->stuck = (struct stuck){.shows_progress = r->session.progress != NULL,
                              .tells_locks = q->locks};
    r->head = (struct record_head){
        .version = TALLY_VERSION,
        .machine = m->machine->name,
        .isa = isa->name,
        .cpu = q->model.launch.cpu != NULL ? q->model.launch.cpu : isa->cpu,
        .argv = m->program.argv,
        .events = r->events,
        .event_count = r->counted.count,
        .no_callers = q->no_callers,
        .no_names = q->no_names,
        .branches = q->branches,
        .all_accesses = q->all_accesses,
        .reasons = q->why,
        .moves = q->moves,
        .locks = q->locks,
        .level = q->why ? r->level : CACHE_L1D,
        .level_size = m->params[tally_caches[r->level].size],
        .level_line = m->params[tally_caches[r->level].line],
        .level_ways = m->params[tally_caches[r->level].ways],
        .heap_is_whole =
            q->objects && m->program.loader[0] == '\0' && heap_reason != NULL,
        .heap_reason = heap_reason,
    };
    return run_recorded(r);
}

int
record_for(const struct command *asked, int argc, char **argv)
{
    struct record_request request = {.name = asked->name};
    struct recording r = {.request = &request};
    int operand = 0;
    int status = read_options(&request, argc, argv, &operand);

    if (status == COMMAND_HELP) {
        command_help(&command_record, stdout);
        status = 0;
    } else if (status == 0) {
        status = measured_open_any(&r.measured, argv + operand,
                                   &request.model.launch);
        if (status == 0)
            status = measured_refuse_imported(&r.measured, request.name);
        if (status == 0) {
            status = record_program(&r);
            program_close(&r.measured.program);
        }
    }
    session_result_finish(&r.result);
    counted_finish(&r.counted);
    free(r.events);
    free(r.idle);
    free(request.events);
    free(request.moves);
    return status;
}

static int
run_record(int argc, char **argv)
{
    return record_for(&command_record, argc, argv);
}

const struct command command_record = {
    .name = "record",
    .summary = "run a program and record which instructions events come from",
    .synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS]",
    .example =
        "  # Record the default events, and show them by function.\n"
        "  tally record ./program && tally report\n"
        "  # Record misses on a machine of the manuals.\n"
        "  tally record -m ultrasparc-t2 -e Dcache_misses -o misses.data -- "
        "./bzip2.sparc64 -9k file",
    .options = options,
    .others = others,
    .run = run_record,
};
