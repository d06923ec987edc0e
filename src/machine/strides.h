/* SPDX-License-Identifier: MIT */
/*
 * How far apart the addresses are that one instruction asks for one after the
 * other in a thread (struct record_stride).
 */
#ifndef TALLY_MACHINE_STRIDES_H
#define TALLY_MACHINE_STRIDES_H

#include "source/record_counts.h"

/* The instruction has asked for an address in a thread, by its number. Where
 * QEMU shows an access in pieces, each is told, and the first one counts.
 * Between two accesses of different threads there is no step. */
void strides_note(struct record_stride *s, uint32_t thread, uint64_t addr);

#endif
