/* SPDX-License-Identifier: MIT */
/* The part of machine/chip.h's twin where an L2 holds all that the L1s hold. */
#ifndef TALLY_TEST_INCLUSION_REF_H
#define TALLY_TEST_INCLUSION_REF_H

#include "ref/chip_ref.h"

/* A miss of a full set of the L2 is about to drive a line out. */
void inclusion_ref_note(struct chip_ref *r, uint64_t addr);

#endif
