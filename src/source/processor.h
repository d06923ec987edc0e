/* SPDX-License-Identifier: MIT */
/*
 * Which modelled core is nearest to this computer's processor, by the numbers
 * that Linux tells of the processor. data/processors.toml has the table.
 */
#ifndef TALLY_SOURCE_PROCESSOR_H
#define TALLY_SOURCE_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

#include "table/table.h"

/* A range of processors, and the machine whose core is nearest to theirs. */
struct processor_row {
    const char *vendor;   /* of x86-64; NULL: a processor of arm64 */
    uint32_t family;      /* of arm64 the implementer */
    uint32_t first, last; /* models; of arm64 parts */
    const char *machine;
};

/* Ends with a machine of NULL. Generated. */
extern const struct processor_row processor_rows[];

/* The parameters of a core: keys, or NAME.* for all that begin so. Ends with
 * NULL. Generated. */
extern const char *const processor_params[];

/* Returns the text behind the colon of a line of /proc/cpuinfo, where the line
 * is that of `key`; NULL: the line is another. */
const char *processor_value(const char *line, const char *key);

/* Finds the machine whose core is nearest to the first processor of
 * /proc/cpuinfo, or of a file like it. NULL: the file names no processor that
 * is in the table. */
const struct machine_row *processor_core(const char *cpuinfo);

/* Returns whether a parameter is one of those that a core has. */
bool processor_has(enum param_id id);

#endif
