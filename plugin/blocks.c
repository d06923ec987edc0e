/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "plugin/blocks.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "plugin/memory.h"

#define BLOCKS_A_CHUNK 1024u
#define SLOTS_LEAST 16384u
#define CHUNK_ALIGNMENT 4096u /* so that a chunk is whole pages */

/* Infos that are left for what an annulled slot takes back: it has one
 * instruction, of which there are some hundred kinds. */
#define SLOT_KINDS 4096u

/* Bytes for each block of a program, and for each kind of block. A program of
 * a million blocks takes a megabyte for each byte that is added here. */
static_assert(sizeof(struct block) == 128, "two host cache lines");
static_assert(sizeof(struct block_info) <= 168, "a kind of block");
static_assert(sizeof(struct block_slot) == 8, "eight a host cache line");

/* Returns block `number`, which never moves: QEMU keeps pointers to blocks
 * until the process ends. */
static struct block *
block_at(const struct block_table *t, uint32_t number)
{
    return &t->chunks[number / BLOCKS_A_CHUNK][number % BLOCKS_A_CHUNK];
}

static struct block *
new_block(struct block_table *t)
{
    const uint32_t number = t->count++;
    const size_t chunk = number / BLOCKS_A_CHUNK;

    if (number % BLOCKS_A_CHUNK == 0) {
        t->chunks = reallocarray(t->chunks, chunk + 1, sizeof(*t->chunks));
        if (t->chunks == NULL || number > UINT32_MAX - BLOCKS_A_CHUNK)
            plugin_no_memory(t->process->head, "the program's code");
        t->chunks[chunk] = aligned_alloc(CHUNK_ALIGNMENT,
                                         BLOCKS_A_CHUNK * sizeof(struct block));
        if (t->chunks[chunk] == NULL)
            plugin_no_memory(t->process->head, "the program's code");
    }
    return block_at(t, number);
}

/* Returns 32 bits that all bits of `hash` change. */
static uint32_t
tag_of(uint64_t hash)
{
    hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
    return (uint32_t)(hash >> 32);
}

/* Doubles the table before more than three quarters of its slots are used. A
 * slot's place follows from its tag alone. */
static void
slots_grow(struct block_table *t, struct block_slots *s)
{
    const struct block_slots old = *s;

    if (old.used < old.size / 4 * 3)
        return;
    s->size = old.size != 0 ? old.size * 2 : SLOTS_LEAST;
    s->slots = calloc(s->size, sizeof(*s->slots));
    if (s->slots == NULL)
        plugin_no_memory(t->process->head, "the program's code");
    for (size_t i = 0; i < old.size; i++) {
        size_t at = old.slots[i].tag & (s->size - 1);
        if (old.slots[i].number == 0)
            continue;
        while (s->slots[at].number != 0)
            at = (at + 1) & (s->size - 1);
        s->slots[at] = old.slots[i];
    }
    free(old.slots);
}

static bool
is_same_block(const struct block *block, uint64_t hash,
              const struct block *model)
{
    return block->hash == hash && block->pc == model->pc &&
           block->end == model->end;
}

/*
 * Returns the slot of the part of a block that has this hash, its block's plus
 * the part's number, or the empty slot where it goes.
 */
static struct block_slot *
find_block(const struct block_table *t, uint64_t hash,
           const struct block *model)
{
    const uint32_t tag = tag_of(hash);
    const size_t mask = t->blocks.size - 1;
    struct block_slot *const slots = t->blocks.slots;
    size_t at = tag & mask;

    while (slots[at].number != 0 &&
           (slots[at].tag != tag ||
            !is_same_block(block_at(t, slots[at].number - 1), hash, model)))
        at = (at + 1) & mask;
    return &slots[at];
}

static uint64_t
hash_info(const struct block_info *info)
{
    uint64_t hash = 0, word;

    static_assert(sizeof(*info) % sizeof(word) == 0, "whole words");
    for (size_t i = 0; i < sizeof(*info); i += sizeof(word)) {
        memcpy(&word, (const char *)info + i, sizeof(word));
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

/* Returns the index of the info of blocks that count the same. */
static uint32_t
keep_info(struct block_table *t, const struct block_info *info)
{
    struct block_slots *const s = &t->infos;

    slots_grow(t, s);
    const uint32_t tag = tag_of(hash_info(info));
    size_t at = tag & (s->size - 1);
    while (s->slots[at].number != 0) {
        const uint32_t index = s->slots[at].number - 1;
        if (s->slots[at].tag == tag &&
            memcmp(&t->process->infos[index], info, sizeof(*info)) == 0)
            return index;
        at = (at + 1) & (s->size - 1);
    }
    const uint32_t index = t->info_count++;
    memcpy(&t->process->infos[index], info, sizeof(*info));
    s->slots[at] = (struct block_slot){index + 1, tag};
    s->used++;
    return index;
}

/* Returns the index of a new block's counts, which blocks of the same kind
 * share unless the table keeps blocks apart. */
static uint32_t
keep_index(struct block_table *t, const struct block_info *info)
{
    uint32_t index = keep_info(t, info);

    if (t->apart) {
        /* The slot of a late block: nothing counts there. */
        if (t->index_count == COUNTS_BLOCKS - 1)
            return COUNTS_BLOCKS - 1;
        t->process->kinds[t->index_count] = index + 1;
        index = t->index_count++;
    } else {
        t->index_count = t->info_count;
    }
    atomic_store(&t->process->head->blocks, t->index_count);
    return index;
}

void
blocks_release(struct block_table *t)
{
    for (uint32_t i = 0; i < t->count; i += BLOCKS_A_CHUNK)
        madvise(block_at(t, i), BLOCKS_A_CHUNK * sizeof(struct block),
                MADV_DONTNEED);
}

void
blocks_forget(struct block_table *t)
{
    struct block_slots *const s = &t->blocks;

    if (s->size != 0)
        memset(s->slots, 0, s->size * sizeof(*s->slots));
    s->used = 0;
}

struct block *
blocks_keep(struct block_table *t, uint64_t hash, const struct block *model,
            const struct block_info *info)
{
    slots_grow(t, &t->blocks);
    struct block_slot *slot = find_block(t, hash, model);
    if (slot->number != 0)
        return block_at(t, slot->number - 1);

    struct block *block = new_block(t);
    *block = *model;
    block->hash = hash;
    block->index = keep_index(t, info);
    *slot = (struct block_slot){t->count, tag_of(hash)};
    t->blocks.used++;
    return block;
}

bool
blocks_begin_at(const struct block_table *t, uint64_t pc)
{
    for (uint32_t i = 0; i < t->count; i++) {
        if (block_at(t, i)->pc == pc)
            return true;
    }
    return false;
}

const void *
blocks_keep_copy(const struct block_table *t, void **tree, const void *value,
                 size_t size, int (*compare)(const void *, const void *))
{
    const void *const *known = tfind(value, tree, compare);

    if (known != NULL)
        return *known;
    void *kept = malloc(size);
    if (kept == NULL)
        plugin_no_memory(t->process->head, "the program's code");
    memcpy(kept, value, size);
    if (tsearch(kept, tree, compare) == NULL)
        plugin_no_memory(t->process->head, "the program's code");
    return kept;
}

static int
compare_pairs(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct access_pair));
}

const struct access_pair *
blocks_keep_pair(struct block_table *t, const struct access_pair *pair)
{
    return blocks_keep_copy(t, &t->pairs, pair, sizeof(*pair), compare_pairs);
}

void
blocks_add_late(struct strand *strand, const struct late_block *late)
{
    uint64_t *total = strand->span.outside
                          ? strand->span.ignored.signal
                          : strand->counts->totals[strand->span.slice].signal;

    for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
        total[s] += (uint64_t)(int64_t)late->fixed[s];
}

bool
blocks_have_room(const struct block_table *t)
{
    return t->index_count + BLOCK_PIECES + 1 < COUNTS_BLOCKS - SLOT_KINDS;
}

struct late_block *
blocks_late(struct block_table *t, const struct block *model,
            const struct block_info *info, const struct block_info *slot)
{
    struct late_block *late = aligned_alloc(64, sizeof(*late));

    if (late == NULL)
        plugin_no_memory(t->process->head, "the program's code");
    late->block = *model;
    late->block.index = COUNTS_BLOCKS - 1; /* counts nothing by itself */
    late->block.slot = slot != NULL ? keep_index(t, slot) : COUNTS_BLOCKS - 1;
    memcpy(late->fixed, info->fixed, sizeof(late->fixed));
    atomic_fetch_add(&t->process->head->late_blocks, 1);
    return late;
}
