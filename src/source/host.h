/* SPDX-License-Identifier: MIT */
/*
 * What this host is, as far as the system tells: cache geometry and clock.
 */
#ifndef TALLY_SOURCE_HOST_H
#define TALLY_SOURCE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "table/table.h"

/*
 * Overwrites those of the PARAM_COUNT values that the system tells; `read`
 * (PARAM_COUNT flags, may be NULL) says which. A size that is no power of two
 * of sets is rounded down to one that the model takes; what no model takes is
 * left as it was. `sys` is /sys, or a test's own folder.
 */
void host_params(const char *sys, uint64_t *params, bool *read);

#endif
