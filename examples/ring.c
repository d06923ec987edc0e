/* SPDX-License-Identifier: MIT */
/* A program of several ranks, for tally count --mpi: each rank has more work
 * than the rank before, all add up what they have, and each passes numbers on
 * to the next rank. doc/mpi.md counts the program. */
#include <mpi.h>
#include <stdio.h>

#define NUMBERS 1000

int
main(int argc, char **argv)
{
    static double numbers[NUMBERS];
    double sum = 0, all = 0;
    int rank, size;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < 10000 * (rank + 1); i++)
            sum += numbers[i % NUMBERS] += i;
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        MPI_Sendrecv_replace(numbers, NUMBERS, MPI_DOUBLE, (rank + 1) % size, 0,
                             (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                             MPI_STATUS_IGNORE);
    }
    if (rank == 0)
        printf("the sum of all ranks: %g\n", all);
    MPI_Finalize();
    return 0;
}
