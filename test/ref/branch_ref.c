/* SPDX-License-Identifier: MIT */
#include "ref/branch_ref.h"

#include <stdlib.h>
#include <string.h>

/* Has a predictor predict a branch, and counts its wrong predictions. Returns
 * whether the prediction was wrong. */
static bool
decide(struct chip_ref *r, struct predictor_ref *p, const struct block *last,
       bool taken, uint16_t not_taken_signal, uint16_t taken_signal)
{
    const bool wrong = predictor_ref_step(p, last->branch_number, taken);

    if (wrong)
        chip_ref_count(r, taken ? taken_signal : not_taken_signal);
    return wrong;
}

void
branch_ref_decide(struct chip_ref *r, const struct block *last,
                  const struct block *block)
{
    const bool taken = block->pc == last->taken_pc;

    r->misjudged = false;
    if ((last->flags & BLOCK_CONDITIONAL) == 0)
        return;
    /* Where no predictor runs, no branch is foretold to be taken. */
    r->misjudged = taken;
    if (taken)
        chip_ref_count(r, SIGNAL_CONDITIONAL_TAKEN);
    for (unsigned i = 0; i < PREDICTOR_COUNT; i++) {
        const struct predictor_row *const row = &tally_predictors[i];
        if ((r->components & COMPONENT_FURTHER_PREDICTORS) != 0 &&
            r->params[row->kind] != PREDICTOR_KIND_NONE)
            decide(r, &r->beside[i], last, taken, row->not_taken, row->taken);
    }
    if (r->components & (COMPONENT_PREDICTOR | COMPONENT_LONG_PREDICTOR))
        r->misjudged =
            decide(r, &r->first, last, taken, SIGNAL_NOT_TAKEN_MISPREDICTS,
                   SIGNAL_TAKEN_MISPREDICTS);
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

/* Looks a taken branch up in the branch target buffers. */
static void
ask_btb(struct chip_ref *r, const struct block *last)
{
    const unsigned level =
        btb_ref_ask(&r->btb, last->branch_number, last->branch_pc);

    if (r->misjudged)
        return;
    if (level < r->btb.shape.levels)
        chip_ref_count(r, level == 0   ? SIGNAL_BTB1_HITS
                          : level == 1 ? SIGNAL_BTB2_HITS
                                       : SIGNAL_BTB3_HITS);
    else if (last->flags & BLOCK_INDIRECT)
        chip_ref_count(r, SIGNAL_BTB_INDIRECT_MISSES);
    else
        chip_ref_count(r, SIGNAL_BTB_RESTEERS);
    r->lost = level == BTB_NONE && (last->flags & BLOCK_INDIRECT) != 0;
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

    const bool wrong = r->ittage.shape.tables == 0
                           ? r->indirect[entry] != target
                           : ittage_ref_step(&r->ittage, last->branch_number,
                                             r->indirect[entry], target);
    if (wrong || r->lost)
        chip_ref_count(r, SIGNAL_INDIRECT_MISPREDICTS);
    r->indirect[entry] = target;
    r->path = r->path * 4 + (target / 4 ^ target / 32);
}

/* Has a target cache predict where a jump or call through a register goes. */
static void
ask_cache(struct chip_ref *r, unsigned cache, const struct block *last,
          uint64_t target)
{
    const struct target_row *row = &tally_targets[cache];
    const uint64_t reach = (uint64_t)1 << r->params[row->history];
    const uint64_t entry =
        (last->branch_number ^ r->went % reach) % r->params[row->entries];

    if (r->caches[cache][entry] != target)
        chip_ref_count(r, row->mispredicts);
    r->caches[cache][entry] = target;
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

/* The register stack as a list: of each caller's frame, what is still there. */
static uint32_t
resident(const struct chip_ref *r)
{
    uint32_t sum = 0;

    for (size_t i = 0; i < r->frame_count; i++)
        sum += r->frames[i];
    return sum;
}

static void
retire_frame(struct chip_ref *r, uint64_t current)
{
    uint64_t *n = r->signals[r->outside];
    const uint32_t there = resident(r);

    n[SIGNAL_FRAME_EVENTS]++;
    n[SIGNAL_FRAME_CURRENT_LOW] += current % 8;
    n[SIGNAL_FRAME_CURRENT_MIDDLE] += current / 8 % 8;
    n[SIGNAL_FRAME_CURRENT_HIGH] += current / 64;
    n[SIGNAL_FRAME_DIRTY_LOW] += there % 8;
    n[SIGNAL_FRAME_DIRTY_MIDDLE] += there / 8 % 8;
    n[SIGNAL_FRAME_DIRTY_HIGH] += there / 64;
}

static void
push_frame(struct chip_ref *r)
{
    const uint64_t *p = r->params;
    const uint64_t own = p[PARAM_RSE_FRAME], outs = p[PARAM_RSE_OUTPUTS];

    retire_frame(r, own);
    r->frames = reallocarray(r->frames, r->frame_count + 1, sizeof(*r->frames));
    if (r->frames == NULL)
        abort();
    r->frames[r->frame_count++] = (uint32_t)(own - outs);
    retire_frame(r, outs);
    /* One register after the other, of the oldest frame that has one. */
    size_t oldest = 0;
    for (uint32_t there = resident(r); there + own > p[PARAM_RSE_REGISTERS];
         there--) {
        while (r->frames[oldest] == 0)
            oldest++;
        r->frames[oldest]--;
        chip_ref_count(r, SIGNAL_FRAME_SPILLS);
    }
}

static void
pop_frame(struct chip_ref *r)
{
    const uint64_t *p = r->params;
    const uint64_t own = p[PARAM_RSE_FRAME], outs = p[PARAM_RSE_OUTPUTS];

    retire_frame(r, own);
    const uint64_t there = r->frame_count > 0 ? r->frames[--r->frame_count] : 0;
    r->signals[r->outside][SIGNAL_FRAME_FILLS] += own - outs - there;
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
    r->lost = false;
    if (r->btb.shape.levels != 0 &&
        (direct || (kind & (BLOCK_INDIRECT | BLOCK_RETURN))))
        ask_btb(r, last);
    if ((r->components & COMPONENT_BTC) && (direct || (kind & BLOCK_INDIRECT)))
        ask_btc(r, last, target);
    if ((r->components & COMPONENT_FAR) && (kind & BLOCK_FAR))
        ask_far(r, last);
    if ((r->components & COMPONENT_INDIRECT) && (kind & BLOCK_INDIRECT))
        ask_indirect(r, last, target);
    if (r->ittage.shape.tables != 0 &&
        (r->params[PARAM_ITTAGE_PATH] != ITTAGE_PATH_CONDITIONAL ||
         (kind & BLOCK_CONDITIONAL)) &&
        (direct || (kind & (BLOCK_INDIRECT | BLOCK_RETURN))))
        ittage_ref_add(&r->ittage, last->branch_number, target);
    for (unsigned i = 0; i < TARGET_COUNT; i++) {
        if ((r->components & COMPONENT_FURTHER_TARGETS) &&
            (kind & BLOCK_INDIRECT) && r->params[tally_targets[i].entries] != 0)
            ask_cache(r, i, last, target);
    }
    if (kind & BLOCK_INDIRECT)
        r->went = r->went * 4 + (target / 4 ^ target / 32);
    if ((r->components & COMPONENT_RETURNS) && (kind & BLOCK_CALL))
        call(r, last);
    if ((r->components & COMPONENT_RETURNS) && (kind & BLOCK_RETURN))
        come_back(r, target);
    if ((r->components & COMPONENT_FRAMES) && (kind & BLOCK_CALL))
        push_frame(r);
    if ((r->components & COMPONENT_FRAMES) && (kind & BLOCK_RETURN))
        pop_frame(r);
}
