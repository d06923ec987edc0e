/* SPDX-License-Identifier: MIT */
#include "check/history.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/input.h"
#include "base/path.h"
#include "check/sample.h"

#define SCHEMA 1
#define ENDING ".json"
/* Bytes of a report that are read. */
#define FILE_MOST (64u << 20)

/* Reading */

/* Returns whether the value is text, or with `or_null` null. */
static bool
is_text(const json_t *value, bool or_null)
{
    return json_is_string(value) || (or_null && json_is_null(value));
}

bool
check_range_read(const json_t *value, struct check_range *range)
{
    static const char *const names[] = {"least", "median", "most"};
    uint64_t numbers[3];

    for (unsigned i = 0; i < 3; i++) {
        const json_t *const number = json_object_get(value, names[i]);
        if (!json_is_integer(number) || json_integer_value(number) < 0)
            return false;
        numbers[i] = (uint64_t)json_integer_value(number);
    }
    if (numbers[0] > numbers[1] || numbers[1] > numbers[2])
        return false;
    *range = (struct check_range){
        .least = numbers[0], .median = numbers[1], .most = numbers[2]};
    return true;
}

static bool
is_measure(const json_t *measure)
{
    struct check_range range;

    return is_text(json_object_get(measure, "name"), false) &&
           is_text(json_object_get(measure, "verdict"), false) &&
           check_range_read(json_object_get(measure, "now"), &range);
}

static bool
is_benchmark(const json_t *benchmark)
{
    const json_t *const measures = json_object_get(benchmark, "measures");
    const json_t *measure;
    size_t i;

    if (!is_text(json_object_get(benchmark, "benchmark"), false) ||
        !is_text(json_object_get(benchmark, "key"), true) ||
        !is_text(json_object_get(benchmark, "status"), false) ||
        !is_text(json_object_get(benchmark, "reason"), true) ||
        !json_is_array(measures))
        return false;
    json_array_foreach(measures, i, measure)
    {
        if (!is_measure(measure))
            return false;
    }
    return true;
}

/* Returns whether the text is a time as reports have it. */
static bool
is_time(const json_t *value)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    const char *const text = json_string_value(value);

    if (text == NULL || strlen(text) != sizeof(form) - 1)
        return false;
    for (size_t i = 0; form[i] != '\0'; i++) {
        if (form[i] == '0' ? text[i] < '0' || text[i] > '9'
                           : text[i] != form[i])
            return false;
    }
    return true;
}

const char *
check_history_fault(const json_t *document)
{
    const json_t *const results = json_object_get(document, "results");
    const json_t *benchmark;
    size_t i;

    if (document == NULL)
        return "is no JSON";
    if (!json_is_array(results) || json_object_get(document, "schema") == NULL)
        return "is no report of tally check --format json";
    if (json_integer_value(json_object_get(document, "schema")) != SCHEMA)
        return "is a report of another version of tally";
    if (!is_time(json_object_get(document, "time")))
        return "does not say when it was made";
    json_array_foreach(results, i, benchmark)
    {
        if (!is_benchmark(benchmark))
            return "is damaged";
    }
    return NULL;
}

/* Returns the label of a report's file, for the caller to free; NULL: no
 * memory. */
static char *
make_label(const char *name)
{
    const char *const base = path_base(name);
    const size_t size = strlen(base), end = sizeof(ENDING) - 1;
    const bool has = size > end && strcmp(base + size - end, ENDING) == 0;
    char *const stem = strndup(base, has ? size - end : size);
    char *const label = stem != NULL ? check_text(stem) : NULL;

    free(stem);
    return label;
}

int
check_history_add_document(struct check_history *h, json_t *document,
                           const char *name, const struct tally_log *log)
{
    char *const label = make_label(name);
    struct check_history_result *const more =
        realloc(h->results, (h->result_count + 1) * sizeof(*more));
    if (more != NULL)
        h->results = more;
    if (more == NULL || label == NULL) {
        json_decref(document);
        free(label);
        return tally_fail(log, TALLY_ENOMEM, "out of memory");
    }
    more[h->result_count++] = (struct check_history_result){
        .label = label,
        .time = json_string_value(json_object_get(document, "time")),
        .document = document,
    };
    return 0;
}

int
check_history_add(struct check_history *h, const char *text, size_t size,
                  const char *name, const struct tally_log *log)
{
    json_error_t error;
    json_t *const document =
        json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    const char *const fault = check_history_fault(document);

    if (fault == NULL)
        return check_history_add_document(h, document, name, log);
    tally_logf(log, TALLY_LOG_WARNING, "%s %s; it is left out", name, fault);
    json_decref(document);
    return TALLY_ESYNTAX;
}

/* Adds a file of the folder; one that cannot be read is left out, too. 0 or
 * TALLY_ENOMEM. */
static int
add_file(struct check_history *h, const char *path, const struct tally_log *log)
{
    struct stat st;
    size_t size;

    /* A pipe that lies in a folder is no report. */
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        tally_logf(log, TALLY_LOG_WARNING, "%s is no file; it is left out",
                   path);
        return 0;
    }
    char *const text = input_read(path, FILE_MOST, &size);
    if (text == NULL && errno == EFBIG)
        tally_logf(log, TALLY_LOG_WARNING,
                   "%s has more than 64 MiB; it is left out", path);
    else if (text == NULL)
        tally_logf(log, TALLY_LOG_WARNING, "cannot read %s: %s; it is left out",
                   path, input_reason(errno));
    const int error =
        text != NULL ? check_history_add(h, text, size, path, log) : 0;
    free(text);
    return error == TALLY_ENOMEM ? error : 0;
}

static int
is_report(const struct dirent *entry)
{
    const size_t size = strlen(entry->d_name), end = sizeof(ENDING) - 1;

    return entry->d_name[0] != '.' && size > end &&
           strcmp(entry->d_name + size - end, ENDING) == 0;
}

int
check_history_read(const char *folder, const struct tally_log *log,
                   struct check_history *h)
{
    struct dirent **entries = NULL;
    int error = 0;

    memset(h, 0, sizeof(*h));
    const int count = scandir(folder, &entries, is_report, alphasort);
    if (count < 0)
        return tally_fail(log, TALLY_EIO, "cannot read the folder %s: %s",
                          folder, strerror(errno));
    for (int i = 0; i < count; i++) {
        char *path = NULL;
        if (error == 0 &&
            asprintf(&path, "%s/%s", folder, entries[i]->d_name) < 0) {
            path = NULL;
            error = tally_fail(log, TALLY_ENOMEM, "out of memory");
        }
        if (error == 0)
            error = add_file(h, path, log);
        free(path);
        free(entries[i]);
    }
    free(entries);
    if (error == 0 && h->result_count == 0)
        error = tally_fail(log, TALLY_EUNKNOWN,
                           "%s has no report; tally check --format json -o "
                           "%s/NAME.json makes one",
                           folder, folder);
    if (error == 0 && check_history_order(h) != 0)
        error = tally_fail(log, TALLY_ENOMEM, "out of memory");
    return error;
}

/* Series */

static int
compare_results(const void *x, const void *y)
{
    const struct check_history_result *const a = x, *const b = y;
    const int order = strcmp(a->time, b->time);

    return order != 0 ? order : strcmp(a->label, b->label);
}

static int
compare_series(const void *x, const void *y)
{
    const struct check_series *const a = x, *const b = y;
    const int order = strverscmp(a->benchmark, b->benchmark);

    return order != 0 ? order
                      : (a->number > b->number) - (a->number < b->number);
}

static bool
meet(const struct check_range *a, const struct check_range *b)
{
    return a->least <= b->most && b->least <= a->most;
}

/* What makes the series. */
struct making {
    struct check_history *history;
    json_t *known; /* numbers of series by benchmark, then by measure */
    json_t *last;  /* by series in order of making: the number of the last point
                      of each key */
    bool failed;
};

/* Returns the series of a measure, which is made where it is new; NULL: no
 * memory. */
static struct check_series *
series_of(struct making *m, const char *benchmark, const char *measure)
{
    struct check_history *const h = m->history;
    json_t *measures = json_object_get(m->known, benchmark);

    if (measures == NULL) {
        measures = json_object();
        if (json_object_set_new(m->known, benchmark, measures) != 0)
            return NULL;
    }
    const json_t *const number = json_object_get(measures, measure);
    if (number != NULL)
        return &h->series[json_integer_value(number)];
    struct check_series *const more =
        realloc(h->series, (h->series_count + 1) * sizeof(*more));
    if (more == NULL)
        return NULL;
    h->series = more;
    if (json_object_set_new(measures, measure,
                            json_integer((json_int_t)h->series_count)) != 0 ||
        json_array_append_new(m->last, json_object()) != 0)
        return NULL;
    struct check_series *const s = &more[h->series_count++];
    *s = (struct check_series){
        .benchmark = benchmark, .measure = measure, .number = h->series_count};
    return s;
}

/* Compares the last point of a series with the last before it that has its key.
 * Returns false: there is no memory. */
static bool
compare_point(const struct making *m, const struct check_series *s)
{
    const size_t number = s->count - 1;
    struct check_point *const p = &s->points[number];
    json_t *const last = json_array_get(m->last, s->number - 1);
    const json_t *const before = json_object_get(last, p->key);

    p->before = before != NULL ? (size_t)json_integer_value(before) : number;
    if (before != NULL) {
        const struct check_range *const old = &s->points[p->before].range;
        p->moved = !meet(old, &p->range);
        p->change = check_change(p->range.median, old->median);
    }
    return json_object_set_new(last, p->key,
                               json_integer((json_int_t)number)) == 0;
}

static bool
add_point(struct making *m, size_t result, const json_t *benchmark,
          const json_t *measure)
{
    struct check_series *const s =
        series_of(m, json_string_value(json_object_get(benchmark, "benchmark")),
                  json_string_value(json_object_get(measure, "name")));
    const char *const key =
        json_string_value(json_object_get(benchmark, "key"));
    struct check_point *const more =
        s != NULL ? realloc(s->points, (s->count + 1) * sizeof(*more)) : NULL;

    if (more == NULL)
        return false;
    s->points = more;
    struct check_point *const p = &more[s->count++];
    *p = (struct check_point){
        .result = result,
        .key = key != NULL ? key : "",
        .verdict = json_string_value(json_object_get(measure, "verdict")),
    };
    check_range_read(json_object_get(measure, "now"), &p->range);
    return compare_point(m, s);
}

static bool
add_lapse(struct check_history *h, size_t result, const json_t *benchmark)
{
    struct check_lapse *const more =
        realloc(h->lapses, (h->lapse_count + 1) * sizeof(*more));

    if (more == NULL)
        return false;
    h->lapses = more;
    more[h->lapse_count++] = (struct check_lapse){
        .result = result,
        .benchmark = json_string_value(json_object_get(benchmark, "benchmark")),
        .status = json_string_value(json_object_get(benchmark, "status")),
        .reason = json_string_value(json_object_get(benchmark, "reason")),
    };
    return true;
}

static bool
add_result(struct making *m, size_t result)
{
    const json_t *const results =
        json_object_get(m->history->results[result].document, "results");
    const json_t *benchmark, *measure;
    size_t i, k;

    json_array_foreach(results, i, benchmark)
    {
        const json_t *const measures = json_object_get(benchmark, "measures");
        if (json_array_size(measures) == 0 &&
            !add_lapse(m->history, result, benchmark))
            return false;
        json_array_foreach(measures, k, measure)
        {
            if (!add_point(m, result, benchmark, measure))
                return false;
        }
    }
    return true;
}

int
check_history_order(struct check_history *h)
{
    struct making m = {
        .history = h, .known = json_object(), .last = json_array()};

    if (m.known == NULL || m.last == NULL) {
        json_decref(m.known);
        json_decref(m.last);
        return TALLY_ENOMEM;
    }
    qsort(h->results, h->result_count, sizeof(*h->results), compare_results);
    for (size_t i = 0; i < h->result_count && !m.failed; i++)
        m.failed = !add_result(&m, i);
    json_decref(m.known);
    json_decref(m.last);
    if (h->series_count > 0)
        qsort(h->series, h->series_count, sizeof(*h->series), compare_series);
    return m.failed ? TALLY_ENOMEM : 0;
}

void
check_history_finish(struct check_history *h)
{
    for (size_t i = 0; i < h->result_count; i++) {
        free(h->results[i].label);
        json_decref(h->results[i].document);
    }
    for (size_t i = 0; i < h->series_count; i++)
        free(h->series[i].points);
    free(h->results);
    free(h->series);
    free(h->lapses);
    memset(h, 0, sizeof(*h));
}
