/* SPDX-License-Identifier: MIT */
#include "trace/import_branches.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_FIRST 4096u
#define CALLS 64u /* of which the last are kept, a power of two */
/* An instruction without a branch whose next one is farther away is followed by
 * something else, such as a handler of signals: x86 has 15 bytes at most. */
#define NEAR UINT64_C(16)
#define SIZE_UNKNOWN 4u

/* What is known of an instruction. */
struct learned {
    uint64_t pc;
    uint64_t target; /* of a conditional branch; 0: not known */
    uint8_t size;    /* 0: not known */
    bool used;
};

struct import_branches {
    struct import_blocks *blocks;
    struct learned *learned; /* at most half full */
    size_t slots, count;
    uint64_t calls[CALLS];
    unsigned call_count; /* goes round */
    /* The instruction that waits for the next one. */
    bool waits;
    struct branch_insn insn;
    uint32_t loads, stores;
    struct branch_access {
        uint64_t address, size;
        bool store;
    } access[2 * IMPORT_ACCESSES];
};

struct import_branches *
import_branches_create(struct import_blocks *blocks)
{
    struct import_branches *const b = calloc(1, sizeof(*b));

    if (b == NULL)
        return NULL;
    b->blocks = blocks;
    b->slots = SLOTS_FIRST;
    b->learned = calloc(b->slots, sizeof(*b->learned));
    if (b->learned == NULL) {
        free(b);
        return NULL;
    }
    return b;
}

void
import_branches_destroy(struct import_branches *b)
{
    if (b == NULL)
        return;
    free(b->learned);
    free(b);
}

static struct learned *
find_slot(struct learned *learned, size_t slots, uint64_t pc)
{
    size_t at = (pc * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (slots - 1);

    while (learned[at].used && learned[at].pc != pc)
        at = (at + 1) & (slots - 1);
    return &learned[at];
}

/* Returns the row of an instruction, or NULL without memory. */
static struct learned *
row_of(struct import_branches *b, uint64_t pc)
{
    struct learned *row = find_slot(b->learned, b->slots, pc);

    if (row->used)
        return row;
    if (2 * (b->count + 1) > b->slots) {
        struct learned *const more = calloc(2 * b->slots, sizeof(*more));
        if (more == NULL)
            return NULL;
        for (size_t i = 0; i < b->slots; i++)
            if (b->learned[i].used)
                *find_slot(more, 2 * b->slots, b->learned[i].pc) =
                    b->learned[i];
        free(b->learned);
        b->learned = more;
        b->slots *= 2;
        row = find_slot(b->learned, b->slots, pc);
    }
    b->count++;
    *row = (struct learned){.pc = pc, .used = true};
    return row;
}

/* Learns the size of the call that a return came back behind. */
static void
learn_call(struct import_branches *b, uint64_t next)
{
    if (b->call_count == 0)
        return;
    const uint64_t call = b->calls[--b->call_count % CALLS];
    struct learned *const row = row_of(b, call);
    if (row != NULL && next - call - 1 < NEAR)
        row->size = (uint8_t)(next - call);
}

/* Finds how many bytes the instruction that waits has. `next`: the address of
 * the next instruction, or NULL at the end. */
static unsigned
find_size(struct import_branches *b, struct learned *row, const uint64_t *next)
{
    const struct branch_insn *const insn = &b->insn;
    const bool conditional = insn->branch == BRANCH_CONDITIONAL;
    const bool goes_on =
        insn->branch == BRANCH_NONE || (conditional && !insn->taken);

    if (insn->size != 0)
        return insn->size;
    if (goes_on && next != NULL && *next - insn->pc - 1 < NEAR)
        row->size = (uint8_t)(*next - insn->pc);
    const unsigned size = row->size != 0 ? row->size : SIZE_UNKNOWN;
    /* What a branch that was taken went to is not behind it. */
    return conditional && insn->taken && next != NULL &&
                   *next == insn->pc + size
               ? size / 2
               : size;
}

/* Hands on the instruction that waits. Returns false without memory. */
static bool
settle(struct import_branches *b, const uint64_t *next)
{
    const struct branch_insn *const insn = &b->insn;

    if (!b->waits)
        return true;
    struct learned *const row = row_of(b, insn->pc);
    if (row == NULL)
        return false;
    const unsigned size = find_size(b, row, next);
    if (insn->branch == BRANCH_CONDITIONAL && next != NULL &&
        *next != insn->pc + size)
        row->target = *next;
    import_blocks_insn(b->blocks, insn->pc, size, insn->branch, row->target);
    for (uint32_t i = 0; i < b->loads + b->stores; i++)
        import_blocks_access(b->blocks, b->access[i].store,
                             b->access[i].address, b->access[i].size);
    if (insn->branch == BRANCH_CALL || insn->branch == BRANCH_INDIRECT_CALL)
        b->calls[b->call_count++ % CALLS] = insn->pc;
    if (insn->branch == BRANCH_RETURN && insn->size == 0 && next != NULL)
        learn_call(b, *next);
    return true;
}

bool
import_branches_insn(struct import_branches *b, const struct branch_insn *insn)
{
    if (!settle(b, &insn->pc))
        return false;
    b->insn = *insn;
    b->loads = b->stores = 0;
    b->waits = true;
    return true;
}

bool
import_branches_access(struct import_branches *b, bool store, uint64_t address,
                       uint64_t size)
{
    uint32_t *const count = store ? &b->stores : &b->loads;

    if (*count == IMPORT_ACCESSES)
        return false;
    b->access[b->loads + b->stores] =
        (struct branch_access){address, size, store};
    ++*count;
    return true;
}

void
import_branches_end(struct import_branches *b)
{
    settle(b, NULL);
    b->waits = false;
}
