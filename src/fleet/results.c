/* SPDX-License-Identifier: MIT */
#include "fleet/results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/input.h"
#include "base/texts.h"
#include "table/table.h"

#define FILE_MOST (64u << 20) /* bytes of a report that are read */

static const char *
text_of(const json_t *object, const char *key)
{
    const char *const text = json_string_value(json_object_get(object, key));

    return text != NULL ? text : "";
}

/* Returns the seconds since 1970 of a time that the history has checked. */
static uint64_t
seconds_of(const char *time)
{
    struct tm t = {0};

    if (sscanf(time, "%4d-%2d-%2dT%2d:%2d:%2dZ", &t.tm_year, &t.tm_mon,
               &t.tm_mday, &t.tm_hour, &t.tm_min, &t.tm_sec) != 6)
        return 0;
    t.tm_year -= 1900;
    t.tm_mon -= 1;
    const time_t seconds = timegm(&t);
    return seconds > 0 ? (uint64_t)seconds : 0;
}

static struct fleet_percent
percent_of(const json_t *measure, const char *key)
{
    const json_t *const value = json_object_get(measure, key);

    return (struct fleet_percent){json_is_number(value) &&
                                      isfinite(json_number_value(value)),
                                  json_number_value(value)};
}

/* Returns the worth of a measure: that of the machine's event, or that the
 * benchmark's runs varied. */
static const char *
standing_of(const struct fleet_benchmark *benchmark, const char *measure)
{
    const struct machine_row *const machine = machine_find(benchmark->machine);
    const struct event_row *const event = machine == NULL ? NULL
                                          : strcmp(measure, "cost") == 0
                                              ? event_of_cycles(machine)
                                              : event_find(machine, measure);

    if (strcmp(benchmark->status, check_status_name(CHECK_VARIES)) == 0)
        return fidelity_name(FIDELITY_VARIES);
    return event != NULL ? machine_standing(machine, event->fidelity) : "";
}

/* Makes room for one more element. False: no memory. */
static bool
grow(void **list, size_t count, size_t size)
{
    void *const more = reallocarray(*list, count + 1, size);

    if (more != NULL)
        *list = more;
    return more != NULL;
}

static bool
add_measure(struct fleet_results *r, const json_t *measure)
{
    const size_t number = r->benchmark_count - 1;

    if (!grow((void **)&r->measures, r->measure_count, sizeof(*r->measures)))
        return false;
    struct fleet_measure *const m = &r->measures[r->measure_count++];
    *m = (struct fleet_measure){
        .benchmark = number,
        .name = text_of(measure, "name"),
        .verdict = text_of(measure, "verdict"),
        .change = percent_of(measure, "change_percent"),
        .soft = percent_of(measure, "soft_percent"),
        .hard = percent_of(measure, "hard_percent"),
    };
    m->standing = standing_of(&r->benchmarks[number], m->name);
    check_range_read(json_object_get(measure, "now"), &m->now);
    m->compared =
        check_range_read(json_object_get(measure, "baseline"), &m->before);
    return true;
}

/* Notes a benchmark of a machine. Returns 1 where the pair is new, 0 where a
 * later report has it, -1 without memory. */
static int
note_pair(struct texts *known, const char *name, const char *machine)
{
    char *pair = NULL;
    int is_new = -1;

    if (asprintf(&pair, "%zu %s %s", strlen(name), name, machine) < 0)
        return -1;
    if (texts_find(known, pair) != 0)
        is_new = 0;
    else if (texts_add(known, pair) != 0)
        is_new = 1;
    free(pair);
    return is_new;
}

static bool
add_benchmark(struct fleet_results *r, struct texts *known,
              const json_t *benchmark, uint64_t time_s)
{
    const json_t *const measures = json_object_get(benchmark, "measures");
    const char *const name = text_of(benchmark, "benchmark");
    const char *const machine = text_of(benchmark, "machine");
    const json_t *measure;
    size_t i;

    const int is_new = note_pair(known, name, machine);
    if (is_new != 1)
        return is_new == 0;
    if (!grow((void **)&r->benchmarks, r->benchmark_count,
              sizeof(*r->benchmarks)))
        return false;
    r->benchmarks[r->benchmark_count++] =
        (struct fleet_benchmark){.name = name,
                                 .machine = machine,
                                 .status = text_of(benchmark, "status"),
                                 .time_s = time_s};
    json_array_foreach(measures, i, measure)
    {
        if (!add_measure(r, measure))
            return false;
    }
    return true;
}

/* Collects the benchmarks of the history, whose reports are in order of their
 * time, from the last report on. 0 or TALLY_ENOMEM, logged; then nothing is to
 * be freed. */
static int
collect(struct fleet_results *r, const struct tally_log *log)
{
    struct texts known = {0};
    bool whole = texts_init(&known) == 0;

    for (size_t i = r->history.result_count; whole && i-- > 0;) {
        const struct check_history_result *const report =
            &r->history.results[i];
        const json_t *const results =
            json_object_get(report->document, "results");
        const json_t *benchmark;
        size_t k;
        json_array_foreach(results, k, benchmark)
        {
            whole = whole && add_benchmark(r, &known, benchmark,
                                           seconds_of(report->time));
        }
    }
    texts_finish(&known);
    if (whole)
        return 0;
    fleet_results_finish(r);
    return tally_fail(log, TALLY_ENOMEM, "no memory for the results");
}

int
fleet_results_read_text(const char *text, size_t size, const char *name,
                        const struct tally_log *log,
                        struct fleet_results *results)
{
    struct fleet_results r = {0};
    json_t *const document =
        json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    const char *const fault = check_history_fault(document);

    if (fault != NULL) {
        json_decref(document);
        return tally_fail(log, TALLY_ESYNTAX, "%s %s", name, fault);
    }
    int error = check_history_add_document(&r.history, document, name, log);
    if (error == 0)
        error = collect(&r, log);
    if (error != 0) {
        fleet_results_finish(&r);
        return error;
    }
    *results = r;
    return 0;
}

/* Reads a report that is a file. */
static int
read_file(const char *path, const struct tally_log *log,
          struct fleet_results *results)
{
    size_t size;
    char *const text = input_read(path, FILE_MOST, &size);

    if (text == NULL)
        return tally_fail(log, errno == ENOMEM ? TALLY_ENOMEM : TALLY_EIO,
                          "cannot read %s: %s", path,
                          errno == EFBIG ? "it has more than 64 MiB"
                                         : input_reason(errno));
    const int error = fleet_results_read_text(text, size, path, log, results);
    free(text);
    return error;
}

int
fleet_results_read(const char *path, const struct tally_log *log,
                   struct fleet_results *results)
{
    struct fleet_results r = {0};
    struct stat st;

    if (stat(path, &st) != 0)
        return tally_fail(log, TALLY_EIO, "cannot read %s: %s", path,
                          strerror(errno));
    if (!S_ISDIR(st.st_mode))
        return read_file(path, log, results);
    int error = check_history_read(path, log, &r.history);
    if (error == TALLY_EUNKNOWN) /* no report is there yet */
        error = 0;
    else if (error == 0)
        error = collect(&r, log);
    if (error != 0) {
        fleet_results_finish(&r);
        return error;
    }
    *results = r;
    return 0;
}

void
fleet_results_finish(struct fleet_results *r)
{
    check_history_finish(&r->history);
    free(r->benchmarks);
    free(r->measures);
    *r = (struct fleet_results){0};
}
