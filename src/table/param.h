/* SPDX-License-Identifier: MIT */
/* Checks values of parameters that were never text. */
#ifndef TALLY_TABLE_PARAM_H
#define TALLY_TABLE_PARAM_H

#include <stdint.h>

#include "base/error.h"

/* Checks the value against the parameter's limits. 0 or TALLY_ERANGE, logged.
 */
int param_check(int id, uint64_t value, const struct tally_log *log);

#endif
