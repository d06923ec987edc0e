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

/*
 * Fills PARAM_COUNT values: the machine's own, then where the machine reads the
 * host what the host's /sys says and what `tally calibrate` has measured, then
 * `count` assignments "key=value"; checks the values together. `calibrated`
 * (CALIBRATION_TEXT bytes, may be NULL) becomes the date of what was measured,
 * or "".
 */
int machine_params(const struct machine_row *machine, const char *const *set,
                   size_t count, const struct tally_log *log, uint64_t *params,
                   char *calibrated);

#endif
