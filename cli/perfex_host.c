/* SPDX-License-Identifier: MIT */
#include "cli/perfex_host.h"

#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "cli/host_events.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "host/child.h"
#include "report/perfex_text.h"

/* What a host's counters have by perf's generic names, without software's. */
static const char all_events[] =
    "cycles,instructions,branches,branch-misses,cache-references,cache-misses,"
    "L1-dcache-loads,L1-dcache-load-misses,L1-icache-load-misses,"
    "dTLB-load-misses,iTLB-load-misses";

/* Returns why an option that was given has no meaning on the host, or NULL. */
static const char *
refusal(const struct perfex_request *r, const char **option)
{
    static const char no_costs[] =
        "no table says what the events of this host's processor cost";

    *option = r->threads         ? "-mp"
              : r->times         ? "-y"
              : r->table         ? "-t"
              : r->costs != NULL ? "-c"
              : r->signals       ? "-s"
                                 : model_options_given(&r->model);
    if (r->threads)
        return "the kernel adds up the threads that a program starts";
    if (r->times || r->table || r->costs != NULL)
        return no_costs;
    return *option != NULL ? "it is for a modelled machine" : NULL;
}

/* What the reports of intervals need. */
struct periods {
    const struct perfex_request *request;
    const struct host_event *events;
    size_t count;
    FILE *out;
    int error; /* of the first that could not be written */
};

/* Writes an interval of -p. */
static void
print_period(void *user, const struct host_counts *counts)
{
    struct periods *const job = user;
    const struct session_result nothing = {0};
    struct count_value *values = calloc(job->count + 1, sizeof(*values));
    struct count_report report = {
        .machine = machine_find("host"),
        .program = "",
        .runs = 1,
        .values = values,
        .last = &nothing,
        .at_s = counts->at_s,
        .wall_s = counts->length_s,
    };

    if (values == NULL)
        job->error = TALLY_ENOMEM;
    for (size_t i = 0; job->error == 0 && i < job->count; i++)
        values[i] = host_event_value(&job->events[i], &counts->values[i]);
    if (job->error == 0) {
        report.count = host_units_fold(job->events, values, job->count);
        const enum count_format format = job->request->format;
        const struct perfex_report p = {.count = &report};
        job->error =
            format == COUNT_JSON  ? report_interval_json(&report, job->out)
            : format == COUNT_CSV ? report_interval_csv(&report, ',', job->out)
                                  : report_perfex_interval(&p, job->out);
    }
    free(values);
}

/* Writes the report of the whole run. */
static int
report_host(const struct perfex_request *r, char **argv,
            const struct host_event *events, size_t count,
            const struct host_count_result *result, FILE *out)
{
    const struct session_result last = {
        .status = result->status,
        .user_s = result->user_s,
        .sys_s = result->sys_s,
        .interrupted = result->interrupted,
        .started = true,
    };
    struct count_value *values = calloc(count + 1, sizeof(*values));
    char *text = command_text(argv);
    struct count_report report = {
        .machine = machine_find("host"),
        .program = text,
        .runs = 1,
        .values = values,
        .last = &last,
        .wall_s = result->wall_s,
    };
    int error = TALLY_ENOMEM;

    if (values != NULL && text != NULL) {
        for (size_t i = 0; i < count; i++)
            values[i] = host_event_value(&events[i], &result->counts.values[i]);
        report.count = host_units_fold(events, values, count);
        const char *const notes[] = {
            r->kernel || r->exception
                ? "user and kernel mode"
                : "user mode only; -k counts the kernel's part too",
            NULL};
        const struct perfex_report p = {.count = &report, .notes = notes};
        error = r->format == COUNT_JSON  ? report_count_json(&report, out)
                : r->format == COUNT_CSV ? report_count_csv(&report, ',', out)
                                         : report_perfex_text(&p, out);
    }
    free(values);
    free(text);
    return error;
}

/* Runs the program and writes what the host counted; returns an exit status. */
static int
count_host_program(const struct perfex_request *r, char **argv,
                   const struct host_event *events, size_t count, FILE *out)
{
    struct child_signals signals;
    struct host_count_result result = {0};
    struct periods periods = {r, events, count, out, 0};
    const struct host_count_options o = {
        .signals = &signals,
        .events = events,
        .event_count = count,
        .argv = argv,
        .interval_s = (double)r->period_ms * 1e-3,
        .interval = r->period_ms != 0 ? print_period : NULL,
        .user = &periods,
    };

    child_signals_hold(&signals);
    int status = host_count(&o, &command_log, &result) == 0 ? 0 : EXIT_OURS;
    if (status == 0 && result.exec_error != 0) {
        status = exec_status("perfex", result.exec_error, argv);
    } else if (status == 0) {
        status = command_status(result.status);
        /* Intervals are the whole of a document. */
        if (periods.error != 0 ||
            ((r->period_ms == 0 || r->format == COUNT_TEXT) &&
             report_host(r, argv, events, count, &result, out) != 0))
            status = command_unwritten("report");
    }
    host_count_result_finish(&result);
    child_signals_free(&signals);
    return status;
}

int
perfex_host(const struct perfex_request *r, char **argv)
{
    struct host_event *events = NULL;
    struct output out;
    size_t count = 0;

    const char *option, *why = refusal(r, &option);

    if (why != NULL) {
        escape_printf(stderr,
                      "tally perfex: no %s with the host's counters: %s\n",
                      option, why);
        return EXIT_USAGE;
    }
    const char *list = r->all              ? all_events
                       : r->events != NULL ? r->events
                                           : "cycles";
    const int error =
        host_event_list_parse(list, &command_log, &events, &count);
    if (error != 0)
        return error == TALLY_ENOMEM ? EXIT_OURS : EXIT_USAGE;
    /* User mode unless more is asked for, as on IRIX; an event with letters of
     * its own keeps them. */
    for (size_t i = 0; i < count; i++) {
        if (strpbrk(events[i].name, ":/") != NULL)
            continue;
        events[i].attr.exclude_kernel = !r->kernel && !r->exception;
        events[i].attr.exclude_hv = 1;
    }
    int status = output_open(
        r->output, r->period_ms != 0 ? REPLACE_FOLLOW : REPLACE_WHOLE, &out);
    if (status == 0) {
        status = count_host_program(r, argv, events, count, out.file);
        if (output_close(&out, status != EXIT_OURS) != 0)
            status = EXIT_OURS;
    }
    free(events);
    return status;
}
