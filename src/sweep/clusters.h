/* SPDX-License-Identifier: MIT */
/*
 * Groups of points that are alike, as SimPoint 3.0 finds phases (G. Hamerly, E.
 * Perelman, J. Lau, B. Calder, "SimPoint 3.0: Faster and More Flexible Program
 * Phase Analysis", 2005): k-means for each number of groups, the Bayesian
 * information criterion (D. Pelleg, A. Moore, "X-means", 2000) to choose the
 * number.
 *
 * All random choices follow from fixed seeds: the same points give the same
 * groups.
 */
#ifndef TALLY_SWEEP_CLUSTERS_H
#define TALLY_SWEEP_CLUSTERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define CLUSTERS_DIMENSIONS 15u
#define CLUSTERS_MOST 30u

/* Where a vector is projected to: a number from -1 to 1 for each dimension,
 * which follows from the name of the vector's component. */
double clusters_projection(uint64_t component, unsigned dimension);

struct clusters {
    unsigned count;
    unsigned *of;    /* [points] the group of each; owned */
    double *centres; /* [count * CLUSTERS_DIMENSIONS]; owned */
    double squares;  /* sum of the squared distances to the centres */
    size_t *sizes;   /* [count] points of each group; owned */
};

/*
 * Finds so many groups of `points` (count * CLUSTERS_DIMENSIONS numbers), or
 * fewer where fewer points differ: of several starts the one with the least sum
 * of squares. The first start takes points that are far from each other, the
 * others take points at random, far ones rather than near ones (k-means++). 0
 * or TALLY_ENOMEM; clusters_finish() frees the result.
 */
int clusters_find(const double *points, size_t count, unsigned groups,
                  struct clusters *result);

/*
 * Returns how well the groups explain `count` points: the logarithm of the
 * likelihood that normal distributions of one variance around the centres have
 * made them, less the price of the centres. Distances between points of a group
 * that are shorter than that of intervals which differ in 1 % of their
 * instructions count as if they were as long, or else groups would be split
 * without end.
 */
double clusters_score(const struct clusters *clusters, size_t count);

/*
 * Finds the groups for each number from 1 to `most`, and keeps the least number
 * whose score reaches nine tenths of the way from the worst to the best one, as
 * SimPoint does. scores: [most], or NULL. 0 or TALLY_ENOMEM.
 */
int clusters_choose(const double *points, size_t count, unsigned most,
                    double *scores, struct clusters *result);

/* Returns the squared distance of a point from the centre of a group. */
double clusters_distance(const struct clusters *clusters, unsigned group,
                         const double *point);

/* Returns the group whose centre is nearest. */
unsigned clusters_nearest(const struct clusters *clusters, const double *point);

void clusters_finish(struct clusters *clusters);

#endif
