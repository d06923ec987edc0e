/* SPDX-License-Identifier: MIT */
/* For the tests of blocks: instructions, shapes, and a block built of them. */
#ifndef TALLY_TEST_BLOCK_HELP_H
#define TALLY_TEST_BLOCK_HELP_H

#include "source/block.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define MOST 80
#define PAGE 8192u
#define PC ((uint64_t)0x101000)
#define TARGET ((uint64_t)0x100800)

#define PLAIN                           \
    {                                   \
        .size = 4, .class = CLASS_OTHER \
    }
#define LOAD                                                              \
    {                                                                     \
        .size = 4, .class = CLASS_LOAD, .loads = 1, .access = ACCESS_LOAD \
    }
#define SAVE                                                \
    {                                                       \
        .size = 4, .class = CLASS_OTHER, .flags = INSN_SAVE \
    }
#define RESTORE                                                \
    {                                                          \
        .size = 4, .class = CLASS_OTHER, .flags = INSN_RESTORE \
    }
#define FLUSHW                                                \
    {                                                         \
        .size = 4, .class = CLASS_OTHER, .flags = INSN_FLUSHW \
    }
#define BRANCH(insn_flags)                                  \
    {                                                       \
        .size = 4, .class = CLASS_BRANCH, .target = TARGET, \
        .branch = BRANCH_CONDITIONAL, .flags = (insn_flags) \
    }
#define ALWAYS(kind)                                                \
    {                                                               \
        .size = 4, .class = CLASS_BRANCH, .flags = INSN_DELAY_SLOT, \
        .branch = (kind)                                            \
    }
#define REP                                                        \
    {                                                              \
        .size = 2, .class = CLASS_OTHER, .access = ACCESS_REPEATED \
    }

static const struct block_shape sparc = {
    .isa = &isa_rows[ISA_SPARC64],
    .page = PAGE,
    .l1i_line = 32,
    .l1i_slots = 64,
    .branch_mask = 1023,
    .btc_sets = 16,
    .btc_ways = 2,
    .return_stack = true,
    .from = NO_LINE,
    .to = NO_LINE,
};

static const struct block_shape x86 = {
    .isa = &isa_rows[ISA_X86_64],
    .page = 4096,
    .l1i_line = 64,
    .l1i_slots = 64,
    .branch_mask = 1023,
    .btc_sets = 16,
    .btc_ways = 2,
    .return_stack = true,
    .from = NO_LINE,
    .to = NO_LINE,
};

#define MIPS_PAGE 4096

static const struct block_shape mips = {
    .isa = &isa_rows[ISA_MIPS64],
    .page = MIPS_PAGE,
    .l1i_line = 64,
    .l1i_slots = 64,
    .branch_mask = 511,
    .from = NO_LINE,
    .to = NO_LINE,
};

/* What block_build() makes. */
struct built {
    struct block block;
    struct block_piece pieces[BLOCK_PIECES];
    size_t count;
};

static inline struct built
build(const struct block_shape *shape, uint64_t pc, const struct insn *insns,
      size_t count)
{
    struct built b;

    assert_true(count <= MOST);
    memset(&b, 0x55, sizeof(b));
    b.count = block_build(shape, pc, insns, count, &b.block, b.pieces);
    return b;
}

static inline void
same(int line, const char *what, unsigned long long got,
     unsigned long long wanted)
{
    if (got != wanted)
        fail_msg("row at line %d: %s is %#llx, wanted %#llx", line, what, got,
                 wanted);
}

#endif
