/* SPDX-License-Identifier: MIT */
/*
 * Many commands as jobs of another program, which gives them to the computers
 * that it knows: GNU parallel, or Slurm. Each command is a shell script in a
 * folder that all those computers see.
 */
#ifndef TALLY_CLI_BATCH_H
#define TALLY_CLI_BATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum batch_by {
    BATCH_NONE,
    BATCH_PARALLEL,
    BATCH_SLURM,
};

/* Jobs; zeroed but for `by` and `folder` before batch_add(). */
struct batch {
    enum batch_by by;
    const char *folder; /* an absolute path; not owned */
    size_t *numbers;    /* [count], owned: of the commands, each once */
    size_t count;
    pid_t pid;    /* of the program that gives out the jobs; 0: none runs */
    int out, err; /* files of what that program writes */
};

/*
 * Writes the script FOLDER/NNNN.sh of a command, which is 1 to 9999 words long
 * and `number` below 10,000. The script runs this tally with the words in the
 * folder that this process is in, reads nothing, drops what the program writes,
 * and leaves its standard error in FOLDER/NNNN.err. Returns 0, or a status
 * after saying why.
 */
int batch_add(struct batch *b, size_t number, char *const *words);

/* Starts the jobs of all scripts. Returns 0, or a status after saying why. */
int batch_start(struct batch *b);

/* Returns whether all jobs have ended, well or not; *status becomes what
 * waitpid() says of the program that gave them out. */
bool batch_ended(struct batch *b, int *status);

/* Ends the jobs, which have got the signal's number from the user; `set` as in
 * child_end_all(). */
void batch_cancel(struct batch *b, const sigset_t *set, int number);

/* Returns the last line of what a command has said of errors, or of what Slurm
 * has said of the job; for the caller to free. NULL: there is none. */
char *batch_said(const struct batch *b, size_t number);

/* Returns the last line that the program which gives out the jobs has said of
 * errors, for the caller to free; NULL: there is none. */
char *batch_complaint(const struct batch *b);

/* Frees what batch_add() and batch_start() made. */
void batch_finish(struct batch *b);

#endif
