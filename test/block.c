/* SPDX-License-Identifier: MIT */
/* Block records from instructions made by hand. */
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
    .isa = ISA_SPARC64,
    .page = PAGE,
    .l1i_line = 32,
    .l1i_slots = 64,
    .branch_mask = 1023,
    .from = NO_LINE,
    .to = NO_LINE,
};

static const struct block_shape x86 = {
    .isa = ISA_X86_64,
    .page = 4096,
    .l1i_line = 64,
    .l1i_slots = 64,
    .branch_mask = 1023,
    .from = NO_LINE,
    .to = NO_LINE,
};

#define MIPS_PAGE 4096

static const struct block_shape mips = {
    .isa = ISA_MIPS64,
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
    struct block_part parts[BLOCK_PARTS];
    size_t count;
};

static struct built
build(const struct block_shape *shape, uint64_t pc, const struct insn *insns,
      size_t count)
{
    static uint8_t code[MOST][15];
    const uint8_t *bytes[MOST];
    struct built b;

    assert_true(count <= MOST);
    for (size_t i = 0; i < count; i++) {
        memset(code[i], (int)i + 1, sizeof(code[i]));
        bytes[i] = code[i];
    }
    memset(&b, 0x55, sizeof(b));
    b.count = block_build(shape, pc, insns, bytes, count, &b.block, b.parts);
    return b;
}

static void
same(int line, const char *what, unsigned long long got,
     unsigned long long wanted)
{
    if (got != wanted)
        fail_msg("row at line %d: %s is %#llx, wanted %#llx", line, what, got,
                 wanted);
}

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
      {SIGNAL_UNCONDITIONAL_TAKEN, 1}}},
    {__LINE__,
     1,
     {{.size = 4, .class = CLASS_BRANCH, .branch = BRANCH_NEVER}},
     {{SIGNAL_INSTRUCTIONS, 1}, {SIGNAL_CLASS_BRANCH, 1}}},
    {__LINE__,
     1,
     {{.size = 4, .class = CLASS_BRANCH, .branch = BRANCH_RETURN}},
     {{SIGNAL_INSTRUCTIONS, 1},
      {SIGNAL_CLASS_BRANCH, 1},
      {SIGNAL_UNCONDITIONAL_TAKEN, 1}}},
    /* A window instruction at the end is no part of its own. */
    {__LINE__,
     2,
     {PLAIN, SAVE},
     {{SIGNAL_INSTRUCTIONS, 2}, {SIGNAL_CLASS_OTHER, 2}}},
};

static void
test_sums(void **unused)
{
    (void)unused;
    for (size_t i = 0; i < COUNT(sums); i++) {
        int wanted[SIGNAL_FIXED_COUNT] = {0};
        const struct built b = build(&sparc, PC, sums[i].insns, sums[i].count);
        for (size_t k = 0; k < COUNT(sums[i].fixed); k++)
            wanted[sums[i].fixed[k].signal] += sums[i].fixed[k].value;
        wanted[SIGNAL_T4_CLASS_BRANCH] = (int)sums[i].count; /* not stated */
        same(sums[i].line, "parts", b.count, 1);
        for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
            same(sums[i].line, tally_signals[s].name,
                 (unsigned long long)b.parts[0].info.fixed[s],
                 (unsigned long long)wanted[s]);
    }
}

/* The classes of the T4 go their own way. */
static void
test_t4_classes(void **unused)
{
    (void)unused;
    for (unsigned c = 0; c < T4_CLASS_COUNT; c++) {
        const struct insn insn = {.size = 4,
                                  .class = CLASS_LOAD,
                                  .t4_class = (uint8_t)c,
                                  .t4_block = c == T4_LOAD};
        const struct built b = build(&sparc, PC, &insn, 1);
        const int16_t *fixed = b.parts[0].info.fixed;
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
    {__LINE__,
     PC,
     2,
     {ALWAYS(BRANCH_RETURN), PLAIN},
     NO_LINE,
     PC,
     BLOCK_RETURN},
    {__LINE__,
     PC + PAGE - 8 - PC % PAGE,
     2,
     {PLAIN, ALWAYS(BRANCH_RETURN)},
     NO_LINE,
     PC + PAGE - 4 - PC % PAGE,
     BLOCK_RETURN | BLOCK_PENDING},
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
        same(row, "flags", b.block.flags, mips_closes[i].flags);
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
        same(row, "flags", b.block.flags, closes[i].flags);
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
    {__LINE__, 1, {{.size = 1, .branch = BRANCH_RETURN}}, BLOCK_RETURN},
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
        same(x86_rows[i].line, "flags", b.block.flags, x86_rows[i].flags);
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
    same(__LINE__, "size", b.parts[0].info.size, 8);
    same(__LINE__, "last_pc", b.block.last_pc, 0x401234 + 5);
    same(__LINE__, "counted",
         (unsigned long long)b.parts[0].info.fixed[SIGNAL_INSTRUCTIONS], 2);
    same(__LINE__, "last_size", b.parts[0].info.last_size, 3);
    assert_memory_equal(b.parts[0].info.last_bytes, "\2\2\2\0", 4);
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
    same(__LINE__, "last_size", b.parts[0].info.last_size, 0);
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
            const int16_t *fixed = b.parts[p].info.fixed;
            same(row, "first", b.parts[p].first,
                 (unsigned long long)windows[i].part[p].first);
            same(row, "marker", b.parts[p].marker,
                 (unsigned long long)windows[i].part[p].marker);
            assert_int_equal(fixed[SIGNAL_WINDOW_SPILLS],
                             windows[i].part[p].spills);
            assert_int_equal(fixed[SIGNAL_WINDOW_FILLS],
                             windows[i].part[p].fills);
            assert_int_equal(fixed[SIGNAL_INSTRUCTIONS],
                             windows[i].part[p].instructions);
            same(row, "pc", b.parts[p].info.pc, PC);
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
            sum[s] += runs[p] * b.parts[p].info.fixed[s];
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
        assert_true(b.count <= BLOCK_PARTS);
        for (size_t p = 0; p < b.count; p++) {
            for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
                sum[s] += b.parts[p].info.fixed[s];
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
        const int16_t *fixed = b.parts[0].info.fixed;
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
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_t4_classes),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_no_lines),
        cmocka_unit_test(test_closes),
        cmocka_unit_test(test_likely),
        cmocka_unit_test(test_x86),
        cmocka_unit_test(test_x86_branch),
        cmocka_unit_test(test_window_flags),
        cmocka_unit_test(test_incomplete),
        cmocka_unit_test(test_incomplete_alone),
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_window_traps),
        cmocka_unit_test(test_window_total),
        cmocka_unit_test(test_retries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
