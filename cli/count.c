/* SPDX-License-Identifier: MIT */
/* tally count: runs a program and prints what the counters would show. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/command.h"
#include "cli/count_host.h"
#include "cli/count_mpi.h"
#include "cli/count_request.h"
#include "cli/count_runs.h"
#include "cli/count_software.h"
#include "cli/counted.h"
#include "cli/illegal.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/run_parts.h"
#include "cli/stuck.h"
#include "host/event.h"
#include "host/open.h"
#include "table/signals.h"
#include "profile/filter.h"
#include "profile/session.h"
#include "report/count_derived.h"
#include "report/count_report.h"
#include "table/generic.h"
#include "table/software.h"
#include "table/umask.h"
#include "trace/trace_reader.h"

/* Shows how far the program is, from the second second on. */
static void
show_progress(void *user, uint64_t instructions, double wall_s)
{
    (void)user;
    if (wall_s < 1)
        return;
    fprintf(stderr,
            "\r tally: %.1f G instructions, %.0f s, %.0f M a second\033[K",
            (double)instructions * 1e-9, wall_s,
            (double)instructions / wall_s * 1e-6);
}

struct job {
    struct counting counting;
    struct measured measured;
    struct session_options session;
    struct stuck stuck;
    struct count_value *values; /* of one run; the standing is that of all */
    struct count_split split;
    struct hardware hardware;     /* zero without --hardware */
    struct session_result result; /* of the last run that was not cut short */
    struct session_result next;   /* of the run that goes on */
    struct run_parts parts;       /* with -v */
    struct count_illegal illegal;
    const char *why_modelled; /* why the host does not count, or "" */
    char note[160];
    bool threaded; /* a process had two threads at once, in any run */
    const char *settings[PARAM_COUNT]; /* that the report names */
};

/* Writes the intervals of one run. */
static int
write_intervals(const struct job *job, unsigned run,
                const struct session_result *result)
{
    const struct count_request *r = job->counting.request;
    struct count_report report = job->counting.report;
    struct count_value *values = calloc(report.count, sizeof(*values));
    int error = 0;

    if (values == NULL)
        return tally_fail(&command_log, TALLY_ENOMEM, "no memory for -I");
    report.values = values;
    report.runs = report.runs_asked = 1;
    report.run = r->runs > 1 ? run : 0;
    for (size_t i = 0; error == 0 && i < result->interval_count; i++) {
        const struct session_interval *interval = &result->intervals[i];
        const double length_s = interval->end_s - interval->start_s;
        const struct session_result last = {
            .totals = interval->totals,
            .modelled_s = length_s,
            .components = result->components,
        };
        for (size_t k = 0; k < report.count; k++) {
            values[k] = job->values[k];
            values[k].value = report_value(&values[k], &interval->totals);
            values[k].mean = (double)values[k].value;
            values[k].enabled = values[k].running = (uint64_t)(length_s * 1e9);
        }
        report.last = &last;
        report.at_s = interval->end_s;
        report.wall_s = length_s;
        error = count_write_interval(r, &report, job->counting.out.file);
    }
    free(values);
    return error;
}

/* Fills `values` with what one run counted. */
static void
fill_values(const struct job *job, const struct session_result *result,
            struct count_value *values)
{
    for (size_t i = 0; i < job->counting.report.count; i++) {
        struct count_value *const v = &values[i];
        const size_t place = job->split.place[i];
        *v = job->values[i];
        if (event_is_lacking(v->event))
            continue;
        if (v->emulator) {
            v->value = result->software[place].reading.value;
            count_software_keep(&result->software[place],
                                &job->split.reasons[place], v);
            continue;
        }
        v->value = job->session.hardware != NULL
                       ? hardware_scaled(&job->hardware.readings[place])
                       : report_value(v, &result->totals);
        v->apart = result->in_mpi != NULL;
        if (v->apart)
            v->in_mpi = report_value(v, result->in_mpi);
        v->compared = job->counting.request->compare;
        if (v->compared)
            v->exact = (double)event_value(v->event, &result->totals);
    }
}

/* Runs the program once, as count_runs() asks for. */
static int
run_model(void *user, unsigned run, struct count_value *values,
          struct count_end *end)
{
    struct job *job = user;
    const struct count_request *r = job->counting.request;
    struct session_result *const next = &job->next;

    /* CSV and JSON name their machine, so they get no such line. */
    if (run == 1 && *job->why_modelled != '\0' && !r->quiet &&
        count_request_talks(r))
        escape_printf(stderr,
                      "tally: %s; so counted on host-model (-m host insists)\n",
                      job->why_modelled);
    *next = (struct session_result){0};
    int error =
        session_run(&job->session, &job->measured.program, &command_log, next);
    if (error == 0) {
        report_note_standing(&job->counting.report, job->values, next);
        job->threaded |= next->together > 1;
        error = write_intervals(job, run, next);
    }
    if (error != 0) {
        session_result_finish(next);
        return error;
    }
    /* A mean is of whole runs: of several, one that was killed is none. */
    *end = (struct count_end){next->wall_s, next->status,
                              next->interrupted ||
                                  (r->runs > 1 && next->ended_by != 0),
                              next->trace == TRACE_PART_DAMAGED};
    if (run > 1 && end->interrupted) {
        /* The report is of the run before, but for the status. */
        job->result.status = next->status;
        job->result.interrupted = true;
        session_result_finish(next);
        return 0;
    }
    session_result_finish(&job->result);
    job->result = *next;
    fill_values(job, next, values);
    return 0;
}

/* Says which counters --hardware used, and how many traps they took. */
static void
note_hardware(struct job *job)
{
    const struct hardware *h = &job->hardware;
    const bool apart = strcmp(hardware_counter(h, 0), hardware_counter(h, 1));
    const unsigned last = h->counter_count - 1;
    int n = snprintf(job->note, sizeof(job->note),
                     "counted on %s%s %s %s%s of each strand",
                     hardware_counter(h, 0), apart ? "" : "0",
                     h->counter_count == 2 ? "and" : "to",
                     hardware_counter(h, last), apart ? "" : "1");

    if (h->slice_count > 1)
        n += snprintf(job->note + n, sizeof(job->note) - (size_t)n,
                      ", in %zu turns of %u instructions, and scaled",
                      h->slice_count, HARDWARE_SLICE);
    snprintf(job->note + n, sizeof(job->note) - (size_t)n,
             "; %" PRIu64 " overflow trap%s", h->overflows,
             h->overflows == 1 ? "" : "s");
    job->counting.report.note = job->note;
}

/* Returns the bits (enum placed) of the words of --place that change nothing on
 * this machine. With one node all pages are on it. With one core, or with
 * one strand in each core, `pack` and `spread` give a thread the same strand.
 */
static unsigned
idle_place(const struct count_request *r, const uint64_t *params)
{
    const bool plain = params[PARAM_CORES] == 1 || params[PARAM_STRANDS] == 1;

    if (params[PARAM_NODES] > 1)
        return 0;
    return r->placed & (plain ? PLACED_THREADS | PLACED_PAGES : PLACED_PAGES);
}

/* Says which words of --place change nothing on this machine. */
static void
say_idle_place(unsigned idle, const struct machine_row *machine,
               const uint64_t *params)
{
    const bool threads = idle & PLACED_THREADS, pages = idle & PLACED_PAGES;

    if (idle != 0)
        escape_printf(stderr,
                      "tally: --place has no effect on %s: %s has one node%s\n",
                      threads && pages ? "threads and pages"
                      : threads        ? "threads"
                                       : "pages",
                      machine->name,
                      !threads                   ? ""
                      : params[PARAM_CORES] == 1 ? " of one core"
                                                 : ", and a strand a core");
}

/* Lists the settings that the report names. The report does not name a word of
 * --place that changes nothing. */
static void
list_settings(const struct count_request *r, unsigned idle, struct job *job)
{
    struct count_scope *const scope = &job->counting.report.scope;

    for (size_t i = 0; i < r->model.set_count; i++) {
        const char *const set = r->model.sets[i];
        const bool threads = strncmp(set, "place.threads=", 14) == 0;
        const bool pages = !threads && strncmp(set, "place.", 6) == 0;
        if ((threads && (idle & PLACED_THREADS)) ||
            (pages && (idle & PLACED_PAGES)))
            continue;
        job->settings[scope->set_count++] = set;
    }
    scope->sets = job->settings;
}

/* Takes the word for threads out of what the report says was counted, where no
 * process had two threads at once: the only thread has the same strand by both
 * words. */
static void
drop_idle_threads(struct job *job)
{
    const struct count_request *r = job->counting.request;
    const unsigned before = idle_place(r, job->measured.params);

    if (job->threaded || !(r->placed & PLACED_THREADS & ~before))
        return;
    job->counting.report.scope.set_count = 0;
    list_settings(r, before | PLACED_THREADS, job);
    if (count_request_talks(r) && !r->quiet)
        fprintf(stderr, "tally: --place has no effect on threads: the program "
                        "had one at a time\n");
}

/* Completes the report after the last run, as count_runs() asks for. */
static int
finish_model(void *user)
{
    struct job *job = user;
    struct count_report *const report = &job->counting.report;

    if (job->session.progress != NULL)
        fprintf(stderr, "\r\033[K");
    if (!job->result.started)
        return measured_unstarted(&job->measured, &job->result);
    job->result.interrupted |= job->counting.end.interrupted;
    report->last = &job->result;
    drop_idle_threads(job);
    if (illegal_explain(&job->result, job->measured.program.isa,
                        job->counting.request->model.launch.cpu, &job->illegal))
        report->illegal = &job->illegal;
    for (size_t i = 0; i < report->count; i++) {
        struct count_value *const v = &job->counting.values[i];
        if (v->stddev > 0 && v->fidelity == FIDELITY_EXACT)
            v->fidelity = FIDELITY_VARIES;
        if (event_is_lacking(v->event))
            continue;
        v->enabled = v->running = (uint64_t)(report->wall_s * 1e9);
        if (job->session.hardware != NULL && !v->emulator)
            measured_share(&job->hardware.readings[job->split.place[i]], v);
    }
    if (job->session.hardware != NULL)
        note_hardware(job);
    return 0;
}

static const struct count_source model_source = {
    .run = run_model,
    .finish = finish_model,
};

/* Plans the counters of --hardware; `left_out` events of `all` have none. */
static int
start_hardware(struct job *job, size_t left_out)
{
    if (!job->counting.request->hardware)
        return 0;
    const int error = hardware_init(
        &job->hardware, job->counting.report.machine, job->session.events,
        job->session.event_count, &command_log);
    if (error != 0)
        return error;
    job->session.hardware = &job->hardware;
    if (left_out > 0 && count_request_talks(job->counting.request))
        fprintf(stderr,
                "tally: --hardware leaves %zu events out of all: no counter of "
                "a strand has them, or the model never raises them\n",
                left_out);
    return 0;
}

/* Returns the report's value of the event, without a count. */
static struct count_value
empty_value(const struct job *job, const struct event_row *event)
{
    const struct count_request *r = job->counting.request;
    const struct machine_row *machine = job->counting.report.machine;

    if (event_is_software(event))
        return count_software_value(event);
    if (event_is_lacking(event))
        return (struct count_value){
            .name = event->name,
            .unit = "",
            .reason = generic_lacking_reason(machine, event),
            .code = host_why_name(HOST_UNSUPPORTED),
            .event = event,
            .fidelity = FIDELITY_IDLE,
            .scale = 1,
        };
    const int sum = generic_sum(machine, event);
    const char *lacks = measured_lacks(&job->measured, event);
    if (lacks == NULL)
        lacks = capture_lacks(event, &r->capture);
    if (lacks == NULL)
        lacks = filter_lacks(event, filter_data(r->filters, r->filter_count));
    return (struct count_value){
        .name = sum >= 0 ? machine->generics[sum].own : event->name,
        .unit = "",
        .reason = lacks != NULL ? lacks : event->reason,
        .event = event,
        .fidelity = lacks != NULL
                        ? FIDELITY_IDLE
                        : report_fidelity(&job->counting.report, event),
        .counted = true,
        .scale = 1,
    };
}

/* Counts the events, and returns an exit status. */
static int
count_events(struct job *job, const struct counted *c)
{
    struct count_report *const report = &job->counting.report;
    char *text = command_text(job->measured.program.argv);
    int status = EXIT_OURS;

    job->values = calloc(c->count, sizeof(*job->values));
    if (job->values == NULL || text == NULL ||
        count_split(c, &job->split) != 0) {
        command_no_memory();
    } else {
        for (size_t i = 0; i < c->count; i++) {
            job->values[i] = empty_value(job, c->events[i]);
            job->values[i].asked =
                i < c->asked_count ? c->asked[i] : c->events[i]->name;
        }
        job->session.events =
            (const struct event_row *const *)job->split.modelled;
        job->session.event_count = job->split.modelled_count;
        job->session.software =
            (const struct event_row *const *)job->split.software;
        job->session.software_count = job->split.software_count;
        job->session.signals = &job->counting.signals;
        report->count = c->count;
        report->hidden = c->hidden;
        report->metrics = (const struct metric_row *const *)c->metrics.rows;
        report->metrics_asked = (const char *const *)c->metrics.asked;
        report->metric_count = c->metrics.count;
        report->program = text;
        status = start_hardware(job, c->left_out) == 0
                     ? count_runs(&job->counting)
                     : EXIT_USAGE;
    }
    session_result_finish(&job->result);
    hardware_finish(&job->hardware);
    count_split_finish(&job->split);
    free(job->values);
    free(text);
    return status;
}

/* Refuses what asks for cycles or instructions that an imported trace does not
 * have. Returns 0 or an error, logged. */
static int
check_imported(const struct count_request *r, const struct measured *m)
{
    const char *const cycles = r->interval_ms != 0           ? "-I"
                               : r->accounting               ? "--accounting"
                               : capture_wanted(&r->capture) ? "--sample"
                                                             : NULL;

    if (measured_imported(m) == NULL)
        return 0;
    if (cycles != NULL)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "%s needs cycles, which an imported trace does not "
                          "have: leave it away",
                          cycles);
    if (r->skip != 0 && (m->feeds & FEED_INSTRUCTIONS) == 0)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "--skip counts instructions, which a trace imported "
                          "from %s does not have: leave it away",
                          m->imported);
    return 0;
}

/* Finds the machine and its parameters, and what of the report and the session
 * follows from the request. */
static int
prepare(const struct count_request *r, struct job *job)
{
    struct measured *const m = &job->measured;
    const bool talks = !r->quiet && count_request_talks(r);
    int error = measured_choose(m, r->machine, &r->model, talks);

    if (error == 0)
        error = capture_check_machine(&r->capture, m->machine, &command_log);
    if (error == 0)
        error = check_imported(r, m);
    if (error != 0)
        return error;
    const struct machine_row *const machine = m->machine;
    const unsigned idle = idle_place(r, job->measured.params);
    if (count_request_talks(r))
        say_idle_place(idle, machine, m->params);
    const struct isa *const isa = m->program.isa;
    const char *cpu = r->model.launch.cpu ? r->model.launch.cpu : isa->cpu;
    job->counting.report = (struct count_report){
        .machine = machine,
        .params = m->params,
        .isa = isa->name,
        .imported = measured_imported(m),
        .no_instructions = (m->feeds & FEED_INSTRUCTIONS) == 0,
        .cpu = cpu,
        .cpu_name = r->model.launch.cpu ? cpu : isa->cpu_name,
        .foreign = m->foreign,
        .accounting = r->accounting,
        .per_thread = r->per_thread,
        .per_process = r->per_process,
        .has_span = r->from || r->to || r->skip || r->filter_count > 0,
        .scope = {r->from, r->to, r->skip, r->filters, r->filter_count, NULL,
                  0},
        .color = count_request_color(r),
        .plain = r->plain,
        .metric_only = r->metric_only,
        .no_host_fields = r->no_host_fields,
        .capture = capture_wanted(&r->capture) ? &r->capture : NULL,
        .calibrated = machine->reads_host ? m->origin.calibrated : NULL,
        .core = m->origin.core,
        .no_core = m->origin.no_core,
    };
    list_settings(r, idle, job);
    job->session = (struct session_options){
        .machine = machine,
        .params = m->params,
        .feeds = m->feeds,
        .from = r->from,
        .to = r->to,
        .skip = r->skip,
        .mpi = r->mpi,
        .interval_ms = r->interval_ms,
        .filters = r->filters,
        .filter_count = r->filter_count,
        .launch = r->model.launch,
        .capture = capture_wanted(&r->capture) ? &r->capture : NULL,
        .progress = isatty(STDERR_FILENO) && !r->quiet && !r->mpi
                        ? show_progress
                        : NULL,
        .stuck = stuck_say,
        .stuck_user = &job->stuck,
    };
    job->stuck.shows_progress = job->session.progress != NULL;
    return 0;
}

/* Returns whether --hardware leaves the event out of `all` and of the events
 * counted by default. */
static bool
has_no_counter(const struct event_row *event)
{
    const bool masked = event->umask_count != 0 && umask_default(event) == NULL;

    return masked || event->counters == 0 || event->fidelity == FIDELITY_IDLE ||
           strcmp(event->unit, "cpu") != 0;
}

/* Returns whether -d adds the event of this name: the machine has it, and does
 * not count it by the same name already. */
static bool
adds_detail(const struct count_request *r, const struct machine_row *machine,
            const char *name)
{
    const int id = generic_find(name);
    const struct event_row *event =
        id >= 0 ? generic_counted(machine, id) : NULL;

    return event != NULL && !(r->events == NULL && event->by_default &&
                              strcmp(event->name, name) == 0);
}

/* Returns the events that are counted with -d, a list to be freed; NULL: no
 * memory. */
static char *
detailed(const struct count_request *r, const struct machine_row *machine)
{
    char *list = strdup(r->events != NULL ? r->events : "default");

    for (unsigned i = 1; i <= r->detail && i <= DETAIL_MOST; i++) {
        char *const names = strdup(count_detail(i)), *rest = names;
        for (char *name; list != NULL && rest != NULL &&
                         (name = strsep(&rest, ",")) != NULL;) {
            char *longer = NULL;
            if (!adds_detail(r, machine, name))
                continue;
            if (asprintf(&longer, "%s,%s", list, name) < 0)
                longer = NULL;
            free(list);
            list = longer;
        }
        free(names);
    }
    return list;
}

/* Finds the events and metrics to count. */
static int
choose_events(const struct count_request *r, const struct machine_row *machine,
              struct counted *counted)
{
    char *const more = r->detail > 0 ? detailed(r, machine) : NULL;
    const char *events = r->detail > 0 ? more : r->events;
    int error = 0;

    /* What is sampled is counted, where nothing else is asked for. */
    if (events == NULL && r->metrics == NULL && r->detail == 0)
        events = capture_event(&r->capture);

    if (r->detail > 0 && more == NULL)
        error = tally_fail(&command_log, TALLY_ENOMEM, "no memory for -d");
    /* --accounting alone is instead of the events counted by default. */
    else if (events != NULL || r->metrics != NULL || !r->accounting)
        error = counted_choose(machine, events, r->metrics,
                               r->hardware ? has_no_counter : NULL, counted);
    if (error == 0 && r->accounting)
        error = counted_account(machine, counted);
    free(more);
    return error;
}

/* Counts a program on a modelled machine, and returns an exit status. */
static int
count_program(struct count_request *r, char **argv, const char *why_modelled)
{
    struct job *const job = calloc(1, sizeof(*job));

    if (job == NULL)
        return command_no_memory();
    job->counting =
        (struct counting){.request = r, .source = &model_source, .user = job};
    job->why_modelled = why_modelled;
    struct count_report *const report = &job->counting.report;
    struct program *const program = &job->measured.program;
    struct counted counted = {0};
    int status = measured_open_any(&job->measured, argv, &r->model.launch);
    if (status != 0) {
        free(job);
        return status;
    }
    status = EXIT_USAGE;
    int error = prepare(r, job);
    if (error == 0)
        error = choose_events(r, report->machine, &counted);
    if (error == 0)
        error = count_software_check(r, &counted);
    if (error == 0 && r->verbose && count_request_talks(r))
        escape_printf(stderr, "tally: %s on %s\n", program->path,
                      report->machine->name);
    if (error == 0 && r->verbose) {
        /* What can move the counts: in CSV and JSON a part of the report. */
        struct run_parts *const parts = &job->parts;
        run_parts_find(program, &r->model.launch, parts);
        if (r->format != COUNT_TEXT) {
            report->run_parts = parts->line;
            report->run_part_count = parts->count;
        }
        for (size_t i = 0; r->format == COUNT_TEXT && i < parts->count; i++)
            escape_printf(stderr, "tally: run: %s\n", parts->line[i]);
    }
    if (error == 0)
        status = count_events(job, &counted);
    counted_finish(&counted);
    program_close(program);
    free(job);
    return status;
}

/* Returns the option that only a modelled machine understands, or NULL. */
static const char *
model_option(const struct count_request *r)
{
    return r->mpi                        ? "--mpi"
           : r->placed                   ? "--place"
           : r->skip != 0                ? "--skip"
           : r->filter_count != 0        ? "--filter"
           : r->hardware                 ? "--hardware"
           : r->accounting               ? "--accounting"
           : r->per_process              ? "--per-process"
           : capture_wanted(&r->capture) ? capture_option(&r->capture)
                                         : model_options_given(&r->model);
}

/* Returns whether the kernel itself counts each event of the list: software
 * events, and tracepoints where their files can be read. */
static bool
is_of_kernel(const char *list)
{
    const struct tally_log silent = {0};
    struct host_event *events = NULL;
    size_t count = 0;

    if (software_list(list))
        return true;
    if (strchr(list, ':') == NULL) /* no tracepoint */
        return false;
    if (host_event_list_parse(list, &silent, &events, &count) != 0)
        return false;
    bool all = count > 0;
    for (size_t i = 0; i < count; i++)
        all = all && (events[i].attr.type == PERF_TYPE_SOFTWARE ||
                      events[i].attr.type == PERF_TYPE_TRACEPOINT);
    free(events);
    return all;
}

/*
 * Returns whether to count on the host: if that was asked for, or if the
 * program is native and the host's counters work. Where the counters do not
 * work, `reason` says why; otherwise its text stays "".
 */
static bool
counts_on_host(const struct count_request *r, char *const *argv,
               struct host_reason *reason)
{
    struct host_facts facts;

    reason->text[0] = '\0';
    if (r->machine != NULL && machine_find(r->machine) == machine_find("host"))
        return true;
    if (r->machine == NULL && count_host_option(r) != NULL)
        return true;
    if (r->machine != NULL || model_option(r) != NULL ||
        !measured_is_native(argv))
        return false;
    if (r->from != NULL || r->to != NULL) /* of every thread and child */
        return false;
    /* The kernel's own events need no counters, and of the program itself they
     * are worth more than of an emulator. */
    if (r->events != NULL && r->metrics == NULL && r->detail == 0 &&
        is_of_kernel(r->events)) {
        host_facts_find(NULL, -1, &facts);
        if (facts.software_opens)
            return true;
    }
    return host_check(reason) == HOST_OK;
}

/* Counts on the host or on a modelled machine; returns an exit status. */
static int
dispatch(struct count_request *r, char **argv)
{
    struct host_reason reason;
    const bool host = counts_on_host(r, argv, &reason);
    if (host && *argv != NULL && trace_is_trace(*argv)) {
        escape_printf(stderr,
                      "tally count: %s is a trace, which the host's counters "
                      "cannot count: -m names a modelled machine, such as "
                      "host-model\n",
                      *argv);
        return EXIT_USAGE;
    }
    const char *const option = host ? model_option(r) : count_host_option(r);

    if (host && option != NULL) {
        escape_printf(stderr,
                      "tally count: %s is for a modelled machine, not for the "
                      "host's counters\n",
                      option);
        return EXIT_USAGE;
    }
    if (option != NULL) {
        const char *const instead = count_host_instead(option);
        escape_printf(stderr,
                      "tally count: %s is for the host's counters; leave -m %s "
                      "away%s%s\n",
                      option, r->machine, instead != NULL ? ", or " : "",
                      instead != NULL ? instead : "");
        return EXIT_USAGE;
    }
    return host ? count_host(r, *argv != NULL ? argv : NULL)
                : count_program(r, argv, reason.text);
}

/* Counts one rank of --mpi, and returns an exit status. */
static int
dispatch_rank(struct count_request *r, char **argv)
{
    struct count_mpi mpi;
    int status = count_mpi_begin(r, &mpi);

    if (status == 0)
        status = dispatch(r, argv);
    return count_mpi_end(r, &mpi, status);
}

static int
run_count(int argc, char **argv)
{
    struct count_request request;
    int operand = 0;
    int status = count_request_read(argc, argv, &request, &operand);

    if (status == 0)
        status =
            output_spares_program("count", "-o", request.output, argv[operand]);
    if (status == 0)
        status = request.mpi ? dispatch_rank(&request, argv + operand)
                             : dispatch(&request, argv + operand);
    if (status == COMMAND_HELP) {
        command_help(&command_count, stdout);
        status = 0;
    }
    count_request_finish(&request);
    return status;
}

const struct command command_count = {
    .name = "count",
    .alias = "stat",
    .summary = "run a program and count its events",
    .synopsis = "[OPTIONS] [--] PROGRAM [ARGUMENTS]",
    .example =
        "  # Count the default events, on a machine that fits the program.\n"
        "  tally count ./program\n"
        "  # Run it three times; print the mean of a metric and of its "
        "events.\n"
        "  tally count -r 3 -M ipc ./program\n"
        "  # Be a machine of the manuals, and count two of its own events.\n"
        "  tally count -m ultrasparc-t2 -e All_instr,Dcache_misses -- "
        "./bzip2.sparc64 -9k file\n"
        "  # Ask what a larger cache would have done.\n"
        "  tally count -m ultrasparc-t2 -e Dcache_misses --set l1d.size=32K -- "
        "./bzip2.sparc64 -9k file",
    .options = count_options,
    .groups = count_groups,
    .others = perf_stat_options,
    .run = run_count,
};
