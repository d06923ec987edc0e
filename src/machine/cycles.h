/* SPDX-License-Identifier: MIT */
/*
 * Modelled time. A strand's cycles are a sum of terms, each linear in counts
 * of its own with parameters time.* as factors: the cycles in which it issues,
 * and the stalls by their reason. No two stalls overlap, none is hidden behind
 * instructions; doc/models/ has the formula of each machine.
 */
#ifndef TALLY_MACHINE_CYCLES_H
#define TALLY_MACHINE_CYCLES_H

#include <stdint.h>

#include "source/region.h"

/*
 * Fills in issue_cycles, the stalls and cycles, their sum, from the other
 * signals of one strand. What it waits for a pipeline, stall_issue, depends on
 * other strands and is given: machine/pipeline.h.
 */
void cycles_derive(const uint64_t *params, struct totals *totals);

/* What follows from cycles in turn, once what others make it wait is in them.
 */
void cycles_derive_bus(const uint64_t *params, struct totals *totals);

/* How many micro-operations a cycle selects at most where blocks are issued in
 * groups, else 0: of struct block_shape. */
unsigned cycles_group(const uint64_t *params);

#endif
