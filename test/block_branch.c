/* SPDX-License-Identifier: MIT */
/* How records of blocks say which branch closes them. */
#include "block_help.h"

#define RETURNS (BLOCK_RETURN | BLOCK_BACK)

/* Returns the flags of a row with the flag that each conditional branch has
 * where no predictor stands beside the first. */
static unsigned
whole_flags(unsigned flags)
{
    return flags & BLOCK_CONDITIONAL ? flags | BLOCK_IF_TAKEN : flags;
}

/* How a block is closed; flags without those of other tests. */
static const struct {
    int line;
    uint64_t pc;
    size_t count;
    struct insn insns[4];
    uint64_t taken_pc;
    uint64_t branch; /* its address; 0: none */
    unsigned flags;
} closes[] = {
    {__LINE__,
     PC,
     3,
     {PLAIN, BRANCH(INSN_DELAY_SLOT), PLAIN},
     TARGET,
     PC + 4,
     BLOCK_CONDITIONAL},
    {__LINE__,
     PC,
     2,
     {BRANCH(INSN_DELAY_SLOT), PLAIN},
     TARGET,
     PC,
     BLOCK_CONDITIONAL},
    /* An annulled slot is a block of its own, run when taken. */
    {__LINE__,
     PC,
     2,
     {PLAIN, BRANCH(INSN_DELAY_SLOT | INSN_ANNUL)},
     PC + 8,
     PC + 4,
     BLOCK_CONDITIONAL},
    {__LINE__,
     PC,
     1,
     {BRANCH(INSN_DELAY_SLOT | INSN_ANNUL)},
     PC + 4,
     PC,
     BLOCK_CONDITIONAL},
    /* At the page's end the slot runs as a block of its own, taken or not. */
    {__LINE__,
     PC + PAGE - 4 - PC % PAGE,
     1,
     {BRANCH(INSN_DELAY_SLOT)},
     TARGET,
     PC + PAGE - 4 - PC % PAGE,
     BLOCK_CONDITIONAL | BLOCK_PENDING},
    {__LINE__,
     PC + PAGE - 8 - PC % PAGE,
     2,
     {PLAIN, BRANCH(INSN_DELAY_SLOT)},
     TARGET,
     PC + PAGE - 4 - PC % PAGE,
     BLOCK_CONDITIONAL | BLOCK_PENDING},
    /* Such a slot. */
    {__LINE__,
     PC / PAGE *PAGE,
     1,
     {{.size = 4, .branch = BRANCH_JUMP}},
     NO_LINE,
     PC / PAGE *PAGE,
     BLOCK_SLOT | BLOCK_JUMP},
    {__LINE__, PC, 1, {BRANCH(0)}, TARGET, PC, BLOCK_CONDITIONAL},
    {__LINE__,
     PC,
     2,
     {PLAIN, {.size = 4, .branch = BRANCH_CALL}},
     NO_LINE,
     PC + 4,
     BLOCK_CALL},
    {__LINE__,
     PC,
     2,
     {PLAIN, {.size = 4, .branch = BRANCH_INDIRECT_CALL}},
     NO_LINE,
     PC + 4,
     BLOCK_CALL | BLOCK_INDIRECT},
    {__LINE__,
     PC,
     3,
     {PLAIN, ALWAYS(BRANCH_INDIRECT), PLAIN},
     NO_LINE,
     PC + 4,
     BLOCK_INDIRECT},
    {__LINE__, PC, 2, {ALWAYS(BRANCH_RETURN), PLAIN}, NO_LINE, PC, RETURNS},
    {__LINE__,
     PC + PAGE - 8 - PC % PAGE,
     2,
     {PLAIN, ALWAYS(BRANCH_RETURN)},
     NO_LINE,
     PC + PAGE - 4 - PC % PAGE,
     RETURNS | BLOCK_PENDING},
    /* Without a slot: SPARC ba,a. */
    {__LINE__,
     PC + PAGE - 4 - PC % PAGE,
     1,
     {{.size = 4, .branch = BRANCH_JUMP, .flags = INSN_ANNUL}},
     NO_LINE,
     PC + PAGE - 4 - PC % PAGE,
     BLOCK_JUMP},
    {__LINE__,
     PC,
     2,
     {PLAIN, {.size = 4, .branch = BRANCH_NEVER}},
     NO_LINE,
     0,
     0},
    {__LINE__,
     PC,
     2,
     {PLAIN, {.size = 4, .flags = INSN_SYSCALL}},
     NO_LINE,
     0,
     0},
    /* No reason to end here. */
    {__LINE__, PC, 2, {PLAIN, PLAIN}, NO_LINE, 0, BLOCK_ODD},
    {__LINE__, PC, 1, {LOAD}, NO_LINE, 0, BLOCK_ODD},
    {__LINE__, PC + PAGE - 8 - PC % PAGE, 2, {PLAIN, PLAIN}, NO_LINE, 0, 0},
};

#define LIKELY BRANCH(INSN_DELAY_SLOT | INSN_ANNUL)

/* The same of MIPS: a likely branch and its slot stand in one block. */
static const struct {
    int line;
    uint64_t pc;
    size_t count;
    struct insn insns[4];
    uint64_t taken_pc;
    unsigned flags;
    bool slot; /* its last instruction may be annulled */
} mips_closes[] = {
    {__LINE__,
     PC,
     3,
     {PLAIN, BRANCH(INSN_DELAY_SLOT), PLAIN},
     TARGET,
     BLOCK_CONDITIONAL,
     false},
    {__LINE__,
     PC,
     3,
     {PLAIN, LIKELY, LOAD},
     TARGET,
     BLOCK_CONDITIONAL | BLOCK_LIKELY,
     true},
    {__LINE__,
     PC + MIPS_PAGE - 4 - PC % MIPS_PAGE,
     1,
     {LIKELY},
     TARGET,
     BLOCK_CONDITIONAL | BLOCK_LIKELY | BLOCK_PENDING,
     false},
    {__LINE__,
     PC / MIPS_PAGE *MIPS_PAGE,
     1,
     {{.size = 4, .branch = BRANCH_JUMP}},
     NO_LINE,
     BLOCK_SLOT | BLOCK_JUMP,
     true},
};

static unsigned
taken_back(const struct block_info *info, enum signal_id signal)
{
    return (unsigned)-info->fixed[signal];
}

static void
test_likely(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(mips_closes); i++) {
        const int row = mips_closes[i].line;
        const size_t count = mips_closes[i].count;
        const struct insn *insns = mips_closes[i].insns;
        const struct built b = build(&mips, mips_closes[i].pc, insns, count);
        struct block_info slot;

        same(row, "taken_pc", b.block.taken_pc, mips_closes[i].taken_pc);
        same(row, "flags", b.block.flags, whole_flags(mips_closes[i].flags));
        const bool annuls =
            block_slot(&mips, &b.block, &insns[count - 1], &slot);
        same(row, "slot", annuls, mips_closes[i].slot);
        same(row, "instructions", taken_back(&slot, SIGNAL_INSTRUCTIONS),
             annuls);
        same(row, "loads", taken_back(&slot, SIGNAL_LOADS),
             annuls ? insns[count - 1].loads : 0);
    }
}

static void
test_closes(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(closes); i++) {
        const int row = closes[i].line;
        const struct built b =
            build(&sparc, closes[i].pc, closes[i].insns, closes[i].count);
        same(row, "taken_pc", b.block.taken_pc, closes[i].taken_pc);
        same(row, "branch_pc", b.block.branch_pc,
             closes[i].branch ? closes[i].branch : NO_LINE);
        if (closes[i].flags & BLOCK_CONDITIONAL)
            same(row, "branch", b.block.branch,
                 closes[i].branch / 4 & sparc.branch_mask);
        same(row, "flags", b.block.flags, whole_flags(closes[i].flags));
        same(row, "last_pc", b.block.last_pc,
             closes[i].pc + 4 * (closes[i].count - 1));
    }
}

static const struct {
    int line;
    size_t count;
    struct insn insns[3];
    unsigned flags;
} x86_rows[] = {
    {__LINE__, 1, {REP}, BLOCK_REPEAT | BLOCK_RESUMED},
    {__LINE__, 2, {PLAIN, REP}, BLOCK_REPEAT},
    {__LINE__,
     2,
     {REP, {.size = 5, .branch = BRANCH_JUMP}},
     BLOCK_RESUMED | BLOCK_JUMP},
    {__LINE__, 1, {{.size = 1, .branch = BRANCH_RETURN}}, RETURNS},
    {__LINE__,
     1,
     {{.size = 2, .branch = BRANCH_CONDITIONAL, .target = TARGET}},
     BLOCK_CONDITIONAL},
    {__LINE__, 1, {PLAIN}, BLOCK_ODD},
};

static void
test_x86(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(x86_rows); i++) {
        /* At the start of a page, where SPARC has delay slots. */
        const struct built b =
            build(&x86, 0x401000, x86_rows[i].insns, x86_rows[i].count);
        same(x86_rows[i].line, "flags", b.block.flags,
             whole_flags(x86_rows[i].flags));
        same(x86_rows[i].line, "parts", b.count, 1);
    }
}

/* All bits of an x86 address count for the predictor. */
static void
test_x86_branch(void **unused)
{
    const struct insn insns[] = {
        {.size = 3},
        {.size = 2, .branch = BRANCH_CONDITIONAL, .target = TARGET},
    };
    const struct built b = build(&x86, 0x401234, insns, 2);

    (void)unused;
    same(__LINE__, "branch", b.block.branch, 0x401237 & 1023);
    same(__LINE__, "taken_pc", b.block.taken_pc, TARGET);
    same(__LINE__, "end", b.block.end, 0x401239);
}

static const struct {
    int line;
    enum insn_branch branch;
    uint64_t target;
    unsigned flags;
} far_rows[] = {
    {__LINE__, BRANCH_CALL, PC + 0x1000, BLOCK_CALL},
    {__LINE__, BRANCH_CALL, PC + 0x1004, BLOCK_CALL | BLOCK_FAR},
    {__LINE__, BRANCH_JUMP, PC - 0x1000, BLOCK_JUMP},
    {__LINE__, BRANCH_JUMP, PC - 0x1004, BLOCK_JUMP | BLOCK_FAR},
    {__LINE__, BRANCH_CONDITIONAL, 0, BLOCK_CONDITIONAL | BLOCK_FAR},
    /* The target is not in the instruction. */
    {__LINE__, BRANCH_INDIRECT, 0, BLOCK_INDIRECT},
    {__LINE__, BRANCH_INDIRECT_CALL, 0, BLOCK_INDIRECT | BLOCK_CALL},
    {__LINE__, BRANCH_RETURN, 0, RETURNS},
    {__LINE__, BRANCH_NEVER, 0, 0},
};

static void
test_far(void **unused)
{
    struct block_shape shape = sparc;

    (void)unused;
    for (size_t i = 0; i < COUNT(far_rows); i++) {
        const struct insn insn = {.size = 4,
                                  .branch = (uint8_t)far_rows[i].branch,
                                  .target = far_rows[i].target};
        const int row = far_rows[i].line;
        shape.far_reach = 0x1000;
        same(row, "flags",
             build(&shape, PC, &insn, 1).block.flags & ~(unsigned)BLOCK_ODD,
             whole_flags(far_rows[i].flags));
        shape.far_reach = 0; /* no such table */
        same(row, "flags",
             build(&shape, PC, &insn, 1).block.flags & ~(unsigned)BLOCK_ODD,
             whole_flags(far_rows[i].flags & ~(unsigned)BLOCK_FAR));
    }
}

static void
test_no_return_stack(void **unused)
{
    const struct insn insns[] = {ALWAYS(BRANCH_RETURN), PLAIN};
    struct block_shape shape = sparc;

    (void)unused;
    shape.return_stack = false;
    same(__LINE__, "flags", build(&shape, PC, insns, 2).block.flags,
         BLOCK_INDIRECT | BLOCK_BACK);
}

/* SPARC's RETURN counts in a part of its own, for it may trap. */
static void
test_return_traps(void **unused)
{
    struct insn insns[] = {PLAIN, ALWAYS(BRANCH_RETURN), PLAIN};
    struct block_shape shape = sparc;

    (void)unused;
    same(__LINE__, "flags", build(&shape, PC, insns, 3).block.flags, RETURNS);
    insns[1].flags |= INSN_RESTORE;
    same(__LINE__, "flags", build(&shape, PC, insns, 3).block.flags,
         RETURNS | BLOCK_TRAPS);
    shape.return_stack = false;
    same(__LINE__, "flags", build(&shape, PC, insns, 3).block.flags,
         BLOCK_INDIRECT | BLOCK_BACK | BLOCK_TRAPS);
    /* A RESTORE in the slot traps alone. */
    insns[1].flags &= (uint16_t)~INSN_RESTORE;
    insns[2] = (struct insn)RESTORE;
    same(__LINE__, "flags", build(&shape, PC, insns, 3).block.flags,
         BLOCK_INDIRECT | BLOCK_BACK);
}

/* Its number in the tables, and its set in the branch target cache. */
static void
test_branch_number(void **unused)
{
    const struct insn insns[] = {PLAIN, ALWAYS(BRANCH_JUMP), PLAIN};
    struct block_shape shape = sparc;
    const struct block b = build(&shape, 0x123456784, insns, 3).block;

    (void)unused;
    same(__LINE__, "number", b.branch_number, 0x123456788 / 4);
    same(__LINE__, "set", b.btc, 0x123456788 / 4 % 16 * 2);
    shape.btc_sets = 0;
    same(__LINE__, "no set", build(&shape, PC, insns, 3).block.btc, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_likely),
        cmocka_unit_test(test_closes),
        cmocka_unit_test(test_x86),
        cmocka_unit_test(test_x86_branch),
        cmocka_unit_test(test_far),
        cmocka_unit_test(test_no_return_stack),
        cmocka_unit_test(test_branch_number),
        cmocka_unit_test(test_return_traps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
