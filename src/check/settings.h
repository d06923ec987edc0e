/* SPDX-License-Identifier: MIT */
/*
 * The benchmarks of `tally check`: the file tally.toml, whose form doc/check.md
 * describes, or one program of the command line.
 */
#ifndef TALLY_CHECK_SETTINGS_H
#define TALLY_CHECK_SETTINGS_H

#include "check/compare.h"

#define CHECK_MACHINE "ci-1"
#define CHECK_LAYOUTS 9u
#define CHECK_LAYOUTS_MOST 64u
#define CHECK_TIMEOUT_MOST 1000000u /* seconds */
/* Limits of a hard rise unless the settings have others, per cent. */
#define CHECK_HARD_INSTRUCTIONS 0.2
#define CHECK_HARD_COST 1.0

/* A benchmark, or a suite that lists the names of its benchmarks itself. All is
 * the settings' own. Arrays of texts end with NULL. */
struct check_benchmark {
    char *name;       /* no '/' in it, but for those of a suite: "suite/NAME" */
    char **command;   /* a program and its arguments; of a suite {} in an
                         argument stands for the name */
    char *input;      /* path of its standard input, or NULL: nothing */
    char *directory;  /* where it runs */
    char **variables; /* NAME=VALUE, added to its environment */
    char **setup;     /* a command to run once before, or NULL */
    char **names;     /* of a suite: a command that prints a name a line; else
                         NULL */
    char **match;     /* of a suite: names that match one of these patterns of
                         fnmatch() count; empty: all do */
    char *machine;
    char **events; /* beside instructions and the cost */
    unsigned layouts;
    double timeout;  /* seconds that a run may take on this host; 0: any */
    bool any_output; /* what it prints may differ from run to run */
    struct check_limit *limits; /* each measure at most once */
    size_t limit_count;
    char *unready; /* why it cannot be run, set by who tried; or NULL */
};

struct check_settings {
    char *path; /* of the file; NULL: one program */
    struct check_benchmark
        *benchmarks; /* by name, but those of a suite as it lists them */
    size_t count;
};

/* Reads a file. 0; TALLY_EIO, TALLY_ESYNTAX or TALLY_ENOMEM, logged.
 * check_settings_finish() accepts a zeroed struct and what a failure leaves. */
int check_settings_read(const char *path, const struct tally_log *log,
                        struct check_settings *settings);

/* The same of text in memory, in place of the file `path`. */
int check_settings_parse(const char *text, size_t size, const char *path,
                         const struct tally_log *log,
                         struct check_settings *settings);

/* Makes the settings of one program, a benchmark with the name of its file
 * and its arguments. Returns 0 or TALLY_ENOMEM, logged. */
int check_settings_program(char *const *argv, const struct tally_log *log,
                           struct check_settings *settings);

/* Puts the benchmarks of a suite in its place: one for each line of `names`
 * that matches. 0; TALLY_ESYNTAX where none does or one comes twice, or
 * TALLY_ENOMEM, logged, and the suite is still there. */
int check_settings_expand(struct check_settings *settings, size_t suite,
                          const char *names, size_t size,
                          const struct tally_log *log);

void check_settings_finish(struct check_settings *settings);

#endif
