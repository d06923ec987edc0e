/* SPDX-License-Identifier: MIT */
#include "machine/branch.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "table/table.h"

/* The first predictor is of the same kinds as those beside it. */
static_assert((int)BRANCH_PREDICTOR_NOT_TAKEN == (int)PREDICTOR_KIND_NONE &&
                  (int)BRANCH_PREDICTOR_BIMODAL ==
                      (int)PREDICTOR_KIND_BIMODAL &&
                  (int)BRANCH_PREDICTOR_GSHARE == (int)PREDICTOR_KIND_GSHARE &&
                  (int)BRANCH_PREDICTOR_PERCEPTRON ==
                      (int)PREDICTOR_KIND_PERCEPTRON &&
                  (int)BRANCH_PREDICTOR_TAGE == (int)PREDICTOR_KIND_TAGE,
              "one enumeration for both");

/* Returns whether a predictor of the kind is not of two-bit counters. */
static bool
is_long(uint64_t kind)
{
    return kind == PREDICTOR_KIND_PERCEPTRON || kind == PREDICTOR_KIND_TAGE;
}

/* What closes a block whose branch the tables with tags have in their path. */
#define BLOCKS_TAKEN                                                           \
    ((uint32_t)(BLOCK_CONDITIONAL | BLOCK_JUMP | BLOCK_CALL | BLOCK_INDIRECT | \
                BLOCK_RETURN))

/* Returns whether predictors are told of conditional branches by
 * targets_ask(), so that those that are not taken come there too. Behind branch
 * target buffers two-bit counters are, too: the buffers ask what was foretold.
 */
static bool
judges_all(const uint64_t *params)
{
    const uint64_t kind = params[PARAM_BRANCH_PREDICTOR];
    bool judges = is_long(kind) || (params[PARAM_BTB1_ENTRIES] != 0 &&
                                    kind != BRANCH_PREDICTOR_NOT_TAKEN);

    for (unsigned i = 0; i < PREDICTOR_COUNT; i++)
        judges |= params[tally_predictors[i].kind] != PREDICTOR_KIND_NONE;
    return judges;
}

void
branch_shape(const uint64_t *params, struct block_shape *shape)
{
    shape->branch_mask = params[PARAM_BRANCH_ENTRIES] - 1;
    shape->btc_ways = (uint32_t)params[PARAM_BTC_WAYS];
    shape->btc_sets =
        (uint32_t)(params[PARAM_BTC_ENTRIES] / params[PARAM_BTC_WAYS]);
    shape->far_reach =
        params[PARAM_FAR_ENTRIES] != 0 ? params[PARAM_FAR_REACH] : 0;
    shape->return_stack = params[PARAM_RETURN_DEPTH] != 0;
    shape->judges_all = judges_all(params);
}

/* Returns which branches, newest lowest, the number of a two-bit counter
 * depends on: as many as `history`, and as the number has bits. */
static uint64_t
history_mask(uint64_t kind, uint64_t counters, uint64_t history)
{
    if (kind != PREDICTOR_KIND_GSHARE)
        return 0;
    return history < 63 && (uint64_t)1 << history < counters
               ? ((uint64_t)1 << history) - 1
               : counters - 1;
}

uint64_t
branch_history_mask(const uint64_t *params)
{
    return history_mask(params[PARAM_BRANCH_PREDICTOR],
                        params[PARAM_BRANCH_ENTRIES],
                        params[PARAM_BRANCH_HISTORY]);
}

/* Returns whether tables with tags stand behind the indirect table. */
static bool
has_ittage(const uint64_t *params, uint64_t components)
{
    return (components & COMPONENT_INDIRECT) != 0 &&
           params[PARAM_INDIRECT_ENTRIES] != 0 &&
           params[PARAM_INDIRECT_PREDICTOR] == INDIRECT_PREDICTOR_ITTAGE;
}

/* Sets up the tables with tags behind the indirect table, if there are any.
 * Returns 0 or TALLY_ENOMEM. */
static int
init_ittage(struct targets *t, const uint64_t *params, uint64_t components)
{
    const struct ittage_shape shape = ittage_shape_of(params);

    if (!has_ittage(params, components))
        return 0;
    t->ittage = ittage_create(&shape);
    t->ittage_path = params[PARAM_ITTAGE_PATH] == ITTAGE_PATH_CONDITIONAL
                         ? (uint32_t)BLOCK_CONDITIONAL
                         : BLOCKS_TAKEN;
    return t->ittage != NULL ? 0 : TALLY_ENOMEM;
}

/* Sets up the branch target buffers, where they run. Returns 0 or
 * TALLY_ENOMEM. */
static int
init_btb(struct targets *t, const uint64_t *params, uint64_t components)
{
    const struct btb_shape shape = btb_shape_of(params);

    if ((components & COMPONENT_BTB) == 0 || shape.levels == 0)
        return 0;
    t->btb = btb_create(&shape);
    return t->btb != NULL ? 0 : TALLY_ENOMEM;
}

static uint64_t *
take(uint64_t **next, uint64_t words)
{
    uint64_t *table = *next;

    *next += words;
    return table;
}

/* Adds a predictor of the kind and size that its parameters say. Returns false:
 * there is no memory. */
static bool
add_predictor(struct targets *t, const struct predictor_row *row,
              const uint64_t *params)
{
    const uint64_t kind = params[row->kind], entries = params[row->entries];
    const uint64_t history = params[row->history];
    struct predictor *const p = &t->predictors[t->predictor_count++];

    *p = (struct predictor){.not_taken = row->not_taken, .taken = row->taken};
    if (kind == PREDICTOR_KIND_TAGE) {
        p->tage = tage_create(
            entries > TAGE_COUNTERS_LEAST ? entries : TAGE_COUNTERS_LEAST,
            (unsigned)history);
        return p->tage != NULL;
    }
    if (kind == PREDICTOR_KIND_PERCEPTRON) {
        p->perceptrons = perceptrons_create(entries, (unsigned)history);
        return p->perceptrons != NULL;
    }
    p->mask = entries - 1;
    p->history_mask = history_mask(kind, entries, history);
    p->counters = malloc(entries);
    return p->counters != NULL;
}

/* Sets up the first predictor, if it is asked here, and those beside it, where
 * they run. Returns 0 or TALLY_ENOMEM; targets_finish() frees what there is. */
static int
init_predictors(struct targets *t, const uint64_t *params, uint64_t components)
{
    static const struct predictor_row first = {
        .kind = PARAM_BRANCH_PREDICTOR,
        .entries = PARAM_BRANCH_ENTRIES,
        .history = PARAM_BRANCH_HISTORY,
        .not_taken = SIGNAL_NOT_TAKEN_MISPREDICTS,
        .taken = SIGNAL_TAKEN_MISPREDICTS,
    };

    t->predictors = calloc(PREDICTOR_COUNT + 1, sizeof(*t->predictors));
    bool room = t->predictors != NULL;
    if (room && (components & COMPONENT_LONG_PREDICTOR)) {
        room = add_predictor(t, &first, params);
        t->foretells = true;
    }
    if ((components & COMPONENT_FURTHER_PREDICTORS) == 0)
        return room ? 0 : TALLY_ENOMEM;
    for (unsigned i = 0; room && i < PREDICTOR_COUNT; i++) {
        if (params[tally_predictors[i].kind] != PREDICTOR_KIND_NONE)
            room = add_predictor(t, &tally_predictors[i], params);
    }
    return room ? 0 : TALLY_ENOMEM;
}

static void
reset_predictor(struct predictor *p)
{
    if (p->tage != NULL)
        tage_reset(p->tage);
    else if (p->perceptrons != NULL)
        perceptrons_reset(p->perceptrons);
    else
        memset(p->counters, COUNTER_START, p->mask + 1);
    p->history = 0;
}

/* Sets up the target caches beside the indirect table, where they run. Returns
 * 0 or TALLY_ENOMEM; targets_finish() frees what there is. */
static int
init_caches(struct targets *t, const uint64_t *params, uint64_t components)
{
    if ((components & COMPONENT_FURTHER_TARGETS) == 0)
        return 0;
    t->caches = calloc(TARGET_COUNT + 1, sizeof(*t->caches));
    for (unsigned i = 0; i < TARGET_COUNT; i++)
        t->cache_size += params[tally_targets[i].entries];
    t->cache_memory = malloc((t->cache_size + 1) * sizeof(*t->cache_memory));
    if (t->caches == NULL || t->cache_memory == NULL)
        return TALLY_ENOMEM;

    uint64_t *next = t->cache_memory;
    for (unsigned i = 0; i < TARGET_COUNT; i++) {
        const struct target_row *row = &tally_targets[i];
        if (params[row->entries] == 0)
            continue;
        t->caches[t->cache_count++] = (struct target_cache){
            .targets = take(&next, params[row->entries]),
            .mask = params[row->entries] - 1,
            .history_mask = ((uint64_t)1 << params[row->history]) - 1,
            .mispredicts = row->mispredicts,
        };
    }
    return 0;
}

int
targets_init(struct targets *t, const uint64_t *params, uint64_t components)
{
    const uint64_t btc =
        components & COMPONENT_BTC ? params[PARAM_BTC_ENTRIES] : 0;
    const uint64_t entries =
        params[PARAM_BTC_ENTRIES] != 0 ? params[PARAM_BTC_ENTRIES] : 1;
    const uint64_t far =
        components & COMPONENT_FAR ? params[PARAM_FAR_ENTRIES] : 0;
    const uint64_t indirect =
        components & COMPONENT_INDIRECT ? params[PARAM_INDIRECT_ENTRIES] : 0;
    const uint64_t depth =
        components & COMPONENT_RETURNS ? params[PARAM_RETURN_DEPTH] : 0;

    memset(t, 0, sizeof(*t));
    t->judges_all = judges_all(params);
    t->size = 2 * entries + far + indirect + depth;
    t->has_frames = (components & COMPONENT_FRAMES) != 0;
    if (init_predictors(t, params, components) != 0 ||
        init_caches(t, params, components) != 0 ||
        init_ittage(t, params, components) != 0 ||
        init_btb(t, params, components) != 0) {
        targets_finish(t);
        return TALLY_ENOMEM;
    }
    if (btc + far + indirect + depth == 0 && !t->has_frames &&
        t->predictor_count + t->cache_count == 0 && t->btb == NULL) {
        t->size = 0;
        return 0;
    }
    t->memory = malloc(t->size * sizeof(*t->memory));
    if (t->memory == NULL) {
        targets_finish(t);
        return TALLY_ENOMEM;
    }

    uint64_t *next = t->memory;
    uint64_t *quick = take(&next, entries);
    uint64_t *quick_targets = take(&next, entries);
    t->quick = quick;
    t->quick_targets = quick_targets;
    if (btc != 0) {
        t->kinds |=
            BLOCK_CONDITIONAL | BLOCK_JUMP | BLOCK_CALL | BLOCK_INDIRECT;
        t->btc = quick;
        t->btc_targets = quick_targets;
        t->btc_ways = (uint32_t)params[PARAM_BTC_WAYS];
    }
    if (far != 0) {
        t->kinds |= BLOCK_FAR;
        t->far = take(&next, far);
        t->far_mask = far - 1;
    }
    if (indirect != 0) {
        t->kinds |= BLOCK_INDIRECT;
        t->indirect = take(&next, indirect);
        t->indirect_mask = indirect - 1;
        t->history_mask = ((uint64_t)1 << params[PARAM_INDIRECT_HISTORY]) - 1;
    }
    if (depth != 0) {
        t->kinds |= BLOCK_CALL | BLOCK_RETURN;
        t->returns = take(&next, depth);
        t->depth = (uint32_t)depth;
    }
    if (t->has_frames) {
        t->kinds |= BLOCK_CALL | BLOCK_RETURN;
        frames_init(&t->frames, params);
    }
    t->more = t->kinds;
    if (btc != 0)
        t->more &= ~(uint32_t)(BLOCK_CONDITIONAL | BLOCK_JUMP);
    if (btc != 0 && far + indirect + depth == 0 && !t->has_frames)
        t->more = 0;
    if (t->predictor_count != 0) {
        t->kinds |= BLOCK_CONDITIONAL;
        t->more |= BLOCK_CONDITIONAL;
    }
    if (t->cache_count != 0) {
        t->kinds |= BLOCK_INDIRECT;
        t->more |= BLOCK_INDIRECT;
    }
    if (t->ittage != NULL || t->btb != NULL) {
        t->kinds |= BLOCKS_TAKEN;
        t->more |= BLOCKS_TAKEN;
    }
    t->beside = t->predictor_count + t->cache_count != 0 || t->judges_all ||
                t->ittage != NULL || t->btb != NULL;
    targets_reset(t);
    return 0;
}

void
targets_reset(struct targets *t)
{
    for (size_t i = 0; i < t->size; i++)
        t->memory[i] = NO_LINE;
    for (unsigned i = 0; i < t->predictor_count; i++)
        reset_predictor(&t->predictors[i]);
    for (size_t i = 0; i < t->cache_size; i++)
        t->cache_memory[i] = NO_LINE;
    for (unsigned i = 0; i < t->cache_count; i++)
        t->caches[i].history = 0;
    if (t->ittage != NULL)
        ittage_reset(t->ittage);
    if (t->btb != NULL)
        btb_reset(t->btb);
    t->late = 0;
    t->history = 0;
    t->top = t->held = 0;
    frames_reset(&t->frames);
}

void
targets_finish(struct targets *t)
{
    for (unsigned i = 0; i < t->predictor_count; i++) {
        tage_destroy(t->predictors[i].tage);
        perceptrons_destroy(t->predictors[i].perceptrons);
        free(t->predictors[i].counters);
    }
    ittage_destroy(t->ittage);
    btb_destroy(t->btb);
    free(t->memory);
    free(t->predictors);
    free(t->caches);
    free(t->cache_memory);
    memset(t, 0, sizeof(*t));
}

static void
ask_btc(struct targets *t, uint64_t *total, const struct block *last,
        uint64_t target)
{
    uint64_t *branches = t->btc + last->btc;
    uint64_t *targets = t->btc_targets + last->btc;
    uint64_t branch = last->branch_pc, to = target;
    uint32_t way = 0;
    bool hit = false;

    while (way < t->btc_ways && !hit) {
        const uint64_t old = branches[way];
        const uint64_t old_target = targets[way];
        branches[way] = branch;
        targets[way++] = to;
        branch = old;
        to = old_target;
        hit = branch == last->branch_pc;
    }
    if (!hit)
        total[SIGNAL_BTC_MISSES]++;
    else if (last->flags & BLOCK_INDIRECT)
        total[SIGNAL_BTC_MISPREDICTS] += to != target;
}

static void
ask_far(struct targets *t, uint64_t *total, const struct block *last)
{
    uint64_t *branch = &t->far[last->branch_number & t->far_mask];

    total[SIGNAL_FAR_MISPREDICTS] += *branch != last->branch_pc;
    *branch = last->branch_pc;
}

/* Returns the history of targets behind a jump or call to `target`. Targets are
 * often 4 or 32 bytes apart: both kinds of distance count. */
static uint64_t
history_behind(const struct targets *t, uint64_t history, uint64_t target)
{
    const uint64_t number = layout_branch(t->layout, target);

    return history * 4 + (number >> 2 ^ number >> 5);
}

/* Returns the entry of the indirect table that predicts a branch. */
static inline uint64_t *
indirect_entry(const struct targets *t, const struct block *last)
{
    return &t->indirect[(last->branch_number ^ t->history) & t->indirect_mask];
}

/* Has the indirect table learn a target. Returns what it predicted. */
static inline uint64_t
exchange_indirect(struct targets *t, const struct block *last, uint64_t target)
{
    uint64_t *entry = indirect_entry(t, last);
    const uint64_t predicted = *entry;

    *entry = target;
    t->history = history_behind(t, t->history, target) & t->history_mask;
    return predicted;
}

static void
ask_indirect(struct targets *t, uint64_t *total, const struct block *last,
             uint64_t target)
{
    total[SIGNAL_INDIRECT_MISPREDICTS] +=
        exchange_indirect(t, last, target) != target;
}

/* Has the tables with tags predict a jump or call through a register, and take
 * a taken branch into their path where that has branches of its kind. `lost`:
 * no branch target buffer has the branch, so that nothing was foretold. */
static void
ask_ittage(struct targets *t, uint64_t *total, const struct block *last,
           uint64_t target, bool lost)
{
    const uint64_t branch = last->branch_number;

    if (last->flags & BLOCK_INDIRECT) {
        const uint64_t base = exchange_indirect(t, last, target);
        total[SIGNAL_INDIRECT_MISPREDICTS] +=
            ittage_step(t->ittage, branch, base, target) || lost;
    }
    if (last->flags & t->ittage_path)
        ittage_add(t->ittage, branch, layout_branch(t->layout, target));
}

/* Past the call and its delay slot, which may wait on the next page. */
static uint64_t
return_address(const struct block *call)
{
    return call->end + (call->flags & BLOCK_PENDING ? 4 : 0);
}

static void
push_return(struct targets *t, uint64_t address)
{
    t->top = t->top + 1 == t->depth ? 0 : t->top + 1;
    t->returns[t->top] = address;
    t->held += t->held < t->depth;
}

void
targets_returned(struct targets *t)
{
    if (t->held == 0)
        return;
    t->top = t->top == 0 ? t->depth - 1 : t->top - 1;
    t->held--;
}

static void
pop_return(struct targets *t, uint64_t *total, uint64_t target)
{
    if (t->held == 0) {
        total[SIGNAL_RETURN_MISPREDICTS]++;
        return;
    }
    total[SIGNAL_RETURN_MISPREDICTS] += t->returns[t->top] != target;
    targets_returned(t);
}

/* Has two-bit counters predict a branch, as strand_direction() does. Returns
 * whether the prediction was wrong. */
static bool
counters_step(struct predictor *p, uint64_t branch, uint64_t taken)
{
    uint8_t *const at = &p->counters[(branch & p->mask) ^ p->history];
    const uint64_t next = COUNTER_NEXT >> (*at + taken * 8);

    p->history = (p->history * 2 + taken) & p->history_mask;
    *at = next & COUNTER_STATES;
    return next & 1;
}

/* Has each predictor that is asked here predict a conditional branch. Returns
 * whether the first predictor foretold the direction. */
static bool
ask_predictors(struct targets *t, uint64_t *total, const struct block *last,
               bool taken)
{
    const uint64_t branch = last->branch_number;
    bool foretold = false;

    for (unsigned i = 0; i < t->predictor_count; i++) {
        struct predictor *const p = &t->predictors[i];
        const bool wrong = p->tage != NULL ? tage_step(p->tage, branch, taken)
                           : p->perceptrons != NULL
                               ? perceptrons_step(p->perceptrons, branch, taken)
                               : counters_step(p, branch, taken);
        total[taken ? p->taken : p->not_taken] += wrong;
        foretold |= i == 0 && t->foretells && !wrong;
    }
    return foretold;
}

/* Has each target cache predict a jump or call through a register, as
 * ask_indirect() does. */
static void
ask_caches(struct targets *t, uint64_t *total, const struct block *last,
           uint64_t target)
{
    for (unsigned i = 0; i < t->cache_count; i++) {
        struct target_cache *c = &t->caches[i];
        uint64_t *entry =
            &c->targets[(last->branch_number ^ c->history) & c->mask];
        total[c->mispredicts] += *entry != target;
        *entry = target;
        c->history = history_behind(t, c->history, target) & c->history_mask;
    }
}

/* Has the branch target buffers learn a taken branch, and counts which level
 * has it, if it was `foretold` that the branch is taken: else the front end has
 * not asked for its target. Returns whether it is a jump or call through a
 * register that no level has, which is predicted wrong. */
static bool
ask_btb(struct targets *t, uint64_t *total, const struct block *last,
        bool foretold)
{
    static const uint16_t found[BTB_NONE + 1] = {
        SIGNAL_BTB1_HITS, SIGNAL_BTB2_HITS, SIGNAL_BTB3_HITS,
        SIGNAL_BTB_RESTEERS};
    const unsigned level =
        btb_ask(t->btb, last->branch_number, last->branch_pc);

    if (!foretold)
        return false;
    if (level == BTB_NONE && (last->flags & BLOCK_INDIRECT) != 0) {
        total[SIGNAL_BTB_INDIRECT_MISSES]++;
        return true;
    }
    total[found[level]]++;
    t->late = (uint8_t)level;
    return false;
}

/* Asks the predictors, the branch target buffers, the target caches that stand
 * beside the first, and the tables with tags. Returns whether the branch is a
 * conditional one that was not taken, so that no table of targets is to be
 * asked. */
static __attribute__((noinline)) bool
ask_beside(struct targets *t, uint64_t *total, const struct block *last,
           uint64_t target)
{
    const bool conditional = (last->flags & BLOCK_CONDITIONAL) != 0;
    bool foretold = true, lost = false;

    if (conditional)
        foretold = ask_predictors(t, total, last, target == last->taken_pc);
    if (conditional && target != last->taken_pc)
        return true;
    if (t->btb != NULL)
        lost = ask_btb(t, total, last, foretold);
    if (last->flags & BLOCK_INDIRECT)
        ask_caches(t, total, last, target);
    if (t->ittage != NULL)
        ask_ittage(t, total, last, target, lost);
    else if (lost && t->indirect != NULL)
        /* The indirect table, which is asked next, counts its own errors. */
        total[SIGNAL_INDIRECT_MISPREDICTS] +=
            *indirect_entry(t, last) == target;
    return false;
}

void
targets_ask(struct targets *t, uint64_t *total, const struct block *last,
            uint64_t target)
{
    const uint32_t flags = last->flags;

    if (__builtin_expect(t->beside, 0) && ask_beside(t, total, last, target))
        return;
    if (t->btc != NULL && (flags & BLOCK_RETURN) == 0)
        ask_btc(t, total, last, target);
    if (t->far != NULL && (flags & BLOCK_FAR) != 0)
        ask_far(t, total, last);
    if (t->indirect != NULL && t->ittage == NULL &&
        (flags & BLOCK_INDIRECT) != 0)
        ask_indirect(t, total, last, target);
    if (t->returns != NULL && (flags & BLOCK_CALL) != 0)
        push_return(t, return_address(last));
    if (t->returns != NULL && (flags & BLOCK_RETURN) != 0)
        pop_return(t, total, target);
    if (t->has_frames && (flags & BLOCK_CALL) != 0)
        frames_call(&t->frames, total);
    if (t->has_frames && (flags & BLOCK_RETURN) != 0)
        frames_return(&t->frames, total);
}
