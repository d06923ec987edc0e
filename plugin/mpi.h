/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the run is inside the functions of an MPI library, for `tally count
 * --mpi`: from where a thread enters a function whose name begins with MPI_ or
 * PMPI_ (of Fortran mpi_ or pmpi_) until that function returns, with all that
 * runs in between. Ranks wait for each other there, and spin as long as the
 * host lets them: how much they run never repeats. So the rest of the program
 * must not feel it. Each thread has a second strand, on a second machine with
 * caches and predictors of its own, which runs what is inside MPI and counts it
 * in a slice of its own. The first machine stands still meanwhile.
 *
 * The start of a program, until its own first instruction, is inside too: the
 * loader runs the constructors of the libraries, and those of MPI's look at the
 * time and at devices. A thread that is made inside MPI stays there: it is the
 * library's own. A call
 * that longjmp() left is known by the stack pointer of the next one.
 */
#ifndef TALLY_PLUGIN_MPI_H
#define TALLY_PLUGIN_MPI_H

#include "machine/chip.h"
#include "plugin/mpi_entries.h"
#include "plugin/qemu_api.h"
#include "plugin/registers.h"
#include "source/process_counts.h"

struct plugin;

/* The slice that counts what is inside MPI. */
#define MPI_SLICE 1u

/* A thread of the guest. */
struct mpi_thread {
    struct strand *other; /* that does not run now, of the other machine; NULL:
                             the thread is never told apart */
    bool inside;
    uint64_t back;    /* where the function returns; NO_LINE: nowhere; or where
                         the program starts */
    uint64_t pointer; /* the stack pointer where the function was entered; 0: no
                         function was, see above */
};

/* Zeroed where MPI is not told apart. */
struct mpi {
    bool runs;
    struct registers registers;
    struct chip chip; /* runs what is inside MPI */
    struct mpi_thread threads[COUNTS_STRANDS];
    struct mpi_entries entries[COUNTS_FILES + 1]; /* by image; 0: no file */
    uint64_t start; /* address of the program's first instruction; NO_LINE: not
                       known */
    /* The piece of memory that was translated last, and its image. */
    uint64_t first, last;
    unsigned image;
};

/* Begins to tell MPI apart, if the session asks for it. Returns false where
 * this QEMU does not tell registers. */
bool mpi_begin(struct plugin *p);

/* Sets up the second machine with these components, again where it was before.
 * 0 or an error. */
int mpi_set_up(struct plugin *p, uint64_t components);

/* The program is in memory, and none of it has run. */
void mpi_program(struct plugin *p);

/* Comes before the first thread's strand ends that starts anew, and after. */
void mpi_before_restart(struct plugin *p);
void mpi_after_restart(struct plugin *p);

/* A thread has a strand; `maker` made the thread. */
void mpi_thread_starts(struct plugin *p, unsigned vcpu, unsigned maker);

/* Comes before the strand of a thread ends: afterwards p->strands has the
 * strand of the first machine. */
void mpi_thread_ends(struct plugin *p, unsigned vcpu);

/* Counts what the second machine has not counted yet. */
void mpi_rest(struct plugin *p);

/* In the child of a fork: `slot` alone lives on. */
void mpi_forks(struct plugin *p, unsigned slot);

/* The memory of the process has changed by a system call. */
void mpi_memory_changes(struct plugin *p);

/* Registers what tells where MPI is entered and left. Comes before anything
 * else of the block is registered. */
void mpi_register(struct plugin *p, struct qemu_plugin_tb *tb,
                  const struct block *block);

#endif
