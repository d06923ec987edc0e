/* SPDX-License-Identifier: MIT */
#include "fleet/metrics.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/path.h"

enum {
    BUILD_INFO,
    COUNT_EVENTS,
    COUNT_SECONDS,
    COUNT_BYTES,
    COUNT_JOULES,
    COUNT_DEVIATION,
    COUNT_METRIC,
    COUNT_MISSING,
    COUNT_INTERRUPTED,
    CHECK_RESULT,
    CHECK_VALUE,
    CHECK_LEAST,
    CHECK_MOST_VALUE,
    CHECK_BASELINE,
    CHECK_CHANGE,
    CHECK_LIMIT,
    CHECK_TIME,
    CHECK_READABLE,
    HOST_EVENTS,
    HOST_SECONDS,
    HOST_BYTES,
    HOST_JOULES,
    HOST_MISSING,
    HOST_START,
    FAMILIES,
};

/* clang-format off */
static const struct metric_family families[FAMILIES] = {
    [BUILD_INFO] = {"tally_build_info", NULL,
        "1; the label version is that of tally.", METRIC_GAUGE},
    [COUNT_EVENTS] = {"tally_count_events", NULL,
        "Events of one run that tally count counted; with -r the mean of the runs.",
        METRIC_GAUGE},
    [COUNT_SECONDS] = {"tally_count_seconds", "seconds",
        "Times of one run that tally count counted as events.", METRIC_GAUGE},
    [COUNT_BYTES] = {"tally_count_bytes", "bytes",
        "Events of one run that are amounts of data.", METRIC_GAUGE},
    [COUNT_JOULES] = {"tally_count_joules", "joules",
        "Events of one run that are energies.", METRIC_GAUGE},
    [COUNT_DEVIATION] = {"tally_count_deviation_ratio", "ratio",
        "Standard deviation of an event over the runs of -r, as a part of its mean.",
        METRIC_GAUGE},
    [COUNT_METRIC] = {"tally_count_metric", NULL,
        "Metrics that follow from the events of one run.", METRIC_GAUGE},
    [COUNT_MISSING] = {"tally_count_missing", NULL,
        "1 of an event or metric that was asked for and has no value; the label code says why.",
        METRIC_GAUGE},
    [COUNT_INTERRUPTED] = {"tally_count_interrupted", NULL,
        "1 where a signal ended the counting before the program's end, otherwise 0.",
        METRIC_GAUGE},
    [CHECK_RESULT] = {"tally_check_status", NULL,
        "1 of the status that a benchmark has in its latest report, 0 of the others.",
        METRIC_GAUGE},
    [CHECK_VALUE] = {"tally_check_value", NULL,
        "Median of a measure over all layouts of memory; cost is in cycles, others in events.",
        METRIC_GAUGE},
    [CHECK_LEAST] = {"tally_check_least", NULL,
        "Smallest value of a measure over all layouts of memory.", METRIC_GAUGE},
    [CHECK_MOST_VALUE] = {"tally_check_most", NULL,
        "Largest value of a measure over all layouts of memory.", METRIC_GAUGE},
    [CHECK_BASELINE] = {"tally_check_baseline", NULL,
        "Median of a measure in the baseline.", METRIC_GAUGE},
    [CHECK_CHANGE] = {"tally_check_change_ratio", "ratio",
        "Change of the median since the baseline: 0.01 is 1 per cent more.", METRIC_GAUGE},
    [CHECK_LIMIT] = {"tally_check_limit_ratio", "ratio",
        "Rise of the median that breaks the soft or the hard limit.", METRIC_GAUGE},
    [CHECK_TIME] = {"tally_check_timestamp_seconds", "seconds",
        "Time of the latest report that has the benchmark, since 1970, UTC.", METRIC_GAUGE},
    [CHECK_READABLE] = {"tally_check_readable", NULL,
        "1 where the reports could be read this time, otherwise 0.", METRIC_GAUGE},
    [HOST_EVENTS] = {"tally_host_events", NULL,
        "Events of this host, all processes and levels, since tally began.",
        METRIC_COUNTER},
    [HOST_SECONDS] = {"tally_host_seconds", "seconds",
        "Clocks of this host that are counted as events, since tally began.",
        METRIC_COUNTER},
    [HOST_BYTES] = {"tally_host_bytes", "bytes",
        "Events of this host that are amounts of data, since tally began.",
        METRIC_COUNTER},
    [HOST_JOULES] = {"tally_host_joules", "joules",
        "Events of this host that are energies, since tally began.", METRIC_COUNTER},
    [HOST_MISSING] = {"tally_host_missing", NULL,
        "1 of an event that was asked for and is not counted; the label code says why.",
        METRIC_GAUGE},
    [HOST_START] = {"tally_host_start_time_seconds", "seconds",
        "When counting of this host began, since 1970, UTC.", METRIC_GAUGE},
};
/* clang-format on */

/* A unit of events, and what a metric makes of it. */
struct metric_unit {
    const char *unit;
    int count_family, host_family;
    double factor;
};

static const struct metric_unit units[] = {
    {"ns", COUNT_SECONDS, HOST_SECONDS, 1e-9},
    {"msec", COUNT_SECONDS, HOST_SECONDS, 1e-3},
    {"s", COUNT_SECONDS, HOST_SECONDS, 1},
    {"bytes", COUNT_BYTES, HOST_BYTES, 1},
    {"KiB", COUNT_BYTES, HOST_BYTES, 1024},
    {"MiB", COUNT_BYTES, HOST_BYTES, 1048576},
    {"GiB", COUNT_BYTES, HOST_BYTES, 1073741824},
    {"KB", COUNT_BYTES, HOST_BYTES, 1e3},
    {"MB", COUNT_BYTES, HOST_BYTES, 1e6},
    {"GB", COUNT_BYTES, HOST_BYTES, 1e9},
    {"Joules", COUNT_JOULES, HOST_JOULES, 1},
    {"J", COUNT_JOULES, HOST_JOULES, 1},
};

static const struct metric_unit *
find_unit(const char *unit)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
        if (strcasecmp(units[i].unit, unit) == 0)
            return &units[i];
    return NULL;
}

int
fleet_metrics_create(const char *version, struct exposition **exposition)
{
    const struct metric_label labels[] = {{"version", version}, {0}};
    const int error = exposition_create(families, FAMILIES, exposition);

    if (error == 0)
        exposition_add(*exposition, BUILD_INFO, labels, 1);
    return error;
}

enum fleet_document
fleet_document_kind(const char *text, size_t size)
{
    json_t *const document =
        json_loadb(text, size, JSON_DISABLE_EOF_CHECK, NULL);
    const bool check = json_is_array(json_object_get(document, "results"));

    json_decref(document);
    return check ? FLEET_CHECK : FLEET_COUNT;
}

/* Counts */

/* What the samples of one report share. */
struct count_context {
    struct exposition *exposition;
    const char *machine, *program, *target;
};

static void
add_value(struct exposition *e, int family, const struct metric_label *labels,
          const struct count_row *row, double factor)
{
    if (row->value.whole && row->value.count >= 0 && factor == 1)
        exposition_add(e, (size_t)family, labels, (uint64_t)row->value.count);
    else if (isfinite(row->value.real * factor))
        exposition_add_real(e, (size_t)family, labels,
                            row->value.real * factor);
}

static void
add_missing(const struct count_context *c, const char *kind,
            const struct count_row *row)
{
    const struct metric_label labels[] = {
        {"machine", c->machine},
        {"program", c->program},
        {"target", c->target},
        {kind, row->name},
        {"code", row->code != NULL ? row->code : "idle"},
        {"standing", "idle"},
        {0},
    };

    exposition_add(c->exposition, COUNT_MISSING, labels, 1);
}

/* Returns the name that was asked for where the machine has another; else NULL.
 */
static const char *
asked_of(const struct count_row *row)
{
    return strcmp(row->asked, row->name) != 0 ? row->asked : NULL;
}

static void
add_event(const struct count_context *c, const struct count_row *row)
{
    const struct metric_unit *const unit = find_unit(row->unit);
    const struct metric_label labels[] = {
        {"machine", c->machine},     {"program", c->program},
        {"target", c->target},       {"event", row->name},
        {"asked", asked_of(row)},    {"unit", unit != NULL ? NULL : row->unit},
        {"standing", row->standing}, {0},
    };

    if (!row->value.known || strcmp(row->standing, "idle") == 0) {
        add_missing(c, "event", row);
        return;
    }
    add_value(c->exposition, unit != NULL ? unit->count_family : COUNT_EVENTS,
              labels, row, unit != NULL ? unit->factor : 1);
    if (row->runs > 1 && row->mean > 0)
        exposition_add_real(c->exposition, COUNT_DEVIATION, labels,
                            row->stddev / row->mean);
}

static void
add_metric(const struct count_context *c, const struct count_row *row)
{
    const struct metric_label labels[] = {
        {"machine", c->machine},
        {"program", c->program},
        {"target", c->target},
        {"metric", row->name},
        {"unit", row->unit},
        {"standing", row->standing},
        {0},
    };

    if (!row->value.known || strcmp(row->standing, "idle") == 0)
        add_missing(c, "metric", row);
    else
        add_value(c->exposition, COUNT_METRIC, labels, row, 1);
}

/* Returns the first word of a command line without its folder, for the caller
 * to free; NULL: no program, or no memory. */
static char *
program_name(const struct count_document *d)
{
    char *word = NULL;

    if (d->program == NULL)
        return NULL;
    word = strndup(d->program, strcspn(d->program, " \t\n"));
    if (word == NULL)
        return NULL;
    char *const name = strdup(path_base(word));
    free(word);
    return name;
}

void
fleet_add_count(struct exposition *exposition, const struct count_document *d)
{
    char *const program = program_name(d);
    const struct count_context c = {exposition, d->machine, program, d->target};
    const struct metric_label labels[] = {{"machine", c.machine},
                                          {"program", c.program},
                                          {"target", c.target},
                                          {0}};

    for (size_t i = 0; i < d->event_count; i++)
        add_event(&c, &d->events[i]);
    for (size_t i = 0; i < d->metric_count; i++)
        add_metric(&c, &d->metrics[i]);
    exposition_add(exposition, COUNT_INTERRUPTED, labels, d->interrupted);
    free(program);
}

/* Results */

static void
add_percent(struct exposition *e, int family, const struct metric_label *labels,
            const struct fleet_percent *percent)
{
    if (percent->known)
        exposition_add_real(e, (size_t)family, labels, percent->value / 100);
}

static void
add_measure(struct exposition *e, const struct fleet_benchmark *b,
            const struct fleet_measure *m)
{
    /* The last but one is for what a limit adds. */
    struct metric_label labels[] = {
        {"benchmark", b->name}, {"machine", b->machine},
        {"measure", m->name},   {"standing", m->standing},
        {"limit", NULL},        {0},
    };
    struct metric_label *const limit = &labels[4];

    exposition_add(e, CHECK_VALUE, labels, m->now.median);
    exposition_add(e, CHECK_LEAST, labels, m->now.least);
    exposition_add(e, CHECK_MOST_VALUE, labels, m->now.most);
    if (m->compared)
        exposition_add(e, CHECK_BASELINE, labels, m->before.median);
    add_percent(e, CHECK_CHANGE, labels, &m->change);
    limit->value = "soft";
    add_percent(e, CHECK_LIMIT, labels, &m->soft);
    limit->value = "hard";
    add_percent(e, CHECK_LIMIT, labels, &m->hard);
}

void
fleet_add_results(struct exposition *e, const struct fleet_results *r)
{
    for (size_t i = 0; i < r->benchmark_count; i++) {
        const struct fleet_benchmark *const b = &r->benchmarks[i];
        const struct metric_label labels[] = {
            {"benchmark", b->name}, {"machine", b->machine}, {0}};
        for (int status = 0; status < CHECK_STATUSES; status++) {
            const char *const word =
                check_status_name((enum check_status)status);
            const struct metric_label each[] = {
                labels[0], labels[1], {"status", word}, {0}};
            exposition_add(e, CHECK_RESULT, each, strcmp(word, b->status) == 0);
        }
        exposition_add(e, CHECK_TIME, labels, b->time_s);
    }
    for (size_t i = 0; i < r->measure_count; i++)
        add_measure(e, &r->benchmarks[r->measures[i].benchmark],
                    &r->measures[i]);
}

void
fleet_add_read(struct exposition *e, bool read)
{
    exposition_add(e, CHECK_READABLE, (const struct metric_label[]){{0}}, read);
}

/* The host */

/* Adds a total of an event, of a cpu or of all (NULL). */
static void
add_total(struct exposition *e, const struct host_watch_row *row,
          const char *cpu, uint64_t total)
{
    const struct host_event *const event = row->event;
    const char *const text = host_event_is_clock(event) ? "ns" : event->unit;
    const struct metric_unit *const unit = find_unit(text);
    const double factor = event->scale * (unit != NULL ? unit->factor : 1);
    const struct metric_label labels[] = {
        {"event", event->name},
        {"cpu", cpu},
        {"unit", unit != NULL ? NULL : text},
        {"source", host_watch_source_name(row->source)},
        {"standing", row->estimated ? "estimated" : "measured"},
        {0},
    };
    const size_t family =
        (size_t)(unit != NULL ? unit->host_family : HOST_EVENTS);

    if (factor == 1)
        exposition_add(e, family, labels, total);
    else
        exposition_add_real(e, family, labels, (double)total * factor);
}

void
fleet_add_host(struct exposition *e, const struct host_watch *watch,
               bool by_cpu)
{
    const struct metric_label none[] = {{0}};
    size_t count;
    const struct host_watch_row *const rows = host_watch_rows(watch, &count);

    for (size_t i = 0; i < count; i++) {
        const struct host_watch_row *const row = &rows[i];
        const struct metric_label missing[] = {
            {"event", row->event->name},
            {"code", host_why_name(row->reason.why)},
            {"standing", "idle"},
            {0},
        };
        if (!row->counted)
            exposition_add(e, HOST_MISSING, missing, 1);
        else if (!by_cpu || row->part_count == 0 || row->event->uncore)
            add_total(e, row, NULL, row->total);
        else
            for (size_t k = 0; k < row->part_count; k++) {
                char cpu[16];
                snprintf(cpu, sizeof(cpu), "%d", row->parts[k].cpu);
                add_total(e, row, cpu, row->parts[k].total);
            }
    }
    exposition_add_real(e, HOST_START, none, host_watch_began(watch));
}
