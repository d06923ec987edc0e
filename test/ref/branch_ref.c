/* SPDX-License-Identifier: MIT */
#include "ref/branch_ref.h"

#include <stdlib.h>
#include <string.h>

/* The last directions, as far as the predictor looks back. */
static uint64_t
history(const struct chip_ref *r)
{
    const uint64_t reach = (uint64_t)1 << r->params[PARAM_BRANCH_HISTORY];

    if (r->params[PARAM_BRANCH_PREDICTOR] == BRANCH_PREDICTOR_BIMODAL)
        return 0;
    return r->history % reach % r->params[PARAM_BRANCH_ENTRIES];
}

void
branch_ref_decide(struct chip_ref *r, const struct block *last,
                  const struct block *block)
{
    const bool taken = block->pc == last->taken_pc;

    if ((last->flags & BLOCK_CONDITIONAL) == 0)
        return;
    if (taken)
        chip_ref_count(r, SIGNAL_CONDITIONAL_TAKEN);
    if ((r->parts & PART_PREDICTOR) == 0)
        return;

    uint8_t *counter = &r->counters[(last->branch ^ history(r)) %
                                    r->params[PARAM_BRANCH_ENTRIES]];
    const bool foretold = *counter >= 2;
    if (foretold != taken)
        chip_ref_count(r, SIGNAL_CONDITIONAL_MISPREDICTS);
    if (taken && *counter < 3)
        ++*counter;
    if (!taken && *counter > 0)
        --*counter;
    r->history = r->history * 2 + taken;
}

/* The target at which the branch went last, which is now `target`. */
static uint64_t
exchange_target(struct chip_ref *r, uint64_t pc, uint64_t target)
{
    for (size_t i = 0; i < r->branch_count; i++) {
        struct branch_ref *branch = &r->branches[i];
        if (branch->pc == pc) {
            const uint64_t before = branch->target;
            branch->target = target;
            return before;
        }
    }
    r->branches =
        realloc(r->branches, (r->branch_count + 1) * sizeof(*r->branches));
    if (r->branches == NULL)
        abort();
    r->branches[r->branch_count++] = (struct branch_ref){pc, target};
    return target;
}

static void
ask_btc(struct chip_ref *r, const struct block *last, uint64_t target)
{
    const uint64_t before = exchange_target(r, last->branch_pc, target);

    if (!cache_ref_access(&r->btc, last->branch_number))
        chip_ref_count(r, SIGNAL_BTC_MISSES);
    else if ((last->flags & BLOCK_INDIRECT) && before != target)
        chip_ref_count(r, SIGNAL_BTC_MISPREDICTS);
}

static void
ask_far(struct chip_ref *r, const struct block *last)
{
    const uint64_t entry = last->branch_number % r->params[PARAM_FAR_ENTRIES];

    if (r->far[entry] != last->branch_pc)
        chip_ref_count(r, SIGNAL_FAR_MISPREDICTS);
    r->far[entry] = last->branch_pc;
}

static void
ask_indirect(struct chip_ref *r, const struct block *last, uint64_t target)
{
    const uint64_t reach = (uint64_t)1 << r->params[PARAM_INDIRECT_HISTORY];
    const uint64_t entry = (last->branch_number ^ r->path % reach) %
                           r->params[PARAM_INDIRECT_ENTRIES];

    if (r->indirect[entry] != target)
        chip_ref_count(r, SIGNAL_INDIRECT_MISPREDICTS);
    r->indirect[entry] = target;
    r->path = r->path * 4 + (target / 4 ^ target / 32);
}

/* One call too many forgets the oldest. */
static void
call(struct chip_ref *r, const struct block *last)
{
    const bool slot_waits = (last->flags & BLOCK_PENDING) != 0;

    r->returns[r->return_count++] = last->end + (slot_waits ? 4 : 0);
    if (r->return_count <= r->params[PARAM_RETURN_DEPTH])
        return;
    r->return_count--;
    memmove(r->returns, r->returns + 1, r->return_count * sizeof(uint64_t));
}

static void
come_back(struct chip_ref *r, uint64_t target)
{
    if (r->return_count == 0 || r->returns[--r->return_count] != target)
        chip_ref_count(r, SIGNAL_RETURN_MISPREDICTS);
}

void
branch_ref_find_target(struct chip_ref *r, const struct block *last,
                       uint64_t target)
{
    const uint32_t kind = last->flags;
    const bool direct =
        (kind & (BLOCK_CONDITIONAL | BLOCK_JUMP | BLOCK_CALL)) != 0 &&
        (kind & BLOCK_INDIRECT) == 0;

    if ((kind & BLOCK_CONDITIONAL) && target != last->taken_pc)
        return;
    if ((r->parts & PART_BTC) && (direct || (kind & BLOCK_INDIRECT)))
        ask_btc(r, last, target);
    if ((r->parts & PART_FAR) && (kind & BLOCK_FAR))
        ask_far(r, last);
    if ((r->parts & PART_INDIRECT) && (kind & BLOCK_INDIRECT))
        ask_indirect(r, last, target);
    if ((r->parts & PART_RETURNS) && (kind & BLOCK_CALL))
        call(r, last);
    if ((r->parts & PART_RETURNS) && (kind & BLOCK_RETURN))
        come_back(r, target);
}
