/* SPDX-License-Identifier: MIT */
/* Chooses the machine that a program runs on, and the machine's parameters. */
#ifndef TALLY_PROFILE_MACHINE_CHOICE_H
#define TALLY_PROFILE_MACHINE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/calibration.h"
#include "source/program.h"
#include "table/table.h"

/*
 * Chooses `wanted`, or if that is NULL the machine of the program's instruction
 * set. *foreign says whether the machine's own instruction set is another; if
 * so, TALLY_EARCH unless `foreign_allowed`. TALLY_EIDLE if the machine has no
 * model yet. Failures are logged.
 */
int
machine_choose(const struct machine_row *wanted, const struct program *program,
               bool foreign_allowed, const struct tally_log *log,
               const struct machine_row **machine, bool *foreign);

/* Where the parameters of a machine that reads the host come from. */
struct machine_origin {
    char calibrated[CALIBRATION_TEXT]; /* date of tally calibrate's, or "" */
    const char *core; /* the machine whose core stands in; NULL: none */
    bool no_core;     /* no modelled core fits this computer */
};

/*
 * Fills PARAM_COUNT values: the machine's own, then where the machine reads the
 * host those of the nearest modelled core, what the host's /sys says and what
 * `tally calibrate` has measured, then `count` assignments "key=value"; checks
 * the values together. `origin` (may be NULL) is filled in.
 */
int machine_params(const struct machine_row *machine, const char *const *set,
                   size_t count, const struct tally_log *log, uint64_t *params,
                   struct machine_origin *origin);

#endif
