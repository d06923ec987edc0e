/* SPDX-License-Identifier: MIT */
#include "sweep/clusters.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define D CLUSTERS_DIMENSIONS
#define STARTS 5u
#define ROUNDS 100u
/* The least variance of a dimension. Two intervals differ in 1 % of their
 * instructions where two blocks have 1 % more and less: each adds a third of
 * the square of that to a dimension, as a projection is from -1 to 1, and the
 * mean of the two is half as far from each. */
#define LEAST_VARIANCE (0.01 * 0.01 * 2 / 3 / 4)
/* The part of the way from the worst to the best score that is enough. */
#define ENOUGH 0.9

/* Returns the next of a sequence of random numbers (splitmix64, G. Steele, D.
 * Lea, C. Flood, 2014). */
static uint64_t
next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns a random number from 0 to below 1. */
static double
next_fraction(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

double
clusters_projection(uint64_t component, unsigned dimension)
{
    uint64_t state = component * D + dimension;

    return next_fraction(&state) * 2 - 1;
}

static double
distance(const double *a, const double *b)
{
    double sum = 0;

    for (unsigned d = 0; d < D; d++)
        sum += (a[d] - b[d]) * (a[d] - b[d]);
    return sum;
}

double
clusters_distance(const struct clusters *c, unsigned group, const double *point)
{
    return distance(c->centres + (size_t)group * D, point);
}

unsigned
clusters_nearest(const struct clusters *c, const double *point)
{
    double least = HUGE_VAL;
    unsigned nearest = 0;

    for (unsigned g = 0; g < c->count; g++) {
        const double here = clusters_distance(c, g, point);
        if (here < least) {
            least = here;
            nearest = g;
        }
    }
    return nearest;
}

void
clusters_finish(struct clusters *c)
{
    free(c->of);
    free(c->centres);
    free(c->sizes);
    memset(c, 0, sizeof(*c));
}

static int
make(struct clusters *c, size_t count, unsigned groups)
{
    memset(c, 0, sizeof(*c));
    c->of = calloc(count + 1, sizeof(*c->of));
    c->centres = calloc((size_t)groups * D + 1, sizeof(*c->centres));
    c->sizes = calloc(groups + 1u, sizeof(*c->sizes));
    if (c->of != NULL && c->centres != NULL && c->sizes != NULL)
        return 0;
    clusters_finish(c);
    return TALLY_ENOMEM;
}

/* Where k-means starts */

/* Returns the point that is furthest from all centres. */
static size_t
furthest(const double *far, size_t count)
{
    size_t most = 0;

    for (size_t i = 1; i < count; i++)
        if (far[i] > far[most])
            most = i;
    return most;
}

/* Returns a random point, each as likely as its squared distance says. */
static size_t
far_at_random(const double *far, size_t count, uint64_t *random)
{
    double sum = 0;
    size_t last = 0;

    for (size_t i = 0; i < count; i++)
        sum += far[i];
    double at = next_fraction(random) * sum;
    for (size_t i = 0; i < count; i++) {
        if (far[i] == 0)
            continue;
        last = i;
        at -= far[i];
        if (at < 0)
            break;
    }
    return last;
}

/* Chooses the first centres among the points, as many as differ, and notes the
 * distance of each point from the nearest in `far`. */
static void
choose_centres(struct clusters *c, const double *points, size_t count,
               unsigned groups, unsigned start, double *far)
{
    uint64_t random = start;
    size_t point =
        start == 0 ? 0 : (size_t)(next_fraction(&random) * (double)count);

    for (size_t i = 0; i < count; i++)
        far[i] = HUGE_VAL;
    for (c->count = 0; c->count < groups; c->count++) {
        double *const centre = c->centres + (size_t)c->count * D;
        if (c->count > 0)
            point = start == 0 ? furthest(far, count)
                               : far_at_random(far, count, &random);
        if (far[point] == 0)
            break;
        memcpy(centre, points + point * D, D * sizeof(*centre));
        for (size_t i = 0; i < count; i++) {
            const double here = distance(centre, points + i * D);
            far[i] = here < far[i] ? here : far[i];
        }
    }
}

/* Moves each centre to the mean of its points; one without points stays. */
static void
move_centres(struct clusters *c, const double *points, size_t count)
{
    double sums[CLUSTERS_MOST * D] = {0};

    memset(c->sizes, 0, c->count * sizeof(*c->sizes));
    for (size_t i = 0; i < count; i++) {
        double *const sum = sums + (size_t)c->of[i] * D;
        c->sizes[c->of[i]]++;
        for (unsigned d = 0; d < D; d++)
            sum[d] += points[i * D + d];
    }
    for (unsigned g = 0; g < c->count; g++) {
        for (unsigned d = 0; d < D && c->sizes[g] != 0; d++)
            c->centres[g * D + d] = sums[g * D + d] / (double)c->sizes[g];
    }
}

/* Gives each point to the nearest centre. Returns whether any point has another
 * than before. */
static bool
give_points(struct clusters *c, const double *points, size_t count)
{
    bool changed = false;

    c->squares = 0;
    for (size_t i = 0; i < count; i++) {
        const unsigned nearest = clusters_nearest(c, points + i * D);
        changed |= nearest != c->of[i];
        c->of[i] = nearest;
        c->squares += clusters_distance(c, nearest, points + i * D);
    }
    return changed;
}

/* Leaves out groups without points. */
static void
drop_empty(struct clusters *c, size_t count)
{
    unsigned kept = 0;

    for (unsigned g = 0; g < c->count; g++) {
        if (c->sizes[g] == 0)
            continue;
        memmove(c->centres + (size_t)kept * D, c->centres + (size_t)g * D,
                D * sizeof(*c->centres));
        c->sizes[kept] = c->sizes[g];
        for (size_t i = 0; i < count; i++)
            if (c->of[i] == g)
                c->of[i] = kept;
        kept++;
    }
    c->count = kept;
}

/* Runs k-means from one start. */
static void
run_start(struct clusters *c, const double *points, size_t count,
          unsigned groups, unsigned start, double *far)
{
    choose_centres(c, points, count, groups, start, far);
    give_points(c, points, count);
    for (unsigned round = 0; round < ROUNDS; round++) {
        move_centres(c, points, count);
        if (!give_points(c, points, count))
            break;
    }
    /* The centres are those of the groups as they are now. */
    move_centres(c, points, count);
    drop_empty(c, count);
}

int
clusters_find(const double *points, size_t count, unsigned groups,
              struct clusters *result)
{
    double *const far = malloc((count + 1) * sizeof(*far));
    struct clusters best = {0}, other = {0};

    if (far == NULL || make(&best, count, groups) != 0 ||
        make(&other, count, groups) != 0) {
        clusters_finish(&best);
        free(far);
        return TALLY_ENOMEM;
    }
    for (unsigned start = 0; count > 0 && start < STARTS; start++) {
        run_start(&other, points, count, groups, start, far);
        if (start == 0 || other.squares < best.squares) {
            const struct clusters swap = best;
            best = other;
            other = swap;
        }
    }
    clusters_finish(&other);
    free(far);
    *result = best;
    return 0;
}

double
clusters_score(const struct clusters *c, size_t count)
{
    const double pi = 3.14159265358979323846;
    const double r = (double)count, k = (double)c->count;
    const double freedom = r > k ? r - k : 1;
    const double variance = fmax(c->squares / (freedom * D), LEAST_VARIANCE);
    double likely = 0;

    for (unsigned g = 0; g < c->count; g++) {
        const double n = (double)c->sizes[g];
        if (n > 0)
            likely += n * log(n / r) - n * D / 2 * log(2 * pi * variance);
    }
    likely -= c->squares / (2 * variance);
    return likely - k * (D + 1) / 2 * log(r);
}

int
clusters_choose(const double *points, size_t count, unsigned most,
                double *scores, struct clusters *result)
{
    struct clusters all[CLUSTERS_MOST] = {{0}};
    double score[CLUSTERS_MOST], worst = HUGE_VAL, best = -HUGE_VAL;
    unsigned tried = 0;
    int error = 0;

    while (error == 0 && tried < most && tried < CLUSTERS_MOST) {
        error = clusters_find(points, count, tried + 1, &all[tried]);
        if (error != 0)
            break;
        score[tried] = clusters_score(&all[tried], count);
        worst = fmin(worst, score[tried]);
        best = fmax(best, score[tried]);
        tried++;
    }
    unsigned chosen = 0;
    while (chosen + 1 < tried &&
           score[chosen] < worst + (best - worst) * ENOUGH)
        chosen++;
    for (unsigned i = 0; i < tried; i++) {
        if (scores != NULL)
            scores[i] = score[i];
        if (error == 0 && i == chosen)
            *result = all[i];
        else
            clusters_finish(&all[i]);
    }
    return error;
}
