/* SPDX-License-Identifier: MIT */
#include "cli/count_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/count_runs.h"
#include "cli/counted.h"
#include "cli/host_events.h"
#include "cli/host_opened.h"
#include "cli/host_probes.h"
#include "cli/host_targets.h"
#include "cli/measured.h"
#include "host/count.h"
#include "report/count_derived.h"
#include "report/count_report.h"
#include "table/generic.h"
#include "table/metric.h"

#define METRIC_EVENTS_MAX 32

/* What perf stat counts without -e. */
#define DEFAULT_EVENTS                                               \
    "task-clock,context-switches,cpu-migrations,page-faults,cycles," \
    "instructions,branches,branch-misses"

struct host_job {
    struct counting counting;
    const struct count_request *r;
    const struct machine_row *machine;
    char **argv; /* the program, or NULL */
    struct host_event *events;
    size_t count;
    struct metric_list metrics;
    struct host_targets targets;
    struct host_marks marks; /* --from and --to */
    char note[512];
    char *target, *command;          /* what is counted, as text; or NULL */
    struct host_reason *reasons;     /* of events that some run did not count */
    struct host_count_result result; /* of the last run */
    struct session_result session;   /* the same, for the report */
    struct count_part *parts;        /* of the last run, or NULL */
    int write_error; /* errno of an interval that could not be written */
    unsigned run;    /* of several, from 1 */
    bool user_only;  /* perf_event_paranoid allows no count of the kernel */
    bool told;       /* how the events were opened: once for all runs */
};

const char *
count_host_option(const struct count_request *r)
{
    static const char *const shown[] = {
        [AGGREGATE_CPU] = "-A",          [AGGREGATE_CORE] = "--per-core",
        [AGGREGATE_DIE] = "--per-die",   [AGGREGATE_SOCKET] = "--per-socket",
        [AGGREGATE_NODE] = "--per-node",
    };

    return r->pids != NULL          ? "-p"
           : r->tids != NULL        ? "-t"
           : r->all_cpus            ? "-a"
           : r->cpus != NULL        ? "-C"
           : r->interval_count != 0 ? "--interval-count"
           : r->interval_clear      ? "--interval-clear"
           : r->timeout_ms != 0     ? "--timeout"
           : r->delay_ms != 0       ? "-D"
           : r->no_inherit          ? "-i"
           : r->only_kernel         ? "--all-kernel"
           : r->null                ? "-n"
                                    : shown[r->aggregate];
}

const char *
count_host_instead(const char *option)
{
    static const struct {
        const char *option, *instead;
    } rows[] = {
        {"-p", "start the program under tally"},
        {"-t", "start the program under tally"},
        {"-n", "take time(1)"},
        {"-D", "begin with --skip or --from"},
        {"--timeout", "put timeout(1) before tally"},
        {"--interval-count", "take -I alone"},
        {"--interval-clear", "take -I alone"},
        {"-A", "take --per-thread"},
        {"--per-core", "take --per-thread"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (strcmp(rows[i].option, option) == 0)
            return rows[i].instead;
    return NULL;
}

struct adding {
    struct host_job *job;
    char **list;
};

/* Adds the metric, and the names of the events that the metric needs. */
static int
add_metric(void *user, const struct metric_row *metric, const char *asked)
{
    const struct adding *a = user;
    struct host_job *job = a->job;
    struct selection rows[METRIC_EVENTS_MAX];
    const size_t count =
        metric_events(job->machine, metric, rows, METRIC_EVENTS_MAX);
    int error = 0;

    for (size_t i = 0; i < count && error == 0; i++)
        error = command_join(a->list, rows[i].event->name);
    return error != 0 ? error : metric_list_add(&job->metrics, metric, asked);
}

/* Drops events of metrics, which stand behind the first `asked` events, where
 * the same event stands before. An event that was asked for twice keeps two
 * rows, as perf stat has. */
static void
drop_doubles(struct host_job *job, size_t asked)
{
    size_t kept = asked;

    for (size_t i = asked; i < job->count; i++) {
        const struct host_event *e = &job->events[i];
        struct host_event *same = NULL;
        for (size_t k = 0; k < kept && e->group < 0 && same == NULL; k++)
            if (strcmp(job->events[k].name, e->name) == 0 &&
                strcmp(job->events[k].pmu, e->pmu) == 0)
                same = &job->events[k];
        if (same == NULL)
            job->events[kept++] = *e;
        else if (same->row == NULL) /* -e cpu_core/cycles/, of no catalogue */
            same->row = e->row;
    }
    job->count = kept;
}

/* Finds the events and metrics to count. */
static int
choose_events(struct host_job *job)
{
    const struct count_request *r = job->r;
    char *list = NULL;
    size_t asked = 0;
    const struct adding adding = {job, &list};
    bool any = false;
    int error = 0;

    if (r->null)
        return 0;
    if (r->events != NULL)
        error = command_join(&list, r->events);
    else if (r->metrics == NULL || r->detail > 0)
        error = command_join(&list, DEFAULT_EVENTS);
    for (unsigned i = 1; i <= r->detail && i <= DETAIL_MOST && error == 0; i++)
        error = command_join(&list, count_detail(i));
    if (error == 0 && r->metrics != NULL && list != NULL) {
        /* How many events the names stand for, before those of metrics. */
        struct host_event *events = NULL;
        error = host_event_list_wanted(list, &command_log, &events, &asked);
        free(events);
    }
    if (error == 0 && r->metrics != NULL)
        error = metric_list_wanted(job->machine, r->metrics, &command_log,
                                   add_metric, (void *)&adding);
    if (error == 0 && list != NULL)
        error = host_event_list_wanted(list, &command_log, &job->events,
                                       &job->count);
    free(list);
    if (error != 0)
        return error;
    for (size_t i = 0; i < job->count; i++)
        any = any || host_event_lacks(&job->events[i]) == NULL;
    error =
        counted_any(job->machine, any,
                    job->count > 0 ? job->events[0].row : NULL, &job->metrics);
    if (error != 0)
        return error;
    drop_doubles(job, r->metrics == NULL ? job->count : asked);
    /* As perf does: --all-user and --all-kernel win over letters. */
    for (size_t i = 0; i < job->count; i++) {
        struct perf_event_attr *const attr = &job->events[i].attr;
        if (r->only_kernel) {
            attr->exclude_kernel = attr->exclude_hv = 0;
            attr->exclude_user = 1;
        }
        if (r->only_user) {
            attr->exclude_kernel = attr->exclude_hv = 1;
            attr->exclude_user = 0;
        }
    }
    return 0;
}

/* Writes an interval while the program runs. */
static void
print_interval(void *user, const struct host_counts *counts)
{
    struct host_job *job = user;
    FILE *const out = job->counting.out.file;
    struct count_value *values = calloc(job->count, sizeof(*values));
    const struct session_result nothing = {0};
    struct count_report report = job->counting.report;

    if (values == NULL || job->write_error != 0) {
        job->write_error = values == NULL ? ENOMEM : job->write_error;
        free(values);
        return;
    }
    for (size_t i = 0; i < job->count; i++)
        values[i] = host_event_value(&job->events[i], &counts->values[i]);
    struct count_part *parts =
        host_parts(job->r, job->events, job->count, counts, host_event_value,
                   &report.part_count);
    report.count = report.part_count == 0
                       ? host_units_fold(job->events, values, job->count)
                       : job->count;
    report.program = "";
    report.target = NULL;
    report.values = values;
    report.runs = 1;
    report.runs_asked = 0;
    report.table = NULL;
    report.at_s = counts->at_s;
    report.run = job->r->runs > 1 ? job->run : 0;
    report.last = &nothing;
    report.wall_s = counts->length_s;
    report.parts = parts;
    if (job->r->interval_clear)
        fputs("\033[H\033[2J", out);
    errno = 0;
    if (count_write_interval(job->r, &report, out) != 0)
        job->write_error = errno != 0 ? errno : EIO;
    host_parts_free(parts, report.part_count);
    free(values);
}

/* Says once how the events were opened. */
static void
print_opened(void *user, const struct host_counts *counts)
{
    struct host_job *job = user;

    if (!job->told)
        host_opened_print(job->events,
                          !job->r->no_inherit && !job->marks.wanted, counts,
                          stderr);
    job->told = true;
}

/* Runs the program once, as count_runs() asks for. */
static int
run_host(void *user, unsigned run, struct count_value *values,
         struct count_end *end)
{
    struct host_job *job = user;
    const struct count_request *r = job->r;
    const struct host_count_options o = {
        .signals = &job->counting.signals,
        .events = job->events,
        .event_count = job->count,
        .argv = job->argv,
        .pids = job->targets.pids,
        .pid_count = job->targets.pid_count,
        .tids = job->targets.tids,
        .tid_count = job->targets.tid_count,
        .cpus = job->targets.whole_cpus ? &job->targets.cpus : NULL,
        .probes = job->marks.wanted ? &job->marks.probes : NULL,
        .no_inherit = r->no_inherit,
        .delay_s = (double)r->delay_ms * 1e-3,
        .timeout_s = (double)r->timeout_ms * 1e-3,
        .interval_s = (double)r->interval_ms * 1e-3,
        .interval_count = r->interval_count,
        .opened = count_request_talks(r) && r->verbose ? print_opened : NULL,
        .interval = r->interval_ms != 0 ? print_interval : NULL,
        .user = job,
    };
    struct host_count_result *const result = &job->result;

    host_count_result_finish(result);
    *result = (struct host_count_result){0};
    job->run = run;
    if (host_count(&o, &command_log, result) != 0)
        return EXIT_OURS;
    if (result->exec_error != 0)
        return exec_status("count", result->exec_error, job->argv);
    *end = (struct count_end){.wall_s = result->wall_s,
                              .status = result->status,
                              .interrupted = result->interrupted};
    for (size_t i = 0; i < job->count; i++) {
        struct host_reason *const kept = &job->reasons[i];
        values[i] =
            host_event_value(&job->events[i], &result->counts.values[i]);
        if (values[i].counted)
            continue;
        /* The texts of the first reason outlive the run. */
        if (kept->text[0] == '\0') {
            snprintf(kept->text, sizeof(kept->text), "%s", values[i].reason);
            snprintf(kept->mend, sizeof(kept->mend), "%s",
                     values[i].mend != NULL ? values[i].mend : "");
        }
        values[i].reason = kept->text;
        values[i].mend = kept->mend;
    }
    return 0;
}

/* Makes one value of several units of one name, as count_runs() asks for. */
static size_t
fold_host(void *user, struct count_value *values)
{
    const struct host_job *job = user;
    const bool parts =
        job->r->aggregate != AGGREGATE_NONE || job->r->per_thread;

    return parts ? job->count
                 : host_units_fold(job->events, values, job->count);
}

/* Completes the report after the last run, as count_runs() asks for. */
static int
finish_host(void *user)
{
    struct host_job *job = user;
    struct count_report *const report = &job->counting.report;

    if (job->write_error != 0) {
        errno = job->write_error;
        return TALLY_EIO;
    }
    job->session = (struct session_result){
        .status = job->result.status,
        .user_s = job->result.user_s,
        .sys_s = job->result.sys_s,
        .interrupted = job->counting.end.interrupted,
        .started = true,
    };
    report->last = &job->session;
    if (job->marks.wanted) {
        host_marks_note(&job->marks, &job->result, job->note,
                        sizeof(job->note));
        report->note = job->note;
    }
    /* The parts are of the last run, which may be the one that is left out. */
    if (report->cut_run == 0)
        job->parts =
            host_parts(job->r, job->events, job->count, &job->result.counts,
                       host_event_value, &report->part_count);
    report->parts = job->parts;
    if (report->part_count == 0)
        report->count =
            host_units_fold(job->events, job->counting.values, job->count);
    return 0;
}

static const struct count_source host_source = {
    .run = run_host,
    .finish = finish_host,
    .fold = fold_host,
    .follows = true,
};

/* Counts the events, and returns an exit status. */
static int
count_events(struct host_job *job)
{
    int status = EXIT_OURS;

    job->command = job->argv != NULL ? command_text(job->argv) : NULL;
    job->target = host_targets_text(job->r);
    const char *program = job->argv != NULL ? job->command : job->target;
    job->counting.report = (struct count_report){
        .machine = job->machine,
        .program = program != NULL ? program : "",
        .target = job->target,
        .count = job->count,
        .metrics = job->metrics.rows,
        .metrics_asked = (const char *const *)job->metrics.asked,
        .metric_count = job->metrics.count,
        .attached = job->argv == NULL,
        .scope = {.from = job->r->from, .to = job->r->to},
        .note = job->user_only ? "what ends in :u is of user level alone, as "
                                 "perf_event_paranoid wants it"
                               : NULL,
        .color = count_request_color(job->r),
        .plain = job->r->plain,
        .metric_only = job->r->metric_only,
    };
    job->reasons = calloc(job->count, sizeof(*job->reasons));
    if (job->reasons == NULL)
        command_no_memory();
    else
        status = count_runs(&job->counting);
    host_parts_free(job->parts, job->counting.report.part_count);
    host_count_result_finish(&job->result);
    free(job->reasons);
    free(job->command);
    free(job->target);
    return status;
}

int
count_host(const struct count_request *r, char **argv)
{
    struct host_job job = {
        .counting = {.request = r, .source = &host_source, .user = &job},
        .r = r,
        .machine = machine_find("host"),
        .argv = argv,
    };
    int status = host_targets_find(r, &job.targets);

    if (status == 0)
        status = host_marks_find(r, argv, &job.marks);
    if (status == 0) {
        const int error = choose_events(&job);
        if (error == 0 && !job.targets.whole_cpus)
            job.user_only = host_events_fall_back(job.events, job.count);
        status = error == TALLY_ENOMEM ? EXIT_OURS
                 : error != 0          ? EXIT_USAGE
                                       : count_events(&job);
    }
    host_targets_finish(&job.targets);
    host_marks_finish(&job.marks);
    free(job.events);
    metric_list_finish(&job.metrics);
    return status;
}
