/* SPDX-License-Identifier: MIT */
/*
 * Caches that write back, and the memory behind the last of them. In place of
 * the stages of drain.c where what is counted needs it (COMPONENT_WRITEBACK).
 *
 * A line is dirty from its first store on, or atomic, until it is driven out:
 * then it is written to the next level that has it, whose order of use that
 * does not change, or else to memory. So no other signal depends on whether
 * write-backs are counted. Lines that are dirty when the program ends stay.
 * test/ref/chip_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_WRITEBACK_H
#define TALLY_MACHINE_WRITEBACK_H

#include "machine/queue.h"

/* Banks that have signals of their own: memory_reads_0 and so on. */
#define MEMORY_BANKS 8u

/*
 * Takes a queue through an L1D that writes back. What goes on to the L2, in
 * order, is put into `out`, which has room for twice as many; returns how many.
 */
size_t memory_l1d(struct strand *s, const struct request *queue, size_t count,
                  struct request *out);

/* Returns the bank that has an address, of a chip or node. */
unsigned memory_bank(const struct chip *chip, uint64_t addr);

/* A line is read from a channel of memory for a request, or written to it. */
void
memory_read(struct strand *s, unsigned channel, uint64_t addr, unsigned kind);
void memory_write(struct strand *s, unsigned channel, uint64_t addr);

/* Settles the memory's banks after reads and writes. */
static inline void
memory_settle(struct strand *s)
{
    if (s->chip->dram.open)
        dram_settle(&s->chip->dram, s->total);
}

#endif
