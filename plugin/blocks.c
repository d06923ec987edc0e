/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "plugin/gateway.h"

#define BLOCKS_A_CHUNK 1024u

/* Blocks live until the process ends: QEMU keeps pointers to them. */
static struct block *
new_block(void)
{
    static struct block *chunk;
    static unsigned used = BLOCKS_A_CHUNK;

    if (used == BLOCKS_A_CHUNK) {
        chunk = aligned_alloc(64, BLOCKS_A_CHUNK * sizeof(*chunk));
        if (chunk == NULL)
            plugin_no_memory("the program's code");
        used = 0;
    }
    return &chunk[used++];
}

static void
add_info(struct plugin *p, struct block *block, const struct block_info *info)
{
    block->index = p->block_count++;
    p->region.infos[block->index] = *info;
    atomic_store(&p->region.head->blocks, p->block_count);
}

/*
 * The table holds every part of every block under its hash; a part's hash is
 * its block's plus its number.
 */
static struct block **
table_slot(const struct plugin *p, uint64_t hash, uint64_t pc, uint64_t end)
{
    size_t slot = (hash ^ hash >> 32) & (p->table_size - 1);

    while (p->table[slot] != NULL &&
           (p->hashes[slot] != hash || p->table[slot]->pc != pc ||
            p->table[slot]->end != end))
        slot = (slot + 1) & (p->table_size - 1);
    return &p->table[slot];
}

static void
table_grow(struct plugin *p)
{
    struct block **old = p->table;
    uint64_t *old_hashes = p->hashes;
    const size_t old_size = p->table_size;

    if (p->table_used * 2 < old_size)
        return;
    p->table_size = old_size ? old_size * 2 : 16384;
    p->table = calloc(p->table_size, sizeof(struct block *));
    p->hashes = calloc(p->table_size, sizeof(*p->hashes));
    if (p->table == NULL || p->hashes == NULL)
        plugin_no_memory("the program's code");
    for (size_t i = 0; i < old_size; i++) {
        if (old[i] == NULL)
            continue;
        struct block **slot =
            table_slot(p, old_hashes[i], old[i]->pc, old[i]->end);
        *slot = old[i];
        p->hashes[slot - p->table] = old_hashes[i];
    }
    free(old);
    free(old_hashes);
}

void
plugin_forget_blocks(struct plugin *p)
{
    if (p->table_size != 0)
        memset(p->table, 0, p->table_size * sizeof(struct block *));
    p->table_used = 0;
}

struct block *
blocks_keep(struct plugin *p, uint64_t hash, const struct block *model,
            const struct block_info *info)
{
    table_grow(p);
    struct block **slot = table_slot(p, hash, model->pc, model->end);
    if (*slot != NULL)
        return *slot;

    struct block *block = new_block();
    *block = *model;
    add_info(p, block, info);
    *slot = block;
    p->hashes[slot - p->table] = hash;
    p->table_used++;
    return block;
}

void
blocks_late_part(unsigned vcpu, void *data)
{
    const struct late_block *late = data;
    struct strand *strand = tally_strands[vcpu];
    uint64_t *total = strand->outside
                          ? strand->ignored.signal
                          : strand->counts->totals[strand->turn].signal;

    for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
        total[s] += (uint64_t)(int64_t)late->fixed[s];
    gateway_add(strand, vcpu, late->fixed, late->block.pc);
}

struct late_block *
blocks_late(struct plugin *p, const struct block *model,
            const struct block_info *info)
{
    struct late_block *late = aligned_alloc(64, sizeof(*late));

    if (late == NULL)
        plugin_no_memory("the program's code");
    late->block = *model;
    late->block.index = REGION_BLOCKS - 1; /* counts nothing by itself */
    late->block.slot = REGION_BLOCKS - 1;
    memcpy(late->fixed, info->fixed, sizeof(late->fixed));
    atomic_fetch_add(&p->region.head->late_blocks, 1);
    return late;
}
