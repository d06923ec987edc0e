/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of translated blocks. QEMU translates the same code again after
 * each flush of its cache and once for each way it is entered, so the records
 * are found again by address and code. Blocks that count the same share one
 * info in the process's counts. Under the plugin's lock of translation.
 */
#ifndef TALLY_PLUGIN_BLOCKS_H
#define TALLY_PLUGIN_BLOCKS_H

#include "machine/chip.h"
#include "source/process_counts.h"

/* A block or an info by a part of its hash; number 0: none. */
struct block_slot {
    uint32_t number; /* from 1 on */
    uint32_t tag;
};

/* A hash table with open addressing; `size` is a power of two. */
struct block_slots {
    struct block_slot *slots;
    size_t used, size;
};

/* The blocks of a process. */
struct block_table {
    struct process_counts *process; /* has the infos; set by the owner */
    struct block **chunks;          /* all blocks, by number */
    uint32_t count;                 /* of blocks */
    struct block_slots blocks;      /* by address and code */
    struct block_slots infos;       /* of the process's counts, by content */
    uint32_t info_count;
    uint32_t index_count; /* of counts */
    bool apart;  /* each block has its own counts, and shares its info alone */
    void *pairs; /* struct access_pair by content, tsearch(3) */
};

/* A record with the signals that no longer fit into the process's counts:
 * it has COUNTS_BLOCKS kinds of blocks. */
struct late_block {
    struct block block;
    int16_t fixed[SIGNAL_FIXED_COUNT];
};

/* Returns the known record for `model` under `hash`, or a new one. */
struct block *
blocks_keep(struct block_table *t, uint64_t hash, const struct block *model,
            const struct block_info *info);

/* Returns whether a block has begun at this address. */
bool blocks_begin_at(const struct block_table *t, uint64_t pc);

/* Returns the one copy of `size` bytes in a tree of tsearch(3), which `compare`
 * orders by content. A copy lives as long as the process. */
const void *
blocks_keep_copy(const struct block_table *t, void **tree, const void *value,
                 size_t size, int (*compare)(const void *, const void *));

/* Returns the one copy of these two accesses, of whatever block they are. */
const struct access_pair *
blocks_keep_pair(struct block_table *t, const struct access_pair *pair);

/* Returns whether the process's counts have room for the infos of one more
 * block, all of whose pieces may be of new kinds. */
bool blocks_have_room(const struct block_table *t);

/* Makes a block for which the counts have no room: blocks_add_late() adds its
 * signals at each execution. `slot` is what block_slot() fills in, or NULL
 * where that returns false. */
struct late_block *
blocks_late(struct block_table *t, const struct block *model,
            const struct block_info *info, const struct block_info *slot);
void blocks_add_late(struct strand *strand, const struct late_block *late);

/* Gives back the memory of all blocks, which read as zeros from now on: none
 * may run any more. */
void blocks_release(struct block_table *t);

/* Forgets the records: blocks that are translated from now on have new ones. */
void blocks_forget(struct block_table *t);

#endif
