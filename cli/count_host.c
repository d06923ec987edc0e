/* SPDX-License-Identifier: MIT */
#include "cli/count_host.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cli/around.h"
#include "cli/exec_status.h"
#include "cli/host_events.h"
#include "cli/host_opened.h"
#include "cli/host_probes.h"
#include "cli/host_targets.h"
#include "cli/output.h"
#include "cli/run_table.h"
#include "host/child.h"
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
    const struct count_request *r;
    const struct machine_row *machine;
    struct host_event *events;
    size_t count;
    const struct metric_row **metrics;
    char **metrics_asked; /* their names as they were asked for */
    size_t metric_count;
    struct host_targets targets;
    struct host_marks marks; /* --from and --to */
    char note[512];
    struct run_table table;      /* empty without --table */
    struct host_reason *reasons; /* of events that some run did not count */
    struct output out;
    struct child_signals signals;
    int write_error; /* errno of an interval that could not be written */
    unsigned run;    /* of several, from 1 */
    bool attached;   /* nothing is run */
    bool user_only;  /* the kernel's part was not to be had */
    bool reported;   /* the whole report is written */
    bool failed;     /* an event was not counted */
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

/* Adds the metric, and the events that it needs, unless the list names them
 * already. */
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
    const struct metric_row **metrics =
        reallocarray(job->metrics, job->metric_count + 1, sizeof(*metrics));
    if (metrics == NULL)
        return TALLY_ENOMEM;
    job->metrics = metrics;
    char **names =
        reallocarray(job->metrics_asked, job->metric_count + 1, sizeof(*names));
    if (names == NULL)
        return TALLY_ENOMEM;
    job->metrics_asked = names;
    names[job->metric_count] = strdup(asked);
    if (names[job->metric_count] == NULL)
        return TALLY_ENOMEM;
    job->metrics[job->metric_count++] = metric;
    return error;
}

/* The first of the same name that stands before it, or NULL. */
static struct host_event *
earlier(struct host_event *events, size_t before, const struct host_event *e)
{
    for (size_t k = 0; k < before && e->group < 0; k++)
        if (strcmp(events[k].name, e->name) == 0 &&
            strcmp(events[k].pmu, e->pmu) == 0)
            return &events[k];
    return NULL;
}

/* Events of metrics, which stand behind the first `asked` ones, are counted
 * once. An event that was asked for twice has two rows, as perf stat has. */
static void
drop_doubles(struct host_job *job, size_t asked)
{
    size_t kept = asked;

    for (size_t i = asked; i < job->count; i++) {
        const struct host_event *e = &job->events[i];
        struct host_event *same = earlier(job->events, kept, e);
        if (same == NULL)
            job->events[kept++] = *e;
        else if (same->row == NULL) /* -e cpu_core/cycles/, of no catalogue */
            same->row = e->row;
    }
    job->count = kept;
}

/* As perf does: --all-user and --all-kernel win over letters. */
static void
limit_mode(const struct count_request *r, struct perf_event_attr *attr)
{
    if (r->only_kernel) {
        attr->exclude_kernel = attr->exclude_hv = 0;
        attr->exclude_user = 1;
    }
    if (r->only_user) {
        attr->exclude_kernel = attr->exclude_hv = 1;
        attr->exclude_user = 0;
    }
}

/* Counts the events that the list, which may be NULL, stands for. */
static int
count_names(const char *list, size_t *count)
{
    struct host_event *events = NULL;
    const int error = list != NULL ? host_event_list_wanted(list, &command_log,
                                                            &events, count)
                                   : 0;

    free(events);
    return error;
}

/* Refuses lists of which the kernel has nothing. */
static int
check_any(const struct host_job *job)
{
    bool any = job->count + job->metric_count == 0;
    const struct event_row *first = job->count > 0 ? job->events[0].row : NULL;

    for (size_t i = 0; i < job->count; i++)
        any = any || host_event_lacks(&job->events[i]) == NULL;
    for (size_t i = 0; i < job->metric_count; i++)
        any = any || !metric_is_lacking(job->metrics[i]);
    return any ? 0
           : first != NULL
               ? generic_lacking(job->machine, first->name, &command_log)
               : generic_metric_lacking(job->machine, job->metrics[0]->name,
                                        &command_log);
}

static int
choose_events(struct host_job *job)
{
    const struct count_request *r = job->r;
    char *list = NULL;
    size_t asked = 0;
    const struct adding adding = {job, &list};
    int error = 0;

    if (r->null)
        return 0;
    if (r->events != NULL)
        error = command_join(&list, r->events);
    else if (r->metrics == NULL || r->detail > 0)
        error = command_join(&list, DEFAULT_EVENTS);
    for (unsigned i = 1; i <= r->detail && i <= DETAIL_MOST && error == 0; i++)
        error = command_join(&list, count_detail(i));
    if (error == 0 && r->metrics != NULL)
        error = count_names(list, &asked);
    if (error == 0 && r->metrics != NULL)
        error = metric_list_wanted(job->machine, r->metrics, &command_log,
                                   add_metric, (void *)&adding);
    if (error == 0 && list != NULL)
        error = host_event_list_wanted(list, &command_log, &job->events,
                                       &job->count);
    free(list);
    if (r->metrics == NULL)
        asked = job->count;
    if (error == 0)
        error = check_any(job);
    if (error == 0)
        drop_doubles(job, asked);
    for (size_t i = 0; error == 0 && i < job->count; i++)
        limit_mode(r, &job->events[i].attr);
    return error;
}

static void
values_of(const struct host_job *job, const struct host_value *from,
          struct count_value *to)
{
    for (size_t i = 0; i < job->count; i++)
        to[i] = host_event_value(&job->events[i], &from[i]);
}

static struct count_report
report_of(const struct host_job *job, const struct count_value *values,
          const char *program)
{
    return (struct count_report){
        .machine = job->machine,
        .program = program,
        .runs = 1,
        .values = values,
        .count = job->count,
        .metrics = job->metrics,
        .metrics_asked = (const char *const *)job->metrics_asked,
        .metric_count = job->metric_count,
        .attached = job->attached,
        .scope = {.from = job->r->from, .to = job->r->to},
        .note = job->user_only ? "what ends in :u is of user level alone, as "
                                 "perf_event_paranoid wants it"
                               : NULL,
        .color = count_request_color(job->r),
        .plain = job->r->plain,
        .metric_only = job->r->metric_only,
    };
}

static void
print_interval(void *user, const struct host_counts *counts)
{
    struct host_job *job = user;
    struct count_value *values = calloc(job->count, sizeof(*values));
    const struct session_result nothing = {0};
    int error;

    if (values == NULL || job->write_error != 0) {
        job->write_error = values == NULL ? ENOMEM : job->write_error;
        free(values);
        return;
    }
    values_of(job, counts->values, values);
    struct count_report report = report_of(job, values, "");
    struct count_part *parts =
        host_parts(job->r, job->events, job->count, counts, host_event_value,
                   &report.part_count);
    if (report.part_count == 0)
        report.count = host_units_fold(job->events, values, job->count);
    report.at_s = counts->at_s;
    report.run = job->r->runs > 1 ? job->run : 0;
    report.last = &nothing;
    report.wall_s = counts->length_s;
    report.parts = parts;
    if (job->r->interval_clear)
        fputs("\033[H\033[2J", job->out.file);
    errno = 0;
    if (job->r->format == COUNT_JSON)
        error = report_interval_json(&report, job->out.file);
    else if (job->r->format == COUNT_CSV)
        error = report_interval_csv(&report, job->r->separator, job->out.file);
    else
        error = report_interval_text(&report, job->out.file);
    if (error != 0)
        job->write_error = errno != 0 ? errno : EIO;
    host_parts_free(parts, report.part_count);
    free(values);
}

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

/* The reason lives on in the job: each run's own are freed with it. */
static void
keep_reason(struct count_value *sum, const struct count_value *v,
            struct host_reason *kept)
{
    if (v->counted || kept->text[0] != '\0')
        return;
    snprintf(kept->text, sizeof(kept->text), "%s", v->reason);
    snprintf(kept->mend, sizeof(kept->mend), "%s", v->mend ? v->mend : "");
    sum->counted = false;
    sum->reason = kept->text;
    sum->mend = kept->mend;
    sum->code = v->code;
}

/* Means and deviations over the runs, by Welford's recurrence. */
static void
add_run(struct host_job *job, struct count_value *sums,
        const struct count_value *values, unsigned run)
{
    for (size_t i = 0; i < job->count; i++) {
        const double x = (double)values[i].value;
        struct count_value *s = &sums[i];
        if (run == 1) {
            *s = values[i];
            s->stddev = 0;
            keep_reason(s, &values[i], &job->reasons[i]);
            continue;
        }
        const double off = x - s->mean;
        s->mean += off / run;
        s->stddev += off * (x - s->mean);
        s->value = (uint64_t)llround(s->mean);
        s->enabled += values[i].enabled;
        s->running += values[i].running;
        s->fidelity =
            values[i].fidelity > s->fidelity ? values[i].fidelity : s->fidelity;
        keep_reason(s, &values[i], &job->reasons[i]);
    }
}

/* Keeps what this run counted, for --table; the values of several units that
 * one name stands for become one. */
static int
note_run(struct host_job *job, double wall_s, struct count_value *values)
{
    if (!job->r->table)
        return 0;
    return run_table_add(&job->table, wall_s, values,
                         host_units_fold(job->events, values, job->count));
}

static int
write_report(const struct host_job *job, const struct count_report *report)
{
    switch (job->r->format) {
    case COUNT_CSV:
        return report_count_csv(report, job->r->separator, job->out.file);
    case COUNT_JSON:
        return report_count_json(report, job->out.file);
    default:
        return report_count_text(report, job->out.file);
    }
}

static int
report_runs(struct host_job *job, char **argv, struct count_value *sums,
            const struct host_count_result *last, double wall_s,
            double wall_squares, unsigned runs, unsigned cut_run)
{
    const struct session_result session = {
        .status = last->status,
        .user_s = last->user_s,
        .sys_s = last->sys_s,
        .interrupted = last->interrupted,
        .started = true,
    };
    char *command = argv != NULL ? command_text(argv) : NULL;
    char *target = host_targets_text(job->r);
    const char *program = argv != NULL ? command : target;
    struct count_report report =
        report_of(job, sums, program != NULL ? program : "");
    struct count_part *parts = NULL;
    int error = 0;

    for (size_t i = 0; i < job->count; i++) {
        sums[i].stddev = runs > 1 ? sqrt(sums[i].stddev / (runs - 1)) : 0;
        sums[i].enabled /= runs > 1 ? runs : 1;
        sums[i].running /= runs > 1 ? runs : 1;
        job->failed = job->failed || !sums[i].counted;
    }
    if (job->marks.wanted) {
        host_marks_note(&job->marks, last, job->note, sizeof(job->note));
        report.note = job->note;
    }
    report.target = target;
    report.runs = runs;
    report.runs_asked = job->r->runs;
    report.cut_run = cut_run;
    report.table = job->table.runs;
    report.summary = job->r->interval_ms != 0 && job->r->format != COUNT_TEXT;
    report.last = &session;
    report.wall_s = wall_s;
    report.wall_stddev = runs > 1 ? sqrt(wall_squares / (runs - 1)) : 0;
    /* The parts are of the last run, which may be the one that is left out. */
    if (cut_run == 0)
        parts = host_parts(job->r, job->events, job->count, &last->counts,
                           host_event_value, &report.part_count);
    report.parts = parts;
    if (report.part_count == 0)
        report.count = host_units_fold(job->events, sums, job->count);
    if (job->write_error != 0) {
        errno = job->write_error;
        error = TALLY_EIO;
    } else if (!report.summary || job->r->summary) {
        /* A report that nobody reads waits for ever: a signal may end it. */
        child_signals_free(&job->signals);
        error = write_report(job, &report);
    }
    const int cause = errno;
    host_parts_free(parts, report.part_count);
    free(command);
    free(target);
    errno = cause;
    return error;
}

static int
run_all(struct host_job *job, char **argv, struct count_value *sums,
        struct count_value *values)
{
    const struct count_request *r = job->r;
    const struct host_count_options o = {
        .signals = &job->signals,
        .events = job->events,
        .event_count = job->count,
        .argv = argv,
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
    struct host_count_result result = {0};
    double mean = 0, squares = 0;
    unsigned run = 0, cut = 0;
    int status = 0;

    do {
        host_count_result_finish(&result);
        job->run = run + 1;
        if (around_before(r) != 0 || host_count(&o, &command_log, &result) != 0)
            return EXIT_OURS;
        if (result.exec_error != 0) {
            status = exec_status("count", result.exec_error, argv);
            break;
        }
        if (result.interrupted && r->runs > 1) {
            cut = run + 1;
            if (run == 0) {
                values_of(job, result.counts.values, sums);
                report_mark_cut(sums, job->count);
                mean = result.wall_s;
            }
            if (around_after(r) != 0) {
                host_count_result_finish(&result);
                return EXIT_OURS;
            }
            break;
        }
        run++;
        const double off = result.wall_s - mean;
        mean += off / run;
        squares += off * (result.wall_s - mean);
        values_of(job, result.counts.values, values);
        add_run(job, sums, values, run);
        if (around_after(r) != 0 || note_run(job, result.wall_s, values) != 0) {
            host_count_result_finish(&result);
            return EXIT_OURS;
        }
        if (child_signals_came(&job->signals))
            result.interrupted = true;
    } while (run < r->runs && !result.interrupted);
    if (status == 0) {
        const int error =
            report_runs(job, argv, sums, &result, mean, squares, run, cut);
        status = error != 0                   ? EXIT_OURS
                 : argv == NULL               ? 0
                 : WIFSIGNALED(result.status) ? 128 + WTERMSIG(result.status)
                                              : WEXITSTATUS(result.status);
        if (error != 0)
            command_unwritten("report");
        job->reported = error == 0;
    }
    host_count_result_finish(&result);
    return status;
}

static int
count_events(struct host_job *job, char **argv)
{
    struct count_value *sums = calloc(2 * job->count + 1, sizeof(*sums));
    const enum replace_way way = job->r->append             ? REPLACE_APPEND
                                 : job->r->interval_ms != 0 ? REPLACE_FOLLOW
                                                            : REPLACE_WHOLE;
    int status = EXIT_OURS;

    job->attached = argv == NULL;
    job->reasons = calloc(job->count, sizeof(*job->reasons));
    if (sums == NULL || job->reasons == NULL)
        status = command_no_memory();
    else
        status = job->r->log_fd != 0
                     ? output_open_descriptor(job->r->log_fd, &job->out)
                     : output_open(job->r->output, way, &job->out);
    if (status == 0) {
        child_signals_hold(&job->signals);
        status = run_all(job, argv, sums, sums + job->count);
        if (output_close(&job->out, job->reported) != 0 && job->reported) {
            command_unwritten("report");
            status = EXIT_OURS;
        }
        child_signals_free(&job->signals);
    }
    free(sums);
    free(job->reasons);
    run_table_finish(&job->table);
    return count_request_strict(job->r, status, !job->failed);
}

int
count_host(const struct count_request *r, char **argv)
{
    struct host_job job = {.r = r, .machine = machine_find("host")};
    int status = host_targets_find(r, &job.targets);

    if (status == 0)
        status = host_marks_find(r, argv, &job.marks);
    if (status == 0) {
        const int error = choose_events(&job);
        if (error == 0 && !job.targets.whole_cpus)
            job.user_only = host_events_fall_back(job.events, job.count);
        status = error == TALLY_ENOMEM ? EXIT_OURS
                 : error != 0          ? EXIT_USAGE
                                       : count_events(&job, argv);
    }
    host_targets_finish(&job.targets);
    host_marks_finish(&job.marks);
    free(job.events);
    free(job.metrics);
    event_list_free_asked(job.metrics_asked, job.metric_count);
    return status;
}
