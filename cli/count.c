/* SPDX-License-Identifier: MIT */
/* tally count: runs a program and prints what the counters would show. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/around.h"
#include "cli/command.h"
#include "cli/count_host.h"
#include "cli/count_interval.h"
#include "cli/count_request.h"
#include "cli/count_software.h"
#include "cli/counted.h"
#include "cli/illegal.h"
#include "cli/output.h"
#include "cli/run_parts.h"
#include "cli/run_table.h"
#include "host/event.h"
#include "host/open.h"
#include "table/signals.h"
#include "profile/filter.h"
#include "profile/machine_choice.h"
#include "profile/session.h"
#include "report/count_derived.h"
#include "report/count_report.h"
#include "source/plugin_path.h"
#include "table/generic.h"
#include "table/software.h"
#include "table/umask.h"

static int
choose_machine(const struct count_request *r, const struct program *program,
               const struct machine_row **machine, bool *foreign)
{
    const struct machine_row *wanted =
        r->machine != NULL ? machine_find(r->machine) : NULL;

    if (r->machine != NULL && wanted == NULL)
        return machine_unknown(r->machine, &command_log);
    return machine_choose(wanted, program, r->model.foreign, &command_log,
                          machine, foreign);
}

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

static int
write_report(const struct count_request *r, const struct count_report *report,
             FILE *out)
{
    switch (r->format) {
    case COUNT_CSV:
        return report_count_csv(report, r->separator, out);
    case COUNT_JSON:
        return report_count_json(report, out);
    default:
        return report_count_text(report, out);
    }
}

/* Writes the parts of the run that can move counts, of -v, before the first row
 * of CSV and before the intervals of JSON. The one object of other JSON reports
 * has them as a key. */
static int
begin_report(const struct count_request *r, const struct count_report *report,
             FILE *out)
{
    return r->format == COUNT_CSV ? report_begin_csv(report, out)
           : r->format == COUNT_JSON && r->interval_ms != 0
               ? report_begin_json(report, out)
               : 0;
}

struct job {
    const struct count_request *request;
    const struct program *program;
    struct session_options session;
    struct count_report report;
    struct run_table table; /* empty without --table */
    struct count_split split;
    struct hardware hardware; /* zero without --hardware */
    const char *why_modelled; /* why the host does not count, or "" */
    char note[160];
    bool threaded; /* a process had two threads at once, in any run */
    uint64_t params[PARAM_COUNT];
    const char *settings[PARAM_COUNT]; /* that the report names */
};

static uint64_t
run_value(const struct job *job, size_t i, const struct session_result *result)
{
    const size_t place = job->split.place[i];

    if (event_is_lacking(job->report.values[i].event))
        return 0;
    return job->report.values[i].emulator
               ? result->software[place].reading.value
           : job->session.hardware != NULL
               ? hardware_scaled(&job->hardware.readings[place])
               : report_value(&job->report.values[i], &result->totals);
}

/* Means and deviations, by Welford's recurrence. */
static void
add_run(const struct job *job, struct count_value *values, unsigned run,
        const struct session_result *result)
{
    for (size_t i = 0; i < job->report.count; i++) {
        const uint64_t value = run_value(job, i, result);
        const double off = (double)value - values[i].mean;
        values[i].mean += off / run;
        if (values[i].emulator) {
            const size_t place = job->split.place[i];
            count_software_keep(&result->software[place],
                                &job->split.reasons[place], &values[i]);
        } else if (job->request->compare &&
                   !event_is_lacking(values[i].event)) {
            const double exact =
                (double)event_value(values[i].event, &result->totals);
            values[i].exact += (exact - values[i].exact) / run;
            values[i].compared = true;
        }
        /* The sum of squares. */
        values[i].stddev += off * ((double)value - values[i].mean);
        values[i].value = run == 1 ? value : (uint64_t)llround(values[i].mean);
    }
}

/* An event that shared its counter is known for a part of the time. */
static void
set_share(const struct job *job, struct count_value *v, size_t i)
{
    const struct hardware_reading *r =
        &job->hardware.readings[job->split.place[i]];

    v->running = r->enabled == 0
                     ? 0
                     : (uint64_t)((double)v->enabled * (double)r->running /
                                  (double)r->enabled);
    if (r->running < r->enabled && v->fidelity < FIDELITY_ESTIMATED)
        v->fidelity = FIDELITY_ESTIMATED;
    if (r->running == 0 && r->enabled != 0) {
        v->counted = false;
        v->code = "not-counted";
        v->reason = "the program ended before its turn came";
    }
}

static void
finish_runs(const struct job *job, struct count_value *values, double wall_s)
{
    const unsigned runs = job->report.runs;

    for (size_t i = 0; i < job->report.count; i++) {
        values[i].stddev = runs > 1 ? sqrt(values[i].stddev / (runs - 1)) : 0;
        if (values[i].stddev > 0 && values[i].fidelity == FIDELITY_EXACT)
            values[i].fidelity = FIDELITY_VARIES;
        if (event_is_lacking(values[i].event))
            continue;
        values[i].enabled = values[i].running = (uint64_t)(wall_s * 1e9);
        if (job->session.hardware != NULL && !values[i].emulator)
            set_share(job, &values[i], i);
    }
}

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
    job->report.note = job->note;
}

/* Keeps what this run counted, for --table. */
static int
note_run(struct job *job, const struct session_result *result)
{
    struct count_value *values = calloc(job->report.count, sizeof(*values));
    int error = TALLY_ENOMEM;

    if (values != NULL) {
        for (size_t i = 0; i < job->report.count; i++) {
            values[i] = job->report.values[i];
            values[i].value = run_value(job, i, result);
        }
        error = run_table_add(&job->table, result->wall_s, values,
                              job->report.count);
    }
    free(values);
    return error;
}

/* Says once why the host's counters do not count; `why` is "" where a machine
 * was named. CSV and JSON name their machine, so they get no such line. */
static void
say_modelled(const struct count_request *r, const char *why)
{
    if (*why != '\0' && !r->quiet && count_request_talks(r))
        escape_printf(stderr,
                      "tally: %s; so counted on host-model (-m host insists)\n",
                      why);
}

/* Leaves a run that a signal cut short out of the means; `last` is the run
 * before. The status that is reported is that of the cut run. */
static void
leave_out(struct job *job, struct count_value *values, unsigned run,
          struct session_result *cut, struct session_result *last)
{
    job->report.cut_run = run;
    if (run == 1) {
        *last = *cut;
        report_mark_cut(values, job->report.count);
        return;
    }
    last->status = cut->status;
    last->interrupted = true;
    session_result_finish(cut);
}

/* Says that a signal ended a run of -r, whose counts are in the means. */
static void
say_killed(const struct count_request *r, unsigned run, int status)
{
    char text[64];

    if (r->runs < 2 || !WIFSIGNALED(status) || r->quiet ||
        !count_request_talks(r))
        return;
    report_status(status, text, sizeof(text));
    escape_printf(stderr, "tally: run %u was %s; its counts are in the means\n",
                  run, text);
}

static int
run_all(struct job *job, struct count_value *values,
        struct session_result *result, FILE *out)
{
    double mean = 0, squares = 0;

    for (unsigned run = 1; run <= job->request->runs; run++) {
        struct session_result next = {0};
        int error = around_before(job->request);
        if (error == 0 && run == 1)
            say_modelled(job->request, job->why_modelled);
        if (error == 0)
            error =
                session_run(&job->session, job->program, &command_log, &next);
        if (error == 0)
            report_note_standing(&job->report, values, &next);
        job->threaded |= error == 0 && next.together > 1;
        if (error == 0)
            error = around_after(job->request);
        if (error == 0)
            error =
                count_intervals(job->request, &job->report, run, &next, out);
        if (error != 0) {
            session_result_finish(&next);
            return error;
        }
        if (next.interrupted && job->request->runs > 1) {
            leave_out(job, values, run, &next, result);
            break;
        }
        session_result_finish(result);
        *result = next;
        if (child_signals_came(job->session.signals))
            result->interrupted = true;
        add_run(job, values, run, result);
        say_killed(job->request, run, result->status);
        if (job->request->table)
            error = note_run(job, result);
        if (error != 0)
            return error;
        const double off = result->wall_s - mean;
        mean += off / run;
        squares += off * (result->wall_s - mean);
        job->report.runs = run;
        if (result->interrupted)
            break;
    }
    finish_runs(job, values, mean);
    if (job->session.hardware != NULL)
        note_hardware(job);
    job->report.table = job->table.runs;
    job->report.wall_s = job->report.runs > 0 ? mean : result->wall_s;
    job->report.wall_stddev =
        job->report.runs > 1 ? sqrt(squares / (job->report.runs - 1)) : 0;
    return 0;
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
    struct count_scope *const scope = &job->report.scope;

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
    const struct count_request *r = job->request;
    const unsigned before = idle_place(r, job->params);

    if (job->threaded || !(r->placed & PLACED_THREADS & ~before))
        return;
    job->report.scope.set_count = 0;
    list_settings(r, before | PLACED_THREADS, job);
    if (count_request_talks(r) && !r->quiet)
        fprintf(stderr, "tally: --place has no effect on threads: the program "
                        "had one at a time\n");
}

static int
run_and_report(struct job *job, struct count_value *values)
{
    const struct count_request *r = job->request;
    struct session_result result = {0};
    struct child_signals signals;
    struct count_illegal illegal;
    struct output out;
    const int opened =
        r->log_fd != 0
            ? output_open_descriptor(r->log_fd, &out)
            : output_open(r->output, r->append ? REPLACE_APPEND : REPLACE_WHOLE,
                          &out);

    if (opened != 0)
        return opened;
    child_signals_hold(&signals);
    job->session.signals = &signals;
    int error = begin_report(r, &job->report, out.file);
    if (error == 0)
        error = run_all(job, values, &result, out.file);
    if (job->session.progress != NULL)
        fprintf(stderr, "\r\033[K");
    if (error == 0 && !result.started)
        error = tally_fail(&command_log, TALLY_EQEMU,
                           "%s: QEMU could not start it", job->program->path);
    job->report.last = &result;
    if (error == 0)
        drop_idle_threads(job);
    if (error == 0 && illegal_explain(&result, job->program->isa,
                                      job->request->model.launch.cpu, &illegal))
        job->report.illegal = &illegal;
    /* Of documents, each interval is one. */
    job->report.summary = r->interval_ms != 0 && r->format != COUNT_TEXT;
    if (error == 0 && (!job->report.summary || r->summary)) {
        /* A report that nobody reads waits for ever: a signal may end it. */
        child_signals_free(&signals);
        error = write_report(job->request, &job->report, out.file);
    }
    const int closed = output_close(&out, error == 0);
    if (error == TALLY_EIO || closed != 0)
        command_unwritten("report");
    const int status = error == TALLY_EUNKNOWN || error == TALLY_ESYNTAX ||
                               error == TALLY_ERANGE
                           ? EXIT_USAGE
                       : error != 0 || closed != 0
                           ? EXIT_OURS
                           : command_status(result.status);
    child_signals_free(&signals);
    session_result_finish(&result);
    return status;
}

static int
start_hardware(struct job *job, size_t left_out)
{
    if (!job->request->hardware)
        return 0;
    const int error =
        hardware_init(&job->hardware, job->report.machine, job->session.events,
                      job->session.event_count, &command_log);
    if (error != 0)
        return error;
    job->session.hardware = &job->hardware;
    if (left_out > 0 && count_request_talks(job->request))
        fprintf(stderr,
                "tally: --hardware leaves %zu events out of all: no counter of "
                "a strand has them, or the model never raises them\n",
                left_out);
    return 0;
}

/* Returns what the machine calls the event: of a sum, its terms. */
static const char *
own_name(const struct machine_row *machine, const struct event_row *event)
{
    const int sum = generic_sum(machine, event);

    return sum >= 0 ? machine->generics[sum].own : event->name;
}

/* Returns the report's value of a generic name that the machine lacks. */
static struct count_value
lacking_value(const struct machine_row *machine, const struct event_row *event)
{
    return (struct count_value){
        .name = event->name,
        .unit = "",
        .reason = generic_lacking_reason(machine, event),
        .code = host_why_name(HOST_UNSUPPORTED),
        .event = event,
        .fidelity = FIDELITY_IDLE,
        .scale = 1,
    };
}

static void
set_value(const struct job *job, const struct event_row *event,
          struct count_value *value)
{
    const char *lacks = NULL;

    if (event_is_lacking(event)) {
        *value = lacking_value(job->report.machine, event);
        return;
    }
    if (event_is_software(event)) {
        *value = count_software_value(event);
        return;
    }
    lacks = event_lacks(event, job->params);
    if (lacks == NULL)
        lacks = capture_lacks(event, &job->request->capture);
    if (lacks == NULL)
        lacks = filter_lacks(event, filter_data(job->request->filters,
                                                job->request->filter_count));

    *value = (struct count_value){
        .name = own_name(job->report.machine, event),
        .unit = "",
        .reason = lacks != NULL ? lacks : event->reason,
        .event = event,
        .fidelity = lacks != NULL ? FIDELITY_IDLE
                                  : report_fidelity(&job->report, event),
        .counted = true,
        .scale = 1,
    };
}

static int
count_events(struct job *job, const struct counted *c)
{
    struct count_value *values = calloc(c->count, sizeof(*values));
    char *text = command_text(job->program->argv);
    int status = EXIT_OURS;

    if (values == NULL || text == NULL || count_split(c, &job->split) != 0) {
        command_no_memory();
    } else {
        for (size_t i = 0; i < c->count; i++) {
            set_value(job, c->events[i], &values[i]);
            values[i].asked =
                i < c->asked_count ? c->asked[i] : c->events[i]->name;
        }
        job->session.events =
            (const struct event_row *const *)job->split.modelled;
        job->session.event_count = job->split.modelled_count;
        job->session.software =
            (const struct event_row *const *)job->split.software;
        job->session.software_count = job->split.software_count;
        job->report.values = values;
        job->report.count = c->count;
        job->report.hidden = c->hidden;
        job->report.metrics = (const struct metric_row *const *)c->metrics;
        job->report.metrics_asked = (const char *const *)c->metrics_asked;
        job->report.metric_count = c->metric_count;
        job->report.program = text;
        status = start_hardware(job, c->left_out) == 0
                     ? run_and_report(job, values)
                     : EXIT_USAGE;
        bool all = !job->report.partial;
        for (size_t i = 0; i < c->count; i++)
            all = all && values[i].counted;
        status = count_request_strict(job->request, status, all);
    }
    hardware_finish(&job->hardware);
    run_table_finish(&job->table);
    count_split_finish(&job->split);
    free(values);
    free(text);
    return status;
}

static int
prepare(const struct count_request *r, const struct program *program,
        struct job *job)
{
    const struct machine_row *machine = NULL;
    bool foreign = false;
    int error = choose_machine(r, program, &machine, &foreign);

    if (error == 0)
        error =
            illegal_check_level(program, !r->quiet && count_request_talks(r));
    if (error == 0)
        error = launch_check(&r->model.launch, program->isa, &command_log);
    if (error == 0 && !r->quiet && count_request_talks(r))
        model_options_say_settings(&r->model);
    if (error == 0)
        error = machine_params(machine, r->model.sets, r->model.set_count,
                               &command_log, job->params);
    if (error != 0)
        return error;
    if (capture_wanted(&r->capture) && machine->family != FAMILY_MONTECITO)
        return tally_fail(&command_log, TALLY_ERANGE,
                          "%s has no event address registers and no trace "
                          "buffer; -m montecito has",
                          machine->name);
    const unsigned idle = idle_place(r, job->params);
    if (count_request_talks(r))
        say_idle_place(idle, machine, job->params);
    const char *cpu =
        r->model.launch.cpu ? r->model.launch.cpu : program->isa->cpu;
    job->report = (struct count_report){
        .machine = machine,
        .params = job->params,
        .isa = program->isa->name,
        .cpu = cpu,
        .cpu_name = r->model.launch.cpu ? cpu : program->isa->cpu_name,
        .foreign = foreign,
        .accounting = r->accounting,
        .runs_asked = r->runs,
        .per_thread = r->per_thread,
        .per_process = r->per_process,
        .has_span = r->from || r->to || r->skip || r->filter_count > 0,
        .scope = {r->from, r->to, r->skip, r->filters, r->filter_count, NULL,
                  0},
        .color = count_request_color(r),
        .plain = r->plain,
        .metric_only = r->metric_only,
        .capture = capture_wanted(&r->capture) ? &r->capture : NULL,
    };
    list_settings(r, idle, job);
    job->session = (struct session_options){
        .machine = machine,
        .params = job->params,
        .from = r->from,
        .to = r->to,
        .skip = r->skip,
        .interval_ms = r->interval_ms,
        .filters = r->filters,
        .filter_count = r->filter_count,
        .launch = r->model.launch,
        .capture = capture_wanted(&r->capture) ? &r->capture : NULL,
        .progress = isatty(STDERR_FILENO) && !r->quiet ? show_progress : NULL,
    };
    return 0;
}

/* What --hardware leaves out of `all` and of what is counted by default. */
static bool
has_no_counter(const struct event_row *event)
{
    const bool masked = event->umask_count != 0 && umask_default(event) == NULL;

    return masked || event->counters == 0 || event->fidelity == FIDELITY_IDLE ||
           strcmp(event->unit, "cpu") != 0;
}

/* What is sampled, where nothing else is asked for. */
static const char *
events_wanted(const struct count_request *r)
{
    return r->events == NULL && r->metrics == NULL ? capture_event(&r->capture)
                                                   : r->events;
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

static int
choose_events(const struct count_request *r, const struct machine_row *machine,
              struct counted *counted)
{
    char *const more = r->detail > 0 ? detailed(r, machine) : NULL;
    const char *events = r->detail > 0 ? more : events_wanted(r);
    int error = 0;

    if (r->detail > 0 && more == NULL)
        error = tally_fail(&command_log, TALLY_ENOMEM, "no memory for -d");
    /* Instead of the events counted by default. */
    else if (events != NULL || r->metrics != NULL || !r->accounting)
        error = counted_choose(machine, events, r->metrics,
                               r->hardware ? has_no_counter : NULL, counted);
    if (error == 0 && r->accounting)
        error = counted_account(machine, counted);
    free(more);
    return error;
}

/* Says what can move the counts: of text before the run on stderr, in CSV and
 * JSON in the report. */
static void
show_run_parts(struct job *job, struct run_parts *parts)
{
    run_parts_find(job->program, &job->request->model.launch, parts);
    if (job->request->format != COUNT_TEXT) {
        job->report.run_parts = parts->line;
        job->report.run_part_count = parts->count;
        return;
    }
    for (size_t i = 0; i < parts->count; i++)
        escape_printf(stderr, "tally: run: %s\n", parts->line[i]);
}

static int
count_program(struct count_request *r, char **argv, const char *why_modelled)
{
    struct run_parts parts;
    struct job job = {.request = r, .why_modelled = why_modelled};
    struct program program;
    struct counted counted = {0};
    char plugin[PATH_MAX];
    int status = EXIT_USAGE;

    if (plugin_find(&command_log, plugin, sizeof(plugin)) != 0)
        return EXIT_OURS;
    r->model.launch.plugin = plugin;
    const int opened = program_open(argv, &command_log, &program);
    if (opened != 0)
        return program.missing         ? EXIT_MISSING
               : opened == TALLY_EARCH ? EXIT_USAGE
                                       : EXIT_CANNOT;
    job.program = &program;
    int error = prepare(r, &program, &job);
    if (error == 0)
        error = choose_events(r, job.report.machine, &counted);
    if (error == 0)
        error = count_software_check(r, &counted);
    if (error == 0 && r->verbose && count_request_talks(r))
        escape_printf(stderr, "tally: %s on %s\n", program.path,
                      job.report.machine->name);
    if (error == 0 && r->verbose)
        show_run_parts(&job, &parts);
    if (error == 0)
        status = count_events(&job, &counted);
    counted_finish(&counted);
    program_close(&program);
    return status;
}

static bool
names_host(const struct count_request *r)
{
    const struct machine_row *m =
        r->machine != NULL ? machine_find(r->machine) : NULL;

    return m != NULL && m == machine_find("host");
}

/* Options that only a modelled machine understands. */
static const char *
model_option(const struct count_request *r)
{
    return r->placed                     ? "--place"
           : r->skip != 0                ? "--skip"
           : r->filter_count != 0        ? "--filter"
           : r->hardware                 ? "--hardware"
           : r->accounting               ? "--accounting"
           : r->per_process              ? "--per-process"
           : capture_wanted(&r->capture) ? capture_option(&r->capture)
                                         : model_options_given(&r->model);
}

/* A program of this computer's own kind. */
static bool
is_native(char *const *argv)
{
    const struct tally_log silent = {0};
    struct program program;
    struct utsname name;
    bool native = false;

    if (program_open(argv, &silent, &program) == 0) {
        native =
            uname(&name) == 0 && strcmp(program.isa->name, name.machine) == 0;
        program_close(&program);
    }
    return native;
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

/* Returns whether only the kernel's events are asked for, and it gives them:
 * they need no counters, and of the program itself they are worth more than of
 * an emulator. */
static bool
kernel_suffices(const struct count_request *r)
{
    struct host_facts facts;

    if (r->events == NULL || r->metrics != NULL || r->detail > 0 ||
        !is_of_kernel(r->events))
        return false;
    host_facts_find(NULL, -1, &facts);
    return facts.software_opens;
}

/*
 * Returns whether to count on the host: if that was asked for, or if the
 * program is native and the host's counters work. Where they do not work,
 * `reason` says why; otherwise its text stays "".
 */
static bool
counts_on_host(const struct count_request *r, char *const *argv,
               struct host_reason *reason)
{
    reason->text[0] = '\0';
    if (names_host(r) || (r->machine == NULL && count_host_option(r) != NULL))
        return true;
    if (r->machine != NULL || model_option(r) != NULL || !is_native(argv))
        return false;
    if (r->from != NULL || r->to != NULL) /* of every thread and child */
        return false;
    return kernel_suffices(r) || host_check(reason) == HOST_OK;
}

static int
dispatch(struct count_request *r, char **argv)
{
    struct host_reason reason;

    if (counts_on_host(r, argv, &reason)) {
        if (model_option(r) != NULL) {
            escape_printf(
                stderr,
                "tally count: %s is for a modelled machine, not for the "
                "host's counters\n",
                model_option(r));
            return EXIT_USAGE;
        }
        return count_host(r, *argv != NULL ? argv : NULL);
    }
    const char *const option = count_host_option(r);
    if (option != NULL) {
        const char *const instead = count_host_instead(option);
        escape_printf(stderr,
                      "tally count: %s is for the host's counters; leave -m %s "
                      "away%s%s\n",
                      option, r->machine, instead != NULL ? ", or " : "",
                      instead != NULL ? instead : "");
        return EXIT_USAGE;
    }
    return count_program(r, argv, reason.text);
}

static int
run_count(int argc, char **argv)
{
    struct count_request request;
    int operand = 0;
    int status = count_request_read(argc, argv, &request, &operand);

    if (status == 0)
        status = dispatch(&request, argv + operand);
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
