/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the functions of MPI begin in a program or library: those whose names
 * begin with MPI_, or PMPI_, of the profiling interface; of Fortran mpi_ and
 * pmpi_; and exit(), from which on a program counts as inside. The file is the
 * guest's: nothing in it is believed.
 */
#ifndef TALLY_PLUGIN_MPI_ENTRIES_H
#define TALLY_PLUGIN_MPI_ENTRIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed before a file is read. */
struct mpi_entries {
    uint64_t *offsets; /* in the file, in order, owned; NULL: there are none */
    size_t count;
    bool is_read;
};

/* Reads the symbols of a file; one that is no ELF file has no functions of MPI.
 * Returns false where there is no memory. */
bool mpi_entries_read(const char *path, struct mpi_entries *entries);

/* Returns whether a function of MPI begins at the offset in the file. */
bool mpi_entries_have(const struct mpi_entries *entries, uint64_t offset);

/* Finds where a program begins, in bytes behind its lowest address of code.
 * Returns false where the file does not say so. */
bool mpi_entries_start(const char *path, uint64_t *start);

void mpi_entries_finish(struct mpi_entries *entries);

#endif
