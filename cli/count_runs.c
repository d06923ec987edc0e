/* SPDX-License-Identifier: MIT */
#include "cli/count_runs.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/escape.h"
#include "cli/measured.h"
#include "report/count_derived.h"

int
count_write(const struct count_request *r, const struct count_report *report,
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

int
count_write_interval(const struct count_request *r,
                     const struct count_report *report, FILE *out)
{
    switch (r->format) {
    case COUNT_CSV:
        return report_interval_csv(report, r->separator, out);
    case COUNT_JSON:
        return report_interval_json(report, out);
    default:
        return report_interval_text(report, out);
    }
}

/*
 * Runs `sh -c command`, the command of --pre or --post, and waits for its end.
 * The shell gets an empty signal mask: the mask of this process holds back what
 * is passed on to the counted program. Returns 0, or TALLY_ESYSTEM after saying
 * why counting ends.
 */
static int
run_command(const char *option, const char *command)
{
    char *const argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawnattr_t attr;
    sigset_t none;
    pid_t pid;
    char ended[64];
    int status = 0;

    if (command == NULL)
        return 0;
    int error = posix_spawnattr_init(&attr);
    if (error == 0) {
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&attr, &none);
        posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
        error = posix_spawn(&pid, "/bin/sh", NULL, &attr, argv, environ);
        posix_spawnattr_destroy(&attr);
        while (error == 0 && waitpid(pid, &status, 0) < 0)
            error = errno == EINTR ? 0 : errno;
    }
    if (error == 0 && status == 0)
        return 0;
    report_status(status, ended, sizeof(ended));
    escape_printf(stderr, "tally count: %s '%s' %s%s, so counting ends\n",
                  option, command,
                  error == 0 && WIFSIGNALED(status) ? "was " : "",
                  error != 0 ? strerror(error) : ended);
    return TALLY_ESYSTEM;
}

/* Adds the value of one run to the mean and the sum of squares, by Welford's
 * recurrence. */
static void
add_value(struct count_value *sum, const struct count_value *one, unsigned run)
{
    if (run == 1) {
        *sum = *one;
        sum->mean = (double)one->value;
        sum->stddev = 0;
        return;
    }
    const double off = (double)one->value - sum->mean;
    sum->mean += off / run;
    sum->stddev += off * ((double)one->value - sum->mean);
    sum->value = (uint64_t)llround(sum->mean);
    sum->exact += (one->exact - sum->exact) / run;
    sum->enabled += one->enabled;
    sum->running += one->running;
    if (one->fidelity > sum->fidelity)
        sum->fidelity = one->fidelity;
    if (sum->counted && !one->counted) {
        sum->counted = false;
        sum->reason = one->reason;
        sum->mend = one->mend;
        sum->code = one->code;
    }
}

/* Keeps the counts of one run for --table. */
static int
note_run(struct counting *c, struct count_value *one, struct count_run *run)
{
    const size_t count = c->source->fold != NULL ? c->source->fold(c->user, one)
                                                 : c->report.count;
    uint64_t *values = calloc(count + 1, sizeof(*values));

    if (values == NULL)
        return tally_fail(&command_log, TALLY_ENOMEM, "no memory for --table");
    for (size_t i = 0; i < count; i++)
        values[i] = one[i].counted ? one[i].value : COUNT_NONE;
    *run = (struct count_run){c->end.wall_s, values};
    return 0;
}

/* Says that a signal ended a run of -r whose counts are in the means. */
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

/* Runs the program as often as asked for, and makes means of the runs' counts.
 * A run that a signal to tally cuts short is left out, unless it is the only
 * one. */
static int
run_all(struct counting *c, struct count_value *one, struct count_run *table)
{
    const struct count_request *r = c->request;
    struct count_report *const report = &c->report;
    double squares = 0;

    for (unsigned run = 1; run <= r->runs && !c->end.interrupted; run++) {
        if (r->sync)
            sync();
        int status = run_command("--pre", r->pre);
        if (status == 0)
            status = c->source->run(c->user, run, one, &c->end);
        if (status == 0)
            status = run_command("--post", r->post);
        if (status != 0)
            return status;
        if (c->end.interrupted && r->runs > 1) {
            report->cut_run = run;
            if (run == 1) {
                memcpy(c->values, one, report->count * sizeof(*one));
                report_mark_cut(c->values, report->count);
                report->wall_s = c->end.wall_s;
            }
            break;
        }
        c->end.interrupted |= child_signals_came(&c->signals);
        for (size_t i = 0; i < report->count; i++)
            add_value(&c->values[i], &one[i], run);
        say_killed(r, run, c->end.status);
        if (table != NULL)
            status = note_run(c, one, &table[run - 1]);
        if (status != 0)
            return status;
        const double off = c->end.wall_s - report->wall_s;
        report->wall_s += off / run;
        squares += off * (c->end.wall_s - report->wall_s);
        report->runs = run;
    }
    const unsigned runs = report->runs;
    if (runs == 0)
        report->table = NULL;
    report->wall_stddev = runs > 1 ? sqrt(squares / (runs - 1)) : 0;
    for (size_t i = 0; i < report->count; i++) {
        struct count_value *v = &c->values[i];
        v->stddev = runs > 1 ? sqrt(v->stddev / (runs - 1)) : 0;
        v->enabled /= runs > 1 ? runs : 1;
        v->running /= runs > 1 ? runs : 1;
    }
    return 0;
}

/* Runs the program and writes the report to the open file. */
static int
run_and_report(struct counting *c, struct count_value *one,
               struct count_run *table)
{
    const struct count_request *r = c->request;
    struct count_report *const report = &c->report;
    int error = 0;

    /* CSV and JSON of intervals begin with the parts of the run that can move
     * counts. The one object of other JSON reports has them as a key. */
    if (r->format == COUNT_CSV)
        error = report_begin_csv(report, c->out.file);
    else if (r->format == COUNT_JSON && r->interval_ms != 0)
        error = report_begin_json(report, c->out.file);
    if (error == 0)
        error = run_all(c, one, table);
    /* Of CSV and JSON each interval is a document of its own. */
    report->summary = r->interval_ms != 0 && r->format != COUNT_TEXT;
    if (error == 0)
        error = c->source->finish(c->user);
    if (error == 0 && (!report->summary || r->summary)) {
        /* A report that nobody reads waits for ever: a signal may end it. */
        child_signals_free(&c->signals);
        error = count_write(r, report, c->out.file);
    }
    if (error == TALLY_EIO)
        command_unwritten("report");
    return error;
}

int
count_runs(struct counting *c)
{
    const struct count_request *r = c->request;
    const size_t count = c->report.count;
    const enum replace_way way = r->append ? REPLACE_APPEND
                                 : c->source->follows && r->interval_ms != 0
                                     ? REPLACE_FOLLOW
                                     : REPLACE_WHOLE;
    struct count_value *const one = calloc(2 * count + 1, sizeof(*one));
    struct count_run *const table =
        r->table ? calloc(r->runs, sizeof(*table)) : NULL;
    int status;

    if (one == NULL || (r->table && table == NULL))
        status = command_no_memory();
    else
        status = r->log_fd != 0 ? output_open_descriptor(r->log_fd, &c->out)
                                : output_open(r->output, way, &c->out);
    if (status == 0) {
        c->values = one + count;
        c->report.values = c->values;
        c->report.table = table;
        c->report.runs = 0;
        c->report.runs_asked = r->runs;
        child_signals_hold(&c->signals);
        const int error = run_and_report(c, one, table);
        const int closed = output_close(&c->out, error == 0);
        child_signals_free(&c->signals);
        if (closed != 0 && error == 0)
            command_unwritten("report");
        bool all = !c->report.partial;
        for (size_t i = 0; i < c->report.count; i++)
            all = all && c->values[i].counted;
        status = error > 0            ? error
                 : error != 0         ? measured_failed(error)
                 : closed != 0        ? EXIT_OURS
                 : c->report.attached ? 0
                 : c->end.damaged     ? EXIT_OURS
                                      : command_status(c->end.status);
        status = count_request_strict(r, status, all);
    }
    for (unsigned i = 0; table != NULL && i < r->runs; i++)
        free((uint64_t *)table[i].values);
    free(table);
    free(one);
    return status;
}
