/* SPDX-License-Identifier: MIT */
/*
 * The options of commands that run a program on a modelled machine: how the
 * machine is set and how QEMU is started. A command's rows have them in a run
 * of their own, from MODEL_OPTION_ROWS or MODEL_TURN_ROWS on.
 */
#ifndef TALLY_CLI_MODEL_OPTIONS_H
#define TALLY_CLI_MODEL_OPTIONS_H

#include "cli/command.h"
#include "source/launch.h"
#include "table/table.h"

enum {
    MODEL_SET,
    MODEL_FOREIGN,
    MODEL_CLEAN_ENV,
    MODEL_ENV,
    MODEL_REAL_RANDOM,
    MODEL_SYSROOT,
    MODEL_CPU,
    MODEL_QEMU,
    MODEL_QUANTUM,
    MODEL_SCHEDULE,
    MODEL_CPUS,
    MODEL_PARALLEL, /* the last: a command without has one row fewer */
    MODEL_OPTION_COUNT
};

/* The rows of a command whose threads take turns, of `quantum` instructions
 * (text) unless asked otherwise. The command has no --parallel, and says why in
 * its `others`. */
/* clang-format off */
#define MODEL_TURN_ROWS(first, quantum)                                        \
    [(first) + MODEL_SET] =                                                    \
        {0, "set", "KEY=VALUE",                                                \
         "change a parameter of the machine (tally show -v MACHINE)"},            \
    MODEL_RUN_ROWS(first, quantum)

/* The same without --set, for a command whose --set is another. */
#define MODEL_RUN_ROWS(first, quantum)                                         \
    [(first) + MODEL_FOREIGN] =                                                \
        {0, "foreign", NULL, "allow a program of another instruction set"},    \
    [(first) + MODEL_CLEAN_ENV] =                                              \
        {0, "clean-env", NULL,                                                 \
         "run in a fixed environment with fixed random bytes: counts repeat"}, \
    [(first) + MODEL_ENV] =                                                    \
        {0, "env", "NAME=VALUE",                                               \
         "set this variable for the program, with --clean-env too"},           \
    [(first) + MODEL_REAL_RANDOM] =                                            \
        {0, "real-random", NULL,                                               \
         "leave the program's random bytes random, with --clean-env too"},     \
    [(first) + MODEL_SYSROOT] =                                                \
        {'L', "sysroot", "DIR",                                                \
         "where a dynamic program finds its loader and libraries"},            \
    [(first) + MODEL_CPU] =                                                    \
        {0, "cpu-model", "MODEL", "CPU model that QEMU shows the program"},    \
    [(first) + MODEL_QEMU] =                                                   \
        {0, "qemu", "FILE", "the QEMU to use (TALLY_QEMU: its folder)"},       \
    [(first) + MODEL_QUANTUM] =                                                \
        {0, "quantum", "N",                                                    \
         "length of a thread's turn, in the unit of --schedule; threads run "  \
         "one at a time (default " quantum ")"},                               \
    [(first) + MODEL_SCHEDULE] =                                               \
        {0, "schedule", "UNIT",                                                \
         "turns of instructions (default), or of modelled cycles: cycles"},    \
    [(first) + MODEL_CPUS] =                                                   \
        {0, "cpus", "N", "processors that the program sees (default 4)"}

/* The row of a command that can run all threads at once as well. */
#define MODEL_PARALLEL_ROW(first)                                              \
    [(first) + MODEL_PARALLEL] =                                               \
        {0, "parallel", NULL,                                                  \
         "run all threads at once, on this host's clock: counts vary"}
/* All rows. */
#define MODEL_OPTION_ROWS(first)                                               \
    MODEL_TURN_ROWS(first, "100000"), MODEL_PARALLEL_ROW(first)
/* clang-format on */

#define MODEL_VARIABLES 256

struct model_options {
    const char *sets[PARAM_COUNT];
    size_t set_count;
    char *variables[MODEL_VARIABLES + 1]; /* end with NULL */
    struct launch_options launch;
    bool foreign;
};

/* Takes the option of this number in the run. Returns NULL, or what is wrong
 * with *value, which is to follow the text: then *value is what was given, or
 * the option itself where it takes no value. */
const char *
model_options_take(struct model_options *m, int option, const char **value);

/* Returns the first of these options that was given, as it is written, or NULL.
 */
const char *model_options_given(const struct model_options *m);

/* Says which variables of the environment QEMU does not get (source/setting.h):
 * one line, or none. */
void model_options_say_settings(const struct model_options *m);

#endif
