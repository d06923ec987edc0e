/* SPDX-License-Identifier: MIT */
/*
 * What stands behind the first-level caches of a machine, and how the caches of
 * several cores or nodes stay coherent. Each kind is one row of functions in a
 * file of its own:
 *
 *   coherence_plain      levels.c: levels without write-backs
 *   coherence_writeback  writeback.c: levels that write back; cores that have
 *                        an L2 each snoop the others (coherence_snoop.c)
 *   coherence_nodes      coherence_nodes.c: chips with an L2 each
 *   coherence_bus        coherence_bus.c: cores with L2 and L3, on a MESI bus
 *
 * chip_init() chooses the kind once. A strand's queue goes through one call of
 * take(), so the choice costs nothing for each request.
 */
#ifndef TALLY_MACHINE_COHERENCE_H
#define TALLY_MACHINE_COHERENCE_H

#include "machine/chip.h"

struct coherence {
    /* Bytes of the kind's own state of a chip and of a strand, which are in
     * memory of zeros: chip->behind and strand->behind. */
    size_t chip_size, strand_size;

    /* Takes `count` requests of a strand that the L1s lack through the levels,
     * to memory. May write to the queue. Under the chip's lock, unless the
     * strand runs alone. */
    void (*take)(struct strand *s, struct request *queue, size_t count);

    /* take() charges the instructions of its requests, where the strand
     * records; else the caller does, one request at a time. */
    bool charges;

    /* All below may be NULL: the kind has nothing to do. */

    /* Counts what the strand's requests have under way: nothing follows. */
    void (*rest)(struct strand *s);
    /* Counts what others have done to the strand, which leaves its core. Under
     * the chip's lock. */
    void (*leave)(struct strand *s);

    /* Makes, frees and empties the kind's own caches of a core. core_init()
     * returns 0 or TALLY_ENOMEM; core_finish() accepts a zeroed core. */
    int (*core_init)(struct core *core, const struct chip *chip);
    void (*core_finish)(struct core *core);
    void (*core_clear)(struct core *core);

    /* Frees what chip->behind points to. */
    void (*chip_finish)(struct chip *chip);
    /* Says of which cache the filter for stores has the lines: mask of the sets
     * and log2 of the line. Without it that is the L2 or the L1D. */
    void (*store_sets)(const struct strand *s, uint64_t *set_mask,
                       uint32_t *line_shift);
};

extern const struct coherence coherence_plain, coherence_writeback,
    coherence_nodes, coherence_bus;

/* Returns the kind for the components of the model that run. */
const struct coherence *coherence_of(uint64_t components);

#endif
