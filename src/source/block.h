/* SPDX-License-Identifier: MIT */
/*
 * A translated block as one compact record: what it counts each time it runs,
 * which instruction lines it fetches, which branch closes it.
 *
 * `struct block` is what runs read, its hot part one host cache line. `struct
 * block_info` is the rest: the fixed signals that each execution adds.
 */
#ifndef TALLY_SOURCE_BLOCK_H
#define TALLY_SOURCE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "isa/isa.h"
#include "source/layout.h"
#include "timing/ooo_block.h"
#include "timing/t4_buffers.h"
#include "table/table.h"

/* No line, no address: in the hole of every guest's address space. */
#define NO_LINE ((uint64_t)1 << 63)

/* In place of the second line of a block that has more; no filter holds it. */
#define MANY_LINES (NO_LINE | 1)

enum block_flags {
    BLOCK_CONDITIONAL = 1 << 0, /* closed by a conditional branch */
    BLOCK_PENDING = 1 << 1,     /* its delay slot is a block of its own */
    BLOCK_SLOT = 1 << 2,        /* may be such a delay slot */
    BLOCK_REPEAT = 1 << 3,      /* ends with a REP string instruction */
    BLOCK_RESUMED = 1 << 4,     /* starts with one: may be an iteration */
    BLOCK_RETRY = 1 << 5,       /* a window instruction after its trap */
    BLOCK_BEGIN = 1 << 6,       /* the first instruction of --from */
    BLOCK_END = 1 << 7,         /* the first instruction of --to */
    BLOCK_ODD = 1 << 8,         /* ends for no reason seen: QEMU may raise */
    BLOCK_INSIDE = 1 << 9,      /* begins in a range of --filter code= */
    BLOCK_LIKELY = 1 << 10,     /* closed by a likely branch of MIPS */
    BLOCK_AFTER = 1 << 11,      /* may follow a slot that such one annulled */
    BLOCK_JUMP = 1 << 12,       /* closed by a direct branch, always taken */
    BLOCK_CALL = 1 << 13,       /* by a call, with BLOCK_INDIRECT or not */
    BLOCK_RETURN = 1 << 14,     /* by a return */
    BLOCK_INDIRECT = 1 << 15,   /* by a jump or call through a register */
    BLOCK_FAR = 1 << 16,        /* by a direct branch whose target is far */
    BLOCK_TRAPS = 1 << 17,      /* by SPARC's RETURN, which counts in a part */
    BLOCK_BACK = 1 << 18,       /* by a return, whatever predicts it */
    BLOCK_PAD = 1 << 19,        /* begins at a landing pad of exceptions */
    BLOCK_HANDLER = 1 << 20,    /* begins a handler of signals */
    BLOCK_IF_TAKEN = 1 << 21,   /* closed by a conditional branch that asks no
                                   table where the branch is not taken */
    BLOCK_RARE = BLOCK_LIKELY | BLOCK_AFTER | BLOCK_ODD | BLOCK_PENDING |
                 BLOCK_SLOT | BLOCK_RESUMED | BLOCK_RETRY | BLOCK_BEGIN |
                 BLOCK_END,
};

/*
 * What a block knows of one of its accesses. The low half is the access's room:
 * line size - access size, so far behind the start of its line the access may
 * begin without crossing the line's end. The high half is the number of the
 * access's instruction in the block, from 0. One word, which callbacks pass on
 * in one register: of a struct of two halves gcc 12 makes vector moves.
 */
typedef uint32_t access_site;

static inline access_site
site_make(uint64_t room, size_t instruction)
{
    return (uint32_t)instruction << 16 | (uint32_t)room;
}

static inline uint16_t
site_room(access_site site)
{
    return (uint16_t)site;
}

static inline uint16_t
site_instruction(access_site site)
{
    return (uint16_t)(site >> 16);
}

/*
 * Two accesses of which the second follows the first at a fixed distance with
 * no other between: one callback serves both. Compared whole.
 */
struct access_pair {
    int64_t delta; /* second address - first address */
    access_site first, second;
};

struct block {
    uint64_t pc;
    uint64_t taken_pc; /* the next block starts here: the branch was taken */
    uint64_t line0;    /* L1I lines by their first byte, where the caches see
                          them; the second repeats */
    uint64_t line1;    /* the first if there is one; or MANY_LINES */
    uint32_t index;    /* of its kind's execution counts and info */
    uint32_t branch;   /* the branch's number, cut to the predictor's table */
    uint16_t slot0, slot1; /* of the two lines in the fetch filter */
    access_site site;      /* of the access that is merged with the entry */
    uint32_t flags;        /* enum block_flags */
    uint32_t btc;          /* the first entry of the branch's set in the BTC */
    uint64_t branch_pc;    /* of the branch that closes it, or NO_LINE */
    /* From here on only rare blocks and slow paths read. */
    uint64_t last_pc; /* of the last instruction */
    uint64_t end;     /* one past the last byte */
    uint32_t slot; /* index of the counts that its last instruction takes back
                      if it is a slot and annulled */
    uint32_t branch_number;      /* of its address and the layout, as far as its
                                    bits fit */
    struct access_pair pair;     /* the first two accesses, where their callback
                                    is merged with the entry */
    uint64_t hash;               /* of its code, its address and its part */
    const struct ooo_block *ooo; /* or NULL; see timing/ooo_block.h */
    uint16_t instructions;
} __attribute__((aligned(64)));

/* Returns the number of a block in a recording, where no two blocks share an
 * index: from 1 on. Read from the host cache line that each run reads. */
static inline uint32_t
block_number(const struct block *b)
{
    return b->index + 1;
}

/*
 * Blocks of the same kind share one info and one count of executions: nothing
 * in it says where a block is, but for the few with BLOCK_ODD. Compared whole:
 * its builders zero it first.
 */
struct block_info {
    uint64_t odd_pc; /* of the instruction that QEMU may raise a signal for,
                        with BLOCK_ODD, else 0 */
    int16_t fixed[SIGNAL_FIXED_COUNT];
    uint16_t instructions;
    uint8_t odd_size; /* bytes of memory at odd_pc */
    uint8_t odd_bytes[15];
};

/* Code from `first` to `last`, both included. */
struct code_range {
    uint64_t first, last;
};

#define CODE_RANGES 8

/* What the builder of a block needs to know. */
struct block_shape {
    const struct isa *isa;
    uint64_t page;        /* the guest's translation page in bytes */
    uint64_t l1i_line;    /* 0: no instruction cache is modelled */
    uint64_t l1i_slots;   /* of the fetch filter */
    struct layout layout; /* of the caches and predictors */
    uint64_t branch_mask; /* entries of the predictor's table - 1 */
    uint32_t btc_sets;    /* a power of two, of the branch target cache */
    uint32_t btc_ways;
    uint64_t far_reach;     /* targets further away are far; 0: none is */
    bool return_stack;      /* else a return is as any indirect jump */
    bool judges_all;        /* branches that are not taken ask tables, too */
    unsigned group;         /* see timing/t4_stages.h: 1 or 2; 0: not counted */
    bool bundles;           /* see timing/itanium_bundles.h */
    struct t4_buffers tags; /* with `group` */
    unsigned drain_entries; /* see timing/t1_store_buffer.h; 0: not counted */
    unsigned drain_cycles;
    uint64_t from, to; /* --from and --to addresses, or NO_LINE */
    struct code_range ranges[CODE_RANGES];
    uint32_t range_count; /* of --filter; 0: all code counts */
};

/*
 * A block can count in pieces: a SPARC window instruction traps before it is
 * done and runs again, so it and what follows are counted when the following
 * instruction runs. `first` is the index of the part's first instruction.
 */
struct block_piece {
    uint16_t first;
    uint16_t marker; /* the instruction whose execution counts the part */
    struct block_info info;
};

/*
 * Returns whether the last instruction of a block may be annulled though the
 * block is entered: QEMU looks at a likely branch of MIPS in its slot. `info`
 * is what to take back then; it adds up to nothing with that instruction.
 */
bool block_slot(const struct block_shape *shape, const struct block *block,
                const struct insn *last, struct block_info *info);

/*
 * A RETURN of SPARC that closes a block may trap as window instructions do.
 * BLOCK_TRAPS says that the RETURN has a piece of its own, the last: until that
 * piece runs, the block is not closed.
 */
#define BLOCK_KINDS                                               \
    (BLOCK_CONDITIONAL | BLOCK_JUMP | BLOCK_CALL | BLOCK_RETURN | \
     BLOCK_INDIRECT | BLOCK_FAR | BLOCK_BACK)

#define BLOCK_PIECES 32 /* more window instructions than this share a part */

/*
 * Fills in `block` (its index excepted) and the pieces' info, without the odd
 * bytes, from `count` decoded instructions. The last is dropped if it is
 * incomplete: QEMU rolled it back. Returns the number of pieces, at least 1;
 * pieces[0] is counted at entry.
 */
size_t block_build(const struct block_shape *shape, uint64_t pc,
                   const struct insn *insns, size_t count, struct block *block,
                   struct block_piece *pieces);

/* Adds what one instruction counts each time it runs. */
void block_add_insn(struct block_info *info, const struct insn *insn);

#endif
