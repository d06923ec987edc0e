/* SPDX-License-Identifier: MIT */
/* The twin of machine/buffers.h. */
#ifndef TALLY_TEST_BUFFERS_REF_H
#define TALLY_TEST_BUFFERS_REF_H

#include "ref/chip_ref.h"

/* The L2 lacks a line, which memory has or not, and drives a dirty one out. */
void buffers_ref_miss(struct chip_ref *r, bool waits, bool memory, bool dirty);

#endif
