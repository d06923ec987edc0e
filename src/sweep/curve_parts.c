/* SPDX-License-Identifier: MIT */
#include "sweep/curve_parts.h"

#include <stdlib.h>
#include <string.h>

#include "sweep/curve_drawing.h"

/* The name of the part that no instruction is known of, as in tally report. */
#define ELSEWHERE "(elsewhere)"

/* Of the whole fall of a part: where it has begun, and where it is over. */
#define FALL_BEGINS 0.1
#define FALL_ENDS 0.02
/* Misses hardly fall that fall by less than this part. */
#define FALL_LEAST 0.08

/* Keys of which a curve has parts: threads and processes, and callers, are in
 * no class. */
static bool
is_key(int key)
{
    return key == BREAKDOWN_OBJECT || key == BREAKDOWN_FUNCTION ||
           key == BREAKDOWN_LINE || key == BREAKDOWN_INSTRUCTION ||
           key == BREAKDOWN_FILE || key == BREAKDOWN_IMAGE;
}

bool
curve_parts_has(const struct curve_parts *parts, enum breakdown_key key)
{
    for (size_t i = 0; i < parts->key_count; i++)
        if (parts->keys[i] == key)
            return true;
    return false;
}

bool
curve_parts_read(struct curve_parts *parts, const char *words)
{
    parts->key_count = 0;
    for (const char *at = words;; at++) {
        const size_t length = strcspn(at, ",");
        const int key = breakdown_key_find(at, length);
        if (!is_key(key) || curve_parts_has(parts, (enum breakdown_key)key))
            return false;
        parts->keys[parts->key_count++] = (enum breakdown_key)key;
        at += length;
        if (*at == '\0')
            return true;
    }
}

/* Finds the classes that miss in a point: `*from` to before `*to`, as indices
 * of events. */
static void
classes_of(const struct curve_request *r, const struct curve_point *p,
           size_t point, unsigned *from, unsigned *to)
{
    unsigned at = 0;

    if (r->kind != CURVE_BY_SETS) {
        /* The request's sizes are those of the points. */
        *from = (unsigned)point;
        *to = curve_first_class(r);
        return;
    }
    while (at + 1 < r->set_count && r->sets[at] != p->sets)
        at++;
    *from = curve_set_class(r, at, curve_missed_ways(r, at, p->ways)) - 1;
    *to = curve_set_class(r, at, curve_missed_ways(r, at, CURVE_WAYS));
}

/* Fills in what a part misses, by the counts of the classes. */
static void
take_misses(const struct curve_drawing *d, struct curve_part *part,
            const int64_t *values)
{
    const struct curve_request *const r = &d->request;
    const double factor = r->kind == CURVE_SAMPLED ? r->sample : 1;

    for (size_t i = 0; i < d->point_count; i++) {
        unsigned from, to;
        int64_t sum = 0;
        classes_of(r, &d->points[i], i, &from, &to);
        for (unsigned e = from; e < to; e++)
            sum += values[e];
        part->misses[i] = (double)sum * factor;
    }
    if (r->kind != CURVE_BY_SETS)
        part->first = (double)values[curve_first_class(r) - 1] * factor;
}

/* Makes room for one part more, without names; NULL: no memory. */
static struct curve_part *
add_part(struct curve_drawing *d)
{
    struct curve_parts *const parts = &d->parts;
    struct curve_part *const part = &parts->rows[parts->count];

    *part = (struct curve_part){
        .misses = calloc(d->point_count + 1, sizeof(*part->misses))};
    if (part->misses == NULL)
        return NULL;
    parts->count++;
    return part;
}

/* Adds the part of a row. False: no memory. */
static bool
add_row(struct curve_drawing *d, const struct breakdown *b,
        const struct breakdown_row *row)
{
    const struct curve_parts *const parts = &d->parts;
    struct curve_part *const part = add_part(d);

    if (part == NULL)
        return false;
    for (size_t i = 0; i < parts->key_count; i++) {
        part->names[i] = breakdown_name(b, row, parts->keys[i]);
        if (part->names[i] == NULL)
            return false;
    }
    if (curve_parts_has(parts, BREAKDOWN_OBJECT))
        part->kind = object_names_kind(b->objects.rows[row->place.object].kind);
    take_misses(d, part, row->values);
    return true;
}

/* Adds what the curve has more than the parts so far, if it has any. False: no
 * memory. */
static bool
add_rest(struct curve_drawing *d)
{
    struct curve_parts *const parts = &d->parts;
    const size_t rows = parts->count;
    struct curve_part *const rest = add_part(d);
    bool any = false;

    if (rest == NULL)
        return false;
    rest->first = d->request.kind == CURVE_BY_SETS ? 0 : d->first;
    for (size_t k = 0; k < rows; k++)
        rest->first -= parts->rows[k].first;
    for (size_t i = 0; i < d->point_count; i++) {
        rest->misses[i] = d->points[i].misses;
        for (size_t k = 0; k < rows; k++)
            rest->misses[i] -= parts->rows[k].misses[i];
        any |= rest->misses[i] != 0;
    }
    if (!any) {
        free(rest->misses);
        parts->count--;
        return true;
    }
    for (size_t i = 0; i < parts->key_count; i++) {
        rest->names[i] = strdup(i == 0 ? ELSEWHERE : "");
        if (rest->names[i] == NULL)
            return false;
    }
    if (curve_parts_has(parts, BREAKDOWN_OBJECT))
        rest->kind = object_names_kind(0);
    return true;
}

static int
compare_parts(const void *a, const void *b, void *user)
{
    const struct curve_part *const p = a, *const q = b;
    const struct curve_drawing *const d = user;

    for (size_t i = 0; i < d->point_count; i++)
        if (p->misses[i] != q->misses[i])
            return p->misses[i] > q->misses[i] ? -1 : 1;
    for (size_t i = 0; i < d->parts.key_count; i++) {
        const int order = strcmp(p->names[i], q->names[i]);
        if (order != 0)
            return order;
    }
    return 0;
}

static int
take_rows(struct curve_drawing *d, const struct breakdown *b)
{
    struct curve_parts *const parts = &d->parts;

    parts->rows = calloc(b->row_count + 1, sizeof(*parts->rows));
    if (parts->rows == NULL)
        return TALLY_ENOMEM;
    for (size_t i = 0; i < b->row_count; i++)
        if (!add_row(d, b, &b->rows[i]))
            return TALLY_ENOMEM;
    if (!add_rest(d))
        return TALLY_ENOMEM;
    qsort_r(parts->rows, parts->count, sizeof(*parts->rows), compare_parts, d);
    return 0;
}

int
curve_parts_take(struct curve_drawing *d, const struct record *record,
                 const struct tally_log *log)
{
    const struct resolver_options names = {0};
    const size_t count = record->event_count;
    size_t *const events = calloc(count + 1, sizeof(*events));
    struct breakdown_options o = {.key_count = d->parts.key_count,
                                  .events = events,
                                  .event_count = count};
    struct resolver *resolver = NULL;
    struct breakdown *b = NULL;
    int error = events != NULL ? 0 : TALLY_ENOMEM;

    memcpy(o.keys, d->parts.keys, sizeof(o.keys));
    for (size_t e = 0; error == 0 && e < count; e++)
        events[e] = e;
    if (error == 0)
        error = resolver_create(record, &names, log, &resolver);
    if (error == 0)
        error = breakdown_create(record, resolver, &o, log, &b);
    if (error == 0)
        error = take_rows(d, b);
    breakdown_destroy(b);
    resolver_destroy(resolver);
    free(events);
    return error == TALLY_ENOMEM
               ? tally_fail(log, error, "no memory for the parts of the curve")
               : error;
}

void
curve_parts_finish(struct curve_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++) {
        for (size_t k = 0; k < parts->key_count; k++)
            free(parts->rows[i].names[k]);
        free(parts->rows[i].misses);
    }
    free(parts->rows);
    *parts = (struct curve_parts){.key_count = 0};
}

char *
curve_part_name(const struct curve_parts *parts, const struct curve_part *part)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    for (size_t i = 0; i < parts->key_count; i++)
        fprintf(out, "%s%s", i > 0 && part->names[i][0] != '\0' ? "  " : "",
                part->names[i]);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

struct curve_need
curve_part_need(const struct curve_drawing *d, const struct curve_part *part,
                size_t first)
{
    const double *const misses = part->misses;
    const size_t last = curve_series_end(d, first) - 1;
    struct curve_need need = {.most = misses[first], .least = misses[first]};
    const double fall = misses[first] - misses[last];
    if (fall <= FALL_LEAST * misses[first])
        return need;
    size_t from = first, to = first;
    while (from < last &&
           misses[from + 1] >= misses[first] - FALL_BEGINS * fall)
        from++;
    while (to < last && misses[to] > misses[last] + FALL_ENDS * fall)
        to++;
    need.from = &d->points[from < to ? from : to - 1];
    need.to = &d->points[to];
    need.least = misses[to];
    return need;
}
