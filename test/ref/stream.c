/* SPDX-License-Identifier: MIT */
#include "ref/stream.h"

#include <stdlib.h>
#include <string.h>

#include "machine/chip.h"
#include "ref/random.h"

#define MAX_INSNS 512
#define INSN_SIZE 4

static struct insn
random_insn(uint64_t *state)
{
    const unsigned class = (unsigned)random_below(state, CLASS_COUNT);

    return (struct insn){
        .size = INSN_SIZE,
        .class = (uint8_t)(class == CLASS_BRANCH ? CLASS_OTHER : class),
        .loads = class == CLASS_LOAD || class == CLASS_ATOMIC,
        .stores = class == CLASS_STORE || class == CLASS_ATOMIC,
    };
}

static void
close_block(struct insn *insns, size_t count, enum insn_branch kind,
            uint64_t target)
{
    insns[count - 2] = (struct insn){
        .size = INSN_SIZE,
        .class = CLASS_BRANCH,
        .branch = (uint8_t)kind,
        .flags = INSN_DELAY_SLOT,
        .target = target,
    };
}

static size_t
random_count(uint64_t *state)
{
    const size_t most = random_below(state, 16) == 0 ? MAX_INSNS : 24;

    return 2 + random_below(state, most - 2);
}

static enum insn_branch
random_branch(uint64_t *state)
{
    static const enum insn_branch kinds[] = {
        BRANCH_NONE,          BRANCH_NONE,        BRANCH_NONE,
        BRANCH_CONDITIONAL,   BRANCH_CONDITIONAL, BRANCH_CONDITIONAL,
        BRANCH_CONDITIONAL,   BRANCH_CONDITIONAL, BRANCH_JUMP,
        BRANCH_CALL,          BRANCH_CALL,        BRANCH_INDIRECT,
        BRANCH_INDIRECT_CALL, BRANCH_RETURN,      BRANCH_RETURN,
    };

    return kinds[random_below(state, sizeof(kinds) / sizeof(kinds[0]))];
}

/* A block before it is built. */
struct plan {
    uint64_t pc;
    size_t count; /* instructions */
    enum insn_branch branch;
};

static uint64_t
branch_pc(const struct plan *plan)
{
    return plan->pc + INSN_SIZE * (plan->count - 2);
}

static bool
is_call(const struct plan *plan)
{
    return plan->branch == BRANCH_CALL || plan->branch == BRANCH_INDIRECT_CALL;
}

/* After a call stands the block that it returns to. */
static void
draw_plan(struct plan *plans, size_t i, uint64_t span, uint64_t *state)
{
    struct plan *p = &plans[i];
    bool taken;

    do {
        p->count = random_count(state);
        p->branch = random_branch(state);
        p->pc = PROGRAM_AT + random_below(state, span) / 4 * 4;
        if (i > 0 && is_call(&plans[i - 1]))
            p->pc = plans[i - 1].pc + INSN_SIZE * plans[i - 1].count;
        taken = false;
        for (size_t k = 0; k < i; k++)
            taken |= branch_pc(&plans[k]) == branch_pc(p);
    } while (taken);
}

static void
build(struct program *p, const struct block_shape *shape, size_t i,
      const struct plan *plans, uint64_t *state)
{
    struct insn insns[MAX_INSNS];
    struct block_piece pieces[BLOCK_PIECES];
    const struct plan *plan = &plans[i];

    for (size_t k = 0; k < plan->count; k++)
        insns[k] = random_insn(state);
    if (plan->branch != BRANCH_NONE)
        close_block(insns, plan->count, plan->branch, plans[p->ways[2 * i]].pc);
    block_build(shape, plan->pc, insns, plan->count, &p->blocks[i], pieces);
    p->blocks[i].index = (uint32_t)i;
    p->infos[i] = pieces[0].info;
}

static void *
allocate(size_t count, size_t size)
{
    void *memory = aligned_alloc(64, (count * size + 63) / 64 * 64);

    if (memory == NULL)
        abort();
    return memory;
}

/* Most ways lead to a neighbour, so that there are loops. */
static size_t
random_way(const struct program *p, size_t i, uint64_t *state)
{
    if (random_below(state, 8) == 0)
        return random_below(state, p->count);
    return (i + p->count + random_below(state, 7) - 3) % p->count;
}

void
program_init(struct program *p, const uint64_t *params, size_t count,
             uint64_t span, uint64_t *state)
{
    struct block_shape shape = {
        .isa = &isa_rows[ISA_SPARC64],
        .page = 8192,
        .l1i_line = params[PARAM_L1I_LINE],
        .l1i_slots = chip_fetch_slots(params),
        .layout = chip_layout(params),
        .from = NO_LINE,
        .to = NO_LINE,
    };
    struct plan *plans = allocate(count, sizeof(*plans));

    branch_shape(params, &shape);
    p->count = count;
    p->blocks = allocate(count, sizeof(*p->blocks));
    p->infos = allocate(count, sizeof(*p->infos));
    p->ways = allocate(2 * count, sizeof(*p->ways));
    for (size_t i = 0; i < count; i++) {
        draw_plan(plans, i, span, state);
        p->ways[2 * i] = random_way(p, i, state);
        p->ways[2 * i + 1] =
            is_call(&plans[i]) ? (i + 1) % count : random_way(p, i, state);
    }
    for (size_t i = 0; i < count; i++)
        build(p, &shape, i, plans, state);
    free(plans);
}

void
program_finish(struct program *p)
{
    free(p->blocks);
    free(p->infos);
    free(p->ways);
    memset(p, 0, sizeof(*p));
}

void
stream_init(struct stream *s, const struct program *program,
            const uint64_t *params, uint64_t seed)
{
    *s = (struct stream){
        .program = program,
        .params = params,
        .state = seed,
        .stride = 8,
    };
}

/* To the block after the last call; sometimes by another way, past calls. */
static size_t
way_back(struct stream *s)
{
    if (s->depth == 0 || random_below(&s->state, 16) == 0)
        return s->program->ways[2 * s->at];
    if (s->depth > 1 && random_below(&s->state, 32) == 0)
        s->depth--;
    return s->program->ways[2 * s->calls[--s->depth] + 1];
}

/* Each block has a direction that it mostly takes. */
static size_t
next_block(struct stream *s)
{
    const bool rare = random_below(&s->state, 8) == 0;
    const uint32_t kind = s->program->blocks[s->at].flags;
    size_t way = (s->at & 1) ^ rare;

    if (kind & BLOCK_RETURN)
        return way_back(s);
    if (kind & (BLOCK_JUMP | BLOCK_CALL))
        way = kind & BLOCK_INDIRECT && rare;
    if ((kind & BLOCK_CALL) && s->depth < STREAM_CALLS)
        s->calls[s->depth++] = s->at;
    return s->program->ways[2 * s->at + way];
}

const struct block *
stream_block(struct stream *s)
{
    s->at = next_block(s);
    return &s->program->blocks[s->at];
}

static void
change_habit(struct stream *s)
{
    s->habit = (enum data_habit)random_below(&s->state, DATA_HABITS);
    s->cursor = random_below(&s->state, 1 << 26);
    s->stride = random_below(&s->state, 2 * s->params[PARAM_TLB_PAGE]);
}

static uint64_t
stream_offset(struct stream *s)
{
    switch (s->habit) {
    case DATA_STACK:
        return s->cursor + random_below(&s->state, 256);
    case DATA_SMALL:
        return random_below(&s->state, 2 * s->params[PARAM_L1D_SIZE]);
    case DATA_LARGE:
        return random_below(&s->state, 1 << 26);
    default:
        s->cursor += s->stride;
        return s->cursor % (1 << 24);
    }
}

/* Loads and stores may stand anywhere, atomics are aligned. */
struct access
stream_access(struct stream *s)
{
    struct access a = {.size = 1u << random_below(&s->state, 4)};
    const uint64_t kind = random_below(&s->state, 32);
    const bool passes = s->params[PARAM_L1D_FLOAT] == L1D_FLOAT_PASSED;

    if (random_below(&s->state, 500) == 0)
        change_habit(s);
    a.addr = PROGRAM_DATA_AT + stream_offset(s);
    a.kind = kind == 0             ? ACCESS_IS_ATOMIC
             : kind < 12           ? ACCESS_IS_STORE
             : kind < 14           ? ACCESS_IS_BULK
             : kind < 18 && passes ? ACCESS_IS_FLOAT
             : kind < 21           ? ACCESS_IS_NEAR
             : kind < 23           ? ACCESS_IS_FAR
                                   : ACCESS_IS_LOAD;
    if (a.kind == ACCESS_IS_ATOMIC || kind % 2 == 0)
        a.addr = a.addr / a.size * a.size;
    return a;
}
