/* SPDX-License-Identifier: MIT */
/* What the commands share that run a program to measure it: count, perfex and
 * profile. */
#ifndef TALLY_CLI_MEASURED_H
#define TALLY_CLI_MEASURED_H

#include <limits.h>

#include "cli/command.h"
#include "cli/model_options.h"
#include "profile/hardware.h"
#include "profile/machine_choice.h"
#include "profile/session.h"
#include "report/count_report.h"
#include "source/program.h"

/* A program that runs on a modelled machine. */
struct measured {
    struct program program;
    const struct machine_row *machine;
    uint64_t params[PARAM_COUNT];
    struct machine_origin origin; /* of the parameters */
    bool foreign; /* the program's ISA is not the machine's own */
    /* What the model hears of the program's run, bits of enum feed_id: all of
     * them unless a trace was imported. */
    unsigned feeds;
    char imported[32]; /* the format that a trace was imported from, or "" */
    bool late;         /* a trace begins after its program does */
    char plugin[PATH_MAX]; /* QEMU's */
    /* Of a trace in place of the program: what plays QEMU's part. */
    char replayer[1024];
    /* The library by which a trace has what the program's allocator gave, "":
     * it has nothing of that. */
    char allocations[COUNTS_NAME];
};

/* Finds the plugin, which `launch` then names, and opens the program. Returns
 * 0, or an exit status after saying what is wrong. After success the caller
 * calls program_close(). */
int measured_open(struct measured *measured, char *const *argv,
                  struct launch_options *launch);

/* The same for a command that takes a trace (tally trace record) in place of a
 * program, too; measured_open() refuses one. Says where the trace ends, if that
 * is before its program. */
int measured_open_any(struct measured *measured, char *const *argv,
                      struct launch_options *launch);

/* Finds the machine, `name` or (NULL) one that fits the program, and its
 * parameters; checks that the model's options fit. `talks`: says what the
 * settings change. Returns 0 or an error, logged. */
int measured_choose(struct measured *measured, const char *name,
                    const struct model_options *model, bool talks);

/* Returns the format that the trace was imported from, or NULL. */
const char *measured_imported(const struct measured *measured);

/* Refuses a trace that was imported, as `command` looks at code. Returns 0, or
 * an exit status after saying so; then program_close() was called. */
int measured_refuse_imported(struct measured *measured, const char *command);

/* Returns why the event counts nothing of this program on this machine, as
 * event_lacks() and event_starves() have it, or NULL. */
const char *
measured_lacks(const struct measured *measured, const struct event_row *event);

/* Checks that the caches see the addresses that the program has, as `what`
 * needs: that the parameter layout is 0. Returns 0 or an error, logged. */
int measured_check_layout(const struct measured *measured, const char *what);

/* Checks that what misses are the program's accesses, as `what` needs: that the
 * caches see their addresses, and that no level has a prefetcher. Returns 0 or
 * an error, logged. */
int measured_check_accesses(const struct measured *measured, const char *what);

/* Refuses a trace, or NULL, that has nothing of the program's data, where
 * objects are asked for. Returns 0 or an error, logged. */
int measured_check_objects(const struct measured *measured, const char *trace);

/* Finds how tally learns of the blocks that the program's allocator gives, for
 * a run that records objects: `launch` has the program's own allocators, and
 * gets the path of the library that is preloaded, which is written to `path`,
 * of `size` bytes. *reason becomes why tally cannot learn of the blocks of a
 * static program, or NULL. Returns 0 or an exit status. */
int measured_find_heap(const struct measured *measured,
                       struct launch_options *launch, char *path, size_t size,
                       const char **reason);

/* Returns whether the program is one of this computer's own kind. */
bool measured_is_native(char *const *argv);

/* Returns the exit status for an error of session_run(), which is not 0: 2
 * where an option is at fault, such as the name of a function that the program
 * lacks; else 125. */
int measured_failed(int error);

/* Says why nothing of the program ran, and returns the exit status: 125, or
 * where a signal to tally ended QEMU, that of a program that the signal ended.
 */
int measured_unstarted(const struct measured *measured,
                       const struct session_result *result);

/* Returns the exit status of a command whose report is written: the program's,
 * or 125 where its trace is damaged. */
int measured_status(const struct session_result *result);

/* Sets the part of the time that the event had a counter of --hardware. A count
 * of a part of the time is an estimate; without any time there is no count. */
void measured_share(const struct hardware_reading *reading,
                    struct count_value *value);

/* Says why the host could not execute argv[0], by errno `error`, and returns
 * the exit status. */
int exec_status(const char *command, int error, char *const *argv);

#endif
