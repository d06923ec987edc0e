/* SPDX-License-Identifier: MIT */
/* tally serve: the host's events and results of benchmarks for monitoring. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/texts.h"
#include "cli/command.h"
#include "fleet/http.h"
#include "fleet/metrics.h"
#include "fleet/results.h"
#include "host/watch.h"
#include "version.h"

#define LISTEN_DEFAULT "127.0.0.1:9617"
#define PATH "/metrics"
#define WARNINGS_MOST 1000 /* different ones that are kept to be told once */
#define RESULTS_S 1        /* reports are read no more often */

enum {
    OPT_LISTEN,
    OPT_EVENTS,
    OPT_CHECK,
    OPT_NO_AGGR,
};

static const struct option_row options[] = {
    [OPT_LISTEN] = {'l', "listen", "ADDRESS:PORT",
                    "listen there (default: " LISTEN_DEFAULT
                    "; port 0: one that is free)"},
    [OPT_EVENTS] = {'e', "event", "EVENTS",
                    "events of this host (default: cpu-clock, "
                    "context-switches, page-faults, cycles ...)"},
    [OPT_CHECK] = {0, "check", "PATH",
                   "also the newest results in a report of tally check "
                   "--format json, or in a folder of such reports"},
    [OPT_NO_AGGR] = {'A', "no-aggr", NULL, "counts of each cpu, no sums"},
    {0},
};

struct serve_request {
    const char *listen, *check;
    char *events; /* owned; all -e joined; NULL: the default */
    bool by_cpu;
};

struct serving {
    const struct serve_request *request;
    struct host_watch *watch;
    struct fleet_results results; /* as they were read last */
    bool readable;                /* whether they could be read */
    struct timespec read_at;
    struct texts told; /* warnings of reports */
};

static int
take_option(void *user, int option, const char *value)
{
    struct serve_request *const r = user;

    switch (option) {
    case OPT_LISTEN:
        r->listen = value;
        return 0;
    case OPT_EVENTS:
        return command_join(&r->events, value) == 0 ? 0 : EXIT_OURS;
    case OPT_CHECK:
        r->check = value;
        return 0;
    default:
        r->by_cpu = true;
        return 0;
    }
}

/* Returns 0, an exit status, or COMMAND_HELP. */
static int
read_options(struct serve_request *r, int argc, char **argv)
{
    int operand;
    const int status = command_read_options(&command_serve, argc, argv,
                                            take_option, r, &operand);

    if (status != 0 || operand == argc)
        return status;
    escape_printf(stderr,
                  "tally serve: '%s' is no option; it counts the whole host, "
                  "and tally count counts a program\n",
                  argv[operand]);
    return EXIT_USAGE;
}

/* Tells each warning once: reports are read for every request. */
static void
tell_once(void *user, enum tally_level level, const char *text)
{
    struct serving *const s = user;

    if (texts_find(&s->told, text) != 0 || s->told.count > WARNINGS_MOST)
        return;
    texts_add(&s->told, text);
    command_log.write(command_log.user, level, text);
}

/* Reads the reports anew, unless they were read just now. Where they cannot be
 * read there are no results. */
static void
read_results(struct serving *s)
{
    const struct tally_log log = {tell_once, s};
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (s->read_at.tv_sec != 0 && now.tv_sec - s->read_at.tv_sec < RESULTS_S)
        return;
    fleet_results_finish(&s->results);
    s->readable = fleet_results_read(s->request->check, &log, &s->results) == 0;
    s->read_at = now;
}

/* Adds all that is served. */
static void
add_all(struct serving *s, struct exposition *exposition)
{
    host_watch_read(s->watch);
    fleet_add_host(exposition, s->watch, s->request->by_cpu);
    if (s->request->check == NULL)
        return;
    read_results(s);
    fleet_add_results(exposition, &s->results);
    fleet_add_read(exposition, s->readable);
}

/* Makes the page, as http_options ask for. */
static bool
make_page(void *user, const char *accept, struct http_page *page)
{
    const bool open = accept != NULL &&
                      strstr(accept, "application/openmetrics-text") != NULL;
    struct exposition *exposition = NULL;
    FILE *out = NULL;

    page->type =
        open ? EXPOSITION_OPENMETRICS_TYPE : EXPOSITION_PROMETHEUS_TYPE;
    bool whole = fleet_metrics_create(TALLY_VERSION, &exposition) == 0;
    if (whole)
        out = open_memstream(&page->text, &page->size);
    if (out != NULL) {
        add_all(user, exposition);
        whole = exposition_write(exposition,
                                 open ? EXPOSITION_OPENMETRICS
                                      : EXPOSITION_PROMETHEUS,
                                 out) == 0;
        whole = fclose(out) == 0 && whole;
    }
    exposition_destroy(exposition);
    if (out != NULL && whole)
        return true;
    free(page->text);
    page->text = NULL;
    return false;
}

/* Names the events that are not counted for the same reason as the first. */
static void
tell_missing(const struct host_watch_row *rows, size_t count, size_t first)
{
    const struct host_reason *const reason = &rows[first].reason;

    fputs("tally: not counted: ", stderr);
    for (size_t i = first; i < count; i++)
        if (!rows[i].counted && strcmp(rows[i].reason.text, reason->text) == 0)
            escape_printf(stderr, "%s%s", i > first ? ", " : "",
                          rows[i].event->name);
    escape_printf(stderr, ": %s\n", reason->text);
}

/* Says once what is not counted, and what is counted by /proc alone. Returns
 * whether anything is counted. */
static bool
tell_watch(const struct host_watch *watch)
{
    size_t count;
    const struct host_watch_row *const rows = host_watch_rows(watch, &count);
    bool any = false, proc = false;

    for (size_t i = 0; i < count; i++) {
        bool told = false;
        any = any || rows[i].counted;
        proc = proc || rows[i].source == HOST_WATCH_PROC;
        for (size_t k = 0; k < i; k++)
            told =
                told || (!rows[k].counted &&
                         strcmp(rows[k].reason.text, rows[i].reason.text) == 0);
        if (!rows[i].counted && !told)
            tell_missing(rows, count, i);
    }
    if (proc)
        fputs("tally: the kernel permits this user no counting of whole cpus: "
              "some events come from /proc; CAP_PERFMON or "
              "perf_event_paranoid 0 permits all, as tally-serve(1) says\n",
              stderr);
    return any;
}

/* Blocks the signals that end the command, except those that were ignored, and
 * makes a descriptor for them. -1 with errno. */
static int
hold_signals(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction old;
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaddset(&set, ends[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* Serves until a signal comes. Returns an exit status. */
static int
serve(struct serving *s)
{
    const struct http_options how = {
        .listen = s->request->listen,
        .path = PATH,
        .make = make_page,
        .user = s,
    };
    struct http_server *server = NULL;
    const int stop = hold_signals();

    signal(SIGPIPE, SIG_IGN);
    if (stop < 0) {
        fprintf(stderr, "tally serve: cannot wait for signals: %s\n",
                strerror(errno));
        return EXIT_OURS;
    }
    int error = http_create(&how, &command_log, &server);
    int status = error == 0               ? 0
                 : error == TALLY_ESYNTAX ? EXIT_USAGE
                                          : EXIT_OURS;
    if (status == 0 && !tell_watch(s->watch) && s->request->check == NULL) {
        fprintf(stderr, "tally serve: no event is counted, and there is no "
                        "--check\n");
        status = EXIT_OURS;
    }
    if (status == 0) {
        printf("http://%s" PATH "\n", http_address(server));
        if (fflush(stdout) != 0)
            status = command_unwritten("address");
    }
    if (status == 0 && !http_is_loopback(server))
        fprintf(stderr, "tally: whoever reaches this address reads the "
                        "metrics\n");
    if (status == 0 && http_run(server, stop, &command_log) != 0)
        status = EXIT_OURS;
    http_destroy(server);
    close(stop);
    return status;
}

/* Prepares what is served, and serves it. Returns an exit status. */
static int
prepare(struct serving *s)
{
    const struct serve_request *const r = s->request;

    if (texts_init(&s->told) != 0)
        return command_no_memory();
    const int error =
        host_watch_create(r->events, NULL, &command_log, &s->watch);
    if (error != 0)
        return error == TALLY_ENOMEM || error == TALLY_ESYSTEM ? EXIT_OURS
                                                               : EXIT_USAGE;
    if (r->check != NULL) {
        read_results(s);
        if (!s->readable)
            return EXIT_OURS;
    }
    return serve(s);
}

static int
run_serve(int argc, char **argv)
{
    struct serve_request request = {.listen = LISTEN_DEFAULT};
    struct serving serving = {.request = &request};
    int status = read_options(&request, argc, argv);

    if (status == COMMAND_HELP) {
        command_help(&command_serve, stdout);
        status = 0;
    } else if (status == 0) {
        status = prepare(&serving);
    }
    host_watch_destroy(serving.watch);
    fleet_results_finish(&serving.results);
    texts_finish(&serving.told);
    free(request.events);
    return status;
}

const struct command command_serve = {
    .name = "serve",
    .summary = "give monitoring the host's events and results of tally check",
    .synopsis = "[-l ADDRESS:PORT] [-e EVENTS] [-A] [--check PATH]",
    .example =
        "  # Serve the events of this host at http://" LISTEN_DEFAULT PATH ".\n"
        "  tally serve\n"
        "  # Take a free port, which the line on standard output has.\n"
        "  tally serve --listen 127.0.0.1:0 -e context-switches,page-faults\n"
        "  # Serve the newest results of benchmarks too.\n"
        "  tally serve --listen 127.0.0.1:0 --check results\n"
        "  # Let other hosts read the metrics, by IPv6.\n"
        "  tally serve --listen [::]:9617",
    .options = options,
    .run = run_serve,
};
