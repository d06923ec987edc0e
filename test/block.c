/* SPDX-License-Identifier: MIT */
/* Block records from instructions made by hand; block_branch.c has branches. */
#include "block_help.h"
#include "timing/t4_class.h"

/* Every row is one block of one part. */
static const struct {
    int line;
    size_t count;
    struct insn insns[6];
    struct {
        enum signal_id signal;
        int value;
    } fixed[10];
} sums[] = {
    {__LINE__, 1, {PLAIN}, {{SIGNAL_INSTRUCTIONS, 1}, {SIGNAL_CLASS_OTHER, 1}}},
    {__LINE__,
     4,
     {LOAD,
      LOAD,
      {.size = 4, .class = CLASS_STORE, .stores = 2},
      {.size = 4, .class = CLASS_ATOMIC, .loads = 1, .stores = 1}},
     {{SIGNAL_INSTRUCTIONS, 4},
      {SIGNAL_CLASS_LOAD, 2},
      {SIGNAL_CLASS_STORE, 1},
      {SIGNAL_CLASS_ATOMIC, 1},
      {SIGNAL_LOADS, 3},
      {SIGNAL_STORES, 3}}},
    {__LINE__,
     4,
     {{.size = 4, .class = CLASS_SETHI},
      {.size = 4, .class = CLASS_FGU},
      {.size = 4, .class = CLASS_FGU, .flags = INSN_FP},
      {.size = 4, .class = CLASS_OTHER, .flags = INSN_PREFETCH}},
     {{SIGNAL_INSTRUCTIONS, 4},
      {SIGNAL_CLASS_SETHI, 1},
      {SIGNAL_CLASS_FGU, 2},
      {SIGNAL_CLASS_OTHER, 1},
      {SIGNAL_FP_INSTRUCTIONS, 1},
      {SIGNAL_PREFETCHES, 1}}},
    {__LINE__,
     2,
     {BRANCH(INSN_DELAY_SLOT), PLAIN},
     {{SIGNAL_INSTRUCTIONS, 2},
      {SIGNAL_CLASS_BRANCH, 1},
      {SIGNAL_CLASS_OTHER, 1},
      {SIGNAL_CONDITIONAL_BRANCHES, 1}}},
    {__LINE__,
     2,
     {{.size = 4, .class = CLASS_BRANCH, .branch = BRANCH_CALL}, PLAIN},
     {{SIGNAL_INSTRUCTIONS, 2},
      {SIGNAL_CLASS_BRANCH, 1},
      {SIGNAL_CLASS_OTHER, 1},
      {SIGNAL_UNCONDITIONAL_TAKEN, 1},
      {SIGNAL_DIRECT_TAKEN, 1}}},
    {__LINE__,
     1,
     {{.size = 4, .class = CLASS_BRANCH, .branch = BRANCH_NEVER}},
     {{SIGNAL_INSTRUCTIONS, 1}, {SIGNAL_CLASS_BRANCH, 1}}},
    {__LINE__,
     1,
     {{.size = 4, .class = CLASS_BRANCH, .branch = BRANCH_RETURN}},
     {{SIGNAL_INSTRUCTIONS, 1},
      {SIGNAL_CLASS_BRANCH, 1},
      {SIGNAL_UNCONDITIONAL_TAKEN, 1},
      {SIGNAL_RETURNS, 1}}},
    {__LINE__,
     1,
     {{.size = 4, .class = CLASS_BRANCH, .branch = BRANCH_INDIRECT_CALL}},
     {{SIGNAL_INSTRUCTIONS, 1},
      {SIGNAL_CLASS_BRANCH, 1},
      {SIGNAL_UNCONDITIONAL_TAKEN, 1},
      {SIGNAL_INDIRECT_TAKEN, 1}}},
    /* What goes to an FPU passes some L1Ds by, if its size is known. */
    {__LINE__,
     3,
     {{.size = 4,
       .class = CLASS_LOAD,
       .access = ACCESS_LOAD,
       .access_size = 8,
       .loads = 1,
       .flags = INSN_FLOAT},
      {.size = 4,
       .class = CLASS_LOAD,
       .access = ACCESS_LOAD,
       .loads = 1,
       .flags = INSN_FLOAT},
      LOAD},
     {{SIGNAL_INSTRUCTIONS, 3},
      {SIGNAL_CLASS_LOAD, 3},
      {SIGNAL_LOADS, 3},
      {SIGNAL_FLOAT_LOADS, 1}}},
    /* A window instruction at the end is no part of its own. */
    {__LINE__,
     2,
     {PLAIN, SAVE},
     {{SIGNAL_INSTRUCTIONS, 2}, {SIGNAL_CLASS_OTHER, 2}}},
};

/* Pieces of 32 bytes that have a byte of the block. */
static unsigned
pieces(const struct block *b)
{
    unsigned count = 0;

    for (uint64_t at = b->pc; at < b->end; at++)
        count += at == b->pc || at % 32 == 0;
    return count;
}

/* Wherever a block stands, whatever its length. */
static void
test_fetch_windows(void **unused)
{
    const struct insn insns[16] = {PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN,
                                   PLAIN, PLAIN, PLAIN, PLAIN, PLAIN, PLAIN,
                                   PLAIN, PLAIN, PLAIN, PLAIN};

    (void)unused;
    for (uint64_t pc = PC; pc < PC + 64; pc += 4) {
        for (size_t n = 1; n <= COUNT(insns); n++) {
            const struct built b = build(&sparc, pc, insns, n);
            assert_int_equal(b.pieces[0].info.fixed[SIGNAL_FETCH_WINDOWS],
                             pieces(&b.block));
        }
    }
}

static void
test_sums(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(sums); i++) {
        int wanted[SIGNAL_FIXED_COUNT] = {0};
        const struct built b = build(&sparc, PC, sums[i].insns, sums[i].count);
        wanted[SIGNAL_FETCH_WINDOWS] = (int)pieces(&b.block);
        for (size_t k = 0; k < COUNT(sums[i].fixed); k++)
            wanted[sums[i].fixed[k].signal] += sums[i].fixed[k].value;
        for (size_t k = 0; k < sums[i].count; k++) /* not stated */
            wanted[SIGNAL_T4_CLASS_BRANCH + t4_class(&sums[i].insns[k])]++;
        same(sums[i].line, "parts", b.count, 1);
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            same(sums[i].line, tally_signals[s].name,
                 (unsigned long long)b.pieces[0].info.fixed[s],
                 (unsigned long long)wanted[s]);
    }
}

/* The classes of the T4 go their own way. */
static void
test_t4_classes(void **unused)
{
    (void)unused;
    static const uint32_t words[T4_CLASS_COUNT] = {
        [T4_BRANCH] = 0x40000000,     /* call */
        [T4_FGU_CRYPTO] = 0x81a00840, /* faddd %f0, %f0, %f0 */
        [T4_LOAD] = 0xc1981e00,       /* ldda [%g0] 0xf0, %f0, a block */
        [T4_STORE] = 0xc0700000,      /* stx %g0, [%g0] */
        [T4_SPR_RING] = 0xc0d81600,   /* ldxa [%g0] 0xb0, %g0 */
        [T4_OTHER] = 0x01000000,      /* nop */
    };

    for (unsigned c = 0; c < T4_CLASS_COUNT; c++) {
        const struct insn insn = {
            .size = 4, .class = CLASS_LOAD, .sparc_word = words[c]};
        const struct built b = build(&sparc, PC, &insn, 1);
        const int16_t *fixed = b.pieces[0].info.fixed;
        for (unsigned k = 0; k < T4_CLASS_COUNT; k++)
            assert_int_equal(fixed[SIGNAL_T4_CLASS_BRANCH + k], k == c);
        assert_int_equal(fixed[SIGNAL_T4_BLOCKS], c == T4_LOAD);
        assert_int_equal(fixed[SIGNAL_CLASS_LOAD], 1);
    }
}

static const struct {
    int line;
    uint64_t pc;
    size_t count; /* plain instructions */
    uint64_t line0, line1;
    unsigned slot0, slot1;
} line_rows[] = {
    {__LINE__, 0x100000, 1, 0x100000, 0x100000, 0, 0},
    {__LINE__, 0x100000, 8, 0x100000, 0x100000, 0, 0},
    {__LINE__, 0x10001c, 1, 0x100000, 0x100000, 0, 0},
    {__LINE__, 0x10001c, 2, 0x100000, 0x100020, 0, 1},
    {__LINE__, 0x100020, 16, 0x100020, 0x100040, 1, 2},
    {__LINE__, 0x100020, 17, 0x100020, MANY_LINES, 1, 3},
    {__LINE__, 0x10003c, 9, 0x100020, 0x100040, 1, 2},
    {__LINE__, 0x10003c, 10, 0x100020, MANY_LINES, 1, 3},
    {__LINE__, 0x1007e0, 9, 0x1007e0, 0x100800, 63, 0},
    {__LINE__, 0x7f00000007e0, 80, 0x7f00000007e0, MANY_LINES, 63, 8},
};

static void
test_lines(void **unused)
{
    struct insn insns[MOST];

    (void)unused;
    for (size_t i = 0; i < MOST; i++)
        insns[i] = (struct insn)PLAIN;
    for (size_t i = 0; i < COUNT(line_rows); i++) {
        const int row = line_rows[i].line;
        const struct built b =
            build(&sparc, line_rows[i].pc, insns, line_rows[i].count);
        same(row, "line0", b.block.line0, line_rows[i].line0);
        same(row, "line1", b.block.line1, line_rows[i].line1);
        same(row, "slot0", b.block.slot0, line_rows[i].slot0);
        same(row, "slot1", b.block.slot1, line_rows[i].slot1);
        same(row, "end", b.block.end, line_rows[i].pc + 4 * line_rows[i].count);
        same(row, "instructions", b.block.instructions, line_rows[i].count);
    }
}

static void
test_no_lines(void **unused)
{
    const struct insn insns[] = {PLAIN, PLAIN};
    struct block_shape shape = sparc;

    (void)unused;
    shape.l1i_line = 0;
    const struct built b = build(&shape, PC, insns, 2);
    same(__LINE__, "line0", b.block.line0, NO_LINE);
    same(__LINE__, "line1", b.block.line1, NO_LINE);
}

static void
test_window_flags(void **unused)
{
    const struct insn insns[] = {PLAIN, {.size = 4, .branch = BRANCH_JUMP}};
    struct block_shape shape = sparc;

    (void)unused;
    shape.from = PC;
    shape.to = PC + 4;
    same(__LINE__, "flags", build(&shape, PC, insns, 2).block.flags,
         BLOCK_BEGIN | BLOCK_JUMP);
    same(__LINE__, "flags", build(&shape, PC + 4, insns, 2).block.flags,
         BLOCK_END | BLOCK_JUMP);
    shape.to = PC;
    same(__LINE__, "flags", build(&shape, PC, insns, 2).block.flags,
         BLOCK_BEGIN | BLOCK_END | BLOCK_JUMP);
}

static void
test_incomplete(void **unused)
{
    const struct insn insns[] = {{.size = 5}, {.size = 3}, {.size = 0}};
    const struct built b = build(&x86, 0x401234, insns, 3);

    (void)unused;
    same(__LINE__, "instructions", b.block.instructions, 2);
    same(__LINE__, "end", b.block.end, 0x401234 + 8);
    same(__LINE__, "last_pc", b.block.last_pc, 0x401234 + 5);
    same(__LINE__, "counted",
         (unsigned long long)b.pieces[0].info.fixed[SIGNAL_INSTRUCTIONS], 2);
    same(__LINE__, "odd_pc", b.pieces[0].info.odd_pc, 0x401234 + 8);
}

/* An instruction that QEMU has read whole is the last of its block. */
static void
test_odd(void **unused)
{
    const struct insn insns[] = {{.size = 5},
                                 {.size = 2, .flags = INSN_ILLEGAL}};
    const struct built within = build(&x86, 0x401234, insns, 2);
    const struct built at_end = build(&x86, 0x401ff9, insns, 2);

    (void)unused;
    same(__LINE__, "odd_pc", within.pieces[0].info.odd_pc, 0x401234 + 5);
    same(__LINE__, "odd", within.block.flags & BLOCK_ODD, BLOCK_ODD);
    same(__LINE__, "odd_pc", at_end.pieces[0].info.odd_pc, 0x401ffe);
    same(__LINE__, "odd", at_end.block.flags & BLOCK_ODD, BLOCK_ODD);
}

/* The same code elsewhere is of the same kind, one info for both, unless QEMU
 * may raise a signal for it: then the info says where that is. */
static void
test_kinds(void **unused)
{
    const struct insn jump[] = {{.size = 5, .loads = 1},
                                {.size = 2, .branch = BRANCH_JUMP}};
    const struct insn odd[] = {{.size = 5}, {.size = 2}};
    const struct built here = build(&x86, 0x401020, jump, 2);
    const struct built there = build(&x86, 0x7f0000501020, jump, 2);
    const struct built odd_here = build(&x86, 0x401020, odd, 2);
    const struct built odd_there = build(&x86, 0x501020, odd, 2);

    (void)unused;
    assert_memory_equal(&here.pieces[0].info, &there.pieces[0].info,
                        sizeof(struct block_info));
    assert_int_equal(here.pieces[0].info.fixed[SIGNAL_LOADS], 1);
    assert_memory_not_equal(&odd_here.pieces[0].info, &odd_there.pieces[0].info,
                            sizeof(struct block_info));
}

/* Alone, it is kept. */
static void
test_incomplete_alone(void **unused)
{
    const struct insn insns[] = {{.size = 0}};
    const struct built b = build(&x86, 0x401234, insns, 1);

    (void)unused;
    same(__LINE__, "instructions", b.block.instructions, 1);
    same(__LINE__, "end", b.block.end, 0x401234);
    same(__LINE__, "odd_pc", b.pieces[0].info.odd_pc, b.block.pc);
}

/* Window instructions: where the parts start, and which traps they stand for */
static const struct {
    int line;
    size_t count;
    struct insn insns[6];
    size_t parts;
    struct {
        int first, marker;
        int spills, fills; /* fixed, in the part's own info */
        int instructions;
    } part[4];
} windows[] = {
    {__LINE__, 2, {PLAIN, SAVE}, 1, {{0, 0, 0, 0, 2}}},
    {__LINE__, 2, {SAVE, PLAIN}, 2, {{0, 0, 1, 0, 0}, {0, 1, -1, 0, 2}}},
    {__LINE__,
     4,
     {PLAIN, SAVE, PLAIN, PLAIN},
     2,
     {{0, 0, 1, 0, 1}, {1, 2, -1, 0, 3}}},
    {__LINE__,
     4,
     {PLAIN, PLAIN, RESTORE, PLAIN},
     2,
     {{0, 0, 0, 1, 2}, {2, 3, 0, -1, 2}}},
    {__LINE__,
     4,
     {SAVE, FLUSHW, RESTORE, PLAIN},
     4,
     {{0, 0, 1, 0, 0}, {0, 1, 0, 0, 1}, {1, 2, -1, 1, 1}, {2, 3, 0, -1, 2}}},
};

static void
test_windows(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(windows); i++) {
        const int row = windows[i].line;
        const struct built b =
            build(&sparc, PC, windows[i].insns, windows[i].count);
        same(row, "parts", b.count, windows[i].parts);
        for (size_t p = 0; p < b.count; p++) {
            const int16_t *fixed = b.pieces[p].info.fixed;
            same(row, "first", b.pieces[p].first,
                 (unsigned long long)windows[i].part[p].first);
            same(row, "marker", b.pieces[p].marker,
                 (unsigned long long)windows[i].part[p].marker);
            assert_int_equal(fixed[SIGNAL_WINDOW_SPILLS],
                             windows[i].part[p].spills);
            assert_int_equal(fixed[SIGNAL_WINDOW_FILLS],
                             windows[i].part[p].fills);
            assert_int_equal(fixed[SIGNAL_INSTRUCTIONS],
                             windows[i].part[p].instructions);
        }
    }
}

/*
 * A part is counted as often as its marker runs: here the block is entered five
 * times, and SAVE traps once, then RESTORE once.
 */
static void
test_window_traps(void **unused)
{
    const struct insn insns[] = {LOAD, SAVE, LOAD, RESTORE, PLAIN};
    const struct built b = build(&sparc, PC, insns, 5);
    const int runs[] = {5, 4, 3};
    int sum[SIGNAL_FIXED_COUNT] = {0};

    (void)unused;
    assert_int_equal(b.count, 3);
    for (size_t p = 0; p < 3; p++) {
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            sum[s] += runs[p] * b.pieces[p].info.fixed[s];
    }
    assert_int_equal(sum[SIGNAL_WINDOW_SPILLS], 1);
    assert_int_equal(sum[SIGNAL_WINDOW_FILLS], 1);
    assert_int_equal(sum[SIGNAL_INSTRUCTIONS], 5 + 2 * 4 + 2 * 3);
}

/* All parts together are the whole block, whatever it is made of. */
static void
test_window_total(void **unused)
{
    struct insn insns[40];

    (void)unused;
    for (size_t every = 1; every < 12; every++) {
        int sum[SIGNAL_FIXED_COUNT] = {0};
        for (size_t i = 0; i < COUNT(insns); i++)
            insns[i] = i % every == 0 ? (struct insn)SAVE : (struct insn)LOAD;
        const struct built b = build(&sparc, PC, insns, COUNT(insns));
        assert_true(b.count <= BLOCK_PIECES);
        for (size_t p = 0; p < b.count; p++) {
            for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
                sum[s] += b.pieces[p].info.fixed[s];
        }
        assert_int_equal(sum[SIGNAL_WINDOW_SPILLS], 0);
        assert_int_equal(sum[SIGNAL_INSTRUCTIONS], COUNT(insns));
        assert_int_equal(sum[SIGNAL_CLASS_LOAD] + sum[SIGNAL_CLASS_OTHER],
                         COUNT(insns));
    }
}

static const struct {
    int line;
    uint64_t pc;
    struct insn insn;
    bool retry;
    enum signal_id trap;
} retries[] = {
    {__LINE__, PC + 4, SAVE, true, SIGNAL_WINDOW_SPILLS},
    {__LINE__, PC + 4, FLUSHW, true, SIGNAL_WINDOW_SPILLS},
    {__LINE__, PC + 4, RESTORE, true, SIGNAL_WINDOW_FILLS},
    {__LINE__, PC + 4, PLAIN, false, SIGNAL_WINDOW_FILLS},
    /* Alone because the page starts or ends there. */
    {__LINE__, PC / PAGE *PAGE, SAVE, false, SIGNAL_WINDOW_SPILLS},
    {__LINE__, PC / PAGE *PAGE + PAGE - 4, SAVE, false, SIGNAL_WINDOW_SPILLS},
};

static void
test_retries(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(retries); i++) {
        const int row = retries[i].line;
        const struct built b =
            build(&sparc, retries[i].pc, &retries[i].insn, 1);
        const int16_t *fixed = b.pieces[0].info.fixed;
        const bool retry = retries[i].retry;
        same(row, "retry", (b.block.flags & BLOCK_RETRY) != 0, retry);
        same(row, "instructions",
             (unsigned long long)fixed[SIGNAL_INSTRUCTIONS], !retry);
        same(row, "traps", (unsigned long long)fixed[retries[i].trap], retry);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fetch_windows),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_t4_classes),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_no_lines),
        cmocka_unit_test(test_window_flags),
        cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_odd),
        cmocka_unit_test(test_incomplete_alone),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_window_traps),
        cmocka_unit_test(test_window_total),
        cmocka_unit_test(test_retries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
