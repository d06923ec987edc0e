/* SPDX-License-Identifier: MIT */
#include "timing/ooo_block.h"

#include <assert.h>

#include "table/table.h"

/* The kinds of units: those of operations, and those of loads and stores. What
 * loads or stores a vector register is of two kinds. */
enum unit {
    UNIT_LOAD = OPERATION_COUNT,
    UNIT_STORE,
    UNIT_LOAD_VECTOR,
    UNIT_STORE_VECTOR,
    UNIT_COUNT
};

/* The parameters of a kind of unit; PARAM_COUNT: it has none. */
struct unit_costs {
    uint16_t latency, units, busy;
};

/* An instruction waits for as many registers at most, the first that it reads,
 * and as many wait for it: VZEROALL changes 16, and no other so many. */
#define READS_MOST 8u
#define CHANGES_MOST 16u

static_assert(READS_MOST - 2 + 1 + (CHANGES_MOST - 2) / 2 + 1 <= OOO_OPS_MOST,
              "gathered, executed, passed on, the base written back");

#define FULL(unit, key) \
    [unit] = {PARAM_LATENCY_##key, PARAM_UNITS_##key, PARAM_COUNT}
#define BUSY(unit, key) \
    [unit] = {PARAM_LATENCY_##key, PARAM_UNITS_##key, PARAM_BUSY_##key}

static const struct unit_costs unit_costs[UNIT_COUNT] = {
    [OPERATION_NONE] = {PARAM_COUNT, PARAM_COUNT, PARAM_COUNT},
    FULL(OPERATION_ALU, ALU),
    FULL(OPERATION_BITS, BITS),
    FULL(OPERATION_MUL, MUL),
    BUSY(OPERATION_DIV, DIV),
    BUSY(OPERATION_DIV64, DIV64),
    FULL(OPERATION_BRANCH, BRANCH),
    FULL(OPERATION_FADD, FADD),
    FULL(OPERATION_FMUL, FMUL),
    FULL(OPERATION_FMA, FMA),
    BUSY(OPERATION_FDIV, FDIV),
    BUSY(OPERATION_FSQRT, FSQRT),
    FULL(OPERATION_CONVERT, CONVERT),
    FULL(OPERATION_VECTOR, VECTOR),
    FULL(OPERATION_VMUL, VMUL),
    FULL(OPERATION_SHUFFLE, SHUFFLE),
    FULL(OPERATION_TRANSFER, TRANSFER),
    BUSY(OPERATION_ATOMIC, ATOMIC),
    BUSY(OPERATION_SLOW, SLOW),
    FULL(UNIT_LOAD, LOAD),
    [UNIT_STORE] = {PARAM_COUNT, PARAM_UNITS_STORE, PARAM_COUNT},
    [UNIT_LOAD_VECTOR] = {PARAM_COUNT, PARAM_UNITS_LOAD_VECTOR, PARAM_COUNT},
    [UNIT_STORE_VECTOR] = {PARAM_COUNT, PARAM_UNITS_STORE_VECTOR, PARAM_COUNT},
};

/* The kinds of units of which each operation takes a place. */
static const uint8_t placed_units[OPERATION_COUNT] = {
    [OPERATION_BITS] = OOO_UNIT_BITS,
    [OPERATION_MUL] = OOO_UNIT_MUL,
    [OPERATION_FADD] = OOO_UNIT_FADD,
    [OPERATION_FMUL] = OOO_UNIT_FMUL,
    [OPERATION_FMA] = OOO_UNIT_FMA,
    [OPERATION_CONVERT] = OOO_UNIT_CONVERT,
    [OPERATION_VMUL] = OOO_UNIT_VMUL,
    [OPERATION_SHUFFLE] = OOO_UNIT_SHUFFLE,
    [OPERATION_TRANSFER] = OOO_UNIT_TRANSFER,
};

uint64_t
ooo_units(const uint64_t *params, enum ooo_unit unit)
{
    unsigned operation = 0;

    while (placed_units[operation] != unit)
        operation++;
    return params[unit_costs[operation].units];
}

#define OF(unit) ((uint64_t)1 << (unit))
#define INTEGERS                                                  \
    (OF(OPERATION_ALU) | OF(OPERATION_BITS) | OF(OPERATION_MUL) | \
     OF(OPERATION_DIV) | OF(OPERATION_DIV64) | OF(OPERATION_BRANCH))
#define FLOATS                                                          \
    (OF(OPERATION_FADD) | OF(OPERATION_FMUL) | OF(OPERATION_FMA) |      \
     OF(OPERATION_FDIV) | OF(OPERATION_FSQRT) | OF(OPERATION_CONVERT) | \
     OF(OPERATION_VECTOR) | OF(OPERATION_VMUL) | OF(OPERATION_SHUFFLE))

/* Kinds of units that share what begins their operations. */
static const struct {
    uint64_t kinds;
    uint16_t most; /* the parameter: of all of them, in a cycle */
} shared_units[] = {
    {OF(UNIT_LOAD) | OF(UNIT_STORE), PARAM_UNITS_MEMORY},
    {INTEGERS, PARAM_UNITS_INTEGER},
    {FLOATS, PARAM_UNITS_FLOAT},
    {INTEGERS | FLOATS | OF(OPERATION_TRANSFER), PARAM_UNITS_EXECUTION},
};

size_t
ooo_block_size(size_t ops)
{
    return sizeof(struct ooo_block) + ops * sizeof(struct ooo_op);
}

/* Takes a register out of the set; `other` stands for none. */
static uint8_t
take(uint64_t *registers, uint8_t other)
{
    const uint64_t left = *registers;

    *registers = left & (left - 1);
    return left != 0 ? (uint8_t)__builtin_ctzll(left) : other;
}

/* Returns how long the units of a kind need for so many operations. */
static uint64_t
time_of_units(const uint64_t *params, unsigned unit, uint64_t operations)
{
    const struct unit_costs *const c = &unit_costs[unit];

    if (c->units == PARAM_COUNT)
        return 0;
    const uint64_t busy = c->busy == PARAM_COUNT ? 1 : params[c->busy];
    return operations * busy * OOO_CYCLE / params[c->units];
}

/* Returns how long all units need for so many operations of each kind. */
static uint64_t
time_of_all_units(const uint64_t *params, const uint64_t *used)
{
    uint64_t most = 0;

    for (unsigned unit = 0; unit < UNIT_COUNT; unit++) {
        const uint64_t time = time_of_units(params, unit, used[unit]);
        most = time > most ? time : most;
    }
    for (size_t i = 0; i < sizeof(shared_units) / sizeof(*shared_units); i++) {
        uint64_t operations = 0;
        for (unsigned unit = 0; unit < UNIT_COUNT; unit++)
            operations +=
                (shared_units[i].kinds & OF(unit)) != 0 ? used[unit] : 0;
        const uint64_t time =
            operations * OOO_CYCLE / params[shared_units[i].most];
        most = time > most ? time : most;
    }
    return most;
}

/* The iterations of a REP string instruction are blocks of their own. A core
 * moves rep.bytes in a cycle, and no iteration waits for another. */
static uint64_t
time_of_repeated(const uint64_t *params, const struct insn *insn)
{
    const uint64_t size = insn->access_size != 0 ? insn->access_size : 1;

    return size * OOO_CYCLE / params[PARAM_REP_BYTES];
}

/* Whether the core makes one micro-operation of a conditional branch and of
 * what has set the flags before it. */
static bool
fuses(const uint64_t *params, const struct insn_operands *setter,
      const struct insn_operands *branch)
{
    const enum flag_setter sets = (enum flag_setter)setter->sets;
    const enum flag_condition asks = (enum flag_condition)branch->asks;

    if (sets == SETS_NONE || asks == ASKS_NONE)
        return false;
    switch (params[PARAM_FUSION]) {
    case FUSION_COMPARE:
        return sets == SETS_TEST || sets == SETS_COMPARE;
    case FUSION_ARITHMETIC:
        return true;
    case FUSION_CONDITION:
        if (sets == SETS_TEST || sets == SETS_AND)
            return true;
        if (sets == SETS_COMPARE || sets == SETS_SUM)
            return asks != ASKS_OTHER;
        return sets == SETS_STEP && asks == ASKS_SIGNED;
    default:
        return false;
    }
}

static struct ooo_op
empty_op(size_t instruction, uint64_t offset)
{
    return (struct ooo_op){
        .address = {OOO_THERE, OOO_THERE},
        .reads = {OOO_THERE, OOO_THERE},
        .changes = {OOO_NOWHERE, OOO_NOWHERE},
        .base = OOO_THERE,
        .offset = (uint32_t)offset,
        .instruction = (uint16_t)instruction,
    };
}

static void
set_base(struct ooo_op *op, const struct insn *insn)
{
    if (!insn->addr_known || insn->addr_base == INSN_NO_REG ||
        insn->addr_index != INSN_NO_REG ||
        insn->addr_disp != (int32_t)insn->addr_disp)
        return;
    op->base = (uint8_t)insn->addr_base;
    op->disp = (int32_t)insn->addr_disp;
}

/* Returns the first `most` registers of a set. */
static uint64_t
first_of(uint64_t registers, unsigned most)
{
    uint64_t rest = registers;

    for (unsigned i = 0; i < most; i++)
        rest &= rest - 1;
    return registers & ~rest;
}

/* Adds operations that gather what an instruction reads, until one operation
 * can read the rest. Returns the register that has what they gathered. */
static uint8_t
gather(struct ooo_block *block, uint64_t *reads, size_t i, uint64_t offset)
{
    uint8_t gathered = OOO_THERE;

    while (__builtin_popcountll(*reads) > (gathered == OOO_THERE ? 2 : 1)) {
        struct ooo_op more = empty_op(i, offset);
        more.reads[0] =
            gathered == OOO_THERE ? take(reads, OOO_THERE) : gathered;
        more.reads[1] = take(reads, OOO_THERE);
        more.changes[0] = gathered = OOO_PASSED;
        block->ops[block->count++] = more;
    }
    return gathered;
}

/*
 * Adds the operations of an instruction. One operation reads two registers and
 * changes two. Before it others gather what else the instruction reads, and
 * behind it others pass its result on. A branch that is `fused` with what sets
 * the flags executes with that.
 */
static void
add_ops(struct ooo_block *block, const uint64_t *params,
        const struct insn *insn, const struct insn_operands *o, size_t i,
        uint64_t offset, bool fused)
{
    const uint16_t latency =
        fused ? PARAM_COUNT : unit_costs[o->operation].latency;
    const uint16_t load =
        o->vector ? PARAM_LATENCY_LOAD_VECTOR : PARAM_LATENCY_LOAD;
    uint64_t reads = first_of(o->reads, READS_MOST);
    uint64_t changes = first_of(o->changes, CHANGES_MOST);
    uint64_t address = o->address;
    const uint8_t gathered = gather(block, &reads, i, offset);
    struct ooo_op op = empty_op(i, offset);

    op.reads[0] = gathered == OOO_THERE ? take(&reads, OOO_THERE) : gathered;
    op.reads[1] = take(&reads, OOO_THERE);
    if (o->loads) {
        op.address[0] = take(&address, OOO_THERE);
        op.address[1] = take(&address, OOO_THERE);
        op.load = (uint32_t)(params[load] * OOO_CYCLE);
        if (insn->addr_known && insn->addr_index != INSN_NO_REG)
            op.load += (uint32_t)(params[PARAM_LATENCY_LOAD_INDEX] * OOO_CYCLE);
        if (o->address != 0)
            set_base(&op, insn);
    }
    op.changes[0] = take(&changes, OOO_NOWHERE);
    op.changes[1] = take(&changes, OOO_NOWHERE);
    if (latency != PARAM_COUNT)
        op.latency = (uint32_t)(params[latency] * OOO_CYCLE);
    op.unit = placed_units[o->operation];
    block->ops[block->count++] = op;
    while (changes != 0) {
        struct ooo_op more = empty_op(i, offset);
        more.reads[0] = op.changes[0];
        more.changes[0] = take(&changes, OOO_NOWHERE);
        more.changes[1] = take(&changes, OOO_NOWHERE);
        block->ops[block->count++] = more;
    }
}

/* Adds the operation that writes back the base of an address. It needs the base
 * and what is added to it, and not what the instruction loads or stores. */
static void
add_step(struct ooo_block *block, const uint64_t *params,
         const struct insn_operands *o, size_t i, uint64_t offset)
{
    uint64_t reads = o->steps | o->step_by, steps = o->steps;
    struct ooo_op op = empty_op(i, offset);

    op.reads[0] = take(&reads, OOO_THERE);
    op.reads[1] = take(&reads, OOO_THERE);
    op.changes[0] = take(&steps, OOO_NOWHERE);
    op.latency = (uint32_t)(params[PARAM_LATENCY_ALU] * OOO_CYCLE);
    block->ops[block->count++] = op;
}

/* Takes out of what each instruction changes what is changed again before
 * anything reads it. */
static void
forget_unread(struct insn_operands *operands, size_t count)
{
    uint64_t read = UINT64_MAX; /* later, or behind the block */

    for (size_t i = count; i-- > 0;) {
        struct insn_operands *const o = &operands[i];
        const uint64_t changed = o->changes;
        o->changes &= read;
        read =
            (read & ~(changed | o->steps)) | o->reads | o->address | o->step_by;
    }
}

/* The nearest time that leaves the lowest bits free, or the longest. */
static uint32_t
rounded(uint64_t time)
{
    const uint32_t longest = UINT32_MAX - UINT32_MAX % OOO_CAUSES;

    if (time >= longest)
        return longest;
    return (uint32_t)((time + OOO_CAUSES / 2) / OOO_CAUSES * OOO_CAUSES);
}

/* How many places of load units an instruction takes. */
static uint64_t
loaded_parts(const uint64_t *params, const struct insn_operands *o)
{
    return o->pair ? params[PARAM_LOAD_PAIR] : o->loads;
}

/* How many places of store units an instruction takes. */
static uint64_t
stored_parts(const uint64_t *params, const struct insn *insn)
{
    const uint64_t most = params[PARAM_STORE_BYTES];

    return insn->access_size <= most ? 1
                                     : (insn->access_size + most - 1) / most;
}

/* Fetches an instruction of so many micro-operations that ends at `end`. */
static void
fetch(struct ooo_block *block, const uint64_t *params, uint64_t end,
      unsigned slots)
{
    const uint64_t size = params[PARAM_FETCH_LINE];
    const uint64_t line = size != 0 ? (end - 1) / size : 0;

    if (block->fetch == 0)
        block->first_line = line;
    if (block->fetch == 0 || block->last_line != line) {
        block->last_line = line;
        block->last_slots = 0;
        block->fetch++;
    }
    if (size == 0)
        return;
    block->fetch -= ooo_fetch_cycles(params, block->last_slots);
    block->last_slots = (uint16_t)(block->last_slots + slots);
    block->fetch += ooo_fetch_cycles(params, block->last_slots);
    if (line == block->first_line)
        block->first_slots = block->last_slots;
}

void
ooo_block_make(struct ooo_block *block, const uint64_t *params, uint64_t pc,
               const struct insn *insns, struct insn_operands *operands,
               size_t count)
{
    uint64_t used[UNIT_COUNT] = {0}, micro_ops = 0, repeated = 0;
    bool leads = false; /* the instruction is fused with the next */

    *block = (struct ooo_block){.pc = pc, .end = pc};
    forget_unread(operands, count);
    for (size_t i = 0; i < count; i++) {
        const struct insn_operands *const o = &operands[i];
        const bool fused = leads;
        leads = i + 1 < count && fuses(params, o, &operands[i + 1]);
        block->end += insns[i].size;
        if (insns[i].access == ACCESS_REPEATED) {
            repeated += time_of_repeated(params, &insns[i]);
            continue;
        }
        if (!leads)
            fetch(block, params, block->end, o->wide ? 2 : 1);
        if (o->changes != 0 || o->loads || o->operation == OPERATION_BRANCH)
            add_ops(block, params, &insns[i], o, i, micro_ops, fused);
        if (o->steps != 0) {
            add_step(block, params, o, i, micro_ops);
            used[OPERATION_ALU]++;
        }
        micro_ops += fused ? 0 : o->micro_ops;
        used[o->operation] += !leads;
        const uint64_t stores = o->stores ? stored_parts(params, &insns[i]) : 0;
        const uint64_t loads = loaded_parts(params, o);
        used[UNIT_LOAD] += loads;
        used[UNIT_STORE] += stores;
        used[UNIT_LOAD_VECTOR] += o->vector ? loads : 0;
        if (o->reads >> OPERAND_VECTOR != 0)
            used[UNIT_STORE_VECTOR] += stores;
    }
    block->foretell = 1;
    if (count != 0 && insns[count - 1].branch == BRANCH_RETURN)
        block->foretell += (uint32_t)params[PARAM_FETCH_RETURN];
    block->micro_ops = (uint32_t)micro_ops;
    block->issue =
        rounded(micro_ops * OOO_CYCLE / params[PARAM_TIME_ISSUE] + repeated);
    const uint32_t units = rounded(time_of_all_units(params, used));
    block->time = units > block->issue ? units : block->issue;
    for (uint32_t i = 0; micro_ops != 0 && i < block->count; i++)
        block->ops[i].offset =
            rounded((uint64_t)block->ops[i].offset * block->time / micro_ops);
}
