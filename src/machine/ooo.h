/* SPDX-License-Identifier: MIT */
/*
 * A strand whose core executes out of order (time.model = ooo):
 * machine/ooo_core.h with the strand's caches, TLBs and predictors.
 *
 * A block takes its time when the next is entered: then all its accesses have
 * been made, and are taken through the caches one by one, so that it is known
 * which of them waits for which level. Its branch is judged by the next block's
 * entry, so what a mispredicted branch costs comes one block later.
 */
#ifndef TALLY_MACHINE_OOO_H
#define TALLY_MACHINE_OOO_H

#include "machine/chip.h"
#include "timing/ooo_block.h"

struct ooo;

/* Makes the state of a strand whose chip runs COMPONENT_OOO. Returns NULL where
 * there is no memory. */
struct ooo *ooo_create(const uint64_t *params);
/* Accepts NULL. */
void ooo_destroy(struct ooo *o);
/* The strand's core is empty from now on. */
void ooo_reset(struct ooo *o);

/* The strand counts in the totals `to` from now on, instead of `from`. */
void ooo_switch_totals(struct ooo *o, const uint64_t *from, const uint64_t *to);

/* The strand is about to enter this block, and the block that it has entered
 * before has run. NULL: it enters none. */
void ooo_enter(struct strand *s, const struct ooo_block *block);

/* The block that runs waits so many cycles for a page of code, or the load of
 * an instruction for one of data. `walks`: a page walk takes so long. */
void ooo_page(struct strand *s, unsigned instruction, bool code, bool walks,
              uint64_t cycles);

/* Takes the strand's queue through the caches, one request after the other, and
 * notes what waits for which level. */
void ooo_drain(struct strand *s);

#endif
