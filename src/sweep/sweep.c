/* SPDX-License-Identifier: MIT */
#include "sweep/sweep.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table/table.h"

/* Returns what K stands for in values of the parameter, as `tally count --set`
 * has it; 0: nothing. */
static uint64_t
kilo_of(const char *key)
{
    for (size_t i = 0; i < PARAM_COUNT; i++)
        if (strcmp(tally_params[i].key, key) == 0)
            return tally_params[i].kind == PARAM_KIND_SIZE    ? 1024
                   : tally_params[i].kind == PARAM_KIND_HERTZ ? 1000
                                                              : 0;
    return 0;
}

/* Reads a number that may end in K, M or G where `kilo` is not 0. Returns
 * whether `text` is one. */
static bool
read_number(const char *text, size_t length, uint64_t kilo, uint64_t *number)
{
    static const char units[] = "KMG";
    uint64_t n = 0;
    size_t i = 0;

    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++) {
        if (n > (UINT64_MAX >> 34) / 10)
            return false;
        n = n * 10 + (uint64_t)(text[i] - '0');
    }
    if (i == 0)
        return false;
    const char *const unit = kilo != 0 && i + 1 == length && text[i] != '\0'
                                 ? strchr(units, text[i] & ~0x20)
                                 : NULL;
    if (unit != NULL) {
        for (const char *u = units; u <= unit; u++)
            n *= kilo;
        i++;
    }
    *number = n;
    return i == length;
}

/* Returns a number as a command line has it, with K, M or G where that is
 * whole, for the caller to free; NULL: no memory. */
static char *
write_number(uint64_t n, uint64_t kilo)
{
    static const char *const units[] = {"", "K", "M", "G"};
    unsigned unit = 0;
    char *text = NULL;

    while (kilo != 0 && n != 0 && n % kilo == 0 && unit < 3) {
        n /= kilo;
        unit++;
    }
    return asprintf(&text, "%" PRIu64 "%s", n, units[unit]) < 0 ? NULL : text;
}

/* Adds a value to an axis; takes the text over. */
static int
add_value(struct sweep_axis *a, char *text, const struct tally_log *log)
{
    char **const more =
        reallocarray(a->values, a->count + 1, sizeof(*a->values));

    if (more != NULL)
        a->values = more;
    if (more == NULL || text == NULL) {
        free(text);
        return tally_fail(log, TALLY_ENOMEM, "no memory for a sweep");
    }
    a->values[a->count++] = text;
    if (a->count > SWEEP_POINTS_MOST)
        return tally_fail(log, TALLY_ERANGE,
                          "%s: more than %d values; a sweep has at most so "
                          "many points",
                          a->key, SWEEP_POINTS_MOST);
    return 0;
}

/* Adds LOW..HIGH or LOW..HIGH+STEP; `dots` points at the two dots. */
static int
add_range(struct sweep_axis *a, const char *text, size_t length,
          const char *dots, const struct tally_log *log)
{
    const char *const end = text + length;
    const char *const high = dots + 2;
    const char *const plus = memchr(high, '+', (size_t)(end - high));
    const char *const high_end = plus != NULL ? plus : end;
    const uint64_t kilo = kilo_of(a->key);
    uint64_t least, most, step = 0;

    if (!read_number(text, (size_t)(dots - text), kilo, &least) ||
        !read_number(high, (size_t)(high_end - high), kilo, &most) ||
        (plus != NULL &&
         !read_number(plus + 1, (size_t)(end - plus - 1), kilo, &step)))
        return tally_fail(log, TALLY_ERANGE,
                          "%s=%.*s: a range is LOW..HIGH, as 4K..1M for 4K and "
                          "its doubles, or LOW..HIGH+STEP, as 2..10+2",
                          a->key, (int)length, text);
    if (least > most || (plus != NULL ? step == 0 : least == 0))
        return tally_fail(log, TALLY_ERANGE, "%s=%.*s: %s", a->key, (int)length,
                          text,
                          least > most   ? "the range begins above its end"
                          : plus != NULL ? "the step is to be more than 0"
                                         : "0 has no doubles; write 0,1..8");
    for (uint64_t n = least;; n += plus != NULL ? step : n) {
        const int error = add_value(a, write_number(n, kilo), log);
        if (error != 0)
            return error;
        if ((plus != NULL ? step : n) > most - n)
            return 0;
    }
}

/* Sets the numbers of an axis whose values all are numbers. */
static int
set_numbers(struct sweep_axis *a, const struct tally_log *log)
{
    a->numbers = calloc(a->count, sizeof(*a->numbers));
    if (a->numbers == NULL)
        return tally_fail(log, TALLY_ENOMEM, "no memory for a sweep");
    for (size_t i = 0; i < a->count; i++) {
        if (!read_number(a->values[i], strlen(a->values[i]), kilo_of(a->key),
                         &a->numbers[i])) {
            free(a->numbers);
            a->numbers = NULL;
            return 0;
        }
    }
    return 0;
}

/* Refuses a value that comes twice. */
static int
check_values(const struct sweep_axis *a, const struct tally_log *log)
{
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(a->values[i], a->values[k]) == 0 ||
                (a->numbers != NULL && a->numbers[i] == a->numbers[k]))
                return tally_fail(log, TALLY_ERANGE,
                                  "%s has the value %s twice", a->key,
                                  a->values[i]);
    return 0;
}

/* Adds an axis without values, of a key that no axis has. Returns NULL after
 * logging what is wrong. */
static struct sweep_axis *
begin_axis(struct sweep *s, const char *key, size_t length, int *error,
           const struct tally_log *log)
{
    for (size_t i = 0; i < s->axis_count; i++) {
        if (strlen(s->axes[i].key) == length &&
            memcmp(s->axes[i].key, key, length) == 0) {
            *error = tally_fail(log, TALLY_ERANGE,
                                "%.*s is given twice; several values stand "
                                "behind one =, with commas between them",
                                (int)length, key);
            return NULL;
        }
    }
    if (s->axis_count == SWEEP_AXES_MOST) {
        *error = tally_fail(log, TALLY_ERANGE, "more than %d parameters",
                            SWEEP_SETS_MOST);
        return NULL;
    }
    struct sweep_axis *const more =
        reallocarray(s->axes, s->axis_count + 1, sizeof(*s->axes));
    char *const own = strndup(key, length);
    if (more != NULL)
        s->axes = more;
    if (more == NULL || own == NULL) {
        free(own);
        *error = tally_fail(log, TALLY_ENOMEM, "no memory for a sweep");
        return NULL;
    }
    s->axes[s->axis_count] = (struct sweep_axis){.key = own};
    return &s->axes[s->axis_count++];
}

int
sweep_add_axis(struct sweep *s, const char *text, const struct tally_log *log)
{
    const char *const sign = strchr(text, '=');
    int error = 0;

    if (sign == NULL || sign == text || sign[1] == '\0')
        return tally_fail(log, TALLY_ERANGE,
                          "--set takes KEY=VALUES, as l1d.size=4K..64K or "
                          "l1d.ways=1,2,4, not '%s'",
                          text);
    if ((size_t)(sign - text) == strlen(SWEEP_MACHINE) &&
        strncmp(text, SWEEP_MACHINE, strlen(SWEEP_MACHINE)) == 0)
        return tally_fail(log, TALLY_ERANGE,
                          "--set %s: no parameter; -m names machines", text);
    struct sweep_axis *const a =
        begin_axis(s, text, (size_t)(sign - text), &error, log);
    if (a == NULL)
        return error;
    for (const char *at = sign + 1; error == 0; at++) {
        const size_t length = strcspn(at, ",");
        const char *const dots = memmem(at, length, "..", 2);
        if (length == 0)
            return tally_fail(log, TALLY_ERANGE,
                              "%s: a value is empty; see '%s'", a->key, text);
        error = dots != NULL ? add_range(a, at, length, dots, log)
                             : add_value(a, strndup(at, length), log);
        at += length;
        if (*at == '\0')
            break;
    }
    if (error == 0)
        error = set_numbers(a, log);
    return error != 0 ? error : check_values(a, log);
}

int
sweep_add_machines(struct sweep *s, const char *const *names, size_t count,
                   const struct tally_log *log)
{
    int error = 0;
    struct sweep_axis *const a =
        begin_axis(s, SWEEP_MACHINE, strlen(SWEEP_MACHINE), &error, log);

    for (size_t i = 0; a != NULL && error == 0 && i < count; i++)
        error = add_value(a, strdup(names[i]), log);
    return error != 0 ? error : check_values(a, log);
}

int
sweep_make_points(struct sweep *s, const char *const *events, size_t count,
                  const struct tally_log *log)
{
    size_t points = 1;

    for (size_t i = 0; i < s->axis_count; i++) {
        points *= s->axes[i].count;
        if (points > SWEEP_POINTS_MOST)
            return tally_fail(log, TALLY_ERANGE,
                              "these are more than %d runs; name fewer values",
                              SWEEP_POINTS_MOST);
    }
    s->events = events;
    s->event_count = count;
    s->points = calloc(points, sizeof(*s->points));
    s->point_count = s->points != NULL ? points : 0;
    for (size_t i = 0; i < s->point_count; i++) {
        s->points[i].values = calloc(count + 1, sizeof(struct sweep_value));
        if (s->points[i].values == NULL)
            s->point_count = i;
        for (size_t e = 0; i < s->point_count && e < count; e++)
            s->points[i].values[e].standing = "";
    }
    return s->point_count == points
               ? 0
               : tally_fail(log, TALLY_ENOMEM, "no memory for a sweep");
}

size_t
sweep_place(const struct sweep *s, size_t point, size_t axis)
{
    for (size_t i = s->axis_count - 1; i > axis; i--)
        point /= s->axes[i].count;
    return point % s->axes[axis].count;
}

const char *
sweep_word(const struct sweep *s, size_t point, size_t axis)
{
    return s->axes[axis].values[sweep_place(s, point, axis)];
}

/* Returns the entry of the event in the report, or NULL. */
static const json_t *
find_event(const json_t *report, const char *name)
{
    const json_t *const events = json_object_get(report, "events");

    for (size_t i = 0; i < json_array_size(events); i++) {
        const json_t *const e = json_array_get(events, i);
        const char *const asked =
            json_string_value(json_object_get(e, "asked"));
        if (asked != NULL && strcmp(asked, name) == 0)
            return e;
    }
    return NULL;
}

/* Returns the word for a standing, which lives as long as the program; NULL: it
 * is none. */
static const char *
known_standing(const char *word)
{
    static const char *const words[] = {"exact",     "varies",  "modelled",
                                        "estimated", "partial", "idle",
                                        "measured",  "emulator"};

    for (size_t i = 0; word != NULL && i < sizeof(words) / sizeof(*words); i++)
        if (strcmp(words[i], word) == 0)
            return words[i];
    return NULL;
}

/* Fills in what the report has of an event. Returns whether that is sound. */
static bool
read_value(const json_t *report, const char *name, struct sweep_value *v)
{
    const json_t *const e = find_event(report, name);
    const json_t *const value = json_object_get(e, "value");
    const char *const standing =
        known_standing(json_string_value(json_object_get(e, "fidelity")));

    *v = (struct sweep_value){
        .standing = standing != NULL ? standing : "",
        .reason = json_string_value(json_object_get(e, "reason")),
    };
    if (e == NULL ||
        (value != NULL && !json_is_number(value) && !json_is_null(value)))
        return false;
    v->idle = strcmp(v->standing, "idle") == 0;
    v->known = json_is_number(value) && !v->idle;
    v->count = json_number_value(value);
    return v->known ? standing != NULL && v->count >= 0 &&
                          v->count < (double)INT64_MAX
                    : true;
}

/* Returns whether the report is of the point's machine and settings. */
static bool
is_of_point(const struct sweep *s, size_t point, const json_t *report)
{
    const char *const machine =
        json_string_value(json_object_get(report, "machine"));
    const json_t *const set =
        json_object_get(json_object_get(report, "counted"), "set");
    size_t next = 0;

    for (size_t a = 0; a < s->axis_count; a++) {
        const struct sweep_axis *const axis = &s->axes[a];
        const char *const word = sweep_word(s, point, a);
        if (strcmp(axis->key, SWEEP_MACHINE) == 0) {
            if (machine == NULL || strcmp(machine, word) != 0)
                return false;
            continue;
        }
        const char *const theirs =
            json_string_value(json_array_get(set, next++));
        const size_t length = strlen(axis->key);
        if (theirs == NULL || strncmp(theirs, axis->key, length) != 0 ||
            theirs[length] != '=' || strcmp(theirs + length + 1, word) != 0)
            return false;
    }
    return json_array_size(set) == next;
}

bool
sweep_take(struct sweep *s, size_t point, json_t *report)
{
    struct sweep_point *const p = &s->points[point];
    const json_t *const status = json_object_get(report, "status");
    const json_t *const exit = json_object_get(status, "exit");
    bool sound = json_is_object(report) && json_is_integer(exit) &&
                 json_integer_value(exit) >= 0 &&
                 json_integer_value(exit) <= 255 &&
                 json_is_false(json_object_get(report, "interrupted")) &&
                 is_of_point(s, point, report);
    struct sweep_value *const values =
        calloc(s->event_count + 1, sizeof(*values));

    for (size_t e = 0; values != NULL && sound && e < s->event_count; e++)
        sound = read_value(report, s->events[e], &values[e]);
    if (!sound || values == NULL) {
        free(values);
        json_decref(report);
        return false;
    }
    free(p->values);
    json_decref(p->report);
    p->values = values;
    p->report = report;
    p->status = (int)json_integer_value(exit);
    p->done = true;
    return true;
}

void
sweep_finish(struct sweep *s)
{
    for (size_t i = 0; i < s->axis_count; i++) {
        for (size_t k = 0; k < s->axes[i].count; k++)
            free(s->axes[i].values[k]);
        free(s->axes[i].values);
        free(s->axes[i].numbers);
        free(s->axes[i].key);
    }
    for (size_t i = 0; i < s->point_count; i++) {
        json_decref(s->points[i].report);
        free(s->points[i].values);
        free(s->points[i].why);
    }
    free(s->axes);
    free(s->points);
    *s = (struct sweep){0};
}
