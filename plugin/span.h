/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counted part of the run, its slices, and the snapshots of -I. */
#ifndef TALLY_PLUGIN_SPAN_H
#define TALLY_PLUGIN_SPAN_H

#include "machine/chip.h"

/* Looks at the clock for -I, or begins the slice of the next events. */
void plugin_look(struct strand *strand);

/* Looks at the clock for -I; keeps the strand's counts, if its clock has passed
 * a boundary. */
void plugin_snapshot(struct strand *strand);

#endif
