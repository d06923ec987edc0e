/* SPDX-License-Identifier: MIT */
/* What tally check runs: which benchmarks, on which machine, with which events
 * and limits, and in which layouts. */
#ifndef TALLY_CLI_CHECK_PLAN_H
#define TALLY_CLI_CHECK_PLAN_H

#include "check/settings.h"
#include "cli/check_run.h"

/* The file of the benchmarks, unless the command line has another. */
#define CHECK_SETTINGS_FILE "tally.toml"

/* A limit of the command line. */
struct check_asked_limit {
    const char *text; /* MEASURE=PERCENT, where PERCENT is a number */
    bool hard;
};

/* What the command line has of it; all is the caller's. */
struct check_choice {
    const char *file; /* of the benchmarks; NULL: CHECK_SETTINGS_FILE */
    char **program;   /* with its arguments; NULL: the benchmarks of the file */
    char **patterns;  /* of names of benchmarks; none: all */
    size_t pattern_count;
    const char *machine; /* NULL: the benchmark's own */
    const char *events;  /* names beside the benchmark's own, with commas; or
                            NULL */
    const struct check_asked_limit *limits;
    size_t limit_count;
    unsigned layouts; /* 0: the benchmark's own */
};

/* One benchmark with its runs. */
struct check_bench {
    struct check_benchmark *settings; /* of the plan's */
    struct check_program program;
    const char **events;    /* of the program, owned */
    const char **measures;  /* the same but for the cost, owned */
    struct check_run *runs; /* of the plan's; none where it is not ready */
    size_t run_count;       /* a run a layout, and the first layout once more */
    uint32_t geometry; /* of a machine that has this host's caches; else 0 */
};

/* Zeroed before check_plan_make(). */
struct check_plan {
    const struct check_choice *choice;
    struct check_settings settings;
    struct check_bench *benches;
    size_t bench_count;
    struct check_run *runs; /* of all benches */
    size_t run_count;
    bool warned; /* of what is wrong with this host's values */
};

/* Reads the settings, refuses what is wrong with them or with the choice, and
 * runs the commands that make benchmarks ready and list the names of suites.
 * Where such a command fails, settings->unready of its benchmark says why, and
 * the benchmark has no runs.
 * Returns 0 or an exit status, told. check_plan_finish() in any case. */
int check_plan_make(const struct check_choice *choice, struct check_plan *plan);
void check_plan_finish(struct check_plan *plan);

#endif
