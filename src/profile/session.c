/* SPDX-License-Identifier: MIT */
#include "profile/session.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sys/stat.h>
#include <time.h>

#include "machine/chip.h"
#include "profile/collect.h"
#include "profile/filter.h"
#include "profile/interval.h"
#include "table/signals.h"

#define PROGRESS_S 0.5

/* The components where threads take lines from each other. */
#define MEETING                                                    \
    ((uint64_t)COMPONENT_SNOOP | COMPONENT_NODES | COMPONENT_BUS | \
     COMPONENT_SHARING)

static double
now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

uint64_t
event_value(const struct event_row *event, const struct totals *totals)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < event->signal_count; i++)
        sum += totals->signal[event->signals[i]];
    return sum;
}

/* Reads the filters into the request. */
static int
set_filters(const struct session_options *o, const struct program *program,
            const struct tally_log *log, struct session_request *r)
{
    int error = 0;

    if (o->filter_count > CODE_RANGES)
        return tally_fail(log, TALLY_ERANGE, "more than %d filters",
                          CODE_RANGES);
    for (size_t i = 0; i < o->filter_count && error == 0; i++) {
        enum filter_kind kind = FILTER_CODE;
        struct code_range range = {0, 0};
        error = filter_parse(o->filters[i], program->path, log, &kind, &range);
        if (kind == FILTER_CODE)
            r->ranges[r->range_count++] = range;
        else
            r->data_ranges[r->data_count++] = range;
    }
    if (error == 0 && r->data_count > 0)
        error = filter_check_data(o->events, o->event_count, log);
    return error;
}

/* Returns the components of the events, but for those of events that an
 * imported trace does not feed. */
static uint64_t
parts_of_events(const struct session_options *o)
{
    uint64_t components = 0;

    for (size_t i = 0; i < o->event_count; i++)
        if (o->feeds == 0 || event_starves(o->events[i], o->feeds) == NULL)
            components |= components_of(&o->events[i], 1, o->params);
    return components;
}

/*
 * Returns the components that the run needs: those of the events; with
 * intervals, captures or turns of cycles, those of the time too; with captures,
 * the first TLB, whose misses may be captured; with turns of cycles, all where
 * threads meet, so that the turns do not depend on the events.
 */
static uint64_t
parts_of(const struct session_options *o)
{
    static const uint16_t time[] = {SIGNAL_CYCLES};
    static const struct event_row clock = {.signals = time, .signal_count = 1};
    const struct event_row *const clocks[] = {&clock};
    const uint64_t components =
        parts_of_events(o) |
        (o->capture != NULL ? (uint64_t)COMPONENT_DTLB_FIRST : 0) |
        (o->launch.by_cycles ? components_implied(MEETING, o->params) : 0);

    return o->interval_ms == 0 && o->capture == NULL && !o->launch.by_cycles
               ? components
               : components | components_of(clocks, 1, o->params);
}

/* Refuses turns of cycles where the cycles of a thread cannot be told. */
static int
check_cycles(const struct session_options *o, const struct tally_log *log)
{
    if (!o->launch.by_cycles)
        return 0;
    if (event_of_cycles(o->machine) == NULL)
        return tally_fail(log, TALLY_ERANGE,
                          "--schedule cycles: %s has no event of its cycles",
                          o->machine->name);
    if (o->filter_count > 0)
        return tally_fail(log, TALLY_ERANGE,
                          "--schedule cycles needs the cycles of the whole "
                          "program; it does not go with --filter");
    return 0;
}

/* Fills in what the plugin is to do. */
static int
make_request(const struct session_options *o, const struct program *program,
             const struct tally_log *log, struct session_request *r)
{
    int error = check_cycles(o, log);

    memset(r, 0, sizeof(*r));
    r->machine = (uint32_t)(o->machine - tally_machines);
    r->isa = (uint32_t)(program->isa - isa_rows);
    r->components = parts_of(o);
    if (program->isa->repeats)
        r->components |= COMPONENT_REPEAT;
    /* The program is started with tally's standard files. */
    for (int fd = 0; fd < (int)SESSION_STANDARD; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0) {
            r->standard[fd].device = st.st_dev;
            r->standard[fd].inode = st.st_ino;
        }
    }
    memcpy(r->params, o->params, sizeof(r->params));
    r->slices = session_slices(o);
    r->slice_length = HARDWARE_SLICE;
    r->mpi = o->mpi;
    r->interval = interval_cycles(o->params, o->interval_ms);
    if (o->capture != NULL)
        r->capture = *o->capture;
    if (o->recorder != NULL)
        o->recorder->ask(o, r);
    r->from = r->to = NO_LINE;
    r->skip = o->skip;
    r->code = program->code;
    r->code_offset = program->code_offset;
    r->code_size = program->code_size;
    if (o->from != NULL || o->to != NULL)
        r->span = SPAN_FROM_TO;
    else if (o->skip != 0)
        r->span = SPAN_SKIP;
    if (error == 0 && o->from != NULL)
        error = program_symbol(program->path, o->from, log, &r->from);
    if (error == 0 && o->to != NULL)
        error = program_symbol(program->path, o->to, log, &r->to);
    if (error == 0 && o->interval_ms != 0 &&
        session_totals(o) != session_slices(o))
        error =
            tally_fail(log, TALLY_ERANGE, "-I does not go with --filter data=");
    if (error == 0 && session_totals(o) > COUNTS_SLICES)
        error = tally_fail(log, TALLY_ERANGE,
                           "--filter data= leaves %u turns of the counters; "
                           "these events need %u",
                           COUNTS_SLICES / 2, session_slices(o));
    if (error == 0)
        error = set_filters(o, program, log, r);
    return error != 0 ? error : launch_request(&o->launch, program, log, r);
}

struct running {
    const struct session_options *options;
    struct counts_rules rules;
    int fd;
    double started;
    double told; /* when progress was reported last */
    const struct session_request *request;
    double recorded; /* when what is recorded was handed out last */
    double record_s; /* and after how long it is next */
};

/* Tells the caller how many instructions have run, if it wants to know. */
static void
report_progress(struct running *run)
{
    uint64_t instructions = 0;

    run->told = now_s();
    if (run->options->progress == NULL)
        return;
    for (unsigned i = 0;; i++) {
        struct counts_view view;
        i = counts_view_next(run->fd, i);
        if (i >= SESSION_PROCESSES)
            break;
        if (counts_view_open(&view, run->fd, i, &run->rules) == 0 &&
            view.wrong == NULL && view.state != COUNTS_FREE)
            instructions += counts_view_instructions(&view);
    }
    run->options->progress(run->options->progress_user, instructions,
                           now_s() - run->started);
}

/* The first time after which what is recorded is handed out while the program
 * runs; each further time takes twice as long, so that a record of a long run
 * does not grow with it. */
#define RECORD_FIRST_S 10

/* How often and how long a child that was forked is waited for: half a second.
 */
#define FORK_LOOKS 500u
#define FORK_US 1000

/* Hands out what was recorded until now, so that a record of a run that is
 * killed has that. */
static int
record_so_far(struct running *run)
{
    const struct session_options *o = run->options;
    struct session_result so_far = {.components = run->request->components};
    int error = session_collect(o, run->fd, run->request, &so_far);

    if (error == 0)
        error = o->recorder->collect(o, run->fd, run->request, &so_far, false);
    session_result_finish(&so_far);
    run->recorded = now_s();
    run->record_s *= 2;
    return error;
}

/* Opens the gate at SIGUSR1 and closes it at SIGUSR2; false: the signal is
 * passed on. */
static bool
take_signal(void *user, int signal_number)
{
    const struct running *const run = user;

    if (run->options->gate == NULL ||
        (signal_number != SIGUSR1 && signal_number != SIGUSR2))
        return false;
    gate_turn(run->options->gate, signal_number == SIGUSR1, run->fd,
              &run->rules);
    return true;
}

/* Tells of each process whose threads all wait for each other. */
static void
look_for_stuck(const struct running *run)
{
    for (unsigned i = counts_view_next(run->fd, 0); i < SESSION_PROCESSES;
         i = counts_view_next(run->fd, i + 1)) {
        struct counts_view view;
        if (counts_view_open(&view, run->fd, i, &run->rules) == 0 &&
            view.wrong == NULL && view.state != COUNTS_FREE && view.stuck != 0)
            run->options->stuck(run->options->stuck_user, view.pid, view.stuck);
    }
}

/* Runs QEMU to its end, while the kernel counts QEMU's software events;
 * `result` gets the status and the times. */
static int
start_and_wait(const struct launch *launch, struct running *run,
               const struct tally_log *log, struct session_result *result)
{
    const struct child_program program = {
        .argv = launch->argv,
        .path = launch->qemu.path,
        .env = launch->env,
        .fixed_addresses = true, /* of QEMU's mappings, so of the guest's */
    };
    const struct session_options *const o = run->options;
    struct host_software software = {0};
    struct child_signals signals;
    struct child child;

    if (o->signals == NULL)
        child_signals_hold(&signals);
    int error =
        child_start(&child, o->signals ? o->signals : &signals, &program, log);
    if (error == 0) {
        child.take = take_signal;
        child.user = run;
        error = host_software_open(&software, o->software, o->software_count,
                                   child.pid);
        if (error != 0)
            tally_fail(log, error, "no memory for software events");
    }
    if (error == 0) {
        child_go(&child);
        while (!child_wait(&child, PROGRESS_S)) {
            if (now_s() >= run->told + PROGRESS_S)
                report_progress(run);
            if (o->stuck != NULL)
                look_for_stuck(run);
            if (o->recorder != NULL && o->recorder->look != NULL)
                o->recorder->look(o, run->request, run->fd);
            if (o->recorder != NULL &&
                now_s() >= run->recorded + run->record_s &&
                record_so_far(run) != 0)
                run->record_s = HUGE_VAL; /* the end says why */
        }
        host_software_read(&software, &child.usage);
        result->software = software.values;
        software.values = NULL;
    }
    host_software_finish(&software);
    child_finish(&child);
    if (error == 0 && child.exec_error != 0)
        error = tally_fail(log, TALLY_ESYSTEM, "cannot run %s: %s",
                           launch->qemu.path, strerror(child.exec_error));
    if (error == 0 && child.lost)
        error = tally_fail(log, TALLY_ESYSTEM,
                           "the status of %s was taken by another wait() of "
                           "this process",
                           launch->qemu.path);
    if (o->signals == NULL)
        child_signals_free(&signals);
    result->status = child.status;
    result->interrupted = child.interrupted;
    result->user_s = child.user_s;
    result->sys_s = child.sys_s;
    result->wall_s = now_s() - run->started;
    return error;
}

/* Waits for children that were forked and have not claimed their counts yet: a
 * busy host may run them after their parents have ended. A child that does not
 * come in time is taken for one that was killed before it ran. */
static void
await_forks(struct session_header *header)
{
    for (unsigned i = 0; atomic_load(&header->forks) > 0 && i < FORK_LOOKS; i++)
        usleep(FORK_US);
}

/* The status of the program that replays a trace which it cannot read. */
#define STATUS_UNREAD 125

/* Notes what of its program a trace had. */
static void
note_trace(const struct launch_options *launch, struct session_result *result)
{
    if (launch->trace == NULL)
        return;
    result->trace = launch->trace_part;
    if (WIFEXITED(result->status) &&
        WEXITSTATUS(result->status) == STATUS_UNREAD &&
        launch->trace_status != result->status) {
        result->trace = TRACE_PART_DAMAGED;
        result->status = 0; /* the program's is not known */
    }
}

/* Runs `program`, and stores in `result` the program's counts, and what was
 * recorded of the program where the session records. Returns 0, or an error
 * after a message. */
static int
run_and_collect(const struct session_options *o, const struct program *program,
                const struct session_request *request, int fd,
                struct session_header *header, const struct tally_log *log,
                struct session_result *result)
{
    struct launch launch = {0};
    char place[SESSION_PLACE];

    int error = session_place(fd, request, place, sizeof(place));
    if (error != 0)
        tally_fail(log, error, "cannot look at the session's memory: %s",
                   strerror(errno));
    if (error == 0)
        error = launch_build(&o->launch, program, request, place, log, &launch);
    if (error == 0) {
        struct running run = {
            .options = o,
            .rules = counts_rules_of(request),
            .fd = fd,
            .started = now_s(),
            .told = now_s(),
            .request = request,
            .recorded = now_s(),
            .record_s = RECORD_FIRST_S,
        };
        memset(result, 0, sizeof(*result));
        result->components = request->components;
        session_note_rights(header, program->path);
        error = start_and_wait(&launch, &run, log, result);
        await_forks(header);
    }
    if (error == 0) {
        note_trace(&o->launch, result);
        error = session_collect(o, fd, request, result);
        if (error == TALLY_ENOMEM || error == TALLY_ESYSTEM)
            tally_fail(log, error, "cannot collect the counts: %s",
                       error == TALLY_ENOMEM ? "no memory" : strerror(errno));
    }
    if (error == 0 && o->recorder != NULL) {
        error = o->recorder->collect(o, fd, request, result, true);
        if (error == TALLY_ENOMEM || error == TALLY_ESYSTEM)
            tally_fail(log, error, "cannot collect what was recorded: %s",
                       error == TALLY_ENOMEM ? "no memory" : strerror(errno));
    }
    launch_finish(&launch);
    return error;
}

int
session_run(const struct session_options *o, const struct program *program,
            const struct tally_log *log, struct session_result *result)
{
    struct session_header *header = NULL;
    int fd = -1;
    struct session_request *const request = malloc(sizeof(*request));

    if (request == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for a session");
    int error = make_request(o, program, log, request);
    if (error == 0)
        error = session_create(request, log, &fd, &header);
    if (error == 0) {
        error = run_and_collect(o, program, request, fd, header, log, result);
        session_destroy(fd, header);
    }
    free(request);
    return error;
}

unsigned
session_varies(const struct session_result *result)
{
    unsigned varies = 0;

    for (size_t i = 0; i < result->process_count; i++) {
        const struct session_process *const p = &result->processes[i];
        if (p->beside || (p->together > 1 && p->quantum == 0))
            varies |= SESSION_BESIDE;
        if (p->outside_wakes > 0)
            varies |= SESSION_OUTSIDE;
    }
    if (result->signalled > 0 || result->ended_by != 0)
        varies |= SESSION_SIGNALLED;
    return varies;
}

bool
session_left_early(const struct session_result *result)
{
    return result->left_early > 0;
}

bool
session_partial(const struct session_result *result)
{
    bool runs = false;

    for (size_t i = 0; i < result->process_count; i++)
        runs |= result->processes[i].running;
    return runs || result->lost_threads > 0 || result->inconsistent_count > 0 ||
           result->cut_processes > 0 || result->uncounted > 0 ||
           trace_part_lacks(result->trace);
}

void
session_result_finish(struct session_result *result)
{
    free(result->processes);
    for (size_t i = 0; i < result->thread_count; i++)
        session_thread_finish(&result->threads[i]);
    free(result->in_mpi);
    free(result->threads);
    free(result->snapshots);
    free(result->intervals);
    free(result->captures);
    free(result->software);
    free(result->inconsistent);
    memset(result, 0, sizeof(*result));
}
