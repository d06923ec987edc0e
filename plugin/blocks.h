/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The records of translated blocks. QEMU translates the same code again after
 * each flush of its cache and once for each way it is entered, so the records
 * are found again by address and code. Blocks that count the same share one
 * info in the process's counts. Under the plugin's lock of translation.
 */
#ifndef TALLY_PLUGIN_BLOCKS_H
#define TALLY_PLUGIN_BLOCKS_H

#include "plugin/plugin.h"

/* A record with the signals that no longer fit into the process's counts:
 * it has COUNTS_BLOCKS kinds of blocks. */
struct late_block {
    struct block block;
    int16_t fixed[SIGNAL_FIXED_COUNT];
};

/* The known record for `model` under `hash`, or a new one. */
struct block *
blocks_keep(struct plugin *p, uint64_t hash, const struct block *model,
            const struct block_info *info);

/* Returns whether a block has begun at this address. */
bool blocks_begin_at(const struct plugin *p, uint64_t pc);

/* Returns the one copy of these two accesses, of whatever block they are. */
const struct access_pair *
blocks_keep_pair(struct plugin *p, const struct access_pair *pair);

/* Returns whether the process's counts have room for the infos of one more
 * block, all of whose pieces may be of new kinds. */
bool blocks_have_room(const struct plugin *p);

/* Where there is no room: the signals are added at each execution, by a
 * callback with the record as data. `slot` is what block_slot() fills in, or
 * NULL where that returns false. */
struct late_block *
blocks_late(struct plugin *p, const struct block *model,
            const struct block_info *info, const struct block_info *slot);
void blocks_late_part(unsigned vcpu, void *data);

#endif
