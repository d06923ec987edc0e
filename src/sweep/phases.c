/* SPDX-License-Identifier: MIT */
#include "sweep/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "names/names.h"

#define D CLUSTERS_DIMENSIONS
#define FRAMES 64u
/* The least share of a phase's instructions that a function in reports has. */
#define HOT_LEAST 0.005

bool
phases_is_short(const struct phases_found *f, size_t span)
{
    return f->span_count > 1 && span + 1 == f->span_count &&
           f->spans[span].instructions < f->length / 2;
}

const char *
phases_standing(const struct phases *p)
{
    return p->found->lost != 0 || trace_part_lacks(p->trace) ? "partial"
           : p->early                                        ? "estimated"
                                                             : "exact";
}

static const char *
base_of(const char *path)
{
    const char *const slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

/* Vectors */

/* Returns a number for a block that does not depend on where its file was
 * mapped, or on the order in which blocks ran. */
static uint64_t
component_of(const struct phases_found *f, const struct phases_block *block)
{
    const char *name =
        block->file != 0 ? base_of(f->files[block->file - 1].path) : "";
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *name != '\0'; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001b3);
    hash = (hash ^ block->offset) * UINT64_C(0x9e3779b97f4a7c15);
    return (hash ^ hash >> 29) + block->instructions;
}

/* Returns the projection of each interval that has a say, `*count` of them;
 * NULL: no memory. The caller frees it. */
static double *
project(const struct phases_found *f, size_t *count)
{
    double *const points = calloc(f->span_count * D + 1, sizeof(*points));
    double *const rows = malloc((f->block_count * D + 1) * sizeof(*rows));

    if (points == NULL || rows == NULL) {
        free(points);
        free(rows);
        return NULL;
    }
    for (size_t b = 0; b < f->block_count; b++) {
        const uint64_t component = component_of(f, &f->blocks[b]);
        for (unsigned d = 0; d < D; d++)
            rows[b * D + d] = clusters_projection(component, d);
    }
    for (size_t i = 0; i < f->span_count; i++) {
        const struct phases_span *const span = &f->spans[i];
        for (size_t k = span->first; k < span->first + span->count; k++) {
            const double share =
                (double)f->parts[k].instructions / (double)span->instructions;
            const double *const row = rows + (size_t)f->parts[k].block * D;
            for (unsigned d = 0; d < D; d++)
                points[i * D + d] += share * row[d];
        }
    }
    free(rows);
    *count = f->span_count;
    if (*count > 0 && phases_is_short(f, *count - 1))
        --*count;
    return points;
}

/* Phases */

/* Numbers the phases in the order in which they begin, and sums them up. */
static void
number_phases(struct phases *p, const struct clusters *c, const double *points,
              size_t count)
{
    const struct phases_found *const f = p->found;
    unsigned number[CLUSTERS_MOST], group_of[CLUSTERS_MOST];

    for (unsigned g = 0; g < CLUSTERS_MOST; g++)
        number[g] = CLUSTERS_MOST;
    for (size_t i = 0; i < f->span_count; i++) {
        const unsigned group =
            i < count ? c->of[i] : clusters_nearest(c, points + i * D);
        if (number[group] == CLUSTERS_MOST) {
            group_of[p->count] = group;
            number[group] = p->count++;
        }
        struct phase *const phase = &p->phases[number[group]];
        p->of[i] = number[group];
        phase->instructions += f->spans[i].instructions;
        phase->spans++;
        phase->runs += i == 0 || p->of[i - 1] != p->of[i];
    }
    for (unsigned n = 0; n < p->count; n++) {
        double least = HUGE_VAL;
        p->phases[n].share =
            (double)p->phases[n].instructions / (double)f->instructions;
        for (size_t i = 0; i < count; i++) {
            const double here =
                clusters_distance(c, group_of[n], points + i * D);
            if (p->of[i] == n && here < least) {
                least = here;
                p->phases[n].point = i;
            }
        }
    }
}

static int
group(struct phases *p, unsigned most)
{
    struct clusters c = {0};
    size_t count = 0;
    double *const points = project(p->found, &count);

    p->of = calloc(p->found->span_count + 1, sizeof(*p->of));
    int error = points == NULL || p->of == NULL ? TALLY_ENOMEM : 0;
    if (error == 0)
        error = clusters_choose(points, count, most, NULL, &c);
    if (error == 0)
        number_phases(p, &c, points, count);
    clusters_finish(&c);
    free(points);
    return error;
}

/* Functions */

/* Returns the function of each block: its name, and its file. */
static struct phases_function *
name_blocks(struct phases *p)
{
    const struct phases_found *const f = p->found;
    struct phases_function *const of = calloc(f->block_count + 1, sizeof(*of));
    unsigned *const index = calloc(f->file_count + 1, sizeof(*index));
    bool *const known = calloc(f->file_count + 1, sizeof(*known));
    struct name_frame frames[FRAMES];

    if (of == NULL || index == NULL || known == NULL ||
        names_create(NULL, NULL, &p->names) != 0) {
        free(of);
        free(index);
        free(known);
        return NULL;
    }
    for (size_t i = 0; i < f->file_count; i++)
        known[i] =
            names_add(p->names, f->files[i].path, NULL, 0, &index[i]) == 0;
    for (size_t b = 0; b < f->block_count; b++) {
        const uint32_t file = f->blocks[b].file;
        of[b].file = file != 0 ? f->files[file - 1].path : "";
        if (file == 0 || !known[file - 1])
            continue;
        const size_t count = names_find(p->names, index[file - 1],
                                        f->blocks[b].offset, frames, FRAMES);
        if (count > 0)
            of[b].name = frames[count - 1].function;
    }
    free(index);
    free(known);
    return of;
}

static int
compare_functions(const void *a, const void *b)
{
    const struct phases_function *const x = a, *const y = b;
    const int named = (x->name != NULL) - (y->name != NULL);

    if (named != 0)
        return named;
    const int by_name = x->name != NULL ? strcmp(x->name, y->name) : 0;
    return by_name != 0 ? by_name : strcmp(x->file, y->file);
}

/* Makes the list of functions, and finds the function of each block. */
static int
list_functions(struct phases *p)
{
    const size_t count = p->found->block_count;
    struct phases_function *const of = name_blocks(p);

    p->functions = malloc((count + 1) * sizeof(*p->functions));
    p->function_of = calloc(count + 1, sizeof(*p->function_of));
    if (of == NULL || p->functions == NULL || p->function_of == NULL) {
        free(of);
        return TALLY_ENOMEM;
    }
    memcpy(p->functions, of, count * sizeof(*of));
    qsort(p->functions, count, sizeof(*p->functions), compare_functions);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || compare_functions(&p->functions[i],
                                        &p->functions[p->function_count - 1]))
            p->functions[p->function_count++] = p->functions[i];
    for (size_t b = 0; b < count; b++) {
        const struct phases_function *const found =
            bsearch(&of[b], p->functions, p->function_count,
                    sizeof(*p->functions), compare_functions);
        p->function_of[b] = (uint32_t)(found - p->functions);
    }
    free(of);
    return 0;
}

/* Puts a function among the hottest of a phase. */
static void
put_hot(struct phase *phase, size_t function, double share)
{
    size_t at = phase->hot_count;

    while (at > 0 && phase->hot[at - 1].share < share)
        at--;
    if (at == PHASES_FUNCTIONS)
        return;
    if (phase->hot_count < PHASES_FUNCTIONS)
        phase->hot_count++;
    memmove(phase->hot + at + 1, phase->hot + at,
            (phase->hot_count - at - 1) * sizeof(*phase->hot));
    phase->hot[at] = (struct phases_hot){function, share};
}

/* Finds the hottest functions of each phase. */
static int
find_hot(struct phases *p)
{
    const struct phases_found *const f = p->found;
    uint64_t *const sums = calloc(p->function_count + 1, sizeof(*sums));

    if (sums == NULL)
        return TALLY_ENOMEM;
    for (unsigned n = 0; n < p->count; n++) {
        memset(sums, 0, p->function_count * sizeof(*sums));
        for (size_t i = 0; i < f->span_count; i++) {
            const struct phases_span *const span = &f->spans[i];
            for (size_t k = 0; p->of[i] == n && k < span->count; k++) {
                const struct phases_part *const part =
                    &f->parts[span->first + k];
                sums[p->function_of[part->block]] += part->instructions;
            }
        }
        for (size_t i = 0; i < p->function_count; i++)
            if ((double)sums[i] >=
                HOT_LEAST * (double)p->phases[n].instructions)
                put_hot(&p->phases[n], i,
                        (double)sums[i] / (double)p->phases[n].instructions);
    }
    free(sums);
    return 0;
}

double
phases_count(const struct phases *p, unsigned phase, size_t event)
{
    double sum = 0;

    for (size_t i = 0; i < p->found->span_count; i++)
        if (p->of[i] == phase)
            sum += phases_span_count(p, i, event);
    return sum;
}

/* Sums the events up, of all intervals and as the points have them. */
static void
sum_events(struct phases *p)
{
    for (size_t e = 0; e < p->event_count; e++) {
        struct phases_event *const event = &p->events[e];
        event->whole = event->points = 0;
        for (unsigned n = 0; n < p->count; n++) {
            const struct phase *const phase = &p->phases[n];
            event->whole += phases_count(p, n, e);
            event->points += phases_span_count(p, phase->point, e) *
                             (double)phase->instructions /
                             (double)p->found->spans[phase->point].instructions;
        }
    }
}

int
phases_find(struct phases *p, unsigned most)
{
    int error = group(p, most);

    if (error == 0)
        sum_events(p);
    if (error == 0)
        error = list_functions(p);
    return error == 0 ? find_hot(p) : error;
}

void
phases_finish(struct phases *p)
{
    free(p->of);
    free(p->functions);
    free(p->function_of);
    names_destroy(p->names);
    p->of = NULL;
    p->functions = NULL;
    p->function_of = NULL;
    p->names = NULL;
}

char *
phases_function_name(const struct phases *p, size_t function)
{
    const struct phases_function *const f = &p->functions[function];
    char *text = NULL;

    if (f->name != NULL)
        return strdup(f->name);
    if (*f->file == '\0')
        return strdup("code of no file");
    return asprintf(&text, "code of %s", base_of(f->file)) < 0 ? NULL : text;
}
