/* SPDX-License-Identifier: MIT */
/* Groups of points: kernels whose answer is known. */
#include "sweep/clusters.h"

#include <math.h>
#include <string.h>

#include "check.h"
#include "ref/random.h"

enum { D = CLUSTERS_DIMENSIONS, POINTS = 400 };

/* Returns a number from -size to size. */
static double
noise(uint64_t *random, double size)
{
    return ((double)random_below(random, 20001) / 10000 - 1) * size;
}

/* Sets point i of group g: the group's centre is 1 in dimension g. */
static void
set_point(double *points, size_t i, unsigned g, uint64_t *random, double size)
{
    for (unsigned d = 0; d < D; d++)
        points[i * D + d] = (d == g) + noise(random, size);
}

/* So many groups of points around centres that are far from each other, of
 * different sizes, are found as they were made. */
static void
test_groups(void **state)
{
    static const unsigned counts[] = {1, 2, 3, 5, 8};
    static const double sizes[] = {0, 1e-9, 1e-4, 0.01, 0.1};
    static double points[POINTS * D];
    uint64_t random = random_seed();

    (void)state;
    for (size_t row = 0; row < 25; row++) {
        const unsigned groups = counts[row / 5];
        unsigned made[POINTS];
        struct clusters c;
        for (size_t i = 0; i < POINTS; i++) {
            /* Each group is half of those that are left; of many, as large as
             * any other. */
            unsigned g = groups > 5 ? (unsigned)(i % groups) : 0;
            while (groups <= 5 && g + 1 < groups && (i >> g & 1) != 0)
                g++;
            made[i] = g;
            set_point(points, i, g, &random, sizes[row % 5]);
        }
        assert_int_equal(clusters_choose(points, POINTS, 15, NULL, &c), 0);
        if (c.count != groups)
            fail_msg("%u groups, noise %g: %u were found", groups,
                     sizes[row % 5], c.count);
        for (size_t i = 0; i < POINTS; i++)
            for (size_t k = 0; k < i; k++)
                if ((made[i] == made[k]) != (c.of[i] == c.of[k]))
                    fail_msg("%u groups, noise %g: points %zu and %zu", groups,
                             sizes[row % 5], i, k);
        clusters_finish(&c);
    }
}

/* Two points a distance of 2 apart, twice each: one group has its centre
 * between, and the squares of the distances add up. */
static void
test_means(void **state)
{
    double points[4 * D] = {0};
    struct clusters c;

    (void)state;
    points[0] = points[D] = 1;
    points[2 * D] = points[3 * D] = -1;
    assert_int_equal(clusters_find(points, 4, 1, &c), 0);
    assert_int_equal(c.count, 1);
    assert_int_equal(c.sizes[0], 4);
    assert_true(c.centres[0] == 0);
    assert_true(c.squares == 4);
    /* The variance of a dimension is 4 / (15 * 3); 4 * log(1) falls away. */
    const double variance = 4.0 / (15 * 3);
    const double wanted =
        -4 * 15 / 2.0 * log(2 * 3.14159265358979323846 * variance) -
        4 / (2 * variance) - 16 / 2.0 * log(4);
    assert_true(fabs(clusters_score(&c, 4) - wanted) < 1e-9);
    clusters_finish(&c);
    /* No more groups than points that differ. */
    assert_int_equal(clusters_find(points, 4, 4, &c), 0);
    assert_int_equal(c.count, 2);
    assert_true(c.squares == 0);
    assert_int_equal(c.of[0], c.of[1]);
    assert_int_equal(c.of[2], c.of[3]);
    assert_int_not_equal(c.of[0], c.of[2]);
    clusters_finish(&c);
}

/* The number of groups, and the points of each, are the same each time; none or
 * one point is no error. */
static void
test_same(void **state)
{
    static double points[POINTS * D];
    uint64_t random = random_seed();
    struct clusters first, second;

    (void)state;
    for (size_t i = 0; i < POINTS; i++)
        set_point(points, i, (unsigned)random_below(&random, 6), &random, 0.6);
    assert_int_equal(clusters_choose(points, POINTS, 15, NULL, &first), 0);
    assert_int_equal(clusters_choose(points, POINTS, 15, NULL, &second), 0);
    assert_int_equal(first.count, second.count);
    assert_memory_equal(first.of, second.of, sizeof(*first.of) * POINTS);
    assert_memory_equal(first.centres, second.centres,
                        sizeof(*first.centres) * first.count * D);
    for (size_t i = 0; i < POINTS; i++)
        assert_int_equal(clusters_nearest(&first, points + i * D), first.of[i]);
    clusters_finish(&first);
    clusters_finish(&second);
    for (size_t count = 0; count < 2; count++) {
        assert_int_equal(clusters_choose(points, count, 15, NULL, &first), 0);
        assert_int_equal(first.count, count);
        clusters_finish(&first);
    }
}

/* A projection is from -1 to 1, another for each component and dimension, and
 * none on the average. */
static void
test_projection(void **state)
{
    double sum = 0, squares = 0;
    const unsigned components = 10000;

    (void)state;
    for (uint64_t c = 0; c < components; c++) {
        for (unsigned d = 0; d < D; d++) {
            const double p = clusters_projection(c, d);
            assert_true(p >= -1 && p <= 1);
            sum += p;
            squares += p * p;
        }
    }
    assert_true(fabs(sum / (components * D)) < 0.01);
    assert_true(fabs(squares / (components * D) - 1.0 / 3) < 0.01);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_means),
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_projection),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
