/* SPDX-License-Identifier: MIT */
#include "source/block.h"

#include <assert.h>
#include <string.h>

#include "timing/itanium_bundles.h"
#include "timing/t1_store_buffer.h"
#include "timing/t4_stages.h"
#include "timing/t4_class.h"
#include "timing/t4_buffers.h"

/* Bytes that are fetched at once, where that is counted. */
#define FETCH_WINDOW 32u

static_assert(SIGNAL_RISCV_FLOAT_QUOTIENTS - SIGNAL_RISCV_ATOMICS ==
                  RISCV_FLOAT_QUOTIENT - RISCV_ATOMIC,
              "a signal each, in the order of the kinds");

static void
add_branch(int16_t *fixed, const struct insn *insn)
{
    if (insn->branch == BRANCH_CONDITIONAL)
        fixed[SIGNAL_CONDITIONAL_BRANCHES]++;
    else if (insn->branch != BRANCH_NONE && insn->branch != BRANCH_NEVER)
        fixed[SIGNAL_UNCONDITIONAL_TAKEN]++;
    if (insn->branch == BRANCH_JUMP || insn->branch == BRANCH_CALL)
        fixed[SIGNAL_DIRECT_TAKEN]++;
    if (insn->branch == BRANCH_INDIRECT || insn->branch == BRANCH_INDIRECT_CALL)
        fixed[SIGNAL_INDIRECT_TAKEN]++;
    if (insn->branch == BRANCH_RETURN)
        fixed[SIGNAL_RETURNS]++;
}

void
block_add_insn(struct block_info *info, const struct insn *insn)
{
    int16_t *fixed = info->fixed;

    info->instructions++;
    fixed[SIGNAL_INSTRUCTIONS]++;
    fixed[SIGNAL_CLASS_BRANCH + insn->class]++;
    fixed[SIGNAL_T4_CLASS_BRANCH + t4_class(insn)]++;
    if (t4_block(insn))
        fixed[SIGNAL_T4_BLOCKS]++;
    fixed[SIGNAL_LOADS] = (int16_t)(fixed[SIGNAL_LOADS] + insn->loads);
    fixed[SIGNAL_STORES] = (int16_t)(fixed[SIGNAL_STORES] + insn->stores);
    if (insn->flags & INSN_PREFETCH)
        fixed[SIGNAL_PREFETCHES]++;
    if (insn->flags & INSN_FP)
        fixed[SIGNAL_FP_INSTRUCTIONS]++;
    if (insn->flags & INSN_SHARED_FPU)
        fixed[SIGNAL_SHARED_FPU]++;
    if (insn->flags & INSN_MULDIV)
        fixed[SIGNAL_MUL_DIV]++;
    if (insn->flags & INSN_CONDITIONAL)
        fixed[SIGNAL_STORE_CONDITIONALS]++;
    if (insn_is_float(insn))
        fixed[SIGNAL_FLOAT_LOADS]++;
    if (insn->flags & INSN_MEMBAR)
        fixed[SIGNAL_BARRIERS]++;
    if (insn->serializes)
        fixed[SIGNAL_SERIALIZERS]++;
    if (insn->riscv_kind != RISCV_NO_KIND)
        fixed[SIGNAL_RISCV_ATOMICS + insn->riscv_kind - RISCV_ATOMIC]++;
    add_branch(fixed, insn);
}

static bool
is_window(const struct insn *insn)
{
    return (insn->flags & (INSN_SAVE | INSN_RESTORE | INSN_FLUSHW)) != 0;
}

static enum signal_id
window_signal(const struct insn *insn)
{
    return insn->flags & INSN_RESTORE ? SIGNAL_WINDOW_FILLS
                                      : SIGNAL_WINDOW_SPILLS;
}

/*
 * A window instruction in the middle starts a part that counts when the next
 * instruction runs: the attempts beyond the completions are its traps.
 */
static size_t
build_pieces(const struct insn *insns, size_t count, struct block_piece *pieces)
{
    size_t n = 1;

    memset(&pieces[0], 0, sizeof(pieces[0]));
    for (size_t i = 0; i < count; i++) {
        const bool opens =
            is_window(&insns[i]) && i + 1 < count && n < BLOCK_PIECES;
        if (opens) {
            const enum signal_id traps = window_signal(&insns[i]);
            pieces[n - 1].info.fixed[traps]++;
            memset(&pieces[n], 0, sizeof(pieces[n]));
            pieces[n].first = (uint16_t)i;
            pieces[n].marker = (uint16_t)(i + 1);
            pieces[n].info.fixed[traps]--;
            n++;
        }
        block_add_insn(&pieces[n - 1].info, &insns[i]);
    }
    return n;
}

/* What follows from the order of the instructions. */
static void
add_order(const struct block_shape *shape, const struct insn *insns,
          size_t count, struct block_piece *pieces, size_t n)
{
    struct t1_store_buffer drain = {
        .entries = shape->drain_entries,
        .cycles = shape->drain_cycles,
    };

    for (size_t i = 0; i < n; i++) {
        const size_t first = pieces[i].first;
        const size_t end = i + 1 < n ? pieces[i + 1].first : count;
        int16_t *fixed = pieces[i].info.fixed;
        if (shape->group != 0)
            t4_stages_add(insns + first, end - first, shape->group, fixed);
        if (shape->group != 0)
            t4_buffers_add(&shape->tags, insns + first, end - first, fixed);
        if (shape->bundles)
            itanium_bundles_add(insns + first, end - first, fixed);
        t1_store_buffer_add(&drain, insns + first, end - first, fixed);
    }
}

/*
 * A window instruction alone in its block, in the middle of a page, is the
 * second attempt of one that closed a block: its trap is counted, not it.
 */
static bool
is_retry(const struct block_shape *shape, uint64_t pc, const struct insn *insn)
{
    const uint64_t offset = pc & (shape->page - 1);

    return is_window(insn) && offset != 0 && offset + insn->size != shape->page;
}

static const uint32_t branch_flags[] = {
    [BRANCH_NONE] = 0,
    [BRANCH_CONDITIONAL] = BLOCK_CONDITIONAL,
    [BRANCH_NEVER] = 0,
    [BRANCH_JUMP] = BLOCK_JUMP,
    [BRANCH_CALL] = BLOCK_CALL,
    [BRANCH_INDIRECT] = BLOCK_INDIRECT,
    [BRANCH_INDIRECT_CALL] = BLOCK_CALL | BLOCK_INDIRECT,
    [BRANCH_RETURN] = BLOCK_RETURN | BLOCK_BACK,
};

static uint32_t
kind_of(const struct block_shape *shape, const struct insn *branch, uint64_t pc)
{
    uint32_t flags = branch_flags[branch->branch];
    const bool direct =
        flags != 0 && (flags & (BLOCK_INDIRECT | BLOCK_RETURN)) == 0;
    const uint64_t distance =
        branch->target > pc ? branch->target - pc : pc - branch->target;

    if ((flags & BLOCK_CONDITIONAL) && !shape->judges_all)
        flags |= BLOCK_IF_TAKEN;
    if ((flags & BLOCK_RETURN) && !shape->return_stack)
        return BLOCK_INDIRECT | BLOCK_BACK;
    if (direct && shape->far_reach != 0 && distance > shape->far_reach)
        return flags | BLOCK_FAR;
    return flags;
}

static void
close_with_branch(const struct block_shape *shape, const struct insn *insns,
                  const uint64_t *pcs, size_t count, struct block *b)
{
    size_t i = count - 1;

    if (insns[i].branch == BRANCH_NONE && i > 0 &&
        (insns[i - 1].flags & INSN_DELAY_SLOT) != 0)
        i--;

    const struct insn *branch = &insns[i];
    const bool alone = i == count - 1 && (branch->flags & INSN_DELAY_SLOT) != 0;
    const bool annuls = (branch->flags & INSN_ANNUL) != 0;
    const bool likely = annuls && shape->isa->slots == SLOTS_WITHIN;
    const uint32_t flags = kind_of(shape, branch, pcs[i]);
    const uint64_t number =
        layout_branch(shape->layout, pcs[i] >> shape->isa->step_bits);

    if (flags == 0)
        return;
    b->flags |= flags;
    b->branch_pc = pcs[i];
    b->branch_number = (uint32_t)number;
    b->branch = (uint32_t)(number & shape->branch_mask);
    if (shape->btc_sets != 0)
        b->btc = (b->branch_number & (shape->btc_sets - 1)) * shape->btc_ways;
    if (alone && (!annuls || likely))
        b->flags |= BLOCK_PENDING;
    if ((flags & BLOCK_CONDITIONAL) == 0)
        return;
    b->taken_pc = branch->target;
    if (likely)
        b->flags |= BLOCK_LIKELY;
    else if (i == count - 1 && annuls)
        b->taken_pc = pcs[i] + branch->size; /* the slot runs when taken */
}

static void
set_lines(struct block *b, const struct block_shape *shape)
{
    const uint64_t line = shape->l1i_line;

    if (line == 0) {
        b->line0 = b->line1 = NO_LINE;
        return;
    }

    const uint64_t begin = b->pc & ~(line - 1);
    const uint64_t end = (b->end - 1) & ~(line - 1);
    const uint64_t first = layout_address(shape->layout, begin);
    const uint64_t last = layout_address(shape->layout, end);
    b->line0 = first;
    b->line1 = end - begin <= line ? last : MANY_LINES;
    b->slot0 = (uint16_t)(first / line & (shape->l1i_slots - 1));
    b->slot1 = (uint16_t)(last / line & (shape->l1i_slots - 1));
}

/*
 * A block that ends in the middle of a page without a branch: QEMU ends it so
 * at an instruction that it lacks, among others. An instruction that was
 * dropped behind the last is one of which QEMU read a part: it lacks it, or it
 * goes on in the next page.
 */
static bool
is_odd(const struct block_shape *shape, const struct insn *last,
       const struct insn *insns, size_t count, uint64_t end)
{
    const bool slot =
        count > 1 && (insns[count - 2].flags & INSN_DELAY_SLOT) != 0;

    /* An imported trace says of no block why it ends. */
    if (shape->isa->imported)
        return false;
    return last->branch == BRANCH_NONE && !slot &&
           last->access != ACCESS_REPEATED &&
           (last->flags & INSN_SYSCALL) == 0 &&
           ((last->flags & INSN_ILLEGAL) != 0 ||
            (end & (shape->page - 1)) != 0);
}

bool
block_slot(const struct block_shape *shape, const struct block *block,
           const struct insn *last, struct block_info *info)
{
    const unsigned kind = block->flags & (BLOCK_LIKELY | BLOCK_PENDING);

    memset(info, 0, sizeof(*info));
    if (shape->isa->slots != SLOTS_WITHIN ||
        (kind != BLOCK_LIKELY && (block->flags & BLOCK_SLOT) == 0))
        return false;
    block_add_insn(info, last);
    info->instructions = 0;
    for (size_t s = 0; s < SIGNAL_FIXED_COUNT; s++)
        info->fixed[s] = (int16_t)-info->fixed[s];
    /* An Itanium 2 retires it with a false predicate. */
    info->fixed[SIGNAL_SQUASHED] = 1;
    return true;
}

size_t
block_build(const struct block_shape *shape, uint64_t pc,
            const struct insn *insns, size_t count, struct block *block,
            struct block_piece *pieces)
{
    const bool drops = count > 1 && insns[count - 1].size == 0;
    uint64_t pcs[2] = {pc, pc}; /* of the last two instructions */
    uint64_t next = pc;

    memset(block, 0, sizeof(*block));
    if (drops)
        count--;
    for (size_t i = 0; i < count; i++) {
        pcs[0] = pcs[1];
        pcs[1] = next;
        next += insns[i].size;
    }
    block->pc = pc;
    block->end = next;
    block->last_pc = pcs[1];
    block->instructions = (uint16_t)count;
    block->taken_pc = NO_LINE;
    block->branch_pc = NO_LINE;
    set_lines(block, shape);
    if (count == 1)
        close_with_branch(shape, insns, &pcs[1], 1, block);
    else
        close_with_branch(shape, insns + count - 2, pcs, 2, block);

    const struct insn *first = &insns[0];
    const struct insn *last = &insns[count - 1];
    if (last->access == ACCESS_REPEATED)
        block->flags |= BLOCK_REPEAT;
    if (first->access == ACCESS_REPEATED)
        block->flags |= BLOCK_RESUMED;
    if (shape->isa->slots != SLOTS_NONE && count == 1 &&
        (pc & (shape->page - 1)) == 0)
        block->flags |= BLOCK_SLOT;
    if (is_odd(shape, last, insns, count, next))
        block->flags |= BLOCK_ODD;
    if (pc == shape->from)
        block->flags |= BLOCK_BEGIN;
    if (pc == shape->to)
        block->flags |= BLOCK_END;
    for (uint32_t i = 0; i < shape->range_count; i++) {
        if (pc >= shape->ranges[i].first && pc <= shape->ranges[i].last)
            block->flags |= BLOCK_INSIDE;
    }

    size_t n = build_pieces(insns, count, pieces);
    if (n > 1 && insns[pieces[n - 1].first].branch != BRANCH_NONE)
        block->flags |= BLOCK_TRAPS;
    if (count == 1 && is_retry(shape, pc, first)) {
        memset(pieces[0].info.fixed, 0, sizeof(pieces[0].info.fixed));
        pieces[0].info.fixed[window_signal(first)] = 1;
        block->flags |= BLOCK_RETRY;
    }
    if (block->flags & BLOCK_ODD)
        pieces[0].info.odd_pc = drops ? next : pcs[1];
    pieces[0].info.fixed[SIGNAL_FETCH_WINDOWS] =
        (int16_t)((next - 1) / FETCH_WINDOW - pc / FETCH_WINDOW + 1);
    if ((block->flags & BLOCK_RETRY) == 0)
        add_order(shape, insns, count, pieces, n);
    return n;
}
