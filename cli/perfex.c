/* SPDX-License-Identifier: MIT */
/* tally perfex: IRIX's perfex on modelled machines, and on this one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/measured.h"
#include "cli/output.h"
#include "cli/perfex_events.h"
#include "cli/perfex_host.h"
#include "profile/machine_choice.h"
#include "profile/session.h"
#include "report/perfex_text.h"
#include "report/run_note.h"

struct job {
    const struct perfex_request *request;
    struct measured measured;
    struct perfex_events events;
    struct hardware hardware;
    struct gate *gate;  /* owned */
    struct cost *costs; /* owned */
    struct count_value *values;
    const struct metric_row **metrics; /* owned */
    struct session_options session;
    struct session_result result;
    struct count_report report;
    char status[96], slices[128], processes[RUN_NOTE];
    char threads[RUN_NOTE], beside[RUN_NOTE], signals[RUN_NOTE], lost[RUN_NOTE],
        early[RUN_NOTE], inconsistent[RUN_NOTE], cut[RUN_NOTE],
        random[RUN_NOTE], left[RUN_NOTE];
};

#define NOTES 13

/* Finds the events' costs: those of -c, or those of the machine. */
static int
read_costs(struct job *job)
{
    const struct perfex_request *r = job->request;
    const struct machine_row *machine = job->measured.machine;

    job->costs = cost_table(machine, job->measured.params);
    if (job->costs == NULL)
        return tally_fail(&command_log, TALLY_ENOMEM, "no memory for costs");
    if (r->costs != NULL)
        return cost_table_read(machine, r->costs, &command_log, job->costs);
    if ((r->times || r->table) && machine->cost_count == 0)
        return tally_fail(&command_log, TALLY_EUNKNOWN,
                          "nobody knows what events cost on %s; -c takes costs "
                          "from a file",
                          machine->name);
    return 0;
}

/* Sets the count, and the time that the count stands for. */
static void
set_value(const struct job *job, struct count_value *v, uint64_t value)
{
    const struct cost *c =
        &job->costs[v->event - job->measured.machine->events];
    const double each =
        (double)value / (double)job->measured.params[PARAM_CLOCK];

    v->value = value;
    v->mean = (double)value;
    v->timed = job->request->times && c->known && v->counted;
    v->minimum_s = c->minimum * each;
    v->typical_s = c->typical * each;
    v->maximum_s = c->maximum * each;
}

/* Sets the count of an event that is counted. */
static void
read_value(const struct job *job, struct count_value *v,
           const struct session_result *result)
{
    size_t i = 0;

    while (i < job->events.counted_count && job->events.counted[i] != v->event)
        i++;
    v->enabled = v->running = (uint64_t)(result->wall_s * 1e9);
    if (i == job->events.counted_count)
        return;
    v->exact = (double)event_value(v->event, &result->totals);
    if (job->session.hardware == NULL) {
        set_value(job, v, event_value(v->event, &result->totals));
        return;
    }
    const struct hardware_reading *r = &job->hardware.readings[i];
    v->compared = job->hardware.slice_count > 1;
    measured_share(r, v);
    set_value(job, v, hardware_scaled(r));
}

/* Chooses every metric that these counts give a value of. */
static void
choose_metrics(struct job *job)
{
    struct count_report *r = &job->report;

    for (size_t i = 0; i < r->machine->metric_count; i++) {
        const struct metric_row *m = &r->machine->metrics[i];
        enum fidelity fidelity;
        if (report_metric_lacks(r, m, NULL) == NULL) {
            const double value = report_metric(r, m, NULL, &fidelity);
            if (value == value)
                job->metrics[r->metric_count++] = m;
        }
    }
    r->metrics = job->metrics;
}

/* Appends a note, where there is room. */
static void
add_note(const char **notes, const char *note)
{
    size_t i = 0;

    while (notes[i] != NULL)
        i++;
    if (i + 1 < NOTES)
        notes[i] = note;
}

/* Collects what the report says of the run as a whole. */
static void
make_notes(struct job *job, const struct session_result *result,
           const char **notes)
{
    const struct perfex_request *r = job->request;
    char text[64];

    report_status(result->status, text, sizeof(text));
    if (text[0] != '\0') {
        snprintf(job->status, sizeof(job->status), "the program %s%s",
                 WIFSIGNALED(result->status) ? "was " : "", text);
        add_note(notes, job->status);
    }
    if (report_programs(result, job->processes, sizeof(job->processes)))
        add_note(notes, job->processes);
    if (result->rightless > 0)
        add_note(notes, "some programs ran without their rights, which are "
                        "setuid or setgid");
    if (job->hardware.slice_count > 1) {
        snprintf(job->slices, sizeof(job->slices),
                 "%zu turns of %u instructions each", job->hardware.slice_count,
                 HARDWARE_SLICE);
        add_note(notes, job->slices);
    }
    if (job->gate != NULL && job->gate->opened == 0)
        add_note(notes, "no SIGUSR1 came: nothing was counted");
    if (report_threads(result, job->threads, sizeof(job->threads)))
        add_note(notes, job->threads);
    if (report_beside(result, job->beside, sizeof(job->beside)))
        add_note(notes, job->beside);
    if (report_signals(result, job->signals, sizeof(job->signals)))
        add_note(notes, job->signals);
    if (report_random_fixed(result, job->random, sizeof(job->random)))
        add_note(notes, job->random);
    if (report_random_left(result, job->left, sizeof(job->left)))
        add_note(notes, job->left);
    if (report_left_early(result, job->early, sizeof(job->early)))
        add_note(notes, job->early);
    if (report_lost(result, job->lost, sizeof(job->lost)))
        add_note(notes, job->lost);
    if (report_cut(result, job->cut, sizeof(job->cut)))
        add_note(notes, job->cut);
    if (result->inconsistent_count > 0) {
        report_inconsistent(result->inconsistent, job->inconsistent,
                            sizeof(job->inconsistent));
        add_note(notes, job->inconsistent);
    }
    if (result->uncounted > 0)
        add_note(notes, "some programs ran outside the emulation, uncounted");
    add_note(notes, r->kernel || r->exception
                        ? "user mode only: there is no kernel in the model, "
                          "with -k and -x neither"
                        : "user mode only: system calls run outside the model");
}

/* Writes the intervals of -p. */
static int
write_intervals(struct job *job, const struct session_result *result, FILE *out)
{
    struct perfex_report p = {
        .count = &job->report,
        .costs = job->request->times ? job->costs : NULL,
    };
    int error = 0;

    for (size_t i = 0; error == 0 && i < result->interval_count; i++) {
        const struct session_interval *at = &result->intervals[i];
        const struct session_result last = {
            .totals = at->totals,
            .modelled_s = at->end_s - at->start_s,
            .components = result->components,
        };
        for (size_t k = 0; k < job->events.count; k++)
            if (job->values[k].counted)
                set_value(job, &job->values[k],
                          event_value(job->values[k].event, &at->totals));
        job->report.at_s = at->end_s;
        job->report.last = &last;
        error = job->request->format == COUNT_TEXT
                    ? report_perfex_interval(&p, out)
                : job->request->format == COUNT_CSV
                    ? report_interval_csv(&job->report, ',', out)
                    : report_interval_json(&job->report, out);
    }
    job->report.at_s = 0;
    return error;
}

/* Writes the intervals and the report of the whole run. */
static int
write_all(struct job *job, const struct session_result *result, FILE *out)
{
    const struct perfex_request *r = job->request;
    const char *notes[NOTES + 1] = {NULL};
    const struct perfex_report p = {
        .count = &job->report,
        .costs = r->times ? job->costs : NULL,
        .projected = job->hardware.slice_count > 1,
        .cost_table = r->table ? job->costs : NULL,
        .notes = notes,
    };
    int error = 0;

    report_note_standing(&job->report, job->values, result);
    if (r->period_ms != 0)
        error = write_intervals(job, result, out);
    if (error != 0 || (r->period_ms != 0 && r->format != COUNT_TEXT))
        return error;
    for (size_t i = 0; i < job->events.count; i++)
        read_value(job, &job->values[i], result);
    job->report.last = result;
    job->report.wall_s = result->wall_s;
    if (r->times)
        choose_metrics(job);
    make_notes(job, result, notes);
    return r->format == COUNT_TEXT  ? report_perfex_text(&p, out)
           : r->format == COUNT_CSV ? report_count_csv(&job->report, ',', out)
                                    : report_count_json(&job->report, out);
}

/* Runs the program and writes the report; returns an exit status. */
static int
run_and_report(struct job *job)
{
    struct session_result *const result = &job->result;
    struct output out;

    const int opened = output_open(job->request->output, REPLACE_WHOLE, &out);
    if (opened != 0)
        return opened;
    int error = session_run(&job->session, &job->measured.program, &command_log,
                            result);
    int status = EXIT_OURS;
    if (error == 0 && !result->started)
        status = error = measured_unstarted(&job->measured, result);
    if (error == 0) {
        error = write_all(job, result, out.file);
        if (error != 0)
            command_unwritten("report");
    }
    if (output_close(&out, error == 0) != 0 && error == 0) {
        error = TALLY_EIO;
        command_unwritten("report");
    }
    if (error == 0)
        status = command_status(result->status);
    session_result_finish(result);
    return status;
}

/* Plans the counters. With a period there are snapshots in place of slices, so
 * one slice must do. */
static int
plan_counters(struct job *job)
{
    const struct perfex_events *e = &job->events;
    int error = 0;

    if (!job->request->all)
        error = perfex_events_conflict(job->measured.machine, e);
    if (error != 0 || e->counted_count == 0)
        return error;
    error = hardware_init(&job->hardware, job->measured.machine, e->counted,
                          e->counted_count, &command_log);
    if (error == 0 && job->request->period_ms != 0 &&
        job->hardware.slice_count > 1)
        error = tally_fail(&command_log, TALLY_ERULE,
                           "-p needs a counter for each event; these %zu would "
                           "take turns",
                           e->counted_count);
    if (error == 0 && job->request->period_ms == 0)
        job->session.hardware = &job->hardware;
    return error;
}

/* Allocates and fills what the report needs. */
static int
allocate(struct job *job)
{
    job->values = calloc(job->events.count + 1, sizeof(*job->values));
    job->metrics =
        calloc(job->report.machine->metric_count + 1, sizeof(*job->metrics));
    job->report.program = command_text(job->measured.program.argv);
    if (job->request->signals)
        job->gate = calloc(1, sizeof(*job->gate));
    if (job->values == NULL || job->metrics == NULL ||
        job->report.program == NULL ||
        (job->request->signals && job->gate == NULL))
        return tally_fail(&command_log, TALLY_ENOMEM, "no memory for counts");
    for (size_t i = 0; i < job->events.count; i++) {
        const struct event_row *const e = job->events.all[i];
        const bool idle = e->fidelity == FIDELITY_IDLE;
        job->values[i] = (struct count_value){
            .name = e->name,
            .unit = "",
            .event = e,
            .fidelity = report_fidelity(&job->report, e),
            .counted = !idle,
            .code = idle ? "idle" : NULL,
            .reason = e->reason,
            .scale = 1,
        };
    }
    job->report.values = job->values;
    job->report.count = job->events.count;
    job->session.gate = job->gate;
    job->session.events = job->events.counted;
    job->session.event_count = job->events.counted_count;
    return 0;
}

/* Finds the machine, the events and their counters. */
static int
prepare(struct job *job)
{
    const struct perfex_request *r = job->request;
    struct measured *const m = &job->measured;
    int error = measured_choose(m, r->machine, &r->model, true);

    if (error != 0)
        return error;
    job->report = (struct count_report){
        .machine = m->machine,
        .params = m->params,
        .isa = m->program.isa->name,
        .cpu = r->model.launch.cpu ? r->model.launch.cpu : m->program.isa->cpu,
        .foreign = m->foreign,
        .per_thread = r->threads,
        .has_span = r->signals,
        .runs = 1,
    };
    job->session = (struct session_options){
        .machine = m->machine,
        .params = m->params,
        .interval_ms = r->period_ms,
        .launch = r->model.launch,
    };
    error = perfex_events_choose(r, m->machine, &job->events);
    if (error == 0)
        error = read_costs(job);
    if (error == 0)
        error = plan_counters(job);
    return error != 0 ? error : allocate(job);
}

/* Counts a program on a modelled machine, and returns an exit status. */
static int
perfex_program(struct perfex_request *r, char **argv)
{
    struct job *job = calloc(1, sizeof(*job));

    if (job == NULL)
        return command_no_memory();
    job->request = r;
    int status = measured_open(&job->measured, argv, &r->model.launch);
    if (status != 0) {
        free(job);
        return status;
    }
    const int error = prepare(job);
    status = error == 0              ? run_and_report(job)
             : error == TALLY_ENOMEM ? EXIT_OURS
                                     : EXIT_USAGE;
    perfex_events_finish(&job->events);
    hardware_finish(&job->hardware);
    program_close(&job->measured.program);
    free(job->gate);
    free(job->costs);
    free(job->values);
    free(job->metrics);
    free((char *)job->report.program);
    free(job);
    return status;
}

/* Prints what events cost on every machine of which that is known. */
static int
print_tables(void)
{
    int error = 0;

    for (size_t i = 0; error == 0 && i < MACHINE_COUNT; i++) {
        const struct machine_row *m = &tally_machines[i];
        uint64_t params[PARAM_COUNT];
        if (m->hidden || m->cost_count == 0)
            continue;
        error = machine_params(m, NULL, 0, &command_log, params, NULL);
        struct cost *costs = error == 0 ? cost_table(m, params) : NULL;
        if (error == 0)
            error = costs != NULL ? report_cost_table(m, costs, stdout)
                                  : TALLY_ENOMEM;
        free(costs);
    }
    return error == 0 ? 0 : EXIT_OURS;
}

static int
run_perfex(int argc, char **argv)
{
    struct perfex_request request;
    int operand = 0;
    int status = perfex_request_read(argc, argv, &request, &operand);

    if (status == COMMAND_HELP) {
        command_help(&command_perfex, stdout);
        status = 0;
    } else if (status == 0 && request.tables) {
        status = print_tables();
    } else if (status == 0) {
        /* A program of this computer's kind runs on the host: host-model has no
         * counters. */
        const bool host =
            request.machine != NULL
                ? machine_find(request.machine) == machine_find("host")
                : measured_is_native(argv + operand);
        status = output_spares_program("perfex", "-o", request.output,
                                       argv[operand]);
        if (status == 0)
            status = host ? perfex_host(&request, argv + operand)
                          : perfex_program(&request, argv + operand);
    }
    perfex_request_finish(&request);
    return status;
}

const struct command command_perfex = {
    .name = "perfex",
    .summary = "run a program and report two counters, as IRIX's perfex does",
    .synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS]",
    .example =
        "  # Count all 32 events in turns, with what each costs in time.\n"
        "  tally perfex -a -y -m r12000 -- ./bzip2.mips64 -9k file\n"
        "  # Count one event by its number: graduated instructions.\n"
        "  tally perfex -e 15 -m r12000 -- ./bzip2.mips64 -9k file",
    .options = perfex_options,
    .run = run_perfex,
};
