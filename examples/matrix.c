/* SPDX-License-Identifier: MIT */
/* matrix [rows|columns]: adds the numbers of a matrix, row by row or column by
 * column. Both do the same work; a column meets another cache line with each
 * number. An ordinary program to count: it knows nothing of tally.
 */
#include <stdio.h>
#include <string.h>

#define N 1000

static int matrix[N][N];

static void
fill(void)
{
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            matrix[i][j] = i ^ j;
}

static long
by_rows(void)
{
    long sum = 0;

    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            sum += matrix[i][j];
    return sum;
}

static long
by_columns(void)
{
    long sum = 0;

    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++)
            sum += matrix[i][j];
    return sum;
}

int
main(int argc, char **argv)
{
    fill();
    if (argc > 1 && strcmp(argv[1], "columns") == 0)
        printf("%ld\n", by_columns());
    else
        printf("%ld\n", by_rows());
    return 0;
}
