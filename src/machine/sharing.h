/* SPDX-License-Identifier: MIT */
/*
 * Cores that take lines from each other's L1 data caches, where stores allocate
 * (condition `sharing`): MESI, as if a directory knew who has which line.
 *
 * The caches of a core are its L1D and, where it has one, its own L2. Before a
 * store or atomic is served, its line leaves the caches of all other cores. A
 * line is modified from a store on until its core's caches have lost the line
 * or another core asks for the line; what was written is then behind these
 * caches, and a level behind them serves the request. L1 instruction caches
 * keep their lines.
 *
 * Strands whose filters know a line do not ask. So once several cores have
 * run, the filter for stores has only lines that no other core's caches have.
 * With COMPONENT_SHARING that filter has only lines that this core has modified
 * and no other has lost: the model then sees who wrote a line and which bytes.
 *
 * With COMPONENT_CLASSES each miss of the L1D has a class, the first that fits:
 * coherence, first touch of the line by this L1D, capacity (a fully associative
 * cache of as many lines, least recently used, misses too), conflict. That
 * cache sees the accesses of the core and loses no line to other cores. It must
 * see each access to another line than the last, so that filters have the last
 * line alone.
 *
 * One strand that runs alone costs nothing without COMPONENT_SHARING.
 * test/ref/sharing_ref.c is the slow, obvious twin.
 */
#ifndef TALLY_MACHINE_SHARING_H
#define TALLY_MACHINE_SHARING_H

#include "machine/chip.h"

/* Makes the state of a chip whose cores take lines from each other. Returns 0
 * or TALLY_ENOMEM. */
int sharing_init(struct chip *chip);
/* Accepts a chip without that state. */
void sharing_finish(struct chip *chip);
/* All caches of the chip are empty, and one strand, `s`, runs. */
void sharing_clear(struct chip *chip, struct strand *s);

/* Sets a new strand up. Returns 0 or TALLY_ENOMEM. */
int sharing_strand_init(struct strand *s);

/* A second core is about to run its first strand: the caches of the first are
 * looked through, and its strand asks from now on. Under the chip's lock, on
 * the thread of the only strand that runs, if one does. */
void sharing_begin(struct chip *chip);

/* Makes an access to data of a strand with runs.sharing: queues what the
 * filters do not know. REQUEST_ATOMIC is a load that takes the line as a store
 * does. */
void sharing_access(struct strand *s, uint64_t addr, access_site at,
                    enum request_kind kind);

/* Queues a prefetch in the same way: REQUEST_NEAR or REQUEST_FAR. */
void sharing_prefetch(struct strand *s, uint64_t addr, enum request_kind kind,
                      unsigned instruction);

/* Takes the queue of a strand with runs.sharing through the caches, one request
 * after the other. */
void sharing_drain(struct strand *s);

/* What is known of a line in the L1Ds and own L2s of all cores. */
struct sharing_known {
    uint64_t holders;  /* cores that may have the line, a bit each */
    uint64_t modified; /* the number of the core that modified it, + 1; 0: none
                        */
};

/* Finds what is known of a line, by its number. False: nothing is kept of lines
 * that cores share. */
bool sharing_look(const struct chip *chip, uint64_t line,
                  struct sharing_known *known);

#endif
