/* SPDX-License-Identifier: MIT */
/*
 * Which machine a program runs on, and with which parameters.
 */
#ifndef TALLY_PROFILE_MACHINE_CHOICE_H
#define TALLY_PROFILE_MACHINE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "source/program.h"
#include "table/table.h"

/*
 * Takes `wanted`, or the machine of the program's instruction set if that is
 * NULL. *foreign says whether the machine's own set is another: TALLY_EARCH
 * then, unless `foreign_allowed`. TALLY_EIDLE if its model has not landed.
 */
int
machine_choose(const struct machine_row *wanted, const struct program *program,
               bool foreign_allowed, const struct tally_log *log,
               const struct machine_row **machine, bool *foreign);

/*
 * Fills PARAM_COUNT values: the machine's own, what the host tells for
 * host-model, then `count` assignments "key=value"; checked as a whole.
 */
int machine_params(const struct machine_row *machine, const char *const *set,
                   size_t count, const struct tally_log *log, uint64_t *params);

#endif
