/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The counted part of the run, its slices, and the snapshots of -I. */
#ifndef TALLY_PLUGIN_SPAN_H
#define TALLY_PLUGIN_SPAN_H

#include "machine/chip.h"

/* Looks whether the strand's interval (-I), slice or turn is over, or that of
 * `tally phases`, and does what is to be done then. The strand is about to
 * enter the block. */
void plugin_look(struct strand *strand, const struct block *block);

/* Looks at the clock for -I; keeps the strand's counts, if its clock has passed
 * a boundary. */
void plugin_snapshot(struct strand *strand);

/* Counts what has run since the last look, before the strand enters the counted
 * part of the run or leaves it. */
void plugin_note_passed(struct strand *strand);

#endif
