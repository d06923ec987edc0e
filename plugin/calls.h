/* SPDX-License-Identifier: GPL-2.0-or-later */
/* System calls of the guest, by their numbers in its ABI. */
#ifndef TALLY_PLUGIN_CALLS_H
#define TALLY_PLUGIN_CALLS_H

#include "machine/chip.h"

bool call_is_execve(enum isa isa, int64_t number);

/* A thread makes a call: what it counts as. */
void call_count(struct strand *strand, enum isa isa, int64_t number);

#endif
