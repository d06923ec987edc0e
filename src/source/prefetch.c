/* SPDX-License-Identifier: MIT */
#include "source/prefetch.h"

bool
prefetch_single(const struct insn *insn)
{
    return (insn->access == ACCESS_LOAD || insn->access == ACCESS_STORE) &&
           (insn->flags & INSN_NO_FAULT) == 0 && insn->access_size > 0 &&
           insn->access_size <= 8;
}

static uint64_t
register_bit(int reg)
{
    return reg == INSN_NO_REG ? 0 : (uint64_t)1 << reg;
}

bool
prefetch_distance(const struct insn *insns, size_t i, size_t k,
                  int64_t *distance)
{
    const struct insn *a = &insns[i], *b = &insns[k];

    if (!a->addr_known || !b->addr_known || a->addr_base != b->addr_base ||
        a->addr_index != b->addr_index || a->addr_scale != b->addr_scale)
        return false;
    const uint64_t base = register_bit(a->addr_base);
    const uint64_t index = register_bit(a->addr_index);
    uint64_t sum = (uint64_t)b->addr_disp - (uint64_t)a->addr_disp;
    for (; i < k; i++) {
        const uint64_t step = register_bit(insns[i].step_reg);
        if (insns[i].reg_writes & (base | index) & ~step)
            return false;
        if (step & base)
            sum += (uint64_t)insns[i].step;
        if (step & index)
            sum += (uint64_t)insns[i].step * a->addr_scale;
    }
    *distance = (int64_t)sum;
    return true;
}

/* Returns whether a branch may leave the instruction out, though its block
 * runs. */
static bool
may_be_annulled(const struct insn *insns, size_t i)
{
    return i > 0 && (insns[i - 1].flags & INSN_ANNUL) != 0;
}

static bool
tells(const struct insn *insns, size_t k, size_t i, int64_t *distance)
{
    if (!prefetch_single(&insns[k]) || may_be_annulled(insns, k))
        return false;
    if (k < i)
        return prefetch_distance(insns, k, i, distance);
    if (!prefetch_distance(insns, i, k, distance))
        return false;
    *distance = (int64_t)(0 - (uint64_t)*distance);
    return true;
}

size_t
prefetch_teller(const struct insn *insns, size_t count, size_t i,
                int64_t *distance)
{
    if (may_be_annulled(insns, i))
        return count;
    for (size_t away = 1; away < count; away++) {
        if (away <= i && tells(insns, i - away, i, distance))
            return i - away;
        if (i + away < count && tells(insns, i + away, i, distance))
            return i + away;
    }
    return count;
}
