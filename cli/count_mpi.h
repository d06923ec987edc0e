/* SPDX-License-Identifier: MIT */
/*
 * tally count --mpi: the ranks that mpirun starts, each of them a tally count,
 * meet in a folder, and one of them writes one report of all.
 *
 * A rank is known by what mpirun puts into its environment. The folder is named
 * after the job and is the user's alone. In the folder a rank has a file
 * rank-N, locked as long as its tally runs, and at its end report-N, the JSON
 * of its counts. The lowest rank whose tally runs waits until each rank has a
 * report or no lock, writes the report of all, and takes the files away.
 */
#ifndef TALLY_CLI_COUNT_MPI_H
#define TALLY_CLI_COUNT_MPI_H

#include "cli/count_request.h"

/* Ranks that a report has at most. */
#define MPI_RANKS 65536u

struct count_mpi {
    unsigned rank, size;
    char *place;  /* of the folder, owned */
    char *report; /* that this rank's counts go to, owned */
    int folder;   /* open; -1: none */
    int lock;     /* of this rank; -1: none */
    bool made;    /* the folder was made for the job */
    /* What the request asked for. */
    const char *output;
    int log_fd;
    enum count_format format;
};

/*
 * Finds the other ranks, and has the request write this rank's counts into the
 * folder. Returns 0, or a status after saying why. count_mpi_end() is called in
 * any case.
 */
int count_mpi_begin(struct count_request *request, struct count_mpi *mpi);

/* Ends a rank whose count ended with `status`: waits for the others and writes
 * the report, if no lower rank does. Returns the status of the rank, or
 * EXIT_OURS after saying why there is no whole report. */
int count_mpi_end(const struct count_request *request, struct count_mpi *mpi,
                  int status);

#endif
