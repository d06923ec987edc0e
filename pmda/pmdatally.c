/* SPDX-License-Identifier: MIT */
/*
 * pmdatally: the agent of Performance Co-Pilot for the host's events and the
 * newest results of tally check. pmcd starts it, once its Install has run.
 *
 * The events are opened as the user that pmcd starts the agent as, root as a
 * rule; then the agent becomes the user of -U (default: pcp), and reads
 * results as that user.
 */
#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

#include "base/escape.h"
#include "fleet/results.h"
#include "host/watch.h"
#include "pmda/domain.h"

#define RESULTS_S 1 /* reports are read no more often */

enum { CLUSTER_HOST, CLUSTER_MEASURE, CLUSTER_BENCHMARK };
enum { INDOM_EVENTS, INDOM_MEASURES, INDOM_BENCHMARKS, INDOMS };

enum {
    HOST_EVENTS,
    HOST_CLOCK,
    HOST_SCALED,
    HOST_STANDING,
    HOST_SOURCE,
    HOST_MISSING,
};

enum {
    MEASURE_VALUE,
    MEASURE_LEAST,
    MEASURE_MOST,
    MEASURE_BASELINE,
    MEASURE_CHANGE,
    MEASURE_VERDICT,
    MEASURE_STANDING,
};

enum { BENCHMARK_STATUS, BENCHMARK_TIME };

#define ONE PMDA_PMUNITS(0, 0, 1, 0, 0, PM_COUNT_ONE)
#define NANOSECONDS PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_NSEC, 0)
#define SECONDS PMDA_PMUNITS(0, 1, 0, 0, PM_TIME_SEC, 0)
#define NO_UNIT PMDA_PMUNITS(0, 0, 0, 0, 0, 0)

/* clang-format off */
static const pmdaMetric metric_rows[] = {
    {NULL, {PMDA_PMID(CLUSTER_HOST, HOST_EVENTS), PM_TYPE_U64, INDOM_EVENTS,
            PM_SEM_COUNTER, ONE}},
    {NULL, {PMDA_PMID(CLUSTER_HOST, HOST_CLOCK), PM_TYPE_U64, INDOM_EVENTS,
            PM_SEM_COUNTER, NANOSECONDS}},
    {NULL, {PMDA_PMID(CLUSTER_HOST, HOST_SCALED), PM_TYPE_DOUBLE, INDOM_EVENTS,
            PM_SEM_COUNTER, NO_UNIT}},
    {NULL, {PMDA_PMID(CLUSTER_HOST, HOST_STANDING), PM_TYPE_STRING,
            INDOM_EVENTS, PM_SEM_DISCRETE, NO_UNIT}},
    {NULL, {PMDA_PMID(CLUSTER_HOST, HOST_SOURCE), PM_TYPE_STRING, INDOM_EVENTS,
            PM_SEM_DISCRETE, NO_UNIT}},
    {NULL, {PMDA_PMID(CLUSTER_HOST, HOST_MISSING), PM_TYPE_STRING,
            INDOM_EVENTS, PM_SEM_DISCRETE, NO_UNIT}},
    {NULL, {PMDA_PMID(CLUSTER_MEASURE, MEASURE_VALUE), PM_TYPE_U64,
            INDOM_MEASURES, PM_SEM_INSTANT, ONE}},
    {NULL, {PMDA_PMID(CLUSTER_MEASURE, MEASURE_LEAST), PM_TYPE_U64,
            INDOM_MEASURES, PM_SEM_INSTANT, ONE}},
    {NULL, {PMDA_PMID(CLUSTER_MEASURE, MEASURE_MOST), PM_TYPE_U64,
            INDOM_MEASURES, PM_SEM_INSTANT, ONE}},
    {NULL, {PMDA_PMID(CLUSTER_MEASURE, MEASURE_BASELINE), PM_TYPE_U64,
            INDOM_MEASURES, PM_SEM_INSTANT, ONE}},
    {NULL, {PMDA_PMID(CLUSTER_MEASURE, MEASURE_CHANGE), PM_TYPE_DOUBLE,
            INDOM_MEASURES, PM_SEM_INSTANT, NO_UNIT}},
    {NULL, {PMDA_PMID(CLUSTER_MEASURE, MEASURE_VERDICT), PM_TYPE_STRING,
            INDOM_MEASURES, PM_SEM_DISCRETE, NO_UNIT}},
    {NULL, {PMDA_PMID(CLUSTER_MEASURE, MEASURE_STANDING), PM_TYPE_STRING,
            INDOM_MEASURES, PM_SEM_DISCRETE, NO_UNIT}},
    {NULL, {PMDA_PMID(CLUSTER_BENCHMARK, BENCHMARK_STATUS), PM_TYPE_STRING,
            INDOM_BENCHMARKS, PM_SEM_DISCRETE, NO_UNIT}},
    {NULL, {PMDA_PMID(CLUSTER_BENCHMARK, BENCHMARK_TIME), PM_TYPE_U64,
            INDOM_BENCHMARKS, PM_SEM_DISCRETE, SECONDS}},
};
/* clang-format on */

#define METRICS (sizeof(metric_rows) / sizeof(metric_rows[0]))

/* All that the agent has. The library hands its callbacks no place for state
 * of ours but a metric's, so each metric points here. */
struct agent {
    const char *events, *check; /* -e and -r; NULL: not given */
    char *user;
    struct host_watch *watch;
    struct fleet_results results;
    struct timespec read_at;
    pmdaMetric metrics[METRICS];
    pmdaIndom indoms[INDOMS];
};

/* Writes to the agent's log, as pmcd's other agents do. */
static void
log_line(void *user, enum tally_level level, const char *text)
{
    (void)user;
    pmNotifyErr(level == TALLY_LOG_ERROR ? LOG_ERR : LOG_WARNING, "%s", text);
}

static const struct tally_log agent_log = {log_line, NULL};

static pmInDom
domain_of(const struct agent *a, unsigned indom)
{
    return a->indoms[indom].it_indom;
}

/* Makes the name of an instance, for the caller to free: the parts that are not
 * empty with colons between them. PCP tells names apart up to the first space,
 * so a space is written as \x20. NULL: no memory. */
static char *
instance_name(const char *const *parts, size_t count)
{
    char *text = NULL;
    size_t size;
    FILE *const out = open_memstream(&text, &size);
    bool whole = out != NULL;

    for (size_t i = 0; whole && i < count; i++) {
        char *const shown = escape_copy(parts[i], ESCAPE_LINE);
        whole = shown != NULL;
        if (i > 0 && whole && shown[0] != '\0')
            fputc(':', out);
        for (const char *c = shown; whole && *c != '\0'; c++)
            if (*c == ' ')
                fputs("\\x20", out);
            else
                fputc(*c, out);
        free(shown);
    }
    if (out != NULL)
        whole = fclose(out) == 0 && whole;
    if (whole)
        return text;
    free(text);
    return NULL;
}

/* Makes an instance of a row, which the library keeps a pointer to. Its number
 * stays the same for a name. */
static void
keep_instance(const struct agent *a, unsigned indom, const char *const *parts,
              size_t count, const void *row)
{
    char *const name = instance_name(parts, count);

    if (name != NULL)
        pmdaCacheStore(domain_of(a, indom), PMDA_CACHE_ADD, name,
                       (void *)(uintptr_t)row);
    free(name);
}

static void
read_host(const struct agent *a)
{
    size_t count;

    host_watch_read(a->watch);
    const struct host_watch_row *const rows = host_watch_rows(a->watch, &count);
    for (size_t i = 0; i < count; i++)
        keep_instance(a, INDOM_EVENTS,
                      (const char *const[]){rows[i].event->name}, 1, &rows[i]);
}

/* Reads the reports anew, unless they were read just now. */
static void
read_results(struct agent *a)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (a->check == NULL ||
        (a->read_at.tv_sec != 0 && now.tv_sec - a->read_at.tv_sec < RESULTS_S))
        return;
    a->read_at = now;
    pmdaCacheOp(domain_of(a, INDOM_MEASURES), PMDA_CACHE_INACTIVE);
    pmdaCacheOp(domain_of(a, INDOM_BENCHMARKS), PMDA_CACHE_INACTIVE);
    fleet_results_finish(&a->results);
    if (fleet_results_read(a->check, &agent_log, &a->results) != 0)
        return;
    for (size_t i = 0; i < a->results.benchmark_count; i++) {
        const struct fleet_benchmark *const b = &a->results.benchmarks[i];
        keep_instance(a, INDOM_BENCHMARKS,
                      (const char *const[]){b->name, b->machine}, 2, b);
    }
    for (size_t i = 0; i < a->results.measure_count; i++) {
        const struct fleet_measure *const m = &a->results.measures[i];
        const struct fleet_benchmark *const b =
            &a->results.benchmarks[m->benchmark];
        keep_instance(a, INDOM_MEASURES,
                      (const char *const[]){b->name, b->machine, m->name}, 3,
                      m);
    }
}

/* Returns the agent of the metrics that a callback is for. */
static struct agent *
agent_of(const pmdaExt *pmda)
{
    return pmda->e_metrics[0].m_user;
}

static int
fetch(int count, pmID *ids, PMDA_RESULT **result, pmdaExt *pmda)
{
    struct agent *const a = agent_of(pmda);

    read_host(a);
    read_results(a);
    return pmdaFetch(count, ids, result, pmda);
}

static int
list_instances(pmInDom indom, int number, char *name, pmInResult **result,
               pmdaExt *pmda)
{
    struct agent *const a = agent_of(pmda);

    read_host(a);
    read_results(a);
    return pmdaInstance(indom, number, name, result, pmda);
}

/* Sets a text; the library copies it. */
static int
give_text(const char *text, pmAtomValue *atom)
{
    if (text[0] == '\0')
        return PMDA_FETCH_NOVALUES;
    atom->cp = (char *)(uintptr_t)text;
    return PMDA_FETCH_STATIC;
}

static int
fetch_host(unsigned item, const struct host_watch_row *row, pmAtomValue *atom)
{
    const bool clock = host_event_is_clock(row->event);
    const bool scaled =
        !clock && (row->event->scale != 1 || row->event->unit[0] != '\0');

    switch (item) {
    case HOST_STANDING:
        return give_text(!row->counted    ? "idle"
                         : row->estimated ? "estimated"
                                          : "measured",
                         atom);
    case HOST_SOURCE:
        return row->counted
                   ? give_text(host_watch_source_name(row->source), atom)
                   : PMDA_FETCH_NOVALUES;
    case HOST_MISSING:
        return row->counted ? PMDA_FETCH_NOVALUES
                            : give_text(host_why_name(row->reason.why), atom);
    case HOST_SCALED:
        atom->d = (double)row->total * row->event->scale;
        return row->counted && scaled ? PMDA_FETCH_STATIC : PMDA_FETCH_NOVALUES;
    default:
        atom->ull = row->total;
        return row->counted && !scaled && clock == (item == HOST_CLOCK)
                   ? PMDA_FETCH_STATIC
                   : PMDA_FETCH_NOVALUES;
    }
}

static int
fetch_measure(unsigned item, const struct fleet_measure *m, pmAtomValue *atom)
{
    switch (item) {
    case MEASURE_VALUE:
        atom->ull = m->now.median;
        return PMDA_FETCH_STATIC;
    case MEASURE_LEAST:
        atom->ull = m->now.least;
        return PMDA_FETCH_STATIC;
    case MEASURE_MOST:
        atom->ull = m->now.most;
        return PMDA_FETCH_STATIC;
    case MEASURE_BASELINE:
        atom->ull = m->before.median;
        return m->compared ? PMDA_FETCH_STATIC : PMDA_FETCH_NOVALUES;
    case MEASURE_CHANGE:
        atom->d = m->change.value;
        return m->change.known ? PMDA_FETCH_STATIC : PMDA_FETCH_NOVALUES;
    case MEASURE_VERDICT:
        return give_text(m->verdict, atom);
    default:
        return give_text(m->standing, atom);
    }
}

static int
fetch_benchmark(unsigned item, const struct fleet_benchmark *b,
                pmAtomValue *atom)
{
    if (item == BENCHMARK_STATUS)
        return give_text(b->status, atom);
    atom->ull = b->time_s;
    return PMDA_FETCH_STATIC;
}

/* Gives one value of one instance. */
static int
fetch_value(pmdaMetric *metric, unsigned instance, pmAtomValue *atom)
{
    const pmDesc *const desc = &metric->m_desc;
    const unsigned item = pmID_item(desc->pmid);
    void *row = NULL;

    if (pmdaCacheLookup(desc->indom, (int)instance, NULL, &row) !=
            PMDA_CACHE_ACTIVE ||
        row == NULL)
        return PM_ERR_INST;
    switch (pmID_cluster(desc->pmid)) {
    case CLUSTER_HOST:
        return fetch_host(item, row, atom);
    case CLUSTER_MEASURE:
        return fetch_measure(item, row, atom);
    default:
        return fetch_benchmark(item, row, atom);
    }
}

static pmLongOptions long_options[] = {
    PMDA_OPTIONS_HEADER("Options"),
    PMOPT_DEBUG,
    PMDAOPT_DOMAIN,
    PMDAOPT_LOGFILE,
    PMDAOPT_HELPTEXT,
    PMDAOPT_USERNAME,
    {"event", 1, 'e', "EVENTS", "events of this host, as tally serve takes"},
    {"check", 1, 'r', "PATH",
     "a report of tally check --format json, or a folder of such reports"},
    PMOPT_HELP,
    PMDA_OPTIONS_END,
};

/* Reads the command line; ends the agent where it is wrong. */
static void
read_options(struct agent *a, int argc, char **argv, pmdaInterface *interface)
{
    pmdaOptions options = {.short_options = "D:d:e:h:l:r:U:?",
                           .long_options = long_options};
    int letter;

    while ((letter = pmdaGetOptions(argc, argv, &options, interface)) != EOF) {
        if (letter == 'e')
            a->events = options.optarg;
        else if (letter == 'r')
            a->check = options.optarg;
    }
    if (options.errors != 0 || options.optind < argc) {
        pmdaUsageMessage(&options);
        exit(1);
    }
    if (options.username != NULL)
        a->user = options.username;
}

/* Gives the library the metrics and the callbacks. */
static void
announce(struct agent *a, pmdaInterface *interface)
{
    memcpy(a->metrics, metric_rows, sizeof(metric_rows));
    for (size_t i = 0; i < METRICS; i++)
        a->metrics[i].m_user = a;
    for (int i = 0; i < INDOMS; i++)
        a->indoms[i] = (pmdaIndom){(pmInDom)i, 0, NULL};
    interface->version.any.fetch = fetch;
    interface->version.any.instance = list_instances;
    pmdaSetFetchCallBack(interface, fetch_value);
    pmdaInit(interface, a->indoms, INDOMS, a->metrics, (int)METRICS);
    for (unsigned i = 0; i < INDOMS; i++)
        pmdaCacheOp(domain_of(a, i), PMDA_CACHE_CULL);
}

int
main(int argc, char **argv)
{
    struct agent agent = {0};
    pmdaInterface interface;

    pmSetProgname(argv[0]);
    pmGetUsername(&agent.user);
    pmdaDaemon(&interface, PMDA_INTERFACE_7, pmGetProgname(), TALLY,
               "tally.log", NULL);
    read_options(&agent, argc, argv, &interface);
    pmdaOpenLog(&interface);
    if (host_watch_create(agent.events, NULL, &agent_log, &agent.watch) != 0)
        return 1;
    pmSetProcessIdentity(agent.user);
    announce(&agent, &interface);
    if (interface.status != 0) {
        pmNotifyErr(LOG_ERR, "the agent cannot begin: %s",
                    pmErrStr(interface.status));
        return 1;
    }
    pmdaConnect(&interface);
    pmdaMain(&interface);
    host_watch_destroy(agent.watch);
    fleet_results_finish(&agent.results);
    return 0;
}
