/* SPDX-License-Identifier: MIT */
/*
 * The one report of `tally count --mpi`: what each rank counted, and the
 * minimum, mean, maximum and imbalance over the ranks. Each event has two
 * values of a rank: what ran outside the functions of MPI, and what ran inside.
 * The imbalance is the maximum divided by the mean: 1 where all ranks did the
 * same. The inside never repeats, as ranks spin there, and is never exact.
 */
#ifndef TALLY_REPORT_MPI_REPORT_H
#define TALLY_REPORT_MPI_REPORT_H

#include <stdio.h>

#include "report/count_document.h"

struct mpi_rank {
    const struct count_document *document; /* NULL: the rank has no report */
    const char *why; /* why the rank has no report; or NULL */
};

struct mpi_report {
    const struct mpi_rank *ranks; /* by number; one at least has a report */
    unsigned size;
    bool plain; /* text without separators of thousands */
    /* Of ranks with a report, the first; set by mpi_report_check(). */
    const struct count_document *first;
};

/* Finds the first report, and whether all reports have the same rows. 0, or
 * TALLY_ESYNTAX, logged, where two ranks counted different events or on
 * different machines. */
int mpi_report_check(struct mpi_report *report, const struct tally_log *log);

/* Write the report. 0, TALLY_EIO or TALLY_ENOMEM. */
int mpi_report_text(const struct mpi_report *report, FILE *out);
int mpi_report_csv(const struct mpi_report *report, char separator, FILE *out);
int mpi_report_json(const struct mpi_report *report, FILE *out);

#endif
