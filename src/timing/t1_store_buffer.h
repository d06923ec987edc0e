/* SPDX-License-Identifier: MIT */
/*
 * The store buffer of an UltraSPARC T1: cycles that a block's stores wait, a
 * fixed signal, since they are the same each time it runs.
 *
 * Instructions issue one a cycle. A store has an entry of the buffer from its
 * issue until it has drained; stores drain one after the other, each in so many
 * cycles. One that finds no entry free waits, and with it all behind it. The
 * buffer is empty when a block begins; a block's pieces share it. No other
 * stall is seen, atomics take no entry. Document: Netra DPS profiler, TABLE
 * 3-2, SB_full.
 */
#ifndef TALLY_TIMING_T1_STORE_BUFFER_H
#define TALLY_TIMING_T1_STORE_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "isa/insn.h"

#define T1_STORE_ENTRIES 64u /* the most that a buffer has */

/* Zeroed but for the first two: a buffer at the begin of a block. */
struct t1_store_buffer {
    unsigned entries; /* 0: no store waits */
    unsigned cycles;  /* in which a store drains */
    uint32_t time;
    uint32_t stores;
    uint32_t done[T1_STORE_ENTRIES]; /* when the last ones have drained */
};

/* Adds to the fixed signals what these instructions wait, which come next. */
void
t1_store_buffer_add(struct t1_store_buffer *drain, const struct insn *insns,
                    size_t count, int16_t *fixed);

#endif
