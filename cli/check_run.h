/* SPDX-License-Identifier: MIT */
/* Runs benchmarks under `tally record`, several at once, for tally check. */
#ifndef TALLY_CLI_CHECK_RUN_H
#define TALLY_CLI_CHECK_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "check/sample.h"

/* Exit statuses that tally check has and other commands have not. */
enum {
    CHECK_EXIT_ROSE = 3,
    CHECK_EXIT_NO_BASELINE = 4,
    CHECK_EXIT_FAILED = 5,
    CHECK_EXIT_VARIES = 6,
};

/* What to run, and how it counts; all is the caller's. */
struct check_program {
    char *const *argv;         /* ends with NULL; never through a shell */
    const char *directory;     /* where it runs; NULL: here */
    const char *input;         /* its standard input; NULL: nothing */
    char *const *variables;    /* NAME=VALUE, ends with NULL; or NULL */
    const char *machine;       /* as -m has it */
    const char *const *events; /* by name; the first two are instructions and
                                  the cost */
    size_t event_count;
    bool has_layouts; /* the machine takes the parameter layout */
    double timeout;   /* seconds after which a run is ended; 0: never */
};

struct check_run {
    const struct check_program *program;
    unsigned layout; /* from 1 on */
    /* Set by check_runs(): */
    bool tried;   /* it ran, or could not be run; else a signal came before */
    int status;   /* 0: `sample` is read; 2: the benchmark is asked for wrongly;
                     5: it failed; 125: tally did; else not set */
    char *reason; /* one line, why not 0; owned; NULL: none, or no memory */
    char *output; /* what it printed: "N bytes, crc32c X"; owned */
    struct check_sample sample;
    double seconds;
    /* check_runs()'s own. */
    int record, out, err, pid;
    double began;
    bool expired; /* it was ended for its timeout */
};

/* Called where a run has ended. */
typedef void check_progress(void *user, const struct check_run *run);

/* Runs all, at most `jobs` at once, in order. Returns 0; or the number of a
 * signal that asked tally to end: then all that still ran was ended. */
int check_runs(struct check_run *runs, size_t count, unsigned jobs,
               check_progress *progress, void *user);

/* Frees what check_runs() has set. */
void check_run_finish(struct check_run *run);

/* Bytes that a command may write into a file of check_command(), at most. */
#define CHECK_LIST_MOST (1u << 20)

/* Runs a command with standard output into an open file, or -1: as tally's
 * standard error; more than 1 MiB of an open file ends the command. Returns 0;
 * or -1 with *reason set, for the caller to free; NULL: no memory. */
int
check_command(char *const *argv, const char *directory, int out, char **reason);

#endif
