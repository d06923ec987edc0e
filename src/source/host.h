/* SPDX-License-Identifier: MIT */
/*
 * What this host is: cache geometry and clock as far as the system tells, and
 * what `tally calibrate` has measured.
 */
#ifndef TALLY_SOURCE_HOST_H
#define TALLY_SOURCE_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include "source/calibration.h"
#include "table/table.h"

/*
 * Overwrites those of the PARAM_COUNT values that the system tells; `read`
 * (PARAM_COUNT flags, may be NULL) says which. A size that is no power of two
 * of sets is rounded down to one that the model takes; what no model takes is
 * left as it was. `sys` is /sys, or a test's own folder.
 */
void host_params(const char *sys, uint64_t *params, bool *read);

/* Where the values of a machine that reads the host come from. */
struct host_values {
    bool read[PARAM_COUNT]; /* the system told it */
    /* The modelled core nearest to the processor, which stands in for what
     * nobody tells or measures. NULL: there is none. */
    const struct machine_row *core;
    bool of_core[PARAM_COUNT]; /* the core's, if neither read nor measured */
    bool no_core;              /* no modelled core fits this computer */
    struct calibration calibration; /* its date is "": nothing was measured */
};

/* Overwrites those of the PARAM_COUNT values that the modelled core gives which
 * is nearest to the processor of /proc/cpuinfo, or of a file like it; `from`
 * says which, and whose they are. */
void host_core(const char *cpuinfo, uint64_t *params, struct host_values *from);

/*
 * Overwrites those of the PARAM_COUNT values that the nearest modelled core
 * gives, unless calibration_is_off(); then those that /sys tells, then those
 * that `tally calibrate` has measured; `from` says which. A file of tally
 * calibrate that cannot be used is warned of in one line, and changes nothing.
 */
void host_values(const struct tally_log *log, uint64_t *params,
                 struct host_values *from);

#endif
