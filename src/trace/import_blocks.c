/* SPDX-License-Identifier: MIT */
#include "trace/import_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/trace_model.h"
#include "trace/trace_ring.h"

/* Longer runs are several blocks. */
#define INSNS_MOST 64u
#define PIECE UINT64_C(8)
/* Accesses of a block: more are another block. Less than TRACE_ACCESSES by what
 * one access has at most. */
#define ACCESSES_MOST 32768u
#define ITEMS_ROOM 65536u
#define SLOTS_FIRST 1024u

/* A block that the writer knows; its key is what tells it from others. */
struct known {
    uint64_t hash;
    uint32_t number; /* 0: the slot is free */
    uint32_t size;   /* of its key */
    uint8_t *key;    /* owned */
};

struct import_blocks {
    struct trace_writer *writer;
    bool alone;
    int error;
    /* The block that comes about. */
    uint64_t pc, end, target;
    unsigned count;
    bool placed; /* false: its first instruction is not there yet */
    uint8_t sizes[INSNS_MOST];
    uint8_t told[TRACE_IMPORTED_SIZE(INSNS_MOST)];
    uint32_t access_count;
    uint16_t what[ACCESSES_MOST];
    uint64_t address[ACCESSES_MOST];
    /* The blocks that the writer knows, a table that is at most half full. */
    struct known *known;
    size_t slots;
    uint32_t known_count;
    /* What the writer will take. */
    uint64_t items[ITEMS_ROOM];
    size_t item_count;
};

struct import_blocks *
import_blocks_create(struct trace_writer *writer, bool alone)
{
    struct import_blocks *const b = calloc(1, sizeof(*b));

    if (b == NULL)
        return NULL;
    b->writer = writer;
    b->alone = alone;
    b->slots = SLOTS_FIRST;
    b->known = calloc(b->slots, sizeof(*b->known));
    if (b->known == NULL) {
        free(b);
        return NULL;
    }
    return b;
}

void
import_blocks_destroy(struct import_blocks *b)
{
    if (b == NULL)
        return;
    for (size_t i = 0; i < b->slots; i++)
        free(b->known[i].key);
    free(b->known);
    free(b);
}

bool
import_blocks_good(const struct import_blocks *b)
{
    return b->error == 0;
}

static void
hand_over(struct import_blocks *b)
{
    if (b->error == 0 && !trace_writer_take(b->writer, b->items, b->item_count))
        b->error = TALLY_ESYSTEM;
    b->item_count = 0;
}

static void
put(struct import_blocks *b, uint64_t item)
{
    if (b->item_count == ITEMS_ROOM)
        hand_over(b);
    b->items[b->item_count++] = item;
}

static void
put_bytes(struct import_blocks *b, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + i, size - i < 8 ? size - i : 8);
        put(b, word);
    }
}

static void
put_long(struct import_blocks *b, enum trace_item item, uint64_t words)
{
    put(b, TRACE_LONG | (uint64_t)item << 16 | words << 32);
}

static struct known *
find_slot(struct known *known, size_t slots, uint64_t hash, const uint8_t *key,
          uint32_t size)
{
    size_t at = hash & (slots - 1);

    while (known[at].number != 0 &&
           (known[at].hash != hash || known[at].size != size ||
            memcmp(known[at].key, key, size) != 0))
        at = (at + 1) & (slots - 1);
    return &known[at];
}

static bool
grow(struct import_blocks *b)
{
    const size_t slots = 2 * b->slots;
    struct known *const known = calloc(slots, sizeof(*known));

    if (known == NULL)
        return false;
    for (size_t i = 0; i < b->slots; i++) {
        const struct known *const k = &b->known[i];
        if (k->number != 0)
            *find_slot(known, slots, k->hash, k->key, k->size) = *k;
    }
    free(b->known);
    b->known = known;
    b->slots = slots;
    return true;
}

/* Tells the writer the block that has come about. */
static void
tell_block(struct import_blocks *b)
{
    const size_t told = TRACE_IMPORTED_SIZE(b->count);

    put_long(b, TRACE_ITEM_BLOCK, 4 + (b->count + 7) / 8 + (told + 7) / 8);
    put(b, b->pc);
    put(b, b->count);
    put(b, 0);
    put(b, 0);
    put_bytes(b, b->sizes, b->count);
    put_bytes(b, b->told, told);
}

/* Finds the number of the block that has come about, which the writer is told
 * if it is new. 0: there is no memory. */
static uint32_t
find_block(struct import_blocks *b)
{
    const uint32_t told = (uint32_t)TRACE_IMPORTED_SIZE(b->count);
    uint8_t key[8 + INSNS_MOST + TRACE_IMPORTED_SIZE(INSNS_MOST)];
    const uint32_t size = 8 + b->count + told;
    uint64_t hash = 0xcbf29ce484222325u;

    memcpy(key, &b->pc, 8);
    memcpy(key + 8, b->sizes, b->count);
    memcpy(key + 8 + b->count, b->told, told);
    for (uint32_t i = 0; i < size; i++)
        hash = (hash ^ key[i]) * 0x100000001b3u;
    hash ^= hash >> 29;
    struct known *k = find_slot(b->known, b->slots, hash, key, size);
    if (k->number != 0)
        return k->number;
    if (2 * (b->known_count + 1) > b->slots) {
        if (!grow(b))
            return 0;
        k = find_slot(b->known, b->slots, hash, key, size);
    }
    k->key = malloc(size);
    if (k->key == NULL)
        return 0;
    memcpy(k->key, key, size);
    k->hash = hash;
    k->size = size;
    k->number = ++b->known_count;
    tell_block(b);
    return k->number;
}

/* Ends the block that has come about: it has run. */
static void
end_block(struct import_blocks *b)
{
    if (b->count == 0 || b->error != 0)
        return;
    memcpy(b->told + TRACE_IMPORTED * b->count, &b->target, 8);
    const uint32_t number = find_block(b);
    if (number == 0) {
        b->error = TALLY_ENOMEM;
        return;
    }
    put(b, TRACE_ENTER | (uint64_t)number << 16);
    for (uint32_t i = 0; i < b->access_count; i++) {
        if (b->address[i] >> 48 == 0) {
            put(b, b->what[i] | b->address[i] << 16);
            continue;
        }
        put_long(b, TRACE_ITEM_WIDE, 2);
        put(b, b->what[i]);
        put(b, b->address[i]);
    }
    b->count = 0;
    b->access_count = 0;
    b->target = 0;
}

/* Adds an instruction to the block that comes about. */
static void
add_insn(struct import_blocks *b, unsigned size, enum insn_branch branch)
{
    uint8_t *const told = b->told + TRACE_IMPORTED * b->count;

    b->sizes[b->count] = (uint8_t)size;
    told[0] = (uint8_t)branch;
    told[1] = told[2] = 0;
    b->count++;
}

void
import_blocks_insn(struct import_blocks *b, uint64_t pc, unsigned size,
                   enum insn_branch branch, uint64_t target)
{
    if (b->count != 0 && !b->placed) {
        /* Its accesses came first. */
        b->sizes[0] = (uint8_t)size;
        b->told[0] = (uint8_t)branch;
        b->pc = pc;
    } else {
        const bool follows =
            b->count != 0 && b->count < INSNS_MOST && pc == b->end &&
            b->told[TRACE_IMPORTED * (b->count - 1)] == BRANCH_NONE &&
            b->access_count < ACCESSES_MOST / 2;
        if (!follows) {
            end_block(b);
            b->pc = pc;
        }
        add_insn(b, size, branch);
    }
    b->placed = true;
    b->end = pc + size;
    b->target = branch == BRANCH_CONDITIONAL ? target : 0;
}

void
import_blocks_again(struct import_blocks *b)
{
    const unsigned size = b->sizes[b->count - 1];

    end_block(b);
    b->pc = b->end - size;
    add_insn(b, size, BRANCH_NONE);
}

static void
add_access(struct import_blocks *b, bool store, uint64_t address,
           unsigned shift)
{
    const uint32_t n = b->access_count++;

    b->what[n] = (uint16_t)((b->count - 1) << TRACE_INSN |
                            (store ? TRACE_STORE : 0) | shift);
    b->address[n] = address;
}

bool
import_blocks_access(struct import_blocks *b, bool store, uint64_t address,
                     uint64_t size)
{
    if (b->alone || b->count == 0) {
        if (b->alone)
            end_block(b);
        b->placed = b->alone;
        b->pc = 0;
        b->end = 1;
        add_insn(b, 1, BRANCH_NONE);
    }
    uint8_t *const told = b->told + TRACE_IMPORTED * (b->count - 1);
    uint8_t *const accesses = &told[store ? 2 : 1];
    if (*accesses == IMPORT_ACCESSES ||
        b->access_count + size / PIECE + 3 > ACCESSES_MOST)
        return false;
    ++*accesses;
    for (uint64_t left = size; left > 0;) {
        unsigned shift = left >= 8 ? 3 : left >= 4 ? 2 : left >= 2 ? 1 : 0;
        add_access(b, store, address, shift);
        address += UINT64_C(1) << shift;
        left -= UINT64_C(1) << shift;
    }
    return true;
}

int
import_blocks_end(struct import_blocks *b)
{
    end_block(b);
    hand_over(b);
    return b->error;
}
